/* tests/fuzz/fuzz_watch.c - what a server sends to a reflector: streams in pieces, pages of lists, refusals.
 *
 * The first byte says how: bit 0 protobuf, bit 1 in pages, bits 2 to 4 the size of the pieces, bit 5 a receiver that is full
 * now and then. The rest is what arrives, for one request after the other: a status (one byte), a length (two bytes), bytes. */
#include <stdlib.h>

#include "base/log.h"
#include "client/reflector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct server {
    struct clock_manual clock;
    struct api_stream stream;
    api_done done;
    void *done_context;
    bool has_stream, has_call, full_now_and_then;
    api_call last;
    unsigned n_taken;
    bool in_list;
};

static api_call play_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    struct server *s = context;
    if (r->target.n == 0 || s->has_stream || s->has_call)
        abort();
    s->done = done;
    s->done_context = done_context;
    s->has_call = true;
    return ++s->last;
}

static api_call play_open(void *context, const struct api_request *r, const struct api_stream *stream)
{
    struct server *s = context;
    if (r->target.n == 0 || s->has_stream || s->has_call)
        abort();
    s->stream = *stream;
    s->has_stream = true;
    return ++s->last;
}

static void play_cancel(void *context, api_call call)
{
    struct server *s = context;
    if (call != s->last)
        abort();
    s->has_stream = s->has_call = false;
}

static void play_resume(void *context, api_call call)
{
    struct server *s = context;
    if (call != s->last || !s->has_stream)
        abort();
}

/* Lists begin and end in turns; objects of a list come in between. */
static bool take(void *context, enum reflected what, const struct watch_object *object)
{
    struct server *s = context;
    if (what == REFLECTED_LIST)
        s->in_list = true;
    if ((what == REFLECTED_LISTED || what == REFLECTED_SYNCED) && !s->in_list)
        abort();
    if (what == REFLECTED_SYNCED)
        s->in_list = false;
    if ((object == NULL) != (what == REFLECTED_LIST))
        abort();
    return !(s->full_now_and_then && ++s->n_taken % 3 == 0);
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static void play_stream(struct server *s, struct reflector *r, int status, enum media media, struct str bytes, size_t piece)
{
    s->stream.head(s->stream.context, status, media);
    while (bytes.n && s->has_stream) {
        struct str part = str_first(bytes, piece);
        bytes = str_from(bytes, part.n);
        if (!s->stream.data(s->stream.context, part))
            for (int i = 0; i < 1000 && s->has_stream; i++)
                reflector_resume(r);
    }
    if (!s->has_stream)
        return;
    s->has_stream = false;
    s->stream.end(s->stream.context, bytes.n % 2 ? "broken" : NULL);
}

static void play_page(struct server *s, int status, enum media media, struct str bytes)
{
    s->has_call = false;
    s->done(s->done_context, &(struct api_answer){ .status = status, .error = status ? NULL : "broken", .media = media,
                                                   .body = bytes });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const uint16_t statuses[] = { 200, 200, 200, 200, 410, 429, 403, 0 };
    if (n == 0)
        return 0;
    log_set_sink(quiet, NULL);
    struct server s = { .full_now_and_then = data[0] & 32 };
    clock_manual_init(&s.clock, 0, 0);
    struct api api = { &s, MEDIA_JSON, play_send, play_open, play_resume, play_cancel };
    struct reflector *r = reflector_new(&(struct reflector_options){
        .api = &api, .clock = &s.clock.clock, .path = "/api/v1/pods", .no_streaming = data[0] & 2, .sink = { &s, take } });
    enum media media = data[0] & 1 ? MEDIA_PROTOBUF : MEDIA_JSON;
    size_t piece = 1u << (data[0] >> 2 & 7) * 2;
    reflector_start(r);
    for (size_t at = 1; at + 3 <= n;) {
        int status = statuses[data[at] & 7];
        size_t length = (size_t)data[at + 1] << 8 | data[at + 2];
        at += 3;
        struct str bytes = str_first((struct str){ (const char *)data + at, n - at }, length);
        at += bytes.n;
        if (s.has_stream)
            play_stream(&s, r, status, media, bytes, piece);
        else if (s.has_call)
            play_page(&s, status, media, bytes);
        reflector_resume(r);
        clock_manual_advance(&s.clock, 61ll * CLOCK_NS_PER_SECOND);
        reflector_tick(r);
    }
    reflector_free(r);
    return 0;
}
