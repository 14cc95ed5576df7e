#!/usr/bin/env python3
"""The page of `berth simulate --report`: it says what -o json says, can be searched and sorted, and is readable everywhere."""
import json
import pathlib
import re

from browser import DESKTOP, PHONE, ROOT, Run, main, open_report, simulate, test
from clusters import HOSTILE, eviction, hostile

REASONS = re.compile(r"^0/\d+ nodes are available: (.*?)\.(?: |$)")


def make_world(folder):
    runs = {"sample": ROOT / "examples/cluster", "hostile": hostile(), "eviction": eviction()}
    made = {}
    for name, cluster in runs.items():
        own = pathlib.Path(folder) / name
        own.mkdir()
        made[name] = Run(own, cluster)
    return (made,)


def wide(run):
    """The rows of -o wide."""
    lines = simulate("-f", str(run.source), "-o", "wide").splitlines()
    return [dict(zip(lines[0].split(), line.split(None, 8))) for line in lines[1:]]


def pending_reasons(document):
    """Reason -> number of pods, found out here once more."""
    counts = {}
    for pod in document["pending"]:
        match = REASONS.match(pod["message"])
        reasons = [part.split(" ", 1)[1] for part in match.group(1).split(", ")] if match else [pod["message"]]
        for text in reasons:
            counts[text] = counts.get(text, 0) + 1
    return counts


def number(text):
    return int(text.replace(",", ""))


# ---- What it says ----

@test
def the_top_says_what_the_run_says(runs):
    with open_report(runs["sample"].path) as r:
        summary = runs["sample"].json["summary"]
        wanted = summary["placed"] + summary["pending"]
        assert r.page.inner_text("h1") == f"{summary['placed']} of {wanted} pods found a node. {summary['pending']} stay pending."
        assert f"{summary['nodes']} nodes in 3 zones" in r.page.inner_text("#lead")
        assert "Exit code 3" in r.page.inner_text("#lead")
        for state in ("placed", "pending", "preempted", "running"):
            assert number(r.page.inner_text(f".tile.{state} b")) == summary[state], state
        assert summary["decisionHash"] in r.page.inner_text("footer")


@test
def charts_have_as_many_marks_as_there_is_data(runs):
    document = runs["sample"].json
    with open_report(runs["sample"].path) as r:
        def rows(chart, kind):
            return r.page.locator(f"[data-chart={chart}] {kind}").count()
        assert rows("zones", ".meter-row:not(.head)") == 1 + len(document["zones"])
        assert rows("zones", ".meter svg[role=img]") == 3 * (1 + len(document["zones"]))
        assert rows("nodes", ".meter-row:not(.head)") == len(document["nodes"])
        assert rows("nodes", ".meter svg[role=img]") == 3 * len(document["nodes"])
        assert rows("pods-per-zone", ".bar-row") == len(document["zones"])
        assert rows("reasons", ".bar-row") == len(pending_reasons(document))


@test
def bars_are_as_long_as_the_numbers(runs):
    document = runs["sample"].json
    with open_report(runs["sample"].path) as r:
        rows = r.page.locator("[data-chart=zones] .meter-row:not(.head)").all()
        for row, zone in zip(rows, [document["cluster"], *document["zones"]]):
            for meter, key in zip(row.locator("svg").all(), ("cpuMilli", "memoryBytes", "pods")):
                width = [float(meter.locator(f"rect.{kind}").get_attribute("width")) for kind in ("before", "added")]
                whole = zone["allocatable"][key]
                assert abs(width[0] - 1000 * zone["before"][key] / whole) < 0.01
                assert abs(sum(width) - 1000 * zone["after"][key] / whole) < 0.01


@test
def nodes_stand_fullest_first(runs):
    document = runs["sample"].json
    def fullness(n):
        return max(n["after"][k] / n["allocatable"][k] for k in ("cpuMilli", "memoryBytes"))
    want = [n["name"] for n in sorted(document["nodes"], key=fullness, reverse=True)]
    with open_report(runs["sample"].path) as r:
        assert r.texts("[data-chart=nodes] .name button") == want


@test
def reasons_count_pods(runs):
    with open_report(runs["sample"].path) as r:
        names = r.texts("[data-chart=reasons] .name button")
        totals = [number(t) for t in r.texts("[data-chart=reasons] .total")]
        assert dict(zip(names, totals)) == pending_reasons(runs["sample"].json)
        assert totals == sorted(totals, reverse=True)


