/* rules/registration.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules registration_rules[] = {
    { 0 },
};
