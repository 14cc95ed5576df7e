#!/usr/bin/env python3
"""replay.py BERTH RECORD_TOOL - `berth replay` of recordings that are good, at their limit, torn, damaged, of another run, or none."""
import json
import os
import pty
import subprocess
import sys
import tempfile

import cli
from cli import berth, check

TOOL = os.path.abspath(sys.argv[2])
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"
PACKER = HEAD + ("profiles:\n- schedulerName: default-scheduler\n  pluginConfig:\n  - name: NodeResourcesFit\n"
                 "    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}\n")
PLUGINS = HEAD + "---\napiVersion: berth.dev/v1alpha1\nkind: BerthConfiguration\npluginLibraries: [/nowhere/x.so]\n"


def record(folder, name, config="", recorded=None, gates="", bytes_max=1 << 30):
    """The path, and the hash and number of attempts of the run."""
    path = os.path.join(folder, name)
    done = subprocess.run([TOOL, path, config, config if recorded is None else recorded, gates, str(bytes_max)],
                          stdout=subprocess.PIPE, check=True)
    run_hash, attempts = done.stdout.decode().split()
    return path, run_hash, int(attempts)


def changed(folder, name, path, change):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    data = change(data)
    to = os.path.join(folder, name)
    with open(to, "wb") as f:
        f.write(data)
    return to


def flip(data):
    data[len(data) // 2] ^= 1
    return data


def replay(*args):
    code, out, err = berth("replay", *args, "-o", "json")
    return code, [json.loads(line) for line in out.decode().splitlines()], err.decode()


def check_one(what, path, code, end, message=""):
    got, results, err = replay(path)
    check(got == code and len(results) == 1 and results[0]["end"] == end and message in results[0]["message"] and not err,
          "%s: exit code %d" % (what, got), (results, err))
    return results[0]


def check_good(folder):
    for name, config in (("good", ""), ("packer", PACKER)):
        path, run_hash, attempts = record(folder, name, config)
        result = check_one(name, path, 0, "equal")
        check(result["equal"] is True and result["hash"] == run_hash and result["attempts"] == attempts == 600, name, result)
        check(result["placed"] + result["unschedulable"] == 600 and result["placed"] > 300 and result["unschedulable"] > 0, name, result)
        check(result["hashesCompared"] > 2 and result["file"] == path and result["build"] == "0.0.1-test", name, result)
    code, out, err = berth("replay", path)
    text = out.decode()
    check(code == 0 and not err and text.startswith(path + ": equal: all decisions are those of the recording\n  600 attempts: "), "text", text)
    check("hash %s, " % run_hash in text and "recorded by berth 0.0.1-test" in text, "text", text)


def check_others(folder):
    good = os.path.join(folder, "good")
    limited, _, _ = record(folder, "limited", bytes_max=20000)
    result = check_one("limited", limited, 0, "atLimit")
    check(0 < result["attempts"] < 600, "limited", result)
    torn = changed(folder, "torn", good, lambda data: data[:len(data) * 2 // 3])
    result = check_one("torn", torn, 4, "torn", "the recording stops")
    check(result["equal"] is False and result["hashesCompared"] > 0, "torn", result)
    damaged = changed(folder, "damaged", good, flip)
    check_one("damaged", damaged, 1, "damaged", "frame ")
    other, _, _ = record(folder, "other", PACKER, recorded="")
    result = check_one("another configuration", other, 3, "diverged", "the decisions differ: hash ")
    check(result["hashesCompared"] >= 0 and not result["equal"], "another configuration", result)
    gates, _, _ = record(folder, "gates", gates="SchedulerAsyncPreemption=true")
    check_one("gates", gates, 0, "equal")
    bad_gates, _, _ = record(folder, "bad_gates", gates="NoSuchGate=true")
    code, results, err = replay(bad_gates)
    check(code == 1 and not results and "the configuration of the recording: " in err and "NoSuchGate" in err, "bad gates", err)
    for paths, want in (([good, torn], 4), ([torn, damaged], 1), ([damaged, other, torn], 3), ([good, limited], 0)):
        code, results, err = replay(*paths)
        check(code == want and len(results) == len(paths), "several: %d, want %d" % (code, want), results)


def check_refused(folder):
    good = os.path.join(folder, "good")
    nothing = changed(folder, "nothing", good, lambda data: b"")
    version = changed(folder, "version", good, lambda data: b"berth-record 9\n" + data)
    start = changed(folder, "start", good, lambda data: data[:40])
    for path, text in ((nothing, "this is not a recording"), (version, "has a version that this berth does not know"),
                       (start, "damaged or torn at its beginning"), (folder, "not a file"),
                       (os.path.join(folder, "none"), "No such file or directory")):
        code, results, err = replay(path)
        check(code == 1 and not results and text in err and err.startswith("berth replay: " + path), "%s: %d" % (path, code), err)
    plugins, _, _ = record(folder, "plugins", recorded=PLUGINS)
    code, results, err = replay(plugins)
    check(code == 2 and not results and "would load code: /nowhere/x.so; --allow-plugins allows it" in err, "plugins: %d" % code, err)
    code, results, err = replay(plugins, "--allow-plugins")
    check(code == 1 and not results and "/nowhere/x.so" in err, "plugins allowed: %d" % code, err)
    for args in ([], ["-o", "yaml", good], ["--fast", good]):
        code, out, err = berth("replay", *args)
        check(code == 2 and not out and err.startswith(b"berth replay: "), "%s: %d" % (args, code), err)


def check_progress(folder):
    """On a terminal, in one line that goes away."""
    master, slave = pty.openpty()
    child = subprocess.Popen([cli.BERTH, "replay", os.path.join(folder, "good")], stdout=subprocess.DEVNULL, stderr=slave,
                             env=dict(os.environ, BERTH_PROGRESS_AFTER_MS="0"))
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:  # what Linux says at the end
        pass
    os.close(master)
    check(child.wait() == 0 and b"replaying: " in shown and shown.endswith(b"\r\033[K") and b"\n" not in shown, "progress", shown)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_good(folder)
        check_others(folder)
        check_refused(folder)
        check_progress(folder)
    cli.finish()


main()
