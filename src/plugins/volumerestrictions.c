/* VolumeRestrictions: a disk that only one pod may use is used by one pod only.
 * Points: PreFilter (skips pods without such disks), Filter. Upstream: plugins/volumerestrictions, v1.36.
 *
 * Two rules: disks named in pods (GCE, EBS, iSCSI, RBD) against those of the pods on a node; and claims
 * of access mode ReadWriteOncePod, which no second pod may use on any node. Both misses are
 * Unschedulable: evicting the user frees the disk. For the second one the state counts the users and
 * follows pods that are added and removed; as upstream it then compares claims by name alone, not by
 * namespace. */
#include "plugins/volume_shared.h"

#define NO_DISK "node(s) had no available disk"
#define CLAIM_IN_USE                                                                                             \
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
#define NO_STATE "cannot read \"PreFilterVolumeRestrictions\" from cycleState"

struct state {
    const sym *claims; /* of mode ReadWriteOncePod; ascending, no repeats */
    uint32_t n_claims;
    int64_t n_users; /* of these, on nodes */
};

static int compare_syms(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

/* ---- Disks ---- */

static bool is_exclusive(const struct pod_volume *v)
{
    return v->kind == VOLUME_GCE_PD || v->kind == VOLUME_AWS_EBS || v->kind == VOLUME_ISCSI || v->kind == VOLUME_RBD;
}

enum { FEW = 16 }; /* names: compared one by one */

static bool one_of(sym name, const sym *sorted, uint32_t n)
{
    return n && bsearch(&name, sorted, n, sizeof(*sorted), compare_syms);
}

static bool share_one(struct arena *arena, const sym *a, uint32_t n_a, const sym *b, uint32_t n_b)
{
    if (n_a <= FEW || n_b <= FEW) {
        for (uint32_t i = 0; i < n_a; i++)
            for (uint32_t k = 0; k < n_b; k++)
                if (a[i] == b[k])
                    return true;
        return false;
    }
    struct arena_mark mark = arena_save(arena);
    sym *sorted = arena_alloc(arena, n_b * sizeof(*sorted));
    memcpy(sorted, b, n_b * sizeof(*sorted));
    qsort(sorted, n_b, sizeof(*sorted), compare_syms);
    bool shared = false;
    for (uint32_t i = 0; i < n_a && !shared; i++)
        shared = one_of(a[i], sorted, n_b);
    arena_rewind(arena, mark);
    return shared;
}

/* Two images are one when pool and name are equal and some monitor serves both. */
static bool same_image(struct arena *arena, const struct pod_volume *a, const struct pod_volume *b)
{
    return a->names[0] == b->names[0] && a->names[1] == b->names[1] &&
           share_one(arena, a->names + 2, a->n_names - 2u, b->names + 2, b->n_names - 2u);
}

static bool disks_conflict(struct arena *arena, const struct pod_volume *a, const struct pod_volume *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == VOLUME_AWS_EBS)
        return a->names[0] == b->names[0];
    if (a->read_only && b->read_only)
        return false;
    return a->kind == VOLUME_RBD ? same_image(arena, a, b) : a->names[0] == b->names[0];
}

bool pods_conflict(struct arena *arena, const struct pod *pod, const struct pod *other)
{
    if (other->n_volumes == 0)
        return false;
    for (uint16_t i = 0; i < pod->n_volumes; i++) {
        if (!is_exclusive(&pod->volumes[i]))
            continue;
        for (uint16_t k = 0; k < other->n_volumes; k++)
            if (disks_conflict(arena, &pod->volumes[i], &other->volumes[k]))
                return true;
    }
    return false;
}

/* ---- Points ---- */

/* The claims of mode ReadWriteOncePod into st; the name of the first claim that does not exist, or NULL. */
static const char *collect_claims(const struct plugin_instance *p, struct cycle *c, struct state *st)
{
    sym *claims = arena_alloc(c->arena, c->pod->n_volumes * sizeof(*claims));
    uint32_t n = 0;
    for (uint16_t i = 0; i < c->pod->n_volumes; i++) {
        const struct pod_volume *v = &c->pod->volumes[i];
        if (v->kind != VOLUME_CLAIM)
            continue;
        const struct pvc *claim = claim_of_volume(c->objects, p->syms, c->pod, v);
        if (!claim)
            return sym_text(p->syms, v->names[0]).p;
        if (claim->access & ACCESS_READ_WRITE_ONCE_POD)
            claims[n++] = v->names[0];
    }
    if (n)
        qsort(claims, n, sizeof(*claims), compare_syms);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || claims[i] != claims[st->n_claims - 1])
            claims[st->n_claims++] = claims[i];
    st->claims = claims;
    return NULL;
}

