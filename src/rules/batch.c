/* rules/batch.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules batch_rules[] = {
    { 0 },
};
