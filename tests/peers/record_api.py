#!/usr/bin/env python3
"""Records what a real kube-apiserver makes of requests: tests/golden/apiserver/*.jsonl.

    record_api.py HOST:PORT TOKEN AUDIT_LOG [requests|discovery|tables|openapi]...

The server must log every request (audit level Metadata, no stage but ResponseComplete and Panic, blocking) and have
the flags of tests/peers/trio.py otherwise. Each line of a recording is one JSON object: the request, what the audit
log says it is (verb, group, version, resource, namespace, name, subresource) and the answer.
"""
import base64
import email.utils
import gzip
import http.client
import json
import pathlib
import ssl
import subprocess
import sys
import time

import api_objects

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "apiserver"
PB = "application/vnd.kubernetes.protobuf"
JS = "application/json"
POD = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"rec"},"spec":{"containers":[{"name":"c","image":"i"}]}}'


class Server:
    def __init__(self, address, token, audit_log):
        self.address, self.token, self.audit_log = address, token, audit_log

    def ask(self, method, target, headers=None, body=None):
        """(code, headers in lower case, body); the first bytes only of what does not end within a second."""
        conn = http.client.HTTPSConnection(self.address, context=ssl._create_unverified_context(), timeout=20)
        conn._validate_path = lambda url: None
        try:
            conn.putrequest(method, target, skip_accept_encoding=True)
            sent = {"Authorization": "Bearer " + self.token, "User-Agent": "recorder/1", **(headers or {})}
            for name, value in sent.items():
                conn.putheader(name, value)
            if body is not None:
                conn.putheader("Content-Length", str(len(body.encode())))
            conn.endheaders(body.encode() if body is not None else None)
            answer = conn.getresponse()
            if "watch" in target:
                conn.sock and conn.sock.settimeout(1.5)
            try:
                data = answer.read()
            except (TimeoutError, OSError):
                data = b""
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, data
        finally:
            conn.close()

    def audited(self, audit_id):
        for _ in range(20):
            for line in reversed(pathlib.Path(self.audit_log).read_text().splitlines()):
                if audit_id and audit_id in line:
                    return json.loads(line)
            time.sleep(0.05)
        return None


def kind_of(data):
    """Of a JSON object, or of the object in the first event of a watch; else the first bytes."""
    try:
        seen = json.JSONDecoder().raw_decode(data.decode())[0]
        return (seen.get("object", seen)).get("kind", "")
    except (ValueError, AttributeError):
        return ""


def record_request(server, row):
    method, target, *rest = row
    headers, body = (rest + [None, None])[:2]
    code, got, data = server.ask(method, target, headers, body)
    out = {"method": method, "target": target}
    if headers:
        out["headers"] = headers
    if body is not None:
        out["body"] = body
    event = server.audited(got.get("audit-id"))
    if event:
        out["verb"] = event["verb"]
        ref = event.get("objectRef")
        if ref:
            out["ref"] = {k: ref[k] for k in sorted(ref) if k in
                          ("resource", "namespace", "name", "apiGroup", "apiVersion", "subresource")}
    out["code"] = code
    out["type"] = got.get("content-type", "")
    if code >= 400:
        out["answer"] = data.decode("latin-1") if out["type"].startswith(PB) else data.decode()
    else:
        out["kind"] = kind_of(data)
    return out


def write(name, rows):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / name).write_text("".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows))
    print(f"{name}: {len(rows)} rows")


