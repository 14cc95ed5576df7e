/* sim/check.c - see check.h. */
#include "sim/check.h"

#include "api/names.h"
#include "api/quantity.h"

static const char *object_text(struct arena *a, const struct sim_object *o)
{
    return arena_printf(a, "%s: %s %s%s%s", o->origin, o->kind, o->ns, *o->ns ? "/" : "", o->name);
}

/* `index` is that of an item in the list `path`, or -1. */
static void warn_field(struct sim_input *in, const struct sim_object *o, const char *path, int64_t index,
                       const char *below, const char *what)
{
    struct arena a;
    arena_init(&a);
    const char *at = index < 0 ? path : arena_printf(&a, "%s[%lld]%s", path, (long long)index, below);
    sim_warn(in, "%s: %s: %s", object_text(&a, o), at, what);
    arena_fini(&a);
}

/* ---- Amounts ---- */

/* What is wrong with an amount, or NULL. The text is a quantity that has been parsed before. */
static const char *amount_fault(struct arena *a, struct str resource, struct str text)
{
    struct err e;
    err_init(&e, a);
    int64_t value;
    if (quantity_parse_scaled(text, str_is(resource, "cpu") ? QUANTITY_MILLI : 0, &value, &e))
        return e.message;
    if (value < 0)
        return arena_printf(a, "%.*s is negative", STR_ARG(text));
    if (value == INT64_MAX)
        return arena_printf(a, "%.*s is more than can be counted and taken as the most that can", STR_ARG(text));
    return NULL;
}

/* A map from resources to amounts, at `path` followed by an index and `below` as in warn_field. */
static void check_amounts(struct sim_input *in, const struct sim_object *o, const struct value *map, const char *path,
                          int64_t index, const char *below)
{
    for (uint32_t i = 0; map->kind == VALUE_MAP && i < map->n; i++) {
        struct arena a;
        arena_init(&a);
        struct str resource = map->members[i].key;
        const char *fault = amount_fault(&a, resource, value_text(&map->members[i].value));
        if (fault && index < 0)
            warn_field(in, o, arena_printf(&a, "%s.%.*s", path, STR_ARG(resource)), -1, "", fault);
        else if (fault)
            warn_field(in, o, path, index, arena_printf(&a, "%s.%.*s", below, STR_ARG(resource)), fault);
        arena_fini(&a);
    }
}

static void check_containers(struct sim_input *in, const struct sim_object *o, const struct value *v, const char *path)
{
    const struct type *container = schema_type(STR("core/v1.Container"));
    const struct value *list = value_path(o->type, v, path);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *item = &list->items[i];
        check_amounts(in, o, value_path(container, item, "resources.requests"), path, i, ".resources.requests");
        check_amounts(in, o, value_path(container, item, "resources.limits"), path, i, ".resources.limits");
    }
}

static void check_amounts_at(struct sim_input *in, const struct sim_object *o, const struct value *v, const char *path)
{
    check_amounts(in, o, value_path(o->type, v, path), path, -1, "");
}

/* ---- Values ---- */

/* Equalities of labels. */
static void check_labels(struct sim_input *in, const struct sim_object *o, const struct value *v, const char *path)
{
    const struct value *map = value_path(o->type, v, path);
    for (uint32_t i = 0; map->kind == VALUE_MAP && i < map->n; i++) {
        struct name_errors key = name_label_key(map->members[i].key);
        struct name_errors value = name_label_value(value_text(&map->members[i].value));
        if (key.n || value.n)
            warn_field(in, o, path, -1, "", key.n ? key.at[0] : value.at[0]);
    }
}

static void check_name(struct sim_input *in, const struct sim_object *o)
{
    struct name_errors found = name_dns1123_subdomain(str_of(o->name));
    if (found.n)
        warn_field(in, o, "metadata.name", -1, "", found.at[0]);
}

static enum err_code check_not_negative(const struct sim_object *o, const struct value *v, const char *path,
                                        struct err *e)
{
    const struct value *n = value_path(o->type, v, path);
    if (n->kind != VALUE_INT || n->i >= 0)
        return ERR_OK;
    struct arena a;
    arena_init(&a);
    err_set(e, ERR_INVALID, "%s: %s: %lld is negative", object_text(&a, o), path, (long long)n->i);
    arena_fini(&a);
    return e->code;
}

