/* http/deflate.c - see deflate.h. */
#include "http/deflate.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum {
    MATCH_MIN = 5,
    MATCH_MAX = 258,
    PIECE_BYTES = 64 << 10, /* packed at once: bounds the window */
    STEP_SHIFT = 6,         /* after so many bytes (a power of two) without a match the steps grow by one */
    END_OF_BLOCK = 256,
    LOAD_BYTES = 8,
};
#define HASH_FACTOR 0x9e3779b185ebca87u

/* ---- Codes ---- */

/* Codes stand in the stream with their highest bit first, all else with the lowest. */
static uint16_t reversed(unsigned code, unsigned n_bits)
{
    unsigned r = 0;
    for (unsigned i = 0; i < n_bits; i++)
        r |= (code >> i & 1) << (n_bits - 1 - i);
    return (uint16_t)r;
}

void deflate_init(struct deflate *d)
{
    *d = (struct deflate){ 0 };
    strbuf_init(&d->window, STRBUF_NO_MAX);
    for (unsigned i = 0; i < 256; i++) {
        d->literals[i].n_bits = i < 144 ? 8 : 9;
        d->literals[i].bits = i < 144 ? reversed(0x30 + i, 8) : reversed(0x190 + i - 144, 9);
    }
}

void deflate_fini(struct deflate *d)
{
    strbuf_fini(&d->window);
}

/* ---- Bits ---- */

/* Where bits go during a call: there is room for all of them. */
struct writer {
    uint64_t bits;
    unsigned n_bits;
    char *to;
};

static inline void put(struct writer *w, uint32_t bits, unsigned n_bits)
{
    w->bits |= (uint64_t)bits << w->n_bits;
    w->n_bits += n_bits;
    if (w->n_bits < 32)
        return;
    uint32_t word = htole32((uint32_t)w->bits);
    memcpy(w->to, &word, sizeof(word));
    w->to += sizeof(word);
    w->bits >>= 32;
    w->n_bits -= 32;
}

static struct writer begin_writing(struct deflate *d, struct strbuf *to, size_t n_max)
{
    char *room = strbuf_reserve(to, n_max);
    assert(room);
    return (struct writer){ d->bits, d->n_bits, room };
}

static void end_writing(struct deflate *d, const struct writer *w, struct strbuf *to)
{
    strbuf_commit(to, (size_t)(w->to - (to->p + to->n)));
    d->bits = w->bits;
    d->n_bits = w->n_bits;
}

/* The last bits, with zeros up to a whole byte. */
static void put_rest(struct writer *w)
{
    for (; w->n_bits > 0; w->n_bits -= w->n_bits < 8 ? w->n_bits : 8) {
        *w->to++ = (char)w->bits;
        w->bits >>= 8;
    }
}

/* ---- Symbols ---- */

static void put_length_symbol(struct writer *w, unsigned symbol)
{
    if (symbol < 280)
        put(w, reversed(symbol - END_OF_BLOCK, 7), 7);
    else
        put(w, reversed(0xc0 + symbol - 280, 8), 8);
}

static unsigned log2_of(unsigned x)
{
    return 31 - (unsigned)__builtin_clz(x);
}

/* Symbols of lengths: 8 for one each, then 4 for every doubling, with the bits below as they are. */
static void put_length(struct writer *w, unsigned length)
{
    unsigned x = length - 3;
    if (length == MATCH_MAX) {
        put_length_symbol(w, 285);
    } else if (x < 8) {
        put_length_symbol(w, 257 + x);
    } else {
        unsigned n_extra = log2_of(x) - 2;
        put_length_symbol(w, 257 + 4 * (n_extra + 1) + (x >> n_extra & 3));
        put(w, x & ((1u << n_extra) - 1), n_extra);
    }
}

/* Of distances: 4 for one each, then 2 for every doubling. */
static void put_distance(struct writer *w, unsigned distance)
{
    unsigned x = distance - 1;
    if (x < 4) {
        put(w, reversed(x, 5), 5);
        return;
    }
    unsigned n_extra = log2_of(x) - 1;
    put(w, reversed(2 * (n_extra + 1) + (x >> n_extra & 1), 5), 5);
    put(w, x & ((1u << n_extra) - 1), n_extra);
}

/* One of any length, in parts; the last part must not become too short to be one. */
static void put_match(struct writer *w, size_t length, unsigned distance)
{
    while (length) {
        size_t n = length > MATCH_MAX + MATCH_MIN ? MATCH_MAX : length > MATCH_MAX ? length / 2 : length;
        put_length(w, (unsigned)n);
        put_distance(w, distance);
        length -= n;
    }
}

