/* base/blob.h - bytes that several own: counted, and never changed once made.
 *
 * Thread: one at a time, counts included.    Owns: its bytes. */
#pragma once

#include <stdint.h>

#include "base/str.h"

struct blob {
    uint32_t n_refs;
    size_t n;
    char bytes[];
};

/* A copy of the bytes; one reference. */
struct blob *blob_new(struct str bytes);
struct blob *blob_ref(struct blob *b);
/* NULL is nothing. */
void blob_unref(struct blob *own_blob);
/* Of all blobs that this thread made and that are still there; each is freed by the thread that made it. */
size_t blob_bytes_alive(void);

static inline struct str blob_str(const struct blob *b)
{
    return (struct str){ b->bytes, b->n };
}
