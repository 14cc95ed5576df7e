/* sim/input.c - see input.h. */
#include "sim/input.h"

#include "api/edit.h"
#include "api/generate_name.h"
#include "sim/forms.h"

void sim_input_init(struct sim_input *in, struct sym_table *syms)
{
    *in = (struct sim_input){ .syms = syms };
    arena_init(&in->arena);
    arena_init(&in->waiting);
    map_str_init(&in->by_name);
}

void sim_input_fini(struct sim_input *in)
{
    for (size_t i = 0; i < in->objects.n; i++)
        sim_form_unref(in->syms, &in->objects.at[i]);
    vec_fini(&in->objects);
    vec_fini(&in->warnings);
    vec_fini(&in->refused);
    map_str_fini(&in->by_name);
    arena_fini(&in->arena);
    arena_fini(&in->waiting);
}

void sim_input_copy(struct sim_input *to, const struct sim_input *from)
{
    sim_input_init(to, from->syms);
    to->progress = from->progress;
    to->n_ignored = from->n_ignored;
    to->settled = from->settled;
    for (size_t i = 0; i < from->refused.n; i++)
        vec_push(&to->refused, from->refused.at[i]);
    map_str_copy(&to->by_name, &from->by_name);
    vec_reserve(&to->objects, from->objects.n);
    for (size_t i = 0; i < from->objects.n; i++) {
        sim_form_ref(&from->objects.at[i]);
        vec_push(&to->objects, from->objects.at[i]);
    }
}

void sim_tell(const struct sim_progress *p, enum sim_phase phase, size_t done, size_t total)
{
    if (p->at)
        p->at(p->context, phase, done, total);
}

static bool was_warned(const struct sim_input *in, const char *text)
{
    for (size_t i = 0; i < in->warnings.n; i++)
        if (strcmp(in->warnings.at[i], text) == 0)
            return true;
    return false;
}

/* A cluster is gone over more than once, so that the same may be found again. */
void sim_warn(struct sim_input *in, const char *format, ...)
{
    if (in->warnings.n == SIM_WARNINGS_MAX) {
        in->n_more_warnings++;
        return;
    }
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(&in->arena, format, args);
    va_end(args);
    if (!was_warned(in, text))
        vec_push(&in->warnings, text);
}

void sim_refuse(struct sim_input *in, const char *what, uint32_t n, const char *reason)
{
    for (size_t i = 0; i < in->refused.n; i++)
        if (strcmp(in->refused.at[i].what, what) == 0 && strcmp(in->refused.at[i].reason, reason) == 0) {
            in->refused.at[i].n += n;
            return;
        }
    vec_push(&in->refused, (struct sim_refused){ arena_cstr(&in->arena, str_of(what)),
                                                 arena_cstr(&in->arena, str_of(reason)), n });
}

/* ---- Fields ---- */

struct arena *sim_value_arena(struct sim_input *in, const struct sim_object *o)
{
    return sim_is_pod(o) ? &in->waiting : &in->arena;
}

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

/* "cart-" becomes "cart-x7k2m", or the next one that is free. */
static const char *make_name(struct sim_input *in, const struct sim_object *o)
{
    struct str base = value_text(sim_field(o, "metadata.generateName"));
    const char *name = "";
    while (base.n && (!*name || sim_input_find(in, o->kind, o->ns, name)))
        name = name_generate(&in->arena, base, in->n_generated++);
    return name;
}

static void set_text(struct sim_input *in, struct sim_object *o, const char *path, const char *text)
{
    o->value = edit_set(sim_value_arena(in, o), o->type, &o->value, path, edit_text(text));
}

static void complete_metadata(struct sim_input *in, struct sim_object *o)
{
    bool namespaced = o->sim_kind->namespaced;
    o->kind = o->sim_kind->kind;
    o->name = sim_text(in, o, "metadata.name");
    o->ns = namespaced ? sim_text(in, o, "metadata.namespace") : "";
    o->uid = sim_text(in, o, "metadata.uid");
    o->from_server = *o->uid;
    if (namespaced && !*o->ns) {
        o->ns = "default";
        set_text(in, o, "metadata.namespace", o->ns);
    }
    if (!*o->name) {
        o->name = make_name(in, o);
        set_text(in, o, "metadata.name", o->name);
    }
    if (!*o->uid) {
        o->uid = name_key(&in->arena, o->kind, o->ns, o->name);
        set_text(in, o, "metadata.uid", o->uid);
    }
}

/* The value of a new entry of the index; NULL when the name is taken. */
static union map_value *take_name(struct sim_input *in, const char *key, struct sim_object **ret_holder)
{
    bool is_new;
    union map_value *v = map_str_put(&in->by_name, str_of(key), &is_new);
    *ret_holder = is_new ? NULL : &in->objects.at[v->num];
    return is_new || (*ret_holder)->removed ? v : NULL;
}

