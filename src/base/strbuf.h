/* base/strbuf.h - growable bytes with a maximum.
 *
 * Appending past `max` keeps what fits no more: nothing is appended and `overflow` stays set, so a
 * writer may append without looking and check once at the end.
 *
 * Thread: one at a time.    Owns: its bytes (heap). */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "base/str.h"

#define STRBUF_NO_MAX (SIZE_MAX / 2)

struct strbuf {
    char *p; /* not terminated; NULL while empty and unused */
    size_t n, cap, max;
    bool overflow;
};

void strbuf_init(struct strbuf *b, size_t max);
void strbuf_fini(struct strbuf *b);
static inline void strbuf_reset(struct strbuf *b)
{
    b->n = 0;
    b->overflow = false;
}

/* Room for n more bytes, or NULL when that would pass the maximum; strbuf_commit says how many were used. */
char *strbuf_reserve_slow(struct strbuf *b, size_t n);
static inline char *strbuf_reserve(struct strbuf *b, size_t n)
{
    return b->cap - b->n >= n && b->p ? b->p + b->n : strbuf_reserve_slow(b, n);
}
static inline void strbuf_commit(struct strbuf *b, size_t n)
{
    b->n += n;
}

static inline void strbuf_add(struct strbuf *b, const void *p, size_t n)
{
    char *to = n ? strbuf_reserve(b, n) : NULL;
    if (!to)
        return;
    memcpy(to, p, n);
    b->n += n;
}
static inline void strbuf_add_str(struct strbuf *b, struct str s)
{
    strbuf_add(b, s.p, s.n);
}
static inline void strbuf_add_char(struct strbuf *b, char c)
{
    char *to = strbuf_reserve(b, 1);
    if (!to)
        return;
    *to = c;
    b->n++;
}
#define STRBUF_ADD_LIT(b, literal) strbuf_add((b), ("" literal), sizeof(literal) - 1)

void strbuf_add_text(struct strbuf *b, const char *text);
void strbuf_add_int(struct strbuf *b, int64_t value);
void strbuf_add_uint(struct strbuf *b, uint64_t value);
void strbuf_printf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As Go's %q: double quotes, \n \t \" \\ \x00 \u0000 forms, other printable runes as they are. */
void strbuf_add_quoted(struct strbuf *b, struct str s);

/* For messages, which would repeat whole bodies otherwise: a longer text is cut, and how long it is stands behind
 * three dots. */
enum { STRBUF_SHOWN_BYTES_MAX = 16 << 10 };
void strbuf_add_shown(struct strbuf *b, struct str s);
/* The same between quotes, as strbuf_add_quoted. */
void strbuf_add_quoted_shown(struct strbuf *b, struct str s);

static inline struct str strbuf_str(const struct strbuf *b)
{
    return (struct str){ b->p, b->n };
}
/* Terminated; valid until the next change. */
const char *strbuf_cstr(struct strbuf *b);
