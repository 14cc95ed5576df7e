/* sim/trace_run.c - see trace_run.h. */
#include "sim/trace_run.h"

#include <stdio.h>

#include "sched/queue.h"
#include "sim/trace_run_priv.h"

/* Every waiting pod has been tried again after this time without a change: the longest wait for an event, until
 * somebody looks, and a back-off at the end. */
enum {
    QUIET_MS = QUEUE_UNSCHEDULABLE_MS_MAX + 2 * QUEUE_FLUSH_UNSCHEDULABLE_MS,
    QUIET_BACKOFF_S_MAX = 24 * 3600,
    UID_BYTES = 32,
};

static bool finishes_before(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    const struct trace_pod *x = HEAP_ITEM(a, struct trace_pod, finish), *y = HEAP_ITEM(b, struct trace_pod, finish);
    return x->finish_ms != y->finish_ms ? x->finish_ms < y->finish_ms : x->binding < y->binding;
}

static struct trace_pod *find_pod(struct trace_run *r, const char *uid)
{
    union map_value *v = map_str_find(&r->alive, str_of(uid));
    return v ? v->ptr : NULL;
}

/* ---- Accounts ---- */

/* Before anything changes: what was so far held until now. */
static void note_time(struct trace_run *r)
{
    if (r->time_ms > r->changed_ms)
        trace_samples_add(&r->samples, &r->level, r->changed_ms, r->time_ms);
    r->changed_ms = r->time_ms;
}

static void occupy(struct trace_run *r, const struct trace_pod *p, bool add)
{
    const struct amounts *a = p->form->requested;
    r->level.milli_cpu = account(r->level.milli_cpu, a->milli_cpu, add);
    r->level.memory = account(r->level.memory, a->memory, add);
    r->level.running += add ? 1 : -1;
    if (p->node == SIM_NO_NODE)
        return;
    struct sim_amounts *after = &r->world->nodes.at[p->node].after;
    after->milli_cpu = account(after->milli_cpu, a->milli_cpu, add);
    after->memory = account(after->memory, a->memory, add);
    after->pods += add ? 1 : -1;
}

static void free_pod(struct trace_run *r, struct trace_pod *p)
{
    pod_unref(r->world->syms, p->form);
    free(p->message);
    free(p);
}

static void drop(struct trace_run *r, struct trace_pod *p)
{
    map_str_remove(&r->alive, str_of(p->form->meta.uid), NULL);
    free_pod(r, p);
}

/* ---- What the world tells ---- */

static void bound(void *context, const struct pod *form)
{
    struct trace_run *r = context;
    struct trace_pod *p = find_pod(r, form->meta.uid);
    if (!p || !p->waiting)
        return;
    note_time(r);
    bool first = p->n_restarts == 0;
    trace_waits_add(first ? &r->waits : &r->restart_waits, form->priority, r->time_ms - p->since_ms);
    r->counts.started += first;
    r->level.waiting--;
    p->waiting = false;
    p->since_ms = r->time_ms;
    p->binding = r->n_bindings++;
    free(p->message);
    p->message = NULL;
    union map_value *node = p->of_world ? NULL : map_u64_find(&r->world->node_by_name, form->node_name);
    p->node = node ? (int32_t)node->num : SIM_NO_NODE;
    occupy(r, p, true);
    if (p->row && p->row->duration_ms != TRACE_FOREVER) {
        p->finish_ms = r->time_ms + p->row->duration_ms;
        heap_push(&r->finishing, &p->finish);
    }
    trace_line_bound(r, p);
}

/* One that nobody has. */
static void make_uid(struct trace_run *r, char uid[UID_BYTES])
{
    do
        snprintf(uid, UID_BYTES, "trace-%llu", (unsigned long long)r->n_uids++);
    while (map_str_find(&r->world->pod_by_uid, str_of(uid)));
}

/* The same pod once more, waiting. */
static void start_over(struct trace_run *r, struct trace_pod *p)
{
    char uid[UID_BYTES];
    make_uid(r, uid);
    map_str_remove(&r->alive, str_of(p->form->meta.uid), NULL);
    const struct pod *again = pod_again(r->world->syms, p->form, p->form->meta.name, uid);
    pod_unref(r->world->syms, p->form);
    p->form = again;
    p->n_restarts++;
    p->of_world = false;
    p->waiting = true;
    p->since_ms = r->time_ms;
    r->level.waiting++;
    map_str_put(&r->alive, str_of(again->meta.uid), NULL)->ptr = p;
    trace_line_enter(r, p);
}

static void evicted(void *context, const struct pod *form)
{
    struct trace_run *r = context;
    struct trace_pod *p = find_pod(r, form->meta.uid);
    if (!p || p->waiting)
        return;
    note_time(r);
    r->counts.preemptions++;
    r->lost_ms += r->time_ms - p->since_ms;
    if (heap_has(&p->finish))
        heap_remove(&r->finishing, &p->finish);
    occupy(r, p, false);
    if (p->comes_back && p->n_restarts < TRACE_RESTARTS_MAX) {
        start_over(r, p);
    } else {
        r->counts.lost++;
        drop(r, p);
    }
}

