#!/usr/bin/env python3
"""Records what a real kube-apiserver with RBAC decides: tests/golden/apiserver/rbac*.jsonl.

    record_rbac.py HOST:PORT TOKEN KEY

The token's user is in system:masters; KEY is the public key of service accounts. The server is fresh, has --authorization-mode=Node,RBAC and, beside the flags of
tests/peers/trio.py, --disable-admission-plugins=ServiceAccount,NodeRestriction and a token file with the users iris, carl,
root and nora, whose tokens are iris-token and so on. A kube-controller-manager with
--controllers=clusterrole-aggregation-controller,serviceaccount-token-controller runs beside it. Each line is one JSON object:

    rbac_bootstrap.jsonl   the roles and bindings that are there at the start, without what differs from server to server
    rbac.jsonl             "object": something that is stored; "sar": the spec of a SubjectAccessReview and its answer, with
                           all reasons that were given (which of several bindings is named is a matter of luck);
                           "request": a request by somebody and its refusal; "write": the same with an object;
                           "rules": what a SelfSubjectRulesReview says; "impersonate": headers and what came of them
    reviews.jsonl          bodies of reviews, and the answers
    tokens.jsonl           tokens of service accounts, good and bad ones, with what a TokenReview says; requests for tokens
"""
import base64
import hmac
import http.client
import itertools
import json
import pathlib
import ssl
import sys
import time

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "apiserver"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
TRIES = 5  # of a question, for reasons that are a matter of luck


class Server:
    def __init__(self, address, token):
        self.address, self.token = address, token
        self.connection = None

    def ask(self, method, target, body=None, headers=(), token=None):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.address, context=ssl._create_unverified_context(), timeout=20)
        self.connection.putrequest(method, target)
        token = self.token if token is None else token
        if token:
            self.connection.putheader("Authorization", "Bearer " + token)
        for name, value in headers:
            self.connection.putheader(name, value)
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            self.connection.putheader("Content-Type", "application/json")
            self.connection.putheader("Content-Length", str(len(data)))
        self.connection.endheaders(data)
        answer = self.connection.getresponse()
        text = answer.read()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, {"text": text.decode("latin-1")}


def write(name, rows):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / name).write_text("".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows))
    print(f"{name}: {len(rows)} rows")


def without_times(o):
    meta = {k: v for k, v in o["metadata"].items() if k not in ("uid", "resourceVersion", "creationTimestamp", "managedFields")}
    return dict(o, metadata=meta)


# ---- What is stored ----

def rule(groups, resources, verbs, names=None):
    r = {"apiGroups": groups, "resources": resources, "verbs": verbs}
    return dict(r, resourceNames=names) if names else r


def role(name, *rules, namespace=None, labels=None, selects=None):
    o = {"apiVersion": GROUP + "/v1", "kind": "Role" if namespace else "ClusterRole",
         "metadata": {"name": name, **({"namespace": namespace} if namespace else {}), **({"labels": labels} if labels else {})}}
    if selects is not None:
        return dict(o, aggregationRule={"clusterRoleSelectors": selects})
    return dict(o, rules=list(rules))


def user(name):
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def group(name):
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def account(name, namespace=None):
    return {"kind": "ServiceAccount", "name": name, **({"namespace": namespace} if namespace else {})}


def binding(name, ref, *subjects, namespace=None, kind=None):
    kind = kind or ("Role" if namespace else "ClusterRole")
    return {"apiVersion": GROUP + "/v1", "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
            "subjects": list(subjects), "roleRef": {"apiGroup": GROUP, "kind": kind, "name": ref}}


