/* client/rest.h - the real struct api: requests to one API server over http/client.h.
 *
 * Around each request: its lane and the rate (rate.h), who we are (credentials.h), TLS and proxy as the configuration
 * says, its time, and tries. A request is tried again as client-go does: up to REST_RETRIES_MAX times after what
 * Retry-After says when the server answers 429 or 5xx with it, and a GET also when the connection is cut before an
 * answer began. An answer counts as it is when waiting would pass the request's time.
 *
 * The time of a request runs from `send` on, waiting included. Streams wait neither for the rate nor in a lane.
 *
 * Certificates and CAs in files are looked at again; when they change, new requests go over new connections, running
 * ones end where they are, and streams are ended, so that they come again.
 *
 * Peers close connections while something is written to them: the process must ignore SIGPIPE.
 *
 * Thread: the loop's.    Owns: its connections and all calls; copies of requests. */
#pragma once

#include "client/api.h"
#include "client/kubeconfig.h"
#include "http/limits.h"
#include "http/loop.h"

#define REST_RETRIES_MAX 10
#define REST_RETRY_AFTER_S_MAX 60  /* more is cut */
#define REST_CUT_RETRY_MS 1000     /* before a GET whose connection was cut is tried again */
#define REST_DROPPED_BYTES_MAX 2048 /* of an answer that nobody reads; then its exchange is given up */
#define REST_IN_FLIGHT_MAX 1000    /* requests at the server at once, streams apart; leases go beyond */
#define REST_STREAMS_MAX 1000      /* one more ends at once */
#define REST_TLS_LOOK_MS 60000     /* between two looks at files of certificates, when the options say 0 */

struct rest;

/* Told of requests as they go, for metrics; each function may be NULL. `method` is "GET" and the like.
 * Thread: the loop's; they must not call the rest. */
struct rest_observer {
    void *context;
    /* One try of a request or stream has the head of its answer; status 0: it ended without. */
    void (*tried)(void *context, const char *method, int status, size_t request_bytes, bool is_stream);
    /* It will be tried again after that. */
    void (*retried)(void *context, const char *method, int status);
    /* Its turn has come: the rate made it wait so long. Streams do not wait, nor does anybody where there is no rate. */
    void (*waited)(void *context, const char *method, int64_t ns);
    /* A request, not a stream, is over, all its tries and waits included; answer_bytes 0: there was none. */
    void (*finished)(void *context, const char *method, int64_t ns, size_t answer_bytes, bool answered);
    /* One more set of connections (by 1), or one less (by -1): certificates change. The first time, too. */
    void (*carriers)(void *context, int by);
};

struct rest_options {
    struct loop *loop;
    double qps;             /* 0 or less: no limit */
    int burst;
    const char *user_agent;
    enum media media;       /* of bodies of ours */
    const char *accept;     /* NULL: the media's type, and anything else if there is no such form */
    bool gzip;              /* ask for packed answers, unless the configuration forbids it */
    const char *(*env)(const char *name); /* where proxies are looked up; NULL: in the process's environment */
    int64_t tls_look_ms;
    const struct http_limits *limits; /* NULL: http_client_limits; must outlive it */
    struct rest_observer observer;
};

/* Reads certificates and token files, on this thread. With an exec plugin `config` and its texts must live as long. */
ERR_MUST_CHECK enum err_code rest_new(const struct client_config *config, const struct rest_options *o,
                                      struct rest **ret_rest, struct err *e);
/* Lives as long as the rest. */
const struct api *rest_api(const struct rest *r);

/* From the next request on with this token; the configuration had one. */
void rest_set_token(struct rest *r, struct str token);

/* All calls are cancelled: none of their functions is called any more. `stopped` follows when all connections are
 * gone. */
void rest_stop(struct rest *r, void (*stopped)(void *context), void *context);
/* Only after `stopped`. */
void rest_free(struct rest *r);

struct rest_counts {
    uint64_t n_tries, n_retries;    /* sent to the server; of them not the first of their request */
    uint32_t n_calls, n_in_flight;  /* now */
    uint32_t n_carriers;            /* sets of connections; more than one while certificates change */
};
struct rest_counts rest_counts(const struct rest *r);
