/* apply/scale.c - managedFields of the scale subresource: see apply.h.
 *
 * Upstream: apimachinery, managedfields/scalehandler.go, its oddities included: an entry that comes from a scale has no
 * time unless the object's entry of the same manager has one, and an update's entry is not found again under the
 * version of the scale, so that its replicas become an entry of their own. */
#include "apply/apply.h"
#include "apply/managers.h"

#define SCALE_VERSION "autoscaling/v1"

static struct set_node replicas_node[] = {
    { .at = { .kind = PATH_FIELD, .n = 8, .name = "replicas" }, .marks = SET_MEMBER },
};
static struct set_node spec_node[] = {
    { .at = { .kind = PATH_FIELD, .n = 4, .name = "spec" }, .below = { replicas_node, 1 } },
};
static const struct field_set replicas = { spec_node, 1 }; /* in a scale and in all kinds that have one */

static bool owns_replicas(struct arena *a, const struct managed_entry *entry)
{
    return set_intersection(a, entry->set, replicas).n > 0;
}

static bool read_list(struct arena *a, const struct value *list, struct managed *ret_managed)
{
    struct err e;
    err_init(&e, a);
    return managed_read(a, list, ret_managed, &e) == ERR_OK;
}

struct value apply_scale_managed(struct arena *a, const struct value *parent, struct str api_version)
{
    struct managed m;
    if (!read_list(a, parent, &m))
        return (struct value){ 0 };
    uint32_t n = 0;
    for (uint32_t i = 0; i < m.n; i++) {
        struct managed_entry entry = m.entries[i];
        if (!str_eq(entry.api_version, api_version) || !owns_replicas(a, &entry))
            continue;
        entry.api_version = STR(SCALE_VERSION);
        entry.set = replicas;
        m.entries[n++] = entry;
    }
    m.n = n;
    return managed_write(a, &m);
}

/* The entry of the same manager, or NULL: entries are in that order. */
static struct managed_entry *find(struct managed *m, const struct managed_entry *who)
{
    uint32_t low = 0, high = m->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = managed_compare(&m->entries[mid], who);
        if (order == 0)
            return &m->entries[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

struct value apply_scale_to_parent(struct arena *a, const struct value *parent, const struct value *scale,
                                   struct str api_version)
{
    struct managed of_parent, of_scale, out = { 0 };
    if (!read_list(a, parent, &of_parent) || !read_list(a, scale, &of_scale))
        return *parent;
    out.entries = arena_alloc(a, ((size_t)of_parent.n + of_scale.n) * sizeof(*out.entries));
    for (uint32_t i = 0; i < of_parent.n; i++) {
        struct managed_entry entry = of_parent.entries[i];
        struct managed_entry *same = find(&of_scale, &entry);
        if (!str_eq(entry.api_version, api_version))
            continue;
        if (same && owns_replicas(a, &entry))
            same->set = (struct field_set){ 0 }; /* it is in the list already */
        else if (owns_replicas(a, &entry))
            entry.set = set_difference(a, entry.set, replicas);
        out.entries[out.n++] = entry;
    }
    for (uint32_t i = 0; i < of_scale.n; i++) {
        struct managed_entry entry = of_scale.entries[i];
        if (!owns_replicas(a, &entry))
            continue;
        const struct managed_entry *same = find(&of_parent, &entry);
        entry.api_version = api_version;
        entry.set = replicas;
        entry.time = same ? same->time : (struct value){ 0 };
        out.entries[out.n++] = entry;
    }
    return managed_write(a, &out);
}