def pod(name, namespace, node, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": dict({"containers": [{"name": "c", "image": "i"}], "nodeName": node}, **spec)}


OBJECTS = [
    role("everything", rule(["*"], ["*"], ["*"])),
    role("pod-reader", rule([""], ["pods", "pods/log"], ["get", "list", "watch"])),
    role("scaler", rule(["*"], ["*/scale"], ["get", "update"])),
    role("one-map", rule([""], ["configmaps"], ["get", "update", "list"], ["settings", "other"])),
    role("star-verbs", rule(["apps"], ["deployments"], ["*"])),
    role("star-resources", rule(["batch"], ["*"], ["get"])),
    role("odd-verbs", rule(["example.com"], ["things"], ["fly", "swim"])),
    role("urls", {"nonResourceURLs": ["/metrics", "/logs/*", "/x*"], "verbs": ["get"]}),
    role("binder", rule([GROUP], ["roles", "rolebindings", "clusterroles", "clusterrolebindings"], ["create", "update", "get"]),
         rule([""], ["pods"], ["get"]), rule([""], ["configmaps"], ["get"], ["a", "b"]), rule(["apps"], ["*"], ["get", "list"]),
         rule(["*"], ["*/status"], ["get"]), {"nonResourceURLs": ["/logs/*"], "verbs": ["get"]}),
    role("may-bind", rule([GROUP], ["clusterroles"], ["bind"], ["pod-reader"]), rule([GROUP], ["rolebindings"], ["create"])),
    role("may-escalate", rule([GROUP], ["roles"], ["escalate", "create", "update"])),
    role("impersonator", rule([""], ["users"], ["impersonate"], ["jane"]), rule([""], ["groups"], ["impersonate"], ["ops", "dev"]),
         rule([""], ["serviceaccounts"], ["impersonate"], ["robot"]), rule(["authentication.k8s.io"], ["uids"], ["impersonate"], ["7"]),
         rule(["authentication.k8s.io"], ["userextras/scopes"], ["impersonate"], ["view"])),
    role("constrained", rule(["authentication.k8s.io"], ["users"], ["impersonate:user-info"], ["jane"]),
         rule(["authentication.k8s.io"], ["groups"], ["impersonate:user-info"], ["ops"]),
         rule([""], ["pods"], ["impersonate-on:user-info:list"]),
         rule(["authentication.k8s.io"], ["nodes"], ["impersonate:arbitrary-node"], ["n1"]),
         rule([""], ["nodes"], ["impersonate-on:arbitrary-node:get"]),
         rule(["authentication.k8s.io"], ["serviceaccounts"], ["impersonate:serviceaccount"], ["robot"]),
         rule([""], ["configmaps"], ["impersonate-on:serviceaccount:get"])),
    role("part-x", rule([""], ["secrets"], ["get"]), labels={"part": "x"}),
    role("part-y", rule([""], ["nodes"], ["list"]), rule([""], ["secrets"], ["get"]), labels={"part": "y"}),
    role("sum-xy", labels={"sum": "xy"}, selects=[{"matchLabels": {"part": "x"}}, {"matchExpressions": [{"key": "part", "operator": "In", "values": ["y"]}]}]),
    role("sum-of-sums", selects=[{"matchExpressions": [{"key": "sum", "operator": "Exists"}]}]),
    role("custom-view", rule(["example.com"], ["things"], ["get", "list"]), labels={GROUP + "/aggregate-to-view": "true"}),
    binding("all", "everything", user("root")),
    binding("readers", "pod-reader", group("readers"), user("rita")),
    binding("scalers", "scaler", user("sam")),
    binding("maps", "one-map", user("maria")),
    binding("stars", "star-verbs", user("stan")),
    binding("batches", "star-resources", user("stan")),
    binding("odds", "odd-verbs", user("otto")),
    binding("paths", "urls", user("ursula"), account("robot", "a")),
    binding("sums", "sum-of-sums", user("susan")),
    binding("viewers", "view", user("vera")),
    binding("nowhere", "no-such-role", user("nora")),
    binding("binders", "binder", user("bert")),
    binding("impersonators", "impersonator", user("iris")),
    binding("constrained", "constrained", user("carl")),
    role("local", rule([""], ["pods"], ["create", "delete"]), rule([""], ["services"], ["get"], ["web"]), namespace="a"),
    role("local", rule([""], ["secrets"], ["list"]), namespace="b"),
    binding("here", "local", user("lars"), account("robot"), group("locals"), namespace="a"),
    binding("there", "local", account("robot", "a"), namespace="b"),
    binding("cluster-role-here", "pod-reader", user("lena"), account("default"), namespace="a", kind="ClusterRole"),
    binding("editors", "edit", user("edna"), namespace="b", kind="ClusterRole"),
    binding("admins", "admin", user("adam"), namespace="a", kind="ClusterRole"),
    binding("missing", "no-such-role", user("nora"), namespace="a"),
    binding("missing-too", "no-such-cluster-role", user("nora"), namespace="a", kind="ClusterRole"),
    binding("may-bind", "may-bind", user("bella"), namespace="a", kind="ClusterRole"),
    binding("may-escalate", "may-escalate", user("ella"), namespace="a", kind="ClusterRole"),
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v1"},
     "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": {"namespace": "a", "name": "claim1"},
              "csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "csi-node", "namespace": "b"},
                      "controllerPublishSecretRef": {"name": "csi-controller", "namespace": "b"}}}},
    {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v2"},
     "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": {"namespace": "a", "name": "claim2"},
              "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:storage", "lun": 0, "secretRef": {"name": "iscsi"}}}},
    {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "att1"},
     "spec": {"attacher": "d", "nodeName": "n1", "source": {"persistentVolumeName": "v1"}}},
    {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "slice1"},
     "spec": {"driver": "d", "nodeName": "n1", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}},
    pod("p1", "a", "n1", serviceAccountName="robot", imagePullSecrets=[{"name": "pull"}],
        volumes=[{"name": "s", "secret": {"secretName": "vol-secret"}}, {"name": "m", "configMap": {"name": "vol-map"}},
                 {"name": "p", "persistentVolumeClaim": {"claimName": "claim1"}},
                 {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
                 {"name": "j", "projected": {"sources": [{"secret": {"name": "proj-secret"}}, {"configMap": {"name": "proj-map"}}]}}],
        containers=[{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "env-secret"}}, {"configMapRef": {"name": "env-map"}}],
                     "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "key-secret", "key": "k"}}},
                             {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "key-map", "key": "k"}}}]}],
        initContainers=[{"name": "i", "image": "i", "envFrom": [{"secretRef": {"name": "init-secret"}}]}],
        resourceClaims=[{"name": "r", "resourceClaimName": "rc1"}]),
    pod("p2", "a", "n2", volumes=[{"name": "s", "secret": {"secretName": "other-secret"}}, {"name": "p", "persistentVolumeClaim": {"claimName": "claim2"}}]),
    dict(pod("mirror", "a", "n1", volumes=[{"name": "s", "secret": {"secretName": "mirror-secret"}}]),
         metadata={"name": "mirror", "namespace": "a", "annotations": {"kubernetes.io/config.mirror": "x"}}),
]

