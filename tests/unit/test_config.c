/* Loading and defaults: config/config.c, decode.c, defaults.c. */
#include "config/config.h"

#include <stdlib.h>
#include <unistd.h>

#include "config/defaults.h"
#include "config/features.h"
#include "tests/test.h"

#define HEADER "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static struct features default_features(void)
{
    struct gates g;
    gates_init(&g);
    return gates_features(&g);
}

static const struct {
    const char *name, *text, *error;
} refusals[] = {
    { "no text at all",
      "",
      "Object 'Kind' is missing in ''" },
    { "an empty object",
      "{}",
      "Object 'Kind' is missing in '{}'" },
    { "a kind without a version",
      "kind: KubeSchedulerConfiguration\n",
      "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'" },
    { "a version without a kind",
      "apiVersion: kubescheduler.config.k8s.io/v1\n",
      "Object 'Kind' is missing in 'apiVersion: kubescheduler.config.k8s.io/v1\n'" },
    { "an older version",
      "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
      "no kind \"KubeSchedulerConfiguration\" is registered for version "
      "\"kubescheduler.config.k8s.io/v1beta3\" in scheme "
      "\"pkg/scheduler/apis/config/scheme/scheme.go:29\"" },
    { "another group",
      "apiVersion: v1\nkind: Pod\n",
      "no kind \"Pod\" is registered for version \"v1\" in scheme "
      "\"pkg/scheduler/apis/config/scheme/scheme.go:29\"" },
    { "another kind of the group",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\n",
      "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
      "Kind=NodeAffinityArgs: " },
    { "a version with too many parts",
      "apiVersion: a/b/c\nkind: KubeSchedulerConfiguration\n",
      "unexpected GroupVersion string: a/b/c" },
    { "a version that is a number",
      "apiVersion: 5\nkind: KubeSchedulerConfiguration\n",
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go "
      "struct field .apiVersion of type string" },
    { "a list",
      "[1]",
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go "
      "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
      "string \"json:\\\"kind,omitempty\\\"\" }" },
    { "JSON that does not end",
      "{",
      "couldn't get version/kind; json parse error: unexpected end of JSON input" },
    { "two JSON documents",
      "{\"kind\":\"x\"} {}",
      "couldn't get version/kind; json parse error: invalid character '{' after top-level "
      "value" },
    { "YAML that is none",
      "a: b\n  c: d",
      "yaml: line 2: mapping values are not allowed in this context" },
    { "unknown fields",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "bogusField: 1\nbogus2: 3\n",
      "strict decoding error: unknown field \"bogus2\", unknown field \"bogusField\"" },
    { "a field given twice",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "parallelism: 3\nparallelism: 4\n",
      "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"parallelism\" already "
      "set in map" },
    { "a text for a number",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "parallelism: x\n",
      "json: cannot unmarshal string into Go struct field "
      "KubeSchedulerConfiguration.parallelism of type int32" },
    { "a number that is too large",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "parallelism: 99999999999\n",
      "json: cannot unmarshal number 99999999999 into Go struct field "
      "KubeSchedulerConfiguration.parallelism of type int32" },
    { "a number for a duration",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "leaderElection: {leaseDuration: 5}\n",
      "json: cannot unmarshal number into Go struct field "
      "LeaderElectionConfiguration.leaderElection.leaseDuration of type string" },
    { "a duration without a unit",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "leaderElection: {leaseDuration: '5'}\n",
      "time: missing unit in duration \"5\"" },
    { "no duration",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "leaderElection: {leaseDuration: null}\n",
      "time: invalid duration \"\"" },
    { "a number too large for a float",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "clientConnection: {qps: 1e39}\n",
      "json: cannot unmarshal number 1e+39 into Go struct field "
      "ClientConnectionConfiguration.clientConnection.qps of type float32" },
    { "bytes that are not base64",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "extenders: [{tlsConfig: {certData: '%%%'}}]\n",
      "illegal base64 data at input byte 0" },
    { "a number for the name of a plugin",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{plugins: {score: {enabled: [{name: 5}]}}}]\n",
      "json: cannot unmarshal number into Go struct field "
      "Plugin.profiles.plugins.score.enabled.name of type string" },
    { "kind in capitals",
      "apiVersion: kubescheduler.config.k8s.io/v1\nKind: KubeSchedulerConfiguration\n",
      "strict decoding error: unknown field \"Kind\"" },
    { "unknown fields within each other",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{plugins: {scorex: {}}, pluginConfig: [{name: NodeAffinity, args: {foo: "
      "1}}, {name: NodeResourcesFit, args: {foo: 1, bar: 3}}]}]\n",
      "strict decoding error: unknown field \"profiles[0].plugins.scorex\", decoding "
      ".profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin "
      "NodeAffinity: strict decoding error: unknown field \"foo\", decoding "
      ".profiles[0].pluginConfig[1]: strict decoding error: decoding args for plugin "
      "NodeResourcesFit: strict decoding error: unknown field \"bar\", unknown field \"foo\"" },
    { "a number for arguments",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: NodeAffinity, args: 5}]}]\n",
      "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: "
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go "
      "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
      "string \"json:\\\"kind,omitempty\\\"\" }" },
    { "arguments of another plugin",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: "
      "NodeResourcesFitArgs}}]}]\n",
      "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type "
      "NodeAffinityArgs.kubescheduler.config.k8s.io, got "
      "NodeResourcesFitArgs.kubescheduler.config.k8s.io" },
    { "arguments of an unknown kind",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: FooArgs}}]}]\n",
      "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: no kind "
      "\"FooArgs\" is registered for version \"kubescheduler.config.k8s.io/v1\" in scheme "
      "\"pkg/scheduler/apis/config/scheme/scheme.go:29\"" },
    { "arguments of an older version",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: NodeAffinity, args: {apiVersion: "
      "kubescheduler.config.k8s.io/v1beta3, kind: NodeAffinityArgs}}]}]\n",
      "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: no kind "
      "\"NodeAffinityArgs\" is registered for version "
      "\"kubescheduler.config.k8s.io/v1beta3\" in scheme "
      "\"pkg/scheduler/apis/config/scheme/scheme.go:29\"" },
    { "a text for a weight in arguments",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: "
      "foo}}]}]\n",
      "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: "
      "json: cannot unmarshal string into Go struct field "
      "InterPodAffinityArgs.hardPodAffinityWeight of type int32" },
    { "a bad duration in arguments",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: foo}}]}]\n",
      "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DynamicResources: "
      "time: invalid duration \"foo\"" },
};

