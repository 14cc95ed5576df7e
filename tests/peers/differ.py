#!/usr/bin/env python3
"""tests/peers/differ.py [--seed N] [--first N] [--scenarios N] [--only RE] [--all] [--keep] - the same requests to the real kube-apiserver and to berth's.

Both are started with the same flags and nothing beside them. A scenario is a short sequence of random requests about one resource, or
requests that are about none; after it both servers are brought back to where they were. Every answer is compared: code, headers that
clients look at, and the body but for what a server chooses by itself (differ_compare.py). Printed are the differences, one of each
kind with the request that shows it, and counts."""
import argparse
import collections
import http.client
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import differ_requests as requests  # noqa: E402
from differ_compare import Comparison, Differs  # noqa: E402
from differ_requests import JSON, NAMESPACE, Request  # noqa: E402
from trio import TOKEN, OwnTrio, Trio, find_peers  # noqa: E402


# What differs and is meant to, or is left for now: (why, what of "WHERE | REQUEST | PLACE | REAL | OWN" matches). docs/apiserver.md,
# "Differences", says more.
KNOWN = [(why, re.compile(text, re.S)) for why, text in (
    ("controllers inside kube-apiserver write to these", r"^(customresourcedefinitions|apiservices|flowschemas|prioritylevelconfigurations|servicecidrs|ipaddresses)/"),
    ("controllers inside kube-apiserver write to these", r"GET /apis/(apiextensions|apiregistration|flowcontrol.apiserver).k8s.io/|/(servicecidrs|ipaddresses)"),
    ("controllers inside kube-apiserver write events", r"^events/.*'manager': 'kube-apiserver'|GET /(api/v1|apis/events.k8s.io/v1)/events\b|ipallocator-repair"),
    ("old annotations of autoscalers in tables", r"^horizontalpodautoscalers/.*(autoscaling\.alpha.*as=Table|as=Table.*autoscaling\.alpha)"),
    ("methods that are none", r"^anywhere #\d+ \| (FOO|TRACE) "),
    ("documents that belong to no resource", r"^anywhere #\d+ \| \w+ /(healthz|livez|readyz|version|openapi|openid|\.well-known|debug|flagz|statusz|configz|ui|static|nosuch|logs|swagger|metrics)"),
    ("where a server listens", r"serverAddress|\| 127\.0\.0\.1:\d+ \| 127\.0\.0\.1:\d+$"),
    ("the server's own lease", r"leases.*apiserver\.kubernetes\.io/identity"),
    ("a service that its status makes has no addresses there", r"(PUT|PATCH) /api/v1/namespaces/differ/services/\w+/status.*\| (code|\.spec|pb\.2\.2|line \d+) \||^services/.*\| \.spec \|  \| {'clusterIP'"),
    ("a service without a name gets an address there before that is seen", r"failed to allocate IP: IPAddress"),
    ("raw data in ControllerRevisions", r"^controllerrevisions/.*data: Invalid value: .*immutable"),
    ("limit ranges without a name, which both take", r"^limitranges/.*\| (\.metadata\.uid|pb\.2\.1\.5) \|"),
    ("values in messages are cut here", r"\.\.\. \(\d+ bytes\)"),
    ("managed fields that a client makes up", r"'manager': 'm', 'operation': 'Update', 'apiVersion': 'v1', 'time': '2020|managedFields/0"),
    ("evictions of policy/v1beta1", r"policy/v1beta1"),
    ("headers of plain texts", r"\| header X-Content-Type-Options \|"),
    ("components are asked in an order left to chance", r"componentstatuses"),
    ("options and forms of logs", r"/log\b"),
    ("errors and conflicts in the order of a Go map", r"failed to create typed patch object|details.causes\[\d+\].message \| conflict with"),
)]


def apart(a, b):
    """What two long texts do not begin with both."""
    same = len(os.path.commonprefix([a, b]))
    begin = same - 120 if same > 160 else 0
    return tuple(("... " if begin else "") + text[begin:begin + 700] for text in (a, b))


