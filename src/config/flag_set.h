/* config/flag_set.h - a command line by a table of flags, as spf13/pflag reads it and prints its help.
 *
 * --flag=value, --flag value, -f value, -f=value, -fvalue; flags without a value may stand together behind one dash; an
 * underscore in a name is a dash; what is no flag is an argument, and so is everything behind "--". Texts of refusals
 * are pflag's.
 *
 * Values are the members of one struct, at the offsets that the table gives.
 *
 * Thread: any, one at a time. Memory: values borrow from the command line and from the arena. */
#pragma once

#include "config/flag_value.h"

struct flag {
    const char *name;
    char shorthand; /* 0: none */
    enum flag_type type;
    size_t at;           /* offset of its value */
    const char *initial; /* the default as text; NULL: the empty value of its type */
    const char *help;    /* lines but the first are indented when printed */
    void (*add_help)(struct strbuf *b); /* more lines of it; NULL: none */
    const char *deprecated; /* why it should not be used any more: help leaves it out; NULL: it may be */
    bool idle;              /* known, but nothing looks at it */
};

struct flag_group {
    const char *title;
    const struct flag *flags; /* by name */
    size_t n_flags;
};

struct flag_set {
    const struct flag_group *groups;
    size_t n_groups;
    size_t values_bytes; /* of the struct that holds the values */
};

enum { FLAG_SET_MAX = 256, FLAG_ARGUMENTS_MAX = 4096 };

/* What a command line said, beside the values: by the number of a flag, counted through all groups. */
struct flag_given {
    bool flags[FLAG_SET_MAX];
    struct flag_strings arguments;
};

/* All values at their defaults. */
void flag_set_init(const struct flag_set *s, struct arena *a, void *values);
/* Words up to argv[argc - 1]. After a failure the values are not of use. */
enum err_code flag_set_parse(const struct flag_set *s, struct arena *a, int argc, char *const *argv, void *values,
                             struct flag_given *given, struct err *e) ERR_MUST_CHECK;

size_t flag_set_count(const struct flag_set *s);
const struct flag *flag_set_get(const struct flag_set *s, size_t number);
/* The number of the flag whose value is at that offset; there must be one. */
size_t flag_set_find_offset(const struct flag_set *s, size_t at);

/* Names of those that were given and are idle, with commas between; empty: none. */
struct str flag_set_idle(const struct flag_set *s, const struct flag_given *given, struct arena *a);

struct flag_text {
    const char *name;
    struct str value;
};
/* All flags with their values as text, by name: what /flagz shows and what is logged at a start. */
struct flag_text *flag_set_texts(const struct flag_set *s, const void *values, struct arena *a, size_t *ret_n);

/* All groups with their flags, types and defaults. Lines keep to `columns` where that leaves room; 0: no bound. */
void flag_set_add_help(struct strbuf *b, const struct flag_set *s, unsigned columns);
