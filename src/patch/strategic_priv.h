/* patch/strategic_priv.h - what the files of the strategic merge patch share.
 *
 * strategic_patch.c walks original and patch along the schema, strategic_list.c merges lists and orders them,
 * strategic_schema.c says what the schema has at a place. All work on plain values in place: upstream does,
 * and some of its results come from that. */
#pragma once

#include "patch/patch_priv.h"

#define SMP_MAP "map[string]interface {}"
#define SMP_LIST "[]interface {}"
#define SMP_DIRECTIVE "$patch"

struct smp {
    struct arena *arena;
    struct work *work;
    struct err *e;
};

/* ---- strategic_schema.c ---- */

/* What the schema has at a place: a struct, or something that has no fields to look up. */
struct smp_type {
    const struct type *type; /* NULL: no struct with fields */
    const char *name;        /* of Go's type if that is a struct, else NULL */
    const char *go_kind;     /* "struct", "map", "string", ... */
};

struct smp_type smp_root_type(const struct type *t);
/* The field that a JSON name means, without regard to case if need be. */
enum err_code smp_field(struct smp *m, struct smp_type at, struct str name, const struct field **ret_field);
/* Of the field's whole value, and of its elements if it is a list. */
struct smp_type smp_field_type(const struct field *f);
enum err_code smp_element_type(struct smp *m, struct smp_type at, const struct field *f,
                               struct smp_type *ret_type);

/* ---- strategic_patch.c ---- */

/* For n things of `size` bytes that are walked or copied: the same one may be merged again and again. */
enum err_code smp_charge(struct smp *m, size_t n, size_t size) ERR_MUST_CHECK;
enum err_code smp_merge_maps(struct smp *m, struct value *original, struct value *patch, struct smp_type at);
struct value *smp_member(const struct value *map, struct str key); /* NULL also when it was deleted */

/* Errors in upstream's words. */
enum err_code smp_no_merge_key(struct smp *m, const struct value *map, const char *merge_key);
enum err_code smp_bad_type(struct smp *m, const char *expected, const struct value *got);
enum err_code smp_bad_directive(struct smp *m, const struct value *directive, const struct value *map);
enum err_code smp_mixed_types(struct smp *m, const struct value *a, const struct value *b);

/* ---- strategic_list.c ---- */

struct smp_list {
    const struct field *field;
    struct smp_type element;
    bool is_delete_list; /* the patch names what to take out */
};

enum err_code smp_merge_lists(struct smp *m, struct value *original, struct value *patch,
                              const struct smp_list *how, struct value *ret_merged);
/* Sets the order of elements after a merge: those that `order` names in that order, the others in the order
 * they had on the server, both woven together by the latter as far as it knows them. */
enum err_code smp_order_list(struct smp *m, const struct value *merged, const struct value *order,
                             const struct value *server_order, const char *merge_key, bool of_maps,
                             struct value *ret_list);
/* All elements of both lists are of one type, and not lists; *ret_of_maps says whether maps. */
enum err_code smp_element_kind(struct smp *m, const struct value *a, const struct value *b, bool *ret_of_maps);
/* The order list must name the patch's elements in the patch's order. */
enum err_code smp_check_order_list(struct smp *m, const struct value *patch, const struct value *order,
                                   const char *merge_key);
