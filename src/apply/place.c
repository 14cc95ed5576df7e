/* apply/place.c - see place.h. */
#include "apply/place.h"

#include "base/sort.h"
#include "codec/json.h"

/* ---- Which place ---- */

/* As upstream: the list type, or else how strategic merge patch treats the list. */
static bool list_is_atomic(const struct field *f)
{
    return f->list_type == LIST_ATOMIC || (f->list_type == LIST_DEFAULT && !(f->patch & PATCH_MERGE));
}

static struct place place_of_struct(const struct field *f, unsigned map_type)
{
    const struct type *t = f->type;
    if (t->flags & TYPE_WRAPPER)
        return (struct place){ .kind = PLACE_LIST, .atomic = true, .field = &t->fields[0] };
    if (t->flags & TYPE_BY_SHAPE)
        return (struct place){ .kind = PLACE_ANY };
    unsigned of = map_type != MAP_DEFAULT ? map_type : t->map_type;
    return (struct place){ .kind = PLACE_STRUCT, .atomic = of == MAP_ATOMIC, .type = t };
}

/* A field that is one value, or an element; map_type is what the field itself says. */
static struct place place_of_one(const struct field *f, unsigned map_type)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
    case KIND_BYTES:
    case KIND_DURATION:
        return (struct place){ .kind = PLACE_TEXT };
    case KIND_BOOL:
        return (struct place){ .kind = PLACE_BOOL };
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
    case KIND_DOUBLE:
    case KIND_FLOAT:
        return (struct place){ .kind = PLACE_NUMBER };
    case KIND_TIME:
    case KIND_MICRO_TIME:
    case KIND_QUANTITY:
        return (struct place){ .kind = PLACE_SCALAR };
    case KIND_INT_OR_STRING:
    case KIND_JSON:
        return (struct place){ .kind = PLACE_ANY };
    case KIND_RAW:
        return (struct place){ .kind = PLACE_OPAQUE };
    case KIND_FIELDS_V1:
        return (struct place){ .kind = PLACE_OBJECT };
    case KIND_STRUCT:
        return place_of_struct(f, map_type);
    }
    return (struct place){ 0 };
}

struct place place_of_field(const struct field *f)
{
    if (f->shape == SHAPE_LIST)
        return (struct place){ .kind = PLACE_LIST, .atomic = list_is_atomic(f), .field = f };
    if (f->shape == SHAPE_MAP)
        return (struct place){ .kind = PLACE_MAP, .atomic = f->map_type == MAP_ATOMIC, .field = f };
    return place_of_one(f, f->map_type);
}

struct place place_of_member(const struct place *p, struct str name, bool *ret_declared)
{
    *ret_declared = false;
    switch ((enum place_kind)p->kind) {
    case PLACE_STRUCT: {
        int slot = schema_slot(p->type, name);
        *ret_declared = slot >= 0;
        return slot < 0 ? (struct place){ 0 } : place_of_field(&p->type->fields[slot]);
    }
    case PLACE_MAP:
        return place_of_one(p->field, MAP_DEFAULT);
    case PLACE_OBJECT:
    case PLACE_ANY:
        return (struct place){ .kind = PLACE_ANY };
    case PLACE_OPAQUE:
        return *p;
    default:
        return (struct place){ 0 };
    }
}

struct place place_of_item(const struct place *p)
{
    switch ((enum place_kind)p->kind) {
    case PLACE_LIST:
        return place_of_one(p->field, MAP_DEFAULT);
    case PLACE_ANY:
    case PLACE_OPAQUE:
        return (struct place){ .kind = PLACE_OPAQUE };
    default:
        return (struct place){ 0 };
    }
}

enum shape place_shape(const struct place *p, const struct value *v)
{
    switch ((enum place_kind)p->kind) {
    case PLACE_STRUCT:
    case PLACE_MAP:
    case PLACE_OBJECT:
        return SHAPE_OF_MAP;
    case PLACE_LIST:
        return SHAPE_OF_LIST;
    case PLACE_ANY:
    case PLACE_OPAQUE:
        break;
    default:
        return SHAPE_OF_SCALAR;
    }
    switch ((enum value_kind)v->kind) {
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_DOUBLE:
    case VALUE_STRING:
        return SHAPE_OF_SCALAR;
    case VALUE_LIST:
        return SHAPE_OF_LIST;
    default:
        return SHAPE_OF_MAP;
    }
}

bool place_is_atomic(const struct place *p, enum shape shape)
{
    if (p->kind == PLACE_ANY)
        return shape != SHAPE_OF_MAP;
    return p->atomic || p->kind == PLACE_OPAQUE || shape == SHAPE_OF_SCALAR;
}

/* ---- Elements of lists ---- */

const char *const *place_keys(const struct place *p)
{
    const struct field *f = p->field;
    if (f->list_type == LIST_MAP)
        return f->map_keys;
    return f->list_type == LIST_DEFAULT && f->merge_key ? &f->merge_key : NULL;
}

