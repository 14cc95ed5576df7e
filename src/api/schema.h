/* api/schema.h - the tables: what fields a Kubernetes type has and how each is written on every wire.
 *
 * Made at build time by tools/schema_gen.py from the rows in src/api/schema/, the one place to change
 * when an API changes. A struct value (value.h) has one slot per entry of `fields`, in that order, which is
 * the order of JSON output. A struct that is embedded (VolumeSource in Volume) has no slot of its own: its
 * fields stand in the parent's slots, in a row. Protobuf still has it as a message: `wires` says so.
 *
 * Thread: any; the tables are constant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum field_kind {
    KIND_STRING,
    KIND_BOOL,
    KIND_INT32,
    KIND_INT64,
    KIND_UINT32,
    KIND_DOUBLE,
    KIND_BYTES,         /* JSON: base64 */
    KIND_TIME,          /* JSON: RFC 3339, whole seconds, UTC */
    KIND_MICRO_TIME,    /* the same with six digits of fraction */
    KIND_QUANTITY,
    KIND_INT_OR_STRING,
    KIND_RAW,           /* any JSON object, kept as its bytes */
    KIND_JSON,          /* any JSON value, kept as its bytes */
    KIND_FIELDS_V1,     /* a set of field paths as JSON, kept as its bytes */
    KIND_FLOAT,         /* single precision; of types without a protobuf form only, as the next one */
    KIND_DURATION,      /* JSON: text as Go writes durations */
    KIND_STRUCT,
};

enum field_shape { SHAPE_ONE, SHAPE_LIST, SHAPE_MAP /* string keys */ };

enum {                   /* flags of a field */
    FIELD_KEEP = 1,      /* in JSON even when empty */
    FIELD_PTR = 2,       /* absent and zero differ */
    FIELD_OMITZERO = 4,  /* not in JSON when zero, although a struct or time */
    FIELD_REQUIRED = 8,
};

enum list_type { LIST_DEFAULT, LIST_ATOMIC, LIST_SET, LIST_MAP };
enum map_type { MAP_DEFAULT, MAP_ATOMIC, MAP_GRANULAR };
enum { PATCH_MERGE = 1, PATCH_REPLACE = 2, PATCH_RETAIN_KEYS = 4 };

struct field {
    struct str name;               /* in JSON */
    const struct type *type;       /* of KIND_STRUCT */
    const char *go_type, *go_elem; /* of the whole and of an element, as type errors name them */
    const char *go_path;           /* embedded structs on the way, each with a dot: "ProbeHandler." */
    const char *merge_key;         /* of strategic merge patch, or NULL */
    const char *const *map_keys;   /* of LIST_MAP, ends with NULL */
    const char *default_json;      /* or NULL */
    const char *const *values;     /* allowed ones, ends with NULL; or NULL */
    uint16_t number;               /* in protobuf; 0 = not there */
    uint8_t kind, shape, flags, list_type, map_type, patch;
};

/* A protobuf field: one slot, or an embedded message whose fields begin at that slot. */
struct wire {
    uint16_t number, slot;
    bool when_absent; /* written in any case */
    const struct type *inlined; /* or NULL */
};

enum {                            /* flags of a type */
    TYPE_OBJECT = 1,              /* has kind and apiVersion, in slots 0 and 1 */
    TYPE_WRAPPER = 2,             /* JSON: the list itself; protobuf: a message around it */
    TYPE_JSON_ONLY = 4,
    TYPE_OBJECT_OR_LIST = 8,      /* JSON: field 0 itself or field 1 itself, by shape */
    TYPE_OBJECT_OR_BOOL = 16,
    TYPE_OBJECT_OR_STRINGS = 32,
    TYPE_BY_SHAPE = TYPE_OBJECT_OR_LIST | TYPE_OBJECT_OR_BOOL | TYPE_OBJECT_OR_STRINGS,
};

enum { SLOT_KIND = 0, SLOT_API_VERSION = 1 }; /* of every TYPE_OBJECT */
enum { SLOT_INLINED = 254, SLOT_NONE = 255 }; /* instead of a slot: an embedded message; nothing */

struct union_member {
    const char *field, *discriminator_value;
};
struct union_rule {
    const char *discriminator; /* NULL: none */
    const struct union_member *members;
};

