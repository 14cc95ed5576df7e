/* config/component_version.h - versions of a component: what --emulated-version, --min-compatibility-version and
 * --version=vX.Y.Z say.
 *
 * A version is two or more numbers with dots; "v" and blanks before it and any text behind it do not count. Texts of
 * refusals are upstream's (apimachinery/pkg/util/version, component-base/compatibility, v1.36).
 *
 * Thread: any. */
#pragma once

#include "config/flag_csv.h"

/* The newest that can be emulated is this program's own. */
enum { VERSION_MAJOR = 1, VERSION_MINOR_FLOOR = 33, VERSION_MINOR = 36 };

struct component_version {
    uint64_t major, minor;
};

struct component_versions {
    struct component_version emulated, min_compatible;
};

/* Those of a scheduler without flags: 1.36 and 1.35. */
struct component_versions component_versions_default(void);
/* From the values of the two flags, `[kube=]1.35` each. Does not check that they are in range. */
enum err_code component_versions_set(struct component_versions *v, const struct flag_strings *emulated,
                                     const struct flag_strings *min_compatible, struct err *e) ERR_MUST_CHECK;
/* Appends what is out of range. */
void component_versions_check(const struct component_versions *v, struct arena *a, struct flag_strings *problems);
/* The minor version whose feature gates are there: within the range, whatever the flags say. */
unsigned component_versions_gates(const struct component_versions *v);

/* Whether `text` is a version (of three numbers) with the same numbers as `own`. */
enum err_code component_version_matches(struct str text, struct str own, struct err *e) ERR_MUST_CHECK;
