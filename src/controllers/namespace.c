/* controllers/namespace.c - namespaces that are being deleted: everything in them goes, then they do.
 *
 * Upstream: controller/namespace. A terminating namespace is looked at again when something in it goes, and after a while.
 *
 * Not at once: upstream waits five seconds before the first look, and clients count on some time in which a terminating
 * namespace is still there. Test suites of controllers get it, take the finalizer away themselves, and fail when it went
 * between the two. */
#include <stdlib.h>

#include "api/edit.h"
#include "base/vec.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/work_queue.h"

#define CONTROLLER "namespace-controller"

enum {
    FIRST_LOOK_MS = 1000,
    LOOK_AGAIN_MS = 5000,
    SWEEP_LOOK_MS = 200, /* while it is found out whether anything is left */
    DELETIONS_AT_ONCE_MAX = 200,
    FINALIZERS_TOLD_MAX = 64, /* different ones; others hold it as well, and are not named */
};

struct namespace_controller {
    struct cluster *cluster;
    struct work_queue *queue;
};

static const struct resource *namespaces(void)
{
    return stored_resource("namespaces", "");
}

static const struct resource *pods(void)
{
    return stored_resource("pods", "");
}

static const struct type *type_of_namespaces(void)
{
    return schema_type(STR("core/v1.Namespace"));
}

/* ---- What is left in a namespace ---- */

struct left {
    const struct resource *resource;
    size_t n;
};

struct holder {
    struct str finalizer;
    size_t n; /* objects that have it */
};

struct contents {
    VEC(struct left) left;
    VEC(struct holder) holders;
    VEC(struct store_item *) items; /* that nobody has deleted yet */
    VEC(const struct resource *) rows; /* of those */
    bool waits; /* something holds what was deleted */
    bool pods_first; /* there are pods, and the others have not been looked at: they go when the pods are gone */
    const char *late; /* why it takes longer than it may; NULL: it does not */
};

static bool is_deletable(const struct resource *r)
{
    return r->served && r->type && r->namespaced && r->verbs & VERB_DELETE && r->verbs & VERB_LIST && stored_row(r) == r;
}

static void count_finalizer(struct contents *c, struct str name)
{
    for (size_t i = 0; i < c->holders.n; i++)
        if (str_eq(c->holders.at[i].finalizer, name)) {
            c->holders.at[i].n++;
            return;
        }
    if (c->holders.n < FINALIZERS_TOLD_MAX)
        vec_push(&c->holders, (struct holder){ name, 1 });
}

static void look_at(struct contents *c, const struct resource *r, struct store_item *item, struct arena *a)
{
    const struct type *t = schema_type(STR("meta/v1.PartialObjectMetadata"));
    struct value m = cluster_metadata(a, item);
    if (value_path(t, &m, "metadata.deletionTimestamp")->kind == VALUE_TIME) {
        const struct value *list = value_path(t, &m, "metadata.finalizers");
        for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
            count_finalizer(c, value_text(&list->items[i]));
        c->waits = true;
        return;
    }
    vec_push(&c->items, item);
    vec_push(&c->rows, r);
}

static void look_at_all(struct namespace_controller *n, const struct resource *r, struct str namespace, struct arena *a,
                        struct contents *c)
{
    struct store_range range = { .prefix = stored_prefix(a, r, namespace) };
    struct store_list list;
    struct err e;
    err_init(&e, a);
    if (store_list(stored_store(cluster_objects(n->cluster)), &range, a, &list, &e))
        return;
    for (size_t k = 0; k < list.n && c->items.n < DELETIONS_AT_ONCE_MAX; k++)
        look_at(c, r, list.items[k], a);
    if (list.n)
        vec_push(&c->left, (struct left){ r, list.n });
}

/* Pods first: what protects or feeds them (network policies, secrets) stays as long as one of them is there. */
static void look_into(struct namespace_controller *n, struct str namespace, struct arena *a, struct contents *c)
{
    look_at_all(n, pods(), namespace, a, c);
    c->pods_first = c->left.n > 0;
    for (size_t i = 0; i < schema_n_resources && !c->pods_first; i++)
        if (is_deletable(&schema_resources[i]))
            look_at_all(n, &schema_resources[i], namespace, a, c);
}

/* Pods may take as long as the longest grace period of them. */
static int64_t grace_of_pods(struct namespace_controller *n, struct str namespace, struct arena *a)
{
    const struct type *t = pods()->type;
    const struct value **all;
    size_t n_all = stored_list(cluster_objects(n->cluster), pods(), namespace, a, &all);
    int64_t longest = 0;
    for (size_t i = 0; i < n_all; i++) {
        int64_t grace = int_at(t, all[i], "spec.terminationGracePeriodSeconds", 0);
        bool ended = says_at(t, all[i], "status.phase", "Succeeded") || says_at(t, all[i], "status.phase", "Failed");
        if (!ended && grace > longest)
            longest = grace;
    }
    return longest;
}

