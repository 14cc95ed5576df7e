/* HTTP/2 without sockets: floods of every kind, limits, times, shutdown; both ends against each other. */
#include <stdlib.h>

#include "http/h2_guard.h"
#include "tests/http_peer.h"
#include "tests/test.h"

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8 };
enum { NO_ERROR = 0, PROTOCOL_ERROR = 1, REFUSED_STREAM = 7, CANCEL = 8, ENHANCE_YOUR_CALM = 11 };

/* ---- Frames by hand ---- */

static void add_frame(struct strbuf *to, uint8_t type, uint8_t flags, uint32_t id, struct str payload)
{
    const uint8_t head[] = { (uint8_t)(payload.n >> 16), (uint8_t)(payload.n >> 8), (uint8_t)payload.n, type, flags,
                             (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id };
    strbuf_add(to, head, sizeof(head));
    strbuf_add_str(to, payload);
}

/* GET http://h/ from the static table, with the path as a literal. */
static void add_request(struct strbuf *to, uint32_t id, uint8_t flags, const char *path)
{
    struct strbuf block;
    strbuf_init(&block, STRBUF_NO_MAX);
    strbuf_add_text(&block, "\x82\x86\x41\x01h\x04");
    strbuf_add_char(&block, (char)strlen(path));
    strbuf_add_text(&block, path);
    add_frame(to, HEADERS, (uint8_t)(flags | END_HEADERS), id, strbuf_str(&block));
    strbuf_fini(&block);
}

static void greet(struct strbuf *to)
{
    STRBUF_ADD_LIT(to, H2_PREFACE);
    add_frame(to, SETTINGS, 0, 0, STR(""));
}

/* The error code of the first frame of this type in what was sent; -1 = none. */
static int64_t code_of(const struct peer *peer, uint8_t type)
{
    struct str rest = strbuf_str(&peer->sent);
    while (rest.n >= 9) {
        const uint8_t *p = (const uint8_t *)rest.p;
        size_t n = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];
        const uint8_t *code = p + 9 + (type == GOAWAY ? 4 : 0);
        if (p[3] == type && rest.n >= 9 + n)
            return (int64_t)code[0] << 24 | (int64_t)code[1] << 16 | (int64_t)code[2] << 8 | code[3];
        rest = str_from(rest, 9 + n);
    }
    return -1;
}

static int count_frames(const struct peer *peer, uint8_t type)
{
    struct str rest = strbuf_str(&peer->sent);
    int n_found = 0;
    while (rest.n >= 9) {
        const uint8_t *p = (const uint8_t *)rest.p;
        n_found += p[3] == type;
        rest = str_from(rest, 9 + ((size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2]));
    }
    return n_found;
}

/* ---- Floods ---- */

static void flood_resets(struct strbuf *to, uint32_t i)
{
    add_request(to, 2 * i + 1, END_STREAM, "/never");
    add_frame(to, RST_STREAM, 0, 2 * i + 1, STR("\0\0\0\x08"));
}

static void flood_pings(struct strbuf *to, uint32_t i)
{
    (void)i;
    add_frame(to, PING, 0, 0, STR("12345678"));
}

static void flood_settings(struct strbuf *to, uint32_t i)
{
    (void)i;
    add_frame(to, SETTINGS, 0, 0, STR(""));
}

static void flood_priorities(struct strbuf *to, uint32_t i)
{
    add_frame(to, PRIORITY, 0, 2 * i + 1, STR("\0\0\0\0\x10"));
}

static void flood_unknown(struct strbuf *to, uint32_t i)
{
    add_frame(to, 0xee, 0, i, STR("x"));
}

static void flood_window_updates(struct strbuf *to, uint32_t i)
{
    (void)i;
    add_frame(to, WINDOW_UPDATE, 0, 0, STR("\0\0\0\x01"));
}

static void flood_empty_data(struct strbuf *to, uint32_t i)
{
    if (i == 0)
        add_request(to, 1, 0, "/later");
    add_frame(to, DATA, 0, 1, STR(""));
}

static void flood_padded_data(struct strbuf *to, uint32_t i)
{
    if (i == 0)
        add_request(to, 1, 0, "/later");
    add_frame(to, DATA, PADDED, 1, STR("\x03\0\0\0"));
}

