/* config/features.h - feature gates: which exist, which are on, and what --feature-gates says about them.
 *
 * Names, defaults, locks, dependencies and the texts of refusals are those of kube-scheduler v1.36.4 without
 * --emulated-version.
 *
 * Thread: one at a time while being set, any after.    Owns: nothing. */
#pragma once

#include "base/err.h"
#include "config/gates.h"
#include "sched/plugin.h"

enum gate {
#define X(name, stage, state) GATE_##name,
    GATES(X)
#undef X
    N_GATES
};

struct gates {
    bool on[N_GATES];
};

/* All at their defaults. */
void gates_init(struct gates *g);

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
/* As metrics name it: "ALPHA", "BETA", "DEPRECATED", and empty for what is there to stay. */
const char *gate_stage(enum gate gate);

/* What the scheduler and its plugins look at. */
struct features gates_features(const struct gates *g);
