/* codec/json_decode.c - see json.h; how the files share the work: json_priv.h.
 *
 * One pass over the text, along the schema. Elements of lists and members of maps collect on the decoder's
 * stack and move to the arena when their container closes, so that every array has its right size. */
#include "codec/json_priv.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/utf8.h"

enum { LINEAR_KEYS_MAX = 16, STACK_FIRST = 128 };

static bool decode_struct(struct decoder *d, const struct type *t, const char *go_type, struct value *v);
static bool decode_list(struct decoder *d, const struct field *f, const char *go_type, struct value *v);

static bool enter(struct decoder *d, char open)
{
    if (d->n_levels == VALUE_DEPTH_MAX)
        return json_fatal(d, "exceeded max depth");
    d->n_levels++;
    return json_enter(&d->scan, open);
}

/* Types whose JSON shape chooses among their fields decode themselves upstream: afresh, without findings, and
 * with the first error of type inside being fatal outside. */
static bool decode_by_shape(struct decoder *d, const struct type *t, struct value *v)
{
    bool or_bool = t->flags & TYPE_OBJECT_OR_BOOL;
    const struct field *object = &t->fields[or_bool ? 1 : 0], *other = &t->fields[or_bool ? 0 : 1];
    struct findings *findings = d->findings;
    const char *mismatch = d->mismatch;
    char c = json_peek(&d->scan);
    bool ok;
    d->findings = NULL;
    d->mismatch = NULL;
    *v = (struct value){ .kind = VALUE_LIST }; /* neither: null on the wire, but not absent */
    if (c == '{') {
        ok = decode_struct(d, object->type, object->go_type, v);
    } else if (or_bool) {
        ok = (c == 't' || c == 'f') && json_decode_scalar(d, other, other->go_type, v);
        if (!ok)
            d->fatal = "boolean or JSON schema expected";
    } else {
        ok = c == '[' ? decode_list(d, other, other->go_type, v) : json_skip_value(&d->scan);
    }
    if (ok && d->mismatch) {
        d->fatal = d->mismatch;
        ok = false;
    }
    d->findings = findings;
    d->mismatch = mismatch;
    return ok;
}

static bool decode_null(struct decoder *d, const struct field *f, bool pointer, struct value *v)
{
    const struct type *type = f->type;
    bool by_shape = type && type->flags & TYPE_BY_SHAPE;
    if (by_shape && !pointer)
        return decode_by_shape(d, type, v);
    if (!json_scan_word(&d->scan, STR("null")))
        return false;
    if (f->kind == KIND_DURATION && !pointer) /* upstream reads it as no text */
        return json_fatal(d, "time: invalid duration \"\"");
    if (pointer || (type && type->flags & TYPE_WRAPPER))
        *v = (struct value){ 0 };
    else if (!type)
        json_null_scalar(d, f, v);
    return true;
}

/* A field or an element of it, which errors name go_type. */
static bool decode_one(struct decoder *d, const struct field *f, const char *go_type, bool pointer,
                       struct value *v)
{
    if (json_peek(&d->scan) == 'n')
        return decode_null(d, f, pointer, v);
    const struct type *type = f->type;
    if (!type)
        return json_decode_scalar(d, f, go_type, v);
    if (type->flags & TYPE_WRAPPER)
        return decode_list(d, &type->fields[0], go_type, v);
    if (type->flags & TYPE_BY_SHAPE)
        return decode_by_shape(d, type, v);
    return decode_struct(d, type, go_type, v);
}

/* What an element is that was never given a value, as null: lists and maps hold no pointers. */
static struct value zero_element(struct arena *a, const struct field *f)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
        return value_string(STR(""));
    case KIND_BOOL:
        return value_bool(false);
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
    case KIND_INT_OR_STRING:
    case KIND_DURATION:
        return value_int(0);
    case KIND_DOUBLE:
    case KIND_FLOAT:
        return value_double(0);
    case KIND_QUANTITY:
        return value_string(STR("0"));
    case KIND_STRUCT:
        if (!(f->type->flags & TYPE_WRAPPER))
            return value_struct(a, f->type);
        break;
    default:
        break;
    }
    return (struct value){ 0 };
}

