/* base/blob.c - see blob.h. */
#include "base/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct blob *blob_new(struct str bytes)
{
    struct blob *b = mem_alloc(sizeof(*b) + bytes.n);
    b->n_refs = 1;
    b->n = bytes.n;
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
    if (own_blob && --own_blob->n_refs == 0)
        free(own_blob);
}
