/* forms/fill_proto.c - input structs from protobuf; see fill.h. */
#include "api/time.h"
#include "codec/proto_scan.h"
#include "forms/fill_priv.h"

static bool scan_fault(struct fill_decoder *d, const struct proto_scan *s)
{
    (void)proto_scan_error(s, d->e);
    return false;
}

/* A tag that may stand in a message of type `name`. */
static inline bool next_tag(struct fill_decoder *d, struct proto_scan *s, struct str name)
{
    if (!proto_scan_tag(s))
        return scan_fault(d, s);
    if (proto_tag_ok(s))
        return true;
    (void)proto_tag_error(s, name, d->e);
    return false;
}

/* ---- Fields as they come ---- */

/* A field of a message: its number, and its bytes or its value, as the wire type says. */
struct wire_field {
    const char *p, *next; /* next: where the field after it begins; NULL: an error is set */
    size_t n;
    uint64_t value;
    uint32_t number;
    uint8_t wire_type;
};

/* Any field, with every check. */
static struct wire_field any_field(struct fill_decoder *d, const char *at, const char *end, struct str name)
{
    struct proto_scan s = { .at = at, .end = end };
    struct wire_field f = { .next = NULL };
    if (!next_tag(d, &s, name))
        return f;
    f.number = (uint32_t)s.number;
    f.wire_type = s.wire_type;
    struct str bytes = { NULL, 0 };
    bool ok = s.wire_type == PROTO_BYTES ? proto_scan_bytes(&s, &bytes)
              : s.wire_type == PROTO_VARINT ? proto_scan_varint(&s, &f.value) : proto_skip(&s);
    if (!ok) {
        (void)scan_fault(d, &s);
        return f;
    }
    f.p = bytes.p;
    f.n = bytes.n;
    f.next = s.at;
    return f;
}

/* The same for most fields: a tag of one or two bytes, and a length, or a number, of one or two. */
__attribute__((always_inline)) static inline struct wire_field plain_field(struct fill_decoder *d, const char *at,
                                                                           const char *end, struct str name)
{
    const unsigned char *p = (const unsigned char *)at;
    if (end - at < 4)
        return any_field(d, at, end, name);
    unsigned tag = *p++;
    if (tag & 0x80)
        tag = (tag & 0x7f) | (unsigned)*p++ << 7; /* with more bytes it, or what follows, is too large */
    unsigned n = *p++;
    if (n & 0x80)
        n = (n & 0x7f) | (unsigned)*p++ << 7;
    struct wire_field f = { .next = (const char *)p, .value = n, .number = tag >> 3, .wire_type = tag & 7 };
    if (tag < 8 || (tag | n) >= 1 << 14)
        return any_field(d, at, end, name);
    if (f.wire_type == PROTO_VARINT)
        return f;
    if (f.wire_type != PROTO_BYTES || n > (size_t)(end - f.next))
        return any_field(d, at, end, name);
    f.p = f.next;
    f.n = n;
    f.next += n;
    return f;
}

/* The same for the bulk of them, inline: tag, and length or number, of one byte each. */
static inline struct wire_field next_field(struct fill_decoder *d, const char *at, const char *end,
                                           const struct str *name)
{
    if (end - at < 2)
        return any_field(d, at, end, *name);
    unsigned tag = (unsigned char)at[0], second = (unsigned char)at[1], number = tag >> 3;
    if ((tag | second) & 0x80 || number == 0)
        return plain_field(d, at, end, *name);
    if ((tag & 7) == PROTO_BYTES && second <= (size_t)(end - at - 2))
        return (struct wire_field){ .p = at + 2, .n = second, .next = at + 2 + second, .number = number,
                                    .wire_type = PROTO_BYTES };
    if ((tag & 7) == PROTO_VARINT)
        return (struct wire_field){ .value = second, .next = at + 2, .number = number, .wire_type = PROTO_VARINT };
    return any_field(d, at, end, *name);
}

static bool wire_type_fault(struct fill_decoder *d, const struct wire_field *f, struct str name)
{
    struct proto_scan s = { .number = (int32_t)f->number, .wire_type = f->wire_type };
    (void)proto_wire_type_error(&s, name, d->e);
    return false;
}

/* ---- Messages with a form of their own ---- */

