#!/usr/bin/env python3
"""up.py BERTH - `berth up`: a control plane in one process, as people and scripts start, ask, stop and kill it.

UP_KILLS (5) says how often it is killed under load, UP_SEED (by chance, printed) at which moments."""
import base64
import http.client
import json
import os
import random
import re
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time

import api_world
from api_world import LIMIT, Client, NotSent, Unknown, Watch, check, eventually, free_port

KILLS = int(os.environ.get("UP_KILLS") or 5)
SEED = int(os.environ.get("UP_SEED") or random.randrange(1 << 31))
BERTH = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp(prefix="berth-up-")
TEMPORARY = os.path.join(FOLDER, "tmp")
PODS = "/api/v1/namespaces/default/pods"
VIEWERS_MAX = 32
NODE_CPU, POD_CPU = 4000, 100  # thousandths
ENV = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
ENV.update(HOME=FOLDER, TMPDIR=TEMPORARY)


def berth(*words, stdin=None, env=None):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([BERTH, *words], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                          env=dict(ENV, **(env or {})))
    return done.returncode, done.stdout, done.stderr


def trust_of(kubeconfig):
    """A TLS context with the administrator's certificate, which believes the kubeconfig's authority alone."""
    with open(kubeconfig, encoding="ascii") as f:
        data = dict(re.findall(r"(\S+)-data: (\S+)", f.read()))
    context = ssl.create_default_context(cadata=base64.b64decode(data["certificate-authority"]).decode())
    with tempfile.NamedTemporaryFile(dir=FOLDER) as pem:
        pem.write(base64.b64decode(data["client-certificate"]) + base64.b64decode(data["client-key"]))
        pem.flush()
        context.load_cert_chain(pem.name)
    return context


class Up:
    """One in the foreground."""

    def __init__(self, *flags, port=None):
        self.port = port or free_port()
        self.flags, self.process, self.lines, self.trust, self.kubeconfig = flags, None, [], None, None

    def start(self):
        with open(os.path.join(FOLDER, "stderr"), "a", encoding="utf-8") as errors:
            self.process = subprocess.Popen([BERTH, "up", "--port", str(self.port), *self.flags], stdout=subprocess.PIPE,
                                            stderr=errors, text=True, env=ENV)
        self.lines = []
        while not self.lines or not self.lines[-1].startswith("  berth get"):
            line = self.process.stdout.readline()
            if not line:
                with open(os.path.join(FOLDER, "stderr"), encoding="utf-8") as f:
                    raise AssertionError("berth up did not start: " + f.read()[-3000:])
            self.lines.append(line.rstrip("\n"))
        self.kubeconfig = self.lines[1].split(": ", 1)[1]
        self.trust = trust_of(self.kubeconfig)
        return self

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(LIMIT)
        self.process.stdout.close()
        return code

    def client(self):
        return Client(self, token=None)

    def env(self):
        return {"KUBECONFIG": self.kubeconfig}


def node(name):
    amounts = {"cpu": "%dm" % NODE_CPU, "memory": "64Gi", "pods": "1000"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"capacity": amounts, "allocatable": amounts,
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}


def pod(name, cpu=POD_CPU):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "web", "resources": {"requests": {"cpu": "%dm" % cpu}}}]}}


def make_node(client, thing):
    """A new node is tainted until the controller of nodes has seen it ready; here there is none."""
    code, answer = client.post("/api/v1/nodes", thing)
    check(code == 201, "a node is made", answer)
    code, answer = client.patch("/api/v1/nodes/" + thing["metadata"]["name"], {"spec": {"taints": None}})
    check(code == 200, "a node is ready", answer)


def node_of(thing):
    return thing["spec"].get("nodeName", "")


def all_bound(client, n):
    pods = client.get(PODS)[1]["items"]
    return len(pods) >= n and all(node_of(p) for p in pods)


def check_overcommitment(pods):
    used = {}
    for p in pods:
        used[node_of(p)] = used.get(node_of(p), 0) + POD_CPU
    check(all(n <= NODE_CPU for name, n in used.items() if name), "nothing is overcommitted", used)


