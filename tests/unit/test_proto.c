/* Protobuf: every kind both ways, what other writers send, what is refused, envelopes and watch frames.
 *
 * Bytes are written as hex digits; text between quotes stands for itself: "0a 03 'pod'". */
#include <stdlib.h>

#include "codec/json.h"
#include "codec/json_scan.h"
#include "codec/proto.h"
#include "tests/test.h"

static struct arena arena;
static struct err e;

static void set_up(void)
{
    arena_init(&arena);
    err_init(&e, &arena);
}

static struct str bytes_of(const char *text)
{
    char *bytes = arena_alloc(&arena, strlen(text) + 1);
    size_t n = 0;
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '\'')
            quoted = !quoted;
        else if (quoted)
            bytes[n++] = *text;
        else if (*text != ' ') {
            char digits[3] = { text[0], text[1], 0 };
            bytes[n++] = (char)strtol(digits, NULL, 16);
            text++;
        }
    }
    return (struct str){ bytes, n };
}

static struct str hex_of(struct str bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(&arena, bytes.n * 2 + 1);
    for (size_t i = 0; i < bytes.n; i++) {
        text[2 * i] = digits[(unsigned char)bytes.p[i] >> 4];
        text[2 * i + 1] = digits[bytes.p[i] & 15];
    }
    return (struct str){ text, bytes.n * 2 };
}

/* A copy of exact size on the heap, so that a sanitizer sees reads past the end. */
static struct str exact(struct str bytes)
{
    char *copy = malloc(bytes.n ? bytes.n : 1);
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    return (struct str){ copy, bytes.n };
}

static struct str json_of(const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t, v);
    struct str copy = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return copy;
}

static struct str proto_of(const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    proto_encode(&b, t, v);
    struct str copy = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return copy;
}

static const struct type *type_of(const char *name)
{
    const struct type *t = schema_type(str_of(name));
    if (!t)
        FAIL("no type %s", name);
    return t;
}

#define SCHEMA "apiextensions.k8s.io/v1.JSONSchemaProps"
#define REQUIREMENT "meta/v1.LabelSelectorRequirement"
#define SELECTOR "meta/v1.LabelSelector"
#define CONTEXT "core/v1.PodSecurityContext"
#define REFERENCE "core/v1.LocalObjectReference"

/* An empty ObjectMeta in field 1. */
#define META_BYTES "0a 10 0a 00 12 00 1a 00 22 00 2a 00 32 00 38 00 42 00"

/* --- JSON and canonical bytes are the same thing --- */

