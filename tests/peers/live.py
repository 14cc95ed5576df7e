"""Live equality: everything that the scheduler under test visibly does is what kube-scheduler does.

liveparity (tests/peers/live) plays all its scripts, and the clusters of tests/vectors/data, with a scheduler on the real API
server and records bindings, conditions, nominations, victims, Events, writes, leases, endpoints and exit codes. Here a
recording of the scheduler under test is compared with one of the real one: made now in the full form, read from
tests/peers/recordings in the short one. A script or a cluster is one test. Then the same again on berth's API server, with the real
scheduler and with the one under test.

In a few steps the real scheduler does not agree with itself, see CHANCE: those were recorded several times, and the scheduler under
test has to do what the real one did in one of them. What does not agree otherwise is recorded again, alone, before it counts: both
recordings are of real time, and a machine that stands still for a second is not a difference between schedulers. What agrees only
in the second try is printed.
"""
import gzip
import json
import os
import re
import subprocess
import time

from trio import HERE, OwnTrio, REAL, Trio, fill

PARTS = [("live-scripts", "stories of waiting, preemption, volumes, extenders, leases, endpoints, flags, lost connections"),
         ("live-vectors", "the recorded clusters, pod by pod, on the real API server")]
OWN_PARTS = [("apiserver-scripts", "the same stories on berth's API server, with the real scheduler and with the one under test"),
             ("apiserver-vectors", "the same clusters on berth's API server, with both")]
# Of the stories, in the short form: those in which the API server has most to do.
OWN_SHORT = ["script " + name for name in ("plain", "pod-scaled-down", "gates", "event-series", "burst", "preempt", "provision", "deleted-in-prebind",
                                           "leader", "watch-cut", "server-restart")]
RECORDINGS = os.path.join(HERE, "recordings")
CHANCE_FILE = os.path.join(RECORDINGS, "chance.jsonl.gz")
VECTORS = os.path.join(os.path.dirname(HERE), "vectors", "data", "*.jsonl.gz")
SAMPLE, OWN_SAMPLE = 100, 40  # clusters of the short form
TRIES_MAX = 2

# Clusters that the real scheduler itself does not play in the same way each time, and why.
CHANCE = {
    "gates-1-028-features": "the server refuses a pod of this cluster, so that the file no longer knows which nodes are equally good",
    "preemption-1-008-spread": "two victims go at once; whether the preemptor is tried between them, and which one goes first, decides where "
                               "it fits",
    "preemption-1-030-terminating": "the preemptor's own nomination wakes it, unless that is seen before the end of its victim",
}
CHANCE_RUNS = 16  # how often they are recorded; what happens once in four times is missed once in a hundred recordings


def liveparity(trio, *args, log):
    with open(log, "ab") as out:
        port = str(int(os.environ.get("PEERS_PORT", "24300")) + 400)
        done = subprocess.run([os.path.join(trio.peers, "liveparity"), "record", "-kubeconfig", trio.kubeconfig, "-apiserver-pid",
                               trio.pid_file, "-port", port, *args], stdout=out, stderr=out)
    if done.returncode:
        with open(log, errors="replace") as text:
            raise AssertionError("liveparity ended with code %d:\n%s" % (done.returncode, text.read()[-2000:]))


def read_lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def read(path):
    """{name of a script or cluster: its recording}"""
    return {one["scenario"]: one for one in read_lines(path)}


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
    """{name: {step, fact or the whole: what differs}}"""
    a, b = os.path.join(folder, "a.jsonl"), os.path.join(folder, "b.jsonl")
    write(a, real.values())
    write(b, other.values())
    text = subprocess.run([os.path.join(peers, "liveparity"), "compare", "-limit", "100000", a, b], text=True,
                          stdout=subprocess.PIPE).stdout
    found, lines = {}, None
    for line in text.splitlines():
        head = re.match(r"(\S.*?)(?:: only in|: not finished|: \d+ steps against| (step \d+), pod| (fact \d+):)", line)
        if head:
            lines = found.setdefault(head.group(1), {}).setdefault(head.group(2) or head.group(3) or "all", [])
        elif not line.startswith(" "):
            lines = None
        if lines is not None:
            lines.append(line)
    steps, wrong = re.search(r"live: (\d+) steps, (\d+) mismatched", text).groups()
    assert (int(wrong) == 0) == (not found), text[-2000:]
    if not quiet:
        print("live: %s steps, %s mismatched" % (steps, wrong), flush=True)
    return found


def never_agree(peers, wrong, other, folder, quiet=False):
    """What is left of `wrong` when a step may be as in any of the real scheduler's recordings of its cluster."""
    left = dict(wrong)
    for one in read_lines(CHANCE_FILE) if set(wrong) & set(CHANCE) else []:
        name = one["scenario"]
        if name in left:
            again = compare(peers, {name: one}, {name: other[name]}, folder, quiet=True).get(name, {})
            left[name] = {step: lines for step, lines in left[name].items() if step in again}
    for name in sorted(n for n in left if not left[n] and not quiet):
        print("as in another run of the real one: %s %s" % (name, ", ".join(sorted(wrong[name]))), flush=True)
    return {name: steps for name, steps in left.items() if steps}


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


