/* sched/extender_preempt.c - a chapter of extender.h: extenders have their say on victims. */
#include "base/strbuf.h"
#include "sched/extender.h"
#include "sched/preempt.h"
#include "sched/sched_priv.h"

static const char *node_error(struct cycle *c, const char *text, struct str node)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, text);
    strbuf_add_quoted(&b, node);
    const char *copy = arena_cstr(c->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return copy;
}

static const struct pod *find_on_node(const struct node_view *view, struct str uid)
{
    for (uint32_t i = 0; i < view->n_pods; i++)
        if (str_is(uid, node_view_pod(view, i)->meta.uid))
            return node_view_pod(view, i);
    return NULL;
}

/* Uids of one node become pods. NULL, or what is wrong. */
static const char *read_victims(struct cycle *c, const struct extender *x, const struct extender_meta_victims *from,
                                struct candidate *ret)
{
    sym name = sym_find(c->syms, from->node);
    node_id id = name == SYM_NONE ? NODE_NONE : cache_listed_node(c->cache, name);
    if (id == NODE_NONE)
        return node_error(c, "nodeinfo not found for node name ", from->node);
    struct node_view view = node_view_of(c->cache, id);
    const struct pod **pods = arena_alloc(c->arena, from->n_uids * sizeof(*pods));
    for (uint32_t i = 0; i < from->n_uids; i++) {
        pods[i] = find_on_node(&view, from->uids[i]);
        if (!pods[i]) /* upstream prints the struct that holds the uid */
            return arena_printf(c->arena,
                                "extender: %s claims to preempt pod (UID: &{%.*s}) on node: %.*s, but the pod is not "
                                "found on that node",
                                x->url_prefix, STR_ARG(from->uids[i]), STR_ARG(from->node));
    }
    *ret = (struct candidate){ .node = id, .victims = pods, .n_victims = from->n_uids,
                               .n_violations = from->n_violations };
    return NULL;
}

static struct extender_victims *candidates_to_send(struct cycle *c, const struct preemption *p)
{
    struct extender_victims *victims = ARENA_NEW_N(c->arena, struct extender_victims, p->n_candidates);
    for (uint32_t i = 0; i < p->n_candidates; i++) {
        const struct candidate *k = &p->candidates[i];
        victims[i] = (struct extender_victims){ c->cache->rows.at[k->node].name, k->victims, k->n_victims,
                                                k->n_violations };
    }
    return victims;
}

/* The extender's candidates. NULL, or why its answer cannot be used. */
static const char *ask(struct cycle *c, const struct extender *x, const struct preemption *p,
                       struct candidate **ret_candidates, uint32_t *ret_n)
{
    struct extender_request request = {
        .extender = x, .verb = EXTENDER_PREEMPT, .pod = c->pod, .victims = candidates_to_send(c, p),
        .n_victims = p->n_candidates, .arena = c->arena,
    };
    struct extender_answer answer = { 0 };
    const struct sched_io *io = &c->sched->io;
    io->call_extender(io->context, &request, 1, &answer);
    if (answer.error)
        return answer.error;
    struct candidate *candidates = ARENA_NEW_N(c->arena, struct candidate, answer.n_victims);
    for (uint32_t i = 0; i < answer.n_victims; i++) {
        const char *error = read_victims(c, x, &answer.victims[i], &candidates[i]);
        if (error)
            return error;
    }
    *ret_candidates = candidates;
    *ret_n = answer.n_victims;
    return NULL;
}

/* A node without victims makes no room: an ignorable extender's is dropped. NULL, or what is wrong. */
static const char *check_victims(struct cycle *c, const struct extender *x, struct candidate *candidates, uint32_t *n)
{
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < *n; i++) {
        if (candidates[i].n_victims)
            candidates[n_left++] = candidates[i];
        else if (!x->ignorable)
            return node_error(c, "expected at least one victim pod on node ",
                              sym_text(c->syms, c->cache->rows.at[candidates[i].node].name));
    }
    *n = n_left;
    return NULL;
}

struct verdict extenders_preempt(struct cycle *c, struct preemption *p)
{
    const struct sched *s = c->sched;
    for (uint32_t i = 0; i < s->n_extenders && p->n_candidates; i++) {
        const struct extender *x = s->extenders[i];
        if (!extender_has(x, EXTENDER_PREEMPT) || !extender_is_interested(x, c->pod))
            continue;
        struct candidate *candidates;
        uint32_t n;
        const char *error = ask(c, x, p, &candidates, &n);
        if (error && x->ignorable)
            continue;
        if (!error)
            error = check_victims(c, x, candidates, &n);
        if (error)
            return verdict_text(V_ERROR, error);
        p->candidates = candidates;
        p->n_candidates = n;
    }
    return PASS;
}
