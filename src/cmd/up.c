/* cmd/up.c - `berth up`: a control plane in one process. See daemon/up.h. */
#include "daemon/up.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "cmd/component.h"
#include "cmd/up.h"
#include "config/apiserver_check.h"
#include "config/scheduler_options.h"
#include "daemon/up_folder.h"
#include "daemon/up_keys.h"

enum { PORT_DEFAULT = 6443, FLAGS_MAX = 24 };

static const char help[] =
    "usage: berth up [--data-dir DIR | --memory] [--port N] [--address IP] [--config FILE] [--controllers LIST]\n"
    "                [--feature-gates LIST] [--nodes N | --node-file FILE] [--dashboard-port N | --no-dashboard]\n"
    "                [--print-kubeconfig] [--wait] [-v N]\n\n"
    "Runs a whole Kubernetes control plane in this one process: API server with a durable store, controllers and scheduler.\n"
    "Certificates and a kubeconfig are made at the first start and kept with the data; a later start goes on where the last\n"
    "one ended. When it is ready it prints 'berth up is ready at URL', where the kubeconfig is, and what to type next. Ctrl-C\n"
    "ends it cleanly.\n\n"
    "  --data-dir DIR      where everything is kept (default $XDG_STATE_HOME/berth or ~/.local/state/berth)\n"
    "  --memory            nothing is kept; kubeconfig and log are in a temporary folder that goes with the process\n"
    "  --port N            of the API server (default 6443; 0 takes a free one)\n"
    "  --address IP        that it listens on (default 127.0.0.1)\n"
    "  --config FILE       the scheduler's KubeSchedulerConfiguration\n"
    "  --controllers LIST  which controllers run: * for all (default), NAME, -NAME; nothing for none\n"
    "  --feature-gates LIST  NAME=true|false, separated by commas\n"
    "  --nodes N           so many hollow nodes to schedule on\n"
    "  --node-file FILE    hollow nodes of the shapes in the file\n"
    "  --dashboard-port N  of the dashboard, plain HTTP on 127.0.0.1 for everybody on this machine (default 0: a free one)\n"
    "  --no-dashboard      serves none\n"
    "  --print-kubeconfig  prints the kubeconfig itself when ready, and nothing else\n"
    "  --wait              returns when it is ready, and leaves it running: berth status, berth down\n"
    "  -v N                how much goes into the log, DIR/up.log\n\n"
    "exit code: 0 after a signal to end, or when ready with --wait; 1 it could not start, 2 wrong usage\n\n"
    "examples:\n"
    "  berth up\n"
    "  berth up --memory --port 0\n"
    "  berth up --wait --data-dir cluster && export KUBECONFIG=$PWD/cluster/kubeconfig && berth get nodes\n"
    "  berth up --wait --memory --print-kubeconfig >kubeconfig\n"
    "  berth down --data-dir cluster\n";

struct upping {
    const struct command *c;
    struct arena arena;
    struct err e;
    const char *data_dir, *address, *config_file, *controllers, *feature_gates, *n_nodes, *node_file, *verbosity;
    uint64_t port, dashboard_port;
    bool memory, print_kubeconfig, waits, no_dashboard;
    const char *folder, *url;
    struct up_keys keys;
    struct up_log log;
    struct apiserver_flags server_flags;
    struct scheduler_flags scheduler_flags;
    struct gates gates;
    struct config *config;
};

/* ---- The command line ---- */

static int take_number(struct upping *u, const char *name, const char *text, uint64_t max, uint64_t *ret_number)
{
    if (cmd_parse_number(text, max, ret_number))
        return 0;
    return cmd_fail(u->c, EXIT_USAGE, "%s must be a number up to %llu, not \"%s\"", name, (unsigned long long)max, text);
}

static int take_data_dir(void *context, const char *value)
{
    ((struct upping *)context)->data_dir = value;
    return 0;
}

