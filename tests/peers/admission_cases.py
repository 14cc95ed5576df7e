"""What tests/peers/record_admission.py prepares and asks: objects, and requests on them.

A case is (sentence, operation, path, object), for a user of its own also the token; paths are those of requests.
"""
import copy

V1, APPS, BATCH = "/api/v1", "/apis/apps/v1", "/apis/batch/v1"
PSA = "pod-security.kubernetes.io/"

# ---- Objects ----


def meta(name, namespace=None, **more):
    return {"name": name, **({"namespace": namespace} if namespace else {}), **more}


def pod(container=None, labels=None, annotations=None, name="p", generate=None, **spec):
    m = {"generateName": generate} if generate else {"name": name}
    if labels:
        m["labels"] = labels
    if annotations:
        m["annotations"] = annotations
    return {"kind": "Pod", "apiVersion": "v1", "metadata": m,
            "spec": {"containers": [{"name": "c", "image": "i:1", **(container or {})}], **spec}}


def resources(requests=None, limits=None):
    return {"resources": {**({"requests": requests} if requests else {}), **({"limits": limits} if limits else {})}}


def namespace(name, labels=None, annotations=None):
    return (V1 + "/namespaces", {"kind": "Namespace", "apiVersion": "v1",
                                 "metadata": meta(name, labels=labels or {}, annotations=annotations or {})})


def in_namespace(ns, plural, kind, name, api=V1, version="v1", **body):
    extra = body.pop("metadata", {})
    return ("%s/namespaces/%s/%s" % (api, ns, plural),
            {"kind": kind, "apiVersion": version, "metadata": {"name": name, **extra}, **body})


def limits(ns, name, *items):
    return in_namespace(ns, "limitranges", "LimitRange", name, spec={"limits": list(items)})


def quota(ns, name, hard, used=None, scopes=None, select=None, status_hard=None):
    """Its status is written, too, unless nothing is used."""
    spec = {"hard": hard}
    if scopes:
        spec["scopes"] = scopes
    if select:
        spec["scopeSelector"] = {"matchExpressions": select}
    path, body = in_namespace(ns, "resourcequotas", "ResourceQuota", name, spec=spec)
    if used is not None:
        body["status"] = {"hard": status_hard or hard, "used": used}
    return (path, body)


def claim(storage="1Gi", name="claim", **spec):
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}}


def cluster(api, version, plural, kind, name, metadata=None, **body):
    return ("%s/%s" % (api, plural), {"kind": kind, "apiVersion": version, "metadata": {"name": name, **(metadata or {})}, **body})


STORAGE, SCHEDULING, NODE, NETWORK = ("/apis/storage.k8s.io/v1", "/apis/scheduling.k8s.io/v1", "/apis/node.k8s.io/v1",
                                      "/apis/networking.k8s.io/v1")
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"

LEVELS = {
    "psa-base": {"enforce": "baseline"}, "psa-restr": {"enforce": "restricted"}, "psa-priv": {"enforce": "privileged"},
    "psa-warn": {"warn": "restricted"}, "psa-audit": {"audit": "restricted"},
    "psa-warn-base": {"enforce": "privileged", "warn": "baseline", "warn-version": "v1.20"},
    "psa-both": {"enforce": "baseline", "warn": "restricted"},
    "psa-b-0": {"enforce": "baseline", "enforce-version": "v1.0"}, "psa-b-18": {"enforce": "baseline", "enforce-version": "v1.18"},
    "psa-b-28": {"enforce": "baseline", "enforce-version": "v1.28"}, "psa-b-31": {"enforce": "baseline", "enforce-version": "v1.31"},
    "psa-b-34": {"enforce": "baseline", "enforce-version": "v1.34"}, "psa-b-99": {"enforce": "baseline", "enforce-version": "v1.99"},
    "psa-r-7": {"enforce": "restricted", "enforce-version": "v1.7"}, "psa-r-20": {"enforce": "restricted", "enforce-version": "v1.20"},
    "psa-r-22": {"enforce": "restricted", "enforce-version": "v1.22"}, "psa-r-24": {"enforce": "restricted", "enforce-version": "v1.24"},
    "psa-r-34": {"enforce": "restricted", "enforce-version": "v1.34"},
}
PLAIN = ["plain", "ranges", "ranges2", "claims", "q-pods", "q-sums", "q-short", "q-scopes", "q-objects", "q-silent", "q-unknown", "q-two",
         "q-deadline", "accounts", "old-pods"]

STATE = [namespace(n) for n in PLAIN]
STATE += [namespace(n, {PSA + k: v for k, v in labels.items()}) for n, labels in LEVELS.items()]
STATE += [
    namespace("selecting", annotations={"scheduler.alpha.kubernetes.io/node-selector": "disk=ssd,zone = a"}),
    namespace("tolerating", annotations={
        "scheduler.alpha.kubernetes.io/defaultTolerations": '[{"operator":"Exists","effect":"NoSchedule","key":"d1"}]',
        "scheduler.alpha.kubernetes.io/tolerationsWhitelist":
            '[{"operator":"Exists","effect":"NoSchedule","key":"d1"},{"operator":"Exists","key":"node.kubernetes.io/not-ready"},'
            '{"operator":"Exists","key":"node.kubernetes.io/unreachable"},{"operator":"Exists","key":"node.kubernetes.io/memory-pressure"}]'}),
    namespace("going"),
]
STATE += [in_namespace(n, "serviceaccounts", "ServiceAccount", "default")
          for n in PLAIN + list(LEVELS) + ["selecting", "tolerating", "going", "default"]]
