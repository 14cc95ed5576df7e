/* base/utf8.c - see utf8.h. */
#include "base/utf8.h"

static bool continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

size_t utf8_decode(struct str s, uint32_t *ret_rune)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned char first = (unsigned char)s.p[0];
    if (first < 0x80) {
        *ret_rune = first;
        return 1;
    }
    size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || s.n < n)
        return 0;
    uint32_t rune = first & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (!continuation(s.p[i]))
            return 0;
        rune = rune << 6 | ((unsigned char)s.p[i] & 0x3F);
    }
    bool surrogate = rune >= 0xD800 && rune <= 0xDFFF;
    if (rune < smallest[n] || rune > 0x10FFFF || surrogate)
        return 0;
    *ret_rune = rune;
    return n;
}

size_t utf8_encode(uint32_t rune, char to[4])
{
    if (rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF))
        rune = UTF8_REPLACEMENT;
    if (rune < 0x80) {
        to[0] = (char)rune;
        return 1;
    }
    size_t n = rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, rune >>= 6)
        to[i] = (char)(0x80 | (rune & 0x3F));
    to[0] = (char)((0xF00u >> n & 0xF0) | rune);
    return n;
}

size_t utf8_valid_prefix(struct str s)
{
    size_t at = 0;
    while (at < s.n) {
        uint64_t word;
        while (s.n - at >= 8 && (memcpy(&word, s.p + at, 8), !(word & 0x8080808080808080u)))
            at += 8;
        if (at == s.n)
            break;
        uint32_t rune;
        size_t n = (unsigned char)s.p[at] < 0x80 ? 1 : utf8_decode(str_from(s, at), &rune);
        if (!n)
            break;
        at += n;
    }
    return at;
}

bool utf8_printable(uint32_t rune)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        { 0x0000, 0x001F },     { 0x007F, 0x00A0 },     { 0x00AD, 0x00AD },     { 0x0600, 0x0605 },
        { 0x061C, 0x061C },     { 0x06DD, 0x06DD },     { 0x070F, 0x070F },     { 0x1680, 0x1680 },
        { 0x180E, 0x180E },     { 0x2000, 0x200F },     { 0x2028, 0x202F },     { 0x205F, 0x206F },
        { 0x3000, 0x3000 },     { 0xD800, 0xF8FF },     { 0xFDD0, 0xFDEF },     { 0xFEFF, 0xFEFF },
        { 0xFFF0, 0xFFFB },     { 0xFFFE, 0xFFFF },     { 0xE0000, 0x10FFFF },
    };
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (rune >= hidden[i].first && rune <= hidden[i].last)
            return false;
    return true;
}
