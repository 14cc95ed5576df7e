/* controllers/cluster_remote.c - see cluster_remote.h. */
#include "controllers/cluster_remote.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "codec/json.h"
#include "controllers/discovery.h"
#include "controllers/mirror.h"
#include "controllers/remote_absent.h"
#include "controllers/remote_sweep.h"

enum {
    CALL_TIMEOUT_MS = 60 * 1000,
    DISCOVERY_RETRY_MS = 1000, /* the server may only just begin to listen */
};

/* What controllers read more of than metadata. */
static const struct {
    const char *plural, *group;
} whole[] = {
    { "configmaps", "" },
    { "endpoints", "" },
    { "namespaces", "" },
    { "nodes", "" },
    { "persistentvolumeclaims", "" },
    { "persistentvolumes", "" },
    { "pods", "" },
    { "replicationcontrollers", "" },
    { "resourcequotas", "" },
    { "secrets", "" },
    { "serviceaccounts", "" },
    { "services", "" },
    { "controllerrevisions", "apps" },
    { "daemonsets", "apps" },
    { "deployments", "apps" },
    { "replicasets", "apps" },
    { "statefulsets", "apps" },
    { "horizontalpodautoscalers", "autoscaling" },
    { "cronjobs", "batch" },
    { "jobs", "batch" },
    { "certificatesigningrequests", "certificates.k8s.io" },
    { "leases", "coordination.k8s.io" },
    { "endpointslices", "discovery.k8s.io" },
    { "poddisruptionbudgets", "policy" },
    { "clusterroles", "rbac.authorization.k8s.io" },
    { "resourceclaims", "resource.k8s.io" },
    { "resourceclaimtemplates", "resource.k8s.io" },
    { "storageclasses", "storage.k8s.io" },
    { "volumeattachments", "storage.k8s.io" },
};

struct remote {
    struct remote_options o;
    struct loop *loop;
    struct accounts *accounts;
    struct remote_requests *requests;
    struct mirror *mirror;
    struct discovery *discovery;
    struct remote_absent *absent;
    struct remote_sweep *sweep;
    struct cluster *cluster;
    struct loop_timer retry;
    bool is_synced, is_halted;
};

/* ---- Calls ---- */

struct job {
    struct remote *remote;
    struct cluster_call call; /* of what it points to only what lives longer is looked at */
};

static enum err_code code_of(int status, struct str reason)
{
    static const struct {
        enum err_code code;
        int status;
        const char *reason;
    } rows[] = {
#define X(name, http, text) { ERR_##name, http, text },
        ERR_CODES(X)
#undef X
    };
    for (size_t i = 0; reason.n && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_is(reason, rows[i].reason))
            return rows[i].code;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (status == rows[i].status)
            return rows[i].code;
    return status ? ERR_UNKNOWN : ERR_UNAVAILABLE;
}

static bool has_cause(struct arena *a, struct str body, const char *reason)
{
    const struct type *t = schema_type(STR("meta/v1.Status")), *ct = schema_type(STR("meta/v1.StatusCause"));
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, &work, t, body, NULL, &v, &e))
        return false;
    const struct value *causes = value_path(t, &v, "details.causes");
    for (uint32_t i = 0; causes->kind == VALUE_LIST && i < causes->n; i++)
        if (str_is(value_text(value_path(ct, &causes->items[i], "reason")), reason))
            return true;
    return false;
}

static void read_refusal(struct arena *a, const struct api_answer *answer, struct cluster_outcome *o)
{
    o->code = code_of(answer->status, api_status_reason(a, answer));
    o->message = api_problem(a, answer);
    o->namespace_ends = answer->status == 403 && has_cause(a, answer->body, "NamespaceTerminating");
}

/* Of another resource than its own, as a binding is, an answer says nothing about the object. */
static bool tells_object(const struct cluster_call *c)
{
    return !c->subresource || strcmp(c->subresource, "status") == 0 || strcmp(c->subresource, "finalize") == 0;
}

