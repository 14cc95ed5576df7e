/* apiserver/table.h - objects as rows of text: meta.k8s.io Table, what `kubectl get` shows.
 *
 *     table_begin(&body, resource, &options, &meta);
 *     for each object: table_add_row(&body, resource, &options, type, &value);
 *     table_end(&body, resource, &options);
 *
 * JSON is written as it goes, no tree is made. Every row has all cells, wide ones too; columns say which those are.
 * Cells
 * of autoscalers are those of the stored form: hand in autoscaling/v2 objects for both versions.
 *
 * Thread: any, one at a time for each buffer. */
#pragma once

#include "api/value.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "http/target.h"

enum include_object { INCLUDE_METADATA, INCLUDE_OBJECT, INCLUDE_NONE };

struct table_options {
    enum include_object include;
    bool v1beta1;    /* of meta.k8s.io, otherwise v1 */
    bool no_columns; /* events of a watch after the first one */
    int64_t now_ns;  /* wall clock; ages are told by it */
    bool any_row;    /* set by table_add_row */
};

struct table_meta {
    struct str resource_version, continue_token;
    int64_t remaining; /* 0: not told */
};

/* From the query. ERR_BAD_REQUEST. */
ERR_MUST_CHECK enum err_code table_read_include(const struct target *t, enum include_object *ret_include,
                                                struct err *e);

void table_begin(struct strbuf *to, const struct resource *r, const struct table_options *o,
                 const struct table_meta *m);
void table_add_row(struct strbuf *to, const struct resource *r, struct table_options *o, const struct type *t,
                   const struct value *v);
void table_end(struct strbuf *to, const struct resource *r, const struct table_options *o);

/* The object's metadata as tables and PartialObjectMetadata have it. */
struct value shown_metadata(struct arena *a, const struct type *t, const struct value *v);

/* How long ago, as people say it: 17s, 5m3s, 320d, 6y289d. */
void table_add_duration(struct strbuf *to, int64_t ns);
