/* insight/explain_json.c - see explain_json.h. */
#include "insight/explain_json.h"

#include "codec/json.h"

static void add_value(struct strbuf *to, const char *text)
{
    if (text)
        json_add_string(to, str_of(text));
    else
        STRBUF_ADD_LIT(to, "null");
}

/* `before` is what stands between this member and the one before it. */
static void add_member(struct strbuf *to, const char *before, const char *key, const char *text)
{
    strbuf_printf(to, "%s\"%s\":", before, key);
    add_value(to, text);
}

const char *explanation_code_text(enum verdict_code code)
{
    switch (code) {
    case V_UNSCHEDULABLE:
        return "Unschedulable";
    case V_UNRESOLVABLE:
        return "UnschedulableAndUnresolvable";
    case V_PENDING:
        return "Pending";
    default:
        return "Error";
    }
}

static void add_texts(struct strbuf *to, const char *before, const char *key, const char *const *texts, uint32_t n)
{
    strbuf_printf(to, "%s\"%s\":[", before, key);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add_text(to, i ? "," : "");
        add_value(to, texts[i]);
    }
    strbuf_add_char(to, ']');
}

static void add_pod(struct strbuf *to, const struct explanation_report *r)
{
    const struct explanation *x = r->x;
    add_member(to, ",\n\"pod\":{", "namespace", x->ns);
    add_member(to, ",", "name", x->name);
    add_member(to, ",", "owner", r->owner);
    add_member(to, ",", "schedulerName", x->scheduler_name);
    strbuf_printf(to, ",\"priority\":%d}", (int)x->priority);
    add_member(to, ",\n", "state", r->state);
}

static void add_outcome(struct strbuf *to, const struct explanation *x)
{
    static const char *const outcomes[] = { "fits", "rejected", "error" };
    add_member(to, ",\n", "node", x->node);
    add_member(to, ",\n", "outcome", outcomes[x->outcome]);
    add_member(to, ",\n", "chosen", x->chosen);
    add_member(to, ",\n", "nominated", x->nominated);
    strbuf_printf(to, ",\n\"nominatedUsed\":%s", x->nominated_used ? "true" : "false");
    if (x->not_tried) {
        add_member(to, ",\n\"notTried\":{", "plugin", x->not_tried_plugin);
        add_member(to, ",", "reason", x->not_tried);
        strbuf_add_char(to, '}');
    } else {
        STRBUF_ADD_LIT(to, ",\n\"notTried\":null");
    }
    strbuf_printf(to, ",\n\"summary\":{\"nodes\":%u,\"compared\":%u,\"notCompared\":%u,\"refused\":%u}", x->n_nodes,
                  x->n_compared, x->n_not_compared, x->n_refused);
}

static void add_plugins(struct strbuf *to, const struct explanation *x)
{
    STRBUF_ADD_LIT(to, ",\n\"plugins\":[");
    for (uint32_t i = 0; i < x->n_plugins; i++) {
        const struct explained_plugin *p = &x->plugins[i];
        add_member(to, i ? ",\n{" : "\n{", "name", p->name);
        strbuf_printf(to, ",\"weight\":%lld,\"skipped\":%s}", (long long)p->weight, p->skipped ? "true" : "false");
    }
    strbuf_add_char(to, ']');
}

static void add_compared(struct strbuf *to, const struct explanation *x, const struct explained_node *n)
{
    add_member(to, "{", "name", n->name);
    if (!n->scores) {
        STRBUF_ADD_LIT(to, ",\"total\":null,\"scores\":{}}");
        return;
    }
    strbuf_printf(to, ",\"total\":%lld,\"scores\":{", (long long)n->total);
    for (uint32_t i = 0; i < x->n_plugins; i++) {
        strbuf_add_text(to, i ? "," : "");
        add_value(to, x->plugins[i].name);
        strbuf_add_char(to, ':');
        strbuf_add_int(to, n->scores[i]);
    }
    STRBUF_ADD_LIT(to, "}}");
}

static void add_refused(struct strbuf *to, const struct explained_node *n)
{
    const struct explained_refusal *r = n->refusal;
    add_member(to, "{", "name", n->name);
    add_member(to, ",", "plugin", r->plugin);
    add_member(to, ",", "code", explanation_code_text(r->code));
    add_texts(to, ",", "reasons", r->reasons, r->n_reasons);
    strbuf_add_char(to, '}');
}