TEST(refusals_of_a_file)
{
    struct features f = default_features();
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct arena a;
        struct err e;
        struct config *c;
        arena_init(&a);
        err_init(&e, &a);
        if (!config_load(&a, str_of(refusals[i].text), &f, &c, &e))
            FAIL("%s: not refused", refusals[i].name);
        CHECK_TEXT(refusals[i].name, e.message, refusals[i].error);
        arena_fini(&a);
    }
}

static struct config *load(struct arena *a, const char *text)
{
    struct features f = default_features();
    struct err e;
    struct config *c;
    err_init(&e, a);
    if (config_load(a, str_of(text), &f, &c, &e))
        FAIL("%s: %s", text, e.message);
    return c;
}

static void check_defaults(const struct config *c)
{
    CHECK_INT("parallelism", c->parallelism, 16);
    CHECK_INT("leader election", c->leader_election.leader_elect, true);
    CHECK_INT("leader election", c->leader_election.lease_duration_ns, 15000000000);
    CHECK_INT("leader election", c->leader_election.renew_deadline_ns, 10000000000);
    CHECK_INT("leader election", c->leader_election.retry_period_ns, 2000000000);
    CHECK_STR("leader election", c->leader_election.resource_lock, STR("leases"));
    CHECK_STR("leader election", c->leader_election.resource_name, STR("kube-scheduler"));
    CHECK_STR("leader election", c->leader_election.resource_namespace, STR("kube-system"));
    CHECK_STR("client", c->client_connection.content_type, STR("application/vnd.kubernetes.protobuf"));
    CHECK_STR("client", c->client_connection.kubeconfig, STR(""));
    CHECK_INT("client", c->client_connection.qps, 50);
    CHECK_INT("client", c->client_connection.burst, 100);
    CHECK_INT("profiling", c->enable_profiling, true);
    CHECK_INT("profiling", c->enable_contention_profiling, true);
    CHECK_INT("cache", c->delay_cache_until_active, false);
    CHECK_INT("percentage", c->percentage_of_nodes_to_score, 0);
    CHECK_INT("backoff", c->pod_initial_backoff_s, 1);
    CHECK_INT("backoff", c->pod_max_backoff_s, 10);
    CHECK_INT("profiles", c->n_profiles, 1);
    CHECK_STR("profile", c->profiles[0].scheduler_name, STR("default-scheduler"));
    CHECK_INT("arguments", c->profiles[0].n_plugin_config, 8);
    CHECK_INT("extenders", c->n_extenders, 0);
    CHECK_INT("libraries", c->berth.n_plugin_libraries, 0);
}

