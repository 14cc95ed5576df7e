/* sched/sched.c - see sched.h: making and ending a scheduler, what time brings, and what there is to see. */
#include "sched/sched.h"

#include "base/arith.h"
#include "base/mem.h"
#include "sched/pod_class.h"
#include "sched/memo.h"
#include "sched/queue.h"
#include "sched/sched_priv.h"

/* Clocks come from outside. Within these bounds no sum or difference with another time or a duration overflows. */
#define CLOCK_MAX (INT64_MAX / 4)

static int64_t bounded(int64_t time)
{
    return time > CLOCK_MAX ? CLOCK_MAX : time < -CLOCK_MAX ? -CLOCK_MAX : time;
}

int64_t sched_now_ms(const struct sched *s)
{
    return bounded(s->io.now_ms(s->io.context));
}

void sched_read_clocks(struct sched *s)
{
    s->now_ms = sched_now_ms(s);
    s->now_s = bounded(s->io.wall_s(s->io.context));
}

struct sched *sched_new(const struct sched_options *options)
{
    assert(options->syms);
    assert(options->n_profiles > 0);
    assert(options->n_profiles <= PROFILES_MAX);
    assert(options->io.now_ms);
    assert(options->io.wall_s);
    for (uint32_t i = 0; i < options->n_profiles; i++)
        assert(options->profiles[i]->plan.settled);
    struct sched *s = mem_zalloc(sizeof(*s));
    s->syms = options->syms;
    s->profiles = options->profiles;
    s->n_profiles = options->n_profiles;
    for (uint32_t i = 0; i < s->n_profiles; i++)
        profile_take(s->profiles[i]);
    s->extenders = options->extenders;
    s->n_extenders = options->n_extenders;
    s->io = options->io;
    sched_read_clocks(s);
    s->features = options->features;
    s->percentage_of_nodes_to_score = options->percentage_of_nodes_to_score;
    rand_init(&s->rand, options->seed);
    arena_init(&s->arena);
    cache_init(&s->cache, s->syms);
    s->pod_classes = pod_classes_new();
    s->memos = memos_new();
    s->objects = objects_new(s->syms);
    nominator_init(&s->nominator, s->syms);
    map_str_init(&s->pods);
    map_str_init(&s->preempting);
    map_u64_init(&s->binding_of_ticket);
    s->decision_hash = 0xcbf29ce484222325ull;
    s->metrics = options->metrics;
    if (s->metrics)
        measure_attach(s->metrics, s->profiles, s->n_profiles);
    s->queue = queue_new(&(struct queue_options){
        .syms = s->syms,
        .nominator = &s->nominator,
        .profiles = s->profiles,
        .n_profiles = s->n_profiles,
        .cache = &s->cache,
        .objects = s->objects,
        .sched = s,
        .metrics = s->metrics,
        .initial_backoff_ms = options->initial_backoff_ms ? options->initial_backoff_ms : QUEUE_INITIAL_BACKOFF_MS,
        .max_backoff_ms = options->max_backoff_ms ? options->max_backoff_ms : QUEUE_MAX_BACKOFF_MS,
        .unschedulable_ms_max =
            options->unschedulable_ms_max ? options->unschedulable_ms_max : QUEUE_UNSCHEDULABLE_MS_MAX,
        .extenders = options->n_extenders > 0,
        .pod_groups = options->features.generic_workload,
        .no_early_pop = !options->features.pop_from_backoff_queue,
    });
    return s;
}

void sched_free(struct sched *s)
{
    bind_free_all(s);
    evict_free_all(s);
    queue_free(s->queue);
    nominator_fini(&s->nominator);
    pod_classes_free(s->pod_classes);
    memos_free(s->memos);
    turns_fini(&s->turns);
    cache_fini(&s->cache);
    objects_free(s->objects);
    for (struct map_str_slot *slot = map_str_next(&s->pods, NULL); slot; slot = map_str_next(&s->pods, slot))
        pod_unref(s->syms, slot->value.const_ptr);
    map_str_fini(&s->pods);
    map_str_fini(&s->preempting);
    arena_fini(&s->arena);
    if (s->metrics)
        measure_detach(s->metrics);
    for (uint32_t i = 0; i < s->n_profiles; i++)
        profile_give_back(s->profiles[i]);
    free(s);
}

static int64_t next_multiple(int64_t now_ms, int64_t step_ms)
{
    return sat_mul(now_ms / step_ms + 1, step_ms);
}

