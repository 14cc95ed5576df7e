/* patch/strategic_list.c - lists of a strategic merge patch: see strategic_priv.h.
 *
 * Lists of scalars merge as sets. Lists of maps merge by the value of their merge key: an element of
 * the patch changes the first element with its key or is new; `$patch: delete` in it removes all
 * elements with its key, `$patch: replace` in any element makes the patch's other elements the list.
 * Elements of the patch then come in the patch's order, new ones as far in front as the order on the
 * server allows.
 *
 * Upstream looks for keys by walking lists. Here lists are indexed, or a body of the permitted size
 * could keep a thread busy for minutes. */
#include "patch/strategic_priv.h"

#include <stdlib.h>

/* ---- Keys of elements ---- */

struct keyed {
    struct value key; /* a copy: merging moves members */
    uint32_t at;
};

/* Places by key, then by place. Elements without the key are not in it. */
struct key_index {
    struct keyed *keys;
    uint32_t n;
    uint32_t not_map; /* first element that is not a map, where maps are asked for; or UINT32_MAX */
};

/* A total order of scalars. Values of different types differ; lists and maps are like nothing else. */
static int compare_keys(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch ((enum value_kind)a->kind) {
    case VALUE_BOOL:
        return a->b - b->b;
    case VALUE_INT:
        return (a->i > b->i) - (a->i < b->i);
    case VALUE_DOUBLE:
        return (a->d > b->d) - (a->d < b->d);
    case VALUE_STRING:
        return str_cmp(value_text(a), value_text(b));
    case VALUE_LIST:
    case VALUE_MAP:
        return (a->items > b->items) - (a->items < b->items);
    default:
        return 0;
    }
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Without a merge key the element is its own key. NULL: not a map, or a map without it. */
static const struct value *key_of(const struct value *element, const char *merge_key)
{
    return merge_key ? smp_member(element, str_of(merge_key)) : element;
}

static struct key_index index_list(struct smp *m, const struct value *list, const char *merge_key)
{
    struct key_index index = { arena_alloc(m->arena, list->n * sizeof(struct keyed)), 0, UINT32_MAX };
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *key = key_of(&list->items[i], merge_key);
        if (key)
            index.keys[index.n++] = (struct keyed){ *key, i };
        else if (list->items[i].kind != VALUE_MAP && index.not_map == UINT32_MAX)
            index.not_map = i;
    }
    qsort(index.keys, index.n, sizeof(*index.keys), by_key_and_place);
    return index;
}

/* Index into `keys` of the first with this key, or n. */
static uint32_t first_with_key(const struct key_index *index, const struct value *key)
{
    uint32_t low = 0, high = index->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (compare_keys(&index->keys[mid].key, key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The first place of the key in the list, or -1. */
static int64_t place_of(const struct key_index *index, const struct value *key)
{
    uint32_t k = first_with_key(index, key);
    bool found = k < index->n && compare_keys(&index->keys[k].key, key) == 0;
    return found ? (int64_t)index->keys[k].at : -1;
}

/* ---- Order ---- */

struct ranked {
    struct value element;
    int64_t rank;   /* place in the list that sets the order; -1: not in it */
    int64_t server; /* place on the server; -1: none */
};

/* As upstream compares, which is no order when one of the two is in no list: the outcome then hangs on the
 * way of sorting, and that is why Go's is used here: runs of 20 by insertion, merged in place. */
static bool before(const struct ranked *a, const struct ranked *b)
{
    return a->rank < 0 || b->rank < 0 || a->rank < b->rank;
}

static void swap(struct ranked *a, struct ranked *b)
{
    struct ranked t = *a;
    *a = *b;
    *b = t;
}

static void insertion_sort(struct ranked *at, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && before(&at[k], &at[k - 1]); k--)
            swap(&at[k], &at[k - 1]);
}

static void reverse(struct ranked *at, size_t n)
{
    for (size_t i = 0; i + 1 < n - i; i++)
        swap(&at[i], &at[n - 1 - i]);
}

/* at[0..mid) and at[mid..n) change places. */
static void rotate(struct ranked *at, size_t mid, size_t n)
{
    reverse(at, mid);
    reverse(at + mid, n - mid);
    reverse(at, n);
}

/* Moves a single first element to its place among the sorted rest, and a single last one likewise. */
static void merge_first(struct ranked *at, size_t n)
{
    size_t low = 1, high = n;
    while (low < high) {
        size_t half = (low + high) / 2;
        if (before(&at[half], &at[0]))
            low = half + 1;
        else
            high = half;
    }
    rotate(at, 1, low);
}

static void merge_last(struct ranked *at, size_t n)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t half = (low + high) / 2;
        if (!before(&at[n - 1], &at[half]))
            low = half + 1;
        else
            high = half;
    }
    rotate(at + low, n - 1 - low, n - low);
}

