/* daemon/extender_codec.h - what is said to extenders and what they say, as JSON.
 *
 * Requests are byte for byte those of upstream's scheduler. Answers are read as Go reads them into its structs: names
 * of fields without regard to case, unknown ones skipped, null as if it was not there, the first value of the body and
 * nothing behind it; a value of the wrong kind spoils the whole answer, in Go's words.
 *
 * Of the objects in Nodes only the names are looked at. Where upstream would crash (no victims where there must be
 * some) the answer is an error.
 *
 * Thread: extender_encode: scheduling thread. extender_decode: any. */
#pragma once

#include "base/strbuf.h"
#include "daemon/raw_objects.h"
#include "sched/extender.h"

/* The body of a request. */
enum err_code extender_encode(struct strbuf *to, const struct sym_table *syms, struct raw_objects *raw,
                              const struct extender_request *request, struct err *e) ERR_MUST_CHECK;

/* An answer of 200. Everything in it lies in the arena; `body` need not live on. */
struct extender_answer extender_decode(struct arena *a, enum extender_verb verb, struct str body);
