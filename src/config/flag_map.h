/* config/flag_map.h - types of values that an API server's flags have and others do not: maps and ranges of ports.
 *
 * Thread: any. Memory: as flag_value.h. */
#pragma once

#include "config/flag_value.h"

/* One `key=value`, beside what is there: component-base's MapStringString that does not split. */
enum err_code flag_map_set(struct arena *a, struct str text, struct flag_pairs *pairs, struct err *e) ERR_MUST_CHECK;
/* `key=value,key`, beside what is there; a key alone has an empty value: its ConfigurationMap. */
void flag_switches_set(struct arena *a, struct str text, struct flag_pairs *pairs);
/* By key, with commas between. */
void flag_map_add(struct strbuf *b, const struct flag_pairs *pairs);

/* `N`, `FIRST-LAST` or `FIRST+MORE`, as apimachinery's PortRange. */
enum err_code flag_port_range_set(struct str text, struct flag_port_range *range, struct err *e) ERR_MUST_CHECK;
void flag_port_range_add(struct strbuf *b, const struct flag_port_range *range);
