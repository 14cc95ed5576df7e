#!/usr/bin/env python3
"""live_cluster.py BERTH STAND_IN - commands that talk to a running cluster, here the stand-in API server of bench/live:
simulate, explain and bench with a kubeconfig; what a poor user is told; that nothing is written by who only reads."""
import collections
import json
import os
import pty
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

BERTH, STAND_IN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ENV = {k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}


def node(name, cpu="4"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}}


def pod(name, on=None, cpu="1", ns="shop"):
    spec = {"schedulerName": "default-scheduler", "priority": 0,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns, "labels": {"app": "web"}}, "spec": spec}


def deployment(name, replicas, cpu="1"):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": pod("x", cpu=cpu)["spec"]}}}


OBJECTS = ([node("n%d" % i) for i in range(7)] + [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in ("shop", "default")]
           + [pod("web-%d" % i, on="n%d" % (i % 3) if i < 5 else None) for i in range(11)]
           + [pod("huge", cpu="99"), deployment("cart", 3), pod("other", on="n6", ns="default")])


class StandIn:
    def __init__(self, folder, *options, objects=OBJECTS):
        self.kubeconfig, self.requests = os.path.join(folder, "kubeconfig"), os.path.join(folder, "requests")
        path = os.path.join(folder, "objects.json")
        with open(path, "w") as f:
            json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, f)
        self.child = subprocess.Popen([STAND_IN, "--kubeconfig", self.kubeconfig, "--requests", self.requests, "-f", path, *options],
                                      stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline().startswith("listening")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()

    def berth(self, *words, **more):
        return subprocess.run([BERTH, words[0], "--kubeconfig", self.kubeconfig, *words[1:]], capture_output=True, text=True, env=ENV, **more)

    def verbs(self):
        return collections.Counter(line.split()[0] for line in open(self.requests))


def items(s, path):
    """As the server shows them: with uid and version, which say that it has gone over them."""
    address = open(s.kubeconfig).read().split("server: ")[1].split()[0]
    request = urllib.request.Request(address + path, headers={"Accept": "application/json", "Authorization": "Bearer any"})
    return json.load(urllib.request.urlopen(request, context=ssl._create_unverified_context()))["items"]


def bind_all(s, stop):
    """A scheduler that puts every pod on the first node."""
    address = open(s.kubeconfig).read().split("server: ")[1].split()[0]
    while not stop.is_set():
        nodes = items(s, "/api/v1/nodes")
        for p in items(s, "/api/v1/pods") if nodes else []:
            if p["spec"].get("nodeName") or p["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "9":
                continue
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": p["metadata"]["name"]},
                    "target": {"kind": "Node", "name": nodes[0]["metadata"]["name"]}}
            path = "/api/v1/namespaces/%s/pods/%s/binding" % (p["metadata"]["namespace"], p["metadata"]["name"])
            request = urllib.request.Request(address + path, method="POST", data=json.dumps(body).encode(),
                                             headers={"Content-Type": "application/json", "Authorization": "Bearer any"})
            try:
                urllib.request.urlopen(request, context=ssl._create_unverified_context()).read()
            except urllib.error.HTTPError as e:
                assert e.code in (404, 409), e  # it is being deleted
        time.sleep(0.01)


def dump(s, folder):
    """What kubectl get KINDS -A -o json would print."""
    paths = "/api/v1/pods", "/api/v1/nodes", "/api/v1/namespaces", "/apis/apps/v1/deployments"
    path = os.path.join(folder, "dump.json")
    with open(path, "w") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [o for p in paths for o in items(s, p)]}, f)
    return path


CHECKS = []


def check(f):
    CHECKS.append(f)
    return f


def has(done, code, *texts, err=()):
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    for text in texts:
        assert text in done.stdout, (text, done.stdout)
    for text in err:
        assert text in done.stderr, (text, done.stderr)


