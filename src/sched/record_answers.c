/* sched/record_answers.c - a chapter of record_format.h: answers of extenders in a recording. */
#include "sched/record_format.h"

static struct str text_of(const char *text)
{
    return text ? str_of(text) : STR("");
}

/* ---- Writing ---- */

static void put_names(struct strbuf *b, const struct extender_names *names)
{
    record_put_u64(b, names->given);
    record_put_u64(b, names->n);
    for (uint32_t i = 0; i < names->n; i++)
        record_put_text(b, names->at[i]);
}

static void put_failures(struct strbuf *b, const struct extender_failure *at, uint32_t n)
{
    record_put_u64(b, n);
    for (uint32_t i = 0; i < n; i++) {
        record_put_text(b, at[i].node);
        record_put_text(b, text_of(at[i].why));
    }
}

static void put_victims(struct strbuf *b, const struct extender_meta_victims *at, uint32_t n)
{
    record_put_u64(b, n);
    for (uint32_t i = 0; i < n; i++) {
        record_put_text(b, at[i].node);
        record_put_i64(b, at[i].n_violations);
        record_put_u64(b, at[i].n_uids);
        for (uint32_t k = 0; k < at[i].n_uids; k++)
            record_put_text(b, at[i].uids[k]);
    }
}

static void put_answer(struct strbuf *b, const struct extender_answer *answer)
{
    record_put_u64(b, answer->error != NULL);
    record_put_text(b, text_of(answer->error));
    put_names(b, &answer->node_names);
    put_names(b, &answer->nodes);
    put_failures(b, answer->failed, answer->n_failed);
    put_failures(b, answer->unresolvable, answer->n_unresolvable);
    record_put_u64(b, answer->n_scores);
    for (uint32_t i = 0; i < answer->n_scores; i++) {
        record_put_text(b, answer->scores[i].node);
        record_put_i64(b, answer->scores[i].score);
    }
    put_victims(b, answer->victims, answer->n_victims);
}

void record_put_answers(struct strbuf *to, const struct extender_answer *answers, uint32_t n)
{
    record_put_u64(to, n);
    for (uint32_t i = 0; i < n; i++)
        put_answer(to, &answers[i]);
}

/* ---- Reading ---- */

static struct extender_names get_names(struct record_wire *w, struct arena *a)
{
    struct extender_names names = { .given = record_get_u64(w) != 0 };
    names.n = record_get_count(w, 1);
    struct str *at = ARENA_NEW_N(a, struct str, names.n);
    for (uint32_t i = 0; i < names.n; i++)
        at[i] = arena_str(a, record_get_text(w));
    names.at = at;
    return names;
}

static const struct extender_failure *get_failures(struct record_wire *w, struct arena *a, uint32_t *ret_n)
{
    *ret_n = record_get_count(w, 2);
    struct extender_failure *at = ARENA_NEW_N(a, struct extender_failure, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++) {
        at[i].node = arena_str(a, record_get_text(w));
        at[i].why = arena_cstr(a, record_get_text(w));
    }
    return at;
}

static const struct extender_meta_victims *get_victims(struct record_wire *w, struct arena *a, uint32_t *ret_n)
{
    *ret_n = record_get_count(w, 3);
    struct extender_meta_victims *at = ARENA_NEW_N(a, struct extender_meta_victims, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++) {
        at[i].node = arena_str(a, record_get_text(w));
        at[i].n_violations = record_get_i64(w);
        at[i].n_uids = record_get_count(w, 1);
        struct str *uids = ARENA_NEW_N(a, struct str, at[i].n_uids);
        for (uint32_t k = 0; k < at[i].n_uids; k++)
            uids[k] = arena_str(a, record_get_text(w));
        at[i].uids = uids;
    }
    return at;
}

static void get_answer(struct record_wire *w, struct arena *a, struct extender_answer *answer)
{
    bool failed = record_get_u64(w) != 0;
    const char *error = arena_cstr(a, record_get_text(w));
    *answer = (struct extender_answer){ .error = failed ? error : NULL };
    answer->node_names = get_names(w, a);
    answer->nodes = get_names(w, a);
    answer->failed = get_failures(w, a, &answer->n_failed);
    answer->unresolvable = get_failures(w, a, &answer->n_unresolvable);
    answer->n_scores = record_get_count(w, 2);
    struct extender_score *scores = ARENA_NEW_N(a, struct extender_score, answer->n_scores);
    for (uint32_t i = 0; i < answer->n_scores; i++) {
        scores[i].node = arena_str(a, record_get_text(w));
        scores[i].score = record_get_i64(w);
    }
    answer->scores = scores;
    answer->victims = get_victims(w, a, &answer->n_victims);
}

bool record_get_answers(struct record_wire *w, struct arena *a, uint32_t n, struct extender_answer *ret_answers)
{
    if (record_get_u64(w) != n)
        return false;
    for (uint32_t i = 0; i < n && !w->bad; i++)
        get_answer(w, a, &ret_answers[i]);
    return !w->bad && w->p == w->end;
}
