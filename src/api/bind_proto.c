/* api/bind_proto.c - input structs from protobuf; see bind.h.
 *
 * Fields mostly come in ascending order, so the search for a field's wire goes on where the last one ended. */
#include "api/bind_priv.h"
#include "api/time.h"

enum wire_type { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_GROUP, WIRE_END_GROUP, WIRE_FIXED32 };

enum { GROUP_DEPTH_MAX = 10000, VARINT_BYTES_MAX = 10 };

struct reader {
    const char *at, *end;
};

static bool malformed(struct bind_decoder *d, const char *what)
{
    (void)err_set(d->e, ERR_BAD_REQUEST, "protobuf: %s", what);
    return false;
}

static bool read_varint_slow(struct bind_decoder *d, struct reader *r, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX; i++) {
        if (r->at == r->end)
            return malformed(d, "unexpected end");
        uint8_t byte = (uint8_t)*r->at++;
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    return malformed(d, "integer overflow");
}

static inline bool read_varint(struct bind_decoder *d, struct reader *r, uint64_t *ret_value)
{
    if (r->at < r->end && !(*r->at & 0x80)) {
        *ret_value = (uint8_t)*r->at++;
        return true;
    }
    return read_varint_slow(d, r, ret_value);
}

static inline bool read_bytes(struct bind_decoder *d, struct reader *r, struct str *ret_bytes)
{
    uint64_t n;
    if (!read_varint(d, r, &n))
        return false;
    if (n > (uint64_t)(r->end - r->at))
        return malformed(d, "unexpected end");
    *ret_bytes = (struct str){ r->at, (size_t)n };
    r->at += n;
    return true;
}

/* One field number and wire type. */
static inline bool read_tag(struct bind_decoder *d, struct reader *r, uint32_t *ret_number, unsigned *ret_wire)
{
    uint64_t tag;
    if (!read_varint(d, r, &tag))
        return false;
    *ret_number = (uint32_t)(tag >> 3);
    *ret_wire = (unsigned)(tag & 7);
    return *ret_number ? true : malformed(d, "illegal tag 0");
}

static bool skip_fixed(struct bind_decoder *d, struct reader *r, size_t n)
{
    if ((size_t)(r->end - r->at) < n)
        return malformed(d, "unexpected end");
    r->at += n;
    return true;
}

static bool skip_one(struct bind_decoder *d, struct reader *r, unsigned wire)
{
    uint64_t number;
    struct str bytes;
    switch (wire) {
    case WIRE_VARINT:
        return read_varint(d, r, &number);
    case WIRE_FIXED64:
        return skip_fixed(d, r, 8);
    case WIRE_BYTES:
        return read_bytes(d, r, &bytes);
    case WIRE_FIXED32:
        return skip_fixed(d, r, 4);
    default:
        return malformed(d, "illegal wire type");
    }
}

/* A field of any kind; groups to their end. */
static bool skip_field(struct bind_decoder *d, struct reader *r, unsigned wire)
{
    if (wire == WIRE_END_GROUP)
        return malformed(d, "unexpected end of group");
    unsigned depth = 0;
    for (;;) {
        if (wire == WIRE_GROUP)
            depth++;
        else if (wire == WIRE_END_GROUP)
            depth--;
        else if (!skip_one(d, r, wire))
            return false;
        if (depth == 0)
            return true;
        if (depth > GROUP_DEPTH_MAX)
            return malformed(d, "groups are nested too deep");
        uint32_t number;
        if (!read_tag(d, r, &number, &wire))
            return false;
    }
}

/* ---- Messages with a form of their own ---- */

