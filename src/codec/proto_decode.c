/* codec/proto_decode.c - see proto.h.
 *
 * One pass over the bytes. Lists and maps grow by doubling: their capacity is the next power of two. A
 * map whose entries come out of order is sorted at the very end, once, however often a hostile input
 * comes back to it.
 *
 * What nests are a few functions with small frames: the scanner is one for all, and what has locals to
 * take the address of stands in functions marked LEAF.
 *
 * Normal form: of a field that is not a pointer, zero is left absent, as JSON would leave it out. */
#include <string.h>

#include "api/quantity.h"
#include "api/time.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "codec/proto.h"
#include "codec/proto_scan.h"

/* Memory for structs is bounded by the length of the input: an empty message takes two bytes there and
 * up to a thousand here. Real objects stay below three slots a byte. */
enum { SLOTS_FREE = 1 << 16, SLOTS_PER_BYTE = 8 };

#define LEAF __attribute__((noinline))

/* While decoding: a map that is in `unsorted`. */
enum { MAP_UNSORTED = VALUE_STRUCT + 1 };

struct unsorted {
    struct value *map; /* a slot: those do not move */
    struct unsorted *next;
};

struct decoder {
    struct proto_scan scan; /* its end is that of the message at hand */
    struct arena *arena;
    struct work *work;
    struct err *e;
    struct unsorted *unsorted;
    size_t slots_left;
    unsigned depth;     /* of structs, lists and maps: as JSON would nest */
    unsigned envelopes; /* objects inside of raw fields */
};

/* The rest of the bytes up to `end`. */
static enum err_code decode_message(struct decoder *d, const struct type *t, struct value *slots,
                                    const char *end);

static bool by_value(const struct field *f)
{
    return f->shape == SHAPE_ONE && !(f->flags & FIELD_PTR);
}

static enum err_code enter(struct decoder *d)
{
    if (d->depth >= VALUE_DEPTH_MAX)
        return err_set(d->e, ERR_BAD_REQUEST, "proto: exceeded max depth of %d", VALUE_DEPTH_MAX);
    d->depth++;
    return ERR_OK;
}

/* --- kinds that are small messages --- */

static const struct proto_small timestamp_message = { STR("Timestamp"), 2, { PROTO_VARINT, PROTO_VARINT } };
static const struct proto_small quantity_message = { STR("Quantity"), 1, { PROTO_BYTES } };
static const struct proto_small int_or_string_message = {
    STR("IntOrString"), 3, { PROTO_VARINT, PROTO_VARINT, PROTO_BYTES }
};
static const struct proto_small raw_message = { STR("RawExtension"), 1, { PROTO_BYTES } };

LEAF static enum err_code decode_time(struct decoder *d, const struct field *f, struct value *v, struct str bytes)
{
    struct timestamp time = TIMESTAMP_ZERO;
    if (bytes.n) {
        struct proto_small_fields fields = { 0 };
        enum err_code rc = proto_scan_small(&timestamp_message, bytes, &fields, d->e);
        if (rc)
            return rc;
        int32_t nanos = (int32_t)(uint32_t)fields.ints[1];
        nanos = f->kind == KIND_TIME ? 0 : nanos / 1000 * 1000;
        time = timestamp_unix((int64_t)fields.ints[0], nanos);
    }
    bool absent = by_value(f) && timestamp_is_zero(time);
    *v = absent ? (struct value){ 0 } : value_time(time.seconds, (uint32_t)time.nanos);
    return ERR_OK;
}

LEAF static enum err_code decode_quantity(struct decoder *d, struct value *v, struct str bytes)
{
    struct proto_small_fields fields = { 0 };
    enum err_code rc = proto_scan_small(&quantity_message, bytes, &fields, d->e);
    if (rc)
        return rc;
    if (!fields.texts[0].p) { /* not there, which is not the same as empty */
        if (v->kind != VALUE_STRING)
            *v = value_string(STR("0"));
        return ERR_OK;
    }
    struct quantity q;
    rc = quantity_parse(d->arena, fields.texts[0], &q, d->e);
    if (rc)
        return rc;
    if (!work_take(d->work, q.n_digits))
        return work_error(d->e);
    *v = value_string(q.text.n ? q.text : quantity_text(d->arena, &q));
    return ERR_OK;
}

