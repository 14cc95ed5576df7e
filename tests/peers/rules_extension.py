"""Rows for CustomResourceDefinition and APIService; see rule_rows.py."""
from rule_rows import DROP, Rows

GROUP = "apiextensions.k8s.io/v1"
SCHEMA = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
VERSION = {"name": "v1", "served": True, "storage": True, "schema": SCHEMA}
BASE = {"apiVersion": GROUP, "kind": "CustomResourceDefinition", "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"}, "versions": [VERSION]}}

definitions = Rows(GROUP, "customresourcedefinitions", BASE)
definitions.create("a definition")
definitions.create("another name", {"metadata.name": "bars.example.com"})
definitions.create("nothing in it", {"spec": {"group": "", "scope": "", "names": {"plural": "", "kind": ""}, "versions": []}})
definitions.create("a bad group", {"spec.group": "A_", "metadata.name": "foos.A_"})
definitions.create("a short group", {"spec.group": "example", "metadata.name": "foos.example"})
definitions.create("unknown scope", {"spec.scope": "X"})
definitions.create("bad names", {"spec.names": {"plural": "foos", "singular": "F_", "kind": "F_", "listKind": "F_", "shortNames": ["f", "F_"], "categories": ["all", "A_"]}})
definitions.create("one kind for both", {"spec.names.listKind": "Foo"})
definitions.create("no schema", {"spec.versions.0.schema": DROP})
definitions.create("nothing stored", {"spec.versions.0.storage": False})
definitions.create("a version twice", {"spec.versions": [VERSION, VERSION]})
definitions.create("two versions", {"spec.versions": [VERSION, dict(VERSION, name="v2", storage=False)]})
definitions.create("a bad version", {"spec.versions.0.name": "V_"})
definitions.create("a warning", {"spec.versions.0.deprecated": True, "spec.versions.0.deprecationWarning": "gone"})
definitions.create("a warning for nothing", {"spec.versions.0.deprecationWarning": "gone"})
definitions.create("bad warnings", {"spec.versions": [dict(VERSION, deprecated=True, deprecationWarning=""), dict(VERSION, name="v2", storage=False, deprecated=True, deprecationWarning="a\nb" + "c" * 300)]})
definitions.create("scale", {"spec.versions.0.subresources": {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}})
definitions.create("bad scale", {"spec.versions.0.subresources": {"scale": {"specReplicasPath": "spec", "statusReplicasPath": "", "labelSelectorPath": ".x"}}})
definitions.create("bad scales", {"spec.versions": [dict(VERSION, subresources={"scale": {"specReplicasPath": ".status.a", "statusReplicasPath": ".spec.b"}}), dict(VERSION, name="v2", storage=False)]})
definitions.create("columns", {"spec.versions.0.additionalPrinterColumns": [{"name": "a", "type": "string", "jsonPath": ".a"}, {"name": "", "type": "", "jsonPath": ""}, {"name": "b", "type": "x", "format": "y", "jsonPath": "b"}]})
definitions.create("unknown conversion", {"spec.conversion": {"strategy": "X"}})
definitions.create("a webhook", {"spec.conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}, "conversionReviewVersions": ["v1"]}}})
definitions.create("no webhook", {"spec.conversion": {"strategy": "Webhook"}})
definitions.create("a bad webhook", {"spec.conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v3", "v3", "V_"]}}})
definitions.create("a webhook for nothing", {"spec.conversion": {"strategy": "None", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}}})
definitions.create("unknown fields", {"spec.preserveUnknownFields": True})
definitions.create("a protected group", {"spec.group": "a.k8s.io", "metadata.name": "foos.a.k8s.io"})
definitions.create("an odd approval", {"spec.group": "a.k8s.io", "metadata": {"name": "foos.a.k8s.io", "annotations": {"api-approved.kubernetes.io": "x"}}})
definitions.create("approved", {"spec.group": "a.k8s.io", "metadata": {"name": "foos.a.k8s.io", "annotations": {"api-approved.kubernetes.io": "https://x"}}})
definitions.create("not approved", {"spec.group": "a.k8s.io", "metadata": {"name": "foos.a.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, test"}}})
definitions.create("status is dropped", {"status": {"storedVersions": ["v7"], "conditions": []}})

SERVICES = "apiregistration.k8s.io/v1"
services = Rows(SERVICES, "apiservices", {"apiVersion": SERVICES, "kind": "APIService", "metadata": {"name": "v1.example.com"},
                                          "spec": {"group": "example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
                                                   "service": {"name": "s", "namespace": "n"}, "insecureSkipTLSVerify": True}})
services.create("a service")
services.create("local", {"spec.service": DROP, "spec.insecureSkipTLSVerify": DROP})
services.create("local with too much", {"spec.service": DROP, "spec.caBundle": "YWJj"})
services.create("another name", {"metadata.name": "v2.example.com"})
services.create("no group", {"metadata.name": "v2.", "spec.group": "", "spec.version": "v2"})
services.create("bad parts", {"metadata.name": "V_.A_", "spec.group": "A_", "spec.version": "V_", "spec.groupPriorityMinimum": 0, "spec.versionPriority": 1001, "spec.service": {"name": "", "namespace": "", "port": 70000}})
services.create("a bundle for nothing", {"spec.caBundle": "YWJj"})

ROWS = definitions.rows + services.rows
