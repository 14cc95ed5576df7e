/* insight/explain.c - a chapter of insight.h: why a pod is where it is. */
#include "insight/decisions.h"
#include "insight/explain_json.h"
#include "insight/insight.h"
#include "insight/query.h"

struct question {
    struct str ns, name;
    uint32_t n_top;
    bool remedies;
};

static enum err_code parse(struct str query, struct question *ret, struct err *e)
{
    struct str pod = { NULL, 0 }, nodes = pod, remedies = pod;
    const struct query_field fields[] = { { "pod", &pod }, { "nodes", &nodes }, { "remedies", &remedies }, { NULL, NULL } };
    struct question *q = ret;
    *q = (struct question){ .n_top = INSIGHT_NODES_MAX, .remedies = true };
    if (query_parse(query, fields, e) || query_pod(pod, &q->ns, &q->name, e) ||
        query_number(nodes, "nodes", INSIGHT_NODES_MAX, &q->n_top, e) || query_flag(remedies, "remedies", &q->remedies, e))
        return e->code;
    if (!q->name.p)
        return err_set(e, ERR_BAD_REQUEST, "which pod? say pod=NAMESPACE/NAME");
    return ERR_OK;
}

/* The controller as the pod names it: what owns that in turn is not known here. */
static const char *owner_of(const struct insight *in, const struct pod *pod, struct arena *a)
{
    const struct sym_table *syms = sched_cache(in->sched)->syms;
    if (!pod->controller)
        return NULL;
    return arena_printf(a, "%s %s/%s", sym_text(syms, pod->controller->kind).p, sym_text(syms, pod->meta.ns).p,
                        sym_text(syms, pod->controller->name).p);
}

static enum err_code say_unknown(const struct insight *in, const struct question *q, struct err *e)
{
    uint32_t n = in->decisions ? decisions_n_named(in->decisions, q->ns, q->name) : 0;
    if (n)
        return err_set(e, ERR_NOT_FOUND, "pods \"%.*s\" not found in namespace %.*s; it was there: %u of the last decisions are "
                       "about it, see /berth/v1/decisions", STR_ARG(q->name), STR_ARG(q->ns), n);
    return err_set(e, ERR_NOT_FOUND, "pods \"%.*s\" not found in namespace %.*s: the scheduler knows no unfinished pod of that "
                   "name", STR_ARG(q->name), STR_ARG(q->ns));
}

static void find_remedies(const struct insight *in, const struct pod *pod, struct arena *a, struct remedies *ret)
{
    const struct clock *clock = in->clock ? in->clock : &clock_real;
    int64_t deadline_ns = clock_mono_ns(clock) + (int64_t)INSIGHT_REMEDIES_MS * CLOCK_NS_PER_MS;
    remedies_find_until(in->sched, pod, a, clock, deadline_ns, ret);
}

enum err_code insight_explain(const struct insight *in, struct str query, struct strbuf *to, struct err *e)
{
    struct question q;
    if (parse(query, &q, e))
        return e->code;
    const struct pod *pod = sched_pod_named(in->sched, q.ns, q.name);
    if (!pod)
        return say_unknown(in, &q, e);
    struct explanation x;
    struct remedies remedies;
    struct strbuf decision;
    explain_pod(in->sched, pod, e->arena, &x);
    bool pending = !x.node && pod->node_name == SYM_EMPTY;
    if (pending && q.remedies)
        find_remedies(in, pod, e->arena, &remedies);
    strbuf_init(&decision, STRBUF_NO_MAX);
    if (in->decisions)
        (void)decisions_add_of_pod(in->decisions, pod->meta.uid, !pending, &decision);
    explanation_add_json(to, &(struct explanation_report){ .x = &x,
                                                           .owner = owner_of(in, pod, e->arena),
                                                           .state = pending ? "pending" : "running",
                                                           .remedies = pending && q.remedies ? &remedies : NULL,
                                                           .n_extenders = x.n_extenders,
                                                           .n_top = q.n_top,
                                                           .decision = strbuf_str(&decision) });
    strbuf_fini(&decision);
    return to->overflow ? err_set(e, ERR_TOO_LARGE, "the answer is too large: ask for fewer with nodes=N") : ERR_OK;
}
