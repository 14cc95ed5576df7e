/* tests/played_api.h - a struct api whose server is played by hand: requests are noted, and answered when the test says so.
 *
 * For one test program; everything is static. */
#pragma once

#include <stdlib.h>

#include "base/vec.h"
#include "client/api.h"
#include "tests/test.h"

struct played_request {
    char *method, *target, *body;
    bool is_stream, cancelled, answered;
    int64_t timeout_ms;
    api_done done;
    void *context;
    struct api_stream stream;
};

static VEC(struct played_request) played;

static inline api_call played_note(const struct api_request *r, struct played_request p)
{
    p.method = strdup(r->method);
    p.target = strndup(r->target.p, r->target.n);
    p.body = strndup(r->body.p ? r->body.p : "", r->body.n);
    p.timeout_ms = r->timeout_ms;
    vec_push(&played, p);
    return played.n;
}

static inline api_call played_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    return played_note(r, (struct played_request){ .done = done, .context = done_context });
}

static inline api_call played_open(void *context, const struct api_request *r, const struct api_stream *stream)
{
    (void)context;
    return played_note(r, (struct played_request){ .is_stream = true, .stream = *stream });
}

static inline void played_cancel(void *context, api_call call)
{
    (void)context;
    played.at[call - 1].cancelled = true;
}

static inline void played_resume(void *context, api_call call)
{
    (void)context;
    (void)call;
}

static const struct api played_api = { NULL, MEDIA_JSON, played_send, played_open, played_resume, played_cancel };

static inline void played_answer_with(size_t i, struct api_answer answer)
{
    struct played_request r = played.at[i];
    CHECK(!r.cancelled && !r.answered);
    played.at[i].answered = true;
    r.done(r.context, &answer);
}

/* status 0: no answer came, and `body` says why. */
static inline void played_answer(size_t i, int status, const char *body)
{
    played_answer_with(i, (struct api_answer){ .status = status, .error = status ? NULL : body,
                                               .body = status ? str_of(body) : STR("") });
}

static inline void played_fini(void)
{
    for (size_t i = 0; i < played.n; i++) {
        free(played.at[i].method);
        free(played.at[i].target);
        free(played.at[i].body);
    }
    vec_fini(&played);
}