def route_requests():
    everywhere = [
        "/", "/api", "/api/", "/apis", "/apis/", "/api/v1", "/api/v1/", "/apis/apps", "/apis/apps/", "/apis/apps/v1",
        "/apis/apps/v1/", "/apis/nope", "/apis/nope/v1", "/apis/nope/v1/pods", "/apis/apps/v9",
            "/apis/apps/v9/deployments",
        "/api/v2", "/api/v2/pods", "/api/v1/nope", "/api/v1/nope/x", "/api/v1/namespaces/default/nope",
        "/apis/apps/v1/pods", "/api/v1/pods", "/api/v1/pods/", "/api/v1/pods/x", "/api/v1/namespaces",
            "/api/v1/namespaces/default",
        "/api/v1/namespaces/default/", "/api/v1/namespaces/default/status", "/api/v1/namespaces/default/finalize",
        "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/pods/", "/api/v1/namespaces/default/pods/x",
        "/api/v1/namespaces/default/pods/x/", "/api/v1/namespaces/default/pods/x/status",
            "/api/v1/namespaces/default/pods/x/nope",
        "/api/v1/namespaces/default/pods/x/status/more", "/api/v1/namespaces/default/pods/x/binding",
        "/api/v1/namespaces/default/pods/x/eviction", "/api/v1/namespaces/default/bindings", "/api/v1/nodes",
            "/api/v1/nodes/x",
        "/api/v1/nodes/x/status", "/api/v1/namespaces/default/nodes", "/api/v1/namespaces/default/nodes/x",
        "/api/v1/namespaces/default/serviceaccounts/x/token", "/api/v1/componentstatuses/x",
        "/apis/apps/v1/namespaces/default/deployments/x/scale", "/apis/apps/v1/deployments/x",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authentication.k8s.io/v1/selfsubjectreviews/x",
        "/apis/scheduling.k8s.io/v1alpha2/workloads", "/apis/batch/v1/jobs",
        "/api/v1//pods", "//api/v1/pods", "/api//v1/pods", "/api/v1/namespaces//pods", "/api/v1/namespaces/default//x",
        "/api/v1/./pods", "/api/v1/../v1/pods", "/api/v1/namespaces/..", "/api/v1/namespaces/../pods",
            "/api/v1/pods%2fx",
        "/api/v1/namespaces/default%2fpods", "/api/v1/namespaces/default/pods/a%2fb",
            "/api/v1/namespaces/default/pods/%2e%2e",
        "/api/v1/namespaces/default/pods/a%20b", "/api/v1/namespaces/default/pods/a%00b",
            "/api/v1/namespaces/default/pods/%ff",
        "/api/v1/%70ods", "/api/v1/namespaces/default/pods/%E4%BD%A0", "/API/v1/pods", "/api/V1/pods", "/api/v1/Pods",
        "/apis/Apps/v1/deployments", "/api/v1/namespaces/DEFAULT/pods/x", "/api/v1/proxy/pods", "/api/v1/watch",
    ]
    rows = [("GET", t) for t in everywhere]
    for method in ("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO"):
        rows += [(method, t) for t in (
            "/api/v1", "/api/v1/nope", "/api/v1/namespaces/kube-nope/pods", "/api/v1/namespaces/kube-nope/pods/x",
                "/api/v1/nodes/nope",
            "/api/v1/namespaces/kube-nope/pods/x/status", "/api/v1/namespaces/kube-nope/pods/x/nope", "/api/v1/pods",
            "/api/v1/namespaces/kube-nope/pods/x/binding", "/api/v1/componentstatuses/x",
            "/apis/authorization.k8s.io/v1/subjectaccessreviews/x", "/apis/nope/v1/things/x", "/healthz")]
    rows += [("GET", t) for t in (
        "/api/v1/watch/pods?timeoutSeconds=1", "/api/v1/watch/namespaces/default/pods?timeoutSeconds=1",
        "/api/v1/watch/namespaces/default/pods/x?timeoutSeconds=1", "/api/v1/watch/nodes/x?timeoutSeconds=1",
        "/api/v1/watch/namespaces?timeoutSeconds=1", "/api/v1/watch/namespaces/default?timeoutSeconds=1",
            "/api/v1/watch/nope",
        "/api/v1/watch/namespaces/default/pods/x/status", "/api/v1/watch/componentstatuses",
        "/api/v1/pods?watch&timeoutSeconds=1", "/api/v1/pods?watch=1&timeoutSeconds=1",
            "/api/v1/pods?watch=True&timeoutSeconds=1",
        "/api/v1/pods?watch=false", "/api/v1/pods?watch=FALSE", "/api/v1/pods?watch=0",
            "/api/v1/pods?watch=no&timeoutSeconds=1",
        "/api/v1/pods?watch=&timeoutSeconds=1", "/api/v1/pods?watch=0&watch=1",
            "/api/v1/namespaces/default/pods/x?watch=1",
        "/api/v1/componentstatuses?watch=1", "/api/v1/pods?Watch=1", "/api/v1/pods?limit=a&watch=1&timeoutSeconds=1",
        "/api/v1/pods?fieldSelector=metadata.name=q",
            "/api/v1/pods?fieldSelector=metadata.name=q&watch=1&timeoutSeconds=1",
        "/api/v1/pods?fieldSelector=metadata.name%3D%3Dq%2Cmetadata.namespace%3Dz",
            "/api/v1/pods?fieldSelector=metadata.name=a/b",
        "/api/v1/pods?fieldSelector=metadata.name!=q", "/api/v1/pods?fieldSelector=metadata.name=..",
        "/api/v1/namespaces?fieldSelector=metadata.name=default")]
    rows += [("DELETE", "/api/v1/namespaces/kube-nope/pods?fieldSelector=metadata.name=q"), ("DELETE",
                                                                                             "/api/v1/namespaces"),
             ("POST", "/api/v1/watch/pods"), ("DELETE", "/api/v1/watch/pods"), ("POST", "/api/v1/bindings")]
    rows += [("GET", t) for t in (
        "/api/v1/nodes//status", "/api/v1/nodes//", "/api/v1/namespaces/default/pods//status", "/api/v1/watch/pods/x",
        "/api/v1/namespaces/default/pods/a%25b", "/api/v1/namespaces/../pods/x", "/api/v1/namespaces/./pods",
            "/api/v1/nodes/.",
        "/api/v1/namespaces/default/pods/x/log", "/api/v1/namespaces/default/pods/x/exec", "/api/v1/bindings",
            "/api/v1/nodes/x/proxy",
        "/api/v1/nodes/x/proxy/a/b", "/api/v1/namespaces/a%25/pods", "/apis/autoscaling/v1/horizontalpodautoscalers",
        "/apis/batch/v1/namespaces/default/jobs/x/scale", "/api/v1/namespaces/status",
            "/api/v1/namespaces/default/status/x",
        "/api/v1/namespaces/default/finalize/x", "/api/v1/services/x/proxy", "/api/v1/watch/namespaces/default/status",
        "/apis/apps/v1/watch/deployments?timeoutSeconds=1", "/apis/apps/v1/watch", "/apis/apps", "/apis//v1/pods",
            "/apis/")]
    return rows


