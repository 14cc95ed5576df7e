#!/usr/bin/env python3
"""test_dashboard.py BERTH [PART-OF-A-TEST'S-NAME] - the dashboard of a running scheduler in a real browser: `berth apiserver` with nodes and pods,
`berth scheduler` on it, and a person who logs in with a token."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import types

import browser
from browser import BERTH, DESKTOP, PHONE, running_browser, test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import api_world  # noqa: E402

LIMIT_MS = 60000
HOSTILE = "<img src=x onerror=alert(1)>"
PICTURES = os.environ.get("DASHBOARD_PICTURES")
GIB = 1 << 30


class World:
    """An API server and a scheduler, both real."""

    def __init__(self, folder):
        self.server = api_world.Server(BERTH, flags=("--authorization-mode=RBAC", "--controllers=", "--disable-admission-plugins=TaintNodesByCondition"), memory=True)
        self.server.__enter__()
        self.client = api_world.Client(self.server)
        self.port = api_world.free_port()
        kubeconfig = os.path.join(folder, "kubeconfig")
        with open(kubeconfig, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:%d" % self.server.port, "insecure-skip-tls-verify": True}}],
                       "users": [{"name": "u", "user": {"token": api_world.TOKEN}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, f)
        self.log = open(os.path.join(folder, "scheduler.log"), "wb")
        self.scheduler = subprocess.Popen(
            [os.path.abspath(BERTH), "scheduler", "--kubeconfig", kubeconfig, "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
             "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=%d" % self.port, "--cert-dir", folder], stdout=self.log, stderr=self.log)
        self.address = "https://127.0.0.1:%d/dashboard/" % self.port

    def node(self, name, zone="a", cpu="4", labels=None):
        body = {"metadata": {"name": name, "labels": dict({"topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "r"}, **(labels or {}))},
                "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}, "capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}}
        assert self.client.post("/api/v1/nodes", body)[0] == 201

    def pod(self, name, cpu="500m", memory="256Mi", **spec):
        body = {"metadata": {"name": name}, "spec": dict({"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}],
                                                          "terminationGracePeriodSeconds": 0}, **spec)}
        self.client.close()  # an idle connection may have been ended meanwhile
        code, answer = self.client.post("/api/v1/namespaces/default/pods", body)
        assert code == 201, answer

    def stop(self):
        self.scheduler.terminate()
        self.scheduler.wait(60)
        text = open(self.log.name, encoding="utf-8").read()
        assert "finished without leader elect" in text and "Sanitizer" not in text, text[-3000:]
        self.log.close()
        self.client.close()
        self.server.__exit__(None)


class Page:
    """The dashboard, logged in. Whatever it says on the console, and whatever it asks of others, is noise."""

    def __init__(self, chromium, world, size=DESKTOP, dark=False, log_in=True):
        self.context = chromium.new_context(ignore_https_errors=True, viewport={"width": size[0], "height": size[1]},
                                            color_scheme="dark" if dark else "light")
        self.page, self.noise = self.context.new_page(), []
        self.page.set_default_timeout(LIMIT_MS)
        origin = world.address.removesuffix("/dashboard/")
        self.page.on("console", lambda m: self.noise.append(m.text) if "401" not in m.text and "403" not in m.text else None)
        self.page.on("pageerror", lambda e: self.noise.append(str(e)))
        self.page.on("request", lambda r: self.noise.append(r.url) if not r.url.startswith((origin, "data:")) else None)
        self.page.goto(world.address)
        if log_in:
            self.page.fill("#login-token", api_world.TOKEN)
            self.page.click("#login button")
            self.page.wait_for_selector(".state.live")

    def go(self, hash):
        self.page.evaluate("hash => { location.hash = hash }", hash)

    def shows(self, selector, text):
        self.page.locator(selector).filter(has_text=text).first.wait_for()

    def picture(self, name):
        if PICTURES:
            self.page.wait_for_timeout(600)
            self.page.screenshot(path=os.path.join(PICTURES, name + ".png"))


@contextlib.contextmanager
def opened(world, **options):
    with running_browser() as chromium:
        page = Page(chromium, world, **options)
        try:
            yield page
        finally:
            page.context.close()
        assert not page.noise, "the page is not quiet: %s" % page.noise


@test
def asks_who_one_is(world):
    with opened(world, log_in=False) as p:
        p.page.wait_for_selector("#login[open]")
        p.page.fill("#login-token", "wrong")
        p.page.click("#login button")
        p.page.wait_for_function("() => document.getElementById('login-error').textContent !== ''")
        p.page.fill("#login-token", api_world.TOKEN)
        p.page.click("#login button")
        p.page.wait_for_selector(".state.live")


@test
def shows_the_cluster_and_what_changes(world):
    with opened(world) as p:
        p.page.wait_for_function("() => document.querySelectorAll('.tile').length === 6")
        p.shows(".zone h3", "zone-1")
        p.shows(".fact", "Pods on nodes")
        p.picture("cluster")
        world.node("late", zone="zone-9")
        p.shows(".zone h3", "zone-9")
        world.pod("fresh")
        p.shows("td", "default/fresh")
        assert world.client.delete("/api/v1/nodes/late")[0] == 200
        p.page.wait_for_function("() => document.querySelectorAll('.tile').length === 6")


@test
def filters_and_colours_nodes(world):
    with opened(world) as p:
        p.page.wait_for_selector(".tile")
        p.page.fill("main input[type=search]", "zone-2")
        p.page.wait_for_function("() => document.querySelectorAll('.tile').length === 2")
        p.page.select_option("main select", "memory")
        assert p.page.locator(".tile").count() == 2


@test
def shows_who_waits_and_why(world):
    with opened(world) as p:
        p.go("#/queue")
        p.shows("td", "default/huge")
        p.picture("queue")
        p.page.click("text=default/huge")
        p.shows("h2", "What would place it")
        p.shows("td", "Insufficient cpu")
        p.picture("pod")


@test
def explains_a_pod_that_is_placed(world):
    with opened(world) as p:
        p.go("#/pod/default/web-0")
        p.shows(".lead", "runs on")
        p.shows("th", "NodeResourcesFit")
        answer = p.page.evaluate("""async () => (await (await fetch('/berth/v1/explain?pod=default/web-0',
            {headers: {Authorization: 'Bearer ' + sessionStorage.getItem('berth-token')}})).json())""")
        assert p.page.locator("tr.best td").first.inner_text() == answer["node"]


@test
def shows_a_node_and_its_pods(world):
    with opened(world) as p:
        p.go("#/node/n0")
        p.shows("h2", "Pods here")
        world.client.close()  # idle ones may have been ended meanwhile
        on_node = [i["metadata"]["name"] for i in world.client.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn0")[1]["items"]]
        for name in on_node:
            p.shows("td", "default/" + name)
        p.picture("node")


@test
def lists_decisions(world):
    with opened(world) as p:
        p.go("#/decisions")
        p.shows("td", "default/web-0")
        p.shows("td .tag", "unschedulable")
        p.page.select_option("main select", "0")
        p.page.wait_for_function("() => ![...document.querySelectorAll('td .tag')].some(t => t.textContent !== 'placed')")
        p.picture("decisions")


@test
def asks_what_if_and_gets_the_command_s_answer(world):
    question = {"pod": "default/huge", "changes": [{"pod": {"requests": {"cpu": "1"}}}]}
    with opened(world) as p:
        p.go("#/what-if/pod/default/huge")
        p.page.locator("label", has_text="CPU of the pod").locator("input").fill("1")
        p.page.click("main button.main")
        p.shows("h2", "Then it finds a node.")
        p.picture("what-if")
        answer = p.page.evaluate("""async body => (await (await fetch('/berth/v1/what-if', {method: 'POST', body: JSON.stringify(body),
            headers: {Authorization: 'Bearer ' + sessionStorage.getItem('berth-token')}})).json())""", question)
        assert answer["then"]["node"] in p.page.locator(".versus > div").nth(1).inner_text(), answer


@test
def shows_hostile_names_as_text(world):
    with opened(world) as p:
        p.go("#/node/" + HOSTILE.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20"))
        p.shows("h1", HOSTILE)
        assert p.page.locator("main img").count() == 0


@test
def works_with_the_keyboard(world):
    with opened(world) as p:
        p.page.wait_for_selector(".tile")
        p.page.locator('.tile[tabindex="0"]').focus()
        first = p.page.evaluate("document.activeElement.href")
        p.page.keyboard.press("ArrowRight")
        assert p.page.evaluate("document.activeElement.href") != first
        p.page.keyboard.press("Enter")
        p.shows("h2", "Pods here")
        p.page.keyboard.press("q")
        p.shows("h1", "Queue")
        p.page.keyboard.press("/")
        p.page.keyboard.type("default/web-0")
        p.page.keyboard.press("Enter")
        p.shows("h1", "default/web-0")


@test
def fits_a_phone_and_the_dark(world):
    with opened(world, size=PHONE, dark=True) as p:
        for hash in ("#/", "#/queue", "#/decisions", "#/node/n0", "#/pod/default/web-0", "#/what-if"):
            p.go(hash)
            p.page.wait_for_selector("main h1", state="attached")
            wide = p.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            who = p.page.evaluate("() => [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 8)")
            assert wide <= 0, "%s is %d pixels too wide: %s" % (hash, wide, who)
            p.picture("phone-" + (hash.split("/")[1] or "cluster"))


@test
def goes_on_after_a_break(world):
    with opened(world) as p:
        p.context.set_offline(True)
        p.page.wait_for_timeout(200)
        p.context.set_offline(False)
        world.pod("after-the-break")
        p.shows("td", "default/after-the-break")
        p.noise = [n for n in p.noise if "ERR_INTERNET_DISCONNECTED" not in n and "ERR_NETWORK_CHANGED" not in n]


@contextlib.contextmanager
def control_plane(*options):
    """`berth up` with nothing kept; the address of its dashboard."""
    process = subprocess.Popen([os.path.abspath(BERTH), "up", "--memory", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
    try:
        words = dict(line.rstrip("\n").split(": ", 1) for line in iter(process.stdout.readline, "next:\n") if ": " in line)
        yield words["dashboard"]
    finally:
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(60) == 0


@test
def shows_5000_nodes_of_a_control_plane_without_a_login(world):
    with control_plane("--nodes", "5000") as address, running_browser() as chromium:
        page = Page(chromium, types.SimpleNamespace(address=address + "dashboard/"), log_in=False)
        page.page.wait_for_function("() => document.querySelectorAll('.tile').length === 5000")
        assert page.page.locator(".tiles.many").count() >= 3
        page.page.fill("main input[type=search]", "node-4999")
        page.page.wait_for_function("() => document.querySelectorAll('.tile').length === 1")
        page.picture("many")
        page.context.close()
        assert not page.noise, page.noise


def is_listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def make_world(folder):
    world = World(folder)
    for i in range(6):
        world.node("n%d" % i, zone="zone-%d" % (i % 3))
    deadline = time.monotonic() + 120
    while world.client.get("/api/v1/namespaces/default/serviceaccounts/default")[0] != 200 and time.monotonic() < deadline:
        world.client.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    for i in range(8):
        world.pod("web-%d" % i)
    world.pod("huge", cpu="64")
    browser.at_end = world.stop
    while not is_listening(world.port) and time.monotonic() < deadline:
        time.sleep(0.05)
    return (world,)


browser.main(make_world)
