/* tests/unit/test_pod_security.c - policies in labels, and what they allow, by release. */
#include "apiserver/pod_security.h"
#include "codec/json.h"
#include "tests/test.h"

/* ---- Labels ---- */

#define LABEL "pod-security.kubernetes.io/"

static const struct {
    const char *what, *labels, *enforce, *audit, *warn, *errors;
} policies[] = {
    { "no labels", "{}", "privileged:latest", "privileged:latest", "privileged:latest", "" },
    { "what is enforced is warned of", "{\"" LABEL "enforce\":\"baseline\"}", "baseline:latest", "privileged:latest", "baseline:latest", "" },
    { "with its version", "{\"" LABEL "enforce\":\"restricted\",\"" LABEL "enforce-version\":\"v1.24\"}", "restricted:v1.24",
      "privileged:latest", "restricted:v1.24", "" },
    { "unless one is given", "{\"" LABEL "enforce\":\"restricted\",\"" LABEL "enforce-version\":\"v1.24\",\"" LABEL "warn-version\":\"v1.3\"}",
      "restricted:v1.24", "privileged:latest", "restricted:v1.3", "" },
    { "or another level", "{\"" LABEL "enforce\":\"restricted\",\"" LABEL "warn\":\"privileged\"}", "restricted:latest", "privileged:latest",
      "privileged:latest", "" },
    { "all three", "{\"" LABEL "enforce\":\"baseline\",\"" LABEL "audit\":\"restricted\",\"" LABEL "audit-version\":\"v1.0\",\"" LABEL
      "warn\":\"restricted\"}", "baseline:latest", "restricted:v1.0", "restricted:latest", "" },
    { "what nobody understands is strict when it is enforced", "{\"" LABEL "enforce\":\"x\"}", "restricted:latest", "privileged:latest",
      "privileged:latest",
      "metadata.labels[" LABEL "enforce]: Invalid value: \"x\": must be one of privileged, baseline, restricted" },
    { "and open otherwise", "{\"" LABEL "audit\":\"x\",\"" LABEL "warn\":\"Baseline\"}", "privileged:latest", "privileged:latest",
      "privileged:latest",
      "[metadata.labels[" LABEL "audit]: Invalid value: \"x\": must be one of privileged, baseline, restricted, "
      "metadata.labels[" LABEL "warn]: Invalid value: \"Baseline\": must be one of privileged, baseline, restricted]" },
    { "leading zeros are no version", "{\"" LABEL "enforce-version\":\"v1.08\"}", "privileged:latest", "privileged:latest",
      "privileged:latest", "metadata.labels[" LABEL "enforce-version]: Invalid value: \"v1.08\": must be \"latest\" or \"v1.x\"" },
    { "another major is none", "{\"" LABEL "enforce-version\":\"v2.0\"}", "privileged:latest", "privileged:latest", "privileged:latest",
      "metadata.labels[" LABEL "enforce-version]: Invalid value: \"v2.0\": must be \"latest\" or \"v1.x\"" },
    { "nor is one without a number", "{\"" LABEL "enforce-version\":\"v1.\"}", "privileged:latest", "privileged:latest",
      "privileged:latest", "metadata.labels[" LABEL "enforce-version]: Invalid value: \"v1.\": must be \"latest\" or \"v1.x\"" },
    { "a version that is still to come", "{\"" LABEL "enforce\":\"baseline\",\"" LABEL "enforce-version\":\"v1.400\"}", "baseline:v1.400",
      "privileged:latest", "baseline:v1.400", "" },
};

static struct value decode(struct arena *a, const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s: %s", json, e.message);
    return v;
}

