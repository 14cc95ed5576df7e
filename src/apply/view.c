/* apply/view.c - see view.h. */
#include "apply/view.h"

#include "api/duration.h"
#include "api/time.h"
#include "apply/place.h"
#include "base/base64.h"
#include "codec/json.h"

static struct value view_field(struct arena *a, const struct field *f, const struct value *v);

/* ---- Scalars ---- */

static struct value text_of(struct arena *a, struct strbuf *b)
{
    struct value v = value_string(arena_str(a, strbuf_str(b)));
    strbuf_fini(b);
    return v;
}

static struct value view_time(struct arena *a, const struct field *f, const struct value *v)
{
    struct timestamp time = { v->i, (int32_t)v->n };
    if (v->kind != VALUE_TIME || timestamp_is_zero(time))
        return value_null();
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (f->kind == KIND_MICRO_TIME)
        timestamp_add_micro(&b, time);
    else
        timestamp_add(&b, time);
    return text_of(a, &b);
}

static struct value view_bytes(struct arena *a, const struct value *v)
{
    if (v->kind != VALUE_BYTES)
        return value_null();
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    base64_add(&b, value_text(v));
    return text_of(a, &b);
}

static struct value view_duration(struct arena *a, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    duration_add(&b, v->kind == VALUE_INT ? v->i : 0);
    return text_of(a, &b);
}

/* Raw JSON that is nested too deep counts as null: it is owned as a whole or not at all. */
static struct value view_raw(struct arena *a, const struct value *v)
{
    struct value plain;
    struct err e;
    err_init(&e, a);
    if (v->kind != VALUE_RAW || v->n == 0 || json_decode_plain(a, WORK_OWN, value_text(v), &plain, &e))
        return value_null();
    return plain;
}

/* ---- Containers ---- */

static struct value view_one(struct arena *a, const struct field *f, const struct value *v);

static struct value view_list(struct arena *a, const struct field *f, const struct value *v)
{
    if (v->kind != VALUE_LIST)
        return value_null();
    struct value list = value_list(arena_alloc(a, v->n * sizeof(struct value)), v->n);
    for (uint32_t i = 0; i < v->n; i++)
        list.items[i] = view_one(a, f, &v->items[i]);
    return list;
}

static struct value view_map(struct arena *a, const struct field *f, const struct value *v)
{
    if (v->kind != VALUE_MAP)
        return value_null();
    if (f->kind == KIND_STRING || f->kind == KIND_QUANTITY)
        return *v; /* plain already */
    struct value map = value_map(arena_alloc(a, v->n * sizeof(struct member)), v->n);
    for (uint32_t i = 0; i < v->n; i++)
        map.members[i] = (struct member){ v->members[i].key, view_one(a, f, &v->members[i].value) };
    return map;
}

static uint32_t count_written(const struct type *t, const struct value *v)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < t->n_fields; i++)
        n += json_writes_field(t, i, value_slot(v, i));
    return n;
}

struct value view_of(struct arena *a, const struct type *t, const struct value *v)
{
    uint32_t n = count_written(t, v);
    struct value map = value_map(n ? arena_alloc(a, n * sizeof(struct member)) : NULL, 0);
    for (unsigned i = 0; n && i < t->n_fields; i++) {
        const struct value *slot = value_slot(v, i);
        if (json_writes_field(t, i, slot))
            map.members[map.n++] = (struct member){ t->fields[i].name, view_field(a, &t->fields[i], slot) };
    }
    map.n = value_sort_members(map.members, map.n);
    return map;
}

static struct value view_by_shape(struct arena *a, const struct type *t, const struct value *v)
{
    bool or_bool = t->flags & TYPE_OBJECT_OR_BOOL;
    if (v->kind == VALUE_STRUCT)
        return view_of(a, t->fields[or_bool ? 1 : 0].type, v);
    if (or_bool)
        return value_bool(v->kind == VALUE_BOOL && v->b);
    return v->kind == VALUE_LIST && v->n ? view_list(a, &t->fields[1], v) : value_null();
}

static struct value view_struct(struct arena *a, const struct type *t, const struct value *v)
{
    if (t->flags & TYPE_WRAPPER)
        return view_list(a, &t->fields[0], v);
    return t->flags & TYPE_BY_SHAPE ? view_by_shape(a, t, v) : view_of(a, t, v);
}

/* A field that is one value, or an element; absent is zero. */
static struct value view_one(struct arena *a, const struct field *f, const struct value *v)
{
    bool given = v->kind != VALUE_ABSENT;
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
        return given ? *v : value_string(STR(""));
    case KIND_BOOL:
        return given ? *v : value_bool(false);
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
    case KIND_INT_OR_STRING:
        return given ? *v : value_int(0);
    case KIND_DOUBLE:
    case KIND_FLOAT:
        return given ? *v : value_double(0);
    case KIND_QUANTITY:
        return given ? *v : value_string(STR("0"));
    case KIND_BYTES:
        return view_bytes(a, v);
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return view_time(a, f, v);
    case KIND_DURATION:
        return view_duration(a, v);
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        return view_raw(a, v);
    case KIND_STRUCT:
        return view_struct(a, f->type, v);
    }
    return value_null();
}

