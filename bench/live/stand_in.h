/* bench/live/stand_in.h - a stand-in for an API server: answers at once and keeps everything in memory.
 *
 * For measuring a scheduler with its whole HTTP side and no API server's cost beside it, and for tests of commands that
 * talk to a cluster. It lists (in pages, or as watches that begin with all objects), watches, creates, replaces, patches
 * and deletes objects of every resource of the schema, and binds pods; JSON and protobuf. There is no admission, no
 * validation and no authorization, and field selectors are passed over: a watch shows all objects of its resource and
 * namespace that its label selector allows. Events are counted and dropped.
 *
 * Objects are kept as protobuf messages. A binding appends to the message what it changes, which decoders merge: that
 * costs a copy and no decoding.
 *
 * Thread: one.    Owns: all objects. */
#pragma once

#include <stdio.h>

#include "base/blob.h"
#include "api/selector.h"
#include "base/list.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "codec/object.h"
#include "http/server.h"

enum {
    STAND_IN_LOG_MAX = 1 << 20,   /* changes of one resource that are kept; then the older half is forgotten */
    STAND_IN_BATCH_BYTES = 32768, /* of frames that are written to a watch at once */
};

struct kept {
    const char *ns, *name; /* ns "" without one; both in one block with the key */
    const char *key;       /* "ns/name" */
    uint64_t version;
    struct blob *raw; /* a protobuf message; NULL: the object is gone */
};

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

struct change {
    uint64_t version;
    const struct kept *object;
    struct blob *raw;
    enum change_type type;
};

/* All objects of one resource. */
struct shelf {
    const struct resource *resource;
    struct map_str by_key;
    VEC(struct kept *) objects; /* in the order in which they came; those that are gone keep their place */
    size_t n_here;
    struct change *log;
    size_t n_log, log_cap;
    uint64_t log_first; /* number of log[0] among all changes ever */
    uint64_t log_from;  /* a watch from an older version cannot be served */
    struct list watches;
};

struct stand_in_options {
    uint32_t n_nodes, n_pods, n_placed, n_later, page;
    uint64_t expect;
    bool plain, no_streaming, expire, quit;
    const char *address, *kubeconfig, *token, *requests, *explain;
    VEC(const char *) files, forbidden, forbidden_all, not_served;
};

struct stand_in_counts {
    uint64_t n_requests, n_binds, n_refused_binds, n_patches, n_events, n_deleted;
    int64_t asked_ns, synced_ns, first_bind_ns, last_bind_ns; /* 0: not yet */
};

struct stand_in {
    struct stand_in_options o;
    struct loop *loop;
    struct server *server;
    struct arena scratch; /* of one request */
    struct strbuf out;
    struct shelf *shelves; /* one for each of schema_resources */
    uint64_t version;      /* of the last change */
    struct stand_in_counts counts;
    struct loop_task wake;
    uv_signal_t signals[2];
    bool has_expired;
    FILE *requests; /* NULL: nobody asks */
};

/* ---- stand_in_store.c ---- */

void store_init(struct stand_in *x);
void store_fini(struct stand_in *x);
/* NULL: the schema has no such resource. */
struct shelf *store_shelf(struct stand_in *x, struct str group, struct str version, struct str plural);
struct kept *store_find(struct shelf *f, struct str ns, struct str name);
/* A new object or the next state of one; names and version are written into the value. NULL: its name is taken. */
struct kept *store_create(struct stand_in *x, struct shelf *f, struct str ns, struct value *v);
void store_replace(struct stand_in *x, struct shelf *f, struct kept *o, struct value *v);
void store_delete(struct stand_in *x, struct shelf *f, struct kept *o);
/* False: the pod has a node already. */
bool store_bind(struct stand_in *x, struct shelf *f, struct kept *pod, struct str node);
enum err_code store_value(struct arena *a, const struct shelf *f, const struct blob *raw, struct value *ret_value,
                          struct err *e) ERR_MUST_CHECK;
bool store_matches(struct arena *scratch, const struct selector *s, const struct blob *raw);
/* Of the log, by the number among all changes; NULL: there is none yet. */
const struct change *store_change(const struct shelf *f, uint64_t number);
/* Objects of lists and watches, and what they are made of. */
void add_field(struct strbuf *to, unsigned number, struct str bytes);
void add_envelope(struct strbuf *to, struct str api_version, struct str kind, struct str raw);
void add_object(struct stand_in *x, struct strbuf *to, enum media m, const struct shelf *f, const struct blob *raw);
struct str shelf_api_version(struct arena *a, const struct shelf *f);
int64_t now_ns(void);

/* ---- stand_in_watch.c ---- */

struct watch_from {
    struct str ns; /* empty: all */
    struct str selector;
    enum media media;
    bool lists;        /* begins with all objects */
    bool ends_list;    /* ... and says where they end */
    uint64_t version;
};

void watch_start(struct stand_in *x, struct shelf *f, struct stream *s, const struct watch_from *from);
/* Changes have come. */
void watches_wake(struct stand_in *x);
void watches_init(struct stand_in *x);

/* ---- stand_in_serve.c ---- */

void stand_in_handle(void *context, struct stream *s, const struct head *request);

/* ---- stand_in.c ---- */

/* A pod is bound: what the figures are about. */
void stand_in_bound(struct stand_in *x);
