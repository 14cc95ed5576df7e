#!/usr/bin/env python3
"""traces.py BERTH - `berth simulate --trace` and `--make-trace` as a user runs them."""
import csv
import io
import json
import tempfile

import cli
from cli import berth, check

HEADER = "arrival,duration,cpu,memory"


def simulate(folder, trace, *more, objects=None, **options):
    cluster = cli.write_cluster(folder, objects or [cli.node("n1")])
    return berth("simulate", "-f", cluster, "--trace", cli.write_text(folder, "trace.csv", trace), *more, **options)


def document(folder, trace, *more, objects=None):
    code, out, err = simulate(folder, trace, "-o", "json", *more, objects=objects)
    check(out, "JSON: %d" % code, err)
    whole = json.loads(out)
    check(whole["kind"] == "Simulation" and whole["summary"]["exitCode"] == code, "the usual report", whole["summary"])
    return code, whole["trace"]


# One node of 4 cores: two pods of 2 cores run, the third waits for the first to finish, the last one never fits.
STORY = HEADER + "\n0,100,2,1Gi\n10,100,2,1Gi\n20,50,2,1Gi\n"


def check_story(folder):
    code, trace = document(folder, STORY)
    check(code == 0, "everything ran: %d" % code, trace)
    check(trace["pods"] == {"given": 0, "arrived": 3, "started": 3, "finished": 3, "running": 0, "waiting": 0, "lost": 0}, "pods", trace["pods"])
    check((trace["makespanSeconds"], trace["endSeconds"]) == (150, 150), "time", trace)
    wait = trace["waitSeconds"]
    check((wait["p50"], wait["max"], wait["mean"], wait["pods"]) == (0, 80, 26.667, 3), "waits", wait)
    check(trace["capacity"] == {"cpuMilli": 4000, "memoryBytes": 16 << 30, "pods": 110}, "capacity", trace["capacity"])
    # 2 cores for 10 s, 4 for 100 s, 2 for 40 s: of 4 cores for 150 s
    check(trace["utilization"]["cpu"] == {"mean": 0.83333, "peak": 1}, "utilization", trace["utilization"])
    check(trace["stillWaiting"] == [] and trace["queue"]["max"] == 1, "queue", trace["queue"])
    code, out, err = simulate(folder, STORY, env={"LC_ALL": "C.UTF-8"})
    text = out.decode()
    check(code == 0 and not err, "text: %d" % code, err)
    for part in ("1 node, 0 pods on it; 3 pods arrived, 3 started, 3 finished; at the end 0 run, 0 wait\n", "  all ", "1m20s\n",
                 "\nCPU requested: mean 83%, peak 100% of 4\n", "\nPods waiting: mean 0.5, most 1\n", "█"):
        check(part in text, "text: %r" % part, text)
    check("█" not in simulate(folder, STORY, env={"LC_ALL": "C"})[1].decode() and "#" in simulate(folder, STORY, env={"LC_ALL": "C"})[1].decode(),
          "ASCII where the locale is", text)
    check(simulate(folder, STORY, "-o", "yaml")[1].decode().count("waitSeconds:") == 1, "YAML", text)
    check(simulate(folder, STORY)[1] == simulate(folder, STORY)[1], "the same again")


def check_waiting(folder):
    code, trace = document(folder, STORY + "30,,9,1Gi\n")
    check(code == 3 and trace["pods"]["waiting"] == 1, "one waits for ever: %d" % code, trace["pods"])
    check(trace["stillWaiting"][0]["pods"] == 1 and "Insufficient cpu" in trace["stillWaiting"][0]["message"], "why", trace["stillWaiting"])
    code, out, _ = simulate(folder, STORY + "30,,9,1Gi\n")
    check(code == 3 and b"\nStill waiting at the end\n        1  0/1 nodes are available: 1 Insufficient cpu" in out, "text", out)
    code, trace = document(folder, HEADER + "\n0,,2,1Gi\n")
    check(code == 0 and trace["pods"]["running"] == 1 and trace["pods"]["finished"] == 0, "without a duration it runs on", trace["pods"])


