/* apiserver/service_pool.h - which cluster IPs and node ports are taken: by stored objects, and by commits under way.
 *
 * Numbers of a range, 0 to n - 1. What the store has is followed as it changes, so that a look costs what happened
 * since the last one. What a commit under way takes is held until that is over: two commits never get the same number.
 *
 * A number chosen at random is of the upper part of the range as long as one is free there: the lower one is left to
 * those who ask for a number.
 *
 * Thread: the store's.    Owns: its counts. */
#pragma once

#include "apiserver/stored.h"
#include "base/rand.h"

/* Of a range of addresses; those behind them are given out only when asked for by number. */
enum { SERVICE_ADDRESSES_MAX = 1 << 20 };

struct number_range {
    uint32_t n, n_low; /* all; those that are left to who asks for a number */
    uint16_t *stored, *held; /* how often each is taken; both 0: free */
};

struct service_pool {
    struct stored *objects;
    struct rand rand;
    uint32_t first_address; /* number 0; of IPv4 */
    int first_port;
    struct number_range addresses, ports;
    struct arena arena; /* of prefixes */
    const struct resource *services, *ip_addresses;
    struct store_watch watch_services, watch_addresses;
    bool follows; /* the watches are begun */
};

struct service_pool_options {
    struct stored *objects;
    uint32_t network; /* of IPv4 */
    unsigned bits;
    int first_port;
    uint32_t n_ports;
    uint64_t seed;
};

void service_pool_init(struct service_pool *p, const struct service_pool_options *o);
void service_pool_fini(struct service_pool *p);

/* Takes what the store changed; before the functions below, once a request. */
void service_pool_follow(struct service_pool *p);

static inline bool range_is_free(const struct number_range *r, uint32_t number)
{
    return number < r->n && r->stored[number] == 0 && r->held[number] == 0;
}
/* A free number, or r->n when there is none. */
uint32_t range_choose(struct service_pool *p, const struct number_range *r);

/* Text of an IPv4 address as a number; false: it is none. */
bool address_parse(struct str text, uint32_t *ret_address);
const char *address_text(struct arena *a, uint32_t address);
