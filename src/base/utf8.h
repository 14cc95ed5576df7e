/* base/utf8.h - reading and writing runes.
 *
 * Strict: no overlong forms, no surrogates, nothing above U+10FFFF, as Go's unicode/utf8.
 * Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

#define UTF8_REPLACEMENT 0xFFFDu

/* Bytes of the first rune of a non-empty `s`, or 0 when it does not begin with a valid one. */
size_t utf8_decode(struct str s, uint32_t *ret_rune);
/* Writes 1 to 4 bytes; a rune that has no encoding is written as U+FFFD. */
size_t utf8_encode(uint32_t rune, char to[4]);
/* Length of the longest valid prefix. */
size_t utf8_valid_prefix(struct str s);
/* Whether %q shows the rune as it is: a graphic character or the ASCII space. Control, format, surrogate,
 * private-use and separator code points are not; unassigned ones are taken as graphic. */
bool utf8_printable(uint32_t rune);
