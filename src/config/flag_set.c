/* config/flag_set.c - see flag_set.h. */
#include "config/flag_set.h"

#include <assert.h>
#include <string.h>

#include "base/sort.h"
#include "base/utf8.h"

enum {
    NAME_BYTES_MAX = 128,
    BLOCK_INDENT = 16, /* of texts below their flags, on terminals */
    BLOCK_COLUMNS_MIN = BLOCK_INDENT + 24,
    WRAP_SLOP = 5, /* that much more is taken when it ends the text */
};

/* ---- The table ---- */

size_t flag_set_count(const struct flag_set *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_groups; i++)
        n += s->groups[i].n_flags;
    return n;
}

const struct flag *flag_set_get(const struct flag_set *s, size_t number)
{
    size_t i = 0;
    while (number >= s->groups[i].n_flags)
        number -= s->groups[i++].n_flags;
    return &s->groups[i].flags[number];
}

size_t flag_set_find_offset(const struct flag_set *s, size_t at)
{
    size_t i = 0;
    while (flag_set_get(s, i)->at != at)
        i++;
    return i;
}

static void *value_of(void *values, const struct flag *f)
{
    return (char *)values + f->at;
}

void flag_set_init(const struct flag_set *s, struct arena *a, void *values)
{
    struct err e;
    err_init(&e, a);
    assert(flag_set_count(s) <= FLAG_SET_MAX);
    for (size_t i = 0; i < flag_set_count(s); i++) {
        const struct flag *f = flag_set_get(s, i);
        enum err_code rc =
            f->initial ? flag_value_set(a, f->type, str_of(f->initial), false, value_of(values, f), &e) : ERR_OK;
        assert(rc == ERR_OK); /* our own table */
    }
}

/* ---- The command line ---- */

struct parser {
    const struct flag_set *set;
    struct arena *arena;
    char *const *words;
    size_t n_words;
    void *values;
    struct flag_given *given;
};

static struct str next_word(struct parser *p)
{
    p->n_words--;
    return str_of(*p->words++);
}

/* flag_set_count when there is none. */
static size_t find_name(const struct flag_set *s, struct str name)
{
    char dashed[NAME_BYTES_MAX];
    size_t n = flag_set_count(s), i = 0;
    if (name.n > sizeof(dashed))
        return n;
    for (size_t k = 0; k < name.n; k++)
        dashed[k] = name.p[k] == '_' ? '-' : name.p[k];
    while (i < n && !str_is((struct str){ dashed, name.n }, flag_set_get(s, i)->name))
        i++;
    return i;
}

static size_t find_shorthand(const struct flag_set *s, char c)
{
    size_t n = flag_set_count(s), i = 0;
    while (i < n && flag_set_get(s, i)->shorthand != c)
        i++;
    return i;
}

static enum err_code set_value(struct parser *p, size_t number, struct str text, struct err *e)
{
    const struct flag *f = flag_set_get(p->set, number);
    bool again = p->given->flags[number];
    p->given->flags[number] = true;
    if (!flag_value_set(p->arena, f->type, text, again, value_of(p->values, f), e))
        return ERR_OK;
    const char *cause = e->message, *shown = flag_quoted(e->arena, text);
    if (f->shorthand)
        return err_set(e, ERR_BAD_REQUEST, "invalid argument %s for \"-%c, --%s\" flag: %s", shown, f->shorthand, f->name,
                       cause);
    return err_set(e, ERR_BAD_REQUEST, "invalid argument %s for \"--%s\" flag: %s", shown, f->name, cause);
}

static enum err_code parse_long(struct parser *p, struct str word, struct err *e)
{
    struct str value = str_from(word, 2), name = str_first(value, str_index(value, '='));
    bool has_value = name.n < value.n;
    value = str_from(value, name.n + 1);
    if (name.n == 0 || name.p[0] == '-')
        return err_set(e, ERR_BAD_REQUEST, "bad flag syntax: %.*s", STR_ARG(err_shown(e, word)));
    size_t number = find_name(p->set, name);
    if (number == flag_set_count(p->set))
        return err_set(e, ERR_BAD_REQUEST, "unknown flag: --%.*s", STR_ARG(err_shown(e, name)));
    if (!has_value && flag_type_is_optional(flag_set_get(p->set, number)->type))
        value = STR("true");
    else if (!has_value && p->n_words == 0)
        return err_set(e, ERR_BAD_REQUEST, "flag needs an argument: --%.*s", STR_ARG(name));
    else if (!has_value)
        value = next_word(p);
    return set_value(p, number, value, e);
}