/* Seconds and nanoseconds, which are long numbers; an empty message is the zero time. */
static bool read_time(struct fill_decoder *d, struct str message, bool micro, struct fill_time *time)
{
    struct proto_scan s = proto_scan_init(message);
    uint64_t seconds = 0, nanos = 0;
    while (s.at < s.end) {
        if (!next_tag(d, &s, STR("Timestamp")))
            return false;
        bool known = s.number <= 2;
        if (known && s.wire_type != PROTO_VARINT) {
            (void)proto_wire_type_error(&s, STR("Timestamp"), d->e);
            return false;
        }
        if (known ? !proto_scan_varint(&s, s.number == 1 ? &seconds : &nanos) : !proto_skip(&s))
            return scan_fault(d, &s);
    }
    struct timestamp t = timestamp_unix((int64_t)seconds, micro ? (int32_t)nanos : 0);
    if (message.n == 0)
        t = TIMESTAMP_ZERO;
    *time = (struct fill_time){ t.seconds, t.nanos - t.nanos % 1000, true };
    return true;
}

static const struct str quantity_name = STR("Quantity");

/* The last text counts; an empty message is zero. */
static bool read_quantity(struct fill_decoder *d, struct str message, struct str *text)
{
    const char *at = message.p, *end = at + message.n;
    *text = STR("0");
    while (at < end) {
        struct wire_field f = next_field(d, at, end, &quantity_name);
        if (!f.next)
            return false;
        at = f.next;
        if (f.number > 1)
            continue;
        if (f.wire_type != PROTO_BYTES)
            return wire_type_fault(d, &f, quantity_name);
        *text = (struct str){ f.p, f.n };
    }
    return true;
}

/* ---- Entries of maps ----
 *
 * As in the generated code, key and value may be missing or reach past the entry as far as the message goes, and
 * their wire types are not looked at. */

/* The value of an entry; NULL in place of `text` when only keys are asked for. */
static bool read_entry_value(struct fill_decoder *d, struct proto_scan *s, const struct field *field, struct str *text)
{
    struct str bytes;
    uint64_t bits;
    enum proto_wire_type wire_type = proto_wire_type(field->kind);
    bool ok = wire_type == PROTO_BYTES    ? proto_scan_bytes(s, &bytes)
              : wire_type == PROTO_VARINT ? proto_scan_varint(s, &bits)
                                          : proto_scan_fixed64(s, &bits);
    if (!ok)
        return scan_fault(d, s);
    if (!text || wire_type != PROTO_BYTES)
        return true;
    *text = bytes;
    return field->kind != KIND_QUANTITY || read_quantity(d, bytes, text);
}

/* Fields of an entry; `message_end` is that of the message around it. */
static bool read_entry(struct fill_decoder *d, const struct field *field, struct str entry, const char *message_end,
                       struct str *key, struct str *value)
{
    const char *end = entry.p + entry.n;
    struct proto_scan s = { .at = entry.p, .end = message_end };
    while (s.at < end) {
        if (!proto_scan_tag(&s))
            return scan_fault(d, &s);
        if (s.number == 2) {
            if (!read_entry_value(d, &s, field, value))
                return false;
        } else if (s.number == 1 ? !proto_scan_bytes(&s, key) : !proto_skip(&s) || s.at > end) {
            return scan_fault(d, &s);
        }
    }
    /* what lies behind the end is read again, as the next fields */
    if (work_take(d->work, (uint64_t)(s.at - end) * PROTO_AGAIN_WEIGHT))
        return true;
    (void)work_error(d->e);
    return false;
}

static bool read_pair(struct fill_decoder *d, const struct field *field, struct str entry, const char *message_end,
                      struct fill_pair *pair)
{
    *pair = (struct fill_pair){ STR(""), field->kind == KIND_QUANTITY ? STR("0") : STR("") };
    return read_entry(d, field, entry, message_end, &pair->key, &pair->value);
}

static bool read_key(struct fill_decoder *d, const struct field *field, struct str entry, const char *message_end,
                     struct str *key)
{
    *key = STR("");
    return read_entry(d, field, entry, message_end, key, NULL);
}

/* ---- Fields ---- */

static bool read_message(struct fill_decoder *d, const struct type *schema, const struct fill_type *t,
                         unsigned base, struct str message, char *into);

static void *add_item(struct fill_decoder *d, struct fill_list *list, size_t size)
{
    list->given = true;
    return fill_item(d, list, list->n, size);
}

