/* http/limits.h - every limit on what a peer can choose, by name, with its default. What happens at each stands beside
 * it.
 *
 * One table serves both ends; times are off at 0. ARCHITECTURE.md shows the same list.
 * Thread: any; never changed while in use. */
#pragma once

#include <stdint.h>

/* How many events of a kind a peer may cause: a store of `burst`, refilled by `per_second`. */
struct http_budget {
    uint32_t burst, per_second;
};

struct http_limits {
    /* Heads. A server answers 431 (414 for the target), a client gives the connection up. */
    uint32_t head_bytes;    /* names, values and target */
    uint32_t head_fields;
    uint32_t target_bytes;
    uint32_t trailer_bytes; /* more: the exchange fails */
    uint32_t informational; /* 1xx answers before the real one; more: the exchange fails */

    /* Bodies. */
    uint32_t in_window_bytes;       /* unread body of one exchange; then its peer must wait */
    uint32_t out_bytes;             /* body written but not yet sent; then stream_write refuses */
    uint32_t chunk_extension_bytes; /* of all chunks of a body; more: 400 and close */
    uint32_t discard_bytes;         /* of a request's body that nobody wants; then the connection is closed */

    /* HTTP/2; beyond: GOAWAY with ENHANCE_YOUR_CALM. */
    uint32_t streams;                  /* at once on a connection; one more is refused */
    uint32_t header_block_bytes;       /* compressed */
    uint32_t continuations;            /* frames of one header block */
    struct http_budget resets;         /* RST_STREAM */
    struct http_budget pings;          /* PING, and acknowledgements nobody waits for */
    struct http_budget settings;       /* SETTINGS */
    struct http_budget priorities;     /* PRIORITY, and frames of unknown types */
    struct http_budget empty_frames;   /* DATA without bytes that ends nothing */
    struct http_budget window_updates; /* one more is earned for each DATA frame sent and stream opened */
    struct http_budget refused;        /* streams that had to be refused or were malformed */

    /* Times. */
    int64_t handshake_ms;    /* TLS; then the connection is closed */
    /* from the first byte of a head to its last, and for a server's first request; 408 or GOAWAY */
    int64_t head_ms;
    int64_t request_ms;      /* servers: from head to the end of the request's body; 408 or reset */
    int64_t idle_ms;         /* without exchange; then the connection is closed */
    int64_t write_stall_ms;  /* something to send and the peer takes nothing; connection or stream is cut */
    int64_t read_idle_ms;    /* HTTP/2: no frame for so long: a PING is sent */
    int64_t ping_ms;         /* ... and without an answer for so long the connection is closed */
    int64_t linger_ms;       /* after the last answer, for the peer to read it and stop sending */
};

extern const struct http_limits http_server_limits, http_client_limits;