@test
def zones_count_pods(runs):
    with open_report(runs["sample"].path) as r:
        totals = [number(t) for t in r.texts("[data-chart=pods-per-zone] .total")]
        assert totals == [z["after"]["pods"] for z in runs["sample"].json["zones"]]


@test
def who_was_preempted_is_told(runs):
    with open_report(runs["eviction"].path) as r:
        assert number(r.page.inner_text(".tile.preempted b")) == 1
        r.page.click(".tile.preempted")
        assert r.rows("pods", "Name") == ["low"]
        assert r.rows("pods", "Message") == ["preempted by default/high"]
        assert r.page.locator("[data-chart=zones] rect.gone").count() > 0
        assert "freed by it" in r.page.inner_text("[data-chart=zones] .legend")


@test
def workloads_are_counted_by_zone(runs):
    with open_report(runs["sample"].path) as r:
        gateway = r.page.locator("#workloads-table tbody tr", has_text="shop/gateway")
        placed = [p for p in runs["sample"].json["placed"] if p["owner"] == "Deployment shop/gateway"]
        zone_of = {n["name"]: n["zone"] for n in runs["sample"].json["nodes"]}
        for zone in runs["sample"].json["zones"]:
            want = sum(zone_of[p["node"]] == zone["name"] for p in placed)
            assert number(gateway.locator(f"td[data-label='{zone['name']}']").inner_text()) == want
        assert number(gateway.locator("td[data-label=Pending]").inner_text()) == 2


# ---- Search, sort, ways into the table ----

SEARCHES = [
    ("a word of a name", "gateway", lambda p: "gateway" in p["NAME"]),
    ("a node and nothing like it", "node:a-1", lambda p: p["NODE"] == "a-1"),
    ("a zone", "zone:north-b", lambda p: p["ZONE"] == "north-b"),
    ("two words that must both be there", "monitoring north-c", lambda p: p["NAMESPACE"] == "monitoring" and p["ZONE"] == "north-c"),
    ("capitals do not matter", "ORDERS-DB", lambda p: "orders-db" in p["NAME"]),
    ("a phrase of a message", '"insufficient cpu"', lambda p: "Insufficient cpu" in p["REASON"]),
    ("a state", "state:running", lambda p: p["STATE"] == "Running"),
    ("an owner", 'owner:"Job shop/nightly-report"', lambda p: p["OWNER"] == "Job/nightly-report"),
    ("nothing", "no-such-pod", lambda p: False),
]


@test
def search_narrows_the_table_to_the_right_rows(runs):
    rows = wide(runs["sample"])
    with open_report(runs["sample"].path) as r:
        for what, query, wanted in SEARCHES:
            r.search("pods", query)
            want = sorted(p["NAME"] for p in rows if wanted(p))
            assert sorted(r.rows("pods", "Name")) == want, f"{what}: {r.rows('pods', 'Name')} instead of {want}"
            assert r.status("pods") == f"{len(want)} of {len(rows)} rows", what
        assert r.page.inner_text("#pods-table td.nothing") == "Nothing matches."
        r.search("pods", "")
        assert r.status("pods") == f"{len(rows)} rows"


@test
def columns_sort_both_ways(runs):
    rows = wide(runs["sample"])
    with open_report(runs["sample"].path) as r:
        r.search("pods", "shop")
        heading = r.page.locator("#pods-table th[data-key=name]")
        heading.locator("button").click()
        want = sorted(p["NAME"] for p in rows if p["NAMESPACE"] == "shop")
        assert r.rows("pods", "Name") == want
        assert heading.get_attribute("aria-sort") == "ascending"
        heading.locator("button").click()
        assert r.rows("pods", "Name") == want[::-1]
        assert heading.get_attribute("aria-sort") == "descending"
        r.page.click("#pods-table th[data-key=cpu] button")
        assert heading.get_attribute("aria-sort") == "none"
        amounts = [int(t[:-1]) if t.endswith("m") else float(t) * 1000 for t in r.rows("pods", "CPU")]
        assert amounts == sorted(amounts) and amounts[0] != amounts[-1]


