"""Rows for changes of pods, of their status, their ephemeral containers and their resources; see rule_rows.py."""
from rule_rows import DROP, Rows
from rules_pods import POD, container

pods = Rows("v1", "pods", POD)
update, status = pods.update, pods.status
C = "spec.containers.0."


def ephemeral(name, changes=None, was=None):
    pods.write("ephemeralcontainers", name, changes, was)


def resize(name, changes=None, was=None):
    pods.write("resize", name, changes, was)


# ---- What may change ----
update("nothing")
update("labels and annotations", {"metadata.labels": {"a": "b"}, "metadata.annotations": {"c": "d"}})
update("wrong labels", {"metadata.labels": {"a b": "c"}})
update("finalizers", {"metadata.finalizers": ["a/b", "c"]})
update("another image", {C + "image": "j"})
update("no image", {C + "image": ""})
update("an image with a space", {C + "image": "j "})
update("an init container's image", {"spec.initContainers.0.image": "k"}, {"spec.initContainers": [container(name="a")]})
update("one container more", {"spec.containers.1": container(name="d")})
update("one init container less", {"spec.initContainers": []}, {"spec.initContainers": [container(name="a")]})
update("a container's name", {C + "name": "d"})
for old, new in [(None, 5), (5, None), (5, 4), (5, 5), (5, 6), (5, 0), (None, -1), (None, 1 << 32)]:
    update("deadline from %s to %s" % (old, new), {"spec.activeDeadlineSeconds": DROP if new is None else new},
           {} if old is None else {"spec.activeDeadlineSeconds": old})
T = [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]
update("a toleration more", {"spec.tolerations": T + [{"operator": "Exists"}]}, {"spec.tolerations": T})
update("a toleration less", {"spec.tolerations": []}, {"spec.tolerations": T})
update("a toleration's seconds", {"spec.tolerations.0.tolerationSeconds": 9}, {"spec.tolerations": T})
update("a toleration's key", {"spec.tolerations.0.key": "b"}, {"spec.tolerations": T})
update("a wrong toleration more", {"spec.tolerations": T + [{"key": "a b"}]}, {"spec.tolerations": T})
for field, value in {"nodeName": "n", "hostNetwork": True, "restartPolicy": "Never", "schedulerName": "x", "nodeSelector": {"a": "b"}, "priority": 5, "serviceAccountName": "a",
                     "volumes": [{"name": "v", "emptyDir": {}}], "terminationGracePeriodSeconds": 1, "hostname": "h", "affinity": {"nodeAffinity": {}},
                     "ephemeralContainers": [container(name="e")], "schedulingGates": [{"name": "g"}], "resources": {"limits": {"cpu": "1"}}}.items():
    update("the field %s" % field, {"spec." + field: value})
update("resources", {C + "resources": {"requests": {"cpu": "1"}}})
update("the same resources otherwise written", {C + "resources.requests.cpu": "1000m"}, {C + "resources.requests.cpu": "1"})
update("several things at once", {C + "image": "", "spec.tolerations": [], "spec.hostNetwork": True, "metadata.labels": {"a b": ""}}, {"spec.tolerations": T})
update("a status", {"status": {"phase": "Running"}})

# ---- Gates ----
# (the condition that gated pods begin with has a time: its status is written anew)
GATED = {"spec.schedulingGates": [{"name": "g"}, {"name": "h"}], "status": {"phase": "Pending", "conditions": []}}
update("a gate goes", {"spec.schedulingGates": [{"name": "h"}]}, GATED)
update("all gates go", {"spec.schedulingGates": []}, GATED)
update("another gate comes", {"spec.schedulingGates": [{"name": "g"}, {"name": "new"}]}, GATED)
update("a node selector for a gated pod", {"spec.nodeSelector": {"a": "b"}}, GATED)
SELECTED = dict(GATED, **{"spec.nodeSelector": {"a": "b"}})
update("more node selectors", {"spec.nodeSelector": {"a": "b", "c": "d"}}, SELECTED)
update("another node selector", {"spec.nodeSelector": {"a": "c"}}, SELECTED)
update("no node selector", {"spec.nodeSelector": DROP}, SELECTED)
R = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
E = {"key": "a", "operator": "In", "values": ["b"]}
BOUND = dict(GATED, **{R: [{"matchExpressions": [E]}]})
update("affinity for a gated pod", {R: [{"matchExpressions": [E]}]}, GATED)
update("one requirement more", {R: [{"matchExpressions": [E, dict(E, key="z")]}]}, BOUND)
update("another requirement", {R: [{"matchExpressions": [dict(E, key="z")]}]}, BOUND)
update("one term more", {R: [{"matchExpressions": [E]}, {"matchExpressions": [E]}]}, BOUND)
update("no affinity any more", {"spec.affinity": DROP}, BOUND)
update("a field more", {R: [{"matchExpressions": [E], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}, BOUND)
update("other affinity changes with it", {"spec.affinity.podAffinity": {}, R: [{"matchExpressions": [E, E]}]}, BOUND)
update("pod affinity of a gated pod", {"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k", "labelSelector": {}}]}, GATED)
update("the image of a gated pod", {C + "image": "j"}, GATED)

