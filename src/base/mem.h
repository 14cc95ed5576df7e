/* base/mem.h - malloc that does not fail: running out of memory ends the process.
 *
 * A size that a peer can choose is checked against a named limit before it comes here.
 * Thread: any. */
#pragma once

#include <stddef.h>

void *mem_alloc(size_t n);             /* not zeroed */
void *mem_zalloc(size_t n);
void *mem_realloc(void *p, size_t n);
size_t mem_product(size_t a, size_t b); /* aborts on overflow */
