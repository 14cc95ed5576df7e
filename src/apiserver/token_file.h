/* apiserver/token_file.h - users by tokens that stand in a file: lines `token,user,uid[,"group,group"]` (CSV).
 *
 * Thread: any once read.    Owns: copies of all of it. */
#pragma once

#include "api/user.h"
#include "base/err.h"
#include "base/map.h"

struct token_file {
    struct arena arena;
    struct map_str users; /* struct user, by token */
};

/* Fails for lines with fewer than three columns, and for quotes that are not closed. */
ERR_MUST_CHECK enum err_code token_file_read(struct str text, struct token_file *ret_file, struct err *e);
void token_file_fini(struct token_file *f);
/* NULL: nobody's. */
const struct user *token_file_find(const struct token_file *f, struct str token);
