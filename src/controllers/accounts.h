/* controllers/accounts.h - as whom controllers write to a far cluster: a client for each of them.
 *
 * Each has a rate of its own, as upstream's. They are all we ourselves, or, as upstream with
 * --use-service-account-credentials, each is its service account in kube-system: the account is made where it is missing, and
 * a token is asked for, which is good for an hour and renewed after four fifths of it.
 *
 * Bounds: ACCOUNTS_MAX clients; there are that many controllers at the most.
 *
 * Thread: the loop's.    Owns: the clients. */
#pragma once

#include "base/list.h"
#include "client/rest.h"

enum { ACCOUNTS_MAX = 64 };

struct accounts;
struct account;

struct accounts_options {
    const struct client_config *config; /* our own; lives as long */
    struct rest_options rest;           /* user_agent: of the program, the controller's name is added */
    const struct api *api;              /* our own, for accounts and tokens */
    bool as_accounts;
};

struct accounts *accounts_new(const struct accounts_options *o);
/* Nobody waits. All calls end without a word; `stopped` follows. */
void accounts_stop(struct accounts *s, void (*stopped)(void *context), void *context);
/* After `stopped`. */
void accounts_free(struct accounts *s);

struct account_waiter {
    struct list_node node; /* in no list while it does not wait */
    /* `api` NULL: there is no client, and `error` says why. */
    void (*ready)(struct account_waiter *w, const struct api *api, const char *error);
};

/* `ready` follows, from within or later. NULL: there are too many. */
struct account *accounts_find(struct accounts *s, const char *controller);
void account_wait(struct account *t, struct account_waiter *w);
void account_leave(struct account_waiter *w);
/* The server has answered 401: the next one who waits gets a new token. */
void account_refused(struct account *t);