static int take_config_file(void *context, const char *value)
{
    ((struct upping *)context)->config_file = value;
    return 0;
}

static int take_controllers(void *context, const char *value)
{
    ((struct upping *)context)->controllers = value;
    return 0;
}

static int take_feature_gates(void *context, const char *value)
{
    ((struct upping *)context)->feature_gates = value;
    return 0;
}

static int take_node_file(void *context, const char *value)
{
    ((struct upping *)context)->node_file = value;
    return 0;
}

static int take_memory(void *context, const char *value)
{
    (void)value;
    ((struct upping *)context)->memory = true;
    return 0;
}

static int take_print_kubeconfig(void *context, const char *value)
{
    (void)value;
    ((struct upping *)context)->print_kubeconfig = true;
    return 0;
}

static int take_waits(void *context, const char *value)
{
    (void)value;
    ((struct upping *)context)->waits = true;
    return 0;
}

static int take_port(void *context, const char *value)
{
    struct upping *u = context;
    return take_number(u, "--port", value, UINT16_MAX, &u->port);
}

static int take_dashboard_port(void *context, const char *value)
{
    struct upping *u = context;
    return take_number(u, "--dashboard-port", value, UINT16_MAX, &u->dashboard_port);
}

static int take_no_dashboard(void *context, const char *value)
{
    (void)value;
    ((struct upping *)context)->no_dashboard = true;
    return 0;
}

static int take_nodes(void *context, const char *value)
{
    struct upping *u = context;
    uint64_t unused;
    u->n_nodes = value;
    return take_number(u, "--nodes", value, INT32_MAX, &unused);
}

static int take_verbosity(void *context, const char *value)
{
    struct upping *u = context;
    uint64_t unused;
    u->verbosity = value;
    return take_number(u, "-v", value, 10, &unused);
}

static int take_address(void *context, const char *value)
{
    struct upping *u = context;
    unsigned char room[sizeof(struct in6_addr)];
    u->address = value;
    if (inet_pton(AF_INET, value, room) == 1 || inet_pton(AF_INET6, value, room) == 1)
        return 0;
    return cmd_fail(u->c, EXIT_USAGE, "--address must be an IP address, not \"%s\"", value);
}

static const struct cmd_option options[] = {
    { "--address", CMD_VALUE, take_address, NULL },
    { "--config", CMD_VALUE, take_config_file, NULL },
    { "--controllers", CMD_VALUE, take_controllers, NULL },
    { "--dashboard-port", CMD_VALUE, take_dashboard_port, NULL },
    { "--data-dir", CMD_VALUE, take_data_dir, NULL },
    { "--feature-gates", CMD_VALUE, take_feature_gates, NULL },
    { "--memory", CMD_FLAG, take_memory, NULL },
    { "--no-dashboard", CMD_FLAG, take_no_dashboard, NULL },
    { "--node-file", CMD_VALUE, take_node_file, NULL },
    { "--nodes", CMD_VALUE, take_nodes, NULL },
    { "--port", CMD_VALUE, take_port, NULL },
    { "--print-kubeconfig", CMD_FLAG, take_print_kubeconfig, NULL },
    { "--wait", CMD_FLAG, take_waits, NULL },
    { "-v", CMD_VALUE, take_verbosity, NULL },
    { 0 },
};

/* ---- Where ---- */

const char *up_choose_folder(const char *given, struct arena *a)
{
    const char *folder = given ? given : up_folder_default(a);
    char *here = folder[0] == '/' ? NULL : getcwd(NULL, 0);
    if (here)
        folder = arena_printf(a, "%s/%s", here, folder);
    free(here);
    return folder;
}

/* One that nobody else listens on at the moment. */
static int free_port(const char *address)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    struct sockaddr_in four = { .sin_family = AF_INET };
    bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
    struct sockaddr *at = is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    socklen_t n = is_four ? sizeof(four) : sizeof(six);
    if (!is_four)
        inet_pton(AF_INET6, address, &six.sin6_addr);
    int fd = socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && bind(fd, at, n) == 0 && getsockname(fd, at, &n) == 0;
    if (fd >= 0)
        close(fd);
    return found ? ntohs(is_four ? four.sin_port : six.sin6_port) : 0;
}

