"""What the stories of controllers share. A story is a function with `@story` that gets a World (a namespace of its own, and cluster-wide
names that begin with its name and two dashes), plays, and waits until what it wants is so; there are no kubelets: it sets what they would say of pods and nodes.

What remains then is shown as lines in which all that is random or a time has been replaced, so that the lines of two control
planes can be compared: objects with their owners, finalizers, status and conditions, and what Events say."""
import collections
import datetime
import json
import os
import re
import threading
import time

from api import MERGE_PATCH

LIMIT = 60 * int(os.environ.get("TEST_SLOWDOWN") or 1)  # seconds that one step may take on a busy machine
PAUSE = 0.05  # between two looks
RENEWAL = 5  # seconds between two heartbeats of all nodes

STORIES = {}  # name -> Story, in the order in which they were written

Story = collections.namedtuple("Story", "name play alone slow recorded events faults")


def story(alone=False, slow=False, recorded=True, events=True, faults=True):
    """`alone`: nothing else may happen in the cluster; `slow`: not for a short run; `recorded`: part of the tests that have no real
    control plane; `events`: which Events there are is not a matter of chance; `faults`: a crash changes nothing of what remains."""
    def register(play):
        STORIES[play.__name__] = Story(play.__name__, play, alone, slow, recorded and not slow, events, faults)
        return play
    return register


# ---- Kinds ----

GROUPS = {
    "": ("pods", "replicationcontrollers", "services", "endpoints", "persistentvolumeclaims", "resourcequotas", "serviceaccounts",
         "configmaps", "secrets", "events", "namespaces", "nodes", "persistentvolumes"),
    "apps/v1": ("deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions"),
    "batch/v1": ("jobs", "cronjobs"),
    "discovery.k8s.io/v1": ("endpointslices",),
    "policy/v1": ("poddisruptionbudgets",),
    "storage.k8s.io/v1": ("storageclasses",),
    "rbac.authorization.k8s.io/v1": ("clusterroles",),
    "coordination.k8s.io/v1": ("leases",),
    "autoscaling/v2": ("horizontalpodautoscalers",),
    "certificates.k8s.io/v1": ("certificatesigningrequests",),
}
GROUP_OF = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
CLUSTER_WIDE = ("namespaces", "nodes", "persistentvolumes", "storageclasses", "clusterroles", "certificatesigningrequests")
SHOWN = ("horizontalpodautoscalers", "deployments", "replicasets", "replicationcontrollers", "statefulsets", "daemonsets", "controllerrevisions", "jobs", "cronjobs",
         "pods", "services", "endpoints", "endpointslices", "poddisruptionbudgets", "resourcequotas", "persistentvolumeclaims",
         "serviceaccounts", "configmaps", "secrets", "persistentvolumes", "nodes", "clusterroles", "namespaces", "events")


def now(seconds=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def micro_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# ---- Heartbeats ----

class Heart:
    """Renews the Leases of nodes that are well, until it is stopped: a story may take longer than a node may be silent."""

    def __init__(self, api):
        self.api, self.nodes, self.lock, self.over = api, set(), threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._beat, daemon=True)
        self.thread.start()

    def add(self, name):
        self._renew(name)
        with self.lock:
            self.nodes.add(name)

    def remove(self, name):
        with self.lock:
            self.nodes.discard(name)

    def _renew(self, name):
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": micro_now()}
        if not self.api.call("PATCH", path + "/" + name, {"spec": spec}, also=(404,), kind=MERGE_PATCH):
            self.api.create(path, {"metadata": {"name": name}, "spec": spec})

    def _beat(self):
        while not self.over.wait(RENEWAL):
            with self.lock:
                nodes = sorted(self.nodes)
            for name in nodes:
                try:
                    self._renew(name)
                except AssertionError:
                    pass  # the server is gone, or ends

    def stop(self):
        self.over.set()


# ---- A world ----

