/* apiserver/bootstrap.h - the objects that a server makes when it starts, as long as nobody else made them: namespaces,
 * the service of the server itself, priority classes, flow schemas and priority levels, the range of cluster IPs, the
 * groups that are served, and who is trusted. Roles and their bindings are elsewhere.
 *
 * Names and contents are upstream's. Objects come in an order in which they can be created; their metadata has what
 * upstream sets by hand, the rest (uid, times) is for whoever creates them.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/user.h"
#include "api/value.h"

struct bootstrap_options {
    struct str service_cidr;       /* "10.0.0.0/24" */
    const char *service_ip;        /* of default/kubernetes: the first of the range */
    const char *advertise_address; /* of its endpoints; NULL or loopback: there are none */
    int port;                      /* of this server */
    int node_port;                 /* of default/kubernetes; 0: it has none */
    struct str client_ca_pem, proxy_ca_pem; /* empty: none */
    struct str_list proxy_names, proxy_user_headers, proxy_uid_headers, proxy_group_headers, proxy_extra_prefixes;
    int64_t now_s;                 /* wall clock: for conditions */
};

struct bootstrap_object {
    const struct resource *resource;
    struct str namespace, name; /* no namespace: empty */
    struct value value;         /* of the resource's type, with kind and apiVersion */
    bool has_status;            /* a plain create would drop it: it is written after it, or with it */
    bool stays;                 /* once it is there, its contents are history */
};

struct bootstrap_object *bootstrap_objects(struct arena *a, const struct bootstrap_options *o, size_t *ret_n);
