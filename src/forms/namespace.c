/* forms/namespace.c - see namespace.h. */
#include "forms/namespace.h"

#include "api/schema_slots.h"
#include "forms/inputs.h"

struct namespace_in {
    struct meta_in meta;
};

static const struct fill_row namespace_rows[] = {
    [SLOT_core_v1_Namespace_metadata] = FILL_STRUCT(struct namespace_in, meta, &fill_meta),
};
static const struct fill_type fill_namespace = FILL_TYPE(core_v1_Namespace, struct namespace_in, namespace_rows);

static enum err_code build(struct build *b, const void *input, void *form)
{
    const struct namespace_in *in = input;
    struct namespace *n = form;
    n->name = build_sym(b, in->meta.name);
    return build_meta(b, &in->meta, &n->meta);
}

static void walk(struct walk *w, void *form)
{
    struct namespace *n = form;
    walk_meta(w, &n->meta);
    walk_sym(w, n->name);
}

static const struct form_type type = { &fill_namespace, sizeof(struct namespace), build, walk };

FORM_FUNCTIONS(namespace, type)
