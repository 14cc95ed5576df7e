/* codec/json_scan.c - see json_scan.h. */
#include "codec/json_scan.h"

#include "base/strbuf.h"
#include "base/utf8.h"

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

const char *json_find_token(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
        at++;
        uint64_t word, spaces = ONES * ' ';
        while (end - at >= 8 && (memcpy(&word, at, 8), word == spaces))
            at += 8;
        if (end - at >= 8)
            at += __builtin_ctzll(word ^ spaces) / 8;
    }
    return at;
}

static bool hex4(const char *p, const char *end, uint32_t *ret_value)
{
    if (end - p < 4)
        return false;
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (uint32_t)((c | 32) - 'a' + 10);
        else
            return false;
        value = value << 4 | digit;
    }
    *ret_value = value;
    return true;
}

bool json_scan_string_slow(struct json_scan *s, struct json_text *ret_text)
{
    if (s->at == s->end || *s->at != '"')
        return false;
    const char *start = ++s->at;
    bool plain = true;
    for (;;) {
        const char *at = json_find_special(s->at, s->end);
        s->at = at;
        if (at == s->end || (unsigned char)*at < 0x20)
            return false;
        if (*at == '"')
            break;
        plain = false;
        s->at++;
        if (*at != '\\')
            continue;
        if (s->at == s->end)
            return false;
        char c = *s->at++;
        uint32_t unit;
        if (c == 'u') {
            if (!hex4(s->at, s->end, &unit))
                return false;
            s->at += 4;
        } else if (!memchr("\"\\/bfnrt", c, 8)) {
            return false;
        }
    }
    *ret_text = (struct json_text){ str_range(start, s->at), plain };
    s->at++;
    return true;
}

static bool digits(struct json_scan *s)
{
    const char *start = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return s->at > start;
}

bool json_scan_number(struct json_scan *s, struct str *ret_number)
{
    const char *start = s->at;
    if (s->at < s->end && *s->at == '-')
        s->at++;
    if (s->at < s->end && *s->at == '0')
        s->at++;
    else if (!digits(s))
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!digits(s))
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        if (!digits(s))
            return false;
    }
    *ret_number = str_range(start, s->at);
    return true;
}

bool json_scan_word(struct json_scan *s, struct str word)
{
    if (!str_starts(str_range(s->at, s->end), word))
        return false;
    s->at += word.n;
    return true;
}

static bool skip_scalar(struct json_scan *s, char c)
{
    struct json_text text;
    struct str number;
    switch (c) {
    case '"':
        return json_scan_string(s, &text);
    case 't':
        return json_scan_word(s, STR("true"));
    case 'f':
        return json_scan_word(s, STR("false"));
    case 'n':
        return json_scan_word(s, STR("null"));
    default:
        return json_scan_number(s, &number);
    }
}

/* Open containers of one json_skip_value, a bit each: objects are 1. */
struct nesting {
    unsigned depth;
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1];
};

