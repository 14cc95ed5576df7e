/* sched/fit_error.c - the words for a pod that fits nowhere: "0/5 nodes are available: 3 Insufficient
 * cpu, ...". */
#include <stdlib.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "sched/attempt.h"
#include "sched/era.h"
#include "sched/fit_error.h"

/* Nodes with one and the same status. */
struct group {
    struct filter_status status;
    uint32_t n_nodes;
};

typedef VEC(struct group) group_vec;

static bool same_status(const struct filter_status *a, const struct filter_status *b)
{
    if (a->n_several || b->n_several)
        return false;
    return a->plugin == b->plugin && a->verdict.detail == b->verdict.detail &&
           a->verdict.text == b->verdict.text;
}

/* There are few distinct statuses, and neighbours tend to have the same. */
static void count_status(group_vec *groups, const struct filter_status *status)
{
    for (size_t i = groups->n; i-- > 0;)
        if (same_status(&groups->at[i].status, status)) {
            groups->at[i].n_nodes++;
            return;
        }
    vec_push(groups, (struct group){ *status, 1 });
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Reason -> number of nodes; a reason may come from several statuses. */
static void count_reasons(struct cycle *c, const group_vec *groups, struct map_str *counts)
{
    for (size_t i = 0; i < groups->n; i++) {
        struct reasons reasons = { .arena = c->arena };
        framework_reasons(c, &groups->at[i].status, &reasons);
        for (size_t k = 0; k < reasons.texts.n; k++)
            map_str_put(counts, str_of(reasons.texts.at[k]), NULL)->num += groups->at[i].n_nodes;
        vec_fini(&reasons.texts);
    }
}

static void add_reasons(struct cycle *c, const struct map_str *counts, struct strbuf *to)
{
    const char **lines = arena_alloc(c->arena, counts->n * sizeof(*lines));
    size_t n = 0;
    for (struct map_str_slot *s = map_str_next(counts, NULL); s; s = map_str_next(counts, s))
        lines[n++] = arena_printf(c->arena, "%llu %.*s", (unsigned long long)s->value.num, STR_ARG(map_str_key(s)));
    qsort(lines, n, sizeof(*lines), compare_texts);
    for (size_t i = 0; i < n; i++) {
        strbuf_add_text(to, i ? ", " : " ");
        strbuf_add_text(to, lines[i]);
    }
    if (n)
        strbuf_add_char(to, '.');
}

void fit_error_add(struct cycle *c, const struct filter_status *statuses, struct strbuf *to)
{
    group_vec groups = { 0 };
    const struct cache *cache = c->cache;
    for (size_t i = 0; i < cache->order.n; i++) {
        const struct filter_status *status = statuses ? &statuses[cache->order.at[i]] : &c->absent_status;
        if (status->verdict.code == V_SUCCESS)
            status = &c->absent_status;
        if (status->verdict.code != V_SUCCESS)
            count_status(&groups, status);
    }
    struct map_str counts;
    map_str_init(&counts);
    count_reasons(c, &groups, &counts);
    strbuf_printf(to, "0/%zu nodes are available:", cache->order.n);
    add_reasons(c, &counts, to);
    map_str_fini(&counts);
    vec_fini(&groups);
}

void fit_error_add_one(struct cycle *c, const struct filter_status *status, struct strbuf *to)
{
    group_vec groups = { 0 };
    struct map_str counts;
    count_status(&groups, status);
    map_str_init(&counts);
    count_reasons(c, &groups, &counts);
    STRBUF_ADD_LIT(to, "0/1 nodes are available:");
    add_reasons(c, &counts, to);
    map_str_fini(&counts);
    vec_fini(&groups);
}

const char *attempt_fit_error(struct attempt *a, const char *post_filter)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (a->pre_filter_message && !a->cycle.profile->era->counts_pre_filter)
        strbuf_printf(&text, "0/%zu nodes are available: %s.", a->cycle.cache->order.n, a->pre_filter_message);
    else
        fit_error_add(&a->cycle, a->statuses, &text);
    if (post_filter && *post_filter)
        strbuf_printf(&text, " %s", post_filter);
    const char *copy = arena_cstr(a->cycle.arena, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}
