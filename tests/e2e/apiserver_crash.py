#!/usr/bin/env python3
"""apiserver_crash.py BERTH - SIGKILL at random moments under load, and what clients were told must still be true.

Writers know of every key of their own what was acknowledged, and what was asked without an answer. After each kill every
key must be exactly as acknowledged, to the byte, or, where an answer is missing, as before or as asked. Counters are shared:
each acknowledged increment is in them. Watchers go on from the last version they saw: no gap, no double, no step back.

CRASH_KILLS (18) and CRASH_SEED (by chance, printed) say how often and which. Moments and requests follow from the seed; how
far a request came when the process was killed does not. A second, shorter run lets the server answer writes of Leases before they are
on disk: nothing else may be lost then, either, and who watched too far is told to begin again."""
import hashlib
import os
import random
import subprocess
import sys
import threading
import time

import api_world
from api_world import APPLY, JSON_PATCH, MERGE, STRATEGIC, Client, NotSent, Server, Unknown, Watch, check, configmap, version_of

KILLS = int(os.environ.get("CRASH_KILLS") or 18)
RELAXED_KILLS = max(6, KILLS // 4)
SEED = int(os.environ.get("CRASH_SEED") or random.randrange(1 << 31))
WRITERS, KEYS, COUNTERS = 5, 6, 3
NAMESPACES = ("crash-a", "crash-b")
LARGEST = 20000  # bytes of a value


def payload(number, size):
    """Data that tells by itself whether it is whole."""
    text = (hashlib.sha256(b"%d" % number).hexdigest() * (size // 64 + 1))[:size]
    return {"n": str(number), "text": text, "sum": hashlib.sha256(("%d %s" % (number, text)).encode()).hexdigest()}


def is_whole(data):
    return data.get("sum") == hashlib.sha256(("%s %s" % (data.get("n"), data.get("text"))).encode()).hexdigest()


class Truth:
    """What all clients together know of versions."""

    def __init__(self):
        self.lock, self.newest = threading.Lock(), 0
        self.acknowledged = set()
        self.n_acknowledged = self.n_unknown = self.n_deleted = 0

    def before(self):
        with self.lock:
            return self.newest

    def saw(self, version):
        with self.lock:
            self.newest = max(self.newest, version)

    def done(self, version, before, is_write):
        check(version > before if is_write else version >= before, "versions only grow", (version, before))
        with self.lock:
            self.newest = max(self.newest, version)
            self.n_acknowledged += 1
            if is_write:
                self.acknowledged.add(version)


class Key:
    """One object with one writer. `known` is what was acknowledged: an object, or None when there is none. `asked` is a
    data, or None for a deletion, of a request without an answer."""

    def __init__(self, namespace, name):
        self.namespace, self.name = namespace, name
        self.known, self.asked, self.is_open = None, None, False
        self.collection = "/api/v1/namespaces/%s/configmaps" % namespace
        self.path = self.collection + "/" + name

    def verify(self, client, truth):
        """After a kill."""
        code, found = client.get(self.path)
        found = found if code == 200 else None
        check(code in (200, 404), "a read", found)
        if found == self.known:
            self.is_open = False
            return
        if not check(self.is_open, "acknowledged and gone: " + self.path, (self.known, found)):
            self.known = found
            return
        fits = found is None if self.asked is None else bool(found) and found["data"] == self.asked
        check(fits, "neither as before nor as asked: " + self.path, (self.known, self.asked, found))
        if found:
            check(is_whole(found["data"]), "torn: " + self.path, found)
            check(not self.known or version_of(found) > version_of(self.known), "a later version: " + self.path)
            truth.saw(version_of(found))
        self.known, self.is_open = found, False


class Writer(threading.Thread):
    def __init__(self, number, server, truth, gate):
        super().__init__(daemon=True)
        self.random = random.Random("%d writer %d" % (SEED, number))
        self.server, self.truth, self.gate, self.number = server, truth, gate, number
        self.client = Client(server)
        self.keys = [Key(NAMESPACES[(number + i) % 2], "w%d-%d" % (number, i)) for i in range(KEYS)]
        self.increments, self.maybe = [0] * COUNTERS, [0] * COUNTERS
        self.count = number << 32

    # ---- One request each ----

    def object_for(self, key, data, version=None):
        thing = configmap(key.name, key.namespace, data, {"even": str(int(data["n"]) % 2), "writer": str(self.number)})
        if version:
            thing["metadata"]["resourceVersion"] = version
        return thing

    def change(self, key):
        """(method, path, body, media, data): by a PUT with or without a version, or one of four patches."""
        self.count += 1
        data = payload(self.count, self.random.choice((10, 200, 200, 3000, LARGEST)))
        labels = {"even": str(self.count % 2), "writer": str(self.number)}
        how = self.random.randrange(6)
        if how < 2:
            version = key.known["metadata"]["resourceVersion"] if how else None
            return "PUT", key.path, self.object_for(key, data, version), "application/json", data
        if how == 2:
            ops = [{"op": "test", "path": "/metadata/uid", "value": key.known["metadata"]["uid"]},
                   {"op": "replace", "path": "/data", "value": data}, {"op": "replace", "path": "/metadata/labels", "value": labels}]
            return "PATCH", key.path, ops, JSON_PATCH, data
        if how == 3:
            body = self.object_for(key, data)
            return "PATCH", key.path + "?fieldManager=crash&force=true", body, APPLY, data
        return "PATCH", key.path, {"metadata": {"labels": labels}, "data": data}, MERGE if how == 4 else STRATEGIC, data

    def step(self, key):
        before = self.truth.before()
        if key.known is None:
            self.count += 1
            data = payload(self.count, self.random.choice((10, 200, 3000)))
            request = ("POST", key.collection, self.object_for(key, data), "application/json", data)
        elif self.random.random() < 0.2:
            meta = key.known["metadata"]
            only = {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
            request = ("DELETE", key.path, only if self.random.random() < 0.5 else None, "application/json", None)
        else:
            request = self.change(key)
        method, path, body, media, data = request
        key.asked, key.is_open = data, True
        code, answer = self.client.ask(method, path, body, media)
        key.is_open = False
        if not check(code in (200, 201), "%s %s" % (method, path), answer):
            return
        if method == "DELETE":
            with self.truth.lock:
                self.truth.n_deleted += 1
                self.truth.n_acknowledged += 1
            key.known = None
            return
        check(answer["data"] == data, "what was written is answered", answer)
        key.known = answer
        self.truth.done(version_of(answer), before, True)

    def increment(self):
        """A read and a PUT with its version: the one that was faster wins."""
        which = self.random.randrange(COUNTERS)
        path = "/api/v1/namespaces/%s/configmaps/counter-%d" % (NAMESPACES[0], which)
        before = self.truth.before()
        code, there = self.client.get(path)
        if not check(code == 200, "a counter", there):
            return
        there["data"] = dict(there["data"], value=str(int(there["data"]["value"]) + 1))
        self.maybe[which] += 1
        code, answer = self.client.put(path, there)
        self.maybe[which] -= 1
        check(code in (200, 409), "a counter", answer)
        if code == 200:
            self.increments[which] += 1
            self.truth.done(version_of(answer), before, True)

    def read(self):
        """A list that may be old is never older than anything that was seen."""
        before = self.truth.before()
        query = self.random.choice(("", "?resourceVersion=0", "?limit=2", "?labelSelector=even%3D1"))
        code, found = self.client.get("/api/v1/namespaces/%s/configmaps%s" % (self.random.choice(NAMESPACES), query))
        if check(code == 200, "a list", found):
            self.truth.done(version_of(found), before, False)

    # ---- Its life ----

    def work(self):
        for key in self.keys:
            key.verify(self.client, self.truth)
        self.gate.arrived()
        while not self.gate.is_over(self.server):
            kind = self.random.random()
            if kind < 0.15:
                self.increment()
            elif kind < 0.25:
                self.read()
            else:
                self.step(self.random.choice(self.keys))

    def run(self):
        while self.gate.wait_turn(self):
            try:
                self.work()
            except NotSent:
                pass
            except Unknown:
                with self.truth.lock:
                    self.truth.n_unknown += 1


class Gate:
    """Rounds: all writers work, the server is killed, all writers stop, it is started again."""

    def __init__(self):
        self.condition = threading.Condition()
        self.round, self.running, self.n_arrived, self.over, self.done = 0, 0, 0, True, False
        self.seen = {}

    def wait_turn(self, writer):
        with self.condition:
            if writer in self.seen:
                self.running -= 1
                self.condition.notify_all()
            self.condition.wait_for(lambda: self.done or self.round > self.seen.get(writer, 0))
            self.seen[writer] = self.round
            return not self.done

    def begin(self, n):
        with self.condition:
            self.round += 1
            self.running, self.n_arrived, self.over = n, 0, False
            self.condition.notify_all()

    def arrived(self):
        with self.condition:
            self.n_arrived += 1
            self.condition.notify_all()

    def wait_arrived(self, n):
        with self.condition:
            return self.condition.wait_for(lambda: self.n_arrived >= n or self.running == 0, api_world.LIMIT)

    def is_over(self, server):
        return self.over or not server.is_alive()

    def stop(self):
        self.over = True

    def wait_stopped(self):
        with self.condition:
            return self.condition.wait_for(lambda: self.running == 0, api_world.LIMIT)

    def finish(self):
        with self.condition:
            self.done = True
            self.condition.notify_all()


def items_of(found):
    """By name, as watches tell of them."""
    return {o["metadata"]["name"]: dict(o, kind="ConfigMap", apiVersion="v1") for o in found["items"]}


class Watcher(threading.Thread):
    """Keeps a copy of the objects from what it is told, over all lives of the server."""

    def __init__(self, server, namespace, selector):
        super().__init__(daemon=True)
        self.server, self.selector, self.stopping = server, selector, False
        self.path = "/api/v1/namespaces/%s/configmaps" % namespace
        self.copy, self.version, self.versions, self.n_relists, self.n_events, self.n_resumed = {}, 0, set(), 0, 0, 0
        self.watch = None

    def relist(self):
        code, found = Client(self.server).get(self.path + "?labelSelector=" + self.selector)
        assert code == 200, found
        self.copy = items_of(found)
        check(version_of(found) >= self.version, "a list goes back", (version_of(found), self.version))
        self.version = version_of(found)

    def take(self, event):
        kind, thing = event["type"], event["object"]
        if kind == "ERROR":
            check(thing["code"] == 410, "an error", thing)
            self.n_relists += 1
            self.version, self.copy = 0, None
            return
        version = version_of(thing)
        if kind == "BOOKMARK":
            check(version >= self.version, "a bookmark goes back", (version, self.version))
            self.version = version
            return
        name, known = thing["metadata"]["name"], None
        known = self.copy.get(name)
        check(version > self.version, "versions of events grow", (kind, version, self.version))
        check((kind == "ADDED") == (known is None), "%s of what is %sthere" % (kind, "" if known else "not "), thing)
        if "sum" in thing["data"]:
            check(is_whole(thing["data"]), "a torn event", thing)
        self.version = version
        self.versions.add(version)
        self.n_events += 1
        if kind == "DELETED":
            self.copy.pop(name, None)
        else:
            self.copy[name] = thing

    def follow(self):
        resumes = bool(self.version)
        if not resumes:
            self.relist()
        self.watch = Watch(self.server, "%s?watch=true&allowWatchBookmarks=true&resourceVersion=%d&labelSelector=%s"
                           % (self.path, self.version, self.selector))
        check(self.watch.code == 200, "a watch", self.watch.code)
        self.n_resumed += resumes
        taken = 0
        while not self.stopping:
            self.watch.wait(lambda events: len(events) > taken, 0.5)
            ended = self.watch.ended.is_set()
            for event in self.watch.events[taken:]:
                taken += 1
                self.take(event)
            if ended or not self.version:
                return

    def run(self):
        while not self.stopping:
            try:
                self.follow()
            except Exception as e:  # whatever a killed server makes of a connection
                if self.server.is_alive() and not isinstance(e, (NotSent, Unknown, OSError)) and "http.client" not in repr(type(e)):
                    check(False, "a watcher", repr(e))
            time.sleep(0.01)

    def final_check(self, client):
        code, found = client.get(self.path + "?labelSelector=" + self.selector)
        check(code == 200, "the last list", found)
        good = api_world.eventually(lambda: self.copy == items_of(found), 20)
        check(good, "a watcher's copy is what is there: %s %s" % (self.path, self.selector),
              (sorted(self.copy), sorted(o["metadata"]["name"] for o in found["items"])))


def make_world(client):
    for namespace in NAMESPACES:
        check(client.post("/api/v1/namespaces", {"metadata": {"name": namespace}})[0] == 201, "a namespace")
    for i in range(COUNTERS):
        counter = configmap("counter-%d" % i, NAMESPACES[0], {"value": "0"}, {"even": "1"})
        check(client.post("/api/v1/namespaces/%s/configmaps" % NAMESPACES[0], counter)[0] == 201, "a counter")


def start_again(server, chance):
    """Sometimes it is killed while it starts."""
    while chance.random() < 0.15:
        server.spawn()
        time.sleep(chance.random() * 0.15)
        server.kill()
    server.start()


def verify_store(server):
    done = subprocess.run([server.berth, "store", "verify", server.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, "berth store verify", done.stderr)


def check_counters(client, writers):
    for i in range(COUNTERS):
        value = int(client.get("/api/v1/namespaces/%s/configmaps/counter-%d" % (NAMESPACES[0], i))[1]["data"]["value"])
        sure, maybe = sum(w.increments[i] for w in writers), sum(w.maybe[i] for w in writers)
        check(sure <= value <= sure + maybe, "counter %d" % i, (sure, value, maybe))


def renew_leases(server, stop):
    """Writes that may be answered early, all the time: revisions that a crash may lose."""
    client, path = Client(server), "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    while not stop.is_set():
        try:
            code, answer = client.post(path, {"metadata": {"generateName": "l-"}})
            if check(code == 201, "a Lease", answer):
                client.delete(path + "/" + answer["metadata"]["name"])
        except (NotSent, Unknown):
            time.sleep(0.01)


def crash(kills, relaxed):
    chance = random.Random("%d kills" % SEED)
    with Server(sys.argv[1], flags=["--relaxed-durability"] if relaxed else []) as server:
        make_world(Client(server))
        stop = threading.Event()
        if relaxed:
            threading.Thread(target=renew_leases, args=(server, stop), daemon=True).start()
        truth, gate = Truth(), Gate()
        writers = [Writer(i, server, truth, gate) for i in range(WRITERS)]
        watchers = [Watcher(server, NAMESPACES[0], ""), Watcher(server, NAMESPACES[1], ""), Watcher(server, NAMESPACES[0], "even%3D1")]
        for thread in writers + watchers:
            thread.start()
        for k in range(kills):
            gate.begin(WRITERS)
            if chance.random() < 0.9:
                gate.wait_arrived(WRITERS)  # otherwise they are still looking at what is there
            time.sleep(0.03 + chance.random() * 0.3)
            server.kill()
            gate.stop()
            check(gate.wait_stopped(), "writers stop")
            if k % 10 == 9:
                verify_store(server)
            start_again(server, chance)
        for writer in writers:
            for key in writer.keys:
                key.verify(writer.client, truth)
        check_counters(Client(server), writers)
        client = Client(server)
        for watcher in watchers:
            watcher.final_check(client)
        seen = watchers[0].versions | watchers[1].versions
        if not any(w.n_relists for w in watchers):
            missing = sorted(truth.acknowledged - seen)
            check(not missing, "every acknowledged write was told to a watcher", missing[:20])
        check(version_of(client.get("/api/v1/configmaps?resourceVersion=0")[1]) >= truth.newest, "the last list")
        check(relaxed or not any(w.n_relists for w in watchers), "no watcher had to begin again", [w.n_relists for w in watchers])
        gate.finish()
        stop.set()
        for watcher in watchers:
            watcher.stopping = True
        print("%d acknowledged, %d without an answer, %d events in %d resumed watches, %d relists" %
              (truth.n_acknowledged, truth.n_unknown, sum(w.n_events for w in watchers), sum(w.n_resumed for w in watchers),
               sum(w.n_relists for w in watchers)), flush=True)
        check(truth.n_acknowledged > 10 * kills, "there was load")
        server.kill()
        verify_store(server)


def main():
    print("seed %d, %d kills" % (SEED, KILLS), flush=True)
    crash(KILLS, relaxed=False)
    crash(RELAXED_KILLS, relaxed=True)
    api_world.finish()


main()
