/* Server and client against each other over loopback: both protocols, with and without TLS; and clients that
 * misbehave. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "http/client.h"
#include "http/gzip.h"
#include "http/server.h"
#include "tests/test.h"

/* ---- The world of a test ---- */

static struct loop *loop;
static struct server *server;
static struct client *client;
static struct arena arena;
static struct err error;
static int port;
static bool with_tls, server_gone, client_gone;
static struct http_limits server_limits, client_limits;
static int n_server_closed, n_server_failed; /* exchanges as the server sees them */
static struct stream *held;                  /* the last request to /hold */

struct served {
    struct strbuf body;
    uint64_t left;
    bool gzip;
};

static void served_body(struct stream *s, struct str bytes)
{
    struct served *v = stream_user(s);
    strbuf_add_str(&v->body, bytes);
    stream_consume(s, bytes.n);
}

static void served_end(struct stream *s, const struct headers *trailers)
{
    (void)trailers;
    struct served *v = stream_user(s);
    if (!v->gzip) {
        stream_respond(s, 200, "text/plain", strbuf_str(&v->body));
        return;
    }
    struct deflater *d = deflater_new();
    struct strbuf packed;
    struct head head = { .status = 200 };
    strbuf_init(&packed, STRBUF_NO_MAX);
    headers_add(&head.headers, stream_arena(s), STR("content-encoding"), STR("gzip"));
    deflater_input(d, strbuf_str(&v->body), false, true, &packed);
    stream_send_head(s, &head);
    stream_write(s, strbuf_str(&packed));
    stream_end(s, NULL);
    strbuf_fini(&packed);
    deflater_free(d);
}

static void served_more(struct stream *s)
{
    static char block[10000];
    struct served *v = stream_user(s);
    for (; v->left; v->left -= sizeof(block))
        if (!stream_write(s, (struct str){ block, sizeof(block) }))
            return;
    stream_end(s, NULL);
}

static void served_closed(struct stream *s, const struct stream_result *result)
{
    struct served *v = stream_user(s);
    n_server_closed++;
    n_server_failed += result->status != STREAM_OK;
    if (held == s)
        held = NULL;
    strbuf_fini(&v->body);
    free(v);
}

static const struct stream_events served_events = { .body = served_body, .end = served_end, .closed = served_closed };
static const struct stream_events streamed_events = { .writable = served_more, .closed = served_closed };

static void handle(void *context, struct stream *s, const struct head *r)
{
    (void)context;
    struct served *v = mem_zalloc(sizeof(*v));
    strbuf_init(&v->body, STRBUF_NO_MAX);
    bool echo = str_is(r->target, "/echo") || str_is(r->target, "/gzip");
    v->gzip = str_is(r->target, "/gzip") && accepts_gzip(&r->headers);
    stream_attach(s, echo ? &served_events : &streamed_events, v);
    if (echo)
        return;
    if (str_is(r->target, "/hold")) {
        held = s;
        return;
    }
    v->left = str_is(r->target, "/stream") ? 50000000 : 20000;
    stream_send_head(s, &(struct head){ .status = 200 });
    served_more(s);
}

static void set_true(void *flag)
{
    *(bool *)flag = true;
}

static struct str server_cert, server_key;

static void make_cert(void)
{
    const char *const names[] = { "localhost" }, *const ips[] = { "127.0.0.1", "::1" };
    struct tls_new_cert c = { .common_name = "test", .dns_names = names, .n_dns_names = 1, .addresses = ips,
                              .n_addresses = 2,
                              .not_before_s = time(NULL) - 60, .not_after_s = time(NULL) + 3600 };
    CHECK(!tls_make_cert(&c, &arena, &server_cert, &server_key, &error));
}

static struct tls_context *tls_of(bool is_server, bool h2)
{
    struct tls_cert_source source = { .cert_pem = server_cert, .key_pem = server_key };
    struct tls_options o = { .is_server = is_server, .certs = &source, .n_certs = is_server, .no_http2 = !h2 };
    struct tls_context *c;
    if (!is_server)
        o.ca_pem = server_cert;
    if (tls_context_new(&o, &c, &error))
        FAIL("%s", error.message);
    return c;
}

