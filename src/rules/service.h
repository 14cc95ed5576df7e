/* rules/service.h - what a server does with a Service before its rules: addresses and ports that nobody had to choose.
 *
 * As upstream's registry before its strategy: first service_begin, then whoever gives out addresses and ports, then
 * prepare_* and validate_* of rules/rules.h, which want to see the result.
 *
 * Thread: any. Memory: the context's arena. */
#pragma once

#include "rules/rules.h"

/* The service with what follows from its other fields and from `old` (NULL: it is new): ipFamilyPolicy, ipFamilies,
 * clusterIPs from clusterIP, and addresses and ports that an update left out. For a server of one family, IPv4. Doing it
 * twice changes nothing. Errors mean that the request is to be refused with these alone. */
struct value service_begin(const struct rules_context *c, const struct value *new, const struct value *old,
                           struct field_errors *errs);

/* ---- Between service.c, service_spec.c and service_begin.c ---- */

struct place;

bool service_is_headless(const struct place *spec);
bool service_has_type(const struct place *spec, const char *type);
bool service_is_externally_accessible(const struct place *spec);
/* For LoadBalancer services with local traffic only. */
bool service_needs_health_check(const struct place *spec);
void service_check_addresses(const struct place *spec, const struct place *old_spec);
/* loadBalancerClass against the type. */
void service_check_class(const struct place *spec);
/* All of the spec; `old_root` and `old_spec` are NULL for a new one. */
void service_check(const struct place *root, const struct place *spec, const struct place *old_root,
                   const struct place *old_spec);
rules_prepare_create service_prepare_create;
rules_prepare_update service_prepare_update;
