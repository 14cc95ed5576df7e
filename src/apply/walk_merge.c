/* apply/walk_merge.c - see walk.h: an object and what a client wants of it, together.
 *
 * Nothing is taken away by a merge. Elements of lists that only the object has stay where they are among the others;
 * those that both have stand in the client's order. */
#include "apply/walk.h"

enum { NOT_THERE = UINT32_MAX };

/* Who an element of one list is in the other. */
struct pairing {
    uint32_t *new_of_old; /* by place in the old list; NOT_THERE */
    uint32_t *old_of_new; /* by place in the new list; NOT_THERE */
    bool *twice;          /* by place in the new list: the old list has it several times */
};

static struct pairing pair_up(struct arena *a, const struct place *p, const struct value *old, const struct value *new)
{
    struct pairing pair = { arena_alloc(a, old->n * sizeof(uint32_t)), arena_alloc(a, new->n * sizeof(uint32_t)),
                            arena_zalloc(a, new->n) };
    memset(pair.new_of_old, 0xff, old->n * sizeof(uint32_t));
    memset(pair.old_of_new, 0xff, new->n * sizeof(uint32_t));
    uint32_t n_old, n_new;
    struct list_item *olds = place_items(a, p, old, &n_old), *news = place_items(a, p, new, &n_new);
    for (uint32_t i = 0, k = 0; i < n_old && k < n_new;) {
        int order = path_compare(&olds[i].step, &news[k].step);
        if (order == 0) {
            uint32_t at = news[k].ordinal;
            pair.twice[at] = pair.old_of_new[at] != NOT_THERE;
            pair.old_of_new[at] = olds[i].ordinal;
            pair.new_of_old[olds[i].ordinal] = at;
        }
        i += order <= 0;
        k += order > 0;
    }
    return pair;
}

struct list_merge {
    struct arena *arena;
    struct place inside;
    const struct value *old, *new;
    struct pairing pair;
    bool *done;      /* by place in the new list: it is in the result */
    uint32_t shared; /* the next element of the new list that both have; NOT_THERE */
    struct value out;
};

/* From `from` on. */
static uint32_t next_shared(const struct list_merge *m, uint32_t from)
{
    while (from < m->new->n && m->pair.old_of_new[from] == NOT_THERE)
        from++;
    return from < m->new->n ? from : NOT_THERE;
}

/* Elements that the object has twice are not merged with: the client's takes their place. */
static void take_new(struct list_merge *m, uint32_t at)
{
    uint32_t old_at = m->pair.old_of_new[at];
    const struct value *old = old_at == NOT_THERE || m->pair.twice[at] ? NULL : &m->old->items[old_at];
    m->out.items[m->out.n++] = walk_merge(m->arena, m->inside, old, &m->new->items[at]);
    m->done[at] = true;
    if (m->shared == at)
        m->shared = next_shared(m, at + 1);
}

static void merge_in_order(struct list_merge *m)
{
    uint32_t i = 0, k = 0, n_old = m->old->n, n_new = m->new->n;
    while (i < n_old || k < n_new) {
        uint32_t match = i < n_old ? m->pair.new_of_old[i] : NOT_THERE;
        if (i < n_old && match == NOT_THERE) {
            m->out.items[m->out.n++] = m->old->items[i++];
            continue;
        }
        if (i < n_old && k < n_new && match == k) {
            take_new(m, k++);
            i++;
            continue;
        }
        if (i < n_old && k < n_new && m->shared != NOT_THERE && m->shared != match) {
            i++; /* both have it, but its turn is another one */
            continue;
        }
        if (i < n_old && m->done[match])
            i++;
        if (k < n_new)
            take_new(m, k++);
    }
}

static struct value merge_lists(struct arena *a, const struct place *p, const struct value *old,
                                const struct value *new)
{
    struct list_merge m = { .arena = a, .inside = place_of_item(p), .old = old, .new = new,
                            .pair = pair_up(a, p, old, new), .done = arena_zalloc(a, new->n) };
    m.shared = next_shared(&m, 0);
    m.out = value_list(arena_alloc(a, ((size_t)old->n + new->n) * sizeof(struct value)), 0);
    merge_in_order(&m);
    return m.out;
}

static struct value merge_maps(struct arena *a, const struct place *p, const struct value *old, const struct value *new)
{
    struct value out = value_map(arena_alloc(a, ((size_t)old->n + new->n) * sizeof(struct member)), 0);
    for (uint32_t i = 0, k = 0; i < old->n || k < new->n;) {
        int order = i == old->n ? 1 : k == new->n ? -1 : str_cmp(old->members[i].key, new->members[k].key);
        struct member m = order <= 0 ? old->members[i] : new->members[k];
        bool declared;
        if (order == 0)
            m.value = walk_merge(a, place_of_member(p, m.key, &declared), &old->members[i].value,
                                 &new->members[k].value);
        i += order <= 0;
        k += order >= 0;
        out.members[out.n++] = m;
    }
    return out;
}

/* Empty and null containers say nothing against what is there, but stand where there is nothing. */
struct value walk_merge(struct arena *a, struct place p, const struct value *old, const struct value *config)
{
    if (!old || !config)
        return old ? *old : *config;
    enum shape shape = place_shape(&p, config);
    unsigned kind = shape == SHAPE_OF_MAP ? VALUE_MAP : VALUE_LIST;
    bool has_old = old->kind == kind && old->n, has_new = config->kind == kind && config->n;
    if (place_is_atomic(&p, shape) || (!has_old && !has_new))
        return *config;
    if (!has_old || !has_new)
        return has_old ? *old : *config;
    return shape == SHAPE_OF_MAP ? merge_maps(a, &p, old, config) : merge_lists(a, &p, old, config);
}