class View:
    """One server."""

    def __init__(self, trio):
        self.trio, self.connection = trio, None

    def send(self, request):
        """(code, headers, body)"""
        if self.connection is None:
            self.connection = http.client.HTTPSConnection("127.0.0.1", self.trio.port, timeout=30, context=self.trio.api.context)
            self.connection._validate_path = lambda url: None
        c = self.connection
        try:
            c.putrequest(request.method, request.path, skip_accept_encoding=True)
            headers = {"Authorization": "Bearer " + TOKEN, "User-Agent": "differ/1 (test)", "Accept": request.accept, **request.headers}
            if request.body is not None:
                headers["Content-Length"] = str(len(request.body))
                headers["Content-Type"] = request.kind
            for name, value in headers.items():
                if value or name == "Content-Length":
                    c.putheader(name, value)
            c.endheaders(request.body)
            answer = c.getresponse()
            out = answer.status, answer.getheaders(), answer.read()
            if answer.status == 101:
                self.close()
            return out
        except (OSError, http.client.HTTPException) as error:
            self.close()
            return 0, [], repr(error).encode()

    def ask(self, request):
        """The object in the answer, or None; not compared."""
        code, _, body = self.send(request)
        return json.loads(body) if code < 300 and code else None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Differ:
    def __init__(self, real, own, options):
        self.real, self.own, self.options = View(real), View(own), options
        self.comparison = Comparison()
        self.compared, self.kinds, self.first, self.known = 0, collections.Counter(), {}, collections.Counter()
        self.resources = requests.resources_of(self.real)

    def play(self, build, seed, where):
        """One step with both servers. Whether the answers are the same."""
        sent = [build(view, random.Random(seed)) for view in (self.real, self.own)]
        answers = [view.send(request) for view, request in zip((self.real, self.own), sent)]
        self.compared += 1
        try:
            self.comparison.answers(*answers)
            return True
        except Differs as differs:
            self.note(where, sent[0], differs, answers)
            return False

    def note(self, where, request, differs, answers):
        whole = "%s | %s | %s | %s | %s" % (where, request, differs.place, differs.real, differs.own)
        why = next((why for why, text in KNOWN if text.search(whole)), None)
        if why:
            self.known[why] += 1
            if not self.options.all:
                return
        place = re.sub(r"\[\d+\]", "[]", differs.place)
        kind = (request.method, where.split(" ")[0], place, answers[0][0], re.sub(r"\"[^\"]*\"|\d+", "", str(differs.real))[:80])
        self.kinds[kind] += 1
        if kind not in self.first:
            self.first[kind] = differs
            print("DIFF %s\n  request %s\n  %d at %s\n    real: %s\n    own:  %s" % (
                where, request, answers[0][0], differs.place, *apart(str(differs.real), str(differs.own))), flush=True)

    def scenario(self, number):
        chance = random.Random("%d %d" % (self.options.seed, number))
        if chance.random() < 0.15:
            for _ in range(8):
                step = chance.choice(requests.FREE)
                self.play(lambda view, c, step=step: step(view, c, self.resources), chance.random(), "%s #%d" % (step.__name__, number))
            return
        names = [k for k in sorted(self.resources) if self.options.only.search("/".join(k)) and "create" in self.resources[k].verbs and self.resources[k].good]
        resource = self.resources[chance.choice(names)]
        begin = [view.ask(Request("GET", resource.collection() + "?limit=1"))["metadata"]["resourceVersion"] for view in (self.real, self.own)]
        if self.sequence(resource, chance, number) and chance.random() < 0.06 and "watch" in resource.verbs:
            self.watch(resource, begin, chance, number)
        self.clean(resource)

    def sequence(self, resource, chance, number):
        """Steps, until the servers disagree: what follows then would only show it again."""
        for i in range(9):
            step = requests.create if i == 0 else chance.choice(requests.STEPS)
            if not self.play(lambda view, c, step=step: step(view, c, resource), chance.random(), "%s/%s #%d" % (resource.name, step.__name__, number)):
                return False
        return self.play(lambda view, c: Request("GET", resource.collection()), 1, "%s/end #%d" % (resource.name, number))

    def watch(self, resource, begin, chance, number):
        accept = chance.choice([JSON, requests.TABLE, requests.PARTIAL, requests.PROTOBUF + ";stream=watch", JSON])
        more = chance.choice(["", "", "&labelSelector=l", "&allowWatchBookmarks=true", "&fieldSelector=metadata.name=a"])

        def build(view, _):
            since = begin[0] if view is self.real else begin[1]
            return Request("GET", "%s?watch=true&timeoutSeconds=1&resourceVersion=%s%s" % (resource.collection(), since, more), accept=accept)
        self.play(build, 1, "%s/watch #%d" % (resource.name, number))

    def clean(self, resource):
        for view in (self.real, self.own):
            if resource.name in ("flowschemas", "prioritylevelconfigurations", "apiservices", "clusterroles", "clusterrolebindings", "priorityclasses",
                                 "servicecidrs", "namespaces", "ipaddresses"):
                held = view.ask(Request("GET", resource.collection()))["items"]
                for item in held:
                    if item["metadata"]["uid"] not in view.known.get(resource.name, ()):
                        self.remove(view, resource, item)
                continue
            view.send(Request("DELETE", resource.collection() + "?gracePeriodSeconds=0&propagationPolicy=Background"))
            left = view.ask(Request("GET", resource.collection())) or {"items": []}
            for item in left["items"]:
                self.remove(view, resource, item)

    def remove(self, view, resource, item):
        path = resource.collection() + "/" + item["metadata"]["name"]
        view.send(Request("PATCH", path, {"metadata": {"finalizers": None}}, kind="application/merge-patch+json"))
        view.send(Request("DELETE", path + "?gracePeriodSeconds=0&propagationPolicy=Background"))
        view.send(Request("PATCH", path, {"metadata": {"finalizers": None}}, kind="application/merge-patch+json"))
        if resource.name == "namespaces":
            held = view.ask(Request("GET", path))
            if held:
                held["spec"]["finalizers"] = []
                view.send(Request("PUT", path + "/finalize", held))

    def prepare(self):
        for view in (self.real, self.own):
            view.ask(Request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}))
            view.ask(Request("POST", "/api/v1/namespaces/differ/serviceaccounts", {"metadata": {"name": "tok"}}))
            view.known = {}
            for resource in self.resources.values():
                if not resource.namespaced and "list" in resource.verbs and resource.name != "componentstatuses":
                    held = view.ask(Request("GET", resource.collection()))
                    view.known[resource.name] = {i["metadata"]["uid"] for i in held["items"]}


def run(options):
    folder = tempfile.mkdtemp(prefix="berth-differ-")
    began = time.monotonic()
    try:
        with Trio(options.peers, os.path.join(folder, "real")) as real, OwnTrio(options.peers, os.path.join(folder, "own")) as own:
            differ = Differ(real, own, options)
            differ.prepare()
            for number in range(options.first, options.first + options.scenarios):
                differ.scenario(number)
                if own.apiserver.poll() is not None:
                    print("berth ended in scenario %d with %d; see %s" % (number, own.apiserver.returncode, folder))
                    folder = None
                    break
    finally:
        if folder and not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("%d requests compared, %d answers differ in %d kinds, %d as known, %.0f s" % (
        differ.compared, sum(differ.kinds.values()), len(differ.kinds), sum(differ.known.values()), time.monotonic() - began))
    for why, count in differ.known.most_common():
        print("%5d known: %s" % (count, why))
    for kind, count in differ.kinds.most_common(60):
        print("%5d %s" % (count, kind))
    return 1 if differ.kinds else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--scenarios", type=int, default=200)
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--all", action="store_true", help="show what is known, too")
    options = parser.parse_args()
    options.peers = find_peers() or sys.exit(2)
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