@test
def marks_lead_to_their_pods(runs):
    rows = wide(runs["sample"])
    with open_report(runs["sample"].path) as r:
        r.page.click("[data-chart=reasons] button:text-is('Insufficient memory')")
        assert r.rows("pods", "Name") == ["too-big"]
        r.page.click("[data-chart=nodes] button:text-is('c-3')")
        assert sorted(r.rows("pods", "Name")) == sorted(p["NAME"] for p in rows if p["NODE"] == "c-3")
        r.page.click(".tile.placed")
        assert r.status("pods") == f"23 of {len(rows)} rows"
        assert set(r.rows("pods", "State")) == {"Placed"}
        r.page.click("#workloads-table button:text-is('Deployment shop/cart')")
        assert sorted(r.rows("pods", "Name")) == sorted(p["NAME"] for p in rows if p["OWNER"] == "Deployment/cart")


@test
def the_whole_message_is_one_click_away(runs):
    message = next(p["message"] for p in runs["sample"].json["pending"] if p["name"] == "too-big")
    with open_report(runs["sample"].path) as r:
        r.search("pods", "too-big")
        cell = r.page.locator("#pods-table td.message")
        assert message not in cell.inner_text()
        cell.locator("summary").click()
        assert message in cell.inner_text()


@test
def pods_that_are_left_out_are_told(runs):
    page = runs["sample"].path.read_text(encoding="utf-8")
    assert page.count('"leftOut":0') == 1
    path = runs["sample"].path.with_name("left-out.html")
    path.write_text(page.replace('"leftOut":0', '"leftOut":12345'), encoding="utf-8")
    with open_report(path) as r:
        assert "Only the first 31 pods are listed; 12,345 more are left out" in r.page.inner_text("#pods .note")
    with open_report(runs["sample"].path) as r:
        assert r.page.locator("#pods .note").count() == 0


# ---- Hostile texts ----

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")


def visible(text):
    """What nobody sees, or what changes the order of what is around it, stands there as an escape."""
    return HIDDEN.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


@test
def hostile_texts_stay_texts(runs):
    with open_report(runs["hostile"].path) as r:
        assert r.page.evaluate("window.hacked") is None
        assert r.page.evaluate("document.scripts.length") == 2
        assert r.page.evaluate("document.querySelectorAll('main img, main b i, header img').length") == 0
        shown = r.page.locator("[data-chart=nodes] .name button").all_text_contents()
        assert sorted(shown) == sorted(visible(text) for text in HOSTILE)
        assert not HIDDEN.search(r.page.evaluate("document.body.innerText"))
        assert not HIDDEN.search("".join(r.page.evaluate(
            "[...document.querySelectorAll('body *')].flatMap((e) => [...e.attributes].map((a) => a.value))")))
        assert r.page.evaluate("JSON.parse(document.getElementById('data').textContent).nodes.name") == HOSTILE


@test
def hostile_texts_can_be_searched_and_followed(runs):
    with open_report(runs["hostile"].path) as r:
        r.search("pods", "state:pending onerror=window")
        assert r.rows("pods", "Name") == ["gated-3", "other-3"]
        on_node = {visible(n["name"]): n["after"]["pods"] for n in runs["hostile"].json["nodes"]}
        for button in r.page.locator("[data-chart=nodes] .name button").all():
            button.click()
            assert r.status("pods") == f"{on_node[button.text_content()]} of 30 rows", button.text_content()
        for button in r.page.locator("[data-chart=reasons] .name button").all():
            button.click()
            assert r.status("pods") == "1 of 30 rows", button.text_content()
        assert r.page.evaluate("window.hacked") is None


@test
def only_the_pages_own_script_runs(runs):
    """What the policy forbids is tried here from inside; the browser complains, and nothing happens."""
    with open_report(runs["sample"].path) as r:
        outcome = r.page.evaluate("""async () => {
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 4';
            document.body.append(script);
            const attribute = document.createElement('p');
            attribute.setAttribute('onclick', 'window.hacked = 5');
            document.body.append(attribute);
            attribute.click();
            return fetch('data:text/plain,x').then(() => 'fetched', () => 'refused');
        }""")
        assert outcome == "refused"
        assert r.page.evaluate("window.hacked") is None
        complaints = [n for n in r.noise if "Content Security Policy" in n or "content security policy" in n.lower()]
        assert len(complaints) >= 3, r.noise
        r.noise.clear()


# ---- For every eye and hand ----

OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"


