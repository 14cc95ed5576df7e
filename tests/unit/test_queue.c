/* The rules of the queue; queue_check runs after every call. */
#include "forms/storage.h"
#include "tests/unit/queue_story.h"
#include "tests/unit/queue_world.h"

TEST(pods_are_added_popped_and_done)
{
    static const struct story_row rows[] = {
        { "an empty queue has nothing", "pop -" },
        { "a new pod is ready",
          "at 5; add a; is a active; stamp a 5; first a 5; came active UnschedulablePodAdd 1" },
        { "popping takes it out", "add a; pop a; is a flying; attempts a 1; count flying 1; pop -" },
        { "the higher priority comes first",
          "add a priority=1; add b priority=2; add c; pop b; pop a; pop c" },
        { "equal priority: who came first", "at 9; add a; add b; add c; pop a; pop b; pop c" },
        { "a negative priority comes last", "add a priority=-1; add b; pop b; pop a" },
        { "done is not yet the end of the record",
          "add a; pop a; done a; is a done; count flying 0; count done 1" },
        { "the second done does nothing", "add a; pop a; done a; done a; is a done" },
        { "release ends it", "add a; pop a; release a; is a gone; count flying 0; count done 0" },
        { "release ends it after done, too", "add a; pop a; done a; release a; is a gone" },
        { "a queued pod of that name is replaced", "add a; add a uid=other priority=3; pop a; pop -" },
        { "a pod that is in flight already is not popped again",
          "add a; pop a; add a; add b; pop b; is a flying; pop -" },
        { "a pod of the same name but another uid is", "add a; pop a; add a uid=other; is a active; pop a" },
        { "a pod of no profile is handed out all the same",
          "add a scheduler=other; pop a; fail a; is a error" },
    };
    TELL(rows, NULL);
}

TEST(backoff_grows_with_failures_and_ends_on_whole_seconds)
{
    static const struct story_row rows[] = {
        { "the first wait is a second, from the whole second on",
          "at 32180; add a; pop a; fail a; is a error; expiry a 33000; due backoff 34000" },
        { "it lasts until the first whole second after",
          "at 32180; add a; pop a; fail a; at 33000; flush; is a error; at 33999; flush; is a error; "
          "at 34000; flush; is a active; came active BackoffComplete 1" },
        { "on the dot it lasts two seconds",
          "at 32000; add a; pop a; fail a; expiry a 33000; at 33500; flush; is a error; at 34000; flush; "
          "is a active" },
        { "the second wait is two seconds",
          "add a; pop a; fail a; at 2000; flush; pop a; fail a; expiry a 4000" },
        { "then 4, 8 and 10 seconds, and no more",
          "add a; pop a; fail a; at 10000; flush; pop a; fail a; at 20000; flush; pop a; fail a; "
          "expiry a 24000; at 30000; flush; pop a; fail a; expiry a 38000; at 40000; flush; pop a; "
          "fail a; expiry a 50000; at 60000; flush; pop a; fail a; expiry a 70000; at 80000; flush; "
          "pop a; fail a; expiry a 90000" },
        { "rejections count apart from errors",
          "add a; pop a; fail a Fit; activate a; pop a; fail a; expiry a 1000" },
        { "a rejection ends the row of errors, but its own count grows",
          "add a; pop a; fail a Fit; activate a; pop a; fail a; at 9000; flush; pop a; fail a Fit; "
          "is a waiting; expiry a 11000; activate a; pop a; fail a; expiry a 10000" },
        { "time before zero is floored too",
          "at -500; add a; pop a; fail a; expiry a 0; at -1000; add b; pop b; fail b; expiry b 0; "
          "at -2500; add c; pop c; fail c; expiry c -2000" },
        { "the flush takes those whose time has come, in their order",
          "add a; pop a; fail a; add b priority=1; pop b; fail b Fit; event NodeAdd; is b backoff; "
          "at 2000; flush; came active BackoffComplete 2; pop b; pop a" },
        { "PreEnqueue is not asked when backoff ends",
          "add a; pop a; fail a; barrier closed; at 2000; flush; is a active" },
        { "nothing to do: no time", "due backoff 9223372036854775807" },
    };
    TELL(rows, NULL);
}

static void no_backoff(struct queue_options *o)
{
    o->max_backoff_ms = 0;
}

static void long_backoff(struct queue_options *o)
{
    o->initial_backoff_ms = 7;
    o->max_backoff_ms = INT64_MAX;
}

