/* The small parts of http: header lists, dates, addresses, proxy rules, gzip, tunnels. */
#include <stdlib.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/rand.h"
#include "http/gzip.h"
#include "http/headers.h"
#include "http/proxy.h"
#include "http/tunnel.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;

static void prepare(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
}

/* ---- Headers ---- */

TEST(header_values_cannot_begin_another_line)
{
    struct headers h = { 0 };
    prepare();
    headers_add(&h, &arena, STR("X-Name"), STR(" a\r\nSet-Cookie: b\0c "));
    CHECK_STR("name in lower case", h.at[0].name, STR("x-name"));
    CHECK_STR("control bytes are spaces", h.at[0].value, STR("a  Set-Cookie: b c"));
    arena_fini(&arena);
}

TEST(lists_in_headers_are_searched_by_word)
{
    struct headers h = { 0 };
    prepare();
    headers_add(&h, &arena, STR("connection"), STR("keep-alive, Upgrade"));
    headers_add(&h, &arena, STR("connection"), STR("x"));
    CHECK(headers_has_word(&h, "connection", "upgrade"));
    CHECK(headers_has_word(&h, "connection", "x"));
    CHECK(!headers_has_word(&h, "connection", "up"));
    CHECK(!headers_has_word(&h, "upgrade", "upgrade"));
    CHECK_INT("both", headers_count(&h, "connection"), 2);
    CHECK(headers_get(&h, "none").p == NULL);
    arena_fini(&arena);
}