@check
def the_same_answers_as_from_a_dump(folder):
    for how in ((), ("--page", "2"), ("--page", "2", "--expire"), ("--plain",)):
        with StandIn(folder, *how) as s:
            file = dump(s, folder)
            for words in (("-o", "json"), ("-o", "name"), ("--drain", "n1", "-o", "json"), ("--scale", "deploy/shop/cart=9", "-o", "wide"),
                          ("--nodes-needed", "--like", "n0", "-o", "json"), ("--remove-node", "n2", "-o", "text")):
                live = s.berth("simulate", *words)
                dumped = subprocess.run([BERTH, "simulate", "-f", file, *words], capture_output=True, text=True)
                assert (live.returncode, live.stdout) == (dumped.returncode, dumped.stdout), (how, words, live.stdout, live.stderr, dumped.stdout)
                assert live.returncode == 3 and live.stdout, live
            for name in ("shop/web-7", "shop/huge", "shop/web-0"):
                live = s.berth("explain", name, "-o", "json")
                dumped = subprocess.run([BERTH, "explain", name, "-f", file, "-o", "json"], capture_output=True, text=True)
                assert (live.returncode, live.stdout) == (dumped.returncode, dumped.stdout), (how, name, live.stderr)
            assert set(s.verbs()) == {"GET"}, s.verbs()


@check
def files_on_top_of_a_cluster(folder):
    extra = os.path.join(folder, "extra.json")
    with open(extra, "w") as f:
        json.dump(deployment("cart", 5), f)
    with StandIn(folder) as s:
        has(s.berth("simulate", "-f", extra, "-o", "name"), 3, "shop/cart-", err=["Deployment shop/cart takes the place of the one in https://127.0.0.1"])
        has(s.berth("explain", "huge", "-n", "shop", "-f", extra), 3, "shop/huge is pending")


@check
def a_poor_user_is_told_which_right_is_missing(folder):
    with StandIn(folder, "--forbid", "poddisruptionbudgets", "--not-served", "csidrivers", "--forbid-all", "deployments") as s:
        has(s.berth("simulate"), 3, "Placed", err=[
            'poddisruptionbudgets are left out: the right is missing: list on resource "poddisruptionbudgets" in API group "policy"',
            "csidrivers are left out: the server does not serve them in version v1",
            'only the deployments of namespace default are read: the right is missing: list on resource "deployments" in API group "apps" in all namespaces'])
    with StandIn(folder, "--forbid", "nodes") as s:
        has(s.berth("simulate"), 1, err=['cannot read nodes: the right is missing: list on resource "nodes" in API group "" at the cluster scope'])
        has(s.berth("explain", "shop/huge"), 1, err=["cannot read nodes: the right is missing"])


@check
def contexts_and_credentials(folder):
    with StandIn(folder, "--token", "right") as s:
        has(s.berth("simulate"), 3)
        has(s.berth("simulate", "--context", "nowhere"), 1, err=['context "nowhere" does not exist'])
        has(s.berth("simulate", "--context", "stand-in", "--user", "user", "--cluster", "stand-in"), 3)
        has(s.berth("simulate", "--server", "https://127.0.0.1:1"), 1, err=["cannot read pods: Get \"https://127.0.0.1:1/"])
        text = open(s.kubeconfig).read()
        with open(s.kubeconfig, "w") as f:
            f.write(text.replace("token: right", "token: wrong"))
        has(s.berth("simulate"), 1, err=["cannot read pods: Unauthorized"])
        with open(s.kubeconfig, "w") as f:
            f.write(text)
        done = subprocess.run([BERTH, "simulate", "--live"], capture_output=True, text=True, env=dict(ENV, KUBECONFIG=s.kubeconfig))
        has(done, 3, "Placed")
        done = subprocess.run([BERTH, "explain", "shop/huge"], capture_output=True, text=True, env=dict(ENV, KUBECONFIG=s.kubeconfig))
        has(done, 3, "shop/huge is pending")
        home = os.path.join(folder, "home", ".kube")
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, "config"), "w") as f:
            f.write(text)
        done = subprocess.run([BERTH, "simulate", "--live"], capture_output=True, text=True, env=dict(ENV, HOME=os.path.join(folder, "home")))
        has(done, 3, "Placed")
    nobody = dict(ENV, HOME=os.path.join(folder, "nobody"))
    has(subprocess.run([BERTH, "simulate"], capture_output=True, text=True, env=nobody), 2, err=["nothing to read", "--live"])
    has(subprocess.run([BERTH, "explain", "p"], capture_output=True, text=True, env=nobody), 1, err=["no configuration has been provided"])
    in_pod = dict(nobody, KUBERNETES_SERVICE_HOST="127.0.0.1", KUBERNETES_SERVICE_PORT="1")
    has(subprocess.run([BERTH, "simulate", "--live"], capture_output=True, text=True, env=in_pod), 1, err=["/var/run/secrets/kubernetes.io/serviceaccount/token"])
    has(subprocess.run([BERTH, "simulate", "--server", "https://127.0.0.1:1"], capture_output=True, text=True, env=in_pod), 1, err=["https://127.0.0.1:1"])