static void start_server(const char *address, bool tls, bool h2, uint32_t connections)
{
    server = server_new(&(struct server_options){ .loop = loop, .handler = handle, .limits = &server_limits,
                                                  .connections = connections });
    struct tls_context *c = tls ? tls_of(true, h2) : NULL;
    if (server_listen(server, address, c, &port, &error))
        FAIL("%s", error.message);
    tls_context_unref(c);
}

static void start(bool tls, bool h2)
{
    signal(SIGPIPE, SIG_IGN); /* as programs do: a peer may close while something is written to it */
    arena_init(&arena);
    err_init(&error, &arena);
    server_limits = http_server_limits;
    client_limits = http_client_limits;
    loop = loop_new(NULL);
    make_cert();
    with_tls = tls;
    start_server("127.0.0.1:0", tls, h2, 0);
    struct tls_context *c = tls_of(false, h2);
    struct client_options o = { .loop = loop, .tls = c, .limits = &client_limits, .http2_without_tls = h2 };
    CHECK(!client_new(&o, &client, &error));
    tls_context_unref(c);
}

static void stop_client(void)
{
    client_stop(client, set_true, &client_gone);
    while (!client_gone)
        loop_run_once(loop, true);
    client_free(client);
}

static void stop_server(int64_t grace_ms)
{
    server_gone = false;
    server_stop(server, grace_ms, set_true, &server_gone);
    while (!server_gone)
        loop_run_once(loop, true);
    server_free(server);
}

static void stop(void)
{
    stop_client();
    stop_server(1000);
    loop_free(loop);
    arena_fini(&arena);
}

/* ---- Requests ---- */

static int n_heads, n_ended, n_closed, n_failed, last_status;
static uint64_t n_body_bytes;
static char last_message[200];
static enum stream_status last_end;
static bool last_maybe, reading = true;

static void got_head(struct stream *s, const struct head *response)
{
    (void)s;
    n_heads++;
    last_status = response->status;
}

static void got_body(struct stream *s, struct str bytes)
{
    n_body_bytes += bytes.n;
    if (reading)
        stream_consume(s, bytes.n);
}

static void got_end(struct stream *s, const struct headers *trailers)
{
    (void)s;
    (void)trailers;
    n_ended++;
}

static void got_closed(struct stream *s, const struct stream_result *result)
{
    (void)s;
    n_closed++;
    n_failed += result->status != STREAM_OK;
    last_end = result->status;
    last_maybe = result->maybe_processed;
    snprintf(last_message, sizeof(last_message), "%s", result->message);
}

static const struct stream_events got_events = { .head = got_head, .body = got_body, .end = got_end,
                                                 .closed = got_closed };

static struct stream *request_at(const char *method, const char *target, struct str body, struct client_request r)
{
    struct stream *s;
    r.method = method;
    r.url = str_of(arena_printf(&arena, "%s://localhost:%d%s", with_tls ? "https" : "http", port, target));
    r.body = body;
    if (client_send(client, &r, &got_events, NULL, &s, &error))
        FAIL("%s", error.message);
    return s;
}

static struct stream *request(const char *method, const char *target, struct str body)
{
    return request_at(method, target, body, (struct client_request){ 0 });
}

static void wait_closed(int n)
{
    while (n_closed < n)
        loop_run_once(loop, true);
}

static bool begin(int way)
{
    n_closed = n_failed = n_heads = n_ended = 0;
    n_body_bytes = 0;
    client_gone = false;
    start(way & 1, way & 2);
    return true;
}

/* With and without TLS, HTTP/1 and HTTP/2. */
#define EACH_WAY for (int way = 0; way < 4 && begin(way); way++)

TEST(many_requests_at_once_are_all_answered)
{
    EACH_WAY {
        for (int i = 0; i < 500; i++)
            request("POST", "/echo", STR("twelve bytes"));
        wait_closed(500);
        CHECK_INT("none failed", n_failed, 0);
        CHECK_INT("all bytes", n_body_bytes, 500 * 12);
        CHECK(client_counts(client).n_connections <= (way & 2 ? 3 : CLIENT_CONNECTIONS_MAX));
        stop();
    }
}

TEST(large_bodies_pass_whole)
{
    static char body[3 << 20];
    EACH_WAY {
        for (size_t i = 0; i < sizeof(body); i++)
            body[i] = (char)(i * 7);
        request("PUT", "/echo", (struct str){ body, sizeof(body) });
        request_at("PUT", "/gzip", (struct str){ body, sizeof(body) }, (struct client_request){ .gzip = true });
        wait_closed(2);
        CHECK_TEXT("no error", last_message, "");
        CHECK_INT("all bytes", n_body_bytes, 2 * sizeof(body));
        CHECK_INT("both", n_failed, 0);
        stop();
    }
}

