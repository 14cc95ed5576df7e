/* HTTP/1 without sockets: what is taken, what is refused and how, order, limits, times; both ends against each other.
 * */
#include <stdlib.h>

#include "tests/http_peer.h"
#include "tests/test.h"

static const char *text_of(struct strbuf *b)
{
    return strbuf_cstr(b);
}

/* ---- Requests that are understood ---- */

TEST(requests_are_answered_in_pieces_of_any_size)
{
    static const struct {
        const char *what, *request, *log, *answer_end;
    } rows[] = {
        { "plain", "GET /a?b=c HTTP/1.1\r\nHost: h:1\r\n\r\n", "request GET h:1/a?b=c\n", "\r\n\r\nGET /a?b=c " },
        { "length", "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde", "request POST h/p\n",
          "POST /p abcde" },
        { "chunks", "PUT /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n"
                  "0\r\n\r\n",
          "request PUT h/p\n", "PUT /p abcde" },
        { "trailers", "PUT /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: v\r\n\r\n",
          "request PUT h/p\n", "0\r\nX-T: v\r\n\r\n" },
        { "absolute form", "GET http://other:80/x HTTP/1.1\r\nHost: h\r\n\r\n", "request GET other:80/x\n", "GET /x " },
        { "absolute form without path", "GET http://o?q HTTP/1.1\r\nHost: h\r\n\r\n", "request GET o/?q\n",
          "GET /?q " },
        { "asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "request OPTIONS h*\n", "OPTIONS * " },
        { "empty value", "GET / HTTP/1.1\r\nHost: h\r\nX-E:\r\n\r\n", "request GET h/\n", "GET / " },
        { "empty line before", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "request GET h/\n", "GET / " },
        { "answer before the body", "POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
          "request POST h/early\n", "early" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t n_piece = 0; n_piece < 4; n_piece++) {
            struct peer peer;
            peer_init(&peer, true, false);
            peer_feed(&peer, str_of(rows[i].request), n_piece);
            peer_feed(&peer, str_of("GET /next HTTP/1.1\r\nHost: h\r\n\r\n"), n_piece);
            if (!str_starts(strbuf_str(&peer.log), str_of(rows[i].log)))
                FAIL("%s: log is %s", rows[i].what, text_of(&peer.log));
            if (!strstr(text_of(&peer.sent), rows[i].answer_end))
                FAIL("%s: answer is %s", rows[i].what, text_of(&peer.sent));
            if (!strstr(text_of(&peer.sent), "GET /next "))
                FAIL("%s: the connection did not go on: %s", rows[i].what, text_of(&peer.sent));
            CHECK_INT(rows[i].what, peer.n_closed, 2);
            CHECK(!peer_ended(&peer));
            peer_fini(&peer);
        }
}

/* ---- Requests that are refused: each could be read in two ways, or is too much ---- */

#define H "Host: h\r\n"

TEST(ambiguous_and_oversized_requests_are_refused_and_nothing_after_them_is_read)
{
    static const struct {
        const char *what, *request;
        int status;
    } rows[] = {
        { "no version", "GET /\r\n" H "\r\n", 505 },
        { "HTTP/0.9 by name", "GET / HTTP/0.9\r\n" H "\r\n", 505 },
        { "HTTP/2 by name", "GET / HTTP/2.0\r\n" H "\r\n", 505 },
        { "HTTP/1.2", "GET / HTTP/1.2\r\n" H "\r\n", 505 },
        { "other protocol", "SOURCE / ICE/1.0\r\n" H "\r\n", 400 },
        { "bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", 505 },
        { "bare LF after a field", "GET / HTTP/1.1\r\nHost: h\n\r\n", 400 },
        { "bare LF at the end", "GET / HTTP/1.1\r\nHost: h\r\n\n", 400 },
        { "bare CR in a value", "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", 400 },
        { "NUL in a value", "GET / HTTP/1.1\r\nHost: h\r\nX: a\1b\r\n\r\n", 400 },
        { "length and chunks", "POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "0\r\n\r\n", 400 },
        { "chunks and length", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
                  "0\r\n\r\n", 400 },
        { "two lengths", "POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400 },
        { "the same length twice", "POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400 },
        { "lengths as a list", "POST / HTTP/1.1\r\n" H "Content-Length: 3, 3\r\n\r\nabc", 400 },
        { "length with a sign", "POST / HTTP/1.1\r\n" H "Content-Length: +3\r\n\r\nabc", 400 },
        { "negative length", "POST / HTTP/1.1\r\n" H "Content-Length: -3\r\n\r\nabc", 400 },
        { "hexadecimal length", "POST / HTTP/1.1\r\n" H "Content-Length: 0x3\r\n\r\nabc", 400 },
        { "huge length", "POST / HTTP/1.1\r\n" H "Content-Length: 99999999999999999999\r\n\r\nabc", 400 },
        { "empty length", "POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\nabc", 400 },
        { "space before the colon", "POST / HTTP/1.1\r\n" H "Content-Length : 3\r\n\r\nabc", 400 },
        { "other coding", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501 },
        { "chunked twice", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
                  "\r\n0\r\n\r\n", 400 },
        { "chunked not last", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400 },
        { "almost chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501 },
        { "chunks in HTTP/1.0", "POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
        { "folded line", "GET / HTTP/1.1\r\n" H "X: a\r\n b\r\n\r\n", 400 },
        { "folded first line", "GET / HTTP/1.1\r\n X: a\r\n" H "\r\n", 400 },
        { "byte above ASCII in a name", "GET / HTTP/1.1\r\n" H "X\xc3\xa4: a\r\n\r\n", 400 },
        { "no Host", "GET / HTTP/1.1\r\n\r\n", 400 },
        { "two Hosts", "GET / HTTP/1.1\r\n" H "Host: i\r\n\r\n", 400 },
        { "Host with a path", "GET / HTTP/1.1\r\nHost: h/x\r\n\r\n", 400 },
        { "Host with a user", "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", 400 },
        { "target without slash", "GET x HTTP/1.1\r\n" H "\r\n", 400 },
        { "absolute form without host", "GET http:///x HTTP/1.1\r\n" H "\r\n", 400 },
        { "asterisk for GET", "GET * HTTP/1.1\r\n" H "\r\n", 400 },
        { "CONNECT", "CONNECT h:1 HTTP/1.1\r\n" H "\r\n", 405 },
        { "unknown method", "BREW / HTTP/1.1\r\n" H "\r\n", 501 },
        { "chunk size with a sign", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
          400 },
        { "chunk size of 17 digits", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
                  "10000000000000001\r\na", 400 },
        { "chunk without CR", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n", 400 },
        { "chunk longer than it says", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"
                  "0\r\n\r\n", 400 },
        { "HTTP/2 greeting late", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400 },
        { "TLS to a plain port", "\x16\x03\x01\x02\x01", 501 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t n_piece = 0; n_piece < 3; n_piece++) {
            struct peer peer;
            char want[32];
            peer_init(&peer, true, false);
            peer_feed(&peer, str_of(rows[i].request), n_piece);
            peer_feed(&peer, str_of("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"), n_piece);
            snprintf(want, sizeof(want), "HTTP/1.1 %d ", rows[i].status);
            if (strncmp(text_of(&peer.sent), want, strlen(want)) != 0)
                FAIL("%s: answer is %s", rows[i].what, text_of(&peer.sent));
            if (!strstr(text_of(&peer.sent), "Connection: close\r\n"))
                FAIL("%s: no close in %s", rows[i].what, text_of(&peer.sent));
            if (strstr(text_of(&peer.log), "smuggled"))
                FAIL("%s: the next request was read", rows[i].what);
            CHECK(peer_ended(&peer));
            peer_fini(&peer);
        }
}

static void add_many(struct strbuf *b, const char *format, int n)
{
    for (int i = 0; i < n; i++)
        strbuf_printf(b, format, i);
}

TEST(heads_and_chunk_extensions_have_limits_with_their_own_answers)
{
    static const struct {
        const char *what, *begin, *repeat;
        int n, status;
    } rows[] = {
        { "target", "GET /", "0123456789%d", 10000, 414 },
        { "fields", "GET / HTTP/1.1\r\n" H, "A%d: b\r\n", 2000, 431 },
        { "one field", "GET / HTTP/1.1\r\n" H "X: ", "0123456789%d", 40000, 431 },
        { "chunk extensions", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n", "1;%d=b\r\na\r\n", 5000,
          400 },
        { "empty chunk extensions", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n1", ";a", 20000, 400 },
        { "trailers", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n0\r\n", "A%d: b\r\n", 5000, 431 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct peer peer;
        struct strbuf request;
        char want[32];
        strbuf_init(&request, STRBUF_NO_MAX);
        strbuf_add_text(&request, rows[i].begin);
        add_many(&request, rows[i].repeat, rows[i].n);
        peer_init(&peer, true, false);
        peer_feed(&peer, strbuf_str(&request), 1000);
        snprintf(want, sizeof(want), "HTTP/1.1 %d ", rows[i].status);
        if (strncmp(text_of(&peer.sent), want, strlen(want)) != 0)
            FAIL("%s: answer is %s", rows[i].what, text_of(&peer.sent));
        CHECK(peer_ended(&peer));
        peer_fini(&peer);
        strbuf_fini(&request);
    }
}

/* ---- Order, keep-alive ---- */

TEST(pipelined_requests_are_answered_in_order_and_wait_unread)
{
    struct peer peer;
    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET /later HTTP/1.1\r\nHost: h\r\n\r\nGET /two HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    CHECK_INT("only the first is read", peer.n_requests, 1);
    CHECK_INT("the second waits", peer.unread.n, strlen("GET /two HTTP/1.1\r\nHost: h\r\n\r\n"));
    peer_answer(&peer, "one");
    CHECK_INT("then the second", peer.n_requests, 2);
    const char *one = strstr(text_of(&peer.sent), "\r\n\r\none"), *two = strstr(text_of(&peer.sent), "GET /two ");
    CHECK(one && two && one < two);
    peer_fini(&peer);
}

TEST(connections_are_kept_as_both_ends_wish)
{
    static const struct {
        const char *what, *request, *sign;
        bool kept;
    } rows[] = {
        { "1.1", "GET / HTTP/1.1\r\n" H "\r\n", "Content-Length", true },
        { "1.1 close", "GET / HTTP/1.1\r\n" H "Connection: close\r\n\r\n", "Connection: close\r\n", false },
        { "the server says close", "GET /close HTTP/1.1\r\n" H "\r\n", "Connection: close\r\n", false },
        { "1.0", "GET / HTTP/1.0\r\n\r\n", "Connection: close\r\n", false },
        { "1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive\r\n", true },
        { "1.0 without length", "GET /big/10 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "bbbbbbbbbb", true },
        { "h2c wish", "GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "GET / ", true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct peer peer;
        peer_init(&peer, true, false);
        peer_feed(&peer, str_of(rows[i].request), 0);
        if (!strstr(text_of(&peer.sent), rows[i].sign))
            FAIL("%s: %s", rows[i].what, text_of(&peer.sent));
        CHECK_INT(rows[i].what, peer_ended(&peer), !rows[i].kept);
        peer_fini(&peer);
    }
}

TEST(an_unwanted_body_is_discarded_up_to_a_bound)
{
    static const struct {
        const char *what;
        int n_bytes;
        bool kept;
    } rows[] = { { "small", 1000, true }, { "large", 300000, false } };
    for (size_t i = 0; i < 2; i++) {
        struct peer peer;
        struct strbuf body;
        peer_init(&peer, true, false);
        strbuf_init(&body, STRBUF_NO_MAX);
        add_many(&body, "x", rows[i].n_bytes);
        struct strbuf head;
        strbuf_init(&head, STRBUF_NO_MAX);
        strbuf_printf(&head, "POST /early HTTP/1.1\r\n" H "Content-Length: %d\r\n\r\n", rows[i].n_bytes);
        peer_feed(&peer, strbuf_str(&head), 0);
        CHECK_INT("answered at once", peer.n_closed, 1);
        peer_feed(&peer, strbuf_str(&body), 10000);
        CHECK_INT(rows[i].what, !peer_ended(&peer), rows[i].kept);
        peer_feed(&peer, STR("GET /next HTTP/1.1\r\n" H "\r\n"), 0);
        CHECK_INT(rows[i].what, peer.n_requests, rows[i].kept ? 2 : 1);
        peer_fini(&peer);
        strbuf_fini(&body);
        strbuf_fini(&head);
    }
}

TEST(expect_continue_is_answered_unless_the_answer_is_there)
{
    struct peer peer;
    peer_init(&peer, true, false);
    peer_feed(&peer, STR("POST /p HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"), 0);
    CHECK_TEXT("go on", text_of(&peer.sent), "HTTP/1.1 100 Continue\r\n\r\n");
    peer_feed(&peer, STR("ab"), 0);
    CHECK(strstr(text_of(&peer.sent), "POST /p ab"));
    strbuf_reset(&peer.sent);
    peer_feed(&peer, STR("POST /early HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"), 0);
    CHECK(!strstr(text_of(&peer.sent), "100 Continue"));
    peer_fini(&peer);
}

/* ---- Back-pressure and time ---- */

TEST(a_reader_that_does_not_read_stops_the_peer)
{
    struct peer peer;
    struct strbuf body;
    peer_init(&peer, true, false);
    peer.hold = true;
    strbuf_init(&body, STRBUF_NO_MAX);
    add_many(&body, "x", 1000000);
    peer_feed(&peer, STR("POST /later HTTP/1.1\r\n" H "Content-Length: 1000000\r\n\r\n"), 0);
    peer_feed(&peer, strbuf_str(&body), 10000);
    CHECK(peer.p->in_blocked);
    size_t n_taken = 1000000 - peer.unread.n;
    CHECK(n_taken >= peer.limits.in_window_bytes && n_taken <= peer.limits.in_window_bytes + 10000);
    peer.hold = false;
    stream_consume(peer.waiting, n_taken);
    peer_run(&peer);
    CHECK_INT("all is taken", peer.unread.n, 0);
    peer_answer(&peer, "thanks");
    CHECK(strstr(text_of(&peer.sent), "thanks"));
    peer_fini(&peer);
    strbuf_fini(&body);
}

TEST(slow_heads_and_bodies_and_idle_connections_are_ended)
{
    struct peer peer;
    peer_init(&peer, true, false);
    for (int i = 0; i < 40 && !peer_ended(&peer); i++) { /* one byte a second */
        peer_feed(&peer, str_first(str_from(STR("GET / HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                  "aaaaaa"), (size_t)i), 1), 0);
        peer_advance(&peer, 1000);
    }
    CHECK(strstr(text_of(&peer.sent), "HTTP/1.1 408 "));
    CHECK(peer_ended(&peer));
    peer_fini(&peer);

    peer_init(&peer, true, false);
    peer_advance(&peer, peer.limits.head_ms);
    CHECK(peer_ended(&peer)); /* never said a word */
    CHECK_INT("nothing to say", peer.sent.n, 0);
    peer_fini(&peer);

    peer_init(&peer, true, false);
    peer_feed(&peer, STR("POST /p HTTP/1.1\r\n" H "Content-Length: 9\r\n\r\nabc"), 0);
    peer_advance(&peer, peer.limits.request_ms);
    CHECK(strstr(text_of(&peer.sent), "HTTP/1.1 408 "));
    CHECK(strstr(text_of(&peer.log), "closed 5"));
    peer_fini(&peer);

    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET / HTTP/1.1\r\n" H "\r\n"), 0);
    peer_advance(&peer, peer.limits.idle_ms - 1);
    CHECK(!peer_ended(&peer));
    peer_advance(&peer, 1);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);

    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET /never HTTP/1.1\r\n" H "\r\n"), 0);
    peer_advance(&peer, 24 * 3600 * 1000);
    CHECK(!peer_ended(&peer)); /* an answer may take as long as it wants */
    peer_fini(&peer);
}

TEST(a_user_may_cancel_inside_an_event_and_the_connection_ends)
{
    struct peer peer;
    peer_init(&peer, true, false);
    peer_feed(&peer, STR("POST /cancel HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n" H "\r\n"), 0);
    CHECK(peer.p->lost);
    CHECK_INT("nothing after it", peer.n_requests, 1);
    peer_fini(&peer);
}

TEST(a_peer_that_goes_away_ends_its_exchange)
{
    struct peer peer;
    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET /never HTTP/1.1\r\n" H "\r\n"), 0);
    peer_end(&peer);
    CHECK_TEXT("log", text_of(&peer.log), "request GET h/never\nclosed 3 the peer closed the connection\n");
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
}

TEST(shutdown_lets_the_exchange_end_and_says_close)
{
    struct peer peer;
    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET /later HTTP/1.1\r\n" H "\r\n"), 0);
    peer.p->ops->shutdown(peer.p);
    CHECK(!peer_ended(&peer));
    peer_answer(&peer, "last");
    CHECK(strstr(text_of(&peer.sent), "Connection: close\r\n"));
    CHECK(peer_ended(&peer));
    peer_fini(&peer);

    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET / HTTP/1.1\r\n" H "\r\n"), 0);
    peer.p->ops->shutdown(peer.p);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
}

/* ---- The client ---- */

TEST(answers_are_understood_in_pieces_of_any_size)
{
    static const struct {
        const char *what, *method, *answer, *log;
        bool end, kept;
    } rows[] = {
        { "length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "head 200\nbody ab\nclosed 0 \n", false,
          true },
        { "chunks and trailers", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n"
                  "T: v\r\n\r\n",
          "head 200\nbody ab\ntrailer t: v\nclosed 0 \n", false, true },
        { "to the end", "GET", "HTTP/1.1 200 OK\r\n\r\nab", "head 200\nbody ab\nclosed 0 \n", true, false },
        { "no content", "GET", "HTTP/1.1 204 No Content\r\n\r\n", "head 204\nbody \nclosed 0 \n", false, true },
        { "HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "head 200\nbody \nclosed 0 \n", false, true },
        { "hints before", "GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX: y\r\n\r\n"
                  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
          "head 200\nbody \nclosed 0 \n", false, true },
        { "close", "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na",
          "head 200\nbody a\nclosed 0 \n",
          false, false },
        { "1.0", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "head 200\nbody a\nclosed 0 \n", false,
          false },
        { "cut in the body", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
          "head 200\nclosed 3 the peer closed the connection\n",
          true, false },
        { "cut in chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
          "head 200\nclosed 3 the peer closed the connection\n", true, false },
        { "cut in the head", "GET", "HTTP/1.1 200 O", "closed 3 the peer closed the connection\n", true, false },
        { "nothing", "GET", "", "closed 3 the peer closed the connection\n", true, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t n_piece = 0; n_piece < 3; n_piece++) {
            struct peer peer;
            peer_init(&peer, false, false);
            peer_request(&peer, rows[i].method, "/t", "");
            peer_feed(&peer, str_of(rows[i].answer), n_piece);
            if (rows[i].end)
                peer_end(&peer);
            CHECK_TEXT(rows[i].what, text_of(&peer.log), rows[i].log);
            CHECK_INT(rows[i].what, peer.p->ops->has_room(peer.p), rows[i].kept);
            peer_fini(&peer);
        }
}

TEST(bad_answers_fail_the_exchange_and_the_connection)
{
    static const struct {
        const char *what, *answer;
    } rows[] = {
        { "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na" },
        { "length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { "other coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" },
        { "HTTP/2 as text", "HTTP/2.0 200 OK\r\n\r\n" },
        { "folded line", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n" },
        { "bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n" },
        { "garbage", "\x15\x03\x01" },
        { "too many hints", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n"
                  "\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 100 C\r\n\r\n" },
        { "upgrade nobody asked for", "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct peer peer;
        peer_init(&peer, false, false);
        peer_request(&peer, "GET", "/t", "");
        peer_feed(&peer, str_of(rows[i].answer), 0);
        if (!strstr(text_of(&peer.log), "closed 4"))
            FAIL("%s: %s", rows[i].what, text_of(&peer.log));
        if (strstr(text_of(&peer.log), "head "))
            FAIL("%s: %s", rows[i].what, text_of(&peer.log));
        CHECK(peer_ended(&peer));
        peer_fini(&peer);
    }
}

TEST(an_answer_nobody_asked_for_ends_the_connection)
{
    struct peer peer;
    peer_init(&peer, false, false);
    peer_feed(&peer, STR("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 0);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
}

TEST(client_and_server_understand_each_other)
{
    struct peer client, server;
    peer_init(&client, false, false);
    peer_init(&server, true, false);
    peer_request(&client, "POST", "/a", "body");
    peer_connect(&client, &server);
    struct stream *s = peer_request(&client, "PUT", "/b", NULL); /* streamed: chunks and trailers */
    struct headers trailers = { 0 };
    stream_write(s, STR("one "));
    peer_connect(&client, &server);
    stream_write(s, STR("two"));
    headers_add(&trailers, stream_arena(s), STR("X-Sum"), STR("7"));
    stream_end(s, &trailers);
    peer_connect(&client, &server);
    peer_request(&client, "GET", "/big/1000000", "");
    peer_connect(&client, &server);
    CHECK(str_starts(strbuf_str(&client.log), STR("head 200\nbody POST /a body\nclosed 0 \n"
                                                  "head 200\nbody PUT /b one two\ntrailer x-sum: 7\nclosed 0 \n"
                                                  "head 200\nbody bbbb")));
    CHECK_INT("all ended", client.n_closed, 3);
    CHECK_INT("all ended", server.n_closed, 3);
    peer_fini(&client);
    peer_fini(&server);
}

/* ---- Upgrade ---- */

TEST(an_upgrade_turns_the_connection_into_bytes)
{
    struct peer peer;
    struct head head = { .status = 101 };
    peer_init(&peer, true, false);
    peer_feed(&peer, STR("GET /later HTTP/1.1\r\n" H "Connection: upgrade\r\nUpgrade: echo\r\n\r\nearly bytes"), 0);
    CHECK_INT("bytes wait", peer.unread.n, 11);
    headers_add(&head.headers, stream_arena(peer.waiting), STR("connection"), STR("upgrade"));
    headers_add(&head.headers, stream_arena(peer.waiting), STR("upgrade"), STR("echo"));
    stream_send_head(peer.waiting, &head);
    stream_write(peer.waiting, STR("raw\r\n"));
    peer_run(&peer);
    CHECK(strstr(text_of(&peer.sent), "HTTP/1.1 101 Switching Protocols\r\n"));
    CHECK(strstr(text_of(&peer.sent), "Connection: upgrade\r\nUpgrade: echo\r\n\r\nraw\r\n"));
    CHECK_INT("bytes came", peer.unread.n, 0);
    stream_end(peer.waiting, NULL);
    peer_run(&peer);
    CHECK(peer_ended(&peer));
    peer_fini(&peer);
}

TEST(both_ends_speak_bytes_after_an_upgrade)
{
    struct peer client, server;
    peer_init(&client, false, false);
    peer_init(&server, true, false);
    struct stream *s = peer_request(&client, "GET", "/upgrade", NULL);
    stream_write(s, STR("before the answer, ")); /* held until the server agrees */
    peer_connect(&client, &server);
    CHECK(strstr(text_of(&client.log), "head 101\n"));
    stream_write(s, STR("and after"));
    peer_connect(&client, &server);
    CHECK_INT("the server hears all of it", server.n_requests, 1);
    peer_end(&client); /* the server closes */
    CHECK(strstr(text_of(&client.log), "body before the answer, and after\n"));
    stream_end(s, NULL);
    peer_run(&client);
    CHECK(peer_ended(&client));
    CHECK_INT("over", client.n_closed, 1);
    peer_fini(&client);
    peer_fini(&server);
}
