#!/usr/bin/env python3
"""apiserver_conflicts.py BERTH - many clients change the same things at once: on every path of writing nothing is lost and nothing given out
twice, and who says which version or uid is meant gets that one or a conflict."""
import json
import random
import sys
import threading

import api_world
from api_world import APPLY, JSON_PATCH, LIMIT, MERGE, STRATEGIC, Client, Server, check, configmap, eventually

BERTH = sys.argv[1]
CORE = "/api/v1/namespaces/default/"
APPS = "/apis/apps/v1/namespaces/default/deployments"
CLIENTS = 8


def at_once(server, work, n=CLIENTS):
    """The results of n clients that do it at the same time."""
    results, barrier = [None] * n, threading.Barrier(n)

    def run(i):
        client = Client(server)
        client.get("/version")
        barrier.wait(LIMIT)
        results[i] = work(client, i)
        client.close()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "x"}},
            "spec": dict({"containers": [{"name": "c", "image": "i"}]}, **spec)}


def deployment(name, replicas=1):
    labels = {"app": name}
    return {"metadata": {"name": name}, "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}


# ---- A version that is meant ----

def stale_versions(server):
    """Each of these with the version before the last is a conflict; with the last it is done."""
    client = Client(server)
    client.post(CORE + "configmaps", configmap("c", data={"a": "1"}))
    client.post(CORE + "pods", pod("p"))
    client.post(APPS, deployment("d"))
    paths = {"configmaps/c": CORE + "configmaps/c", "pods/p": CORE + "pods/p", "deployments/d": APPS + "/d"}

    def touch(path):
        before = client.get(path)[1]
        after = client.patch(path, {"metadata": {"annotations": {"t": str(random.random())}}})[1]
        return before["metadata"], after["metadata"]

    def meta(version):
        return {"metadata": {"resourceVersion": version}}
    rows = [
        ("PUT", "configmaps/c", "", lambda v: configmap("c", data={"a": "2"}) | {"metadata": {"name": "c", "resourceVersion": v}}, "application/json"),
        ("PUT", "pods/p", "/status", lambda v: pod("p") | {"metadata": {"name": "p", "resourceVersion": v}, "status": {"message": "m" + v}}, "application/json"),
        ("PUT", "deployments/d", "/scale", lambda v: {"metadata": {"name": "d", "resourceVersion": v}, "spec": {"replicas": 3}}, "application/json"),
        ("PUT", "deployments/d", "/status", lambda v: deployment("d") | {"metadata": {"name": "d", "resourceVersion": v}}, "application/json"),
        ("PATCH", "configmaps/c", "", lambda v: meta(v) | {"data": {"a": v}}, MERGE),
        ("PATCH", "pods/p", "", lambda v: {"metadata": {"resourceVersion": v, "labels": {"x": v}}}, STRATEGIC),
        ("PATCH", "pods/p", "/status", lambda v: meta(v) | {"status": {"message": v}}, MERGE),
        ("PATCH", "deployments/d", "/scale", lambda v: meta(v) | {"spec": {"replicas": 4}}, MERGE),
        ("PATCH", "configmaps/c", "", lambda v: [{"op": "replace", "path": "/metadata/resourceVersion", "value": v},
                                                 {"op": "add", "path": "/data/b", "value": v}], JSON_PATCH),
        ("PATCH", "configmaps/c", "?fieldManager=m", lambda v: configmap("c", data={"z": v}) | {"metadata": {"name": "c", "resourceVersion": v}}, APPLY),
        ("DELETE", "configmaps/c", "", lambda v: {"preconditions": {"resourceVersion": v}}, "application/json"),
    ]
    for method, what, below, body, media in rows:
        before, after = touch(paths[what])
        path, name = paths[what] + below, "%s %s%s %s" % (method, what, below, media)
        code, answer = client.ask(method, path, body(before["resourceVersion"]), media)
        check(code == 409 and answer["reason"] == "Conflict", "an old version: " + name, (code, answer))
        code, answer = client.ask(method, path, body(after["resourceVersion"]), media)
        check(code == 200, "the newest version: " + name, (code, answer))
    wrong = {"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}
    check(client.delete(CORE + "pods/p", wrong)[0] == 409, "the uid of another: DELETE")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, "deleteOptions": wrong}
    check(client.post(CORE + "pods/p/eviction", eviction)[0] == 409, "the uid of another: eviction")
    binding = {"metadata": {"name": "p", "uid": wrong["preconditions"]["uid"]}, "target": {"kind": "Node", "name": "n"}}
    check(client.post(CORE + "pods/p/binding", binding)[0] == 409, "the uid of another: binding")
    put = pod("p")
    put["metadata"]["uid"] = wrong["preconditions"]["uid"]
    check(client.put(CORE + "pods/p", put)[0] == 409, "the uid of another: PUT")


# ---- At once ----

def nothing_is_lost(server):
    """Changes that say nothing of versions, of different fields: all are there in the end."""
    client = Client(server)
    client.post(CORE + "configmaps", configmap("many", data={"n": "0"}))
    path, each = CORE + "configmaps/many", 12

    def work(c, i):
        codes = []
        for k in range(each):
            key = "k%d-%d" % (i, k)
            media = (MERGE, STRATEGIC, JSON_PATCH, APPLY)[(i + k) % 4]
            if media == JSON_PATCH:
                body, query = [{"op": "add", "path": "/data/" + key, "value": "v"}], ""
            elif media == APPLY:
                body, query = configmap("many", data={key: "v"}), "?fieldManager=m%d-%d" % (i, k)
            else:
                body, query = {"data": {key: "v"}}, ""
            codes.append(c.patch(path + query, body, media)[0])
        return codes
    codes = [c for r in at_once(server, work) for c in r]
    check(set(codes) == {200}, "patches of different fields", codes)
    data = client.get(path)[1]["data"]
    missing = [k for k in ("k%d-%d" % (i, j) for i in range(CLIENTS) for j in range(each)) if k not in data]
    check(not missing, "no patch is lost", missing)


def counted(server):
    """Steps of a counter, by the version and by a test in a patch."""
    client = Client(server)
    client.post(CORE + "configmaps", configmap("count", data={"n": "0"}))
    path = CORE + "configmaps/count"

    def work(c, i):
        done = 0
        for k in range(15):
            there = c.get(path)[1]
            n = there["data"]["n"]
            if (i + k) % 2:
                there["data"]["n"] = str(int(n) + 1)
                code = c.put(path, there)[0]
            else:
                code = c.patch(path, [{"op": "test", "path": "/data/n", "value": n}, {"op": "replace", "path": "/data/n", "value": str(int(n) + 1)}],
                               JSON_PATCH)[0]
            check(code in (200, 409, 422), "a step", code)
            done += code == 200
        return done
    total = sum(at_once(server, work))
    check(int(client.get(path)[1]["data"]["n"]) == total and total > 0, "every step that was taken counts", total)


def only_one(server):
    client = Client(server)
    for k in range(5):
        made = at_once(server, lambda c, i: c.post(CORE + "configmaps", configmap("one-%d" % k, data={"by": str(i)}))[0])
        check(sorted(made) == [201] + [409] * (CLIENTS - 1), "one creates", made)
        client.post(CORE + "pods", pod("b%d" % k))
        body = lambda i: {"metadata": {"name": "b%d" % k}, "target": {"kind": "Node", "name": "n%d" % i}}
        bound = at_once(server, lambda c, i: c.post(CORE + "pods/b%d/binding" % k, body(i))[0])
        check(sorted(bound) == [201] + [409] * (CLIENTS - 1), "one binds", bound)
        node = client.get(CORE + "pods/b%d" % k)[1]["spec"]["nodeName"]
        check(node == "n%d" % bound.index(201), "and that is where the pod is", (node, bound))
        gone = at_once(server, lambda c, i: c.delete(CORE + "configmaps/one-%d" % k)[0])
        check(sorted(gone) == [200] + [404] * (CLIENTS - 1), "one deletes", gone)


def budgets(server):
    """Ten pods, two of which may be missing: two evictions, whoever asks."""
    client = Client(server)
    budget = {"metadata": {"name": "x"}, "spec": {"minAvailable": 8, "selector": {"matchLabels": {"app": "y"}}}}
    check(client.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)[0] == 201, "a budget")
    for i in range(10):
        thing = pod("e%d" % i, nodeName="n")
        thing["metadata"]["labels"] = {"app": "y"}
        client.post(CORE + "pods", thing)
        client.patch(CORE + "pods/e%d/status" % i, {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/x"
    status = {"observedGeneration": client.get(path)[1]["metadata"]["generation"], "disruptionsAllowed": 2, "currentHealthy": 10, "desiredHealthy": 8,
              "expectedPods": 10}
    check(client.patch(path + "/status", {"status": status})[0] == 200, "what a controller would say")
    codes = at_once(server, lambda c, i: c.post(CORE + "pods/e%d/eviction" % i, {"apiVersion": "policy/v1", "kind": "Eviction",
                                                                                "metadata": {"name": "e%d" % i}})[0])
    check(codes.count(201) == 2 and codes.count(429) == CLIENTS - 2, "as many as the budget allows", codes)
    left = client.get(path)[1]["status"]["disruptionsAllowed"]
    check(left == 0, "and it is used up", left)


def quota_and_ports(server):
    client = Client(server)
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"count/secrets": "5"}}}
    client.post("/api/v1/namespaces", {"metadata": {"name": "tight"}})
    check(client.post("/api/v1/namespaces/tight/resourcequotas", quota)[0] == 201, "a quota")
    used = {"status": {"hard": {"count/secrets": "5"}, "used": {"count/secrets": "0"}}}
    check(client.patch("/api/v1/namespaces/tight/resourcequotas/q/status", used)[0] == 200, "what a controller would say")
    codes = [c for r in at_once(server, lambda c, i: [c.post("/api/v1/namespaces/tight/secrets", {"metadata": {"name": "s%d-%d" % (i, k)}})[0]
                                                     for k in range(3)]) for c in r]
    n = len(client.get("/api/v1/namespaces/tight/secrets")[1]["items"])
    check(n == 5 and codes.count(201) == 5, "a quota is not exceeded", (n, codes))
    service = lambda i, k: {"metadata": {"generateName": "svc-"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
    made = [s for r in at_once(server, lambda c, i: [c.post(CORE + "services", service(i, k)) for k in range(6)]) for s in r]
    check({code for code, _ in made} == {201}, "services", [s for c, s in made if c != 201][:1])
    for what, of in (("names", lambda s: s["metadata"]["name"]), ("addresses", lambda s: s["spec"]["clusterIP"]),
                     ("ports", lambda s: s["spec"]["ports"][0]["nodePort"])):
        check(len({of(s) for _, s in made}) == len(made), "no two of them have the same " + what)


def an_answer_that_is_lost(server):
    """A client that hangs up after it has asked for a binding finds out what came of it, and asking again does no harm."""
    client = Client(server)
    for i in range(12):
        name = "lost-%d" % i
        client.post(CORE + "pods", pod(name))
        hasty = Client(server)
        hasty.connect()
        body = json.dumps({"metadata": {"name": name}, "target": {"kind": "Node", "name": "n1"}})
        hasty.connection.request("POST", CORE + "pods/%s/binding" % name, body=body, headers=hasty.headers("application/json"))
        hasty.close()
        code, answer = client.post(CORE + "pods/%s/binding" % name, {"metadata": {"name": name}, "target": {"kind": "Node", "name": "n2"}})
        node = client.get(CORE + "pods/" + name)[1]["spec"]["nodeName"]
        check((code, node) in ((201, "n2"), (409, "n1")), "one of the two is true", (code, node, answer))


def main():
    with Server(BERTH, flags=["--controllers=serviceaccount-controller"]) as server:  # others would change what is changed here
        client = Client(server)
        check(eventually(lambda: client.get(CORE + "serviceaccounts/default")[0] == 200), "the service account")
        for part in (stale_versions, nothing_is_lost, counted, only_one, budgets, quota_and_ports, an_answer_that_is_lost):
            part(server)
    api_world.finish()


main()
