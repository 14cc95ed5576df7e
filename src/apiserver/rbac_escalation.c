/* apiserver/rbac_escalation.c - see rbac_escalation.h. Upstream: ConfirmNoEscalation in registry/rbac/validation/rule.go,
 * policy_comparator.go, policy_compact.go and registry/rbac/.../policybased. */
#include "apiserver/rbac_escalation.h"

#include "api/schema_slots.h"
#include "apiserver/authz_priv.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"

/* Texts compared for one write: rules multiply out, and every part is compared with every rule that is held. A part that
 * is missing becomes text, which takes as long as some hundred comparisons. */
enum { ESCALATION_COMPARES_MAX = 1 << 24, MISSING_COMPARES = 256 };

/* Parts that are missing and differ in their verb alone are one line of the text. */
struct missing {
    struct rbac_rule rule;
    VEC(struct str) verbs;
};

struct covering {
    struct arena *arena;
    const struct rbac_grants *held;
    uint64_t left; /* of ESCALATION_COMPARES_MAX */
    struct map_str lines; /* struct missing, by all but the verbs */
};

static struct str_list one(struct arena *a, struct str text)
{
    struct str *at = ARENA_NEW(a, struct str);
    *at = text;
    return (struct str_list){ at, 1 };
}

static void charge(struct covering *c, uint64_t compares)
{
    c->left -= compares < c->left ? compares : c->left;
}

static bool is_covered(struct covering *c, const struct rbac_rule *part)
{
    for (size_t g = 0; g < c->held->n; g++) {
        const struct rbac_rules *rules = c->held->at[g].rules;
        for (size_t i = 0; rules && i < rules->n; i++) {
            const struct rbac_rule *r = &rules->at[i];
            charge(c, 1 + r->verbs.n + r->groups.n + r->resources.n + r->names.n + r->urls.n);
            if (rbac_rule_covers(r, part))
                return true;
        }
    }
    return false;
}

static void add_missing(struct covering *c, const struct rbac_rule *part)
{
    struct rbac_rule line = *part;
    struct strbuf key;
    charge(c, MISSING_COMPARES);
    strbuf_init(&key, STRBUF_NO_MAX);
    if (!part->urls.n)
        line.verbs = (struct str_list){ 0 };
    rbac_rule_add_text(&key, &line);
    bool is_new = false;
    union map_value *v = map_str_put(&c->lines, arena_str(c->arena, strbuf_str(&key)), &is_new);
    strbuf_fini(&key);
    if (is_new) {
        v->ptr = ARENA_NEW(c->arena, struct missing);
        ((struct missing *)v->ptr)->rule = line;
    }
    if (is_new || !part->urls.n)
        vec_push(&((struct missing *)v->ptr)->verbs, part->verbs.at[0]);
}

static bool check_part(void *covering, const struct rbac_rule *part)
{
    struct covering *c = covering;
    if (!is_covered(c, part))
        add_missing(c, part);
    return c->left > 0;
}

/* The lines in the order of their texts. */
static void add_lines(struct strbuf *to, struct covering *c)
{
    struct str *lines = ARENA_NEW_N(c->arena, struct str, c->lines.n);
    size_t n = 0;
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&c->lines, slot));) {
        struct missing *m = slot->value.ptr;
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        m->rule.verbs = (struct str_list){ m->verbs.at, m->verbs.n };
        rbac_rule_add_text(&text, &m->rule);
        lines[n++] = arena_str(c->arena, strbuf_str(&text));
        strbuf_fini(&text);
    }
    sort_stable(c->arena, lines, n, sizeof(lines[0]), sort_compare_strs);
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(to, '\n');
        strbuf_add_str(to, lines[i]);
    }
}