/* SymMerge (Kim and Kutzner): at[0..m) and at[m..n) are sorted, then all is. */
static void sym_merge(struct ranked *at, size_t m, size_t n)
{
    if (m == 1) {
        merge_first(at, n);
        return;
    }
    if (n - m == 1) {
        merge_last(at, n);
        return;
    }
    size_t mid = n / 2, sum = mid + m;
    size_t start = m > mid ? sum - n : 0, end = m > mid ? mid : m;
    while (start < end) {
        size_t half = (start + end) / 2;
        if (!before(&at[sum - 1 - half], &at[half]))
            start = half + 1;
        else
            end = half;
    }
    end = sum - start;
    if (start < m && m < end)
        rotate(at + start, m - start, end - start);
    if (0 < start && start < mid)
        sym_merge(at, start, mid);
    if (mid < end && end < n)
        sym_merge(at + mid, end - mid, n - mid);
}

static void stable_sort(struct ranked *at, size_t n)
{
    enum { RUN = 20 };
    for (size_t i = 0; i < n; i += RUN)
        insertion_sort(at + i, n - i < RUN ? n - i : RUN);
    for (size_t run = RUN; run < n; run *= 2)
        for (size_t i = 0; i + run < n; i += 2 * run)
            sym_merge(at + i, run, n - i < 2 * run ? n - i : 2 * run);
}

static enum err_code check_merge_keys(struct smp *m, const struct value *element, const char *merge_key)
{
    if (element->kind != VALUE_MAP)
        return smp_bad_type(m, SMP_MAP, element);
    if (!smp_member(element, str_of(merge_key ? merge_key : "")))
        return smp_no_merge_key(m, element, merge_key ? merge_key : "");
    return ERR_OK;
}

static enum err_code check_all_merge_keys(struct smp *m, const struct value *list, const char *merge_key)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (check_merge_keys(m, &list->items[i], merge_key))
            return m->e->code;
    return ERR_OK;
}

/* Both sides are sorted. One of the server goes first only if it is known to stand before. */
static struct value weave(struct arena *a, const struct ranked *server, uint32_t n_server,
                          const struct ranked *patch, uint32_t n_patch)
{
    uint32_t n = n_server + n_patch, i = 0, k = 0;
    struct value *items = arena_alloc(a, n * sizeof(*items));
    for (uint32_t at = 0; at < n; at++) {
        bool known = i < n_server && k < n_patch && server[i].server >= 0 && patch[k].server >= 0;
        bool server_first = k == n_patch || (known && server[i].server < patch[k].server);
        items[at] = server_first ? server[i++].element : patch[k++].element;
    }
    return value_list(items, n);
}

/* Whether `order` names the element. With a merge key upstream walks the list up to the first match, and
 * stumbles over what is not a map. */
static enum err_code named(struct smp *m, const struct value *element, const struct key_index *order,
                           const char *merge_key, int64_t *ret_place)
{
    if (merge_key && check_merge_keys(m, element, merge_key))
        return m->e->code;
    if (!merge_key && (element->kind == VALUE_MAP || element->kind == VALUE_LIST))
        return err_set(m->e, ERR_UNKNOWN, "cannot order a list of maps without merge key");
    *ret_place = place_of(order, key_of(element, merge_key));
    if (merge_key && order->not_map != UINT32_MAX && (*ret_place < 0 || *ret_place > order->not_map))
        return err_set(m->e, ERR_UNKNOWN, "value for key %u is not a map", order->not_map);
    return ERR_OK;
}