/* Fields 1 and 2 of a message of two integers: seconds and nanoseconds of a time. */
static bool read_time(struct bind_decoder *d, struct str message, bool micro, struct bind_time *time)
{
    struct reader r = { message.p, message.p + message.n };
    int64_t part[2] = { 0, 0 };
    while (r.at < r.end) {
        uint32_t number;
        unsigned wire;
        uint64_t value;
        if (!read_tag(d, &r, &number, &wire))
            return false;
        if (number > 2) {
            if (!skip_field(d, &r, wire))
                return false;
            continue;
        }
        if (wire != WIRE_VARINT)
            return malformed(d, "wrong wire type in a time");
        if (!read_varint(d, &r, &value))
            return false;
        part[number - 1] = (int64_t)value;
    }
    struct timestamp t = timestamp_unix(part[0], micro ? (int32_t)part[1] : 0);
    if (message.n == 0)
        t = TIMESTAMP_ZERO;
    *time = (struct bind_time){ t.seconds, t.nanos - t.nanos % 1000, true };
    return true;
}

/* Field 1 of a Quantity; an empty message is zero. */
static bool read_quantity(struct bind_decoder *d, struct str message, struct str *text)
{
    struct reader r = { message.p, message.p + message.n };
    *text = STR("0");
    while (r.at < r.end) {
        uint32_t number;
        unsigned wire;
        if (!read_tag(d, &r, &number, &wire))
            return false;
        bool wanted = number == 1 && wire == WIRE_BYTES;
        if (number == 1 && !wanted)
            return malformed(d, "wrong wire type in a quantity");
        if (wanted ? !read_bytes(d, &r, text) : !skip_field(d, &r, wire))
            return false;
    }
    return true;
}

/* Key and value of a map entry; either may be missing. `quantity`: the value is a message around its text. */
static bool read_entry(struct bind_decoder *d, struct str message, bool quantity, struct bind_pair *pair)
{
    struct reader r = { message.p, message.p + message.n };
    *pair = (struct bind_pair){ STR(""), quantity ? STR("0") : STR("") };
    while (r.at < r.end) {
        uint32_t number;
        unsigned wire;
        if (!read_tag(d, &r, &number, &wire))
            return false;
        if (number > 2) {
            if (!skip_field(d, &r, wire))
                return false;
            continue;
        }
        if (wire != WIRE_BYTES)
            return malformed(d, "wrong wire type in a map entry");
        if (!read_bytes(d, &r, number == 1 ? &pair->key : &pair->value))
            return false;
        if (number == 2 && quantity && !read_quantity(d, pair->value, &pair->value))
            return false;
    }
    return true;
}

/* Only the key: the value may be of any kind. */
static bool read_entry_key(struct bind_decoder *d, struct str message, struct str *key)
{
    struct reader r = { message.p, message.p + message.n };
    *key = STR("");
    while (r.at < r.end) {
        uint32_t number;
        unsigned wire;
        if (!read_tag(d, &r, &number, &wire))
            return false;
        bool wanted = number == 1 && wire == WIRE_BYTES;
        if (wanted ? !read_bytes(d, &r, key) : !skip_field(d, &r, wire))
            return false;
    }
    return true;
}

/* ---- Fields ---- */

static bool read_message(struct bind_decoder *d, const struct type *schema, const struct bind_type *t,
                         unsigned base, struct str message, char *into);

