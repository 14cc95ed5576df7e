/* cmd/up_control.c - `berth status` and `berth down`: about a `berth up` that runs. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cmd/cluster.h"
#include "cmd/up.h"
#include "daemon/up_folder.h"

enum { ASK_MS = 5000, LOOK_MS = 20, DOWN_MS = 90 * 1000, EXIT_NOT_RUNNING = 3 };

static const char status_help[] =
    "usage: berth status [--data-dir DIR]\n\n"
    "Says whether a berth up works on the folder, where, and whether it is ready.\n\n"
    "  --data-dir DIR  as given to berth up, or what it printed (default $XDG_STATE_HOME/berth or ~/.local/state/berth)\n\n"
    "exit code: 0 it is ready, 1 it runs but is not ready, 3 it does not run, 2 wrong usage\n\n"
    "examples:\n"
    "  berth status\n"
    "  until berth status --data-dir cluster; do sleep 0.1; done\n";

static const char down_help[] =
    "usage: berth down [--data-dir DIR]\n\n"
    "Ends the berth up that works on the folder, and returns when it has ended. Its data stay, unless it had none.\n\n"
    "  --data-dir DIR  as given to berth up, or what it printed (default $XDG_STATE_HOME/berth or ~/.local/state/berth)\n\n"
    "exit code: 0 it has ended, 1 it does not end, 3 none runs, 2 wrong usage\n\n"
    "examples:\n"
    "  berth down\n"
    "  berth down --data-dir cluster\n";

struct control {
    const struct command *c;
    struct arena arena;
    struct err e;
    const char *data_dir, *folder;
};

static int take_data_dir(void *context, const char *value)
{
    ((struct control *)context)->data_dir = value;
    return 0;
}

static const struct cmd_option options[] = {
    { "--data-dir", CMD_VALUE, take_data_dir, NULL },
    { 0 },
};

static int say(struct control *k, const char *text)
{
    return cmd_print(k->c, CMD_TEXT, str_of(text));
}

static int not_running(struct control *k)
{
    int code = say(k, arena_printf(&k->arena, "no berth up works on %s\n", k->folder));
    return code ? code : EXIT_NOT_RUNNING;
}

/* ---- berth status ---- */

struct asking {
    bool done, ready;
};

static void on_answer(void *context, const struct api_answer *a)
{
    struct asking *k = context;
    k->ready = api_ok(a);
    k->done = true;
}

/* False: it does not answer so; the address is that of its kubeconfig. */
static bool is_ready(struct control *k, const char **ret_url)
{
    struct cluster cluster;
    struct asking asking = { 0 };
    struct cluster_options o = { .kubeconfig = arena_printf(&k->arena, "%s/kubeconfig", k->folder) };
    if (cluster_open(&cluster, &o, NULL, MEDIA_JSON, &k->e))
        return false;
    struct api_request r = { .lane = API_LANE_READ, .method = "GET", .target = STR("/readyz"), .timeout_ms = ASK_MS };
    *ret_url = arena_cstr(&k->arena, cluster.config.server);
    cluster.api->send(cluster.api->context, &r, on_answer, &asking);
    cluster_wait(&cluster, &asking.done);
    cluster_close(&cluster);
    return asking.ready;
}

static int status(struct control *k, pid_t holder)
{
    const char *url = "an address that it has not told yet";
    bool ready = is_ready(k, &url);
    int code = say(k, arena_printf(&k->arena, "berth up is %s at %s\nprocess:    %d\nkubeconfig: %s/kubeconfig\nlog:        "
                                              "%s/up.log\n",
                                   ready ? "ready" : "not ready", url, (int)holder, k->folder, k->folder));
    return code ? code : !ready;
}

/* ---- berth down ---- */

static int down(struct control *k, pid_t holder)
{
    struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };
    if (kill(holder, SIGTERM) != 0)
        return cmd_fail(k->c, 1, "process %d: %s", (int)holder, strerror(errno));
    for (int waited_ms = 0; waited_ms < DOWN_MS; waited_ms += LOOK_MS) {
        if (up_folder_holder(k->folder, &k->arena) != holder)
            return say(k, arena_printf(&k->arena, "berth up (process %d) has ended\n", (int)holder));
        nanosleep(&pause, NULL);
    }
    return cmd_fail(k->c, 1, "process %d does not end", (int)holder);
}

/* ---- Both ---- */

static int run_with(const struct command *c, int argc, char **argv, int (*act)(struct control *k, pid_t holder))
{
    struct control k = { .c = c };
    arena_init(&k.arena);
    err_init(&k.e, &k.arena);
    int code = cmd_options_parse(c, &(struct cmd_options){ .at = options }, &k, argc, argv);
    if (!code) {
        k.folder = up_choose_folder(k.data_dir, &k.arena);
        pid_t holder = up_folder_holder(k.folder, &k.arena);
        code = holder ? act(&k, holder) : not_running(&k);
    }
    arena_fini(&k.arena);
    return code;
}

static int run_status(const struct command *c, int argc, char **argv)
{
    return run_with(c, argc, argv, status);
}

static int run_down(const struct command *c, int argc, char **argv)
{
    return run_with(c, argc, argv, down);
}

const struct command status_command = {
    .name = "status",
    .summary = "whether a berth up runs, and where",
    .help = status_help,
    .run = run_status,
};

const struct command down_command = {
    .name = "down",
    .summary = "ends a berth up that was left running",
    .help = down_help,
    .run = run_down,
};
