/* patch/patch_convert.c - plain values to typed ones, as the API server's converter does it.
 *
 * After a strategic merge there is no text to decode. The converter has rules of its own: numbers are cut to
 * the size of their field, doubles without a fraction are integers, null is the zero value, and it stops at
 * the first error, in the order of the type's fields. Its texts name Go's kinds. Types that decode themselves
 * (times, quantities, ...) get their JSON text and answer as always. Unknown fields are told with their path,
 * in which keys of maps do not appear, and sorted. */
#include <math.h>
#include <stdlib.h>

#include "api/quantity.h"
#include "api/time.h"
#include "base/base64.h"
#include "codec/json.h"
#include "patch/patch_priv.h"

struct converter {
    struct arena *arena;
    struct work *work;
    struct texts *findings; /* NULL: nobody asks */
    struct err *e;
    struct strbuf path; /* kept up only when somebody asks */
    unsigned n_levels;
};

static enum err_code convert_struct(struct converter *c, const struct type *t, const struct value *from,
                                    struct value *to);
static enum err_code convert_list(struct converter *c, const struct field *f, const struct value *from,
                                  struct value *to);

static enum err_code invalid(struct converter *c, const char *text)
{
    return err_set(c->e, ERR_INVALID, "%s", text);
}

static enum err_code wrong_kind(struct converter *c, const char *go_kind_wanted)
{
    return err_set(c->e, ERR_INVALID, "unrecognized type: %s", go_kind_wanted);
}

static enum err_code cannot_convert(struct converter *c, const struct value *from, const char *go_type)
{
    return err_set(c->e, ERR_INVALID, "cannot convert %s to %s", go_kind(from), go_type);
}

static struct str json_text_of(struct arena *a, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode_plain(&b, v);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* ---- Scalars ---- */

/* As Go on amd64 turns a double without a fraction into int64. */
static int64_t whole_double(double d)
{
    return d >= -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MIN;
}

static int64_t cut_int(int64_t i, enum field_kind kind)
{
    if (kind == KIND_INT32)
        return (int32_t)(uint32_t)(uint64_t)i;
    return kind == KIND_UINT32 ? (int64_t)(uint32_t)(uint64_t)i : i;
}

static enum err_code convert_int(struct converter *c, const struct field *f, const struct value *from,
                                 struct value *to)
{
    static const char *const names[] = { [KIND_INT32] = "int32", [KIND_INT64] = "int64", [KIND_UINT32] = "uint32" };
    if (from->kind != VALUE_INT && from->kind != VALUE_DOUBLE)
        return wrong_kind(c, names[f->kind]);
    if (from->kind == VALUE_DOUBLE && from->d != trunc(from->d))
        return cannot_convert(c, from, f->go_elem);
    int64_t i = from->kind == VALUE_INT ? from->i : whole_double(from->d);
    *to = value_int(cut_int(i, f->kind));
    return ERR_OK;
}

static enum err_code convert_double(struct converter *c, const struct value *from, struct value *to)
{
    if (from->kind != VALUE_INT && from->kind != VALUE_DOUBLE)
        return wrong_kind(c, "float64");
    *to = value_double(from->kind == VALUE_INT ? (double)from->i : from->d);
    return ERR_OK;
}

static enum err_code convert_string(struct converter *c, const struct field *f, const struct value *from,
                                    struct value *to)
{
    if (from->kind == VALUE_INT) /* Go could, to a character, but is told not to */
        return cannot_convert(c, from, f->go_elem);
    if (from->kind != VALUE_STRING)
        return wrong_kind(c, "string");
    *to = *from;
    return ERR_OK;
}

static enum err_code convert_byte_list(struct converter *c, const struct value *from, struct value *to)
{
    char *bytes = arena_alloc(c->arena, from->n);
    for (uint32_t i = 0; i < from->n; i++) {
        const struct value *item = &from->items[i];
        if (item->kind == VALUE_DOUBLE && item->d != trunc(item->d))
            return cannot_convert(c, item, "uint8");
        if (item->kind != VALUE_INT && item->kind != VALUE_DOUBLE && item->kind != VALUE_NULL)
            return wrong_kind(c, "uint8");
        int64_t byte = item->kind == VALUE_INT ? item->i : item->kind == VALUE_DOUBLE ? whole_double(item->d) : 0;
        bytes[i] = (char)(unsigned char)(uint64_t)byte;
    }
    *to = value_bytes((struct str){ bytes, from->n });
    return ERR_OK;
}

static enum err_code convert_bytes(struct converter *c, const struct value *from, struct value *to)
{
    struct str bytes;
    size_t bad_at;
    if (from->kind == VALUE_LIST)
        return convert_byte_list(c, from, to);
    if (from->kind != VALUE_STRING)
        return err_set(c->e, ERR_INVALID, "cannot restore slice from %s", go_kind(from));
    if (!base64_decode(c->arena, value_text(from), &bytes, &bad_at))
        return err_set(c->e, ERR_INVALID, "error decoding from json: illegal base64 data at input byte %zu",
                       bad_at);
    *to = value_bytes(bytes);
    return ERR_OK;
}

/* ---- Types that decode themselves ---- */

static const char *json_type(const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_BOOL:
        return "bool";
    case VALUE_STRING:
        return "string";
    case VALUE_LIST:
        return "array";
    case VALUE_MAP:
        return "object";
    default:
        return "number";
    }
}

