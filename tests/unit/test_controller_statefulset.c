/* tests/unit/test_controller_statefulset.c - what the statefulset controller does, from a set and its pods, without any server. */
#include <stdlib.h>

#include "base/strbuf.h"
#include "codec/json.h"
#include "controllers/revisions.h"
#include "controllers/statefulset_decide.h"
#include "controllers/statefulset_objects.h"
#include "tests/test.h"

/* Pods as words: ordinal, revision (o old, n new), and letters: R running, r ready, a available, P pending, F ended, T terminating,
 * X identity differs, M claims missing, C owners of claims differ. */
struct row {
    const char *what;
    struct statefulset_facts set;
    const char *pods;
    int64_t stale_ordinal; /* whose claim is another pod's; 0 counts as none here: -1 */
    const char *actions;
    const char *counts; /* replicas ready available current updated, "!" complete */
};

#define OLD { "o", 1 }
#define NEW { "n", 1 }
#define SET(n, ...) { .replicas = n, .partition = -1, .current_revision = NEW, .update_revision = NEW, __VA_ARGS__ }
#define UPDATE(n, ...) { .replicas = n, .current_revision = OLD, .update_revision = NEW, __VA_ARGS__ }
#define OK(i) #i "nRra"
#define WAS(i) #i "oRra"

static const struct row rows[] = {
    { "the first pod", SET(3), "", -1, "create 0 new", "0 0 0 0 0" },
    { "a set of none is complete", SET(0), "", -1, "", "0 0 0 0 0 !" },
    { "the second waits for the first", SET(3), "0nP", -1, "", "1 0 0 1 1" },
    { "it has to be available, not just ready", SET(3), "0nRr", -1, "", "1 1 0 1 1" },
    { "then it comes", SET(3), OK(0), -1, "create 1 new", "1 1 1 1 1" },
    { "all are there", SET(2), OK(0) " " OK(1), -1, "", "2 2 2 2 2 !" },
    { "one in the middle is made again", SET(3), OK(0) " " OK(2), -1, "create 1 new", "2 2 2 2 2" },
    { "in parallel nobody waits", SET(3, .parallel = true), "1nP", -1, "create 0 new create 2 new", "1 0 0 1 1" },
    { "ordinals may begin elsewhere", SET(2, .start = 5), OK(5), -1, "create 6 new", "1 1 1 1 1" },
    { "a pod that ended is deleted", SET(2), "0nF " OK(1), -1, "delete 0", "2 1 1 2 2" },
    { "but only once", SET(2), "0nFT " OK(1), -1, "", "2 1 1 1 1" },
    { "a pod that goes is waited for", SET(2), "0nRraT", -1, "", "1 1 1 0 0" },
    { "a claim of another pod is waited for", SET(2), OK(0), 1, "", "1 1 1 1 1" },
    { "too many: the last one goes", SET(1), OK(0) " " OK(1) " " OK(2), -1, "delete 2", "3 3 3 3 3" },
    { "one at a time", SET(1), OK(0) " " OK(1) " 2nRraT", -1, "", "3 3 3 2 2" },
    { "in parallel all at once", SET(1, .parallel = true), OK(0) " " OK(1) " " OK(2), -1, "delete 2 delete 1", "3 3 3 3 3" },
    { "one that is not well goes if it is the first of those", SET(1), OK(0) " 1nP", -1, "delete 1", "2 1 1 2 2" },
    { "else it is waited for", SET(1), OK(0) " 1nP 2nP", -1, "", "3 1 1 3 3" },
    { "a set that is being deleted does nothing", SET(3, .deleted = true), OK(0), -1, "", "1 1 1 1 1" },
    { "an update begins at the end", UPDATE(3, .partition = 0), WAS(0) " " WAS(1) " " WAS(2), -1, "delete 2", "3 3 3 2 0" },
    { "and goes on when that one is available", UPDATE(3, .partition = 0), WAS(0) " " WAS(1) " " OK(2), -1, "delete 1", "3 3 3 1 1" },
    { "not before", UPDATE(3, .partition = 0, .parallel = true), WAS(0) " " WAS(1) " 2nRr", -1, "", "3 3 2 2 1" },
    { "a pod that is made again is of the new revision", UPDATE(3, .partition = 0), WAS(0) " " WAS(1), -1, "create 2 new", "2 2 2 2 0" },
    { "below the partition it is of the old one", UPDATE(3, .partition = 2), WAS(0) " " OK(2), -1, "create 1 old", "2 2 2 1 1" },
    { "the partition ends the update", UPDATE(3, .partition = 2), WAS(0) " " WAS(1) " " OK(2), -1, "", "3 3 3 2 1" },
    { "without one, by what the status counted", UPDATE(3, .partition = -1, .current_replicas = 1), WAS(1) " " OK(2), -1, "create 0 old", "2 2 2 1 1" },
    { "an update that is complete", UPDATE(2, .partition = 0), OK(0) " " OK(1), -1, "", "2 2 2 2 2 !" },
    { "on delete nothing is updated", UPDATE(2, .partition = -1, .on_delete = true), WAS(0) " " WAS(1), -1, "", "2 2 2 2 0" },
    { "identities are mended", SET(1), "0nRraX", -1, "update 0", "1 1 1 1 1 !" },
    { "claims of a pod that waits are made", SET(2), "0nPM", -1, "claims 0", "1 0 0 1 1" },
    { "owners of claims are mended", SET(1), "0nRraC 1nRraC", -1, "own 0 update 0 own 1 delete 1", "2 2 2 2 2" },
};

