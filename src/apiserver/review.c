/* apiserver/review.c - see review.h. Upstream: registry/authorization and registry/authentication. */
#include "apiserver/review.h"

#include "api/edit.h"
#include "api/schema_slots.h"
#include "apiserver/review_access.h"
#include "apiserver/status_object.h"
#include "codec/json.h"

/* As upstream: the kind is lost on the way, its group is not. */
#define INVALID_KIND ".authorization.k8s.io"

typedef enum err_code answerer(const struct review_context *c, const struct type *t, const struct value *in,
                               struct value *ret_out, struct field_errors *errs, struct err *e);

/* ---- Access ---- */

static bool has_more_than_namespace(const struct value *meta, bool namespace_too)
{
    for (uint32_t i = 0; meta->kind == VALUE_STRUCT && i < meta->n; i++)
        if (meta->slots[i].kind != VALUE_ABSENT && i != SLOT_meta_v1_ObjectMeta_managedFields &&
            (namespace_too || i != SLOT_meta_v1_ObjectMeta_namespace))
            return true;
    return false;
}

static void check_metadata(struct arena *a, const struct value *meta, bool local, struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "metadata");
    if (!has_more_than_namespace(meta, !local))
        return;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, &schema_types[T_meta_v1_ObjectMeta], meta);
    field_invalid(errs, &at, field_json(field_take_text(a, &json)),
                  local ? STR("must be empty except for namespace") : STR("must be empty"));
}

/* A local review is about its namespace, and about objects. */
static void check_local(const struct type *t, const struct value *in, struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "spec"), resource = field_child(&at, "resourceAttributes");
    struct field_path namespace = field_child(&resource, "namespace"), path = field_child(&at, "nonResourceAttributes");
    struct str own = value_text(value_path(t, in, "metadata.namespace"));
    struct str asked = value_text(value_path(t, in, "spec.resourceAttributes.namespace"));
    const struct value *attributes = value_path(t, in, "spec.nonResourceAttributes");
    if (value_path(t, in, "spec.resourceAttributes")->kind == VALUE_STRUCT && !str_eq(own, asked))
        field_invalid(errs, &namespace, field_str(asked), STR("must match metadata.namespace"));
    if (attributes->kind == VALUE_STRUCT)
        field_invalid(errs, &path, access_shown_path(errs->arena, attributes), STR("disallowed on this kind of request"));
}

static struct value answer_access(const struct review_context *c, struct access_question *q)
{
    struct value status = value_struct(c->arena, &schema_types[T_authorization_v1_SubjectAccessReviewStatus]);
    struct str reason = STR("");
    enum authz_verdict v = c->authz ? api_authz_decide(c->authz, c->arena, &q->attributes, &reason) : AUTHZ_ALLOW;
    status.slots[SLOT_authorization_v1_SubjectAccessReviewStatus_allowed] = value_bool(v == AUTHZ_ALLOW);
    if (v == AUTHZ_DENY)
        status.slots[SLOT_authorization_v1_SubjectAccessReviewStatus_denied] = value_bool(true);
    if (reason.n)
        status.slots[SLOT_authorization_v1_SubjectAccessReviewStatus_reason] = value_string(reason);
    if (q->evaluation_error.n)
        status.slots[SLOT_authorization_v1_SubjectAccessReviewStatus_evaluationError] = value_string(q->evaluation_error);
    return status;
}

static enum err_code access(const struct review_context *c, const struct type *t, const struct value *in,
                            struct value *ret_out, struct field_errors *errs, struct err *e)
{
    bool self = t == &schema_types[T_authorization_v1_SelfSubjectAccessReview];
    bool local = t == &schema_types[T_authorization_v1_LocalSubjectAccessReview];
    const struct type *spec_type = &schema_types[self ? T_authorization_v1_SelfSubjectAccessReviewSpec
                                                      : T_authorization_v1_SubjectAccessReviewSpec];
    const struct value *spec = value_path(t, in, "spec");
    struct value none = value_struct(c->arena, spec_type);
    struct access_question q;
    if (spec->kind != VALUE_STRUCT)
        spec = &none;
    access_check_spec(spec_type, spec, self, errs);
    check_metadata(c->arena, value_path(t, in, "metadata"), local, errs);
    if (local)
        check_local(t, in, errs);
    if (errs->n)
        return status_invalid(INVALID_KIND, "", errs, e);
    struct user named = self ? *c->user : access_read_user(c->arena, spec);
    access_read(c->arena, spec_type, spec, &named, &q);
    *ret_out = edit_set(c->arena, t, in, "status", answer_access(c, &q));
    return ERR_OK;
}

/* ---- Rules ---- */

static enum err_code rules(const struct review_context *c, const struct type *t, const struct value *in,
                           struct value *ret_out, struct field_errors *errs, struct err *e)
{
    (void)errs;
    struct value status = value_struct(c->arena, &schema_types[T_authorization_v1_SubjectRulesReviewStatus]);
    struct str namespace = value_text(value_path(t, in, "spec.namespace"));
    struct authz_rules r = { 0 };
    if (namespace.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "no namespace on request");
    if (c->authz)
        api_authz_rules(c->authz, c->arena, c->user, namespace, &r);
    status.slots[SLOT_authorization_v1_SubjectRulesReviewStatus_resourceRules] =
        value_list(r.resource_rules, r.n_resource_rules);
    status.slots[SLOT_authorization_v1_SubjectRulesReviewStatus_nonResourceRules] =
        value_list(r.non_resource_rules, r.n_non_resource_rules);
    status.slots[SLOT_authorization_v1_SubjectRulesReviewStatus_incomplete] = value_bool(r.incomplete);
    if (r.error.n)
        status.slots[SLOT_authorization_v1_SubjectRulesReviewStatus_evaluationError] = value_string(r.error);
    /* As upstream: the answer is an object of its own, which does not repeat the question. */
    struct value out = value_struct(c->arena, t);
    out.slots[SLOT_KIND] = in->slots[SLOT_KIND];
    out.slots[SLOT_API_VERSION] = in->slots[SLOT_API_VERSION];
    *ret_out = edit_set(c->arena, t, &out, "status", status);
    return ERR_OK;
}

