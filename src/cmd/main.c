/* cmd/main.c - finds the command and runs it. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct command *const commands[] = {
    &bench_command,
    &decode_command,
    &explain_command,
    &simulate_command,
    &version_command,
};
enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

const char *cmd_option(const struct command *c, const char *name, int argc, char **argv, int *at)
{
    const char *given = argv[*at];
    size_t n = strlen(name);
    if (strncmp(given, name, n) == 0 && given[n] == '=') {
        *at += 1;
        return given + n + 1;
    }
    if (strcmp(given, name) != 0)
        return NULL;
    if (*at + 1 >= argc)
        exit(cmd_fail(c, EXIT_USAGE, "%s needs a value", name));
    *at += 2;
    return argv[*at - 1];
}

bool cmd_parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number > max)
        return false;
    *ret_number = number;
    return true;
}

int cmd_fail(const struct command *c, int code, const char *format, ...)
{
    fprintf(stderr, "berth %s: ", c->name);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    if (code == EXIT_USAGE)
        fprintf(stderr, "See 'berth %s --help'.\n", c->name);
    return code;
}

static void print_usage(FILE *to)
{
    fputs("berth places pods: kube-scheduler's decisions, in one small program.\n\n"
          "usage: berth COMMAND [options]\n\n",
          to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'berth COMMAND --help' explains one, with examples.\n", to);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return 0;
    }
    const struct command *c = find_command(strcmp(argv[1], "--version") == 0 ? "version" : argv[1]);
    if (!c) {
        fprintf(stderr, "berth: there is no command \"%s\"\n\n", argv[1]);
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (asks_for_help(argc - 1, argv + 1)) {
        fputs(c->help, stdout);
        return 0;
    }
    return c->run(c, argc - 1, argv + 1);
}
