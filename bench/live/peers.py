"""Real etcd and kube-apiserver on loopback, and schedulers beside them, for bench/live/run and tests.

Programs come from the folder PEERS_BIN (or BERTH_PEERS), otherwise from where tests/peers puts them.
"""
import os
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find_programs():
    given = os.environ.get("PEERS_BIN") or os.environ.get("BERTH_PEERS")
    build = os.path.join(ROOT, "tests/peers/build")
    if given or not os.access(build, os.X_OK):
        return given or ""
    return subprocess.run([build], stdout=subprocess.PIPE, text=True).stdout.strip()


BIN = find_programs()
TOKENS = 'secret-token,admin,1,"system:masters"\npoor-token,poor,2,"poor"\n'
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", certificate-authority: %s/certs/apiserver.crt}}]
users: [{name: admin, user: {token: secret-token}}, {name: poor, user: {token: poor-token}}]
contexts: [{name: admin, context: {cluster: c, user: admin}}, {name: poor, context: {cluster: c, user: poor, namespace: shop}}]
current-context: admin
"""
SCHEDULER = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s, qps: 1000000, burst: 1000000, contentType: application/vnd.kubernetes.protobuf}
leaderElection: {leaderElect: false}
"""
AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Metadata, omitStages: [RequestReceived]}]
"""


def available(*names):
    return all(os.access(os.path.join(BIN, name), os.X_OK) for name in names)


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def stop(child):
    """By its own id; waits for it."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def status_mib(pid, field):
    """VmRSS: what a process has in memory now; VmHWM: the most it ever had."""
    with open("/proc/%d/status" % pid) as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":"))


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as text:
        fields = text.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Servers:
    """etcd and kube-apiserver with their data in `folder`."""

    def __init__(self, folder, rbac=False, ports=None):
        self.folder, self.children = folder, []
        self.kubeconfig, self.audit = os.path.join(folder, "kubeconfig"), os.path.join(folder, "audit.log")
        client, peer, self.port = ports or free_ports(3)
        self.write("tokens.csv", TOKENS)
        self.write("audit.yaml", AUDIT)
        subprocess.run(["openssl", "genrsa", "-out", self.path("sa.key"), "2048"], check=True, capture_output=True)
        etcd, peer_url = "http://127.0.0.1:%d" % client, "http://127.0.0.1:%d" % peer
        self.start("etcd", "--data-dir", self.path("etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
                   "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                   "--initial-cluster", "default=" + peer_url, "--log-level", "error")
        self.start("kube-apiserver", "--etcd-servers=" + etcd, "--secure-port=%d" % self.port, "--bind-address=127.0.0.1",
                   "--cert-dir=" + self.path("certs"), "--token-auth-file=" + self.path("tokens.csv"),
                   "--authorization-mode=" + ("RBAC" if rbac else "AlwaysAllow"),
                   "--service-account-key-file=" + self.path("sa.key"),
                   "--service-account-signing-key-file=" + self.path("sa.key"),
                   "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16",
                   "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
                   "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000",
                   # never a device: the server renames its log when it is large, as root also /dev/null
                   *(["--audit-policy-file=" + self.path("audit.yaml"), "--audit-log-path=" + self.audit] if rbac else []))
        self.write("kubeconfig", KUBECONFIG % (self.port, folder))
        self.wait()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def start(self, program, *options):
        log = open(self.path(program + ".log"), "ab")
        child = subprocess.Popen([os.path.join(BIN, program), *options], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def wait(self):
        for _ in range(300):
            if any(child.poll() is not None for child in self.children):
                break
            if os.path.exists(self.path("certs/apiserver.crt")) and self.kubectl("get", "--raw", "/readyz").returncode == 0:
                return
            time.sleep(0.5)
        self.stop()
        raise RuntimeError("the servers do not start; see the logs in " + self.folder)

    def kubectl(self, *words, stdin=None):
        return subprocess.run([os.path.join(BIN, "kubectl"), "--kubeconfig", self.kubeconfig, *words], input=stdin,
                              capture_output=True, text=True)

    def stop(self):
        for child in reversed(self.children):
            stop(child)
        self.children = []


def start_scheduler(command, folder, kubeconfig):
    """`command` may hold {config}, {port} and {folder}. Returns the process."""
    config = os.path.join(folder, "scheduler.yaml")
    with open(config, "w") as f:
        f.write(SCHEDULER % kubeconfig)
    words = command.format(config=config, port=free_ports(1)[0], folder=folder).split()
    log = open(os.path.join(folder, "scheduler.log"), "ab")
    return subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)


OPTIONS = (" --config {config} --secure-port={port} --bind-address=127.0.0.1 --cert-dir={folder}/scheduler-certs"
           " --authentication-skip-lookup")


def real_scheduler():
    return os.path.join(BIN, "kube-scheduler") + OPTIONS
