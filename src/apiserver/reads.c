/* apiserver/reads.c - see exchange.h: get, list and watch, and the versions that they ask for. Upstream:
 * endpoints/handlers/{get,watch}.go, storage/cacher (delegator.go, cacher.go), storage/etcd3/store.go.
 *
 * Upstream answers nearly all of this from a cache, which waits some seconds for a version that is still to come; what goes
 * past the cache (events, an exact version of a single object) is refused at once and does not say when to come again. */
#include "apiserver/exchange.h"
#include "apiserver/registry_priv.h"
#include "apiserver/server_metrics.h"

enum { TOO_LARGE_RETRY_S = 1, EVENTS_WATCH_RETRY_S_MAX = 3 };

/* ---- Versions that are still to come ---- */

/* No cache lies before events. */
static bool is_cached(const struct exchange *x)
{
    return !str_is(x->at.resource->plural, "events");
}

static struct status too_large_version(struct exchange *x, int32_t retry_s)
{
    struct status_cause *cause = ARENA_NEW(&x->arena, struct status_cause);
    *cause = (struct status_cause){ STR("ResourceVersionTooLarge"), STR("Too large resource version"), STR("") };
    err_set(&x->err, ERR_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
            (unsigned long long)x->version, (unsigned long long)store_revision(x->server->o.store));
    struct status s = status_of_err(&x->arena, &x->err, NULL);
    s.details = true;
    s.causes = cause;
    s.n_causes = 1;
    s.retry_after_seconds = retry_s;
    return s;
}

static void answer_too_large(struct exchange *x, int32_t retry_s)
{
    struct status s = too_large_version(x, retry_s);
    answer_status(x, &s);
}

/* Goes on with `resume` when x->version is there; maybe at once. */
static void await_version(struct exchange *x, bool cached, void (*resume)(struct exchange *x, bool is_there))
{
    if (cached || x->version <= store_revision(x->server->o.store))
        exchange_await(x, x->version, resume);
    else
        answer_too_large(x, 0);
}

/* ---- Get ---- */

static void get(struct exchange *x, bool is_there)
{
    if (!is_there) {
        answer_too_large(x, TOO_LARGE_RETRY_S);
        return;
    }
    dispatch_prepare(x);
    registry_get(&x->op);
}

void serve_get(struct exchange *x)
{
    if (!dispatch_negotiate(x, ACCEPT_OBJECT))
        return;
    if (lists_read_version(target_get(&x->target, "resourceVersion"), false, &x->version, &x->err)) {
        if (!is_cached(x)) /* which words it differently */
            err_set(&x->err, ERR_BAD_REQUEST, "invalid resource version: %s", x->err.message);
        answer_error(x, NULL);
        return;
    }
    await_version(x, is_cached(x), get);
}

/* ---- Options of lists and watches ---- */

static bool read_list_options(struct exchange *x)
{
    struct list_options *o = x->list_options = ARENA_NEW(&x->arena, struct list_options);
    struct field_errors errs;
    field_errors_init(&errs, &x->arena);
    if (options_read_list(&x->arena, &x->target, o, &x->err)) {
        answer_error(x, NULL);
        return false;
    }
    if (x->route.watch_path)
        o->watch = true;
    options_default_list(o);
    if (options_check_list(o, &errs, &x->err)) {
        answer_error(x, &errs);
        return false;
    }
    if (options_check_fields(&x->arena, x->at.resource, &o->fields, &x->err)) {
        answer_error(x, NULL);
        return false;
    }
    return true;
}

static struct str selected(const struct list_options *o, const char *field)
{
    for (size_t i = 0; i < o->fields.n; i++)
        if (!o->fields.at[i].not_equal && str_is(o->fields.at[i].field, field))
            return o->fields.at[i].value;
    return STR("");
}

/* A list that can show no more than one object, by the name that it selects. */
static bool is_single(const struct exchange *x)
{
    const struct list_options *o = x->list_options;
    bool has_place = !x->at.resource->namespaced || x->route.namespace.n || selected(o, "metadata.namespace").n;
    return has_place && selected(o, "metadata.name").n;
}

/* ---- Lists ---- */

static struct list_request request_of(struct exchange *x)
{
    return (struct list_request){ x->server->o.objects, x->at.resource, x->route.namespace, x->list_options };
}

static void await_list(struct exchange *x, void (*resume)(struct exchange *x, bool is_there))
{
    struct list_request r = request_of(x);
    bool exact;
    if (lists_find_version(&x->arena, &r, &x->version, &exact, &x->err))
        answer_error(x, NULL);
    else
        await_version(x, is_cached(x) && !(exact && is_single(x)), resume);
}

