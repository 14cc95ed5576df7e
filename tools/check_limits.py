#!/usr/bin/env python3
"""Prints every row of ARCHITECTURE.md's table of limits whose name or value is not what the source has, and every limit of
the scheduler's headers that has no row; exits 1 if there is one."""
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]+)` \| ([^|]+) \|", re.M)
DEFINED = re.compile(r"\b([A-Z][A-Z0-9_]*(?:_MAX|_KEPT|_PER_BYTE))\s*=\s*([^,;}/]+?)\s*[,;}/]|"
                     r"#define\s+([A-Z][A-Z0-9_]*_MAX)\s+\(?(.+?)\)?\s*(?:/\*|$)", re.M)
CAST = re.compile(r"^\(\w+\)")
MUST_HAVE = ("POD_CLASSES", "MEMOS", "COUNTS", "CACHE_LOG", "NOMINATOR_LOG", "QUEUE_EVENTS")


def defined(root):
    found = {}
    for path in sorted(root.glob("src/**/*.[ch]")) + sorted(root.glob("include/**/*.h")):
        for match in DEFINED.finditer(path.read_text()):
            name, value = (match.group(1), match.group(2)) if match.group(1) else (match.group(3), match.group(4))
            found.setdefault(name, CAST.sub("", value.strip()))
    return found


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    rows, source = dict(ROW.findall((root / "ARCHITECTURE.md").read_text())), defined(root)
    wrong = [f"ARCHITECTURE.md: {name} is {value}, the source has {source.get(name, 'none')}"
             for name, value in rows.items() if source.get(name) != value]
    wrong += [f"ARCHITECTURE.md: {name} has no row" for name in source
              if name.startswith(MUST_HAVE) and name not in rows]
    print("\n".join(wrong) if wrong else f"limits: {len(rows)} are as the source has them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