# ---- A first session ----

def first_session(up, data):
    check(up.lines[0] == "berth up is ready at https://127.0.0.1:%d" % up.port, "the words that scripts wait for", up.lines)
    check(up.kubeconfig == os.path.join(data, "kubeconfig"), "where the kubeconfig is", up.lines)
    check(up.lines[-2] == "  export KUBECONFIG=" + up.kubeconfig, "what to type next", up.lines)
    for name in ("kubeconfig", "pki/ca.key", "pki/admin.key", "pki/apiserver.key", "pki/sa.key"):
        mode = stat.S_IMODE(os.stat(os.path.join(data, name)).st_mode)
        check(mode == 0o600, "%s is its owner's" % name, oct(mode))
    code, out, err = berth("get", "namespaces", env=up.env())
    check(code == 0 and out.startswith("NAME ") and "kube-system" in out, "berth get", (code, out, err))
    kubectl = shutil.which("kubectl")
    if kubectl:
        done = subprocess.run([kubectl, "get", "namespaces", "-o", "name"], stdout=subprocess.PIPE, text=True, timeout=LIMIT,
                              env=dict(ENV, **up.env()))
        check("namespace/kube-system" in done.stdout, "kubectl", done.stdout)
    root = up.client().get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")
    with open(os.path.join(data, "pki/ca.crt"), encoding="ascii") as f:
        ca = f.read()
    check(eventually(lambda: up.client().get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")[0] == 200), "root CA", root)
    check(up.client().get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")[1]["data"]["ca.crt"] == ca, "pods trust it")


def scheduling(up):
    client = up.client()
    for i in range(4):
        make_node(client, node("node-%d" % i))
    watch = Watch(up, PODS + "?watch=true&resourceVersion=%s" % client.get(PODS)[1]["metadata"]["resourceVersion"], token=None)
    for i in range(30):
        code, answer = client.post(PODS, pod("web-%02d" % i))
        check(code == 201, "a pod is made", answer)
    check(eventually(lambda: all_bound(client, 30)), "all pods are bound")

    def is_told(events):
        return sum(1 for e in events if e["type"] == "MODIFIED" and node_of(e["object"])) >= 30
    check(watch.wait(is_told), "the watch tells of all bindings", len(watch.events))
    check_order(watch.events)
    watch.close()
    check_overcommitment(client.get(PODS)[1]["items"])

    def scheduled():
        found = client.get("/api/v1/namespaces/default/events?fieldSelector=reason%3DScheduled")[1]["items"]
        return len(found) == 30 and all(e["reportingComponent"] == "default-scheduler" for e in found)
    check(eventually(scheduled), "an Event for each of them")
    bound = client.get(PODS + "/web-00")[1]
    check(any(c["type"] == "PodScheduled" and c["status"] == "True" for c in bound["status"]["conditions"]), "the condition", bound)
    client.close()


def check_order(events):
    """Versions grow, and a pod is there before it has a node, which it gets once."""
    last, nodes = 0, {}
    for e in events:
        thing = e["object"]
        version, name = int(thing["metadata"]["resourceVersion"]), thing["metadata"]["name"]
        check(version > last, "versions grow", (version, last))
        last = version
        if e["type"] == "ADDED":
            check(not node_of(thing), "a new pod has no node", name)
            nodes[name] = ""
        elif e["type"] == "MODIFIED":
            check(nodes.get(name) in ("", node_of(thing)), "bound once", (name, nodes.get(name), node_of(thing)))
            nodes[name] = node_of(thing)


def refused_pod(up):
    """One that fits nowhere, and gets a node when there is one."""
    client = up.client()
    client.post(PODS, pod("huge", NODE_CPU + 1))

    def condition():
        return [c for c in client.get(PODS + "/huge")[1]["status"].get("conditions", []) if c["type"] == "PodScheduled"]
    check(eventually(lambda: condition() and condition()[0]["reason"] == "Unschedulable"), "it is told that it fits nowhere", condition())
    check("Insufficient cpu" in condition()[0]["message"], "and why", condition())
    code, out, err = berth("explain", "default/huge", env=up.env())
    check(code == 3 and "Insufficient cpu" in out and "127.0.0.1" in out, "berth explain finds the scheduler", (code, out, err))
    large = node("large")
    large["status"]["allocatable"]["cpu"] = "8"
    make_node(client, large)
    check(eventually(lambda: node_of(client.get(PODS + "/huge")[1]) == "large"), "a new node wakes it")
    client.delete(PODS + "/huge")
    client.delete("/api/v1/nodes/large")
    client.close()


def questions(up):
    client, nobody = up.client(), Up(port=up.port)
    code, answer = client.get("/berth/v1/explain?pod=default%2Fweb-00")
    check(code == 200 and answer["kind"] == "Explanation", "explain", answer)
    code, answer = client.get("/berth/v1/decisions?limit=5")
    check(code == 200 and answer["kind"] == "Decisions" and answer["decisions"], "decisions", answer)
    code, answer = client.post("/berth/v1/what-if", {"drain": ["node-0"]})
    check(code in (200, 400), "what-if is answered", answer)
    code, answer = client.get("/berth/v1/explain?pod=default%2Fnobody")
    check(code == 404 and answer["kind"] == "Status", "a pod that is not there", (code, answer))
    code, answer = client.ask("DELETE", "/berth/v1/explain")
    check(code == 405, "another method", (code, answer))
    code, answer = Client(nobody, token=None).get("/berth/v1/decisions")
    check(code in (401, 403), "strangers are not answered", (code, answer))
    metrics = client.text("/metrics")
    check("scheduler_schedule_attempts_total" in metrics and "apiserver_request_total" in metrics, "one page of metrics")
    bindings = [line for line in metrics.splitlines() if line.startswith("apiserver_request_total{") and 'subresource="binding"' in line]
    check(bindings and float(bindings[0].rsplit(" ", 1)[1]) >= 30, "bindings are counted as over HTTP", bindings)
    client.close()


# ---- berth get, apply, delete ----

MANIFEST = """apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec: {containers: [{name: c, image: web}]}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}, data: {a: b}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: b}}
"""


def is_let_in(ask):
    connection, answer = ask("/berth/v1/live")
    connection.close()
    return answer.status == 200


def dashboard(up):
    """Plain, for this machine: a page, and a stream as long as somebody reads."""
    address = next(line for line in up.lines if line.startswith("dashboard: http://127.0.0.1:")).split(": ", 1)[1]
    host = address.split("/")[2]

    def ask(path, name=None):
        connection = http.client.HTTPConnection(host, timeout=LIMIT)
        connection.request("GET", path, headers={"Host": name} if name else {})
        return connection, connection.getresponse()
    connection, answer = ask("/")
    check(answer.status == 302 and answer.getheader("Location") == "/dashboard/", "to the page", answer.status)
    connection.close()
    connection, answer = ask("/dashboard/")
    check(answer.status == 200 and b"<script src" in answer.read(), "the page", answer.status)
    check("script-src 'self'" in answer.getheader("Content-Security-Policy"), "its policy")
    connection.close()
    for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example"):
        connection, answer = ask("/berth/v1/live", name)
        check(answer.status == 421, "a name that is not this machine's: " + name, answer.status)
        connection.close()
    connection, answer = ask("/berth/v1/live")
    first, second = json.loads(answer.readline()), json.loads(answer.readline())
    check(first["full"] and not second["full"] and len(first["nodes"]) == len(up.client().get("/api/v1/nodes")[1]["items"]), "what there is, then what changes", first)
    connection.close()
    viewers = [ask("/berth/v1/live") for _ in range(40)]
    codes = sorted(answer.status for _, answer in viewers)
    check(codes.count(200) <= VIEWERS_MAX and codes.count(429) >= 40 - VIEWERS_MAX, "so many viewers and no more", codes)
    for connection, _ in viewers:
        connection.close()
    check(eventually(lambda: is_let_in(ask)), "there is room again when they are gone")
    code, _, err = berth("up", "--memory", "--port", "0", "--dashboard-port", host.split(":")[1])
    check(code == 1 and "the dashboard: failed to create listener" in err, "a port that is taken", (code, err))


def verbs(up):
    env = up.env()
    code, out, err = berth("apply", "-f", "-", "-n", "shop", stdin=MANIFEST, env=env)
    words = ["namespace/shop created", "deployment.apps/cart created", "configmap/one created", "configmap/two created"]
    check(code == 0 and out.splitlines() == words, "apply makes things", (code, out, err))
    code, out, err = berth("apply", "-f", "-", "-n", "shop", stdin=MANIFEST, env=env)
    check(code == 0 and out.count(" applied") == 4, "and makes them again", (code, out, err))
    made = up.client().get("/apis/apps/v1/namespaces/shop/deployments/cart")[1]
    managers = [(m["manager"], m["operation"]) for m in made["metadata"]["managedFields"]]
    check(("berth", "Apply") in managers, "by server-side apply, as berth", managers)

    def placed():
        return [line.split() for line in berth("get", "po", "-n", "shop", "-o", "wide", env=env)[1].splitlines()[1:]]
    check(eventually(lambda: len(placed()) == 3 and all(row[6].startswith("node-") for row in placed())), "pods and their nodes", placed())
    code, out, err = berth("get", "pods", "-A", "-l", "app=cart", env=env)
    check(out.startswith("NAMESPACE   NAME") and out.count("\nshop ") == 3, "of all namespaces", out)
    code, out, err = berth("get", "deploy/cart", "-n", "shop", "-o", "json", env=env)
    check(json.loads(out)["metadata"]["name"] == "cart", "as JSON", out)
    code, out, err = berth("get", "deployments.apps", "cart", "-n", "shop", "-o", "yaml", env=env)
    check("\nkind: Deployment\n" in "\n" + out, "as YAML", out)
    code, out, err = berth("get", "configmaps", "one", "two", "-n", "shop", "-o", "name", env=env)
    check(out == "configmap/one\nconfigmap/two\n", "names", out)
    code, out, err = berth("get", "cm", "one", "three", "-n", "shop", env=env)
    check(code == 1 and "one" in out and 'configmaps "three" not found' in err, "one of two", (code, out, err))
    code, out, err = berth("get", "jobs", "-n", "shop", env=env)
    check(code == 0 and err == "No resources found in shop namespace.\n", "none", (code, out, err))
    code, out, err = berth("delete", "cm", "one", "two", "-n", "shop", env=env)
    check(code == 0 and out == "configmap/one deleted\nconfigmap/two deleted\n", "delete", (code, out, err))
    code, out, err = berth("delete", "cm/one", "-n", "shop", env=env)
    check(code == 1 and "Error from server (NotFound)" in err, "what is not there", (code, out, err))
    code, out, err = berth("apply", "-f", "-", stdin="apiVersion: v1\nkind: Pot\nmetadata: {name: x}\n", env=env)
    check(code == 1 and 'kind "Pot"' in err, "a kind that nobody knows", (code, out, err))
    code, out, err = berth("apply", "-f", "-", stdin=json.dumps(dict(pod("bad"), spec={"containers": []})), env=env)
    check(code == 1 and "Error from server (Invalid)" in err, "what the server refuses", (code, out, err))
    for words in (["get"], ["get", "pots"], ["get", "pods", "-o", "table"], ["apply"], ["delete"], ["delete", "pod"]):
        check(berth(*words, env=env)[0] == 2, "wrong usage", words)
    code, out, err = berth("delete", "ns", "shop", env=env)
    phase = up.client().get("/api/v1/namespaces/shop")[1].get("status", {}).get("phase")
    check(code == 0 and phase in (None, "Terminating"), "a namespace goes with all in it", (err, phase))


# ---- Beginnings and ends ----

def refusals(data):
    code, out, err = berth("up", "--data-dir", data, "--port", str(free_port()))
    check(code == 1 and "another berth up (process " in err and data in err, "two at once", (code, out, err))
    code, out, err = berth("up", "--wait", "--data-dir", data, "--port", str(free_port()))
    check(code == 1 and "another berth up (process " in err, "two at once, in the background", (code, out, err))
    for words in (["--port", "70000"], ["--address", "here"], ["--memory", "--data-dir", data], ["--nodes", "x"], ["more"]):
        check(berth("up", *words)[0] == 2, "wrong usage", words)
    missing = ["--config", os.path.join(FOLDER, "missing.yaml")]
    for words in ([], ["--wait"]):
        code, out, err = berth("up", "--memory", "--port", str(free_port()), *missing, *words)
        check(code == 1 and "missing.yaml" in err, "a configuration that is not there", (code, out, err))
    check(os.listdir(TEMPORARY) == [], "nothing is left of a start that failed", os.listdir(TEMPORARY))


def in_background(data):
    port = free_port()
    check(berth("status", "--data-dir", data)[0] == 3, "none runs")
    check(berth("down", "--data-dir", data)[0] == 3, "none to end")
    code, out, err = berth("up", "--wait", "--data-dir", data, "--port", str(port))
    check(code == 0 and out.startswith("berth up is ready at https://127.0.0.1:%d\n" % port), "--wait", (code, out, err))
    code, out, err = berth("status", "--data-dir", data)
    check(code == 0 and "is ready at https://127.0.0.1:%d" % port in out, "berth status", (code, out, err))
    code, out, err = berth("get", "ns", "default", env={"KUBECONFIG": os.path.join(data, "kubeconfig")})
    check(code == 0 and "Active" in out, "it answers", (code, out, err))
    code, out, err = berth("down", "--data-dir", data)
    check(code == 0 and "has ended" in out, "berth down", (code, out, err))
    check(berth("status", "--data-dir", data)[0] == 3, "it has ended")
    with open(os.path.join(data, "up.log"), encoding="utf-8") as f:
        check("The API server has ended" in f.read(), "cleanly")


def in_memory():
    code, out, err = berth("up", "--wait", "--memory", "--port", "0", "--print-kubeconfig", "--no-dashboard")
    check(code == 0 and out.startswith("apiVersion: v1\nkind: Config\n"), "--print-kubeconfig", (code, out, err))
    folder = os.path.join(TEMPORARY, os.listdir(TEMPORARY)[0])
    kubeconfig = os.path.join(FOLDER, "printed")
    with open(kubeconfig, "w", encoding="ascii") as f:
        f.write(out)
    code, out, err = berth("get", "ns", env={"KUBECONFIG": kubeconfig})
    check(code == 0 and "default" in out, "it works", (code, out, err))
    check(berth("down", "--data-dir", folder)[0] == 0 and os.listdir(TEMPORARY) == [], "nothing is left", os.listdir(TEMPORARY))


def restart(up, data):
    """Ctrl-C, and on with the same data at the same place."""
    client = up.client()
    before = {p["metadata"]["name"]: (p["metadata"]["uid"], node_of(p)) for p in client.get(PODS)[1]["items"]}
    client.close()
    with open(up.kubeconfig, encoding="ascii") as f:
        kubeconfig = f.read()
    check(up.end(signal.SIGINT) == 0, "Ctrl-C")
    up.start()
    with open(up.kubeconfig, encoding="ascii") as f:
        check(f.read() == kubeconfig, "the kubeconfig is kept")
    client = up.client()
    after = {p["metadata"]["name"]: (p["metadata"]["uid"], node_of(p)) for p in client.get(PODS)[1]["items"]}
    check(before == after, "a second start goes on where the first ended", (len(before), len(after)))
    client.post(PODS, pod("later"))
    check(eventually(lambda: node_of(client.get(PODS + "/later")[1])), "and schedules")
    client.delete(PODS + "/later")
    client.close()


# ---- Killed under load ----

class Load:
    """Makes pods, and deletes some of the bound ones, until it is told to stop; knows what was acknowledged."""

    def __init__(self, up, number):
        self.up, self.number, self.n = up, number, 0
        self.known, self.open = {}, set()  # name: uid; asked without an answer
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        client = self.up.client()
        while not self.stop.is_set():
            name = "load-%d-%d" % (self.number, self.n)
            self.n += 1
            try:
                code, answer = client.post(PODS, pod(name))
                if check(code == 201, "a pod is made", answer):
                    self.known[name] = answer["metadata"]["uid"]
                if self.n % 4 == 0 and self.known:
                    gone = random.choice(sorted(self.known))
                    del self.known[gone]
                    self.open.add(gone)
                    client.delete(PODS + "/" + gone, {"gracePeriodSeconds": 0})
            except Unknown:
                self.open.add(name)
                time.sleep(0.005)
            except NotSent:
                time.sleep(0.005)
        client.close()

    def end(self):
        self.stop.set()
        self.thread.join(LIMIT)


def verify(client, loads, nodes):
    """What was acknowledged is there, as the same pod, on the node where it was seen before."""
    pods = {p["metadata"]["name"]: p for p in client.get(PODS)[1]["items"]}
    for load in loads:
        for name, uid in list(load.known.items()):
            if check(name in pods, "an acknowledged pod is there", name):
                check(pods[name]["metadata"]["uid"] == uid, "and is the same", name)
    for name, p in pods.items():
        uid = p["metadata"]["uid"]
        if nodes.get(uid):
            check(node_of(p) == nodes[uid], "a pod is bound once", (name, nodes[uid], node_of(p)))
        if node_of(p):
            nodes[uid] = node_of(p)
    check_overcommitment(pods.values())


def killed(up):
    moments, nodes = random.Random(SEED), {}
    client = up.client()
    for thing in client.get(PODS)[1]["items"]:
        client.delete(PODS + "/" + thing["metadata"]["name"], {"gracePeriodSeconds": 0})
    for i in range(12):
        make_node(client, node("more-%d" % i))
    n = 0
    for kill in range(KILLS):
        loads = [Load(up, 10 * kill + i) for i in range(3)]
        until = time.monotonic() + 0.1 + 0.4 * moments.random()
        while time.monotonic() < until:
            verify_seen(client, nodes)
        up.end(signal.SIGKILL)
        for load in loads:
            load.end()
        n += sum(load.n for load in loads)
        client.close()
        up.start()
        client = up.client()
        verify(client, loads, nodes)
    check(eventually(lambda: is_settled(client)), "all that fits is bound in the end")
    verify(client, [], nodes)
    client.close()
    print("%d kills, %d pods asked for, %d bound (UP_SEED=%d)" % (KILLS, n, len(nodes), SEED))


def verify_seen(client, nodes):
    for p in client.get(PODS)[1]["items"]:
        if node_of(p):
            uid = p["metadata"]["uid"]
            check(nodes.setdefault(uid, node_of(p)) == node_of(p), "a pod is bound once", p["metadata"]["name"])
    time.sleep(0.01)


def is_settled(client):
    """No pod waits while there is room."""
    pods = client.get(PODS)[1]["items"]
    n_nodes = len(client.get("/api/v1/nodes")[1]["items"])
    bound = sum(1 for p in pods if node_of(p))
    return bound == len(pods) or bound == n_nodes * (NODE_CPU // POD_CPU)


def main():
    os.makedirs(TEMPORARY)
    data = os.path.join(FOLDER, "data")
    up = Up("--data-dir", data, "--controllers", "*,-node-lifecycle-controller")  # nobody beats for these nodes
    try:
        up.start()
        first_session(up, data)
        scheduling(up)
        refused_pod(up)
        questions(up)
        dashboard(up)
        verbs(up)
        refusals(data)
        restart(up, data)
        killed(up)
        check(up.end(signal.SIGTERM) == 0, "SIGTERM")
        in_background(data)
        in_memory()
    finally:
        if up.process and up.process.poll() is None:
            up.end(signal.SIGKILL)
        with open(os.path.join(FOLDER, "stderr"), encoding="utf-8", errors="replace") as f:
            errors = f.read()
        if api_world.failures or sys.exc_info()[0]:
            print(errors[-4000:], file=sys.stderr)
        check("Sanitizer" not in errors and "runtime error" not in errors, "no sanitizer spoke", errors[-4000:])
        shutil.rmtree(FOLDER, ignore_errors=True)
    api_world.finish()


if __name__ == "__main__":
    main()
