"""Stories of Jobs and CronJobs."""
import calendar
import time

from controller_story import story


def template(policy="Never", **more):
    return {"spec": {"restartPolicy": policy, "containers": [{"name": "c", "image": "i"}], **more}}


def job(w, n_pods=1, name="j", policy="Never", **spec):
    w.make("jobs", name, dict({"template": template(policy)}, **spec))
    if n_pods:
        w.until("%d pods" % n_pods, lambda: len(w.live()) == n_pods)
        w.until("counted", lambda: w.status("jobs", name).get("active") == n_pods)
    return w.live()


def at_index(pod):
    return int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"])


def indexed(w, n, **spec):
    """The pods by their index."""
    return sorted(job(w, n, completions=n, parallelism=n, completionMode="Indexed", **spec), key=at_index)


def ends(w, condition="Complete", name="j"):
    w.until(condition, lambda: w.condition("jobs", name, condition))
    w.until("no pod is held", lambda: not any(p["metadata"].get("finalizers") for p in w.items("pods")))


def count(w, **want):
    w.until("%s" % want, lambda: all(w.status("jobs", "j").get(k, 0) == v for k, v in want.items()))


# ---- Jobs that come to an end ----

@story()
def job_completes(w):
    pods = job(w, 2, completions=3, parallelism=2)
    w.set_phase(pods[0], "Running")
    count(w, ready=1)
    for p in pods:
        w.set_phase(p, "Succeeded")
    count(w, succeeded=2)
    w.set_phase(w.until("the third", w.live)[0], "Succeeded")
    ends(w)


@story()
def job_pending(w):
    job(w, 3, parallelism=3, completions=5)


@story()
def job_indexed(w):
    pods = indexed(w, 4)
    for i in (2, 0):
        w.set_phase(pods[i], "Succeeded")
    count(w, completedIndexes="0,2")
    for i in (1, 3):
        w.set_phase(pods[i], "Succeeded")
    ends(w)


@story()
def job_from_a_queue(w):
    """Without completions, one success is the end of it, when the others have ended, too."""
    pods = job(w, 3, parallelism=3)
    w.set_phase(pods[0], "Succeeded")
    count(w, succeeded=1)
    w.stays("no new ones", lambda: len(w.items("pods")) == 3)
    for p in pods[1:]:
        w.set_phase(p, "Succeeded")
    ends(w)


@story()
def job_without_work(w):
    job(w, 0, completions=0)
    ends(w)


@story()
def job_fails(w):
    pods = job(w, 2, backoffLimit=0, parallelism=2, completions=2)
    w.set_phase(pods[0], "Failed", 1)
    ends(w, "Failed")


@story()
def job_tries_again(w):
    """The next pod comes after a while."""
    pods = job(w, 1, backoffLimit=2)
    w.set_phase(pods[0], "Failed", 3)
    count(w, failed=1)
    w.set_phase(w.until("the next", w.live)[0], "Succeeded")
    ends(w)


@story()
def job_restarts_in_place(w):
    """With OnFailure the restarts of containers are counted."""
    pods = job(w, 1, policy="OnFailure", backoffLimit=2)
    w.set_phase(pods[0], "Running", restarts=3)
    ends(w, "Failed")


@story()
def job_deadline(w):
    job(w, 1, activeDeadlineSeconds=1)
    ends(w, "Failed")


# ---- Policies ----

def rule(action, **more):
    return {"rules": [dict({"action": action}, **(more or {"onExitCodes": {"operator": "In", "values": [42]}}))]}


@story()
def job_policy_fails_it(w):
    w.set_phase(job(w, 2, parallelism=2, completions=2, podFailurePolicy=rule("FailJob"))[0], "Failed", 42)
    ends(w, "Failed")


@story()
def job_policy_ignores(w):
    policy = rule("Ignore", onPodConditions=[{"type": "DisruptionTarget", "status": "True"}])
    pod = job(w, 1, backoffLimit=0, podFailurePolicy=policy)[0]
    w.set_phase(pod, "Failed", 1, conditions=[{"type": "DisruptionTarget", "status": "True"}])
    w.set_phase(w.until("another", w.live)[0], "Succeeded")
    ends(w)


@story()
def job_policy_counts(w):
    w.set_phase(job(w, 1, backoffLimit=0, podFailurePolicy=rule("Count"))[0], "Failed", 42)
    ends(w, "Failed")


