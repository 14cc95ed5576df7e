"""Seeded sequences of requests for tests/peers/differ.py.

A step is a function of a view (what one server holds) and a source of chance; it is played with both servers and the same seed,
so that both get the same request, each with its own uids and versions in it."""
import copy
import json
import pathlib
import urllib.parse

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "rules"
NAMESPACE = "differ"
NAMES = ["a", "b", "c"]
JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
ACCEPTS = [JSON] * 4 + [YAML, PROTOBUF, TABLE, TABLE + "," + JSON, PARTIAL + "," + JSON, PARTIAL, PROTOBUF + "," + JSON, "*/*", "text/html",
                        PROTOBUF + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/*", "text/html,*/*;q=0.8"]
PATCHES = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
           "application/apply-patch+yaml"]
ODD = [None, "", "x", "Not Valid!", -1, 0, 1, 3, 70000, 99999999999, 1.5, True, False, [], {}, [None], [{}], {"a": "b"}, "a" * 70, "1Gi", "-5m", "100m",
       "10.0.0.300", "2024-01-01T00:00:00Z", ["x", "x"], "Always", "true", "5%", {"": ""}]


class Request:
    def __init__(self, method, path, body=None, accept=JSON, kind=JSON, headers=None):
        self.method, self.path, self.accept, self.headers = method, path, accept, dict(headers or {})
        self.body = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.kind = kind

    def __str__(self):
        more = "" if self.accept == JSON else " accept=" + self.accept
        more += "" if self.kind == JSON else " kind=" + self.kind
        more += "".join(" %s: %s" % pair for pair in self.headers.items())
        return "%s %s%s %s" % (self.method, self.path, more, "" if self.body is None else self.body.decode("utf-8", "replace")[:1500])


class Resource:
    def __init__(self, group, version, info):
        self.group, self.version, self.name, self.namespaced = group, version, info["resource"], info["scope"] == "Namespaced"
        self.kind, self.verbs = info["responseKind"].get("kind", ""), info["verbs"]
        self.subresources = {s["subresource"]: s for s in info.get("subresources", [])}
        self.good, self.bad = [], []
        self.base = "/apis/%s/%s" % (group, version) if group else "/api/" + version

    def collection(self, namespace=NAMESPACE):
        return "%s/namespaces/%s/%s" % (self.base, namespace, self.name) if self.namespaced else "%s/%s" % (self.base, self.name)