# ---- Annotations ----
A = ("metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/c")
update("an apparmor annotation comes", {A: "unconfined"})
update("an apparmor annotation goes", {A: DROP}, {A: "unconfined"})
update("an apparmor annotation changes", {A: "runtime/default"}, {A: "unconfined"})
update("a mirror annotation comes", {("metadata", "annotations", "kubernetes.io/config.mirror"): "x"})
COST = ("metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost")
update("a wrong cost comes", {COST: "x"})
update("a cost comes", {COST: "7"})

# ---- Status ----
S = "status."
status("a phase", {S + "phase": "Running", S + "reason": "r", S + "message": "m"})
status("nothing of a status", {"status": DROP})
status("the spec and labels", {C + "image": "j", "metadata.labels": {"a": "b"}, "metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"}]})
status("another class", {S + "qosClass": "Guaranteed"})
status("addresses", {S + "podIP": "1.2.3.4", S + "podIPs": [{"ip": "1.2.3.4"}, {"ip": "::1"}], S + "hostIP": "5.6.7.8", S + "hostIPs": [{"ip": "5.6.7.8"}]})
status("one address", {S + "podIP": "1.2.3.4"})
status("addresses without the first", {S + "podIPs": [{"ip": "1.2.3.4"}]})
status("addresses that differ", {S + "podIP": "1.2.3.4", S + "podIPs": [{"ip": "1.2.3.5"}]})
for ips in [["x"], ["1.2.3.4", "1.2.3.5"], ["1.2.3.4", "::1", "::2"], ["01.2.3.4"], ["2001:DB8::1"], ["::ffff:1.2.3.4"], ["1.2.3.4", "y"]]:
    status("pod addresses %s" % ips, {S + "podIPs": [{"ip": ip} for ip in ips]})
    status("host addresses %s" % ips, {S + "hostIPs": [{"ip": ip} for ip in ips], S + "hostIP": ips[0]})
