#!/usr/bin/env python3
"""Records what the admission plugins of a real kube-apiserver make of requests: tests/golden/apiserver/admission.jsonl.gz.

    record_admission.py [DIR]     with logs and data of etcd in DIR, or in a folder that is gone afterwards

The first lines are the objects that there are, {"state": object}; all others are requests that were only tried (dryRun) and what
came of them. What tests/unit/test_admission.c compares is kept of an answer: code, message and causes of a refusal, warnings, and of
an object what plugins can change. Requests that validation refuses say nothing about admission and are left out.
"""
import base64
import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import admission_cases as cases
from trio import HERE, Trio, end, find_peers, launch

GOLDEN = os.path.join(os.path.dirname(HERE), "golden", "apiserver", "admission.jsonl.gz")
INFORMERS_SECONDS = 4  # until the server's own caches have what was just written


class Server(Trio):
    """With the plugins that are on by default, and `plugins` besides."""
    tokens = Trio.tokens + '%s,system:node:n1,2,"system:nodes"\n' % cases.NODE_TOKEN
    plugins = []

    def start_apiserver(self):
        enable = ["--enable-admission-plugins=" + ",".join(self.plugins)] if self.plugins else []
        self.apiserver = launch(
            [os.path.join(self.peers, "kube-apiserver"), "--etcd-servers=http://127.0.0.1:%d" % self.etcd_port,
             "--secure-port=%d" % self.port, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
             "--cert-dir=" + self.path("certs"), "--tls-cert-file=" + self.certs.cert, "--tls-private-key-file=" + self.certs.key,
             "--token-auth-file=tokens.csv", "--authorization-mode=AlwaysAllow", "--allow-privileged=true",
             "--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
             "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16"] + enable,
            self.path("apiserver.log"), self.folder)
        self.write("apiserver.pid", "%d\n" % self.apiserver.pid)
        self.wait_ready()

    def restart_with(self, plugins):
        self.api.close()
        end(self.apiserver)
        self.plugins = plugins
        self.start_apiserver()


def prepare(api):
    """Creates all objects, and writes the status of those that have one."""
    for path, made in cases.STATE:
        api.call("POST", path, made, also=(409,))
        if "status" not in made:
            continue
        here = path + "/" + made["metadata"]["name"]
        now = api.get(here)
        now["status"] = {**now.get("status", {}), **made["status"]}
        api.call("PUT", here + "/status", now)
    api.call("DELETE", cases.V1 + "/namespaces/going")


def stored_objects(api):
    """Everything that admission may look at."""
    lists = ["/api/v1/" + p for p in ("namespaces", "serviceaccounts", "limitranges", "resourcequotas", "nodes", "pods",
                                      "persistentvolumeclaims", "services")]
    lists += [cases.SCHEDULING + "/priorityclasses", cases.STORAGE + "/storageclasses", cases.NETWORK + "/ingressclasses",
              cases.NODE + "/runtimeclasses"]
    for path in lists:
        answer = api.get(path)
        for item in answer["items"]:
            item["metadata"].pop("managedFields", None)
            yield {"kind": answer["kind"][:-len("List")], "apiVersion": answer["apiVersion"], **item}


