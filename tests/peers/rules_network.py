"""Rows for Ingress, IngressClass, NetworkPolicy, IPAddress, ServiceCIDR; see rule_rows.py."""
from rule_rows import DROP, Rows

GROUP = "networking.k8s.io/v1"
SERVICE = {"service": {"name": "s", "port": {"number": 80}}}
PATH = "spec.rules.0.http.paths.0"

ingresses = Rows(GROUP, "ingresses", {
    "apiVersion": GROUP, "kind": "Ingress", "metadata": {"name": "i"},
    "spec": {"rules": [{"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": SERVICE}]}}]}})
ingresses.create("an ingress")
ingresses.create("no rules", {"spec.rules": DROP})
ingresses.create("a default backend", {"spec.rules": DROP, "spec.defaultBackend": SERVICE})
ingresses.create("an empty default backend", {"spec.rules": DROP, "spec.defaultBackend": {}})
ingresses.create("both backends", {"spec.defaultBackend": {**SERVICE, "resource": {"kind": "k", "name": "n"}}})
ingresses.create("a resource", {"spec.defaultBackend": {"resource": {"apiGroup": "A_", "kind": "a/b", "name": ""}}})
ingresses.create("no service name", {"spec.defaultBackend": {"service": {"port": {"number": 80}}}})
ingresses.create("a service name in capitals", {"spec.defaultBackend": {"service": {"name": "S", "port": {"number": 80}}}})
ingresses.create("no port", {"spec.defaultBackend": {"service": {"name": "s"}}})
ingresses.create("two ports", {"spec.defaultBackend": {"service": {"name": "s", "port": {"number": 80, "name": "a"}}}})
ingresses.create("a bad port", {"spec.defaultBackend": {"service": {"name": "s", "port": {"number": 80000}}}})
ingresses.create("a bad port name", {"spec.defaultBackend": {"service": {"name": "s", "port": {"name": "-"}}}})
ingresses.create("hosts", {"spec.rules": [{"host": "1.2.3.4"}, {"host": "*.a.b"}, {"host": "a.*.b"}, {"host": "A_"}]})
ingresses.create("no paths", {"spec.rules.0.http.paths": []})
ingresses.create("no path type", {PATH + ".pathType": DROP})
ingresses.create("unknown path type", {PATH + ".pathType": "Foo"})
ingresses.create("relative", {PATH + ".path": "a"})
ingresses.create("odd paths", {PATH + ".path": "/a//b/./c/../d%2fe%2Ff/.."})
ingresses.create("ends with a dot", {PATH + ".path": "/a/."})
ingresses.create("no path", {PATH + ".path": DROP})
ingresses.create("implementation specific", {PATH + ".pathType": "ImplementationSpecific", PATH + ".path": "a"})
ingresses.create("implementation specific without a path", {PATH + ".pathType": "ImplementationSpecific", PATH + ".path": DROP})
ingresses.create("tls", {"spec.tls": [{"hosts": ["a.b", "*.c", "A_", "a*"], "secretName": "S_"}]})
ingresses.create("a class", {"spec.ingressClassName": "C_"})
ingresses.create("an annotated class", {("metadata", "annotations", "kubernetes.io/ingress.class"): "x"})
ingresses.create("both classes", {("metadata", "annotations", "kubernetes.io/ingress.class"): "x", "spec.ingressClassName": "y"})
ingresses.create("several mistakes", {"metadata.name": "A_", PATH + ".path": "x", PATH + ".backend": {}, "spec.tls": [{"secretName": "S_"}]})
ingresses.update("nothing", {})
ingresses.update("another host", {"spec.rules.0.host": "b.example.com"})
ingresses.update("a bad host", {"spec.rules.0.host": "b_"})
ingresses.update("status is kept", {"status.loadBalancer.ingress": [{"ip": "1.2.3.4"}], "metadata.labels": {"a": "b"}})
ingresses.status("an address", {"status.loadBalancer.ingress": [{"ip": "1.2.3.4"}]})
ingresses.status("bad addresses", {"status.loadBalancer.ingress": [{"ip": "1.2.3"}, {"hostname": "A_"}, {"hostname": "1.2.3.4"}]})
ingresses.status("long form", {"status.loadBalancer.ingress": [{"ip": "fd00:0::1"}], "spec.rules": []})

classes = Rows(GROUP, "ingressclasses", {"apiVersion": GROUP, "kind": "IngressClass", "metadata": {"name": "c"},
                                         "spec": {"controller": "example.com/c"}})
PARAMETERS = {"kind": "K", "name": "n"}
classes.create("a class")
classes.create("no controller", {"spec.controller": DROP})
classes.create("a bad controller", {"spec.controller": "c"})
classes.create("a bad path", {"spec.controller": "A_/c d"})
classes.create("too long", {"spec.controller": "a.b/" + "c" * 250})
classes.create("parameters", {"spec.parameters": PARAMETERS})
classes.create("empty parameters", {"spec.parameters": {}})
classes.create("bad parameters", {"spec.parameters": {"apiGroup": "A_", "kind": "a/b", "name": "..", "scope": "X"}})
classes.create("a namespace", {"spec.parameters": {**PARAMETERS, "scope": "Namespace", "namespace": "n"}})
classes.create("no namespace", {"spec.parameters": {**PARAMETERS, "scope": "Namespace"}})
classes.create("a bad namespace", {"spec.parameters": {**PARAMETERS, "scope": "Namespace", "namespace": "N_"}})
classes.create("a namespace for all", {"spec.parameters": {**PARAMETERS, "namespace": "n"}})
classes.update("nothing", {})
classes.update("another controller", {"spec.controller": "example.com/d"})
classes.update("parameters", {"spec.parameters": PARAMETERS})

