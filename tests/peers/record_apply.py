#!/usr/bin/env python3
"""Records what a real kube-apiserver notes in managedFields: tests/golden/apiserver/applies.jsonl.gz.

    record_apply.py PORT TOKEN [SEED]

Several managers create, update, patch and apply objects of many kinds, with fields left out, changed, doubled and put in
another order, through the main endpoint and through status. A row has the object before, the request, and the
managedFields after without their times (of some kinds the spec too), or the refusal. What other parts of the server refuse (validation and the like)
is not recorded. Updates are recorded as the object that was sent with the defaults that came back; of other patches it
is the object that came out.
"""
import copy
import gzip
import io
import json
import pathlib
import random
import sys
import urllib.parse

import api
import apply_objects

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "apiserver" / "applies.jsonl.gz"
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
REFUSALS = ("Apply failed", "failed to ", "invalid object type", "metadata.managedFields", "error decoding YAML")
WHOLE = ("Deployment",)  # kinds whose spec is what was merged with defaults, and recorded too
ALLOCATED = ("Pod", "Service")  # kinds of which a new object gets more than defaults
MANAGERS = ["a", "b", "kubectl", "kubectl-edit", "helm \"x\""]
SERVERS_OWN = ["before-first-apply", "ancient-changes"]
STEPS = 16


def change(value, rng, depth=0):
    """A copy in which something is different: a member left out, a text changed, a list turned around."""
    if isinstance(value, dict):
        out = {}
        for key, inner in value.items():
            if depth and rng.random() < 0.06:
                if rng.random() < 0.15:
                    out[key] = rng.choice([None, {}, [], "", 0])
                continue
            identity = key in ("kind", "apiVersion", "managedFields") or (depth == 1 and key in ("name", "namespace"))
            out[key] = inner if identity else change(inner, rng, depth + 1)
        return out
    if isinstance(value, list):
        out = [change(inner, rng, depth + 1) for inner in value if rng.random() > 0.05]
        if out and rng.random() < 0.06:
            out.append(copy.deepcopy(rng.choice(out)))
        if rng.random() < 0.1:
            rng.shuffle(out)
        return out
    if rng.random() < 0.04:
        if isinstance(value, bool):
            return not value
        return value + 1 if isinstance(value, int) else value + "x" if isinstance(value, str) else value
    if rng.random() < 0.0004:
        return rng.choice([1, "x", True, 1.5, ["x"], {"bogus": 1}])
    return value


def without_times(entries):
    return [{k: v for k, v in entry.items() if k != "time"} for entry in entries or []]


class Recorder:
    def __init__(self, server, out):
        self.server, self.out, self.n = server, out, 0

    def row(self, op, kind, live, sent, manager, force, sub, reset, status, answer, defaults=False):
        if any(entry["manager"] not in MANAGERS + SERVERS_OWN for entry in answer["metadata"].get("managedFields", [])):
            return  # a controller of the server came in between
        row = {"op": op, "apiVersion": kind[1], "kind": kind[2], "manager": manager, "input": json.dumps(sent)}
        row.update({"force": True} if force else {})
        row.update({"defaults": True} if defaults else {})
        row.update({"subresource": sub} if sub else {})
        row.update({"resetFields": reset} if reset else {})
        row.update({"live": json.dumps(live)} if live else {})
        if status < 300:
            row["managedFields"] = json.dumps(without_times(answer["metadata"].get("managedFields")))
            row.update({"spec": json.dumps(answer["spec"])} if op == "apply" and kind[2] in WHOLE else {})
        else:
            row.update({"code": status, "error": answer["message"]})
            row["causes"] = (answer.get("details") or {}).get("causes") or []
        self.out.write(json.dumps(row) + "\n")
        self.n += 1

    def ask(self, method, path, body, media, manager, force):
        query = {"fieldManager": manager, **({"force": "true"} if force else {})}
        return self.server.request(method, path + "?" + urllib.parse.urlencode(query), body, media)

    def live(self, path):
        status, answer = self.server.request("GET", path)
        return answer if status == 200 else None

    def apply(self, kind, path, body, manager, force, sub, reset):
        before = self.live(path)
        status, answer = self.ask("PATCH", path + ("/" + sub if sub else ""), body, APPLY, manager, force)
        if status < 300 or answer["message"].startswith(REFUSALS):
            self.row("apply", kind, before, body, manager, force, sub, reset, status, answer)

    def create(self, kind, path, body, manager):
        status, answer = self.ask("POST", kind[0], body, "application/json", manager, False)
        if status == 201:
            whole = kind[2] not in ALLOCATED
            sent = defaulted(body, answer, "") if whole else body
            self.row("update", kind, None, sent, manager, False, "", kind[4], status, answer, not whole)

    def put(self, kind, path, body, manager, sub, reset):
        before = self.live(path)
        body["metadata"].pop("resourceVersion", None)
        status, answer = self.ask("PUT", path + ("/" + sub if sub else ""), body, "application/json", manager, False)
        if status == 200:
            self.row("update", kind, before, defaulted(body, answer, sub), manager, False, sub, reset, status, answer)

    def patch(self, kind, path, body, manager):
        before = self.live(path)
        status, answer = self.ask("PATCH", path, body, MERGE, manager, False)
        if status == 200:
            result = copy.deepcopy(answer)
            result["metadata"]["managedFields"] = before["metadata"].get("managedFields", [])
            self.row("update", kind, before, result, manager, False, "", kind[4], status, answer)


