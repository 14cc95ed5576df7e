/* rules/resource.h - checks that the kinds of resource.k8s.io share.
 *
 * Thread: as the list of errors. */
#pragma once

#include "rules/place.h"

enum {
    DEVICE_REQUESTS_MAX = 32,
    DEVICE_CONSTRAINTS_MAX = 32,
    DEVICE_CONFIG_MAX = 32,
    DEVICE_SELECTORS_MAX = 32,
    DEVICE_ID_BYTES_MAX = 32,
    DEVICE_DOMAIN_BYTES_MAX = 63,
};

typedef void resource_check(const struct place *item, const void *data);

/* All items of a list, unless there are more than `max`. */
void resource_check_list(const struct place *list, int64_t max, resource_check *check, const void *data);
/* And none twice: by the child `key`, or by the text itself when it is NULL. */
void resource_check_set(const struct place *list, int64_t max, resource_check *check, const void *data, const char *key);
void resource_check_pool_name(const struct place *name);
void resource_check_label(const struct place *name);
/* name or domain/name. */
void resource_check_qualified_name(struct str name, const struct place *at);
void resource_check_selectors(const struct place *selectors);
/* `opaque` of a configuration. */
void resource_check_configuration(const struct place *config);
/* A JSON object of at most `max` bytes; must be there. */
void resource_check_raw(const struct place *raw, size_t max);
void resource_check_binding_conditions(const struct place *at);
/* A list of meta/v1 Condition. */
void resource_check_conditions(const struct place *conditions);
