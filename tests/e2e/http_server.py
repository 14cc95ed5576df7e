#!/usr/bin/env python3
"""http_server.py TOOL - the server with foreign clients: curl, h2load, Python's http.client and plain sockets."""
import hashlib
import http.client
import os
import socket
import ssl
import sys
import tempfile
import warnings

from http_peers import h2load, make_cert, run, serving

TOOL = sys.argv[1]
WAYS = (("http", "--http1.1"), ("http", "--http2-prior-knowledge"), ("https", "--http1.1"), ("https", "--http2"))


def curl(*args, ok=True, **options):
    return run("curl", "-sS", "--insecure", "--max-time", "60", *args, ok=ok, **options)


def with_curl(ports, folder):
    body = os.urandom(3 << 20)
    path = os.path.join(folder, "body")
    with open(path, "wb") as f:
        f.write(body)
    for scheme, how in WAYS:
        base = "%s://127.0.0.1:%d" % (scheme, ports[scheme])
        assert curl(how, base + "/").stdout == b"hello\n"
        assert curl(how, "--data-binary", "@" + path, base + "/echo").stdout == body
        assert curl(how, "-H", "Expect: 100-continue", "--data-binary", "@" + path, base + "/echo").stdout == body
        assert curl(how, "-T", "-", base + "/echo", input=body).stdout == body, "a body of unknown length"
        got = curl(how, base + "/bytes/20000000").stdout
        assert hashlib.sha256(got).digest() == hashlib.sha256(b"x" * 20000000).digest()
        assert curl(how, base + "/watch/5").stdout.count(b"\n") == 5
        assert b"x-status: fine" in curl(how, "-i", base + "/trailers").stdout.lower()
        head = curl(how, "-I", base + "/").stdout.lower()
        assert b"content-length: 6" in head and b"date: " in head, head
        assert curl(how, "-o", "/dev/null", "-w", "%{http_code}", base + "/nothing").stdout == b"404"
        # a small window: the sender waits for the reader
        assert len(curl(how, "--limit-rate", "3M", base + "/bytes/3000000").stdout) == 3000000
        if how == "--http2-prior-knowledge":
            continue  # curl 7.88 cannot use such a connection twice, whoever serves it
        assert curl(how, base + "/", base + "/", base + "/").stdout == b"hello\n" * 3


def with_h2load(ports):
    for scheme in ports:
        for how in ((), ("--h1",)):
            url = "%s://127.0.0.1:%d/" % (scheme, ports[scheme])
            n_ok, n_all = h2load(*how, "-n", "5000", "-c", "20", "-m", "10", url)
            assert n_ok == n_all == 5000, (scheme, how, n_ok)


def with_python(ports):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for connection in (http.client.HTTPConnection("127.0.0.1", ports["http"], timeout=30),
                       http.client.HTTPSConnection("127.0.0.1", ports["https"], timeout=30, context=context)):
        for _ in range(10):
            connection.request("POST", "/echo", body=iter([b"one ", b"two"]), encode_chunked=True,
                               headers={"Transfer-Encoding": "chunked"})
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, b"one two")
        connection.close()


def old_protocols_are_refused(port):
    for version, good in ((ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_1, False)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the old one is old
            context.minimum_version = context.maximum_version = version
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as plain, context.wrap_socket(plain) as s:
                assert good, version
                s.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        except ssl.SSLError:
            assert not good, version


def client_certificates(folder):
    cert, key = make_cert(folder)
    client_cert, client_key = make_cert(folder, "client", "DNS:client", "alice")
    with serving(TOOL, "--cert", cert, "--key", key, "--client-ca", client_cert) as port:
        url = "https://localhost:%d/head" % port
        known = curl("--cacert", cert, "--cert", client_cert, "--key", client_key, url)
        assert b"peer alice verified=1" in known.stdout
        assert b"peer localhost verified=0" in curl("--cert", cert, "--key", key, url).stdout
        assert b"peer" not in curl(url).stdout


def a_long_answer_survives_a_graceful_end(port):
    """The server is asked to end while an answer is under way: it comes to its end."""
    with socket.create_connection(("127.0.0.1", port), 10) as s:
        s.sendall(b"GET /watch/30 HTTP/1.1\r\nHost: h\r\n\r\n")
        got = s.recv(1000)
        with socket.create_connection(("127.0.0.1", port), 10) as other:
            other.sendall(b"GET /quit HTTP/1.1\r\nHost: h\r\n\r\n")
            assert b"bye" in other.recv(1000)
        while piece := s.recv(1000):
            got += piece
        assert got.endswith(b"line 1\n\r\n0\r\n\r\n"), got[-100:]


def main():
    with tempfile.TemporaryDirectory() as folder:
        cert, key = make_cert(folder)
        with serving(TOOL) as plain, serving(TOOL, "--cert", cert, "--key", key) as tls:
            ports = {"http": plain, "https": tls}
            with_curl(ports, folder)
            with_h2load(ports)
            with_python(ports)
            old_protocols_are_refused(tls)
        client_certificates(folder)
        with serving(TOOL, told_to_end=True) as plain:
            a_long_answer_survives_a_graceful_end(plain)


main()
