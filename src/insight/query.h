/* insight/query.h - the query of a request's target: name=value pairs, strictly.
 *
 * Each name is one that is asked for and is given at most once; %41 and + are what browsers make of them. Anything
 * else is a BAD_REQUEST that says what is wrong.
 *
 * Thread: any. Memory: values are in the arena, or in the query itself. */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { QUERY_BYTES_MAX = 8192 };

struct query_field {
    const char *name;      /* NULL ends a list */
    struct str *ret_value; /* .p stays as it is when the name is not there */
};

enum err_code query_parse(struct str query, const struct query_field *fields, struct err *e) ERR_MUST_CHECK;

/* ---- Values. A text that is not given leaves *ret_value alone. `name` is for the message. ---- */

enum err_code query_number(struct str text, const char *name, uint32_t max, uint32_t *ret_value, struct err *e) ERR_MUST_CHECK;
enum err_code query_flag(struct str text, const char *name, bool *ret_value, struct err *e) ERR_MUST_CHECK;
/* NAMESPACE/NAME; both stay empty when the text is not given. */
enum err_code query_pod(struct str text, struct str *ret_ns, struct str *ret_name, struct err *e) ERR_MUST_CHECK;