static void flood_continuations(struct strbuf *to, uint32_t i)
{
    if (i == 0)
        add_frame(to, HEADERS, 0, 1, STR("\x82\x86"));
    add_frame(to, CONTINUATION, 0, 1, STR("\x00\x01y\x01z"));
}

static void flood_empty_continuations(struct strbuf *to, uint32_t i)
{
    if (i == 0)
        add_frame(to, HEADERS, 0, 1, STR("\x82\x86"));
    add_frame(to, CONTINUATION, 0, 1, STR(""));
}

static void flood_header_block(struct strbuf *to, uint32_t i)
{
    static char much[16000];
    add_frame(to, i ? CONTINUATION : HEADERS, 0, 1, (struct str){ much, sizeof(much) });
}

/* Makes the server reset: a request that is malformed costs the peer no reset of its own. */
static void flood_malformed(struct strbuf *to, uint32_t i)
{
    add_frame(to, HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, STR("\x82\x86\x84\x41\x01h\x00\x01X\x01y"));
}

/* Window updates beyond the maximum make the server reset streams that it serves. */
static void flood_made_resets(struct strbuf *to, uint32_t i)
{
    add_request(to, 2 * i + 1, END_STREAM, "/never");
    add_frame(to, WINDOW_UPDATE, 0, 2 * i + 1, STR("\x7f\xff\xff\xff"));
}

TEST(every_kind_of_flood_ends_with_a_goaway_that_says_calm_down)
{
    static const struct {
        const char *limit;
        void (*add)(struct strbuf *to, uint32_t i);
    } rows[] = {
        { "resets", flood_resets }, { "pings", flood_pings }, { "settings", flood_settings },
        { "priorities", flood_priorities }, { "priorities", flood_unknown }, { "window_updates", flood_window_updates },
        { "empty_frames", flood_empty_data }, { "empty_frames", flood_padded_data }, { "continuations",
                                                                                       flood_continuations },
        { "continuations", flood_empty_continuations }, { "header_block_bytes", flood_header_block },
        { "refused", flood_malformed }, { "refused", flood_made_resets },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct peer peer;
        struct strbuf bytes;
        peer_init(&peer, true, true);
        strbuf_init(&bytes, STRBUF_NO_MAX);
        greet(&bytes);
        size_t most_unsent = 0;
        uint32_t n = 0;
        for (; n < 20000 && !peer_ended(&peer); n++) {
            rows[i].add(&bytes, n);
            peer_feed(&peer, strbuf_str(&bytes), 0);
            strbuf_reset(&bytes);
            if (n % 100 == 0 && code_of(&peer, GOAWAY) < 0) {
                most_unsent = peer.sent.n > most_unsent ? peer.sent.n : most_unsent;
                strbuf_reset(&peer.sent); /* a peer that reads */
            }
        }
        if (code_of(&peer, GOAWAY) != ENHANCE_YOUR_CALM)
            FAIL("%s: after %u GOAWAY has code %lld, %s", rows[i].limit, n, (long long)code_of(&peer, GOAWAY),
                 peer.p->error);
        if (!strstr(peer.p->error, rows[i].limit))
            FAIL("%s: %s", rows[i].limit, peer.p->error);
        CHECK(peer_ended(&peer));
        CHECK(peer.p->n_streams <= peer.limits.streams);
        peer_fini(&peer);
        strbuf_fini(&bytes);
    }
}

TEST(what_well_behaved_peers_do_passes_no_limit_however_long)
{
    struct peer peer;
    struct strbuf bytes;
    peer_init(&peer, true, true);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    greet(&bytes);
    for (uint32_t i = 0; i < 5000; i++) {
        add_request(&bytes, 2 * i + 1, END_STREAM, i % 10 ? "/x" : "/never");
        if (i % 10 == 0)
            add_frame(&bytes, RST_STREAM, 0, 2 * i + 1, STR("\0\0\0\x08"));
        if (i % 50 == 0)
            flood_pings(&bytes, i);
        add_frame(&bytes, WINDOW_UPDATE, 0, 0, STR("\0\0\0\x10"));
        peer_feed(&peer, strbuf_str(&bytes), 0);
        strbuf_reset(&bytes);
        strbuf_reset(&peer.sent);
        peer_advance(&peer, 10);
    }
    CHECK_TEXT("no error", peer.p->error, "");
    CHECK_INT("all requests", peer.n_requests, 5000);
    CHECK_INT("all over", peer.n_closed, 5000);
    peer_fini(&peer);
    strbuf_fini(&bytes);
}

