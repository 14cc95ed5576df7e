/* Leader election: client/election.c against a Lease that a small server in this file keeps, with a clock moved by hand. */
#include "client/election.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/vec.h"
#include "tests/test.h"

enum { LEASE_MS = 15000, DEADLINE_MS = 10000, RETRY_MS = 2000, PEERS_MAX = 3 };

/* ---- A server with one Lease ---- */

struct pending {
    api_call call;
    struct peer *from;
    api_done done;
    void *context;
    char *method, *body;
    int64_t arrives_ms, answers_ms; /* at the server; back again */
    int64_t expires_ms;
    int status;
    char *answer;
    bool handled, lost_request, lost_answer;
};

struct server {
    struct clock_manual clock;
    char *lease; /* JSON; NULL: none */
    unsigned version;
    VEC(struct pending) calls;
    api_call last_call;
    struct rand rand;
    int loss_percent;      /* of requests, and of answers */
    int64_t delay_ms_max;
    int fail_status; /* instead of doing anything; 0: none */
};

struct peer {
    struct server *server;
    struct api api;
    struct election *election;
    bool leading, released;
    int n_leading, n_lost;
    char leader[64];
};

static struct server server;

static int64_t now_ms(void)
{
    return clock_mono_ms(&server.clock.clock);
}

static api_call server_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    struct peer *p = context;
    CHECK_INT("lane", r->lane, API_LANE_LEASE);
    struct pending c = { .call = ++server.last_call, .from = p, .done = done, .context = done_context,
                         .method = strdup(r->method), .body = strndup(r->body.p ? r->body.p : "", r->body.n) };
    int64_t most = server.delay_ms_max + 1;
    c.arrives_ms = now_ms() + (int64_t)rand_below(&server.rand, (uint64_t)most);
    c.answers_ms = c.arrives_ms + (int64_t)rand_below(&server.rand, (uint64_t)most);
    c.expires_ms = now_ms() + r->timeout_ms;
    c.lost_request = (int)rand_below(&server.rand, 100) < server.loss_percent;
    c.lost_answer = (int)rand_below(&server.rand, 100) < server.loss_percent;
    vec_push(&server.calls, c);
    return c.call;
}

/* The request goes on its way; nobody hears of it any more. */
static void server_cancel(void *context, api_call call)
{
    (void)context;
    for (size_t i = 0; i < server.calls.n; i++)
        if (server.calls.at[i].call == call)
            server.calls.at[i].done = NULL;
}

static unsigned version_in(const char *body)
{
    const char *at = strstr(body, "\"resourceVersion\":\"");
    return at ? (unsigned)atoi(at + 19) : 0;
}

static char *with_version(const char *body, unsigned version)
{
    char *text;
    const char *meta = strstr(body, "\"metadata\":{"), *old = strstr(body, "\"resourceVersion\":\"");
    if (old) {
        const char *end = strchr(old + 19, '"');
        CHECK(asprintf(&text, "%.*s\"resourceVersion\":\"%u%s", (int)(old - body), body, version, end) > 0);
    } else {
        meta += 12;
        CHECK(asprintf(&text, "%.*s\"resourceVersion\":\"%u\",%s", (int)(meta - body), body, version, meta) > 0);
    }
    return text;
}

static void store(struct pending *c, int status)
{
    free(server.lease);
    server.lease = with_version(c->body, ++server.version);
    c->status = status;
    c->answer = strdup(server.lease);
}

static void handle(struct pending *c)
{
    c->handled = true;
    c->answer = NULL;
    if (server.fail_status) {
        c->status = server.fail_status;
    } else if (strcmp(c->method, "GET") == 0) {
        c->status = server.lease ? 200 : 404;
        c->answer = server.lease ? strdup(server.lease) : NULL;
    } else if (strcmp(c->method, "POST") == 0) {
        c->status = 409;
        if (!server.lease)
            store(c, 201);
    } else if (!server.lease) {
        c->status = 404;
    } else {
        c->status = 409;
        if (version_in(c->body) == server.version)
            store(c, 200);
    }
}