@story()
def job_policy_fails_an_index(w):
    pods = indexed(w, 3, backoffLimitPerIndex=1, podFailurePolicy=rule("FailIndex"))
    w.set_phase(pods[1], "Failed", 42)
    count(w, failedIndexes="1")
    for i in (0, 2):
        w.set_phase(pods[i], "Succeeded")
    ends(w, "Failed")


@story()
def job_back_off_of_an_index(w):
    pods = indexed(w, 2, backoffLimitPerIndex=1)
    w.set_phase(pods[0], "Failed", 1)
    again = w.until("again", lambda: [p for p in w.live() if at_index(p) == 0])[0]
    w.set_phase(again, "Failed", 1)
    count(w, failedIndexes="0")
    w.set_phase(pods[1], "Succeeded")
    ends(w, "Failed")


@story()
def job_too_many_failed_indexes(w):
    pods = indexed(w, 4, backoffLimitPerIndex=0, maxFailedIndexes=1)
    for i in (0, 3):
        w.set_phase(pods[i], "Failed", 1)
    ends(w, "Failed")


@story()
def job_success_policy(w):
    pods = indexed(w, 4, successPolicy={"rules": [{"succeededIndexes": "1-3", "succeededCount": 1}]})
    w.set_phase(pods[2], "Succeeded")
    ends(w)


@story()
def job_success_policy_all_of(w):
    pods = indexed(w, 3, successPolicy={"rules": [{"succeededCount": 3}, {"succeededIndexes": "0,2"}]})
    for i in (0, 2):
        w.set_phase(pods[i], "Succeeded")
    ends(w)


# ---- What users do ----

@story()
def job_suspends(w):
    job(w, 0, suspend=True, parallelism=2, completions=2)
    w.until("suspended", lambda: w.condition("jobs", "j", "Suspended"))
    w.patch("jobs", "j", {"spec": {"suspend": False}})
    w.until("two pods", lambda: len(w.live()) == 2)
    count(w, active=2)
    w.patch("jobs", "j", {"spec": {"suspend": True}})
    w.until("no pods", lambda: not w.items("pods"))
    w.until("suspended", lambda: w.condition("jobs", "j", "Suspended"))
    count(w, active=0, terminating=0)


@story()
def job_resumes(w):
    job_suspends(w)
    w.patch("jobs", "j", {"spec": {"suspend": False}})
    for p in w.until("two pods", lambda: len(w.live()) == 2 and w.live()):
        w.set_phase(p, "Succeeded")
    ends(w)


@story()
def job_scales(w):
    pods = job(w, 4, parallelism=4, completions=8)
    w.set_phase(pods[1], "Running")
    count(w, ready=1)
    w.patch("jobs", "j", {"spec": {"parallelism": 1}})
    w.until("one pod", lambda: len(w.items("pods")) == 1)
    w.patch("jobs", "j", {"spec": {"parallelism": 2}})
    w.until("two pods", lambda: len(w.live()) == 2)
    count(w, active=2, terminating=0)


@story()
def job_grows(w):
    """An indexed Job may become larger and smaller with its parallelism."""
    indexed(w, 2)
    w.patch("jobs", "j", {"spec": {"completions": 4, "parallelism": 4}})
    w.until("four", lambda: len(w.live()) == 4)
    w.patch("jobs", "j", {"spec": {"completions": 1, "parallelism": 1}})
    w.until("one", lambda: len(w.items("pods")) == 1)
    w.set_phase(w.live()[0], "Succeeded")
    ends(w)


@story()
def job_pod_deleted(w):
    """It has failed; another one comes."""
    pod = job(w, 1)[0]
    w.delete("pods", pod["metadata"]["name"], grace=0)
    w.until("another", lambda: [p for p in w.live() if p["metadata"]["uid"] != pod["metadata"]["uid"]])
    count(w, active=1, failed=1)


@story()
def job_pod_going(w):
    """Where pods are replaced only once they have failed, one that is going is waited for."""
    node = w.node("n")
    pod = job(w, 1, podReplacementPolicy="Failed", template=template(nodeName=node))[0]
    w.delete("pods", pod["metadata"]["name"])
    count(w, terminating=1)
    w.stays("no other", lambda: len(w.items("pods")) == 1)


@story()
def job_pod_going_replaced(w):
    node = w.node("n")
    pod = job(w, 1, template=template(nodeName=node))[0]
    w.delete("pods", pod["metadata"]["name"])
    w.until("another", lambda: len(w.live()) == 1 and len(w.items("pods")) == 2)
    count(w, terminating=1, active=1)


@story()
def job_of_others(w):
    job(w, 0, name="theirs", managedBy="example.com/other")
    job(w, 1)


