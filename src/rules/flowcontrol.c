/* rules/flowcontrol.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules flowcontrol_rules[] = {
    { 0 },
};
