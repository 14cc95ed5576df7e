/* What a pod's form holds, beyond its requests. */
#include "forms/pod.h"

#include "base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/typed_world.h"

static const struct pod *decode(struct world *w, const char *json)
{
    const struct pod *p;
    if (pod_decode(&w->syms, TYPED_JSON, str_of(json), &p, &w->e))
        FAIL("%s: %s", json, w->e.message);
    return p;
}

TEST(flags_say_what_is_there)
{
    static const struct {
        const char *name, *json;
        uint32_t want;
    } rows[] = {
        { "none", "{}", 0 },
        { "terminating", "{\"metadata\":{\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"}}", POD_TERMINATING },
        { "finished", "{\"status\":{\"phase\":\"Succeeded\"}}", POD_FINISHED },
        { "running", "{\"status\":{\"phase\":\"Running\"}}", 0 },
        { "never preempts", "{\"spec\":{\"preemptionPolicy\":\"Never\"}}", POD_NEVER_PREEMPTS },
        { "priority 0 is given", "{\"spec\":{\"priority\":0}}", POD_HAS_PRIORITY },
        { "the first DisruptionTarget decides",
          "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"Other\"},{\"type\":"
          "\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"PreemptionByScheduler\"}]}}", 0 },
        { "preempted", "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
          "\"PreemptionByScheduler\"}]}}", POD_DISRUPTED_BY_SCHEDULER },
        { "an empty pod affinity", "{\"spec\":{\"affinity\":{\"podAffinity\":{}}}}", POD_HAS_AFFINITY },
        { "an empty affinity", "{\"spec\":{\"affinity\":{}}}", 0 },
        { "an empty node selector", "{\"spec\":{\"nodeSelector\":{}}}", POD_HAS_NODE_SELECTOR },
        { "required node affinity", "{\"spec\":{\"affinity\":{\"nodeAffinity\":{"
          "\"requiredDuringSchedulingIgnoredDuringExecution\":{}}}}}", POD_HAS_REQUIRED_NODE_AFFINITY },
        { "preferred node affinity", "{\"spec\":{\"affinity\":{\"nodeAffinity\":{"
          "\"preferredDuringSchedulingIgnoredDuringExecution\":[]}}}}", POD_HAS_PREFERRED_NODE_AFFINITY },
        { "user namespaces on the host network", "{\"spec\":{\"hostNetwork\":true,\"hostUsers\":false}}",
          POD_NEEDS_USERNS_HOSTNET },
        { "hostUsers not given", "{\"spec\":{\"hostNetwork\":true}}", 0 },
        { "restart all", "{\"spec\":{\"initContainers\":[{\"restartPolicyRules\":[{\"action\":\"Restart\"},{\"action\":"
          "\"RestartAllContainers\"}]}]}}", POD_NEEDS_RESTART_ALL },
        { "ready", "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}", 0 },
        { "not ready", "{\"status\":{\"conditions\":[{\"type\":\"ContainersReady\",\"status\":\"True\"},{\"type\":\"Ready\","
          "\"status\":\"False\"}]}}", POD_NOT_READY },
        { "start time", "{\"status\":{\"startTime\":\"1970-01-01T00:00:00Z\"}}", POD_HAS_START_TIME },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pod *p = decode(&w, rows[i].json);
        CHECK_INT(rows[i].name, p->flags, rows[i].want);
        pod_unref(&w.syms, p);
    }
    world_fini(&w);
}

TEST(the_phase_is_kept)
{
    static const char *const texts[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown", "", "pending", "Else" };
    static const enum pod_phase want[] = { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED,
                                           PHASE_UNKNOWN, PHASE_OTHER,   PHASE_OTHER,     PHASE_OTHER };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char json[64];
        snprintf(json, sizeof(json), "{\"status\":{\"phase\":\"%s\"}}", texts[i]);
        const struct pod *p = decode(&w, json);
        CHECK_INT(texts[i], p->phase, want[i]);
        CHECK_TEXT(texts[i], pod_phase_text(p->phase), want[i] ? texts[i] : "");
        pod_unref(&w.syms, p);
    }
    world_fini(&w);
}

