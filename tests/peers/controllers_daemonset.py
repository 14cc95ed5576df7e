#!/usr/bin/env python3
"""Stories of DaemonSets. Alone: controllers_daemonset.py [OPTIONS] [STORY...], as controllers.py."""
import sys
import time

from controller_story import now, story


def kubelets(w):
    """Binds pods to the node that their affinity names, runs them, and ends those that are being deleted."""
    for pod in w.items("pods"):
        name = pod["metadata"]["name"]
        try:
            if "deletionTimestamp" in pod["metadata"]:
                w.delete("pods", name, grace=0)
                continue
            if not pod["spec"].get("nodeName"):
                terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
                w.api.create(w.path("pods", name + "/binding"), {
                    "metadata": {"name": name}, "target": {"kind": "Node", "name": terms[0]["matchFields"][0]["values"][0]}})
        except AssertionError:
            if w.find("pods", name):
                raise
    w.ready(lambda pod: pod["spec"].get("nodeName") and "broken" not in pod["spec"]["containers"][0]["image"])


def daemon_set(w, n=3, nodes=True, **spec):
    """A DaemonSet for the nodes of this story alone."""
    for i in range(n if nodes else 0):
        w.node("n%d" % i, labels={"story": w.ns, "i": str(i)})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeSelector": {"story": w.ns}, "containers": [{"name": "c", "image": "i"}]}}
    w.make("daemonsets", "web", dict({"selector": {"matchLabels": {"a": "b"}}, "template": template}, **spec), {"annotations": {"note": "x"}})


def image(w, name):
    w.patch("daemonsets", "web", {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}})


def settled(w, each=kubelets, **want):
    def is_so():
        d = w.get("daemonsets", "web")
        s = d.get("status", {})
        return s.get("observedGeneration") == d["metadata"]["generation"] and all(s.get(k, 0) == v for k, v in want.items())
    w.until("status %s" % want, is_so, (lambda: each(w)) if each else None)


def rolled(w, n=3):
    """The status may still be that of pods that are gone: so pods first."""
    w.until("%d pods" % n, lambda: [p["status"]["phase"] for p in w.items("pods")] == ["Running"] * n, lambda: kubelets(w))
    settled(w, desiredNumberScheduled=n, currentNumberScheduled=n, updatedNumberScheduled=n, numberAvailable=n)
    w.until("%d pods" % n, lambda: [p["status"]["phase"] for p in w.items("pods")] == ["Running"] * n, lambda: kubelets(w))


def pod_on(w, node):
    return next(p for p in w.pods() if p["spec"].get("nodeName") == w.own(node))


def surge(n):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": n, "maxUnavailable": 0}}


def unavailable(n):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": n}}


@story()
def daemons_run(w):
    daemon_set(w)
    rolled(w)


@story()
def daemons_wait(w):
    daemon_set(w)
    settled(w, None, currentNumberScheduled=3)


@story()
def daemons_on_no_node(w):
    daemon_set(w, 0)
    settled(w, desiredNumberScheduled=0)


@story()
def daemons_of_affinity(w):
    """One term of two, an own toleration, and what hostNetwork adds."""
    for i in range(4):
        w.node("n%d" % i, labels={"story": w.ns, "i": str(i)}, taints=[{"key": "x", "effect": "NoSchedule"}] if i == 1 else None)
    terms = [{"matchExpressions": [{"key": "story", "operator": "In", "values": [w.ns]}, {"key": "i", "operator": "Lt", "values": ["2"]}]},
             {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [w.own("n3")]}]}]
    daemon_set(w, nodes=False, template={"metadata": {"labels": {"a": "b"}, "annotations": {"k": "v"}}, "spec": {
        "hostNetwork": True, "tolerations": [{"key": "x", "operator": "Exists"},
                                             {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                                              "tolerationSeconds": 5}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
                                      "preferredDuringSchedulingIgnoredDuringExecution": [
                                          {"weight": 1, "preference": {"matchExpressions": [{"key": "z", "operator": "Exists"}]}}]}},
        "containers": [{"name": "c", "image": "i"}]}})
    rolled(w)


