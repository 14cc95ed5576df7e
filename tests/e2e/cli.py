"""What the tests of commands share: running berth, small clusters, and checks that are counted."""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BERTH = os.path.abspath(sys.argv[1])
COMMANDS = ["apiserver", "apply", "bench", "controllers", "decode", "delete", "down", "explain", "get", "node", "replay", "scheduler", "simulate",
            "status", "store", "up", "version"]
# With berth's own kind of command line; these two have kube-scheduler's and kube-apiserver's, see scheduler_flags.py and
# apiserver_life.py.
PLAIN_COMMANDS = [c for c in COMMANDS if c not in ("apiserver", "controllers", "scheduler")]

failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, shown))


def finish():
    print("%d failures" % failures)
    sys.exit(1 if failures else 0)


def berth(*args, cwd=ROOT, env=None, **more):
    """Exit code, standard output and standard error, as bytes."""
    done = subprocess.run([BERTH, *args], cwd=cwd, env=dict(environment(), **(env or {})), check=False,
                          **dict({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}, **more))
    return done.returncode, done.stdout, done.stderr


def environment():
    """Without what the caller's terminal says, and without his cluster."""
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "KUBECONFIG", "KUBERNETES_SERVICE_HOST")}
    return dict(kept, HOME="/dev/null")


def options_of(command):
    """Every option that the help names."""
    code, out, _ = berth(command, "--help")
    assert code == 0, command
    return sorted(set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", out.decode().split("\nexamples:")[0])))


# ---- Objects ----

def node(name, cpu="4", memory="16Gi", pods="110", labels=None, taints=None):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": dict({"kubernetes.io/hostname": name}, **(labels or {}))},
            "spec": {"taints": taints or []}, "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}}}


def pod(name, on=None, cpu="1", memory="1Gi", ns="default", **spec):
    spec = dict({"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}, **spec)
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns}, "spec": spec}


def deployment(name, replicas, cpu="1", ns="default"):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": ns},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": pod("x", cpu=cpu)["spec"]}}}


def write_cluster(folder, objects, name="cluster.json"):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, f)
    return path


PACKING = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""

TRACE = "arrival,duration,cpu,memory\n0,60,1,1Gi\n10,60,2,1Gi\n20,30,3,1Gi\n"


def write_text(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path
