/* api/netaddr.c - see netaddr.h. */
#include "api/netaddr.h"

#include <stdio.h>

enum { GROUPS = 8, V4_AT = 12, OCTET_MAX = 0xFF, GROUP_MAX = 0xFFFF };

#define NO_GAP SIZE_MAX

static int digit_value(char c, int base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : base;
    return value < base ? value : -1;
}

/* Digits at the start of `s`: how many there are, 0 when none or when the number passes `max`. */
static size_t read_number(struct str s, int base, unsigned max, unsigned *ret_value)
{
    unsigned value = 0;
    size_t n = 0;
    for (; n < s.n; n++) {
        int digit = digit_value(s.p[n], base);
        if (digit < 0)
            break;
        value = value * (unsigned)base + (unsigned)digit;
        if (value > max)
            return 0;
    }
    *ret_value = value;
    return n;
}

static bool parse_v4(struct str s, uint8_t octets[4], bool *leading_zeros)
{
    for (int i = 0; i < 4; i++) {
        if (i > 0 && (s.n == 0 || s.p[0] != '.'))
            return false;
        s = str_from(s, i > 0);
        unsigned octet;
        size_t n = read_number(s, 10, OCTET_MAX, &octet);
        if (n == 0)
            return false;
        *leading_zeros |= n > 1 && s.p[0] == '0';
        octets[i] = (uint8_t)octet;
        s = str_from(s, n);
    }
    return s.n == 0;
}

struct v6_parser {
    struct str rest;
    struct ip_addr *addr;
    size_t n;   /* bytes filled */
    size_t gap; /* byte at which :: stood */
};

/* "::" at the start of the rest; false when it is the second one. */
static bool take_gap(struct v6_parser *p)
{
    if (p->gap != NO_GAP)
        return false;
    p->gap = p->n;
    return true;
}

/* One group, or the dotted form that takes all of the rest. */
static bool take_group(struct v6_parser *p)
{
    unsigned group;
    size_t n = read_number(p->rest, 16, GROUP_MAX, &group);
    if (n == 0)
        return false;
    if (n < p->rest.n && p->rest.p[n] == '.') {
        bool in_place = p->n == V4_AT || (p->gap != NO_GAP && p->n < V4_AT);
        if (!in_place || !parse_v4(p->rest, p->addr->bytes + p->n, &p->addr->leading_zeros))
            return false;
        p->n += 4;
        p->rest = str_from(p->rest, p->rest.n);
        return true;
    }
    p->addr->leading_zeros |= n > 4;
    p->addr->bytes[p->n++] = (uint8_t)(group >> 8);
    p->addr->bytes[p->n++] = (uint8_t)group;
    p->rest = str_from(p->rest, n);
    return true;
}

/* What stands between two groups: a colon with more behind it, or the gap. */
static bool take_separator(struct v6_parser *p)
{
    if (p->rest.n < 2 || p->rest.p[0] != ':')
        return false;
    bool gap = p->rest.p[1] == ':';
    p->rest = str_from(p->rest, gap ? 2 : 1);
    return !gap || take_gap(p);
}

static bool spread_gap(struct v6_parser *p)
{
    uint8_t *bytes = p->addr->bytes;
    size_t n_missing = sizeof(p->addr->bytes) - p->n;
    bool had_gap = p->gap != NO_GAP;
    if (had_gap != (n_missing > 0))
        return false; /* a gap stands for one group at least */
    if (had_gap) {
        memmove(bytes + p->gap + n_missing, bytes + p->gap, p->n - p->gap);
        memset(bytes + p->gap, 0, n_missing);
    }
    return true;
}

static bool parse_v6(struct str s, struct ip_addr *addr)
{
    struct v6_parser p = { .rest = s, .addr = addr, .gap = NO_GAP };
    if (str_starts(s, STR("::"))) {
        p.gap = 0;
        p.rest = str_from(s, 2);
    } else if (s.n == 0) {
        return false;
    }
    while (p.rest.n > 0 && p.n < sizeof(addr->bytes)) {
        if (!take_group(&p))
            return false;
        if (p.rest.n > 0 && !take_separator(&p))
            return false;
    }
    return p.rest.n == 0 && spread_gap(&p);
}