static void drop(size_t i)
{
    struct pending c = server.calls.at[i];
    vec_remove(&server.calls, i);
    free(c.method);
    free(c.body);
    free(c.answer);
}

/* Everything that has arrived by now; answers may cause new requests. */
static void serve(void)
{
    for (size_t i = 0; i < server.calls.n; i++) {
        struct pending *c = &server.calls.at[i];
        if (!c->handled && !c->lost_request && c->arrives_ms <= now_ms())
            handle(c);
    }
    for (size_t i = 0; i < server.calls.n; i++) {
        struct pending c = server.calls.at[i];
        bool answered = c.handled && !c.lost_answer && c.answers_ms <= now_ms();
        if (!answered && c.expires_ms > now_ms())
            continue;
        struct api_answer a = { .status = answered ? c.status : 0, .error = answered ? NULL : "timed out",
                                .body = str_of(c.answer ? c.answer : "{}") };
        struct pending keep = c;
        server.calls.at[i].done = NULL;
        server.calls.at[i].expires_ms = INT64_MAX;
        if (c.handled) {
            char *text = keep.answer;
            server.calls.at[i].answer = NULL;
            drop(i);
            if (keep.done)
                keep.done(keep.context, &a);
            free(text);
        } else {
            server.calls.at[i].lost_answer = true; /* it may still arrive */
            if (keep.done)
                keep.done(keep.context, &a);
        }
        i = (size_t)-1;
    }
}

/* ---- Those who want it ---- */

static void on_leading(void *context)
{
    struct peer *p = context;
    p->leading = true;
    p->n_leading++;
}

static void on_lost(void *context)
{
    struct peer *p = context;
    p->leading = false;
    p->n_lost++;
}

static void on_leader(void *context, struct str identity)
{
    struct peer *p = context;
    snprintf(p->leader, sizeof(p->leader), "%.*s", STR_ARG(identity));
}

