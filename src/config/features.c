/* config/features.c - see features.h. Upstream: component-base/featuregate,
 * component-base/compatibility, v1.36.
 *
 * Upstream collects flags in maps and reports what it meets first in their random order. Here an
 * unknown name comes first, then all locked gates by name, then unmet dependencies by name. */
#include "config/features.h"

#include <assert.h>

#include "base/strbuf.h"

enum stage { STAGE_ALPHA, STAGE_BETA, STAGE_GA, STAGE_DEPRECATED };
enum state { STATE_OFF, STATE_ON, STATE_LOCKED_OFF, STATE_LOCKED_ON };
enum { DEPENDENCIES_MAX = 4, FLAG_BYTES_MAX = 1 << 16 };

static const struct gate_row {
    const char *name;
    enum stage stage;
    enum state state;
} rows[] = {
#define X(name, stage, state) { #name, STAGE_##stage, STATE_##state },
    GATES(X)
#undef X
};

static const struct dependency {
    enum gate gate;
    uint8_t n;
    enum gate needs[DEPENDENCIES_MAX];
} dependencies[] = {
#define X(name, ...)                                                                       \
    { GATE_##name, sizeof((enum gate[]){ __VA_ARGS__ }) / sizeof(enum gate), { __VA_ARGS__ } },
    GATE_DEPENDENCIES(X)
#undef X
};

enum { N_DEPENDENCIES = sizeof(dependencies) / sizeof(dependencies[0]) };

/* What flags ask for. */
enum wish { WISH_NONE, WISH_OFF, WISH_ON };

static bool default_on(enum gate gate)
{
    return rows[gate].state == STATE_ON || rows[gate].state == STATE_LOCKED_ON;
}

static bool locked(enum gate gate)
{
    return rows[gate].state == STATE_LOCKED_OFF || rows[gate].state == STATE_LOCKED_ON;
}

const char *gate_name(enum gate gate)
{
    return gate < N_GATES ? rows[gate].name : NULL;
}

const char *gate_stage(enum gate gate)
{
    static const char *const names[] = { [STAGE_ALPHA] = "ALPHA", [STAGE_BETA] = "BETA", [STAGE_GA] = "",
                                         [STAGE_DEPRECATED] = "DEPRECATED" };
    assert(gate < N_GATES);
    return names[rows[gate].stage];
}

void gates_init(struct gates *g)
{
    for (enum gate i = 0; i < N_GATES; i++)
        g->on[i] = default_on(i);
}

/* N_GATES when there is none of that name. */
static enum gate find_gate(struct str name)
{
    enum gate i = 0;
    while (i < N_GATES && !str_is(name, rows[i].name))
        i++;
    return i;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str trimmed(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_from(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Up to the separator, which is passed over. */
static struct str take_until(struct str *s, char separator)
{
    size_t at = str_index(*s, separator);
    struct str part = str_first(*s, at);
    *s = str_from(*s, at + 1);
    return part;
}

/* As strconv.ParseBool. */
static bool parse_bool(struct str text, bool *ret_value)
{
    static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
    static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        bool is_yes = str_is(text, yes[i]);
        if (is_yes || str_is(text, no[i])) {
            *ret_value = is_yes;
            return true;
        }
    }
    return false;
}

static const char *quoted(struct arena *a, struct str s)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted(&b, s);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* `Name=bool` becomes a wish. Without `wishes` only its form is looked at. */
static enum err_code read_pair(struct str pair, enum wish *wishes, struct err *e)
{
    struct str value = pair, name = trimmed(take_until(&value, '='));
    if (str_index(pair, '=') == pair.n)
        return err_set(e, ERR_BAD_REQUEST, "missing bool value for %.*s", STR_ARG(name));
    value = trimmed(value);
    bool on;
    if (!parse_bool(value, &on))
        return err_set(e, ERR_BAD_REQUEST,
                       "invalid value of %.*s=%.*s, err: strconv.ParseBool: parsing %s: invalid syntax",
                       STR_ARG(name), STR_ARG(value), quoted(e->arena, value));
    if (!wishes)
        return ERR_OK;
    enum gate gate = find_gate(name);
    if (gate == N_GATES)
        return err_set(e, ERR_BAD_REQUEST, "unrecognized feature gate: %.*s", STR_ARG(name));
    wishes[gate] = on ? WISH_ON : WISH_OFF;
    return ERR_OK;
}

/* With which prefixes pairs came: both ways must not be mixed. */
struct prefixes {
    bool none, kube;
};

static enum err_code read_flag(struct str flag, enum wish *wishes, struct prefixes *seen, struct err *e)
{
    if (flag.n > FLAG_BYTES_MAX)
        return err_set(e, ERR_BAD_REQUEST, "feature gates of more than %d bytes", FLAG_BYTES_MAX);
    while (flag.n) {
        struct str pair = take_until(&flag, ',');
        if (pair.n == 0)
            continue;
        size_t colon = str_index(pair, ':');
        struct str component = colon < pair.n ? trimmed(str_first(pair, colon)) : STR("");
        struct str rest = trimmed(colon < pair.n ? str_from(pair, colon + 1) : pair);
        if (component.n && !str_is(component, "kube"))
            return err_set(e, ERR_BAD_REQUEST, "component not registered: %.*s", STR_ARG(component));
        seen->kube |= component.n > 0;
        seen->none |= component.n == 0;
        if (rest.n && read_pair(rest, wishes, e))
            return e->code;
    }
    return ERR_OK;
}

static void set_stage(struct gates *g, const enum wish *wishes, enum gate special, enum stage stage)
{
    if (wishes[special] == WISH_NONE)
        return;
    for (enum gate i = 0; i < N_GATES; i++)
        if (rows[i].stage == stage && i != GATE_AllAlpha && i != GATE_AllBeta)
            g->on[i] = wishes[special] == WISH_ON;
}

/* Several texts as upstream shows them: [a, b]. */
static void add_problem(struct strbuf *problems, unsigned *n, const char *text)
{
    if ((*n)++)
        STRBUF_ADD_LIT(problems, ", ");
    strbuf_add_text(problems, text);
}

static void check_locks(const enum wish *wishes, struct strbuf *problems, unsigned *n, struct arena *a)
{
    for (enum gate i = 0; i < N_GATES; i++) {
        bool on = wishes[i] == WISH_ON;
        if (wishes[i] != WISH_NONE && locked(i) && on != default_on(i))
            add_problem(problems, n,
                        arena_printf(a, "cannot set feature gate %s to %s, feature is locked to %s", rows[i].name,
                                     on ? "true" : "false", on ? "false" : "true"));
    }
}

static void check_dependency(const struct gates *g, const struct dependency *d, struct strbuf *problems,
                             unsigned *n, struct arena *a)
{
    struct strbuf off;
    strbuf_init(&off, STRBUF_NO_MAX);
    for (uint8_t i = 0; g->on[d->gate] && i < d->n; i++)
        if (!g->on[d->needs[i]])
            strbuf_printf(&off, "%s%s", off.n ? " " : "", rows[d->needs[i]].name);
    if (off.n)
        add_problem(problems, n,
                    arena_printf(a, "%s is enabled, but depends on features that are disabled: [%s]",
                                 rows[d->gate].name, strbuf_cstr(&off)));
    strbuf_fini(&off);
}

static enum err_code apply(struct gates *g, const enum wish *wishes, struct err *e)
{
    struct strbuf problems;
    unsigned n = 0;
    strbuf_init(&problems, STRBUF_NO_MAX);
    set_stage(g, wishes, GATE_AllAlpha, STAGE_ALPHA);
    set_stage(g, wishes, GATE_AllBeta, STAGE_BETA);
    for (enum gate i = 0; i < N_GATES; i++)
        if (wishes[i] != WISH_NONE)
            g->on[i] = wishes[i] == WISH_ON;
    check_locks(wishes, &problems, &n, e->arena);
    bool locks_hold = n == 0;
    for (size_t i = 0; locks_hold && i < N_DEPENDENCIES; i++)
        check_dependency(g, &dependencies[i], &problems, &n, e->arena);
    enum err_code rc = ERR_OK;
    if (n)
        rc = err_set(e, ERR_BAD_REQUEST, n > 1 ? "[%s]" : "%s", strbuf_cstr(&problems));
    strbuf_fini(&problems);
    return rc;
}

enum err_code gates_set(struct gates *g, const struct str *flags, size_t n_flags, struct err *e)
{
    enum wish wishes[N_GATES] = { WISH_NONE };
    struct prefixes seen = { 0 };
    struct gates changed = *g;
    for (size_t i = 0; i < n_flags; i++)
        if (read_flag(flags[i], NULL, &seen, e))
            return e->code;
    if (seen.none && seen.kube)
        return err_set(e, ERR_BAD_REQUEST, "set kube feature gates with default empty prefix or kube: prefix "
                                           "consistently, do not mix use");
    for (size_t i = 0; i < n_flags; i++)
        if (read_flag(flags[i], wishes, &seen, e))
            return e->code;
    if (apply(&changed, wishes, e))
        return e->code;
    *g = changed;
    return ERR_OK;
}

struct features gates_features(const struct gates *g)
{
    return (struct features){
        .taint_toleration_comparison_operators = g->on[GATE_TaintTolerationComparisonOperators],
        .storage_capacity_scoring = g->on[GATE_StorageCapacityScoring],
        .volume_limit_scaling = g->on[GATE_VolumeLimitScaling],
        .node_declared_features = g->on[GATE_NodeDeclaredFeatures],
        .async_preemption = g->on[GATE_SchedulerAsyncPreemption],
        .pop_from_backoff_queue = g->on[GATE_SchedulerPopFromBackoffQ],
        .nominated_node_name_for_expectation = g->on[GATE_NominatedNodeNameForExpectation],
        .generic_workload = g->on[GATE_GenericWorkload],
        .gang_scheduling = g->on[GATE_GangScheduling],
        .topology_aware_workloads = g->on[GATE_TopologyAwareWorkloadScheduling],
        .dra_device_binding_conditions = g->on[GATE_DRADeviceBindingConditions],
        .dra_resource_claim_device_status = g->on[GATE_DRAResourceClaimDeviceStatus],
        .dra_filter_timeout = g->on[GATE_DRASchedulerFilterTimeout],
    };
}