def defaulted(body, answer, sub):
    """The server's rules change metadata and status, or all but the status. Owners that are there twice are one."""
    rest = ("status",) if sub else [key for key in answer if key not in ("metadata", "status", "kind", "apiVersion")]
    sent = {**body, **{key: answer[key] for key in rest if key in answer}}
    if "ownerReferences" in body["metadata"] and not sub:
        sent["metadata"] = {**body["metadata"], "ownerReferences": answer["metadata"].get("ownerReferences", [])}
    return sent


def managed_as_clients_do(body, rng):
    """Most send them back, some drop them, few ask for a new start."""
    if rng.random() < 0.2:
        body["metadata"].pop("managedFields", None)
    elif rng.random() < 0.05:
        body["metadata"]["managedFields"] = rng.choice([[], [{}]])


def with_env(base, names):
    body = copy.deepcopy(base)
    body["spec"]["template"]["spec"]["containers"] = [{"name": "c", "image": "i", "env": [
        {"name": name, "value": str(number)} for number, name in enumerate(names)]}]
    return body


def doubles(recorder, kind, path, base):
    """Elements that are there twice, and the order of those that both sides have."""
    recorder.create(kind, path, with_env(base, "AABC"), "a")
    for names in ["AABC", "AAABC", "ABC", "AABBC", "CBA", "AAB", "A"]:
        live = recorder.live(path)
        recorder.put(kind, path, with_env(live, names), "b", "", kind[4])
        for applied in ["A", "CA", "XBYAZ", "AX"]:
            recorder.apply(kind, path, with_env(base, applied), "kubectl-edit", True, "", kind[4])


def step(recorder, kind, path, base, rng):
    manager, force = rng.choice(MANAGERS), rng.random() < 0.4
    live = recorder.live(path)
    what = rng.random()
    subs = list(kind[5])
    if live is None or what < 0.5:
        recorder.apply(kind, path, change(base, rng), manager, force, "", kind[4])
    elif what < 0.65:
        body = change(live, rng)
        managed_as_clients_do(body, rng)
        recorder.put(kind, path, body, manager, "", kind[4])
    elif what < 0.75:
        recorder.patch(kind, path, {"metadata": {"labels": {rng.choice("xyz"): rng.choice(["1", "2", None])},
                                                 "annotations": {"a": rng.choice(["1", "2", None])}}}, manager)
    elif subs:
        sub = subs[0]
        reset, status = kind[5][sub]
        if rng.random() < 0.6:
            body = {"apiVersion": kind[1], "kind": kind[2], "metadata": {"name": base["metadata"]["name"]}, "status": change(status, rng)}
            recorder.apply(kind, path, body, manager, force, sub, reset)
        else:
            recorder.put(kind, path, {**live, "status": change(status, rng)}, manager, sub, reset)


def main():
    port, token, seed = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["1"])[0])
    rng = random.Random(seed)
    server = api.Api(int(port), None, token)
    with gzip.GzipFile(GOLDEN, "wb", mtime=0) as packed:
        out = io.TextIOWrapper(packed)
        recorder = Recorder(server, out)
        for number, kind in enumerate(apply_objects.KINDS):
            for turn in range(3):
                base = copy.deepcopy(kind[3])
                base.update({"apiVersion": kind[1], "kind": kind[2]})
                if base["metadata"]["name"] == "NAME":
                    base["metadata"]["name"] = "s%d-%d-%d" % (seed, number, turn)
                path = kind[0] + "/" + base["metadata"]["name"]
                if turn % 2 == 0:
                    recorder.create(kind, path, base, rng.choice(MANAGERS))
                for _ in range(STEPS):
                    step(recorder, kind, path, base, rng)
                server.request("DELETE", path)
                server.request("PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
        kind = apply_objects.KINDS[2]
        base = {**copy.deepcopy(kind[3]), "apiVersion": kind[1], "kind": kind[2]}
        base["metadata"]["name"] = "doubles"
        doubles(recorder, kind, kind[0] + "/doubles", base)
        server.request("DELETE", kind[0] + "/doubles")
        server.request("PATCH", kind[0] + "/doubles", {"metadata": {"finalizers": None}}, MERGE)
        out.flush()
    print("%d rows" % recorder.n)


if __name__ == "__main__":
    main()
