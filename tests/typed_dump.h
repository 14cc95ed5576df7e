/* tests/typed_dump.h - typed forms as text, so that tests can compare and read them.
 *
 * One member a line or word, names as texts; everything that a form holds is there, so equal dumps mean equal
 * forms. Lists that are ordered by sym come out in that order: compare forms made with one sym table while
 * both are alive. */
#pragma once

#include "base/strbuf.h"
#include "forms/typed.h"

struct typed_kind {
    const char *api_version, *kind;
    /* Decodes, and hands out the form as an opaque pointer. */
    enum err_code (*decode)(struct sym_table *syms, enum typed_format format, struct str bytes,
                            const void **ret_form, struct err *e);
    void (*dump)(struct strbuf *to, const struct sym_table *syms, const void *form);
    void (*unref)(struct sym_table *syms, const void *form);
};

/* All kinds that have a form; ends with a NULL kind. */
extern const struct typed_kind typed_kinds[];
const struct typed_kind *typed_kind(struct str api_version, struct str kind);
