/* http/h1_write.c - the sending half of HTTP/1: heads as text, bodies with a length, in chunks, or to the end. */
#include <assert.h>
#include <stdio.h>

#include "http/h1_priv.h"

static void add_name(struct strbuf *out, struct str name)
{
    bool capital = true;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        strbuf_add_char(out, capital && c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c);
        capital = c == '-';
    }
}

static void add_field(struct strbuf *out, struct str name, struct str value)
{
    add_name(out, name);
    STRBUF_ADD_LIT(out, ": ");
    strbuf_add_str(out, value);
    STRBUF_ADD_LIT(out, "\r\n");
}

/* Fields that this file decides about. */
static bool is_ours(struct str name, bool upgrade)
{
    return str_is(name, "transfer-encoding") || (!upgrade && header_is_hop_by_hop(name));
}

static void add_fields(struct strbuf *out, const struct headers *h, bool upgrade)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!is_ours(h->at[i].name, upgrade))
            add_field(out, h->at[i].name, h->at[i].value);
}

static void add_length(struct h1 *h, struct strbuf *out, uint64_t n)
{
    h->framing = H1_LENGTH;
    h->out_left = n;
    STRBUF_ADD_LIT(out, "Content-Length: ");
    strbuf_add_uint(out, n);
    STRBUF_ADD_LIT(out, "\r\n");
}

/* A length that the user gave stands in its field already; one that is known is added; otherwise chunks, if the peer
 * knows them. */
static void frame_body(struct h1 *h, struct strbuf *out, const struct headers *fields)
{
    const struct stream *s = h->s;
    struct str given = headers_get(fields, "content-length");
    if (given.p && parse_length(given, &h->out_left))
        h->framing = H1_LENGTH;
    else if (s->out_ended && !s->out_has_trailers)
        add_length(h, out, stream_pending(s));
    else if (h->p.is_server && s->request.version == HTTP_1_0) {
        h->framing = H1_TO_THE_END;
        h->keep_alive = false;
    } else {
        h->framing = H1_CHUNKED;
        STRBUF_ADD_LIT(out, "Transfer-Encoding: chunked\r\n");
    }
}

static void add_status_line(struct strbuf *out, uint16_t status)
{
    STRBUF_ADD_LIT(out, "HTTP/1.1 ");
    strbuf_add_uint(out, status);
    strbuf_add_char(out, ' ');
    strbuf_add_text(out, status_text(status));
    STRBUF_ADD_LIT(out, "\r\n");
}

static void add_date(struct h1 *h, struct strbuf *out)
{
    struct str date = h->p.host->date ? h->p.host->date(&h->p) : STR("");
    if (date.n)
        add_field(out, STR("date"), date);
}

static void write_response_head(struct h1 *h, struct strbuf *out)
{
    struct stream *s = h->s;
    uint16_t status = s->response.status;
    bool upgrade = status == 101;
    add_status_line(out, status);
    if (!headers_get(&s->response.headers, "date").p)
        add_date(h, out);
    if (upgrade) {
        h->framing = H1_TO_THE_END;
        h->raw = true;
        proto_wake(&h->p); /* bytes that came too early for HTTP are in time now */
    } else if (status_has_no_body(status) || str_is(s->request.method, "HEAD")) {
        h->framing = H1_NO_BODY;
    } else {
        frame_body(h, out, &s->response.headers);
    }
    if (h->p.shutting_down || headers_has_word(&s->response.headers, "connection", "close"))
        h->keep_alive = false;
    if (!upgrade && !h->keep_alive)
        STRBUF_ADD_LIT(out, "Connection: close\r\n");
    else if (!upgrade && s->request.version == HTTP_1_0)
        STRBUF_ADD_LIT(out, "Connection: keep-alive\r\n");
    add_fields(out, &s->response.headers, upgrade);
    STRBUF_ADD_LIT(out, "\r\n");
}

static bool wants_body(struct str method)
{
    return str_is(method, "POST") || str_is(method, "PUT") || str_is(method, "PATCH");
}

