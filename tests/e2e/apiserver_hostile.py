#!/usr/bin/env python3
"""apiserver_hostile.py BERTH - what hostile clients send to an API server: bombs, confused paths, borrowed tokens of lists, floods, and
connections that hang or vanish. The process stays, answers others, shows nobody what is not theirs, and gives all memory back."""
import base64
import json
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

import api_world
from api_world import APPLY, JSON_PATCH, MERGE, STRATEGIC, TOKEN, TRUST, Client, Server, Unknown, check, configmap, eventually

BERTH = sys.argv[1]
SLOWDOWN = int(os.environ.get("TEST_SLOWDOWN") or 1)
CONFIGMAPS = "/api/v1/namespaces/a/configmaps"
CANARY = "canary-7c1f"
SECONDS_MAX = 5 * SLOWDOWN  # for any answer to a bomb
QUIET_RSS_KIB, GROWTH_KIB, QUIET_FDS = 48 << 10, 16 << 10, 16
DEAF_RSS_KIB = 1100 << 10  # what clients may make it hold (512 MiB) and as much again for what the allocator keeps; without a bound it is 6 GB
SEED = int(os.environ.get("HOSTILE_SEED") or 5)


def answered(client, method, path, body, media, codes, what):
    began = time.monotonic()
    try:
        code, answer = client.raw(method, path, body, media)
    except Unknown as e:
        code, answer = 0, str(e)
    client.close()  # after a body that nobody wants, the server does so as well
    took = time.monotonic() - began
    check(code in codes, "%s: %s" % (what, code), str(answer)[:300])
    check(took < SECONDS_MAX, "%s takes %.1f s" % (what, took))
    if code >= 400 and code not in (431, 414):
        check(b'"kind":"Status"' in answer or b"kind: Status" in answer, "%s: a Status" % what, answer[:200])
    return code, answer


# ---- Bombs ----

def yaml_laughs():
    lines = ["a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol]"]
    lines += ["a%d: &a%d [%s]" % (i, i, ",".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 10)]
    return ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: laughs}\ndata: *a9\n" + "\n".join(lines)).encode()


def proto_nested(depth):
    body = b""
    for _ in range(depth):
        body = b"\x0a" + varint(len(body)) + body
    return b"k8s\x00" + b"\x12" + varint(len(body)) + body


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def bodies(client):
    deep = 200000
    no = (400, 413, 422)
    wrapped = lambda inner: b'{"metadata":{"name":"x","labels":' + inner + b"}}"
    yaml, proto = "application/yaml", "application/vnd.kubernetes.protobuf"
    rows = [
        ("more than a body may have", b'{"metadata":{"name":"x"},"data":{"x":"' + b"x" * (4 << 20) + b'"}}', "application/json", (413,)),
        ("lists in lists", wrapped(b"[" * deep + b"]" * deep), "application/json", no),
        ("maps in maps", wrapped(b'{"a":' * deep + b"1" + b"}" * deep), "application/json", no),
        ("lists that do not end", b"[" * deep, "application/json", no),
        ("deep where anything may be", b'{"metadata":{"name":"x","managedFields":[{"fieldsV1":' + b'{"a":' * deep + b"1" + b"}" * deep + b"}]}}",
         "application/json", no),
        ("a million empty lists", wrapped(b"[" + b"[]," * 900000 + b"[]]"), "application/json", no),
        ("a long number", wrapped(b"1" * (2 << 20)), "application/json", no),
        ("the same key a hundred thousand times", b'{"metadata":{"name":"dup"},"data":{' + b'"k":"v",' * 99999 + b'"k":"v"}}', "application/json",
         no + (201, 409)),
        ("no UTF-8", b'{"metadata":{"name":"\xff\xfe"}}', "application/json", no),
        ("nothing", b"", "application/json", no),
        ("laughs", yaml_laughs(), yaml, no),
        ("deep YAML", b"a: " + b"[" * deep, yaml, no),
        ("YAML of indents", b"".join(b" " * i + b"a:\n" for i in range(2000)), yaml, no),
        ("YAML of many documents", b"---\na: 1\n" * 100000, yaml, no),
        ("deep protobuf", proto_nested(60000), proto, no),
        ("a length that is a lie", b"k8s\x00\x12\xff\xff\xff\xff\x07abc", proto, no),
        ("protobuf cut short", b"k8s\x00\x12\x05\x0a", proto, no),
        ("groups in groups", b"k8s\x00\x12" + varint(100000) + b"\x0b" * 100000, proto, no),
    ]
    for what, body, media, codes in rows:
        answered(client, "POST", CONFIGMAPS, body, media, codes, what)
    endless(client)