static bool decode_element(struct decoder *d, const struct field *f, struct value *v)
{
    if (!decode_one(d, f, f->go_elem, false, v))
        return false;
    if (v->kind == VALUE_ABSENT)
        *v = zero_element(d->arena, f);
    return true;
}

/* ---- Lists ---- */

/* A list that was given again with fewer elements keeps the others behind its end, where they come back if it
 * grows once more. In front of such an array stands one value more, whose `n` is the number of all. */
enum { LIST_WITH_REST = 1 };

/* Elements of an earlier list under the same key, also those it no longer shows. */
static uint32_t n_earlier(const struct value *v)
{
    if (v->kind != VALUE_LIST)
        return 0;
    return v->building == LIST_WITH_REST ? v->items[-1].n : v->n;
}

/* Room in front for the number of all elements. */
static void keep_rest(struct decoder *d, struct value *v)
{
    struct value *items = arena_alloc(d->arena, ((size_t)v->n + 1) * sizeof(*items));
    items[0] = (struct value){ .n = v->n };
    memcpy(items + 1, v->items, v->n * sizeof(*items));
    v->items = items + 1;
    v->building = LIST_WITH_REST;
}

/* Elements from stack index `base` on become the list. In place of an earlier one with more, whose rest stays
 * hidden behind them; an empty list forgets it. */
static void close_list(struct decoder *d, size_t base, uint32_t n_before, struct value *v)
{
    uint32_t n = (uint32_t)(d->stack.n - base);
    bool in_place = n && n < n_before;
    if (!in_place)
        *v = value_list(arena_alloc(d->arena, n * sizeof(*v->items)), n);
    else if (v->building != LIST_WITH_REST)
        keep_rest(d, v);
    if (n)
        memcpy(v->items, d->stack.at + base, n * sizeof(*v->items));
    d->stack.n = base;
    v->n = n;
}

__attribute__((noinline)) static bool decode_list(struct decoder *d, const struct field *f, const char *go_type,
                                                  struct value *v)
{
    if (json_peek(&d->scan) != '[')
        return json_mismatch(d, go_type);
    if (!enter(d, '['))
        return false;
    struct place place = { .up = d->place };
    d->place = &place;
    size_t base = d->stack.n;
    uint32_t n_before = n_earlier(v);
    bool first = true, fault;
    while (json_next(&d->scan, ']', &first, &fault)) {
        struct value item = { 0 };
        if (place.index < n_before)
            item = v->items[place.index];
        if (!decode_element(d, f, &item))
            return false;
        vec_push(&d->stack, item);
        place.index++;
    }
    d->place = place.up;
    d->n_levels--;
    if (!fault)
        close_list(d, base, n_before, v);
    return !fault;
}

/* ---- Maps ---- */

/* Keys of one map while it is read, to find those given twice. As long as they ascend there can be
 * none; after that few keys are compared one by one and many go into a hash map. */
struct keys {
    bool ascending, hashed;
    struct map_str seen; /* when hashed */
};

static bool key_on_stack(const struct decoder *d, size_t base, struct str key)
{
    for (size_t i = base; i < d->stack.n; i += 2)
        if (str_eq(value_text(&d->stack.at[i]), key))
            return true;
    return false;
}

/* Whether the key was among those from stack index `base` on, where keys and values alternate. */
static bool key_seen(struct decoder *d, struct keys *keys, size_t base, struct str key)
{
    size_t n = (d->stack.n - base) / 2;
    if (n == 0)
        return false;
    if (keys->ascending) {
        keys->ascending = str_cmp(value_text(&d->stack.at[d->stack.n - 2]), key) < 0;
        if (keys->ascending)
            return false;
    }
    if (n <= LINEAR_KEYS_MAX)
        return key_on_stack(d, base, key);
    bool is_new;
    if (!keys->hashed) {
        keys->hashed = true;
        map_str_init(&keys->seen);
        for (size_t i = base; i < d->stack.n; i += 2)
            map_str_put(&keys->seen, value_text(&d->stack.at[i]), NULL);
    }
    map_str_put(&keys->seen, key, &is_new);
    return !is_new;
}

