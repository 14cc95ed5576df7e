/* http/h1.c - HTTP/1.1, both ends: llhttp reads, and what it leaves open is decided strictly here.
 *
 * What could make two readers see two different messages is refused (request smuggling): a version other than 1.0 and
 * 1.1 or none, line ends without CR, folded lines, bad bytes in names, Transfer-Encoding other than one `chunked`,
 * together with a length or in HTTP/1.0, a length that is not plain digits or stands twice, no Host or two.
 *
 * One exchange at a time. A server pauses its parser at the end of a request until the answer is out: requests that
 * follow at once (pipelining) wait unread in the connection, at most one read of them, and are answered in order.
 *
 * Server, one round:   idle -> head -> body -> message_ended -+-> h1_sent -> idle
 *                                  \-> answer is written -----/ */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/h1_priv.h"

#define OF(parser) ((struct h1 *)(parser)->data)

/* ---- Ending ---- */

/* Nothing is read any more; the connection ends when all output is sent. */
static void hang_up(struct h1 *h)
{
    h->deaf = true;
    h->p.done = true;
    h->head_since_ms = 0;
    h->p.in_blocked = false;
    proto_wake(&h->p);
}

/* Something is wrong with what the peer sent. A server that has not begun its answer says what. */
static void refuse(struct h1 *h, uint16_t status, const char *why)
{
    bool can_answer = h->p.is_server && !h->answered && (!h->s || !h->s->out_head_sent);
    proto_fail(&h->p, "http/1: %s", why);
    if (h->s) {
        struct stream *s = h->s;
        h->s = NULL;
        stream_close(s, status == 408 ? STREAM_TIMEOUT : STREAM_PROTOCOL, "%s", h->p.error);
    }
    if (can_answer)
        h1_write_error(h, status, why);
    hang_up(h);
}

/* Both directions of an exchange are over: on to the next, or to the end. */
static void next_exchange(struct h1 *h)
{
    struct stream *s = h->s;
    h->s = NULL;
    stream_close(s, STREAM_OK, "%s", "");
    if (!h->keep_alive || h->p.shutting_down || h->raw) {
        hang_up(h);
        return;
    }
    h->idle_since_ms = h->p.now_ms;
    h->p.in_blocked = false;
    h->answered = !h->message_ended;
    if (h->message_ended) {
        h->message_ended = false;
        llhttp_resume(&h->parser);
    }
    proto_wake(&h->p); /* what waits unread may go on */
}

void h1_sent(struct h1 *h)
{
    if (h->p.is_server) {
        /* The rest of a request's body is nobody's any more: it is discarded, within bounds. */
        next_exchange(h);
    } else if (h->message_ended) {
        next_exchange(h);
    }
}

/* ---- Reading heads ---- */

/* From a callback: the message is refused, for this reason. */
static int reject(struct h1 *h, uint16_t status, const char *why)
{
    h->refuse = status;
    h->why = why;
    return -1;
}

/* Text of a head, bounded; false when it is too long. */
static bool gather(struct h1 *h, const char *at, size_t n, uint16_t status, const char *why)
{
    uint32_t max = h->in_trailers ? h->p.limits->trailer_bytes : h->p.limits->head_bytes;
    h->n_head_bytes += (uint32_t)n;
    if (h->n_head_bytes > max)
        return reject(h, status, why) == 0;
    strbuf_add(&h->text, at, n);
    return true;
}

static int on_begin(llhttp_t *parser)
{
    struct h1 *h = OF(parser);
    if (h->deaf)
        return HPE_USER;
    h->in_message = true;
    h->in_trailers = h->answered = false;
    h->n_head_bytes = h->n_extension_bytes = 0;
    h->n_discarded = 0;
    h->refuse = 0;
    h->head_since_ms = h->p.now_ms;
    strbuf_reset(&h->text);
    if (!h->p.is_server)
        return h->s ? 0 : -1; /* an answer that nobody asked for */
    h->s = proto_new_stream(&h->p);
    stream_place(h->s, &h->p);
    return 0;
}

static int on_protocol(llhttp_t *parser, const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) /* in pieces of any size; llhttp knows no other names with these letters */
        if (!memchr("HTTP", at[i], 4))
            return reject(OF(parser), 400, "not HTTP");
    return 0;
}

