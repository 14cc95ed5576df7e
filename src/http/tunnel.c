/* http/tunnel.c - see tunnel.h. */
#include "http/tunnel.h"

#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/mem.h"

enum step { CONNECT_ANSWER, SOCKS_METHOD, SOCKS_LOGIN, SOCKS_ANSWER, OVER };

struct tunnel {
    struct proto p;
    const struct url *proxy;
    char host[256];
    int port;
    enum step step;
    struct strbuf out, in; /* in: the answer so far */
    tunnel_told told;
    void *context;
};

struct str proxy_authorization(const struct url *proxy, struct arena *a)
{
    struct strbuf text;
    if (!proxy->user)
        return STR("");
    const char *plain = arena_printf(a, "%s:%s", proxy->user, proxy->password);
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "Basic ");
    base64_add(&text, str_of(plain));
    struct str copy = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static void over(struct tunnel *t, const char *error)
{
    t->step = OVER;
    t->told(t->context, error);
}

/* ---- CONNECT ---- */

static void ask_connect(struct tunnel *t)
{
    struct arena a;
    arena_init(&a);
    const char *open = strchr(t->host, ':') ? "[" : "", *close = *open ? "]" : "";
    strbuf_printf(&t->out, "CONNECT %s%s%s:%d HTTP/1.1\r\nHost: %s%s%s:%d\r\n", open, t->host, close, t->port, open,
                  t->host,
                  close, t->port);
    struct str authorization = proxy_authorization(t->proxy, &a);
    if (authorization.n)
        strbuf_printf(&t->out, "Proxy-Authorization: %.*s\r\n", STR_ARG(authorization));
    STRBUF_ADD_LIT(&t->out, "\r\n");
    t->step = CONNECT_ANSWER;
    arena_fini(&a);
}

