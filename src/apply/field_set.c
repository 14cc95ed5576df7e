/* apply/field_set.c - see field_set.h.
 *
 * Two levels are gone through side by side, but never slower than the smaller one times the logarithm of the larger: a
 * client may send ten thousand entries of one field each for an object of ten thousand fields. */
#include "apply/field_set.h"

#include <assert.h>

#include "base/float.h"
#include "base/sort.h"

/* ---- Order of values and steps ---- */

static int compare_doubles(double a, double b)
{
    return (a > b) - (a < b);
}

static bool is_number(const struct value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_DOUBLE;
}

static double as_double(const struct value *v)
{
    return v->kind == VALUE_INT ? (double)v->i : v->d;
}

/* Where a kind stands among the others. */
static int kind_rank(const struct value *v)
{
    static const uint8_t ranks[] = { [VALUE_DOUBLE] = 0, [VALUE_INT] = 0, [VALUE_STRING] = 1, [VALUE_BOOL] = 2,
                                     [VALUE_LIST] = 3,   [VALUE_MAP] = 4, [VALUE_NULL] = 5,   [VALUE_STRUCT] = 6 };
    return ranks[v->kind];
}

static int compare_lists(const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int order = path_compare_values(&a->items[i], &b->items[i]);
        if (order)
            return order;
    }
    return (a->n > b->n) - (a->n < b->n);
}

static int compare_members(const struct member *a, uint32_t n_a, const struct member *b, uint32_t n_b)
{
    for (uint32_t i = 0; i < n_a && i < n_b; i++) {
        int order = str_cmp(a[i].key, b[i].key);
        if (!order)
            order = path_compare_values(&a[i].value, &b[i].value);
        if (order)
            return order;
    }
    return (n_a > n_b) - (n_a < n_b);
}

int path_compare_values(const struct value *a, const struct value *b)
{
    int rank = kind_rank(a) - kind_rank(b);
    if (rank)
        return rank;
    if (a->kind == VALUE_INT && b->kind == VALUE_INT)
        return (a->i > b->i) - (a->i < b->i);
    if (is_number(a))
        return compare_doubles(as_double(a), as_double(b));
    switch ((enum value_kind)a->kind) {
    case VALUE_STRING:
        return str_cmp(value_text(a), value_text(b));
    case VALUE_BOOL:
        return a->b - b->b;
    case VALUE_LIST:
        return compare_lists(a, b);
    case VALUE_MAP:
        return compare_members(a->members, a->n, b->members, b->n);
    default:
        return 0;
    }
}

int path_compare(const struct path_step *a, const struct path_step *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch ((enum path_kind)a->kind) {
    case PATH_FIELD:
        return a->name == b->name && a->n == b->n ? 0 : str_cmp(path_name(a), path_name(b));
    case PATH_KEY:
        return compare_members(a->keys, a->n, b->keys, b->n);
    case PATH_VALUE:
        return path_compare_values(a->value, b->value);
    case PATH_INDEX:
        return (a->index > b->index) - (a->index < b->index);
    }
    return 0;
}

/* ---- Steps for people ---- */

static void add_value_text(struct strbuf *to, const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_DOUBLE:
        float_add_g(to, v->d);
        return;
    case VALUE_INT:
        strbuf_add_int(to, v->i);
        return;
    case VALUE_STRING:
        strbuf_add_quoted(to, value_text(v));
        return;
    case VALUE_BOOL:
        strbuf_add_text(to, v->b ? "true" : "false");
        return;
    case VALUE_LIST:
        strbuf_add_char(to, '[');
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                strbuf_add_char(to, ',');
            add_value_text(to, &v->items[i]);
        }
        strbuf_add_char(to, ']');
        return;
    case VALUE_MAP:
        for (uint32_t i = 0; i < v->n; i++) {
            strbuf_add_str(to, v->members[i].key);
            strbuf_add_char(to, '=');
            add_value_text(to, &v->members[i].value);
        }
        return;
    default:
        STRBUF_ADD_LIT(to, "null");
    }
}

static void add_key_text(struct strbuf *to, const struct path_step *step)
{
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < step->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        strbuf_add_str(to, step->keys[i].key);
        strbuf_add_char(to, '=');
        add_value_text(to, &step->keys[i].value);
    }
    strbuf_add_char(to, ']');
}

