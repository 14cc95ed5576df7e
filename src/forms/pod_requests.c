/* forms/pod_requests.c - what a pod asks of a node, in the four ways that the scheduler sums it up.
 *
 *     sum  = every container, and every restartable init container (a sidecar)
 *     init = the largest of: an init container together with the sidecars before it; all sidecars so far
 *     total = per resource the larger of sum and init; then cpu, memory and huge pages of pod-level requests
 *             replace what the containers say; then the overhead is added
 *
 * In-place resize: a container or sidecar whose status tells its resources counts with the largest of spec,
 * status and allocated resources, or without the spec when the resize is infeasible. The same goes for the
 * pod-level requests. As component-helpers/resource v1.36; the resources of claims (an alpha gate) do not
 * count. */
#include "forms/pod_priv.h"

static const nano default_milli_cpu = (nano)100 * NANO_PER_MILLI;
static const nano default_memory = (nano)(200 << 20) * NANO_PER_UNIT;

struct request_options {
    bool status;    /* use what the status tells */
    bool pod_level; /* honour spec.resources */
    bool default_cpu, default_memory; /* for containers that do not say */
};

struct container_sums {
    const struct portion *spec;
    const struct portion *resized; /* with the status; NULL: the status does not tell */
    bool restartable;
};

struct pod_sums {
    struct resource_axes axes;
    struct container_sums *containers, *init_containers;
    uint32_t n_containers, n_init_containers;
    const struct portion *overhead;
    const struct portion *level, *level_resized; /* pod-level requests; NULL: none, the status does not tell */
    bool any_resized;                            /* the status tells something */
};

/* ---- Vectors ---- */

static void add(const struct resource_axes *x, struct portion *to, const struct portion *more)
{
    for (uint32_t i = 0; i < axes_count(x); i++)
        if (more[i].given) {
            to[i].amount += more[i].amount;
            to[i].given = true;
        }
}

static void raise(const struct resource_axes *x, struct portion *to, const struct portion *other)
{
    for (uint32_t i = 0; i < axes_count(x); i++)
        if (other[i].given && (!to[i].given || other[i].amount > to[i].amount))
            to[i] = other[i];
}

static void copy(const struct resource_axes *x, struct portion *to, const struct portion *from)
{
    memcpy(to, from, axes_count(x) * sizeof(*to));
}

/* ---- Reading the lists ---- */

static enum err_code add_container_axes(struct resource_axes *x, const struct container_in *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (axes_add(x, &at[i].resources.requests))
            return x->e->code;
    return ERR_OK;
}

static enum err_code add_status_axes(struct resource_axes *x, const struct container_status_in *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].resources && (axes_add(x, &at[i].resources->requests) || axes_add(x, &at[i].allocated)))
            return x->e->code;
    return ERR_OK;
}

static enum err_code find_axes(struct resource_axes *x, const struct pod_in *in)
{
    const struct pod_spec_in *spec = &in->spec;
    const struct pod_status_in *status = &in->status;
    if (add_container_axes(x, spec->containers.at, spec->containers.n) ||
        add_container_axes(x, spec->init_containers.at, spec->init_containers.n) ||
        add_status_axes(x, status->statuses.at, status->statuses.n) ||
        add_status_axes(x, status->init_statuses.at, status->init_statuses.n) || axes_add(x, &spec->overhead))
        return x->e->code;
    if (spec->resources && axes_add(x, &spec->resources->requests))
        return x->e->code;
    if (status->resources && (axes_add(x, &status->resources->requests) || axes_add(x, &status->allocated)))
        return x->e->code;
    axes_seal(x);
    return ERR_OK;
}

/* The first condition PodResizePending says that the new size can never be. */
static bool resize_is_infeasible(const struct pod_status_in *status)
{
    for (uint32_t i = 0; i < status->conditions.n; i++)
        if (str_is(status->conditions.at[i].type, "PodResizePending"))
            return str_is(status->conditions.at[i].reason, "Infeasible");
    return false;
}

/* The status of that name, or NULL. Of several the last one counts, and those of init containers go
 * before. */
static const struct container_status_in *find_status(const struct pod_status_in *status, struct str name)
{
    for (uint32_t i = status->init_statuses.n; i > 0; i--)
        if (str_eq(status->init_statuses.at[i - 1].name, name))
            return &status->init_statuses.at[i - 1];
    for (uint32_t i = status->statuses.n; i > 0; i--)
        if (str_eq(status->statuses.at[i - 1].name, name))
            return &status->statuses.at[i - 1];
    return NULL;
}