TEST(dates_are_those_of_http)
{
    char text[HTTP_DATE_BYTES + 1];
    http_date(784111777ll * CLOCK_NS_PER_SECOND, text);
    CHECK_TEXT("RFC 9110", text, "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(gzip_is_accepted_by_weight)
{
    static const struct {
        const char *value;
        bool accepted;
    } rows[] = { { "gzip", true }, { "deflate, GZIP;q=0.5", true }, { "gzip;q=0", false }, { "gzip; q=0.0", false },
                 { "*", true }, { "identity", false }, { "", false }, { "xgzip", false } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct headers h = { 0 };
        prepare();
        headers_add(&h, &arena, STR("accept-encoding"), str_of(rows[i].value));
        CHECK_INT(rows[i].value, accepts_gzip(&h), rows[i].accepted);
        arena_fini(&arena);
    }
}

/* ---- Addresses ---- */

TEST(addresses_are_taken_apart)
{
    static const struct {
        const char *text, *scheme, *host, *authority, *target, *user, *password;
        int port;
    } rows[] = {
        { "http://h", "http", "h", "h", "/", NULL, NULL, 80 },
        { "HTTPS://Host.Example/a/b?c=d#e", "https", "host.example", "host.example", "/a/b?c=d", NULL, NULL, 443 },
        { "https://h:6443?x", "https", "h", "h:6443", "/?x", NULL, NULL, 6443 },
        { "https://h:443/", "https", "h", "h", "/", NULL, NULL, 443 },
        { "http://[::1]:8080/x", "http", "::1", "[::1]:8080", "/x", NULL, NULL, 8080 },
        { "http://[fe80::1]", "http", "fe80::1", "[fe80::1]", "/", NULL, NULL, 80 },
        { "http://u:p%40w@h/", "http", "h", "h", "/", "u", "p@w", 80 },
        { "socks5://h", "socks5", "h", "h", "/", NULL, NULL, 1080 },
    };
    prepare();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct url u;
        if (url_parse(str_of(rows[i].text), &arena, &u, &error))
            FAIL("%s", error.message);
        CHECK_TEXT(rows[i].text, u.scheme, rows[i].scheme);
        CHECK_TEXT(rows[i].text, u.host, rows[i].host);
        CHECK_STR(rows[i].text, u.authority, str_of(rows[i].authority));
        CHECK_STR(rows[i].text, u.target, str_of(rows[i].target));
        CHECK_TEXT(rows[i].text, u.user, rows[i].user);
        CHECK_TEXT(rows[i].text, u.password, rows[i].password);
        CHECK_INT(rows[i].text, u.port, rows[i].port);
    }
    static const char *const bad[] = { "", "h", "/x", "ftp://h", "http://", "http:///x", "http://h:", "http://h:0",
                                       "http://h:65536",
                                       "http://h:x", "http://h:-1", "http://a b/", "http://[::1",
                                                 "http://[::1]x", "http://h/a b",
                                       "http://h/\r\nX: y", "http://h\r\n/", "http://a:b:c" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct url u;
        bool empty_port = str_is(str_of(bad[i]), "http://h:"); /* as Go: an empty port is none */
        if (!url_parse(str_of(bad[i]), &arena, &u, &error) && !empty_port)
            FAIL("%s was taken", bad[i]);
    }
    arena_fini(&arena);
}

/* ---- Proxies ---- */

static const char *environment[8][2];

static const char *get(const char *name)
{
    for (int i = 0; environment[i][0]; i++)
        if (strcmp(environment[i][0], name) == 0)
            return environment[i][1];
    return NULL;
}

TEST(exceptions_from_proxies_follow_go)
{
    static const struct {
        const char *no_proxy, *url;
        bool proxied;
    } rows[] = {
        { "", "http://example.com/", true },
        { "", "http://localhost/", false },
        { "", "http://127.0.0.1/", false },
        { "", "http://127.3.2.1:80/", false },
        { "", "http://[::1]/", false },
        { "", "http://[::ffff:127.0.0.1]/", false },
        { "*", "http://example.com/", false },
        { "foo, *", "http://example.com/", false },
        { "example.com", "http://example.com/", false },
        { "example.com", "http://EXAMPLE.com/", false },
        { "example.com", "http://a.example.com/", false },
        { "example.com", "http://aexample.com/", true },
        { ".example.com", "http://example.com/", true },
        { ".example.com", "http://a.example.com/", false },
        { "*.example.com", "http://a.b.example.com/", false },
        { "*.example.com", "http://example.com/", true },
        { "example.com:80", "http://example.com/", false },
        { "example.com:81", "http://example.com/", true },
        { "example.com:443", "https://example.com/", false },
        { "10.0.0.0/8", "http://10.1.2.3/", false },
        { "10.0.0.0/8", "http://11.1.2.3/", true },
        { "10.0.0.0/33", "http://10.1.2.3/", true },
        { "10.0.0.0/8", "http://ten.example/", true },
        { "fd00::/8", "http://[fd12::1]/", false },
        { "fd00::/8", "http://10.0.0.1/", true },
        { "192.168.1.1", "http://192.168.1.1:8080/", false },
        { "192.168.1.1:80", "http://192.168.1.1:8080/", true },
        { "[fd12::1]:80", "http://[fd12::1]/", false },
        { "fd12::1", "http://[fd12::1]/", false },
        { " a , b.example ,", "http://b.example/", false },
        { "kubernetes.default.svc", "https://kubernetes.default.svc/", false },
    };
    prepare();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct proxy_rules r;
        struct url u;
        environment[0][0] = "HTTP_PROXY", environment[0][1] = "proxy:3128";
        environment[1][0] = "https_proxy", environment[1][1] = "http://user@secure:1";
        environment[2][0] = "no_proxy", environment[2][1] = rows[i].no_proxy;
        environment[3][0] = NULL;
        CHECK(!proxy_rules_from_environment(get, &arena, &r, &error));
        CHECK(!url_parse(str_of(rows[i].url), &arena, &u, &error));
        const struct url *p = proxy_for(&r, &u);
        if ((p != NULL) != rows[i].proxied)
            FAIL("NO_PROXY=%s %s", rows[i].no_proxy, rows[i].url);
        if (p)
            CHECK_TEXT("by scheme", p->host, strcmp(u.scheme, "https") == 0 ? "secure" : "proxy");
    }
    arena_fini(&arena);
}

TEST(a_configured_proxy_is_for_all_and_a_bad_one_is_an_error)
{
    struct proxy_rules r;
    struct url u;
    prepare();
    CHECK(!proxy_rules_for_all(STR("socks5://p"), &arena, &r, &error));
    CHECK(!url_parse(STR("https://127.0.0.1/"), &arena, &u, &error));
    CHECK_TEXT("also for loopback", proxy_for(&r, &u)->host, "p");
    CHECK(proxy_rules_for_all(STR("ftp://p"), &arena, &r, &error));
    environment[0][0] = "HTTPS_PROXY", environment[0][1] = "http://:x";
    environment[1][0] = NULL;
    CHECK(proxy_rules_from_environment(get, &arena, &r, &error));
    CHECK(strstr(error.message, "proxy"));
    arena_fini(&arena);
}

/* ---- Tunnels ---- */

static bool told_any;
static char told[100];

static void on_told(void *context, const char *why)
{
    (void)context;
    told_any = true;
    snprintf(told, sizeof(told), "%s", why ? why : "");
}

