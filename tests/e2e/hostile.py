#!/usr/bin/env python3
"""hostile.py BERTH - whatever names, files, flags and configurations hold, nothing reaches a terminal that it would obey or hide.

Names with escape sequences, line ends, overrides of direction, separators and characters without width stand everywhere where a
name can; every command is run in every form of output. What comes out is UTF-8 without any of them, no line is forged, and JSON
and YAML still have the same names.
"""
import json
import os
import re
import tempfile
import unicodedata

import cli
from cli import berth, check

SPELL = "\x1b[31m\x1b]0;t\x07\u009b2J\r\nFORGED\x7f\u202e\u2066\u200b\u2028\u0085\ufeff\U000e0041"
BYTES = SPELL.encode() + b"\x9b2J\xff\xc0\x9b"  # of arguments and file names
N_RUNS = 0


def evil(name):
    return name + SPELL


def check_text(what, text, is_json=False):
    try:
        decoded = text.decode()
    except UnicodeDecodeError as e:
        check(False, "%s: %s" % (what, e), repr(text[:2000]))
        return
    found = {c for c in decoded if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")}
    check(not found, "%s: %s" % (what, [hex(ord(c)) for c in found]), repr(decoded[:2000]))
    if not is_json:
        check("\nFORGED" not in "\n" + decoded, "%s: a line of its own" % what, repr(decoded[:2000]))


def run(*args, codes=(0, 1, 2, 3), **more):
    global N_RUNS
    N_RUNS += 1
    code, out, err = berth(*args, **more)
    what = "berth %s" % " ".join(repr(a) for a in args)
    check(code in codes, "%s: exit code %d" % (what, code), repr(out + err))
    check_text(what + ", output", out)
    check_text(what + ", errors", err)
    return code, out, err


# ---- Objects in which everything is named so ----

def evil_node(i):
    node = cli.node(evil("node%d" % i), cpu="8",
                    labels={evil("key"): evil("value"), "topology.kubernetes.io/zone": evil("zone%d" % (i % 2)), "all": "yes"},
                    taints=[{"key": evil("taint"), "value": evil("v"), "effect": "NoSchedule"}] if i == 2 else [])
    node["status"]["allocatable"]["example.com/" + evil("gpu")] = "4"
    return node


def evil_pod(name, on=None, owner=None, **spec):
    pod = cli.pod(evil(name), on, ns=evil("ns"), **spec)
    pod["metadata"]["labels"] = {evil("app"): evil("web"), "app": "web"}
    pod["metadata"]["annotations"] = {evil("note"): evil("text"), "plain\u202e": "plain\u200b", "lines": "a\nb\u2066\n"}
    container = pod["spec"]["containers"][0]
    container["name"], container["image"] = evil("c"), evil("image")
    container["ports"] = [{"containerPort": 80, "hostPort": 8000 + len(name), "hostIP": evil("1.2.3.4"), "protocol": evil("TCP")}]
    if owner:
        pod["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": evil(owner), "uid": "u",
                                               "controller": True}]
    return pod


def evil_deployment(replicas):
    made = cli.deployment(evil("web"), replicas, ns=evil("ns"))
    made["spec"]["selector"] = {"matchLabels": {"app": "made"}}
    made["spec"]["template"]["metadata"]["labels"] = {"app": "made"}
    return made


def evil_cluster():
    gpu = {"cpu": "1", "example.com/" + evil("gpu"): "1"}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": evil("pdb"), "namespace": evil("ns")},
              "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": evil("claim"), "namespace": evil("ns")},
             "spec": {"storageClassName": evil("class"), "accessModes": [evil("mode")], "resources": {"requests": {"storage": "1Gi"}}}}
    pods = [
        evil_pod("runs", evil("node0"), owner="rs"),
        evil_pod("alone", evil("node0")),
        evil_pod("placed"),
        evil_pod("low", evil("node1"), cpu="7", priority=-5),
        evil_pod("high", cpu="7", priority=9),
        evil_pod("large", cpu="40"),
        evil_pod("selects", nodeSelector={evil("no"): evil("such")}),
        evil_pod("other", schedulerName=evil("nobody")),
        evil_pod("gated", schedulingGates=[{"name": evil("gate")}]),
        evil_pod("claims", volumes=[{"name": evil("v"), "persistentVolumeClaim": {"claimName": evil("claim")}}]),
        evil_pod("lost", evil("nowhere")),
        evil_pod("gpus", containers=[{"name": "c", "image": "i", "resources": {"requests": gpu, "limits": gpu}}]),
    ]
    return [evil_node(i) for i in range(3)] + pods + [evil_deployment(3), budget, claim]


def evil_names():
    return [p["metadata"]["name"] for p in evil_cluster() if p["kind"] == "Pod"]


# ---- Commands ----

