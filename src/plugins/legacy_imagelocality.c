/* ImageLocality as the priority ImageLocalityPriority: only the images of containers count, those of init containers and
 * volumes do not. Upstream: plugins/imagelocality, v1.20. */
#include "base/arith.h"
#include "plugins/legacy.h"

#define MIB (1024ll * 1024)
enum { MIN_MIB = 23, MAX_MIB_PER_CONTAINER = 1000 };

static bool has_image(const struct node *node, sym image)
{
    for (uint32_t i = 0; i < node->n_images; i++)
        if (node->images[i].name == image)
            return true;
    return false;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct pod *pod = c->pod;
    int64_t sum = 0, least = MIN_MIB * MIB, most = MAX_MIB_PER_CONTAINER * MIB * pod->n_containers;
    for (uint32_t i = pod->n_init_containers; i < pod->n_images && i < (uint32_t)pod->n_init_containers + pod->n_containers; i++) {
        const struct image_state *image = cache_image(c->cache, pod->images[i]);
        if (image && has_image(n->node, pod->images[i]))
            sum = wrap_add(sum, wrap_double((double)image->size_bytes *
                                            ((double)image->n_nodes / (double)c->cache->order.n)));
    }
    sum = sum < least ? least : sum > most ? most : sum;
    return most > least ? p->era->score_max * (sum - least) / (most - least) : 0;
}

/* Most pods have images that no node reports. */
static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    (void)p;
    *ret_score = 0;
    for (uint32_t i = 0; i < c->pod->n_images; i++)
        if (cache_image(c->cache, c->pod->images[i]))
            return false;
    return true;
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    int64_t same;
    bool uniform = uniform_score(p, c, &same);
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        struct node_view view = { .node = c->cache->rows.at[c->feasible[i]].node };
        scores[i] = uniform ? same : score(p, c, &view);
    }
}

const struct plugin legacy_imagelocality_plugin = {
    .name = "ImageLocality",
    .score = score,
    .score_block = score_block,
    .uniform_score = uniform_score,
    .events = (const struct plugin_event[]){ { 0 } },
};
