"""Stories of StatefulSets."""
from controller_story import story

CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                                                "storageClassName": "nobody"}}


def stateful_set(w, n, **spec):
    w.make("statefulsets", "web", dict({
        "replicas": n, "serviceName": "svc", "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}, **spec))


def image(w, name):
    w.patch("statefulsets", "web", {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}})


def names(w):
    return [p["metadata"]["name"] for p in w.live()]


def images(w):
    return [p["spec"]["containers"][0]["image"] for p in w.live()]


def run(w, *names_of_pods):
    """One after the other, when they are there."""
    for name in names_of_pods:
        w.until(name, lambda: [p for p in w.live() if p["metadata"]["name"] == name and p["status"]["phase"] == "Pending"])
        w.set_phase(name, "Running")


def settled(w, **want):
    """With all pods running, so that it is not what was before."""
    w.until("status %s" % want, lambda: not [p for p in w.live() if p["status"]["phase"] == "Pending"] and
            all(w.status("statefulsets", "web").get(k, 0) == v for k, v in want.items()), w.ready)


@story()
def set_in_order(w):
    stateful_set(w, 3, volumeClaimTemplates=[CLAIM])
    w.until("the first", lambda: names(w) == ["web-0"])
    w.stays("the second waits", lambda: names(w) == ["web-0"])
    run(w, "web-0", "web-1", "web-2")
    settled(w, availableReplicas=3)


@story()
def set_waits_for_the_first(w):
    stateful_set(w, 3)
    w.until("the first", lambda: w.status("statefulsets", "web").get("replicas") == 1)


@story()
def set_shrinks(w):
    set_in_order(w)
    w.patch("statefulsets", "web", {"spec": {"replicas": 1}})
    w.until("one", lambda: names(w) == ["web-0"])
    settled(w, replicas=1, readyReplicas=1)
    w.patch("statefulsets", "web", {"spec": {"replicas": 2}})
    run(w, "web-1")
    settled(w, replicas=2, availableReplicas=2)


@story()
def set_in_parallel(w):
    stateful_set(w, 3, podManagementPolicy="Parallel", ordinals={"start": 5})
    w.until("all", lambda: names(w) == ["web-5", "web-6", "web-7"])
    w.patch("statefulsets", "web", {"spec": {"replicas": 1}})
    w.until("one", lambda: names(w) == ["web-5"])


@story()
def set_moves_its_ordinals(w):
    stateful_set(w, 2, podManagementPolicy="Parallel")
    settled(w, availableReplicas=2)
    w.patch("statefulsets", "web", {"spec": {"ordinals": {"start": 1}}})
    w.until("moved", lambda: names(w) == ["web-1", "web-2"], w.ready)
    settled(w, availableReplicas=2, replicas=2)


@story()
def set_rolls(w):
    stateful_set(w, 3)
    settled(w, availableReplicas=3, updatedReplicas=3)
    image(w, "new")
    w.until("rolled", lambda: images(w) == ["new"] * 3, w.ready)
    settled(w, availableReplicas=3, updatedReplicas=3, currentReplicas=3)


@story()
def set_partition(w):
    stateful_set(w, 3, podManagementPolicy="Parallel")
    settled(w, availableReplicas=3)
    w.patch("statefulsets", "web", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}})
    image(w, "new")
    w.until("rolled", lambda: images(w) == ["i", "new", "new"], w.ready)
    settled(w, availableReplicas=3, updatedReplicas=2, currentReplicas=1)


