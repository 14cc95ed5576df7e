/* daemon/write.c - see write.h. */
#include "daemon/write.h"

#include <stdlib.h>

struct write *write_new(enum write_kind kind)
{
    struct write *w = mem_zalloc(sizeof(*w));
    w->kind = kind;
    arena_init(&w->arena);
    return w;
}

void write_free(struct write *w)
{
    arena_fini(&w->arena);
    free(w);
}
