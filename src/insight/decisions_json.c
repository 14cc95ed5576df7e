/* insight/decisions_json.c - a chapter of decisions.h: which decisions are asked for, and their JSON. */
#include "api/duration.h"
#include "api/time.h"
#include "codec/json.h"
#include "insight/decisions_priv.h"
#include "insight/explain_json.h"
#include "insight/query.h"

static const char *const outcomes[N_DECISION_OUTCOMES] = { "placed", "unschedulable", "preempting", "error" };

static void add_sym(struct strbuf *to, const struct decisions *d, sym id)
{
    if (id == SYM_NONE)
        STRBUF_ADD_LIT(to, "null");
    else
        json_add_string(to, sym_text(d->syms, id));
}

static void add_text(struct strbuf *to, const char *text)
{
    if (text)
        json_add_string(to, str_of(text));
    else
        STRBUF_ADD_LIT(to, "null");
}

static void add_best(struct strbuf *to, const struct decisions *d, const struct kept_decision *k)
{
    const struct kept_node *nodes = kept_nodes(k);
    const int64_t *scores = kept_scores(k);
    STRBUF_ADD_LIT(to, ",\"best\":[");
    for (uint8_t i = 0; i < k->n_best; i++) {
        strbuf_add_text(to, i ? ",{\"name\":" : "{\"name\":");
        add_sym(to, d, nodes[i].name);
        strbuf_printf(to, ",\"total\":%lld,\"scores\":{", (long long)nodes[i].total);
        for (uint8_t p = 0; p < k->n_plugins; p++) {
            strbuf_add_text(to, p ? "," : "");
            add_text(to, k->profile->points[POINT_SCORE].at[p]->plugin->name);
            strbuf_add_char(to, ':');
            strbuf_add_int(to, *scores++);
        }
        STRBUF_ADD_LIT(to, "}}");
    }
    strbuf_add_char(to, ']');
}

static void add_victims(struct strbuf *to, const struct kept_decision *k)
{
    const char *text = kept_victims(k);
    strbuf_printf(to, ",\"victims\":%u,\"victimNames\":[", k->n_victims);
    for (uint8_t i = 0; i < k->n_victims_kept; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, str_of(text));
        text += strlen(text) + 1;
    }
    strbuf_add_char(to, ']');
}

static void add_reasons(struct strbuf *to, const struct refusal_block *b)
{
    STRBUF_ADD_LIT(to, ",\"reasons\":[");
    for (uint32_t i = 0; i < b->n_groups; i++) {
        const struct refusal_group *g = &b->groups[i];
        strbuf_add_text(to, i ? ",{\"plugin\":" : "{\"plugin\":");
        add_text(to, g->plugin);
        STRBUF_ADD_LIT(to, ",\"reason\":");
        json_add_string(to, str_of(g->reason));
        STRBUF_ADD_LIT(to, ",\"code\":");
        add_text(to, explanation_code_text(g->code));
        strbuf_printf(to, ",\"count\":%u}", g->n_nodes);
    }
    strbuf_printf(to, "],\"notLookedAt\":%u", b->n_not_looked_at);
}

void kept_decision_add_json(struct strbuf *to, const struct decisions *d, const struct kept_decision *k)
{
    strbuf_printf(to, "{\"sequence\":%llu,\"time\":\"", (unsigned long long)k->sequence);
    timestamp_add_micro(to, timestamp_unix(0, k->wall_ns));
    STRBUF_ADD_LIT(to, "\",\"pod\":{\"namespace\":");
    add_sym(to, d, k->ns);
    STRBUF_ADD_LIT(to, ",\"name\":");
    add_text(to, kept_name(k));
    STRBUF_ADD_LIT(to, ",\"uid\":");
    add_text(to, kept_uid(k));
    STRBUF_ADD_LIT(to, "},\"profile\":");
    add_text(to, k->profile ? k->profile->scheduler_name : NULL);
    strbuf_printf(to, ",\"attempt\":%u,\"outcome\":\"%s\",\"node\":", k->n_attempts, outcomes[k->outcome]);
    add_sym(to, d, k->node);
    STRBUF_ADD_LIT(to, ",\"message\":");
    add_text(to, k->refusals->message);
    strbuf_printf(to, ",\"nodes\":%u,\"feasible\":%u", k->n_nodes, k->n_feasible);
    add_best(to, d, k);
    add_victims(to, k);
    add_reasons(to, k->refusals);
    strbuf_add_char(to, '}');
}

/* ---- Which ---- */

