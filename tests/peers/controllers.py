#!/usr/bin/env python3
"""controllers.py [OPTIONS] [STORY...] - the same stories for the real kube-controller-manager on the real etcd and kube-apiserver and for
berth's controllers on berth's API server; then what remains is compared, see controller_story.py.

  --list             prints the names of the stories
  --short            only those that take seconds
  --record           writes what remains with the real ones into tests/peers/recordings, a file for each file of stories, for tests that
                     have no Go
  --recorded         compares berth with that recording instead of the real ones
  --twice            compares the real ones with themselves: what a story leaves to chance cannot be compared
  --show             prints what remains with berth, and compares nothing
  --kill SECONDS     kills berth again and again, at random moments about so many seconds apart, while stories are played
  --touch            a second client writes an annotation into every object all the time, so that writes of controllers meet conflicts
  --freeze           stops the server's process for moments, so that what it wants to tell comes late and at once
  --threads N        stories that are played at the same time (8)
  --seed N           of the faults

Stories whose Events depend on chance, and all stories with faults, are compared without Events.
"""
import argparse
import concurrent.futures
import difflib
import gzip
import json
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import controllers_around  # noqa: E402, F401 (these register their stories)
import controllers_autoscaling  # noqa: E402, F401
import controllers_certificates  # noqa: E402, F401
import controllers_cleanup  # noqa: E402, F401
import controllers_daemonset  # noqa: E402, F401
import controllers_deployments  # noqa: E402, F401
import controllers_jobs  # noqa: E402, F401
import controllers_nodes  # noqa: E402, F401
import controllers_replicas  # noqa: E402, F401
import controllers_services  # noqa: E402, F401
import controllers_small  # noqa: E402, F401
import controllers_statefulsets  # noqa: E402, F401
import controllers_volumes  # noqa: E402, F401
import controller_faults  # noqa: E402
from api import Api  # noqa: E402
from controller_story import STORIES, Heart, World, shown  # noqa: E402
from trio import HERE, TOKEN, Certificates, Trio, berth_program, end, find_peers, launch, take_port  # noqa: E402

SETTLED = 4  # seconds without a change: then nothing more is to come
COMPARED = int(os.environ.get("BERTH_TEST_LIMIT", 40))  # seconds that berth may take to reach what the real ones reached
STEADY_NODES = 8  # that are always well: where most nodes of a zone are not, nobody is evicted
DIFF_LINES = 120

CONTROLLERS = (
    "clusterrole-aggregation-controller", "cronjob-controller", "daemonset-controller", "deployment-controller", "disruption-controller",
    "certificatesigningrequest-approving-controller", "certificatesigningrequest-signing-controller",
    "horizontal-pod-autoscaler-controller", "endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller",
    "ephemeral-volume-controller", "garbage-collector-controller", "ttl-controller",
    "job-controller", "namespace-controller",
    "node-lifecycle-controller", "persistentvolume-binder-controller", "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller", "pod-garbage-collector-controller", "replicaset-controller",
    "replicationcontroller-controller", "resourcequota-controller", "root-ca-certificate-publisher-controller", "serviceaccount-controller",
    "serviceaccount-token-controller", "statefulset-controller", "taint-eviction-controller", "ttl-after-finished-controller")


# ---- Planes ----

class RealPlane(Trio):
    """etcd, kube-apiserver and kube-controller-manager."""
    disabled_admission = "ServiceAccount"

    def start(self):
        super().start()
        self.manager = launch([
            os.path.join(self.peers, "kube-controller-manager"), "--kubeconfig=" + self.kubeconfig, "--leader-elect=false",
            "--secure-port=%d" % take_port(), "--bind-address=127.0.0.1", "--cert-dir=" + self.path("kcm"), "--authentication-skip-lookup",
            "--kube-api-qps=1000", "--kube-api-burst=1000", "--service-account-private-key-file=" + self.path("sa.key"),
            "--cluster-signing-cert-file=" + self.certs.ca, "--cluster-signing-key-file=" + self.path("ca.key"),
            "--root-ca-file=" + self.certs.ca, "--pvclaimbinder-sync-period=2s", "--node-eviction-rate=100",
            "--controllers=" + ",".join(CONTROLLERS)],
            self.path("kcm.log"))
        return self

    def stop(self):
        if getattr(self, "manager", None):
            end(self.manager, 5)
        super().stop()


