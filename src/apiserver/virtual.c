/* apiserver/virtual.c - what is served but not stored: component statuses, bindings. */
#include "api/defaults.h"
#include "api/edit.h"
#include "apiserver/exchange.h"
#include "apiserver/registry_priv.h"
#include "apiserver/review.h"
#include "apiserver/subresource.h"
#include "apiserver/token_request.h"
#include "codec/json.h"

/* ---- componentstatuses ---- */

static const char *const components[] = { "controller-manager", "etcd-0", "scheduler" };
enum { N_COMPONENTS = sizeof(components) / sizeof(components[0]) };

static struct value component_status(struct arena *a, const struct type *t, const char *name)
{
    const struct type *ct = schema_type(STR("core/v1.ComponentCondition"));
    struct value c = value_struct(a, ct), none = { .kind = VALUE_ABSENT }, v = value_struct(a, t);
    c = edit_set(a, ct, &c, "type", edit_text("Healthy"));
    c = edit_set(a, ct, &c, "status", edit_text("True"));
    c = edit_set(a, ct, &c, "message", edit_text("ok"));
    v.slots[SLOT_KIND] = edit_text("ComponentStatus");
    v.slots[SLOT_API_VERSION] = edit_text("v1");
    v = edit_set(a, t, &v, "metadata.name", edit_text(name));
    return edit_set(a, t, &v, "conditions", edit_append(a, &none, c));
}

/* As an item of the store, so that lists and tables are made as of all others. */
static struct store_item *component_item(struct exchange *x, const char *name)
{
    const struct type *t = x->at.resource->type;
    struct value v = component_status(&x->arena, t, name);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, t, &v);
    struct store_item *item = store_item_new(str_of(name), strbuf_str(&json), false);
    strbuf_fini(&json);
    return item;
}

static void list_components(struct exchange *x)
{
    struct store_item *items[N_COMPONENTS];
    struct list_answer answer = { .items = items, .n = N_COMPONENTS };
    for (size_t i = 0; i < N_COMPONENTS; i++)
        items[i] = component_item(x, components[i]);
    answer_list(x, &answer);
    for (size_t i = 0; i < N_COMPONENTS; i++)
        store_item_unref(items[i]);
}

static void get_component(struct exchange *x)
{
    for (size_t i = 0; i < N_COMPONENTS; i++)
        if (str_is(x->route.name, components[i])) {
            x->op.item = component_item(x, components[i]);
            answer_operation(x);
            return;
        }
    x->op.resource = x->at.resource;
    x->op.name = x->route.name;
    registry_not_found(&x->op);
    x->op.err.kind = "componentstatus"; /* upstream names one of them here */
    err_set(&x->op.err, ERR_NOT_FOUND, "componentstatus \"%.*s\" not found", STR_ARG(x->route.name));
    answer_operation(x);
}

static void serve_components(struct exchange *x)
{
    bool list = x->at.collection;
    warnings_add(&x->op.warnings, "v1 ComponentStatus is deprecated in v1.19+");
    if (negotiate_answer(headers_get(&x->head->headers, "accept"), list ? ACCEPT_LIST : ACCEPT_OBJECT, &x->form, &x->err))
        answer_error(x, NULL);
    else if (list)
        list_components(x);
    else
        get_component(x);
}

/* ---- Questions ---- */

/* Nothing is stored: the answer is what was sent, with a status. */
static enum err_code settle_answer(struct operation *op, const struct type *t, struct value answer)
{
    op->type = t;
    op->value = answer;
    op->code = 201;
    registry_settle(op, ERR_OK);
    return ERR_OK;
}

static enum err_code read_question(struct operation *op, const struct type *t, struct value *ret_question)
{
    if (registry_decode(op, t, ret_question))
        return op->err.code;
    struct str given = meta_text(t, ret_question, "namespace");
    if (op->resource->namespaced && given.n && !str_eq(given, op->namespace))
        return err_set(&op->err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on the request");
    *ret_question = defaults_apply(op->arena, t, ret_question);
    if (registry_admit(op, ADMIT_CREATE, t, ret_question, NULL, false))
        return op->err.code;
    struct apply_manager m = registry_manager(op);
    m.api_version = str_first(t->name, t->name.n - t->kind.n - 1); /* of the question, whatever it is asked of */
    *ret_question = apply_note_update(op->arena, t, NULL, ret_question, &m);
    return registry_admit(op, ADMIT_CREATE, t, ret_question, NULL, true);
}

static enum err_code answer_review(struct operation *op)
{
    const struct type *t = op->resource->type;
    struct review_context c = { op->arena, op->server->o.authn, op->server->o.authz, op->user, registry_now_s(op) };
    struct value question, answer;
    if (read_question(op, t, &question) ||
        review_answer(&c, t, op->namespace, &question, &answer, &op->errs, &op->err))
        return op->err.code;
    return settle_answer(op, t, answer);
}

static enum err_code answer_token(struct operation *op)
{
    const struct type *t = schema_type(STR("authentication.k8s.io/v1.TokenRequest"));
    const struct apiserver_options *o = &op->server->o;
    struct token_request_context c = { op->arena, o->objects, o->tokens, true, registry_now_s(op), &op->warnings };
    struct value question, answer;
    if (!o->tokens)
        return err_set(&op->err, ERR_UNAVAILABLE, "this server has no key to sign tokens with");
    if (read_question(op, t, &question) ||
        token_request_answer(&c, op->namespace, op->name, &question, &answer, &op->errs, &op->err))
        return op->err.code;
    return settle_answer(op, t, answer);
}

static void serve_question(struct exchange *x)
{
    if (dispatch_begin_create(x))
        registry_try(&x->op, x->at.subresource ? answer_token : answer_review);
}

/* ---- All of them ---- */

/* A Binding of its own resource is the same as the pod's. */
static void serve_binding(struct exchange *x)
{
    if (!dispatch_begin_create(x))
        return;
    binding_create(&x->op);
}

bool serve_virtual(struct exchange *x)
{
    const struct resource *r = x->at.resource;
    if (str_is(r->plural, "componentstatuses"))
        serve_components(x);
    else if (str_is(r->plural, "bindings") && r->group.n == 0)
        serve_binding(x);
    else if (review_is(r->type) || str_is(x->route.subresource, "token"))
        serve_question(x);
    else if (x->at.connect || str_is(x->route.subresource, "log"))
        serve_kubelet(x);
    else
        return false;
    return true;
}
