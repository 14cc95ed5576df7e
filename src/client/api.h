/* client/api.h - requests to one API server, between those who make them and those who carry them.
 *
 * Leader election, events, reflectors and the scheduler's writes are state machines that know neither sockets nor
 * clocks: they are told the time, say when they are due, and send requests through this table of functions. The real
 * one puts credentials, rate limits and retries around http/; tests answer by hand.
 *
 * A request stands in a lane. Lanes are served in the order below, so that a lease never waits behind bindings, nor a
 * binding behind victims, status patches and events.
 *
 * Thread: the loop's. Memory: whoever sends keeps nothing: requests are copied; answers are valid during the call. */
#pragma once

#include "base/str.h"
#include "base/strbuf.h"
#include "codec/object.h"

enum api_lane {
    API_LANE_LEASE,
    API_LANE_READ,   /* lists and gets */
    API_LANE_BIND,   /* and what a binding waits for: volumes and claims */
    API_LANE_EVICT,
    API_LANE_STATUS,
    API_LANE_EVENT,
    N_API_LANES
};

struct api_request {
    enum api_lane lane;
    const char *method;     /* "GET" */
    struct str target;      /* path and query */
    const char *media_type; /* of the body; NULL: it has none */
    struct str body;
    int64_t timeout_ms; /* for the whole of it; 0: none */
    const char *accept; /* forms of the answer that are wanted; NULL: those that are usual here */
};

enum { API_ANSWER_BYTES_MAX = 64 << 20 }; /* of a body that is read as a whole; lists come in pages */

struct api_answer {
    int status;        /* HTTP's; 0: none came, and `error` says why */
    const char *error; /* of the transport; NULL when an answer came */
    bool unsent;       /* of a failed transport: surely nothing reached the server */
    enum media media;  /* of the body */
    struct str body;
};

/* Called once, never before `send` has returned. */
typedef void (*api_done)(void *context, const struct api_answer *answer);

/* A running request; 0 is none. */
typedef uint64_t api_call;

/* An answer that comes piece by piece: `head` once, then `data`, then `end` once. `end` alone when there is no
 * answer. None of them is called before `open` has returned, nor after `cancel`. */
struct api_stream {
    void *context;
    void (*head)(void *context, int status, enum media media);
    /* False: no more until `resume`. */
    bool (*data)(void *context, struct str bytes);
    /* `error` NULL: the server has ended it. */
    void (*end)(void *context, const char *error);
};

struct api {
    void *context;
    enum media media; /* what bodies of ours are written in, patches apart */
    api_call (*send)(void *context, const struct api_request *request, api_done done, void *done_context);
    /* Not limited in rate: a watch is one request. */
    api_call (*open)(void *context, const struct api_request *request, const struct api_stream *stream);
    void (*resume)(void *context, api_call call);
    /* Of either: nothing will be called any more. */
    void (*cancel)(void *context, api_call call);
};

static inline bool api_ok(const struct api_answer *a)
{
    return a->status >= 200 && a->status < 300;
}

/* What went wrong, for a log or a message: the Status's own words where the server sent one. In the arena. */
const char *api_problem(struct arena *a, const struct api_answer *answer);
/* The reason of a Status ("AlreadyExists"); empty when there is none. */
struct str api_status_reason(struct arena *a, const struct api_answer *answer);
/* A value in a query: everything but letters, digits and -_.~ as %XX. */
void api_add_escaped(struct strbuf *to, struct str value);