static const struct {
    const char *name, *type, *json, *bytes;
} canonical[] = {
    { "strings, also empty ones", "core/v1.LocalObjectReference", "{\"name\":\"a\"}", "0a 01 'a'" },
    { "an empty string is written", "core/v1.LocalObjectReference", "{}", "0a 00" },
    { "text that is not ASCII", "core/v1.LocalObjectReference", "{\"name\":\"\u00fc\"}", "0a 02 c3 bc" },
    { "a list of strings is left out when empty", "meta/v1.LabelSelectorRequirement",
      "{\"key\":\"\",\"operator\":\"\"}", "0a 00 12 00" },
    { "strings repeat", "meta/v1.LabelSelectorRequirement",
      "{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"a\",\"\"]}", "0a 01 'k' 12 02 'In' 1a 01 'a' 1a 00" },
    { "pointer to false is written", "core/v1.ConfigMapKeySelector",
      "{\"name\":\"n\",\"key\":\"k\",\"optional\":false}", "0a 03 0a 01 'n' 12 01 'k' 18 00" },
    { "pointer to zero is written", "core/v1.PodDNSConfigOption", "{\"name\":\"\",\"value\":\"\"}",
      "0a 00 12 00" },
    { "pointer to nothing is not", "core/v1.PodDNSConfigOption", "{}", "0a 00" },
    { "int32 below zero takes ten bytes", "core/v1.GRPCAction", "{\"port\":-1,\"service\":null}",
      "08 ff ff ff ff ff ff ff ff ff 01" },
    { "repeated int64 are not packed", "core/v1.PodSecurityContext",
      "{\"runAsUser\":9223372036854775807,\"supplementalGroups\":[1,-1,300]}",
      "10 ff ff ff ff ff ff ff ff 7f 20 01 20 ff ff ff ff ff ff ff ff ff 01 20 ac 02" },
    { "seconds and nanoseconds of the epoch", "storage.k8s.io/v1.VolumeError",
      "{\"time\":\"1970-01-01T00:00:00Z\"}", "0a 04 08 00 10 00 12 00" },
    { "a time that is not set", "storage.k8s.io/v1.VolumeError", "{\"time\":null}", "0a 00 12 00" },
    { "a time before 1970", "storage.k8s.io/v1.VolumeError", "{\"time\":\"1969-12-31T23:59:59Z\"}",
      "0a 0d 08 ff ff ff ff ff ff ff ff ff 01 10 00 12 00" },
    { "microseconds", "core/v1.EventSeries", "{\"lastObservedTime\":\"1970-01-01T00:00:01.000002Z\"}",
      "08 00 12 05 08 01 10 d0 0f" },
    { "quantities of a map", "core/v1.ResourceRequirements",
      "{\"limits\":{\"cpu\":\"100m\",\"memory\":\"1Gi\"}}",
      "0a 0d 0a 03 'cpu' 12 06 0a 04 '100m' 0a 0f 0a 06 'memory' 12 05 0a 03 '1Gi'" },
    { "a quantity that is no pointer", "core/v1.ResourceFieldSelector", "{\"resource\":\"\",\"divisor\":\"0\"}",
      "0a 00 12 00 1a 03 0a 01 '0'" },
    { "an intOrString with an int", "core/v1.TCPSocketAction", "{\"port\":80}", "0a 06 08 00 10 50 1a 00 12 00" },
    { "an intOrString with a text", "core/v1.TCPSocketAction", "{\"port\":\"http\"}",
      "0a 0a 08 01 10 00 1a 04 'http' 12 00" },
    { "raw JSON", "apps/v1.ControllerRevision", "{\"metadata\":{},\"data\":{\"a\":[1E2]},\"revision\":1}",
      "0a 10 0a 00 12 00 1a 00 22 00 2a 00 32 00 38 00 42 00 12 0d 0a 0b '{\"a\":[1E2]}' 18 01" },
    { "raw null", "apps/v1.ControllerRevision", "{\"metadata\":{},\"data\":null,\"revision\":0}",
      "0a 10 0a 00 12 00 1a 00 22 00 2a 00 32 00 38 00 42 00 12 00 18 00" },
    { "fieldsV1", "meta/v1.ManagedFieldsEntry", "{\"fieldsV1\":{\"f:a\":{}}}",
      "0a 00 12 00 1a 00 32 00 3a 0c 0a 0a '{\"f:a\":{}}' 42 00" },
    { "bytes", "certificates.k8s.io/v1.CertificateSigningRequestStatus", "{\"certificate\":\"AQI=\"}",
      "12 02 01 02" },
    { "empty bytes are written, absent ones are not", "apiregistration.k8s.io/v1.APIServiceSpec",
      "{\"groupPriorityMinimum\":0,\"versionPriority\":0}", "12 00 1a 00 20 00 38 00 40 00" },
    { "an embedded struct is a message", "core/v1.Volume", "{\"name\":\"v\",\"emptyDir\":{}}",
      "0a 01 'v' 12 04 12 02 0a 00" },
    { "a wrapper is a message around its list", "authentication.k8s.io/v1.UserInfo",
      "{\"extra\":{\"a\":[\"x\",\"y\"],\"b\":[]}}",
      "0a 00 12 00 22 0b 0a 01 'a' 12 06 0a 01 'x' 0a 01 'y' 22 05 0a 01 'b' 12 00" },
};

TEST(json_and_canonical_bytes_turn_into_each_other)
{
    set_up();
    for (size_t i = 0; i < sizeof(canonical) / sizeof(*canonical); i++) {
        const char *name = canonical[i].name;
        const struct type *t = type_of(canonical[i].type);
        struct value v;
        if (json_decode(&arena, WORK_OWN, t, str_of(canonical[i].json), NULL, &v, &e))
            FAIL("%s: %s", name, e.message);
        struct str want = bytes_of(canonical[i].bytes);
        CHECK_STR(name, hex_of(proto_of(t, &v)), hex_of(want));
        struct str json = json_of(t, &v), in = exact(want);
        if (proto_decode(&arena, WORK_OWN, t, in, &v, &e))
            FAIL("%s: %s", name, e.message);
        CHECK_STR(name, json_of(t, &v), json);
        CHECK_STR(name, hex_of(proto_of(t, &v)), hex_of(want));
        free((void *)(uintptr_t)in.p);
    }
    arena_fini(&arena);
}

/* What JSON can say and protobuf cannot. */
static const struct {
    const char *name, *type, *json, *bytes;
} lossy[] = {
    { "an empty list", REQUIREMENT, "{\"key\":\"k\",\"values\":[]}", "0a 01 'k' 12 00" },
    { "an empty map", SELECTOR, "{\"matchLabels\":{}}", "" },
    { "null in a map of bytes", "core/v1.ConfigMap", "{\"binaryData\":{\"a\":null,\"b\":\"\"}}",
      META_BYTES " 1a 03 0a 01 'a' 1a 05 0a 01 'b' 12 00" },
    { "fractions of a time", "storage.k8s.io/v1.VolumeError", "{\"time\":\"1970-01-01T00:00:01.5Z\"}",
      "0a 04 08 01 10 00 12 00" },
    { "the zero time, spelled out", "storage.k8s.io/v1.VolumeError", "{\"time\":\"0001-01-01T00:00:00Z\"}",
      "0a 00 12 00" },
};