void sched_tick(struct sched *s)
{
    sched_read_clocks(s);
    int64_t now_ms = s->now_ms;
    if (now_ms >= s->next_backoff_flush_ms) {
        queue_flush_backoff(s->queue, now_ms);
        s->next_backoff_flush_ms = next_multiple(now_ms, QUEUE_FLUSH_BACKOFF_MS); /* on whole seconds */
    }
    if (now_ms >= s->next_unschedulable_flush_ms) {
        queue_flush_unschedulable(s->queue, now_ms);
        s->next_unschedulable_flush_ms = sat_add(now_ms, QUEUE_FLUSH_UNSCHEDULABLE_MS);
    }
    bind_check_timeouts(s, now_ms);
}

int64_t sched_due_ms(const struct sched *s)
{
    int64_t due_ms = bind_due_ms(s);
    if (queue_backoff_due_ms(s->queue) < INT64_MAX && s->next_backoff_flush_ms < due_ms)
        due_ms = s->next_backoff_flush_ms;
    if (queue_unschedulable_due_ms(s->queue) < INT64_MAX && s->next_unschedulable_flush_ms < due_ms)
        due_ms = s->next_unschedulable_flush_ms;
    return due_ms;
}

static uint64_t fnv1a(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        hash = (hash ^ (unsigned char)bytes.p[i]) * 0x100000001b3ull;
    return hash;
}

void sched_note_decision(struct sched *s, const struct pod *pod, struct str outcome)
{
    uint64_t hash = fnv1a(s->decision_hash, sym_text(s->syms, pod->meta.ns));
    hash = fnv1a(fnv1a(hash, STR("/")), str_of(pod->meta.name));
    s->decision_hash = fnv1a(fnv1a(hash, STR("=")), outcome);
}

uint64_t sched_decision_hash(const struct sched *s)
{
    return s->decision_hash;
}

struct sched_counts sched_counts(const struct sched *s)
{
    struct queue_counts q = queue_counts(s->queue);
    return (struct sched_counts){
        .attempts = s->n_attempts,
        .placed = s->n_placed,
        .unschedulable = s->n_unschedulable,
        .errors = s->n_errors,
        .active = q.active,
        .backoff = q.backoff,
        .unschedulable_waiting = q.unschedulable,
        .gated = q.gated,
        .binding = (uint32_t)s->bindings.n,
        .evicting = (uint32_t)s->evictions.n,
    };
}

struct cache *sched_cache(struct sched *s)
{
    return &s->cache;
}

struct queue *sched_queue(struct sched *s)
{
    return s->queue;
}

struct objects *sched_objects(struct sched *s)
{
    return s->objects;
}

struct nominator *sched_nominator(struct sched *s)
{
    return &s->nominator;
}

const struct pod *sched_pod(const struct sched *s, const char *uid)
{
    union map_value *found = map_str_find(&s->pods, str_of(uid));
    return found ? found->const_ptr : NULL;
}

const struct node *sched_node(const struct sched *s, sym name)
{
    node_id id = cache_find_node(&s->cache, name);
    return id == NODE_NONE ? NULL : s->cache.rows.at[id].node;
}

void sched_each_pod(const struct sched *s, void (*each)(void *context, const struct pod *pod), void *context)
{
    for (struct map_str_slot *slot = map_str_next(&s->pods, NULL); slot; slot = map_str_next(&s->pods, slot))
        each(context, slot->value.const_ptr);
}

void sched_each_node(const struct sched *s, void (*each)(void *context, const struct node *node), void *context)
{
    for (size_t i = 0; i < s->cache.rows.n; i++)
        if (s->cache.rows.at[i].node)
            each(context, s->cache.rows.at[i].node);
}

const struct pod *sched_pod_named(const struct sched *s, struct str ns, struct str name)
{
    sym id = sym_find(s->syms, ns);
    const struct pod *found = NULL;
    for (struct map_str_slot *slot = map_str_next(&s->pods, NULL); slot && id != SYM_NONE; slot = map_str_next(&s->pods, slot)) {
        const struct pod *pod = slot->value.const_ptr;
        if (pod->meta.ns == id && str_is(name, pod->meta.name) && (!found || found->flags & POD_TERMINATING))
            found = pod;
    }
    return found;
}

void sched_watch_decisions(struct sched *s, void (*decided)(void *context, const struct sched_decision *decision),
                           void *context)
{
    s->decided = decided;
    s->decided_context = context;
}

void sched_watch_attempts(struct sched *s, void (*before)(void *context, const struct pod *pod), void *context)
{
    s->before_attempt = before;
    s->before_attempt_context = context;
}
