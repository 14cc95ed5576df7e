/* sim/trace_pods.c - see trace_pods.h. */
#include "sim/trace_pods.h"

#include "api/edit.h"
#include "codec/json.h"
#include "forms/namespace.h"
#include "sim/admission.h"
#include "sim/constant.h"

enum { FORMS_MAX = 4096 }; /* kept at once */

#define PLAIN_POD                                                                                                      \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"trace\",\"namespace\":\"default\"},"             \
    "\"spec\":{\"containers\":[{\"name\":\"main\"}]}}"

void trace_pods_init(struct trace_pods *p, struct sim_world *w, const struct trace *t)
{
    *p = (struct trace_pods){ .world = w, .trace = t };
    p->templates = mem_zalloc(t->texts.n * sizeof(*p->templates));
    arena_init(&p->keys);
    arena_init(&p->scratch);
    map_str_init(&p->by_key);
}

static void forget_forms(struct trace_pods *p)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&p->by_key, s));)
        pod_unref(p->world->syms, s->value.const_ptr);
    map_str_fini(&p->by_key);
    map_str_init(&p->by_key);
    arena_reset(&p->keys);
}

void trace_pods_fini(struct trace_pods *p)
{
    forget_forms(p);
    map_str_fini(&p->by_key);
    arena_fini(&p->keys);
    arena_fini(&p->scratch);
    free(p->templates);
}

/* ---- Templates ---- */

static const char *const template_kinds[] = {
    "Pod", "ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job",
};

static bool is_template_kind(const char *kind)
{
    for (size_t i = 0; i < sizeof(template_kinds) / sizeof(template_kinds[0]); i++)
        if (strcmp(kind, template_kinds[i]) == 0)
            return true;
    return false;
}

/* `name` is NAME, KIND/NAME or KIND/NAMESPACE/NAME. */
static bool is_named(const struct sim_object *o, struct str name)
{
    size_t first = str_index(name, '/');
    if (first == name.n)
        return str_is(name, o->name);
    struct str rest = str_from(name, first + 1);
    size_t second = str_index(rest, '/');
    bool right_ns = second == rest.n || str_is(str_first(rest, second), o->ns);
    return str_is(str_first(name, first), o->kind) && right_ns &&
           str_is(second == rest.n ? rest : str_from(rest, second + 1), o->name);
}

/* Pods that were made for a controller are not what a person would name. */
static enum err_code find_template(const struct sim_input *in, const char *name, const struct sim_object **ret_o,
                                   struct err *e)
{
    const struct sim_object *found = NULL;
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (o->removed || o->made || !is_template_kind(o->kind) || !is_named(o, str_of(name)))
            continue;
        if (found)
            return err_set(e, ERR_INVALID, "\"%s\" could be %s %s/%s and %s %s/%s: write KIND/NAMESPACE/NAME", name,
                           found->kind, found->ns, found->name, o->kind, o->ns, o->name);
        found = o;
    }
    if (!found)
        return err_set(e, ERR_INVALID, "\"%s\": no pod or controller of that name is given", name);
    *ret_o = found;
    return ERR_OK;
}

static void set(struct arena *a, struct sim_object *o, const char *path, struct value to)
{
    o->value = edit_set(a, o->type, &o->value, path, to);
}

static struct sim_object plain_pod(struct trace_pods *p)
{
    struct arena *a = &p->world->in->arena;
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct sim_object o = {
        .type = t, .sim_kind = sim_kind_of(t), .origin = p->trace->file, .kind = "Pod", .ns = "default", .name = "trace"
    };
    o.value = constant_value(a, "core/v1.Pod", PLAIN_POD);
    struct str scheduler = p->world->setup->config->profiles[0].scheduler_name;
    set(a, &o, "spec.schedulerName", value_string(scheduler));
    return o;
}

static struct sim_object pod_of(struct trace_pods *p, const struct sim_object *controller)
{
    struct arena *a = &p->world->in->arena;
    struct sim_object o = plain_pod(p);
    o.origin = controller->origin;
    o.ns = controller->ns;
    o.name = controller->name;
    set(a, &o, "metadata.namespace", edit_text(controller->ns));
    set(a, &o, "metadata.labels", *sim_field(controller, "spec.template.metadata.labels"));
    set(a, &o, "spec", *sim_field(controller, "spec.template.spec"));
    return o;
}

