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
    uint64_t seen, seen_shared; /* a bit an option */
};

/* An option, and what to hand its functions. */
struct found {
    const struct cmd_option *at; /* NULL: there is none */
    void *context;
    uint64_t *seen;
    uint64_t bit;
};

static const struct cmd_option *find_row(const struct cmd_option *rows, const char *given)
{
    for (const struct cmd_option *o = rows; o && o->name; o++) {
        size_t n = strlen(o->name);
        bool named = strncmp(given, o->name, n) == 0;
        if (named && (given[n] == '\0' || (given[n] == '=' && o->use & CMD_VALUE)))
            return o;
    }
    return NULL;
}

static uint64_t bit_of(const struct cmd_option *rows, const struct cmd_option *o)
{
    size_t number = (size_t)(o - rows);
    assert(number < OPTIONS_MAX);
    return 1ull << number;
}

static struct found find(struct parser *p, const char *given)
{
    const struct cmd_options *options = p->options;
    const struct cmd_option *o = find_row(options->at, given);
    if (o)
        return (struct found){ o, p->context, &p->seen, bit_of(options->at, o) };
    o = find_row(options->shared, given);
    if (!o)
        return (struct found){ NULL };
    return (struct found){ o, (char *)p->context + options->shared_offset, &p->seen_shared, bit_of(options->shared, o) };
}

static int check_once(struct parser *p, const struct found *f)
{
    bool again = *f->seen & f->bit;
    *f->seen |= f->bit;
    return again && !(f->at->use & CMD_REPEATED) ? cmd_fail(p->c, EXIT_USAGE, "%s is given twice", f->at->name) : 0;
}

static int take_labels(struct parser *p, const struct found *f)
{
    if (p->at == p->argc)
        return cmd_fail(p->c, EXIT_USAGE, "%s -l needs a selector", f->at->name);
    return f->at->take_labels(f->context, p->argv[p->at++]);
}

/* The option's words behind argv[at - 1], which names it. */
static int take(struct parser *p, const struct found *f)
{
    const struct cmd_option *o = f->at;
    if (!(o->use & CMD_VALUE))
        return o->take(f->context, NULL);
    const char *equals = p->argv[p->at - 1] + strlen(o->name);
    if (*equals)
        return o->take(f->context, equals + 1);
    if (p->at == p->argc)
        return cmd_fail(p->c, EXIT_USAGE, "%s needs a value", o->name);
    const char *value = p->argv[p->at++];
    return o->take_labels && strcmp(value, "-l") == 0 ? take_labels(p, f) : o->take(f->context, value);
}

static int parse_one(struct parser *p)
{
    char *given = p->argv[p->at++];
    struct found f = find(p, given);
    if (f.at) {
        int code = check_once(p, &f);
        return code ? code : take(p, &f);
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
