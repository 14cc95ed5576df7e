#!/usr/bin/env python3
"""controllers_replicas.py - the same stories for the real kube-controller-manager on the real kube-apiserver and for berth's controllers on
berth's API server; then the objects that remain are compared: specs, status, conditions, annotations, owners, names and Events. What
is random or a time is normalised: uids, versions, timestamps, the last part of names of pods.

    BERTH=build/berth tests/peers/controllers_replicas.py [STORY...]
"""
import difflib
import json
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from api import Api, MERGE_PATCH  # noqa: E402
from trio import TOKEN, Trio, berth_program, end, find_peers, launch, take_port  # noqa: E402

LIMIT = 90
KINDS = ("deployments", "replicasets", "replicationcontrollers", "pods", "events")
CONTROLLERS = ("deployment-controller", "replicaset-controller", "replicationcontroller-controller", "garbage-collector-controller",
               "namespace-controller")
DROPPED = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "observedGeneration", "lastTransitionTime",
           "lastUpdateTime", "lastTimestamp", "firstTimestamp", "eventTime", "deletionTimestamp", "count")


class World:
    """One namespace of one of the two."""

    def __init__(self, api, namespace):
        self.api, self.ns = api, namespace
        api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})

    def path(self, kind, name=""):
        root = "/apis/apps/v1" if kind in ("deployments", "replicasets") else "/api/v1"
        return "%s/namespaces/%s/%s%s" % (root, self.ns, kind, "/" + name if name else "")

    def create(self, kind, body):
        return self.api.create(self.path(kind), body)

    def patch(self, kind, name, body):
        return self.api.call("PATCH", self.path(kind, name), body, kind=MERGE_PATCH)

    def delete(self, kind, name, policy="Background"):
        return self.api.call("DELETE", self.path(kind, name), {"propagationPolicy": policy}, also=(404,))

    def get(self, kind, name):
        return self.api.get(self.path(kind, name))

    def pods(self):
        return [p for p in self.api.items(self.path("pods")) if "deletionTimestamp" not in p["metadata"]]

    def ready(self):
        for pod in self.pods():
            if pod["status"].get("phase") != "Running":
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                self.patch("pods", pod["metadata"]["name"] + "/status", {"status": {"phase": "Running", "conditions": [
                    {"type": "Ready", "status": "True", "lastTransitionTime": now}]}})

    def until(self, what, condition, each=None):
        stop = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > stop:
                raise AssertionError("%s: never %s" % (self.ns, what))
            if each:
                each()
            time.sleep(0.05)

    def rolled(self, n, image=None):
        def is_so():
            d = self.get("deployments", "web")
            s = d["status"]
            sets = self.api.items(self.path("replicasets"))
            new = [r for r in sets if r["spec"]["template"]["spec"]["containers"][0]["image"] ==
                   d["spec"]["template"]["spec"]["containers"][0]["image"]]
            return (s.get("observedGeneration") == d["metadata"]["generation"] and new and s.get("replicas", 0) ==
                    s.get("updatedReplicas", 0) == s.get("availableReplicas", 0) == n == len(self.pods()) and
                    any(c.get("reason") == "NewReplicaSetAvailable" for c in s.get("conditions", [])))
        self.until("rolled out to %s" % image, is_so, self.ready)


def template(image="a"):
    return {"metadata": {"labels": {"app": "web"}, "annotations": {"t": "1"}}, "spec": {"containers": [
        {"name": "c", "image": image, "resources": {"requests": {"cpu": "0.25", "memory": "1.5Gi"}}}]}}


