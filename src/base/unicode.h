/* base/unicode.h - classes of code points that Go's package unicode tells apart, by Unicode 15.
 *
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool unicode_is_letter(uint32_t rune); /* categories L* */
bool unicode_is_digit(uint32_t rune);  /* category Nd */
