/* sim/questions.c - see questions.h. */
#include "sim/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "sched/remedy.h"
#include "sched/what_if.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOSTNAME "kubernetes.io/hostname"

enum { N_APPS = 200, TAINTED_EVERY = 10, CORDONED_EVERY = 97, VICTIMS_MAX = 4 };

struct bench {
    struct sym_table *syms;
    struct sched *sched;
    struct strbuf text;
    struct rand rand;
    struct arena arena;
    VEC(const struct pod *) asked; /* pods of the questions; references */
    VEC(int64_t) taken_ns;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int64_t io_now_ms(void *context)
{
    (void)context;
    return 1000;
}

static int64_t io_wall_s(void *context)
{
    (void)context;
    return 1800000000;
}

static uint32_t below(struct bench *b, size_t n)
{
    return (uint32_t)rand_below(&b->rand, n);
}

/* ---- The cluster ---- */

static enum err_code add_node(struct bench *b, uint32_t i, struct err *e)
{
    strbuf_reset(&b->text);
    strbuf_printf(&b->text,
                  "{\"metadata\":{\"name\":\"node-%u\",\"labels\":{\"" HOSTNAME "\":\"node-%u\",\"" ZONE
                  "\":\"zone-%u\""
                  ",\"disk\":\"%s\"}},\"spec\":{\"unschedulable\":%s,\"taints\":[",
                  i, i, i % 3, i % 4 ? "hdd" : "ssd", i % CORDONED_EVERY ? "false" : "true");
    if (i % TAINTED_EVERY == 1)
        strbuf_printf(&b->text, "{\"key\":\"dedicated\",\"value\":\"team-%u\",\"effect\":\"NoSchedule\"}", i % 7);
    strbuf_printf(&b->text, "]},\"status\":{\"allocatable\":{\"cpu\":\"%u\",\"memory\":\"32Gi\",\"pods\":\"110\"}}}",
                  i % 5 ? 4 : 5);
    const struct node *node;
    if (node_decode(b->syms, TYPED_JSON, strbuf_str(&b->text), &node, e))
        return e->code;
    sched_node_set(b->sched, node);
    node_unref(b->syms, node);
    return ERR_OK;
}

/* One application in eight keeps its pods apart, one spreads them; `spec` is more of the spec. */
static enum err_code make_pod(struct bench *b, const char *kind, uint32_t i, uint32_t app, const char *spec,
                              const struct pod **ret_pod, struct err *e)
{
    strbuf_reset(&b->text);
    strbuf_printf(&b->text,
                  "{\"metadata\":{\"name\":\"%s-%u\",\"namespace\":\"default\",\"uid\":\"%s-%u\",\"labels\":{\"app\":"
                  "\"app-%u\"}},\"spec\":{\"schedulerName\":\"default-scheduler\",\"priority\":%u,",
                  kind, i, kind, i, app, app % 3);
    if (app % 8 == 1)
        strbuf_printf(&b->text,
                      "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
                      "\"topologyKey\":\"" HOSTNAME "\",\"labelSelector\":{\"matchLabels\":{\"app\":\"app-%u\"}}}]}},",
                      app);
    if (app % 8 == 2)
        strbuf_printf(&b->text,
                      "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"" ZONE
                      "\",\"whenUnsatisfiable\":"
                      "\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":\"app-%u\"}}}],",
                      app);
    strbuf_printf(&b->text, "%s}}", spec);
    return pod_decode(b->syms, TYPED_JSON, strbuf_str(&b->text), ret_pod, e);
}

static enum err_code add_placed_pod(struct bench *b, uint32_t i, uint32_t node, struct err *e)
{
    char spec[300];
    snprintf(spec, sizeof(spec),
             "\"nodeName\":\"node-%u\",\"containers\":[{\"name\":\"c\",\"image\":\"app:1\",\"resources\":{"
             "\"requests\":{\"cpu\":\"%um\",\"memory\":\"%uMi\"}}}]",
             node, 100 + i % 50, 200 + i % 300);
    const struct pod *pod;
    if (make_pod(b, "placed", i, below(b, N_APPS), spec, &pod, e))
        return e->code;
    sched_pod_set(b->sched, pod);
    pod_unref(b->syms, pod);
    return ERR_OK;
}

/* Some fit, some do not: for want of room, of a label, of a toleration. */
static enum err_code add_asked_pod(struct bench *b, uint32_t i, struct err *e)
{
    static const char *const specs[] = {
        "\"containers\":[{\"name\":\"c\",\"image\":\"app:1\",\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}]",
        "\"containers\":[{\"name\":\"c\",\"image\":\"app:1\",\"resources\":{\"requests\":{\"cpu\":\"2500m\"}}}]",
        "\"nodeSelector\":{\"disk\":\"nvme\"},\"containers\":[{\"name\":\"c\",\"image\":\"app:1\"}]",
        ("\"tolerations\":[{\"key\":\"dedicated\",\"value\":\"team-3\"}],\"containers\":[{\"name\":\"c\",\"image\":\"app:1\","
         "\"resources\":{\"requests\":{\"cpu\":\"700m\",\"memory\":\"1Gi\"}}}]"),
        "\"containers\":[{\"name\":\"c\",\"image\":\"app:1\",\"resources\":{\"requests\":{\"memory\":\"30Gi\"}}}]",
    };
    const struct pod *pod;
    if (make_pod(b, "asked", i, i % 24, specs[i % (sizeof(specs) / sizeof(specs[0]))], &pod, e))
        return e->code;
    vec_push(&b->asked, pod);
    return ERR_OK;
}

static enum err_code make_cluster(struct bench *b, const struct questions_options *o, struct err *e)
{
    for (uint32_t i = 0; i < o->n_nodes; i++)
        if (add_node(b, i, e))
            return e->code;
    for (uint32_t i = 0; i < o->n_pods; i++)
        if (add_placed_pod(b, i, i % o->n_nodes, e))
            return e->code;
    for (uint32_t i = 0; i < 48; i++)
        if (add_asked_pod(b, i, e))
            return e->code;
    return ERR_OK;
}

/* ---- Questions ---- */

static node_id any_row(struct bench *b)
{
    const struct cache *cache = sched_cache(b->sched);
    return cache->order.at[below(b, cache->order.n)];
}

static node_id any_tainted_row(struct bench *b)
{
    const struct cache *cache = sched_cache(b->sched);
    for (;;) {
        node_id row = any_row(b);
        if (cache->rows.at[row].node->n_taints || cache->order.n <= TAINTED_EVERY)
            return row;
    }
}

static void change_node(struct bench *b, struct what_if *w, node_id row, enum question q)
{
    struct node changed = *sched_cache(b->sched)->rows.at[row].node;
    if (q == QUESTION_TAINT)
        changed.n_taints = 0;
    else
        changed.allocatable.milli_cpu += 2000;
    const struct node *form = node_of_changed(b->syms, &changed);
    what_if_node(w, row, form);
    node_unref(b->syms, form);
}

static void lift_pods(struct bench *b, struct what_if *w, node_id row)
{
    const struct node_row *r = &sched_cache(b->sched)->rows.at[row];
    for (uint32_t n = 1 + below(b, VICTIMS_MAX); n > 0 && r->pods.n; n--)
        what_if_without(w, r->pods.at[below(b, r->pods.n)]);
}

static void add_one_node(struct bench *b, struct what_if *w, node_id row)
{
    struct node changed = *sched_cache(b->sched)->rows.at[row].node;
    sym hostname = sym_find(b->syms, STR(HOSTNAME)), name = sym_intern(b->syms, STR("one-more-node"));
    struct label_pair labels[16];
    changed.name = name;
    changed.meta.name = changed.meta.uid = "one-more-node";
    changed.flags = 0;
    assert(changed.meta.labels.n <= sizeof(labels) / sizeof(labels[0]));
    for (uint32_t i = 0; i < changed.meta.labels.n; i++) {
        labels[i] = changed.meta.labels.at[i];
        if (labels[i].key == hostname)
            labels[i].value = name;
    }
    changed.meta.labels.at = labels;
    const struct node *form = node_of_changed(b->syms, &changed);
    what_if_new_node(w, form);
    node_unref(b->syms, form);
    sym_unref(b->syms, name);
}

/* Whether the pod finds a node. */
static bool ask(struct bench *b, struct what_if *w, enum question q, const struct pod *pod)
{
    node_id row = q == QUESTION_TAINT ? any_tainted_row(b) : any_row(b);
    int64_t before = now_ns();
    if (q == QUESTION_TAINT || q == QUESTION_MORE)
        change_node(b, w, row, q);
    else if (q == QUESTION_EVICT)
        lift_pods(b, w, row);
    else if (q == QUESTION_NODE)
        add_one_node(b, w, row);
    bool places = what_if_ask(w, pod).places;
    what_if_undo(w);
    vec_push(&b->taken_ns, now_ns() - before);
    return places;
}

static uint32_t find_remedies(struct bench *b, const struct pod *pod)
{
    struct remedies all;
    arena_reset(&b->arena);
    int64_t before = now_ns();
    remedies_find(b->sched, pod, &b->arena, &all);
    vec_push(&b->taken_ns, now_ns() - before);
    return all.n;
}

/* ---- The measurement ---- */

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct question_result sum_up(struct bench *b, enum question q, uint32_t n_placed)
{
    static const char *const names[N_QUESTIONS] = { "WhatIf/Where", "WhatIf/TaintGone", "WhatIf/NodeHasMore",
                                                    "WhatIf/PodsEvicted", "WhatIf/NodeAdded", "Remedies" };
    size_t n = b->taken_ns.n;
    struct question_result r = { .name = names[q], .n = (uint32_t)n, .n_placed = n_placed };
    if (n == 0)
        return r;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += b->taken_ns.at[i];
    qsort(b->taken_ns.at, n, sizeof(int64_t), compare_ns);
    r.per_second = (double)n * 1e9 / (double)(sum ? sum : 1);
    r.p50_ns = b->taken_ns.at[n / 2];
    r.p99_ns = b->taken_ns.at[n * 99 / 100];
    r.max_ns = b->taken_ns.at[n - 1];
    vec_reset(&b->taken_ns);
    return r;
}

static void measure(struct bench *b, const struct questions_options *o, struct question_result *ret_results)
{
    struct what_if w;
    what_if_begin(&w, b->sched);
    /* The classes of the pods are known, as they are on a scheduler that runs. */
    for (size_t i = 0; i < b->asked.n; i++)
        what_if_ask(&w, b->asked.at[i]);
    for (int q = 0; q < QUESTION_REMEDIES; q++) {
        uint32_t n_placed = 0;
        for (uint32_t i = 0; i < o->n_questions; i++)
            n_placed += ask(b, &w, (enum question)q, b->asked.at[below(b, b->asked.n)]);
        ret_results[q] = sum_up(b, (enum question)q, n_placed);
    }
    what_if_end(&w);
    uint32_t n_found = 0;
    for (uint32_t i = 0; i < o->n_remedies; i++)
        n_found += find_remedies(b, b->asked.at[i % b->asked.n]);
    ret_results[QUESTION_REMEDIES] = sum_up(b, QUESTION_REMEDIES, n_found);
}

enum err_code questions_run(const struct questions_options *o, struct sym_table *syms, const struct setup *setup,
                            struct question_result ret_results[N_QUESTIONS], struct err *e)
{
    struct bench b = { .syms = syms };
    strbuf_init(&b.text, STRBUF_NO_MAX);
    arena_init(&b.arena);
    rand_init(&b.rand, o->seed);
    b.sched = sched_new(&(struct sched_options){
        .syms = syms,
        .profiles = setup->profiles,
        .n_profiles = setup->n_profiles,
        .features = setup->features,
        .io = { .now_ms = io_now_ms, .wall_s = io_wall_s },
        .seed = o->seed,
    });
    enum err_code code = make_cluster(&b, o, e);
    if (!code)
        measure(&b, o, ret_results);
    for (size_t i = 0; i < b.asked.n; i++)
        pod_unref(syms, b.asked.at[i]);
    sched_free(b.sched);
    vec_fini(&b.asked);
    vec_fini(&b.taken_ns);
    strbuf_fini(&b.text);
    arena_fini(&b.arena);
    return code;
}
