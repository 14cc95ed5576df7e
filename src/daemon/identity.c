/* daemon/identity.c - see identity.h. */
#include "daemon/identity.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"

uint64_t identity_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = (uint64_t)clock_mono_ns(&clock_real) ^ (uint64_t)getpid();
    return seed;
}

const char *identity_of_process(struct arena *a)
{
    char host[256] = "";
    uint64_t halves[2] = { identity_seed(), identity_seed() };
    unsigned char u[16];
    if (gethostname(host, sizeof(host) - 1))
        host[0] = '\0';
    memcpy(u, halves, sizeof(u));
    u[6] = (u[6] & 0x0f) | 0x40;
    u[8] = (u[8] & 0x3f) | 0x80;
    return arena_printf(a, "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host, u[0], u[1], u[2],
                        u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}
