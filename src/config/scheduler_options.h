/* config/scheduler_options.h - from a command line to what the scheduler runs with.
 *
 * A start goes, as upstream's: flags are parsed (scheduler_flags.h); feature gates are set (scheduler_options_gates);
 * --version; logging (scheduler_options_logs); flags are checked (scheduler_check_flags); the configuration comes together
 * (scheduler_options_config); then what needs the API server's address, and the rest of the checks
 * (scheduler_check_serving, scheduler_options_check_client).
 *
 * Thread: one at a time. */
#pragma once

#include "config/config.h"
#include "config/scheduler_check.h"

/* --emulated-version, --min-compatibility-version, --feature-gates. */
enum err_code scheduler_options_gates(const struct scheduler_flags *f, struct gates *g, struct err *e) ERR_MUST_CHECK;

/* Checks and sets the process' logging. */
enum err_code scheduler_options_logs(const struct scheduler_flags *f, const struct gates *g, struct err *e) ERR_MUST_CHECK;

/* The file of --config, strictly read, or the default configuration with the deprecated flags that are given; then the
 * flags of leader election that are given. What comes from a file is validated, as upstream. `ret_text` is the file's
 * text, empty without one. */
/* ERR_UNKNOWN: a Policy that upstream ends with a fatal log line for, and status 255. */
enum err_code scheduler_options_config(const struct scheduler_flags *f, const struct gates *g, struct arena *a,
                                       struct config **ret_config, struct str *ret_text, struct err *e) ERR_MUST_CHECK;

/* What upstream refuses only when it makes its clients and the lock: a configuration without a file is not validated. */
enum err_code scheduler_options_check_client(const struct config *c, struct err *e) ERR_MUST_CHECK;
/* The same when it begins to try for the lease. */
enum err_code scheduler_options_check_election(const struct leader_election_config *l, struct err *e) ERR_MUST_CHECK;
