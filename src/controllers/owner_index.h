/* controllers/owner_index.h - which owners could select an object, without asking all of them.
 *
 * An owner stands under one label that its selector demands, or, when it demands none by value, under its namespace. What is
 * found may still not match; what is not found does not.
 *
 * Thread: one at a time.    Owns: copies of keys and labels. */
#pragma once

#include "api/labels.h"
#include "api/value.h"

struct owner_index;

struct owner_index *owner_index_new(void);
void owner_index_free(struct owner_index *x);

/* `key` names the owner ("namespace/name"); `match_labels` is the map of its selector, maybe absent. Put again: replaced. */
void owner_index_put(struct owner_index *x, struct str key, struct str namespace, const struct value *match_labels);
void owner_index_remove(struct owner_index *x, struct str key);

typedef void owner_index_found(void *context, struct str key);
/* Each at most once. */
void owner_index_find(const struct owner_index *x, struct str namespace, struct labels labels,
                         owner_index_found *found, void *context);
