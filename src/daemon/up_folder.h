/* daemon/up_folder.h - the folder of a `berth up`: which one it is, and who works in it.
 *
 *     store/       the objects (store/lmdb.h); not there with --memory
 *     pki/, kubeconfig    see up_keys.h
 *     up.lock      held by the process that works here, as long as it lives: the kernel tells who that is
 *     up.log       what it logs
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* $XDG_STATE_HOME/berth or ~/.local/state/berth. */
const char *up_folder_default(struct arena *a);
/* A new one that goes with its process, in $XDG_RUNTIME_DIR, $TMPDIR or /tmp. */
ERR_MUST_CHECK enum err_code up_folder_temporary(struct arena *a, const char **ret_folder, struct err *e);

/* Makes the folder if it is not there, and takes it; ERR_CONFLICT and who has it when somebody does. The lock lasts until the
 * process ends, and is not its children's. */
ERR_MUST_CHECK enum err_code up_folder_take(const char *folder, struct arena *a, struct err *e);
/* Who works here; 0: nobody. */
pid_t up_folder_holder(const char *folder, struct arena *a);
/* Removes all that `berth up --memory` makes there. */
void up_folder_remove(const char *folder, struct arena *a);
