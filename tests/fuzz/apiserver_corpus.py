#!/usr/bin/env python3
"""Makes the corpus of tests/fuzz/fuzz_apiserver.c of requests that are known to be real.

    tests/fuzz/apiserver_corpus.py

What kubectl sends in tests/peers/kubectl/cases becomes one input a case; targets and headers of the recordings in
tests/golden/apiserver some inputs of many requests; and stories of a few lines add what neither has: requests that overtake
each other, watches, chunks, connections that are cut. Needs PyYAML. The inputs are committed: this is for when cases change.
"""
import json
import pathlib
import re
import shlex

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
TO = ROOT / "tests/fuzz/corpus/apiserver"
GOLDEN = ROOT / "tests/golden/apiserver"
MARK = b"\x1e"
HOLDS, CLOSES, WAITS, DEAF = 4, 8, 16, 32
TARGETS_PER_INPUT = 40
PATCHES = {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
           "strategic": "application/strategic-merge-patch+json"}

# kind: path of its group and version, plural, namespaced
KINDS = {
    "ConfigMap": ("/api/v1", "configmaps", True), "Secret": ("/api/v1", "secrets", True),
    "Pod": ("/api/v1", "pods", True), "Service": ("/api/v1", "services", True),
    "ServiceAccount": ("/api/v1", "serviceaccounts", True), "Namespace": ("/api/v1", "namespaces", False),
    "Node": ("/api/v1", "nodes", False), "PersistentVolume": ("/api/v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims", True),
    "ResourceQuota": ("/api/v1", "resourcequotas", True), "LimitRange": ("/api/v1", "limitranges", True),
    "Event": ("/api/v1", "events", True), "Deployment": ("/apis/apps/v1", "deployments", True),
    "ReplicationController": ("/api/v1", "replicationcontrollers", True),
    "StatefulSet": ("/apis/apps/v1", "statefulsets", True), "DaemonSet": ("/apis/apps/v1", "daemonsets", True),
    "ReplicaSet": ("/apis/apps/v1", "replicasets", True), "Job": ("/apis/batch/v1", "jobs", True),
    "CronJob": ("/apis/batch/v1", "cronjobs", True),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets", True),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "StorageClass": ("/apis/storage.k8s.io/v1", "storageclasses", False),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases", True),
    "Ingress": ("/apis/networking.k8s.io/v1", "ingresses", True),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies", True),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles", True),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings", True),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "HorizontalPodAutoscaler": ("/apis/autoscaling/v2", "horizontalpodautoscalers", True),
    "RuntimeClass": ("/apis/node.k8s.io/v1", "runtimeclasses", False),
    "CustomResourceDefinition": ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", False),
}
SHORT = {"cm": "configmaps", "po": "pods", "svc": "services", "sa": "serviceaccounts", "ns": "namespaces", "no": "nodes",
         "deploy": "deployments", "rs": "replicasets", "sts": "statefulsets", "ds": "daemonsets", "cj": "cronjobs",
         "pdb": "poddisruptionbudgets", "quota": "resourcequotas", "pvc": "persistentvolumeclaims", "pv":
         "persistentvolumes", "pc": "priorityclasses", "sc": "storageclasses", "hpa": "horizontalpodautoscalers",
         "ing": "ingresses", "netpol": "networkpolicies", "rc": "replicationcontrollers", "ev": "events"}


def record(request, flags=0):
    return MARK + bytes([0x40 | flags]) + request


