/* VolumeZone: a volume that is in a zone or region is only used there.
 * Points: PreFilter (reads the labels of the pod's volumes; skips pods without such), Filter. Upstream:
 * plugins/volumezone, v1.36.
 *
 * Only labels of volumes count, and only volumes of persistentVolumeClaims. "a__b" is a volume in
 * either zone. A node without any zone or region label takes every volume: a cluster of one zone need
 * not be labelled. */
#include "base/sort.h"
#include "plugins/csi_translate.h"
#include "plugins/legacy.h"
#include "plugins/volume_shared.h"

#define OTHER_ZONE "node(s) had no available volume zone"

enum { N_KEYS = 4 };

struct data {
    sym keys[N_KEYS], ga_keys[N_KEYS]; /* in upstream's order; the new name of each */
};

struct zone_rule {
    sym key, ga_key;
    const sym *values; /* those that some object has */
    uint32_t n_values;
};

struct state {
    struct zone_rule *rules;
    uint32_t n_rules;
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct csi_names names;
    csi_names_init(&names, p->syms);
    struct data *d = mem_alloc(sizeof(*d));
    *d = (struct data){ .keys = { names.zone_beta, names.region_beta, names.zone, names.region },
                        .ga_keys = { names.zone, names.region, names.zone, names.region } };
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static struct str trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_from(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* The zones of a label, sorted by their bytes, without repeats; false when one of them is empty: no
 * zones at all. */
static bool zones_of_label(struct arena *arena, struct str label, struct str **ret_zones, uint32_t *ret_n)
{
    struct str *zones = ARENA_NEW_N(arena, struct str, label.n / 2 + 1), part;
    uint32_t n = 0, n_kept = 0;
    while (zone_label_next(&label, &part)) {
        zones[n] = trim(part);
        if (zones[n++].n == 0)
            return false;
    }
    sort_stable(arena, zones, n, sizeof(*zones), sort_compare_strs);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(zones[i], zones[n_kept - 1]))
            zones[n_kept++] = zones[i];
    *ret_zones = zones;
    *ret_n = n_kept;
    return true;
}

static void add_rules(const struct plugin_instance *p, struct cycle *c, const struct pv *pv, struct state *st)
{
    const struct data *d = p->data;
    for (int k = 0; k < N_KEYS; k++) {
        sym label = label_set_get(pv->meta.labels, d->keys[k]);
        struct str *zones;
        uint32_t n_zones;
        if (label == SYM_NONE || !zones_of_label(c->arena, sym_text(p->syms, label), &zones, &n_zones))
            continue;
        sym *values = arena_alloc(c->arena, n_zones * sizeof(*values));
        uint32_t n = 0;
        for (uint32_t i = 0; i < n_zones; i++) {
            sym value = sym_find(p->syms, zones[i]);
            if (value != SYM_NONE)
                values[n++] = value;
        }
        st->rules[st->n_rules++] = (struct zone_rule){ d->keys[k], d->ga_keys[k], values, n };
    }
}

/* What a claim without a volume means: PASS when the volume will be chosen for the node. */
static struct verdict check_unbound(const struct plugin_instance *p, struct cycle *c, const struct pvc *claim)
{
    if (claim->storage_class == SYM_EMPTY)
        return verdict_text(V_UNRESOLVABLE, "PersistentVolumeClaim had no pv name and storageClass name");
    const char *name = sym_text(p->syms, claim->storage_class).p;
    const struct storage_class *class = class_by_name(c->objects, p->syms, claim->storage_class);
    if (!class)
        return verdict_printf(c, V_UNRESOLVABLE, CLASS_NOT_FOUND, name);
    if (class->binding_mode == BINDING_NOT_GIVEN)
        return verdict_printf(c, V_UNRESOLVABLE, CLASS_WITHOUT_MODE, name);
    if (class->binding_mode == BINDING_WAIT_FOR_FIRST_CONSUMER)
        return PASS;
    return verdict_text(V_UNRESOLVABLE, "PersistentVolume had no name");
}

static struct verdict add_claim(const struct plugin_instance *p, struct cycle *c, const struct pod_volume *v,
                                struct state *st)
{
    if (v->names[0] == SYM_EMPTY)
        return verdict_text(V_UNRESOLVABLE, "PersistentVolumeClaim had no name");
    const struct pvc *claim = claim_of_volume(c->objects, p->syms, c->pod, v);
    if (!claim)
        return verdict_printf(c, V_UNRESOLVABLE, CLAIM_NOT_FOUND, sym_text(p->syms, v->names[0]).p);
    if (!claim->volume_name[0])
        return check_unbound(p, c, claim);
    const struct pv *pv = volume_by_name(c->objects, claim->volume_name);
    if (!pv)
        return verdict_printf(c, V_UNRESOLVABLE, VOLUME_NOT_FOUND, claim->volume_name);
    add_rules(p, c, pv, st);
    return PASS;
}

static struct verdict prepare(const struct plugin_instance *p, struct cycle *c)
{
    struct state *st = ARENA_NEW(c->arena, struct state);
    st->rules = ARENA_NEW_N(c->arena, struct zone_rule, (size_t)c->pod->n_volumes * N_KEYS);
    for (uint16_t i = 0; i < c->pod->n_volumes; i++) {
        if (c->pod->volumes[i].kind != VOLUME_CLAIM)
            continue;
        struct verdict v = add_claim(p, c, &c->pod->volumes[i], st);
        if (v.code != V_SUCCESS)
            return v;
    }
    c->state[p->index] = st;
    return PASS;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    if (c->pod->n_volumes == 0)
        return SKIP;
    struct verdict v = prepare(p, c);
    return v.code == V_SUCCESS && CYCLE_STATE(p, c, struct state)->n_rules == 0 ? SKIP : v;
}

static bool has_zone_label(const struct data *d, struct label_set labels)
{
    for (int k = 0; k < N_KEYS; k++)
        if (label_set_get(labels, d->keys[k]) != SYM_NONE)
            return true;
    return false;
}

static bool rule_allows(const struct zone_rule *r, struct label_set labels)
{
    sym value = label_set_get(labels, r->key);
    if (value == SYM_NONE)
        value = label_set_get(labels, r->ga_key);
    for (uint32_t i = 0; i < r->n_values; i++)
        if (r->values[i] == value)
            return true;
    return false;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    if (!c->state[p->index]) { /* the profile has no PreFilter of ours */
        struct verdict v = prepare(p, c);
        if (v.code != V_SUCCESS)
            return v;
    }
    const struct state *st = CYCLE_STATE(p, c, struct state);
    struct label_set labels = n->node->meta.labels;
    if (!has_zone_label(p->data, labels))
        return PASS;
    for (uint32_t i = 0; i < st->n_rules; i++)
        if (!rule_allows(&st->rules[i], labels))
            return verdict_text(V_UNRESOLVABLE, OTHER_ZONE);
    return PASS;
}

/* Before v1.24: there is no PreFilter, a node without labels takes even what cannot be looked up, and a volume's label is
 * compared with the node's of the very same name. */
static struct verdict legacy_filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    struct label_set labels = n->node->meta.labels;
    if (c->pod->n_volumes == 0 || !has_zone_label(p->data, labels))
        return PASS;
    struct verdict v = c->state[p->index] ? PASS : prepare(p, c);
    if (v.code != V_SUCCESS)
        return v;
    const struct state *st = CYCLE_STATE(p, c, struct state);
    for (uint32_t i = 0; i < st->n_rules; i++) {
        struct zone_rule exact = st->rules[i];
        exact.ga_key = exact.key;
        if (!rule_allows(&exact, labels))
            return verdict_text(V_UNRESOLVABLE, OTHER_ZONE);
    }
    return PASS;
}

