"""Rows for kinds that keep pods running: apps, ReplicationController, PodTemplate; see rule_rows.py."""
from rule_rows import DROP, Rows, changed

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SELECTOR = {"matchLabels": {"a": "b"}}


def named(kind, api_version="apps/v1", name="x", **spec):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name},
            "spec": {"selector": SELECTOR, "template": TEMPLATE, **spec}}


def common(rows, owner_selector="spec.selector"):
    """What all of them have."""
    rows.create("as small as can be")
    rows.create("a name with capitals", {"metadata.name": "Xx"})
    rows.create("a name that is no label", {"metadata.name": "a.b"})
    rows.create("no selector", {owner_selector: DROP})
    rows.create("an empty selector", {owner_selector: {}})
    rows.create("a selector that does not match", {owner_selector + ".matchLabels.a": "z"})
    rows.create("no labels in the template", {"spec.template.metadata.labels": DROP})
    rows.create("a label that is none in the selector", {owner_selector: {"matchLabels": {"a": "x y"}}})
    rows.create("an operator that is unknown", {owner_selector: {"matchExpressions": [{"key": "a", "operator": "Foo"}]}})
    rows.create("an operator without values", {owner_selector: {"matchExpressions": [{"key": "a", "operator": "In"}]}})
    rows.create("an expression that matches", {owner_selector: {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}})
    rows.create("pods that end", {"spec.template.spec.restartPolicy": "Never"})
    rows.create("pods with a deadline", {"spec.template.spec.activeDeadlineSeconds": 5})
    rows.create("not ready for a negative time", {"spec.minReadySeconds": -1})
    rows.create("a status that is dropped", {"status": {"observedGeneration": 9}})
    rows.create("no template", {"spec.template": DROP})
    rows.create("no containers", {"spec.template.spec.containers": []})
    rows.create("a generation of one's own", {"metadata.generation": 7})
    rows.update("nothing changes")
    rows.update("labels change", {"metadata.labels": {"x": "y"}})
    rows.update("annotations change", {"metadata.annotations": {"x": "y"}})
    rows.update("the image changes", {"spec.template.spec.containers.0.image": "j"})
    rows.update("the selector changes", {owner_selector + ".matchLabels": {"z": "y"}, "spec.template.metadata.labels.z": "y"})
    rows.update("the status is left alone", {"status": {"observedGeneration": 9}})
    rows.update("a bad image", {"spec.template.spec.containers.0.image": ""})
    rows.status("the spec is left alone", {"spec.minReadySeconds": 3, "metadata.labels": {"x": "y"}, "metadata.annotations": {"p": "q"}})
    rows.status("a generation below zero", {"status.observedGeneration": -1})


# ---- Deployment ----

