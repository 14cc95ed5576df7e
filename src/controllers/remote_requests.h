/* controllers/remote_requests.h - requests of controllers to a far API server, each in the name of its controller.
 *
 * A request waits until its controller's client is there (accounts.h), and is then sent once: what fails is for the
 * controller's work queue to repeat.
 *
 * Thread: the loop's.    Owns: copies of requests. */
#pragma once

#include "controllers/accounts.h"

struct remote_requests;

struct remote_request {
    const char *controller;
    struct api_request request;
    /* Called once, never from within remote_requests_send. */
    api_done done;
    void *context;
};

struct remote_requests *remote_requests_new(struct loop *l, struct accounts *accounts);
void remote_requests_send(struct remote_requests *s, const struct remote_request *r);
uint32_t remote_requests_n(const struct remote_requests *s);
/* All that are under way are answered with an error, whatever becomes of them. */
void remote_requests_end(struct remote_requests *s);
/* None is under way. */
void remote_requests_free(struct remote_requests *s);
