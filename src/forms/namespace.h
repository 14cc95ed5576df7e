/* forms/namespace.h - a Namespace as the scheduler sees it: its labels. See typed.h for ownership. */
#pragma once

#include "forms/typed.h"

struct namespace {
    struct typed typed;
    struct typed_meta meta;
    sym name; /* as objects in it name it */
};

TYPED_FUNCTIONS(namespace);
