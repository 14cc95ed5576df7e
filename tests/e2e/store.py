#!/usr/bin/env python3
"""store.py BERTH STORE_TOOL - `berth store` as a user runs it: what is said of good, used, damaged and missing stores."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cli
from cli import berth, check

TOOL = os.path.abspath(sys.argv[2])
FIELDS = ["folder", "records", "deletions", "recordBytes", "fileBytes", "revision", "compacted", "uncleanEnd"]


def facts(*args):
    code, out, err = berth("store", *args, "-o", "json")
    check(code == 0 and not err, "store %s: %d" % (args, code), err)
    return json.loads(out) if code == 0 else {}


def refused(*args, code=1, says=""):
    got, out, err = berth("store", *args)
    check(got == code and not out and err.startswith(b"berth store: ") and says in err.decode(), "store %s: %d" % (args, got), out + err)


def check_good(folder, store):
    subprocess.run([TOOL, store, "100"], check=True, stdout=subprocess.DEVNULL)
    seen = facts("verify", store)
    check(list(seen) == FIELDS and seen["folder"] == store, "fields", seen)
    check(seen["records"] == 310 and seen["deletions"] == 10 and seen["revision"] == 311, "what is in it", seen)
    check(seen["compacted"] == 0 and seen["uncleanEnd"] is False, "closed, with all history", seen)
    code, out, err = berth("store", "verify", store)
    check(code == 0 and not err and out.decode().startswith("%s: 310 records are in order, 10 of them deletions" % store), "text", out)
    backup = str(folder / "backup")
    check(dict(facts("backup", store, backup), fileBytes=0) == dict(seen, fileBytes=0), "a backup has the same")
    refused("backup", store, backup, says="exists already")
    check(os.stat(backup).st_mode & 0o777 == 0o600, "it is private")
    restored = str(folder / "restored")
    check(facts("restore", backup, restored)["revision"] == 311, "restored")
    refused("restore", backup, restored, says="exists already")
    small = facts("compact", restored)
    check(list(small) == FIELDS + ["fileBytesBefore"] and small["fileBytes"] < small["fileBytesBefore"], "smaller", small)
    check(small["records"] == 90 and small["revision"] == 311 and small["compacted"] == 311, "only what is current", small)
    check(facts("verify", restored)["records"] == 90, "and whole")
    check(subprocess.run([TOOL, restored, "10"], check=True, capture_output=True).stdout == b"342\n", "it goes on counting")
    return backup


def check_in_use(folder):
    store = str(folder / "used")
    with subprocess.Popen([TOOL, store, "20", "stay"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        check(facts("verify", store)["records"] == 62, "verified while it is in use")
        check(facts("backup", store, str(folder / "live"))["records"] == 62, "backed up while it is in use")
        refused("compact", store, says="in use by another process")
        refused("restore", str(folder / "live"), store, says="in use by another process")
        holder.stdin.close()
        holder.wait()
    check(facts("verify", str(store))["revision"] == 63, "as it was")


def check_damaged(folder, backup):
    store = folder / "damaged"
    facts("restore", backup, str(store))
    data = store / "data.mdb"
    good = data.read_bytes()
    at = good.rindex(b"/registry/pods/57")
    data.write_bytes(good[:at] + b"X" + good[at + 1:])
    refused("verify", str(store), says="its checksum is wrong")
    refused("backup", str(store), str(folder / "never"), says="its checksum is wrong")
    refused("compact", str(store), says="its checksum is wrong")
    check(not (folder / "never").exists() and not (folder / "never.new").exists(), "no backup of it")
    for size in (0, 100, 4096, 8192, len(good) // 2):
        data.write_bytes(good[:size])
        code, out, err = berth("store", "verify", str(store))
        check(code == (0 if size == 0 and code == 0 else 1) and (code == 0 or err.startswith(b"berth store: ")), "cut to %d: %d" % (size, code), out + err)
    for seed in range(40):
        bad = bytearray(good)
        page = (seed * 7919) % (len(good) // 4096)
        for i in range(64):
            bad[page * 4096 + (i * 37 + seed) % 4096] ^= 0x5a
        data.write_bytes(bad)
        code, out, err = berth("store", "verify", str(store))
        check(code in (0, 1) and (code == 0) != bool(err), "page %d: %d" % (page, code), out + err)
    (folder / "text").write_text("no store\n" * 1000)
    refused("restore", str(folder / "text"), str(folder / "new"), says="no file of LMDB")
    check(not (folder / "new").exists(), "nothing was made")


def check_usage(folder):
    refused("verify", str(folder / "none"), says="No such file")
    refused("compact", str(folder / "none"), says="No such file")
    check(not (folder / "none").exists(), "nothing was made")
    refused("backup", str(folder / "none"), str(folder / "x"), says="No such file")
    refused("restore", str(folder / "none"), str(folder / "x"), says="No such file")
    refused(code=2, says="what to do is verify, backup, restore or compact\n")
    refused("defrag", "x", code=2, says='not "defrag"')
    refused("verify", code=2, says="verify takes a folder")
    refused("verify", "a", "b", code=2, says="verify takes a folder")
    refused("backup", "a", code=2, says="backup takes a folder and a file")
    refused("backup", "a", "b", "c", code=2, says="one name too many")
    refused("verify", "a", "-o", "yaml", code=2, says="-o is text or json")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-store-"))
    try:
        backup = check_good(folder, str(folder / "store"))
        check_in_use(folder)
        check_damaged(folder, backup)
        check_usage(folder)
    finally:
        shutil.rmtree(folder)
    cli.finish()


if __name__ == "__main__":
    main()
