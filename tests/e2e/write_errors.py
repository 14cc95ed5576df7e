#!/usr/bin/env python3
"""write_errors.py BERTH - a write that fails is told, and is exit code 1, for every command and form of output."""
import os
import signal
import tempfile

import cli
from cli import berth, check


def forms(folder):
    """Commands that print something and would succeed, or end with 3."""
    objects = [cli.node("n1"), cli.node("n2"), cli.pod("p1", "n1"), cli.pod("p2"), cli.pod("big", cpu="40")]
    cluster = ["-f", cli.write_cluster(folder, objects)]
    config = cli.write_text(folder, "packing.yaml", cli.PACKING)
    one = cli.write_cluster(folder, [cli.pod("one")], "one.json")
    trace = cli.write_text(folder, "trace.csv", cli.TRACE)
    return (
        [["--help"], ["help"], ["--version"], ["version"], ["version", "-o", "json"]] +
        [[command, "--help"] for command in cli.COMMANDS] +
        [["decode", *cluster, "-o", form] for form in ("summary", "json", "yaml")] +
        [["simulate", *cluster, "-o", form] for form in ("text", "wide", "json", "yaml", "name")] +
        [["simulate", *cluster, *more] for more in (
            ["--drain", "n1"], ["--capacity-of", one], ["--nodes-needed", "--like", "n1"], ["--compare", config])] +
        [["simulate", *cluster, "--trace", trace, "-o", form] for form in ("text", "json", "yaml")] +
        [["simulate", "--make-trace", "10"], ["simulate", "--kinds"]] +
        [["explain", which, *cluster, "-o", form] for which in ("p1", "p2", "big") for form in ("text", "json")] +
        [["bench", "--list"], ["bench", "--what-if", "--divide", "1000"], ["bench", "--what-if", "--divide", "1000", "-o", "json"],
         ["bench", "--engine", "--divide", "1000", "SchedulingBasic/5000Nodes_10000Pods"],
         ["bench", "--engine", "--divide", "1000", "SchedulingBasic/5000Nodes_10000Pods", "-o", "json"]])


def check_full(args):
    with open("/dev/full", "wb") as full:
        code, _, err = berth(*args, stdout=full)
    check(code == 1, "%s > /dev/full: exit code %d" % (args, code), err)
    told = err.decode().strip().split("\n")
    check(told[-1].endswith("cannot write to standard output: No space left on device"), "%s: what is told" % args, err)
    check(err.count(b"cannot write") == 1, "%s: told once" % args, err)


def check_closed(args):
    code, _, err = berth(*args, stdout=None, preexec_fn=lambda: os.close(1))
    check(code == 1 and b"cannot write to standard output" in err, "%s >&-: exit code %d" % (args, code), err)


def to_nobody(args, ignored):
    """Standard output is a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    signals = (lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None
    result = berth(*args, stdout=writer, preexec_fn=signals)
    os.close(writer)
    return result


def check_pipe(args):
    code, _, err = to_nobody(args, ignored=False)
    check(code == -signal.SIGPIPE and b"cannot" not in err, "%s | true: %d" % (args, code), err)
    code, _, err = to_nobody(args, ignored=True)
    check(code == 1 and err.count(b"Broken pipe") == 1, "%s | true, signal ignored: %d" % (args, code), err)


def check_report(folder):
    """A page goes to its file and nowhere else when standard output was closed."""
    page = os.path.join(folder, "page.html")
    cluster = cli.write_cluster(folder, [cli.node("n1"), cli.pod("p")])
    berth("simulate", "-f", cluster, "--report", page, stdout=None, preexec_fn=lambda: os.close(1))
    text = open(page).read() if os.path.exists(page) else ""
    check(not text or text.startswith("<!"), "the page is a page", text[:200])
    code, _, err = berth("simulate", "-f", cluster, "--report", "/dev/full")
    check(code == 1 and b"/dev/full: No space left on device" in err, "a page that cannot be written: %d" % code, err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for args in forms(folder):
            code, out, err = berth(*args)
            check(code in (0, 3) and out, "%s: exit code %d" % (args, code), err)
            check_full(args)
            check_closed(args)
            if args[0] != "bench" or "--list" in args:
                check_pipe(args)  # bench: the pipe ends a process of its own
        check_report(folder)
    cli.finish()


main()