LEAF static enum err_code decode_int_or_string(struct decoder *d, struct value *v, struct str bytes)
{
    bool was_string = v->kind == VALUE_STRING;
    struct proto_small_fields fields = { .ints = { was_string, v->kind == VALUE_INT ? (uint64_t)v->i : 0 },
                                         .texts = { [2] = value_text(v) } };
    enum err_code rc = proto_scan_small(&int_or_string_message, bytes, &fields, d->e);
    if (rc)
        return rc;
    if (fields.ints[0] > 1)
        return err_set(d->e, ERR_BAD_REQUEST, "impossible IntOrString.Type");
    *v = fields.ints[0] ? value_string(fields.texts[2]) : value_int((int32_t)(uint32_t)fields.ints[1]);
    return ERR_OK;
}

/* --- raw JSON --- */

/* An object in an envelope becomes its JSON text. */
static enum err_code decode_nested(struct decoder *d, struct value *v, struct str envelope);

/* Compact and with the characters of HTML escaped; mostly it is that already. */
static struct str normal_json(struct decoder *d, struct str text)
{
    static const char odd[256] = { [' '] = 1, ['\t'] = 1, ['\n'] = 1, ['\r'] = 1,
                                   ['<'] = 1, ['>'] = 1,  ['&'] = 1,  [0xE2] = 1 };
    size_t at = 0;
    while (at < text.n && !odd[(unsigned char)text.p[at]])
        at++;
    if (at == text.n)
        return text;
    struct strbuf compact;
    strbuf_init(&compact, STRBUF_NO_MAX);
    json_compact(&compact, text);
    struct str copy = arena_str(d->arena, strbuf_str(&compact));
    strbuf_fini(&compact);
    return copy;
}

LEAF static enum err_code decode_raw(struct decoder *d, const struct field *f, struct value *v, struct str bytes)
{
    struct proto_small_fields fields = { .texts = { value_text(v) } };
    enum err_code rc = proto_scan_small(&raw_message, bytes, &fields, d->e);
    if (rc)
        return rc;
    struct str text = fields.texts[0];
    if (text.n == 0 || str_is(text, "null")) {
        *v = by_value(f) ? (struct value){ 0 } : value_raw(STR("null"));
        return ERR_OK;
    }
    if (f->kind == KIND_RAW && proto_is_envelope(text))
        return decode_nested(d, v, text);
    struct json_scan s = json_scan_init(text);
    s.depth = d->depth;
    if (!json_skip_value(&s) || !json_at_end(&s))
        return err_set(d->e, ERR_BAD_REQUEST, "proto: field %.*s holds no valid JSON", STR_ARG(f->name));
    *v = value_raw(normal_json(d, text));
    return ERR_OK;
}

/* --- structs --- */

static enum err_code decode_by_shape(struct decoder *d, const struct type *t, struct value *v, const char *end)
{
    bool or_bool = t->flags & TYPE_OBJECT_OR_BOOL;
    struct value *parts = ARENA_NEW_N(d->arena, struct value, 2);
    struct value *object = &parts[or_bool], *other = &parts[!or_bool];
    *(v->kind == VALUE_STRUCT ? object : other) = *v;
    enum err_code rc = decode_message(d, t, parts, end);
    if (rc)
        return rc;
    if (or_bool)
        *v = object->kind ? *object : value_bool(other->b);
    else
        *v = other->n || !object->kind ? value_list(other->items, other->n) : *object;
    return ERR_OK;
}

static enum err_code decode_wrapper(struct decoder *d, const struct type *t, struct value *v, const char *end)
{
    if (!v->kind)
        *v = value_list(NULL, 0);
    return decode_message(d, t, v, end);
}

static enum err_code new_struct(struct decoder *d, const struct type *t, struct value *v)
{
    if (t->n_fields > d->slots_left)
        return err_set(d->e, ERR_BAD_REQUEST, "proto: too many messages for the length of the input");
    d->slots_left -= t->n_fields;
    *v = value_struct(d->arena, t);
    return ERR_OK;
}

static enum err_code decode_struct(struct decoder *d, const struct type *t, struct value *v, const char *end)
{
    if (t->flags & TYPE_BY_SHAPE)
        return decode_by_shape(d, t, v, end);
    if (t->flags & TYPE_WRAPPER)
        return decode_wrapper(d, t, v, end);
    enum err_code rc = enter(d);
    if (!rc && v->kind != VALUE_STRUCT)
        rc = new_struct(d, t, v);
    if (!rc)
        rc = decode_message(d, t, v->slots, end);
    d->depth--;
    return rc;
}

/* --- fields --- */

