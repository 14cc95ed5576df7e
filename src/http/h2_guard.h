/* http/h2_guard.h - counts what a peer sends on an HTTP/2 connection, before anything else looks at it.
 *
 * Reads frame headers only (type, length, flags), whatever the state of their streams, and says which limit is passed
 * first. Independent of what the HTTP/2 library of the system bounds itself.
 *
 * Thread: one at a time. */
#pragma once

#include "base/str.h"
#include "http/limits.h"

enum h2_kind { H2_RESETS, H2_PINGS, H2_SETTINGS, H2_PRIORITIES, H2_EMPTY_FRAMES, H2_WINDOW_UPDATES, H2_REFUSED,
               H2_N_KINDS };

struct h2_guard {
    const struct http_limits *limits;
    int64_t millis_left[H2_N_KINDS]; /* thousandths of an event */
    int64_t filled_ms;               /* when they were refilled last */
    int64_t block_since_ms;          /* a header block is open; 0 = none */
    uint64_t n_skip;                 /* bytes until the next frame header */
    uint32_t n_block_bytes, n_continuations;
    uint8_t head[10];                /* of the frame: header and, for padded DATA, the length of the padding */
    uint8_t n_head;
};

/* n_preface: bytes before the first frame. */
void h2_guard_init(struct h2_guard *g, const struct http_limits *limits, uint32_t n_preface, int64_t now_ms);
/* NULL, or the name of the limit that these bytes pass. */
const char *h2_guard_input(struct h2_guard *g, struct str bytes, int64_t now_ms);
/* One event that is known from elsewhere. */
const char *h2_guard_count(struct h2_guard *g, enum h2_kind kind, int64_t now_ms);
/* What we sent gives the peer reason for n window updates more. */
void h2_guard_earn_window_updates(struct h2_guard *g, uint32_t n);