static enum err_code wrong_json(struct converter *c, const struct value *from, const char *go_type)
{
    return err_set(c->e, ERR_INVALID, "json: cannot unmarshal %s into Go value of type %s", json_type(from),
                   go_type);
}

static enum err_code convert_time(struct converter *c, const struct field *f, const struct value *from,
                                  struct value *to)
{
    struct timestamp time;
    struct str text = value_text(from);
    if (from->kind != VALUE_STRING)
        return wrong_json(c, from, "string");
    bool micro = f->kind == KIND_MICRO_TIME;
    if (micro ? timestamp_parse_micro(text, &time, c->e) : timestamp_parse(text, &time, c->e))
        return invalid(c, c->e->message);
    *to = value_time(time.seconds, (uint32_t)time.nanos);
    return ERR_OK;
}

static enum err_code convert_quantity(struct converter *c, const struct value *from, struct value *to)
{
    struct quantity q;
    if (quantity_parse_json(c->arena, json_text_of(c->arena, from), &q, c->e))
        return invalid(c, c->e->message);
    if (!work_take(c->work, q.n_digits))
        return work_error(c->e);
    *to = value_string(q.text.n ? q.text : quantity_text(c->arena, &q));
    return ERR_OK;
}

static enum err_code convert_int_or_string(struct converter *c, const struct value *from, struct value *to)
{
    bool number = from->kind == VALUE_INT || from->kind == VALUE_DOUBLE;
    *to = *from;
    if (from->kind == VALUE_STRING)
        return ERR_OK;
    if (!number)
        return wrong_json(c, from, "int32");
    bool whole = from->kind == VALUE_INT || (from->d == trunc(from->d) && fabs(from->d) < 1e21);
    int64_t i = from->kind == VALUE_INT ? from->i : whole_double(from->d);
    if (!whole || i < INT32_MIN || i > INT32_MAX) {
        struct str text = json_text_of(c->arena, from);
        return err_set(c->e, ERR_INVALID, "json: cannot unmarshal number %.*s into Go value of type int32",
                       STR_ARG(text));
    }
    *to = value_int(i);
    return ERR_OK;
}

/* A type whose JSON shape chooses. An object is one of the type inside; anything else the decoder reads as the only field of
 * a struct made up for it. */
static enum err_code convert_by_shape(struct converter *c, const struct field *f, const struct value *from,
                                      struct value *to)
{
    if (from->kind == VALUE_MAP) {
        const struct type *inside = f->type->fields[f->type->flags & TYPE_OBJECT_OR_BOOL ? 1 : 0].type;
        if (json_decode(c->arena, c->work, inside, json_text_of(c->arena, from), NULL, to, c->e))
            return invalid(c, c->e->message);
        return ERR_OK;
    }
    static const uint8_t hash[2] = { 0, 0 };
    struct field only = *f;
    only.name = STR("v");
    only.shape = SHAPE_ONE;
    struct type around = { .name = STR("v"), .kind = STR("v"), .go_name = "v.v", .fields = &only, .n_fields = 1,
                           .hash = hash, .hash_bits = 1 };
    struct member member = { STR("v"), *from };
    struct value object = value_map(&member, 1), decoded;
    if (json_decode(c->arena, c->work, &around, json_text_of(c->arena, &object), NULL, &decoded, c->e))
        return invalid(c, c->e->message);
    *to = decoded.slots[0];
    return ERR_OK;
}

/* ---- One value, not null ---- */

static enum err_code convert_scalar(struct converter *c, const struct field *f, const struct value *from,
                                    struct value *to)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
        return convert_string(c, f, from, to);
    case KIND_BOOL:
        *to = *from;
        return from->kind == VALUE_BOOL ? ERR_OK : wrong_kind(c, "bool");
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
        return convert_int(c, f, from, to);
    case KIND_DOUBLE:
        return convert_double(c, from, to);
    case KIND_BYTES:
        return convert_bytes(c, from, to);
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return convert_time(c, f, from, to);
    case KIND_QUANTITY:
        return convert_quantity(c, from, to);
    case KIND_INT_OR_STRING:
        return convert_int_or_string(c, from, to);
    default: /* RAW, JSON, FIELDS_V1 */
        *to = value_raw(json_text_of(c->arena, from));
        return ERR_OK;
    }
}

static enum err_code convert_one(struct converter *c, const struct field *f, const struct value *from,
                                 struct value *to)
{
    const struct type *t = f->type;
    if (!t)
        return convert_scalar(c, f, from, to);
    if (t->flags & TYPE_WRAPPER)
        return convert_list(c, &t->fields[0], from, to);
    if (t->flags & TYPE_BY_SHAPE)
        return convert_by_shape(c, f, from, to);
    return convert_struct(c, t, from, to);
}

