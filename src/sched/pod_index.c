/* sched/pod_index.c - see pod_index.h. */
#include "sched/pod_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BUCKETS = 64 };

void pod_index_init(struct pod_index *ix)
{
    *ix = (struct pod_index){
        .buckets = mem_zalloc(FIRST_BUCKETS * sizeof(*ix->buckets)),
        .mask = FIRST_BUCKETS - 1,
        .seed = hash_seed(),
    };
}

void pod_index_fini(struct pod_index *ix)
{
    free(ix->buckets);
    *ix = (struct pod_index){ 0 };
}

static void put(struct pod_index *ix, struct queued_pod *qp)
{
    struct queued_pod **bucket = &ix->buckets[qp->hash & ix->mask];
    qp->next_in_bucket = *bucket;
    *bucket = qp;
}

void pod_index_make_room(struct pod_index *ix, uint32_t n)
{
    if (n <= ix->mask)
        return;
    uint32_t old_mask = ix->mask;
    struct queued_pod **old = ix->buckets;
    while (ix->mask < n)
        ix->mask = ix->mask * 2 + 1;
    ix->buckets = mem_zalloc(mem_product((size_t)ix->mask + 1, sizeof(*ix->buckets)));
    for (size_t i = 0; i <= old_mask; i++)
        for (struct queued_pod *qp = old[i], *next; qp; qp = next) {
            next = qp->next_in_bucket;
            put(ix, qp);
        }
    free(old);
}

static uint64_t hash_name(const struct pod_index *ix, sym ns, const char *name)
{
    return hash_bytes(&ix->seed, name, strlen(name)) ^ hash_u64(&ix->seed, ns);
}

static uint64_t hash_uid(const struct pod_index *ix, const char *uid)
{
    return hash_bytes(&ix->seed, uid, strlen(uid));
}

void pod_index_put_name(struct pod_index *ix, struct queued_pod *qp)
{
    qp->hash = hash_name(ix, qp->pod->meta.ns, qp->pod->meta.name);
    put(ix, qp);
    ix->n++;
}

void pod_index_put_uid(struct pod_index *ix, struct queued_pod *qp)
{
    qp->hash = hash_uid(ix, qp->pod->meta.uid);
    put(ix, qp);
    ix->n++;
}

void pod_index_remove(struct pod_index *ix, struct queued_pod *qp)
{
    struct queued_pod **at = &ix->buckets[qp->hash & ix->mask];
    while (*at != qp) {
        assert(*at);
        at = &(*at)->next_in_bucket;
    }
    *at = qp->next_in_bucket;
    qp->next_in_bucket = NULL;
    ix->n--;
}

struct queued_pod *pod_index_find_name(const struct pod_index *ix, sym ns, const char *name)
{
    uint64_t hash = hash_name(ix, ns, name);
    struct queued_pod *qp = ix->buckets[hash & ix->mask];
    while (qp && (qp->hash != hash || qp->pod->meta.ns != ns || strcmp(qp->pod->meta.name, name) != 0))
        qp = qp->next_in_bucket;
    return qp;
}

struct queued_pod *pod_index_find_uid(const struct pod_index *ix, const char *uid)
{
    uint64_t hash = hash_uid(ix, uid);
    struct queued_pod *qp = ix->buckets[hash & ix->mask];
    while (qp && (qp->hash != hash || strcmp(qp->pod->meta.uid, uid) != 0))
        qp = qp->next_in_bucket;
    return qp;
}
