/* cmd/large_file.h - the bytes of a file that may be larger than one wants in memory.
 *
 * Small files are read. Large ones are mapped, and pages that the reader has passed can be given back:
 * they come again from the file when they are looked at after all. Standard input and pipes that turn
 * out to be large go through a temporary file without a name, in TMPDIR or /tmp, and stay in memory if
 * no such file can be made.
 *
 * A mapped file that somebody cuts off meanwhile ends the program with SIGBUS, as with other programs
 * that map.
 *
 * Thread: main. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct large_file {
    char *p;
    size_t n;
    size_t n_mapped;  /* 0: p is from malloc */
    size_t n_dropped; /* of a mapped one, from the beginning */
};

/* `path` "-" is standard input. An error names the file. */
enum err_code large_file_open(struct large_file *f, const char *path, struct err *e) ERR_MUST_CHECK;
void large_file_close(struct large_file *f);
/* What lies before `at` need not stay in memory. */
void large_file_passed(struct large_file *f, size_t at);
