/* api/typed.h - what the typed forms of objects have in common.
 *
 * A typed form holds only what scheduling needs of an object, names interned, in one block of memory with a
 * count of references. It is immutable: a change of the object is a new form. It is filled straight from
 * JSON or protobuf bytes through the tables of schema.h: each kind has a table that says which fields land
 * where in an input struct (bind.h), and a function that turns the input struct into the block.
 *
 * Thread: forms may be read by any thread; they are made and given up by the owner of the sym table. */
#pragma once

#include "api/match.h"
#include "base/err.h"
#include "base/sym.h"

enum typed_format { TYPED_JSON, TYPED_PROTOBUF /* a bare message, without envelope */ };

/* The beginning of every form. */
struct typed {
    uint32_t n_refs;
    uint32_t n_bytes; /* of the whole block */
};

/* A name, namespace and version as every object has them. */
struct typed_meta {
    const char *name, *uid, *resource_version; /* terminated, in the block */
    sym ns;                                    /* SYM_EMPTY: cluster-scoped */
    struct labels labels;
};