TEST(backoff_follows_its_settings)
{
    static const struct story_row none[] = {
        { "without a maximum there is no backoff", "add a; pop a; fail a; is a active" },
        { "nor after a rejection", "add a; pop a; fail a Fit; is a waiting; event NodeAdd; is a active" },
    };
    TELL(none, no_backoff);
    static char text[8192] = "at 1000; add a; pop a";
    for (int i = 0; i < 80; i++) /* shifts beyond the width of a number, sums beyond its range */
        strcat(text, "; fail a; activate a; pop a");
    strcat(text, "; fail a; expiry a 9223372036854775807; due backoff 9223372036854775807; is a error");
    tell("no overflow", text, long_backoff);
}

static void odd_backoff(struct queue_options *o)
{
    o->initial_backoff_ms = 5500;
    o->max_backoff_ms = 11001;
    o->no_early_pop = true;
}

TEST(the_last_doubling_may_end_below_the_maximum)
{
    tell("5500, then twice that, then the maximum",
         "add a; pop a; fail a; expiry a 5500; activate a; pop a; fail a; expiry a 11000; activate a; pop a; fail a; "
         "expiry a 11001",
         odd_backoff);
}

TEST(backoff_is_drained_early)
{
    static const struct story_row rows[] = {
        { "#3 when nothing is active, the head of backoff is popped at once",
          "add a; pop a; fail a Fit; event NodeAdd; is a backoff; pop a; attempts a 2; "
          "came active PopFromBackoffQ 1" },
        { "active pods come first",
          "add a; pop a; fail a Fit; event NodeAdd; add b priority=-5; pop b; pop a" },
        { "#3 error backoff is not popped early", "add a; pop a; fail a; is a error; pop -" },
        { "earlier expiry first",
          "add a; pop a; fail a Fit; at 5000; add b priority=9; pop b; fail b Fit; at 900; activate a; "
          "pop a; fail a Fit; event NodeAdd; is a backoff; is b backoff; pop a; pop b" },
        { "#4 in one second the higher priority comes first",
          "at 100; add a; pop a; fail a Fit; at 900; add b priority=9; pop b; fail b Fit; event NodeAdd; "
          "pop b; pop a" },
        { "PreEnqueue is asked when a pod enters backoff",
          "add a; pop a; fail a Fit; barrier closed; event NodeAdd; is a gated; came backoff NodeAdd 0; "
          "came unschedulable NodeAdd 1" },
    };
    TELL(rows, NULL);
}

static void no_early_pop(struct queue_options *o)
{
    o->no_early_pop = true;
}

TEST(without_early_popping_backoff_is_exact)
{
    static const struct story_row rows[] = {
        { "backoff is not popped", "add a; pop a; fail a Fit; event NodeAdd; is a backoff; pop -" },
        { "expiry is not rounded",
          "at 32180; add a; pop a; fail a; expiry a 33180; at 33180; flush; is a error; at 33181; flush; "
          "is a active" },
        { "PreEnqueue is asked when a pod leaves backoff, not when it enters",
          "add a; pop a; fail a Fit; barrier closed; event NodeAdd; is a backoff; at 5000; flush; "
          "is a gated" },
        { "also when it is activated",
          "add a; pop a; fail a Fit; event NodeAdd; is a backoff; barrier closed; activate a; is a gated" },
    };
    TELL(rows, no_early_pop);
}

TEST(a_failed_pod_comes_back)
{
    static const struct story_row rows[] = {
        { "rejected: it waits",
          "at 7; add a; pop a; at 9; fail a Fit; is a waiting; stamp a 9; rejected Fit 1; "
          "came unschedulable ScheduleAttemptFailure 1" },
        { "#5 no rejector: error backoff, and no event moves it",
          "add a; pop a; fail a; is a error; came backoff ScheduleAttemptFailure 1; event NodeAdd; "
          "is a error; pop -" },
        { "the first time in active is kept",
          "at 3; add a; pop a; fail a Fit; at 50; activate a; first a 3" },
        { "it is counted for every rejector",
          "add a; pop a; fail a Fit Taints; rejected Fit 1; rejected Taints 1" },
        { "and once when it is pending, too",
          "add a; pop a; fail a Fit pending=Claims; rejected Fit 1; rejected Claims 1" },
        { "a pop ends the counting",
          "add a; pop a; fail a Fit; activate a; rejected Fit 1; pop a; rejected Fit 0" },
        { "deletion does, too", "add a; pop a; fail a Fit; delete a; rejected Fit 0" },
        { "also in active and backoff",
          "add a; pop a; fail a Fit; add b; pop b; fail b Fit; activate a; event NodeAdd; is b backoff; "
          "delete a; delete b; rejected Fit 0" },
        { "old rejectors are forgotten",
          "add a; pop a; fail a Fit; activate a; pop a; fail a Taints; rejected Fit 0; "
          "event NodeUpdateNodeAllocatable; is a waiting" },
        { "after done it is tried again after its backoff",
          "add a; pop a; done a; fail a Fit; is a backoff" },
        { "added again meanwhile: active",
          "add a; pop a; add a; refused a Pod d/a is already present in the active queue; is a active; "
          "count flying 0" },
        { "added again meanwhile: gated",
          "add a; pop a; add a gates; refused a Pod d/a is already present in unschedulable queue; "
          "is a gated" },
        { "the fresh version is what is queued",
          "add a; add b priority=1; pop b; pop a; update a priority=5; fail a; fail b; at 2000; flush; "
          "pop a; pop b" },
    };
    TELL(rows, NULL);
}