static int stop_at_head(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

/* How much of the bytes is the answer's head; 0 = not complete yet. */
static size_t read_connect_answer(struct tunnel *t)
{
    static const llhttp_settings_t settings = { .on_headers_complete = stop_at_head };
    llhttp_t parser;
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    llhttp_errno_t rc = llhttp_execute(&parser, t->in.p, t->in.n);
    if (rc == HPE_OK)
        return 0;
    if (rc != HPE_PAUSED && rc != HPE_PAUSED_UPGRADE) {
        over(t, "proxy: malformed answer to CONNECT");
        return t->in.n;
    }
    /* The parser stands on the last LF of the head. */
    size_t n = (size_t)(llhttp_get_error_pos(&parser) - t->in.p);
    if (n < t->in.n && t->in.p[n] == '\n')
        n++;
    if (parser.status_code / 100 != 2) {
        char error[96];
        snprintf(error, sizeof(error), "proxy: %d %s", parser.status_code, status_text(parser.status_code));
        over(t, error);
        return t->in.n;
    }
    over(t, NULL);
    return n;
}

/* ---- SOCKS5 (RFC 1928, 1929) ---- */

static void ask_socks_method(struct tunnel *t)
{
    if (t->proxy->user)
        STRBUF_ADD_LIT(&t->out, "\x05\x02\x00\x02");
    else
        STRBUF_ADD_LIT(&t->out, "\x05\x01\x00");
    t->step = SOCKS_METHOD;
}

static void add_short(struct strbuf *out, const char *text)
{
    struct str s = str_first(str_of(text), 255);
    strbuf_add_char(out, (char)s.n);
    strbuf_add_str(out, s);
}

static void ask_socks_connect(struct tunnel *t)
{
    STRBUF_ADD_LIT(&t->out, "\x05\x01\x00\x03");
    add_short(&t->out, t->host);
    strbuf_add_char(&t->out, (char)(t->port >> 8));
    strbuf_add_char(&t->out, (char)t->port);
    t->step = SOCKS_ANSWER;
}

static size_t read_socks_method(struct tunnel *t)
{
    if (t->in.n < 2)
        return 0;
    if (t->in.p[0] == 5 && t->in.p[1] == 0) {
        ask_socks_connect(t);
    } else if (t->in.p[0] == 5 && t->in.p[1] == 2 && t->proxy->user) {
        strbuf_add_char(&t->out, 1);
        add_short(&t->out, t->proxy->user);
        add_short(&t->out, t->proxy->password);
        t->step = SOCKS_LOGIN;
    } else {
        over(t, "proxy: socks5: no way to log in");
    }
    return 2;
}

static size_t read_socks_login(struct tunnel *t)
{
    if (t->in.n < 2)
        return 0;
    if (t->in.p[1] != 0)
        over(t, "proxy: socks5: wrong user or password");
    else
        ask_socks_connect(t);
    return 2;
}

static size_t read_socks_answer(struct tunnel *t)
{
    if (t->in.n < 5)
        return 0;
    const unsigned char *p = (const unsigned char *)t->in.p;
    size_t n_address = p[3] == 1 ? 4 : p[3] == 4 ? 16 : p[3] == 3 ? 1u + p[4] : 0, n = 4 + n_address + 2;
    if (p[0] != 5 || p[1] != 0 || n_address == 0) {
        char error[64];
        snprintf(error, sizeof(error), "proxy: socks5: refused with code %u", p[1]);
        over(t, error);
        return t->in.n;
    }
    if (t->in.n < n)
        return 0;
    over(t, NULL);
    return n;
}

/* ---- As a protocol ---- */

static size_t step_input(struct tunnel *t)
{
    switch (t->step) {
    case CONNECT_ANSWER:
        return read_connect_answer(t);
    case SOCKS_METHOD:
        return read_socks_method(t);
    case SOCKS_LOGIN:
        return read_socks_login(t);
    case SOCKS_ANSWER:
        return read_socks_answer(t);
    case OVER:
        break;
    }
    return 0;
}

/* Takes only what belongs to the proxy's answer: the rest is the host's. */
static size_t tunnel_input(struct proto *p, struct str bytes)
{
    struct tunnel *t = (struct tunnel *)p;
    if (t->step == OVER)
        return 0;
    size_t n_before = t->in.n;
    strbuf_add_str(&t->in, bytes);
    size_t n = step_input(t);
    if (n == 0 && t->step != OVER) {
        if (t->in.n > TUNNEL_ANSWER_BYTES_MAX)
            over(t, "proxy: the answer is too long");
        return bytes.n;
    }
    strbuf_reset(&t->in);
    proto_wake(p);
    return n > n_before ? n - n_before : 0;
}

static void tunnel_input_end(struct proto *p)
{
    struct tunnel *t = (struct tunnel *)p;
    if (t->step != OVER)
        over(t, "proxy: closed the connection");
}

static void tunnel_output(struct proto *p, struct strbuf *out, size_t max)
{
    (void)max;
    struct tunnel *t = (struct tunnel *)p;
    strbuf_add_str(out, strbuf_str(&t->out));
    strbuf_reset(&t->out);
}

static int64_t tunnel_tick(struct proto *p)
{
    (void)p;
    return NEVER_MS;
}

static void tunnel_shutdown(struct proto *p)
{
    p->lost = true;
}

static void tunnel_free(struct proto *p)
{
    struct tunnel *t = (struct tunnel *)p;
    strbuf_fini(&t->in);
    strbuf_fini(&t->out);
    proto_fini(p);
    free(t);
}

static bool tunnel_has_room(const struct proto *p)
{
    (void)p;
    return false;
}

static const struct proto_ops tunnel_ops = {
    .input = tunnel_input,
    .input_end = tunnel_input_end,
    .output = tunnel_output,
    .tick = tunnel_tick,
    .shutdown = tunnel_shutdown,
    .free = tunnel_free,
    .has_room = tunnel_has_room,
};

struct proto *tunnel_new(const struct url *proxy, const char *host, int port, const struct proto_host *proto_host,
                         void *host_data, const struct http_limits *limits, tunnel_told told, void *context)
{
    struct tunnel *t = mem_zalloc(sizeof(*t));
    proto_init(&t->p, &tunnel_ops, false, proto_host, host_data, limits);
    t->proxy = proxy;
    snprintf(t->host, sizeof(t->host), "%s", host);
    t->port = port;
    t->told = told;
    t->context = context;
    strbuf_init(&t->in, STRBUF_NO_MAX);
    strbuf_init(&t->out, STRBUF_NO_MAX);
    if (strncmp(proxy->scheme, "socks5", 6) == 0)
        ask_socks_method(t);
    else
        ask_connect(t);
    return &t->p;
}
