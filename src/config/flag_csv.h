/* config/flag_csv.h - lists in a flag: one record of comma-separated values, as Go's encoding/csv reads and writes it.
 *
 * A field may stand in double quotes, where commas and line breaks are text and a quote is written twice. Empty lines
 * before the record are passed over, and what follows its line is not looked at.
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

struct flag_strings {
    struct str *at;
    size_t n, cap;
};

void flag_strings_push(struct arena *a, struct flag_strings *list, struct str text);
/* Appends the record's fields; fields without quotes borrow from `text`. On failure the message is encoding/csv's. */
enum err_code flag_csv_read(struct arena *a, struct str text, struct flag_strings *list, struct err *e) ERR_MUST_CHECK;
void flag_csv_add(struct strbuf *b, const struct flag_strings *list);
