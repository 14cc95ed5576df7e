/* base/arena.c - see arena.h. Chunks form a list, newest first; only the newest has free room. */
#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { CHUNK_FIRST_BYTES = 4096 - 32, CHUNK_MAX_BYTES = 1 << 20 };

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

static void use_chunk(struct arena *a, struct arena_chunk *c)
{
    a->chunks = c;
    a->at = c->data;
    a->end = c->data + c->n_bytes;
}

void arena_reset(struct arena *a)
{
    struct arena_chunk *newest = a->chunks;
    if (!newest)
        return;
    free_chunks(newest->older, NULL);
    newest->older = NULL;
    a->n_bytes = sizeof(*newest) + newest->n_bytes;
    use_chunk(a, newest);
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
    use_chunk(a, mark.chunk);
    a->at = mark.at;
}

void *arena_alloc_slow(struct arena *a, size_t n)
{
    assert(n < SIZE_MAX / 2);
    size_t rounded = arena_piece_bytes(n);
    size_t want = a->chunks ? a->chunks->n_bytes * 2 : CHUNK_FIRST_BYTES;
    if (want > CHUNK_MAX_BYTES)
        want = CHUNK_MAX_BYTES;
    if (want < rounded)
        want = rounded;
    want &= ~(size_t)15;
    struct arena_chunk *c = mem_alloc(sizeof(*c) + want);
    c->older = a->chunks;
    c->n_bytes = want;
    a->n_bytes += sizeof(*c) + want;
    use_chunk(a, c);
    a->at += rounded;
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
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1);
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
