#!/usr/bin/env python3
"""commands.py BERTH - `berth version`, `berth bench` and every --help: contents, exit codes, standard error."""
import json
import re
import subprocess
import tempfile

import cli
from cli import ROOT, berth, check


# ---- Version ----

def check_version():
    code, out, err = berth("version")
    text = out.decode()
    check(code == 0 and not err, "version: %d" % code, err)
    lines = re.fullmatch(r"berth (\S+) \(commit (\w+)\)\ndecides as kube-scheduler (v1\.\d+\.\d+)\ncompiler: (.+)\nlibraries: (.+)\n", text)
    check(lines, "what it says", text)
    code, out, _ = berth("version", "-o", "json")
    document = json.loads(out)
    check(code == 0 and list(document) == ["version", "commit", "kubernetes", "compiler", "libraries"], "fields", out)
    if lines:
        check(lines.groups()[:4] == tuple(document[k] for k in ("version", "commit", "kubernetes", "compiler")), "the same in both", out)
        check(all("%s %s" % pair in lines.group(5) for pair in document["libraries"].items()), "libraries", out)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
        check(lines.group(2) == "unknown" or re.fullmatch(r"[0-9a-f]{12}", lines.group(2)), "a commit", (lines.group(2), head))
    check(berth("--version") == berth("version"), "--version is the same")
    check(berth("version", "-o", "text") == berth("version"), "text is the default")
    for args in (["-o", "xml"], ["now"], ["-o"]):
        code, out, err = berth("version", *args)
        check(code == 2 and not out and err.startswith(b"berth version: "), "version %s: %d" % (args, code), err)


# ---- Help ----

def check_help():
    code, out, err = berth("--help")
    check(code == 0 and not err and out.startswith(b"berth places pods"), "--help: %d" % code, err)
    listed = re.findall(r"^  (\w+) +\S", out.decode(), re.M)
    check(listed == cli.COMMANDS, "all commands", listed)
    for same in (["-h"], ["help"]):
        check(berth(*same) == (code, out, err), "%s is the same" % same)
    code, nothing, usage = berth()
    check(code == 2 and not nothing and usage == out, "without a command: %d" % code, usage)
    code, nothing, usage = berth("fly")
    check(code == 2 and not nothing and usage == b'berth: there is no command "fly"\n\n' + out, "an unknown one: %d" % code, usage)
    for command in cli.PLAIN_COMMANDS:
        check_help_of(command)


def check_help_of(command):
    code, out, err = berth(command, "--help")
    text = out.decode()
    check(code == 0 and not err, "%s --help: %d" % (command, code), err)
    check(text.startswith("usage: berth %s" % command) and "\nexamples:\n  " in text, "%s: usage and examples" % command, text)
    check(max(len(line) for line in text.splitlines()) <= 120, "%s: width" % command, text)
    examples = text.split("\nexamples:\n")[1]
    check("berth %s" % command in examples, "%s: examples are of it" % command, examples)
    for option in re.findall(r"(?<=\s)--[a-z-]+", examples.replace("$(berth simulate --kinds)", "")):
        check(option in text.split("\nexamples:\n")[0], "%s: %s is explained" % (command, option), examples)
    narrow = berth(command, "--help", env={"COLUMNS": "80"})[1].decode()
    check(narrow.split() == text.split() and max(len(line) for line in narrow.splitlines()) <= 80, "%s: on a terminal" % command, narrow)
    for given in (["-h"], ["--wrong", "--help"], ["-f", "x", "-h"]):
        check(berth(command, *given) == (code, out, err), "%s %s is the same" % (command, given))


# ---- Bench ----

SMALL = ["--divide", "1000"]
BASIC = "SchedulingBasic/5000Nodes_10000Pods"


def check_list():
    code, out, err = berth("bench", "--list")
    names = out.decode().splitlines()
    check(code == 0 and not err and BASIC in names and len(names) == len(set(names)) > 15, "--list: %d" % code, out)
    return names


