/* apiserver/token_request.c - see token_request.h. Upstream: registry/core/serviceaccount/storage/token.go. */
#include "apiserver/token_request.h"

#include "api/edit.h"
#include "api/schema_slots.h"
#include "apiserver/rbac_rule.h"
#include "apiserver/status_object.h"

#define KIND "TokenRequest.authentication.k8s.io"

enum {
    EXPIRATION_MIN_S = 600,
    EXPIRATION_DEFAULT_S = 3600,
    EXPIRATION_WARN_S = 3607, /* what kubelets ask for, for pods that have not learned to read their token again */
    EXPIRATION_EXTENDED_S = 365 * 24 * 3600,
};
#define EXPIRATION_BOUND_S (1ll << 32)

static const struct type *request_type(void)
{
    return &schema_types[T_authentication_v1_TokenRequest];
}

static struct str text(const struct type *t, const struct value *v, const char *path)
{
    return value_text(value_path(t, v, path));
}

static enum err_code not_found(const char *plural, struct str name, struct err *e)
{
    e->kind = plural;
    e->name = arena_cstr(e->arena, name);
    return err_set(e, ERR_NOT_FOUND, "%s \"%.*s\" not found", plural, STR_ARG(name));
}

static enum err_code conflict(const char *kind, struct str name, const char *why, struct err *e)
{
    e->kind = kind;
    e->name = arena_cstr(e->arena, name);
    return err_set(e, ERR_CONFLICT, "Operation cannot be fulfilled on %s \"%.*s\": %s", kind, STR_ARG(name), why);
}

/* ---- What the request says ---- */

static enum err_code check_names(const struct value *in, struct str namespace, struct str name,
                                 struct field_errors *errs, struct err *e)
{
    struct str own_name = text(request_type(), in, "metadata.name");
    struct str own_namespace = text(request_type(), in, "metadata.namespace");
    struct field_path meta = field_child(NULL, "metadata"), at_name = field_child(&meta, "name");
    struct field_path at_namespace = field_child(&meta, "namespace");
    if (own_name.n && !str_eq(own_name, name))
        field_invalid(errs, &at_name, field_str(own_name), STR("must match the service account name if specified"));
    else if (own_namespace.n && !str_eq(own_namespace, namespace))
        field_invalid(errs, &at_namespace, field_str(own_namespace),
                      STR("must match the service account namespace if specified"));
    return errs->n ? status_invalid(KIND, arena_cstr(e->arena, name), errs, e) : ERR_OK;
}

static int64_t expiration_of(const struct value *in)
{
    const struct value *v = value_path(request_type(), in, "spec.expirationSeconds");
    return v->kind == VALUE_INT ? v->i : EXPIRATION_DEFAULT_S;
}

static enum err_code check_expiration(int64_t seconds, struct field_errors *errs, struct err *e)
{
    struct field_path spec = field_child(NULL, "spec"), at = field_child(&spec, "expirationSeconds");
    if (seconds < EXPIRATION_MIN_S)
        field_invalid(errs, &at, field_int(seconds), STR("may not specify a duration less than 10 minutes"));
    if (seconds > EXPIRATION_BOUND_S)
        field_invalid(errs, &at, field_int(seconds), STR("may not specify a duration larger than 2^32 seconds"));
    return errs->n ? status_invalid(KIND, "", errs, e) : ERR_OK;
}

/* ---- What it is bound to ---- */

static enum err_code get(const struct token_request_context *c, const char *plural, struct str namespace,
                         struct str name, const struct value **ret_object, struct str *ret_uid, struct err *e)
{
    const struct resource *r = stored_resource(plural, "");
    const struct value *object = stored_get(c->objects, r, namespace, name);
    if (!object)
        return not_found(plural, name, e);
    *ret_object = object;
    *ret_uid = text(r->type, object, "metadata.uid");
    return ERR_OK;
}

/* The node that it runs on is told, with its uid if it is there. */
static enum err_code bind_pod(const struct token_request_context *c, struct sa_claims *claims, struct str *ret_uid,
                              struct err *e)
{
    const struct value *pod = NULL, *node;
    const struct type *t = &schema_types[T_core_v1_Pod];
    struct err none;
    err_init(&none, c->arena);
    if (get(c, "pods", claims->namespace, claims->pod_name, &pod, ret_uid, e))
        return e->code;
    if (!str_eq(text(t, pod, "spec.serviceAccountName"), claims->name))
        return err_set(e, ERR_BAD_REQUEST,
                       "cannot bind token for serviceaccount \"%.*s\" to pod running with different serviceaccount name.",
                       STR_ARG(claims->name));
    claims->pod_uid = *ret_uid;
    claims->node_name = text(t, pod, "spec.nodeName");
    if (claims->node_name.n && get(c, "nodes", STR(""), claims->node_name, &node, &claims->node_uid, &none))
        claims->node_uid = STR("");
    return ERR_OK;
}

