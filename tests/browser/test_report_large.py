#!/usr/bin/env python3
"""The page of a large cluster: 5,000 nodes and 20,000 pods."""
import re

from browser import PHONE, Run, main, open_report, test
from clusters import large

N_NODES, N_PODS = 5000, 20000


def make_world(folder):
    return (Run(folder, large(N_NODES, N_PODS)),)


def share(node, key, when):
    return node[when][key] / node["allocatable"][key]


@test
def few_elements_stand_for_many_things(run):
    with open_report(run.path) as r:
        assert f"{N_NODES:,} nodes in 3 zones" in r.page.inner_text("#lead")
        assert r.status("pods") == f"{N_PODS:,} rows"
        assert r.page.locator("#pods-table tbody tr").count() == 25
        assert r.page.evaluate("document.querySelectorAll('main *').length") < 16000


@test
def histograms_count_every_node(run):
    with open_report(run.path) as r:
        for key in ("cpuMilli", "memoryBytes"):
            titles = r.page.locator(f"[data-chart=histogram-{key}] .bucket title").all_text_contents()
            found = [tuple(int(n.replace(",", "")) for n in re.search(r": ([\d,]+) nodes? before, ([\d,]+) after", t).groups()) for t in titles]
            for column, when in enumerate(("before", "after")):
                want = [0] * 10
                for node in run.json["nodes"]:
                    want[min(9, int(share(node, key, when) * 10 + 1e-9))] += 1
                assert [f[column] for f in found] == want, (key, when)


@test
def the_heat_map_has_a_cell_a_node(run):
    with open_report(run.path) as r:
        assert r.page.locator("[data-chart=heat] .cell").count() == N_NODES
        assert r.page.locator("[data-chart=heat] .heat-zone").count() == 3
        shades = r.page.locator("[data-chart=heat] .cell").evaluate_all("cells => cells.map((c) => Number(c.classList[1].slice(1)))")
        full = sum(share(n, "cpuMilli", "after") > 0.9 + 1e-9 for n in run.json["nodes"])
        assert sum(s == 10 for s in shades) == full
        cpu = r.page.locator("[data-chart=heat] .cell title").first.text_content()
        r.page.click("[data-chart=heat] button:text-is('Memory')")
        assert r.page.locator("[data-chart=heat] .cell").count() == N_NODES
        assert "CPU" in cpu and "Memory" in r.page.locator("[data-chart=heat] .cell title").first.text_content()


@test
def a_cell_leads_to_its_pods(run):
    with open_report(run.path) as r:
        cell = r.page.locator("[data-chart=heat] .cell").first
        node = cell.locator("title").text_content().split(":")[0]
        cell.click()
        assert r.page.input_value("#pods-search") == f"node:{node}"
        assert set(r.rows("pods", "Node")) == {node}
        want = next(n for n in run.json["nodes"] if n["name"] == node)["after"]["pods"]
        assert r.status("pods").startswith(f"{want} of ")


@test
def search_finds_one_among_all(run):
    with open_report(run.path) as r:
        r.search("pods", "app-0321-012859")
        assert r.rows("pods", "Name") == ["app-0321-012859"]
        r.search("pods", "team-07 zone-b")
        assert set(r.rows("pods", "Namespace")) == {"team-07"} and set(r.rows("pods", "Zone")) == {"zone-b"}
        r.search("nodes", "node-04999")
        assert r.rows("nodes", "Node") == ["node-04999"]


@test
def pages_turn_and_keep_the_order(run):
    with open_report(run.path) as r:
        r.page.click("#pods-table th[data-key=name] button")
        first = r.rows("pods", "Name")
        r.page.click("#pods-table .pager button:text-is('Next')")
        second = r.rows("pods", "Name")
        assert first + second == [f"app-{i // 40:04d}-{i:06d}" for i in range(50)]
        r.page.click("#pods-table .pager button:text-is('Previous')")
        assert r.rows("pods", "Name") == first
        assert r.page.locator("#pods-table .pager button:text-is('Previous')").is_disabled()
        r.page.click("#nodes-table th[data-key='cpuMilli-after'] button")
        emptiest = sorted(run.json["nodes"], key=lambda n: share(n, "cpuMilli", "after"))[0]
        shares = [int(t.split("→ ")[1][:-1]) for t in r.rows("nodes", "CPU requested")]
        assert shares == sorted(shares) and shares[0] == round(100 * share(emptiest, "cpuMilli", "after"))


@test
def reasons_are_counted_over_all_pods(run):
    with open_report(run.path) as r:
        names, totals = r.texts("[data-chart=reasons] .name button"), r.texts("[data-chart=reasons] .total")
        pending = run.json["pending"]
        assert dict(zip(names, map(int, totals)))["Insufficient cpu"] == sum("Insufficient cpu" in p["message"] for p in pending)
        r.page.click(".tile.pending")
        assert r.status("pods") == f"{len(pending)} of {N_PODS:,} rows"


@test
def a_phone_shows_it_too(run):
    with open_report(run.path, size=PHONE) as r:
        assert r.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        assert r.page.locator("#pods-table tbody tr").count() == 10


main(make_world)
