/* NodePorts: a node fits when none of the pod's host ports is taken there.
 * Points: PreFilter (skips pods without host ports), Filter. Upstream: plugins/nodeports, v1.36.
 * A miss is Unschedulable, not UnschedulableAndUnresolvable: evicting the holder frees the port. */
#include "plugins/plugins.h"

#define NO_FREE_PORTS "node(s) didn't have free ports for the requested pod ports"

struct data {
    sym any_ip; /* "0.0.0.0" */
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct data *d = mem_alloc(sizeof(*d));
    d->any_ip = sym_intern_static(p->syms, STR("0.0.0.0"));
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

static bool conflict(const struct plugin_instance *p, const struct host_port *want, uint32_t n_want,
                     const struct host_port *used, uint32_t n_used)
{
    const struct data *d = p->data;
    for (uint32_t i = 0; i < n_want; i++)
        for (uint32_t k = 0; k < n_used; k++) {
            struct host_port a = want[i], b = used[k];
            bool same_ip = a.ip == b.ip || a.ip == d->any_ip || b.ip == d->any_ip;
            if (same_ip && a.port == b.port && a.protocol == b.protocol)
                return true;
        }
    return false;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)p;
    (void)ret_names;
    return c->pod->n_ports ? PASS : SKIP;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    bool taken = conflict(p, c->pod->ports, c->pod->n_ports, n->ports, n->n_ports);
    return taken ? verdict_text(V_UNSCHEDULABLE, NO_FREE_PORTS) : PASS;
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    class_key_count(key, c->pod->n_ports);
    for (uint32_t i = 0; i < c->pod->n_ports; i++) {
        class_key_sym(key, c, c->pod->ports[i].ip);
        class_key_sym(key, c, c->pod->ports[i].protocol);
        class_key_num(key, c->pod->ports[i].port);
    }
}

/* Only a pod that held one of the wanted ports on some node can have freed it by leaving. */
static enum hint pod_deleted(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    const struct pod *gone = event->old_object;
    bool held_a_node = gone->node_name != SYM_EMPTY || gone->nominated_node != SYM_EMPTY;
    bool freed = conflict(h->plugin, waiting->ports, waiting->n_ports, gone->ports, gone->n_ports);
    return held_a_node && freed ? HINT_QUEUE : HINT_SKIP;
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)c;
    return missing == POINT_PRE_FILTER && at == POINT_FILTER ? "reading \"PreFilterNodePorts\" from cycleState: not found"
                                                            : NULL;
}

const struct plugin nodeports_plugin = {
    .name = "NodePorts",
    .init = init,
    .fini = fini,
    .pre_filter = pre_filter,
    .filter = filter,
    .fails_without = fails_without,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_POD, ACT_DELETE, pod_deleted },
                                             { RES_NODE, ACT_ADD, NULL }, /* a new node is always worth a try */
                                             { 0 } },
};