TEST(a_pod_that_is_back_in_backoff_is_refused)
{
    struct world w;
    world_init(&w);
    world_start(&w);
    const struct pod *a = world_pod(&w, "{\"metadata\":{\"name\":\"p\",\"uid\":\"1\"},\"spec\":{\"schedulerName\":\"s\"}}");
    const struct pod *b = world_pod(&w, "{\"metadata\":{\"name\":\"p\",\"uid\":\"2\"},\"spec\":{\"schedulerName\":\"s\"}}");
    queue_add(w.q, a, 0);
    struct queued_pod *first = queue_pop(w.q, 0);
    queue_add(w.q, b, 0);
    struct queued_pod *second = queue_pop(w.q, 0);
    CHECK(queue_add_unschedulable(w.q, second, NULL, (struct rejectors){ 0 }, 0, &w.e) == ERR_OK);
    CHECK(queue_add_unschedulable(w.q, first, NULL, (struct rejectors){ 0 }, 0, &w.e) == ERR_ALREADY_EXISTS);
    CHECK_TEXT("without a namespace", w.e.message, "Pod p is already present in the backoff queue");
    pod_unref(&w.syms, a);
    pod_unref(&w.syms, b);
    world_fini(&w);
}

TEST(pods_are_gated_before_every_queue)
{
    static const struct story_row rows[] = {
        { "a gated pod waits",
          "add a gates; is a gated; count gated 1; count waiting 0; rejected Gates 1; pop -; "
          "came unschedulable UnschedulablePodAdd 1" },
        { "an error gates, too", "barrier closed; add a; is a gated; rejected Barrier 1" },
        { "the first that refuses ends it",
          "barrier closed; add a gates; asked barrier 0; rejected Barrier 0" },
        { "the end of its gates frees it",
          "add a gates; update a; is a active; count gated 0; "
          "came active UnschedulablePodUpdatePodSchedulingGatesEliminated 1" },
        { "but not while another one gates it: no event of that one came",
          "add a gates; barrier closed; update a; is a gated; rejected Barrier 1; rejected Gates 1; "
          "barrier open; event NodeAdd; is a gated" },
        { "an event that the gating plugin registered frees it",
          "barrier closed; add a; barrier open; event NodeDelete; is a active" },
        { "an event that it did not register is not even asked about",
          "barrier closed; add a; asked barrier 1; event NodeAdd; asked barrier 1; is a gated" },
        { "the gating plugin is asked first",
          "barrier closed; add a; asked gates 1; event NodeDelete; asked gates 1; asked barrier 2; "
          "barrier open; event NodeDelete; asked gates 2; asked barrier 3; is a active" },
        { "it counts as a rejector until it is popped",
          "barrier closed; add a; barrier open; event NodeDelete; rejected Barrier 1; pop a; "
          "rejected Barrier 0" },
        { "a rejected pod can be gated as well",
          "add a; pop a; fail a Fit; barrier closed; activate a; is a gated; rejected Fit 1; "
          "rejected Barrier 1; count gated 1; count waiting 0" },
        { "then events of its other rejectors do not count",
          "add a; pop a; fail a Fit; barrier closed; activate a; barrier open; event NodeAdd; "
          "is a gated; event NodeDelete; is a backoff" },
        { "an error of PreEnqueue after an error: the gate is its rejector",
          "add a; pop a; barrier closed; fail a; is a gated; rejected Barrier 1" },
        { "gated with no failure there is no backoff",
          "at 10; barrier closed; add a; barrier open; event NodeDelete; is a active; first a 10" },
        { "a gated pod has not been ready",
          "barrier closed; at 1; add a; at 9; barrier open; event NodeDelete; first a 9; stamp a 1" },
        { "a gated pod can be deleted", "add a gates; delete a; count gated 0; is a gone; rejected Gates 0" },
        { "activation does not open a gate", "add a gates; activate a; is a gated; events 0" },
    };
    TELL(rows, NULL);
}

