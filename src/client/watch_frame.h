/* client/watch_frame.h - the pieces of a watch stream and of a list, cut out of their bytes without decoding them.
 *
 * A JSON stream is one object a line, a protobuf stream frames with four bytes of length. An event carries a whole
 * object, of which only the metadata is looked at: its version, and the annotation that ends an initial list.
 *
 * Thread: any. Memory: slices of the input, unescaped texts in the arena. */
#pragma once

#include "base/arena.h"
#include "codec/object.h"
#include "forms/fill.h"

/* The largest frame: an object of the largest size that servers store, twice, as JSON has escapes. */
enum { WATCH_FRAME_BYTES_MAX = 8 << 20 };

/* The first whole frame in `bytes`: how many bytes it takes, or 0 when more are needed, or SIZE_MAX when it can be
 * none. ret_frame is without what surrounds it. An empty frame is white space between JSON objects. */
size_t watch_frame_cut(enum media media, struct str bytes, struct str *ret_frame);

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

/* An object as a typed form can be filled from it. */
struct watch_object {
    enum typed_format format;
    struct str bytes;
    struct str version; /* metadata.resourceVersion; empty when there is none */
    bool ends_list;     /* has the annotation k8s.io/initial-events-end: "true" */
};

struct watch_event {
    enum watch_type type;
    struct watch_object object; /* of an error: bytes only */
    int code;                   /* of an error: the Status's; 500 when it has none */
    struct str message;         /* of an error */
};

enum err_code watch_event_read(struct arena *a, enum media media, struct str frame, struct watch_event *ret_event,
                               struct err *e) ERR_MUST_CHECK;

/* A page of a list. */
struct list_page {
    struct str version, next; /* next: token of the page behind it; empty: this is the last */
    const struct watch_object *items;
    size_t n_items;
};

enum err_code list_page_read(struct arena *a, enum media media, struct str body, struct list_page *ret_page,
                             struct err *e) ERR_MUST_CHECK;
