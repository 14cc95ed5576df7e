"""Rows for kinds of the core group but for those with pods in them, and Lease; see rule_rows.py."""
import base64

from rule_rows import DROP, Rows


def named(kind, name, api_version="v1", **more):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


def packed(text):
    return base64.b64encode(text.encode()).decode()


# ---- metadata, once for all kinds ----

configmaps = Rows("v1", "configmaps", named("ConfigMap", "c", data={"a": "b"}))
configmaps.create("a config map")
configmaps.create("a name with capitals", {"metadata.name": "Upper_Case"})
configmaps.create("a name that is too long", {"metadata.name": "a" * 254})
configmaps.create("a label that is none", {"metadata.labels": {"a b": "x"}})
configmaps.create("a label value that is none", {"metadata.labels": {"a": "x y"}})
configmaps.create("an annotation that is none", {"metadata.annotations": {"a b": "x"}})
configmaps.create("a finalizer that is not qualified", {"metadata.finalizers": ["bad"]})
configmaps.create("finalizers that exclude each other", {"metadata.finalizers": ["orphan", "foregroundDeletion"]})
configmaps.create("an owner without anything", {"metadata.ownerReferences": [{"apiVersion": "", "kind": "", "name": "", "uid": ""}]})
configmaps.create("two controllers", {"metadata.ownerReferences": [
    {"apiVersion": "v1", "kind": "Pod", "name": n, "uid": n, "controller": True} for n in "ab"]})
configmaps.create("an event as the owner", {"metadata.ownerReferences": [
    {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}]})
configmaps.update("a finalizer while it is being deleted", {"metadata.finalizers": ["a.b/c", "a.b/d"]},
                  was={"metadata.finalizers": ["a.b/c"], "metadata.deletionTimestamp": "2026-01-01T00:00:00Z"})
