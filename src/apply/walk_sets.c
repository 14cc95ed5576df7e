/* apply/walk_sets.c - see walk.h: sets applied to values, and the schema applied to sets. */
#include "apply/walk.h"

/* ---- Removing ---- */

static struct value remove_items(struct arena *a, const struct place *p, const struct value *list,
                                 struct field_set gone)
{
    struct value out = value_list(arena_alloc(a, list->n * sizeof(struct value)), 0);
    struct place inside = place_of_item(p);
    for (uint32_t i = 0; i < list->n; i++) {
        struct path_step step;
        const struct set_node *node = place_step(a, p, &list->items[i], &step) ? NULL : set_find(gone, &step);
        if (node && node->marks)
            continue;
        bool inner = node && node->below.n;
        out.items[out.n++] = inner ? walk_remove(a, inside, &list->items[i], node->below) : list->items[i];
    }
    return out.n ? out : value_null();
}

static struct value remove_members(struct arena *a, const struct place *p, const struct value *map,
                                   struct field_set gone)
{
    struct value out = value_map(arena_alloc(a, map->n * sizeof(struct member)), 0);
    for (uint32_t i = 0; i < map->n; i++) {
        struct member m = map->members[i];
        struct path_step step = path_field(m.key);
        const struct set_node *node = set_find(gone, &step);
        if (node && node->marks)
            continue;
        bool declared;
        if (node && node->below.n)
            m.value = walk_remove(a, place_of_member(p, m.key, &declared), &m.value, node->below);
        out.members[out.n++] = m;
    }
    return out.n ? out : value_null();
}

struct value walk_remove(struct arena *a, struct place p, const struct value *v, struct field_set gone)
{
    enum shape shape = place_shape(&p, v);
    if (shape == SHAPE_OF_SCALAR)
        return *v;
    bool fits = v->kind == (shape == SHAPE_OF_MAP ? VALUE_MAP : VALUE_LIST);
    if (!fits || v->n == 0 || place_is_atomic(&p, shape))
        return value_null();
    return shape == SHAPE_OF_MAP ? remove_members(a, &p, v, gone) : remove_items(a, &p, v, gone);
}

/* ---- Sets and the schema ---- */

/* Where a step leads; `*ret_declared` is for fields of structs. */
static struct place follow(const struct place *p, const struct path_step *step, bool *ret_declared)
{
    *ret_declared = false;
    if (step->kind == PATH_FIELD)
        return place_of_member(p, path_name(step), ret_declared);
    return step->kind == PATH_KEY ? place_of_item(p) : (struct place){ 0 };
}

struct field_set walk_with_named(struct arena *a, struct place p, struct field_set s)
{
    struct field_set out = { s.n ? arena_alloc(a, s.n * sizeof(*s.nodes)) : NULL, s.n };
    for (uint32_t i = 0; i < s.n; i++) {
        struct set_node *node = &out.nodes[i];
        *node = s.nodes[i];
        if (node->below.n == 0)
            continue;
        bool declared;
        struct place inside = follow(&p, &node->at, &declared);
        if (declared)
            node->marks |= SET_MEMBER;
        node->below = walk_with_named(a, inside, node->below);
    }
    return out;
}

/* The shape by which upstream looks at a place without a value. */
static bool owned_whole(const struct place *p)
{
    return p->kind == PLACE_OPAQUE || p->atomic;
}

static struct place place_below(const struct place *p, const struct path_step *step)
{
    bool declared;
    if (p->kind == PLACE_LIST)
        return place_of_item(p);
    return p->kind == PLACE_STRUCT || p->kind == PLACE_MAP ? follow(p, step, &declared) : (struct place){ 0 };
}

struct field_set walk_reconcile(struct arena *a, struct place p, struct field_set s)
{
    struct field_set out = s;
    for (uint32_t i = 0; i < s.n; i++) {
        struct set_node node = s.nodes[i];
        if (node.below.n == 0)
            continue;
        struct place inside = place_below(&p, &node.at);
        if (owned_whole(&inside)) {
            node.marks = SET_MEMBER;
            node.below = (struct field_set){ 0 };
        } else {
            node.below = walk_reconcile(a, inside, node.below);
        }
        if (node.below.nodes == s.nodes[i].below.nodes)
            continue;
        if (out.nodes == s.nodes) {
            out.nodes = arena_alloc(a, s.n * sizeof(node));
            memcpy(out.nodes, s.nodes, s.n * sizeof(node));
        }
        out.nodes[i] = node;
    }
    return out;
}
