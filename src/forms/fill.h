/* forms/fill.h - wire bytes straight into plain C structs, driven by tables.
 *
 * An input struct holds what a typed form (typed.h) is made from. Its table says for each slot of the schema
 * type where the field lands and how; fields without a row are skipped at full speed. One table serves both
 * formats:
 *
 *     struct port_in { struct fill_int host_port; struct str protocol; };
 *     static const struct fill_row port_rows[] = {
 *         [SLOT_core_v1_ContainerPort_hostPort] = FILL_INT(struct port_in, host_port),
 *         [SLOT_core_v1_ContainerPort_protocol] = FILL_STR(struct port_in, protocol),
 *     };
 *     const struct fill_type port_type = FILL_TYPE(core_v1_ContainerPort, struct port_in, port_rows);
 *
 * All members are zero when the field is absent. Both decoders are as lenient as the API server's: any order,
 * unknown fields skipped, the last scalar counts, structs and maps given twice merge; JSON decodes a second
 * list into the elements of the first, and null clears pointers, lists and maps and leaves the rest alone.
 * A value of the wrong type, broken syntax and more than FILL_ITEMS_MAX or FILL_BYTES_MAX are errors. Fields
 * that have no row are checked for syntax only.
 *
 * Thread: any. Memory: the arena of the caller; texts may point into the bytes, which must live as long. */
#pragma once

#include "api/schema.h"
#include "base/arena.h"
#include "base/err.h"

struct work;

enum typed_format { TYPED_JSON, TYPED_PROTOBUF /* a bare message, without envelope */ };

enum {
    FILL_ITEMS_MAX = UINT16_MAX, /* of one list or map */
    FILL_BYTES_MAX = 64 << 20,   /* of all input structs of one object */
};

/* ---- Members of input structs ---- */

typedef int8_t fill_bool; /* 0 absent, 1 true, -1 false */

struct fill_int {
    int64_t value;
    bool given;
};

struct fill_time {
    int64_t seconds; /* since 1970 */
    int32_t nanos;   /* whole microseconds; 0 unless the field is a microTime */
    bool given;
};

struct fill_pair {
    struct str key, value;
};

/* What every list looks like to the decoders. */
struct fill_list {
    void *at;
    uint32_t n, cap;
    bool given; /* also when empty */
};

/* A list of structs, texts (struct str) or map entries (struct fill_pair). */
#define FILL_LIST_OF(type)                                                                 \
    struct {                                                                               \
        type *at;                                                                          \
        uint32_t n, cap;                                                                   \
        bool given;                                                                        \
    }

typedef FILL_LIST_OF(struct str) fill_strs;
typedef FILL_LIST_OF(struct fill_pair) fill_map; /* keys may come twice; the last counts */

/* ---- Tables ---- */

enum fill_how {
    FILL_HOW_SKIP,     /* must be 0: slots without a row */
    FILL_HOW_STR,      /* struct str; p is NULL when absent */
    FILL_HOW_BOOL,     /* fill_bool */
    FILL_HOW_INT,      /* struct fill_int; int32 and int64 */
    FILL_HOW_TIME,     /* struct fill_time */
    FILL_HOW_QUANTITY, /* struct str: its text, not parsed */
    FILL_HOW_STRUCT,   /* the struct itself */
    FILL_HOW_POINTER,  /* pointer to a struct; NULL when absent */
    FILL_HOW_LIST,     /* FILL_LIST_OF(struct) */
    FILL_HOW_STRS,     /* fill_strs */
    FILL_HOW_MAP,      /* fill_map; values are strings or quantities */
    FILL_HOW_KEYS,     /* fill_strs: only the keys of a map */
};

struct fill_type;

struct fill_row {
    const struct fill_type *sub; /* of STRUCT, POINTER and LIST */
    uint16_t offset;
    uint8_t how;
};

struct fill_type {
    const struct type *type;
    const struct fill_row *rows; /* by slot */
    uint16_t n_rows, n_bytes;    /* n_bytes: of the input struct */
};

/* The offset of a member, which must have that type. */
#define FILL_AT(in, member, want)                                                          \
    (offsetof(in, member) +                                                                \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((in *)0)->member), want) ? 1 : -1]))

#define FILL_STR(in, member) { NULL, FILL_AT(in, member, struct str), FILL_HOW_STR }
#define FILL_BOOL(in, member) { NULL, FILL_AT(in, member, fill_bool), FILL_HOW_BOOL }
#define FILL_INT(in, member) { NULL, FILL_AT(in, member, struct fill_int), FILL_HOW_INT }
#define FILL_TIME(in, member) { NULL, FILL_AT(in, member, struct fill_time), FILL_HOW_TIME }
#define FILL_QUANTITY(in, member) { NULL, FILL_AT(in, member, struct str), FILL_HOW_QUANTITY }
#define FILL_STRUCT(in, member, sub) { (sub), offsetof(in, member), FILL_HOW_STRUCT }
#define FILL_POINTER(in, member, sub) { (sub), offsetof(in, member), FILL_HOW_POINTER }
#define FILL_LIST(in, member, sub) { (sub), offsetof(in, member), FILL_HOW_LIST }
#define FILL_STRS(in, member) { NULL, FILL_AT(in, member, fill_strs), FILL_HOW_STRS }
#define FILL_MAP(in, member) { NULL, FILL_AT(in, member, fill_map), FILL_HOW_MAP }
#define FILL_KEYS(in, member) { NULL, FILL_AT(in, member, fill_strs), FILL_HOW_KEYS }

#define FILL_TYPE(schema_name, in, slot_rows)                                              \
    { .type = &schema_types[T_##schema_name], .rows = (slot_rows),                         \
      .n_rows = sizeof(slot_rows) / sizeof(*(slot_rows)), .n_bytes = sizeof(in) }

/* Fills `into`, a zeroed input struct of `t`. */
enum err_code fill_decode(struct arena *a, struct work *work, const struct fill_type *t, enum typed_format format,
                          struct str bytes, void *into, struct err *e) ERR_MUST_CHECK;

/* The entries that count, sorted by key: `map` itself if it is that already. */
fill_map fill_map_settled(struct arena *a, const fill_map *map);
/* The value that counts for a key, or NULL. */
const struct str *fill_map_find(const fill_map *map, struct str key);