TEST(labels_are_policies)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct field_errors errs;
        field_errors_init(&errs, &a);
        struct value meta = decode(&a, "meta/v1.ObjectMeta", arena_printf(&a, "{\"labels\":%s}", policies[i].labels));
        struct security_policies p = security_policies_read(value_path(schema_type(STR("meta/v1.ObjectMeta")), &meta, "labels"), &errs);
        CHECK_TEXT(policies[i].what, security_policy_text(&a, p.enforce), policies[i].enforce);
        CHECK_TEXT(policies[i].what, security_policy_text(&a, p.audit), policies[i].audit);
        CHECK_TEXT(policies[i].what, security_policy_text(&a, p.warn), policies[i].warn);
        CHECK_STR(policies[i].what, field_errors_text(&a, &errs), str_of(policies[i].errors));
        arena_fini(&a);
    }
}

/* ---- Checks, by release ---- */

#define CONTAINER(rest) "{\"containers\":[{\"name\":\"c\"" rest "}]}"
#define CONTEXT(fields) CONTAINER(",\"securityContext\":{" fields "}")
#define GOOD "\"allowPrivilegeEscalation\":false,\"runAsNonRoot\":true,\"capabilities\":{\"drop\":[\"ALL\"]},\"seccompProfile\":{\"type\":\"RuntimeDefault\"}"

static const struct {
    const char *what;
    enum security_level level;
    int minor;
    const char *meta, *spec, *reasons;
} pods[] = {
    { "privileged allows all", SECURITY_PRIVILEGED, SECURITY_LATEST, "{}", CONTEXT("\"privileged\":true"), "" },
    { "baseline does not", SECURITY_BASELINE, SECURITY_LATEST, "{}", CONTEXT("\"privileged\":true"), "privileged" },
    { "restricted begins with few rules", SECURITY_RESTRICTED, 0, "{}", CONTAINER(""), "runAsNonRoot != true" },
    { "v1.8 brings escalation", SECURITY_RESTRICTED, 8, "{}", CONTAINER(""), "allowPrivilegeEscalation != false, runAsNonRoot != true" },
    { "v1.19 brings seccomp", SECURITY_RESTRICTED, 19, "{}", CONTAINER(""),
      "allowPrivilegeEscalation != false, runAsNonRoot != true, seccompProfile" },
    { "v1.22 brings capabilities", SECURITY_RESTRICTED, 22, "{}", CONTAINER(""),
      "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile" },
    { "before it those of baseline count", SECURITY_RESTRICTED, 21, "{}",
      CONTEXT("\"allowPrivilegeEscalation\":false,\"runAsNonRoot\":true,\"seccompProfile\":{\"type\":\"RuntimeDefault\"},\"capabilities\":{\"add\":[\"SYS_TIME\"]}"),
      "non-default capabilities" },
    { "v1.22 lets root by number pass", SECURITY_RESTRICTED, 22, "{}", CONTEXT(GOOD ",\"runAsUser\":0"), "" },
    { "v1.23 does not", SECURITY_RESTRICTED, 23, "{}", CONTEXT(GOOD ",\"runAsUser\":0"), "runAsUser=0" },
    { "a user namespace makes up for it from v1.35 on", SECURITY_RESTRICTED, 35, "{}",
      "{\"hostUsers\":false,\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD ",\"runAsUser\":0}}]}", "" },
    { "not before", SECURITY_RESTRICTED, 34, "{}", "{\"hostUsers\":false,\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD ",\"runAsUser\":0}}]}",
      "runAsUser=0" },
    { "annotations counted once", SECURITY_BASELINE, 18,
      "{\"annotations\":{\"container.seccomp.security.alpha.kubernetes.io/c\":\"unconfined\",\"seccomp.security.alpha.kubernetes.io/pod\":\"docker/default\"}}",
      CONTAINER(""), "seccompProfile" },
    { "and then no more", SECURITY_BASELINE, 19, "{\"annotations\":{\"seccomp.security.alpha.kubernetes.io/pod\":\"unconfined\"}}", CONTAINER(""), "" },
    { "fields did not count then", SECURITY_BASELINE, 18, "{}", CONTEXT("\"seccompProfile\":{\"type\":\"Unconfined\"}"), "" },
    { "Windows needs no seccomp", SECURITY_RESTRICTED, 25, "{}",
      "{\"os\":{\"name\":\"windows\"},\"securityContext\":{\"runAsNonRoot\":true},\"containers\":[{\"name\":\"c\"}]}", "" },
    { "but did", SECURITY_RESTRICTED, 24, "{}",
      "{\"os\":{\"name\":\"windows\"},\"securityContext\":{\"runAsNonRoot\":true},\"containers\":[{\"name\":\"c\"}]}",
      "allowPrivilegeEscalation != false, unrestricted capabilities, seccompProfile" },
    { "a volume of the host is told once", SECURITY_RESTRICTED, SECURITY_LATEST, "{}",
      "{\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/\"}}],\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD "}}]}",
      "restricted volume types" },
    { "a volume of no kind", SECURITY_RESTRICTED, SECURITY_LATEST, "{}",
      "{\"volumes\":[{\"name\":\"v\"}],\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD "}}]}", "restricted volume types" },
    { "hosts of probes from v1.34 on", SECURITY_BASELINE, 34, "{}", CONTAINER(",\"startupProbe\":{\"tcpSocket\":{\"port\":1,\"host\":\"h\"}}"),
      "probe or lifecycle host" },
    { "not before it", SECURITY_BASELINE, 33, "{}", CONTAINER(",\"startupProbe\":{\"tcpSocket\":{\"port\":1,\"host\":\"h\"}}"), "" },
    { "ephemeral containers, too", SECURITY_BASELINE, SECURITY_LATEST, "{}",
      "{\"containers\":[{\"name\":\"c\"}],\"ephemeralContainers\":[{\"name\":\"e\",\"securityContext\":{\"privileged\":true}}]}", "privileged" },
    { "later releases mean the last that changed anything", SECURITY_BASELINE, 4000, "{}",
      "{\"hostUsers\":false,\"containers\":[{\"name\":\"c\",\"securityContext\":{\"procMount\":\"Unmasked\"}}]}", "" },
    { "restricted does not let it pass", SECURITY_RESTRICTED, 35, "{}",
      "{\"hostUsers\":false,\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD ",\"procMount\":\"Unmasked\"}}]}", "procMount" },
};

