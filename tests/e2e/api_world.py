"""An API server in a folder of its own, and clients of it that need nothing but Python: for the tests apiserver_*.py.

A request either has an answer, or nobody knows what became of it (Unknown), or it was never sent (NotSent)."""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 120  # seconds that one step may take on a slow machine
TOKEN = "secret"
JSON = "application/json"
MERGE, JSON_PATCH, STRATEGIC, APPLY = ("application/merge-patch+json", "application/json-patch+json", "application/strategic-merge-patch+json",
                                       "application/apply-patch+yaml")
failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n       %s" % (what, str(shown)[:2000]), flush=True)
    return condition


def finish():
    print("%d failures" % failures)
    sys.exit(1 if failures else 0)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def trust_all():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


TRUST = trust_all()


class Unknown(Exception):
    """The connection was lost before an answer came."""


class NotSent(Exception):
    """Nobody listens."""


class Server:
    """`berth apiserver` that can be killed and started again; always with a token of an administrator."""

    def __init__(self, berth, folder=None, flags=(), env=None, memory=False, users=()):
        self.own_folder = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="berth-api-")
        self.berth, self.flags, self.env = os.path.abspath(berth), list(flags), env or {}
        self.data = os.path.join(self.folder, "data")
        self.store = self.data
        self.log = os.path.join(self.folder, "log")
        self.where = ["--memory"] if memory else ["--data-dir=" + self.data]
        self.process, self.port, self.line = None, 0, ""
        with open(os.path.join(self.folder, "tokens.csv"), "w", encoding="utf-8") as f:
            f.write('%s,admin,1,"system:masters"\n' % TOKEN)
            for name in users:
                f.write("%s,%s,%s\n" % (name, name, name))

    def spawn(self):
        self.port = free_port()
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.berth, "apiserver", "--bind-address=127.0.0.1", "--secure-port=%d" % self.port,
                 "--token-auth-file=" + os.path.join(self.folder, "tokens.csv"), *self.where, *self.flags],
                stdout=subprocess.PIPE, stderr=log, text=True, env=dict(os.environ, HOME=self.folder, **self.env))

    def wait_ready(self):
        self.line = self.process.stdout.readline()  # empty when it has ended
        return bool(self.line)

    def start(self):
        self.spawn()
        if not self.wait_ready():
            self.process.wait(LIMIT)
            raise AssertionError("the server did not start: " + self.text()[-2000:])
        return self

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            code = self.process.wait(LIMIT)
            self.process.stdout.close()
            self.process = None
            return code
        return None

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if kind:
            print(self.text()[-4000:], file=sys.stderr)
        if self.process and self.process.poll() is None:
            self.kill()
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def status_kib(self, field):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith(field))

    def rss_kib(self):
        return self.status_kib("VmRSS")

    def n_fds(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def metric(self, name):
        for line in Client(self).text("/metrics").splitlines():
            if line.startswith(name + " ") or line.startswith(name + "{"):
                return float(line.rsplit(" ", 1)[1])
        return None


class Client:
    """One connection after the other to the server, wherever it listens now."""

    def __init__(self, server, token=TOKEN, timeout=LIMIT):
        self.server, self.token, self.timeout = server, token, timeout
        self.connection, self.port = None, 0

    def connect(self):
        if self.connection and self.port == self.server.port:
            return
        self.close()
        self.port = self.server.port
        trust = getattr(self.server, "trust", None) or TRUST
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=trust, timeout=self.timeout)
        try:
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as e:
            connection.close()
            raise NotSent(str(e)) from e
        self.connection = connection

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def headers(self, media):
        headers = {"Content-Type": media, "Accept": JSON}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        return headers

    def raw(self, method, path, body=None, media=JSON, headers=None):
        self.connect()
        try:
            self.connection.request(method, path, body=body, headers=dict(self.headers(media), **(headers or {})))
            answer = self.connection.getresponse()
            data = answer.read()
            if answer.will_close:
                self.close()
            return answer.status, data
        except (OSError, http.client.HTTPException) as e:
            self.close()
            raise Unknown(repr(e)) from e

    def ask(self, method, path, body=None, media=JSON, headers=None):
        """(code, object)"""
        data = None if body is None else json.dumps(body).encode()
        code, answer = self.raw(method, path, data, media, headers)
        try:
            return code, json.loads(answer)
        except ValueError:
            return code, answer.decode(errors="replace")

    def text(self, path):
        return self.raw("GET", path)[1].decode()

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        return self.ask("POST", path, body)

    def put(self, path, body):
        return self.ask("PUT", path, body)

    def patch(self, path, body, media=MERGE):
        return self.ask("PATCH", path, body, media)

    def delete(self, path, body=None):
        return self.ask("DELETE", path, body)


def version_of(thing):
    return int(thing["metadata"]["resourceVersion"])


class Watch:
    """A watch that is read on a thread of its own; events in order, until it ends or is closed."""

    def __init__(self, server, path, token=TOKEN):
        self.events, self.error, self.ended = [], None, threading.Event()
        self.grown = threading.Condition()
        self.client = Client(server, token)
        self.client.connect()
        self.client.connection.request("GET", path, headers=self.client.headers(JSON))
        self.answer = self.client.connection.getresponse()
        self.code = self.answer.status
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.answer:
                with self.grown:
                    self.events.append(json.loads(line))
                    self.grown.notify_all()
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as e:
            self.error = e
        self.ended.set()
        with self.grown:
            self.grown.notify_all()

    def wait(self, condition, seconds=LIMIT):
        """Whether the condition on the list of events came to hold."""
        with self.grown:
            return self.grown.wait_for(lambda: condition(self.events) or self.ended.is_set(), seconds) and condition(self.events)

    def close(self):
        try:
            self.client.connection.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass
        self.thread.join(LIMIT)
        self.client.close()


def configmap(name, namespace="default", data=None, labels=None):
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data or {}}
    if labels:
        thing["metadata"]["labels"] = labels
    return thing


def eventually(condition, seconds=LIMIT):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
