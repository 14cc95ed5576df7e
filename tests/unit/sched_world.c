/* tests/unit/sched_world.c - see sched_world.h. */
#include "tests/unit/sched_world.h"

/* ---- Outside ---- */

static int64_t now_ms(void *context)
{
    return ((struct sched_world *)context)->now_ms;
}

static int64_t wall_s(void *context)
{
    return 1800000000 + ((struct sched_world *)context)->now_ms / 1000;
}

static const char *text_of(struct sched_world *w, sym id)
{
    return sym_text(&w->syms, id).p;
}

static void bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    struct sched_world *w = context;
    vec_push(&w->tickets, ticket);
    strbuf_printf(&w->log, "bind %s %s\n", pod->meta.name, text_of(w, node));
}

static void patch_status(void *context, const struct status_change *change)
{
    struct sched_world *w = context;
    if (change->has_condition)
        strbuf_printf(&w->log, "status %s %s: %s\n", change->pod->meta.name,
                      change->failure == FAILURE_UNSCHEDULABLE ? "Unschedulable" : "SchedulerError", change->message);
    if (change->set_nomination)
        strbuf_printf(&w->log, "nominate %s %s\n", change->pod->meta.name, text_of(w, change->nomination));
}

static void evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    struct sched_world *w = context;
    vec_push(&w->tickets, ticket);
    strbuf_printf(&w->log, "evict %s for %s\n", victim->meta.name, preemptor->meta.name);
}

static void event(void *context, const struct event_note *note)
{
    struct sched_world *w = context;
    strbuf_printf(&w->log, "event %s %s %s\n", note->warning ? "Warning" : "Normal", note->reason, note->note);
}

static void bind_volumes(void *context, io_ticket ticket, const struct pod *pod, sym node,
                         const struct volume_decisions *decisions)
{
    struct sched_world *w = context;
    (void)node;
    (void)decisions;
    vec_push(&w->tickets, ticket);
    strbuf_printf(&w->log, "volumes of %s\n", pod->meta.name);
}

const char *world_log(struct sched_world *w)
{
    const char *text = arena_cstr(&w->arena, strbuf_str(&w->log));
    strbuf_reset(&w->log);
    return text;
}

/* ---- The scheduler ---- */

static void add_to(struct sched_world *w, enum extension_point point, const struct plugin_instance *p, bool has)
{
    struct point_plugins *at = &w->profile.points[point];
    if (has)
        at->at[at->n++] = p;
}

void sched_world_add_plugin(struct sched_world *w, const struct plugin *plugin, const void *args, int64_t weight)
{
    struct profile *profile = &w->profile;
    CHECK(profile->n_instances < PLUGINS_MAX);
    struct plugin_instance *p = &profile->instances[profile->n_instances];
    *p = (struct plugin_instance){ plugin, NULL, profile->n_instances++, &w->syms, &w->features };
    struct err e;
    err_init(&e, &w->arena);
    if (plugin->init && plugin->init(p, args, &e))
        FAIL("%s: %s", plugin->name, e.message);
    if (plugin->score || plugin->score_block)
        profile->weights[profile->points[POINT_SCORE].n] = weight;
    add_to(w, POINT_PRE_ENQUEUE, p, plugin->pre_enqueue);
    add_to(w, POINT_QUEUE_SORT, p, plugin->less);
    add_to(w, POINT_PRE_FILTER, p, plugin->pre_filter);
    add_to(w, POINT_FILTER, p, plugin->filter);
    add_to(w, POINT_POST_FILTER, p, plugin->post_filter);
    add_to(w, POINT_PRE_SCORE, p, plugin->pre_score);
    add_to(w, POINT_SCORE, p, plugin->score || plugin->score_block);
    add_to(w, POINT_RESERVE, p, plugin->reserve);
    add_to(w, POINT_PERMIT, p, plugin->permit);
    add_to(w, POINT_PRE_BIND, p, plugin->pre_bind);
    add_to(w, POINT_BIND, p, plugin->bind);
    add_to(w, POINT_POST_BIND, p, plugin->post_bind);
}

