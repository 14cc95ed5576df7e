/* rules/pod.h - the rules about pod specs, for every kind that holds one.
 *
 * Whoever has a template calls, with the template of the stored object or NULL:
 *
 *     prepare   template = rules_prepare_pod_template(c, template, old_template)
 *     validate  rules_check_pod_template_spec(c, template, old_template, at, errs)
 *     warn      rules_warn_pod_template(c, template, at)
 *
 * What was stored under older rules may stay: the old template says what is still allowed. Gates have their defaults.
 *
 * Thread: any. Memory: the context's arena. */
#pragma once

#include "rules/rules.h"

/* A PodTemplateSpec without the fields that a gate turns off. */
struct value rules_prepare_pod_template(const struct rules_context *c, const struct value *template,
                                        const struct value *old_template);
/* `template` is a PodTemplateSpec, absent or not; `at` is its path: "spec.template". */
void rules_check_pod_template_spec(const struct rules_context *c, const struct value *template,
                                   const struct value *old_template, const struct field_path *at,
                                   struct field_errors *errs);
void rules_warn_pod_template(const struct rules_context *c, const struct value *template, const struct field_path *at);

/* ---- Parts that other kinds have, too ---- */

/* A list of Toleration. */
void rules_check_tolerations(const struct value *list, const struct field_path *at, struct field_errors *errs);
/* A NodeSelector. `lenient`: values that are no labels are let through. */
void rules_check_node_selector(const struct value *selector, bool lenient, const struct field_path *at,
                               struct field_errors *errs);
/* A meta/v1 LabelSelector, absent or not. */
void rules_check_label_selector(struct arena *a, const struct value *selector, bool lenient, const struct field_path *at,
                                struct field_errors *errs);
/* A map from resources to amounts as a RuntimeClass has it, checked as limits of a container. */
void rules_check_overhead(const struct value *amounts, const struct field_path *at, struct field_errors *errs);
/* A PersistentVolumeClaimSpec; `lenient`: labels in its selector are not checked. */
void rules_check_claim_spec(const struct value *spec, bool lenient, const struct field_path *at,
                            struct field_errors *errs);
