/* Extenders over real connections: the scheduling thread (this one) asks, a loop on a thread of its own carries, a server on
 * loopback answers. The words about failures are those that kube-scheduler v1.36.4 was seen to use. */
#include "daemon/extender_calls.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "http/server.h"
#include "tests/test.h"

enum { EXTENDERS_MAX = 4 };

static struct loop *loop;
static struct server *server;
static struct extender_client *client;
static struct extender_calls *calls;
static struct raw_objects *raw;
static struct sym_table syms;
static struct arena arena, answers_arena;
static struct err error;
static pthread_t thread;
static int port;
static struct str server_cert, server_key;
static struct extender extenders[EXTENDERS_MAX];
static struct extender_config configs[EXTENDERS_MAX];
static struct extender *extender_list[EXTENDERS_MAX];
static const struct extender_config *config_list[EXTENDERS_MAX];
static struct extender_tls tls_of[EXTENDERS_MAX];
static uint32_t n_extenders;
static const struct pod *pod;
static _Atomic int n_requests, n_held, n_bound;
static char seen[4][2000]; /* heads and bodies of requests, the last ones */
static char bound_error[500];
static io_ticket bound_ticket;
static struct bell bound_bell;

/* ---- The server ---- */

struct served {
    struct strbuf body;
    char *head, target[100];
};

static void served_body(struct stream *s, struct str bytes)
{
    struct served *v = stream_user(s);
    strbuf_add_str(&v->body, bytes);
    stream_consume(s, bytes.n);
}

static void answer_long(struct stream *s)
{
    static char block[65536];
    for (int i = 0; i < 10000; i++)
        if (!stream_write(s, (struct str){ block, sizeof(block) }))
            return;
}

static void served_end(struct stream *s, const struct headers *trailers)
{
    (void)trailers;
    struct served *v = stream_user(s);
    snprintf(seen[n_requests % 4], sizeof(seen[0]), "%s%.*s", v->head, STR_ARG(strbuf_str(&v->body)));
    atomic_fetch_add(&n_requests, 1);
    struct str target = str_of(v->target);
    if (str_starts(target, STR("/hold"))) {
        atomic_fetch_add(&n_held, 1);
    } else if (str_starts(target, STR("/code"))) {
        stream_respond(s, (uint16_t)atoi(v->target + 5), NULL, STR("told to fail"));
    } else if (str_starts(target, STR("/long"))) {
        stream_send_head(s, &(struct head){ .status = 200 });
        answer_long(s);
    } else if (str_starts(target, STR("/half"))) {
        stream_send_head(s, &(struct head){ .status = 200 });
        stream_write(s, STR("{\"NodeNames\":"));
    } else if (str_ends(target, STR("/filter"))) {
        stream_respond(s, 200, "application/json", STR("{\"NodeNames\":[\"n1\"]}"));
    } else if (str_ends(target, STR("/prioritize"))) {
        stream_respond(s, 200, "application/json", STR("[{\"Host\":\"n1\",\"Score\":7}]"));
    } else {
        stream_respond(s, 200, NULL, STR("{\"Error\":\"not now\"}"));
    }
}

static void served_closed(struct stream *s, const struct stream_result *result)
{
    struct served *v = stream_user(s);
    (void)result;
    strbuf_fini(&v->body);
    free(v->head);
    free(v);
}

static void served_more(struct stream *s)
{
    answer_long(s);
}