PLACES = {"ClusterRole": RBAC + "/clusterroles", "ClusterRoleBinding": RBAC + "/clusterrolebindings",
          "Role": RBAC + "/namespaces/%s/roles", "RoleBinding": RBAC + "/namespaces/%s/rolebindings",
          "Pod": "/api/v1/namespaces/%s/pods", "PersistentVolume": "/api/v1/persistentvolumes",
          "VolumeAttachment": "/apis/storage.k8s.io/v1/volumeattachments", "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices"}


def place(o):
    path = PLACES[o["kind"]]
    return path % o["metadata"]["namespace"] if "%s" in path else path


def store(server):
    for name in ("a", "b"):
        server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        for sa in ("robot", "default"):
            server.ask("POST", "/api/v1/namespaces/%s/serviceaccounts" % name, {"metadata": {"name": sa}})
    rows = []
    for o in OBJECTS:
        code, answer = server.ask("POST", place(o), o)
        assert code in (201, 409), (code, answer)
        rows.append({"object": o})
    return rows


# ---- Questions ----

USERS = [("root", []), ("rita", []), ("x", ["readers", "system:authenticated"]), ("sam", []), ("maria", []), ("stan", []), ("otto", []),
         ("ursula", []), ("susan", []), ("vera", []), ("nora", []), ("lars", []), ("lena", []), ("edna", []), ("adam", []),
         ("y", ["locals", "others"]), ("system:serviceaccount:a:robot", ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]),
         ("system:serviceaccount:a:default", []), ("system:serviceaccount:b:default", []), ("nobody", ["system:unauthenticated"]),
         ("boss", ["system:masters"]), ("system:kube-scheduler", []), ("system:kube-controller-manager", []),
         ("system:serviceaccount:kube-system:node-controller", [])]


def at(verb, resource, group="", namespace="", name="", sub="", **more):
    r = {"verb": verb, "resource": resource, "group": group, "namespace": namespace, "name": name, "subresource": sub}
    return {"resourceAttributes": dict({k: v for k, v in r.items() if v}, **more)}


def path(verb, text):
    return {"nonResourceAttributes": {"verb": verb, "path": text}}


QUESTIONS = [
    at("get", "pods", namespace="a", name="p"), at("list", "pods"), at("create", "pods", namespace="a"), at("delete", "pods", namespace="b"),
    at("get", "pods", namespace="a", sub="log"), at("get", "pods", namespace="a", sub="exec"), at("get", "deployments", "apps", "a", sub="scale"),
    at("update", "replicasets", "apps", "b", sub="scale"), at("patch", "deployments", "apps", "a"), at("fly", "deployments", "apps"),
    at("get", "configmaps", namespace="b", name="settings"), at("get", "configmaps", namespace="b", name="x"), at("list", "configmaps", namespace="b"),
    at("get", "jobs", "batch", "a"), at("get", "jobs", "batch", "a", sub="status"), at("fly", "things", "example.com"), at("swim", "things", "example.com"),
    at("get", "things", "example.com"), at("*", "pods", namespace="a"), at("get", "*", "*"), at("get", "services", namespace="a", name="web"),
    at("get", "secrets", namespace="a", name="s"), at("list", "secrets", namespace="b"), at("list", "nodes"), at("impersonate", "serviceaccounts", namespace="b"),
    at("create", "rolebindings", GROUP, "a"), at("create", "tokenreviews", "authentication.k8s.io"), at("create", "selfsubjectaccessreviews", "authorization.k8s.io"),
    path("get", "/metrics"), path("get", "/logs/a/b"), path("get", "/logs"), path("get", "/xyz"), path("post", "/metrics"), path("get", "/api"), path("get", "/healthz"),
]