TEST(events_wake_whom_they_may_help)
{
    static const struct story_row rows[] = {
        { "an event that a rejector registered",
          "add a; pop a; fail a Fit; at 9000; event NodeAdd; is a active; came active NodeAdd 1" },
        { "an event that nobody registered",
          "add a; pop a; fail a Fit; at 9000; event NodeUpdateNodeCondition; is a waiting" },
        { "an event of another rejector",
          "add a; pop a; fail a Fit; event NodeUpdateNodeLabel; is a waiting" },
        { "one of several rejectors is enough",
          "add a; pop a; fail a Deaf Fit; at 9000; event NodeAdd; is a active" },
        { "who waits for everything",
          "add a; pop a; fail a Curious; at 9000; event NodeUpdateNodeCondition; is a active" },
        { "who waits for nothing",
          "add a; pop a; fail a Deaf; event NodeAdd; event AssignedPodDelete; is a waiting" },
        { "#15 a taint update wakes who waits for new nodes",
          "add a; pop a; fail a Fit; at 9000; event NodeUpdateNodeTaint; is a active" },
        { "while it backs off: into backoff",
          "add a; pop a; fail a Fit; event NodeAdd; is a backoff; came backoff NodeAdd 1" },
        { "its timestamp stays", "at 4; add a; pop a; fail a Fit; at 9000; event NodeAdd; stamp a 4" },
        { "pending: at once",
          "add a; pop a; fail a pending=Claims; event PersistentVolumeClaimAdd; is a active" },
        { "pending, but another rejector was woken: after backoff",
          "add a; pop a; fail a Fit pending=Claims; event NodeAdd; is a backoff" },
        { "pending, and another one was woken before it: at once",
          "add a; pop a; fail a Fit pending=Curious; event NodeAdd; is a active" },
        { "a plain update reaches who registered for all updates",
          "add a; pop a; fail a pending=Claims; event PersistentVolumeClaimUpdate; is a active" },
        { "but not who registered for one",
          "add a; pop a; fail a Taints; event AssignedPodUpdate; is a waiting" },
        { "the hint is asked",
          "add a; pop a; fail a Fit; at 9000; event AssignedPodDelete; asked hint 1; is a active" },
        { "and may say no",
          "hint skips; add a; pop a; fail a Fit; at 9000; event AssignedPodDelete; asked hint 1; "
          "is a waiting" },
        { "it is not asked for pods of other rejectors",
          "add a; pop a; fail a Taints; event AssignedPodDelete; asked hint 0" },
        { "only pods up to a priority",
          "add a priority=1; add b priority=2; add c priority=3; pop c; pop b; pop a; fail a Fit; "
          "fail b Fit; fail c Fit; event AssignedPodDelete up-to=2; is a backoff; is b backoff; "
          "is c waiting" },
        { "all but one pod",
          "add a; add b; pop a; pop b; fail a Fit; fail b Fit; event AssignedPodDelete but=b; "
          "is a backoff; is b waiting" },
        { "many at once, in order",
          "add a; add b priority=1; add c; pop b; pop a; pop c; fail a Fit; fail b Taints; fail c Fit; "
          "at 9000; event NodeAdd; pop b; pop a; pop c" },
        { "rejections of extenders wake on nothing while there are none",
          "add a; pop a; fail a Extenders; event NodeAdd; is a waiting" },
    };
    TELL(rows, NULL);
}

/* ---- What an event costs ---- */

static int n_looked_at;

static bool look_at(const struct move_check *check, const struct pod *pod)
{
    (void)check;
    (void)pod;
    n_looked_at++;
    return true;
}

