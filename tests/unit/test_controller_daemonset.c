/* tests/unit/test_controller_daemonset.c - what the daemonset controller does, from nodes, pods and revisions, without any server. */
#include <stdlib.h>

#include "codec/json.h"
#include "controllers/daemonset_decide.h"
#include "controllers/daemonset_history.h"
#include "controllers/daemonset_pod.h"
#include "controllers/failure_backoff.h"
#include "controllers/revisions.h"
#include "tests/test.h"

/* ---- Turns ---- */

/* Nodes as words: name, then - for one that is not to run a pod, ~ for one where a pod may stay. Pods as words: name, @, node, :,
 * letters: n new (else old), g by its generation only, S waits for its node, T being deleted, F failed, D succeeded, r ready,
 * a available; the earlier ones are the older ones. */
struct row {
    const char *what, *nodes, *pods;
    const char *update; /* "surge N", "unavailable N", either with %; "on delete" */
    const char *orders; /* "+node" and "-pod", with ! for one that failed, * for one that succeeded */
    const char *counts; /* desired current misscheduled ready updated available */
    int64_t wait_ms;
};

static const struct row rows[] = {
    { "a pod on each node", "a b c-", "", "unavailable 1", "+a +b", "2 0 0 0 0 0", 0 },
    { "all there", "a b", "x@a:nra y@b:nr", "unavailable 1", "", "2 2 0 2 2 1", 0 },
    { "a pod that waits for its node counts", "a b", "x@a:nS y@b:nra", "unavailable 1", "", "2 2 0 1 2 1", 0 },
    { "pods on nodes that are not to run any go", "a b-", "x@a:nra y@b:nra", "unavailable 1", "-y", "1 1 1 1 1 1", 0 },
    { "but stay when they tolerate it", "a b~", "x@a:nra y@b:nra", "unavailable 1", "", "1 1 1 1 1 1", 0 },
    { "where one may stay none is made", "a b~", "x@a:nra", "unavailable 1", "", "1 1 0 1 1 1", 0 },
    { "of several the oldest stays", "a", "x@a:nra y@a:nra z@a:nra", "unavailable 1", "-y -z", "1 1 0 1 1 1", 0 },
    { "one that is on the node before one that waits", "a", "x@a:nS y@a:nra", "unavailable 1", "-x", "1 1 0 1 1 1", 0 },
    { "a pod that goes is waited for", "a", "x@a:nT", "unavailable 1", "", "1 1 0 0 1 0", 0 },
    { "one that ended and goes is not", "a", "x@a:nTF", "unavailable 1", "+a", "1 0 0 0 0 0", 0 },
    { "one that failed is deleted", "a", "x@a:nF", "unavailable 1", "-x!", "1 1 0 0 1 0", 0 },
    { "not too often", "a", "x@a:nF", "unavailable 1", "", "1 1 0 0 1 0", 7 },
    { "one that succeeded is deleted", "a", "x@a:nD", "unavailable 1", "-x*", "1 1 0 0 1 0", 0 },
    { "a pod that waits for a node that is gone", "a", "x@a:nra y@q:nS", "unavailable 1", "-y", "1 1 0 1 1 1", 0 },
    { "one that was on it is somebody else's", "a", "x@a:nra y@q:n", "unavailable 1", "", "1 1 0 1 1 1", 0 },
    { "a pod of no node is none", "a", "x@:n", "unavailable 1", "+a", "1 0 0 0 0 0", 0 },
    /* In place. */
    { "one old pod at a time", "a b c", "x@a:ra y@b:ra z@c:ra", "unavailable 1", "-x", "3 3 0 3 0 3", 0 },
    { "two of them", "a b c", "x@a:ra y@b:ra z@c:ra", "unavailable 2", "-x -y", "3 3 0 3 0 3", 0 },
    { "part of all, rounded up", "a b c", "x@a:ra y@b:ra z@c:ra", "unavailable 34%", "-x -y", "3 3 0 3 0 3", 0 },
    { "a new one that is not available is waited for", "a b", "x@a:nr y@b:ra", "unavailable 1", "", "2 2 0 2 1 1", 0 },
    { "old ones that are not available go at once", "a b c", "x@a: y@b: z@c:ra", "unavailable 1", "-x -y", "3 3 0 1 0 1", 0 },
    { "a pod that goes makes its node unavailable", "a b", "x@a:raT y@b:ra", "unavailable 1", "", "2 2 0 2 0 2", 0 },
    { "the generation tells, too", "a b", "x@a:gra y@b:ra", "unavailable 1", "-y", "2 2 0 2 1 2", 0 },
    { "none may be missing: one may", "a b", "x@a:ra y@b:ra", "unavailable 0", "-x", "2 2 0 2 0 2", 0 },
    { "on delete nothing is replaced", "a b", "x@a:ra y@b:ra", "on delete", "", "2 2 0 2 0 2", 0 },
    { "but what is missing is made", "a b", "x@a:ra", "on delete", "+b", "2 1 0 1 0 1", 0 },
    { "missing pods come before updates", "a b", "x@a:ra", "unavailable 2", "+b", "2 1 0 1 0 1", 0 },
    /* With surge. */
    { "a second pod beside the old one", "a b", "x@a:ra y@b:ra", "surge 1", "+a", "2 2 0 2 0 2", 0 },
    { "it is waited for", "a b", "x@a:ra X@a:nr y@b:ra", "surge 1", "", "2 2 0 2 0 2", 0 },
    { "then the old one goes", "a b", "x@a:ra X@a:nra y@b:ra", "surge 1", "-x", "2 2 0 2 0 2", 0 },
    { "an old one that is not ready goes before", "a", "x@a: X@a:n", "surge 1", "-x", "1 1 0 0 0 0", 0 },
    { "beside one that is not available at once", "a b", "x@a:r y@b:ra", "surge 1", "+a +b", "2 2 0 2 0 1", 0 },
    { "a pod that goes is not waited for", "a", "x@a:nraT", "surge 1", "+a", "1 1 0 1 1 1", 0 },
    { "of new ones the oldest stays", "a", "X@a:nra Y@a:nra", "surge 1", "-Y", "1 1 0 1 1 1", 0 },
    { "part of all", "a b c d", "x@a:ra y@b:ra z@c:ra w@d:ra", "surge 50%", "+a +b", "4 4 0 4 0 4", 0 },
    { "where a pod may stay it does while it is needed", "a~ b", "x@a:ra y@b:r", "surge 1", "+b", "1 1 1 1 0 0", 0 },
    { "and goes when another is available", "a~ b", "x@a:ra y@b:nra", "surge 1", "-x", "1 1 1 1 1 1", 0 },
    { "an old one that is not available leaves at once", "a~ b", "x@a:r y@b:nra", "surge 1", "-x", "1 1 1 1 1 1", 0 },
};