/* ---- Who somebody is ---- */

static struct value list_of(struct arena *a, const struct str_list *l)
{
    struct value *items = ARENA_NEW_N(a, struct value, l->n);
    for (size_t i = 0; i < l->n; i++)
        items[i] = value_string(l->at[i]);
    return value_list(items, (uint32_t)l->n);
}

static struct value user_info(struct arena *a, const struct user *u)
{
    struct value v = value_struct(a, &schema_types[T_authentication_v1_UserInfo]);
    struct member *extra = ARENA_NEW_N(a, struct member, u->n_extra);
    for (size_t i = 0; i < u->n_extra; i++)
        extra[i] = (struct member){ u->extra[i].key, list_of(a, &u->extra[i].values) };
    v.slots[SLOT_authentication_v1_UserInfo_username] = value_string(u->name);
    if (u->uid.n)
        v.slots[SLOT_authentication_v1_UserInfo_uid] = value_string(u->uid);
    v.slots[SLOT_authentication_v1_UserInfo_groups] = list_of(a, &u->groups);
    if (u->n_extra)
        v.slots[SLOT_authentication_v1_UserInfo_extra] = value_map(extra, (uint32_t)u->n_extra);
    return v;
}

static enum err_code myself(const struct review_context *c, const struct type *t, const struct value *in,
                            struct value *ret_out, struct field_errors *errs, struct err *e)
{
    (void)errs;
    (void)e;
    struct value out = value_struct(c->arena, t);
    out.slots[SLOT_KIND] = in->slots[SLOT_KIND];
    out.slots[SLOT_API_VERSION] = in->slots[SLOT_API_VERSION];
    out = edit_set(c->arena, t, &out, "metadata.creationTimestamp", value_time(c->now_s, 0));
    *ret_out = edit_set(c->arena, t, &out, "status.userInfo", user_info(c->arena, c->user));
    return ERR_OK;
}

static enum err_code token(const struct review_context *c, const struct type *t, const struct value *in,
                           struct value *ret_out, struct field_errors *errs, struct err *e)
{
    (void)errs;
    const struct value *wanted = value_path(t, in, "spec.audiences");
    struct value status = value_struct(c->arena, &schema_types[T_authentication_v1_TokenReviewStatus]);
    struct str text = value_text(value_path(t, in, "spec.token"));
    struct str *at = ARENA_NEW_N(c->arena, struct str, wanted->kind == VALUE_LIST ? wanted->n : 0);
    struct str_list audiences = { at, wanted->kind == VALUE_LIST ? wanted->n : 0 }, fitting = { 0 };
    const struct user *u;
    struct err why;
    if (text.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "token is required for TokenReview in authentication");
    for (size_t i = 0; i < audiences.n; i++)
        at[i] = value_text(&wanted->items[i]);
    err_init(&why, c->arena);
    if (!c->authn) {
        *ret_out = edit_set(c->arena, t, in, "status", status);
        return ERR_OK;
    }
    if (api_authn_review(c->authn, c->arena, text, audiences, c->now_s, &u, &fitting, &why)) {
        status.slots[SLOT_authentication_v1_TokenReviewStatus_error] = edit_text(why.message);
    } else {
        status.slots[SLOT_authentication_v1_TokenReviewStatus_authenticated] = value_bool(true);
        status.slots[SLOT_authentication_v1_TokenReviewStatus_user] = user_info(c->arena, u);
        status.slots[SLOT_authentication_v1_TokenReviewStatus_audiences] = list_of(c->arena, &fitting);
    }
    *ret_out = edit_set(c->arena, t, in, "status", status);
    return ERR_OK;
}

/* ---- Which kind is answered how ---- */

static const struct {
    unsigned type;
    answerer *answer;
} kinds[] = {
    { T_authentication_v1_SelfSubjectReview, myself },
    { T_authentication_v1_TokenReview, token },
    { T_authorization_v1_LocalSubjectAccessReview, access },
    { T_authorization_v1_SelfSubjectAccessReview, access },
    { T_authorization_v1_SelfSubjectRulesReview, rules },
    { T_authorization_v1_SubjectAccessReview, access },
};

static answerer *answerer_of(const struct type *t)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (t == &schema_types[kinds[i].type])
            return kinds[i].answer;
    return NULL;
}

bool review_is(const struct type *t)
{
    return answerer_of(t) != NULL;
}

/* The namespace of an object is that of the request, or none. */
static struct value in_namespace(struct arena *a, const struct type *t, const struct value *in, struct str namespace)
{
    if (str_eq(value_text(value_path(t, in, "metadata.namespace")), namespace))
        return *in;
    return edit_set(a, t, in, "metadata.namespace", namespace.n ? value_string(namespace) : (struct value){ 0 });
}

enum err_code review_answer(const struct review_context *c, const struct type *t, struct str namespace,
                            const struct value *in, struct value *ret_out, struct field_errors *errs, struct err *e)
{
    answerer *answer = answerer_of(t);
    if (!answer)
        return err_set(e, ERR_BAD_REQUEST, "not a review: %.*s", STR_ARG(t->kind));
    struct value placed = in_namespace(c->arena, t, in, namespace);
    return answer(c, t, &placed, ret_out, errs, e);
}
