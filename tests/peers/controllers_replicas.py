"""Stories of ReplicaSets, ReplicationControllers and Deployments."""
from controller_story import World, shown, story  # noqa: F401 (for other files of stories)


def template(image="a"):
    return {"metadata": {"labels": {"app": "web"}, "annotations": {"t": "1"}}, "spec": {"containers": [
        {"name": "c", "image": image, "resources": {"requests": {"cpu": "0.25", "memory": "1.5Gi"}}}]}}


def deployment(n, strategy=None, **more):
    spec = {"replicas": n, "selector": {"matchLabels": {"app": "web"}}, "template": template(), **more}
    spec["strategy"] = strategy or {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return {"metadata": {"name": "web", "annotations": {"note": "x"}}, "spec": spec}


def image(w, name):
    w.patch("deployments", "web", {"spec": {"template": template(name)}})


def sets(w, kind, resource):
    selector = {"app": "web"} if kind == "ReplicationController" else {"matchLabels": {"app": "web"}}
    w.create(resource, {"metadata": {"name": "web"}, "spec": {"replicas": 3, "selector": selector, "template": template()}})
    status = lambda: w.get(resource, "web")["status"]
    w.until("available", lambda: status().get("availableReplicas") == 3, w.ready)
    w.patch(resource, "web", {"spec": {"replicas": 1}})
    w.until("smaller", lambda: status().get("replicas") == 1 and len(w.pods()) == 1)


@story()
def replica_set(w):
    sets(w, "ReplicaSet", "replicasets")


@story()
def replication_controller(w):
    sets(w, "ReplicationController", "replicationcontrollers")


@story()
def replica_set_pending(w):
    w.create("replicasets", {"metadata": {"name": "web"}, "spec": {"replicas": 2, "minReadySeconds": 5, "selector": {
        "matchLabels": {"app": "web"}}, "template": template()}})
    w.until("made", lambda: w.get("replicasets", "web")["status"].get("replicas") == 2)


@story()
def replica_set_adopts(w):
    for i in range(2):
        w.create("pods", {"metadata": {"name": "p%d" % i, "labels": {"app": "web"}}, "spec": template()["spec"]})
    w.create("replicasets", {"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                                                                   "template": template()}})
    w.until("adopted", lambda: w.get("replicasets", "web")["status"].get("replicas") == 2 and
            all(p["metadata"].get("ownerReferences") for p in w.pods()))


@story()
def replica_set_releases(w):
    replica_set_pending(w)
    w.patch("pods", w.pods()[0]["metadata"]["name"], {"metadata": {"labels": {"app": "else"}}})
    w.until("replaced", lambda: len(w.pods()) == 3 and sum("ownerReferences" not in p["metadata"] for p in w.pods()) == 1)


@story()
def replica_set_quota(w):
    w.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}})
    w.patch("resourcequotas", "q/status", {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})
    w.create("replicasets", {"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                                                                   "template": template()}})
    w.until("failed", lambda: w.get("replicasets", "web")["status"].get("conditions"))
    w.until("told", lambda: w.items("events"))


@story()
def deployment_pending(w):
    w.create("deployments", deployment(3))
    w.until("made", lambda: w.get("deployments", "web")["status"].get("updatedReplicas") == 3)


@story()
def deployment_complete(w):
    w.create("deployments", deployment(3))
    w.rolled(3)


@story()
def deployment_rolls(w):
    deployment_complete(w)
    image(w, "b")
    w.rolled(3, "b")


@story()
def deployment_undone(w):
    deployment_rolls(w)
    image(w, "a")
    w.rolled(3, "a")


@story()
def deployment_scales(w):
    deployment_complete(w)
    w.patch("deployments", "web", {"spec": {"replicas": 5}})
    w.rolled(5)
    w.patch("deployments", "web", {"spec": {"replicas": 2}})
    w.rolled(2)
    w.patch("deployments", "web", {"spec": {"replicas": 0}})
    w.rolled(0)


@story()
def deployment_stuck(w):
    """The new pods never become ready; then the size changes: in proportion."""
    w.create("deployments", deployment(10, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}))
    w.rolled(10)
    image(w, "broken")
    w.until("stuck", lambda: w.get("deployments", "web")["status"].get("updatedReplicas") == 5)
    w.patch("deployments", "web", {"spec": {"replicas": 30}})
    w.until("in proportion", lambda: sum(r["spec"]["replicas"] for r in w.items("replicasets")) == 33 and
            w.get("deployments", "web")["status"].get("replicas") == 33)


@story()
def deployment_recreates(w):
    w.create("deployments", deployment(2, {"type": "Recreate"}))
    w.rolled(2)
    image(w, "b")
    w.rolled(2, "b")


@story()
def deployment_pauses(w):
    deployment_complete(w)
    w.patch("deployments", "web", {"spec": {"paused": True}})
    image(w, "b")
    w.patch("deployments", "web", {"spec": {"replicas": 4}})
    w.until("scaled", lambda: w.get("deployments", "web")["status"].get("availableReplicas") == 4, w.ready)
    w.patch("deployments", "web", {"spec": {"paused": False}})
    w.rolled(4, "b")


@story()
def deployment_history(w):
    w.create("deployments", deployment(1, revisionHistoryLimit=1))
    w.rolled(1)
    for name in "bcd":
        image(w, name)
        w.rolled(1, name)
    w.until("cleaned", lambda: len(w.items("replicasets")) == 2)


@story()
def deployment_deadline(w):
    w.create("deployments", deployment(1, progressDeadlineSeconds=2))
    w.until("late", lambda: any(c["reason"] == "ProgressDeadlineExceeded"
                                for c in w.get("deployments", "web")["status"].get("conditions", [])))


@story()
def deployment_rollback_annotation(w):
    deployment_rolls(w)
    w.patch("deployments", "web", {"metadata": {"annotations": {"deprecated.deployment.rollback.to": "1"}}})
    w.until("taken", lambda: w.get("deployments", "web")["spec"]["template"]["spec"]["containers"][0]["image"] == "a")
    w.rolled(3, "a")


@story()
def deployment_deleted(w):
    deployment_complete(w)
    w.delete("deployments", "web")
    w.until("gone", lambda: not w.pods() and not w.items("replicasets"))


@story()
def deployment_orphaned(w):
    deployment_complete(w)
    w.delete("deployments", "web", "Orphan")
    w.until("orphaned", lambda: not w.items("deployments"))
    w.create("deployments", deployment(3))
    w.rolled(3)


# ---- What else happens to ReplicaSets ----

def replica_set_of(w, n, name="web", resource="replicasets", **more):
    selector = {"app": "web"} if resource == "replicationcontrollers" else {"matchLabels": {"app": "web"}}
    w.create(resource, {"metadata": {"name": name}, "spec": dict({"replicas": n, "selector": selector, "template": template()}, **more)})
    w.until("made", lambda: w.status(resource, name).get("replicas", 0) == n)


@story()
def replica_set_pod_fails(w):
    """A pod that has failed is not counted, and stays."""
    replica_set_of(w, 2)
    w.set_phase(w.pods()[0], "Failed", 1)
    w.until("another", lambda: len(w.live()) == 2 and w.status("replicasets", "web").get("replicas") == 2)


@story()
def replica_set_pod_deleted(w):
    replica_set_of(w, 2)
    old = w.pods()[0]
    w.delete("pods", old["metadata"]["name"], grace=0)
    w.until("another", lambda: len(w.pods()) == 2 and old["metadata"]["uid"] not in [p["metadata"]["uid"] for p in w.pods()])


@story()
def replica_set_pod_terminates(w):
    """A pod that runs on a node goes slowly; another is made at once."""
    node = w.node("n")
    replica_set_of(w, 1, template={"metadata": {"labels": {"app": "web"}}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "a"}]}})
    w.delete("pods", w.pods()[0]["metadata"]["name"])
    w.until("two", lambda: len(w.items("pods")) == 2 and w.status("replicasets", "web").get("terminatingReplicas") == 1)