static void on_answer(void *context, const struct api_answer *answer)
{
    struct job *j = context;
    struct cluster_outcome o = { 0 };
    struct arena a;
    arena_init(&a);
    if (!api_ok(answer))
        read_refusal(&a, answer, &o);
    else if (tells_object(&j->call))
        o.item = mirror_put(j->remote->mirror, j->call.resource, answer->body);
    if (j->call.answered)
        j->call.answered(j->call.context, &o);
    if (j->call.done)
        j->call.done(j->call.context, o.code, o.message);
    arena_fini(&a);
    free(j);
}

static void add_member(struct strbuf *json, const char *name, struct str text, bool *any)
{
    if (!text.n)
        return;
    strbuf_printf(json, "%s\"%s\":", *any ? "," : "", name);
    json_add_string(json, text);
    *any = true;
}

static void add_delete_options(struct strbuf *json, const struct cluster_call *c)
{
    bool any = false;
    STRBUF_ADD_LIT(json, "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"");
    if (c->at_once)
        STRBUF_ADD_LIT(json, ",\"gracePeriodSeconds\":0");
    if (c->propagation)
        strbuf_printf(json, ",\"propagationPolicy\":\"%s\"", c->propagation);
    if (c->uid.n || c->resource_version.n) {
        STRBUF_ADD_LIT(json, ",\"preconditions\":{");
        add_member(json, "uid", c->uid, &any);
        add_member(json, "resourceVersion", c->resource_version, &any);
        strbuf_add_char(json, '}');
    }
    strbuf_add_char(json, '}');
}

static const struct type *type_of(const struct cluster_call *c)
{
    for (const struct subresource *s = c->resource->subresources; c->subresource && s && s->name; s++)
        if (strcmp(s->name, c->subresource) == 0 && s->type)
            return schema_type(str_of(s->type));
    return c->resource->type;
}

static void add_body(struct strbuf *json, const struct cluster_call *c)
{
    if (c->verb == CLUSTER_DELETE)
        add_delete_options(json, c);
    else if (c->object)
        json_encode(json, type_of(c), c->object);
    else
        strbuf_add_str(json, c->patch);
}

static enum api_lane lane_of(const struct cluster_call *c)
{
    if (str_is(c->resource->kind, "Event"))
        return API_LANE_EVENT;
    if (c->verb == CLUSTER_DELETE)
        return API_LANE_EVICT;
    return c->subresource && strcmp(c->subresource, "status") == 0 ? API_LANE_STATUS : API_LANE_BIND;
}

static const char *target_of(struct arena *a, const struct cluster_call *c)
{
    /* What is created has its name inside, unless it is a part of something that has one. */
    bool names = c->verb != CLUSTER_CREATE || c->subresource;
    const char *path = mirror_path(a, c->resource, c->namespace, names ? c->name : STR(""));
    return c->subresource ? arena_printf(a, "%s/%s", path, c->subresource) : path;
}

static void begin_call(void *context, const struct cluster_call *call)
{
    static const struct {
        const char *method, *media_type;
    } verbs[] = {
        [CLUSTER_CREATE] = { "POST", "application/json" },
        [CLUSTER_UPDATE] = { "PUT", "application/json" },
        [CLUSTER_PATCH_MERGE] = { "PATCH", "application/merge-patch+json" },
        [CLUSTER_PATCH_STRATEGIC] = { "PATCH", "application/strategic-merge-patch+json" },
        [CLUSTER_DELETE] = { "DELETE", "application/json" },
    };
    struct remote *r = context;
    struct job *j = mem_zalloc(sizeof(*j));
    struct strbuf body;
    struct arena a;
    arena_init(&a);
    strbuf_init(&body, STRBUF_NO_MAX);
    j->remote = r;
    j->call = *call;
    add_body(&body, call);
    struct remote_request request = {
        .controller = call->controller,
        .request = { .lane = lane_of(call), .method = verbs[call->verb].method, .target = str_of(target_of(&a, call)),
                     .media_type = verbs[call->verb].media_type, .accept = "application/json", .body = strbuf_str(&body),
                     .timeout_ms = CALL_TIMEOUT_MS },
        .done = on_answer,
        .context = j,
    };
    remote_requests_send(r->requests, &request);
    strbuf_fini(&body);
    arena_fini(&a);
}

/* ---- The other functions of a cluster ---- */

static uint32_t n_under_way(const void *context)
{
    const struct remote *r = context;
    return remote_requests_n(r->requests);
}

static void stop_calls(void *context)
{
    struct remote *r = context;
    remote_requests_end(r->requests);
}

static bool is_gone(void *context, const struct cluster_object *o)
{
    struct remote *r = context;
    return remote_absent_is_gone(r->absent, o);
}

static bool is_swept(void *context, struct str namespace)
{
    struct remote *r = context;
    return remote_sweep_is_clean(r->sweep, namespace);
}

static void keep(void *own_context)
{
    (void)own_context; /* remote_free frees it */
}

/* ---- What is watched ---- */

static bool is_whole(const struct resource *r)
{
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (str_is(r->plural, whole[i].plural) && str_is(r->group, whole[i].group))
            return true;
    return false;
}

static void watch_served(struct remote *r)
{
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *row = &schema_resources[i];
        bool is_event = str_is(row->plural, "events"); /* there are many, and nothing depends on them */
        if (!cluster_has_objects(row) || is_event || !discovery_serves(r->discovery, row->group, row->version, row->plural))
            continue;
        if (is_whole(row) || r->o.everything)
            mirror_add(r->mirror, row, is_whole(row));
    }
}

