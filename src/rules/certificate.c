/* rules/certificate.c - see rules.h. */
#include "rules/rules.h"

const struct kind_rules certificate_rules[] = {
    { 0 },
};