/* A byte between single quotes, as Go's %q. */
static const char *quoted_byte(struct arena *a, char c)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (c == '\'' || c == '"') {
        strbuf_add_text(&b, c == '"' ? "'\"'" : "'\\''");
    } else {
        char bytes[4];
        size_t n = utf8_encode((unsigned char)c, bytes);
        strbuf_add_quoted(&b, (struct str){ bytes, n });
        b.p[0] = b.p[b.n - 1] = '\'';
    }
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* The first letter of `letters`, and what it takes; what is left of them. */
static enum err_code parse_letter(struct parser *p, struct str *letters, struct err *e)
{
    struct str all = *letters, value = str_from(all, 1);
    size_t number = find_shorthand(p->set, all.p[0]);
    if (number == flag_set_count(p->set))
        return err_set(e, ERR_BAD_REQUEST, "unknown shorthand flag: %s in -%.*s", quoted_byte(e->arena, all.p[0]),
                       STR_ARG(err_shown(e, all)));
    *letters = (struct str){ NULL, 0 };
    if (value.n > 1 && value.p[0] == '=') {
        value = str_from(value, 1);
    } else if (flag_type_is_optional(flag_set_get(p->set, number)->type)) {
        *letters = value;
        value = STR("true");
    } else if (value.n == 0) {
        if (p->n_words == 0)
            return err_set(e, ERR_BAD_REQUEST, "flag needs an argument: %s in -%.*s", quoted_byte(e->arena, all.p[0]),
                           STR_ARG(all));
        value = next_word(p);
    }
    return set_value(p, number, value, e);
}

static enum err_code parse_word(struct parser *p, struct str word, struct err *e)
{
    if (word.n < 2 || word.p[0] != '-') {
        flag_strings_push(p->arena, &p->given->arguments, word);
        return ERR_OK;
    }
    if (word.p[1] == '-')
        return parse_long(p, word, e);
    for (struct str letters = str_from(word, 1); letters.n;)
        if (parse_letter(p, &letters, e))
            return e->code;
    return ERR_OK;
}

enum err_code flag_set_parse(const struct flag_set *s, struct arena *a, int argc, char *const *argv, void *values,
                             struct flag_given *given, struct err *e)
{
    struct parser p = { s, a, argv, (size_t)argc, values, given };
    *given = (struct flag_given){ .flags = { false } };
    bool only_arguments = false;
    while (p.n_words) {
        struct str word = next_word(&p);
        if (only_arguments)
            flag_strings_push(a, &given->arguments, word);
        else if (str_is(word, "--"))
            only_arguments = true;
        else if (parse_word(&p, word, e))
            return e->code;
        if (given->arguments.n > FLAG_ARGUMENTS_MAX)
            return err_set(e, ERR_BAD_REQUEST, "more than %d arguments", FLAG_ARGUMENTS_MAX);
    }
    return ERR_OK;
}

/* ---- What was said ---- */

struct str flag_set_idle(const struct flag_set *s, const struct flag_given *given, struct arena *a)
{
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    for (size_t i = 0; i < flag_set_count(s); i++)
        if (given->flags[i] && flag_set_get(s, i)->idle)
            strbuf_printf(&names, "%s--%s", names.n ? ", " : "", flag_set_get(s, i)->name);
    struct str copy = arena_str(a, strbuf_str(&names));
    strbuf_fini(&names);
    return copy;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(((const struct flag_text *)a)->name, ((const struct flag_text *)b)->name);
}

struct flag_text *flag_set_texts(const struct flag_set *s, const void *values, struct arena *a, size_t *ret_n)
{
    size_t n = flag_set_count(s);
    struct flag_text *texts = ARENA_NEW_N(a, struct flag_text, n);
    struct strbuf value;
    strbuf_init(&value, STRBUF_NO_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct flag *flag = flag_set_get(s, i);
        strbuf_reset(&value);
        flag_value_add(&value, flag->type, (const char *)values + flag->at);
        texts[i] = (struct flag_text){ flag->name, arena_str(a, strbuf_str(&value)) };
    }
    strbuf_fini(&value);
    sort_stable(a, texts, n, sizeof(*texts), compare_texts);
    *ret_n = n;
    return texts;
}