enum err_code smp_order_list(struct smp *m, const struct value *merged, const struct value *order,
                             const struct value *server_order, const char *merge_key, bool of_maps,
                             struct value *ret_list)
{
    if (smp_charge(m, (size_t)merged->n + order->n + server_order->n, sizeof(struct ranked)))
        return m->e->code;
    struct key_index named_at = index_list(m, order, merge_key);
    struct key_index server_at = index_list(m, server_order, merge_key);
    struct ranked *patch = arena_alloc(m->arena, merged->n * sizeof(*patch));
    struct ranked *server = arena_alloc(m->arena, merged->n * sizeof(*server));
    uint32_t n_patch = 0, n_server = 0;
    for (uint32_t i = 0; i < merged->n; i++) {
        struct ranked r = { .element = merged->items[i] };
        if (named(m, &r.element, &named_at, merge_key, &r.rank))
            return m->e->code;
        r.server = place_of(&server_at, key_of(&merged->items[i], merge_key));
        if (r.rank >= 0) {
            patch[n_patch++] = r;
        } else {
            r.rank = r.server;
            server[n_server++] = r;
        }
    }
    if (of_maps && (check_all_merge_keys(m, order, merge_key) || check_all_merge_keys(m, server_order, merge_key)))
        return m->e->code;
    stable_sort(patch, n_patch);
    stable_sort(server, n_server);
    *ret_list = weave(m->arena, server, n_server, patch, n_patch);
    return ERR_OK;
}

static bool is_delete(const struct value *element)
{
    const struct value *directive = smp_member(element, STR(SMP_DIRECTIVE));
    return directive && directive->kind == VALUE_STRING && str_is(value_text(directive), "delete");
}

static enum err_code order_mismatch(struct smp *m, const struct value *patch, const struct value *order)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "The order in patch list:\n");
    go_print_shown(&b, patch, 'v');
    STRBUF_ADD_LIT(&b, "\n doesn't match $setElementOrder list:\n");
    go_print_shown(&b, order, 'v');
    strbuf_add_char(&b, '\n');
    return err_set(m->e, ERR_UNKNOWN, "%s", take_text(m->arena, &b));
}

enum err_code smp_check_order_list(struct smp *m, const struct value *patch, const struct value *order,
                                   const char *merge_key)
{
    if (patch->n == 0 || order->n == 0)
        return ERR_OK;
    for (uint32_t i = 0; i < patch->n && merge_key; i++)
        if (patch->items[i].kind != VALUE_MAP)
            return smp_bad_type(m, SMP_MAP, &patch->items[i]);
    uint32_t i = 0, k = 0;
    while (i < patch->n) {
        const struct value *element = &patch->items[i];
        if (smp_member(element, STR(SMP_DIRECTIVE)) && (k < order->n || (merge_key && is_delete(element)))) {
            i++;
            continue;
        }
        if (k == order->n)
            return order_mismatch(m, patch, order);
        if (merge_key && (check_merge_keys(m, element, merge_key) ||
                          check_merge_keys(m, &order->items[k], merge_key)))
            return m->e->code;
        i += compare_keys(key_of(element, merge_key), key_of(&order->items[k], merge_key)) == 0;
        k++;
    }
    return ERR_OK;
}

/* ---- Contents ---- */

enum err_code smp_element_kind(struct smp *m, const struct value *a, const struct value *b, bool *ret_of_maps)
{
    const struct value *first = a->n ? a->items : b->n ? b->items : NULL;
    if (!first)
        return err_set(m->e, ERR_UNKNOWN, "no elements in any of the given slices");
    if (first->kind == VALUE_LIST)
        return err_set(m->e, ERR_INVALID, "lists of lists are not supported");
    bool mixed = first->kind == VALUE_NULL;
    for (uint32_t i = 0; i < a->n; i++)
        mixed |= a->items[i].kind != first->kind;
    for (uint32_t i = 0; i < b->n; i++)
        mixed |= b->items[i].kind != first->kind;
    if (mixed)
        return smp_mixed_types(m, a, b);
    *ret_of_maps = first->kind == VALUE_MAP;
    return ERR_OK;
}

