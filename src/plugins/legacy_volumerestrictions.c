/* VolumeRestrictions as the predicate NoDiskConflict: disks named by pods themselves, no claims. */
#include "plugins/legacy.h"
#include "plugins/volume_shared.h"

#define NO_DISK "node(s) had no available disk"

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    if (c->pod->n_volumes == 0)
        return PASS;
    for (uint32_t i = 0; i < n->n_pods; i++)
        if (pods_conflict(c->arena, c->pod, node_view_pod(n, i)))
            return verdict_text(V_UNSCHEDULABLE, NO_DISK);
    return PASS;
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    if (c->pod->n_volumes == 0)
        return;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    for (size_t id = bitset_next(alive, n_words, 0); id < BITSET_END; id = bitset_next(alive, n_words, id + 1)) {
        struct node_view view = node_view_of(c->cache, (node_id)id);
        if (filter(p, c, &view).code != V_SUCCESS)
            bitset_clear(alive, id);
    }
}

const struct plugin legacy_volumerestrictions_plugin = {
    .name = "VolumeRestrictions",
    .filter = filter,
    .filter_block = filter_block,
};
