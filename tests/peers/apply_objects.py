"""Objects that record_apply.py begins with: every kind of list and map, atomic ones, keys with and without defaults."""

LABELS = {"app": "web", "tier": "front"}
POD_SPEC = {
    "containers": [
        {"name": "c", "image": "i:1", "args": ["a", "b"], "command": ["run"],
         "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"},
                 {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
         "ports": [{"containerPort": 80}, {"containerPort": 81, "name": "dns", "protocol": "UDP"}],
         "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"cpu": "1000m"}},
         "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/w", "readOnly": True}],
         "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}, "runAsUser": 7},
         "readinessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 3}},
        {"name": "d", "image": "j"}],
    "initContainers": [{"name": "i", "image": "k", "envFrom": [{"configMapRef": {"name": "x"}}]}],
    "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "x", "items": [{"key": "k", "path": "p"}]}}],
    "nodeSelector": {"disk": "ssd", "zone": "a"},
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
    "imagePullSecrets": [{"name": "s"}, {"name": "t"}],
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a", "b"]}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
                                   "labelSelector": {"matchLabels": {"app": "web"}}}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}},
    "terminationGracePeriodSeconds": 5, "priorityClassName": "",
    "securityContext": {"runAsUser": 1, "supplementalGroups": [1, 2], "sysctls": [{"name": "a.b", "value": "1"}]}}
TEMPLATE = {"metadata": {"labels": LABELS, "annotations": {"note": "x"}}, "spec": POD_SPEC}
OWNERS = [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u1"}, {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u2"}]
CRD_SCHEMA = {"type": "object", "properties": {
    "spec": {"type": "object", "properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "array", "items": {
        "type": "integer"}}}, "x-kubernetes-preserve-unknown-fields": True},
    "status": {"type": "object", "additionalProperties": {"type": "string"}}}}


def meta(**more):
    return {"name": "NAME", "labels": dict(LABELS), "annotations": {"a": "1"}, "finalizers": ["example.com/a", "example.com/b"], **more}


