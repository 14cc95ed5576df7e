#!/usr/bin/env python3
"""Records what a real kube-apiserver makes of objects: tests/golden/rules/*.jsonl.

    record_rules.py [--filter RE] [--print] [AREA...]

An area is a case file beside this one, rules_<area>.py, whose list ROWS is described in rule_rows.py; all of them when none is
named. The real etcd and kube-apiserver are started for it (PEERS_PORT says where), without admission plugins that change
or refuse objects. --print shows answers and writes no file; --filter plays only rows whose names match.

A row of a recording is one JSON object:

    name, group, version, resource, verb   verb: create, update, status or another subresource
    object     as it was sent; with the old one's resourceVersion
    old        as it was stored, with all that the server gave it
    code       of the answer
    message    of the Status, when refused
    causes     how many the Status lists; more than the message names, where upstream checks something twice
    warnings   when there are any
    result     the object in the answer, when accepted

Nothing stays: creations and updates are dry runs, and old objects are deleted. Times, resource versions and managed
fields are not in results, as they are no matter of rules; uid and creationTimestamp stay, as rules may use them.
"""
import argparse
import importlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rule_rows import changed  # noqa: E402
from trio import TOKEN, Trio, find_peers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "rules"
NAMESPACE = "default"
WARNING = re.compile(r'299 - "((?:[^"\\]|\\.)*)"')
# All that are on by default, but for NamespaceLifecycle: it cannot be turned off in earnest.
ADMISSION = ("LimitRanger,ServiceAccount,TaintNodesByCondition,PodSecurity,Priority,DefaultTolerationSeconds,"
             "DefaultStorageClass,StorageObjectInUseProtection,PodGroupProtection,PersistentVolumeClaimResize,RuntimeClass,"
             "CertificateApproval,CertificateSigning,ClusterTrustBundleAttest,CertificateSubjectRestriction,"
             "DefaultIngressClass,PodTopologyLabels,PodGroupWorkloadExists,NodeDeclaredFeatureValidator,JobValidation,"
             "PodResizeValidator,MutatingAdmissionPolicy,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,"
             "ValidatingAdmissionWebhook,ResourceQuota")
DEPRECATED = re.compile(r" is deprecated in v1\.\d+\+")  # of the endpoint, whatever the object is
# What the server chooses by itself for a new object that does not say, by resource: paths into the answer.
CHOSEN = {
    "services": ["spec.clusterIP", "spec.clusterIPs", "spec.healthCheckNodePort"],
}


class Server(Trio):
    disabled_admission = ADMISSION

    def ask(self, method, path, body=None):
        """(code, object, warnings)"""
        headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "recorder/1",
                   "Authorization": "Bearer " + TOKEN}
        connection = self.api._connection()
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        warnings = [re.sub(r"\\(.)", r"\1", text) for header in answer.msg.get_all("Warning") or []
                    for text in WARNING.findall(header)]
        return answer.status, json.loads(answer.read()), warnings

    def learn_scopes(self, row):
        """Whether a resource lives in namespaces, as discovery says."""
        known = self.__dict__.setdefault("scopes", {})
        group = "/apis/%s/%s" % (row["group"], row["version"]) if row["group"] else "/api/" + row["version"]
        if group not in known:
            _, found, _ = self.ask("GET", group)
            known[group] = {r["name"]: r["namespaced"] for r in found["resources"]}
        return group, known[group][row["resource"]]


def collection(server, row):
    group, namespaced = server.learn_scopes(row)
    if namespaced:
        return "%s/namespaces/%s/%s" % (group, NAMESPACE, row["resource"])
    return "%s/%s" % (group, row["resource"])


def must(row, what, answer):
    if answer[0] >= 300:
        raise SystemExit("%s, %s: %s: %s" % (row["resource"], row["name"], what, answer[1].get("message")))
    return answer[1]


