"""What a scheduler says in its log up to level 3, beside what kube-scheduler says: the same words, the same keys, the same severity.

One story is played with each: a start with a lease, nodes and pods that come and go, a pod that fits nowhere, preemption with two victims,
SIGTERM. What one of them says and the other does not has to be in a table here, with the reason; docs/compatibility.md has the same list.
In the short form the real one's messages are read from tests/peers/recordings.
"""
import json
import os
import re
import time

import api as kube
from trio import ELECTION, HERE, REAL, Scheduler, Trio

PARTS = [("live-logs", "messages of the log, their keys and levels")]
RECORDING = os.path.join(HERE, "recordings", "logs.json")
LEVEL = " -v=3"
PODS, NODES = "/api/v1/namespaces/default/pods", "/api/v1/nodes"

# Messages of kube-scheduler that have no counterpart, and why.
PROBE = "sched-handler-sync check failed: readyz\\n[-]sched-handler-sync failed: handlers are not fully synchronized"
MISSING = {
    PROBE: "by chance: whether a probe comes before the first lists",
    "Golang settings": "Go's",
    "Starting DynamicServingCertificateController": "there is no such goroutine",
    "Shutting down DynamicServingCertificateController": "there is no such goroutine",
    "Loaded serving cert": "what is in the certificate is not told",
    "The manifest file is empty, ignoring.": "said of a flag that is not given",
    "the scheduler starts to work with those plugins": "/configz has them",
    "Pod moved to an internal scheduling queue": "metrics count it, by event",
    "Starting reflector": "\"Caches populated\" tells when a list is complete",
    "Listing and watching": "the same",
    "Stopping reflector": "there is nothing to stop but the process",
    "Unable to record event (will not retry!)": "of an Event after the end, if there is one",
    "sched-handler-sync check failed: readyz": "only if somebody asks before the lists are complete",
}
# Those that kube-scheduler does not have.
OWN = {
    "Received a signal": "which one ends it",
    "New leader elected": "whom a standby waits for",
    PROBE: "by chance, as above",
}
# Messages whose keys differ: (what the real one has, what berth has).
KEYS = {
    "Caches populated": (["reflector", "type"], ["path"]),
    "Starting Kubernetes Scheduler": (["version"], ["berth", "version"]),
}


def wait(holds, what, limit=60):
    until = time.monotonic() + limit
    while time.monotonic() < until:
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("after %d s not yet: %s" % (limit, what))


def pod(name, cpu_m, priority=0, node=None):
    made = kube.pod(name, cpu_m)
    made["spec"].update({"terminationGracePeriodSeconds": 30, **({"priorityClassName": "high"} if priority else {}),
                         **({"nodeName": node} if node else {})})
    return made


def play_story(trio, scheduler):
    """The same for both; every step is waited for in the cluster, not in the log."""
    api = trio.api

    def node_of(name):
        return api.get(PODS + "/" + name)["spec"].get("nodeName")

    def failed(name):
        return any(c["type"] == "PodScheduled" and c["status"] == "False" for c in api.get(PODS + "/" + name)["status"].get("conditions", []))
    scheduler.ready()
    api.create(PODS, pod("early", 100))
    wait(lambda: failed("early"), "a pod without any node fails")
    for name in ("n1", "n2"):
        api.create(NODES, kube.node(name, 1000, labels={"topology.kubernetes.io/zone": "z"}))
    wait(lambda: node_of("early"), "a node")
    api.create(PODS, pod("huge", 5000))
    wait(lambda: failed("huge"), "a refusal")
    api.delete(PODS + "/huge")
    api.delete(PODS + "/early")
    for number in range(4):
        api.create(PODS, pod("low-%d" % number, 500, node="n%d" % (number % 2 + 1)))
    api.create(PODS, pod("preemptor", 1000, priority=1000))
    wait(lambda: api.get(PODS + "/preemptor")["status"].get("nominatedNodeName"), "a nomination")
    going = []

    def both_go():
        going[:] = [p["metadata"]["name"] for p in api.items(PODS) if p["metadata"].get("deletionTimestamp")]
        return len(going) == 2
    wait(both_go, "two victims")
    time.sleep(0.5)
    for name in going:
        api.delete(PODS + "/" + name)
    wait(lambda: node_of("preemptor"), "its node")
    for p in api.items(PODS):
        api.delete(PODS + "/" + p["metadata"]["name"])
    for name in ("n1", "n2"):
        api.delete(NODES + "/" + name)
    time.sleep(0.5)


def messages(text):
    """{message: {"severity": I, W or E, "keys": [...] or None for a line of text}}"""
    found = {}
    for severity, rest in re.findall(r"^([IWE])\d{4} \S+ +\d+ [\w.-]+:\d+\] (.*)$", text, re.M):
        structured = re.match(r'"((?:[^"\\]|\\.)*)"(.*)$', rest)
        if not structured:
            plain = re.sub(r"\d+\.\d+\.\d+\.\d+:\d+", "ADDRESS", rest)
            if not plain.startswith("FLAG:"):
                found.setdefault(plain, {"severity": severity, "keys": None})
            continue
        values = re.sub(r'"(?:[^"\\]|\\.)*"', '""', structured.group(2))
        keys = set(re.findall(r"(?:^| )([A-Za-z]\w*)=", values))
        one = found.setdefault(structured.group(1), {"severity": severity, "keys": []})
        one["keys"] = sorted(set(one["keys"]) | keys)
    return found


def record(peers, folder, command, name):
    with Trio(peers, os.path.join(folder, "logs-" + name)) as trio:
        trio.api.create("/apis/scheduling.k8s.io/v1/priorityclasses",
                        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})
        scheduler = Scheduler(trio, command + LEVEL, election=ELECTION)
        try:
            play_story(trio, scheduler)
        finally:
            scheduler.stop()
        return messages(scheduler.text())


def compare(real, other):
    """Sentences."""
    wrong = ["only kube-scheduler says: " + m for m in sorted(set(real) - set(other) - set(MISSING))]
    wrong += ["kube-scheduler does not say: " + m for m in sorted(set(other) - set(real) - set(OWN))]
    for message in sorted(set(real) & set(other)):
        if message in KEYS:
            continue
        for what in ("severity", "keys"):
            if real[message][what] != other[message][what]:
                wrong.append("%s of \"%s\": %s, but kube-scheduler's %s" % (what, message, other[message][what], real[message][what]))
    return wrong


def run(peers, folder, options, results):
    (name, doc), = PARTS
    if not options.only.search(name):
        return
    began = time.monotonic()
    if options.short:
        with open(RECORDING) as kept:
            real = json.load(kept)
    else:
        real = record(peers, folder, REAL, "real")
    results.note("%s: %s" % (name, doc), compare(real, record(peers, folder, options.command, "other")), time.monotonic() - began)


def record_real(peers, folder, to):
    os.makedirs(to, exist_ok=True)
    with open(os.path.join(to, os.path.basename(RECORDING)), "w") as out:
        json.dump(record(peers, folder, REAL, "real"), out, indent=1, sort_keys=True)
        out.write("\n")