@story()
def set_below_the_partition(w):
    """What is made again there is made as it was."""
    set_partition(w)
    old = w.get("pods", "web-0")["metadata"]["uid"]
    w.delete("pods", "web-0", grace=0)
    w.until("again", lambda: [p for p in w.live() if p["metadata"]["name"] == "web-0" and p["metadata"]["uid"] != old])
    settled(w, availableReplicas=3, updatedReplicas=2, currentReplicas=1)
    w.patch("statefulsets", "web", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    w.until("rolled", lambda: images(w) == ["new"] * 3, w.ready)
    settled(w, availableReplicas=3, updatedReplicas=3, currentReplicas=3)


@story()
def set_rolls_back(w):
    set_rolls(w)
    image(w, "i")
    w.until("back", lambda: images(w) == ["i"] * 3, w.ready)
    settled(w, availableReplicas=3, updatedReplicas=3, currentReplicas=3)


@story()
def set_on_delete(w):
    stateful_set(w, 2, updateStrategy={"type": "OnDelete"})
    settled(w, availableReplicas=2)
    image(w, "new")
    w.until("seen", lambda: w.status("statefulsets", "web")["updateRevision"] != w.status("statefulsets", "web")["currentRevision"])
    w.delete("pods", "web-1", grace=0)
    w.until("one is new", lambda: images(w) == ["i", "new"], w.ready)
    settled(w, availableReplicas=2, updatedReplicas=1)


@story()
def set_history(w):
    stateful_set(w, 1, revisionHistoryLimit=1)
    settled(w, availableReplicas=1)
    for name in "bcd":
        image(w, name)
        w.until("rolled", lambda: images(w) == [name], w.ready)
        settled(w, availableReplicas=1, updatedReplicas=1, currentReplicas=1)
    w.until("cleaned", lambda: len(w.items("controllerrevisions")) == 2)


@story()
def set_broken(w):
    """The new pod does not start; a template that would, does not help it: it has to be deleted."""
    stateful_set(w, 2)
    settled(w, availableReplicas=2)
    image(w, "broken")
    w.until("broken", lambda: images(w) == ["i", "broken"])
    settled_without_help(w, replicas=2, updatedReplicas=1)
    image(w, "well")
    w.until("seen", lambda: len(w.items("controllerrevisions")) == 3)
    w.stays("still broken", lambda: images(w) == ["i", "broken"])


def settled_without_help(w, **want):
    w.until("status %s" % want, lambda: all(w.status("statefulsets", "web").get(k, 0) == v for k, v in want.items()))


@story()
def set_pod_fails(w):
    stateful_set(w, 1)
    run(w, "web-0")
    old = w.get("pods", "web-0")["metadata"]["uid"]
    w.set_phase("web-0", "Failed", 1)
    w.until("another", lambda: [p for p in w.live() if p["metadata"]["uid"] != old])
    settled(w, availableReplicas=1)


@story()
def set_pod_succeeds(w):
    stateful_set(w, 1)
    run(w, "web-0")
    old = w.get("pods", "web-0")["metadata"]["uid"]
    w.set_phase("web-0", "Succeeded")
    w.until("another", lambda: [p for p in w.live() if p["metadata"]["uid"] != old])
    settled(w, availableReplicas=1)


@story()
def set_pod_deleted(w):
    set_in_order(w)
    old = w.get("pods", "web-1")["metadata"]["uid"]
    w.delete("pods", "web-1", grace=0)
    w.until("another", lambda: [p for p in w.live() if p["metadata"]["name"] == "web-1" and p["metadata"]["uid"] != old])
    settled(w, availableReplicas=3)


@story()
def set_pod_going(w):
    """One that is on its way out is waited for: there is one of each name."""
    node = w.node("n")
    stateful_set(w, 2, template={"metadata": {"labels": {"a": "b"}}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}})
    settled(w, availableReplicas=2)
    w.delete("pods", "web-0")
    w.until("on its way", lambda: names(w) == ["web-1"])
    w.patch("statefulsets", "web", {"spec": {"replicas": 3}})
    w.stays("waiting", lambda: names(w) == ["web-1"])


@story()
def set_min_ready(w):
    stateful_set(w, 2, minReadySeconds=2)
    settled(w, availableReplicas=2)


