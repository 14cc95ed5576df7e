#!/usr/bin/env python3
"""record_services.py SERVER TOKEN FILE - what the real kube-apiserver gives services: addresses, node ports, refusals; for
tests/golden/apiserver/services.jsonl. The server has --service-cluster-ip-range=10.0.0.0/16 and no services but its own."""
import json
import ssl
import sys
import urllib.request

PORT = {"name": "a", "port": 80}


def spec(**more):
    return {"type": "ClusterIP", "selector": {"x": "y"}, "ports": [PORT], **more}


def ports(*rows, **more):
    names = ("port", "nodePort", "protocol")
    listed = [{"name": "p%d" % i, **{k: v for k, v in zip(names, row) if v}} for i, row in enumerate(rows)]
    return {"selector": {"x": "y"}, "type": "NodePort", "ports": listed, **more}


def ip(address, **more):
    return spec(clusterIP=address, clusterIPs=[address], **more)


LOCAL = {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}
# A name, what is done with it, dry run or not, the spec.
STEPS = [
    ("any", "create", False, spec()),
    ("any dry", "create", True, spec()),
    ("asked", "create", False, ip("10.0.0.20")),
    ("asked twice", "create", False, ip("10.0.0.20")),
    ("asked twice dry", "create", True, ip("10.0.0.20")),
    ("the server's own", "create", False, ip("10.0.0.1")),
    ("outside", "create", False, ip("1.2.3.4")),
    ("outside dry", "create", True, ip("1.2.3.4")),
    ("network", "create", False, ip("10.0.0.0")),
    ("broadcast", "create", False, ip("10.0.255.255")),
    ("last", "create", False, ip("10.0.255.254")),
    ("headless", "create", False, ip("None")),
    ("external", "create", False, {"type": "ExternalName", "externalName": "x.example"}),
    ("external", "update", False, spec()),
    ("asked", "update", False, {"type": "ExternalName", "externalName": "x.example"}),
    ("asked again", "create", False, ip("10.0.0.20")),
    ("asked again", "delete", False, {}),
    ("and again", "create", False, ip("10.0.0.20")),
    ("node port", "create", False, ports((80,))),
    ("node port dry", "create", True, ports((80,), (81,))),
    ("node port dry asked", "create", True, ports((80, 30005), (81,))),
    ("node port asked", "create", False, ports((80, 30010))),
    ("node port taken", "create", False, ports((80, 30010))),
    ("node port taken dry", "create", True, ports((80, 30010))),
    ("node port outside", "create", False, ports((80, 29999))),
    ("node port above", "create", False, ports((80, 32768))),
    ("node port outside dry", "create", True, ports((80, 80))),
    ("second taken", "create", False, ports((80,), (81, 30010))),
    ("shared", "create", False, ports((53, 30020, "TCP"), (53, 0, "UDP"))),
    ("shared backwards", "create", False, ports((53, 0, "TCP"), (53, 30021, "UDP"))),
    ("shared any", "create", False, ports((53, 0, "TCP"), (53, 0, "UDP"))),
    ("two of a number", "create", False, ports((53, 30022, "TCP"), (53, 30023, "UDP"))),
    ("balancer", "create", False, ports((80,), type="LoadBalancer")),
    ("balancer without", "create", False, ports((80,), type="LoadBalancer", allocateLoadBalancerNodePorts=False)),
    ("balancer without but one", "create", False,
     ports((80,), (81, 30030), type="LoadBalancer", allocateLoadBalancerNodePorts=False)),
    ("local", "create", False, ports((80,), **LOCAL)),
    ("local asked", "create", False, ports((80,), healthCheckNodePort=30040, **LOCAL)),
    ("local taken", "create", False, ports((80,), healthCheckNodePort=30010, **LOCAL)),
    ("local outside", "create", False, ports((80,), healthCheckNodePort=99, **LOCAL)),
    ("local dry", "create", True, ports((80,), **LOCAL)),
    ("node port asked", "update", False, ports((80, 30011))),
    ("node port now free", "create", False, ports((80, 30010))),
    ("node port now free", "update", False, ports((80, 30010), (81, 30011))),
    ("node port now free", "update", False, ports((80, 30010), (81, 30012), (82,))),
    ("node port now free", "update", False, ports((80, 30010), (81, 30012), (82, 30013, "UDP"), (83, 5))),
    ("any", "update", False, ports((80, 30050))),
    ("any", "update", False, spec()),
    ("after any", "create", False, ports((80, 30050))),
    ("after any", "delete", False, {}),
    ("after all", "create", False, ports((80, 30050))),
    ("balancer", "update", False, ports((80,), **LOCAL)),
]


class Server:
    def __init__(self, url, token):
        self.url, self.token = url, token
        self.trust = ssl._create_unverified_context()

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self.trust) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as e:
            return e.code, json.load(e)


def band(number, low, high):
    """What is drawn by lot is told by where it lies."""
    return "low" if number <= low else "high" if number <= high else "outside"


def shown(given, asked):
    """Addresses and node ports, those that were asked for by number and others by their band."""
    def of_port(node_port, wanted):
        return node_port if node_port in wanted or node_port > 32767 else band(node_port, 30085, 32767)
    s = given["spec"]
    wanted = [p.get("nodePort") for p in asked.get("ports", [])] + [0, None, asked.get("healthCheckNodePort")]
    ips = [i if i in asked.get("clusterIPs", ["10.0.0.0"]) or i == "10.0.0.0"
           else band(int.from_bytes(map(int, i.split(".")), "big") - (10 << 24), 256, 65534)
           for i in s.get("clusterIPs", [])]
    listed = [p.get("nodePort", 0) for p in s.get("ports", [])]
    return {"ips": ips, "ports": [of_port(p, wanted) for p in listed],
            "same": [listed.index(p) if p else -1 for p in listed],
            "check": of_port(s.get("healthCheckNodePort", 0), wanted)}


def main():
    url, token, path = sys.argv[1:]
    server, base = Server(url, token), "/api/v1/namespaces/default/services"
    with open(path, "w", encoding="utf-8") as f:
        for name, verb, dry, wanted in STEPS:
            name = name.replace(" ", "-").replace("'", "")
            query = "?dryRun=All" if dry else ""
            if verb == "delete":
                code, answer = server.ask("DELETE", base + "/" + name)
            elif verb == "create":
                code, answer = server.ask("POST", base + query, {"metadata": {"name": name}, "spec": wanted})
            else:
                code, answer = server.ask("PUT", base + "/" + name + query, {"metadata": {"name": name}, "spec": wanted})
            row = {"name": name, "verb": verb, "dry": dry, "spec": wanted, "code": code}
            row["message" if code >= 400 else "given"] = answer["message"] if code >= 400 else \
                shown(answer, wanted) if verb != "delete" else {}
            f.write(json.dumps(row) + "\n")


main()