def resources_of(api):
    """All that the server has, with the objects of the recordings."""
    out = {}
    for root in ("/api", "/apis"):
        _, _, body = api.send(Request("GET", root, accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"))
        for group in json.loads(body)["items"]:
            for version in group["versions"]:
                for info in version["resources"]:
                    name = group["metadata"].get("name", "")
                    out[name, version["version"], info["resource"]] = Resource(name, version["version"], info)
    for file in sorted(GOLDEN.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            resource = out.get((row["group"], row["version"], row["resource"]))
            if resource and row["verb"] == "create":
                (resource.good if row["code"] < 300 else resource.bad).append(row["object"])
            elif resource and "old" in row:
                resource.bad.append(row["object"])
    return out


def places(value, at=()):
    """Every place in an object."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], at + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, at + (i,))


def holder(value, at):
    for step in at[:-1]:
        value = value[step]
    return value


def mutate(chance, value, others=()):
    """The value with one random change."""
    value = copy.deepcopy(value)
    found = [at for at in places(value) if at and at[0] not in ("kind", "apiVersion") and at[-1] != "generateName"]
    if not found:
        return value
    at = chance.choice(found)
    inside = holder(value, at)
    how = chance.randrange(8)
    if how == 0:
        inside.pop(at[-1])
    elif how == 1 and isinstance(inside, list):
        inside.append(copy.deepcopy(inside[at[-1]]))
    elif how == 2 and isinstance(inside, dict):
        inside["unknown" + str(chance.randrange(2))] = chance.choice(ODD)
    elif how == 3 and others:
        other = chance.choice(others)
        for key in other:
            if key not in ("kind", "apiVersion", "metadata") and isinstance(other[key], dict) and isinstance(value.get(key), dict):
                value[key].update(copy.deepcopy(other[key]))
    elif how == 4 and isinstance(inside[at[-1]], str):
        inside[at[-1]] = inside[at[-1]] + chance.choice(["x", "/", " ", "-", "é", ".", "0"])
    elif how == 5 and isinstance(inside[at[-1]], int):
        inside[at[-1]] = chance.choice([-1, 0, 1, 2, 65536, 1 << 31, 1 << 40, "7"])
    else:
        inside[at[-1]] = copy.deepcopy(chance.choice(ODD))
    return value


METADATA = [lambda m, c: m.update(labels={"l": c.choice(["x", "y"])}), lambda m, c: m.update(annotations={"n": "v"}),
            lambda m, c: m.update(finalizers=["example.com/f"]), lambda m, c: m.update(generateName="g-"),
            lambda m, c: (m.pop("name", None), m.update(generateName="gen-")), lambda m, c: m.update(resourceVersion="1"),
            lambda m, c: m.update(uid="u"), lambda m, c: m.update(namespace="other"), lambda m, c: m.update(labels={"bad key!": "x"}),
            lambda m, c: m.update(ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"}]),
            lambda m, c: m.update(creationTimestamp="2020-01-01T00:00:00Z", generation=7, selfLink="s"),
            lambda m, c: m.update(deletionTimestamp="2020-01-01T00:00:00Z", deletionGracePeriodSeconds=5),
            lambda m, c: m.update(managedFields=[{"manager": "m", "operation": "Update", "apiVersion": "v1", "time": "2020-01-01T00:00:00Z",
                                                  "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {"f:x": {}}}}}]),
            lambda m, c: m.update(managedFields=[])]


def new_object(chance, resource, name=None):
    pool = resource.good if resource.good and chance.random() < 0.85 else resource.bad or resource.good
    if not pool:
        return {"apiVersion": version_of(resource), "kind": resource.kind, "metadata": {"name": name or "a"}}
    made = copy.deepcopy(chance.choice(pool))
    meta = made.setdefault("metadata", {})
    if isinstance(meta, dict):
        for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace", "generation"):
            meta.pop(key, None)
        if free_name(resource) and chance.random() < 0.9:
            meta["name"] = name or chance.choice(NAMES)
        if chance.random() < 0.2:
            chance.choice(METADATA)(meta, chance)
    while chance.random() < 0.25:
        made = mutate(chance, made, resource.good)
    return made


def free_name(resource):
    return resource.name not in ("customresourcedefinitions", "apiservices", "ipaddresses", "endpointslices0")


def version_of(resource):
    return "%s/%s" % (resource.group, resource.version) if resource.group else resource.version


def with_query(path, pairs):
    return path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")


def write_options(chance, patch=False):
    out = []
    for probability, key, values in ((0.1, "dryRun", ["All", "All", "None", ""]), (0.15, "fieldManager", ["m1", "m2", "m" * 129, "\x01"]),
                                     (0.2, "fieldValidation", ["Strict", "Warn", "Ignore", "Other", ""]), (0.05, "pretty", ["true", "1", "false", "x"]),
                                     (0.02, "unknownOption", ["x"]), (0.1 if patch else 0, "force", ["true", "false", "maybe"])):
        if chance.random() < probability:
            out.append((key, chance.choice(values)))
    return out


def as_body(chance, value):
    """(bytes, media type): mostly JSON, sometimes other forms of the same or none at all."""
    import yaml
    roll = chance.random()
    if roll < 0.85:
        return json.dumps(value).encode(), JSON
    if roll < 0.93:
        return yaml.safe_dump(value).encode(), YAML
    if roll < 0.95:
        text = json.dumps(value)
        return (text[:-1] + ', "kind": "Twice", "extra": 1}').encode(), JSON
    return chance.choice([(b"", JSON), (b"{", JSON), (b"[]", JSON), (b"null", JSON), (b'"x"', JSON), (b"a: b: c", YAML), (b"k8s\x00xx", PROTOBUF),
                          (b"{}", JSON), (json.dumps(value).encode(), "text/plain"), (json.dumps(value).encode(), ""),
                          (json.dumps(value).encode() + b"x", JSON), (json.dumps(value).encode(), "application/json; charset=utf-8"),
                          (json.dumps(dict(value, kind="Other")).encode(), JSON), (json.dumps(dict(value, apiVersion="v9")).encode(), JSON),
                          (json.dumps(dict(value, apiVersion="")).encode(), JSON), (json.dumps(dict(value, kind="")).encode(), JSON)])


# steps: (view, chance, resource) -> Request

def create(view, chance, resource):
    body, kind = as_body(chance, new_object(chance, resource))
    return Request("POST", with_query(resource.collection(), write_options(chance)), body, accept=chance.choice([JSON] * 8 + ACCEPTS), kind=kind)


def target(chance, resource):
    names = NAMES + (["absent"] if chance.random() < 0.1 else [])
    if not free_name(resource):
        pool = [o["metadata"]["name"] for o in resource.good if isinstance(o.get("metadata", {}).get("name"), str) and o["metadata"]["name"]]
        names = sorted(set(pool)) or names
    return resource.collection() + "/" + urllib.parse.quote(chance.choice(names))


def get(view, chance, resource):
    query = [("pretty", chance.choice(["true", "false"]))] if chance.random() < 0.1 else []
    if chance.random() < 0.1:
        query.append(("resourceVersion", chance.choice(["0", "1", "x", "-1", ""])))
    if chance.random() < 0.1:
        query.append(("includeObject", chance.choice(["None", "Metadata", "Object", "Bad"])))
    return Request("GET", with_query(target(chance, resource), query), accept=chance.choice(ACCEPTS))


SELECTORS = [("labelSelector", s) for s in ("l=x", "l in (x,y)", "!l", "l", "l!=x", "l notin (x)", "bad key=", "l=x,", "l in ()", "=x", "l>1", "l>a")]
SELECTORS += [("fieldSelector", s) for s in ("metadata.name=a", "metadata.name!=a", "metadata.namespace=differ", "spec.nodeName=", "status.phase=Pending",
                                             "type=Opaque", "bad", "nosuch=1", "metadata.name=a,metadata.name=b", "spec.unschedulable=false",
                                             "reason=x", "involvedObject.name=x", "metadata.name==a", "metadata.name=a=b", "regarding.name=x")]


def list_query(chance):
    out = []
    if chance.random() < 0.4:
        out.append(chance.choice(SELECTORS))
    if chance.random() < 0.2:
        out.append(("limit", chance.choice(["1", "2", "0", "-1", "x", "500"])))
    if chance.random() < 0.2:
        out.append(("resourceVersion", chance.choice(["0", "1", "x", "", "99999999"])))
    if chance.random() < 0.1:
        out.append(("resourceVersionMatch", chance.choice(["Exact", "NotOlderThan", "Bad"])))
    if chance.random() < 0.05:
        out.append(("continue", chance.choice(["x", "e30", ""])))
    if chance.random() < 0.1:
        out.append(("includeObject", chance.choice(["None", "Metadata", "Object", "Bad"])))
    if chance.random() < 0.05:
        out.append(("timeoutSeconds", chance.choice(["5", "x", "-1"])))
    return [pair for pair in out if pair != ("resourceVersion", "99999999")]


def lists(view, chance, resource):
    return Request("GET", with_query(resource.collection(), list_query(chance)), accept=chance.choice(ACCEPTS))


def second_page(view, chance, resource):
    first = view.ask(Request("GET", resource.collection() + "?limit=1"))
    token = (first or {}).get("metadata", {}).get("continue") or "x"
    return Request("GET", with_query(resource.collection(), [("limit", chance.choice(["1", "2"])), ("continue", token)]), accept=chance.choice(ACCEPTS))


def update(view, chance, resource, subresource=""):
    path = target(chance, resource)
    held = view.ask(Request("GET", path)) or new_object(chance, resource, path.rsplit("/", 1)[1])
    if chance.random() < 0.25:
        fresh = new_object(chance, resource, path.rsplit("/", 1)[1])
        for key in fresh:
            if key not in ("metadata", "status"):
                held[key] = fresh[key]
    meta = held.setdefault("metadata", {})
    meta = meta if isinstance(meta, dict) else {}
    if chance.random() < 0.3:
        chance.choice(METADATA)(meta, chance)
    if chance.random() < 0.15:
        meta.pop("resourceVersion", None)
    while chance.random() < 0.4:
        held = mutate(chance, held, resource.good)
    body, kind = as_body(chance, held)
    return Request("PUT", with_query(path + subresource, write_options(chance)), body, kind=kind, accept=chance.choice([JSON] * 8 + ACCEPTS))


def json_patch(chance, held):
    found = [at for at in places(held) if at and at[-1] not in ("uid", "resourceVersion")] or [("metadata", "labels")]
    out = []
    for _ in range(chance.choice([1, 1, 2])):
        at = chance.choice(found)
        pointer = "/" + "/".join(str(s).replace("~", "~0").replace("/", "~1") for s in at) + chance.choice(["", "", "", "/x", "/-", "/0"])
        op = chance.choice(["add", "replace", "remove", "test", "copy", "move", "bad"])
        step = {"op": op, "path": pointer}
        if op in ("add", "replace", "test"):
            step["value"] = chance.choice(ODD)
        if op in ("copy", "move"):
            step["from"] = "/" + "/".join(str(s).replace("~", "~0").replace("/", "~1") for s in chance.choice(found))
        out.append(step)
    return out


def patch_body(chance, resource, held, kind):
    if kind.startswith("application/json-patch"):
        return json_patch(chance, held)
    meta = held.get("metadata")
    fresh = new_object(chance, resource, meta.get("name") if isinstance(meta, dict) else None)
    if kind.startswith("application/apply"):
        if chance.random() < 0.05:
            return fresh
        if isinstance(fresh.get("metadata"), dict):
            fresh["metadata"].pop("resourceVersion", None)
            fresh["metadata"].pop("uid", None)
        return fresh
    roll = chance.random()
    if roll < 0.5:
        return chance.choice([{"metadata": {"labels": {"l": chance.choice(["x", "y", None])}}}, {"metadata": {"annotations": None}},
                              {"metadata": {"finalizers": chance.choice([None, ["example.com/f"], ["bad"]])}}, {}, {"metadata": {"name": "z"}},
                              {"metadata": {"resourceVersion": "1"}}, {"spec": None}, {"unknown": 1}, {"metadata": {"labels": {"$patch": "replace"}}},
                              {"metadata": {"labels": {"$patch": "delete"}}}, {"metadata": {"uid": "x"}}, {"kind": "Other"}, {"apiVersion": "v9"},
                              {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/f"]}}, {"$patch": "bad"}, {"metadata": "x"}, [], None, "x"])
    fresh.pop("metadata", None)
    return fresh


def patch(view, chance, resource, subresource=""):
    import yaml
    path, kind = target(chance, resource), chance.choice(PATCHES)
    held = view.ask(Request("GET", path)) or {"metadata": {"name": path.rsplit("/", 1)[1]}}
    body = patch_body(chance, resource, held, kind)
    query = write_options(chance, True)
    if kind.startswith("application/apply") and chance.random() < 0.9 and not any(k == "fieldManager" for k, _ in query):
        query.append(("fieldManager", chance.choice(["m1", "m2"])))
    data = yaml.safe_dump(body).encode() if kind.endswith("yaml") and chance.random() < 0.5 else json.dumps(body).encode()
    if chance.random() < 0.03:
        data, kind = chance.choice([(b"{", kind), (b"", kind), (data, JSON), (data, "x/y"), (b"[1]", kind)])
    return Request("PATCH", with_query(path + subresource, query), data, kind=kind, accept=chance.choice([JSON] * 8 + ACCEPTS))


DELETE_BODIES = [None, None, {}, {"gracePeriodSeconds": 0}, {"gracePeriodSeconds": 5}, {"gracePeriodSeconds": -1}, {"propagationPolicy": "Foreground"},
                 {"propagationPolicy": "Orphan"}, {"propagationPolicy": "Background"}, {"propagationPolicy": "Bad"}, {"orphanDependents": True},
                 {"orphanDependents": False, "propagationPolicy": "Orphan"}, {"preconditions": {"uid": "x"}}, {"preconditions": {"resourceVersion": "1"}},
                 {"dryRun": ["All"]}, {"dryRun": ["x"]}, {"kind": "DeleteOptions", "apiVersion": "v1"}, {"kind": "Other", "apiVersion": "v1"}, [],
                 {"kind": "DeleteOptions", "apiVersion": "apps/v1"}, {"unknown": 1}, {"gracePeriodSeconds": "x"},
                 {"ignoreStoreReadErrorWithClusterBreakingPotential": True}]
DELETE_QUERIES = [("gracePeriodSeconds", "0"), ("gracePeriodSeconds", "7"), ("gracePeriodSeconds", "x"), ("propagationPolicy", "Orphan"),
                  ("propagationPolicy", "Foreground"), ("propagationPolicy", "Bad"), ("dryRun", "All"), ("orphanDependents", "true")]


def delete(view, chance, resource):
    query = [chance.choice(DELETE_QUERIES)] if chance.random() < 0.25 else []
    return Request("DELETE", with_query(target(chance, resource), query), chance.choice(DELETE_BODIES), accept=chance.choice([JSON] * 8 + ACCEPTS))


def delete_collection(view, chance, resource):
    if resource.name in ("flowschemas", "prioritylevelconfigurations", "apiservices", "clusterroles", "clusterrolebindings", "priorityclasses",
                         "servicecidrs", "namespaces", "ipaddresses"):
        return lists(view, chance, resource)
    query = list_query(chance)
    query = [p for p in query if p[0] not in ("limit", "continue", "resourceVersion")]
    if chance.random() < 0.2:
        query.append(chance.choice(DELETE_QUERIES))
    return Request("DELETE", with_query(resource.collection(), query), chance.choice(DELETE_BODIES[:6]))


def sub(view, chance, resource):
    names = [n for n in resource.subresources if n not in ("proxy", "token", "exec", "attach", "portforward")]
    if not names:
        return get(view, chance, resource)
    name = chance.choice(sorted(names))
    verbs = resource.subresources[name]["verbs"]
    verb = chance.choice(verbs)
    if verb == "get":
        return Request("GET", target(chance, resource) + "/" + name, accept=chance.choice(ACCEPTS))
    if name == "scale":
        return scale(view, chance, resource, verb)
    if name in ("binding", "eviction"):
        return bind_or_evict(chance, resource, name)
    if verb == "update":
        return update_status(view, chance, resource, "/" + name)
    return patch(view, chance, resource, "/" + name)


def update_status(view, chance, resource, subresource):
    path = target(chance, resource)
    held = view.ask(Request("GET", path + subresource)) or view.ask(Request("GET", path)) or new_object(chance, resource, path.rsplit("/", 1)[1])
    fresh = chance.choice(resource.bad + resource.good)
    if isinstance(fresh.get("status"), dict) and chance.random() < 0.7:
        held["status"] = copy.deepcopy(fresh["status"])
    for _ in range(chance.choice([0, 1, 1, 2])):
        held = mutate(chance, held, resource.good)
    return Request("PUT", with_query(path + subresource, write_options(chance)), held)


def scale(view, chance, resource, verb):
    path = target(chance, resource) + "/scale"
    held = view.ask(Request("GET", path)) or {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {}}
    replicas = chance.choice([0, 1, 5, -1, "x", None])
    if verb == "update":
        held["spec"] = {"replicas": replicas}
        if chance.random() < 0.3:
            held = mutate(chance, held)
        return Request("PUT", with_query(path, write_options(chance)), held)
    kind = chance.choice(PATCHES)
    body = {"spec": {"replicas": replicas}}
    if kind == PATCHES[0]:
        body = [{"op": "replace", "path": "/spec/replicas", "value": replicas}]
    elif kind == PATCHES[3]:
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": path.split("/")[-2]}, "spec": {"replicas": replicas}}
    return Request("PATCH", with_query(path, write_options(chance, True) + [("fieldManager", "m1")]), body, kind=kind)


def bind_or_evict(chance, resource, name):
    path = target(chance, resource)
    pod = path.rsplit("/", 1)[1]
    if name == "binding":
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": chance.choice([pod, pod, pod, "z", ""])},
                "target": chance.choice([{"kind": "Node", "name": "n1"}, {"name": "n2"}, {"kind": "Pod", "name": "x"}, {}, {"name": "Bad_"}])}
    else:
        body = {"apiVersion": chance.choice(["policy/v1", "policy/v1", "policy/v1beta1", "v1"]), "kind": "Eviction", "metadata": {"name": chance.choice([pod, pod, pod, "z", ""])},
                "deleteOptions": chance.choice(DELETE_BODIES[2:])}
    if chance.random() < 0.2:
        body = mutate(chance, body)
    return Request("POST", with_query(path + "/" + name, write_options(chance)), body)


STEPS = [create] * 6 + [get] * 3 + [lists] * 2 + [update] * 4 + [patch] * 6 + [delete] * 2 + [sub] * 4 + [second_page, delete_collection]


# requests that need no objects

PATHS = ["/", "/api", "/apis", "/apis/", "/api/", "/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/apps/v9", "/apis/nosuch", "/apis/nosuch/v1/x", "/version",
         "/version/", "/healthz", "/healthz?verbose", "/healthz?verbose&exclude=ping", "/healthz/ping", "/healthz/nosuch", "/livez", "/livez?verbose",
         "/readyz", "/readyz?verbose", "/readyz?verbose&exclude=nosuch", "/livez/ping", "/readyz/ping", "/healthz?exclude=etcd&verbose", "/nosuch", "/openapi/v3",
         "/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3/nosuch", "/openapi", "/swagger.json", "/logs", "/metrics/nosuch", "/.well-known/openid-configuration",
         "/openid/v1/jwks", "/api/v1/componentstatuses", "/api/v1/componentstatuses/etcd-0", "/api/v1/componentstatuses/nosuch", "/api/v1/nosuch",
         "/api/v1/namespaces/differ/nosuch", "/api/v1/namespaces//pods", "/api/v1//pods", "/api/v1/pods/x", "/api/v1/namespaces/differ/pods/a/nosuch",
         "/api/v1/namespaces/differ/pods/a/status/x", "/api/v1/namespaces/differ/nodes", "/api/v1/namespaces/differ/nodes/x", "/api/v1/watch/pods?timeoutSeconds=1",
         "/api/v1/watch/namespaces/differ/pods/a?timeoutSeconds=1", "/apis/apps/v1/deployments/", "/api/v1/pods/", "/api/v1/namespaces/", "/api/v1/namespaces/differ/",
         "/api/v1/namespaces/differ/pods/a/log", "/api/v1/namespaces/differ/pods/a/exec?command=x", "/api/v1/namespaces/differ/pods/a/attach",
         "/api/v1/namespaces/differ/pods/a/portforward", "/api/v1/namespaces/differ/pods/a/proxy", "/api/v1/namespaces/differ/services/a/proxy", "/api/v1/nodes/a/proxy",
         "/api/v1/nodes/a/proxy/x", "/api/v1/namespaces/differ/pods/a/log?container=x&tailLines=-1", "/api/v1/namespaces/differ/pods/a/log?follow=x",
         "/api/v1/namespaces/differ/bindings", "/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
         "/apis/events.k8s.io/v1/events", "/api/v2", "/api/v1/proxy/nodes/x", "/static", "/ui", "/debug/pprof", "/configz", "/flagz", "/statusz", "/metrics/slis?x"]
METHODS = ["GET"] * 12 + ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "FOO", "CONNECT"]


def anywhere(view, chance, resources):
    roll = chance.random()
    if roll < 0.6:
        path = chance.choice(PATHS)
    else:
        resource = resources[chance.choice(sorted(resources))]
        path = chance.choice([resource.collection(), resource.collection() + "/a", resource.base + "/" + resource.name, resource.base,
                              target(chance, resource) + "/" + chance.choice(["status", "scale", "token", "approval", "finalize", "log", "resize"])])
    method = chance.choice(METHODS)
    if method == "DELETE" and path.rstrip("/").split("/")[-1] in [r.name for r in resources.values()] or method == "CONNECT":
        method = "GET"
    accept = chance.choice(ACCEPTS + ["application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
                                      "text/plain", "application/yaml;q=0.5,application/json;q=0.1", "bad", "application/json;as=Bad;g=meta.k8s.io;v=v1"])
    body = None if method in ("GET", "HEAD", "OPTIONS", "TRACE") else b"{}"
    return Request(method, path, body, accept=accept, kind=chance.choice([JSON, YAML, "text/plain"] + PATCHES))


REVIEWS = [("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "SelfSubjectAccessReview"), ("/apis/authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview"),
           ("/apis/authorization.k8s.io/v1/namespaces/differ/localsubjectaccessreviews", "LocalSubjectAccessReview"),
           ("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "SelfSubjectRulesReview"), ("/apis/authentication.k8s.io/v1/tokenreviews", "TokenReview"),
           ("/apis/authentication.k8s.io/v1/selfsubjectreviews", "SelfSubjectReview")]
REVIEW_SPECS = [{}, {"user": "u", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "differ"}}, {"user": "u", "nonResourceAttributes": {"path": "/x", "verb": "get"}},
                {"groups": ["g"], "resourceAttributes": {"verb": "*"}, "nonResourceAttributes": {"path": "/"}}, {"namespace": "differ"}, {"namespace": ""}, {"token": "x"}, {"token": ""},
                {"token": "secret-token"}, {"token": "secret-token", "audiences": ["x"]}, {"user": "", "groups": []}, {"resourceAttributes": {}},
                {"resourceAttributes": {"verb": "get", "resource": "pods", "fieldSelector": {"rawSelector": "a=b"}, "labelSelector": {"requirements": [{"key": "k", "operator": "In"}]}}},
                {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "other"}, "user": "u"}]


def review(view, chance, resources):
    path, kind = chance.choice(REVIEWS)
    version = "authorization.k8s.io/v1" if "authorization" in path else "authentication.k8s.io/v1"
    body = {"apiVersion": version, "kind": kind, "metadata": {}, "spec": copy.deepcopy(chance.choice(REVIEW_SPECS))}
    if chance.random() < 0.3:
        body = mutate(chance, body)
    data, media = as_body(chance, body)
    return Request("POST", with_query(path, write_options(chance)), data, kind=media, accept=chance.choice([JSON] * 5 + ACCEPTS), headers=chance.choice(AS))


AS = [{}] * 6 + [{"Impersonate-User": "u"}, {"Impersonate-User": "u", "Impersonate-Group": "g"}, {"Impersonate-Group": "g"}, {"Impersonate-Uid": "1"},
                 {"Impersonate-User": "system:serviceaccount:differ:a"}, {"Impersonate-User": "u", "Impersonate-Extra-Some%2fKey": "v"},
                 {"Impersonate-User": "system:anonymous"}, {"Impersonate-User": "u", "Impersonate-Uid": "9"}, {"Authorization": "Bearer wrong"}, {"Authorization": ""}]


def token(view, chance, resources):
    spec = chance.choice([{}, {"audiences": ["x"]}, {"expirationSeconds": 10}, {"expirationSeconds": 3600}, {"expirationSeconds": 1 << 33},
                          {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "nosuch"}}, {"boundObjectRef": {"kind": "X", "apiVersion": "v1", "name": "n"}},
                          {"audiences": [""]}])
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec, "metadata": chance.choice([{}, {"name": "z"}, {"namespace": "z"}])}
    if chance.random() < 0.3:
        body = mutate(chance, body)
    return Request("POST", "/api/v1/namespaces/differ/serviceaccounts/%s/token" % chance.choice(["tok", "tok", "absent"]), body)


FREE = [anywhere] * 5 + [review] * 3 + [token]
