#!/usr/bin/env python3
"""Stories of small controllers: mirrored Endpoints, volumes that bring their claims, how long kubelets may keep objects. Alone:
controllers_small.py [OPTIONS] [STORY...], as controllers.py."""
import sys

from controller_story import story


def service(w, **spec):
    w.make("services", "svc", dict({"ports": [{"name": "http", "port": 80}]}, **spec))


def endpoints(w, *subsets, **meta):
    w.make("endpoints", "svc", meta=meta, subsets=list(subsets))


def mirrors(w):
    return [s for s in w.items("endpointslices") if s["metadata"]["labels"].get("endpointslice.kubernetes.io/managed-by") ==
            "endpointslicemirroring-controller.k8s.io"]


PORTS = [{"name": "http", "port": 80, "protocol": "TCP"}]
ONE = {"addresses": [{"ip": "10.1.2.3", "hostname": "h"}], "ports": PORTS}


@story()
def mirror_of_endpoints(w):
    service(w)
    endpoints(w, ONE, labels={"x": "y"}, annotations={"k": "v", "endpoints.kubernetes.io/last-change-trigger-time": "2020-01-01T00:00:00Z"})
    w.until("mirrored", lambda: mirrors(w))


@story()
def mirror_of_both_families(w):
    service(w)
    endpoints(w, {"addresses": [{"ip": "10.1.2.3"}, {"ip": "fd00::1"}], "notReadyAddresses": [{"ip": "10.1.2.4"}], "ports": PORTS})
    w.until("mirrored", lambda: len(mirrors(w)) == 2)


@story()
def mirror_of_two_sets_of_ports(w):
    service(w)
    endpoints(w, ONE, {"addresses": [{"ip": "10.1.2.9"}], "ports": [{"name": "dns", "port": 53, "protocol": "UDP", "appProtocol": "dns"}]})
    w.until("mirrored", lambda: len(mirrors(w)) == 2)


@story()
def mirror_that_changes(w):
    mirror_of_endpoints(w)
    w.patch("endpoints", "svc", {"subsets": [{"addresses": [{"ip": "10.1.2.3"}, {"ip": "10.1.2.5"}], "ports": [
        {"name": "http", "port": 8080, "protocol": "TCP"}]}], "metadata": {"labels": {"x": None, "z": "1"}}})
    w.until("changed", lambda: [len(s["endpoints"]) for s in mirrors(w)] == [2])


@story()
def mirror_that_goes(w):
    mirror_of_endpoints(w)
    w.patch("endpoints", "svc", {"subsets": None})
    w.until("gone", lambda: not mirrors(w))


@story()
def mirror_that_is_not_wanted(w):
    service(w)
    endpoints(w, ONE, labels={"endpointslice.kubernetes.io/skip-mirror": "true"})
    w.stays("none", lambda: not mirrors(w))


@story()
def mirror_of_a_service_that_goes(w):
    mirror_of_endpoints(w)
    w.delete("services", "svc")
    w.until("gone", lambda: not mirrors(w))


@story()
def mirror_that_somebody_deletes(w):
    mirror_of_endpoints(w)
    name = mirrors(w)[0]["metadata"]["name"]
    w.delete("endpointslices", name)
    w.until("made again", lambda: [s for s in mirrors(w) if s["metadata"]["name"] != name])


def pod_with_claims(w, *names):
    w.pod("p", volumes=[{"name": n, "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}, "annotations": {"k": "v"}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "nobody", "resources": {"requests": {"storage": "1Gi"}}}}}} for n in names])


@story()
def ephemeral_volumes(w):
    pod_with_claims(w, "one", "two")
    w.until("made", lambda: len(w.items("persistentvolumeclaims")) == 2)


@story(events=False)  # how often it is tried is a matter of chance
def ephemeral_volume_that_is_anothers(w):
    w.make("persistentvolumeclaims", "p-one", {"accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
                                               "resources": {"requests": {"storage": "1Gi"}}})
    pod_with_claims(w, "one", "two")
    w.until("told", lambda: w.told("FailedBinding"))
    told = {e["message"] for e in w.items("events") if e["involvedObject"]["kind"] == "Pod"}
    w.make("configmaps", "told", data={"told": "\n".join(sorted(told))})


@story()
def ephemeral_volume_of_a_gone_pod(w):
    pod_with_claims(w, "one")
    w.until("made", lambda: w.items("persistentvolumeclaims"))
    w.delete("pods", "p", grace=0)
    w.until("gone", lambda: not w.items("persistentvolumeclaims"))


if __name__ == "__main__":
    import controllers
    sys.exit(controllers.main(sys.argv[1:] or [name for name in controllers.STORIES if name.startswith(("mirror_", "ephemeral_"))]))