def option_requests():
    lists = [
        "limit=abc", "limit=", "limit=-1", "limit=1.5", "limit=9223372036854775808", "limit=+3", "limit=0x10",
            "limit=%201", "limit=a%22b",
        "limit=1&limit=x", "limit=x&limit=1", "timeoutSeconds=abc", "timeoutSeconds=-1", "timeoutSeconds=",
            "limit=a&timeoutSeconds=b",
        "labelSelector=a%3D%3D%3Db", "labelSelector=a+b", "labelSelector=a+in+b", "labelSelector=a+in+(b",
            "labelSelector=,a",
        "labelSelector=a%3Ex", "labelSelector=-bad", "labelSelector=a%3D-bad", "labelSelector=!a,b+notin+(c,d)",
            "labelSelector=",
        "labelSelector=a&labelSelector=(", "fieldSelector=foo", "fieldSelector=foo=bar",
            "fieldSelector=status.phase=Running",
        "fieldSelector=spec.nodeName!=", "fieldSelector=a%5Cx=b", "fieldSelector=metadata.name=a,spec.foo=b",
            "fieldSelector=",
        "labelSelector=(&fieldSelector=foo&limit=x", "fieldSelector=foo&limit=x", "resourceVersion=abc",
            "resourceVersion=-1",
        "resourceVersion=0", "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersionMatch=Exact",
            "resourceVersionMatch=Foo",
        "resourceVersion=0&resourceVersionMatch=Foo", "resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=Exact&continue=abc", "continue=abc", "sendInitialEvents=true", "sendInitialEvents=false",
        "sendInitialEvents=", "sendInitialEvents=true&resourceVersionMatch=Foo", "allowWatchBookmarks=x", "pretty=x",
            "unknown=x",
        "timeout=abc", "timeout=1s", "timeout=0s", "timeout=-1s", "timeout=", "timeout=5", "includeObject=Foo",
            "limit=%zz", "limit=1;x=2",
    ]
    rows = [("GET", "/api/v1/pods?" + q) for q in lists]
    watches = ["sendInitialEvents=true", "sendInitialEvents=false", "sendInitialEvents=true&resourceVersionMatch=Exact",
               "resourceVersionMatch=NotOlderThan", "resourceVersionMatch=Foo",
                   "resourceVersionMatch=NotOlderThan&continue=x",
               "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                   "sendInitialEvents=x&resourceVersionMatch=NotOlderThan",
               "resourceVersion=abc", "limit=3", "fieldSelector=foo=bar", "timeout=abc"]
    rows += [("GET", "/api/v1/pods?watch=1&timeoutSeconds=1&" + q) for q in watches]
    rows += [("GET", "/api/v1/namespaces/default/pods/x?" + q) for q in ("resourceVersion=abc", "limit=abc",
                                                                         "resourceVersion=0",
                                                                        "timeout=abc", "labelSelector=(")]
    writes = ["dryRun=All", "dryRun=Foo", "dryRun=", "dryRun=All&dryRun=All", "dryRun=All&dryRun=Foo", "dryRun=all",
              "fieldManager=" + "a" * 129, "fieldManager=a%0Ab", "fieldManager=%E2%80%8B", "fieldValidation=Foo",
                  "fieldValidation=",
              "fieldValidation=Strict", "fieldValidation=strict", "fieldManager=a%00&dryRun=x&fieldValidation=y",
                  "force=true",
              "fieldManager=" + "%C3%A9" * 65, "fieldManager=%ff"]
    js = {"Content-Type": JS}
    rows += [("POST", "/api/v1/namespaces/kube-nope/pods?" + q, js, POD) for q in writes]
    rows += [("PUT", "/api/v1/namespaces/kube-nope/pods/rec?" + q, js,
              POD) for q in writes[:2] + writes[6:8] + writes[9:10]]
    merge, apply = {"Content-Type": "application/merge-patch+json"}, {"Content-Type": "application/apply-patch+yaml"}
    rows += [("PATCH", "/api/v1/namespaces/kube-nope/pods/rec?" + q, merge, "{}") for q in
             ("", "force=true", "force=false", "force=", "dryRun=x", "fieldManager=%01", "fieldValidation=x",
              "force=true&dryRun=x")]
    rows += [("PATCH", "/api/v1/namespaces/kube-nope/pods/rec?" + q, apply, "{}") for q in
             ("", "fieldManager=", "force=true", "fieldManager=a&dryRun=x", "force=1&dryRun=x")]
    deletes = ["gracePeriodSeconds=abc", "gracePeriodSeconds=0", "gracePeriodSeconds=-1", "gracePeriodSeconds=",
               "propagationPolicy=Foo", "propagationPolicy=Orphan", "propagationPolicy=", "orphanDependents=true",
               "orphanDependents=true&propagationPolicy=Orphan", "orphanDependents=x&propagationPolicy=Foo", "dryRun=x",
                   "dryRun=All",
               "orphanDependents=0&propagationPolicy=Foreground&dryRun=x",
                   "ignoreStoreReadErrorWithClusterBreakingPotential=true",
               "gracePeriodSeconds=1&gracePeriodSeconds=x"]
    rows += [("DELETE", "/api/v1/namespaces/kube-nope/pods/x?" + q) for q in deletes]
    rows += [("DELETE", "/api/v1/namespaces/kube-nope/pods?" + q) for q in
             ("gracePeriodSeconds=abc", "propagationPolicy=Foo", "limit=abc", "labelSelector=(",
              "fieldSelector=foo=bar",
              "resourceVersionMatch=Foo", "propagationPolicy=Foo&limit=abc")]
    bodies = ['{}', '{"propagationPolicy":"Foo"}', '{"propagationPolicy":"Background"}',
              '{"orphanDependents":true,"propagationPolicy":"Orphan"}',
              '{"gracePeriodSeconds":"x"}', '{"dryRun":["x","All"]}', '{"dryRun":["All"]}', '[]', '{', 'null', '"x"',
              '{"kind":"Pod","apiVersion":"v1"}', '{"kind":"DeleteOptions","apiVersion":"v1"}',
                  '{"kind":"DeleteOptions","apiVersion":"apps/v1"}',
              '{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}',
                  '{"kind":"DeleteOptions","apiVersion":"nope/v1"}',
              '{"kind":"DeleteOptions"}', '{"preconditions":{"uid":"u","resourceVersion":"7"}}', '{"unknown":1}', ' ']
    rows += [("DELETE", "/api/v1/namespaces/kube-nope/pods/x", js, b) for b in bodies]
    rows += [("DELETE", "/api/v1/namespaces/kube-nope/pods/x?propagationPolicy=Foo", js, b) for b in ("", "{}")]
    rows += [("DELETE", "/api/v1/namespaces/kube-nope/pods/x", {"Content-Type": t}, "{}") for t in
             ("application/yaml", "text/plain", "application/json;charset=utf-8", "json", "", "application/cbor",
              "application/merge-patch+json")]
    return rows


