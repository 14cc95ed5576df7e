/* sim/workload.c - see workload.h. */
#include "sim/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "insight/decisions.h"
#include "sched/sched.h"
#include "sched/sched_metrics.h"

static const char *const zone1[] = { "zone1", NULL };
static const char *const moons[] = { "moon-1", "moon-2", "moon-3", NULL };

#define PLAIN(full_name, nodes, init_pods, pods, init_template, template, ...)             \
    { .name = full_name, .n_nodes = nodes, .n_init_pods = init_pods, .n_measured_pods = pods,  \
      .init = init_template, .measured = template, .init_ns = "sched-0", .measured_ns = "sched-1", __VA_ARGS__ }
/* Pods whose terms choose namespaces by label, among a hundred of them. */
#define NS(full_name, init_pods, pods, template)                                           \
    PLAIN(full_name, 5000, init_pods, pods, template, template, .zones = zone1, .n_init_namespaces = 100,      \
          .namespaces_have_labels = true)

const struct workload workloads[] = {
    PLAIN("SchedulingBasic/5000Nodes_10000Pods", 5000, 1000, 10000, "default", "default"),
    PLAIN("SchedulingBasic/5000Nodes_50000Pods", 5000, 5000, 50000, "default", "default"),
    PLAIN("SchedulingPodAntiAffinity/5000Nodes_2000Pods", 5000, 1000, 2000, "anti-affinity", "anti-affinity"),
    PLAIN("SchedulingPodAffinity/5000Nodes_5000Pods", 5000, 5000, 5000, "affinity", "affinity", .zones = zone1),
    PLAIN("SchedulingPreferredPodAffinity/5000Nodes_5000Pods", 5000, 5000, 5000, "preferred-affinity",
          "preferred-affinity"),
    PLAIN("SchedulingPreferredPodAntiAffinity/5000Nodes_5000Pods", 5000, 5000, 5000, "preferred-anti-affinity",
          "preferred-anti-affinity"),
    PLAIN("SchedulingNodeAffinity/5000Nodes_10000Pods", 5000, 5000, 10000, "node-affinity", "node-affinity",
          .zones = zone1),
    PLAIN("TopologySpreading/5000Nodes_5000Pods", 5000, 5000, 5000, "default", "spread", .zones = moons),
    PLAIN("PreferredTopologySpreading/5000Nodes_5000Pods", 5000, 5000, 5000, "default", "preferred-spread",
          .zones = moons),
    PLAIN("DefaultTopologySpreading/5000Nodes_5000Pods", 5000, 5000, 5000, "default", "label", .zones = moons,
          .service = true),
    PLAIN("MixedSchedulingBasePod/5000Nodes_5000Pods", 5000, 2000, 5000, "default", "default", .zones = zone1,
          .mixed_init = true),
    NS("SchedulingRequiredPodAntiAffinityWithNSSelector/5000Nodes_2000Pods", 4000, 1000, "ns-anti-affinity"),
    NS("SchedulingPreferredAntiAffinityWithNSSelector/5000Nodes_2000Pods", 4000, 2000, "ns-preferred-anti-affinity"),
    NS("SchedulingRequiredPodAffinityWithNSSelector/5000Nodes_2000Pods", 5000, 2000, "ns-affinity"),
    NS("SchedulingPreferredAffinityWithNSSelector/5000Nodes_5000Pods", 5000, 5000, "ns-preferred-affinity"),
    PLAIN("PreemptionBasic/5000Nodes_5000Pods", 5000, 20000, 5000, "low-priority", "high-priority"),
    PLAIN("Unschedulable/5000Nodes_10000Pods", 5000, 200, 10000, "default", "default", .unschedulable_churn = true),
    PLAIN("AllDifferent/5000Nodes_10000Pods", 5000, 1000, 10000, "default", "all-different"),
    PLAIN("SchedulingBasic/100000Nodes_1000000Pods", 100000, 0, 1000000, "default", "default"),
    { .name = NULL },
};

/* ---- The world outside ---- */

enum outcome_kind { OUTCOME_BOUND, OUTCOME_EVICTED, OUTCOME_NOMINATED };

struct outcome {
    io_ticket ticket;
    const struct pod *pod; /* as it is now */
    enum outcome_kind kind;
};

