/* sim/budget.c - see budget.h. Upstream: pkg/controller/disruption and the pods/eviction
 * subresource, v1.36. */
#include "sim/budget.h"

enum { NO_BUDGET = -1, PERCENT_MAX = 1000000 /* far more than any sense; keeps products small */ };

/* ---- The budgets of the input ---- */

static void add_budget(struct sim_budgets *b, const struct sim_object *o)
{
    struct sim_budget budget = { .object = o, .form = o->form, .next = NO_BUDGET };
    budget.unhealthy_may_go = str_is(value_text(sim_field(o, "spec.unhealthyPodEvictionPolicy")), "AlwaysAllow");
    map_u64_init(&budget.by_controller);
    bool is_new;
    union map_value *first = map_u64_put(&b->by_namespace, budget.form->meta.ns, &is_new);
    if (!is_new)
        budget.next = (int32_t)first->num;
    first->num = b->all.n;
    vec_push(&b->all, budget);
}

void sim_budgets_init(struct sim_budgets *b, const struct sim_input *in, struct sym_table *syms)
{
    *b = (struct sim_budgets){ .in = in, .syms = syms };
    arena_init(&b->arena);
    map_u64_init(&b->by_namespace);
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (!o->removed && strcmp(o->kind, "PodDisruptionBudget") == 0 && o->form)
            add_budget(b, o);
    }
}

void sim_budgets_fini(struct sim_budgets *b)
{
    for (size_t i = 0; i < b->all.n; i++) {
        map_u64_fini(&b->all.at[i].by_controller);
        vec_fini(&b->all.at[i].covered);
    }
    vec_fini(&b->all);
    map_u64_fini(&b->by_namespace);
    arena_fini(&b->arena);
}

/* The first budget that covers the pod from index `at` on, or NULL. */
static struct sim_budget *next_match(const struct sim_budgets *b, const struct pod *pod, int32_t at)
{
    for (; at != NO_BUDGET; at = b->all.at[at].next)
        if (matcher_matches(&b->all.at[at].form->selector, pod->meta.labels, b->syms))
            return &b->all.at[at];
    return NULL;
}

static struct sim_budget *first_match(const struct sim_budgets *b, const struct pod *pod)
{
    union map_value *first = map_u64_find(&b->by_namespace, pod->meta.ns);
    return first ? next_match(b, pod, (int32_t)first->num) : NULL;
}

/* ---- Counting ---- */

static void cover(struct sim_budget *budget, const struct pod *pod)
{
    if (!pod->controller)
        return; /* pods without a controller do not count into what is expected */
    bool is_new;
    uint64_t key = (uint64_t)pod->controller->name << 32 | pod->controller->kind;
    union map_value *v = map_u64_put(&budget->by_controller, key, &is_new);
    if (is_new) {
        v->num = budget->covered.n;
        vec_push(&budget->covered, (struct sim_covered){ pod->controller, 0 });
    }
    budget->covered.at[v->num].n_pods++;
}

void sim_budgets_count(struct sim_budgets *b, const struct pod *pod, bool healthy)
{
    for (struct sim_budget *budget = first_match(b, pod); budget; budget = next_match(b, pod, budget->next)) {
        budget->n_pods++;
        budget->healthy += healthy;
        cover(budget, pod);
    }
}

/* ---- What is expected ---- */

struct scale {
    const struct sim_object *controller; /* NULL: not given */
    int64_t replicas;
};

/* The Deployment that a ReplicaSet belongs to, or NULL. */
static const struct sim_object *deployment_of(const struct sim_budgets *b, const struct sim_object *set)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *refs = sim_field(set, "metadata.ownerReferences");
    for (uint32_t i = 0; refs->kind == VALUE_LIST && i < refs->n; i++) {
        const struct value *ref = &refs->items[i];
        if (!value_path(t, ref, "controller")->b || !str_is(value_text(value_path(t, ref, "kind")), "Deployment"))
            continue;
        struct arena scratch;
        arena_init(&scratch);
        const char *name = arena_cstr(&scratch, value_text(value_path(t, ref, "name")));
        const struct sim_object *found = sim_input_find(b->in, "Deployment", set->ns, name);
        arena_fini(&scratch);
        return found;
    }
    return NULL;
}

static struct scale scale_of(const struct sim_budgets *b, const char *ns, const struct sim_covered *covered)
{
    const char *kind = sym_text(b->syms, covered->controller->kind).p,
               *name = sym_text(b->syms, covered->controller->name).p;
    const struct sim_object *o = sim_input_find(b->in, kind, ns, name);
    if (!o)
        return (struct scale){ NULL, covered->n_pods };
    const struct sim_object *above = strcmp(kind, "ReplicaSet") == 0 ? deployment_of(b, o) : NULL;
    const struct sim_object *asked = above ? above : o;
    return (struct scale){ asked, sim_int(asked, "spec.replicas", 1) };
}