/* The largest of the three lists, `spec` left out when the resize is infeasible. */
static enum err_code merge_resized(const struct resource_axes *x, const struct portion *spec,
                                   const fill_map *actual, const fill_map *allocated, bool infeasible,
                                   const struct portion **ret_merged)
{
    struct portion *merged, *more;
    if (axes_parse(x, actual, &merged) || axes_parse(x, allocated, &more))
        return x->e->code;
    raise(x, merged, more);
    if (!infeasible)
        raise(x, merged, spec);
    *ret_merged = merged;
    return ERR_OK;
}

static enum err_code read_container(struct pod_sums *s, const struct pod_in *in, const struct container_in *c,
                                    bool init, struct container_sums *sums)
{
    struct portion *spec;
    if (axes_parse(&s->axes, &c->resources.requests, &spec))
        return err_wrap(s->axes.e, "container %.*s: requests", STR_ARG(c->name));
    sums->spec = spec;
    sums->restartable = init && container_is_restartable(c);
    if (init && !sums->restartable)
        return ERR_OK;
    const struct container_status_in *status = find_status(&in->status, c->name);
    if (!status || !status->resources)
        return ERR_OK;
    s->any_resized = true;
    if (merge_resized(&s->axes, spec, &status->resources->requests, &status->allocated,
                      resize_is_infeasible(&in->status), &sums->resized))
        return err_wrap(s->axes.e, "status of container %.*s: resources", STR_ARG(c->name));
    return ERR_OK;
}

static enum err_code read_containers(struct pod_sums *s, const struct pod_in *in, const struct container_in *at,
                                     uint32_t n, bool init, struct container_sums **ret_sums)
{
    if (n > POD_CONTAINERS_MAX)
        return err_set(s->axes.e, ERR_INVALID, "%u %scontainers, at most %d are supported", n,
                       init ? "init " : "", POD_CONTAINERS_MAX);
    *ret_sums = ARENA_NEW_N(s->axes.arena, struct container_sums, n);
    for (uint32_t i = 0; i < n; i++)
        if (read_container(s, in, &at[i], init, &(*ret_sums)[i]))
            return s->axes.e->code;
    return ERR_OK;
}

static bool has_pod_level(const struct requests_in *resources)
{
    for (uint32_t i = 0; resources && i < resources->requests.n; i++) {
        struct str name = resources->requests.at[i].key;
        if (str_is(name, "cpu") || str_is(name, "memory") || resource_is_huge_pages(name))
            return true;
    }
    return false;
}

static enum err_code read_pod_level(struct pod_sums *s, const struct pod_in *in)
{
    const struct requests_in *now = in->status.resources;
    if (!has_pod_level(in->spec.resources))
        return ERR_OK;
    struct portion *level;
    if (axes_parse(&s->axes, &in->spec.resources->requests, &level))
        return err_wrap(s->axes.e, "spec.resources.requests");
    s->level = level;
    if (!now)
        return ERR_OK;
    s->any_resized = true;
    if (merge_resized(&s->axes, level, &now->requests, &in->status.allocated, resize_is_infeasible(&in->status),
                      &s->level_resized))
        return err_wrap(s->axes.e, "status.resources");
    return ERR_OK;
}

static enum err_code read_all(struct pod_sums *s, const struct pod_in *in)
{
    if (find_axes(&s->axes, in))
        return s->axes.e->code;
    s->n_containers = in->spec.containers.n;
    s->n_init_containers = in->spec.init_containers.n;
    struct portion *overhead;
    if (read_containers(s, in, in->spec.containers.at, s->n_containers, false, &s->containers) ||
        read_containers(s, in, in->spec.init_containers.at, s->n_init_containers, true, &s->init_containers) ||
        read_pod_level(s, in))
        return s->axes.e->code;
    if (axes_parse(&s->axes, &in->spec.overhead, &overhead))
        return err_wrap(s->axes.e, "spec.overhead");
    s->overhead = overhead;
    return ERR_OK;
}

/* ---- Summing up ---- */

static void request_of(const struct pod_sums *s, const struct container_sums *c, struct request_options o,
                       struct portion *request)
{
    copy(&s->axes, request, o.status && c->resized ? c->resized : c->spec);
    if (o.default_cpu && !request[AXIS_CPU].given)
        request[AXIS_CPU] = (struct portion){ default_milli_cpu, true };
    if (o.default_memory && !request[AXIS_MEMORY].given)
        request[AXIS_MEMORY] = (struct portion){ default_memory, true };
}