@story()
def job_deleted(w):
    job(w, 3, parallelism=3, completions=3)
    w.delete("jobs", "j")
    w.until("no pods", lambda: not w.items("pods"))


@story()
def job_orphans(w):
    job(w, 2, parallelism=2, completions=2)
    w.delete("jobs", "j", "Orphan")
    w.gone("jobs", "j")
    w.until("nobody's", lambda: not any(p["metadata"].get("ownerReferences") or p["metadata"].get("finalizers") for p in w.items("pods")))


@story()
def job_adopts(w):
    """A pod that fits comes to a Job; here that one wants none."""
    job(w, 0, suspend=True)
    labels = w.until("its labels", lambda: w.get("jobs", "j")["spec"]["template"]["metadata"].get("labels"))
    w.make("pods", "mine", template()["spec"], {"labels": labels})
    w.until("taken and deleted", lambda: not w.items("pods"))


@story()
def job_releases(w):
    """A pod whose labels do not fit any more goes its own way."""
    pod = job(w, 1)[0]
    w.patch("pods", pod["metadata"]["name"], {"metadata": {"labels": {k: None for k in pod["metadata"]["labels"]}}})
    w.until("another", lambda: len(w.live()) == 2)
    w.until("released", lambda: not w.get("pods", pod["metadata"]["name"])["metadata"].get("ownerReferences"))
    count(w, active=1)


@story()
def job_expires(w):
    w.set_phase(job(w, 1, ttlSecondsAfterFinished=1)[0], "Succeeded")
    w.gone("jobs", "j")
    w.until("no pods", lambda: not w.items("pods"))


@story()
def job_expires_at_once(w):
    w.set_phase(job(w, 1, backoffLimit=0, ttlSecondsAfterFinished=0)[0], "Failed", 1)
    w.gone("jobs", "j")
    w.until("no pods", lambda: not w.items("pods"))


@story()
def job_expires_later(w):
    """The time is given when it has ended already."""
    w.set_phase(job(w, 1)[0], "Succeeded")
    ends(w)
    w.patch("jobs", "j", {"spec": {"ttlSecondsAfterFinished": 3600}})
    w.stays("there", lambda: w.find("jobs", "j"))
    w.patch("jobs", "j", {"spec": {"ttlSecondsAfterFinished": 0}})
    w.gone("jobs", "j")


@story()
def job_manual_selector(w):
    labels = {"mine": "yes"}
    w.make("jobs", "j", {"manualSelector": True, "selector": {"matchLabels": labels}, "template": dict(template(), metadata={"labels": labels})})
    w.until("a pod", w.live)
    w.set_phase(w.live()[0], "Succeeded")
    ends(w)


@story()
def job_quota(w):
    w.make("resourcequotas", "q", {"hard": {"pods": "1"}})
    w.until("counted", lambda: w.status("resourcequotas", "q").get("used"))
    w.make("jobs", "j", {"parallelism": 2, "completions": 2, "template": template()})
    w.until("told", lambda: w.told("FailedCreate"))
    count(w, active=1)
    w.hidden.add("events")  # names of pods that were not made


# ---- CronJobs ----

DAY = 24 * 3600


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def last_due():
    """New year: the next one is far away, and the last one is over."""
    return calendar.timegm((time.gmtime().tm_year, 1, 1, 0, 0, 0))


def cron(w, **spec):
    """A CronJob of the new year, which was due and not seen."""
    w.make("cronjobs", "c", dict({"schedule": "0 0 1 1 *", "timeZone": "Etc/UTC", "suspend": True, "jobTemplate": {
        "metadata": {"labels": {"l": "1"}, "annotations": {"a": "2"}}, "spec": {"template": template()}}}, **spec))
    w.patch("cronjobs", "c/status", {"status": {"lastScheduleTime": stamp(last_due() - DAY)}})
    w.patch("cronjobs", "c", {"spec": {"suspend": False}})


def job_of_cron(w):
    w.until("a job", lambda: w.items("jobs"))
    return w.until("a pod", w.live)[0]


def active(w):
    return [j["name"] for j in w.status("cronjobs", "c").get("active", [])]


@story()
def cron_starts(w):
    cron(w)
    job_of_cron(w)
    w.until("active", lambda: active(w))


@story()
def cron_succeeds(w):
    cron(w)
    pod = job_of_cron(w)
    w.until("active", lambda: active(w))
    w.set_phase(pod, "Succeeded")
    w.until("the success", lambda: not active(w) and w.status("cronjobs", "c").get("lastSuccessfulTime"))