/* A kind that is written as bytes but is no struct. Of no bytes at all it gives the zero value. */
LEAF static enum err_code decode_bytes(struct decoder *d, const struct field *f, struct value *v, struct str bytes)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
        *v = bytes.n == 0 && by_value(f) ? (struct value){ 0 } : value_string(bytes);
        return ERR_OK;
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return decode_time(d, f, v, bytes);
    case KIND_QUANTITY:
        return decode_quantity(d, v, bytes);
    case KIND_INT_OR_STRING:
        return decode_int_or_string(d, v, bytes);
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        return decode_raw(d, f, v, bytes);
    default:
        *v = value_bytes(bytes);
        return ERR_OK;
    }
}

/* A number or bool; `bits` are those of the varint or the double. */
LEAF static struct value scalar(const struct field *f, uint64_t bits)
{
    struct value v = value_int((int64_t)bits);
    switch ((enum field_kind)f->kind) {
    case KIND_BOOL:
        v = value_bool(bits != 0);
        break;
    case KIND_INT32:
        v.i = (int32_t)(uint32_t)bits;
        break;
    case KIND_UINT32:
        v.i = (uint32_t)bits;
        break;
    case KIND_DOUBLE:
        v.kind = VALUE_DOUBLE;
        memcpy(&v.d, &bits, sizeof(v.d));
        break;
    default:
        break;
    }
    bool zero = f->kind == KIND_BOOL ? !v.b : v.i == 0;
    return zero && by_value(f) ? (struct value){ 0 } : v;
}

LEAF static enum err_code decode_scalar(struct decoder *d, const struct field *f, struct value *v)
{
    struct proto_scan *s = &d->scan;
    uint64_t bits = 0;
    bool ok = f->kind == KIND_DOUBLE ? proto_scan_fixed64(s, &bits) : proto_scan_varint(s, &bits);
    if (!ok)
        return proto_scan_error(s, d->e);
    *v = scalar(f, bits);
    return ERR_OK;
}

static enum err_code decode_one(struct decoder *d, const struct field *f, struct value *v)
{
    struct proto_scan *s = &d->scan;
    if (proto_wire_type(f->kind) != PROTO_BYTES)
        return decode_scalar(d, f, v);
    const char *end = proto_scan_length(s);
    if (!end)
        return proto_scan_error(s, d->e);
    if (f->kind == KIND_STRUCT)
        return decode_struct(d, f->type, v, end);
    struct str bytes = str_range(s->at, end);
    s->at = end;
    return decode_bytes(d, f, v, bytes);
}

/* Room for one more element behind `n`; the capacity is the next power of two. */
static void *grow(struct arena *a, void *elements, uint32_t n, size_t size)
{
    if (n & (n - 1))
        return elements;
    void *more = arena_alloc(a, (n ? 2 * (size_t)n : 1) * size);
    if (n)
        memcpy(more, elements, n * size);
    return more;
}

static struct value *add_item(struct decoder *d, struct value *list)
{
    if (!list->kind)
        *list = value_list(NULL, 0);
    list->items = grow(d->arena, list->items, list->n, sizeof(*list->items));
    struct value *item = &list->items[list->n++];
    *item = (struct value){ 0 };
    return item;
}