@story()
def replica_set_deletion_cost(w):
    replica_set_of(w, 3)
    w.until("ready", lambda: w.status("replicasets", "web").get("availableReplicas") == 3, w.ready)
    for cost, pod in zip(("5", "-1", "100"), w.pods()):
        w.patch("pods", pod["metadata"]["name"], {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": cost}}})
    w.patch("replicasets", "web", {"spec": {"replicas": 1}})
    w.until("smaller", lambda: w.status("replicasets", "web").get("replicas") == 1)


@story()
def replica_set_keeps_the_ready(w):
    replica_set_of(w, 4)
    w.set_phase(w.pods()[2], "Running")
    w.until("one is ready", lambda: w.status("replicasets", "web").get("readyReplicas") == 1)
    w.patch("replicasets", "web", {"spec": {"replicas": 1}})
    w.until("smaller", lambda: w.status("replicasets", "web").get("replicas") == 1)


@story()
def replica_set_to_nothing(w):
    replica_set_of(w, 3)
    w.patch("replicasets", "web", {"spec": {"replicas": 0}})
    w.until("none", lambda: not w.pods() and w.status("replicasets", "web").get("replicas", 0) == 0)


@story()
def replica_set_too_many_adopted(w):
    for i in range(4):
        w.pod("p%d" % i)
    for i in (1, 2):
        w.set_phase("p%d" % i, "Running")
    replica_set_of(w, 2)
    w.until("two are left", lambda: len(w.pods()) == 2)


@story()
def replica_sets_with_one_selector(w):
    """What one of them has, the other does not take."""
    replica_set_of(w, 2)
    replica_set_of(w, 3, "second")
    w.until("five", lambda: len(w.pods()) == 5)


@story()
def replica_set_inherited(w):
    """Pods that were left behind are taken by the next one."""
    replica_set_of(w, 2)
    w.delete("replicasets", "web", "Orphan")
    w.gone("replicasets", "web")
    w.until("left", lambda: not any(p["metadata"].get("ownerReferences") for p in w.pods()))
    replica_set_of(w, 2, "heir")
    w.until("taken", lambda: all(p["metadata"].get("ownerReferences") for p in w.pods()))


@story()
def replica_set_min_ready(w):
    replica_set_of(w, 2, minReadySeconds=2)
    w.until("ready", lambda: w.status("replicasets", "web").get("readyReplicas") == 2, w.ready)
    w.until("available", lambda: w.status("replicasets", "web").get("availableReplicas") == 2)


@story()
def replica_set_quota_lifted(w):
    replica_set_quota(w)
    w.delete("resourcequotas", "q")
    w.until("made", lambda: w.status("replicasets", "web").get("replicas") == 2 and not w.status("replicasets", "web").get("conditions"))
    w.hidden.add("events")  # how often it was tried in vain


@story()
def replication_controller_heals(w):
    replica_set_of(w, 2, resource="replicationcontrollers")
    w.delete("pods", w.pods()[0]["metadata"]["name"], grace=0)
    w.until("two", lambda: len(w.pods()) == 2)
    w.patch("pods", w.pods()[0]["metadata"]["name"], {"metadata": {"labels": {"app": "else"}}})
    w.until("released", lambda: len(w.pods()) == 3)
    w.until("counted", lambda: w.status("replicationcontrollers", "web").get("replicas") == 2)


@story()
def replication_controller_foreground(w):
    replica_set_of(w, 2, resource="replicationcontrollers")
    w.delete("replicationcontrollers", "web", "Foreground")
    w.gone("replicationcontrollers", "web")
    w.until("no pods", lambda: not w.items("pods"))
