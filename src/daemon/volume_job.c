/* daemon/volume_job.c - see volume_job.h. */
#include "daemon/volume_job.h"

#include <stdlib.h>

#include "base/mem.h"

static const char *keep(struct volume_job *j, const char *text)
{
    return arena_cstr(&j->arena, str_of(text));
}

struct volume_job *volume_job_new(const struct sym_table *syms, const struct pod *pod, sym node,
                                  const struct volume_decisions *d)
{
    struct volume_job *j = mem_zalloc(sizeof(*j));
    arena_init(&j->arena);
    j->ns = arena_cstr(&j->arena, sym_text(syms, d->ns));
    j->pod = keep(j, pod->meta.name);
    j->pod_uid = keep(j, pod->meta.uid);
    j->node = arena_cstr(&j->arena, sym_text(syms, node));
    j->timeout_ms = d->timeout_ms;
    j->n_bindings = d->n_bindings;
    j->n_provisions = d->n_provisions;
    j->bindings = ARENA_NEW_N(&j->arena, struct job_binding, d->n_bindings);
    j->provisions = ARENA_NEW_N(&j->arena, struct job_provision, d->n_provisions);
    for (uint32_t i = 0; i < d->n_bindings; i++) {
        const struct volume_binding *b = &d->bindings[i];
        j->bindings[i] = (struct job_binding){
            .volume = keep(j, b->volume), .version = keep(j, b->volume_version), .claim = keep(j, b->claim),
            .claim_uid = keep(j, b->claim_uid), .claim_version = keep(j, b->claim_version),
            .by_controller = b->by_controller,
        };
    }
    for (uint32_t i = 0; i < d->n_provisions; i++)
        j->provisions[i] = (struct job_provision){ .claim = keep(j, d->provisions[i].claim),
                                                   .version = keep(j, d->provisions[i].claim_version) };
    return j;
}

void volume_job_free(struct volume_job *j)
{
    if (!j)
        return;
    arena_fini(&j->arena);
    free(j);
}
