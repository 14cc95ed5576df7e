/* base/blob.c - see blob.h. */
#include "base/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static _Thread_local size_t n_alive;

struct blob *blob_new(struct str bytes)
{
    struct blob *b = mem_alloc(sizeof(*b) + bytes.n);
    b->n_refs = 1;
    b->n = bytes.n;
    n_alive += sizeof(*b) + bytes.n;
    if (bytes.n)
        memcpy(b->bytes, bytes.p, bytes.n);
    return b;
}

struct blob *blob_ref(struct blob *b)
{
    b->n_refs++;
    return b;
}

void blob_unref(struct blob *own_blob)
{
    if (!own_blob || --own_blob->n_refs > 0)
        return;
    n_alive -= sizeof(*own_blob) + own_blob->n;
    free(own_blob);
}

size_t blob_bytes_alive(void)
{
    return n_alive;
}
