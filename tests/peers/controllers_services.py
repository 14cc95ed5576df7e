"""Stories of Services: their Endpoints and EndpointSlices."""
import json

from controller_story import story

PORTS = [{"name": "http", "port": 80, "targetPort": "web"}, {"name": "x", "port": 81}]


def service(w, name="web", **spec):
    w.make("services", name, dict({"selector": {"app": "web"}, "ports": PORTS}, **spec), {"labels": {"team": "a"}})


def in_slices(w):
    return {a: e["conditions"].get("ready") for x in w.items("endpointslices") for e in x.get("endpoints") or [] for a in e["addresses"]}


def in_endpoints(w, name="web"):
    found = {}
    for s in (w.find("endpoints", name) or {}).get("subsets") or []:
        found.update({a["ip"]: True for a in s.get("addresses") or []})
        found.update({a["ip"]: False for a in s.get("notReadyAddresses") or []})
    return found


def reaches(w, **want):
    """Addresses by their last part: ready or not."""
    wanted = {"10.9.0." + k[1:]: v for k, v in want.items()}
    w.until("%s" % want, lambda: in_slices(w) == wanted and in_endpoints(w) == wanted)


def two_pods(w):
    node = w.node("n", labels={"topology.kubernetes.io/zone": "z1"})
    w.pod("p1", node)
    w.address("p1", "10.9.0.1")
    w.pod("p2", node)
    w.address("p2", "10.9.0.2", ready=False)


@story()
def service_without_pods(w):
    service(w)
    w.until("made", lambda: w.items("endpointslices") and w.find("endpoints", "web"))


@story()
def service_with_pods(w):
    two_pods(w)
    service(w)
    reaches(w, _1=True, _2=False)


