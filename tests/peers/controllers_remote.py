#!/usr/bin/env python3
"""controllers_remote.py - `berth controllers` against the real etcd and kube-apiserver, and the real kube-controller-manager against the
same: the stories of controllers_replicas.py and some more; then the objects that remain are compared. Both act as service accounts.

    BERTH=build/berth tests/peers/controllers_remote.py [STORY...]
"""
import difflib
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import controllers_replicas as replicas  # noqa: E402
from trio import Trio, berth_program, end, find_peers, launch, take_port  # noqa: E402

CONTROLLERS = replicas.CONTROLLERS + ("job-controller", "endpointslice-controller", "serviceaccount-controller")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class RbacTrio(Trio):
    """Service accounts need their roles, and nobody may do more."""

    def __init__(self, peers, folder):
        super().__init__(peers, folder, authorization="Node,RBAC")


def story_job(w):
    path = "/apis/batch/v1/namespaces/%s/jobs" % w.ns
    w.api.create(path, {"metadata": {"name": "web"}, "spec": {"completions": 2, "parallelism": 2, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    w.until("two pods", lambda: len(w.pods()) == 2)
    for pod in w.pods():
        w.patch("pods", pod["metadata"]["name"] + "/status", {"status": {"phase": "Succeeded"}})
    w.until("complete", lambda: any(c["type"] == "Complete" for c in w.api.get(path + "/web")["status"].get("conditions", [])))
    w.api.call("DELETE", path + "/web", {"propagationPolicy": "Background"})
    w.until("gone", lambda: not w.pods())


def story_namespace(w):
    """A namespace with a workload, an Event and a custom resource in it; all of it goes."""
    w.api.create(CRDS, {"metadata": {"name": "things.berth.test"}, "spec": {
        "group": "berth.test", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
    inner = replicas.World(w.api, "doomed")
    things = "/apis/berth.test/v1/namespaces/doomed/things"
    w.until("the kind is served", lambda: w.api.get(things, also=(404,)) is not None)
    w.api.create(things, {"apiVersion": "berth.test/v1", "kind": "Thing", "metadata": {"name": "one"}})
    inner.create("deployments", replicas.deployment(2))
    inner.rolled(2)
    w.api.call("DELETE", "/api/v1/namespaces/doomed", {})
    w.until("the namespace is gone", lambda: w.api.get("/api/v1/namespaces/doomed", also=(404,)) is None)
    left = w.api.get(things)["items"] + w.api.items("/api/v1/namespaces/doomed/events") + w.api.items(inner.path("pods"))
    assert not left, "something is left: %s" % left


def play_on_real(peers, folder, name, command, names):
    replicas.story_job, replicas.story_namespace = story_job, story_namespace
    with RbacTrio(peers, os.path.join(folder, name)) as trio:
        manager = launch([*command, "--kubeconfig=" + trio.kubeconfig, "--secure-port=%d" % take_port(), "--bind-address=127.0.0.1",
                          "--cert-dir=" + trio.path("kcm"), "--authentication-skip-lookup", "--use-service-account-credentials",
                          "--kube-api-qps=1000", "--kube-api-burst=1000", "--controllers=" + ",".join(CONTROLLERS)], trio.path("kcm.log"))
        try:
            return replicas.play(trio.api, names)
        finally:
            end(manager, 5)
            if os.environ.get("BERTH_TEST_LOG"):
                with open(trio.path("kcm.log"), encoding="utf-8") as f:
                    print(f.read())


def main():
    names = sys.argv[1:] or [n[len("story_"):] for n in dir(replicas) if n.startswith("story_")] + ["job", "namespace"]
    peers = os.environ.get("BERTH_PEERS") or find_peers()
    if not peers:
        return 77
    n_differ = 0
    with tempfile.TemporaryDirectory() as folder:
        ours = play_on_real(peers, folder, "berth", [berth_program(), "controllers"], names)
        real = play_on_real(peers, folder, "real", [os.path.join(peers, "kube-controller-manager")], names)
    for name in names:
        diff = list(difflib.unified_diff(real[name], ours[name], "real", "berth", lineterm="", n=4))
        failed = bool(ours[name]) and ours[name][0].startswith("FAILED")
        n_differ += bool(diff or failed)
        print("%-24s %s" % (name, "differs" if diff else "FAILED" if failed else "equal"))
        print("\n".join(diff[:80]), end="\n" if diff else "")
    print("%d stories, %d differ" % (len(names), n_differ))
    return 1 if n_differ else 0


if __name__ == "__main__":
    sys.exit(main())