static bool nesting_enter(struct nesting *n, struct json_scan *s)
{
    bool object = *s->at == '{';
    if (!json_enter(s, *s->at))
        return false;
    uint64_t bit = 1ull << (n->depth % 64), *word = &n->objects[n->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    n->depth++;
    return true;
}

/* Closes what ends here and goes on to the next value, behind its key in an object; depth 0: all is
 * closed. */
static bool nesting_next(struct nesting *n, struct json_scan *s, bool first)
{
    for (; n->depth > 0; first = false) {
        unsigned level = n->depth - 1;
        bool object = n->objects[level / 64] >> (level % 64) & 1, fault;
        if (json_next(s, object ? '}' : ']', &first, &fault)) {
            struct json_text key;
            return !object || json_scan_key(s, &key);
        }
        if (fault)
            return false;
        n->depth--;
    }
    return true;
}

static bool skip_containers(struct json_scan *s)
{
    struct nesting nesting;
    nesting.depth = 0;
    do {
        char c = json_peek(s);
        bool container = c == '{' || c == '[';
        if (!(container ? nesting_enter(&nesting, s) : skip_scalar(s, c)))
            return false;
        if (!nesting_next(&nesting, s, container))
            return false;
    } while (nesting.depth > 0);
    return true;
}

bool json_skip_value(struct json_scan *s)
{
    char c = json_peek(s);
    return c == '{' || c == '[' ? skip_containers(s) : skip_scalar(s, c);
}

bool json_scan_value(struct json_scan *s, struct str *ret_text)
{
    json_skip_space(s);
    const char *start = s->at;
    if (!json_skip_value(s))
        return false;
    *ret_text = str_range(start, s->at);
    return true;
}

const char *json_kind_name(char first_byte)
{
    switch (first_byte) {
    case '"':
        return "string";
    case '{':
        return "object";
    case '[':
        return "array";
    case 't':
    case 'f':
        return "bool";
    case 'n':
        return "null";
    default:
        return "number";
    }
}

bool json_at_end(struct json_scan *s)
{
    json_skip_space(s);
    return s->at == s->end;
}

/* One escape, behind its backslash. Surrogates that make no pair become U+FFFD. */
static const char *unescape_one(const char *at, const char *end, char **to)
{
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    char c = *at++;
    if (c != 'u') {
        const char *hit = memchr(from, c, 5);
        *(*to)++ = hit ? into[hit - from] : c;
        return at;
    }
    uint32_t rune = 0, low;
    (void)hex4(at, end, &rune); /* was checked by the scanner */
    at += 4;
    bool high = rune >= 0xD800 && rune < 0xDC00;
    if (high && end - at >= 6 && at[0] == '\\' && at[1] == 'u' && hex4(at + 2, end, &low) &&
        low >= 0xDC00 && low <= 0xDFFF) {
        rune = 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
    }
    *to += utf8_encode(rune, *to);
    return at;
}

struct str json_unescape_slow(struct arena *a, struct str raw)
{
    bool escaped = memchr(raw.p, '\\', raw.n) != NULL;
    if (!escaped && utf8_valid_prefix(raw) == raw.n)
        return raw;
    /* At worst every byte is not UTF-8 and becomes the three of U+FFFD. */
    char *start = arena_alloc(a, raw.n * 3 + 4), *to = start;
    const char *at = raw.p, *end = at + raw.n;
    while (at < end) {
        if (*at == '\\') {
            at = unescape_one(at + 1, end, &to);
            continue;
        }
        uint32_t rune;
        size_t n = utf8_decode(str_range(at, end), &rune);
        if (n)
            memcpy(to, at, n);
        to += n ? n : utf8_encode(UTF8_REPLACEMENT, to);
        at += n ? n : 1;
    }
    return str_range(start, to);
}

/* The first white space outside of strings, or the end. */
static const char *find_space(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != '\n' && *at != '\t' && *at != '\r') {
        if (*at++ != '"')
            continue;
        while ((at = json_find_special(at, end)) < end && *at != '"')
            at += *at == '\\' && end - at >= 2 ? 2 : 1;
        at += at < end;
    }
    return at;
}

struct str json_strip(struct arena *a, struct str text)
{
    const char *at = text.p, *end = at + text.n, *space = find_space(at, end);
    if (space == end)
        return text;
    char *start = arena_alloc(a, text.n), *to = start;
    for (; at < end; at = space + (space < end), space = find_space(at, end)) {
        memcpy(to, at, (size_t)(space - at));
        to += space - at;
    }
    return str_range(start, to);
}

/* U+2028 and U+2029 are E2 80 A8 and E2 80 A9. */
static bool line_separator(const char *at, const char *end)
{
    return end - at >= 3 && (unsigned char)at[0] == 0xE2 && (unsigned char)at[1] == 0x80 &&
           ((unsigned char)at[2] & 0xFE) == 0xA8;
}

/* High bit set in each byte that json_compact may not just copy: '<', '>', '&', 0xE2. Those after the first
 * may be wrong. */
static inline uint64_t html_bytes(uint64_t word)
{
    uint64_t angle = (word | ONES * 2) ^ (ONES * '>'); /* '<' and '>' differ in one bit */
    uint64_t amp = word ^ (ONES * '&'), e2 = word ^ (ONES * 0xE2);
    uint64_t hits = ((angle - ONES) & ~angle) | ((amp - ONES) & ~amp) | ((e2 - ONES) & ~e2);
    return hits & HIGHS;
}

static const char *find_html(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t hits = html_bytes(word);
        if (hits)
            return at + __builtin_ctzll(hits) / 8;
    }
    while (at < end && *at != '<' && *at != '>' && *at != '&' && *at != (char)0xE2)
        at++;
    return at;
}

static void add_html_escaped(struct strbuf *to, const char *at, const char *end)
{
    while (at < end) {
        const char *hit = find_html(at, end);
        strbuf_add(to, at, (size_t)(hit - at));
        at = hit;
        if (at == end)
            break;
        if (line_separator(at, end)) {
            strbuf_printf(to, "\\u202%x", at[2] & 0xF);
            at += 3;
        } else if (*at == (char)0xE2) {
            strbuf_add_char(to, *at++);
        } else {
            strbuf_printf(to, "\\u%04x", (unsigned)*at++);
        }
    }
}

void json_compact(struct strbuf *to, struct str text)
{
    const char *at = text.p, *end = at + text.n;
    while (at < end) {
        const char *space = find_space(at, end);
        add_html_escaped(to, at, space);
        at = space + (space < end);
    }
}
