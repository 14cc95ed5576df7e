/* patch/strategic_patch.c - strategic merge patch: a merge patch that follows the schema.
 *
 * Maps merge member by member, lists as their field's patch strategy says: replaced, or merged by value or by
 * the merge key of their elements (strategic_list.c). Directives in the patch change that:
 *
 *   $patch: replace | delete            in a map: take the patch alone, or nothing; in an element: see lists
 *   $retainKeys: [k, ...]               drops all other members of the original
 *   $setElementOrder/F: [...]           the order of list F after the merge
 *   $deleteFromPrimitiveList/F: [...]   values to take out of list F
 *
 * Upstream walks Go maps in random order; here it is directives first, then names in order. */
#include "patch/strategic_priv.h"

#include <stdlib.h>

#define RETAIN_KEYS STR("$retainKeys")
#define DELETE_FROM_LIST STR("$deleteFromPrimitiveList")
#define SET_ELEMENT_ORDER STR("$setElementOrder")

#define BAD_PRIMITIVE_LIST "invalid patch format of primitive list"
#define BAD_RETAIN_KEYS "invalid patch format of retainKeys"
#define BAD_ELEMENT_ORDER "invalid patch format of setElementOrder list"

enum err_code smp_charge(struct smp *m, size_t n, size_t size)
{
    return work_take(m->work, (uint64_t)n * size) ? ERR_OK : work_error(m->e);
}

/* ---- Errors ---- */

enum err_code smp_no_merge_key(struct smp *m, const struct value *map, const char *merge_key)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "map: ");
    go_print_shown(&b, map, 'v');
    strbuf_printf(&b, " does not contain declared merge key: %s", merge_key);
    return err_set(m->e, ERR_UNKNOWN, "%s", take_text(m->arena, &b));
}

enum err_code smp_bad_type(struct smp *m, const char *expected, const struct value *got)
{
    const char *kind = got->kind == VALUE_MAP    ? SMP_MAP
                       : got->kind == VALUE_LIST ? SMP_LIST
                       : got->kind == VALUE_NULL ? "%!s(<nil>)"
                                                 : go_kind(got);
    return err_set(m->e, ERR_UNKNOWN, "expected a %s, but received a %s", expected, kind);
}

enum err_code smp_bad_directive(struct smp *m, const struct value *directive, const struct value *map)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "unknown patch type: ");
    go_print_shown(&b, directive, 's');
    STRBUF_ADD_LIT(&b, " in map: ");
    go_print_shown(&b, map, 'v');
    return err_set(m->e, ERR_UNKNOWN, "%s", take_text(m->arena, &b));
}

enum err_code smp_mixed_types(struct smp *m, const struct value *a, const struct value *b)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "list element types are not identical: [");
    go_print_shown(&text, a, 'v');
    strbuf_add_char(&text, ' ');
    go_print_shown(&text, b, 'v');
    strbuf_add_char(&text, ']');
    return err_set(m->e, ERR_UNKNOWN, "%s", take_text(m->arena, &text));
}

/* ---- Maps in place: a deleted member is VALUE_ABSENT until the next sweep, so that deleting moves nothing ---- */

struct value *smp_member(const struct value *map, struct str key)
{
    struct value *found = value_member(map, key);
    return found && found->kind != VALUE_ABSENT ? found : NULL;
}

static void delete_member(struct value *map, struct str key)
{
    struct value *found = value_member(map, key);
    if (found)
        found->kind = VALUE_ABSENT;
}

static void sweep(struct value *map)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->n; i++)
        if (map->members[i].value.kind != VALUE_ABSENT)
            map->members[kept++] = map->members[i];
    map->n = kept;
}

static enum err_code put_member(struct smp *m, struct value *map, struct str key, struct value v)
{
    struct value *found = value_member(map, key);
    if (found) {
        *found = v;
        return ERR_OK;
    }
    if (smp_charge(m, map->n, sizeof(struct member)))
        return m->e->code;
    struct member *members = arena_alloc(m->arena, ((size_t)map->n + 1) * sizeof(*members));
    if (map->n)
        memcpy(members, map->members, map->n * sizeof(*members));
    members[map->n] = (struct member){ key, v };
    *map = value_map(members, value_sort_members(members, map->n + 1));
    return ERR_OK;
}

