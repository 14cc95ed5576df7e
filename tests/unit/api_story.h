/* tests/unit/api_story.h - requests to the registry of an api_world, without HTTP: one by one, or many that are under way at
 * the same time. */
#pragma once

#include "api/defaults.h"
#include "codec/json.h"
#include "rules/convert.h"
#include "tests/api_world.h"
#include "tests/test.h"

/* One operation and its memory; lives until call_free. */
struct call {
    struct operation op;
    struct arena arena;
    int n_done;
};

static inline void call_done(struct operation *op)
{
    ((struct call *)op->context)->n_done++;
}

static inline const struct user *story_user(void)
{
    static const struct user u = { .name = { "admin", 5 } };
    return &u;
}

static inline struct call *call_new(struct api_world *w, const char *plural, const char *group, const char *namespace,
                                    const char *name, const char *body)
{
    struct call *c = mem_zalloc(sizeof(*c));
    arena_init(&c->arena);
    operation_init(&c->op, w->server, &c->arena);
    c->op.user = story_user();
    c->op.resource = stored_resource(plural, group);
    c->op.namespace = arena_str(&c->arena, str_of(namespace));
    c->op.name = arena_str(&c->arena, str_of(name));
    c->op.media = MEDIA_JSON;
    c->op.body = arena_str(&c->arena, str_of(body));
    c->op.done = call_done;
    c->op.context = c;
    return c;
}

static inline void call_free(struct call *c)
{
    operation_fini(&c->op);
    arena_fini(&c->arena);
    free(c);
}

static inline int call_code(struct call *c)
{
    CHECK_INT("answers", c->n_done, 1);
    return c->op.err.code ? operation_status(&c->op).code : c->op.code;
}

static inline const char *call_message(const struct call *c)
{
    return c->op.err.code ? c->op.err.message : "";
}

/* Something of the object that was answered, "metadata.name". */
static inline struct str call_text(struct call *c, const char *path)
{
    const struct type *t = convert_stored_type(c->op.resource->type);
    if (!c->op.item)
        return value_text(value_path(c->op.type, &c->op.value, path));
    struct value *v = ARENA_NEW(&c->arena, struct value);
    CHECK(!json_decode(&c->arena, WORK_OWN, t, store_item_value(c->op.item), NULL, v, &c->op.err));
    return value_text(value_path(t, v, path));
}

/* What is stored now; NULL: nothing. */
static inline const struct value *story_object(struct api_world *w, const char *plural, const char *group,
                                               const char *namespace, const char *name)
{
    return stored_get(w->objects, stored_resource(plural, group), str_of(namespace), str_of(name));
}

static inline struct str story_text(struct api_world *w, const char *plural, const char *name, const char *path)
{
    const struct resource *r = stored_resource(plural, "");
    const struct value *v = stored_get(w->objects, r, STR("default"), str_of(name));
    if (!v)
        FAIL("there is no %s %s", plural, name);
    return value_text(value_path(r->type, v, path));
}

/* Begins, waits, and checks the code. */
static inline void call_run(struct api_world *w, const char *what, struct call *c, void (*verb)(struct operation *op), int code)
{
    verb(&c->op);
    api_world_poll(w);
    int got = call_code(c);
    if (got != code)
        FAIL("%s: %d, want %d: %s", what, got, code, call_message(c));
}

static inline void story_create(struct api_world *w, const char *plural, const char *group, const char *namespace,
                                const char *body)
{
    struct call *c = call_new(w, plural, group, namespace, "", body);
    call_run(w, body, c, registry_create, 201);
    call_free(c);
}
