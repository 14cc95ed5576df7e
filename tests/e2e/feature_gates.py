#!/usr/bin/env python3
"""feature_gates.py BERTH - --feature-gates reaches the engine of every command that has one: a toleration that compares
numbers counts only with its gate on."""
import json
import os
import subprocess
import sys
import tempfile

BERTH = os.path.abspath(sys.argv[1])
GATE = "TaintTolerationComparisonOperators"
CLUSTER = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
     "spec": {"taints": [{"key": "level", "value": "5", "effect": "NoSchedule"}]},
     "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "d"},
     "spec": {"containers": [{"name": "c", "image": "i"}],
              "tolerations": [{"key": "level", "operator": "Gt", "value": "3", "effect": "NoSchedule"}]}},
]


def run(*args):
    return subprocess.run([BERTH, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cluster.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "List", "items": CLUSTER}, f)
        for gates, node, code in (([], "-", 3), (["--feature-gates", GATE + "=true"], "n", 0),
                                  (["--feature-gates", "kube:" + GATE + "=false"], "-", 3)):
            done = run("simulate", "-f", path, "-o", "name", *gates)
            assert (done.stdout, done.returncode) == ("d/p %s\n" % node, code), (gates, done)
            done = run("explain", "d/p", "-f", path, "-o", "json", *gates)
            assert done.returncode == code and (json.loads(done.stdout).get("chosen") or "-") == node, (gates, done)
        for command in (["simulate", "-f", path], ["explain", "d/p", "-f", path], ["bench", "--what-if", "--divide", "1000"]):
            done = run(*command, "--feature-gates", "Nonsense=true")
            assert done.returncode == 1 and "unrecognized feature gate: Nonsense" in done.stderr, done
    print("feature gates: 3 settings, 3 commands")


main()
