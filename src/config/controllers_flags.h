/* config/controllers_flags.h - the command line of the controllers: kube-controller-manager v1.36.4's flags.
 *
 * Names, types, defaults, groups and the texts of refusals are upstream's. Those that nothing in berth looks at are `idle`,
 * and a start says so. What all components have stands in the scheduler's struct, so that its checks and its secure port serve
 * here as well.
 *
 * Thread: one at a time while being parsed, any after. Memory: values borrow from the command line and the arena. */
#pragma once

#include <stddef.h>

#include "config/flag_set.h"
#include "config/scheduler_flags.h"

enum { CONTROLLERS_IDLE_MAX = 100 };

union controllers_idle_value {
#define X(name, c_type, shown) c_type name;
    FLAG_TYPES(X)
#undef X
};

struct controllers_flags {
    struct scheduler_flags shared; /* but for `given` */
    struct flag_strings controllers;
    bool use_service_account_credentials, enable_garbage_collector;
    struct str root_ca_file, service_account_private_key_file;
    /* Values of flags that nothing looks at, for those who list them. */
    union controllers_idle_value idle[CONTROLLERS_IDLE_MAX];

    struct flag_given given;
};

extern const struct flag_set controllers_flag_set;

/* argv[0] is not looked at. */
enum err_code controllers_flags_parse(struct controllers_flags *f, struct arena *a, int argc, char *const *argv,
                                      struct err *e) ERR_MUST_CHECK;
/* Whether upstream has a controller of that name; berth may lack it. */
bool controllers_flags_knows(struct str name);
/* "Usage:" and all flags. */
void controllers_flags_add_usage(struct strbuf *b, unsigned columns);
