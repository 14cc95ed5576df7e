/* tests/http_tool_get.c - the client half of http_tool: see there. */
#include "tests/http_tool.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/client.h"

static struct loop *loop;
static struct client *client;
static int n_left, n_failed;
static bool shows;

static void stopped(void *context)
{
    (void)context;
    loop_stop(loop);
}

static void on_head(struct stream *s, const struct head *r)
{
    (void)s;
    if (!shows)
        return;
    printf("status %d version %d\n", r->status, r->version);
    for (uint32_t i = 0; i < r->headers.n; i++)
        printf("%.*s: %.*s\n", STR_ARG(r->headers.at[i].name), STR_ARG(r->headers.at[i].value));
    printf("\n");
}

static void on_body(struct stream *s, struct str bytes)
{
    if (shows)
        fwrite(bytes.p, 1, bytes.n, stdout);
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct headers *trailers)
{
    (void)s;
    for (uint32_t i = 0; shows && i < trailers->n; i++)
        printf("trailer %.*s: %.*s\n", STR_ARG(trailers->at[i].name), STR_ARG(trailers->at[i].value));
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    (void)s;
    if (result->status != STREAM_OK) {
        n_failed++;
        fprintf(stderr, "failed: %s (maybe processed: %d)\n", result->message, result->maybe_processed);
    }
    if (--n_left == 0)
        client_stop(client, stopped, NULL);
}

static const struct stream_events events = { .head = on_head, .body = on_body, .end = on_end, .closed = on_closed };

static const char *get_env(const char *name)
{
    return getenv(name);
}

static struct tls_context *tls_of(int argc, char **argv, struct err *e)
{
    struct tls_cert_source cert = { .cert_file = tool_option(argc, argv, "--cert"),
                                    .key_file = tool_option(argc, argv, "--key") };
    struct tls_options o = {
        .ca_file = tool_option(argc, argv, "--ca"), .server_name = tool_option(argc, argv, "--server-name"),
        .insecure_skip_verify = tool_flag(argc, argv, "--insecure"), .no_http2 = tool_flag(argc, argv, "--http1"),
        .certs = &cert, .n_certs = cert.cert_file ? 1 : 0,
    };
    struct tls_context *tls;
    if (tls_context_new(&o, &tls, e))
        tool_die(e->message);
    return tls;
}

static void send_all(int argc, char **argv, struct arena *a, struct err *e)
{
    const char *count = tool_option(argc, argv, "-n"), *data = tool_option(argc, argv, "--data");
    const char *method = tool_option(argc, argv, "--method"), *timeout = tool_option(argc, argv, "--timeout-ms");
    n_left = count ? atoi(count) : 1;
    shows = n_left == 1;
    struct headers headers = { 0 };
    headers_add(&headers, a, STR("user-agent"), STR("http_tool"));
    struct client_request r = { .method = method ? method : data ? "POST" : "GET", .url = str_of(argv[2]),
                                .body = str_of(data),
                                .headers = &headers, .gzip = tool_flag(argc, argv, "--gzip"),
                                .total_ms = timeout ? atoi(timeout) : 30000 };
    for (int i = n_left; i > 0; i--) {
        struct stream *s;
        if (client_send(client, &r, &events, NULL, &s, e))
            tool_die(e->message);
    }
}

int tool_get(int argc, char **argv)
{
    struct arena arena;
    struct err e;
    struct proxy_rules rules;
    arena_init(&arena);
    err_init(&e, &arena);
    loop = loop_new(NULL);
    const char *proxy = tool_option(argc, argv, "--proxy");
    if (proxy ? proxy_rules_for_all(str_of(proxy), &arena, &rules, &e)
              : proxy_rules_from_environment(get_env, &arena, &rules, &e))
        tool_die(e.message);
    struct tls_context *tls = tls_of(argc, argv, &e);
    struct client_options o = { .loop = loop, .tls = tls, .proxies = &rules,
                                .http2_without_tls = tool_flag(argc, argv, "--h2c") };
    if (client_new(&o, &client, &e))
        tool_die(e.message);
    tls_context_unref(tls);
    send_all(argc, argv, &arena, &e);
    loop_run(loop);
    struct client_counts counts = client_counts(client);
    fprintf(stderr, "requests %llu dialed %llu failed %d\n", (unsigned long long)counts.n_requests,
            (unsigned long long)counts.n_dialed, n_failed);
    client_free(client);
    loop_free(loop);
    arena_fini(&arena);
    return n_failed > 0;
}
