/* apply/walk.c - see walk.h: sets of values, and what differs between two of them. */
#include "apply/walk.h"

bool walk_equal(const struct value *a, const struct value *b)
{
    return path_compare_values(a, b) == 0;
}

/* ---- Everything a value says ---- */

static struct field_set set_of_list(struct arena *a, const struct place *p, const struct value *list)
{
    uint32_t n;
    struct list_item *items = place_items(a, p, list, &n);
    struct place inside = place_of_item(p);
    struct field_set s = { arena_alloc(a, n * sizeof(*s.nodes)), 0 };
    for (uint32_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && path_compare(&items[i].step, &items[next].step) == 0;)
            next++;
        bool twice = next > i + 1; /* then nobody can own what is inside */
        s.nodes[s.n++] = (struct set_node){
            .at = items[i].step, .marks = SET_MEMBER,
            .below = twice ? (struct field_set){ 0 } : walk_set(a, inside, items[i].value) };
    }
    return s;
}

/* Whether the value is a member itself when its place is below a struct or map. */
static bool is_leaf(const struct place *p, const struct value *v)
{
    bool empty_map = v->kind == VALUE_MAP && v->n == 0;
    return v->kind == VALUE_NULL || empty_map || place_is_atomic(p, place_shape(p, v));
}

static struct field_set set_of_map(struct arena *a, const struct place *p, const struct value *map)
{
    struct field_set s = { arena_alloc(a, map->n * sizeof(*s.nodes)), 0 };
    for (uint32_t i = 0; i < map->n; i++) {
        const struct value *v = &map->members[i].value;
        bool declared;
        struct place inside = place_of_member(p, map->members[i].key, &declared);
        struct set_node node = { .at = path_field(map->members[i].key), .below = walk_set(a, inside, v) };
        node.marks = !declared || is_leaf(&inside, v) ? SET_MEMBER : 0;
        if (node.marks || node.below.n)
            s.nodes[s.n++] = node;
    }
    return s;
}

struct field_set walk_set(struct arena *a, struct place p, const struct value *v)
{
    enum shape shape = place_shape(&p, v);
    if (place_is_atomic(&p, shape))
        return (struct field_set){ 0 };
    if (shape == SHAPE_OF_LIST && v->kind == VALUE_LIST)
        return set_of_list(a, &p, v);
    return v->kind == VALUE_MAP ? set_of_map(a, &p, v) : (struct field_set){ 0 };
}

/* ---- What differs ----
 *
 * A node gets the mark of the place itself and what differs below it. `old` or `new` is NULL where there is no value. */

static void compare(struct arena *a, struct place p, const struct value *old, const struct value *new,
                    struct set_node *node);

static unsigned leaf_mark(const struct value *old, const struct value *new)
{
    if (!old)
        return SET_ADDED;
    if (!new)
        return SET_REMOVED;
    return walk_equal(old, new) ? 0 : SET_MODIFIED;
}

static uint32_t count_equal(const struct list_item *items, uint32_t n, const struct path_step *step)
{
    uint32_t count = 0;
    while (count < n && path_compare(&items[count].step, step) == 0)
        count++;
    return count;
}

static bool equal_runs(const struct list_item *old, uint32_t n_old, const struct list_item *new, uint32_t n_new)
{
    for (uint32_t i = 0; n_old == n_new && i < n_old; i++)
        if (!walk_equal(old[i].value, new[i].value))
            return false;
    return n_old == n_new;
}

/* Elements of one step. Such that are there twice are taken together as one field. */
static void compare_run(struct arena *a, struct place inside, const struct list_item *old, uint32_t n_old,
                        const struct list_item *new, uint32_t n_new, struct set_node *node)
{
    if (n_old <= 1 && n_new <= 1) {
        compare(a, inside, n_old ? old[0].value : NULL, n_new ? new[0].value : NULL, node);
    } else if (n_old >= 2 && n_new >= 2) {
        node->marks |= equal_runs(old, n_old, new, n_new) ? 0 : SET_MODIFIED;
    } else if (n_old >= 2) {
        if (n_new)
            compare(a, inside, NULL, new[0].value, node);
        node->marks |= SET_REMOVED;
    } else {
        if (n_old)
            compare(a, inside, old[0].value, NULL, node);
        node->marks |= SET_ADDED;
    }
}

