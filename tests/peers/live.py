"""Live equality: everything that the scheduler under test visibly does is what kube-scheduler does.

liveparity (tests/peers/live) plays all its scripts, and the clusters of tests/vectors/data, with a scheduler on the real API
server and records bindings, conditions, nominations, victims, Events, writes, leases, endpoints and exit codes. Here a
recording of the scheduler under test is compared with one of the real one: made now in the full form, read from
tests/peers/recordings in the short one. A script or a cluster is one test.

What does not agree is recorded again, alone, before it counts: both recordings are of real time, and a machine that stands still for
a second is not a difference between schedulers; nor is a preemptor that is tried between two victims which disappear one after the
other, or after both. Four tries at most; what agrees only in a later one is printed.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import time

from trio import HERE, REAL, Trio, fill

PARTS = [("live-scripts", "stories of waiting, preemption, volumes, extenders, leases, endpoints, flags, lost connections"),
         ("live-vectors", "the recorded clusters, pod by pod, on the real API server")]
RECORDINGS = os.path.join(HERE, "recordings")
VECTORS = os.path.join(os.path.dirname(HERE), "vectors", "data", "*.jsonl.gz")
SAMPLE = 100  # clusters of the short form
TRIES_MAX = 4

# What is chance even between two runs of the real scheduler: (cluster, number of the step): why. Of 837 facts of scripts none is.
_REFUSED = "the server refuses a pod of this cluster, so that the file no longer knows which nodes are equally good"
CHANCE = {("gates-1-028-features", step): _REFUSED for step in (3, 4, 5)}
ANY_NODE = "*"  # as liveparity writes it: which of the nodes is taken does not matter


def liveparity(trio, *args, log):
    with open(log, "ab") as out:
        port = str(int(os.environ.get("PEERS_PORT", "24300")) + 400)
        done = subprocess.run([os.path.join(trio.peers, "liveparity"), "record", "-kubeconfig", trio.kubeconfig, "-apiserver-pid",
                               trio.pid_file, "-port", port, *args], stdout=out, stderr=out)
    if done.returncode:
        with open(log, errors="replace") as text:
            raise AssertionError("liveparity ended with code %d:\n%s" % (done.returncode, text.read()[-2000:]))


def read(path):
    """{name of a script or cluster: its recording}"""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        found = [json.loads(line) for line in lines]
    for one in found:
        for number, step in enumerate(one.get("steps") or []):
            if (one["scenario"], number) in CHANCE:
                step["best"] = [ANY_NODE]
    return {one["scenario"]: one for one in found}


def write(path, recordings):
    with open(path, "w") as out:
        for one in recordings:
            out.write(json.dumps(one) + "\n")


def what(part, again=None):
    """Options of liveparity that choose what is played."""
    if part == "live-scripts":
        return ["-scripts", "^(%s)$" % "|".join(re.escape(n.split(" ", 1)[1]) for n in again) if again else "."]
    return ["-in", VECTORS] + (["-only", "^(%s)$" % "|".join(re.escape(n) for n in again)] if again else [])


def compare(peers, real, other, folder, quiet=False):
    """{name: what differs}"""
    a, b = os.path.join(folder, "a.jsonl"), os.path.join(folder, "b.jsonl")
    write(a, real.values())
    write(b, other.values())
    text = subprocess.run([os.path.join(peers, "liveparity"), "compare", "-limit", "100000", a, b], text=True,
                          stdout=subprocess.PIPE).stdout
    found, name = {}, None
    for line in text.splitlines():
        head = re.match(r"(\S.*?)(?:: only in|: not finished|: \d+ steps against| step \d+, pod| fact \d+:)", line)
        if head:
            name = head.group(1)
        elif not line.startswith(" "):
            name = None
        if name:
            found.setdefault(name, []).append(line)
    steps, wrong = re.search(r"live: (\d+) steps, (\d+) mismatched", text).groups()
    assert (int(wrong) == 0) == (not found), text[-2000:]
    if not quiet:
        print("live: %s steps, %s mismatched" % (steps, wrong), flush=True)
    return found


def play(trio, command, part, folder, name, follow=None, again=None, sample=None):
    """A recording of a scheduler."""
    out = os.path.join(folder, name + ".jsonl")
    options = what(part, again) + ["-scheduler-cmd", fill(command, trio.peers), "-out", out, "-dir", os.path.join(folder, name)]
    if follow:
        options += ["-follow", follow]
    if sample:
        options += ["-sample", str(sample)]
    liveparity(trio, *options, log=os.path.join(folder, name + ".log"))
    return read(out)


def part_of_recording(part):
    return os.path.join(RECORDINGS, part[len("live-"):] + ".jsonl.gz")


def run_part(trio, part, folder, options, results):
    began = time.monotonic()
    kept = part_of_recording(part)
    if options.short:
        real_path, real = kept, read(kept)
    else:
        real_path = os.path.join(folder, part + "-real.jsonl")
        real = play(trio, REAL, part, folder, part + "-real")
    sample = SAMPLE if options.short and part == "live-vectors" else None
    other = play(trio, options.command, part, folder, part + "-other", real_path, sample=sample)
    if sample:
        real = {name: one for name, one in real.items() if name in other}
    wrong = compare(trio.peers, real, other, folder)
    for number in range(2, TRIES_MAX + 1):
        if not wrong:
            break
        again = {**other, **play(trio, options.command, part, folder, "%s-%d" % (part, number), real_path, again=sorted(wrong))}
        before = wrong
        wrong = compare(trio.peers, {n: real[n] for n in before if n in real}, {n: again[n] for n in before if n in again}, folder)
        print("agree in try %d: %s" % (number, ", ".join(sorted(set(before) - set(wrong))) or "none"), flush=True)
    played = sorted(set(real) | set(other))
    for name in wrong:
        results.note("%s: %s" % (part, name), wrong[name])
    results.passed += len(played) - len(wrong)
    print("%s: %d of %d agree (%.0f s)" % (part, len(played) - len(wrong), len(played), time.monotonic() - began), flush=True)
    if not options.short:
        same_as_kept(trio.peers, kept, real, folder)


def same_as_kept(peers, kept, real, folder):
    """Says where the recording in the repository is not what the real scheduler does now: it is time to make it anew."""
    wrong = compare(peers, read(kept), real, folder)
    if wrong:
        print("%s is not what was recorded now of: %s" % (os.path.basename(kept), ", ".join(sorted(wrong))), flush=True)


def run(peers, folder, options, results):
    parts = [name for name, _ in PARTS if options.only.search(name)]
    if not parts:
        return
    with Trio(peers, os.path.join(folder, "live")) as trio:
        for part in parts:
            run_part(trio, part, folder, options, results)


def record_real(peers, folder, to):
    os.makedirs(to, exist_ok=True)
    with Trio(peers, os.path.join(folder, "live")) as trio:
        for part, _ in PARTS:
            play(trio, REAL, part, folder, part)
            with open(os.path.join(folder, part + ".jsonl"), "rb") as plain, \
                    gzip.GzipFile(os.path.join(to, os.path.basename(part_of_recording(part))), "wb", mtime=0) as packed:
                shutil.copyfileobj(plain, packed)
    return 0
