/* daemon/api_health.c - see api_health.h. */
#include "daemon/api_health.h"

#include <assert.h>

enum { HEALTHZ, LIVEZ, READYZ };

static const char *store_problem(void *context)
{
    const struct api_health *h = context;
    return store_facts(stored_store(h->objects)).full ? "the disk is full" : NULL;
}

static const char *stopping(void *context)
{
    const struct api_health *h = context;
    return h->is_stopping(h->context) ? "process is shutting down" : NULL;
}

static const char *hook_problem(void *context)
{
    const struct api_hook *k = context;
    return stored_get(k->objects, k->resource, str_of(k->namespace), str_of(k->name)) ? NULL : "not finished";
}

static void observe(void *context, const char *check, const char *type, bool good)
{
    const struct api_health *h = context;
    health_metrics_note(h->metrics, check, type, good);
}

static void add(struct api_health *h, int list, const char *name, const char *(*problem)(void *context), void *context)
{
    struct health *to = list == HEALTHZ ? &h->healthz : list == LIVEZ ? &h->livez : &h->readyz;
    assert(to->n_checks < API_HEALTH_CHECKS_MAX);
    h->checks[list][to->n_checks++] = (struct health_check){ name, problem, context };
}

/* What is made when a server starts, by its first or last object. */
static const struct {
    const char *name, *plural, *group, *namespace, *object;
    bool rbac;
} hooks[] = {
    { "poststarthook/start-system-namespaces-controller", "namespaces", "", "", "default", false },
    { "poststarthook/rbac/bootstrap-roles", "clusterroles", "rbac.authorization.k8s.io", "", "cluster-admin", true },
    { "poststarthook/scheduling/bootstrap-system-priority-classes", "priorityclasses", "scheduling.k8s.io", "",
      "system-cluster-critical", false },
    { "poststarthook/priority-and-fairness-config-producer", "flowschemas", "flowcontrol.apiserver.k8s.io", "",
      "catch-all", false },
    { "poststarthook/bootstrap-controller", "services", "", "default", "kubernetes", false },
    { "poststarthook/start-kubernetes-service-cidr-controller", "servicecidrs", "networking.k8s.io", "", "kubernetes",
      false },
    { "poststarthook/kube-apiserver-autoregistration", "apiservices", "apiregistration.k8s.io", "", "v1.apps", false },
};

static void add_hooks(struct api_health *h, const struct api_health_options *o)
{
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        if (hooks[i].rbac && !o->rbac)
            continue;
        h->hooks[i] = (struct api_hook){ .objects = o->objects, .namespace = hooks[i].namespace, .name = hooks[i].object,
                                         .resource = stored_resource(hooks[i].plural, hooks[i].group) };
        for (int list = HEALTHZ; list <= READYZ; list++)
            add(h, list, hooks[i].name, hook_problem, &h->hooks[i]);
    }
}

void api_health_init(struct api_health *h, const struct api_health_options *o, struct arena *a)
{
    *h = (struct api_health){ .objects = o->objects, .metrics = o->metrics, .is_stopping = o->is_stopping,
                              .context = o->context };
    h->healthz = (struct health){ "healthz", h->checks[HEALTHZ], 0, observe, h };
    h->livez = (struct health){ "livez", h->checks[LIVEZ], 0, observe, h };
    h->readyz = (struct health){ "readyz", h->checks[READYZ], 0, observe, h };
    for (int list = HEALTHZ; list <= READYZ; list++) {
        add(h, list, "ping", NULL, NULL);
        add(h, list, "log", NULL, NULL);
        add(h, list, "etcd", store_problem, h);
    }
    add(h, READYZ, "etcd-readiness", store_problem, h);
    add(h, READYZ, "informer-sync", NULL, NULL); /* what others watch is here in memory */
    add_hooks(h, o);
    add(h, READYZ, arena_printf(a, "durability/%s", o->durability), NULL, NULL);
    add(h, READYZ, "shutdown", stopping, h);
}
