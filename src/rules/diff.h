/* rules/diff.h - what changed between two JSON texts, line by line, as errors about parts that must not change tell it.
 *
 * The same lines as Go's difflib gives for both texts indented by one space: matching blocks are found longest first, and
 * lines that are all over a long text do not count as matches. Texts of more than DIFF_LINES_MAX lines are not compared.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum { DIFF_LINES_MAX = 1000 };

/* `text`, a newline, and the difference. */
const char *rules_diff_text(struct arena *a, const char *text, struct str old_json, struct str new_json);