struct run {
    const struct workload *w;
    struct sym_table *syms;
    struct sched *sched;
    struct arena arena;
    struct strbuf text;
    VEC(struct outcome) outcomes;
    VEC(int64_t) decision_ns;
    uint32_t n_bound;
    uint64_t n_nominations; /* versions of the pods that got or lost one */
    int64_t start_ns;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int64_t io_now_ms(void *context)
{
    const struct run *r = context;
    return (now_ns() - r->start_ns) / 1000000;
}

static int64_t io_wall_s(void *context)
{
    return 1800000000 + io_now_ms(context) / 1000;
}

static void io_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct run *r = context;
    (void)node;
    vec_push(&r->outcomes, (struct outcome){ ticket, pod_ref(pod), OUTCOME_BOUND });
}

static void io_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct run *r = context;
    (void)preemptor;
    vec_push(&r->outcomes, (struct outcome){ ticket, pod_ref(victim), OUTCOME_EVICTED });
}

/* The only change of a pod that the scheduler looks at again. */
static void io_patch_status(void *context, const struct status_change *change)
{
    struct run *r = context;
    if (change->set_nomination && change->nomination != change->pod->nominated_node)
        vec_push(&r->outcomes, (struct outcome){ 0, pod_shown_nominated(r->syms, change->pod, change->nomination,
                                                                        ++r->n_nominations), OUTCOME_NOMINATED });
}

static void io_event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

/* What an API server would answer, and then show on the watch. */
static void answer(struct run *r)
{
    for (size_t i = 0; i < r->outcomes.n; i++) {
        struct outcome o = r->outcomes.at[i];
        switch (o.kind) {
        case OUTCOME_BOUND:
            sched_bound(r->sched, o.ticket, NULL);
            sched_pod_set(r->sched, o.pod);
            r->n_bound++;
            break;
        case OUTCOME_EVICTED:
            sched_victim_done(r->sched, o.ticket, NULL);
            sched_pod_removed(r->sched, o.pod->meta.uid);
            break;
        case OUTCOME_NOMINATED:
            sched_pod_set(r->sched, o.pod);
            break;
        }
        pod_unref(r->syms, o.pod);
    }
    vec_reset(&r->outcomes);
}

/* ---- Objects ---- */

static enum err_code add_node(struct run *r, uint32_t i, struct err *e)
{
    strbuf_reset(&r->text);
    workload_add_node(&r->text, r->w, i);
    const struct node *node;
    if (node_decode(r->syms, TYPED_JSON, strbuf_str(&r->text), &node, e))
        return e->code;
    sched_node_set(r->sched, node);
    node_unref(r->syms, node);
    return ERR_OK;
}

static enum err_code add_pod(struct run *r, const char *template_name, const char *ns, const char *kind, uint32_t i,
                             struct err *e)
{
    strbuf_reset(&r->text);
    workload_add_pod(&r->text, &(struct workload_pod){ template_name, ns, kind, i });
    const struct pod *pod;
    if (pod_decode(r->syms, TYPED_JSON, strbuf_str(&r->text), &pod, e))
        return e->code;
    sched_pod_set(r->sched, pod);
    pod_unref(r->syms, pod);
    return ERR_OK;
}

static enum err_code add_namespace(struct run *r, const char *name, struct err *e)
{
    strbuf_reset(&r->text);
    workload_add_namespace(&r->text, r->w, name);
    const struct namespace *ns;
    if (namespace_decode(r->syms, TYPED_JSON, strbuf_str(&r->text), &ns, e))
        return e->code;
    sched_object_set(r->sched, OBJECT_NAMESPACE, ns);
    namespace_unref(r->syms, ns);
    return ERR_OK;
}

static enum err_code add_service(struct run *r, struct err *e)
{
    const struct service *service;
    strbuf_reset(&r->text);
    workload_add_service(&r->text, r->w->measured_ns);
    if (service_decode(r->syms, TYPED_JSON, strbuf_str(&r->text), &service, e))
        return e->code;
    sched_object_set(r->sched, OBJECT_SERVICE, service);
    service_unref(r->syms, service);
    return ERR_OK;
}

/* ---- The run ---- */

static void run_all(struct run *r, bool measure, void (*progress)(void *, uint32_t), void *context)
{
    for (uint32_t n = 0;; n++) {
        int64_t before = measure ? now_ns() : 0;
        bool worked = sched_run_once(r->sched);
        if (measure && worked)
            vec_push(&r->decision_ns, now_ns() - before);
        answer(r);
        if (!worked)
            return;
        if (progress && n % 4096 == 0)
            progress(context, r->n_bound);
    }
}

