"""The rest of a control plane on berth's API server: what unmodified programs make of it.

kube-controller-manager does all that controllers do (berth's own are off), kube-scheduler chooses nodes, and KWOK (in place of kubelets)
makes nodes ready and pods run, where it is there: it is built once from the Go module proxy, as the other real components are.
What is checked is what users see (pods run, a deleted namespace goes, nothing is left behind), and that no program keeps complaining.
"""
import collections
import os
import re
import subprocess
import time

from api import node
from trio import HERE, OwnTrio, REAL, Scheduler, end, launch, take_port

PARTS = [("apiserver-plane", "kube-controller-manager, kube-scheduler and KWOK on berth's API server: a deployment, a job, a quota, a namespace")]
LIMIT = 120  # seconds that one step may take on a slow machine
NODES = 3
NAMESPACE = "plane"
SPACE = "/api/v1/namespaces/" + NAMESPACE
DEPLOYMENT = "/apis/apps/v1/namespaces/%s/deployments/web" % NAMESPACE
SAME_ERRORS_MAX = 5  # conflicts between controllers are part of their lives; a server that misleads them makes them go on for ever


class Plane(OwnTrio):
    """With RBAC and all admission plugins."""
    disabled_admission = "TaintNodesByCondition"

    def __init__(self, peers, folder):
        super().__init__(peers, folder, authorization="Node,RBAC")
        self.children = []

    def start_manager(self):
        flags = ["--kubeconfig=" + self.kubeconfig, "--service-account-private-key-file=" + self.path("sa.key"), "--root-ca-file=" + self.certs.ca,
                 "--use-service-account-credentials=true", "--leader-elect=true", "--secure-port=%d" % take_port(), "--bind-address=127.0.0.1",
                 "--cert-dir=" + self.path("manager-certs"), "--kube-api-qps=500", "--kube-api-burst=1000"]
        self.children.append(launch([os.path.join(self.peers, "kube-controller-manager"), *flags], self.path("manager.log"), self.folder))

    def start_kwok(self, program, stages):
        flags = ["--kubeconfig", self.kubeconfig, "--manage-all-nodes=true", "--node-lease-duration-seconds=40", "--node-ip=127.0.0.1",
                 "--cidr=10.244.0.1/16", "--server-address="]
        for stage in stages:
            flags += ["--config", stage]
        self.children.append(launch([program, *flags], self.path("kwok.log"), self.folder, dict(os.environ, HOME=self.folder)))

    def stop(self):
        for child in reversed(self.children):
            end(child, 5)
        super().stop()


def find_kwok():
    """(program, files that say how nodes and pods go on), or None and the reason."""
    done = subprocess.run([os.path.join(HERE, "kwok", "build")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it cannot be built"
    program, *stages = done.stdout.split()
    return (program, stages), None


def wait(holds, what):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found = holds()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("after %d s not yet: %s" % (LIMIT, what))


def count(api, path, holds):
    return sum(1 for one in api.items(path) if holds(one))


def ready(one):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in one.get("status", {}).get("conditions", []))


def new_node(name):
    made = node(name, 8000)
    del made["status"]["conditions"]  # are for whoever runs it to say
    return made


def deployment(replicas):
    labels = {"app": "web"}
    return {"metadata": {"name": "web"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}}}}


