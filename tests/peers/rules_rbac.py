"""Rows for roles and bindings, PriorityClass, RuntimeClass, CertificateSigningRequest; see rule_rows.py."""
from rule_rows import DROP, Rows

GROUP = "rbac.authorization.k8s.io/v1"
RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}

roles = Rows(GROUP, "roles", {"apiVersion": GROUP, "kind": "Role", "metadata": {"name": "r"}, "rules": [RULE]})
roles.create("a role")
roles.create("any name", {"metadata.name": "System:R X"})
roles.create("a bad name", {"metadata.name": "a/b"})
roles.create("nothing in a rule", {"rules": [{"verbs": []}]})
roles.create("urls", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]})
roles.create("urls and resources", {"rules": [{**RULE, "nonResourceURLs": ["/a"]}]})
roles.update("nothing", {})
roles.update("another rule", {"rules": [RULE, {"verbs": ["get"]}]})

clusterroles = Rows(GROUP, "clusterroles", {"apiVersion": GROUP, "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [RULE]})
clusterroles.create("a role")
clusterroles.create("urls", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]})
clusterroles.create("no selectors", {"aggregationRule": {}})
clusterroles.create("selectors", {"rules": DROP, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}})
clusterroles.create("bad selectors", {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a b": "b"}}, {"matchExpressions": [{"key": "a", "operator": "X"}]}]}})
clusterroles.update("nothing", {})

bindings = Rows(GROUP, "rolebindings", {"apiVersion": GROUP, "kind": "RoleBinding", "metadata": {"name": "b"},
                                        "roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]})
bindings.create("a binding")
bindings.create("no role", {"roleRef": DROP})
bindings.create("a bad role", {"roleRef": {"apiGroup": "x", "kind": "Y", "name": "a/b"}})
bindings.create("a cluster's role", {"roleRef.kind": "ClusterRole"})
bindings.create("subjects", {"subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "n"}, {"kind": "Group", "name": "g"}]})
bindings.create("bad subjects", {"subjects": [{"kind": "X", "name": ""}, {"kind": "ServiceAccount", "name": "S_", "apiGroup": "x"}, {"kind": "User", "name": "u", "apiGroup": "x"}]})
bindings.create("a service account of here", {"subjects": [{"kind": "ServiceAccount", "name": "s"}]})
bindings.update("nothing", {})
bindings.update("another role", {"roleRef.name": "q"})
bindings.update("other subjects", {"subjects": []})

clusterbindings = Rows(GROUP, "clusterrolebindings", {"apiVersion": GROUP, "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
                                                      "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "Group", "name": "u"}]})
clusterbindings.create("a binding")
clusterbindings.create("a role of a namespace", {"roleRef.kind": "Role"})
clusterbindings.create("a service account of nowhere", {"subjects": [{"kind": "ServiceAccount", "name": "s"}]})
clusterbindings.update("another role", {"roleRef.name": "q"})

priorities = Rows("scheduling.k8s.io/v1", "priorityclasses", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "p"}, "value": 5})
priorities.create("a class")
priorities.create("too high", {"value": 1000000001})
priorities.create("negative", {"value": -7, "preemptionPolicy": "Never"})
priorities.create("a reserved name", {"metadata.name": "system-x"})
priorities.create("a system class of another value", {"metadata.name": "system-node-critical"})
priorities.create("a system class for all", {"metadata.name": "system-cluster-critical", "value": 2000000000, "globalDefault": True})
priorities.create("unknown policy", {"preemptionPolicy": "X"})
priorities.update("nothing", {})
priorities.update("another value", {"value": 6, "preemptionPolicy": "Never"})
priorities.update("the default", {"globalDefault": True, "description": "d"})

runtimes = Rows("node.k8s.io/v1", "runtimeclasses", {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "r"}, "handler": "h"})
runtimes.create("a class")
runtimes.create("no handler", {"handler": ""})
runtimes.create("a bad handler", {"handler": "H_"})
runtimes.create("a bad selector", {"scheduling.nodeSelector": {"a b": "c"}})
runtimes.create("an old label", {"scheduling.nodeSelector": {"beta.kubernetes.io/os": "c"}})
runtimes.create("a toleration twice", {"scheduling.tolerations": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "Exists"}]})
runtimes.create("bad tolerations", {"scheduling.tolerations": [{"key": "a b", "operator": "X"}, {"operator": "Equal"}, {"key": "a", "operator": "Exists", "value": "v", "effect": "Y"}]})
runtimes.create("overhead", {"overhead.podFixed": {"cpu": "100m", "memory": "1Mi"}})
runtimes.create("bad overhead", {"overhead.podFixed": {"cpu": "-1"}})
runtimes.create("unknown overhead", {"overhead.podFixed": {"foo": "1"}})
runtimes.update("nothing", {})
runtimes.update("another handler", {"handler": "i"})

# A request and a certificate of CN=berth, whose key nobody has any more.
REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ISUNBUUF3RURFT01Bd0dBMVVFQXd3RlltVnlkR2d3V1RB"
    "VEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFTdTJJUEdjS2U4TjFFaDBRYit6S3ozME10OEl1L2ZLejMrMkUvRXJUOGt0"
    "TzFEdTZISXRsWTJsakh6Cm4wYkpsbmpMcnVOMWJwQ25Sa0pSMGdLLzJRZ2NvQUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQVAy"
    "S3pVV2IKdXprQWRVSVFxK1A2VFl0UjV0bmFiUWF3NEZlR1pTaDhTYXRFQWlFQXBYaGVzaUZzYTRjMFBkQ2d4ZzFRY0pMUgplQ3h1"
    "MTRuZ1hTbUN3eUp0ZnFzPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
)
requests = Rows("certificates.k8s.io/v1", "certificatesigningrequests", {
    "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "r"},
    "spec": {"request": REQUEST, "signerName": "example.com/signer", "usages": ["client auth"]}})
APPROVED = {"type": "Approved", "status": "True", "reason": "r", "lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}
DENIED = dict(APPROVED, type="Denied")
FAILED = dict(APPROVED, type="Failed")
CERTIFICATE = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJIVENCd3dJVU9OQWQrenRBMUFTc0E0eWZwR2Nsb0R0RVZiQXdDZ1lJS29a"
    "SXpqMEVBd0l3RURFT01Bd0cKQTFVRUF3d0ZZbVZ5ZEdnd0lCY05Nall4TVRFNE1EVXlOREE0V2hnUE1qRXlOakV3TWpVd05USTBN"
    "RGhhTUJBeApEakFNQmdOVkJBTU1CV0psY25Sb01Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRXJ0aUR4bkNuCnZE"
    "ZFJJZEVHL3N5czk5RExmQ0x2M3lzOS90aFB4SzAvSkxUdFE3dWh5TFpXTnBZeDg1OUd5Wlo0eTY3amRXNlEKcDBaQ1VkSUN2OWtJ"
    "SERBS0JnZ3Foa2pPUFFRREFnTkpBREJHQWlFQTRrdDVMVGJPd2xEbmZpd2l4enNFZTUzUQpkcGlESFZYalA4aU1QTVJaUWQwQ0lR"
    "Q1VyV3daL1RFRU02VkhySnVQZVpxck10bjhQUnZJNGlKQkdzYzJ2VVVoCit3PT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
)
requests.create("a request")
requests.create("nobody else asks", {"spec.username": "x", "spec.groups": ["y"]})
requests.create("no request", {"spec.request": "YWJj"})
requests.create("no usages", {"spec.usages": []})
requests.create("odd usages", {"spec.usages": ["x", "any", "any"]})
requests.create("no signer", {"spec.signerName": ""})
requests.create("the old signer", {"spec.signerName": "kubernetes.io/legacy-unknown"})
requests.create("signers without a path", {"spec.signerName": "a"})
requests.create("signers with two", {"spec.signerName": "a/b/c"})
requests.create("a short domain", {"spec.signerName": "a/b"})
requests.create("a bad domain", {"spec.signerName": "A_.b./C_.d"})
requests.create("too short", {"spec.expirationSeconds": 599})
requests.create("status is dropped", {"status": {"conditions": [APPROVED]}})
requests.update("nothing", {})
requests.update("everything is kept", {"spec.usages": ["any"], "status": {"conditions": [APPROVED]}, "metadata.labels": {"a": "b"}})
requests.status("a certificate", {"status.certificate": CERTIFICATE})
requests.status("no certificate", {"status.certificate": "YWJj"})
requests.status("a failure", {"status.conditions": [FAILED]})
requests.status("an approval", {"status.conditions": [APPROVED]})
requests.status("bad conditions", {"status.conditions": [{"type": "", "status": "True"}, {"type": "Failed", "status": "False"}, {"type": "X", "status": "Y"}, {"type": "X", "status": ""}]})
requests.write("approval", "approved", {"status.conditions": [APPROVED]})
requests.write("approval", "both", {"status.conditions": [APPROVED, DENIED]})
requests.write("approval", "twice", {"status.conditions": [APPROVED, APPROVED]})
requests.write("approval", "not true", {"status.conditions": [dict(APPROVED, status="False")]})
requests.write("approval", "a certificate is kept", {"status": {"conditions": [APPROVED], "certificate": CERTIFICATE}})

ROWS = [row for rows in (roles, clusterroles, bindings, clusterbindings, priorities, runtimes, requests) for row in rows.rows]
