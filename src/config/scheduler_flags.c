/* config/scheduler_flags.c - see scheduler_flags.h: the table of all flags, a group after the other, each by name. */
#include "config/scheduler_flags.h"

#include "config/shared_flags.h"

/* Fails to compile when the member is not of the flag's type. */
#define AT(kind, member)                                                                                          \
    (offsetof(struct scheduler_flags, member) +                                                                   \
     0 * sizeof(char[__builtin_types_compatible_p(flag_type_##kind,                                               \
                                                  __typeof__(((struct scheduler_flags *)0)->member)) ? 1 : -1]))
#define ROW_SHORT(kind, member, letter, flag_name, default_text, help_text)                                       \
    { .name = (flag_name), .shorthand = (letter), .type = FLAG_##kind, .at = AT(kind, member),                    \
      .initial = (default_text), .help = (help_text) }
#define ROW(kind, member, flag_name, default_text, help_text) \
    ROW_SHORT(kind, member, 0, flag_name, default_text, help_text)
#define SHARED(member) member
#define UNLESS_CONFIG " Without effect beside --config."

static const struct flag misc[] = {
    ROW(STRING, config, "config", NULL, "Configuration file (KubeSchedulerConfiguration, YAML or JSON)."),
    ROW(STRING, master, "master", NULL, "Address of the API server, instead of the one in the kubeconfig."),
    ROW(STRING, write_config_to, "write-config-to", NULL, "Writes the completed configuration to this file and ends."),
};

static const struct flag secure_serving[] = { SECURE_SERVING_ROWS("kube-scheduler", "10259") };

static const struct flag authentication[] = { AUTHENTICATION_ROWS };

static const struct flag authorization[] = { AUTHORIZATION_ROWS };

static const struct flag deprecated[] = {
    ROW(BOOL, contention_profiling, "contention-profiling", "true",
        "DEPRECATED: profiles of waiting for locks." UNLESS_CONFIG),
    ROW(INT32, kube_api_burst, "kube-api-burst", "100", "DEPRECATED: requests to the API server at once." UNLESS_CONFIG),
    ROW(STRING, kube_api_content_type, "kube-api-content-type", "application/vnd.kubernetes.protobuf",
        "DEPRECATED: media type of what is sent to the API server." UNLESS_CONFIG),
    ROW(FLOAT32, kube_api_qps, "kube-api-qps", "50", "DEPRECATED: requests to the API server a second." UNLESS_CONFIG),
    ROW(STRING, kubeconfig, "kubeconfig", NULL, "DEPRECATED: kubeconfig of the API server." UNLESS_CONFIG),
    ROW(DURATION, pod_max_in_unschedulable_pods_duration_ns, "pod-max-in-unschedulable-pods-duration", "5m0s",
        "DEPRECATED: how long a pod that fits nowhere waits for something to change before it is tried again."),
    ROW(BOOL, profiling, "profiling", "true", "DEPRECATED: serves /debug/pprof and /debug/flags." UNLESS_CONFIG),
};

static const struct flag leader_election[] = {
    LEADER_ELECTION_ROWS("kube-scheduler", "Schedules only while it holds the lease, so that several can run."),
};

static const struct flag feature_gate[] = { EMULATED_VERSION_ROW, FEATURE_GATES_ROW, MIN_COMPATIBILITY_VERSION_ROW };

static const struct flag metrics[] = { METRICS_ROWS };

static const struct flag logs[] = { LOGS_ROWS };

static const struct flag global[] = { GLOBAL_ROWS };

static const struct flag berth[] = {
    ROW(INT, decisions, "decisions", "10000", "How many of the last decisions are kept to be asked about."),
    ROW(STRING, record, "record", NULL, "Records all that comes in and goes out to this file, to be replayed."),
    ROW(QUANTITY, record_max_bytes, "record-max-bytes", "1Gi",
        "Size at which the file of --record is begun anew; the one before it is kept."),
    ROW(BOOL, shadow, "shadow", NULL, "Decides about all pods and writes nothing, beside another scheduler."),
};

#define GROUP(name, flags) { name, flags, sizeof(flags) / sizeof(flags[0]) }

static const struct flag_group groups[] = {
    GROUP("Misc", misc),
    GROUP("Secure serving", secure_serving),
    GROUP("Authentication", authentication),
    GROUP("Authorization", authorization),
    GROUP("Deprecated", deprecated),
    GROUP("Leader election", leader_election),
    GROUP("Feature gate", feature_gate),
    GROUP("Metrics", metrics),
    GROUP("Logs", logs),
    GROUP("Global", global),
    GROUP("Berth", berth),
};

const struct flag_set scheduler_flag_set = { groups, sizeof(groups) / sizeof(groups[0]), sizeof(struct scheduler_flags) };

/* ---- Values ---- */

void scheduler_flags_init(struct scheduler_flags *f, struct arena *a)
{
    *f = (struct scheduler_flags){ .version = STR("false") };
    flag_set_init(&scheduler_flag_set, a, f);
}

enum err_code scheduler_flags_parse(struct scheduler_flags *f, struct arena *a, int argc, char *const *argv,
                                    struct err *e)
{
    scheduler_flags_init(f, a);
    return flag_set_parse(&scheduler_flag_set, a, argc - 1, argv + 1, f, &f->given, e);
}

bool scheduler_flags_given(const struct scheduler_flags *f, size_t at)
{
    return f->given.flags[flag_set_find_offset(&scheduler_flag_set, at)];
}

struct flag_text *scheduler_flags_texts(const struct scheduler_flags *f, struct arena *a, size_t *ret_n)
{
    return flag_set_texts(&scheduler_flag_set, f, a, ret_n);
}

struct str scheduler_flags_version(const struct scheduler_flags *f)
{
    return f->version.n && f->version.p[0] == 'v' ? f->version : STR(FLAG_VERSION_DEFAULT);
}

void scheduler_flags_add_usage(struct strbuf *b, unsigned columns)
{
    STRBUF_ADD_LIT(b, "Usage:\n  kube-scheduler [flags]\n");
    flag_set_add_help(b, &scheduler_flag_set, columns);
}
