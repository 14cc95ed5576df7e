#!/usr/bin/env python3
"""controllers_replicas.py BERTH - stories of ReplicationControllers, ReplicaSets and Deployments in `berth apiserver`: created, scaled,
rolled, paused, undone, broken, deleted. There are no nodes: pods become Running and Ready by patches of their status. The last story
kills the process at random moments and counts."""
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BERTH = os.path.abspath(sys.argv[1])
LIMIT = 60  # seconds that one step may take on a slow machine
TOKEN = "secret"
CORE, APPS = "/api/v1/namespaces/%s/", "/apis/apps/v1/namespaces/%s/"
failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, shown))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, folder, *flags):
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w", encoding="utf-8") as f:
            f.write('%s,admin,1,"system:masters"\n' % TOKEN)
        self.log = open(os.path.join(folder, "log"), "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [BERTH, "apiserver", "--bind-address=127.0.0.1", "--secure-port=%d" % free_port(),
             "--token-auth-file=" + tokens, *flags],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env={"PATH": os.environ["PATH"], "HOME": folder})
        line = self.process.stdout.readline()
        self.url = line.split()[-1] if line else ""
        check(line.startswith("berth apiserver is ready at"), "it starts", line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, media="application/json"):
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": "Bearer " + TOKEN, "Content-Type": media})
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=LIMIT) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as e:
            return json.loads(e.read())

    def get(self, path):
        return self.ask("GET", path)

    def items(self, path):
        return self.get(path).get("items", [])

    def patch(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")


class Story:
    """One namespace."""

    def __init__(self, server, name):
        self.s, self.ns = server, name
        made = server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        check(made.get("kind") == "Namespace", "a namespace", made)

    def path(self, resource, name=""):
        root = APPS if resource in ("deployments", "replicasets") else CORE
        return root % self.ns + resource + ("/" + name if name else "")

    def create(self, resource, body):
        made = self.s.ask("POST", self.path(resource), body)
        check("uid" in made.get("metadata", {}), "%s: %s is made" % (self.ns, resource), made)
        return made

    def get(self, resource, name):
        return self.s.get(self.path(resource, name))

    def patch(self, resource, name, body):
        return self.s.patch(self.path(resource, name), body)

    def pods(self, **labels):
        found = [p for p in self.s.items(self.path("pods")) if "deletionTimestamp" not in p["metadata"]]
        return [p for p in found if all(p["metadata"].get("labels", {}).get(k) == v for k, v in labels.items())]

    def sets(self):
        return {r["spec"]["template"]["spec"]["containers"][0]["image"]: r for r in self.s.items(self.path("replicasets"))}

    def events(self, reason):
        return [e for e in self.s.items(self.path("events")) if e["reason"] == reason]

    def ready(self):
        for pod in self.pods():
            if pod["status"].get("phase") != "Running":
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                self.patch("pods", pod["metadata"]["name"] + "/status", {"status": {"phase": "Running", "conditions": [
                    {"type": "Ready", "status": "True", "lastTransitionTime": now}]}})

    def until(self, what, condition, each=None):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if each:
                each()
            if condition():
                return
            time.sleep(0.02)
        check(False, "%s: %s" % (self.ns, what), json.dumps(
            [self.s.items(self.path(r)) for r in ("deployments", "replicasets")] + [len(self.pods())], indent=1)[:6000])


def template(image="a", **labels):
    return {"metadata": {"labels": labels or {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": image}]}}


def replicas(kind, n, **more):
    selector = {"app": "web"} if kind == "ReplicationController" else {"matchLabels": {"app": "web"}}
    return {"metadata": {"name": "web"}, "spec": {"replicas": n, "selector": selector, "template": template(), **more}}


def sets_of_both_kinds(server):
    for kind, resource in (("ReplicaSet", "replicasets"), ("ReplicationController", "replicationcontrollers")):
        t = Story(server, resource)
        made = t.create(resource, replicas(kind, 5))
        status = lambda: t.get(resource, "web")["status"]
        t.until("five pods", lambda: status().get("replicas") == 5)
        pods = t.pods()
        check(len(pods) == 5, "exactly five", len(pods))
        owner = {"apiVersion": made["apiVersion"], "kind": kind, "name": "web", "uid": made["metadata"]["uid"], "controller": True,
                 "blockOwnerDeletion": True}
        check(all(p["metadata"]["ownerReferences"] == [owner] for p in pods), "owned", pods[0]["metadata"])
        check(all(p["metadata"]["generateName"] == "web-" for p in pods), "names are generated")
        t.until("all are ready", lambda: status().get("availableReplicas") == 5, t.ready)
        check(status()["readyReplicas"] == status()["fullyLabeledReplicas"] == 5, "status", status())
        check(("terminatingReplicas" in status()) == (kind == "ReplicaSet"), "terminating ones are counted for ReplicaSets", status())

        # The one that nobody would miss goes first.
        cheap = pods[3]["metadata"]["name"]
        t.patch("pods", cheap, {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-1"}}})
        t.patch(resource, "web", {"spec": {"replicas": 4}})
        t.until("one is gone", lambda: len(t.pods()) == 4 and status()["replicas"] == 4)
        check(cheap not in [p["metadata"]["name"] for p in t.pods()], "the cheapest")
        check(status()["observedGeneration"] == t.get(resource, "web")["metadata"]["generation"], "seen", status())

        # One that is deleted is replaced; one with other labels is released and replaced.
        gone, left = [p["metadata"]["name"] for p in t.pods()][:2]
        t.s.ask("DELETE", t.path("pods", gone))
        t.until("replaced", lambda: len(t.pods()) == 4 and gone not in [p["metadata"]["name"] for p in t.pods()])
        t.patch("pods", left, {"metadata": {"labels": {"app": "other"}}})
        t.until("released", lambda: not t.get("pods", left)["metadata"].get("ownerReferences"))
        t.until("and replaced", lambda: len(t.pods(app="web")) == 4)
        # And adopted when it comes back; then there is one too many.
        t.patch("pods", left, {"metadata": {"labels": {"app": "web"}, "annotations": {
            "controller.kubernetes.io/pod-deletion-cost": "10"}}})
        t.until("one too many goes", lambda: len(t.pods()) == 4 and status()["replicas"] == 4)
        t.until("told", lambda: t.events("SuccessfulCreate") and t.events("SuccessfulDelete"))
        e = t.events("SuccessfulCreate")[0]
        reporter = "replicaset-controller" if kind == "ReplicaSet" else "replication-controller"
        check(e["source"] == {"component": reporter} and e["reportingComponent"] == reporter, "who reports", e)
        check(e["involvedObject"]["uid"] == made["metadata"]["uid"] and e["message"].startswith("Created pod: web-"), "what", e)
        t.s.ask("DELETE", t.path(resource, "web"), {"propagationPolicy": "Background"})
        t.until("cascade", lambda: not t.pods())


def adoption(server):
    t = Story(server, "adoption")
    for i in range(3):
        t.create("pods", {"metadata": {"name": "p%d" % i, "labels": {"app": "web"}}, "spec": template()["spec"]})
    t.create("replicasets", replicas("ReplicaSet", 2))
    t.until("two of three stay", lambda: len(t.pods()) == 2)
    check(all(p["metadata"]["name"] in ("p0", "p1", "p2") for p in t.pods()), "none was made")
    t.s.ask("DELETE", t.path("replicasets", "web"), {"propagationPolicy": "Orphan"})
    t.until("orphaned", lambda: all(not p["metadata"].get("ownerReferences") for p in t.pods()))
    check(len(t.pods()) == 2, "they stay")


def quota(server):
    t = Story(server, "quota")
    t.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}})
    t.s.patch(t.path("resourcequotas", "q/status"), {"status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}})
    t.create("replicasets", replicas("ReplicaSet", 4))
    failing = lambda: [c for c in t.get("replicasets", "web")["status"].get("conditions", []) if c["type"] == "ReplicaFailure"]
    t.until("a failure is told", failing)
    check(failing()[0]["reason"] == "FailedCreate" and "exceeded quota" in failing()[0]["message"], "why", failing())
    t.until("by an event, too", lambda: t.events("FailedCreate"))
    check(len(t.pods()) <= 2, "as many as may be", len(t.pods()))
    t.s.ask("DELETE", t.path("resourcequotas", "q"))
    t.until("later all are there", lambda: len(t.pods()) == 4 and not failing())


def min_ready(server):
    t = Story(server, "min-ready")
    t.create("replicasets", replicas("ReplicaSet", 2, minReadySeconds=2))
    status = lambda: t.get("replicasets", "web")["status"]
    t.until("ready", lambda: status().get("readyReplicas") == 2, t.ready)
    check(status().get("availableReplicas", 0) == 0, "not available at once", status())
    t.until("available by itself", lambda: status().get("availableReplicas") == 2)


def deployment(n, strategy=None, **more):
    spec = {"replicas": n, "selector": {"matchLabels": {"app": "web"}}, "template": template("a"), **more}
    if strategy:
        spec["strategy"] = strategy
    return {"metadata": {"name": "web", "annotations": {"note": "x"}}, "spec": spec}


def rolling(surge, gone):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": gone}}


def condition(d, kind):
    return next((c for c in d["status"].get("conditions", []) if c["type"] == kind), {})


def set_image(t, image):
    t.patch("deployments", "web", {"spec": {"template": template(image)}})


def is_rolled_out(t, image, n):
    d = t.get("deployments", "web")
    s = d["status"]
    return (s.get("observedGeneration") == d["metadata"]["generation"] and s.get("replicas", 0) == s.get("updatedReplicas", 0) ==
            s.get("availableReplicas", 0) == n and image in t.sets() and condition(d, "Progressing").get("reason") == "NewReplicaSetAvailable")


def roll(server):
    t = Story(server, "roll")
    t.create("deployments", deployment(4, rolling(1, 1), revisionHistoryLimit=2))
    t.until("rolled out", lambda: is_rolled_out(t, "a", 4), t.ready)
    first = t.sets()["a"]
    label = first["metadata"]["labels"]["pod-template-hash"]
    check(first["metadata"]["name"] == "web-" + label and first["spec"]["selector"]["matchLabels"] == {
        "app": "web", "pod-template-hash": label}, "name and selector", first)
    check(first["metadata"]["annotations"] == {"note": "x", "deployment.kubernetes.io/revision": "1",
                                               "deployment.kubernetes.io/desired-replicas": "4",
                                               "deployment.kubernetes.io/max-replicas": "5"}, "annotations", first["metadata"])
    most, fewest = [0], [99]

    def watch():
        t.ready()
        pods = t.pods()
        most[0] = max(most[0], len(pods))
        fewest[0] = min(fewest[0], t.get("deployments", "web")["status"].get("availableReplicas", 0))

    set_image(t, "b")
    t.until("rolled to b", lambda: is_rolled_out(t, "b", 4), watch)
    check(most[0] <= 5 and fewest[0] >= 3, "never more than the surge allows, nor fewer", (most, fewest))
    check(t.sets()["a"]["spec"]["replicas"] == 0, "the old one is empty")
    check(t.get("deployments", "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2", "revision 2")
    # kubectl rollout undo: the template of the older revision.
    set_image(t, "a")
    t.until("undone", lambda: is_rolled_out(t, "a", 4), t.ready)
    again = t.sets()["a"]["metadata"]
    check(again["uid"] == first["metadata"]["uid"], "the same ReplicaSet", again)
    check(again["annotations"]["deployment.kubernetes.io/revision"] == "3" and
          again["annotations"]["deployment.kubernetes.io/revision-history"] == "1", "history", again["annotations"])
    for image in "cde":
        set_image(t, image)
        t.until("rolled to " + image, lambda: is_rolled_out(t, image, 4), t.ready)
    t.until("two old ones are kept", lambda: sorted(t.sets()) == ["c", "d", "e"])
    t.until("told", lambda: t.events("ScalingReplicaSet"))
    # A size that changes within a rollout.
    set_image(t, "f")
    t.until("it has begun", lambda: t.sets().get("f", {}).get("spec", {}).get("replicas"))
    t.patch("deployments", "web", {"spec": {"replicas": 8}})
    t.until("grown and rolled", lambda: is_rolled_out(t, "f", 8), t.ready)
    t.patch("deployments", "web", {"spec": {"replicas": 0}})
    t.until("scaled to nothing", lambda: is_rolled_out(t, "f", 0) and not t.pods())
    t.s.ask("DELETE", t.path("deployments", "web"), {"propagationPolicy": "Foreground"})
    t.until("all is gone", lambda: t.get("deployments", "web").get("code") == 404 and not t.sets())


def pause(server):
    t = Story(server, "pause")
    t.create("deployments", deployment(2))
    t.until("rolled out", lambda: is_rolled_out(t, "a", 2), t.ready)
    t.patch("deployments", "web", {"spec": {"paused": True, "template": template("b")}})
    t.until("it says so", lambda: condition(t.get("deployments", "web"), "Progressing").get("reason") == "DeploymentPaused")
    t.patch("deployments", "web", {"spec": {"replicas": 3}})
    t.until("scaled while paused", lambda: t.get("deployments", "web")["status"].get("availableReplicas") == 3, t.ready)
    check(list(t.sets()) == ["a"], "nothing is rolled", list(t.sets()))
    t.patch("deployments", "web", {"spec": {"paused": False}})
    t.until("resumed", lambda: is_rolled_out(t, "b", 3), t.ready)


def recreate(server):
    t = Story(server, "recreate")
    t.create("deployments", deployment(3, {"type": "Recreate"}))
    t.until("rolled out", lambda: is_rolled_out(t, "a", 3), t.ready)
    seen = set()

    def watch():
        seen.add(frozenset(p["spec"]["containers"][0]["image"] for p in t.pods()))
        t.ready()

    set_image(t, "b")
    t.until("recreated", lambda: is_rolled_out(t, "b", 3), watch)
    check(frozenset("ab") not in seen, "never both", seen)


def deadline(server):
    t = Story(server, "deadline")
    t.create("deployments", deployment(1, progressDeadlineSeconds=2, minReadySeconds=0))
    t.until("it times out", lambda: condition(t.get("deployments", "web"), "Progressing").get("reason") == "ProgressDeadlineExceeded")
    check(condition(t.get("deployments", "web"), "Available")["status"] == "False", "not available")
    t.until("and still ends well", lambda: is_rolled_out(t, "a", 1), t.ready)


def collision(server):
    t = Story(server, "collision")
    t.create("deployments", deployment(1))
    t.until("made", lambda: "a" in t.sets())
    name = t.sets()["a"]["metadata"]["name"]
    t.s.ask("DELETE", t.path("deployments", "web"), {"propagationPolicy": "Background"})
    t.until("gone", lambda: not t.sets())
    other = replicas("ReplicaSet", 0, template=template("z", app="other"), selector={"matchLabels": {"app": "other"}})
    other["metadata"]["name"] = name
    t.create("replicasets", other)
    t.create("deployments", deployment(1))
    t.until("another name", lambda: "a" in t.sets() and t.get("deployments", "web")["status"].get("collisionCount") == 1)
    check(t.sets()["a"]["metadata"]["name"] != name, "another hash", name)


def kills():
    """Nothing is made twice or forgotten, whenever the process dies."""
    chance = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--data-dir=" + os.path.join(folder, "data"),)
        names = ["d%d" % i for i in range(6)]
        with Server(folder, *flags) as s:
            t = Story(s, "kills")
            for name in names:
                body = deployment(10)
                body["metadata"]["name"] = name
                body["spec"]["selector"]["matchLabels"] = body["spec"]["template"]["metadata"]["labels"] = {"app": name}
                t.create("deployments", body)
            time.sleep(chance.random() * 0.05)
            s.process.send_signal(signal.SIGKILL)
        for _ in range(6):
            with Server(folder, *flags) as s:
                t.s = s
                t.patch("deployments", chance.choice(names), {"spec": {"replicas": chance.randint(5, 40)}})
                time.sleep(chance.random() * 0.1)
                s.process.send_signal(signal.SIGKILL)
        with Server(folder, *flags) as s:
            t.s = s
            wanted = {name: t.get("deployments", name)["spec"]["replicas"] for name in names}
            right = lambda: all(len(t.pods(app=name)) == wanted[name] for name in names)
            t.until("as many as are wanted", right)
            time.sleep(0.5)
            check(right() and len(t.s.items(t.path("replicasets"))) == len(names), "and it stays so", wanted)


def main():
    with tempfile.TemporaryDirectory() as folder:
        with Server(folder, "--memory") as server:
            for story in (sets_of_both_kinds, adoption, quota, min_ready, roll, pause, recreate, deadline, collision):
                story(server)
            server.process.send_signal(signal.SIGTERM)
            check(server.process.wait(LIMIT) == 0, "it ends well")
    kills()
    print("controllers: %s" % ("%d failures" % failures if failures else "all stories end well"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
