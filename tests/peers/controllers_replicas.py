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
