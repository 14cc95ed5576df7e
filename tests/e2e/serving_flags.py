#!/usr/bin/env python3
"""serving_flags.py BERTH STAND_IN - flags of a running `berth scheduler`, from the command line to what they do: certificates, protocols,
ports, who is known, what is served. What refuses a flag is in scheduler_flags.py, what stands behind the port in ops.py."""
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import cli
from cli import check

STAND_IN = os.path.abspath(sys.argv[2])
LIMIT = 120  # seconds that one step may take on a slow machine


def wait(holds, what):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found = holds()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("after %d s not yet: %s" % (LIMIT, what))


def openssl(*args):
    subprocess.run(["openssl", *args], check=True, capture_output=True)


def make_pair(folder, name, subject, *more):
    cert, key = os.path.join(folder, name + ".crt"), os.path.join(folder, name + ".key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
            "-subj", subject, *more)
    return cert, key


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scheduler:
    def __init__(self, kubeconfig, *flags, port=None, shadow=True):
        self.port = port or free_port()
        self.child = subprocess.Popen([cli.BERTH, "scheduler", "--kubeconfig", kubeconfig, "--secure-port=%d" % self.port, "--bind-address=127.0.0.1",
                                       *(["--shadow"] if shadow else []), *flags],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"]})

    def __enter__(self):
        wait(lambda: self.get("/readyz")[0] == "200" or self.child.poll() is not None, "readyz")
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
        self.child.stderr.read()
        return self.child.wait()

    def get(self, path, *options):
        """(status, body, whether HTTP/2)"""
        done = subprocess.run(["curl", "-sk", "-m", "60", "-w", "\n%{http_code} %{http_version}", *options, "https://127.0.0.1:%d%s" % (self.port, path)],
                              capture_output=True, text=True, errors="replace", check=False)
        body, _, last = done.stdout.rpartition("\n")
        status, version = last.split()
        return status, body, version == "2"

    def handshake(self, name="127.0.0.1", most=None, suites=None):
        """(version, suite, common name of the certificate), or None: refused"""
        context = ssl._create_unverified_context()
        if most:
            context.maximum_version = most
        if suites:
            context.set_ciphers(suites)
        try:
            with socket.create_connection(("127.0.0.1", self.port)) as plain, context.wrap_socket(plain, server_hostname=name) as s:
                file = ssl.DER_cert_to_PEM_cert(s.getpeercert(True))
                subject = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=file, capture_output=True, text=True, check=True).stdout
                return s.version(), s.cipher()[0], subject.split("=")[-1].strip()
        except ssl.SSLError:
            return None


def certificates(kubeconfig, folder):
    cert, key = make_pair(folder, "served", "/CN=served")
    other, other_key = make_pair(folder, "other", "/CN=other", "-addext", "subjectAltName=DNS:other.example")
    with Scheduler(kubeconfig, "--tls-cert-file=" + cert, "--tls-private-key-file=" + key, "--tls-sni-cert-key=%s,%s" % (other, other_key)) as s:
        check(s.handshake()[2] == "served", "--tls-cert-file", s.handshake())
        check(s.handshake(name="other.example")[2] == "other", "--tls-sni-cert-key", s.handshake(name="other.example"))
    kept = os.path.join(folder, "kept")
    with Scheduler(kubeconfig, "--cert-dir=" + kept) as s:
        check(sorted(os.listdir(kept)) == ["kube-scheduler.crt", "kube-scheduler.key"], "--cert-dir", os.listdir(kept))


def tls_settings(kubeconfig, _folder):
    with Scheduler(kubeconfig, "--tls-min-version=VersionTLS13") as s:
        check(s.handshake()[0] == "TLSv1.3", "TLS 1.3", s.handshake())
        check(s.handshake(most=ssl.TLSVersion.TLSv1_2) is None, "--tls-min-version")
    with Scheduler(kubeconfig, "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384") as s:
        got = s.handshake(most=ssl.TLSVersion.TLSv1_2)
        check(got and got[1].endswith("AES256-GCM-SHA384"), "--tls-cipher-suites", got)
        check(s.handshake(most=ssl.TLSVersion.TLSv1_2, suites="AES128-GCM-SHA256:ECDHE+AES128") is None, "others are refused")
    with Scheduler(kubeconfig) as s:
        check(s.get("/livez")[2], "HTTP/2")
    with Scheduler(kubeconfig, "--disable-http2-serving") as s:
        check(s.get("/livez")[0] == "200" and not s.get("/livez")[2], "--disable-http2-serving")


