/* client/event_body.h - what is sent about an Event: to events.k8s.io/v1 or to core/v1.
 *
 * Thread: any. Memory: texts are borrowed. */
#pragma once

#include "base/rand.h"
#include "base/strbuf.h"
#include "client/event_recorder.h"

struct event_body {
    const struct event_to_record *event;
    struct str note;     /* instead of the event's own */
    struct str name, ns; /* of the Event object */
    int64_t first_wall_ns, last_wall_ns;
    int32_t count; /* events.k8s.io: of its series, 0 for none; core: at least 1 */
    bool combined; /* core: stands for several, and names no reporter */
};

/* "<object>.<nanoseconds in hex>", or something random where that is no name. */
void event_body_add_name(struct strbuf *to, struct rand *rand, struct str object, int64_t wall_ns);
/* The collection that it belongs to: path of the request. */
void event_body_add_target(struct strbuf *to, enum event_api api, struct str ns);
void event_body_add_object(struct strbuf *to, enum event_api api, enum media media, const struct event_body *b);
/* JSON: what another one of it changes. */
void event_body_add_patch(struct strbuf *to, enum event_api api, const struct event_body *b);