TEST(budgets_refill_with_time)
{
    struct h2_guard g;
    h2_guard_init(&g, &http_server_limits, 0, 1000);
    for (uint32_t i = 0; i < http_server_limits.resets.burst; i++)
        CHECK(!h2_guard_count(&g, H2_RESETS, 1000));
    CHECK_TEXT("empty", h2_guard_count(&g, H2_RESETS, 1000), "resets");
    CHECK(!h2_guard_count(&g, H2_RESETS, 2100));
    CHECK(!h2_guard_count(&g, H2_PINGS, 2100));
}

/* ---- Limits that are answered ---- */

TEST(too_many_streams_are_refused_and_the_others_go_on)
{
    struct peer peer;
    struct strbuf bytes;
    peer_init(&peer, true, true);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    greet(&bytes);
    add_frame(&bytes, SETTINGS, ACK, 0, STR(""));
    for (uint32_t i = 0; i < peer.limits.streams; i++)
        add_request(&bytes, 2 * i + 1, END_STREAM, "/never");
    peer_feed(&peer, strbuf_str(&bytes), 0);
    CHECK_INT("all open", peer.p->n_streams, peer.limits.streams);
    CHECK_INT("no reset yet", count_frames(&peer, RST_STREAM), 0);
    strbuf_reset(&bytes);
    add_request(&bytes, 2 * peer.limits.streams + 1, END_STREAM, "/one-more");
    peer_feed(&peer, strbuf_str(&bytes), 0);
    CHECK_INT("not served", peer.n_requests, peer.limits.streams);
    CHECK(code_of(&peer, RST_STREAM) == REFUSED_STREAM || code_of(&peer, GOAWAY) == PROTOCOL_ERROR);
    peer_fini(&peer);
    strbuf_fini(&bytes);
}

TEST(heads_that_are_too_large_are_answered)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    server.limits.head_bytes = 1000;
    server.limits.target_bytes = 500;
    char target[801];
    memset(target, 'a', sizeof(target));
    target[0] = '/';
    target[800] = 0;
    peer_request(&client, "GET", target, "");
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&client.log), "head 414"));
    server.limits.head_bytes = 700;
    peer_request(&client, "GET", target, "");
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&client.log), "head 431"));
    CHECK_INT("nobody was asked", server.n_requests, 0);
    target[100] = 0;
    peer_request(&client, "GET", target, "");
    peer_connect(&client, &server);
    CHECK_INT("the connection lives", server.n_requests, 1);
    peer_fini(&client);
    peer_fini(&server);
}

/* ---- Time ---- */

TEST(a_peer_that_gives_no_window_loses_the_stream_and_not_the_connection)
{
    struct peer client, server;
    peer_init(&client, false, true);
    client.limits.read_idle_ms = 0;
    peer_init(&server, true, true);
    client.hold = true; /* never consumes */
    peer_request(&client, "GET", "/big/3000000", "");
    peer_connect(&client, &server);
    CHECK_INT("blocked", server.n_closed, 0);
    client.hold = false;
    peer_request(&client, "GET", "/other", "");
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&client.log), "GET /other"));
    CHECK_INT("the other went by", client.n_closed, 1);
    peer_advance(&server, server.limits.write_stall_ms);
    peer_connect(&client, &server);
    CHECK_INT("cut", server.p->n_streams, 0);
    CHECK_INT("cut", client.n_closed, 2);
    peer_request(&client, "GET", "/again", "");
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&client.log), "GET /again"));
    peer_fini(&client);
    peer_fini(&server);
}