static void fail_many(struct world *w, int n, uint64_t rejectors)
{
    for (int i = 0; i < n; i++) {
        const struct pod *pod = world_pod(w,
                                          "{\"metadata\":{\"name\":\"p-%llu-%d\",\"uid\":\"%llu-%d\"},"
                                          "\"spec\":{\"schedulerName\":\"s\"}}",
                                          (unsigned long long)rejectors, i, (unsigned long long)rejectors, i);
        queue_add(w->q, pod, 0);
        struct queued_pod *qp = queue_pop(w->q, 0);
        CHECK(!queue_add_unschedulable(w->q, qp, NULL, (struct rejectors){ rejectors, 0 }, 0, &w->e));
        pod_unref(&w->syms, pod);
    }
}

TEST(pods_that_an_event_cannot_help_are_not_looked_at)
{
    struct world w;
    world_init(&w);
    world_start(&w);
    fail_many(&w, 30, 1 << DEAF);
    fail_many(&w, 20, 1 << TAINTS);
    fail_many(&w, 10, 1 << CLAIMS | 1 << DEAF);
    struct cluster_event event = { .resource = RES_NODE, .action = ACT_ADD };
    n_looked_at = 0;
    queue_move_all(w.q, &event, (struct move_check){ .passes = look_at }, 0);
    CHECK_INT("those whom it may help", n_looked_at, 20);
    CHECK_INT("are moved", queue_counts(w.q).backoff, 20);
    world_fini(&w);
}

TEST(what_hints_allocate_does_not_pile_up)
{
    struct world w;
    world_init(&w);
    world_start(&w);
    world_hint_skips = true;
    const struct pod *gone = world_pod(&w, "{}");
    struct cluster_event event = { .resource = RES_ASSIGNED_POD, .action = ACT_DELETE, .old_object = gone };
    fail_many(&w, 1, 1 << FIT);
    queue_move_all(w.q, &event, MOVE_ALL, 0);
    queue_move_all(w.q, &event, MOVE_ALL, 0); /* the arena has its chunk now */
    const void *first = world_scratch;
    fail_many(&w, 1, 1 << FIT | 1 << DEAF);
    queue_move_all(w.q, &event, MOVE_ALL, 0);
    CHECK_INT("all were asked", world_n_hints, 4);
    CHECK(world_scratch == first);
    pod_unref(&w.syms, gone);
    world_fini(&w);
}

static void with_extenders(struct queue_options *o)
{
    o->extenders = true;
}

TEST(extenders_wait_for_everything)
{
    tell("any event", "add a; pop a; fail a Extenders; event NodeUpdateNodeAnnotation; is a backoff", with_extenders);
}

TEST(events_are_kept_for_pods_in_flight)
{
    static const struct story_row rows[] = {
        { "an event while it was tried",
          "add a; pop a; event NodeAdd; events 1; fail a Fit; is a backoff; events 0; "
          "came backoff ScheduleAttemptFailure 1" },
        { "an event before does not count", "add a; event NodeAdd; pop a; fail a Fit; is a waiting" },
        { "nothing is kept while nobody is in flight", "add a; event NodeAdd; events 0" },
        { "nor what no plugin registered",
          "add a; pop a; event storage.k8s.io/VolumeAttachmentAdd; events 0" },
        { "an event of no rejector", "add a; pop a; event NodeAdd; fail a Claims; is a waiting" },
        { "pending: at once",
          "add a; pop a; event PersistentVolumeClaimAdd; fail a pending=Claims; is a active" },
        { "the best of several counts",
          "add a; pop a; event NodeAdd; event PersistentVolumeClaimAdd; event NodeAdd; "
          "fail a Fit pending=Claims; is a active" },
        { "the hint is asked about kept events",
          "hint skips; add a; pop a; event AssignedPodDelete; fail a Fit; asked hint 1; is a waiting" },
        { "an error needs no event", "add a; pop a; fail a; is a error" },
        { "each pod has its own beginning",
          "add a; add b; pop a; event NodeAdd; pop b; fail b Fit; is b waiting; events 1; fail a Fit; "
          "is a backoff; events 0" },
        { "events go when the oldest is done",
          "add a; add b; pop a; event NodeAdd; pop b; event NodeAdd; event NodeAdd; events 3; "
          "kept NodeAdd 3; done a; events 2; done b; events 0; kept NodeAdd 0" },
        { "but not when another one is",
          "add a; add b; pop a; event NodeAdd; pop b; event NodeAdd; done b; events 2; release a; "
          "events 0" },
        { "an update of the pod is kept, not applied",
          "add a; pop a; update a tolerates; events 1; is a flying; fail a Taints; is a backoff" },
        { "a plain update is of no use to it", "add a; pop a; update a; events 1; fail a Fit; is a waiting" },
        { "activation of a pod in flight",
          "add a; pop a; activate a; events 1; kept ForceActivate 1; fail a Deaf; is a backoff" },
        { "activation is for that pod only",
          "add a; add b; pop a; pop b; activate b; fail a Deaf; is a waiting; fail b Deaf; is b backoff" },
        { "activation while a successor of the same name is gated",
          "add a; pop a; add a uid=b gates; activate a flying; is a gated; kept ForceActivate 1" },
        { "activation of an unknown pod does nothing",
          "add a; pop a; add b; delete b; activate b; events 0" },
        { "who waited too long wakes those in flight, too",
          "add a; add b; pop a; fail a Deaf; pop b; at 400000; timeout; events 1; fail b Deaf; "
          "is b backoff" },
        { "who did not, does not",
          "add a; add b; pop a; fail a Deaf; pop b; at 300000; timeout; events 0; fail b Deaf; "
          "is b waiting" },
    };
    TELL(rows, NULL);
}