struct type {
    struct str name;     /* "core/v1.Pod" */
    struct str kind;     /* "Pod" */
    const char *go_name; /* "v1.Pod" */
    const struct field *fields;
    const struct wire *wires; /* by ascending number */
    const uint8_t *hash;      /* slot by name hash, 255 = none */
    const uint64_t *written_when_absent; /* one bit a slot: JSON has the field in any case */
    const struct union_rule *unions; /* ends with an entry without members; or NULL */
    uint64_t hash_seed;
    const uint8_t *by_number; /* slot by protobuf number, or SLOT_NONE, SLOT_INLINED */
    uint16_t n_fields, n_wires, n_numbers;
    uint8_t hash_bits, flags, map_type;
};

enum verb {
    VERB_CREATE = 1,
    VERB_DELETE = 2,
    VERB_DELETECOLLECTION = 4,
    VERB_GET = 8,
    VERB_LIST = 16,
    VERB_PATCH = 32,
    VERB_UPDATE = 64,
    VERB_WATCH = 128,
};

struct subresource {
    const char *name, *type; /* "binding", "core/v1.Binding" */
    unsigned verbs;
};

struct resource {
    struct str group, version; /* "" is the legacy group */
    struct str plural, singular, kind;
    const struct type *type; /* NULL: listed in discovery only */
    unsigned verbs;
    bool namespaced, served; /* served: by a server with default flags */
    const char *const *short_names, *const *categories; /* end with NULL; or NULL */
    const struct subresource *subresources;             /* ends with a NULL name; or NULL */
};

extern const struct type schema_types[]; /* by ascending name */
extern const size_t schema_n_types;
extern const struct resource schema_resources[];
extern const size_t schema_n_resources;

/* By full name ("core/v1.Pod"), or NULL. */
const struct type *schema_type(struct str name);
/* The type of an object on the wire, or NULL. Kinds of the meta group (Status, DeleteOptions,
 * WatchEvent, ...) are known under every group and version, as upstream registers them. */
const struct type *schema_object_type(struct str api_version, struct str kind);
/* Splits "apps/v1" or "v1" at the first slash. */
void schema_split_api_version(struct str api_version, struct str *ret_group, struct str *ret_version);
const struct resource *schema_resource(struct str group, struct str version, struct str plural);

/* Up to eight bytes as a number, the first one lowest. */
static inline uint64_t schema_load8(const char *p, size_t n)
{
    if (n >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        return word;
    }
    if (n >= 4) { /* two halves that may overlap */
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        return low | (uint64_t)high << (8 * (n - 4));
    }
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return word;
}

/* First and last eight bytes of a name: all of it up to sixteen. */
struct schema_name {
    uint64_t head, tail;
};

static inline struct schema_name schema_name(struct str name)
{
    uint64_t head = schema_load8(name.p, name.n);
    return (struct schema_name){ head, name.n >= 8 ? schema_load8(name.p + name.n - 8, 8) : head };
}

/* The same function as name_hash in tools/schema_gen.py. */
static inline uint64_t schema_name_hash(struct schema_name name, size_t n, uint64_t seed, unsigned bits)
{
    return ((name.head ^ (name.tail << 23 | name.tail >> 41) ^ n) * seed) >> (64 - bits);
}

/* Slot of a JSON name, or -1. Exact case. */
static inline int schema_slot(const struct type *t, struct str name)
{
    struct schema_name ends = schema_name(name);
    uint8_t slot = t->hash[schema_name_hash(ends, name.n, t->hash_seed, t->hash_bits)];
    if (slot == 255)
        return -1;
    struct str have = t->fields[slot].name;
    if (have.n != name.n)
        return -1;
    struct schema_name have_ends = schema_name(have);
    if (have_ends.head != ends.head || have_ends.tail != ends.tail)
        return -1;
    return name.n <= 16 || memcmp(have.p + 8, name.p + 8, name.n - 16) == 0 ? slot : -1;
}

/* The slot of a protobuf number, or SLOT_NONE, SLOT_INLINED. */
static inline unsigned schema_slot_of_number(const struct type *t, uint32_t number)
{
    return number < t->n_numbers ? t->by_number[number] : SLOT_NONE;
}

/* The embedded message of a number whose slot is SLOT_INLINED. */
static inline const struct wire *schema_inlined(const struct type *t, uint32_t number)
{
    const struct wire *w = t->wires;
    while (w->number != number)
        w++;
    return w;
}
