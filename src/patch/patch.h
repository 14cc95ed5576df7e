/* patch/patch.h - the patches that a PATCH request may carry, and how the API server applies them.
 *
 *   JSON patch             a list of operations on one document (RFC 6902)
 *   merge patch            a document whose members replace, and whose nulls remove (RFC 7386)
 *   strategic merge patch  a merge patch that knows from the schema which lists merge by key, with directives
 *
 * The first two work on JSON text and know no schema: a container that no operation looked into keeps its
 * bytes, the others are written with sorted keys, numbers and strings keep their spelling. The third works on
 * plain values (value.h) and the schema.
 *
 * patch_apply is what a request does: encode the object, patch, decode again, and tell unknown and duplicate
 * fields as the request's fieldValidation wants it. The result is the typed object before defaulting.
 *
 * Limits: operations and copied bytes as below, nesting as in value.h, length of a body and work as in work.h.
 * Thread: any. Memory: results live in the arena and may point into the inputs. */
#pragma once

#include "base/err.h"
#include "codec/object.h"

enum {
    /* Of a body in a server: what one patch can set is an object, and stores take 1.5 MiB (etcd's limit); the rest is
     * for spaces and escapes. */
    PATCH_BYTES_MAX = 2 << 20,
    PATCH_OPERATIONS_MAX = 10000,
    PATCH_COPIED_BYTES_MAX = 3 << 20,   /* what all `copy` operations of a patch may add */
    PATCH_FINDINGS_MAX = 1000,          /* unknown and duplicate fields that are told */
    PATCH_FINDINGS_BYTES_MAX = 1 << 20, /* of their texts together */
};

enum patch_type { PATCH_TYPE_JSON, PATCH_TYPE_MERGE, PATCH_TYPE_STRATEGIC };

struct patch {
    struct work *work; /* of the request: the length that a body may have, in a server PATCH_BYTES_MAX */
    enum patch_type type;
    enum field_validation validation;
    struct str body;
};

struct patch_outcome {
    struct value object;   /* on success */
    const char **warnings; /* on success: one Warning header each */
    unsigned n_warnings;
    const char *detail;    /* on failure: the reason inside; NULL when the message says it all */
    const char *cause;     /* on failure: message of the one Status cause, of field "patch"; or NULL */
};

/* Patches an object of type `t`. `outcome` is written on failure too. */
enum err_code patch_apply(struct arena *a, const struct type *t, const struct value *current,
                          const struct patch *patch, struct patch_outcome *outcome,
                          struct err *e) ERR_MUST_CHECK;

/* The document is ours: it may be visited as often as the patch. INVALID says which operation does not apply and why; BAD_REQUEST and TOO_LARGE are about the patch
 * itself. */
enum err_code json_patch_apply(struct arena *a, struct work *work, struct str document, struct str patch,
                               struct str *ret_document, struct err *e) ERR_MUST_CHECK;
enum err_code merge_patch_apply(struct arena *a, struct work *work, struct str document, struct str patch,
                                struct str *ret_document, struct err *e) ERR_MUST_CHECK;
/* Both values are plain maps (or null) and are used up. Most faults are UNKNOWN, as upstream has no reason
 * for them; a directive of the wrong form is BAD_REQUEST. */
enum err_code strategic_patch_apply(struct arena *a, struct work *work, const struct type *t,
                                    struct value *original, struct value *patch, struct value *ret_value,
                                    struct err *e) ERR_MUST_CHECK;

/* ---- For whoever else merges plain values ---- */

struct texts;

/* A plain value to a typed one without a detour over text, as the API server does after a strategic merge.
 * `findings` (or NULL) gets unknown fields, sorted. INVALID with the converter's own texts. */
enum err_code convert_plain(struct arena *a, struct work *work, const struct type *t, const struct value *plain,
                            struct texts *findings, struct value *ret_value,
                            struct err *e) ERR_MUST_CHECK;

/* A plain value as Go prints it with %v, or with %s. */
void go_print(struct strbuf *to, const struct value *v, char verb);
