/* sched/record_format.h - the bytes of a recording; shared by record.c, replay.c and record_answers.c
 * only.
 *
 *     berth-record 1\n                     the version line
 *     frame frame frame ...
 *
 *     frame: u32 bytes of payload, u32 CRC-32C, u8 type, payload      numbers little-endian
 *
 * The sum covers the number of the frame (u64, from 0), the type and the payload: a frame that is
 * damaged, missing or in another place does not pass. Payloads are made of varints (7 bits a byte, low
 * ones first; signed ones zigzag) and texts (a varint for the length, then bytes).
 *
 * The first frame is RECORD_START. Inputs follow in the order in which the scheduler got them. What the
 * scheduler asked for while it worked on an input (times, answers of extenders) stands behind that
 * input. The last frame is RECORD_END or RECORD_LIMIT; a recording without one is torn. */
#pragma once

#include "base/strbuf.h"
#include "sched/extender.h"

#define RECORD_VERSION_LINE "berth-record 1\n"

enum {
    RECORD_HEADER_BYTES = 9,
    RECORD_PAYLOAD_BYTES_MAX = 64 << 20,
};

/* Numbers are part of the format; so are those of enum object_kind and enum typed_format. */
enum record_type {
    RECORD_START = 1,
    RECORD_END = 2,     /* hash */
    RECORD_LIMIT = 3,   /* whether there is a hash, hash */
    RECORD_HASH = 4,    /* hash of all decisions so far */
    RECORD_NODE_SET = 16,       /* format, bytes */
    RECORD_NODE_REMOVED = 17,   /* name */
    RECORD_POD_SET = 18,        /* format, bytes */
    RECORD_POD_REMOVED = 19,    /* uid */
    RECORD_OBJECT_SET = 20,     /* kind, format, bytes */
    RECORD_OBJECT_REMOVED = 21, /* kind, namespace, name */
    RECORD_RUN_ONCE = 22,
    RECORD_TICK = 23,
    RECORD_BOUND = 24,         /* ticket, whether there is an error, error */
    RECORD_VOLUMES_BOUND = 25, /* the same */
    RECORD_VICTIM_DONE = 26,   /* the same */
    RECORD_PERMIT = 27,        /* uid, scheduler name, plugin, allow, reason */
    RECORD_NOW_MS = 48,  /* readings before it that gave the old time, the new time */
    RECORD_WALL_S = 49,  /* the same */
    RECORD_ANSWERS = 50, /* of extenders: number, answers */
};

/* What the scheduler asked for while it worked on the input before. */
static inline bool record_is_nested(uint8_t type)
{
    return type >= RECORD_NOW_MS;
}

/* ---- Writing payloads ---- */

static inline void record_put_u64(struct strbuf *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_add_char(b, (char)(value | 0x80));
    strbuf_add_char(b, (char)value);
}

static inline void record_put_i64(struct strbuf *b, int64_t value)
{
    record_put_u64(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void record_put_text(struct strbuf *b, struct str text)
{
    record_put_u64(b, text.n);
    strbuf_add_str(b, text);
}

/* ---- Reading payloads. Past the end and on broken numbers: zeros, and `bad` stays set. ---- */

struct record_wire {
    const char *p, *end;
    bool bad;
};

uint64_t record_get_u64(struct record_wire *w);
int64_t record_get_i64(struct record_wire *w);
/* Points into the payload. */
struct str record_get_text(struct record_wire *w);
/* A count of items that take at least `item_bytes` each: bad when they cannot all be there. */
uint32_t record_get_count(struct record_wire *w, size_t item_bytes);

/* ---- Frames ---- */

struct record_frame {
    uint8_t type;
    struct str payload;
};

/* Appends a frame. */
void record_frame_add(struct strbuf *to, uint64_t number, uint8_t type, struct str payload);

enum frame_check { FRAME_GOOD, FRAME_NONE /* the bytes are at their end */, FRAME_TORN, FRAME_DAMAGED };
/* The frame at `at`; *ret_n_bytes is its whole length. */
enum frame_check record_frame_read(struct str bytes, size_t at, uint64_t number, struct record_frame *ret_frame,
                                   size_t *ret_n_bytes);

/* ---- Extenders' answers: record_answers.c ---- */

void record_put_answers(struct strbuf *to, const struct extender_answer *answers, uint32_t n);
/* False: they do not decode, or are not n. What they point to is copied into the arena. */
bool record_get_answers(struct record_wire *w, struct arena *a, uint32_t n, struct extender_answer *ret_answers);