def ask(server, method, path, body, token):
    """(code, object, warnings)"""
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=server.api.context)
    headers = {"Accept": "application/json", "Content-Type": "application/json", "Authorization": "Bearer " + token,
               "User-Agent": "recorder/1"}
    connection.request(method, path + "?dryRun=All", None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    warnings = [re.fullmatch(r'299 - "(.*)"', w).group(1).replace('\\"', '"') for w in answer.headers.get_all("Warning") or []]
    got = json.loads(answer.read())
    connection.close()
    return answer.status, got, warnings


def place(path):
    """Group, resource, namespace, name and subresource of a path."""
    parts = path.strip("/").split("/")
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    rest += [""] * (3 - len(rest))
    return {"group": group, "resource": rest[0], "namespace": namespace, "name": rest[1], "subresource": rest[2]}


def kept(answer):
    """What plugins can change of an object."""
    m = answer.get("metadata", {})
    out = {k: m[k] for k in ("labels", "annotations", "finalizers") if k in m}
    out.update({k: v for k, v in answer.items() if k in ("spec", "globalDefault", "driverName")})
    return out


def record(server, case, plugins):
    sentence, operation, path, body, *token = case
    token = token[0] if token else "secret-token"
    if callable(body):
        old = server.api.get(re.sub("/(status|resize|ephemeralcontainers)$", "", path))
        change, body = body, old
        body["metadata"].pop("managedFields", None)
        change(body)
    method = {"CREATE": "POST", "UPDATE": "PUT", "DELETE": "DELETE"}[operation]
    code, answer, warnings = ask(server, method, path, body, token)
    row = {"case": sentence, "plugins": plugins, "operation": operation, "node": token == cases.NODE_TOKEN, **place(path)}
    if body is not None:
        row["object"] = body
    row["code"] = code
    if code >= 400:
        row["message"] = answer["message"]
        row["details"] = answer.get("details", {})
    elif operation != "DELETE":
        row["result"] = kept(answer)
    if warnings:
        row["warnings"] = warnings
    return row


def is_of_admission(row):
    """Validation comes between the passes; the one refusal of that code that is a plugin's is about labels of namespaces."""
    return row["code"] not in (400, 404, 409, 422) or "pod-security.kubernetes.io" in row["message"] or 'namespaces "' in row["message"]


def request_of(subject, folder):
    """A certificate request in PEM."""
    key, out = os.path.join(folder, "csr.key"), os.path.join(folder, "x.csr")
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", out,
                    "-subj", subject], check=True, stderr=subprocess.DEVNULL)
    with open(out, "rb") as text:
        return base64.b64encode(text.read()).decode()


def certificate_cases(folder):
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

    def csr(subject, signer):
        return {"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1", "metadata": {"name": "r"},
                "spec": {"request": request_of(subject, folder), "signerName": signer, "usages": ["client auth"]}}
    client, kubelet = "kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet"
    yield ("a certificate for masters", "CREATE", path, csr("/O=system:masters/CN=x", client))
    yield ("a certificate of two groups", "CREATE", path, csr("/O=a/O=system:masters/CN=x", client))
    yield ("a certificate for anybody", "CREATE", path, csr("/O=devs/CN=x", client))
    yield ("masters, but another signer", "CREATE", path, csr("/O=system:masters/CN=x", "x.y/z"))
    yield ("a certificate of a node", "CREATE", path, csr("/O=system:nodes/CN=system:node:n1", kubelet), cases.NODE_TOKEN)
    yield ("a certificate of another node", "CREATE", path, csr("/O=system:nodes/CN=system:node:n2", kubelet), cases.NODE_TOKEN)


def main():
    peers = find_peers() or sys.exit(2)
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="record-admission-")
    rows = []
    with Server(peers, folder) as server:
        prepare(server.api)
        time.sleep(INFORMERS_SECONDS)
        certificates = list(certificate_cases(folder))
        rows += [{"state": o} for o in stored_objects(server.api)]
        default = [*cases.plain_cases(), *cases.quota_cases(), *cases.security_cases(), *certificates[:4]]
        rows += [record(server, case, []) for case in default]
        server.restart_with(cases.MORE)
        time.sleep(INFORMERS_SECONDS)
        rows += [record(server, case, cases.MORE) for case in [*cases.more_cases(), *certificates[4:]]]
    left_out = [r for r in rows if "case" in r and not is_of_admission(r)]
    for row in left_out:
        print("left out: %s: %d %s" % (row["case"], row["code"], row["message"]))
    with gzip.GzipFile(GOLDEN, "wb", mtime=0) as out:
        for row in rows:
            if row not in left_out:
                out.write((json.dumps(row, sort_keys=True) + "\n").encode())
    print("%d objects, %d requests" % (sum("state" in r for r in rows), sum("case" in r for r in rows) - len(left_out)))


if __name__ == "__main__":
    main()