def check_engine(names):
    code, out, err = berth("bench", "--engine", *names, *SMALL, "-o", "json")
    results = [json.loads(line) for line in out.splitlines()]
    check(code == 0 and not err, "--engine: %d" % code, err)
    check([r["name"] for r in results] == names, "every workload, in order", [r["name"] for r in results])
    for r in results:
        nodes = int(re.search(r"/(\d+)Nodes_", r["name"]).group(1))
        check(r["nodes"] == -(-nodes // 1000), "%s: an Nth of the nodes" % r["name"], r)
        check(r["placed"] + r["unplaced"] >= r["pods"] > 0 and r["throughput"] > 0 and r["rss_bytes"] > 0, "%s: numbers" % r["name"], r)
        check(0 <= r["p50_us"] <= r["p99_us"] <= r["max_us"], "%s: times" % r["name"], r)
        check(re.fullmatch(r"[0-9a-f]{16}", r["decision_hash"]), "%s: hash" % r["name"], r)
    again = [json.loads(line) for line in berth("bench", "--engine", *names, *SMALL, "-o", "json")[1].splitlines()]
    check([r["decision_hash"] for r in again] == [r["decision_hash"] for r in results], "the same decisions again", again)
    check(next(r for r in results if r["name"] == BASIC)["placed"] == 10, "all are placed", results)
    whole = berth("bench", "--engine", "TopologySpreading/5000Nodes_5000Pods", *SMALL, "-o", "json")[1].splitlines()
    check(len(whole) == 1, "a whole name means that one alone", whole)
    code, out, _ = berth("bench", "--engine", BASIC, *SMALL)
    rows = out.decode().splitlines()
    check(code == 0 and len(rows) == 2 and rows[0].split()[:2] == ["workload", "pods/s"] and rows[1].startswith(BASIC), "a table", out)
    default = [json.loads(line)["name"] for line in berth("bench", "--engine", *SMALL, "-o", "json")[1].splitlines()]
    check(default == [n for n in names if not n.startswith("SchedulingBasic/100000")], "without names: up to 5,000 nodes", default)


def check_what_if():
    code, out, err = berth("bench", "--what-if", *SMALL, "-o", "json")
    results = [json.loads(line) for line in out.splitlines()]
    check(code == 0 and not err and len(results) == 6, "--what-if: %d" % code, err)
    check([r["name"] for r in results[:2]] == ["WhatIf/Where", "WhatIf/TaintGone"] and results[-1]["name"] == "Remedies", "questions", out)
    check(all(r["questions"] == (1 if r["name"] == "Remedies" else 4) for r in results), "an Nth of the questions", out)
    code, text, _ = berth("bench", "--what-if", *SMALL)
    check(code == 0 and [line.split()[0] for line in text.decode().splitlines()] == ["question"] + [r["name"] for r in results], "a table", text)


def check_bench_usage(folder):
    broken = cli.write_text(folder, "broken.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: -1\n")
    rows = [(2, [], "say what to measure: --engine, --what-if, or a cluster"), (2, ["--engine", "--what-if"], "say what to measure"),
            (2, ["--what-if", "x"], "--what-if takes no names"), (2, ["--engine", "-o", "xml"], "-o is text or json"),
            (2, ["--divide", "0"], "--divide is a number from 1 to 1000"), (1, ["--engine", "nothing"], "no workload has such a name; see --list"),
            (1, ["--what-if", "--config", broken], "parallelism"), (1, ["--engine", BASIC, "--config", broken], "parallelism"),
            (1, ["--engine", BASIC, "--config", "nowhere"], "open nowhere: no such file")]
    for want, args, text in rows:
        code, out, err = berth("bench", *args)
        check(code == want and text.encode() in err, "bench %s: %d" % (args, code), err)
        check(err.count(text.encode()) == 1, "bench %s: told once" % args, err)
    packing = cli.write_text(folder, "packing.yaml", cli.PACKING)
    plain, packed = (json.loads(berth("bench", "--engine", BASIC, "--divide", "100", "-o", "json", *more)[1])["decision_hash"]
                     for more in ([], ["--config", packing]))
    check(plain != packed, "the configuration counts", plain)


def main():
    check_version()
    check_help()
    names = check_list()
    check_engine(names)
    check_what_if()
    with tempfile.TemporaryDirectory() as folder:
        check_bench_usage(folder)
    cli.finish()


main()
