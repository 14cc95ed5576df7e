/* sched/plugin_wrap.h - a table of functions of the plugin ABI as a plugin of framework.h.
 *
 * Shared by plugin_library.c, plugin_host.c and plugin_wrap.c only; see plugin_library.h for what is guarded against. */
#pragma once

#include "berth/plugin.h"
#include "sched/framework.h"

struct wrapped_plugin {
    struct plugin plugin;      /* first: functions find the rest through it */
    struct berth_plugin table; /* checked; members that the library does not know are NULL */
};

/* Fills `plugin` from `table`, whose name and list of events it copies. */
void plugin_wrap(struct wrapped_plugin *w);
void plugin_unwrap(struct wrapped_plugin *w);
/* A library's text: at most BERTH_TEXT_BYTES_MAX bytes of it, no half character at the end. */
struct str plugin_cut_text(const char *text);
