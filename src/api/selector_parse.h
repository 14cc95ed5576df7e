/* api/selector_parse.h - the text form of label selectors, as in ?labelSelector= and kubectl -l.
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key [ ( "in" | "notin" ) "(" values ")" | operator [ value ] ]
 *     operator    = "=" | "==" | "!=" | ">" | "<"
 *
 * Errors are upstream's, word for word: they are the message of the 400 that a list request gets.
 *
 * Thread: as the arena. */
#pragma once

#include "api/selector.h"
#include "base/err.h"

/* The selector borrows from `text`. `work` limits its length, and is charged what is visited: the text a few times,
 * and what is sorted. */
ERR_MUST_CHECK enum err_code selector_parse(struct arena *a, struct work *work, struct str text, struct selector *ret,
                                            struct err *e);
