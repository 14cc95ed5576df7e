#!/usr/bin/env python3
"""apiserver_kubectl.py BERTH [--kubectl PATH] [--all] - `berth apiserver` makes kubectl print what the real API server makes it print:
the recorded transcripts of tests/peers/kubectl, a selection or all of them.

Without --kubectl the one in PATH is taken; it has to be of version 1.3x. The selection is of cases whose texts are the same in all
of these. Where there is no such kubectl the test is skipped."""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(os.path.dirname(HERE), "peers", "kubectl")
SELECTION = ["apply-basic", "auth-basic", "deletion-owners", "errors-raw", "namespaces-lifecycle", "patch-types", "pods-create",
             "policy-eviction", "quota-resourcequota", "ssa-conflicts", "validation-strict"]
SKIP = 77
TOKEN = "transcripts"


def version_of(kubectl):
    shown = subprocess.run([kubectl, "version", "--client", "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = re.search(r'"gitVersion": "v(\d+\.\d+)', shown.stdout)
    return found.group(1) if found else ""


def find_kubectl():
    kubectl = shutil.which("kubectl")
    if kubectl and re.fullmatch(r"1\.3\d", version_of(kubectl)):
        return kubectl
    print("skipped: no kubectl of version 1.3x is in PATH (any release of it will do; `tests/peers/build` builds 1.36.4)")
    sys.exit(SKIP)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(berth, folder):
    """The server of the recordings: nothing runs beside it."""
    port, key, tokens = free_port(), os.path.join(folder, "sa.key"), os.path.join(folder, "tokens.csv")
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
    with open(tokens, "w", encoding="utf-8") as f:
        f.write('%s,admin,admin-uid,"system:masters"\n' % TOKEN)
    log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
    server = subprocess.Popen(
        [berth, "apiserver", "--memory", "--controllers=", "--secure-port=%d" % port, "--bind-address=127.0.0.1",
         "--cert-dir=" + folder, "--token-auth-file=" + tokens, "--authorization-mode=AlwaysAllow",
         "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
         "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16",
         "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"],
        stdout=subprocess.PIPE, stderr=log, text=True)
    if "is ready" not in server.stdout.readline():
        server.kill()
        sys.exit("the server did not start:\n" + open(log.name, encoding="utf-8").read()[-2000:])
    config = os.path.join(folder, "kubeconfig")
    with open(config, "w", encoding="utf-8") as f:
        f.write('{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], '
                'users: [{name: u, user: {token: %s}}], clusters: [{name: c, cluster: {insecure-skip-tls-verify: true, '
                'server: "https://127.0.0.1:%d"}}]}\n' % (TOKEN, port))
    return server, config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("berth")
    parser.add_argument("--kubectl")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    kubectl = options.kubectl or find_kubectl()
    folder = tempfile.mkdtemp(prefix="berth-kubectl-")
    server, config = start(os.path.abspath(options.berth), folder)
    cases = [os.path.join(CASES, "cases")] if options.all else [os.path.join(CASES, "cases", n + ".case") for n in SELECTION]
    try:
        done = subprocess.run([sys.executable, os.path.join(CASES, "run"), "--kubectl", kubectl, "--kubeconfig", config,
                               "--skip-later", "--jobs", "2", *cases])
        alive = server.poll() is None
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
    if not alive:
        print("the server ended by itself")
    if server.returncode:
        print("the server ended with %d" % server.returncode)
    return 0 if done.returncode == 0 and alive and server.returncode == 0 else 1


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    print("took %.0f s" % (time.monotonic() - began))
    sys.exit(code)
