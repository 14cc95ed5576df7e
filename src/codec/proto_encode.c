/* codec/proto_encode.c - see proto.h.
 *
 * Written backwards: the length of a message stands before it and is known when it is there, so that one pass
 * is enough. The bytes grow down from the end of the buffer's room and are moved to the front once. */
#include <assert.h>

#include "api/time.h"
#include "codec/proto.h"
#include "codec/proto_scan.h"

/* Keeps its locals out of the frames of those functions that nest. */
#define LEAF __attribute__((noinline))

struct writer {
    struct strbuf *to;
    char *start;     /* of the free room */
    char *at, *end;  /* what is written */
    bool full;       /* past the buffer's maximum: nothing more is written */
};

static struct writer writer_init(struct strbuf *to)
{
    char *start = to->p ? to->p + to->n : NULL;
    char *end = to->p ? to->p + to->cap : NULL;
    return (struct writer){ .to = to, .start = start, .at = end, .end = end };
}

static size_t written(const struct writer *w)
{
    return (size_t)(w->end - w->at);
}

/* A larger buffer, with what is written at its end again. */
static bool more_room(struct writer *w, size_t n)
{
    size_t n_written = written(w), offset = n_written ? (size_t)(w->at - w->to->p) : 0;
    if (w->full || !strbuf_reserve_slow(w->to, n_written + n)) {
        w->full = true;
        w->start = w->at;
        return false;
    }
    w->start = w->to->p + w->to->n;
    w->end = w->to->p + w->to->cap;
    w->at = w->end - n_written;
    if (n_written)
        memmove(w->at, w->to->p + offset, n_written);
    return true;
}

static inline bool room(struct writer *w, size_t n)
{
    return (size_t)(w->at - w->start) >= n || more_room(w, n);
}

static void writer_done(struct writer *w)
{
    size_t n = written(w);
    if (w->full || n == 0)
        return;
    memmove(w->start, w->at, n);
    strbuf_commit(w->to, n);
}

/* --- pieces --- */

static void put_bytes(struct writer *w, const void *bytes, size_t n)
{
    if (n == 0 || !room(w, n))
        return;
    w->at -= n;
    memcpy(w->at, bytes, n);
}

static void put_long_varint(struct writer *w, uint64_t value)
{
    unsigned n_bits = 64 - (unsigned)__builtin_clzll(value | 1), n = (n_bits + 6) / 7;
    if (!room(w, n))
        return;
    char *at = w->at -= n;
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at = (char)value;
}

static inline void put_varint(struct writer *w, uint64_t value)
{
    if (value >= 0x80)
        put_long_varint(w, value);
    else if (room(w, 1))
        *--w->at = (char)value;
}

static inline void put_tag(struct writer *w, unsigned number, enum proto_wire_type wire_type)
{
    put_varint(w, number << 3 | (unsigned)wire_type);
}

/* With its length. */
static inline void put_text(struct writer *w, struct str s)
{
    put_bytes(w, s.p, s.n);
    put_varint(w, s.n);
}

/* The length of what was written since `before`. */
static inline void put_length(struct writer *w, size_t before)
{
    put_varint(w, written(w) - before);
}

/* --- kinds that are small messages, each with its length --- */

LEAF static void put_time(struct writer *w, const struct value *v, bool micro)
{
    struct timestamp time = { v->i, (int32_t)v->n };
    if (v->kind != VALUE_TIME || timestamp_is_zero(time)) {
        put_varint(w, 0);
        return;
    }
    size_t before = written(w);
    put_varint(w, micro ? v->n / 1000 * 1000 : 0);
    put_tag(w, 2, PROTO_VARINT);
    put_varint(w, (uint64_t)v->i);
    put_tag(w, 1, PROTO_VARINT);
    put_length(w, before);
}

LEAF static void put_quantity(struct writer *w, const struct value *v)
{
    size_t before = written(w);
    put_text(w, v->kind == VALUE_STRING ? value_text(v) : STR("0"));
    put_tag(w, 1, PROTO_BYTES);
    put_length(w, before);
}

LEAF static void put_int_or_string(struct writer *w, const struct value *v)
{
    size_t before = written(w);
    put_text(w, value_text(v));
    put_tag(w, 3, PROTO_BYTES);
    put_varint(w, v->kind == VALUE_INT ? (uint64_t)v->i : 0);
    put_tag(w, 2, PROTO_VARINT);
    put_varint(w, v->kind == VALUE_STRING);
    put_tag(w, 1, PROTO_VARINT);
    put_length(w, before);
}

/* null is a message without bytes. */
LEAF static void put_raw(struct writer *w, const struct value *v)
{
    struct str text = value_text(v);
    size_t before = written(w);
    if (text.n && !str_is(text, "null")) {
        put_text(w, text);
        put_tag(w, 1, PROTO_BYTES);
    }
    put_length(w, before);
}

/* --- structs and fields --- */

static void put_message(struct writer *w, const struct type *t, const struct value *slots);
static void put_field(struct writer *w, const struct field *f, const struct value *v);

static const struct value absent;

static void put_by_shape(struct writer *w, const struct type *t, const struct value *v)
{
    static const struct value allowed = { .kind = VALUE_BOOL, .b = true };
    bool or_bool = t->flags & TYPE_OBJECT_OR_BOOL, is_object = v->kind == VALUE_STRUCT;
    const struct field *object = &t->fields[or_bool], *other = &t->fields[!or_bool];
    if (is_object)
        put_field(w, object, v);
    if (or_bool)
        put_field(w, other, is_object ? &allowed : v);
    else if (!is_object)
        put_field(w, other, v);
}