@story()
def service_pod_becomes_ready(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    w.address("p2", "10.9.0.2")
    reaches(w, _1=True, _2=True)


@story()
def service_pod_goes(w):
    """A pod on its way out serves, and is not ready; then it is gone."""
    service(w)
    two_pods(w)
    w.address("p2", "10.9.0.2")
    reaches(w, _1=True, _2=True)
    w.delete("pods", "p1")
    w.until("going", lambda: in_slices(w) == {"10.9.0.1": False, "10.9.0.2": True})
    w.delete("pods", "p2", grace=0)
    w.until("gone", lambda: in_slices(w) == {"10.9.0.1": False})
    w.until("endpoints", lambda: "10.9.0.2" not in in_endpoints(w))


@story()
def service_pod_ends(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    w.set_phase("p1", "Succeeded")
    w.set_phase("p2", "Failed", 1)
    w.until("none", lambda: not in_slices(w))


@story()
def service_selector_changes(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    w.patch("pods", "p1", {"metadata": {"labels": {"app": "db"}}})
    reaches(w, _2=False)
    w.patch("services", "web", {"spec": {"selector": {"app": "db"}}})
    reaches(w, _1=True)


@story()
def service_ports_change(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    w.patch("services", "web", {"spec": {"ports": [{"name": "http", "port": 80, "targetPort": 9090, "appProtocol": "kubernetes.io/h2c"}]}})
    w.until("changed", lambda: '"port": 9090' in json.dumps(w.items("endpointslices")) and '"port": 9090' in json.dumps(w.items("endpoints")))


@story()
def service_labels_change(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    w.patch("services", "web", {"metadata": {"labels": {"team": None, "tier": "front"}, "annotations": {"a": "b"}}})
    w.until("changed", lambda: all(o["metadata"]["labels"].get("tier") for o in w.items("endpointslices") + w.items("endpoints")))


@story()
def service_headless(w):
    service(w, clusterIP="None")
    two_pods(w)
    reaches(w, _1=True, _2=False)


@story()
def service_headless_hosts(w):
    """Pods with a host name in the service's domain are found by name."""
    service(w, clusterIP="None")
    node = w.node("n")
    w.pod("p1", node, hostname="h", subdomain="web")
    w.address("p1", "10.9.0.1")
    w.pod("p2", node, hostname="h", subdomain="else")
    w.address("p2", "10.9.0.2")
    reaches(w, _1=True, _2=True)


@story()
def service_headless_without_ports(w):
    w.make("services", "web", {"selector": {"app": "web"}, "clusterIP": "None"})
    two_pods(w)
    reaches(w, _1=True, _2=False)


@story()
def service_publishes_the_unready(w):
    service(w, publishNotReadyAddresses=True)
    two_pods(w)
    reaches(w, _1=True, _2=True)


@story()
def service_without_selector(w):
    """Nobody makes anything."""
    w.make("services", "web", {"ports": [{"port": 80}]})
    w.stays("alone", lambda: not w.items("endpointslices") and not w.items("endpoints"))


@story()
def service_external_name(w):
    w.make("services", "web", {"type": "ExternalName", "externalName": "example.com", "selector": {"app": "web"}})
    w.stays("alone", lambda: not w.items("endpointslices") and not w.items("endpoints"))


@story()
def service_different_ports(w):
    """Pods that mean different numbers by the same name: one slice for each."""
    service(w, ports=PORTS[:1])
    node = w.node("n")
    for i, port in enumerate((8080, 9090)):
        name = "p%d" % (i + 1)
        w.pod(name, node, containers=[{"name": "c", "image": "a", "ports": [{"name": "web", "containerPort": port}]}])
        w.address(name, "10.9.0.%d" % (i + 1))
    reaches(w, _1=True, _2=True)


@story()
def service_port_not_found(w):
    service(w, ports=[{"name": "http", "port": 80, "targetPort": "nowhere"}])
    two_pods(w)
    w.until("a slice", lambda: w.items("endpointslices"))
    w.until("endpoints", lambda: w.find("endpoints", "web"))
    w.stays("without", lambda: not in_endpoints(w))


@story()
def service_deleted(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    w.delete("services", "web")
    w.until("gone", lambda: not w.items("endpointslices") and not w.items("endpoints"))


@story()
def service_slice_deleted(w):
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    old = w.items("endpointslices")[0]["metadata"]
    w.delete("endpointslices", old["name"])
    w.until("another", lambda: [s for s in w.items("endpointslices") if s["metadata"]["uid"] != old["uid"]])
    w.delete("endpoints", "web")
    reaches(w, _1=True, _2=False)


@story()
def service_slice_changed_by_hand(w):
    """It is set right again."""
    service(w)
    two_pods(w)
    reaches(w, _1=True, _2=False)
    name = w.items("endpointslices")[0]["metadata"]["name"]
    w.patch("endpointslices", name, {"endpoints": []})
    reaches(w, _1=True, _2=False)


@story()
def service_many_pods(w):
    """At most a hundred in a slice."""
    service(w, ports=[{"port": 80}])
    node = w.node("n")
    for i in range(103):
        w.pod("p%d" % i, node)
        w.address("p%d" % i, "10.9.1.%d" % i)
    w.until("all", lambda: len(in_slices(w)) == 103 == len(in_endpoints(w)))
    w.until("two slices", lambda: sorted(len(s["endpoints"]) for s in w.items("endpointslices")) == [3, 100])
    w.hidden |= {"pods", "endpointslices"}  # which pod is in which slice is a matter of chance


@story()
def service_two_of_them(w):
    """The same pods for two services."""
    two_pods(w)
    service(w)
    service(w, "other", ports=[{"port": 7}])
    w.until("both", lambda: len(w.items("endpointslices")) == 2 and in_endpoints(w) == in_endpoints(w, "other") == {"10.9.0.1": True, "10.9.0.2": False})


@story()
def service_protocols(w):
    service(w, ports=[{"name": "t", "port": 53, "protocol": "TCP"}, {"name": "u", "port": 53, "protocol": "UDP"},
                      {"name": "s", "port": 54, "protocol": "SCTP"}])
    two_pods(w)
    reaches(w, _1=True, _2=False)


@story()
def service_pod_without_address(w):
    service(w)
    node = w.node("n")
    w.pod("p1", node)
    w.until("made", lambda: w.items("endpointslices") and w.find("endpoints", "web"))
    w.stays("without", lambda: not in_slices(w))
    w.address("p1", "10.9.0.1")
    reaches(w, _1=True)


@story()
def service_host_network(w):
    service(w)
    node = w.node("n")
    w.pod("p1", node, hostNetwork=True)
    w.address("p1", "10.9.0.1", hostIP="10.9.0.1", hostIPs=[{"ip": "10.9.0.1"}])
    reaches(w, _1=True)