@story()
def daemons_roll(w):
    daemons_run(w)
    image(w, "j")
    rolled(w)


@story()
def daemons_roll_two_at_a_time(w):
    daemon_set(w, 4, updateStrategy=unavailable("50%"))
    rolled(w, 4)
    image(w, "j")
    rolled(w, 4)


@story()
def daemons_undo(w):
    daemons_roll(w)
    image(w, "i")
    rolled(w)


@story()
def daemons_surge(w):
    daemon_set(w, updateStrategy=surge(1))
    rolled(w)
    image(w, "j")
    rolled(w)


@story()
def daemons_surge_stuck(w):
    daemon_set(w, updateStrategy=surge("100%"))
    rolled(w)
    time.sleep(1.1)  # of pods of the same second the name decides which one counts
    image(w, "broken")
    w.until("six pods", lambda: len(w.items("pods")) == 6, lambda: kubelets(w))
    settled(w, numberAvailable=3)
    w.until("all bound", lambda: all(p["spec"].get("nodeName") for p in w.items("pods")), lambda: kubelets(w))


@story()
def daemons_stuck(w):
    daemon_set(w, 1)
    rolled(w, 1)
    image(w, "broken")
    settled(w, numberAvailable=0, updatedNumberScheduled=1)
    w.until("bound", lambda: all(p["spec"].get("nodeName") for p in w.items("pods")), lambda: kubelets(w))


@story()
def daemons_on_delete(w):
    daemon_set(w, updateStrategy={"type": "OnDelete"})
    rolled(w)
    image(w, "j")
    settled(w, updatedNumberScheduled=0, numberAvailable=3)
    w.delete("pods", pod_on(w, "n0")["metadata"]["name"], grace=0)
    settled(w, updatedNumberScheduled=1, numberAvailable=3)


@story()
def daemons_history(w):
    daemon_set(w, 1, revisionHistoryLimit=1)
    rolled(w, 1)
    for name in "jkl":
        image(w, name)
        rolled(w, 1)
    w.until("two revisions", lambda: len(w.items("controllerrevisions")) == 2)


@story()
def daemons_restart(w):
    """As kubectl rollout restart does."""
    daemons_run(w)
    w.patch("daemonsets", "web", {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "1"}}}}})
    rolled(w)


@story()
def daemons_fail(w):
    daemons_run(w)
    old = pod_on(w, "n0")["metadata"]["name"]
    w.set_phase(old, "Failed", code=1)
    w.until("told", lambda: w.told("FailedDaemonPod"))
    w.until("gone", lambda: not w.find("pods", old), lambda: kubelets(w))
    rolled(w)


@story()
def daemons_succeed(w):
    daemons_run(w)
    old = pod_on(w, "n0")["metadata"]["name"]
    w.set_phase(old, "Succeeded")
    w.until("told", lambda: w.told("SucceededDaemonPod"))
    w.until("gone", lambda: not w.find("pods", old), lambda: kubelets(w))
    rolled(w)


@story()
def daemons_new_node(w):
    daemons_run(w)
    w.node("late", labels={"story": w.ns})
    rolled(w, 4)


@story()
def daemons_node_leaves_by_label(w):
    daemons_run(w)
    w.patch("nodes", w.own("n0"), {"metadata": {"labels": {"story": "another"}}})
    rolled(w, 2)