static void handle(void *context, struct stream *s, const struct head *r)
{
    (void)context;
    static const struct stream_events events = { .body = served_body, .end = served_end, .writable = served_more,
                                                 .closed = served_closed };
    struct strbuf head;
    strbuf_init(&head, STRBUF_NO_MAX);
    strbuf_printf(&head, "%.*s %.*s\n", STR_ARG(r->method), STR_ARG(r->target));
    for (uint32_t i = 0; i < r->headers.n; i++)
        strbuf_printf(&head, "%.*s: %.*s\n", STR_ARG(r->headers.at[i].name), STR_ARG(r->headers.at[i].value));
    const struct tls_peer *peer = stream_tls_peer(s);
    if (peer)
        strbuf_printf(&head, "from %.*s\n", STR_ARG(peer->common_name));
    struct served *v = mem_zalloc(sizeof(*v));
    strbuf_init(&v->body, STRBUF_NO_MAX);
    v->head = strdup(strbuf_cstr(&head));
    snprintf(v->target, sizeof(v->target), "%.*s", STR_ARG(r->target));
    strbuf_fini(&head);
    stream_attach(s, &events, v);
    if (str_starts(r->target, STR("/close"))) {
        stream_cancel(s);
        strbuf_fini(&v->body);
        free(v->head);
        free(v);
    }
}

static void make_cert(const char *name, struct str *ret_cert, struct str *ret_key)
{
    const char *const names[] = { name };
    struct tls_new_cert c = { .common_name = name, .dns_names = names, .n_dns_names = 1,
                              .not_before_s = time(NULL) - 60, .not_after_s = time(NULL) + 3600 };
    CHECK(!tls_make_cert(&c, &arena, ret_cert, ret_key, &error));
}

/* ---- Both threads ---- */

static void begin(bool tls)
{
    arena_init(&arena);
    arena_init(&answers_arena);
    err_init(&error, &arena);
    sym_init(&syms);
    signal(SIGPIPE, SIG_IGN);
    loop = loop_new(NULL);
    CHECK(bell_init(&bound_bell));
    struct tls_context *context = NULL;
    if (tls) {
        make_cert("extender.example", &server_cert, &server_key);
        struct tls_cert_source source = { .cert_pem = server_cert, .key_pem = server_key };
        struct tls_options o = { .is_server = true, .certs = &source, .n_certs = 1,
                                 .client_certs = TLS_CLIENT_CERTS_REQUESTED };
        CHECK(!tls_context_new(&o, &context, &error));
    }
    server = server_new(&(struct server_options){ .loop = loop, .handler = handle });
    if (server_listen(server, "127.0.0.1:0", context, &port, &error))
        FAIL("%s", error.message);
    if (context)
        tls_context_unref(context);
}

/* An extender whose requests go to "<scheme>://127.0.0.1:<port><path>/<verb>". */
static struct extender_config *add(const char *scheme, const char *path)
{
    uint32_t i = n_extenders++;
    char *url = arena_printf(&arena, "%s://127.0.0.1:%d%s", scheme, port, path);
    configs[i] = (struct extender_config){ .url_prefix = str_of(url), .http_timeout_ns = 30ll * CLOCK_NS_PER_SECOND };
    extenders[i] = (struct extender){ .url_prefix = url, .verbs = { "filter", "prioritize", "preempt", "bind" },
                                      .node_cache_capable = true };
    extender_list[i] = &extenders[i];
    config_list[i] = &configs[i];
    return &configs[i];
}

static void bound(void *context, io_ticket ticket, const char *why)
{
    (void)context;
    bound_ticket = ticket;
    snprintf(bound_error, sizeof(bound_error), "%s", why ? why : "");
    atomic_fetch_add(&n_bound, 1);
    bell_ring(&bound_bell);
}

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static void *run_loop(void *unused)
{
    (void)unused;
    loop_run(loop);
    return NULL;
}

static enum err_code make_client(void)
{
    struct extender_client_options o = { loop, config_list, n_extenders, no_environment };
    return extender_client_new(&o, &client, &error);
}

static void start(void)
{
    if (make_client())
        FAIL("%s", error.message);
    raw = raw_objects_new(&syms, extender_list, n_extenders);
    struct str bytes = STR("{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\"}}");
    CHECK(!pod_decode(&syms, TYPED_JSON, bytes, &pod, &error));
    raw_objects_set_pod(raw, pod, TYPED_JSON, bytes);
    struct extender_calls_options o = { .loop = loop, .syms = &syms, .raw = raw, .configs = config_list,
                                        .extenders = extender_list, .n_extenders = n_extenders, .bound = bound };
    calls = extender_calls_new(&o);
    CHECK(calls);
    extender_calls_connect(calls, client);
    CHECK(!pthread_create(&thread, NULL, run_loop, NULL));
}