@test
def a_phone_needs_no_sideways_scrolling(runs):
    for name, run in runs.items():
        with open_report(run.path, size=PHONE) as r:
            r.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            assert r.page.evaluate(OVERFLOW) <= 0, f"{name}: {r.page.evaluate(OVERFLOW)} pixels too wide"
            assert r.page.locator("#pods-table thead button").first.is_visible(), "sorting is for phones, too"
            assert not r.page.locator("#pods-table td.empty").first.is_visible(), "a card has no empty lines"


@test
def other_widths_need_none_either(runs):
    for width in (480, 761, 1000, 1920):
        with open_report(runs["hostile"].path, size=(width, 900)) as r:
            assert r.page.evaluate(OVERFLOW) <= 0, f"{width}: {r.page.evaluate(OVERFLOW)} pixels too wide"


# Contrast by WCAG 2 of every text with what is painted below it; elements that cannot be used are exempt.
CONTRAST = """() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (color) => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const over = (top, below) => [0, 1, 2].map((c) => (top[c] * top[3] + below[c] * (255 - top[3])) / 255);
    const background = (e) => {
        const layers = [];
        for (; e; e = e.parentElement) {
            const color = rgba(getComputedStyle(e).backgroundColor);
            if (color[3]) layers.push(color);
            if (color[3] === 255) break;
        }
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const luminance = (color) => {
        const [r, g, b] = color.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return [...document.querySelectorAll('body *')].filter((e) => !e.disabled && e.getClientRects().length &&
        [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && !e.closest('svg, script, .hidden'))
        .map((e) => {
            const below = background(e);
            const color = over(rgba(getComputedStyle(e).color), below);
            return { what: `${e.tagName}.${e.className}: ${e.textContent.slice(0, 30)}`, ratio: ratio(luminance(color), luminance(below)) };
        });
}"""


@test
def texts_stand_out_in_light_and_in_dark(runs):
    pages = {}
    for scheme in ("light", "dark"):
        for size in (DESKTOP, PHONE):
            with open_report(runs["eviction"].path, scheme=scheme, size=size) as r:
                measured = r.page.evaluate(CONTRAST)
                assert len(measured) > 60
                weak = [m for m in measured if m["ratio"] < 4.5]
                assert not weak, f"{scheme}: {weak}"
                pages[scheme] = r.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert pages["light"] != pages["dark"]


@test
def everything_has_a_name_for_a_screen_reader(runs):
    with open_report(runs["sample"].path) as r:
        nameless = r.page.evaluate("""[...document.querySelectorAll('button, input, svg[role=img], section, [role=region], [role=group], nav')]
            .filter((e) => {
                const by = e.getAttribute('aria-labelledby');
                const label = e.getAttribute('aria-label') || (by && document.getElementById(by).textContent) ||
                    (e.labels && e.labels.length && e.labels[0].textContent) || (e.tagName === 'BUTTON' && e.textContent);
                return !label || !label.trim();
            }).map((e) => e.outerHTML.slice(0, 100))""")
        assert not nameless, nameless
        assert r.page.evaluate("document.documentElement.lang") == "en"
        assert r.page.locator("h1").count() == 1
        assert r.page.get_by_role("table").count() >= 2
        assert r.page.get_by_role("columnheader", name="Namespace").is_visible()
        assert r.page.get_by_role("searchbox", name="Search pods").is_visible()


@test
def the_keyboard_is_enough(runs):
    with open_report(runs["sample"].path) as r:
        r.page.keyboard.press("Tab")
        assert r.page.evaluate("document.activeElement.textContent") == "Skip to the pods"
        assert r.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        r.page.focus("#pods-search")
        r.page.keyboard.type("orders")
        r.wait_for_query("pods", "orders")
        assert len(r.rows("pods", "Name")) == 3
        r.page.focus("#pods-table th[data-key=name] button")
        r.page.keyboard.press("Enter")
        r.page.keyboard.press("Enter")
        assert r.rows("pods", "Name") == ["orders-db-2", "orders-db-1", "orders-db-0"]


@test
def paper_gets_charts_and_no_buttons(runs):
    with open_report(runs["sample"].path, size=(794, 1123), scheme="dark") as r:
        r.page.emulate_media(media="print")
        assert r.page.evaluate(OVERFLOW) <= 0
        assert r.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not r.page.locator("nav").is_visible()
        assert not r.page.locator("#pods-search").is_visible()
        assert r.page.locator("[data-chart=zones]").is_visible()


# ---- Sections that are there only when the document has them ----

def amounts(cpu, memory, pods):
    return {"cpuMilli": cpu, "memoryBytes": memory << 30, "pods": pods}