static const struct pod *world_form(const struct sim_world *w, const struct sim_object *o)
{
    for (size_t i = 0; i < w->pods.n; i++)
        if (strcmp(w->pods.at[i].name, o->name) == 0 && strcmp(w->pods.at[i].ns, o->ns) == 0)
            return w->pods.at[i].form;
    return NULL;
}

static const char *admit(struct sim_input *in, struct sim_object *pod)
{
    struct sim_admission a;
    sim_admission_init(&a, in);
    const char *refused = sim_admit(&a, pod);
    sim_admission_fini(&a);
    return refused;
}

static enum err_code load_template(struct trace_pods *p, const struct sim_object *from, struct trace_template *to,
                                   struct err *e)
{
    struct sim_input *in = p->world->in;
    if (strcmp(from->kind, "Pod") == 0) {
        to->form = world_form(p->world, from);
        return to->form ? ERR_OK
                        : err_set(e, ERR_INVALID, "Pod %s/%s is left out of the cluster", from->ns, from->name);
    }
    to->object = pod_of(p, from);
    const struct value *containers = sim_field(&to->object, "spec.containers");
    if (containers->kind != VALUE_LIST || containers->n == 0)
        return err_set(e, ERR_INVALID, "the template of %s %s/%s has no containers", from->kind, from->ns, from->name);
    const char *refused = admit(in, &to->object);
    if (refused)
        return err_set(e, ERR_INVALID, "%s %s/%s: the API server would refuse its pods: %s", from->kind, from->ns, from->name,
                       refused);
    return ERR_OK;
}

static bool is_resized(const struct trace_row *row)
{
    return row->milli_cpu != TRACE_NOT_GIVEN || row->memory != TRACE_NOT_GIVEN;
}

static enum err_code check_row(const struct trace_pods *p, const struct trace_row *row, struct err *e)
{
    const struct pod *form = p->templates[row->template].form;
    if (!form)
        return ERR_OK;
    if (is_resized(row) &&
        (form->n_containers != 1 || form->n_init_containers || form->flags & POD_HAS_POD_LEVEL_RESOURCES))
        return err_set(e, ERR_INVALID, "cpu and memory cannot replace those of a Pod with several containers");
    if (row->ns && !str_is(sym_text(p->world->syms, form->meta.ns), p->trace->texts.at[row->ns]))
        return err_set(e, ERR_INVALID, "a Pod cannot be used in another namespace");
    return ERR_OK;
}

static enum err_code find_template_of(struct trace_pods *p, const struct trace_row *row, struct err *e)
{
    struct trace_template *to = &p->templates[row->template];
    const struct sim_object *from = NULL;
    if (!to->name) {
        if (find_template(p->world->in, p->trace->texts.at[row->template], &from, e) || load_template(p, from, to, e))
            return e->code;
        to->name = from->name;
    }
    return check_row(p, row, e);
}

enum err_code trace_pods_find_templates(struct trace_pods *p, struct err *e)
{
    struct sim_input *in = p->world->in;
    p->templates[0] = (struct trace_template){ .name = "trace", .object = plain_pod(p) };
    const char *refused = admit(in, &p->templates[0].object);
    if (refused)
        return err_set(e, ERR_INVALID, "%s: the API server would refuse its pods: %s", p->trace->file, refused);
    for (size_t i = 0; i < p->trace->rows.n; i++) {
        const struct trace_row *row = &p->trace->rows.at[i];
        if (row->template && find_template_of(p, row, e))
            return err_wrap(e, "%s, line %u, column \"template\"", p->trace->file, row->line);
    }
    return ERR_OK;
}

/* ---- Forms ---- */

static struct value amount_text(struct arena *a, int64_t amount, const char *unit)
{
    return edit_text(arena_printf(a, "%lld%s", (long long)amount, unit));
}

