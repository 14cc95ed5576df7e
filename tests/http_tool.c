/* tests/http_tool.c - the http folder as a program, for foreign peers: curl, h2load, h2spec, nghttpd, Python.
 *
 *     http_tool serve ADDRESS [--cert FILE --key FILE [--client-ca FILE]]
 *     http_tool get URL [--ca FILE] [--insecure] [--server-name NAME] [--cert FILE --key FILE] [--http1] [--h2c]
 *     [--gzip] [--proxy URL] [--method M] [--data TEXT] [--timeout-ms N] [-n COUNT]
 *
 * get prints the answer (of one request) and ends with 1 when one failed. serve prints "listening PORT" and serves:
 *   /            "hello\n"            /bytes/N    N bytes, streamed
 *   /echo        the request's body   /head       the request as text
 *   /watch/N     a line each 10 ms, N lines (0 = for ever)
 *   /trailers    a body and trailers  /sleep/MS   answers later
 *   /quit        ends the program, gracefully */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "http/server.h"
#include "tests/http_tool.h"

static struct loop *loop;
static struct server *server;

static void stopped(void *context)
{
    (void)context;
    loop_stop(loop);
}

static void quit(void)
{
    static bool asked;
    if (!asked)
        server_stop(server, 5000, stopped, NULL);
    asked = true;
}

/* ---- One answer ---- */

struct answer {
    struct stream *s;
    struct loop_timer timer;
    uint64_t left;   /* bytes or lines */
    bool for_ever;
    struct strbuf text;
};

static void answer_free(struct stream *s, const struct stream_result *result)
{
    (void)result;
    struct answer *a = stream_user(s);
    loop_timer_stop(loop, &a->timer);
    strbuf_fini(&a->text);
    free(a);
}

static struct answer *answer_new(struct stream *s, const struct stream_events *events)
{
    struct answer *a = mem_zalloc(sizeof(*a));
    a->s = s;
    strbuf_init(&a->text, STRBUF_NO_MAX);
    stream_attach(s, events, a);
    return a;
}

static void send_plain_head(struct stream *s)
{
    struct head head = { .status = 200 };
    headers_add(&head.headers, stream_arena(s), STR("content-type"), STR("text/plain"));
    stream_send_head(s, &head);
}

static void more_bytes(struct stream *s)
{
    static char block[16384];
    struct answer *a = stream_user(s);
    if (!block[0])
        memset(block, 'x', sizeof(block));
    while (a->left) {
        size_t n = a->left < sizeof(block) ? a->left : sizeof(block);
        if (!stream_write(s, (struct str){ block, n }))
            return;
        a->left -= n;
    }
    stream_end(s, NULL);
}

static const struct stream_events bytes_events = { .writable = more_bytes, .closed = answer_free };

static void echo_body(struct stream *s, struct str bytes)
{
    struct answer *a = stream_user(s);
    strbuf_add_str(&a->text, bytes);
    stream_consume(s, bytes.n);
}

static void echo_end(struct stream *s, const struct headers *trailers)
{
    (void)trailers;
    struct answer *a = stream_user(s);
    stream_respond(s, 200, "application/octet-stream", strbuf_str(&a->text));
}

static const struct stream_events echo_events = { .body = echo_body, .end = echo_end, .closed = answer_free };

static void hello_end(struct stream *s, const struct headers *trailers)
{
    (void)trailers;
    stream_respond(s, 200, "text/plain", STR("hello\n"));
}

static const struct stream_events hello_events = { .end = hello_end };

static void next_line(struct loop_timer *t)
{
    struct answer *a = HEAP_ITEM(&t->node, struct answer, timer.node);
    char line[32];
    snprintf(line, sizeof(line), "line %llu\n", (unsigned long long)a->left);
    loop_timer_set(loop, t, loop_now_ms(loop) + 10);
    if (!stream_write(a->s, str_of(line)))
        return; /* the next time */
    if (!a->for_ever && --a->left == 0) {
        loop_timer_stop(loop, t);
        stream_end(a->s, NULL);
    }
}

static void answer_later(struct loop_timer *t)
{
    struct answer *a = HEAP_ITEM(&t->node, struct answer, timer.node);
    stream_respond(a->s, 200, "text/plain", STR("slept\n"));
}

static const struct stream_events timer_events = { .closed = answer_free };

static void show_head(struct stream *s, const struct head *r)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "%.*s %.*s %.*s %.*s version=%d\n", STR_ARG(r->method), STR_ARG(r->scheme),
                  STR_ARG(r->authority),
                  STR_ARG(r->target), r->version);
    for (uint32_t i = 0; i < r->headers.n; i++)
        strbuf_printf(&text, "%.*s: %.*s\n", STR_ARG(r->headers.at[i].name), STR_ARG(r->headers.at[i].value));
    const struct tls_peer *peer = stream_tls_peer(s);
    if (peer)
        strbuf_printf(&text, "peer %.*s verified=%d\n", STR_ARG(peer->common_name), peer->verified);
    stream_respond(s, 200, "text/plain", strbuf_str(&text));
    strbuf_fini(&text);
}

