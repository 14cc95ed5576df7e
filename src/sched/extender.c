/* sched/extender.c - see extender.h: interest, filtering, scoring and binding. Victims are in
 * extender_preempt.c. */
#include "sched/extender.h"

#include "sched/era.h"

#include "base/strbuf.h"
#include "sched/attempt.h"

bool extender_has(const struct extender *x, enum extender_verb verb)
{
    return x->verbs[verb] && *x->verbs[verb];
}

bool extender_is_interested(const struct extender *x, const struct pod *pod)
{
    for (uint32_t i = 0; i < x->n_managed_resources; i++)
        for (uint16_t k = 0; k < pod->n_extended; k++)
            if (x->managed_resources[i] == pod->extended[k])
                return true;
    return x->n_managed_resources == 0;
}

bool extenders_compare(const struct sched *s)
{
    for (uint32_t i = 0; i < s->n_extenders; i++)
        if (extender_has(s->extenders[i], EXTENDER_FILTER) || extender_has(s->extenders[i], EXTENDER_PRIORITIZE))
            return true;
    return false;
}

static const sym *feasible_names(struct attempt *a)
{
    sym *names = arena_alloc(a->cycle.arena, a->n_feasible * sizeof(*names));
    for (uint32_t i = 0; i < a->n_feasible; i++)
        names[i] = a->cycle.cache->rows.at[a->feasible[i]].name;
    return names;
}

static struct extender_request node_request(struct attempt *a, const struct extender *x, enum extender_verb verb)
{
    return (struct extender_request){
        .extender = x,
        .verb = verb,
        .pod = a->cycle.pod,
        .nodes = feasible_names(a),
        .n_nodes = a->n_feasible,
        .arena = a->cycle.arena,
    };
}

/* A node of the cluster by name; NODE_NONE when there is none. */
static node_id find_node(const struct attempt *a, struct str name)
{
    sym id = sym_find(a->cycle.syms, name);
    return id == SYM_NONE ? NODE_NONE : cache_listed_node(a->cycle.cache, id);
}

/* ---- Filter ---- */

/* The nodes that an extender leaves. */
struct filtered {
    node_id *nodes;
    uint32_t n;
    bool bare; /* came as objects: what follows sees them without pods and images */
};