static void with_groups(struct queue_options *o)
{
    o->pod_groups = true;
}

TEST(members_of_groups_come_back_after_backoff_only)
{
    tell("a member does not wait for events", "add a group=g; pop a; fail a Fit; is a backoff", with_groups);
    tell("others do", "add a; pop a; fail a Fit; is a waiting", with_groups);
    tell("and members do while groups are off", "add a group=g; pop a; fail a Fit; is a waiting", NULL);
}

TEST(activation_ignores_backoff)
{
    static const struct story_row rows[] = {
        { "from waiting", "add a; pop a; fail a Fit; activate a; is a active; came active ForceActivate 1" },
        { "from backoff", "add a; pop a; fail a Fit; event NodeAdd; is a backoff; activate a; is a active" },
        { "from error backoff", "add a; pop a; fail a; activate a; is a active" },
        { "from backoff PreEnqueue is not asked",
          "add a; pop a; fail a; barrier closed; activate a; is a active" },
        { "active already", "add a; activate a; is a active; came active ForceActivate 0" },
        { "one pod can be taken from anywhere",
          "add a; add b priority=5; take a; is a flying; attempts a 1; fail a; take a; attempts a 2; "
          "pop b" },
        { "but not past a gate", "add a gates; take a; is a gated" },
    };
    TELL(rows, NULL);
}

TEST(a_long_wait_ends_by_itself)
{
    static const struct story_row rows[] = {
        { "after more than five minutes",
          "at 100; add a; pop a; fail a Deaf; at 300100; timeout; is a waiting; at 300101; timeout; "
          "is a active; came active UnschedulableTimeout 1" },
        { "the time at which it is due is told",
          "at 100; add a; pop a; fail a Deaf; due unschedulable 300101" },
        { "nothing waits: no time", "due unschedulable 9223372036854775807" },
        { "only those who waited",
          "add a; add b; pop a; fail a Deaf; at 200000; pop b; fail b Deaf; at 350000; timeout; "
          "is a active; is b waiting" },
        { "a gated pod is asked again",
          "barrier closed; add a; at 400000; timeout; asked barrier 2; is a gated; "
          "came unschedulable UnschedulableTimeout 1" },
        { "and then has its time again",
          "barrier closed; add a; at 400000; timeout; barrier open; at 600000; timeout; is a gated; "
          "at 700001; timeout; is a active" },
        { "a failure begins the time anew",
          "add a; pop a; fail a Deaf; at 400000; timeout; pop a; at 500000; fail a Deaf; at 750000; "
          "timeout; is a waiting; at 800001; timeout; is a active" },
    };
    TELL(rows, NULL);
}

