/* config/decode.h - from the text of a configuration file to generic values.
 *
 * Shared inside config/ only. */
#pragma once

#include "config/config.h"

/* Decodes the KubeSchedulerConfiguration that `text` begins with, strictly. Arguments of plugins that
 * have a kind for them (args.h) are decoded too: their `args` slot then holds a struct, and none when
 * they were not given. */
enum err_code decode_config(struct arena *a, struct str text, struct value *ret_root, struct err *e) ERR_MUST_CHECK;

/* The BerthConfiguration behind it; all zero when there is none. */
enum err_code decode_berth(struct arena *a, struct str text, struct berth_config *ret_berth,
                           struct err *e) ERR_MUST_CHECK;