/* A varint that begins inside of the packed bytes may end behind them, as in the generated code. */
LEAF static enum err_code decode_packed(struct decoder *d, const struct field *f, struct value *list)
{
    const char *end = proto_scan_length(&d->scan);
    if (!end)
        return proto_scan_error(&d->scan, d->e);
    while (d->scan.at < end) {
        enum err_code rc = decode_scalar(d, f, add_item(d, list));
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* Counts the member that stands behind the last one already. */
static void add_member(struct decoder *d, struct value *map)
{
    const struct member *added = &map->members[map->n++];
    bool ascends = map->n == 1 || str_cmp(added[-1].key, added->key) < 0;
    if (ascends || map->kind == MAP_UNSORTED)
        return;
    struct unsorted *u = ARENA_NEW(d->arena, struct unsorted);
    *u = (struct unsorted){ map, d->unsorted };
    d->unsorted = u;
    map->kind = MAP_UNSORTED;
}

static enum err_code zero_value(struct decoder *d, const struct field *f, struct value *v)
{
    if (f->kind == KIND_STRUCT)
        return decode_struct(d, f->type, v, d->scan.at);
    if (proto_wire_type(f->kind) == PROTO_BYTES)
        return decode_bytes(d, f, v, (struct str){ NULL, 0 });
    struct value zero = scalar(f, 0);
    *v = zero;
    return ERR_OK;
}

static enum err_code decode_entry_part(struct decoder *d, const struct field *f, struct member *m,
                                       const char *entry_end)
{
    struct proto_scan *s = &d->scan;
    if (s->number == 2) {
        m->value = (struct value){ 0 };
        return decode_one(d, f, &m->value);
    }
    bool ok = s->number == 1 ? proto_scan_bytes(s, &m->key) : proto_skip(s) && s->at <= entry_end;
    return ok ? ERR_OK : proto_scan_error(s, d->e);
}

/* Behind an entry whose key or value reaches past its end: what they have in common with the next fields is read
 * again. Entries can nest, so that would double with each level. */
static enum err_code go_back(struct decoder *d, const char *end)
{
    uint64_t n_again = (uint64_t)(d->scan.at - end);
    d->scan.at = end;
    return work_take(d->work, n_again * PROTO_AGAIN_WEIGHT) ? ERR_OK : work_error(d->e);
}

/* As in the generated code, key and value may be missing or reach past the entry, and their wire types are
 * not looked at. */
static enum err_code decode_entry(struct decoder *d, const struct field *f, struct value *map)
{
    struct proto_scan *s = &d->scan;
    const char *end = proto_scan_length(s);
    if (!end)
        return proto_scan_error(s, d->e);
    if (!map->kind)
        *map = value_map(NULL, 0);
    map->members = grow(d->arena, map->members, map->n, sizeof(*map->members));
    struct member *m = &map->members[map->n];
    *m = (struct member){ 0 };
    while (s->at < end) {
        if (!proto_scan_tag(s))
            return proto_scan_error(s, d->e);
        enum err_code rc = decode_entry_part(d, f, m, end);
        if (rc)
            return rc;
    }
    enum err_code rc = go_back(d, end);
    if (rc)
        return rc;
    rc = m->value.kind ? ERR_OK : zero_value(d, f, &m->value);
    if (!rc)
        add_member(d, map);
    return rc;
}

static enum err_code decode_field(struct decoder *d, const struct field *f, struct value *v)
{
    enum proto_wire_type want = f->shape == SHAPE_MAP ? PROTO_BYTES : proto_wire_type(f->kind);
    if (d->scan.wire_type != want) {
        if (d->scan.wire_type == PROTO_BYTES && f->shape == SHAPE_LIST)
            return decode_packed(d, f, v);
        return proto_wire_type_error(&d->scan, f->name, d->e);
    }
    if (f->shape == SHAPE_ONE)
        return decode_one(d, f, v);
    enum err_code rc = enter(d);
    if (rc)
        return rc;
    rc = f->shape == SHAPE_LIST ? decode_one(d, f, add_item(d, v)) : decode_entry(d, f, v);
    d->depth--;
    return rc;
}

static enum err_code decode_inlined(struct decoder *d, const struct wire *w, struct value *slots)
{
    if (d->scan.wire_type != PROTO_BYTES)
        return proto_wire_type_error(&d->scan, w->inlined->kind, d->e);
    const char *end = proto_scan_length(&d->scan);
    return end ? decode_message(d, w->inlined, &slots[w->slot], end) : proto_scan_error(&d->scan, d->e);
}

/* What follows a tag. */
static enum err_code decode_wire(struct decoder *d, const struct type *t, struct value *slots)
{
    uint32_t number = (uint32_t)d->scan.number;
    unsigned slot = schema_slot_of_number(t, number);
    if (slot == SLOT_NONE)
        return proto_skip(&d->scan) ? ERR_OK : proto_scan_error(&d->scan, d->e);
    if (slot == SLOT_INLINED)
        return decode_inlined(d, schema_inlined(t, number), slots);
    return decode_field(d, &t->fields[slot], &slots[slot]);
}

static enum err_code decode_message(struct decoder *d, const struct type *t, struct value *slots,
                                    const char *end)
{
    const char *outer_end = d->scan.end;
    d->scan.end = end;
    while (d->scan.at < end) {
        if (!proto_scan_tag(&d->scan))
            return proto_scan_error(&d->scan, d->e);
        if (!proto_tag_ok(&d->scan))
            return proto_tag_error(&d->scan, t->kind, d->e);
        enum err_code rc = decode_wire(d, t, slots);
        if (rc)
            return rc;
    }
    d->scan.end = outer_end;
    return ERR_OK;
}

static void sort_maps(struct decoder *d)
{
    for (struct unsorted *u = d->unsorted; u; u = u->next) {
        u->map->kind = VALUE_MAP;
        u->map->n = value_sort_members(u->map->members, u->map->n);
    }
    d->unsorted = NULL;
}

static enum err_code decode_root(struct decoder *d, const struct type *t, struct str bytes,
                                 struct value *ret_value)
{
    if (t->flags & TYPE_JSON_ONLY)
        return err_set(d->e, ERR_NOT_ACCEPTABLE,
                       "object *%s does not implement the protobuf marshalling interface and cannot be encoded "
                       "to a protobuf message",
                       t->go_name);
    struct value v = { 0 };
    d->scan = proto_scan_init(bytes);
    enum err_code rc = decode_struct(d, t, &v, d->scan.end);
    if (rc)
        return rc;
    sort_maps(d);
    *ret_value = v;
    return ERR_OK;
}

/* The default counts where no version was given, or one that cannot be read (with two slashes). */
static struct str object_api_version(struct str given, struct str fallback)
{
    struct str group, version;
    schema_split_api_version(given, &group, &version);
    bool readable = version.n && str_index(version, '/') == version.n;
    if (!readable && fallback.n)
        return fallback;
    return group.n ? given : version;
}

static enum err_code object_type(struct str api_version, struct str kind, const struct type **ret_type,
                                 struct err *e)
{
    struct str group, version;
    schema_split_api_version(api_version, &group, &version);
    const struct type *t = schema_object_type(api_version, kind);
    api_version = err_shown(e, api_version);
    kind = err_shown(e, kind);
    if (kind.n == 0)
        return err_set(e, ERR_BAD_REQUEST,
                       "Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:\"%.*s\", Kind:\"\"}'",
                       STR_ARG(api_version));
    if (version.n == 0)
        return err_set(e, ERR_BAD_REQUEST,
                       "Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"%.*s\"}'",
                       STR_ARG(kind));
    if (!t)
        return err_set(e, ERR_BAD_REQUEST,
                       "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                       "\"pkg/api/legacyscheme/scheme.go:30\"",
                       STR_ARG(kind), STR_ARG(api_version));
    *ret_type = t;
    return ERR_OK;
}

static enum err_code decode_object(struct decoder *d, struct str bytes, struct str default_api_version,
                                   struct str default_kind, const struct type **ret_type,
                                   struct value *ret_value)
{
    struct proto_envelope envelope;
    enum err_code rc = proto_open(bytes, &envelope, d->e);
    if (rc)
        return rc;
    struct str api_version = object_api_version(envelope.api_version, default_api_version);
    struct str kind = envelope.kind.n ? envelope.kind : default_kind;
    const struct type *t = NULL;
    rc = object_type(api_version, kind, &t, d->e);
    if (rc)
        return rc;
    rc = decode_root(d, t, envelope.raw, ret_value);
    if (rc)
        return rc;
    ret_value->slots[SLOT_API_VERSION] = value_string(api_version);
    ret_value->slots[SLOT_KIND] = value_string(kind);
    *ret_type = t;
    return ERR_OK;
}

LEAF static enum err_code decode_nested(struct decoder *d, struct value *v, struct str envelope)
{
    struct decoder inner = *d;
    inner.unsorted = NULL;
    if (++inner.envelopes > PROTO_ENVELOPES_MAX)
        return err_set(d->e, ERR_BAD_REQUEST, "proto: exceeded max depth of %d objects", PROTO_ENVELOPES_MAX);
    const struct type *t = NULL;
    struct value object;
    enum err_code rc =
        decode_object(&inner, envelope, (struct str){ 0 }, (struct str){ 0 }, &t, &object);
    if (rc)
        return rc;
    d->slots_left = inner.slots_left;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, t, &object);
    *v = value_raw(arena_str(d->arena, strbuf_str(&json)));
    bool enough = work_take(d->work, json.n);
    strbuf_fini(&json);
    return enough ? ERR_OK : work_error(d->e);
}

static struct decoder decoder_init(struct arena *a, struct work *work, struct str bytes, struct err *e)
{
    return (struct decoder){ .arena = a, .work = work, .e = e,
                             .slots_left = SLOTS_FREE + bytes.n * SLOTS_PER_BYTE };
}

enum err_code proto_decode(struct arena *a, struct work *work, const struct type *t, struct str bytes,
                           struct value *ret_value, struct err *e)
{
    if (work_begin(work, bytes.n, e))
        return e->code;
    struct decoder d = decoder_init(a, work, bytes, e);
    return decode_root(&d, t, bytes, ret_value);
}

enum err_code proto_decode_object(struct arena *a, struct work *work, struct str bytes,
                                  struct str default_api_version, struct str default_kind, const struct type **ret_type,
                                  struct value *ret_value, struct err *e)
{
    if (work_begin(work, bytes.n, e))
        return e->code;
    struct decoder d = decoder_init(a, work, bytes, e);
    return decode_object(&d, bytes, default_api_version, default_kind, ret_type, ret_value);
}
