/* sched/objects.h - the objects other than pods and nodes that plugins look up.
 *
 * The newest form of each object that came in, by kind, namespace and name. Every form begins with
 * struct typed and struct typed_meta, which is all that the store itself looks at.
 *
 * Thread: scheduling thread only.    Owns: one reference per object. */
#pragma once

#include "forms/device.h"
#include "forms/namespace.h"
#include "forms/policy.h"
#include "forms/storage.h"
#include "forms/volume.h"
#include "forms/workload.h"

enum object_kind {
    OBJECT_NAMESPACE,
    OBJECT_SERVICE,
    OBJECT_REPLICATION_CONTROLLER,
    OBJECT_REPLICA_SET,
    OBJECT_STATEFUL_SET,
    OBJECT_PERSISTENT_VOLUME,
    OBJECT_PERSISTENT_VOLUME_CLAIM,
    OBJECT_STORAGE_CLASS,
    OBJECT_CSI_NODE,
    OBJECT_CSI_DRIVER,
    OBJECT_CSI_STORAGE_CAPACITY,
    OBJECT_VOLUME_ATTACHMENT,
    OBJECT_BUDGET,
    OBJECT_PRIORITY_CLASS,
    OBJECT_RESOURCE_CLAIM,
    OBJECT_RESOURCE_SLICE,
    OBJECT_DEVICE_CLASS,
    N_OBJECT_KINDS
};

struct objects;

struct objects *objects_new(struct sym_table *syms);
void objects_free(struct objects *o);

/* Takes a reference; gives up the one to the form that was there. */
void objects_set(struct objects *o, enum object_kind kind, const void *form);
/* Whether it was there. */
bool objects_remove(struct objects *o, enum object_kind kind, sym ns, struct str name);
/* NULL when there is none. ns is SYM_EMPTY for kinds without namespaces. */
const void *objects_get(const struct objects *o, enum object_kind kind, sym ns, struct str name);

struct object_list {
    const void *const *at;
    uint32_t n;
};
/* All of a kind, or those of one namespace; in no order. Valid until the next change. */
struct object_list objects_all(const struct objects *o, enum object_kind kind);
struct object_list objects_in(const struct objects *o, enum object_kind kind, sym ns);
/* Grows with every change of a kind. */
uint64_t objects_version(const struct objects *o, enum object_kind kind);

/* A form of any kind, from its bytes, and references to it; see typed.h. */
enum err_code object_form_decode(enum object_kind kind, struct sym_table *syms, enum typed_format format,
                                 struct str bytes, const void **ret_form, struct err *e) ERR_MUST_CHECK;
const void *object_ref(enum object_kind kind, const void *form);
void object_unref(struct sym_table *syms, enum object_kind kind, const void *form);