static int on_url(llhttp_t *parser, const char *at, size_t n)
{
    struct h1 *h = OF(parser);
    if (h->text.n + n > h->p.limits->target_bytes)
        return reject(h, 414, "the request's target is too long");
    return gather(h, at, n, 414, "the request's target is too long") ? 0 : -1;
}

static int on_url_complete(llhttp_t *parser)
{
    struct h1 *h = OF(parser);
    h->s->request.target = arena_str(&h->s->arena, strbuf_str(&h->text));
    strbuf_reset(&h->text);
    return 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t n)
{
    return gather(OF(parser), at, n, 431, "the request's head is too large") ? 0 : -1;
}

static int on_field_complete(llhttp_t *parser)
{
    struct h1 *h = OF(parser);
    h->n_name = h->text.n;
    return 0;
}

static int on_value_complete(llhttp_t *parser)
{
    struct h1 *h = OF(parser);
    struct str name = str_first(strbuf_str(&h->text), h->n_name), value = str_from(strbuf_str(&h->text), h->n_name);
    struct stream *s = h->s;
    h->n_name = 0;
    if (!s) { /* trailers of a body that is discarded */
        strbuf_reset(&h->text);
        return 0;
    }
    struct headers *fields = h->p.is_server ? &s->request.headers : &s->response.headers;
    struct headers *to = h->in_trailers ? &s->in_trailers : fields;
    while (value.n && (value.p[value.n - 1] == ' ' || value.p[value.n - 1] == '\t'))
        value.n--;
    if (to->n >= h->p.limits->head_fields)
        return reject(h, 431, "the head has too many fields");
    if (!header_name_is_valid(name) || !header_value_is_valid(value))
        return reject(h, 400, "a field of the head is malformed");
    headers_add(to, &s->arena, name, value);
    strbuf_reset(&h->text);
    return 0;
}

/* ---- Judging heads ---- */

/* How long the body is must be said in exactly one way. */
static int check_framing(struct h1 *h, const struct headers *fields, bool is_1_0)
{
    uint32_t n_lengths = headers_count(fields, "content-length");
    uint32_t n_codings = headers_count(fields, "transfer-encoding");
    uint64_t length;
    if (n_lengths > 1 || (n_lengths && !parse_length(headers_get(fields, "content-length"), &length)))
        return reject(h, 400, "Content-Length is malformed or stands more than once");
    if (n_codings && n_lengths)
        return reject(h, 400, "Transfer-Encoding and Content-Length together");
    if (n_codings > 1 || (n_codings && !str_is_nocase(headers_get(fields, "transfer-encoding"), "chunked")))
        return reject(h, h->p.is_server ? 501 : 400, "Transfer-Encoding other than chunked");
    if (n_codings && is_1_0)
        return reject(h, 400, "Transfer-Encoding in HTTP/1.0");
    return 0;
}

static bool authority_is_valid(struct str a)
{
    for (size_t i = 0; i < a.n; i++) {
        unsigned char c = (unsigned char)a.p[i];
        if (c <= ' ' || c >= 0x7f || strchr("/?#@\\\"<>^`{|}", c))
            return false;
    }
    return true;
}

/* Takes scheme and authority off a target in absolute form, which proxies get. */
static int split_absolute(struct h1 *h, struct head *r)
{
    size_t n_scheme = str_starts(r->target, STR("http://")) ? 7 : str_starts(r->target, STR("https://")) ? 8 : 0;
    if (!n_scheme)
        return reject(h, 400, "the request's target is malformed");
    struct str rest = str_from(r->target, n_scheme);
    size_t n_authority = 0;
    while (n_authority < rest.n && !strchr("/?#", rest.p[n_authority]))
        n_authority++;
    r->authority = str_first(rest, n_authority);
    rest = str_from(rest, n_authority);
    if (r->authority.n == 0)
        return reject(h, 400, "the request's target has no host");
    if (rest.n == 0)
        rest = STR("/");
    else if (rest.p[0] != '/')
        rest = str_of(arena_printf(&h->s->arena, "/%.*s", STR_ARG(rest)));
    r->target = rest;
    return 0;
}

static void drop_host(struct headers *fields)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fields->n; i++)
        if (!str_is(fields->at[i].name, "host"))
            fields->at[n++] = fields->at[i];
    fields->n = n;
}

