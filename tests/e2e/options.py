#!/usr/bin/env python3
"""options.py BERTH - every option of every command: named in its help, known to it, and given twice only where that has a meaning."""
import tempfile

import cli
from cli import berth, check

REPEATED = {"-f", "--add-nodes", "--cordon", "--drain", "--like", "--remove-node", "--scale"}
FLAGS = {"--all", "--allow-plugins", "--decisions", "--engine", "--force", "--help", "--insecure-skip-tls-verify", "--keep", "--kinds", "--list",
         "--live", "--memory", "--metrics", "--no-dashboard", "--nodes-needed", "--print-kubeconfig", "--strict", "--wait", "--what-if", "--yes"}
VALUES = {"-o": "json", "--seed": "7", "--top": "2", "--add-nodes": "1", "--scale": "deploy/web=1", "--retries": "5",
          "--make-trace": "3", "--hours": "2", "--divide": "9", "--content": "json", "--in-flight": "7", "--init-pods": "3",
          "--nodes": "3", "--pods": "3", "--timeout": "5", "--scheduler-pid": "1", "--scheduler-address": "https://127.0.0.1:1",
          "--server": "https://127.0.0.1:1", "--address": "127.0.0.1", "--port": "0", "--dashboard-port": "0", "-v": "1"}
NOT_ALONE = {"-l"}  # part of --drain
STAYS = "up"  # a command that would not end


def words(option, joined):
    if option in FLAGS:
        return [option]
    value = VALUES.get(option, "x")
    return ["%s=%s" % (option, value)] if joined else [option, value]


def check_option(command, option):
    for first, second in ((False, False), (True, False), (True, True)):
        given = words(option, first) + words(option, second)
        code, out, err = berth(command, *given)
        twice = b"%s is given twice" % option.encode()
        if option in REPEATED:
            check(twice not in err, "%s %s may be repeated" % (command, given), err)
        else:
            check(code == 2 and twice in err and not out, "%s %s: exit code %d" % (command, given, code), err)
    if command != STAYS:
        check_alone(command, option)
    if option not in FLAGS:
        code, _, err = berth(command, option)
        check(code == 2 and b"%s needs a value" % option.encode() in err, "%s %s without a value: %d" % (command, option, code), err)


def check_alone(command, option):
    small = ["--divide", "1000"] if command == "bench" and option != "--divide" else []
    code, _, err = berth(command, *words(option, False), *small)
    check(b"unknown argument" not in err, "%s knows %s" % (command, option), err)


def check_rest():
    for command in cli.PLAIN_COMMANDS:
        for wrong in ("--nothing", "-z", "--forceful", "--force=1"):
            code, out, err = berth(command, wrong)
            check(code == 2 and not out, "%s %s: exit code %d" % (command, wrong, code), err)
            check(err.decode().endswith("See 'berth %s --help'.\n" % command), "%s %s: where help is" % (command, wrong), err)
    code, _, err = berth("explain", "p", "--top", "3", "--all", "-f", "x")
    check(code == 2 and b"--top and --all do not go together" in err, "top and all", err)
    with tempfile.TemporaryDirectory() as folder:
        path = cli.write_cluster(folder, [cli.node("n1"), cli.node("n2"), cli.pod("p")])
        code, out, err = berth("simulate", "-f", path, "--cordon", "n1", "--cordon=n2")
        check(code == 0 and b"What if: cordon n1; cordon n2" in out, "both changes are made: %d" % code, out + err)


def main():
    n = 0
    for command in cli.PLAIN_COMMANDS:
        for option in options_of(command):
            check_option(command, option)
            n += 1
    check(n > 35, "the helps name their options: %d" % n)
    check_rest()
    cli.finish()


def options_of(command):
    return [o for o in cli.options_of(command) if o not in NOT_ALONE and o != "--help"]


main()