status("another host address", {S + "hostIPs": [{"ip": "1.2.3.4"}], S + "hostIP": "1.2.3.5"})
status("conditions", {S + "conditions": [{"type": "Ready", "status": "True"}, {"type": "a/b", "status": "False", "observedGeneration": 1}]})
status("wrong conditions", {S + "conditions": [{"type": "a b", "status": "True", "observedGeneration": -1}, {"type": "", "status": "x"}], S + "observedGeneration": -1})
KNOWN = {S + "observedGeneration": 1, S + "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}, {"type": "Ready", "status": "False", "observedGeneration": 2}]}
status("generations are kept", {S + "observedGeneration": 0, S + "conditions": [{"type": "Ready", "status": "False"}, {"type": "Ready", "status": "False"}, {"type": "Ready", "status": "True"},
       {"type": "x", "status": "True"}]}, KNOWN)
status("generations are written", {S + "observedGeneration": 5, S + "conditions": [{"type": "Ready", "status": "False", "observedGeneration": 7}]}, KNOWN)
status("a nominated node", {S + "nominatedNodeName": "n"})
status("a nominated node of a wrong name", {S + "nominatedNodeName": "N"})
status("a nominated node of a bound pod", {S + "nominatedNodeName": "n"}, {"spec.nodeName": "m"})
status("no nominated node any more", {S + "nominatedNodeName": ""}, {S + "nominatedNodeName": "n"})


def state(**kinds):
    return [{"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": kinds}]


ENDED, FAILED, RUNNING = {"terminated": {"exitCode": 0}}, {"terminated": {"exitCode": 1}}, {"running": {}}
for policy in ["Always", "OnFailure", "Never"]:
    for old in [ENDED, FAILED]:
        for place in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"]:
            status("%s: from %s to running in %s" % (policy, old["terminated"], place), {S + place: state(**RUNNING)}, {"spec.restartPolicy": policy, S + place: state(**old)})
RULES = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1, 2]}}]
for own in [{"restartPolicy": "Always"}, {"restartPolicy": "Never", "restartPolicyRules": RULES}, {"restartPolicy": "Never"}, {"restartPolicy": "OnFailure"},
            {"restartPolicy": "Never", "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0]}}]}]:
    for old in [ENDED, FAILED]:
        status("its own policy %s: %s" % (str(own)[:60], old["terminated"]), {S + "containerStatuses": state(**RUNNING)},
               {"spec.restartPolicy": "Never", "spec.containers.0": container(**own), S + "containerStatuses": state(**old)})
        status("a sidecar's policy %s: %s" % (str(own)[:60], old["terminated"]), {S + "initContainerStatuses.0.state": RUNNING},
               {"spec.restartPolicy": "Never", "spec.initContainers": [container(name="a", **own)], S + "initContainerStatuses": [dict(state(**old)[0], name="a")]})
CLAIMS = {"spec.resourceClaims": [{"name": "a", "resourceClaimName": "x"}]}
status("claims", {S + "resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}]}, CLAIMS)
status("wrong claims", {S + "resourceClaimStatuses": [{"name": "b"}, {"name": "a", "resourceClaimName": "X"}, {"name": "a"}]}, CLAIMS)
EXTENDED = {C + "resources.limits": {"e.x/r": "1"}}
status("extended resources", {S + "extendedResourceClaimStatus": {"resourceClaimName": "x", "requestMappings": [{"containerName": "c", "resourceName": "e.x/r", "requestName": "q"}]}}, EXTENDED)
status("wrong extended resources", {S + "extendedResourceClaimStatus": {"resourceClaimName": "X", "requestMappings": [
    {"containerName": "c", "resourceName": "y", "requestName": "Q"}, {"containerName": "d", "resourceName": "y", "requestName": "q"}, {"containerName": "d", "resourceName": "y", "requestName": "q"}]}}, EXTENDED)
status("no extended resources", {S + "extendedResourceClaimStatus": {"resourceClaimName": "", "requestMappings": []}})
status("users", {S + "containerStatuses": [dict(state(**RUNNING)[0], user={"linux": {"uid": 1, "gid": 2, "supplementalGroups": [3]}})]})
status("wrong users", {S + "containerStatuses": [dict(state(**RUNNING)[0], user={"linux": {"uid": -1, "gid": -2, "supplementalGroups": [3, -3]}})]})
status("users on windows", {S + "containerStatuses": [dict(state(**RUNNING)[0], user={"linux": {"uid": 1, "gid": 2}})]}, {"spec.os": {"name": "windows"}})
for place in ["containerStatuses", "ephemeralContainerStatuses"]:
    status("devices in " + place, {S + place: [dict(state(**RUNNING)[0], allocatedResourcesStatus=[
        {"name": "e.x/r", "resources": [{"resourceID": "1", "health": "Healthy"}, {"resourceID": "1", "health": "x", "message": ""}]}, {"name": "claim:z", "resources": []}, {"name": "q"}])]}, EXTENDED)
status("node allocatable claims", {S + "nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "x", "containers": ["c"], "resources": {"cpu": "1"}}]})
status("an apparmor annotation in a status", {A: "unconfined"})
status("wrong labels in a status", {"metadata.labels": {"a b": "c"}})
status("amounts are rounded", {S + "containerStatuses": [dict(state(**RUNNING)[0], allocatedResources={"cpu": "100u"}, resources={"requests": {"cpu": "1500u"}})]})

# ---- Pods that are being deleted ----
GOES = {"spec.nodeName": "n", "metadata.deletionTimestamp": "2030-01-01T00:00:00Z"}
update("a finalizer for a pod that goes", {"metadata.finalizers": ["a/b"]}, GOES)
update("the image of a pod that goes", {C + "image": "j"}, GOES)
status("the phase of a pod that goes", {S + "phase": "Succeeded"}, GOES)

# ---- Ephemeral containers ----
# (they cannot be in an old object, which is created: those that are kept are tested elsewhere)
ephemeral("one", {"spec.ephemeralContainers": [container(name="e", stdin=True)]})
ephemeral("one with a target", {"spec.ephemeralContainers": [container(name="e", targetContainerName="c")]})
ephemeral("one and other changes", {"spec.ephemeralContainers": [container(name="e")], C + "image": "j", "metadata.labels": {"a": "b"}, "spec.hostNetwork": True, "status.phase": "Failed"})
ephemeral("none", {})
for wrong in [dict(name="c"), dict(name=""), dict(name="E"), dict(image=" i"), dict(targetContainerName="x"), dict(ports=[{"containerPort": 1}]), dict(resources={"limits": {"cpu": "1"}}),
              dict(livenessProbe={"exec": {"command": ["x"]}}, startupProbe={}, readinessProbe={}), dict(lifecycle={}), dict(restartPolicy="Always"),
              dict(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]), dict(volumeMounts=[{"name": "v", "mountPath": "/x", "subPath": "a"}]),
              dict(securityContext={"procMount": "x"}), dict(env=[{"name": ""}])]:
    ephemeral("a wrong one: %s" % str(wrong)[:70], {"spec.ephemeralContainers": [dict(container(name="e"), **wrong)]})
ephemeral("two of a name", {"spec.ephemeralContainers": [container(name="e"), container(name="e")]})

# ---- Resize ----
SIZED = {C + "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}}}
resize("nothing", {}, SIZED)
resize("more cpu", {C + "resources.requests.cpu": "1500m"}, SIZED)
resize("more than the limit", {C + "resources.requests.cpu": "3"}, SIZED)
resize("more of both", {C + "resources.requests.memory": "2Gi", C + "resources.limits.cpu": "4"}, SIZED)
resize("another class", {C + "resources": {"requests": {"cpu": "2", "memory": "2Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}}}, SIZED)
resize("another class from none", {C + "resources.requests.cpu": "1"})
resize("a request goes", {C + "resources.requests": {"cpu": "1"}}, {C + "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}})
resize("a limit goes", {C + "resources.limits": {"cpu": "2"}}, SIZED)
resize("another resource", {C + "resources.limits": {"cpu": "2", "memory": "2Gi", "ephemeral-storage": "1Gi"}}, SIZED)
resize("another image, too", {C + "image": "j", C + "resources.requests.cpu": "1500m"}, SIZED)
resize("another name", {C + "name": "d"}, SIZED)
resize("one container more", {"spec.containers.1": container(name="d")}, SIZED)
resize("one init container more", {"spec.initContainers": [container(name="a")]}, SIZED)
resize("a resize policy", {C + "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}, SIZED)
resize("labels and a node", {"metadata.labels": {"a": "b"}, "spec.nodeName": "n"}, SIZED)
resize("on windows", {C + "resources.requests.cpu": "1500m"}, dict(SIZED, **{"spec.os": {"name": "windows"}}))
for name, own in [("a sidecar", {"restartPolicy": "Always"}), ("an init container", {})]:
    old = dict(SIZED, **{"spec.initContainers": [container(name="a", resources={"requests": {"cpu": "1"}}, **own)]})
    resize("%s's cpu" % name, {"spec.initContainers.0.resources.requests.cpu": "2"}, old)
    resize("%s's request goes" % name, {"spec.initContainers.0.resources.requests": {}}, old)
    resize("%s's storage" % name, {"spec.initContainers.0.resources.requests": {"cpu": "1", "ephemeral-storage": "1"}}, old)
WHOLE = {"spec.resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}
resize("the pod's cpu", {"spec.resources.limits.cpu": "3"}, WHOLE)
resize("the pod's resources go", {"spec.resources": DROP}, WHOLE)
resize("the pod's limit goes", {"spec.resources.limits": {}}, WHOLE)
resize("the pod's pages", {"spec.resources.limits": {"cpu": "2", "hugepages-2Mi": "2Mi"}}, WHOLE)
resize("the pod gets resources", {"spec.resources": {"requests": {"cpu": "1"}}}, SIZED)
RUNS = dict(SIZED, **{"status": {"phase": "Running", "containerStatuses": state(**RUNNING)}})
resize("on a node that cannot", {C + "resources.requests.cpu": "1500m"}, RUNS)
RUNS_WELL = dict(SIZED, **{"status": {"phase": "Running", "containerStatuses": [dict(state(**RUNNING)[0], resources={"requests": {"cpu": "1"}})]}})
resize("on a node that can", {C + "resources.requests.cpu": "1500m"}, RUNS_WELL)
resize("a container with claims", {C + "resources.requests.cpu": "1500m"}, dict(SIZED, **{"spec.resourceClaims": [{"name": "a", "resourceClaimName": "x"}], C + "resources.claims": [{"name": "a"}]}))

ROWS = pods.rows
