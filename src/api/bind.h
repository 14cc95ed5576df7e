/* api/bind.h - wire bytes straight into plain C structs, driven by tables.
 *
 * An input struct holds what a typed form (typed.h) is made from. Its table says for each slot of the schema
 * type where the field lands and how; fields without a row are skipped at full speed. One table serves both
 * formats:
 *
 *     struct port_in { struct bind_int host_port; struct str protocol; };
 *     static const struct bind_row port_rows[] = {
 *         [SLOT_core_v1_ContainerPort_hostPort] = BIND_INT(struct port_in, host_port),
 *         [SLOT_core_v1_ContainerPort_protocol] = BIND_STR(struct port_in, protocol),
 *     };
 *     const struct bind_type port_type = BIND_TYPE(core_v1_ContainerPort, struct port_in, port_rows);
 *
 * All members are zero when the field is absent. Both decoders are as lenient as the API server's: any order,
 * unknown fields skipped, the last scalar counts, structs and maps given twice merge; JSON decodes a second
 * list into the elements of the first, and null clears pointers, lists and maps and leaves the rest alone.
 * A value of the wrong type, broken syntax and more than BIND_ITEMS_MAX or BIND_BYTES_MAX are errors. Fields
 * that have no row are checked for syntax only.
 *
 * Thread: any. Memory: the arena of the caller; texts may point into the bytes, which must live as long. */
#pragma once

#include "api/schema.h"
#include "base/arena.h"
#include "base/err.h"

enum typed_format { TYPED_JSON, TYPED_PROTOBUF /* a bare message, without envelope */ };

enum {
    BIND_ITEMS_MAX = UINT16_MAX, /* of one list or map */
    BIND_BYTES_MAX = 64 << 20,   /* of all input structs of one object */
};

/* ---- Members of input structs ---- */

typedef int8_t bind_bool; /* 0 absent, 1 true, -1 false */

struct bind_int {
    int64_t value;
    bool given;
};

struct bind_time {
    int64_t seconds; /* since 1970 */
    int32_t nanos;   /* whole microseconds; 0 unless the field is a microTime */
    bool given;
};

struct bind_pair {
    struct str key, value;
};

/* What every list looks like to the decoders. */
struct bind_list {
    void *at;
    uint32_t n, cap;
    bool given; /* also when empty */
};

/* A list of structs, texts (struct str) or map entries (struct bind_pair). */
#define BIND_LIST_OF(type)                                                                 \
    struct {                                                                               \
        type *at;                                                                          \
        uint32_t n, cap;                                                                   \
        bool given;                                                                        \
    }

typedef BIND_LIST_OF(struct str) bind_strs;
typedef BIND_LIST_OF(struct bind_pair) bind_map; /* keys may come twice; the last counts */

/* ---- Tables ---- */

enum bind_how {
    BIND_HOW_SKIP,     /* must be 0: slots without a row */
    BIND_HOW_STR,      /* struct str; p is NULL when absent */
    BIND_HOW_BOOL,     /* bind_bool */
    BIND_HOW_INT,      /* struct bind_int; int32 and int64 */
    BIND_HOW_TIME,     /* struct bind_time */
    BIND_HOW_QUANTITY, /* struct str: its text, not parsed */
    BIND_HOW_STRUCT,   /* the struct itself */
    BIND_HOW_POINTER,  /* pointer to a struct; NULL when absent */
    BIND_HOW_LIST,     /* BIND_LIST_OF(struct) */
    BIND_HOW_STRS,     /* bind_strs */
    BIND_HOW_MAP,      /* bind_map; values are strings or quantities */
    BIND_HOW_KEYS,     /* bind_strs: only the keys of a map */
};

struct bind_type;

struct bind_row {
    const struct bind_type *sub; /* of STRUCT, POINTER and LIST */
    uint16_t offset;
    uint8_t how;
};

struct bind_type {
    const struct type *type;
    const struct bind_row *rows; /* by slot */
    uint16_t n_rows, n_bytes;    /* n_bytes: of the input struct */
};

/* The offset of a member, which must have that type. */
#define BIND_AT(in, member, want)                                                          \
    (offsetof(in, member) +                                                                \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((in *)0)->member), want) ? 1 : -1]))

#define BIND_STR(in, member) { NULL, BIND_AT(in, member, struct str), BIND_HOW_STR }
#define BIND_BOOL(in, member) { NULL, BIND_AT(in, member, bind_bool), BIND_HOW_BOOL }
#define BIND_INT(in, member) { NULL, BIND_AT(in, member, struct bind_int), BIND_HOW_INT }
#define BIND_TIME(in, member) { NULL, BIND_AT(in, member, struct bind_time), BIND_HOW_TIME }
#define BIND_QUANTITY(in, member) { NULL, BIND_AT(in, member, struct str), BIND_HOW_QUANTITY }
#define BIND_STRUCT(in, member, sub) { (sub), offsetof(in, member), BIND_HOW_STRUCT }
#define BIND_POINTER(in, member, sub) { (sub), offsetof(in, member), BIND_HOW_POINTER }
#define BIND_LIST(in, member, sub) { (sub), offsetof(in, member), BIND_HOW_LIST }
#define BIND_STRS(in, member) { NULL, BIND_AT(in, member, bind_strs), BIND_HOW_STRS }
#define BIND_MAP(in, member) { NULL, BIND_AT(in, member, bind_map), BIND_HOW_MAP }
#define BIND_KEYS(in, member) { NULL, BIND_AT(in, member, bind_strs), BIND_HOW_KEYS }

#define BIND_TYPE(schema_name, in, slot_rows)                                              \
    { .type = &schema_types[T_##schema_name], .rows = (slot_rows),                         \
      .n_rows = sizeof(slot_rows) / sizeof(*(slot_rows)), .n_bytes = sizeof(in) }

/* Fills `into`, a zeroed input struct of `t`. */
enum err_code bind_decode(struct arena *a, const struct bind_type *t, enum typed_format format,
                          struct str bytes, void *into, struct err *e) ERR_MUST_CHECK;

/* The value that counts for a key, or NULL. */
const struct str *bind_map_find(const bind_map *map, struct str key);