static size_t read_nodes(const char *text, struct daemon_node *nodes)
{
    size_t n = 0;
    for (; *text; n++) {
        size_t len = strcspn(text, " -~");
        nodes[n] = (struct daemon_node){ { text, len }, text[len] != '-' && text[len] != '~', text[len] != '-' };
        text += strcspn(text, " ");
        text += *text == ' ';
    }
    return n;
}

static size_t read_pods(const char *text, struct daemon_pod *pods)
{
    size_t n = 0;
    for (; *text; n++) {
        const char *at = strchr(text, '@'), *letters = strchr(text, ':');
        struct daemon_pod *p = &pods[n];
        *p = (struct daemon_pod){ .name = { text, (size_t)(at - text) }, .node = { at + 1, (size_t)(letters - at - 1) },
                                  .hash = STR("old"), .generation = STR("1"), .created_s = (int64_t)n, .scheduled = true };
        for (text = letters + 1; *text && *text != ' '; text++) {
            p->hash = *text == 'n' ? STR("new") : p->hash;
            p->generation = *text == 'g' ? STR("2") : p->generation;
            p->scheduled &= *text != 'S';
            p->deleted |= *text == 'T';
            p->failed |= *text == 'F';
            p->succeeded |= *text == 'D';
            p->ready |= *text == 'r';
            p->available |= *text == 'a';
        }
        text += *text == ' ';
    }
    return n;
}

static struct daemonset_spec read_update(const char *text)
{
    struct daemonset_spec s = { .hash = STR("new"), .generation = STR("2"), .rolling = strcmp(text, "on delete") != 0 };
    struct daemon_amount *to = strncmp(text, "surge", 5) == 0 ? &s.max_surge : &s.max_unavailable;
    if (s.rolling)
        *to = (struct daemon_amount){ strtol(strchr(text, ' '), NULL, 10), strchr(text, '%') != NULL };
    return s;
}

static int64_t give_leave(void *context, struct str node)
{
    (void)node;
    return *(const int64_t *)context;
}

