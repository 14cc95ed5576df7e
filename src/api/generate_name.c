/* api/generate_name.c - see generate_name.h. */
#include "api/generate_name.h"

enum { STEP = 7368787 }; /* shares no factor with 27: neighbours look drawn by lot */

const char name_alphabet[28] = "bcdfghjklmnpqrstvwxz2456789";

const char *name_generate(struct arena *a, struct str base, uint32_t number)
{
    uint32_t n = (uint32_t)(((uint64_t)number + 1) * STEP % NAME_SUFFIXES);
    char suffix[NAME_SUFFIX_LETTERS + 1] = "";
    for (int i = 0; i < NAME_SUFFIX_LETTERS; i++, n /= 27)
        suffix[i] = name_alphabet[n % 27];
    struct str kept = str_first(base, base.n < NAME_BASE_MAX ? base.n : NAME_BASE_MAX);
    return arena_printf(a, "%.*s%s", STR_ARG(kept), suffix);
}
