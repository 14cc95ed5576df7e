/* base/printable.h - text from outside as a terminal or a log may show it.
 *
 * Names, messages and file names may hold anything. What a terminal would obey (control characters, escape
 * sequences), what changes the order of what is around it (bidirectional controls), what nobody sees (zero width,
 * fillers) and what is no UTF-8 becomes an escape that can be read: \n \t \r, \x1b, \u202e, \U000e0001. All other
 * characters stay as they are, the backslash, too: made printable twice is the same as once.
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"

/* Whether a character may be shown as it is. */
bool printable_rune(uint32_t rune);

/* One piece of text: line ends are escaped, too. */
void printable_add(struct strbuf *to, struct str text);
/* A text of several lines: line ends stay. */
void printable_add_lines(struct strbuf *to, struct str text);
/* Formatted text, made printable as a whole; only the line ends with which the format begins and ends stay. */
void printable_printf(struct strbuf *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON text, which stays the same document: what is not printable is in strings, where it has an escape. */
void printable_add_json(struct strbuf *to, struct str json);

/* The text itself, or a copy where something has to be escaped. */
const char *printable_text(struct arena *a, const char *text);

/* Columns that a printable text takes on a terminal: 2 for wide characters, 0 for combining ones. */
size_t printable_width(struct str text);
