/* apply/managers.h - the entries of metadata.managedFields, with their sets read.
 *
 * An entry is told from others by manager, operation and subresource, that of an update by its apiVersion too. Entries
 * are in the order of who they are; one whose set is empty is not there any more, but keeps its time in case it comes
 * back.
 *
 * Upstream: apimachinery, managedfields/internal.
 * Thread: any. Memory: the arena; texts and sets share with the object. */
#pragma once

#include "apply/field_set.h"
#include "base/err.h"

enum { /* slots of meta/v1.ManagedFieldsEntry */
    ENTRY_MANAGER,
    ENTRY_OPERATION,
    ENTRY_API_VERSION,
    ENTRY_TIME,
    ENTRY_FIELDS_TYPE,
    ENTRY_FIELDS,
    ENTRY_SUBRESOURCE,
    ENTRY_SLOTS,
};

/* Entries of updates that are kept; the oldest become one. As upstream. */
enum { UPDATE_MANAGERS_MAX = 10 };

struct managed_entry {
    struct str manager, api_version, subresource;
    bool applied;      /* else an update */
    struct value time; /* or absent */
    struct field_set set;
};

struct managed {
    struct managed_entry *entries;
    uint32_t n;
    uint32_t cap; /* room for two more when it was read: who asks, and the bucket of the oldest */
};

/* INTERNAL with upstream's text for what is damaged. `list` is the slot of managedFields. */
ERR_MUST_CHECK enum err_code managed_read(struct arena *a, const struct value *list, struct managed *ret_managed,
                                          struct err *e);
/* A list for the slot, or absent when nobody owns anything. */
struct value managed_write(struct arena *a, const struct managed *m);
/* Whether any entry is there, also one that owns nothing. */
static inline bool managed_any(const struct managed *m)
{
    return m->n > 0;
}

/* The entry of who this is; it is made when there is none. */
struct managed_entry *managed_entry_of(struct arena *a, struct managed *m, struct managed_entry who);
/* Merges the oldest updates until UPDATE_MANAGERS_MAX are left. */
void managed_cap(struct arena *a, struct managed *m);

int managed_compare(const struct managed_entry *a, const struct managed_entry *b);
/* The JSON by which upstream sorts managers. */
struct str managed_identity(struct arena *a, const struct managed_entry *entry);
/* As conflicts name it: `"kubectl-edit" with subresource "status" using apps/v1`. */
struct str managed_shown(struct arena *a, const struct managed_entry *entry);
