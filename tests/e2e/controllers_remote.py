#!/usr/bin/env python3
"""controllers_remote.py BERTH - `berth controllers` against `berth apiserver --controllers=` over HTTPS: what the built-in
controllers do, done from another process, as service accounts; two of them with an election, and the leader killed."""
import json
import os
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
LIMIT = int(os.environ.get("BERTH_TEST_LIMIT", 60))  # seconds that one step may take on a slow machine
TOKEN = "secret"
failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, json.dumps(shown, indent=1) if shown != "" else ""))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """An API server in memory, without controllers."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w", encoding="utf-8") as f:
            f.write('%s,admin,1,"system:masters"\nmanager,system:kube-controller-manager,2\n' % TOKEN)
        self.log = os.path.join(folder, "apiserver.log")
        self.process = subprocess.Popen(
            [BERTH, "apiserver", "--memory", "--bind-address=127.0.0.1", "--secure-port=%d" % self.port,
             "--authorization-mode=RBAC", "--token-auth-file=" + tokens, "--controllers="],
            stdout=subprocess.PIPE, stderr=open(self.log, "w", encoding="utf-8"), text=True,
            env={"PATH": os.environ["PATH"], "HOME": folder})
        self.process.stdout.readline()
        self.kubeconfig = os.path.join(folder, "manager.kubeconfig")
        with open(self.kubeconfig, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:%d" % self.port,
                                                              "insecure-skip-tls-verify": True}}],
                       "users": [{"name": "u", "user": {"token": "manager"}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, f)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(LIMIT)

    def ask(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request("https://127.0.0.1:%d%s" % (self.port, path), method=method,
                                         headers={"Content-Type": kind, "Authorization": "Bearer " + TOKEN},
                                         data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=LIMIT) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as e:
            return e.code, json.loads(e.read())

    def get(self, path):
        return self.ask("GET", path)[1]

    def make(self, path, body):
        code, answer = self.ask("POST", path, body)
        check(code == 201, "making %s" % path, answer)
        return answer

    def patch(self, path, body):
        code, answer = self.ask("PATCH", path, body, "application/merge-patch+json")
        check(code == 200, "patching %s" % path, answer)
        return answer

    def delete(self, path, body=None):
        code, answer = self.ask("DELETE", path, body)
        check(code in (200, 202), "deleting %s" % path, answer)

    def wait(self, what, path, condition):
        """The object, when it is as it should be."""
        end = time.monotonic() + LIMIT
        while True:
            answer = self.get(path)
            try:
                if condition(answer):
                    return answer
            except (KeyError, IndexError, TypeError):
                pass
            if time.monotonic() > end:
                check(False, what, answer)
                return answer
            time.sleep(0.05)


class Manager:
    """`berth controllers`, under the name of what it stands in for."""

    def __init__(self, server, name, *flags):
        self.port = free_port()
        link = os.path.join(server.folder, "kube-controller-manager")
        if not os.path.exists(link):
            os.symlink(BERTH, link)
        self.log = os.path.join(server.folder, name + ".log")
        self.process = subprocess.Popen(
            [link, "--kubeconfig=" + server.kubeconfig, "--authentication-kubeconfig=" + server.kubeconfig,
             "--authorization-kubeconfig=" + server.kubeconfig, "--bind-address=127.0.0.1", "--secure-port=%d" % self.port,
             "--controllers=*,-node-lifecycle-controller",  # nobody sends heartbeats
             "--use-service-account-credentials", "--concurrent-gc-syncs=20", "--kube-api-qps=200", "--kube-api-burst=200", "-v=2",
             *flags],
            stdout=subprocess.DEVNULL, stderr=open(self.log, "w", encoding="utf-8"),
            env={"PATH": os.environ["PATH"], "HOME": server.folder})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            code = self.process.wait(LIMIT)
            check(code == 0, "it ends by itself when asked to, with %d" % code)
        if os.environ.get("BERTH_TEST_LOG"):
            print(self.text())

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def ask(self, path, token=TOKEN):
        request = urllib.request.Request("https://127.0.0.1:%d%s" % (self.port, path),
                                         headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=LIMIT) as answer:
            return answer.read().decode()

    def wait_for(self, what, told):
        end = time.monotonic() + LIMIT
        while told not in self.text():
            if time.monotonic() > end or self.process.poll() is not None:
                check(False, what, self.text()[-3000:])
                return
            time.sleep(0.05)


def items(answer):
    return answer["items"]


APPS, CORE, BATCH = "/apis/apps/v1/namespaces/%s/", "/api/v1/namespaces/%s/", "/apis/batch/v1/namespaces/%s/"


def template(app):
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def make_deployment(s, namespace, name, replicas):
    s.make(APPS % namespace + "deployments", {"metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(name)}})


def run_pod(s, namespace, pod, number):
    ip = "10.1.0.%d" % number
    s.make(CORE % namespace + "pods/%s/binding" % pod["metadata"]["name"], {
        "metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": "n1"}})
    s.patch(CORE % namespace + "pods/%s/status" % pod["metadata"]["name"], {"status": {
        "phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})


# ---- One manager ----

def workloads(s):
    s.make("/api/v1/nodes", {"metadata": {"name": "n1"}})
    make_deployment(s, "default", "web", 3)
    pods = s.wait("three pods of a Deployment", CORE % "default" + "pods?labelSelector=app=web", lambda v: len(items(v)) == 3)
    s.make("/api/v1/namespaces/default/services", {"metadata": {"name": "web"}, "spec": {
        "selector": {"app": "web"}, "ports": [{"port": 80}]}})
    for i, pod in enumerate(items(pods)):
        run_pod(s, "default", pod, i + 1)
    s.wait("the Deployment is available", APPS % "default" + "deployments/web",
           lambda v: v["status"]["availableReplicas"] == 3 and v["status"]["observedGeneration"] == 1)
    s.wait("three endpoints in the slice",
           "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=web",
           lambda v: sum(len(x.get("endpoints") or []) for x in items(v)) == 3)
    s.patch(APPS % "default" + "deployments/web", {"spec": {"replicas": 1}})
    s.wait("one pod after scaling", CORE % "default" + "pods?labelSelector=app=web",
           lambda v: len([p for p in items(v) if "deletionTimestamp" not in p["metadata"]]) == 1)
    check(len(items(s.get(APPS % "default" + "replicasets"))) == 1, "one ReplicaSet was made, not more")


def jobs(s):
    s.make(BATCH % "default" + "jobs", {"metadata": {"name": "sum"}, "spec": {
        "completions": 2, "parallelism": 2, "template": {"spec": {**template("sum")["spec"], "restartPolicy": "Never"}}}})
    pods = s.wait("two pods of a Job", CORE % "default" + "pods?labelSelector=job-name=sum", lambda v: len(items(v)) == 2)
    for pod in items(pods):
        s.patch(CORE % "default" + "pods/%s/status" % pod["metadata"]["name"], {"status": {"phase": "Succeeded"}})
    s.wait("the Job is complete", BATCH % "default" + "jobs/sum",
           lambda v: v["status"]["succeeded"] == 2 and v["status"]["conditions"][-1]["type"] == "Complete")


def collection(s):
    s.delete(APPS % "default" + "deployments/web")
    s.wait("the ReplicaSet goes with its owner", APPS % "default" + "replicasets", lambda v: not items(v))
    s.wait("and the pods with theirs", CORE % "default" + "pods?labelSelector=app=web",
           lambda v: all("deletionTimestamp" in p["metadata"] for p in items(v)))
    s.make(CORE % "default" + "configmaps", {"metadata": {"name": "stray", "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "never", "uid": "11111111-1111-1111-1111-111111111111"}]}})
    s.wait("what never had an owner goes", CORE % "default" + "configmaps/stray", lambda v: v.get("code") == 404)


def namespaces(s):
    s.make("/api/v1/namespaces", {"metadata": {"name": "doomed"}})
    s.wait("an account for the namespace", CORE % "doomed" + "serviceaccounts/default", lambda v: v["metadata"]["uid"])
    make_deployment(s, "doomed", "web", 2)
    s.wait("pods in it", CORE % "doomed" + "pods", lambda v: len(items(v)) == 2)
    s.make(CORE % "doomed" + "events", {"metadata": {"name": "e", "namespace": "doomed"},
                                        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "doomed"}, "reason": "R"})
    s.delete("/api/v1/namespaces/doomed")
    s.wait("the namespace is gone", "/api/v1/namespaces/doomed", lambda v: v.get("code") == 404)
    for path in ("pods", "events", "secrets", "serviceaccounts"):
        check(not items(s.get(CORE % "doomed" + path)), "%s of the namespace are gone, too" % path)


def one(folder):
    with Server(folder) as s, Manager(s, "one", "--leader-elect=false") as m:
        m.wait_for("controllers begin", "controllers begin")
        check('without effect" flags="--concurrent-gc-syncs' in m.text(), "flags without effect are told", m.text()[:2000])
        for story in (workloads, jobs, collection, namespaces):
            story(s)
        accounts = {x["metadata"]["name"] for x in items(s.get(CORE % "kube-system" + "serviceaccounts"))}
        check({"deployment-controller", "replicaset-controller", "generic-garbage-collector"} <= accounts, "accounts were made",
              sorted(accounts))
        set_ = items(s.get(CORE % "default" + "events"))
        check(any(e["source"].get("component") == "deployment-controller" for e in set_), "Events are written", len(set_))


# ---- Two of them ----

ELECTION = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms")
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"


def two(folder):
    with Server(folder) as s, Manager(s, "first", *ELECTION) as first:
        first.wait_for("the first leads", "controllers begin")
        pages_of_leader(first)
        with Manager(s, "second", *ELECTION) as second:
            second.wait_for("the second sees the leader", "New leader elected")
            check("controllers begin" not in second.text(), "the second waits")
            make_deployment(s, "default", "web", 20)
            s.wait("some pods", CORE % "default" + "pods", lambda v: len(items(v)) >= 1)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(LIMIT)
            second.wait_for("the second takes over", "controllers begin")
            s.wait("all pods", CORE % "default" + "pods", lambda v: len(items(v)) >= 20)
            s.patch(APPS % "default" + "deployments/web", {"spec": {"replicas": 5}})
            s.wait("the count is right after it", APPS % "default" + "replicasets",
                   lambda v: len(items(v)) == 1 and items(v)[0]["status"]["replicas"] == 5)
            s.wait("nothing was made twice", CORE % "default" + "pods",
                   lambda v: len([p for p in items(v) if "deletionTimestamp" not in p["metadata"]]) == 5)
            holder = s.get(LEASE)["spec"]["holderIdentity"]
        check(holder and s.get(LEASE)["spec"]["holderIdentity"] == "", "the lease is given back at the end")


def pages_of_leader(m):
    check(m.ask("/healthz") == "ok", "/healthz")
    metrics = m.ask("/metrics")
    check('leader_election_master_status{name="kube-controller-manager"} 1' in metrics, "/metrics tells who leads")
    for series in ("rest_client_requests_total{", 'workqueue_depth{name="garbage_collector_attempt_to_delete"}',
                   'workqueue_adds_total{name="deployment"}', 'workqueue_work_duration_seconds_count{name="job"}'):
        check(series in metrics, "/metrics has " + series)
    check('"ResourceName":"kube-controller-manager"' in m.ask("/configz"), "/configz names the lease")


# ---- Command lines ----

def command_lines():
    rows = [
        ("an unknown flag", ["--foo"], "Error: unknown flag: --foo"),
        ("an unknown controller", ["--controllers=*,-foo"], '"foo\\" is not in the list of known controllers'),
        ("an argument", ["what"], 'does not take any arguments, got ["what"]'),
        ("a renewal that takes longer than the lease", ["--leader-elect-renew-deadline=20s"],
         "leaseDuration must be greater than renewDeadline"),
        ("no API server", ["--secure-port=0"], "no configuration has been provided"),
    ]
    for name, flags, text in rows:
        done = subprocess.run([BERTH, "controllers", *flags], capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={"PATH": os.environ["PATH"]})
        check(done.returncode == 1 and text in done.stderr, "a command line with " + name, done.stderr)


def main():
    command_lines()
    for story in (one, two):
        with tempfile.TemporaryDirectory() as folder:
            story(folder)
    print("%d failures" % failures)
    return failures != 0


sys.exit(main())
