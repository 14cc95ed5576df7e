/* cmd/options.c - see options.h. */
#include "cmd/options.h"

#include <assert.h>
#include <string.h>

enum { OPTIONS_MAX = 64 };

struct parser {
    const struct command *c;
    const struct cmd_options *options;
    void *context;
    int argc, at;
    char **argv;
    uint64_t seen; /* a bit an option */
};

static const struct cmd_option *find(const struct cmd_options *options, const char *given)
{
    for (const struct cmd_option *o = options->at; o->name; o++) {
        size_t n = strlen(o->name);
        bool named = strncmp(given, o->name, n) == 0;
        if (named && (given[n] == '\0' || (given[n] == '=' && o->use & CMD_VALUE)))
            return o;
    }
    return NULL;
}

static int check_once(struct parser *p, const struct cmd_option *o)
{
    size_t number = (size_t)(o - p->options->at);
    assert(number < OPTIONS_MAX);
    bool again = p->seen >> number & 1;
    p->seen |= 1ull << number;
    return again && !(o->use & CMD_REPEATED) ? cmd_fail(p->c, EXIT_USAGE, "%s is given twice", o->name) : 0;
}

static int take_labels(struct parser *p, const struct cmd_option *o)
{
    if (p->at == p->argc)
        return cmd_fail(p->c, EXIT_USAGE, "%s -l needs a selector", o->name);
    return o->take_labels(p->context, p->argv[p->at++]);
}

/* The option's words behind argv[at - 1], which names it. */
static int take(struct parser *p, const struct cmd_option *o)
{
    if (!(o->use & CMD_VALUE))
        return o->take(p->context, NULL);
    const char *equals = p->argv[p->at - 1] + strlen(o->name);
    if (*equals)
        return o->take(p->context, equals + 1);
    if (p->at == p->argc)
        return cmd_fail(p->c, EXIT_USAGE, "%s needs a value", o->name);
    const char *value = p->argv[p->at++];
    return o->take_labels && strcmp(value, "-l") == 0 ? take_labels(p, o) : o->take(p->context, value);
}

static int parse_one(struct parser *p)
{
    char *given = p->argv[p->at++];
    const struct cmd_option *o = find(p->options, given);
    if (o) {
        int code = check_once(p, o);
        return code ? code : take(p, o);
    }
    if (given[0] == '-' || !p->options->argument)
        return cmd_fail(p->c, EXIT_USAGE, "unknown argument \"%s\"", given);
    return p->options->argument(p->context, given);
}

int cmd_options_parse(const struct command *c, const struct cmd_options *options, void *context, int argc, char **argv)
{
    struct parser p = { .c = c, .options = options, .context = context, .argc = argc, .argv = argv, .at = 1 };
    int code = 0;
    while (p.at < argc && !code)
        code = parse_one(&p);
    return code;
}
