/* cmd/output.h - all that commands write to standard output and standard error goes through here.
 *
 * What is printed passes base/printable.h: no name, message or file name makes a terminal do anything. A write that
 * fails is told once, with exit code 1. A reader that goes away ends the program by SIGPIPE, as with other programs;
 * where that signal is ignored it is a failed write.
 *
 * Thread: main. */
#pragma once

#include "base/strbuf.h"

struct command;

enum cmd_form {
    CMD_TEXT, /* lines; YAML, too, once its scalars are visible (codec/yaml.h) */
    CMD_JSON, /* stays the same document */
};

/* All of it to standard output; 0, or the exit code after saying why not. */
int cmd_print(const struct command *c, enum cmd_form form, struct str text);
/* A text for people: lines that are longer than `width` (0: no bound) are continued. */
int cmd_print_folded(const struct command *c, struct str text, unsigned width);
/* "berth COMMAND: message" on standard error, in one line; NULL: "berth: message". */
void cmd_say(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, and where to find help when it is EXIT_USAGE; returns `code`. */
int cmd_fail(const struct command *c, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Standard error as it is, for lines that are made by berth alone. */
void cmd_write_error(struct str text);

/* Columns that lines on standard output should keep to: those of the terminal, or what COLUMNS in the environment
 * says. 0: no terminal, no bound. */
unsigned cmd_columns(void);
/* Whether what is printed may be more than ASCII. */
bool cmd_has_unicode(void);

/* Before anything else: standard input, output and error are open, so that no file can take their place. What was
 * closed cannot be written. */
void cmd_open_standard(void);