def use(name, before, after, **more):
    return {"name": name, **more, "allocatableBefore": amounts(8000, 16, 110), "allocatable": amounts(8000, 16, 110),
            "before": amounts(before, 1, 1), "after": amounts(after, 1, 1)}


WHAT_IF = {
    "changes": ["drain <a-1>"],
    "difference": {
        "summary": {"moved": 30, "pending": 1, "notPreempted": 0},
        "pods": [*({"namespace": "shop", "name": f"cart-{i}", "owner": "Deployment shop/cart", "change": "moved", "from": "a-1", "to": "b-1"}
                   for i in range(30)),
                 {"namespace": "shop", "name": "<b>left</b>", "owner": None, "change": "pending", "from": "a-1", "to": None,
                  "message": "0/8 nodes are available: 8 Insufficient cpu."}],
        "nodes": [use("a-1", 4000, 0, zone="north-a")],
        "zones": [use("north-a", 4000, 2000), use("north-b", 0, 2000)],
        "cluster": use("", 4000, 4000),
    },
    "lost": [],
    "drain": {"nodes": ["a-1"], "rounds": 2, "blocked": [{"namespace": "shop", "name": "db-0", "budget": "shop/db"}]},
    "capacity": {"of": "Pod shop/web", "copies": 12, "limitReached": False, "free": amounts(2000, 4, 9)},
}
TRACE = {
    "samples": [{"timeSeconds": 60 * i, "cpuMilli": 1000 * (i % 10), "memoryBytes": 1 << 30, "running": i, "waiting": 5000 - i} for i in range(4000)],
    "capacity": {"cpuMilli": 10000, "memoryBytes": 8 << 30},
    "waitSeconds": {"p50": 1.5, "p99": 90, "max": 7200, "mean": 3, "pods": 100},
    "throughputPerHour": 1234.5,
    "queue": {"mean": 3.5, "max": 5000},
    "stillWaiting": [{"pods": 3, "message": "0/9 nodes are available: 9 Insufficient cpu.", "example": "default/<i>x</i>"}],
}


def shown_figures(report, chart):
    return dict(zip(report.texts(f"[data-chart={chart}] dt"), report.texts(f"[data-chart={chart}] dd")))


@test
def a_question_shows_what_would_change(runs):
    with open_report(runs["sample"].with_sections(whatIf=WHAT_IF)) as r:
        assert r.texts(".changes li") == ["drain <a-1>"]
        assert shown_figures(r, "difference") == {"Moved": "30", "Pending": "1", "Not preempted": "0"}
        r.search("difference-pods", "cart-29")
        assert r.rows("difference-pods", "Name") == ["cart-29"] and r.rows("difference-pods", "To") == ["b-1"]
        r.search("difference-pods", "left")
        assert r.rows("difference-pods", "Name") == ["<b>left</b>"]
        assert r.page.locator("figure[data-chart=difference] .meter-row:not(.head)").count() == 3
        gone = r.page.locator("figure[data-chart=difference] .meter-row").nth(2).locator("rect.gone").first
        assert float(gone.get_attribute("width")) == 250
        assert shown_figures(r, "what-if-drain") == {"Rounds": "2", "Nodes": "1", "Blocked": "1"}
        assert shown_figures(r, "what-if-capacity")["Free"] == "2 cores, 4Gi, 9 pods"
        r.page.evaluate("document.querySelectorAll('#what-if details').forEach((d) => { d.open = true; })")
        assert r.rows("what-if-drain-blocked", "Budget") == ["shop/db"]
        assert r.page.locator("nav a[href='#what-if']").count() == 1


@test
def lists_at_the_top_of_an_answer_are_tables(runs):
    answer = {"moved": [{"namespace": "shop", "name": "a", "from": "x", "to": "y"}], "newlyPending": [], "notes": ["one", "two"]}
    with open_report(runs["sample"].with_sections(whatIf=answer), size=PHONE) as r:
        assert shown_figures(r, "what-if") == {"Moved": "1", "Newly pending": "0", "Notes": "2"}
        assert r.rows("what-if-moved", "From") == ["x"]
        assert r.page.evaluate(OVERFLOW) <= 0


