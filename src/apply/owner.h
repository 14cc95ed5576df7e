/* apply/owner.h - what a write does to the owners of fields: the steps that updates and applies share.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "apply/apply.h"
#include "apply/managers.h"
#include "apply/place.h"

/* One write: the type in which it speaks, who writes, and what the endpoint does not let him own. */
struct write {
    struct arena *arena;
    const struct type *type;
    const struct apply_manager *by;
    struct field_set reset;
};

struct write write_begin(struct arena *a, const struct type *t, const struct apply_manager *m);
/* The object without managedFields, kind and apiVersion; NULL is an absent one. */
struct value write_bare(const struct write *w, const struct value *object);
struct value write_with_managed(const struct write *w, const struct value *object, struct value managed);
const struct value *write_managed(const struct write *w, const struct value *object);

/* Drops entries whose version there is not, and fits sets to the schema. False when a version cannot be read at all. */
bool write_reconcile(const struct write *w, struct managed *m);
/* Whether an entry's paths are those of the write's version. Others stay as they are. */
bool write_speaks(const struct write *w, const struct managed_entry *entry);
/* Takes what changed from all entries but one (or NULL). */
void write_take(const struct write *w, struct managed *m, struct field_set changes, const struct managed_entry *but);
/* Without what nobody owns: name, uid, kind and the like. */
struct field_set write_strip(const struct write *w, struct field_set s);

/* Notes in `m` that `manager` made `new` of `live`; both are bare. False when one of them cannot be compared. */
bool write_note(const struct write *w, struct managed *m, struct str manager, const struct value *live,
                const struct value *new);
