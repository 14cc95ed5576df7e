/* controllers/horizontal.c - HorizontalPodAutoscalers, each looked at every 15 seconds. Upstream: controller/podautoscaler.
 *
 * There is no API of metrics in this process: horizontal_decide.h says what is left to do then. */
#include <stdlib.h>

#include "api/edit.h"
#include "api/label_selector.h"
#include "api/selector_parse.h"
#include "apiserver/subresource.h"
#include "base/map.h"
#include "controllers/controllers.h"
#include "controllers/horizontal_decide.h"
#include "controllers/owner_index.h"
#include "controllers/pod_index.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "horizontal-pod-autoscaler"

enum { WORKERS = 5, PERIOD_MS = 15 * 1000 };

struct horizontal_controller {
    struct cluster *cluster;
    struct pod_index *pods;
    struct events *events;
    struct owner_index *selectors; /* of those that were looked at */
    struct map_str known;          /* and the selectors themselves, by key */
    struct work_queue *queue;
};

struct hpa_turn {
    struct horizontal_controller *controller;
    struct arena arena;
    struct str key;
    struct value hpa;
    struct object_reference about;
    const struct resource *resource; /* of the target; NULL: there is none */
    struct selector selector;
    struct hpa_target target;
    struct hpa_plan plan;
};

static const struct resource *hpa_resource(void)
{
    return stored_row(stored_resource("horizontalpodautoscalers", "autoscaling"));
}

static const struct type *autoscalers(void)
{
    return schema_type(STR("autoscaling/v2.HorizontalPodAutoscaler"));
}

static void end_turn(struct hpa_turn *t)
{
    work_queue_add_after(t->controller->queue, t->key, PERIOD_MS);
    work_queue_done(t->controller->queue, t->key, WORK_FORGET);
    arena_fini(&t->arena);
    free(t);
}

static void tell(struct hpa_turn *t, const struct hpa_event *e)
{
    events_record(t->controller->events, CONTROLLER, &t->about, e->type, e->reason, "%s", e->message);
}

/* ---- The target ---- */

static bool has_scale(const struct resource *r)
{
    for (const struct subresource *s = r->subresources; s && s->name; s++)
        if (strcmp(s->name, "scale") == 0)
            return true;
    return false;
}

/* The kind by its group, whatever its version. */
static void find_resource(struct hpa_turn *t)
{
    struct str api_version = text_at(autoscalers(), &t->hpa, "spec.scaleTargetRef.apiVersion"), group, version;
    struct str kind = text_at(autoscalers(), &t->hpa, "spec.scaleTargetRef.kind");
    schema_split_api_version(api_version, &group, &version);
    t->resource = cluster_resource_of_kind(api_version, kind);
    if (!t->resource)
        t->target.error = arena_printf(&t->arena, "no matches for kind \"%.*s\" in group \"%.*s\"", STR_ARG(kind),
                                       STR_ARG(group));
    else if (!has_scale(t->resource))
        t->target.error = "the server could not find the requested resource";
}

static struct str selector_of(struct hpa_turn *t, const struct value *object)
{
    const struct value *v = value_path(t->resource->type, object, "spec.selector");
    struct err e;
    err_init(&e, &t->arena);
    if (v->kind == VALUE_MAP) {
        struct label *labels = ARENA_NEW_N(&t->arena, struct label, v->n);
        for (uint32_t i = 0; i < v->n; i++)
            labels[i] = (struct label){ v->members[i].key, value_text(&v->members[i].value) };
        t->selector = selector_from_labels(&t->arena, (struct labels){ labels, v->n });
    } else if (selector_of_value(&t->arena, schema_type(STR("meta/v1.LabelSelector")), v, &t->selector, &e)) {
        t->target.selector_error = e.message;
    }
    return selector_text(&t->arena, &t->selector);
}

static const struct value *plain_labels(const struct type *t, const struct value *object)
{
    const struct value *v = value_path(t, object, "spec.selector");
    return v->kind == VALUE_MAP ? v : value_path(t, object, "spec.selector.matchLabels");
}

/* ---- Rivals ---- */

/* The selector of the target of an autoscaler, as it was when it was looked at last. */
struct known {
    size_t n_key, n_selector;
    char text[]; /* key, then selector */
};

static void forget_selector(struct horizontal_controller *c, struct str key)
{
    union map_value own;
    owner_index_remove(c->selectors, key);
    if (map_str_remove(&c->known, key, &own))
        free(own.ptr);
}

