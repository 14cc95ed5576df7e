/* sim/questions.h - how many what-if questions about one pod a loaded scheduler answers in a second.
 *
 * A cluster is made in memory: nodes in three zones, some tainted, some cordoned, nearly full of pods
 * of many applications, some of which spread or keep apart. Then questions are asked of it at random
 * (sched/what_if.h), each a change applied, an attempt for one pod, and the change undone: where would
 * this pod go; if this taint were gone; if this node had more; if these pods were evicted; with one
 * more node. Last, what would place pods that fit nowhere (sched/remedy.h), which is many attempts
 * each.
 *
 * The same seed asks the same questions. Thread: one; makes its own scheduler. */
#pragma once

#include "config/setup.h"

enum question {
    QUESTION_WHERE,
    QUESTION_TAINT,
    QUESTION_MORE,
    QUESTION_EVICT,
    QUESTION_NODE,
    QUESTION_REMEDIES,
    N_QUESTIONS
};

struct questions_options {
    uint32_t n_nodes, n_pods; /* the pods are on the nodes */
    uint32_t n_questions;     /* of each kind */
    uint32_t n_remedies;      /* of QUESTION_REMEDIES */
    uint64_t seed;
};

struct question_result {
    const char *name; /* "WhatIf/Where" and so on */
    uint32_t n;
    uint32_t n_placed; /* the pod found a node; QUESTION_REMEDIES: remedies in all */
    double per_second;
    int64_t p50_ns, p99_ns, max_ns;
};

enum err_code questions_run(const struct questions_options *o, struct sym_table *syms, const struct setup *setup,
                            struct question_result ret_results[N_QUESTIONS], struct err *e) ERR_MUST_CHECK;
