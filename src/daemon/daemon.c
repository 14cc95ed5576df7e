/* daemon/daemon.c - see daemon.h. */
#include "daemon/daemon.h"

#include "base/log.h"

int daemon_run(const struct daemon_options *o)
{
    LOG_ERROR("this build has no daemon", "command failed", KS("scheduler", o->config->profiles[0].scheduler_name));
    return 1;
}