static void on_released(void *context)
{
    struct peer *p = context;
    p->released = true;
    p->leading = false;
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static void begin(uint64_t seed)
{
    log_set_sink(quiet, NULL);
    server = (struct server){ 0 };
    clock_manual_init(&server.clock, 1000000000, 1700000000ll * 1000000000 + 123456789);
    rand_init(&server.rand, seed);
}

static void end(void)
{
    while (server.calls.n)
        drop(0);
    vec_fini(&server.calls);
    free(server.lease);
}

static void peer_init(struct peer *p, const char *identity)
{
    *p = (struct peer){ .server = &server };
    p->api = (struct api){ .context = p, .media = MEDIA_JSON, .send = server_send, .cancel = server_cancel };
    p->election = election_new(&(struct election_options){
        .api = &p->api, .clock = &server.clock.clock, .identity = identity, .ns = "kube-system", .name = "kube-scheduler",
        .lease_ms = LEASE_MS, .deadline_ms = DEADLINE_MS, .retry_ms = RETRY_MS,
        .calls = { p, on_leading, on_lost, on_leader, on_released }, .seed = rand_u64(&server.rand) });
}

/* Lets time pass in small steps. */
static void pass(struct peer *const *peers, int n, int64_t ms)
{
    for (int64_t t = 0; t <= ms; t += 10) {
        serve();
        for (int i = 0; i < n; i++)
            if (election_due_ms(peers[i]->election) <= now_ms())
                election_tick(peers[i]->election);
        serve();
        if (t + 10 <= ms)
            clock_manual_advance(&server.clock, 10 * CLOCK_NS_PER_MS);
    }
}

static bool lease_has(const char *text)
{
    return server.lease && strstr(server.lease, text);
}

TEST(the_first_makes_the_lease_and_renews_it)
{
    begin(1);
    struct peer a, *both[] = { &a };
    peer_init(&a, "a_1");
    election_start(a.election);
    CHECK(!election_may_act(a.election));
    pass(both, 1, 10);
    CHECK(a.leading && election_is_leader(a.election));
    CHECK_TEXT("leader", a.leader, "a_1");
    CHECK_INT("created, and renewed at once", server.version, 2);
    CHECK(lease_has("\"spec\":{\"holderIdentity\":\"a_1\",\"leaseDurationSeconds\":15,"
                    "\"acquireTime\":\"2023-11-14T22:13:20.123456Z\",\"renewTime\":\"2023-11-14T22:13:20.133456Z\","
                    "\"leaseTransitions\":0}"));
    CHECK(election_may_act(a.election));
    CHECK(lease_has("\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\""));
    pass(both, 1, 2000);
    CHECK_INT("renewed every two seconds", server.version, 3);
    CHECK(lease_has("\"renewTime\":\"2023-11-14T22:13:22.133456Z\""));
    CHECK(lease_has("\"acquireTime\":\"2023-11-14T22:13:20.123456Z\""));
    struct arena arena;
    arena_init(&arena);
    CHECK_STR("version", election_event(a.election, &arena, STR("r")).regarding.resource_version, STR("3"));
    arena_fini(&arena);
    CHECK_INT("without reading it", election_slow_paths(a.election), 0);
    election_release(a.election);
    pass(both, 1, 0);
    CHECK(a.released && !a.leading);
    CHECK(lease_has("\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,"));
    CHECK(lease_has("\"leaseTransitions\":0}"));
    election_free(a.election);
    end();
}

TEST(a_second_waits_until_the_first_is_silent_for_the_lease_time)
{
    begin(2);
    struct peer a, b, *both[] = { &a, &b };
    peer_init(&a, "a_1");
    peer_init(&b, "b_2");
    election_start(a.election);
    pass(both, 1, 0);
    election_start(b.election);
    pass(both, 2, 60000);
    CHECK(a.leading && !b.leading);
    CHECK_TEXT("b sees a", b.leader, "a_1");
    pass(both + 1, 1, LEASE_MS - 2500); /* a stands still */
    CHECK(!b.leading);
    pass(both + 1, 1, 2500 + RETRY_MS * 22 / 10 + 2000);
    CHECK(b.leading);
    CHECK(lease_has("\"holderIdentity\":\"b_2\"") && lease_has("\"leaseTransitions\":1}"));
    CHECK_TEXT("b sees itself", b.leader, "b_2");
    CHECK(a.leading && !election_may_act(a.election)); /* a does not know yet, but keeps its hands still */
    CHECK(election_may_act(b.election));
    pass(both, 2, DEADLINE_MS + 20);
    CHECK_INT("a lost it", a.n_lost, 1);
    CHECK(a.released && b.leading);
    CHECK(lease_has("\"holderIdentity\":\"b_2\"")); /* a gave nothing away */
    election_free(a.election);
    election_free(b.election);
    end();
}

TEST(a_lease_that_was_given_back_is_taken_at_once)
{
    begin(3);
    struct peer a, b, *both[] = { &a, &b };
    peer_init(&a, "a_1");
    peer_init(&b, "b_2");
    election_start(a.election);
    pass(both, 1, 10);
    election_start(b.election);
    pass(both, 2, 5000);
    election_release(a.election);
    pass(both, 2, RETRY_MS * 22 / 10 + 100);
    CHECK(a.released && b.leading);
    CHECK(lease_has("\"leaseTransitions\":1}"));
    election_free(a.election);
    election_free(b.election);
    end();
}

TEST(somebody_else_touched_the_lease_and_it_is_read_again)
{
    begin(4);
    struct peer a, *both[] = { &a };
    peer_init(&a, "a_1");
    election_start(a.election);
    pass(both, 1, 100);
    char *touched = with_version(server.lease, ++server.version);
    free(server.lease);
    server.lease = touched;
    pass(both, 1, 2500);
    CHECK(a.leading);
    CHECK_INT("slow path", election_slow_paths(a.election), 1);
    CHECK(lease_has("\"leaseTransitions\":0}"));
    election_free(a.election);
    end();
}

TEST(a_thief_ends_it)
{
    begin(5);
    struct peer a, *both[] = { &a };
    peer_init(&a, "a_1");
    election_start(a.election);
    pass(both, 1, 100);
    char *stolen = with_version(server.lease, ++server.version);
    memcpy(strstr(stolen, "a_1"), "x_9", 3);
    free(server.lease);
    server.lease = stolen;
    pass(both, 1, RETRY_MS + DEADLINE_MS + 100);
    CHECK(!a.leading);
    CHECK_INT("lost", a.n_lost, 1);
    CHECK(a.released && lease_has("x_9"));
    CHECK_TEXT("sees the thief", a.leader, "x_9");
    election_free(a.election);
    end();
}

TEST(a_server_that_fails_for_the_deadline_ends_it)
{
    static const int statuses[] = { 500, 503, 429, 403 };
    for (unsigned i = 0; i < 4; i++) {
        begin(6 + i);
        struct peer a, *both[] = { &a };
        peer_init(&a, "a_1");
        election_start(a.election);
        pass(both, 1, 100);
        server.fail_status = statuses[i];
        pass(both, 1, RETRY_MS + DEADLINE_MS - 200);
        CHECK(a.leading);
        pass(both, 1, 400);
        CHECK(!a.leading && a.n_lost == 1 && a.released);
        CHECK(election_due_ms(a.election) == INT64_MAX);
        election_free(a.election);
        end();
    }
}

TEST(garbage_is_no_lease)
{
    begin(20);
    struct peer a, *both[] = { &a };
    peer_init(&a, "a_1");
    server.lease = strdup("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}");
    election_start(a.election);
    pass(both, 1, 6000);
    CHECK(!a.leading);
    free(server.lease);
    server.lease = strdup("[");
    pass(both, 1, 6000);
    CHECK(!a.leading);
    free(server.lease);
    server.lease = NULL;
    pass(both, 1, 6000);
    CHECK(a.leading);
    election_free(a.election);
    end();
}

/* However requests are delayed and lost, and processes stand still, two never act at once, and in the end one leads. */
TEST(never_two_leaders)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        begin(seed);
        struct peer peers[PEERS_MAX], *all[PEERS_MAX];
        static const char *const names[] = { "a_1", "b_2", "c_3" };
        for (int i = 0; i < PEERS_MAX; i++) {
            peer_init(all[i] = &peers[i], names[i]);
            election_start(peers[i].election);
        }
        server.loss_percent = (int)(seed % 40);
        server.delay_ms_max = (int64_t)(seed * 37 % 1500);
        int asleep = -1;
        for (int step = 0; step < 1500; step++) {
            if (step % 100 == 0)
                asleep = rand_below(&server.rand, 3) ? -1 : (int)rand_below(&server.rand, PEERS_MAX);
            struct peer *awake[PEERS_MAX];
            int n = 0, n_awake = 0;
            for (int i = 0; i < PEERS_MAX; i++)
                if (i != asleep)
                    awake[n_awake++] = all[i];
            pass(awake, n_awake, 50);
            for (int i = 0; i < PEERS_MAX; i++)
                n += election_may_act(peers[i].election);
            if (n > 1)
                FAIL("seed %llu: %d leaders after %d steps", (unsigned long long)seed, n, step);
            for (int i = 0; i < PEERS_MAX; i++)
                if (peers[i].released) { /* a new process in its place */
                    election_free(peers[i].election);
                    peer_init(&peers[i], names[i]);
                    election_start(peers[i].election);
                }
        }
        server.loss_percent = 0;
        server.delay_ms_max = 0;
        pass(all, PEERS_MAX, 60000);
        CHECK_INT("one leads in the end", peers[0].leading + peers[1].leading + peers[2].leading, 1);
        for (int i = 0; i < PEERS_MAX; i++)
            election_free(peers[i].election);
        end();
    }
}
