#!/usr/bin/env python3
"""cluster_files.py BERTH - `berth simulate -f`: files, folders, pipes, small and large, and such that are not there."""
import json
import os
import subprocess
import sys
import tempfile

BERTH = sys.argv[1]
EXIT_PENDING = 3


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}


def large_list(n_bytes):
    """Two pods for one node between objects that nobody looks at; larger than what is read at once."""
    filler = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "x" * 1000000}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "first"}, "spec": {"containers": [{"name": "c"}]}}
    last = dict(pod, metadata={"name": "last"})
    items = [pod] + [filler] * (n_bytes // 1000000) + [last, node("n1")]
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=4)


def simulate(*args, stdin=None, **env):
    done = subprocess.run([BERTH, "simulate", "-o", "name"] + list(args), input=stdin, capture_output=True, text=True,
                          env=dict(os.environ, **env), stdin=None if stdin is not None else subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def expect(got, want):
    assert got == want, "got %r, want %r" % (got, want)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


def test_large(work):
    text = large_list(20 << 20)
    path = write(os.path.join(work, "large.json"), text)
    want = (0, "default/first n1\ndefault/last n1\n", "")
    expect(simulate("-f", path), want)
    expect(simulate("-f", "-", stdin=text), want)
    expect(simulate("-f", "-", stdin=text, TMPDIR=os.path.join(work, "none")), want)  # stays in memory
    cut = write(os.path.join(work, "cut.json"), text[:-100])
    code, _, message = simulate("-f", cut)
    expect(code, 1)
    assert message.startswith("berth simulate: %s, document 1, items[22]: line " % cut), message
    assert message.endswith(": unexpected end of JSON input\n"), message


def test_folder(work):
    folder = os.path.join(work, "folder")
    os.mkdir(folder)
    expect(simulate("-f", folder), (1, "", "berth simulate: %s: no .yaml, .yml or .json file is there\n" % folder))
    write(os.path.join(folder, "b.json"), json.dumps(node("n1")))
    write(os.path.join(folder, "a.yaml"), "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n")
    write(os.path.join(folder, "notes.txt"), "not read")
    expect(simulate("-f", folder), (0, "default/p n1\n", ""))
    again = write(os.path.join(work, "again.yaml"), "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
    expect(simulate("-f", folder, "-f", again),
           (0, "default/p n1\n", "berth simulate: warning: %s, document 1: Pod default/p takes the place of the one in "
            "%s/a.yaml, document 1\n" % (again, folder)))


def test_others(work):
    missing = os.path.join(work, "missing.yaml")
    expect(simulate("-f", missing), (1, "", "berth simulate: %s: No such file or directory\n" % missing))
    empty = write(os.path.join(work, "empty.yaml"), "")
    expect(simulate("-f", empty), (1, "", "berth simulate: warning: %s: there is no object in it\nberth simulate: no object was read\n" % empty))
    expect(simulate("-f", "-", stdin="a: [")[2][:48], "berth simulate: standard input, document 1: yaml"[:48])
    expect(simulate("-f", "-", stdin=json.dumps(node("n1")) + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
                    "{nodeSelector: {a: b}}\n")[:2], (EXIT_PENDING, "default/p -\n"))


def main():
    with tempfile.TemporaryDirectory() as work:
        test_large(work)
        test_folder(work)
        test_others(work)


main()