TEST(updates_go_to_where_the_pod_is)
{
    static const struct story_row rows[] = {
        { "the same version is no update", "add a gates; update a unchanged; is a gated" },
        { "in active: the order is made anew", "add a; add b; update b priority=5; pop b; pop a" },
        { "in active: nothing else", "add a; barrier closed; update a tolerates; is a active" },
        { "in backoff: the order is made anew",
          "add a; add b; pop a; pop b; fail a Fit; fail b Fit; event NodeAdd; update b priority=5; "
          "pop b; pop a" },
        { "in error backoff it stays", "add a; pop a; fail a; update a tolerates; is a error" },
        { "waiting: what helps a rejector wakes it",
          "add a; pop a; fail a Taints; at 9000; update a tolerates; is a active; "
          "came active UnschedulablePodUpdatePodToleration 1" },
        { "waiting: also into backoff", "add a; pop a; fail a Taints; update a tolerates; is a backoff" },
        { "waiting: what does not help does not",
          "add a; pop a; fail a Fit; update a tolerates; is a waiting" },
        { "waiting: a plain update",
          "add a; pop a; fail a Curious; at 9000; update a; is a active; "
          "came active UnschedulablePodUpdate 1" },
        { "waiting: gated by another one on its way",
          "add a; pop a; fail a Taints; barrier closed; update a tolerates; is a gated; "
          "came unschedulable UnschedulablePodUpdatePodToleration 0" },
        { "unknown: it is new",
          "add a; delete a; update a; is a active; came active UnschedulablePodUpdate 1" },
        { "unknown and gated", "add a; delete a; update a gates; is a gated" },
        { "another uid is another pod",
          "add a; pop a; fail a Fit; at 50; update a uid=other; is a active; attempts a 0; stamp a 50; "
          "rejected Fit 0" },
        { "a pod that is being bound is not here", "add a; pop a; done a; update a; count active 1" },
    };
    TELL(rows, NULL);
}

TEST(deletion_takes_a_pod_from_any_place)
{
    static const struct story_row rows[] = {
        { "active", "add a; delete a; is a gone; pop -" },
        { "backoff", "add a; pop a; fail a Fit; event NodeAdd; is a backoff; delete a; is a gone; pop -" },
        { "error backoff", "add a; pop a; fail a; delete a; is a gone; at 9000; flush; pop -" },
        { "waiting", "add a; pop a; fail a Fit; delete a; is a gone; event NodeAdd; pop -" },
        { "not in flight", "add a; pop a; delete a; is a flying; release a" },
        { "unknown", "add a; delete a; delete a; is a gone" },
    };
    TELL(rows, NULL);
}

TEST(nominations_follow_the_pods)
{
    static const struct story_row rows[] = {
        { "a new pod brings its own", "add a nominated=n1; nominated a n1" },
        { "a gated one does not", "add a gates nominated=n1; nominated a -" },
        { "an update of an active pod changes it",
          "add a nominated=n1; update a nominated=n2; nominated a n2" },
        { "and ends it", "add a nominated=n1; update a; nominated a -" },
        { "what the scheduler promised stays while the pod knows nothing of it",
          "add a; pop a; fail a Fit; nominate a n3; update a tolerates; nominated a n3" },
        { "also in backoff", "add a; pop a; fail a; nominate a n3; update a; nominated a n3" },
        { "the pod's own word beats it",
          "add a; pop a; fail a Fit; nominate a n3; update a nominated=n4; nominated a n4" },
        { "deletion ends it", "add a nominated=n1; delete a; nominated a -" },
        { "deletion of a pod in flight, too",
          "add a nominated=n1; pop a; delete a; nominated a -; release a" },
        { "an update in flight leaves it",
          "add a nominated=n1; pop a; update a nominated=n2; nominated a n1; release a; delete a" },
        { "an unknown pod brings its own", "add a; delete a; update a nominated=n1; nominated a n1" },
        { "another uid ends the old one",
          "add a nominated=n1; update a uid=other; nominated a -; nominees n1 0" },
        { "also when it is added", "add a nominated=n1; add a uid=other; nominees n1 0" },
        { "the same pod added again keeps it", "add a nominated=n1; add a nominated=n1; nominees n1 1" },
        { "being woken does not end what the scheduler promised",
          "add a; pop a; fail a Fit; nominate a n3; activate a; nominated a n3" },
        { "a pod on a node is not nominated", "add a nominated=n1 node=n1; nominated a -" },
        { "a promise that moves wakes pods that respected it",
          "add a nominated=n1 priority=5; add b priority=5; add c priority=6; pop c; pop a; pop b; "
          "fail a Deaf; fail b Fit; fail c Fit; update a nominated=n2 priority=5; is b backoff; "
          "is c waiting; came backoff AssignedPodDelete 1" },
        { "so does one that ends",
          "add a nominated=n1; add b; pop a; pop b; fail a Deaf; fail b Fit; update a; is b backoff" },
        { "a new promise does not",
          "add a; add b; pop a; pop b; fail a Deaf; fail b Fit; update a nominated=n1; is b waiting" },
        { "nor one that stays",
          "add a nominated=n1; add b; pop a; pop b; fail a Deaf; fail b Fit; update a nominated=n1; "
          "is b waiting" },
    };
    TELL(rows, NULL);
}