static int find_place(struct upping *u)
{
    if (u->memory && u->data_dir)
        return cmd_fail(u->c, EXIT_USAGE, "--memory keeps nothing, so there is no --data-dir with it");
    if (u->memory && up_folder_temporary(&u->arena, &u->folder, &u->e))
        return cmd_fail(u->c, 1, "%s", u->e.message);
    if (!u->memory)
        u->folder = up_choose_folder(u->data_dir, &u->arena);
    if (u->port == 0)
        u->port = (uint64_t)free_port(u->address);
    if (u->dashboard_port == 0 && !u->no_dashboard)
        u->dashboard_port = (uint64_t)free_port("127.0.0.1");
    bool is_every = strcmp(u->address, "0.0.0.0") == 0 || strcmp(u->address, "::") == 0;
    const char *host = is_every ? "127.0.0.1" : u->address;
    u->url = arena_printf(&u->arena, strchr(host, ':') ? "https://[%s]:%d" : "https://%s:%d", host, (int)u->port);
    return 0;
}

/* ---- What it runs with ---- */

struct words {
    char *at[FLAGS_MAX];
    int n;
};

static void add_flag(struct upping *u, struct words *w, const char *name, const char *value)
{
    if (value)
        w->at[w->n++] = arena_printf(&u->arena, "--%s=%s", name, value);
}

/* Every server and scheduler of berth is told by flags what to do, and so are these. */
static enum err_code set_server_flags(struct upping *u)
{
    struct words w = { .n = 1 }; /* the first is not looked at */
    add_flag(u, &w, u->memory ? "memory" : "data-dir", u->memory ? "true" : arena_printf(&u->arena, "%s/store", u->folder));
    add_flag(u, &w, "cert-dir", u->keys.folder);
    add_flag(u, &w, "tls-cert-file", u->keys.cert_file);
    add_flag(u, &w, "tls-private-key-file", u->keys.key_file);
    add_flag(u, &w, "client-ca-file", u->keys.ca_file);
    add_flag(u, &w, "bind-address", u->address);
    add_flag(u, &w, "secure-port", arena_printf(&u->arena, "%d", (int)u->port));
    add_flag(u, &w, "authorization-mode", "Node,RBAC");
    add_flag(u, &w, "allow-privileged", "true");
    add_flag(u, &w, "controllers", u->controllers);
    add_flag(u, &w, "feature-gates", u->feature_gates);
    add_flag(u, &w, "hollow-nodes", u->n_nodes);
    add_flag(u, &w, "hollow-node-file", u->node_file);
    add_flag(u, &w, "v", u->verbosity);
    return apiserver_flags_parse(&u->server_flags, &u->arena, w.n, w.at, &u->e);
}

static enum err_code set_scheduler_flags(struct upping *u)
{
    struct words w = { .n = 1 }; /* the first is not looked at */
    add_flag(u, &w, "config", u->config_file);
    add_flag(u, &w, "feature-gates", u->feature_gates);
    add_flag(u, &w, "leader-elect", "false");
    struct str unused;
    if (scheduler_flags_parse(&u->scheduler_flags, &u->arena, w.n, w.at, &u->e))
        return u->e.code;
    return scheduler_options_config(&u->scheduler_flags, &u->gates, &u->arena, &u->config, &unused, &u->e);
}

static enum err_code configure(struct upping *u)
{
    struct scheduler_flags shared;
    struct flag_strings warnings = { 0 };
    if (set_server_flags(u))
        return u->e.code;
    apiserver_flags_shared(&u->server_flags, &u->arena, &shared);
    if (scheduler_options_gates(&shared, &u->gates, &u->e) || scheduler_options_logs(&shared, &u->gates, &u->e) ||
        apiserver_check_flags(&u->server_flags, &u->gates, &warnings, &u->e))
        return u->e.code;
    return set_scheduler_flags(u);
}