static void put_literals(const struct deflate *d, struct writer *w, const uint8_t *from, const uint8_t *end)
{
    for (; from < end; from++)
        put(w, d->literals[*from].bits, d->literals[*from].n_bits);
}

/* ---- Matches ---- */

static inline uint64_t load(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return le64toh(x);
}

/* Of five bytes. */
static inline uint32_t hash(uint64_t bytes)
{
    return (uint32_t)(((bytes << 24) * HASH_FACTOR) >> (64 - DEFLATE_HASH_BITS));
}

static size_t common_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *a_end)
{
    const uint8_t *begin = a;
    for (; a_end - a >= LOAD_BYTES; a += LOAD_BYTES, b += LOAD_BYTES) {
        uint64_t differs = load(a) ^ load(b);
        if (differs)
            return (size_t)(a - begin) + (size_t)__builtin_ctzll(differs) / 8;
    }
    while (a < a_end && *a == *b) {
        a++;
        b++;
    }
    return (size_t)(a - begin);
}

/* How far back the same five bytes stand, or 0; this place is remembered in any case. */
static inline uint32_t find_match(struct deflate *d, const uint8_t *begin, const uint8_t *at)
{
    uint64_t bytes = load(at);
    uint32_t index = (uint32_t)(at - begin), *head = &d->heads[hash(bytes)];
    uint32_t distance = d->origin + index - *head;
    *head = d->origin + index;
    if (distance == 0 || distance > DEFLATE_WINDOW_BYTES || distance > index)
        return 0;
    return (load(at - distance) ^ bytes) << 24 ? 0 : distance;
}

/* Packs the window from `from` on. */
static void pack(struct deflate *d, size_t from, struct writer *w)
{
    const uint8_t *begin = (const uint8_t *)d->window.p, *end = begin + d->window.n;
    const uint8_t *at = begin + from, *literals = at;
    while (end - at >= LOAD_BYTES) {
        uint32_t distance = find_match(d, begin, at);
        if (!distance) {
            at += 1 + ((at - literals) >> STEP_SHIFT);
            continue;
        }
        size_t length = MATCH_MIN + common_bytes(at + MATCH_MIN, at + MATCH_MIN - distance, end);
        put_literals(d, w, literals, at);
        put_match(w, length, distance);
        at += length;
        literals = at;
    }
    put_literals(d, w, literals, end);
}

/* ---- The whole ---- */

/* What lies too far back is forgotten. */
static void move_window(struct deflate *d)
{
    size_t n_old = d->window.n;
    if (n_old <= DEFLATE_WINDOW_BYTES)
        return;
    size_t n_gone = n_old - DEFLATE_WINDOW_BYTES;
    memmove(d->window.p, d->window.p + n_gone, DEFLATE_WINDOW_BYTES);
    d->window.n = DEFLATE_WINDOW_BYTES;
    d->origin += (uint32_t)n_gone;
}

static void begin_block(struct deflate *d, struct writer *w)
{
    if (!d->in_block)
        put(w, 1 << 1, 3); /* not the last; fixed codes */
    d->in_block = true;
}

static void end_block(struct deflate *d, struct writer *w)
{
    if (d->in_block)
        put_length_symbol(w, END_OF_BLOCK);
    d->in_block = false;
}

void deflate_input(struct deflate *d, struct str plain, struct strbuf *to)
{
    while (plain.n) {
        struct str piece = str_first(plain, PIECE_BYTES);
        plain = str_from(plain, piece.n);
        move_window(d);
        size_t from = d->window.n;
        strbuf_add_str(&d->window, piece);
        struct writer w = begin_writing(d, to, piece.n + piece.n / 8 + 16); /* at most 9 bits a byte */
        begin_block(d, &w);
        pack(d, from, &w);
        end_writing(d, &w, to);
    }
}

/* An empty block of plain bytes begins at a whole byte. */
void deflate_flush(struct deflate *d, struct strbuf *to)
{
    struct writer w = begin_writing(d, to, 32);
    end_block(d, &w);
    put(&w, 0, 3);
    put_rest(&w);
    put(&w, 0xffff0000u, 32);
    end_writing(d, &w, to);
}

void deflate_end(struct deflate *d, struct strbuf *to)
{
    struct writer w = begin_writing(d, to, 32);
    end_block(d, &w);
    put(&w, 1 | 1 << 1, 3); /* the last one, empty */
    put_length_symbol(&w, END_OF_BLOCK);
    put_rest(&w);
    end_writing(d, &w, to);
}
