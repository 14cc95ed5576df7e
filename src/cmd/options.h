/* cmd/options.h - the command line of a command, by a table of its options.
 *
 * "--name value" and "--name=value" are the same. An option that is not marked as repeated may stand there once.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"

enum cmd_option_use {
    CMD_FLAG = 0,     /* has no value: take gets NULL */
    CMD_VALUE = 1,
    CMD_REPEATED = 2, /* may be given any number of times */
};

struct cmd_option {
    const char *name;
    unsigned use; /* enum cmd_option_use, added up */
    int (*take)(void *context, const char *value); /* 0, or an exit code after saying why */
    int (*take_labels)(void *context, const char *selector); /* of "--name -l SELECTOR"; NULL: there is no such form */
};

struct cmd_options {
    const struct cmd_option *at; /* up to a row without a name */
    int (*argument)(void *context, char *text); /* what is no option; NULL: there is nothing else */
    /* Rows that several commands have: their functions get what lies shared_offset bytes into the context. NULL: none. */
    const struct cmd_option *shared;
    size_t shared_offset;
};

/* Hands everything behind the command's name to the table's functions. 0, or the exit code of the first one that was
 * refused. */
int cmd_options_parse(const struct command *c, const struct cmd_options *options, void *context, int argc, char **argv);
