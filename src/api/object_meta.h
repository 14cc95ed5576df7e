/* api/object_meta.h - validation of an object's metadata.
 *
 * `struct object_meta` is the part of ObjectMeta that validation looks at, borrowed from the object.
 *
 * Thread: as the list of errors. */
#pragma once

#include "api/validate.h"

enum { SUBRESOURCE_BYTES_MAX = 256 };

enum tristate { TRI_ABSENT = 0, TRI_FALSE, TRI_TRUE };

struct owner_reference {
    struct str api_version, kind, name, uid;
    enum tristate controller, block_owner_deletion;
};

struct managed_fields_entry {
    struct str manager, operation, fields_type, subresource;
};

struct object_meta {
    struct str name, generate_name, namespace;
    int64_t generation;
    struct labels labels, annotations;
    const struct owner_reference *owner_references;
    size_t n_owner_references;
    struct strs finalizers;
    const struct managed_fields_entry *managed_fields;
    size_t n_managed_fields;
};

/* As for a new object whose name has been generated already. */
void validate_object_meta(const struct object_meta *meta, bool namespaced, name_rule *rule,
                          const struct field_path *at, struct field_errors *errs);

void validate_owner_references(const struct owner_reference *refs, size_t n_refs,
                               const struct field_path *at, struct field_errors *errs);
void validate_finalizers(struct strs finalizers, const struct field_path *at, struct field_errors *errs);
void validate_managed_fields(const struct managed_fields_entry *entries, size_t n_entries,
                             const struct field_path *at, struct field_errors *errs);
