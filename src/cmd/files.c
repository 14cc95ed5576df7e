/* cmd/files.c - reading whole files; see cmd.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"

enum { FILE_BYTES_MAX = 256 << 20 };

static char *read_all(FILE *f, size_t *ret_n)
{
    size_t n = 0, cap = 65536;
    char *bytes = mem_alloc(cap);
    for (size_t got; (got = fread(bytes + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n > FILE_BYTES_MAX) {
            free(bytes);
            errno = EFBIG;
            return NULL;
        }
        if (n == cap)
            bytes = mem_realloc(bytes, cap *= 2);
    }
    if (ferror(f)) {
        free(bytes);
        return NULL;
    }
    *ret_n = n;
    return bytes;
}

char *cmd_read_file(const char *path, size_t *ret_n)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f)
        return NULL;
    char *bytes = read_all(f, ret_n);
    int why = errno;
    if (!is_stdin)
        fclose(f);
    errno = why;
    return bytes;
}