def http(method, target, body=b"", **headers):
    if isinstance(body, str):
        body = body.encode()
    lines = [f"{method} {target} HTTP/1.1", "Host: h"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def place(kind, namespace, name=""):
    root, plural, namespaced = KINDS[kind]
    inner = f"/namespaces/{namespace}" if namespaced else ""
    return f"{root}{inner}/{plural}" + (f"/{name}" if name else "")


def kind_of(word):
    word = SHORT.get(word.split(".")[0], word.split(".")[0])
    for kind, (_, plural, _) in KINDS.items():
        if word in (plural, kind.lower()):
            return kind
    return None


def objects(text):
    try:
        for o in yaml.safe_load_all(text):
            if isinstance(o, dict) and o.get("kind") in KINDS:
                yield o
    except yaml.YAMLError:
        return


def written(verb, namespace, text):
    for o in objects(text):
        meta = o.get("metadata") or {}
        name, where = meta.get("name", ""), meta.get("namespace", namespace)
        body = json.dumps(o, separators=(",", ":"), default=str)
        if verb == "create":
            yield http("POST", place(o["kind"], where), body, Content_Type="application/json")
        elif verb == "replace":
            yield http("PUT", place(o["kind"], where, name), body, Content_Type="application/json")
        else:
            yield http("PATCH", place(o["kind"], where, name) + "?fieldManager=m", body,
                       Content_Type="application/apply-patch+yaml")


def option(words, *names):
    for i, word in enumerate(words):
        for name in names:
            if word == name and i + 1 < len(words):
                return words[i + 1]
            if word.startswith(name + "="):
                return word[len(name) + 1:]
    return None


def plain_words(words):
    taking, skip, kept = ("-p", "-l", "-o", "--type", "-n", "--field-selector", "--subresource"), False, []
    for word in words:
        if not skip and not word.startswith("-"):
            kept += word.split("/") if "/" in word else [word]
        skip = word in taking
    return kept


def by_name(verb, namespace, words):
    given = plain_words(words)
    kind = kind_of(given[0]) if given else None
    if not kind:
        return
    target = place(kind, namespace, given[1] if len(given) > 1 else "")
    sub = option(words, "--subresource")
    target += f"/{sub}" if sub else ""
    if verb == "get":
        query = "&".join(f"{name}={value.replace('=', '%3D')}" for name, value in
                         (("labelSelector", option(words, "-l", "--selector")),
                          ("fieldSelector", option(words, "--field-selector"))) if value)
        table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
        yield http("GET", target + (f"?{query}" if query else ""), Accept=table)
    elif verb == "patch" and option(words, "-p", "--patch"):
        kind = PATCHES.get(option(words, "--type") or "strategic", PATCHES["strategic"])
        yield http("PATCH", target, option(words, "-p", "--patch"), Content_Type=kind)
    elif verb == "delete":
        yield http("DELETE", target, '{"propagationPolicy":"Background"}', Content_Type="application/json")


def step(namespace, line, body):
    try:
        words = shlex.split(line.split("<<")[0])
    except ValueError:
        return
    if words[:1] == ["http"] and len(words) >= 3:
        headers = dict(w.split(":", 1) for w in words[3:] if ":" in w)
        headers.setdefault("Content-Type", "application/json")
        yield http(words[1], words[2], body, **headers)
    elif words[:1] == ["kubectl"] and len(words) >= 2:
        if body and words[1] in ("create", "apply", "replace"):
            yield from written(words[1], namespace, body)
        else:
            yield from by_name(words[1], namespace, words[2:])


def case_input(path):
    namespace, line, body, taking = "default", None, [], False
    requests = []
    for text in path.read_text().splitlines():
        if taking:
            taking = text != "END"
            if taking:
                body.append(text)
            else:
                requests += step(namespace, line, "\n".join(body))
        elif text.startswith("namespace "):
            namespace = text.split()[1]
            requests.append(http("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": namespace}}),
                                 Content_Type="application/json"))
        elif text.startswith("$ "):
            line, body, taking = text[2:], [], re.search(r"<<\s*'?END'?", text) is not None
            if not taking:
                requests += step(namespace, line, "")
    return requests


def golden_requests(name):
    for line in (GOLDEN / name).read_text().splitlines():
        row = json.loads(line)
        if "target" in row and isinstance(row["target"], str):
            headers = {k: v for k, v in row.get("headers", {}).items() if v}
            yield http(row.get("method", "GET"), row["target"], **headers)


CM = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JSON = {"Content_Type": "application/json"}
POD = '{"metadata":{"name":"p","labels":{"a":"1"}},"spec":{"containers":[{"name":"c","image":"i"}]%s}}'


def config_map(name, more=""):
    return '{"metadata":{"name":"%s","labels":{"a":"1"}%s},"data":{"k":"v"}}' % (name, more)


