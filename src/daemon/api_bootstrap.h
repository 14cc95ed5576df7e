/* daemon/api_bootstrap.h - makes the objects that a server begins with, through the server itself: those that are
 * missing, and of those that tell about this process what has changed.
 *
 *     namespaces, then everything else, then what is in statuses; each step at once, and one after the other
 *
 * What fails is logged, and the server goes on without it: a client may have made something of the same name.
 *
 * Thread: the store's.    Owns: itself; free it after the store, whose answers come here. */
#pragma once

#include "apiserver/bootstrap.h"
#include "apiserver/server.h"

struct api_bootstrap;

struct api_bootstrap_options {
    struct loop *loop;
    struct apiserver *server;
    struct stored *objects;
    struct bootstrap_options make;
    bool rbac; /* roles and their bindings, too */
    void (*done)(void *context); /* once, not before api_bootstrap_new has returned */
    void *context;
};

struct api_bootstrap *api_bootstrap_new(const struct api_bootstrap_options *o);
void api_bootstrap_free(struct api_bootstrap *b);