static enum err_code check_controller(struct sim_input *in, const struct sim_object *o, const struct value *v,
                                      struct err *e)
{
    check_containers(in, o, v, "spec.template.spec.containers");
    check_containers(in, o, v, "spec.template.spec.initContainers");
    check_labels(in, o, v, "spec.template.spec.nodeSelector");
    if (strcmp(o->kind, "DaemonSet") == 0)
        return ERR_OK;
    if (strcmp(o->kind, "Job") != 0)
        return check_not_negative(o, v, "spec.replicas", e);
    if (check_not_negative(o, v, "spec.parallelism", e))
        return e->code;
    return check_not_negative(o, v, "spec.completions", e);
}

enum err_code sim_check_value(struct sim_input *in, const struct sim_object *o, const struct value *v, struct err *e)
{
    check_name(in, o);
    switch (o->sim_kind->form) {
    case SIM_FORM_POD:
        check_containers(in, o, v, "spec.containers");
        check_containers(in, o, v, "spec.initContainers");
        check_amounts_at(in, o, v, "spec.overhead");
        check_labels(in, o, v, "spec.nodeSelector");
        return ERR_OK;
    case SIM_FORM_NODE:
        check_amounts_at(in, o, v, "status.capacity");
        check_amounts_at(in, o, v, "status.allocatable");
        return ERR_OK;
    case OBJECT_PERSISTENT_VOLUME:
        check_amounts_at(in, o, v, "spec.capacity");
        return ERR_OK;
    case OBJECT_PERSISTENT_VOLUME_CLAIM:
        check_amounts_at(in, o, v, "spec.resources.requests");
        return ERR_OK;
    case OBJECT_REPLICATION_CONTROLLER:
    case OBJECT_REPLICA_SET:
    case OBJECT_STATEFUL_SET:
    case SIM_FORM_NONE:
        return check_controller(in, o, v, e);
    default:
        return ERR_OK;
    }
}

/* ---- Forms ---- */

static void check_matcher(struct sim_input *in, const struct sim_object *o, const struct matcher *m, const char *path,
                          int64_t index, const char *below)
{
    if (m->mode == MATCHER_INVALID)
        warn_field(in, o, path, index, below, m->error);
}

static void check_terms(struct sim_input *in, const struct sim_object *o, const struct affinity_terms *terms,
                        const char *path)
{
    if (terms->error)
        warn_field(in, o, path, -1, "", terms->error);
}

static void check_sum(struct sim_input *in, const struct sim_object *o, int64_t sum, const char *resource)
{
    if (sum == INT64_MAX)
        sim_warn(in, "%s: Pod %s/%s: its requests of %s are more than can be counted", o->origin, o->ns, o->name,
                 resource);
}

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static void check_pod(struct sim_input *in, const struct sim_object *o, const struct pod *pod)
{
    if (pod->affinity) {
        check_terms(in, o, &pod->affinity->required, "spec.affinity.podAffinity." REQUIRED);
        check_terms(in, o, &pod->affinity->preferred, "spec.affinity.podAffinity." PREFERRED);
        check_terms(in, o, &pod->affinity->required_anti, "spec.affinity.podAntiAffinity." REQUIRED);
        check_terms(in, o, &pod->affinity->preferred_anti, "spec.affinity.podAntiAffinity." PREFERRED);
    }
    if (pod->node_affinity && pod->node_affinity->required.error)
        warn_field(in, o, "spec.affinity.nodeAffinity." REQUIRED, -1, "", pod->node_affinity->required.error);
    if (pod->node_affinity && pod->node_affinity->preferred_error)
        warn_field(in, o, "spec.affinity.nodeAffinity." PREFERRED, -1, "", pod->node_affinity->preferred_error);
    for (uint16_t i = 0; i < pod->n_spread; i++)
        check_matcher(in, o, &pod->spread[i].selector, "spec.topologySpreadConstraints", i, ".labelSelector");
    check_sum(in, o, pod->requested->milli_cpu, "cpu");
    check_sum(in, o, pod->requested->memory, "memory");
}

void sim_check_form(struct sim_input *in, const struct sim_object *o)
{
    switch (o->sim_kind->form) {
    case SIM_FORM_POD:
        check_pod(in, o, sim_pod_form(o));
        return;
    case OBJECT_REPLICA_SET:
        check_matcher(in, o, &((const struct replica_set *)o->form)->selector, "spec.selector", -1, "");
        return;
    case OBJECT_STATEFUL_SET:
        check_matcher(in, o, &((const struct stateful_set *)o->form)->selector, "spec.selector", -1, "");
        return;
    case OBJECT_BUDGET:
        check_matcher(in, o, &((const struct pdb *)o->form)->selector, "spec.selector", -1, "");
        return;
    case OBJECT_PERSISTENT_VOLUME_CLAIM:
        check_matcher(in, o, &((const struct pvc *)o->form)->selector, "spec.selector", -1, "");
        return;
    default:
        return;
    }
}
