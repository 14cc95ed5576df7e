/* What the scheduler's flags may say, and how they come together with a file: config/scheduler_check.c,
 * config/scheduler_options.c. Texts are those of kube-scheduler v1.36.4. */
#include "config/scheduler_options.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "config/setup.h"
#include "plugins/plugins.h"
#include "tests/test.h"

enum { WORDS_MAX = 12 };

struct start {
    struct arena arena;
    struct err e;
    struct scheduler_flags flags;
    struct gates gates;
};

/* Words parted by "|". */
static void begin(struct start *s, const char *line)
{
    char *argv[WORDS_MAX];
    int argc = 1;
    arena_init(&s->arena);
    err_init(&s->e, &s->arena);
    argv[0] = arena_printf(&s->arena, "kube-scheduler");
    for (char *at = arena_printf(&s->arena, "%s", line); at && *line;) {
        argv[argc++] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = '\0';
    }
    if (scheduler_flags_parse(&s->flags, &s->arena, argc, argv, &s->e))
        FAIL("%s: %s", line, s->e.message);
    gates_init(&s->gates);
}

#define KEYS_TEXT                                                                                                    \
    "must have keys with format `metricName,labelName` where metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and "   \
    "labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\""
#define NAMES_TEXT "must be fully qualified metric names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got "
#define HIDDEN_TEXT "must be omitted or have the value '1.35'; only the previous minor version is allowed"
#define AGGREGATION " - API aggregation will not work"

static const struct {
    const char *line, *error; /* NULL: taken */
} flag_cases[] = {
    { "", NULL },
    { "--secure-port=0", NULL },
    { "--secure-port=65535", NULL },
    { "--secure-port=65536",
      "--secure-port 65536 must be between 1 and 65535, inclusive. It cannot be turned off with 0" },
    { "--secure-port=-1", "--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port" },
    { "--emulated-version=1.37", "emulation version 1.37 is not between [1.33, 1.36.0]" },
    { "--emulated-version=1.32|--secure-port=-1",
      "[emulation version 1.32 is not between [1.33, 1.36.0], minCompatibilityVersion version 1.33 is not between [1.33, "
      "1.32], --secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port]" },
    { "--requestheader-username-headers= ", "empty value in \"requestheader-username-headers\"" },
    { "--requestheader-group-headers=a,,b", "empty value in \"requestheader-group-headers\"" },
    { "--requestheader-extra-headers-prefix=,", "empty value in \"requestheader-extra-headers-prefix\"" },
    { "--requestheader-allowed-names=a,", "empty value in \"requestheader-allowed-names\"" },
    { "--requestheader-uid-headers=a,",
      "[empty value in \"requestheader-uid-headers\", --requestheader-uid-headers is set without specifying the standard "
      "X-Remote-Uid header" AGGREGATION "]" },
    { "--requestheader-uid-headers=x-remote-uid", NULL },
    { "--feature-gates=RemoteRequestHeaderUID=false|--requestheader-uid-headers=x-remote-uid",
      "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be enabled" },
    { "--show-hidden-metrics-for-version=1.35", NULL },
    { "--show-hidden-metrics-for-version=1.36",
      "metrics.showHiddenMetricsForVersion: Invalid value: \"1.36\": " HIDDEN_TEXT },
    { "--disabled-metrics=a:b_1", NULL },
    { "--disabled-metrics=a-b,c,d-e",
      "metrics.disabledMetrics: Invalid value: [\"a-b\",\"c\",\"d-e\"]: " NAMES_TEXT "\"a-b\"" },
    { "--disabled-metrics=1a", "metrics.disabledMetrics: Invalid value: [\"1a\"]: " NAMES_TEXT "\"1a\"" },
    { "--allow-metric-labels=a,b=c", NULL },
    { "--allow-metric-labels=b=2|--allow-metric-labels=a,b=1",
      "metrics.allowListMapping: Invalid value: {\"a,b\":\"1\",\"b\":\"2\"}: " KEYS_TEXT },
    { "--allow-metric-labels=a,b:c=d", "metrics.allowListMapping: Invalid value: {\"a,b:c\":\"d\"}: " KEYS_TEXT },
    { "--allow-metric-labels-manifest=/nonexistent/m",
      "metrics.allowListMappingManifest: Invalid value: \"/nonexistent/m\": failed to read allow list manifest: open "
      "/nonexistent/m: no such file or directory" },
    { "--allow-metric-labels=a,b=c|--allow-metric-labels-manifest=/dev/null|--disabled-metrics=m",
      "metrics: Invalid value: {\"disabledMetrics\":[\"m\"],\"allowListMapping\":{\"a,b\":\"c\"},"
      "\"allowListMappingManifest\":\"/dev/null\"}: cannot specify both allowListMapping and allowListMappingManifest" },
    { "--show-hidden-metrics-for-version=x|--secure-port=70000",
      "[--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0, "
      "metrics.showHiddenMetricsForVersion: Invalid value: \"x\": " HIDDEN_TEXT "]" },
    { "--decisions=-1", "--decisions -1 must be between 0 and 10000000, inclusive" },
    { "--record-max-bytes=0", "--record-max-bytes 0 must be greater than 0" },
};

