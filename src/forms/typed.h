/* forms/typed.h - what the typed forms of objects have in common.
 *
 * A typed form holds only what scheduling needs of an object, names interned, in one block of memory
 * with a count of references. It is immutable: a change of the object is a new form. It is filled
 * straight from JSON or protobuf bytes through the tables of schema.h: each kind has a table that says
 * which fields land where in an input struct (fill.h), and a function that turns the input struct into
 * the block (form.h).
 *
 * Every kind has three functions: x_decode gives one reference to the caller, and its bytes need not live
 * on; x_ref takes another one; x_unref gives one back, and with the last the block is freed and its syms
 * are released. x_decode uses the arena of its error as scratch memory and leaves nothing in it but the
 * message of a failure.
 *
 * Thread: forms may be read by any thread; they are made, shared and given up by the owner of the sym
 * table. */
#pragma once

#include "base/err.h"
#include "base/sym.h"
#include "forms/fill.h"
#include "forms/match.h"

/* The beginning of every form. */
struct typed {
    uint32_t n_refs;
    uint32_t n_bytes; /* of the whole block */
};

/* A name, namespace and version as every object has them. */
struct typed_meta {
    const char *name, *uid, *resource_version; /* terminated, in the block */
    struct label_set labels;
    sym ns; /* SYM_EMPTY: cluster-scoped */
};

struct owner_ref {
    const char *uid;
    sym api_version, kind, name;
};

#define TYPED_FUNCTIONS(kind)                                                              \
    enum err_code kind##_decode(struct sym_table *syms, enum typed_format format, struct str bytes, \
                                const struct kind **ret_form, struct err *e) ERR_MUST_CHECK; \
    const struct kind *kind##_ref(const struct kind *form);                                \
    void kind##_unref(struct sym_table *syms, const struct kind *form)

#define TYPED_TIME_NONE INT64_MIN /* a time in seconds or microseconds that is not given, or zero */