configmaps.update("labels change", {"metadata.labels": {"x": "y"}})
configmaps.update("a label that is none comes", {"metadata.labels": {"x": "y z"}})
configmaps.update("an owner without a name comes", {"metadata.ownerReferences": [
    {"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "u"}]})

# ---- ConfigMap ----

configmaps.create("a key with a space", {"data": {"a b": "x"}})
configmaps.create("a key of two dots", {"data": {"..": "x"}})
configmaps.create("a key that begins with two dots", {"data": {"..x": "x"}})
configmaps.create("a key that is too long", {"data": {"k" * 254: "x"}})
configmaps.create("a key twice", {"binaryData": {"a": "AAAA"}})
configmaps.create("a binary key with a slash", {"binaryData": {"x/y": "AAAA"}})
configmaps.create("more than a megabyte", {"data.a": "x" * (1048577)})
configmaps.create("a wrong name and a wrong key", {"metadata.name": "C_", "data": {"a b": "x"}})
configmaps.update("data change", {"data.a": "z"})
configmaps.update("immutable data change", {"data.a": "z"}, was={"immutable": True})
configmaps.update("immutable data change in two places", {"data.a": "z", "binaryData": {"x": "AAAA"}}, was={"immutable": True})
configmaps.update("immutable is taken back", {"immutable": False}, was={"immutable": True})
configmaps.update("immutable is left out and data change", {"immutable": DROP, "data": DROP}, was={"immutable": True})
configmaps.update("immutable, and only labels change", {"metadata.labels": {"x": "y"}}, was={"immutable": True})
configmaps.update("a wrong key comes", {"data": {"a b": "x"}})

# ---- Secret ----

secrets = Rows("v1", "secrets", named("Secret", "s", data={"a": packed("b")}))
secrets.create("a secret")
secrets.create("strings as data", {"stringData": {"x": "y", "a": "z"}})
secrets.create("a key with a space", {"data": {"a b": packed("x")}})
secrets.create("more than a megabyte", {"data.a": packed("x" * 1048577)})
secrets.create("a token without an account", {"type": "kubernetes.io/service-account-token"})
secrets.create("a token of an account", {"type": "kubernetes.io/service-account-token",
                                         "metadata.annotations": {"kubernetes.io/service-account.name": "default"}})
for kind, key in (("dockercfg", ".dockercfg"), ("dockerconfigjson", ".dockerconfigjson")):
    secrets.create(kind + " without its key", {"type": "kubernetes.io/" + kind})
    for text in ("{}", "[]", "nope", '{"a":', "null", "7", '{"auths":{}} x'):
        secrets.create("%s that is %s" % (kind, text), {"type": "kubernetes.io/" + kind, "data": {key: packed(text)}})
secrets.create("basic without anything", {"type": "kubernetes.io/basic-auth"})
secrets.create("basic with a name", {"type": "kubernetes.io/basic-auth", "data": {"username": packed("u")}})
secrets.create("ssh without a key", {"type": "kubernetes.io/ssh-auth"})
secrets.create("ssh with an empty key", {"type": "kubernetes.io/ssh-auth", "data": {"ssh-privatekey": ""}})
secrets.create("ssh with a key", {"type": "kubernetes.io/ssh-auth", "data": {"ssh-privatekey": packed("k")}})
secrets.create("tls without anything", {"type": "kubernetes.io/tls"})
secrets.create("tls without a key", {"type": "kubernetes.io/tls", "data": {"tls.crt": packed("x")}})
secrets.create("tls that is no certificate", {"type": "kubernetes.io/tls", "data": {"tls.crt": packed("x"), "tls.key": packed("y")}})
secrets.create("tls that is empty", {"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}})
secrets.create("a type of one's own", {"type": "example.com/t"})
secrets.update("the type changes", {"type": "example.com/u"}, was={"type": "example.com/t"})
secrets.update("the type is left out", {"type": DROP})
secrets.update("immutable data change", {"data.a": packed("z")}, was={"immutable": True})
secrets.update("immutable is taken back", {"immutable": False}, was={"immutable": True})
secrets.update("data change", {"data.a": packed("z")})

# ---- ServiceAccount ----

accounts = Rows("v1", "serviceaccounts", named("ServiceAccount", "a"))
accounts.create("an account")
accounts.create("secrets with more than a name", {"secrets": [{"kind": "Secret", "name": "s", "namespace": "x", "uid": "u"}]})
accounts.create("the annotation about secrets", {("metadata", "annotations"): {"kubernetes.io/enforce-mountable-secrets": "true"}})
accounts.create("a bad name", {"metadata.name": "A"})
accounts.update("secrets come", {"secrets": [{"name": "s", "fieldPath": "f"}], "imagePullSecrets": [{"name": "p"}]})
accounts.update("the annotation was there", {"automountServiceAccountToken": False},
                was={("metadata", "annotations"): {"kubernetes.io/enforce-mountable-secrets": "true"}})
accounts.update("the annotation comes", {("metadata", "annotations"): {"kubernetes.io/enforce-mountable-secrets": "true"}})

# ---- Namespace ----

namespaces = Rows("v1", "namespaces", named("Namespace", "n"))
namespaces.create("a namespace")
namespaces.create("a name with a dot", {"metadata.name": "a.b"})
namespaces.create("a name that is too long", {"metadata.name": "a" * 64})
namespaces.create("a name that is no label value either", {"metadata.name": "a b"})
namespaces.create("finalizers of its own", {"spec": {"finalizers": ["example.com/f"]}})
namespaces.create("a finalizer that is unknown", {"spec": {"finalizers": ["bad"]}})
namespaces.create("a finalizer that is no name", {"spec": {"finalizers": ["a b"]}})
namespaces.create("a status that is dropped", {"status": {"phase": "Terminating", "conditions": [
    {"type": "NamespaceDeletionDiscoveryFailure", "status": "True"}]}})
namespaces.create("the label with another name", {("metadata", "labels"): {"kubernetes.io/metadata.name": "zz"}})
namespaces.update("finalizers stay as they are", {"spec": {"finalizers": []}, "status": {"phase": "Terminating"},
                                                  "metadata.labels": {"x": "y"}})
namespaces.update("an annotation comes", {"metadata.annotations": {"x": "y"}})
namespaces.status("the phase of a living one", {"status": {"phase": "Terminating"}})
namespaces.status("another phase", {"status": {"phase": "Foo"}})
namespaces.status("a condition comes", {"status": {"phase": "Active", "conditions": [
    {"type": "NamespaceContentRemaining", "status": "False", "reason": "r", "message": "m",
     "lastTransitionTime": "2026-01-01T00:00:00Z"}]}, "spec": {"finalizers": []}})
GOING = {"metadata.deletionTimestamp": "2026-01-01T00:00:00Z"}
namespaces.edit("the phase of one that is being deleted", {"status.phase": "Active"}, was=GOING, verb="status")
namespaces.edit("a condition of one that is being deleted", {"status.conditions": [
    {"type": "NamespaceContentRemaining", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}, was=GOING, verb="status")
namespaces.edit("the last finalizer goes", {"spec.finalizers": []}, was=GOING, verb="finalize")
namespaces.edit("labels of one that is being deleted", {"metadata.labels": {"x": "y"}}, was=GOING)
namespaces.write("finalize", "a finalizer of one's own", {"spec": {"finalizers": ["example.com/x"]}})
namespaces.write("finalize", "an unknown finalizer", {"spec": {"finalizers": ["kubernetes", "bad"]}})
namespaces.write("finalize", "a finalizer that is no name", {"spec": {"finalizers": ["a b"]}})

# ---- Node ----

nodes = Rows("v1", "nodes", named("Node", "n"))
nodes.create("a node")
nodes.create("a bad name", {"metadata.name": "N_1"})
nodes.create("capacity becomes allocatable", {"status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
nodes.create("a negative amount", {"status": {"capacity": {"cpu": "-1"}}})
nodes.create("pods in parts", {"status": {"capacity": {"pods": "1500m"}}})
nodes.create("a device in parts", {"status": {"capacity": {"example.com/gpu": "1.5"}}})
nodes.create("taints", {"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"},
                                            {"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]}})
nodes.create("the same taint twice", {"spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"},
                                                          {"key": "a", "value": "c", "effect": "NoSchedule"}]}})
nodes.create("a taint without an effect", {"spec": {"taints": [{"key": "a"}]}})
nodes.create("a taint with an unknown effect", {"spec": {"taints": [{"key": "a", "effect": "Foo"}]}})
nodes.create("a taint without a key", {"spec": {"taints": [{"key": "", "effect": "NoSchedule"}]}})
nodes.create("a taint with a wrong key and value", {"spec": {"taints": [{"key": "a b", "value": "x y", "effect": "NoSchedule"}]}})
nodes.create("one CIDR", {"spec": {"podCIDR": "10.1.0.0/24"}})
nodes.create("CIDRs of both families", {"spec": {"podCIDRs": ["10.1.0.0/24", "fd00::/64"]}})
nodes.create("a CIDR beside others", {"spec": {"podCIDR": "10.9.0.0/24", "podCIDRs": ["10.1.0.0/24", "fd00::/64"]}})
nodes.create("two CIDRs of one family", {"spec": {"podCIDRs": ["10.1.0.0/24", "10.2.0.0/24"]}})
nodes.create("three CIDRs", {"spec": {"podCIDRs": ["10.1.0.0/24", "fd00::/64", "10.2.0.0/24"]}})
nodes.create("a CIDR that is none", {"spec": {"podCIDRs": ["x"]}})
nodes.create("two CIDRs of which one is none", {"spec": {"podCIDRs": ["10.1.0.0/24", "x"]}})
nodes.create("a CIDR with host bits", {"spec": {"podCIDR": "10.1.0.5/24"}})
nodes.create("a CIDR with leading zeros", {"spec": {"podCIDR": "010.1.0.0/24"}})
nodes.create("the removed way of configuration", {"spec": {"configSource": {"configMap": {
    "namespace": "n", "name": "c", "kubeletConfigKey": "k"}}}})
nodes.create("an external id", {"spec": {"externalID": "x", "providerID": "aws:///i"}})
nodes.create("features", {"status": {"declaredFeatures": ["A", "B/c"]}})
nodes.create("features out of order", {"status": {"declaredFeatures": ["B", "A"]}})
nodes.create("a feature twice", {"status": {"declaredFeatures": ["A", "A"]}})
nodes.create("features with wrong names", {"status": {"declaredFeatures": ["a/", "b c"]}})
nodes.create("swap of nothing", {"status": {"nodeInfo": {"swap": {"capacity": 0}}}})
nodes.create("an address twice is not looked at", {"status": {"addresses": [{"type": "InternalIP", "address": "1.2.3.4"}] * 2}})
nodes.update("it becomes unschedulable", {"spec.unschedulable": True})
nodes.update("the status is left alone", {"status": {"capacity": {"cpu": "9"}}}, was={"status": {"capacity": {"cpu": "4"}}})
nodes.update("the CIDR changes", {"spec": {"podCIDR": "10.2.0.0/24"}}, was={"spec": {"podCIDR": "10.1.0.0/24"}})
nodes.update("the CIDR goes", {"spec": {}}, was={"spec": {"podCIDR": "10.1.0.0/24"}})
nodes.update("the CIDR comes", {"spec": {"podCIDR": "10.2.0.0/24"}})
nodes.update("the provider's id changes", {"spec.providerID": "b"}, was={"spec.providerID": "a"})
nodes.update("the provider's id comes", {"spec.providerID": "b"})
nodes.update("a taint twice", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}})
nodes.update("the external id changes", {"spec": {"externalID": "x"}})
nodes.update("the removed way of configuration", {"spec": {"configSource": {"configMap": {"uid": "u"}}}})
nodes.status("amounts", {"status": {"capacity": {"cpu": "8"}, "allocatable": {"cpu": "7"}}, "spec.unschedulable": True})
nodes.status("a negative amount", {"status": {"allocatable": {"memory": "-1Gi"}}})
nodes.status("an address twice", {"status": {"addresses": [{"type": "InternalIP", "address": "1.2.3.4"}] * 2}})
nodes.status("labels are taken", {"metadata.labels": {"x": "y"}})
nodes.status("a configuration is dropped", {"status": {"config": {"error": "x"}}})
nodes.status("features out of order", {"status": {"declaredFeatures": ["B", "A"]}})

# ---- LimitRange ----

ranges = Rows("v1", "limitranges", named("LimitRange", "l", spec={"limits": [{"type": "Container"}]}))


def limit(**more):
    return {"spec": {"limits": [{"type": "Container", **more}]}}


ranges.create("nothing in it", {"spec": {"limits": []}})
ranges.create("a maximum is the default", limit(max={"cpu": "2"}))
ranges.create("a minimum is the default request", limit(min={"cpu": "1"}))
ranges.create("all parts", limit(max={"cpu": "4"}, min={"cpu": "100m"}, default={"cpu": "2"}, defaultRequest={"cpu": "1"},
                                 maxLimitRequestRatio={"cpu": "10"}))
ranges.create("minimum above maximum", limit(min={"cpu": "2"}, max={"cpu": "1"}))
ranges.create("default request below the minimum", limit(min={"cpu": "2"}, defaultRequest={"cpu": "1"}))
ranges.create("default request above the maximum", limit(max={"cpu": "2"}, defaultRequest={"cpu": "3"}))
ranges.create("default above the maximum", limit(max={"cpu": "2"}, default={"cpu": "3"}, defaultRequest={"cpu": "1"}))
ranges.create("default below the minimum", limit(min={"cpu": "2"}, default={"cpu": "1"}, defaultRequest={"cpu": "2"}))
ranges.create("a ratio below one", limit(maxLimitRequestRatio={"cpu": "500m"}))
ranges.create("a ratio above what is possible", limit(min={"cpu": "1"}, max={"cpu": "2"}, maxLimitRequestRatio={"cpu": "3"}))
ranges.create("a ratio of huge amounts", limit(min={"memory": "1Ei"}, max={"memory": "2Ei"}, maxLimitRequestRatio={"memory": "3"}))
ranges.create("an unknown resource", limit(max={"foo": "1"}))
ranges.create("a resource that is no name", limit(max={"a b": "1"}))
ranges.create("a device", limit(max={"example.com/gpu": "1"}))
ranges.create("a device that is not the same", limit(default={"example.com/gpu": "2"}, defaultRequest={"example.com/gpu": "1"}))
ranges.create("a resource of requests", limit(max={"requests.example.com/gpu": "1"}))
ranges.create("huge pages", limit(default={"hugepages-2Mi": "4Mi"}, defaultRequest={"hugepages-2Mi": "2Mi"}))
ranges.create("storage of containers", limit(max={"storage": "1Gi"}))
ranges.create("an unknown type", {"spec": {"limits": [{"type": "Foo"}]}})
ranges.create("no type", {"spec": {"limits": [{"type": ""}]}})
ranges.create("a type that is no name", {"spec": {"limits": [{"type": "a b"}]}})
ranges.create("a type with a prefix", {"spec": {"limits": [{"type": "example.com/image", "max": {"storage": "1Gi"}}]}})
ranges.create("a type twice", {"spec": {"limits": [{"type": "Pod"}, {"type": "Pod"}]}})
ranges.create("defaults of pods", {"spec": {"limits": [{"type": "Pod", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}]}})
ranges.create("claims without storage", {"spec": {"limits": [{"type": "PersistentVolumeClaim"}]}})
ranges.create("claims with storage", {"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]}})
ranges.update("a wrong amount comes", limit(min={"cpu": "2"}, max={"cpu": "1"}))
ranges.update("an amount comes", limit(max={"cpu": "1"}))

# ---- ResourceQuota ----

quotas = Rows("v1", "resourcequotas", named("ResourceQuota", "q", spec={"hard": {"pods": "3"}}))
quotas.create("a quota")
quotas.create("a status that is dropped", {"status": {"hard": {"pods": "9"}}})
quotas.create("a negative amount", {"spec.hard": {"pods": "-3"}})
quotas.create("an amount in parts", {"spec.hard": {"pods": "1500m"}})
quotas.create("an unknown resource", {"spec.hard": {"foo": "1"}})
quotas.create("storage has another name", {"spec.hard": {"storage": "1"}})
quotas.create("a resource that is no name", {"spec.hard": {"a b": "1"}})
quotas.create("counts of objects", {"spec.hard": {"count/deployments.apps": "2", "requests.nvidia.com/gpu": "4"}})
quotas.create("requests above limits", {"spec.hard": {"requests.cpu": "4", "limits.cpu": "2", "memory": "2Gi", "limits.memory": "1Gi"}})
quotas.create("an unknown scope", {"spec.scopes": ["Foo"]})
quotas.create("a scope that does not count it", {"spec": {"hard": {"services": "1"}, "scopes": ["BestEffort"]}})
quotas.create("cpu of pods that ask for none", {"spec": {"hard": {"cpu": "1"}, "scopes": ["BestEffort"]}})
quotas.create("cpu of pods that ask for some", {"spec": {"hard": {"cpu": "1"}, "scopes": ["NotBestEffort"]}})
quotas.create("pods of a class of volumes", {"spec": {"hard": {"pods": "1"}, "scopes": ["VolumeAttributesClass"]}})
quotas.create("scopes that exclude each other", {"spec.scopes": ["BestEffort", "NotBestEffort"]})
quotas.create("other scopes that exclude each other", {"spec.scopes": ["Terminating", "NotTerminating"]})


def scoped(*expressions, **more):
    return {"spec": {"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": list(expressions)}, **more}}


quotas.create("a selector of classes", scoped({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}))
quotas.create("a selector without values", scoped({"scopeName": "PriorityClass", "operator": "In"}))
quotas.create("a selector with values too many", scoped({"scopeName": "PriorityClass", "operator": "Exists", "values": ["x"]}))
quotas.create("a selector with an unknown operator", scoped({"scopeName": "PriorityClass", "operator": "Foo"}))
quotas.create("a selector with an unknown scope", scoped({"scopeName": "Foo", "operator": "Exists"}))
quotas.create("a selector with the wrong operator", scoped({"scopeName": "BestEffort", "operator": "In", "values": ["x"]}))
quotas.create("a selector that excludes itself", scoped({"scopeName": "BestEffort", "operator": "Exists"},
                                                        {"scopeName": "NotBestEffort", "operator": "Exists"}))
quotas.create("a selector that does not count it", {"spec": {"hard": {"services": "1"}, "scopeSelector": {"matchExpressions": [
    {"scopeName": "BestEffort", "operator": "Exists"}]}}})
quotas.create("classes of volumes", {"spec": {"hard": {"persistentvolumeclaims": "1", "requests.storage": "5Gi"}, "scopes": ["VolumeAttributesClass"]}})
quotas.update("an amount changes", {"spec.hard": {"pods": "5"}})
quotas.update("scopes change", {"spec.scopes": ["BestEffort"]})
quotas.update("scopes go", {"spec.scopes": DROP}, was={"spec.scopes": ["BestEffort"]})
quotas.update("scopes change their order", {"spec.scopes": ["PriorityClass", "NotBestEffort"]},
              was={"spec.scopes": ["NotBestEffort", "PriorityClass"]})
quotas.update("requests above limits are not told", {"spec.hard": {"requests.cpu": "4", "limits.cpu": "2"}})
quotas.status("what is used", {"status": {"hard": {"pods": "3"}, "used": {"pods": "1"}}, "spec.hard": {"pods": "9"}})
quotas.status("a negative use", {"status": {"hard": {"pods": "3"}, "used": {"pods": "-1"}}})
quotas.status("an unknown resource", {"status": {"hard": {"foo": "3"}}})
quotas.create("a scope that counts none of several resources", {"spec.hard": {"requests.cpu": "4", "limits.cpu": "2", "memory": "2Gi"}, "spec.scopes": ["VolumeAttributesClass"]})

# ---- Event ----

EVENT = named("Event", "e", involvedObject={"kind": "Pod", "name": "p", "namespace": "default"}, reason="r", message="m", type="Normal")
old_events = Rows("v1", "events", EVENT)
old_events.create("an event")
old_events.create("an event about nothing", {"involvedObject": {}})
old_events.create("another namespace", {"involvedObject.namespace": "other"})
old_events.create("a name that is no subdomain", {"metadata.name": "A_b"})
old_events.create("a name that is no part of a path", {"metadata.name": "a/b"})
old_events.create("any type", {"type": "Foo"})
old_events.create("a time and nothing else", {"eventTime": "2026-01-01T00:00:00.000001Z"})
old_events.create("a time and all that belongs to it", {"eventTime": "2026-01-01T00:00:00.000001Z", "reportingComponent": "c.d/e",
                                                        "reportingInstance": "i", "action": "a"})
old_events.create("texts that are too long", {"eventTime": "2026-01-01T00:00:00.000001Z", "reportingComponent": "c d",
                                              "reportingInstance": "i" * 129, "action": "a" * 129, "reason": "r" * 129,
                                              "message": "m" * 1025})
old_events.update("a count moves on", {"count": 2, "message": "n"})
old_events.update("another namespace", {"involvedObject.namespace": "other"})

NEW_EVENT = named("Event", "e", "events.k8s.io/v1", eventTime="2026-01-01T00:00:00.000001Z", reportingController="c.d/e",
                  reportingInstance="i", action="a", reason="r", type="Normal", note="m",
                  regarding={"kind": "Pod", "name": "p", "namespace": "default"})
events = Rows("events.k8s.io/v1", "events", NEW_EVENT)
events.create("an event")
events.create("no time", {"eventTime": DROP})
events.create("a type that is unknown", {"type": "Foo"})
events.create("no type", {"type": DROP})
events.create("fields of the past", {"deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": "2026-01-01T00:00:00Z",
                                     "deprecatedCount": 3, "deprecatedSource": {"component": "x"}})
events.create("nothing told", {"reportingController": DROP, "reportingInstance": DROP, "action": DROP, "reason": DROP})
events.create("a bad name", {"metadata.name": "A_b"})
events.create("a series of one", {"series": {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000001Z"}})
events.create("a series without a time", {"series": {"count": 2, "lastObservedTime": None}})
events.create("a series", {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000002Z"}})
events.create("an object elsewhere", {"regarding.namespace": "other"})
events.update("the series moves on", {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000002Z"}})
events.update("the series is wrong", {"series": {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000002Z"}})
events.update("texts change", {"reason": "x", "note": "y", "type": "Warning", "action": "z"})
events.update("the object changes", {"regarding.name": "q", "related": {"kind": "Node", "name": "n"}})
events.update("the reporter changes", {"reportingController": "x.y/z", "reportingInstance": "j"})
events.update("the time changes", {"eventTime": "2026-01-01T00:00:00.000009Z"})

# ---- Lease ----

leases = Rows("coordination.k8s.io/v1", "leases", named("Lease", "l", "coordination.k8s.io/v1", spec={"holderIdentity": "a"}))
leases.create("a lease")
leases.create("nothing in it", {"spec": DROP})
leases.create("no duration", {"spec.leaseDurationSeconds": 0})
leases.create("a negative duration and negative moves", {"spec.leaseDurationSeconds": -1, "spec.leaseTransitions": -1})
leases.create("all of it", {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 3,
                                     "acquireTime": "2026-01-01T00:00:00.000001Z", "renewTime": "2026-01-01T00:00:00.5Z"}})
leases.create("a strategy", {"spec.strategy": "OldestEmulationVersion", "spec.preferredHolder": "b"})
leases.create("a bad name", {"metadata.name": "L_"})
leases.update("renewed", {"spec.renewTime": "2026-01-01T00:00:00.000001Z"})
leases.update("no duration", {"spec.leaseDurationSeconds": 0})
leases.update("a strategy", {"spec.strategy": "x", "spec.preferredHolder": "b"})

ROWS = [row for rows in (configmaps, secrets, accounts, namespaces, nodes, ranges, quotas, old_events, events, leases) for row in rows.rows]