@test
def a_trace_is_drawn_over_time(runs):
    with open_report(runs["sample"].with_sections(trace=TRACE), size=PHONE) as r:
        assert r.texts("[data-chart=trace-pods] .y-axis span") == ["6,000", "3,000", "0"]
        assert shown_figures(r, "trace-figures") == {"Wait p50": "1.5 s", "Wait p99": "1.5 min", "Longest wait": "2 h",
                                                     "Started an hour": "1,234.5", "Waiting at most": "5,000"}
        lines = r.page.locator("[data-chart=trace-utilisation] path.line")
        assert lines.count() == 2 and r.page.locator("[data-chart=trace-pods] path.line").count() == 2
        points = re.findall(r"[ML]([\d.]+) ([\d.]+)", lines.first.get_attribute("d"))
        assert 1000 <= len(points) <= 1500
        assert float(points[0][0]) == 0 and float(points[-1][0]) > 995
        assert min(float(y) for _, y in points) == round(200 - 0.9 * 196, 1), "no peak is lost"
        label = r.page.locator("[data-chart=trace-utilisation] svg").get_attribute("aria-label")
        assert "CPU at most 90%" in label and "Memory at most 13%" in label
        r.page.click("#trace summary:has-text('Still waiting')")
        assert r.rows("trace-stillWaiting", "Example") == ["default/<i>x</i>"]
        assert r.page.evaluate(OVERFLOW) <= 0


def run_with(runs, name, *args):
    """A page and document of berth itself, with sections."""
    path = runs["sample"].path.with_name(name)
    return path, json.loads(simulate(*args, "-o", "json", "--report", str(path)))


@test
def the_answer_of_a_what_if_is_on_its_page(runs):
    path, document = run_with(runs, "what-if.html", "-f", str(ROOT / "examples/cluster"), "--drain", "b-1", "--add-nodes", "2",
                              "--like", "a-1", "--nodes-needed", "--like", "a-1")
    difference = document["whatIf"]["difference"]
    assert difference["summary"]["moved"] > 0
    with open_report(path) as r:
        assert r.texts(".changes li") == ["drain b-1", "2 more nodes like a-1"]
        assert shown_figures(r, "difference")["Moved"] == str(difference["summary"]["moved"])
        r.page.evaluate("document.querySelectorAll('#what-if details').forEach((d) => { d.open = true; })")
        assert sorted(r.rows("difference-pods", "To")) == sorted(p["to"] or "–" for p in difference["pods"])
        assert r.page.evaluate(OVERFLOW) <= 0


@test
def other_resources_have_bars(runs):
    source = runs["sample"].path.with_name("gpus.json")
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "g1"},
            "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "9", "x.com/gpu": "4"}}}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
           "spec": {"containers": [{"name": "c", "resources": {"limits": {"x.com/gpu": "3"}}}]}}
    source.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node, pod]}))
    path, _ = run_with(runs, "gpus.html", "-f", str(source))
    with open_report(path, size=PHONE) as r:
        rows = r.page.locator("[data-chart=other-resource] .meter-row:not(.head)")
        assert rows.count() == 2 and "75%" in rows.nth(0).inner_text()
        assert float(rows.nth(1).locator("rect.added").get_attribute("width")) == 750
        assert r.page.evaluate(OVERFLOW) <= 0


@test
def a_page_of_a_trace_tells_of_the_trace(runs):
    examples = ROOT / "examples/trace"
    path, document = run_with(runs, "trace.html", "-f", str(examples / "cluster.yaml"), "--trace", str(examples / "day.csv"))
    with open_report(path, size=PHONE) as r:
        assert r.texts("#headline") == [f"All {document['trace']['pods']['arrived']} pods that arrived found a node."]
        assert r.texts(".tile b")[:2] == ["916", "916"]
        assert r.page.locator("[data-chart=trace-utilisation] path.line").count() == 2
        assert r.page.locator("#pods").count() == 0, "the cluster has no pods of its own"
        assert r.page.evaluate(OVERFLOW) <= 0


@test
def sections_live_with_what_is_missing(runs):
    for sections in ({"whatIf": {}}, {"whatIf": None, "trace": None}, {"trace": {}}, {"trace": {"samples": []}},
                     {"trace": {"samples": [{"t": 0}, {"t": 5, "pending": 3}]}}, {"whatIf": {"moved": [], "other": {"a": 1}}}, {"whatIf": {"difference": {}, "compare": {"difference": {"cluster": None}}}}):
        with open_report(runs["sample"].with_sections(**sections)) as r:
            assert r.page.locator("#pods-table tbody tr").count() > 0


main(make_world)
