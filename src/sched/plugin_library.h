/* sched/plugin_library.h - plugins from shared objects (include/berth/plugin.h) made into plugins of
 * framework.h.
 *
 * A library is opened, checked (version, names, registrations) and wrapped: its struct plugin has a
 * function wherever the library's table has one, and is used like a built-in one from then on. `args`
 * of its init is the JSON of its arguments as a terminated text, or NULL when there are none.
 *
 * What a plugin returns is not trusted to be sensible: unknown codes, codes that do not belong to the
 * point, registrations for unknown resources are errors with a text; texts are copied and cut to
 * BERTH_TEXT_BYTES_MAX. That it does not corrupt memory is taken on trust: it runs in the process.
 *
 * Thread: open and close by one thread before and after scheduling; the wrapped plugins by the
 * scheduling thread. */
#pragma once

#include "base/err.h"
#include "sched/framework.h"

struct plugin_libraries;

enum { PLUGIN_LIBRARIES_MAX = 64 };

/* Opens the libraries. Names must differ from each other and from those of `built_in`, which ends with
 * NULL. */
enum err_code plugin_libraries_open(const struct str *paths, size_t n, const struct plugin *const *built_in,
                                    struct plugin_libraries **ret_libraries, struct err *e) ERR_MUST_CHECK;
/* After the last instance has ended. NULL is ignored. */
void plugin_libraries_close(struct plugin_libraries *l);

/* The built-in plugins and those of the libraries; ends with NULL. */
const struct plugin *const *plugin_libraries_registry(const struct plugin_libraries *l);
