/* cmd/bench_live_objects.c - what a workload creates on a cluster; see bench_live.h.
 *
 * The objects are those of sim/workload.h. Names get the run's prefix, everything gets its label, and priorities a
 * class of the run, because API servers take no priority without one. */
#include <stdlib.h>

#include "api/edit.h"
#include "api/schema_slots.h"
#include "cmd/bench_live_priv.h"

#define SCHED "\"sched-" /* how names of namespaces begin in the templates' terms */

/* ---- Which pods ---- */

static void plan_group(struct live *l, const char *template_name, const char *ns, uint32_t n, bool waits)
{
    if (n == 0)
        return;
    assert(l->n_groups < LIVE_GROUPS_MAX);
    l->groups[l->n_groups++] = (struct live_group){ template_name, ns, l->n_pods, n, 0, waits };
    l->n_pods += n;
}

void live_plan(struct live *l)
{
    const struct workload *w = l->w;
    const char *room[2];
    for (const char *const *t = workload_init_templates(w, room); *t; t++)
        plan_group(l, *t, w->n_init_namespaces ? NULL : w->init_ns, w->n_init_pods, true);
    if (w->unschedulable_churn)
        plan_group(l, "large", w->measured_ns, WORKLOAD_CHURN_PODS, false);
    plan_group(l, w->measured, w->measured_ns, w->n_measured_pods, true);
    l->created_ns = mem_zalloc(mem_product(l->n_pods, sizeof(*l->created_ns)));
    l->bound_ns = mem_zalloc(mem_product(l->n_pods, sizeof(*l->bound_ns)));
}

static const struct live_group *group_of(const struct live *l, uint32_t number)
{
    const struct live_group *g = l->groups;
    while (number - g->first >= g->n)
        g++;
    return g;
}

/* ---- Objects ---- */

/* The text with the run's namespaces in place of the workload's. */
static struct str with_prefix(struct live *l, struct str json)
{
    struct strbuf to;
    strbuf_init(&to, STRBUF_NO_MAX);
    for (;;) {
        const char *at = memmem(json.p, json.n, SCHED, sizeof(SCHED) - 1);
        if (!at)
            break;
        strbuf_add_str(&to, str_range(json.p, at + 1));
        strbuf_add_text(&to, l->prefix);
        json = str_from(json, (size_t)(at + 1 - json.p));
    }
    strbuf_add_str(&to, json);
    struct str done = arena_str(&l->scratch, strbuf_str(&to));
    strbuf_fini(&to);
    return done;
}

/* No kubelet will say that it has ended, so that it must not be waited for. */
static struct value as_created(struct live *l, const struct type *pod, struct value v)
{
    struct arena *a = &l->scratch;
    v = edit_set(a, pod, &v, "spec.terminationGracePeriodSeconds", value_int(0));
    if (value_path(pod, &v, "spec.priority")->kind != VALUE_INT)
        return v;
    return edit_set(a, pod, &v, "spec.priorityClassName", edit_text(arena_printf(a, "%shigh", l->prefix)));
}

/* From JSON to the request's body, with name and label. */
static void write_body(struct live *l, struct str type_name, struct str json, const char *name)
{
    struct arena *a = &l->scratch;
    const struct type *t = schema_type(type_name);
    struct work work = work_init(1 << 20);
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, &work, t, with_prefix(l, json), NULL, &v, &e)) {
        l->failure = arena_cstr(&l->cluster.arena, str_of(e.message));
        return;
    }
    v.slots[SLOT_KIND] = value_string(t->kind);
    struct str group = str_first(t->name, t->name.n - t->kind.n - 1);
    v.slots[SLOT_API_VERSION] = value_string(str_starts(t->name, STR("core/")) ? STR("v1") : group);
    static const char *const given_by_servers[] = { "metadata.uid", "metadata.resourceVersion", "metadata.namespace" };
    for (size_t i = 0; i < sizeof(given_by_servers) / sizeof(given_by_servers[0]); i++)
        v = edit_set(a, t, &v, given_by_servers[i], (struct value){ 0 });
    v = edit_set(a, t, &v, "metadata.name", edit_text(name));
    struct value labels = edit_member(a, value_path(t, &v, "metadata.labels"), STR(BENCH_LIVE_LABEL), edit_text(l->id));
    v = edit_set(a, t, &v, "metadata.labels", labels);
    if (str_is(t->kind, "Pod"))
        v = as_created(l, t, v);
    object_encode(&l->body, l->cluster.api->media, t, &v);
}

static const char *pod_namespace(struct live *l, const struct live_group *g, uint32_t i)
{
    return g->ns ? arena_printf(&l->scratch, "%s%s", l->prefix, g->ns)
                 : arena_printf(&l->scratch, "%sinit-ns-%u", l->prefix, i % l->w->n_init_namespaces);
}

const char *live_pod_path(struct live *l, uint32_t number)
{
    const struct live_group *g = group_of(l, number);
    return arena_printf(&l->scratch, "/api/v1/namespaces/%s/pods", pod_namespace(l, g, number - g->first));
}

void live_make_pod(struct live *l, uint32_t number, struct api_request *r)
{
    const struct live_group *g = group_of(l, number);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    workload_add_pod(&json, &(struct workload_pod){ g->template_name, "any", "any", number - g->first });
    write_body(l, STR("core/v1.Pod"), strbuf_str(&json), arena_printf(&l->scratch, "p-%u", number));
    strbuf_fini(&json);
    strbuf_add_text(&l->target, live_pod_path(l, number));
    r->method = "POST";
    l->created_ns[number] = clock_mono_ns(&clock_real);
    l->n_pods_asked = number + 1;
}