static void learn_selector(struct hpa_turn *t, const struct value *labels)
{
    struct horizontal_controller *c = t->controller;
    struct str selector = t->target.selector;
    forget_selector(c, t->key);
    struct known *k = mem_zalloc(sizeof(*k) + t->key.n + selector.n);
    k->n_key = t->key.n;
    k->n_selector = selector.n;
    memcpy(k->text, t->key.p, t->key.n);
    if (selector.n)
        memcpy(k->text + k->n_key, selector.p, selector.n);
    map_str_put(&c->known, (struct str){ k->text, k->n_key }, NULL)->ptr = k;
    owner_index_put(c->selectors, t->key, t->about.ns, labels);
}

struct rival {
    struct str key;
    struct selector selector;
    bool counts; /* it has a pod of ours, too */
};

enum {
    HPA_RIVALS_MAX = 16,           /* of which an Event can tell */
    HPA_RIVAL_CHECKS_MAX = 10000,  /* of a pod against a selector, in one turn */
};

struct rivals {
    struct hpa_turn *turn;
    struct map_str by_key;
    struct labels pod;
    const struct rival *counting[HPA_RIVALS_MAX];
    size_t n_counting, n_checks;
};

static struct rival *rival_of(struct rivals *r, struct str key)
{
    bool is_new;
    struct arena *a = &r->turn->arena;
    const struct known *k = map_str_find(&r->turn->controller->known, key)->ptr; /* both are learned together */
    union map_value *v = map_str_put(&r->by_key, (struct str){ k->text, k->n_key }, &is_new);
    struct err e;
    if (is_new) {
        struct rival *made = v->ptr = ARENA_NEW(a, struct rival);
        made->key = (struct str){ k->text, k->n_key };
        err_init(&e, a);
        if (selector_parse(a, WORK_OWN, (struct str){ k->text + k->n_key, k->n_selector }, &made->selector, &e))
            made->selector.nothing = true;
    }
    return v->ptr;
}

static void look_at_rival(void *context, struct str key)
{
    struct rivals *r = context;
    struct rival *rival = rival_of(r, key);
    if (rival->counts || r->n_checks++ >= HPA_RIVAL_CHECKS_MAX || !selector_matches(&rival->selector, r->pod))
        return;
    rival->counts = true;
    if (r->n_counting < HPA_RIVALS_MAX)
        r->counting[r->n_counting++] = rival;
}

static const char *rivals_shown(struct arena *a, const struct rivals *r)
{
    const char *text = "";
    for (size_t i = 0; i < r->n_counting; i++) {
        struct str namespace, name;
        turn_read_key(r->counting[i]->key, &namespace, &name);
        text = arena_printf(a, "%s%s{%.*s %.*s}", text, i ? " " : "", STR_ARG(name), STR_ARG(namespace));
    }
    return arena_printf(a, "[%s]", text);
}

/* Several that select the same pods would pull them this way and that: then none does anything. */
static void find_rivals(struct hpa_turn *t)
{
    struct horizontal_controller *c = t->controller;
    struct rivals r = { .turn = t };
    pod_list pods;
    size_t n = pod_index_of_namespace(c->pods, t->about.ns, &t->arena, &pods);
    map_str_init(&r.by_key);
    for (size_t i = 0; i < n && r.n_checks < HPA_RIVAL_CHECKS_MAX; i++) {
        r.pod = pods[i]->labels;
        if (selector_matches(&t->selector, r.pod))
            owner_index_find(c->selectors, t->about.ns, r.pod, look_at_rival, &r);
    }
    if (r.n_counting > 1)
        t->target.ambiguous = rivals_shown(&t->arena, &r);
    map_str_fini(&r.by_key);
}

static void read_target(struct hpa_turn *t)
{
    struct str name = text_at(autoscalers(), &t->hpa, "spec.scaleTargetRef.name");
    find_resource(t);
    if (t->target.error)
        return;
    struct store_item *item = cluster_item(t->controller->cluster, t->resource, t->about.ns, name);
    if (!item) {
        bool core = t->resource->group.n == 0;
        t->target.error = arena_printf(&t->arena, "%.*s%s%.*s \"%.*s\" not found", STR_ARG(t->resource->plural), core ? "" : ".",
                                       STR_ARG(t->resource->group), STR_ARG(name));
        return;
    }
    struct value object = cluster_value(&t->arena, t->resource, item);
    t->target.replicas = int_at(t->resource->type, &object, "spec.replicas", 1);
    t->target.selector = selector_of(t, &object);
    learn_selector(t, plain_labels(t->resource->type, &object));
    if (t->target.selector.n && !t->target.selector_error)
        find_rivals(t);
}

