/* sim/run.c - see run.h. */
#include "sim/run.h"

#include "sim/expand.h"

void sim_run_init(struct sim_run *r, const struct sim_input *from, const struct sim_drain *drain)
{
    sim_input_copy(&r->in, from);
    for (size_t i = 0; i < from->warnings.n; i++)
        vec_push(&r->in.warnings, from->warnings.at[i]);
    r->in.n_more_warnings = from->n_more_warnings;
    r->world = (struct sim_world){ .in = &r->in, .syms = from->syms };
    map_str_init(&r->world.pod_by_uid);
    map_u64_init(&r->world.node_by_name);
    if (drain)
        sim_drain_copy(&r->drain, drain);
    else
        sim_drain_init(&r->drain, from->syms, false);
}

enum err_code sim_run_open(struct sim_run *r, const struct sim_runner *how, struct err *e)
{
    if (sim_expand(&r->in, e))
        return e->code;
    return sim_world_init(&r->world, &r->in, r->in.syms, how->setup, how->seed, e);
}

enum err_code sim_run_start(struct sim_run *r, const struct sim_runner *how, struct err *e)
{
    if (sim_run_open(r, how, e))
        return e->code;
    sim_world_run(&r->world);
    sim_drain_world(&r->drain, &r->world);
    return ERR_OK;
}

void sim_run_fini(struct sim_run *r)
{
    sim_drain_fini(&r->drain);
    sim_world_fini(&r->world);
    sim_input_fini(&r->in);
}
