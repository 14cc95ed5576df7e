/* api/selector_parse.c - see selector_parse.h. A lexer with one token of lookahead under a recursive
 * descent whose depth is fixed. */
#include "api/selector_parse.h"

#include "api/validate.h"
#include "base/arena_array.h"
#include "base/sort.h"

enum token {
    TOKEN_END,
    TOKEN_IDENTIFIER,
    TOKEN_IN,
    TOKEN_NOT_IN,
    TOKEN_NOT,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct item {
    enum token token;
    struct str text;
};

struct parser {
    struct arena *arena;
    struct work *work;
    struct err *e;
    struct str rest; /* what is not lexed yet */
    struct item next;
};

/* ---- lexer ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_symbol(char c)
{
    return c && strchr("=!(),><", c);
}

static enum token symbol_token(struct str symbol)
{
    bool pair = symbol.n == 2;
    switch (symbol.p[0]) {
    case '=':
        return pair ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
    case '!':
        return pair ? TOKEN_NOT_EQUALS : TOKEN_NOT;
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case '>':
        return TOKEN_GREATER;
    case '<':
        return TOKEN_LESS;
    default:
        return TOKEN_COMMA;
    }
}

static size_t symbol_length(struct str s)
{
    return str_starts(s, STR("==")) || str_starts(s, STR("!=")) ? 2 : 1;
}

static size_t word_length(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] && !is_space(s.p[n]) && !is_symbol(s.p[n]))
        n++;
    return n;
}

static enum token word_token(struct str word)
{
    return str_is(word, "in") ? TOKEN_IN : str_is(word, "notin") ? TOKEN_NOT_IN : TOKEN_IDENTIFIER;
}

/* As upstream's lexer, a NUL ends the text where a token would begin, and is swallowed behind one. */
static struct item lex(struct str *rest)
{
    while (rest->n > 0 && is_space(rest->p[0]))
        *rest = str_from(*rest, 1);
    if (rest->n == 0 || !rest->p[0]) {
        *rest = (struct str){ 0 };
        return (struct item){ TOKEN_END, STR("") };
    }
    bool symbol = is_symbol(rest->p[0]);
    struct str text = str_first(*rest, symbol ? symbol_length(*rest) : word_length(*rest));
    *rest = str_from(*rest, text.n);
    if (rest->n > 0 && !rest->p[0])
        *rest = str_from(*rest, 1);
    return (struct item){ symbol ? symbol_token(text) : word_token(text), text };
}

/* ---- parser ---- */

/* "in" and "notin" are operators only where one is expected; elsewhere they are plain words. */
static struct item as_word(struct item item)
{
    if (item.token == TOKEN_IN || item.token == TOKEN_NOT_IN)
        item.token = TOKEN_IDENTIFIER;
    return item;
}

static struct item peek(const struct parser *p)
{
    return as_word(p->next);
}

static struct item consume_operator(struct parser *p)
{
    struct item item = p->next;
    p->next = lex(&p->rest);
    return item;
}

static struct item consume(struct parser *p)
{
    return as_word(consume_operator(p));
}

static enum err_code unexpected(struct parser *p, struct item found, const char *expected)
{
    struct str text = err_shown(p->e, found.text);
    return err_set(p->e, ERR_BAD_REQUEST, "found '%.*s'%s", STR_ARG(text), expected);
}

static enum err_code from_field_errors(struct parser *p, const struct field_errors *errs)
{
    struct str text = field_errors_text(p->arena, errs);
    return err_set(p->e, ERR_BAD_REQUEST, "%.*s", STR_ARG(text));
}

/* The key, and whether "!" stood before it. */
static enum err_code parse_key(struct parser *p, struct str *ret_key, bool *ret_not)
{
    struct item item = consume(p);
    *ret_not = item.token == TOKEN_NOT;
    if (*ret_not)
        item = consume(p);
    if (item.token != TOKEN_IDENTIFIER)
        return unexpected(p, item, ", expected: identifier");
    struct name_errors found = name_label_key(item.text);
    if (found.n) {
        struct field_errors errs;
        field_errors_init(&errs, p->arena);
        field_invalid(&errs, NULL, field_str(item.text), validate_join(p->arena, found, "; "));
        return from_field_errors(p, &errs);
    }
    *ret_key = item.text;
    return ERR_OK;
}

static enum err_code parse_operator(struct parser *p, enum selector_op *ret_op)
{
    struct item item = consume_operator(p);
    switch (item.token) {
    case TOKEN_IN:
        *ret_op = SELECTOR_IN;
        return ERR_OK;
    case TOKEN_NOT_IN:
        *ret_op = SELECTOR_NOT_IN;
        return ERR_OK;
    case TOKEN_EQUALS:
        *ret_op = SELECTOR_EQUALS;
        return ERR_OK;
    case TOKEN_DOUBLE_EQUALS:
        *ret_op = SELECTOR_DOUBLE_EQUALS;
        return ERR_OK;
    case TOKEN_NOT_EQUALS:
        *ret_op = SELECTOR_NOT_EQUALS;
        return ERR_OK;
    case TOKEN_GREATER:
        *ret_op = SELECTOR_GREATER;
        return ERR_OK;
    case TOKEN_LESS:
        *ret_op = SELECTOR_LESS;
        return ERR_OK;
    default:
        return unexpected(p, item, ", expected: in, notin, =, ==, !=, gt, lt");
    }
}

struct values {
    struct str *at;
    size_t n, cap;
};

static void add_value(struct parser *p, struct values *values, struct str value)
{
    values->at = arena_array_more(p->arena, values->at, values->n, &values->cap, sizeof(*values->at));
    values->at[values->n++] = value;
}

static enum err_code make_set(struct parser *p, struct values values, struct strs *ret_values)
{
    struct strs all = { values.at, values.n };
    if (!work_take(p->work, work_of_sorting(all.n, strs_bytes(all))))
        return work_error(p->e);
    sort_stable(p->arena, values.at, values.n, sizeof(*values.at), sort_compare_strs);
    size_t kept = 0;
    for (size_t i = 0; i < values.n; i++)
        if (kept == 0 || !str_eq(values.at[kept - 1], values.at[i]))
            values.at[kept++] = values.at[i];
    *ret_values = (struct strs){ values.at, kept };
    return ERR_OK;
}

/* Up to the closing parenthesis, which stays. An empty place between commas is the empty value; so is
 * one at either end. */
static enum err_code parse_value_list(struct parser *p, struct values *values)
{
    for (;;) {
        struct item item = consume(p);
        enum token next = peek(p).token;
        if (item.token == TOKEN_IDENTIFIER) {
            add_value(p, values, item.text);
            if (next == TOKEN_CLOSE)
                return ERR_OK;
            if (next != TOKEN_COMMA)
                return unexpected(p, peek(p), ", expected: ',' or ')'");
        } else if (item.token == TOKEN_COMMA) {
            if (values->n == 0 || next == TOKEN_COMMA || next == TOKEN_CLOSE)
                add_value(p, values, STR(""));
            if (next == TOKEN_CLOSE)
                return ERR_OK;
        } else {
            return unexpected(p, item, ", expected: ',', or identifier");
        }
    }
}

static enum err_code parse_set(struct parser *p, struct strs *ret_values)
{
    struct item open = consume(p);
    if (open.token != TOKEN_OPEN)
        return unexpected(p, open, " expected: '('");
    struct values values = { 0 };
    struct item first = peek(p);
    if (first.token == TOKEN_CLOSE) {
        add_value(p, &values, STR(""));
    } else if (first.token == TOKEN_IDENTIFIER || first.token == TOKEN_COMMA) {
        enum err_code rc = parse_value_list(p, &values);
        if (rc)
            return rc;
    } else {
        return unexpected(p, first, ", expected: ',', ')' or identifier");
    }
    consume(p); /* the closing parenthesis */
    return make_set(p, values, ret_values);
}

static enum err_code parse_exact_value(struct parser *p, struct strs *ret_values)
{
    enum token next = peek(p).token;
    struct item item = { TOKEN_IDENTIFIER, STR("") };
    if (next != TOKEN_END && next != TOKEN_COMMA)
        item = consume(p);
    if (item.token != TOKEN_IDENTIFIER)
        return unexpected(p, item, ", expected: identifier");
    struct values values = { 0 };
    add_value(p, &values, item.text);
    *ret_values = (struct strs){ values.at, values.n };
    return ERR_OK;
}

static enum err_code parse_restriction(struct parser *p, enum selector_op *ret_op,
                                       struct strs *ret_values)
{
    enum err_code rc = parse_operator(p, ret_op);
    if (rc)
        return rc;
    bool set = *ret_op == SELECTOR_IN || *ret_op == SELECTOR_NOT_IN;
    return set ? parse_set(p, ret_values) : parse_exact_value(p, ret_values);
}

static enum err_code parse_requirement(struct parser *p, struct requirement *ret)
{
    struct str key;
    bool not;
    enum err_code rc = parse_key(p, &key, &not);
    if (rc)
        return rc;
    enum token next = peek(p).token;
    enum selector_op op = not ? SELECTOR_DOES_NOT_EXIST : SELECTOR_EXISTS;
    struct strs values = { 0 };
    if (!not && next != TOKEN_END && next != TOKEN_COMMA)
        rc = parse_restriction(p, &op, &values);
    if (rc)
        return rc;
    if (!requirement_charge(p->work, key, values))
        return work_error(p->e);
    struct field_errors errs;
    field_errors_init(&errs, p->arena);
    return requirement_init(ret, key, op, values, NULL, &errs) ? ERR_OK : from_field_errors(p, &errs);
}

/* A comma with a requirement behind it, or the end of the text. */
static enum err_code parse_separator(struct parser *p, bool *ret_more)
{
    struct item item = consume(p);
    *ret_more = item.token == TOKEN_COMMA;
    if (!*ret_more && item.token != TOKEN_END)
        return unexpected(p, item, ", expected: ',' or 'end of string'");
    struct item next = peek(p);
    if (*ret_more && next.token != TOKEN_IDENTIFIER && next.token != TOKEN_NOT)
        return unexpected(p, next, ", expected: identifier after ','");
    return ERR_OK;
}

enum err_code selector_parse(struct arena *a, struct work *work, struct str text, struct selector *ret, struct err *e)
{
    struct parser p = { .arena = a, .work = work, .e = e, .rest = text };
    if (work_begin(work, text.n, e))
        return e->code;
    p.next = lex(&p.rest);
    struct item first = peek(&p);
    bool more = first.token == TOKEN_IDENTIFIER || first.token == TOKEN_NOT;
    if (!more && first.token != TOKEN_END)
        return unexpected(&p, first, ", expected: !, identifier, or 'end of string'");
    struct requirement *reqs = NULL;
    size_t n = 0, cap = 0;
    while (more) {
        reqs = arena_array_more(a, reqs, n, &cap, sizeof(*reqs));
        if (parse_requirement(&p, &reqs[n++]))
            return err_wrap(e, "unable to parse requirement");
        enum err_code rc = parse_separator(&p, &more);
        if (rc)
            return rc;
    }
    if (!requirements_sort(a, work, reqs, n))
        return work_error(e);
    *ret = (struct selector){ .at = reqs, .n = n };
    return ERR_OK;
}
