/* base/printable.c - see printable.h. */
#include "base/printable.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

#include "base/utf8.h"

/* Characters that are shown as nothing although they are letters or marks: names that differ in them look alike. */
static bool is_invisible(uint32_t rune)
{
    static const struct {
        uint32_t first, last;
    } invisible[] = {
        { 0x034F, 0x034F }, { 0x115F, 0x1160 }, { 0x17B4, 0x17B5 },   { 0x180B, 0x180F },   { 0x2800, 0x2800 },
        { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F }, { 0xFFA0, 0xFFA0 }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A },
    };
    for (size_t i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++)
        if (rune >= invisible[i].first && rune <= invisible[i].last)
            return true;
    return false;
}

bool printable_rune(uint32_t rune)
{
    return (rune >= ' ' && rune < 0x7F) || (utf8_printable(rune) && !is_invisible(rune));
}

/* Bytes at the beginning that need no look at their characters. */
static size_t plain_prefix(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= ' ' && s.p[n] < 0x7F)
        n++;
    return n;
}

/* ---- Escapes ---- */

typedef void escape_fn(struct strbuf *to, uint32_t rune);

static void escape_text(struct strbuf *to, uint32_t rune)
{
    if (rune == '\n' || rune == '\t' || rune == '\r')
        strbuf_printf(to, "\\%c", rune == '\n' ? 'n' : rune == '\t' ? 't' : 'r');
    else if (rune < 0x80)
        strbuf_printf(to, "\\x%02x", rune);
    else
        strbuf_printf(to, rune < 0x10000 ? "\\u%04x" : "\\U%08x", rune);
}

static void escape_line(struct strbuf *to, uint32_t rune)
{
    if (rune == '\n')
        strbuf_add_char(to, '\n');
    else
        escape_text(to, rune);
}

static void escape_json(struct strbuf *to, uint32_t rune)
{
    if (rune == '\n')
        strbuf_add_char(to, '\n'); /* between members: in a string it is escaped already */
    else if (rune < 0x10000)
        strbuf_printf(to, "\\u%04x", rune);
    else
        strbuf_printf(to, "\\u%04x\\u%04x", 0xD800 + ((rune - 0x10000) >> 10), 0xDC00 + ((rune - 0x10000) & 0x3FF));
}

static void escape_byte(struct strbuf *to, escape_fn *escape, char byte)
{
    if (escape == escape_json)
        STRBUF_ADD_LIT(to, "\\ufffd");
    else
        strbuf_printf(to, "\\x%02x", (unsigned char)byte);
}

static void add(struct strbuf *to, struct str text, escape_fn *escape)
{
    while (text.n) {
        size_t n = plain_prefix(text);
        strbuf_add(to, text.p, n);
        text = str_from(text, n);
        if (!text.n)
            return;
        uint32_t rune;
        n = utf8_decode(text, &rune);
        if (!n)
            escape_byte(to, escape, text.p[0]);
        else if (printable_rune(rune))
            strbuf_add(to, text.p, n);
        else
            escape(to, rune);
        text = str_from(text, n ? n : 1);
    }
}

void printable_add(struct strbuf *to, struct str text)
{
    add(to, text, escape_text);
}

void printable_add_lines(struct strbuf *to, struct str text)
{
    add(to, text, escape_line);
}

void printable_add_json(struct strbuf *to, struct str json)
{
    add(to, json, escape_json);
}

void printable_printf(struct strbuf *to, const char *format, ...)
{
    struct arena a;
    arena_init(&a);
    va_list args;
    va_start(args, format);
    struct str text = str_of(arena_vprintf(&a, format, args));
    va_end(args);
    size_t n_before = strspn(format, "\n"), n_after = 0, n = strlen(format);
    while (n_before + n_after < n && format[n - 1 - n_after] == '\n')
        n_after++;
    strbuf_add(to, text.p, n_before);
    printable_add(to, str_range(text.p + n_before, text.p + text.n - n_after));
    strbuf_add(to, text.p + text.n - n_after, n_after);
    arena_fini(&a);
}

static bool is_printable(struct str text)
{
    while (text.n) {
        size_t n = plain_prefix(text);
        uint32_t rune;
        if (!n && (!(n = utf8_decode(text, &rune)) || !printable_rune(rune)))
            return false;
        text = str_from(text, n);
    }
    return true;
}

const char *printable_text(struct arena *a, const char *text)
{
    struct str s = str_of(text);
    if (is_printable(s))
        return text;
    struct strbuf copy;
    strbuf_init(&copy, STRBUF_NO_MAX);
    printable_add(&copy, s);
    text = arena_cstr(a, strbuf_str(&copy));
    strbuf_fini(&copy);
    return text;
}

/* ---- Widths ---- */

static locale_t unicode; /* whose wcwidth knows all characters, whatever the user's locale is; 0: there is none */

static void open_unicode(void)
{
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static size_t wide_width(struct str text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_unicode);
    locale_t before = unicode ? uselocale(unicode) : (locale_t)0;
    size_t width = 0;
    while (text.n) {
        uint32_t rune;
        size_t n = utf8_decode(text, &rune);
        int columns = n && unicode ? wcwidth((wchar_t)rune) : 1;
        width += columns < 0 ? 1 : (size_t)columns; /* -1: a character that is too new to be known */
        text = str_from(text, n ? n : 1);
    }
    if (unicode)
        uselocale(before);
    return width;
}

size_t printable_width(struct str text)
{
    size_t n = plain_prefix(text);
    return n == text.n ? n : n + wide_width(str_from(text, n));
}
