/* base/strbuf.c - see strbuf.h. */
#include "base/strbuf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { FIRST_BYTES = 256 };

void strbuf_init(struct strbuf *b, size_t max)
{
    *b = (struct strbuf){ .max = max };
}

void strbuf_fini(struct strbuf *b)
{
    free(b->p);
    *b = (struct strbuf){ .max = b->max };
}

char *strbuf_reserve_slow(struct strbuf *b, size_t n)
{
    if (n > b->max || b->n > b->max - n) {
        b->overflow = true;
        return NULL;
    }
    size_t cap = b->cap ? b->cap : FIRST_BYTES;
    while (cap < b->n + n)
        cap *= 2;
    b->cap = cap < b->max ? cap : b->max; /* so that the fast paths keep to the maximum too */
    b->p = mem_realloc(b->p, b->cap + 1); /* always room for a terminator */
    return b->p + b->n;
}

void strbuf_add_text(struct strbuf *b, const char *text)
{
    strbuf_add(b, text, strlen(text));
}

void strbuf_add_uint(struct strbuf *b, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    strbuf_add(b, digits + at, sizeof(digits) - at);
}

void strbuf_add_int(struct strbuf *b, int64_t value)
{
    if (value < 0)
        strbuf_add_char(b, '-');
    strbuf_add_uint(b, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) { /* more than an int counts */
        b->overflow = true;
        return;
    }
    char *to = strbuf_reserve(b, (size_t)n);
    if (!to)
        return;
    va_start(args, format);
    vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    b->n += (size_t)n;
}

static void add_quoted_rune(struct strbuf *b, uint32_t rune, struct str bytes)
{
    static const char escapes[] = "abtnvfr"; /* 7 to 13 */
    if (rune == '"' || rune == '\\') {
        strbuf_add_char(b, '\\');
        strbuf_add_char(b, (char)rune);
    } else if (rune >= 7 && rune <= 13) {
        strbuf_add_char(b, '\\');
        strbuf_add_char(b, escapes[rune - 7]);
    } else if (utf8_printable(rune)) {
        strbuf_add_str(b, bytes);
    } else if (rune < ' ' || rune == 0x7f) {
        strbuf_printf(b, "\\x%02x", rune);
    } else {
        strbuf_printf(b, rune < 0x10000 ? "\\u%04x" : "\\U%08x", rune);
    }
}

void strbuf_add_quoted(struct strbuf *b, struct str s)
{
    strbuf_add_char(b, '"');
    for (size_t at = 0; at < s.n;) {
        uint32_t rune;
        size_t n = utf8_decode(str_from(s, at), &rune);
        if (n)
            add_quoted_rune(b, rune, (struct str){ s.p + at, n });
        else
            strbuf_printf(b, "\\x%02x", (unsigned char)s.p[at]);
        at += n ? n : 1;
    }
    strbuf_add_char(b, '"');
}

/* The head that is shown, not cut within a rune. */
static struct str shown(struct str s)
{
    size_t n = STRBUF_SHOWN_BYTES_MAX;
    if (s.n <= n)
        return s;
    for (int i = 0; i < 3 && ((unsigned char)s.p[n] & 0xC0) == 0x80; i++)
        n--;
    return str_first(s, n);
}

static void add_length(struct strbuf *b, struct str s)
{
    if (s.n > STRBUF_SHOWN_BYTES_MAX)
        strbuf_printf(b, "... (%zu bytes)", s.n);
}

void strbuf_add_shown(struct strbuf *b, struct str s)
{
    strbuf_add_str(b, shown(s));
    add_length(b, s);
}

void strbuf_add_quoted_shown(struct strbuf *b, struct str s)
{
    strbuf_add_quoted(b, shown(s));
    add_length(b, s);
}

const char *strbuf_cstr(struct strbuf *b)
{
    *strbuf_reserve(b, 0) = '\0';
    return b->p;
}
