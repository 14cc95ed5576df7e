#!/usr/bin/env python3
"""apiserver_disk.py BERTH FAULTS - the disk of an API server fails, is full, or has a damaged file: what its clients see.

FAULTS is the library to preload, see tests/disk_faults.c. A disk of a few megabytes is made where a tmpfs can be mounted, as
root or in a user namespace; elsewhere those parts are left out, and it is said."""
import errno
import hashlib
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import api_world
from api_world import LIMIT, Client, Server, Watch, check, configmap, eventually

BERTH, FAULTS = (os.path.abspath(a) for a in sys.argv[1:3])
CALLS = 8  # at which a fault comes: more than a commit makes
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


class Faults:
    def __init__(self, folder):
        self.path = os.path.join(folder, "faults")
        with open(self.path, "wb") as f:
            f.write(struct.pack("4i", -1, 0, 0, 0))
        with open(self.path, "r+b") as f:
            self.shared = mmap.mmap(f.fileno(), 16)

    def env(self):
        return {"LD_PRELOAD": FAULTS, "DISK_FAULTS": self.path, "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def fail(self, error, after=0, times=1 << 30):
        self.shared[4:12] = struct.pack("2i", times, error)
        self.shared[0:4] = struct.pack("i", after)

    def work(self):
        self.shared[0:4] = struct.pack("i", -1)

    def seen(self):
        return struct.unpack("i", self.shared[12:16])[0]


def is_clear(code, answer, *words):
    """A refusal that says what is wrong."""
    return code == 503 and answer["reason"] == "ServiceUnavailable" and answer["kind"] == "Status" and answer["status"] == "Failure" and answer["code"] == code \
        and all(w in answer["message"] for w in words)


def reads_work(client, what):
    for path in ("/api/v1/namespaces", CONFIGMAPS, CONFIGMAPS + "?resourceVersion=0", CONFIGMAPS + "/kept", "/livez/ping"):
        code, answer = client.get(path)
        check(code == 200, "%s: %s" % (what, path), answer)


def one_fault(server, faults, error, known):
    """At every call of a commit, once: what was answered well is there, also after a kill; what failed said so."""
    client = Client(server)
    for after in range(CALLS):
        faults.fail(error, after, 1)
        for i in range(6):
            name = "f%d" % (i % 3)
            path = CONFIGMAPS + "/" + name
            thing = configmap(name, data={"at": "%d-%d" % (after, i)})
            exists = client.get(path)[0] == 200
            code, answer = client.put(path, thing) if exists else client.post(CONFIGMAPS, thing)
            if code in (200, 201):
                known[name] = {answer["data"]["at"]}
            else:
                check(is_clear(code, answer, "the store"), "errno %d at call %d" % (error, after), (code, answer))
                known.setdefault(name, {None}).add(thing["data"]["at"])
            reads_work(client, "errno %d at call %d" % (error, after))
        faults.work()
        eventually(lambda: client.put(CONFIGMAPS + "/kept", configmap("kept", data={"after": str(after)}))[0] == 200, 10)
        check(client.get(CONFIGMAPS + "/kept")[1]["data"]["after"] == str(after), "writes work again after errno %d" % error)
        server.kill()
        server.start()
        for name, values in known.items():
            code, answer = client.get(CONFIGMAPS + "/" + name)
            found = answer["data"]["at"] if code == 200 else None
            check(found in values, "errno %d at call %d: %s" % (error, after, name), (found, values))
            known[name] = {found}


def broken_for_good(server, faults, error):
    client, before = Client(server), faults.seen()
    watch = Watch(server, CONFIGMAPS + "?watch=true")
    faults.fail(error)
    for i in range(5):
        code, answer = client.post(CONFIGMAPS, configmap("never-%d-%d" % (error, i)))
        check(is_clear(code, answer, "the store cannot be written", os.strerror(error)), "errno %d for good" % error, (code, answer))
        code, answer = client.delete(CONFIGMAPS + "/kept")
        check(is_clear(code, answer), "a deletion that cannot be kept", (code, answer))
        reads_work(client, "errno %d for good" % error)
    check(faults.seen() > before, "the faults arrived")
    check(server.is_alive(), "it lives on")
    faults.work()
    check(eventually(lambda: client.post(CONFIGMAPS, configmap("later-%d" % error))[0] == 201, 10), "writes work again")
    check(watch.wait(lambda es: any(e["object"]["metadata"]["name"] == "later-%d" % error for e in es)), "watches go on")
    names = [e["object"]["metadata"]["name"] for e in watch.events]
    check(not any(n.startswith("never") for n in names) and "DELETED" not in [e["type"] for e in watch.events],
          "nobody was told of what did not happen", names)
    watch.close()


def full_for_good(server, faults):
    """It is not ready all the while, also between two tries; and is again when there is room, though nobody writes."""
    client = Client(server)
    faults.fail(errno.ENOSPC)
    check(client.post(CONFIGMAPS, configmap("too-much"))[0] == 503, "a full disk")
    codes = [client.raw("GET", "/readyz")[0] for _ in range(300)]
    check(set(codes) == {500}, "it is not ready", set(codes))
    faults.work()
    check(eventually(lambda: client.raw("GET", "/readyz")[0] == 200, 30), "it is ready when there is room")


def ends_while_broken(server, faults):
    faults.fail(errno.EIO)
    Client(server).post(CONFIGMAPS, configmap("lost"))
    check(server.kill(signal.SIGTERM) == 0, "it ends on a broken disk", server.text()[-500:])
    faults.work()
    server.start()
    check(Client(server).get(CONFIGMAPS + "/kept")[0] == 200, "and all is there")


def faults_of_calls():
    folder = tempfile.mkdtemp(prefix="berth-disk-")
    faults = Faults(folder)
    with Server(BERTH, folder, env=faults.env()) as server:
        check(Client(server).post(CONFIGMAPS, configmap("kept"))[0] == 201, "the first write")
        check(faults.seen() > 0, "the library is in the process")
        known = {}
        for error in (errno.EIO, errno.ENOSPC):
            one_fault(server, faults, error, known)
        for error in (errno.EIO, errno.EROFS):
            broken_for_good(server, faults, error)
        full_for_good(server, faults)
        ends_while_broken(server, faults)
    shutil.rmtree(folder, ignore_errors=True)


# ---- A small disk ----

def mount(folder, size):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm,mode=0700" % size, "none", folder], stderr=subprocess.PIPE)
    return done.returncode == 0


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": dict({"containers": [{"name": "c", "image": "i"}], "automountServiceAccountToken": False}, **spec)}


def fill(client, text):
    """Until it is refused twice, the second time with little: the names of what was taken, and the refusal."""
    names = []
    while True:
        name = "big-%d" % len(names)
        code, answer = client.post(CONFIGMAPS, configmap(name, data={"x": text}))
        if code != 201:
            return names, code, answer
        names.append(name)


def make_for_deletion(client):
    check(client.post("/api/v1/namespaces", {"metadata": {"name": "goes"}})[0] == 201, "a namespace")
    check(client.post("/api/v1/namespaces/goes/configmaps", configmap("inside", "goes"))[0] == 201, "a ConfigMap in it")
    eventually(lambda: client.get("/api/v1/namespaces/default/serviceaccounts/default")[0] == 200)
    for name, spec in (("pending", {}), ("bound", {"nodeName": "n"}), ("graceful", {"nodeName": "n"})):
        code, answer = client.post(PODS, pod(name, **spec))
        check(code == 201, "a pod", answer)
    held = configmap("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    check(client.post(CONFIGMAPS, held)[0] == 201, "a ConfigMap with a finalizer")
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
    check(client.post("/api/v1/namespaces/default/services", service)[0] == 201, "a service")


def deletions_work(client):
    now = {"gracePeriodSeconds": 0}
    for path, body in ((PODS + "/pending", None), (PODS + "/bound", now), (PODS + "/graceful", None), (CONFIGMAPS + "/held", None),
                       ("/api/v1/namespaces/default/services/s", None), (CONFIGMAPS + "/kept", None),
                       ("/api/v1/namespaces/goes", None)):
        code, answer = client.delete(path, body)
        check(code == 200, "DELETE %s on a full disk" % path, (code, answer))
    check(client.get(PODS + "/pending")[0] == 404 and client.get(PODS + "/bound")[0] == 404, "pods are gone")
    code, left = client.get(PODS + "/graceful")
    check(code == 200 and "deletionTimestamp" in left["metadata"], "one is going", left)


def full_disk(folder):
    with Server(BERTH, folder) as server:
        client = Client(server)
        check(client.post(CONFIGMAPS, configmap("kept"))[0] == 201, "the first write")
        make_for_deletion(client)
        names, code, answer = fill(client, "x" * 500000)
        check(is_clear(code, answer), "a full disk says so", (code, answer))
        check("no space is left" in str(answer) or "disk of the store is full" in str(answer), "in words", answer)
        reads_work(client, "a full disk")
        code, answer = client.get("/readyz?verbose")
        deletions_work(client)
        for name in names[: len(names) * 2 // 3]:
            code, answer = client.delete(CONFIGMAPS + "/" + name)
            check(code == 200, "a deletion on a full disk: " + name, answer)
        again = lambda: client.post(CONFIGMAPS, configmap("again-%d" % time.monotonic_ns(), data={"x": "x" * 500000}))
        check(eventually(lambda: again()[0] == 201, 20), "deletions make room for writes", again())
        check(eventually(lambda: client.get("/api/v1/namespaces/goes")[0] == 404, 20), "the namespace goes")
        n_kept = len(client.get(CONFIGMAPS)[1]["items"])
        server.kill()
        server.start()
        check(len(client.get(CONFIGMAPS)[1]["items"]) == n_kept, "all of it is there after a kill")


def others_fill_it(folder):
    """Somebody else's file takes the room, and gives it back."""
    ballast = os.path.join(folder, "ballast")
    with Server(BERTH, folder) as server:
        client = Client(server)
        client.post(CONFIGMAPS, configmap("kept"))
        with open(ballast, "wb") as f:
            try:
                while True:
                    f.write(b"x" * 65536)
                    f.flush()
            except OSError:
                pass
        names, code, answer = fill(client, "x" * 200000)
        check(is_clear(code, answer), "a full disk says so", (code, answer))
        check(client.get("/readyz")[0] in (200, 500), "ready or not")
        os.unlink(ballast)
        check(eventually(lambda: client.post(CONFIGMAPS, configmap("room"))[0] == 201, 10), "writes work once there is room")
        check(all(client.get(CONFIGMAPS + "/" + n)[0] == 200 for n in names), "what was taken is there")


def read_only_start(folder):
    with Server(BERTH, folder) as server:
        check(Client(server).post(CONFIGMAPS, configmap("kept"))[0] in (201, 409), "a write")
        server.kill(signal.SIGTERM)
    log = tempfile.mkdtemp(prefix="berth-log-")
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    server = Server(BERTH, log)
    server.where = ["--data-dir=" + os.path.join(folder, "data"), "--cert-dir=" + log]
    server.spawn()
    check(not server.wait_ready() and server.process.wait(LIMIT) == 1, "a read-only disk is refused at start")
    check("--data-dir" in server.text() and "Read-only file system" in server.text(), "and it says so", server.text()[-600:])
    subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
    shutil.rmtree(log, ignore_errors=True)


def small_disks():
    for part in (full_disk, others_fill_it, read_only_start):
        folder = tempfile.mkdtemp(prefix="berth-small-")
        if not mount(folder, 28):
            print("left out: no tmpfs can be mounted here: %s" % part.__name__)
            os.rmdir(folder)
            continue
        try:
            part(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
            os.rmdir(folder)


# ---- Damaged files ----

def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def start_fails(server, what, *words):
    data = os.path.join(server.data, "data.mdb")
    before = digest(data)
    server.spawn()
    ready = server.wait_ready()
    if not check(not ready, "refused: " + what):
        server.kill()
        return
    check(server.process.wait(LIMIT) == 1, "exit code: " + what)
    said = server.text().splitlines()[-1]
    check(all(w in said for w in ("--data-dir", "berth store restore", *words)), "says what to do: " + what, said)
    check(digest(data) == before, "nothing was changed: " + what)


def spoil(path, at, some):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(some)


def damaged_files():
    server = Server(BERTH)
    server.start()
    client = Client(server)
    for i in range(60):
        client.post(CONFIGMAPS, configmap("c%d" % i, data={"x": "look for me %d" % i * 50}))
    listed = client.get(CONFIGMAPS)[1]["items"]
    server.kill()
    path = os.path.join(server.data, "data.mdb")
    with open(path, "rb") as f:
        good = f.read()

    def put_back():
        with open(path, "wb") as f:
            f.write(good)

    def spoil_all(text, skip, some):
        """Of several copies in the file, one is current: all of them are spoiled."""
        at = good.find(text)
        while at >= 0:
            spoil(path, at + skip, some)
            at = good.find(text, at + 1)
    spoil_all(b"look for me 33", 0, b"LOOK")
    start_fails(server, "a byte of a record", "is damaged", "checksum")
    put_back()
    spoil_all(b"berthkv1", 8, b"\x07\x07\x07\x07")
    start_fails(server, "a newer format", "it has format 117901063, this berth reads format")
    put_back()
    with open(path, "r+b") as f:
        f.truncate(len(good) // 2)
    start_fails(server, "cut")
    put_back()
    spoil(path, 0, b"\0" * 8192)
    start_fails(server, "no head")
    put_back()
    for page in range(2, len(good) // 4096):
        spoil(path, page * 4096, b"\xa5" * 4096)
    start_fails(server, "pages that lead nowhere")
    put_back()
    chance = random.Random(1)
    for _ in range(6):  # anywhere: refused, or where nothing is kept
        spoil(path, chance.randrange(8192, len(good)), bytes([chance.randrange(256) for _ in range(16)]))
        server.spawn()
        if server.wait_ready():
            check(client.get(CONFIGMAPS)[1]["items"] == listed, "served as it was")
            server.kill()
        else:
            check(server.process.wait(LIMIT) == 1 and "berth store restore" in server.text().splitlines()[-1], "refused", server.text()[-500:])
        put_back()
    server.start()
    check(client.get(CONFIGMAPS)[1]["items"] == listed, "the good file is good")
    server.__exit__(None)


def two_of_them():
    with Server(BERTH) as first:
        second = Server(BERTH, tempfile.mkdtemp(prefix="berth-second-"))
        second.where = ["--data-dir=" + first.data]
        second.spawn()
        check(not second.wait_ready() and second.process.wait(LIMIT) == 1, "a second one is refused")
        check("in use by another process" in second.text(), "and says why", second.text()[-300:])
        check(Client(first).post(CONFIGMAPS, configmap("still"))[0] == 201, "the first one goes on")
        shutil.rmtree(second.folder, ignore_errors=True)


def killed_while_it_starts():
    """Whenever that is, the next start finds no lock of it."""
    chance = random.Random(2)
    with Server(BERTH) as server:
        for i in range(300):
            Client(server).post(CONFIGMAPS, configmap("c%d" % i, data={"x": "y" * 5000})) if i < 40 else None
        for _ in range(20):
            server.kill()
            server.spawn()
            time.sleep(chance.random() * 0.08)
        server.kill()
        server.start()
        check(Client(server).get(CONFIGMAPS + "/c39")[0] == 200, "all is there")


def main():
    faults_of_calls()
    damaged_files()
    two_of_them()
    killed_while_it_starts()
    if os.geteuid() != 0 and not os.environ.get("DISK_NAMESPACE"):
        done = subprocess.run(["unshare", "-Urm", "--", sys.executable, os.path.abspath(__file__), BERTH, FAULTS],
                              env=dict(os.environ, DISK_NAMESPACE="1"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, end="")
        check(done.returncode == 0 or "unshare" in done.stdout, "small disks in a namespace")
    else:
        small_disks()
    api_world.finish()


if os.environ.get("DISK_NAMESPACE"):
    small_disks()
    api_world.finish()
main()
