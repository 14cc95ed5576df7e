/* rules/place.h - a value in an object together with its field and with the path that errors name.
 *
 * Rules walk an object from place to place and say at each what is wrong with it:
 *
 *     struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
 *     struct place ports = place_child(&spec, "ports");
 *     for (uint32_t i = 0; i < place_n(&ports); i++) {
 *         struct place port = place_item(&ports, i);
 *
 * Nothing is NULL: below what is not there everything is absent, has the text "" and the number 0. A name that the type
 * does not have is a mistake of ours and aborts. Paths are linked through the stack (api/field_error.h): a place must
 * live as long as those made from it.
 *
 * Thread: as the list of errors.    Owns: nothing, memory is the arena of the errors. */
#pragma once

#include "api/validate.h"
#include "base/map.h"
#include "rules/rules.h"

struct place {
    struct field_errors *errs;
    const struct field *field; /* of the value or of the list that it is an item of; NULL: the object */
    const struct type *type;   /* of the struct or of the structs in a list or map; NULL: no structs */
    const struct value *value;
    struct field_path path;
    bool is_root; /* has no path */
    bool is_item; /* of a list or a map */
};

struct place place_root(const struct rules_context *c, const struct value *object, struct field_errors *errs);
struct place place_child(const struct place *p, const char *name);
struct place place_item(const struct place *list, uint32_t i);
/* The value of a map's member, at map[key]. */
struct place place_member(const struct place *map, uint32_t i);
/* The same value where errors call it something else. */
struct place place_named(const struct place *parent, const struct place *p, const char *name);

static inline bool place_is_set(const struct place *p)
{
    return p->value->kind != VALUE_ABSENT;
}
static inline struct str place_text(const struct place *p)
{
    return value_text(p->value);
}
static inline int64_t place_int(const struct place *p)
{
    return p->value->kind == VALUE_INT ? p->value->i : 0;
}
static inline bool place_bool(const struct place *p)
{
    return p->value->kind == VALUE_BOOL && p->value->b;
}
/* Items or members. */
static inline uint32_t place_n(const struct place *p)
{
    return p->value->kind == VALUE_LIST || p->value->kind == VALUE_MAP ? p->value->n : 0;
}
/* Of a child, without its place. */
const struct value *child_value(const struct place *p, const char *name);
static inline bool child_is_set(const struct place *p, const char *name)
{
    return child_value(p, name)->kind != VALUE_ABSENT;
}
static inline struct str child_text(const struct place *p, const char *name)
{
    return value_text(child_value(p, name));
}
uint32_t child_n(const struct place *p, const char *name);
int64_t child_int(const struct place *p, const char *name);
bool child_bool(const struct place *p, const char *name);
/* The annotation or NULL. */
const struct value *object_annotation(const struct place *root, const char *key);

/* See rules_same. */
bool place_same(const struct place *a, const struct place *b);

/* ---- What is wrong ---- */

/* The value as an error shows it. */
struct field_value place_shown(const struct place *p);
/* As Go writes a struct of an internal type: all fields, by their Go names. */
struct field_value place_shown_as_go(const struct place *p);

/* The same of a place with its name, as one member of a struct. */
void place_add_go_member(struct strbuf *to, const struct place *p);

void place_required(const struct place *p, const char *detail);
void place_forbidden(const struct place *p, const char *detail);
void place_invalid(const struct place *p, const char *detail);
void place_invalidf(const struct place *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void place_duplicate(const struct place *p);
/* `values` ends with NULL, in the order in which the error names them. */
void place_not_supported(const struct place *p, const char *const *values);

/* ---- Common checks ---- */

bool text_is_one_of(struct str text, const char *const *values);
/* Not in the list: unsupported. */
void place_check_supported(const struct place *p, const char *const *values);
/* And without a text: required. */
void place_check_choice(const struct place *p, const char *const *values);
/* One error for each text of `found`. */
void place_check_names(const struct place *p, struct name_errors found);
/* Required when it is empty, else checked. */
void place_check_required_name(const struct place *p, name_check *check);
void place_check_not_negative(const struct place *p);
void place_check_port_number(const struct place *p);
/* A label key. */
void place_check_qualified_name(const struct place *p);
/* `field is immutable` unless `old`, the same place of the object before, has the same value. */
void place_check_immutable(const struct place *p, const struct place *old);
/* A LabelSelector; false when something is wrong. */
bool place_check_selector(const struct place *p, bool allow_invalid_values);
/* A map of labels. */
void place_check_labels(const struct place *p);
void place_check_annotations(const struct place *p);
/* Strict, unless `old` (a list of texts, or NULL) has the very text already. */
void place_check_ip(const struct place *p, const struct value *old);
void place_check_cidr(const struct place *p, const struct value *old);
/* Nothing that only the machine itself could reach. */
void place_check_endpoint_ip(const struct place *p);
/* Of a quantity: a sign below 0. */
void place_check_amount(const struct place *p);
int place_amount_sign(const struct place *p);

/* Texts of a list that came before. */
struct seen {
    struct map_str texts;
};
static inline void seen_init(struct seen *s)
{
    map_str_init(&s->texts);
}
static inline void seen_fini(struct seen *s)
{
    map_str_fini(&s->texts);
}
/* Whether the text came before; from now on it did. The text must live as long as `s`. */
bool seen_before(struct seen *s, struct str text);

/* Warnings about addresses that are accepted and not written as they should be. */
void warn_about_ip(const struct rules_context *c, const struct field_path *at, struct str text);
void warn_about_cidr(const struct rules_context *c, const struct field_path *at, struct str text);
