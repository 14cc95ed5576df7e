"""More stories of Deployments; the first ones are in controllers_replicas.py."""
from controller_story import story
from controllers_replicas import deployment, deployment_complete, deployment_rolls, image, template

ROLLBACK = "deprecated.deployment.rollback.to"


def is_(w, reason):
    return any(c.get("reason") == reason for c in w.status("deployments", "web").get("conditions", []))


def progressing(w, reason):
    w.until(reason, lambda: is_(w, reason))


@story()
def deployment_default_strategy(w):
    body = deployment(4)
    del body["spec"]["strategy"]
    w.create("deployments", body)
    w.rolled(4)
    image(w, "b")
    w.until("a quarter", lambda: w.status("deployments", "web").get("updatedReplicas") == 2 and
            w.status("deployments", "web").get("replicas") == 5)


@story(events=False)
def deployment_rolls_over(w):
    """A third template while the second is on its way."""
    w.create("deployments", deployment(4, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}))
    w.rolled(4)
    image(w, "b")
    w.until("on its way", lambda: w.status("deployments", "web").get("updatedReplicas") == 2)
    image(w, "c")
    w.rolled(4, "c")


@story()
def deployment_paused_from_the_start(w):
    w.create("deployments", deployment(3, paused=True))
    progressing(w, "DeploymentPaused")
    w.stays("without pods", lambda: not w.pods())
    w.patch("deployments", "web", {"spec": {"paused": False}})
    w.rolled(3)


@story()
def deployment_min_ready(w):
    w.create("deployments", deployment(2, minReadySeconds=3600, progressDeadlineSeconds=7200))
    w.until("ready", lambda: w.status("deployments", "web").get("readyReplicas") == 2, w.ready)


