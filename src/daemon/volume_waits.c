/* daemon/volume_waits.c - see volume_waits.h. Upstream: plugins/volumebinding/binder.go checkBindings, v1.36. */
#include "daemon/volume_waits.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "plugins/csi_translate.h"
#include "plugins/volume_shared.h"
#include "sched/cache.h"

struct wait {
    io_ticket ticket;
    struct volume_job *job;
    int64_t next_ms, end_ms;
};

struct volume_waits {
    struct sched *sched;
    struct sym_table *syms;
    struct csi_names names;
    VEC(struct wait) waits;
    volume_waits_done done;
    void *context;
};

/* ---- One look ---- */

struct look {
    const struct volume_waits *waits;
    const struct volume_job *job;
    const struct objects *objects;
    const struct node *node;
    struct arena *arena;
    const char *error;
};

enum progress { NOT_YET, DONE, FAILED };

/* Numbers; a version that is none is never older. */
static bool is_older(const char *seen, const char *written)
{
    char *seen_end, *written_end;
    unsigned long long a = strtoull(seen, &seen_end, 10), b = strtoull(written, &written_end, 10);
    return !*seen_end && !*written_end && a < b;
}

static const struct node *node_by_name(const struct volume_waits *w, const char *name)
{
    sym id = sym_find(w->syms, str_of(name));
    struct cache *cache = sched_cache(w->sched);
    node_id row = id == SYM_NONE ? NODE_NONE : cache_find_node(cache, id);
    return row == NODE_NONE ? NULL : cache->rows.at[row].node;
}

static const struct pvc *find_claim(struct look *l, const char *name, const char *what)
{
    sym ns = sym_find(l->waits->syms, str_of(l->job->ns));
    const struct pvc *claim =
        ns == SYM_NONE ? NULL : objects_get(l->objects, OBJECT_PERSISTENT_VOLUME_CLAIM, ns, str_of(name));
    if (!claim)
        l->error = arena_printf(l->arena, "%s: persistentvolumeclaims \"%s/%s\" not found", what, l->job->ns, name);
    return claim;
}

/* The node affinity of a volume as it counts on this node; NULL: it cannot be said in the driver's words. */
static const struct node_rules *affinity_of(struct look *l, const struct pv *pv, const char *what,
                                            struct node_rules *room)
{
    const struct csi_names *names = &l->waits->names;
    if (!csi_stands_in(pv->source) ||
        !csi_is_migrated(csi_node_of(l->objects, l->node), names->plugin[pv->source]))
        return &pv->affinity;
    struct err e;
    err_init(&e, l->arena);
    if (csi_affinity_of_pv(names, l->waits->syms, pv, room, &e)) {
        l->error = arena_printf(l->arena, "%scould not translate pv: %s", what, e.message);
        return NULL;
    }
    return room;
}

/* The node may have lost a label since. */
static bool reaches_node(struct look *l, const struct pv *pv, const char *what)
{
    struct node_rules room;
    const struct node_rules *rules = affinity_of(l, pv, what, &room);
    if (!rules)
        return false;
    if (node_rules_match(rules, l->node->meta.labels, SYM_EMPTY, l->waits->syms))
        return true;
    l->error = arena_printf(l->arena, "pv \"%s\" node affinity doesn't match node \"%s\": %s", pv->meta.name,
                            l->node->meta.name, rules->error ? rules->error : "no matching NodeSelectorTerms");
    return false;
}

static enum progress check_binding(struct look *l, const struct job_binding *b)
{
    const struct pv *pv = volume_by_name(l->objects, b->volume);
    if (!pv) {
        l->error = arena_printf(l->arena, "failed to check binding: persistentvolumes \"%s\" not found", b->volume);
        return FAILED;
    }
    const struct pvc *claim = find_claim(l, b->claim, "failed to check binding");
    if (!claim)
        return FAILED;
    if (is_older(pv->meta.resource_version, b->written))
        return NOT_YET; /* our own write has not arrived */
    if (!reaches_node(l, pv, "failed to translate pv to csi: "))
        return FAILED;
    if (!pv->claim || !pv->claim->uid[0]) {
        l->error = arena_printf(l->arena, "ClaimRef got reset for pv \"%s\"", pv->meta.name);
        return FAILED;
    }
    return claim_is_bound(claim) ? DONE : NOT_YET;
}

