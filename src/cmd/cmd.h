/* cmd/cmd.h - the commands of the berth program.
 *
 * A command gets its own arguments (argv[0] is its name) and returns the exit code: 0 done, 1 bad input or
 * failure, 2 wrong usage, more where its help says so. Errors go to standard error as "berth COMMAND: what is wrong".
 * Thread: main. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/output.h"

enum { EXIT_USAGE = 2 };

struct command {
    const char *name, *summary;
    const char *help; /* whole text for --help, with examples; NULL: run tells it */
    int (*run)(const struct command *c, int argc, char **argv);
};

extern const struct command apiserver_command, bench_command, controllers_command, decode_command, explain_command, node_command,
    replay_command, scheduler_command, simulate_command, store_command, version_command;
/* Under the name of etcd. */
int etcd_run(int argc, char **argv);

/* Digits alone, up to `max`. */
bool cmd_parse_number(const char *text, uint64_t max, uint64_t *ret_number);
/* The bytes of a file, for the caller to free; - is standard input. NULL and errno when it cannot be read or is too
 * large. */
char *cmd_read_file(const char *path, size_t *ret_n);
/* Writes a file whole or not at all: into a temporary file beside it, which then takes its name. What is no regular
 * file (a pipe, /dev/stdout) is written as it is. False and errno when that fails. */
bool cmd_write_file(const char *path, struct str bytes);