TEST(pods_are_held_against_a_release)
{
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct value meta = decode(&a, "meta/v1.ObjectMeta", pods[i].meta), spec = decode(&a, "core/v1.PodSpec", pods[i].spec);
        struct security_findings f = security_check(&a, (struct security_policy){ pods[i].level, pods[i].minor }, &meta, &spec);
        CHECK_TEXT(pods[i].what, f.reasons, pods[i].reasons);
        CHECK_INT(pods[i].what, strncmp(f.details, f.reasons, strcspn(f.reasons, ",")), 0);
        arena_fini(&a);
    }
}

/* As many containers as a body can have take time in proportion, and a message of bounded length. */
TEST(many_containers_cost_little)
{
    enum { MANY = 50000 };
    struct arena a;
    arena_init(&a);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_add_text(&json, "{\"containers\":[");
    for (int i = 0; i < MANY; i++)
        strbuf_printf(&json, "%s{\"name\":\"a-long-name-%d\",\"securityContext\":{\"privileged\":true,\"capabilities\":{\"add\":[\"X%d\"]}}}", i ? "," : "", i, i);
    strbuf_add_text(&json, "]}");
    struct value spec = decode(&a, "core/v1.PodSpec", strbuf_cstr(&json)), meta = decode(&a, "meta/v1.ObjectMeta", "{}");
    struct security_findings f = security_check(&a, (struct security_policy){ SECURITY_RESTRICTED, SECURITY_LATEST }, &meta, &spec);
    CHECK(strlen(f.details) <= ERR_MESSAGE_BYTES_MAX);
    CHECK(strncmp(f.reasons, "privileged", 10) == 0);
    CHECK(a.n_bytes < 300u << 20);
    strbuf_fini(&json);
    arena_fini(&a);
}
