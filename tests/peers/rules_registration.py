"""Rows for webhooks, admission policies, CustomResourceDefinition and APIService; see rule_rows.py."""
from rule_rows import DROP, Rows

GROUP = "admissionregistration.k8s.io/v1"
RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
SERVICE = {"service": {"name": "s", "namespace": "n"}}
HOOK = {"name": "a.b.c", "clientConfig": SERVICE, "rules": [RULE], "sideEffects": "None", "admissionReviewVersions": ["v1"]}


def hook_rows(resource, kind):
    rows = Rows(GROUP, resource, {"apiVersion": GROUP, "kind": kind, "metadata": {"name": "w"}, "webhooks": [HOOK]})
    at = "webhooks.0."
    rows.create("a webhook")
    rows.create("none", {"webhooks": DROP})
    rows.create("names", {"webhooks": [dict(HOOK, name=""), dict(HOOK, name="a.b"), dict(HOOK, name="A_.b.c"), HOOK, HOOK]})
    rows.create("no effects", {at + "sideEffects": DROP})
    rows.create("some effects", {at + "sideEffects": "Some"})
    rows.create("no versions", {at + "admissionReviewVersions": []})
    rows.create("odd versions", {at + "admissionReviewVersions": ["v2", "v2", "V_"]})
    rows.create("policies", {at + "failurePolicy": "X", at + "matchPolicy": "Y", at + "timeoutSeconds": 31})
    rows.create("no client", {at + "clientConfig": {}})
    rows.create("two clients", {at + "clientConfig": {"url": "https://a", **SERVICE}})
    rows.create("a url", {at + "clientConfig": {"url": "https://a.b/c"}})
    rows.create("a bad url", {at + "clientConfig": {"url": "http://u@a/b?c#d"}})
    rows.create("no host", {at + "clientConfig": {"url": "https:///a"}})
    rows.create("a bad service", {at + "clientConfig": {"service": {"name": "", "namespace": "n", "port": 70000, "path": "a/B_//c/"}}})
    rows.create("a service without a namespace", {at + "clientConfig": {"service": {"name": "s", "namespace": "", "path": "//"}}})
    rows.create("an empty rule", {at + "rules": [{}]})
    rows.create("too many stars", {at + "rules": [{"operations": ["*", "X"], "apiGroups": ["*", "a"], "apiVersions": ["*", ""], "resources": ["*", "pods"], "scope": "X"}]})
    rows.create("resources", {at + "rules": [dict(RULE, resources=["pods/*", "pods/status", "*/scale", "a/scale", "", "*/*"])]})
    rows.create("selectors", {at + "namespaceSelector": {"matchLabels": {"a b": "c"}}, at + "objectSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]}})
    rows.create("conditions", {at + "matchConditions": [{"name": "", "expression": " "}, {"name": "a b", "expression": "true"}, {"name": "c", "expression": "true"}, {"name": "c", "expression": "true"}]})
    rows.update("nothing", {})
    rows.update("another rule", {at + "rules.0.resources": ["services"]})
    rows.update("a bad rule", {at + "rules.0.resources": []})
    return rows


validating = hook_rows("validatingwebhookconfigurations", "ValidatingWebhookConfiguration")
mutating = hook_rows("mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
mutating.create("unknown reinvocation", {"webhooks.0.reinvocationPolicy": "X"})

MATCH = {"resourceRules": [RULE]}


def common_rows(rows):
    rows.create("a policy")
    rows.create("no matches", {"spec.matchConstraints": DROP})
    rows.create("bad matches", {"spec.matchConstraints": {"matchPolicy": "X", "namespaceSelector": {"matchLabels": {"a b": "c"}}, "resourceRules": [], "excludeResourceRules": [dict(RULE, resourceNames=["a", "a", "b/c"])]}})
    rows.create("unknown failure policy", {"spec.failurePolicy": "X"})
    rows.create("a kind of parameters", {"spec.paramKind": {"apiVersion": "a.b/v1", "kind": "Foo"}})
    rows.create("bad kinds", {"spec.paramKind": {"apiVersion": "A_/V_", "kind": "F_"}})
    rows.create("no kinds", {"spec.paramKind": {}})
    rows.create("odd versions", {"spec.paramKind": {"apiVersion": "a/b/c", "kind": "F"}})
    rows.create("variables", {"spec.variables": [{"name": "", "expression": ""}, {"name": "a-b", "expression": "1"}, {"name": "for", "expression": "1"}]})
    rows.create("conditions", {"spec.matchConditions": [{"name": "", "expression": ""}]})
    rows.update("nothing", {})
    rows.update("another failure policy", {"spec.failurePolicy": "Ignore"})


policies = Rows(GROUP, "validatingadmissionpolicies", {"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
                                                       "spec": {"matchConstraints": MATCH, "validations": [{"expression": "true"}]}})
common_rows(policies)
policies.create("nothing to say", {"spec.validations": []})
policies.create("bad validations", {"spec.validations": [{"expression": " "}, {"expression": "true", "message": " ", "messageExpression": " "}, {"expression": "true", "message": "a\nb", "reason": "X"}]})
policies.create("annotations", {"spec.auditAnnotations": [{"key": "a b", "valueExpression": "''"}, {"key": "c", "valueExpression": " "}, {"key": "c", "valueExpression": "''"}]})
policies.status("a status", {"status": {"typeChecking": {"expressionWarnings": [{"fieldRef": "", "warning": ""}]}, "conditions": [{"type": "a", "status": "True", "reason": "1", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

mutations = Rows(GROUP, "mutatingadmissionpolicies", {"apiVersion": GROUP, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"},
                                                      "spec": {"matchConstraints": MATCH, "reinvocationPolicy": "Never", "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/'}]"}}]}})
common_rows(mutations)
mutations.create("nothing to do", {"spec.mutations": [], "spec.reinvocationPolicy": ""})
mutations.create("bad mutations", {"spec.mutations": [{"patchType": ""}, {"patchType": "X"}, {"patchType": "JSONPatch", "applyConfiguration": {"expression": ""}}, {"patchType": "ApplyConfiguration", "jsonPatch": {"expression": ""}},
                                                      {"patchType": "JSONPatch", "jsonPatch": {"expression": " "}}], "spec.reinvocationPolicy": "X"})
mutations.create("deletions", {"spec.matchConstraints.resourceRules.0.operations": ["DELETE"]})

bindings = Rows(GROUP, "validatingadmissionpolicybindings", {"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"},
                                                             "spec": {"policyName": "p", "validationActions": ["Deny"]}})
bindings.create("a binding")
bindings.create("nothing in it", {"spec": {}})
bindings.create("bad parts", {"spec": {"policyName": "P_", "validationActions": ["Deny", "Warn", "Warn", "X"], "paramRef": {}, "matchResources": {"matchPolicy": "X"}}})
bindings.create("parameters", {"spec.paramRef": {"name": "a/b", "selector": {}, "parameterNotFoundAction": "X"}})
bindings.update("other actions", {"spec.validationActions": ["Audit"]})

mutationbindings = Rows(GROUP, "mutatingadmissionpolicybindings", {"apiVersion": GROUP, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "p"}})
mutationbindings.create("a binding")
mutationbindings.create("deletions", {"spec.matchResources": {"resourceRules": [dict(RULE, operations=["DELETE"])]}})

ROWS = [row for rows in (validating, mutating, policies, mutations, bindings, mutationbindings) for row in rows.rows]
