/* daemon/delegation.h - what an API server publishes for servers beside it: whose certificates it trusts.
 *
 * That is the ConfigMap extension-apiserver-authentication in kube-system. It is read once at the start, and the caller
 * is told how that went; then a reflector keeps it current. What it says goes to an authn. One that is not there, or
 * lacks a key, says nothing; what was believed before stays when a new text is no good.
 *
 * Thread: the loop's.    Owns: its reflector and the request under way. */
#pragma once

#include "client/api.h"
#include "daemon/authn.h"

enum { DELEGATION_BYTES_MAX = 4 << 20 }; /* of the ConfigMap; servers store less */

struct delegation;

struct delegation_options {
    struct loop *loop;
    const struct api *api;
    struct authn *authn;
    bool client_ca, proxy; /* which parts are wanted: those that no flag gives */
    /* The first read is over; error is NULL when it went well or there is no such ConfigMap. Called once, never from
     * within delegation_new. The watch goes on in any case. */
    void (*read)(void *context, const char *error);
    void *context;
    uint64_t seed;
};

struct delegation *delegation_new(const struct delegation_options *o);
void delegation_free(struct delegation *d);
