#!/usr/bin/env python3
"""Prints every file that a comment or a page names and that is not in the repository; exits 1 if there is one.

Whoever reads the code has the repository and nothing else: what another page says must be said where it is needed. Looked
at are the comments of C, Python, shell and schema files, and all of every page (*.md). Files of Kubernetes' own source
(*.go) may be named, since readers hold both sources side by side.
"""
import pathlib
import re
import sys

FOLDERS = ("bench", "docs", "examples", "include", "scripts", "src", "tests", "tools", "web")
COMMENTS = {
    ".c": re.compile(r"/\*.*?\*/|//[^\n]*", re.S),
    ".h": re.compile(r"/\*.*?\*/|//[^\n]*", re.S),
    ".js": re.compile(r"/\*.*?\*/|//[^\n]*", re.S),
    ".css": re.compile(r"/\*.*?\*/", re.S),
    ".py": re.compile(r'""".*?"""|#[^\n]*', re.S),
    ".txt": re.compile(r"^#[^\n]*", re.M),
    ".build": re.compile(r"#[^\n]*"),
    "": re.compile(r"^\s*#[^\n]*", re.M),
    ".md": re.compile(r".*", re.S),
}
NAME = re.compile(r"(?<![\w*./<{$-])((?:[\w-]+/)*[\w-]+\.(?:md|c|h|py|js|css|build))(?![\w*.-]|\()")
OUTSIDE = {"OUT.c", "OUT.h", "STYLE.css", "prefers_disks.c", "test_NAME.py",  # what the reader puts something in for
           "api/schema_slots.h"}  # what the build makes
SECTION = re.compile(r"\b\w+\.md \d")  # pages here have no numbered sections


def texts(root):
    pages = sorted(p for p in root.iterdir() if p.is_file())
    files = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*")) if p.is_file()]
    for path in pages + files:
        if path.suffix in COMMENTS and "corpus" not in path.parts and "node_modules" not in path.parts:
            try:
                yield path, path.read_text()
            except UnicodeDecodeError:
                continue


def cited(path, text):
    """Pairs of a line number and a name."""
    for comment in COMMENTS[path.suffix].finditer(text):
        for name in NAME.finditer(comment.group()):
            yield text.count("\n", 0, comment.start() + name.start()) + 1, name.group(1)
        for section in SECTION.finditer(comment.group()):
            yield text.count("\n", 0, comment.start() + section.start()) + 1, section.group()


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    here = [p for p in root.iterdir() if p.is_file()]
    here += [p for folder in FOLDERS for p in (root / folder).rglob("*") if p.is_file()]
    known = {"/" + str(p.relative_to(root)) for p in here}
    suffixes = {path[i:] for path in known for i, c in enumerate(path) if c == "/"}
    found = [f"{path.relative_to(root)}:{line}: {name} is not in the repository" for path, text in texts(root)
             for line, name in cited(path, text) if "/" + name not in suffixes and name not in OUTSIDE]
    print("\n".join(found) if found else "citations: every file that is named is here")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
