#!/usr/bin/env python3
"""deploy.py BERTH STAND_IN - what is under deploy/ and told in docs/operations.md is what berth takes and serves: manifests, command
lines, the unit, the dashboard's metrics, endpoints, flags. Rights are tried by tests/peers/test_rbac.py."""
import configparser
import fnmatch
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import cli
from cli import ROOT, berth, check

STAND_IN = os.path.abspath(sys.argv[2])
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs/operations.md").read_text()
LIMIT = 120  # seconds that one step may take on a slow machine
METRIC = r"\b(?:scheduler|berth|rest_client|leader_election|workqueue|process|kube_pod|kubernetes)_[a-z_]+\b"


# ---- Manifests ----

def objects(path):
    code, out, err = berth("decode", "--strict", "-f", str(path), "-o", "json")
    check(code == 0, "%s is read strictly" % path.name, err.decode())
    return [json.loads(line) for line in out.splitlines()]


def pod_spec(o):
    return o["spec"] if o["kind"] == "Pod" else o["spec"]["template"]["spec"]


def accepts(words, folder):
    """Whether `berth scheduler` takes the command line, up to where it would begin."""
    out = os.path.join(folder, "written.yaml")
    code, _, err = berth("scheduler", *words, "--write-config-to=" + out)
    return code == 0, err.decode()


def check_flags(words, what, folder):
    """All together, and one by one."""
    for some in [words] + [[word] for word in words]:
        good, err = accepts(some, folder)
        check(good, "%s: %s" % (what, " ".join(some)), err)
    good, _ = accepts(words + ["--no-such-flag"], folder)
    check(not good, "%s: a flag that does not exist is refused" % what)


def mounted(spec, container, maps, folder):
    """Puts what ConfigMaps mount below the folder."""
    names = {v["name"]: v["configMap"]["name"] for v in spec.get("volumes", []) if "configMap" in v}
    for mount in container.get("volumeMounts", []):
        if mount["name"] in names:
            at = folder + mount["mountPath"]
            os.makedirs(at, exist_ok=True)
            for key, text in maps[names[mount["name"]]].items():
                with open(os.path.join(at, key), "w", encoding="utf-8") as f:
                    f.write(text)


def check_container(name, o, maps, folder):
    spec = pod_spec(o)
    container, = spec["containers"]
    check(container["command"][:2] == ["berth", "scheduler"], "%s runs the scheduler" % name, container["command"])
    mounted(spec, container, maps, folder)
    words = [word.replace("=/etc/berth/", "=%s/etc/berth/" % folder) for word in container["command"][2:]]
    check_flags(words, name, folder)
    probes = [container[p]["httpGet"] for p in ("startupProbe", "livenessProbe", "readinessProbe") if p in container]
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    for probe in probes:
        check(probe["path"] in ("/livez", "/readyz") and ports[probe["port"]] == 10259 and probe["scheme"] == "HTTPS", name, probe)
    return len(probes)


def check_manifests(folder):
    n_probes, by_kind = 0, {}
    for path in sorted(DEPLOY.glob("*.yaml")):
        found = objects(path)
        maps = {o["metadata"]["name"]: o["data"] for o in found if o["kind"] == "ConfigMap"}
        for name, texts in maps.items():
            for key, text in texts.items():
                file = os.path.join(folder, key)
                with open(file, "w", encoding="utf-8") as f:
                    f.write(text)
                good, err = accepts(["--config=" + file], folder)
                check(good, "%s: %s of %s" % (path.name, key, name), err)
        for o in found:
            by_kind.setdefault(o["kind"], []).append(o)
            if o["kind"] in ("Pod", "Deployment"):
                n_probes += check_container(path.name, o, maps, folder)
    check(n_probes == 5, "probes are found: %d" % n_probes)
    accounts = {o["metadata"]["name"] for o in by_kind["ServiceAccount"]}
    used = {pod_spec(o).get("serviceAccountName") for o in by_kind["Deployment"]}
    check(used == accounts, "every account is used, and exists", (used, accounts))