/* What whoever writes a manifest leaves to others stays as it was. */
static void keep_others(struct sim_input *in, struct sim_object *o, const struct sim_object *old)
{
    static const char *const paths[] = { "status", "metadata.uid", "metadata.creationTimestamp" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct value *was = sim_field(old, paths[i]);
        bool written = sim_field(o, paths[i])->kind != VALUE_ABSENT && (i != 1 || o->from_server);
        if (was->kind != VALUE_ABSENT && !written)
            o->value = edit_set(sim_value_arena(in, o), o->type, &o->value, paths[i], *was);
    }
    o->uid = old->uid;
    o->from_server = old->from_server;
}

/* As `kubectl apply` does with one manifest after the other. Of a pod hardly anything can be changed: one that a server has
 * seen stays. */
static void replace(struct sim_input *in, struct sim_object *old, struct sim_object *o, const char *key)
{
    bool was_seen = sim_is_pod(old) && (old->form || old->from_server);
    bool is_seen = sim_is_pod(o) && (o->form || o->from_server);
    if (was_seen && !is_seen) {
        sim_warn(in, "%s: %s is there already, in %s, and stays as it is", o->origin, key, old->origin);
        return;
    }
    if (strcmp(o->origin, old->origin) != 0) /* or it is read a second time (read.c) */
        sim_warn(in, "%s: %s takes the place of the one in %s", o->origin, key, old->origin);
    if (!sim_is_pod(o))
        keep_others(in, o, old);
    o->replaced = true;
    sim_form_ref(o);
    sim_form_unref(in->syms, old);
    *old = *o;
}

/* `key` is the object's, in the input's arena. */
static enum err_code insert(struct sim_input *in, struct sim_object *o, const char *key, struct err *e)
{
    if (in->objects.n >= SIM_OBJECTS_MAX)
        return err_set(e, ERR_INVALID, "%s: %s: more than %d objects", o->origin, key, SIM_OBJECTS_MAX);
    struct sim_object *holder;
    union map_value *v = take_name(in, key, &holder);
    if (!v) {
        in->last = (size_t)(holder - in->objects.at);
        replace(in, holder, o, key);
        return ERR_OK;
    }
    in->last = v->num = in->objects.n;
    sim_form_ref(o);
    vec_push(&in->objects, *o);
    return ERR_OK;
}

enum err_code sim_input_add(struct sim_input *in, const struct sim_object *given, struct err *e)
{
    struct sim_object o = *given;
    o.sim_kind = sim_kind_of(o.type);
    complete_metadata(in, &o);
    if (!*o.name)
        return err_set(e, ERR_INVALID, "%s: %s without metadata.name", o.origin, o.kind);
    return insert(in, &o, name_key(&in->arena, o.kind, o.ns, o.name), e);
}

enum err_code sim_input_add_pod(struct sim_input *in, const struct sim_object *given, struct err *e)
{
    struct sim_object o = *given;
    const struct pod *form = sim_pod_form(&o);
    o.ns = sym_text(in->syms, form->meta.ns).p;
    o.uid = form->meta.uid;
    const char *key = name_key(&in->arena, o.kind, o.ns, form->meta.name);
    o.name = key + strlen(key) - strlen(form->meta.name);
    o.from_server = true;
    enum err_code code = insert(in, &o, key, e);
    sim_form_unref(in->syms, &o);
    return code;
}

size_t sim_input_put(struct sim_input *in, const struct sim_object *o)
{
    struct sim_object *holder;
    union map_value *v = take_name(in, name_key(&in->arena, o->kind, o->ns, o->name), &holder);
    assert(v);
    v->num = in->objects.n;
    vec_push(&in->objects, *o);
    return v->num;
}

struct sim_mark sim_input_mark(const struct sim_input *in)
{
    return (struct sim_mark){ in->objects.n, in->warnings.n, in->n_more_warnings, in->n_ignored };
}

void sim_input_rewind(struct sim_input *in, struct sim_mark mark)
{
    struct arena scratch;
    arena_init(&scratch);
    while (in->objects.n > mark.n_objects) {
        struct sim_object o = vec_pop(&in->objects);
        map_str_remove(&in->by_name, str_of(name_key(&scratch, o.kind, o.ns, o.name)), NULL);
        sim_form_unref(in->syms, &o);
    }
    arena_fini(&scratch);
    in->warnings.n = mark.n_warnings;
    in->n_more_warnings = mark.n_more_warnings;
    in->n_ignored = mark.n_ignored;
}

bool sim_input_changed(const struct sim_input *in, struct sim_mark mark)
{
    return in->objects.n > mark.n_objects || in->warnings.n > mark.n_warnings ||
           in->n_more_warnings > mark.n_more_warnings || in->n_ignored > mark.n_ignored;
}

void sim_input_remove(struct sim_input *in, struct sim_object *o)
{
    assert(o >= in->objects.at);
    assert(o < in->objects.at + in->objects.n);
    o->removed = true;
}
