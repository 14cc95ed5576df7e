/* client/kubeconfig_priv.h - what the files of kubeconfig.h share. */
#pragma once

#include "base/arena.h"

/* The system's words for errno, as Go has them: in small letters. */
const char *client_errno_text(struct arena *a);