def check_simulate(folder, path):
    config = cli.write_text(folder, os.fsdecode(BYTES) + "packing.yaml", cli.PACKING)
    one = cli.write_cluster(folder, [evil_pod("copy")], evil("one.json").replace("/", ""))
    node = evil("node0")
    questions = [[], ["--drain", node], ["--drain", "-l", "all=yes"], ["--drain", node, "--force"], ["--cordon", node], ["--remove-node", node],
                 ["--add-nodes", "2", "--like", node], ["--nodes-needed", "--like", node], ["--capacity-of", one],
                 ["--compare", config], ["--scale", "deploy/%s/%s=5" % (evil("ns"), evil("web"))]]
    for question in questions:
        for form in ("text", "wide", "json", "yaml", "name"):
            code, out, _ = run("simulate", "-f", path, *question, "-o", form, codes=(0, 3))
            if form == "json":
                check_json(json.loads(out), question)
        run("simulate", "-f", path, *question, codes=(0, 3), env={"COLUMNS": "50"})
    for bad in (["--drain", evil("nobody")], ["--like", evil("x"), "--nodes-needed"], ["--scale", "deploy/%s=5" % evil("no")],
                ["--scale", evil("kind") + "/x=5"], ["--drain", "-l", evil("a in (")], ["--capacity-of", evil("none")], ["--compare", evil("none")],
                ["--seed", evil("x")], ["-o", evil("x")], ["--add-nodes", evil("x")], ["--retries", evil("x")],
                ["--make-trace", evil("x")], ["--hours", evil("x")], ["--like", evil("x")], ["--" + evil("x")], [BYTES], [b"--x" + BYTES]):
        run("simulate", "-f", path, *bad, codes=(1, 2))


def check_json(document, question):
    names = {p["name"] for state in ("placed", "pending", "preempted") for p in document[state]}
    check(evil("large") in names and evil("placed") in names, "JSON has the names as they are: %s" % question, names)
    check(document["nodes"][-1]["zone"].startswith("zone"), "and zones", document["nodes"][-1])


def check_explain(path):
    for name in evil_names():
        for form in ("text", "json"):
            code, out, err = run("explain", evil("ns") + "/" + name, "-f", path, "-o", form)
            check(code in (0, 3) or name == evil("lost"), "explain %r: exit code %d" % (name, code), err)
            if form == "json" and out:
                check(json.loads(out)["pod"]["name"] == name, "the name as it is", out)
        run("explain", name, "-f", path, "--all", env={"COLUMNS": "50"})
    for bad in ([evil("larg")], ["-n", evil("none"), "x"], [BYTES], ["x", "-o", evil("x")], ["x", "--top", evil("x")], ["a", evil("b")],
                ["x", "--seed", evil("x")], ["x", "--" + evil("x")], ["x", "--config", evil("x")]):
        run("explain", *bad, "-f", path, codes=(1, 2))


def check_decode(folder, path):
    items = json.load(open(path))["items"]
    single = os.path.join(folder, "single.json")
    for item in items:
        with open(single, "w") as f:
            f.write(json.dumps(item).replace("\\udb40\\udc41", "\U000e0041"))
        run("decode", "-f", single, codes=(0,))
        _, as_json, _ = run("decode", "-f", single, "-o", "json", codes=(0,))
        for key in ("name", "annotations"):
            check(json.loads(as_json)["metadata"].get(key) == item["metadata"].get(key), "decode -o json: the same %s" % key, as_json)
        _, as_yaml, _ = run("decode", "-f", single, "-o", "yaml", codes=(0,))
        _, again, _ = run("decode", "-f", "-", "-o", "json", codes=(0,), stdin=None, input=as_yaml)
        check(json.loads(again) == json.loads(as_json), "decode -o yaml: the same object", as_yaml)


