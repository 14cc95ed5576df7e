#!/usr/bin/env python3
"""The page of `berth simulate --report` tells the same numbers as the text: amounts, shares, and how it ended."""
import json
import pathlib
import random
import re

from browser import ROOT, berth, main, open_report, simulate, test
from clusters import a_list, node, pod

# The rows of tests/unit/test_amount_text.c.
CPU = {0: "0", 1: "1m", 999: "999m", 1000: "1", 1001: "1.001", 1500: "1.5", 3920: "3.92", 12340: "12.34", 1234567: "1234.567",
       2000000000: "2000000"}
MEMORY = {0: "0", 1: "1", 1023: "1023", 1024: "1Ki", 1075: "1Ki", 1076: "1.1Ki", 1280: "1.3Ki", 67108864: "64Mi", 200000000: "190.7Mi",
          1073741823: "1Gi", 16671494144: "15.5Gi", 1 << 40: "1Ti", 1 << 50: "1Pi"}
PERCENT = [(0, 0, 0), (5, 0, 0), (5, -1, 0), (-5, 10, 0), (0, 7, 0), (7, 7, 100), (1, 3, 33), (2, 3, 67), (285, 1000, 29), (2849, 10000, 28),
           (5, 1000, 1), (4, 1000, 0), (3, 2, 150)]
SHARE = {0: 0, -1: 0, 1: 100, 0.285: 29, 0.28499: 28, 0.284996: 29, 2.5: 250}


def make_world(folder):
    """A cluster of odd sizes, with shares that end in a half."""
    r = random.Random(4)
    items = []
    for i in range(40):
        size = {"cpu": f"{r.choice([1000, 1930, 3920, 7910, 15890])}m", "memory": f"{r.randrange(1 << 20, 1 << 25)}Ki"}
        items.append(node(f"node-{i}", f"zone-{i % 3}", **size))
        for k in range(r.randrange(4)):
            items.append(pod(f"pod-{i}-{k}", cpu=f"{r.choice([5, 25, 285, 333])}m", memory=str(r.randrange(1 << 28)), nodeName=f"node-{i}"))
    items.append(node("half", "zone-0", cpu="1", memory="1000Ki"))
    items.append(pod("half", cpu="285m", memory="285Ki", nodeName="half"))
    items += [pod(f"new-{i}", cpu=f"{r.randrange(900)}m", memory=f"{r.randrange(1 << 20)}Ki") for i in range(60)]
    path = pathlib.Path(folder) / "cluster.json"
    path.write_text(json.dumps(a_list(items)))
    return (path,)


def report(cluster, *args):
    """Exit code and text of a run, and its page."""
    page = cluster.with_name("page.html")
    done = berth("simulate", "-f", str(cluster), *args, "--report", str(page))
    return done.returncode, done.stdout, page


def plain(text):
    """As the text report has it: no separators of thousands, no words for the unit."""
    return text.replace(",", "").replace(" cores", "").replace(" core", "").replace("→", "->")


@test
def amounts_are_told_alike(cluster):
    _, _, page = report(cluster)
    with open_report(page) as r:
        def check(function, rows):
            for given, want in rows:
                got = r.page.evaluate(f"({function})({json.dumps(given)[1:-1] if isinstance(given, list) else json.dumps(given)})")
                assert plain(got) == want, (function, given, got, want)
        check("cores", CPU.items())
        check("bytes", MEMORY.items())
        check("percentOf", [([part, whole], f"{n}%") for part, whole, n in PERCENT])
        check("percent", [(share, f"{n}%") for share, n in SHARE.items()])


@test
def nodes_have_the_numbers_of_the_text(cluster):
    _, text, page = report(cluster)
    rows = re.findall(r"^  (?!zone )(\S+) +zone-\d +(\S+)  (\S+ -> \S+) +(\S+)  (\S+ -> \S+) +\d+ -> (\d+ of \d+)$", text, re.M)
    assert len(rows) == 41, text
    with open_report(page) as r:
        for name, *want in rows[1::3]:  # the last one has shares that end in a half
            r.search("nodes", f"name:{name}")
            cells = [r.rows("nodes", label) for label in ("CPU", "CPU requested", "Memory", "Memory requested", "Pods")]
            assert [plain(cell[0]) for cell in cells] == want, (name, cells, want)
        for at, name in enumerate(["cluster", "zone zone-0", "zone zone-1", "zone zone-2"]):
            row = re.search(rf"^  {name} +(\S+)  (\S+) -> (\S+) +(\S+)  (\S+) -> (\S+) ", text, re.M).groups()
            shown = plain(r.page.locator("[data-chart=zones] .meter-row:not(.head)").nth(at).inner_text())
            for part in row:
                assert re.search(rf"(?<![\d.]){re.escape(part)}(?![\d.])", shown), (name, part, shown)


@test
def pods_have_the_numbers_of_wide(cluster):
    _, _, page = report(cluster)
    rows = [line.split()[:8] for line in simulate("-f", str(cluster), "-o", "wide").splitlines()[1:]]
    with open_report(page) as r:
        for row in rows[::12]:
            r.search("pods", f"name:{row[1]}")
            assert [plain(r.rows("pods", label)[0]) for label in ("CPU", "Memory")] == row[6:8], row