EXPLANATION = {
    "kind": "Explanation", "version": 1, "state": "pending", "node": None, "outcome": "rejected", "chosen": None,
    "pod": {"namespace": "shop", "name": "huge", "owner": None, "schedulerName": "default-scheduler", "priority": 5},
    "summary": {"nodes": 7, "compared": 0, "notCompared": 0, "refused": 7}, "compared": [],
    "reasons": [{"plugin": "NodeResourcesFit", "reason": "Insufficient cpu", "code": "Unschedulable", "count": 7, "nodes": ["n1", "n2\x1b[31m"]}],
    "message": "0/7 nodes are available: 7 Insufficient cpu.", "preemption": None, "remedies": [{"kind": "addNode", "text": "add a node"}]}


@check
def a_running_scheduler_is_asked_first(folder):
    answer = os.path.join(folder, "answer.json")

    def say(**changes):
        with open(answer, "w") as f:
            json.dump(dict(EXPLANATION, **changes), f)
    scheduler = dict(pod("kube-scheduler-a", on="n0", ns="kube-system"))
    scheduler["metadata"] = dict(scheduler["metadata"], labels={"component": "kube-scheduler"})
    with StandIn(folder, "--explain", answer, objects=OBJECTS + [scheduler]) as s:
        say()
        has(s.berth("explain", "shop/huge"), 3, "shop/huge is pending; now none of 7 nodes fits", "7  NodeResourcesFit  Insufficient cpu: n1, n2\\x1b[31m",
            "1. add a node", "Answered by the scheduler at kube-system/kube-scheduler-a")
        done = s.berth("explain", "shop/huge", "-o", "json")
        assert done.returncode == 3 and json.loads(done.stdout) == EXPLANATION, done
        target = [line.split()[:2] for line in open(s.requests) if "/proxy/" in line][-1]
        assert target == ["GET", "/api/v1/namespaces/kube-system/pods/https:kube-scheduler-a:10259/proxy/berth/v1/explain?pod=shop%2Fhuge"], target
        s.berth("explain", "huge", "-o", "json", "--top", "3")
        target = [line.split()[:2] for line in open(s.requests) if "/proxy/" in line][-1]
        assert target[1].endswith("?pod=default%2Fhuge&nodes=3"), target
        say(state="running", node="n1", chosen="n2", compared=[{"name": "n2", "total": 7, "scores": {"A": 3, "B": 4}}])
        has(s.berth("explain", "shop/huge"), 0, "shop/huge is on n1; now it would go to n2", "n2  7  = A 3 + B 4")
        n_asked = len([line for line in open(s.requests) if "/proxy/" in line])
        has(s.berth("explain", "shop/huge", "--seed", "2"), 3, "What would place it")  # a question that only its own engine answers
        assert n_asked == len([line for line in open(s.requests) if "/proxy/" in line])
        with open(answer, "w") as f:
            f.write("<html>")
        has(s.berth("explain", "shop/huge"), 3, "shop/huge is pending", "What would place it")  # and so it does
    with StandIn(folder) as s:
        address = open(s.kubeconfig).read().split("server: ")[1].split()[0]
        has(s.berth("explain", "shop/huge", "--scheduler-address", address), 1, err=[address, "could not find the requested resource"])
        has(s.berth("explain", "shop/huge", "--scheduler-address", address, "--insecure-skip-tls-verify"), 1, err=["could not find"])
        has(s.berth("explain", "shop/huge", "--scheduler-address", address, "--scheduler-ca", "/nowhere"), 1, err=["/nowhere"])
        has(s.berth("explain", "shop/huge", "--scheduler-address", "http://x"), 2, err=["--scheduler-address is https://HOST:PORT"])
        has(s.berth("explain", "shop/huge", "--scheduler-ca", "x"), 2, err=["belong to --scheduler-address"])


