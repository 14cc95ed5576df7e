/* sched/assume.h - objects as the scheduler expects them to be soon, laid over the store of objects.
 *
 * A plugin that has decided on a change of an object (a volume gets its claim) assumes the changed form
 * until the API server tells of the change. An assumption holds while the stored object has the version
 * that it was made from; any other version is the truth and ends it. Who asks the store itself sees the
 * objects as they are.
 *
 * Assumptions that have ended are freed now and then, when the number of assumptions has doubled.
 *
 * Thread: scheduling thread only.    Owns: one reference per assumed form, and to its name. */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "sched/objects.h"

struct assumed {
    enum object_kind kind;
    struct sym_table *syms;
    struct map_u64 by_name; /* namespace << 32 | name -> form */
    uint32_t sweep_at;      /* number of assumptions at which those that have ended are freed */
};

void assumed_init(struct assumed *a, enum object_kind kind, struct sym_table *syms);
void assumed_fini(struct assumed *a);

/* What the stored form is assumed to be; itself when nothing is assumed. Borrowed until the next change. */
const void *assumed_over(const struct assumed *a, const void *stored);
/* NULL when the store has no such object. */
const void *assumed_get(const struct assumed *a, const struct objects *o, sym ns, struct str name);

/* Takes over the caller's reference, also on failure: when the stored object has another version or is
 * gone. */
enum err_code assumed_set(struct assumed *a, const struct objects *o, const void *own_form,
                          struct err *e) ERR_MUST_CHECK;
/* Ends the assumption that was made from this version; nothing happens when there is none. */
void assumed_drop(struct assumed *a, sym ns, struct str name, const char *version);