@story()
def cron_fails(w):
    cron(w, jobTemplate={"spec": {"backoffLimit": 0, "template": template()}})
    pod = job_of_cron(w)
    w.until("active", lambda: active(w))
    w.set_phase(pod, "Failed", 1)
    w.until("the end", lambda: not active(w) and w.told("SawCompletedJob"))


@story()
def cron_suspended(w):
    w.make("cronjobs", "c", {"schedule": "* * * * *", "suspend": True, "jobTemplate": {"spec": {"template": template()}}})
    w.stays("without jobs", lambda: not w.items("jobs"))


@story()
def cron_not_due(w):
    w.make("cronjobs", "c", {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template()}}})
    w.stays("without jobs", lambda: not w.items("jobs"))


@story()
def cron_too_late(w):
    """What should have begun longer ago than this does not begin."""
    cron(w, startingDeadlineSeconds=60)
    w.stays("without jobs", lambda: not w.items("jobs"))


@story()
def cron_missed_many(w):
    """More than a hundred times: it is told, and the last one is made up for."""
    w.make("cronjobs", "c", {"schedule": "0 0 1 * *", "timeZone": "Etc/UTC", "suspend": True,
                             "jobTemplate": {"spec": {"template": template()}}})
    w.patch("cronjobs", "c/status", {"status": {"lastScheduleTime": stamp(last_due() - 20 * 365 * DAY)}})
    w.patch("cronjobs", "c", {"spec": {"suspend": False}})
    job_of_cron(w)
    w.until("told", lambda: w.told("TooManyMissedTimes"))
    w.until("active", lambda: active(w))


def beside_another(w, policy):
    """A CronJob that is due, with a Job of its own that runs still."""
    cron(w, concurrencyPolicy=policy)
    job_of_cron(w)
    w.until("active", lambda: active(w))
    first = w.items("jobs")[0]["metadata"]["name"]
    w.patch("cronjobs", "c", {"spec": {"suspend": True}})
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "uid": w.get("cronjobs", "c")["metadata"]["uid"], "controller": True}
    old = w.make("jobs", "old", {"template": template()}, {"ownerReferences": [owner]}) or w.get("jobs", "old")
    w.delete("jobs", first)
    w.gone("jobs", first)
    w.until("not active", lambda: not active(w))
    w.until("its pod", lambda: len(w.items("pods")) == 1)
    w.patch("cronjobs", "c/status", {"status": {"lastScheduleTime": stamp(last_due() - DAY), "active": [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "old", "namespace": w.ns, "uid": old["metadata"]["uid"]}]}})
    w.patch("cronjobs", "c", {"spec": {"suspend": False}})


@story()
def cron_forbids(w):
    beside_another(w, "Forbid")
    w.until("told", lambda: w.told("JobAlreadyActive"))


@story()
def cron_replaces(w):
    beside_another(w, "Replace")
    w.gone("jobs", "old")
    w.until("a new one", lambda: active(w) and active(w) != ["old"])
    w.until("its pod", lambda: len(w.items("pods")) == 1)


@story()
def cron_allows(w):
    beside_another(w, "Allow")
    w.until("both", lambda: len(active(w)) == 2)
    w.until("their pods", lambda: len(w.items("pods")) == 2)


@story()
def cron_keeps_no_history(w):
    cron(w, successfulJobsHistoryLimit=0)
    pod = job_of_cron(w)
    w.until("active", lambda: active(w))
    w.set_phase(pod, "Succeeded")
    w.until("no job", lambda: not w.items("jobs"))
    w.until("no pods", lambda: not w.items("pods"))
    w.until("told", lambda: w.told("SuccessfulDelete"))


@story()
def cron_active_is_gone(w):
    """Somebody deletes the Job that runs."""
    cron(w)
    job_of_cron(w)
    name = w.until("active", lambda: active(w))[0]
    w.delete("jobs", name)
    w.until("not active", lambda: not active(w))
    w.until("no pods", lambda: not w.items("pods"))
    w.hidden.add("events")  # whether the last status was written before or after


@story()
def cron_deleted(w):
    cron(w)
    job_of_cron(w)
    w.delete("cronjobs", "c")
    w.until("no jobs", lambda: not w.items("jobs") and not w.items("pods"))


@story()
def cron_finds_a_job(w):
    """The Job of its name is there already, and somebody else's."""
    w.make("jobs", "c-%d" % (last_due() // 60), {"suspend": True, "template": template()})
    cron(w)
    w.stays("its own", lambda: len(w.items("jobs")) == 1)