/* ---- Help ---- */

static void add_head(struct strbuf *b, const struct flag *f)
{
    if (f->shorthand)
        strbuf_printf(b, "  -%c, --%s", f->shorthand, f->name);
    else
        strbuf_printf(b, "      --%s", f->name);
    if (flag_type_name(f->type)[0])
        strbuf_printf(b, " %s", flag_type_name(f->type));
    if (f->type == FLAG_VERSION)
        STRBUF_ADD_LIT(b, "[=true]");
}

static void add_default(struct strbuf *b, const struct flag *f, const void *value)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    flag_value_add(&text, f->type, value);
    if (!flag_value_is_zero(f->type, strbuf_str(&text))) {
        STRBUF_ADD_LIT(b, " (default ");
        if (f->type == FLAG_STRING)
            strbuf_add_quoted(b, strbuf_str(&text));
        else
            strbuf_add_str(b, strbuf_str(&text));
        strbuf_add_char(b, ')');
    }
    strbuf_fini(&text);
}

static void add_indent(struct strbuf *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(b, ' ');
}

/* How much of the text goes on one line of `width`, and how much of it is passed over with its blank. */
static size_t line_length(struct str text, size_t width, size_t *ret_passed)
{
    size_t line = str_index(text, '\n'), at = line;
    if (line > width && line >= width + WRAP_SLOP) {
        struct str fits = str_first(text, width);
        const char *blank = memrchr(fits.p, ' ', fits.n);
        size_t first = str_index(text, ' ');
        at = blank ? (size_t)(blank - text.p) : first < line ? first : line; /* a long word has a line of its own */
    }
    *ret_passed = at < text.n ? at + 1 : at;
    return at;
}

static void add_wrapped(struct strbuf *b, struct str text, size_t indent, size_t width)
{
    while (text.n) {
        size_t passed, n = line_length(text, width, &passed);
        strbuf_add_str(b, str_first(text, n));
        strbuf_add_char(b, '\n');
        text = str_from(text, passed);
        if (text.n)
            add_indent(b, indent);
    }
}

struct help {
    size_t indent;    /* of all texts */
    unsigned columns; /* 0: no bound */
    const void *values;
};

static void add_flag(struct strbuf *b, const struct help *h, const struct flag *f)
{
    struct strbuf text;
    size_t start = b->n;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, f->help);
    if (f->add_help)
        f->add_help(&text);
    add_default(&text, f, (const char *)h->values + f->at);
    add_head(b, f);
    if (h->columns) {
        strbuf_add_char(b, '\n');
        add_indent(b, h->indent);
    } else {
        add_indent(b, h->indent - (b->n - start));
    }
    add_wrapped(b, strbuf_str(&text), h->indent, h->columns ? h->columns - h->indent - WRAP_SLOP : SIZE_MAX / 2);
    strbuf_fini(&text);
}

static bool is_shown(const struct flag *f)
{
    return !f->deprecated;
}

static size_t widest_head(const struct flag_group *g)
{
    size_t most = 0;
    struct strbuf head;
    strbuf_init(&head, STRBUF_NO_MAX);
    for (size_t i = 0; i < g->n_flags; i++) {
        strbuf_reset(&head);
        add_head(&head, &g->flags[i]);
        most = is_shown(&g->flags[i]) && head.n > most ? head.n : most;
    }
    strbuf_fini(&head);
    return most;
}

void flag_set_add_help(struct strbuf *b, const struct flag_set *s, unsigned columns)
{
    struct arena scratch;
    arena_init(&scratch);
    void *values = arena_zalloc(&scratch, s->values_bytes);
    flag_set_init(s, &scratch, values);
    bool bounded = columns >= BLOCK_COLUMNS_MIN;
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct flag_group *g = &s->groups[i];
        struct help h = { bounded ? BLOCK_INDENT : widest_head(g) + 3, bounded ? columns : 0, values };
        strbuf_printf(b, "\n%s flags:\n\n", g->title);
        for (size_t k = 0; k < g->n_flags; k++)
            if (is_shown(&g->flags[k]))
                add_flag(b, &h, &g->flags[k]);
    }
    arena_fini(&scratch);
}
