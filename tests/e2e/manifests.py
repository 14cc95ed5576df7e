#!/usr/bin/env python3
"""manifests.py BERTH - what `berth simulate` makes of manifests as people write them and of dumps as kubectl prints them: what an
API server and the controllers would have made of them, and what is said when something lacks."""
import json
import os
import subprocess
import sys
import tempfile

BERTH = os.path.abspath(sys.argv[1])

NODES = "".join("""
apiVersion: v1
kind: Node
metadata: {name: n%d, labels: {kubernetes.io/hostname: n%d}}
status: {capacity: {cpu: '4', memory: 16Gi, pods: '110'}}
---""" % (i, i) for i in (1, 2, 3))

HOST_NETWORK = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: proxy}
spec:
  replicas: 4
  selector: {matchLabels: {a: p}}
  template:
    metadata: {labels: {a: p}}
    spec: {hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80}]}]}
"""

IMMEDIATE = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {a: d}}
  template: {metadata: {labels: {a: d}}, spec: {containers: [{name: c, image: i}]}}
  volumeClaimTemplates:
  - metadata: {name: data, annotations: {volume.beta.kubernetes.io/storage-class: fast}}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""

GENERATED = """
apiVersion: batch/v1
kind: Job
metadata: {generateName: sample-}
spec: {parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
"""

RANGE_AND_QUOTA = """
apiVersion: v1
kind: LimitRange
metadata: {name: lr}
spec: {limits: [{type: Container, defaultRequest: {cpu: '2'}, default: {cpu: '2'}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q}
spec: {hard: {pods: '2'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 20, selector: {matchLabels: {a: w}}, template: {metadata: {labels: {a: w}}, spec: {containers: [{name: c, image: i}]}}}
"""

RUNTIME = """
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: '1', memory: 1Gi}}
scheduling: {nodeSelector: {kubernetes.io/hostname: n2}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {runtimeClassName: kata, containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}
"""

CRON = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec: {schedule: '0 3 * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}
"""


REFUSED = """
apiVersion: v1
kind: LimitRange
metadata: {name: lr}
spec: {limits: [{type: Container, max: {cpu: '1'}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, resources: {limits: {cpu: '2'}}}]}
"""


def server(kind, name, owner=None, version="v1", **more):
    """As a server shows it."""
    meta = {"name": name, "namespace": "kube-system", "uid": "uid-" + name}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": owner[0], "name": owner[1], "uid": "u", "controller": True}]
    return dict({"apiVersion": version, "kind": kind, "metadata": meta}, **more)


def running(name, owner, on="n1", **spec):
    container = {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "500m"}}}
    return server("Pod", name, owner, spec=dict({"nodeName": on, "schedulerName": "default-scheduler", "priority": 0,
                                                 "containers": [container]}, **spec), status={"phase": "Running"})


def template(labels):
    return {"metadata": {"labels": labels}, "spec": running("x", None)["spec"]}


DUMP = [
    server("DaemonSet", "proxy", version="apps/v1", spec={"selector": {"matchLabels": {"a": "p"}}, "template": {
        "metadata": {"labels": {"a": "p"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}),
    running("proxy-1", ("DaemonSet", "proxy")), running("proxy-2", ("DaemonSet", "proxy"), "n2"),
    running("proxy-3", ("DaemonSet", "proxy"), "n3"),
    running("etcd-n1", ("Node", "n1")),
    server("ReplicaSet", "dns-1", ("Deployment", "dns"), version="apps/v1", spec={
        "replicas": 2, "selector": {"matchLabels": {"a": "d"}}, "template": template({"a": "d", "pod-template-hash": "1"})}),
    server("Deployment", "dns", version="apps/v1", spec={"replicas": 2, "selector": {"matchLabels": {"a": "d"}},
                                                          "template": template({"a": "d"})}),
    running("dns-1-a", ("ReplicaSet", "dns-1")), running("dns-1-b", ("ReplicaSet", "dns-1"), "n2"),
    running("db-0", ("StatefulSet", "db"), volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data-db-0"}}]),
    running("never", None, "", nodeSelector={"a": "b"}), running("fits", None, ""),
]

CHANGED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: dns, namespace: kube-system}
spec:
  replicas: 3
  selector: {matchLabels: {a: d}}
  template: {metadata: {labels: {a: d}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}
"""


def dump(items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def berth(command, texts, *options):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, text in enumerate(texts):
            files += ["-f", os.path.join(folder, "%d.yaml" % i)]
            with open(files[-1], "w") as f:
                f.write(text)
        done = subprocess.run([BERTH, *command, *files, *options], cwd=folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr.replace(folder + "/", "")


# what, texts, options, exit code, texts of the answer, texts of the warnings and errors
CASES = [
    ("ports of the host", [NODES, HOST_NETWORK], [], 3, ["3 placed, 1 pending", "n1, n2, n3", "free ports"], []),
    ("a class that binds at once", [NODES, IMMEDIATE], [], 0, ["2 placed, 0 pending"],
     ["StorageClass fast binds claims at once, before their pods are scheduled"]),
    ("names that are made", [NODES, GENERATED], [], 0, ["2 placed, 0 pending", "Job default/sample-"], []),
    ("a range and a quota", [NODES, RANGE_AND_QUOTA], [], 3,
     ["2 placed, 0 pending", "Refused", "Deployment default/web  18", "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2",
      "0% -> 50%"], []),
    ("a class of runtimes", [NODES, RUNTIME], ["-o", "wide"], 0, ["1.5 ", "n2"], []),
    ("jobs by the clock", [NODES, CRON], [], 0, ["0 placed, 0 pending"], ["CronJob default/nightly is left out"]),
    ("nothing", [""], [], 1, [], ["there is no object in it", "berth simulate: no object was read"]),
    ("nothing that counts", ["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"], [], 1, [],
     ["nothing that takes part in scheduling was read, only other kinds of objects"]),
    ("no nodes", [dump(DUMP[1:5])], [], 1, [], ["all 4 pods are on nodes that are not given, so that nothing is left; read the nodes, too"]),
    ("a dump", [NODES, dump(DUMP)], [], 3, ["3 nodes, 7 pods on them; 1 placed, 1 pending"], []),
    ("a list without items", [NODES, dump([])], [], 0, ["3 nodes, 0 pods on them"], []),
    ("a drain is quiet", [NODES, dump(DUMP)], ["--drain", "n1"], 3,
     ["2 pods evicted in 1 round, 0 cannot leave", "2 pods elsewhere\n"],
     ["claim kube-system/data-db-0 of running pod kube-system/db-0 is not in the input; include persistentvolumeclaims"]),
    ("a changed manifest", [NODES, dump(DUMP), CHANGED], [], 3, ["3 nodes, 5 pods on them; 4 placed, 1 pending"],
     ["2.yaml, document 1: Deployment kube-system/dns takes the place of the one in 1.yaml, document 1, items[6]",
      "another template than the 2 pods that it has: they are taken as rolled out"]),
]


def main():
    failures = 0
    for what, texts, options, code, answers, said in CASES:
        got = berth(["simulate"], texts, *options)
        right = got[0] == code and all(t in got[1] for t in answers) and all(t in got[2] for t in said) and (said or not got[2])
        if not right:
            failures += 1
            print("FAILED", what, "exit code", got[0], "\n" + got[1], got[2])
    got = berth(["explain", "p"], [NODES, REFUSED])
    if got[0] != 1 or "pod p would be refused by the API server: maximum cpu usage per Container is 1, but limit is 2" not in got[2]:
        failures += 1
        print("FAILED explain of a pod that is refused", got)
    report = json.loads(berth(["simulate"], [NODES, RANGE_AND_QUOTA], "-o", "json")[1])
    want = [{"owner": "Deployment default/web", "pods": 18,
             "message": "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"}]
    if report["refused"] != want:
        failures += 1
        print("FAILED refused in JSON", report["refused"])
    print(len(CASES), "cases,", failures, "failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
