/* base/base64.c - see base64.h. Four digits make a group of three bytes. */
#include "base/base64.h"

static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { NO_DIGIT = 64 };

static uint32_t digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '+' ? 62 : c == '/' ? 63 : NO_DIGIT;
}

static bool line_break(char c)
{
    return c == '\n' || c == '\r';
}

static size_t skip_line_breaks(struct str text, size_t at)
{
    while (at < text.n && line_break(text.p[at]))
        at++;
    return at;
}

/* Behind the first '=' of a group with n_digits digits: nothing but the second '=' (after two digits)
 * and line breaks may follow. */
static bool padding_ends(struct str text, size_t at, unsigned n_digits, size_t *ret_bad_at)
{
    if (n_digits < 2) {
        *ret_bad_at = at - 1;
        return false;
    }
    if (n_digits == 2) {
        at = skip_line_breaks(text, at);
        if (at == text.n || text.p[at] != '=') {
            *ret_bad_at = at == text.n ? at : at - 1;
            return false;
        }
        at++;
    }
    *ret_bad_at = skip_line_breaks(text, at);
    return *ret_bad_at == text.n;
}

static char *put_group(char *to, uint32_t bits, unsigned n_digits)
{
    bits <<= 6 * (4 - n_digits);
    for (unsigned i = 0; i + 1 < n_digits; i++)
        *to++ = (char)(bits >> (16 - 8 * i));
    return to;
}

bool base64_decode(struct arena *a, struct str text, struct str *ret_bytes, size_t *ret_bad_at)
{
    char *start = arena_alloc(a, text.n / 4 * 3 + 3), *to = start;
    uint32_t bits = 0;
    unsigned n_digits = 0;
    for (size_t at = 0; at < text.n;) {
        char c = text.p[at++];
        uint32_t digit = digit_of(c);
        if (digit != NO_DIGIT) {
            bits = bits << 6 | digit;
            if (++n_digits == 4) {
                to = put_group(to, bits, 4);
                bits = n_digits = 0;
            }
        } else if (c == '=') {
            if (!padding_ends(text, at, n_digits, ret_bad_at))
                return false;
            to = put_group(to, bits, n_digits);
            n_digits = 0;
            break;
        } else if (!line_break(c)) {
            *ret_bad_at = at - 1;
            return false;
        }
    }
    if (n_digits) {
        *ret_bad_at = text.n - n_digits;
        return false;
    }
    *ret_bytes = str_range(start, to);
    return true;
}

void base64_add(struct strbuf *to, struct str bytes)
{
    char *out = strbuf_reserve(to, (bytes.n + 2) / 3 * 4);
    if (!out)
        return;
    const unsigned char *in = (const unsigned char *)bytes.p;
    size_t at = 0, n = 0;
    for (; bytes.n - at >= 3; at += 3) {
        uint32_t bits = (uint32_t)in[at] << 16 | (uint32_t)in[at + 1] << 8 | in[at + 2];
        for (int i = 0; i < 4; i++)
            out[n++] = alphabet[bits >> (18 - 6 * i) & 63];
    }
    size_t rest = bytes.n - at;
    if (rest) {
        uint32_t bits = (uint32_t)in[at] << 16 | (rest == 2 ? (uint32_t)in[at + 1] << 8 : 0);
        out[n++] = alphabet[bits >> 18 & 63];
        out[n++] = alphabet[bits >> 12 & 63];
        out[n++] = rest == 2 ? alphabet[bits >> 6 & 63] : '=';
        out[n++] = '=';
    }
    strbuf_commit(to, n);
}
