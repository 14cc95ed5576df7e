#!/usr/bin/env python3
"""tests/peers/test_rbac.py - the manifests under deploy/ on a real API server with RBAC: the rights that they give are enough, and
nothing that berth asks for is refused.

Part of tests/peers/run, and a program of its own. What the processes ask for is read from the server's audit log.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from api import Api, node, pod  # noqa: E402
from trio import REAL, Scheduler, TOKEN, Trio, berth_program, end, find_peers, launch, take_port  # noqa: E402

PARTS = [("rbac-second", "deploy/rbac.yaml is enough for deploy/second-scheduler.yaml: volumes, victims, Events, lease, questions"),
         ("rbac-in-place", "deploy/static-pod.yaml with the rights that kube-scheduler has"),
         ("rbac-shadow", "deploy/rbac-read-only.yaml is enough for deploy/shadow.yaml, explain and simulate, which only read")]
DEPLOY = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "deploy")
LIMIT = 120  # seconds that one step may take on a slow machine
DEFAULT_PODS = "/api/v1/namespaces/default/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/"
IN_PLACE_TOKEN = "in-place-token"

AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts:kube-system"]}
- {level: Metadata, users: ["system:kube-scheduler"]}
- {level: None}
"""


class Cluster(Trio):
    """With RBAC, a log of who asks for what, and the user that kube-scheduler is."""
    audit_policy = AUDIT
    tokens = Trio.tokens + '%s,system:kube-scheduler,2,""\n' % IN_PLACE_TOKEN

    def __init__(self, peers, folder):
        super().__init__(peers, folder, authorization="RBAC")

    def kubectl(self, *words):
        done = subprocess.run([os.path.join(self.peers, "kubectl"), "--kubeconfig", self.kubeconfig, *words], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)

    def token_of(self, account):
        path = "/api/v1/namespaces/kube-system/serviceaccounts/%s/token" % account
        return self.api.call("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]

    def asked(self, user):
        """Counters of (verb, what) that the user asked for, and of those that were refused for lack of rights."""
        asked, refused = collections.Counter(), collections.Counter()
        with open(self.audit_log) as lines:
            for event in map(json.loads, filter(lambda line: line.endswith("\n"), lines)):
                if event["user"]["username"] != user:
                    continue
                ref = event.get("objectRef") or {}
                what = "/".join(filter(None, (ref.get("resource"), ref.get("subresource")))) or event["requestURI"].split("?")[0]
                asked[event["verb"], what] += 1
                if event.get("responseStatus", {}).get("code") in (401, 403):
                    refused[event["verb"], what, ref.get("name")] += 1
        return asked, refused


def wait(holds, what):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found = holds()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("after %d s not yet: %s" % (LIMIT, what))


def objects(name):
    """Those of a file under deploy/, as berth reads them: strictly."""
    done = subprocess.run([berth_program(), "decode", "--strict", "-f", os.path.join(DEPLOY, name), "-o", "json"], capture_output=True, text=True)
    assert done.returncode == 0, (name, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_kind(name, kind):
    return next(o for o in objects(name) if o["kind"] == kind)


class Process:
    """`berth scheduler` with the command line of a manifest, changed as little as a machine without kubelet needs."""
    count = 0

    def __init__(self, cluster, command, *more):
        Process.count += 1
        self.port, self.log = take_port(), cluster.path("process-%d.log" % Process.count)
        assert command[:2] == ["berth", "scheduler"], command
        words = [berth_program()] + command[1:] + ["--secure-port=%d" % self.port, "--bind-address=127.0.0.1", *more]
        self.child = launch(words, self.log, cluster.folder)

    def ask(self, path, token=None, method="GET", body=None):
        api = Api(self.port, None, token)
        try:
            return api.request(method, path, body)
        except OSError:
            return 0, None
        finally:
            api.close()

    def ready(self):
        def is_ready():
            assert self.child.poll() is None, open(self.log).read()[-2000:]
            return self.ask("/readyz")[0] == 200
        wait(is_ready, "readyz of " + self.log)
        return self


def kubeconfig_of(cluster, name, token):
    return cluster.write_kubeconfig(name + ".kubeconfig", cluster.port, token)


def is_bound(cluster, name):
    return lambda: cluster.api.get(DEFAULT_PODS + "/" + name)["spec"].get("nodeName")


def nothing_refused(cluster, user, wrong):
    asked, refused = cluster.asked(user)
    if not asked:
        wrong.append("the audit log has nothing of %s" % user)
    wrong += ["%s may not %s %s %s" % (user, verb, what, name or "") for (verb, what, name) in sorted(refused, key=str)]
    return asked


# ---- Beside kube-scheduler ----

def mine(name, cpu_m, scheduler, **spec):
    made = pod(name, cpu_m)
    made["spec"].update(spec, schedulerName=scheduler)
    return made


def make_volume(api):
    api.create("/apis/storage.k8s.io/v1/storageclasses", {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
                                                          "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]
    api.create("/api/v1/persistentvolumes", {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local", "local": {"path": "/mnt"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}})
    volume = api.get("/api/v1/persistentvolumes/disk")
    volume["status"] = {"phase": "Available"}  # as its controller says
    api.call("PUT", "/api/v1/persistentvolumes/disk/status", volume)
    api.create("/api/v1/namespaces/default/persistentvolumeclaims", {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "resources": {"requests": {"storage": "1Gi"}}}})


def finish_binding(api):
    """What the controller of volumes does once a scheduler has written whose the volume is."""
    claim = wait(lambda: api.get("/api/v1/persistentvolumes/disk")["spec"].get("claimRef"), "the scheduler writes the volume")
    path = "/api/v1/namespaces/default/persistentvolumeclaims/data"
    now = api.get(path)
    now["spec"]["volumeName"] = "disk"
    now["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
    api.call("PUT", path, now)
    now = api.get(path)
    now["status"] = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    api.call("PUT", path + "/status", now)
    return claim["name"]


def all_that_is_written(cluster, wrong):
    """Bindings, volumes, conditions, victims, nominations and Events."""
    api = cluster.api
    api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                                              "metadata": {"name": "high"}, "value": 100})
    make_volume(api)
    for name in ("n1", "n2"):
        api.create("/api/v1/nodes", node(name, 4000))
    api.create(DEFAULT_PODS, mine("stored", 100, "berth", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]))
    finish_binding(api)
    wait(is_bound(cluster, "stored"), "a pod with a volume has a node")
    for name in ("low-1", "low-2"):
        api.create(DEFAULT_PODS, mine(name, 3500, "berth"))
        wait(is_bound(cluster, name), name + " has a node")
    api.create(DEFAULT_PODS, mine("huge", 64000, "berth"))
    wait(lambda: any(c["reason"] == "Unschedulable" for c in api.get(DEFAULT_PODS + "/huge")["status"].get("conditions", [])),
         "a pod that fits nowhere has its condition")
    api.create(DEFAULT_PODS, mine("urgent", 3500, "berth", priorityClassName="high"))
    wait(is_bound(cluster, "urgent"), "a pod of high priority has the place of another")
    reasons = lambda: {e["reason"] for e in api.items("/apis/events.k8s.io/v1/namespaces/default/events")}  # noqa: E731
    wait(lambda: reasons() >= {"Scheduled", "FailedScheduling", "Preempted"}, "Events: Scheduled, FailedScheduling, Preempted")
    api.create(DEFAULT_PODS, mine("foreign", 100, "default-scheduler"))
    lease = api.get(LEASES + "berth-scheduler")
    if not lease["spec"]["holderIdentity"]:
        wrong.append("nobody holds the lease berth-scheduler")
    if is_bound(cluster, "foreign")():
        wrong.append("a pod of another scheduler was bound")


def questions(cluster, process, wrong):
    """Who may ask what: the ClusterRole berth-observer, and nobody else."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "observer"}}
    cluster.api.create("/api/v1/namespaces/kube-system/serviceaccounts", account)
    token = cluster.token_of("observer")
    what_if = {"pod": "default/huge", "changes": []}
    if process.ask("/metrics", token)[0] != 403:
        wrong.append("/metrics is for anybody with a token")
    cluster.kubectl("create", "clusterrolebinding", "observer", "--clusterrole=berth-observer", "--serviceaccount=kube-system:observer")
    wait(lambda: process.ask("/metrics", token)[0] == 200, "/metrics for who has berth-observer")
    for path in ("/metrics/slis", "/metrics/resources", "/berth/v1/explain?pod=default/huge", "/berth/v1/decisions"):
        status, _ = process.ask(path, token)
        if status != 200:
            wrong.append("%s is %d for who has berth-observer" % (path, status))
    status, answer = process.ask("/berth/v1/what-if", token, "POST", what_if)
    if status in (401, 403):
        wrong.append("/berth/v1/what-if is %d for who has berth-observer: %s" % (status, answer))
    for path in ("/configz", "/debug/pprof/profile?seconds=1"):
        if process.ask(path, token)[0] != 403:
            wrong.append("%s is open for who has berth-observer" % path)
    if process.ask("/metrics")[0] != 403 or process.ask("/metrics", "no-such-token")[0] != 401:
        wrong.append("/metrics without a good token")


def second(cluster, wrong):
    user = "system:serviceaccount:kube-system:berth-scheduler"
    deployment, config = of_kind("second-scheduler.yaml", "Deployment"), of_kind("second-scheduler.yaml", "ConfigMap")
    command = deployment["spec"]["template"]["spec"]["containers"][0]["command"]
    # A pod finds the server by its environment; here a kubeconfig with the same account's token says where it is.
    kubeconfig = kubeconfig_of(cluster, "second", cluster.token_of("berth-scheduler"))
    path = cluster.write("second.yaml", config["data"]["config.yaml"] + "clientConnection:\n  kubeconfig: %s\n" % kubeconfig)
    command = ["--config=" + path if word.startswith("--config=") else word for word in command]
    more = ["--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig]
    first = Process(cluster, command, *more).ready()
    all_that_is_written(cluster, wrong)
    questions(cluster, first, wrong)
    standby = Process(cluster, command, *more).ready()
    code = end(first.child)
    if code != 0:
        wrong.append("a leader that is asked to end ended with code %d" % code)
    cluster.api.create(DEFAULT_PODS, mine("late", 100, "berth"))
    wait(is_bound(cluster, "late"), "the second replica takes over")
    end(standby.child)
    asked = nothing_refused(cluster, user, wrong)
    expected = {("create", "pods/binding"), ("patch", "pods/status"), ("delete", "pods"), ("update", "persistentvolumes"), ("create", "leases"),
                ("update", "leases"), ("create", "events"), ("create", "tokenreviews"), ("create", "subjectaccessreviews")}
    wrong += ["nobody tried to %s %s, so this says nothing about it" % pair for pair in sorted(expected - set(asked))]


# ---- In its place ----

def in_place(cluster, wrong):
    command = of_kind("static-pod.yaml", "Pod")["spec"]["containers"][0]["command"]
    kubeconfig = kubeconfig_of(cluster, "scheduler", IN_PLACE_TOKEN)
    command = [word.replace("/etc/kubernetes/scheduler.conf", kubeconfig) for word in command]
    process = Process(cluster, command).ready()
    cluster.api.create(DEFAULT_PODS, mine("in-place", 100, "default-scheduler"))
    wait(is_bound(cluster, "in-place"), "a pod has a node")
    if process.ask("/metrics", TOKEN)[0] != 200:
        wrong.append("an administrator cannot read /metrics")
    if not cluster.api.get(LEASES + "kube-scheduler")["spec"]["holderIdentity"]:
        wrong.append("nobody holds the lease kube-scheduler")
    if end(process.child) != 0:
        wrong.append("it did not end with 0")
    # The way back: the real one, with the same flags, leads at once because the lease was given back.
    real = launch([os.path.join(cluster.peers, "kube-scheduler"), *command[2:], "--secure-port=%d" % take_port()], cluster.path("real.log"))
    cluster.api.create(DEFAULT_PODS, mine("back", 100, "default-scheduler"))
    wait(is_bound(cluster, "back"), "kube-scheduler goes on")
    end(real)
    nothing_refused(cluster, "system:kube-scheduler", wrong)


# ---- In the shadow ----

def commands_that_read(cluster, kubeconfig, wrong):
    env = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}
    for words, codes in (("simulate", (0, 3)), ("simulate --drain n1", (0, 3)), ("explain default/huge", (3,)), ("explain default/late", (0,))):
        name, *rest = words.split()
        done = subprocess.run([berth_program(), name, "--kubeconfig", kubeconfig, *rest], capture_output=True, text=True, env=env)
        if done.returncode not in codes or "right is missing" in done.stderr:
            wrong.append("berth %s: exit code %d, %s" % (words, done.returncode, done.stderr[-500:]))


def shadow(cluster, wrong):
    user = "system:serviceaccount:kube-system:berth-shadow"
    command = of_kind("shadow.yaml", "Deployment")["spec"]["template"]["spec"]["containers"][0]["command"]
    kubeconfig = kubeconfig_of(cluster, "shadow", cluster.token_of("berth-shadow"))
    process = Process(cluster, command, "--kubeconfig=" + kubeconfig).ready()
    real = Scheduler(cluster, REAL).ready()
    if not cluster.api.items("/api/v1/nodes"):  # when it is the only part that runs
        cluster.api.create("/api/v1/nodes", node("shadow-1", 4000))
    for i in range(5):
        cluster.api.create(DEFAULT_PODS, mine("seen-%d" % i, 10, "default-scheduler"))
        wait(is_bound(cluster, "seen-%d" % i), "kube-scheduler binds")
    wait(lambda: (process.ask("/berth/v1/shadow")[1] or {}).get("compared", 0) >= 5, "five pods are compared")
    answer = process.ask("/berth/v1/shadow")[1]
    if answer["agreed"] != answer["compared"]:
        wrong.append("the shadow disagrees: %s" % json.dumps(answer)[:1000])
    if process.ask("/metrics")[0] != 200:
        wrong.append("/metrics of the shadow is closed")
    real.stop()
    if end(process.child) != 0:
        wrong.append("the shadow did not end with 0")
    commands_that_read(cluster, kubeconfig, wrong)
    asked = nothing_refused(cluster, user, wrong)
    wrong += ["the shadow did %s %s" % pair for pair in sorted(asked) if pair[0] not in ("get", "list", "watch")]


def run(peers, folder, options, results):
    chosen = [name for name, _ in PARTS if options.only.search(name)]
    if not chosen:
        return
    with Cluster(peers, os.path.join(folder, "rbac")) as cluster:
        wait(lambda: cluster.api.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:volume-scheduler")[0] == 200,
             "the server has made its own roles")
        # Also those whose pods nobody starts here: the server checks them.
        for name in sorted(n for n in os.listdir(DEPLOY) if n.endswith(".yaml")):
            cluster.kubectl("apply", "--validate=strict", *(["--dry-run=server"] if name == "static-pod.yaml" else []), "-f", os.path.join(DEPLOY, name))
        for name, play in (("rbac-second", second), ("rbac-in-place", in_place), ("rbac-shadow", shadow)):
            if name not in chosen:
                continue
            began, wrong = time.monotonic(), []
            try:
                play(cluster, wrong)
            except AssertionError as error:
                wrong.append(str(error))
            results.note("%s: %s" % (name, dict(PARTS)[name]), wrong, time.monotonic() - began)


class Printed:
    failed = 0

    def note(self, name, wrong, seconds):
        print("%s %s (%.0f s)" % ("FAILED" if wrong else "ok", name, seconds), *wrong, sep="\n    ", flush=True)
        self.failed += bool(wrong)


def main():
    import argparse
    import re
    results, folder = Printed(), tempfile.mkdtemp(prefix="berth-rbac-")
    run(find_peers() or sys.exit(2), folder, argparse.Namespace(only=re.compile(sys.argv[1] if len(sys.argv) > 1 else "")), results)
    if results.failed:
        sys.exit("logs are in " + folder)


if __name__ == "__main__":
    main()
