/* apiserver/server_metrics.c - see server_metrics.h. Upstream: apiserver/pkg/endpoints/metrics, storage/etcd3/metrics.
 * */
#include "apiserver/server_metrics.h"

#include <stdlib.h>

/* What a request is told apart by: constants of the program and of the schema, so that they can be compared by address.
 * */
struct labels_of {
    const char *verb, *scope, *sub;
    const struct resource *resource; /* NULL: none that there is */
    bool dry_run;
};

/* The series of one kind of request; all zero: none is kept here. */
struct kept {
    struct labels_of labels;
    int code;
    struct series *total, *seconds, *sli_seconds, *bytes;
};

struct server_metrics {
    struct stored *objects;
    struct metric *requests, *seconds, *sli_seconds, *bytes, *terminated, *long_running, *watch_events, *watch_bytes;
    struct series *inflight[2], *authenticated[2], *authenticated_seconds[2], *authorized[2], *authorized_seconds[2];
    struct kept kept[SERVER_METRICS_KEPT];
    struct arena arena;
    struct counted *counted;
    struct watched {
        struct series *events, *bytes; /* NULL until the first event */
    } *watched; /* one a row of the schema: events come in numbers */
};

/* ---- Families ---- */

#define OF_REQUEST "verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"
#define OF_ANSWER "verb", "group", "version", "resource", "subresource", "scope", "component"
#define SECONDS 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60
#define N_OF(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

static void add_requests(struct server_metrics *m, struct metrics *r)
{
    static const double seconds[] = { 0.005, 0.025, SECONDS }, sli[] = { SECONDS };
    double sizes[7];
    metrics_exponential_bounds(1000, 10, 7, sizes);
    m->requests = metrics_add_counter(
        r, &(struct metric_desc){ "apiserver_request_total",
                                  "Counter of apiserver requests broken out for each verb, dry run value, group, "
                                  "version, "
                                  "resource, scope, component, and HTTP response code.",
                                  { OF_REQUEST, "code" }, .stability = STABILITY_STABLE });
    m->seconds = metrics_add_histogram(
        r, &(struct metric_desc){ "apiserver_request_duration_seconds",
                                  "Response latency distribution in seconds for each verb, dry run value, group, "
                                  "version, "
                                  "resource, subresource, scope and component.",
                                  { OF_REQUEST }, .stability = STABILITY_STABLE },
        seconds, N_OF(seconds));
    m->sli_seconds = metrics_add_histogram(
        r, &(struct metric_desc){ "apiserver_request_sli_duration_seconds",
                                  "Response latency distribution (not counting webhook duration and priority & "
                                  "fairness queue "
                                  "wait times) in seconds for each verb, group, version, resource, subresource, scope "
                                  "and "
                                  "component.",
                                  { OF_ANSWER }, .stability = STABILITY_ALPHA },
        sli, N_OF(sli));
    m->bytes = metrics_add_histogram(
        r, &(struct metric_desc){ "apiserver_response_sizes",
                                  "Response size distribution in bytes for each group, version, verb, resource, "
                                  "subresource, "
                                  "scope and component.",
                                  { OF_ANSWER }, .stability = STABILITY_STABLE },
        sizes, 7);
    m->terminated = metrics_add_counter(
        r, &(struct metric_desc){ "apiserver_request_terminations_total",
                                  "Number of requests which apiserver terminated in "
                                  "self-defense.", { OF_ANSWER, "code" },
                                  .stability = STABILITY_ALPHA });
    m->long_running = metrics_add_gauge(
        r, &(struct metric_desc){ "apiserver_longrunning_requests",
                                  "Gauge of all active long-running apiserver requests broken out by verb, group, "
                                  "version, "
                                  "resource, scope and component. Not all requests are tracked this way.",
                                  { OF_ANSWER }, .stability = STABILITY_STABLE });
}

static void add_watches(struct server_metrics *m, struct metrics *r)
{
    double sizes[8];
    metrics_exponential_bounds(1024, 2, 8, sizes);
    m->watch_events = metrics_add_counter(
        r, &(struct metric_desc){ "apiserver_watch_events_total", "Number of events sent in watch clients",
                                  { "group", "version", "resource" }, .stability = STABILITY_ALPHA });
    m->watch_bytes = metrics_add_histogram(
        r, &(struct metric_desc){ "apiserver_watch_events_sizes", "Watch event size distribution in bytes",
                                  { "group", "version", "resource" }, .stability = STABILITY_ALPHA },
        sizes, 8);
}

