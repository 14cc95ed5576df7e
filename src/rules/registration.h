/* rules/registration.h - checks that webhooks, admission policies and custom resources share.
 *
 * Thread: as the list of errors. */
#pragma once

#include "rules/place.h"

/* Operations, groups, versions, resources and scope of a rule. */
void registration_check_rule(const struct place *rule);
/* Names and expressions that are there; what they say is not looked at. */
void registration_check_match_conditions(const struct place *conditions);
/* Exactly one of `url` and `service`. */
void registration_check_client(const struct place *client);
void registration_check_url(const struct place *url);
void registration_check_service(const struct place *service, bool names_swapped);
/* White space around a text does not count. */
struct str registration_trim(struct str text);
