/* apiserver/encode.h - objects, lists and events of a watch in the form that a client asked for.
 *
 * The bytes of an item are its JSON already, so most answers are copies. Everything else (another version of the kind,
 * tables, metadata alone, YAML) is made from the value.
 *
 * Thread: the store's. Memory: buffers of the caller; items are borrowed. */
#pragma once

#include "apiserver/negotiate.h"
#include "apiserver/stored.h"
#include "apiserver/table.h"

struct encoder {
    struct stored *objects;
    const struct resource *resource; /* as the request names it */
    struct answer_form form;
    bool pretty; /* JSON for a person */
    struct table_options table;
};

/* The object of an item; ends with a newline where upstream's does. */
void encode_item(struct encoder *e, struct store_item *item, struct strbuf *to);
/* An object that is stored nowhere (dry run, a subresource): of type `t`, which is the served one. */
void encode_value(struct encoder *e, const struct type *t, const struct value *v, struct strbuf *to);

/* ---- Lists ---- */

struct list_encoder {
    struct encoder encoder;
    struct store_item *const *items;
    size_t n, at;
    struct table_meta meta;
    bool begun, ended;
};

/* Appends the next part, at least `room` bytes unless it is the last one. False: that was all. Lists that are not plain JSON or
 * protobuf come as one part. */
/* Whether a list comes in parts. */
bool encodes_in_parts(const struct encoder *e);
bool encode_list_part(struct list_encoder *l, size_t room, struct strbuf *to);

/* ---- Watches ---- */

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED };

/* One event. `revision` is what a deleted object says: 0 for the item's own. */
void encode_event(struct encoder *e, enum event_type type, struct store_item *item, uint64_t revision,
                  struct strbuf *to);
/* `initial_events_end`: what was there when the watch began has been sent. */
void encode_bookmark(struct encoder *e, uint64_t revision, bool initial_events_end, struct strbuf *to);
/* An ERROR event; a Status, whatever was asked for. */
struct status;
void encode_error_event(struct encoder *e, const struct status *s, struct strbuf *to);
/* Whether both give the same bytes for the same event. */
bool encoders_agree(const struct encoder *a, const struct encoder *b);
