/* apiserver/rbac_rule.c - see rbac_rule.h. Upstream: apis/rbac/v1/evaluation_helpers.go and policy_comparator.go. */
#include "apiserver/rbac_rule.h"

#include "api/schema_slots.h"

#define ANY STR("*")

static const char *const usual_verbs[] = { "get",    "list",  "watch",  "create",
                                           "update", "patch", "delete", "deletecollection" };
enum { N_USUAL_VERBS = sizeof(usual_verbs) / sizeof(usual_verbs[0]), ANY_VERB = 1 << N_USUAL_VERBS,
       OTHER_VERB = ANY_VERB << 1 };

static unsigned verb_bit(struct str verb)
{
    if (str_eq(verb, ANY))
        return ANY_VERB;
    for (unsigned i = 0; i < N_USUAL_VERBS; i++)
        if (str_is(verb, usual_verbs[i]))
            return 1u << i;
    return OTHER_VERB;
}

struct str_list str_list_of_value(struct arena *a, const struct value *v)
{
    if (v->kind != VALUE_LIST)
        return (struct str_list){ 0 };
    struct str *at = ARENA_NEW_N(a, struct str, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        at[i] = value_text(&v->items[i]);
    return (struct str_list){ at, v->n };
}

static struct rbac_rule read_rule(struct arena *a, const struct value *v)
{
    struct rbac_rule r = {
        .verbs = str_list_of_value(a, value_slot(v, SLOT_rbac_authorization_v1_PolicyRule_verbs)),
        .groups = str_list_of_value(a, value_slot(v, SLOT_rbac_authorization_v1_PolicyRule_apiGroups)),
        .resources = str_list_of_value(a, value_slot(v, SLOT_rbac_authorization_v1_PolicyRule_resources)),
        .names = str_list_of_value(a, value_slot(v, SLOT_rbac_authorization_v1_PolicyRule_resourceNames)),
        .urls = str_list_of_value(a, value_slot(v, SLOT_rbac_authorization_v1_PolicyRule_nonResourceURLs)),
        .value = v,
    };
    for (size_t i = 0; i < r.verbs.n; i++)
        r.verb_bits |= verb_bit(r.verbs.at[i]);
    return r;
}

struct rbac_rules rbac_rules_read(struct arena *a, const struct value *list)
{
    struct rbac_rules rules = { 0 };
    if (list->kind != VALUE_LIST)
        return rules;
    rules.at = ARENA_NEW_N(a, struct rbac_rule, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        rules.at[rules.n++] = read_rule(a, &list->items[i]);
    return rules;
}

/* ---- Questions ---- */

static bool verb_allowed(const struct rbac_rule *r, struct str verb, unsigned bit)
{
    if (r->verb_bits & (ANY_VERB | (bit & ~OTHER_VERB)))
        return true;
    return bit == OTHER_VERB && (r->verb_bits & OTHER_VERB) && str_list_has(&r->verbs, verb);
}

/* "pods" of pods, "pods/status" of their status. */
static bool is_resource(struct str name, const struct authz_attributes *q)
{
    if (q->subresource.n == 0)
        return str_eq(name, q->resource);
    return name.n == q->resource.n + 1 + q->subresource.n && str_starts(name, q->resource) &&
           name.p[q->resource.n] == '/' && str_ends(name, q->subresource);
}

static bool is_any_with_subresource(struct str name, struct str subresource)
{
    return subresource.n && name.n == subresource.n + 2 && str_starts(name, STR("*/")) && str_ends(name, subresource);
}

static bool resource_allowed(const struct rbac_rule *r, const struct authz_attributes *q)
{
    for (size_t i = 0; i < r->resources.n; i++) {
        struct str name = r->resources.at[i];
        if (str_eq(name, ANY) || is_resource(name, q) || is_any_with_subresource(name, q->subresource))
            return true;
    }
    return false;
}

static bool url_covers(struct str owner, struct str path)
{
    if (str_eq(owner, path))
        return true;
    if (!str_ends(owner, ANY))
        return false;
    while (owner.n && owner.p[owner.n - 1] == '*')
        owner.n--;
    return str_starts(path, owner);
}

static bool url_allowed(const struct rbac_rule *r, struct str path)
{
    for (size_t i = 0; i < r->urls.n; i++)
        if (url_covers(r->urls.at[i], path))
            return true;
    return false;
}

static bool has_or_any(const struct str_list *l, struct str word)
{
    return str_list_has(l, ANY) || str_list_has(l, word);
}

bool rbac_rules_allow(const struct rbac_rules *rules, const struct authz_attributes *q)
{
    unsigned bit = verb_bit(q->verb);
    for (size_t i = 0; i < rules->n; i++) {
        const struct rbac_rule *r = &rules->at[i];
        if (!verb_allowed(r, q->verb, bit))
            continue;
        if (!q->is_resource ? url_allowed(r, q->path)
                            : has_or_any(&r->groups, q->group) && resource_allowed(r, q) &&
                                  (r->names.n == 0 || str_list_has(&r->names, q->name)))
            return true;
    }
    return false;
}

/* ---- Other rules ---- */

/* "*" of the owner, the same, or for "pods/status" also "*" with that subresource. */
static bool resource_covered(const struct str_list *owner, struct str name)
{
    if (has_or_any(owner, name))
        return true;
    size_t slash = str_index(name, '/');
    if (slash == name.n)
        return false;
    struct str sub = str_from(name, slash + 1);
    for (size_t i = 0; i < owner->n; i++)
        if (owner->at[i].n == sub.n + 2 && str_starts(owner->at[i], STR("*/")) && str_ends(owner->at[i], sub))
            return true;
    return false;
}

static bool all_covered(const struct str_list *owner, const struct str_list *part)
{
    if (str_list_has(owner, ANY))
        return true;
    for (size_t i = 0; i < part->n; i++)
        if (!str_list_has(owner, part->at[i]))
            return false;
    return true;
}

bool rbac_rule_covers(const struct rbac_rule *owner, const struct rbac_rule *part)
{
    if (!all_covered(&owner->verbs, &part->verbs) || !all_covered(&owner->groups, &part->groups))
        return false;
    for (size_t i = 0; i < part->resources.n; i++)
        if (!resource_covered(&owner->resources, part->resources.at[i]))
            return false;
    for (size_t i = 0; i < part->urls.n; i++)
        if (!url_allowed(owner, part->urls.at[i]))
            return false;
    if (owner->names.n == 0)
        return true;
    for (size_t i = 0; i < part->names.n; i++)
        if (!str_list_has(&owner->names, part->names.at[i]))
            return false;
    return part->names.n > 0;
}

static bool visit_names(const struct rbac_rule *rule, struct rbac_rule part, rbac_part_visit *visit, void *context)
{
    if (rule->names.n == 0)
        return visit(context, &part);
    for (size_t i = 0; i < rule->names.n; i++) {
        part.names = (struct str_list){ &rule->names.at[i], 1 };
        if (!visit(context, &part))
            return false;
    }
    return true;
}

void rbac_rule_parts(const struct rbac_rule *rule, rbac_part_visit *visit, void *context)
{
    for (size_t g = 0; g < rule->groups.n; g++)
        for (size_t r = 0; r < rule->resources.n; r++)
            for (size_t v = 0; v < rule->verbs.n; v++) {
                struct rbac_rule part = { .groups = { &rule->groups.at[g], 1 },
                                          .resources = { &rule->resources.at[r], 1 },
                                          .verbs = { &rule->verbs.at[v], 1 } };
                if (!visit_names(rule, part, visit, context))
                    return;
            }
    for (size_t u = 0; u < rule->urls.n; u++)
        for (size_t v = 0; v < rule->verbs.n; v++) {
            struct rbac_rule part = { .urls = { &rule->urls.at[u], 1 }, .verbs = { &rule->verbs.at[v], 1 } };
            if (!visit(context, &part))
                return;
        }
}

/* ---- Texts ---- */

void str_list_add_quoted(struct strbuf *to, const struct str_list *l)
{
    strbuf_add_char(to, '[');
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            strbuf_add_char(to, ' ');
        strbuf_add_quoted_shown(to, l->at[i]);
    }
    strbuf_add_char(to, ']');
}

void rbac_rule_add_text(struct strbuf *to, const struct rbac_rule *r)
{
    const struct {
        const char *name;
        const struct str_list *list;
    } parts[] = { { "APIGroups", &r->groups }, { "Resources", &r->resources }, { "NonResourceURLs", &r->urls },
                  { "ResourceNames", &r->names }, { "Verbs", &r->verbs } };
    const char *before = "{";
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].list->n) {
            strbuf_printf(to, "%s%s:", before, parts[i].name);
            str_list_add_quoted(to, parts[i].list);
            before = ", ";
        }
    strbuf_add_text(to, before[0] == '{' ? "{}" : "}");
}