@story()
def deployment_labels_change(w):
    """A label of pods is part of their template."""
    deployment_complete(w)
    w.patch("deployments", "web", {"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}})
    w.until("new", lambda: len(w.items("replicasets")) == 2)
    w.until("rolled", lambda: w.status("deployments", "web").get("updatedReplicas") == 3 == len(w.pods()) and
            all("tier" in p["metadata"]["labels"] for p in w.pods()), w.ready)
    w.until("done", lambda: w.status("deployments", "web").get("availableReplicas") == 3, w.ready)


@story()
def deployment_annotations_follow(w):
    """What is noted at the Deployment is noted at its newest ReplicaSet; the template stays what it is."""
    deployment_complete(w)
    w.patch("deployments", "web", {"metadata": {"annotations": {"note": "y", "kubernetes.io/change-cause": "because"}}})
    w.until("noted", lambda: w.items("replicasets")[0]["metadata"]["annotations"].get("kubernetes.io/change-cause") == "because")


@story()
def deployment_rollback_unknown(w):
    deployment_rolls(w)
    w.patch("deployments", "web", {"metadata": {"annotations": {ROLLBACK: "17"}}})
    w.until("told", lambda: w.told("DeploymentRollbackRevisionNotFound"))
    w.until("forgotten", lambda: ROLLBACK not in w.get("deployments", "web")["metadata"]["annotations"])


@story()
def deployment_rollback_last(w):
    deployment_rolls(w)
    w.patch("deployments", "web", {"metadata": {"annotations": {ROLLBACK: "0"}}})
    w.until("taken", lambda: w.get("deployments", "web")["spec"]["template"]["spec"]["containers"][0]["image"] == "a")
    w.rolled(3, "a")


@story()
def deployment_rollback_same(w):
    deployment_rolls(w)
    w.patch("deployments", "web", {"metadata": {"annotations": {ROLLBACK: "2"}}})
    w.until("told", lambda: w.told("DeploymentRollbackTemplateUnchanged"))
    w.until("forgotten", lambda: ROLLBACK not in w.get("deployments", "web")["metadata"]["annotations"])


@story()
def deployment_adopts_an_older(w):
    """A ReplicaSet of another template, with a selector that fits."""
    labels = {"app": "web"}
    old = {"metadata": {"name": "old", "labels": labels}, "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template("z")}}
    w.create("replicasets", old)
    w.until("made", lambda: w.status("replicasets", "old").get("replicas") == 1)
    w.create("deployments", deployment(2))
    w.rolled(2)


@story()
def deployment_quota(w):
    w.make("resourcequotas", "q", {"hard": {"pods": "1"}})
    w.until("counted", lambda: w.status("resourcequotas", "q").get("used"))
    w.create("deployments", deployment(3))
    w.until("failed", lambda: w.condition("deployments", "web", "ReplicaFailure"))
    w.until("one is made", lambda: w.status("deployments", "web").get("replicas") == 1)
    w.hidden.add("events")  # which of the pods was made is in the messages
    w.hidden.add("replicasets")


@story()
def deployment_late_but_well(w):
    w.create("deployments", deployment(1, progressDeadlineSeconds=1))
    progressing(w, "ProgressDeadlineExceeded")
    w.rolled(1)


@story()
def deployment_broken_and_healed(w):
    """An image that does not start, then one that does."""
    deployment_complete(w)
    w.patch("deployments", "web", {"spec": {"progressDeadlineSeconds": 2}})
    image(w, "broken")
    progressing(w, "ProgressDeadlineExceeded")
    image(w, "well")
    w.rolled(3, "well")


@story()
def deployment_collides(w):
    """Somebody else has the name that its ReplicaSet would have."""
    w.create("deployments", deployment(1))
    w.until("made", lambda: w.status("deployments", "web").get("updatedReplicas") == 1)
    name = w.items("replicasets")[0]["metadata"]["name"]
    w.delete("deployments", "web")
    w.until("gone", lambda: not w.pods() and not w.items("replicasets"))
    other = {"app": "other"}
    w.make("replicasets", name, {"replicas": 0, "selector": {"matchLabels": other}, "template": {"metadata": {"labels": other}, "spec": template()["spec"]}})
    w.create("deployments", deployment(1))
    w.rolled(1)


@story()
def deployment_foreground(w):
    deployment_complete(w)
    w.delete("deployments", "web", "Foreground")
    w.gone("deployments", "web")
    w.until("gone", lambda: not w.pods() and not w.items("replicasets"))


@story()
def deployment_through_scale(w):
    deployment_complete(w)
    scale = w.get("deployments", "web/scale")
    scale["spec"]["replicas"] = 1
    w.api.call("PUT", w.path("deployments", "web/scale"), scale)
    w.rolled(1)


@story()
def deployment_replica_set_deleted(w):
    """It is made again, under the same name."""
    deployment_complete(w)
    old = w.items("replicasets")[0]["metadata"]
    w.delete("replicasets", old["name"])
    w.until("another", lambda: [r for r in w.items("replicasets") if r["metadata"]["uid"] != old["uid"]])
    w.rolled(3)


@story()
def deployment_replica_set_scaled_by_hand(w):
    """It says how many, not its ReplicaSet."""
    deployment_complete(w)
    w.patch("replicasets", w.items("replicasets")[0]["metadata"]["name"], {"spec": {"replicas": 7}})
    w.until("back", lambda: w.items("replicasets")[0]["spec"]["replicas"] == 3 and len(w.pods()) == 3 and w.told("ScalingReplicaSet", 2))
    w.rolled(3)
    w.hidden.add("events")  # whether pods were made before it was set back


@story()
def deployment_scaled_while_paused(w):
    deployment_rolls(w)
    w.patch("deployments", "web", {"spec": {"paused": True, "replicas": 5}})
    w.until("scaled", lambda: w.status("deployments", "web").get("availableReplicas") == 5, w.ready)


@story()
def deployment_without_history(w):
    w.create("deployments", deployment(1, revisionHistoryLimit=0))
    w.rolled(1)
    image(w, "b")
    w.rolled(1, "b")
    w.until("cleaned", lambda: len(w.items("replicasets")) == 1)


@story()
def deployment_recreate_waits(w):
    """The new pods wait until the old ones are gone for good."""
    node = w.node("n")
    body = deployment(2, {"type": "Recreate"})
    body["spec"]["template"]["spec"]["nodeName"] = node
    w.create("deployments", body)
    w.rolled(2)
    w.patch("deployments", "web", {"spec": {"template": {"metadata": {"annotations": {"t": "2"}}}}})
    w.until("going", lambda: sum("deletionTimestamp" in p["metadata"] for p in w.items("pods")) == 2)
    w.stays("waiting", lambda: not w.pods())
    for p in w.items("pods"):
        w.delete("pods", p["metadata"]["name"], grace=0)
    w.until("new", lambda: w.status("deployments", "web").get("updatedReplicas") == 2, w.ready)
    w.until("available", lambda: w.status("deployments", "web").get("availableReplicas") == 2, w.ready)
