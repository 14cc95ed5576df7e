/* base/str.h - a borrowed slice of bytes.
 *
 * Not terminated, may hold any byte. The memory belongs to someone else; a slice lives as long as that.
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p; /* may be NULL when n is 0 */
    size_t n;
};

#define STR(literal) ((struct str){ ("" literal), sizeof(literal) - 1 })
/* For printf-like functions: printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) str_precision((s).n), (s).p ? (s).p : ""

/* printf takes an int; longer texts are cut there. */
static inline int str_precision(size_t n)
{
    return n < INT32_MAX ? (int)n : INT32_MAX;
}

static inline struct str str_of(const char *text)
{
    return (struct str){ text, text ? strlen(text) : 0 };
}

static inline struct str str_range(const char *from, const char *to)
{
    return (struct str){ from, (size_t)(to - from) };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *text)
{
    return str_eq(a, str_of(text));
}

/* Order of bytes, a prefix before what it begins. */
static inline int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The part from `at` on; empty past the end. */
static inline struct str str_from(struct str s, size_t at)
{
    return at >= s.n ? (struct str){ s.p ? s.p + s.n : NULL, 0 } : (struct str){ s.p + at, s.n - at };
}

static inline struct str str_first(struct str s, size_t n)
{
    return (struct str){ s.p, n < s.n ? n : s.n };
}

/* Index of the first `byte`, or s.n. */
static inline size_t str_index(struct str s, char byte)
{
    const char *hit = s.n ? memchr(s.p, byte, s.n) : NULL;
    return hit ? (size_t)(hit - s.p) : s.n;
}