static bool decode_member(struct decoder *d, const struct field *f, struct place *place, struct keys *keys,
                          size_t base)
{
    struct json_text token;
    if (!json_scan_key(&d->scan, &token))
        return false;
    struct str key = json_unescape(d->arena, token);
    if (d->findings && key_seen(d, keys, base, key))
        json_find(d, place->up, "duplicate", key);
    struct value item = { 0 };
    place->key = &key;
    bool ok = decode_element(d, f, &item);
    place->key = NULL;
    vec_push(&d->stack, value_string(key));
    vec_push(&d->stack, item);
    return ok;
}

/* A map that was given again: it has room for the next power of two of its members, so that one given again and
 * again costs no more than its text, and its members are sorted in the end. */
enum { MAP_GROWN = 1 };

struct grown {
    struct value *map; /* a slot: those do not move */
    struct grown *next;
};

static size_t room_for(size_t n)
{
    return n < 2 ? n : (size_t)1 << (64 - __builtin_clzll(n - 1));
}

static void grow_map(struct decoder *d, struct value *v, size_t n)
{
    bool grown = v->building == MAP_GROWN;
    if (grown && n <= room_for(v->n))
        return;
    struct member *members = arena_alloc(d->arena, room_for(n) * sizeof(*members));
    if (v->n)
        memcpy(members, v->members, v->n * sizeof(*members));
    v->members = members;
    if (grown)
        return;
    v->building = MAP_GROWN;
    struct grown *g = ARENA_NEW(d->arena, struct grown);
    *g = (struct grown){ v, d->grown };
    d->grown = g;
}

/* Members from stack index `base` on become the map or join those that it had before. */
static void close_map(struct decoder *d, size_t base, struct value *v)
{
    uint32_t n_new = (uint32_t)((d->stack.n - base) / 2);
    bool again = v->kind == VALUE_MAP;
    if (again)
        grow_map(d, v, (size_t)v->n + n_new);
    else
        *v = value_map(arena_alloc(d->arena, n_new * sizeof(*v->members)), 0);
    for (uint32_t i = 0; i < n_new; i++, base += 2)
        v->members[v->n++] = (struct member){ value_text(&d->stack.at[base]), d->stack.at[base + 1] };
    d->stack.n -= 2 * (size_t)n_new;
    if (!again)
        v->n = value_sort_members(v->members, v->n);
}

/* A slot may be listed several times, when null came between; it is sorted once. */
static void sort_grown(struct decoder *d)
{
    for (struct grown *g = d->grown; g; g = g->next) {
        struct value *v = g->map;
        if (v->kind != VALUE_MAP || v->building != MAP_GROWN)
            continue;
        v->n = value_sort_members(v->members, v->n);
        v->building = 0;
    }
}

__attribute__((noinline)) static bool decode_map(struct decoder *d, const struct field *f, struct value *v)
{
    if (json_peek(&d->scan) != '{')
        return json_mismatch(d, f->go_type);
    if (!enter(d, '{'))
        return false;
    struct place place = { .up = d->place };
    struct keys keys = { .ascending = true };
    d->place = &place;
    size_t base = d->stack.n;
    bool first = true, fault, ok = true;
    while (ok && json_next(&d->scan, '}', &first, &fault))
        ok = decode_member(d, f, &place, &keys, base);
    if (keys.hashed)
        map_str_fini(&keys.seen);
    d->place = place.up;
    d->n_levels--;
    ok = ok && !fault;
    if (ok)
        close_map(d, base, v);
    return ok;
}

/* ---- Structs ---- */

static bool decode_field(struct decoder *d, const struct field *f, struct value *v)
{
    if (f->shape == SHAPE_ONE)
        return decode_one(d, f, f->go_type, f->flags & FIELD_PTR, v);
    if (json_peek(&d->scan) == 'n') {
        *v = (struct value){ 0 };
        return json_scan_word(&d->scan, STR("null"));
    }
    return f->shape == SHAPE_LIST ? decode_list(d, f, f->go_type, v) : decode_map(d, f, v);
}

/* The long s and the Kelvin sign are letters too. */
bool json_equal_fold(struct str name, struct str ascii)
{
    size_t at = 0;
    for (size_t i = 0; i < ascii.n; i++) {
        uint32_t rune;
        size_t n = at < name.n ? utf8_decode(str_from(name, at), &rune) : 0;
        if (n == 0)
            return false;
        rune = rune == 0x17F ? 's' : rune == 0x212A ? 'k' : rune;
        if (rune >= 0x80 || ((int)rune | 32) != (ascii.p[i] | 32))
            return false;
        at += n;
    }
    return at == name.n;
}