TEST(images_are_normalised)
{
    static const struct {
        const char *image, *want;
    } rows[] = {
        { "nginx", "nginx:latest" },
        { "nginx:1", "nginx:1" },
        { "registry:5000/nginx", "registry:5000/nginx:latest" },
        { "registry:5000/nginx:1", "registry:5000/nginx:1" },
        { "nginx@sha256:00", "nginx@sha256:00" },
        { "", ":latest" },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pod *p =
            decode(&w, arena_printf(&w.arena, "{\"spec\":{\"containers\":[{\"image\":\"%s\"}]}}", rows[i].image));
        CHECK_INT(rows[i].image, p->n_images, 1);
        CHECK_STR(rows[i].image, sym_text(&w.syms, p->images[0]), str_of(rows[i].want));
        pod_unref(&w.syms, p);
    }
    world_fini(&w);
}

TEST(host_ports_are_those_that_last)
{
    struct world w;
    world_init(&w);
    const struct pod *p = decode(&w,
        "{\"spec\":{\"initContainers\":[{\"ports\":[{\"hostPort\":1}]},{\"restartPolicy\":\"Always\",\"ports\":[{\"hostPort\":2}]}],"
        "\"containers\":[{\"ports\":[{\"hostPort\":0},{\"hostPort\":-1},{\"hostPort\":3,\"hostIP\":\"::\",\"protocol\":\"SCTP\"}]}]}}");
    CHECK_INT("number", p->n_ports, 2);
    CHECK_INT("sidecar", p->ports[0].port, 2);
    CHECK_STR("default ip", sym_text(&w.syms, p->ports[0].ip), STR("0.0.0.0"));
    CHECK_STR("default protocol", sym_text(&w.syms, p->ports[0].protocol), STR("TCP"));
    CHECK_STR("ip", sym_text(&w.syms, p->ports[1].ip), STR("::"));
    CHECK_STR("protocol", sym_text(&w.syms, p->ports[1].protocol), STR("SCTP"));
    pod_unref(&w.syms, p);
    world_fini(&w);
}

TEST(volumes_name_what_they_need)
{
    struct world w;
    world_init(&w);
    const struct pod *p = decode(&w,
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"volumes\":[{\"name\":\"v\",\"ephemeral\":{\"volumeClaimTemplate\":{}}},"
        "{\"name\":\"x\",\"configMap\":{}},{\"rbd\":{\"monitors\":[\"m\"],\"image\":\"i\",\"pool\":\"l\",\"readOnly\":true}}]}}");
    CHECK_INT("number", p->n_volumes, 2);
    CHECK_INT("kind", p->volumes[0].kind, VOLUME_EPHEMERAL);
    CHECK_STR("claim", sym_text(&w.syms, p->volumes[0].names[0]), STR("p-v"));
    CHECK_INT("kind", p->volumes[1].kind, VOLUME_RBD);
    CHECK(p->volumes[1].read_only);
    CHECK_INT("pool, image, monitor", p->volumes[1].n_names, 3);
    CHECK_STR("monitor", sym_text(&w.syms, p->volumes[1].names[2]), STR("m"));
    pod_unref(&w.syms, p);
    world_fini(&w);
}

TEST(affinity_terms_know_their_namespaces)
{
    struct world w;
    world_init(&w);
    const struct pod *p = decode(&w,
        "{\"metadata\":{\"namespace\":\"home\"},\"spec\":{\"affinity\":{\"podAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"k\"},{\"namespaces\":[\"b\",\"a\",\"b\"]},"
        "{\"namespaceSelector\":{}}]},\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{},"
        "{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Odd\"}]}}]}}}}");
    const struct affinity_terms *terms = &p->affinity->required;
    CHECK_INT("terms", terms->n, 3);
    CHECK_INT("own", terms->at[0].n_namespaces, 1);
    CHECK_INT("own", terms->at[0].namespaces[0], p->meta.ns);
    CHECK_INT("no selector", terms->at[0].selector.mode, MATCHER_NOTHING);
    CHECK_INT("named", terms->at[1].n_namespaces, 2);
    CHECK_INT("selected", terms->at[2].n_namespaces, 0);
    CHECK(matcher_is_empty(&terms->at[2].namespace_selector));
    CHECK_INT("one bad term undoes the list", p->affinity->required_anti.n, 0);
    CHECK_TEXT("error", p->affinity->required_anti.error, "\"Odd\" is not a valid label selector operator");
    pod_unref(&w.syms, p);
    world_fini(&w);
}

