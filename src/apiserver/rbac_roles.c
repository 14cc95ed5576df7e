/* apiserver/rbac_roles.c - see rbac_roles.h. Upstream: the controller clusterroleaggregation. */
#include "apiserver/rbac_roles.h"

#include <stdlib.h>

#include "api/label_selector.h"
#include "api/schema_slots.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"

enum { AGGREGATION_DEPTH_MAX = 32 }; /* roles that select roles that select roles; deeper ones add nothing */

/* Slots that both kinds of roles have in common. */
_Static_assert((int)SLOT_rbac_authorization_v1_Role_rules == (int)SLOT_rbac_authorization_v1_ClusterRole_rules,
               "roles are read alike");

struct role {
    struct arena arena;
    struct str name; /* with the namespace and a slash before it, of a Role */
    struct rbac_rules rules;
};

struct role_cache {
    const struct resource *resource;
    uint64_t generation;
    struct map_str roles; /* struct role */
};

enum { CLUSTER_ROLES, ROLES, N_KINDS };

struct rbac_roles {
    struct stored *objects;
    struct role_cache caches[N_KINDS];
};

static void free_roles(struct map_str *roles)
{
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(roles, slot));) {
        struct role *role = slot->value.ptr;
        arena_fini(&role->arena);
        free(role);
    }
    map_str_fini(roles);
    map_str_init(roles);
}

static void follow_roles(struct rbac_roles *r, struct role_cache *c)
{
    uint64_t generation = stored_generation(r->objects, c->resource);
    if (generation == c->generation)
        return;
    free_roles(&c->roles);
    c->generation = generation;
}

static struct labels read_labels(struct arena *a, const struct value *map)
{
    if (map->kind != VALUE_MAP)
        return (struct labels){ 0 };
    struct label *at = ARENA_NEW_N(a, struct label, map->n);
    for (uint32_t i = 0; i < map->n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, map->n };
}

/* False: nothing can be selected by it. */
static bool read_selector(struct arena *a, const struct value *v, struct selector *ret)
{
    const struct value *expressions = value_slot(v, SLOT_meta_v1_LabelSelector_matchExpressions);
    uint32_t n = expressions->kind == VALUE_LIST ? expressions->n : 0;
    struct match_expression *at = ARENA_NEW_N(a, struct match_expression, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct value *x = &expressions->items[i];
        struct str_list values = str_list_of_value(a, value_slot(x, SLOT_meta_v1_LabelSelectorRequirement_values));
        at[i] = (struct match_expression){ value_text(value_slot(x, SLOT_meta_v1_LabelSelectorRequirement_key)),
                                           value_text(value_slot(x, SLOT_meta_v1_LabelSelectorRequirement_operator)),
                                           { values.at, values.n } };
    }
    struct label_selector ls = { read_labels(a, value_slot(v, SLOT_meta_v1_LabelSelector_matchLabels)), at, n };
    struct work work = { .bytes_max = SIZE_MAX, .left = UINT64_MAX, .begun = true };
    struct err e;
    err_init(&e, a);
    return label_selector_compile(a, &work, &ls, ret, &e) == ERR_OK;
}

/* The rules of all roles that a role selects, also by way of others that select: each rule once, in the order in which
 * upstream's controller puts them together. */
struct gathering {
    struct role *role;
    struct arena *scratch;
    const struct value **roles; /* all there are */
    size_t n_roles;
    struct map_str visited;     /* names; roles that select each other end here */
    struct map_str seen;        /* rules as JSON */
    VEC(struct value) rules;
};

static void gather_rules(struct gathering *g, const struct value *rules)
{
    for (uint32_t i = 0; rules->kind == VALUE_LIST && i < rules->n; i++) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        json_encode(&text, &schema_types[T_rbac_authorization_v1_PolicyRule], &rules->items[i]);
        bool is_new = false;
        map_str_put(&g->seen, arena_str(g->scratch, strbuf_str(&text)), &is_new);
        strbuf_fini(&text);
        if (is_new)
            vec_push(&g->rules, value_copy(&g->role->arena, &rules->items[i]));
    }
}

static const struct value *aggregation_of(const struct value *cluster_role)
{
    return value_slot(cluster_role, SLOT_rbac_authorization_v1_ClusterRole_aggregationRule);
}

static void gather_aggregated(struct gathering *g, const struct value *aggregation, unsigned depth);

