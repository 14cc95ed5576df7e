/* rules/autoscaling.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules autoscaling_rules[] = {
    { 0 },
};