static bool has_exclusive_disk(const struct pod *pod)
{
    for (uint16_t i = 0; i < pod->n_volumes; i++)
        if (is_exclusive(&pod->volumes[i]))
            return true;
    return false;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    if (c->pod->n_volumes == 0)
        return SKIP;
    struct state *st = ARENA_NEW(c->arena, struct state);
    const char *missing = collect_claims(p, c, st);
    if (missing)
        return verdict_printf(c, V_UNRESOLVABLE, CLAIM_NOT_FOUND, missing);
    for (uint32_t i = 0; i < st->n_claims; i++)
        st->n_users += cache_claim_users(c->cache, c->pod->meta.ns, st->claims[i]) > 0;
    if (st->n_users == 0 && !has_exclusive_disk(c->pod))
        return SKIP;
    c->state[p->index] = st;
    return PASS;
}

static void *clone_state(const struct plugin_instance *p, struct cycle *c, const void *state)
{
    (void)p;
    if (!state)
        return NULL;
    struct state *copy = arena_alloc(c->arena, sizeof(*copy));
    *copy = *(const struct state *)state;
    return copy;
}

static int64_t uses_of(const struct state *st, const struct pod *pod)
{
    int64_t n = 0;
    for (uint16_t i = 0; i < pod->n_volumes; i++)
        n += pod->volumes[i].kind == VOLUME_CLAIM && one_of(pod->volumes[i].names[0], st->claims, st->n_claims);
    return n;
}

static void add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                    const struct node_view *on)
{
    (void)p;
    (void)c;
    (void)on;
    struct state *st = state;
    if (st)
        st->n_users += uses_of(st, pod);
}

static void remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                       const struct node_view *on)
{
    (void)p;
    (void)c;
    (void)on;
    struct state *st = state;
    if (st)
        st->n_users -= uses_of(st, pod);
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct state *st = CYCLE_STATE(p, c, struct state);
    for (uint32_t i = 0; i < n->n_pods; i++)
        if (pods_conflict(c->arena, c->pod, node_view_pod(n, i)))
            return verdict_text(V_UNSCHEDULABLE, NO_DISK);
    if (!st)
        return verdict_text(V_ERROR, NO_STATE);
    return st->n_users > 0 ? verdict_text(V_UNSCHEDULABLE, CLAIM_IN_USE) : PASS;
}

/* ---- Hints ---- */

static uint32_t claims_of(struct arena *arena, const struct pod *pod, sym **ret_claims)
{
    sym *claims = arena_alloc(arena, pod->n_volumes * sizeof(*claims));
    uint32_t n = 0;
    for (uint16_t i = 0; i < pod->n_volumes; i++)
        if (pod->volumes[i].kind == VOLUME_CLAIM)
            claims[n++] = pod->volumes[i].names[0];
    *ret_claims = claims;
    return n;
}

static bool share_a_claim(struct arena *arena, const struct pod *a, const struct pod *b)
{
    sym *claims_a, *claims_b;
    uint32_t n_a = claims_of(arena, a, &claims_a), n_b = claims_of(arena, b, &claims_b);
    return share_one(arena, claims_a, n_a, claims_b, n_b);
}

/* The access mode is not looked up: any claim in common may have been the one in use. */
static enum hint pod_deleted(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    const struct pod *gone = event->old_object;
    if (gone->meta.ns != waiting->meta.ns)
        return HINT_SKIP;
    return pods_conflict(h->arena, waiting, gone) || share_a_claim(h->arena, waiting, gone) ? HINT_QUEUE : HINT_SKIP;
}

const struct plugin volumerestrictions_plugin = {
    .name = "VolumeRestrictions",
    .pre_filter = pre_filter,
    .clone_state = clone_state,
    .add_pod = add_pod,
    .remove_pod = remove_pod,
    .filter = filter,
    .events = (const struct plugin_event[]){ { RES_POD, ACT_DELETE, pod_deleted },
                                             { RES_NODE, ACT_ADD, NULL }, /* a new node is always worth a try */
                                             { RES_PERSISTENT_VOLUME_CLAIM, ACT_ADD, hint_claim },
                                             { 0 } },
};
