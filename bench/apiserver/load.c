/* bench/apiserver/load.c - see load.h.
 *
 *     bench-load URL TOKEN TASK [n=N] [first=N] [objects=N] [connections=N] [depth=N] [form=json|proto] [gzip=yes]
 *         [server=ID[,ID]]
 *
 * TASK is create, nodes, get, status, patch, list, delete, schedule (milliseconds are then from the request to the node) or fan
 * (objects is then the revision from which is watched, as of schedule). Prints one line of
 * NAME=VALUE pairs; CPU seconds are the client's own. */
#include "bench/apiserver/load.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"

#define PROTOBUF "application/vnd.kubernetes.protobuf"
#define JSON "application/json"
enum { PATIENCE_MS = 120 * 1000 };

double load_now(void)
{
    return (double)clock_mono_ns(&clock_real) / CLOCK_NS_PER_SECOND;
}

/* The first number of /proc/ID/task/TID/schedstat is nanoseconds on a CPU; the ticks of /proc/ID/stat are too coarse for a list. */
static double process_cpu(long id)
{
    char path[64];
    glob_t files;
    double sum = 0;
    snprintf(path, sizeof(path), "/proc/%ld/task/*/schedstat", id);
    if (glob(path, 0, NULL, &files) != 0)
        load_die("the server's process is not there");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *f = fopen(files.gl_pathv[i], "r"); /* a thread may have ended */
        unsigned long long ns = 0;
        if (f && fscanf(f, "%llu", &ns) == 1)
            sum += (double)ns / CLOCK_NS_PER_SECOND;
        if (f)
            fclose(f);
    }
    globfree(&files);
    return sum;
}

double load_server_cpu(const struct load *l)
{
    double sum = 0;
    for (const char *at = l->o.server; at && *at;) {
        char *end;
        sum += process_cpu(strtol(at, &end, 10));
        at = *end ? end + 1 : end;
    }
    return sum;
}

void load_die(const char *text)
{
    fprintf(stderr, "load: %s\n", text);
    exit(1);
}

static void stopped(void *context)
{
    struct load *l = context;
    if (++l->n_stopped == l->n_clients)
        loop_stop(l->loop);
}

/* With the window that Go's HTTP/2 client has, and time for a busy server to greet 1,000 connections at once. */
static const struct http_limits *limits(void)
{
    static struct http_limits wide;
    wide = http_client_limits;
    wide.in_window_bytes = 4 << 20;
    wide.handshake_ms = PATIENCE_MS;
    return &wide;
}

void load_open(struct load *l, uint32_t n_connections)
{
    struct err e;
    err_init(&e, &l->arena);
    if (n_connections > LOAD_CONNECTIONS_MAX)
        load_die("too many connections");
    struct tls_options tls = { .insecure_skip_verify = true };
    if (tls_context_new(&tls, &l->tls, &e))
        load_die(e.message);
    for (; l->n_clients < n_connections; l->n_clients++) {
        struct client_options o = { .loop = l->loop, .tls = l->tls, .limits = limits(), .connections = 1,
                                    .connect_ms = PATIENCE_MS };
        if (client_new(&o, &l->clients[l->n_clients], &e))
            load_die(e.message);
    }
}

/* Watches are cut short by their end, which is none of the run. */
void load_close(struct load *l)
{
    if (strcmp(l->o.task, "fan") == 0 || strcmp(l->o.task, "schedule") == 0)
        return;
    for (uint32_t i = 0; i < l->n_clients; i++)
        client_stop(l->clients[i], stopped, l);
    loop_run(l->loop);
    for (uint32_t i = 0; i < l->n_clients; i++)
        client_free(l->clients[i]);
}

static void add_headers(struct load *l)
{
    const char *bearer = arena_printf(&l->arena, "Bearer %s", l->o.token);
    const char *type = l->o.proto ? PROTOBUF : JSON;
    bool patch = strcmp(l->o.task, "patch") == 0;
    headers_add(&l->headers, &l->arena, STR("authorization"), str_of(bearer));
    headers_add(&l->headers, &l->arena, STR("accept"), str_of(type));
    headers_add(&l->headers, &l->arena, STR("user-agent"), STR("bench/v1"));
    if (l->o.gzip)
        headers_add(&l->headers, &l->arena, STR("accept-encoding"), STR("gzip"));
    for (uint32_t i = 0; i < l->headers.n; i++)
        headers_add(&l->write_headers, &l->arena, l->headers.at[i].name, l->headers.at[i].value);
    headers_add(&l->write_headers, &l->arena, STR("content-type"),
                patch ? STR("application/strategic-merge-patch+json") : str_of(type));
}

static uint32_t *number_of(struct load_options *o, const char *name)
{
    const struct {
        const char *name;
        uint32_t *at;
    } numbers[] = { { "n", &o->n }, { "first", &o->first }, { "objects", &o->objects }, { "connections", &o->connections },
                    { "depth", &o->depth } };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strcmp(numbers[i].name, name) == 0)
            return numbers[i].at;
    return NULL;
}

static void read_option(struct load_options *o, char *text)
{
    char *value = strchr(text, '=');
    if (!value)
        load_die("an option without a value");
    *value++ = 0;
    uint32_t *number = number_of(o, text);
    if (number)
        *number = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(text, "form") == 0)
        o->proto = strcmp(value, "proto") == 0;
    else if (strcmp(text, "server") == 0)
        o->server = value;
    else if (strcmp(text, "gzip") == 0)
        o->gzip = strcmp(value, "yes") == 0;
    else
        load_die("an unknown option");
}

static double own_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void allow_many_files(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    static struct load l;
    if (argc < 4)
        load_die("usage: bench-load URL TOKEN TASK [NAME=VALUE...]");
    signal(SIGPIPE, SIG_IGN);
    allow_many_files();
    arena_init(&l.arena);
    l.o = (struct load_options){ .url = argv[1], .token = argv[2], .task = argv[3], .n = 1000, .connections = 4, .depth = 8 };
    for (int i = 4; i < argc; i++)
        read_option(&l.o, argv[i]);
    add_headers(&l);
    l.loop = loop_new(NULL);
    if (strcmp(l.o.task, "fan") == 0)
        load_watches(&l);
    else if (strcmp(l.o.task, "schedule") == 0)
        load_schedule(&l);
    else
        load_requests(&l);
    const struct load_result *r = &l.result;
    printf("n=%llu seconds=%.4f p50_ms=%.3f p99_ms=%.3f bytes=%llu failed=%llu cpu=%.3f server_cpu=%.6f\n", (unsigned long long)r->n_done, r->seconds,
           r->p50_ms, r->p99_ms, (unsigned long long)r->n_bytes, (unsigned long long)r->n_failed, own_cpu(), r->server_cpu);
    return r->n_failed ? 1 : 0;
}
