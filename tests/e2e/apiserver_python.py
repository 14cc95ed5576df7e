#!/usr/bin/env python3
"""apiserver_python.py BERTH - the official Python client of Kubernetes against `berth apiserver`: typed and dynamic clients, every kind
of patch, watches, pages, subresources, errors. `scripts/setup --clients` installs the client; without it the test is skipped."""
import base64
import os
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = os.path.join(ROOT, ".deps", "clients", "bin", "python")
SKIP = 77
START_LIMIT = 120  # seconds, on a slow machine

try:
    import yaml
    from kubernetes import client, config, dynamic, utils, watch
    from kubernetes.client.exceptions import ApiException
except ImportError:
    if not os.path.exists(PYTHON) or os.environ.get("BERTH_CLIENTS") == "tried":
        print("skipped: the Python client of Kubernetes is not there (`scripts/setup --clients` installs it)")
        sys.exit(SKIP)
    os.execve(PYTHON, [PYTHON, os.path.abspath(__file__), *sys.argv[1:]], dict(os.environ, BERTH_CLIENTS="tried"))

failures = 0


def check(condition, what, shown=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED %s\n%s" % (what, shown))


def refused(call, status, reason, what):
    """The call ends with this Status; its text is returned."""
    try:
        call()
    except ApiException as e:
        body = yaml.safe_load(e.body)
        check((e.status, body["reason"]) == (status, reason), what, e.body)
        return body["message"]
    check(False, what, "it was not refused")
    return ""


def deployment(name, replicas=1):
    return client.V1Deployment(
        metadata=client.V1ObjectMeta(name=name, labels={"app": name}),
        spec=client.V1DeploymentSpec(
            replicas=replicas, selector=client.V1LabelSelector(match_labels={"app": name}),
            template=client.V1PodTemplateSpec(
                metadata=client.V1ObjectMeta(labels={"app": name}),
                spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="i:1")]))))


def pod(name, **labels):
    return client.V1Pod(metadata=client.V1ObjectMeta(name=name, labels=labels),
                        spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="i:1")]))


def discovery(api):
    check(client.VersionApi(api).get_code().minor == "36", "the version")
    groups = {g.name for g in client.ApisApi(api).get_api_versions().groups}
    check({"apps", "batch", "rbac.authorization.k8s.io"} <= groups, "groups", groups)
    names = {r.name for r in client.CoreV1Api(api).get_api_resources().resources}
    check({"pods", "pods/binding", "namespaces/finalize", "serviceaccounts/token"} <= names, "resources", names)


def objects(api):
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map("t", client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="c-"), data={"a": "1"},
                                                                     binary_data={"b": base64.b64encode(b"\0\xff").decode()}))
    name = made.metadata.name
    check(name.startswith("c-") and len(name) == 7, "a name is made", name)
    check(core.read_namespaced_config_map(name, "t").binary_data == made.binary_data, "bytes come back")
    made.data["a"] = "2"
    changed = core.replace_namespaced_config_map(name, "t", made)
    check(int(changed.metadata.resource_version) > int(made.metadata.resource_version), "a new version")
    check("has been modified" in refused(lambda: core.replace_namespaced_config_map(name, "t", made), 409, "Conflict", "an old version"),
          "says why")
    refused(lambda: core.create_namespaced_config_map("t", client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name))), 409,
            "AlreadyExists", "a second one")
    refused(lambda: core.create_namespaced_pod("t", pod("Bad_Name")), 422, "Invalid", "a bad name")
    refused(lambda: core.read_namespaced_pod("none", "t"), 404, "NotFound", "nothing")
    core.create_namespaced_pod("t", pod("dry"), dry_run="All")
    refused(lambda: core.read_namespaced_pod("dry", "t"), 404, "NotFound", "a dry run leaves nothing")
    core.delete_namespaced_config_map(name, "t")
    refused(lambda: core.read_namespaced_config_map(name, "t"), 404, "NotFound", "what was deleted")