@story(events=False)
def set_claims_go(w):
    stateful_set(w, 2, podManagementPolicy="Parallel", volumeClaimTemplates=[CLAIM],
                 persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Delete"})
    settled(w, availableReplicas=2)
    w.until("owned", lambda: all(c["metadata"].get("ownerReferences") for c in w.items("persistentvolumeclaims")))
    w.patch("statefulsets", "web", {"spec": {"replicas": 1}})
    w.until("one is left", lambda: len(w.items("persistentvolumeclaims")) == 1)


@story(events=False)
def set_claims_go_with_it(w):
    stateful_set(w, 2, podManagementPolicy="Parallel", volumeClaimTemplates=[CLAIM],
                 persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Retain"})
    settled(w, availableReplicas=2)
    w.until("owned", lambda: all(c["metadata"].get("ownerReferences") for c in w.items("persistentvolumeclaims")))
    w.delete("statefulsets", "web")
    w.until("none", lambda: not w.items("persistentvolumeclaims") and not w.items("pods"))


@story()
def set_claims_stay(w):
    stateful_set(w, 1, volumeClaimTemplates=[CLAIM])
    settled(w, availableReplicas=1)
    w.delete("statefulsets", "web")
    w.until("no pods", lambda: not w.items("pods") and not w.items("controllerrevisions"))


@story(events=False)
def set_policy_changes(w):
    """Claims lose their owner again."""
    stateful_set(w, 1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Retain"})
    settled(w, availableReplicas=1)
    w.until("owned", lambda: all(c["metadata"].get("ownerReferences") for c in w.items("persistentvolumeclaims")))
    w.patch("statefulsets", "web", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}}})
    w.until("nobody's", lambda: not any(c["metadata"].get("ownerReferences") for c in w.items("persistentvolumeclaims")))


@story()
def set_claim_is_there(w):
    """A claim of the right name is used as it is."""
    w.make("persistentvolumeclaims", "data-web-0", CLAIM["spec"], {"labels": {"mine": "yes"}})
    stateful_set(w, 1, volumeClaimTemplates=[CLAIM])
    settled(w, availableReplicas=1)


@story()
def set_adopts(w):
    set_rolls(w)
    w.delete("statefulsets", "web", "Orphan")
    w.gone("statefulsets", "web")
    w.until("nobody's", lambda: not any(p["metadata"].get("ownerReferences") for p in w.pods() + w.items("controllerrevisions")))
    stateful_set(w, 3, template={"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "new"}]}})
    settled(w, availableReplicas=3)
    w.until("taken", lambda: all(p["metadata"].get("ownerReferences") for p in w.pods()))


@story()
def set_releases(w):
    stateful_set(w, 1)
    settled(w, availableReplicas=1)
    w.patch("pods", "web-0", {"metadata": {"labels": {"a": "else"}}})
    w.until("nobody's", lambda: not w.get("pods", "web-0")["metadata"].get("ownerReferences"))
    w.until("counted", lambda: w.status("statefulsets", "web").get("replicas", 0) == 0)


@story()
def set_foreground(w):
    set_in_order(w)
    w.delete("statefulsets", "web", "Foreground")
    w.gone("statefulsets", "web")
    w.until("no pods", lambda: not w.items("pods"))


@story()
def set_quota(w):
    w.make("resourcequotas", "q", {"hard": {"pods": "1"}})
    w.until("counted", lambda: w.status("resourcequotas", "q").get("used"))
    stateful_set(w, 2, podManagementPolicy="Parallel")
    w.until("told", lambda: w.told("FailedCreate"))
    settled_without_help(w, replicas=1)


@story()
def set_unavailable_at_most(w):
    """Two may be away at the same time."""
    stateful_set(w, 4, podManagementPolicy="Parallel", updateStrategy={"rollingUpdate": {"maxUnavailable": 2}})
    settled(w, availableReplicas=4)
    image(w, "new")
    w.until("rolled", lambda: images(w) == ["new"] * 4, w.ready)
    settled(w, availableReplicas=4, updatedReplicas=4, currentReplicas=4)


@story()
def set_collides(w):
    """Somebody else's revision has the name that its own would have."""
    stateful_set(w, 0)
    name = w.until("a revision", lambda: w.items("controllerrevisions"))[0]["metadata"]["name"]
    w.delete("statefulsets", "web")
    w.until("gone", lambda: not w.items("controllerrevisions"))
    w.make("controllerrevisions", name, revision=7, data={"spec": "else"})
    stateful_set(w, 1)
    settled(w, availableReplicas=1)