static void gather_selected(struct gathering *g, const struct value *selector, unsigned depth)
{
    struct selector s;
    if (!read_selector(g->scratch, selector, &s))
        return;
    for (size_t i = 0; i < g->n_roles; i++) {
        const struct value *role = g->roles[i];
        const struct value *meta = value_slot(role, SLOT_rbac_authorization_v1_ClusterRole_metadata);
        bool is_new = false;
        if (!selector_matches(&s, read_labels(g->scratch, value_slot(meta, SLOT_meta_v1_ObjectMeta_labels))))
            continue;
        map_str_put(&g->visited, value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_name)), &is_new);
        if (is_new && aggregation_of(role)->kind == VALUE_STRUCT)
            gather_aggregated(g, aggregation_of(role), depth + 1);
        else if (is_new)
            gather_rules(g, value_slot(role, SLOT_rbac_authorization_v1_ClusterRole_rules));
    }
}

static void gather_aggregated(struct gathering *g, const struct value *aggregation, unsigned depth)
{
    const struct value *selectors =
        value_slot(aggregation, SLOT_rbac_authorization_v1_AggregationRule_clusterRoleSelectors);
    for (uint32_t i = 0; depth < AGGREGATION_DEPTH_MAX && selectors->kind == VALUE_LIST && i < selectors->n; i++)
        gather_selected(g, &selectors->items[i], depth);
}

static void aggregate(struct rbac_roles *r, struct role *role, const struct value *aggregation)
{
    struct arena scratch;
    arena_init(&scratch);
    struct gathering g = { .role = role, .scratch = &scratch };
    map_str_init(&g.visited);
    map_str_init(&g.seen);
    map_str_put(&g.visited, role->name, NULL);
    g.n_roles = stored_list(r->objects, r->caches[CLUSTER_ROLES].resource, STR(""), &scratch, &g.roles);
    gather_aggregated(&g, aggregation, 0);
    struct value *items = ARENA_NEW_N(&role->arena, struct value, g.rules.n);
    if (g.rules.n)
        memcpy(items, g.rules.at, g.rules.n * sizeof(items[0]));
    struct value list = value_list(items, (uint32_t)g.rules.n);
    role->rules = rbac_rules_read(&role->arena, &list);
    vec_fini(&g.rules);
    map_str_fini(&g.visited);
    map_str_fini(&g.seen);
    arena_fini(&scratch);
}

static struct role *read_role(struct rbac_roles *r, struct role_cache *c, struct str key, const struct value *v)
{
    struct role *role = mem_zalloc(sizeof(*role));
    arena_init_small(&role->arena);
    role->name = arena_str(&role->arena, key);
    map_str_put(&c->roles, role->name, NULL)->ptr = role;
    if (!c->resource->namespaced && aggregation_of(v)->kind == VALUE_STRUCT) {
        aggregate(r, role, aggregation_of(v));
    } else {
        struct value rules = value_copy(&role->arena, value_slot(v, SLOT_rbac_authorization_v1_Role_rules));
        role->rules = rbac_rules_read(&role->arena, &rules);
    }
    return role;
}

/* NULL: there is none. */
static const struct role *find_role(struct rbac_roles *r, struct role_cache *c, struct str namespace, struct str name)
{
    struct arena scratch;
    arena_init_small(&scratch);
    struct str key = name;
    if (c->resource->namespaced)
        key = str_of(arena_printf(&scratch, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
    union map_value *known = map_str_find(&c->roles, key);
    const struct role *role = known ? known->ptr : NULL;
    if (!role) {
        const struct value *v = stored_get(r->objects, c->resource, namespace, name);
        role = v ? read_role(r, c, key, v) : NULL;
    }
    arena_fini(&scratch);
    return role;
}

const struct rbac_rules *rbac_roles_find(struct rbac_roles *r, struct str kind, struct str name, struct str namespace)
{
    const struct role *role = NULL;
    if (str_is(kind, "ClusterRole"))
        role = find_role(r, &r->caches[CLUSTER_ROLES], STR(""), name);
    else if (str_is(kind, "Role"))
        role = find_role(r, &r->caches[ROLES], namespace, name);
    return role ? &role->rules : NULL;
}

void rbac_roles_follow(struct rbac_roles *r)
{
    for (size_t i = 0; i < N_KINDS; i++)
        follow_roles(r, &r->caches[i]);
}

struct rbac_roles *rbac_roles_new(struct stored *objects)
{
    static const char *const plurals[N_KINDS] = { "clusterroles", "roles" };
    struct rbac_roles *r = mem_zalloc(sizeof(*r));
    r->objects = objects;
    for (size_t i = 0; i < N_KINDS; i++) {
        r->caches[i].resource = stored_resource(plurals[i], "rbac.authorization.k8s.io");
        map_str_init(&r->caches[i].roles);
    }
    return r;
}

void rbac_roles_free(struct rbac_roles *r)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        free_roles(&r->caches[i].roles);
        map_str_fini(&r->caches[i].roles);
    }
    free(r);
}
