/* sim/capacity.c - see capacity.h. */
#include "sim/capacity.h"

#include <stdio.h>

#include "base/sort.h"
#include "sim/admission.h"
#include "sim/expand.h"

enum { REASONS_MAX = 64 };

/* ---- The pod ---- */

/* The one object of the file that is a pod or makes pods. */
static enum err_code find_model(const struct sim_input *file, const struct sim_object **ret_model, struct err *e)
{
    const struct sim_object *found = NULL;
    for (size_t i = 0; i < file->objects.n; i++) {
        const struct sim_object *o = &file->objects.at[i];
        if (!sim_is_pod(o) && sim_field(o, "spec.template.spec")->kind != VALUE_STRUCT)
            continue;
        if (found)
            return err_set(e, ERR_INVALID, "%s: %s %s/%s: a second one; give one pod or one controller", o->origin,
                           o->kind, o->ns, o->name);
        found = o;
    }
    if (!found)
        return err_set(e, ERR_INVALID, "neither a Pod nor a controller with a template is there");
    *ret_model = found;
    return ERR_OK;
}

static enum err_code add_classes(struct sim_input *to, const struct sim_input *from, struct err *e)
{
    for (size_t i = 0; i < from->objects.n; i++) {
        const struct sim_object *o = &from->objects.at[i];
        struct sim_object class = { .type = o->type, .value = o->value, .origin = o->origin };
        bool counts = strcmp(o->kind, "PriorityClass") == 0 || strcmp(o->kind, "RuntimeClass") == 0 ||
                      strcmp(o->kind, "LimitRange") == 0;
        if (counts && !o->removed && !sim_input_find(to, o->kind, o->ns, o->name) && sim_input_add(to, &class, e))
            return e->code;
    }
    return ERR_OK;
}

/* The form of the pod that the model is or describes; a reference. */
static enum err_code model_form(struct sim_input *file, const struct sim_object *model, const struct pod **ret_form,
                                struct err *e)
{
    if (model->form && sim_is_pod(model)) {
        *ret_form = pod_ref(sim_pod_form(model));
        return ERR_OK;
    }
    struct sim_object pod = sim_is_pod(model) ? *model : sim_template_pod(file, model);
    pod.kind = "Pod";
    pod.ns = model->ns;
    pod.name = model->name;
    pod.sim_kind = sim_kind_of(pod.type);
    struct sim_admission admission;
    sim_admission_init(&admission, file);
    const char *refused = sim_admit(&admission, &pod);
    sim_admission_fini(&admission);
    if (refused)
        return err_set(e, ERR_INVALID, "the API server would refuse it: %s", refused);
    if (sim_object_form(file, &pod, e))
        return e->code;
    *ret_form = sim_pod_form(&pod);
    return ERR_OK;
}

enum err_code sim_capacity_pod(struct sim_input *file, const struct sim_input *cluster, const struct pod **ret_pod,
                               const char **ret_name, struct err *e)
{
    const struct sim_object *found = NULL;
    if (find_model(file, &found, e))
        return e->code;
    struct sim_object model = *found; /* a copy: objects move when classes are added */
    const struct pod *form = NULL;
    if (add_classes(file, cluster, e) || model_form(file, &model, &form, e))
        return e->code;
    const struct pod *fresh = pod_unscheduled(file->syms, form);
    *ret_pod = pod_never_preempting(file->syms, fresh);
    *ret_name = arena_printf(&file->arena, "%s %s/%s", model.kind, model.ns, model.name);
    pod_unref(file->syms, fresh);
    pod_unref(file->syms, form);
    return ERR_OK;
}

/* ---- Reasons ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of one "3 Insufficient cpu": where ", 2 ..." begins, or the end. */
static const char *item_end(const char *at, const char *end)
{
    for (const char *p = at; p + 2 < end; p++) {
        if (p[0] != ',' || p[1] != ' ' || !is_digit(p[2]))
            continue;
        const char *q = p + 2;
        while (q < end && is_digit(*q))
            q++;
        if (q < end && *q == ' ')
            return p;
    }
    return end;
}

static const char *list_end(const char *list)
{
    const char *more = strstr(list, ". "); /* what preemption has to say */
    if (more)
        return more;
    size_t n = strlen(list);
    return list + (n && list[n - 1] == '.' ? n - 1 : n);
}

static int compare_reasons(const void *a, const void *b)
{
    const struct sim_reason *one = a, *other = b;
    return one->n_nodes < other->n_nodes ? 1 : one->n_nodes > other->n_nodes ? -1 : 0;
}