def job():
    return {"metadata": {"name": "once"}, "spec": {"completions": 3, "parallelism": 3, "template": {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}


def available(api, replicas):
    return lambda: api.get(DEPLOYMENT).get("status", {}).get("availableReplicas", 0) == replicas


def quota_counts(api, secrets):
    return lambda: api.get(SPACE + "/resourcequotas/q").get("status", {}).get("used", {}).get("secrets") == str(secrets)


def objects_run(api):
    """A deployment and its scale, a job that ends, a service with its endpoints."""
    api.create("/apis/apps/v1/namespaces/%s/deployments" % NAMESPACE, deployment(5))
    api.create(SPACE + "/services", {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})
    api.create("/apis/batch/v1/namespaces/%s/jobs" % NAMESPACE, job())
    wait(available(api, 5), "a deployment's five pods are available")
    scale = api.get(DEPLOYMENT + "/scale")
    scale["spec"]["replicas"] = 2
    api.call("PUT", DEPLOYMENT + "/scale", scale)
    wait(lambda: available(api, 2)() and count(api, SPACE + "/pods?labelSelector=app%3Dweb", lambda _: True) == 2, "two pods are left")
    slices = "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices" % NAMESPACE
    wait(lambda: sum(len(one.get("endpoints") or []) for one in api.items(slices)) == 2, "the service has two endpoints")
    wait(lambda: api.get("/apis/batch/v1/namespaces/%s/jobs/once" % NAMESPACE).get("status", {}).get("succeeded") == 3, "the job is done")


def quotas_count(api):
    """Used amounts are raised by the server when something is made, and lowered by the controller when it is gone."""
    api.create(SPACE + "/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "2"}}})
    wait(quota_counts(api, 0), "the controller has filled in the quota")
    for name in ("one", "two"):
        api.create(SPACE + "/secrets", {"metadata": {"name": name}})
    status, answer = api.request("POST", SPACE + "/secrets", {"metadata": {"name": "three"}})
    assert status == 403 and "exceeded quota: q" in answer["message"], answer
    api.call("DELETE", SPACE + "/secrets/one")
    wait(quota_counts(api, 1), "the quota knows of the secret that is gone")


def namespace_goes(api):
    api.call("DELETE", SPACE)
    wait(lambda: api.request("GET", SPACE)[0] == 404, "the namespace is gone")
    left = [one["metadata"]["name"] for one in api.items("/api/v1/pods") if one["metadata"]["namespace"] == NAMESPACE]
    assert not left, "pods outlive their namespace: %s" % left


# Of KWOK, on the real API server just as often: it deletes what it deleted before. Of the manager, on a busy machine: its watch
# has not yet told what it wrote itself, and it waits.
USUAL = re.compile(r"failed to delete pod .* not found|is not as new as written version")


def complaints(log):
    """{an error of a program's log without what differs from time to time: how often}"""
    with open(log, errors="replace") as lines:
        errors = [line.split("] ", 1)[-1].strip() for line in lines
                  if re.match(r"E\d{4} |\{.*\"level\":\"ERROR\"", line) and not USUAL.search(line)]
    return collections.Counter(re.sub(r"[0-9a-f]{8,}|\d+|-[a-z0-9]{5}\b", "#", error)[:200] for error in errors)


def play(plane, kwok):
    api = plane.api
    plane.start_manager()
    plane.start_kwok(*kwok)
    scheduler = Scheduler(plane, REAL)
    try:
        for number in range(NODES):
            api.create("/api/v1/nodes", new_node("node-%d" % number))
        wait(lambda: count(api, "/api/v1/nodes", ready) == NODES, "KWOK makes nodes ready")
        api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        wait(lambda: api.request("GET", SPACE + "/serviceaccounts/default")[0] == 200, "a service account of the new namespace")
        objects_run(api)
        quotas_count(api)
        namespace_goes(api)
    finally:
        scheduler.stop()
    wrong = []
    for log in (plane.path("manager.log"), plane.path("kwok.log"), scheduler.log):
        wrong += ["%s: %d times %s" % (log, n, text) for text, n in complaints(log).items() if n > SAME_ERRORS_MAX]
    return wrong


def run(peers, folder, options, results):
    (name, doc), = PARTS
    if not options.only.search(name):
        return
    kwok, why = find_kwok()
    if not kwok:
        print("%-7s %s: %s" % ("skipped", name, why), flush=True)
        return
    began = time.monotonic()
    try:
        with Plane(peers, os.path.join(folder, "plane")) as plane:
            wrong = play(plane, kwok)
    except AssertionError as error:
        wrong = [str(error)]
    results.note("%s: %s" % (name, doc), wrong, time.monotonic() - began)
