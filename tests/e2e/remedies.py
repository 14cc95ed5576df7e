#!/usr/bin/env python3
"""tests/e2e/remedies.py BERTH: every change that berth explain offers for a pending pod is made by hand, in the files, and then
berth simulate places the pod. Random clusters; all other pods are where the simulation put them."""
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import explain as clusters

N_CLUSTERS = 60

failures = 0
counts = {}


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what)


def berth(*args):
    done = subprocess.run([BERTH, *args, "-o", "json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def name_of(o):
    return o["metadata"]["name"]


def settled(objects, run, pod):
    """The cluster at the end of the run, with this one pending pod; it may not preempt."""
    where = {p["name"]: p["node"] for p in run["placed"]}
    gone = {p["name"] for p in run["preempted"]} | {p["name"] for p in run["pending"]}
    result = []
    for o in copy.deepcopy(objects):
        if o["kind"] == "Pod" and name_of(o) == pod:
            o["spec"]["preemptionPolicy"] = "Never"
        elif o["kind"] == "Pod" and name_of(o) in gone:
            continue
        elif o["kind"] == "Pod" and name_of(o) in where:
            o["spec"]["nodeName"] = where[name_of(o)]
        result.append(o)
    return result


def find(objects, kind, name):
    return next(o for o in objects if o["kind"] == kind and name_of(o) == name)


def milli(quantity):
    return int(quantity[:-1]) if quantity.endswith("m") else 1000 * int(quantity)


def bytes_of(quantity):
    return int(quantity[:-2]) << {"Ki": 10, "Mi": 20, "Gi": 30}[quantity[-2:]] if quantity[-1] == "i" else int(quantity)


def without_taint(node, key, value, effect):
    node["spec"]["taints"] = [t for t in node["spec"].get("taints", [])
                              if (t["key"], t.get("value", ""), t["effect"]) != (key, value, effect)]


def free(node, amounts):
    capacity = node["status"]["capacity"]
    for a in amounts:
        if a["resource"] == "cpu":
            capacity["cpu"] = f"{milli(capacity['cpu']) + a['missing']}m"
        elif a["resource"] == "memory":
            capacity["memory"] = str(bytes_of(capacity["memory"]) + a["missing"])
        else:
            capacity[a["resource"]] = str(int(capacity[a["resource"]]) + a["missing"])


def relax(spec, r):
    what = r["relaxed"]
    if what == "maxSkew":
        spec["topologySpreadConstraints"][r["index"]]["maxSkew"] = r["now"]
    elif what == "topologySpreadConstraint":
        del spec["topologySpreadConstraints"][r["index"]]
    elif what == "nodeSelector":
        del spec["nodeSelector"][r["key"]]
    elif what == "nodeSelectors":
        for entry in r["names"]:
            del spec["nodeSelector"][entry.split("=")[0]]
    elif what in ("podAffinity", "podAntiAffinity"):
        del spec["affinity"][what]["requiredDuringSchedulingIgnoredDuringExecution"][r["index"]]
    elif what == "request":
        requests = spec["containers"][0]["resources"]["requests"]
        resource = r["amounts"][0]["resource"]
        requests[resource] = f"{r['now']}m" if resource == "cpu" else str(r["now"])
    else:
        check(False, f"these clusters have no {what}")


def add_node(objects, like, name, amounts):
    new = copy.deepcopy(find(objects, "Node", like))
    new["metadata"]["name"] = new["metadata"]["labels"]["kubernetes.io/hostname"] = name
    new.get("spec", {}).pop("unschedulable", None)
    for a in amounts:
        new["status"]["capacity"].setdefault(a["resource"], "0")
    free(new, amounts)
    objects.append(new)


def add_claim(objects, name):
    """Bound to a volume that every node can use."""
    objects[:] = [o for o in objects if o["kind"] != "PersistentVolumeClaim" or name_of(o) != name]
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    objects.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {
        "name": name, "namespace": "default", "uid": "uid-" + name,
        "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": dict(spec, volumeName="volume-" + name), "status": {"phase": "Bound"}})
    objects.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "volume-" + name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"},
        "claimRef": {"namespace": "default", "name": name, "uid": "uid-" + name}}, "status": {"phase": "Bound"}})


def apply(objects, pod, r):
    spec = find(objects, "Pod", pod)["spec"]
    kind = r["kind"]
    if kind == "removeGates":
        del spec["schedulingGates"]
    elif kind == "uncordon":
        find(objects, "Node", r["node"])["spec"].pop("unschedulable")
    elif kind == "tolerate":
        toleration = {"key": r["key"], "operator": "Equal", "value": r["value"], "effect": r["effect"]}
        spec.setdefault("tolerations", []).append(toleration)
    elif kind == "addLabel":
        find(objects, "Node", r["node"])["metadata"]["labels"][r["key"]] = r["value"]
    elif kind == "removeTaint":
        without_taint(find(objects, "Node", r["node"]), r["key"], r["value"], r["effect"])
    elif kind == "relax":
        relax(spec, r)
    elif kind == "free":
        free(find(objects, "Node", r["node"]), r["amounts"])
    elif kind == "evict":
        victims = {v["name"] for v in r["victims"]}
        objects[:] = [o for o in objects if o["kind"] != "Pod" or name_of(o) not in victims]
    elif kind == "addNode":
        add_node(objects, r["node"], r["newName"], r.get("amounts", []))
    elif kind == "provideClaims":
        for name in r["names"]:
            add_claim(objects, name)
    else:
        check(False, f"an unknown kind: {kind}")


