/* sched/pod_index.h - finds records by the namespace and name of their pods, or by uid.
 *
 * Chained hash table, the chain runs through the records: putting one in never allocates.
 * pod_index_make_room grows the table and is called where allocating is fine; without it the table only gets
 * slower. A record is in one index at a time. Names are hashed under the process seed.
 *
 * Thread: one at a time.    Owns: the buckets, not the records. */
#pragma once

#include "base/hash.h"
#include "sched/queued_pod.h"

struct pod_index {
    struct queued_pod **buckets; /* mask + 1 */
    uint32_t mask, n;
    struct hash_seed seed;
};

void pod_index_init(struct pod_index *ix);
void pod_index_fini(struct pod_index *ix);
/* So many records without long chains. */
void pod_index_make_room(struct pod_index *ix, uint32_t n);

void pod_index_put_name(struct pod_index *ix, struct queued_pod *qp);
void pod_index_put_uid(struct pod_index *ix, struct queued_pod *qp);
void pod_index_remove(struct pod_index *ix, struct queued_pod *qp);
/* NULL when it is not there. */
struct queued_pod *pod_index_find_name(const struct pod_index *ix, sym ns, const char *name);
struct queued_pod *pod_index_find_uid(const struct pod_index *ix, const char *uid);
