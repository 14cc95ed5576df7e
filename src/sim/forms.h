/* sim/forms.h - the typed forms (forms/typed.h) of a simulation's objects.
 *
 * The input holds one reference to the form of every object that has one; worlds take their own. A pod
 * has nothing but its form once it was made: what is read of pods is read there. Other kinds keep their
 * generic value too, which sim_field reads and sim_object_set changes. Deployments, DaemonSets and Jobs
 * have no form: the scheduler does not look at them.
 *
 * Thread: one, the owner of the sym table. */
#pragma once

#include "base/strbuf.h"
#include "forms/node.h"
#include "forms/pod.h"
#include "sched/objects.h"
#include "sim/input.h"

/* Which form an object has. */
enum sim_form {
    SIM_FORM_POD = N_OBJECT_KINDS, /* below: enum object_kind */
    SIM_FORM_NODE,
    SIM_FORM_NONE,
};

struct sim_kind {
    const char *type; /* "core/v1.Pod" */
    const char *kind; /* "Pod" */
    int form;         /* enum object_kind or enum sim_form */
    bool namespaced;
};
extern const struct sim_kind sim_kinds[];
extern const size_t sim_n_kinds;
/* What scheduling looks at and what makes pods; NULL for all other types. */
const struct sim_kind *sim_kind_of(const struct type *t);
/* Their resources as `kubectl get` takes them: "pods,nodes,...". */
void sim_add_resources(struct strbuf *to);

/* Defaults, admission (admission.h) and typed forms for everything that is given: once, when all texts are read. An
 * error names the object. */
enum err_code sim_input_complete(struct sim_input *in, struct err *e) ERR_MUST_CHECK;

/* Makes the form from the value if there is none. An error names the object. */
enum err_code sim_object_form(struct sim_input *in, struct sim_object *o, struct err *e) ERR_MUST_CHECK;
/* A changed field (edit_set) of an object that has a generic value; the form is made anew when it is
 * asked for. */
void sim_object_set(struct sim_input *in, struct sim_object *o, const char *path, struct value to);

/* The pod is as if nobody had scheduled it yet, and is tried after all others: it moves to the end of
 * the objects. Returns its new index; `o` is removed. */
size_t sim_pod_unbind(struct sim_input *in, struct sim_object *o);

/* The form takes the place of the one that is there; gives the reference to the input. */
void sim_object_take_form(struct sim_input *in, struct sim_object *o, const void *own_form);
/* References of an object's form, which may be NULL. */
void sim_form_ref(const struct sim_object *o);
void sim_form_unref(struct sym_table *syms, const struct sim_object *o);

static inline const struct pod *sim_pod_form(const struct sim_object *o)
{
    assert(o->sim_kind->form == SIM_FORM_POD);
    return o->form;
}
static inline const struct node *sim_node_form(const struct sim_object *o)
{
    assert(o->sim_kind->form == SIM_FORM_NODE);
    return o->form;
}
static inline bool sim_is_pod(const struct sim_object *o)
{
    return o->sim_kind->form == SIM_FORM_POD;
}
static inline bool sim_is_node(const struct sim_object *o)
{
    return o->sim_kind->form == SIM_FORM_NODE;
}