static int n_left;

static void one_gone(void *context)
{
    (void)context;
    if (--n_left == 0)
        loop_stop(loop);
}

static void stop_all(struct loop_mail *mail)
{
    (void)mail;
    n_left = 2;
    extender_calls_connect(calls, NULL);
    extender_client_stop(client, one_gone, NULL);
    server_stop(server, 0, one_gone, NULL);
}

static void stop(void)
{
    static struct loop_mail mail = { .run = stop_all };
    CHECK(loop_post(loop, &mail));
    pthread_join(thread, NULL);
    extender_client_free(client);
    server_free(server);
    loop_free(loop);
    extender_calls_free(calls);
    raw_objects_free(raw);
    pod_unref(&syms, pod);
    bell_fini(&bound_bell);
    sym_fini(&syms);
    arena_fini(&arena);
    arena_fini(&answers_arena);
}

static struct extender_request request(uint32_t which, enum extender_verb verb)
{
    static sym nodes[1];
    nodes[0] = sym_intern(&syms, STR("n1"));
    return (struct extender_request){ .extender = &extenders[which], .verb = verb, .pod = pod, .nodes = nodes,
                                      .n_nodes = 1, .arena = &answers_arena };
}

static struct extender_answer ask(uint32_t which, enum extender_verb verb)
{
    struct extender_request r = request(which, verb);
    struct extender_answer answer;
    extender_calls_ask(calls, &r, 1, &answer);
    return answer;
}

/* ---- Tests ---- */

TEST(a_question_and_its_answer)
{
    begin(false);
    add("http", "/base//");
    start();
    struct extender_answer x = ask(0, EXTENDER_FILTER);
    CHECK(!x.error);
    CHECK_INT("names", x.node_names.n, 1);
    CHECK_STR("name", x.node_names.at[0], STR("n1"));
    CHECK_TEXT("as recorded", seen[0],
               "POST /base/filter\ncontent-length: 131\nuser-agent: Go-http-client/1.1\ncontent-type: application/json\n"
               "accept-encoding: gzip\n{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{"
               "\"containers\":null},\"status\":{}},\"Nodes\":null,\"NodeNames\":[\"n1\"]}");
    x = ask(0, EXTENDER_PRIORITIZE);
    CHECK_INT("score", x.scores[0].score, 7);
    stop();
}

TEST(all_are_asked_at_once)
{
    begin(false);
    add("http", "/a");
    add("http", "/b");
    add("http", "/code500");
    start();
    struct extender_request r[] = { request(0, EXTENDER_PRIORITIZE), request(1, EXTENDER_FILTER),
                                    request(2, EXTENDER_PRIORITIZE), request(1, EXTENDER_PRIORITIZE) };
    struct extender_answer x[4];
    extender_calls_ask(calls, r, 4, x);
    CHECK(!x[0].error && !x[1].error && !x[3].error);
    CHECK_INT("first", x[0].scores[0].score, 7);
    CHECK_INT("second", x[1].node_names.n, 1);
    CHECK_INT("fourth", x[3].scores[0].score, 7);
    CHECK_TEXT("third", x[2].error,
               arena_printf(&arena, "failed prioritize with extender at URL http://127.0.0.1:%d/code500/prioritize, code 500",
                            port));
    stop();
}