TEST(a_reader_that_stops_reading_stops_the_sender_and_holds_up_nobody)
{
    EACH_WAY {
        reading = false;
        struct stream *s = request("GET", "/stream", STR(""));
        uint64_t before;
        do {
            before = n_body_bytes;
            for (int i = 0; i < 20; i++)
                loop_run_once(loop, false);
            usleep(5000);
        } while (n_body_bytes != before || n_body_bytes == 0);
        CHECK(n_body_bytes <= client_limits.in_window_bytes + 2 * LOOP_READ_BYTES);
        reading = true;
        request("POST", "/echo", STR("other"));
        wait_closed(1);
        CHECK_INT("the other went by", n_failed, 0);
        stream_consume(s, n_body_bytes);
        wait_closed(2);
        CHECK_INT("and all of it came", n_body_bytes, 50000000 + 5);
        stop();
    }
}

enum { UPLOAD_BYTES = 2000000 };

static void more_upload(struct stream *s)
{
    static char block[10000];
    size_t *left = stream_user(s);
    for (; *left; *left -= sizeof(block))
        if (!stream_write(s, (struct str){ block, sizeof(block) }))
            return;
    stream_end(s, NULL);
}

static const struct stream_events upload_events = { .body = got_body, .writable = more_upload, .closed = got_closed };

TEST(uploads_stream_and_wait_for_room_also_before_there_is_a_connection)
{
    EACH_WAY {
        size_t left = UPLOAD_BYTES;
        struct stream *s;
        struct client_request r = { .method = "PUT", .streams_body = true };
        r.url = str_of(arena_printf(&arena, "%s://localhost:%d/echo", with_tls ? "https" : "http", port));
        CHECK(!client_send(client, &r, &upload_events, &left, &s, &error));
        more_upload(s);
        CHECK(left > 0); /* no connection yet: its store is full */
        wait_closed(1);
        CHECK_TEXT("no error", last_message, "");
        CHECK_INT("all came back", n_body_bytes, UPLOAD_BYTES);
        stop();
    }
}

TEST(cancelled_requests_are_told_to_the_server)
{
    EACH_WAY {
        n_server_closed = n_server_failed = 0;
        struct stream *s = request("GET", "/hold", STR(""));
        stream_cancel(s); /* before there is a connection */
        s = request("GET", "/hold", STR(""));
        while (!held)
            loop_run_once(loop, true);
        stream_cancel(s);
        while (n_server_closed < 1)
            loop_run_once(loop, true);
        CHECK_INT("as failed", n_server_failed, 1);
        CHECK_INT("the canceller hears nothing", n_closed, 0);
        request("POST", "/echo", STR("x"));
        wait_closed(1);
        CHECK_INT("life goes on", n_failed, 0);
        stop();
    }
}

TEST(requests_time_out)
{
    EACH_WAY {
        request("GET", "/echo", STR("")); /* so that there is a connection, and the time is the server's alone */
        wait_closed(1);
        request_at("GET", "/hold", STR(""), (struct client_request){ .total_ms = 500 });
        wait_closed(2);
        CHECK_INT("time", last_end, STREAM_TIMEOUT);
        CHECK(last_maybe);
        request_at("GET", "/hold", STR(""), (struct client_request){ .head_ms = 500 });
        wait_closed(3);
        CHECK_INT("time", last_end, STREAM_TIMEOUT);
        stop();
    }
}

TEST(a_server_that_stops_ends_what_is_at_hand_first)
{
    EACH_WAY {
        request("GET", "/hold", STR(""));
        while (!held)
            loop_run_once(loop, true);
        server_gone = false;
        server_stop(server, 10000, set_true, &server_gone);
        for (int i = 0; i < 10; i++)
            loop_run_once(loop, false);
        CHECK(!server_gone);
        stream_respond(held, 200, NULL, STR("last words"));
        wait_closed(1);
        CHECK_INT("answered", n_failed, 0);
        CHECK_INT("answered", n_body_bytes, 10);
        while (!server_gone)
            loop_run_once(loop, true);
        server_free(server);
        request("GET", "/echo", STR(""));
        wait_closed(2);
        CHECK_INT("nobody there", last_end, STREAM_UNREACHABLE);
        CHECK(!last_maybe);
        CHECK(strstr(last_message, "refused"));
        stop_client();
        loop_free(loop);
        arena_fini(&arena);
    }
}

