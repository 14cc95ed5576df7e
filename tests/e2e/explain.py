#!/usr/bin/env python3
"""tests/e2e/explain.py BERTH [--update]: berth explain as a user runs it.

The sample cluster against recorded outputs (tests/golden/explain; --update writes them anew), what it says when it is asked
wrongly, and random clusters: what explain says of a pod is what simulate does with it.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden/explain"
CLUSTER = ["-f", "examples/cluster"]
N_CLUSTERS, N_PODS = 40, 8

failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what)


def berth(*args):
    kept = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}
    done = subprocess.run([BERTH, *args], cwd=ROOT, env=dict(kept, HOME="/nonexistent"), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# ---- Recorded outputs ----

RECORDED = {
    "placed.txt": (0, ["shop/orders-db-0"]),
    "placed.json": (0, ["shop/orders-db-0", "-o", "json"]),
    "top.txt": (0, ["orders-db-0", "--top", "2"]),
    "top.json": (0, ["orders-db-0", "--top", "1", "-o", "json"]),
    "equals.txt": (0, ["-n", "shop", "nightly-report-cdn6r"]),
    "daemon.txt": (0, ["node-agent-fjfvs"]),
    "running.txt": (0, ["cart-6b5f9c7d8-4xk2p"]),
    "too-big.txt": (3, ["shop/too-big"]),
    "too-big.json": (3, ["shop/too-big", "-o", "json"]),
    "gated.txt": (3, ["shop/waiting-for-approval"]),
    "untolerated.txt": (3, ["shop/untolerated"]),
    "wants-a-gpu-node.json": (3, ["shop/wants-a-gpu-node", "-o", "json"]),
}


def check_recorded(update):
    for name, (want_code, args) in RECORDED.items():
        code, out, err = berth("explain", *args, *CLUSTER)
        check(code == want_code, f"{name}: exit code {code}, want {want_code}: {err}")
        if update:
            (GOLDEN / name).write_text(out)
        check(out == (GOLDEN / name).read_text(), f"{name} differs:\n{out}")
        if name.endswith(".json"):
            json.loads(out)


# ---- Wrong questions ----

def write(folder, objects):
    path = pathlib.Path(folder) / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    return str(path)


def pod(name, ns="default", **spec):
    spec.setdefault("containers", [{"name": "c", "image": "i"}])
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": ns}, "spec": spec}


def node(name, cpu="4", labels=None, **spec):
    labels = {"kubernetes.io/hostname": name, **(labels or {})}
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": labels}, "spec": spec,
            "status": {"capacity": {"cpu": cpu, "memory": "16Gi", "pods": "20"}}}


def check_wrong_questions(folder):
    finished = pod("finished")
    finished["status"] = {"phase": "Succeeded"}
    path = write(folder, [node("n1"), pod("twin", "a"), pod("twin", "b"), pod("web-7d9-x"), finished,
                          pod("lost", nodeName="gone")])
    rows = [
        (1, ["wed-7d9-x"], "no pod is named wed-7d9-x; did you mean default/web-7d9-x?"),
        (1, ["web"], "no pod is named web; did you mean default/web-7d9-x?"),
        (1, ["web-5f4-y"], "no pod is named web-5f4-y; did you mean default/web-7d9-x?"),
        (1, ["c/twin"], "no pod is named c/twin; did you mean a/twin, b/twin?"),
        (1, ["qqqqq"], "no pod is named qqqqq\n"),
        (1, ["twin"], "pods of several namespaces are named twin: a/twin b/twin"),
        (0, ["twin", "-n", "b"], ""),
        (0, ["b/twin"], ""),
        (1, ["finished"], "pod finished takes no part: it is finished, or on a node that is not given"),
        (1, ["lost"], "pod lost takes no part: it is finished, or on a node that is not given"),
        (2, [], "which pod?"),
        (2, ["twin", "web"], "one pod at a time"),
        (2, ["a/twin", "-n", "b"], "the namespace is given twice"),
        (2, ["twin", "--top", "0"], "--top is a number above 0"),
        (2, ["twin", "--top", "-1"], "--top is a number above 0"),
        (2, ["twin", "--seed", "x"], "--seed is a number"),
        (2, ["twin", "-o", "yaml"], "-o is text or json"),
        (2, ["twin", "--wrong"], 'unknown argument "--wrong"'),
    ]
    for want_code, args, want in rows:
        code, _, err = berth("explain", *args, "-f", path)
        check(code == want_code and want in err, f"{args}: exit code {code}, want {want_code}: {err}")
    code, _, err = berth("explain", "p")
    check(code == 1 and "no configuration has been provided" in err, f"neither files nor a cluster: {code} {err}")
    code, _, err = berth("explain", "p", "-f", "nowhere.yaml")
    check(code == 1 and "nowhere.yaml" in err, f"no such file: {code} {err}")


def check_extenders(folder):
    config = pathlib.Path(folder) / "config.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                      "leaderElection: {leaderElect: false}\n"
                      "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter}]\n")
    path = write(folder, [node("n1"), pod("p")])
    code, out, err = berth("explain", "p", "-f", path, "--config", str(config))
    check(code == 0 and "1 extender of the configuration was not asked" in out, f"extenders: {code} {out} {err}")


def check_preemption(folder):
    def of_size(cpu):
        return [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]

    path = write(folder, [node("n1"), node("n2"), pod("old", nodeName="n2", priority=20, containers=of_size("3")),
                          pod("low", nodeName="n1", containers=of_size("3")), pod("high", priority=9, containers=of_size("2")),
                          pod("mid", priority=5, containers=of_size("4"))])
    code, out, _ = berth("explain", "high", "-f", path)
    check(code == 0 and out.startswith("default/high goes to n1, the node it was promised\n"), f"promised: {code} {out}")
    check("Evicted to make room for it\n  default/low (priority 0) from n1\n" in out, f"evicted: {out}")
    code, out, _ = berth("explain", "high", "-f", path, "-o", "json")
    x = json.loads(out)
    check(x["nominated"] == "n1" and x["nominatedUsed"] and x["compared"][0]["total"] is None, f"promised: {out}")
    check(x["evicted"] == [{"namespace": "default", "name": "low", "priority": 0, "node": "n1"}], f"evicted: {out}")
    code, out, _ = berth("explain", "low", "-f", path)
    check(code == 0 and out.startswith("default/low is on n1, and would be put there again, the only node that fits\n"),
          f"as given: {code} {out}")
    code, out, _ = berth("explain", "mid", "-f", path)
    check(code == 3 and out.startswith("default/mid is pending: none of 2 nodes fits\n"), f"pending: {code} {out}")


def check_many_nodes(folder):
    path = write(folder, [node(f"n{i}", "1" if i % 4 == 0 else "4") for i in range(200)] +
                 [pod("p", containers=[{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}])])
    _, out, _ = berth("explain", "p", "-f", path)
    check("goes to n1 (score 436)" in out and "the first of 150 with the same score" in out, f"headline: {out}")
    check("  and 140 more: --all or --top N shows them\n" in out and " and 40 more\n" in out, f"folded: {out}")
    _, out, _ = berth("explain", "p", "-f", path, "--all")
    check(" more" not in out and out.count("\n  n") == 150, f"all: {out}")
    _, out, _ = berth("explain", "p", "-f", path, "--top", "3")
    check(out.count("\n  n") == 3 and " and 47 more\n" in out, f"top: {out}")


def check_never_tried(folder):
    path = write(folder, [node("n1"), pod("other", schedulerName="mine")])
    code, out, _ = berth("explain", "other", "-f", path)
    check(code == 3 and out.startswith('default/other is pending: no profile is named "mine" (spec.schedulerName)\n'), out)
    path = write(folder, [node("n1"), pod("other", schedulerName="mine", nodeName="n1")])
    code, out, _ = berth("explain", "other", "-f", path)
    check(code == 0 and out.startswith('default/other is on n1; it cannot be scheduled again: no profile is named "mine"'), out)
    code, out, _ = berth("explain", "p", "-f", write(folder, [pod("p")]))
    check(code == 3 and out.startswith("default/p is pending: no nodes available to schedule pods\n"), out)


def check_overhead(folder):
    """What a runtime class adds to a pod's requests is not the pod's to lower."""
    def lowered(spec):
        _, out, _ = berth("explain", "p", "-o", "json", "-f", write(folder, [node("n1", cpu="1"), pod("p", **spec)]))
        return [r for r in json.loads(out)["remedies"] if r.get("relaxed") == "request"]

    own = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1400m"}}}]}
    check(len(lowered(own)) == 1, "a request of its own can be lowered")
    check(not lowered({**own, "overhead": {"cpu": "100m"}}), "overhead cannot")


# ---- Random clusters ----

def random_node(r, i):
    labels = {"topology.kubernetes.io/zone": r.choice("abc")}
    if r.random() < 0.8:
        labels["disk"] = r.choice(["ssd", "hdd"])
    spec = {}
    if r.random() < 0.2:
        spec["taints"] = [{"key": "k", "value": "v", "effect": r.choice(["NoSchedule", "PreferNoSchedule"])}]
    if r.random() < 0.1:
        spec["unschedulable"] = True
    return node(f"n{i}", r.choice(["2", "4", "8"]), labels, **spec)


def random_spec(r):
    requests = {"cpu": r.choice(["100m", "500m", "1", "2", "9"]), "memory": r.choice(["64Mi", "1Gi", "4Gi"])}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}], "priority": r.choice([0, 0, 0, 10, 100])}
    term = {"topologyKey": r.choice(["kubernetes.io/hostname", "topology.kubernetes.io/zone"]),
            "labelSelector": {"matchLabels": {"app": r.choice("xy")}}}
    if r.random() < 0.25:
        spec["nodeSelector"] = {"disk": r.choice(["ssd", "hdd", "tape"])}
    if r.random() < 0.25:
        kind = r.choice(["podAffinity", "podAntiAffinity"])
        spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if r.random() < 0.25:
        spec["topologySpreadConstraints"] = [{**term, "maxSkew": 1, "whenUnsatisfiable": r.choice(["DoNotSchedule", "ScheduleAnyway"])}]
    if r.random() < 0.3:
        spec["tolerations"] = [{"key": "k", "operator": "Exists"}]
    if r.random() < 0.1:
        spec["schedulingGates"] = [{"name": "g"}]
    return spec


def random_cluster(r):
    n_nodes = r.choice([3, 6, 12, 130])
    objects = [random_node(r, i) for i in range(n_nodes)]
    for i in range(r.randrange(25)):
        spec = random_spec(r)
        spec.pop("schedulingGates", None)
        running = pod(f"r{i}", nodeName=f"n{r.randrange(n_nodes)}", **spec)
        running["metadata"]["labels"] = {"app": r.choice("xyz")}
        objects.append(running)
    for i in range(r.randrange(1, 25)):
        pending = pod(f"p{i}", **random_spec(r))
        pending["metadata"]["labels"] = {"app": r.choice("xyz")}
        objects.append(pending)
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {**random_spec(r), "priority": 0}}
    objects.append({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d", "namespace": "default"},
                    "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "x"}}, "template": template}})
    return objects


def check_sound(x, n_nodes, what):
    plugins = [p["name"] for p in x["plugins"]]
    for n in x["compared"]:
        if n["total"] is not None:
            check(sum(n["scores"].values()) == n["total"], f"{what}: sum of {n}")
            check(list(n["scores"]) == plugins, f"{what}: plugins of {n}")
    totals = [n["total"] for n in x["compared"]]
    check(None in totals or totals == sorted(totals, reverse=True), f"{what}: order of {totals}")
    if x["outcome"] == "error":
        return
    names = [n["name"] for n in x["compared"]] + x["notCompared"] + [n["name"] for n in x["refused"]]
    check(len(names) == len(set(names)) == n_nodes, f"{what}: {len(names)} of {n_nodes} nodes")
    check(all(n["reasons"] for n in x["refused"]), f"{what}: a refusal without reason")
    grouped = sorted((g["plugin"], g["reason"], n) for g in x["reasons"] for n in g["nodes"])
    single = sorted((n["plugin"], reason, n["name"]) for n in x["refused"] for reason in n["reasons"])
    check(grouped == single, f"{what}: groups differ")


def check_as_simulated(path, options, what):
    _, out, _ = berth("simulate", "-f", path, "-o", "json", *options)
    run = json.loads(out)
    pods = [(p, "placed") for p in run["placed"]] + [(p, "pending") for p in run["pending"]]
    pods += [(p, "preempted") for p in run["preempted"]]
    for p, state in random.Random(what).sample(pods, min(N_PODS, len(pods))):
        name = f"{p['namespace']}/{p['name']}"
        code, out, err = berth("explain", name, "-f", path, "-o", "json", *options)
        this = f"{what}, {name}, {state}"
        check(out.startswith('{"kind":"Explanation","version":1'), f"{this}: {code} {err}")
        x = json.loads(out)
        check_sound(x, run["summary"]["nodes"], this)
        if state == "placed":
            check(code == 0 and x["state"] == "placed" and x["chosen"] == p["node"], f"{this}: {x['chosen']}, not {p['node']}")
        elif state == "pending":
            check(code == 3 and x["state"] == "pending", f"{this}: exit code {code}")
            check(x["notTried"] or x["outcome"] != "fits", f"{this}: it fits on {x['chosen']}")
            check(x["outcome"] != "rejected" or x["message"].startswith(f"0/{run['summary']['nodes']} nodes are available: "),
                  f"{this}: {x['message']}")
            check((x["message"] is None) == (x["outcome"] == "fits"), f"{this}: {x['outcome']}, {x['message']}")
        else:
            check((code, x["state"], x["node"]) == (0, "running", p["node"]) or
                  (code, x["state"], x["chosen"]) == (3, "evicted", p["node"]), f"{this}: {code} {x['state']}")


def check_random_clusters(folder):
    config = pathlib.Path(folder) / "some.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                      "leaderElection: {leaderElect: false}\npercentageOfNodesToScore: 20\n")
    for seed in range(N_CLUSTERS):
        path = write(folder, random_cluster(random.Random(seed)))
        check_as_simulated(path, ["--config", str(config)] if seed % 2 else [], f"cluster {seed}")


def main():
    global BERTH
    BERTH = str(pathlib.Path(sys.argv[1]).resolve())
    check_recorded("--update" in sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        check_wrong_questions(folder)
        check_extenders(folder)
        check_preemption(folder)
        check_many_nodes(folder)
        check_never_tried(folder)
        check_overhead(folder)
        check_random_clusters(folder)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
