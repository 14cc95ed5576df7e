#!/usr/bin/env python3
"""Puts the files of a page into a C file, to be served one by one.

usage: embed.py OUT HEADER NAME PAGE STYLE SCRIPT...

    const struct str NAME_page, NAME_style, NAME_script;

The scripts stand one behind the other, in one file. The same sources give the same bytes.
"""
import pathlib
import sys

from page_gen import c_string, source


def main():
    out, header, name, page, style, *scripts = sys.argv[1:]
    parts = {"page": source(page), "style": source(style), "script": "".join(source(s) for s in scripts)}
    text = f'/* Made by tools/embed.py; do not edit. */\n#include "{header}"\n'
    for part, body in parts.items():
        text += f"\nstatic const char {part}_text[] =\n{c_string(body)};\n"
        text += f"const struct str {name}_{part} = {{ {part}_text, sizeof({part}_text) - 1 }};\n"
    pathlib.Path(out).write_text(text, encoding="ascii")


main()
