"""Load on a cluster, and what must hold after it.

A World is one story on a trio: nodes, pods that come and go over time, and an onlooker that asks the API server itself, never
the scheduler, whether a node has more pods than fit. `check` tells what is wrong at the end:

- a pod was bound twice (the audit log has every binding that the server accepted), or has two Scheduled events;
- a node had more than it can hold, at any time that was looked at;
- a pod waits although a node has room for it;
- a scheduler has ended;
- the cache of a scheduler differs from what its informers hold (SIGUSR2).

Names of pods are never used twice, so that a name stands for one pod.
"""
import os
import random
import threading
import time

import api as kube

# Seconds until every pod that fits must have its node: retries wait 10 s at most, a busy machine longer.
SETTLE_LIMIT = int(os.environ.get("SETTLE_LIMIT", "240"))
LOOK_SECONDS = 0.5
ZONES = ("a", "b", "c")
CPU_M = (50, 100, 250, 500, 800)  # what pods ask for
TIGHT = 0.7  # of what all pods ask for, those that are deleted again included, is there


def milli(text):
    text = str(text)
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def mebi(text):
    units = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024}
    return int(int(text[:-2]) * units[text[-2:]])


def asks(pod):
    """(cpu in milli, memory in MiB, 1)"""
    requests = [c.get("resources", {}).get("requests", {}) for c in pod["spec"]["containers"]]
    return (sum(milli(r.get("cpu", "0")) for r in requests), sum(mebi(r.get("memory", "0Mi")) for r in requests), 1)


def holds(node):
    amounts = node["status"]["allocatable"]
    return (milli(amounts["cpu"]), mebi(amounts["memory"]), int(amounts["pods"]))


def free_room(nodes, pods):
    """{node: what is left of each resource}"""
    room = {n["metadata"]["name"]: list(holds(n)) for n in nodes}
    for p in pods:
        on = p["spec"].get("nodeName")
        if on in room:
            room[on] = [have - want for have, want in zip(room[on], asks(p))]
    return room


def takes(node, pod, room):
    """Would this node do for this pod? Knows the rules that the pods made here make use of."""
    labels = node["metadata"].get("labels", {})
    return (not node["spec"].get("taints") and all(labels.get(k) == v for k, v in pod["spec"].get("nodeSelector", {}).items())
            and all(have >= want for have, want in zip(room[node["metadata"]["name"]], asks(pod))))


def overcommitted(nodes, pods):
    return ["%s lacks %s" % (name, left) for name, left in sorted(free_room(nodes, pods).items()) if min(left) < 0]


def waiting_though_fitting(nodes, pods):
    """Pods without a node, beside a node that would do."""
    room, found = free_room(nodes, pods), []
    for p in pods:
        if not p["spec"].get("nodeName"):
            found += ["%s would fit on %s" % (p["metadata"]["name"], n["metadata"]["name"])
                      for n in nodes if takes(n, p, room)][:1]
    return found


