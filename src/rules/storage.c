/* rules/storage.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules storage_rules[] = {
    { 0 },
};
