/* insight/query.c - see query.h. */
#include "insight/query.h"

#include "base/strbuf.h"

static enum err_code fail(struct err *e, const char *what, struct str text)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted_shown(&b, text);
    enum err_code code = err_set(e, ERR_BAD_REQUEST, "%s: %s", what, strbuf_cstr(&b));
    strbuf_fini(&b);
    return code;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: a % without two digits, or a byte 0, which no value has. */
static bool unescape(struct arena *a, struct str text, struct str *ret_text)
{
    char *to = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i] == '+' ? ' ' : text.p[i];
        if (c == '%') {
            int high = i + 2 < text.n ? hex(text.p[i + 1]) : -1, low = high < 0 ? -1 : hex(text.p[i + 2]);
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (!c)
            return false;
        to[n++] = c;
    }
    to[n] = '\0';
    *ret_text = (struct str){ to, n };
    return true;
}

static enum err_code take(struct str pair, const struct query_field *fields, struct err *e)
{
    const char *equals = memchr(pair.p, '=', pair.n);
    struct str raw_name = equals ? str_range(pair.p, equals) : pair, name, value;
    struct str raw_value = equals ? str_range(equals + 1, pair.p + pair.n) : STR("");
    if (!unescape(e->arena, raw_name, &name) || !unescape(e->arena, raw_value, &value))
        return fail(e, "this part of the query does not decode", pair);
    for (const struct query_field *f = fields; f->name; f++) {
        if (!str_is(name, f->name))
            continue;
        if (f->ret_value->p)
            return fail(e, "given twice in the query", name);
        *f->ret_value = value;
        return ERR_OK;
    }
    return fail(e, "the query has an unknown name", name);
}

enum err_code query_parse(struct str query, const struct query_field *fields, struct err *e)
{
    if (query.n > QUERY_BYTES_MAX)
        return err_set(e, ERR_BAD_REQUEST, "the query has %zu bytes, at most %d are read", query.n, QUERY_BYTES_MAX);
    while (query.n) {
        const char *end = memchr(query.p, '&', query.n);
        struct str pair = end ? str_range(query.p, end) : query;
        query = end ? str_range(end + 1, query.p + query.n) : (struct str){ query.p, 0 };
        if (pair.n && take(pair, fields, e))
            return e->code;
    }
    return ERR_OK;
}

enum err_code query_number(struct str text, const char *name, uint32_t max, uint32_t *ret_value, struct err *e)
{
    uint64_t value = 0;
    bool good = text.n > 0 && text.n < 11;
    for (size_t i = 0; good && i < text.n; i++) {
        good = text.p[i] >= '0' && text.p[i] <= '9';
        value = value * 10 + (uint64_t)(text.p[i] - '0');
    }
    if (!text.p)
        return ERR_OK;
    if (!good || value == 0 || value > max)
        return err_set(e, ERR_BAD_REQUEST, "%s is a number from 1 to %u", name, max);
    *ret_value = (uint32_t)value;
    return ERR_OK;
}

enum err_code query_flag(struct str text, const char *name, bool *ret_value, struct err *e)
{
    if (!text.p)
        return ERR_OK;
    bool yes = str_is(text, "true") || str_is(text, "1"), no = str_is(text, "false") || str_is(text, "0");
    if (!yes && !no)
        return err_set(e, ERR_BAD_REQUEST, "%s is true or false", name);
    *ret_value = yes;
    return ERR_OK;
}

enum err_code query_pod(struct str text, struct str *ret_ns, struct str *ret_name, struct err *e)
{
    if (!text.p)
        return ERR_OK;
    const char *slash = memchr(text.p, '/', text.n);
    if (!slash || slash == text.p || slash + 1 == text.p + text.n)
        return fail(e, "a pod is named NAMESPACE/NAME, not", text);
    *ret_ns = str_range(text.p, slash);
    *ret_name = str_range(slash + 1, text.p + text.n);
    return ERR_OK;
}