def endless(client):
    """A body in chunks that never ends is cut off."""
    client.connect()
    sock = client.connection.sock
    sock.sendall(("POST %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n" % (CONFIGMAPS, TOKEN)).encode())
    chunk, began, cut = b"10000\r\n" + b"x" * 65536 + b"\r\n", time.monotonic(), False
    while not cut and time.monotonic() - began < 20 * SLOWDOWN:
        try:
            sock.sendall(chunk)
        except OSError:
            cut = True
    check(cut, "a body without end is cut off")
    client.close()


def patches(client):
    code, _ = client.ask("POST", CONFIGMAPS, configmap("p", "a", {"a": "x" * 1000}))
    check(code in (201, 409), "an object to patch")
    path, no = CONFIGMAPS + "/p", (400, 413, 422)
    doubling = [{"op": "add", "path": "/metadata/annotations", "value": {"k0": "x" * 1000}}]
    doubling += [{"op": "copy", "from": "/metadata", "path": "/metadata/annotations/c%d" % i} for i in range(40)]
    copies = [{"op": "copy", "from": "/data/a", "path": "/data/b%d" % i} for i in range(9000)]
    deep = 100000
    nested = {}
    for _ in range(400):
        nested = {"a": nested}
    rows = [
        ("copies of copies", json.dumps(doubling).encode(), JSON_PATCH, no),
        ("nine thousand copies", json.dumps(copies).encode(), JSON_PATCH, no + (200,)),
        ("more than 10,000 operations", json.dumps([{"op": "test", "path": "/kind", "value": "x"}] * 10001).encode(), JSON_PATCH, no),
        ("a pointer of a megabyte", json.dumps([{"op": "add", "path": "/data" + "/a" * 500000, "value": "x"}]).encode(), JSON_PATCH, no),
        ("deep JSON patch", b'[{"op":"add","path":"/data","value":' + b"[" * deep + b"]" * deep + b"}]", JSON_PATCH, no),
        ("an index that is a lie", json.dumps([{"op": "add", "path": "/metadata/finalizers/99999999999999999999", "value": "x"}]).encode(), JSON_PATCH, no),
        ("deep merge patch", b'{"data":' * 1 + b'{"a":' * deep + b"1" + b"}" * deep + b"}", MERGE, no),
        ("nested merge patch", json.dumps({"metadata": {"annotations": nested}}).encode(), MERGE, no),
        ("a merge patch of 3 MiB", json.dumps({"data": {"k%d" % i: "v" * 90 for i in range(26000)}}).encode(), MERGE, no),
        ("directives in directives", json.dumps({"metadata": {"$patch": "merge", "finalizers": [{"$patch": "delete"}] * 50000}}).encode(), STRATEGIC, no + (500,)),
        ("an order of 100,000", json.dumps({"metadata": {"$setElementOrder/finalizers": ["a%d" % i for i in range(100000)]}}).encode(), STRATEGIC,
         no + (200,)),
        ("laughs", yaml_laughs(), APPLY, no),
        ("deep apply", b'{"data":' + b'{"a":' * deep + b"1" + b"}" * deep + b"}", APPLY, no),
    ]
    for what, body, media, codes in rows:
        query = "?fieldManager=f&force=true" if media == APPLY else ""
        answered(client, "PATCH", path + query, body, media, codes, "patch: " + what)
    long_lists(client)


def long_lists(client):
    """Merging by keys is not quadratic."""
    def pod(n, image):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "many", "namespace": "a"},
                "spec": {"containers": [{"name": "c%d" % i, "image": image, "env": [{"name": "e", "value": "v"}]} for i in range(n)]}}
    eventually(lambda: client.get("/api/v1/namespaces/a/serviceaccounts/default")[0] == 200)
    path = "/api/v1/namespaces/a/pods"
    codes = (200, 201, 400, 404, 409, 413, 422) + ((504,) if SLOWDOWN > 1 else ())  # the server's own limit is not longer then
    answered(client, "PATCH", path + "/many?fieldManager=f", json.dumps(pod(3000, "i")).encode(), APPLY, codes, "an apply of 3,000 containers")
    answered(client, "PATCH", path + "/many", json.dumps({"spec": pod(3000, "j")["spec"]}).encode(), STRATEGIC, codes, "3,000 containers by name")
    tolerations = [{"key": "k%d" % i, "operator": "Exists"} for i in range(8000)]
    body = pod(1, "i")
    body["metadata"]["name"] = "tolerant"
    body["spec"]["tolerations"] = tolerations
    answered(client, "POST", path, json.dumps(body).encode(), "application/json", codes, "8,000 tolerations")


