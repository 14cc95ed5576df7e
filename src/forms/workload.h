/* forms/workload.h - the kinds that own pods or select them, for spreading by default. See typed.h for
 * ownership. */
#pragma once

#include "forms/typed.h"

struct service {
    struct typed typed;
    struct typed_meta meta;
    struct label_set selector; /* equalities */
    bool has_selector;         /* given, even empty */
};

TYPED_FUNCTIONS(service);

struct replication_controller {
    struct typed typed;
    struct typed_meta meta;
    struct label_set selector; /* equalities */
};

TYPED_FUNCTIONS(replication_controller);

struct replica_set {
    struct typed typed;
    struct typed_meta meta;
    struct matcher selector;
};

TYPED_FUNCTIONS(replica_set);

struct stateful_set {
    struct typed typed;
    struct typed_meta meta;
    struct matcher selector;
};

TYPED_FUNCTIONS(stateful_set);
