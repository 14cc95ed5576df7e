/* api/validate.h - checks of single fields that many kinds share, as field errors.
 *
 * Each appends what it finds to `errs`. Texts that end up in errors are borrowed: they must outlive the
 * list.
 *
 * Thread: as the list. */
#pragma once

#include "api/field_error.h"
#include "api/labels.h"
#include "api/names.h"

enum { FIELD_MANAGER_BYTES_MAX = 128, ANNOTATIONS_BYTES_MAX = 256 << 10 };

/* One field_invalid with the value for each text. */
void validate_name_errors(struct name_errors found, struct field_value value,
                          const struct field_path *at, struct field_errors *errs);
/* All texts of `found` in one, between them `separator`. */
struct str validate_join(struct arena *a, struct name_errors found, const char *separator);

/* At least three parts between dots; two, with a dot allowed at the end. */
void validate_fully_qualified_name(struct str name, const struct field_path *at,
                                   struct field_errors *errs);
void validate_fully_qualified_domain_name(struct str name, const struct field_path *at,
                                          struct field_errors *errs);
/* acme.io/foo, where foo is any HTTP path; or a label key. */
void validate_domain_prefixed_path(struct str path, const struct field_path *at,
                                   struct field_errors *errs);
void validate_domain_prefixed_key(struct str key, const struct field_path *at,
                                  struct field_errors *errs);

/* In canonical form, as fields added since v1.34 demand. */
void validate_ip(struct str text, const struct field_path *at, struct field_errors *errs);
void validate_cidr(struct str text, const struct field_path *at, struct field_errors *errs);
/* For older fields: any spelling of the address. `strict` (a gate) refuses leading zeros, IPv4-mapped
 * addresses and host bits. */
void validate_legacy_ip(struct str text, bool strict, const struct field_path *at,
                        struct field_errors *errs);
void validate_legacy_cidr(struct str text, bool strict, const struct field_path *at,
                          struct field_errors *errs);

void validate_field_manager(struct str manager, const struct field_path *at, struct field_errors *errs);
void validate_finalizer_name(struct str name, const struct field_path *at, struct field_errors *errs);
void validate_label_name(struct str key, const struct field_path *at, struct field_errors *errs);
/* In the order given; upstream's is that of a Go map. */
void validate_labels(struct labels labels, const struct field_path *at, struct field_errors *errs);
void validate_annotations(struct labels annotations, const struct field_path *at,
                          struct field_errors *errs);
void validate_not_negative(int64_t value, const struct field_path *at, struct field_errors *errs);
