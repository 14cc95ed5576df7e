#!/usr/bin/env python3
"""The real etcd and kube-apiserver on loopback, or berth's API server instead, and schedulers beside them.

    tests/peers/trio.py [--apiserver berth] DIR     starts etcd and kube-apiserver, or `berth apiserver`, with their data in DIR, and
                                                    ends them on Ctrl-C; DIR/kubeconfig is then that of an administrator

Everything that is started here ends with this process, and is ended by its pid. Ports are taken from PEERS_PORT on (24300),
below those that the system gives to connections, so that a server that is started again finds its port free.
"""
import argparse
import base64
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from api import Api  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = "secret-token"
START_LIMIT = 180  # seconds; a busy machine may need many

REAL = ("{peers}/kube-scheduler --config {config} --secure-port {port} --bind-address 127.0.0.1 --authentication-skip-lookup")
BERTH = ("{berth} scheduler --config {config} --secure-port {port} --bind-address 127.0.0.1 --authentication-skip-lookup")



def berth_program():
    return os.environ.get("BERTH") or os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "berth")


def fill(command, peers, **more):
    """The command with what its names in braces stand for; names that are not known yet stay."""
    known = dict(more, peers=peers, berth=berth_program())
    return re.sub(r"\{(\w+)\}", lambda m: known.get(m.group(1), m.group(0)), command)


_next_port = int(os.environ.get("PEERS_PORT", "24300"))


def take_port():
    """A port that nobody listens on; never the same twice."""
    global _next_port
    while True:
        port, _next_port = _next_port, _next_port + 1
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def launch(args, log, cwd=None, env=None):
    """A child of this process, with its output in a file; from the main thread only, with which it dies."""
    with open(log, "ab") as out:
        return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=cwd, env=env,
                                preexec_fn=_die_with_parent)


def end(child, limit=20):
    """Asks a child to end, then makes it. Its exit code."""
    if child.poll() is None:
        child.send_signal(signal.SIGCONT)
        child.terminate()
        try:
            child.wait(limit)
        except subprocess.TimeoutExpired:
            child.kill()
    return child.wait()


def openssl(*args, text=None):
    subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, input=text, text=True)


class Certificates:
    """An authority of our own, and a certificate for 127.0.0.1 that it signed: for the API server and for proxies before it."""

    def __init__(self, folder):
        self.ca, self.cert, self.key = (os.path.join(folder, n) for n in ("ca.crt", "server.crt", "server.key"))
        if os.path.exists(self.cert):
            return
        ca_key, request = os.path.join(folder, "ca.key"), os.path.join(folder, "server.csr")
        new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout")
        openssl("req", "-x509", *new_key, ca_key, "-out", self.ca, "-days", "30", "-subj", "/CN=peers-ca")
        openssl("req", *new_key, self.key, "-out", request, "-subj", "/CN=127.0.0.1")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "30",
                "-out", self.cert, "-extfile", "/dev/stdin", text="subjectAltName=IP:127.0.0.1,DNS:localhost\n")


