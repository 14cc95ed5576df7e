/* Requests and streams of struct api, with a real server on loopback: plain, TLS with HTTP/1.1, TLS with HTTP/2. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/rest.h"
#include "http/server.h"
#include "tests/test.h"

/* ---- The server ---- */

enum way { PLAIN, TLS_H1, TLS_H2, N_WAYS };
#define FOR_WAYS(way) for (int way = 0; way < N_WAYS; way++)

static struct loop *loop;
static struct server *server;
static struct arena arena;
static struct err error;
static int port, n_requests, n_refusals, n_server_closed;
static struct str server_cert, server_key;
static struct stream *held; /* the last request that was not answered */
static char seen[20][2000]; /* heads of requests, the last ones */
static char peer_name[100];  /* in the certificate of the last one */
static const char *retry_after = "0";
static uint16_t refusal = 429;

static void note_request(const struct head *r)
{
    char *to = seen[n_requests++ % 20];
    size_t n = (size_t)snprintf(to, sizeof(seen[0]), "%.*s %.*s\n", STR_ARG(r->method), STR_ARG(r->target));
    for (uint32_t i = 0; i < r->headers.n && n < sizeof(seen[0]) - 300; i++)
        if (!str_is(r->headers.at[i].name, "content-length"))
            n += (size_t)snprintf(to + n, 300, "%.*s: %.*s\n", STR_ARG(r->headers.at[i].name),
                                  STR_ARG(r->headers.at[i].value));
}

struct served {
    struct strbuf body;
    uint64_t left;
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
    stream_respond(s, 201, "application/vnd.kubernetes.protobuf;x=y", strbuf_str(&v->body));
}

static void served_more(struct stream *s)
{
    static char block[10000];
    struct served *v = stream_user(s);
    for (; v->left; v->left -= v->left < sizeof(block) ? v->left : sizeof(block))
        if (!stream_write(s, (struct str){ block, v->left < sizeof(block) ? v->left : sizeof(block) }))
            return;
    stream_end(s, NULL);
}

static void served_closed(struct stream *s, const struct stream_result *result)
{
    struct served *v = stream_user(s);
    (void)result;
    n_server_closed++;
    if (held == s)
        held = NULL;
    strbuf_fini(&v->body);
    free(v);
}

static const struct stream_events echo_events = { .body = served_body, .end = served_end, .closed = served_closed };
static const struct stream_events streamed_events = { .writable = served_more, .closed = served_closed };

static void refuse(struct stream *s, bool for_ever)
{
    static char text[3000];
    struct head head = { .status = refusal };
    n_refusals--;
    if (retry_after)
        headers_add(&head.headers, stream_arena(s), STR("retry-after"), str_of(retry_after));
    stream_send_head(s, &head);
    stream_write(s, (struct str){ text, for_ever ? sizeof(text) : 20 });
    if (!for_ever)
        stream_end(s, NULL);
}

static void handle(void *context, struct stream *s, const struct head *r)
{
    (void)context;
    struct served *v = mem_zalloc(sizeof(*v));
    bool echo = str_is(r->target, "/echo");
    note_request(r);
    const struct tls_peer *peer = stream_tls_peer(s);
    snprintf(peer_name, sizeof(peer_name), "%.*s", STR_ARG(peer ? peer->common_name : STR("nobody")));
    strbuf_init(&v->body, STRBUF_NO_MAX);
    stream_attach(s, echo && n_refusals <= 0 ? &echo_events : &streamed_events, v);
    if (n_refusals > 0)
        refuse(s, str_is(r->target, "/refused-for-ever"));
    else if (str_starts(r->target, STR("/hold")))
        held = s;
    else if (str_is(r->target, "/cut"))
        stream_cancel(s), strbuf_fini(&v->body), free(v);
    else if (str_is(r->target, "/unauthorized"))
        stream_respond(s, 401, "text/plain", STR("who?"));
    else if (!echo) {
        v->left = strtoull(r->target.p + 1, NULL, 10);
        stream_send_head(s, &(struct head){ .status = 200 });
        served_more(s);
    }
}

static void make_cert(void)
{
    const char *const names[] = { "localhost" }, *const ips[] = { "127.0.0.1" };
    struct tls_new_cert c = { .common_name = "test", .dns_names = names, .n_dns_names = 1, .addresses = ips,
                              .n_addresses = 1, .not_before_s = time(NULL) - 60, .not_after_s = time(NULL) + 3600 };
    CHECK(!tls_make_cert(&c, &arena, &server_cert, &server_key, &error));
}

