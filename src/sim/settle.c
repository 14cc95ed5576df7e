/* sim/settle.c - see settle.h. */
#include "sim/settle.h"

/* Where its node is, for the next run. */
static void start_pod(struct sim_input *to, struct sim_object *o, const struct sim_world *w, const struct sim_pod *p)
{
    sym node = w->nodes.at[p->node].form->name;
    sim_object_take_form(to, o, pod_started(to->syms, p->form, node));
    o->placed = true;
}

/* A pod that came into being in the run. */
static struct sim_object *add_pod(struct sim_input *to, const struct sim_pod *p)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct sim_object o = { .type = t, .sim_kind = sim_kind_of(t), .kind = "Pod", .form = pod_ref(p->form),
                            .origin = p->owner ? p->owner : "", .ns = p->ns, .name = p->name,
                            .uid = p->form->meta.uid, .owner = p->owner, .made = true };
    return &to->objects.at[sim_input_put(to, &o)];
}

/* A pod that a drain evicted within the run has another form than the input's. */
static void take_over(struct sim_input *to, const struct sim_world *w, const struct sim_pod *p)
{
    struct sim_object *o = sim_input_find(to, "Pod", p->ns, p->name);
    if (!o && p->state == SIM_EVICTED)
        return;
    if (!o)
        o = add_pod(to, p);
    if (p->state == SIM_EVICTED)
        sim_input_remove(to, o);
    else if (p->state == SIM_PLACED && !o->placed)
        start_pod(to, o, w, p);
    else if (o->form != p->form)
        sim_object_take_form(to, o, pod_ref(p->form));
}

/* Bound in the run. */
static void take_volume(struct sim_input *to, struct sim_world *w, struct sim_object *o)
{
    enum object_kind kind = (enum object_kind)o->sim_kind->form;
    sym ns = *o->ns ? sym_find(to->syms, str_of(o->ns)) : SYM_EMPTY;
    const void *now = objects_get(sched_objects(w->sched), kind, ns, str_of(o->name));
    if (now && now != o->form)
        sim_object_take_form(to, o, object_ref(kind, now));
}

/* What the world left out (pods on nodes that are not given) has been warned about. */
static bool was_left_out(const struct sim_world *w, const struct sim_object *o)
{
    return sim_is_pod(o) && !(sim_pod_form(o)->flags & POD_FINISHED) &&
           !map_str_find(&w->pod_by_uid, str_of(sim_pod_form(o)->meta.uid));
}

/* Those of controllers are tried again by the next expansion. */
static void drop_refusals(struct sim_input *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->refused.n; i++)
        if (strncmp(in->refused.at[i].what, "Pod ", 4) == 0)
            in->refused.at[n++] = in->refused.at[i];
    in->refused.n = n;
}

void sim_settle(struct sim_input *to, struct sim_world *world)
{
    sim_input_copy(to, world->in);
    drop_refusals(to);
    to->settled = true;
    for (size_t i = 0; i < world->in->warnings.n; i++)
        vec_push(&to->warnings, world->in->warnings.at[i]);
    to->n_more_warnings = world->in->n_more_warnings;
    for (size_t i = 0; i < to->objects.n; i++) {
        struct sim_object *o = &to->objects.at[i];
        bool is_volume = o->sim_kind->form == OBJECT_PERSISTENT_VOLUME ||
                         o->sim_kind->form == OBJECT_PERSISTENT_VOLUME_CLAIM;
        if (!o->removed && is_volume)
            take_volume(to, world, o);
        else if (!o->removed && was_left_out(world, o))
            sim_input_remove(to, o);
    }
    for (size_t i = 0; i < world->pods.n; i++)
        take_over(to, world, &world->pods.at[i]);
}
