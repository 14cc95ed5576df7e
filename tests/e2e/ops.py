#!/usr/bin/env python3
"""ops.py TOOL - the secure port with foreign clients: curl, openssl, Python, and `go tool pprof` where there is one.

What is expected of answers was seen on a running kube-scheduler v1.36.4, asked by the same curl. Reviews are answered by
a small API server here."""
import contextlib
import gzip
import http.client
import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from http_peers import run

TOOL = sys.argv[1]


# ---- Certificates ----

def openssl(*args, **options):
    return subprocess.run(["openssl", *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options).stdout


def make_ca(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{folder}/{name}.key",
            "-out", f"{folder}/{name}.crt", "-subj", "/CN=" + name, "-days", "2")


def make_client(folder, name, subject, ca):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{folder}/{name}.key", "-out",
            f"{folder}/{name}.csr", "-subj", subject)
    with open(f"{folder}/ext", "w") as f:
        f.write("extendedKeyUsage=clientAuth,serverAuth\nbasicConstraints=CA:FALSE\nsubjectAltName=DNS:two.test\n")
    openssl("x509", "-req", "-in", f"{folder}/{name}.csr", "-CA", f"{folder}/{ca}.crt", "-CAkey", f"{folder}/{ca}.key",
            "-CAcreateserial", "-out", f"{folder}/{name}.crt", "-days", "2", "-extfile", f"{folder}/ext")


def make_all(folder):
    for ca in ("clients", "proxies", "others"):
        make_ca(folder, ca)
    make_client(folder, "masters", "/O=system:masters/CN=root", "clients")
    make_client(folder, "alice", "/O=dev/O=ops/CN=alice", "clients")
    make_client(folder, "nameless", "/O=system:masters", "clients")
    make_client(folder, "stranger", "/O=system:masters/CN=root", "others")
    make_client(folder, "front", "/CN=front", "proxies")
    make_client(folder, "not-front", "/CN=not-front", "proxies")


# ---- The API server ----

