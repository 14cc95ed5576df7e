/* apiserver/new_namespace.c - what a new namespace brings along: its service account "default", in the same commit, so that a pod
 * can be created in it at once. */
#include "api/edit.h"
#include "apiserver/registry_priv.h"
#include "codec/json.h"

static struct value account(struct operation *op, const struct type *t)
{
    struct arena *a = op->arena;
    struct value v = value_struct(a, t);
    v.slots[SLOT_KIND] = edit_text("ServiceAccount");
    v.slots[SLOT_API_VERSION] = edit_text("v1");
    v = meta_set(a, t, &v, "name", edit_text("default"));
    v = meta_set(a, t, &v, "namespace", value_string(op->name));
    v = meta_set(a, t, &v, "uid", edit_text(registry_new_uid(op)));
    v = meta_set(a, t, &v, "creationTimestamp", value_time(registry_now_s(op), 0));
    uint64_t revision = store_next_revision(op->server->o.store);
    return meta_set(a, t, &v, "resourceVersion",
                    edit_text(arena_printf(a, "%llu", (unsigned long long)revision)));
}

void new_namespace_add(struct operation *op)
{
    const struct type *t = schema_type(STR("core/v1.ServiceAccount"));
    struct str key = stored_key(op->arena, stored_resource("serviceaccounts", ""), op->name, STR("default"));
    if (store_get(op->server->o.store, key) || op->n_also == ADMISSION_ALSO_MAX)
        return;
    struct value v = account(op, t);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, t, &v);
    op->also[op->n_also++] = (struct admission_also){ .key = key, .value = arena_str(op->arena, strbuf_str(&json)) };
    strbuf_fini(&json);
}
