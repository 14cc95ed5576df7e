/* Rules about pods that a recording of a real server cannot show: what depends on settings and times, objects from before
 * a rule, templates, and sizes that somebody chose to hurt. The rest is in tests/golden/rules/pods*.jsonl. */

#include "api/defaults.h"
#include "codec/json.h"
#include "rules/pod_priv.h"
#include "tests/test.h"

struct world {
    struct arena arena;
    struct rules_settings settings;
    struct warnings warnings;
    struct rules_context context;
    struct field_errors errs;
};

static void world_init(struct world *w)
{
    *w = (struct world){ 0 };
    arena_init(&w->arena);
    w->warnings.arena = &w->arena;
    field_errors_init(&w->errs, &w->arena);
    w->context = (struct rules_context){ .arena = &w->arena, .type = schema_type(STR("core/v1.Pod")), .namespaced = true,
                                         .now_s = 1800000000, .settings = &w->settings, .warnings = &w->warnings };
}

static void world_fini(struct world *w)
{
    arena_fini(&w->arena);
}

static struct value decode(struct world *w, const char *type, const char *json)
{
    struct err e;
    struct value v;
    err_init(&e, &w->arena);
    if (json_decode(&w->arena, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s\n%s", e.message, json);
    return v;
}

/* As a server has it before its rules. */
static struct value pod_of(struct world *w, const char *json)
{
    struct value v = decode(w, "core/v1.Pod", json);
    return defaults_apply(&w->arena, w->context.type, &v);
}

static const char *errors(struct world *w)
{
    return arena_cstr(&w->arena, field_errors_text(&w->arena, &w->errs));
}

static const char *json_at(struct world *w, const struct value *pod, const char *path)
{
    const struct value *v = value_path(w->context.type, pod, path);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (v->kind == VALUE_STRING)
        strbuf_add_str(&json, value_text(v));
    else if (v->kind == VALUE_INT)
        strbuf_add_int(&json, v->i);
    return arena_cstr(&w->arena, field_take_text(&w->arena, &json));
}

#define NAMED "\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"resourceVersion\":\"1\",\"uid\":\"u\"}"
#define POD(spec) "{" NAMED ",\"spec\":{" spec "}}"
#define C "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]"

/* ---- New pods ---- */

static const struct {
    const char *what, *pod, *path, *want;
} prepared[] = {
    { "a gated pod has a condition", POD(C ",\"schedulingGates\":[{\"name\":\"g\"}]"), "status.conditions.0.reason",
      "SchedulingGated" },
    { "its type", POD(C ",\"schedulingGates\":[{\"name\":\"g\"}]"), "status.conditions.0.type", "PodScheduled" },
    { "its status", POD(C ",\"schedulingGates\":[{\"name\":\"g\"}]"), "status.conditions.0.status", "False" },
    { "its message", POD(C ",\"schedulingGates\":[{\"name\":\"g\"}]"), "status.conditions.0.message",
      "Scheduling is blocked due to non-empty scheduling gates" },
    { "others have none", POD(C), "status.conditions.0.type", "" },
    { "a pod begins as pending", POD(C), "status.phase", "Pending" },
    { "a group of pods is behind a gate", POD(C ",\"schedulingGroup\":{\"podGroupName\":\"g\"}"),
      "spec.schedulingGroup.podGroupName", "" },
};

TEST(new_pods_are_prepared)
{
    for (size_t i = 0; i < N_OF(prepared); i++) {
        struct world w;
        world_init(&w);
        struct value new = pod_of(&w, prepared[i].pod), pod = pod_prepare_create(&w.context, &new);
        CHECK_TEXT(prepared[i].what, json_at(&w, &pod, prepared[i].path), prepared[i].want);
        world_fini(&w);
    }
}

TEST(a_condition_has_the_time_of_the_request)
{
    struct world w;
    world_init(&w);
    struct value new = pod_of(&w, POD(C ",\"schedulingGates\":[{\"name\":\"g\"}]")), pod = pod_prepare_create(&w.context, &new);
    const struct value *time = value_path(w.context.type, &pod, "status.conditions.0.lastTransitionTime");
    CHECK(time->kind == VALUE_TIME && time->i == 1800000000);
    world_fini(&w);
}

static const struct {
    const char *what, *pod, *want;
    bool allow_privileged;
} privileged[] = {
    { "a privileged container", POD("\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"securityContext\":{\"privileged\":true}}]"),
      "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy", false },
    { "where that is allowed",
      POD("\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"securityContext\":{\"privileged\":true}}]"), "", true },
    { "a process of the host", POD(C ",\"hostNetwork\":true,\"securityContext\":{\"windowsOptions\":{\"hostProcess\":true}}"),
      "spec: Forbidden: hostProcess containers are disallowed by cluster policy", false },
};

TEST(settings_decide_about_privileges)
{
    for (size_t i = 0; i < N_OF(privileged); i++) {
        struct world w;
        world_init(&w);
        w.settings.allow_privileged = privileged[i].allow_privileged;
        struct value pod = pod_of(&w, privileged[i].pod);
        pod_validate_create(&w.context, &pod, &w.errs);
        CHECK_TEXT(privileged[i].what, errors(&w), privileged[i].want);
        world_fini(&w);
    }
}

/* ---- Quality of service ---- */

#define R(requests, limits) "{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{" requests "},\"limits\":{" limits "}}}"

static const struct {
    const char *what, *spec, *want;
} classes[] = {
    { "nothing", "{" C "}", "BestEffort" },
    { "zeros", "{\"containers\":[" R("\"cpu\":\"0\"", "\"memory\":\"0\"") "]}", "BestEffort" },
    { "what is no cpu and no memory", "{\"containers\":[" R("\"a/b\":\"1\"", "\"a/b\":\"1\"") "]}", "BestEffort" },
    { "a request", "{\"containers\":[" R("\"cpu\":\"1\"", "") "]}", "Burstable" },
    { "both limited", "{\"containers\":[" R("\"cpu\":\"1\",\"memory\":\"1\"", "\"cpu\":\"1000m\",\"memory\":\"1\"") "]}",
      "Guaranteed" },
    { "memory not limited", "{\"containers\":[" R("\"cpu\":\"1\",\"memory\":\"1\"", "\"cpu\":\"1\"") "]}", "Burstable" },
    { "less than the limit", "{\"containers\":[" R("\"cpu\":\"1\",\"memory\":\"1\"", "\"cpu\":\"2\",\"memory\":\"1\"") "]}",
      "Burstable" },
    { "the pod's own count alone",
      "{\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1\"},\"requests\":{\"cpu\":\"1\",\"memory\":\"1\"}}," C "}", "Guaranteed" },
    { "the pod's own, half", "{\"resources\":{\"limits\":{\"cpu\":\"1\"},\"requests\":{\"cpu\":\"1\"}}," C "}", "Burstable" },
};

TEST(classes_of_service)
{
    for (size_t i = 0; i < N_OF(classes); i++) {
        struct world w;
        world_init(&w);
        struct value spec = decode(&w, "core/v1.PodSpec", classes[i].spec);
        CHECK_TEXT(classes[i].what, pod_qos_class(&w.arena, &spec), classes[i].want);
        world_fini(&w);
    }
}

/* ---- Ephemeral containers that are there ---- */

#define E(image) "\"ephemeralContainers\":[{\"name\":\"e\",\"image\":\"" image "\"}]"

static const struct {
    const char *what, *new, *want;
} kept[] = {
    { "one more", POD(C ",\"ephemeralContainers\":[{\"name\":\"f\",\"image\":\"i\"},{\"name\":\"e\",\"image\":\"i\"}]"), "" },
    { "one changed", POD(C "," E("j")),
      "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be changed\n" },
    { "one removed", POD(C), "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be removed\n" },
};

TEST(ephemeral_containers_stay)
{
    for (size_t i = 0; i < N_OF(kept); i++) {
        struct world w;
        world_init(&w);
        struct value old = pod_of(&w, POD(C "," E("i"))), new = pod_of(&w, kept[i].new);
        new = pod_prepare_ephemeral(&w.context, &new, &old);
        pod_validate_ephemeral(&w.context, &new, &old, &w.errs);
        CHECK_TEXT(kept[i].what, errors(&w), kept[i].want);
        world_fini(&w);
    }
}

static const struct {
    const char *what;
    rules_validate_update *validate;
    const char *want;
} statics[] = {
    { "containers for debugging", pod_validate_ephemeral, "[]: Forbidden: static pods do not support ephemeral containers" },
    { "a resize", pod_validate_resize, "[]: Forbidden: static pods cannot be resized" },
};

TEST(static_pods_are_somebody_elses)
{
    for (size_t i = 0; i < N_OF(statics); i++) {
        struct world w;
        world_init(&w);
        struct value pod = pod_of(&w, "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}},\"spec\":{" C "}}");
        statics[i].validate(&w.context, &pod, &pod, &w.errs);
        CHECK_TEXT(statics[i].what, errors(&w), statics[i].want);
        world_fini(&w);
    }
}

/* ---- Templates ---- */

#define TEMPLATE(meta, spec) "{\"metadata\":{" meta "},\"spec\":{\"terminationGracePeriodSeconds\":30,\"restartPolicy\":\"Always\",\"dnsPolicy\":\"Default\"," spec "}}"
#define FULL "\"containers\":[{\"name\":\"c\",\"image\":\" i\",\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\"}]"
#define SYSCTL "\"hostNetwork\":true,\"securityContext\":{\"sysctls\":[{\"name\":\"net.x\",\"value\":\"1\"}]}"
#define COST "\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":\"x\"}"

static const struct {
    const char *what, *template, *old, *want;
} templates[] = {
    { "spaces around an image are let through", TEMPLATE("", FULL), NULL, "" },
    { "nothing in it", "{}", NULL,
      "[spec.template.spec.terminationGracePeriodSeconds: Required value, spec.template.spec.containers: Required value, "
      "spec.template.spec.restartPolicy: Required value, spec.template.spec.dnsPolicy: Required value]" },
    { "a wrong label", TEMPLATE("\"labels\":{\"a\":\"b c\"}", FULL), NULL,
      "spec.template.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', "
      "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
      "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')" },
    { "containers for debugging", TEMPLATE("", FULL ",\"ephemeralContainers\":[{\"name\":\"e\",\"image\":\"i\","
      "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\"}]"), NULL,
      "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template" },
    { "a port of the host may be left open",
      TEMPLATE("", "\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"terminationMessagePolicy\":\"File\","
      "\"imagePullPolicy\":\"Always\",\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"},{\"containerPort\":81,\"hostPort\":9,"
      "\"protocol\":\"TCP\"}]}]"), NULL,
      "spec.template.spec.containers[0].ports[1].hostPort: Invalid value: 9: must match `containerPort` when `hostNetwork` is true" },
    { "a sysctl of the host", TEMPLATE("", FULL "," SYSCTL), NULL,
      "spec.template.spec.securityContext.sysctls[0].name: Invalid value: \"net.x\": may not be specified when 'hostNetwork' is true" },
    { "one that was there before", TEMPLATE("", FULL "," SYSCTL), TEMPLATE("", FULL "," SYSCTL), "" },
    { "a wrong cost", TEMPLATE(COST, FULL), TEMPLATE("", FULL),
      "spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"x\": must be a 32bit integer" },
    { "a wrong cost that was there before", TEMPLATE(COST, FULL), TEMPLATE(COST, FULL), "" },
    { "pages that cannot be",
      TEMPLATE("", FULL ",\"overhead\":{\"hugepages-2Mi\":\"3Mi\"}"), NULL,
      "[spec.template.spec.overhead.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi, "
      "spec.template.spec.overhead: Forbidden: HugePages require cpu or memory]" },
    { "pages that were there before", TEMPLATE("", FULL ",\"overhead\":{\"cpu\":\"1\",\"hugepages-2Mi\":\"3Mi\"}"),
      TEMPLATE("", FULL ",\"overhead\":{\"cpu\":\"1\",\"hugepages-2Mi\":\"3Mi\"}"), "" },
};

TEST(templates_are_checked)
{
    for (size_t i = 0; i < N_OF(templates); i++) {
        struct world w;
        world_init(&w);
        struct field_path spec = field_child(NULL, "spec"), at = field_child(&spec, "template");
        struct value template = decode(&w, "core/v1.PodTemplateSpec", templates[i].template), old;
        if (templates[i].old)
            old = decode(&w, "core/v1.PodTemplateSpec", templates[i].old);
        rules_check_pod_template_spec(&w.context, &template, templates[i].old ? &old : NULL, &at, &w.errs);
        CHECK_TEXT(templates[i].what, errors(&w), templates[i].want);
        world_fini(&w);
    }
}

TEST(warnings_of_templates_name_the_template)
{
    struct world w;
    world_init(&w);
    struct field_path spec = field_child(NULL, "spec"), at = field_child(&spec, "template");
    struct value template = decode(&w, "core/v1.PodTemplateSpec",
        TEMPLATE("\"annotations\":{\"container.apparmor.security.beta.kubernetes.io/c\":\"unconfined\"}",
                 FULL ",\"nodeSelector\":{\"beta.kubernetes.io/os\":\"x\"},\"volumes\":[{\"name\":\"v\",\"rbd\":{}}]"));
    rules_warn_pod_template(&w.context, &template, &at);
    CHECK(w.warnings.n == 3);
    CHECK_TEXT("a label", w.warnings.texts[0], "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
               "\"kubernetes.io/os\" instead");
    CHECK_TEXT("a volume", w.warnings.texts[1], "spec.template.spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+");
    CHECK_TEXT("a profile", w.warnings.texts[2], "spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
               "deprecated since v1.30; use the \"appArmorProfile\" field instead");
    world_fini(&w);
}

/* ---- The table ---- */

static bool names(const char *const *paths, const char *path)
{
    for (; *paths; paths++)
        if (strcmp(*paths, path) == 0)
            return true;
    return false;
}

/* A field that is added to the spec is to be thought of. */
TEST(endpoints_of_containers_own_nothing_else)
{
    const struct type *spec = schema_type(STR("core/v1.PodSpec"));
    const struct sub_rules *ephemeral = rules_sub(pod_rules, STR("ephemeralcontainers"));
    const struct sub_rules *resize = rules_sub(pod_rules, STR("resize"));
    for (unsigned i = 0; i < spec->n_fields; i++) {
        char path[100];
        snprintf(path, sizeof(path), "spec.%.*s", STR_ARG(spec->fields[i].name));
        bool own = str_is(spec->fields[i].name, "ephemeralContainers");
        bool sized = str_is(spec->fields[i].name, "containers") || str_is(spec->fields[i].name, "initContainers");
        if (names(ephemeral->reset_fields, path) == own || names(resize->reset_fields, path) == sized)
            FAIL("%s", path);
    }
}

/* ---- Sizes that somebody chose ---- */

enum { MANY = 20000, SLOW_S = 4 };

/* A pod whose list at the end of `begin` has MANY items, each made by `item` and its number. */
static const char *long_pod(struct world *w, const char *begin, const char *item, const char *end)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_add_text(&json, begin);
    for (int i = 0; i < MANY; i++) {
        strbuf_add_text(&json, i ? "," : "");
        for (const char *c = item; *c; c++)
            if (*c == '#')
                strbuf_add_int(&json, i);
            else
                strbuf_add_char(&json, *c);
    }
    strbuf_add_text(&json, end);
    return arena_cstr(&w->arena, field_take_text(&w->arena, &json));
}

static const struct {
    const char *what, *begin, *item, *end;
} sizes[] = {
    { "containers", "{" NAMED ",\"spec\":{\"containers\":[", "{\"name\":\"c#\",\"image\":\"i\"}", "]}}" },
    { "containers of a name", "{" NAMED ",\"spec\":{\"containers\":[", "{\"name\":\"c\",\"image\":\"\"}", "]}}" },
    { "ports of a number", "{" NAMED ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"ports\":[",
      "{\"containerPort\":1,\"hostPort\":#}", "]}]}}" },
    { "variables", "{" NAMED ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"env\":[", "{\"name\":\"A#\"}", "]}]}}" },
    { "mounts of nothing", "{" NAMED ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"volumeMounts\":[",
      "{\"name\":\"v#\",\"mountPath\":\"/#\"}", "]}]}}" },
    { "claims of nothing", "{" NAMED ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"claims\":[",
      "{\"name\":\"a#\",\"request\":\"r\"}", "]}}]}}" },
    { "claims that nobody uses", "{" NAMED ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"claims\":[{\"name\":\"x\"}]}}],"
      "\"resourceClaims\":[", "{\"name\":\"a#\",\"resourceClaimName\":\"r\"}", "]}}" },
    { "resources", "{" NAMED ",\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"1\"}},\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{",
      "\"a/b#\":\"1\"", "}}}]}}" },
    { "tolerations", "{" NAMED ",\"spec\":{" C ",\"tolerations\":[", "{\"key\":\"k#\"}", "]}}" },
    { "constraints", "{" NAMED ",\"spec\":{" C ",\"topologySpreadConstraints\":[",
      "{\"maxSkew\":1,\"topologyKey\":\"k#\",\"whenUnsatisfiable\":\"DoNotSchedule\"}", "]}}" },
    { "files", "{" NAMED ",\"spec\":{" C ",\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\",\"items\":[",
      "{\"key\":\"k\",\"path\":\"a/b/c/d/e/f/#\"}", "]}}]}}" },
    { "gates", "{" NAMED ",\"spec\":{" C ",\"schedulingGates\":[", "{\"name\":\"g#\"}", "]}}" },
    { "conditions", "{" NAMED ",\"spec\":{" C "},\"status\":{\"conditions\":[", "{\"type\":\"Ready\",\"status\":\"True\"}", "]}}" },
    { "statuses", "{" NAMED ",\"spec\":{" C "},\"status\":{\"containerStatuses\":[",
      "{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":0}},\"allocatedResourcesStatus\":[{\"name\":\"x\"}]}", "]}}" },
};

/* Every endpoint, on a pod that is nothing but one long list. */
TEST(long_lists_take_no_long_time)
{
    for (size_t i = 0; i < N_OF(sizes); i++) {
        struct world w;
        world_init(&w);
        const char *json = long_pod(&w, sizes[i].begin, sizes[i].item, sizes[i].end);
        struct value pod = pod_of(&w, json), new = pod_prepare_create(&w.context, &pod);
        double begin_s = test_cpu_seconds();
        pod_validate_create(&w.context, &new, &w.errs);
        pod_warn(&w.context, &new, NULL);
        pod_validate_update(&w.context, &pod, &pod, &w.errs);
        new = pod_prepare_status(&w.context, &pod, &pod);
        pod_validate_status(&w.context, &new, &pod, &w.errs);
        new = pod_prepare_resize(&w.context, &pod, &pod);
        pod_validate_resize(&w.context, &new, &pod, &w.errs);
        CHECK(field_errors_text(&w.arena, &w.errs).n < 3 * FIELD_ERRORS_BYTES_MAX);
        double taken_s = test_cpu_seconds() - begin_s;
        if (taken_s > SLOW_S)
            FAIL("%s: %.1f CPU s", sizes[i].what, taken_s);
        world_fini(&w);
    }
}