STATE += [
    in_namespace("accounts", "serviceaccounts", "ServiceAccount", "pulling", imagePullSecrets=[{"name": "s1"}, {"name": "s2"}]),
    in_namespace("accounts", "serviceaccounts", "ServiceAccount", "silent", automountServiceAccountToken=False),
    in_namespace("accounts", "serviceaccounts", "ServiceAccount", "strict", secrets=[{"name": "mine"}],
                 imagePullSecrets=[{"name": "s1"}], metadata={"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}),
    in_namespace("ranges", "pods", "Pod", "early", spec={"containers": [{"name": "c", "image": "i:1"}]}),
    limits("ranges", "lr", {"type": "Container", "default": {"cpu": "500m", "memory": "64Mi", "example.com/x": "2"},
                            "defaultRequest": {"cpu": "100m", "example.com/x": "2"}, "max": {"cpu": "1"}, "min": {"cpu": "50m"},
                            "maxLimitRequestRatio": {"cpu": "8"}}),
    limits("ranges2", "a", {"type": "Container", "default": {"memory": "2Gi"}}),
    limits("ranges2", "b", {"type": "Pod", "max": {"memory": "4Gi"}, "min": {"cpu": "10m"}}),
    limits("claims", "lr", {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}),
    quota("q-pods", "q", {"pods": "1", "count/pods": "3"}, {"pods": "1", "count/pods": "1"}),
    quota("q-sums", "q", {"requests.cpu": "1", "limits.memory": "1Gi", "requests.ephemeral-storage": "1Gi", "requests.example.com/gpu": "2"},
          {"requests.cpu": "500m", "limits.memory": "256Mi", "requests.ephemeral-storage": "0", "requests.example.com/gpu": "1"}),
    quota("q-short", "short", {"cpu": "2", "memory": "2Gi", "hugepages-2Mi": "4Mi"},
          {"cpu": "1500m", "memory": "1Gi", "hugepages-2Mi": "0"}),
    quota("q-scopes", "best", {"pods": "1"}, {"pods": "1"}, ["BestEffort"]),
    quota("q-scopes", "ends", {"pods": "1"}, {"pods": "1"}, ["Terminating"]),
    quota("q-scopes", "classes", {"pods": "1"}, {"pods": "1"}, None,
          [{"scopeName": "PriorityClass", "operator": "In", "values": ["high", "system-node-critical"]}]),
    quota("q-scopes", "across", {"pods": "1"}, {"pods": "1"}, ["CrossNamespacePodAffinity"]),
    quota("q-scopes", "sums", {"requests.cpu": "1"}, {"requests.cpu": "900m"}, ["NotBestEffort", "NotTerminating"]),
    quota("q-scopes", "volumes", {"persistentvolumeclaims": "1"}, {"persistentvolumeclaims": "1"}, None,
          [{"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["gold"]}]),
    quota("q-objects", "q", {"count/configmaps": "1", "configmaps": "2", "secrets": "1", "count/deployments.apps": "1", "services": "3",
                             "services.nodeports": "2", "services.loadbalancers": "1", "persistentvolumeclaims": "3",
                             "requests.storage": "10Gi", "std.storageclass.storage.k8s.io/requests.storage": "4Gi",
                             "std.storageclass.storage.k8s.io/persistentvolumeclaims": "5", "count/leases.coordination.k8s.io": "1",
                             "gpu.deviceclass.resource.k8s.io/devices": "2", "count/resourceclaims.resource.k8s.io": "4"},
          {"count/configmaps": "1", "configmaps": "1", "secrets": "0", "count/deployments.apps": "1", "services": "1",
           "services.nodeports": "1", "services.loadbalancers": "0", "persistentvolumeclaims": "2", "requests.storage": "3Gi",
           "std.storageclass.storage.k8s.io/requests.storage": "3Gi", "std.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
           "count/leases.coordination.k8s.io": "1", "gpu.deviceclass.resource.k8s.io/devices": "1",
           "count/resourceclaims.resource.k8s.io": "1"}),
    quota("q-silent", "q", {"pods": "0"}),
    quota("q-deadline", "q", {"pods": "2"}, {"pods": "2"}, ["Terminating"]),
    in_namespace("q-deadline", "pods", "Pod", "endless", spec={"containers": [{"name": "c", "image": "i:1"}]}),
    quota("q-unknown", "q", {"pods": "4", "cpu": "4"}, {"pods": "0"}),
    quota("q-two", "q1", {"pods": "9"}, {"pods": "2"}),
    quota("q-two", "q2", {"pods": "3", "limits.cpu": "2"}, {"pods": "3", "limits.cpu": "2"}),
    cluster(SCHEDULING, "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", "high", value=1000, preemptionPolicy="Never"),
    cluster(SCHEDULING, "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", "usual", value=7, globalDefault=True),
    cluster(SCHEDULING, "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", "low", value=-5),
    cluster(STORAGE, "storage.k8s.io/v1", "storageclasses", "StorageClass", "std", {"annotations": {DEFAULT_CLASS: "true"}},
            provisioner="x.y/z", allowVolumeExpansion=True),
    cluster(STORAGE, "storage.k8s.io/v1", "storageclasses", "StorageClass", "fixed", provisioner="x.y/z"),
    cluster(NETWORK, "networking.k8s.io/v1", "ingressclasses", "IngressClass", "front",
            {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}, spec={"controller": "x.y/z"}),
    cluster(NODE, "node.k8s.io/v1", "runtimeclasses", "RuntimeClass", "heavy", handler="h",
            overhead={"podFixed": {"cpu": "250m", "memory": "120Mi"}}),
    cluster(NODE, "node.k8s.io/v1", "runtimeclasses", "RuntimeClass", "placed", handler="h",
            scheduling={"nodeSelector": {"kind": "vm"}, "tolerations": [{"key": "vm", "operator": "Exists", "effect": "NoSchedule"}]}),
    cluster(NODE, "node.k8s.io/v1", "runtimeclasses", "RuntimeClass", "light", handler="h"),
    cluster(NODE, "node.k8s.io/v1", "runtimeclasses", "RuntimeClass", "timed", handler="h", scheduling={"tolerations": [
        {"key": "t", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]}),
    cluster(V1, "v1", "nodes", "Node", "n1", {"labels": {
        "topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1", "topology.kubernetes.io/rack": "k",
        "kubernetes.io/hostname": "n1", "node-restriction.kubernetes.io/x": "1"}},
        status={"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}}),
    cluster(V1, "v1", "nodes", "Node", "n2"),
    in_namespace("plain", "pods", "Pod", "bound", spec={"nodeName": "n1", "containers": [
        {"name": "c", "image": "i:1", **resources({"cpu": "500m", "memory": "1Gi"}, {"cpu": "1"})}]}),
    in_namespace("plain", "pods", "Pod", "loose", spec={"containers": [{"name": "c", "image": "i:1"}]}),
    in_namespace("psa-base", "pods", "Pod", "ok", spec={"containers": [{"name": "c", "image": "i:1"}]}),
    in_namespace("old-pods", "pods", "Pod", "net", spec={"hostNetwork": True, "containers": [{"name": "c", "image": "i:1"}]}),
    in_namespace("old-pods", "pods", "Pod", "net2", spec={"hostNetwork": True, "containers": [{"name": "c", "image": "i:1"}]}),
    in_namespace("old-pods", "pods", "Pod", "root", spec={"containers": [
        {"name": "c", "image": "i:1", "securityContext": {"privileged": True}}]}),
    in_namespace("ranges", "pods", "Pod", "small", spec={"containers": [
        {"name": "c", "image": "i:1", **resources({"cpu": "200m", "example.com/x": "2"}, {"cpu": "400m", "memory": "64Mi", "example.com/x": "2"})}]}),
    in_namespace("q-sums", "pods", "Pod", "counted", spec={"containers": [
        {"name": "c", "image": "i:1", **resources({"cpu": "100m", "memory": "1Mi"}, {"cpu": "100m", "memory": "64Mi"})}]}),
    in_namespace("plain", "persistentvolumeclaims", "PersistentVolumeClaim", "grows", spec=claim()["spec"] | {"storageClassName": "std", "volumeName": "v"},
                 status={"phase": "Bound", "capacity": {"storage": "1Gi"}}),
    in_namespace("plain", "persistentvolumeclaims", "PersistentVolumeClaim", "stays", spec=claim()["spec"] | {"storageClassName": "fixed", "volumeName": "v"},
                 status={"phase": "Bound", "capacity": {"storage": "1Gi"}}),
    in_namespace("plain", "persistentvolumeclaims", "PersistentVolumeClaim", "waits", spec=claim()["spec"] | {"storageClassName": "std"}),
    in_namespace("plain", "services", "Service", "ext", spec={"ports": [{"port": 80}], "externalIPs": ["1.2.3.4"]}),
    in_namespace("q-objects", "services", "Service", "inner", spec={"ports": [{"port": 80}, {"port": 81, "name": "b"}, {"port": 82, "name": "c"}]}),
]
for ports in STATE:
    if ports[1]["kind"] == "Service" and len(ports[1]["spec"]["ports"]) > 1:
        ports[1]["spec"]["ports"][0]["name"] = "a"


# ---- Pod security: what a pod may have, one by one ----

GOOD = {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}


def secured(**changes):
    return {"securityContext": {**GOOD, **changes}}


def without(*names):
    return {"securityContext": {k: v for k, v in GOOD.items() if k not in names}}


def good_pod(container=None, init=None, **spec):
    made = pod({**secured(), **(container or {})}, **spec)
    if init:
        made["spec"]["initContainers"] = [{"name": "i", "image": "i:1", **init}]
    return made


SECURITY = [
    ("a pod that says nothing", pod()),
    ("all as it should be", good_pod()),
    ("privileged", good_pod(secured(privileged=True, allowPrivilegeEscalation=True))),
    ("an init container is privileged, too", good_pod(secured(privileged=True, allowPrivilegeEscalation=True), {"securityContext": {"privileged": True}})),
    ("an init container without anything", good_pod(None, {})),
    ("the host's network, processes and IPC", good_pod(hostNetwork=True, hostPID=True, hostIPC=True)),
    ("a host port", good_pod({"ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81, "hostPort": 9090}]})),
    ("one host port", good_pod({"ports": [{"containerPort": 80, "hostPort": 8080}]})),
    ("a volume of the host", good_pod(volumes=[{"name": "h", "hostPath": {"path": "/"}}])),
    ("volumes of the host and of NFS", good_pod(volumes=[
        {"name": "h", "hostPath": {"path": "/"}}, {"name": "n", "nfs": {"server": "s", "path": "/"}}, {"name": "e", "emptyDir": {}}])),
    ("volumes of all harmless kinds", good_pod(volumes=[
        {"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "m"}}, {"name": "c", "secret": {"secretName": "s"}},
        {"name": "d", "downwardAPI": {}}, {"name": "e", "persistentVolumeClaim": {"claimName": "x"}},
        {"name": "f", "csi": {"driver": "d"}}, {"name": "g", "image": {"reference": "i", "pullPolicy": "Always"}},
        {"name": "h", "projected": {"sources": [{"configMap": {"name": "m"}}]}}])),
    ("volumes of rare kinds", good_pod(volumes=[
        {"name": "a", "iscsi": {"targetPortal": "1.2.3.4:3260", "iqn": "iqn.2001-04.com.example:storage", "lun": 0}},
        {"name": "b", "fc": {"targetWWNs": ["w"], "lun": 0}}, {"name": "c", "flexVolume": {"driver": "x/y"}},
        {"name": "d", "cephfs": {"monitors": ["m"]}}, {"name": "e", "azureFile": {"secretName": "s", "shareName": "n"}}])),
    ("capabilities that are not default", good_pod(secured(capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN", "NET_ADMIN"]}))),
    ("capabilities that are default", good_pod(secured(capabilities={"drop": ["ALL"], "add": ["CHOWN", "KILL"]}))),
    ("binding low ports", good_pod(secured(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}))),
    ("dropping nothing", good_pod(without("capabilities"))),
    ("dropping something else", good_pod(secured(capabilities={"drop": ["CHOWN"]}))),
    ("may become more", good_pod(secured(allowPrivilegeEscalation=True))),
    ("does not say whether it becomes more", good_pod(without("allowPrivilegeEscalation"))),
    ("runs as root", good_pod(secured(runAsUser=0))),
    ("the pod runs as root", good_pod(securityContext={"runAsUser": 0})),
    ("may run as root", good_pod(secured(runAsNonRoot=False))),
    ("the pod may run as root", good_pod(securityContext={"runAsNonRoot": False})),
    ("does not say whether as root", good_pod(without("runAsNonRoot"))),
    ("the pod says not as root", good_pod(without("runAsNonRoot"), securityContext={"runAsNonRoot": True})),
    ("no seccomp profile", good_pod(without("seccompProfile"))),
    ("an unconfined seccomp profile", good_pod(secured(seccompProfile={"type": "Unconfined"}))),
    ("an unconfined seccomp profile of the pod", good_pod(securityContext={"seccompProfile": {"type": "Unconfined"}})),
    ("a seccomp profile of the pod", good_pod(without("seccompProfile"), securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "x"}})),
    ("a seccomp annotation", good_pod(annotations={"seccomp.security.alpha.kubernetes.io/pod": "unconfined"})),
    ("an SELinux type", good_pod(secured(seLinuxOptions={"type": "spc_t"}))),
    ("an SELinux type of engines", good_pod(secured(seLinuxOptions={"type": "container_engine_t"}))),
    ("SELinux user and role of the pod", good_pod(securityContext={"seLinuxOptions": {"user": "u", "role": "r", "type": "x_t"}})),
    ("AppArmor unconfined", good_pod(secured(appArmorProfile={"type": "Unconfined"}))),
    ("AppArmor unconfined in the pod", good_pod(securityContext={"appArmorProfile": {"type": "Unconfined"}})),
    ("AppArmor by field and annotation", good_pod(secured(appArmorProfile={"type": "Unconfined"}), annotations={
        "container.apparmor.security.beta.kubernetes.io/c": "unconfined"})),
    ("AppArmor of the runtime", good_pod(secured(appArmorProfile={"type": "RuntimeDefault"}))),
    ("sysctls that are safe", good_pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]})),
    ("sysctls that became safe", good_pod(securityContext={"sysctls": [
        {"name": "net.ipv4.ip_local_reserved_ports", "value": "1"}, {"name": "net.ipv4.tcp_keepalive_time", "value": "1"},
        {"name": "net.ipv4.tcp_rmem", "value": "1"}]})),
    ("sysctls that are not safe", good_pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}, {"name": "kernel.sem", "value": "1"}]})),
    ("an unmasked proc", good_pod(secured(procMount="Unmasked"), hostUsers=False)),
    ("a user namespace, and root in it", good_pod(secured(runAsUser=0, runAsNonRoot=False), hostUsers=False)),
    ("a probe to another host", good_pod({"livenessProbe": {"httpGet": {"port": 80, "host": "10.0.0.1"}},
                                          "readinessProbe": {"tcpSocket": {"port": 80, "host": "h2"}}})),
    ("a lifecycle hook to another host", good_pod({"lifecycle": {"preStop": {"httpGet": {"port": 80, "host": "10.0.0.1"}}}})),
    ("a process of a Windows host", good_pod(secured(windowsOptions={"hostProcess": True}), hostNetwork=True,
                                             securityContext={"windowsOptions": {"hostProcess": True}})),
    ("Windows, and nothing said", pod(os={"name": "windows"}, securityContext={"runAsNonRoot": True})),
]

VERSIONED = ["psa-b-0", "psa-b-18", "psa-b-28", "psa-b-31", "psa-b-34", "psa-b-99", "psa-r-7", "psa-r-20", "psa-r-22", "psa-r-24", "psa-r-34"]
VERSIONED_CASES = ["a pod that says nothing", "all as it should be", "sysctls that became safe", "an SELinux type of engines", "no seccomp profile",
                   "a seccomp annotation", "dropping nothing", "runs as root", "does not say whether it becomes more", "an unmasked proc",
                   "a probe to another host", "Windows, and nothing said", "a user namespace, and root in it",
                   "an unconfined seccomp profile", "volumes of the host and of NFS", "may run as root"]


def template(kind, api, plural, made, job=False):
    spec = {"template": {"metadata": {"labels": {"a": "b"}}, "spec": copy.deepcopy(made["spec"])}}
    if kind == "Job":
        spec["template"]["spec"]["restartPolicy"] = "Never"
    elif kind == "CronJob":
        spec["template"]["spec"]["restartPolicy"] = "Never"
        spec = {"schedule": "* * * * *", "jobTemplate": {"spec": spec}}
    elif kind == "ReplicationController":
        spec["selector"] = {"a": "b"}
    elif kind == "PodTemplate":
        return {"kind": kind, "apiVersion": "v1", "metadata": {"name": "w"}, "template": spec["template"]}
    else:
        spec["selector"] = {"matchLabels": {"a": "b"}}
    if kind == "StatefulSet":
        spec["serviceName"] = "s"
    version = {V1: "v1", APPS: "apps/v1", BATCH: "batch/v1"}[api]
    return {"kind": kind, "apiVersion": version, "metadata": {"name": "w"}, "spec": spec}


WORKLOADS = [("Deployment", APPS, "deployments"), ("ReplicaSet", APPS, "replicasets"), ("StatefulSet", APPS, "statefulsets"),
             ("DaemonSet", APPS, "daemonsets"), ("Job", BATCH, "jobs"), ("CronJob", BATCH, "cronjobs"),
             ("ReplicationController", V1, "replicationcontrollers"), ("PodTemplate", V1, "podtemplates")]


def security_cases():
    for ns in ("psa-base", "psa-restr"):
        for sentence, made in SECURITY:
            yield ("%s: %s" % (ns, sentence), "CREATE", V1 + "/namespaces/%s/pods" % ns, made)
    for ns in VERSIONED:
        for sentence, made in SECURITY:
            if sentence in VERSIONED_CASES:
                yield ("%s: %s" % (ns, sentence), "CREATE", V1 + "/namespaces/%s/pods" % ns, made)
    for ns in ("psa-warn", "psa-audit", "psa-warn-base", "psa-both", "psa-priv"):
        for sentence in ("a pod that says nothing", "all as it should be", "privileged"):
            yield ("%s: %s" % (ns, sentence), "CREATE", V1 + "/namespaces/%s/pods" % ns, dict(SECURITY)[sentence])
    for kind, api, plural in WORKLOADS:
        for ns in ("psa-restr", "psa-warn-base"):
            for sentence in ("a pod that says nothing", "all as it should be", "privileged"):
                yield ("%s: template of a %s: %s" % (ns, kind, sentence), "CREATE", "%s/namespaces/%s/%s" % (api, ns, plural),
                       template(kind, api, plural, dict(SECURITY)[sentence]))
    for sentence, context in [("that is privileged", {"privileged": True}), ("that is harmless", {})]:
        yield ("an ephemeral container " + sentence, "UPDATE", V1 + "/namespaces/psa-base/pods/ok/ephemeralcontainers",
               lambda o, got=context: o["spec"].update(ephemeralContainers=[{"name": "e", "image": "i:1", "securityContext": got}]))
    yield ("a name that is still to be made", "CREATE", V1 + "/namespaces/psa-base/pods", pod(generate="gen-", hostNetwork=True))
    for sentence, labels in [("an unknown level", {"enforce": "weak"}), ("an unknown version", {"enforce": "baseline", "enforce-version": "1.20"}),
                             ("all wrong", {"enforce": "x", "audit": "y", "warn": "z", "warn-version": "v1.x"}),
                             ("levels that are known", {"enforce": "restricted", "warn-version": "v1.30"})]:
        yield ("a new namespace with " + sentence, "CREATE", V1 + "/namespaces",
               namespace("fresh", {PSA + k: v for k, v in labels.items()})[1])
    for ns, labels in [("old-pods", {"enforce": "restricted"}), ("old-pods", {"enforce": "baseline", "enforce-version": "v1.20"}),
                       ("old-pods", {"warn": "restricted"}), ("old-pods", {"enforce": "bad"}), ("plain", {"enforce": "restricted"}),
                       ("psa-restr", {"enforce": "baseline"})]:
        yield ("%s gets %s" % (ns, labels), "UPDATE", V1 + "/namespaces/" + ns, lambda o, got=labels: o["metadata"].setdefault("labels", {}).update(
            {PSA + k: v for k, v in got.items()}))


# ---- All the others ----

def tolerations(*list_):
    return pod(tolerations=list(list_))


def plain_cases():
    def create(ns, sentence, made, plural="pods", api=V1):
        return (sentence, "CREATE", "%s/namespaces/%s/%s" % (api, ns, plural), made)

    yield create("plain", "a plain pod", pod())
    yield create("plain", "a pod whose name is made", pod(generate="gen-"))
    yield create("nowhere", "a pod in no namespace", pod())
    yield create("going", "a pod in a namespace that goes", pod())
    yield create("going", "a config map in a namespace that goes", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}}, "configmaps")
    yield create("nowhere", "a deployment in no namespace", template("Deployment", APPS, "deployments", pod()), "deployments", APPS)
    for ns in ("default", "kube-system", "kube-public"):
        yield ("%s is to be deleted" % ns, "DELETE", V1 + "/namespaces/" + ns, None)
    yield ("a namespace is to be deleted", "DELETE", V1 + "/namespaces/plain", None)
    # limit ranges
    yield create("ranges", "all from the limit range", pod())
    yield create("ranges", "two containers and an init container", {**pod(), "spec": {
        "containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "i:1", **resources(limits={"cpu": "1"})}],
        "initContainers": [{"name": "i", "image": "i:1"}]}})
    yield create("ranges", "a limit above the maximum", pod(resources({"cpu": "500m"}, {"cpu": "2"})))
    yield create("ranges", "a request above the maximum", pod(resources({"cpu": "2"}, {"cpu": "2"})))
    yield create("ranges", "a request below the minimum", pod(resources({"cpu": "10m"}, {"cpu": "50m"})))
    yield create("ranges", "a ratio above the maximum", pod(resources({"cpu": "50m"}, {"cpu": "900m"})))
    yield create("ranges", "two containers with the same fault", {**pod(), "spec": {
        "containers": [{"name": n, "image": "i:1", **resources({"cpu": "500m"}, {"cpu": "2"})} for n in "cd"]}})
    yield create("ranges2", "a default, and a range of another type", pod())
    yield create("ranges2", "more than a pod may have", {**pod(), "spec": {"containers": [
        {"name": n, "image": "i:1", **resources({"cpu": "1"}, {"memory": "3Gi"})} for n in "cd"]}})
    yield create("ranges2", "less than a pod must have", pod(resources({"cpu": "1m"}, {"memory": "1Gi"})))
    yield create("ranges2", "no request of what a pod must have", pod(resources(None, {"memory": "1Gi"})))
    yield create("ranges2", "overhead does not count for a range", pod(resources({"cpu": "1"}, {"memory": "4Gi"}), runtimeClassName="heavy"))
    yield create("ranges2", "requests of the pod as a whole", pod(resources=resources({"cpu": "1m", "memory": "3Gi"}, {"memory": "3Gi"})["resources"]))
    for storage in ("500Mi", "1Gi", "2Gi", "3Gi"):
        yield create("claims", "a claim of " + storage, claim(storage), "persistentvolumeclaims")
    # service accounts
    yield create("accounts", "no such account", pod(serviceAccountName="nope"))
    yield create("accounts", "pull secrets of the account", pod(serviceAccountName="pulling"))
    yield create("accounts", "its own pull secrets", pod(serviceAccountName="pulling", imagePullSecrets=[{"name": "own"}]))
    yield create("accounts", "an account without a token", pod(serviceAccountName="silent"))
    yield create("accounts", "a pod that wants one all the same", pod(serviceAccountName="silent", automountServiceAccountToken=True))
    yield create("accounts", "a pod that wants none", pod(automountServiceAccountToken=False))
    yield create("accounts", "something is mounted there already", pod(
        {"volumeMounts": [{"name": "v", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]}, volumes=[{"name": "v", "emptyDir": {}}]))
    yield create("accounts", "a volume of that name", pod(volumes=[{"name": "kube-api-access-mine", "emptyDir": {}}]))
    yield create("accounts", "init containers, too", {**pod(), "spec": {
        "containers": [{"name": "c", "image": "i:1"}], "initContainers": [{"name": "i", "image": "i:1"}]}})
    yield create("accounts", "a secret of the account", pod(serviceAccountName="strict", volumes=[{"name": "v", "secret": {"secretName": "mine"}}]))
    yield create("accounts", "a volume with another secret", pod(serviceAccountName="strict", volumes=[{"name": "v", "secret": {"secretName": "other"}}]))
    other = {"name": "E", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}
    yield create("accounts", "a variable of another secret", pod({"env": [other]}, serviceAccountName="strict"))
    yield create("accounts", "variables of another secret", pod({"envFrom": [{"secretRef": {"name": "other"}}]}, serviceAccountName="strict"))
    yield create("accounts", "an init container's variable", pod(serviceAccountName="strict", initContainers=[{"name": "i", "image": "i:1", "env": [other]}]))
    yield create("accounts", "another pull secret", pod(serviceAccountName="strict", imagePullSecrets=[{"name": "own"}]))
    mirror = {"kubernetes.io/config.mirror": "x"}
    yield create("accounts", "a mirror pod with an account", pod(annotations=mirror, serviceAccountName="default", nodeName="n1"))
    yield create("accounts", "a mirror pod with a secret", pod(annotations=mirror, nodeName="n1", volumes=[{"name": "v", "secret": {"secretName": "s"}}]))
    yield create("accounts", "a mirror pod with a token", pod(annotations=mirror, nodeName="n1", volumes=[
        {"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]))
    yield create("accounts", "a mirror pod", pod(annotations=mirror, nodeName="n1"))
    # nodes
    yield ("a new node", "CREATE", V1 + "/nodes", cluster(V1, "v1", "nodes", "Node", "n9")[1])
    yield ("a new node with the taint", "CREATE", V1 + "/nodes", cluster(V1, "v1", "nodes", "Node", "n9", spec={
        "taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]})[1])
    yield ("a new node with another taint", "CREATE", V1 + "/nodes", cluster(V1, "v1", "nodes", "Node", "n9", spec={
        "taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]})[1])
    # priorities
    for name in ("high", "low", "usual", "nope", "system-node-critical", "system-cluster-critical"):
        yield create("plain", "priority class " + name, pod(priorityClassName=name))
    yield create("plain", "the priority of the class", pod(priorityClassName="high", priority=1000))
    yield create("plain", "another priority", pod(priorityClassName="high", priority=5))
    yield create("plain", "another priority than the default", pod(priority=5))
    yield create("plain", "another preemption policy", pod(priorityClassName="high", preemptionPolicy="PreemptLowerPriority"))
    yield create("plain", "the preemption policy of the class", pod(priorityClassName="high", preemptionPolicy="Never"))
    yield create("plain", "another preemption policy than the default", pod(preemptionPolicy="Never"))
    pc = lambda name, **more: cluster(SCHEDULING, "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", name, value=3, **more)[1]
    yield ("a second default class", "CREATE", SCHEDULING + "/priorityclasses", pc("gd2", globalDefault=True))
    yield ("one more class", "CREATE", SCHEDULING + "/priorityclasses", pc("c3"))
    yield ("a class becomes default", "UPDATE", SCHEDULING + "/priorityclasses/low", lambda o: o.update(globalDefault=True))
    yield ("the default class stays", "UPDATE", SCHEDULING + "/priorityclasses/usual", lambda o: o["metadata"].update(labels={"a": "b"}))
    yield ("priority is left out", "UPDATE", V1 + "/namespaces/plain/pods/loose", lambda o: [o["spec"].pop(k) for k in ("priority", "preemptionPolicy")])
    yield ("a pod that is older than the limit range", "UPDATE", V1 + "/namespaces/ranges/pods/early", lambda o: o["metadata"].update(labels={"a": "b"}))
    # tolerations
    yield create("plain", "tolerates everything", tolerations({"operator": "Exists"}))
    yield create("plain", "tolerates one of both", tolerations({"key": "node.kubernetes.io/not-ready", "operator": "Exists"}))
    yield create("plain", "tolerates scheduling only", tolerations({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}))
    yield ("tolerations come again", "UPDATE", V1 + "/namespaces/plain/pods/loose", lambda o: o["spec"].update(tolerations=[
        {"key": "x", "operator": "Exists"}] + o["spec"]["tolerations"]))
    # storage
    yield create("plain", "the default class", claim(), "persistentvolumeclaims")
    yield create("plain", "no class at all", claim(storageClassName=""), "persistentvolumeclaims")
    yield create("plain", "another class", claim(storageClassName="fixed"), "persistentvolumeclaims")
    yield create("plain", "a class by annotation", {**claim(), "metadata": {"name": "b", "annotations": {"volume.beta.kubernetes.io/storage-class": "fixed"}}}, "persistentvolumeclaims")
    yield create("plain", "a finalizer that is there", {**claim(), "metadata": {"name": "b", "finalizers": ["x.y/z", "kubernetes.io/pvc-protection"]}}, "persistentvolumeclaims")
    pv = cluster(V1, "v1", "persistentvolumes", "PersistentVolume", "v9", spec={
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}})[1]
    yield ("a volume", "CREATE", V1 + "/persistentvolumes", pv)
    yield ("a volume attributes class", "CREATE", STORAGE + "/volumeattributesclasses", cluster(
        STORAGE, "storage.k8s.io/v1", "volumeattributesclasses", "VolumeAttributesClass", "gold", driverName="x.y", parameters={"a": "b"})[1])
    for name in ("grows", "stays", "waits"):
        yield ("%s wants more" % name, "UPDATE", V1 + "/namespaces/plain/persistentvolumeclaims/" + name,
               lambda o: o["spec"]["resources"]["requests"].update(storage="2Gi"))
    yield ("a claim loses its finalizer", "UPDATE", V1 + "/namespaces/plain/persistentvolumeclaims/grows", lambda o: o["metadata"].update(finalizers=["x.y/z"]))
    yield ("grows gets a label", "UPDATE", V1 + "/namespaces/plain/persistentvolumeclaims/grows", lambda o: o["metadata"].update(labels={"a": "b"}))
    # runtime classes
    for name in ("heavy", "placed", "light", "nope"):
        yield create("plain", "runtime class " + name, pod(runtimeClassName=name))
    yield create("plain", "overhead without a class", pod(overhead={"cpu": "1"}))
    yield create("plain", "overhead of another amount", pod(runtimeClassName="heavy", overhead={"cpu": "1"}))
    yield create("plain", "overhead of the class", pod(runtimeClassName="heavy", overhead={"cpu": "250m", "memory": "120Mi"}))
    yield create("plain", "overhead, but the class has none", pod(runtimeClassName="light", overhead={"cpu": "1"}))
    yield create("psa-base", "overhead is refused behind what is dangerous", pod(runtimeClassName="light", overhead={"cpu": "1"}, hostNetwork=True))
    yield create("plain", "a node selector that differs", pod(runtimeClassName="placed", nodeSelector={"kind": "bare"}))
    yield create("plain", "a node selector besides", pod(runtimeClassName="placed", nodeSelector={"kind": "vm", "a": "b"}))
    yield create("plain", "tolerations that cover the class'", pod(runtimeClassName="placed", tolerations=[{"operator": "Exists"}]))
    yield create("plain", "tolerations that the class covers", pod(runtimeClassName="placed", tolerations=[
        {"key": "vm", "operator": "Equal", "value": "1", "effect": "NoSchedule"}]))
    for seconds in (30, 60, 90):
        yield create("plain", "a toleration for %d s beside the class'" % seconds, pod(runtimeClassName="timed", tolerations=[
            {"key": "t", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]))
    yield create("plain", "a toleration without end beside the class'", pod(runtimeClassName="timed", tolerations=[
        {"key": "t", "operator": "Exists", "effect": "NoExecute"}]))
    # network
    ingress = {"kind": "Ingress", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "i"},
               "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}
    yield create("plain", "an ingress without a class", ingress, "ingresses", NETWORK)
    yield create("plain", "an ingress with a class", {**ingress, "spec": {**ingress["spec"], "ingressClassName": "x"}}, "ingresses", NETWORK)
    yield create("plain", "an ingress with an annotation", {**ingress, "metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "x"}}}, "ingresses", NETWORK)
    # topology
    yield create("plain", "a pod that is bound already", pod(nodeName="n1", labels={"topology.kubernetes.io/zone": "other"}))
    yield create("plain", "a pod on a node that is not there", pod(nodeName="n77"))
    # resize
    yield ("more than the node has", "UPDATE", V1 + "/namespaces/plain/pods/bound/resize",
           lambda o: o["spec"]["containers"][0]["resources"].update(requests={"cpu": "3", "memory": "9Gi"}, limits={"cpu": "4"}))
    yield ("as much as the node has", "UPDATE", V1 + "/namespaces/plain/pods/bound/resize",
           lambda o: o["spec"]["containers"][0]["resources"].update(requests={"cpu": "1", "memory": "1Gi"}, limits={"cpu": "2"}))
    yield ("a resize past the limit range", "UPDATE", V1 + "/namespaces/ranges/pods/small/resize",
           lambda o: o["spec"]["containers"][0]["resources"]["limits"].update(cpu="2"))
    yield ("a resize within the limit range", "UPDATE", V1 + "/namespaces/ranges/pods/small/resize",
           lambda o: o["spec"]["containers"][0]["resources"]["limits"].update(cpu="600m"))


def quota_cases():
    def create(ns, sentence, made, plural="pods", api=V1):
        return (sentence, "CREATE", "%s/namespaces/%s/%s" % (api, ns, plural), made)

    yield create("q-pods", "one pod too many", pod())
    yield create("q-silent", "a quota without a status", pod())
    yield create("q-unknown", "use that is not known", pod(resources({"cpu": "1"}, {"cpu": "1"})))
    yield create("q-unknown", "nothing said, and use that is not known", pod())
    full = ({"cpu": "100m", "memory": "1Mi", "example.com/gpu": "1"}, {"memory": "64Mi", "example.com/gpu": "1"})
    yield create("q-sums", "within all sums", pod(resources(*full)))
    yield create("q-sums", "nothing said of sums", pod())
    yield create("q-sums", "requests said only", pod(resources({"cpu": "100m"})))
    yield create("q-sums", "two containers that say nothing", {**pod(), "spec": {"containers": [
        {"name": "c", "image": "i:1"}, {"name": "b", "image": "i:1", **resources(*full)}, {"name": "a", "image": "i:1"}]}})
    yield create("q-sums", "an init container says nothing", pod(resources(*full), initContainers=[{"name": "i", "image": "i:1"}]))
    yield create("q-sums", "too much CPU", pod(resources({**full[0], "cpu": "600m"}, full[1])))
    yield create("q-sums", "too much of all", pod(resources({"cpu": "2", "memory": "3Gi", "ephemeral-storage": "2Gi", "example.com/gpu": "3"},
                                                         {"memory": "3Gi", "example.com/gpu": "3"})))
    yield create("q-sums", "too many devices", pod(resources({**full[0], "example.com/gpu": "2"}, {**full[1], "example.com/gpu": "2"})))
    yield create("q-sums", "overhead counts", pod(resources({**full[0], "cpu": "400m"}, full[1]), runtimeClassName="heavy"))
    yield create("q-short", "nothing said of short names", pod())
    yield create("q-short", "too much by short names", pod(resources({"cpu": "600m", "memory": "1Mi"})))
    yield create("q-short", "huge pages", pod(resources({"cpu": "1m", "memory": "1Mi", "hugepages-2Mi": "6Mi"}, {"cpu": "1m", "memory": "1Mi", "hugepages-2Mi": "6Mi"})))
    yield create("q-sums", "the pod as a whole says all", pod(resources=resources({"cpu": "100m", "memory": "1Mi"}, {"memory": "1Mi"})["resources"]))
    yield create("q-short", "the pod as a whole says too much", pod(resources=resources({"cpu": "900m", "memory": "1Mi"}, {"memory": "1Mi"})["resources"]))
    yield create("q-scopes", "best effort", pod())
    yield create("q-scopes", "ends some time", pod(resources({"cpu": "1m"}), activeDeadlineSeconds=60))
    yield create("q-scopes", "of a class that is counted", pod(resources({"cpu": "1m"}), priorityClassName="high"))
    yield create("q-scopes", "of a class that is not", pod(resources({"cpu": "1m"}), priorityClassName="low"))
    term = {"topologyKey": "t", "labelSelector": {"matchLabels": {"a": "b"}}}
    yield create("q-scopes", "near pods elsewhere", pod(resources({"cpu": "1m"}), affinity={"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{**term, "namespaces": ["x"]}]}}))
    yield create("q-scopes", "rather not near pods elsewhere", pod(resources({"cpu": "1m"}), affinity={"podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {**term, "namespaceSelector": {}}}]}}))
    yield create("q-scopes", "near pods at home", pod(resources({"cpu": "1m"}), affinity={"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [term]}}))
    yield create("q-scopes", "much CPU", pod(resources({"cpu": "200m"})))
    yield create("q-scopes", "much CPU, but it ends", pod(resources({"cpu": "200m"}), activeDeadlineSeconds=60))
    yield create("q-scopes", "a memory limit alone is not best effort", pod(resources(None, {"memory": "1Mi"})))
    yield create("q-scopes", "a claim of a class of attributes", claim(volumeAttributesClassName="gold"), "persistentvolumeclaims")
    yield create("q-scopes", "a claim of another", claim(volumeAttributesClassName="iron"), "persistentvolumeclaims")
    yield ("a pod gets a deadline", "UPDATE", V1 + "/namespaces/q-deadline/pods/endless", lambda o: o["spec"].update(activeDeadlineSeconds=60))
    yield ("a pod gets a label, which no quota counts", "UPDATE", V1 + "/namespaces/q-deadline/pods/endless", lambda o: o["metadata"].update(labels={"a": "b"}))
    yield create("q-two", "the second of two quotas", pod(resources(None, {"cpu": "1"})))
    yield create("q-objects", "one config map too many", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}}, "configmaps")
    yield create("q-objects", "one more secret", {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "m"}}, "secrets")
    yield create("q-objects", "one deployment too many", template("Deployment", APPS, "deployments", pod()), "deployments", APPS)
    yield create("q-objects", "a replica set, which nobody counts", template("ReplicaSet", APPS, "replicasets", pod()), "replicasets", APPS)
    yield create("q-objects", "one lease too many", {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "l"}}, "leases", "/apis/coordination.k8s.io/v1")
    for kind, ports in (("ClusterIP", 3), ("NodePort", 1), ("NodePort", 2), ("LoadBalancer", 1), ("LoadBalancer", 2)):
        spec = {"type": kind, "ports": [{"name": "p%d" % i, "port": 80 + i} for i in range(ports)]}
        yield create("q-objects", "a service of type %s with %d ports" % (kind, ports), {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": spec}, "services")
    yield create("q-objects", "a load balancer without node ports", {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": {
        "type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}}, "services")
    yield ("a service gets node ports", "UPDATE", V1 + "/namespaces/q-objects/services/inner", lambda o: o["spec"].update(type="NodePort"))
    yield create("q-objects", "a claim of the default class", claim("2Gi"), "persistentvolumeclaims")
    yield create("q-objects", "a small claim of the default class", claim("1Gi"), "persistentvolumeclaims")
    yield create("q-objects", "a claim of another class", claim("8Gi", storageClassName="fixed"), "persistentvolumeclaims")
    yield create("q-objects", "part of a byte counts whole", claim("1500m", storageClassName="fixed"), "persistentvolumeclaims")
    devices = lambda n, mode="ExactCount": {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "r"}, "spec": {"devices": {"requests": [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "allocationMode": mode, **({"count": n} if mode == "ExactCount" else {})}}]}}}
    yield create("q-objects", "a claim of one device", devices(1), "resourceclaims", "/apis/resource.k8s.io/v1")
    yield create("q-objects", "a claim of two devices", devices(2), "resourceclaims", "/apis/resource.k8s.io/v1")
    yield create("q-objects", "a claim of all devices", devices(0, "All"), "resourceclaims", "/apis/resource.k8s.io/v1")
    yield ("a resize past the quota", "UPDATE", V1 + "/namespaces/q-sums/pods/counted/resize",
           lambda o: o["spec"]["containers"][0]["resources"].update(requests={"cpu": "1", "memory": "1Mi"}, limits={"cpu": "1", "memory": "64Mi"}))
    yield ("a resize within the quota", "UPDATE", V1 + "/namespaces/q-sums/pods/counted/resize",
           lambda o: o["spec"]["containers"][0]["resources"].update(requests={"cpu": "200m", "memory": "1Mi"}, limits={"cpu": "200m", "memory": "64Mi"}))


# ---- With plugins that are off unless somebody wants them ----

MORE = ["AlwaysPullImages", "DenyServiceExternalIPs", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology", "NodeRestriction",
        "PodNodeSelector", "PodTolerationRestriction"]
NODE_TOKEN = "node-token"


def more_cases():
    def create(ns, sentence, made, plural="pods", api=V1):
        return (sentence, "CREATE", "%s/namespaces/%s/%s" % (api, ns, plural), made)

    yield create("plain", "always pulled", pod({"imagePullPolicy": "Never"}, volumes=[{"name": "v", "image": {"reference": "i"}}]))
    yield ("an update without new images", "UPDATE", V1 + "/namespaces/plain/pods/loose", lambda o: o["metadata"].update(labels={"a": "b"}))
    yield create("selecting", "the namespace's node selector", pod(nodeSelector={"a": "b"}))
    yield create("selecting", "another than the namespace's", pod(nodeSelector={"disk": "hdd"}))
    yield create("tolerating", "tolerations of the namespace", pod())
    yield create("tolerating", "tolerations that are not allowed", tolerations({"key": "z", "operator": "Exists"}))
    yield create("plain", "memory pressure is tolerated by who asks for something", pod(resources({"cpu": "1m"})))
    yield create("plain", "extended resources are tolerated", pod(resources({"example.com/x": "1"}, {"example.com/x": "1"}), initContainers=[
        {"name": "i", "image": "i", **resources({"example.com/a": "1"}, {"example.com/a": "1"})}]))
    yield create("plain", "external addresses", {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": {
        "ports": [{"port": 1}], "externalIPs": ["1.1.1.1"]}}, "services")
    yield ("external addresses that stay", "UPDATE", V1 + "/namespaces/plain/services/ext", lambda o: o["metadata"].update(labels={"a": "b"}))
    yield ("one more external address", "UPDATE", V1 + "/namespaces/plain/services/ext", lambda o: o["spec"].update(externalIPs=["1.2.3.4", "2.2.2.2"]))
    anti = lambda key: pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": {"a": "b"}}}]}})
    yield create("plain", "not on the same host", anti("kubernetes.io/hostname"))
    yield create("plain", "not in the same zone", anti("topology.kubernetes.io/zone"))
    # what a node may do
    mirror = {"kubernetes.io/config.mirror": "x"}
    as_node = [
        create("plain", "a node makes a pod", pod()),
        create("plain", "a node makes a mirror pod of another node", pod(annotations=mirror, nodeName="n2")),
        create("plain", "a node makes a mirror pod without an owner", pod(annotations=mirror, nodeName="n1")),
        create("plain", "a node makes a mirror pod with a strange owner", {**pod(annotations=mirror, nodeName="n1"), "metadata": {
            "name": "p", "annotations": mirror, "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "u", "controller": True}]}}),
        create("plain", "an owner that does not control", {**pod(annotations=mirror, nodeName="n1"), "metadata": {
            "name": "p", "annotations": mirror, "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u"}]}}),
        create("plain", "an owner that blocks", {**pod(annotations=mirror, nodeName="n1"), "metadata": {
            "name": "p", "annotations": mirror, "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u", "controller": True, "blockOwnerDeletion": True}]}}),
        ("a node deletes its pod", "DELETE", V1 + "/namespaces/plain/pods/bound", None),
        ("a node deletes another pod", "DELETE", V1 + "/namespaces/plain/pods/loose", None),
        ("a node changes a pod", "UPDATE", V1 + "/namespaces/plain/pods/bound", lambda o: o["metadata"].update(labels={"a": "b"})),
        ("a node changes labels by status", "UPDATE", V1 + "/namespaces/plain/pods/bound/status", lambda o: o["metadata"].update(labels={"a": "b"})),
        ("a node changes the status of its pod", "UPDATE", V1 + "/namespaces/plain/pods/bound/status", lambda o: o["status"].update(phase="Running")),
        ("a node changes the status of another pod", "UPDATE", V1 + "/namespaces/plain/pods/loose/status", lambda o: o["status"].update(phase="Running")),
        ("a node resizes a pod", "UPDATE", V1 + "/namespaces/plain/pods/bound/resize", lambda o: o["spec"]["containers"][0]["resources"]["requests"].update(cpu="600m")),
        ("a node makes another node", "CREATE", V1 + "/nodes", cluster(V1, "v1", "nodes", "Node", "n8")[1]),
        ("a node changes another node", "UPDATE", V1 + "/nodes/n2", lambda o: o["metadata"].update(labels={"a": "b"})),
        ("a node gives itself a harmless label", "UPDATE", V1 + "/nodes/n1", lambda o: o["metadata"]["labels"].update({"a": "b", "kubernetes.io/os": "linux", "x.node.kubernetes.io/y": "1", "notkubernetes.io/a": "1", "xk8s.io/b": "1", "a.b/kubernetes.io": "1"})),
        ("a node gives itself labels that it must not", "UPDATE", V1 + "/nodes/n1", lambda o: o["metadata"]["labels"].update(
            {"node-restriction.kubernetes.io/y": "1", "foo.kubernetes.io/z": "1", "k8s.io/b": "2", "kubernetes.io/c": "3"})),
        ("a node takes a label from itself that it must not", "UPDATE", V1 + "/nodes/n1", lambda o: o["metadata"]["labels"].pop("node-restriction.kubernetes.io/x")),
        ("a node taints itself", "UPDATE", V1 + "/nodes/n1", lambda o: o["spec"].update(taints=[{"key": "a", "effect": "NoSchedule"}])),
        ("a node gets an owner", "UPDATE", V1 + "/nodes/n1", lambda o: o["metadata"].update(ownerReferences=[{"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "u"}])),
        ("a node changes a claim", "UPDATE", V1 + "/namespaces/plain/persistentvolumeclaims/grows", lambda o: o["metadata"].update(labels={"a": "b"})),
        ("a node changes the capacity of a claim", "UPDATE", V1 + "/namespaces/plain/persistentvolumeclaims/grows/status", lambda o: o["status"].update(capacity={"storage": "2Gi"})),
        create("plain", "a node makes a lease elsewhere", {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "n1"}}, "leases", "/apis/coordination.k8s.io/v1"),
        create("kube-node-lease", "a node makes the lease of another", {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "n2"}}, "leases", "/apis/coordination.k8s.io/v1"),
        create("kube-node-lease", "a node makes its lease", {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "n1"}}, "leases", "/apis/coordination.k8s.io/v1"),
        ("a node makes a CSINode of another", "CREATE", STORAGE + "/csinodes", cluster(STORAGE, "storage.k8s.io/v1", "csinodes", "CSINode", "n2", spec={"drivers": []})[1]),
        ("a node makes its CSINode", "CREATE", STORAGE + "/csinodes", cluster(STORAGE, "storage.k8s.io/v1", "csinodes", "CSINode", "n1", spec={"drivers": []})[1]),
        ("a node makes slices of another", "CREATE", "/apis/resource.k8s.io/v1/resourceslices", cluster("", "resource.k8s.io/v1", "", "ResourceSlice", "s", spec={
            "driver": "d.x", "nodeName": "n2", "pool": {"name": "n2", "resourceSliceCount": 1, "generation": 1}})[1]),
        ("a node makes its slices", "CREATE", "/apis/resource.k8s.io/v1/resourceslices", cluster("", "resource.k8s.io/v1", "", "ResourceSlice", "s", spec={
            "driver": "d.x", "nodeName": "n1", "pool": {"name": "n1", "resourceSliceCount": 1, "generation": 1}})[1]),
        ("a node wants a token without a pod", "CREATE", V1 + "/namespaces/plain/serviceaccounts/default/token", {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}),
        ("a node wants a token without a uid", "CREATE", V1 + "/namespaces/plain/serviceaccounts/default/token", {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {
            "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "bound"}}}),
        ("a node wants a token for a pod that was replaced", "CREATE", V1 + "/namespaces/plain/serviceaccounts/default/token", {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {
            "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "bound", "uid": "other"}}}),
        create("plain", "a node evicts another pod", {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "loose"}}, "pods/loose/eviction"),
    ]
    for case in as_node:
        yield case + (NODE_TOKEN,)
