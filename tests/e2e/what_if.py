#!/usr/bin/env python3
"""what_if.py BERTH - the what-if options of `berth simulate`: texts, JSON and exit codes as a user sees them."""
import json
import os
import subprocess
import sys
import tempfile

BERTH = os.path.abspath(sys.argv[1])


def node(name, cpu="4", **labels):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": dict({"kubernetes.io/hostname": name}, **labels)},
            "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}}


def pod(name, on=None, cpu="1", owner="web-h"):
    meta = {"name": name, "namespace": "shop", "labels": {"app": "web", "pod-template-hash": "h"}}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "u", "controller": True}]
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def deployment(replicas, cpu="1"):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
                     "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", cpu=cpu)["spec"]}}}


def budget(rule):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
            "spec": dict(rule, selector={"matchLabels": {"app": "web"}})}


PACKING = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins:
    score:
      disabled: [{name: NodeResourcesBalancedAllocation}]
"""

TWO = [node("n1", pool="old"), node("n2"), deployment(2), pod("web-h-a", "n1"), pod("web-h-b", "n2")]
FULL = [node("n1"), deployment(9), pod("web-h-a", "n1")]


def berth(objects, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cluster.json")
        with open(path, "w") as f:
            json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, f)
        for name, text in (("worker.yaml", json.dumps(pod("worker", owner=None))), ("packing.yaml", PACKING)):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        done = subprocess.run([BERTH, "simulate", "-f", path] + list(options), cwd=folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr


# what, objects, options, exit code, texts of the answer or of the error
TEXTS = [
    ("a drain moves the pod", TWO, ["--drain", "n1"], 0,
     ["What if: drain n1", "1 pod elsewhere", "shop/web-h-a", "n1 -> n2", "1 pod evicted in 1 round, 0 cannot leave"]),
    ("by labels", TWO, ["--drain", "-l", "pool=old"], 0, ["What if: drain nodes with pool=old", "n1 -> n2"]),
    ("a blocked drain says by what", TWO + [budget({"maxUnavailable": 0})], ["--drain", "n1"], 3,
     ["1 cannot leave", "shop/web-h-a stays on n1: PodDisruptionBudget shop/web allows 0 disruptions: it needs 2 healthy pods and has 2"]),
    ("a pod of nobody blocks", TWO + [pod("lonely", "n1", owner=None)], ["--drain", "n1"], 3,
     ["shop/lonely stays on n1: it has no controller"]),
    ("unless it is forced", TWO + [pod("lonely", "n1", owner=None)], ["--drain", "n1", "--force"], 0,
     ["shop/lonely on n1 is lost: it has no controller", "Gone"]),
    ("a cordon", TWO, ["--cordon", "n2", "--scale", "deploy/web=4"], 0, ["What if: cordon n2; scale deploy/web=4", "2 pods new"]),
    ("without a node", TWO, ["--remove-node", "n2"], 0, ["n2 -> n1", "(gone)"]),
    ("too few nodes", TWO, ["--scale", "deploy/shop/web=9"], 3, ["New", "pending\n      0/2 nodes are available: 2 Insufficient cpu."]),
    ("more nodes", FULL, ["--add-nodes", "2", "--like", "n1"], 0, ["5 pods no longer pending", "n1-copy-2", "(new)"]),
    ("the other way round", FULL, ["--like", "n1", "--add-nodes", "2"], 0, ["5 pods no longer pending", "n1-copy-2", "(new)"]),
    ("capacity", TWO, ["--capacity-of", "worker.yaml"], 0,
     ["Capacity: 6 more copies of Pod shop/worker fit", "What runs out first: cpu", "2 nodes: Insufficient cpu"]),
    ("nodes needed", FULL, ["--nodes-needed", "--like", "n1"], 3, ["Nodes needed: 2 more like n1, then nothing is pending"]),
    ("no nodes needed", TWO, ["--nodes-needed", "--like", "n1"], 0, ["Nodes needed: none, nothing is pending"]),
    ("nodes that do not help", [node("n1"), pod("big", cpu="40")], ["--nodes-needed", "--like", "n1"], 3,
     ["more nodes like n1 do not help", "1 pod that no number of such nodes places", "shop/big", "Insufficient cpu"]),
    ("two configurations", [node("n1"), node("n2")] + [pod("p%d" % i, owner=None) for i in range(3)], ["--compare", "packing.yaml"], 0,
     ["Compared: default configuration -> packing.yaml", "3 placed, 0 pending, 0 preempted", "Elsewhere"]),
    ("names are of the changed run", TWO, ["--drain", "n1", "-o", "name"], 0, ["shop/web-h-a n2"]),
]

ERRORS = [
    (["--drain", "n3"], 1, "berth simulate: no node is named \"n3\"; did you mean n1, n2?"),
    (["--cordon"], 2, "--cordon needs a value"),
    (["--drain", "-l"], 2, "--drain -l needs a selector"),
    (["--drain", "-l", ""], 2, "--drain -l: an empty selector would drain every node"),
    (["--add-nodes", "3"], 2, "--add-nodes needs --like NODE"),
    (["--add-nodes", "0", "--like", "n1"], 2, "--add-nodes is a number from 1 to"),
    (["--add-nodes", "many", "--like", "n1"], 2, "not \"many\""),
    (["--like", "n1"], 2, "--like n1 belongs to --add-nodes N or --nodes-needed"),
    (["--nodes-needed"], 2, "--nodes-needed needs --like NODE"),
    (["--nodes-needed", "--like", "nn1"], 1, "no node is named \"nn1\"; did you mean n1"),
    (["--scale", "web=3"], 2, "--scale is KIND/NAME=N"),
    (["--scale", "deploy/web=-1"], 2, "--scale is KIND/NAME=N"),
    (["--scale", "deploy/wob=1"], 1, "no Deployment is named \"wob\"; did you mean shop/web?"),
    (["--scale", "ds/web=1"], 1, "\"ds\" cannot be scaled"),
    (["--force"], 2, "--force belongs to --drain"),
    (["--capacity-of", "cluster.json"], 1, "--capacity-of cluster.json: cluster.json, document 1, items[3]"),
    (["--capacity-of", "none.yaml"], 1, "none.yaml: No such file or directory"),
    (["--compare", "none.yaml"], 1, "none.yaml"),
]


def check(condition, what, shown=""):
    if not condition:
        sys.exit("%s\n%s" % (what, shown))


def check_texts():
    for what, objects, options, code, texts in TEXTS:
        got, out, err = berth(objects, *options)
        check(got == code, "%s: exit code %d, want %d" % (what, got, code), out + err)
        for text in texts:
            check(text in out, "%s: not in the answer: %s" % (what, text), out)


def check_errors():
    for options, code, text in ERRORS:
        got, out, err = berth(TWO, *options)
        check(got == code, "%s: exit code %d, want %d" % (options, got, code), out + err)
        check(text in err, "%s: not in the error: %s" % (options, text), err)
        check(not out, "%s: an answer beside the error" % options, out)


def what_if(objects, *options):
    _, out, _ = berth(objects, *options, "-o", "json")
    whole = json.loads(out)
    check(whole["kind"] == "Simulation", "the usual report is there", out)
    return whole, whole["whatIf"]


def check_json():
    whole, q = what_if(TWO + [budget({"maxUnavailable": 0})], "--drain", "n1", "--add-nodes", "1", "--like", "n2", "--capacity-of",
                       "worker.yaml", "--nodes-needed", "--like", "n1", "--compare", "packing.yaml")
    check(q["changes"] == ["drain n1", "1 more node like n2"], "changes", q["changes"])
    check(q["drain"]["rounds"] == 0 and q["drain"]["evicted"] == 0, "rounds", q["drain"])
    stay = q["drain"]["blocked"][0]
    check((stay["name"], stay["budget"], stay["disruptionsAllowed"], stay["healthy"], stay["desiredHealthy"], stay["owner"]) ==
          ("web-h-a", "shop/web", 0, 2, 2, "Deployment shop/web"), "what blocks", stay)
    check(whole["summary"]["nodes"] == 3, "the report is of the changed run", whole["summary"])
    check(q["capacity"]["copies"] == 7 and q["capacity"]["runsOut"] == "cpu", "capacity", q["capacity"])
    check(sum(n["copies"] for n in q["capacity"]["nodes"]) == 7, "copies by node", q["capacity"])
    check(q["nodesNeeded"] == {"like": "n1", "nodes": 0, "pendingBefore": 0, "runs": 0, "hopeless": []}, "needed", q["nodesNeeded"])
    check(q["compare"]["second"]["config"] == "packing.yaml" and "difference" in q["compare"], "compare", q["compare"])
    added = [n for n in q["difference"]["nodes"] if n["name"] == "n2-copy-1"][0]
    check(added["before"] is None and added["after"]["pods"] == 0, "a new node", added)

    whole, q = what_if(FULL, "--remove-node", "n1")
    check(q["difference"]["summary"] == {"moved": 0, "pending": 4, "placed": 0, "gone": 0, "new": 0, "preempted": 0, "notPreempted": 0},
          "summary", q["difference"]["summary"])
    check(all(p["change"] == "pending" and p["from"] == "n1" and p["to"] is None and p["message"] for p in q["difference"]["pods"]),
          "pods", q["difference"]["pods"])
    check("drain" not in q and "capacity" not in q, "what was not asked", q)
    _, out, _ = berth(TWO, "-o", "json")
    check("whatIf" not in json.loads(out), "nothing was asked", out)


check_texts()
check_errors()
check_json()
print("%d answers, %d errors" % (len(TEXTS), len(ERRORS)))
