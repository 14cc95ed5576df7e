/* rules/service.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules service_rules[] = {
    { 0 },
};
