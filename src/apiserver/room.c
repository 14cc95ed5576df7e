/* apiserver/room.c - see room.h. */
#include "apiserver/room.h"

#include <assert.h>

#include "base/blob.h"
#include "http/stream.h"

enum { HARDLY_ANYTHING_BYTES = CLIENT_BYTES_MAX / 8 };

void room_take(struct room *r, size_t n)
{
    r->n_held += n;
}

void room_give(struct room *r, size_t n)
{
    assert(n <= r->n_held);
    r->n_held -= n;
}

size_t room_used(const struct room *r)
{
    return r->n_held + stream_bytes_waiting() + blob_bytes_alive();
}

bool room_has(const struct room *r, size_t n, bool first_class)
{
    size_t max = CLIENT_BYTES_MAX - (first_class ? 0 : FIRST_CLASS_BYTES), used = room_used(r);
    return used <= max && n <= max - used;
}

bool room_has_at_once(const struct room *r, size_t n, bool first_class)
{
    return room_has(r, n, first_class) || room_used(r) < HARDLY_ANYTHING_BYTES;
}