/* Upstream marks this name with an empty default, which has no other effect and so is not in the schema's rows. */
static bool is_reference_name(const struct type *t)
{
    return str_is(t->name, "core/v1.LocalObjectReference");
}

static bool has_default(const struct type *t, const struct field *f)
{
    bool always_written = f->flags & FIELD_KEEP && !(f->flags & FIELD_PTR);
    return f->default_json || always_written || is_reference_name(t);
}

/* What a key field counts as when it is left out: its default, or zero when Go always writes it. */
static bool default_of_key(struct arena *a, const struct type *t, const struct field *f, struct value *ret_value)
{
    struct err e;
    err_init(&e, a);
    if (!has_default(t, f))
        return false;
    if (f->default_json)
        return json_decode_plain(a, WORK_OWN, str_of(f->default_json), ret_value, &e) == ERR_OK;
    switch (place_of_field(f).kind) {
    case PLACE_NUMBER:
        *ret_value = value_int(0);
        return true;
    case PLACE_BOOL:
        *ret_value = value_bool(false);
        return true;
    default:
        *ret_value = value_string(STR(""));
        return true;
    }
}

static uint32_t count_keys(const char *const *keys)
{
    uint32_t n = 0;
    while (keys[n])
        n++;
    return n;
}

/* A list that merges by one key has no NULL behind it. */
static uint32_t n_keys_of(const struct place *p, const char *const *keys)
{
    return p->field->list_type == LIST_MAP ? count_keys(keys) : 1;
}

bool place_needs_keys(const struct place *p)
{
    const char *const *keys = p->kind == PLACE_LIST && !p->atomic ? place_keys(p) : NULL;
    const struct type *t = p->field ? p->field->type : NULL;
    for (uint32_t i = 0; keys && t && i < n_keys_of(p, keys); i++) {
        int slot = schema_slot(t, str_of(keys[i]));
        if (slot >= 0 && has_default(t, &t->fields[slot]))
            return false;
    }
    return keys != NULL;
}

/* `...all key fields ["a" "b"] (and...)` */
static const char *omits_all_keys(struct arena *a, const char *const *keys, uint32_t n)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(&b, ' ');
        strbuf_add_quoted(&b, str_of(keys[i]));
    }
    const char *text = arena_printf(a, "associative list with keys has an element that omits all key fields [%.*s] "
                                       "(and doesn't have default values for any key fields)", STR_ARG(strbuf_str(&b)));
    strbuf_fini(&b);
    return text;
}

static void put_in_order(struct member *keys, uint32_t n, struct member key)
{
    uint32_t at = n;
    for (; at > 0 && str_cmp(keys[at - 1].key, key.key) > 0; at--)
        keys[at] = keys[at - 1];
    keys[at] = key;
}

static const char *step_by_keys(struct arena *a, const struct place *p, const struct value *item,
                                struct path_step *ret_step)
{
    const char *const *names = place_keys(p);
    uint32_t n_names = n_keys_of(p, names), n = 0;
    if (item->kind == VALUE_NULL)
        return "associative list with keys may not have a null element";
    if (item->kind != VALUE_MAP)
        return "associative list with keys may not have non-map elements";
    struct member *keys = arena_alloc(a, n_names * sizeof(*keys));
    const struct type *t = p->field->type;
    for (uint32_t i = 0; i < n_names; i++) {
        struct member key = { .key = str_of(names[i]) };
        const struct value *given = value_member(item, key.key);
        int slot = t ? schema_slot(t, key.key) : -1;
        if (given)
            key.value = *given;
        else if (slot < 0 || !default_of_key(a, t, &t->fields[slot], &key.value))
            continue;
        put_in_order(keys, n++, key);
    }
    if (n == 0)
        return omits_all_keys(a, names, n_names);
    *ret_step = (struct path_step){ .kind = PATH_KEY, .n = n, .keys = keys };
    return NULL;
}

const char *place_step(struct arena *a, const struct place *p, const struct value *item, struct path_step *ret_step)
{
    if (place_keys(p))
        return step_by_keys(a, p, item, ret_step);
    switch ((enum value_kind)item->kind) {
    case VALUE_MAP:
        return "associative list without keys has an element that's a map type";
    case VALUE_LIST:
        return "not supported: associative list with lists as elements";
    case VALUE_NULL:
        return "associative list without keys has an element that's an explicit null";
    default:
        *ret_step = (struct path_step){ .kind = PATH_VALUE, .value = item };
        return NULL;
    }
}

static int compare_items(const void *a, const void *b)
{
    return path_compare(&((const struct list_item *)a)->step, &((const struct list_item *)b)->step);
}

struct list_item *place_items(struct arena *a, const struct place *p, const struct value *list, uint32_t *ret_n)
{
    struct list_item *items = arena_alloc(a, list->n * sizeof(*items));
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        items[n] = (struct list_item){ .value = &list->items[i], .ordinal = i };
        n += place_step(a, p, &list->items[i], &items[n].step) == NULL;
    }
    if (!sort_in_order(items, n, sizeof(*items), compare_items))
        sort_stable(a, items, n, sizeof(*items), compare_items);
    *ret_n = n;
    return items;
}