NODE_QUESTIONS = [
    at("get", "secrets", namespace="a", name=n) for n in ("pull", "vol-secret", "proj-secret", "env-secret", "key-secret", "init-secret", "other-secret", "mirror-secret", "iscsi", "none")
] + [at("get", "configmaps", namespace="a", name=n) for n in ("vol-map", "proj-map", "env-map", "key-map", "none")
] + [
    at("get", "secrets", namespace="b", name="csi-node"), at("get", "secrets", namespace="b", name="csi-controller"), at("get", "secrets", namespace="b", name="pull"),
    at("list", "secrets", namespace="a"), at("list", "secrets", namespace="a", name="pull"), at("watch", "configmaps", namespace="a", name="vol-map"),
    at("get", "secrets"), at("create", "secrets", namespace="a"), at("get", "secrets", namespace="a", name="pull", sub="x"),
    at("get", "persistentvolumeclaims", namespace="a", name="claim1"), at("get", "persistentvolumeclaims", namespace="a", name="claim2"),
    at("get", "persistentvolumeclaims", namespace="a", name="p1-e"), at("list", "persistentvolumeclaims", namespace="a"),
    at("update", "persistentvolumeclaims", namespace="a", name="claim1", sub="status"), at("get", "persistentvolumeclaims", namespace="a", name="claim1", sub="status"),
    at("patch", "persistentvolumeclaims", namespace="a", name="claim2", sub="status"),
    at("get", "persistentvolumes", name="v1"), at("get", "persistentvolumes", name="v2"), at("list", "persistentvolumes"), at("get", "persistentvolumes"),
    at("get", "resourceclaims", "resource.k8s.io", "a", "rc1"), at("get", "resourceclaims", "resource.k8s.io", "a", "rc2"),
    at("get", "volumeattachments", "storage.k8s.io", name="att1"), at("get", "volumeattachments", "storage.k8s.io", name="att2"), at("list", "volumeattachments", "storage.k8s.io"),
    at("get", "serviceaccounts", namespace="a", name="robot"), at("get", "serviceaccounts", namespace="a", name="default"),
    at("create", "serviceaccounts", namespace="a", name="robot", sub="token"), at("create", "serviceaccounts", namespace="a", name="default", sub="token"),
    at("create", "serviceaccounts", namespace="a", sub="token"), at("create", "serviceaccounts", namespace="a", name="robot"), at("list", "serviceaccounts", namespace="a"),
    at("get", "leases", "coordination.k8s.io", "kube-node-lease", "n1"), at("get", "leases", "coordination.k8s.io", "kube-node-lease", "n2"),
    at("create", "leases", "coordination.k8s.io", "kube-node-lease"), at("list", "leases", "coordination.k8s.io", "kube-node-lease"), at("get", "leases", "coordination.k8s.io", "a", "n1"),
    at("get", "csinodes", "storage.k8s.io", name="n1"), at("update", "csinodes", "storage.k8s.io", name="n2"), at("create", "csinodes", "storage.k8s.io"),
    at("watch", "csinodes", "storage.k8s.io"), at("get", "csinodes", "storage.k8s.io", name="n1", sub="status"),
    at("get", "resourceslices", "resource.k8s.io", name="slice1"), at("create", "resourceslices", "resource.k8s.io"), at("list", "resourceslices", "resource.k8s.io"),
    at("list", "resourceslices", "resource.k8s.io", fieldSelector={"rawSelector": "spec.nodeName=n1"}), at("escalate", "resourceslices", "resource.k8s.io"),
    at("get", "resourceslices", "resource.k8s.io", name="slice1", sub="status"),
    at("get", "nodes", name="n1"), at("get", "nodes", name="n2"), at("list", "nodes"), at("watch", "nodes", name="n1"), at("create", "nodes"), at("update", "nodes", name="n2"),
    at("delete", "nodes", name="n1"), at("patch", "nodes", name="n1", sub="status"), at("get", "nodes", name="n1", sub="status"), at("get", "nodes", name="n1", sub="proxy"),
    at("get", "pods", namespace="a", name="p1"), at("get", "pods", namespace="a", name="p2"), at("get", "pods", namespace="a", name="mirror"), at("list", "pods"),
    at("list", "pods", fieldSelector={"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]}),
    at("watch", "pods", fieldSelector={"rawSelector": "spec.nodeName=n2"}), at("list", "pods", fieldSelector={"rawSelector": "spec.nodeName!=n1"}),
    at("watch", "pods", namespace="a", name="p1"), at("watch", "pods", namespace="a", name="p2"), at("create", "pods", namespace="a"), at("delete", "pods", namespace="a", name="p2"),
    at("patch", "pods", namespace="a", name="p1"), at("update", "pods", namespace="a", name="p1", sub="status"), at("get", "pods", namespace="a", name="p1", sub="status"),
    at("create", "pods", namespace="a", name="p1", sub="eviction"), at("create", "pods", namespace="a", name="p1", sub="binding"),
    at("list", "services"), at("create", "events", namespace="a"), at("create", "certificatesigningrequests", "certificates.k8s.io"), at("get", "podcertificaterequests", "certificates.k8s.io", "a", "x"),
    at("list", "runtimeclasses", "node.k8s.io"), at("list", "endpoints"), at("get", "endpoints", namespace="a", name="e"), at("deletecollection", "resourceslices", "resource.k8s.io"),
    path("get", "/healthz"), path("get", "/api"), path("get", "/metrics"),
]
NODES = [("system:node:n1", ["system:nodes"]), ("system:node:n2", ["system:nodes", "system:authenticated"]), ("system:node:n1", []), ("system:node:", ["system:nodes"])]


def record_questions(server):
    rows = []
    for (name, groups), question in itertools.chain(itertools.product(USERS, QUESTIONS), itertools.product(NODES, NODE_QUESTIONS)):
        spec = dict(question, user=name, groups=groups)
        reasons = set()
        for _ in range(TRIES):
            code, answer = server.ask("POST", AUTHORIZATION + "/subjectaccessreviews", {"spec": spec})
            assert code == 201, answer
            reasons.add(answer["status"].get("reason", ""))
        rows.append({"sar": spec, "allowed": answer["status"]["allowed"], "reasons": sorted(reasons),
                     **({"evaluationError": answer["status"]["evaluationError"]} if "evaluationError" in answer["status"] else {})})
    return rows


def as_user(name, groups=()):
    return [("Impersonate-User", name)] + [("Impersonate-Group", g) for g in groups]


REQUESTS = [("GET", "/api/v1/pods"), ("GET", "/api/v1/namespaces/a/pods/p1"), ("GET", "/api/v1/namespaces/a/pods/p1/log"), ("POST", "/api/v1/namespaces/b/pods"),
            ("DELETE", "/apis/apps/v1/namespaces/a/deployments/d"), ("DELETE", "/apis/apps/v1/namespaces/a/deployments"), ("PUT", "/api/v1/nodes/n1/status"),
            ("PATCH", "/apis/apps/v1/namespaces/a/statefulsets/s/scale"), ("GET", "/api/v1/namespaces/a"), ("GET", "/metrics"), ("GET", "/a<b>&c"), ("GET", "/api/v1/secrets?watch=1"),
            ("GET", "/api/v1/namespaces/b/configmaps?fieldSelector=metadata.name%3Dsettings&watch=true"), ("GET", "/apis/nope/v1/things/x"), ("GET", "/logs"),
            ("POST", "/api/v1/namespaces/a/pods/p1/exec"), ("GET", "/api/v1/watch/namespaces/a/secrets")]


def record_requests(server):
    rows = []
    for name, groups in (("nobody", ()), ("nora", ()), ('quo"ted', ("g",)), ("lars", ()), ("system:node:n1", ("system:nodes",)), ("a<b>&c", ()), ("maria", ())):
        for method, target in REQUESTS:
            body = {} if method in ("POST", "PUT", "PATCH") else None
            code, answer = server.ask(method, target, body, as_user(name, groups))
            row = {"request": [method, target], "user": name, "groups": list(groups) + ["system:authenticated"], "forbidden": code == 403}
            if code == 403:
                row["message"], row["details"] = answer["message"], answer["details"]
            rows.append(row)
    return rows


def record_writes(server):
    objects = [
        role("new", rule([""], ["pods"], ["get"])), role("new", rule([""], ["pods"], ["get", "list"])), role("new", rule(["", "apps"], ["pods", "secrets"], ["get", "list"])),
        role("new", rule([""], ["configmaps"], ["get"], ["a"])), role("new", rule([""], ["configmaps"], ["get", "update"], ["a", "b", "c"])), role("new", rule([""], ["configmaps"], ["get"])),
        role("new", rule(["apps"], ["deployments", "deployments/scale"], ["get"])), role("new", rule(["apps"], ["*"], ["get"])), role("new", rule(["*"], ["*"], ["*"])),
        role("new", rule([""], ["pods/status"], ["get"])), role("new", rule(["batch"], ["*/status"], ["get"])), role("new", {"nonResourceURLs": ["/logs/x", "/logs/*"], "verbs": ["get"]}),
        role("new", {"nonResourceURLs": ["/x", "/logs/y"], "verbs": ["get", "*"]}), role("new"), role("new", selects=[{"matchLabels": {"a": "b"}}]),
        role("new", rule([""], ["pods"], ["get"]), namespace="a"), role("new", rule([""], ["secrets"], ["get"]), namespace="a"),
        role("new", rule([""], ["pods"], ["create"]), namespace="a"), role("new", rule([""], ["services"], ["get"], ["web"]), namespace="a"),
        binding("new", "pod-reader", user("u")), binding("new", "binder", user("u")), binding("new", "nope", user("u")), binding("new", "sum-of-sums", user("u")),
        binding("new", "local", user("u"), namespace="a"), binding("new", "nope", user("u"), namespace="a"),
        binding("new", "pod-reader", user("u"), namespace="a", kind="ClusterRole"), binding("new", "edit", user("u"), namespace="a", kind="ClusterRole"),
        binding("new", "nope", user("u"), namespace="a", kind="ClusterRole"), binding("new", "view", user("u"), namespace="b", kind="ClusterRole"),
    ]
    rows = []
    for name in ("bert", "bella", "ella", "adam", "root", "lars"):
        for o in objects:
            code, answer = server.ask("POST", place(o) + "?dryRun=All", o, as_user(name))
            if code == 403 and "cannot create resource" in answer["message"]:
                continue
            assert code in (201, 403, 404), answer
            rows.append({"write": o, "user": name, "groups": ["system:authenticated"], "code": code, **({"message": answer["message"], "details": answer["details"]} if code != 201 else {})})
    return rows


def effective(name, groups):
    """The groups of somebody who was named without or with some."""
    words = name.split(":")
    if not groups and words[:2] == ["system", "serviceaccount"]:
        groups = ["system:serviceaccounts", "system:serviceaccounts:" + words[2]]
    return groups + [g for g in ["system:authenticated"] if g not in groups]


def record_rules(server):
    rows = []
    for name, groups in USERS + NODES:
        if name == "boss":
            continue
        for namespace in ("a", "b"):
            code, answer = server.ask("POST", AUTHORIZATION + "/selfsubjectrulesreviews", {"spec": {"namespace": namespace}}, as_user(name, groups))
            if code == 403:
                continue  # who is not authenticated may not ask
            assert code == 201, answer
            rows.append({"rules": answer["status"], "namespace": namespace, "user": name, "groups": effective(name, groups)})
    return rows


def record_impersonation(server, tokens):
    """`who` is somebody with a token of their own."""
    asked = [
        [("Impersonate-User", "jane")], [("Impersonate-User", "joe")], [("Impersonate-User", "jane"), ("Impersonate-Group", "ops")],
        [("Impersonate-User", "jane"), ("Impersonate-Group", "ops"), ("Impersonate-Group", "dev")], [("Impersonate-User", "jane"), ("Impersonate-Group", "boss")],
        [("Impersonate-User", "jane"), ("Impersonate-Group", "system:masters")], [("Impersonate-User", "jane"), ("Impersonate-Group", "")],
        [("Impersonate-User", "jane"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b"), ("Impersonate-Group", "c"), ("Impersonate-Group", "d")],
        [("Impersonate-User", "jane"), ("Impersonate-Uid", "7")], [("Impersonate-User", "jane"), ("Impersonate-Uid", "8")],
        [("Impersonate-User", "jane"), ("Impersonate-Extra-Scopes", "view")], [("Impersonate-User", "jane"), ("Impersonate-Extra-Scopes", "edit")],
        [("Impersonate-User", "jane"), ("Impersonate-Extra-Acme.com%2fProject", "x")], [("Impersonate-User", "jane"), ("Impersonate-Group", "system:unauthenticated")],
        [("Impersonate-User", "system:anonymous")], [("Impersonate-User", "system:serviceaccount:a:robot")], [("Impersonate-User", "system:serviceaccount:a:other")],
        [("Impersonate-User", "system:serviceaccount:a:robot"), ("Impersonate-Group", "ops")], [("Impersonate-User", "system:serviceaccount:a")],
        [("Impersonate-User", "system:node:n1")], [("Impersonate-User", "system:node:n2")], [("Impersonate-User", "system:node:n1"), ("Impersonate-Group", "ops")],
        [("Impersonate-Group", "ops")], [("Impersonate-Uid", "7")], [("Impersonate-Extra-Scopes", "view")], [("Impersonate-Uid", "7"), ("Impersonate-Group", "x"), ("Impersonate-Group", 'y"z')],
    ]
    targets = ["/api/v1/namespaces/a/configmaps/none", "/api/v1/pods", "/api/v1/nodes/n1", "/apis/authentication.k8s.io/v1/selfsubjectreviews"]
    rows = []
    for (who, token), headers, target in itertools.product(tokens, asked, targets):
        method, body = ("POST", {}) if "reviews" in target else ("GET", None)
        code, answer = server.ask(method, target, body, headers, token)
        row = {"impersonate": headers, "request": [method, target], "who": who, "code": code}
        if code >= 400:
            row["message"] = answer["message"]
        elif "reviews" in target:
            row["user"] = answer["status"]["userInfo"]
        rows.append(row)
    return rows


def record_reviews(server):
    get_pod = {"verb": "get", "resource": "pods", "namespace": "a"}
    fields = lambda **selector: dict(get_pod, verb="list", fieldSelector=selector)
    labels = lambda **selector: dict(get_pod, verb="list", labelSelector=selector)
    specs = [{}, {"resourceAttributes": get_pod}, {"nonResourceAttributes": {"verb": "get", "path": "/x"}},
             {"resourceAttributes": get_pod, "nonResourceAttributes": {"verb": "get", "path": "/x"}}, {"resourceAttributes": {}}, {"nonResourceAttributes": {}},
             {"resourceAttributes": dict(get_pod, namespace="b")}, {"resourceAttributes": {"verb": "get", "resource": "pods"}}]
    selectors = [{"rawSelector": "a=b"}, {"rawSelector": "a=b,"}, {"rawSelector": "=,,"}, {}, {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]},
                 {"requirements": [{"key": "a", "operator": "In", "values": ["x"]}]}, {"requirements": [{"key": "a", "operator": "In", "values": []}]},
                 {"requirements": [{"key": "a", "operator": "In", "values": ["x", "y"]}]}, {"requirements": [{"key": "a", "operator": "Exists", "values": ["x"]}]},
                 {"requirements": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "In", "values": ["x"]}]}, {"requirements": [{"key": "", "operator": "In", "values": ["x"]}]},
                 {"requirements": [{"key": "a", "operator": "Odd", "values": ["x"]}]}, {"requirements": [{"key": "a", "operator": "", "values": ["x"]}]},
                 {"requirements": [{"key": "a b", "operator": "NotIn", "values": ["x y"]}]}, {"requirements": [{"key": "a", "operator": "DoesNotExist"}]}]
    specs += [{"resourceAttributes": f(**s)} for f in (fields, labels) for s in selectors]
    specs += [{"resourceAttributes": dict(fields(**selectors[3]), **{"labelSelector": selectors[4]})}]
    whole = [{"metadata": {"name": "x"}, "spec": specs[1]}, {"metadata": {"labels": {"a": "b"}, "namespace": "a"}, "spec": specs[1]}, {"metadata": {"namespace": "a"}, "spec": specs[1]}, {}]
    rows = []

    def ask(kind, path, body, user_headers=(), also=None):
        code, answer = server.ask("POST", path, body, user_headers)
        row = {"kind": kind, "path": path, "body": body, "code": code, **(also or {})}
        if code >= 400:
            row["message"] = answer["message"]
            row["details"] = answer.get("details")
        else:
            answer["metadata"].pop("managedFields", None)
            row["status"], row["spec"] = answer.get("status"), answer.get("spec")
        rows.append(row)

    for body in [{"spec": s} for s in specs] + whole:
        ask("SelfSubjectAccessReview", AUTHORIZATION + "/selfsubjectaccessreviews", body, as_user("rita"), {"user": "rita", "groups": ["system:authenticated"]})
        for who in ({"user": "rita"}, {"groups": ["readers"]}, {}, {"user": "u", "uid": "1", "extra": {"k": ["v"]}}):
            full = dict(body, spec=dict(body.get("spec", {}), **who))
            ask("SubjectAccessReview", AUTHORIZATION + "/subjectaccessreviews", full)
        ask("LocalSubjectAccessReview", AUTHORIZATION + "/namespaces/a/localsubjectaccessreviews", dict(body, spec=dict(body.get("spec", {}), user="rita")))
    ask("SelfSubjectRulesReview", AUTHORIZATION + "/selfsubjectrulesreviews", {"spec": {}})
    ask("TokenReview", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {}})
    ask("TokenReview", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "no-such"}})
    ask("TokenReview", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "iris-token"}})
    ask("TokenReview", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "iris-token", "audiences": ["x"]}})
    for name, groups in (("rita", ()), ("system:anonymous", ()), ("system:serviceaccount:a:robot", ())):
        ask("SelfSubjectReview", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, as_user(name, groups), {"user": name})
    return rows


