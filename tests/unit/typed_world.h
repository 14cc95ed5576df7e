/* tests/unit/typed_world.h - what a test of typed forms needs: memory, names, and an error to fill. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/sym.h"
#include "tests/test.h"

struct world {
    struct arena arena;
    struct sym_table syms;
    struct err e;
};

static inline void world_init(struct world *w)
{
    arena_init(&w->arena);
    sym_init(&w->syms);
    err_init(&w->e, &w->arena);
}

/* No form may be left that holds a name. */
static inline void world_fini(struct world *w)
{
    CHECK_INT("syms", sym_n_live(&w->syms), 1);
    sym_fini(&w->syms);
    arena_fini(&w->arena);
}