def accept_requests():
    table = ";as=Table;v=v1;g=meta.k8s.io"
    meta = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    metas = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    yaml = "application/yaml"
    accepts = ["", "*/*", "application/*", "text/*", "*/json", "*", JS, yaml, PB, "application/cbor", "text/html",
               "application/JSON",
               PB + ", */*", PB + "," + JS, JS + ";q=0.1," + yaml + ";q=0.9", JS + ";q=0," + yaml + ";q=0", JS + ";q=x",
                   JS + ";q=0",
               "text/html," + yaml, "text/html, */*;q=0.1", JS + table, JS + table + "," + JS,
                   JS + ";as=Table;v=v9;g=meta.k8s.io",
               JS + ";as=Table;v=v9;g=meta.k8s.io," + JS, JS + ";as=Table;v=v1beta1;g=meta.k8s.io", JS + ";as=Table",
                   JS + ";as=Nope;v=v1;g=meta.k8s.io",
               JS + ";v=v1", JS + ";g=meta.k8s.io", JS + ";as=", PB + table, PB + table + "," + JS, yaml + table,
                   JS + meta, PB + meta, yaml + meta, JS + metas, PB + metas,
               JS + ";as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io",
                   JS + ";as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io",
               PB + meta + "," + JS + meta + "," + JS, JS + ";stream=watch", PB + ";stream=watch",
                   yaml + ";stream=watch", JS + ";stream=nope",
               JS + ";stream=", JS + ";pretty=1", JS + ";pretty=0", JS + ";charset=utf-8", JS + ";foo", JS + ";sv=v1",
                   JS + ";sv=", JS + ";export=1",
               JS + "; as = Table ; v = v1 ; g = meta.k8s.io", JS + ';as="Table";v=v1;g=meta.k8s.io',
                   JS + ";AS=Table;V=v1;G=meta.k8s.io",
               ",", ";", "/", "a/b/c", JS + ",,", " " + JS + " ", JS + ";q=1.5", JS + ";q=-1," + yaml,
                   yaml + ";q=0.5," + JS + ";q=0.5",
               "application/apply-patch+yaml", "application/vnd.kubernetes.protobuf;type=x",
                   "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
               "*/*" + table, "application/*" + table]
    rows = []
    for accept in accepts:
        head = {"Accept": accept}
        rows.append(("GET", "/api/v1/namespaces/default", head))
        rows.append(("GET", "/api/v1/namespaces", head))
        rows.append(("GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion=9999999", head))
    rows += [("GET", "/api/v1/namespaces?includeObject=" + v, {"Accept": JS + table}) for v in ("", "Foo", "None",
                                                                                                "Object", "Metadata",
                                                                                                    "none")]
    rows += [("GET", "/api/v1/namespaces/nope-nope", {"Accept": a}) for a in
             ("", JS, yaml, PB, JS + table, PB + table + "," + JS, JS + meta, PB + meta, "text/html")]
    types = [JS, yaml, PB, "application/json;charset=utf-8", "Application/JSON", "text/plain", "json", "",
             "application/cbor", "application/json; q=",
             "application/*", "*/*", "application/x-www-form-urlencoded", "application/json,application/yaml",
                 " application/json", "application/json;a=b;a=c"]
    rows += [("POST", "/api/v1/namespaces?dryRun=x", {"Content-Type": t}, POD) for t in types]
    patches = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
               "application/apply-patch+yaml",
               "application/apply-patch+cbor", JS, "", yaml, "application/merge-patch+json; charset=utf-8",
                   "application/merge-patch+json;x", "text/plain",
               "Application/Merge-Patch+JSON", " application/merge-patch+json"]
    rows += [("PATCH", "/api/v1/namespaces/nope-nope?fieldManager=a", {"Content-Type": t}, "{}") for t in patches]
    return rows


