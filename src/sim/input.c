/* sim/input.c - see input.h. */
#include "sim/input.h"

#include "api/object.h"
#include "api/yaml.h"
#include "sim/edit.h"
#include "sim/forms.h"

void sim_input_init(struct sim_input *in, struct sym_table *syms)
{
    *in = (struct sim_input){ .syms = syms };
    arena_init(&in->arena);
    map_str_init(&in->by_name);
}

void sim_input_fini(struct sim_input *in)
{
    for (size_t i = 0; i < in->objects.n; i++)
        sim_form_unref(in->syms, &in->objects.at[i]);
    vec_fini(&in->objects);
    vec_fini(&in->warnings);
    map_str_fini(&in->by_name);
    arena_fini(&in->arena);
}

void sim_input_copy(struct sim_input *to, const struct sim_input *from)
{
    sim_input_init(to, from->syms);
    to->n_ignored = from->n_ignored;
    map_str_copy(&to->by_name, &from->by_name);
    vec_reserve(&to->objects, from->objects.n);
    for (size_t i = 0; i < from->objects.n; i++) {
        sim_form_ref(&from->objects.at[i]);
        vec_push(&to->objects, from->objects.at[i]);
    }
}

void sim_warn(struct sim_input *in, const char *format, ...)
{
    if (in->warnings.n == SIM_WARNINGS_MAX) {
        in->n_more_warnings++;
        return;
    }
    va_list args;
    va_start(args, format);
    vec_push(&in->warnings, arena_vprintf(&in->arena, format, args));
    va_end(args);
}

/* ---- Fields ---- */

const struct value *sim_field(const struct sim_object *o, const char *path)
{
    return value_path(o->type, &o->value, path);
}

const char *sim_text(struct sim_input *in, const struct sim_object *o, const char *path)
{
    return arena_cstr(&in->arena, value_text(sim_field(o, path)));
}

int64_t sim_int(const struct sim_object *o, const char *path, int64_t otherwise)
{
    const struct value *v = sim_field(o, path);
    return v->kind == VALUE_INT ? v->i : otherwise;
}

/* ---- One object ---- */

static const char *name_key(struct arena *a, const char *kind, const char *ns, const char *name)
{
    return *ns ? arena_printf(a, "%s %s/%s", kind, ns, name) : arena_printf(a, "%s %s", kind, name);
}

struct sim_object *sim_input_find(const struct sim_input *in, const char *kind, const char *ns, const char *name)
{
    struct arena scratch;
    arena_init(&scratch);
    union map_value *found = map_str_find(&in->by_name, str_of(name_key(&scratch, kind, ns, name)));
    arena_fini(&scratch);
    struct sim_object *o = found ? &in->objects.at[found->num] : NULL;
    return o && !o->removed ? o : NULL;
}

/* The label that every namespace has and that selectors of namespaces use. */
static void label_namespace(struct sim_input *in, struct sim_object *o)
{
    struct value labels = edit_member(&in->arena, sim_field(o, "metadata.labels"), STR("kubernetes.io/metadata.name"),
                                      edit_text(o->name));
    o->value = edit_set(&in->arena, o->type, &o->value, "metadata.labels", labels);
}

static void complete_metadata(struct sim_input *in, struct sim_object *o)
{
    struct arena *a = &in->arena;
    bool namespaced = o->sim_kind->namespaced;
    o->kind = o->sim_kind->kind;
    o->name = sim_text(in, o, "metadata.name");
    o->ns = namespaced ? sim_text(in, o, "metadata.namespace") : "";
    o->uid = sim_text(in, o, "metadata.uid");
    if (namespaced && !*o->ns) {
        o->ns = "default";
        o->value = edit_set(a, o->type, &o->value, "metadata.namespace", edit_text(o->ns));
    }
    if (!*o->uid) {
        o->uid = name_key(a, o->kind, o->ns, o->name);
        o->value = edit_set(a, o->type, &o->value, "metadata.uid", edit_text(o->uid));
    }
    if (o->sim_kind->form == OBJECT_NAMESPACE)
        label_namespace(in, o);
}

/* The value of a new entry of the index; NULL when the name is taken. */
static union map_value *take_name(struct sim_input *in, const char *key, const struct sim_object **ret_holder)
{
    bool is_new;
    union map_value *v = map_str_put(&in->by_name, str_of(key), &is_new);
    *ret_holder = is_new ? NULL : &in->objects.at[v->num];
    return is_new || (*ret_holder)->removed ? v : NULL;
}

