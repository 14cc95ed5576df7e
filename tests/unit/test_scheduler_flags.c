/* The scheduler's command line: config/flag_set.c, config/scheduler_flags.c. */
#include "config/scheduler_flags.h"
#include "tests/test.h"

enum { WORDS_MAX = 8 };

/* A command line, words parted by "|": why it is refused, or the text of one flag. */
static const struct {
    const char *name, *line;
    const char *error;       /* NULL: taken */
    const char *flag, *want; /* its value then */
} cases[] = {
    { "with =", "--secure-port=1", NULL, "secure-port", "1" },
    { "two words", "--secure-port|1", NULL, "secure-port", "1" },
    { "underscores", "--secure_port=1", NULL, "secure-port", "1" },
    { "the last one counts", "--secure-port=1|--secure-port=2", NULL, "secure-port", "2" },
    { "a flag as the value of another", "--config|-h", NULL, "config", "-h" },
    { "a bool alone", "--authentication-skip-lookup", NULL, "authentication-skip-lookup", "true" },
    { "a bool with a value", "--leader-elect=f", NULL, "leader-elect", "false" },
    { "a bool takes no word", "--leader-elect|false", NULL, "leader-elect", "true" },
    { "a letter and a word", "-v|3", NULL, "v", "3" },
    { "a letter and =", "-v=3", NULL, "v", "3" },
    { "a letter and its value", "-v3", NULL, "v", "3" },
    { "letters together", "-hv3", NULL, "v", "3" },
    { "letters together, first", "-hv3", NULL, "help", "true" },
    { "a letter with its bool", "-h=false", NULL, "help", "false" },
    { "nothing after two dashes is a flag", "--|--secure-port=1", NULL, "secure-port", "10259" },
    { "a version alone", "--version", NULL, "version", "true" },
    { "a list twice", "--disabled-metrics=a,b|--disabled-metrics|c", NULL, "disabled-metrics", "[a,b,c]" },
    { "a list in place of its default", "--requestheader-group-headers=a", NULL, "requestheader-group-headers", "[a]" },
    { "gates", "--feature-gates=B=true|--feature-gates=A=true", NULL, "feature-gates", ":B=true,:A=true" },

    { "unknown", "--no-such-flag=1", "unknown flag: --no-such-flag", NULL, NULL },
    { "unknown, as it was written", "--no_such", "unknown flag: --no_such", NULL, NULL },
    { "three dashes", "---x", "bad flag syntax: ---x", NULL, NULL },
    { "no name", "--=x", "bad flag syntax: --=x", NULL, NULL },
    { "no value", "--config", "flag needs an argument: --config", NULL, NULL },
    { "no value, as it was written", "--secure_port", "flag needs an argument: --secure_port", NULL, NULL },
    { "unknown letter", "-xyz", "unknown shorthand flag: 'x' in -xyz", NULL, NULL },
    { "unknown letter behind others", "-hx", "unknown shorthand flag: 'x' in -x", NULL, NULL },
    { "a letter that is =", "-=x", "unknown shorthand flag: '=' in -=x", NULL, NULL },
    { "a letter that is a quote", "-'", "unknown shorthand flag: '\\'' in -'", NULL, NULL },
    { "a letter of two bytes", "-\xc3\xa9", "unknown shorthand flag: '\xc3\x83' in -\xc3\xa9", NULL, NULL },
    { "no value of a letter", "-hv", "flag needs an argument: 'v' in -v", NULL, NULL },
    { "a bad value", "--secure-port=x",
      "invalid argument \"x\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"x\": invalid syntax", NULL, NULL },
    { "a bad value of a letter", "-vh",
      "invalid argument \"h\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"h\": invalid syntax", NULL, NULL },
    { "a bad value of a bool", "--help=x",
      "invalid argument \"x\" for \"-h, --help\" flag: strconv.ParseBool: parsing \"x\": invalid syntax", NULL, NULL },
};

struct line {
    struct arena arena;
    struct err e;
    struct scheduler_flags flags;
};

static enum err_code parse(struct line *l, const char *line)
{
    char *argv[WORDS_MAX];
    int argc = 1;
    arena_init(&l->arena);
    err_init(&l->e, &l->arena);
    argv[0] = arena_printf(&l->arena, "kube-scheduler");
    for (char *at = arena_printf(&l->arena, "%s", line); at && *line;) {
        argv[argc++] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = '\0';
    }
    return scheduler_flags_parse(&l->flags, &l->arena, argc, argv, &l->e);
}