STORIES = {
    "race": (0, [(0 | HOLDS, http("POST", CM, config_map("c"), **JSON)), (1 | HOLDS, http("POST", CM, config_map("c"), **JSON)),
                 (2 | HOLDS, http("PATCH", CM + "/c?fieldManager=m&force=true", '{"apiVersion":"v1","kind":"ConfigMap","metadata":'
                                  '{"name":"c"},"data":{"k":"w"}}', Content_Type="application/apply-patch+yaml")),
                 (3, http("DELETE", CM + "/c"))]),
    "cut": (0, [(0, http("POST", CM, config_map("c"), **JSON)),
                (1 | HOLDS, http("PATCH", CM + "/c", '{"data":{"x":"1"}}', Content_Type="application/merge-patch+json")),
                (0 | HOLDS | CLOSES, http("PATCH", CM + "/c", '{"data":{"y":"1"}}', Content_Type="application/merge-patch+json",
                                          User_Agent="someone/1")), (1, http("GET", CM))]),
    "chunks": (0, [(0, http("POST", CM, '{"metadata":{"generateName":"c-","labels":{"a":"1"}}}', **JSON))] * 4 +
               [(0, http("GET", CM + "?limit=2")), (0, http("GET", CM + "?limit=2&continue="
                "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NCwic3RhcnQiOiJkZWZhdWx0L2NcdTAwMDAifQ")),
                (0, http("GET", CM + "?limit=1&labelSelector=a%3D1", Accept="application/vnd.kubernetes.protobuf")),
                (0, http("DELETE", CM + "?labelSelector=a", '{"dryRun":["All"]}', **JSON)), (0, http("DELETE", CM))]),
    "watches": (1, [(1, http("GET", PODS + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                             "allowWatchBookmarks=true")),
                    (2 | DEAF, http("GET", PODS + "?watch=1&fieldSelector=spec.nodeName%3Dn", Accept="application/json;as=Table;"
                                    "v=v1;g=meta.k8s.io,application/json")),
                    (3, http("GET", "/api/v1/watch/namespaces/default/pods/p", Accept="application/vnd.kubernetes.protobuf;"
                             "stream=watch")), (0, http("POST", PODS, POD % "", **JSON)),
                    (0, http("POST", PODS + "/p/binding", '{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}', **JSON)),
                    (0 | WAITS, http("PATCH", PODS + "/p", '[{"op":"remove","path":"/metadata/labels/a"}]',
                                     Content_Type="application/json-patch+json")),
                    (2, b""), (0, http("DELETE", PODS + "/p?gracePeriodSeconds=0"))]),
    "evict": (1, [(0, http("POST", PODS, POD % ',"nodeName":"n"', **JSON)),
                  (0, http("POST", PODS + "/p/eviction", '{"metadata":{"name":"p"}}', **JSON)),
                  (0, http("PUT", PODS + "/p/status", '{"metadata":{"name":"p"},"status":{"phase":"Failed"}}', **JSON)),
                  (0, http("POST", PODS + "/p/eviction", '{"metadata":{"name":"p"}}', **JSON))]),
    "services": (3, [(0, http("POST", "/api/v1/namespaces/default/services", '{"metadata":{"name":"s"},"spec":{"type":'
                              '"NodePort","ports":[{"port":80}]}}', **JSON)),
                     (0 | HOLDS, http("PATCH", "/api/v1/namespaces/default/services/s", '{"spec":{"type":"ExternalName",'
                              '"externalName":"x.y"}}', Content_Type="application/merge-patch+json")),
                     (1, http("DELETE", "/api/v1/namespaces/default/services/s"))]),
    "namespace": (2, [(0, http("POST", "/api/v1/namespaces", '{"metadata":{"name":"x"}}', **JSON)),
                      (0, http("DELETE", "/api/v1/namespaces/x")), (0, http("PUT", "/api/v1/namespaces/x/finalize",
                       '{"metadata":{"name":"x"},"spec":{"finalizers":[]}}', **JSON))]),
    "scale": (4, [(0, http("POST", "/apis/apps/v1/namespaces/default/deployments", json.dumps({
        "metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "1"}}, "template": {
            "metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}), **JSON)),
        (0, http("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale")),
        (0, http("PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", '{"spec":{"replicas":3}}',
                 Content_Type="application/merge-patch+json")),
        (0, http("PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale",
                 '{"metadata":{"name":"d"},"spec":{"replicas":5}}', **JSON))]),
}


def write(name, which, records, rbac=False):
    (TO / name).write_bytes(bytes([0x40 | rbac, 0x40 | which]) + b"".join(records))


def main():
    TO.mkdir(parents=True, exist_ok=True)
    for old in TO.iterdir():
        if not old.name.startswith("found-"):
            old.unlink()
    for i, path in enumerate(sorted((ROOT / "tests/peers/kubectl/cases").glob("*.case"))):
        records = [record(r) for r in case_input(path)]
        if len(records) > 1:
            write("case-" + path.stem, i % 8, records)
    for name in ("accept", "fields", "options", "routes"):
        all_requests = list(golden_requests(name + ".jsonl"))
        for i in range(0, len(all_requests), TARGETS_PER_INPUT):
            write(f"golden-{name}-{i // TARGETS_PER_INPUT}", 0,
                  [record(r) for r in all_requests[i:i + TARGETS_PER_INPUT]])
    for name, (which, records) in STORIES.items():
        plain = [record(request, flags) for flags, request in records]
        write("story-" + name, which, plain)
        write("story-rbac-" + name, which, [r.replace(b"Host: h\r\n", b"Host: h\r\nAuthorization: Bearer a\r\n")
                                            for r in plain], rbac=True)


if __name__ == "__main__":
    main()