def heads(client):
    rows = [("a target of 100 kB", "GET", CONFIGMAPS + "?labelSelector=" + "a" * 100000, {}, (400, 414, 431)),
            ("a selector of 30 kB", "GET", CONFIGMAPS + "?labelSelector=" + "%2C".join("k%d" % i for i in range(4000)), {}, (200, 400)),
            ("a selector of brackets", "GET", CONFIGMAPS + "?labelSelector=" + "a%20in%20(" + "%28" * 5000, {}, (400,)),
            ("a field selector of 30 kB", "GET", CONFIGMAPS + "?fieldSelector=" + "%2C".join("metadata.name!=k%d" % i for i in range(1500)), {}, (200, 400)),
            ("two thousand values", "GET", CONFIGMAPS + "?" + "&".join("a%d=b" % i for i in range(2000)), {}, (200, 400)),
            ("a header of 200 kB", "GET", CONFIGMAPS, {"X-Long": "x" * 200000}, (431, 400)),
            ("an Accept of 60 kB", "GET", CONFIGMAPS, {"Accept": ",".join(["a/b;as=c;q=0.%d" % i for i in range(4000)])}, (200, 406)),
            ("a token of 60 kB", "GET", CONFIGMAPS, {"Authorization": "Bearer " + "e" * 60000}, (401,)),
            ("a token of dots", "GET", CONFIGMAPS, {"Authorization": "Bearer " + "." * 30000}, (401,)),
            ("a list of -1", "GET", CONFIGMAPS + "?limit=-1", {}, (200, 400)),
            ("a list of too many", "GET", CONFIGMAPS + "?limit=99999999999999999999", {}, (400, 200)),
            ("a time that is too long", "GET", CONFIGMAPS + "?timeout=99999999999h", {}, (200, 400))]
    for what, method, path, headers, codes in rows:
        try:
            code, answer = client.raw(method, path, headers=headers)
        except Unknown as e:
            code, answer = 431, str(e)  # the connection was closed while it was still sent
        check(code in codes, "%s: %s" % (what, code), answer[:200])
        client.close()
    many = {"X-%d" % i: "y" for i in range(90)}
    check(client.raw("GET", CONFIGMAPS, headers=many)[0] == 200, "ninety headers are fine")


# ---- Paths and tokens of lists ----