/* Upstream asks for the scale subresource, which these do not have. */
static bool has_no_scale(struct str kind)
{
    static const char *const kinds[] = { "DaemonSet", "Job", "Node" };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_is(kind, kinds[i]))
            return true;
    return false;
}

/* The sum of the replicas of all controllers, each once. */
static int64_t expected_scale(struct sim_budgets *b, struct sim_budget *budget)
{
    struct map_u64 seen; /* two ReplicaSets may belong to one Deployment */
    map_u64_init(&seen);
    int64_t sum = 0;
    for (size_t i = 0; i < budget->covered.n; i++) {
        struct str kind = sym_text(b->syms, budget->covered.at[i].controller->kind);
        if (has_no_scale(kind))
            budget->error = arena_printf(&b->arena, "a %.*s has no number of replicas", STR_ARG(kind));
        struct scale s = scale_of(b, budget->object->ns, &budget->covered.at[i]);
        bool is_new = true;
        if (s.controller)
            map_u64_put(&seen, (uint64_t)(s.controller - b->in->objects.at), &is_new);
        sum += is_new && s.replicas > 0 ? s.replicas : 0;
    }
    map_u64_fini(&seen);
    return sum < INT32_MAX ? sum : INT32_MAX;
}

/* A number, or a percentage of `whole`, rounded up. */
static bool amount_of(const struct value *v, int64_t whole, int64_t *ret_amount)
{
    if (v->kind == VALUE_INT) {
        *ret_amount = v->i;
        return true;
    }
    struct str text = value_text(v);
    if (text.n < 2 || text.p[text.n - 1] != '%')
        return false;
    int64_t percent = 0;
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || percent > PERCENT_MAX)
            return false;
        percent = percent * 10 + (text.p[i] - '0');
    }
    *ret_amount = (percent * whole + 99) / 100;
    return true;
}

static void settle(struct sim_budgets *b, struct sim_budget *budget)
{
    const struct value *max = sim_field(budget->object, "spec.maxUnavailable");
    const struct value *min = sim_field(budget->object, "spec.minAvailable");
    int64_t expected = budget->n_pods, amount = 0;
    if (max->kind != VALUE_ABSENT || min->kind == VALUE_STRING)
        expected = expected_scale(b, budget);
    const struct value *given = max->kind != VALUE_ABSENT ? max : min;
    if (given->kind != VALUE_ABSENT && !amount_of(given, expected, &amount))
        budget->error = "neither a number nor a percentage is given";
    budget->desired = max->kind == VALUE_ABSENT ? amount : expected > amount ? expected - amount : 0;
    int64_t left = budget->healthy - budget->desired;
    budget->allowed = budget->error || expected <= 0 || left <= 0 ? 0 : left;
}

void sim_budgets_settle(struct sim_budgets *b)
{
    for (size_t i = 0; i < b->all.n; i++)
        settle(b, &b->all.at[i]);
}

/* ---- Evictions ---- */

static const char *name_of(struct sim_budgets *b, const struct sim_budget *budget)
{
    return arena_printf(&b->arena, "%s/%s", budget->object->ns, budget->object->name);
}

static struct sim_refusal refuse(struct sim_budgets *b, const struct sim_budget *budget)
{
    struct sim_refusal r = { name_of(b, budget), budget->allowed, budget->healthy, budget->desired, NULL };
    if (budget->error)
        r.reason = arena_printf(&b->arena, "PodDisruptionBudget %s allows nothing: %s", r.budget, budget->error);
    else
        r.reason = arena_printf(
            &b->arena, "PodDisruptionBudget %s allows %lld disruptions: it needs %lld healthy pods and has %lld",
            r.budget, (long long)r.allowed, (long long)r.desired, (long long)r.healthy);
    return r;
}

static struct sim_refusal refuse_two(struct sim_budgets *b, const struct sim_budget *one,
                                     const struct sim_budget *other)
{
    return (struct sim_refusal){
        .reason = arena_printf(&b->arena,
                               "more than one PodDisruptionBudget covers it, which the eviction API does not support: "
                               "%s and %s",
                               name_of(b, other), name_of(b, one)),
    };
}

bool sim_budgets_evict(struct sim_budgets *b, const struct pod *pod, bool healthy, struct sim_refusal *ret_refusal)
{
    struct sim_budget *budget = first_match(b, pod);
    bool disrupted_already = pod->phase == PHASE_PENDING || pod->flags & (POD_TERMINATING | POD_FINISHED);
    if (!budget || disrupted_already)
        return true;
    const struct sim_budget *other = next_match(b, pod, budget->next);
    if (other) {
        *ret_refusal = refuse_two(b, budget, other);
        return false;
    }
    bool spare = budget->healthy >= budget->desired && budget->desired > 0;
    if (!healthy && (budget->unhealthy_may_go || (spare && !budget->error)))
        return true;
    if (budget->allowed <= 0) {
        *ret_refusal = refuse(b, budget);
        return false;
    }
    budget->allowed--;
    budget->healthy -= healthy;
    return true;
}
