/* config/flag_csv.c - see flag_csv.h. */
#include "config/flag_csv.h"

#include "base/arena_array.h"

struct reader {
    struct arena *arena;
    struct str rest; /* lines that are not begun */
    struct str line; /* what is left of this one, without its end */
    bool more;       /* the line has a line break behind it */
    size_t line_no, first_line, column; /* from 1 on; `first_line` is the record's */
    struct flag_strings *list;
};

void flag_strings_push(struct arena *a, struct flag_strings *list, struct str text)
{
    list->at = arena_array_more(a, list->at, list->n, &list->cap, sizeof(*list->at));
    list->at[list->n++] = text;
}

/* False at the end. A carriage return before the line break, or at the very end, is part of the break. */
static bool next_line(struct reader *r)
{
    if (r->rest.n == 0)
        return false;
    size_t n = str_index(r->rest, '\n');
    r->line = str_first(r->rest, n);
    r->more = n < r->rest.n;
    r->rest = str_from(r->rest, n + 1);
    if (str_ends(r->line, STR("\r")))
        r->line.n--;
    r->line_no++;
    r->column = 1;
    return true;
}

static enum err_code fault(const struct reader *r, size_t column, const char *what, struct err *e)
{
    if (r->first_line != r->line_no)
        return err_set(e, ERR_BAD_REQUEST, "record on line %zu; parse error on line %zu, column %zu: %s", r->first_line,
                       r->line_no, column, what);
    return err_set(e, ERR_BAD_REQUEST, "parse error on line %zu, column %zu: %s", r->line_no, column, what);
}

static void advance(struct reader *r, size_t n)
{
    r->line = str_from(r->line, n);
    r->column += n;
}

static enum err_code read_plain(struct reader *r, bool *ret_last, struct err *e)
{
    struct str field = str_first(r->line, str_index(r->line, ','));
    size_t quote = str_index(field, '"');
    if (quote < field.n)
        return fault(r, r->column + quote, "bare \" in non-quoted-field", e);
    flag_strings_push(r->arena, r->list, field);
    *ret_last = field.n == r->line.n;
    advance(r, field.n + 1);
    return ERR_OK;
}

/* What stands behind a quote inside a quoted field: true when the field goes on. */
static enum err_code after_quote(struct reader *r, struct strbuf *field, bool *ret_goes_on, bool *ret_last,
                                 struct err *e)
{
    *ret_goes_on = r->line.n && r->line.p[0] == '"';
    *ret_last = r->line.n == 0;
    if (*ret_goes_on)
        strbuf_add_char(field, '"');
    else if (r->line.n && r->line.p[0] != ',')
        return fault(r, r->column - 1, "extraneous or missing \" in quoted-field", e);
    advance(r, r->line.n ? 1 : 0);
    return ERR_OK;
}

/* Behind the opening quote. */
static enum err_code read_quoted(struct reader *r, struct strbuf *field, bool *ret_last, struct err *e)
{
    bool goes_on = true;
    while (goes_on) {
        size_t n = str_index(r->line, '"');
        strbuf_add_str(field, str_first(r->line, n));
        if (n < r->line.n) {
            advance(r, n + 1);
            if (after_quote(r, field, &goes_on, ret_last, e))
                return e->code;
            continue;
        }
        if (r->more)
            strbuf_add_char(field, '\n');
        size_t end = r->column + n + r->more;
        if (!next_line(r))
            return fault(r, end, "extraneous or missing \" in quoted-field", e);
    }
    return ERR_OK;
}

static enum err_code read_field(struct reader *r, bool *ret_last, struct err *e)
{
    if (r->line.n == 0 || r->line.p[0] != '"')
        return read_plain(r, ret_last, e);
    struct strbuf field;
    strbuf_init(&field, STRBUF_NO_MAX);
    advance(r, 1);
    enum err_code rc = read_quoted(r, &field, ret_last, e);
    if (!rc)
        flag_strings_push(r->arena, r->list, arena_str(r->arena, strbuf_str(&field)));
    strbuf_fini(&field);
    return rc;
}

enum err_code flag_csv_read(struct arena *a, struct str text, struct flag_strings *list, struct err *e)
{
    struct reader r = { .arena = a, .rest = text, .list = list };
    do
        if (!next_line(&r))
            return err_set(e, ERR_BAD_REQUEST, "EOF");
    while (r.line.n == 0);
    r.first_line = r.line_no;
    bool last = false;
    while (!last)
        if (read_field(&r, &last, e))
            return e->code;
    return ERR_OK;
}

static bool needs_quotes(struct str field)
{
    for (size_t i = 0; i < field.n; i++)
        if (field.p[i] == ',' || field.p[i] == '"' || field.p[i] == '\r' || field.p[i] == '\n')
            return true;
    return str_is(field, "\\.") || (field.n && (field.p[0] == ' ' || (field.p[0] >= '\t' && field.p[0] <= '\r')));
}

void flag_csv_add(struct strbuf *b, const struct flag_strings *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct str field = list->at[i];
        bool quotes = needs_quotes(field);
        strbuf_add_text(b, i ? "," : "");
        strbuf_add_text(b, quotes ? "\"" : "");
        for (size_t k = 0; k < field.n; k++) {
            strbuf_add_text(b, field.p[k] == '"' ? "\"" : "");
            strbuf_add_char(b, field.p[k]);
        }
        strbuf_add_text(b, quotes ? "\"" : "");
    }
}