static struct str text_of(struct line *l, const char *flag)
{
    size_t n;
    struct flag_text *texts = scheduler_flags_texts(&l->flags, &l->arena, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i].name, flag) == 0)
            return texts[i].value;
    FAIL("no flag %s", flag);
}

TEST(command_lines)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct line l;
        CHECK_TEXT(cases[i].name, parse(&l, cases[i].line) ? l.e.message : NULL, cases[i].error);
        if (!cases[i].error)
            CHECK_STR(cases[i].name, text_of(&l, cases[i].flag), str_of(cases[i].want));
        arena_fini(&l.arena);
    }
}

TEST(arguments)
{
    struct line l;
    CHECK(!parse(&l, "a|--secure-port=1|-|--|-v|--"));
    CHECK_INT("n", l.flags.given.arguments.n, 4);
    CHECK_STR("first", l.flags.given.arguments.at[0], STR("a"));
    CHECK_STR("dash", l.flags.given.arguments.at[1], STR("-"));
    CHECK_STR("behind the dashes", l.flags.given.arguments.at[2], STR("-v"));
    CHECK_STR("more dashes", l.flags.given.arguments.at[3], STR("--"));
    arena_fini(&l.arena);
}

TEST(which_are_given)
{
    struct line l;
    CHECK(!parse(&l, "--leader_elect=true|-v=0|--profiling"));
    CHECK(FLAG_GIVEN(&l.flags, leader_elect) && FLAG_GIVEN(&l.flags, v) && FLAG_GIVEN(&l.flags, profiling));
    CHECK(!FLAG_GIVEN(&l.flags, kubeconfig) && !FLAG_GIVEN(&l.flags, shadow) && !FLAG_GIVEN(&l.flags, config));
    arena_fini(&l.arena);
}

/* As kube-scheduler v1.36.4 logs them at a start; then berth's own. */
static const char *const defaults[][2] = {
    { "algorithm-provider", "" }, { "allow-metric-labels", "[]" }, { "allow-metric-labels-manifest", "" }, { "authentication-kubeconfig", "" },
    { "authentication-skip-lookup", "false" }, { "authentication-token-webhook-cache-ttl", "10s" },
    { "authentication-tolerate-lookup-failure", "true" },
    { "authorization-always-allow-paths", "[/healthz,/readyz,/livez]" }, { "authorization-kubeconfig", "" },
    { "authorization-webhook-cache-authorized-ttl", "10s" }, { "authorization-webhook-cache-unauthorized-ttl", "10s" },
    { "bind-address", "0.0.0.0" }, { "cert-dir", "" }, { "client-ca-file", "" }, { "compat", "v1.36" }, { "config", "" },
    { "contention-profiling", "true" }, { "decisions", "10000" }, { "disable-http2-serving", "false" },
    { "disabled-metrics", "[]" }, { "emulated-version", "[]" }, { "feature-gates", "" }, { "help", "false" },
    { "http2-max-streams-per-connection", "0" }, { "kube-api-burst", "100" },
    { "kube-api-content-type", "application/vnd.kubernetes.protobuf" }, { "kube-api-qps", "50" }, { "kubeconfig", "" },
    { "leader-elect", "true" }, { "leader-elect-lease-duration", "15s" }, { "leader-elect-renew-deadline", "10s" },
    { "leader-elect-resource-lock", "leases" }, { "leader-elect-resource-name", "kube-scheduler" },
    { "leader-elect-resource-namespace", "kube-system" }, { "leader-elect-retry-period", "2s" },
    { "log-flush-frequency", "5s" }, { "log-json-info-buffer-size", "0" }, { "log-json-split-stream", "false" },
    { "log-text-info-buffer-size", "0" }, { "log-text-split-stream", "false" }, { "logging-format", "text" },
    { "master", "" }, { "min-compatibility-version", "[]" }, { "permit-address-sharing", "false" },
    { "permit-port-sharing", "false" }, { "pod-max-in-unschedulable-pods-duration", "5m0s" }, { "policy-config-file", "" }, { "profiling", "true" },
    { "record", "" }, { "record-max-bytes", "1Gi" }, { "requestheader-allowed-names", "[]" },
    { "requestheader-client-ca-file", "" }, { "requestheader-extra-headers-prefix", "[x-remote-extra-]" },
    { "requestheader-group-headers", "[x-remote-group]" }, { "requestheader-uid-headers", "[]" },
    { "requestheader-username-headers", "[x-remote-user]" }, { "secure-port", "10259" }, { "shadow", "false" },
    { "show-hidden-metrics-for-version", "" }, { "tls-cert-file", "" }, { "tls-cipher-suites", "[]" },
    { "tls-curve-preferences", "[]" }, { "tls-min-version", "" }, { "tls-private-key-file", "" },
    { "tls-sni-cert-key", "[]" }, { "use-legacy-policy-config", "false" }, { "v", "0" }, { "version", "false" }, { "vmodule", "" }, { "write-config-to", "" },
};