static void start_server(enum way way)
{
    struct tls_cert_source source = { .cert_pem = server_cert, .key_pem = server_key };
    struct tls_options o = { .is_server = true, .certs = &source, .n_certs = 1, .no_http2 = way != TLS_H2,
                             .ca_pem = server_cert, .client_certs = TLS_CLIENT_CERTS_REQUESTED };
    struct tls_context *tls = NULL;
    CHECK(way == PLAIN || !tls_context_new(&o, &tls, &error));
    server = server_new(&(struct server_options){ .loop = loop, .handler = handle });
    if (server_listen(server, arena_printf(&arena, "127.0.0.1:%d", port), tls, &port, &error))
        FAIL("%s", error.message);
    if (tls)
        tls_context_unref(tls);
}

static void set_true(void *flag)
{
    *(bool *)flag = true;
}

static void stop_server(int64_t grace_ms)
{
    bool gone = false;
    server_stop(server, grace_ms, set_true, &gone);
    while (!gone)
        loop_run_once(loop, true);
    server_free(server);
    server = NULL;
}

/* ---- The client ---- */

static struct rest *rest;
static const struct api *api;
static struct client_config config;
static struct rest_options options;

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void begin(enum way way)
{
    arena_init(&arena);
    err_init(&error, &arena);
    loop = loop_new(NULL);
    signal(SIGPIPE, SIG_IGN);
    port = 0;
    n_requests = n_refusals = n_server_closed = 0;
    make_cert();
    start_server(way);
    config = (struct client_config){
        .server = str_of(arena_printf(&arena, "%s://localhost:%d", way == PLAIN ? "http" : "https", port)) };
    if (way != PLAIN)
        config.ca_data = server_cert;
    options = (struct rest_options){ .loop = loop, .user_agent = "tester/1", .media = MEDIA_PROTOBUF,
                                     .env = no_environment };
}

static void connect_rest(void)
{
    if (rest_new(&config, &options, &rest, &error))
        FAIL("%s", error.message);
    api = rest_api(rest);
}

static void start(enum way way)
{
    begin(way);
    connect_rest();
}

static void stop_rest(void)
{
    bool gone = false;
    rest_stop(rest, set_true, &gone);
    while (!gone)
        loop_run_once(loop, true);
    rest_free(rest);
}

static void stop(void)
{
    stop_rest();
    if (server)
        stop_server(0);
    loop_free(loop);
    arena_fini(&arena);
}

static int n_done;
static struct api_answer last;
static char last_error[1000];
static struct strbuf last_body;
static int order[100]; /* contexts in the order of their answers */

static void answered(void *context, const struct api_answer *answer)
{
    order[n_done % 100] = (int)(intptr_t)context;
    n_done++;
    last = *answer;
    snprintf(last_error, sizeof(last_error), "%s", answer->error ? answer->error : "");
    strbuf_fini(&last_body);
    strbuf_init(&last_body, STRBUF_NO_MAX);
    strbuf_add_str(&last_body, answer->body);
    last.error = answer->error ? last_error : NULL; /* what came is valid only here */
    last.body = strbuf_str(&last_body);
}

static api_call send_at(const char *method, const char *target, struct str body, enum api_lane lane, int64_t timeout_ms,
                        int context)
{
    struct api_request r = { .lane = lane, .method = method, .target = str_of(target), .body = body,
                             .media_type = body.n ? "application/json" : NULL, .timeout_ms = timeout_ms };
    int before = n_done;
    api_call call = api->send(api->context, &r, answered, (void *)(intptr_t)context);
    CHECK_INT("not before send has returned", n_done, before);
    CHECK(call);
    return call;
}

static api_call ask(const char *method, const char *target, struct str body)
{
    return send_at(method, target, body, API_LANE_READ, 0, 0);
}

static void wait_done(int n)
{
    while (n_done < n)
        loop_run_once(loop, true);
}

static void wait_requests(int n)
{
    while (n_requests < n)
        loop_run_once(loop, true);
}

static void turn(int times)
{
    for (int i = 0; i < times; i++) {
        loop_run_once(loop, false);
        usleep(200);
    }
}

/* ---- Requests ---- */