static enum err_code refuse(struct covering *c, const struct user *u, struct err *e)
{
    struct strbuf text;
    strbuf_init(&text, ERR_MESSAGE_BYTES_MAX);
    STRBUF_ADD_LIT(&text, "user ");
    strbuf_add_quoted(&text, u->name);
    STRBUF_ADD_LIT(&text, " (groups=");
    str_list_add_quoted(&text, &u->groups);
    STRBUF_ADD_LIT(&text, ") is attempting to grant RBAC permissions not currently held:\n");
    add_lines(&text, c);
    struct str errors = rbac_errors(c->arena, c->held);
    if (errors.n)
        strbuf_printf(&text, "; resolution errors: [%.*s]", STR_ARG(errors));
    err_set(e, ERR_FORBIDDEN, "%.*s", STR_ARG(strbuf_str(&text)));
    strbuf_fini(&text);
    return e->code;
}

static void covering_fini(struct covering *c)
{
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&c->lines, slot));)
        vec_fini(&((struct missing *)slot->value.ptr)->verbs);
    map_str_fini(&c->lines);
}

enum err_code rbac_check_escalation(struct rbac *r, struct arena *a, const struct user *u, struct str namespace,
                                    const struct rbac_rules *rules, struct err *e)
{
    struct rbac_grants held = rbac_grants_of(r, a, u, namespace);
    struct covering c = { .arena = a, .held = &held, .left = ESCALATION_COMPARES_MAX };
    enum err_code rc = ERR_OK;
    map_str_init(&c.lines);
    for (size_t i = 0; c.left && i < rules->n; i++)
        rbac_rule_parts(&rules->at[i], check_part, &c);
    if (c.left == 0)
        rc = err_set(e, ERR_FORBIDDEN, "the rules are too many to be compared with those that the user holds");
    else if (c.lines.n)
        rc = refuse(&c, u, e);
    covering_fini(&c);
    return rc;
}

/* ---- Writes ---- */

static bool may(struct api_authz *z, struct arena *a, const struct user *u, const char *verb, const char *resource,
                struct str namespace, struct str name)
{
    struct authz_attributes q = { .user = u, .verb = str_of(verb), .is_resource = true, .version = STR("*"),
                                  .group = STR("rbac.authorization.k8s.io"), .resource = str_of(resource),
                                  .namespace = namespace, .name = name };
    struct str reason;
    return api_authz_decide(z, a, &q, &reason) == AUTHZ_ALLOW;
}

static struct str name_of(const struct value *object)
{
    const struct value *meta = value_slot(object, SLOT_rbac_authorization_v1_Role_metadata);
    return value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_name));
}

/* Puts `roles.rbac.authorization.k8s.io "x" is forbidden: ` before the message. */
static enum err_code forbid(const struct rbac_write *w, struct err *e)
{
    struct str name = name_of(w->object);
    e->kind = arena_printf(e->arena, "%.*s.%.*s", STR_ARG(w->resource->plural), STR_ARG(w->resource->group));
    e->name = arena_cstr(e->arena, name);
    return err_wrap(e, "%s \"%.*s\" is forbidden", e->kind, STR_ARG(name));
}

/* Whether only what the garbage collector writes differs. */
static bool is_garbage_collection(struct arena *a, const struct value *object, const struct value *old)
{
    static const unsigned free_slots[] = { SLOT_meta_v1_ObjectMeta_ownerReferences, SLOT_meta_v1_ObjectMeta_finalizers,
                                           SLOT_meta_v1_ObjectMeta_selfLink, SLOT_meta_v1_ObjectMeta_managedFields };
    const struct value *old_meta = value_slot(old, SLOT_rbac_authorization_v1_Role_metadata);
    struct value copy = value_copy(a, object);
    struct value *meta = &copy.slots[SLOT_rbac_authorization_v1_Role_metadata];
    if (meta->kind != VALUE_STRUCT || old_meta->kind != VALUE_STRUCT)
        return false;
    for (size_t i = 0; i < sizeof(free_slots) / sizeof(free_slots[0]); i++)
        meta->slots[free_slots[i]] = old_meta->slots[free_slots[i]];
    return value_equal(&copy, old);
}

