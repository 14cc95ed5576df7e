/* config/apiserver_check.h - what the API server's flags may say, beyond what each of them may look like.
 *
 * Rules, order and texts are upstream's: several errors are joined as "[a, b]". What upstream cannot do without, berth
 * makes by itself (keys of service accounts) or does not need (etcd), so that those flags are not required.
 *
 * Thread: any. Memory: results lie in the arena and borrow from the flags. */
#pragma once

#include "api/netaddr.h"
#include "config/apiserver_flags.h"
#include "config/features.h"

#define APISERVER_CIDR_DEFAULT "10.0.0.0/24"

/* Before any file is read. `warnings` gets what is allowed but odd. */
enum err_code apiserver_check_flags(const struct apiserver_flags *f, const struct gates *g,
                                    struct flag_strings *warnings, struct err *e) ERR_MUST_CHECK;

/* The one IPv4 range of cluster IPs, as text: the default when none is given. */
enum err_code apiserver_check_cidr(const struct apiserver_flags *f, struct str *ret_cidr, struct err *e) ERR_MUST_CHECK;

/* Modes of authorization in order; AlwaysAllow when none is given. */
struct flag_strings apiserver_modes(const struct apiserver_flags *f, struct arena *a);
/* Requests without credentials: only where --anonymous-auth says so, and never where everything is allowed anyway. Health is
 * told to everyone. */
bool apiserver_takes_anonymous(const struct apiserver_flags *f);