static void set_message(struct trace_pod *p, const char *message)
{
    if (p->message && strcmp(p->message, message) == 0)
        return;
    free(p->message);
    p->message = strdup(message);
}

static void failed(void *context, const struct status_change *change)
{
    struct trace_run *r = context;
    struct trace_pod *p = find_pod(r, change->pod->meta.uid);
    r->n_failures++;
    if (!p || !p->waiting)
        return;
    set_message(p, change->message);
    bool makes_room = change->set_nomination && change->nomination != SYM_EMPTY;
    if (!makes_room)
        trace_line_failed(r, p);
}

/* ---- What time brings ---- */

static void finish_due(struct trace_run *r)
{
    for (struct heap_node *top; (top = heap_top(&r->finishing));) {
        struct trace_pod *p = HEAP_ITEM(top, struct trace_pod, finish);
        if (p->finish_ms > r->time_ms)
            return;
        note_time(r);
        heap_pop(&r->finishing);
        r->counts.finished++;
        occupy(r, p, false);
        sched_pod_removed(r->world->sched, p->form->meta.uid);
        drop(r, p);
    }
}

static enum err_code check_new(struct trace_run *r, const struct trace_row *row, const char *ns, const char *name,
                               struct err *e)
{
    if (r->alive.n >= r->alive_max)
        return err_set(e, ERR_INVALID, "%s, line %u: more than %d pods wait or run at once", r->trace->file, row->line,
                       (int)r->alive_max);
    if (sim_input_find(r->world->in, "Pod", ns, name))
        return err_set(e, ERR_INVALID, "%s, line %u: pod %s/%s is given already: use another name or namespace",
                       r->trace->file, row->line, ns, name);
    return ERR_OK;
}

static enum err_code arrive_one(struct trace_run *r, const struct trace_row *row, const struct pod *form, struct err *e)
{
    struct sim_world *w = r->world;
    const char *base = row->name ? r->trace->texts.at[row->name] : r->pods.templates[row->template].name;
    char name[256 + 32], uid[UID_BYTES];
    snprintf(name, sizeof(name), "%.250s-%llu", base, (unsigned long long)r->n_made);
    if (check_new(r, row, sym_text(w->syms, form->meta.ns).p, name, e))
        return e->code;
    make_uid(r, uid);
    struct trace_pod *p = mem_zalloc(sizeof(*p));
    p->form = pod_again(w->syms, form, name, uid);
    p->row = row;
    p->since_ms = r->time_ms;
    p->number = r->n_made++;
    p->node = SIM_NO_NODE;
    p->waiting = p->comes_back = true;
    map_str_put(&r->alive, str_of(p->form->meta.uid), NULL)->ptr = p;
    r->counts.arrived++;
    r->level.waiting++;
    trace_line_enter(r, p);
    return ERR_OK;
}

static enum err_code arrive_due(struct trace_run *r, struct err *e)
{
    for (; r->next_row < r->trace->rows.n; r->next_row++) {
        const struct trace_row *row = &r->trace->rows.at[r->next_row];
        if (row->arrival_ms > r->time_ms)
            break;
        const struct pod *form;
        if (row->count == 0)
            continue;
        if (trace_pods_form(&r->pods, row, &form, e))
            return e->code;
        note_time(r);
        if (r->first_arrival_ms > r->time_ms)
            r->first_arrival_ms = r->time_ms;
        for (uint32_t i = 0; i < row->count; i++)
            if (arrive_one(r, row, form, e))
                return e->code;
    }
    return ERR_OK;
}

static void run_ready(struct trace_run *r)
{
    if (r->second != r->time_ms / 1000) {
        r->second = r->time_ms / 1000;
        r->n_failures = 0;
    }
    bool worked = true;
    while (worked && r->n_failures < r->failures_per_second_max) {
        worked = sim_world_step(r->world);
        trace_line_settle(r);
    }
    r->held_up = worked;
}

/* Long enough for everyone who waits to be tried again. */
static bool is_quiet(const struct trace_run *r, int64_t until_ms)
{
    return until_ms - r->changed_ms > r->quiet_ms + r->level.waiting / r->failures_per_second_max * 2000;
}

/* When the scheduler is to go on; INT64_MAX: never, or it has tried long enough. */
static int64_t scheduler_due(const struct trace_run *r, bool nothing_else)
{
    int64_t due_ms = sched_due_ms(r->world->sched);
    if (r->level.waiting == 0 || (due_ms == INT64_MAX && !r->held_up))
        return INT64_MAX;
    due_ms = due_ms == INT64_MAX ? INT64_MAX : due_ms - r->start_ms;
    int64_t next_second_ms = (r->second + 1) * 1000;
    if (r->held_up && next_second_ms < due_ms)
        due_ms = next_second_ms;
    if (due_ms <= r->time_ms)
        due_ms = r->time_ms + 1;
    return nothing_else && is_quiet(r, due_ms) ? INT64_MAX : due_ms;
}

