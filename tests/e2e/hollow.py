#!/usr/bin/env python3
"""hollow.py BERTH - hollow nodes as users have them: `berth apiserver` with a file of nodes, `berth scheduler` beside it, workloads
until they are ready or done, `berth node`, and what a start says of a file that is wrong."""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_world as world  # noqa: E402
from api_world import check, finish  # noqa: E402

BERTH = os.path.abspath(sys.argv[1])
NODES = """
nodes:
- name: worker
  count: 4
  zones: [a, b]
- name: gpu
  capacity: {cpu: "8", nvidia.com/gpu: "2"}
  taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
  csiDrivers: [{name: csi.example.com, volumes: 5}]
"""
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""
APPS, CORE, BATCH = "/apis/apps/v1/namespaces/default", "/api/v1/namespaces/default", "/apis/batch/v1/namespaces/default"


class Cluster:
    """A server on a folder, which may be started again, and a scheduler."""

    def __init__(self, folder, *flags):
        self.server = world.Server(BERTH, folder, flags)
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.scheduler = None

    def __enter__(self):
        self.server.start()
        self.api = world.Client(self.server)
        with open(self.kubeconfig, "w", encoding="utf-8") as f:
            f.write(KUBECONFIG % (self.server.port, world.TOKEN))
        log = open(os.path.join(self.server.folder, "scheduler.log"), "w", encoding="utf-8")
        self.scheduler = subprocess.Popen([BERTH, "scheduler", "--kubeconfig", self.kubeconfig, "--secure-port=0", "--leader-elect=false"],
                                          stdout=log, stderr=log)
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.server.text()[-4000:], file=sys.stderr)
        self.scheduler.terminate()
        self.scheduler.wait(world.LIMIT)
        self.server.kill(15)

    def get(self, path):
        return self.api.ask("GET", path)[1]

    def make(self, path, body):
        code, answer = self.api.ask("POST", path, body)
        check(code == 201, "making %s" % path, answer)
        return answer

    def wait(self, what, path, holds):
        end = time.monotonic() + world.LIMIT
        while True:
            answer = self.get(path)
            try:
                if holds(answer):
                    return answer
            except (KeyError, IndexError, TypeError):
                pass
            if time.monotonic() > end:
                check(False, what, answer)
                return answer
            time.sleep(0.05)

    def node(self, *words):
        return subprocess.run([BERTH, "node", *words, "--kubeconfig", self.kubeconfig], capture_output=True, text=True, timeout=world.LIMIT)


def template(labels, notes=None, **spec):
    return {"metadata": {"labels": labels, "annotations": notes}, "spec": {"containers": [{"name": "c", "image": "registry.example/c:1"}], **spec}}


def nodes(c):
    got = c.wait("five nodes", "/api/v1/nodes", lambda v: len(v["items"]) == 5 and all(
        any(x["type"] == "Ready" and x["status"] == "True" for x in n["status"]["conditions"]) for n in v["items"]))
    names = [n["metadata"]["name"] for n in got["items"]]
    check(names == ["gpu", "worker-0", "worker-1", "worker-2", "worker-3"], "their names", names)
    gpu = got["items"][0]
    check(gpu["status"]["allocatable"]["nvidia.com/gpu"] == "2", "its devices", gpu["status"])
    c.wait("the not-ready taint goes", "/api/v1/nodes/gpu", lambda v: [t["key"] for t in v["spec"]["taints"]] == ["dedicated"])
    driver = c.wait("its driver", "/apis/storage.k8s.io/v1/csinodes/gpu", lambda v: v["spec"]["drivers"])["spec"]["drivers"][0]
    check(driver["name"] == "csi.example.com" and driver["allocatable"] == {"count": 5}, "the driver", driver)
    c.wait("leases", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
           lambda v: sorted(x["spec"]["holderIdentity"] for x in v["items"]) == names)


def deployment(c):
    labels = {"app": "web"}
    c.make(APPS + "/deployments", {"metadata": {"name": "web"}, "spec": {"replicas": 6, "selector": {"matchLabels": labels},
                                                                        "template": template(labels)}})
    c.wait("all are available", APPS + "/deployments/web", lambda v: v["status"]["availableReplicas"] == 6)
    pods = c.get(CORE + "/pods?labelSelector=app%3Dweb")["items"]
    check(len({p["status"]["podIP"] for p in pods}) == 6, "each has an address of its own", [p["status"] for p in pods])
    check(all(p["status"]["hostIP"].startswith("172.16.") and p["spec"]["nodeName"].startswith("worker-") for p in pods), "on a node",
          [p["status"] for p in pods])
    reasons = lambda: {e["reason"] for e in c.get(CORE + "/events")["items"] if e["involvedObject"]["kind"] == "Pod"}  # noqa: E731
    c.wait("Events", CORE + "/events", lambda _: reasons() >= {"Scheduled", "Pulled", "Created", "Started"})
    c.api.ask("PATCH", APPS + "/deployments/web/scale", {"spec": {"replicas": 0}}, world.MERGE)
    c.wait("they go", CORE + "/pods?labelSelector=app%3Dweb", lambda v: not v["items"])
    c.wait("and say so", CORE + "/events", lambda _: "Killing" in reasons())


