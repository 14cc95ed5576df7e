#!/usr/bin/env python3
"""http_client.py TOOL - the client with foreign servers (nghttpd, Python) and proxies (http, https, SOCKS5)."""
import base64
import contextlib
import gzip
import http.server
import os
import select
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading

from http_peers import free_port, make_cert, run, wait_port

TOOL = sys.argv[1]
CLEAN = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


def get(*args, ok=True, env=None):
    done = run(TOOL, "get", *args, ok=ok, env=env or CLEAN)
    return done.stdout, done.stderr.decode(), done.returncode


# ---- nghttpd ----

@contextlib.contextmanager
def nghttpd(folder, *args):
    port = free_port()
    child = subprocess.Popen(["nghttpd", "--htdocs", folder, *args[:1], str(port), *args[1:]],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_port(port)
        yield port
    finally:
        child.kill()
        child.wait()


def with_nghttpd(folder, cert, key):
    body = os.urandom(1 << 20)
    with open(os.path.join(folder, "file"), "wb") as f:
        f.write(body)
    with nghttpd(folder, "--no-tls") as port:
        out, _, _ = get("http://127.0.0.1:%d/file" % port, "--h2c")
        assert out.startswith(b"status 200 version 20\n") and out.endswith(body)
        _, err, _ = get("http://127.0.0.1:%d/file" % port, "--h2c", "-n", "300")
        assert "requests 300 dialed 3 failed 0" in err, err  # nghttpd allows 100 streams at once
    with nghttpd(folder, "--trailer=x-sum: 7", key, cert) as port:
        out, _, _ = get("https://localhost:%d/file" % port, "--ca", cert)
        assert out.startswith(b"status 200 version 20\n") and out.endswith(body + b"trailer x-sum: 7\n")
        _, err, code = get("https://localhost:%d/file" % port, ok=False)
        assert code == 1 and "certificate" in err and "maybe processed: 0" in err, err


# ---- Python's server ----

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = ("path %s host %s" % (self.path, self.headers["Host"])).encode()
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(b"x" * 10000000 if self.path == "/bomb" else body)
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.path == "/once":  # says nothing, and closes
            self.send_header("X-Closes", "yes")
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/once":
            self.close_connection = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for byte in body:
            self.wfile.write(b"1\r\n%c\r\n" % byte)
        self.wfile.write(b"0\r\n\r\n")


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 200


@contextlib.contextmanager
def listening(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def python_server(cert=None, key=None):
    server = Server(("127.0.0.1", 0), Handler)
    if cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    return listening(server)


def with_python(cert, key):
    with python_server() as plain, python_server(cert, key) as tls:
        for url, options in (("http://127.0.0.1:%d" % plain, ()), ("https://localhost:%d" % tls, ("--ca", cert))):
            out, _, _ = get(url + "/a?b=c#d", *options)
            assert out.startswith(b"status 200 version 11\n") and b"path /a?b=c host" in out, out
            assert get(url + "/x", "--data", "abc", *options)[0].endswith(b"\n\nabc")
            assert b"path /z host" in get(url + "/z", "--gzip", *options)[0]
            assert "failed 0" in get(url + "/", "-n", "300", *options)[1]
            assert "failed 0" in get(url + "/once", "-n", "300", *options)[1]
        out, err, code = get("http://127.0.0.1:%d/bomb" % plain, "--gzip", ok=False)
        assert code == 1 and "gzip body grows beyond its limit" in err, err
        out, err, code = get("https://localhost:%d/" % tls, "--ca", cert, "--server-name", "other", ok=False)
        assert code == 1 and "hostname mismatch" in err, err
        assert b"path /" in get("https://127.0.0.1:%d/" % tls, "--insecure", "--server-name", "other")[0]


# ---- Proxies ----

def relay(a, b):
    while True:
        for s in select.select([a, b], [], [])[0]:
            piece = s.recv(65536)
            if not piece:
                return
            (b if s is a else a).sendall(piece)


class ConnectProxy(socketserver.StreamRequestHandler):
    """CONNECT and requests in absolute form, with a user."""
    log = []

    def handle(self):
        with contextlib.suppress(OSError):
            self.answer()

    def answer(self):
        line = self.rfile.readline().decode()
        headers = {}
        while (field := self.rfile.readline().decode().strip()):
            name, _, value = field.partition(":")
            headers[name.lower()] = value.strip()
        self.log.append(line.strip())
        if headers.get("proxy-authorization") != "Basic " + base64.b64encode(b"user:p@ss").decode():
            self.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        method, target, _ = line.split()
        if method == "CONNECT":
            host, port = target.rsplit(":", 1)
            with socket.create_connection(("127.0.0.1", int(port)), 10) as upstream:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\nX-A: b\r\n\r\n")
                relay(self.connection, upstream)
            return
        assert target.startswith("http://")
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied")


class Socks(socketserver.StreamRequestHandler):
    def handle(self):
        with contextlib.suppress(OSError):
            n = self.rfile.read(2)[1]
            assert 2 in self.rfile.read(n)
            self.wfile.write(b"\x05\x02")
            self.rfile.read(1)
            user = self.rfile.read(self.rfile.read(1)[0])
            password = self.rfile.read(self.rfile.read(1)[0])
            good = (user, password) == (b"user", b"p@ss")
            self.wfile.write(b"\x01\x00" if good else b"\x01\x01")
            if not good:
                return
            self.rfile.read(4)
            self.rfile.read(self.rfile.read(1)[0])
            port = int.from_bytes(self.rfile.read(2), "big")
            with socket.create_connection(("127.0.0.1", port), 10) as upstream:
                self.wfile.write(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
                relay(self.connection, upstream)


class ThreadedTcp(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 200


def proxy(handler, cert=None, key=None):
    server = ThreadedTcp(("127.0.0.1", 0), handler)
    if cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    return listening(server)


def with_proxies(folder, cert, key):
    with python_server() as plain, python_server(cert, key) as tls, \
            nghttpd(folder, "--max-concurrent-streams=50", key, cert) as h2:
        with proxy(ConnectProxy) as p, proxy(ConnectProxy, cert, key) as secure, proxy(Socks) as socks:
            good, bad = "http://user:p%%40ss@127.0.0.1:%d" % p, "http://user:wrong@127.0.0.1:%d" % p
            over_tls = "https://user:p%%40ss@localhost:%d" % secure
            by_socks = "socks5://user:p%%40ss@127.0.0.1:%d" % socks
            for way in (good, over_tls, by_socks):
                assert b"path /t" in get("https://localhost:%d/t" % tls, "--ca", cert, "--proxy", way)[0], way
                out = get("https://localhost:%d/file" % h2, "--ca", cert, "--proxy", way)[0]
                assert out.startswith(b"status 200 version 20\n"), (way, out[:100])
            assert get("http://example.test/t", "--proxy", good)[0].endswith(b"proxied")
            assert b"path /s" in get("http://127.0.0.1:%d/s" % plain, "--proxy", by_socks)[0]
            _, err, code = get("https://localhost:%d/" % tls, "--ca", cert, "--proxy", bad, ok=False)
            assert code == 1 and "proxy: 407" in err and "maybe processed: 0" in err, err
            wrong = by_socks.replace("p%40ss", "x")
            _, err, _ = get("https://localhost:%d/" % tls, "--ca", cert, "--proxy", wrong, ok=False)
            assert "wrong user or password" in err, err
            from_environment(good, cert, tls)


def from_environment(good, cert, tls):
    ConnectProxy.log.clear()
    env = dict(CLEAN, HTTPS_PROXY=good, HTTP_PROXY=good)
    get("https://localhost:%d/" % tls, "--ca", cert, env=env)
    assert not ConnectProxy.log, "localhost never goes through a proxy"
    assert get("http://example.test/t", env=env)[0].endswith(b"proxied")
    assert ConnectProxy.log == ["GET http://example.test/t HTTP/1.1"], ConnectProxy.log
    _, err, code = get("http://example.test/t", ok=False, env=dict(env, NO_PROXY="other,.test"))
    assert code == 1 and "lookup example.test" in err, err


def main():
    with tempfile.TemporaryDirectory() as folder:
        cert, key = make_cert(folder)
        with_nghttpd(folder, cert, key)
        with_python(cert, key)
        with_proxies(folder, cert, key)
        _, err, code = get("http://127.0.0.1:%d/" % free_port(), ok=False)
        assert code == 1 and "connection refused" in err, err


main()