@check
def a_bench_cleans_up_what_it_made(folder):
    """Nobody schedules here: it runs into its time and deletes everything."""
    with StandIn(folder, objects=[]) as s:
        done = s.berth("bench", "SchedulingBasic/5000Nodes_10000Pods", "--nodes", "5", "--pods", "20", "--init-pods", "3", "--timeout", "1")
        has(done, 1, err=["after 1 s only 0 of 3 init pods have nodes: does a scheduler run?"])
        for path in ("pods", "nodes", "namespaces", "serviceaccounts"):
            assert items(s, "/api/v1/" + path) == [], path
        assert items(s, "/apis/scheduling.k8s.io/v1/priorityclasses") == []
        for content in ("protobuf", "json"):
            done = s.berth("bench", "SchedulingBasic/5000Nodes_10000Pods", "--nodes", "5", "--pods", "20", "--init-pods", "0", "--timeout", "1",
                           "-o", "json", "--keep", "--yes", "--content", content)
            has(done, 1, '"pods":20,"bound":0', err=["only 0 of 20 pods have nodes", "kept: everything with the label berth-bench="])
        pods, nodes = items(s, "/api/v1/pods"), items(s, "/api/v1/nodes")
        assert len(pods) == 40 and len(nodes) == 10, (len(pods), len(nodes))
        assert {p["metadata"]["labels"]["berth-bench"] for p in pods} == {n["metadata"]["labels"]["berth-bench"] for n in nodes}
        specs = [json.dumps(p["spec"], sort_keys=True) for p in pods]
        assert len(set(specs)) == 1, set(specs)  # both forms of requests make the same pods
        has(s.berth("bench", "SchedulingBasic/5000Nodes_10000Pods"), 1, err=["the cluster has nodes of its own"])
        assert len(items(s, "/api/v1/nodes")) == 10


@check
def a_bench_counts_pods_that_get_nodes(folder):
    for how in ((), ("--no-streaming", "--page", "7")):
        with StandIn(folder, *how, objects=[]) as s:
            stop = threading.Event()
            binder = threading.Thread(target=bind_all, args=(s, stop))
            binder.start()
            try:
                for words, n in ((("SchedulingBasic/5000Nodes_10000Pods", "--nodes", "3", "--pods", "40", "--init-pods", "5"), 40),
                                 (("MixedSchedulingBasePod", "--nodes", "3", "--pods", "4", "--init-pods", "2"), 4),
                                 (("Unschedulable/", "--nodes", "3", "--pods", "4", "--init-pods", "2"), 4),
                                 (("SchedulingPreferredAntiAffinityWithNSSelector", "--nodes", "3", "--pods", "4", "--init-pods", "110"), 4)):
                    done = s.berth("bench", *words, "-o", "json", "--scheduler-pid", str(os.getpid()), "--in-flight", "7", "--timeout", "120")
                    has(done, 0)
                    result = json.loads(done.stdout)
                    assert result["bound"] == result["pods"] == n and result["seconds"] > 0 and result["throughput"] > 0, result
                    times = result["create_to_bound_ms"]
                    assert 0 < times["p50"] <= times["p99"] <= times["p99.9"] <= times["max"], result
                    assert result["scheduler"]["cpu_seconds_per_1000"] >= 0 and result["scheduler"]["rss_bytes"] > 1 << 20, result
                has(s.berth("bench", "SchedulingBasic/5000Nodes_10000Pods", "--nodes", "3", "--pods", "4", "--init-pods", "0"), 0, "pods/s", "SchedulingBasic")
            finally:
                stop.set()
                binder.join()
            for path in ("pods", "nodes", "namespaces", "services", "serviceaccounts"):
                assert items(s, "/api/v1/" + path) == [], path


