/* cmd/objects.h - what berth get, apply and delete share: a connection, names of resources, and documents from files.
 *
 * Resources are those that berth knows, under the names that kubectl takes: plural, singular, kind, short. The cluster is found
 * as kubectl finds it (cluster.h).
 *
 * Thread: main. */
#pragma once

#include "api/schema.h"
#include "api/value.h"
#include "cmd/cluster.h"

struct objects_options {
    struct cluster_options cluster;
    const char *ns; /* NULL: the context's */
};

/* One request after the other. */
struct objects {
    const struct command *c;
    const struct objects_options *o;
    struct cluster cluster;
    struct strbuf body; /* of the last answer */
    struct api_answer answer;
    bool done;
};

/* 0, or the exit code after saying why not. */
int objects_open(struct objects *k, const struct command *c, const struct objects_options *o);
void objects_close(struct objects *k);
/* Whether it was answered well. `media_type` may be NULL. */
bool objects_ask(struct objects *k, const char *method, struct str target, const char *media_type, struct str body);
/* Says what the server said, as kubectl does; 1. */
int objects_refused(struct objects *k);

/* NULL: nobody knows it. */
const struct resource *objects_resource(struct str word);
const struct resource *objects_resource_of(struct str api_version, struct str kind);
/* "/api/v1/namespaces/default/pods/p"; an empty name: all of them. `ns` NULL: of all namespaces. */
struct str objects_target(struct arena *a, const struct resource *r, const char *ns, struct str name);
/* The namespace that is meant where an object or the command line says none. */
const char *objects_namespace(struct objects *k);
/* "pod/web-0", "deployment.apps/web". */
const char *objects_name(struct arena *a, const struct resource *r, struct str name);

struct document {
    const struct resource *resource;
    const char *ns; /* NULL: the resource has none */
    struct str name;
    struct str json;
};

/* Each object of a file (- is standard input), of a folder's .yaml, .yml and .json files by name, and of lists in them, in
 * order. An exit code other than 0 is that of the first that failed, after saying why; the others follow all the same. */
int objects_each(struct objects *k, const char *path, int (*act)(struct objects *k, const struct document *d));