def make_canaries(admin):
    for namespace in ("a", "ab", "b", "a-b"):
        check(admin.post("/api/v1/namespaces", {"metadata": {"name": namespace}})[0] == 201, "a namespace")
    for namespace in ("ab", "b", "a-b"):
        check(admin.post("/api/v1/namespaces/%s/configmaps" % namespace, configmap("c", namespace, {"v": CANARY}))[0] == 201, "a canary")
    check(admin.post(CONFIGMAPS, configmap("own", "a", {"v": "mine"}))[0] == 201, "one's own")
    check(admin.post(CONFIGMAPS, configmap("own2", "a", {"v": "mine"}))[0] == 201, "one's own")
    for namespace in ("a", "b"):
        secret = {"metadata": {"name": "s"}, "stringData": {"v": CANARY}, "data": {"w": base64.b64encode(CANARY.encode()).decode()}}
        check(admin.post("/api/v1/namespaces/%s/secrets" % namespace, secret)[0] == 201, "a secret")
    node = {"metadata": {"name": "n", "labels": {"v": CANARY}}}
    check(admin.post("/api/v1/nodes", node)[0] == 201, "a node")
    group = "/apis/rbac.authorization.k8s.io/v1/"
    role = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["configmaps", "nodes", "namespaces"],
                                                  "verbs": ["get", "list", "watch", "update", "delete", "deletecollection"]}]}
    check(admin.post(group + "namespaces/a/roles", role)[0] == 201, "a role")
    binding = {"metadata": {"name": "r"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
               "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}]}
    check(admin.post(group + "namespaces/a/rolebindings", binding)[0] == 201, "a binding")
    role = {"metadata": {"name": "writer"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]}
    check(admin.post(group + "namespaces/a/roles", role)[0] == 201, "a role")
    binding = dict(binding, metadata={"name": "writer"}, roleRef=dict(binding["roleRef"], name="writer"),
                   subjects=[dict(binding["subjects"][0], name="mallory")])
    check(admin.post(group + "namespaces/a/rolebindings", binding)[0] == 201, "a binding")


def is_hidden(answer):
    return CANARY.encode() not in answer and base64.b64encode(CANARY.encode()) not in answer


def token_for(start, version):
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start}).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def paths(server, admin):
    alice = Client(server, token="alice")
    check(alice.get(CONFIGMAPS)[0] == 200 and alice.get("/api/v1/namespaces/b/configmaps")[0] == 403, "who may what")
    tricks = ["/api/v1/namespaces/a/../b/configmaps/c", "/api/v1/namespaces/a/%2e%2e/b/configmaps/c", "/api/v1/namespaces/a%2f..%2fb/configmaps/c",
              "/api/v1/namespaces/a/configmaps/..%2f..%2fb%2fconfigmaps%2fc", "/api/v1/namespaces/a/configmaps/../../b/configmaps/c",
              "//api/v1/namespaces/b/configmaps/c", "/api/v1//namespaces/b/configmaps/c", "/api/v1/namespaces//b/configmaps/c",
              "/api/v1/namespaces/a/configmaps/%2e%2e/%2e%2e/b/configmaps/c", "/api//v1/namespaces/b/configmaps",
              "/api/v1/./namespaces/b/configmaps", "/api/v1/namespaces/a/./../b/configmaps", "/api/v1/namespaces/a;b/configmaps",
              "/api/v1/namespaces/%61b/configmaps/c", "/api/v1/namespaces/a%00b/configmaps/c", "/api/v1/namespaces/a%2Fconfigmaps%2Fown/configmaps",
              "/api/v1/namespaces/a/nodes/n", "/api/v1/namespaces/a/nodes", "/api/v1/namespaces/a/namespaces/b", "/api/v1/nodes/n",
              "/api/v1/configmaps", "/api/v1/configmaps/c", "/api/v1/namespaces/a/configmaps%2F..%2Fsecrets/s", "/api/v1/namespaces/a/secrets/s",
              "/api/v1/namespaces/a/Secrets/s", "/api/v1/namespaces/a/configmaps/..%2Fsecrets%2Fs", "/api/v1/watch/namespaces/b/configmaps?timeoutSeconds=1",
              "/api/v1/watch/configmaps?timeoutSeconds=1", "/api/v1/namespaces/a/configmaps/own/../../../b/configmaps/c",
              "/api/v1/proxy/namespaces/b/configmaps/c", "/apis/v1/namespaces/b/configmaps/c", "/api/v1/namespaces/a/configmaps?namespace=b",
              "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.namespace%3Db", "/api/v1/namespaces/b/configmaps/c/",
              "/api/v1/namespaces/a/configmaps/own%3f/../c", "http://x/api/v1/namespaces/b/configmaps/c", "/api/v1/namespaces/a\\..\\b/configmaps/c",
              "/api/v1/namespaces/a/configmaps/\\..\\..\\b", "/apis/rbac.authorization.k8s.io/v1/namespaces/a/clusterroles/cluster-admin",
              "/metrics", "/debug/pprof/heap", "/flagz"]
    for path in tricks:
        for method in ("GET", "PUT", "DELETE") if "/configmaps?" not in path else ("GET",):
            try:
                code, answer = alice.raw(method, path, b"{}" if method == "PUT" else None)
            except Unknown:
                code, answer = 400, b""
            check(is_hidden(answer), "%s %s shows what is not hers" % (method, path), answer[:300])
            if code == 200 and method != "GET":
                check(False, "%s %s is done" % (method, path), answer[:300])
    random_paths(alice)
    everything = admin.get("/api/v1/configmaps?limit=1")[1]["metadata"]
    secrets = admin.get("/api/v1/secrets?limit=1")[1]["metadata"]
    newest = int(everything["resourceVersion"])
    tokens = [everything["continue"], secrets["continue"]]
    tokens += [token_for(s, v) for s in ("../b/", "../../secrets/a/", "b/c", "\u0000", "/", "c", "../ab/c", "\uffff", "own\u0000", "-b/c", "own/../../b")
               for v in (newest, -1, 1)]
    tokens += [token_for("../b/", v) for v in (newest + 1000, 9223372036854775807)]  # which are waited for
    for token in tokens:
        for path in (CONFIGMAPS, CONFIGMAPS + "?labelSelector=x%21%3Dy"):
            code, answer = alice.raw("GET", path + ("&" if "?" in path else "?") + "limit=50&continue=" + token)
            check(is_hidden(answer), "a token of another list shows what is not hers", (token, answer[:300]))
            check(code in (200, 400, 410, 504), "a token of another list", (code, answer[:200]))
    check(alice.raw("DELETE", "/api/v1/configmaps")[0] in (403, 405), "no deletion of everything")
    check(admin.get("/api/v1/namespaces/b/configmaps/c")[0] == 200, "all canaries live")
    watches_of_others(server, alice)