TEST(slow_header_blocks_silent_and_idle_connections_are_ended)
{
    struct peer peer;
    struct strbuf bytes;
    strbuf_init(&bytes, STRBUF_NO_MAX);
    peer_init(&peer, true, true);
    peer_advance(&peer, peer.limits.head_ms);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);

    peer_init(&peer, true, true);
    greet(&bytes);
    add_frame(&bytes, HEADERS, 0, 1, STR("\x82\x86"));
    peer_feed(&peer, strbuf_str(&bytes), 0);
    peer_advance(&peer, peer.limits.head_ms - 1);
    CHECK(!peer_ended(&peer));
    peer_advance(&peer, 1);
    CHECK_INT("calm", code_of(&peer, GOAWAY), ENHANCE_YOUR_CALM);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);

    peer_init(&peer, true, true);
    strbuf_reset(&bytes);
    greet(&bytes);
    add_request(&bytes, 1, END_STREAM, "/");
    peer_feed(&peer, strbuf_str(&bytes), 0);
    peer_advance(&peer, peer.limits.idle_ms - 1);
    CHECK(!peer_ended(&peer));
    peer_advance(&peer, 1);
    CHECK_INT("good-bye", code_of(&peer, GOAWAY), NO_ERROR);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);

    peer_init(&peer, true, true);
    strbuf_reset(&bytes);
    greet(&bytes);
    add_request(&bytes, 1, 0, "/p"); /* the body never comes */
    add_request(&bytes, 3, END_STREAM, "/never");
    peer_feed(&peer, strbuf_str(&bytes), 0);
    peer_advance(&peer, peer.limits.request_ms);
    CHECK_INT("reset", code_of(&peer, RST_STREAM), CANCEL);
    CHECK_INT("the other waits on", peer.p->n_streams, 1);
    peer_fini(&peer);
    strbuf_fini(&bytes);
}

TEST(a_client_asks_a_silent_server_whether_it_is_there)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    peer_request(&client, "GET", "/never", "");
    peer_connect(&client, &server);
    peer_advance(&client, client.limits.read_idle_ms);
    CHECK_INT("asked", count_frames(&client, PING), 1);
    peer_connect(&client, &server);
    for (int i = 0; i < 10; i++) {
        peer_advance(&client, client.limits.read_idle_ms);
        peer_connect(&client, &server);
    }
    CHECK(!peer_ended(&client));
    peer_advance(&client, client.limits.read_idle_ms);
    peer_advance(&client, client.limits.ping_ms);
    CHECK(client.p->lost);
    CHECK(strstr(strbuf_cstr(&client.log), "closed 5 http/2: no answer to a PING"));
    peer_fini(&client);
    peer_fini(&server);
}

/* ---- Both ends ---- */

TEST(many_exchanges_share_a_connection)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    peer_connect(&client, &server);
    for (int i = 0; i < 200; i++)
        peer_request(&client, "POST", "/a", "some body");
    struct stream *s = peer_request(&client, "PUT", "/streamed", NULL);
    struct headers trailers = { 0 };
    peer_connect(&client, &server);
    stream_write(s, STR("one "));
    peer_connect(&client, &server);
    stream_write(s, STR("two"));
    headers_add(&trailers, stream_arena(s), STR("x-sum"), STR("7"));
    stream_end(s, &trailers);
    peer_connect(&client, &server);
    CHECK_INT("all", client.n_closed, 201);
    CHECK(strstr(strbuf_cstr(&client.log), "body PUT /streamed one two\ntrailer x-sum: 7\nclosed 0 \n"));
    peer_fini(&client);
    peer_fini(&server);
}

TEST(a_client_respects_the_number_of_streams_that_the_server_allows)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    peer_connect(&client, &server);
    uint32_t n = 0;
    for (; client.p->ops->has_room(client.p); n++)
        peer_request(&client, "GET", "/never", "");
    CHECK_INT("as many", n, server.limits.streams);
    peer_connect(&client, &server);
    CHECK_INT("none refused", server.n_requests, n);
    peer_fini(&client);
    peer_fini(&server);
}

TEST(unread_bodies_stop_at_the_window)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    server.hold = true;
    peer_connect(&client, &server);
    struct stream *s = peer_request(&client, "POST", "/later", NULL);
    static char block[65536];
    uint64_t n_written = 0;
    for (bool more = true; more; peer_connect(&client, &server)) {
        more = stream_write(s, (struct str){ block, sizeof(block) });
        n_written += more ? sizeof(block) : 0;
    }
    CHECK(n_written >= server.limits.in_window_bytes);
    CHECK(n_written <= server.limits.in_window_bytes + client.limits.out_bytes + 2 * sizeof(block));
    peer_fini(&client);
    peer_fini(&server);
}