static struct field_set compare_lists(struct arena *a, const struct place *p, const struct value *old,
                                      const struct value *new)
{
    static const struct value empty = { .kind = VALUE_LIST };
    uint32_t n_old, n_new, i = 0, k = 0;
    struct list_item *olds = place_items(a, p, old ? old : &empty, &n_old);
    struct list_item *news = place_items(a, p, new ? new : &empty, &n_new);
    struct place inside = place_of_item(p);
    struct field_set s = { arena_alloc(a, ((size_t)n_old + n_new) * sizeof(*s.nodes)), 0 };
    while (i < n_old || k < n_new) {
        int order = i == n_old ? 1 : k == n_new ? -1 : path_compare(&olds[i].step, &news[k].step);
        struct set_node node = { .at = order <= 0 ? olds[i].step : news[k].step };
        uint32_t from_old = order <= 0 ? count_equal(olds + i, n_old - i, &node.at) : 0;
        uint32_t from_new = order >= 0 ? count_equal(news + k, n_new - k, &node.at) : 0;
        compare_run(a, inside, olds + i, from_old, news + k, from_new, &node);
        i += from_old;
        k += from_new;
        if (node.marks || node.below.n)
            s.nodes[s.n++] = node;
    }
    return s;
}

static struct field_set compare_maps(struct arena *a, const struct place *p, const struct value *old,
                                     const struct value *new)
{
    uint32_t n_old = old ? old->n : 0, n_new = new ? new->n : 0, i = 0, k = 0;
    struct field_set s = { arena_alloc(a, ((size_t)n_old + n_new) * sizeof(*s.nodes)), 0 };
    while (i < n_old || k < n_new) {
        int order = i == n_old ? 1 : k == n_new ? -1 : str_cmp(old->members[i].key, new->members[k].key);
        const struct member *was = order <= 0 ? &old->members[i++] : NULL;
        const struct member *is = order >= 0 ? &new->members[k++] : NULL;
        struct str name = was ? was->key : is->key;
        struct set_node node = { .at = path_field(name) };
        bool declared;
        compare(a, place_of_member(p, name, &declared), was ? &was->value : NULL, is ? &is->value : NULL, &node);
        if (node.marks || node.below.n)
            s.nodes[s.n++] = node;
    }
    return s;
}

/* The pair looked at as one shape; values of another count as not there. Returns whether it is one field as a whole. */
static bool compare_as(struct arena *a, const struct place *p, enum shape shape, const struct value *old,
                       const struct value *new, struct set_node *node)
{
    unsigned kind = shape == SHAPE_OF_MAP ? VALUE_MAP : VALUE_LIST;
    const struct value *was = old && old->kind == kind && old->n ? old : NULL;
    const struct value *is = new && new->kind == kind && new->n ? new : NULL;
    if (place_is_atomic(p, shape) || (!was && !is)) {
        node->marks |= leaf_mark(old, new);
        return true;
    }
    struct field_set below = shape == SHAPE_OF_MAP ? compare_maps(a, p, was, is) : compare_lists(a, p, was, is);
    node->below = set_union(a, node->below, below);
    return false;
}

static void compare(struct arena *a, struct place p, const struct value *old, const struct value *new,
                    struct set_node *node)
{
    enum shape shape = place_shape(&p, new ? new : old);
    if (old && new && place_shape(&p, old) != shape)
        compare_as(a, &p, place_shape(&p, old), old, new, node);
    bool whole = compare_as(a, &p, shape, old, new, node);
    if (!whole && (!old || !new))
        node->marks |= old ? SET_REMOVED : SET_ADDED;
}

struct field_set walk_compare(struct arena *a, struct place p, const struct value *old, const struct value *new)
{
    struct set_node root = { 0 };
    compare(a, p, old, new, &root);
    return root.below;
}