static struct value delete_values(struct smp *m, const struct value *list, const struct value *unwanted)
{
    struct key_index index = index_list(m, unwanted, NULL);
    struct value kept = value_list(arena_alloc(m->arena, list->n * sizeof(struct value)), 0);
    for (uint32_t i = 0; i < list->n; i++)
        if (place_of(&index, &list->items[i]) < 0)
            kept.items[kept.n++] = list->items[i];
    return kept;
}

/* Both lists, every value once. */
static struct value unite(struct smp *m, const struct value *original, const struct value *patch)
{
    uint32_t n = original->n + patch->n;
    struct value all = value_list(arena_alloc(m->arena, n * sizeof(struct value)), n);
    if (original->n)
        memcpy(all.items, original->items, original->n * sizeof(struct value));
    if (patch->n)
        memcpy(all.items + original->n, patch->items, patch->n * sizeof(struct value));
    struct key_index index = index_list(m, &all, NULL);
    struct value once = value_list(arena_alloc(m->arena, n * sizeof(struct value)), 0);
    for (uint32_t i = 0; i < n; i++)
        if (place_of(&index, &all.items[i]) == i)
            once.items[once.n++] = all.items[i];
    return once;
}

/* Elements to be deleted from a list. Upstream closes each gap by moving the rest up within the array and so
 * leaves its last element behind, past the new end, once a gap. The old array goes on to set the order when
 * $setElementOrder is used, which is why the leftovers are kept as they would be. */
struct deletion {
    struct key_index index;
    bool *dead;
    struct value *leftovers; /* from the end of the array down */
    uint32_t n_leftovers, n_alive_end;
};

static enum err_code delete_key(struct smp *m, struct deletion *d, const struct value *list, const struct value *key)
{
    const struct key_index *index = &d->index;
    while (d->n_alive_end > 0 && d->dead[d->n_alive_end - 1])
        d->n_alive_end--;
    if (d->n_alive_end == 0)
        return ERR_OK;
    struct value last = list->items[d->n_alive_end - 1];
    for (uint32_t k = first_with_key(index, key);
         k < index->n && compare_keys(&index->keys[k].key, key) == 0; k++) {
        if (smp_charge(m, 1, sizeof(struct keyed)))
            return m->e->code;
        if (d->dead[index->keys[k].at])
            continue;
        d->dead[index->keys[k].at] = true;
        d->leftovers[d->n_leftovers++] = last;
    }
    return ERR_OK;
}

static void close_gaps(struct deletion *d, struct value *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (!d->dead[i])
            list->items[kept++] = list->items[i];
    for (uint32_t i = 0; i < d->n_leftovers; i++)
        list->items[list->n - 1 - i] = d->leftovers[i];
    list->n = kept;
}

/* Takes the elements with directives out of the patch and does what they say. */
static enum err_code apply_special_elements(struct smp *m, struct value *original, struct value *patch,
                                            const char *merge_key)
{
    struct deletion d = { .index = index_list(m, original, merge_key), .n_alive_end = original->n,
                          .dead = ARENA_NEW_N(m->arena, bool, original->n),
                          .leftovers = arena_alloc(m->arena, original->n * sizeof(struct value)) };
    struct value plain = value_list(arena_alloc(m->arena, patch->n * sizeof(struct value)), 0);
    bool replace = false;
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct value *element = &patch->items[i];
        const struct value *directive = smp_member(element, STR(SMP_DIRECTIVE));
        if (!directive) {
            plain.items[plain.n++] = *element;
            continue;
        }
        struct str word = value_text(directive);
        const struct value *key = smp_member(element, str_of(merge_key));
        if (directive->kind != VALUE_STRING)
            return smp_bad_directive(m, directive, element);
        if (str_is(word, "delete") && !key)
            return smp_no_merge_key(m, element, merge_key);
        if (str_is(word, "merge"))
            return err_set(m->e, ERR_UNKNOWN, "merging lists cannot yet be specified in the patch");
        if (str_is(word, "delete")) {
            if (delete_key(m, &d, original, key))
                return m->e->code;
        } else if (str_is(word, "replace"))
            replace = true;
        else
            return smp_bad_directive(m, directive, element);
    }
    close_gaps(&d, original);
    if (replace)
        *original = plain;
    *patch = replace ? value_list(NULL, 0) : plain;
    return ERR_OK;
}