def streams_allowed(port):
    """MAX_CONCURRENT_STREAMS of the server's first SETTINGS."""
    context = ssl._create_unverified_context()
    context.set_alpn_protocols(["h2"])
    with socket.create_connection(("127.0.0.1", port), LIMIT) as plain, context.wrap_socket(plain) as s:
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        with s.makefile("rb") as stream:
            head = stream.read(9)
            assert head[3] == 4, head
            settings = stream.read(int.from_bytes(head[:3], "big"))
    found = {int.from_bytes(settings[i:i + 2], "big"): int.from_bytes(settings[i + 2:i + 6], "big") for i in range(0, len(settings), 6)}
    return found.get(3)


def streams(kubeconfig, _folder):
    for flags, want in (([], 100), (["--http2-max-streams-per-connection=7"], 7)):
        with Scheduler(kubeconfig, *flags) as s:
            check(streams_allowed(s.port) == want, "--http2-max-streams-per-connection", streams_allowed(s.port))


def ports(kubeconfig, _folder):
    with Scheduler(kubeconfig, "--permit-port-sharing") as s, Scheduler(kubeconfig, "--permit-port-sharing", port=s.port) as t:
        time.sleep(0.2)
        check(s.child.poll() is None and t.child.poll() is None, "--permit-port-sharing")
        third = Scheduler(kubeconfig, port=s.port)
        text = third.child.stderr.read().decode()
        check(third.child.wait() == 1 and "address already in use" in text, "without it the port is taken", text)
    none = Scheduler(kubeconfig, "--secure-port=0")
    check(none.get("/livez")[0] == "000" and none.child.poll() is None, "--secure-port=0")
    none.stop()


def who_asks(kubeconfig, folder):
    cert, key = make_pair(folder, "admin", "/O=system:masters/CN=admin")
    with Scheduler(kubeconfig, "--client-ca-file=" + cert) as s:
        check(s.get("/configz")[0] == "403", "anonymous")
        check(s.get("/configz", "--cert", cert, "--key", key)[0] == "200", "--client-ca-file", s.get("/configz", "--cert", cert, "--key", key))
    with Scheduler(kubeconfig, "--authorization-always-allow-paths=/configz,/flagz,/readyz,/debug/*", "--profiling=false") as s:
        check(s.get("/configz")[0] == "200" and s.get("/livez")[0] == "403", "--authorization-always-allow-paths")
        check(s.get("/debug/pprof/heap")[0] == "404", "--profiling=false", s.get("/debug/pprof/heap"))
        check("profiling false" in s.get("/flagz")[1].replace("=", " ").replace(":", " ").replace("  ", " "), "/flagz", s.get("/flagz")[1])


def what_is_served(kubeconfig, folder):
    record = os.path.join(folder, "record")
    with Scheduler(kubeconfig, "--authorization-always-allow-paths=/*", "--disabled-metrics=scheduler_cache_size", "--decisions=2", "--record=" + record,
                   "--leader-elect=false", shadow=False) as s:
        wait(lambda: json.loads(s.get("/berth/v1/decisions")[1])["kept"] == 2, "two decisions are kept")
        check(json.loads(s.get("/berth/v1/decisions")[1])["dropped"] == 3, "--decisions", s.get("/berth/v1/decisions")[1])
        page = s.get("/metrics")[1]
        check("scheduler_pending_pods{" in page and "scheduler_cache_size" not in page, "--disabled-metrics")
        check(s.stop() == 1, "without leader election a signal ends it with 1")
    done = subprocess.run([cli.BERTH, "replay", record + ".1"], capture_output=True, text=True, check=False)
    check(done.returncode == 0 and "equal" in done.stdout and "5 placed" in done.stdout, "--record", done.stdout + done.stderr)
    both = Scheduler(kubeconfig, "--record=" + record)
    text = both.child.stderr.read().decode()
    check(both.child.wait() == 1 and "--record: with --shadow there are no decisions to record" in text, "--record with --shadow", text)
    with Scheduler(kubeconfig, "--authorization-always-allow-paths=/*", "--decisions=0", "--leader-elect=false", shadow=False) as s:
        check(s.get("/berth/v1/decisions")[0] == "404", "--decisions=0")
        s.child.send_signal(signal.SIGINT)
        check(s.child.wait() == 1, "SIGINT as SIGTERM")


def main():
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = os.path.join(folder, "kubeconfig")
        api = subprocess.Popen([STAND_IN, "--kubeconfig", kubeconfig, "--nodes", "3", "--pods", "5"], stdout=subprocess.PIPE, text=True)
        try:
            check(api.stdout.readline().startswith("listening"), "the stand-in listens")
            for f in (certificates, tls_settings, streams, ports, who_asks, what_is_served):
                f(kubeconfig, folder)
        finally:
            api.terminate()
            api.wait()
    cli.finish()


main()
