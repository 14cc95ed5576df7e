/* api/bind_proto.c - input structs from protobuf; see bind.h. */
#include "api/bind_priv.h"
#include "api/proto_scan.h"
#include "api/time.h"

static bool scan_fault(struct bind_decoder *d, const struct proto_scan *s)
{
    (void)proto_scan_error(s, d->e);
    return false;
}

/* A tag that may stand in a message of type `name`. */
static inline bool next_tag(struct bind_decoder *d, struct proto_scan *s, struct str name)
{
    if (!proto_scan_tag(s))
        return scan_fault(d, s);
    if (proto_tag_ok(s))
        return true;
    (void)proto_tag_error(s, name, d->e);
    return false;
}

/* Nearly everything that is skipped is bytes. */
static inline bool skip(struct bind_decoder *d, struct proto_scan *s)
{
    struct str bytes;
    bool ok = s->wire_type == PROTO_BYTES ? proto_scan_bytes(s, &bytes) : proto_skip(s);
    return ok || scan_fault(d, s);
}

/* ---- Messages with a form of their own ---- */

/* Seconds and nanoseconds; an empty message is the zero time. */
static bool read_time(struct bind_decoder *d, struct str message, bool micro, struct bind_time *time)
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
    *time = (struct bind_time){ t.seconds, t.nanos - t.nanos % 1000, true };
    return true;
}

/* Fields 1 and 2 of a small message, which are bytes; others are skipped. The last one counts. */
static bool read_texts(struct bind_decoder *d, struct str message, struct str name, unsigned n_fields,
                       struct str *one, struct str *two)
{
    struct proto_scan s = proto_scan_init(message);
    while (s.at < s.end) {
        if (!next_tag(d, &s, name))
            return false;
        if ((unsigned)s.number > n_fields) {
            if (!proto_skip(&s))
                return scan_fault(d, &s);
            continue;
        }
        if (s.wire_type != PROTO_BYTES) {
            (void)proto_wire_type_error(&s, name, d->e);
            return false;
        }
        struct str bytes;
        if (!proto_scan_bytes(&s, &bytes))
            return scan_fault(d, &s);
        *(s.number == 1 ? one : two) = bytes;
    }
    return true;
}

/* An empty message is zero. */
static bool read_quantity(struct bind_decoder *d, struct str message, struct str *text)
{
    *text = STR("0");
    return read_texts(d, message, STR("Quantity"), 1, text, NULL);
}

/* Key and value of a map entry; either may be missing. `quantity`: the value is a message around its text. */
static bool read_entry(struct bind_decoder *d, struct str message, bool quantity, struct bind_pair *pair)
{
    *pair = (struct bind_pair){ STR(""), STR("") };
    if (!read_texts(d, message, STR("MapEntry"), 2, &pair->key, &pair->value))
        return false;
    return !quantity || read_quantity(d, pair->value, &pair->value);
}

/* Only the key: the value may be of any kind. */
static bool read_entry_key(struct bind_decoder *d, struct str message, struct str *key)
{
    struct proto_scan s = proto_scan_init(message);
    *key = STR("");
    while (s.at < s.end) {
        if (!next_tag(d, &s, STR("MapEntry")))
            return false;
        bool wanted = s.number == 1 && s.wire_type == PROTO_BYTES;
        if (wanted ? !proto_scan_bytes(&s, key) : !proto_skip(&s))
            return scan_fault(d, &s);
    }
    return true;
}

/* ---- Fields ---- */

static bool read_message(struct bind_decoder *d, const struct type *schema, const struct bind_type *t,
                         unsigned base, struct str message, char *into);

static void *add_item(struct bind_decoder *d, struct bind_list *list, size_t size)
{
    list->given = true;
    return bind_item(d, list, list->n, size);
}

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
        item = add_item(d, list, row->sub->n_bytes);
        return item && read_message(d, row->sub->type, row->sub, 0, bytes, item);
    case BIND_HOW_STRS:
        item = add_item(d, list, sizeof(struct str));
        if (item)
            *(struct str *)item = bytes;
        return item != NULL;
    case BIND_HOW_MAP:
        item = add_item(d, list, sizeof(struct bind_pair));
        return item && read_entry(d, bytes, field->kind == KIND_QUANTITY, item);
    case BIND_HOW_KEYS:
        item = add_item(d, list, sizeof(struct str));
        return item && read_entry_key(d, bytes, item);
    default:
        return false;
    }
}

static void bind_varint(const struct bind_row *row, const struct field *field, uint64_t value, char *at)
{
    if (row->how == BIND_HOW_BOOL) {
        *(bind_bool *)at = value ? 1 : -1;
        return;
    }
    int64_t number = field->kind == KIND_INT32 ? (int32_t)value : (int64_t)value;
    *(struct bind_int *)at = (struct bind_int){ number, true };
}

static bool bind_field(struct bind_decoder *d, const struct bind_row *row, const struct field *field,
                       struct proto_scan *s, char *at)
{
    bool is_varint = row->how == BIND_HOW_BOOL || row->how == BIND_HOW_INT;
    if (s->wire_type != (is_varint ? PROTO_VARINT : PROTO_BYTES)) {
        (void)proto_wire_type_error(s, field->name, d->e);
        return false;
    }
    struct str bytes;
    if (row->how == BIND_HOW_STR && proto_scan_bytes(s, &bytes)) { /* most fields are */
        *(struct str *)at = bytes;
        return true;
    }
    if (!is_varint)
        return (proto_scan_bytes(s, &bytes) || scan_fault(d, s)) && bind_bytes(d, row, field, bytes, at);
    uint64_t value;
    if (!proto_scan_varint(s, &value))
        return scan_fault(d, s);
    bind_varint(row, field, value, at);
    return true;
}

static bool read_inlined(struct bind_decoder *d, const struct wire *w, const struct bind_type *t, unsigned base,
                         struct proto_scan *s, char *into)
{
    struct str inner;
    if (!proto_scan_bytes(s, &inner))
        return scan_fault(d, s);
    return read_message(d, w->inlined, t, base, inner, into);
}

/* `schema` is the type of `t` or one embedded in it, whose fields begin at slot `base`. */
static bool read_message(struct bind_decoder *d, const struct type *schema, const struct bind_type *t,
                         unsigned base, struct str message, char *into)
{
    struct proto_scan s = proto_scan_init(message);
    while (s.at < s.end) {
        if (!next_tag(d, &s, schema->kind))
            return false;
        const struct wire *w = schema_wire(schema, (uint32_t)s.number);
        unsigned slot = w ? base + w->slot : t->n_rows;
        if (w && w->inlined && s.wire_type == PROTO_BYTES) {
            if (!read_inlined(d, w, t, slot, &s, into))
                return false;
        } else if (slot < t->n_rows && t->rows[slot].how != BIND_HOW_SKIP) {
            const struct bind_row *row = &t->rows[slot];
            if (!bind_field(d, row, &t->type->fields[slot], &s, into + row->offset))
                return bind_in_field(d, t->type, slot);
        } else if (!skip(d, &s)) {
            return false;
        }
    }
    return true;
}

enum err_code bind_proto(struct bind_decoder *d, const struct bind_type *t, struct str bytes, void *into)
{
    return read_message(d, t->type, t, 0, bytes, into) ? ERR_OK : d->e->code;
}
