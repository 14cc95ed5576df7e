/* apiserver/rbac_bootstrap.c - see rbac_bootstrap.h; the notation is that of rbac_bootstrap_table.c. Upstream:
 * component-helpers/auth/rbac/reconciliation. */
#include "apiserver/rbac_bootstrap.h"

#include <assert.h>

#include "api/edit.h"
#include "api/schema_slots.h"
#include "apiserver/rbac_bootstrap_table.h"
#include "apiserver/rbac_rule.h"
#include "apiserver/stored.h"
#include "base/vec.h"

#define GROUP "rbac.authorization.k8s.io"
#define AUTO_UPDATE "rbac.authorization.kubernetes.io/autoupdate"

/* ---- Texts into rules ---- */

/* The part before `end`, which is taken off with it; all of it when there is no such byte. */
static struct str take_until(struct str *left, char end)
{
    size_t at = str_index(*left, end);
    struct str part = str_first(*left, at);
    *left = str_from(*left, at + 1);
    return part;
}

static struct value split(struct arena *a, struct str text, char between)
{
    VEC(struct value) parts = { 0 };
    do
        vec_push(&parts, value_string(take_until(&text, between)));
    while (text.n);
    struct value *items = ARENA_NEW_N(a, struct value, parts.n);
    memcpy(items, parts.at, parts.n * sizeof(items[0]));
    struct value list = value_list(items, (uint32_t)parts.n);
    vec_fini(&parts);
    return list;
}

static struct value read_verbs(struct arena *a, struct str text)
{
    static const struct {
        const char *name, *verbs;
    } sets[] = { { "r", "get,list,watch" }, { "w", "create,delete,deletecollection,patch,update" },
                 { "rw", "create,delete,deletecollection,get,list,patch,update,watch" } };
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (str_is(text, sets[i].name))
            text = str_of(sets[i].verbs);
    return split(a, text, ',');
}

static struct value read_rule(struct arena *a, struct str text)
{
    struct value rule = value_struct(a, &schema_types[T_rbac_authorization_v1_PolicyRule]);
    struct value *slots = rule.slots;
    if (str_starts(text, STR("URL("))) {
        text = str_from(text, 4);
        slots[SLOT_rbac_authorization_v1_PolicyRule_nonResourceURLs] = split(a, take_until(&text, ')'), ' ');
    } else {
        slots[SLOT_rbac_authorization_v1_PolicyRule_apiGroups] = split(a, take_until(&text, '{'), '|');
        slots[SLOT_rbac_authorization_v1_PolicyRule_resources] = split(a, take_until(&text, '}'), ' ');
        if (str_starts(text, STR("["))) {
            text = str_from(text, 1);
            slots[SLOT_rbac_authorization_v1_PolicyRule_resourceNames] = split(a, take_until(&text, ']'), ' ');
        }
    }
    assert(str_starts(text, STR(":")));
    slots[SLOT_rbac_authorization_v1_PolicyRule_verbs] = read_verbs(a, str_from(text, 1));
    return rule;
}

static struct value read_rules(struct arena *a, const char *text)
{
    struct value list = { 0 };
    for (struct str left = str_of(text); left.n;) {
        list = edit_append(a, &list, read_rule(a, take_until(&left, ';')));
        left = str_from(left, str_starts(left, STR(" ")) ? 1 : 0);
    }
    return list;
}

/* ---- Objects ---- */

static struct value one_member(struct arena *a, const char *key, const char *text)
{
    return edit_member(a, &(struct value){ 0 }, str_of(key), edit_text(text));
}

static struct rbac_object object(struct arena *a, const char *plural, const char *namespace, const char *name)
{
    const struct resource *r = stored_resource(plural, GROUP);
    struct rbac_object o = { .resource = r, .namespace = str_of(namespace), .name = str_of(name) };
    o.value = value_struct(a, r->type);
    o.value.slots[SLOT_KIND] = value_string(r->kind);
    o.value.slots[SLOT_API_VERSION] = edit_text(GROUP "/v1");
    o.value = edit_set(a, r->type, &o.value, "metadata.name", edit_text(name));
    if (namespace)
        o.value = edit_set(a, r->type, &o.value, "metadata.namespace", edit_text(namespace));
    o.value = edit_set(a, r->type, &o.value, "metadata.labels",
                       one_member(a, "kubernetes.io/bootstrapping", "rbac-defaults"));
    o.value = edit_set(a, r->type, &o.value, "metadata.annotations", one_member(a, AUTO_UPDATE, "true"));
    return o;
}

static const char *label_key(struct arena *a, const char *label)
{
    return arena_printf(a, GROUP "/%s", label);
}