static void legacy_filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    size_t n_words = bitset_words(c->cache->col.n_rows);
    for (size_t id = c->pod->n_volumes ? bitset_next(alive, n_words, 0) : BITSET_END; id < BITSET_END;
         id = bitset_next(alive, n_words, id + 1)) {
        struct node_view view = node_view_of(c->cache, (node_id)id);
        if (legacy_filter(p, c, &view).code != V_SUCCESS)
            bitset_clear(alive, id);
    }
}

/* ---- Hints ---- */

static enum hint class_added(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct storage_class *class = event->new_object;
    return class->binding_mode == BINDING_WAIT_FOR_FIRST_CONSUMER ? HINT_QUEUE : HINT_SKIP;
}

/* Whether two labels, SYM_NONE when absent, say the same zones. */
static bool same_zones(const struct hint_context *h, sym a, sym b)
{
    struct str *zones_a, *zones_b;
    uint32_t n_a, n_b;
    if (a == b)
        return true;
    bool has_a = a != SYM_NONE && zones_of_label(h->arena, sym_text(h->syms, a), &zones_a, &n_a);
    bool has_b = b != SYM_NONE && zones_of_label(h->arena, sym_text(h->syms, b), &zones_b, &n_b);
    if (!has_a || !has_b)
        return has_a == has_b;
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a; i++)
        if (!str_eq(zones_a[i], zones_b[i]))
            return false;
    return true;
}

static enum hint volume_changed(const struct hint_context *h, const struct pod *waiting,
                                const struct cluster_event *event)
{
    (void)waiting;
    const struct data *d = h->plugin->data;
    const struct pv *old = event->old_object, *now = event->new_object;
    if (!old)
        return HINT_QUEUE;
    for (int k = 0; k < N_KEYS; k++)
        if (!same_zones(h, label_set_get(old->meta.labels, d->keys[k]), label_set_get(now->meta.labels, d->keys[k])))
            return HINT_QUEUE;
    return HINT_SKIP;
}

const struct plugin volumezone_plugin = {
    .name = "VolumeZone",
    .init = init,
    .fini = fini,
    .pre_filter = pre_filter,
    .filter = filter,
    .events = (const struct plugin_event[]){ { RES_STORAGE_CLASS, ACT_ADD, class_added },
                                             { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL, NULL },
                                             { RES_PERSISTENT_VOLUME_CLAIM, ACT_ADD | ACT_UPDATE, hint_claim },
                                             { RES_PERSISTENT_VOLUME, ACT_ADD | ACT_UPDATE, volume_changed },
                                             { 0 } },
};

const struct plugin legacy_volumezone_plugin = {
    .name = "VolumeZone",
    .init = init,
    .fini = fini,
    .filter = legacy_filter,
    .filter_block = legacy_filter_block,
};