TEST(json_that_protobuf_cannot_hold_is_cut)
{
    set_up();
    for (size_t i = 0; i < sizeof(lossy) / sizeof(*lossy); i++) {
        const struct type *t = type_of(lossy[i].type);
        struct value v;
        if (json_decode(&arena, WORK_OWN, t, str_of(lossy[i].json), NULL, &v, &e))
            FAIL("%s: %s", lossy[i].name, e.message);
        CHECK_STR(lossy[i].name, hex_of(proto_of(t, &v)), hex_of(bytes_of(lossy[i].bytes)));
    }
    arena_fini(&arena);
}

TEST(nanoseconds_are_cut_to_microseconds)
{
    set_up();
    const struct type *t = type_of("core/v1.EventSeries");
    struct value v;
    CHECK_INT("decode", proto_decode(&arena, WORK_OWN, t, bytes_of("12 05 08 01 10 dc 0b"), &v, &e), ERR_OK);
    CHECK_INT("nanoseconds", value_path(t, &v, "lastObservedTime")->n, 1000);
    v.slots[schema_slot(t, STR("lastObservedTime"))].n = 1999;
    CHECK_STR("bytes", hex_of(proto_of(t, &v)), hex_of(bytes_of("08 00 12 05 08 01 10 e8 07")));
    arena_fini(&arena);
}

/* The smallest schema is 30-odd bytes of empty strings and zeros: compare the interesting part alone. */
static const struct {
    const char *name, *json;
} schemas[] = {
    { "doubles", "{\"maximum\":1.5,\"minimum\":-0.0,\"multipleOf\":1e-300}" },
    { "any JSON as default", "{\"default\":[1,{\"a\":null},\"x\"],\"enum\":[null,1,\"a\"]}" },
    { "items is an object", "{\"items\":{\"type\":\"string\"}}" },
    { "items is a list", "{\"items\":[{\"type\":\"string\"},{}]}" },
    { "additional properties: true", "{\"additionalProperties\":true}" },
    { "additional properties: false", "{\"additionalProperties\":false}" },
    { "additional properties: a schema", "{\"additionalProperties\":{\"not\":{}}}" },
    { "dependencies of both shapes", "{\"dependencies\":{\"a\":[\"b\",\"c\"],\"d\":{\"type\":\"x\"}}}" },
    { "maps of schemas in schemas", "{\"properties\":{\"a\":{\"properties\":{\"b\":{}}},\"c\":{}}}" },
};

TEST(schemas_survive_both_ways)
{
    set_up();
    const struct type *t = type_of(SCHEMA);
    for (size_t i = 0; i < sizeof(schemas) / sizeof(*schemas); i++) {
        const char *name = schemas[i].name;
        struct value v, back;
        if (json_decode(&arena, WORK_OWN, t, str_of(schemas[i].json), NULL, &v, &e))
            FAIL("%s: %s", name, e.message);
        struct str bytes = proto_of(t, &v);
        if (proto_decode(&arena, WORK_OWN, t, bytes, &back, &e))
            FAIL("%s: %s", name, e.message);
        CHECK_STR(name, json_of(t, &back), json_of(t, &v));
        CHECK_STR(name, hex_of(proto_of(t, &back)), hex_of(bytes));
    }
    arena_fini(&arena);
}

/* --- what no Go server writes, but what it reads --- */