class BerthPlane:
    """`berth apiserver` with its controllers; with `durable` it keeps what it has when it is killed and started again."""

    def __init__(self, folder, durable=False):
        self.folder, self.durable, self.port = os.path.join(folder, "berth"), durable, take_port()
        os.makedirs(self.folder)
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as f:
            f.write(Trio.tokens)
        self.api, self.server, self.certs = Api(self.port, None, TOKEN), None, Certificates(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        self.server = launch([berth_program(), "apiserver", "--data-dir=" + self.path("data") if self.durable else "--memory",
                              "--bind-address=127.0.0.1", "--secure-port=%d" % self.port, "--cert-dir=" + self.path("certs"),
                              "--token-auth-file=" + self.path("tokens.csv"), "--authorization-mode=AlwaysAllow",
                              "--cluster-signing-cert-file=" + self.certs.ca, "--cluster-signing-key-file=" + self.path("ca.key"),
                              "--disable-admission-plugins=" + RealPlane.disabled_admission], self.path("log"))

    def kill(self):
        self.server.kill()
        self.server.wait()

    def __enter__(self):
        self.start()
        self.api.get("/readyz/ping", also=(404,))
        return self

    def __exit__(self, *_):
        self.api.close()
        end(self.server, 5)


# ---- Playing ----

class Theatre:
    """One plane, and the stories that are played there."""

    def __init__(self, api, threads):
        self.api, self.threads, self.heart, self.worlds, self.failed, self.seconds = api, threads, Heart(api), {}, {}, {}
        steady = World(api, "steady", self.heart)
        for i in range(STEADY_NODES):
            steady.node(str(i), labels={"steady": "yes"})

    def _play(self, told):
        began = time.monotonic()
        try:
            world = self.worlds[told.name] = World(self.api, told.name.replace("_", "-"), self.heart)
            told.play(world)
        except AssertionError as error:
            self.failed[told.name] = str(error)
        except Exception as error:
            self.failed[told.name] = repr(error)
        self.seconds[told.name] = time.monotonic() - began

    def play(self, names):
        together = [STORIES[n] for n in names if not STORIES[n].alone]
        together.sort(key=lambda told: not told.slow)  # what takes long begins first
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(self._play, together))
        for name in names:
            if STORIES[name].alone:
                self._play(STORIES[name])

    def shown(self, name, events):
        if name in self.failed:
            return ["FAILED " + self.failed[name]] + (shown(self.worlds[name], events) if name in self.worlds else [])
        return shown(self.worlds[name], events and STORIES[name].events)

    def settled(self, names):
        """{story: what remains}, once nothing changes any more."""
        seen, stop = None, time.monotonic() + 10 * SETTLED
        while True:
            found = {name: self.shown(name, True) for name in names}
            if found == seen or time.monotonic() > stop:
                return found
            seen = found
            time.sleep(SETTLED)

    def reached(self, names, expected, events):
        """What remains, as soon as it is what is expected: all of it at the end of the time, too."""
        found, left = {}, list(names)
        stop = time.monotonic() + COMPARED
        while left:
            found.update({name: self.shown(name, events) for name in left})
            late = time.monotonic() > stop
            left = [name for name in left if found[name] != expected[name] and name not in self.failed and not late]
            time.sleep(0.2 if left else 0)
        return found


def of_the_real(peers, folder, names, threads=8):
    with RealPlane(peers, os.path.join(folder, "real")) as plane:
        theatre = Theatre(plane.api, threads)
        try:
            theatre.play(names)
            return theatre.settled(names), theatre
        finally:
            theatre.heart.stop()


def of_berth(folder, names, expected, options):
    with BerthPlane(folder, durable=bool(options.kill)) as plane:
        theatre = Theatre(plane.api, options.threads)
        try:
            faults = controller_faults.play(plane, options, lambda: theatre.play(names))
            if faults:
                print("faults: " + faults)
            if expected is None:
                return theatre.settled(names), theatre
            return theatre.reached(names, expected, not faults), theatre
        finally:
            theatre.heart.stop()


# ---- Comparing ----

def without_events(lines):
    return [line for line in lines if not line.startswith("event ")]


