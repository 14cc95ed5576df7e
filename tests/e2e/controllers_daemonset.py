#!/usr/bin/env python3
"""controllers_daemonset.py BERTH - DaemonSets from their first pod to their last, certificates from the request to a login, and the small
controllers, against `berth apiserver --memory`. The test stands in for scheduler and kubelets."""
import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

import controllers_around as around
from controllers_around import LIMIT, Server, check, items

NAMESPACE = "/api/v1/namespaces/default"
PODS, SETS = NAMESPACE + "/pods", "/apis/apps/v1/namespaces/default/daemonsets"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


# ---- DaemonSets ----

def kubelets(s):
    """One round: binds, runs, and ends those that are being deleted."""
    for pod in items(s.get(PODS)):
        path = PODS + "/" + pod["metadata"]["name"]
        if "deletionTimestamp" in pod["metadata"]:
            s.ask("DELETE", path, {"gracePeriodSeconds": 0})
        elif not pod["spec"].get("nodeName"):
            term = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
            s.ask("POST", path + "/binding", {"metadata": {"name": pod["metadata"]["name"]},
                                              "target": {"kind": "Node", "name": term["matchFields"][0]["values"][0]}})
        elif pod["status"].get("phase") == "Pending":
            s.ask("PATCH", path + "/status", {"status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}}, "application/merge-patch+json")


def image_of(pod):
    return pod["spec"]["containers"][0]["image"]


def rolled(s, n, image):
    def is_so(d):
        kubelets(s)
        status, pods = d["status"], items(s.get(PODS))
        return (status["observedGeneration"] == d["metadata"]["generation"] and [image_of(p) for p in pods] == [image] * n and
                status["desiredNumberScheduled"] == status["updatedNumberScheduled"] == status.get("numberAvailable", 0) == n)
    return s.wait("%d pods of %s" % (n, image), SETS + "/d", is_so)


def template(image):
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeSelector": {"d": "yes"}, "containers": [{"name": "c", "image": image}]}}


def revisions(s):
    return sorted(r["revision"] for r in items(s.get(REVISIONS)))


def make_nodes(s):
    for name in ("n0", "n1", "n2"):
        s.make("/api/v1/nodes", {"metadata": {"name": name, "labels": {"d": "yes"}}})


def daemon_sets(s):
    make_nodes(s)
    s.make(SETS, {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template("one")}})
    rolled(s, 3, "one")
    check(sorted(p["spec"]["nodeName"] for p in items(s.get(PODS))) == ["n0", "n1", "n2"], "one pod on each node")
    s.patch(SETS + "/d", {"spec": {"template": template("two")}})
    rolled(s, 3, "two")
    check(revisions(s) == [1, 2], "two revisions", revisions(s))
    s.patch(SETS + "/d", {"spec": {"template": template("one")}})
    rolled(s, 3, "one")
    check(revisions(s) == [2, 3], "the old revision is the newest again", revisions(s))
    s.patch(SETS + "/d", {"spec": {"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, "template": template("three")}})
    rolled(s, 3, "three")
    s.patch("/api/v1/nodes/n0", {"metadata": {"labels": {"d": None}}})
    rolled(s, 2, "three")
    s.delete(SETS + "/d", {"propagationPolicy": "Foreground"})
    s.wait("no pods", PODS, lambda answer: kubelets(s) or not items(answer))
    s.wait("no revisions", REVISIONS, lambda answer: not items(answer))


# ---- Certificates ----

def openssl(*arguments, text=None):
    return subprocess.run(("openssl",) + arguments, input=text, capture_output=True, check=True, timeout=LIMIT).stdout


def request(folder, name, subject):
    """The base64 of a request; the key stays in the folder."""
    return base64.b64encode(openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                                    os.path.join(folder, name + ".key"), "-subj", subject)).decode()


def who_am_i(s, folder, name, pem):
    """The user that the server sees behind a certificate."""
    path = os.path.join(folder, name + ".crt")
    with open(path, "wb") as f:
        f.write(base64.b64decode(pem))
    context = ssl._create_unverified_context()
    context.load_cert_chain(path, os.path.join(folder, name + ".key"))
    body = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode()
    asked = urllib.request.Request("https://127.0.0.1:%d/apis/authentication.k8s.io/v1/selfsubjectreviews" % s.port, method="POST",
                                   headers={"Content-Type": "application/json"}, data=body)
    with urllib.request.urlopen(asked, context=context, timeout=LIMIT) as answer:
        return json.loads(answer.read())["status"]["userInfo"]


def certificates(s, folder):
    usages = ["digital signature", "client auth"]
    s.make(CSRS, {"metadata": {"name": "ann"}, "spec": {"request": request(folder, "ann", "/O=team/CN=ann"), "usages": usages,
                                                        "signerName": "kubernetes.io/kube-apiserver-client"}})
    csr = s.get(CSRS + "/ann")
    csr["status"]["conditions"] = [{"type": "Approved", "status": "True", "reason": "Me", "message": "m"}]
    check(s.ask("PUT", CSRS + "/ann/approval", csr)[0] == 200, "approved")
    csr = s.wait("signed", CSRS + "/ann", lambda c: c["status"]["certificate"])
    user = who_am_i(s, folder, "ann", csr["status"]["certificate"])
    check(user["username"] == "ann" and "team" in user["groups"], "the certificate is good for a login", user)
    s.make(CSRS, {"metadata": {"name": "node"}, "spec": {"request": request(folder, "node", "/O=system:nodes/CN=system:node:n"),
                                                         "usages": usages, "signerName": "kubernetes.io/kube-apiserver-client-kubelet"}})
    csr = s.wait("approved by itself", CSRS + "/node", lambda c: c["status"]["certificate"])
    check(csr["status"]["conditions"][0]["message"] == "Auto approving kubelet client certificate after SubjectAccessReview.", "why", csr)


# ---- Small ones ----

def small_ones(s):
    s.wait("how long kubelets keep objects", "/api/v1/nodes/n1", lambda n: n["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] == "0")
    s.make(NAMESPACE + "/services", {"metadata": {"name": "svc"}, "spec": {"ports": [{"name": "http", "port": 80}]}})
    s.make(NAMESPACE + "/endpoints", {"metadata": {"name": "svc"}, "subsets": [{"addresses": [{"ip": "10.1.2.3"}],
                                                                                "ports": [{"name": "http", "port": 80}]}]})
    slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=svc"
    s.wait("mirrored", slices, lambda answer: items(answer)[0]["endpoints"][0]["addresses"] == ["10.1.2.3"])
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "nobody", "resources": {"requests": {"storage": "1Gi"}}}
    s.make(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [
        {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}]}})
    s.wait("its claim", NAMESPACE + "/persistentvolumeclaims/p-v", lambda c: c["metadata"]["ownerReferences"][0]["name"] == "p")
    info = "/api/v1/namespaces/kube-public/configmaps"
    s.make(info, {"metadata": {"name": "cluster-info"}, "data": {"kubeconfig": "content"}})
    token = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true"}
    tokens = "/api/v1/namespaces/kube-system/secrets"
    s.make(tokens, {"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token", "stringData": token})
    s.wait("signed", info + "/cluster-info", lambda m: m["data"]["jws-kubeconfig-abcdef"].count(".") == 2)
    s.patch(tokens + "/bootstrap-token-abcdef", {"stringData": {"expiration": "2020-01-01T00:00:00Z"}})
    s.wait("no token", tokens + "/bootstrap-token-abcdef", lambda m: m.get("code") == 404)
    s.wait("no signature", info + "/cluster-info", lambda m: "jws-kubeconfig-abcdef" not in m["data"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        ca, key = os.path.join(folder, "ca.crt"), os.path.join(folder, "ca.key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", ca, "-days", "2",
                "-subj", "/CN=ca")
        with Server(folder, "--controllers=*,-nodelifecycle,bootstrapsigner,tokencleaner", "--disable-admission-plugins=TaintNodesByCondition",
                    "--client-ca-file=" + ca, "--cluster-signing-cert-file=" + ca,
                    "--cluster-signing-key-file=" + key) as s:
            for story, more in ((daemon_sets, ()), (certificates, (folder,)), (small_ones, ())):
                begun = time.monotonic()
                story(s, *more)
                print("%-40s %.1f s" % (story.__name__, time.monotonic() - begun))
    print("%d failures" % around.failures)
    return around.failures > 0


if __name__ == "__main__":
    sys.exit(main())