@check
def a_scheduler_of_berth_answers(folder):
    """The daemon on the stand-in: what it decides is seen, and it says why."""
    config, certs = os.path.join(folder, "scheduler.yaml"), os.path.join(folder, "certs")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with StandIn(folder) as s:
        with open(config, "w") as f:
            f.write("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"
                    "clientConnection: {kubeconfig: %s, qps: 5000, burst: 5000}\n" % s.kubeconfig)
        log = open(os.path.join(folder, "scheduler.log"), "w")
        scheduler = subprocess.Popen([BERTH, "scheduler", "--config", config, "--secure-port", str(port), "--bind-address", "127.0.0.1", "--cert-dir", certs,
                                      "--authentication-kubeconfig", s.kubeconfig, "--authorization-kubeconfig", s.kubeconfig],
                                     stdout=log, stderr=log, env=ENV)
        try:
            for _ in range(1200):
                pending = [p for p in items(s, "/api/v1/pods") if not p["spec"].get("nodeName")]
                if len(pending) == 1 or scheduler.poll() is not None:
                    break
                time.sleep(0.05)
            assert [p["metadata"]["name"] for p in pending] == ["huge"], (pending, open(log.name).read()[-3000:])
            where = "--scheduler-address", "https://127.0.0.1:%d" % port, "--scheduler-ca", os.path.join(certs, "kube-scheduler.crt")
            has(s.berth("explain", "shop/huge", *where), 3, "shop/huge is pending; now none of 7 nodes fits", "Insufficient cpu", "What would place it",
                "Answered by the scheduler at https://127.0.0.1:%d" % port)
            done = s.berth("explain", "shop/web-7", *where, "-o", "json")
            has(done, 0)
            answer = json.loads(done.stdout)
            assert answer["kind"] == "Explanation" and answer["state"] == "running" and answer["decision"]["outcome"] == "placed", answer
            has(s.berth("explain", "shop/nobody", *where), 1, err=['pods "nobody" not found'])
            has(s.berth("explain", "shop/huge", *where[:2]), 1, err=["certificate"])  # signed by itself, not by the kubeconfig's authority
            done = s.berth("bench", "SchedulingBasic/5000Nodes_10000Pods", "--nodes", "20", "--pods", "100", "--init-pods", "10", "--yes", "-o", "json",
                           "--scheduler-pid", str(scheduler.pid))
            has(done, 0, '"pods":100,"bound":100')
            assert len(items(s, "/api/v1/pods")) == 13
        finally:
            scheduler.terminate()
            scheduler.wait()


@check
def how_far_it_is(folder):
    """On a terminal."""
    with StandIn(folder, "--page", "1", "--pods", "300") as s:
        ours, theirs = pty.openpty()
        child = subprocess.Popen([BERTH, "simulate", "--kubeconfig", s.kubeconfig, "-o", "name"], stdout=subprocess.DEVNULL, stderr=theirs,
                                 env=dict(ENV, BERTH_PROGRESS_AFTER_MS="0"))
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        assert child.wait() == 3, child.returncode
        assert b"reading the cluster: " in text and b" objects" in text, text[:1000]


@check
def a_bench_that_is_interrupted_cleans_up(folder):
    with StandIn(folder, objects=[]) as s:
        child = subprocess.Popen([BERTH, "bench", "--kubeconfig", s.kubeconfig, "SchedulingBasic/5000Nodes_10000Pods", "--nodes", "5", "--pods", "50",
                                  "--init-pods", "0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(600):
            if len(items(s, "/api/v1/pods")) == 50:
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=120)
        assert child.returncode == 130 and "what was created is deleted" in err, (child.returncode, err)
        for path in ("pods", "nodes", "namespaces"):
            assert items(s, "/api/v1/" + path) == [], path


@check
def a_bench_tells_what_it_cannot_do(folder):
    with StandIn(folder, objects=[]) as s:
        for words, text in (((), "name a workload"), (("--engine",), "say what to measure"), (("X", "--config", "x"), "has its own configuration"),
                            (("X", "--in-flight", "0"), "--in-flight is a number from 1 to 900"), (("X", "--timeout", "x"), "--timeout is a number"),
                            (("X", "--content", "xml"), "--content is protobuf or json"), (("X", "--decisions"), "--decisions goes with --engine")):
            has(s.berth("bench", *words), 2, err=[text])
        has(s.berth("bench", "nothing-like-this"), 1, err=["no workload has such a name"])


def main():
    for f in CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            f(folder)
        print("ok", f.__name__)


main()
