#!/usr/bin/env python3
"""tests/peers/test_live_commands.py BERTH - simulate, explain and bench of berth on a real etcd and kube-apiserver, with RBAC.

The programs are found as bench/live/peers.py says; without them the test is skipped (exit code 77)."""
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile

BERTH = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/live"))
import peers  # noqa: E402

ENV = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}


def meta(name, ns=None, **labels):
    return dict({"name": name, "labels": labels}, **({"namespace": ns} if ns else {}))


def node(name, zone, cpu="4"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta(name, **{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}),
            "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}, "capacity": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}}


def template(cpu, **more):
    return dict({"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "100Mi"}}}]}, **more)


def pod(name, cpu="1", **more):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, "shop", app="web"), "spec": template(cpu, **more)}


def deployment(name, replicas, cpu):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name, "shop", app=name),
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": template(cpu)}}}


SPREAD = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
           "labelSelector": {"matchLabels": {"app": "web"}}}]
OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": meta("shop")},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta("high"), "value": 100},
    {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta("l", "shop"),
     "spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": "50Mi"}}]}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta("web", "shop"),
     "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta("slow"), "provisioner": "example.com/p",
     "volumeBindingMode": "WaitForFirstConsumer"},
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("data", "shop"),
     "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "slow", "resources": {"requests": {"storage": "1Gi"}}}},
    {"apiVersion": "v1", "kind": "Service", "metadata": meta("web", "shop"), "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}},
] + [node("n%d" % i, "z%d" % (i % 3)) for i in range(9)] + [pod("web-%02d" % i, topologySpreadConstraints=SPREAD) for i in range(12)] + [
    pod("huge", cpu="77"), pod("urgent", priorityClassName="high"),
    pod("stored", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]), deployment("cart", 4, "500m"), deployment("late", 2, "50")]