# One line in the audit log for every binding that was answered: who is bound where, and how often, whatever the scheduler thinks.
AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Request, verbs: [create], resources: [{group: "", resources: [pods/binding]}]}
- {level: None}
"""


class Trio:
    """etcd and kube-apiserver; the third is a Scheduler, or several."""
    audit_policy = AUDIT_POLICY
    tokens = '%s,admin,1,"system:masters"\n' % TOKEN  # as --token-auth-file has them
    # without the second a node that is made by hand keeps a not-ready taint
    disabled_admission = "ServiceAccount,TaintNodesByCondition"

    def __init__(self, peers, folder, authorization="AlwaysAllow"):
        self.peers, self.folder, self.authorization = peers, os.path.abspath(folder), authorization
        os.makedirs(self.folder, exist_ok=True)
        self.etcd_port, self.peer_port, self.port = take_port(), take_port(), take_port()
        self.etcd = self.apiserver = None
        self.certs = Certificates(self.folder)
        self.audit_log = self.path("audit.log")
        self.pid_file = self.path("apiserver.pid")
        self.kubeconfig = self.write_kubeconfig("kubeconfig", self.port)
        self.api = Api(self.port, self.certs.ca, TOKEN)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as out:
            out.write(text)
        return self.path(name)

    def write_kubeconfig(self, name, port, token=TOKEN):
        with open(self.certs.ca, "rb") as ca:
            authority = base64.b64encode(ca.read()).decode()
        return self.write(name, json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:%d" % port,
                                                   "certificate-authority-data": authority}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, indent=1))

    def start(self):
        self.write("tokens.csv", self.tokens)
        self.write("audit.yaml", self.audit_policy)
        if not os.path.exists(self.path("sa.key")):
            openssl("genrsa", "-out", self.path("sa.key"), "2048")
        self.start_etcd()
        self.start_apiserver()
        return self

    def start_etcd(self):
        client, peer = "http://127.0.0.1:%d" % self.etcd_port, "http://127.0.0.1:%d" % self.peer_port
        self.etcd = launch([os.path.join(self.peers, "etcd"), "--data-dir", self.path("etcd"), "--listen-client-urls", client,
                            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                            "--initial-cluster", "default=" + peer, "--log-level", "error", "--unsafe-no-fsync"],
                           self.path("etcd.log"), self.folder)

    def server_command(self):
        return [os.path.join(self.peers, "kube-apiserver"), "--etcd-servers=http://127.0.0.1:%d" % self.etcd_port]

    def server_flags(self):
        """What both API servers are given."""
        return ["--secure-port=%d" % self.port, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                "--cert-dir=" + self.path("certs"),
                "--tls-cert-file=" + self.certs.cert, "--tls-private-key-file=" + self.certs.key,
                "--token-auth-file=tokens.csv", "--authorization-mode=" + self.authorization,
                "--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
                "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16",
                "--disable-admission-plugins=" + self.disabled_admission, "--allow-privileged=true",
                "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000",
                "--audit-policy-file=audit.yaml", "--audit-log-path=" + self.audit_log]

    def start_apiserver(self):
        self.apiserver = launch(self.server_command() + self.server_flags(), self.path("apiserver.log"), self.folder)
        self.write("apiserver.pid", "%d\n" % self.apiserver.pid)
        self.wait_ready()

    def wait_ready(self):
        until = time.monotonic() + START_LIMIT
        while time.monotonic() < until:
            try:
                if self.api.request("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            if self.apiserver.poll() is not None and self.server_pid() == self.apiserver.pid:
                raise AssertionError("kube-apiserver ended, see " + self.path("apiserver.log"))
            time.sleep(0.2)
        raise AssertionError("kube-apiserver is not ready after %d s, see %s" % (START_LIMIT, self.path("apiserver.log")))

    def server_pid(self):
        """That of the API server that runs now: liveparity restarts it, too."""
        with open(self.pid_file) as text:
            return int(text.read())

    def kill_apiserver(self):
        self.apiserver.kill()
        self.apiserver.wait()

    def kill_etcd(self):
        self.etcd.kill()
        self.etcd.wait()

    def compact(self):
        """Throws away the past of etcd, through its JSON gateway. The revision that stays."""
        etcd = http.client.HTTPConnection("127.0.0.1", self.etcd_port, timeout=30)

        def call(path, body):
            etcd.request("POST", path, json.dumps(body))
            answer = etcd.getresponse()
            return answer.status, json.loads(answer.read())
        revision = call("/v3/kv/range", {"key": base64.b64encode(b"x").decode()})[1]["header"]["revision"]
        status, answer = call("/v3/kv/compaction", {"revision": revision, "physical": True})
        etcd.close()
        assert status == 200 or "compacted" in str(answer), answer
        return int(revision)

    def bindings(self):
        """{namespace/name of a pod: [nodes to which the server has bound it]}, from the audit log."""
        found = {}
        if not os.path.exists(self.audit_log):
            return found
        with open(self.audit_log) as lines:
            for line in lines:
                try:
                    event = json.loads(line)
                except ValueError:  # the server was killed while it wrote
                    continue
                if event.get("responseStatus", {}).get("code") == 201:
                    ref = event["objectRef"]
                    node = event.get("requestObject", {}).get("target", {}).get("name")
                    found.setdefault(ref["namespace"] + "/" + ref["name"], []).append(node)
        return found

    def stop(self):
        self.api.close()
        restarted = self.server_pid() if os.path.exists(self.pid_file) else 0
        for child in (self.apiserver, self.etcd):
            if child:
                end(child, 5)
        if self.apiserver and restarted != self.apiserver.pid and self._is_ours(restarted):
            os.kill(restarted, signal.SIGKILL)

    def _is_ours(self, pid):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as line:
                return self.audit_log.encode() in line.read()
        except OSError:
            return False

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()


class OwnTrio(Trio):
    """`berth apiserver` in place of etcd and kube-apiserver, with the same flags and none of the controllers that it brings along:
    what a scheduler meets is an API server alone, as there."""

    def start_etcd(self):
        pass

    def server_command(self):
        return [berth_program(), "apiserver", "--data-dir=" + self.path("data"), "--controllers="]


TRIOS = {"real": Trio, "berth": OwnTrio}


ELECTION = {"leaderElect": True, "leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "500ms"}


class Scheduler:
    """One process of a scheduler: `command` is a template with {peers} {berth} {config} {port} {kubeconfig} {dir}."""
    count = 0

    def __init__(self, trio, command, kubeconfig=None, election=None, config=None, env=None):
        Scheduler.count += 1
        self.trio = trio
        self.folder = trio.path("scheduler-%03d" % Scheduler.count)
        os.makedirs(self.folder)
        self.port, self.log = take_port(), os.path.join(self.folder, "log")
        whole = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                 "clientConnection": {"kubeconfig": kubeconfig or trio.kubeconfig, "qps": 5000, "burst": 5000},
                 "leaderElection": election or {"leaderElect": False}}
        whole.update(config or {})
        path = os.path.join(self.folder, "config.yaml")
        with open(path, "w") as out:
            json.dump(whole, out, indent=1)
        words = fill(command, trio.peers, config=path, port=str(self.port), dir=self.folder,
                     kubeconfig=kubeconfig or trio.kubeconfig).split()
        self.child = launch(words, self.log, self.folder, dict(os.environ, **(env or {})))
        self.pid = self.child.pid

    def ready(self, limit=START_LIMIT):
        """Waits for /readyz."""
        api = Api(self.port, None, None)
        until = time.monotonic() + limit
        while time.monotonic() < until:
            if self.child.poll() is not None:
                raise AssertionError("the scheduler ended with code %d, see %s" % (self.child.returncode, self.log))
            try:
                if api.request("GET", "/readyz")[0] == 200:
                    api.close()
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError("the scheduler is not ready after %d s, see %s" % (limit, self.log))

    def alive(self):
        return self.child.poll() is None

    def signal(self, number):
        self.child.send_signal(number)

    def kill(self):
        self.child.kill()
        return self.child.wait()

    def stop(self):
        return end(self.child)

    def text(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def rss_kib(self):
        with open("/proc/%d/status" % self.pid) as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def compare_caches(self, limit=60):
        """SIGUSR2 makes a scheduler compare its cache with what its informers hold, and print both. What differs, as lines."""
        begin = len(self.text())
        self.signal(signal.SIGUSR2)
        until = time.monotonic() + limit
        while time.monotonic() < until:
            new = self.text()[begin:]
            if "Dump of scheduling queue" in new:
                return [line for line in new.splitlines() if "mismatch" in line.lower()]
            time.sleep(0.1)
        raise AssertionError("SIGUSR2 gave no dump of the scheduling queue, see " + self.log)


def find_peers():
    """The folder with the real components; builds them if need be. None, and the reason printed, if that cannot be."""
    done = subprocess.run([os.path.join(HERE, "build")], stdout=subprocess.PIPE, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--apiserver", choices=TRIOS, default="real")
    parser.add_argument("dir")
    options = parser.parse_args()
    peers = find_peers() or sys.exit(2)
    with TRIOS[options.apiserver](peers, options.dir) as trio:
        print("kubeconfig", trio.kubeconfig, flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