static enum progress check_provision(struct look *l, const struct job_provision *p)
{
    const struct pvc *claim = find_claim(l, p->claim, "failed to check provisioning pvc");
    if (!claim)
        return FAILED;
    if (is_older(claim->meta.resource_version, p->written))
        return NOT_YET;
    if (!claim->has_annotations) {
        l->error = arena_printf(l->arena, "selectedNode annotation reset for PVC \"%s\"", p->claim);
        return FAILED;
    }
    if (claim->selected_node == SYM_NONE || claim->selected_node != l->node->name) {
        l->error = arena_printf(l->arena, "provisioning failed for PVC \"%s\"", p->claim);
        return FAILED;
    }
    if (claim->volume_name[0]) {
        const struct pv *pv = volume_by_name(l->objects, claim->volume_name);
        if (!pv)
            return NOT_YET;
        if (!reaches_node(l, pv, ""))
            return FAILED;
    }
    return claim_is_bound(claim) ? DONE : NOT_YET;
}

/* The first that is not bound yet ends the look, also before others are looked at that are wrong. */
static enum progress check_all(struct look *l)
{
    const struct volume_job *j = l->job;
    enum progress p = DONE;
    l->node = node_by_name(l->waits, j->node);
    if (!l->node) {
        l->error = arena_printf(l->arena, "failed to get node \"%s\": node \"%s\" not found", j->node, j->node);
        return FAILED;
    }
    if (!sched_pod(l->waits->sched, j->pod_uid)) {
        l->error = arena_printf(l->arena, "pod does not exist any more: pod \"%s\" not found", j->pod);
        return FAILED;
    }
    for (uint32_t i = 0; p == DONE && i < j->n_bindings; i++)
        p = check_binding(l, &j->bindings[i]);
    for (uint32_t i = 0; p == DONE && i < j->n_provisions; i++)
        p = check_provision(l, &j->provisions[i]);
    return p;
}

/* ---- Waiting ---- */

struct volume_waits *volume_waits_new(struct sched *s, struct sym_table *syms, volume_waits_done done, void *context)
{
    struct volume_waits *w = mem_zalloc(sizeof(*w));
    w->sched = s;
    w->syms = syms;
    w->done = done;
    w->context = context;
    csi_names_init(&w->names, syms);
    return w;
}

void volume_waits_free(struct volume_waits *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->waits.n; i++)
        volume_job_free(w->waits.at[i].job);
    vec_fini(&w->waits);
    free(w);
}

void volume_waits_add(struct volume_waits *w, io_ticket ticket, struct volume_job *own_job, int64_t now_ms)
{
    int64_t most_ms = INT64_MAX - now_ms;
    int64_t end_ms = own_job->timeout_ms < most_ms ? now_ms + own_job->timeout_ms : INT64_MAX;
    vec_push(&w->waits, (struct wait){ ticket, own_job, now_ms + VOLUME_WAIT_MS, end_ms });
}

static void drop(struct volume_waits *w, size_t i)
{
    volume_job_free(w->waits.at[i].job);
    vec_remove(&w->waits, i);
}

bool volume_waits_remove(struct volume_waits *w, io_ticket ticket)
{
    for (size_t i = 0; i < w->waits.n; i++)
        if (w->waits.at[i].ticket == ticket) {
            drop(w, i);
            return true;
        }
    return false;
}

static int64_t due_ms(const struct wait *wait)
{
    return wait->next_ms < wait->end_ms ? wait->next_ms : wait->end_ms;
}

/* Whether it is over. */
static bool look_at(struct volume_waits *w, struct wait *wait, int64_t now_ms, struct arena *a, const char **ret_error)
{
    if (now_ms >= wait->end_ms) {
        *ret_error = "binding volumes: context deadline exceeded";
        return true;
    }
    struct look l = { .waits = w, .job = wait->job, .objects = sched_objects(w->sched), .arena = a };
    enum progress p = check_all(&l);
    wait->next_ms = now_ms + VOLUME_WAIT_MS;
    *ret_error = p == FAILED ? arena_printf(a, "binding volumes: %s", l.error) : NULL;
    return p != NOT_YET;
}

void volume_waits_check(struct volume_waits *w, int64_t now_ms)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < w->waits.n;) {
        const char *error;
        if (due_ms(&w->waits.at[i]) > now_ms || !look_at(w, &w->waits.at[i], now_ms, &a, &error)) {
            i++;
            continue;
        }
        io_ticket ticket = w->waits.at[i].ticket;
        drop(w, i);
        w->done(w->context, ticket, error);
        arena_reset(&a);
        i = 0; /* `done` may have changed the list; what was looked at is not due again */
    }
    arena_fini(&a);
}

int64_t volume_waits_due_ms(const struct volume_waits *w)
{
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < w->waits.n; i++)
        if (due_ms(&w->waits.at[i]) < due)
            due = due_ms(&w->waits.at[i]);
    return due;
}

uint32_t volume_waits_n(const struct volume_waits *w)
{
    return (uint32_t)w->waits.n;
}