static int check_target(struct h1 *h, struct head *r)
{
    uint32_t n_hosts = headers_count(&r->headers, "host");
    if (n_hosts > 1 || (n_hosts == 0 && r->version == HTTP_1_1))
        return reject(h, 400, n_hosts ? "more than one Host" : "missing required Host header");
    r->authority = headers_get(&r->headers, "host");
    drop_host(&r->headers);
    bool asterisk = str_is(r->target, "*");
    if (str_is(r->method, "CONNECT"))
        return reject(h, 405, "CONNECT is not served here");
    if (asterisk && !str_is(r->method, "OPTIONS"))
        return reject(h, 400, "the request's target is malformed");
    if (!asterisk && r->target.p[0] != '/' && split_absolute(h, r))
        return -1;
    if (!authority_is_valid(r->authority))
        return reject(h, 400, "malformed Host header");
    return 0;
}

static int request_head_done(struct h1 *h)
{
    struct stream *s = h->s;
    struct head *r = &s->request;
    r->method = str_of(llhttp_method_name((llhttp_method_t)h->parser.method));
    r->scheme = h->options.scheme;
    r->version = h->parser.http_minor ? HTTP_1_1 : HTTP_1_0;
    if (check_framing(h, &r->headers, r->version == HTTP_1_0) || check_target(h, r))
        return -1;
    h->keep_alive = llhttp_should_keep_alive(&h->parser);
    s->in_head_done = true;
    h->p.host->request(&h->p, s);
    if (h->s == s && !s->out_head_ready && headers_has_word(&r->headers, "expect", "100-continue") &&
        r->version == HTTP_1_1)
        STRBUF_ADD_LIT(&h->control, "HTTP/1.1 100 Continue\r\n\r\n");
    return 0;
}

/* Returns what llhttp wants: 1 = no body. */
static int response_head_done(struct h1 *h)
{
    struct stream *s = h->s;
    s->response.version = h->parser.http_minor ? HTTP_1_1 : HTTP_1_0;
    s->response.status = h->parser.status_code;
    if (s->response.status < 100 || s->response.status > 999)
        return reject(h, 400, "malformed status");
    bool skip = status_has_no_body(s->response.status) || h->skip_body;
    if (!skip && check_framing(h, &s->response.headers, s->response.version == HTTP_1_0))
        return -1;
    if (s->response.status / 100 == 1 && s->response.status != 101) {
        if (++s->n_informational > h->p.limits->informational)
            return reject(h, 400, "too many 1xx answers");
        return 1; /* its end is told by on_complete */
    }
    if (s->response.status == 101) {
        if (!headers_has_word(&s->request.headers, "connection", "upgrade"))
            return reject(h, 400, "101 without a wish for it");
        h->raw = true;
        h->framing = H1_TO_THE_END;
    }
    h->keep_alive = llhttp_should_keep_alive(&h->parser);
    stream_tell_head(s);
    return skip;
}

static int on_head_done(llhttp_t *parser)
{
    struct h1 *h = OF(parser);
    h->head_since_ms = 0;
    h->in_trailers = true;
    h->n_head_bytes = 0;
    strbuf_fini(&h->text);
    if (parser->http_major != 1 || parser->http_minor > 1)
        return reject(h, 505, "unsupported protocol version");
    return h->p.is_server ? request_head_done(h) : response_head_done(h);
}

/* ---- Bodies ---- */

static int on_body(llhttp_t *parser, const char *at, size_t n)
{
    struct h1 *h = OF(parser);
    if (!h->s) {
        h->n_discarded += n;
        return h->n_discarded > h->p.limits->discard_bytes ? HPE_USER : 0;
    }
    stream_tell_body(h->s, (struct str){ at, n });
    if (h->s && h->s->n_in_unread >= h->p.limits->in_window_bytes)
        h->p.in_blocked = true;
    return 0;
}