TEST(a_deadline_cuts_what_does_not_end)
{
    EACH_WAY {
        request("GET", "/hold", STR(""));
        while (!held)
            loop_run_once(loop, true);
        stop_server(30);
        wait_closed(1);
        CHECK_INT("cut", last_end, STREAM_PEER_CLOSED);
        CHECK(last_maybe);
        stop_client();
        loop_free(loop);
        arena_fini(&arena);
    }
}

TEST(requests_move_to_another_connection_when_the_server_restarts)
{
    EACH_WAY {
        char address[32];
        request("GET", "/echo", STR(""));
        wait_closed(1);
        snprintf(address, sizeof(address), "127.0.0.1:%d", port);
        server_gone = false;
        server_stop(server, 1000, set_true, &server_gone);
        request("GET", "/echo", STR("")); /* on a connection that is about to end */
        while (!server_gone)
            loop_run_once(loop, true);
        server_free(server);
        start_server(address, way & 1, way & 2, 0);
        request("GET", "/echo", STR(""));
        wait_closed(3);
        CHECK_INT("the last one", last_end, STREAM_OK);
        stop();
    }
}

TEST(tls_errors_are_told_by_name)
{
    start(true, true);
    struct tls_context *strict;
    CHECK(!tls_context_new(&(struct tls_options){ .ca_pem = server_cert, .server_name = "other.test" }, &strict,
                           &error));
    stop_client();
    client_gone = false;
    CHECK(!client_new(&(struct client_options){ .loop = loop, .tls = strict }, &client, &error));
    tls_context_unref(strict);
    request("GET", "/echo", STR(""));
    wait_closed(1);
    CHECK_INT("unreachable", last_end, STREAM_UNREACHABLE);
    CHECK(strstr(last_message, "hostname mismatch"));
    with_tls = false; /* plain HTTP to a TLS port */
    request("GET", "/echo", STR(""));
    wait_closed(2);
    CHECK(last_end != STREAM_OK);
    stop();
}

TEST(names_that_do_not_exist_and_bad_addresses_fail)
{
    start(false, false);
    struct stream *s;
    CHECK(client_send(client, &(struct client_request){ .method = "GET", .url = STR("ftp://x/") }, &got_events, NULL,
                      &s, &error));
    CHECK(client_send(client, &(struct client_request){ .method = "GET", .url = STR("http://a b/") }, &got_events,
                      NULL, &s, &error));
    CHECK(!client_send(client, &(struct client_request){ .method = "GET", .url = STR("http://no-such-name.invalid/") },
                       &got_events,
                       NULL, &s, &error));
    wait_closed(1);
    CHECK_INT("unreachable", last_end, STREAM_UNREACHABLE);
    CHECK(strstr(last_message, "lookup no-such-name.invalid"));
    stop();
}

/* ---- Clients that misbehave, with plain sockets ---- */

