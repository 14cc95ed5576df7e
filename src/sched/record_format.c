/* sched/record_format.c - see record_format.h. */
#include "sched/record_format.h"

#include "base/crc32c.h"

/* ---- Payloads ---- */

uint64_t record_get_u64(struct record_wire *w)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && w->p < w->end; shift += 7) {
        uint8_t byte = (uint8_t)*w->p++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    w->bad = true;
    w->p = w->end;
    return 0;
}

int64_t record_get_i64(struct record_wire *w)
{
    uint64_t value = record_get_u64(w);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

struct str record_get_text(struct record_wire *w)
{
    uint64_t n = record_get_u64(w);
    if (n > (size_t)(w->end - w->p)) {
        w->bad = true;
        w->p = w->end;
        return (struct str){ w->end, 0 };
    }
    struct str text = { w->p, (size_t)n };
    w->p += n;
    return text;
}

uint32_t record_get_count(struct record_wire *w, size_t item_bytes)
{
    uint64_t n = record_get_u64(w);
    if (n <= (size_t)(w->end - w->p) / item_bytes)
        return (uint32_t)n; /* payloads are shorter than 4 GiB */
    w->bad = true;
    return 0;
}

/* ---- Frames ---- */

static void put_le(char *to, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (char)(value >> 8 * i);
}

static uint32_t get_le32(const char *from)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)(uint8_t)from[i] << 8 * i;
    return value;
}

static uint32_t sum_of(uint64_t number, uint8_t type, struct str payload)
{
    char head[9];
    put_le(head, number, 8);
    head[8] = (char)type;
    return crc32c(crc32c(0, head, sizeof(head)), payload.p, payload.n);
}

void record_frame_add(struct strbuf *to, uint64_t number, uint8_t type, struct str payload)
{
    char header[RECORD_HEADER_BYTES];
    put_le(header, payload.n, 4);
    put_le(header + 4, sum_of(number, type, payload), 4);
    header[8] = (char)type;
    strbuf_add(to, header, sizeof(header));
    strbuf_add_str(to, payload);
}

enum frame_check record_frame_read(struct str bytes, size_t at, uint64_t number, struct record_frame *ret_frame,
                                   size_t *ret_n_bytes)
{
    struct str rest = str_from(bytes, at);
    if (rest.n == 0)
        return FRAME_NONE;
    if (rest.n < RECORD_HEADER_BYTES)
        return FRAME_TORN;
    uint32_t n = get_le32(rest.p);
    if (n > RECORD_PAYLOAD_BYTES_MAX)
        return FRAME_DAMAGED;
    if (rest.n - RECORD_HEADER_BYTES < n)
        return FRAME_TORN;
    struct record_frame frame = { (uint8_t)rest.p[8], { rest.p + RECORD_HEADER_BYTES, n } };
    if (sum_of(number, frame.type, frame.payload) != get_le32(rest.p + 4))
        return FRAME_DAMAGED;
    *ret_frame = frame;
    *ret_n_bytes = RECORD_HEADER_BYTES + (size_t)n;
    return FRAME_GOOD;
}
