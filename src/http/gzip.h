/* http/gzip.h - gzip, piece by piece, in both directions.
 *
 * Inflating is bounded: a body may grow to GZIP_RATIO_MAX times its compressed size (beyond the first
 * GZIP_FREE_BYTES), more is an attack. Deflating is for speed (deflate.h), as API servers do.
 *
 * Thread: one at a time.    Owns: the state of both. */
#pragma once

#include "base/strbuf.h"

#define GZIP_RATIO_MAX 200
#define GZIP_FREE_BYTES (1u << 20)

struct inflater;

struct inflater *inflater_new(void);
void inflater_free(struct inflater *i);
/* Calls `use` for every piece of plain bytes; it may return false to stop. NULL, or what is wrong. */
const char *inflater_input(struct inflater *i, struct str bytes, bool (*use)(void *context, struct str plain),
                           void *context);
/* Whether the stream came to its end. */
bool inflater_is_done(const struct inflater *i);

struct deflater;

struct deflater *deflater_new(void);
void deflater_free(struct deflater *d);
/* flush: everything written so far can be read by the peer; end: that was all. */
void deflater_input(struct deflater *d, struct str plain, bool flush, bool end, struct strbuf *to);

struct headers;
/* Whether a request's Accept-Encoding takes gzip (and not with q=0). */
bool accepts_gzip(const struct headers *h);
