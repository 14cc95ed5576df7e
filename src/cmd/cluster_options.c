/* cmd/cluster_options.c - the options of cluster.h. */
#include "cmd/cluster.h"

static int take_kubeconfig(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->kubeconfig = value;
    o->live = true;
    return 0;
}

static int take_context(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->context = value;
    o->live = true;
    return 0;
}

static int take_cluster(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->cluster = value;
    o->live = true;
    return 0;
}

static int take_user(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->user = value;
    o->live = true;
    return 0;
}

static int take_server(void *context, const char *value)
{
    struct cluster_options *o = context;
    o->server = value;
    o->live = true;
    return 0;
}

static int take_live(void *context, const char *value)
{
    (void)value;
    ((struct cluster_options *)context)->live = true;
    return 0;
}

const struct cmd_option cluster_option_rows[] = {
    { "--cluster", CMD_VALUE, take_cluster, NULL },
    { "--context", CMD_VALUE, take_context, NULL },
    { "--kubeconfig", CMD_VALUE, take_kubeconfig, NULL },
    { "--live", CMD_FLAG, take_live, NULL },
    { "--server", CMD_VALUE, take_server, NULL },
    { "--user", CMD_VALUE, take_user, NULL },
    { 0 },
};