/* Elements of the patch into those with their key, or behind the list. Both lists are left with what became
 * of their elements, as they still set the order; the original's array also gets new elements as far as they
 * fill its n_array places: see struct deletion. */
static enum err_code merge_elements(struct smp *m, struct value *original, uint32_t n_array, struct value *patch,
                                    const struct smp_list *how, struct value *ret_merged)
{
    const char *merge_key = how->field->merge_key;
    struct key_index mine = index_list(m, original, merge_key), theirs = index_list(m, patch, merge_key);
    uint32_t *slots = ARENA_NEW_N(m->arena, uint32_t, patch->n); /* where an element went */
    struct value merged = value_list(arena_alloc(m->arena, (original->n + patch->n) * sizeof(struct value)),
                                     original->n);
    if (original->n)
        memcpy(merged.items, original->items, original->n * sizeof(struct value));
    for (uint32_t i = 0; i < patch->n; i++) {
        struct value *element = &patch->items[i];
        const struct value *key = smp_member(element, str_of(merge_key));
        if (!key)
            return smp_no_merge_key(m, element, merge_key);
        int64_t at = place_of(&mine, key), earlier = place_of(&theirs, key);
        if (at < 0 && earlier == i) {
            slots[i] = merged.n;
            merged.items[merged.n++] = *element;
            continue;
        }
        uint32_t slot = at >= 0 ? (uint32_t)at : slots[earlier];
        if (smp_merge_maps(m, &merged.items[slot], element, how->element))
            return m->e->code;
        if (at < 0)
            patch->items[earlier] = merged.items[slot];
    }
    uint32_t n_back = original->n > n_array ? original->n : n_array;
    n_back = merged.n < n_back ? merged.n : n_back;
    if (n_back)
        memcpy(original->items, merged.items, n_back * sizeof(struct value));
    *ret_merged = merged;
    return ERR_OK;
}

/* The patch is quoted when its result does not convert: it shows what became of its elements. */
static void put_back(struct value *patch, const struct value *plain)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < patch->n && k < plain->n; i++)
        if (!smp_member(&patch->items[i], STR(SMP_DIRECTIVE)))
            patch->items[i] = plain->items[k++];
}

static enum err_code merge_lists_of_maps(struct smp *m, struct value *original, struct value *patch,
                                         const struct smp_list *how, struct value *ret_merged)
{
    const char *merge_key = how->field->merge_key;
    struct value mine = *original, theirs = *patch, merged;
    if (!merge_key)
        return err_set(m->e, ERR_UNKNOWN, "cannot merge lists without merge key for %s", how->element.go_kind);
    if (apply_special_elements(m, &mine, &theirs, merge_key))
        return m->e->code;
    bool same_array = mine.items == original->items;
    if (merge_elements(m, &mine, same_array ? original->n : 0, &theirs, how, &merged))
        return m->e->code;
    put_back(patch, &theirs);
    return smp_order_list(m, &merged, &theirs, &mine, merge_key, true, ret_merged);
}

enum err_code smp_merge_lists(struct smp *m, struct value *original, struct value *patch,
                              const struct smp_list *how, struct value *ret_merged)
{
    bool of_maps;
    *ret_merged = *patch;
    if (!(how->field->patch & PATCH_MERGE) && !how->is_delete_list)
        return ERR_OK;
    *ret_merged = *original;
    if (original->n == 0 && patch->n == 0)
        return ERR_OK;
    if (smp_charge(m, (size_t)original->n + patch->n, 2 * sizeof(struct keyed)))
        return m->e->code;
    if (smp_element_kind(m, original, patch, &of_maps))
        return m->e->code;
    if (of_maps)
        return merge_lists_of_maps(m, original, patch, how, ret_merged);
    if (how->is_delete_list) {
        *ret_merged = delete_values(m, original, patch);
        return ERR_OK;
    }
    struct value merged = unite(m, original, patch);
    return smp_order_list(m, &merged, patch, original, how->field->merge_key, false, ret_merged);
}
