/* What follows a failure, told through the whole scheduler: preemption, bindings, promises, and who is woken by
 * what. */
#include "tests/unit/sched_story.h"

TEST(a_preemptor_gets_its_place_when_the_victims_are_gone)
{
    static const struct sched_story_row rows[] = {
        { "it is promised the node, waits, and goes there",
          "node n 1; pod v node=n; pod p priority=5; run; says evict v for p / refused p / nominate p n; "
          "is p waiting; nominated p n; noted 0; evicted v; noted 1; is p waiting; idle; delete v; is p backoff; "
          "run; says bind p n; nominated p -" },
        { "a failed eviction wakes it, and it tries again",
          "node n 1; pod v node=n; pod p priority=5; run; says evict v for p / refused p / nominate p n; "
          "evicted v timeout; is p active; noted 0; run; says evict v for p / refused p / nominate p n" },
        { "the victim is gone before the answer to its eviction has come",
          "node n 1; pod v node=n; pod p priority=5; run; delete v; is p backoff; evicted v; "
          "says evict v for p / refused p / nominate p n; run; says bind p n" },
        { "it was gone, and its eviction fails for that: the preemptor goes on",
          "node n 1; pod v node=n; pod p priority=5; run; delete v; evicted v gone; is p active; "
          "says evict v for p / refused p / nominate p n; run; says bind p n" },
        { "the last of its victims is evicted when the others are, and so long the preemptor is gated",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; "
          "says evict v for p / refused p / nominate p n; delete v; is p gated; noted 0; evicted v; noted 1; "
          "says evict w for p; is p gated; delete w; is p backoff; evicted w; noted 2; run; says bind p n" },
        { "the others at once",
          "node n 3; pod u node=n; pod v node=n; pod w node=n; pod p priority=5 cpu=3; run; "
          "says evict u for p / evict v for p / refused p / nominate p n; evicted v; says; evicted u; "
          "says evict w for p; evicted w; is p waiting; delete v; delete u; is p backoff" },
        { "all have gone by themselves before their turn",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; delete w; is p gated; delete v; "
          "is p backoff; evicted v; evicted w; run; says evict v for p / refused p / nominate p n / evict w for p / "
          "bind p n" },
        { "the last one is seen to go before its answer comes: then what is gone may wake the preemptor",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; evicted v; pod w node=n terminating; "
          "delete v; is p backoff" },
        { "the last one goes before its turn: a victim that is still there gates, whatever else makes room",
          "node n 2; node m 2; pod x node=m priority=9 cpu=2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; "
          "delete w; is p gated; delete x; is p gated; delete v; is p backoff" },
        { "an eviction fails: the last victim stays, and the preemptor tries again",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; evicted v timeout; is p active; "
          "says evict v for p / refused p / nominate p n; run; says evict v for p / refused p / nominate p n" },
        { "one of several fails: it tries again when the others have their answers",
          "node n 3; pod u node=n; pod v node=n; pod w node=n; pod p priority=5 cpu=3; run; evicted u timeout; "
          "is p waiting; evicted v; is p active; says evict u for p / evict v for p / refused p / nominate p n" },
        { "the last one fails",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; evicted v; is p waiting; "
          "evicted w timeout; is p active" },
        { "both succeed: it waits for them to go",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; evicted v; evicted w; is p waiting" },
        { "a victim that is on its way out already is not evicted again",
          "node n 1; pod v node=n terminating; pod p priority=5; run; says refused p / nominate p n; delete v; "
          "run; says bind p n" },
        { "a victim that still waits for its permit goes back to the queue",
          "node n 1; probe permit waits; pod v; run; says nominate v n; probe permit passes; pod p priority=5; "
          "run; "
          "says unreserve v / error v / v: Preempted by pod p on node n (in kube-scheduler memory). / refused p "
          "/ nominate p n; is v error; is p backoff; run; says bind p n" },
        { "a victim that is not bound yet, but waits for its volumes, goes back to the queue",
          "node n 1; probe prebind waits; pod v; run; says nominate v n; probe prebind passes; pod p priority=5; "
          "run; "
          "says unreserve v / error v / v: Preempted by pod p on node n (in kube-scheduler memory). / refused p "
          "/ nominate p n; is v error; run; says bind p n" },
        { "a victim that is being bound is evicted as any other",
          "node n 1; pod v; run; pod p priority=5; run; "
          "says bind v n / evict v for p / refused p / nominate p n; is v assumed" },
        { "of two victims the one that is on its way out is left alone, the other is evicted",
          "node n 2; pod v node=n priority=2 terminating; pod w node=n priority=1; pod p priority=9 cpu=2; run; "
          "says evict w for p / refused p / nominate p n" },
        { "who never preempts waits without a promise",
          "node n 1; pod v node=n; pod p priority=5 never; run; says refused p; nominated p -; delete v; run; "
          "says bind p n" },
        { "answers that nobody waits for are ignored",
          "node n 1; pod v node=n; pod p priority=5; run; evicted nobody timeout; is p waiting; bound nobody; "
          "allow nobody; deny nobody; is p waiting" },
        { "nobody is evicted for an equal",
          "node n 1; pod v node=n priority=5; pod p priority=5; run; says refused p" },
        { "another node does as well, once the evictions are answered",
          "node n 1; pod v node=n; pod p priority=5; run; evicted v; node m 1; is p backoff; "
          "says evict v for p / refused p / nominate p n; run; says bind p m; nominated p -" },
        { "the failure of another pod does not wake it",
          "node n 1; pod v node=n; pod p priority=5; run; evicted v; is p waiting; pod q priority=1; run; "
          "says evict v for p / refused p / nominate p n / refused q; is p waiting" },
    };
    SCHED_TELL(rows, NULL);
}

static void without_async_preemption(struct sched_world *w)
{
    w->features.async_preemption = false;
}

TEST(without_the_gate_all_victims_are_evicted_at_once_and_the_preemptor_is_not_gated)
{
    static const struct sched_story_row rows[] = {
        { "two victims",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; "
          "says evict v for p / evict w for p / refused p / nominate p n; delete v; is p backoff" },
        { "one fails",
          "node n 2; pod v node=n; pod w node=n; pod p priority=5 cpu=2; run; evicted v timeout; is p waiting; "
          "evicted w; is p active" },
    };
    SCHED_TELL(rows, without_async_preemption);
}

TEST(a_preemptor_that_is_gone_leaves_nothing_behind)
{
    static const struct sched_story_row rows[] = {
        { "its promise ends with it, and its evictions end in peace",
          "node n 1; pod v node=n; pod p priority=5; run; delete p; nominated p -; is p gone; evicted v; idle" },
        { "a failed eviction does not bring it back",
          "node n 1; pod v node=n; pod p priority=5; run; delete p; evicted v timeout; is p gone; idle" },
        { "one who waits behind the promise is woken by its end",
          "node n 1; pod v node=n; pod p priority=5; run; pod p priority=5 nominated=n; evicted v; delete v; "
          "pod q; is p backoff; run; says evict v for p / refused p / nominate p n / refused q; delete p; "
          "is q backoff; run; says bind q n" },
        { "it has been placed by somebody else",
          "node n 1; node m 1 cordoned; pod v node=n; pod p priority=5; run; pod p priority=5 node=m; "
          "nominated p -; is p placed; evicted v timeout; idle" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(promises_are_kept_and_ended)
{
    static const struct sched_story_row rows[] = {
        { "a higher preemptor of the same node ends the promise to a lower one",
          "node n 1; pod v node=n; pod a priority=5; run; says evict v for a / refused a / nominate a n; "
          "pod b priority=9; run; says nominate a - / evict v for b / refused b / nominate b n; nominated a -; "
          "nominated b n" },
        { "all lower ones",
          "node n 2; pod v node=n; pod w node=n; pod a priority=6; run; pod w node=n terminating; "
          "pod b priority=5; run; "
          "says evict w for a / refused a / nominate a n / evict v for b / refused b / nominate b n; "
          "nominated a n; nominated b n; pod c priority=9 cpu=2; run; "
          "says nominate a - / nominate b - / evict v for c / refused c / nominate c n" },
        { "not while all victims are on their way out anyway: then nothing is done at all",
          "node n 1; pod v node=n terminating; pod a priority=5; run; pod b priority=9; run; "
          "says refused a / nominate a n / refused b / nominate b n; nominated a n; nominated b n" },
        { "not that to an equal: its place is respected",
          "node n 1; pod v node=n; pod a priority=5; run; pod b priority=5; run; "
          "says evict v for a / refused a / nominate a n / refused b; nominated a n; nominated b -" },
        { "not that of another node",
          "node n 1; node m 1; pod v node=n; pod w node=m priority=1; pod a priority=5; run; node n 1 cordoned; "
          "pod b priority=9; run; "
          "says evict v for a / refused a / nominate a n / evict w for b / refused b / nominate b m; "
          "nominated a n" },
        { "a lower pod does not take a promised place",
          "node n 1; pod v node=n; pod p priority=5; run; says evict v for p / refused p / nominate p n; "
          "evicted v; delete v; is p backoff; pod q priority=1; run; says refused q; run; says bind p n" },
        { "the end of a promise wakes those of the same or a lower priority only",
          "node n 2; pod w node=n cpu=0 port=80 priority=10; pod a cpu=2 priority=9 port=80 nominated=n never; "
          "run; says refused a; nominated a n; pod b priority=9 never; run; pod c priority=8; run; "
          "pod d priority=10 cpu=5; run; says refused b / refused c / refused d; is b waiting; is c waiting; "
          "is d waiting; delete a; is b backoff; is c backoff; is d waiting" },
        { "a promise that is taken back by its pod wakes them, too",
          "node n 2; pod w node=n cpu=0 port=80 priority=10; pod a cpu=2 priority=9 port=80 nominated=n never; "
          "run; pod b never; run; is b waiting; pod a cpu=2 priority=9 port=80 never; nominated a -; "
          "is b backoff; says refused a / refused b; run; says refused a; run; says bind b n" },
        { "an update that keeps the promise wakes nobody",
          "node n 2; pod w node=n cpu=0 port=80 priority=10; pod a cpu=2 priority=9 port=80 nominated=n never; "
          "run; pod b never; run; pod a cpu=2 priority=9 port=80 nominated=n never; is b waiting" },
        { "a failure ends the promise when no room can be made",
          "node n 2; pod w node=n cpu=0 port=80 priority=10; pod a cpu=2 priority=9 port=80 nominated=n; run; "
          "says refused a / nominate a -; nominated a -" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(a_known_failure_is_forgotten_when_something_changes)
{
    static const struct sched_story_row rows[] = {
        { "two equal pods: the second one's failure is known",
          "node n 1; pod a cpu=2; run; pod b cpu=2; run; repeated 1; counts refused 2; counts attempts 2; "
          "counts errors 0" },
        { "not when a promise has ended: now there is somebody to evict",
          "node n 2; pod w node=n cpu=0 port=80 priority=10; pod v node=n cpu=2; "
          "pod a cpu=2 priority=9 port=80 nominated=n never; run; pod b cpu=2 priority=5; run; "
          "pod c cpu=2 priority=5; run; says refused a / refused b / refused c; repeated 1; delete a; run; "
          "says evict v for b / refused b / nominate b n; repeated 1" },
        { "not when a promise has been made",
          "node n 1; node m 9 cordoned; pod v node=n; pod a cpu=1 priority=0; run; repeated 0; pod p priority=5; "
          "run; pod b cpu=1 priority=0; run; repeated 0" },
        { "not when a node has come",
          "node n 1; pod a cpu=2; run; node m 1; pod b cpu=2; run; repeated 0; pod c cpu=2; run; repeated 1" },
        { "not when a pod has gone",
          "node n 1; pod v node=n; pod a cpu=2; run; delete v; pod b cpu=2; run; repeated 0" },
        { "not of a pod of another priority: it may evict others",
          "node n 1; pod v node=n; pod a; run; pod p priority=1; run; repeated 0; "
          "says refused a / evict v for p / refused p / nominate p n" },
        { "not of a pod that may not evict",
          "node n 1; pod v node=n; pod a priority=5 never; run; pod p priority=5; run; repeated 0; "
          "says refused a / evict v for p / refused p / nominate p n" },
        { "not of a pod with a promise",
          "node n 1; node m 1; pod v node=n; pod w node=m; pod a cpu=3; run; pod b cpu=3 nominated=n; run; "
          "repeated 0" },
        { "not of a pod that was promised a node and does not know it yet: the promise was in the other one's way",
          "node n 1; pod v node=n; pod p priority=5; run; evicted v; pod q priority=5; run; "
          "says evict v for p / refused p / nominate p n / refused q; at 400000; tick; run; "
          "says evict v for p / refused p / nominate p n; repeated 0" },
        { "the message is the same, to the letter",
          "node n 1; pod a cpu=2; run; "
          "why 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is "
          "not helpful for scheduling.; pod b cpu=2; run; "
          "why 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is "
          "not helpful for scheduling.; repeated 1; is b waiting" },
        { "and it wakes as if it had been found out afresh",
          "node n 1; pod a cpu=2; run; pod b cpu=2; run; repeated 1; at 9000; node n 2; is a active; is b active" },
    };
    SCHED_TELL(rows, NULL);
}

/* By their hash runs are compared: what it is made of must not change, and every decision is in it. */
TEST(decisions_are_written_down)
{
    static const struct sched_story_row rows[] = {
        { "a node",
          "node n 2; pod a; run; decided d/a=n; pod b; run; decided d/a=n, d/b=n; bound a; decided d/a=n, d/b=n" },
        { "a refusal, and one that is known",
          "pod a; run; decided d/a=no nodes available to schedule pods; node n 1; pod b cpu=2 never; run; "
          "pod c cpu=2 never; run; repeated 1; decided d/a=no nodes available to schedule pods, "
          "d/b=0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never., "
          "d/c=0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never." },
        { "a binding that fails",
          "node n 1; pod a; run; bound a conflict; "
          "decided d/a=n, d/a=running Bind plugin \"DefaultBinder\": conflict" },
        { "a refusal at Reserve", "node n 1; probe reserve errs; pod a; run; "
                                  "decided d/a=n, d/a=running Reserve plugin \"Probe\": broken" },
        { "no attempt, no decision", "node n 1; pod a terminating; pod b gates; run; pod c; run; decided d/c=n" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(bindings_that_fail_are_undone)
{
    static const struct sched_story_row rows[] = {
        { "one that succeeds: assumed until the watch shows it",
          "node n 1; pod a; run; says bind a n; is a assumed; bindings 1; bound a; says scheduled a; "
          "is a assumed; bindings 0; counts placed 1; pod a node=n; is a placed" },
        { "the API server says no: it is tried again after its backoff, whatever happens",
          "node n 1; pod a; run; bound a conflict; says bind a n / unreserve a / error a; "
          "why running Bind plugin \"DefaultBinder\": conflict; is a error; node m 1; is a error; idle; at 2999; "
          "tick; is a error; at 3000; tick; is a active; counts errors 1; run; says bind a n" },
        { "who waited for its place is woken at once",
          "node n 1; pod a; run; pod b; run; says bind a n / refused b; is b waiting; bound a conflict; "
          "is b backoff; says unreserve a / error a; run; says bind b n" },
        { "the failure is of a pod that was deleted meanwhile: it does not come back",
          "node n 1; pod a; run; delete a; is a gone; bound a gone; at 9000; tick; idle; is a gone" },
        { "the watch shows it bound, but the answer was lost",
          "node n 1; pod a; run; pod a node=n; is a placed; bound a timeout; is a placed; pod b; run; "
          "is b waiting" },
        { "the watch shows it bound before the answer",
          "node n 1; pod a; run; pod a node=n; is a placed; bound a; is a placed; bindings 0" },
        { "the node goes while it is bound: the answer decides",
          "node n 1; pod a; run; unnode n; is a assumed; bound a; says bind a n / scheduled a; pod a node=n; "
          "is a placed" },
        { "the node goes, and the binding fails",
          "node n 1; pod a; run; unnode n; bound a gone; says bind a n / unreserve a / error a; is a error; "
          "at 3000; tick; run; says refused a; why no nodes available to schedule pods; is a error" },
        { "deleted while it is bound: who waited for its place is woken",
          "node n 1; pod a; run; pod b; run; is b waiting; delete a; is b backoff; bound a gone" },
        { "deleted when it was bound, before the watch shows it",
          "node n 1; pod a; run; pod b; run; bound a; is b waiting; delete a; is b backoff; run; "
          "says bind a n / refused b / scheduled a / bind b n" },
        { "an update while it is bound changes nothing",
          "node n 1; pod a; run; pod a web; is a assumed; bound a; pod a web node=n; is a placed" },
        { "it begins to terminate while it is bound: its node is free",
          "node n 1; pod a; run; pod b; run; pod a terminating; is a gone; is b backoff; pod a terminating web; "
          "run; run; says bind a n / refused b / bind b n; bound a gone" },
        { "a new pod of the same name is another one",
          "node n 2; pod a; run; delete a; pod a uid=b; is a active; bound a gone; run; "
          "says bind a n / unreserve a / bind a n" },
        { "Bind says no by itself",
          "node n 1; probe bind errs; pod a; run; says unreserve a / error a; "
          "why running Bind plugin \"Probe\": broken; is a error" },
        { "PreBind fails",
          "node n 1; probe prebind errs; pod a; run; says nominate a n / unreserve a / error a; "
          "why running PreBind plugin \"Probe\": broken; is a error" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(permits_are_waited_for)
{
    static const struct sched_story_row rows[] = {
        { "it says where it is going, and goes when it may",
          "node n 1; probe permit waits; pod a; run; says nominate a n; is a assumed; idle; allow a; "
          "says bind a n" },
        { "it was denied: it waits for what Probe waits for",
          "node n 1; probe permit waits; pod a; run; deny a; says nominate a n / unreserve a / refused a; "
          "why 0/1 nodes are available: 1 not now.; is a waiting; pod v node=n; delete v; is a waiting; at 9000; "
          "node m 1; is a active" },
        { "what came while it was in flight counts",
          "node n 1; probe permit waits; pod a; run; node m 1; deny a; is a backoff" },
        { "but not what nobody who refused it waits for",
          "node n 1; probe permit waits; pod a; run; node n 2; deny a; is a waiting" },
        { "and not what came before it was popped",
          "node n 1; probe permit waits; pod a; node m 1; run; deny a; is a waiting" },
        { "the wait ends after its time",
          "node n 1; probe permit waits; pod a; run; due 6000; at 5999; tick; says nominate a n; at 6000; tick; "
          "says unreserve a / refused a; "
          "why 0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Probe.; is a waiting" },
        { "the earliest end of a wait is what is due",
          "node n 2; probe permit waits 7000; pod a; run; at 2000; probe permit waits 3000; pod b; run; "
          "due 5000; at 5000; tick; is b waiting; is a assumed; due 8000; at 8000; tick; is a waiting; bindings 0" },
        { "nobody waits longer than a quarter of an hour",
          "node n 1; probe permit waits 99999999; pod a; run; due 901000; at 900999; tick; is a assumed; "
          "at 901000; tick; is a waiting; "
          "why 0/1 nodes are available: 1 rejected due to timeout after waiting 15m0s at plugin Probe." },
        { "it has said before where it is going", "node n 1; probe permit waits; pod a nominated=n; run; says" },
        { "what is to be done after a binding is done once",
          "node n 1; pod a; run; postbinds 0; bound a; postbinds 1; pod a node=n; postbinds 1" },
        { "nothing is done after one that failed", "node n 1; pod a; run; bound a conflict; postbinds 0" },
        { "the second answer changes nothing",
          "node n 1; probe permit waits; pod a; run; allow a; allow a; deny a; says nominate a n / bind a n; "
          "bindings 1" },
        { "who waited for its place is woken",
          "node n 1; probe permit waits; pod a; run; pod b; run; is b waiting; deny a; is b backoff" },
        { "deleted while it waits",
          "node n 1; probe permit waits; pod a; run; pod b; run; delete a; is a gone; is b backoff; bindings 0; "
          "says nominate a n / refused b / unreserve a / refused a; why 0/1 nodes are available: 1 removed." },
        { "it begins to terminate while it waits",
          "node n 1; probe permit waits; pod a; run; pod b; run; pod a terminating; is b backoff; bindings 0" },
        { "Permit says no at once",
          "node n 1; probe permit refuses; pod a; run; says unreserve a / refused a; is a waiting; at 9000; "
          "node m 1; is a active" },
        { "Permit fails",
          "node n 1; probe permit errs; pod a; run; says unreserve a / error a; "
          "why running Permit plugin \"Probe\": broken; is a error; node m 1; is a error" },
        { "another pod has taken its name meanwhile: that one stays in the queue",
          "node n 2; probe permit waits; pod a; run; pod a uid=b; deny a; is a active; "
          "says nominate a n / unreserve a" },
        { "Reserve says no",
          "node n 1; probe reserve refuses; pod a; run; says unreserve a / refused a; is a waiting; at 9000; "
          "node m 1; is a active" },
        { "Reserve fails",
          "node n 1; probe reserve errs; pod a; run; says unreserve a / error a; "
          "why running Reserve plugin \"Probe\": broken; is a error" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(waiting_pods_are_woken_by_what_may_help_them)
{
    static const struct sched_story_row rows[] = {
        { "a node has come",
          "pod a; run; is a error; node n 1; is a error; at 9000; tick; run; says refused a / bind a n" },
        { "a larger node",
          "node n 1; pod a cpu=2; run; is a waiting; node m 1; is a waiting; node m 2; is a backoff; run; "
          "says refused a / bind a m" },
        { "a node is open again",
          "node n 1 cordoned; pod a; run; is a waiting; node n 1; is a backoff; run; says refused a / bind a n" },
        { "a pod has finished",
          "node n 1; pod v node=n priority=5; pod a; run; is a waiting; pod v node=n priority=5 finished; "
          "is v gone; is a backoff; run; says refused a / bind a n" },
        { "a pod has been scaled down",
          "node n 2; pod v node=n cpu=2 priority=5; pod a; run; is a waiting; pod v node=n cpu=1 priority=5; "
          "is a backoff" },
        { "it wants less itself", "node n 1; pod a cpu=2; run; is a waiting; pod a cpu=1; is a backoff" },
        { "a port is free again",
          "node n 9; pod v node=n port=80; pod a port=80; run; is a waiting; delete v; is a backoff; run; "
          "says refused a / bind a n" },
        { "not by pods that had no node",
          "node n 9; pod v node=n port=80 priority=5; pod a port=80; run; pod x gates port=80; delete x; "
          "is a waiting" },
        { "a pod of somebody else's has left its node",
          "node n 1; pod v node=n scheduler=other priority=5; pod a; run; is a waiting; delete v; is a backoff" },
        { "a pod of somebody else's that has no node is not ours to place",
          "node n 1; pod a scheduler=other; idle; is a gone" },
        { "at the latest after five minutes",
          "node n 1; pod a cpu=2; run; is a waiting; at 301000; tick; is a waiting; at 331000; tick; is a active" },
        { "gates keep a pod out until they are gone",
          "node n 1; pod a gates; is a gated; idle; at 400000; tick; is a gated; pod a; is a active; run; "
          "says bind a n" },
        { "a pod that terminates is not tried",
          "node n 1; pod a terminating; run; says; is a gone; why skip schedule deleting pod: d/a" },
        { "an update that changes nothing of interest wakes nobody",
          "node n 1; pod a cpu=2; run; pod a cpu=2; is a waiting; pod a cpu=3; is a waiting" },
        { "a pod is placed by somebody else while it waits",
          "node n 1; pod a cpu=2; run; is a waiting; pod a cpu=2 node=n; is a placed; at 400000; tick; idle" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(every_kind_of_change_reaches_who_waits_for_it)
{
    static const struct sched_story_row rows[] = {
        { "a node went: its zone is not the emptiest any more",
          "node n 9 zone=a; node m 0 zone=b; pod v node=n web; pod a spread web; run; is a waiting; "
          "says refused a; unnode m; is a backoff; run; says bind a n" },
        { "a pod came that counts",
          "node n 9 zone=a; node m 0 zone=b; pod v node=n web; pod a spread web; run; is a waiting; "
          "pod w node=m web; is a backoff; run; says refused a / bind a n" },
        { "a pod was placed that waited before",
          "node n 9 zone=a; node m 0 zone=b; pod v node=n web; pod a spread web; run; pod w web cpu=9; run; "
          "is a waiting; pod w web cpu=9 node=m; is a backoff" },
        { "a pod on a node begins to count",
          "node n 9 zone=a; node m 0 zone=b; pod v node=n web; pod w node=m; pod a spread web; run; "
          "is a waiting; pod w node=m web; is a backoff; run; says refused a / bind a n" },
        { "a node moved to another zone",
          "node n 9 zone=a; node m 0 zone=b; pod v node=n web; pod a spread web; run; is a waiting; "
          "node m 0 zone=a; is a backoff; run; says refused a / bind a n" },
        { "its claim came",
          "node n 1; pod a claim=c; run; is a waiting; claim x; is a waiting; claim c; is a backoff; run; "
          "says refused a / bind a n" },
        { "a claim that is there already has changed: who only waits for new ones sleeps on",
          "node n 1; claim x; pod a claim=c; run; claim x; is a waiting" },
        { "a claim that went is not there any more",
          "node n 1; claim c; unclaim c; pod a claim=c; run; is a waiting; claim c; is a backoff" },
        { "something was detached",
          "node n 1; attach t; pod a claim=c; run; is a waiting; attach t; is a waiting; detach t; is a backoff" },
        { "what was not attached is not detached", "node n 1; pod a claim=c; run; detach t; is a waiting" },
        { "a node that is not there does not go", "node n 1; pod a spread web cpu=2; run; unnode m; is a waiting" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(the_cache_follows_the_watch)
{
    static const struct sched_story_row rows[] = {
        { "a pod on a node takes less room than before",
          "node n 2; pod v node=n cpu=2 priority=5; pod a; run; pod v node=n cpu=1 priority=5; run; "
          "says refused a / bind a n" },
        { "a pod is on another node than it was",
          "node n 1; node m 1; pod v node=n; pod w node=m; pod v node=n finished; pod w node=n; pod a; run; "
          "says bind a m" },
        { "an old version of a pod that waits is not looked at",
          "node n 1; pod a cpu=2; run; is a waiting; pod a cpu=1 unchanged; is a waiting" },
        { "a pod whose name was taken by another one keeps its place",
          "node n 2; pod a node=n; pod a uid=b; run; says bind a n; is a placed; is b assumed" },
        { "an unknown pod is not removed", "node n 1; pod v node=n priority=5; pod a; run; delete x; is a waiting" },
        { "a pod with a node that is not known counts when the node comes",
          "pod v node=n priority=5; node n 1; pod a; run; says refused a" },
    };
    SCHED_TELL(rows, NULL);
}

TEST(as_few_and_as_unimportant_pods_as_can_be_are_evicted)
{
    static const struct sched_story_row rows[] = {
        { "the least important one",
          "node n 3; pod a node=n priority=2; pod b node=n priority=1; pod c node=n priority=3; "
          "pod p priority=9; run; says evict b for p / refused p / nominate p n" },
        { "two, the more important one first",
          "node n 3; pod a node=n priority=2; pod b node=n priority=1; pod c node=n priority=3; "
          "pod p priority=9 cpu=2; run; says evict a for p / refused p / nominate p n; evicted a; "
          "says evict b for p" },
        { "one that is too small does not help and stays",
          "node n 3; pod a node=n priority=1; pod b node=n priority=2 cpu=2; pod p priority=9 cpu=2; run; "
          "says evict b for p / refused p / nominate p n" },
        { "nobody of the same or a higher priority",
          "node n 2; pod a node=n priority=9; pod b node=n priority=8; pod p priority=9 cpu=2; run; "
          "says refused p; "
          "why 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient "
          "cpu." },
        { "there is nobody lower",
          "node n 1; pod a node=n priority=9; pod p priority=9; run; says refused p; "
          "why 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption "
          "victims found for incoming pod." },
        { "the node whose most important victim is the least",
          "node n 2; node m 2; pod a node=n priority=1; pod b node=n priority=3; pod c node=m priority=2; "
          "pod d node=m priority=2; pod p priority=9 cpu=2; run; "
          "says evict c for p / refused p / nominate p m; evicted c; says evict d for p" },
        { "then the one with the smaller sum",
          "node n 2; node m 2; pod a node=n priority=1; pod b node=n priority=3; pod c node=m priority=2; "
          "pod d node=m priority=3; pod p priority=9 cpu=2; run; "
          "says evict b for p / refused p / nominate p n; evicted b; says evict a for p" },
        { "a budget is broken only where nothing else helps",
          "node n 1; node m 1; budget b 0; pod v node=n web; pod w node=m priority=5; pod p priority=9; run; "
          "says evict w for p / refused p / nominate p m" },
        { "and where nothing else helps it is",
          "node n 1; budget b 0; pod v node=n web; pod p priority=9; run; "
          "says evict v for p / refused p / nominate p n" },
        { "a budget that allows it is not broken",
          "node n 1; node m 1; budget b 1; pod v node=n web; pod w node=m priority=5; pod p priority=9; run; "
          "says evict v for p / refused p / nominate p n" },
        { "of two on a node the protected one stays, though less important",
          "node n 2; budget b 0; pod v node=n web priority=1; pod w node=n priority=2; pod p priority=9; run; "
          "says evict w for p / refused p / nominate p n" },
        { "a budget for one of two: the second would break it, and is kept",
          "node n 2; budget b 1; pod v node=n web priority=2; pod w node=n web priority=1; pod p priority=9; "
          "run; says evict v for p / refused p / nominate p n" },
        { "every budget counts",
          "node n 1; node m 1; budget b 1; budget c 0; pod v node=n web; pod w node=m priority=5; "
          "pod p priority=9; run; says evict w for p / refused p / nominate p m" },
        { "a pod that counts as evicted already breaks nothing",
          "node n 1; node m 1; budget b 0 but=v; pod v node=n web; pod w node=m priority=5; pod p priority=9; "
          "run; says evict v for p / refused p / nominate p n" },
        { "a pod that the budget does not select breaks nothing",
          "node n 1; node m 1; budget b 0; pod v node=n; pod w node=m priority=5; pod p priority=9; run; "
          "says evict v for p / refused p / nominate p n" },
        { "a budget that has changed is looked at",
          "node n 1; node m 1; budget b 0; pod v node=n web; pod w node=m priority=5; pod p priority=9; run; "
          "evicted w timeout; budget b 1; run; "
          "says evict w for p / refused p / nominate p m / evict v for p / refused p / nominate p n" },
        { "while its victim ends, a preemptor does not look for another",
          "node n 1; node m 1; pod v node=n; pod w node=m priority=5; pod p priority=9; run; evicted v; "
          "pod v node=n terminating disrupted; pod p priority=9 nominated=n; pod x node=m finished; at 400000; "
          "tick; run; says evict v for p / refused p / nominate p n / refused p; nominated p n; "
          "why 0/2 nodes are available: 2 Insufficient cpu. preemption: not eligible due to a terminating pod on "
          "the nominated node." },
        { "a pod that ends for another reason does not hold it back",
          "node n 1; node m 1; pod v node=n; pod w node=m priority=5; pod p priority=9 nominated=n; "
          "pod v node=n terminating; run; says refused p / nominate p n" },
        { "nor one of a higher priority",
          "node n 2; node m 1; pod v node=n priority=10; pod u node=n; pod w node=m priority=5; "
          "pod p priority=9 nominated=n; pod v node=n priority=10 terminating disrupted; run; "
          "says evict u for p / refused p / nominate p n" },
        { "nor one on a node that could not be used anyway",
          "node n 1 cordoned; node m 1; pod v node=n terminating disrupted; pod w node=m priority=5; "
          "pod p priority=9 nominated=n; run; says evict w for p / refused p / nominate p m" },
    };
    SCHED_TELL(rows, NULL);
}

static void want_few_candidates(struct sched_world *w)
{
    struct plugin_instance *p = &w->profile.instances[3];
    CHECK(p->plugin == &defaultpreemption_plugin);
    static const struct default_preemption_args few = { 40, 0 };
    struct err e;
    err_init(&e, &w->arena);
    if (p->plugin->fini)
        p->plugin->fini(p);
    CHECK_INT("init", p->plugin->init(p, &few, &e), ERR_OK);
}

TEST(as_many_nodes_are_tried_as_the_arguments_say)
{
    sched_tell("40 in a hundred of two nodes are none",
               "node n 1; node m 1; pod v node=n; pod w node=m; pod p priority=5; run; says refused p",
               want_few_candidates);
    sched_tell("of three they are one",
               "node n 1; node m 1; node k 1; pod v node=n; pod w node=m priority=9; pod x node=k priority=9; "
               "pod p priority=5; run; says evict v for p / refused p / nominate p n", want_few_candidates);
}
