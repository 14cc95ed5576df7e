/* tests/fuzz/http_fuzz.h - what the fuzz targets of http share. The first byte of an input chooses the size of the
 * pieces in which the rest arrives and whether the peer goes away at the end; every 16th piece an hour passes. */
#pragma once

#include <stdlib.h>

#include "tests/http_peer.h"

static inline void fuzz_feed(struct peer *peer, const uint8_t *data, size_t n)
{
    static const size_t sizes[] = { 0, 1, 2, 7, 64, 500, 4096, 100000 };
    size_t n_piece = sizes[data[0] & 7];
    struct str rest = { (const char *)data + 1, n - 1 };
    for (int i = 1; rest.n && !peer_ended(peer); i++) {
        struct str piece = str_first(rest, n_piece ? n_piece : rest.n);
        rest = str_from(rest, piece.n);
        peer_feed(peer, piece, 0);
        if (i % 16 == 0 && data[0] & 16)
            peer_advance(peer, 1000);
        if (peer->waiting && data[0] & 32)
            peer_answer(peer, "answer");
        strbuf_reset(&peer->sent);
    }
    if (data[0] & 8 && !peer->p->lost)
        peer_end(peer);
    if (data[0] & 64 && !peer->p->lost)
        peer->p->ops->shutdown(peer->p);
    peer_advance(peer, 3600 * 1000);
    /* Whatever came, nothing is left behind: every request was answered or told its end. */
    if (peer->p->n_streams > 1000)
        abort();
}