void sim_reasons_of(struct arena *a, const char *message, struct sim_reason *ret_reasons, size_t n_max, size_t *ret_n)
{
    const char *list = strncmp(message, "0/", 2) == 0 ? strstr(message, " nodes are available: ") : NULL;
    *ret_n = 0;
    if (list) {
        list += strlen(" nodes are available: ");
        const char *end = list_end(list);
        while (list < end && is_digit(*list) && *ret_n < n_max) {
            char *text;
            unsigned long n_nodes = strtoul(list, &text, 10);
            const char *stop = item_end(text, end);
            text += text < stop && *text == ' ';
            ret_reasons[(*ret_n)++] = (struct sim_reason){ arena_cstr(a, str_range(text, stop)), (uint32_t)n_nodes };
            list = stop + 2 <= end ? stop + 2 : end;
        }
    }
    if (!*ret_n)
        ret_reasons[(*ret_n)++] = (struct sim_reason){ arena_cstr(a, str_of(message)), 0 };
    sort_stable(a, ret_reasons, *ret_n, sizeof(*ret_reasons), compare_reasons);
}

/* Reasons that no copy brought about: the node was never one for this pod. */
static bool is_lasting(const char *reason)
{
    static const char *const beginnings[] = {
        "node(s) had untolerated taint",
        "node(s) didn't match Pod's node affinity",
        "node(s) were unschedulable",
        "node(s) didn't match the requested node name",
        "node(s) had volume node affinity conflict",
    };
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(reason, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static const char *plain_words(struct arena *a, const char *reason)
{
    static const char insufficient[] = "Insufficient ";
    static const struct {
        const char *beginning, *words;
    } others[] = {
        { "Too many pods", "the number of pods that a node may have" },
        { "node(s) didn't have free ports", "free host ports" },
        { "node(s) exceed max volume count", "volumes that a node may have" },
        { "node(s) didn't match pod anti-affinity rules",
          "nodes without a pod that it must not be with (anti-affinity)" },
        { "node(s) didn't satisfy existing pods anti-affinity",
          "nodes whose pods let it be with them (their anti-affinity)" },
        { "node(s) didn't match pod topology spread constraints", "places that keep the copies spread" },
    };
    if (strncmp(reason, insufficient, strlen(insufficient)) == 0)
        return arena_cstr(a, str_of(reason + strlen(insufficient)));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(reason, others[i].beginning, strlen(others[i].beginning)) == 0)
            return others[i].words;
    return reason;
}

static void explain(struct sim_capacity *c, const char *message)
{
    struct sim_reason reasons[REASONS_MAX];
    size_t n;
    c->message = arena_cstr(&c->arena, str_of(message));
    sim_reasons_of(&c->arena, message, reasons, REASONS_MAX, &n);
    for (size_t i = 0; i < n; i++) {
        vec_push(&c->reasons, reasons[i]);
        if (!c->runs_out && !is_lasting(reasons[i].text))
            c->runs_out = plain_words(&c->arena, reasons[i].text);
    }
    if (!c->runs_out)
        c->runs_out = plain_words(&c->arena, reasons[0].text);
}

/* ---- Copies ---- */

static struct sim_try try_copy(struct sim_world *w, const struct pod *pod, uint32_t number)
{
    char name[32], uid[64];
    snprintf(name, sizeof(name), "copy-%u", number);
    snprintf(uid, sizeof(uid), "berth/capacity/copy-%u", number);
    const struct pod *copy = pod_with_identity(w->syms, pod, name, uid);
    struct sim_try outcome = sim_world_try(w, copy);
    pod_unref(w->syms, copy);
    return outcome;
}

void sim_capacity_init(struct sim_capacity *c, struct sim_world *w, const struct pod *pod, const char *name)
{
    *c = (struct sim_capacity){ .n_copies = 0 };
    arena_init(&c->arena);
    c->pod = arena_cstr(&c->arena, str_of(name));
    for (size_t i = 0; i < w->nodes.n; i++)
        vec_push(&c->on_node, 0);
    sim_world_give_up_pending(w);
    while (c->n_copies < SIM_CAPACITY_MAX) {
        struct sim_try t = try_copy(w, pod, c->n_copies);
        if (t.node == SIM_NO_NODE) {
            explain(c, t.message ? t.message : "not tried");
            free(t.message);
            return;
        }
        free(t.message);
        c->on_node.at[t.node]++;
        c->n_copies++;
    }
    c->at_limit = true;
}

void sim_capacity_fini(struct sim_capacity *c)
{
    vec_fini(&c->on_node);
    vec_fini(&c->reasons);
    arena_fini(&c->arena);
}