@test
def a_difference_is_told_alike(cluster):
    """Also where the cluster has another size with the change."""
    for change in (["--add-nodes", "9", "--like", "half"], ["--remove-node", "node-3"], ["--drain", "node-5"]):
        _, text, page = report(cluster, *change)
        with open_report(page) as r:
            lead = r.page.inner_text("#lead")
            for at, name in enumerate(["cluster", "zone zone-0", "zone zone-1", "zone zone-2"]):
                row = re.search(rf"^  {name} +(\S+) -> (\S+) +(\S+) -> (\S+) ", text, re.M).groups()
                shown = r.page.locator("figure[data-chart=difference] .meter-row:not(.head)").nth(at).inner_text()
                for part in row:
                    assert re.search(rf"(?<!\d){part}", shown), (change, name, part, shown)
            told = [f"goes from {a} to {b}" if a != b else f"stays at {a}" for a, b in
                    (re.search(r"^  cluster +(\S+) -> (\S+) +(\S+) -> (\S+) ", text, re.M).groups()[i:i + 2] for i in (0, 2))]
            assert f"Against the run without the change, requested CPU {told[0]}, memory {told[1]}." in lead, (change, lead, told)


@test
def without_a_change_the_sentence_is_about_the_run(cluster):
    _, text, page = report(cluster)
    row = re.search(r"^  cluster +\S+  (\S+) -> (\S+) +\S+  (\S+) -> (\S+) ", text, re.M).groups()
    with open_report(page) as r:
        assert f"Requested CPU goes from {row[0]} to {row[1]}, memory goes from {row[2]} to {row[3]}." in r.page.inner_text("#lead")


@test
def the_exit_code_is_the_commands(cluster):
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all", "namespace": "default"},
              "spec": {"maxUnavailable": 0, "selector": {}}}
    blocked = cluster.with_name("blocked.json")
    blocked.write_text(json.dumps(a_list([node("n1", "z"), node("n2", "z"), pod("web", owner="rs", nodeName="n1"), budget])))
    full = cluster.with_name("full.json")
    full.write_text(json.dumps(a_list([node("n1", "z"), pod("large", cpu="40")])))
    both = cluster.with_name("both.json")
    both.write_text(json.dumps(a_list([node("n1", "z"), pod("large", cpu="40"), pod("web", owner="rs", nodeName="n1"), budget])))
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": "default"}, "spec": {"hard": {"pods": "1"}}}
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}},
                     "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod("x")["spec"]}}}
    limited = cluster.with_name("limited.json")
    limited.write_text(json.dumps(a_list([node("n1", "z"), made, quota])))
    rows = [
        (limited, [], 3, "The one pod found a node. 2 would be refused.", "Exit code 3: an API server would refuse some."),
        (cluster, [], 0, "found a node.", "Exit code 0: every pod has a node."),
        (full, [], 3, "No pod found a node. One stays pending.", "Exit code 3: some pods are pending."),
        (blocked, [], 0, "No pod was waiting for a node.", "Exit code 0: every pod has a node."),
        (blocked, ["--drain", "n1"], 3, "The drain is blocked: 1 pod cannot leave.", "Exit code 3: the drain is blocked."),
        (both, ["--drain", "n1"], 3, "The drain is blocked: 1 pod cannot leave. One stays pending.",
         "Exit code 3: some pods are pending and the drain is blocked."),
    ]
    for source, args, want, headline, lead in rows:
        code, text, page = report(source, *args)
        assert code == want, (source, args, code, text)
        with open_report(page) as r:
            assert headline in r.page.inner_text("h1") and lead in r.page.inner_text("#lead"), (args, r.page.inner_text("header"))
            if source == limited:
                assert r.rows("refused", "Pods") == ["2"] and "exceeded quota: few" in r.rows("refused", "Message")[0]
        document = json.loads(berth("simulate", "-f", str(source), *args, "-o", "json").stdout)
        assert document["summary"]["exitCode"] == want, document["summary"]


@test
def a_trace_is_told_alike(cluster):
    examples = ROOT / "examples/trace"
    short = cluster.with_name("short.csv")
    short.write_text("arrival,duration,cpu,memory\n0,100,1,1Gi\n7,31,333m,300Mi\n11,,90,1Gi\n")
    nodes = cluster.with_name("nodes.yaml")
    nodes.write_text((examples / "cluster.yaml").read_text())
    for source, trace in ((nodes, examples / "day.csv"), (cluster, short)):
        code, text, page = report(source, "--trace", str(trace))
        means = re.findall(r"requested: mean (\d+%), peak", text)
        with open_report(page) as r:
            figures = dict(zip(r.texts("[data-chart=trace-figures] dt"), r.texts("[data-chart=trace-figures] dd")))
            assert [figures["Mean CPU"], figures["Mean memory"]] == means, (figures, text)
            assert f"Exit code {code}:" in r.page.inner_text("#lead")


main(make_world)
