/* codec/proto_scan.c - see proto_scan.h. */
#include "codec/proto_scan.h"

static bool fault(struct proto_scan *s, enum proto_fault what)
{
    s->fault = (uint8_t)what;
    return false;
}

bool proto_scan_varint_slow(struct proto_scan *s, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (s->at == s->end)
            return fault(s, PROTO_FAULT_END);
        unsigned char byte = (unsigned char)*s->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    return fault(s, PROTO_FAULT_OVERFLOW);
}

bool proto_scan_tag_slow(struct proto_scan *s)
{
    uint64_t tag;
    if (!proto_scan_varint_slow(s, &tag))
        return false;
    s->number = (int32_t)(uint32_t)(tag >> 3);
    s->wire_type = tag & 7;
    return true;
}

static bool advance(struct proto_scan *s, size_t n)
{
    if ((size_t)(s->end - s->at) < n)
        return fault(s, PROTO_FAULT_END);
    s->at += n;
    return true;
}

bool proto_scan_fixed64(struct proto_scan *s, uint64_t *ret_value)
{
    const char *at = s->at;
    if (!advance(s, 8))
        return false;
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | (unsigned char)at[i];
    *ret_value = value;
    return true;
}

const char *proto_scan_length_slow(struct proto_scan *s)
{
    uint64_t n = 0;
    if (!proto_scan_varint(s, &n))
        return NULL;
    if (n <= (uint64_t)(s->end - s->at))
        return s->at + n;
    fault(s, n > INT64_MAX ? PROTO_FAULT_LENGTH : PROTO_FAULT_END);
    return NULL;
}

/* What follows one tag; a group is only entered or left. */
static bool skip_one(struct proto_scan *s, size_t *depth)
{
    uint64_t value;
    struct str bytes;
    switch (s->wire_type) {
    case PROTO_VARINT:
        return proto_scan_varint(s, &value);
    case PROTO_FIXED64:
        return advance(s, 8);
    case PROTO_BYTES:
        return proto_scan_bytes(s, &bytes);
    case PROTO_GROUP:
        ++*depth;
        return true;
    case PROTO_GROUP_END:
        if (*depth == 0)
            return fault(s, PROTO_FAULT_GROUP_END);
        --*depth;
        return true;
    case PROTO_FIXED32:
        return advance(s, 4);
    default:
        return fault(s, PROTO_FAULT_WIRE_TYPE);
    }
}

bool proto_skip(struct proto_scan *s)
{
    size_t depth = 0;
    if (!skip_one(s, &depth))
        return false;
    while (depth > 0)
        if (!proto_scan_tag(s) || !skip_one(s, &depth))
            return false;
    return true;
}

enum err_code proto_scan_error(const struct proto_scan *s, struct err *e)
{
    static const char *const texts[] = {
        [PROTO_FAULT_END] = "unexpected EOF",
        [PROTO_FAULT_OVERFLOW] = "proto: integer overflow",
        [PROTO_FAULT_LENGTH] = "proto: negative length found during unmarshaling",
        [PROTO_FAULT_GROUP_END] = "proto: unexpected end of group",
    };
    if (s->fault == PROTO_FAULT_WIRE_TYPE)
        return err_set(e, ERR_BAD_REQUEST, "proto: illegal wireType %d", s->wire_type);
    return err_set(e, ERR_BAD_REQUEST, "%s", texts[s->fault]);
}

enum err_code proto_tag_error(const struct proto_scan *s, struct str message, struct err *e)
{
    if (s->wire_type == PROTO_GROUP_END)
        return err_set(e, ERR_BAD_REQUEST, "proto: %.*s: wiretype end group for non-group", STR_ARG(message));
    return err_set(e, ERR_BAD_REQUEST, "proto: %.*s: illegal tag %d (wire type %d)", STR_ARG(message),
                   s->number, s->wire_type);
}

enum err_code proto_wire_type_error(const struct proto_scan *s, struct str field, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, "proto: wrong wireType = %d for field %.*s", s->wire_type,
                   STR_ARG(field));
}

enum err_code proto_scan_small(const struct proto_small *m, struct str bytes, struct proto_small_fields *fields,
                               struct err *e)
{
    struct proto_scan s = proto_scan_init(bytes);
    while (s.at < s.end) {
        if (!proto_scan_tag(&s))
            return proto_scan_error(&s, e);
        if (!proto_tag_ok(&s))
            return proto_tag_error(&s, m->name, e);
        bool known = s.number <= m->n_fields, ok;
        unsigned i = known ? (unsigned)s.number - 1 : 0;
        if (known && s.wire_type != m->wire_types[i])
            return proto_wire_type_error(&s, m->name, e);
        if (!known)
            ok = proto_skip(&s);
        else if (s.wire_type == PROTO_VARINT)
            ok = proto_scan_varint(&s, &fields->ints[i]);
        else
            ok = proto_scan_bytes(&s, &fields->texts[i]);
        if (!ok)
            return proto_scan_error(&s, e);
    }
    return ERR_OK;
}