static void look_for_late_pods(struct namespace_controller *n, struct str namespace, const struct value *v, struct arena *a,
                               struct contents *c)
{
    const struct value *since = value_path(type_of_namespaces(), v, "metadata.deletionTimestamp");
    if (c->pods_first && !c->holders.n && cluster_now_s(n->cluster) - since->i >= grace_of_pods(n, namespace, a))
        c->late = arena_printf(a, "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: "
                               "%.*s for gvr: /v1, Resource=pods", STR_ARG(namespace));
}

static void contents_fini(struct contents *c)
{
    vec_fini(&c->left);
    vec_fini(&c->holders);
    vec_fini(&c->items);
    vec_fini(&c->rows);
}

/* ---- Conditions ---- */

static const struct {
    const char *type, *ok_reason, *ok_message;
} conditions[] = {
    { "NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered" },
    { "NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
      "All legacy kube types successfully parsed" },
    { "NamespaceDeletionContentFailure", "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization" },
    { "NamespaceContentRemaining", "ContentRemoved", "All content successfully removed" },
    { "NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished" },
};
enum {
    N_CONDITIONS = sizeof(conditions) / sizeof(conditions[0]),
    CONTENT_FAILURE = 2, CONTENT_REMAINING = 3, FINALIZERS_REMAINING = 4,
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the parts, as upstream does. */
static const char *joined(struct arena *a, const char *first, const char **parts, size_t n)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    qsort(parts, n, sizeof(*parts), by_text);
    strbuf_add_str(&text, str_of(first));
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&text, "%s%s", i ? ", " : "", parts[i]);
    const char *copy = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static const char *remaining_text(struct arena *a, const struct contents *c)
{
    const char **parts = ARENA_NEW_N(a, const char *, c->left.n);
    for (size_t i = 0; i < c->left.n; i++)
        parts[i] = arena_printf(a, "%.*s.%.*s has %zu resource instances", STR_ARG(c->left.at[i].resource->plural),
                                STR_ARG(c->left.at[i].resource->group), c->left.at[i].n);
    return joined(a, "Some resources are remaining: ", parts, c->left.n);
}

static const char *finalizers_text(struct arena *a, const struct contents *c)
{
    const char **parts = ARENA_NEW_N(a, const char *, c->holders.n);
    for (size_t i = 0; i < c->holders.n; i++)
        parts[i] = arena_printf(a, "%.*s in %zu resource instances", STR_ARG(c->holders.at[i].finalizer), c->holders.at[i].n);
    return joined(a, "Some content in the namespace has finalizers remaining: ", parts, c->holders.n);
}

static const struct value *old_condition(const struct type *ct, const struct value *list, const char *type)
{
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(ct, &list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

struct told {
    const char *status, *reason, *message;
};

/* As long as pods are waited for, nothing is said of what remains: nobody has looked. */
static struct told told(struct arena *a, size_t i, const struct contents *c)
{
    if (i == CONTENT_FAILURE && c->late)
        return (struct told){ "True", "ContentDeletionFailed", c->late };
    if (i == CONTENT_REMAINING && c->left.n && !c->pods_first)
        return (struct told){ "True", "SomeResourcesRemain", remaining_text(a, c) };
    if (i == FINALIZERS_REMAINING && c->holders.n && !c->pods_first)
        return (struct told){ "True", "SomeFinalizersRemain", finalizers_text(a, c) };
    return (struct told){ "False", conditions[i].ok_reason, conditions[i].ok_message };
}

static struct value conditions_for(struct namespace_controller *n, struct arena *a, const struct value *old,
                                   const struct contents *c)
{
    const struct type *ct = schema_type(STR("core/v1.NamespaceCondition"));
    struct value list = { .kind = VALUE_ABSENT };
    for (size_t i = 0; i < N_CONDITIONS; i++) {
        struct told say = told(a, i, c);
        const struct value *was = old_condition(ct, old, conditions[i].type);
        bool same = was && str_is(value_text(value_path(ct, was, "status")), say.status);
        struct value v = value_struct(a, ct);
        v = edit_set(a, ct, &v, "type", edit_text(conditions[i].type));
        v = edit_set(a, ct, &v, "status", edit_text(say.status));
        v = edit_set(a, ct, &v, "reason", edit_text(say.reason));
        v = edit_set(a, ct, &v, "message", edit_text(say.message));
        v = edit_set(a, ct, &v, "lastTransitionTime", same ? *value_path(ct, was, "lastTransitionTime")
                                                           : value_time(cluster_now_s(n->cluster), 0));
        list = edit_append(a, &list, v);
    }
    return list;
}

/* ---- Work ---- */

/* A namespace that is being worked on: how many calls are still out. */
struct turn {
    struct namespace_controller *controller;
    uint32_t n_out;
    bool failed, waits, again;
    size_t n_key;
    char key[];
};

static void end_turn(struct turn *t)
{
    struct str key = { t->key, t->n_key };
    if (t->again && !t->failed)
        work_queue_add(t->controller->queue, key);
    else if (t->waits && !t->failed)
        work_queue_add_after(t->controller->queue, key, LOOK_AGAIN_MS);
    work_queue_done(t->controller->queue, key, t->failed ? WORK_RETRY : WORK_FORGET);
    free(t);
}

static void call_done(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    (void)message;
    t->failed |= code && code != ERR_NOT_FOUND;
    if (--t->n_out == 0)
        end_turn(t);
}

static void begin_call(struct turn *t, struct cluster_call call)
{
    call.controller = CONTROLLER;
    call.done = call_done;
    call.context = t;
    t->n_out++;
    cluster_begin(t->controller->cluster, &call);
}

static void delete_contents(struct turn *t, const struct contents *c)
{
    for (size_t i = 0; i < c->items.n; i++) {
        struct str namespace, name;
        stored_read_key(c->rows.at[i], store_item_key(c->items.at[i]), &namespace, &name);
        begin_call(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = c->rows.at[i], .namespace = namespace,
                                             .name = name, .propagation = "Background" });
    }
}

static void write_conditions(struct turn *t, struct arena *a, const struct value *v, const struct contents *c)
{
    const struct type *nt = type_of_namespaces();
    struct value list = conditions_for(t->controller, a, value_path(nt, v, "status.conditions"), c);
    if (value_equal(&list, value_path(nt, v, "status.conditions")))
        return;
    struct value next = edit_set(a, nt, v, "status.conditions", list);
    begin_call(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = namespaces(), .subresource = "status",
                                         .name = (struct str){ t->key, t->n_key }, .object = &next });
}

