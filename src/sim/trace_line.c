/* sim/trace_line.c - see trace_run_priv.h. */
#include <stdio.h>

#include "base/mem.h"
#include "sim/trace_run_priv.h"

struct trace_line {
    struct trace_key key;
    struct trace_pod *head; /* with the scheduler */
    struct list behind;
};

static struct trace_line *find_line(const struct trace_run *r, const struct trace_pod *p)
{
    if (!p->row || !r->lines.n)
        return NULL;
    struct trace_key key = trace_key_of(p->row);
    union map_value *v = map_str_find(&r->lines, trace_key_bytes(&key));
    return v ? v->ptr : NULL;
}

static void new_line(struct trace_run *r, struct trace_pod *head)
{
    struct trace_line *line = mem_zalloc(sizeof(*line));
    line->key = trace_key_of(head->row);
    line->head = head;
    list_init(&line->behind);
    head->line = line;
    map_str_put(&r->lines, trace_key_bytes(&line->key), NULL)->ptr = line;
}

static void stand_behind(struct trace_line *line, struct trace_pod *p)
{
    p->line = line;
    list_push(&line->behind, &p->behind);
}

void trace_line_enter(struct trace_run *r, struct trace_pod *p)
{
    struct trace_line *line = find_line(r, p);
    if (line)
        stand_behind(line, p);
    else
        sched_pod_set(r->world->sched, p->form);
}

void trace_line_failed(struct trace_run *r, struct trace_pod *p)
{
    if (!p->row || p->line)
        return;
    if (find_line(r, p))
        vec_push(&r->to_hold, p);
    else
        new_line(r, p);
}

void trace_line_settle(struct trace_run *r)
{
    for (size_t i = 0; i < r->to_hold.n; i++) {
        struct trace_pod *p = r->to_hold.at[i];
        struct trace_line *line = find_line(r, p);
        if (!line || p->line || !p->waiting)
            continue;
        sched_pod_removed(r->world->sched, p->form->meta.uid);
        stand_behind(line, p);
    }
    vec_reset(&r->to_hold);
}

void trace_line_bound(struct trace_run *r, struct trace_pod *p)
{
    struct trace_line *line = p->line;
    if (!line)
        return;
    p->line = NULL;
    struct list_node *next = list_first(&line->behind);
    if (!next) {
        map_str_remove(&r->lines, trace_key_bytes(&line->key), NULL);
        free(line);
        return;
    }
    list_remove(next);
    line->head = LIST_ITEM(next, struct trace_pod, behind);
    sched_pod_set(r->world->sched, line->head->form);
}

void trace_lines_free(struct trace_run *r)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&r->lines, s));)
        free(s->value.ptr);
    map_str_fini(&r->lines);
    vec_fini(&r->to_hold);
}

/* ---- Reasons ---- */

/* In an order that does not hang on hashes: those of the input first, then by number. */
static int compare_waiting(const void *a, const void *b)
{
    const struct trace_pod *x = *(struct trace_pod *const *)a, *y = *(struct trace_pod *const *)b;
    if (!x->row != !y->row)
        return !x->row ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_reasons(const void *a, const void *b)
{
    const struct trace_reason *x = a, *y = b;
    if (x->n_pods != y->n_pods)
        return x->n_pods < y->n_pods ? 1 : -1;
    return strcmp(x->message, y->message);
}

/* What is true of the head is true of those behind it, and newer. */
static char *message_of(const struct trace_run *r, const struct trace_pod *p)
{
    const char *message = p->line ? p->line->head->message : p->message;
    char *untried = message ? NULL : sim_untried_reason(r->world, p->form);
    return untried ? untried : strdup(message ? message : "not tried");
}

static void count_reason(struct trace_run *r, struct map_str *by_message, const struct trace_pod *p)
{
    char *message = message_of(r, p);
    union map_value *known = map_str_find(by_message, str_of(message));
    if (known) {
        r->reasons.at[known->num].n_pods++;
        free(message);
        return;
    }
    char *example;
    if (asprintf(&example, "%s/%s", sym_text(r->world->syms, p->form->meta.ns).p, p->form->meta.name) < 0)
        abort();
    map_str_put(by_message, str_of(message), NULL)->num = r->reasons.n;
    vec_push(&r->reasons, (struct trace_reason){ message, 1, example });
}

void trace_find_reasons(struct trace_run *r)
{
    VEC(struct trace_pod *) waiting = { 0 };
    for (struct map_str_slot *s = NULL; (s = map_str_next(&r->alive, s));)
        if (((struct trace_pod *)s->value.ptr)->waiting)
            vec_push(&waiting, s->value.ptr);
    if (waiting.n)
        qsort(waiting.at, waiting.n, sizeof(*waiting.at), compare_waiting);
    struct map_str by_message;
    map_str_init(&by_message);
    for (size_t i = 0; i < waiting.n; i++)
        count_reason(r, &by_message, waiting.at[i]);
    map_str_fini(&by_message);
    vec_fini(&waiting);
    if (r->reasons.n)
        qsort(r->reasons.at, r->reasons.n, sizeof(*r->reasons.at), compare_reasons);
}
