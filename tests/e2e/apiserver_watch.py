#!/usr/bin/env python3
"""apiserver_watch.py BERTH - what watches promise: every event once and in order, or 410; bookmarks that are never ahead; initial events;
transitions of selectors; resuming across restarts; and one who does not read holds up nobody."""
import http.client
import json
import os
import random
import re
import selectors
import signal
import socket
import sys
import threading
import time

import api_world
from api_world import TOKEN, TRUST, Client, Server, Watch, check, configmap, eventually, version_of

SLOWDOWN = int(os.environ.get("TEST_SLOWDOWN") or 1)
BERTH = sys.argv[1]
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
SEED = 11


def shown(event):
    """(type, name, version) of an event."""
    return event["type"], event["object"]["metadata"].get("name"), version_of(event["object"])


def is_bookmark(event):
    return event["type"] == "BOOKMARK"


def events_of(server, query, until, path=CONFIGMAPS):
    """A watch's events, when the condition holds for them."""
    watch = Watch(server, path + "?watch=true&" + query)
    good = watch.wait(until)
    watch.close()
    check(good, "events of " + query, [shown(e) for e in watch.events[-5:] if e["type"] != "ERROR"] or watch.events[-2:])
    return watch.events


def write_some(server, seed, n, names):
    client, chance, alive = Client(server), random.Random(seed), set()
    for i in range(n):
        name = chance.choice(names)
        if name in alive and chance.random() < 0.3:
            code, answer = client.delete(CONFIGMAPS + "/" + name)
            alive.discard(name)
        else:
            thing = configmap(name, data={"i": str(i), "x": "y" * chance.choice((1, 100, 5000))}, labels={"odd": str(i % 2), "seed": seed})
            code, answer = client.put(CONFIGMAPS + "/" + name, thing) if name in alive else client.post(CONFIGMAPS, thing)
            alive.add(name)
        check(code in (200, 201), "a write", answer)


def last_version(server):
    return version_of(Client(server).get(CONFIGMAPS)[1])


# ---- Once and in order ----

def follow(log, selects, state):
    """What a selector makes of a log of everything, by the rules: transitions are additions and deletions."""
    told = []
    for event in log:
        kind, name, version = shown(event)
        was = name in state
        if kind != "DELETED" and selects(event["object"]):
            told.append(("MODIFIED" if was else "ADDED", name, version))
            state[name] = event["object"]
        elif was:
            told.append(("DELETED", name, version))
            del state[name]
    return told


def once_and_in_order(server):
    start = last_version(server)
    live = [Watch(server, "%s?watch=true&resourceVersion=%d%s" % (CONFIGMAPS, start, q)) for q in ("", "", "&labelSelector=odd%3D1")]
    writers = [threading.Thread(target=write_some, args=(server, "s%d" % k, 120, ["w%d-%d" % (k, i) for i in range(8)])) for k in range(3)]
    for w in writers:
        w.start()
    time.sleep(0.2)
    live.append(Watch(server, "%s?watch=true&resourceVersion=%d" % (CONFIGMAPS, start)))  # one that comes late
    for w in writers:
        w.join()
    end = version_of(Client(server).post(CONFIGMAPS, configmap("last", labels={"odd": "1"}))[1])
    for w in live:
        check(w.wait(lambda es: es and version_of(es[-1]["object"]) >= end), "all events arrive")
        w.close()
    log = live[0].events
    versions = [version_of(e["object"]) for e in log]
    check(all(a < b for a, b in zip(versions, versions[1:])), "in order, none twice")
    check([shown(e) for e in live[1].events] == [shown(e) for e in log], "all watchers see the same")
    check(live[3].events == log, "who comes late as well")
    state, alive = {}, {}
    check([shown(e) for e in live[2].events] == follow(log, lambda o: o["metadata"].get("labels", {}).get("odd") == "1", state),
          "a selector's transitions")
    for event in log:
        kind, name, version = shown(event)
        check((kind == "ADDED") == (name not in alive), "%s %s" % (kind, name))
        if kind == "DELETED":
            before = alive.pop(name)
            check(event["object"]["data"] == before["data"], "a deletion shows the last state")
        else:
            alive[name] = event["object"]
    listed = {o["metadata"]["name"]: o["metadata"]["resourceVersion"] for o in Client(server).get(CONFIGMAPS)[1]["items"]}
    check({n: o["metadata"]["resourceVersion"] for n, o in alive.items()} == {n: v for n, v in listed.items() if n in alive}, "the sum is the list")
    for at in random.Random(SEED).sample(range(len(log) - 1), 12):  # from anywhere
        rest = events_of(server, "resourceVersion=%d" % versions[at], lambda es, at=at: len(es) >= len(log) - at - 1)
        check(rest == log[at + 1:], "resumed after event %d" % at, (len(rest), len(log) - at - 1))


