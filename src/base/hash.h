/* base/hash.h - seeded hashes: what a peer sends must not choose the slot it falls into.
 *
 * Texts and numbers go through widening multiplications whose halves are folded together, as in wyhash and its kin; a
 * secret 128-bit seed goes into every factor, so that nobody outside can tell which keys meet or which factor is zero.
 * Hashes must not leave the process: this is for tables, not for signatures.
 * The process draws its seed from the kernel at start. hash_set_seed replaces it, so that a run can be
 * repeated exactly; tables copy the seed when they are made, so those that exist keep working.
 *
 * Thread: any; hash_set_seed before other threads start. */
#pragma once

#include "base/str.h"

struct hash_seed {
    uint64_t k0, k1;
};

/* The seed that new tables take. */
struct hash_seed hash_seed(void);
/* Derives the process seed from one number. */
void hash_set_seed(uint64_t number);

/* Another seed, which nobody can tell who does not know this one: for a table whose keys were chosen to meet. */
struct hash_seed hash_seed_after(struct hash_seed seed);

/* Keys that are not chosen to meet stay well below, in tables of any size that are three quarters full. */
enum { HASH_PROBE_MAX = 1024 };

uint64_t hash_bytes(const struct hash_seed *seed, const void *p, size_t n);

static inline uint64_t hash_str(const struct hash_seed *seed, struct str s)
{
    return hash_bytes(seed, s.p, s.n);
}

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* For numbers: far cheaper than hash_bytes, and the low bits depend on all bits of the key. */
static inline uint64_t hash_u64(const struct hash_seed *seed, uint64_t key)
{
    return hash_fold(hash_fold(key ^ seed->k0, 0x9E3779B97F4A7C15u) ^ seed->k1, 0xD6E8FEB86659FD93u);
}
