/* NodeUnschedulable: a cordoned node takes only pods that tolerate its taint.
 * Points: Filter. Upstream: plugins/nodeunschedulable, v1.36. */
#include "plugins/plugins.h"

#define UNSCHEDULABLE "node(s) were unschedulable"

struct data {
    sym taint_key; /* node.kubernetes.io/unschedulable */
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct data *d = mem_alloc(sizeof(*d));
    d->taint_key = sym_intern_static(p->syms, STR("node.kubernetes.io/unschedulable"));
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

static bool pod_tolerates_cordon(const struct plugin_instance *p, const struct pod *pod)
{
    const struct data *d = p->data;
    struct taint_form taint = { d->taint_key, SYM_EMPTY, EFFECT_NO_SCHEDULE };
    return tolerates_all_hard(pod, &taint, 1, p->syms, p->features->taint_toleration_comparison_operators);
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    bool open = !(n->node->flags & NODE_UNSCHEDULABLE) || pod_tolerates_cordon(p, c->pod);
    return open ? PASS : verdict_text(V_UNRESOLVABLE, UNSCHEDULABLE);
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    if (!pod_tolerates_cordon(p, c->pod))
        bitset_andnot(alive, c->cache->col.unschedulable, bitset_words(c->cache->col.n_rows));
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    class_key_num(key, pod_tolerates_cordon(p, c->pod));
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct node *old = event->old_object, *now = event->new_object;
    bool was_open = old && !(old->flags & NODE_UNSCHEDULABLE);
    return !was_open && !(now->flags & NODE_UNSCHEDULABLE) ? HINT_QUEUE : HINT_SKIP;
}

static enum hint toleration_changed(const struct hint_context *h, const struct pod *waiting,
                                    const struct cluster_event *event)
{
    const struct pod *now = event->new_object;
    bool itself = strcmp(now->meta.uid, waiting->meta.uid) == 0;
    return itself && pod_tolerates_cordon(h->plugin, now) ? HINT_QUEUE : HINT_SKIP;
}

const struct plugin nodeunschedulable_plugin = {
    .name = "NodeUnschedulable",
    .init = init,
    .fini = fini,
    .filter = filter,
    .filter_block = filter_block,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_TAINT, node_changed },
                                             { RES_POD, ACT_UPDATE_POD_TOLERATION, toleration_changed },
                                             { 0 } },
};
