/* insight/what_if_priv.h - a question on its way to an answer; shared by what_if.c, what_if_node.c, what_if_pod.c only. */
#pragma once

#include "api/value.h"
#include "insight/insight.h"
#include "sched/what_if.h"

struct what_if_question {
    struct sched *sched;
    struct sym_table *syms;
    struct arena *arena;
    struct err *e;
    struct what_if what_if;
    const struct pod *pod; /* that is asked about, as changed so far; a reference */
    uint32_t n_top, n_changes, n_lifted, n_named;
    struct map_str by_name; /* "NAMESPACE/NAME" -> pod, once many are named */
    VEC(sym) held;           /* syms of the question, until its end */
    VEC(sym) removed;        /* nodes that are not there; borrowed */
    VEC(const char *) added; /* nodes that are */
};

/* A sym that lives until the end. */
sym question_sym(struct what_if_question *q, struct str text);

/* ---- Reading: where a value stands is said by `path`, for messages ---- */

enum err_code question_fault(struct what_if_question *q, const char *path, const char *what);
/* An object with no other members than these (NULL ends). */
enum err_code question_object(struct what_if_question *q, const struct value *v, const char *path,
                              const char *const *allowed) ERR_MUST_CHECK;
/* A text of at most INSIGHT_NAME_BYTES_MAX bytes. */
enum err_code question_text(struct what_if_question *q, const struct value *v, const char *path,
                            struct str *ret_text) ERR_MUST_CHECK;
/* "NAMESPACE/NAME" of a pod that the scheduler knows. */
enum err_code question_known_pod(struct what_if_question *q, const struct value *v, const char *path,
                                 const struct pod **ret_pod) ERR_MUST_CHECK;
/* NULL: the object has no such member. */
static inline const struct value *question_member(const struct value *object, const char *key)
{
    return value_member(object, str_of(key));
}

/* Sets, replaces and (null) removes labels as `changes`, an object, says. */
enum err_code question_labels(struct what_if_question *q, const struct value *changes, const char *path,
                              struct label_set *labels) ERR_MUST_CHECK;
/* "cpu": "2" and so on into amounts; cpu in thousandths. */
enum err_code question_amount(struct what_if_question *q, const struct member *m, const char *path, int64_t *ret_amount,
                              enum resource_kind *ret_kind) ERR_MUST_CHECK;
enum err_code question_effect(struct what_if_question *q, const struct value *v, const char *path,
                              uint8_t *ret_effect) ERR_MUST_CHECK;

/* ---- Changes ---- */

/* what_if_node.c */
enum err_code change_node(struct what_if_question *q, const struct value *v, const char *path) ERR_MUST_CHECK;
enum err_code change_add_nodes(struct what_if_question *q, const struct value *v, const char *path) ERR_MUST_CHECK;
enum err_code change_remove_node(struct what_if_question *q, const struct value *v, const char *path) ERR_MUST_CHECK;
enum err_code change_drain(struct what_if_question *q, const struct value *v, const char *path) ERR_MUST_CHECK;
enum err_code change_evict(struct what_if_question *q, const struct value *v, const char *path) ERR_MUST_CHECK;
/* what_if_pod.c */
enum err_code change_pod(struct what_if_question *q, const struct value *v, const char *path) ERR_MUST_CHECK;
/* A pod that is only asked about: the manifest as an API server would take it. */
enum err_code question_manifest(struct what_if_question *q, const struct value *v) ERR_MUST_CHECK;