def watches_of_others(server, alice):
    """A watch of a namespace tells nothing of one whose name begins with it."""
    watch = api_world.Watch(server, CONFIGMAPS + "?watch=true", token="alice")
    admin = Client(server)
    for namespace in ("ab", "a-b", "b"):
        admin.patch("/api/v1/namespaces/%s/configmaps/c" % namespace, {"data": {"again": CANARY}})
    admin.patch(CONFIGMAPS + "/own", {"data": {"again": str(time.monotonic_ns())}})
    check(watch.wait(lambda es: es and es[-1]["type"] == "MODIFIED"), "her own is told")
    check(all(is_hidden(json.dumps(e).encode()) for e in watch.events), "and nothing else")
    watch.close()


def random_paths(alice):
    chance = random.Random(SEED)
    parts = ["api", "v1", "namespaces", "a", "b", "ab", "configmaps", "secrets", "nodes", "c", "s", "n", "..", ".", "", "%2e%2e", "%2f", "%2F..%2F", "%00",
             "watch", "apis", "status", "a%2Fb", "*", "own", "..%2f", "%252e%252e", "\\", ";", "namespaces/b/configmaps", "proxy"]
    for _ in range(1500):
        path = "/api/v1/namespaces/" if chance.random() < 0.7 else "/"
        path += "/".join(chance.choice(parts) for _ in range(chance.randrange(1, 8)))
        path += chance.choice(("", "?watch=true&timeoutSeconds=1" if chance.random() < 0.02 else "", "?limit=1", "?resourceVersion=0"))
        try:
            _, answer = alice.raw("GET", path)
        except Unknown:
            continue
        check(is_hidden(answer), "%s shows what is not hers" % path, answer[:300])


# ---- Connections ----

def raw_connection(server):
    sock = TRUST.wrap_socket(socket.create_connection(("127.0.0.1", server.port), api_world.LIMIT))
    return sock


