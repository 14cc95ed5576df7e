"""Rows for new pods: containers, security, places to run, and what is warned of; see rule_rows.py."""
from rule_rows import DROP, Rows

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}

pods = Rows("v1", "pods", POD)
create = pods.create
C = "spec.containers.0."
I = "spec.initContainers.0."
LONG = "x" * 64


def container(**fields):
    return dict({"name": "c", "image": "i"}, **fields)


def each(what, path, values):
    for value in values:
        create("%s: %s" % (what, str(value)[:60]), {path: value})


# ---- Names, labels, annotations ----
create("a pod")
create("a pod without anything", {"spec": {}})
create("no spec", {"spec": DROP})
each("a name", "metadata.name", ["", "A", "a.b", "a_b", "-a", "a" * 254, "a" * 253, "a..b"])
each("a label", "metadata.labels", [{"a b": "c"}, {"a": "b c"}, {"a/b/c": "d"}, {"": ""}])
each("an annotation", "metadata.annotations", [{"a b": "c"}, {"A.b/C": "any text\n"}])
each("a finalizer", "metadata.finalizers", [["x"], ["orphan"], ["a/b"], ["a b"], ["orphan", "foregroundDeletion"]])
create("an owner without a name", {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "", "uid": "1"}]})
create("a status of its own", {"status": {"phase": "Running", "podIP": "1.2.3.4", "reason": "no"}})
create("a class of its own", {"status": {"qosClass": "Guaranteed"}})
create("another namespace", {"metadata.namespace": "default"})
create("a generation", {"metadata.generation": 7})

# ---- Images and names of containers ----
each("an image", C + "image", ["", " i", "i ", "i:latest", "i:1", "i@sha256:" + "0" * 64, "h:5000/i", "h:5000/i:2"])
create("no image", {C + "image": DROP})
each("a container's name", C + "name", ["", "C", "c.c", LONG, "c_"])
create("two containers of a name", {"spec.containers.1": container()})
create("no name at all", {"spec.containers": [{}]})
create("no containers", {"spec.containers": []})
create("an init container of the same name", {"spec.initContainers": [container()]})
create("two init containers of a name", {"spec.initContainers": [container(name="a"), container(name="a")]})
create("two init containers without names", {"spec.initContainers": [container(name=""), container(name="")]})
create("ephemeral containers", {"spec.ephemeralContainers": [container(name="e")]})
create("an ephemeral container that is wrong in all ways", {"spec.ephemeralContainers": [container(
    image=" i", ports=[{"containerPort": 1}], resources={"limits": {"cpu": "1"}}, livenessProbe={"exec": {"command": ["x"]}},
    lifecycle={"preStop": {"sleep": {"seconds": 1}}}, targetContainerName="x", restartPolicy="Always",
    resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
    volumeMounts=[{"name": "v", "mountPath": "/x", "subPath": "a", "subPathExpr": "b"}])]})
each("a pull policy", C + "imagePullPolicy", ["", "Never", "Sometimes"])
each("a message policy", C + "terminationMessagePolicy", ["", "FallbackToLogsOnError", "None"])
create("several mistakes at once", {C + "name": "A", C + "image": "", C + "imagePullPolicy": "x", C + "terminationMessagePolicy": "y",
       "spec.restartPolicy": "z", "spec.dnsPolicy": "w", "metadata.labels": {"a b": "c d"}})
each("a working directory", C + "workingDir", ["", "relative"])

