/* sched/remedy_text.c - a chapter of remedy.h: a remedy as one sentence, and the names that programs get. */
#include "base/strbuf.h"
#include "sched/remedy.h"

enum { VICTIMS_NAMED = 4, NODES_NAMED = 3 }; /* of longer lists the rest is a number */

const char *remedy_kind_name(enum remedy_kind kind)
{
    static const char *const names[N_REMEDY_KINDS] = {
        [REMEDY_REMOVE_GATES] = "removeGates", [REMEDY_UNCORDON] = "uncordon", [REMEDY_TOLERATE] = "tolerate",
        [REMEDY_ADD_LABEL] = "addLabel",       [REMEDY_REMOVE_TAINT] = "removeTaint", [REMEDY_RELAX] = "relax",
        [REMEDY_FREE] = "free",                [REMEDY_EVICT] = "evict",       [REMEDY_ADD_NODE] = "addNode",
        [REMEDY_PROVIDE_CLAIMS] = "provideClaims",
    };
    return names[kind];
}

const char *remedy_relaxed_name(enum relaxed relaxed)
{
    static const char *const names[N_RELAXED] = {
        [RELAX_MAX_SKEW] = "maxSkew",
        [RELAX_NODE_SELECTOR] = "nodeSelector",
        [RELAX_NODE_SELECTORS] = "nodeSelectors",
        [RELAX_NODE_AFFINITY] = "nodeAffinity",
        [RELAX_POD_AFFINITY] = "podAffinity",
        [RELAX_POD_ANTI_AFFINITY] = "podAntiAffinity",
        [RELAX_SPREAD] = "topologySpreadConstraint",
        [RELAX_HOST_PORT] = "hostPort",
        [RELAX_REQUEST] = "request",
    };
    return names[relaxed];
}

/* ---- Amounts ---- */

/* The largest binary unit that leaves a whole number. */
static const char *bytes_text(int64_t amount, struct arena *a)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
    unsigned unit = 0;
    while (amount && amount % 1024 == 0 && unit + 1 < sizeof(units) / sizeof(*units)) {
        amount /= 1024;
        unit++;
    }
    return arena_printf(a, "%lld%s", (long long)amount, units[unit]);
}

static bool is_in_bytes(const char *resource)
{
    return strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
           strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
}

const char *remedy_amount_text(const char *resource, int64_t amount, struct arena *a)
{
    if (is_in_bytes(resource))
        return bytes_text(amount, a);
    bool is_cpu = strcmp(resource, "cpu") == 0;
    if (is_cpu && amount % 1000)
        return arena_printf(a, "%lldm", (long long)amount);
    return arena_printf(a, "%lld", (long long)(is_cpu ? amount / 1000 : amount));
}

/* ---- Sentences ---- */

struct sentence {
    struct strbuf text;
    struct arena *a;
};

/* ", " before, or " and " before the last. */
static void add_gap(struct sentence *s, uint32_t i, uint32_t n)
{
    if (i)
        strbuf_add_text(&s->text, i + 1 == n ? " and " : ", ");
}

static void add_amounts(struct sentence *s, const struct remedy *r)
{
    for (uint32_t i = 0; i < r->n_amounts; i++) {
        const struct remedy_amount *m = &r->amounts[i];
        add_gap(s, i, r->n_amounts);
        if (strcmp(m->resource, "pods") == 0)
            strbuf_printf(&s->text, "room for %lld more pod%s", (long long)m->missing, m->missing == 1 ? "" : "s");
        else
            strbuf_printf(&s->text, "%s %s", remedy_amount_text(m->resource, m->missing, s->a), m->resource);
    }
}