def check_columns(folder):
    worker = cli.deployment("worker", 0, cpu="3")
    rows = "count,name,namespace,priority,template,memory,cpu,duration,arrival\n2,a,x,,,1Gi,1,10,0\n,b,,7,,,4,1m,1m\n1,,,,worker,,,1h,5m\n"
    code, trace = document(folder, rows, objects=[cli.node("n1"), worker])
    check(code == 0 and trace["pods"]["arrived"] == 4, "any order, counts, templates: %d" % code, trace["pods"])
    check([p["priority"] for p in trace["waitSecondsByPriority"]] == [7, 0], "priorities, highest first", trace["waitSecondsByPriority"])
    low_high = HEADER + ",priority\n0,1h,4,1Gi,0\n60,10,4,1Gi,5\n"
    code, trace = document(folder, low_high)
    check(code == 0 and trace["preemptions"] == 1 and trace["lostSeconds"] == 60, "preemption", trace)
    check(trace["endSeconds"] == 60 + 10 + 3600 and trace["restartWaitSeconds"]["max"] == 10, "it starts over", trace)


def check_errors(folder):
    rows = [
        ("arrival,cpu,memory\n0,1,1\n", 'trace.csv, line 1', "duration"),
        (HEADER + ",color\n", "trace.csv, line 1", "color"),
        (HEADER + "\n0,1,lots,1Gi\n", 'trace.csv, line 2, column "cpu"', "lots"),
        (HEADER + "\n# note\n\n0,1,1\n", "trace.csv, line 4", ""),
        (HEADER + "\n-5,1,1,1Gi\n", 'trace.csv, line 2, column "arrival"', "-5"),
        (HEADER + ",template\n0,1,1,1Gi,nobody\n", 'trace.csv, line 2, column "template"', "nobody"),
        (HEADER + '\n0,"1,1,1Gi\n', "trace.csv, line 2", ""),
    ]
    for trace, where, what in rows:
        code, out, err = simulate(folder, trace)
        check(code == 1 and not out and where in err.decode() and what in err.decode(), "%r: %d" % (trace, code), err)
    for args in (["-o", "wide"], ["-o", "name"], ["--drain", "n1"], ["--compare", "x"], ["--nodes-needed", "--like", "n1"], ["--capacity-of", "x"]):
        code, out, err = simulate(folder, STORY, *args)
        check(code == 2 and b"not go with --trace" in err and not out, "%s: %d" % (args, code), err)
    code, _, err = berth("simulate", "-f", "examples/cluster", "--retries", "5")
    check(code == 2 and b"--retries belongs to --trace" in err, "--retries: %d" % code, err)
    code, out, _ = berth("simulate", "-f", "examples/trace/cluster.yaml", "--trace", "-", stdin=None, input=STORY.encode())
    check(code == 0 and b"3 pods arrived" in out, "standard input: %d" % code, out)


def check_changes(folder):
    """Changes are made to the cluster that the trace meets."""
    code, trace = document(folder, STORY, "--add-nodes", "1", "--like", "n1")
    check(code == 0 and trace["capacity"]["cpuMilli"] == 8000 and trace["waitSeconds"]["max"] == 0, "one node more", trace["waitSeconds"])
    code, trace = document(folder, STORY, "--cordon", "n1")
    check(code == 3 and trace["pods"]["waiting"] == 3, "cordoned", trace["pods"])


def check_made(folder):
    code, out, err = berth("simulate", "--make-trace", "200", "--hours", "2", "--seed", "9")
    text = out.decode()
    check(code == 0 and not err, "--make-trace: %d" % code, err)
    check(text.startswith("# made by berth simulate --make-trace 200 --hours 2 --seed 9\n"), "how it was made", text[:200])
    rows = list(csv.DictReader(io.StringIO("".join(line for line in text.splitlines(True) if line[0] != "#"))))
    check(sum(int(r["count"]) for r in rows) == 200, "so many pods", len(rows))
    check(all(0 <= float(r["arrival"]) <= 7200 and float(r["duration"]) > 0 for r in rows), "within the hours", text[:500])
    check(berth("simulate", "--make-trace", "200", "--hours", "2", "--seed", "9")[1] == out, "the same seed, the same trace")
    check(berth("simulate", "--make-trace", "200", "--hours", "2", "--seed", "8")[1] != out, "another seed, another trace")
    code, trace = document(folder, text, objects=[cli.node("n%d" % i, cpu="64", memory="256Gi") for i in range(20)])
    check(code == 0 and trace["pods"]["arrived"] == trace["pods"]["finished"] == 200, "it can be run: %d" % code, trace["pods"])
    for args in (["--make-trace", "0"], ["--make-trace", "x"], ["--make-trace", "5", "--hours", "0"]):
        code, out, err = berth("simulate", *args)
        check(code == 2 and not out and err, "%s: %d" % (args, code), err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_story(folder)
        check_waiting(folder)
        check_columns(folder)
        check_errors(folder)
        check_changes(folder)
        check_made(folder)
    cli.finish()


main()