def lists(api):
    core = client.CoreV1Api(api)
    for i in range(25):
        core.create_namespaced_pod("t", pod("p%02d" % i, even=str(i % 2 == 0)))
    names, token = [], None
    while True:
        page = core.list_namespaced_pod("t", limit=10, _continue=token)
        names += [p.metadata.name for p in page.items]
        token = page.metadata._continue
        if not token:
            break
    check(names == ["p%02d" % i for i in range(25)], "pages", names)
    check(len(core.list_namespaced_pod("t", label_selector="even=True").items) == 13, "by label")
    check(len(core.list_pod_for_all_namespaces(field_selector="metadata.name=p03").items) == 1, "by field")
    refused(lambda: core.list_namespaced_pod("t", label_selector="a in ("), 400, "BadRequest", "a broken selector")
    core.delete_collection_namespaced_pod("t", label_selector="even=True", grace_period_seconds=0)
    check(len(core.list_namespaced_pod("t").items) == 12, "a part of a collection is deleted")
    core.delete_collection_namespaced_pod("t", grace_period_seconds=0)


def watches(api):
    core, seen, begun = client.CoreV1Api(api), [], threading.Event()
    version = core.list_namespaced_config_map("t").metadata.resource_version

    def look():
        begun.set()
        for event in watch.Watch().stream(core.list_namespaced_config_map, "t", resource_version=version, timeout_seconds=60):
            seen.append((event["type"], event["object"].metadata.name, (event["object"].data or {}).get("a")))
            if event["type"] == "DELETED":
                return
    looking = threading.Thread(target=look)
    looking.start()
    begun.wait()
    core.create_namespaced_config_map("t", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="w"), data={"a": "1"}))
    core.patch_namespaced_config_map("w", "t", {"data": {"a": "2"}})
    core.delete_namespaced_config_map("w", "t")
    looking.join(START_LIMIT)
    check(seen == [("ADDED", "w", "1"), ("MODIFIED", "w", "2"), ("DELETED", "w", "2")], "a watch", seen)


def patches(api):
    """Of one deployment, through the dynamic client, which names its content type."""
    things = dynamic.DynamicClient(api).resources.get(api_version="apps/v1", kind="Deployment")
    client.AppsV1Api(api).create_namespaced_deployment("t", deployment("d"))
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "s:1"}]}}}}

    def containers(kind, body, **more):
        got = things.patch(name="d", namespace="t", body=body, content_type="application/" + kind, **more)
        return [(c.name, c.image) for c in got.spec.template.spec.containers]
    check(containers("strategic-merge-patch+json", sidecar) == [("side", "s:1"), ("c", "i:1")], "strategic: lists merge by name")
    check(containers("json-patch+json", [{"op": "replace", "path": "/spec/template/spec/containers/1/image", "value": "i:2"}])[1] == ("c", "i:2"),
          "JSON patch")
    check(containers("merge-patch+json", sidecar) == [("side", "s:1")], "merge: lists are replaced")
    applied = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 4}}
    check("conflict" in refused(lambda: things.server_side_apply(body=applied, namespace="t", name="d", field_manager="other"), 409, "Conflict",
                                "what belongs to somebody else"), "says so")
    got = things.server_side_apply(body=applied, namespace="t", name="d", field_manager="other", force_conflicts=True)
    check(got.spec.replicas == 4 and "other" in [m.manager for m in got.metadata.managedFields], "apply by force")


def subresources(api):
    core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
    scale = apps.read_namespaced_deployment_scale("d", "t")
    scale.spec.replicas = 7
    check(apps.replace_namespaced_deployment_scale("d", "t", scale).spec.replicas == 7, "scale")
    apps.patch_namespaced_deployment_status("d", "t", {"status": {"observedGeneration": 3}, "spec": {"replicas": 1}})
    both = apps.read_namespaced_deployment("d", "t")
    check((both.spec.replicas, both.status.observed_generation) == (7, 3), "status is all that its path changes", both)
    core.create_node(client.V1Node(metadata=client.V1ObjectMeta(name="n")))
    core.create_namespaced_pod("t", pod("b"))
    core.create_namespaced_pod_binding("b", "t", client.V1Binding(metadata=client.V1ObjectMeta(name="b"), target=client.V1ObjectReference(
        kind="Node", name="n")), _preload_content=False)
    check(core.read_namespaced_pod("b", "t").spec.node_name == "n", "binding")
    core.create_namespaced_pod_eviction("b", "t", client.V1Eviction(metadata=client.V1ObjectMeta(name="b")))
    check(core.read_namespaced_pod("b", "t").metadata.deletion_timestamp is not None, "eviction: it is asked to end")
    core.delete_namespaced_pod("b", "t", grace_period_seconds=0)