def deployment(n, strategy=None, **more):
    spec = {"replicas": n, "selector": {"matchLabels": {"app": "web"}}, "template": template(), **more}
    spec["strategy"] = strategy or {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return {"metadata": {"name": "web", "annotations": {"note": "x"}}, "spec": spec}


def image(w, name):
    w.patch("deployments", "web", {"spec": {"template": template(name)}})


def sets(w, kind, resource):
    selector = {"app": "web"} if kind == "ReplicationController" else {"matchLabels": {"app": "web"}}
    w.create(resource, {"metadata": {"name": "web"}, "spec": {"replicas": 3, "selector": selector, "template": template()}})
    status = lambda: w.get(resource, "web")["status"]
    w.until("available", lambda: status().get("availableReplicas") == 3, w.ready)
    w.patch(resource, "web", {"spec": {"replicas": 1}})
    w.until("smaller", lambda: status().get("replicas") == 1 and len(w.pods()) == 1)


def story_replica_set(w):
    sets(w, "ReplicaSet", "replicasets")


def story_replication_controller(w):
    sets(w, "ReplicationController", "replicationcontrollers")


def story_replica_set_pending(w):
    w.create("replicasets", {"metadata": {"name": "web"}, "spec": {"replicas": 2, "minReadySeconds": 5, "selector": {
        "matchLabels": {"app": "web"}}, "template": template()}})
    w.until("made", lambda: w.get("replicasets", "web")["status"].get("replicas") == 2)


def story_adoption(w):
    for i in range(2):
        w.create("pods", {"metadata": {"name": "p%d" % i, "labels": {"app": "web"}}, "spec": template()["spec"]})
    w.create("replicasets", {"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                                                                   "template": template()}})
    w.until("adopted", lambda: w.get("replicasets", "web")["status"].get("replicas") == 2 and
            all(p["metadata"].get("ownerReferences") for p in w.pods()))


def story_release(w):
    story_replica_set_pending(w)
    w.patch("pods", w.pods()[0]["metadata"]["name"], {"metadata": {"labels": {"app": "else"}}})
    w.until("replaced", lambda: len(w.pods()) == 3 and sum("ownerReferences" not in p["metadata"] for p in w.pods()) == 1)


def story_quota(w):
    w.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}})
    w.patch("resourcequotas", "q/status", {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})
    w.create("replicasets", {"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                                                                   "template": template()}})
    w.until("failed", lambda: w.get("replicasets", "web")["status"].get("conditions"))
    w.until("told", lambda: w.api.items(w.path("events")))


def story_deployment_pending(w):
    w.create("deployments", deployment(3))
    w.until("made", lambda: w.get("deployments", "web")["status"].get("updatedReplicas") == 3)


def story_deployment(w):
    w.create("deployments", deployment(3))
    w.rolled(3)


def story_roll(w):
    story_deployment(w)
    image(w, "b")
    w.rolled(3, "b")


def story_undo(w):
    story_roll(w)
    image(w, "a")
    w.rolled(3, "a")


def story_scale(w):
    story_deployment(w)
    w.patch("deployments", "web", {"spec": {"replicas": 5}})
    w.rolled(5)
    w.patch("deployments", "web", {"spec": {"replicas": 2}})
    w.rolled(2)
    w.patch("deployments", "web", {"spec": {"replicas": 0}})
    w.rolled(0)


def story_stuck(w):
    """The new pods never become ready; then the size changes: in proportion."""
    w.create("deployments", deployment(10, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}))
    w.rolled(10)
    image(w, "broken")
    w.until("stuck", lambda: w.get("deployments", "web")["status"].get("updatedReplicas") == 5)
    w.patch("deployments", "web", {"spec": {"replicas": 30}})
    w.until("in proportion", lambda: sum(r["spec"]["replicas"] for r in w.api.items(w.path("replicasets"))) == 33 and
            w.get("deployments", "web")["status"].get("replicas") == 33)


def story_recreate(w):
    w.create("deployments", deployment(2, {"type": "Recreate"}))
    w.rolled(2)
    image(w, "b")
    w.rolled(2, "b")


def story_pause(w):
    story_deployment(w)
    w.patch("deployments", "web", {"spec": {"paused": True}})
    image(w, "b")
    w.patch("deployments", "web", {"spec": {"replicas": 4}})
    w.until("scaled", lambda: w.get("deployments", "web")["status"].get("availableReplicas") == 4, w.ready)
    w.patch("deployments", "web", {"spec": {"paused": False}})
    w.rolled(4, "b")


def story_history(w):
    w.create("deployments", deployment(1, revisionHistoryLimit=1))
    w.rolled(1)
    for name in "bcd":
        image(w, name)
        w.rolled(1, name)
    w.until("cleaned", lambda: len(w.api.items(w.path("replicasets"))) == 2)


def story_deadline(w):
    w.create("deployments", deployment(1, progressDeadlineSeconds=2))
    w.until("late", lambda: any(c["reason"] == "ProgressDeadlineExceeded"
                                for c in w.get("deployments", "web")["status"].get("conditions", [])))


def story_rollback_annotation(w):
    story_roll(w)
    w.patch("deployments", "web", {"metadata": {"annotations": {"deprecated.deployment.rollback.to": "1"}}})
    w.until("taken", lambda: w.get("deployments", "web")["spec"]["template"]["spec"]["containers"][0]["image"] == "a")
    w.rolled(3, "a")


def story_deleted(w):
    story_deployment(w)
    w.delete("deployments", "web")
    w.until("gone", lambda: not w.pods() and not w.api.items(w.path("replicasets")))


def story_orphaned(w):
    story_deployment(w)
    w.delete("deployments", "web", "Orphan")
    w.until("orphaned", lambda: not w.api.items(w.path("deployments")))
    w.create("deployments", deployment(3))
    w.rolled(3)


def strip(value):
    if isinstance(value, dict):
        return {k: strip(v) for k, v in value.items() if k not in DROPPED}
    if isinstance(value, list):
        return [strip(v) for v in value]
    if isinstance(value, str):
        return re.sub(r"\b(web-(?:[a-z0-9]{8,10}-)?)[bcdfghjklmnpqrstvwxz2456789]{5}\b", r"\1RANDOM", value)
    return value


def shown(w):
    """What remains, as lines. Of Events what they say; of pods that are being deleted nothing."""
    lines = []
    for kind in KINDS:
        objects = w.api.items(w.path(kind))
        if kind == "events":
            objects = sorted({(e["type"], e["reason"], strip(e["message"]), e["source"].get("component"), e.get("reportingComponent"),
                               e["involvedObject"]["kind"]) for e in objects})
        else:
            objects = [strip(o) for o in objects if "deletionTimestamp" not in o["metadata"]]
            objects.sort(key=lambda o: json.dumps(o, sort_keys=True))
        for o in objects:
            lines += (kind + " " + json.dumps(o, indent=1, sort_keys=True)).splitlines()
    return lines


def play(api, names):
    results = {}
    for name in names:
        w = World(api, name.replace("_", "-"))
        try:
            globals()["story_" + name](w)
            time.sleep(1.5)  # what is still to come: status, Events
            results[name] = shown(w)
        except AssertionError as error:
            results[name] = ["FAILED " + str(error)]
    return results


def of_the_real(peers, folder, names):
    with Trio(peers, os.path.join(folder, "real")) as trio:
        manager = launch([os.path.join(peers, "kube-controller-manager"), "--kubeconfig=" + trio.kubeconfig, "--leader-elect=false",
                          "--secure-port=%d" % take_port(), "--bind-address=127.0.0.1", "--cert-dir=" + trio.path("kcm"),
                          "--authentication-skip-lookup", "--kube-api-qps=1000", "--kube-api-burst=1000",
                          "--controllers=" + ",".join(CONTROLLERS)], trio.path("kcm.log"))
        try:
            return play(trio.api, names)
        finally:
            end(manager, 5)


def of_berth(folder, names):
    port, tokens = take_port(), os.path.join(folder, "tokens.csv")
    with open(tokens, "w", encoding="utf-8") as f:
        f.write(Trio.tokens)
    server = launch([berth_program(), "apiserver", "--memory", "--bind-address=127.0.0.1", "--secure-port=%d" % port,
                     "--token-auth-file=" + tokens, "--disable-admission-plugins=" + Trio.disabled_admission],
                    os.path.join(folder, "berth.log"))
    try:
        api = Api(port, None, TOKEN)
        api.get("/readyz/ping", also=(404,))
        return play(api, names)
    finally:
        end(server, 5)


def main():
    names = sys.argv[1:] or [n[len("story_"):] for n in globals() if n.startswith("story_")]
    peers = os.environ.get("BERTH_PEERS") or find_peers()
    if not peers:
        return 77
    n_differ = 0
    with tempfile.TemporaryDirectory() as folder:
        ours, real = of_berth(folder, names), of_the_real(peers, folder, names)
    for name in names:
        diff = list(difflib.unified_diff(real[name], ours[name], "real", "berth", lineterm="", n=4))
        n_differ += bool(diff or ours[name][:1] and ours[name][0].startswith("FAILED"))
        print("%-24s %s" % (name, "differs" if diff else "FAILED" if ours[name] and ours[name][0].startswith("FAILED") else "equal"))
        print("\n".join(diff[:80]), end="\n" if diff else "")
    print("%d stories, %d differ" % (len(names), n_differ))
    return 1 if n_differ else 0


if __name__ == "__main__":
    sys.exit(main())
