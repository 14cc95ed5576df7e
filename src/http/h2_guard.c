/* http/h2_guard.c - see h2_guard.h. */
#include "http/h2_guard.h"

enum {
    FRAME_DATA = 0,
    FRAME_HEADERS = 1,
    FRAME_PRIORITY = 2,
    FRAME_RST_STREAM = 3,
    FRAME_SETTINGS = 4,
    FRAME_PUSH_PROMISE = 5,
    FRAME_PING = 6,
    FRAME_GOAWAY = 7,
    FRAME_WINDOW_UPDATE = 8,
    FRAME_CONTINUATION = 9,
    FLAG_END_STREAM = 1,
    FLAG_END_HEADERS = 4,
    FLAG_PADDED = 8,
    HEAD_BYTES = 9,
};

static const char *const kind_names[] = {
    [H2_RESETS] = "resets", [H2_PINGS] = "pings", [H2_SETTINGS] = "settings", [H2_PRIORITIES] = "priorities",
    [H2_EMPTY_FRAMES] = "empty_frames", [H2_WINDOW_UPDATES] = "window_updates", [H2_REFUSED] = "refused",
};

static struct http_budget budget_of(const struct http_limits *l, enum h2_kind kind)
{
    const struct http_budget all[] = {
        [H2_RESETS] = l->resets, [H2_PINGS] = l->pings, [H2_SETTINGS] = l->settings, [H2_PRIORITIES] = l->priorities,
        [H2_EMPTY_FRAMES] = l->empty_frames, [H2_WINDOW_UPDATES] = l->window_updates, [H2_REFUSED] = l->refused,
    };
    return all[kind];
}

void h2_guard_init(struct h2_guard *g, const struct http_limits *limits, uint32_t n_preface, int64_t now_ms)
{
    *g = (struct h2_guard){ .limits = limits, .filled_ms = now_ms, .n_skip = n_preface };
    for (int k = 0; k < H2_N_KINDS; k++)
        g->millis_left[k] = 1000 * (int64_t)budget_of(limits, (enum h2_kind)k).burst;
}

static void refill(struct h2_guard *g, int64_t now_ms)
{
    int64_t passed_ms = now_ms - g->filled_ms;
    if (passed_ms <= 0)
        return;
    g->filled_ms = now_ms;
    if (passed_ms > 3600000)
        passed_ms = 3600000; /* an hour fills every store; no overflow */
    for (int k = 0; k < H2_N_KINDS; k++) {
        struct http_budget b = budget_of(g->limits, (enum h2_kind)k);
        int64_t full = 1000 * (int64_t)b.burst, more = g->millis_left[k] + passed_ms * b.per_second;
        if (g->millis_left[k] < full) /* what was earned beyond stays */
            g->millis_left[k] = more < full ? more : full;
    }
}

const char *h2_guard_count(struct h2_guard *g, enum h2_kind kind, int64_t now_ms)
{
    refill(g, now_ms);
    g->millis_left[kind] -= 1000;
    return g->millis_left[kind] < 0 ? kind_names[kind] : NULL;
}

void h2_guard_earn_window_updates(struct h2_guard *g, uint32_t n)
{
    if (g->millis_left[H2_WINDOW_UPDATES] < 1000000000)
        g->millis_left[H2_WINDOW_UPDATES] += 1000 * (int64_t)n;
}

/* A part of a header block: HEADERS, PUSH_PROMISE or CONTINUATION. */
static const char *count_block(struct h2_guard *g, uint32_t n_bytes, uint8_t flags, bool first, int64_t now_ms)
{
    if (first) {
        g->n_block_bytes = g->n_continuations = 0;
        g->block_since_ms = now_ms;
    } else if (++g->n_continuations > g->limits->continuations) {
        return "continuations";
    }
    g->n_block_bytes += n_bytes;
    if (flags & FLAG_END_HEADERS)
        g->block_since_ms = 0;
    return g->n_block_bytes > g->limits->header_block_bytes ? "header_block_bytes" : NULL;
}

static const char *count_frame(struct h2_guard *g, uint32_t n_bytes, uint8_t type, uint8_t flags, int64_t now_ms)
{
    switch (type) {
    case FRAME_DATA: {
        uint32_t n_padding = flags & FLAG_PADDED ? 1u + g->head[HEAD_BYTES] : 0;
        bool empty = n_bytes <= n_padding && !(flags & FLAG_END_STREAM);
        return empty ? h2_guard_count(g, H2_EMPTY_FRAMES, now_ms) : NULL;
    }
    case FRAME_HEADERS:
    case FRAME_PUSH_PROMISE:
        return count_block(g, n_bytes, flags, true, now_ms);
    case FRAME_CONTINUATION:
        return count_block(g, n_bytes, flags, false, now_ms);
    case FRAME_RST_STREAM:
        return h2_guard_count(g, H2_RESETS, now_ms);
    case FRAME_SETTINGS:
    case FRAME_GOAWAY:
        return h2_guard_count(g, H2_SETTINGS, now_ms);
    case FRAME_PING:
        return h2_guard_count(g, H2_PINGS, now_ms);
    case FRAME_WINDOW_UPDATE:
        return h2_guard_count(g, H2_WINDOW_UPDATES, now_ms);
    default:
        return h2_guard_count(g, H2_PRIORITIES, now_ms);
    }
}

static uint32_t frame_bytes(const struct h2_guard *g)
{
    return (uint32_t)g->head[0] << 16 | (uint32_t)g->head[1] << 8 | g->head[2];
}

/* How many bytes of the frame must be seen before it is counted. */
static uint8_t head_wanted(const struct h2_guard *g)
{
    bool padded_data = g->n_head >= HEAD_BYTES && g->head[3] == FRAME_DATA && g->head[4] & FLAG_PADDED;
    return padded_data && frame_bytes(g) > 0 ? HEAD_BYTES + 1 : HEAD_BYTES;
}

const char *h2_guard_input(struct h2_guard *g, struct str bytes, int64_t now_ms)
{
    while (bytes.n) {
        if (g->n_skip) {
            size_t n = bytes.n < g->n_skip ? bytes.n : g->n_skip;
            g->n_skip -= n;
            bytes = str_from(bytes, n);
            continue;
        }
        g->head[g->n_head++] = (uint8_t)bytes.p[0];
        bytes = str_from(bytes, 1);
        if (g->n_head < HEAD_BYTES || g->n_head < head_wanted(g))
            continue;
        g->n_skip = frame_bytes(g) - (uint32_t)(g->n_head - HEAD_BYTES);
        g->n_head = 0;
        const char *passed = count_frame(g, frame_bytes(g), g->head[3], g->head[4], now_ms);
        if (passed)
            return passed;
    }
    return NULL;
}
