/* daemon/write.c - see write.h. */
#include "daemon/write.h"

#include <stdlib.h>

#include "daemon/volume_job.h"

struct write *write_new(enum write_kind kind)
{
    struct write *w = mem_zalloc(sizeof(*w));
    w->kind = kind;
    arena_init_small(&w->arena);
    return w;
}

void write_free(struct write *w)
{
    if (w->job)
        volume_job_free(w->job);
    arena_fini(&w->arena);
    free(w);
}
