/* base/err.c - see err.h. */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>

static const struct {
    int http_status;
    const char *reason;
} codes[] = {
    [ERR_OK] = { 200, "" },
#define X(name, status, reason) [ERR_##name] = { status, reason },
    ERR_CODES(X)
#undef X
};

enum err_code err_set(struct err *e, enum err_code code, const char *format, ...)
{
    assert(code != ERR_OK);
    va_list args;
    va_start(args, format);
    e->message = arena_vprintf(e->arena, format, args);
    va_end(args);
    e->code = code;
    return code;
}

enum err_code err_wrap(struct err *e, const char *format, ...)
{
    assert(e->code != ERR_OK);
    va_list args;
    va_start(args, format);
    const char *context = arena_vprintf(e->arena, format, args);
    va_end(args);
    e->message = arena_printf(e->arena, "%s: %s", context, e->message);
    return e->code;
}

int err_http_status(enum err_code code)
{
    return codes[code].http_status;
}

const char *err_reason(enum err_code code)
{
    return codes[code].reason;
}