static struct rbac_object make_role(struct arena *a, const struct bootstrap_role *row)
{
    struct rbac_object o = object(a, row->namespace ? "roles" : "clusterroles", row->namespace, row->name);
    const struct type *t = o.resource->type;
    if (row->label) {
        const struct value *labels = value_path(t, &o.value, "metadata.labels");
        o.value = edit_set(a, t, &o.value, "metadata.labels",
                           edit_member(a, labels, str_of(label_key(a, row->label)), edit_text("true")));
    }
    if (row->rules)
        o.value.slots[SLOT_rbac_authorization_v1_Role_rules] = read_rules(a, row->rules);
    if (row->selects) {
        struct value selector = value_struct(a, &schema_types[T_meta_v1_LabelSelector]);
        selector.slots[SLOT_meta_v1_LabelSelector_matchLabels] =
            one_member(a, label_key(a, row->selects), "true");
        o.value = edit_set(a, t, &o.value, "aggregationRule.clusterRoleSelectors",
                           edit_append(a, &(struct value){ 0 }, selector));
    }
    return o;
}

static struct value read_subject(struct arena *a, struct str text)
{
    struct value s = value_struct(a, &schema_types[T_rbac_authorization_v1_Subject]);
    struct str kind = take_until(&text, '/');
    bool account = str_is(kind, "S");
    s.slots[SLOT_rbac_authorization_v1_Subject_kind] = account ? edit_text("ServiceAccount") : value_string(kind);
    s.slots[SLOT_rbac_authorization_v1_Subject_name] = value_string(text);
    if (account)
        s.slots[SLOT_rbac_authorization_v1_Subject_namespace] = edit_text("kube-system");
    else
        s.slots[SLOT_rbac_authorization_v1_Subject_apiGroup] = edit_text(GROUP);
    return s;
}

static struct rbac_object make_binding(struct arena *a, const struct bootstrap_role *row)
{
    struct rbac_object o = object(a, row->namespace ? "rolebindings" : "clusterrolebindings", row->namespace,
                                  row->binding ? row->binding : row->name);
    struct value ref = value_struct(a, &schema_types[T_rbac_authorization_v1_RoleRef]), subjects = { 0 };
    ref.slots[SLOT_rbac_authorization_v1_RoleRef_apiGroup] = edit_text(GROUP);
    ref.slots[SLOT_rbac_authorization_v1_RoleRef_kind] = edit_text(row->namespace ? "Role" : "ClusterRole");
    ref.slots[SLOT_rbac_authorization_v1_RoleRef_name] = edit_text(row->name);
    for (struct str left = str_of(row->bound_to); left.n;)
        subjects = edit_append(a, &subjects, read_subject(a, take_until(&left, ' ')));
    o.value.slots[SLOT_rbac_authorization_v1_RoleBinding_roleRef] = ref;
    o.value.slots[SLOT_rbac_authorization_v1_RoleBinding_subjects] = subjects;
    return o;
}

size_t rbac_bootstrap(struct arena *a, struct rbac_object **ret_objects)
{
    size_t n_rows = 0, n = 0;
    while (bootstrap_roles[n_rows].name)
        n_rows++;
    struct rbac_object *objects = ARENA_NEW_N(a, struct rbac_object, 2 * n_rows);
    for (int namespaced = 0; namespaced < 2; namespaced++) {
        for (const struct bootstrap_role *row = bootstrap_roles; row->name; row++)
            if (!row->namespace == !namespaced)
                objects[n++] = make_role(a, row);
        for (const struct bootstrap_role *row = bootstrap_roles; row->name; row++)
            if (row->bound_to && !row->namespace == !namespaced)
                objects[n++] = make_binding(a, row);
    }
    *ret_objects = objects;
    return n;
}

const struct value *rbac_bootstrap_rules(struct arena *a, struct str name)
{
    const struct bootstrap_role *row = bootstrap_roles;
    while (row->name && !(str_is(name, row->name) && !row->namespace))
        row++;
    assert(row->name);
    struct value *rules = ARENA_NEW(a, struct value);
    *rules = read_rules(a, row->rules);
    return rules;
}

/* ---- What is there already ---- */

struct reconciling {
    struct arena *arena;
    struct rbac_rules there;
    struct value rules; /* the list as it becomes */
    bool changed;
};

static struct value texts(struct arena *a, const struct str_list *l)
{
    struct value list = { 0 };
    for (size_t i = 0; i < l->n; i++)
        list = edit_append(a, &list, value_string(l->at[i]));
    return list;
}

