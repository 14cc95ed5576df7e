"""Rows for pod templates: what they are allowed that pods are not, and the other way round; see rule_rows.py."""
from rule_rows import Rows
from rules_pods import container

TEMPLATE = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}

templates = Rows("v1", "podtemplates", TEMPLATE)
create, update = templates.create, templates.update
C = "template.spec.containers.0."
A = "container.apparmor.security.beta.kubernetes.io/"

create("a template")
create("no template", {"template": {}})
create("no spec", {"template.spec": {}})
create("wrong labels and annotations", {"template.metadata": {"labels": {"a b": "c d"}, "annotations": {"a b": "c"}}})
create("names that do not count", {"template.metadata": {"name": "N", "namespace": "x", "labels": {"a": "b"}}})
create("a space before an image", {C + "image": " i"})
create("no image", {C + "image": ""})
create("containers for debugging", {"template.spec.ephemeralContainers": [container(name="e")]})
create("limits stay alone", {C + "resources": {"limits": {"cpu": "1", "memory": "100u"}}})
create("the host's network", {"template.spec.hostNetwork": True, C + "ports": [{"containerPort": 80}]})
create("the host's network and another port", {"template.spec.hostNetwork": True, C + "ports": [{"containerPort": 80, "hostPort": 81}]})
create("a token without an account", {"template.spec.volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]})
create("an image volume without an image", {"template.spec.volumes": [{"name": "v", "image": {}}]})
create("gates and a node", {"template.spec.schedulingGates": [{"name": "g"}], "template.spec.nodeName": "n"})
create("a negative grace period", {"template.spec.terminationGracePeriodSeconds": -5})
create("an account by its older name", {"template.spec.serviceAccount": "a"})
create("old annotations", {"template.metadata.annotations": {"pod.alpha.kubernetes.io/init-containers": "[]", "scheduler.alpha.kubernetes.io/critical-pod": ""}})
create("a wrong cost", {"template.metadata.annotations": {"controller.kubernetes.io/pod-deletion-cost": "x"}})
for text in ["unconfined", "localhost/", "nope"]:
    create("apparmor %s" % text, {"template.metadata.annotations": {A + "c": text}})
create("apparmor that disagrees", {"template.metadata.annotations": {A + "c": "unconfined"}, C + "securityContext.appArmorProfile": {"type": "RuntimeDefault"}})
create("apparmor of the pod", {"template.metadata.annotations": {A + "c": "unconfined"}, "template.spec.securityContext.appArmorProfile": {"type": "Unconfined"}})
create("seccomp that disagrees", {"template.metadata.annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
       "template.spec.securityContext.seccompProfile": {"type": "RuntimeDefault"}})
create("keys stay keys", {"template.spec.topologySpreadConstraints": [
    {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["a"]}]})
create("what gates turn off", {"template.spec.schedulingGroup": {"podGroupName": "g"}, C + "lifecycle": {"stopSignal": "SIGTERM"},
       "template.spec.volumes": [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {"path": "x", "name": "n"}}]}}]})
create("clashes", {C + "ports": [{"containerPort": 80}, {"containerPort": 80}], C + "env": [{"name": "A"}, {"name": "A", "value": "x"}],
       "template.spec.nodeSelector": {"beta.kubernetes.io/arch": "x"}, "template.spec.hostAliases": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}]})
create("several mistakes", {C + "name": "A", C + "imagePullPolicy": "x", "template.spec.restartPolicy": "y", "template.spec.volumes": [{"name": "V"}],
       "template.spec.tolerations": [{}], "template.metadata.labels": {"a": "!"}})
update("another image", {C + "image": "j"})
update("another template", {"template.spec.hostNetwork": True, "template.metadata.labels": {"c": "d"}})
update("a wrong template", {C + "image": ""})

ROWS = templates.rows