static const struct {
    const char *name, *type, *bytes, *json;
} foreign[] = {
    { "fields in any order", REQUIREMENT, "1a 01 'a' 12 02 'In' 0a 01 'k' 1a 01 'b'",
      "{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]}" },
    { "missing fields", REQUIREMENT, "", "{\"key\":\"\",\"operator\":\"\"}" },
    { "the last scalar counts", REFERENCE, "0a 01 'a' 0a 01 'b'", "{\"name\":\"b\"}" },
    { "also when it is empty", REFERENCE, "0a 01 'a' 0a 00", "{}" },
    { "unknown varint, fixed and bytes", REFERENCE,
      "f8 01 ff 01 f9 01 00 00 00 00 00 00 00 00 fd 01 00 00 00 00 fa 01 02 'xy' 0a 01 'a'", "{\"name\":\"a\"}" },
    { "unknown groups nest, their ends may have other numbers", REFERENCE,
      "fb 01 fb 01 08 01 84 02 12 01 'x' fc 01 0a 01 'a'", "{\"name\":\"a\"}" },
    { "field numbers are cut to 32 bits", REFERENCE, "8a 80 80 80 80 01 01 'a'", "{\"name\":\"a\"}" },
    { "varints with idle bytes", REFERENCE, "8a 00 81 80 00 'a'", "{\"name\":\"a\"}" },
    { "a varint of ten bytes loses its high bits", CONTEXT, "10 85 80 80 80 80 80 80 80 80 7e", "{\"runAsUser\":5}" },
    { "a message given twice is merged", "core/v1.SecurityContext",
      "1a 04 0a 02 'u1' 1a 04 12 02 'r1'", "{\"seLinuxOptions\":{\"user\":\"u1\",\"role\":\"r1\"}}" },
    { "packed numbers", CONTEXT, "22 03 01 ac 02 20 07", "{\"supplementalGroups\":[1,300,7]}" },
    { "no packed numbers", CONTEXT, "22 00", "{}" },
    { "a packed number may end behind the packed bytes", CONTEXT, "22 01 ac 02 20 07",
      "{\"supplementalGroups\":[300,7]}" },
    { "an int32 is cut to 32 bits", "core/v1.GRPCAction", "08 81 80 80 80 10", "{\"port\":1,\"service\":null}" },
    { "a bool is any varint but zero", "core/v1.ConfigMapKeySelector", "18 80 02",
      "{\"key\":\"\",\"optional\":true}" },
    { "map keys are sorted", SELECTOR, "0a 06 0a 01 'b' 12 01 '1' 0a 06 0a 01 'a' 12 01 '2'",
      "{\"matchLabels\":{\"a\":\"2\",\"b\":\"1\"}}" },
    { "the last entry of a key counts", SELECTOR,
      "0a 06 0a 01 'b' 12 01 '1' 0a 06 0a 01 'a' 12 01 '2' 0a 06 0a 01 'b' 12 01 '3'",
      "{\"matchLabels\":{\"a\":\"2\",\"b\":\"3\"}}" },
    { "an entry without a key", SELECTOR, "0a 03 12 01 '1'", "{\"matchLabels\":{\"\":\"1\"}}" },
    { "an entry without a value", SELECTOR, "0a 03 0a 01 'a'", "{\"matchLabels\":{\"a\":\"\"}}" },
    { "an empty entry", SELECTOR, "0a 00", "{\"matchLabels\":{\"\":\"\"}}" },
    { "an entry with its value first and unknown fields", SELECTOR, "0a 08 12 01 '1' 20 05 0a 01 'a'",
      "{\"matchLabels\":{\"a\":\"1\"}}" },
    { "a quantity without text in a map", "core/v1.ResourceRequirements", "0a 03 0a 01 'a'",
      "{\"limits\":{\"a\":\"0\"}}" },
    { "a quantity is brought into canonical form", "core/v1.ResourceFieldSelector", "1a 07 0a 05 '1000m'",
      "{\"resource\":\"\",\"divisor\":\"1\"}" },
    { "a quantity given twice, the second time empty", "core/v1.ResourceFieldSelector", "1a 03 0a 01 '5' 1a 00",
      "{\"resource\":\"\",\"divisor\":\"5\"}" },
    { "neither object nor list", SCHEMA, "c2 01 00", "{\"items\":null}" },
    { "a list goes before an object", SCHEMA, "c2 01 04 0a 00 12 00", "{\"items\":[{}]}" },
    { "neither object nor bool", SCHEMA, "f2 01 00", "{\"additionalProperties\":false}" },
    { "a map of wrappers without value", "authentication.k8s.io/v1.UserInfo", "22 03 0a 01 'a'",
      "{\"extra\":{\"a\":[]}}" },
    { "nanoseconds of a time do not count", "storage.k8s.io/v1.VolumeError", "0a 04 08 01 10 05",
      "{\"time\":\"1970-01-01T00:00:01Z\"}" },
    { "nanoseconds below zero count back", "core/v1.EventSeries",
      "12 0d 08 01 10 98 f8 ff ff ff ff ff ff ff 01", "{\"lastObservedTime\":\"1970-01-01T00:00:00.999999Z\"}" },
    { "nanoseconds above a second count on", "core/v1.EventSeries", "12 08 08 01 10 80 a8 d6 b9 07",
      "{\"lastObservedTime\":\"1970-01-01T00:00:03.000000Z\"}" },
    { "a pointer to the zero time is null", "meta/v1.ManagedFieldsEntry", "22 00", "{\"time\":null}" },
    { "an intOrString given twice is merged", "core/v1.TCPSocketAction", "0a 04 08 00 10 05 0a 05 08 01 1a 01 'x'",
      "{\"port\":\"x\"}" },
    { "raw JSON is made compact and safe for HTML", "apps/v1.ControllerRevision", "12 0d 0a 0b '{ \"a\": \"<\"}'",
      "{\"metadata\":{},\"data\":{\"a\":\"\\u003c\"},\"revision\":0}" },
    { "raw without bytes", "apps/v1.ControllerRevision", "12 02 0a 00",
      "{\"metadata\":{},\"data\":null,\"revision\":0}" },
    { "an object in a raw field becomes JSON", "meta/v1.WatchEvent",
      "0a 05 'ADDED' 12 1d 0a 1b 'k8s' 00 0a 0f 0a 02 'v1' 12 09 'ConfigMap' 12 00 1a 00 22 00",
      "{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{}}}" },
    { "text that is not UTF-8 stays", REFERENCE, "0a 01 ff", "{\"name\":\"\\ufffd\"}" },
};

