/* base/err.c - see err.h. */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/strbuf.h"

static const struct {
    int http_status;
    const char *reason;
} codes[] = {
    [ERR_OK] = { 200, "" },
#define X(name, status, reason) [ERR_##name] = { status, reason },
    ERR_CODES(X)
#undef X
};

static const char *message_text(struct arena *a, const char *format, va_list args)
{
    enum { LENGTH_BYTES = 32 };
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args); /* negative: more than an int counts */
    bool cut = n < 0 || n > ERR_MESSAGE_BYTES_MAX;
    size_t n_kept = cut ? ERR_MESSAGE_BYTES_MAX : (size_t)n;
    char *text = arena_zalloc(a, n_kept + LENGTH_BYTES);
    vsnprintf(text, n_kept + 1, format, again);
    va_end(again);
    if (cut)
        snprintf(text + n_kept, LENGTH_BYTES, n < 0 ? "..." : "... (%d bytes)", n);
    return text;
}

struct str err_shown(const struct err *e, struct str s)
{
    if (s.n <= STRBUF_SHOWN_BYTES_MAX)
        return s;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_shown(&b, s);
    struct str copy = arena_str(e->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return copy;
}

enum err_code err_set(struct err *e, enum err_code code, const char *format, ...)
{
    assert(code != ERR_OK);
    va_list args;
    va_start(args, format);
    e->message = message_text(e->arena, format, args);
    va_end(args);
    e->code = code;
    return code;
}

enum err_code err_wrap(struct err *e, const char *format, ...)
{
    assert(e->code != ERR_OK);
    va_list args;
    va_start(args, format);
    const char *context = message_text(e->arena, format, args);
    va_end(args);
    return err_set(e, e->code, "%s: %s", context, e->message);
}

int err_http_status(enum err_code code)
{
    return codes[code].http_status;
}

const char *err_reason(enum err_code code)
{
    return codes[code].reason;
}
