/* daemon/symbols.h - names of the functions of this program, by address: for profiles.
 *
 * From the symbol table of the program's own file, which also has functions that are not exported; for libraries from
 * what they export. A program without such a table has names for libraries only.
 *
 * Thread: any, after it was made; making it reads a file.    Owns: a mapping of the file. */
#pragma once

#include "base/str.h"

struct symbols;

/* Never NULL; what cannot be read has no names. */
struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);
/* Empty when nobody knows it. Valid as long as the symbols. */
struct str symbols_find(const struct symbols *s, uintptr_t address);