def transitions(server):
    """Leaving a selector is a deletion that shows the state before, with the version of the change."""
    client = Client(server)
    start = last_version(server)
    path = CONFIGMAPS + "/moves"
    made = client.post(CONFIGMAPS, configmap("moves", data={"v": "1"}, labels={"in": "no"}))[1]
    came = client.patch(path, {"metadata": {"labels": {"in": "yes"}}, "data": {"v": "2"}})[1]
    stayed = client.patch(path, {"data": {"v": "3"}})[1]
    left = client.patch(path, {"metadata": {"labels": {"in": "no"}}, "data": {"v": "4"}})[1]
    client.patch(path, {"data": {"v": "5"}})
    back = client.patch(path, {"metadata": {"labels": {"in": "yes"}}})[1]
    client.delete(path)
    events = events_of(server, "resourceVersion=%d&labelSelector=in%%3Dyes" % start, lambda es: len(es) >= 5)
    check([e["type"] for e in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"], "kinds", [shown(e) for e in events])
    check([e["object"]["data"]["v"] for e in events] == ["2", "3", "3", "5", "5"], "states", [shown(e) for e in events])
    check([version_of(e["object"]) for e in events[:4]] == [version_of(o) for o in (came, stayed, left, back)], "versions", made)
    check(version_of(events[4]["object"]) > version_of(back), "a deletion has a version of its own")
    eventually(lambda: client.get("/api/v1/namespaces/default/serviceaccounts/default")[0] == 200)
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    start = version_of(client.get(PODS)[1])
    check(client.post(PODS, pod)[0] == 201, "a pod")
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}
    check(client.post(PODS + "/p/binding", binding)[0] == 201, "bound")
    mine = events_of(server, "resourceVersion=%d&fieldSelector=spec.nodeName%%3Dn1" % start, lambda es: len(es) >= 1, PODS)
    waiting = events_of(server, "resourceVersion=%d&fieldSelector=spec.nodeName%%3D" % start, lambda es: len(es) >= 2, PODS)
    check([e["type"] for e in mine] == ["ADDED"] and mine[0]["object"]["spec"]["nodeName"] == "n1", "a pod comes to its node")
    check([e["type"] for e in waiting] == ["ADDED", "DELETED"] and "nodeName" not in waiting[1]["object"]["spec"], "and leaves the others")
    client.delete(PODS + "/p", {"gracePeriodSeconds": 0})


# ---- Bookmarks, initial events ----

def bookmarks(server):
    """Never ahead of what was delivered: everything after one is later, and from there on nothing is missing."""
    start = last_version(server)
    writer = threading.Thread(target=write_some, args=(server, "b", 700, ["b%d" % i for i in range(5)]))
    watches = [Watch(server, "%s?watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%d" % (CONFIGMAPS, s, start))
               for s in (3, 4, 4, 5)]
    silent = Watch(server, "/api/v1/namespaces/default/secrets?watch=true&allowWatchBookmarks=true&timeoutSeconds=4&resourceVersion=%d" % start)
    without = Watch(server, "%s?watch=true&timeoutSeconds=4&resourceVersion=%d" % (CONFIGMAPS, start))
    writer.start()
    for w in (*watches, silent, without):
        check(w.ended.wait(api_world.LIMIT) and not w.error, "a watch ends by itself", w.error)
    writer.join()
    log = events_of(server, "resourceVersion=%d" % start, lambda es: len(es) >= 700)
    for w in watches:
        marks = [i for i, e in enumerate(w.events) if is_bookmark(e)]
        check(marks, "there is a bookmark before the end")
        for i in marks:
            mark = version_of(w.events[i]["object"])
            check(w.events[i]["object"]["kind"] == "ConfigMap" and "annotations" not in w.events[i]["object"]["metadata"], "its form", w.events[i])
            check(all(version_of(e["object"]) <= mark for e in w.events[:i]), "not behind what was delivered")
            check(all(version_of(e["object"]) > mark for e in w.events[i + 1:]), "not ahead of what comes")
            seen = [e for e in w.events[:i] if not is_bookmark(e)]
            check(seen == [e for e in log if version_of(e["object"]) <= mark], "all up to it was delivered", (len(seen), mark))
    check(any(is_bookmark(e) and version_of(e["object"]) > start for e in silent.events) and len(silent.events) <= 2, "also where nothing happens",
          silent.events)
    check(not any(map(is_bookmark, without.events)), "only who asks gets them")


def initial_events(server):
    client = Client(server)
    items = client.get(CONFIGMAPS)[1]
    names = [o["metadata"]["name"] for o in items["items"]]
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    events = events_of(server, query, lambda es: any(map(is_bookmark, es)))
    check([shown(e)[:2] for e in events[:-1]] == [("ADDED", n) for n in names], "everything, in order of a list")
    end = events[-1]["object"]["metadata"]
    check(end["annotations"] == {"k8s.io/initial-events-end": "true"} and version_of(events[-1]["object"]) >= version_of(items), "then the bookmark", end)
    watch = Watch(server, CONFIGMAPS + "?watch=true&labelSelector=odd%3D1&" + query)
    check(watch.wait(lambda es: any(map(is_bookmark, es))), "with a selector")
    made = client.post(CONFIGMAPS, configmap("fresh", labels={"odd": "1"}))[1]
    check(watch.wait(lambda es: not is_bookmark(es[-1])), "and then what comes")
    check(shown(watch.events[-1]) == ("ADDED", "fresh", version_of(made)), "which is next", shown(watch.events[-1]))
    watch.close()
    client.delete(CONFIGMAPS + "/fresh")
    silent = Watch(server, CONFIGMAPS + "?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1")
    silent.ended.wait(api_world.LIMIT)
    check(silent.code == 200 and not silent.events, "none, when none are wanted", silent.events[:2])
    without = events_of(server, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1", lambda es: len(es) >= len(names))
    check(not any(map(is_bookmark, without)), "no bookmark without leave")
    old = events_of(server, "resourceVersion=0", lambda es: len(es) >= len(names))
    check([shown(e)[:2] for e in old] == [("ADDED", n) for n in names], "the old way: version 0")
    far = version_of(client.get(CONFIGMAPS)[1]) + 100000
    refused = [("sendInitialEvents=true", 422, "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
               ("sendInitialEvents=true&resourceVersionMatch=Exact", 422, "resourceVersionMatch"),
               ("resourceVersionMatch=NotOlderThan&resourceVersion=1", 422, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
               (query + "&resourceVersion=%d" % far, 200, "Too large resource version: %d" % far),  # an event, as upstream
               ("resourceVersion=abc", 400, "Invalid value")]
    for q, code, words in refused:
        got, answer = client.get(CONFIGMAPS + "?watch=true&" + q)
        check(got == code or (code == 400 and got == 500), q, (got, answer))
        check(words in str(answer), q, answer)


# ---- Old versions ----

def make_history_old(client, megabytes):
    text = "x" * 900000
    for i in range(int(megabytes / 0.9) + 1):
        code, answer = client.put(CONFIGMAPS + "/bulk", configmap("bulk", data={"i": str(i), "x": text}))
        check(code == 200, "a large write", answer)


def old_versions():
    """The log is bounded: who asks for what is older is told so, at once or when it was overtaken; never a gap."""
    with Server(BERTH, memory=True) as server:
        client = Client(server)
        for i in range(5):
            client.post(CONFIGMAPS, configmap("c%d" % i))
        client.post(CONFIGMAPS, configmap("bulk"))
        start = last_version(server)
        page = client.get(CONFIGMAPS + "?limit=2")[1]
        stalled = Stalled(server, "%s?watch=true&resourceVersion=%d" % (CONFIGMAPS, start))
        live = Watch(server, "/api/v1/namespaces/default/secrets?watch=true&resourceVersion=%d" % start)
        make_history_old(client, 170)
        check(server.rss_kib() < 700 * 1024, "what is old is forgotten", server.rss_kib())
        events = events_of(server, "resourceVersion=%d" % start, lambda es: len(es) >= 1)
        status = events[0]["object"]
        check(events[0]["type"] == "ERROR" and len(events) == 1 and status["code"] == 410 and status["reason"] == "Expired", "a watch: 410", events[:1])
        check(re.fullmatch(r"too old resource version: %d \(\d+\)" % start, status["message"]), "its words", status)
        for query in ("?resourceVersion=%d&resourceVersionMatch=Exact" % start, "?limit=2&continue=" + page["metadata"]["continue"]):
            code, answer = client.get(CONFIGMAPS + query)
            check(code == 410 and answer["reason"] == "Expired", "a list: 410", answer)
        code, rest = client.get(CONFIGMAPS + "?limit=2&continue=" + answer["metadata"]["continue"])
        check(code == 200 and rest["items"][0]["metadata"]["name"] > page["items"][-1]["metadata"]["name"], "it may go on with what is there now", rest)
        versions, error = stalled.read_all()
        check(versions == sorted(set(versions)) and versions[0] > start, "one that stood still: in order")
        check(len(versions) < 180 and (stalled.is_cut if error is None else error["code"] == 410), "until it is told that it was overtaken", (len(versions), error))
        made = client.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}})[1]
        check(live.wait(lambda es: es), "who was not behind goes on")
        check(shown(live.events[0]) == ("ADDED", "s", version_of(made)), "without an error", live.events[:1])
        live.close()


def far_behind(n=4800):
    """More events than a watcher takes in one go, most of them not for it; others begin meanwhile."""
    with Server(BERTH, memory=True) as server:
        start = last_version(server)

        def write(k):
            client, path = Client(server), "%s/far-%d" % (CONFIGMAPS, k)
            client.post(CONFIGMAPS, configmap("far-%d" % k, labels={"rare": "no"}))
            for i in range(n // 4 - 1):
                client.put(path, configmap("far-%d" % k, data={"i": str(i)}, labels={"rare": "yes" if i % 500 == 499 else "no"}))
        writers = [threading.Thread(target=write, args=(k,)) for k in range(4)]
        for w in writers:
            w.start()
        for w in writers:
            w.join()
        last = version_of(Client(server).post(CONFIGMAPS, configmap("end", labels={"rare": "yes"}))[1])
        watches = [Watch(server, "%s?watch=true&resourceVersion=%d%s" % (CONFIGMAPS, start, q)) for q in ("", "&labelSelector=rare%3Dyes") * 4]
        newest = version_of(Client(server).post(CONFIGMAPS, configmap("newest", labels={"rare": "yes"}))[1])
        for w in watches:
            check(w.wait(lambda es: es and version_of(es[-1]["object"]) == newest), "one that is far behind comes up")
            w.close()
        log = watches[0].events
        versions = [version_of(e["object"]) for e in log]
        check(len(log) == n + 2 and versions == sorted(set(versions)) and versions[-2:] == [last, newest], "all events, in order", len(log))
        told = follow(log, lambda o: o["metadata"]["labels"]["rare"] == "yes", {})
        check(all([shown(e) for e in w.events] == told for w in watches[1::2]), "and those of a selector", len(told))


def across_restarts(server):
    client, last = Client(server), 0
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        start = last_version(server)
        check(start >= last, "versions do not go back")
        made = [version_of(client.post(CONFIGMAPS, configmap("r%d-%d" % (number, i)))[1]) for i in range(4)]
        watch = Watch(server, "%s?watch=true&resourceVersion=%d" % (CONFIGMAPS, start))
        watch.wait(lambda es: len(es) >= 2)
        server.kill(number)
        watch.ended.wait(api_world.LIMIT)
        seen = [version_of(e["object"]) for e in watch.events]
        server.start()
        for query in ("", "?resourceVersion=0", "?resourceVersion=%d" % made[-1]):
            last = version_of(client.get(CONFIGMAPS + query)[1])
            check(last >= made[-1], "a list after a restart", (query, last, made))
        rest = events_of(server, "resourceVersion=%d" % seen[-1], lambda es: version_of(es[-1]["object"]) >= made[-1] if es else seen[-1] >= made[-1])
        check(seen + [version_of(e["object"]) for e in rest] == made, "one half before, the other after", (seen, made))
        whole = client.get("%s?resourceVersion=%d&resourceVersionMatch=Exact" % (CONFIGMAPS, start))
        check(whole[0] == 200 and not any(o["metadata"]["name"].startswith("r%d-" % number) for o in whole[1]["items"]), "the past is still there")


def ahead_of_time(server):
    """From a version that is still to come: nothing before it is told (etcd 20221)."""
    client = Client(server)
    now = last_version(server)
    watch = Watch(server, "%s?watch=true&resourceVersion=%d" % (CONFIGMAPS, now + 3))
    made = [version_of(client.post(CONFIGMAPS, configmap("ahead%d" % i))[1]) for i in range(6)]
    check(watch.wait(lambda es: len(es) >= 3), "what comes after it")
    check([version_of(e["object"]) for e in watch.events] == [v for v in made if v > now + 3], "and nothing else", (now, made))
    watch.close()
    for i in range(6):
        client.delete(CONFIGMAPS + "/ahead%d" % i)


def suspended(server):
    """A process that stood still goes on: no watch is cut, no event lost, and what was written before is read (etcd 20418)."""
    client = Client(server)
    start = last_version(server)
    watch = Watch(server, "%s?watch=true&resourceVersion=%d" % (CONFIGMAPS, start))
    before = version_of(client.post(CONFIGMAPS, configmap("before-pause"))[1])
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(2)
    server.process.send_signal(signal.SIGCONT)
    check(version_of(client.get(CONFIGMAPS + "?resourceVersion=0")[1]) >= before, "nothing is older than before")
    after = version_of(client.post(CONFIGMAPS, configmap("after-pause"))[1])
    check(watch.wait(lambda es: len(es) >= 2), "the watch goes on")
    check([version_of(e["object"]) for e in watch.events] == [before, after], "without a gap", watch.events)
    watch.close()


# ---- Slow ones, and many ----

class Stalled:
    """A watch whose bytes nobody reads, for now."""
    is_cut = False

    def __init__(self, server, path, room=4096):
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        raw.settimeout(api_world.LIMIT)
        raw.connect(("127.0.0.1", server.port))
        self.sock = TRUST.wrap_socket(raw)
        self.sock.sendall(("GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n" % (path, TOKEN)).encode())

    def read_all(self):
        """(versions, the error at the end)"""
        answer = http.client.HTTPResponse(self.sock)
        answer.begin()
        versions, error = [], None
        try:
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    error = event["object"]
                    break
                versions.append(version_of(event["object"]))
        except http.client.IncompleteRead:  # a slow machine's reader stands still for longer than a server waits
            self.is_cut = SLOWDOWN > 1
        self.sock.close()
        return versions, error


def slow_reader(server):
    """All events, in order, at its own pace."""
    client = Client(server)
    start = last_version(server)
    slow = Stalled(server, "%s?watch=true&timeoutSeconds=20&resourceVersion=%d" % (CONFIGMAPS, start))
    client.post(CONFIGMAPS, configmap("slow"))
    made = [version_of(client.put(CONFIGMAPS + "/slow", configmap("slow", data={"i": str(i), "x": "z" * 20000}))[1]) for i in range(200)]
    time.sleep(0.3)
    answer = http.client.HTTPResponse(slow.sock)
    answer.begin()
    versions = []
    while len(versions) < 201:
        versions.append(version_of(json.loads(answer.readline())["object"]))
        time.sleep(0.002)
    check(versions[1:] == made, "a slow reader misses nothing")
    slow.sock.close()
    client.delete(CONFIGMAPS + "/slow")


class Crowd:
    """Many watches, read on one thread; how many events each has got."""

    def __init__(self, server, n, path):
        self.selector, self.counts, self.tails = selectors.DefaultSelector(), [0] * n, [b""] * n
        request = ("GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n" % (path, TOKEN)).encode()
        for i in range(n):
            sock = TRUST.wrap_socket(socket.create_connection(("127.0.0.1", server.port), api_world.LIMIT))
            sock.sendall(request)
            sock.setblocking(False)
            self.selector.register(sock, selectors.EVENT_READ, i)

    def read(self, sock, i):
        try:
            while True:
                data = sock.recv(65536)
                if not data:
                    self.selector.unregister(sock)
                    return
                both = self.tails[i] + data
                self.counts[i] += both.count(b'"type":"')
                self.tails[i] = both[-7:] if b'"type":"' not in both[-7:] else b""
        except (BlockingIOError, __import__("ssl").SSLWantReadError):
            pass

    def wait(self, n_events, seconds):
        """Seconds until everybody has them; None: not in time."""
        began = time.monotonic()
        while min(self.counts) < n_events:
            for key, _ in self.selector.select(0.2):
                self.read(key.fileobj, key.data)
            if time.monotonic() - began > seconds:
                return None
        return time.monotonic() - began

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


def one_stalled_among_many(n=1000, n_events=30):
    with Server(BERTH, memory=True) as server:
        client = Client(server)
        start = last_version(server)
        path = "%s?watch=true&resourceVersion=%d" % (CONFIGMAPS, start)
        stalled = Stalled(server, path)
        crowd = Crowd(server, n - 1, path)
        check(eventually(lambda: server.metric("apiserver_longrunning_requests") >= n, 30), "all are there")
        made, longest = [], 0
        for i in range(n_events):
            thing = configmap("big", data={"i": str(i), "x": "w" * 10000})
            code, answer = client.put(CONFIGMAPS + "/big", thing) if made else client.post(CONFIGMAPS, thing)
            made.append(version_of(answer))
            took = crowd.wait(i + 1, 30)
            if not check(took is not None, "event %d reaches everybody but one" % i, min(crowd.counts)):
                break
            longest = max(longest, took)
        check(set(crowd.counts) == {n_events}, "once each", set(crowd.counts))
        print("%d watchers, one of them stalled: an event of 10 kB reaches the others within %.0f ms" % (n, longest * 1000))
        versions = []
        answer = http.client.HTTPResponse(stalled.sock)
        answer.begin()
        while len(versions) < n_events:
            versions.append(version_of(json.loads(answer.readline())["object"]))
        check(versions == made, "and it gets them when it reads")
        stalled.sock.close()
        crowd.close()
        check(eventually(lambda: server.n_fds() < 60, 30), "all are gone", server.n_fds())


def main():
    with Server(BERTH) as server:
        once_and_in_order(server)
        transitions(server)
        bookmarks(server)
        initial_events(server)
        ahead_of_time(server)
        slow_reader(server)
        suspended(server)
        across_restarts(server)
    old_versions()
    far_behind()
    one_stalled_among_many()
    api_world.finish()


main()