static void sum_init_containers(const struct pod_sums *s, struct request_options o, struct portion *request,
                                struct portion *total)
{
    const struct resource_axes *x = &s->axes;
    struct portion *sidecars = axes_vector(x), *peak = axes_vector(x);
    for (uint32_t i = 0; i < s->n_init_containers; i++) {
        request_of(s, &s->init_containers[i], o, request);
        if (s->init_containers[i].restartable) {
            add(x, total, request);
            add(x, sidecars, request);
            raise(x, peak, sidecars);
        } else {
            add(x, request, sidecars);
            raise(x, peak, request);
        }
    }
    raise(x, total, peak);
}

/* Only cpu, memory and huge pages can be requested for the pod as a whole. */
static void replace_by_pod_level(const struct pod_sums *s, bool resized, struct portion *total)
{
    const struct portion *level = resized && s->level_resized ? s->level_resized : s->level;
    for (uint32_t i = 0; i < axes_count(&s->axes); i++) {
        bool supported = i == AXIS_CPU || i == AXIS_MEMORY ||
                         (i >= N_FIXED_AXES && resource_is_huge_pages(s->axes.scalars[i - N_FIXED_AXES]));
        if (supported && s->level[i].given)
            total[i] = (struct portion){ level[i].amount, true };
    }
}

static struct portion *sum_up(const struct pod_sums *s, struct request_options o)
{
    const struct resource_axes *x = &s->axes;
    struct portion *total = axes_vector(x), *request = axes_vector(x);
    for (uint32_t i = 0; i < s->n_containers; i++) {
        request_of(s, &s->containers[i], o, request);
        add(x, total, request);
    }
    if (s->n_init_containers)
        sum_init_containers(s, o, request, total);
    if (o.pod_level && s->level)
        replace_by_pod_level(s, o.status, total);
    add(x, total, s->overhead);
    return total;
}

static void cut_negative(const struct resource_axes *x, struct portion *v)
{
    for (uint32_t i = 0; i < axes_count(x); i++)
        if (v[i].amount < 0)
            v[i].amount = 0;
}

/* ---- The results ---- */

static bool same_amounts(const struct resource_axes *x, const struct portion *a, const struct portion *b)
{
    for (uint32_t i = 0; i < axes_count(x); i++)
        if (a[i].amount != b[i].amount || (i >= N_FIXED_AXES && a[i].given != b[i].given))
            return false;
    return true;
}

static const struct amounts *keep(struct build *b, const struct pod_sums *s, const struct portion *v)
{
    struct amounts *amounts = ARENA_NEW(b->arena, struct amounts);
    *amounts = axes_amounts(&s->axes, b->syms, v);
    return amounts;
}

/* Without a status and pod-level requests this is what scores are made of. */
static void set_non_zero(const struct pod_sums *s, const struct portion *requested, const struct portion *score,
                         struct pod *pod)
{
    const struct portion *v = score;
    if (s->level || s->any_resized)
        v = sum_up(s, (struct request_options){ .status = true, .pod_level = true,
                                                .default_cpu = !s->level || !requested[AXIS_CPU].given,
                                                .default_memory = !s->level || !requested[AXIS_MEMORY].given });
    pod->non_zero_milli_cpu = nano_round(v[AXIS_CPU].amount, NANO_PER_MILLI);
    pod->non_zero_memory = nano_round(v[AXIS_MEMORY].amount, NANO_PER_UNIT);
}

/* What an incoming pod must find free. */
static struct portion *sum_fit(const struct pod_sums *s, const struct portion *requested)
{
    struct portion *fit;
    if (s->any_resized) {
        fit = sum_up(s, (struct request_options){ .pod_level = true });
    } else {
        fit = axes_vector(&s->axes);
        copy(&s->axes, fit, requested);
    }
    cut_negative(&s->axes, fit);
    return fit;
}

/* ---- Limits ---- */

static bool container_has_limits(const struct container_in *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].resources.limits.n)
            return true;
    return false;
}

static bool read_limits(struct pod_sums *s, const struct container_in *at, uint32_t n, bool init,
                        struct container_sums **ret_sums)
{
    *ret_sums = ARENA_NEW_N(s->axes.arena, struct container_sums, n);
    for (uint32_t i = 0; i < n; i++) {
        struct portion *limits;
        if (axes_parse(&s->axes, &at[i].resources.limits, &limits))
            return false;
        (*ret_sums)[i] = (struct container_sums){ .spec = limits, .restartable = init && container_is_restartable(&at[i]) };
    }
    return true;
}