/* Names that no field has. */
static bool skip_unknown(struct decoder *d, const struct place *place, struct str name)
{
    if (d->findings)
        json_find(d, place->up, "unknown", name);
    if (!place->up && (json_equal_fold(name, STR("kind")) || json_equal_fold(name, STR("apiVersion"))))
        d->odd_meta = true;
    return json_skip_value(&d->scan);
}

/* Whether a slot was named before in this object; one bit each. */
static bool slot_seen(uint64_t *seen, unsigned slot)
{
    uint64_t bit = 1ull << (slot % 64), *word = &seen[slot / 64];
    bool before = *word & bit;
    *word |= bit;
    return before;
}

static bool decode_slot(struct decoder *d, struct place *place, uint64_t *seen, struct value *v)
{
    struct json_text token;
    if (!json_scan_key(&d->scan, &token))
        return false;
    struct str name = token.plain ? token.raw : json_unescape(d->arena, token);
    int slot = schema_slot(place->type, name);
    if (slot < 0)
        return skip_unknown(d, place, name);
    place->field = &place->type->fields[slot];
    if (d->findings && slot_seen(seen, (unsigned)slot))
        json_find(d, place->up, "duplicate", name);
    return decode_field(d, place->field, &v->slots[slot]);
}

static bool decode_struct(struct decoder *d, const struct type *t, const char *go_type, struct value *v)
{
    if (json_peek(&d->scan) != '{')
        return json_mismatch(d, go_type);
    if (!enter(d, '{'))
        return false;
    if (v->kind != VALUE_STRUCT)
        *v = value_struct(d->arena, t);
    struct place place = { .up = d->place, .type = t };
    uint64_t *seen = d->findings ? ARENA_NEW_N(d->arena, uint64_t, t->n_fields / 64 + 1) : NULL;
    bool first = true, fault;
    while (json_next(&d->scan, '}', &first, &fault)) {
        d->place = &place;
        if (!decode_slot(d, &place, seen, v))
            return false;
    }
    d->place = place.up;
    d->n_levels--;
    return !fault;
}

static enum err_code fail(struct decoder *d, struct err *e)
{
    enum err_code syntax = json_check(d->text, e);
    if (syntax)
        return syntax;
    const char *message = d->fatal ? d->fatal : d->mismatch;
    assert(message); /* scanner and checker agree on what is JSON */
    if (d->findings)
        d->findings->fault = (struct json_fault){ d->fault_path, d->fault };
    return err_set(e, ERR_BAD_REQUEST, "%s", message);
}

enum err_code json_decode_object(struct arena *a, struct work *work, const struct type *t, struct str text,
                                 struct findings *findings, bool *ret_odd_meta, struct value *ret_value,
                                 struct err *e)
{
    if (work_begin(work, text.n, e))
        return e->code;
    struct decoder d = { .scan = json_scan_init(text), .text = text, .arena = a, .work = work, .findings = findings };
    struct value root = value_struct(a, t);
    vec_reserve(&d.stack, STACK_FIRST);
    unsigned n_findings = findings ? findings->n : 0;
    if (findings)
        findings->fault = (struct json_fault){ 0 };
    bool null = json_peek(&d.scan) == 'n';
    bool ok = null ? json_scan_word(&d.scan, STR("null")) : decode_struct(&d, t, t->go_name, &root);
    ok = ok && json_at_end(&d.scan) && !d.mismatch;
    sort_grown(&d);
    vec_fini(&d.stack);
    if (ok) {
        *ret_value = root;
        *ret_odd_meta = d.odd_meta;
        return ERR_OK;
    }
    if (findings)
        findings->n = n_findings;
    return fail(&d, e);
}

enum err_code json_decode(struct arena *a, struct work *work, const struct type *t, struct str text,
                          struct findings *findings, struct value *ret_value, struct err *e)
{
    bool odd_meta;
    return json_decode_object(a, work, t, text, findings, &odd_meta, ret_value, e);
}
