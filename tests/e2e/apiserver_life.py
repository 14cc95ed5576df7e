#!/usr/bin/env python3
"""apiserver_life.py BERTH - how `berth apiserver` begins, serves and ends: folders, keys, signals, health, flags; also under the names
kube-apiserver and etcd, as test suites start them."""
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

BERTH = os.path.abspath(sys.argv[1])
LIMIT = 120  # seconds that one step may take on a slow machine
TOKEN = "secret"
failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, shown))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(folder):
    return {"PATH": os.environ["PATH"], "HOME": folder}


class Server:
    """One API server; with a token unless the flags say otherwise."""

    def __init__(self, folder, *flags, program=(BERTH, "apiserver"), token=True, data=True):
        self.folder, self.port = folder, free_port()
        tokens = os.path.join(folder, "tokens.csv")
        with open(tokens, "w", encoding="utf-8") as f:
            f.write('%s,admin,1,"system:masters"\n' % TOKEN)
        self.log = os.path.join(folder, "log%d" % self.port)
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [*program, "--bind-address=127.0.0.1", "--secure-port=%d" % self.port, *flags,
             *(["--token-auth-file=" + tokens] if token else []),
             *(["--data-dir=" + os.path.join(folder, "data")] if data else [])],
            stdout=subprocess.PIPE, stderr=open(self.log, "w", encoding="utf-8"), text=True, env=environment(folder))
        self.line = self.process.stdout.readline()  # empty when it has ended
        self.took = time.monotonic() - self.begun

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def open(self, path, token=TOKEN, method="GET", body=None, trust=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = "Bearer " + token
        request = urllib.request.Request("https://127.0.0.1:%d%s" % (self.port, path), method=method, headers=headers,
                                         data=json.dumps(body).encode() if body else None)
        return urllib.request.urlopen(request, context=trust or ssl._create_unverified_context(), timeout=LIMIT)

    def ask(self, path, **more):
        try:
            with self.open(path, **more) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(LIMIT)


def uid_of(server, path):
    return json.loads(server.ask(path)[1])["metadata"]["uid"]


def a_life():
    with tempfile.TemporaryDirectory() as folder:
        with Server(folder, "--authorization-mode=RBAC") as s:
            check(s.line == "berth apiserver is ready at https://127.0.0.1:%d\n" % s.port, "the line that scripts wait for", s.line)
            check(s.ask("/healthz", token=None) == (200, "ok"), "health is open to everybody")
            check(s.ask("/readyz")[0] == 200, "ready when it says so", s.ask("/readyz?verbose")[1])
            check("[+]durability/synced ok" in s.ask("/readyz?verbose")[1], "how durable writes are")
            check(s.ask("/readyz/etcd") == (200, "ok") and s.ask("/readyz/nothing")[0] == 404, "single checks")
            check("[+]etcd excluded: ok" in s.ask("/livez?verbose&exclude=etcd")[1], "a check that is left out")
            check(s.ask("/api/v1/namespaces", token=None)[0] in (401, 403), "others are not")
            check(s.ask("/api/v1/namespaces/default")[0] == 200, "its own objects")
            check(json.loads(s.ask("/version")[1])["gitVersion"] == "v1.36.4", "version")
            check("/livez/ping" in json.loads(s.ask("/")[1])["paths"], "paths")
            metrics = s.ask("/metrics")[1]
            for name in ("apiserver_request_total{", "berth_store_keys ", 'berth_store_durability{mode="synced"} 1',
                         'apiserver_storage_objects{resource="namespaces"}', "process_start_time_seconds"):
                check(name in metrics, "metric " + name)
            made = {"metadata": {"name": "kept"}, "data": {"a": "b"}}
            check(s.ask("/api/v1/namespaces/default/configmaps", method="POST", body=made)[0] == 201, "a write")
            uids = [uid_of(s, p) for p in ("/api/v1/namespaces/default", "/api/v1/namespaces/default/configmaps/kept")]
            service = json.loads(s.ask("/api/v1/namespaces/default/services/kubernetes")[1])
            check(service["spec"]["clusterIP"] == "10.0.0.1", "its own service")
            check(s.end() == 0, "it ends well", s.text())
        with Server(folder, "--authorization-mode=RBAC") as s:
            again = [uid_of(s, p) for p in ("/api/v1/namespaces/default", "/api/v1/namespaces/default/configmaps/kept")]
            check(again == uids, "the same objects at the second start")
            service = json.loads(s.ask("/api/v1/namespaces/default/services/kubernetes")[1])
            check(service["spec"]["ports"][0]["targetPort"] == s.port, "its own service at the new port", service)
            check("command failed" not in s.text() and "Unable to make" not in s.text(), "no complaints", s.text())
            with Server(folder) as second:
                check(second.line == "" and second.process.wait(LIMIT) == 1, "two on one folder are one too many")
                check("--data-dir" in second.text(), "and it says why", second.text())
            check(s.end(signal.SIGINT) == 0, "an interrupt is no failure")


def the_end():
    """The order of an end: not ready, still serving, then watches end cleanly."""
    with tempfile.TemporaryDirectory() as folder, Server(folder, "--memory", "--shutdown-delay-duration=2s", data=False) as s:
        got = []

        def watch():
            with s.open("/api/v1/namespaces?watch=true") as stream:
                for line in stream:
                    got.append(json.loads(line)["type"])
            got.append("end")
        reader = threading.Thread(target=watch)
        reader.start()
        until = time.monotonic() + LIMIT
        while not got and time.monotonic() < until:
            time.sleep(0.02)
        s.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        code, body = s.ask("/readyz")
        check(code == 500 and "[-]shutdown failed: reason withheld" in body, "not ready any more", body)
        check(s.ask("/livez") == (200, "ok") and s.ask("/api/v1/namespaces")[0] == 200, "but alive, and serving")
        reader.join(LIMIT)
        check(got[-1] == "end" and set(got[:-1]) == {"ADDED"}, "the watch ends without an error", got)
        check(s.process.wait(LIMIT) == 0, "exit code")
        check(not os.path.exists(os.path.join(folder, "data")) and not os.path.exists(os.path.join(folder, ".local")),
              "memory leaves nothing behind")


def an_administrator():
    """Without any flag that says who is known: a kubeconfig with a certificate."""
    with tempfile.TemporaryDirectory() as folder, Server(folder, token=False) as s:
        pki = os.path.join(folder, "data", "pki")
        check(sorted(os.listdir(pki)) == ["admin.kubeconfig", "apiserver.crt", "apiserver.key", "client-ca.crt", "client-ca.key",
                                          "sa.key"], "what is kept", os.listdir(pki))
        check(os.stat(os.path.join(pki, "admin.kubeconfig")).st_mode & 0o77 == 0, "for its owner alone")
        with open(os.path.join(pki, "admin.kubeconfig"), encoding="utf-8") as f:
            words = dict(re.findall(r"([\w-]+-data): (\S+)", f.read()))
        import base64
        for name, text in words.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(base64.b64decode(text))
        trust = ssl.create_default_context(cafile=os.path.join(folder, "certificate-authority-data"))
        trust.load_cert_chain(os.path.join(folder, "client-certificate-data"), os.path.join(folder, "client-key-data"))
        check(s.ask("/api/v1/namespaces", token=None, trust=trust)[0] == 200, "its owner may do everything")
        check(s.ask("/api/v1/namespaces", token=None)[0] == 401, "nobody else is known")


def as_a_suite_starts_it():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("kube-apiserver", "etcd"):
            os.symlink(BERTH, os.path.join(folder, name))
        port = free_port()
        etcd = subprocess.Popen([os.path.join(folder, "etcd"), "--data-dir", folder + "/e", "--unsafe-no-fsync=true",
                                 "--listen-client-urls", "http://127.0.0.1:%d" % port, "--listen-peer-urls=http://localhost:0",
                                 "--advertise-client-urls=http://127.0.0.1:%d" % port], env=environment(folder))
        until, answer = time.monotonic() + LIMIT, None
        while answer is None and time.monotonic() < until:
            try:
                answer = urllib.request.urlopen("http://127.0.0.1:%d/health" % port, timeout=LIMIT).read()
            except OSError:
                time.sleep(0.02)
        check(answer == b'{"health":"true","reason":""}', "etcd's health", answer)
        certs = os.path.join(folder, "certs")
        flags = ["--cert-dir=" + certs, "--etcd-servers=http://127.0.0.1:%d" % port, "--allow-privileged=true",
                 "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
                 "--service-cluster-ip-range=10.0.0.0/24", "--apiserver-count=2"]
        program = (os.path.join(folder, "kube-apiserver"),)
        with Server(folder, *flags, program=program, data=False) as s:
            check(os.path.isdir(folder + "/e/berth") and not os.path.exists(folder + "/.local"), "the store is where etcd's would be", s.text())
            namespace = {"metadata": {"name": "of-a-suite"}}
            check(s.ask("/api/v1/namespaces", method="POST", body=namespace)[0] == 201, "a namespace")
            time.sleep(0.5)
            for kind in ("serviceaccounts", "configmaps"):
                found = json.loads(s.ask("/api/v1/namespaces/of-a-suite/" + kind)[1])["items"]
                check(not found, "nothing is in it that the suite did not make", found)
        with Server(folder, *flags, program=program, data=False) as s:
            check(s.ask("/api/v1/namespaces/of-a-suite")[0] == 200, "a second server beside the same etcd goes on")
        etcd.terminate()
        check(etcd.wait(LIMIT) == 0, "etcd ends")
        with Server(folder, *flags, program=program, data=False) as s:
            check(os.path.isdir(folder + "/.local/state/berth/apiserver"), "without it, where a user's state is", s.text())
            check(s.ask("/api/v1/namespaces/of-a-suite")[0] == 404, "which is another store")
        with Server(folder, *flags, program=program) as s:
            first = ssl.get_server_certificate(("127.0.0.1", s.port))
            check(s.ask("/healthz", token=None)[0] == 200, "ready for a suite")
            log = s.text()
            check('"Flags that are known, without effect" flags="--etcd-servers, --apiserver-count"' in log, "idle flags", log)
            check("Flag --apiserver-count has been deprecated" in log, "a deprecated flag")
            check(s.end() == 0, "it ends")
        with Server(folder, *flags, program=program) as s:
            check(ssl.get_server_certificate(("127.0.0.1", s.port)) == first, "the certificate that lies there is used")


def the_past():
    """What changed long ago is forgotten: lists are not continued from there, nor watches resumed."""
    with tempfile.TemporaryDirectory() as folder, Server(folder, "--etcd-compaction-interval=1s") as s:
        page = json.loads(s.ask("/api/v1/namespaces?limit=1")[1])["metadata"]
        path, until = "/api/v1/namespaces?limit=1&continue=" + page["continue"], time.monotonic() + LIMIT
        check(s.ask(path)[0] == 200, "at once")
        number = 0
        while s.ask(path)[0] == 200 and time.monotonic() < until:
            number += 1
            made = {"metadata": {"name": "n%d" % number}}
            check(s.ask("/api/v1/namespaces/default/configmaps", method="POST", body=made)[0] == 201, "something changes")
            time.sleep(0.2)
        code, answer = s.ask(path)
        status = json.loads(answer)
        check((code, status.get("reason")) == (410, "Expired"), "a page that comes too late", answer)
        again = "/api/v1/namespaces?limit=1&continue=" + status["metadata"].get("continue", "")
        check(s.ask(again)[0] == 200, "from the same name on, as things are now", answer)
        with s.open("/api/v1/configmaps?watch=true&timeoutSeconds=5&resourceVersion=" + page["resourceVersion"]) as stream:
            event = json.loads(stream.readline())
        check((event["type"], event["object"].get("code")) == ("ERROR", 410), "a watch from then", event)


def command_lines():
    def run(*args):
        done = subprocess.run([BERTH, "apiserver", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                              env=environment("/nonexistent"))
        return done.returncode, done.stdout, done.stderr
    code, out, _ = run("--help")
    check(code == 0 and "\nEtcd flags:\n" in out and "insecure-port" not in out, "help", out[:300])
    check(run("--nope") == (1, "", "Error: unknown flag: --nope\n"), "an unknown flag", run("--nope"))
    check(run("word")[2] == 'Error: "kube-apiserver" does not take any arguments, got ["word"]\n', "a word")
    code, _, err = run("--memory", "--secure-port=0")
    check(code == 1 and "--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0" in err, "a bad port", err)
    code, _, err = run("--memory", "--service-account-key-file=/nonexistent/key")
    check(code == 1 and "/nonexistent/key" in err, "a file that is not there", err)
    check(run("--version") == (0, "Kubernetes v1.36.4\n", ""), "version")


a_life()
the_end()
an_administrator()
as_a_suite_starts_it()
the_past()
command_lines()
print("%d failures" % failures)
sys.exit(1 if failures else 0)
