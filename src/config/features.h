/* config/features.h - feature gates: which exist, which are on, and what --feature-gates says about them.
 *
 * Names, stages, defaults, locks, dependencies and the texts of refusals are those of kube-scheduler v1.36.4, also of
 * the older versions that it can emulate.
 *
 * Thread: one at a time while being set, any after.    Owns: nothing. */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"
#include "config/component_version.h"
#include "config/gates.h"
#include "sched/plugin.h"

enum gate {
#define X(name, stage, state) GATE_##name,
    GATES(X)
#undef X
    N_GATES
};

enum gate_stage { STAGE_PREALPHA /* not there yet */, STAGE_ALPHA, STAGE_BETA, STAGE_GA, STAGE_DEPRECATED };

struct gates {
    struct component_versions versions; /* that they are of */
    bool on[N_GATES];
    bool named[N_GATES]; /* by a flag */
};

/* All at their defaults. */
void gates_init(struct gates *g);
/* At those of an emulated version. */
void gates_init_at(struct gates *g, const struct component_versions *versions);

/* Applies the values of the flag in the order given, each `[kube:]Name=true,Other=false`. Of a gate
 * that is named several times the last one counts; AllAlpha and AllBeta leave alone what is named. On
 * failure `g` is as before. */
enum err_code gates_set(struct gates *g, const struct str *flags, size_t n_flags, struct err *e) ERR_MUST_CHECK;

static inline bool gate_on(const struct gates *g, enum gate gate)
{
    return g->on[gate];
}
/* NULL past the last one. */
const char *gate_name(enum gate gate);
enum gate_stage gate_stage(const struct gates *g, enum gate gate);
/* As metrics and help name it: "ALPHA", "BETA", "" (generally available), "DEPRECATED"; NULL: not there yet. */
const char *gate_stage_name(enum gate_stage stage);
/* The lines that help has about --feature-gates, each with a line break before it: gates that are no longer or not yet
 * to be set are left out. */
void gates_add_help(struct strbuf *b);

/* What the scheduler and its plugins look at. */
struct features gates_features(const struct gates *g);