static bool is_stale(void *context, int64_t ordinal)
{
    return *(const int64_t *)context == ordinal;
}

static size_t read_pods(const char *text, struct statefulset_pod *pods)
{
    size_t n = 0;
    for (; *text; n++) {
        char *end;
        struct statefulset_pod *p = &pods[n];
        *p = (struct statefulset_pod){ .ordinal = strtol(text, &end, 10), .matches = true };
        p->revision = (struct str){ end, 1 };
        for (text = end + 1; *text && *text != ' '; text++) {
            p->running |= *text == 'R';
            p->ready |= *text == 'r';
            p->available |= *text == 'a';
            p->pending |= *text == 'P';
            p->ended |= *text == 'F';
            p->terminating |= *text == 'T';
            p->matches &= *text != 'X';
            p->claims_missing |= *text == 'M';
            p->claims_differ |= *text == 'C';
        }
        text += *text == ' ';
    }
    return n;
}

TEST(turns_of_sets)
{
    static const char *const verbs[] = { "create", "delete", "update", "claims", "own" };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, arena_reset(&a)) {
        struct statefulset_pod pods[8];
        int64_t stale = rows[i].stale_ordinal;
        struct statefulset_state s = { &a, rows[i].set, pods, read_pods(rows[i].pods, pods), is_stale, &stale };
        struct statefulset_plan p = statefulset_decide(&s);
        const char *text = "";
        for (size_t k = 0; k < p.n_actions; k++) {
            const struct statefulset_action *act = &p.actions[k];
            const char *of = act->verb != STATEFULSET_CREATE ? "" : act->of_current ? " old" : " new";
            text = arena_printf(&a, "%s%s%s %lld%s", text, k ? " " : "", verbs[act->verb], (long long)act->ordinal, of);
        }
        CHECK_TEXT(rows[i].what, text, rows[i].actions);
        const struct statefulset_counts *c = &p.counts;
        text = arena_printf(&a, "%lld %lld %lld %lld %lld%s", (long long)c->replicas, (long long)c->ready, (long long)c->available,
                            (long long)c->current, (long long)c->updated, p.completes ? " !" : "");
        CHECK_TEXT(rows[i].what, text, rows[i].counts);
    }
    arena_fini(&a);
}

TEST(a_huge_set_is_made_bit_by_bit)
{
    struct arena a;
    int64_t none = -1;
    arena_init(&a);
    struct statefulset_state s = { &a, SET(INT32_MAX, .parallel = true), NULL, 0, is_stale, &none };
    CHECK_INT("actions", statefulset_decide(&s).n_actions, STATEFULSET_PODS_AT_ONCE_MAX);
    arena_fini(&a);
}

TEST(ordinals_of_names)
{
    static const struct {
        const char *name;
        int64_t want;
    } names[] = { { "web-0", 0 }, { "web-12", 12 }, { "web-", -1 }, { "web", -1 }, { "web-x", -1 }, { "web-1-2", -1 }, { "other-1", -1 }, { "web-99999999999", -1 } };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        CHECK_INT(names[i].name, statefulset_ordinal(STR("web"), str_of(names[i].name)), names[i].want);
}

/* ---- Revisions ---- */

static struct value decode(struct arena *a, const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s: %s", json, e.message);
    return v;
}

TEST(revisions_hold_their_template)
{
    struct arena a;
    arena_init(&a);
    const struct type *t = schema_type(STR("apps/v1.StatefulSet"));
    struct value set = decode(&a, "apps/v1.StatefulSet",
                              "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"hostname\":\"<h>\"}}}}");
    struct str data = revision_data(&a, value_path(t, &set, "spec.template"));
    CHECK(memmem(data.p, data.n, "\"$patch\":\"replace\"", 18) && memmem(data.p, data.n, "\\u003ch\\u003e", 13));
    struct value back = revision_template(&a, t, data);
    CHECK_STR("back", revision_data(&a, &back), data);
    CHECK(!str_eq(revision_hash(&a, data, 0), revision_hash(&a, data, 1)));
    arena_fini(&a);
}

