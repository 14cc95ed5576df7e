/* rules/extension.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules extension_rules[] = {
    { 0 },
};
