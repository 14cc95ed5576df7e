/* daemon/extender_client.h - HTTP and HTTPS to extenders.
 *
 * One set of connections for each extender, with its own TLS. A request is a POST of JSON and gets a time for all of
 * it; whatever goes wrong becomes one text, in the words of Go's client where it has some. Redirects are not followed:
 * they are an answer other than 200, which Go would follow.
 *
 * Thread: the loop's.    Owns: connections and exchanges. */
#pragma once

#include "base/err.h"
#include "config/config.h"
#include "http/loop.h"

#define EXTENDER_ANSWER_BYTES_MAX (64 << 20) /* of one answer, unpacked; more is an error */
#define EXTENDER_TIMEOUT_MS 5000             /* when the configuration says 0; upstream's */

struct extender_client;

struct extender_client_options {
    struct loop *loop;
    const struct extender_config *const *extenders; /* in the order of the numbers below; they live as long */
    uint32_t n_extenders;
    const char *(*env)(const char *name); /* where proxies are looked up; NULL: in the process's environment */
};

/* Reads certificates, on this thread. */
ERR_MUST_CHECK enum err_code extender_client_new(const struct extender_client_options *o,
                                                 struct extender_client **ret_client, struct err *e);
/* All that is under way ends with an error; `stopped` follows when all connections are gone. */
void extender_client_stop(struct extender_client *c, void (*stopped)(void *context), void *context);
/* Only after `stopped`. */
void extender_client_free(struct extender_client *c);

/* `error` NULL: the answer was 200, and `body` is valid during the call. */
typedef void (*extender_done)(void *context, const char *error, struct str body);

/* POST to "<urlPrefix>/<verb>" of extender `which`. `done` is called once, never before this has returned. */
void extender_client_send(struct extender_client *c, uint32_t which, const char *verb, struct str body,
                          extender_done done, void *context);

/* How long a request may take. */
int64_t extender_timeout_ms(const struct extender_config *x);
/* "http://host/prefix/verb" */
char *extender_url(struct arena *a, const struct extender_config *x, const char *verb);
/* What Go says when that time has passed without an answer. */
const char *extender_timeout_text(struct arena *a, const char *url);
