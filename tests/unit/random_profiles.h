/* tests/unit/random_profiles.h - random configurations for the random world: its profiles, with plugins disabled at single
 * points or at all of them, enabled in another order, with other weights and percentages of nodes.
 *
 * Many such profiles fail with every pod, because a plugin is not prepared: then both ways must fail alike. */
#pragma once

#include "tests/unit/random_world.h"

/* Whether a plugin has the functions of a point that profiles are changed at. */
static inline bool is_at(const struct plugin *p, const char *point)
{
    const struct {
        const char *name;
        bool has;
    } points[] = {
        { "preEnqueue", p->pre_enqueue }, { "preFilter", p->pre_filter }, { "filter", p->filter },
        { "postFilter", p->post_filter }, { "preScore", p->pre_score },   { "score", p->score },
        { "reserve", p->reserve },        { "preBind", p->pre_bind },
    };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        if (strcmp(points[i].name, point) == 0)
            return points[i].has;
    return false;
}

/* A plugin of the point. */
static inline const char *plugin_at(struct random_world *w, const char *point)
{
    const char *names[64] = { 0 };
    unsigned n = 0;
    for (const struct plugin *const *p = plugin_registry; *p; p++)
        if (is_at(*p, point))
            names[n++] = (*p)->name;
    return names[below(w, n)];
}

static inline void add_weight(struct random_world *w, struct strbuf *to, const char *point)
{
    if (strcmp(point, "score") == 0)
        strbuf_printf(to, ", weight: %s", PICK(w, "1", "2", "7", "100", "20000000"));
    strbuf_add_text(to, "}");
}

/* One plugin is left out, or put at another place, or all are, but for a few. */
static inline void change_point(struct random_world *w, struct strbuf *to, const char *point)
{
    const char *name = plugin_at(w, point);
    bool all = chance(w, 15);
    strbuf_printf(to, "    %s: {disabled: [{name: %s}], enabled: [", point, all ? "'*'" : name);
    const char *other = plugin_at(w, point);
    if (all || chance(w, 40)) {
        strbuf_printf(to, "{name: %s", name);
        add_weight(w, to, point);
    }
    if (all && strcmp(name, other) != 0) {
        strbuf_printf(to, ", {name: %s", other);
        add_weight(w, to, point);
    }
    strbuf_add_text(to, "]}\n");
}

static inline void add_profile(struct random_world *w, struct strbuf *to, const char *name)
{
    static const char *const points[] = { "preEnqueue", "preFilter", "filter",  "postFilter",
                                          "preScore",   "score",     "reserve", "preBind" };
    strbuf_printf(to, "- schedulerName: %s\n", name);
    if (chance(w, 40))
        strbuf_printf(to, "  percentageOfNodesToScore: %s\n", PICK(w, "0", "1", "30", "99", "100"));
    strbuf_printf(to, "  plugins:\n    multiPoint: {enabled: [{name: %s", PICK(w, "NodeResourcesFit", "ImageLocality", "TaintToleration"));
    add_weight(w, to, "score");
    strbuf_add_text(to, chance(w, 20) ? ", {name: Waiter}]}\n" : "]}\n");
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        if (chance(w, 18))
            change_point(w, to, points[i]);
    strbuf_printf(to, "  pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: %s, resources: [{name: "
                      "cpu, weight: %u}, {name: memory, weight: 1}]}}\n",
                  PICK(w, "LeastAllocated", "MostAllocated"), 1 + below(w, 3));
}

/* Every other seed has the configuration of all worlds. Takes no random numbers of the world. */
static inline struct str config_of_seed(struct random_world *w, uint64_t seed)
{
    if (seed % 2 == 0)
        return world_config();
    struct rand before = w->rand;
    struct strbuf text;
    rand_init(&w->rand, seed);
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                           "leaderElection: {leaderElect: false}\nprofiles:\n");
    const char *const names[] = { "default-scheduler", "packer", "sampler", "heavy" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_profile(w, &text, names[i]);
    w->rand = before;
    struct str config = arena_str(&w->texts, strbuf_str(&text));
    strbuf_fini(&text);
    return config;
}
