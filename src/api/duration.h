/* api/duration.h - lengths of time as Go writes them: 1h15m30.918s.
 *
 * Nanoseconds in an int64, about 292 years either way. Reading is time.ParseDuration with its error
 * texts, writing is Duration.String. In JSON (metav1.Duration) a duration is that text as a string;
 * null is read as the empty string, which is an error.
 *
 * Thread: any.    Owns: nothing. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

/* Fails with ERR_BAD_REQUEST and Go's message. */
enum err_code duration_parse(struct str text, int64_t *ret_ns, struct err *e) ERR_MUST_CHECK;
void duration_add(struct strbuf *b, int64_t ns);