deployments = Rows("apps/v1", "deployments", named("Deployment"))
common(deployments)
deployments.create("replicas below zero", {"spec.replicas": -1})
deployments.create("no replicas", {"spec.replicas": 0})
deployments.create("all at once", {"spec.strategy": {"type": "Recreate"}})
deployments.create("all at once and rolling", {"spec.strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}})
deployments.create("an unknown strategy", {"spec.strategy": {"type": "Foo"}})
deployments.create("an unknown strategy with details", {"spec.strategy": {"type": "Foo", "rollingUpdate": {"maxSurge": "5%", "maxUnavailable": 1}}})
for pair in ((0, 0), ("0%", 0), ("0%", "0%"), (-1, 0), ("5", 1), ("101%", 0), (0, "200%"), ("x%", "y"), (1, 1), ("25%", "0%")):
    deployments.create("unavailable %s, surge %s" % pair,
                       {"spec.strategy": {"rollingUpdate": {"maxUnavailable": pair[0], "maxSurge": pair[1]}}})
deployments.create("history below zero", {"spec.revisionHistoryLimit": -1})
deployments.create("a deadline below zero", {"spec.progressDeadlineSeconds": -1})
deployments.create("a deadline before it is ready", {"spec.progressDeadlineSeconds": 5, "spec.minReadySeconds": 5})
deployments.create("paused", {"spec.paused": True})
deployments.create("many mistakes", {"metadata.name": "X", "spec.replicas": -1, "spec.selector.matchLabels.a": "z",
                                     "spec.strategy": {"type": "Foo"}, "spec.minReadySeconds": -1, "spec.revisionHistoryLimit": -1,
                                     "spec.template.spec.restartPolicy": "OnFailure"})
deployments.update("it scales", {"spec.replicas": 5})
deployments.update("the strategy changes", {"spec.strategy": {"type": "Recreate"}})
deployments.status("more ready than there are", {"status": {"replicas": 1, "readyReplicas": 2}})
deployments.status("more updated than there are", {"status": {"replicas": 1, "updatedReplicas": 2}})
deployments.status("more available than ready", {"status": {"replicas": 3, "readyReplicas": 1, "availableReplicas": 2}})
deployments.status("numbers below zero", {"status": {"replicas": -1, "unavailableReplicas": -2, "terminatingReplicas": -3, "collisionCount": -4}})
deployments.status("fewer collisions than before", {"status.collisionCount": 1}, was={"status": {"collisionCount": 2}})
deployments.status("no collisions any more", {"status": {"replicas": 1}}, was={"status": {"collisionCount": 0}})
deployments.status("conditions", {"status": {"replicas": 1, "terminatingReplicas": 1, "conditions": [
    {"type": "Available", "status": "True", "lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

# ---- ReplicaSet ----

sets = Rows("apps/v1", "replicasets", named("ReplicaSet"))
common(sets)
sets.create("replicas below zero", {"spec.replicas": -1})
sets.update("it scales", {"spec.replicas": 5})
sets.status("more ready than there are", {"status": {"replicas": 1, "readyReplicas": 2}})
sets.status("more labeled than there are", {"status": {"replicas": 1, "fullyLabeledReplicas": 2}})
sets.status("more available than ready", {"status": {"replicas": 3, "readyReplicas": 1, "availableReplicas": 2}})
sets.status("numbers below zero", {"status": {"replicas": -1, "terminatingReplicas": -3}})

# ---- StatefulSet ----

stateful = Rows("apps/v1", "statefulsets", named("StatefulSet", serviceName="s"))
common(stateful)
stateful.create("replicas below zero", {"spec.replicas": -1})
stateful.create("an unknown policy", {"spec.podManagementPolicy": "Foo"})
stateful.create("in parallel", {"spec.podManagementPolicy": "Parallel"})
stateful.create("when deleted", {"spec.updateStrategy": {"type": "OnDelete"}})
stateful.create("when deleted and rolling", {"spec.updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}})
stateful.create("an unknown strategy", {"spec.updateStrategy": {"type": "Foo"}})
stateful.create("a partition below zero", {"spec.updateStrategy": {"rollingUpdate": {"partition": -1}}})
stateful.create("unavailable is dropped", {"spec.updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}})
stateful.create("an unknown retention", {"spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Foo", "whenScaled": "Bar"}})
stateful.create("retention of one", {"spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}})
stateful.create("ordinals below zero", {"spec.ordinals": {"start": -1}})
stateful.create("ordinals", {"spec.ordinals": {"start": 3}})
stateful.create("a service that is no label", {"spec.serviceName": "A.b"})
stateful.create("no service", {"spec.serviceName": DROP})
stateful.create("history below zero is only warned about", {"spec.revisionHistoryLimit": -1})
CLAIM = {"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
MOUNTED = {"spec.volumeClaimTemplates": [CLAIM], "spec.template.spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/v"}]}
stateful.create("a claim that is mounted", MOUNTED)
stateful.create("a claim over a volume", {**MOUNTED, "spec.template.spec.volumes": [{"name": "v", "emptyDir": {}}]})
stateful.create("a claim in parts", {"spec.volumeClaimTemplates": [changed(CLAIM, {"spec.resources.requests.storage": "1500m"})]})
stateful.create("a mount without a claim", {"spec.template.spec.containers.0.volumeMounts": [{"name": "v", "mountPath": "/v"}]})
stateful.create("a claim without anything", {"spec.volumeClaimTemplates": [{"metadata": {"name": "v"}}]})
stateful.create("a host name of one's own", {"spec.template.spec.hostname": "h", "spec.template.spec.subdomain": "s"})
stateful.create("a label that is none in the template", {"spec.template.metadata.labels": {"a": "b", "z": "x y"}})
stateful.update("it scales", {"spec.replicas": 5, "spec.ordinals": {"start": 1}, "spec.minReadySeconds": 2, "spec.revisionHistoryLimit": 3})
stateful.update("the service changes", {"spec.serviceName": "t"})
stateful.update("claims come", MOUNTED)
stateful.update("the policy changes", {"spec.podManagementPolicy": "Parallel"})
stateful.update("the strategy changes", {"spec.updateStrategy": {"type": "OnDelete"}})
stateful.update("history below zero", {"spec.revisionHistoryLimit": -1})
stateful.status("more of each than there are", {"status": {"replicas": 1, "readyReplicas": 2, "currentReplicas": 2, "updatedReplicas": 2, "availableReplicas": 2}})
stateful.status("more available than ready", {"status": {"replicas": 3, "readyReplicas": 1, "availableReplicas": 2}})
stateful.status("fewer collisions than before", {"status.collisionCount": 1}, was={"status": {"replicas": 0, "collisionCount": 2}})
stateful.status("numbers below zero", {"status": {"replicas": -1, "collisionCount": -1}})

# ---- DaemonSet ----

daemons = Rows("apps/v1", "daemonsets", named("DaemonSet"))
common(daemons)
daemons.create("when deleted", {"spec.updateStrategy": {"type": "OnDelete"}})
daemons.create("an unknown strategy", {"spec.updateStrategy": {"type": "Foo"}})
for pair in ((0, 0), (1, 1), (0, 1), ("0%", "10%"), ("101%", 0), (0, "101%"), ("x", 0), (-1, 0), ("5%", 0)):
    daemons.create("unavailable %s, surge %s" % pair,
                   {"spec.updateStrategy": {"rollingUpdate": {"maxUnavailable": pair[0], "maxSurge": pair[1]}}})
daemons.create("history below zero", {"spec.revisionHistoryLimit": -1})
daemons.create("a template generation of one's own", {("metadata", "annotations"): {"deprecated.daemonset.template.generation": "5"}})
daemons.create("a template generation of zero", {("metadata", "annotations"): {"deprecated.daemonset.template.generation": "0"}})
daemons.update("the template generation is left alone", {("metadata", "annotations"): {"deprecated.daemonset.template.generation": "9"}},
               was={("metadata", "annotations"): {"deprecated.daemonset.template.generation": "5"}})
daemons.update("the template generation follows", {"spec.template.spec.containers.0.image": "j"},
               was={("metadata", "annotations"): {"deprecated.daemonset.template.generation": "5"}})
daemons.update("the strategy changes", {"spec.updateStrategy": {"type": "OnDelete"}})
daemons.status("numbers", {"status": {"currentNumberScheduled": 1, "numberMisscheduled": 0, "desiredNumberScheduled": 2, "numberReady": 1}})
daemons.status("numbers below zero", {"status": {"currentNumberScheduled": -1, "numberMisscheduled": -1, "desiredNumberScheduled": -1,
                                                 "numberReady": -1, "numberAvailable": -1, "numberUnavailable": -1, "updatedNumberScheduled": -1}})
daemons.status("fewer collisions than before", {"status.collisionCount": 1},
               was={"status": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0, "collisionCount": 2}})

# ---- ControllerRevision ----

revisions = Rows("apps/v1", "controllerrevisions", {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"},
                                                    "revision": 1, "data": {"a": 1}})
revisions.create("a revision")
revisions.create("no data", {"data": DROP})
revisions.create("data that are null", {"data": None})
revisions.create("a number below zero", {"revision": -1})
revisions.create("a bad name", {"metadata.name": "R_"})
revisions.update("the number changes", {"revision": 5})
revisions.update("the number sinks", {"revision": -5})
revisions.update("data change", {"data": {"a": 2}})

# ---- ReplicationController ----

controllers = Rows("v1", "replicationcontrollers", {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "x"},
                                                    "spec": {"selector": {"a": "b"}, "template": TEMPLATE}})
controllers.create("as small as can be")
controllers.create("no selector", {"spec.selector": DROP})
controllers.create("no selector and no labels", {"spec.selector": DROP, "spec.template.metadata": DROP})
controllers.create("a selector that does not match", {"spec.selector": {"a": "z"}})
controllers.create("replicas below zero", {"spec.replicas": -1})
controllers.create("not ready for a negative time", {"spec.minReadySeconds": -1})
controllers.create("no template", {"spec.template": DROP})
controllers.create("pods that end", {"spec.template.spec.restartPolicy": "Never"})
controllers.create("pods with a deadline", {"spec.template.spec.activeDeadlineSeconds": 5})
controllers.create("a bad name", {"metadata.name": "X"})
controllers.create("a name that is no label", {"metadata.name": "a.b"})
controllers.create("many mistakes", {"metadata.name": "X", "spec.replicas": -1, "spec.minReadySeconds": -1, "spec.selector": {"a": "z"}})
controllers.update("it scales", {"spec.replicas": 5})
controllers.update("the selector changes", {"spec.selector": {"z": "y"}, "spec.template.metadata.labels": {"z": "y"}})
controllers.update("replicas below zero", {"spec.replicas": -5})
controllers.status("more ready than there are", {"status": {"replicas": 1, "readyReplicas": 2}})
controllers.status("numbers below zero", {"status": {"replicas": -1}})
controllers.status("numbers", {"status": {"replicas": 2, "readyReplicas": 1, "observedGeneration": 1}, "spec.replicas": 9})

# ---- PodTemplate ----

templates = Rows("v1", "podtemplates", {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}, "template": TEMPLATE})
templates.create("a template")
templates.create("no containers", {"template.spec.containers": []})
templates.create("a bad name", {"metadata.name": "X_"})
templates.update("the image changes", {"template.spec.containers.0.image": "j"})
templates.update("labels change", {"metadata.labels": {"x": "y"}})

ROWS = [row for rows in (deployments, sets, stateful, daemons, revisions, controllers, templates) for row in rows.rows]