/* As the real controller manager names it. */
TEST(hashes_are_those_of_upstream)
{
    struct arena a;
    arena_init(&a);
    struct value template = decode(&a, "core/v1.PodTemplateSpec",
                                   "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{},"
                                   "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\"}],"
                                   "\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\",\"securityContext\":{},"
                                   "\"schedulerName\":\"default-scheduler\"}}");
    struct str hash = revision_hash(&a, revision_data(&a, &template), 0);
    CHECK_STR("hash", revision_name(&a, STR("web"), hash), STR("web-784947b667"));
    arena_fini(&a);
}

TEST(which_revision_is_the_newest)
{
    struct revision at[] = { { .name = STR("a"), .data = STR("1"), .number = 1 }, { .name = STR("b"), .data = STR("2"), .number = 4 } };
    struct revisions r = { at, 2 };
    size_t i = 9;
    CHECK_INT("the last", revisions_need(&r, STR("2"), &i), REVISION_IS_THERE);
    CHECK_INT("the last", i, 1);
    CHECK_INT("one before", revisions_need(&r, STR("1"), &i), REVISION_RENUMBER);
    CHECK_INT("one before", i, 0);
    CHECK_INT("none", revisions_need(&r, STR("3"), &i), REVISION_CREATE);
    CHECK_INT("next", revisions_next_number(&r), 5);
}

/* ---- Owners of claims ---- */

#define REF(kind, version, name, uid)                                                                                      \
    "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" uid "\",\"controller\":true,\"blockOwnerDeletion\":true}"
#define OF_SET REF("StatefulSet", "apps/v1", "web", "s")
#define OF_POD REF("Pod", "v1", "web-0", "p")

static const struct {
    const char *what, *deleted, *scaled, *owners;
    bool in_range;
    bool right;
    const char *want; /* owners after it was mended */
} claims[] = {
    { "kept always", "Retain", "Retain", "", true, true, "" },
    { "no longer owned", "Retain", "Retain", OF_SET, true, false, "" },
    { "goes with the set", "Delete", "Retain", "", true, false, "s" },
    { "does so already", "Delete", "Retain", OF_SET, false, true, "s" },
    { "goes with its pod when that is scaled away", "Retain", "Delete", "", false, false, "p" },
    { "not before", "Retain", "Delete", OF_POD, true, false, "" },
    { "with either: the set while it is in range", "Delete", "Delete", OF_POD, true, false, "s" },
    { "with either: the pod when it is not", "Delete", "Delete", OF_SET, false, false, "p" },
    { "another controller is left alone", "Delete", "Delete", REF("X", "x/v1", "x", "x"), true, true, "x" },
    { "an owner of our name that is gone is left to the collector", "Delete", "Delete", REF("StatefulSet", "apps/v1", "web", "old"), true, true, "s" },
};

TEST(owners_of_claims_follow_the_policy)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++, arena_reset(&a)) {
        struct value set = decode(&a, "apps/v1.StatefulSet",
                                  arena_printf(&a, "{\"spec\":{\"persistentVolumeClaimRetentionPolicy\":{\"whenDeleted\":\"%s\",\"whenScaled\":\"%s\"}}}",
                                               claims[i].deleted, claims[i].scaled));
        struct object_reference owner = { STR("StatefulSet"), STR("n"), STR("web"), STR("s"), STR("apps/v1"), STR("") };
        struct statefulset_objects o = { &a, &set, &owner };
        struct statefulset_claim_pod pod = { STR("web-0"), STR("p"), claims[i].in_range };
        const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
        struct value claim = decode(&a, "core/v1.PersistentVolumeClaim", arena_printf(&a, "{\"metadata\":{\"ownerReferences\":[%s]}}", claims[i].owners));
        CHECK_INT(claims[i].what, statefulset_claim_is_right(&o, &claim, &pod), claims[i].right);
        struct value next = statefulset_own_claim(&o, &claim, &pod);
        const struct value *list = value_path(t, &next, "metadata.ownerReferences");
        const char *text = "";
        for (uint32_t k = 0; list->kind == VALUE_LIST && k < list->n; k++)
            text = arena_printf(&a, "%s%.*s", text, STR_ARG(value_text(value_path(schema_type(STR("meta/v1.OwnerReference")), &list->items[k], "uid"))));
        CHECK_TEXT(claims[i].what, text, claims[i].want);
    }
    arena_fini(&a);
}
