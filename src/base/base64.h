/* base/base64.h - base64 with padding, read as leniently as Go's StdEncoding.
 *
 * Line breaks (CR, LF) may stand anywhere; bits that the last digit has too many are ignored; padding is
 * required.
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "base/strbuf.h"

/* False when the text is not base64: *ret_bad_at is then the offset that Go's error names. */
bool base64_decode(struct arena *a, struct str text, struct str *ret_bytes, size_t *ret_bad_at);
void base64_add(struct strbuf *to, struct str bytes);