TEST(cancelled_exchanges_are_reset_on_both_sides)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    struct stream *s = peer_request(&client, "GET", "/never", "");
    peer_connect(&client, &server);
    free(stream_user(s));
    stream_cancel(s);
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&server.log), "closed 3 http/2: stream reset: CANCEL"));
    CHECK_INT("no event for who cancelled", client.n_closed, 0);
    peer_request(&client, "POST", "/cancel", "abc");
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&client.log), "closed 3 http/2: stream reset: CANCEL"));
    CHECK(!peer_ended(&client) && !peer_ended(&server));
    peer_fini(&client);
    peer_fini(&server);
}

TEST(shutdown_takes_what_is_under_way_and_nothing_more)
{
    struct peer client, server;
    peer_init(&client, false, true);
    peer_init(&server, true, true);
    peer_request(&client, "GET", "/later", "");
    peer_connect(&client, &server);
    server.p->ops->shutdown(server.p);
    peer_connect(&client, &server);
    CHECK(!client.p->ops->has_room(client.p));
    CHECK(!peer_ended(&server));
    peer_advance(&server, 1000);
    peer_answer(&server, "last");
    peer_connect(&client, &server);
    CHECK(strstr(strbuf_cstr(&client.log), "body last\nclosed 0"));
    CHECK(peer_ended(&server));
    CHECK(peer_ended(&client));
    peer_fini(&client);
    peer_fini(&server);
}

TEST(streams_after_the_last_of_a_goaway_were_not_processed)
{
    struct peer client;
    struct strbuf bytes;
    peer_init(&client, false, true);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    add_frame(&bytes, SETTINGS, 0, 0, STR(""));
    peer_request(&client, "GET", "/1", "");
    peer_request(&client, "GET", "/3", "");
    add_frame(&bytes, GOAWAY, 0, 0, STR("\0\0\0\x01\0\0\0\0"));
    peer_feed(&client, strbuf_str(&bytes), 0);
    CHECK_TEXT("one is refused", strbuf_cstr(&client.log), "closed 2 http/2: the peer refused the stream\n");
    CHECK_INT("the other goes on", client.p->n_streams, 1);
    peer_fini(&client);
    strbuf_fini(&bytes);
}

TEST(two_readings_of_the_host_are_refused)
{
    struct peer peer;
    struct strbuf bytes;
    peer_init(&peer, true, true);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    greet(&bytes);
    add_frame(&bytes, HEADERS, END_HEADERS | END_STREAM, 1, STR("\x82\x86\x84\x41\x01h\x00\x04host\x01i"));
    peer_feed(&peer, strbuf_str(&bytes), 0);
    CHECK_INT("nobody was asked", peer.n_requests, 0);
    peer_fini(&peer);
    strbuf_fini(&bytes);
}

TEST(an_answer_may_be_the_last_of_its_connection)
{
    struct peer peer;
    struct strbuf bytes;
    peer_init(&peer, true, true);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    greet(&bytes);
    add_request(&bytes, 1, END_STREAM, "/never");
    add_request(&bytes, 3, END_STREAM, "/close");
    peer_feed(&peer, strbuf_str(&bytes), 0);
    CHECK_INT("good-bye", code_of(&peer, GOAWAY), NO_ERROR);
    CHECK(!peer_ended(&peer));
    strbuf_reset(&bytes);
    add_request(&bytes, 5, END_STREAM, "/");
    peer_feed(&peer, strbuf_str(&bytes), 0);
    CHECK_INT("none is taken any more", peer.n_requests, 2);
    peer_answer(&peer, "what was at hand is answered");
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
    strbuf_fini(&bytes);
}

TEST(garbage_instead_of_a_greeting_ends_the_connection)
{
    struct peer peer;
    peer_init(&peer, true, true);
    peer_feed(&peer, STR("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
    peer_init(&peer, false, true);
    peer_request(&peer, "GET", "/", "");
    peer_feed(&peer, STR("HTTP/1.1 400 Bad Request\r\n\r\n"), 0);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
}
