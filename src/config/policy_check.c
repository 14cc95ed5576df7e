/* config/policy_check.c - a chapter of policy.h: what a Policy may say. Upstream:
 * pkg/scheduler/apis/config/validation (ValidatePolicy), v1.20. */
#include "api/field_error.h"
#include "config/policy.h"
#include "config/validate.h"

#define WEIGHT_LIMIT (INT64_MAX / 10)

/* Texts in order, each once. */
struct aggregate {
    struct arena *arena;
    VEC(const char *) texts;
};

static void add(struct aggregate *g, const char *text)
{
    for (size_t i = 0; i < g->texts.n; i++)
        if (strcmp(g->texts.at[i], text) == 0)
            return;
    vec_push(&g->texts, text);
}

static const char *joined(const struct aggregate *g)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < g->texts.n; i++) {
        strbuf_add_text(&b, i ? ", " : g->texts.n > 1 ? "[" : "");
        strbuf_add_text(&b, g->texts.at[i]);
    }
    strbuf_add_text(&b, g->texts.n > 1 ? "]" : "");
    const char *text = arena_cstr(g->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* The entries with an argument of one kind must agree; the first that differs is not the one to compare with. */
struct custom {
    const struct policy_priority *label_preference, *service_anti_affinity, *capacity_ratio;
};

static void check_same_weight(struct aggregate *g, const char *kind, const struct policy_priority **known,
                              const struct policy_priority *p)
{
    if (*known && (*known)->weight != p->weight)
        add(g, arena_printf(g->arena, "%s  priority \"%.*s\" has a different weight with \"%.*s\"", kind,
                            STR_ARG(p->name), STR_ARG((*known)->name)));
    else
        *known = p;
}

static void check_argument(struct aggregate *g, struct custom *c, const struct policy_priority *p)
{
    if (p->label_preference)
        check_same_weight(g, "LabelPreference", &c->label_preference, p);
    else if (p->service_anti_affinity)
        check_same_weight(g, "ServiceAntiAffinity", &c->service_anti_affinity, p);
    else if (p->capacity_ratio && c->capacity_ratio)
        add(g, arena_printf(g->arena,
                            "priority \"%.*s\" redeclares custom priority \"RequestedToCapacityRatio\", from: \"%.*s\"",
                            STR_ARG(p->name), STR_ARG(c->capacity_ratio->name)));
    else if (p->capacity_ratio)
        c->capacity_ratio = p;
    else
        add(g, arena_printf(g->arena, "no priority arguments set for priority %.*s", STR_ARG(p->name)));
}

static void check_priorities(struct aggregate *g, const struct policy *policy)
{
    struct custom custom = { 0 };
    for (size_t i = 0; i < policy->n_priorities; i++) {
        const struct policy_priority *p = &policy->priorities[i];
        if (p->weight <= 0 || p->weight >= WEIGHT_LIMIT)
            add(g, arena_printf(g->arena, "priority %.*s should have a positive weight applied to it or it has overflown",
                                STR_ARG(p->name)));
        if (p->has_argument)
            check_argument(g, &custom, p);
    }
}

static void check_rest(struct aggregate *g, const struct policy *policy)
{
    struct field_errors errs;
    field_errors_init(&errs, g->arena);
    struct config extenders = { .extenders = policy->extenders, .n_extenders = policy->n_extenders };
    validate_extenders(&extenders, true, &errs);
    int64_t weight = policy->hard_pod_affinity_weight;
    struct field_path at = field_child(NULL, "hardPodAffinitySymmetricWeight");
    if (weight < 0 || weight > 100)
        field_invalid(&errs, &at, field_int(weight), STR("not in valid range [0-100]"));
    struct str text = field_errors_text(g->arena, &errs);
    if (errs.n > 1) /* they join the others without brackets of their own */
        text = (struct str){ text.p + 1, text.n - 2 };
    if (errs.n)
        vec_push(&g->texts, arena_cstr(g->arena, text));
    if (errs.n > 1 && g->texts.n == 1)
        g->texts.at[0] = arena_printf(g->arena, "[%s]", g->texts.at[0]);
}

enum err_code policy_check(const struct policy *p, struct err *e)
{
    struct aggregate g = { .arena = e->arena };
    check_priorities(&g, p);
    check_rest(&g, p);
    enum err_code code = g.texts.n ? err_set(e, ERR_INVALID, "%s", joined(&g)) : ERR_OK;
    vec_fini(&g.texts);
    return code;
}
