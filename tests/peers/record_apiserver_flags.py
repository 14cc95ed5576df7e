#!/usr/bin/env python3
"""record_apiserver_flags.py KUBE_APISERVER FOLDER - what the real kube-apiserver says of its flags, for tests/golden/apiserver:
flags.jsonl (group, name, type and default of each) and flag_refusals.jsonl (what it says of bad command lines)."""
import json
import os
import re
import subprocess
import sys
import tempfile

BAD = [["--nope"], ["--secure-port=x"], ["--secure-port"], ["--service-node-port-range=a-b"],
       ["--service-node-port-range=30+x"], ["--service-node-port-range=1-2+3"], ["--service-node-port-range=32767-30000"],
       ["--service-node-port-range=70000"], ["--oidc-required-claim=a"],
       ["--bind-address=x"], ["--goaway-chance=x"], ["--goaway-chance=1e999"],
       ["--request-timeout=5"], ["--anonymous-auth=maybe"], ["--feature-gates"], ["--tls-curve-preferences=a"],
       ["--tls-sni-cert-key=a"], ["-v=x"], ["--vmodule=a"], ["--audit-log-batch-throttle-qps=y"],
       ["--secure-port=0"], ["--secure-port=99999"], ["--storage-media-type=x"], ["--authorization-mode=X"],
       ["--authorization-mode=RBAC,Node,RBAC"], ["--authorization-mode=ABAC"], ["--authorization-mode=Webhook"],
       ["--authorization-policy-file=x"], ["--authorization-webhook-config-file=x"], ["--runtime-config=a"],
       ["--runtime-config=x/y=true,a/b"], ["--goaway-chance=1"], ["--max-requests-inflight=-1", "--request-timeout=-1s"],
       ["--service-cluster-ip-range=x"], ["--kubernetes-service-node-port=5"], ["--kubernetes-service-node-port=70000"],
       ["--apiserver-count=0"], ["--shutdown-delay-duration=-1s"], ["--storage-backend=x"]]
# What upstream cannot do without, and berth can.
REQUIRED = ["--etcd-servers=http://127.0.0.1:1", "--service-account-issuer=https://x.example",
            "--service-account-signing-key-file=KEY", "--service-account-key-file=KEY", "--bind-address=127.0.0.1"]


def run(binary, args):
    return subprocess.run([binary, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def values(binary, folder):
    log = run(binary, ["-v=1", "--cert-dir=" + folder]).stderr
    found = dict(re.findall(r"FLAG: --([a-z0-9-]+)=(.*)", log))
    return {name: json.loads(text) for name, text in found.items()}


def flags(binary, folder):
    of, group = values(binary, folder), None
    of.update({"v": "0", "cert-dir": "/var/run/kubernetes"})
    for line in run(binary, ["--help"]).stdout.split("\n"):
        title = re.match(r"^([A-Z][\w ]*) flags:$", line)
        flag = re.match(r"^ +(?:-., )?--([a-z0-9-]+)(?: (\S+))?(?:   |$)", line)
        if title:
            group = title[1]
        elif flag:
            yield {"group": group, "name": flag[1], "type": flag[2] or "", "value": of.pop(flag[1])}
    for name, value in sorted(of.items()):
        yield {"group": "", "name": name, "type": "", "value": value}  # deprecated: not in the help


def refusals(binary, folder):
    key = os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
    needed = [a.replace("KEY", key) for a in REQUIRED] + ["--cert-dir=" + folder]
    for line in BAD:
        text = run(binary, needed + line).stderr
        error, failed = re.search(r"^Error: (.*)", text, re.M), re.search(r'"command failed" err=(".*")$', text, re.M)
        yield {"line": line, "message": error[1] if error else json.loads(failed[1]) if failed else ""}


def write(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        for row in rows:
            f.write(json.dumps(row) + "\n")


def main():
    binary, to = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        write(os.path.join(to, "flags.jsonl"), flags(binary, folder))
        write(os.path.join(to, "flag_refusals.jsonl"), refusals(binary, folder))


main()
