/* base/table.h - rows of a report, in columns that line up on a terminal of any width.
 *
 * Cells are made printable (base/printable.h) and measured by what they take on a terminal. Nothing is ever cut. When
 * the rows are wider than the terminal, in this order:
 *   1. the last column, if it may be wrapped, is continued on further lines;
 *   2. first cells that are too long get a line of their own, and the rest of the row stands below, in its columns;
 *   3. columns that may be left out are, the highest number first.
 * Lines may still be too long where a single word is.
 *
 * Thread: one at a time. Owns: its arena, where all texts live. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum { TABLE_COLUMNS_MAX = 12, TABLE_INDENT = 2 };

struct table_column {
    const char *heading; /* NULL in the first column: the table has no headings */
    bool right;          /* numbers */
    bool wraps;          /* the last one only */
    uint8_t leave_out;   /* 0: never; others also when all of it is empty */
};

struct table_row;

struct table {
    struct arena arena;
    const struct table_column *columns;
    size_t n_columns;
    VEC(struct table_row) rows;
};

void table_init(struct table *t, const struct table_column *columns, size_t n_columns);
void table_fini(struct table *t);

/* A new row, whose cells follow; those that do not are empty. */
void table_row(struct table *t);
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text below the row that is there, in lines of its own. */
void table_note(struct table *t, const char *text);
/* A line between rows, which keeps to no column. */
void table_line(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `width` 0: no bound. */
void table_write(const struct table *t, struct strbuf *to, unsigned width);

/* A text, made printable, on lines of its own: indented, broken between words. `width` 0: as wide as reads well. */
void table_paragraph(struct strbuf *to, const char *text, size_t indent, unsigned width);

/* Printable lines; those that are longer than `width` are continued on further ones, a little deeper. 0: no bound. */
void table_fold(struct strbuf *to, struct str lines, unsigned width);