def report(names, expected, found, theatre, labels=("real", "berth")):
    n_differ = 0
    for name in names:
        diff = list(difflib.unified_diff(expected[name], found[name], *labels, lineterm="", n=6))
        failed = found[name][:1] and found[name][0].startswith("FAILED")
        n_differ += bool(diff or failed)
        print("%-36s %-8s %5.1f s" % (name, "FAILED" if failed else "differs" if diff else "equal", theatre.seconds.get(name, 0)))
        print("\n".join(diff[:DIFF_LINES]), end="\n" if diff else "")
    print("%d stories, %d differ" % (len(names), n_differ), flush=True)
    return n_differ


def recording_of(module):
    """Where the stories of a file are recorded, and what is recorded there."""
    path = os.path.join(HERE, "recordings", module + ".json.gz")
    if not os.path.exists(path):
        return path, {}
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return path, json.load(f)


def module_of(name):
    return STORIES[name].play.__module__


def load_recordings(names):
    files = {module: recording_of(module)[1] for module in {module_of(name) for name in names}}
    return {name: files[module_of(name)].get(name, ["it is not recorded"]) for name in names}


def save_recordings(found):
    """Stories that were not played keep what was recorded."""
    for module in sorted({module_of(name) for name in found}):
        path, kept = recording_of(module)
        kept.update({name: lines for name, lines in found.items() if module_of(name) == module and STORIES[name].recorded})
        kept = {name: lines for name, lines in kept.items() if name in STORIES}
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as f:
            f.write(json.dumps(kept, sort_keys=True, indent=0).encode())


def failures_of(found):
    return [name for name, lines in found.items() if lines[:1] and lines[0].startswith("FAILED")]


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    for flag in ("list", "short", "record", "recorded", "twice", "show", "touch", "freeze"):
        parser.add_argument("--" + flag, action="store_true")
    parser.add_argument("--kill", type=float, default=0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("story", nargs="*")
    options = parser.parse_args(arguments)
    options.names = options.story or [n for n, told in STORIES.items() if
                                      (told.recorded if options.recorded else not (options.short and told.slow))]
    return options


def real_ones(folder, options):
    peers = os.environ.get("BERTH_PEERS") or find_peers()
    if not peers:
        sys.exit(77)
    return of_the_real(peers, folder, options.names, options.threads)


def expected_of(folder, options):
    if options.recorded:
        return load_recordings(options.names)
    return real_ones(folder, options)[0]


# ---- As a part of tests/peers/run ----

PARTS = [("controllers", "stories of berth's controllers end as those of the real kube-controller-manager do"),
         ("controllers-faults", "and so they do while the server is killed, everything is written by others, and time stands still")]


def run(peers, folder, options, results):
    """The second part compares with what the first one has seen, or with the recording."""
    expected = None
    for (name, doc), faults in zip(PARTS, ([], [["--kill", "1"], ["--touch", "--freeze"]])):
        if not options.only.search(name) or faults and options.short:
            continue
        began, wrong = time.monotonic(), []
        for arguments in faults or [[]]:
            played = parse(["--short"] * bool(options.short or faults) + arguments)
            played.seed = options.seed
            space = os.path.join(folder, name + "".join(arguments))
            if expected is None:
                expected = load_recordings(played.names) if faults else of_the_real(peers, space, played.names)[0]
            want = {n: without_events(expected[n]) if faults else expected[n] for n in played.names}
            found = of_berth(space, played.names, want, played)[0]
            wrong += [line for n in played.names if found[n] != want[n]
                      for line in ["%s differs" % n] + list(difflib.unified_diff(want[n], found[n], "real", "berth", lineterm="", n=2))[:20]]
        results.note("%s: %s" % (name, doc), wrong, time.monotonic() - began)


def main(arguments):
    options = parse(arguments)
    if options.list:
        print("\n".join(options.names))
        return 0
    faulty = options.kill or options.touch or options.freeze
    with tempfile.TemporaryDirectory() as folder:
        if options.show:
            found = of_berth(folder, options.names, None, options)[0]
            print("\n".join(line for name in options.names for line in ["== " + name] + found[name]))
            return 1 if failures_of(found) else 0
        expected = expected_of(folder, options)
        if options.record:
            save_recordings(expected)
            print("failed with the real ones: %s" % failures_of(expected))
        if options.twice:
            again = real_ones(os.path.join(folder, "again"), options)
            return 1 if report(options.names, expected, *again, labels=("real", "again")) else 0
        if faulty:
            expected = {name: without_events(lines) for name, lines in expected.items()}
            print("seed %d" % options.seed, flush=True)
        found = of_berth(folder, options.names, expected, options)
        return 1 if report(options.names, expected, *found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
