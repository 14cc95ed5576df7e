/* apiserver/authz.c - see authz.h. Upstream: authorization/union, authorizerfactory/builtin.go and
 * handlers/responsewriters/errors.go. */
#include "apiserver/authz.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "apiserver/authz_priv.h"
#include "apiserver/rbac_bootstrap.h"
#include "apiserver/rbac_escalation.h"
#include "base/vec.h"

enum mode { MODE_ALWAYS_ALLOW, MODE_ALWAYS_DENY, MODE_RBAC, MODE_NODE, N_MODES };

static const char *const mode_names[N_MODES] = { "AlwaysAllow", "AlwaysDeny", "RBAC", "Node" };

struct api_authz {
    struct stored *objects;
    enum mode modes[N_MODES];
    size_t n_modes;
    struct rbac *rbac;
    struct arena arena;
    struct rbac_rules node_rules; /* what all nodes may do */
};

struct rbac *api_authz_rbac(struct api_authz *z)
{
    return z->rbac;
}

/* ---- Decisions ---- */

static enum authz_verdict ask_mode(struct api_authz *z, enum mode m, struct arena *a, const struct authz_attributes *q,
                                   struct str *ret_reason)
{
    *ret_reason = STR("");
    switch (m) {
    case MODE_ALWAYS_ALLOW:
        return AUTHZ_ALLOW;
    case MODE_ALWAYS_DENY:
        *ret_reason = STR("Everything is forbidden.");
        return AUTHZ_NO_OPINION;
    case MODE_RBAC:
        return rbac_decide(z->rbac, a, q, ret_reason);
    case MODE_NODE:
        return authz_node_decide(z->objects, &z->node_rules, a, q, ret_reason);
    default:
        return AUTHZ_NO_OPINION;
    }
}

enum authz_verdict api_authz_decide(struct api_authz *z, struct arena *a, const struct authz_attributes *q,
                                    struct str *ret_reason)
{
    struct str reasons = STR("");
    *ret_reason = STR("");
    if (str_list_has(&q->user->groups, STR(GROUP_MASTERS)))
        return AUTHZ_ALLOW;
    for (size_t i = 0; i < z->n_modes; i++) {
        struct str reason;
        enum authz_verdict v = ask_mode(z, z->modes[i], a, q, &reason);
        if (v != AUTHZ_NO_OPINION) {
            *ret_reason = reason;
            return v;
        }
        if (reason.n && reasons.n)
            reasons = str_of(arena_printf(a, "%.*s\n%.*s", STR_ARG(reasons), STR_ARG(reason)));
        else if (reason.n)
            reasons = reason;
    }
    *ret_reason = reasons;
    return AUTHZ_NO_OPINION;
}

/* ---- Refusals ---- */

/* `User "u" cannot get resource "pods" in API group "" in the namespace "n"` */
static void add_refusal(struct strbuf *to, const struct authz_attributes *q)
{
    STRBUF_ADD_LIT(to, "User ");
    strbuf_add_quoted_shown(to, q->user->name);
    strbuf_printf(to, " cannot %.*s ", STR_ARG(q->verb));
    if (!q->is_resource) {
        STRBUF_ADD_LIT(to, "path ");
        strbuf_add_quoted_shown(to, q->path);
        return;
    }
    struct strbuf resource;
    strbuf_init(&resource, STRBUF_NO_MAX);
    strbuf_add_str(&resource, q->resource);
    if (q->subresource.n) {
        strbuf_add_char(&resource, '/');
        strbuf_add_str(&resource, q->subresource);
    }
    STRBUF_ADD_LIT(to, "resource ");
    strbuf_add_quoted_shown(to, strbuf_str(&resource));
    strbuf_fini(&resource);
    STRBUF_ADD_LIT(to, " in API group ");
    strbuf_add_quoted_shown(to, q->group);
    if (q->namespace.n) {
        STRBUF_ADD_LIT(to, " in the namespace ");
        strbuf_add_quoted_shown(to, q->namespace);
    } else {
        STRBUF_ADD_LIT(to, " at the cluster scope");
    }
}

