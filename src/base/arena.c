/* base/arena.c - see arena.h. Chunks form a list, newest first; only the newest has free room. */
#include "base/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { CHUNK_SMALL_BYTES = 1024 - 32, CHUNK_FIRST_BYTES = 4096 - 32, CHUNK_MAX_BYTES = 1 << 20 };

#ifdef ARENA_MALLOC
enum { PIECES_ALONE = true }; /* a chunk has one piece, which ends where it ends */
#else
enum { PIECES_ALONE = false };
#endif

struct arena_chunk {
    struct arena_chunk *older;
    size_t n_bytes; /* of data[] */
    _Alignas(16) char data[];
};

_Static_assert(offsetof(struct arena_chunk, data) % 16 == 0, "data must keep malloc's alignment");

void arena_init(struct arena *a)
{
    *a = (struct arena){ 0 };
}

void arena_init_small(struct arena *a)
{
    *a = (struct arena){ .small = true };
}

static void free_chunks(struct arena_chunk *c, const struct arena_chunk *until)
{
    while (c != until) {
        struct arena_chunk *older = c->older;
        free(c);
        c = older;
    }
}

void arena_fini(struct arena *a)
{
    free_chunks(a->chunks, NULL);
    *a = (struct arena){ 0 };
}

/* From `at` on it is free. */
static void use_chunk(struct arena *a, struct arena_chunk *c, char *at)
{
    a->chunks = c;
    a->at = at;
    a->end = c->data + c->n_bytes;
    ASAN_POISON_MEMORY_REGION(at, (size_t)(a->end - at));
}

void arena_reset(struct arena *a)
{
    struct arena_chunk *newest = a->chunks;
    if (!newest)
        return;
    if (PIECES_ALONE) {
        arena_fini(a);
        return;
    }
    free_chunks(newest->older, NULL);
    newest->older = NULL;
    a->n_bytes = sizeof(*newest) + newest->n_bytes;
    use_chunk(a, newest, newest->data);
}

struct arena_mark arena_save(const struct arena *a)
{
    return (struct arena_mark){ a->chunks, a->at };
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    if (!mark.chunk) {
        arena_reset(a);
        return;
    }
    for (struct arena_chunk *c = a->chunks; c != mark.chunk; c = c->older)
        a->n_bytes -= sizeof(*c) + c->n_bytes;
    free_chunks(a->chunks, mark.chunk);
    use_chunk(a, mark.chunk, mark.at);
}

/* Bytes of the next chunk, whose first piece is one of n bytes. */
static size_t chunk_bytes(const struct arena *a, size_t n)
{
    size_t piece = arena_piece_bytes(n);
    size_t want = a->chunks ? a->chunks->n_bytes * 2 : a->small ? CHUNK_SMALL_BYTES : CHUNK_FIRST_BYTES;
    if (want > CHUNK_MAX_BYTES)
        want = CHUNK_MAX_BYTES;
    return (want < piece ? piece : want) & ~(size_t)15;
}

void *arena_alloc_slow(struct arena *a, size_t n)
{
    assert(n < SIZE_MAX / 2);
    size_t want = PIECES_ALONE ? n : chunk_bytes(a, n);
    struct arena_chunk *c = mem_alloc(sizeof(*c) + want);
    c->older = a->chunks;
    c->n_bytes = want;
    a->n_bytes += sizeof(*c) + want;
    use_chunk(a, c, c->data);
    a->at = PIECES_ALONE ? a->end : a->at + arena_piece_bytes(n);
    ASAN_UNPOISON_MEMORY_REGION(c->data, n);
    return c->data;
}

struct str arena_str(struct arena *a, struct str s)
{
    return (struct str){ arena_cstr(a, s), s.n };
}

char *arena_cstr(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    return copy;
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? arena_cstr(a, STR("(a text of more than 2 GiB)")) : arena_alloc(a, (size_t)n + 1);
    if (n >= 0)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(a, format, args);
    va_end(args);
    return text;
}
