#!/usr/bin/env python3
"""Writing the page: whole or not at all, with errors that name the file; and the outputs beside it."""
import json
import os
import pathlib
import stat

from browser import ROOT, berth, main, simulate, test

SAMPLE = str(ROOT / "examples/cluster")


def make_world(folder):
    return (pathlib.Path(folder),)


def report_to(path):
    return berth("simulate", "-f", SAMPLE, "-o", "name", "--report", str(path))


@test
def the_same_input_gives_the_same_page(folder):
    pages = []
    for name in ("one.html", "two.html"):
        assert report_to(folder / name).returncode == 3
        pages.append((folder / name).read_bytes())
    assert pages[0] == pages[1]
    assert sorted(os.listdir(folder)) == ["one.html", "two.html"], "nothing is left beside them"


@test
def what_was_there_is_replaced_and_keeps_its_mode(folder):
    target = folder / "kept.html"
    target.write_text("old")
    target.chmod(0o640)
    link = folder / "link.html"
    link.symlink_to(target)
    assert report_to(link).returncode == 3
    assert link.is_symlink() and target.read_text().startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@test
def a_new_file_has_the_usual_mode(folder):
    os.umask(0o022)
    assert report_to(folder / "new.html").returncode == 3
    assert stat.S_IMODE((folder / "new.html").stat().st_mode) == 0o644


@test
def what_cannot_be_written_is_named(folder):
    (folder / "full").mkdir()
    for path, why in ((folder / "missing/x.html", "No such file or directory"), (folder / "full", "Is a directory"),
                      (folder / ("n" * 300), "File name too long")):
        done = report_to(path)
        assert done.returncode == 1, done.returncode
        assert done.stderr == f"berth simulate: {path}: {why}\n", done.stderr


@test
def a_device_is_written_as_it_is(folder):
    done = report_to("/dev/stdout")
    assert done.returncode == 3 and "<!DOCTYPE html>" in done.stdout and done.stdout.rstrip().endswith("</html>")
    done = report_to("/dev/full")
    assert done.returncode == 1 and "/dev/full: No space left on device" in done.stderr


@test
def no_output_is_known_by_another_name(folder):
    done = berth("simulate", "-f", SAMPLE, "-o", "xml")
    assert done.returncode == 2 and '-o is text, wide, json, yaml or name, not "xml"' in done.stderr


@test
def wide_has_a_row_for_every_pod(folder):
    document = json.loads(simulate("-f", SAMPLE, "-o", "json"))
    lines = simulate("-f", SAMPLE, "-o", "wide").splitlines()
    assert lines[0].split() == "NAMESPACE NAME OWNER STATE NODE ZONE CPU MEMORY REASON".split()
    rows = [line.split(None, 8) for line in lines[1:]]
    assert len(rows) == sum(document["summary"][k] for k in ("running", "placed", "pending", "preempted"))
    for key, state in (("placed", "Placed"), ("pending", "Pending")):
        want = {(p["namespace"], p["name"], p.get("node", "<none>")) for p in document[key]}
        assert {(r[0], r[1], r[4]) for r in rows if r[3] == state} == want
    assert {r[8] for r in rows if r[3] == "Pending"} == {p["message"] for p in document["pending"]}


main(make_world, needs_browser=False)