TEST(a_request_carries_what_it_should_and_its_answer_comes_back)
{
    FOR_WAYS(way) {
        begin(way);
        config.token = STR("secret");
        config.as_user = STR("jane");
        connect_rest();
        n_done = 0;
        ask("POST", "/echo", STR("{}"));
        wait_done(1);
        CHECK_INT("status", last.status, 201);
        CHECK_INT("media", last.media, MEDIA_PROTOBUF);
        CHECK_STR("body", last.body, STR("{}"));
        CHECK(!last.error);
        CHECK_TEXT("head", seen[0],
                   "POST /echo\naccept: application/vnd.kubernetes.protobuf, */*\nuser-agent: tester/1\n"
                   "content-type: application/json\nauthorization: Bearer secret\nimpersonate-user: jane\n");
        stop();
    }
}

TEST(a_base_path_stands_before_every_target)
{
    begin(PLAIN);
    config.server = str_of(arena_printf(&arena, "localhost:%d/k8s/clusters/a//", port));
    connect_rest();
    ask("GET", "/7?x=y", STR(""));
    wait_done(1);
    CHECK(str_starts(str_of(seen[0]), STR("GET /k8s/clusters/a/7?x=y\n")));
    stop();
}

TEST(many_requests_share_one_http2_connection)
{
    start(TLS_H2);
    ask("GET", "/1", STR("")); /* until the server has said how many it takes at once, it is 100 */
    wait_done(1);
    for (int i = 0; i < 200; i++)
        ask("GET", "/hold", STR(""));
    wait_requests(201);
    CHECK_INT("in flight", rest_counts(rest).n_in_flight, 200);
    CHECK_INT("connections", server_counts(server).n_connections, 1);
    stop();
    CHECK_INT("none is answered after the stop", n_done, 1);
}

TEST(an_answer_that_is_too_large_fails_and_a_large_one_does_not)
{
    FOR_WAYS(way) {
        start(way);
        n_done = 0;
        ask("GET", "/20000000", STR(""));
        wait_done(1);
        CHECK_INT("status", last.status, 200);
        CHECK_INT("bytes", last.body.n, 20000000);
        ask("GET", "/67108865", STR(""));
        wait_done(2);
        CHECK_INT("status", last.status, 0);
        CHECK(strstr(last_error, "the answer has more than 67108864 bytes"));
        CHECK(!last.unsent);
        stop();
    }
}

TEST(nobody_listens)
{
    FOR_WAYS(way) {
        start(way);
        stop_server(0);
        n_done = 0;
        ask("POST", "/echo", STR("{}"));
        ask("GET", "/echo", STR(""));
        wait_done(2);
        CHECK_INT("status", last.status, 0);
        CHECK(last.unsent);
        const char *begins = arena_printf(&arena, "Get \"%.*s/echo\": ", STR_ARG(config.server));
        CHECK(str_starts(str_of(last_error), str_of(begins)));
        start_server(way);
        ask("POST", "/echo", STR("{}"));
        wait_done(3);
        CHECK_INT("again", last.status, 201);
        stop();
    }
}

TEST(a_write_whose_connection_is_cut_is_neither_repeated_nor_called_unsent)
{
    FOR_WAYS(way) {
        start(way);
        n_done = 0;
        ask("POST", "/cut", STR("{}"));
        wait_done(1);
        CHECK_INT("status", last.status, 0);
        CHECK(!last.unsent);
        CHECK_INT("requests", n_requests, 1);
        stop();
    }
}

TEST(a_server_that_is_killed_fails_writes_and_reads_come_again)
{
    FOR_WAYS(way) {
        start(way);
        n_done = 0;
        ask("POST", "/hold", STR("{}"));
        wait_requests(1);
        stop_server(0);
        wait_done(1);
        CHECK_INT("status", last.status, 0);
        CHECK(!last.unsent);
        start_server(way);
        ask("GET", "/hold", STR(""));
        wait_requests(2);
        stop_server(0);
        start_server(way);
        wait_requests(3);
        CHECK_INT("tried again", rest_counts(rest).n_retries, 1);
        CHECK_INT("not told", n_done, 1);
        stop();
    }
}

TEST(time_is_over)
{
    FOR_WAYS(way) {
        start(way);
        n_done = 0;
        send_at("POST", "/hold", STR("{}"), API_LANE_BIND, 50, 0);
        wait_done(1);
        CHECK(strstr(last_error, "/hold\": context deadline exceeded"));
        CHECK(!last.unsent);
        CHECK_INT("status", last.status, 0);
        stop();
    }
}

