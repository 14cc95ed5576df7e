/* NodeName: a pod that names its node fits there only.
 * Points: Filter. Upstream: plugins/nodename, v1.36. */
#include "plugins/plugins.h"

#define OTHER_NODE "node(s) didn't match the requested node name"

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    sym wanted = c->pod->node_name;
    return wanted == SYM_EMPTY || wanted == n->node->name ? PASS : verdict_text(V_UNRESOLVABLE, OTHER_NODE);
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    (void)p;
    if (c->pod->node_name == SYM_EMPTY)
        return;
    node_id wanted = cache_listed_node(c->cache, c->pod->node_name);
    bool fits = wanted != NODE_NONE && bitset_test(alive, wanted);
    bitset_zero(alive, bitset_words(c->cache->col.n_rows));
    if (fits)
        bitset_set(alive, wanted);
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    class_key_sym(key, c, c->pod->node_name);
}

const struct plugin nodename_plugin = {
    .name = "NodeName",
    .filter = filter,
    .filter_block = filter_block,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD, NULL }, { 0 } },
};
