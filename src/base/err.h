/* base/err.h - the one error value: what went wrong, complete for a user.
 *
 * Functions return the code (ERR_OK is 0) and fill `e` on failure only. Texts live in the arena of the
 * request, cycle or command that `e` was made for. At the edge an error becomes a Status, a line on
 * standard error or a log record.
 *
 * Thread: any, one at a time. */
#pragma once

#include <stdint.h>

#include "base/arena.h"

/* name, HTTP status, Status.reason */
#define ERR_CODES(X)                                            \
    X(BAD_REQUEST, 400, "BadRequest")                           \
    X(UNAUTHORIZED, 401, "Unauthorized")                        \
    X(FORBIDDEN, 403, "Forbidden")                              \
    X(NOT_FOUND, 404, "NotFound")                               \
    X(METHOD_NOT_ALLOWED, 405, "MethodNotAllowed")              \
    X(NOT_ACCEPTABLE, 406, "NotAcceptable")                     \
    X(ALREADY_EXISTS, 409, "AlreadyExists")                     \
    X(CONFLICT, 409, "Conflict")                                \
    X(GONE, 410, "Gone")                                        \
    X(EXPIRED, 410, "Expired")                                  \
    X(TOO_LARGE, 413, "RequestEntityTooLarge")                  \
    X(UNSUPPORTED_MEDIA_TYPE, 415, "UnsupportedMediaType")      \
    X(INVALID, 422, "Invalid")                                  \
    X(TOO_MANY_REQUESTS, 429, "TooManyRequests")                \
    X(INTERNAL, 500, "InternalError")                           \
    X(UNAVAILABLE, 503, "ServiceUnavailable")                   \
    X(TIMEOUT, 504, "Timeout")                                  \
    X(IO, 500, "InternalError")                                 \
    X(UNKNOWN, 500, "") /* upstream has no reason for it */

enum err_code {
    ERR_OK = 0,
#define X(name, status, reason) ERR_##name,
    ERR_CODES(X)
#undef X
};

struct err {
    enum err_code code;
    struct arena *arena;     /* texts live here: request, cycle or command */
    const char *message;     /* complete for a user, no dot at the end */
    const char *kind, *name; /* Status.details, may be NULL */
};

#define ERR_MUST_CHECK __attribute__((warn_unused_result))

static inline void err_init(struct err *e, struct arena *a)
{
    *e = (struct err){ .arena = a };
}

/* Of a message; what is longer is cut, and its length stands behind three dots. */
enum { ERR_MESSAGE_BYTES_MAX = 128 << 10 };

/* Sets code and message, returns the code. */
enum err_code err_set(struct err *e, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "<context>: " before the message that is there, returns the code that is there. */
enum err_code err_wrap(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text that a peer chose, for a message: cut as strbuf_add_shown does. */
struct str err_shown(const struct err *e, struct str s);

int err_http_status(enum err_code code);
const char *err_reason(enum err_code code);