class World:
    def __init__(self, trio, name, seed):
        self.trio, self.api, self.name = trio, trio.api, name
        self.random = random.Random("%s %s" % (seed, name))
        self.prefix = name + "-"
        self.n_pods, self.made = 0, []
        self.nodes, self.troubles = [], []
        self.onlooker, self.over = None, threading.Event()
        self.empty()

    def empty(self):
        for path in (kube.PODS, kube.NODES, kube.EVENTS):
            self.api.delete(path)
        self.api.delete(kube.LEASE)

    # Nodes and pods.

    def make_nodes(self, n, pods, rival=False):
        """Nodes that together are a little too small for so many pods: the last ones fight for room."""
        cpu_m = max(int(TIGHT * pods * sum(CPU_M) / len(CPU_M) / n), max(CPU_M))
        for i in range(n):
            self.api.create(kube.NODES, kube.node("%sn%d" % (self.prefix, i), cpu_m, labels={"zone": ZONES[i % len(ZONES)]}))
        if rival:  # a node that the scheduler never takes: whoever races with it binds there
            taints = [{"key": "rival", "effect": "NoSchedule"}]
            self.api.create(kube.NODES, kube.node(self.prefix + "rival", 999000, 900 << 10, 9999, taints=taints))
        self.nodes = self.api.items(kube.NODES)
        self.onlooker = threading.Thread(target=self._look, daemon=True)
        self.onlooker.start()

    def make_pod(self):
        name = "%sp%04d" % (self.prefix, self.n_pods)
        self.n_pods += 1
        selector = {"zone": self.random.choice(ZONES)} if self.random.random() < 0.3 else None
        self.api.create(kube.PODS, kube.pod(name, self.random.choice(CPU_M), self.random.choice((64, 256, 1024)), selector))
        self.made.append(name)
        return name

    def delete_one(self):
        """Any pod that was made and is still there, bound or not."""
        name = self.made.pop(self.random.randrange(len(self.made)))
        self.api.delete(kube.PODS + "/" + name)

    def churn(self, n_pods, seconds, deleted=0.2, each=None):
        """Makes pods over time, deletes a share of them; `each` is called after every pod with its number."""
        pause = seconds / max(n_pods, 1)
        for i in range(n_pods):
            began = time.monotonic()
            self.make_pod()
            if self.random.random() < deleted:
                self.delete_one()
            if each:
                each(i)
            time.sleep(max(0, pause - (time.monotonic() - began)))

    def in_background(self, run, *args, **named):
        """Runs it beside the story; joining it brings its failure back."""
        return Background(run, args, named)

    # What must hold.

    def _look(self):
        while not self.over.wait(LOOK_SECONDS):
            try:
                pods = self.api.request("GET", kube.PODS)[1]["items"]
            except (OSError, KeyError, TypeError):  # the server is away
                continue
            self.troubles += [t for t in overcommitted(self.nodes, pods) if t not in self.troubles]

    def settle(self, limit=SETTLE_LIMIT):
        """Waits until no pod waits that fits. What still does after the limit."""
        until = time.monotonic() + limit
        while True:
            pods = self.api.items(kube.PODS)
            left = waiting_though_fitting(self.nodes, pods)
            if not left or time.monotonic() > until:
                return left, pods
            time.sleep(0.5)

    def check(self, schedulers, settle_limit=SETTLE_LIMIT):
        """What is wrong, as sentences; and ends the onlooker."""
        left, pods = self.settle(settle_limit)
        self.over.set()
        self.onlooker.join()
        wrong = self.troubles + overcommitted(self.nodes, pods) + left
        for pod, nodes in self.trio.bindings().items():
            if pod.startswith("default/" + self.prefix) and len(nodes) > 1:
                wrong.append("%s was bound %d times, to %s" % (pod, len(nodes), nodes))
        wrong += self._repeated_events()
        for s in schedulers:
            if not s.alive():
                wrong.append("the scheduler ended with code %d, see %s" % (s.child.returncode, s.log))
            else:
                wrong += ["cache differs: " + line for line in lasting_difference(s)]
        return sorted(set(wrong))

    def _repeated_events(self):
        count = {}
        for event in self.api.items(kube.EVENTS):
            if event.get("reason") == "Scheduled":
                key = event["regarding"]["name"]
                count[key] = count.get(key, 0) + 1
        return ["%s has %d Scheduled events" % (name, n) for name, n in sorted(count.items()) if n > 1]

    def bound(self):
        return sum(bool(p["spec"].get("nodeName")) for p in self.api.items(kube.PODS))

    def wait_bound(self, names, limit=SETTLE_LIMIT):
        """Whether all of these have a node within the time."""
        until = time.monotonic() + limit
        while time.monotonic() < until:
            placed = {p["metadata"]["name"] for p in self.api.items(kube.PODS) if p["spec"].get("nodeName")}
            if set(names) <= placed:
                return True
            time.sleep(0.2)
        return False


def lasting_difference(scheduler):
    """What SIGUSR2 tells again and again: an event that is between an informer and the cache when it is asked is no fault."""
    for _ in range(5):
        lines = scheduler.compare_caches()
        if not lines:
            return []
        time.sleep(2)
    return lines


class Background(threading.Thread):
    def __init__(self, run, args, named):
        super().__init__(daemon=True)
        self.job, self.error = (run, args, named), None
        self.start()

    def run(self):
        job, args, named = self.job
        try:
            job(*args, **named)
        except BaseException as error:  # told to whoever joins
            self.error = error

    def result(self):
        self.join()
        if self.error:
            raise self.error
