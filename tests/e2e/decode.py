#!/usr/bin/env python3
"""decode.py BERTH - `berth decode` as a user runs it: what is printed, what is complained about, and how it ends."""
import json
import os
import tempfile

import cli
from cli import ROOT, berth, check

SUMMARY = """\
node edge-a
  allocatable  cpu 4000m, memory 17179869184, ephemeral-storage 53687091200, pods 110
  labels       kubernetes.io/hostname=edge-a, topology.kubernetes.io/zone=north
  taint        dedicated=batch:NoSchedule
"""
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n  containers:\n  - image: i\n    name: c\n"


def decode(*args, stdin=b"", **more):
    return berth("decode", *args, stdin=None, input=stdin, **more)


def check_summary():
    code, out, err = decode("-f", "examples/shop.yaml")
    text = out.decode()
    check(code == 0 and not err, "the sample: %d" % code, err)
    check(text.startswith(SUMMARY), "a node", text)
    for part in ("pod shop/cart-7d9f  priority 1000, scheduler default-scheduler\n", "  requests     cpu 1500m, memory 335544320, example.com/gpu 1\n",
                 "  host port    0.0.0.0:8080/TCP\n", "  affinity     0 required, 1 required against"):
        check(part in text, "a pod: %s" % part, text)
    check(decode("-f", "examples/shop.yaml", "-o", "summary")[1] == out, "summary is the default")
    narrow = decode("-f", "examples/shop.yaml", env={"COLUMNS": "60"})[1].decode()
    check(narrow.split() == text.split() and max(len(line) for line in narrow.splitlines()) <= 60, "on a terminal", narrow)
    code, out, _ = decode("-f", "-", stdin=b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    check(code == 0 and out == b"ConfigMap settings\n", "other kinds", out)
    code, out, _ = decode("-f", "-", stdin=b"apiVersion: v1\nkind: Node\nmetadata: {name: edge}\nspec: {unschedulable: true}\n")
    check(out.startswith(b"node edge  (unschedulable)\n"), "a cordoned node", out)


def check_objects():
    code, out, _ = decode("-f", "examples/shop.yaml", "-o", "json")
    objects = [json.loads(line) for line in out.splitlines()]
    check(code == 0 and [o["kind"] for o in objects] == ["Node", "Node", "Pod"], "one a line", out)
    check(objects[2]["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] == "1", "all of it", objects[2])
    code, yaml, _ = decode("-f", "examples/shop.yaml", "-o", "yaml")
    check(code == 0 and yaml.count(b"---\n") == 3, "documents", yaml)
    code, again, _ = decode("-f", "-", "-o", "json", stdin=yaml)
    check(code == 0 and again == out, "YAML is the same objects", again)
    code, out, _ = decode("-f", "-", "-o", "yaml", stdin=(POD % "p").encode())
    check(code == 0 and out.decode() == "---\n" + POD % "p" + "    resources: {}\nstatus: {}\n", "as kubectl prints it", out)


def check_complaints(folder):
    unknown = POD % "p" + "  containerz: []\n"
    code, out, err = decode("-f", "-", stdin=unknown.encode())
    check(code == 0 and out.startswith(b"pod /p  priority 0, "), "warned about, and printed: %d" % code, out)
    check(err == b'berth decode: standard input, document 1: warning: unknown field "spec.containerz"\n', "the warning", err)
    code, out, err = decode("-f", "-", "--strict", stdin=unknown.encode())
    check(code == 1 and not out, "strict: %d" % code, out)
    check(err == b'berth decode: standard input, document 1: unknown field "spec.containerz"\n', "strict", err)
    text = POD % "one" + "---\nkind: [}\n---\n" + POD % "three"
    code, out, err = decode("-f", "-", "-o", "json", stdin=text.encode())
    check(code == 1 and b"standard input, document 2: " in err, "the document is named: %d" % code, err)
    check(b'"one"' in out, "what stands before it is printed", out)
    wrong = cli.write_text(folder, "wrong.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priority: high}\n")
    right = cli.write_text(folder, "right.yaml", POD % "right")
    code, out, err = decode("-f", wrong, "-f", right, "-o", "json")
    check(code == 1 and wrong.encode() in err and b"spec" in err, "the field is named: %d" % code, err)
    check(json.loads(out)["metadata"]["name"] == "right", "other files are read on", out)
    code, out, err = decode("-f", os.path.join(folder, "none.yaml"), "-f", right)
    check(code == 1 and b"none.yaml: No such file or directory" in err and b"right" in out, "no such file: %d" % code, err)
    code, out, err = decode("-f", folder)
    check(code == 1 and b"Is a directory" in err and not out, "a folder: %d" % code, err)
    code, _, err = decode("-f", "-", stdin=b"apiVersion: v1\nkind: Nothing\n")
    check(code == 1 and b'no kind "Nothing" is registered for version "v1"' in err, "an unknown kind", err)
    code, out, err = decode("-f", "-", stdin=b"")
    check(code == 0 and not out and not err, "nothing: %d" % code, err)


def check_usage():
    for args, want in (([], "nothing to read: give a file with -f"), (["-o", "xml", "-f", "-"], '-o is summary, json or yaml, not "xml"'),
                       (["examples/shop.yaml"], 'unknown argument "examples/shop.yaml"'), (["-f"], "-f needs a value")):
        code, out, err = decode(*args)
        check(code == 2 and not out and err.decode() == "berth decode: %s\nSee 'berth decode --help'.\n" % want, "%s: %d" % (args, code), err)


def check_many(folder):
    """More than a pipe holds, and than is written at once."""
    n = 2000
    path = cli.write_text(folder, "many.yaml", "---\n".join(POD % ("pod-%05d" % i) for i in range(n)))
    code, out, _ = decode("-f", path, "-o", "json")
    names = [json.loads(line)["metadata"]["name"] for line in out.splitlines()]
    check(code == 0 and names == ["pod-%05d" % i for i in range(n)], "all of them, in order", len(names))
    large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": {"k%d" % i: "x" * 5000 for i in range(500)}}
    path = os.path.join(folder, "large.json")
    with open(path, "w") as f:
        json.dump(large, f)
    code, out, err = decode("-f", path, "-o", "json")
    check(code == 0 and json.loads(out)["data"] == large["data"], "an object of some megabytes: %d" % code, err)


def main():
    check_summary()
    check_objects()
    check_usage()
    with tempfile.TemporaryDirectory() as folder:
        check_complaints(folder)
        check_many(folder)
    cli.finish()


main()