static const char *orders_text(struct arena *a, const struct daemonset_plan *p)
{
    static const char *const why[] = { "", "!", "*" };
    const char *text = "";
    for (size_t i = 0; i < p->n_create; i++)
        text = arena_printf(a, "%s%s+%.*s", text, *text ? " " : "", STR_ARG(p->create_on[i]));
    for (size_t i = 0; i < p->n_delete; i++)
        text = arena_printf(a, "%s%s-%.*s%s", text, *text ? " " : "", STR_ARG(p->delete[i].pod->name), why[p->delete[i].why]);
    return text;
}

TEST(turns_of_daemons)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, arena_reset(&a)) {
        struct daemon_node nodes[8];
        struct daemon_pod pods[8];
        int64_t wait_ms = rows[i].wait_ms;
        struct daemonset_state s = { .arena = &a, .spec = read_update(rows[i].update), .nodes = nodes, .pods = pods,
                                     .n_nodes = read_nodes(rows[i].nodes, nodes), .n_pods = read_pods(rows[i].pods, pods),
                                     .wait_ms = give_leave, .context = &wait_ms };
        struct daemonset_plan p = daemonset_decide(&s);
        const struct daemonset_counts *c = &p.counts;
        CHECK_TEXT(rows[i].what, orders_text(&a, &p), rows[i].orders);
        CHECK_TEXT(rows[i].what, arena_printf(&a, "%d %d %d %d %d %d", (int)c->desired, (int)c->current, (int)c->misscheduled,
                                              (int)c->ready, (int)c->updated, (int)c->available), rows[i].counts);
        CHECK_INT(rows[i].what, p.look_again_ms, rows[i].wait_ms);
        s.expects = true;
        p = daemonset_decide(&s);
        CHECK_TEXT("nothing is ordered before the last orders were seen", orders_text(&a, &p), "");
    }
    arena_fini(&a);
}

TEST(a_turn_is_bounded)
{
    enum { N = 3 * DAEMONSET_BURST };
    struct arena a;
    arena_init(&a);
    struct daemon_node *nodes = ARENA_NEW_N(&a, struct daemon_node, N);
    for (int i = 0; i < N; i++)
        nodes[i] = (struct daemon_node){ str_of(arena_printf(&a, "n%05d", i)), true, true };
    struct daemonset_state s = { .arena = &a, .spec = read_update("unavailable 1"), .nodes = nodes, .n_nodes = N };
    CHECK_INT("made in one turn", daemonset_decide(&s).n_create, DAEMONSET_BURST);
    arena_fini(&a);
}

/* ---- Nodes ---- */

static struct value parse(struct arena *a, const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        CHECK_TEXT(json, e.message, "");
    return v;
}

#define REQUIRED(terms) "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[" terms "]}}}}"
#define TAINT(key, effect) "{'metadata':{'name':'a'},'spec':{'taints':[{'key':'" key "','effect':'" effect "'}]}}"

static const struct {
    const char *what, *spec, *node, *fit; /* "run", "stay" or "" */
} fits[] = {
    { "any node", "{}", "{'metadata':{'name':'a'}}", "run" },
    { "the node that is named", "{'nodeName':'a'}", "{'metadata':{'name':'a'}}", "run" },
    { "no other", "{'nodeName':'a'}", "{'metadata':{'name':'b'}}", "" },
    { "labels", "{'nodeSelector':{'x':'1'}}", "{'metadata':{'name':'a','labels':{'x':'1','y':'2'}}}", "run" },
    { "other labels", "{'nodeSelector':{'x':'1'}}", "{'metadata':{'name':'a','labels':{'x':'2'}}}", "" },
    { "affinity", REQUIRED("{'matchExpressions':[{'key':'x','operator':'In','values':['1','2']}]}"),
      "{'metadata':{'name':'a','labels':{'x':'2'}}}", "run" },
    { "no affinity", REQUIRED("{'matchExpressions':[{'key':'x','operator':'In','values':['1','2']}]}"),
      "{'metadata':{'name':'a','labels':{'x':'3'}}}", "" },
    { "affinity and labels", "{'nodeSelector':{'x':'1'},'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'y','operator':'Exists'}]}]}}}}",
      "{'metadata':{'name':'a','labels':{'x':'1'}}}", "" },
    { "a field", REQUIRED("{'matchFields':[{'key':'metadata.name','operator':'In','values':['a']}]}"), "{'metadata':{'name':'a'}}", "run" },
    { "not that field", REQUIRED("{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['a']}]}"), "{'metadata':{'name':'a'}}", "" },
    { "one of the terms", REQUIRED("{'matchFields':[{'key':'metadata.name','operator':'In','values':['b']}]},"
      "{'matchExpressions':[{'key':'x','operator':'DoesNotExist'}]}"), "{'metadata':{'name':'a'}}", "run" },
    { "a term without entries", REQUIRED("{}"), "{'metadata':{'name':'a'}}", "" },
    { "a taint", "{}", TAINT("x", "NoSchedule"), "stay" },
    { "a taint that drives out", "{}", TAINT("x", "NoExecute"), "" },
    { "a taint that asks only", "{}", TAINT("x", "PreferNoSchedule"), "run" },
    { "daemons come to nodes that are not ready", "{}", TAINT("node.kubernetes.io/not-ready", "NoExecute"), "run" },
    { "but not where that keeps others from coming", "{}", TAINT("node.kubernetes.io/not-ready", "NoSchedule"), "stay" },
    { "and to those that are closed", "{}", TAINT("node.kubernetes.io/unschedulable", "NoSchedule"), "run" },
    { "without a network not", "{}", TAINT("node.kubernetes.io/network-unavailable", "NoSchedule"), "stay" },
    { "unless they use that of the node", "{'hostNetwork':true}", TAINT("node.kubernetes.io/network-unavailable", "NoSchedule"), "run" },
    { "a toleration", "{'tolerations':[{'key':'x','operator':'Exists'}]}", TAINT("x", "NoExecute"), "run" },
};

