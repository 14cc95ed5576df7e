/* daemon/up.c - see up.h. */
#include "daemon/up.h"

#include "daemon/api_process.h"
#include "daemon/embedded.h"

struct up {
    const struct up_options *o;
    struct embedded *scheduler;
};

static void on_synced(void *context)
{
    struct up *u = context;
    u->o->ready(u->o->context);
}

static enum err_code join(void *context, const struct api_host *host, struct err *e)
{
    struct up *u = context;
    struct embedded_options o = {
        .loop = host->loop,
        .server = host->server,
        .objects = host->objects,
        .metrics = host->metrics,
        .flags = u->o->scheduler_flags,
        .gates = u->o->gates,
        .config = u->o->config,
        .build = u->o->build,
        .seed = host->seed,
        .dashboard_port = u->o->dashboard_port,
        .synced = on_synced,
        .context = u,
    };
    return embedded_new(&o, &u->scheduler, e);
}

static enum err_code begin(void *context, struct err *e)
{
    struct up *u = context;
    return embedded_start(u->scheduler, e);
}

static void poll(void *context)
{
    struct up *u = context;
    embedded_poll(u->scheduler);
}

static void pause_work(void *context)
{
    struct up *u = context;
    embedded_pause(u->scheduler);
}

static void stop(void *context, void (*stopped)(void *process), void *process)
{
    struct up *u = context;
    embedded_stop(u->scheduler, stopped, process);
}

static void free_parts(void *context)
{
    struct up *u = context;
    embedded_free(u->scheduler);
}

int up_run(const struct up_options *o)
{
    struct up u = { .o = o };
    struct api_guest guest = { .context = &u, .join = join, .begin = begin, .poll = poll, .pause = pause_work,
                               .stop = stop, .free = free_parts };
    return api_process_run(&(struct api_process_options){ .flags = o->server_flags,
                                                          .gates = o->gates,
                                                          .build = o->build,
                                                          .guest = &guest,
                                                          .root_ca_pem = o->ca_pem });
}
