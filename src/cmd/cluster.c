/* cmd/cluster.c - see cluster.h. */
#include "cmd/cluster.h"

#include <signal.h>
#include <stdlib.h>

#include "client/cluster_read.h"
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

enum err_code cluster_open(struct cluster *c, const struct cluster_options *o, enum media media, struct err *e)
{
    *c = (struct cluster){ 0 };
    arena_init(&c->arena);
    c->loop = loop_new(NULL);
    c->old_sigpipe = signal(SIGPIPE, SIG_IGN);
    struct rest_options how = { .loop = c->loop, .user_agent = "berth", .media = media,
                                .accept = "application/vnd.kubernetes.protobuf, application/json", .gzip = true };
    if (!cluster_config(&c->arena, o, &c->config, e) && !rest_new(&c->config, &how, &c->rest, e)) {
        c->api = rest_api(c->rest);
        return ERR_OK;
    }
    cluster_close(c);
    return e->code;
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

enum err_code cmd_read_cluster(struct sim_input *in, const struct cluster_options *o, struct err *e)
{
    struct cluster c;
    struct live_read r = { .in = in };
    if (cluster_open(&c, o, MEDIA_PROTOBUF, e))
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

/* ---- Options ---- */

static int take_kubeconfig(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->kubeconfig = value;
    o->live = true;
    return 0;
}

static int take_context(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->context = value;
    o->live = true;
    return 0;
}

static int take_cluster(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->cluster = value;
    o->live = true;
    return 0;
}

static int take_user(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->user = value;
    o->live = true;
    return 0;
}

static int take_server(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->server = value;
    o->live = true;
    return 0;
}

static int take_live(void *context, const char *value)
{
    (void)value;
    ((struct cluster_options *)context)->live = true;
    return 0;
}

const struct cmd_option cluster_option_rows[] = {
    { "--cluster", CMD_VALUE, take_cluster, NULL },
    { "--context", CMD_VALUE, take_context, NULL },
    { "--kubeconfig", CMD_VALUE, take_kubeconfig, NULL },
    { "--live", CMD_FLAG, take_live, NULL },
    { "--server", CMD_VALUE, take_server, NULL },
    { "--user", CMD_VALUE, take_user, NULL },
    { 0 },
};
