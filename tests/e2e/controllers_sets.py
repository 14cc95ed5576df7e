#!/usr/bin/env python3
"""controllers_sets.py BERTH [STORY...] - stories of Jobs, CronJobs and StatefulSets against `berth apiserver --memory`: the test stands
in for the kubelets and sets the phase of pods.

With a URL (https://127.0.0.1:PORT) instead of BERTH the stories are told to a server that runs already, where "secret" is the token of an
administrator: that of the real control plane gives the same answers."""
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

URL = sys.argv[1] if sys.argv[1].startswith("https://") else None
BERTH = None if URL else os.path.abspath(sys.argv[1])
LIMIT = 60  # seconds that one step may take on a slow machine
TOKEN = "secret"
FINALIZER = "batch.kubernetes.io/job-tracking"
failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, shown))


class Server:
    def __init__(self, folder):
        self.url, self.process = URL, None
        if not URL:
            self.start(folder)

    def start(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w", encoding="utf-8") as f:
            f.write('%s,admin,1,"system:masters"\n' % TOKEN)
        self.log = os.path.join(folder, "log")
        self.process = subprocess.Popen(
            [BERTH, "apiserver", "--memory", "--bind-address=127.0.0.1", "--secure-port=%d" % port,
             "--token-auth-file=" + tokens, "--cert-dir=" + os.path.join(folder, "certs")],
            stdout=subprocess.PIPE, stderr=open(self.log, "w", encoding="utf-8"), text=True,
            env={"PATH": os.environ["PATH"], "HOME": folder})
        self.process.stdout.readline()
        self.url = "https://127.0.0.1:%d" % port

    def stop(self):
        if not self.process:
            return
        check(self.process.poll() is None, "the server still runs")
        self.process.kill()
        self.process.wait()
        if failures:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                print(f.read()[-2000:])

    def ask(self, method, path, body=None, kind="application/json"):
        headers = {"Content-Type": kind, "Authorization": "Bearer " + TOKEN}
        request = urllib.request.Request(self.url + path, method=method, headers=headers,
                                         data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=LIMIT) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as e:
            return e.code, json.loads(e.read())

    def must(self, *args, **more):
        code, answer = self.ask(*args, **more)
        if code >= 300:
            raise AssertionError("%s: %d %s" % (args[:2], code, json.dumps(answer)))
        return answer


class Space:
    """A namespace of its own for one story."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        server.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.until("the service account", lambda: server.ask("GET", "/api/v1/namespaces/%s/serviceaccounts/default" % name)[0] == 200)

    def path(self, plural, name=""):
        group = {"pods": "/api/v1", "events": "/api/v1", "persistentvolumeclaims": "/api/v1", "jobs": "/apis/batch/v1",
                 "cronjobs": "/apis/batch/v1"}.get(plural, "/apis/apps/v1")
        return "%s/namespaces/%s/%s%s" % (group, self.name, plural, "/" + name if name else "")

    def make(self, plural, name, spec, **meta):
        return self.server.must("POST", self.path(plural), {"metadata": {"name": name, **meta}, "spec": spec})

    def get(self, plural, name):
        return self.server.must("GET", self.path(plural, name))

    def items(self, plural):
        return self.server.must("GET", self.path(plural))["items"]

    def live(self):
        """Pods that have not ended and are not being deleted, by name."""
        return sorted((p for p in self.items("pods") if p["status"].get("phase") in ("Pending", "Running")
                       and "deletionTimestamp" not in p["metadata"]), key=lambda p: p["metadata"]["name"])

    def patch(self, plural, name, patch, sub=""):
        return self.server.must("PATCH", self.path(plural, name) + sub, patch, kind="application/merge-patch+json")

    def set_phase(self, pod, phase, code=0, ready=None):
        name = pod["metadata"]["name"]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        state = {"running": {"startedAt": now}}
        if phase in ("Succeeded", "Failed"):
            state = {"terminated": {"exitCode": code, "startedAt": now, "finishedAt": now}}
        ready = phase == "Running" if ready is None else ready
        self.patch("pods", name, {"status": {
            "phase": phase, "conditions": [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": now}],
            "containerStatuses": [{"name": "c", "image": "i", "imageID": "i", "restartCount": 0, "ready": ready, "state": state}]}}, "/status")

    def until(self, what, condition):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError("%s: %s did not come" % (self.name, what))

    def reasons(self, kind):
        return sorted(e["reason"] for e in self.items("events") if e["involvedObject"]["kind"] == kind)

    def condition(self, plural, name, condition):
        for c in self.get(plural, name)["status"].get("conditions", []):
            if c["type"] == condition and c["status"] == "True":
                return c
        return None


def template(policy="Never", **meta):
    return {"metadata": meta, "spec": {"restartPolicy": policy, "containers": [{"name": "c", "image": "i"}]}}


# ---- Jobs ----

def job_completes(s):
    s.make("jobs", "j", {"completions": 3, "parallelism": 2, "template": template()})
    pods = s.until("two pods", lambda: len(s.live()) == 2 and s.live())
    check(all(FINALIZER in p["metadata"]["finalizers"] for p in pods), "pods are tracked", pods)
    check(all(p["metadata"]["generateName"] == "j-" for p in pods), "names of pods", pods)
    status = s.until("the count", lambda: s.get("jobs", "j")["status"].get("active") == 2 and s.get("jobs", "j")["status"])
    check(status["ready"] == 0 and status["terminating"] == 0, "counts", status)
    s.set_phase(pods[0], "Running")
    s.until("one is ready", lambda: s.get("jobs", "j")["status"]["ready"] == 1)
    for p in pods:
        s.set_phase(p, "Succeeded")
    s.until("two succeeded", lambda: s.get("jobs", "j")["status"].get("succeeded") == 2)
    last = s.until("the third pod", s.live)
    check(len(last) == 1, "one is left to do", last)
    s.set_phase(last[0], "Succeeded")
    s.until("the end", lambda: s.condition("jobs", "j", "Complete"))
    job = s.get("jobs", "j")
    check([c["type"] for c in job["status"]["conditions"]] == ["SuccessCriteriaMet", "Complete"], "conditions", job["status"])
    check(all(c["reason"] == "CompletionsReached" for c in job["status"]["conditions"]), "reasons", job["status"])
    check(job["status"]["succeeded"] == 3 and "completionTime" in job["status"] and job["status"]["uncountedTerminatedPods"] == {},
          "status at the end", job["status"])
    check(not any(p["metadata"].get("finalizers") for p in s.items("pods")), "no finalizer is left", s.items("pods"))
    s.until("events", lambda: s.reasons("Job") == ["Completed"] + ["SuccessfulCreate"] * 3)


def job_indexed(s):
    s.make("jobs", "j", {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "template": template()})
    pods = s.until("three pods", lambda: len(s.live()) == 3 and s.live())
    for i, p in enumerate(pods):
        meta = p["metadata"]
        check(meta["generateName"] == "j-%d-" % i and meta["labels"]["batch.kubernetes.io/job-completion-index"] == str(i) and
              meta["annotations"]["batch.kubernetes.io/job-completion-index"] == str(i), "an index", meta)
        check(p["spec"]["hostname"] == "j-%d" % i and p["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX", "its pod", p["spec"])
    s.set_phase(pods[2], "Succeeded")
    s.set_phase(pods[0], "Succeeded")
    s.until("indexes", lambda: s.get("jobs", "j")["status"].get("completedIndexes") == "0,2")
    s.set_phase(pods[1], "Succeeded")
    s.until("the end", lambda: s.condition("jobs", "j", "Complete"))
    check(s.get("jobs", "j")["status"]["completedIndexes"] == "0-2", "all indexes", s.get("jobs", "j")["status"])


def job_fails(s):
    s.make("jobs", "j", {"backoffLimit": 0, "parallelism": 2, "completions": 2, "template": template()})
    pods = s.until("two pods", lambda: len(s.live()) == 2 and s.live())
    s.set_phase(pods[0], "Failed", 1)
    c = s.until("the end", lambda: s.condition("jobs", "j", "Failed"))
    check(c["reason"] == "BackoffLimitExceeded" and c["message"] == "Job has reached the specified backoff limit", "why", c)
    job = s.get("jobs", "j")
    check([c["type"] for c in job["status"]["conditions"]] == ["FailureTarget", "Failed"] and job["status"]["failed"] == 2, "status", job["status"])
    s.until("the event", lambda: "BackoffLimitExceeded" in s.reasons("Job"))


def job_policy(s):
    policy = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}
    s.make("jobs", "j", {"backoffLimit": 6, "podFailurePolicy": policy, "template": template()})
    pod = s.until("a pod", s.live)[0]
    s.set_phase(pod, "Failed", 42)
    c = s.until("the end", lambda: s.condition("jobs", "j", "Failed"))
    check(c["reason"] == "PodFailurePolicy" and "failed with exit code 42 matching FailJob rule at index 0" in c["message"], "why", c)


def job_suspends(s):
    s.make("jobs", "j", {"suspend": True, "parallelism": 2, "completions": 2, "template": template()})
    s.until("its condition", lambda: s.condition("jobs", "j", "Suspended"))
    check("startTime" not in s.get("jobs", "j")["status"] and not s.items("pods"), "it has not begun", s.get("jobs", "j"))
    s.patch("jobs", "j", {"spec": {"suspend": False}})
    s.until("two pods", lambda: len(s.live()) == 2)
    s.until("its beginning", lambda: "startTime" in s.get("jobs", "j")["status"])
    s.patch("jobs", "j", {"spec": {"suspend": True}})
    s.until("no pods", lambda: not s.items("pods"))
    s.until("its condition again", lambda: s.condition("jobs", "j", "Suspended"))
    check(s.get("jobs", "j")["status"].get("failed", 0) == 0, "suspended pods have not failed", s.get("jobs", "j")["status"])
    s.until("events", lambda: {"Suspended", "Resumed"} <= set(s.reasons("Job")))


def job_deadline(s):
    s.make("jobs", "j", {"activeDeadlineSeconds": 1, "template": template()})
    c = s.until("the end", lambda: s.condition("jobs", "j", "Failed"))
    check(c["reason"] == "DeadlineExceeded", "why", c)


def job_success_policy(s):
    s.make("jobs", "j", {"completions": 4, "parallelism": 4, "completionMode": "Indexed", "template": template(),
                         "successPolicy": {"rules": [{"succeededIndexes": "1-3", "succeededCount": 1}]}})
    pods = s.until("four pods", lambda: len(s.live()) == 4 and s.live())
    s.set_phase(pods[2], "Succeeded")
    c = s.until("the end", lambda: s.condition("jobs", "j", "Complete"))
    check(c["reason"] == "SuccessPolicy" and c["message"] == "Matched rules at index 0", "why", c)


def job_of_others(s):
    s.make("jobs", "j", {"managedBy": "example.com/other", "template": template()})
    s.make("jobs", "k", {"template": template()})
    s.until("a pod of the other job", s.live)
    check(len(s.live()) == 1 and "startTime" not in s.get("jobs", "j").get("status", {}), "it is left alone", s.items("pods"))


def job_scales(s):
    s.make("jobs", "j", {"parallelism": 4, "completions": 8, "template": template()})
    pods = s.until("four pods", lambda: len(s.live()) == 4 and s.live())
    s.set_phase(pods[1], "Running")
    s.patch("jobs", "j", {"spec": {"parallelism": 1}})
    left = s.until("one pod", lambda: len(s.live()) == 1 and s.live())
    check(left[0]["metadata"]["name"] == pods[1]["metadata"]["name"], "the one that runs stays", left)
    check(s.get("jobs", "j")["status"].get("failed", 0) == 0, "those that went have not failed", s.get("jobs", "j"))


def job_is_deleted(s):
    s.make("jobs", "j", {"parallelism": 3, "completions": 3, "template": template()})
    s.until("three pods", lambda: len(s.live()) == 3)
    s.server.must("DELETE", s.path("jobs", "j"), {"propagationPolicy": "Background"})
    s.until("no pods", lambda: not s.items("pods"))


def job_adopts(s):
    s.make("jobs", "j", {"suspend": True, "template": template()})
    labels = s.until("its labels", lambda: s.get("jobs", "j")["spec"]["template"]["metadata"].get("labels"))
    s.server.must("POST", s.path("pods"), {"metadata": {"name": "mine", "labels": labels}, "spec": template()["spec"]})
    s.until("the adopted pod is deleted", lambda: not s.items("pods"))


def job_expires(s):
    s.make("jobs", "j", {"ttlSecondsAfterFinished": 1, "template": template()})
    s.set_phase(s.until("a pod", s.live)[0], "Succeeded")
    s.until("the end", lambda: s.server.ask("GET", s.path("jobs", "j"))[0] == 404)
    s.until("no pods", lambda: not s.items("pods"))


# ---- CronJobs ----

HOUR = 3600


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def make_due(s, **spec):
    """A CronJob of the hour, which was due at the last full one."""
    s.make("cronjobs", "c", {"schedule": "0 * * * *", "timeZone": "Etc/UTC", "suspend": True, "jobTemplate": {"metadata": {"labels": {"l": "1"}},
                             "spec": {"template": template()}}, **spec})
    due = int(time.time()) // HOUR * HOUR
    s.patch("cronjobs", "c", {"status": {"lastScheduleTime": stamp(due - 2 * HOUR)}}, "/status")
    s.patch("cronjobs", "c", {"spec": {"suspend": False}})
    return due


def cron_starts(s):
    due = make_due(s)
    job = s.until("a job", lambda: s.items("jobs"))[0]
    check(job["metadata"]["name"] == "c-%d" % (due // 60), "its name", job["metadata"])
    check(job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] == stamp(due), "its time", job["metadata"])
    check(job["metadata"]["ownerReferences"][0]["kind"] == "CronJob" and job["metadata"]["labels"]["l"] == "1", "its owner", job["metadata"])
    status = s.until("the status", lambda: s.get("cronjobs", "c")["status"].get("active") and s.get("cronjobs", "c")["status"])
    check(status["active"][0]["uid"] == job["metadata"]["uid"] and status["active"][0]["kind"] == "Job" and
          status["lastScheduleTime"] == stamp(due), "what is active", status)
    s.set_phase(s.until("a pod", s.live)[0], "Succeeded")
    s.until("nothing is active", lambda: "active" not in s.get("cronjobs", "c")["status"])
    status = s.until("the success", lambda: s.get("cronjobs", "c")["status"].get("lastSuccessfulTime") and s.get("cronjobs", "c")["status"])
    check(len(s.items("jobs")) == 1, "one time, one job", s.items("jobs"))
    s.until("events", lambda: s.reasons("CronJob") == ["SawCompletedJob", "SuccessfulCreate"])


def run_another(s, policy):
    """A CronJob that is due, with a Job of its own that runs still."""
    due = make_due(s, concurrencyPolicy=policy)
    name = "c-%d" % (due // 60)
    s.until("a job", lambda: s.get("cronjobs", "c")["status"].get("active"))
    s.patch("cronjobs", "c", {"spec": {"suspend": True}})
    s.make("jobs", "old", {"template": template()}, ownerReferences=[
        {"apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "uid": s.get("cronjobs", "c")["metadata"]["uid"], "controller": True}])
    s.server.must("DELETE", s.path("jobs", name), {"propagationPolicy": "Background"})
    s.until("the first one is gone", lambda: s.server.ask("GET", s.path("jobs", name))[0] == 404)
    s.until("it is not active", lambda: "active" not in s.get("cronjobs", "c")["status"])
    s.patch("cronjobs", "c", {"status": {"lastScheduleTime": stamp(due - 2 * HOUR), "active": [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "old", "namespace": s.name, "uid": s.get("jobs", "old")["metadata"]["uid"]}]}}, "/status")
    s.patch("cronjobs", "c", {"spec": {"suspend": False}})
    return name


def cron_forbids(s):
    run_another(s, "Forbid")
    s.until("the event", lambda: "JobAlreadyActive" in s.reasons("CronJob"))
    check([j["metadata"]["name"] for j in s.items("jobs")] == ["old"], "nothing begins beside it", s.items("jobs"))


def cron_replaces(s):
    name = run_another(s, "Replace")
    s.until("the old one is gone", lambda: s.server.ask("GET", s.path("jobs", "old"))[0] == 404)
    s.until("a new one", lambda: [j["name"] for j in s.get("cronjobs", "c")["status"].get("active", [])] == [name])


def cron_cleans_up(s):
    make_due(s, successfulJobsHistoryLimit=0)
    s.set_phase(s.until("a pod", s.live)[0], "Succeeded")
    s.until("no job", lambda: not s.items("jobs"))
    s.until("no pods", lambda: not s.items("pods"))
    s.until("the events", lambda: s.reasons("CronJob") == ["SuccessfulCreate", "SuccessfulDelete"])


# ---- StatefulSets ----

def make_set(s, replicas, **spec):
    return s.make("statefulsets", "web", {"replicas": replicas, "serviceName": "svc", "selector": {"matchLabels": {"a": "b"}},
                                          "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, **spec})


def names(s):
    return [p["metadata"]["name"] for p in s.live()]


def run_when_there(s, name):
    pod = s.until(name, lambda: [p for p in s.live() if p["metadata"]["name"] == name and p["status"]["phase"] == "Pending"])[0]
    s.set_phase(pod, "Running")
    return pod


def settled(s, **want):
    def look():
        status = s.get("statefulsets", "web")["status"]
        return all(status.get(k, 0) == v for k, v in want.items()) and status
    return s.until("status %s" % want, look)


def set_in_order(s):
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    make_set(s, 3, volumeClaimTemplates=[claim])
    s.until("the first pod", lambda: names(s) == ["web-0"])
    time.sleep(0.3)
    check(names(s) == ["web-0"], "the second waits for the first", names(s))
    for i in range(3):
        pod = run_when_there(s, "web-%d" % i)
        check(pod["spec"]["hostname"] == "web-%d" % i and pod["spec"]["subdomain"] == "svc", "its host", pod["spec"])
        check(pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "web-%d" % i and
              pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == str(i), "its labels", pod["metadata"]["labels"])
        check(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == "data-web-%d" % i, "its claim", pod["spec"]["volumes"])
    status = settled(s, readyReplicas=3, availableReplicas=3, currentReplicas=3, updatedReplicas=3)
    revisions = s.items("controllerrevisions")
    check(len(revisions) == 1 and status["currentRevision"] == status["updateRevision"] == revisions[0]["metadata"]["name"], "revisions", status)
    check(revisions[0]["metadata"]["labels"]["controller.kubernetes.io/hash"] == status["currentRevision"][len("web-"):], "its hash", revisions)
    s.patch("statefulsets", "web", {"spec": {"replicas": 1}})
    s.until("the last ones are gone", lambda: names(s) == ["web-0"])
    settled(s, replicas=1)
    check(len(s.items("persistentvolumeclaims")) == 3, "claims stay", s.items("persistentvolumeclaims"))
    s.until("events", lambda: s.reasons("StatefulSet").count("SuccessfulDelete") == 2 and s.reasons("StatefulSet").count("SuccessfulCreate") == 6)


def set_in_parallel(s):
    make_set(s, 3, podManagementPolicy="Parallel", ordinals={"start": 5})
    s.until("all at once", lambda: names(s) == ["web-5", "web-6", "web-7"])
    s.patch("statefulsets", "web", {"spec": {"replicas": 0}})
    s.until("none", lambda: not names(s))


def set_rolls(s):
    make_set(s, 3, podManagementPolicy="Parallel")
    for i in range(3):
        run_when_there(s, "web-%d" % i)
    first = settled(s, readyReplicas=3, currentReplicas=3)["currentRevision"]
    s.patch("statefulsets", "web", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}},
                                             "template": {"spec": {"containers": [{"name": "c", "image": "new"}]}}}})
    pod = run_when_there(s, "web-2")
    check(pod["spec"]["containers"][0]["image"] == "new", "the last one first", pod["spec"])
    run_when_there(s, "web-1")
    status = settled(s, readyReplicas=3, updatedReplicas=2, currentReplicas=1)
    check(status["currentRevision"] == first != status["updateRevision"], "two revisions", status)
    check([p["spec"]["containers"][0]["image"] for p in s.live()] == ["i", "new", "new"], "the partition holds", names(s))
    s.server.must("DELETE", s.path("pods", "web-0"), {})
    pod = run_when_there(s, "web-0")
    check(pod["spec"]["containers"][0]["image"] == "i", "below the partition pods are made as they were", pod["spec"])
    s.patch("statefulsets", "web", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    s.until("the new one", lambda: [p["spec"]["containers"][0]["image"] for p in s.live()] == ["new"] * 3)
    run_when_there(s, "web-0")
    status = settled(s, readyReplicas=3, updatedReplicas=3, currentReplicas=3)
    check(status["currentRevision"] == status["updateRevision"], "the update is complete", status)
    s.patch("statefulsets", "web", {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    s.until("back", lambda: s.get("statefulsets", "web")["status"]["updateRevision"] == first)
    check(sorted(r["revision"] for r in s.items("controllerrevisions")) == [2, 3], "the old revision has a new number", s.items("controllerrevisions"))


def set_keeps_claims(s):
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    make_set(s, 2, podManagementPolicy="Parallel", volumeClaimTemplates=[claim],
             persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Delete"})
    run_when_there(s, "web-0")
    run_when_there(s, "web-1")
    s.until("owners", lambda: [c["metadata"].get("ownerReferences", [{}])[0].get("kind") for c in s.items("persistentvolumeclaims")] == ["StatefulSet"] * 2)
    s.patch("statefulsets", "web", {"spec": {"replicas": 1}})
    s.until("the claim of the last goes", lambda: [c["metadata"]["name"] for c in s.items("persistentvolumeclaims")
                                                   if "deletionTimestamp" not in c["metadata"]] == ["data-web-0"])


def set_heals(s):
    make_set(s, 1)
    pod = run_when_there(s, "web-0")
    s.set_phase(pod, "Failed", 1)
    s.until("another one", lambda: [p for p in s.live() if p["metadata"]["uid"] != pod["metadata"]["uid"]])
    run_when_there(s, "web-0")
    settled(s, readyReplicas=1)


STORIES = [set_in_order, set_in_parallel, set_rolls, set_keeps_claims, set_heals, cron_starts, cron_forbids, cron_replaces, cron_cleans_up, job_completes, job_indexed, job_fails, job_policy, job_suspends, job_deadline, job_success_policy, job_of_others, job_scales,
           job_is_deleted, job_adopts, job_expires]


def main():
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            for story in STORIES:
                if wanted and story.__name__ not in wanted:
                    continue
                space = Space(server, story.__name__.replace("_", "-"))
                try:
                    story(space)
                except AssertionError as e:
                    check(False, story.__name__, "%s\njobs: %s\npods: %s\nsets: %s" % (e, [j.get("status") for j in space.items("jobs")],
                                                                          [(p["metadata"], p["status"].get("phase")) for p in space.items("pods")],
                                                                          [x.get("status") for x in space.items("statefulsets")]))
        finally:
            server.stop()
    print("%d failures" % failures)
    sys.exit(failures > 0)


main()