# (path, apiVersion, kind, body, reset fields, {subresource: (reset fields, what its status may hold)})
CONDITION = {"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "R", "message": "m"}
KINDS = [
    ("/api/v1/namespaces/default/configmaps", "v1", "ConfigMap",
     {"metadata": meta(ownerReferences=OWNERS), "data": {"x": "1", "y": "2", "a<b": "3"}, "binaryData": {"z": "AAEC"}}, [], {}),
    ("/api/v1/namespaces/default/secrets", "v1", "Secret",
     {"metadata": meta(), "data": {"x": "MQ==", "y": "Mg=="}, "type": "Opaque"}, [], {}),
    ("/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment",
     {"metadata": meta(), "spec": {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": TEMPLATE,
                                   "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}}}}, ["status"],
     {"status": (["spec", "metadata.labels"], {"replicas": 3, "conditions": [CONDITION, {"type": "Other", "status": "False"}]})}),
    ("/apis/apps/v1/namespaces/default/statefulsets", "apps/v1", "StatefulSet",
     {"metadata": meta(), "spec": {"serviceName": "s", "selector": {"matchLabels": LABELS}, "template": TEMPLATE,
                                   "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {
                                       "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}},
     ["status"], {"status": (["spec"], {"replicas": 1, "conditions": [CONDITION]})}),
    ("/api/v1/namespaces/default/pods", "v1", "Pod", {"metadata": meta(), "spec": {
        **POD_SPEC, "tolerations": [], "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}]}}, ["status"],
     {"status": (["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
                 {"conditions": [CONDITION, {"type": "PodScheduled", "status": "False"}], "podIPs": [{"ip": "10.0.0.1"}],
                  "hostIP": "10.0.0.9", "phase": "Running"})}),
    ("/api/v1/namespaces/default/services", "v1", "Service",
     {"metadata": meta(), "spec": {"selector": {"app": "web"}, "ports": [
         {"name": "a", "port": 80}, {"name": "b", "port": 80, "protocol": "UDP"}, {"name": "c", "port": 443, "targetPort": "https"}],
         "externalIPs": ["1.2.3.4"]}}, ["status"],
     {"status": (["spec"], {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}]}, "conditions": [CONDITION]})}),
    ("/api/v1/nodes", "v1", "Node",
     {"metadata": meta(), "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}], "podCIDR": "10.1.0.0/24",
                                   "podCIDRs": ["10.1.0.0/24"]}}, ["status"],
     {"status": (["spec"], {"capacity": {"cpu": "4", "memory": "8Gi"}, "conditions": [CONDITION],
                            "addresses": [{"type": "InternalIP", "address": "10.0.0.2"}, {"type": "Hostname", "address": "h"}],
                            "images": [{"names": ["a", "b"], "sizeBytes": 5}]})}),
    ("/api/v1/namespaces/default/serviceaccounts", "v1", "ServiceAccount",
     {"metadata": meta(), "secrets": [{"name": "a"}, {"name": "b"}], "imagePullSecrets": [{"name": "x"}]}, [], {}),
    ("/api/v1/namespaces/default/persistentvolumeclaims", "v1", "PersistentVolumeClaim",
     {"metadata": meta(), "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5Gi"}}}}, ["status"],
     {"status": (["spec"], {"phase": "Bound", "conditions": [CONDITION], "capacity": {"storage": "2Gi"}})}),
    ("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", "networking.k8s.io/v1", "NetworkPolicy",
     {"metadata": meta(), "spec": {"podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress"], "ingress": [
         {"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 80}]}]}}, [], {}),
    ("/apis/networking.k8s.io/v1/namespaces/default/ingresses", "networking.k8s.io/v1", "Ingress",
     {"metadata": meta(), "spec": {"rules": [{"host": "h", "http": {"paths": [
         {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}],
         "tls": [{"hosts": ["h"], "secretName": "t"}]}}, ["status"], {}),
    ("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", "autoscaling/v2", "HorizontalPodAutoscaler",
     {"metadata": meta(), "spec": {"maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
                                   "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {
                                       "type": "Utilization", "averageUtilization": 50}}}]}}, ["status"], {}),
    ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", "policy/v1", "PodDisruptionBudget",
     {"metadata": meta(), "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}, ["status"],
     {"status": (["spec"], {"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 1,
                            "conditions": [CONDITION]})}),
    ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "rbac.authorization.k8s.io/v1", "ClusterRole",
     {"metadata": meta(), "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}],
      "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]}}, [], {}),
    ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "discovery.k8s.io/v1", "EndpointSlice",
     {"metadata": meta(), "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"name": "a", "port": 80}]}, [], {}),
    ("/apis/coordination.k8s.io/v1/namespaces/default/leases", "coordination.k8s.io/v1", "Lease",
     {"metadata": meta(), "spec": {"holderIdentity": "a", "leaseDurationSeconds": 3, "renewTime": "2020-01-01T00:00:00.5Z"}}, [], {}),
    ("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "admissionregistration.k8s.io/v1",
     "ValidatingWebhookConfiguration", {"metadata": meta(), "webhooks": [
         {"name": "a.example.com", "clientConfig": {"url": "https://x.example.com"}, "sideEffects": "None",
          "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": ["nothing.example.com"], "apiVersions": ["v1"],
                                                        "operations": ["CREATE"], "resources": ["none"]}],
          "matchConditions": [{"name": "m", "expression": "true"}]}]}, [], {}),
    ("/apis/storage.k8s.io/v1/csinodes", "storage.k8s.io/v1", "CSINode",
     {"metadata": meta(), "spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": ["a", "b"]}, {"name": "e", "nodeID": "n"}]}}, [], {}),
    ("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "flowcontrol.apiserver.k8s.io/v1", "FlowSchema",
     {"metadata": meta(), "spec": {"priorityLevelConfiguration": {"name": "catch-all"}, "matchingPrecedence": 9000, "rules": [
         {"subjects": [{"kind": "User", "user": {"name": "u"}}], "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]}]}},
     ["status"], {"status": (["spec", "metadata"], {"conditions": [CONDITION]})}),
    ("/apis/batch/v1/namespaces/default/cronjobs", "batch/v1", "CronJob",
     {"metadata": meta(), "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {
         "metadata": {"labels": LABELS}, "spec": {"restartPolicy": "Never", "containers": POD_SPEC["containers"],
                                                  "volumes": POD_SPEC["volumes"]}}}}}}, ["status"],
     {"status": (["spec"], {"lastScheduleTime": "2020-01-01T00:00:00Z", "active": [{"name": "a", "kind": "Job"}]})}),
    ("/apis/apps/v1/namespaces/default/controllerrevisions", "apps/v1", "ControllerRevision",
     {"metadata": meta(), "revision": 1, "data": {"spec": {"a": [1, {"b": 2.5}], "c": None}}}, [], {}),
    ("/api/v1/namespaces/default/resourcequotas", "v1", "ResourceQuota",
     {"metadata": meta(), "spec": {"hard": {"cpu": "4", "pods": "10", "memory": "1.5Gi"}, "scopes": ["BestEffort"]}}, ["status"],
     {"status": (["spec"], {"hard": {"cpu": "4"}, "used": {"cpu": "500m"}})}),
    ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition",
     {"metadata": {"name": "names.example.com", "labels": LABELS}, "spec": {
         "group": "example.com", "scope": "Namespaced", "names": {"plural": "names", "kind": "Name", "shortNames": ["nm"]},
         "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": CRD_SCHEMA},
                       "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".spec.a"}]}]}}, ["status"], {}),
]