static void add_inflight(struct server_metrics *m, struct metrics *r)
{
    struct metric *inflight = metrics_add_gauge(
        r, &(struct metric_desc){ "apiserver_current_inflight_requests",
                                  "Maximal number of currently used inflight request limit of this apiserver per "
                                  "request kind "
                                  "in last second.",
                                  { "request_kind" }, .stability = STABILITY_STABLE });
    m->inflight[0] = metric_series(inflight, (struct str[]){ STR("readOnly") });
    m->inflight[1] = metric_series(inflight, (struct str[]){ STR("mutating") });
}

static void add_access(struct server_metrics *m, struct metrics *r)
{
    double seconds[15];
    metrics_exponential_bounds(0.001, 2, 15, seconds);
    struct metric *found = metrics_add_counter(
        r, &(struct metric_desc){ "authentication_attempts", "Counter of authenticated attempts.", { "result" },
                                  .stability = STABILITY_ALPHA });
    struct metric *found_seconds = metrics_add_histogram(
        r, &(struct metric_desc){ "authentication_duration_seconds",
                                  "Authentication duration in seconds broken out by result.", { "result" },
                                  .stability = STABILITY_ALPHA }, seconds, 15);
    struct metric *allowed = metrics_add_counter(
        r, &(struct metric_desc){ "authorization_attempts_total",
                                  "Counter of authorization attempts broken down by result. It can be either "
                                  "'allowed', "
                                  "'denied', 'no-opinion' or 'error'.", { "result" }, .stability = STABILITY_ALPHA });
    struct metric *allowed_seconds = metrics_add_histogram(
        r, &(struct metric_desc){ "authorization_duration_seconds",
                                  "Authorization duration in seconds broken out by result.", { "result" },
                                  .stability = STABILITY_ALPHA }, seconds, 15);
    struct str found_as[] = { STR("failure"), STR("success") }, allowed_as[] = { STR("denied"), STR("allowed") };
    for (int i = 0; i < 2; i++) {
        m->authenticated[i] = metric_series_unseen(found, &found_as[i]);
        m->authenticated_seconds[i] = metric_series_unseen(found_seconds, &found_as[i]);
        m->authorized[i] = metric_series_unseen(allowed, &allowed_as[i]);
        m->authorized_seconds[i] = metric_series_unseen(allowed_seconds, &allowed_as[i]);
    }
}

/* ---- The store ---- */

struct counted {
    struct server_metrics *m;
    struct str prefix;
};

static double count_objects(void *context)
{
    const struct counted *c = context;
    struct arena scratch;
    struct err e;
    struct store_list list;
    arena_init_small(&scratch);
    err_init(&e, &scratch);
    struct store_range range = { .prefix = c->prefix, .limit = 1 };
    enum err_code rc = store_list(stored_store(c->m->objects), &range, &scratch, &list, &e);
    double n = rc ? -1 : (double)(list.n + list.n_left);
    arena_fini(&scratch);
    return n;
}

/* Two rows of one prefix show the same objects: the first is counted. */
static bool is_known(const struct server_metrics *m, size_t n, struct str prefix)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(m->counted[i].prefix, prefix))
            return true;
    return false;
}

static void add_objects(struct server_metrics *m, struct metrics *r)
{
    struct metric *by_name = metrics_add_gauge(
        r, &(struct metric_desc){ "apiserver_storage_objects",
                                  "(Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects "
                                  "instead] "
                                  "Number of stored objects at the time of last check split by kind. In case of a "
                                  "fetching "
                                  "error, the value will be -1.",
                                  { "resource" }, .stability = STABILITY_STABLE });
    struct metric *by_group = metrics_add_gauge(
        r, &(struct metric_desc){ "apiserver_resource_objects",
                                  "Number of stored objects at the time of last check split by kind. In case of a "
                                  "fetching "
                                  "error, the value will be -1.",
                                  { "group", "resource" }, .stability = STABILITY_ALPHA });
    size_t n = 0;
    m->counted = ARENA_NEW_N(&m->arena, struct counted, schema_n_resources);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *row = &schema_resources[i];
        if (!row->served || !row->type || !(row->verbs & VERB_LIST))
            continue;
        struct str prefix = stored_prefix(&m->arena, row, STR(""));
        if (is_known(m, n, prefix))
            continue;
        struct counted *c = &m->counted[n++];
        *c = (struct counted){ m, prefix };
        const char *full = arena_printf(&m->arena, "%.*s%s%.*s", STR_ARG(row->plural), row->group.n ? "." : "",
                                        STR_ARG(row->group));
        series_read_from(metric_series(by_name, (struct str[]){ str_of(full) }), count_objects, c);
        series_read_from(metric_series(by_group, (struct str[]){ row->group, row->plural }), count_objects, c);
    }
}