/* An object that only the queue holds once the event has been told. */
#define KEEP(w, kind, event_resource)                                                      \
    do {                                                                                   \
        const struct kind *object;                                                         \
        CHECK(!kind##_decode(&(w)->syms, TYPED_JSON, STR("{\"metadata\":{\"name\":\"kept-" #kind "\"}}"), \
                             &object, &(w)->e));                                           \
        struct cluster_event event = { event_resource, ACT_UPDATE, object, object, NULL }; \
        queue_move_all((w)->q, &event, MOVE_ALL, 0);                                       \
        kind##_unref(&(w)->syms, object);                                                  \
    } while (0)

TEST(objects_of_kept_events_stay_alive)
{
    struct world w;
    world_init(&w);
    w.options.extenders = true; /* somebody must be interested */
    w.profile.instances[CURIOUS].plugin = &(const struct plugin){
        .name = "All", .permit = w.profile.instances[CLAIMS].plugin->permit,
        .events = (const struct plugin_event[]){ { RES_ANY, ACT_ALL, NULL }, { 0 } },
    };
    world_start(&w);
    for (int round = 0; round < 2; round++) { /* once given up when the pod is done, once with the queue */
        const struct pod *a =
            world_pod(&w, "{\"metadata\":{\"name\":\"a%d\",\"uid\":\"a%d\"},\"spec\":{\"schedulerName\":\"s\"}}", round,
                      round);
        queue_add(w.q, a, 0);
        pod_unref(&w.syms, a);
        struct queued_pod *qp = queue_pop(w.q, 0);
        KEEP(&w, pod, RES_ASSIGNED_POD);
        KEEP(&w, node, RES_NODE);
        KEEP(&w, pv, RES_PERSISTENT_VOLUME);
        KEEP(&w, pvc, RES_PERSISTENT_VOLUME_CLAIM);
        KEEP(&w, csi_node, RES_CSI_NODE);
        KEEP(&w, csi_driver, RES_CSI_DRIVER);
        KEEP(&w, volume_attachment, RES_VOLUME_ATTACHMENT);
        KEEP(&w, csi_storage_capacity, RES_CSI_STORAGE_CAPACITY);
        KEEP(&w, storage_class, RES_STORAGE_CLASS);
        KEEP(&w, resource_claim, RES_RESOURCE_CLAIM);
        KEEP(&w, resource_slice, RES_RESOURCE_SLICE);
        KEEP(&w, device_class, RES_DEVICE_CLASS);
        CHECK_INT("kept", queue_counts(w.q).events, 12);
        if (round == 0)
            queue_release(w.q, qp);
    }
    world_fini(&w);
}

TEST(no_more_events_are_kept_than_the_limit)
{
    struct world w;
    world_init(&w);
    world_start(&w);
    const struct pod *a = world_pod(&w, "{\"metadata\":{\"name\":\"a\",\"uid\":\"a\"},\"spec\":{\"schedulerName\":\"s\"}}");
    const struct pod *b = world_pod(&w, "{\"metadata\":{\"name\":\"b\",\"uid\":\"b\"},\"spec\":{\"schedulerName\":\"s\"}}");
    struct cluster_event event = { .resource = RES_NODE, .action = ACT_ADD };
    queue_add(w.q, a, 0);
    struct queued_pod *early = queue_pop(w.q, 0);
    for (int i = 0; i < QUEUE_EVENTS_MAX; i++)
        queue_move_all(w.q, &event, MOVE_ALL, 0);
    CHECK_INT("all kept", queue_counts(w.q).events, QUEUE_EVENTS_MAX);
    queue_move_all(w.q, &event, MOVE_ALL, 0);
    CHECK_INT("one lost", queue_counts(w.q).events, QUEUE_EVENTS_MAX);
    queue_add(w.q, b, 0);
    struct queued_pod *late = queue_pop(w.q, 0);
    struct rejectors deaf = { 1 << DEAF, 0 };
    CHECK(!queue_add_unschedulable(w.q, late, NULL, deaf, 0, &w.e));
    CHECK(!queue_add_unschedulable(w.q, early, NULL, deaf, 0, &w.e));
    CHECK_INT("who came later missed nothing", queue_find(w.q, SYM_EMPTY, "b")->place, PLACE_UNSCHEDULABLE);
    CHECK_INT("who may have missed something", queue_find(w.q, SYM_EMPTY, "a")->place, PLACE_BACKOFF);
    CHECK_INT("none kept", queue_counts(w.q).events, 0);
    pod_unref(&w.syms, a);
    pod_unref(&w.syms, b);
    world_fini(&w);
}