static int64_t next_event(const struct trace_run *r)
{
    int64_t arrival_ms = r->next_row < r->trace->rows.n ? r->trace->rows.at[r->next_row].arrival_ms : INT64_MAX;
    const struct heap_node *top = heap_top(&r->finishing);
    int64_t finish_ms = top ? HEAP_ITEM(top, struct trace_pod, finish)->finish_ms : INT64_MAX;
    int64_t next_ms = arrival_ms < finish_ms ? arrival_ms : finish_ms;
    int64_t due_ms = scheduler_due(r, next_ms == INT64_MAX);
    return due_ms < next_ms ? due_ms : next_ms;
}

static void advance(struct trace_run *r, int64_t to_ms)
{
    r->time_ms = to_ms;
    r->world->now_ms = r->start_ms + to_ms;
    if (sched_due_ms(r->world->sched) <= r->world->now_ms)
        sim_world_tick(r->world);
    trace_line_settle(r);
}

/* ---- Beginning and end ---- */

static void add_given(struct trace_run *r, const struct sim_pod *given, uint64_t number)
{
    struct trace_pod *p = mem_zalloc(sizeof(*p));
    p->form = pod_ref(given->form);
    p->number = number;
    p->node = SIM_NO_NODE;
    p->of_world = true;
    p->comes_back = given->owner != NULL;
    p->waiting = given->state == SIM_PENDING;
    p->message = p->waiting && given->message ? strdup(given->message) : NULL;
    map_str_put(&r->alive, str_of(p->form->meta.uid), NULL)->ptr = p;
    if (p->waiting) {
        r->counts.arrived++;
        r->level.waiting++;
        r->first_arrival_ms = 0;
    } else {
        r->counts.given++;
        occupy(r, p, true);
    }
}

void trace_run_init(struct trace_run *r, struct sim_world *w, const struct trace *t)
{
    *r = (struct trace_run){ .world = w, .trace = t, .first_arrival_ms = INT64_MAX,
                             .failures_per_second_max = TRACE_FAILURES_PER_SECOND_MAX,
                             .alive_max = TRACE_ALIVE_MAX };
    r->watch = (struct sim_watch){ r, bound, evicted, failed };
    w->watch = &r->watch;
    map_str_init(&r->alive);
    map_str_init(&r->lines);
    heap_init(&r->finishing, finishes_before, NULL);
    trace_pods_init(&r->pods, w, t);
    trace_samples_init(&r->samples);
    trace_waits_init(&r->waits);
    trace_waits_init(&r->restart_waits);
    for (size_t i = 0; i < w->nodes.n; i++) {
        r->capacity.milli_cpu = account(r->capacity.milli_cpu, w->nodes.at[i].allocatable.milli_cpu, true);
        r->capacity.memory = account(r->capacity.memory, w->nodes.at[i].allocatable.memory, true);
        r->capacity.pods = account(r->capacity.pods, w->nodes.at[i].allocatable.pods, true);
    }
    for (size_t i = 0; i < w->pods.n; i++)
        add_given(r, &w->pods.at[i], i);
    int64_t backoff_s = w->setup->config->pod_max_backoff_s;
    r->quiet_ms = QUIET_MS + (backoff_s < QUIET_BACKOFF_S_MAX ? backoff_s : QUIET_BACKOFF_S_MAX) * 1000;
    r->start_ms = (w->now_ms / 1000 + 1) * 1000; /* the scheduler's flushes are on whole seconds */
    w->now_ms = r->start_ms;
}

void trace_run_fini(struct trace_run *r)
{
    r->world->watch = NULL;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&r->alive, s));)
        free_pod(r, s->value.ptr);
    map_str_fini(&r->alive);
    trace_lines_free(r);
    heap_fini(&r->finishing);
    trace_pods_fini(&r->pods);
    trace_waits_fini(&r->waits);
    trace_waits_fini(&r->restart_waits);
    for (size_t i = 0; i < r->reasons.n; i++) {
        free(r->reasons.at[i].message);
        free(r->reasons.at[i].example);
    }
    vec_fini(&r->reasons);
}

enum err_code trace_run(struct trace_run *r, struct err *e)
{
    if (trace_pods_find_templates(&r->pods, e))
        return e->code;
    for (int64_t next_ms = 0; next_ms < INT64_MAX && !r->cut; next_ms = next_event(r)) {
        advance(r, next_ms);
        finish_due(r);
        if (arrive_due(r, e))
            return e->code;
        run_ready(r);
        trace_samples_peak(&r->samples, &r->level);
        if (r->observe)
            r->observe(r->observe_context, r);
        r->cut = r->time_ms > TRACE_END_MS_MAX;
    }
    r->attempts = sched_counts(r->world->sched).attempts;
    r->world->decision_hash = sched_decision_hash(r->world->sched);
    trace_find_reasons(r);
    return ERR_OK;
}