/* As upstream: nothing that a browser could take for a page. */
static void add_harmless(struct strbuf *to, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '&')
            STRBUF_ADD_LIT(to, "&amp;");
        else if (text.p[i] == '<')
            STRBUF_ADD_LIT(to, "&lt;");
        else if (text.p[i] == '>')
            STRBUF_ADD_LIT(to, "&gt;");
        else
            strbuf_add_char(to, text.p[i]);
    }
}

/* `pods "x" is forbidden: `, with the group behind the resource. */
static void add_subject(struct strbuf *to, const struct authz_attributes *q, struct err *e)
{
    if (!q->is_resource || q->resource.n == 0) {
        e->kind = "";
        STRBUF_ADD_LIT(to, "forbidden: ");
        return;
    }
    e->kind = arena_printf(e->arena, "%.*s%s%.*s", STR_ARG(q->resource), q->group.n ? "." : "", STR_ARG(q->group));
    strbuf_add_text(to, e->kind);
    if (q->name.n) {
        e->name = arena_cstr(e->arena, q->name);
        strbuf_add_char(to, ' ');
        strbuf_add_quoted_shown(to, q->name);
    }
    STRBUF_ADD_LIT(to, " is forbidden: ");
}

enum err_code api_authz_refuse(const struct authz_attributes *q, struct str reason, struct err *e)
{
    struct strbuf refusal, text;
    strbuf_init(&refusal, STRBUF_NO_MAX);
    strbuf_init(&text, STRBUF_NO_MAX);
    e->kind = e->name = NULL;
    add_refusal(&refusal, q);
    add_subject(&text, q, e);
    add_harmless(&text, strbuf_str(&refusal));
    if (reason.n) {
        STRBUF_ADD_LIT(&text, ": ");
        strbuf_add_shown(&text, reason);
    }
    err_set(e, ERR_FORBIDDEN, "%.*s", STR_ARG(strbuf_str(&text)));
    strbuf_fini(&refusal);
    strbuf_fini(&text);
    return e->code;
}

/* ---- Rules of a user ---- */

struct rules_found {
    struct arena *arena;
    VEC(struct value) resource, other;
};

static struct value text_list(struct arena *a, const struct str_list *l)
{
    struct value *items = ARENA_NEW_N(a, struct value, l->n);
    for (size_t i = 0; i < l->n; i++)
        items[i] = value_string(arena_str(a, l->at[i]));
    return value_list(items, (uint32_t)l->n);
}

static void add_rule(struct rules_found *f, const struct rbac_rule *r)
{
    struct arena *a = f->arena;
    if (r->resources.n) {
        struct value v = value_struct(a, &schema_types[T_authorization_v1_ResourceRule]);
        v.slots[SLOT_authorization_v1_ResourceRule_verbs] = text_list(a, &r->verbs);
        v.slots[SLOT_authorization_v1_ResourceRule_apiGroups] = text_list(a, &r->groups);
        v.slots[SLOT_authorization_v1_ResourceRule_resources] = text_list(a, &r->resources);
        if (r->names.n)
            v.slots[SLOT_authorization_v1_ResourceRule_resourceNames] = text_list(a, &r->names);
        vec_push(&f->resource, v);
    }
    if (r->urls.n) {
        struct value v = value_struct(a, &schema_types[T_authorization_v1_NonResourceRule]);
        v.slots[SLOT_authorization_v1_NonResourceRule_verbs] = text_list(a, &r->verbs);
        v.slots[SLOT_authorization_v1_NonResourceRule_nonResourceURLs] = text_list(a, &r->urls);
        vec_push(&f->other, v);
    }
}

static void add_everything(struct rules_found *f)
{
    static const struct str any = { "*", 1 };
    struct str_list all = { &any, 1 };
    add_rule(f, &(struct rbac_rule){ .verbs = all, .groups = all, .resources = all });
    add_rule(f, &(struct rbac_rule){ .verbs = all, .urls = all });
}