TEST(preferred_node_terms_fail_together)
{
    struct world w;
    world_init(&w);
    const struct pod *p = decode(&w,
        "{\"spec\":{\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"
        "\"preference\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}}]}}}}");
    CHECK_INT("terms", p->node_affinity->n_preferred, 0);
    CHECK_TEXT("error", p->node_affinity->preferred_error,
               "[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
    pod_unref(&w.syms, p);
    p = decode(&w,
        "{\"spec\":{\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":0,"
        "\"preference\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}},{\"weight\":3,\"preference\":{}},"
        "{\"weight\":2,\"preference\":{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"NotIn\",\"values\":[\"n\"]}]}}]}}}}");
    CHECK_INT("terms", p->node_affinity->n_preferred, 1);
    CHECK_INT("weight", p->node_affinity->preferred[0].weight, 2);
    pod_unref(&w.syms, p);
    world_fini(&w);
}

TEST(spreading_takes_own_labels_in)
{
    struct world w;
    world_init(&w);
    const struct pod *p = decode(&w,
        "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\"}},\"spec\":{\"topologySpreadConstraints\":["
        "{\"labelSelector\":{\"matchLabels\":{\"c\":\"3\"}},\"matchLabelKeys\":[\"a\",\"x\"]},"
        "{\"matchLabelKeys\":[\"a\"],\"whenUnsatisfiable\":\"DoNotSchedule\"},"
        "{\"labelSelector\":{\"matchLabels\":{\"-\":\"\"}},\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}");
    CHECK_INT("constraints", p->n_spread, 3);
    CHECK_INT("merged", p->spread[0].selector.n, 2);
    CHECK_INT("neither action", p->spread[0].flags, SPREAD_OTHER);
    CHECK_INT("domains", p->spread[0].min_domains, 1);
    CHECK_INT("nothing stays nothing", p->spread[1].selector.mode, MATCHER_NOTHING);
    CHECK_INT("hard", p->spread[1].flags, 0);
    CHECK_INT("does not parse", p->spread[2].selector.mode, MATCHER_INVALID);
    CHECK_INT("soft", p->spread[2].flags, SPREAD_SOFT);
    pod_unref(&w.syms, p);
    world_fini(&w);
}

TEST(conditions_keep_two_in_full)
{
    struct world w;
    world_init(&w);
    const struct pod *p = decode(&w,
        "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"PodScheduled\",\"status\":\"False\","
        "\"reason\":\"Unschedulable\",\"message\":\"0/3 nodes\",\"lastProbeTime\":null,\"lastTransitionTime\":"
        "\"1970-01-01T00:01:00Z\",\"observedGeneration\":4},{\"type\":\"PodScheduled\",\"status\":\"True\"}]}}");
    CHECK_INT("types", p->n_condition_types, 3);
    CHECK_STR("order", sym_text(&w.syms, p->condition_types[0]), STR("Ready"));
    CHECK_STR("the first counts", sym_text(&w.syms, p->scheduled->status), STR("False"));
    CHECK_TEXT("message", p->scheduled->message, "0/3 nodes");
    CHECK_INT("transition", p->scheduled->last_transition_s, 60);
    CHECK(p->scheduled->last_probe_s == TYPED_TIME_NONE);
    CHECK_INT("generation", p->scheduled->observed_generation, 4);
    CHECK(!p->disruption);
    pod_unref(&w.syms, p);
    world_fini(&w);
}

static struct str repeat(struct strbuf *b, const char *head, const char *item, size_t n, const char *tail)
{
    strbuf_reset(b);
    strbuf_add_text(b, head);
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(b, ',');
        strbuf_add_text(b, item);
    }
    strbuf_add_text(b, tail);
    return strbuf_str(b);
}