static bool add_limit_axes(struct resource_axes *x, const struct container_in *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (axes_add(x, &at[i].resources.limits))
            return false;
    return true;
}

/* False: there is something that is no amount. */
static bool read_all_limits(struct pod_sums *s, const struct pod_in *in)
{
    const struct pod_spec_in *spec = &in->spec;
    struct portion *overhead, *level = NULL;
    s->n_containers = spec->containers.n;
    s->n_init_containers = spec->init_containers.n;
    if (!add_limit_axes(&s->axes, spec->containers.at, s->n_containers) ||
        !add_limit_axes(&s->axes, spec->init_containers.at, s->n_init_containers) || axes_add(&s->axes, &spec->overhead) ||
        (spec->resources && axes_add(&s->axes, &spec->resources->limits)))
        return false;
    axes_seal(&s->axes);
    if (!read_limits(s, spec->containers.at, s->n_containers, false, &s->containers) ||
        !read_limits(s, spec->init_containers.at, s->n_init_containers, true, &s->init_containers) ||
        (spec->resources && axes_parse(&s->axes, &spec->resources->limits, &level)) ||
        axes_parse(&s->axes, &spec->overhead, &overhead))
        return false;
    s->level = level;
    s->overhead = overhead;
    return true;
}

/* What is not limited has no overhead either. */
static struct portion *sum_limits(struct pod_sums *s)
{
    const struct resource_axes *x = &s->axes;
    const struct portion *overhead = s->overhead;
    s->overhead = axes_vector(x);
    struct portion *total = sum_up(s, (struct request_options){ .pod_level = true });
    for (uint32_t i = 0; i < axes_count(x); i++) {
        if (total[i].amount && overhead[i].given)
            total[i].amount += overhead[i].amount;
        total[i].given = total[i].amount != 0;
    }
    return total;
}

static bool any_given(const struct resource_axes *x, const struct portion *v)
{
    for (uint32_t i = 0; i < axes_count(x); i++)
        if (v[i].given)
            return true;
    return false;
}

/* Nothing depends on them: a pod whose limits are no amounts has none. */
static void build_limits(struct build *b, const struct pod_in *in, struct pod *pod)
{
    const struct pod_spec_in *spec = &in->spec;
    struct err e;
    err_init(&e, b->arena);
    struct pod_sums s = { .axes = { .arena = b->arena, .e = &e } };
    bool any = container_has_limits(spec->containers.at, spec->containers.n) ||
               container_has_limits(spec->init_containers.at, spec->init_containers.n) ||
               (spec->resources && spec->resources->limits.n);
    if (!any || !read_all_limits(&s, in))
        return;
    const struct portion *limits = sum_limits(&s);
    if (!any_given(&s.axes, limits))
        return;
    struct amounts amounts = axes_amounts(&s.axes, b->syms, limits);
    if (amounts_equal(&amounts, pod->fit)) {
        for (uint32_t i = 0; i < amounts.n_scalars; i++)
            sym_unref(b->syms, amounts.scalars[i].name);
        pod->limits = pod->fit;
        return;
    }
    struct amounts *own = ARENA_NEW(b->arena, struct amounts);
    *own = amounts;
    pod->limits = own;
}

enum err_code pod_build_requests(struct build *b, const struct pod_in *in, struct pod *pod)
{
    struct pod_sums s = { .axes = { .arena = b->arena, .e = b->e } };
    const struct resource_axes *x = &s.axes;
    if (read_all(&s, in))
        return b->e->code;
    const struct portion *requested = sum_up(&s, (struct request_options){ .status = true, .pod_level = true });
    const struct portion *fit = sum_fit(&s, requested);
    const struct portion *score = sum_up(&s, (struct request_options){ .default_cpu = true, .default_memory = true });
    set_non_zero(&s, requested, score, pod);
    pod->overhead_milli_cpu = nano_round(s.overhead[AXIS_CPU].amount, NANO_PER_MILLI);
    pod->requested = keep(b, &s, requested);
    pod->fit = same_amounts(x, requested, fit) ? pod->requested : keep(b, &s, fit);
    if (same_amounts(x, requested, score))
        pod->score = pod->requested;
    else
        pod->score = same_amounts(x, fit, score) ? pod->fit : keep(b, &s, score);
    if (s.level)
        pod->flags |= POD_HAS_POD_LEVEL_RESOURCES;
    pod->n_containers = (uint16_t)s.n_containers;
    pod->n_init_containers = (uint16_t)s.n_init_containers;
    build_limits(b, in, pod);
    return ERR_OK;
}
