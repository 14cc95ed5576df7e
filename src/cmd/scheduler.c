/* cmd/scheduler.c - `berth scheduler`, and what a link named kube-scheduler runs: the command line up to where the daemon
 * takes over. Exit codes and texts are kube-scheduler's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sym.h"
#include "build_info.h"
#include "cmd/component.h"
#include "config/scheduler_options.h"
#include "config/setup.h"
#include "daemon/daemon.h"
#include "plugins/plugins.h"

static const char about[] =
    "The scheduler of a Kubernetes cluster: it watches for pods without a node, finds out which nodes\n"
    "each of them fits on, picks the best one and binds the pod to it. Decisions, flags, files and\n"
    "endpoints are those of kube-scheduler " BUILD_KUBERNETES ", which it can stand in for.\n\n";

struct start {
    const struct command *c;
    struct arena arena;
    struct err e;
    struct scheduler_flags flags;
    struct gates gates;
    struct config *config;
    struct str config_text;
};

/* ---- Before there is logging ---- */

static int print_help(const struct command *c)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, about);
    scheduler_flags_add_usage(&text, cmd_columns());
    int code = cmd_print(c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

/* The flags themselves are wrong: all of them are shown before that. */
static int refuse_flags(const char *message)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    scheduler_flags_add_usage(&text, cmd_columns());
    strbuf_add_char(&text, '\n');
    cmd_write_error(strbuf_str(&text));
    strbuf_fini(&text);
    return component_refuse("Error: ", message);
}

/* ---- Logging ---- */

static int fail(const struct start *s)
{
    LOG_ERROR(s->e.message, "command failed");
    return 1;
}

/* ---- The configuration, completed ---- */

static int write_config(struct start *s, struct str yaml)
{
    const char *path = arena_cstr(&s->arena, s->flags.write_config_to);
    if (!cmd_write_file(path, yaml)) {
        char *reason = arena_printf(&s->arena, "%s", strerror(errno));
        reason[0] |= 32; /* as Go words it */
        err_set(&s->e, ERR_IO, "open %s: %s", path, reason);
        return fail(s);
    }
    LOG(0, "Wrote configuration", KS("file", path));
    return 0;
}

/* Logs it when somebody reads so much, and writes it to the file that is asked for. */
static int show_config(struct start *s)
{
    struct sym_table syms;
    struct setup setup;
    struct features features = gates_features(&s->gates);
    sym_init(&syms);
    int code = 0;
    if (setup_from_config(&setup, &syms, s->config, &features, true, plugin_registry, &s->e)) {
        code = fail(s);
    } else {
        struct strbuf yaml;
        strbuf_init(&yaml, STRBUF_NO_MAX);
        config_trim_args(&setup.arena, setup.config, setup.registry);
        config_add_yaml(&yaml, setup.config);
        LOG(2, "Using component config", KS("config", strbuf_str(&yaml)));
        if (s->flags.write_config_to.n)
            code = write_config(s, strbuf_str(&yaml));
        strbuf_fini(&yaml);
        setup_fini(&setup);
    }
    sym_fini(&syms);
    return code;
}

/* ---- The story ---- */

static int check(struct start *s)
{
    struct flag_strings warnings = { 0 };
    component_log_alpha_gates(&s->gates, &s->arena);
    enum err_code rc = scheduler_check_flags(&s->flags, &s->gates, &warnings, &s->e);
    for (size_t i = 0; i < warnings.n; i++)
        LOG_WARNING(arena_cstr(&s->arena, warnings.at[i]));
    return rc ? fail(s) : 0;
}

static int configure(struct start *s)
{
    enum { FATAL = 255 }; /* as after a fatal log line */
    struct scheduler_tls tls;
    enum err_code code =
        scheduler_options_config(&s->flags, &s->gates, &s->arena, &s->config, &s->config_text, &s->e);
    if (code == ERR_UNKNOWN) {
        fail(s);
        return FATAL;
    }
    if (code || scheduler_check_serving(&s->flags, &s->arena, &tls, &s->e) || scheduler_options_check_client(s->config, &s->e))
        return fail(s);
    return 0;
}

static int run_daemon(struct start *s)
{
    if (scheduler_options_check_election(&s->config->leader_election, &s->e))
        return fail(s);
    struct daemon_options o = { .flags = &s->flags, .gates = &s->gates, .config = s->config,
                                .config_text = s->config_text, .build = component_build(&s->gates, &s->arena) };
    return daemon_run(&o);
}

static int begin(struct start *s)
{
    if (scheduler_options_gates(&s->flags, &s->gates, &s->e))
        return fail(s);
    component_log_gates(&s->gates);
    if (component_asks_version(s->flags.version))
        return component_print_version(s->c, s->flags.version);
    if (scheduler_options_logs(&s->flags, &s->gates, &s->e))
        return component_refuse("", s->e.message);
    component_log_flags(&scheduler_flag_set, &s->flags, &s->arena);
    int code = check(s);
    if (!code)
        code = configure(s);
    if (!code && (s->flags.write_config_to.n || LOG_ON(2)))
        code = show_config(s);
    if (code || s->flags.write_config_to.n)
        return code;
    return run_daemon(s);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct start s = { .c = c };
    int code;
    arena_init(&s.arena);
    err_init(&s.e, &s.arena);
    if (scheduler_flags_parse(&s.flags, &s.arena, argc, argv, &s.e))
        code = refuse_flags(s.e.message);
    else if (s.flags.help)
        code = print_help(c);
    else if (component_has_arguments(&s.flags.given))
        code = component_refuse_arguments("kube-scheduler", &s.flags.given);
    else
        code = begin(&s);
    arena_fini(&s.arena);
    return code;
}

const struct command scheduler_command = {
    .name = "scheduler",
    .summary = "schedules the pods of a cluster, as kube-scheduler does",
    .run = run,
};
