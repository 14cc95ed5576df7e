/* cmd/scheduler.c - `berth scheduler`, and what a link named kube-scheduler runs: the command line up to where the daemon
 * takes over. Exit codes and texts are kube-scheduler's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/printable.h"
#include "base/sym.h"
#include "build_info.h"
#include "cmd/cmd.h"
#include "config/scheduler_options.h"
#include "config/setup.h"
#include "daemon/daemon.h"
#include "plugins/plugins.h"

#if defined(__x86_64__)
#define PLATFORM "linux/amd64"
#elif defined(__aarch64__)
#define PLATFORM "linux/arm64"
#else
#define PLATFORM "linux"
#endif

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

/* `usage` before it: the flags themselves are wrong. */
static int refuse(bool usage, const char *label, const char *message)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (usage) {
        scheduler_flags_add_usage(&text, cmd_columns());
        strbuf_add_char(&text, '\n');
    }
    strbuf_add_text(&text, label);
    printable_add(&text, str_of(message));
    strbuf_add_char(&text, '\n');
    cmd_write_error(strbuf_str(&text));
    strbuf_fini(&text);
    return 1;
}

static int refuse_arguments(const struct flag_strings *arguments)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "\"kube-scheduler\" does not take any arguments, got [");
    for (size_t i = 0; i < arguments->n; i++) {
        strbuf_add_text(&text, i ? " " : "");
        strbuf_add_quoted_shown(&text, arguments->at[i]);
    }
    strbuf_add_char(&text, ']');
    refuse(false, "Error: ", strbuf_cstr(&text));
    strbuf_fini(&text);
    return 1;
}

static bool has_arguments(const struct flag_strings *arguments)
{
    bool any = false;
    for (size_t i = 0; i < arguments->n; i++)
        any |= arguments->at[i].n > 0;
    return any;
}

static bool asks_version(const struct scheduler_flags *f)
{
    return str_is(f->version, "true") || str_is(f->version, "raw");
}

/* In the form of upstream's: what is Go's there is empty or the compiler's. */
static int print_version(const struct start *s)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (str_is(s->flags.version, "raw"))
        strbuf_printf(&text,
                      "version.Info{Major:\"1\", Minor:\"36\", EmulationMajor:\"\", EmulationMinor:\"\", "
                      "MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", GitVersion:\"%s\", GitCommit:\"%s\", "
                      "GitTreeState:\"\", BuildDate:\"1970-01-01T00:00:00Z\", GoVersion:\"\", Compiler:\"%s\", "
                      "Platform:\"%s\"}\n",
                      BUILD_KUBERNETES, BUILD_COMMIT, BUILD_COMPILER, PLATFORM);
    else
        strbuf_printf(&text, "Kubernetes %s\n", BUILD_KUBERNETES);
    int code = cmd_print(s->c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

/* ---- Logging ---- */

static int fail(const struct start *s)
{
    LOG_ERROR(s->e.message, "command failed");
    return 1;
}

static void log_gates(const struct gates *g)
{
    for (enum gate i = 0; i < N_GATES; i++) {
        enum gate_stage stage = gate_stage(g, i);
        if (g->named[i] && stage == STAGE_DEPRECATED)
            LOG(0, "Warning: setting deprecated feature gate. It will be removed in a future release.",
                KS("featureGate", gate_name(i)), KB("value", g->on[i]));
        else if (g->named[i] && stage == STAGE_GA)
            LOG(0, "Warning: setting GA feature gate. It will be removed in a future release.",
                KS("featureGate", gate_name(i)), KB("value", g->on[i]));
    }
}

static void log_alpha_gates(struct start *s)
{
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    for (enum gate i = 0; i < N_GATES; i++)
        if (gate_on(&s->gates, i) && gate_stage(&s->gates, i) == STAGE_ALPHA)
            strbuf_printf(&names, "%s%s", names.n ? " " : "", gate_name(i));
    if (names.n)
        LOG_WARNING(arena_printf(&s->arena,
                                 "component has alpha features enabled in emulated version, this is unsupported: "
                                 "features=[%s]",
                                 strbuf_cstr(&names)));
    strbuf_fini(&names);
}

static void log_flags(struct start *s)
{
    size_t n;
    if (!LOG_ON(1))
        return;
    struct flag_text *texts = scheduler_flags_texts(&s->flags, &s->arena, &n);
    for (size_t i = 0; i < n; i++)
        LOG_PLAIN(1, arena_printf(&s->arena, "FLAG: --%s=%s", texts[i].name, flag_quoted(&s->arena, texts[i].value)));
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
    log_alpha_gates(s);
    enum err_code rc = scheduler_check_flags(&s->flags, &s->gates, &warnings, &s->e);
    for (size_t i = 0; i < warnings.n; i++)
        LOG_WARNING(arena_cstr(&s->arena, warnings.at[i]));
    return rc ? fail(s) : 0;
}

static int configure(struct start *s)
{
    struct scheduler_tls tls;
    if (scheduler_options_config(&s->flags, &s->gates, &s->arena, &s->config, &s->config_text, &s->e) ||
        scheduler_check_serving(&s->flags, &s->arena, &tls, &s->e) || scheduler_options_check_client(s->config, &s->e))
        return fail(s);
    return 0;
}

static const char *version_text(struct arena *a, const struct component_version *v)
{
    return arena_printf(a, "%llu.%llu", (unsigned long long)v->major, (unsigned long long)v->minor);
}

static int run_daemon(struct start *s)
{
    if (scheduler_options_check_election(&s->config->leader_election, &s->e))
        return fail(s);
    const struct component_versions *v = &s->gates.versions;
    const char *emulation = version_text(&s->arena, &v->emulated), *min_compat = version_text(&s->arena, &v->min_compatible);
    struct daemon_options o = { .flags = &s->flags, .gates = &s->gates, .config = s->config,
                                .config_text = s->config_text, .build = { .major = "1", .minor = "36", .git_version = BUILD_KUBERNETES,
                                           .git_commit = BUILD_COMMIT, .git_tree_state = "", .build_date = "1970-01-01T00:00:00Z",
                                           .compiler = BUILD_COMPILER, .platform = PLATFORM, .binary = "1.36.4",
                                           .emulation = emulation, .min_compat = min_compat } };
    return daemon_run(&o);
}

static int begin(struct start *s)
{
    if (scheduler_options_gates(&s->flags, &s->gates, &s->e))
        return fail(s);
    log_gates(&s->gates);
    if (asks_version(&s->flags))
        return print_version(s);
    if (scheduler_options_logs(&s->flags, &s->gates, &s->e))
        return refuse(false, "", s->e.message);
    log_flags(s);
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
        code = refuse(true, "Error: ", s.e.message);
    else if (s.flags.help)
        code = print_help(c);
    else if (has_arguments(&s.flags.given.arguments))
        code = refuse_arguments(&s.flags.given.arguments);
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