class World:
    """One namespace of one of the two planes."""

    def __init__(self, api, namespace, heart=None):
        self.api, self.ns, self.heart = api, namespace, heart
        self.hidden = set()  # kinds that this story does not compare
        self.extra = ()  # namespaces that it made besides
        api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})

    # Objects: of this namespace, or cluster-wide.

    def path(self, kind, name="", ns=None):
        group = GROUP_OF[kind]
        root = "/apis/" + group if group else "/api/v1"
        space = "" if kind in CLUSTER_WIDE else "/namespaces/" + (ns or self.ns)
        return "%s%s/%s%s" % (root, space, kind, "/" + name if name else "")

    def own(self, name):
        """What a cluster-wide object of this story is called."""
        return "%s--%s" % (self.ns, name)

    def create(self, kind, body):
        return self.api.create(self.path(kind), body)

    def make(self, kind, name, spec=None, meta=None, **more):
        body = {"metadata": dict({"name": name}, **(meta or {})), **more}
        if spec is not None:
            body["spec"] = spec
        return self.create(kind, body)

    def patch(self, kind, name, body):
        return self.api.call("PATCH", self.path(kind, name), body, kind=MERGE_PATCH)

    def delete(self, kind, name, policy="Background", grace=None):
        options = {"propagationPolicy": policy}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        return self.api.call("DELETE", self.path(kind, name), options, also=(404,))

    def get(self, kind, name):
        return self.api.get(self.path(kind, name))

    def find(self, kind, name):
        """The object, or None."""
        return self.api.get(self.path(kind, name), also=(404,))

    def items(self, kind):
        return self.api.items(self.path(kind))

    def status(self, kind, name):
        return self.get(kind, name).get("status", {})

    def condition(self, kind, name, condition, status="True"):
        for c in self.status(kind, name).get("conditions") or []:
            if c["type"] == condition and c["status"] == status:
                return c
        return None

    def told(self, reason, n=1):
        """Whether as many Events say so."""
        return sum(e["reason"] == reason for e in self.items("events")) >= n

    # Pods.

    def pods(self):
        return sorted((p for p in self.items("pods") if "deletionTimestamp" not in p["metadata"]), key=lambda p: p["metadata"]["name"])

    def live(self):
        """Pods that have not ended, either."""
        return [p for p in self.pods() if p["status"].get("phase") in ("Pending", "Running")]

    def pod(self, name, node=None, labels=None, **more):
        spec = dict({"containers": [{"name": "c", "image": "a", "ports": [{"name": "web", "containerPort": 8080}]}]}, **more)
        if node:
            spec["nodeName"] = node
        return self.make("pods", name, spec, {"labels": labels or {"app": "web"}})

    def set_phase(self, pod, phase, code=0, ready=None, restarts=0, **more):
        """What a kubelet would say."""
        name = pod if isinstance(pod, str) else pod["metadata"]["name"]
        moment = now()
        state = {"running": {"startedAt": moment}}
        if phase in ("Succeeded", "Failed"):
            state = {"terminated": {"exitCode": code, "startedAt": moment, "finishedAt": moment}}
        ready = phase == "Running" if ready is None else ready
        conditions = [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": moment}]
        self.patch("pods", name + "/status", {"status": {
            "phase": phase, "conditions": conditions + more.pop("conditions", []), "containerStatuses": [
                {"name": "c", "image": "i", "imageID": "i", "restartCount": restarts, "ready": ready, "state": state}], **more}})

    def address(self, name, ip, ready=True, **more):
        self.set_phase(name, "Running", ready=ready, podIP=ip, podIPs=[{"ip": ip}], **more)

    def ready(self, only=lambda pod: True):
        for pod in self.pods():
            if pod["status"].get("phase") == "Pending" and only(pod):
                try:
                    self.patch("pods", pod["metadata"]["name"] + "/status", {"status": {"phase": "Running", "conditions": [
                        {"type": "Ready", "status": "True", "lastTransitionTime": now()}]}})
                except AssertionError:
                    if self.find("pods", pod["metadata"]["name"]):
                        raise

    # Nodes.

    def node(self, name, ready=True, beats=True, labels=None, taints=None):
        """A node of this story; its whole name."""
        whole = self.own(name)
        if beats:
            self.heart.add(whole)
        self.make("nodes", whole, {"taints": taints} if taints else {}, {"labels": labels or {}})
        if ready is not None:
            self.post(whole, Ready="True" if ready else "False")
        if ready:
            self.until("ready", lambda: not [t for t in self.get("nodes", whole)["spec"].get("taints") or []
                                             if t["key"].startswith("node.kubernetes.io/")])
        return whole

    def post(self, node, **statuses):
        """Conditions of a node, as its kubelet would tell them."""
        amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
        self.patch("nodes", node + "/status", {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [
            {"type": t, "status": s, "reason": "Kubelet", "message": "", "lastHeartbeatTime": now(), "lastTransitionTime": now()}
            for t, s in sorted(statuses.items())]}})

    # Waiting.

    def until(self, what, condition, each=None):
        stop = time.monotonic() + LIMIT
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > stop:
                raise AssertionError("%s: never %s" % (self.ns, what))
            if each:
                each()
            time.sleep(PAUSE)

    def gone(self, kind, name):
        self.until("%s %s gone" % (kind, name), lambda: not self.find(kind, name))

    def stays(self, what, condition, seconds=1.5):
        """Something that must not happen: how long it does not is nothing that can be waited for, only looked at for a while."""
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            if not condition():
                raise AssertionError("%s: does not stay: %s" % (self.ns, what))
            time.sleep(PAUSE)

    def rolled(self, n, image=None, name="web"):
        def is_so():
            d = self.get("deployments", name)
            s = d.get("status", {})
            sets = self.items("replicasets")
            new = [r for r in sets if r["spec"]["template"]["spec"]["containers"][0]["image"] ==
                   d["spec"]["template"]["spec"]["containers"][0]["image"]]
            return (s.get("observedGeneration") == d["metadata"]["generation"] and new and s.get("replicas", 0) ==
                    s.get("updatedReplicas", 0) == s.get("availableReplicas", 0) == n == len(self.pods()) and
                    any(c.get("reason") == "NewReplicaSetAvailable" for c in s.get("conditions", [])))
        self.until("rolled out to %s" % image, is_so, self.ready)