/* ---- The turn ---- */

static void status_written(void *context, enum err_code code, const char *message)
{
    struct hpa_turn *t = context;
    if (code && code != ERR_NOT_FOUND)
        tell(t, &(struct hpa_event){ "Warning", "FailedUpdateStatus", message });
    end_turn(t);
}

static void write_status(struct hpa_turn *t)
{
    struct cluster_call call = { .verb = CLUSTER_UPDATE, .controller = CONTROLLER, .resource = hpa_resource(),
                                 .subresource = "status", .namespace = t->about.ns, .name = t->about.name, .object = &t->plan.hpa,
                                 .done = status_written, .context = t };
    for (size_t i = 0; i < t->plan.n_events; i++)
        tell(t, &t->plan.events[i]);
    if (value_equal(value_path(autoscalers(), &t->plan.hpa, "status"), value_path(autoscalers(), &t->hpa, "status")))
        end_turn(t);
    else
        cluster_begin(t->controller->cluster, &call);
}

static void rescaled(void *context, enum err_code code, const char *message)
{
    struct hpa_turn *t = context;
    hpa_rescaled(&t->arena, &t->plan, &t->target, code ? message : NULL, cluster_now_s(t->controller->cluster));
    write_status(t);
}

static void rescale(struct hpa_turn *t)
{
    struct str name = text_at(autoscalers(), &t->hpa, "spec.scaleTargetRef.name");
    struct cluster_call call = { .verb = CLUSTER_PATCH_MERGE, .controller = CONTROLLER, .resource = t->resource,
                                 .subresource = "scale", .namespace = t->about.ns, .name = name, .done = rescaled, .context = t };
    call.patch = str_of(arena_printf(&t->arena, "{\"spec\":{\"replicas\":%lld}}", (long long)t->plan.size));
    cluster_begin(t->controller->cluster, &call);
}

static void work(void *context, struct str key)
{
    struct horizontal_controller *c = context;
    struct str namespace, name;
    turn_read_key(key, &namespace, &name);
    struct store_item *item = cluster_item(c->cluster, hpa_resource(), namespace, name);
    if (!item) {
        work_queue_done(c->queue, key, WORK_FORGET);
        return;
    }
    struct hpa_turn *t = mem_zalloc(sizeof(*t));
    arena_init(&t->arena);
    t->controller = c;
    t->key = arena_str(&t->arena, key);
    struct value read = cluster_value(&t->arena, hpa_resource(), item);
    t->hpa = value_copy(&t->arena, &read); /* the item may go while calls are out */
    t->about = event_reference(hpa_resource(), &t->hpa);
    read_target(t);
    t->plan = hpa_decide(&t->arena, &t->hpa, &t->target, cluster_now_s(c->cluster));
    if (t->plan.rescales)
        rescale(t);
    else
        write_status(t);
}

/* ---- Life ---- */

/* Changes do not make it faster: a new one is looked at after a period, too. */
static void hpa_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct horizontal_controller *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    struct str key = turn_key_of(&a, namespace, name);
    if (!item)
        forget_selector(c, key);
    else if (!prev)
        work_queue_add_after(c->queue, key, PERIOD_MS);
    arena_fini(&a);
}

/* Somebody has to watch, or the index of pods is not kept. */
static void pod_has_changed(void *context, const struct pod_facts *is, const struct pod_facts *was)
{
    (void)context;
    (void)is;
    (void)was;
}

void *horizontal_controller_start(const struct controller_context *x)
{
    struct horizontal_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->pods = x->pods;
    c->events = x->events;
    c->selectors = owner_index_new();
    map_str_init(&c->known);
    c->queue = work_queue_new(cluster_loop(x->cluster), WORKERS, work, c);
    pod_index_watch(x->pods, pod_has_changed, c);
    cluster_watch(x->cluster, hpa_resource(), hpa_has_changed, c);
    return c;
}

void horizontal_controller_stop(void *own_controller)
{
    struct horizontal_controller *c = own_controller;
    work_queue_free(c->queue);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&c->known, s));)
        free(s->value.ptr);
    map_str_fini(&c->known);
    owner_index_free(c->selectors);
    free(c);
}