/* What there is and what is asked for; full nodes need no more words than that. */
static void add_usage(struct sentence *s, const struct remedy *r)
{
    strbuf_add_text(&s->text, " (");
    for (uint32_t i = 0; i < r->n_amounts; i++) {
        const struct remedy_amount *m = &r->amounts[i];
        if (i)
            strbuf_add_text(&s->text, "; ");
        if (strcmp(m->resource, "pods") == 0)
            strbuf_add_text(&s->text, "it has as many pods as it may");
        else
            strbuf_printf(&s->text, "it has %s %s free, the pod asks for %s",
                          remedy_amount_text(m->resource, m->free < 0 ? 0 : m->free, s->a), m->resource,
                          remedy_amount_text(m->resource, m->wanted, s->a));
    }
    strbuf_add_text(&s->text, ")");
}

static void add_taint(struct sentence *s, const struct remedy *r)
{
    strbuf_printf(&s->text, "%s%s%s:%s", r->key, *r->value ? "=" : "", r->value, r->effect);
}

static void add_victims(struct sentence *s, const struct remedy *r)
{
    uint32_t n = r->n_victims <= VICTIMS_NAMED ? r->n_victims : VICTIMS_NAMED;
    uint32_t n_items = n + (r->n_victims > n);
    for (uint32_t i = 0; i < n; i++) {
        add_gap(s, i, n_items);
        strbuf_printf(&s->text, "%s/%s", r->victims[i].ns, r->victims[i].name);
    }
    if (r->n_victims > n)
        strbuf_printf(&s->text, " and %u more pods", r->n_victims - n);
}

static void add_gates(struct sentence *s, const struct remedy *r)
{
    strbuf_printf(&s->text, "remove the scheduling gate%s ", r->n_gates == 1 ? "" : "s");
    for (uint32_t i = 0; i < r->n_gates; i++) {
        add_gap(s, i, r->n_gates);
        strbuf_add_text(&s->text, r->gates[i]);
    }
}

static void add_names(struct sentence *s, const struct remedy *r)
{
    for (uint32_t i = 0; i < r->n_names; i++) {
        add_gap(s, i, r->n_names);
        strbuf_add_text(&s->text, r->names[i]);
    }
}

static void add_hint(struct sentence *s, const struct remedy *r)
{
    if (r->hint)
        strbuf_printf(&s->text, " (%s)", r->hint);
}

/* Of a new node: what it has to have that the others do not. */
static void add_offer(struct sentence *s, const struct remedy *r)
{
    for (uint32_t i = 0; i < r->n_amounts; i++) {
        const struct remedy_amount *m = &r->amounts[i];
        strbuf_add_text(&s->text, i == 0 ? " that has " : i + 1 == r->n_amounts ? " and " : ", ");
        strbuf_printf(&s->text, "%s %s", remedy_amount_text(m->resource, m->wanted, s->a), m->resource);
    }
    add_hint(s, r);
}

static void add_relaxed(struct sentence *s, const struct remedy *r)
{
    struct strbuf *t = &s->text;
    switch (r->relaxed) {
    case RELAX_MAX_SKEW:
        strbuf_printf(t, "raise maxSkew of the topology spread constraint on %s from %lld to %lld", r->key,
                      (long long)r->before, (long long)r->now);
        break;
    case RELAX_NODE_SELECTOR:
        strbuf_printf(t, "drop %s=%s from the pod's node selector", r->key, r->value);
        add_hint(s, r);
        break;
    case RELAX_NODE_SELECTORS:
        strbuf_add_text(t, "drop ");
        add_names(s, r);
        strbuf_add_text(t, " from the pod's node selector");
        add_hint(s, r);
        break;
    case RELAX_NODE_AFFINITY:
        strbuf_add_text(t, "drop the pod's required node affinity");
        break;
    case RELAX_POD_AFFINITY:
        strbuf_printf(t, "drop the required pod affinity term on %s", r->key);
        break;
    case RELAX_POD_ANTI_AFFINITY:
        strbuf_printf(t, "drop the required pod anti-affinity term on %s", r->key);
        break;
    case RELAX_SPREAD:
        strbuf_printf(t, "drop the topology spread constraint on %s", r->key);
        break;
    case RELAX_HOST_PORT:
        strbuf_printf(t, "do without the host port %d/%s", r->port, r->protocol);
        break;
    case RELAX_REQUEST:
        strbuf_printf(t, "lower the pod's %s request from %s to %s", r->amounts[0].resource,
                      remedy_amount_text(r->amounts[0].resource, r->before, s->a),
                      remedy_amount_text(r->amounts[0].resource, r->now, s->a));
        break;
    case N_RELAXED:
        break;
    }
}