static const char *unknown_node(struct attempt *a, const struct extender *x, struct str name)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "extender ");
    strbuf_add_quoted(&text, str_of(x->url_prefix));
    STRBUF_ADD_LIT(&text, " claims a filtered node ");
    strbuf_add_quoted(&text, name);
    STRBUF_ADD_LIT(&text, " which is not found in the input node list");
    const char *copy = arena_cstr(a->cycle.arena, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

/* Names become nodes, each once. Names that came as names must be among those that were asked about;
 * objects may be of any node of the cluster (upstream takes even one that it does not know; here that
 * is an error). */
static const char *resolve(struct attempt *a, const struct extender *x, const struct extender_names *names,
                           bool any_node, struct filtered *ret)
{
    size_t n_words = bitset_words(a->cycle.cache->col.n_rows);
    uint64_t *asked = ARENA_NEW_N(a->cycle.arena, uint64_t, n_words);
    uint64_t *taken = ARENA_NEW_N(a->cycle.arena, uint64_t, n_words);
    for (uint32_t i = 0; i < a->n_feasible; i++)
        bitset_set(asked, a->feasible[i]);
    ret->nodes = arena_alloc(a->cycle.arena, names->n * sizeof(*ret->nodes));
    for (uint32_t i = 0; i < names->n; i++) {
        node_id id = find_node(a, names->at[i]);
        if (id == NODE_NONE || (!any_node && !bitset_test(asked, id)))
            return unknown_node(a, x, names->at[i]);
        if (bitset_test(taken, id))
            continue;
        bitset_set(taken, id);
        ret->nodes[ret->n++] = id;
    }
    return NULL;
}

static const char *read_filtered(struct attempt *a, const struct extender *x, const struct extender_answer *answer,
                                 struct filtered *ret)
{
    *ret = (struct filtered){ .nodes = a->feasible };
    if (answer->error)
        return answer->error;
    if (x->node_cache_capable && answer->node_names.given)
        return resolve(a, x, &answer->node_names, false, ret);
    ret->bare = answer->nodes.given;
    return answer->nodes.given ? resolve(a, x, &answer->nodes, true, ret) : NULL;
}

/* Equal reasons become one text, so that they are counted as one. */
static void note_failures(struct attempt *a, const struct extender_failure *failures, uint32_t n,
                          enum verdict_code code)
{
    struct map_str texts;
    map_str_init(&texts);
    for (uint32_t i = 0; i < n; i++) {
        node_id id = find_node(a, failures[i].node);
        if (id == NODE_NONE)
            continue;
        const char *why = failures[i].why ? failures[i].why : "";
        union map_value *text = map_str_put(&texts, str_of(why), NULL);
        if (!text->const_ptr)
            text->const_ptr = why;
        if (!a->statuses)
            a->statuses = ARENA_NEW_N(a->cycle.arena, struct filter_status, a->cycle.cache->col.n_rows);
        a->statuses[id] = (struct filter_status){ verdict_text(code, text->const_ptr), NULL };
    }
    map_str_fini(&texts);
}

/* NULL, or what went wrong: then nothing has changed. */
static const char *filter_by(struct attempt *a, const struct extender *x)
{
    struct extender_request request = node_request(a, x, EXTENDER_FILTER);
    struct extender_answer answer = { 0 };
    struct filtered left;
    const struct sched_io *io = &a->sched->io;
    io->call_extender(io->context, &request, 1, &answer);
    const char *error = read_filtered(a, x, &answer, &left);
    if (error)
        return error;
    note_failures(a, answer.failed, answer.n_failed, V_UNSCHEDULABLE);
    note_failures(a, answer.unresolvable, answer.n_unresolvable, V_UNRESOLVABLE); /* wins over the other */
    a->feasible = left.nodes;
    a->n_feasible = left.n;
    a->bare_nodes |= left.bare;
    return NULL;
}

bool extenders_filter(struct attempt *a)
{
    const struct sched *s = a->sched;
    for (uint32_t i = 0; i < s->n_extenders && a->n_feasible; i++) {
        const struct extender *x = s->extenders[i];
        if (!extender_is_interested(x, a->cycle.pod) || !extender_has(x, EXTENDER_FILTER))
            continue;
        const char *error = filter_by(a, x);
        if (!error || x->ignorable)
            continue;
        a->outcome = ATTEMPT_ERROR;
        a->error = error;
        return false;
    }
    return true;
}

/* ---- Prioritize ---- */

/* Wraps around, as upstream's: nobody checks the range of an extender's scores. */
static int64_t weighted(const struct attempt *a, int64_t score, int64_t weight)
{
    return (int64_t)((uint64_t)score * (uint64_t)weight * (uint64_t)a->cycle.profile->era->extender_scale);
}

static void add_scores(struct attempt *a, const struct extender *x, const struct extender_answer *answer,
                       const uint32_t *index_of_node, bool *named)
{
    for (uint32_t i = 0; i < answer->n_scores; i++) {
        node_id id = find_node(a, answer->scores[i].node);
        if (id == NODE_NONE || index_of_node[id] == 0)
            continue;
        uint32_t at = index_of_node[id] - 1;
        a->totals[at] = (int64_t)((uint64_t)a->totals[at] + (uint64_t)weighted(a, answer->scores[i].score, x->weight));
        named[at] = true;
    }
}

static void draw_randomizers(struct attempt *a, const bool *named)
{
    a->randomizers = ARENA_NEW_N(a->cycle.arena, int64_t, a->n_feasible);
    for (uint32_t i = 0; i < a->n_feasible; i++)
        if (named[i])
            a->randomizers[i] = (int64_t)(rand_u64(a->cycle.rand) >> 1);
}

/* Requests to all that score; an interested extender that does not score names every node without
 * changing it. */
static uint32_t score_requests(struct attempt *a, struct extender_request *requests, bool *named)
{
    const struct sched *s = a->sched;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_extenders; i++) {
        const struct extender *x = s->extenders[i];
        if (!extender_is_interested(x, a->cycle.pod))
            continue;
        if (extender_has(x, EXTENDER_PRIORITIZE))
            requests[n++] = node_request(a, x, EXTENDER_PRIORITIZE);
        else
            memset(named, true, a->n_feasible * sizeof(*named));
    }
    return n;
}

void extenders_prioritize(struct attempt *a)
{
    const struct sched *s = a->sched;
    if (s->n_extenders == 0)
        return;
    struct arena *arena = a->cycle.arena;
    bool *named = ARENA_NEW_N(arena, bool, a->n_feasible);
    struct extender_request *requests = ARENA_NEW_N(arena, struct extender_request, s->n_extenders);
    struct extender_answer *answers = ARENA_NEW_N(arena, struct extender_answer, s->n_extenders);
    uint32_t n = score_requests(a, requests, named);
    if (n)
        s->io.call_extender(s->io.context, requests, n, answers);
    uint32_t *index_of_node = ARENA_NEW_N(arena, uint32_t, a->cycle.cache->col.n_rows); /* from 1 */
    for (uint32_t i = 0; i < a->n_feasible; i++)
        index_of_node[a->feasible[i]] = i + 1;
    for (uint32_t i = 0; i < n; i++)
        if (!answers[i].error)
            add_scores(a, requests[i].extender, &answers[i], index_of_node, named);
    draw_randomizers(a, named);
}

/* ---- Bind ---- */

bool extenders_bind(struct sched *s, struct binding *b)
{
    b->extender = NULL;
    while (b->next_extender < s->n_extenders) {
        const struct extender *x = s->extenders[b->next_extender++];
        if (!extender_has(x, EXTENDER_BIND) || !extender_is_interested(x, b->pod))
            continue;
        b->extender = x;
        struct extender_request request = {
            .extender = x, .verb = EXTENDER_BIND, .pod = b->pod, .ticket = b->ticket, .arena = &b->arena,
        };
        s->io.call_extender(s->io.context, &request, 1, &(struct extender_answer){ 0 });
        return true;
    }
    return false;
}
