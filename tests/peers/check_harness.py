"""Would the stories notice? Clusters in which something is wrong, and what load.py and live.py say about them."""
import random
import tempfile

import api as kube
import fault_proxy
import live
import load
from story import Deck


def placed(pod, node):
    pod["spec"]["nodeName"] = node
    return pod


def clusters():
    """(what, nodes, pods, is it overcommitted, does a pod wait that fits)"""
    small, other = kube.node("small", 1000, labels={"zone": "a"}), kube.node("other", 1000, labels={"zone": "b"})
    tainted = kube.node("tainted", 9000, taints=[{"key": "k", "effect": "NoSchedule"}])
    full = [placed(kube.pod("one", 600), "small"), placed(kube.pod("two", 400), "small")]
    yield "a full node", [small], full, False, False
    yield "one too many", [small], full + [placed(kube.pod("three", 1), "small")], True, False
    yield "too many pods", [kube.node("few", 1000, pods=1)], [placed(kube.pod(n, 1), "few") for n in "ab"], True, False
    yield "too much memory", [kube.node("thin", 1000, 100)], [placed(kube.pod("fat", 1, 101), "thin")], True, False
    yield "a pod waits beside room", [small], [kube.pod("p", 1000)], False, True
    yield "a pod waits for room", [small], [kube.pod("p", 1001)], False, False
    yield "a pod waits for another zone", [small], [kube.pod("p", 1, selector={"zone": "b"})], False, False
    yield "its zone has room", [small, other], [kube.pod("p", 1, selector={"zone": "b"})], False, True
    yield "only a tainted node has room", [small, tainted], full + [kube.pod("p", 1)], False, False


def check_clusters():
    for what, nodes, pods, over, waits in clusters():
        assert bool(load.overcommitted(nodes, pods)) == over, what
        assert bool(load.waiting_though_fitting(nodes, pods)) == waits, what


def check_amounts():
    """As a server writes them."""
    assert [load.milli(t) for t in ("250m", "2", 3)] == [250, 2000, 3000]
    assert [load.mebi(t) for t in ("64Mi", "2Gi", "2048Ki")] == [64, 2048, 2]


def check_deck():
    deck = Deck(random.Random(1), "abc")
    assert sorted(deck.deal() for _ in range(6)) == list("aabbcc")


def check_comparison(peers):
    """A script that says something else, one that is missing, one that did not finish."""
    def script(name, value, **more):
        return dict({"scenario": "script " + name, "family": "script", "facts": [{"name": "x", "value": value}], "ms": 1}, **more)
    real = {s["scenario"]: s for s in (script("same", "1"), script("other", "1"), script("missing", "1"), script("broken", "1"))}
    other = {s["scenario"]: s for s in (script("same", "1"), script("other", "2"), script("broken", "1", error="no"))}
    with tempfile.TemporaryDirectory() as folder:
        assert set(live.compare(peers, real, other, folder, quiet=True)) == {"script other", "script missing", "script broken"}


def check_chance(peers):
    """What the real scheduler did in another run is forgiven, step by step; what it never did is not."""
    runs = live.read_lines(live.CHANCE_FILE)
    assert {one["scenario"] for one in runs} == set(live.CHANCE)
    with tempfile.TemporaryDirectory() as folder:
        for one in runs:
            name = one["scenario"]
            first = next(run for run in runs if run["scenario"] == name)
            wrong = live.compare(peers, {name: first}, {name: one}, folder, quiet=True)
            assert not live.never_agree(peers, wrong, {name: one}, folder, quiet=True), name
            never = dict(one, steps=[dict(step, outcome="never") for step in one["steps"]])
            wrong = live.compare(peers, {name: first}, {name: never}, folder, quiet=True)
            assert len(live.never_agree(peers, wrong, {name: never}, folder, quiet=True)[name]) == len(one["steps"]), name


def check_gone():
    """The protobuf of a watch event that says 410, taken apart again."""
    event = fault_proxy.gone_event(True)
    assert int.from_bytes(event[:4], "big") == len(event) - 4 and b"k8s\0" in event and event.endswith(b"\x30\x9a\x03")


def wrong(peers):
    """What does not hold, as sentences."""
    found = []
    for check in (check_clusters, check_amounts, check_deck, check_gone, lambda: check_comparison(peers),
                  lambda: check_chance(peers)):
        try:
            check()
        except AssertionError as error:
            found.append("%s: %s" % (check.__name__, error))
    return found