TEST(defaults)
{
    struct features f = default_features();
    struct arena a;
    arena_init(&a);
    check_defaults(config_default(&a, &f));
    check_defaults(load(&a, HEADER));
    check_defaults(load(&a, HEADER "profiles: []\nleaderElection: {resourceLock: '', leaseDuration: 0s}\n"
                                   "clientConnection: {qps: 0, burst: 0, contentType: ''}\n"));
    arena_fini(&a);
}

TEST(values_that_are_given)
{
    struct arena a;
    arena_init(&a);
    const struct config *c = load(&a, HEADER "parallelism: 3\nenableProfiling: false\ndelayCacheUntilActive: true\n"
                                             "leaderElection: {leaderElect: false, retryPeriod: 1.5s}\n"
                                             "clientConnection: {kubeconfig: /k, qps: 0.5}\n"
                                             "profiles: [{schedulerName: a, percentageOfNodesToScore: 7}, {}]\n");
    CHECK_INT("parallelism", c->parallelism, 3);
    CHECK_INT("contention profiling follows profiling", c->enable_contention_profiling, false);
    CHECK_INT("cache", c->delay_cache_until_active, true);
    CHECK_INT("leader election", c->leader_election.leader_elect, false);
    CHECK_INT("leader election", c->leader_election.retry_period_ns, 1500000000);
    CHECK_STR("client", c->client_connection.kubeconfig, STR("/k"));
    CHECK(c->client_connection.qps == 0.5f);
    CHECK_INT("percentage", c->profiles[0].percentage_of_nodes_to_score, 7);
    CHECK(c->profiles[0].has_percentage && !c->profiles[1].has_percentage);
    CHECK_STR("only a single profile has a default name", c->profiles[1].scheduler_name, STR(""));
    arena_fini(&a);
}

/* ---- Merging ---- */

enum { REFS_MAX = 8 };

/* "A B=3" */
static plugin_refs parse_refs(struct arena *a, const char *text)
{
    struct plugin_ref *refs = ARENA_NEW_N(a, struct plugin_ref, REFS_MAX);
    size_t n = 0;
    for (struct str rest = str_of(text); rest.n;) {
        size_t end = str_index(rest, ' ');
        struct str word = str_first(rest, end);
        size_t weight = str_index(word, '=');
        refs[n].name = str_first(word, weight);
        if (weight < word.n)
            refs[n].weight = word.p[weight + 1] - '0';
        n++;
        rest = str_from(rest, end + 1);
    }
    return (plugin_refs){ refs, n };
}

static const char *refs_text(struct arena *a, plugin_refs refs)
{
    const char *text = "";
    for (size_t i = 0; i < refs.n; i++) {
        text = arena_printf(a, "%s%s%.*s", text, i ? " " : "", STR_ARG(refs.at[i].name));
        if (refs.at[i].weight)
            text = arena_printf(a, "%s=%d", text, refs.at[i].weight);
    }
    return text;
}

