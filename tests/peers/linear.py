"""Linearizability: what several clients at once were told by an API server is what one server would have said that serves one request
after the other. tests/peers/linear makes the requests and checks the history with Porcupine.

berth's API server is killed meanwhile. In the full form the real one, which is not, shows that the model is the right one; and
tests/e2e/apiserver_crash.py, of which `make test` has a short form, kills berth's 200 times under load."""
import os
import subprocess
import sys
import tempfile
import time

from trio import HERE, Trio, berth_program, take_port

PARTS = [("linear", "histories of concurrent clients of berth's API server, killed meanwhile, are linearizable"),
         ("linear-real", "and so are those of the real one, by the same model"),
         ("crash", "berth's API server, killed 200 times under load, loses nothing that was acknowledged")]
TOKEN = "secret"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def kubeconfig(folder, port):
    return write(os.path.join(folder, "kubeconfig"), """apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
""" % (port, TOKEN))


def check(peers, folder, *args):
    """What is wrong with a history."""
    page = os.path.join(folder, "history.html")
    done = subprocess.run([os.path.join(peers, "linear"), "-out", page, "-log", os.path.join(folder, "server.log"), *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("        " + done.stdout.strip(), flush=True)
    return [] if done.returncode == 0 else [done.stdout[-1000:], "see " + folder]


def on_berth(peers, folder, options):
    port, wrong = take_port(), []
    write(os.path.join(folder, "tokens.csv"), '%s,admin,1,"system:masters"\n' % TOKEN)
    serve = "%s apiserver --bind-address=127.0.0.1 --secure-port=%d --token-auth-file=%s/tokens.csv" % (berth_program(), port, folder)
    rounds = 1 if options.short else 5
    for k in range(rounds):
        for where, kills in (("--data-dir=%s/data" % folder, "6" if options.short else "40"), ("--memory", "0")):
            wrong += check(peers, folder, "-kubeconfig", kubeconfig(folder, port), "-serve", serve + " " + where, "-kills", kills,
                           "-seed", str(options.seed + k), "-operations", "2000" if options.short else "10000")
    return wrong


def on_real(peers, folder, options):
    with Trio(peers, os.path.join(folder, "trio")) as trio:
        return check(peers, folder, "-kubeconfig", trio.kubeconfig, "-seed", str(options.seed), "-operations", "3000")


def killed(peers, folder, options):
    script = os.path.join(os.path.dirname(HERE), "e2e", "apiserver_crash.py")
    done = subprocess.run([sys.executable, script, berth_program()], env=dict(os.environ, CRASH_KILLS="200", CRASH_SEED=str(options.seed)),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("        " + done.stdout.strip().replace("\n", "\n        "), flush=True)
    return [] if done.returncode == 0 else ["seed %d" % options.seed]


def run(peers, folder, options, results):
    plays = {"linear": on_berth, "linear-real": on_real, "crash": killed}
    for name, doc in PARTS:
        if not options.only.search(name) or (options.short and name != "linear"):
            continue
        began, own = time.monotonic(), tempfile.mkdtemp(prefix=name + "-", dir=folder)
        results.note("%s: %s" % (name, doc), plays[name](peers, own, options), time.monotonic() - began)
