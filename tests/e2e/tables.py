#!/usr/bin/env python3
"""tables.py BERTH - texts on terminals of several widths: real names are whole, columns line up, lines end in time, pods that
berth made are told by their owners."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unicodedata

import cli
from cli import berth, check

EKS = ["ip-10-0-%d-%d.eu-west-1.compute.internal" % (i, 30 + i) for i in range(12, 15)]
AKS = ["aks-nodepool1-12345678-vmss00000%d" % i for i in range(3)]
WIDE = ["ノード-%d" % i for i in range(2)]
OTHERS = ["n1", "gke-prod-default-pool-1a2b3c4d-x7kq"]
NAMES = EKS + AKS + WIDE + OTHERS
WIDTHS = [40, 60, 80, 100, 132, 200]


def cluster():
    zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    nodes = [cli.node(name, labels={"topology.kubernetes.io/zone": zones[i % 3]}) for i, name in enumerate(NAMES)]
    running = [cli.pod("a-pod-of-nobody-with-a-long-name-7d9f8b6c5-abcde", EKS[0]), cli.pod("small", AKS[0])]
    return nodes + running + [cli.deployment("web", 12), cli.deployment("too-large-for-any-node", 3, cpu="40"), cli.pod("one")]


def on_terminal(args, columns):
    """What a terminal of so many columns gets on standard output."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen([cli.BERTH, *args], stdout=slave, stderr=subprocess.DEVNULL, env=cli.environment())
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # what Linux says at the end
            break
        if not piece:
            break
        text += piece
    os.close(master)
    return child.wait(), text.decode().replace("\r\n", "\n")


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def check_lines(what, text, columns):
    for line in text.split("\n"):
        check(line == line.rstrip(), "%s: blanks at the end" % what, repr(line))
        longest = max([width(word) for word in line.split()] or [0])
        indent = len(line) - len(line.lstrip())
        check(not columns or width(line) <= max(columns, indent + longest), "%s: %d columns" % (what, width(line)), line)


def check_columns(what, text):
    """What stands below PODS in the table of nodes begins in its column, also when the name has a line of its own."""
    heading = re.search(r"^  NODE .*PODS$", text, re.M)
    check(heading, "%s: a table of nodes" % what, text)
    if not heading:
        return
    at = width(heading.group().split("PODS")[0])
    rows = re.findall(r"^.*\d+ -> \d+ of \d+$", text[heading.end():], re.M)
    check(len(rows) == len(NAMES) + 4, "%s: %d rows" % (what, len(rows)), text)
    for row in rows:
        start = re.search(r"\d+ -> \d+ of \d+$", row).start()
        check(width(row[:start]) == at, "%s: PODS in column %d" % (what, at), heading.group() + "\n" + row)


def check_names(what, text):
    for name in NAMES:
        check(re.search(r"(?<!\S)%s(?![^\s,:;])" % re.escape(name), text), "%s: %s is whole" % (what, name), text)


QUESTIONS = [["--drain", EKS[0]], ["--remove-node", AKS[1]], ["--scale", "deploy/web=30"], ["--cordon", EKS[1]]]


def check_widths(path):
    for columns in WIDTHS:
        code, text = on_terminal(["simulate", "-f", path], columns)
        what = "simulate at %d" % columns
        check(code == 3, "%s: exit code %d" % (what, code), text)
        check_lines(what, text, columns)
        check_names(what, text)
        if columns >= 60:
            check_columns(what, text)
        for question in QUESTIONS:
            code, text = on_terminal(["simulate", "-f", path, *question], columns)
            check(code == 3, "%s %s: exit code %d" % (what, question, code), text)
            check_lines("%s %s" % (what, question), text, columns)
        for pod in ("one", "small"):
            code, text = on_terminal(["explain", pod, "-f", path, "--all"], columns)
            check(code == 0, "explain %s: exit code %d" % (pod, code), text)
            check_lines("explain %s at %d" % (pod, columns), text, columns)
            check_names("explain %s at %d" % (pod, columns), text)
            check(text.count("\n  " + EKS[2] + " ") >= 1 or columns < 60, "explain: rows", text)


def check_bound(path):
    """COLUMNS counts where it is given; without it and without a terminal there is no bound, and rows stay rows."""
    _, free, _ = berth("simulate", "-f", path)
    check_columns("no bound", free.decode())
    check(re.search(r"^  %s  +\S.*PODS$" % "NODE", free.decode(), re.M), "no bound", free)
    for name in NAMES:
        check(re.search(r"^  %s +eu-west-1[abc] +4 .* of 110$" % re.escape(name), free.decode(), re.M), "%s in a row" % name, free)
    _, at_80, _ = berth("simulate", "-f", path, env={"COLUMNS": "80"})
    check(at_80.decode() == on_terminal(["simulate", "-f", path], 80)[1], "COLUMNS is as a terminal", at_80)
    _, odd, _ = berth("simulate", "-f", path, env={"COLUMNS": "many"})
    check(odd == free, "COLUMNS that is no number", odd)
    code, wide = on_terminal(["simulate", "-f", path, "-o", "wide"], 40)
    rows = wide.strip().split("\n")
    check(code == 3 and len({width(row[:row.index(row.split()[3])]) for row in rows}) == 1, "wide: columns line up, whatever the terminal", wide)


def check_owners(path):
    _, out, _ = berth("simulate", "-f", path)
    text = out.decode()
    made = set(re.findall(r"\b(web-[a-z0-9]+-[a-z0-9]{5})\b", berth("simulate", "-f", path, "-o", "wide")[1].decode()))
    check(len(made) == 12, "-o wide has their names", made)
    check(not any(name in text for name in made), "no made-up names", text)
    check(re.search(r"^  Deployment default/web +12  ", text, re.M), "12 of web", text)
    check(re.search(r"^  Deployment default/too-large-for-any-node +3$", text, re.M), "3 pending", text)
    check("default/one" in text or "one" in text, "a pod that was given has its name", text)
    few = cli.write_cluster(os.path.dirname(path), [cli.node("n1"), cli.deployment("web", 2), cli.pod("mine")], "few.json")
    text = berth("simulate", "-f", few)[1].decode()
    check(re.search(r"^  Deployment default/web +2  n1 \(2\)\n", text, re.M) and re.search(r"^  default/mine +1  n1\n", text, re.M),
          "also few of them", text)
    text = berth("simulate", "-f", few, "--scale", "deploy/web=4")[1].decode()
    check(re.search(r"^New\n  Deployment default/web +\d", text, re.M) and "web-" not in text, "in a difference", text)
    text = berth("simulate", "-f", few, "--scale", "deploy/web=9", "--nodes-needed", "--like", "n1")[1].decode()
    check("web-" not in text, "in an answer", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = cli.write_cluster(folder, cluster())
        check_widths(path)
        check_bound(path)
        check_owners(path)
    cli.finish()


main()
