/* base/table.c - see table.h. */
#include "base/table.h"

#include <assert.h>

#include "base/printable.h"

enum {
    GAP = 2,
    FIRST_MIN = 8,     /* columns that are left to first cells before others are left out */
    WRAPPED_MIN = 24,  /* the same for a last column that may be wrapped */
    NOTE_INDENT = 6,
    FOLD_INDENT = 4,
    NOTE_WIDTH = 112,  /* where there is no bound */
};

struct table_row {
    const char *cells[TABLE_COLUMNS_MAX];
    size_t n;
    const char *line; /* instead of cells */
    const char *note; /* NULL: none */
};

void table_init(struct table *t, const struct table_column *columns, size_t n_columns)
{
    assert(n_columns > 0);
    assert(n_columns <= TABLE_COLUMNS_MAX);
    *t = (struct table){ .columns = columns, .n_columns = n_columns };
    arena_init(&t->arena);
}

void table_fini(struct table *t)
{
    vec_fini(&t->rows);
    arena_fini(&t->arena);
}

void table_row(struct table *t)
{
    vec_push(&t->rows, (struct table_row){ .n = 0 });
}

void table_cell(struct table *t, const char *format, ...)
{
    struct table_row *row = vec_last(&t->rows);
    assert(row->n < t->n_columns);
    va_list args;
    va_start(args, format);
    row->cells[row->n++] = printable_text(&t->arena, arena_vprintf(&t->arena, format, args));
    va_end(args);
}

void table_note(struct table *t, const char *text)
{
    vec_last(&t->rows)->note = arena_cstr(&t->arena, str_of(text));
}

void table_line(struct table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *line = printable_text(&t->arena, arena_vprintf(&t->arena, format, args));
    va_end(args);
    vec_push(&t->rows, (struct table_row){ .line = line });
}

/* ---- Words that are wrapped ---- */

/* The words that fit into `width`, at least one; 0 is no bound. */
static struct str first_line(struct str text, size_t width)
{
    if (!width || printable_width(text) <= width)
        return text;
    size_t end = 0;
    for (size_t at = 0; at < text.n;) {
        size_t next = at + str_index(str_from(text, at), ' ');
        if (end && printable_width(str_first(text, next)) > width)
            break;
        end = next;
        at = next + 1;
    }
    return str_first(text, end);
}

/* Further lines are indented. */
static void add_wrapped(struct strbuf *to, struct str text, size_t indent, size_t width)
{
    for (bool first = true; text.n || first; first = false) {
        if (!first)
            strbuf_printf(to, "\n%*s", (int)indent, "");
        struct str line = first_line(text, width);
        text = str_from(text, line.n + 1);
        while (text.n && text.p[0] == ' ')
            text = str_from(text, 1);
        while (text.n && line.n && line.p[line.n - 1] == ' ')
            line.n--;
        strbuf_add_str(to, line);
    }
}

void table_paragraph(struct strbuf *to, const char *text, size_t indent, unsigned width)
{
    struct arena a;
    arena_init(&a);
    size_t whole = width ? width : NOTE_WIDTH;
    strbuf_printf(to, "%*s", (int)indent, "");
    size_t room = whole > indent + WRAPPED_MIN ? whole - indent : WRAPPED_MIN;
    add_wrapped(to, str_of(printable_text(&a, text)), indent, room);
    strbuf_add_char(to, '\n');
    arena_fini(&a);
}

static void fold_line(struct strbuf *to, struct str line, size_t width)
{
    size_t indent = 0;
    while (indent < line.n && line.p[indent] == ' ')
        indent++;
    strbuf_add(to, line.p, indent);
    size_t deeper = indent + FOLD_INDENT;
    add_wrapped(to, str_from(line, indent), deeper, width > deeper + WRAPPED_MIN ? width - deeper : WRAPPED_MIN);
}

void table_fold(struct strbuf *to, struct str lines, unsigned width)
{
    while (width && lines.n) {
        struct str line = str_first(lines, str_index(lines, '\n'));
        if (printable_width(line) > width)
            fold_line(to, line, width);
        else
            strbuf_add_str(to, line);
        if (line.n < lines.n)
            strbuf_add_char(to, '\n');
        lines = str_from(lines, line.n + 1);
    }
    strbuf_add_str(to, lines);
}

/* ---- Widths ---- */

struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
    bool shown[TABLE_COLUMNS_MAX];
    bool bound; /* a column that wraps keeps to its width */
};

static const char *cell_at(const struct table_row *row, size_t column)
{
    return column < row->n ? row->cells[column] : "";
}

/* Nothing but its heading. */
static bool is_empty(const struct table *t, size_t column)
{
    for (size_t i = 0; i < t->rows.n; i++)
        if (*cell_at(&t->rows.at[i], column))
            return false;
    return true;
}

static size_t natural_width(const struct table *t, size_t column)
{
    const char *heading = t->columns[0].heading ? t->columns[column].heading : "";
    size_t width = printable_width(str_of(heading));
    for (size_t i = 0; i < t->rows.n; i++) {
        size_t n = printable_width(str_of(cell_at(&t->rows.at[i], column)));
        width = n > width ? n : width;
    }
    return width;
}

static bool wraps(const struct table *t, size_t column)
{
    return t->columns[column].wraps && column == t->n_columns - 1;
}

static size_t longest_word(struct str text)
{
    size_t longest = 0;
    while (text.n) {
        struct str word = str_first(text, str_index(text, ' '));
        size_t n = printable_width(word);
        longest = n > longest ? n : longest;
        text = str_from(text, word.n + 1);
    }
    return longest;
}

