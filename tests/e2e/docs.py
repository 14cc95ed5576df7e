#!/usr/bin/env python3
"""docs.py BERTH - what the documentation shows is what berth does: outputs, kinds that are read, options, exit codes."""
import re
import subprocess

import cli
from cli import ROOT, berth, check

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


OWN = r"(printf '[^']*' \| )?(build/)?berth [^|;&$`]*$"  # nothing else is run: kubectl would ask somebody's cluster


def sessions(page):
    """Commands of the page, each with the lines that stand below it."""
    for block in re.findall(r"^```\w*\n(.*?)^```$", page.read_text(), re.M | re.S):
        command, shown = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, shown
                command, shown = line[2:], []
            else:
                shown.append(line)
        if command:
            yield command, shown


def matches(lines, shown):
    """Whether the lines are those that are shown, where "..." stands for any number."""
    if not shown:
        return not lines
    if shown[0].strip() == "...":
        return any(matches(lines[i:], shown[1:]) for i in range(len(lines) + 1))
    return bool(lines) and lines[0] == shown[0] and matches(lines[1:], shown[1:])


def check_sessions():
    n = 0
    for page in PAGES:
        for command, shown in sessions(page):
            if not any(shown) or "berth version" in command or not re.match(OWN, command):
                continue
            words = re.sub(r"(^|\| )(build/)?berth ", lambda m: "%s'%s' " % (m.group(1), cli.BERTH), command)
            done = subprocess.run(["bash", "-c", words], cwd=ROOT, env=cli.environment(), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            check(matches(done.stdout.splitlines(), shown), "%s: %s" % (page.name, command), done.stdout)
            n += 1
    check(n >= 3, "sessions are found: %d" % n)


def plural(kind):
    word = kind.lower()
    return word + "es" if word.endswith("s") else word[:-1] + "ies" if word.endswith("y") else word + "s"


def check_kinds():
    _, out, _ = berth("simulate", "--kinds")
    kinds = out.decode().strip()
    check(len(set(kinds.split(","))) == kinds.count(",") + 1 > 20, "kinds", kinds)
    for needed in ("nodes", "pods", "persistentvolumeclaims", "persistentvolumes", "storageclasses", "poddisruptionbudgets", "csinodes"):
        check(needed in kinds.split(","), needed, kinds)
    told = (ROOT / "docs/simulate.md").read_text()
    check("$ kubectl get %s -A -o json" % kinds in told, "docs/simulate.md has the list", kinds)
    table = told.split("| objects | what becomes of them |")[1].split("\n\n")[0]
    words = {plural(word) for word in re.findall(r"[A-Z]\w+", table)}
    check(not set(kinds.split(",")) - words, "the table tells of all", set(kinds.split(",")) - words)


def check_kubectl():
    """No line anywhere asks kubectl for less than all kinds and hands that to a simulation."""
    _, kinds, _ = berth("simulate", "--kinds")
    texts = {page.name: page.read_text() for page in PAGES}
    for command in cli.COMMANDS:
        texts[command + " --help"] = berth(command, "--help")[1].decode()
    n = 0
    for name, text in texts.items():
        for line in re.findall(r"^.*kubectl get .*$", text, re.M):
            asked = re.search(r"kubectl get (\$\(berth simulate --kinds\)|[a-z,]+) .*-o json", line)
            if not asked or "decode" in line:
                continue
            check(asked.group(1) in ("$(berth simulate --kinds)", kinds.decode().strip()), "%s: all kinds" % name, line)
            n += 1
    check(n >= 5, "lines are found: %d" % n)


def check_options():
    """Options that the pages name exist."""
    known = {option for command in cli.COMMANDS for option in cli.options_of(command)} | {"--help", "--version"}
    foreign = {"--ignore-daemonsets", "--delete-emptydir-data"}  # kubectl's
    for page in PAGES:
        for command, _ in sessions(page):
            if not re.match(r"(build/)?berth ", command):
                continue
            for option in re.findall(r"(?<=\s)(--[a-z-]+)", command.split("#")[0]):
                check(option in known | foreign, "%s: %s" % (page.name, option), command)


def main():
    check_sessions()
    check_kinds()
    check_kubectl()
    check_options()
    cli.finish()


main()
