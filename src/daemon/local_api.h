/* daemon/local_api.h - the API server of this process as client/api.h has one: for those who write through a client.
 *
 * Requests go through inner.h, so bindings, statuses, Events and volumes pass the same checks as over HTTP, are counted and
 * logged alike, and watchers see them in the same order. There is no rate to wait for and no answer to lose. Lists and
 * streams are not there: whoever wants those reads the store (local_feed.h).
 *
 * Thread: the loop's, which is the store's.    Owns: calls under way. */
#pragma once

#include "apiserver/server.h"
#include "client/api.h"

struct local_api;

/* `user_agent` as a client would send it. */
struct local_api *local_api_new(struct apiserver *s, const struct user *user, struct str user_agent);
/* The server ends: nothing is answered any more. The store must not be polled again. */
void local_api_free(struct local_api *l);

const struct api *local_api_api(const struct local_api *l);
