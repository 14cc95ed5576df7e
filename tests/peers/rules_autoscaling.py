"""Rows for HorizontalPodAutoscaler in both versions, and PodDisruptionBudget; see rule_rows.py."""
from rule_rows import DROP, Rows, changed

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}


def scaler(version, **spec):
    return {"apiVersion": "autoscaling/" + version, "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
            "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec}}


hpas = Rows("autoscaling/v2", "horizontalpodautoscalers", scaler("v2"))
hpas.create("as small as can be")
hpas.create("nothing in it", {"spec": {}})
hpas.create("a bad name", {"metadata.name": "H_"})
hpas.create("no maximum", {"spec.maxReplicas": DROP})
hpas.create("a maximum of zero", {"spec.maxReplicas": 0})
hpas.create("a maximum below zero", {"spec.maxReplicas": -1})
hpas.create("a minimum of zero", {"spec.minReplicas": 0})
hpas.create("a minimum below zero", {"spec.minReplicas": -1})
hpas.create("a minimum above the maximum", {"spec.minReplicas": 6})
hpas.create("no target", {"spec.scaleTargetRef": {}})
hpas.create("a target that is no part of a path", {"spec.scaleTargetRef": {"apiVersion": "apps/v1", "kind": "a/b", "name": "c%d"}})
hpas.create("a target without a group", {"spec.scaleTargetRef.apiVersion": "v1"})
hpas.create("a target without a version", {"spec.scaleTargetRef.apiVersion": DROP})
hpas.create("a target with a wrong version", {"spec.scaleTargetRef.apiVersion": "a/b/c"})
hpas.create("a controller of old", {"spec.scaleTargetRef": {"apiVersion": "v1", "kind": "ReplicationController", "name": "r"}})
hpas.create("annotations of the other version", {("metadata", "annotations"): {"autoscaling.alpha.kubernetes.io/metrics": "[]", "x": "y"}})
hpas.create("a status that is dropped", {"status": {"currentReplicas": 3, "desiredReplicas": 4}})


def measured(*metrics):
    return {"spec.metrics": list(metrics)}


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
CONTAINER = {"type": "ContainerResource", "containerResource": {"name": "memory", "container": "c", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}
PODS = {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "10"}}}
OBJECT = {"type": "Object", "object": {"describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"}, "metric": {"name": "m"},
                                       "target": {"type": "Value", "value": "100"}}}