void sched_world_init(struct sched_world *w)
{
    static const struct resource_weight weights[] = { { "cpu", 1 }, { "memory", 1 } };
    *w = (struct sched_world){ .now_ms = 1000 };
    w->io = (struct sched_io){ w, now_ms, wall_s, bind, patch_status, evict, event, bind_volumes, NULL };
    sym_init(&w->syms);
    arena_init(&w->arena);
    strbuf_init(&w->log, STRBUF_NO_MAX);
    w->fit_args.strategy = (struct scoring_strategy){ SCORING_LEAST_ALLOCATED, weights, 2, NULL, 0 };
    w->preemption_args = (struct default_preemption_args){ 10, 100 };
    w->features.async_preemption = true;
    w->features.pop_from_backoff_queue = true;
    w->features.nominated_node_name_for_expectation = true;
    w->features.node_declared_features = true;
    w->profiles[0] = &w->profile;
    w->profile.scheduler_name = "default-scheduler";
    w->profile.scheduler_name_sym = world_sym(w, "default-scheduler");
    w->profile.percentage_of_nodes_to_score = -1;
    sched_world_add_plugin(w, &prioritysort_plugin, NULL, 0);
    sched_world_add_plugin(w, &nodeunschedulable_plugin, NULL, 0);
    sched_world_add_plugin(w, &noderesourcesfit_plugin, &w->fit_args, 1);
    sched_world_add_plugin(w, &defaultpreemption_plugin, &w->preemption_args, 0);
    sched_world_add_plugin(w, &defaultbinder_plugin, NULL, 0);
}

static int64_t reading_ns(const struct clock *c)
{
    static int64_t ns;
    (void)c;
    return ns += CLOCK_NS_PER_MS;
}

static const struct clock reading_clock = { reading_ns, reading_ns };

static void open_metrics(struct sched_world *w)
{
    w->page = metrics_new();
    w->metrics = sched_metrics_new(&(struct sched_metrics_options){
        .registry = w->page, .clock = &reading_clock, .features = w->features, .batching = true, .async_api_calls = true });
}

const char *world_metrics(struct sched_world *w)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    sched_publish_metrics(w->sched);
    metrics_write(w->page, &text);
    const char *copy = arena_cstr(&w->arena, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

void sched_world_open(struct sched_world *w)
{
    profile_settle(&w->profile);
    if (w->measured)
        open_metrics(w);
    w->sched = sched_new(&(struct sched_options){
        .syms = &w->syms,
        .profiles = w->profiles,
        .n_profiles = 1,
        .extenders = w->extenders,
        .n_extenders = w->n_extenders,
        .io = w->io,
        .features = w->features,
        .seed = w->seed,
        .percentage_of_nodes_to_score = w->percentage_of_nodes_to_score,
        .metrics = w->metrics,
    });
}

void sched_world_close(struct sched_world *w)
{
    sched_free(w->sched);
    if (w->metrics) {
        sched_metrics_free(w->metrics);
        metrics_free(w->page);
    }
    for (uint8_t i = 0; i < w->profile.n_instances; i++)
        if (w->profile.instances[i].plugin->fini)
            w->profile.instances[i].plugin->fini(&w->profile.instances[i]);
    for (size_t i = 0; i < w->pods.n; i++)
        pod_unref(&w->syms, w->pods.at[i]);
    vec_fini(&w->pods);
    vec_fini(&w->tickets);
    strbuf_fini(&w->log);
    sym_fini(&w->syms);
    arena_fini(&w->arena);
}

/* ---- Objects ---- */

sym world_sym(struct sched_world *w, const char *text)
{
    return sym_intern_static(&w->syms, str_of(text));
}

const char *world_node_json(struct sched_world *w, const char *name, const char *cpu, const char *labels)
{
    return arena_printf(&w->arena,
                        "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"status\":{\"allocatable\":{\"cpu\":\"%s\","
                        "\"memory\":\"16Gi\",\"pods\":\"110\"}}}",
                        name, labels, cpu);
}

void world_node(struct sched_world *w, const char *name, const char *cpu, const char *labels)
{
    const struct node *node;
    struct err e;
    err_init(&e, &w->arena);
    if (node_decode(&w->syms, TYPED_JSON, str_of(world_node_json(w, name, cpu, labels)), &node, &e))
        FAIL("%s", e.message);
    sched_node_set(w->sched, node);
    node_unref(&w->syms, node);
}

const char *world_pod_json(struct sched_world *w, const char *name, const char *node, int priority, const char *cpu,
                           const char *spec)
{
    return arena_printf(&w->arena,
                        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\","
                        "\"resourceVersion\":\"1\"},\"spec\":{\"schedulerName\":\"default-scheduler\",\"priority\":%d,"
                        "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]"
                        "%s%s%s%s%s}}",
                        name, name, priority, cpu, node ? ",\"nodeName\":\"" : "", node ? node : "", node ? "\"" : "",
                        *spec ? "," : "", spec);
}

const struct pod *world_pod_of(struct sched_world *w, const char *json)
{
    const struct pod *pod;
    struct err e;
    err_init(&e, &w->arena);
    if (pod_decode(&w->syms, TYPED_JSON, str_of(json), &pod, &e))
        FAIL("%s", e.message);
    vec_push(&w->pods, pod);
    return pod;
}

const struct pod *world_pod(struct sched_world *w, const char *name, const char *node, int priority, const char *cpu,
                            const char *spec)
{
    return world_pod_of(w, world_pod_json(w, name, node, priority, cpu, spec));
}