static void write_request_head(struct h1 *h, struct strbuf *out)
{
    struct stream *s = h->s;
    const struct head *r = &s->request;
    bool upgrade = headers_has_word(&r->headers, "connection", "upgrade");
    strbuf_add_str(out, r->method);
    strbuf_add_char(out, ' ');
    if (h->options.absolute_form) {
        strbuf_add_str(out, r->scheme);
        STRBUF_ADD_LIT(out, "://");
        strbuf_add_str(out, r->authority);
    }
    strbuf_add_str(out, r->target);
    STRBUF_ADD_LIT(out, " HTTP/1.1\r\n");
    add_field(out, STR("host"), r->authority);
    if (h->options.absolute_form && h->options.proxy_authorization.n)
        add_field(out, STR("proxy-authorization"), h->options.proxy_authorization);
    if (upgrade)
        h->framing = H1_HELD;
    else if (s->out_ended && stream_pending(s) == 0 && !s->out_has_trailers && !wants_body(r->method))
        h->framing = H1_NO_BODY;
    else
        frame_body(h, out, &r->headers);
    add_fields(out, &r->headers, upgrade);
    STRBUF_ADD_LIT(out, "\r\n");
}

void h1_write_error(struct h1 *h, uint16_t status, const char *why)
{
    struct strbuf *out = &h->control;
    add_status_line(out, status);
    add_date(h, out);
    STRBUF_ADD_LIT(out, "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ");
    strbuf_add_uint(out, strlen(why) + 1);
    STRBUF_ADD_LIT(out, "\r\n\r\n");
    strbuf_add_text(out, why);
    strbuf_add_char(out, '\n');
}

/* One piece of the body, framed. */
static void write_piece(struct h1 *h, struct strbuf *out, size_t max)
{
    struct stream *s = h->s;
    struct str piece = str_first(stream_piece(s), max);
    size_t n_pulled = piece.n;
    switch (h->framing) {
    case H1_HELD:
    case H1_NO_BODY:
        break;
    case H1_LENGTH:
        if (piece.n > h->out_left) { /* our user wrote more than he said: the rest is dropped, and nothing may follow */
            piece.n = h->out_left;
            h->keep_alive = false;
        }
        strbuf_add_str(out, piece);
        h->out_left -= piece.n;
        break;
    case H1_CHUNKED:
        strbuf_printf(out, "%zx\r\n", piece.n);
        strbuf_add_str(out, piece);
        STRBUF_ADD_LIT(out, "\r\n");
        break;
    case H1_TO_THE_END:
        strbuf_add_str(out, piece);
        break;
    }
    stream_pulled(s, n_pulled);
}

static void write_end(struct h1 *h, struct strbuf *out)
{
    struct stream *s = h->s;
    if (h->framing == H1_CHUNKED) {
        STRBUF_ADD_LIT(out, "0\r\n");
        add_fields(out, &s->out_trailers, false);
        STRBUF_ADD_LIT(out, "\r\n");
    }
    if (h->framing == H1_TO_THE_END || (h->framing == H1_LENGTH && h->out_left > 0))
        h->keep_alive = false;
    s->out_done = true;
    h1_sent(h);
}

void h1_output(struct proto *p, struct strbuf *out, size_t max)
{
    struct h1 *h = (struct h1 *)p;
    strbuf_add_str(out, strbuf_str(&h->control));
    strbuf_fini(&h->control);
    struct stream *s = h->s;
    if (!s || s->out_done || !s->out_head_ready)
        return;
    if (!s->out_head_sent) {
        s->out_head_sent = true;
        if (p->is_server)
            write_response_head(h, out);
        else
            write_request_head(h, out);
    }
    if (h->framing == H1_HELD)
        return;
    while (stream_pending(s) && out->n < max)
        write_piece(h, out, max);
    if (s->out_ended && stream_pending(s) == 0)
        write_end(h, out);
}
