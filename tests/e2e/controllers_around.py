#!/usr/bin/env python3
"""controllers_around.py BERTH - what the controllers around workloads make of services, budgets, quotas, nodes and volumes, against
`berth apiserver --memory`."""
import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BERTH = os.path.abspath(sys.argv[1])
LIMIT = int(os.environ.get("BERTH_TEST_LIMIT", 60))  # seconds that one step may take on a slow machine
TOKEN = "secret"
failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, json.dumps(shown, indent=1) if shown != "" else ""))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """An API server in memory, with its controllers."""

    def __init__(self, folder, *flags):
        self.port = free_port()
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w", encoding="utf-8") as f:
            f.write('%s,admin,1,"system:masters"\n' % TOKEN)
        self.log = os.path.join(folder, "log")
        self.process = subprocess.Popen(
            [BERTH, "apiserver", "--memory", "--bind-address=127.0.0.1", "--secure-port=%d" % self.port,
             "--authorization-mode=RBAC", "--token-auth-file=" + tokens, *flags],
            stdout=subprocess.PIPE, stderr=open(self.log, "w", encoding="utf-8"), text=True,
            env={"PATH": os.environ["PATH"], "HOME": folder})
        self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(LIMIT)
        if os.environ.get("BERTH_TEST_LOG"):
            print(open(self.log, encoding="utf-8").read())

    def ask(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request("https://127.0.0.1:%d%s" % (self.port, path), method=method,
                                         headers={"Content-Type": kind, "Authorization": "Bearer " + TOKEN},
                                         data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=LIMIT) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as e:
            return e.code, json.loads(e.read())

    def get(self, path):
        return self.ask("GET", path)[1]

    def make(self, path, body):
        code, answer = self.ask("POST", path, body)
        check(code == 201, "making %s" % path, answer)
        return answer

    def patch(self, path, body):
        code, answer = self.ask("PATCH", path, body, "application/merge-patch+json")
        check(code == 200, "patching %s" % path, answer)
        return answer

    def delete(self, path, body=None):
        code, answer = self.ask("DELETE", path, body)
        check(code in (200, 202), "deleting %s" % path, answer)

    def wait(self, what, path, condition):
        """The object, when it is as it should be."""
        end = time.monotonic() + LIMIT
        while True:
            answer = self.get(path)
            try:
                if condition(answer):
                    return answer
            except (KeyError, IndexError, TypeError):
                pass
            if time.monotonic() > end:
                check(False, what, answer)
                return answer
            time.sleep(0.05)


def items(answer):
    return answer["items"]


# ---- Services ----

PODS = "/api/v1/namespaces/default/pods"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=%s"


def add_node(s, name, **labels):
    s.make("/api/v1/nodes", {"metadata": {"name": name, "labels": labels or None}})
    s.patch("/api/v1/nodes/%s/status" % name, {"status": {
        "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}, "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
                        "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})


def add_pod(s, name, node, ip, labels, ready=True, phase="Running", **spec):
    s.make(PODS, {"metadata": {"name": name, "labels": labels}, "spec": {
        "nodeName": node, "containers": [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 8080}]}], **spec}})
    set_ready(s, name, ready, phase=phase, podIP=ip, podIPs=[{"ip": ip}])


def set_ready(s, name, ready, **more):
    s.patch(PODS + "/%s/status" % name, {"status": {"conditions": [
        {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}], **more}})


def endpoints_of(slices):
    return {a: e["conditions"]["ready"] for x in items(slices) for e in x.get("endpoints") or [] for a in e["addresses"]}


def services(s):
    add_node(s, "n1", **{"topology.kubernetes.io/zone": "z1"})
    s.make("/api/v1/namespaces/default/services", {"metadata": {"name": "web", "labels": {"team": "a"}}, "spec": {
        "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "web"}, {"name": "x", "port": 81}]}})
    empty = s.wait("a slice without pods", SLICES % "web", lambda v: len(items(v)) == 1)
    first = items(empty)[0]
    check(first["metadata"]["labels"] == {"team": "a", "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by":
                                          "endpointslice-controller.k8s.io"}, "labels of a slice", first)
    check(first["metadata"]["generateName"] == "web-" and first["metadata"]["ownerReferences"][0]["kind"] == "Service",
          "its name and owner", first)
    add_pod(s, "p1", "n1", "10.1.0.1", {"app": "web"})
    add_pod(s, "p2", "n1", "10.1.0.2", {"app": "web"}, ready=False)
    add_pod(s, "other", "n1", "10.1.0.3", {"app": "db"})
    full = s.wait("two pods", SLICES % "web", lambda v: endpoints_of(v) == {"10.1.0.1": True, "10.1.0.2": False})
    check(len(items(full)) == 1 and items(full)[0]["metadata"]["name"] == first["metadata"]["name"], "the same slice", full)
    slice = items(full)[0]
    check(sorted((p["name"], p["port"]) for p in slice["ports"]) == [("http", 8080), ("x", 81)], "ports by name", slice)
    one = [e for e in slice["endpoints"] if e["addresses"] == ["10.1.0.1"]][0]
    check(one["zone"] == "z1" and one["nodeName"] == "n1" and one["targetRef"]["name"] == "p1", "where it is", one)
    both = s.wait("Endpoints", "/api/v1/namespaces/default/endpoints/web", lambda v: len(v["subsets"]) == 1 and
                  v["subsets"][0].get("addresses") and v["subsets"][0].get("notReadyAddresses"))
    check(both["metadata"]["labels"] == {"team": "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller"},
          "labels of Endpoints", both)
    set_ready(s, "p2", True)
    s.wait("both ready", SLICES % "web", lambda v: endpoints_of(v) == {"10.1.0.1": True, "10.1.0.2": True})
    s.delete(PODS + "/p1", {"gracePeriodSeconds": 0})
    s.wait("one left", SLICES % "web", lambda v: endpoints_of(v) == {"10.1.0.2": True})
    s.wait("one left", "/api/v1/namespaces/default/endpoints/web", lambda v: [a["ip"] for a in v["subsets"][0]["addresses"]] == ["10.1.0.2"])
    s.patch("/api/v1/namespaces/default/services/web", {"spec": {"selector": {"app": "db"}}})
    s.wait("another selector", SLICES % "web", lambda v: endpoints_of(v) == {"10.1.0.3": True})
    s.delete("/api/v1/namespaces/default/services/web")
    s.wait("slices go with their service", SLICES % "web", lambda v: items(v) == [])
    s.wait("Endpoints go, too", "/api/v1/namespaces/default/endpoints/web", lambda v: v["code"] == 404)
    for name in ("p2", "other"):
        s.delete(PODS + "/" + name, {"gracePeriodSeconds": 0})


def many_endpoints(s):
    s.make("/api/v1/namespaces/default/services", {"metadata": {"name": "many"}, "spec": {
        "clusterIP": "None", "selector": {"app": "many"}}})
    for i in range(105):
        add_pod(s, "many-%d" % i, "n1", "10.2.%d.%d" % (i // 100, i % 100), {"app": "many"})
    full = s.wait("105 endpoints", SLICES % "many", lambda v: len(endpoints_of(v)) == 105)
    check(sorted(len(x["endpoints"]) for x in items(full)) == [5, 100], "at most 100 in a slice", [len(x["endpoints"]) for x in items(full)])
    check(all("service.kubernetes.io/headless" in x["metadata"]["labels"] for x in items(full)), "a headless service")
    s.delete("/api/v1/namespaces/default/services/many")
    s.delete(PODS + "?labelSelector=app=many", {"gracePeriodSeconds": 0})


# ---- Budgets and quotas ----

BUDGET = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def budgets(s):
    sets = "/apis/apps/v1/namespaces/default/replicasets"
    labels = {"app": "kept"}
    made = s.make(sets, {"metadata": {"name": "kept"}, "spec": {"replicas": 4, "selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "i"}]}}}})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "kept", "uid": made["metadata"]["uid"], "controller": True}
    if not controller_runs(s, "replicaset"):
        for i in range(4):
            s.make(PODS, {"metadata": {"name": "kept-%d" % i, "labels": labels, "ownerReferences": [owner]},
                          "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}})
    pods = s.wait("four pods", PODS + "?labelSelector=app=kept", lambda v: len(items(v)) == 4)
    names = [p["metadata"]["name"] for p in items(pods)]
    for name in names[:3]:
        set_ready(s, name, True, phase="Running")
    s.make(BUDGET, {"metadata": {"name": "b"}, "spec": {"maxUnavailable": "50%", "selector": {"matchLabels": labels}}})
    got = s.wait("a budget that counts", BUDGET + "/b", lambda v: v["status"]["currentHealthy"] == 3)
    status = got["status"]
    check((status["expectedPods"], status["desiredHealthy"], status["disruptionsAllowed"], status["observedGeneration"]) == (4, 2, 1, 1),
          "what it counts", status)
    check([(c["type"], c["status"], c["reason"], c["observedGeneration"]) for c in status["conditions"]] ==
          [("DisruptionAllowed", "True", "SufficientPods", 1)], "its condition", status)
    evicted = s.ask("POST", PODS + "/%s/eviction" % names[0], {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": names[0]},
                                                              "deleteOptions": {"gracePeriodSeconds": 0}})
    check(evicted[0] == 201, "an eviction", evicted[1])
    s.wait("one less", BUDGET + "/b", lambda v: v["status"]["currentHealthy"] == 2 and v["status"]["disruptionsAllowed"] == 0 and
           v["status"]["conditions"][0]["reason"] == "InsufficientPods" and not v["status"].get("disruptedPods"))
    s.patch(BUDGET + "/b", {"spec": {"maxUnavailable": None, "minAvailable": 1}})
    s.wait("another way to say it", BUDGET + "/b", lambda v: v["status"]["observedGeneration"] == 2 and v["status"]["desiredHealthy"] == 1)
    s.delete(BUDGET + "/b")
    s.delete(sets + "/kept")
    s.delete(PODS + "?labelSelector=app=kept", {"gracePeriodSeconds": 0})


def controller_runs(s, name):
    """Whether something makes the pods of workloads: it is a matter of other files than these."""
    time.sleep(1)
    return len(items(s.get(PODS + "?labelSelector=app=kept"))) > 0


QUOTA = "/api/v1/namespaces/default/resourcequotas"


def quotas(s):
    s.wait("no pods", PODS, lambda v: items(v) == [])
    s.make("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "before"}})
    s.make(QUOTA, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "3", "requests.cpu": "2", "count/configmaps": "9",
                                                                "services": "5", "limits.example.com/x": "1"}}})
    got = s.wait("a quota that is filled", QUOTA + "/q", lambda v: v["status"]["used"]["pods"] == "0")
    check(got["status"]["hard"] == got["spec"]["hard"], "its limits", got["status"])
    check(got["status"]["used"] == {"pods": "0", "requests.cpu": "0", "count/configmaps": "2", "services": "1"}, "what is used", got["status"])
    s.make(PODS, {"metadata": {"name": "q1"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]}})
    s.wait("a pod", QUOTA + "/q", lambda v: v["status"]["used"]["pods"] == "1" and v["status"]["used"]["requests.cpu"] == "500m")
    s.patch(PODS + "/q1/status", {"status": {"phase": "Succeeded"}})
    s.wait("one that has ended", QUOTA + "/q", lambda v: v["status"]["used"]["pods"] == "0")
    s.delete("/api/v1/namespaces/default/configmaps/before")
    s.wait("something less", QUOTA + "/q", lambda v: v["status"]["used"]["count/configmaps"] == "1")
    s.patch(QUOTA + "/q", {"spec": {"hard": {"pods": None, "secrets": "4"}}})
    s.wait("other limits", QUOTA + "/q", lambda v: v["status"]["used"].get("secrets") == "0" and "pods" not in v["status"]["used"])
    s.delete(PODS + "/q1", {"gracePeriodSeconds": 0})
    s.delete(QUOTA + "/q")


# ---- Nodes ----

NODE = "/api/v1/nodes/"


def set_condition(s, node, **statuses):
    """Conditions of a node, as its kubelet would post them."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    s.patch(NODE + node + "/status", {"status": {"conditions": [
        {"type": t, "status": v, "reason": "Test", "message": "", "lastHeartbeatTime": now, "lastTransitionTime": now}
        for t, v in statuses.items()]}})


def taints_of(node):
    return sorted((t["key"].split("/")[1], t["effect"]) for t in node["spec"].get("taints") or [])


def taints(s):
    add_node(s, "bad")
    s.wait("a node that is ready has no taints", NODE + "bad", lambda v: taints_of(v) == [])
    for name, seconds in (("soon", 1), ("later", 600)):
        add_pod(s, name, "bad", "10.3.0.1", {"app": "t"}, tolerations=[
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}])
    set_condition(s, "bad", Ready="False", MemoryPressure="True")
    got = s.wait("taints of its conditions", NODE + "bad", lambda v: taints_of(v) == [
        ("memory-pressure", "NoSchedule"), ("not-ready", "NoExecute"), ("not-ready", "NoSchedule")])
    check(all("timeAdded" in t for t in got["spec"]["taints"]), "when they were added", got["spec"])
    s.wait("a pod that does not wait long", PODS + "/soon", lambda v: v.get("code") == 404 or "deletionTimestamp" in v["metadata"])
    later = s.get(PODS + "/later")
    check("deletionTimestamp" not in later["metadata"], "one that does", later)
    s.wait("an Event", "/api/v1/namespaces/default/events", lambda v: [e for e in items(v) if e["reason"] == "TaintManagerEviction" and
           e["message"] == "Marking for deletion Pod default/soon"])
    set_condition(s, "bad", Ready="True")
    s.wait("a node that is well again", NODE + "bad", lambda v: taints_of(v) == [])
    s.patch(NODE + "bad", {"spec": {"unschedulable": True}})
    s.wait("a node that is cordoned", NODE + "bad", lambda v: taints_of(v) == [("unschedulable", "NoSchedule")])
    s.patch(NODE + "bad", {"spec": {"unschedulable": None, "taints": [{"key": "a.b/mine", "effect": "NoExecute"}]}})
    s.wait("somebody's own taint", PODS + "/later", lambda v: v.get("code") == 404 or "deletionTimestamp" in v["metadata"])
    s.ask("DELETE", PODS + "/soon", {"gracePeriodSeconds": 0})
    s.ask("DELETE", PODS + "/later", {"gracePeriodSeconds": 0})


def lost_nodes(s):
    """Nobody hears of n1, and `bad` is deleted. This takes as long as the grace period."""
    add_pod(s, "lost", "n1", "10.3.0.2", {"app": "lost"})
    add_pod(s, "orphan", "bad", "10.3.0.3", {"app": "lost"}, tolerations=[{"operator": "Exists"}])
    s.delete(NODE + "bad")
    add_node(s, "alive")
    end = time.monotonic() + LIMIT + 60
    while time.monotonic() < end and not taints_of(s.get(NODE + "n1")):
        set_condition(s, "alive", Ready="True")
        time.sleep(2)
    s.wait("a node that nobody hears of", NODE + "n1", lambda v: taints_of(v) == [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")])
    conditions = {c["type"]: (c["status"], c["reason"]) for c in s.get(NODE + "n1")["status"]["conditions"]}
    check(conditions["Ready"] == ("Unknown", "NodeStatusUnknown") and conditions["PIDPressure"] == ("Unknown", "NodeStatusNeverUpdated"),
          "what is known of it", conditions)
    s.wait("its pods are not ready", PODS + "/lost", lambda v: {c["type"]: c["status"] for c in v["status"]["conditions"]}["Ready"] == "False")
    s.wait("a pod without its node", PODS + "/orphan", lambda v: v.get("code") == 404)


# ---- Volumes ----

CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUME = "/api/v1/persistentvolumes"
CLASS = "/apis/storage.k8s.io/v1/storageclasses"


def claim(name, size, **spec):
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}}


def volume(name, size, **spec):
    return {"metadata": {"name": name}, "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
                                                 **spec}}


def static_volumes(s):
    for name, size in (("large", "10Gi"), ("right", "5Gi"), ("small", "1Gi")):
        s.make(VOLUME, volume(name, size, storageClassName="manual"))
        s.wait("a volume that is free", VOLUME + "/" + name, lambda v: v["status"]["phase"] == "Available")
    s.make(CLAIM, claim("c", "2Gi", storageClassName="manual"))
    got = s.wait("the smallest that is large enough", CLAIM + "/c", lambda v: v["status"]["phase"] == "Bound")
    check(got["spec"]["volumeName"] == "right" and got["status"]["capacity"] == {"storage": "5Gi"} and
          got["metadata"]["annotations"] == {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"},
          "a claim that is bound", got)
    bound = s.get(VOLUME + "/right")
    check(bound["status"]["phase"] == "Bound" and bound["spec"]["claimRef"]["uid"] == got["metadata"]["uid"] and
          bound["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}, "its volume", bound)
    s.make(CLAIM, claim("waits", "50Gi", storageClassName="manual"))
    s.make(VOLUME, volume("huge", "60Gi", storageClassName="manual", claimRef={"namespace": "default", "name": "waits"}))
    got = s.wait("a volume that waits for its claim", CLAIM + "/waits", lambda v: v["status"]["phase"] == "Bound")
    check(got["spec"]["volumeName"] == "huge", "is bound to it", got)
    s.delete(CLAIM + "/c")
    s.wait("the claim goes", CLAIM + "/c", lambda v: v.get("code") == 404)
    s.wait("its volume is kept", VOLUME + "/right", lambda v: v["status"]["phase"] == "Released")
    s.delete(VOLUME + "/right")
    s.wait("until somebody deletes it", VOLUME + "/right", lambda v: v.get("code") == 404)
    s.delete(VOLUME + "/huge")
    time.sleep(0.3)
    check(s.get(VOLUME + "/huge")["metadata"].get("deletionTimestamp"), "a volume in use stays")
    s.delete(CLAIM + "/waits")
    s.wait("and goes with its claim", VOLUME + "/huge", lambda v: v.get("code") == 404)


def made_volumes(s):
    add_node(s, "v1")
    for name, mode in (("hollow", "Immediate"), ("later", "WaitForFirstConsumer")):
        s.make(CLASS, {"metadata": {"name": name}, "provisioner": "berth.dev/hollow", "volumeBindingMode": mode})
    s.make(CLAIM, claim("made", "3Gi", storageClassName="hollow"))
    got = s.wait("a volume is made", CLAIM + "/made", lambda v: v["status"]["phase"] == "Bound")
    name = "pvc-" + got["metadata"]["uid"]
    made = s.get(VOLUME + "/" + name)
    check(got["spec"]["volumeName"] == name and made["spec"]["capacity"] == {"storage": "3Gi"} and
          made["spec"]["persistentVolumeReclaimPolicy"] == "Delete", "the volume", made)
    s.make(CLAIM, claim("later", "3Gi", storageClassName="later"))
    s.wait("an Event", "/api/v1/namespaces/default/events", lambda v: [e for e in items(v) if e["reason"] == "WaitForFirstConsumer"])
    check(s.get(CLAIM + "/later")["status"]["phase"] == "Pending", "a claim that waits for its pod")
    s.patch(CLAIM + "/later", {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "v1"}}})
    s.wait("the scheduler chose a node", CLAIM + "/later", lambda v: v["status"]["phase"] == "Bound")
    add_pod(s, "user", "v1", "10.4.0.1", {"app": "v"}, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "made"}}])
    s.delete(CLAIM + "/made")
    time.sleep(0.3)
    check(s.get(CLAIM + "/made")["metadata"].get("deletionTimestamp"), "a claim in use stays")
    s.delete(PODS + "/user", {"gracePeriodSeconds": 0})
    s.wait("and goes with its pod", CLAIM + "/made", lambda v: v.get("code") == 404)
    s.wait("its volume, too", VOLUME + "/" + name, lambda v: v.get("code") == 404)
    s.delete(CLAIM + "/later")


# ---- Roles ----

ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def roles(s):
    rule = {"verbs": ["get"], "apiGroups": ["a.b"], "resources": ["things"]}
    s.make(ROLE, {"metadata": {"name": "whole"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"part-of": "whole"}}]}, "rules": []})
    s.make(ROLE, {"metadata": {"name": "part", "labels": {"part-of": "whole"}}, "rules": [rule]})
    s.wait("a role that is made of another", ROLE + "/whole", lambda v: v["rules"] == [rule])
    s.delete(ROLE + "/part")
    s.wait("a part less", ROLE + "/whole", lambda v: not v["rules"])
    s.delete(ROLE + "/whole")


# ---- Tokens ----

SECRET = "/api/v1/namespaces/default/secrets"
ACCOUNT = "/api/v1/namespaces/default/serviceaccounts"


def tokens(s):
    made = s.make(ACCOUNT, {"metadata": {"name": "robot"}})
    secret = {"metadata": {"name": "robot-token", "annotations": {"kubernetes.io/service-account.name": "robot"}},
              "type": "kubernetes.io/service-account-token"}
    s.make(SECRET, secret)
    got = s.wait("a token", SECRET + "/robot-token", lambda v: v["data"]["token"] and v["data"]["ca.crt"])
    check(got["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == made["metadata"]["uid"], "whose it is", got["metadata"])
    check(base64.b64decode(got["data"]["namespace"]) == b"default", "its namespace", got["data"])
    review = {"spec": {"token": base64.b64decode(got["data"]["token"]).decode()}}
    answer = s.make("/apis/authentication.k8s.io/v1/tokenreviews", review)
    check(answer["status"].get("user", {}).get("username") == "system:serviceaccount:default:robot", "it is good", answer["status"])
    s.delete(ACCOUNT + "/robot")
    s.wait("it goes with its account", SECRET + "/robot-token", lambda v: v.get("code") == 404)


STORIES = (services, many_endpoints, budgets, quotas, taints, static_volumes, made_volumes, roles, tokens, lost_nodes)


def main():
    with tempfile.TemporaryDirectory() as folder, Server(folder, *os.environ.get("BERTH_TEST_FLAGS", "").split()) as s:
        for story in STORIES:
            if len(sys.argv) < 3 or story.__name__ in sys.argv[2:]:
                begun = time.monotonic()
                story(s)
                print("%-40s %.1f s" % (story.__name__, time.monotonic() - begun))
    print("%d failures" % failures)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