RIGHTS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-some}
rules: [{apiGroups: [""], resources: [pods, nodes], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reads-some}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-some}
subjects: [{kind: User, name: poor}]
"""


def berth(*words, stdin=None):
    return subprocess.run([BERTH, *words], capture_output=True, text=True, env=ENV, input=stdin)


def need(done, code=0):
    assert done.returncode == code, (done.args, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def fill(servers):
    need(servers.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS})))
    for i in range(5):
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web-%02d" % i}, "target": {"kind": "Node", "name": "n%d" % i}}
        need(servers.kubectl("create", "--raw", "/api/v1/namespaces/shop/pods/web-%02d/binding" % i, "-f", "-", stdin=json.dumps(binding)))


def same_answers(servers):
    kinds = need(berth("simulate", "--kinds")).strip()
    dump = need(servers.kubectl("get", kinds, "-A", "-o", "json"))
    questions = [(), ("-o", "json"), ("-o", "name"), ("-o", "wide"), ("--drain", "n1", "-o", "json"), ("--cordon", "n4", "--scale", "deploy/shop/cart=9", "-o", "json"),
                 ("--remove-node", "n2", "-o", "json"), ("--add-nodes", "2", "--like", "n0", "-o", "json"), ("--nodes-needed", "--like", "n0", "-o", "json")]
    for words in questions:
        live, dumped = berth("simulate", "--kubeconfig", servers.kubeconfig, *words), berth("simulate", "-f", "-", *words, stdin=dump)
        assert (live.returncode, live.stdout) == (dumped.returncode, dumped.stdout), (words, live.stdout[:3000], dumped.stdout[:3000], live.stderr)
        assert live.returncode in (0, 3) and "huge" in live.stdout + dump, words
    for name in ("web-00", "web-07", "huge", "urgent", "stored"):
        live = berth("explain", "shop/" + name, "--kubeconfig", servers.kubeconfig, "-o", "json")
        dumped = berth("explain", "shop/" + name, "-f", "-", "-o", "json", stdin=dump)
        assert (live.returncode, live.stdout) == (dumped.returncode, dumped.stdout), (name, live.stdout[:3000], dumped.stdout[:3000], live.stderr)
        assert json.loads(live.stdout)["pod"]["name"] == name


def only_reads(servers):
    verbs = collections.Counter()
    for line in open(servers.audit):
        entry = json.loads(line)
        if entry.get("userAgent", "") == "berth":
            verbs[entry["verb"]] += 1
    assert verbs and set(verbs) <= {"list", "get"}, verbs


def poor_users(servers):
    done = berth("simulate", "--kubeconfig", servers.kubeconfig, "--context", "poor")
    assert done.returncode == 1 and 'the right is missing: list on resource "' in done.stderr, done.stderr
    assert 'User "poor" cannot list resource' in done.stderr, done.stderr
    need(servers.kubectl("apply", "-f", "-", stdin=RIGHTS))
    for _ in range(100):  # until the authorizer has seen it
        done = berth("simulate", "--kubeconfig", servers.kubeconfig, "--context", "poor")
        if done.returncode != 1:
            break
    assert done.returncode == 3 and "shop/huge" in done.stdout, (done.stdout, done.stderr)
    assert 'poddisruptionbudgets are left out: the right is missing: list on resource "poddisruptionbudgets" in API group "policy"' in done.stderr, done.stderr
    done = berth("explain", "shop/huge", "--kubeconfig", servers.kubeconfig, "--context", "poor")
    assert done.returncode == 3 and "Insufficient cpu" in done.stdout, (done.stdout, done.stderr)


def left(servers):
    names = need(servers.kubectl("get", "pods,nodes,namespaces,serviceaccounts,services,priorityclasses", "-A", "-l", "berth-bench", "-o", "name"))
    return names.split()


def benches(servers, folder):
    scheduler = peers.start_scheduler(peers.real_scheduler(), folder, servers.kubeconfig)
    try:
        for words in (("SchedulingBasic/5000Nodes_10000Pods", "--nodes", "20", "--init-pods", "10", "--pods", "60"),
                      ("SchedulingBasic/5000Nodes_10000Pods", "--nodes", "20", "--init-pods", "0", "--pods", "60", "--content", "json"),
                      ("PreemptionBasic", "--nodes", "5", "--init-pods", "20", "--pods", "5"), ("DefaultTopologySpreading", "--divide", "500"),
                      ("SchedulingRequiredPodAffinityWithNSSelector", "--nodes", "5", "--init-pods", "10", "--pods", "10")):
            done = berth("bench", "--kubeconfig", servers.kubeconfig, *words, "-o", "json", "--scheduler-pid", str(scheduler.pid), "--timeout", "120")
            result = json.loads(need(done))
            assert result["bound"] == result["pods"] > 0 and result["throughput"] > 0, result
            times = result["create_to_bound_ms"]
            assert 0 < times["p50"] <= times["p99"] <= times["p99.9"] <= times["max"], times
            assert result["scheduler"]["rss_bytes"] > 0, result
            assert left(servers) == [], left(servers)
    finally:
        peers.stop(scheduler)


def refuses_foreign_nodes(servers):
    done = berth("bench", "--kubeconfig", servers.kubeconfig, "SchedulingBasic/5000Nodes_10000Pods", "--nodes", "2", "--pods", "2")
    assert done.returncode == 1 and "the cluster has nodes of its own" in done.stderr, done.stderr
    assert left(servers) == [], left(servers)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended, too
    if not peers.available("etcd", "kube-apiserver", "kube-scheduler", "kubectl"):
        print("the real programs are not there: set PEERS_BIN")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        servers = peers.Servers(folder, rbac=True)
        try:
            benches(servers, folder)
            print("ok benches", flush=True)
            open(servers.audit, "w").close()
            fill(servers)
            same_answers(servers)
            print("ok same_answers", flush=True)
            only_reads(servers)
            print("ok only_reads", flush=True)
            poor_users(servers)
            print("ok poor_users", flush=True)
            refuses_foreign_nodes(servers)
            print("ok refuses_foreign_nodes", flush=True)
        finally:
            servers.stop()


main()