static void on_wake(struct proto *p)
{
    (void)p;
}

TEST(proxies_answer_in_many_ways)
{
    static const char head[] = "HTTP/1.1 200 Fine\r\nX: y\r\n\r\n";
    static const struct {
        const char *what, *proxy, *answer;
        size_t n, n_taken; /* of the answer; the rest is the host's */
        const char *told;
    } rows[] = {
        { "good", "http://p", head, sizeof(head) - 1, sizeof(head) - 1, "" },
        { "good, with early bytes", "http://p", "HTTP/1.1 200 OK\r\n\r\nABC", 22, 19, "" },
        { "refused", "http://p", "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", 39, 39, "proxy: 403 Forbidden" },
        { "garbage", "http://p", "SSH-2.0-x\r\n", 11, 11, "proxy: malformed answer to CONNECT" },
        { "socks", "socks5://p", "\5\0\5\0\0\1\1\2\3\4\0\1AB", 14, 12, "" },
        { "socks with a name", "socks5://p", "\5\0\5\0\0\3\2ab\0\1", 11, 11, "" },
        { "socks refuses", "socks5://p", "\5\0\5\5\0\1\0\0\0\0\0\0", 12, 12, "proxy: socks5: refused with code 5" },
        { "socks wants a login", "socks5://p", "\5\2", 2, 2, "proxy: socks5: no way to log in" },
        { "socks with login", "socks5://u:p@p", "\5\2\1\0\5\0\0\1\1\2\3\4\0\1", 14, 14, "" },
        { "no socks", "socks5://p", "HTTP/1.1 400 Bad\r\n", 18, 2, "proxy: socks5: no way to log in" },
    };
    static const struct proto_host host = { .wake = on_wake };
    prepare();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t n_piece = 1; n_piece < 30; n_piece += 13) {
            struct url u;
            CHECK(!url_parse(str_of(rows[i].proxy), &arena, &u, &error));
            told_any = false;
            struct proto *p = tunnel_new(&u, "host", 443, &host, NULL, &http_client_limits, on_told, NULL);
            struct str rest = { rows[i].answer, rows[i].n };
            size_t n_taken = 0;
            while (n_taken < rows[i].n && !told_any) {
                struct str piece = str_first(str_from(rest, n_taken), n_piece);
                n_taken += p->ops->input(p, piece);
            }
            CHECK(told_any);
            CHECK_TEXT(rows[i].what, told, rows[i].told);
            if (!rows[i].told[0])
                CHECK_INT(rows[i].what, n_taken, rows[i].n_taken);
            p->ops->free(p);
        }
    arena_fini(&arena);
}

TEST(an_endless_answer_of_a_proxy_is_cut)
{
    static const struct proto_host host = { .wake = on_wake };
    struct url u;
    prepare();
    CHECK(!url_parse(STR("http://p"), &arena, &u, &error));
    told_any = false;
    struct proto *p = tunnel_new(&u, "h", 1, &host, NULL, &http_client_limits, on_told, NULL);
    p->ops->input(p, STR("HTTP/1.1 200 OK\r\n"));
    for (int i = 0; i < 100000 && !told_any; i++)
        p->ops->input(p, STR("X-More: and more\r\n"));
    CHECK_TEXT("bounded", told, "proxy: the answer is too long");
    p->ops->free(p);
    arena_fini(&arena);
}

/* ---- gzip ---- */

static bool gather(void *context, struct str plain)
{
    strbuf_add_str(context, plain);
    return true;
}

static bool count_only(void *context, struct str plain)
{
    *(size_t *)context += plain.n;
    return true;
}

