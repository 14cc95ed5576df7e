"""What goes wrong while stories of controllers are played: the server is killed and started again, every object is written by somebody
else all the time, the process stands still for moments. Nothing may be made twice or forgotten."""
import random
import signal
import threading
import time

from controller_story import CLUSTER_WIDE, GROUP_OF, TOUCHED
from api import MERGE_PATCH

TOUCHED_KINDS = ("deployments", "replicasets", "replicationcontrollers", "statefulsets", "jobs", "cronjobs", "pods", "services", "endpoints",
                 "endpointslices", "poddisruptionbudgets", "resourcequotas", "persistentvolumeclaims", "persistentvolumes", "nodes")


class Fault(threading.Thread):
    def __init__(self, plane, seed):
        super().__init__(daemon=True)
        self.plane, self.random, self.over, self.n = plane, random.Random(seed), threading.Event(), 0

    def run(self):
        while not self.over.is_set():
            self.once()


class Kills:
    """Not a thread: what a thread starts ends with it."""
    name = "kills"

    def __init__(self, plane, seed, seconds):
        self.plane, self.random, self.seconds, self.n = plane, random.Random(seed), seconds, 0

    def until(self, playing):
        while True:
            playing.join(self.random.uniform(0.2, 1.8) * self.seconds)
            if not playing.is_alive():
                return
            self.plane.kill()
            self.plane.start()
            self.n += 1
            self.plane.api.get("/readyz/ping", also=(404,))


class Freezes(Fault):
    name, option = "freezes", "freeze"

    def once(self):
        self.over.wait(self.random.uniform(0.05, 1))
        try:
            self.plane.server.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0.05, 0.5))
        finally:
            self.plane.server.send_signal(signal.SIGCONT)
        self.n += 1


class Touches(Fault):
    name, option = "touches", "touch"

    def once(self):
        api = self.plane.api
        for kind in self.random.sample(TOUCHED_KINDS, len(TOUCHED_KINDS)):
            root = "/apis/" + GROUP_OF[kind] if GROUP_OF[kind] else "/api/v1"
            for o in api.items("%s/%s" % (root, kind)):
                if self.over.is_set():
                    return
                meta = o["metadata"]
                space = "" if kind in CLUSTER_WIDE else "/namespaces/" + meta["namespace"]
                done = api.call("PATCH", "%s%s/%s/%s" % (root, space, kind, meta["name"]),
                                {"metadata": {"annotations": {TOUCHED: str(self.n)}}}, also=(404, 409, 422), kind=MERGE_PATCH)
                self.n += done is not None


def play(plane, options, stories):
    """Calls `stories` while all goes wrong that is wanted. What was done, as a text."""
    faults = [kind(plane, options.seed + i) for i, kind in enumerate((Touches, Freezes)) if getattr(options, kind.option)]
    for fault in faults:
        fault.start()
    kills = []
    if options.kill:
        kills = [Kills(plane, options.seed, options.kill)]
        playing = threading.Thread(target=stories)
        playing.start()
        kills[0].until(playing)
    else:
        stories()
    for fault in faults:
        fault.over.set()
        fault.join()
    return ", ".join("%s %d" % (fault.name, fault.n) for fault in kills + faults)
