/* tests/unit/controller_world.h - objects as JSON texts for tests of what controllers decide. */
#pragma once

#include "codec/json.h"
#include "tests/test.h"

static inline struct value world_decode(struct arena *a, const char *type, struct str json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), json, NULL, &v, &e))
        FAIL("%.*s: %s", STR_ARG(json), e.message);
    return v;
}

/* A JSON list of objects, one behind the other and separated by line breaks; NULL: none. */
static inline size_t world_decode_all(struct arena *a, const char *type, const char *lines, const struct value ***ret_values)
{
    const struct value **values = ARENA_NEW_N(a, const struct value *, 300);
    size_t n = 0;
    for (struct str rest = str_of(lines ? lines : ""); rest.n;) {
        struct str line = str_first(rest, str_index(rest, '\n'));
        struct value *v = ARENA_NEW(a, struct value);
        *v = world_decode(a, type, line);
        values[n++] = v;
        rest = str_from(rest, line.n + 1);
    }
    *ret_values = values;
    return n;
}

static inline const char *world_json(struct arena *a, const char *type, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, schema_type(str_of(type)), v);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}