TEST(gzip_goes_there_and_back_in_pieces)
{
    struct strbuf plain, packed, back;
    strbuf_init(&plain, STRBUF_NO_MAX);
    strbuf_init(&packed, STRBUF_NO_MAX);
    strbuf_init(&back, STRBUF_NO_MAX);
    for (int i = 0; i < 100000; i++)
        strbuf_printf(&plain, "line %d\n", i * 21001);
    struct deflater *d = deflater_new();
    for (size_t at = 0; at < plain.n; at += 10000) {
        deflater_input(d, str_first(str_from(strbuf_str(&plain), at), 10000), true, false, &packed);
        if (at == 0) { /* what was flushed can be read */
            struct inflater *i = inflater_new();
            CHECK(!inflater_input(i, strbuf_str(&packed), gather, &back));
            CHECK_INT("flushed", back.n, 10000);
            CHECK(!inflater_is_done(i));
            inflater_free(i);
            strbuf_reset(&back);
        }
    }
    deflater_input(d, STR(""), false, true, &packed);
    deflater_free(d);
    for (size_t n_piece = 1; n_piece < 100000; n_piece *= 37) {
        struct inflater *i = inflater_new();
        strbuf_reset(&back);
        for (size_t at = 0; at < packed.n; at += n_piece)
            CHECK(!inflater_input(i, str_first(str_from(strbuf_str(&packed), at), n_piece), gather, &back));
        CHECK(inflater_is_done(i));
        CHECK_STR("the same", strbuf_str(&back), strbuf_str(&plain));
        CHECK_TEXT("no more", inflater_input(i, STR("x"), gather, &back), "bytes after the end of a gzip body");
        inflater_free(i);
    }
    struct inflater *i = inflater_new();
    CHECK_TEXT("garbage", inflater_input(i, STR("this is no gzip"), gather, &back), "malformed gzip body");
    inflater_free(i);
    strbuf_fini(&plain);
    strbuf_fini(&packed);
    strbuf_fini(&back);
}

/* Texts of all kinds: without any repetition, of one byte, of words that repeat near and far. */
static void make_text(struct rand *r, struct strbuf *to, size_t n)
{
    uint64_t n_words = 1 + rand_below(r, 300), n_letters = 1 + rand_below(r, 256), n_max = 1 + rand_below(r, 600);
    while (to->n < n) {
        struct rand word;
        rand_init(&word, rand_below(r, n_words));
        for (uint64_t i = 1 + rand_below(&word, n_max); i > 0; i--)
            strbuf_add_char(to, (char)rand_below(&word, n_letters));
        if (rand_below(r, 4) == 0)
            strbuf_add_char(to, (char)rand_below(r, 256));
    }
}

TEST(gzip_of_any_text_is_read_by_zlib)
{
    struct strbuf plain, packed, back;
    struct rand r;
    rand_init(&r, 11);
    strbuf_init(&plain, STRBUF_NO_MAX);
    strbuf_init(&packed, STRBUF_NO_MAX);
    strbuf_init(&back, STRBUF_NO_MAX);
    for (int round = 0; round < 300; round++) {
        strbuf_reset(&plain);
        strbuf_reset(&packed);
        strbuf_reset(&back);
        make_text(&r, &plain, rand_below(&r, round % 10 ? 3000 : 400000));
        struct deflater *d = deflater_new();
        for (struct str rest = strbuf_str(&plain), piece; rest.n; rest = str_from(rest, piece.n)) {
            piece = str_first(rest, 1 + rand_below(&r, 200000));
            deflater_input(d, piece, rand_below(&r, 2), false, &packed);
        }
        deflater_input(d, STR(""), false, true, &packed);
        deflater_free(d);
        CHECK(packed.n <= plain.n + plain.n / 8 + 100 + 10 * (plain.n / 1000));
        struct inflater *i = inflater_new();
        CHECK(!inflater_input(i, strbuf_str(&packed), gather, &back));
        CHECK(inflater_is_done(i));
        CHECK(str_eq(strbuf_str(&back), strbuf_str(&plain)));
        inflater_free(i);
    }
    strbuf_fini(&plain);
    strbuf_fini(&packed);
    strbuf_fini(&back);
}

TEST(a_gzip_bomb_is_stopped_early)
{
    struct strbuf packed;
    static char zeros[1 << 20];
    strbuf_init(&packed, STRBUF_NO_MAX);
    z_stream z = { 0 };
    CHECK(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_out = (unsigned char *)strbuf_reserve(&packed, sizeof(zeros));
    z.avail_out = sizeof(zeros);
    for (int i = 0; i < 100; i++) {
        z.next_in = (unsigned char *)zeros;
        z.avail_in = sizeof(zeros);
        deflate(&z, i < 99 ? Z_NO_FLUSH : Z_FINISH);
    }
    strbuf_commit(&packed, z.total_out);
    deflateEnd(&z);
    struct inflater *i = inflater_new();
    size_t n = 0;
    CHECK_TEXT("stopped", inflater_input(i, strbuf_str(&packed), count_only, &n), "gzip body grows beyond its limit");
    CHECK(n <= 2 * GZIP_FREE_BYTES);
    inflater_free(i);
    strbuf_fini(&packed);
}
