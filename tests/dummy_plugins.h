/* tests/dummy_plugins.h - a registry with the names and extension points of kube-scheduler v1.36.4's plugins.
 *
 * Their functions do nothing; init remembers the arguments and fini forgets them, so that tests can see both. */
#pragma once

#include "sched/plugin.h"

/* Ends with NULL. */
extern const struct plugin *const dummy_registry[];

/* Instances that were made and not given up. */
extern unsigned dummy_n_live;

/* What init of an instance received. */
static inline const void *dummy_args(const struct plugin_instance *p)
{
    return p->data;
}