def make_old(server, row, path):
    """The old object in the store; its status is written as a status."""
    old = row["old"]
    made = must(row, "the old object", server.ask("POST", path, old))
    if "status" in old:
        with_status = dict(made, status=old["status"])
        made = must(row, "the old status", server.ask("PUT", path + "/" + made["metadata"]["name"] + "/status", with_status))
    if old["metadata"].get("deletionTimestamp"):
        must(row, "the old deletion", server.ask("DELETE", path + "/" + made["metadata"]["name"]))
        made = must(row, "the deleted object", server.ask("GET", path + "/" + made["metadata"]["name"]))
    made["metadata"].pop("managedFields", None)
    return made


def unmake(server, row, path, name):
    """Deletes the object, whoever holds it."""
    at = path + "/" + name
    server.ask("DELETE", at + "?gracePeriodSeconds=0&propagationPolicy=Background")
    code, left, _ = server.ask("GET", at)
    if code == 404:
        return
    left["metadata"].pop("finalizers", None)
    server.ask("PUT", at, left)
    if row["resource"] == "namespaces":
        left["spec"]["finalizers"] = []
        server.ask("PUT", at + "/finalize", left)
    if server.ask("GET", at)[0] != 404:
        must(row, "the old object cannot be deleted", (500, {}))


def drop_path(value, names):
    for name in names[:-1]:
        value = value.get(name, {})
    value.pop(names[-1], None)


def says_chosen(row):
    names = [path.split(".") for path in CHOSEN.get(row["resource"], [])]
    return any(name in row["object"].get(part, {}) for part, name in names)


def answer_fields(row, answer):
    code, found, warnings = answer
    out = {"code": code}
    if code >= 300:
        out["message"] = found.get("message", "")
        causes = len(found.get("details", {}).get("causes", []))
        out.update({"causes": causes} if causes else {})
    else:
        chosen = CHOSEN.get(row["resource"], []) if row["verb"] == "create" and not says_chosen(row) else []
        for path in ["metadata.managedFields", "metadata.resourceVersion"] + chosen:
            drop_path(found, path.split("."))
        out["result"] = found
    warnings = [text for text in warnings if not DEPRECATED.search(text)]
    if warnings:
        out["warnings"] = warnings
    return out


def play(server, row):
    path, out = collection(server, row), dict(row)
    if row["verb"] == "create":
        out.update(answer_fields(row, server.ask("POST", path + "?dryRun=All", row["object"])))
        return out
    old = make_old(server, row, path)
    sent = changed(old, out.pop("changes")) if "changes" in row else row["object"]
    new = dict(sent, metadata=dict(sent["metadata"]))
    new["metadata"].pop("deletionTimestamp", None)
    new["metadata"].setdefault("resourceVersion", old["metadata"]["resourceVersion"])
    name = old["metadata"]["name"]
    at = path + "/" + name + ("" if row["verb"] == "update" else "/" + row["verb"])
    out.update(object=new, old=old, **answer_fields(row, server.ask("PUT", at + "?dryRun=All", new)))
    unmake(server, row, path, name)
    return out


def show(row):
    print("%s %s: %s\n    %s %s" % (row["verb"], row["resource"], row["name"], row["code"],
                                   row.get("message") or json.dumps(row["result"])))
    for text in row.get("warnings", []):
        print("    warning: " + text)


def record(server, area, options):
    rows = importlib.import_module("rules_" + area).ROWS
    played = [play(server, row) for row in rows if options.filter.search(row["name"])]
    if options.print:
        for row in played:
            show(row)
        return
    GOLDEN.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in played)
    (GOLDEN / (area + ".jsonl")).write_text("".join(lines))
    print("%s.jsonl: %d rows, %d refused" % (area, len(played), sum(row["code"] >= 300 for row in played)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--filter", type=re.compile, default=re.compile(""))
    parser.add_argument("--print", action="store_true")
    parser.add_argument("areas", nargs="*")
    options = parser.parse_args()
    areas = options.areas or sorted(p.stem[len("rules_"):] for p in HERE.glob("rules_*.py"))
    folder = tempfile.mkdtemp(prefix="berth-rules-")
    try:
        with Server(find_peers() or sys.exit(2), folder) as server:
            for area in areas:
                record(server, area, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