static char *quoted(struct arena *a, const char *text)
{
    char *copy = arena_printf(a, "%s", text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

TEST(nodes_of_daemons)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++, arena_reset(&a)) {
        const char *json = arena_printf(&a, "{\"spec\":%s}", quoted(&a, fits[i].spec));
        struct value template = parse(&a, "core/v1.PodTemplateSpec", json);
        struct value node = parse(&a, "core/v1.Node", quoted(&a, fits[i].node));
        struct daemon_fit fit = daemon_fit(&a, daemon_rules_new(&a, &template), &node);
        CHECK_TEXT(fits[i].what, fit.run ? "run" : fit.go_on ? "stay" : "", fits[i].fit);
    }
    arena_fini(&a);
}

TEST(pods_of_daemons)
{
    static const char *const in = "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"affinity\":{\"nodeAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{},{}]}}},\"tolerations\":[{\"key\":"
        "\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":5}]}}";
    static const char *const tail[] = {
        "\"labels\":{\"a\":\"b\",\"controller-revision-hash\":\"h\",\"pod-template-generation\":\"3\"}",
        "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]}]}]}}}",
        "\"tolerations\":[{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"},"
        "{\"key\":\"node.kubernetes.io/not-ready\"",
    };
    struct arena a;
    struct strbuf json;
    struct object_reference owner = { .kind = STR("DaemonSet"), .ns = STR("s"), .name = STR("d"), .uid = STR("u"),
                                      .api_version = STR("apps/v1") };
    arena_init(&a);
    strbuf_init(&json, STRBUF_NO_MAX);
    struct value template = parse(&a, "core/v1.PodTemplateSpec", in);
    template = daemon_template(&a, &template, STR("3"), STR("h"));
    struct value pod = daemon_pod_make(&a, &template, &owner, STR("n"));
    json_encode(&json, schema_type(STR("core/v1.Pod")), &pod);
    const char *text = arena_cstr(&a, strbuf_str(&json));
    for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); i++)
        CHECK_TEXT(tail[i], strstr(text, tail[i]) ? "there" : text, "there");
    strbuf_fini(&json);
    arena_fini(&a);
}

/* ---- History ---- */

/* Revisions as words: name, number, data (c the current one), and letters: o owned by another, f free, x not selected, h without
 * its hash, T being deleted. */
static const struct {
    const char *what, *revisions, *plan;
} histories[] = {
    { "none yet", "", "create 1" },
    { "the current one", "a1c", "right a" },
    { "a new template", "a1p b2q", "create 3" },
    { "an old template again", "a1c b2q", "renumber a 3" },
    { "of the others' the numbers do not count", "a1c b9q:o", "right a" },
    { "a free one is adopted", "a1c b2q:f", "adopt b" },
    { "unless it goes", "a1c b2q:fT", "right a" },
    { "or is not selected", "a1c b2q:fx", "right a" },
    { "one that is not selected any more is released", "a1c b2q:x", "release b" },
    { "one without its hash gets it", "a1c b1q:h", "label b" },
    { "two of the same", "a1c b2c d1q", "duplicate a of b" },
    { "the last of equal numbers stays", "a2c b2c", "duplicate a of b" },
};