/* ---- Values of the patch that go into the result as they are ---- */

/* Drops directives with what they stand in; false: the value itself goes. */
static bool remove_directives(struct value *v)
{
    if (v->kind == VALUE_MAP) {
        if (smp_member(v, STR(SMP_DIRECTIVE)))
            return false;
        for (uint32_t i = 0; i < v->n; i++)
            if (!remove_directives(&v->members[i].value))
                v->members[i].value.kind = VALUE_ABSENT;
        sweep(v);
    } else if (v->kind == VALUE_LIST) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < v->n; i++)
            if (remove_directives(&v->items[i]))
                v->items[kept++] = v->items[i];
        v->n = kept;
    }
    return true;
}

/* Members that are null; in lists they stay. */
static void discard_nulls(struct value *v)
{
    if (v->kind == VALUE_MAP) {
        for (uint32_t i = 0; i < v->n; i++) {
            struct value *member = &v->members[i].value;
            if (member->kind == VALUE_NULL)
                member->kind = VALUE_ABSENT;
            else
                discard_nulls(member);
        }
        sweep(v);
    } else if (v->kind == VALUE_LIST) {
        for (uint32_t i = 0; i < v->n; i++)
            discard_nulls(&v->items[i]);
    }
}

/* The patch's value where the original has none, or one of another type. */
static struct value taken(struct value *patch)
{
    discard_nulls(patch);
    return remove_directives(patch) ? *patch : (struct value){ 0 };
}

/* ---- $retainKeys ---- */

static int by_text(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return str_cmp(value_text(x), value_text(y));
}

static bool retained(const struct value *keys, struct str name)
{
    struct value wanted = value_string(name);
    return bsearch(&wanted, keys->items, keys->n, sizeof(wanted), by_text) != NULL;
}

static bool is_parallel_list(struct str key)
{
    return str_starts(key, DELETE_FROM_LIST) || str_starts(key, SET_ELEMENT_ORDER);
}

static enum err_code apply_retain_keys(struct smp *m, struct value *original, struct value *patch)
{
    struct value *keys = smp_member(patch, RETAIN_KEYS);
    if (!keys)
        return ERR_OK;
    struct value list = *keys;
    delete_member(patch, RETAIN_KEYS);
    sweep(patch);
    if (list.kind != VALUE_LIST)
        return err_set(m->e, ERR_BAD_REQUEST, BAD_RETAIN_KEYS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < list.n; i++) /* what is no text names no member */
        if (list.items[i].kind == VALUE_STRING)
            list.items[n++] = list.items[i];
    list.n = n;
    qsort(list.items, list.n, sizeof(*list.items), by_text);
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct member *member = &patch->members[i];
        if (member->value.kind != VALUE_NULL && !is_parallel_list(member->key) && !retained(&list, member->key))
            return err_set(m->e, ERR_BAD_REQUEST, BAD_RETAIN_KEYS);
    }
    for (uint32_t i = 0; i < original->n; i++)
        if (!retained(&list, original->members[i].key))
            original->members[i].value.kind = VALUE_ABSENT;
    sweep(original);
    return ERR_OK;
}

/* ---- $setElementOrder ---- */

/* The name behind "$directive/"; false when there is no slash right after it. */
static bool field_of_directive(struct str key, struct str directive, struct str *ret_name)
{
    if (key.n <= directive.n || key.p[directive.n] != '/')
        return false;
    *ret_name = str_from(key, directive.n + 1);
    return true;
}

