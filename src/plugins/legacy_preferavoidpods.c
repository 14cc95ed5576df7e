/* NodePreferAvoidPods: a node may ask to be spared the pods of some controllers. NodePreferAvoidPodsPriority.
 * Upstream: plugins/nodepreferavoidpods, v1.20. */
#include "plugins/legacy.h"

struct data {
    sym replication_controller, replica_set;
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct data *d = mem_alloc(sizeof(*d));
    d->replication_controller = sym_intern_static(p->syms, STR("ReplicationController"));
    d->replica_set = sym_intern_static(p->syms, STR("ReplicaSet"));
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

static const struct owner_ref *controller_of(const struct plugin_instance *p, const struct pod *pod)
{
    const struct data *d = p->data;
    const struct owner_ref *o = pod->controller;
    return o && (o->kind == d->replication_controller || o->kind == d->replica_set) ? o : NULL;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct owner_ref *controller = controller_of(p, c->pod);
    for (uint32_t i = 0; controller && i < n->node->n_avoids; i++) {
        const struct avoided_controller *a = &n->node->avoids[i];
        if (a->kind == controller->kind && str_is(sym_text(p->syms, a->uid), controller->uid))
            return 0;
    }
    return p->era->score_max;
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        struct node_view view = { .node = c->cache->rows.at[c->feasible[i]].node };
        scores[i] = score(p, c, &view);
    }
}

/* A pod that no controller made is welcome everywhere. */
static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    *ret_score = p->era->score_max;
    return !controller_of(p, c->pod);
}

const struct plugin legacy_prefer_avoid_pods_plugin = {
    .name = "NodePreferAvoidPods",
    .init = init,
    .fini = fini,
    .score = score,
    .score_block = score_block,
    .uniform_score = uniform_score,
    .events = (const struct plugin_event[]){ { 0 } },
};