static size_t read_revisions(const char *text, struct daemon_revision *at)
{
    size_t n = 0;
    for (; *text; n++) {
        char *end;
        struct daemon_revision *r = &at[n];
        *r = (struct daemon_revision){ .is.name = { text, 1 }, .hash = { text, 1 }, .owner_uid = STR("u"), .has_hash = true,
                                       .matches = true };
        r->is.number = strtol(text + 1, &end, 10);
        r->is.data = (struct str){ end, 1 };
        for (text = end + 1; *text && *text != ' '; text++) {
            r->owner_uid = *text == 'o' ? STR("v") : *text == 'f' ? STR("") : r->owner_uid;
            r->matches &= *text != 'x';
            r->has_hash &= *text != 'h';
            r->deleted |= *text == 'T';
        }
        text += *text == ' ';
    }
    return n;
}

TEST(histories_of_daemons)
{
    static const char *const needs[] = { "right", "create", "adopt", "release", "label", "renumber", "duplicate" };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++, arena_reset(&a)) {
        struct daemon_revision at[8];
        struct daemon_history h = { STR("u"), STR("c"), at, read_revisions(histories[i].revisions, at) };
        struct daemon_history_plan p = daemon_history_decide(&h);
        const char *text = arena_printf(&a, "%s%s%.*s", needs[p.need], p.which ? " " : "", p.which ? 1 : 0,
                                        p.which ? p.which->is.name.p : "");
        if (p.number)
            text = arena_printf(&a, "%s %d", text, (int)p.number);
        if (p.need == DAEMON_HISTORY_DUPLICATE)
            text = arena_printf(&a, "%s of %.*s", text, STR_ARG(p.current->is.name));
        CHECK_TEXT(histories[i].what, text, histories[i].plan);
    }
    arena_fini(&a);
}

static bool is_live(void *context, struct str hash)
{
    return hash.n && strchr(*(const char **)context, hash.p[0]);
}

TEST(truncated_histories)
{
    static const struct {
        const char *what, *revisions, *live;
        int64_t limit;
        const char *gone;
    } cases[] = {
        { "within the limit", "a1p b2q e3c", "", 2, "" },
        { "the oldest go", "b2q a1p e3c", "", 1, "a" },
        { "none is kept", "b2q a1p e3c", "", 0, "ab" },
        { "those of pods stay", "b2q a1p e3c", "a", 1, "b" },
        { "those of others do, too", "a1p:o b2q e3c", "", 1, "" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++, arena_reset(&a)) {
        struct daemon_revision at[8];
        struct daemon_history h = { STR("u"), STR("c"), at, read_revisions(cases[i].revisions, at) };
        const struct daemon_revision *const *gone;
        const char *live = cases[i].live;
        size_t n = daemon_history_truncate(&a, &h, cases[i].limit, is_live, &live, &gone);
        const char *text = "";
        for (size_t k = 0; k < n; k++)
            text = arena_printf(&a, "%s%.*s", text, STR_ARG(gone[k]->is.name));
        CHECK_TEXT(cases[i].what, text, cases[i].gone);
    }
    arena_fini(&a);
}

TEST(failures_wait_longer_each_time)
{
    struct failure_backoff *b = failure_backoff_new();
    int64_t now = 1000000;
    CHECK_INT("wait", failure_backoff_try(b, STR("k"), now), 0);
    CHECK_INT("wait", failure_backoff_try(b, STR("other"), now), 0);
    for (int64_t wait = FAILURE_BACKOFF_MIN_MS; wait <= FAILURE_BACKOFF_MAX_MS; wait *= 2) {
        CHECK_INT("wait", failure_backoff_try(b, STR("k"), now + wait - 1), wait);
        CHECK_INT("wait", failure_backoff_try(b, STR("k"), now += wait), 0);
    }
    CHECK_INT("wait", failure_backoff_try(b, STR("k"), now + 1), FAILURE_BACKOFF_MAX_MS);
    now += 2 * FAILURE_BACKOFF_MAX_MS + 1;
    CHECK_INT("wait", failure_backoff_try(b, STR("k"), now), 0);
    CHECK_INT("wait", failure_backoff_try(b, STR("k"), now + 1), FAILURE_BACKOFF_MIN_MS);
    failure_backoff_free(b);
}