TEST(reads_what_other_writers_send)
{
    set_up();
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        const char *name = foreign[i].name;
        const struct type *t = type_of(foreign[i].type);
        struct str in = exact(bytes_of(foreign[i].bytes));
        struct value v;
        if (proto_decode(&arena, WORK_OWN, t, in, &v, &e))
            FAIL("%s: %s", name, e.message);
        CHECK_STR(name, json_of(t, &v), str_of(foreign[i].json));
        free((void *)(uintptr_t)in.p);
    }
    arena_fini(&arena);
}

/* --- what is refused --- */

static const struct {
    const char *name, *type, *bytes, *message;
} broken[] = {
    { "tag cut off", REFERENCE, "8a", "unexpected EOF" },
    { "length cut off", REFERENCE, "0a", "unexpected EOF" },
    { "text cut off", REFERENCE, "0a 02 'a'", "unexpected EOF" },
    { "length past everything", REFERENCE, "0a ff ff ff ff ff ff ff ff 7f 'a'", "unexpected EOF" },
    { "length of 2^63 and more", REFERENCE, "0a ff ff ff ff ff ff ff ff ff 01 'a'",
      "proto: negative length found during unmarshaling" },
    { "varint of eleven bytes", CONTEXT, "10 80 80 80 80 80 80 80 80 80 80 00", "proto: integer overflow" },
    { "field number 0", REFERENCE, "02 01 'a'", "proto: LocalObjectReference: illegal tag 0 (wire type 2)" },
    { "field number below 0", REFERENCE, "fa ff ff ff 7f 01 'a'",
      "proto: LocalObjectReference: illegal tag -1 (wire type 2)" },
    { "end of a group without one", REFERENCE, "0c", "proto: LocalObjectReference: wiretype end group for non-group" },
    { "group without end", REFERENCE, "fb 01 08 01", "unexpected EOF" },
    { "wire type 6 in an unknown field", REFERENCE, "fe 01", "proto: illegal wireType 6" },
    { "wire type 7 in a group", REFERENCE, "fb 01 0f", "proto: illegal wireType 7" },
    { "unknown fixed32 cut off", REFERENCE, "fd 01 00 00 00", "unexpected EOF" },
    { "string as varint", REFERENCE, "08 01", "proto: wrong wireType = 0 for field name" },
    { "number as bytes", "core/v1.GRPCAction", "0a 01 01", "proto: wrong wireType = 2 for field port" },
    { "list of numbers as fixed64", CONTEXT, "21 00 00 00 00 00 00 00 00",
      "proto: wrong wireType = 1 for field supplementalGroups" },
    { "embedded message as varint", "core/v1.Volume", "10 01", "proto: wrong wireType = 0 for field VolumeSource" },
    { "double cut off", SCHEMA, "49 00 00 00 00 00 00 00", "unexpected EOF" },
    { "entry cut off", SELECTOR, "0a 06 0a 01 'a' 12 02 'b'", "unexpected EOF" },
    { "end of a group in an entry", SELECTOR, "0a 01 24", "proto: unexpected end of group" },
    { "unknown field that leaves its entry", SELECTOR, "0a 02 22 01 0a 00", "unexpected EOF" },
    { "quantity that is none", "core/v1.ResourceFieldSelector", "1a 03 0a 01 'x'", NULL },
    { "quantity that is empty", "core/v1.ResourceFieldSelector", "1a 02 0a 00", NULL },
    { "intOrString of a third type", "core/v1.TCPSocketAction", "0a 02 08 02", "impossible IntOrString.Type" },
    { "raw field that is no JSON", "apps/v1.ControllerRevision", "12 03 0a 01 '{'",
      "proto: field data holds no valid JSON" },
    { "raw field with more than one JSON", "apps/v1.ControllerRevision", "12 05 0a 03 '1 2'",
      "proto: field data holds no valid JSON" },
    { "type without a protobuf form", "meta/v1.Table", "",
      "object *v1.Table does not implement the protobuf marshalling interface and cannot be encoded to a protobuf "
      "message" },
};

TEST(refuses_what_is_broken)
{
    set_up();
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        const char *name = broken[i].name;
        struct str in = exact(bytes_of(broken[i].bytes));
        struct value v;
        if (!proto_decode(&arena, WORK_OWN, type_of(broken[i].type), in, &v, &e))
            FAIL("%s: was accepted", name);
        if (broken[i].message)
            CHECK_TEXT(name, e.message, broken[i].message);
        free((void *)(uintptr_t)in.p);
    }
    arena_fini(&arena);
}