DOCUMENTS = [
    '{"apiVersion":"v1","kind":%(evil)s,"metadata":{"name":"x"}}',
    '{"apiVersion":%(evil)s,"kind":"Pod","metadata":{"name":"x"}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x",%(evil)s:1},"spec":{%(evil)s:1,%(evil)s:2}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s},"spec":{"containers":%(evil)s}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s,"labels":{%(evil)s:1}}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":%(evil)s}}}]}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s},"spec":{"containers":[{"name":"c","resources":{"requests":{%(evil)s:"-1"}}}]}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s,"creationTimestamp":%(evil)s}}',
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s}}\n{"apiVersion":"v1","kind":"Pod","metadata":{"name":%(evil)s}}',
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%(evil)s},"spec":{"replicas":1,"selector":{"matchExpressions":[{"key":%(evil)s,'
    '"operator":%(evil)s}]},"template":{"spec":{}}}}',
    '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":%(evil)s}},%(evil)s]}',
    '{"a":%(raw)s',
    'a: b\n%(raw)s',
    '%(raw)s: [}',
    '- *%(raw)s',
    '--- %(raw)s\n',
    '? !!%(raw)s x\n',
    '%%TAG %(raw)s\n--- a\n',
]


def check_documents(folder):
    for i, document in enumerate(DOCUMENTS):
        path = os.path.join(os.fsencode(folder), b"%d" % i + BYTES.replace(b"/", b""))
        text = document % {"evil": json.dumps(evil("x")), "raw": SPELL}
        with open(path, "wb") as f:
            f.write(text.encode())
        for args in (["decode"], ["decode", "--strict"], ["decode", "-o", "yaml"], ["simulate"], ["explain", "x"]):
            run(*args, "-f", path)


CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n%s\n"
CONFIGS = [
    "profiles: [{schedulerName: %(evil)s}]",
    "profiles: [{plugins: {multiPoint: {enabled: [{name: %(evil)s}]}}}]",
    "profiles: [{plugins: {filter: {disabled: [{name: %(evil)s}]}}}]",
    "profiles: [{pluginConfig: [{name: %(evil)s, args: {x: 1}}]}]",
    "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {%(evil)s: 1, scoringStrategy: {type: %(evil)s}}}]}]",
    "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: [{name: %(evil)s, weight: -1}]}}}]}]",
    "%(evil)s: 1",
    "parallelism: %(evil)s",
    "extenders: [{urlPrefix: %(evil)s, weight: -1, managedResources: [{name: %(evil)s}]}]",
    "featureGates: {%(evil)s: true}",
    "---\napiVersion: berth.dev/v1alpha1\nkind: BerthConfiguration\npluginLibraries: [%(evil)s]",
    "---\napiVersion: berth.dev/v1alpha1\nkind: BerthConfiguration\n%(evil)s: 1",
    "---\napiVersion: %(evil)s\nkind: %(evil)s",
]


def check_configurations(folder, path):
    for i, config in enumerate(CONFIGS):
        name = cli.write_text(folder, "config%d.yaml" % i, CONFIG % (config % {"evil": json.dumps(evil("x"))}))
        for args in (["simulate", "-f", path], ["explain", evil("placed"), "-f", path], ["bench", "--what-if", "--divide", "1000"]):
            run(*args, "--config", name)
            run(*args, "--config", name, "--allow-plugins")
        run("simulate", "-f", path, "--compare", name)


TRACES = [
    "arrival,duration,cpu,memory,name,namespace\n0,60,1,1Gi,%(evil)s,%(evil)s\n1,60,90,1Gi,%(evil)s2,%(evil)s\n",
    "arrival,%(evil)s,cpu,memory\n0,60,1,1Gi\n",
    "arrival,duration,cpu,memory\n0,%(evil)s,1,1Gi\n",
    "arrival,duration,cpu,memory\n0,60,%(evil)s,1Gi\n",
    "arrival,duration,cpu,memory,template\n0,60,1,1Gi,%(evil)s\n",
    "arrival,duration,cpu,memory,priority\n0,60,1,1Gi,%(evil)s\n",
    "%(evil)s\n",
]


def check_traces(folder, path):
    for i, trace in enumerate(TRACES):
        one_line = SPELL.replace("\n", "").replace("\r", "")
        name = cli.write_text(folder, "trace%d.csv" % i, trace % {"evil": "x" + one_line})
        for form in ("text", "json", "yaml"):
            run("simulate", "-f", path, "--trace", name, "-o", form)
    quoted = cli.write_text(folder, "trace.csv", 'arrival,duration,cpu,memory,name\n0,60,90,1Gi,"%s"\n' % evil("x"))
    run("simulate", "-f", path, "--trace", quoted)
    run("simulate", "-f", path, "--trace", evil("nowhere"), codes=(1,))


def check_others():
    for command in cli.COMMANDS:
        for args in ([evil("x")], ["--" + evil("x")], [BYTES], ["-o", evil("x")], ["-o=" + evil("x")], ["-f", BYTES], ["-f", evil("x")]):
            run(command, *args, codes=(1, 2))
    run(evil("x"), codes=(2,))
    run(BYTES, codes=(2,))
    run("bench", "--engine", evil("x"), codes=(1,))
    run("bench", "--what-if", "--config", evil("x"), codes=(1,))
    run("bench", "--divide", evil("x"), codes=(2,))


# ---- Ways out ----

PRINTS = re.compile(r"(?<![a-z_])(?:v?f?printf|f?puts|f?putc|putchar|fwrite|dprintf|perror|psignal|write)\(")
ALLOWED = {"base/hash.c", "base/log.c", "base/mem.c",  # constant texts, and the log's own filter
           "cmd/output.c", "cmd/files.c", "cmd/large_file.c", "cmd/up_background.c", "sim/record_file.c", "sim/trace_make.c", "sched/record.c"}  # the way out; files; records of the log


def check_ways_out():
    """Nobody prints past cmd/output.c."""
    for folder in ("base", "cmd", "sim", "sched", "config", "plugins", "api", "codec", "forms", "patch"):
        for path in sorted((cli.ROOT / "src" / folder).glob("*.c")):
            name = "%s/%s" % (folder, path.name)
            hits = [line.strip() for line in path.read_text().splitlines() if PRINTS.search(line)]
            check(not hits or name in ALLOWED, "%s prints by itself" % name, hits)


def main():
    check_ways_out()
    with tempfile.TemporaryDirectory() as folder:
        path = cli.write_cluster(folder, evil_cluster(), evil("cluster.json"))
        check_simulate(folder, path)
        check_explain(path)
        check_decode(folder, path)
        check_documents(folder)
        check_configurations(folder, path)
        check_traces(folder, path)
        check_others()
    print("%d runs" % N_RUNS)
    cli.finish()


main()