static void list(struct exchange *x, bool is_there)
{
    struct list_request r = request_of(x);
    struct list_answer answer;
    struct arena a; /* the array is not needed for as long as the answer is being sent */
    if (!is_there) {
        answer_too_large(x, TOO_LARGE_RETRY_S);
        return;
    }
    arena_init(&a);
    if (lists_read(&a, &r, &answer, &x->err)) {
        struct status s = status_of_err(&x->arena, &x->err, NULL);
        s.continue_token = answer.expired_continue;
        answer_status(x, &s);
    } else {
        answer.meta.resource_version = arena_str(&x->arena, answer.meta.resource_version);
        answer.meta.continue_token = arena_str(&x->arena, answer.meta.continue_token);
        answer_list(x, &answer);
    }
    arena_fini(&a);
}

void serve_list(struct exchange *x)
{
    if (dispatch_negotiate(x, ACCEPT_LIST) && read_list_options(x))
        await_list(x, list);
}

/* DELETE of all that a list would show. */
static void delete_collection(struct exchange *x, bool is_there)
{
    if (!is_there) {
        answer_too_large(x, TOO_LARGE_RETRY_S);
        return;
    }
    dispatch_prepare(x);
    collection_delete(x, x->list_options);
}

void serve_delete_collection(struct exchange *x)
{
    if (dispatch_negotiate(x, ACCEPT_LIST) && read_list_options(x) && dispatch_read_delete(x))
        await_list(x, delete_collection);
}

/* ---- Watches ---- */

static int64_t watch_seconds(struct exchange *x)
{
    const struct list_options *o = x->list_options;
    int64_t min = x->server->o.min_watch_seconds;
    if (o->has_timeout && o->timeout_seconds > 0)
        return o->timeout_seconds < INT32_MAX ? o->timeout_seconds : INT32_MAX;
    return min + (int64_t)rand_below(&x->server->rand, (uint64_t)min);
}

static void watch_ended(void *context)
{
    (void)context; /* the stream's `closed` follows */
}

/* The old way to watch one object: /watch/.../NAME. */
static void select_name(struct exchange *x)
{
    struct list_options *o = x->list_options;
    if (x->route.name.n == 0 || !x->route.watch_path)
        return;
    struct field_term *terms = ARENA_NEW_N(&x->arena, struct field_term, o->fields.n + 1);
    memcpy(terms, o->fields.at, o->fields.n * sizeof(*terms));
    terms[o->fields.n] = (struct field_term){ STR("metadata.name"), x->route.name, false };
    o->fields = (struct field_selector){ terms, o->fields.n + 1 };
}

static bool check_include(struct exchange *x)
{
    enum include_object include;
    if (x->form.as != AS_TABLE || !table_read_include(&x->target, &include, &x->err))
        return true;
    answer_error(x, NULL);
    return false;
}

/* A version that does not come is an event of the watch: it has begun by then, as far as the client can tell. */
static void watch(struct exchange *x, bool is_there)
{
    struct watch_options w = { .stream = x->stream, .arena = &x->arena, .encoder = exchange_encoder(x),
                               .namespace = x->route.namespace, .list = x->list_options, .version = x->version,
                               .seconds = watch_seconds(x), .ended = watch_ended, .context = x };
    struct status refusal;
    if (!is_there) {
        int32_t retry_s = is_cached(x) ? TOO_LARGE_RETRY_S
                                       : 1 + (int32_t)rand_below(&x->server->rand, EVENTS_WATCH_RETRY_S_MAX);
        refusal = too_large_version(x, retry_s);
        w.refusal = &refusal;
    }
    answer_watch(x);
    server_metrics_watch_begun(x->server->metrics, &x->route);
    if (x->form.as == AS_TABLE && table_read_include(&x->target, &w.encoder.table.include, &x->err))
        w.encoder.table.include = INCLUDE_METADATA;
    x->watcher = watch_begin(x->server->hub, &w);
}

/* Only who wants to see first what is there waits for it to be new enough: others wait for changes anyway. */
void serve_watch(struct exchange *x)
{
    if (!dispatch_negotiate(x, ACCEPT_WATCH) || !check_include(x) || !read_list_options(x))
        return;
    select_name(x);
    if (lists_read_version(x->list_options->resource_version, false, &x->version, &x->err)) {
        answer_error(x, NULL);
        return;
    }
    bool initial = x->list_options->send_initial_events == MAYBE_TRUE;
    if (!initial)
        watch(x, true);
    else if (is_cached(x))
        exchange_await(x, x->version, watch);
    else
        watch(x, x->version <= store_revision(x->server->o.store));
}