/* --- limits --- */

static size_t varint(char *to, size_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (char)(value | 0x80);
    to[n++] = (char)value;
    return n;
}

/* `levels` messages in each other, each in the fields `numbers`, outermost first. */
static struct str nested(const char *numbers, unsigned levels)
{
    size_t n_numbers = strlen(numbers), cap = (size_t)levels * n_numbers * 8, n = 0;
    char *end = (char *)arena_alloc(&arena, cap) + cap;
    for (size_t i = levels * n_numbers; i-- > 0;) {
        char head[20];
        size_t n_head = varint(head, (unsigned)numbers[i % n_numbers] << 3 | 2);
        n_head += varint(head + n_head, n);
        n += n_head;
        memcpy(end - n, head, n_head);
    }
    return (struct str){ end - n, n };
}

enum { NOT = 28, ITEMS = 24, PROPERTIES = 29, ALL_OF = 25 };

static const struct {
    const char *name;
    char numbers[4];
    unsigned max; /* how many are accepted */
} deep[] = {
    { "struct in struct", { NOT }, VALUE_DEPTH_MAX - 1 },
    { "struct in a choice of shapes", { ITEMS, 1 }, VALUE_DEPTH_MAX - 1 },
    { "struct in list", { ALL_OF }, VALUE_DEPTH_MAX / 2 - 1 },
    { "struct in map", { PROPERTIES, 2 }, VALUE_DEPTH_MAX / 2 - 1 },
};

TEST(nests_as_deep_as_values_may_and_no_deeper)
{
    set_up();
    const struct type *t = type_of(SCHEMA);
    for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
        struct value v;
        if (proto_decode(&arena, WORK_OWN, t, nested(deep[i].numbers, deep[i].max), &v, &e))
            FAIL("%s: %s", deep[i].name, e.message);
        struct str bytes = proto_of(t, &v);
        CHECK(bytes.n > deep[i].max * 20);
        CHECK_INT(deep[i].name, proto_decode(&arena, WORK_OWN, t, bytes, &v, &e), ERR_OK);
        CHECK_STR(deep[i].name, proto_of(t, &v), bytes);
        CHECK(proto_decode(&arena, WORK_OWN, t, nested(deep[i].numbers, deep[i].max + 1), &v, &e));
        CHECK_TEXT(deep[i].name, e.message, "proto: exceeded max depth of 1000");
    }
    arena_fini(&arena);
}

TEST(raw_json_nests_as_deep_as_json_may)
{
    set_up();
    const struct type *t = type_of("apps/v1.ControllerRevision");
    for (int more = 0; more < 2; more++) {
        size_t n = JSON_DEPTH_MAX - 1 + (size_t)more; /* within the struct */
        char *bytes = arena_alloc(&arena, 2 * n + 8);
        size_t n_head = 1;
        bytes[0] = 0x12;
        n_head += varint(bytes + n_head, 2 * n + 4);
        bytes[n_head++] = 0x0a;
        n_head += varint(bytes + n_head, 2 * n);
        memset(bytes + n_head, '[', n);
        memset(bytes + n_head + n, ']', n);
        struct value v;
        enum err_code rc = proto_decode(&arena, WORK_OWN, t, (struct str){ bytes, n_head + 2 * n }, &v, &e);
        CHECK_INT(more ? "one more" : "as many as may be", rc, more ? ERR_BAD_REQUEST : ERR_OK);
    }
    arena_fini(&arena);
}

TEST(empty_messages_do_not_eat_the_memory)
{
    set_up();
    const struct type *t = type_of("core/v1.PodSpec");
    size_t n = 2 << 20;
    char *bytes = arena_alloc(&arena, n);
    for (size_t i = 0; i < n; i += 2)
        memcpy(bytes + i, "\x12\x00", 2); /* containers */
    struct value v;
    size_t before = arena.n_bytes;
    CHECK(proto_decode(&arena, WORK_OWN, t, (struct str){ bytes, n }, &v, &e));
    CHECK_TEXT("message", e.message, "proto: too many messages for the length of the input");
    CHECK(arena.n_bytes - before < 200 * n);
    arena_fini(&arena);
}

