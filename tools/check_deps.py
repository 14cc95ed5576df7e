#!/usr/bin/env python3
"""Prints every #include in src/ that points the wrong way; exits 1 if there is one.

The layers and who may include whom: ARCHITECTURE.md. A folder may always include itself and base.
"""
import pathlib
import re
import sys

OBJECTS = {"api", "codec", "patch"}  # what every folder about Kubernetes may use; forms are the scheduler's
MAY_INCLUDE = {
    "base": set(),
    "api": set(),
    "http": set(),
    "codec": {"api"},
    "patch": {"api", "codec"},
    "forms": {"api", "codec"},
    "rules": {"api", "codec"},
    "apply": {"api", "codec", "patch"},
    "store": OBJECTS | {"http"},
    "client": OBJECTS | {"forms", "http"},
    "sched": {"api", "codec", "forms", "berth"},  # berth: the installed headers in include/
    "apiserver": OBJECTS | {"apply", "http", "rules", "store"},
    "plugins": {"api", "forms", "sched"},
    "config": {"api", "codec", "forms", "sched", "plugins"},
    "insight": {"api", "codec", "forms", "sched", "plugins", "config"},
    "controllers": OBJECTS | {"apply", "apiserver", "rules", "client", "http", "store"},
    "hollow": OBJECTS | {"apiserver", "client", "controllers", "http", "rules", "store"},
    "sim": OBJECTS | {"forms", "http", "store", "sched", "plugins", "config", "insight"},
    "daemon": OBJECTS | {"forms", "http", "store", "client", "sched", "plugins", "apiserver", "config", "controllers", "hollow", "insight"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def wrong_includes(root):
    for path in sorted(root.rglob("*.[ch]")):
        layer = path.relative_to(root).parts[0]
        allowed = MAY_INCLUDE.get(layer)
        if layer == "cmd":
            continue
        if allowed is None:
            yield f"{path}: folder {layer} is in no layer"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and match.group(1).split("/")[0]
            if match and "/" in match.group(1) and target not in allowed | {layer, "base"}:
                yield f"{path}:{number}: {layer} may not include {match.group(1)}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    found = list(wrong_includes(root))
    print("\n".join(found) if found else "deps: every include points upwards only")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