def encode(o):
    return base64.urlsafe_b64encode(o if isinstance(o, bytes) else json.dumps(o).encode()).decode().rstrip("=")


def hostile(token, public_key):
    """(what is wrong, token)"""
    header, payload, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "==="))
    hmac_part = encode({"alg": "HS256"}) + "." + payload
    confused = hmac_part + "." + encode(hmac.digest(public_key, hmac_part.encode(), "sha256"))
    return [("no signature", encode({"alg": "none"}) + "." + payload + "."), ("the public key as a secret", confused),
            ("another algorithm", encode({"alg": "ES256"}) + "." + payload + "." + signature), ("RS512", encode({"alg": "RS512"}) + "." + payload + "." + signature),
            ("an unknown key", encode({"alg": "RS256", "kid": "x"}) + "." + payload + "." + signature), ("no key named", encode({"alg": "RS256"}) + "." + payload + "." + signature),
            ("another end", token[:-6] + "AAAAAA"), ("cut off", token[:-6]), ("two parts", header + "." + payload), ("four parts", token + ".x"), ("no base64", header + ".!!." + signature),
            ("padded", header + "." + payload + "=." + signature), ("a bad signature text", header + "." + payload + ".!!!"), ("no JSON", header + "." + encode(b"x") + "." + signature),
            ("a list", header + "." + encode([1]) + "." + signature), ("another issuer", header + "." + encode(dict(claims, iss="x")) + "." + signature),
            ("no issuer", header + "." + encode({}) + "." + signature), ("an issuer that is no text", header + "." + encode(dict(claims, iss=7)) + "." + signature),
            ("the legacy issuer", header + "." + encode(dict(claims, iss="kubernetes/serviceaccount")) + "." + signature),
            ("more rights", header + "." + encode(dict(claims, sub="system:serviceaccount:kube-system:admin")) + "." + signature), ("nothing", "x"), ("dots", "..")]