void live_make_node(struct live *l, uint32_t i, struct api_request *r)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    workload_add_node(&json, l->w, i);
    write_body(l, STR("core/v1.Node"), strbuf_str(&json), arena_printf(&l->scratch, "%snode-%u", l->prefix, i));
    strbuf_fini(&json);
    STRBUF_ADD_LIT(&l->target, "/api/v1/nodes");
    r->method = "POST";
    l->n_nodes_asked = i + 1;
}

/* ---- Creating them ---- */

static void pod_answered(struct live *l, uint32_t number, const struct api_answer *a)
{
    if (!api_ok(a))
        live_fail(l, "cannot create a pod", a);
    else
        live_show(l, "%u of %u pods are created", number + 1, l->n_pods);
}

bool live_make_group(struct live *l, struct live_group *g)
{
    return live_run_batch(l, &(struct batch){ .first = g->first, .n = g->n, .make = live_make_pod,
                                              .answered = pod_answered });
}

/* Servers with all of their admission plugins keep new nodes closed until a kubelet reports; these have none. */
static void node_answered(struct live *l, uint32_t i, const struct api_answer *a)
{
    if (!api_ok(a))
        live_fail(l, "cannot create a node", a);
    else
        live_show(l, "%u of %u nodes are created", i + 1, l->w->n_nodes);
}

static void make_untaint(struct live *l, uint32_t i, struct api_request *r)
{
    strbuf_printf(&l->target, "/api/v1/nodes/%snode-%u", l->prefix, i);
    STRBUF_ADD_LIT(&l->body, "{\"spec\":{\"taints\":null}}");
    r->method = "PATCH";
    r->media_type = "application/merge-patch+json";
}

static void untaint_answered(struct live *l, uint32_t i, const struct api_answer *a)
{
    (void)i;
    if (!api_ok(a))
        live_fail(l, "cannot remove the taint of a new node", a);
}

/* Whether nodes come with a taint: asked of the first. */
static bool has_taint(struct live *l)
{
    const char *first = arena_printf(&l->cluster.arena, "/api/v1/nodes/%snode-0", l->prefix);
    struct api_answer a = live_ask(l, "GET", first, NULL, STR(""));
    static const char taint[] = "node.kubernetes.io/not-ready";
    return memmem(a.body.p, a.body.n, taint, sizeof(taint) - 1) != NULL;
}

bool live_make_nodes(struct live *l)
{
    struct batch nodes = { .n = l->w->n_nodes, .make = live_make_node, .answered = node_answered };
    struct batch taints = { .n = l->w->n_nodes, .make = make_untaint, .answered = untaint_answered };
    return live_run_batch(l, &nodes) && (!has_taint(l) || live_run_batch(l, &taints));
}

/* ---- What there are few of ---- */

struct one_object {
    const char *target, *type, *name;
    struct str json;
    bool may_exist;
};

static bool create(struct live *l, const struct one_object *o)
{
    arena_reset(&l->scratch);
    strbuf_reset(&l->body);
    write_body(l, str_of(o->type), o->json, o->name);
    const char *type = media_content_type(l->cluster.api->media);
    struct api_answer a = live_ask(l, "POST", o->target, type, strbuf_str(&l->body));
    if (!api_ok(&a) && !(a.status == 409 && o->may_exist))
        live_fail(l, arena_printf(&l->scratch, "cannot create %s", o->name), &a);
    return !live_is_over(l);
}

/* With a service account, for servers whose admission asks for one before a controller has made it. */
static bool make_namespace(struct live *l, const char *ns)
{
    const char *name = arena_printf(&l->cluster.arena, "%s%s", l->prefix, ns);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    workload_add_namespace(&json, l->w, "any");
    vec_push(&l->namespaces, name);
    bool made = create(l, &(struct one_object){ "/api/v1/namespaces", "core/v1.Namespace", name, strbuf_str(&json),
                                                false });
    strbuf_fini(&json);
    const char *accounts = arena_printf(&l->cluster.arena, "/api/v1/namespaces/%s/serviceaccounts", name);
    return made && create(l, &(struct one_object){ accounts, "core/v1.ServiceAccount", "default", STR("{}"), true });
}

static bool make_service(struct live *l)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    workload_add_service(&json, "any");
    const char *target = arena_printf(&l->cluster.arena, "/api/v1/namespaces/%s%s/services", l->prefix,
                                      l->w->measured_ns);
    l->has_service = true;
    bool made = create(l, &(struct one_object){ target, "core/v1.Service", "s", strbuf_str(&json), false });
    strbuf_fini(&json);
    return made;
}

static bool make_class(struct live *l)
{
    const char *name = arena_printf(&l->cluster.arena, "%shigh", l->prefix);
    l->has_class = true;
    return create(l, &(struct one_object){ "/apis/scheduling.k8s.io/v1/priorityclasses",
                                           "scheduling.k8s.io/v1.PriorityClass", name, STR("{\"value\":10}"), false });
}

bool live_make_others(struct live *l)
{
    for (uint32_t i = 0; i < l->w->n_init_namespaces; i++)
        if (!make_namespace(l, arena_printf(&l->cluster.arena, "init-ns-%u", i)))
            return false;
    if (!make_namespace(l, l->w->init_ns) || !make_namespace(l, l->w->measured_ns) || !make_class(l))
        return false;
    return !l->w->service || make_service(l);
}