#define STORE_FACT(member)                                                                   \
    static double read_##member(void *context)                                              \
    {                                                                                        \
        const struct server_metrics *m = context;                                           \
        return (double)store_facts(stored_store(m->objects)).member;                        \
    }
STORE_FACT(n_keys)
STORE_FACT(n_events)
STORE_FACT(log_bytes)
STORE_FACT(n_open)
STORE_FACT(open_bytes)
STORE_FACT(n_expiring)
STORE_FACT(full)

static double read_revision(void *context)
{
    const struct server_metrics *m = context;
    return (double)store_revision(stored_store(m->objects));
}

static double read_compacted(void *context)
{
    const struct server_metrics *m = context;
    return (double)store_compacted(stored_store(m->objects));
}

static void add_store(struct server_metrics *m, struct metrics *r)
{
    static const struct {
        const char *name, *help;
        double (*read)(void *context);
    } rows[] = {
        { "berth_store_keys", "Keys that are stored.", read_n_keys },
        { "berth_store_log_events", "Changes that are kept for watches.", read_n_events },
        { "berth_store_log_bytes", "Bytes of states that are no longer current and kept for watches.", read_log_bytes },
        { "berth_store_commits_open", "Commits that wait for the disk.", read_n_open },
        { "berth_store_commits_open_bytes", "Bytes of commits that wait for the disk.", read_open_bytes },
        { "berth_store_keys_expiring", "Keys that will expire.", read_n_expiring },
        { "berth_store_full", "1 while the disk is full and only deletions work.", read_full },
        { "berth_store_revision", "Revision of the last change that can be read.", read_revision },
        { "berth_store_compacted_revision", "Revision up to which changes are no longer known.", read_compacted },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct metric *gauge = metrics_add_gauge(r, &(struct metric_desc){ rows[i].name, rows[i].help, { NULL } });
        series_read_from(metric_series(gauge, NULL), rows[i].read, m);
    }
}

/* ---- Requests ---- */

static const char *verb_of(struct str verb)
{
    static const char *const names[][2] = {
        { "get", "GET" },       { "list", "LIST" },     { "watch", "WATCH" },
        { "create", "POST" },   { "update", "PUT" },    { "patch", "PATCH" },
        { "delete", "DELETE" }, { "connect", "CONNECT" }, { "deletecollection", "DELETECOLLECTION" },
        { "post", "POST" },     { "put", "PUT" },       { "head", "GET" },
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(verb, names[i][0]))
            return names[i][1];
    return "other";
}

static const char *scope_of(const struct route *r)
{
    if (r->name.n || str_is(r->verb, "create"))
        return "resource";
    return r->namespace.n ? "namespace" : r->is_resource ? "cluster" : "";
}

static struct labels_of labels_of(const struct route *r, const char *sub, bool dry_run)
{
    return (struct labels_of){ .verb = verb_of(r->verb), .scope = scope_of(r), .sub = sub, .dry_run = dry_run,
                               .resource = r->is_resource ? schema_resource(r->group, r->version, r->resource) : NULL };
}

/* In the order of OF_REQUEST; without the dry run, it is OF_ANSWER. */
enum { VERB, DRY_RUN, GROUP, VERSION, RESOURCE, SUBRESOURCE, SCOPE, COMPONENT, CODE, N_LABELS };

static void fill_labels(struct str *at, const struct labels_of *l)
{
    const struct resource *r = l->resource;
    at[VERB] = str_of(l->verb);
    at[DRY_RUN] = l->dry_run ? STR("All") : STR("");
    at[GROUP] = r ? r->group : STR("");
    at[VERSION] = r ? r->version : STR("");
    at[RESOURCE] = r ? r->plural : STR("");
    at[SUBRESOURCE] = str_of(l->sub);
    at[SCOPE] = str_of(l->scope);
    at[COMPONENT] = STR("apiserver");
}

/* The same without the dry run. */
static void fill_answer_labels(struct str *at, const struct labels_of *l)
{
    struct str all[N_LABELS];
    fill_labels(all, l);
    at[0] = all[VERB];
    memcpy(&at[1], &all[GROUP], (COMPONENT - GROUP + 1) * sizeof(*at));
}

static struct str code_text(int code, char to[static 3])
{
    unsigned n = (unsigned)code % 1000;
    to[0] = (char)('0' + n / 100);
    to[1] = (char)('0' + n / 10 % 10);
    to[2] = (char)('0' + n % 10);
    return (struct str){ to, 3 };
}

