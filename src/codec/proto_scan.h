/* codec/proto_scan.h - reading protobuf bytes piece by piece, without a tree.
 *
 * What is accepted is what the generated code of the API server accepts: varints of up to ten bytes
 * whose excess bits fall away, field numbers cut to 32 bits, groups skipped whatever number their end
 * has. Nothing recurses.
 *
 * A scanner stops at the first fault and keeps which one it was; proto_scan_error words it.
 *
 * Thread: any; a scanner belongs to one. Slices point into the input. */
#pragma once

#include "api/schema.h"
#include "base/err.h"
#include "base/str.h"

enum proto_wire_type {
    PROTO_VARINT = 0,
    PROTO_FIXED64 = 1,
    PROTO_BYTES = 2,
    PROTO_GROUP = 3,
    PROTO_GROUP_END = 4,
    PROTO_FIXED32 = 5,
};

enum proto_fault {
    PROTO_FAULT_END,       /* bytes are missing */
    PROTO_FAULT_OVERFLOW,  /* a varint of more than ten bytes */
    PROTO_FAULT_LENGTH,    /* a length of 2^63 or more */
    PROTO_FAULT_GROUP_END, /* without a group */
    PROTO_FAULT_WIRE_TYPE, /* 6 or 7 */
};

struct proto_scan {
    const char *at, *end;
    int32_t number;    /* of the last tag: the field's, 0 or less in a broken one */
    uint8_t wire_type; /* of the last tag */
    uint8_t fault;     /* enum proto_fault, once something returned false */
};

static inline struct proto_scan proto_scan_init(struct str bytes)
{
    return (struct proto_scan){ .at = bytes.p, .end = bytes.n ? bytes.p + bytes.n : bytes.p };
}

/* Each consumes one piece; false on a fault. */
bool proto_scan_varint_slow(struct proto_scan *s, uint64_t *ret_value);
static inline bool proto_scan_varint(struct proto_scan *s, uint64_t *ret_value)
{
    if (s->at == s->end || (*s->at & 0x80))
        return proto_scan_varint_slow(s, ret_value);
    *ret_value = (uint64_t)*s->at++;
    return true;
}

bool proto_scan_tag_slow(struct proto_scan *s);
static inline bool proto_scan_tag(struct proto_scan *s)
{
    if (s->at == s->end || (*s->at & 0x80))
        return proto_scan_tag_slow(s);
    s->number = *s->at >> 3;
    s->wire_type = *s->at++ & 7;
    return true;
}

bool proto_scan_fixed64(struct proto_scan *s, uint64_t *ret_value);
/* A length; NULL or where that many bytes from here end. */
const char *proto_scan_length_slow(struct proto_scan *s);
static inline const char *proto_scan_length(struct proto_scan *s)
{
    if (s->at == s->end || (*s->at & 0x80) || s->end - s->at - 1 < *s->at)
        return proto_scan_length_slow(s);
    size_t n = (size_t)*s->at++;
    return s->at + n;
}
/* A length and that many bytes. Inline: a slice that comes back through memory is read in another width
 * than it was written, which stalls. */
static inline bool proto_scan_bytes(struct proto_scan *s, struct str *ret_bytes)
{
    const char *end = proto_scan_length(s);
    if (!end)
        return false;
    *ret_bytes = str_range(s->at, end);
    s->at = end;
    return true;
}
/* What follows a tag of s->wire_type; of a group also its end. */
bool proto_skip(struct proto_scan *s);

/* Whether the tag that was read may stand in a message: no end of a group, a number above 0. */
static inline bool proto_tag_ok(const struct proto_scan *s)
{
    return s->number > 0 && s->wire_type != PROTO_GROUP_END;
}

/* BAD_REQUEST with the generated code's texts: for the scanner's fault, for a tag that is not ok, and for a
 * wire type that the field does not have. */
enum err_code proto_scan_error(const struct proto_scan *s, struct err *e);
enum err_code proto_tag_error(const struct proto_scan *s, struct str message, struct err *e);
enum err_code proto_wire_type_error(const struct proto_scan *s, struct str field, struct err *e);

/* Bytes that are read again are charged as this many: values in memory are larger than on the wire. */
enum { PROTO_AGAIN_WEIGHT = 16 };

/* A message that has no table: its fields have the numbers 1 to n_fields and are varints or bytes. */
enum { PROTO_SMALL_FIELDS_MAX = 4 };
struct proto_small {
    struct str name;
    uint8_t n_fields, wire_types[PROTO_SMALL_FIELDS_MAX];
};
struct proto_small_fields { /* [number - 1] */
    uint64_t ints[PROTO_SMALL_FIELDS_MAX];
    struct str texts[PROTO_SMALL_FIELDS_MAX];
};
/* Overwrites those fields that are there, the last counts: messages given twice merge. */
enum err_code proto_scan_small(const struct proto_small *m, struct str bytes, struct proto_small_fields *fields,
                               struct err *e) ERR_MUST_CHECK;

/* How a value of an enum field_kind is written. */
static inline enum proto_wire_type proto_wire_type(unsigned kind)
{
    if (kind == KIND_DOUBLE)
        return PROTO_FIXED64;
    return kind >= KIND_BOOL && kind <= KIND_UINT32 ? PROTO_VARINT : PROTO_BYTES;
}

_Static_assert(KIND_BOOL < KIND_INT32 && KIND_INT32 < KIND_INT64 && KIND_INT64 < KIND_UINT32 &&
                   KIND_UINT32 - KIND_BOOL == 3,
               "varint kinds stand in a row");