static void on_discovered(void *context, const char *error)
{
    struct remote *r = context;
    if (r->is_halted)
        return;
    if (error) {
        LOG_ERROR(error, "Unable to find out what the server serves");
        loop_timer_set(r->loop, &r->retry, loop_now_ms(r->loop) + DISCOVERY_RETRY_MS);
    } else {
        watch_served(r);
    }
}

static void discover_again(struct loop_timer *t)
{
    struct remote *r = LIST_ITEM(t, struct remote, retry);
    discovery_begin(r->discovery);
}

static void on_changed(void *context)
{
    struct remote *r = context;
    if (r->is_halted)
        return;
    if (!r->is_synced) {
        r->is_synced = true;
        r->o.synced(r->o.context);
    }
    cluster_poll(r->cluster);
    mirror_forget_log(r->mirror);
}

/* ---- Life ---- */

struct remote *remote_new(const struct remote_options *o)
{
    struct remote *r = mem_zalloc(sizeof(*r));
    const struct api *api = o->accounts.api;
    r->o = *o;
    r->loop = o->accounts.rest.loop;
    r->accounts = accounts_new(&o->accounts);
    r->requests = remote_requests_new(r->loop, r->accounts);
    r->mirror = mirror_new(&(struct mirror_options){ .loop = r->loop, .api = api, .no_streaming = o->no_streaming,
                                                     .seed = o->seed, .changed = on_changed, .context = r });
    r->discovery = discovery_new(api, on_discovered, r);
    r->absent = remote_absent_new(r->mirror, r->requests);
    r->sweep = remote_sweep_new(api, r->requests);
    r->retry.fire = discover_again;
    r->cluster = cluster_over(r->loop, mirror_objects(r->mirror),
                              &(struct cluster_backend){ .own_context = r, .begin = begin_call, .stop = stop_calls, .free = keep,
                                                         .n_under_way = n_under_way, .is_gone = is_gone,
                                                         .is_swept = is_swept });
    return r;
}

struct cluster *remote_cluster(const struct remote *r)
{
    return r->cluster;
}

void remote_start(struct remote *r)
{
    discovery_begin(r->discovery);
}

const struct resource *remote_waits_for(const struct remote *r)
{
    return mirror_waits_for(r->mirror);
}

void remote_halt(struct remote *r)
{
    r->is_halted = true;
    loop_timer_stop(r->loop, &r->retry);
    cluster_stop(r->cluster);
}

void remote_stop(struct remote *r, void (*stopped)(void *context), void *context)
{
    remote_sweep_free(r->sweep);
    remote_absent_free(r->absent);
    discovery_free(r->discovery);
    cluster_free(r->cluster);
    mirror_free(r->mirror);
    remote_requests_free(r->requests);
    accounts_stop(r->accounts, stopped, context);
}

void remote_free(struct remote *r)
{
    if (!r)
        return;
    accounts_free(r->accounts);
    free(r);
}
