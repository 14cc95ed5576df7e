/* cmd/cmd.h - the commands of the berth program.
 *
 * A command gets its own arguments (argv[0] is its name) and returns the exit code: 0 done, 1 bad input or
 * failure, 2 wrong usage, more where its help says so. Errors go to standard error as "berth COMMAND: what is wrong".
 * Thread: main. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { EXIT_USAGE = 2 };

struct command {
    const char *name, *summary;
    const char *help; /* whole text for --help, with examples */
    int (*run)(const struct command *c, int argc, char **argv);
};

extern const struct command bench_command, decode_command, explain_command, simulate_command, version_command;

/* The next option or argument that is not an option; shared parsing of "--name value" and "--name=value".
 * Returns the value when argv[*at] is `name` (advancing *at past it), NULL when it is another option.
 * An option without its value ends the program with EXIT_USAGE. */
const char *cmd_option(const struct command *c, const char *name, int argc, char **argv, int *at);
/* "berth COMMAND: message" on standard error; returns `code`. */
int cmd_fail(const struct command *c, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Digits alone, up to `max`. */
bool cmd_parse_number(const char *text, uint64_t max, uint64_t *ret_number);
/* All of it to standard output; 0, or the exit code after saying why not. */
int cmd_print(const struct command *c, const struct strbuf *text);
/* The bytes of a file, for the caller to free; - is standard input. NULL and errno when it cannot be read or is too
 * large. */
char *cmd_read_file(const char *path, size_t *ret_n);
/* Writes a file whole or not at all: into a temporary file beside it, which then takes its name. What is no regular
 * file (a pipe, /dev/stdout) is written as it is. False and errno when that fails. */
bool cmd_write_file(const char *path, struct str bytes);
