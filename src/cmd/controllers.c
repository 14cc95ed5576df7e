/* cmd/controllers.c - `berth controllers`, and what a link named kube-controller-manager runs: the command line up to where
 * the process takes over. Exit codes and texts are kube-controller-manager's. */
#include "base/log.h"
#include "build_info.h"
#include "cmd/component.h"
#include "config/controllers_flags.h"
#include "config/scheduler_options.h"
#include "controllers/controllers.h"
#include "daemon/controllers_process.h"

static const char about[] =
    "The controllers of a Kubernetes cluster, against any API server: Deployments, Jobs, endpoints, garbage collection and all\n"
    "that `berth apiserver` brings along. Flags, lease and what is written are those of kube-controller-manager\n"
    BUILD_KUBERNETES ", which it can stand in for; a flag that has no effect here is taken and named in the log.\n\n"
    "Examples:\n"
    "  # All controllers of a cluster, each as its own service account:\n"
    "  berth controllers --kubeconfig=manager.kubeconfig --use-service-account-credentials\n\n"
    "  # All but Jobs, beside a real kube-controller-manager that runs those (with another lease):\n"
    "  berth controllers --kubeconfig=manager.kubeconfig --controllers='*,-job-controller' \\\n"
    "      --leader-elect-resource-name=berth-controllers\n\n"
    "  # For an API server of berth that leaves them to others:\n"
    "  berth apiserver --data-dir=cluster --controllers=\n"
    "  berth controllers --kubeconfig=cluster/pki/admin.kubeconfig --leader-elect=false\n\n"
    "  # Under its name:\n"
    "  ln -s berth kube-controller-manager\n\n";

struct start {
    const struct command *c;
    struct arena arena;
    struct err e;
    struct controllers_flags flags;
    struct gates gates;
    const char **choice;
};

static int print_help(const struct command *c)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, about);
    controllers_flags_add_usage(&text, cmd_columns());
    int code = cmd_print(c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

static int fail(const struct start *s)
{
    LOG_ERROR(s->e.message, "command failed");
    return 1;
}

static void log_idle(struct start *s)
{
    struct str idle = flag_set_idle(&controllers_flag_set, &s->flags.given, &s->arena);
    if (idle.n)
        LOG(0, "Flags that are known, without effect", KS("flags", idle));
}

/* ---- Which controllers ---- */

/* The words of --controllers that are about controllers we have; the others are known, or an error. */
static enum err_code choose(struct start *s)
{
    const struct flag_strings *words = &s->flags.controllers;
    size_t n = 0;
    s->choice = ARENA_NEW_N(&s->arena, const char *, words->n + 2);
    if (!s->flags.enable_garbage_collector)
        s->choice[n++] = "-garbage-collector-controller";
    for (size_t i = 0; i < words->n; i++) {
        struct str word = words->at[i];
        struct str name = str_starts(word, STR("-")) ? str_from(word, 1) : word;
        if (str_is(word, "*") || controllers_knows(arena_cstr(&s->arena, name)))
            s->choice[n++] = arena_cstr(&s->arena, word);
        else if (!controllers_flags_knows(name))
            return err_set(&s->e, ERR_INVALID, "\"%.*s\" is not in the list of known controllers",
                           STR_ARG(err_shown(&s->e, name)));
        else if (name.n == word.n)
            LOG_WARNING(arena_printf(&s->arena, "there is no %.*s here", STR_ARG(name)));
    }
    return ERR_OK;
}

/* ---- The story ---- */

static struct leader_election_config election_of(const struct scheduler_flags *f)
{
    return (struct leader_election_config){ .leader_elect = f->leader_elect,
                                            .lease_duration_ns = f->leader_elect_lease_duration_ns,
                                            .renew_deadline_ns = f->leader_elect_renew_deadline_ns,
                                            .retry_period_ns = f->leader_elect_retry_period_ns,
                                            .resource_lock = f->leader_elect_resource_lock,
                                            .resource_name = f->leader_elect_resource_name,
                                            .resource_namespace = f->leader_elect_resource_namespace };
}

static int check(struct start *s)
{
    const struct scheduler_flags *f = &s->flags.shared;
    struct flag_strings warnings = { 0 };
    struct scheduler_tls tls;
    struct leader_election_config election = election_of(f);
    component_log_alpha_gates(&s->gates, &s->arena);
    enum err_code rc = scheduler_check_flags(f, &s->gates, &warnings, &s->e);
    for (size_t i = 0; i < warnings.n; i++)
        LOG_WARNING(arena_cstr(&s->arena, warnings.at[i]));
    if (rc || choose(s) || scheduler_check_serving(f, &s->arena, &tls, &s->e) ||
        scheduler_options_check_election(&election, &s->e))
        return fail(s);
    return 0;
}

static int begin(struct start *s)
{
    const struct scheduler_flags *f = &s->flags.shared;
    if (scheduler_options_gates(f, &s->gates, &s->e))
        return fail(s);
    component_log_gates(&s->gates);
    if (component_asks_version(f->version))
        return component_print_version(s->c, f->version);
    if (scheduler_options_logs(f, &s->gates, &s->e))
        return component_refuse("", s->e.message);
    component_log_flags(&controllers_flag_set, &s->flags, &s->arena);
    log_idle(s);
    int code = check(s);
    if (code)
        return code;
    return controllers_process_run(&(struct controllers_process_options){
        .flags = &s->flags, .choice = s->choice, .gates = &s->gates, .build = component_build(&s->gates, &s->arena) });
}

static int run(const struct command *c, int argc, char **argv)
{
    struct start s = { .c = c };
    int code;
    arena_init(&s.arena);
    err_init(&s.e, &s.arena);
    if (controllers_flags_parse(&s.flags, &s.arena, argc, argv, &s.e))
        code = component_refuse("Error: ", s.e.message);
    else if (s.flags.shared.help)
        code = print_help(c);
    else if (component_has_arguments(&s.flags.given))
        code = component_refuse_arguments("kube-controller-manager", &s.flags.given);
    else
        code = begin(&s);
    arena_fini(&s.arena);
    return code;
}

const struct command controllers_command = {
    .name = "controllers",
    .summary = "runs controllers against any API server, as kube-controller-manager",
    .run = run,
};