def check_unit(folder):
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str
    unit.read(DEPLOY / "berth-scheduler.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    check(words[0].endswith("/berth") and words[1] == "scheduler", "the unit runs the scheduler", words)
    config = re.search(r"(?s)```yaml\n# (/etc/kubernetes/\S+)\n(.*?)```", PAGE)
    check(config, "the page shows the unit's configuration")
    file = os.path.join(folder, "unit.yaml")
    with open(file, "w", encoding="utf-8") as f:
        f.write(config.group(2))
    check("--config=" + config.group(1) in words, "it is the file that the unit names", (words, config.group(1)))
    check_flags([word.replace(config.group(1), file) for word in words[2:]], "unit", folder)
    tool = shutil.which("systemd-analyze")
    if not tool:
        return
    copy = os.path.join(folder, "berth-scheduler.service")  # its program is not installed here, nor are manual pages
    text = (DEPLOY / "berth-scheduler.service").read_text().replace(words[0], cli.BERTH)
    with open(copy, "w", encoding="utf-8") as f:
        f.write(text)
    done = subprocess.run([tool, "verify", "--man=no", "--recursive-errors=no", copy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    about = [line for line in done.stdout.splitlines() if "berth-scheduler.service" in line]
    check(not about, "systemd-analyze verify", done.stdout)


# ---- A running scheduler ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait(holds, what):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found = holds()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("after %d s not yet: %s" % (LIMIT, what))


class Running:
    def __init__(self, folder, name, kubeconfig, *flags):
        self.port, self.log = free_port(), os.path.join(folder, name + ".log")
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen([cli.BERTH, "scheduler", "--kubeconfig", kubeconfig, "--secure-port=%d" % self.port,
                                           "--bind-address=127.0.0.1", "--authorization-always-allow-paths=/*", *flags],
                                          stdout=log, stderr=log, env={"PATH": os.environ["PATH"]})
        wait(lambda: self.ask("/readyz")[0] == 200, "readyz of " + name)

    def ask(self, path, method="GET", body=None):
        request = urllib.request.Request("https://127.0.0.1:%d%s" % (self.port, path), method=method, data=body)
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=60) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError:
            return 0, ""

    def metrics(self):
        """Names of all samples on its pages."""
        text = "".join(self.ask(path)[1] for path in ("/metrics", "/metrics/slis", "/metrics/resources"))
        return set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.M))

    def stop(self):
        self.child.terminate()
        return self.child.wait()


def families(samples):
    return samples | {re.sub(r"_(bucket|sum|count)$", "", s) for s in samples}


def check_dashboard(samples):
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    ids = [panel["id"] for panel in board["panels"]]
    check(len(ids) == len(set(ids)) > 10, "panels have ids of their own", ids)
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]]
    check(len(places) == len(set(places)), "panels have places of their own", places)
    queries = [t["expr"] for p in board["panels"] for t in p["targets"]] + [re.sub(r"label_values\((.*), \w+\)", r"\1", v["query"])
                                                                             for v in board["templating"]["list"] if v["type"] == "query"]
    for query in queries:
        named = re.findall(METRIC, query)
        check(named, "a query names a metric", query)
        for name in named:
            check(name in samples, "the dashboard's %s is served" % name)


def tables(heading):
    """First cells of the tables of a chapter, as the texts in their back-quotes."""
    chapter = PAGE.split("\n## %s\n" % heading)[1].split("\n## ")[0]
    return [word for row in re.findall(r"^\| (`.*?) \|", chapter, re.M) for word in re.findall(r"`([^`]+)`", row)]


def check_page(samples):
    named = set(re.findall(r"`(%s)" % METRIC, PAGE)) - {"kubernetes_io"}
    check(len(named) > 15, "the page names metrics", named)
    for name in sorted(named):
        check(name in families(samples), "%s of docs/operations.md is served" % name)


