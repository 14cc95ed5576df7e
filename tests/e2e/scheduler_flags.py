#!/usr/bin/env python3
"""scheduler_flags.py BERTH - the scheduler's command line: every line of scheduler_flags.txt is one with the exit code and
the words of kube-scheduler v1.36.4; and what berth adds to it.

scheduler_flags.py --record KUBE_SCHEDULER writes scheduler_flags.txt anew. {dir} is a folder of ours."""
import json
import os
import re
import subprocess
import sys
import tempfile

FACTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scheduler_flags.txt")
MANIFESTS = {"labels.yaml": '"a,b": "c"\n', "keys.yaml": 'a: "c"\n', "broken.yaml": "[1\n"}
FILES = {"default.yaml": "", "one.yaml": "parallelism: 3\n", "field.yaml": "bogusField: 1\n",
         "twice.yaml": "parallelism: 1\nparallelism: 2\n", "names.yaml": "profiles: [{}, {}]\n",
         "unknown.yaml": "profiles: [{plugins: {filter: {enabled: [{name: Nobody}]}}}]\n"}
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
# Lines of the real one about what comes after the command line, or that is Go's own.
PASSED_OVER = re.compile("manifest file is empty|Generated self-signed cert|SetEmulationVersionAndMinCompatibilityVersion|"
                         "FLAG: --(algorithm-provider|compat|decisions|policy-config-file|record|record-max-bytes|shadow|use-legacy-policy-config)=")


def make_files(folder):
    for name, text in MANIFESTS.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(HEAD + text)
    with open(os.path.join(folder, "empty.yaml"), "w", encoding="utf-8"):
        pass


def run(command, args, folder):
    args = [a.replace("{dir}", folder) for a in args]
    return subprocess.run([*command, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"]})


def usual(line):
    line = re.sub(r"^([IWE])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.]+:\d+\]", r"\1]", line)
    line = re.sub(r'"ts":[\d.]+,"caller":"[^"]*",', "", line)
    line = re.sub(r'in scheme \\*"[^"]*"', "in scheme", line)
    return re.sub(r"features=\[(.*)\]", lambda m: "features=[%s]" % " ".join(sorted(m[1].split())), line)


def facts(done, folder):
    """Exit code, standard output, lines of standard error: without times, places in the source, and the usage."""
    err = re.sub(r"(?s)^Usage:\n.*?\n(\nError: .*)$", r"(usage)\n\1", done.stderr).replace(folder, "{dir}")
    lines = [usual(line) for line in err.split("\n") if line and not PASSED_OVER.search(line)]
    return [done.returncode, "(help)" if "\nGlobal flags:" in done.stdout else done.stdout, lines]


def read_facts():
    with open(FACTS, encoding="utf-8") as f:
        return [json.loads(line) for line in f if not line.startswith("#")]


def record(binary):
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        rows = [[args, *facts(run([binary], args, folder), folder)] for args, *_ in read_facts()]
    with open(FACTS, "w", encoding="utf-8") as f:
        f.write("# kube-scheduler v1.36.4: command line, exit code, standard output, standard error.\n")
        for row in rows:
            f.write(json.dumps(row) + "\n")


def check_facts(berth, folder):
    wrong = 0
    rows = read_facts()
    for args, *want in rows:
        got = facts(run([berth, "scheduler"], args, folder), folder)
        if got != want:
            wrong += 1
            print("%s\n  want %s\n  got  %s" % (args, want, got))
    assert not wrong, "%d of %d command lines" % (wrong, len(rows))
    return len(rows)


def check_name(berth, folder):
    """A link of that name is the command, and its exit codes are upstream's."""
    link = os.path.join(folder, "kube-scheduler")
    os.symlink(berth, link)
    done = run([link], ["--version"], folder)
    assert (done.returncode, done.stdout) == (0, "Kubernetes v1.36.4\n"), done
    done = run([link], ["simulate"], folder)
    assert done.returncode == 1 and 'does not take any arguments, got ["simulate"]' in done.stderr, done


def check_help(berth, folder):
    done = run([berth, "scheduler"], ["--config=x", "--help", "word"], folder)
    assert done.returncode == 0 and not done.stderr, done
    for part in ("\nUsage:\n  kube-scheduler [flags]\n\nMisc flags:\n\n      --config string ", "\n\nBerth flags:\n\n",
                 "\n  -v, --v Level  ", "(default [/healthz,/readyz,/livez])\n"):
        assert part in done.stdout, part
    done = run([berth], ["--help"], folder)
    assert "\n  scheduler   schedules the pods of a cluster" in done.stdout, done


def check_raw_version(berth, folder):
    done = run([berth, "scheduler"], ["--version=raw"], folder)
    assert done.returncode == 0 and done.stdout.startswith('version.Info{Major:"1", Minor:"36", '), done
    assert 'GitVersion:"v1.36.4"' in done.stdout, done


def check_written(berth, folder):
    """--write-config-to: flags, file and gates all reach what is written."""
    path = os.path.join(folder, "written.yaml")
    flags = ["--write-config-to=" + path, "--kube-api-qps=3.5", "--leader-elect-lease-duration=20s", "--profiling=false"]
    done = run([berth, "scheduler"], flags, folder)
    assert done.returncode == 0 and '"Wrote configuration" file="%s"' % path in done.stderr, done
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for line in ("  qps: 3.5\n", "  leaseDuration: 20s\n", "enableProfiling: false\n", "enableContentionProfiling: true\n",
                 "      - name: NodeDeclaredFeatures\n", "kind: KubeSchedulerConfiguration\n"):
        assert line in text, line
    done = run([berth, "scheduler"], [*flags, "--config={dir}/one.yaml", "--emulated-version=1.34"], folder)
    assert done.returncode == 0, done
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for line in ("  qps: 50\n", "  leaseDuration: 20s\n", "enableProfiling: true\n", "parallelism: 3\n"):
        assert line in text, line
    assert "NodeDeclaredFeatures" not in text, "a gate that 1.34 did not have"


def check_own(berth, folder):
    for args, words in ((["--decisions=-1"], "--decisions -1 must be between 0 and 10000000, inclusive"),
                        (["--record-max-bytes=0"], "--record-max-bytes 0 must be greater than 0"),
                        (["--record-max-bytes=x"], 'invalid argument "x" for "--record-max-bytes" flag'),
                        (["--shadow=x"], 'invalid argument "x" for "--shadow" flag')):
        done = run([berth, "scheduler"], args, folder)
        assert done.returncode == 1 and words in done.stderr, (args, done)


def check_logs(berth, folder):
    done = run([berth, "scheduler"], ["-v=2", "--write-config-to={dir}/w.yaml"], folder)
    assert '"Using component config" config=<\n\tapiVersion: kubescheduler.config.k8s.io/v1\n' in done.stderr, done
    assert '] FLAG: --write-config-to="%s/w.yaml"\n' % folder in done.stderr, done
    done = run([berth, "scheduler"], ["--logging-format=json", "--secure-port=70000"], folder)
    last = json.loads(done.stderr)
    assert last["msg"] == "command failed" and last["err"].startswith("--secure-port 70000 "), done


def main():
    if sys.argv[1] == "--record":
        record(sys.argv[2])
        return
    berth = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        n = check_facts(berth, folder)
        for check in (check_name, check_help, check_raw_version, check_written, check_own, check_logs):
            check(berth, folder)
    print("scheduler flags: %d command lines" % n)


main()
