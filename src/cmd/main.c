/* cmd/main.c - finds the command and runs it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct command *const commands[] = {
    &apiserver_command,
    &bench_command,
    &controllers_command,
    &decode_command,
    &explain_command,
    &node_command,
    &replay_command,
    &scheduler_command,
    &simulate_command,
    &store_command,
    &version_command,
};
enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

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

static void add_usage(struct strbuf *to)
{
    STRBUF_ADD_LIT(to, "berth places pods: kube-scheduler's decisions, in one small program.\n\n"
                       "usage: berth COMMAND [options]\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        strbuf_printf(to, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    STRBUF_ADD_LIT(to, "\n'berth COMMAND --help' explains one, with examples.\n");
}

static int print_usage(void)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    add_usage(&text);
    int code = cmd_print(NULL, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

/* After a usage that cannot be right. */
static int show_usage(void)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    add_usage(&text);
    cmd_write_error(strbuf_str(&text));
    strbuf_fini(&text);
    return EXIT_USAGE;
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

/* In place of a component under its name: the same command line. */
static bool is_called(const char *program, const char *name)
{
    const char *slash = strrchr(program, '/');
    return strcmp(slash ? slash + 1 : program, name) == 0;
}

int main(int argc, char **argv)
{
    cmd_open_standard();
    if (argc > 0 && is_called(argv[0], "kube-scheduler"))
        return scheduler_command.run(&scheduler_command, argc, argv);
    if (argc > 0 && is_called(argv[0], "kube-apiserver"))
        return apiserver_command.run(&apiserver_command, argc, argv);
    if (argc > 0 && is_called(argv[0], "kube-controller-manager"))
        return controllers_command.run(&controllers_command, argc, argv);
    if (argc > 0 && is_called(argv[0], "etcd"))
        return etcd_run(argc, argv);
    if (argc < 2)
        return show_usage();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_usage();
    const struct command *c = find_command(strcmp(argv[1], "--version") == 0 ? "version" : argv[1]);
    if (!c) {
        cmd_say(NULL, "there is no command \"%s\"", argv[1]);
        cmd_write_error(STR("\n"));
        return show_usage();
    }
    if (c->help && asks_for_help(argc - 1, argv + 1))
        return cmd_print_folded(c, str_of(c->help), cmd_columns());
    return c->run(c, argc - 1, argv + 1);
}