TEST(time_is_over_while_it_waits_for_its_turn)
{
    begin(PLAIN);
    options.qps = 0.001;
    options.burst = 1;
    connect_rest();
    ask("GET", "/1", STR(""));
    wait_done(1);
    send_at("POST", "/echo", STR("{}"), API_LANE_BIND, 50, 0);
    wait_done(2);
    CHECK(last.unsent);
    CHECK(strstr(last_error, "context deadline exceeded"));
    CHECK_INT("requests", n_requests, 1);
    stop();
}

/* ---- Trying again ---- */

TEST(retry_after_is_obeyed_up_to_ten_times)
{
    static const uint16_t statuses[] = { 429, 500, 503 };
    FOR_WAYS(way) {
        start(way);
        n_done = 0;
        for (int i = 0; i < 3; i++) {
            int before = n_requests;
            n_refusals = 10;
            refusal = statuses[i];
            ask("POST", "/echo", STR("{}"));
            wait_done(n_done + 1);
            CHECK_INT("status", last.status, 201);
            CHECK_STR("body", last.body, STR("{}"));
            CHECK_INT("requests", n_requests - before, 11);
            n_refusals = 11;
            before = n_requests;
            ask("POST", "/echo", STR("{}"));
            wait_done(n_done + 1);
            CHECK_INT("status", last.status, statuses[i]);
            CHECK_INT("body", last.body.n, 20);
            CHECK_INT("requests", n_requests - before, 11);
        }
        stop();
    }
}

TEST(refusals_without_end_are_not_read_to_it)
{
    FOR_WAYS(way) {
        start(way);
        n_done = 0;
        refusal = 429;
        n_refusals = 3;
        ask("GET", "/refused-for-ever", STR(""));
        wait_done(1);
        CHECK_INT("status", last.status, 200);
        CHECK_INT("requests", n_requests, 4);
        stop();
    }
}

TEST(what_is_not_tried_again)
{
    static const struct {
        const char *what, *after;
        uint16_t status;
        int64_t timeout_ms;
    } rows[] = {
        { "no Retry-After", NULL, 503, 0 },
        { "a date", "Wed, 21 Oct 2015 07:28:00 GMT", 503, 0 },
        { "a mistake of ours", "0", 409, 0 },
        { "waiting would pass the time", "30", 429, 20000 },
    };
    start(PLAIN);
    for (size_t i = 0; i < 4; i++) {
        int before = n_requests;
        n_refusals = 1;
        retry_after = rows[i].after;
        refusal = rows[i].status;
        send_at("POST", "/echo", STR("{}"), API_LANE_BIND, rows[i].timeout_ms, 0);
        wait_done((int)i + 1);
        CHECK_INT(rows[i].what, last.status, rows[i].status);
        CHECK_INT(rows[i].what, n_requests - before, 1);
    }
    stop();
}

/* ---- Turns ---- */

TEST(lanes_are_served_in_order)
{
    begin(PLAIN);
    options.qps = 200;
    options.burst = 1;
    connect_rest();
    for (int lane = N_API_LANES - 1; lane >= 0; lane--)
        send_at("GET", arena_printf(&arena, "/1?%d", lane), STR(""), (enum api_lane)lane, 0, lane);
    wait_done(N_API_LANES);
    for (int lane = 0; lane < N_API_LANES; lane++)
        CHECK_INT("served", atoi(strchr(seen[lane], '?') + 1), lane);
    stop();
}

TEST(a_lease_goes_though_too_many_are_in_flight)
{
    start(TLS_H2);
    for (int i = 0; i < REST_IN_FLIGHT_MAX + 5; i++)
        send_at("GET", "/hold", STR(""), API_LANE_BIND, 0, 0);
    wait_requests(REST_IN_FLIGHT_MAX);
    send_at("POST", "/echo", STR("{}"), API_LANE_LEASE, 0, 0);
    wait_done(1);
    CHECK_INT("status", last.status, 201);
    CHECK_INT("requests", n_requests, REST_IN_FLIGHT_MAX + 1);
    stream_respond(held, 200, NULL, STR(""));
    wait_requests(REST_IN_FLIGHT_MAX + 2);
    stop();
}