static void send_trailers(struct stream *s)
{
    struct headers trailers = { 0 };
    send_plain_head(s);
    stream_write(s, STR("body\n"));
    headers_add(&trailers, stream_arena(s), STR("x-status"), STR("fine"));
    stream_end(s, &trailers);
}

static void handle(void *context, struct stream *s, const struct head *r)
{
    (void)context;
    struct str path = str_first(r->target, str_index(r->target, '?'));
    if (str_is(path, "/")) {
        stream_attach(s, &hello_events, NULL);
    } else if (str_starts(path, STR("/bytes/"))) {
        answer_new(s, &bytes_events)->left = strtoull(path.p + 7, NULL, 10);
        send_plain_head(s);
        more_bytes(s);
    } else if (str_is(path, "/echo")) {
        answer_new(s, &echo_events);
    } else if (str_is(path, "/head")) {
        show_head(s, r);
    } else if (str_is(path, "/trailers")) {
        send_trailers(s);
    } else if (str_starts(path, STR("/watch/"))) {
        struct answer *a = answer_new(s, &timer_events);
        a->left = strtoull(path.p + 7, NULL, 10);
        a->for_ever = a->left == 0;
        a->timer.fire = next_line;
        send_plain_head(s);
        loop_timer_set(loop, &a->timer, loop_now_ms(loop));
    } else if (str_starts(path, STR("/sleep/"))) {
        struct answer *a = answer_new(s, &timer_events);
        a->timer.fire = answer_later;
        loop_timer_set(loop, &a->timer, loop_now_ms(loop) + strtoll(path.p + 7, NULL, 10));
    } else if (str_is(path, "/quit")) {
        stream_respond(s, 200, "text/plain", STR("bye\n"));
        quit();
    } else {
        stream_respond(s, 404, "text/plain", STR("not found\n"));
    }
}

/* ---- The program ---- */

const char *tool_option(int argc, char **argv, const char *name)
{
    for (int i = 3; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return NULL;
}

bool tool_flag(int argc, char **argv, const char *name)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

void tool_die(const char *message)
{
    fprintf(stderr, "http_tool: %s\n", message);
    exit(1);
}

static struct tls_context *tls_of(int argc, char **argv, struct err *e)
{
    struct tls_cert_source cert = { .cert_file = tool_option(argc, argv, "--cert"),
                                    .key_file = tool_option(argc, argv, "--key") };
    struct tls_context *tls = NULL;
    if (!cert.cert_file)
        return NULL;
    struct tls_options o = { .is_server = true, .certs = &cert, .n_certs = 1,
                             .ca_file = tool_option(argc, argv, "--client-ca") };
    o.client_certs = o.ca_file ? TLS_CLIENT_CERTS_REQUESTED : TLS_CLIENT_CERTS_IGNORED;
    if (tls_context_new(&o, &tls, e))
        tool_die(e->message);
    return tls;
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_close((uv_handle_t *)handle, NULL);
    quit();
}

/* As many descriptors as the system allows: for tests with many connections. */
static void raise_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int serve(int argc, char **argv)
{
    struct arena arena;
    struct err e;
    int port;
    uv_signal_t signal_handle;
    arena_init(&arena);
    err_init(&e, &arena);
    loop = loop_new(NULL);
    server = server_new(&(struct server_options){ .loop = loop, .handler = handle });
    struct tls_context *tls = tls_of(argc, argv, &e);
    if (server_listen(server, argv[2], tls, &port, &e))
        tool_die(e.message);
    printf("listening %d\n", port);
    fflush(stdout);
    uv_signal_init(loop_uv(loop), &signal_handle);
    uv_signal_start(&signal_handle, on_signal, SIGTERM);
    loop_run(loop);
    if (!uv_is_closing((uv_handle_t *)&signal_handle))
        uv_close((uv_handle_t *)&signal_handle, NULL);
    server_free(server);
    tls_context_unref(tls);
    loop_free(loop);
    arena_fini(&arena);
    return 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    raise_limit();
    if (argc >= 3 && strcmp(argv[1], "serve") == 0)
        return serve(argc, argv);
    if (argc >= 3 && strcmp(argv[1], "get") == 0)
        return tool_get(argc, argv);
    fprintf(stderr, "usage: http_tool serve ADDRESS ... | get URL ...\n");
    return 2;
}
