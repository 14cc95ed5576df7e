/* api/netaddr.h - IP addresses and CIDR ranges as texts, old and new rules.
 *
 * Parsing is upstream's "sloppy" form, which takes all that stored objects may hold: leading zeros in
 * octets and groups (which it remembers), IPv4-mapped IPv6, a prefix length with leading zeros. Strict
 * checks are built on top (api/validate.h). No zones.
 *
 * Thread: any. */
#pragma once

#include "base/str.h"

enum { IP_TEXT_MAX = 40, CIDR_TEXT_MAX = IP_TEXT_MAX + 4 };

struct ip_addr {
    uint8_t bytes[16];  /* IPv4 as ::ffff:a.b.c.d */
    bool written_as_v4; /* with dots alone, so that a prefix length counts up to 32 */
    bool leading_zeros; /* an octet that begins with 0, a group of more than four digits, or (in a CIDR)
                         * such a prefix length */
};

bool ip_parse(struct str text, struct ip_addr *ret_addr);
/* `ret_bits` counts from the first bit of the form that was written: 0-32 or 0-128. */
bool cidr_parse(struct str text, struct ip_addr *ret_addr, unsigned *ret_bits);

/* ::ffff:0:0/96, however it was written. */
bool ip_is_v4_mapped(const struct ip_addr *addr);
/* Whether a bit after the first `bits` is set. */
bool ip_has_host_bits(const struct ip_addr *addr, unsigned bits);
/* Canonical form (RFC 5952; a mapped address as plain IPv4), terminated. Returns its length. */
size_t ip_print(const struct ip_addr *addr, char to[IP_TEXT_MAX]);
/* The same with "/bits". */
size_t cidr_print(const struct ip_addr *addr, unsigned bits, char to[CIDR_TEXT_MAX]);
