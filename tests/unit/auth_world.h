/* tests/unit/auth_world.h - a store in memory with objects in it, and somebody who asks, for tests of who may what. */
#pragma once

#include "api/user.h"
#include "apiserver/rbac_bootstrap.h"
#include "apiserver/stored.h"
#include "tests/unit/golden_lines.h"

#define WORLD_NOW_S 1700000000ll

struct auth_world {
    struct arena arena;
    struct err e;
    struct store *store;
    struct stored *objects;
};

static inline void auth_world_init(struct auth_world *w)
{
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    if (store_new(&(struct store_options){ 0 }, &w->store, &w->e))
        FAIL("%s", w->e.message);
    w->objects = stored_new(w->store);
}

static inline void auth_world_fini(struct auth_world *w)
{
    stored_free(w->objects);
    store_free(w->store);
    arena_fini(&w->arena);
}

static inline void auth_world_done(void *context, const struct store_answer *answer)
{
    *(enum err_code *)context = answer->code;
}

static inline void auth_world_write(struct auth_world *w, const struct store_write *write)
{
    enum err_code code = ERR_UNKNOWN;
    CHECK(!store_commit(w->store, &(struct store_commit){ .writes = write, .n_writes = 1 }, auth_world_done, &code, &w->e));
    store_poll(w->store);
    CHECK_INT("a write", code, ERR_OK);
}

static inline const struct resource *auth_world_resource(const struct type *t)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == t && schema_resources[i].served)
            return &schema_resources[i];
    FAIL("no resource of %.*s", STR_ARG(t->name));
}

static inline void auth_world_put_value(struct auth_world *w, const struct resource *r, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, r->type, v);
    struct str namespace = value_text(value_path(r->type, v, "metadata.namespace"));
    struct str name = value_text(value_path(r->type, v, "metadata.name"));
    struct store_write write = { .key = stored_key(&w->arena, r, namespace, name), .value = strbuf_str(&json) };
    auth_world_write(w, &write);
    strbuf_fini(&json);
}

/* A whole object as JSON. */
static inline void auth_world_put(struct auth_world *w, struct str json)
{
    struct value plain, v;
    if (json_decode_plain(&w->arena, WORK_OWN, json, &plain, &w->e))
        FAIL("%s", w->e.message);
    const struct type *t = schema_object_type(golden_text(&plain, "apiVersion"), golden_text(&plain, "kind"));
    CHECK(t);
    if (json_decode(&w->arena, WORK_OWN, t, json, NULL, &v, &w->e))
        FAIL("%s", w->e.message);
    auth_world_put_value(w, auth_world_resource(t), &v);
}

static inline void auth_world_delete(struct auth_world *w, const char *plural, const char *group, const char *namespace,
                                     const char *name)
{
    const struct resource *r = stored_resource(plural, group);
    struct store_write write = { .key = stored_key(&w->arena, r, str_of(namespace), str_of(name)), .deletes = true };
    auth_world_write(w, &write);
}

static inline void auth_world_bootstrap(struct auth_world *w)
{
    struct rbac_object *objects;
    size_t n = rbac_bootstrap(&w->arena, &objects);
    for (size_t i = 0; i < n; i++)
        auth_world_put_value(w, objects[i].resource, &objects[i].value);
}

/* Text of a plain value, in order to be read by a schema. */
static inline struct str plain_json(struct arena *a, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_plain(&json, v);
    struct str text = arena_str(a, strbuf_str(&json));
    strbuf_fini(&json);
    return text;
}

static inline struct str_list plain_list(struct arena *a, const struct value *v)
{
    struct str *at = ARENA_NEW_N(a, struct str, v ? v->n : 0);
    for (uint32_t i = 0; v && i < v->n; i++)
        at[i] = value_text(&v->items[i]);
    return (struct str_list){ at, v ? v->n : 0 };
}