def jobs(c):
    c.make(BATCH + "/jobs", {"metadata": {"name": "good"}, "spec": {"completions": 3, "parallelism": 3, "template": template(
        {}, {"berth.dev/run-seconds": "0"}, restartPolicy="Never")}})
    c.make(BATCH + "/jobs", {"metadata": {"name": "bad"}, "spec": {"backoffLimit": 0, "template": template(
        {}, {"berth.dev/run-seconds": "0", "berth.dev/exit-code": "7"}, restartPolicy="Never")}})
    c.wait("a Job is done", BATCH + "/jobs/good", lambda v: v["status"]["succeeded"] == 3)
    c.wait("another fails", BATCH + "/jobs/bad", lambda v: any(x["type"] == "Failed" for x in v["status"]["conditions"]))
    pod = c.get(CORE + "/pods?labelSelector=job-name%3Dbad")["items"][0]
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    check(pod["status"]["phase"] == "Failed" and ended["exitCode"] == 7 and ended["reason"] == "Error", "its pod", pod["status"])


def volumes(c):
    c.make("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "hollow"}, "provisioner": "berth.dev/hollow",
                                                      "volumeBindingMode": "WaitForFirstConsumer"})
    labels = {"app": "db"}
    claim = {"metadata": {"name": "d"}, "spec": {"storageClassName": "hollow", "accessModes": ["ReadWriteOnce"],
                                                 "resources": {"requests": {"storage": "1Gi"}}}}
    c.make(APPS + "/statefulsets", {"metadata": {"name": "db"}, "spec": {
        "replicas": 2, "serviceName": "db", "selector": {"matchLabels": labels}, "volumeClaimTemplates": [claim],
        "template": template(labels)}})
    c.wait("both are ready", APPS + "/statefulsets/db", lambda v: v["status"]["readyReplicas"] == 2)
    claims = c.get(CORE + "/persistentvolumeclaims")["items"]
    check([x["status"]["phase"] for x in claims] == ["Bound", "Bound"], "their claims", claims)


def stopped(c):
    check(c.node("stop", "worker-2").returncode == 0, "a node is stopped")
    lines = {line.split()[0]: line.split()[1] for line in c.node("list").stdout.splitlines()[1:]}
    check(lines.get("worker-2") == "stopped" and lines.get("gpu") == "running", "the list", lines)
    c.make(CORE + "/pods", {"metadata": {"name": "late"}, "spec": dict(template({})["spec"], nodeName="worker-2")})
    c.make(CORE + "/pods", {"metadata": {"name": "beside"}, "spec": dict(template({})["spec"], nodeName="worker-1")})
    c.wait("another node works", CORE + "/pods/beside", lambda v: v["status"]["phase"] == "Running")
    check(c.get(CORE + "/pods/late")["status"]["phase"] == "Pending", "a stopped one does not")
    wrong = c.node("stop", "nobody")
    check(wrong.returncode == 1 and 'nodes "nobody" not found' in wrong.stderr, "there is no such node", wrong.stderr)


def after_restart(c):
    check(c.get(CORE + "/pods/late")["status"]["phase"] == "Pending", "still stopped")
    check(c.node("start", "worker-2").returncode == 0, "a node is started")
    c.wait("it goes on", CORE + "/pods/late", lambda v: v["status"]["phase"] == "Running")
    c.wait("what was there is there", APPS + "/statefulsets/db", lambda v: v["status"]["readyReplicas"] == 2)


FAULTS = (
    (["--hollow-nodes=100000"], "--hollow-nodes: there may be 0 to 32768 nodes"),
    (["--hollow-nodes=1", "--hollow-node-file=x"], "only one of them may be given"),
    (["--hollow-node-file=/nowhere/nodes.yaml"], "/nowhere/nodes.yaml"),
    (["--hollow-node-file=%s/wrong.yaml"], 'wrong.yaml: unknown field "nodes[0].colour"'),
    (["--hollow-nodes=1", "--hollow-events=maybe"], '--hollow-events: "maybe" is none of auto, true, false'),
)


def faults(folder):
    with open(os.path.join(folder, "wrong.yaml"), "w", encoding="utf-8") as f:
        f.write("nodes: [{name: a, colour: red}]")
    for flags, text in FAULTS:
        flags = [flag.replace("%s", folder) for flag in flags]
        done = subprocess.run([BERTH, "apiserver", "--memory", "--bind-address=127.0.0.1", "--secure-port=%d" % world.free_port(),
                               "--cert-dir=" + folder, *flags], capture_output=True, text=True, timeout=world.LIMIT)
        check(done.returncode == 1 and text in done.stderr.replace('\\"', '"'), " ".join(flags), done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        faults(folder)
        path = os.path.join(folder, "nodes.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(NODES)
        cluster = Cluster(folder, "--hollow-node-file=" + path)
        with cluster as c:
            for story in (nodes, deployment, jobs, volumes, stopped):
                story(c)
        with cluster as c:
            after_restart(c)
    finish()


main()
