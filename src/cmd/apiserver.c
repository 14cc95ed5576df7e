/* cmd/apiserver.c - `berth apiserver`, and what a link named kube-apiserver runs: the command line up to where the
 * process takes over. Exit codes and texts are kube-apiserver's. */
#include "base/log.h"
#include "build_info.h"
#include "cmd/component.h"
#include "config/apiserver_check.h"
#include "config/scheduler_options.h"
#include "daemon/api_process.h"

static const char about[] =
    "The API server of a Kubernetes cluster, with a store of its own: no etcd is needed. Requests, answers\n"
    "and flags are those of kube-apiserver " BUILD_KUBERNETES ", which it can stand in for; a flag that has no effect\n"
    "here is taken and named in the log.\n\n"
    "Examples:\n"
    "  # Everything in memory, known to one administrator by a token:\n"
    "  echo 'secret,admin,1,system:masters' >tokens.csv\n"
    "  berth apiserver --memory --secure-port=6443 --token-auth-file=tokens.csv\n\n"
    "  # Kept in a folder, with a kubeconfig for its owner:\n"
    "  berth apiserver --data-dir=cluster\n"
    "  kubectl --kubeconfig cluster/pki/admin.kubeconfig get namespaces\n\n"
    "  # As test suites start it:\n"
    "  ln -s berth kube-apiserver; ln -s berth etcd\n\n";

struct start {
    const struct command *c;
    struct arena arena;
    struct err e;
    struct apiserver_flags flags;
    struct scheduler_flags shared;
    struct gates gates;
};

static int print_help(const struct command *c)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, about);
    apiserver_flags_add_usage(&text, cmd_columns());
    int code = cmd_print(c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

static int fail(const struct start *s)
{
    LOG_ERROR(s->e.message, "command failed");
    return 1;
}

/* Before anything else, to standard error, as pflag does. */
static void say_deprecated(const struct start *s)
{
    for (size_t i = 0; i < flag_set_count(&apiserver_flag_set); i++) {
        const struct flag *f = flag_set_get(&apiserver_flag_set, i);
        if (s->flags.given.flags[i] && f->deprecated)
            cmd_write_error(str_of(arena_printf(s->e.arena, "Flag --%s has been deprecated, "
                                                            "%s\n", f->name, f->deprecated)));
    }
}

static void log_idle(struct start *s)
{
    struct str idle = flag_set_idle(&apiserver_flag_set, &s->flags.given, &s->arena);
    if (idle.n)
        LOG(0, "Flags that are known, without effect", KS("flags", idle));
}

static int check(struct start *s)
{
    struct flag_strings warnings = { 0 };
    component_log_alpha_gates(&s->gates, &s->arena);
    enum err_code rc = apiserver_check_flags(&s->flags, &s->gates, &warnings, &s->e);
    for (size_t i = 0; i < warnings.n; i++)
        LOG_WARNING(arena_cstr(&s->arena, warnings.at[i]));
    return rc ? fail(s) : 0;
}

static void tell(struct str line)
{
    cmd_print(&apiserver_command, CMD_TEXT, line); /* who does not read it need not be told twice */
}

static int begin(struct start *s)
{
    apiserver_flags_shared(&s->flags, &s->arena, &s->shared);
    if (scheduler_options_gates(&s->shared, &s->gates, &s->e))
        return fail(s);
    component_log_gates(&s->gates);
    if (component_asks_version(s->flags.version))
        return component_print_version(s->c, s->flags.version);
    if (scheduler_options_logs(&s->shared, &s->gates, &s->e))
        return component_refuse("", s->e.message);
    component_log_flags(&apiserver_flag_set, &s->flags, &s->arena);
    log_idle(s);
    int code = check(s);
    if (code)
        return code;
    return api_process_run(&(struct api_process_options){ .flags = &s->flags, .gates = &s->gates,
                                                          .build = component_build(&s->gates, &s->arena),
                                                          .tell = tell });
}

static int run(const struct command *c, int argc, char **argv)
{
    struct start s = { .c = c };
    int code;
    arena_init(&s.arena);
    err_init(&s.e, &s.arena);
    if (apiserver_flags_parse(&s.flags, &s.arena, argc, argv, &s.e)) {
        code = component_refuse("Error: ", s.e.message);
    } else if (s.flags.help) {
        code = print_help(c);
    } else if (component_has_arguments(&s.flags.given)) {
        code = component_refuse_arguments("kube-apiserver", &s.flags.given);
    } else {
        say_deprecated(&s);
        code = begin(&s);
    }
    arena_fini(&s.arena);
    return code;
}

const struct command apiserver_command = {
    .name = "apiserver",
    .summary = "an API server with a store of its own, as kube-apiserver",
    .run = run,
};
