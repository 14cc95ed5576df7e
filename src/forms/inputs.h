/* forms/inputs.h - the parts that many kinds share: their input structs, and how they become parts of a form.
 *
 * Build functions allocate in the scratch arena of the build; the walk of the form (form.h) moves the result
 * into the block. Syms that they return are owned by the form.
 *
 * Thread: the owner of the sym table. */
#pragma once

#include "forms/form.h"

/* ---- metadata ---- */

struct owner_in {
    struct str api_version, kind, name, uid;
    fill_bool controller;
};

struct meta_in {
    struct str name, ns, uid, resource_version;
    fill_map labels, annotations;
    FILL_LIST_OF(struct owner_in) owners;
    struct fill_int generation;
    struct fill_time deletion_time;
};

extern const struct fill_type fill_meta;           /* all but annotations */
extern const struct fill_type fill_meta_annotated; /* with them */

/* Fails when a name holds a NUL. */
enum err_code build_meta(struct build *b, const struct meta_in *in, struct typed_meta *meta) ERR_MUST_CHECK;
/* The owner with controller: true, or NULL. */
enum err_code build_controller(struct build *b, const struct meta_in *in,
                               const struct owner_ref **ret_owner) ERR_MUST_CHECK;

/* ---- texts and syms ---- */

/* Terminated; cut at a NUL. For texts that nothing is looked up by. */
const char *build_text(struct build *b, struct str s);
/* Terminated; fails on a NUL. `what` is the path of the field. */
enum err_code build_name(struct build *b, struct str s, const char *what, const char **ret_name) ERR_MUST_CHECK;
static inline sym build_sym(struct build *b, struct str s)
{
    return s.n ? sym_intern(b->syms, s) : SYM_EMPTY;
}
/* In the same order, repeats stay. */
const sym *build_syms(struct build *b, const struct str *at, size_t n);
/* Ascending, without repeats; releases the references of repeats. */
const sym *build_sym_set(struct build *b, const struct str *at, size_t n, size_t *ret_n);
struct label_set build_labels(struct build *b, const fill_map *map);
/* Seconds, TYPED_TIME_NONE for a time that is not given or the zero time. */
int64_t build_seconds(const struct fill_time *t);
int64_t build_micros(const struct fill_time *t);

/* ---- selectors ---- */

struct expression_in {
    struct str key, op;
    fill_strs values;
};

typedef FILL_LIST_OF(struct expression_in) expressions_in;

struct selector_in {
    fill_map match_labels;
    expressions_in expressions;
};

struct term_in {
    expressions_in expressions, fields;
};

struct node_selector_in {
    FILL_LIST_OF(struct term_in) terms;
};

struct preferred_in {
    struct fill_int weight;
    struct term_in preference;
};

extern const struct fill_type fill_selector;      /* LabelSelector */
extern const struct fill_type fill_node_selector; /* NodeSelector */
extern const struct fill_type fill_preferred;     /* PreferredSchedulingTerm */

/* `in` is NULL for an absent selector. Never fails: a selector that upstream refuses becomes MATCHER_INVALID,
 * and so does one with more rules or values than fit. One that takes more work than is left sets b->spent. */
struct matcher build_matcher(struct build *b, const struct selector_in *in);
/* The AND of equalities of a plain map, not validated. */
struct node_rules build_node_rules(struct build *b, const struct node_selector_in *in);

struct weighted_rule {
    struct node_rule rule;
    int32_t weight;
};
/* Without terms of weight 0 and empty ones. With an error there are no rules. */
struct weighted_rules {
    const struct weighted_rule *at;
    const char *error; /* or NULL */
    uint32_t n;
};
struct weighted_rules build_weighted_rules(struct build *b, const struct preferred_in *at, uint32_t n);