static bool is_aggregated(const struct value *cluster_role)
{
    const struct value *rule = cluster_role
        ? value_slot(cluster_role, SLOT_rbac_authorization_v1_ClusterRole_aggregationRule) : NULL;
    return rule && value_slot(rule, SLOT_rbac_authorization_v1_AggregationRule_clusterRoleSelectors)->n > 0;
}

/* Who selects roles by labels may gather anything: that takes every right there is. */
static enum err_code check_full_authority(struct api_authz *z, struct arena *a, const struct rbac_write *w, struct err *e)
{
    struct rbac_rule all[] = {
        { .verbs = one(a, STR("*")), .groups = one(a, STR("*")), .resources = one(a, STR("*")) },
        { .verbs = one(a, STR("*")), .urls = one(a, STR("*")) },
    };
    if (!rbac_check_escalation(api_authz_rbac(z), a, w->user, STR(""), &(struct rbac_rules){ all, 2 }, e))
        return ERR_OK;
    err_set(e, ERR_FORBIDDEN, "must have cluster-admin privileges to use the aggregationRule");
    return forbid(w, e);
}

static enum err_code check_role(struct api_authz *z, struct arena *a, const struct rbac_write *w, struct err *e)
{
    if (may(z, a, w->user, "escalate", arena_cstr(a, w->resource->plural), w->namespace, w->name))
        return ERR_OK;
    if (w->old && is_garbage_collection(a, w->object, w->old))
        return ERR_OK;
    struct rbac_rules rules = rbac_rules_read(a, value_slot(w->object, SLOT_rbac_authorization_v1_Role_rules));
    if (rbac_check_escalation(api_authz_rbac(z), a, w->user, w->namespace, &rules, e))
        return forbid(w, e);
    if (!w->resource->namespaced && (is_aggregated(w->object) || is_aggregated(w->old)))
        return check_full_authority(z, a, w, e);
    return ERR_OK;
}

static enum err_code check_binding(struct api_authz *z, struct arena *a, const struct rbac_write *w, struct err *e)
{
    const struct value *ref = value_slot(w->object, SLOT_rbac_authorization_v1_RoleBinding_roleRef);
    struct str kind = value_text(value_slot(ref, SLOT_rbac_authorization_v1_RoleRef_kind));
    struct str role = value_text(value_slot(ref, SLOT_rbac_authorization_v1_RoleRef_name));
    const struct rbac_rules *rules;
    if (w->old && is_garbage_collection(a, w->object, w->old))
        return ERR_OK;
    if (may(z, a, w->user, "bind", str_is(kind, "Role") ? "roles" : "clusterroles", w->namespace, role))
        return ERR_OK;
    if (rbac_role_rules(api_authz_rbac(z), kind, role, w->namespace, &rules, e)) {
        /* As upstream: what is not found is named by what the request is for. */
        e->kind = arena_printf(e->arena, "%.*s.%.*s", STR_ARG(w->resource->plural), STR_ARG(w->resource->group));
        e->name = arena_cstr(e->arena, role);
        return err_set(e, ERR_NOT_FOUND, "%s \"%s\" not found", e->kind, e->name);
    }
    return rbac_check_escalation(api_authz_rbac(z), a, w->user, w->namespace, rules, e) ? forbid(w, e) : ERR_OK;
}

enum err_code api_authz_check_rbac_write(struct api_authz *z, struct arena *a, const struct rbac_write *w, struct err *e)
{
    bool role = str_is(w->resource->plural, "roles") || str_is(w->resource->plural, "clusterroles");
    bool binding = str_is(w->resource->plural, "rolebindings") || str_is(w->resource->plural, "clusterrolebindings");
    if (!str_is(w->resource->group, "rbac.authorization.k8s.io") || (!role && !binding))
        return ERR_OK;
    if (!api_authz_rbac(z) || str_list_has(&w->user->groups, STR(GROUP_MASTERS)))
        return ERR_OK;
    return role ? check_role(z, a, w, e) : check_binding(z, a, w, e);
}