/* The list contents before they are put in order: merged, or from the one side that has it. */
static enum err_code merge_for_order(struct smp *m, struct value *original, struct value *patch,
                                     const struct smp_list *how, struct value *ret_merged)
{
    if (original && patch)
        return smp_merge_lists(m, original, patch, how, ret_merged);
    if (!patch) {
        *ret_merged = *original;
        return ERR_OK;
    }
    struct value copy = value_list(arena_alloc(m->arena, patch->n * sizeof(struct value)), patch->n);
    if (patch->n)
        memcpy(copy.items, patch->items, patch->n * sizeof(struct value));
    (void)remove_directives(&copy); /* a list itself always stays */
    *ret_merged = copy;
    return ERR_OK;
}

static enum err_code apply_order(struct smp *m, struct value *original, struct value *patch, struct smp_type at,
                                 struct str name, struct value *order)
{
    static const struct value empty = { .kind = VALUE_LIST };
    struct value *mine = smp_member(original, name), *change = smp_member(patch, name);
    struct smp_list how = { 0 };
    if (mine && mine->kind != VALUE_LIST)
        return smp_bad_type(m, SMP_LIST, mine);
    if (change && change->kind != VALUE_LIST)
        return smp_bad_type(m, SMP_LIST, change);
    if (smp_field(m, at, name, &how.field) || smp_element_type(m, at, how.field, &how.element) ||
        smp_check_order_list(m, change ? change : &empty, order, how.field->merge_key))
        return m->e->code;
    if (!mine && !change)
        return ERR_OK;
    /* Merging may move elements of the original within its array: the order on the server is then what
     * that array holds afterwards, also past the new end. */
    struct value server_order = mine ? *mine : empty, merged, ordered;
    bool of_maps;
    if (merge_for_order(m, mine, change, &how, &merged))
        return m->e->code;
    if (smp_element_kind(m, &server_order, change ? change : &empty, &of_maps) ||
        smp_order_list(m, &merged, order, &server_order, how.field->merge_key, of_maps, &ordered) ||
        put_member(m, original, name, ordered))
        return m->e->code;
    delete_member(patch, name);
    return ERR_OK;
}

static enum err_code apply_element_orders(struct smp *m, struct value *original, struct value *patch,
                                          struct smp_type at)
{
    for (uint32_t i = 0; i < patch->n; i++) {
        struct member *directive = &patch->members[i];
        struct value order = directive->value;
        struct str name;
        if (order.kind == VALUE_ABSENT || !str_starts(directive->key, SET_ELEMENT_ORDER))
            continue;
        directive->value.kind = VALUE_ABSENT;
        if (order.kind != VALUE_LIST)
            return smp_bad_type(m, SMP_LIST, &order);
        if (!field_of_directive(directive->key, SET_ELEMENT_ORDER, &name))
            return err_set(m->e, ERR_BAD_REQUEST, BAD_ELEMENT_ORDER);
        if (apply_order(m, original, patch, at, name, &order))
            return m->e->code;
    }
    sweep(patch);
    return ERR_OK;
}

/* ---- Members ---- */

static enum err_code merge_list_member(struct smp *m, struct value *current, struct value *patch,
                                       struct smp_type at, struct str name, bool is_delete_list)
{
    struct smp_list how = { .is_delete_list = is_delete_list };
    struct value merged;
    if (smp_field(m, at, name, &how.field) || smp_element_type(m, at, how.field, &how.element) ||
        smp_merge_lists(m, current, patch, &how, &merged))
        return m->e->code;
    *current = merged;
    return ERR_OK;
}

static enum err_code merge_map_member(struct smp *m, struct value *current, struct value *patch,
                                      struct smp_type at, struct str name)
{
    const struct field *f;
    if (smp_field(m, at, name, &f))
        return m->e->code;
    if (f->patch & PATCH_REPLACE) {
        *current = *patch;
        return ERR_OK;
    }
    return smp_merge_maps(m, current, patch, smp_field_type(f));
}

/* One member of the patch against the one of the same name, absent or not; absent afterwards: it goes. */
static enum err_code merge_member(struct smp *m, struct value *current, struct value *patch, struct smp_type at,
                                  struct str name)
{
    if (patch->kind == VALUE_NULL) {
        current->kind = VALUE_ABSENT;
        return ERR_OK;
    }
    if (patch->kind == current->kind && patch->kind == VALUE_MAP)
        return merge_map_member(m, current, patch, at, name);
    if (patch->kind == current->kind && patch->kind == VALUE_LIST)
        return merge_list_member(m, current, patch, at, name, false);
    *current = taken(patch);
    return ERR_OK;
}

