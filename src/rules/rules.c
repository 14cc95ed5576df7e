/* rules/rules.c - see rules.h: the table of tables, and what many kinds share. */
#include "rules/rules.h"

#include <stdarg.h>

#include "api/edit.h"
#include "base/strbuf.h"
#include "rules/place.h"

static const struct kind_rules *const tables[] = {
    pod_rules,      core_rules,        workload_rules,     batch_rules,  autoscaling_rules, service_rules, endpoints_rules,
    network_rules,  ingress_rules,     storage_rules,      volume_rules, claim_rules,       rbac_rules,    cluster_rules,
    certificate_rules, resource_rules, slice_rules,        flowcontrol_rules, registration_rules, policy_rules,
    extension_rules, api_service_rules,
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

const struct kind_rules *rules_of(const struct type *t)
{
    for (size_t i = 0; i < N_TABLES; i++)
        for (const struct kind_rules *k = tables[i]; k->type; k++)
            if (str_eq(t->name, str_of(k->type)))
                return k;
    return NULL;
}

const struct sub_rules *rules_sub(const struct kind_rules *k, struct str name)
{
    for (const struct sub_rules *s = k->subs; s && s->name; s++)
        if (str_eq(name, str_of(s->name)))
            return s;
    return NULL;
}

void warnings_add(struct warnings *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(w->arena, format, args);
    va_end(args);
    size_t n = strlen(text);
    if (w->n == WARNINGS_MAX || w->n_bytes + n > WARNINGS_BYTES_MAX)
        return;
    for (uint32_t i = 0; i < w->n; i++)
        if (strcmp(w->texts[i], text) == 0)
            return;
    w->texts[w->n++] = text;
    w->n_bytes += (uint32_t)n;
}

/* `v` with the slot `name` of `from`, or without it when that is NULL. */
static struct value with_slot_of(const struct rules_context *c, const struct value *v, const struct value *from,
                                 const char *name)
{
    int slot = schema_slot(c->type, str_of(name));
    if (slot < 0)
        return *v;
    struct value none = { .kind = VALUE_ABSENT };
    return edit_set(c->arena, c->type, v, name, from ? *value_slot(from, (unsigned)slot) : none);
}

struct value rules_keep_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    return with_slot_of(c, new, old, "status");
}

struct value rules_keep_spec(const struct rules_context *c, const struct value *new, const struct value *old)
{
    return with_slot_of(c, new, old, "spec");
}

struct value rules_keep_all_but_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    static const char *const kept[] = { "metadata.deletionTimestamp", "metadata.generation", "metadata.selfLink",
                                        "metadata.labels", "metadata.annotations", "metadata.finalizers",
                                        "metadata.ownerReferences" };
    struct value out = rules_keep_spec(c, new, old);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        out = edit_set(c->arena, c->type, &out, kept[i], *value_path(c->type, old, kept[i]));
    return out;
}

struct value rules_drop_status(const struct rules_context *c, const struct value *new)
{
    return with_slot_of(c, new, NULL, "status");
}

static bool is_content(struct str field)
{
    static const char *const others[] = { "kind", "apiVersion", "metadata", "status", NULL };
    return !text_is_one_of(field, others);
}

static bool child_differs(const struct place *new, const struct place *old, const struct field *f)
{
    struct place is = place_child(new, f->name.p), was = place_child(old, f->name.p);
    return !place_same(&is, &was);
}

static bool metadata_differs(const struct place *new, const struct place *old, const char *name)
{
    struct place meta = place_child(new, "metadata"), old_meta = place_child(old, "metadata");
    struct place is = place_child(&meta, name), was = place_child(&old_meta, name);
    return !place_same(&is, &was);
}

bool rules_raises_generation(const struct rules_context *c, enum generation_rule rule, const struct value *new,
                             const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), before = place_root(c, old, &none);
    if (rule == GENERATION_NEVER || rule == GENERATION_FIRST)
        return false;
    for (unsigned i = 0; i < c->type->n_fields; i++)
        if (is_content(c->type->fields[i].name) && child_differs(&root, &before, &c->type->fields[i]))
            return true;
    return (rule == GENERATION_SPEC_ANNOTATION && metadata_differs(&root, &before, "annotations")) ||
           (rule == GENERATION_LABELS && metadata_differs(&root, &before, "labels"));
}