/* `bytes` is the content of a length-delimited field. */
static bool bind_bytes(struct bind_decoder *d, const struct bind_row *row, const struct field *field,
                       struct str bytes, char *at)
{
    struct bind_list *list = (struct bind_list *)at;
    void *item;
    switch ((enum bind_how)row->how) {
    case BIND_HOW_STR:
        *(struct str *)at = bytes;
        return true;
    case BIND_HOW_QUANTITY:
        return read_quantity(d, bytes, (struct str *)at);
    case BIND_HOW_TIME:
        return read_time(d, bytes, field->kind == KIND_MICRO_TIME, (struct bind_time *)at);
    case BIND_HOW_STRUCT:
        return read_message(d, row->sub->type, row->sub, 0, bytes, at);
    case BIND_HOW_POINTER:
        item = bind_pointee(d, (void **)at, row->sub);
        return item && read_message(d, row->sub->type, row->sub, 0, bytes, item);
    case BIND_HOW_LIST:
        list->given = true;
        item = bind_item(d, list, list->n, row->sub->n_bytes);
        return item && read_message(d, row->sub->type, row->sub, 0, bytes, item);
    case BIND_HOW_STRS:
        list->given = true;
        item = bind_item(d, list, list->n, sizeof(struct str));
        if (item)
            *(struct str *)item = bytes;
        return item != NULL;
    case BIND_HOW_MAP:
        list->given = true;
        item = bind_item(d, list, list->n, sizeof(struct bind_pair));
        return item && read_entry(d, bytes, field->kind == KIND_QUANTITY, item);
    case BIND_HOW_KEYS:
        list->given = true;
        item = bind_item(d, list, list->n, sizeof(struct str));
        return item && read_entry_key(d, bytes, item);
    default:
        return malformed(d, "wrong wire type");
    }
}

static bool bind_varint(struct bind_decoder *d, const struct bind_row *row, const struct field *field,
                        uint64_t value, char *at)
{
    switch ((enum bind_how)row->how) {
    case BIND_HOW_BOOL:
        *(bind_bool *)at = value ? 1 : -1;
        return true;
    case BIND_HOW_INT: {
        int64_t number = field->kind == KIND_INT32 ? (int32_t)value : (int64_t)value;
        *(struct bind_int *)at = (struct bind_int){ number, true };
        return true;
    }
    default:
        return malformed(d, "wrong wire type");
    }
}

static bool bind_field(struct bind_decoder *d, const struct bind_row *row, const struct field *field,
                       unsigned wire, struct reader *r, char *at)
{
    struct str bytes;
    uint64_t value;
    if (wire == WIRE_BYTES)
        return read_bytes(d, r, &bytes) && bind_bytes(d, row, field, bytes, at);
    if (wire == WIRE_VARINT)
        return read_varint(d, r, &value) && bind_varint(d, row, field, value, at);
    return malformed(d, "wrong wire type");
}

/* The wire with that number, or NULL. *cursor is where the last search ended. */
static inline const struct wire *find_wire(const struct type *t, uint32_t number, unsigned *cursor)
{
    unsigned i = *cursor;
    if (i < t->n_wires && t->wires[i].number > number)
        i = 0;
    while (i < t->n_wires && t->wires[i].number < number)
        i++;
    *cursor = i < t->n_wires ? i : 0;
    return i < t->n_wires && t->wires[i].number == number ? &t->wires[i] : NULL;
}

/* `schema` is the type of `t` or one embedded in it, whose fields begin at slot `base`. */
static bool read_message(struct bind_decoder *d, const struct type *schema, const struct bind_type *t,
                         unsigned base, struct str message, char *into)
{
    struct reader r = { message.p, message.p + message.n };
    unsigned cursor = 0;
    while (r.at < r.end) {
        uint32_t number;
        unsigned wire;
        if (!read_tag(d, &r, &number, &wire))
            return false;
        const struct wire *w = find_wire(schema, number, &cursor);
        unsigned slot = w ? base + w->slot : t->n_rows;
        if (w && w->inlined && wire == WIRE_BYTES) {
            struct str inner;
            if (!read_bytes(d, &r, &inner) || !read_message(d, w->inlined, t, slot, inner, into))
                return false;
        } else if (slot < t->n_rows && t->rows[slot].how != BIND_HOW_SKIP) {
            const struct bind_row *row = &t->rows[slot];
            if (!bind_field(d, row, &t->type->fields[slot], wire, &r, into + row->offset))
                return bind_in_field(d, t->type, slot);
        } else if (!skip_field(d, &r, wire)) {
            return false;
        }
    }
    return true;
}

enum err_code bind_proto(struct bind_decoder *d, const struct bind_type *t, struct str bytes, void *into)
{
    return read_message(d, t->type, t, 0, bytes, into) ? ERR_OK : d->e->code;
}
