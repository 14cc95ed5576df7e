/* tests/unit/admission_world.h - a store in memory with objects in it, and requests that go through the admission chain. */
#pragma once

#include "api/defaults.h"
#include "api/edit.h"
#include "apiserver/admission.h"
#include "apiserver/status_object.h"
#include "codec/json.h"
#include "tests/test.h"

struct admission_world {
    struct arena arena;
    struct err e;
    struct store *store;
    struct stored *objects;
    struct admission *chain;
    struct user user;
    struct warnings warnings;
};

static inline void admission_world_init(struct admission_world *w, const struct admission_options *o)
{
    memset(w, 0, sizeof(*w));
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    if (store_new(&(struct store_options){ 0 }, &w->store, &w->e) || admission_new(o, &w->chain, &w->e))
        FAIL("%s", w->e.message);
    w->objects = stored_new(w->store);
    w->user.name = STR("admin");
}

static inline void admission_world_fini(struct admission_world *w)
{
    admission_free(w->chain);
    stored_free(w->objects);
    store_free(w->store);
    arena_fini(&w->arena);
}

static inline void admission_world_done(void *context, const struct store_answer *answer)
{
    (void)context;
    CHECK_INT("commit", answer->code, ERR_OK);
}

static inline const struct resource *resource_of_kind(struct str api_version, struct str kind)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].served && str_eq(schema_resources[i].group, group) &&
            str_eq(schema_resources[i].version, version) && str_eq(schema_resources[i].kind, kind))
            return &schema_resources[i];
    FAIL("no resource for %.*s", STR_ARG(kind));
}

static inline struct value decode_object(struct admission_world *w, const struct type *t, struct str json)
{
    struct value v;
    if (json_decode(&w->arena, WORK_OWN, t, json, NULL, &v, &w->e))
        FAIL("%s: %.*s", w->e.message, STR_ARG(json));
    return v;
}

static inline struct str plain_text(struct arena *a, const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    json_encode_plain(&text, v);
    struct str copy = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

/* An object, with kind and apiVersion, as JSON. */
static inline void admission_world_put(struct admission_world *w, struct str json)
{
    struct value plain;
    if (json_decode_plain(&w->arena, WORK_OWN, json, &plain, &w->e))
        FAIL("%s: %.*s", w->e.message, STR_ARG(json));
    const struct resource *r = resource_of_kind(value_text(value_path(NULL, &plain, "apiVersion")),
                                                value_text(value_path(NULL, &plain, "kind")));
    struct store_write write = {
        .key = stored_key(&w->arena, r, value_text(value_path(NULL, &plain, "metadata.namespace")),
                          value_text(value_path(NULL, &plain, "metadata.name"))),
        .value = json,
    };
    struct store_commit commit = { .writes = &write, .n_writes = 1 };
    if (store_commit(w->store, &commit, admission_world_done, NULL, &w->e))
        FAIL("%s", w->e.message);
    store_poll(w->store);
}

/* The type of what is sent to a subresource. */
static inline const struct type *request_type(const struct resource *r, struct str subresource)
{
    for (const struct subresource *s = r->subresources; s && s->name && subresource.n; s++)
        if (str_is(subresource, s->name) && s->type)
            return schema_type(str_of(s->type));
    return r->type;
}

struct asked {
    const char *plural, *group, *subresource;
    enum admission_operation operation;
    struct str namespace, name; /* of the path */
    struct str object;          /* JSON; empty: none */
    bool dry_run;
    const char *made_name; /* what the server makes of generateName; or NULL */
};

/* Both passes, with defaults as a server applies them. `r` is the caller's, to look at what came of it. */
static inline enum err_code admission_world_ask(struct admission_world *w, const struct asked *asked, struct admission_request *r)
{
    const struct resource *resource = stored_resource(asked->plural, asked->group);
    struct str sub = asked->subresource ? str_of(asked->subresource) : STR("");
    memset(r, 0, sizeof(*r));
    w->warnings = (struct warnings){ .arena = &w->arena };
    err_init(&w->e, &w->arena);
    *r = (struct admission_request){
        .arena = &w->arena, .objects = w->objects, .user = &w->user, .operation = asked->operation, .resource = resource,
        .subresource = sub, .type = request_type(resource, sub), .namespace = asked->namespace, .name = asked->name,
        .dry_run = asked->dry_run, .now_ns = 1800000000ll * 1000000000, .warnings = &w->warnings,
    };
    if (asked->operation != ADMIT_CREATE)
        r->old = stored_get(w->objects, resource, asked->namespace, asked->name);
    if (asked->object.n) {
        r->object = decode_object(w, r->type, asked->object);
        r->object = defaults_apply(&w->arena, r->type, &r->object);
        if (asked->namespace.n && schema_slot(r->type, STR("metadata")) >= 0)
            r->object = edit_set(&w->arena, r->type, &r->object, "metadata.namespace", value_string(asked->namespace));
        if (!r->name.n)
            r->name = value_text(value_path(r->type, &r->object, "metadata.name"));
    }
    if (admission_mutate(w->chain, r, &w->e))
        return w->e.code;
    if (asked->object.n)
        r->object = defaults_apply(&w->arena, r->type, &r->object);
    if (asked->made_name)
        r->name = str_of(asked->made_name);
    return admission_validate(w->chain, r, &w->e);
}