class Api(http.server.BaseHTTPRequestHandler):
    """Answers reviews by what is asked, and notes them."""
    protocol_version = "HTTP/1.1"
    reviews, config_map, changed = [], None, threading.Event()

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def review_token(self, token):
        known = {"tok": {"username": "tokuser", "uid": "u1", "groups": ["g1"], "extra": {"b": ["2", "1"], "a": ["x"]}},
                 "root": {"username": "admin", "groups": ["system:masters"]}}
        if token == "hang":
            time.sleep(30)
        if token == "forbidden":
            self.answer(403, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": 403})
            return
        status = {"authenticated": True, "user": known[token]} if token in known else {}
        self.answer(201, {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "status": status})

    def review_access(self, path):
        if path == "/fail":
            self.answer(403, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no <b>", "code": 403})
            return
        if path == "/hang":
            time.sleep(30)
        status = {"allowed": path not in ("/metrics", "/reason")}
        if path == "/reason":
            status["reason"] = "because <x>"
        self.answer(201, {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": status})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Api.reviews.append((self.path, body.decode()))
        spec = json.loads(body)["spec"]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if "tokenreviews" in self.path:
                self.review_token(spec["token"])
            else:
                self.review_access(spec["nonResourceAttributes"]["path"])

    def do_GET(self):
        if Api.config_map is None:
            self.answer(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "not found", "code": 404})
        elif "watch=" not in self.path:
            self.answer(200, Api.config_map)
        else:
            self.watch()

    def watch(self):
        """One event when the map has changed."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        Api.changed.wait(60)
        event = {"type": "MODIFIED", "object": Api.config_map}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(json.dumps(event).encode() + b"\n")
            self.wfile.flush()
            time.sleep(0.2)


@contextlib.contextmanager
def api_server(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients leave while they are answered
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = os.path.join(folder, "kubeconfig")
    with open(path, "w") as f:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
                   "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:%d" % server.server_port}}],
                   "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, f)
    yield path
    server.shutdown()


# ---- The program ----

class Served:
    def __init__(self, child, port):
        self.child, self.port, self.url = child, port, "https://127.0.0.1:%d" % port

    def line(self):
        return self.child.stdout.readline().strip()


@contextlib.contextmanager
def serving(*options, wait=True, told_to_end=False):
    log = tempfile.TemporaryFile("w+")
    child = subprocess.Popen([TOOL, *options], stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        served = Served(child, int(child.stdout.readline().split()[1]))
        if wait:
            while served.line() != "serving":
                pass
        yield served
        if not told_to_end:
            child.terminate()
        child.wait(30)
        log.seek(0)
        served.log = log.read()
        assert child.returncode == 0, (child.returncode, served.log[-5000:])
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        child.stdout.close()
        log.close()


def curl(*args, ok=True, way="--http1.1"):
    return run("curl", "-sS", "-k", "--path-as-is", "--max-time", "60", way, *args, ok=ok)


def ask(url, *args, way="--http1.1"):
    """Status, headers in lower case, body."""
    done = curl("-i", *args, url, way=way).stdout
    while done.startswith(b"HTTP/1.1 100"):
        done = done.split(b"\r\n\r\n", 1)[1]
    head, body = done.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), {k.lower(): v for k, v in headers.items()}, body


def as_client(folder, name):
    return ("--cert", f"{folder}/{name}.crt", "--key", f"{folder}/{name}.key")


def bearer(token):
    return ("-H", "Authorization: Bearer " + token)


def status_body(code, reason, message, details=False):
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason}
    if details:
        body["details"] = {}
    body["code"] = code
    text = json.dumps(body, indent=2)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e").encode()


UNAUTHORIZED = status_body(401, "Unauthorized", "Unauthorized")
NOT_FOUND = b"404 page not found\n"
PLAIN, PLAIN_GO = "text/plain; charset=utf-8", "text/plain"
JSON = "application/json"
METRICS = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
FLAGS_PAGE = (b"<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
              b"<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n")


def forbidden(user, verb, path, reason=""):
    return status_body(403, "Forbidden", 'forbidden: User "%s" cannot %s path "%s"%s' % (user, verb, path, reason), True)


# ---- Tests ----

def answers(served, folder):
    """Path and options; status, content type, whether nosniff, body (None: not looked at)."""
    root = as_client(folder, "masters")
    rows = [
        ("/healthz", (), 200, PLAIN, True, b"ok"),
        ("/livez", (), 200, PLAIN, True, b"ok"),
        ("/readyz?verbose", (), 200, PLAIN, True, b"[+]shutdown ok\n[+]mood ok\nreadyz check passed\n"),
        ("/healthz", ("-X", "POST", "-d", "x"), 200, PLAIN, True, b"ok"),
        ("/healthz", ("-X", "OPTIONS"), 200, PLAIN, True, b"ok"),
        ("/healthz", ("-H", "Accept-Encoding: gzip"), 200, PLAIN, True, b"ok"),
        ("/%68ealthz", (), 200, PLAIN, True, b"ok"),
        ("/livez/ping", root, 200, PLAIN, False, b"ok"),
        ("/livez%2fping", root, 200, PLAIN, False, b"ok"),
        ("/readyz/ping", root, 404, PLAIN, True, NOT_FOUND),
        ("//healthz", root, 404, PLAIN, True, NOT_FOUND),
        ("/healthz/", root, 404, PLAIN, True, NOT_FOUND),
        ("/a/../healthz", root, 404, PLAIN, True, NOT_FOUND),
        ("/healthz;a=b", root, 404, PLAIN, True, NOT_FOUND),
        ("/configz", root, 200, JSON, True, b'{"componentconfig":{"parallelism":16}}'),
        ("/configz", root + ("-X", "POST"), 200, JSON, True, None),
        ("/metrics", root, 200, METRICS, False, None),
        ("/metrics", root + ("-X", "POST"), 200, METRICS, False, None),
        ("/metrics", root + ("-X", "DELETE"), 200, PLAIN, False, b"metrics reset\n"),
        ("/metrics/resources", root, 200, None, False, b""),
        ("/debug/flags", root, 200, "text/html; charset=utf-8", False, FLAGS_PAGE),
        ("/debug/flags/w", root, 200, "text/html; charset=utf-8", False, FLAGS_PAGE),
        ("/debug/flags/v", root, 406, PLAIN_GO, True, b"unsupported http method\n"),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", "5"), 200, PLAIN_GO, True,
         b"successfully set klog.logging.verbosity to 5\n"),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", "x"), 400, PLAIN_GO, True,
         b'strconv.ParseUint: parsing "x": invalid syntax\n'),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", ""), 400, PLAIN_GO, True,
         b'strconv.ParseUint: parsing "": invalid syntax\n'),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", "-1"), 400, PLAIN_GO, True,
         b'strconv.ParseUint: parsing "-1": invalid syntax\n'),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", "99999999999"), 400, PLAIN_GO, True,
         b'strconv.ParseUint: parsing "99999999999": value out of range\n'),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", "0"), 200, PLAIN_GO, True, None),
        ("/debug/flags/v", root + ("-X", "PUT", "-d", "1" * 2000), 413, PLAIN, True, None),
        ("/debug/pprof", root, 302, "text/html; charset=utf-8", False, b'<a href="/debug/pprof/">Found</a>.\n\n'),
        ("/debug/pprof/", root, 200, "text/html; charset=utf-8", True, None),
        ("/debug/pprof/nope", root, 404, PLAIN, True, b"Unknown profile\n"),
        ("/debug/pprof/goroutine", root, 501, PLAIN, True, None),
        ("/debug/pprof/heap", root, 200, PLAIN, True, None),
        ("/debug/pprof/profile?seconds=100000", root, 400, PLAIN, True, None),
        ("/flagz", root, 200, PLAIN, False, None),
        ("/flagz", root + ("-H", "Accept: application/json"), 406, JSON, False, None),
        ("/statusz", root + ("-H", "Accept: application/json;v=v1beta1;g=config.k8s.io;as=Statusz"), 200,
         "application/json;g=config.k8s.io;v=v1beta1;as=Statusz", False, None),
        ("/nothing", root, 404, PLAIN, True, NOT_FOUND),
        ("/nothing", (), 403, JSON, True, forbidden("system:anonymous", "get", "/nothing")),
        ("/metrics", ("-X", "POST", "-d", "x"), 403, JSON, True, forbidden("system:anonymous", "post", "/metrics")),
        ('/a<b>&"c', (), 403, JSON, True, forbidden("system:anonymous", "get", '/a&lt;b&gt;&amp;\\"c')),
        ("/livez/ping", (), 403, JSON, True, forbidden("system:anonymous", "get", "/livez/ping")),
    ]
    for path, options, status, content_type, nosniff, body in rows:
        for way in ("--http1.1", "--http2"):
            got, headers, text = ask(served.url + path, *options, way=way)
            assert got == status, (path, options, way, got, text)
            assert headers.get("content-type") == content_type, (path, options, headers)
            assert ("x-content-type-options" in headers) == nosniff, (path, options, headers)
            assert headers["cache-control"] == "no-cache, private", (path, headers)
            assert body is None or text == body, (path, options, text)
    assert ask(served.url + "/debug/pprof", *root)[1]["location"] == "/debug/pprof/"
    # a method that nobody knows: llhttp refuses it, where Go's server lets it pass
    assert ask(served.url + "/healthz", "-X", "FOO")[0] == 501
    assert ask(served.url + "/healthz", "-X", "FOO", way="--http2")[0] == 200
    head = curl("-I", served.url + "/healthz").stdout
    assert b"Content-Length: 2" in head, head
    # for programs JSON is compact
    assert ask(served.url + "/nothing", "-A", "program")[2] == json.dumps(
        json.loads(forbidden("system:anonymous", "get", "/nothing")), separators=(",", ":")).encode() + b"\n"
    status, headers, text = ask(served.url + "/%zz")
    assert (status, text, headers["connection"]) == (400, b"400 Bad Request", "close")
    assert "cache-control" not in headers
    assert "cache-control" in ask(served.url + "/berth/later", *root)[1]
    # the flags' text is drawn by lot once, the status's each time
    assert len({ask(served.url + "/flagz", *root)[2] for _ in range(8)}) == 1
    text = ask(served.url + "/statusz", *root)[2].decode()
    assert "Paths" in text and " /berth /configz /flagz /healthz /livez /metrics /readyz\n" in text, text


def packed_metrics(served, folder):
    status, headers, body = ask(served.url + "/metrics", *as_client(folder, "masters"), "-H", "Accept-Encoding: gzip")
    assert headers["content-encoding"] == "gzip" and b"access_reviews_sent" in gzip.decompress(body), headers
    assert headers["process-start-time-unix"] == "1000000000"


def ill_health(served, folder):
    root = as_client(folder, "masters")
    ask(served.url + "/berth/ill", *root)
    status, headers, body = ask(served.url + "/readyz")
    assert (status, body) == (500, b"[+]shutdown ok\n[-]mood failed: reason withheld\nreadyz check failed\n"), body
    assert headers["content-type"] == PLAIN and "x-content-type-options" in headers
    assert ask(served.url + "/readyz?exclude=mood")[0] == 200
    status, headers, body = ask(served.url + "/readyz/mood", *root)
    assert (status, body) == (500, b"internal server error: something is wrong\n"), body
    ask(served.url + "/berth/ill", *root)
    assert ask(served.url + "/readyz")[0] == 200


def certificates(served, folder):
    who = served.url + "/berth/whoami"
    as_bob = ("-H", "X-Remote-User: bob", "-H", "X-Remote-Group: system:masters")

    def refused(*options):
        status, headers, body = ask(who, *options)
        assert (status, body, headers["content-type"]) == (401, UNAUTHORIZED, JSON), (options, status, body)
        assert "x-content-type-options" not in headers

    for name in ("stranger", "nameless", "front"):
        refused(*as_client(folder, name))
    refused(*as_client(folder, "not-front"), *as_bob)
    refused(*as_client(folder, "stranger"), *as_bob)
    assert ask(who, *as_client(folder, "masters"))[2].startswith(b"root||system:masters,system:authenticated|")
    assert ask(who, *as_client(folder, "front"), *as_bob)[2] == b"bob||system:masters,system:authenticated\n"
    # without a proxy's certificate its headers mean nothing
    assert ask(who, *as_bob)[2] == forbidden("system:anonymous", "get", "/berth/whoami")
    alice = forbidden("alice", "get", "/berth/whoami")
    assert ask(who, *as_client(folder, "alice"))[2] == alice
    assert ask(who, *as_client(folder, "alice"), *as_bob)[2] == alice


def connections(served, folder):
    """Who may be anybody gets one exchange on an HTTP/2 connection; who is known keeps it."""
    def n_connects(*options, way):
        out = curl("-w", "%{num_connects}", "-o", "/dev/null", "-o", "/dev/null", "-o", "/dev/null", *options,
                   *[served.url + p for p in ("/healthz", "/livez", "/readyz")], way=way).stdout
        return sum(int(c) for c in out.decode())
    assert n_connects(way="--http2") == 3
    assert n_connects(*as_client(folder, "alice"), way="--http2") == 1
    assert n_connects(way="--http1.1") == 1


def profiles(served, folder):
    path = os.path.join(folder, "profile.gz")
    root = as_client(folder, "masters")
    url = served.url + "/debug/pprof/profile?seconds=2"
    codes = []
    while sorted(codes) != [b"200", b"500"]:  # two at once: one of them is refused; meanwhile the server works
        assert codes in ([], [b"200", b"200"]), codes  # they missed each other
        both = [subprocess.Popen(["curl", "-sSk", *root, "-o", path + str(i), "-D", path + ".head" + str(i), "-w", "%{http_code}",
                                  url], stdout=subprocess.PIPE) for i in range(2)]
        while any(b.poll() is None for b in both):
            ask(served.url + "/healthz")
        codes = [b.communicate()[0] for b in both]
    with open(path + str(codes.index(b"500")), "rb") as f:
        assert f.read() == b"Could not enable CPU profiling: cpu profiling already in use\n"
    path, head = path + str(codes.index(b"200")), path + ".head" + str(codes.index(b"200"))
    with open(head) as f:
        head = f.read().lower()
    assert 'content-disposition: attachment; filename="profile"' in head and "application/octet-stream" in head
    with gzip.open(path) as f:
        message = f.read()
    assert b"nanoseconds" in message
    if shutil.which("go"):
        text = run("go", "tool", "pprof", "-raw", path).stdout.decode()
        assert "PeriodType: cpu nanoseconds" in text and "Period: 10000000" in text, text
        assert "samples/count cpu/nanoseconds" in text, text
    # whoever leaves ends it: the next one can begin
    run("curl", "-sSk", *root, "--max-time", "0.3", served.url + "/debug/pprof/profile?seconds=300", ok=False)
    until = time.time() + 60
    while ask(served.url + "/debug/pprof/profile?seconds=1", *root)[0] != 200:
        assert time.time() < until


def hostile(served, folder):
    root = as_client(folder, "masters")
    assert ask(served.url + "/healthz", "-H", "X: " + "y" * 100000)[0] == 200
    for way in ("--http1.1", "--http2"):
        with open(os.path.join(folder, "headers"), "w") as f:
            f.write("Authorization: Bearer " + "t" * (1 << 20))
        done = curl("-o", "/dev/null", "-w", "%{http_code}", "-H", "@" + os.path.join(folder, "headers"),
                    served.url + "/healthz", way=way, ok=False)
        assert done.returncode != 0 or done.stdout == b"431", (way, done)
    for path in ("/..", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/debug/pprof/../../etc/passwd", "/%00", "/\xff",
                 "/debug/flags%2f..%2fv", "//", "/metrics/", "/METRICS", "/metrics%20"):
        assert ask(served.url + path)[0] == 403, path
        assert ask(served.url + path, *root)[0] in (404, 200), path
    flood = "&".join("exclude=%d" % i for i in range(5000))
    assert ask(served.url + "/readyz?" + flood)[0] == 200
    assert ask(served.url + "/healthz?" + "a" * 70000)[0] == 414
    assert ask(served.url + "/berth/echo", *root, "--data-binary", "x" * 100000)[2] == b"x" * 100000
    with open(os.path.join(folder, "large"), "wb") as f:
        f.write(b"x" * 3000000)
    for way in ("--http1.1", "--http2"):  # curl 7.88 does not see an answer on HTTP/2 that comes before it has sent all
        done = curl("-o", "/dev/null", "-w", "%{http_code}", *root, "--data-binary", "@" + os.path.join(folder, "large"),
                    served.url + "/berth/echo", way=way, ok=False)
        assert done.stdout == b"413" or (way == "--http2" and done.returncode == 92), done
    # not TLS at all; a head that never ends; an end in the middle
    for what in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\xff" * 1000, b""):
        with socket.create_connection(("127.0.0.1", served.port), 10) as s:
            s.sendall(what)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for what in (b"GET /berth/later HTTP/1.1\r\nHost: h\r\n\r\n", b"GET /healthz HTTP/1.1\r\nX: ", b"\0\0\0\0", b"GET * HTTP/1.1\r\n"):
        with context.wrap_socket(socket.create_connection(("127.0.0.1", served.port), 10)) as s:
            s.sendall(what)
    for _ in range(20):  # left while an answer is on its way
        run("curl", "-sSk", *root, "--max-time", "0.03", served.url + "/berth/later", ok=False)
    assert ask(served.url + "/healthz")[2] == b"ok"


def reviews(served):
    """Tokens and access, as an API server says; each question once, while its answer is good."""
    who = served.url + "/berth/whoami"
    Api.reviews.clear()
    for way in ("--http1.1", "--http2"):
        assert ask(who, *bearer("tok"), way=way)[2] == b"tokuser|u1|g1,system:authenticated|a=x|b=2,1\n"
    assert Api.reviews == [
        ("/apis/authentication.k8s.io/v1/tokenreviews",
         '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":"tok"},'
         '"status":{"user":{}}}\n'),
        ("/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s",
         '{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":'
         '{"nonResourceAttributes":{"path":"/berth/whoami","verb":"get"},"user":"tokuser","groups":["g1",'
         '"system:authenticated"],"extra":{"a":["x"],"b":["2","1"]},"uid":"u1"},"status":{"allowed":false}}\n')], Api.reviews
    assert ask(served.url + "/metrics", *bearer("root"))[0] == 200
    for token in ("wrong", "forbidden"):
        status, _, body = ask(served.url + "/healthz", *bearer(token))
        assert (status, body) == (401, UNAUTHORIZED)
    assert ask(served.url + "/metrics", *bearer("tok"))[2] == forbidden("tokuser", "get", "/metrics")
    assert ask(served.url + "/reason")[2] == forbidden("system:anonymous", "get", "/reason", ": because <x>")
    status, headers, body = ask(served.url + "/fail")
    assert (status, body) == (500, b'Internal Server Error: "/fail": no &lt;b&gt;\n'), body
    assert ask(served.url + "/berth/echo", *bearer("tok"), "-d", "some body")[2] == b"some body"
    assert ask(served.url + "/berth/nothing")[0] == 404


def many_tokens(served):
    """One connection, a thousand tokens: none is mixed up with another, and the server keeps its bounds."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", served.port, timeout=60, context=context)
    for i in range(1000):
        token = "tok" if i % 10 == 0 else "wrong-%d" % i
        connection.request("GET", "/healthz", headers={"Authorization": "Bearer " + token})
        answer = connection.getresponse()
        assert (answer.status == 200) == (token == "tok"), (i, answer.status)
        answer.read()
    connection.close()


def hanging_reviews(served):
    """A review that does not come holds up only those who wait for it; who leaves is forgotten."""
    waiting = [subprocess.Popen(["curl", "-sSk", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "20", *options, url],
                                stdout=subprocess.PIPE)
               for options, url in ((bearer("hang"), served.url + "/healthz"), (bearer("hang"), served.url + "/healthz"),
                                    ((), served.url + "/hang"))]
    run("curl", "-sSk", "--max-time", "0.5", *bearer("hang"), served.url + "/healthz", ok=False)
    assert ask(served.url + "/healthz")[2] == b"ok"
    assert ask(served.url + "/berth/whoami", *bearer("tok"))[0] == 200
    codes = [w.communicate(timeout=40)[0] for w in waiting]
    assert codes == [b"401", b"401", b"500"], codes


def lookup(folder, kubeconfig):
    """Whom to trust comes from the API server, and changes with it."""
    def config_map(version, clients):
        with open(f"{folder}/{clients}.crt") as c, open(f"{folder}/proxies.crt") as p:
            return {"kind": "ConfigMap", "apiVersion": "v1",
                    "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system",
                                 "resourceVersion": version},
                    "data": {"client-ca-file": c.read(), "requestheader-client-ca-file": p.read(),
                             "requestheader-username-headers": '["X-Remote-User"]',
                             "requestheader-group-headers": '["X-Remote-Group"]',
                             "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
                             "requestheader-allowed-names": '["front"]'}}
    Api.config_map = config_map("1", "clients")
    Api.changed.clear()
    with serving("--authn", kubeconfig, "--lookup") as served:
        assert served.line() == "lookup done"
        assert ask(served.url + "/metrics", *as_client(folder, "masters"))[0] == 200
        assert ask(served.url + "/metrics", *as_client(folder, "stranger"))[0] == 401
        assert ask(served.url + "/berth/whoami", *as_client(folder, "front"), "-H", "X-Remote-User: bob", "-H",
                   "X-Remote-Group: system:masters")[2].startswith(b"bob|")
        Api.config_map = config_map("2", "others")
        Api.changed.set()
        until = time.time() + 30
        while ask(served.url + "/metrics", *as_client(folder, "stranger"))[0] != 200:
            assert time.time() < until
            time.sleep(0.1)
        assert ask(served.url + "/metrics", *as_client(folder, "masters"))[0] == 401
    Api.config_map = None
    with serving("--authn", kubeconfig, "--lookup") as served:
        assert served.line() == "lookup done"  # none is there


def files_of_authorities(folder):
    path = os.path.join(folder, "ca-now.crt")
    shutil.copy(f"{folder}/others.crt", path)
    with serving("--client-ca", path, "--look-ms", "50") as served:
        assert ask(served.url + "/metrics", *as_client(folder, "masters"))[0] == 401
        shutil.copy(f"{folder}/clients.crt", path + ".new")
        os.rename(path + ".new", path)
        until = time.time() + 30
        while ask(served.url + "/metrics", *as_client(folder, "masters"))[0] != 200:
            assert time.time() < until
            time.sleep(0.05)


def self_signed(folder):
    certs = os.path.join(folder, "certs")
    for options, names in (((), "DNS:localhost, IP Address:127.0.0.1, IP Address:127.0.0.1"),
                           (("--bind", "0.0.0.0", "--cert-dir", certs), "DNS:localhost, DNS:localhost, IP Address:127.0.0.1")):
        with serving(*options) as served:
            shown = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % served.port, "-showcerts"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            chain = [b"-----BEGIN CERTIFICATE-----" + c for c in shown.split(b"-----BEGIN CERTIFICATE-----")[1:]]
            assert len(chain) == 2, shown
            leaf, ca = (openssl("x509", "-noout", "-text", input=c).decode() for c in chain)
            for words in ("Public-Key: (2048 bit)", "sha256WithRSAEncryption", "CN = localhost@", "Issuer: CN = localhost-ca@",
                          "Digital Signature, Key Encipherment", "TLS Web Server Authentication\n", "CA:FALSE", names):
                assert words in leaf, (words, leaf)
            assert "CA:TRUE" in ca and "CN = localhost-ca@" in ca
            assert curl(served.url + "/healthz").stdout == b"ok"
            # every family
            if options:
                assert run("curl", "-sSk", "https://[::1]:%d/healthz" % served.port).stdout == b"ok"
                first = chain[0]
    with serving("--bind", "0.0.0.0", "--cert-dir", certs) as served:  # the same again
        again = ssl.get_server_certificate(("127.0.0.1", served.port)).encode()
        assert again.strip() in first, (again, first)


def tls_settings(folder):
    def talks(served, *options):
        done = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % served.port, *options],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode("latin1")

    def agreed(text):
        return "Cipher is (NONE)" not in text and "New, TLSv1" in text

    with serving("--min-tls", "13") as served:
        assert agreed(talks(served, "-tls1_3")) and not agreed(talks(served, "-tls1_2"))
    with serving("--cipher", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384") as served:
        assert "ECDHE-RSA-AES256-GCM-SHA384" in talks(served, "-tls1_2")
        assert not agreed(talks(served, "-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"))
        assert agreed(talks(served, "-tls1_3"))
    with serving("--cipher", "TLS_AES_128_GCM_SHA256") as served:
        assert agreed(talks(served, "-tls1_3")) and not agreed(talks(served, "-tls1_2"))
    with serving("--curve", "24") as served:
        assert agreed(talks(served, "-groups", "P-384")) and not agreed(talks(served, "-groups", "X25519"))
    with serving() as served:
        assert agreed(talks(served, "-tls1_2")) and not agreed(talks(served, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"))
        assert "ALPN protocol: h2" in talks(served, "-alpn", "h2,http/1.1")
    with serving("--min-tls", "10") as served:
        assert agreed(talks(served, "-tls1", "-cipher", "ALL:@SECLEVEL=0"))
    with serving("--no-http2") as served:
        assert "ALPN protocol: http/1.1" in talks(served, "-alpn", "h2,http/1.1")
    with serving("--cert", f"{folder}/masters.crt", "--key", f"{folder}/masters.key",
                 "--sni", f"{folder}/alice.crt,{folder}/alice.key") as served:
        assert "CN = alice" in talks(served, "-servername", "two.test") or "CN = root" in talks(served, "-servername", "two.test")
        assert "CN = root" in talks(served, "-servername", "other.test")
    failed = run(TOOL, "--cert", f"{folder}/masters.crt", "--key", f"{folder}/alice.key", ok=False)
    assert failed.returncode == 1 and b"alice.key" in failed.stderr, failed


def listening_before_serving():
    """Whoever connects early waits, and is answered."""
    with serving("--delay-ms", "400", wait=False) as served:
        early = [subprocess.Popen(["curl", "-sSk", "--max-time", "30", served.url + "/healthz"], stdout=subprocess.PIPE)
                 for _ in range(5)]
        assert [e.communicate(timeout=30)[0] for e in early] == [b"ok"] * 5
        with socket.socket() as s:
            taken = run(TOOL, "--port", str(served.port), ok=False)
            assert taken.returncode == 1 and b"failed to create listener" in taken.stderr, taken
            assert b"address already in use" in taken.stderr, taken
            s.close()


def a_graceful_end(folder):
    with serving("--client-ca", f"{folder}/clients.crt", told_to_end=True) as served:
        later = subprocess.Popen(["curl", "-sSk", "--max-time", "30", *as_client(folder, "masters"),
                                  served.url + "/berth/later"], stdout=subprocess.PIPE)
        profile = subprocess.Popen(["curl", "-sSk", "--max-time", "30", *as_client(folder, "masters"),
                                    served.url + "/debug/pprof/profile?seconds=60"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        assert later.communicate(timeout=30)[0] == b"at last\n"
        time.sleep(0.3)
        served.child.terminate()
        profile.communicate(timeout=30)  # cut after the grace, and nothing is left behind


def main():
    with tempfile.TemporaryDirectory() as folder, api_server(folder) as kubeconfig:
        make_all(folder)
        with serving("--client-ca", f"{folder}/clients.crt", "--proxy-ca", f"{folder}/proxies.crt", "--proxy-name", "front",
                     "--v", "3") as served:
            for test in (answers, packed_metrics, ill_health, certificates, connections, profiles, hostile):
                test(served, folder)
        assert '"HTTP" verb="GET" URI="/healthz"' in served.log and "resp=200" in served.log
        with serving("--no-profiling", "--client-ca", f"{folder}/clients.crt") as served:
            assert ask(served.url + "/debug/pprof/", *as_client(folder, "masters"))[0] == 404
        with serving("--authn", kubeconfig, "--authz", kubeconfig) as served:
            reviews(served)
            many_tokens(served)
            hanging_reviews(served)
        lookup(folder, kubeconfig)
        files_of_authorities(folder)
        self_signed(folder)
        tls_settings(folder)
        listening_before_serving()
        a_graceful_end(folder)


main()
