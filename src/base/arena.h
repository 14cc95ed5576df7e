/* base/arena.h - memory that belongs to a lifetime: allocate piece by piece, free all at once.
 *
 * One arena per request, cycle, command or process. Nothing inside is freed alone. Chunks double up to
 * a maximum, so an arena of n bytes costs O(log n) calls to malloc. arena_reset keeps the largest
 * chunk for the next use. Running out of memory aborts; sizes that a peer chooses are checked by callers.
 *
 * Under AddressSanitizer the bytes of a chunk that belong to no piece are poisoned, and every piece has some of them
 * behind it. A build with -Darena_malloc=true gives every piece a chunk of its own, for fuzzers: then also what is
 * used after a rewind is seen.
 *
 * Thread: one at a time.    Owns: its chunks. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif
#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define ARENA_GAP_BYTES 16
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ARENA_GAP_BYTES 0
#endif

struct arena_chunk;

struct arena {
    char *at, *end; /* free part of the newest chunk */
    struct arena_chunk *chunks;
    size_t n_bytes; /* taken from malloc, chunk headers included */
    bool small;     /* the first chunk has a quarter of the usual size */
};

struct arena_mark {
    struct arena_chunk *chunk;
    char *at;
};

void arena_init(struct arena *a);
/* The same for what holds a few texts, of which there may be thousands at once. */
void arena_init_small(struct arena *a);
void arena_fini(struct arena *a);
/* Everything allocated so far is gone; the memory stays for reuse, one chunk of it. */
void arena_reset(struct arena *a);

/* A point to come back to: what was allocated after the mark is gone after the rewind. */
struct arena_mark arena_save(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);

void *arena_alloc_slow(struct arena *a, size_t n);

/* What a piece takes of a chunk. One of 0 bytes takes room too, so that every piece has an address of its own. */
static inline size_t arena_piece_bytes(size_t n)
{
    return ((n + 15 + !n) & ~(size_t)15) + ARENA_GAP_BYTES;
}

/* Not zeroed. Aligned to 16. */
static inline void *arena_alloc(struct arena *a, size_t n)
{
    size_t rounded = arena_piece_bytes(n);
    if (rounded < n || (size_t)(a->end - a->at) < rounded)
        return arena_alloc_slow(a, n);
    void *p = a->at;
    a->at += rounded;
    ASAN_UNPOISON_MEMORY_REGION(p, n);
    return p;
}

/* Zeroed. */
static inline void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}
/* Zeroed; aborts when n * size overflows. */
static inline void *arena_zalloc_n(struct arena *a, size_t n, size_t size)
{
    return arena_zalloc(a, mem_product(n, size));
}

#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_NEW_N(a, type, n) ((type *)arena_zalloc_n((a), (n), sizeof(type)))

/* Copies, terminated by a NUL that does not count. */
struct str arena_str(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