@story(alone=True)  # what happens to other nodes may bring a look at this set, too
def daemons_taint_no_schedule(w):
    """The pod stays, and nobody counts before something else happens."""
    daemons_run(w)
    w.stays("all there", lambda: len(w.items("pods")) == 3)
    w.patch("nodes", w.own("n0"), {"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}})
    w.stays("as it was", lambda: len(w.items("pods")) == 3)


@story()
def daemons_taint_counted(w):
    daemons_taint_no_schedule(w)
    w.patch("daemonsets", "web", {"spec": {"minReadySeconds": 0, "revisionHistoryLimit": 3}})
    settled(w, numberMisscheduled=1, desiredNumberScheduled=2)
    w.patch("nodes", w.own("n0"), {"spec": {"taints": None}})
    settled(w, numberMisscheduled=0, desiredNumberScheduled=3)


@story(events=False)  # two controllers delete the pod, and one of them is the first
def daemons_taint_no_execute(w):
    daemons_run(w)
    w.patch("nodes", w.own("n0"), {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}})
    rolled(w, 2)


@story()
def daemons_adopt(w):
    w.node("n0", labels={"story": w.ns})
    w.pod("mine", node=w.own("n0"), labels={"a": "b"})
    daemon_set(w, nodes=False, updateStrategy={"type": "OnDelete"})
    settled(w, currentNumberScheduled=1, numberAvailable=1)


@story()
def daemons_release(w):
    daemons_run(w)
    w.patch("pods", pod_on(w, "n0")["metadata"]["name"], {"metadata": {"labels": {"a": "c"}}})
    w.until("four pods", lambda: [p["status"]["phase"] for p in w.items("pods")] == ["Running"] * 4, lambda: kubelets(w))
    settled(w, numberAvailable=3)


@story()
def daemons_orphaned(w):
    """Pods and revisions stay, and are taken by the next of that name."""
    daemons_run(w)
    w.delete("daemonsets", "web", "Orphan")
    w.gone("daemonsets", "web")
    w.until("free", lambda: not any("ownerReferences" in p["metadata"] for p in w.items("pods") + w.items("controllerrevisions")))
    daemon_set(w, nodes=False)
    rolled(w)


@story()
def daemons_deleted(w):
    daemons_run(w)
    w.delete("daemonsets", "web")
    w.until("gone", lambda: not w.items("pods") and not w.items("controllerrevisions"), lambda: kubelets(w))


@story()
def daemons_min_ready(w):
    daemon_set(w, minReadySeconds=3)
    rolled(w)
    image(w, "j")
    rolled(w)


@story()
def daemons_never_available(w):
    daemon_set(w, minReadySeconds=3600)
    settled(w, numberReady=3)


@story(events=False)  # how often creation is tried is a matter of chance
def daemons_quota(w):
    w.make("resourcequotas", "q", {"hard": {"pods": "0"}})
    w.until("counted", lambda: w.status("resourcequotas", "q").get("used"))
    daemon_set(w)
    w.until("told", lambda: w.told("FailedCreate"))
    settled(w, desiredNumberScheduled=3, currentNumberScheduled=0)


@story()
def daemons_generation_tells(w):
    """A pod of an older hash counts as updated when it has the template's generation."""
    daemons_run(w)
    pod = pod_on(w, "n0")["metadata"]["name"]
    w.patch("pods", pod, {"metadata": {"labels": {"controller-revision-hash": "other"}}})
    w.stays("three", lambda: len(w.pods()) == 3)
    settled(w, updatedNumberScheduled=3)


@story()
def daemons_of_a_gone_node(w):
    daemon_set(w)
    settled(w, None, currentNumberScheduled=3)
    w.delete("nodes", w.own("n0"))
    w.until("two pods", lambda: len(w.items("pods")) == 2,
            lambda: w.patch("daemonsets", "web", {"metadata": {"annotations": {"look": now()}}}))
    settled(w, None, desiredNumberScheduled=2, currentNumberScheduled=2)
    w.patch("daemonsets", "web", {"metadata": {"annotations": {"look": "done"}}})


if __name__ == "__main__":
    import controllers
    sys.exit(controllers.main(sys.argv[1:] or [name for name in controllers.STORIES if name.startswith("daemons_")]))