static enum err_code apply_delete_lists(struct smp *m, struct value *original, struct value *patch,
                                        struct smp_type at)
{
    for (uint32_t i = 0; i < patch->n; i++) {
        struct member *directive = &patch->members[i];
        struct str name;
        if (!str_starts(directive->key, DELETE_FROM_LIST))
            continue;
        if (!field_of_directive(directive->key, DELETE_FROM_LIST, &name))
            return err_set(m->e, ERR_BAD_REQUEST, BAD_PRIMITIVE_LIST);
        struct value *current = smp_member(original, name.n ? name : directive->key);
        if (current && directive->value.kind == VALUE_NULL)
            current->kind = VALUE_ABSENT;
        else if (current && current->kind == VALUE_LIST && directive->value.kind == VALUE_LIST &&
                 merge_list_member(m, current, &directive->value, at, name, true))
            return m->e->code;
    }
    sweep(original);
    return ERR_OK;
}

/* Both are sorted, so one walk over the two does it. */
static enum err_code merge_members(struct smp *m, struct value *original, struct value *patch, struct smp_type at)
{
    uint32_t n = 0, i = 0, k = 0;
    struct member *merged = arena_alloc(m->arena, ((size_t)original->n + patch->n) * sizeof(*merged));
    while (i < original->n || k < patch->n) {
        int order = i == original->n ? 1
                    : k == patch->n  ? -1
                                     : str_cmp(original->members[i].key, patch->members[k].key);
        struct member current = { .key = order <= 0 ? original->members[i].key : patch->members[k].key };
        if (order <= 0)
            current.value = original->members[i++].value;
        if (order >= 0) {
            struct member *change = &patch->members[k++];
            if (!str_starts(change->key, DELETE_FROM_LIST) &&
                merge_member(m, &current.value, &change->value, at, change->key))
                return m->e->code;
        }
        if (current.value.kind != VALUE_ABSENT)
            merged[n++] = current;
    }
    *original = value_map(merged, n);
    return ERR_OK;
}

/* $patch in a map: the patch alone, or nothing. */
static enum err_code apply_directive(struct smp *m, struct value *original, struct value *patch)
{
    struct value *directive = smp_member(patch, STR(SMP_DIRECTIVE));
    struct str word = value_text(directive);
    if (directive->kind == VALUE_STRING && str_is(word, "replace")) {
        delete_member(patch, STR(SMP_DIRECTIVE));
        sweep(patch);
        *original = *patch;
        return ERR_OK;
    }
    if (directive->kind == VALUE_STRING && str_is(word, "delete")) {
        *original = value_map(NULL, 0);
        return ERR_OK;
    }
    return smp_bad_directive(m, directive, patch);
}

enum err_code smp_merge_maps(struct smp *m, struct value *original, struct value *patch, struct smp_type at)
{
    if (smp_charge(m, (size_t)original->n + patch->n, sizeof(struct member)))
        return m->e->code;
    if (smp_member(patch, STR(SMP_DIRECTIVE)))
        return apply_directive(m, original, patch);
    if (apply_retain_keys(m, original, patch) || apply_element_orders(m, original, patch, at) ||
        apply_delete_lists(m, original, patch, at) || merge_members(m, original, patch, at))
        return m->e->code;
    return ERR_OK;
}

enum err_code strategic_patch_apply(struct arena *a, struct work *work, const struct type *t,
                                    struct value *original, struct value *patch, struct value *ret_value,
                                    struct err *e)
{
    struct smp m = { a, work, e };
    if (patch->kind == VALUE_MAP && smp_merge_maps(&m, original, patch, smp_root_type(t)))
        return e->code;
    *ret_value = *original;
    return ERR_OK;
}