static void look_up(struct server_metrics *m, struct kept *k, const struct labels_of *l, int code)
{
    struct str labels[N_LABELS], answer[N_LABELS];
    char text[3];
    fill_labels(labels, l);
    fill_answer_labels(answer, l);
    labels[CODE] = code_text(code, text);
    *k = (struct kept){ .labels = *l, .code = code };
    k->total = metric_series(m->requests, labels);
    k->seconds = metric_series(m->seconds, labels);
    k->sli_seconds = metric_series(m->sli_seconds, answer);
    k->bytes = metric_series(m->bytes, answer);
}

static struct kept *find_kept(struct server_metrics *m, const struct labels_of *l, int code)
{
    uint64_t mixed = ((uintptr_t)l->resource >> 4) * 31 + (uintptr_t)l->verb * 17 + (uint64_t)code * 7 +
                     (uintptr_t)l->scope + (uintptr_t)l->sub * 13 + l->dry_run;
    struct kept *k = &m->kept[mixed % SERVER_METRICS_KEPT];
    bool is_it = k->total && k->code == code && k->labels.verb == l->verb && k->labels.scope == l->scope &&
                 k->labels.sub == l->sub && k->labels.resource == l->resource && k->labels.dry_run == l->dry_run;
    if (!is_it)
        look_up(m, k, l, code);
    return k;
}

void server_metrics_request(struct server_metrics *m, const struct route *r, const char *sub, int code, double seconds,
                            uint64_t answer_bytes, bool dry_run)
{
    if (!m->requests)
        return;
    struct labels_of l = labels_of(r, sub, dry_run);
    struct kept *k = find_kept(m, &l, code);
    series_inc(k->total);
    series_observe(k->seconds, seconds);
    series_observe(k->sli_seconds, seconds);
    if (str_is(r->verb, "get") || str_is(r->verb, "list")) /* upstream tells the sizes of these */
        series_observe(k->bytes, (double)answer_bytes);
}

void server_metrics_terminated(struct server_metrics *m, const struct route *r, const char *sub, int code)
{
    struct str labels[N_LABELS];
    char text[3];
    if (!m->requests)
        return;
    struct labels_of l = labels_of(r, sub, false);
    fill_answer_labels(labels, &l);
    labels[COMPONENT] = code_text(code, text); /* behind the component, which has moved up by one */
    series_inc(metric_series(m->terminated, labels));
}

static void count_long(struct server_metrics *m, const struct route *r, int by)
{
    struct str labels[N_LABELS];
    if (!m->requests)
        return;
    struct labels_of l = labels_of(r, "", false);
    fill_answer_labels(labels, &l);
    series_add(metric_series(m->long_running, labels), by);
}

void server_metrics_watch_begun(struct server_metrics *m, const struct route *r)
{
    count_long(m, r, 1);
}

void server_metrics_watch_ended(struct server_metrics *m, const struct route *r)
{
    count_long(m, r, -1);
}

void server_metrics_watch_event(struct server_metrics *m, const struct resource *r, size_t bytes)
{
    if (!m->requests)
        return;
    struct watched *w = &m->watched[r - schema_resources];
    if (!w->events) {
        struct str labels[] = { r->group, r->version, r->plural };
        w->events = metric_series(m->watch_events, labels);
        w->bytes = metric_series(m->watch_bytes, labels);
    }
    series_inc(w->events);
    series_observe(w->bytes, (double)bytes);
}

void server_metrics_inflight(struct server_metrics *m, uint32_t n_reading, uint32_t n_writing)
{
    if (!m->requests)
        return;
    series_set(m->inflight[0], n_reading);
    series_set(m->inflight[1], n_writing);
}

void server_metrics_authenticated(struct server_metrics *m, bool success, double seconds)
{
    if (!m->requests)
        return;
    series_inc(m->authenticated[success]);
    series_observe(m->authenticated_seconds[success], seconds);
}

void server_metrics_authorized(struct server_metrics *m, bool allowed, double seconds)
{
    if (!m->requests)
        return;
    series_inc(m->authorized[allowed]);
    series_observe(m->authorized_seconds[allowed], seconds);
}

/* ---- Life ---- */

struct server_metrics *server_metrics_new(struct metrics *registry, struct stored *objects)
{
    struct server_metrics *m = mem_zalloc(sizeof(*m));
    m->objects = objects;
    arena_init(&m->arena);
    if (!registry)
        return m;
    m->watched = ARENA_NEW_N(&m->arena, struct watched, schema_n_resources);
    add_requests(m, registry);
    add_watches(m, registry);
    add_inflight(m, registry);
    add_access(m, registry);
    add_objects(m, registry);
    add_store(m, registry);
    return m;
}

void server_metrics_free(struct server_metrics *m)
{
    if (!m)
        return;
    arena_fini(&m->arena);
    free(m);
}
