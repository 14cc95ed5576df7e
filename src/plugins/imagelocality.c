/* ImageLocality: nodes that have the pod's images already get points, by size and by how many nodes
 * have them. Points: Score. Upstream: plugins/imagelocality, v1.36. */
#include "plugins/plugins.h"

#include "base/arith.h"

#define MIB (1024ll * 1024)
enum { MIN_MIB = 23, MAX_MIB_PER_CONTAINER = 1000 };

/* An image counts by the share of nodes that have it, so that one node with a rare image does not draw
 * all its pods. */
static int64_t scaled_size(const struct cache *cache, const struct image_state *image)
{
    double share = (double)image->n_nodes / (double)cache->order.n;
    return wrap_double((double)image->size_bytes * share);
}

static int64_t score_of_sum(const struct pod *pod, int64_t sum)
{
    int64_t least = MIN_MIB * MIB;
    int64_t most = MAX_MIB_PER_CONTAINER * MIB * (pod->n_containers + pod->n_init_containers);
    if (sum < least)
        sum = least;
    else if (sum > most)
        sum = most;
    return SCORE_MAX * (sum - least) / (most - least);
}

static bool has_image(const struct node *node, sym image)
{
    for (uint32_t i = 0; i < node->n_images; i++)
        if (node->images[i].name == image)
            return true;
    return false;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->pod->n_images; i++) {
        const struct image_state *image = cache_image(c->cache, c->pod->images[i]);
        if (image && has_image(n->node, c->pod->images[i]))
            sum = wrap_add(sum, scaled_size(c->cache, image));
    }
    return score_of_sum(c->pod, sum);
}

/* Most pods have images that no node reports: then every node has the same score. */
static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    (void)p;
    for (uint32_t i = 0; i < c->pod->n_images; i++)
        if (cache_image(c->cache, c->pod->images[i]))
            return false;
    *ret_score = score_of_sum(c->pod, 0);
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

const struct plugin imagelocality_plugin = {
    .name = "ImageLocality",
    .score = score,
    .score_block = score_block,
    .uniform_score = uniform_score,
    .events = (const struct plugin_event[]){ { 0 } },
};