EXTERNAL = {"type": "External", "external": {"metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}}, "target": {"type": "Value", "value": "3"}}}
ALL = (CPU, CONTAINER, PODS, OBJECT, EXTERNAL)
hpas.create("all metrics", measured(*ALL))
hpas.create("from zero", {**measured(OBJECT), "spec.minReplicas": 0})
hpas.create("a metric without anything", measured({"type": ""}))
hpas.create("an unknown metric", measured({"type": "Foo"}))
hpas.create("a metric without its source", measured({"type": "Pods"}))
hpas.create("a metric with another source", measured({"type": "Pods", "resource": CPU["resource"]}))
hpas.create("a metric with two sources", measured({**CPU, "pods": PODS["pods"]}))
for metric, field in ((CPU, "resource"), (CONTAINER, "containerResource"), (PODS, "pods"), (OBJECT, "object"), (EXTERNAL, "external")):
    hpas.create(field + " without a target", measured(changed(metric, {field + ".target": {}})))
    hpas.create(field + " of an unknown kind", measured(changed(metric, {field + ".target.type": "Foo"})))
    hpas.create(field + " with all targets", measured(changed(metric, {field + ".target": {"type": "Value", "value": "1", "averageValue": "2", "averageUtilization": 3}})))
    hpas.create(field + " with targets of nothing", measured(changed(metric, {field + ".target": {"type": "Value", "value": "0", "averageValue": "-2", "averageUtilization": 0}})))
for metric, field in ((PODS, "pods"), (OBJECT, "object"), (EXTERNAL, "external")):
    hpas.create(field + " without a name", measured(changed(metric, {field + ".metric.name": ""})))
    hpas.create(field + " with a name that is none", measured(changed(metric, {field + ".metric.name": "a/b"})))
hpas.create("a resource without a name", measured(changed(CPU, {"resource.name": ""})))
hpas.create("a container's resource without anything", measured(changed(CONTAINER, {"containerResource.name": "", "containerResource.container": ""})))
hpas.create("a container's resource that is unknown", measured(changed(CONTAINER, {"containerResource.name": "foo", "containerResource.container": "A_b"})))
hpas.create("an object without anything", measured(changed(OBJECT, {"object.describedObject": {}})))
hpas.create("an object with a wrong version", measured(changed(OBJECT, {"object.describedObject.apiVersion": "a/b/c"})))

POLICY = {"type": "Pods", "value": 1, "periodSeconds": 60}
hpas.create("a behavior of nothing", {"spec.behavior": {}})
hpas.create("a behavior upwards", {"spec.behavior": {"scaleUp": {"policies": [POLICY], "stabilizationWindowSeconds": 60, "tolerance": "50m"}}})
hpas.create("a behavior downwards", {"spec.behavior": {"scaleDown": {"selectPolicy": "Disabled"}}})
hpas.create("an unknown selection", {"spec.behavior": {"scaleDown": {"selectPolicy": "Foo"}}})
hpas.create("no policies", {"spec.behavior": {"scaleDown": {"policies": []}}})
hpas.create("policies of nothing", {"spec.behavior": {"scaleUp": {"policies": [{"type": "Foo", "value": 0, "periodSeconds": 0}, {"type": "Pods", "value": 1, "periodSeconds": 1801}]}}})
hpas.create("windows below zero", {"spec.behavior": {"scaleUp": {"stabilizationWindowSeconds": -1}, "scaleDown": {"stabilizationWindowSeconds": 3601}}})
hpas.create("a tolerance below zero", {"spec.behavior": {"scaleUp": {"tolerance": "-1"}}})
hpas.edit("more replicas", {"spec.maxReplicas": 9})
hpas.edit("another target", {"spec.scaleTargetRef": {"apiVersion": "v1", "kind": "Foo", "name": "x"}})
hpas.edit("the status is left alone", {"status": {"currentReplicas": 3, "desiredReplicas": 4}})
hpas.edit("metrics change", measured(PODS, CPU))
hpas.edit("a wrong minimum", {"spec.minReplicas": 0})
STATUS = {"currentReplicas": 1, "desiredReplicas": 2, "observedGeneration": 1, "lastScaleTime": "2026-01-01T00:00:00Z",
          "conditions": [{"type": "AbleToScale", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
          "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7, "averageValue": "20m"}}},
                             {"type": "Pods", "pods": {"metric": {"name": "m"}, "current": {"averageValue": "3"}}}]}
hpas.edit("a status", {"status": STATUS, "spec.maxReplicas": 9, "metadata.labels": {"x": "y"}}, verb="status")
hpas.edit("a status below zero", {"status": {"currentReplicas": -1, "desiredReplicas": -2}}, verb="status")

old = Rows("autoscaling/v1", "horizontalpodautoscalers", scaler("v1"))
PREFIX = "autoscaling.alpha.kubernetes.io/"


def noted(**texts):
    return {("metadata", "annotations"): {PREFIX + key.replace("_", "-"): text for key, text in texts.items()}}


old.create("as small as can be")
old.create("a use of CPU", {"spec.targetCPUUtilizationPercentage": 50})
old.create("a use of nothing", {"spec.targetCPUUtilizationPercentage": 0})
old.create("a minimum above the maximum", {"spec.minReplicas": 6})
old.create("metrics in an annotation", {**noted(metrics='[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"10"}}]'), "spec.targetCPUUtilizationPercentage": 50})
old.create("all metrics in an annotation", noted(metrics='[{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"m","targetValue":"100"}},'
                                                 '{"type":"External","external":{"metricName":"m","metricSelector":{"matchLabels":{"a":"b"}},"targetAverageValue":"3"}},'
                                                 '{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":60}},'
                                                 '{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","targetAverageValue":"1"}}]'))
old.create("an object with an average", noted(metrics='[{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"m","targetValue":"0","averageValue":"7"}}]'))
old.create("metrics that are no JSON", noted(metrics="x"))
old.create("metrics that are none", noted(metrics='[{"type":7}]'))
old.create("a wrong metric in an annotation", noted(metrics='[{"type":"Foo"}]'))
old.create("a behavior in an annotation", noted(behavior='{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}],"Tolerance":null},"ScaleDown":null}'))
old.create("a behavior of nothing", noted(behavior="{}"))
old.create("conditions that are dropped", noted(conditions='[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]'))
old.edit("more replicas", {"spec.maxReplicas": 9}, was={"spec.targetCPUUtilizationPercentage": 50})
old.edit("metrics stay", {"spec.maxReplicas": 9}, was=noted(metrics='[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"10"}}]'))
old.edit("a status", {"status": {"currentReplicas": 1, "desiredReplicas": 2, "currentCPUUtilizationPercentage": 33}}, verb="status")
old.edit("a status in annotations", {"status": {"currentReplicas": 1, "desiredReplicas": 2}, **noted(
    current_metrics='[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"20m"}},{"type":"External","external":{"metricName":"m","currentValue":"4"}}]',
    conditions='[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"r","message":"m"}]')}, verb="status")

# ---- PodDisruptionBudget ----

pdbs = Rows("policy/v1", "poddisruptionbudgets", {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
                                                 "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}})
pdbs.create("a budget")
pdbs.create("nothing in it", {"spec": DROP})
pdbs.create("a name that is no subdomain", {"metadata.name": "B_"})
pdbs.create("a name that is no part of a path", {"metadata.name": "a/b"})
pdbs.create("a label that is none", {"metadata.labels": {"a": "x y"}})
pdbs.create("both numbers", {"spec.maxUnavailable": "10%"})
pdbs.create("a number below zero", {"spec.minAvailable": -1})
pdbs.create("a percentage", {"spec.minAvailable": "50%"})
pdbs.create("more than all", {"spec.minAvailable": "101%"})
pdbs.create("a text that is no percentage", {"spec.minAvailable": "5"})
pdbs.create("unavailable below zero", {"spec": {"maxUnavailable": -1}})
pdbs.create("unavailable that is no percentage", {"spec": {"maxUnavailable": "x"}})
pdbs.create("no selector", {"spec.selector": DROP})
pdbs.create("an empty selector", {"spec.selector": {}})
pdbs.create("a selector that is none", {"spec.selector": {"matchLabels": {"a": "x y"}}})
pdbs.create("a policy", {"spec.unhealthyPodEvictionPolicy": "AlwaysAllow"})
pdbs.create("an unknown policy", {"spec.unhealthyPodEvictionPolicy": "Foo"})
pdbs.create("a status that is dropped", {"status": {"disruptionsAllowed": 3, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}})
pdbs.edit("the number changes", {"spec.minAvailable": 2})
pdbs.edit("the selector changes", {"spec.selector": {"matchLabels": {"c": "d"}}})
pdbs.edit("the number is wrong", {"spec.minAvailable": "x"})
pdbs.edit("labels change", {"metadata.labels": {"x": "y"}})
NUMBERS = {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
CONDITION = {"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
pdbs.edit("a status", {"status": {**NUMBERS, "conditions": [CONDITION], "observedGeneration": 1}, "spec.minAvailable": 9}, verb="status")
pdbs.edit("a status below zero", {"status": {"disruptionsAllowed": -1, "currentHealthy": -1, "desiredHealthy": -1, "expectedPods": -1}}, verb="status")
pdbs.edit("a condition twice", {"status": {**NUMBERS, "conditions": [CONDITION, CONDITION]}}, verb="status")
pdbs.edit("a condition without anything", {"status": {**NUMBERS, "conditions": [{"type": "", "status": "", "reason": "", "message": "", "lastTransitionTime": None}]}}, verb="status")
pdbs.edit("a condition with a wrong reason", {"status": {**NUMBERS, "conditions": [{**CONDITION, "reason": "a b", "status": "Foo", "observedGeneration": -1}]}}, verb="status")

ROWS = hpas.rows + old.rows + pdbs.rows
