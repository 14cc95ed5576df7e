/* api/generate_name.h - names that are made: a given beginning and five letters or digits behind it.
 *
 * As upstream: from an alphabet without vowels and without what looks alike, and so short that the name is still a label.
 * Which letters they are follows from a number: a server draws it by lot, a simulation counts, so that it gives the same
 * names every time.
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum {
    NAME_SUFFIX_LETTERS = 5,
    NAME_SUFFIXES = 27 * 27 * 27 * 27 * 27,
    NAME_BASE_MAX = 58, /* longer ones are cut */
};

extern const char name_alphabet[28]; /* as a text */

/* `base` and the suffix of a number; no two of NAME_SUFFIXES numbers in a row give the same. */
const char *name_generate(struct arena *a, struct str base, uint32_t number);
