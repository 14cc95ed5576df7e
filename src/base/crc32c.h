/* base/crc32c.h - CRC-32C (Castagnoli), for finding damaged bytes in files; no protection against intent.
 *
 * Thread: any. */
#pragma once

#include "base/str.h"

/* Of bytes that follow those whose sum is `crc`; 0 to begin with. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);
