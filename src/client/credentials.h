/* client/credentials.h - as whom a request is made: its Authorization and Impersonate headers.
 *
 * A token or a user name and password are there from the beginning. A token file is read again when its token is older
 * than CREDENTIALS_FILE_MS, or older than a request that the server answered with 401; while it cannot be read, the
 * last good token serves. The file is read on a worker thread: a request asks credentials_ready first and may have to
 * wait. So it is with a program that prints credentials (exec_plugin.h): it runs before the first request, when what
 * it printed has expired, and when the server refuses it, once for all who wait. It is not asked when there is a
 * token, a user name or a certificate besides it.
 *
 * Texts of errors are client-go's.
 *
 * Thread: the loop's.    Owns: copies of all that it needs. */
#pragma once

#include "base/list.h"
#include "client/kubeconfig.h"
#include "http/headers.h"
#include "http/loop.h"

#define CREDENTIALS_FILE_MS 50000            /* a minute, less ten seconds during which it is replaced */
#define CREDENTIALS_RETRY_MS 1000            /* between tries while it cannot be read */
#define CREDENTIALS_FILE_BYTES_MAX (1 << 20) /* of a token file */

struct credentials;

/* A request that waits. Zeroed in the beginning. */
struct credentials_waiter {
    struct list_node node; /* in no list while it does not wait */
    /* `error` is NULL when they are ready now. */
    void (*ready)(struct credentials_waiter *w, const char *error);
};

/* A program has printed another certificate than before: new connections need it. An error makes its run a failure. */
typedef enum err_code (*credentials_use_cert)(void *context, struct str cert_pem, struct str key_pem, struct err *e);

/* A token file is read here for the first time: without any token that must work. With a program, the texts of `config`
 * must live as long as the credentials. */
ERR_MUST_CHECK enum err_code credentials_new(const struct client_config *config, struct loop *l,
                                             credentials_use_cert use_cert, void *context,
                                             struct credentials **ret_credentials, struct err *e);
/* Nobody may wait. The loop must still turn while a worker is busy with it. */
void credentials_free(struct credentials *c);

/* True: they are ready. False: `ready` is called once, never from within this call. */
bool credentials_ready(struct credentials *c, struct credentials_waiter *w);
/* May be called at any time. */
void credentials_leave(struct credentials_waiter *w);

/* From now on with this token, instead of the one that there was. */
void credentials_set_token(struct credentials *c, struct str token);

/* Which ones they are, for credentials_refused. */
uint64_t credentials_version(const struct credentials *c);
/* Adds the headers of a request. */
void credentials_add(const struct credentials *c, struct headers *h, struct arena *a);
/* The server has answered 401 to a request that carried this version. */
void credentials_refused(struct credentials *c, uint64_t version);