# ---- Ports ----
each("ports", C + "ports", [
    [{"containerPort": 0}], [{"containerPort": 65536}], [{"containerPort": -1}], [{"containerPort": 80}], [{"name": "http"}],
    [{"containerPort": 80, "protocol": "HTTP"}], [{"containerPort": 80, "name": "A"}], [{"containerPort": 80, "name": "1"}],
    [{"containerPort": 80, "name": "a--b"}], [{"containerPort": 80, "name": "x" * 16}], [{"containerPort": 80, "hostPort": 70000}],
    [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}],
    [{"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1}],
    [{"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1, "protocol": "UDP"}],
    [{"containerPort": 80, "hostPort": 1}, {"containerPort": 80, "hostPort": 1, "hostIP": "1.2.3.4"}],
    [{"containerPort": 80}, {"containerPort": 80}], [{"containerPort": 80}, {"containerPort": 80, "hostPort": 8}],
    [{"containerPort": 80, "hostIP": "1.2.3.4", "name": "n"}], [{"containerPort": 80, "protocol": ""}],
    [{"containerPort": 1, "hostPort": 5, "hostIP": "1.1.1.1"}, {"containerPort": 1, "hostPort": 5, "hostIP": "1.1.1.2"}]])
create("ports of two containers", {C + "ports": [{"containerPort": 80, "hostPort": 1, "name": "a"}],
       "spec.containers.1": container(name="d", ports=[{"containerPort": 80, "hostPort": 1, "name": "a"}])})
create("ports of an init container", {"spec.initContainers": [container(name="i", ports=[
    {"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1}])]})
create("ports of the second init container", {"spec.initContainers": [container(name="h"), container(name="i", ports=[
    {"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1}])]})
create("the host's network", {"spec.hostNetwork": True, C + "ports": [{"containerPort": 80}]})
create("the host's network and another port", {"spec.hostNetwork": True, C + "ports": [{"containerPort": 80, "hostPort": 81}]})

# ---- Variables ----
each("a variable", C + "env", [
    [{"name": "A", "value": "b"}], [{"name": ""}], [{"name": "a b"}], [{"name": "a=b"}], [{"name": "1"}], [{"name": "\u00e4"}],
    [{"name": "A", "valueFrom": {}}], [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}, "secretKeyRef": {"name": "s", "key": "k"}}}],
    [{"name": "A"}, {"name": "A", "value": "x"}], [{"name": "A"}, {"name": "A", "value": "$(A)x"}], [{"name": "A"}, {"name": "A", "value": "$(A)"}]])
each("a field", C + "env.0", [{"name": "A", "valueFrom": {"fieldRef": f}} for f in [
    {"fieldPath": ""}, {"fieldPath": "metadata.labels"}, {"fieldPath": "metadata.labels['a']"}, {"fieldPath": "metadata.labels['a b']"},
    {"fieldPath": "metadata.annotations['A']"}, {"fieldPath": "metadata.name['a']"}, {"fieldPath": "spec.nope"}, {"fieldPath": "spec.host"},
    {"fieldPath": "status.phase"}, {"fieldPath": "status.podIPs"}, {"fieldPath": "metadata.name", "apiVersion": "v2"},
    {"fieldPath": "spec.restartPolicy"}, {"fieldPath": "['a']"}]])
each("a resource", C + "env.0", [{"name": "A", "valueFrom": {"resourceFieldRef": f}} for f in [
    {"resource": ""}, {"resource": "limits.cpu"}, {"resource": "limits.cpu", "divisor": "1m"}, {"resource": "limits.cpu", "divisor": "2"},
    {"resource": "limits.memory", "divisor": "1Mi"}, {"resource": "limits.memory", "divisor": "3Mi"}, {"resource": "limits.nope"},
    {"resource": "requests.ephemeral-storage", "divisor": "2"}, {"resource": "limits.hugepages-2Mi", "divisor": "2"},
    {"resource": "requests.hugepages-2Mi"}]])
each("a key", C + "env.0", [{"name": "A", "valueFrom": {"configMapKeyRef": f}} for f in [
    {"name": "a", "key": "b"}, {"name": "", "key": ""}, {"name": "A", "key": "a b"}, {"name": "a", "key": ".."}, {"name": "a", "key": "..x"}]])
create("a file's key", {C + "env.0": {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "x", "key": "K"}}},
       "spec.volumes.0": {"name": "v", "emptyDir": {}}})
each("a wrong file's key", C + "env.0", [{"name": "A", "valueFrom": {"fileKeyRef": f}} for f in [
    {"volumeName": "", "path": "", "key": ""}, {"volumeName": "V", "path": "../x", "key": "a=b"}, {"volumeName": "v", "path": "x", "key": "K"}]])
create("a file's key in another volume", {C + "env.0": {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "x", "key": "K"}}},
       "spec.volumes.0": {"name": "v", "secret": {"secretName": "s"}}})
each("variables from", C + "envFrom", [
    [{"configMapRef": {"name": "a"}}], [{}], [{"configMapRef": {"name": ""}}], [{"secretRef": {"name": "A"}}], [{"secretRef": {"name": "a-"}}],
    [{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}], [{"prefix": "a=", "secretRef": {"name": "a"}}], [{"prefix": "1"}]])

# ---- Resources ----
each("resources", C + "resources", [
    {"limits": {"cpu": "1"}}, {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, {"requests": {"cpu": "-1"}},
    {"limits": {"nope": "1"}}, {"limits": {"a/b": "1500m"}}, {"limits": {"a/b": "1"}}, {"requests": {"a/b": "1"}},
    {"requests": {"a/b": "1"}, "limits": {"a/b": "2"}}, {"limits": {"pods": "1"}}, {"limits": {"storage": "1"}},
    {"limits": {"hugepages-2Mi": "2Mi"}}, {"limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}}, {"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}},
    {"limits": {"hugepages-x": "2Mi", "memory": "1"}}, {"requests": {"hugepages-2Mi": "2Mi", "cpu": "1"}},
    {"limits": {"requests.a/b": "1"}}, {"limits": {"kubernetes.io/x": "1"}}, {"limits": {"a b/c": "1"}}, {"limits": {"requests.cpu": "1"}},
    {"limits": {"memory": "1m"}}, {"limits": {"ephemeral-storage": "1500m"}}, {"requests": {"memory": "100.5"}},
    {"limits": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
    {"limits": {"cpu": "0", "memory": "0"}}, {"requests": {"cpu": "100u"}}, {"claims": [{"name": "a"}]}, {"claims": [{"name": ""}]}])
create("claims", {"spec.resourceClaims": [{"name": "a", "resourceClaimName": "x"}, {"name": "b", "resourceClaimTemplateName": "y"}],
       C + "resources.claims": [{"name": "a"}, {"name": "b", "request": "r"}]})
create("claims that are used twice", {"spec.resourceClaims": [{"name": "a", "resourceClaimName": "x"}, {"name": "b", "resourceClaimName": "x"}],
       C + "resources.claims": [{"name": "a", "request": "r"}, {"name": "a"}, {"name": "a"}, {"name": "c"}, {"name": "b", "request": "R"},
                                {"name": "b", "request": "s"}, {"name": "b", "request": "s"}]})
each("claims of the pod", "spec.resourceClaims", [
    [{"name": "a"}], [{"name": ""}], [{"name": "A", "resourceClaimName": "A"}], [{"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}],
    [{"name": "a", "resourceClaimName": "x"}, {"name": "a", "resourceClaimTemplateName": "Y"}]])
create("claims of a static pod", {"metadata.annotations": {"kubernetes.io/config.mirror": "x"}, "spec.nodeName": "n",
       "spec.resourceClaims": [{"name": "a", "resourceClaimName": "x"}]})
each("resources of the pod", "spec.resources", [
    {"limits": {"cpu": "2"}}, {"requests": {"cpu": "1"}}, {"limits": {"nope": "1"}}, {"limits": {"a/b": "1"}}, {"claims": [{"name": "a"}]},
    {"limits": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"ephemeral-storage": "1"}}, {"limits": {"hugepages-2Mi": "2Mi"}}, {},
    {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}])
BOTH = {C + "resources": {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "4", "memory": "2Gi"}}}
create("containers ask for more than the pod", dict(BOTH, **{"spec.resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}}))
create("containers ask for less than the pod", dict(BOTH, **{"spec.resources": {"limits": {"cpu": "8", "memory": "4Gi"}}}))
create("init containers ask for more", {"spec.resources": {"limits": {"cpu": "8"}}, "spec.initContainers": [
    container(name="a", restartPolicy="Always", resources={"requests": {"cpu": "2"}}), container(name="b", resources={"requests": {"cpu": "5"}})]})
create("huge pages of containers in the pod's limits", {"spec.resources": {"limits": {"cpu": "1"}},
       C + "resources": {"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}})
create("more huge pages than the pod has", {"spec.resources": {"limits": {"cpu": "1", "hugepages-2Mi": "2Mi"}},
       C + "resources": {"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}})
create("guaranteed", {C + "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}, "spec.containers.1": container(
    name="d", resources={"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1"}})})
create("burstable by its init container", {C + "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}, "spec.initContainers": [container(name="a")]})
each("a resize policy", C + "resizePolicy", [
    [{"resourceName": "cpu", "restartPolicy": "NotRequired"}], [{"resourceName": "x", "restartPolicy": "y"}], [{"resourceName": "", "restartPolicy": ""}],
    [{"resourceName": "cpu", "restartPolicy": "NotRequired"}, {"resourceName": "cpu", "restartPolicy": "RestartContainer"}]])
create("a restart for a resize of a pod that never restarts", {"spec.restartPolicy": "Never",
       C + "resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]})
each("overhead", "spec.overhead", [{"cpu": "1"}, {"memory": "-1"}, {"x": "1"}, {"memory": "1m"}])

# ---- Probes and hooks ----
for kind in ["livenessProbe", "readinessProbe", "startupProbe"]:
    each(kind, C + kind, [
        {"exec": {"command": ["x"]}}, {}, {"exec": {}}, {"httpGet": {"port": 80}}, {"httpGet": {"port": "http"}}, {"httpGet": {}},
        {"httpGet": {"port": 80, "scheme": "ftp"}}, {"tcpSocket": {"port": 0}}, {"grpc": {"port": 70000}},
        {"exec": {"command": ["x"]}, "tcpSocket": {"port": 1}, "grpc": {"port": 1}},
        {"exec": {"command": ["x"]}, "initialDelaySeconds": -1, "timeoutSeconds": -1, "periodSeconds": -1, "successThreshold": -1,
         "failureThreshold": -1, "terminationGracePeriodSeconds": 0},
        {"exec": {"command": ["x"]}, "successThreshold": 2, "terminationGracePeriodSeconds": 5}])
create("headers", {C + "livenessProbe": {"httpGet": {"port": "a b", "httpHeaders": [{"name": "X-A", "value": ""}, {"name": "a b", "value": "x"}]}}})
each("hooks", C + "lifecycle", [
    {}, {"preStop": {}}, {"preStop": {"sleep": {"seconds": 5}}}, {"preStop": {"sleep": {"seconds": 31}}}, {"preStop": {"sleep": {"seconds": -1}}},
    {"postStart": {"exec": {}}, "preStop": {"httpGet": {"port": 1}, "sleep": {"seconds": 0}}}, {"stopSignal": "SIGTERM"}, {"postStart": {"tcpSocket": {"port": "x"}}}])
PROBES = {"livenessProbe": {"exec": {"command": ["x"]}}, "readinessProbe": {"exec": {"command": ["x"]}}, "startupProbe": {}, "lifecycle": {"preStop": {}}}
create("probes of an init container", {"spec.initContainers": [container(name="a", **PROBES)]})
create("probes of a sidecar", {"spec.initContainers": [container(name="a", restartPolicy="Always", **PROBES)]})
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
for where, name in [(C, "c"), (I, "a")]:
    for restart in [
            {"restartPolicy": "Always"}, {"restartPolicy": "Sometimes"}, {"restartPolicyRules": [RULE]}, {"restartPolicy": "Never", "restartPolicyRules": [RULE]},
            {"restartPolicy": "Never", "restartPolicyRules": [{"action": "x"}]}, {"restartPolicy": "OnFailure", "restartPolicyRules": [RULE] * 21},
            {"restartPolicy": "Never", "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "x", "values": [0] * 256}}]}]:
        create("restarts of %s: %s" % (name, str(restart)[:70]), {where[:-1]: container(name=name, **restart)})
create("a restart for a resize of an init container", {"spec.initContainers": [container(name="a", resizePolicy=[
    {"resourceName": "cpu", "restartPolicy": "RestartContainer"}])]})

# ---- Security ----
each("a security context", C + "securityContext", [
    {}, {"privileged": True}, {"runAsUser": -1}, {"runAsGroup": 1 << 40, "runAsUser": 5}, {"procMount": "x"}, {"procMount": "Unmasked"}, {"procMount": "Default"},
    {"allowPrivilegeEscalation": False, "privileged": True}, {"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN", "X"]}},
    {"seccompProfile": {}}, {"seccompProfile": {"type": "x"}}, {"seccompProfile": {"type": "Localhost"}}, {"seccompProfile": {"type": "Localhost", "localhostProfile": "/x"}},
    {"seccompProfile": {"type": "Localhost", "localhostProfile": "../x"}}, {"seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}},
    {"appArmorProfile": {}}, {"appArmorProfile": {"type": "x"}}, {"appArmorProfile": {"type": "Localhost"}}, {"appArmorProfile": {"type": "Localhost", "localhostProfile": " x"}},
    {"appArmorProfile": {"type": "Localhost", "localhostProfile": ""}}, {"appArmorProfile": {"type": "Localhost", "localhostProfile": "x" * 4096}},
    {"appArmorProfile": {"type": "Unconfined", "localhostProfile": "x"}}, {"windowsOptions": {"gmsaCredentialSpecName": "A", "gmsaCredentialSpec": ""}},
    {"seLinuxOptions": {"level": "s0"}, "allowPrivilegeEscalation": False, "privileged": True, "windowsOptions": {"runAsUserName": "x"}}])
each("a windows user", C + "securityContext.windowsOptions.runAsUserName", [
    "", "a", "a\\b", "a\\b\\c", "\\b", "a\\", ".a\\b", "...", "a/b", "a\tb", "x" * 105, "d" * 256 + "\\u", "a.b-c.d\\u", "a:b\\u", "a" * 15 + "\\u", "a" * 16 + "_\\u"])
each("a pod's security context", "spec.securityContext", [
    {"fsGroup": -1, "runAsUser": -1, "runAsGroup": -1, "supplementalGroups": [1, -1]}, {"fsGroupChangePolicy": "x"}, {"fsGroupChangePolicy": "Always"},
    {"supplementalGroupsPolicy": "x"}, {"supplementalGroupsPolicy": "Strict"}, {"seLinuxChangePolicy": "x"}, {"seLinuxChangePolicy": "MountOption"},
    {"seccompProfile": {"type": "RuntimeDefault"}}, {"appArmorProfile": {"type": "nope"}}, {"windowsOptions": {"runAsUserName": ""}},
    {"sysctls": [{"name": "net.ipv4.x", "value": "1"}]}, {"sysctls": [{"name": "", "value": "1"}, {"name": "a b", "value": ""}, {"name": "a.b", "value": ""}, {"name": "a.b", "value": ""}]},
    {"sysctls": [{"name": n, "value": ""} for n in ["a", "a/b.c", "a..b", "a-", "a_.b", "A", "kernel.shm*"]]}])
create("sysctls of the host's namespaces", {"spec.hostNetwork": True, "spec.hostIPC": True, "spec.securityContext.sysctls": [
    {"name": n, "value": "1"} for n in ["net.ipv4.x", "net/ipv4/x", "kernel.shmmax", "fs.mqueue.x", "kernel.other", "netx.y"]]})
create("processes are shared with the host's", {"spec.hostPID": True, "spec.shareProcessNamespace": True})
create("users of its own", {"spec.hostUsers": False, C + "securityContext.procMount": "Unmasked"})
create("users of its own beside the host's namespaces", {"spec.hostUsers": False, "spec.hostNetwork": True, "spec.hostPID": True, "spec.hostIPC": True,
       C + "volumeDevices": [{"name": "v", "devicePath": "/d"}], "spec.volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]})
each("a system", "spec.os", [{"name": "linux"}, {"name": "windows"}, {"name": "mac"}, {"name": ""}, {}])
LINUX = {"spec.os": {"name": "windows"}, "spec.hostPID": True, "spec.hostIPC": True, "spec.hostUsers": True, "spec.shareProcessNamespace": False,
         "spec.resources": {"limits": {"cpu": "1"}},
         "spec.securityContext": {"appArmorProfile": {"type": "Unconfined"}, "seLinuxOptions": {}, "seccompProfile": {"type": "Unconfined"}, "fsGroup": 1,
                                  "fsGroupChangePolicy": "Always", "sysctls": [{"name": "a", "value": "b"}], "runAsUser": 1, "runAsGroup": 1,
                                  "supplementalGroups": [1], "supplementalGroupsPolicy": "Merge", "seLinuxChangePolicy": "Recursive"},
         C + "securityContext": {"appArmorProfile": {"type": "Unconfined"}, "seLinuxOptions": {}, "seccompProfile": {"type": "Unconfined"}, "capabilities": {},
                                 "readOnlyRootFilesystem": False, "privileged": False, "allowPrivilegeEscalation": True, "procMount": "Default",
                                 "runAsUser": 1, "runAsGroup": 1}}
create("all that windows does not have", LINUX)
create("windows' options on linux", {"spec.os": {"name": "linux"}, "spec.securityContext.windowsOptions": {}, C + "securityContext.windowsOptions": {"hostProcess": False}})
create("a process of the host", {"spec.securityContext.windowsOptions.hostProcess": True, "spec.hostNetwork": True})
create("a process of the host without its network", {C + "securityContext.windowsOptions.hostProcess": True, "spec.containers.1": container(name="d")})
create("processes of the host that disagree", {"spec.hostNetwork": True, "spec.securityContext.windowsOptions.hostProcess": False,
       C + "securityContext.windowsOptions.hostProcess": True})

# ---- Where it runs ----
create("a node selector", {"spec.nodeSelector": {"a": "b", "beta.kubernetes.io/os": "linux"}})
each("a wrong node selector", "spec.nodeSelector", [{"a b": "c"}, {"a": "b c"}])
REQUIRED = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
each("required nodes", REQUIRED, [
    {"nodeSelectorTerms": []}, {"nodeSelectorTerms": [{}]}, {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": op, "values": v} for op in ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "x"]]} for v in [[], ["1"], ["1", "2"]]]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a b", "operator": "In", "values": ["c d"]}]}]},
    {"nodeSelectorTerms": [{"matchExpressions": [{"key": "failure-domain.beta.kubernetes.io/zone", "operator": "Exists"}]}]},
    {"nodeSelectorTerms": [{"matchFields": [{"key": k, "operator": op, "values": v}]} for k in ["metadata.name", "x"] for op in ["In", "Exists"] for v in [["a"], [], ["A", "b"]]]}])
each("preferred nodes", PREFERRED, [
    [{"weight": 1, "preference": {}}], [{"weight": 0, "preference": {"matchExpressions": [{"key": "a", "operator": "x"}]}}], [{"weight": 101, "preference": {}}],
    [{"weight": 5, "preference": {"matchExpressions": [{"key": "node-role.kubernetes.io/master", "operator": "In", "values": ["a b", "c"]}]}}]])
TERM = {"topologyKey": "k", "labelSelector": {"matchLabels": {"a": "b"}}}
TERMS = [
    TERM, {"topologyKey": "", "labelSelector": {}}, {"topologyKey": "k"}, dict(TERM, namespaces=["A", "b"]), dict(TERM, namespaceSelector={"matchLabels": {"a b": "c d"}}),
    dict(TERM, matchLabelKeys=["x"]), dict(TERM, mismatchLabelKeys=["x"]), dict(TERM, matchLabelKeys=["x"], mismatchLabelKeys=["x"]), dict(TERM, matchLabelKeys=["a"]),
    {"topologyKey": "k", "matchLabelKeys": ["a"]}, dict(TERM, matchLabelKeys=["a b"]), {"topologyKey": "a b", "labelSelector": {"matchExpressions": [
        {"key": "a", "operator": "In"}, {"key": "b", "operator": "Exists", "values": ["x"]}, {"key": "c", "operator": "y"}]}}]
for side in ["podAffinity", "podAntiAffinity"]:
    for term in TERMS:
        create("%s: %s" % (side, str(term)[:90]), {"metadata.labels": {"x": "y", "a": "b"},
               "spec.affinity." + side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
create("weighted terms", {"metadata.labels": {"x": "y"}, "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 0, "podAffinityTerm": TERM}, {"weight": 1, "podAffinityTerm": dict(TERM, matchLabelKeys=["x"])}, {"weight": 200, "podAffinityTerm": {"topologyKey": "k"}}]})
create("weighted terms with keys", {"metadata.labels": {"x": "y"}, "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 9, "podAffinityTerm": dict(TERM, matchLabelKeys=["x", "gone"], mismatchLabelKeys=["z"])}, {"weight": 1, "podAffinityTerm": {"topologyKey": "k"}}]})
each("tolerations", "spec.tolerations", [
    [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}], [{"operator": "Exists"}], [{}], [{"key": "a b"}], [{"key": "a", "operator": "Exists", "value": "x"}],
    [{"key": "a", "operator": "x"}], [{"key": "a", "operator": "Lt", "value": "5"}], [{"key": "a", "effect": "x"}], [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}],
    [{"key": "a", "effect": "NoExecute", "tolerationSeconds": 5}], [{"key": "a", "value": "b c"}], [{"value": "!", "effect": "y", "tolerationSeconds": 1, "operator": "Gt"}]])
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}}
for change in [{}, {"maxSkew": 0}, {"topologyKey": ""}, {"whenUnsatisfiable": "x"}, {"minDomains": 0}, {"minDomains": 2}, {"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"},
               {"nodeAffinityPolicy": "x", "nodeTaintsPolicy": "y"}, {"nodeAffinityPolicy": "Ignore"}, {"matchLabelKeys": ["x"]}, {"matchLabelKeys": ["a"]}, {"matchLabelKeys": ["a b"]},
               {"labelSelector": None}, {"labelSelector": None, "matchLabelKeys": ["x"]}, {"labelSelector": {"matchLabels": {"a b": "c d"}}}, {"topologyKey": "beta.kubernetes.io/os"}]:
    create("spread: %s" % change, {"metadata.labels": {"x": "y", "a": "b"}, "spec.topologySpreadConstraints": [dict(SPREAD, **change)]})
create("spread twice", {"spec.topologySpreadConstraints": [SPREAD, dict(SPREAD, whenUnsatisfiable="ScheduleAnyway"), SPREAD, SPREAD]})
create("a node and gates", {"spec.nodeName": "n", "spec.schedulingGates": [{"name": "g"}]})
each("gates", "spec.schedulingGates", [[{"name": "a b"}], [{"name": ""}], [{"name": "a"}, {"name": "a"}]])
each("readiness gates", "spec.readinessGates", [[{"conditionType": "a/b"}], [{"conditionType": "a b"}], [{}]])

# ---- Names and network ----
for field, values in {"nodeName": ["n", "N"], "serviceAccountName": ["a", "A"], "serviceAccount": ["a", "A"], "hostname": ["h", "H.x"], "subdomain": ["s", "s.t"],
                      "priorityClassName": ["a", "A"], "runtimeClassName": ["a", "", "A"], "schedulerName": ["", "x"], "restartPolicy": ["Never", "x", ""],
                      "dnsPolicy": ["Default", "None", "x"], "preemptionPolicy": ["Never", "x", ""], "activeDeadlineSeconds": [1, 0, -1, 1 << 32],
                      "terminationGracePeriodSeconds": [0, -5, 100], "hostnameOverride": ["a.b", "A", "x" * 65, ""], "enableServiceLinks": [False],
                      "schedulingGroup": [{"podGroupName": "x"}], "priority": [5], "automountServiceAccountToken": [False], "setHostnameAsFQDN": [True]}.items():
    each(field, "spec." + field, values)
create("another hostname beside others", {"spec.hostnameOverride": "a", "spec.setHostnameAsFQDN": True, "spec.hostNetwork": True})
each("dns", "spec.dnsConfig", [
    {}, {"nameservers": ["1.2.3.4", "::1"], "searches": ["a.b", "_x.y", ".", "a."], "options": [{"name": "ndots", "value": "2"}]}, {"nameservers": ["1.2.3.4"] * 4},
    {"nameservers": ["x", "01.2.3.4", "::ffff:1.2.3.4", "2001:DB8::1"]}, {"searches": ["a"] * 33}, {"searches": ["x" * 63 + ".x"] * 32}, {"searches": ["A", "a b"]}, {"options": [{"name": ""}, {}]}])
create("no dns and no server", {"spec.dnsPolicy": "None", "spec.dnsConfig": {"searches": ["A"]}})
create("no dns and a server", {"spec.dnsPolicy": "None", "spec.dnsConfig": {"nameservers": ["2001:DB8::1"]}})
each("host aliases", "spec.hostAliases", [
    [{"ip": "1.2.3.4", "hostnames": ["a"]}], [{"ip": "x", "hostnames": ["A"]}], [{"ip": ""}], [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}], [{"ip": "2001:0db8::1"}], [{"ip": "1.2.3.04"}]])
each("pull secrets", "spec.imagePullSecrets", [[{"name": "a"}], [{"name": "a"}, {"name": "a"}], [{"name": ""}], [{}, {}]])

# ---- Annotations that mean something ----
A = "container.apparmor.security.beta.kubernetes.io/"
S = "container.seccomp.security.alpha.kubernetes.io/"
each("old annotations", "metadata.annotations", [
    {"kubernetes.io/config.mirror": "x"}, {"controller.kubernetes.io/pod-deletion-cost": "x"}, {"controller.kubernetes.io/pod-deletion-cost": "+5"},
    {"controller.kubernetes.io/pod-deletion-cost": "-5"}, {"controller.kubernetes.io/pod-deletion-cost": "2147483648"}, {"controller.kubernetes.io/pod-deletion-cost": ""},
    {"scheduler.alpha.kubernetes.io/tolerations": "[{\"key\":\"a b\"}]"}, {"scheduler.alpha.kubernetes.io/tolerations": "[{\"operator\":\"Exists\"}]"},
    {"scheduler.alpha.kubernetes.io/critical-pod": "", "security.alpha.kubernetes.io/sysctls": "x", "security.alpha.kubernetes.io/unsafe-sysctls": "x"},
    {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}, {"seccomp.security.alpha.kubernetes.io/pod": "x"}, {"seccomp.security.alpha.kubernetes.io/pod": "localhost/../x"},
    {S + "c": "docker/default"}, {S + "c": "nope"}, {A + "c": "runtime/default"}, {A + "c": "unconfined"}, {A + "c": "localhost/x"}, {A + "c": "localhost/"}, {A + "c": "nope"},
    {A + "other": "unconfined"}, {A + "c": ""}, {"pod.beta.kubernetes.io/init-containers": "[]"}])
for kind, field, prefix in [("seccomp", "seccompProfile", S), ("apparmor", "appArmorProfile", A)]:
    for profile in [{"type": "Unconfined"}, {"type": "RuntimeDefault"}, {"type": "Localhost", "localhostProfile": "x"}]:
        for text in ["unconfined", "runtime/default", "localhost/x", "localhost/y"]:
            create("%s %s and %s" % (kind, profile["type"], text), {"metadata.annotations": {prefix + "c": text}, C + "securityContext." + field: profile})
create("seccomp of the pod disagrees", {"metadata.annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
       "spec.securityContext.seccompProfile": {"type": "RuntimeDefault"}})
create("apparmor of the pod and an annotation", {"metadata.annotations": {A + "c": "unconfined"}, "spec.securityContext.appArmorProfile": {"type": "Unconfined"}})

ROWS = pods.rows