def served(server):
    """(prefix, group, version, resource) of everything that can be listed."""
    def get(path):
        code, _, data = server.ask("GET", path)
        return json.loads(data) if code == 200 else {"resources": []}
    versions = [("/api/v1", "", "v1")]
    for group in get("/apis")["groups"]:
        versions += [("/apis/" + v["groupVersion"], group["name"], v["version"]) for v in group["versions"]]
    for prefix, group, version in versions:
        for resource in get(prefix)["resources"]:
            if "/" not in resource["name"] and "list" in resource["verbs"]:
                yield prefix, group, version, resource


def record_fields(server):
    for prefix, group, version, resource in served(server):
        for selector in ("foo=bar", "metadata.namespace=x", "metadata.name=x"):
            target = f"{prefix}/{resource['name']}?fieldSelector={selector}"
            code, _, data = server.ask("GET", target)
            yield {"target": target, "code": code, "message": json.loads(data).get("message", "")}


def record_discovery(server):
    """Documents as they are; the server's own address is left out."""
    v2 = JS + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    v2beta1 = v2.replace("v=v2;", "v=v2beta1;")
    groups = [g for g in json.loads(server.ask("GET", "/apis")[2])["groups"]]
    targets = ["/api", "/apis", "/api/v1"] + ["/apis/" + g["name"] for g in groups]
    targets += ["/apis/" + v["groupVersion"] for g in groups for v in g["versions"]]
    rows = [(t, "") for t in targets] + [(t, a) for t in ("/api", "/apis") for a in (
        v2, v2beta1, v2 + "," + v2beta1 + "," + JS, v2beta1 + "," + JS, JS,
            "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        v2 + ";profile=nopeer", "text/html")]
    for target, accept in rows:
        code, headers, data = server.ask("GET", target, {"Accept": accept} if accept else {})
        text = data.decode()
        if target == "/api" and '"APIVersions"' in text:
            document = json.loads(text)
            document["serverAddressByClientCIDRs"][0]["serverAddress"] = "192.0.2.1:6443"
            text = json.dumps(document, separators=(",", ":")) + "\n"
        yield {"target": target, "accept": accept, "code": code, "type": headers.get("content-type", ""),
               "etag": "etag" in headers, "vary": headers.get("vary", ""), "cache": headers.get("cache-control", ""),
                   "answer": text}


def make_objects(server):
    pem = subprocess.run("openssl req -new -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=x 2>/dev/null",
                         shell=True,
                         capture_output=True, check=True).stdout
    def send(method, path, body, content_type=JS):
        code, _, data = server.ask(method, path, {"Content-Type": content_type}, json.dumps(body))
        if code >= 300 and code != 409:
            print(f"{method} {path} {body['metadata']['name'] if 'metadata' in body else ''}: {code} {data.decode()[:300]}")
    send("POST", "/api/v1/namespaces", {"metadata": {"name": "tables"}})
    for path, obj, status in api_objects.all_objects(base64.b64encode(pem).decode()):
        send("POST", path, obj)
        if status is not None:
            send("PATCH", f"{path}/{obj['metadata']['name']}/status", {"status": status},
                 "application/merge-patch+json")
    for path in api_objects.LEAVING:
        server.ask("DELETE", path)


def record_tables(server):
    """A table with whole objects of every resource; managedFields and what the server makes up are left out."""
    make_objects(server)
    for prefix, group, version, resource in served(server):
        target = f"{prefix}/{resource['name']}?includeObject=Object"
        code, headers, data = server.ask("GET", target, {"Accept": JS + ";as=Table;v=v1;g=meta.k8s.io"})
        table = json.loads(data)
        for row in table["rows"]:
            row["object"]["metadata"].pop("managedFields", None)
        if len(table["rows"]) > 30:
            table["rows"] = table["rows"][-30:]
        now = int(email.utils.parsedate_to_datetime(headers["date"]).timestamp())
        yield {"group": group, "version": version, "resource": resource["name"], "now": now, "table": table}


def normal(schema):
    """Without descriptions, without defaults that say nothing, and with one way to write a reference."""
    if isinstance(schema, list):
        return [normal(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: normal(v) for k, v in schema.items()
           if not (k == "description" and isinstance(v, str)) and not (k == "default" and v in ({}, "", 0, False))}
    if len(out.get("allOf", [])) == 1:
        out.update(out.pop("allOf")[0])
    return out


def record_openapi(server):
    """Schemas of all types, and the methods with their kinds of all paths."""
    schemas = {}
    for prefix in sorted({"api/v1"} | {p.strip("/") for p, _, _, _ in served(server)}):
        document = json.loads(server.ask("GET", "/openapi/v3/" + prefix)[2])
        schemas.update(document["components"]["schemas"])
        paths = {}
        for path, item in document["paths"].items():
            kinds = {m: o["x-kubernetes-group-version-kind"] for m, o in item.items()
                     if isinstance(o, dict) and "x-kubernetes-group-version-kind" in o}
            if kinds and "/watch/" not in path:
                paths[path] = kinds
        yield {"document": prefix, "paths": paths}
    for name in sorted(schemas):
        yield {"schema": name, "is": normal(schemas[name])}


def write_packed(name, rows):
    text = "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows)
    (GOLDEN / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{name}: {len(rows)} rows, {len(text)} bytes")


def main():
    server = Server(*sys.argv[1:4])
    parts = sys.argv[4:] or ["requests"]
    if "requests" in parts:
        write("routes.jsonl", [record_request(server, r) for r in route_requests()])
        write("options.jsonl", [record_request(server, r) for r in option_requests()])
        write("accept.jsonl", [record_request(server, r) for r in accept_requests()])
    if "discovery" in parts:
        write("fields.jsonl", list(record_fields(server)))
        write("discovery.jsonl", list(record_discovery(server)))
    if "tables" in parts:
        write_packed("tables.jsonl.gz", list(record_tables(server)))
    if "openapi" in parts:
        write_packed("openapi.jsonl.gz", list(record_openapi(server)))


if __name__ == "__main__":
    main()
