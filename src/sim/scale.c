/* sim/scale.c - another number of replicas; see change.h.
 *
 * More of them: expansion makes what lacks. Fewer: pods go in the order in which controllers choose
 * them, v1.36, as far as it can be known here. StatefulSet: the highest ordinals. All others: pods
 * without a node first; then by phase, Pending before Unknown before others; not ready ones; those
 * with more pods of the same controller on their node; those that started later; by name. Costs of
 * deletion (an annotation), restarts and times of getting ready are not looked at. A Deployment's
 * pods of its current ReplicaSet go before those of others. */
#include "sim/change.h"

#include <strings.h>

static const struct scalable {
    const char *kind;
    const char *names[3]; /* what users write, beside the kind */
    const char *path;     /* of the number */
} scalables[] = {
    { "Deployment", { "deployments", "deploy" }, "spec.replicas" },
    { "ReplicaSet", { "replicasets", "rs" }, "spec.replicas" },
    { "ReplicationController", { "replicationcontrollers", "rc" }, "spec.replicas" },
    { "StatefulSet", { "statefulsets", "sts" }, "spec.replicas" },
    { "Job", { "jobs" }, "spec.parallelism" },
};

/* ---- Which controller ---- */

static const struct scalable *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(scalables) / sizeof(scalables[0]); i++) {
        if (strcasecmp(name, scalables[i].kind) == 0)
            return &scalables[i];
        for (int k = 0; k < 3 && scalables[i].names[k]; k++)
            if (strcasecmp(name, scalables[i].names[k]) == 0)
                return &scalables[i];
    }
    return NULL;
}

enum { NAMED_MAX = 5 }; /* of several with one name */

/* The one of that name in any namespace. */
static enum err_code find_anywhere(struct sim_input *in, const char *kind, const char *name,
                                   struct sim_object **ret_object, struct err *e)
{
    struct sim_object *found = NULL;
    const char *all = "";
    int n = 0;
    for (size_t i = 0; i < in->objects.n; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (o->removed || strcmp(o->kind, kind) != 0 || strcmp(o->name, name) != 0)
            continue;
        found = o;
        if (n++ < NAMED_MAX)
            all = arena_printf(e->arena, "%s%s%s/%s", all, n > 1 ? ", " : "", o->ns, o->name);
    }
    if (n > 1)
        return err_set(e, ERR_INVALID, "more than one %s is named \"%s\": %s%s", kind, name, all,
                       n > NAMED_MAX ? ", ..." : "");
    if (!found)
        return sim_change_find(in, kind, "", name, ret_object, e);
    *ret_object = found;
    return ERR_OK;
}

static enum err_code find_controller(struct sim_input *in, const char *what, const struct scalable **ret_kind,
                                     struct sim_object **ret_object, struct err *e)
{
    const char *equals = strrchr(what, '=');
    assert(equals);
    struct str text = str_range(what, equals);
    size_t slash = str_index(text, '/');
    const char *kind = arena_cstr(e->arena, str_first(text, slash));
    struct str rest = str_from(text, slash + 1);
    size_t second = str_index(rest, '/');
    *ret_kind = find_kind(kind);
    if (!*ret_kind)
        return err_set(e, ERR_INVALID,
                       "\"%s\" cannot be scaled: give deployment, replicaset, replicationcontroller, statefulset "
                       "or job",
                       kind);
    if (second == rest.n)
        return find_anywhere(in, (*ret_kind)->kind, arena_cstr(e->arena, rest), ret_object, e);
    return sim_change_find(in, (*ret_kind)->kind, arena_cstr(e->arena, str_first(rest, second)),
                           arena_cstr(e->arena, str_from(rest, second + 1)), ret_object, e);
}

/* ---- Which pods go ---- */

struct candidate {
    size_t index;
    const struct pod *pod;
    bool current;  /* of the Deployment's current ReplicaSet */
    uint64_t rank; /* pods of the controller on its node */
};
typedef VEC(struct candidate) candidate_vec;