static void set_requests(struct arena *a, struct sim_object *o, const struct trace_row *row)
{
    const struct type *container = schema_type(STR("core/v1.Container"));
    const struct value *old = sim_field(o, "spec.containers");
    struct value *containers = ARENA_NEW_N(a, struct value, old->n);
    memcpy(containers, old->items, old->n * sizeof(*containers));
    struct value requests = *value_path(container, &containers[0], "resources.requests");
    if (row->milli_cpu != TRACE_NOT_GIVEN)
        requests = edit_member(a, &requests, STR("cpu"), amount_text(a, row->milli_cpu, "m"));
    if (row->memory != TRACE_NOT_GIVEN)
        requests = edit_member(a, &requests, STR("memory"), amount_text(a, row->memory, ""));
    if (requests.kind != VALUE_MAP)
        return;
    containers[0] = edit_set(a, container, &containers[0], "resources.requests", requests);
    set(a, o, "spec.containers", value_list(containers, old->n));
}

/* Of a Pod: what the line says in the place of what it has. */
static const struct pod *change_form(struct trace_pods *p, const struct trace_row *row, const struct pod *from)
{
    struct sym_table *syms = p->world->syms;
    const struct pod *sized =
        is_resized(row) ? pod_with_requests(syms, from, row->milli_cpu, row->memory) : pod_ref(from);
    if (!row->has_priority)
        return sized;
    const struct pod *form = pod_with_priority(syms, sized, row->priority);
    pod_unref(syms, sized);
    return form;
}

static enum err_code make_form(struct trace_pods *p, const struct trace_row *row, const struct pod **ret_form,
                               struct err *e)
{
    struct arena *a = &p->scratch;
    arena_reset(a);
    if (p->templates[row->template].form) {
        *ret_form = change_form(p, row, p->templates[row->template].form);
        return ERR_OK;
    }
    struct sim_object o = p->templates[row->template].object;
    if (row->ns)
        set(a, &o, "metadata.namespace", edit_text(p->trace->texts.at[row->ns]));
    if (row->has_priority)
        set(a, &o, "spec.priority", value_int(row->priority));
    set_requests(a, &o, row);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, o.type, &o.value);
    enum err_code code = pod_decode(p->world->syms, TYPED_JSON, strbuf_str(&json), ret_form, e);
    strbuf_fini(&json);
    return code ? err_wrap(e, "%s, line %u", p->trace->file, row->line) : ERR_OK;
}

/* As an API server would, before any pod is in it. */
static enum err_code make_namespace(struct trace_pods *p, sym ns, struct err *e)
{
    struct sim_world *w = p->world;
    struct str name = sym_text(w->syms, ns);
    if (objects_get(sched_objects(w->sched), OBJECT_NAMESPACE, SYM_EMPTY, name))
        return ERR_OK;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&json, "{\"metadata\":{\"name\":");
    json_add_string(&json, name);
    STRBUF_ADD_LIT(&json, ",\"labels\":{\"kubernetes.io/metadata.name\":");
    json_add_string(&json, name);
    STRBUF_ADD_LIT(&json, "}}}");
    const void *form;
    enum err_code code = object_form_decode(OBJECT_NAMESPACE, w->syms, TYPED_JSON, strbuf_str(&json), &form, e);
    strbuf_fini(&json);
    if (code)
        return code;
    sched_object_set(w->sched, OBJECT_NAMESPACE, form);
    object_unref(w->syms, OBJECT_NAMESPACE, form);
    return ERR_OK;
}

struct trace_key trace_key_of(const struct trace_row *row)
{
    return (struct trace_key){ row->milli_cpu, row->memory, row->has_priority ? row->priority : INT64_MIN,
                               row->template, row->ns };
}

enum err_code trace_pods_form(struct trace_pods *p, const struct trace_row *row, const struct pod **ret_form,
                              struct err *e)
{
    struct trace_key key = trace_key_of(row);
    struct str bytes = trace_key_bytes(&key);
    union map_value *known = map_str_find(&p->by_key, bytes);
    if (known) {
        *ret_form = known->const_ptr;
        return ERR_OK;
    }
    if (p->by_key.n >= FORMS_MAX)
        forget_forms(p);
    const struct pod *form;
    if (make_form(p, row, &form, e))
        return e->code;
    map_str_put(&p->by_key, arena_str(&p->keys, bytes), NULL)->const_ptr = form;
    *ret_form = form;
    return make_namespace(p, form->meta.ns, e);
}