static const struct {
    const char *name, *defaults, *defaults_off, *own, *own_off, *enabled, *disabled;
} merges[] = {
    { "nothing of one's own", "A B=2", "", "", "", "A B=2", "" },
    { "own ones come after", "A B", "", "C D=1", "", "A B C D=1", "" },
    { "a disabled default is left out", "A B C", "", "", "B", "A C", "B" },
    { "one's own takes the place of a default", "A B=2 C", "", "B=5", "", "A B=5 C", "" },
    { "without a weight it has none", "A B=2", "", "B", "", "A B", "" },
    { "a star disables all defaults", "A B", "", "B C", "*", "B C", "*" },
    { "disabled and enabled is appended", "A B C", "", "A=3", "A", "B C A=3", "A" },
    { "a duplicate stays; the last one replaces", "A B", "", "B=1 B=2", "", "A B=2 B=1", "" },
    { "both lists of disabled ones are kept", "A B", "X", "", "B=4", "A", "B X" },
    { "the order of one's own stays", "A", "", "D C B", "", "A D C B", "" },
};

TEST(merging_of_plugin_sets)
{
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct plugin_set defaults = { parse_refs(&a, merges[i].defaults), parse_refs(&a, merges[i].defaults_off) };
        struct plugin_set own = { parse_refs(&a, merges[i].own), parse_refs(&a, merges[i].own_off) };
        struct plugin_set merged = merge_plugin_sets(&a, &defaults, &own);
        CHECK_TEXT(merges[i].name, refs_text(&a, merged.enabled), merges[i].enabled);
        CHECK_TEXT(merges[i].name, refs_text(&a, merged.disabled), merges[i].disabled);
        arena_fini(&a);
    }
}

TEST(default_plugins_follow_gates)
{
    struct features f = default_features();
    struct arena a;
    arena_init(&a);
    plugin_refs refs = default_plugins(&a, &f);
    CHECK_INT("by default", refs.n, 20);
    CHECK_STR("last", refs.at[19].name, STR("NodeDeclaredFeatures"));
    f.node_declared_features = false;
    f.gang_scheduling = f.topology_aware_workloads = true;
    refs = default_plugins(&a, &f);
    CHECK_INT("with pod groups", refs.n, 22);
    CHECK_STR("gangs", refs.at[19].name, STR("GangScheduling"));
    CHECK_STR("placements", refs.at[20].name, STR("TopologyPlacementGenerator"));
    CHECK_STR("placements", refs.at[21].name, STR("PodGroupPodsCount"));
    CHECK_INT("placements", refs.at[21].weight, 1);
    arena_fini(&a);
}

/* ---- Files and documents ---- */

#define BERTH "---\napiVersion: berth.dev/v1alpha1\nkind: BerthConfiguration\n"

TEST(the_second_document)
{
    struct arena a;
    arena_init(&a);
    const struct config *c = load(&a, HEADER BERTH "pluginLibraries: [/a.so, /b.so]\n");
    CHECK_INT("libraries", c->berth.n_plugin_libraries, 2);
    CHECK_STR("library", c->berth.plugin_libraries[1], STR("/b.so"));
    CHECK_INT("other kinds are passed over", load(&a, HEADER "---\nkind: Pod\napiVersion: v1\n")->parallelism, 16);
    c = load(&a, "---\n" HEADER "---\nkind: Pod\n" BERTH "pluginLibraries: [/a.so]\n---\n# nothing\n");
    CHECK_INT("also behind others", c->berth.n_plugin_libraries, 1);
    arena_fini(&a);
}