TEST(flags)
{
    for (size_t i = 0; i < sizeof(flag_cases) / sizeof(flag_cases[0]); i++) {
        struct start s;
        struct flag_strings warnings = { 0 };
        begin(&s, flag_cases[i].line);
        if (scheduler_options_gates(&s.flags, &s.gates, &s.e))
            FAIL("%s", s.e.message);
        bool failed = scheduler_check_flags(&s.flags, &s.gates, &warnings, &s.e);
        CHECK_TEXT(flag_cases[i].line, failed ? s.e.message : NULL, flag_cases[i].error);
        arena_fini(&s.arena);
    }
}

TEST(warnings)
{
    static const char *const want[] = {
        "--requestheader-username-headers is set without specifying the standard X-Remote-User header" AGGREGATION,
        "--requestheader-group-headers is set without specifying the standard X-Remote-Group header" AGGREGATION,
        "--requestheader-extra-headers-prefix is set without specifying the standard X-Remote-Extra- header "
        "prefix" AGGREGATION,
    };
    struct start s;
    struct flag_strings warnings = { 0 };
    begin(&s, "--requestheader-username-headers=a|--requestheader-group-headers=b|--requestheader-extra-headers-prefix=c");
    CHECK(!scheduler_check_flags(&s.flags, &s.gates, &warnings, &s.e));
    CHECK_INT("n", warnings.n, 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_STR("warning", warnings.at[i], str_of(want[i]));
    arena_fini(&s.arena);
    begin(&s, "--requestheader-username-headers=X-REMOTE-USER,a|--requestheader-group-headers=");
    warnings.n = 0;
    CHECK(!scheduler_check_flags(&s.flags, &s.gates, &warnings, &s.e));
    CHECK_INT("n", warnings.n, 0);
    arena_fini(&s.arena);
}

static const struct {
    const char *line, *error;
} log_cases[] = {
    { "--logging-format=text|--vmodule=a=1", NULL },
    { "--logging-format=json", NULL },
    { "--logging-format=bogus", "format: Invalid value: \"bogus\": Unsupported log format" },
    { "--logging-format=", "format: Invalid value: \"\": Unsupported log format" },
    { "--logging-format=json|--feature-gates=LoggingBetaOptions=false",
      "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature" },
    { "--logging-format=json|--vmodule=a=1|--log-flush-frequency=0s|--log-json-split-stream|--log-text-split-stream",
      "[flushFrequency: Invalid value: \"0s\": Must be greater than zero, vmodule: Forbidden: Only supported for text log "
      "format, options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, options.json.splitStream: "
      "Forbidden: Feature LoggingAlphaOptions is disabled]" },
    { "--log-json-info-buffer-size=1Ki",
      "options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled" },
    { "--log-text-info-buffer-size=1Ki",
      "options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled" },
    { "--log-text-info-buffer-size=1Ki|--log-text-split-stream|--feature-gates=LoggingAlphaOptions=true", NULL },
};

TEST(logs)
{
    for (size_t i = 0; i < sizeof(log_cases) / sizeof(log_cases[0]); i++) {
        struct start s;
        begin(&s, log_cases[i].line);
        if (scheduler_options_gates(&s.flags, &s.gates, &s.e))
            FAIL("%s", s.e.message);
        CHECK_TEXT(log_cases[i].line, scheduler_check_logs(&s.flags, &s.gates, &s.e) ? s.e.message : NULL,
                   log_cases[i].error);
        arena_fini(&s.arena);
    }
}

static void keep(void *context, struct str record)
{
    strbuf_add_str(context, record);
}

TEST(logs_are_set)
{
    struct start s;
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    log_set_sink(keep, &out);
    begin(&s, "-v=4|--vmodule=test_scheduler_*=7");
    CHECK(!scheduler_options_logs(&s.flags, &s.gates, &s.e));
    CHECK_INT("v", log_level(), 4);
    LOG(7, "seen");
    LOG(8, "not seen");
    CHECK(strstr(strbuf_cstr(&out), "] \"seen\"") && !strstr(strbuf_cstr(&out), "not seen"));
    arena_fini(&s.arena);
    strbuf_reset(&out);
    begin(&s, "--logging-format=json");
    CHECK(!scheduler_options_logs(&s.flags, &s.gates, &s.e));
    LOG(0, "seen");
    CHECK(strstr(strbuf_cstr(&out), "\"msg\":\"seen\""));
    arena_fini(&s.arena);
    strbuf_fini(&out);
}

static const struct {
    const char *line, *error;
} serving_cases[] = {
    { "--tls-cipher-suites=TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA|--tls-min-version=VersionTLS10", NULL },
    { "--tls-cipher-suites=TLS_AES_128_GCM_SHA256,BOGUS|--tls-min-version=x",
      "Cipher suite BOGUS not supported or doesn't exist" },
    { "--tls-min-version=VersionTLS09", "unknown tls version \"VersionTLS09\"" },
    { "--tls-curve-preferences=9999", "curve preference 9999 is not supported by the current Go version" },
    { "--tls-curve-preferences=0,-1", "curve preference 0 is out of range (must be 1-65535)" },
    { "--tls-curve-preferences=65536", "curve preference 65536 is out of range (must be 1-65535)" },
    { "--tls-curve-preferences=23,23", "duplicate curve preference 23" },
    { "--tls-curve-preferences=23,24,25,29,4587,4588,4589", NULL },
    { "--tls-cert-file=a", "missing filename for serving cert" },
    { "--tls-private-key-file=a", "missing filename for serving cert" },
    { "--tls-private-key-file=a|--tls-cert-file=b", NULL },
    { "--tls-sni-cert-key=,b", "failed to load SNI cert and key: missing filename for serving cert" },
    { "--authorization-always-allow-paths=/a/*,*", NULL },
    { "--authorization-always-allow-paths=/a/*/b", "only trailing * allowed in \"a/*/b\"" },
    { "--tls-min-version=VersionTLS09|--secure-port=0|--tls-cert-file=a", NULL },
};

TEST(serving)
{
    for (size_t i = 0; i < sizeof(serving_cases) / sizeof(serving_cases[0]); i++) {
        struct start s;
        struct scheduler_tls tls;
        begin(&s, serving_cases[i].line);
        bool failed = scheduler_check_serving(&s.flags, &s.arena, &tls, &s.e);
        CHECK_TEXT(serving_cases[i].line, failed ? s.e.message : NULL, serving_cases[i].error);
        arena_fini(&s.arena);
    }
}

TEST(how_tls_is_spoken)
{
    struct start s;
    struct scheduler_tls tls;
    begin(&s, "");
    CHECK(!scheduler_check_serving(&s.flags, &s.arena, &tls, &s.e));
    CHECK(tls.min_version == 0x0303 && tls.n_suites == 0 && tls.n_groups == 0);
    arena_fini(&s.arena);
    begin(&s, "--tls-min-version=VersionTLS13|--tls-curve-preferences=29,4588|"
              "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
    CHECK(!scheduler_check_serving(&s.flags, &s.arena, &tls, &s.e));
    CHECK(tls.min_version == 0x0304 && tls.n_suites == 2 && tls.n_groups == 2);
    CHECK(tls.suites[0] == 0xcca8 && tls.suites[1] == 0xc02b && tls.groups[0] == 29 && tls.groups[1] == 4588);
    arena_fini(&s.arena);
}

/* ---- Files ---- */

static const char *file_of(struct start *s, const char *text)
{
    char *path = arena_printf(&s->arena, "/tmp/berth-options-XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return path;
}

static const struct {
    const char *name, *text, *error; /* NULL: taken; %s is the path */
} manifest_cases[] = {
    { "labels", "\"m,l\": \"a,b\"\n\"m,k\":\n", NULL },
    { "nothing", "", NULL },
    { "a bad key", "a: c\n",
      "invalid allow list mapping in manifest: [metrics.allowListMappingManifest: Invalid value: {\"a\":\"c\"}: " KEYS_TEXT
      "]" },
    { "no YAML", "[1\n", "failed to parse allow list manifest: yaml: line 1: did not find expected ',' or ']'" },
    { "not texts", "a:\n  b: c\n", "failed to parse allow list manifest: not a map of texts" },
    { "no map", "- a\n", "failed to parse allow list manifest: not a map of texts" },
};

TEST(manifests)
{
    for (size_t i = 0; i < sizeof(manifest_cases) / sizeof(manifest_cases[0]); i++) {
        struct start s;
        struct flag_strings warnings = { 0 };
        begin(&s, "");
        const char *path = file_of(&s, manifest_cases[i].text);
        s.flags.allow_metric_labels_manifest = str_of(path);
        bool failed = scheduler_check_flags(&s.flags, &s.gates, &warnings, &s.e);
        char *want = manifest_cases[i].error
                         ? arena_printf(&s.arena, "metrics.allowListMappingManifest: Invalid value: \"%s\": %s", path,
                                        manifest_cases[i].error)
                         : NULL;
        CHECK_TEXT(manifest_cases[i].name, failed ? s.e.message : NULL, want);
        struct flag_pairs labels;
        if (i == 0) {
            CHECK(!scheduler_metric_labels(&s.flags, &s.arena, &labels, &s.e));
            CHECK(labels.n == 2 && str_is(labels.at[1].key, "m,l") && str_is(labels.at[1].value, "a,b"));
        }
        unlink(path);
        arena_fini(&s.arena);
    }
}

TEST(labels_of_the_flag)
{
    struct start s;
    struct flag_pairs labels;
    begin(&s, "--allow-metric-labels=m,l=x");
    CHECK(!scheduler_metric_labels(&s.flags, &s.arena, &labels, &s.e));
    CHECK(labels.n == 1 && str_is(labels.at[0].key, "m,l"));
    arena_fini(&s.arena);
}

TEST(without_a_file_deprecated_flags_count)
{
    struct start s;
    struct config *c;
    struct str text;
    begin(&s, "--profiling=false|--kube-api-qps=3.5|--kube-api-burst=7|--kube-api-content-type=x|--kubeconfig=k|"
              "--leader-elect-lease-duration=-1s|--leader-elect-resource-name=n");
    CHECK(!scheduler_options_config(&s.flags, &s.gates, &s.arena, &c, &text, &s.e));
    CHECK(!c->enable_profiling && c->enable_contention_profiling && c->client_connection.qps == 3.5f);
    CHECK(c->client_connection.burst == 7 && str_is(c->client_connection.content_type, "x"));
    CHECK(str_is(c->client_connection.kubeconfig, "k") && c->leader_election.lease_duration_ns == -1000000000);
    CHECK(str_is(c->leader_election.resource_name, "n") && text.n == 0);
    arena_fini(&s.arena);
    begin(&s, "--contention-profiling=false");
    CHECK(!scheduler_options_config(&s.flags, &s.gates, &s.arena, &c, &text, &s.e));
    CHECK(c->enable_profiling && !c->enable_contention_profiling && c->client_connection.qps == 50);
    arena_fini(&s.arena);
}

#define HEAD "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

TEST(beside_a_file_only_those_of_leader_election)
{
    struct start s;
    struct config *c;
    struct str text;
    begin(&s, "--profiling=false|--kube-api-qps=3.5|--leader-elect-retry-period=1s|--leader-elect-resource-lock=leases|"
              "--leader-elect-renew-deadline=9s|--leader-elect-resource-namespace=ns|--leader-elect=true");
    const char *path = file_of(&s, HEAD "leaderElection: {leaderElect: false, leaseDuration: 20s}\n");
    s.flags.config = str_of(path);
    CHECK(!scheduler_options_config(&s.flags, &s.gates, &s.arena, &c, &text, &s.e));
    CHECK(c->enable_profiling && c->client_connection.qps == 50 && str_starts(text, STR("apiVersion")));
    CHECK(c->leader_election.leader_elect && c->leader_election.lease_duration_ns == 20000000000);
    CHECK(c->leader_election.retry_period_ns == 1000000000 && c->leader_election.renew_deadline_ns == 9000000000);
    CHECK(str_is(c->leader_election.resource_namespace, "ns"));
    unlink(path);
    arena_fini(&s.arena);
}

TEST(a_file_is_validated_with_the_flags)
{
    struct start s;
    struct config *c;
    struct str text;
    begin(&s, "--leader-elect-lease-duration=1s");
    const char *path = file_of(&s, HEAD);
    s.flags.config = str_of(path);
    CHECK(scheduler_options_config(&s.flags, &s.gates, &s.arena, &c, &text, &s.e));
    CHECK_TEXT("error", s.e.message,
               "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than `RenewDeadline`");
    unlink(path);
    arena_fini(&s.arena);
    begin(&s, "--config=/nonexistent/config.yaml");
    CHECK(scheduler_options_config(&s.flags, &s.gates, &s.arena, &c, &text, &s.e));
    CHECK_TEXT("error", s.e.message, "open /nonexistent/config.yaml: no such file or directory");
    arena_fini(&s.arena);
}

static const struct {
    const char *line, *client, *election; /* NULL: taken */
} late_cases[] = {
    { "", NULL, NULL },
    { "--kube-api-burst=0",
      "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0", NULL },
    { "--kube-api-burst=-1|--kube-api-qps=0", NULL, NULL },
    { "--leader-elect-resource-lock=endpoints",
      "couldn't create resource lock: endpoints lock is removed, migrate to leases", NULL },
    { "--leader-elect-resource-lock=x", "couldn't create resource lock: Invalid lock-type x", NULL },
    { "--leader-elect-resource-lock=endpoints|--leader-elect=false|--leader-elect-lease-duration=1s", NULL, NULL },
    { "--leader-elect-lease-duration=10s", NULL,
      "couldn't create leader elector: leaseDuration must be greater than renewDeadline" },
    { "--leader-elect-retry-period=9s", NULL,
      "couldn't create leader elector: renewDeadline must be greater than retryPeriod*JitterFactor" },
    { "--leader-elect-lease-duration=0s|--leader-elect-renew-deadline=-1s|--leader-elect-retry-period=-1s", NULL,
      "couldn't create leader elector: leaseDuration must be greater than zero" },
    { "--leader-elect-renew-deadline=0s|--leader-elect-retry-period=-1s", NULL,
      "couldn't create leader elector: renewDeadline must be greater than zero" },
    { "--leader-elect-retry-period=0s", NULL, "couldn't create leader elector: retryPeriod must be greater than zero" },
};

TEST(what_is_refused_late)
{
    for (size_t i = 0; i < sizeof(late_cases) / sizeof(late_cases[0]); i++) {
        struct start s;
        struct config *c;
        struct str text;
        begin(&s, late_cases[i].line);
        CHECK(!scheduler_options_config(&s.flags, &s.gates, &s.arena, &c, &text, &s.e));
        CHECK_TEXT(late_cases[i].line, scheduler_options_check_client(c, &s.e) ? s.e.message : NULL,
                   late_cases[i].client);
        CHECK_TEXT(late_cases[i].line,
                   scheduler_options_check_election(&c->leader_election, &s.e) ? s.e.message : NULL,
                   late_cases[i].election);
        arena_fini(&s.arena);
    }
}

/* ---- Profiles of it ---- */

#define WITH_EXTENDER                                                                         \
    HEAD "extenders:\n- urlPrefix: http://127.0.0.1:1\n  managedResources:\n"                 \
         "  - {name: example.com/a, ignoredByScheduler: true}\n"

TEST(profiles_are_built_of_a_copy)
{
    struct start s;
    struct config *c;
    struct sym_table syms;
    struct strbuf before, after, built;
    begin(&s, "--feature-gates=NodeDeclaredFeatures=false,ExtendWebSocketsToKubelet=false,"
              "InPlacePodLevelResourcesVerticalScaling=false,InPlacePodVerticalScalingInitContainers=false,"
              "RestartAllContainersOnContainerExits=false,UserNamespacesHostNetworkSupport=false");
    if (scheduler_options_gates(&s.flags, &s.gates, &s.e))
        FAIL("%s", s.e.message);
    struct features features = gates_features(&s.gates);
    CHECK(!config_load(&s.arena, STR(WITH_EXTENDER), &features, &c, &s.e));
    strbuf_init(&before, STRBUF_NO_MAX);
    strbuf_init(&after, STRBUF_NO_MAX);
    strbuf_init(&built, STRBUF_NO_MAX);
    config_add_yaml(&before, c);
    sym_init(&syms);
    struct setup setup;
    if (setup_from_config(&setup, &syms, c, &features, false, plugin_registry, &s.e))
        FAIL("%s", s.e.message);
    CHECK_INT("profiles", setup.n_profiles, 1);
    CHECK_INT("extenders", setup.n_extenders, 1);
    config_trim_args(&setup.arena, setup.config, setup.registry);
    config_add_yaml(&built, setup.config);
    config_add_yaml(&after, c);
    CHECK_STR("the original", strbuf_str(&after), strbuf_str(&before));
    CHECK(!strstr(strbuf_cstr(&built), "NodeDeclaredFeatures") && strstr(strbuf_cstr(&built), "httpTimeout: 5s"));
    CHECK(strstr(strbuf_cstr(&built), "ignoredResources:\n") && !strstr(strbuf_cstr(&before), "ignoredResources:\n"));
    setup_fini(&setup);
    sym_fini(&syms);
    strbuf_fini(&before);
    strbuf_fini(&after);
    strbuf_fini(&built);
    arena_fini(&s.arena);
}

TEST(code_is_loaded_only_when_it_may_be)
{
    struct start s;
    struct config *c;
    struct sym_table syms;
    struct setup setup;
    begin(&s, "");
    struct features features = gates_features(&s.gates);
    CHECK(!config_load(&s.arena,
                       STR(HEAD "---\napiVersion: berth.dev/v1alpha1\nkind: BerthConfiguration\n"
                                "pluginLibraries: [/nonexistent/a.so]\n"),
                       &features, &c, &s.e));
    sym_init(&syms);
    CHECK(setup_from_config(&setup, &syms, c, &features, false, plugin_registry, &s.e) == ERR_FORBIDDEN);
    CHECK(setup_from_config(&setup, &syms, c, &features, true, plugin_registry, &s.e) != ERR_FORBIDDEN);
    CHECK(s.e.code != ERR_OK);
    sym_fini(&syms);
    arena_fini(&s.arena);
}
