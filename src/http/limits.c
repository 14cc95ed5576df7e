/* http/limits.c - the defaults of limits.h. */
#include "http/limits.h"

/* What both ends have. Resets as later versions of nghttp2 bound them; the other budgets are far above what
 * well-behaved peers use (gRPC probes the bandwidth with a PING per round trip) and far below what hurts. */
#define COMMON \
    .head_bytes = 128 << 10, .head_fields = 1000, .target_bytes = 64 << 10, .trailer_bytes = 16 << 10, \
    .informational = 5, .in_window_bytes = 256 << 10, .out_bytes = 256 << 10, .chunk_extension_bytes = 16 << 10, \
    .discard_bytes = 256 << 10, .header_block_bytes = 128 << 10, .continuations = 8, \
    .resets = { 1000, 33 }, .pings = { 1000, 200 }, .settings = { 100, 10 }, .priorities = { 1000, 100 }, \
    .empty_frames = { 100, 10 }, .window_updates = { 5000, 1000 }, .refused = { 1000, 33 }, \
    .handshake_ms = 10000, .write_stall_ms = 60000, .linger_ms = 1000

const struct http_limits http_server_limits = {
    COMMON,
    .streams = 250,
    .head_ms = 32000, /* as upstream's secure port: ReadHeaderTimeout */
    .request_ms = 60000,
    .idle_ms = 90000, /* as upstream's secure port: IdleTimeout */
};

/* The HTTP/2 health check is client-go's. */
const struct http_limits http_client_limits = {
    COMMON,
    .streams = 1000,
    .idle_ms = 90000,
    .read_idle_ms = 30000,
    .ping_ms = 15000,
};