TEST(a_full_lane_fails_at_once_and_says_that_nothing_was_sent)
{
    begin(PLAIN);
    options.qps = 0.001;
    options.burst = 1;
    connect_rest();
    for (int i = 0; i < 10001; i++)
        send_at("POST", "/echo", STR("{}"), API_LANE_EVENT, 0, 0);
    wait_done(1);
    CHECK(last.unsent);
    CHECK(strstr(last_error, "too many requests wait for their turn"));
    stop();
}

/* ---- Cancelling ---- */

TEST(a_storm_of_cancels)
{
    FOR_WAYS(way) {
        api_call calls[300];
        start(way);
        n_done = 0;
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 300; i++)
                calls[i] = ask("GET", i % 3 ? "/hold" : "/50000", STR(""));
            turn(round);
            for (int i = 0; i < 300; i++)
                api->cancel(api->context, calls[(i * 7) % 300]);
            CHECK_INT("calls", rest_counts(rest).n_calls, 0);
            CHECK_INT("in flight", rest_counts(rest).n_in_flight, 0);
            int before = n_done;
            turn(3);
            CHECK_INT("nothing is told after", n_done, before);
        }
        api->cancel(api->context, 0);
        api->cancel(api->context, calls[0]);
        ask("POST", "/echo", STR("{}"));
        wait_done(n_done + 1);
        CHECK_INT("still works", last.status, 201);
        stop();
    }
}

/* ---- Streams ---- */

static int n_heads, n_ends, stream_status;
static uint64_t n_data;
static char end_error[1000];
static bool takes = true, cancels_itself;
static api_call streaming;

static void got_head(void *context, int status, enum media media)
{
    (void)context;
    (void)media;
    n_heads++;
    stream_status = status;
}

static bool got_data(void *context, struct str bytes)
{
    (void)context;
    n_data += bytes.n;
    if (cancels_itself)
        api->cancel(api->context, streaming);
    return takes;
}

static void got_end(void *context, const char *e)
{
    (void)context;
    n_ends++;
    snprintf(end_error, sizeof(end_error), "%s", e ? e : "(none)");
}

static void open_at(const char *target)
{
    struct api_request r = { .lane = API_LANE_READ, .method = "GET", .target = str_of(target) };
    struct api_stream s = { NULL, got_head, got_data, got_end };
    n_heads = n_ends = 0;
    n_data = 0;
    streaming = api->open(api->context, &r, &s);
    CHECK_INT("not before open has returned", n_heads + n_ends, 0);
}

static void wait_ends(int n)
{
    while (n_ends < n)
        loop_run_once(loop, true);
}

TEST(a_stream_comes_piece_by_piece_and_ends)
{
    FOR_WAYS(way) {
        begin(way);
        options.qps = 0.001; /* streams do not wait for it */
        options.burst = 1;
        connect_rest();
        for (int i = 0; i < 3; i++) {
            open_at("/3000000");
            wait_ends(1);
            CHECK_INT("heads", n_heads, 1);
            CHECK_INT("status", stream_status, 200);
            CHECK_INT("bytes", n_data, 3000000);
            CHECK_TEXT("end", end_error, "(none)");
        }
        stop();
    }
}

TEST(a_stream_that_is_not_read_holds_its_server_up)
{
    FOR_WAYS(way) {
        start(way);
        takes = false;
        open_at("/50000000");
        while (n_data == 0)
            loop_run_once(loop, true);
        uint64_t before = n_data;
        turn(200);
        CHECK_INT("no more until it is resumed", n_data, before);
        CHECK_INT("the server is not done", n_server_closed, 0);
        api->resume(api->context, streaming);
        CHECK_INT("not from within", n_data, before);
        while (n_data == before)
            loop_run_once(loop, true);
        takes = true;
        api->resume(api->context, streaming);
        wait_ends(1);
        CHECK_INT("bytes", n_data, 50000000);
        CHECK_TEXT("end", end_error, "(none)");
        stop();
    }
}

TEST(the_end_of_a_paused_stream_waits)
{
    FOR_WAYS(way) {
        start(way);
        takes = false;
        open_at("/30000");
        while (n_server_closed == 0)
            loop_run_once(loop, true);
        turn(100);
        CHECK_INT("ends", n_ends, 0);
        for (int i = 0; i < 1000 && !n_ends; i++) {
            api->resume(api->context, streaming);
            turn(1);
        }
        CHECK_INT("bytes", n_data, 30000);
        CHECK_INT("ends", n_ends, 1);
        takes = true;
        stop();
    }
}

