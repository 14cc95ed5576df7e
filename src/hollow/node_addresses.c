/* hollow/node_addresses.c - see node_addresses.h. */
#include "hollow/node_addresses.h"

#include <stdlib.h>

#include "api/netaddr.h"
#include "base/mem.h"

enum {
    HOST_BITS_MIN = 2,
    HOST_BITS_MAX = 16,
    RESERVED_FIRST = 2, /* the network and its bridge */
    RESERVED_LAST = 1,  /* to all */
};

uint32_t pod_address_parse(struct str text)
{
    struct ip_addr ip;
    if (!ip_parse(text, &ip) || !ip.written_as_v4)
        return 0;
    const uint8_t *b = ip.bytes + 12;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

struct str pod_address_text(struct arena *a, uint32_t x)
{
    return str_of(arena_printf(a, "%u.%u.%u.%u", x >> 24, x >> 16 & 255, x >> 8 & 255, x & 255));
}

void node_addresses_init(struct node_addresses *x, struct str network)
{
    struct ip_addr ip;
    unsigned bits;
    *x = (struct node_addresses){ 0 };
    if (!cidr_parse(network, &ip, &bits) || !ip.written_as_v4 || bits > 32 - HOST_BITS_MIN || bits < 32 - HOST_BITS_MAX)
        return;
    uint32_t size = 1u << (32 - bits);
    const uint8_t *b = ip.bytes + 12;
    uint32_t base = ((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]) & ~(size - 1);
    x->first = base + RESERVED_FIRST;
    x->n = size - RESERVED_FIRST - RESERVED_LAST;
    x->used = mem_zalloc((x->n + 63) / 64 * sizeof(*x->used));
}

void node_addresses_fini(struct node_addresses *x)
{
    free(x->used);
    *x = (struct node_addresses){ 0 };
}

bool node_addresses_mark(struct node_addresses *x, uint32_t address)
{
    uint32_t i = address - x->first;
    if (i >= x->n)
        return false;
    x->used[i / 64] |= 1ull << i % 64;
    return true;
}

void node_addresses_give_back(struct node_addresses *x, uint32_t address)
{
    uint32_t i = address - x->first;
    if (i < x->n)
        x->used[i / 64] &= ~(1ull << i % 64);
}

uint32_t node_addresses_take(struct node_addresses *x)
{
    for (uint32_t tries = 0; tries < x->n; tries++) {
        uint32_t i = x->next;
        x->next = (x->next + 1) % x->n;
        if (x->used[i / 64] & 1ull << i % 64)
            continue;
        x->used[i / 64] |= 1ull << i % 64;
        return x->first + i;
    }
    return 0;
}
