/* codec/type_meta.h - what a JSON document says it is: its kind and apiVersion, before anything else is
 * read.
 *
 * As upstream's: names match without regard to case, the last of several counts, and whatever else is
 * in the document only has to be JSON.
 *
 * Thread: any. Memory: the results may point into the document. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Empty where the document does not say. Fails with ERR_BAD_REQUEST and upstream's message. */
enum err_code type_meta_read(struct arena *a, struct str json, struct str *ret_api_version, struct str *ret_kind,
                             struct err *e) ERR_MUST_CHECK;
