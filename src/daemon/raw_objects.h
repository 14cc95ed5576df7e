/* daemon/raw_objects.h - whole pods and nodes, for extenders that want to see them.
 *
 * The scheduler knows typed forms only, which hold a part of an object. Extenders get the object: the pod that is
 * being placed, the nodes it may go to unless they know the nodes themselves, and the victims. So the bytes are kept as
 * they came, and become JSON when an extender first asks: without kind and apiVersion, and pods without managedFields,
 * which upstream drops when it reads them.
 *
 * Only what some extender of the configuration can ask for is kept; without extenders that is nothing.
 *
 * Thread: scheduling thread only.    Owns: its bytes. */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"
#include "forms/node.h"
#include "forms/pod.h"

struct extender;
struct raw_objects;

struct raw_objects *raw_objects_new(const struct sym_table *syms, struct extender *const *extenders,
                                    uint32_t n_extenders);
void raw_objects_free(struct raw_objects *r);

/* An object came; `bytes` are those that the form was made from, and need not live on. */
void raw_objects_set_pod(struct raw_objects *r, const struct pod *pod, enum typed_format format, struct str bytes);
void raw_objects_set_node(struct raw_objects *r, const struct node *node, enum typed_format format, struct str bytes);
void raw_objects_remove_pod(struct raw_objects *r, const char *uid);
void raw_objects_remove_node(struct raw_objects *r, struct str name);

/* Appends the object as extenders get it. A pod is on the node that its form says, also when that is only assumed.
 * ERR_NOT_FOUND: it is not kept. */
enum err_code raw_objects_add_pod(struct raw_objects *r, const struct pod *pod, struct strbuf *to,
                                  struct err *e) ERR_MUST_CHECK;
enum err_code raw_objects_add_node(struct raw_objects *r, struct str name, struct strbuf *to,
                                   struct err *e) ERR_MUST_CHECK;

struct raw_objects_counts {
    uint32_t n_pods, n_nodes;
    size_t n_bytes; /* of all */
};
struct raw_objects_counts raw_objects_counts(const struct raw_objects *r);