TEST(failures_in_the_words_of_go)
{
    static const struct {
        const char *path, *want; /* with the address for @ */
    } cases[] = {
        { "/code404", "failed filter with extender at URL http://@/code404/filter, code 404" },
        { "/code302", "failed filter with extender at URL http://@/code302/filter, code 302" },
        { "/code204", "failed filter with extender at URL http://@/code204/filter, code 204" },
        { "/close", "Post \"http://@/close/filter\": EOF" },
        { "/hold", "Post \"http://@/hold/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)" },
        { "/half", "context deadline exceeded (Client.Timeout or context cancellation while reading body)" },
        { "/long", "the answer of the extender at URL http://@/long/filter is longer than 67108864 bytes" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        n_extenders = 0;
        begin(false);
        bool times_out = strstr(cases[i].want, "deadline");
        struct extender_config *c = add("http", cases[i].path);
        if (times_out)
            c->http_timeout_ns = 50 * CLOCK_NS_PER_MS;
        start();
        struct extender_answer x = ask(0, EXTENDER_FILTER);
        struct strbuf want;
        strbuf_init(&want, STRBUF_NO_MAX);
        const char *at = strchr(cases[i].want, '@');
        if (at)
            strbuf_printf(&want, "%.*s127.0.0.1:%d%s", (int)(at - cases[i].want), cases[i].want, port, at + 1);
        else
            strbuf_add_text(&want, cases[i].want);
        CHECK_TEXT(cases[i].path, x.error, strbuf_cstr(&want));
        strbuf_fini(&want);
        stop();
    }
}

TEST(nobody_is_there)
{
    begin(false);
    add("http", "/x");
    port = 1; /* privileged, and nobody has it here */
    add("http", "/none");
    configs[1].http_timeout_ns = 5ll * CLOCK_NS_PER_SECOND;
    start();
    CHECK_TEXT("refused", ask(1, EXTENDER_FILTER).error,
               "Post \"http://127.0.0.1:1/none/filter\": dial tcp 127.0.0.1:1: connect: connection refused");
    configs[1].url_prefix = STR("nonsense");
    CHECK(str_starts(str_of(ask(1, EXTENDER_FILTER).error), STR("Post \"nonsense/filter\": ")));
    CHECK(!ask(0, EXTENDER_FILTER).error);
    stop();
}

TEST(binding_does_not_wait)
{
    begin(false);
    add("http", "/hold");
    add("http", "/base");
    start();
    const struct pod *placed = pod_with_node(&syms, pod, sym_intern(&syms, STR("n1")));
    struct extender_request r = request(0, EXTENDER_BIND);
    struct extender_answer x;
    r.pod = placed;
    r.ticket = 7;
    extender_calls_ask(calls, &r, 1, &x); /* is never answered, and yet this returns */
    r.extender = &extenders[1];
    r.ticket = 8;
    extender_calls_ask(calls, &r, 1, &x);
    while (!n_bound)
        bell_wait(&bound_bell, -1);
    CHECK_INT("ticket", bound_ticket, 8);
    CHECK_TEXT("error", bound_error, "not now");
    pod_unref(&syms, placed);
    stop();
    CHECK_INT("the other one ends with the client", n_bound, 2);
    CHECK_INT("ticket", bound_ticket, 7);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

TEST(who_may_not_act_binds_nothing)
{
    begin(false);
    add("http", "/base");
    start();
    const struct pod *placed = pod_with_node(&syms, pod, sym_intern(&syms, STR("n1")));
    struct extender_request r = request(0, EXTENDER_BIND);
    struct extender_answer x;
    r.pod = placed;
    r.ticket = 9;
    int n_before = n_requests;
    extender_calls_guard(calls, never, NULL);
    extender_calls_ask(calls, &r, 1, &x);
    while (!n_bound)
        bell_wait(&bound_bell, -1);
    CHECK_TEXT("error", bound_error, "this process may not lead any more");
    CHECK_INT("nobody was asked", n_requests, n_before);
    CHECK(!ask(0, EXTENDER_FILTER).error);
    pod_unref(&syms, placed);
    stop();
}

static void *end_calls(void *unused)
{
    (void)unused;
    while (!n_held)
        usleep(1000);
    extender_calls_end(calls);
    return NULL;
}

TEST(the_end_ends_every_wait)
{
    begin(false);
    add("http", "/hold");
    start();
    pthread_t ender;
    CHECK(!pthread_create(&ender, NULL, end_calls, NULL));
    CHECK(ask(0, EXTENDER_FILTER).error); /* its time is 30 s, and a test's a minute */
    CHECK(ask(0, EXTENDER_FILTER).error);
    CHECK(ask(0, EXTENDER_FILTER).error);
    pthread_join(ender, NULL);
    stop();
}

TEST(a_late_answer_is_not_taken_for_another)
{
    begin(false);
    add("http", "/hold");
    add("http", "/base");
    start();
    struct extender_request r = request(0, EXTENDER_FILTER);
    struct extender_answer x;
    extender_calls_end(calls);
    extender_calls_ask(calls, &r, 1, &x);
    CHECK(x.error);
    stop(); /* it comes back now, and is freed */
    CHECK_INT("requests", n_requests <= 1, 1);
}

TEST(the_loop_is_gone)
{
    begin(false);
    add("http", "/base");
    configs[0].http_timeout_ns = 10 * CLOCK_NS_PER_MS;
    start();
    loop_stop(loop);
    pthread_join(thread, NULL);
    CHECK_TEXT("error", ask(0, EXTENDER_FILTER).error,
               arena_printf(&arena, "Post \"http://127.0.0.1:%d/base/filter\": context deadline exceeded (Client.Timeout "
                            "exceeded while awaiting headers)", port));
    CHECK(!pthread_create(&thread, NULL, run_loop, NULL));
    stop();
}

TEST(a_pod_that_is_not_known_as_a_whole)
{
    begin(false);
    add("http", "/base");
    start();
    raw_objects_remove_pod(raw, "u");
    CHECK_TEXT("error", ask(0, EXTENDER_FILTER).error, "pod \"u\" is not known as a whole");
    CHECK_INT("requests", n_requests, 0);
    stop();
}

TEST(tls_as_configured)
{
    begin(true);
    struct str client_cert, client_key;
    make_cert("a scheduler", &client_cert, &client_key);
    add("https", "/unverified")->enable_https = true;
    add("https", "/unknown"); /* the system's authorities */
    tls_of[2] = (struct extender_tls){ .ca_data = server_cert, .server_name = STR("extender.example"),
                                       .cert_data = client_cert, .key_data = client_key };
    struct extender_config *c = add("https", "/verified");
    c->enable_https = true;
    c->tls = &tls_of[2];
    tls_of[3] = (struct extender_tls){ .ca_data = server_cert };
    add("https", "/other-name")->tls = &tls_of[3];
    start();
    CHECK(!ask(0, EXTENDER_FILTER).error);
    CHECK(!ask(2, EXTENDER_FILTER).error);
    CHECK(strstr(seen[1], "from a scheduler\n"));
    CHECK(!strstr(seen[0], "from "));
    const char *unknown = ask(1, EXTENDER_FILTER).error, *other = ask(3, EXTENDER_FILTER).error;
    CHECK(strstr(unknown, "/unknown/filter\": tls: ") && strstr(other, "/other-name/filter\": tls: "));
    CHECK_INT("requests", n_requests, 2);
    stop();
}

TEST(configurations_that_cannot_be)
{
    begin(false);
    tls_of[0] = (struct extender_tls){ .insecure = true, .ca_data = STR("x") };
    add("https", "/a")->tls = &tls_of[0];
    CHECK(make_client());
    CHECK(strstr(error.message, "/a: specifying a root certificates file with the insecure flag is not allowed"));
    tls_of[0] = (struct extender_tls){ .ca_data = STR("no certificate") };
    CHECK(make_client());
    tls_of[0] = (struct extender_tls){ .ca_file = STR("/does/not/exist") };
    CHECK(make_client());
    CHECK(strstr(error.message, "/does/not/exist"));
}
