/* NodeName as the predicate HostName: the rule of today in the words of releases before v1.24. */
#include "plugins/legacy.h"

#define OTHER_HOST "node(s) didn't match the requested hostname"

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    struct verdict v = nodename_plugin.filter(p, c, n);
    return v.code == V_SUCCESS ? v : verdict_text(V_UNRESOLVABLE, OTHER_HOST);
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    nodename_plugin.filter_block(p, c, alive);
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    nodename_plugin.filter_key(p, c, key);
}

const struct plugin legacy_nodename_plugin = {
    .name = "NodeName",
    .filter = filter,
    .filter_block = filter_block,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD, NULL }, { 0 } },
};