TEST(all_flags_and_their_defaults)
{
    struct line l;
    size_t n, n_want = sizeof(defaults) / sizeof(defaults[0]);
    CHECK(!parse(&l, ""));
    struct flag_text *texts = scheduler_flags_texts(&l.flags, &l.arena, &n);
    for (size_t i = 0; i < n && i < n_want; i++) {
        CHECK_TEXT("name", texts[i].name, defaults[i][0]);
        CHECK_STR(texts[i].name, texts[i].value, str_of(defaults[i][1]));
    }
    CHECK_INT("flags", n, n_want);
    CHECK_INT("bytes", l.flags.record_max_bytes.value, 1 << 30);
    arena_fini(&l.arena);
}

TEST(the_table_is_in_order)
{
    for (size_t g = 0; g < scheduler_flag_set.n_groups; g++)
        for (size_t i = 0; i + 1 < scheduler_flag_set.groups[g].n_flags; i++) {
            const struct flag *f = &scheduler_flag_set.groups[g].flags[i];
            if (strcmp(f[0].name, f[1].name) >= 0)
                FAIL("%s stands before %s", f[0].name, f[1].name);
        }
    for (size_t i = 0; i < flag_set_count(&scheduler_flag_set); i++)
        CHECK_INT(flag_set_get(&scheduler_flag_set, i)->name,
                  flag_set_find_offset(&scheduler_flag_set, flag_set_get(&scheduler_flag_set, i)->at), i);
}

TEST(reported_version)
{
    struct line l;
    CHECK(!parse(&l, "--version=v1.36.4-x"));
    CHECK_STR("given", scheduler_flags_version(&l.flags), STR("v1.36.4-x"));
    arena_fini(&l.arena);
    CHECK(!parse(&l, "--version=false"));
    CHECK_STR("not given", scheduler_flags_version(&l.flags), STR("v1.36.4"));
    arena_fini(&l.arena);
}

static void check_help(unsigned columns, const char *const *parts)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    scheduler_flags_add_usage(&b, columns);
    for (; *parts; parts++)
        if (!strstr(strbuf_cstr(&b), *parts))
            FAIL("help of %u columns lacks\n%s", columns, *parts);
    strbuf_fini(&b);
}

TEST(help)
{
    static const char *const wide[] = {
        "Usage:\n  kube-scheduler [flags]\n\nMisc flags:\n\n      --config string            Configuration file",
        "\n\nSecure serving flags:\n\n      --bind-address ip                        Address",
        "      --secure-port int                        HTTPS port, with authentication and authorization; 0 serves nothing. "
        "(default 10259)\n",
        " (default [/healthz,/readyz,/livez])\n", "      --kube-api-content-type string ",
        " (default \"application/vnd.kubernetes.protobuf\")\n",
        "\n  -v, --v Level                              How much", "\n      --vmodule pattern=N,...                ",
        "\n\nGlobal flags:\n\n  -h, --help                     this text\n      --version version[=true]   alone",
        "\n                                                           kube:GangScheduling=true|false (ALPHA - default=false)\n",
        "\n\nBerth flags:\n\n      --algorithm-provider string   DefaultProvider", "\n      --decisions int               How many", NULL
    };
    static const char *const narrow[] = {
        "\n      --bind-address ip\n                Address that the HTTPS port listens\n                on; 0.0.0.0 and :: are "
        "all interfaces\n                of both families. (default 0.0.0.0)\n      --cert-dir",
        "\n                kube:AllowParsingUserUIDFromCertAuth=true|false\n                (BETA - default=true)\n",
        "\n                CAs of proxies that name users in headers.\n", /* a little longer, for the last word */
        NULL
    };
    check_help(0, wide);
    check_help(60, narrow);
}

TEST(help_keeps_to_its_columns)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    scheduler_flags_add_usage(&b, 100);
    for (struct str rest = strbuf_str(&b); rest.n;) {
        struct str line = flag_take_until(&rest, '\n');
        if (line.n > 100)
            FAIL("%zu columns: %.*s", line.n, STR_ARG(line));
    }
    strbuf_fini(&b);
}