TEST(a_stream_may_cancel_itself)
{
    FOR_WAYS(way) {
        start(way);
        cancels_itself = true;
        open_at("/50000000");
        while (n_data == 0)
            loop_run_once(loop, true);
        uint64_t before = n_data;
        turn(20);
        CHECK_INT("bytes", n_data, before);
        CHECK_INT("ends", n_ends, 0);
        CHECK_INT("calls", rest_counts(rest).n_calls, 0);
        cancels_itself = false;
        stop();
    }
}

TEST(a_stream_without_server_ends_with_the_reason)
{
    FOR_WAYS(way) {
        start(way);
        stop_server(0);
        open_at("/hold");
        wait_ends(1);
        CHECK_INT("heads", n_heads, 0);
        CHECK(strstr(end_error, "/hold\": "));
        stop();
    }
}

TEST(a_refused_stream_is_tried_again)
{
    FOR_WAYS(way) {
        start(way);
        n_refusals = 2;
        refusal = 429;
        open_at("/1000");
        wait_ends(1);
        CHECK_INT("heads", n_heads, 1);
        CHECK_INT("status", stream_status, 200);
        CHECK_INT("bytes", n_data, 1000);
        stop();
    }
}

/* ---- Whom we trust, who we are ---- */

TEST(a_server_that_nobody_vouches_for_is_not_spoken_to)
{
    begin(TLS_H2);
    config.ca_data = (struct str){ 0 };
    connect_rest();
    ask("POST", "/echo", STR("{}"));
    wait_done(1);
    CHECK_INT("status", last.status, 0);
    CHECK(last.unsent);
    CHECK_INT("requests", n_requests, 0);
    stop_rest();
    config.insecure_skip_tls_verify = true;
    connect_rest();
    ask("POST", "/echo", STR("{}"));
    wait_done(2);
    CHECK_INT("insecure", last.status, 201);
    stop_rest();
    config.insecure_skip_tls_verify = false;
    config.ca_data = server_cert;
    config.tls_server_name = STR("elsewhere");
    connect_rest();
    ask("POST", "/echo", STR("{}"));
    wait_done(3);
    CHECK_INT("another name", last.status, 0);
    stop();
}

TEST(bad_configurations)
{
    begin(PLAIN);
    config.server = STR("");
    CHECK(rest_new(&config, &options, &rest, &error));
    CHECK_TEXT("empty", error.message, "host must be a URL or a host:port pair: \"\"");
    config.server = STR("https://x y/");
    CHECK(rest_new(&config, &options, &rest, &error));
    config.server = STR("https://localhost:1");
    config.insecure_skip_tls_verify = true;
    config.ca_data = server_cert;
    CHECK(rest_new(&config, &options, &rest, &error));
    CHECK_TEXT("both", error.message, "specifying a root certificates file with the insecure flag is not allowed");
    config.insecure_skip_tls_verify = false;
    config.ca_data = STR("garbage");
    CHECK(rest_new(&config, &options, &rest, &error));
    config.ca_data = server_cert;
    config.token_file = STR("/nowhere/at/all");
    CHECK(rest_new(&config, &options, &rest, &error));
    stop_server(0);
    loop_free(loop);
    arena_fini(&arena);
}

static void write_pem(const char *path, struct str text)
{
    const char *fresh = arena_printf(&arena, "%s.new", path);
    FILE *f = fopen(fresh, "w");
    CHECK(f && fwrite(text.p, 1, text.n, f) == text.n);
    fclose(f);
    CHECK(!rename(fresh, path));
}

TEST(changed_certificates_are_used_and_streams_come_again)
{
    char folder[] = "/tmp/berth_rest_XXXXXX";
    begin(TLS_H2);
    CHECK(mkdtemp(folder));
    const char *ca = arena_printf(&arena, "%s/ca", folder);
    write_pem(ca, server_cert);
    config.ca_data = (struct str){ 0 };
    config.ca_file = str_of(ca);
    options.tls_look_ms = 5;
    connect_rest();
    open_at("/hold");
    ask("GET", "/hold?request", STR(""));
    wait_requests(2);
    struct stream *request = held;
    write_pem(ca, arena_str(&arena, str_of(arena_printf(&arena, "%.*s\n", STR_ARG(server_cert)))));
    wait_ends(1);
    CHECK(strstr(end_error, "certificates have changed"));
    CHECK_INT("the request goes on", rest_counts(rest).n_carriers, 2);
    ask("POST", "/echo", STR("{}"));
    wait_done(1);
    CHECK_INT("status", last.status, 201);
    CHECK_INT("connections", server_counts(server).n_connections, 2);
    stream_respond(request, 200, NULL, STR(""));
    wait_done(2);
    CHECK_INT("status", last.status, 200);
    while (rest_counts(rest).n_carriers > 1)
        loop_run_once(loop, true);
    unlink(ca);
    rmdir(folder);
    stop();
}

