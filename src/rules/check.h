/* rules/check.h - checks that workloads, quotas, budgets and autoscalers share; see place.h.
 *
 * Thread: as the list of errors. */
#pragma once

#include "api/labels.h"
#include "api/quantity.h"
#include "rules/place.h"

/* ---- Places ---- */

/* Further down: "strategy.rollingUpdate". */
struct place place_at(const struct place *p, const char *path);
/* The value of a map's text, as annotations are; empty when it is not there. */
struct str place_entry(const struct place *map, const char *key);
struct labels place_labels(const struct place *map);
/* An amount; 0 when it is none. */
struct quantity place_amount(const struct place *p);
/* Whether two LabelSelectors, maps or texts at the same path of two objects are the same. */
bool same_at(const struct rules_context *c, const struct value *a, const struct value *b, const char *path);

/* ---- Numbers ---- */

/* Children of a struct, a list that ends with NULL. */
void check_none_negative(const struct place *p, const char *const *names);
/* `cannot be greater than <limit's words>` for each child that is. */
void check_none_above(const struct place *p, const char *const *names, const char *limit, const char *words);
/* A child of a status that only grows: collisionCount. */
void check_not_decremented(const struct place *status, const struct place *old_status, const char *name);
/* Not below 0, or a percentage. */
void check_count_or_percent(const struct place *p);
void check_not_above_all(const struct place *p);
/* The number, or that before the %. */
int64_t count_or_percent(const struct place *p);

/* ---- Resources and amounts ---- */

/* Entries of a map; the key is the resource. */
void check_resource_name(const struct place *entry, struct str name);
void check_container_resource_name(const struct place *entry, struct str name);
void check_quota_resource_name(const struct place *entry, struct str name);
/* Not below 0, and whole where the resource has no parts. */
void check_resource_amount(const struct place *entry, struct str name);
bool resource_is_quota_standard(struct str name);
/* More of it may be promised than there is: amounts of the node's own. */
bool resource_may_overcommit(struct str name);

/* ---- Selectors and templates ---- */

/* A LabelSelector that must be there and say something; `owner` stands in the text. Returns false when it is not valid
 * as far as matching goes, and then has said so with `fault`. */
bool check_selector_of(const struct place *selector, const char *owner, const char *fault);
/* A selector that is there and valid, and says something, matches the labels of the template. */
void check_selector_matches(const struct place *selector, const struct place *template);
/* False for one that is not there; true for one that cannot be one, which is an error of its own. */
bool selector_matches_labels(const struct place *selector, struct labels labels);
/* Templates whose pods run forever: restartPolicy and activeDeadlineSeconds; `owner` stands in the text. */
void check_lasting_template(const struct place *template, const char *owner);
/* Names of pods begin with that of the object. */
void warn_name_is_no_label(const struct rules_context *c, const struct value *object);
