/* daemon/connections.c - see connections.h. */
#include "daemon/connections.h"

#include <stdlib.h>

#include "base/mem.h"
#include "daemon/client_metrics.h"
#include "http/url.h"

enum { MAIN, EVENTS, LEASE, N_CLIENTS };

struct connections {
    struct arena arena;
    struct client_config config;
    struct rest *rests[N_CLIENTS];
    struct client_metrics *metrics; /* NULL: nothing is counted */
    uint32_t n_running;
    void (*stopped)(void *context);
    void *context;
};

enum err_code client_config_find(struct arena *a, const char *kubeconfig, const char *master,
                                 struct client_config *ret_config, struct err *e)
{
    bool has_file = kubeconfig && kubeconfig[0], has_master = master && master[0];
    if (!has_file && !has_master)
        return client_config_in_cluster(a, getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT"),
                                        IN_CLUSTER_FOLDER, ret_config, e);
    if (!has_file) {
        *ret_config = (struct client_config){ .server = arena_str(a, str_of(master)), .ns = STR("default") };
        return ERR_OK;
    }
    struct kubeconfig file;
    struct kubeconfig_overrides overrides = { .server = has_master ? master : NULL };
    if (kubeconfig_load(a, &(struct kubeconfig_sources){ .path = kubeconfig }, &file, e))
        return e->code;
    return kubeconfig_resolve(a, &file, &overrides, ret_config, e);
}

static enum err_code find_server(struct connections *c, const struct connections_options *o, struct err *e)
{
    enum err_code rc = client_config_find(&c->arena, o->kubeconfig, o->master, &c->config, e);
    if (rc == ERR_NOT_FOUND)
        return err_set(e, ERR_BAD_REQUEST, "invalid configuration: no configuration has been provided, try setting "
                                           "KUBERNETES_MASTER environment variable");
    return rc;
}

/* "host:port" of the server, for labels. */
static struct str host_of(struct arena *a, struct str server)
{
    struct err e;
    struct url url;
    err_init(&e, a);
    return url_parse(server, a, &url, &e) ? server : url.authority;
}

static enum err_code make_client(struct connections *c, const struct connections_options *o, int which,
                                 const char *suffix, struct err *e)
{
    bool is_json = str_eq(o->content_type, STR("application/json"));
    struct rest_options options = {
        .loop = o->loop,
        .qps = o->qps,
        .burst = o->burst,
        .user_agent = arena_printf(&c->arena, "%s/%s", o->user_agent, suffix),
        .media = is_json ? MEDIA_JSON : MEDIA_PROTOBUF,
    };
    if (c->metrics)
        options.observer = client_metrics_observer(c->metrics);
    return rest_new(&c->config, &options, &c->rests[which], e);
}

static void one_stopped(void *context)
{
    struct connections *c = context;
    if (--c->n_running == 0 && c->stopped)
        c->stopped(c->context);
}

static void stop_all(struct connections *c)
{
    for (int i = 0; i < N_CLIENTS; i++)
        c->n_running += c->rests[i] != NULL;
    for (int i = 0; i < N_CLIENTS; i++)
        if (c->rests[i])
            rest_stop(c->rests[i], one_stopped, c);
}

static void free_all(struct connections *c)
{
    for (int i = 0; i < N_CLIENTS; i++)
        if (c->rests[i])
            rest_free(c->rests[i]);
    if (c->metrics)
        client_metrics_free(c->metrics);
    arena_fini(&c->arena);
    free(c);
}

enum err_code connections_new(const struct connections_options *o, struct connections **ret_connections, struct err *e)
{
    struct connections *c = mem_zalloc(sizeof(*c));
    arena_init(&c->arena);
    enum err_code rc = find_server(c, o, e);
    if (!rc && o->metrics)
        c->metrics = client_metrics_new(o->metrics, host_of(&c->arena, c->config.server));
    if (!rc)
        rc = make_client(c, o, MAIN, o->suffix, e);
    if (!rc)
        rc = make_client(c, o, EVENTS, o->suffix, e);
    if (!rc)
        rc = make_client(c, o, LEASE, "leader-election", e);
    if (rc) {
        stop_all(c);
        while (c->n_running)
            loop_run_once(o->loop, true);
        free_all(c);
        return rc;
    }
    *ret_connections = c;
    return ERR_OK;
}

void connections_stop(struct connections *c, void (*stopped)(void *context), void *context)
{
    c->stopped = stopped;
    c->context = context;
    stop_all(c);
}

void connections_free(struct connections *c)
{
    if (c)
        free_all(c);
}

const struct client_config *connections_config(const struct connections *c)
{
    return &c->config;
}

struct rest_observer connections_observer(const struct connections *c)
{
    return c->metrics ? client_metrics_observer(c->metrics) : (struct rest_observer){ 0 };
}

const struct api *connections_main(const struct connections *c)
{
    return rest_api(c->rests[MAIN]);
}

const struct api *connections_events(const struct connections *c)
{
    return rest_api(c->rests[EVENTS]);
}

const struct api *connections_lease(const struct connections *c)
{
    return rest_api(c->rests[LEASE]);
}