TEST(a_refused_token_is_read_again)
{
    char path[] = "/tmp/berth_rest_XXXXXX";
    int fd = mkstemp(path);
    CHECK(write(fd, "one", 3) == 3);
    begin(PLAIN);
    config.token_file = str_of(path);
    connect_rest();
    ask("GET", "/unauthorized", STR(""));
    wait_done(1);
    CHECK_INT("status", last.status, 401);
    CHECK(pwrite(fd, "two", 3, 0) == 3);
    ask("GET", "/1", STR(""));
    wait_done(2);
    CHECK(strstr(seen[0], "Bearer one"));
    CHECK(strstr(seen[1], "Bearer two"));
    close(fd);
    unlink(path);
    stop();
}

/* As a text of JSON in a shell's quotes. */
static const char *json_lines(struct str pem)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < pem.n; i++)
        if (pem.p[i] == '\n')
            STRBUF_ADD_LIT(&b, "\\n");
        else
            strbuf_add_char(&b, pem.p[i]);
    const char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void write_program(const char *path, const char *name)
{
    struct tls_new_cert c = { .common_name = name, .issuer_cert_pem = server_cert, .issuer_key_pem = server_key,
                              .not_before_s = time(NULL) - 60, .not_after_s = time(NULL) + 3600 };
    struct str cert, key;
    CHECK(!tls_make_cert(&c, &arena, &cert, &key, &error));
    write_pem(path, str_of(arena_printf(&arena,
                                        "#!/bin/sh\ncat <<'END'\n{\"kind\":\"ExecCredential\",\"apiVersion\":"
                                        "\"client.authentication.k8s.io/v1beta1\",\"status\":{"
                                        "\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\"}}\nEND\n",
                                        json_lines(cert), json_lines(key))));
    CHECK(!chmod(path, 0700));
}

TEST(certificates_of_a_program_are_shown_and_changed_when_refused)
{
    char folder[] = "/tmp/berth_rest_XXXXXX";
    begin(TLS_H2);
    CHECK(mkdtemp(folder));
    const char *path = arena_printf(&arena, "%s/plugin", folder);
    struct client_exec program = { .command = str_of(path), .interactive_mode = STR("Never"),
                                   .api_version = STR("client.authentication.k8s.io/v1beta1") };
    write_program(path, "first");
    config.exec = &program;
    connect_rest();
    for (int i = 0; i < 5; i++)
        ask("GET", "/1", STR(""));
    wait_done(5);
    CHECK_INT("status", last.status, 200);
    CHECK_TEXT("shown", peer_name, "first");
    write_program(path, "second");
    ask("GET", "/unauthorized", STR(""));
    wait_done(6);
    CHECK_INT("told as it is", last.status, 401);
    ask("GET", "/1", STR(""));
    wait_done(7);
    CHECK_INT("status", last.status, 200);
    CHECK_TEXT("changed", peer_name, "second");
    write_pem(path, STR("#!/bin/sh\nexit 3\n"));
    stop_rest();
    CHECK(!chmod(path, 0700));
    connect_rest();
    ask("GET", "/1", STR(""));
    wait_done(8);
    CHECK(last.unsent);
    CHECK(strstr(last_error, "/1\": getting credentials: exec: executable "));
    unlink(path);
    rmdir(folder);
    stop();
}

TEST(a_proxy_of_the_configuration_is_asked)
{
    begin(PLAIN);
    config.proxy_url = config.server;
    config.server = STR("http://api.invalid:1");
    connect_rest();
    ask("GET", "/5", STR(""));
    wait_done(1);
    CHECK_INT("status", last.status, 200);
    stop();
}

/* ---- Servers that talk nonsense ---- */

static int listener;

/* Answers every connection with the text and closes it. */
static void *talk_nonsense(void *text)
{
    int fd;
    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        char room[4096];
        CHECK(read(fd, room, sizeof(room)) > 0);
        CHECK(write(fd, text, strlen(text)) >= 0);
        shutdown(fd, SHUT_WR);
        while (read(fd, room, sizeof(room)) > 0)
            ;
        close(fd);
    }
    return NULL;
}