def owner(folder):
    """The kubeconfig that the server makes for whoever starts it."""
    return os.path.join(folder, "data", "pki", "admin.kubeconfig")


def accounts(api, folder):
    """A token of a service account, what it may, and what it may not."""
    core, rights = client.CoreV1Api(api), client.RbacAuthorizationV1Api(api)
    core.create_namespaced_service_account("t", client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="reader")))
    token = core.create_namespaced_service_account_token("reader", "t", client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(audiences=[]))).status.token
    rights.create_namespaced_role_binding("t", client.V1RoleBinding(
        metadata=client.V1ObjectMeta(name="read"), role_ref=client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="view"),
        subjects=[client.RbacV1Subject(kind="ServiceAccount", name="reader", namespace="t")]))
    settings = client.Configuration()
    config.load_kube_config(owner(folder), client_configuration=settings)
    settings.cert_file = settings.key_file = None
    settings.api_key = {"authorization": "Bearer " + token}
    with client.ApiClient(settings) as limited:
        other = client.CoreV1Api(limited)
        check(isinstance(other.list_namespaced_pod("t").items, list), "a bound account reads")
        refused(lambda: other.create_namespaced_pod("t", pod("x")), 403, "Forbidden", "but does not write")
        me = client.AuthenticationV1Api(limited).create_self_subject_review(client.V1SelfSubjectReview())
        check(me.status.user_info.username == "system:serviceaccount:t:reader", "and knows who it is", me)
    may = client.AuthorizationV1Api(api).create_subject_access_review(client.V1SubjectAccessReview(spec=client.V1SubjectAccessReviewSpec(
        user="system:serviceaccount:t:reader", resource_attributes=client.V1ResourceAttributes(namespace="t", verb="delete", resource="pods"))))
    check(may.status.allowed is False, "a review", may)


def files(api, folder):
    path = os.path.join(folder, "things.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {app: d}, ports: [{port: 80}]}\n---\n"
                  "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {schedule: '0 1 * * *', jobTemplate: {spec: "
                  "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}\n")
    utils.create_from_yaml(api, path, namespace="t")
    address = client.CoreV1Api(api).read_namespaced_service("s", "t").spec.cluster_ip
    check(address.startswith("10.0.0."), "a service has its address", address)
    check(client.BatchV1Api(api).read_namespaced_cron_job("nightly", "t").spec.concurrency_policy == "Allow", "defaults")


def namespaces(api):
    core, gone = client.CoreV1Api(api), watch.Watch()
    version = core.list_namespace().metadata.resource_version
    core.delete_namespace("t")
    for event in gone.stream(core.list_namespace, resource_version=version, timeout_seconds=START_LIMIT):
        if event["type"] == "DELETED" and event["object"].metadata.name == "t":
            break
    check(not client.AppsV1Api(api).list_deployment_for_all_namespaces().items, "and all that is in it")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(berth, folder):
    """The process, once it is ready."""
    server = subprocess.Popen([berth, "apiserver", "--data-dir=" + os.path.join(folder, "data"), "--bind-address=127.0.0.1",
                               "--secure-port=%d" % free_port(), "--authorization-mode=RBAC"], text=True, stdout=subprocess.PIPE,
                              stderr=open(os.path.join(folder, "log"), "w", encoding="utf-8"), env={"HOME": folder})
    line = server.stdout.readline()
    if "ready at " not in line:
        with open(os.path.join(folder, "log"), encoding="utf-8") as log:
            sys.exit("berth apiserver does not start: " + log.read()[-2000:])
    return server


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = start(os.path.abspath(sys.argv[1]), folder)
        try:
            with config.new_client_from_config(owner(folder)) as api:
                client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="t")))
                discovery(api)
                for part in (objects, lists, watches, patches, subresources):
                    part(api)
                accounts(api, folder)
                files(api, folder)
                namespaces(api)
        finally:
            server.terminate()
            server.wait(START_LIMIT)
    print("failed: %d" % failures if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