/* The last step: our own hold on it is given up. */
static void finalize(struct turn *t, struct arena *a, const struct value *v)
{
    const struct type *nt = type_of_namespaces();
    const struct value *list = value_path(nt, v, "spec.finalizers");
    struct value kept = { .kind = VALUE_ABSENT };
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (!str_is(value_text(&list->items[i]), "kubernetes"))
            kept = edit_append(a, &kept, list->items[i]);
    struct value next = edit_set(a, nt, v, "spec.finalizers", kept);
    begin_call(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = namespaces(), .subresource = "finalize",
                                         .name = (struct str){ t->key, t->n_key }, .object = &next });
}

static bool is_held(const struct value *v)
{
    const struct type *nt = type_of_namespaces();
    const struct value *list = value_path(nt, v, "spec.finalizers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), "kubernetes"))
            return value_path(nt, v, "metadata.deletionTimestamp")->kind == VALUE_TIME;
    return false;
}

static void work(void *context, struct str key)
{
    struct namespace_controller *n = context;
    const struct value *v = stored_get(cluster_objects(n->cluster), namespaces(), STR(""), key);
    if (!v || !is_held(v)) {
        work_queue_done(n->queue, key, WORK_FORGET);
        return;
    }
    struct turn *t = mem_zalloc(sizeof(*t) + key.n);
    t->controller = n;
    t->n_key = key.n;
    memcpy(t->key, key.p, key.n);
    t->n_out = 1; /* ours, until all calls have begun */
    struct arena a;
    struct contents c = { 0 };
    arena_init(&a);
    look_into(n, key, &a, &c);
    look_for_late_pods(n, key, v, &a, &c);
    t->waits = c.waits;
    if (c.left.n == 0 && cluster_is_swept(n->cluster, key)) {
        finalize(t, &a, v);
    } else if (c.left.n == 0) {
        work_queue_add_after(n->queue, key, SWEEP_LOOK_MS);
    } else {
        delete_contents(t, &c);
        t->again = c.items.n > 0; /* to see what is held */
        if (!t->again)
            write_conditions(t, &a, v, &c);
    }
    contents_fini(&c);
    arena_fini(&a);
    call_done(t, ERR_OK, NULL);
}

/* ---- Changes ---- */

static bool is_terminating(struct namespace_controller *n, struct str name)
{
    const struct value *v = stored_get(cluster_objects(n->cluster), namespaces(), STR(""), name);
    return v && is_held(v);
}

static void changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct namespace_controller *n = context;
    struct str namespace, name;
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    if (r == namespaces() && item && is_terminating(n, name))
        work_queue_add_after(n->queue, name, FIRST_LOOK_MS);
    else if (r->namespaced && !item && is_terminating(n, namespace))
        work_queue_add(n->queue, namespace);
}

void *namespace_controller_start(const struct controller_context *c)
{
    struct namespace_controller *n = mem_zalloc(sizeof(*n));
    n->cluster = c->cluster;
    n->queue = work_queue_new(cluster_loop(c->cluster), 10, work, n);
    work_queue_show(n->queue, c->queues, "namespace");
    cluster_watch(c->cluster, NULL, changed, n);
    return n;
}

void namespace_controller_stop(void *own_controller)
{
    struct namespace_controller *n = own_controller;
    work_queue_free(n->queue);
    free(n);
}