TEST(nonsense_is_an_error_of_the_one_request)
{
    static const char *const texts[] = {
        "", "\x00\x01\x02", "garbage\r\n\r\n", "HTTP/1.1 999999 x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 11\r\n\r\n",
    };
    begin(PLAIN);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof(a);
        pthread_t thread;
        listener = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(!bind(listener, (struct sockaddr *)&a, n) && !listen(listener, 10));
        CHECK(!getsockname(listener, (struct sockaddr *)&a, &n));
        CHECK(!pthread_create(&thread, NULL, talk_nonsense, (void *)(uintptr_t)texts[i]));
        config.server = str_of(arena_printf(&arena, "http://127.0.0.1:%d", ntohs(a.sin_port)));
        connect_rest();
        ask("POST", "/echo", STR("{}"));
        wait_done((int)i + 1);
        CHECK_INT(texts[i], last.status, 0);
        CHECK(last.error && *last.error);
        CHECK(!last.unsent);
        stop_rest();
        shutdown(listener, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(listener);
    }
    stop_server(0);
    loop_free(loop);
    arena_fini(&arena);
}

/* ---- Who watches ---- */

static struct strbuf observed;

static void saw_tried(void *context, const char *method, int status, size_t request_bytes, bool is_stream)
{
    (void)context;
    strbuf_printf(&observed, "%s %s %d of %zu; ", is_stream ? "stream" : "try", method, status, request_bytes);
}

static void saw_retried(void *context, const char *method, int status)
{
    (void)context;
    strbuf_printf(&observed, "again %s %d; ", method, status);
}

static void saw_waited(void *context, const char *method, int64_t ns)
{
    (void)context;
    strbuf_printf(&observed, "%s waited%s; ", method, ns >= 0 ? "" : " less than nothing");
}

static void saw_finished(void *context, const char *method, int64_t ns, size_t answer_bytes, bool answered)
{
    (void)context;
    strbuf_printf(&observed, "%s%s %zu%s; ", ns > 0 ? "end " : "", method, answer_bytes, answered ? "" : " unanswered");
}

static void saw_carriers(void *context, int by)
{
    (void)context;
    strbuf_printf(&observed, "carrier %d; ", by);
}

static void expect_observed(const char *what, const char *want)
{
    CHECK_STR(what, strbuf_str(&observed), str_of(want));
    strbuf_reset(&observed);
}

static void begin_observed(enum way way)
{
    strbuf_init(&observed, STRBUF_NO_MAX);
    begin(way);
    options.observer = (struct rest_observer){ NULL, saw_tried, saw_retried, saw_waited, saw_finished, saw_carriers };
    n_done = 0;
}

TEST(an_observer_hears_of_all_tries)
{
    FOR_WAYS(way) {
        begin_observed(way);
        connect_rest();
        expect_observed("connections", "carrier 1; ");
        ask("POST", "/echo", STR("{}"));
        wait_done(1);
        expect_observed("an answer, without a rate", "try POST 201 of 2; end POST 2; ");
        n_refusals = 2;
        refusal = 429;
        ask("POST", "/echo", STR("{}"));
        wait_done(2);
        expect_observed("refusals", "try POST 429 of 2; again POST 429; try POST 429 of 2; again POST 429; "
                                    "try POST 201 of 2; end POST 2; ");
        open_at("/30");
        wait_ends(1);
        expect_observed("a stream", "stream GET 200 of 0; ");
        stop_server(0);
        ask("POST", "/echo", STR("{}"));
        wait_done(3);
        expect_observed("nobody there", "try POST 0 of 2; end POST 0 unanswered; ");
        stop_rest();
        expect_observed("the end", "carrier -1; ");
        loop_free(loop);
        arena_fini(&arena);
        strbuf_fini(&observed);
    }
}

TEST(an_observer_hears_of_waits_where_there_is_a_rate)
{
    begin_observed(PLAIN);
    options.qps = 200;
    options.burst = 1;
    connect_rest();
    strbuf_reset(&observed);
    ask("GET", "/5", STR(""));
    wait_done(1);
    expect_observed("a read", "GET waited; try GET 200 of 0; end GET 5; ");
    stop();
    strbuf_fini(&observed);
}
