/* NodeResourcesFit as the predicate PodFitsResources.
 *
 * A pod that requests anything at all is compared in cpu, memory and ephemeral storage even where it requests 0: a node
 * that is overcommitted in one of them refuses it. One that requests nothing is only counted. Every refusal may be helped
 * by evicting pods. A verdict's detail is as in noderesourcesfit.c, whose words it has. */
#include "plugins/legacy.h"

enum { SHORT_PODS = 1 << 0, SHORT_CPU = 1 << 1, SHORT_MEMORY = 1 << 2, SHORT_EPHEMERAL = 1 << 3, FIRST_SCALAR_BIT = 4,
       SCALAR_BITS = 60 };

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    return noderesourcesfit_plugin.init(p, args, e);
}

static void fini(struct plugin_instance *p)
{
    noderesourcesfit_plugin.fini(p);
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    return noderesourcesfit_plugin.pre_filter(p, c, ret_names);
}

static bool wants_nothing(const struct amounts *want)
{
    return want->milli_cpu == 0 && want->memory == 0 && want->ephemeral_storage == 0 && want->n_scalars == 0;
}

static uint64_t too_little(int64_t want, int64_t alloc, int64_t used, uint64_t bit)
{
    return want > (int64_t)((uint64_t)alloc - (uint64_t)used) ? bit : 0;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct amounts *want = c->pod->fit, *alloc = &n->node->allocatable;
    const bool *skip = CYCLE_STATE(p, c, bool);
    uint64_t detail = (int64_t)n->n_pods + 1 > alloc->pods ? SHORT_PODS : 0;
    if (!wants_nothing(want)) {
        detail |= too_little(want->milli_cpu, alloc->milli_cpu, n->milli_cpu, SHORT_CPU);
        detail |= too_little(want->memory, alloc->memory, n->memory, SHORT_MEMORY);
        detail |= too_little(want->ephemeral_storage, alloc->ephemeral_storage, n->ephemeral, SHORT_EPHEMERAL);
    }
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        if (skip[i])
            continue;
        sym name = want->scalars[i].name;
        uint64_t bit = 1ull << (FIRST_SCALAR_BIT + (i < SCALAR_BITS ? i : SCALAR_BITS - 1));
        detail |= too_little(want->scalars[i].amount, amounts_scalar(alloc, name), node_view_scalar_used(n, name), bit);
    }
    return detail ? (struct verdict){ V_UNSCHEDULABLE, detail, NULL } : PASS;
}

static void reasons(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to)
{
    noderesourcesfit_plugin.reasons(p, c, v, to);
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    noderesourcesfit_plugin.filter_key(p, c, key);
}

const struct plugin legacy_noderesourcesfit_plugin = {
    .name = "NodeResourcesFit",
    .init = init,
    .fini = fini,
    .pre_filter = pre_filter,
    .filter = filter,
    .reasons = reasons,
    .filter_key = filter_key,
};