static enum err_code prepare(struct upping *u)
{
    const char *log = arena_printf(&u->arena, "%s/up.log", u->folder);
    if (up_folder_take(u->folder, &u->arena, &u->e))
        return u->e.code;
    if (!up_log_open(&u->log, log))
        return err_set(&u->e, ERR_IO, "open %s: %s", log, strerror(errno));
    if (up_keys_make(u->folder, u->address, u->url, &clock_real, &u->arena, &u->keys, &u->e))
        return u->e.code;
    return configure(u);
}

/* ---- Words ---- */

static const char *dashboard_text(struct upping *u)
{
    return u->no_dashboard ? "" : arena_printf(&u->arena, "dashboard: http://127.0.0.1:%d/\n", (int)u->dashboard_port);
}

static int tell_ready(struct upping *u)
{
    struct str text;
    const char *kubeconfig = arena_printf(&u->arena, "%s/kubeconfig", u->folder);
    if (u->print_kubeconfig && config_read_file(&u->arena, kubeconfig, &text, &u->e))
        return cmd_fail(u->c, 1, "%s", u->e.message);
    if (!u->print_kubeconfig)
        text = str_of(arena_printf(&u->arena,
                                   "berth up is ready at %s\nkubeconfig: %s\n%s%s%s%s\nnext:\n  export KUBECONFIG=%s\n"
                                   "  berth get namespaces\n",
                                   u->url, kubeconfig, dashboard_text(u), u->waits ? "it runs in the background; to end it: berth down" : "",
                                   u->waits ? " --data-dir " : "", u->waits ? u->folder : "to end it: Ctrl-C", kubeconfig));
    return cmd_print(u->c, CMD_TEXT, text);
}

static void on_ready(void *context)
{
    struct upping *u = context;
    if (u->waits)
        up_background_ready(&u->log);
    else
        tell_ready(u);
}

/* ---- The story ---- */

static char *folder_at_end; /* that goes with the process, however it ends */

static void remove_folder(void)
{
    struct arena a;
    arena_init(&a);
    up_folder_remove(folder_at_end, &a);
    arena_fini(&a);
}

static int run_here(struct upping *u)
{
    int code;
    if (u->memory) {
        folder_at_end = strdup(u->folder);
        atexit(remove_folder);
    }
    if (prepare(u)) {
        code = cmd_fail(u->c, 1, "%s", u->e.message);
    } else {
        code = up_run(&(struct up_options){ .server_flags = &u->server_flags,
                                            .scheduler_flags = &u->scheduler_flags,
                                            .gates = &u->gates,
                                            .config = u->config,
                                            .build = component_build(&u->gates, &u->arena),
                                            .dashboard_port = u->no_dashboard ? 0 : (int)u->dashboard_port,
                                            .ca_pem = u->keys.ca_pem,
                                            .ready = on_ready,
                                            .context = u });
        log_set_sink(NULL, NULL);
    }
    return code;
}

static int start(struct upping *u)
{
    int code = find_place(u);
    if (code)
        return code;
    if (u->waits && up_background(u->c, &code) == UP_PARENT)
        return code ? code : tell_ready(u);
    return run_here(u);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct upping u = { .c = c, .address = "127.0.0.1", .port = PORT_DEFAULT };
    arena_init(&u.arena);
    err_init(&u.e, &u.arena);
    int code = cmd_options_parse(c, &(struct cmd_options){ .at = options }, &u, argc, argv);
    if (!code)
        code = start(&u);
    arena_fini(&u.arena);
    return code;
}

const struct command up_command = {
    .name = "up",
    .summary = "a whole control plane in one process, with a kubeconfig for you",
    .help = help,
    .run = run,
};
