/* tests/unit/queue_world.c - see queue_world.h. */
#include "tests/unit/queue_world.h"

#include <stdarg.h>

bool world_barrier, world_hint_skips;
int world_n_hints, world_n_barrier_calls, world_n_gates_calls;
void *world_scratch;

const char *const world_plugin_names[N_WORLD_PLUGINS] = {
    "Sort", "Gates", "Barrier", "Fit", "Taints", "Claims", "Deaf", "Curious", "Scorer",
};

static bool sort_less(const struct plugin_instance *p, const struct queued_pod *a, const struct queued_pod *b)
{
    (void)p;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->sequence < b->sequence;
}

static struct verdict gates_pre_enqueue(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    world_n_gates_calls++;
    return c->pod->n_gates ? verdict_text(V_UNRESOLVABLE, "waiting for scheduling gates") : PASS;
}

static struct verdict barrier_pre_enqueue(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    (void)c;
    world_n_barrier_calls++;
    return world_barrier ? verdict_text(V_ERROR, "closed") : PASS;
}

static struct verdict pass(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return PASS;
}

static struct verdict permit(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms)
{
    (void)p;
    (void)c;
    (void)node;
    *ret_timeout_ms = 0;
    return PASS;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return 0;
}

static enum hint own_gates_gone(const struct hint_context *h, const struct pod *waiting,
                                const struct cluster_event *event)
{
    (void)h;
    const struct pod *changed = event->new_object;
    return strcmp(changed->meta.uid, waiting->meta.uid) == 0 ? HINT_QUEUE : HINT_SKIP;
}

static enum hint room_was_freed(const struct hint_context *h, const struct pod *waiting,
                                const struct cluster_event *event)
{
    (void)waiting;
    world_n_hints++;
    world_scratch = arena_alloc(h->arena, 1000);
    CHECK(h->plugin->index == FIT);
    CHECK(event->old_object && !event->new_object);
    return world_hint_skips ? HINT_SKIP : HINT_QUEUE;
}

static const struct plugin plugins[N_WORLD_PLUGINS] = {
    [SORT] = { .name = "Sort", .less = sort_less },
    [GATES] = { .name = "Gates", .pre_enqueue = gates_pre_enqueue,
                .events = (const struct plugin_event[]){ { RES_POD, ACT_UPDATE_POD_GATES_ELIMINATED, own_gates_gone },
                                                         { 0 } } },
    [BARRIER] = { .name = "Barrier", .pre_enqueue = barrier_pre_enqueue,
                  .events = (const struct plugin_event[]){ { RES_NODE, ACT_DELETE, NULL }, { 0 } } },
    [FIT] = { .name = "Fit", .filter = pass,
              .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_ALLOCATABLE, NULL },
                                                       { RES_POD, ACT_DELETE, room_was_freed },
                                                       { RES_POD, ACT_UPDATE_POD_SCALE_DOWN, NULL },
                                                       { 0 } } },
    [TAINTS] = { .name = "Taints", .filter = pass,
                 .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_TAINT, NULL },
                                                          { RES_POD, ACT_UPDATE_POD_TOLERATION, NULL },
                                                          { 0 } } },
    [CLAIMS] = { .name = "Claims", .permit = permit,
                 .events = (const struct plugin_event[]){ { RES_PERSISTENT_VOLUME_CLAIM, ACT_ADD | ACT_UPDATE, NULL },
                                                          { 0 } } },
    [DEAF] = { .name = "Deaf", .filter = pass, .events = (const struct plugin_event[]){ { 0 } } },
    [CURIOUS] = { .name = "Curious", .filter = pass },
    [SCORER] = { .name = "Scorer", .score = score },
};

static void add_to_point(struct profile *profile, enum extension_point point, uint8_t plugin)
{
    struct point_plugins *at = &profile->points[point];
    at->at[at->n++] = &profile->instances[plugin];
}

void world_init(struct world *w)
{
    *w = (struct world){ 0 };
    world_barrier = world_hint_skips = false;
    world_n_hints = world_n_barrier_calls = world_n_gates_calls = 0;
    sym_init(&w->syms);
    nominator_init(&w->nominator, &w->syms);
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    w->profile.scheduler_name = "s";
    w->profile.scheduler_name_sym = sym_intern_static(&w->syms, STR("s"));
    w->profile.n_instances = N_WORLD_PLUGINS;
    for (uint8_t i = 0; i < N_WORLD_PLUGINS; i++)
        w->profile.instances[i] = (struct plugin_instance){ .plugin = &plugins[i], .index = i, .syms = &w->syms };
    add_to_point(&w->profile, POINT_QUEUE_SORT, SORT);
    add_to_point(&w->profile, POINT_PRE_ENQUEUE, GATES);
    add_to_point(&w->profile, POINT_PRE_ENQUEUE, BARRIER);
    w->profiles[0] = &w->profile;
    w->options = (struct queue_options){
        .syms = &w->syms,
        .nominator = &w->nominator,
        .profiles = w->profiles,
        .n_profiles = 1,
        .initial_backoff_ms = QUEUE_INITIAL_BACKOFF_MS,
        .max_backoff_ms = QUEUE_MAX_BACKOFF_MS,
        .unschedulable_ms_max = QUEUE_UNSCHEDULABLE_MS_MAX,
    };
    pod_unref(&w->syms, world_pod(w, "{}")); /* decoding interns some well-known names for good */
    node_unref(&w->syms, world_node(w, "{}"));
    w->n_syms = sym_n_live(&w->syms);
}

void world_start(struct world *w)
{
    w->q = queue_new(&w->options);
}

void world_fini(struct world *w)
{
    queue_free(w->q);
    nominator_fini(&w->nominator);
    CHECK_INT("names left behind", sym_n_live(&w->syms), w->n_syms);
    sym_fini(&w->syms);
    arena_fini(&w->arena);
}

const struct pod *world_pod(struct world *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *json = arena_vprintf(&w->arena, format, args);
    va_end(args);
    const struct pod *pod;
    if (pod_decode(&w->syms, TYPED_JSON, str_of(json), &pod, &w->e))
        FAIL("%s: %s", json, w->e.message);
    arena_reset(&w->arena);
    return pod;
}

const struct node *world_node(struct world *w, const char *json)
{
    const struct node *node;
    if (node_decode(&w->syms, TYPED_JSON, str_of(json), &node, &w->e))
        FAIL("%s: %s", json, w->e.message);
    arena_reset(&w->arena);
    return node;
}