/* The first of the nodes in a state, which stand together. */
static void add_nodes(struct strbuf *to, const char *key, const struct explanation_report *r, uint32_t first, uint32_t n)
{
    const struct explanation *x = r->x;
    strbuf_printf(to, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < n && i < r->n_top; i++) {
        const struct explained_node *node = &x->nodes[first + i];
        strbuf_add_text(to, i ? ",\n" : "\n");
        if (node->state == EXPLAINED_COMPARED)
            add_compared(to, x, node);
        else if (node->state == EXPLAINED_REFUSED)
            add_refused(to, node);
        else
            add_value(to, node->name);
    }
    strbuf_add_char(to, ']');
}

void explanation_add_groups(struct strbuf *to, const struct explanation *x, uint32_t n_top)
{
    STRBUF_ADD_LIT(to, ",\n\"reasons\":[");
    for (uint32_t i = 0; i < x->n_groups; i++) {
        const struct explained_group *g = &x->groups[i];
        add_member(to, i ? ",\n{" : "\n{", "plugin", g->plugin);
        add_member(to, ",", "reason", g->reason);
        add_member(to, ",", "code", explanation_code_text(g->code));
        strbuf_printf(to, ",\"count\":%u", g->n_nodes);
        add_texts(to, ",", "nodes", g->nodes, g->n_nodes < n_top ? g->n_nodes : n_top);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, ']');
}

static void add_victim(struct strbuf *to, bool first, const char *ns, const char *name, int32_t priority)
{
    add_member(to, first ? "{" : ",{", "namespace", ns);
    add_member(to, ",", "name", name);
    strbuf_printf(to, ",\"priority\":%d", (int)priority);
}

static void add_preemption(struct strbuf *to, const struct explanation *x)
{
    const struct explained_preemption *p = x->preemption;
    add_member(to, ",\n", "preFilter", x->pre_filter);
    add_member(to, ",\n", "message", x->message);
    add_member(to, ",\n", "postFilter", x->post_filter);
    if (!p) {
        STRBUF_ADD_LIT(to, ",\n\"preemption\":null");
        return;
    }
    add_member(to, ",\n\"preemption\":{", "node", p->node);
    strbuf_printf(to, ",\"candidates\":%u,\"violations\":%lld,\"victims\":[", p->n_candidates,
                  (long long)p->n_violations);
    for (uint32_t i = 0; i < p->n_victims; i++) {
        add_victim(to, i == 0, p->victims[i].ns, p->victims[i].name, p->victims[i].priority);
        strbuf_add_char(to, '}');
    }
    STRBUF_ADD_LIT(to, "]}");
}

/* What was done for the pod, or to it. */
static void add_evictions(struct strbuf *to, const struct explanation_report *r)
{
    STRBUF_ADD_LIT(to, ",\n\"evicted\":[");
    for (uint32_t i = 0; i < r->n_evicted; i++) {
        const struct explained_eviction *v = &r->evicted[i];
        add_victim(to, i == 0, v->ns, v->name, v->priority);
        add_member(to, ",", "node", v->node);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, ']');
    if (r->evicted_by_name) {
        add_member(to, ",\n\"evictedBy\":{", "namespace", r->evicted_by_ns);
        add_member(to, ",", "name", r->evicted_by_name);
        strbuf_add_char(to, '}');
    } else {
        STRBUF_ADD_LIT(to, ",\n\"evictedBy\":null");
    }
}

void explanation_add_json(struct strbuf *to, const struct explanation_report *r)
{
    const struct explanation *x = r->x;
    STRBUF_ADD_LIT(to, "{\"kind\":\"Explanation\",\"version\":1");
    add_pod(to, r);
    add_outcome(to, x);
    add_plugins(to, x);
    add_nodes(to, "compared", r, 0, x->n_compared);
    add_nodes(to, "notCompared", r, x->n_compared, x->n_not_compared);
    add_nodes(to, "refused", r, x->n_compared + x->n_not_compared, x->n_refused);
    explanation_add_groups(to, x, r->n_top);
    add_preemption(to, x);
    add_evictions(to, r);
    if (r->remedies)
        remedies_add_json(to, r->remedies);
    strbuf_printf(to, ",\n\"extendersNotAsked\":%u", r->n_extenders);
    add_texts(to, ",\n", "warnings", r->warnings, r->n_warnings);
    if (r->decision.n) {
        STRBUF_ADD_LIT(to, ",\n\"decision\":");
        strbuf_add_str(to, r->decision);
    }
    STRBUF_ADD_LIT(to, "}\n");
}