static int phase_order(const struct pod *p)
{
    return p->phase == PHASE_PENDING ? 0 : p->phase == PHASE_UNKNOWN ? 1 : 2;
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Less: goes first. */
static int compare_candidates(const void *one, const void *other)
{
    const struct candidate *a = one, *b = other;
    const struct pod *p = a->pod, *q = b->pod;
    int by[] = {
        order(b->current, a->current),
        order(p->node_name != SYM_EMPTY, q->node_name != SYM_EMPTY),
        order(phase_order(p), phase_order(q)),
        order(!(p->flags & POD_NOT_READY), !(q->flags & POD_NOT_READY)),
        order((int64_t)b->rank, (int64_t)a->rank),
        order(!!(p->flags & POD_HAS_START_TIME), !!(q->flags & POD_HAS_START_TIME)), /* no time counts as now */
        order(q->start_time_s, p->start_time_s),
        strcmp(p->meta.name, q->meta.name),
    };
    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
        if (by[i])
            return by[i];
    return 0;
}

static bool belongs(const struct sim_input *in, const struct sim_object *o, const struct sim_object *controller)
{
    if (o->removed || !sim_is_pod(o) || sim_pod_form(o)->flags & (POD_FINISHED | POD_TERMINATING) ||
        strcmp(o->ns, controller->ns) != 0)
        return false;
    if (strcmp(controller->kind, "ReplicaSet") == 0) { /* as the pod says, whoever owns the ReplicaSet */
        const struct owner_ref *ref = sim_pod_form(o)->controller;
        return ref && str_is(sym_text(in->syms, ref->kind), "ReplicaSet") &&
               str_is(sym_text(in->syms, ref->name), controller->name);
    }
    struct sim_owner owner = sim_pod_owner(in, o);
    return str_is(owner.kind, controller->kind) && str_is(owner.name, controller->name);
}

static void collect(const struct sim_input *in, const struct sim_object *controller, candidate_vec *ret_pods)
{
    const struct sim_object *set = strcmp(controller->kind, "Deployment") == 0 ? sim_current_set(in, controller) : NULL;
    struct map_u64 on_node;
    map_u64_init(&on_node);
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (!belongs(in, o, controller))
            continue;
        const struct pod *pod = sim_pod_form(o);
        bool current = set && str_is(sym_text(in->syms, pod->controller->name), set->name);
        vec_push(ret_pods, (struct candidate){ i, pod, current, 0 });
        map_u64_put(&on_node, pod->node_name, NULL)->num++;
    }
    for (size_t i = 0; i < ret_pods->n; i++)
        ret_pods->at[i].rank = map_u64_find(&on_node, ret_pods->at[i].pod->node_name)->num;
    map_u64_fini(&on_node);
}

static void remove_surplus(struct sim_input *in, const struct sim_object *controller, int64_t n)
{
    candidate_vec pods = { 0 };
    collect(in, controller, &pods);
    if (pods.n)
        qsort(pods.at, pods.n, sizeof(*pods.at), compare_candidates);
    for (size_t i = 0; i < pods.n && (int64_t)(pods.n - i) > n; i++)
        sim_input_remove(in, &in->objects.at[pods.at[i].index]);
    vec_fini(&pods);
}

/* The number behind the controller's name and a dash, or -1. */
static int64_t ordinal(const char *pod, const char *controller)
{
    size_t n = strlen(controller);
    if (strncmp(pod, controller, n) != 0 || pod[n] != '-' || !pod[n + 1])
        return -1;
    int64_t number = 0;
    for (const char *c = pod + n + 1; *c; c++) {
        if (*c < '0' || *c > '9' || number > INT32_MAX)
            return -1;
        number = number * 10 + (*c - '0');
    }
    return number;
}

static void remove_ordinals(struct sim_input *in, const struct sim_object *set, int64_t n)
{
    int64_t first = sim_int(set, "spec.ordinals.start", 0);
    for (size_t i = 0; i < in->objects.n; i++) {
        struct sim_object *o = &in->objects.at[i];
        if (belongs(in, o, set) && ordinal(o->name, set->name) >= first + n)
            sim_input_remove(in, o);
    }
}

/* A job runs no more pods than it has completions left. */
static int64_t wanted(const struct sim_object *o, int64_t n)
{
    if (strcmp(o->kind, "Job") != 0)
        return n;
    int64_t left = sim_int(o, "spec.completions", n) - sim_int(o, "status.succeeded", 0);
    return left < n ? left : n;
}

/* ---- The whole ---- */

static enum err_code refuse_owned(const struct sim_input *in, const struct sim_object *o, struct err *e)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *refs = sim_field(o, "metadata.ownerReferences");
    for (uint32_t i = 0; refs->kind == VALUE_LIST && i < refs->n; i++) {
        if (!str_is(value_text(value_path(t, &refs->items[i], "kind")), "Deployment"))
            continue;
        const char *name = arena_cstr(e->arena, value_text(value_path(t, &refs->items[i], "name")));
        if (sim_input_find(in, "Deployment", o->ns, name))
            return err_set(e, ERR_INVALID,
                           "ReplicaSet %s/%s belongs to Deployment %s/%s, which would undo it: scale that", o->ns,
                           o->name, o->ns, name);
    }
    return ERR_OK;
}

enum err_code sim_scale(struct sim_input *in, const char *what, int64_t n, struct err *e)
{
    const struct scalable *kind;
    struct sim_object *o;
    if (find_controller(in, what, &kind, &o, e) || refuse_owned(in, o, e))
        return e->code;
    sim_object_set(in, o, kind->path, value_int(n));
    if (strcmp(kind->kind, "StatefulSet") == 0)
        remove_ordinals(in, o, n);
    else
        remove_surplus(in, o, wanted(o, n));
    return ERR_OK;
}
