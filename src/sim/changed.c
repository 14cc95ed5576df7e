/* sim/changed.c - see changed.h. */
#include "sim/changed.h"

#include "sim/settle.h"

enum err_code sim_changes_apply(struct sim_changes *c, struct sim_input *in, const struct sim_change_list *changes,
                                struct err *e)
{
    for (size_t i = 0; i < changes->n; i++)
        if (sim_change_apply(c, in, &changes->at[i], e))
            return e->code;
    return ERR_OK;
}

enum err_code sim_changed_init(struct sim_changed *c, const struct sim_input *given,
                               const struct sim_change_list *changes, const struct sim_runner *how, struct err *e)
{
    sim_changes_init(&c->done, given->syms, changes->force);
    sim_run_init(&c->before, given, NULL);
    enum err_code code = sim_run_start(&c->before, how, e);
    if (code)
        sim_input_init(&c->in, given->syms);
    else
        sim_settle(&c->in, &c->before.world);
    if (!code)
        code = sim_changes_apply(&c->done, &c->in, changes, e);
    sim_run_init(&c->after, &c->in, &c->done.drain);
    return code ? code : sim_run_start(&c->after, how, e);
}

void sim_changed_fini(struct sim_changed *c)
{
    sim_run_fini(&c->after);
    sim_changes_fini(&c->done);
    sim_input_fini(&c->in);
    sim_run_fini(&c->before);
}