def record_tokens(server, key_file):
    public_key = pathlib.Path(key_file).read_bytes()
    rows = [{"key": public_key.decode()}]
    for what, target in (("jwks", "/openid/v1/jwks"), ("configuration", "/.well-known/openid-configuration")):
        rows.append({what: server.ask("GET", target)[1]})
    server.ask("POST", "/api/v1/namespaces/a/secrets", {"metadata": {"name": "legacy", "annotations": {"kubernetes.io/service-account.name": "robot"}}, "type": "kubernetes.io/service-account-token"})
    time.sleep(2)  # until the token controller filled it in
    for path in ("/api/v1/namespaces/a/serviceaccounts/robot", "/api/v1/namespaces/a/secrets/legacy", "/api/v1/namespaces/a/pods/p1"):
        o = server.ask("GET", path)[1]
        o["metadata"].pop("managedFields", None)
        rows.append({"object": o})
    legacy = base64.b64decode(rows[-2]["object"]["data"]["token"]).decode()
    make = "/api/v1/namespaces/a/serviceaccounts/robot/token"
    specs = [{}, {"audiences": ["x"]}, {"audiences": ["x", "https://kubernetes.default.svc"]}, {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p1"}},
             {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "legacy"}}]
    tokens = [("legacy", legacy)] + [(json.dumps(spec), server.ask("POST", make, {"spec": spec})[1]["status"]["token"]) for spec in specs]
    tokens += hostile(tokens[1][1], public_key)
    for what, token in tokens:
        for audiences in ([], ["x"], ["https://kubernetes.default.svc", "x"]):
            code, answer = server.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token, "audiences": audiences}})
            rows.append({"what": what, "token": token, "audiences": audiences, "now": int(time.time()), "status": answer["status"]})
    bodies = [{}, {"spec": {"expirationSeconds": 5}}, {"spec": {"expirationSeconds": 599}}, {"spec": {"expirationSeconds": 600}}, {"spec": {"expirationSeconds": 4294967297}},
              {"spec": {"audiences": ["x"]}}, {"metadata": {"name": "other"}}, {"metadata": {"uid": "7"}}, {"metadata": {"name": "robot"}}]
    bodies += [{"spec": {"boundObjectRef": ref, "expirationSeconds": 3607}} for ref in (
        {"kind": "Pod", "apiVersion": "v1", "name": "none"}, {"kind": "Pod", "apiVersion": "v1", "name": "p2"}, {"kind": "Pod", "apiVersion": "v1", "name": "p1"},
        {"kind": "Pod", "apiVersion": "v1", "name": "p1", "uid": "1"}, {"kind": "Foo", "apiVersion": "x/v1", "name": "p1"}, {"kind": "Pod", "apiVersion": "apps/v1", "name": "p1"},
        {"kind": "Secret", "apiVersion": "v1", "name": "none"}, {"kind": "Secret", "apiVersion": "v1", "name": "legacy"}, {"kind": "Node", "apiVersion": "v1", "name": "none"}, {})]
    rows.append({"object": without_times(server.ask("GET", "/api/v1/namespaces/a/pods/p2")[1])})
    for account, body in itertools.product(("robot", "none"), bodies):
        code, answer = server.ask("POST", make.replace("robot", account), body)
        row = {"request": body, "account": account, "code": code}
        if code >= 400:
            row["message"], row["details"] = answer["message"], answer.get("details")
        else:
            part = answer["status"]["token"].split(".")[1]
            row["spec"], row["claims"] = answer["spec"], json.loads(base64.urlsafe_b64decode(part + "==="))
        rows.append(row)
    return rows


def main():
    server = Server(sys.argv[1], sys.argv[2])
    start = []
    for kind in ("clusterroles", "clusterrolebindings", "roles", "rolebindings"):
        code, answer = server.ask("GET", RBAC + "/" + kind)
        for o in answer["items"]:
            if o["metadata"].get("labels", {}).get("kubernetes.io/bootstrapping"):
                if o.get("aggregationRule"):
                    o["rules"] = None
                start.append(dict(without_times(o), kind=answer["kind"][:-len("List")], apiVersion=GROUP + "/v1"))
    write("rbac_bootstrap.jsonl", start)
    rows = store(server)
    time.sleep(3)  # until roles are summed up and caches are filled
    tokens = [("iris", "iris-token"), ("carl", "carl-token"), ("root", "root-token"), ("nora", "nora-token")]
    rows += record_questions(server) + record_requests(server) + record_writes(server) + record_rules(server) + record_impersonation(server, tokens)
    write("rbac.jsonl", rows)
    write("reviews.jsonl", record_reviews(server))
    write("tokens.jsonl", record_tokens(server, sys.argv[3]))


main()
