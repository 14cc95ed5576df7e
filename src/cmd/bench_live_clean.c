/* cmd/bench_live_clean.c - deletes what a run has made, by name; see bench_live.h.
 *
 * A namespace ends when the cluster's controller has emptied it. Where none runs (no condition shows that it looked at
 * the namespace), the run, which has deleted everything it made there, gives the finalizer up itself. */
#include "cmd/bench_live_priv.h"

enum {
    LOOK_MS = 100,
    CONTROLLER_MS = 3000, /* after so long a controller would have looked */
    NAMESPACES_MS = 120 * 1000,
    TOLD_MAX = 10, /* things that cannot be deleted and are named */
};

static void told(struct live *l, const char *what, const struct api_answer *a)
{
    if (api_ok(a) || a->status == 404)
        return;
    l->n_left++;
    if (l->n_left <= TOLD_MAX)
        cmd_say(l->o->c, "cannot delete %s: %s", what, api_problem(&l->scratch, a));
}

static void make_pod_delete(struct live *l, uint32_t number, struct api_request *r)
{
    strbuf_printf(&l->target, "%s/p-%u?gracePeriodSeconds=0", live_pod_path(l, number), number);
    r->method = "DELETE";
}

static void pod_deleted(struct live *l, uint32_t number, const struct api_answer *a)
{
    told(l, arena_printf(&l->scratch, "pod p-%u", number), a);
    live_show(l, "%u of %u pods are deleted", number + 1, l->n_pods_asked);
}

static void make_node_delete(struct live *l, uint32_t i, struct api_request *r)
{
    strbuf_printf(&l->target, "/api/v1/nodes/%snode-%u", l->prefix, i);
    r->method = "DELETE";
}

static void node_deleted(struct live *l, uint32_t i, const struct api_answer *a)
{
    told(l, arena_printf(&l->scratch, "node %snode-%u", l->prefix, i), a);
    live_show(l, "%u of %u nodes are deleted", i + 1, l->n_nodes_asked);
}

/* Whether it is gone or on its way. */
static bool delete_one(struct live *l, const char *target)
{
    struct api_answer a = live_ask(l, "DELETE", target, NULL, STR(""));
    told(l, target, &a);
    return api_ok(&a) || a.status == 404;
}

static void pause_ms(struct live *l, int64_t ms)
{
    int64_t until = loop_now_ms(l->cluster.loop) + ms;
    while (loop_now_ms(l->cluster.loop) < until)
        live_turn(l);
}

/* ---- Namespaces ---- */

static const char *namespace_path(struct live *l, const char *name)
{
    return arena_printf(&l->cluster.arena, "/api/v1/namespaces/%s", name);
}

static bool is_looked_at(struct str namespace)
{
    static const char condition[] = "NamespaceDeletion";
    return memmem(namespace.p, namespace.n, condition, sizeof(condition) - 1) != NULL;
}

static void finalize(struct live *l, const char *name)
{
    const char *body = arena_printf(&l->cluster.arena,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"},"
                                    "\"spec\":{\"finalizers\":[]}}", name);
    const char *target = arena_printf(&l->cluster.arena, "%s/finalize", namespace_path(l, name));
    struct api_answer a = live_ask(l, "PUT", target, "application/json", str_of(body));
    told(l, target, &a);
}

/* Whether it is gone. */
static bool look(struct live *l, const char *name, bool may_finalize)
{
    struct api_answer a = live_ask(l, "GET", namespace_path(l, name), NULL, STR(""));
    if (a.status == 404)
        return true;
    if (may_finalize && api_ok(&a) && !is_looked_at(a.body))
        finalize(l, name);
    return false;
}

static bool end_namespaces(struct live *l)
{
    bool asked = true;
    for (size_t i = 0; i < l->namespaces.n; i++) {
        const char *path = namespace_path(l, l->namespaces.at[i]);
        asked &= delete_one(l, arena_printf(&l->cluster.arena, "%s/serviceaccounts/default", path));
        asked &= delete_one(l, path);
    }
    int64_t start_ms = loop_now_ms(l->cluster.loop), waited_ms = 0;
    while (asked && l->namespaces.n && waited_ms < NAMESPACES_MS) {
        live_show(l, "%zu namespaces are being deleted", l->namespaces.n);
        for (size_t i = l->namespaces.n; i-- > 0;)
            if (look(l, l->namespaces.at[i], waited_ms > CONTROLLER_MS))
                vec_remove_swap(&l->namespaces, i);
        if (l->namespaces.n)
            pause_ms(l, LOOK_MS);
        waited_ms = loop_now_ms(l->cluster.loop) - start_ms;
    }
    for (size_t i = 0; i < l->namespaces.n; i++)
        cmd_say(l->o->c, "namespace %s is still being deleted", l->namespaces.at[i]);
    return l->namespaces.n == 0;
}

/* ---- All ---- */

bool live_clean(struct live *l)
{
    struct batch pods = { .n = l->n_pods_asked, .make = make_pod_delete, .answered = pod_deleted, .cleans = true };
    struct batch nodes = { .n = l->n_nodes_asked, .make = make_node_delete, .answered = node_deleted, .cleans = true };
    struct arena *a = &l->cluster.arena;
    live_run_batch(l, &pods);
    live_run_batch(l, &nodes);
    bool done = !l->n_left;
    if (l->has_service)
        done &= delete_one(l, arena_printf(a, "/api/v1/namespaces/%s%s/services/s", l->prefix, l->w->measured_ns));
    if (l->has_class)
        done &= delete_one(l, arena_printf(a, "/apis/scheduling.k8s.io/v1/priorityclasses/%shigh", l->prefix));
    return end_namespaces(l) && done;
}