bool ip_parse(struct str text, struct ip_addr *ret_addr)
{
    struct ip_addr addr = { 0 };
    size_t dot = str_index(text, '.'), colon = str_index(text, ':');
    if (dot < colon) {
        addr.bytes[10] = addr.bytes[11] = 0xFF;
        addr.written_as_v4 = true;
        if (!parse_v4(text, addr.bytes + V4_AT, &addr.leading_zeros))
            return false;
    } else if (!parse_v6(text, &addr)) {
        return false;
    }
    *ret_addr = addr;
    return true;
}

bool cidr_parse(struct str text, struct ip_addr *ret_addr, unsigned *ret_bits)
{
    size_t slash = str_index(text, '/');
    struct ip_addr addr;
    if (slash == text.n || !ip_parse(str_first(text, slash), &addr))
        return false;
    struct str length = str_from(text, slash + 1);
    unsigned bits;
    size_t n = read_number(length, 10, addr.written_as_v4 ? 32 : 128, &bits);
    if (n == 0 || n != length.n)
        return false;
    addr.leading_zeros |= n > 1 && length.p[0] == '0';
    *ret_addr = addr;
    *ret_bits = bits;
    return true;
}

bool ip_is_v4_mapped(const struct ip_addr *addr)
{
    static const uint8_t prefix[V4_AT] = { [10] = 0xFF, [11] = 0xFF };
    return memcmp(addr->bytes, prefix, sizeof(prefix)) == 0;
}

bool ip_has_host_bits(const struct ip_addr *addr, unsigned bits)
{
    for (unsigned bit = bits + (addr->written_as_v4 ? V4_AT * 8 : 0); bit < 128; bit++)
        if (addr->bytes[bit / 8] >> (7 - bit % 8) & 1)
            return true;
    return false;
}

/* The longest run of zero groups, the first of equals; a single group is no run. */
static int longest_run(const uint16_t groups[GROUPS], int *ret_length)
{
    int best = -1, best_length = 1;
    for (int i = 0; i < GROUPS; i++) {
        int length = 0;
        while (i + length < GROUPS && groups[i + length] == 0)
            length++;
        if (length > best_length) {
            best = i;
            best_length = length;
        }
    }
    *ret_length = best_length;
    return best;
}

static size_t print_v6(const struct ip_addr *addr, char to[IP_TEXT_MAX])
{
    uint16_t groups[GROUPS];
    for (int i = 0; i < GROUPS; i++)
        groups[i] = (uint16_t)(addr->bytes[2 * i] << 8 | addr->bytes[2 * i + 1]);
    int run_length, run = longest_run(groups, &run_length);
    size_t n = 0;
    for (int i = 0; i < GROUPS; i++) {
        if (i == run) {
            n += (size_t)snprintf(to + n, IP_TEXT_MAX - n, "::");
            i += run_length - 1;
            continue;
        }
        bool colon = i > 0 && to[n - 1] != ':';
        n += (size_t)snprintf(to + n, IP_TEXT_MAX - n, "%s%x", colon ? ":" : "", groups[i]);
    }
    return n;
}

size_t ip_print(const struct ip_addr *addr, char to[IP_TEXT_MAX])
{
    const uint8_t *v4 = addr->bytes + V4_AT;
    if (ip_is_v4_mapped(addr))
        return (size_t)snprintf(to, IP_TEXT_MAX, "%d.%d.%d.%d", v4[0], v4[1], v4[2], v4[3]);
    return print_v6(addr, to);
}

size_t cidr_print(const struct ip_addr *addr, unsigned bits, char to[CIDR_TEXT_MAX])
{
    size_t n = ip_print(addr, to);
    return n + (size_t)snprintf(to + n, CIDR_TEXT_MAX - n, "/%u", bits);
}