/* Where a changed pod goes. */
static void add_where(struct sentence *s, const struct remedy *r)
{
    if (r->n_feasible > 1)
        strbuf_printf(&s->text, " (then node %s or one of %u more)", r->goes_to, r->n_feasible - 1);
    else
        strbuf_printf(&s->text, " (then node %s)", r->goes_to);
}

/* Where else the same change helps. */
static void add_alike(struct sentence *s, const struct remedy *r)
{
    if (!r->n_alike)
        return;
    uint32_t n = r->n_alike <= NODES_NAMED ? r->n_alike : NODES_NAMED;
    strbuf_add_text(&s->text, r->kind == REMEDY_ADD_NODE ? "; or like " : "; or the same on node ");
    for (uint32_t i = 0; i < n; i++)
        strbuf_printf(&s->text, "%s%s", i == 0 ? "" : i + 1 == r->n_alike ? " or " : ", ", r->alike[i]);
    if (r->n_alike > n)
        strbuf_printf(&s->text, " or %u other%s", r->n_alike - n, r->n_alike - n == 1 ? "" : "s");
}

static void add_change(struct sentence *s, const struct remedy *r)
{
    struct strbuf *t = &s->text;
    switch (r->kind) {
    case REMEDY_REMOVE_GATES:
        add_gates(s, r);
        break;
    case REMEDY_UNCORDON:
        strbuf_printf(t, "uncordon node %s", r->node);
        break;
    case REMEDY_TOLERATE:
        strbuf_add_text(t, "let the pod tolerate ");
        add_taint(s, r);
        break;
    case REMEDY_ADD_LABEL:
        strbuf_printf(t, "add the label %s=%s to node %s", r->key, r->value, r->node);
        break;
    case REMEDY_REMOVE_TAINT:
        strbuf_add_text(t, "remove the taint ");
        add_taint(s, r);
        strbuf_printf(t, " from node %s", r->node);
        break;
    case REMEDY_RELAX:
        add_relaxed(s, r);
        break;
    case REMEDY_FREE:
        strbuf_add_text(t, "free ");
        add_amounts(s, r);
        strbuf_printf(t, " on node %s", r->node);
        add_usage(s, r);
        break;
    case REMEDY_EVICT:
        strbuf_add_text(t, "evict ");
        add_victims(s, r);
        strbuf_printf(t, " from node %s", r->node);
        break;
    case REMEDY_ADD_NODE:
        strbuf_printf(t, "add %s node like %s", r->n_amounts ? "a" : "one more", r->node);
        add_offer(s, r);
        break;
    case REMEDY_PROVIDE_CLAIMS:
        strbuf_printf(t, "provide the claim%s ", r->n_names == 1 ? "" : "s");
        add_names(s, r);
        strbuf_add_text(t, ", bound to a volume that the node can use");
        add_hint(s, r);
        break;
    case N_REMEDY_KINDS:
        break;
    }
}

const char *remedy_text(const struct remedy *r, struct arena *a)
{
    struct sentence s = { .a = a };
    strbuf_init(&s.text, STRBUF_NO_MAX);
    add_change(&s, r);
    bool of_the_pod = r->kind == REMEDY_REMOVE_GATES || r->kind == REMEDY_TOLERATE || r->kind == REMEDY_RELAX ||
                      r->kind == REMEDY_PROVIDE_CLAIMS;
    bool elsewhere = r->kind != REMEDY_ADD_NODE && strcmp(r->goes_to, r->node) != 0;
    if (of_the_pod || elsewhere)
        add_where(&s, r);
    add_alike(&s, r);
    const char *text = arena_cstr(a, strbuf_str(&s.text));
    strbuf_fini(&s.text);
    return text;
}
