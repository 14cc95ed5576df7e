/* apiserver/status_object.h - Status objects: what an error, or a success without an object, is on the wire.
 *
 *     struct status s = status_of_err(&a, &e, &errs);
 *     status_add(&body, MEDIA_JSON, pretty, &s);      with s.code as the HTTP status
 *
 * Thread: any. Memory: a status borrows its texts. */
#pragma once

#include "api/field_error.h"
#include "base/err.h"
#include "codec/object.h"
#include "http/headers.h"
#include "http/target.h"

struct status_cause {
    struct str reason, message, field;
};

struct status {
    int code;                            /* HTTP; 0 for a success */
    int success_code;                    /* of a success that tells its code */
    struct str reason, message;
    bool details;                        /* also when nothing is in them */
    struct str name, group, kind, uid;   /* of the details */
    const struct status_cause *causes;
    uint32_t n_causes;
    int32_t retry_after_seconds;         /* 0: not told */
    struct str continue_token;           /* of an expired list: how to go on */
};

/* e->kind may name a group, "deployments.apps"; "" stands for details that are there and empty. `errs` become causes;
 * NULL when there are none. */
struct status status_of_err(struct arena *a, const struct err *e, const struct field_errors *errs);
/* Sets `e` to upstream's text for an object, or options, that are not valid. Kind with group: "Pod",
 * "ListOptions.meta.k8s.io". */
enum err_code status_invalid(const char *kind, const char *name, const struct field_errors *errs, struct err *e);

struct value status_value(struct arena *a, const struct status *s);
/* The bytes of an answer. `pretty` is for JSON only. */
void status_add(struct strbuf *to, enum media m, bool pretty, const struct status *s);

/* JSON without an arena: a failure of few words. `details` adds empty ones, which some reasons have. */
void status_add_failure(struct strbuf *to, int code, const char *reason, struct str message, bool details, bool pretty);
/* A compact JSON text of ours: indented by two spaces, or as it is with a newline, as upstream's serializer ends it. */
void json_add_shown(struct strbuf *to, struct str json, bool pretty);
/* Whether the asker looks like a person: the query `pretty` says so, or the program is curl, Wget or a browser. */
bool wants_pretty(const struct head *request, const struct target *t);