static int dial_plain(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* Runs the loop until the server has so many connections. */
static void wait_connections(uint32_t n)
{
    while (server_counts(server).n_connections != n)
        loop_run_once(loop, true);
}

/* All that the server sends until it closes. */
static struct str read_all(int fd)
{
    static char text[100000];
    size_t n = 0;
    for (;;) {
        ssize_t got = recv(fd, text + n, sizeof(text) - n, MSG_DONTWAIT);
        if (got == 0)
            return (struct str){ text, n };
        if (got > 0)
            n += (size_t)got;
        loop_run_once(loop, false);
    }
}

TEST(a_client_that_never_reads_is_cut)
{
    start(false, false);
    server_limits.write_stall_ms = 100;
    int fd = dial_plain(), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    send_text(fd, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    n_server_closed = n_server_failed = 0;
    while (n_server_closed == 0)
        loop_run_once(loop, true);
    CHECK_INT("told", n_server_failed, 1);
    wait_connections(0);
    close(fd);
    stop();
}

TEST(an_early_answer_reaches_a_client_that_is_still_sending)
{
    static char block[65536];
    start(false, false);
    int fd = dial_plain();
    send_text(fd, "POST /other HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n");
    for (int n_sent = 0; n_sent < 4000000;) { /* far more than the server wants to discard */
        ssize_t n = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);
        CHECK(n > 0 || errno == EAGAIN);
        n_sent += n > 0 ? (int)n : 0;
        loop_run_once(loop, false);
    }
    struct str answer = read_all(fd);
    CHECK(str_starts(answer, STR("HTTP/1.1 200 ")));
    CHECK(answer.n > 20000); /* all of it */
    close(fd);
    wait_connections(0);
    stop();
}

TEST(slow_clients_are_cut_in_every_phase)
{
    start(false, false);
    server_limits.head_ms = 1000; /* enough for a request that is there already, however busy the machine is */
    server_limits.idle_ms = 100;
    int silent = dial_plain(), slow = dial_plain(), greeting = dial_plain(), idle = dial_plain();
    send_text(slow, "GET / HTTP/1.1\r\nHost:");
    send_text(greeting, "PRI * HTTP/2.0\r\n");
    send_text(idle, "GET /other HTTP/1.1\r\nHost: h\r\n\r\n");
    while (server_counts(server).n_accepted < 4)
        loop_run_once(loop, true);
    wait_connections(0);
    CHECK(str_starts(read_all(slow), STR("HTTP/1.1 408 ")));
    CHECK_INT("no word to the silent", read_all(silent).n, 0);
    CHECK(read_all(idle).n > 20000);
    close(silent), close(slow), close(greeting), close(idle);
    stop();
}

TEST(a_tls_handshake_that_does_not_end_is_cut)
{
    start(true, true);
    server_limits.handshake_ms = 60;
    int silent = dial_plain(), garbage = dial_plain();
    send_text(garbage, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    while (server_counts(server).n_accepted < 2)
        loop_run_once(loop, true);
    wait_connections(0);
    CHECK_INT("both failed", server_counts(server).n_failed, 2);
    close(silent), close(garbage);
    stop();
}

TEST(one_connection_too_many_is_told_so)
{
    start(false, false);
    stop_server(0);
    start_server("127.0.0.1:0", false, false, 2);
    int a = dial_plain(), b = dial_plain(), c = dial_plain();
    CHECK(str_starts(read_all(c), STR("HTTP/1.1 503 ")));
    CHECK_INT("refused", server_counts(server).n_refused, 1);
    CHECK_INT("the others stay", server_counts(server).n_connections, 2);
    close(a), close(b), close(c);
    wait_connections(0);
    stop();
}

TEST(servers_listen_on_ipv6_and_on_unix_sockets)
{
    start(false, false);
    stop_server(0);
    start_server("[::1]:0", false, false, 0);
    struct stream *s;
    char url[64], path[64];
    snprintf(url, sizeof(url), "http://[::1]:%d/echo", port);
    CHECK(!client_send(client, &(struct client_request){ .method = "POST", .url = str_of(url) }, &got_events, NULL, &s,
                       &error));
    wait_closed(1);
    CHECK_TEXT("by IPv6", last_message, "");
    snprintf(path, sizeof(path), "unix:/tmp/test_http.%d", getpid());
    CHECK(!server_listen(server, path, NULL, NULL, &error));
    CHECK(server_listen(server, "127.0.0.1:http", NULL, NULL, &error));
    CHECK(strstr(error.message, "listen on 127.0.0.1:http"));
    CHECK(server_listen(server, "192.0.2.1:80", NULL, NULL, &error));
    stop();
    unlink(path + 5);
}

TEST(a_server_that_is_held_answers_later)
{
    start(true, true);
    server_hold(server);
    for (int i = 0; i < 3; i++)
        request("POST", "/echo", STR("x"));
    for (int i = 0; i < 20; i++)
        loop_run_once(loop, false);
    CHECK_INT("none is taken", server_counts(server).n_accepted, 0);
    server_release(server);
    wait_closed(3);
    CHECK_INT("all are answered", n_failed, 0);
    stop();
}

TEST(a_held_server_may_stop)
{
    start(false, false);
    server_hold(server);
    int fd = dial_plain();
    for (int i = 0; i < 20; i++)
        loop_run_once(loop, false);
    stop();
    close(fd);
}

TEST(a_port_is_shared_by_those_who_say_so)
{
    char address[32];
    start(false, false);
    stop_server(0);
    struct server_options o = { .loop = loop, .handler = handle, .share_port = true };
    struct server *second = server_new(&o), *third;
    server = server_new(&o);
    CHECK(!server_listen(server, "127.0.0.1:0", NULL, &port, &error));
    snprintf(address, sizeof(address), "127.0.0.1:%d", port);
    CHECK(!server_listen(second, address, NULL, NULL, &error));
    o.share_port = false;
    third = server_new(&o);
    CHECK(server_listen(third, address, NULL, NULL, &error));
    CHECK(strstr(error.message, "address already in use"));
    bool second_gone = false, third_gone = false;
    server_stop(second, 0, set_true, &second_gone);
    server_stop(third, 0, set_true, &third_gone);
    while (!second_gone || !third_gone)
        loop_run_once(loop, true);
    server_free(second);
    server_free(third);
    stop();
}

/* ---- A server that closes kept connections under the next request ---- */

enum { FAKE_CONNECTIONS_MAX = 10 };

static struct {
    int listener, fds[FAKE_CONNECTIONS_MAX], n_answered[FAKE_CONNECTIONS_MAX], n;
} fake;

static void fake_start(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    memset(&fake, 0, sizeof(fake));
    fake.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(bind(fake.listener, (struct sockaddr *)&at, n) == 0 && listen(fake.listener, 10) == 0);
    CHECK(getsockname(fake.listener, (struct sockaddr *)&at, &n) == 0);
    port = ntohs(at.sin_port);
}

static void fake_answer(int i)
{
    char text[1000];
    ssize_t n = recv(fake.fds[i], text, sizeof(text), MSG_DONTWAIT);
    if (n > 0 && fake.n_answered[i]++ == 0) {
        send_text(fake.fds[i], "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    } else if (n >= 0) {
        close(fake.fds[i]);
        fake.fds[i] = -1;
    }
}

static void fake_wait_closed(int n)
{
    while (n_closed < n) {
        int fd = fake.n < FAKE_CONNECTIONS_MAX ? accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            fake.fds[fake.n++] = fd;
        for (int i = 0; i < fake.n; i++)
            if (fake.fds[i] >= 0)
                fake_answer(i);
        loop_run_once(loop, false);
    }
}

TEST(requests_on_a_connection_that_is_gone_are_repeated_only_when_that_is_safe)
{
    start(false, false);
    stop_server(0);
    fake_start();
    request("GET", "/", STR(""));
    fake_wait_closed(1); /* now it is known to be HTTP/1 */
    request("GET", "/", STR(""));
    request("GET", "/", STR(""));
    fake_wait_closed(3);
    CHECK_INT("two connections are kept", client_counts(client).n_connections, 2);
    uint64_t before = client_counts(client).n_retried;
    request("GET", "/", STR(""));
    fake_wait_closed(4);
    CHECK_INT("none failed", n_failed, 0);
    CHECK_INT("repeated on a new one, not on the next kept one", client_counts(client).n_retried, before + 1);
    request("POST", "/", STR("order"));
    fake_wait_closed(5);
    CHECK_INT("a POST is not repeated", last_end, STREAM_PEER_CLOSED);
    CHECK(last_maybe);
    CHECK_INT("nothing more", client_counts(client).n_retried, before + 1);
    stop_client();
    for (int i = 0; i < fake.n; i++)
        if (fake.fds[i] >= 0)
            close(fake.fds[i]);
    close(fake.listener);
    loop_free(loop);
    arena_fini(&arena);
}

/* ---- Many connections ---- */

static long resident_bytes(void)
{
    long total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &total, &resident) == 2);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

TEST(ten_thousand_idle_connections_are_held)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int n = limit.rlim_cur > 20100 ? 10000 : (int)(limit.rlim_cur - 100) / 2; /* both ends are in this process */
    start(false, false);
    int *fds = mem_alloc(sizeof(int) * (size_t)n);
    long before = resident_bytes();
    for (int i = 0; i < n; i++) {
        fds[i] = dial_plain();
        send_text(fds[i], "GET /other HTTP/1.1\r\nHost: h\r\n\r\n");
        loop_run_once(loop, false);
    }
    while (server_counts(server).n_requests < (uint64_t)n)
        loop_run_once(loop, true);
    printf("%d idle connections, %ld bytes each\n", n, (resident_bytes() - before) / n);
    CHECK_INT("all are there", server_counts(server).n_connections, n);
    for (int i = 0; i < n; i++)
        close(fds[i]);
    wait_connections(0);
    free(fds);
    stop();
}