struct wanted {
    struct str ns, name, node;
    sym ns_id, node_id;      /* SYM_NONE: nobody is called that */
    int outcome;             /* -1: any */
    int64_t since_ns;
    uint32_t limit;
};

static enum err_code parse_outcome(struct str text, int *ret_outcome, struct err *e)
{
    if (!text.p)
        return ERR_OK;
    for (int i = 0; i < N_DECISION_OUTCOMES; i++)
        if (str_is(text, outcomes[i])) {
            *ret_outcome = i;
            return ERR_OK;
        }
    return err_set(e, ERR_BAD_REQUEST, "outcome is placed, unschedulable, preempting or error");
}

static enum err_code parse_since(const struct decisions *d, struct str text, int64_t *ret_ns, struct err *e)
{
    struct timestamp t;
    int64_t ago_ns;
    if (!text.p)
        return ERR_OK;
    if (!timestamp_parse(text, &t, e)) {
        bool in_range = t.seconds > INT64_MIN / CLOCK_NS_PER_SECOND && t.seconds < INT64_MAX / CLOCK_NS_PER_SECOND - 1;
        *ret_ns = !in_range ? (t.seconds < 0 ? INT64_MIN : INT64_MAX) : t.seconds * CLOCK_NS_PER_SECOND + t.nanos;
        return ERR_OK;
    }
    if (duration_parse(text, &ago_ns, e) || ago_ns < 0)
        return err_set(e, ERR_BAD_REQUEST, "since is a time as in 2026-01-31T12:00:00Z, or how long ago as in 10m");
    *ret_ns = clock_wall_ns(d->clock) - ago_ns;
    return ERR_OK;
}

static enum err_code parse_wanted(const struct decisions *d, struct str query, struct wanted *w, struct err *e)
{
    struct str pod = { NULL, 0 }, node = pod, since = pod, limit = pod, outcome = pod;
    const struct query_field fields[] = { { "pod", &pod },     { "node", &node },       { "since", &since },
                                          { "limit", &limit }, { "outcome", &outcome }, { NULL, NULL } };
    *w = (struct wanted){ .outcome = -1, .since_ns = INT64_MIN, .limit = DECISIONS_LIMIT };
    if (query_parse(query, fields, e) || query_pod(pod, &w->ns, &w->name, e) ||
        query_number(limit, "limit", DECISIONS_LIMIT_MAX, &w->limit, e) || parse_outcome(outcome, &w->outcome, e) ||
        parse_since(d, since, &w->since_ns, e))
        return e->code;
    w->node = node;
    w->ns_id = w->ns.p ? sym_find(d->syms, w->ns) : SYM_NONE;
    w->node_id = node.p ? sym_find(d->syms, node) : SYM_NONE;
    return ERR_OK;
}

static bool is_wanted(const struct wanted *w, const struct kept_decision *k)
{
    if (w->ns.p && (w->ns_id == SYM_NONE || k->ns != w->ns_id || !str_is(w->name, kept_name(k))))
        return false;
    if (w->node.p && (w->node_id == SYM_NONE || k->node != w->node_id))
        return false;
    return (w->outcome < 0 || k->outcome == w->outcome) && k->wall_ns >= w->since_ns;
}

enum err_code insight_decisions(const struct decisions *d, struct str query, struct strbuf *to, struct err *e)
{
    struct wanted w;
    if (parse_wanted(d, query, &w, e))
        return e->code;
    struct decisions_counts counts = decisions_counts(d);
    strbuf_printf(to, "{\"kind\":\"Decisions\",\"version\":1,\"kept\":%u,\"dropped\":%llu,\"decisions\":[", counts.n,
                  (unsigned long long)counts.n_dropped);
    bool more = false;
    for (uint32_t i = 0, n = 0; i < d->n && !more; i++) {
        const struct kept_decision *k = decisions_newest(d, i);
        if (!is_wanted(&w, k))
            continue;
        more = n == w.limit;
        if (more)
            break;
        strbuf_add_text(to, n++ ? ",\n" : "\n");
        kept_decision_add_json(to, d, k);
    }
    strbuf_printf(to, "],\"more\":%s}\n", more ? "true" : "false");
    return to->overflow ? err_set(e, ERR_TOO_LARGE, "the answer is too large: ask for fewer with limit") : ERR_OK;
}

bool decisions_add_of_pod(const struct decisions *d, const char *uid, bool has_node, struct strbuf *to)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct kept_decision *k = decisions_newest(d, i);
        if (strcmp(kept_uid(k), uid) != 0 || (has_node && k->outcome != DECISION_PLACED))
            continue;
        kept_decision_add_json(to, d, k);
        return true;
    }
    return false;
}
