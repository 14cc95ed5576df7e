"""A small client of the Kubernetes API for tests: JSON over HTTPS, and patience while a server is being killed."""
import http.client
import json
import ssl
import threading
import time

PODS = "/api/v1/namespaces/default/pods"
NODES = "/api/v1/nodes"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
PATIENCE = 120  # seconds that call() tries
MERGE_PATCH = "application/merge-patch+json"


class Api:
    """Without a CA the server's certificate is not looked at. One connection for each thread."""

    def __init__(self, port, ca, token):
        self.port, self.token = port, token
        self.context = ssl.create_default_context(cafile=ca) if ca else ssl._create_unverified_context()
        self.local, self.all, self.lock = threading.local(), [], threading.Lock()

    def _connection(self):
        if getattr(self.local, "connection", None) is None:
            self.local.connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=self.context)
            with self.lock:
                self.all.append(self.local.connection)
        return self.local.connection

    def raw(self, method, path, body=None, kind="application/json"):
        """(status, bytes); OSError when the server cannot be reached or goes away."""
        headers = {"Accept": "application/json", "User-Agent": "peers"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if body is not None:
            headers["Content-Type"] = kind
        connection = self._connection()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise error if isinstance(error, OSError) else OSError(repr(error))

    def request(self, method, path, body=None, kind="application/json"):
        """(status, object)"""
        status, answer = self.raw(method, path, body, kind)
        try:
            return status, json.loads(answer)
        except ValueError:
            return status, answer

    def call(self, method, path, body=None, ok=(200, 201, 202), also=(), kind="application/json"):
        """The object, once the server gives it: trouble with connections, 429 and 5xx are tried again. `also` are codes that
        count as done, with None as the object."""
        until, answer = time.monotonic() + PATIENCE, None
        while time.monotonic() < until:
            try:
                status, answer = self.request(method, path, body, kind)
            except OSError as error:
                status, answer = 0, error
            if status in ok:
                return answer
            if status in also:
                return None
            if status and status != 429 and status < 500:
                break
            time.sleep(0.1)
        raise AssertionError("%s %s: %s" % (method, path, answer))

    def get(self, path, also=()):
        return self.call("GET", path, also=also)

    def items(self, path):
        return self.get(path)["items"]

    def create(self, path, body):
        """What exists already was made by a request whose answer was lost."""
        return self.call("POST", path, body, also=(409,))

    def delete(self, path):
        return self.call("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}, also=(404,))

    def close(self):
        with self.lock:
            for connection in self.all:
                connection.close()


def node(name, cpu_m, memory_mi=64 * 1024, pods=110, labels=None, taints=None):
    amounts = {"cpu": "%dm" % cpu_m, "memory": "%dMi" % memory_mi, "pods": str(pods)}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": dict({"kubernetes.io/hostname": name}, **(labels or {}))},
            "spec": {"taints": taints or []},
            "status": {"capacity": amounts, "allocatable": amounts,
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}


def pod(name, cpu_m, memory_mi=64, selector=None):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "registry.example/app:v1",
                                     "resources": {"requests": {"cpu": "%dm" % cpu_m, "memory": "%dMi" % memory_mi}}}],
                     "nodeSelector": selector or {}, "terminationGracePeriodSeconds": 0}}