# ---- What is compared ----

TOUCHED = "berth.dev/touched"  # what a test of conflicts writes into everything
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"  # is there or not: whether two pods became ready within the same second
NODE_TTL = "node.alpha.kubernetes.io/ttl"  # depends on how many nodes all stories have together
# Written by others, or a matter of how often somebody wrote.
DROPPED = ("resourceVersion", "managedFields", "generation", "count", "selfLink", "nodeInfo")
RANDOM_PART = re.compile(r"\b([a-z0-9-]+-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")
UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC|"
                   r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d ([+-]\d{4}|[A-Z]+)")
MINUTES = re.compile(r"-[23]\d{7}\b")  # of CronJobs' Jobs: minutes since 1970
SECRETS = {"token": "TOKEN", "ca.crt": "AUTHORITY", "clusterIP": "ADDRESS"}


class Normal:
    """Names of what uids mean, so that who owns what is compared, too."""

    def __init__(self, objects):
        self.names = {o["metadata"]["uid"]: "%s/%s" % (kind, self.text(o["metadata"]["name"]))
                      for kind, found in objects.items() for o in found}

    def text(self, text):
        text = UID.sub("UID", TIMES.sub("TIME", text))
        return MINUTES.sub("-MINUTES", RANDOM_PART.sub(r"\1RANDOM", text))

    def of(self, value, key=None):
        if isinstance(value, dict):
            return {self.text(k): self.of(v, k) for k, v in value.items() if k not in DROPPED}
        if isinstance(value, list):
            return [self.of(v, "clusterIP" if key == "clusterIPs" else key) for v in value]
        if not isinstance(value, str):
            return value
        if key in SECRETS and value and value != "None":
            return SECRETS[key]
        if UID.fullmatch(value):
            return "uid of " + self.names.get(value, "one that is gone")
        return self.text(value)

    def whole(self, o):
        """Of observedGeneration what it says: whether the newest was seen."""
        generation = o["metadata"].get("generation")
        made = self.of(o)
        made["metadata"].pop("uid", None)
        made["metadata"].pop("creationTimestamp", None)
        for annotation in (TOUCHED, TRIGGER, NODE_TTL):
            made["metadata"].get("annotations", {}).pop(annotation, None)
        if made["metadata"].get("annotations") == {}:
            del made["metadata"]["annotations"]

        def seen(part):
            for k, v in part.items():
                if k == "observedGeneration":
                    part[k] = "newest" if v == generation else "older"
                for inner in v if isinstance(v, list) else [v]:
                    if isinstance(inner, dict):
                        seen(inner)
        if isinstance(made.get("status"), dict):
            seen(made["status"])
        # These are in whatever order they were found.
        made.get("spec", {}).get("taints", []).sort(key=lambda t: (t["key"], t["effect"]))
        (made.get("endpoints") or []).sort(key=lambda e: e["addresses"])
        (made.get("subsets") or []).sort(key=lambda s: json.dumps(s["ports"]) if s.get("ports") else "")
        return made

    def event(self, e):
        about = e["involvedObject"]
        who = "%s %s/%s %s" % (about.get("apiVersion"), about["kind"], self.text(about["name"]), about.get("fieldPath", ""))
        return "%s %s %s by %s %s about %s" % (e["type"], e["reason"], json.dumps(self.text(e["message"])), e.get("source", {}).get("component"),
                                               e.get("reportingComponent"), who.strip())


# Who looks at Services from time to time, and may come between two writes.
BY_CHANCE = ("ipallocator-repair-controller", "portallocator-repair-controller")


def objects_of(w):
    """{kind: objects} of a story's world."""
    found = {}
    for kind in SHOWN:
        if kind in w.hidden:
            continue
        if kind not in CLUSTER_WIDE:
            found[kind] = [o for ns in (w.ns, *w.extra) for o in w.api.items(w.path(kind, ns=ns))]
        else:
            found[kind] = [o for o in w.api.items(w.path(kind)) if o["metadata"]["name"] == w.ns and kind == "namespaces" or
                           o["metadata"]["name"].startswith(w.ns + "--")]
    return found


def shown(w, events=True):
    """What remains, as lines."""
    found = objects_of(w)
    normal = Normal(found)
    lines = []
    for kind, objects in found.items():
        if kind == "events":
            texts = ["event " + normal.event(e) for e in objects if e.get("reportingComponent") not in BY_CHANCE] if events else []
        else:
            texts = [kind + " " + json.dumps(normal.whole(o), indent=1, sort_keys=True) for o in objects]
        for text in sorted(texts):
            lines += text.splitlines()
    return lines
