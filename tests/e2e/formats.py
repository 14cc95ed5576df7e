#!/usr/bin/env python3
"""tests/e2e/formats.py BERTH: JSON and YAML as they come from other programs, given to decode and simulate."""
import json
import pathlib
import subprocess
import sys
import tempfile

failures = 0

MERGED = """apiVersion: v1
kind: Pod
metadata: {name: anchors}
spec:
  containers:
  - &c {name: a, image: x}
  - <<: *c
    name: b
"""

TWICE = """apiVersion: v1
kind: ConfigMap
metadata: {name: twice}
data:
  a: "1"
  a: "2"
"""


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what)


def berth(*args, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "input"
        path.write_text(text)
        done = subprocess.run([BERTH, *args, "-f", str(path)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def check_surrogates():
    """JSON escapes characters beyond U+FFFF as two; YAML has no such pairs."""
    for text in ("\U0001F600", "a\U00010000z", "plain"):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "j"}, "data": {"a": text}}
        written = json.dumps(config)
        for document in (written, "\n\n  " + json.dumps(config, indent=2), written + written):
            code, out, err = berth("decode", "-o", "json", text=document)
            check(code == 0 and err == "", f"decode {document!r}: {code} {err!r}")
            check(all(json.loads(line)["data"]["a"] == text for line in out.splitlines()), f"text of {document!r}")


def check_merges():
    for args in (["decode", "-o", "json"], ["decode", "-o", "json", "--strict"]):
        code, out, err = berth(*args, text=MERGED)
        check((code, err) == (0, ""), f"{args}: overriding a merged key is no duplicate: {code} {err!r}")
        names = [c["name"] for c in json.loads(out)["spec"]["containers"]]
        check(names == ["a", "b"], f"{args}: {names}")
    code, out, err = berth("simulate", text=MERGED)
    check("already set" not in err, f"simulate: {err!r}")


def check_duplicates():
    code, out, err = berth("decode", "-o", "json", text=TWICE)
    check(code == 0 and 'line 6: key "a" already set in map' in err, f"decode: {code} {err!r}")
    check(err.count("\n") == 1, f"one line: {err!r}")
    code, out, err = berth("decode", "--strict", text=TWICE)
    check(code == 1 and 'line 6: key "a" already set in map' in err, f"decode --strict: {code} {err!r}")


BERTH = sys.argv[1]
check_surrogates()
check_merges()
check_duplicates()
print("failures:", failures)
sys.exit(failures != 0)