TEST(long_lists_and_maps_grow)
{
    set_up();
    const struct type *t = type_of("meta/v1.LabelSelector");
    enum { N = 5000 };
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (int i = N; i-- > 0;) { /* backwards, and every key twice */
        for (int twice = 0; twice < 2; twice++) {
            strbuf_add(&b, "\x0a\x09\x0a\x04", 4);
            strbuf_printf(&b, "%04d", i);
            strbuf_add(&b, "\x12\x01", 2);
            strbuf_add_char(&b, (char)('0' + twice));
        }
    }
    struct value v;
    CHECK_INT("decode", proto_decode(&arena, WORK_OWN, t, strbuf_str(&b), &v, &e), ERR_OK);
    const struct value *labels = value_path(t, &v, "matchLabels");
    CHECK_INT("labels", labels->n, N);
    for (int i = 0; i < N; i++) {
        CHECK_STR("key", labels->members[i].key, str_of(arena_printf(&arena, "%04d", i)));
        CHECK_STR("value", value_text(&labels->members[i].value), STR("1"));
    }
    CHECK_INT("bytes", proto_of(t, &v).n, N * 11);
    strbuf_fini(&b);
    arena_fini(&arena);
}

/* --- objects --- */

TEST(an_object_travels_in_an_envelope)
{
    set_up();
    struct str want = bytes_of("'k8s' 00 0a 0f 0a 02 'v1' 12 09 'ConfigMap' 12 12 " META_BYTES " 1a 00 22 00");
    CHECK(proto_is_envelope(want));
    const struct type *t;
    struct value v;
    CHECK_INT("decode", proto_decode_object(&arena, WORK_OWN, want, STR(""), STR(""), &t, &v, &e), ERR_OK);
    CHECK(t == type_of("core/v1.ConfigMap"));
    CHECK_STR("json", json_of(t, &v), STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{}}"));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    proto_encode_object(&b, t, &v);
    CHECK_STR("bytes", hex_of(strbuf_str(&b)), hex_of(want));
    strbuf_fini(&b);
    arena_fini(&arena);
}

static const struct {
    const char *name, *bytes, *api_version, *kind, *want; /* JSON or message */
    bool ok;
} envelopes[] = {
    { "no type meta: the defaults count", "'k8s' 00 12 00", "apps/v1", "Deployment",
      "\"Deployment\" \"apps/v1\"", true },
    { "kind alone", "'k8s' 00 0a 05 12 03 'Pod'", "v1", "Node", "\"Pod\" \"v1\"", true },
    { "version alone", "'k8s' 00 0a 09 0a 07 'apps/v1'", "v1", "Deployment", "\"Deployment\" \"apps/v1\"", true },
    { "a group alone is no version", "'k8s' 00 0a 07 0a 05 'apps/'", "batch/v1", "Job", "\"Job\" \"batch/v1\"", true },
    { "two slashes are no version", "'k8s' 00 0a 07 0a 05 'a/b/c'", "v1", "Pod", "\"Pod\" \"v1\"", true },
    { "type meta in two parts", "'k8s' 00 0a 05 12 03 'Pod' 0a 04 0a 02 'v1'", "", "", "\"Pod\" \"v1\"", true },
    { "the last raw counts", "'k8s' 00 12 02 ff ff 12 00", "v1", "Pod", "\"Pod\" \"v1\"", true },
    { "content type and unknown fields", "'k8s' 00 1a 01 'x' 22 01 'y' 28 01", "v1", "Pod", "\"Pod\" \"v1\"", true },
    { "nothing", "", "v1", "Pod", "empty data", false },
    { "prefix alone", "'k8s' 00", "v1", "Pod", "empty body", false },
    { "prefix cut off", "'k8s'", "v1", "Pod",
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]", false },
    { "JSON", "'{}'", "v1", "Pod",
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]", false },
    { "no kind anywhere", "'k8s' 00 0a 04 0a 02 'v1'", "", "",
      "Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:\"v1\", Kind:\"\"}'", false },
    { "no version anywhere", "'k8s' 00 0a 05 12 03 'Pod'", "", "",
      "Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"Pod\"}'", false },
    { "unknown kind", "'k8s' 00 0a 04 12 02 'No'", "v1", "Pod",
      "no kind \"No\" is registered for version \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"", false },
    { "cut off", "'k8s' 00 0a 05 12", "v1", "Pod", "unexpected EOF", false },
    { "type meta as varint", "'k8s' 00 08 01", "v1", "Pod", "proto: wrong wireType = 0 for field Unknown", false },
    { "field number 0", "'k8s' 00 02 00", "v1", "Pod", "proto: Unknown: illegal tag 0 (wire type 2)", false },
};

TEST(opens_envelopes)
{
    set_up();
    for (size_t i = 0; i < sizeof(envelopes) / sizeof(*envelopes); i++) {
        struct str in = exact(bytes_of(envelopes[i].bytes));
        const struct type *t;
        struct value v;
        enum err_code rc = proto_decode_object(&arena, WORK_OWN, in, str_of(envelopes[i].api_version),
                                               str_of(envelopes[i].kind), &t, &v, &e);
        CHECK_INT(envelopes[i].name, rc == ERR_OK, envelopes[i].ok);
        const char *got = e.message;
        if (!rc)
            got = arena_printf(&arena, "\"%.*s\" \"%.*s\"", STR_ARG(value_text(&v.slots[SLOT_KIND])),
                               STR_ARG(value_text(&v.slots[SLOT_API_VERSION])));
        CHECK_TEXT(envelopes[i].name, got, envelopes[i].want);
        free((void *)(uintptr_t)in.p);
    }
    arena_fini(&arena);
}

TEST(objects_in_raw_fields_nest_up_to_a_limit)
{
    set_up();
    struct strbuf inner, outer;
    strbuf_init(&inner, STRBUF_NO_MAX);
    strbuf_init(&outer, STRBUF_NO_MAX);
    strbuf_add_str(&inner, bytes_of("'k8s' 00 0a 0a 0a 02 'v1' 12 04 'List'"));
    for (int level = 0; level <= PROTO_ENVELOPES_MAX + 1; level++) {
        const struct type *t;
        struct value v;
        enum err_code rc = proto_decode_object(&arena, WORK_OWN, strbuf_str(&inner), STR(""), STR(""), &t, &v, &e);
        CHECK_INT("refused", rc != ERR_OK, level > PROTO_ENVELOPES_MAX);
        if (!rc)
            CHECK_INT("items", value_path(t, &v, "items")->n, level > 0);
        strbuf_reset(&outer);
        proto_encode_watch_event(&outer, STR(""), strbuf_str(&inner)); /* has a raw message in field 2, like items */
        struct str items = str_from(strbuf_str(&outer), 6);
        struct strbuf next;
        strbuf_init(&next, STRBUF_NO_MAX);
        strbuf_add_str(&next, bytes_of("'k8s' 00 0a 0a 0a 02 'v1' 12 04 'List' 12"));
        char length[10];
        strbuf_add(&next, length, varint(length, items.n));
        strbuf_add_str(&next, items);
        strbuf_fini(&inner);
        inner = next;
    }
    strbuf_fini(&inner);
    strbuf_fini(&outer);
    arena_fini(&arena);
}

TEST(a_watch_event_is_a_frame)
{
    set_up();
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "before");
    proto_encode_watch_event(&b, STR("ADDED"), STR("k8s"));
    CHECK_STR("frame", hex_of(strbuf_str(&b)),
              hex_of(bytes_of("'before' 00 00 00 0e 0a 05 'ADDED' 12 05 0a 03 'k8s'")));
    struct str event_type, object;
    CHECK_INT("open", proto_open_watch_event(str_from(strbuf_str(&b), 10), &event_type, &object, &e), ERR_OK);
    CHECK_STR("type", event_type, STR("ADDED"));
    CHECK_STR("object", object, STR("k8s"));
    CHECK(proto_open_watch_event(STR("\x08\x01"), &event_type, &object, &e));
    strbuf_fini(&b);
    arena_fini(&arena);
}

