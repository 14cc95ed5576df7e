/* client/reflector.h - keeps a copy of one kind of objects current: a list, then a watch, for ever.
 *
 * The list comes as a watch that begins with all objects (sendInitialEvents) or, where a server refuses that, in pages.
 * A watch that ends goes on from the last version seen. When that version is gone, or the server answers with something
 * else, everything is listed again; whoever receives it finds out what is missing from the list. An internal error of
 * the server is something else only when for half a minute nothing but such errors came. Between tries it waits 0.8 s,
 * doubled up to 30 s, each time up to twice as long by chance; two minutes without need begin anew.
 *
 * Bounds: a frame of the stream, a page of a list (watch_frame.h); a receiver that takes no more stops the stream.
 *
 * Thread: the loop's.    Owns: copies of all texts. */
#pragma once

#include "base/clock.h"
#include "client/api.h"
#include "client/watch_frame.h"

struct reflector;

enum reflected {
    REFLECTED_LIST,    /* a list begins: what is not in it is gone when it ends */
    REFLECTED_LISTED,  /* an object of the list */
    REFLECTED_SYNCED,  /* the list has ended; of the object only the version is there, that of the list */
    REFLECTED_SET,     /* an object is new or has changed */
    REFLECTED_REMOVED, /* an object is gone; this is its last state */
};

/* Whoever receives. Objects are valid during the call. */
struct reflector_sink {
    void *context;
    /* False: no more for now; reflector_resume goes on. What was passed is taken in any case. */
    bool (*take)(void *context, enum reflected what, const struct watch_object *object);
};

struct reflector_options {
    const struct api *api;
    const struct clock *clock;
    const char *path;     /* "/api/v1/pods" */
    const char *selector; /* of the query, escaped: "fieldSelector=..."; NULL: none */
    const char *accept;   /* of the requests (api.h) */
    bool no_streaming;    /* lists come in pages from the start */
    bool may_be_missing;  /* a server that does not know of such objects (404) has none of them; it is asked again */
    struct reflector_sink sink;
    uint64_t seed;
};

struct reflector *reflector_new(const struct reflector_options *o);
void reflector_free(struct reflector *r);

void reflector_start(struct reflector *r);
void reflector_resume(struct reflector *r);
void reflector_tick(struct reflector *r);
/* Monotonic; INT64_MAX: nothing. */
int64_t reflector_due_ms(const struct reflector *r);

/* A list has been received whole at least once. */
bool reflector_has_synced(const struct reflector *r);

struct reflector_counts {
    uint64_t lists, watches, events, errors;
};
struct reflector_counts reflector_counts(const struct reflector *r);