def request_head(method, path, length, token=TOKEN):
    return ("%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % (method, path, token, length)).encode()


def slow_bodies(server):
    """Those who never finish are told so; nobody waits for them."""
    slow = []
    for i in range(150):
        sock = raw_connection(server)
        sock.sendall(request_head("POST", CONFIGMAPS, 1000) + b'{"metadata":')
        slow.append(sock)
    began = time.monotonic()
    check(Client(server).get(CONFIGMAPS)[0] == 200 and time.monotonic() - began < SECONDS_MAX, "others are served")
    codes = []
    for sock in slow:
        try:
            codes.append(sock.recv(65536)[9:12])
        except OSError:
            codes.append(b"")
        sock.close()
    check(set(codes) <= {b"504", b"408", b"429", b""}, "they are told", set(codes))


def vanish(server, n):
    """Right after the request, half way in it, and before anything."""
    chance = random.Random(SEED)
    for i in range(n):
        sock = raw_connection(server)
        body = json.dumps(configmap("v%d" % i, "a", {"x": "y" * 2000})).encode()
        data = request_head("POST", CONFIGMAPS, len(body)) + body
        if i % 3 == 1:
            data = data[: chance.randrange(len(data))]
        if i % 3 == 2:
            data = ("GET %s?watch=true HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n" % (CONFIGMAPS, TOKEN)).encode()
        sock.sendall(data)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        sock.close()
    client = Client(server)
    check(eventually(lambda: client.get(CONFIGMAPS)[0] == 200, 10), "others are served")
    for i in range(0, n, 3):
        code, found = client.get(CONFIGMAPS + "/v%d" % i)
        check(code == 404 or found["data"]["x"] == "y" * 2000, "whole or not at all", found)
        client.delete(CONFIGMAPS + "/v%d" % i)


class H2:
    """Just enough of HTTP/2 to have many requests at once."""

    def __init__(self, server, token):
        context = api_world.trust_all()
        context.set_alpn_protocols(["h2"])
        self.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), api_world.LIMIT))
        self.token, self.next, self.ended, self.bodies, self.buffer, self.gone = token, 1, set(), {}, b"", False
        self.sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(4, 0, 0, b"") + self.frame(8, 0, 0, struct.pack(">I", 1 << 30)))

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def headers(self, pairs):
        def text(t):
            n = len(t)
            return bytes([n]) + t.encode() if n < 127 else b"\x7f" + varint(n - 127) + t.encode()
        return b"".join(b"\x00" + text(k) + text(v) for k, v in pairs)

    def request(self, method, path, ends=True):
        block = self.headers([(":method", method), (":scheme", "https"), (":authority", "a"), (":path", path),
                              ("authorization", "Bearer " + self.token), ("content-type", "application/json")])
        self.sock.sendall(self.frame(1, 4 | (1 if ends else 0), self.next, block))
        self.next += 2

    def read(self, until, seconds):
        """Until so many requests are over."""
        self.sock.settimeout(seconds)
        try:
            while len(self.ended) < until:
                data = self.sock.recv(1 << 16)
                if not data:
                    self.gone = True
                    return
                self.buffer += data
                self.take()
        except OSError:
            self.gone = True

    def take(self):
        while len(self.buffer) >= 9:
            n = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + n:
                return
            kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big") & 0x7fffffff
            payload, self.buffer = self.buffer[9:9 + n], self.buffer[9 + n:]
            if kind == 0:
                self.bodies[stream] = self.bodies.get(stream, b"") + payload
            if kind == 3 or (kind in (0, 1) and flags & 1):
                self.ended.add(stream)

    def close(self):
        self.sock.close()


def many_in_flight(server):
    """10,000 at once of somebody who is nobody in particular: most are told to come again, and others do not wait."""
    flood = [H2(server, "mallory") for _ in range(40)]
    for c in flood:
        for i in range(250):
            c.request("POST", CONFIGMAPS, ends=False)  # whose body never comes
    began = time.monotonic()
    client = Client(server)
    code, answer = client.post(CONFIGMAPS, configmap("in-between", "a"))
    check(code == 201, "the administrator is served", answer)
    check(time.monotonic() - began < SECONDS_MAX, "at once", time.monotonic() - began)
    client.delete(CONFIGMAPS + "/in-between")
    for c in flood:
        c.read(240, 20)
    texts = [b for c in flood for b in c.bodies.values()]
    refused, late = sum(b"Too many requests" in b for b in texts), sum(b"Timeout" in b for b in texts)
    check(refused > 9000, "the others are told to come again", (refused, late, len(texts)))
    for c in flood:
        c.close()


def watch_storm(server, n_connections=12, n_streams=240):
    storm = [H2(server, TOKEN) for _ in range(n_connections)]
    for c in storm:
        for i in range(n_streams):
            c.request("GET", CONFIGMAPS + "?watch=true&labelSelector=k%%21%%3D%d" % i)
    client = Client(server)
    check(eventually(lambda: server.metric("apiserver_longrunning_requests") >= n_connections * n_streams, 60), "all of them watch")
    began = time.monotonic()
    code, answer = client.post(CONFIGMAPS, configmap("storm", "a"))
    check(code == 201 and time.monotonic() - began < SECONDS_MAX, "writes go on", (code, time.monotonic() - began))
    client.delete(CONFIGMAPS + "/storm")
    for c in storm:
        c.close()


# ---- Clients that ask and never read ----

def head_of(path, token, accept):
    return ("GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nAccept: %s\r\n\r\n" % (path, token, accept)).encode()


def deaf_requests():
    """What may be answered with 20 MB: as it is stored, in ways that have to be made as a whole, as a watch, and one object alone."""
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    watch = CONFIGMAPS + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    return [(CONFIGMAPS, "application/json"), (CONFIGMAPS + "?pretty=true", "application/json"), (CONFIGMAPS + "?includeObject=Object", table),
            (CONFIGMAPS, "application/vnd.kubernetes.protobuf"), (watch, "application/json"), (CONFIGMAPS + "/large-0", "application/json")]


