/* tests/fuzz/fail.c - what CHECK and FAIL of tests/test.h do in a fuzz target: abort, so that the fuzzer keeps the
 * input. */
#include <stdarg.h>
#include <stdlib.h>

#include "tests/test.h"

void test_fail(const char *file, int line, const char *format, ...)
{
    fprintf(stderr, "%s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
