/* The quick way to a node chooses as the plain one does, wherever the search begins: many nodes, many of them equal. */
#include "sched/sched_priv.h"
#include "tests/unit/sched_world.h"

enum { N_NODES = 5000, ROUNDS = 200 };

/* Not local, so that totals are made over the list of feasible nodes. */
static int64_t score_by_row(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    return n->id % 3 ? 0 : 50;
}
static const struct plugin general_plugin = { .name = "General", .score = score_by_row };

static void set_node(struct sched_world *w, struct rand *r, uint32_t number)
{
    uint64_t dice = rand_below(r, 1000); /* a few are the best, or all that are equal */
    char name[16];
    snprintf(name, sizeof(name), "n%u", number);
    world_node(w, name, dice == 0 ? "8" : dice < 800 ? "4" : "1", "");
}

struct choice {
    node_id node;
    uint32_t n_feasible;
};

static struct choice choose(struct sched_world *w, const struct pod *pod, uint32_t start, bool in_detail)
{
    struct attempt a;
    w->sched->start_index = start;
    attempt_run(w->sched, &a, pod, (struct attempt_wants){ .detail = in_detail });
    CHECK_INT("fits", a.outcome, ATTEMPT_FITS);
    return (struct choice){ a.node, a.n_feasible };
}

static void compare_ways(const struct plugin *plugin)
{
    struct sched_world w;
    struct rand r;
    rand_init(&r, 1);
    sched_world_init(&w);
    if (plugin)
        sched_world_add_plugin(&w, plugin, NULL, 1);
    sched_world_open(&w);
    for (uint32_t i = 0; i < N_NODES; i++)
        set_node(&w, &r, i);
    const struct pod *pod = world_pod(&w, "p", NULL, 0, "2", "");
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t start = (uint32_t)rand_below(&r, N_NODES);
        struct choice plain = choose(&w, pod, start, true), quick = choose(&w, pod, start, false);
        CHECK_INT(plugin ? "over the list" : "by classes", quick.node, plain.node);
        CHECK_INT("feasible", quick.n_feasible, plain.n_feasible);
        world_node(&w, w.sched->cache.rows.at[plain.node].node->meta.name, "1", ""); /* another one next time */
        for (int k = 0; k < 1000; k++)
            set_node(&w, &r, (uint32_t)rand_below(&r, N_NODES));
    }
    sched_world_close(&w);
}

TEST(both_ways_choose_the_same_node_wherever_they_begin)
{
    compare_ways(NULL);
    compare_ways(&general_plugin);
}