static enum err_code bind_to(const struct token_request_context *c, const struct value *ref, struct sa_claims *claims,
                             struct err *e)
{
    struct str kind = value_text(value_slot(ref, SLOT_authentication_v1_BoundObjectReference_kind));
    struct str version = value_text(value_slot(ref, SLOT_authentication_v1_BoundObjectReference_apiVersion));
    struct str name = value_text(value_slot(ref, SLOT_authentication_v1_BoundObjectReference_name));
    struct str uid = value_text(value_slot(ref, SLOT_authentication_v1_BoundObjectReference_uid)), found = STR("");
    struct str group, short_version;
    const struct value *object;
    enum err_code rc;
    schema_split_api_version(version, &group, &short_version);
    if (group.n == 0 && str_is(kind, "Pod")) {
        claims->pod_name = name;
        rc = bind_pod(c, claims, &found, e);
    } else if (group.n == 0 && str_is(kind, "Node")) {
        claims->node_name = name;
        rc = get(c, "nodes", STR(""), name, &object, &found, e);
        claims->node_uid = found;
    } else if (group.n == 0 && str_is(kind, "Secret")) {
        claims->secret_name = name;
        rc = get(c, "secrets", claims->namespace, name, &object, &found, e);
        claims->secret_uid = found;
    } else {
        return err_set(e, ERR_BAD_REQUEST, "cannot bind token to object of type %.*s/%.*s, Kind=%.*s", STR_ARG(group),
                       STR_ARG(short_version), STR_ARG(kind));
    }
    if (rc || uid.n == 0 || str_eq(uid, found))
        return rc;
    return conflict(arena_cstr(c->arena, kind), name,
                    arena_printf(c->arena, "the UID in the bound object reference (%.*s) does not match the UID in record. "
                                           "The object might have been deleted and then recreated", STR_ARG(uid)), e);
}

/* ---- The answer ---- */

static bool all_ours(const struct sa_tokens *t, const struct str_list *audiences)
{
    struct str_list ours = sa_tokens_audiences(t);
    for (size_t i = 0; i < audiences->n; i++)
        if (!str_list_has(&ours, audiences->at[i]))
            return false;
    return true;
}

/* How long it is good for, which may be longer than it is said to be. */
static void set_times(const struct token_request_context *c, int64_t seconds, struct sa_claims *claims)
{
    claims->now_s = c->now_s;
    claims->expires_s = c->now_s + seconds;
    if (c->extend && claims->pod_name.n && seconds == EXPIRATION_WARN_S && all_ours(c->tokens, &claims->audiences)) {
        claims->warn_after_s = claims->expires_s;
        claims->expires_s = c->now_s + EXPIRATION_EXTENDED_S;
    }
}

static struct value finish(const struct token_request_context *c, const struct value *in, const struct sa_claims *claims,
                           int64_t seconds, struct str token)
{
    const struct type *t = request_type();
    struct arena *a = c->arena;
    struct value out = *in, audiences = { 0 };
    for (size_t i = 0; i < claims->audiences.n; i++)
        audiences = edit_append(a, &audiences, value_string(claims->audiences.at[i]));
    out = edit_set(a, t, &out, "metadata.name", value_string(claims->name));
    out = edit_set(a, t, &out, "metadata.namespace", value_string(claims->namespace));
    out = edit_set(a, t, &out, "metadata.uid", value_string(claims->uid));
    out = edit_set(a, t, &out, "metadata.creationTimestamp", value_time(c->now_s, 0));
    out = edit_set(a, t, &out, "spec.audiences", audiences);
    out = edit_set(a, t, &out, "spec.expirationSeconds", value_int(seconds));
    out = edit_set(a, t, &out, "status.token", value_string(token));
    return edit_set(a, t, &out, "status.expirationTimestamp", value_time(c->now_s + seconds, 0));
}

static int64_t shorten(const struct token_request_context *c, int64_t seconds)
{
    int64_t max_s = sa_tokens_max_expiration_s(c->tokens);
    if (max_s <= 0 || seconds <= max_s)
        return seconds;
    warnings_add(c->warnings, "requested expiration of %lld seconds shortened to %lld seconds", (long long)seconds,
                 (long long)max_s);
    return max_s;
}

enum err_code token_request_answer(const struct token_request_context *c, struct str namespace, struct str name,
                                   const struct value *in, struct value *ret_out, struct field_errors *errs,
                                   struct err *e)
{
    const struct value *account = NULL, *ref = value_path(request_type(), in, "spec.boundObjectRef");
    struct str uid = text(request_type(), in, "metadata.uid"), token;
    struct sa_claims claims = { .namespace = namespace, .name = name, .uid = STR("") };
    int64_t seconds = expiration_of(in);
    if (check_names(in, namespace, name, errs, e))
        return e->code;
    if (get(c, "serviceaccounts", namespace, name, &account, &claims.uid, e))
        return e->code;
    if (uid.n && !str_eq(uid, claims.uid))
        return conflict(KIND, name, arena_printf(c->arena, "the UID in the token request (%.*s) does not match the UID of "
                                                           "the service account (%.*s)", STR_ARG(uid),
                                                 STR_ARG(claims.uid)), e);
    claims.audiences = str_list_of_value(c->arena, value_path(request_type(), in, "spec.audiences"));
    if (claims.audiences.n == 0)
        claims.audiences = sa_tokens_audiences(c->tokens);
    if (check_expiration(seconds, errs, e) || (ref->kind == VALUE_STRUCT && bind_to(c, ref, &claims, e)))
        return e->code;
    seconds = shorten(c, seconds);
    set_times(c, seconds, &claims);
    if (sa_token_make(c->tokens, c->arena, &claims, &token, e))
        return e->code;
    *ret_out = finish(c, in, &claims, seconds, token);
    return ERR_OK;
}