def check_remedy(folder, objects, pod, r, what):
    changed = copy.deepcopy(objects)
    apply(changed, pod, r)
    run = berth("simulate", "-f", clusters.write(folder, changed))
    placed = [p["node"] for p in run["placed"] if p["name"] == pod]
    check(len(placed) == 1, f"{what}: \"{r['text']}\" does not place it: {run['pending']}")
    check(r["feasibleNodes"] > 1 or placed == [r["goesTo"]], f"{what}: \"{r['text']}\" leads to {placed}")
    label = f"{r['kind']} {r['relaxed']}" if "relaxed" in r else r["kind"]
    counts[label] = counts.get(label, 0) + 1


def check_cluster(folder, seed):
    objects = [o for o in clusters.random_cluster(random.Random(seed)) if o["kind"] != "Deployment"]
    path = clusters.write(folder, objects)
    run = berth("simulate", "-f", path)
    for p in run["pending"]:
        pod, what = p["name"], f"cluster {seed}, {p['name']}"
        state = settled(objects, run, pod)
        x = berth("explain", pod, "-f", clusters.write(folder, state))
        for r in x["remedies"]:
            check_remedy(folder, state, pod, r, what)
        check(x["remedies"] or x["remediesTried"], f"{what}: nothing was tried")


def small_node(name, zone, **capacity):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": zone}},
        "spec": {}, "status": {"capacity": dict({"cpu": "4", "memory": "16Gi", "pods": "110"}, **capacity)}}


def small_pod(requests=None, **spec):
    container = {"name": "c", "image": "i", "resources": {"requests": requests or {"cpu": "100m"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
            "spec": dict({"containers": [container]}, **spec)}


def claim(name, **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"}, "spec": dict(
        {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}, **spec)}


def volumes(*names):
    return [{"name": "v%d" % i, "persistentVolumeClaim": {"claimName": n}} for i, n in enumerate(names)]


NODES = [small_node("n1", "za"), small_node("n2", "zb")]
# What waits, and the words with which the first answer begins.
WAITING = [
    ("a claim that is not there", [small_pod(volumes=volumes("nope"))],
     "provide the claim nope, bound to a volume that the node can use (it does not exist) (then node "),
    ("a claim whose class is not there", [claim("data", storageClassName="gp3"), small_pod(volumes=volumes("data"))],
     "provide the claim data, bound to a volume that the node can use (its StorageClass gp3 does not exist) (then node "),
    ("a claim without anything", [claim("data", storageClassName=""), small_pod(volumes=volumes("data"))],
     "provide the claim data, bound to a volume that the node can use (it has no volume and no StorageClass) (then node "),
    ("two claims", [small_pod(volumes=volumes("a", "b"))],
     "provide the claims a and b, bound to a volume that the node can use (none of them has one) (then node "),
    ("a slip in one label", [small_pod(nodeSelector={"topology.kubernetes.io/zone": "zbb"})],
     "drop topology.kubernetes.io/zone=zbb from the pod's node selector (no node has topology.kubernetes.io/zone=zbb; node n2 has "
     "topology.kubernetes.io/zone=zb) (then node "),
    ("two labels", [small_pod(nodeSelector={"kubernetes.io/arch": "arm64", "topology.kubernetes.io/zone": "zd"})],
     "drop kubernetes.io/arch=arm64 and topology.kubernetes.io/zone=zd from the pod's node selector (no node has "
     "kubernetes.io/arch=arm64; node n1 has kubernetes.io/arch=amd64; no node has topology.kubernetes.io/zone=zd; node n1 has "
     "topology.kubernetes.io/zone=za) (then node "),
    ("no device of the kind", [small_pod({"nvidia.com/gpu": "2"})], "add a node like n1 that has 2 nvidia.com/gpu (no node has any nvidia.com/gpu)"),
    ("more than one node has", [small_pod({"cpu": "6", "memory": "4Gi"})], "lower the pod's cpu request from 6 to 4 "),
]


def check_waiting(folder, what, objects, text):
    x = berth("explain", "p", "-f", clusters.write(folder, NODES + objects))
    texts = [r["text"] for r in x["remedies"]]
    check(texts and texts[0].startswith(text), f"{what}: {texts}")
    for r in x["remedies"]:
        check_remedy(folder, NODES + objects, "p", r, what)


def main():
    global BERTH
    BERTH = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(N_CLUSTERS):
            check_cluster(folder, seed)
        for what, objects, text in WAITING:
            check_waiting(folder, what, objects, text)
    for kind in ("removeGates", "uncordon", "tolerate", "addLabel", "removeTaint", "relax nodeSelector", "relax request", "free",
                 "evict", "addNode", "provideClaims", "relax nodeSelectors"):
        check(counts.get(kind), f"no remedy of kind {kind} in {N_CLUSTERS} clusters")
    print(f"{sum(counts.values())} remedies, {failures} failures: {counts}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
