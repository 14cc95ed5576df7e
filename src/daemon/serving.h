/* daemon/serving.h - how a component listens, from the flags that all components have: address, certificates, TLS.
 *
 * Thread: the loop's; making a certificate takes a moment. Memory: the arena. */
#pragma once

#include "config/scheduler_flags.h"
#include "daemon/ops.h"
#include "daemon/self_signed.h"

/* `self` says what a certificate is made of when none is given; its address, folder and clock are filled in here unless
 * the folder is set. */
ERR_MUST_CHECK enum err_code serving_options(const struct scheduler_flags *f, struct loop *l,
                                             struct self_signed_options self, struct arena *a,
                                             struct ops_options *ret_options, struct err *e);
