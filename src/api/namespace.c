/* api/namespace.c - see namespace.h. */
#include "api/namespace.h"

#include "api/inputs.h"
#include "api/schema_slots.h"

struct namespace_in {
    struct meta_in meta;
};

static const struct bind_row namespace_rows[] = {
    [SLOT_core_v1_Namespace_metadata] = BIND_STRUCT(struct namespace_in, meta, &bind_meta),
};
static const struct bind_type bind_namespace = BIND_TYPE(core_v1_Namespace, struct namespace_in, namespace_rows);

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

static const struct form_class class = { &bind_namespace, sizeof(struct namespace), build, walk };

FORM_FUNCTIONS(namespace, class)