static void put_struct(struct writer *w, const struct type *t, const struct value *v)
{
    size_t before = written(w);
    if (t->flags & TYPE_BY_SHAPE)
        put_by_shape(w, t, v);
    else if (t->flags & TYPE_WRAPPER)
        put_message(w, t, v); /* the list is its only slot */
    else
        put_message(w, t, v->kind == VALUE_STRUCT ? v->slots : NULL);
    put_length(w, before);
}

LEAF static void put_double(struct writer *w, double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(bits >> 8 * i);
    put_bytes(w, bytes, sizeof(bytes));
}

/* One value of the field's kind without its tag; an absent one as zero. */
static void put_value(struct writer *w, const struct field *f, const struct value *v)
{
    switch ((enum field_kind)f->kind) {
    case KIND_STRING:
    case KIND_BYTES:
        put_text(w, value_text(v));
        return;
    case KIND_BOOL:
        put_varint(w, v->kind == VALUE_BOOL && v->b);
        return;
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
        put_varint(w, v->kind == VALUE_INT ? (uint64_t)v->i : 0);
        return;
    case KIND_DOUBLE:
        put_double(w, v->kind == VALUE_DOUBLE ? v->d : 0);
        return;
    case KIND_TIME:
    case KIND_MICRO_TIME:
        put_time(w, v, f->kind == KIND_MICRO_TIME);
        return;
    case KIND_QUANTITY:
        put_quantity(w, v);
        return;
    case KIND_INT_OR_STRING:
        put_int_or_string(w, v);
        return;
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        put_raw(w, v);
        return;
    case KIND_STRUCT:
        put_struct(w, f->type, v);
        return;
    case KIND_FLOAT:
    case KIND_DURATION:
        return; /* configuration only: has no protobuf form */
    }
}

static void put_members(struct writer *w, const struct field *f, const struct value *map)
{
    for (uint32_t i = map->n; i-- > 0;) {
        const struct member *m = &map->members[i];
        size_t before = written(w);
        if (m->value.kind || f->kind != KIND_BYTES) {
            put_value(w, f, &m->value);
            put_tag(w, 2, proto_wire_type(f->kind));
        }
        put_text(w, m->key);
        put_tag(w, 1, PROTO_BYTES);
        put_length(w, before);
        put_tag(w, f->number, PROTO_BYTES);
    }
}

/* A field that is there, or is written in any case. */
static void put_field(struct writer *w, const struct field *f, const struct value *v)
{
    if (f->shape == SHAPE_ONE) {
        put_value(w, f, v);
        put_tag(w, f->number, proto_wire_type(f->kind));
    } else if (v->kind == VALUE_MAP) {
        put_members(w, f, v);
    } else if (v->kind == VALUE_LIST) {
        for (uint32_t i = v->n; i-- > 0;) {
            put_value(w, f, &v->items[i]);
            put_tag(w, f->number, proto_wire_type(f->kind));
        }
    }
}

/* Without slots: the zero value of the type. */
static void put_message(struct writer *w, const struct type *t, const struct value *slots)
{
    for (unsigned i = t->n_wires; i-- > 0;) {
        const struct wire *wire = &t->wires[i];
        const struct value *slot = slots ? &slots[wire->slot] : &absent;
        if (wire->inlined) {
            size_t before = written(w);
            put_message(w, wire->inlined, slots ? slot : NULL);
            put_length(w, before);
            put_tag(w, wire->number, PROTO_BYTES);
        } else if (slot->kind != VALUE_ABSENT || wire->when_absent) {
            put_field(w, &t->fields[wire->slot], slot);
        }
    }
}

/* --- whole things --- */

void proto_encode(struct strbuf *to, const struct type *t, const struct value *v)
{
    assert(!(t->flags & TYPE_JSON_ONLY));
    assert(v->kind == VALUE_STRUCT);
    struct writer w = writer_init(to);
    put_message(&w, t, v->slots);
    writer_done(&w);
}

void proto_encode_object(struct strbuf *to, const struct type *t, const struct value *v)
{
    assert(t->flags & TYPE_OBJECT);
    assert(!(t->flags & TYPE_JSON_ONLY));
    assert(v->kind == VALUE_STRUCT);
    struct writer w = writer_init(to);
    put_bytes(&w, "\x1a\0\"\0", 4); /* no content encoding and type */
    size_t before = written(&w);
    put_message(&w, t, v->slots);
    put_length(&w, before);
    put_tag(&w, 2, PROTO_BYTES);
    before = written(&w);
    put_text(&w, value_text(&v->slots[SLOT_KIND]));
    put_tag(&w, 2, PROTO_BYTES);
    put_text(&w, value_text(&v->slots[SLOT_API_VERSION]));
    put_tag(&w, 1, PROTO_BYTES);
    put_length(&w, before);
    put_tag(&w, 1, PROTO_BYTES);
    put_bytes(&w, "k8s\0", 4);
    writer_done(&w);
}

void proto_encode_watch_event(struct strbuf *to, struct str event_type, struct str object_envelope)
{
    struct writer w = writer_init(to);
    put_text(&w, object_envelope);
    put_tag(&w, 1, PROTO_BYTES);
    put_length(&w, 0);
    put_tag(&w, 2, PROTO_BYTES);
    put_text(&w, event_type);
    put_tag(&w, 1, PROTO_BYTES);
    uint32_t n = (uint32_t)written(&w);
    char length[4] = { (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };
    put_bytes(&w, length, sizeof(length));
    writer_done(&w);
}
