#!/usr/bin/env python3
"""record_bootstrap.py SERVER TOKEN FILE - what the real kube-apiserver makes when it starts, RBAC apart; for
tests/golden/apiserver/bootstrap.jsonl. Without what differs from start to start: uids, times, versions, addresses."""
import json
import ssl
import sys
import urllib.request

LISTS = ["/api/v1/namespaces", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
         "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "/apis/scheduling.k8s.io/v1/priorityclasses",
         "/apis/networking.k8s.io/v1/servicecidrs", "/api/v1/configmaps", "/api/v1/endpoints",
         "/apis/discovery.k8s.io/v1/endpointslices", "/apis/apiregistration.k8s.io/v1/apiservices"]
SINGLE = ["/api/v1/namespaces/default/services/kubernetes"]


def ask(url, token, path):
    request = urllib.request.Request(url + path, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
        return json.load(answer)


def plain(o):
    for name in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        o["metadata"].pop(name, None)
    for condition in o.get("status", {}).get("conditions", []):
        condition.pop("lastTransitionTime", None)
    return o


def main():
    url, token, path = sys.argv[1:]
    rows = []
    for where in LISTS:
        listed = ask(url, token, where)
        for o in listed["items"]:
            o.update({"kind": listed["kind"][:-4], "apiVersion": listed["apiVersion"]})
            rows.append(plain(o))
    rows += [plain(ask(url, token, where)) for where in SINGLE]
    with open(path, "w", encoding="utf-8") as f:
        for o in rows:
            f.write(json.dumps(o, sort_keys=True) + "\n")


main()
