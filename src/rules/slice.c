/* rules/slice.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules slice_rules[] = {
    { 0 },
};
