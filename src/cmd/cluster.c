/* cmd/cluster.c - see cluster.h. */
#include "cmd/cluster.h"

#include <signal.h>
#include <stdlib.h>

#include "client/cluster_read.h"
#include "cmd/cluster_files.h"
#include "sim/forms.h"

/* ---- Which one ---- */

enum err_code cluster_config(struct arena *a, const struct cluster_options *o, struct client_config *ret_config,
                             struct err *e)
{
    struct kubeconfig_sources from = { o->kubeconfig, getenv("KUBECONFIG"), getenv("HOME") };
    struct kubeconfig_overrides instead = { .server = o->server, .context = o->context, .cluster = o->cluster,
                                            .user = o->user };
    struct kubeconfig config;
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    bool asked = o->context || o->cluster || o->user || o->server;
    if (kubeconfig_load(a, &from, &config, e))
        return e->code;
    if (config.n_files == 0 && !asked && host)
        return client_config_in_cluster(a, host, getenv("KUBERNETES_SERVICE_PORT"), IN_CLUSTER_FOLDER, ret_config, e);
    return kubeconfig_resolve(a, &config, &instead, ret_config, e);
}

/* ---- The connection ---- */

static enum err_code make_rest(struct cluster *c, enum media media, const char *accept, struct err *e)
{
    struct rest_options how = { .loop = c->loop, .user_agent = "berth", .media = media,
                                .accept = accept ? accept : "application/vnd.kubernetes.protobuf, application/json",
                                .gzip = true };
    if (rest_new(&c->config, &how, &c->rest, e))
        return e->code;
    c->api = rest_api(c->rest);
    return ERR_OK;
}

/* The server of an address, with the user of the configuration. */
static void aim_at(struct client_config *config, const struct cluster_peer *peer)
{
    config->server = str_of(peer->address);
    config->tls_server_name = (struct str){ 0 };
    config->insecure_skip_tls_verify = peer->insecure;
    if (peer->ca_file || peer->insecure) {
        config->ca_data = (struct str){ 0 };
        config->ca_file = str_of(peer->ca_file);
    }
}

enum err_code cluster_open(struct cluster *c, const struct cluster_options *o, const struct cluster_peer *peer,
                           enum media media, struct err *e)
{
    *c = (struct cluster){ 0 };
    arena_init(&c->arena);
    c->loop = loop_new(NULL);
    c->old_sigpipe = signal(SIGPIPE, SIG_IGN);
    enum err_code code = cluster_config(&c->arena, o, &c->config, e);
    if (!code && peer)
        aim_at(&c->config, peer);
    if (!code)
        code = make_rest(c, media, o->accept, e);
    if (code)
        cluster_close(c);
    return code;
}

static void set_true(void *context)
{
    *(bool *)context = true;
}

void cluster_wait(struct cluster *c, const bool *done)
{
    while (!*done)
        loop_run_once(c->loop, true);
}

void cluster_close(struct cluster *c)
{
    bool stopped = false;
    if (c->rest) {
        rest_stop(c->rest, set_true, &stopped);
        cluster_wait(c, &stopped);
        rest_free(c->rest);
    }
    loop_free(c->loop);
    signal(SIGPIPE, c->old_sigpipe);
    arena_fini(&c->arena);
}

/* ---- Reading it ---- */

struct live_read {
    struct sim_input *in;
    const char *origin;
    const struct cluster_wanted *wanted;
    const char *error; /* of the input's arena; NULL: none */
    bool done;
};

static enum err_code take(void *context, size_t index, const struct watch_object *object, struct err *e)
{
    struct live_read *r = context;
    return sim_input_object(r->in, r->wanted[index].resource->type, object->format, object->bytes, r->origin, e);
}

static void again(void *context, size_t index)
{
    struct live_read *r = context;
    for (size_t i = 0; i < r->in->objects.n; i++)
        if (r->in->objects.at[i].type == r->wanted[index].resource->type)
            sim_input_remove(r->in, &r->in->objects.at[i]);
}

static void warn(void *context, const char *text)
{
    sim_warn(((struct live_read *)context)->in, "%s", text);
}

/* There is no total: the end is told when it is reached. */
static void progress(void *context, size_t n_objects)
{
    sim_tell(&((struct live_read *)context)->in->progress, SIM_FETCHING, n_objects, SIZE_MAX);
}

static void done(void *context, const char *error)
{
    struct live_read *r = context;
    r->error = error ? arena_cstr(&r->in->arena, str_of(error)) : NULL;
    r->done = true;
    sim_tell(&r->in->progress, SIM_FETCHING, 0, 0);
}

static const struct resource *resource_of(const struct type *t)
{
    const struct resource *r = schema_resources;
    while (r->type != t)
        r++;
    return r;
}

/* In the order of sim_add_resources, so that reading a cluster and reading its dump are the same. */
static size_t list_wanted(struct arena *a, const struct cluster_wanted **ret_wanted)
{
    struct cluster_wanted *at = ARENA_NEW_N(a, struct cluster_wanted, sim_n_kinds);
    for (size_t i = 0; i < sim_n_kinds; i++)
        at[i] = (struct cluster_wanted){ resource_of(schema_type(str_of(sim_kinds[i].type))),
                                         sim_kinds[i].form == SIM_FORM_POD || sim_kinds[i].form == SIM_FORM_NODE };
    *ret_wanted = at;
    return sim_n_kinds;
}

static enum err_code read_cluster(struct sim_input *in, const struct cluster_options *o, struct err *e)
{
    struct cluster c;
    struct live_read r = { .in = in };
    if (cluster_open(&c, o, NULL, MEDIA_PROTOBUF, e))
        return e->code;
    size_t n = list_wanted(&c.arena, &r.wanted);
    r.origin = arena_printf(&in->arena, "%.*s", STR_ARG(c.config.server));
    struct cluster_read *reading = cluster_read_start(&(struct cluster_read_options){
        .api = c.api, .wanted = r.wanted, .n_wanted = n, .ns = arena_cstr(&c.arena, c.config.ns),
        .sink = { &r, take, again, warn, progress, done } });
    cluster_wait(&c, &r.done);
    cluster_read_free(reading);
    cluster_close(&c);
    return r.error ? err_set(e, ERR_IO, "%s", r.error) : ERR_OK;
}

enum err_code cmd_load_input(struct sim_input *in, const struct cluster_options *o, const char *const *paths,
                             int n_paths, struct err *e)
{
    if (o->live && read_cluster(in, o, e))
        return e->code;
    return n_paths ? cmd_load_cluster(in, paths, n_paths, e) : ERR_OK;
}
