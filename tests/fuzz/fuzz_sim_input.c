/* tests/fuzz/fuzz_sim_input.c - any bytes as a cluster file: read, completed, copied, changed and
 * expanded.
 *
 * An error says which file it is about, and when all is given up, nothing is left in the table of syms. */
#include <stdlib.h>

#include "sim/expand.h"
#include "sim/forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { REPLICAS_MAX = 100 }; /* more pods only take time */

static void must(bool condition)
{
    if (!condition)
        abort();
}

static bool is_small(const struct sim_input *in)
{
    static const char *const numbers[] = { "spec.replicas", "spec.parallelism" };
    for (size_t i = 0; i < in->objects.n; i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
            if (sim_int(&in->objects.at[i], numbers[k], 0) > REPLICAS_MAX)
                return false;
    return in->objects.n <= REPLICAS_MAX;
}

static void change(struct sim_input *in)
{
    for (size_t i = 0, n_given = in->objects.n; i < n_given; i++) {
        struct sim_object *o = &in->objects.at[i];
        must(o->form || o->sim_kind->form == SIM_FORM_NONE);
        must(sim_input_find(in, o->kind, o->ns, o->name) == o);
        if (sim_is_node(o))
            sim_object_set(in, o, "spec.unschedulable", value_bool(true));
        else if (sim_is_pod(o) && sim_pod_form(o)->node_name != SYM_EMPTY)
            sim_pod_unbind(in, o);
        else if (i % 2)
            sim_input_remove(in, o);
    }
}

static void what_if(const struct sim_input *in, struct err *e)
{
    struct sim_input copy;
    sim_input_copy(&copy, in);
    change(&copy);
    if (sim_expand(&copy, e))
        must(strncmp(e->message, "file, document ", 15) == 0);
    for (size_t i = 0; !e->code && i < copy.objects.n; i++)
        must(copy.objects.at[i].removed || copy.objects.at[i].form || copy.objects.at[i].sim_kind->form == SIM_FORM_NONE);
    sim_input_fini(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct sym_table syms;
    struct sim_input in;
    struct arena a;
    struct err e;
    sym_init(&syms);
    sim_input_init(&in, &syms);
    arena_init(&a);
    err_init(&e, &a);
    if (sim_input_text(&in, "file", (struct str){ (const char *)data, n }, &e) || sim_input_complete(&in, &e))
        must(strncmp(e.message, "file, document ", 15) == 0);
    else if (is_small(&in))
        what_if(&in, &e);
    sim_input_fini(&in);
    must(sym_n_live(&syms) == 1); /* the empty text */
    sym_fini(&syms);
    arena_fini(&a);
    return 0;
}
