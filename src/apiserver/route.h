/* apiserver/route.h - what a request asks for: from method and target to resource, verb and object.
 *
 * Two steps, because somebody is asked for permission between them:
 *
 *     route_read    the words of the path, whatever they are; what an authorizer decides about
 *     route_find    what of that this server has: the row of the schema, or 404 and 405
 *
 * Both look at the same decoded path, so what was permitted is what is served. Nothing is cleaned: "." and "//" are
 * words as any other, and name nothing.
 *
 * Upstream: endpoints/request/requestinfo.go and what its router makes of the paths it has.
 * Thread: any. Memory: texts live as long as the target. */
#pragma once

#include "api/schema.h"
#include "base/err.h"
#include "http/target.h"

struct route {
    struct str path;
    struct str verb;      /* list, get, watch, create, update, patch, delete, deletecollection; empty for methods that
                           * have none; in lower case the method itself where no resource is asked for */
    bool is_resource;     /* otherwise the rest is empty */
    struct str group, version, resource, namespace, name, subresource;
    struct str rest;      /* behind the subresource, of a proxy */
    bool in_namespace;    /* the path goes through /namespaces/NAME/, NAME may be empty */
    bool watch_path;      /* the old form, /api/v1/watch/... */
    uint8_t n_parts;      /* resource, name, subresource and what follows, 4 stands for more */
};

/* What route_find found; all of it constant. */
struct endpoint {
    const struct resource *resource;
    const struct subresource *subresource; /* or NULL */
    const struct type *type;               /* of the answer's object, or NULL */
    bool collection;                       /* list, watch of one, create, deletecollection */
    bool connect;                          /* exec, attach, portforward, proxy: no object goes either way */
};

/* Fails with ERR_UNKNOWN for /api/v1/watch and the like, which says a verb and nothing to do it with; the answer is
 * then
 * plain text. */
ERR_MUST_CHECK enum err_code route_read(struct arena *a, struct str method, const struct target *t,
                                        struct route *ret_route, struct err *e);

/* Of a resource request. ERR_NOT_FOUND, ERR_METHOD_NOT_ALLOWED; ERR_BAD_REQUEST for names that are no path segment. */
ERR_MUST_CHECK enum err_code route_find(const struct route *r, struct str method, struct endpoint *ret_endpoint,
                                        struct err *e);

/* Whether a path that leads nowhere is answered in plain text, "404 page not found", instead of with a Status: outside
 * of /api/ and the groups that there are. */
bool route_missing_is_plain(struct str path);

/* As upstream reads booleans of a query: absent, "0" and "false" in any case are false, all else is true. */
bool query_bool(const struct target *t, const char *name);