static int on_extension(llhttp_t *parser, const char *at, size_t n)
{
    (void)at;
    struct h1 *h = OF(parser);
    h->n_extension_bytes += (uint32_t)n + 1; /* empty ones count too */
    if (h->n_extension_bytes > h->p.limits->chunk_extension_bytes)
        return reject(h, 400, "chunk extensions are too long");
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    struct h1 *h = OF(parser);
    struct stream *s = h->s;
    h->in_message = false;
    if (!s)
        return 0; /* a discarded body is over; the answer is long out */
    if (!h->p.is_server && s->response.status / 100 == 1 && s->response.status != 101) {
        s->response = (struct head){ 0 };
        return 0;
    }
    if (!h->raw)
        stream_tell_end(s);
    h->message_ended = true;
    return HPE_PAUSED;
}

#define SETTINGS                                                                                                \
    .on_message_begin = on_begin, .on_protocol = on_protocol, .on_header_field = on_field,                      \
    .on_header_value = on_field, .on_header_field_complete = on_field_complete,                                 \
    .on_header_value_complete = on_value_complete, .on_headers_complete = on_head_done, .on_body = on_body,     \
    .on_chunk_extension_name = on_extension, .on_chunk_extension_value = on_extension,                          \
    .on_message_complete = on_complete

static const llhttp_settings_t server_settings = { SETTINGS, .on_url = on_url, .on_url_complete = on_url_complete };
static const llhttp_settings_t client_settings = { SETTINGS };

/* ---- Bytes in ---- */

static void parse_failed(struct h1 *h, llhttp_errno_t rc)
{
    if (h->refuse) {
        refuse(h, h->refuse, h->why);
        return;
    }
    if (rc == HPE_USER) { /* more to discard than is worth it */
        hang_up(h);
        return;
    }
    uint16_t status = rc == HPE_INVALID_METHOD ? 501 : rc == HPE_INVALID_VERSION ? 505 : 400;
    const char *why = llhttp_get_error_reason(&h->parser);
    refuse(h, status, why && *why ? why : "malformed message");
}

/* After the end of a message the parser stands still. A server waits for the answer; a client is through, also when it
 * was answered before all was sent: the rest is not wanted then. */
static void message_over(struct h1 *h)
{
    if (h->p.is_server || h->raw || !h->s)
        return;
    if (!h->s->out_done)
        h->keep_alive = false;
    next_exchange(h);
}

static size_t input_raw(struct h1 *h, struct str bytes)
{
    if (bytes.n)
        stream_tell_body(h->s, bytes);
    if (h->s && h->s->n_in_unread >= h->p.limits->in_window_bytes)
        h->p.in_blocked = true;
    return bytes.n;
}

static size_t h1_input(struct proto *p, struct str bytes)
{
    struct h1 *h = (struct h1 *)p;
    size_t n_taken = 0;
    while (n_taken < bytes.n) {
        struct str rest = str_from(bytes, n_taken);
        if (h->deaf)
            return bytes.n;
        if (h->raw && h->s && h->message_ended)
            return n_taken + input_raw(h, rest);
        if (h->message_ended)
            return n_taken; /* waits for the answer */
        llhttp_errno_t rc = llhttp_execute(&h->parser, rest.p, rest.n);
        if (rc == HPE_OK)
            return bytes.n;
        if (rc != HPE_PAUSED && rc != HPE_PAUSED_UPGRADE) {
            parse_failed(h, rc);
            return bytes.n;
        }
        n_taken += (size_t)(llhttp_get_error_pos(&h->parser) - rest.p);
        if (rc == HPE_PAUSED_UPGRADE)
            llhttp_resume_after_upgrade(&h->parser); /* a wish that was not followed */
        message_over(h);
    }
    return n_taken;
}

static void h1_input_end(struct proto *p)
{
    struct h1 *h = (struct h1 *)p;
    if (h->s && h->raw) {
        stream_tell_end(h->s);
        return;
    }
    if (!p->is_server && h->s && !h->message_ended && h->in_message && llhttp_finish(&h->parser) == HPE_PAUSED) {
        h->keep_alive = false;
        message_over(h);
    }
    struct stream *s = h->s;
    /* A peer may close its half after its last request: an answer that is written already still goes out. */
    if (s && !(p->is_server && h->message_ended && s->out_ended)) {
        h->s = NULL;
        stream_close(s, STREAM_PEER_CLOSED, "the peer closed the connection");
    }
    h->keep_alive = false;
    if (!h->s)
        hang_up(h);
}

/* ---- The rest of the interface ---- */

