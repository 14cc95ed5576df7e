/* tests/unit/golden_lines.h - recordings with one JSON object a line, under tests/golden. */
#pragma once

#include <stdlib.h>
#include <zlib.h>

#include "base/arena.h"
#include "codec/json.h"
#include "tests/test.h"

enum { GOLDEN_BYTES_MAX = 8 << 20 };

struct golden {
    struct arena arena;
    struct str text, left;
    size_t n; /* lines read */
};

static inline void golden_open(struct golden *g, const char *name)
{
    arena_init(&g->arena);
    char *path = arena_printf(&g->arena, "%s/%s", GOLDEN_DIR, name);
    gzFile f = gzopen(path, "rb"); /* also what is not packed */
    if (!f)
        FAIL("no %s", path);
    char *bytes = arena_alloc(&g->arena, GOLDEN_BYTES_MAX);
    int n = gzread(f, bytes, GOLDEN_BYTES_MAX);
    gzclose(f);
    g->text = (struct str){ bytes, n > 0 ? (size_t)n : 0 };
    g->left = g->text;
    g->n = 0;
}

static inline bool golden_next(struct golden *g, struct value *ret_row)
{
    struct err e;
    err_init(&e, &g->arena);
    if (g->left.n == 0)
        return false;
    size_t end = str_index(g->left, '\n');
    if (json_decode_plain(&g->arena, WORK_OWN, str_first(g->left, end), ret_row, &e))
        FAIL("line %zu: %s", g->n + 1, e.message);
    g->left = str_from(g->left, end + 1);
    g->n++;
    return true;
}

static inline void golden_close(struct golden *g)
{
    arena_fini(&g->arena);
}

/* A text of an object; empty when it is not there. */
static inline struct str golden_text(const struct value *row, const char *key)
{
    const struct value *v = row && row->kind == VALUE_MAP ? value_member(row, str_of(key)) : NULL;
    return v ? value_text(v) : (struct str){ 0 };
}

static inline int golden_int(const struct value *row, const char *key)
{
    const struct value *v = value_member(row, str_of(key));
    return v && v->kind == VALUE_INT ? (int)v->i : 0;
}
