#!/usr/bin/env python3
"""Stories of HorizontalPodAutoscalers while there are no metrics. Alone: controllers_autoscaling.py [OPTIONS] [STORY...], as
controllers.py. An autoscaler is looked at every 15 seconds."""
import sys

from controller_story import story

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


def target(w, n, kind="deployments", **more):
    w.make(kind, "web", dict({"replicas": n, "selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}, **more))
    w.until("all there", lambda: len(w.pods()) == n, w.ready)
    w.until("counted", lambda: not n or w.status(kind, "web").get("availableReplicas") == n, w.ready)


def autoscaler(w, least=1, most=3, metrics=None, ref=None, name="web"):
    w.make("horizontalpodautoscalers", name, {
        "scaleTargetRef": dict({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, **(ref or {})),
        "minReplicas": least, "maxReplicas": most, "metrics": metrics or [CPU]})


def looked_at(w, name="web", condition="ScalingActive"):
    w.until("looked at", lambda: any(c["type"] == condition for c in w.status("horizontalpodautoscalers", name).get("conditions") or []))


@story(slow=True)
def scaler_without_metrics(w):
    target(w, 2)
    autoscaler(w)
    looked_at(w)
    w.until("told", lambda: w.told("FailedComputeMetricsReplicas"))


@story(slow=True)
def scaler_of_all_metrics(w):
    target(w, 2)
    value, average = {"type": "Value", "value": "2"}, {"type": "AverageValue", "averageValue": "2"}
    labels = {"matchLabels": {"x": "y"}, "matchExpressions": [{"key": "k", "operator": "In", "values": ["1", "2"]}]}
    on = {"apiVersion": "v1", "kind": "Service", "name": "svc"}
    autoscaler(w, metrics=[
        {"type": "Pods", "pods": {"metric": {"name": "p"}, "target": average}},
        {"type": "Object", "object": {"metric": {"name": "o"}, "describedObject": on, "target": value}},
        {"type": "Object", "object": {"metric": {"name": "o"}, "describedObject": on, "target": average}},
        {"type": "External", "external": {"metric": {"name": "e"}, "target": value}},
        {"type": "External", "external": {"metric": {"name": "e", "selector": labels}, "target": average}},
        {"type": "Resource", "resource": {"name": "memory", "target": average}},
        {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": average}}, CPU])
    looked_at(w)
    w.until("told", lambda: w.told("FailedComputeMetricsReplicas"))


@story(slow=True)
def scaler_of_too_many(w):
    target(w, 5)
    autoscaler(w, most=3)
    w.until("fewer", lambda: w.get("deployments", "web")["spec"]["replicas"] == 3)
    w.until("three", lambda: len(w.pods()) == 3)
    looked_at(w)  # by then the bounds are kept, and metrics are asked for


@story(slow=True)
def scaler_of_too_few(w):
    target(w, 1)
    autoscaler(w, least=2)
    w.until("more", lambda: w.get("deployments", "web")["spec"]["replicas"] == 2)
    w.until("two", lambda: w.status("deployments", "web").get("availableReplicas") == 2, w.ready)
    looked_at(w)


@story(slow=True)
def scaler_of_none(w):
    target(w, 0)
    autoscaler(w)
    looked_at(w)


@story(slow=True)
def scaler_of_nobody(w):
    autoscaler(w)
    looked_at(w, condition="AbleToScale")


@story(slow=True)
def scaler_of_an_unknown_kind(w):
    autoscaler(w, ref={"kind": "Nonsense"})
    looked_at(w, condition="AbleToScale")


@story(slow=True)
def scaler_of_what_has_no_scale(w):
    autoscaler(w, ref={"kind": "DaemonSet"})
    looked_at(w, condition="AbleToScale")


@story(slow=True)
def scaler_with_a_rival(w):
    """Both say so: the selector of the one is part of the other's. Which of them is named first is a matter of chance."""
    target(w, 2)
    w.make("replicasets", "more", {"replicas": 1, "selector": {"matchLabels": {"a": "b", "c": "d"}}, "template": {
        "metadata": {"labels": {"a": "b", "c": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}})
    autoscaler(w)
    autoscaler(w, name="more", ref={"kind": "ReplicaSet", "name": "more"})
    for name in ("web", "more"):
        w.until("told", lambda: w.condition("horizontalpodautoscalers", name, "ScalingActive", "False")["reason"] == "AmbiguousSelector"
                if w.condition("horizontalpodautoscalers", name, "ScalingActive", "False") else None)
    w.hidden |= {"horizontalpodautoscalers", "events"}


@story(slow=True)
def scaler_beside_another(w):
    """They share a label, but no pod."""
    target(w, 2)
    w.make("replicasets", "more", {"replicas": 1, "selector": {"matchLabels": {"a": "c"}, "matchExpressions": [
        {"key": "x", "operator": "In", "values": ["1"]}]}, "template": {
            "metadata": {"labels": {"a": "c", "x": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}})
    w.make("replicasets", "others", {"replicas": 1, "selector": {"matchLabels": {"a": "c"}, "matchExpressions": [
        {"key": "x", "operator": "In", "values": ["2"]}]}, "template": {
            "metadata": {"labels": {"a": "c", "x": "2"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}})
    for name in ("more", "others"):
        autoscaler(w, name=name, ref={"kind": "ReplicaSet", "name": name})
    for name in ("more", "others"):
        looked_at(w, name)


@story(slow=True)
def scaler_of_a_controller(w):
    w.make("replicationcontrollers", "web", {"replicas": 4, "selector": {"a": "b"}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}})
    autoscaler(w, ref={"apiVersion": "v1", "kind": "ReplicationController"})
    w.until("fewer", lambda: w.get("replicationcontrollers", "web")["spec"]["replicas"] == 3)
    looked_at(w)


if __name__ == "__main__":
    import controllers
    sys.exit(controllers.main(sys.argv[1:] or [name for name in controllers.STORIES if name.startswith("scaler_")]))