static int64_t h1_tick(struct proto *p)
{
    struct h1 *h = (struct h1 *)p;
    const struct http_limits *l = p->limits;
    if (!h->idle_since_ms)
        h->idle_since_ms = p->now_ms;
    int64_t next_ms = proto_tick_streams(p);
    bool waits_for_first = p->is_server && p->n_exchanges == 0;
    if (h->deaf)
        return NEVER_MS;
    if (p->is_server && l->head_ms && (h->head_since_ms || waits_for_first)) {
        int64_t deadline_ms = (h->head_since_ms ? h->head_since_ms : h->idle_since_ms) + l->head_ms;
        if (deadline_ms > p->now_ms)
            return earlier_ms(next_ms, deadline_ms);
        if (h->head_since_ms)
            refuse(h, 408, "the request's head took too long");
        else
            hang_up(h);
        return NEVER_MS;
    }
    if (!h->s && l->idle_ms) {
        int64_t deadline_ms = h->idle_since_ms + l->idle_ms;
        if (deadline_ms > p->now_ms)
            return earlier_ms(next_ms, deadline_ms);
        hang_up(h);
        return NEVER_MS;
    }
    return next_ms;
}

static void h1_shutdown(struct proto *p)
{
    struct h1 *h = (struct h1 *)p;
    p->shutting_down = true;
    if (!h->s && !h->in_message)
        hang_up(h);
}

static void h1_free(struct proto *p)
{
    struct h1 *h = (struct h1 *)p;
    strbuf_fini(&h->text);
    strbuf_fini(&h->control);
    proto_fini(p);
    free(h);
}

static bool h1_has_room(const struct proto *p)
{
    const struct h1 *h = (const struct h1 *)p;
    return !h->s && !h->deaf && !p->done && !p->lost && !p->shutting_down && !h->in_message;
}

static void h1_start(struct proto *p, struct stream *s)
{
    struct h1 *h = (struct h1 *)p;
    assert(h1_has_room(p));
    h->s = s;
    h->skip_body = str_is(s->request.method, "HEAD");
    stream_place(s, p);
    proto_wake(p);
}

static void h1_stream_output(struct proto *p, struct stream *s)
{
    (void)s;
    proto_wake(p);
}

static void h1_stream_consumed(struct proto *p, struct stream *s, size_t n)
{
    s->n_in_unread -= n < s->n_in_unread ? n : s->n_in_unread;
    if (p->in_blocked && s->n_in_unread < p->limits->in_window_bytes / 2) {
        p->in_blocked = false;
        proto_wake(p);
    }
}

/* The connection goes with it: HTTP/1 has no other way to stop an exchange. */
static void h1_stream_abort(struct proto *p, struct stream *s, enum stream_status status, const char *why)
{
    struct h1 *h = (struct h1 *)p;
    assert(h->s == s);
    bool begun = s->out_head_sent;
    if (p->is_server && status == STREAM_TIMEOUT && !begun) {
        refuse(h, 408, "the request took too long");
        return;
    }
    h->s = NULL;
    stream_close(s, status, "%s", why);
    h->deaf = true;
    p->lost = true;
    proto_wake(p);
}

static const struct proto_ops h1_ops = {
    .input = h1_input,
    .input_end = h1_input_end,
    .output = h1_output,
    .tick = h1_tick,
    .shutdown = h1_shutdown,
    .free = h1_free,
    .has_room = h1_has_room,
    .start = h1_start,
    .stream_output = h1_stream_output,
    .stream_consumed = h1_stream_consumed,
    .stream_abort = h1_stream_abort,
};

struct proto *h1_new(bool is_server, const struct proto_host *host, void *host_data, const struct http_limits *limits,
                     const struct h1_options *o)
{
    struct h1 *h = mem_zalloc(sizeof(*h));
    proto_init(&h->p, &h1_ops, is_server, host, host_data, limits);
    h->options = *o;
    strbuf_init(&h->text, STRBUF_NO_MAX);
    strbuf_init(&h->control, STRBUF_NO_MAX);
    llhttp_init(&h->parser, is_server ? HTTP_REQUEST : HTTP_RESPONSE, is_server ? &server_settings : &client_settings);
    h->parser.data = h;
    return &h->p;
}
