/* cmd/etcd.c - what a link named etcd runs: a place holder for test suites that start an etcd beside an API server.
 *
 * berth's API server has a store of its own. A suite that starts etcd first, and waits for it, gets something that says
 * it is healthy and ends when it is told to; nothing is stored. An API server that is told its address keeps its own
 * store in the folder that etcd was given (daemon/etcd_beside.h). Flags of etcd are taken, and all but two are passed
 * over. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cmd/cmd.h"
#include "daemon/etcd_beside.h"
#include "http/loop.h"
#include "http/server.h"

static const char help[] =
    "A place holder for etcd, beside `berth apiserver`, which has a store of its own and needs none.\n"
    "It answers GET /health and /version at the client address, stores nothing, and ends on SIGTERM.\n\n"
    "Usage:\n"
    "  etcd [flags of etcd]\n\n"
    "Flags:\n"
    "  --listen-client-urls URL   where it answers; the first counts (default http://127.0.0.1:2379)\n"
    "  --data-dir FOLDER          where an API server beside it keeps its store (default default.etcd)\n"
    "  all others of etcd are taken and have no effect\n";

struct place_holder {
    struct loop *loop;
    struct server *server;
    uv_signal_t signals[2];
    struct str folder; /* from the root on: an API server may have been started elsewhere */
    uint32_t n_open;
    bool stopping;
};

static void answer(void *context, struct stream *s, const struct head *request)
{
    const struct place_holder *p = context;
    if (str_is(request->target, "/health") || str_starts(request->target, STR("/health?")))
        stream_respond(s, 200, "application/json", STR("{\"health\":\"true\",\"reason\":\"\"}"));
    else if (str_is(request->target, "/version"))
        stream_respond(s, 200, "application/json", STR("{\"etcdserver\":\"3.6.0\",\"etcdcluster\":\"3.6.0\"}"));
    else if (str_is(request->target, ETCD_BESIDE_PATH))
        stream_respond(s, 200, "text/plain; charset=utf-8", p->folder);
    else
        stream_respond(s, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
}

static void stopped(void *context)
{
    struct place_holder *p = context;
    loop_stop(p->loop);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct place_holder *p = handle->data;
    (void)signum;
    if (!p->stopping)
        server_stop(p->server, 0, stopped, p);
    p->stopping = true;
}

static void closed(uv_handle_t *handle)
{
    struct place_holder *p = handle->data;
    p->n_open--;
}

static void watch_signals(struct place_holder *p)
{
    static const int numbers[] = { SIGTERM, SIGINT };
    for (int i = 0; i < 2; i++) {
        uv_signal_init(loop_uv(p->loop), &p->signals[i]);
        p->signals[i].data = p;
        uv_signal_start(&p->signals[i], on_signal, numbers[i]);
        p->n_open++;
    }
}

/* HOST:PORT of the first URL; NULL: it is none without TLS. */
static const char *address_of(struct arena *a, const char *urls)
{
    struct str text = str_first(str_of(urls), str_index(str_of(urls), ','));
    if (!str_starts(text, STR("http://")))
        return NULL;
    text = str_from(text, 7);
    return arena_cstr(a, str_first(text, str_index(text, '/')));
}

static struct str whole_path(struct arena *a, const char *folder)
{
    char here[PATH_MAX];
    bool is_whole = folder[0] == '/' || !getcwd(here, sizeof(here));
    return str_of(is_whole ? folder : arena_printf(a, "%s/%s", here, folder));
}

static int serve(const char *address, const char *folder, struct arena *a)
{
    struct place_holder p = { .loop = loop_new(NULL), .folder = whole_path(a, folder) };
    struct err e;
    err_init(&e, a);
    signal(SIGPIPE, SIG_IGN);
    p.server = server_new(&(struct server_options){ .loop = p.loop, .handler = answer, .context = &p });
    watch_signals(&p);
    if (server_listen(p.server, address, NULL, NULL, &e)) {
        cmd_say(NULL, "etcd: %s", e.message);
        return 1; /* with the process all else ends */
    }
    loop_run(p.loop);
    server_free(p.server);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&p.signals[i], closed);
    while (p.n_open)
        loop_run_once(p.loop, true);
    loop_free(p.loop);
    return 0;
}

/* The value of a flag, "--flag value" or "--flag=value"; of several the last. */
static const char *flag_value(int argc, char **argv, const char *flag, const char *otherwise)
{
    size_t n = strlen(flag);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], flag) == 0 && i + 1 < argc)
            otherwise = argv[i + 1];
        else if (strncmp(argv[i], flag, n) == 0 && argv[i][n] == '=')
            otherwise = argv[i] + n + 1;
    return otherwise;
}

int etcd_run(int argc, char **argv)
{
    static const char flag[] = "--listen-client-urls";
    struct arena a;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return cmd_print(NULL, CMD_TEXT, str_of(help));
    arena_init(&a);
    const char *urls = flag_value(argc, argv, flag, "http://127.0.0.1:2379"), *address = address_of(&a, urls);
    int code = address ? serve(address, flag_value(argc, argv, "--data-dir", "default.etcd"), &a)
                       : cmd_fail(NULL, EXIT_USAGE, "etcd: %s %s: not an http:// address", flag, urls);
    arena_fini(&a);
    return code;
}