static enum err_code add_init_pods(struct run *r, struct err *e)
{
    const char *one[2];
    const char *const *kinds = workload_init_templates(r->w, one);
    for (; *kinds; kinds++)
        for (uint32_t i = 0; i < r->w->n_init_pods; i++) {
            char ns[32];
            snprintf(ns, sizeof(ns), "init-ns-%u", r->w->n_init_namespaces ? i % r->w->n_init_namespaces : 0);
            if (add_pod(r, *kinds, r->w->n_init_namespaces ? ns : r->w->init_ns, *kinds, i, e))
                return e->code;
        }
    return ERR_OK;
}

static enum err_code set_up(struct run *r, struct err *e)
{
    const struct workload *w = r->w;
    for (uint32_t i = 0; i < w->n_init_namespaces; i++) {
        char name[32];
        snprintf(name, sizeof(name), "init-ns-%u", i);
        if (add_namespace(r, name, e))
            return e->code;
    }
    if (add_namespace(r, w->init_ns, e) || add_namespace(r, w->measured_ns, e) || (w->service && add_service(r, e)))
        return e->code;
    for (uint32_t i = 0; i < w->n_nodes; i++)
        if (add_node(r, i, e))
            return e->code;
    if (add_init_pods(r, e))
        return e->code;
    for (uint32_t i = 0; w->unschedulable_churn && i < WORKLOAD_CHURN_PODS; i++)
        if (add_pod(r, "large", w->measured_ns, "large", i, e))
            return e->code;
    return ERR_OK;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static enum err_code measure(struct run *r, void (*progress)(void *, uint32_t), void *context,
                             struct workload_result *ret, struct err *e)
{
    run_all(r, false, NULL, NULL);
    for (uint32_t i = 0; i < r->w->n_measured_pods; i++)
        if (add_pod(r, r->w->measured, r->w->measured_ns, "measured", i, e))
            return e->code;
    r->n_bound = 0;
    int64_t start = now_ns();
    run_all(r, true, progress, context);
    ret->seconds = (double)(now_ns() - start) / 1e9;
    ret->n_placed = r->n_bound;
    ret->n_unplaced = r->w->n_measured_pods - (r->n_bound < r->w->n_measured_pods ? r->n_bound : r->w->n_measured_pods);
    ret->throughput = r->n_bound / ret->seconds;
    size_t n = r->decision_ns.n;
    if (n) {
        qsort(r->decision_ns.at, n, sizeof(int64_t), compare_ns);
        ret->p50_ns = r->decision_ns.at[n / 2];
        ret->p99_ns = r->decision_ns.at[n * 99 / 100];
        ret->max_ns = r->decision_ns.at[n - 1];
    }
    ret->decision_hash = sched_decision_hash(r->sched);
    return ERR_OK;
}

enum err_code workload_run(const struct workload *w, struct sym_table *syms, const struct setup *setup,
                           void (*progress)(void *context, uint32_t n_done), void *context,
                           struct workload_result *ret_result, struct err *e)
{
    struct run r = { .w = w, .syms = syms, .start_ns = now_ns() };
    struct sched_options options = {
        .syms = syms,
        .profiles = setup->profiles,
        .n_profiles = setup->n_profiles,
        .features = setup->features,
        .io = { &r, io_now_ms, io_wall_s, io_bind, io_patch_status, io_evict, io_event, NULL, NULL },
        .seed = 1,
    };
    struct metrics *page = w->metrics ? metrics_new() : NULL;
    if (page)
        options.metrics = sched_metrics_new(
            &(struct sched_metrics_options){ .registry = page, .features = setup->features, .batching = true });
    strbuf_init(&r.text, STRBUF_NO_MAX);
    r.sched = sched_new(&options);
    *ret_result = (struct workload_result){ 0 };
    struct decisions *decisions = w->keeps_decisions ? decisions_new(r.sched, &(struct decisions_options){ 0 }) : NULL;
    enum err_code code = set_up(&r, e);
    if (!code)
        code = measure(&r, progress, context, ret_result, e);
    if (decisions)
        decisions_free(decisions);
    sched_publish_metrics(r.sched);
    sched_free(r.sched);
    if (page) {
        sched_metrics_free(options.metrics);
        metrics_free(page);
    }
    strbuf_fini(&r.text);
    vec_fini(&r.outcomes);
    vec_fini(&r.decision_ns);
    return code;
}