static struct str add_granted(struct rules_found *f, struct rbac *r, const struct user *u, struct str namespace)
{
    struct rbac_grants grants = rbac_grants_of(r, f->arena, u, namespace);
    for (size_t i = 0; i < grants.n; i++)
        for (size_t k = 0; grants.at[i].rules && k < grants.at[i].rules->n; k++)
            add_rule(f, &grants.at[i].rules->at[k]);
    return rbac_errors(f->arena, &grants);
}

static struct value *take(struct arena *a, const struct value *at, size_t n)
{
    struct value *copy = ARENA_NEW_N(a, struct value, n);
    if (n)
        memcpy(copy, at, n * sizeof(*copy));
    return copy;
}

/* As upstream's Aggregate of several errors. */
static void add_error(struct arena *a, struct str error, struct authz_rules *r)
{
    if (r->error.n && error.n)
        r->error = str_of(arena_printf(a, "[%.*s, %.*s]", STR_ARG(r->error), STR_ARG(error)));
    else if (error.n)
        r->error = error;
}

void api_authz_rules(struct api_authz *z, struct arena *a, const struct user *u, struct str namespace,
                     struct authz_rules *ret_rules)
{
    struct rules_found f = { .arena = a };
    struct authz_rules r = { .error = STR("") };
    for (size_t i = 0; i < z->n_modes; i++) {
        if (z->modes[i] == MODE_ALWAYS_ALLOW)
            add_everything(&f);
        if (z->modes[i] == MODE_RBAC)
            add_error(a, add_granted(&f, z->rbac, u, namespace), &r);
        if (z->modes[i] == MODE_NODE && authz_node_of(u).p) {
            r.incomplete = true;
            add_error(a, STR("node authorizer does not support user rule resolution"), &r);
        }
    }
    r.resource_rules = take(a, f.resource.at, f.resource.n);
    r.n_resource_rules = (uint32_t)f.resource.n;
    r.non_resource_rules = take(a, f.other.at, f.other.n);
    r.n_non_resource_rules = (uint32_t)f.other.n;
    vec_fini(&f.resource);
    vec_fini(&f.other);
    *ret_rules = r;
}

enum err_code api_authz_check_escalation(struct api_authz *z, struct arena *a, const struct user *u,
                                         struct str namespace, const struct value *rules, struct err *e)
{
    struct rbac_rules wanted = rbac_rules_read(a, rules);
    return rbac_check_escalation(z->rbac, a, u, namespace, &wanted, e);
}

/* ---- Beginning and end ---- */

static enum err_code read_mode(const char *name, enum mode *ret_mode, struct err *e)
{
    for (unsigned m = 0; m < N_MODES; m++)
        if (strcmp(name, mode_names[m]) == 0) {
            *ret_mode = m;
            return ERR_OK;
        }
    return err_set(e, ERR_INVALID, "authorization-mode \"%s\" is not a valid mode", name);
}

static enum err_code read_modes(struct api_authz *z, const char *const *names, struct err *e)
{
    bool seen[N_MODES] = { 0 };
    if (!names || !*names)
        return err_set(e, ERR_INVALID, "at least one authorization-mode must be passed");
    for (; *names; names++) {
        enum mode m = MODE_ALWAYS_DENY;
        if (read_mode(*names, &m, e))
            return e->code;
        if (seen[m])
            return err_set(e, ERR_INVALID, "authorization-mode \"%s\" has mode specified more than once", *names);
        seen[m] = true;
        z->modes[z->n_modes++] = m;
    }
    return ERR_OK;
}

enum err_code api_authz_new(const struct api_authz_options *o, struct api_authz **ret_authz, struct err *e)
{
    struct api_authz *z = mem_zalloc(sizeof(*z));
    z->objects = o->objects;
    arena_init(&z->arena);
    if (read_modes(z, o->modes, e)) {
        api_authz_free(z);
        return e->code;
    }
    z->rbac = rbac_new(o->objects);
    z->node_rules = rbac_rules_read(&z->arena, rbac_bootstrap_rules(&z->arena, STR("system:node")));
    *ret_authz = z;
    return ERR_OK;
}

void api_authz_free(struct api_authz *z)
{
    if (!z)
        return;
    rbac_free(z->rbac);
    arena_fini(&z->arena);
    free(z);
}
