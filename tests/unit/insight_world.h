/* tests/unit/insight_world.h - a scheduler with a configuration of its own, in a world that binds at once: for tests of what
 * a running scheduler can be asked. JSON is written with single quotes. */
#pragma once

#include "base/vec.h"
#include "config/setup.h"
#include "plugins/plugins.h"
#include "sched/sched.h"
#include "tests/test.h"

struct insight_bind {
    io_ticket ticket;
    const struct pod *pod; /* a reference */
    sym node;
    bool evicts; /* the pod is a victim */
};

struct insight_world {
    struct sym_table *syms;
    struct sym_table own_syms;
    struct setup setup;
    struct sched *sched;
    struct arena arena;
    struct err e;
    int64_t now_ms;
    VEC(struct insight_bind) binds;
    VEC(const struct pod *) placed; /* references, in the order in which they were bound */
    uint64_t n_bound;
    void (*bound)(void *context, const struct pod *before, const struct pod *after); /* ahead of the watch event; may be NULL */
    void *bound_context;
};

static inline int64_t insight_now(void *context)
{
    return ((struct insight_world *)context)->now_ms;
}

static inline int64_t insight_wall(void *context)
{
    return 1800000000 + ((struct insight_world *)context)->now_ms / 1000;
}

static inline void insight_bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct insight_world *w = context;
    vec_push(&w->binds, (struct insight_bind){ ticket, pod_ref(pod), node, false });
}

static inline void insight_status(void *context, const struct status_change *change)
{
    (void)context;
    (void)change;
}

static inline void insight_evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct insight_world *w = context;
    (void)preemptor;
    vec_push(&w->binds, (struct insight_bind){ ticket, pod_ref(victim), SYM_NONE, true });
}

static inline void insight_event(void *context, const struct event_note *note)
{
    (void)context;
    (void)note;
}

static inline void insight_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                                   const struct volume_decisions *decisions)
{
    (void)context, (void)ticket, (void)pod, (void)node, (void)decisions;
}

/* `config` NULL: the default. `syms` NULL: its own. */
static inline void insight_world_init(struct insight_world *w, struct sym_table *syms, const char *config)
{
    *w = (struct insight_world){ .now_ms = 1000 };
    sym_init(&w->own_syms);
    w->syms = syms ? syms : &w->own_syms;
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    static const char plain[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                                "percentageOfNodesToScore: 100\nleaderElection: {leaderElect: false}\n";
    if (setup_from_text(&w->setup, w->syms, str_of(config ? config : plain), plugin_registry, &w->e))
        FAIL("%s", w->e.message);
    w->sched = sched_new(&(struct sched_options){
        .syms = w->syms,
        .profiles = w->setup.profiles,
        .n_profiles = w->setup.n_profiles,
        .features = w->setup.features,
        .io = { w, insight_now, insight_wall, insight_bind, insight_status, insight_evict, insight_event, insight_volumes, NULL },
        .percentage_of_nodes_to_score = 100,
        .seed = 7,
    });
}

static inline void insight_world_fini(struct insight_world *w)
{
    for (size_t i = 0; i < w->binds.n; i++)
        pod_unref(w->syms, w->binds.at[i].pod);
    for (size_t i = 0; i < w->placed.n; i++)
        pod_unref(w->syms, w->placed.at[i]);
    sched_free(w->sched);
    setup_fini(&w->setup);
    vec_fini(&w->binds);
    vec_fini(&w->placed);
    arena_fini(&w->arena);
    sym_fini(&w->own_syms);
}

static inline struct str insight_json(struct insight_world *w, const char *text)
{
    char *json = (char *)(uintptr_t)arena_cstr(&w->arena, str_of(text));
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return str_of(json);
}

static inline void insight_node(struct insight_world *w, const char *name, const char *labels, const char *spec,
                                const char *cpu, const char *pods)
{
    const struct node *node;
    const char *text = arena_printf(&w->arena,
                                    "{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s'%s}},'spec':{%s},"
                                    "'status':{'allocatable':{'cpu':'%s','memory':'4000Gi','pods':'%s'}}}",
                                    name, name, labels, spec, cpu, pods);
    if (node_decode(w->syms, TYPED_JSON, insight_json(w, text), &node, &w->e))
        FAIL("%s: %s", text, w->e.message);
    sched_node_set(w->sched, node);
    node_unref(w->syms, node);
}

/* A reference. */
static inline const struct pod *insight_pod(struct insight_world *w, const char *name, const char *cpu, const char *meta,
                                            const char *spec)
{
    const struct pod *pod;
    const char *text = arena_printf(&w->arena,
                                    "{'metadata':{'name':'%s','namespace':'shop','uid':'uid-%s','resourceVersion':'1'%s},"
                                    "'spec':{'schedulerName':'default-scheduler'%s,'containers':[{'name':'c','image':'i',"
                                    "'resources':{'requests':{'cpu':'%s','memory':'1Gi'}}}]}}",
                                    name, name, meta, spec, cpu);
    if (pod_decode(w->syms, TYPED_JSON, insight_json(w, text), &pod, &w->e))
        FAIL("%s: %s", text, w->e.message);
    return pod;
}

static inline void insight_add_pod(struct insight_world *w, const char *name, const char *cpu, const char *meta,
                                   const char *spec)
{
    const struct pod *pod = insight_pod(w, name, cpu, meta, spec);
    sched_pod_set(w->sched, pod);
    pod_unref(w->syms, pod);
}

static inline void insight_answer(struct insight_world *w)
{
    for (size_t i = 0; i < w->binds.n; i++) {
        struct insight_bind b = w->binds.at[i];
        if (b.evicts) {
            sched_victim_done(w->sched, b.ticket, NULL);
            sched_pod_removed(w->sched, b.pod->meta.uid);
            pod_unref(w->syms, b.pod);
            continue;
        }
        const struct pod *newest = sched_pod(w->sched, b.pod->meta.uid);
        const struct pod *after = newest ? pod_started(w->syms, newest, b.node) : NULL;
        sched_bound(w->sched, b.ticket, NULL);
        pod_unref(w->syms, b.pod);
        if (!after)
            continue;
        if (w->bound)
            w->bound(w->bound_context, newest, after);
        sched_pod_set(w->sched, after);
        vec_push(&w->placed, after);
        w->n_bound++;
    }
    vec_reset(&w->binds);
}

/* Until nobody is ready. */
static inline void insight_run(struct insight_world *w)
{
    while (sched_run_once(w->sched))
        insight_answer(w);
}

static inline bool insight_has(struct strbuf *b, const char *text)
{
    return strstr(strbuf_cstr(b), text) != NULL;
}

/* Fails, with all of the answer, when the text is not in it. */
static inline void insight_check_has(struct strbuf *b, const char *what, const char *text)
{
    if (!insight_has(b, text))
        FAIL("%s: no %s in\n%s", what, text, strbuf_cstr(b));
}
