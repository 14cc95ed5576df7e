/* controllers/role_aggregation.c - see role_aggregation.h. */
#include "controllers/role_aggregation.h"

#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/subresource.h"
#include "base/arena_array.h"
#include "base/map.h"
#include "codec/json.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "clusterrole-aggregation-controller"

enum { WORKERS = 5 };

/* ---- The decision ---- */

const struct type *cluster_role_type(void)
{
    return schema_type(STR("rbac.authorization.k8s.io/v1.ClusterRole"));
}

static const struct type *rule_type(void)
{
    return schema_type(STR("rbac.authorization.k8s.io/v1.PolicyRule"));
}

/* Rules, each once, in the order in which they came. */
struct rules {
    struct arena *a;
    struct value *at;
    size_t n, cap;
    struct map_str seen; /* by their text */
};

static void add_rule(struct rules *r, const struct value *rule)
{
    struct strbuf text;
    bool is_new;
    strbuf_init(&text, STRBUF_NO_MAX);
    json_encode(&text, rule_type(), rule);
    map_str_put(&r->seen, arena_str(r->a, strbuf_str(&text)), &is_new);
    strbuf_fini(&text);
    if (!is_new)
        return;
    r->at = arena_array_more(r->a, r->at, r->n, &r->cap, sizeof(struct value));
    r->at[r->n++] = *rule;
}

static void add_selected(struct rules *r, const struct value *role, const struct value *selector,
                         const struct value *const *roles, size_t n)
{
    const struct resource *row = stored_resource("clusterroles", "rbac.authorization.k8s.io");
    struct str own = text_at(cluster_role_type(), role, "metadata.name");
    struct selector s;
    struct err e;
    err_init(&e, r->a);
    if (selector_of_value(r->a, schema_type(STR("meta/v1.LabelSelector")), selector, &s, &e))
        return;
    for (size_t i = 0; i < n; i++) {
        const struct value *rules = value_path(cluster_role_type(), roles[i], "rules");
        bool is_itself = str_eq(text_at(cluster_role_type(), roles[i], "metadata.name"), own);
        if (is_itself || !selector_matches(&s, selectable_of(r->a, row, cluster_role_type(), roles[i]).labels))
            continue;
        for (uint32_t k = 0; k < list_length(rules); k++)
            add_rule(r, &rules->items[k]);
    }
}

bool role_aggregation_plan(struct arena *a, const struct value *role, const struct value *const *roles, size_t n,
                           struct value *ret_role)
{
    const struct type *t = cluster_role_type();
    const struct value *selectors = value_path(t, role, "aggregationRule.clusterRoleSelectors");
    const struct value *has = value_path(t, role, "rules");
    if (!is_set_at(t, role, "aggregationRule"))
        return false;
    struct rules r = { .a = a };
    map_str_init(&r.seen);
    for (uint32_t i = 0; i < list_length(selectors); i++)
        add_selected(&r, role, &selectors->items[i], roles, n);
    map_str_fini(&r.seen);
    struct value list = value_list(r.at, (uint32_t)r.n);
    if (list_length(has) == r.n && (r.n == 0 || value_equal(has, &list)))
        return false;
    *ret_role = edit_set(a, t, role, "rules", list);
    return true;
}

/* ---- The controller ---- */

struct role_aggregation {
    struct cluster *cluster;
    struct work_queue *queue;
    struct map_str made; /* names of roles that are made of others; ours */
};

static const struct resource *cluster_roles(void)
{
    return stored_resource("clusterroles", "rbac.authorization.k8s.io");
}

static void work(void *context, struct str key)
{
    struct role_aggregation *c = context;
    struct stored *objects = cluster_objects(c->cluster);
    const struct value **all;
    struct arena a;
    struct value next;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    const struct value *role = stored_get(objects, cluster_roles(), STR(""), key);
    size_t n = role ? stored_list(objects, cluster_roles(), STR(""), &a, &all) : 0;
    if (role && role_aggregation_plan(&a, role, all, n, &next))
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = cluster_roles(), .name = key,
                                             .object = &next });
    turn_end(t);
    arena_fini(&a);
}

static void note_role(struct role_aggregation *c, const struct value *role, struct str name)
{
    union map_value own_name;
    bool is_made = role && is_set_at(cluster_role_type(), role, "aggregationRule"), is_new;
    if (!is_made && map_str_remove(&c->made, name, &own_name))
        free(own_name.ptr);
    if (!is_made || map_str_find(&c->made, name))
        return;
    char *copy = mem_alloc(name.n);
    memcpy(copy, name.p, name.n);
    map_str_put(&c->made, (struct str){ copy, name.n }, &is_new)->ptr = copy;
}

/* Any of those that are made of others may be made of this one. */
static void role_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct role_aggregation *c = context;
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    note_role(c, item ? stored_value(cluster_objects(c->cluster), r, item) : NULL, name);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->made, s));)
        work_queue_add(c->queue, map_str_key(s));
}

void *role_aggregation_start(const struct controller_context *context)
{
    struct role_aggregation *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "ClusterRoleAggregator");
    map_str_init(&c->made);
    cluster_watch(c->cluster, cluster_roles(), role_changed, c);
    return c;
}

void role_aggregation_stop(void *own_controller)
{
    struct role_aggregation *c = own_controller;
    work_queue_free(c->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->made, s));)
        free(s->value.ptr);
    map_str_fini(&c->made);
    free(c);
}
