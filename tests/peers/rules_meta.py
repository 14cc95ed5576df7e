"""Metadata that a change must not have, of every kind that other recordings have: how often upstream's rules look at it, as
record_rules.py plays it."""
import json
import pathlib

from rule_rows import Rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "rules"
WRONG = {"metadata.labels": {"bad key!": "x"}, "metadata.annotations": {"also bad!": "x"}, "metadata.finalizers": ["bad"],
         "metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": ""}]}
# Controllers write to these while rows are played, or they cannot be deleted again.
LEFT_OUT = ("customresourcedefinitions", "apiservices", "flowschemas", "prioritylevelconfigurations")


def first_objects():
    """{(group, version, resource): (object, whether it has a status)}"""
    found, has_status = {}, set()
    for file in sorted(GOLDEN.glob("*.jsonl")):
        if file.stem == "meta":
            continue
        for row in map(json.loads, file.read_text().splitlines()):
            key = (row["group"], row["version"], row["resource"])
            if row["verb"] == "create" and row["code"] < 300 and row["object"].get("metadata", {}).get("name"):
                found.setdefault(key, row["object"])
            if row["verb"] == "status":
                has_status.add(key)
    return {key: (made, key in has_status) for key, made in sorted(found.items()) if key[2] not in LEFT_OUT}


def all_rows():
    out = []
    for (group, version, resource), (made, has_status) in first_objects().items():
        base = {key: value for key, value in made.items() if key != "status"}
        rows = Rows("%s/%s" % (group, version) if group else version, resource, base)
        rows.edit("wrong metadata in a change of " + resource, WRONG)
        if has_status:
            rows.edit("wrong metadata in a change of the status of " + resource, WRONG, verb="status")
        out += rows.rows
    return out


ROWS = all_rows()
