#!/usr/bin/env python3
"""Turns the sources of a page into one HTML text in a C file.

usage: page_gen.py OUT.c PAGE.html STYLE.css SCRIPT.js...

The page has four marks, each once: @POLICY@ (the content of its Content-Security-Policy), @STYLE@, @SCRIPT@ (all
scripts, one behind the other) and @DATA@. The policy allows exactly this style and this script, by their hashes, and nothing
from any network. The C file has what stands before @DATA@ and what stands behind it:

    const struct str report_page_head, report_page_tail;

The same sources give the same bytes.
"""
import base64
import hashlib
import pathlib
import sys

MARKS = ("@POLICY@", "@STYLE@", "@SCRIPT@", "@DATA@")


def source(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    if "\r" in text:
        sys.exit(f"{path}: has carriage returns; browsers would hash another text")
    return text


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(style, script):
    return "; ".join([
        "default-src 'none'",
        "style-src " + source_hash(style),
        "script-src " + source_hash(script),
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ])


def assemble(page, style, script):
    for mark in MARKS:
        if page.count(mark) != 1:
            sys.exit(f"the page must have {mark} once")
    for name, text in (("style", style), ("script", script)):
        if f"</{name}" in text.lower() or "<!--" in text:
            sys.exit(f"the {name} would end its own element")
    head, tail = page.split("@DATA@")

    def fill(part):
        part = part.replace("@POLICY@", policy(style, script))
        return part.replace("@STYLE@", style).replace("@SCRIPT@", script)

    return fill(head), fill(tail)


def c_string(text):
    """A literal per line of the text; bytes that are not plain ASCII as octal, which ends after three digits."""
    lines = []
    for line in text.splitlines(keepends=True):
        out = ""
        for byte in line.encode():
            char = chr(byte)
            if char == "\n":
                out += "\\n"
            elif char in '"\\?':
                out += "\\" + char
            elif 32 <= byte < 127:
                out += char
            else:
                out += f"\\{byte:03o}"
        lines.append(f'    "{out}"')
    return "\n".join(lines)


def main():
    out, page, style, *scripts = sys.argv[1:]
    head, tail = assemble(source(page), source(style), "".join(source(s) for s in scripts))
    text = "/* Made by tools/page_gen.py; do not edit. */\n#include \"sim/report_page.h\"\n"
    for name, part in (("head", head), ("tail", tail)):
        text += f"\nstatic const char {name}[] =\n{c_string(part)};\n"
        text += f"const struct str report_page_{name} = {{ {name}, sizeof({name}) - 1 }};\n"
    pathlib.Path(out).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
