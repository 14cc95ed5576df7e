/* apiserver/virtual.c - what is served but not stored: component statuses, bindings. */
#include "api/edit.h"
#include "apiserver/exchange.h"
#include "apiserver/registry_priv.h"
#include "apiserver/subresource.h"
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
    answer_operation(x);
}

static void serve_components(struct exchange *x)
{
    bool list = x->at.collection;
    const char *go_type = "ComponentStatusList";
    warnings_add(&x->op.warnings, "v1 ComponentStatus is deprecated in v1.19+");
    if (negotiate_answer(headers_get(&x->head->headers, "accept"), list ? ACCEPT_LIST : ACCEPT_OBJECT, go_type, &x->form,
                         &x->err))
        answer_error(x, NULL);
    else if (list)
        list_components(x);
    else
        get_component(x);
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
    else if (x->at.connect || str_is(x->route.subresource, "log"))
        serve_kubelet(x);
    else
        return false;
    return true;
}