/* What null is as an element: lists and maps hold no pointers. */
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
        return value_int(0);
    case KIND_DOUBLE:
        return value_double(0);
    case KIND_QUANTITY:
        return value_string(STR("0"));
    case KIND_STRUCT:
        if (!(f->type->flags & (TYPE_WRAPPER | TYPE_BY_SHAPE)))
            return value_struct(a, f->type);
        break;
    default:
        break;
    }
    return (struct value){ 0 };
}

static enum err_code convert_element(struct converter *c, const struct field *f, const struct value *from,
                                     struct value *to)
{
    *to = zero_element(c->arena, f);
    return from->kind == VALUE_NULL ? ERR_OK : convert_one(c, f, from, to);
}

/* ---- Containers ---- */

static enum err_code enter(struct converter *c)
{
    if (c->n_levels == VALUE_DEPTH_MAX)
        return invalid(c, "exceeded max depth");
    c->n_levels++;
    return ERR_OK;
}

static enum err_code convert_list(struct converter *c, const struct field *f, const struct value *from,
                                  struct value *to)
{
    if (from->kind != VALUE_LIST)
        return err_set(c->e, ERR_INVALID, "cannot restore slice from %s", go_kind(from));
    if (enter(c))
        return c->e->code;
    *to = value_list(arena_alloc(c->arena, from->n * sizeof(struct value)), from->n);
    size_t before = c->path.n;
    for (uint32_t i = 0; i < from->n; i++) {
        if (c->findings)
            strbuf_printf(&c->path, "[%u]", i);
        if (convert_element(c, f, &from->items[i], &to->items[i]))
            return c->e->code;
        c->path.n = before;
    }
    c->n_levels--;
    return ERR_OK;
}

static enum err_code convert_map(struct converter *c, const struct field *f, const struct value *from,
                                 struct value *to)
{
    if (from->kind != VALUE_MAP)
        return err_set(c->e, ERR_INVALID, "cannot restore map from %s", go_kind(from));
    if (enter(c))
        return c->e->code;
    *to = value_map(arena_alloc(c->arena, from->n * sizeof(struct member)), from->n);
    for (uint32_t i = 0; i < from->n; i++) {
        to->members[i].key = from->members[i].key;
        if (convert_element(c, f, &from->members[i].value, &to->members[i].value))
            return c->e->code;
    }
    c->n_levels--;
    return ERR_OK;
}

static size_t push_name(struct converter *c, struct str name)
{
    size_t before = c->path.n;
    if (before)
        strbuf_add_char(&c->path, '.');
    strbuf_add_str(&c->path, name);
    return before;
}

static enum err_code convert_field(struct converter *c, const struct field *f, const struct value *from,
                                   struct value *to)
{
    if (from->kind == VALUE_NULL)
        return ERR_OK;
    size_t before = c->findings ? push_name(c, f->name) : 0;
    enum err_code rc = f->shape == SHAPE_LIST  ? convert_list(c, f, from, to)
                       : f->shape == SHAPE_MAP ? convert_map(c, f, from, to)
                                               : convert_one(c, f, from, to);
    c->path.n = before;
    return rc;
}

static void find_unknown(struct converter *c, const struct type *t, const struct value *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        struct str name = from->members[i].key;
        if (schema_slot(t, name) >= 0)
            continue;
        size_t before = push_name(c, name);
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&text, "unknown field \"");
        strbuf_add_str(&text, strbuf_str(&c->path));
        strbuf_add_char(&text, '"');
        texts_add(c->findings, strbuf_str(&text));
        strbuf_fini(&text);
        c->path.n = before;
    }
}

static enum err_code convert_struct(struct converter *c, const struct type *t, const struct value *from,
                                    struct value *to)
{
    if (from->kind != VALUE_MAP)
        return err_set(c->e, ERR_INVALID, "cannot restore struct from: %s", go_kind(from));
    if (enter(c))
        return c->e->code;
    *to = value_struct(c->arena, t);
    for (unsigned i = 0; i < t->n_fields; i++) {
        const struct value *member = value_member(from, t->fields[i].name);
        if (member && convert_field(c, &t->fields[i], member, &to->slots[i]))
            return c->e->code;
    }
    if (c->findings)
        find_unknown(c, t, from);
    c->n_levels--;
    return ERR_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum err_code convert_plain(struct arena *a, struct work *work, const struct type *t, const struct value *plain,
                            struct texts *findings, struct value *ret_value, struct err *e)
{
    struct converter c = { .arena = a, .work = work, .findings = findings, .e = e };
    unsigned n_before = findings ? findings->n : 0;
    strbuf_init(&c.path, STRBUF_NO_MAX);
    enum err_code rc = convert_struct(&c, t, plain, ret_value);
    strbuf_fini(&c.path);
    if (findings && findings->n > n_before)
        qsort(findings->at + n_before, findings->n - n_before, sizeof(*findings->at), by_text);
    return rc;
}