void path_add_text(struct strbuf *to, const struct path_step *step)
{
    switch ((enum path_kind)step->kind) {
    case PATH_FIELD:
        strbuf_add_char(to, '.');
        strbuf_add_str(to, path_name(step));
        return;
    case PATH_KEY:
        add_key_text(to, step);
        return;
    case PATH_VALUE:
        STRBUF_ADD_LIT(to, "[=");
        add_value_text(to, step->value);
        strbuf_add_char(to, ']');
        return;
    case PATH_INDEX:
        strbuf_add_char(to, '[');
        strbuf_add_int(to, step->index);
        strbuf_add_char(to, ']');
        return;
    }
}

/* ---- One level ---- */

/* The first node from `from` on that is not before `step`, looked for in growing strides. */
static uint32_t lower_bound(struct field_set s, const struct path_step *step, uint32_t from)
{
    uint32_t low = from, high = from, stride = 1;
    while (high < s.n && path_compare(&s.nodes[high].at, step) < 0) {
        low = high + 1;
        high = s.n - high > stride ? high + stride : s.n;
        stride *= 2;
    }
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (path_compare(&s.nodes[mid].at, step) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The node of a step in a level that is gone through in order; `*place` is where the search goes on. */
static const struct set_node *find_from(struct field_set s, const struct path_step *step, uint32_t *place)
{
    *place = lower_bound(s, step, *place);
    bool found = *place < s.n && path_compare(&s.nodes[*place].at, step) == 0;
    return found ? &s.nodes[*place] : NULL;
}

const struct set_node *set_find(struct field_set s, const struct path_step *step)
{
    uint32_t low = 0, high = s.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = path_compare(&s.nodes[mid].at, step);
        if (order == 0)
            return &s.nodes[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static int compare_nodes(const void *a, const void *b)
{
    return path_compare(&((const struct set_node *)a)->at, &((const struct set_node *)b)->at);
}

enum { SORT_FEW_NODES = 8 }; /* that are moved about: most structs have no more fields */

static void sort_nodes(struct arena *a, struct set_node *nodes, uint32_t n)
{
    if (n > SORT_FEW_NODES) {
        sort_stable(a, nodes, n, sizeof(*nodes), compare_nodes);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct set_node node = nodes[i];
        uint32_t at = i;
        for (; at > 0 && path_compare(&nodes[at - 1].at, &node.at) > 0; at--)
            nodes[at] = nodes[at - 1];
        nodes[at] = node;
    }
}

struct field_set set_sorted(struct arena *a, struct set_node *nodes, uint32_t n)
{
    sort_nodes(a, nodes, n);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool again = kept && path_compare(&nodes[kept - 1].at, &nodes[i].at) == 0;
        if (!again) {
            nodes[kept++] = nodes[i];
            continue;
        }
        nodes[kept - 1].marks |= nodes[i].marks;
        if (nodes[i].below.n)
            nodes[kept - 1].below = nodes[i].below;
    }
    return (struct field_set){ nodes, kept };
}

/* ---- Sets ---- */

static bool is_empty(const struct set_node *node)
{
    return !node->marks && node->below.n == 0;
}

struct field_set set_union(struct arena *a, struct field_set x, struct field_set y)
{
    if (x.n == 0 || x.nodes == y.nodes)
        return y;
    if (y.n == 0)
        return x;
    struct field_set out = { arena_alloc(a, ((size_t)x.n + y.n) * sizeof(*out.nodes)), 0 };
    uint32_t i = 0, k = 0;
    while (i < x.n && k < y.n) {
        int order = path_compare(&x.nodes[i].at, &y.nodes[k].at);
        struct set_node node = order <= 0 ? x.nodes[i++] : y.nodes[k++];
        if (order == 0) {
            node.below = set_union(a, node.below, y.nodes[k].below);
            node.marks |= y.nodes[k++].marks;
        }
        out.nodes[out.n++] = node;
    }
    for (; i < x.n; i++)
        out.nodes[out.n++] = x.nodes[i];
    for (; k < y.n; k++)
        out.nodes[out.n++] = y.nodes[k];
    return out;
}

/* By halves: each node is copied once for every halving, also when one of the sets is large and the others are many. */
struct field_set set_union_all(struct arena *a, const struct field_set *sets, uint32_t n)
{
    if (n == 0)
        return (struct field_set){ 0 };
    if (n == 1)
        return sets[0];
    return set_union(a, set_union_all(a, sets, n / 2), set_union_all(a, sets + n / 2, n - n / 2));
}

struct field_set set_intersection(struct arena *a, struct field_set x, struct field_set y)
{
    if (x.n > y.n) { /* go through the smaller one */
        struct field_set smaller = y;
        y = x;
        x = smaller;
    }
    struct field_set out = { x.n ? arena_alloc(a, x.n * sizeof(*out.nodes)) : NULL, 0 };
    uint32_t place = 0;
    for (uint32_t i = 0; i < x.n; i++) {
        struct set_node node = x.nodes[i];
        const struct set_node *other = find_from(y, &node.at, &place);
        if (!other)
            continue;
        node.marks &= other->marks;
        node.below = set_intersection(a, node.below, other->below);
        if (!is_empty(&node))
            out.nodes[out.n++] = node;
    }
    return out;
}

/* One level of a copy in which something may be different: it is made at the first difference. */
struct level {
    struct arena *arena;
    struct field_set from, to;
    bool copied;
};

static void level_put(struct level *l, uint32_t i, const struct set_node *changed)
{
    const struct set_node *was = &l->from.nodes[i];
    bool same = changed && changed->marks == was->marks && changed->below.nodes == was->below.nodes &&
                changed->below.n == was->below.n;
    if (!l->copied && same)
        return;
    if (!l->copied) {
        l->to.nodes = arena_alloc(l->arena, l->from.n * sizeof(*was));
        memcpy(l->to.nodes, l->from.nodes, i * sizeof(*was));
        l->to.n = i;
        l->copied = true;
    }
    if (changed && !is_empty(changed))
        l->to.nodes[l->to.n++] = *changed;
}

static struct field_set level_done(const struct level *l)
{
    return l->copied ? l->to : l->from;
}

/* Both kinds of difference. When the subtrahend is the smaller one, only its nodes are looked for. */
static struct field_set subtract(struct arena *a, struct field_set s, struct field_set minus, bool whole_branches)
{
    if (s.n == 0 || minus.n == 0)
        return s;
    struct level l = { .arena = a, .from = s };
    uint32_t place = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        struct set_node node = s.nodes[i];
        const struct set_node *other = find_from(minus, &node.at, &place);
        if (other && whole_branches && other->marks) {
            level_put(&l, i, NULL);
            continue;
        }
        if (other) {
            node.marks = other->marks ? 0 : node.marks;
            node.below = subtract(a, node.below, other->below, whole_branches);
        }
        level_put(&l, i, is_empty(&node) ? NULL : &node);
    }
    return level_done(&l);
}

struct field_set set_difference(struct arena *a, struct field_set s, struct field_set minus)
{
    return subtract(a, s, minus, false);
}

struct field_set set_without(struct arena *a, struct field_set s, struct field_set roots)
{
    return subtract(a, s, roots, true);
}

struct field_set set_pick(struct arena *a, struct field_set s, unsigned marks)
{
    struct level l = { .arena = a, .from = s };
    for (uint32_t i = 0; i < s.n; i++) {
        struct set_node node = s.nodes[i];
        node.marks = node.marks & marks ? SET_MEMBER : 0;
        node.below = set_pick(a, node.below, marks);
        level_put(&l, i, is_empty(&node) ? NULL : &node);
    }
    return level_done(&l);
}

/* ---- Going through ---- */

struct walk {
    const struct path_step *path[SET_DEPTH_MAX];
    uint32_t n;
    set_visit *each;
    void *user;
};

static void visit_level(struct walk *w, struct field_set s)
{
    assert(w->n < SET_DEPTH_MAX);
    w->n++;
    for (uint32_t i = 0; i < s.n; i++) {
        w->path[w->n - 1] = &s.nodes[i].at;
        if (s.nodes[i].marks)
            w->each(w->user, w->path, w->n);
    }
    for (uint32_t i = 0; i < s.n; i++) {
        w->path[w->n - 1] = &s.nodes[i].at;
        if (s.nodes[i].below.n)
            visit_level(w, s.nodes[i].below);
    }
    w->n--;
}

void set_each(struct field_set s, set_visit *each, void *user)
{
    struct walk w = { .each = each, .user = user };
    visit_level(&w, s);
}