enum err_code sim_input_add(struct sim_input *in, const struct sim_object *given, struct err *e)
{
    struct sim_object o = *given;
    o.sim_kind = sim_kind_of(o.type);
    complete_metadata(in, &o);
    if (!*o.name)
        return err_set(e, ERR_INVALID, "%s: %s without metadata.name", o.origin, o.kind);
    if (in->objects.n >= SIM_OBJECTS_MAX)
        return err_set(e, ERR_INVALID, "%s: %s %s: more than %d objects", o.origin, o.kind, o.name, SIM_OBJECTS_MAX);
    const char *key = name_key(&in->arena, o.kind, o.ns, o.name);
    const struct sim_object *holder;
    union map_value *v = take_name(in, key, &holder);
    if (!v)
        return err_set(e, ERR_INVALID, "%s: %s is there already, in %s", o.origin, key, holder->origin);
    v->num = in->objects.n;
    vec_push(&in->objects, o);
    return ERR_OK;
}

size_t sim_input_put(struct sim_input *in, const struct sim_object *o)
{
    const struct sim_object *holder;
    union map_value *v = take_name(in, name_key(&in->arena, o->kind, o->ns, o->name), &holder);
    assert(v);
    v->num = in->objects.n;
    vec_push(&in->objects, *o);
    return v->num;
}

void sim_input_remove(struct sim_input *in, struct sim_object *o)
{
    assert(o >= in->objects.at);
    assert(o < in->objects.at + in->objects.n);
    o->removed = true;
}

/* ---- Documents ---- */

static enum err_code add_value(struct sim_input *in, const char *origin, const struct type *t, struct value v, struct err *e);

static enum err_code add_body(struct sim_input *in, const char *origin, enum media media, struct str body, struct err *e)
{
    struct findings findings = { .n = 0 };
    struct gvk none = { 0 }, seen = { 0 };
    struct object o;
    if (object_read(&in->arena, media, body, none, &findings, &o, &seen, e)) {
        struct str version = seen.version;
        const char *api_version = seen.group.n ? arena_printf(&in->arena, "%.*s/%.*s", STR_ARG(seen.group), STR_ARG(version))
                                               : arena_cstr(&in->arena, version);
        if (!seen.kind.n || !version.n || schema_object_type(str_of(api_version), seen.kind))
            return err_wrap(e, "%s", origin);
        sim_warn(in, "%s: %.*s of %s is not known and left out", origin, STR_ARG(seen.kind), api_version);
        return ERR_OK;
    }
    for (unsigned i = 0; i < findings.n; i++)
        sim_warn(in, "%s: %s", origin, findings.texts[i]);
    return add_value(in, origin, o.type, o.value, e);
}

/* Items of a typed list are objects of the list's own item type; items of a List say what they are. */
static enum err_code add_items(struct sim_input *in, const char *origin, const struct field *f, const struct value *items,
                               struct err *e)
{
    for (uint32_t i = 0; items->kind == VALUE_LIST && i < items->n; i++) {
        const char *at = arena_printf(&in->arena, "%s, items[%u]", origin, i);
        enum err_code code = f->kind == KIND_STRUCT ? add_value(in, at, f->type, items->items[i], e)
                                                    : add_body(in, at, MEDIA_JSON, value_text(&items->items[i]), e);
        if (code)
            return code;
    }
    return ERR_OK;
}

static enum err_code add_value(struct sim_input *in, const char *origin, const struct type *t, struct value v, struct err *e)
{
    int items = str_ends(t->kind, STR("List")) ? schema_slot(t, STR("items")) : -1;
    if (items >= 0)
        return add_items(in, origin, &t->fields[items], &v.slots[items], e);
    if (sim_kind_of(t))
        return sim_input_add(in, &(struct sim_object){ .type = t, .value = v, .origin = origin }, e);
    in->n_ignored++;
    return ERR_OK;
}

enum err_code sim_input_text(struct sim_input *in, const char *file, struct str text, struct err *e)
{
    struct yaml_stream stream;
    yaml_stream_init(&stream, arena_str(&in->arena, text)); /* objects may point into it */
    for (size_t number = 1;; number++) {
        const char *origin = arena_printf(&in->arena, "%s, document %zu", file, number);
        struct str document;
        if (yaml_next_document(&stream, &document, e))
            return err_wrap(e, "%s", origin);
        if (!document.p)
            return ERR_OK;
        if (add_body(in, origin, stream.json ? MEDIA_JSON : MEDIA_YAML, document, e))
            return e->code;
    }
}