/* --- the buffer --- */

TEST(encoding_appends_and_stops_at_the_maximum)
{
    set_up();
    const struct type *t = type_of(REQUIREMENT);
    struct value items[100], v = value_struct(&arena, t);
    for (size_t i = 0; i < 100; i++)
        items[i] = value_string(STR("0123456789"));
    v.slots[2] = value_list(items, 100);
    for (size_t max = 1000; max < 1300; max++) {
        struct strbuf b;
        strbuf_init(&b, max);
        STRBUF_ADD_LIT(&b, "head");
        proto_encode(&b, t, &v);
        CHECK_INT("overflow", b.overflow, max < 4 + 1204);
        CHECK_INT("bytes", b.n, b.overflow ? 4 : 4 + 1204);
        CHECK_STR("head", str_first(strbuf_str(&b), 4), STR("head"));
        strbuf_fini(&b);
    }
    arena_fini(&arena);
}

TEST(no_prefix_of_an_object_is_read_past_its_end)
{
    set_up();
    const struct type *t = type_of("core/v1.Pod");
    struct value v;
    struct str json = STR("{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\"},\"managedFields\":[{\"fieldsV1\":{}}]},"
                          "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}},"
                          "\"ports\":[{\"containerPort\":-1}],\"livenessProbe\":{\"tcpSocket\":{\"port\":\"x\"}}}],"
                          "\"securityContext\":{\"supplementalGroups\":[1]}},"
                          "\"status\":{\"startTime\":\"2020-01-01T00:00:00Z\"}}");
    CHECK_INT("json", json_decode(&arena, WORK_OWN, t, json, NULL, &v, &e), ERR_OK);
    struct str bytes = proto_of(t, &v);
    for (size_t n = 0; n <= bytes.n; n++) {
        struct str in = exact(str_first(bytes, n));
        enum err_code rc = proto_decode(&arena, WORK_OWN, t, in, &v, &e);
        CHECK(n < bytes.n || rc == ERR_OK);
        free((void *)(uintptr_t)in.p);
    }
    arena_fini(&arena);
}