def check_endpoints(schedulers):
    paths = tables("Endpoints")
    check(len(paths) > 15, "the page names endpoints", paths)
    for text in paths:
        words = text.split()
        method, path = (words if len(words) == 2 else ["GET", words[0]])
        path = path.replace("NAMESPACE/NAME", "shop/huge").replace("seconds=N", "seconds=1").replace("NAME", "ping")
        body = b'{"pod": "shop/huge"}' if "what-if" in path else b"1" if path == "/debug/flags/v" else None
        codes = {s.ask(path, method, body)[0] for s in schedulers}
        check(200 in codes, "%s %s answers" % (method, path), codes)


def check_flag_table():
    told = [word.split("=")[0] for word in tables("Flags") if word.startswith("--")]
    flags = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]*)", berth("scheduler", "--help")[1].decode(), re.M))
    check(len(flags) > 60, "the help names flags", flags)
    for flag in sorted(flags):
        check(any(fnmatch.fnmatch(flag, t) for t in told), "docs/operations.md tells of %s" % flag)
    for pattern in told:
        check(any(fnmatch.fnmatch(f, pattern) for f in flags), "%s of docs/operations.md is a flag" % pattern)


def cluster():
    bound = cli.pod("bound", on="n0", ns="shop")
    pods = [cli.pod("web-%d" % i, cpu="100m", ns="shop") for i in range(20)] + [cli.pod("huge", cpu="99", ns="shop")]
    for p in pods + [bound]:
        p["spec"].update(schedulerName="default-scheduler", priority=0)
        p["status"] = {"phase": "Pending"}
    return [cli.node("n%d" % i) for i in range(5)] + [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}] + pods + [bound]


def bind(kubeconfig, name, node):
    """As another scheduler that thinks otherwise."""
    with open(kubeconfig, encoding="utf-8") as f:
        address = f.read().split("server: ")[1].split()[0]
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
    request = urllib.request.Request("%s/api/v1/namespaces/shop/pods/%s/binding" % (address, name), method="POST", data=json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json", "Authorization": "Bearer any"})
    with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
        check(answer.status == 201, "a binding of another", answer.status)


def check_running(folder):
    kubeconfig, file = os.path.join(folder, "kubeconfig"), os.path.join(folder, "objects.json")
    with open(file, "w", encoding="utf-8") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": cluster()}, f)
    api = subprocess.Popen([STAND_IN, "--kubeconfig", kubeconfig, "-f", file], stdout=subprocess.PIPE, text=True)
    running = []
    try:
        check(api.stdout.readline().startswith("listening"), "the stand-in listens")
        running.append(Running(folder, "shadow", kubeconfig, "--shadow"))
        running.append(Running(folder, "scheduler", kubeconfig))
        shadow, scheduler = running
        wait(lambda: json.loads(shadow.ask("/berth/v1/shadow")[1]).get("compared") == 20, "the shadow has compared all pods")
        wait(lambda: "scheduler_unschedulable_pods{" in scheduler.ask("/metrics")[1], "a pod that fits nowhere is counted")
        wait(lambda: 'berth_shadow_pods_total{class="same"}' in shadow.ask("/metrics")[1], "the shadow has published")
        samples = scheduler.metrics()  # before the endpoints are tried, one of which resets them
        bind(kubeconfig, "huge", "n1")
        wait(lambda: "berth_shadow_plugin_disagreements_total{" in shadow.ask("/metrics")[1], "a choice that berth would not make is counted")
        samples |= shadow.metrics()
        check_endpoints(running)
        check('{"componentconfig":{"kind"' in scheduler.ask("/configz")[1].replace(" ", ""), "configz", scheduler.ask("/configz")[1][:200])
        api.terminate()
        api.wait()
        wait(lambda: "berth_watch_restarts_total" in shadow.ask("/metrics")[1], "watches that broke are counted")
        samples |= shadow.metrics()  # without a lease it stays when the server is gone
        check_dashboard(samples)
        check_page(samples)
        check(shadow.stop() == 0, "a shadow ends with 0")
    finally:
        for child in [api] + [r.child for r in running]:
            if child.poll() is None:
                child.kill()
            child.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_manifests(folder)
        check_unit(folder)
        check_flag_table()
        check_running(folder)
    cli.finish()


main()