/* `bytes` is the content of a length-delimited field of the message that ends at message_end. */
static bool fill_bytes(struct fill_decoder *d, const struct fill_row *row, const struct field *field,
                       struct str bytes, const char *message_end, char *at)
{
    struct fill_list *list = (struct fill_list *)at;
    void *item;
    switch ((enum fill_how)row->how) {
    case FILL_HOW_STR:
        *(struct str *)at = bytes;
        return true;
    case FILL_HOW_QUANTITY:
        return read_quantity(d, bytes, (struct str *)at);
    case FILL_HOW_TIME:
        return read_time(d, bytes, field->kind == KIND_MICRO_TIME, (struct fill_time *)at);
    case FILL_HOW_STRUCT:
        return read_message(d, row->sub->type, row->sub, 0, bytes, at);
    case FILL_HOW_POINTER:
        item = fill_pointee(d, (void **)at, row->sub);
        return item && read_message(d, row->sub->type, row->sub, 0, bytes, item);
    case FILL_HOW_LIST:
        item = add_item(d, list, row->sub->n_bytes);
        return item && read_message(d, row->sub->type, row->sub, 0, bytes, item);
    case FILL_HOW_STRS:
        item = add_item(d, list, sizeof(struct str));
        if (item)
            *(struct str *)item = bytes;
        return item != NULL;
    case FILL_HOW_MAP:
        item = add_item(d, list, sizeof(struct fill_pair));
        return item && read_pair(d, field, bytes, message_end, item);
    case FILL_HOW_KEYS:
        item = add_item(d, list, sizeof(struct str));
        return item && read_key(d, field, bytes, message_end, item);
    default:
        return false;
    }
}

static void fill_varint(const struct fill_row *row, const struct field *field, uint64_t value, char *at)
{
    if (row->how == FILL_HOW_BOOL) {
        *(fill_bool *)at = value ? 1 : -1;
        return;
    }
    int64_t number = field->kind == KIND_INT32 ? (int32_t)value : (int64_t)value;
    *(struct fill_int *)at = (struct fill_int){ number, true };
}

static bool fill_field(struct fill_decoder *d, const struct fill_row *row, const struct field *field,
                       const struct wire_field *f, const char *message_end, char *at)
{
    bool is_varint = row->how == FILL_HOW_BOOL || row->how == FILL_HOW_INT;
    if (f->wire_type != (is_varint ? PROTO_VARINT : PROTO_BYTES))
        return wire_type_fault(d, f, field->name);
    if (!is_varint)
        return fill_bytes(d, row, field, (struct str){ f->p, f->n }, message_end, at);
    fill_varint(row, field, f->value, at);
    return true;
}

static bool read_inlined(struct fill_decoder *d, const struct wire *w, const struct fill_type *t, unsigned base,
                         const struct wire_field *f, char *into)
{
    if (f->wire_type == PROTO_BYTES)
        return read_message(d, w->inlined, t, base + w->slot, (struct str){ f->p, f->n }, into);
    return wire_type_fault(d, f, w->inlined->kind);
}

/* `schema` is the type of `t` or one embedded in it, whose fields begin at slot `base`. The loop works on values alone:
 * what is behind pointers would be loaded again after every store into an input struct. */
static bool read_message(struct fill_decoder *d, const struct type *schema, const struct fill_type *t,
                         unsigned base, struct str message, char *into)
{
    const char *at = message.p, *end = at + message.n;
    while (at < end) {
        struct wire_field f = next_field(d, at, end, &schema->kind);
        if (!f.next)
            return false;
        at = f.next;
        unsigned slot = schema_slot_of_number(schema, f.number) + base;
        if (slot < t->n_rows) {
            const struct fill_row *row = &t->rows[slot];
            if (row->how == FILL_HOW_STR && f.wire_type == PROTO_BYTES) /* most fields are */
                *(struct str *)(into + row->offset) = (struct str){ f.p, f.n };
            else if (row->how != FILL_HOW_SKIP &&
                     !fill_field(d, row, &t->type->fields[slot], &f, end, into + row->offset))
                return fill_in_field(d, t->type, slot);
        } else if (slot == SLOT_INLINED + base) {
            if (!read_inlined(d, schema_inlined(schema, f.number), t, base, &f, into))
                return false;
        }
    }
    return true;
}

enum err_code fill_proto(struct fill_decoder *d, const struct fill_type *t, struct str bytes, void *into)
{
    return read_message(d, t->type, t, 0, bytes, into) ? ERR_OK : d->e->code;
}
