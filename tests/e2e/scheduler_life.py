#!/usr/bin/env python3
"""scheduler_life.py BERTH STAND_IN - how `berth scheduler` begins and ends on the stand-in API server: in which order it asks, what it
does without a server, what signals do, what a recording is good for."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BERTH, STAND_IN = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LIMIT = 120  # seconds that one step may take on a slow machine


def wait(holds, what):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("after %d s not yet: %s" % (LIMIT, what))


def read(path):
    return open(path, errors="replace").read() if os.path.exists(path) else ""


def move_server(kubeconfig):
    """Makes a kubeconfig lead to a port where nobody is. Where it led before."""
    text = read(kubeconfig)
    server = re.search(r"https?://[0-9.]+:[0-9]+", text).group()
    with open(kubeconfig, "w") as f:
        f.write(text.replace(server, server.rsplit(":", 1)[0] + ":1"))
    return server


class Scene:
    """A stand-in with nodes and pods, and one scheduler."""

    def __init__(self, *options, elect=False, delay=False, flags=(), server=True, objects=(), media=None, by_master=False):
        self.folder = tempfile.TemporaryDirectory(prefix="berth-life-")
        at = self.folder.name
        self.requests, self.log, kubeconfig = (os.path.join(at, n) for n in ("requests", "log", "kubeconfig"))
        if objects:
            options += ("-f", self.write("objects.json", {"apiVersion": "v1", "kind": "List", "items": objects}))
        self.server = subprocess.Popen([STAND_IN, "--kubeconfig", kubeconfig, "--requests", self.requests, *options], stdout=subprocess.PIPE,
                                       text=True)
        assert self.server.stdout.readline().startswith("listening")
        if by_master:
            flags = ["--master", move_server(kubeconfig), *flags]
        if not server:
            self.server.kill()
            self.server.wait()
        connection = dict({"kubeconfig": kubeconfig, "qps": 5000, "burst": 5000}, **({"contentType": media} if media else {}))
        config = self.write("config.yaml", {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                                            "clientConnection": connection, "leaderElection": {"leaderElect": elect},
                                            "delayCacheUntilActive": delay})
        self.scheduler = subprocess.Popen([BERTH, "scheduler", "--config", config, "--secure-port=0", "-v=2", *flags],
                                          stderr=open(self.log, "w"), env={"PATH": os.environ["PATH"]})

    def write(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as f:
            json.dump(content, f)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in (self.scheduler, self.server):
            child.kill()
            child.wait()
        self.folder.cleanup()

    def n_bound(self):
        return len(re.findall(r"^POST \S*/binding", read(self.requests), re.M))

    def end(self, number=signal.SIGTERM):
        self.scheduler.send_signal(number)
        return self.scheduler.wait(LIMIT)


def first(text, pattern):
    found = re.search(pattern, text)
    assert found, (pattern, text[:2000])
    return found.start()


def the_lease_comes_after_the_lists_or_before_them():
    for delay in (False, True):
        with Scene("--nodes", "2", "--pods", "3", elect=True, delay=delay) as s:
            wait(lambda: s.n_bound() == 3, "bindings")
            requests = read(s.requests)
            lease, lists = first(requests, r"\S+ \S*/leases"), first(requests, r"GET /api/v1/pods\?")
            assert (lease < lists) == delay, requests[:2000]
            assert s.end() == 0
            assert "Requested to terminate, exiting" in read(s.log).splitlines()[-1]
            assert re.findall(r"^(\S+) \S*/leases/", read(s.requests), re.M)[-1] == "PUT", "the lease is given back"


def signals_end_it():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Scene("--nodes", "1", "--pods", "1") as s:
            wait(lambda: s.n_bound() == 1, "binding")
            assert s.end(number) == 1
            assert 'err="finished without leader elect"' in read(s.log).splitlines()[-1]


def a_server_that_is_not_there_is_told_and_waited_for():
    for elect in (False, True):
        with Scene(elect=elect, server=False) as s:
            wait(lambda: "Failed to watch" in read(s.log), "a word about it")
            assert s.scheduler.poll() is None
            assert s.end() == (0 if elect else 1)


def a_second_signal_ends_it_at_once():
    with Scene("--nodes", "1", elect=True) as s:
        wait(lambda: "Successfully acquired lease" in read(s.log), "the lease")
        s.server.send_signal(signal.SIGSTOP)  # the lease cannot be given back
        s.scheduler.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert s.scheduler.poll() is None, "it waits for the server's answer"
        assert s.end() == 1


def a_lease_that_cannot_be_given_back_does_not_hold_it_up():
    with Scene("--nodes", "1", elect=True) as s:
        wait(lambda: "Successfully acquired lease" in read(s.log), "the lease")
        s.server.send_signal(signal.SIGSTOP)
        assert s.end() == 0


def a_recording_repeats():
    with tempfile.TemporaryDirectory(prefix="berth-life-") as at:
        path = os.path.join(at, "r")
        with Scene("--nodes", "20", "--pods", "300", flags=["--record", path, "--record-max-bytes", "64Mi"]) as s:
            wait(lambda: read(s.log).count('"Successfully bound pod to node"') == 300, "answers to bindings")
            s.end()
        done = subprocess.run([BERTH, "replay", path + ".1", "-o", "json"], capture_output=True, text=True)
        assert done.returncode == 0, done
        assert '"placed":300' in done.stdout.replace(" ", ""), done.stdout


def a_shadow_cannot_record():
    with Scene("--nodes", "1", flags=["--shadow", "--record", "/nonexistent/r"]) as s:
        assert s.scheduler.wait(LIMIT) == 1
        assert "no decisions to record" in read(s.log)


def master_wins_over_the_kubeconfig():
    with Scene("--nodes", "1", "--pods", "2", by_master=True) as s:
        wait(lambda: s.n_bound() == 2, "bindings")


# A request's kind of body, or of the answer it wants: (pattern of the request, what follows it)
SPOKEN = ((r"^GET /api/v1/pods\?\S* accept=(\S+)", "accept"), (r"^POST \S*/binding\S* accept=.* type=(\S+)", "binding"),
          (r"^POST \S*/events\S* accept=.* type=(\S+)", "Event"), (r"^POST \S*/leases\S* accept=.* type=(\S+)", "lease"))


def it_speaks_what_the_configuration_says():
    for media, word in (("application/json", "json"), (None, "protobuf")):
        with Scene("--nodes", "2", "--pods", "2", elect=True, media=media) as s:
            wait(lambda: all(re.search(pattern, read(s.requests), re.M) for pattern, _ in SPOKEN) and s.n_bound() == 2, "requests of all kinds")
            for pattern, what in SPOKEN:
                for found in re.findall(pattern, read(s.requests), re.M):
                    assert word in found.split(",")[0], (media, what, found)


DEVICES = ["resourceclaims", "resourceslices", "deviceclasses"]


def it_watches_devices_where_they_are_served():
    for options in ([], [word for name in DEVICES for word in ("--not-served", name)]):
        with Scene("--nodes", "1", "--pods", "1", *options) as s:
            wait(lambda: s.n_bound() == 1, "binding")
            asked = re.findall(r"^GET /apis/resource.k8s.io/v1/(\w+)\?\S*watch=true", read(s.requests), re.M)
            assert sorted(set(asked)) == sorted(DEVICES), asked
            assert ("does not serve this resource" in read(s.log)) == bool(options)


def who_waits_too_long_is_tried_again():
    """Nothing happens in the cluster: only the flag's time, looked at every 30 seconds, gets the pod another try."""
    huge = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "huge", "namespace": "default"},
            "spec": {"schedulerName": "default-scheduler",
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "99"}}}]}}
    with Scene("--nodes", "1", objects=[huge], flags=["--pod-max-in-unschedulable-pods-duration=2s"]) as s:
        wait(lambda: read(s.log).count("Unable to schedule pod; no fit; waiting") >= 2, "a second try")


if __name__ == "__main__":
    for check in (the_lease_comes_after_the_lists_or_before_them, signals_end_it, a_server_that_is_not_there_is_told_and_waited_for,
                  a_second_signal_ends_it_at_once, a_lease_that_cannot_be_given_back_does_not_hold_it_up, a_recording_repeats,
                  a_shadow_cannot_record, master_wins_over_the_kubeconfig, it_speaks_what_the_configuration_says,
                  it_watches_devices_where_they_are_served,
                  who_waits_too_long_is_tried_again):
        check()
        print(check.__name__.replace("_", " "), flush=True)