static struct value view_field(struct arena *a, const struct field *f, const struct value *v)
{
    if (v->kind == VALUE_ABSENT && f->flags & FIELD_PTR)
        return value_null();
    if (f->shape == SHAPE_LIST)
        return view_list(a, f, v);
    return f->shape == SHAPE_MAP ? view_map(a, f, v) : view_one(a, f, v);
}

/* ---- Differences ---- */

/* Fields that hold one struct in both objects are gone into; any other that is not equal is shown as a whole. Nothing
 * is compared twice, however deep it lies. */
static bool goes_into(const struct field *f, const struct value *old, const struct value *new)
{
    return f->kind == KIND_STRUCT && f->shape == SHAPE_ONE && !(f->type->flags & (TYPE_WRAPPER | TYPE_BY_SHAPE)) &&
           old->kind == VALUE_STRUCT && new->kind == VALUE_STRUCT;
}

static void put(struct value *map, struct str name, struct value v)
{
    map->members[map->n++] = (struct member){ name, v };
}

static void put_field_changes(struct arena *a, const struct type *t, unsigned slot, const struct value *old,
                              const struct value *new, struct value *old_map, struct value *new_map)
{
    const struct field *f = &t->fields[slot];
    struct value old_view, new_view;
    if (goes_into(f, old, new)) {
        if (!view_changes(a, f->type, old, new, &old_view, &new_view))
            return;
    } else if (value_equal(old, new)) {
        return;
    }
    if (json_writes_field(t, slot, old))
        put(old_map, f->name, goes_into(f, old, new) ? old_view : view_field(a, f, old));
    if (json_writes_field(t, slot, new))
        put(new_map, f->name, goes_into(f, old, new) ? new_view : view_field(a, f, new));
}

bool view_changes(struct arena *a, const struct type *t, const struct value *old, const struct value *new,
                  struct value *ret_old, struct value *ret_new)
{
    if (old->kind == VALUE_STRUCT && new->kind == VALUE_STRUCT && old->slots == new->slots)
        return false;
    struct member *members = arena_alloc(a, 2 * t->n_fields * sizeof(*members));
    *ret_old = value_map(members, 0);
    *ret_new = value_map(members + t->n_fields, 0);
    for (unsigned i = 0; i < t->n_fields; i++) {
        const struct value *was = value_slot(old, i), *is = value_slot(new, i);
        if (was->kind != VALUE_ABSENT || is->kind != VALUE_ABSENT)
            put_field_changes(a, t, i, was, is, ret_old, ret_new);
    }
    ret_old->n = value_sort_members(ret_old->members, ret_old->n);
    ret_new->n = value_sort_members(ret_new->members, ret_new->n);
    return ret_old->n || ret_new->n;
}

/* ---- Keys ---- */

static bool elements_have_keys(struct arena *a, const struct field *f, const struct value *v);

static bool items_have_keys(struct arena *a, const struct field *f, const struct value *list)
{
    struct place p = place_of_field(f);
    if (!place_needs_keys(&p))
        return true;
    for (uint32_t i = 0; i < list->n; i++) {
        struct value item = view_one(a, f, &list->items[i]);
        struct path_step step;
        if (place_step(a, &p, &item, &step))
            return false;
    }
    return true;
}

static bool field_has_keys(struct arena *a, const struct field *f, const struct value *v)
{
    if (f->kind != KIND_STRUCT)
        return true;
    if (v->kind == VALUE_LIST && f->shape == SHAPE_LIST && !items_have_keys(a, f, v))
        return false;
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        if (!elements_have_keys(a, f, &v->items[i]))
            return false;
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n; i++)
        if (!elements_have_keys(a, f, &v->members[i].value))
            return false;
    return v->kind != VALUE_STRUCT || elements_have_keys(a, f, v);
}

static bool elements_have_keys(struct arena *a, const struct field *f, const struct value *v)
{
    bool plain = f->type->flags & (TYPE_WRAPPER | TYPE_BY_SHAPE);
    return plain || v->kind != VALUE_STRUCT || view_has_keys(a, f->type, v);
}

bool view_has_keys(struct arena *a, const struct type *t, const struct value *v)
{
    for (unsigned i = 0; v->kind == VALUE_STRUCT && i < t->n_fields; i++)
        if (v->slots[i].kind >= VALUE_LIST && !field_has_keys(a, &t->fields[i], &v->slots[i]))
            return false;
    return true;
}
