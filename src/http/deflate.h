/* http/deflate.h - compression for long texts that repeat themselves, as lists of objects do: speed before size.
 *
 * DEFLATE (RFC 1951) with its fixed codes. Matches are found as LZ4 finds them: one place is remembered for each hash of
 * five bytes, the first that fits is taken, and where nothing fits for long the steps grow. On lists this is more than
 * twice as fast as zlib's fastest level, and the result about as large.
 *
 * Thread: one at a time.    Owns: its window. */
#pragma once

#include "base/strbuf.h"

enum {
    DEFLATE_WINDOW_BYTES = 32768, /* how far back a match may lie */
    DEFLATE_HASH_BITS = 14,
};

struct deflate {
    struct strbuf window;  /* what was packed last, then what is to be packed */
    uint32_t origin;       /* which byte of the whole stands first in the window; wraps around */
    uint64_t bits;         /* not yet written, the lowest first */
    unsigned n_bits;
    bool in_block;
    struct {
        uint16_t bits, n_bits;
    } literals[256];
    uint32_t heads[1 << DEFLATE_HASH_BITS]; /* the last place with this hash, counted as origin is */
};

void deflate_init(struct deflate *d);
void deflate_fini(struct deflate *d);
void deflate_input(struct deflate *d, struct str plain, struct strbuf *to);
/* Everything so far can be read by who has got the bytes. */
void deflate_flush(struct deflate *d, struct strbuf *to);
/* Nothing follows. */
void deflate_end(struct deflate *d, struct strbuf *to);