static const struct {
    const char *name, *text, *error;
} berth_refusals[] = {
    { "an unknown field", HEADER BERTH "pluginLibrary: [x]\n",
      "document 2: strict decoding error: unknown field \"pluginLibrary\"" },
    { "a text for a list", HEADER BERTH "pluginLibraries: x\n",
      "document 2: json: cannot unmarshal string into Go struct field BerthConfiguration.pluginLibraries of type "
      "[]string" },
    { "another version", HEADER "---\napiVersion: berth.dev/v2\nkind: BerthConfiguration\n",
      "document 2: no kind \"BerthConfiguration\" is known of version \"berth.dev/v2\", only BerthConfiguration of "
      "berth.dev/v1alpha1" },
    { "given twice", HEADER BERTH BERTH, "document 3: more than one BerthConfiguration" },
    { "YAML that is none", HEADER "---\na: [\n", "document 2: yaml: line 2: did not find expected node content" },
};

TEST(refusals_of_the_second_document)
{
    struct features f = default_features();
    for (size_t i = 0; i < sizeof(berth_refusals) / sizeof(berth_refusals[0]); i++) {
        struct arena a;
        struct err e;
        struct config *c;
        arena_init(&a);
        err_init(&e, &a);
        if (!config_load(&a, str_of(berth_refusals[i].text), &f, &c, &e))
            FAIL("%s: not refused", berth_refusals[i].name);
        CHECK_TEXT(berth_refusals[i].name, e.message, berth_refusals[i].error);
        arena_fini(&a);
    }
}

TEST(files)
{
    struct features f = default_features();
    struct arena a;
    struct err e;
    struct config *c;
    char path[] = "/tmp/berth-test-XXXXXX";
    arena_init(&a);
    err_init(&e, &a);
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, HEADER "parallelism: 9\n", sizeof(HEADER) + 14) > 0);
    CHECK(!config_load_file(&a, path, &f, &c, &e));
    CHECK_INT("parallelism", c->parallelism, 9);
    CHECK(ftruncate(fd, CONFIG_BYTES_MAX + 1) == 0);
    CHECK_INT("too large", config_load_file(&a, path, &f, &c, &e), ERR_TOO_LARGE);
    close(fd);
    unlink(path);
    CHECK_INT("no file", config_load_file(&a, path, &f, &c, &e), ERR_IO);
    CHECK_TEXT("no file", e.message, arena_printf(&a, "open %s: no such file or directory", path));
    arena_fini(&a);
}

TEST(limits)
{
    struct features f = default_features();
    struct arena a;
    struct err e;
    struct config *c;
    struct strbuf text;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, HEADER "profiles:\n");
    for (int i = 0; i <= CONFIG_ITEMS_MAX; i++)
        STRBUF_ADD_LIT(&text, "- {}\n");
    CHECK(config_load(&a, strbuf_str(&text), &f, &c, &e));
    CHECK_TEXT("many profiles", e.message, "configuration holds a list that is too long");
    CHECK(config_load(&a, STR(HEADER "profiles: [{schedulerName: \"a\\0b\"}]\n"), &f, &c, &e));
    CHECK_TEXT("a NUL", e.message, "configuration holds a text with a NUL character");
    strbuf_fini(&text);
    arena_fini(&a);
}

TEST(ignorable_extenders_are_asked_last)
{
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    struct config *c = load(&a, HEADER "extenders: [{urlPrefix: a, ignorable: true}, {urlPrefix: b, httpTimeout: 1s}, "
                                       "{urlPrefix: c, ignorable: true}, {urlPrefix: d}]\n");
    CHECK(!config_apply_extenders(&a, c, &e));
    const struct extender_config **order = config_extender_order(&a, c);
    CHECK_STR("first", order[0]->url_prefix, STR("b"));
    CHECK_STR("second", order[1]->url_prefix, STR("d"));
    CHECK_STR("third", order[2]->url_prefix, STR("a"));
    CHECK_STR("fourth", order[3]->url_prefix, STR("c"));
    CHECK_INT("given timeout", order[0]->http_timeout_ns, 1000000000);
    CHECK_INT("default timeout", order[1]->http_timeout_ns, 5000000000);
    arena_fini(&a);
}