def deaf_readers(n_clients=300, n_objects=20):
    """They get what there is room for, the others are told to come again; whoever does without much is served."""
    with Server(BERTH, flags=("--authorization-mode=AlwaysAllow",), users=("mallory",)) as server:
        admin = Client(server)
        check(admin.post("/api/v1/namespaces", {"metadata": {"name": "a"}})[0] == 201, "a namespace")
        for i in range(n_objects):
            large = configmap("large-%d" % i, "a")
            large["data"] = {"text": "x" * (1000 << 10)}
            check(admin.post(CONFIGMAPS, large)[0] == 201, "an object of a megabyte")
        deaf, others, requests = [raw_connection(server) for _ in range(n_clients)], raw_connection(server), deaf_requests()
        for i, sock in enumerate(deaf):
            path, accept = requests[i % len(requests)]
            sock.sendall(head_of(path, "mallory", accept))
        others.sendall(head_of(CONFIGMAPS + "/none", TOKEN, "application/json"))
        check(others.recv(65536)[9:12] == b"404", "the administrator is answered")
        others.sendall(head_of("/readyz", "mallory", "*/*"))
        check(others.recv(65536)[9:12] == b"200", "it is ready")
        refused = sum(sock.recv(12)[9:12] == b"429" for sock in deaf)
        peak = server.status_kib("VmHWM")
        print("%d clients that never read: %d refused, %d MiB at most" % (n_clients, refused, peak >> 10))
        check(0 < refused < n_clients, "some are told to come again", refused)
        check(SLOWDOWN > 1 or peak < DEAF_RSS_KIB, "memory has a bound", peak)
        for sock in deaf:
            sock.close()
        admin.close()
        check(eventually(lambda: admin.get(CONFIGMAPS + "?pretty=true")[0] == 200, 30), "then all is as before")
        check(server.kill(signal.SIGTERM) == 0, "it ends well", server.text()[-3000:])


def settle(server, rss_kib_max, n_fds_max):
    """Memory and descriptors when it is quiet: what a burst leaves behind is given back some seconds later."""
    eventually(lambda: server.n_fds() <= n_fds_max, 30)
    eventually(lambda: server.rss_kib() < rss_kib_max, 25)
    return server.rss_kib(), server.n_fds()


def main():
    flags = ("--authorization-mode=RBAC", "--request-timeout=3s", "--enable-admission-plugins=NodeRestriction")
    env = {"ASAN_OPTIONS": "detect_leaks=1:" + os.environ.get("ASAN_OPTIONS", "")}
    with Server(BERTH, flags=flags, users=("alice", "mallory"), env=env) as server:
        admin = Client(server)
        make_canaries(admin)
        parts = [("bodies", lambda: bodies(admin)), ("patches", lambda: patches(admin)), ("heads", lambda: heads(admin)),
                 ("paths", lambda: paths(server, admin)), ("slow bodies", lambda: slow_bodies(server)), ("clients that vanish", lambda: vanish(server, 240)),
                 ("10,000 in flight", lambda: many_in_flight(server)), ("a storm of watches", lambda: watch_storm(server))]
        levels, rss_kib_max = [], QUIET_RSS_KIB
        for number in range(2):
            for what, part in parts:
                began = time.monotonic()
                part()
                if not check(server.is_alive(), "the process after " + what, server.text()[-3000:]):
                    api_world.finish()
                if os.environ.get("VERBOSE"):
                    print("%s: %.1f s, %d MiB, %d descriptors" % (what, time.monotonic() - began, server.rss_kib() >> 10, server.n_fds()), flush=True)
            admin.close()
            levels.append(settle(server, rss_kib_max, levels[0][1] if levels else QUIET_FDS))
            rss_kib_max = levels[0][0] + GROWTH_KIB
        (rss1, fds1), (rss2, fds2) = levels
        print("quiet: %d MiB and %d descriptors after one round, %d MiB and %d after two" % (rss1 >> 10, fds1, rss2 >> 10, fds2))
        check(fds2 <= fds1 and fds2 < 40, "descriptors are given back", levels)
        check(SLOWDOWN > 1 or rss2 < rss_kib_max, "memory does not grow", levels)
        text = server.text()
        check("Sanitizer" not in text and "panic" not in text, "no complaints", text[-3000:])
        check(server.kill(signal.SIGTERM) == 0, "it ends well", server.text()[-3000:])
    deaf_readers()
    api_world.finish()


main()