policies = Rows(GROUP, "networkpolicies", {"apiVersion": GROUP, "kind": "NetworkPolicy", "metadata": {"name": "p"},
                                           "spec": {"podSelector": {}}})
policies.create("a policy")
policies.create("egress", {"spec.egress": [{}]})
policies.create("types", {"spec.policyTypes": ["Ingress", "X"]})
policies.create("three types", {"spec.policyTypes": ["Ingress", "Egress", "Ingress"]})
policies.create("a bad selector", {"spec.podSelector": {"matchLabels": {"a b": "c d"}, "matchExpressions": [{"key": "", "operator": "X"}, {"key": "a", "operator": "In"},
                                                                                                      {"key": "a", "operator": "Exists", "values": ["b"]}]}})
policies.create("ports", {"spec.ingress": [{"ports": [{"port": 80}, {"port": "http"}, {"port": 80, "endPort": 90}]}]})
policies.create("bad ports", {"spec.ingress": [{"ports": [{"port": 0}, {"port": "-"}, {"port": 80, "endPort": 70}, {"port": "a", "endPort": 70}, {"endPort": 70},
                                                        {"protocol": "X"}, {"port": 80, "endPort": 70000}]}]})
policies.create("peers", {"spec.ingress": [{"from": [{"podSelector": {}}, {"podSelector": {}, "namespaceSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}]}]})
policies.create("bad peers", {"spec.egress": [{"to": [{}, {"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}, {"ipBlock": {}},
                                                    {"namespaceSelector": {"matchLabels": {"a b": "c"}}}]}]})
policies.create("ranges", {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "11.0.0.0/16", "10.0.0.0/8", "x", "10.1.1.1/16", "fd00::/64"]}},
                                                    {"ipBlock": {"cidr": "x", "except": ["y"]}}, {"ipBlock": {"cidr": "10.1.1.1/8"}}]}]})
policies.create("a range in long form", {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "fd00:0::/64"}}]}]})
policies.update("nothing", {})
policies.update("another selector", {"spec.podSelector.matchLabels": {"a": "b"}})
policies.update("a bad range", {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]})
policies.update("a bad label", {"metadata.labels": {"a b": "c"}})

addresses = Rows(GROUP, "ipaddresses", {"apiVersion": GROUP, "kind": "IPAddress", "metadata": {"name": "10.9.9.9"},
                                        "spec": {"parentRef": {"resource": "services", "name": "s", "namespace": "n"}}})
addresses.create("an address")
addresses.create("no parent", {"spec.parentRef": DROP})
addresses.create("an empty parent", {"spec.parentRef": {}})
addresses.create("a bad parent", {"spec.parentRef": {"group": "A_", "resource": "a/b", "name": "..", "namespace": "a%b"}})
addresses.create("no address", {"metadata.name": "x"})
addresses.create("zeros", {"metadata.name": "010.1.1.1"})
addresses.create("mapped", {"metadata.name": "::ffff:1.2.3.4"})
addresses.create("not canonical", {"metadata.name": "fd00:0::1"})
addresses.update("nothing", {})
addresses.update("another parent", {"spec.parentRef.name": "t"})

cidrs = Rows(GROUP, "servicecidrs", {"apiVersion": GROUP, "kind": "ServiceCIDR", "metadata": {"name": "c"}, "spec": {"cidrs": ["10.7.0.0/24"]}})
cidrs.create("a range")
cidrs.create("none", {"spec.cidrs": DROP})
cidrs.create("three", {"spec.cidrs": ["10.7.0.0/24", "10.8.0.0/24", "fd00::/64"]})
cidrs.create("two of a family", {"spec.cidrs": ["10.7.0.0/24", "10.8.0.0/24"]})
cidrs.create("two families", {"spec.cidrs": ["10.7.0.0/24", "fd00::/112"]})
cidrs.create("bad ranges", {"spec.cidrs": ["x", "10.7.0.1/24"]})
cidrs.create("not canonical", {"spec.cidrs": ["fd00:0::/64"]})
cidrs.update("nothing", {})
cidrs.update("another range", {"spec.cidrs": ["10.8.0.0/24"]})
cidrs.update("a second range", {"spec.cidrs": ["10.7.0.0/24", "fd00::/112"]})
cidrs.update("a bad second range", {"spec.cidrs": ["10.6.0.0/24", "10.7.0.0/24"]})
cidrs.update("none any more", {"spec.cidrs": []})
cidrs.status("a condition", {"status.conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
                             "metadata.labels": {"a": "b"}, "spec.cidrs": []})

ROWS = ingresses.rows + classes.rows + policies.rows + addresses.rows + cidrs.rows