def agree(trio, part, folder, label, command, recording, results, again=None, sample=None):
    """Plays a part with a scheduler and compares it with a recording of the real one on the real API server, a path."""
    began, real = time.monotonic(), read(recording)
    other = play(trio, command, part, folder, label, recording, again=again, sample=sample)
    if again or sample:
        real = {name: one for name, one in real.items() if name in other}
    wrong = never_agree(trio.peers, compare(trio.peers, real, other, folder), other, folder)
    for number in range(2, TRIES_MAX + 1):
        if not wrong:
            break
        another = {**other, **play(trio, command, part, folder, "%s-%d" % (label, number), recording, again=sorted(wrong))}
        before = wrong
        wrong = compare(trio.peers, {n: real[n] for n in before if n in real}, {n: another[n] for n in before if n in another}, folder)
        wrong = never_agree(trio.peers, wrong, another, folder)
        print("agree in try %d: %s" % (number, ", ".join(sorted(set(before) - set(wrong))) or "none"), flush=True)
    played = sorted(set(real) | set(other))
    for name in wrong:
        results.note("%s: %s" % (label, name), sum(wrong[name].values(), []))
    results.passed += len(played) - len(wrong)
    print("%s: %d of %d agree (%.0f s)" % (label, len(played) - len(wrong), len(played), time.monotonic() - began), flush=True)


def run_part(trio, part, folder, options, results):
    recording = part_of_recording(part)
    if not options.short:
        real = play(trio, REAL, part, folder, part + "-real")
        recording = os.path.join(folder, part + "-real.jsonl")
    sample = SAMPLE if options.short and part == "live-vectors" else None
    agree(trio, part, folder, part, options.command, recording, results, sample=sample)
    if not options.short:
        same_as_kept(trio.peers, part_of_recording(part), real, folder)


def run_own(peers, folder, options, results):
    """Both schedulers on berth's API server: what they do there is what the real one does on the real one."""
    parts = [(own, part) for (own, _), (part, _) in zip(OWN_PARTS, PARTS) if options.only.search(own)]
    if not parts:
        return
    with OwnTrio(peers, os.path.join(folder, "own")) as trio:
        for own, part in parts:
            for who, command in (("real", REAL), ("berth", options.command)):
                short = options.short
                agree(trio, part, folder, "%s, scheduler %s" % (own, who), command, part_of_recording(part), results,
                      again=OWN_SHORT if short and part == "live-scripts" else None,
                      sample=OWN_SAMPLE if short and part == "live-vectors" else None)


def same_as_kept(peers, kept, real, folder):
    """Says where the recording in the repository is not what the real scheduler does now: it is time to make it anew."""
    wrong = never_agree(peers, compare(peers, read(kept), real, folder), real, folder)
    if wrong:
        print("%s is not what was recorded now of: %s" % (os.path.basename(kept), ", ".join(sorted(wrong))), flush=True)


def run(peers, folder, options, results):
    run_own(peers, folder, options, results)
    parts = [name for name, _ in PARTS if options.only.search(name)]
    if not parts:
        return
    with Trio(peers, os.path.join(folder, "live")) as trio:
        for part in parts:
            run_part(trio, part, folder, options, results)


def pack(path, recordings):
    with gzip.GzipFile(path, "wb", mtime=0) as packed:
        packed.writelines(json.dumps(one).encode() + b"\n" for one in recordings)


def new_steps(one, seen):
    """Whether some step of this recording is unlike those of the same number in the ones before."""
    steps = [json.dumps({key: value for key, value in step.items() if key != "ms"}, sort_keys=True) for step in one["steps"]]
    new = [step for step in enumerate(steps) if step not in seen]
    seen.update(new)
    return bool(new)


def record_chance(trio, folder, follow):
    """Recordings of the clusters of CHANCE that have something new, each following the one that the others are compared with."""
    seen, kept = {name: set() for name in CHANCE}, []
    for number in range(CHANCE_RUNS):
        runs = play(trio, REAL, "live-vectors", folder, "chance-%d" % number, follow, again=sorted(CHANCE))
        kept += [one for name, one in runs.items() if new_steps(one, seen[name])]
    return kept


def record_real(peers, folder, to):
    os.makedirs(to, exist_ok=True)
    with Trio(peers, os.path.join(folder, "live")) as trio:
        for part, _ in PARTS:
            whole = play(trio, REAL, part, folder, part)
            pack(os.path.join(to, os.path.basename(part_of_recording(part))), whole.values())
        chance = record_chance(trio, folder, os.path.join(folder, "live-vectors.jsonl"))
        pack(os.path.join(to, os.path.basename(CHANCE_FILE)), chance)
    return 0
