/* apiserver/room.h - how much memory clients may make the server hold, all of them together.
 *
 * Counted are the bodies of requests, the arrays of lists and watches under way, answers that wait to be sent, and events that
 * are shared by watchers, as long as one of them has still to send them. What is stored is not, nor what one request takes
 * only while it is worked on: the server works on one at a time.
 *
 * Who asks while there is no room gets 429 and may come again; a part is kept for those whom a cluster cannot do without. A
 * watch of somebody who does not read is ended: the client goes on from where it is.
 *
 * Thread: the store's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    CLIENT_BYTES_MAX = 512 << 20,
    FIRST_CLASS_BYTES = 128 << 20, /* of it; only for them */
};

struct room {
    size_t n_held; /* bodies and arrays */
};

void room_take(struct room *r, size_t n);
void room_give(struct room *r, size_t n);
/* All that counts. */
size_t room_used(const struct room *r);
/* Whether so much more may be held. */
bool room_has(const struct room *r, size_t n, bool first_class);
/* Whether an answer that is made at once, as a whole, may be so large: when hardly anything is held, whatever it has. */
bool room_has_at_once(const struct room *r, size_t n, bool first_class);