static bool add_missing_part(void *context, const struct rbac_rule *part)
{
    struct reconciling *r = context;
    for (size_t i = 0; i < r->there.n; i++)
        if (rbac_rule_covers(&r->there.at[i], part))
            return true;
    struct value v = value_struct(r->arena, &schema_types[T_rbac_authorization_v1_PolicyRule]);
    v.slots[SLOT_rbac_authorization_v1_PolicyRule_verbs] = texts(r->arena, &part->verbs);
    v.slots[SLOT_rbac_authorization_v1_PolicyRule_apiGroups] = texts(r->arena, &part->groups);
    v.slots[SLOT_rbac_authorization_v1_PolicyRule_resources] = texts(r->arena, &part->resources);
    v.slots[SLOT_rbac_authorization_v1_PolicyRule_resourceNames] = texts(r->arena, &part->names);
    v.slots[SLOT_rbac_authorization_v1_PolicyRule_nonResourceURLs] = texts(r->arena, &part->urls);
    r->rules = edit_append(r->arena, &r->rules, v);
    r->changed = true;
    return true;
}

static bool add_rules(struct arena *a, const struct value *wanted, const struct value *there, struct value *ret_rules)
{
    struct rbac_rules rules = rbac_rules_read(a, wanted);
    struct reconciling r = { a, rbac_rules_read(a, there), *there, false };
    for (size_t i = 0; i < rules.n; i++)
        rbac_rule_parts(&rules.at[i], add_missing_part, &r);
    *ret_rules = r.rules;
    return r.changed;
}

/* Items of the first list that the second one lacks, added to it. */
static bool add_items(struct arena *a, const struct value *wanted, struct value *list)
{
    bool changed = false;
    for (uint32_t i = 0; wanted->kind == VALUE_LIST && i < wanted->n; i++) {
        uint32_t k = 0;
        while (list->kind == VALUE_LIST && k < list->n && !value_equal(&list->items[k], &wanted->items[i]))
            k++;
        if (list->kind == VALUE_LIST && k < list->n)
            continue;
        *list = edit_append(a, list, wanted->items[i]);
        changed = true;
    }
    return changed;
}

static bool add_members(struct arena *a, const struct type *t, const char *path, const struct value *wanted,
                        struct value *object)
{
    const struct value *from = value_path(t, wanted, path);
    struct value map = *value_path(t, object, path);
    bool changed = false;
    for (uint32_t i = 0; from->kind == VALUE_MAP && i < from->n; i++)
        if (!value_member(&map, from->members[i].key)) {
            map = edit_member(a, &map, from->members[i].key, from->members[i].value);
            changed = true;
        }
    if (changed)
        *object = edit_set(a, t, object, path, map);
    return changed;
}

static bool reconcile_role(struct arena *a, const struct rbac_object *wanted, struct value *object)
{
    const struct type *t = wanted->resource->type;
    struct value rules;
    bool changed = add_rules(a, value_path(t, &wanted->value, "rules"), value_path(t, object, "rules"), &rules);
    if (changed)
        *object = edit_set(a, t, object, "rules", rules);
    if (wanted->resource->namespaced)
        return changed;
    const struct value *aggregation = value_path(t, &wanted->value, "aggregationRule");
    if (aggregation->kind != VALUE_STRUCT && value_path(t, object, "aggregationRule")->kind == VALUE_STRUCT) {
        *object = edit_set(a, t, object, "aggregationRule", (struct value){ 0 });
        return true;
    }
    struct value selectors = *value_path(t, object, "aggregationRule.clusterRoleSelectors");
    if (!add_items(a, value_path(t, &wanted->value, "aggregationRule.clusterRoleSelectors"), &selectors))
        return changed;
    *object = edit_set(a, t, object, "aggregationRule.clusterRoleSelectors", selectors);
    return true;
}

static bool reconcile_binding(struct arena *a, const struct rbac_object *wanted, struct value *object)
{
    const struct type *t = wanted->resource->type;
    struct value subjects = *value_path(t, object, "subjects");
    bool changed = add_items(a, value_path(t, &wanted->value, "subjects"), &subjects);
    if (changed)
        *object = edit_set(a, t, object, "subjects", subjects);
    return changed;
}

bool rbac_bootstrap_reconcile(struct arena *a, const struct rbac_object *wanted, const struct value *there,
                              struct value *ret_value, bool *ret_replace)
{
    const struct type *t = wanted->resource->type;
    bool binding = schema_slot(t, STR("roleRef")) >= 0;
    const struct value *auto_update = value_member(value_path(t, there, "metadata.annotations"), STR(AUTO_UPDATE));
    struct value object = *there;
    *ret_replace = false;
    if (auto_update && str_is(value_text(auto_update), "false"))
        return false;
    if (binding && !value_equal(value_path(t, &wanted->value, "roleRef"), value_path(t, there, "roleRef"))) {
        *ret_replace = true;
        return false;
    }
    bool changed = add_members(a, t, "metadata.annotations", &wanted->value, &object);
    changed |= add_members(a, t, "metadata.labels", &wanted->value, &object);
    changed |= binding ? reconcile_binding(a, wanted, &object) : reconcile_role(a, wanted, &object);
    if (changed)
        *ret_value = object;
    return changed;
}