/* As one that was never scheduled, to the byte. */
TEST(an_unscheduled_pod_is_as_new)
{
#define UNSCHEDULED "\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]"
    static const char used[] =
        "{" UNSCHEDULED ",\"nodeName\":\"n\"},\"status\":{\"phase\":\"Failed\",\"nominatedNodeName\":\"m\",\"startTime\":"
        "\"2026-01-01T00:00:00Z\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":\"DisruptionTarget\","
        "\"status\":\"True\",\"reason\":\"PreemptionByScheduler\"}],\"containerStatuses\":[{\"resources\":{\"requests\":{\"cpu\":"
        "\"3\"}}}]}}";
    static const char fresh[] = "{" UNSCHEDULED "},\"status\":{\"phase\":\"Pending\"}}";
    struct world w;
    world_init(&w);
    const struct pod *old = decode(&w, used), *want = decode(&w, fresh);
    const struct pod *got = pod_unscheduled(&w.syms, old);
    CHECK_INT("the old one stays", sym_text(&w.syms, old->node_name).n, 1);
    pod_unref(&w.syms, old);
    CHECK_INT("bytes", got->typed.n_bytes, want->typed.n_bytes);
    CHECK_INT("flags", got->flags, want->flags);
    CHECK_INT("phase", got->phase, want->phase);
    CHECK_INT("node", got->node_name, SYM_EMPTY);
    CHECK_INT("nomination", got->nominated_node, SYM_EMPTY);
    CHECK_INT("cpu", got->requested->milli_cpu, want->requested->milli_cpu);
    CHECK(!got->scheduled && !got->disruption && got->n_condition_types == 0);
    pod_unref(&w.syms, got);
    pod_unref(&w.syms, want);
    CHECK_INT("syms", sym_n_live(&w.syms), 1);
    world_fini(&w);
#undef UNSCHEDULED
}

TEST(large_pods_are_taken_whole_or_refused)
{
    struct world w;
    world_init(&w);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    const struct pod *p;
    struct str many = repeat(&b, "{\"spec\":{\"tolerations\":[", "{\"operator\":\"Exists\"}", 10000, "]}}");
    CHECK(!pod_decode(&w.syms, TYPED_JSON, many, &p, &w.e));
    CHECK_INT("tolerations", p->n_tolerations, 10000);
    pod_unref(&w.syms, p);

    many = repeat(&b, "{\"spec\":{\"containers\":[", "{}", POD_CONTAINERS_MAX, "]}}");
    CHECK(!pod_decode(&w.syms, TYPED_JSON, many, &p, &w.e));
    CHECK_INT("containers", p->n_containers, POD_CONTAINERS_MAX);
    pod_unref(&w.syms, p);
    many = repeat(&b, "{\"spec\":{\"containers\":[", "{}", POD_CONTAINERS_MAX + 1, "]}}");
    CHECK_INT("containers", pod_decode(&w.syms, TYPED_JSON, many, &p, &w.e), ERR_INVALID);
    CHECK_TEXT("containers", w.e.message, "4097 containers, at most 4096 are supported");

    many = repeat(&b, "{\"spec\":{\"containers\":[", "{\"ports\":[{\"hostPort\":1},{\"hostPort\":2},{\"hostPort\":3},"
                  "{\"hostPort\":4},{\"hostPort\":5},{\"hostPort\":6},{\"hostPort\":7},{\"hostPort\":8},{\"hostPort\":9},"
                  "{\"hostPort\":1},{\"hostPort\":2},{\"hostPort\":3},{\"hostPort\":4},{\"hostPort\":5},{\"hostPort\":6},"
                  "{\"hostPort\":7},{\"hostPort\":8}]}", 4000, "]}}");
    CHECK_INT("ports", pod_decode(&w.syms, TYPED_JSON, many, &p, &w.e), ERR_INVALID);
    CHECK_TEXT("ports", w.e.message, "68000 host ports, at most 65535 are supported");

    many = repeat(&b, "{\"spec\":{\"topologySpreadConstraints\":[{\"labelSelector\":{\"matchLabels\":{\"a\":\"1\"}},"
                  "\"matchLabelKeys\":[", "\"a\"", UINT16_MAX, "]}]}}");
    CHECK(!pod_decode(&w.syms, TYPED_JSON, many, &p, &w.e));
    CHECK_INT("rules of a constraint", p->spread[0].selector.mode, MATCHER_INVALID);
    CHECK_TEXT("why", p->spread[0].selector.error, "the constraint has more than 65535 requirements");
    pod_unref(&w.syms, p);
    strbuf_fini(&b);
    world_fini(&w);
}

TEST(a_usual_pod_is_small)
{
    CHECK(sizeof(struct pod) <= 288);
}