/* Of a column that wraps: as little as it needs, so that names in it stay whole. */
static size_t wrapped_min(const struct table *t, size_t column)
{
    size_t least = WRAPPED_MIN;
    for (size_t i = 0; i < t->rows.n; i++) {
        size_t n = longest_word(str_of(cell_at(&t->rows.at[i], column)));
        least = n > least ? n : least;
    }
    return least;
}

/* All but the first column. */
static size_t width_of_rest(const struct table *t, const struct layout *l)
{
    size_t rest = TABLE_INDENT;
    for (size_t i = 1; i < t->n_columns; i++)
        rest += l->shown[i] ? GAP + l->widths[i] : 0;
    return rest;
}

/* False when there is none that may go. */
static bool leave_one_out(const struct table *t, struct layout *l)
{
    size_t chosen = 0;
    for (size_t i = 1; i < t->n_columns; i++)
        if (l->shown[i] && t->columns[i].leave_out > t->columns[chosen].leave_out)
            chosen = i;
    l->shown[chosen] = chosen == 0;
    return chosen != 0;
}

/* What is left over goes to a last column that wraps. */
static void fit(const struct table *t, struct layout *l, size_t width)
{
    size_t last = t->n_columns - 1, least = wraps(t, last) ? wrapped_min(t, last) : 0;
    if (least && l->widths[last] > least)
        l->widths[last] = least;
    while (width_of_rest(t, l) + FIRST_MIN > width)
        if (!leave_one_out(t, l))
            break;
    size_t rest = width_of_rest(t, l), room = width > rest + FIRST_MIN ? width - rest : FIRST_MIN;
    l->widths[0] = l->widths[0] < room ? l->widths[0] : room;
    if (least)
        l->widths[last] += width > rest + l->widths[0] ? width - rest - l->widths[0] : 0;
}

static struct layout make_layout(const struct table *t, size_t width)
{
    struct layout l = { .bound = width != 0 };
    for (size_t i = 0; i < t->n_columns; i++) {
        l.widths[i] = natural_width(t, i);
        l.shown[i] = !t->columns[i].leave_out || !is_empty(t, i);
    }
    if (width)
        fit(t, &l, width);
    return l;
}

/* ---- Writing ---- */

static void pad(struct strbuf *to, size_t n)
{
    strbuf_printf(to, "%*s", (int)n, "");
}

static void add_cell(struct strbuf *to, const char *text, size_t width, bool right)
{
    size_t n = printable_width(str_of(text)), gap = n < width ? width - n : 0;
    pad(to, right ? gap : 0);
    strbuf_add_text(to, text);
    pad(to, right ? 0 : gap);
}

/* Where the column begins on its line. */
static size_t column_start(const struct layout *l, size_t column)
{
    size_t start = TABLE_INDENT;
    for (size_t i = 0; i < column; i++)
        start += l->shown[i] ? l->widths[i] + GAP : 0;
    return start;
}

static void trim(struct strbuf *to)
{
    while (to->n && to->p[to->n - 1] == ' ')
        to->n--;
    strbuf_add_char(to, '\n');
}

/* Columns behind the first one that are empty in this row: a long first cell may reach over them. */
static size_t n_empty_behind(const struct table *t, const struct layout *l, const char *const *cells)
{
    size_t n = 0;
    while (1 + n < t->n_columns && (!*cells[1 + n] || !l->shown[1 + n]))
        n++;
    return n;
}

/* The first cell, padded to where the next one begins; on a line of its own if it reaches further. Returns how many
 * columns that was. */
static size_t add_first(const struct table *t, struct strbuf *to, const struct layout *l, const char *const *cells)
{
    size_t n_columns = 1 + n_empty_behind(t, l, cells), width = column_start(l, n_columns) - GAP - TABLE_INDENT;
    pad(to, TABLE_INDENT);
    add_cell(to, cells[0], width, t->columns[0].right);
    if (n_columns < t->n_columns && printable_width(str_of(cells[0])) > width) {
        trim(to);
        pad(to, TABLE_INDENT + width);
    }
    return n_columns;
}

static void add_row(const struct table *t, struct strbuf *to, const struct layout *l, const char *const *cells)
{
    for (size_t i = add_first(t, to, l, cells); i < t->n_columns; i++) {
        if (!l->shown[i])
            continue;
        pad(to, GAP);
        if (wraps(t, i))
            add_wrapped(to, str_of(cells[i]), column_start(l, i), l->bound ? l->widths[i] : 0);
        else
            add_cell(to, cells[i], l->widths[i], t->columns[i].right);
    }
    trim(to);
}

static void add_headings(const struct table *t, struct strbuf *to, const struct layout *l)
{
    const char *cells[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < t->n_columns; i++)
        cells[i] = t->columns[i].heading;
    add_row(t, to, l, cells);
}

void table_write(const struct table *t, struct strbuf *to, unsigned width)
{
    struct layout l = make_layout(t, width);
    if (t->columns[0].heading)
        add_headings(t, to, &l);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct table_row *row = &t->rows.at[i];
        const char *cells[TABLE_COLUMNS_MAX];
        for (size_t k = 0; k < t->n_columns; k++)
            cells[k] = cell_at(row, k);
        if (row->line)
            table_paragraph(to, row->line, TABLE_INDENT, width);
        else
            add_row(t, to, &l, cells);
        if (row->note)
            table_paragraph(to, row->note, NOTE_INDENT, width);
    }
}
