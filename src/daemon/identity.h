/* daemon/identity.h - what tells this process from all others like it.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "base/arena.h"

/* By chance. */
uint64_t identity_seed(void);
/* For a lease, as upstream: host name and a random UUID of version 4. */
const char *identity_of_process(struct arena *a);
