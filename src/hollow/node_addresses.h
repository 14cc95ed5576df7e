/* hollow/node_addresses.h - the addresses of the pods of one node: those of its network that nobody has, one after the other.
 *
 * Thread: one at a time.    Owns: one bit for each address. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct node_addresses {
    uint32_t first, n; /* 0: it has none */
    uint32_t next;
    uint64_t *used;
};

/* `network` is that of the node's spec, "10.128.0.0/24"; what is none of IPv4, or too large or small, has no addresses. */
void node_addresses_init(struct node_addresses *x, struct str network);
void node_addresses_fini(struct node_addresses *x);

/* The address that was taken longest ago or never; 0: all are in use. */
uint32_t node_addresses_take(struct node_addresses *x);
/* It is in use, whoever gave it away. False: it is none of this network. */
bool node_addresses_mark(struct node_addresses *x, uint32_t address);
void node_addresses_give_back(struct node_addresses *x, uint32_t address);

/* 0: this is no address of IPv4. */
uint32_t pod_address_parse(struct str text);
struct str pod_address_text(struct arena *a, uint32_t address);
