"""Stories of nodes: conditions and taints, eviction, pods that are left behind."""
from controller_story import story


def taints(w, node):
    return sorted((t["key"].rsplit("/")[-1], t["effect"]) for t in w.get("nodes", node)["spec"].get("taints") or [])


def tainted(w, node, *want):
    w.until("tainted %s" % (want,), lambda: taints(w, node) == sorted(want))


def going(w, name):
    w.until("%s is going" % name, lambda: not w.find("pods", name) or w.find("pods", name)["metadata"].get("deletionTimestamp"))


NOT_READY = ("not-ready", "NoExecute"), ("not-ready", "NoSchedule")


def tolerates(seconds=None, key="node.kubernetes.io/not-ready"):
    made = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        made["tolerationSeconds"] = seconds
    return [made]


@story()
def node_is_ready(w):
    w.node("n")


@story()
def node_is_not_ready(w):
    node = w.node("n")
    w.post(node, Ready="False")
    tainted(w, node, *NOT_READY)


@story()
def node_is_ready_again(w):
    node_is_not_ready(w)
    w.post(w.own("n"), Ready="True")
    tainted(w, w.own("n"))


@story()
def node_under_pressure(w):
    node = w.node("n")
    w.post(node, Ready="True", MemoryPressure="True", DiskPressure="True", PIDPressure="True", NetworkUnavailable="True")
    tainted(w, node, *((k, "NoSchedule") for k in ("memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable")))


@story()
def node_is_cordoned(w):
    node = w.node("n", taints=[{"key": "example.com/mine", "effect": "PreferNoSchedule", "value": "x"}])
    w.patch("nodes", node, {"spec": {"unschedulable": True}})
    tainted(w, node, ("mine", "PreferNoSchedule"), ("unschedulable", "NoSchedule"))
    w.patch("nodes", node, {"spec": {"unschedulable": None}})
    tainted(w, node, ("mine", "PreferNoSchedule"))


@story()
def node_says_unknown(w):
    node = w.node("n")
    w.post(node, Ready="Unknown")
    tainted(w, node, ("unreachable", "NoExecute"), ("unreachable", "NoSchedule"))


@story()
def pods_of_a_node_that_speaks(w):
    """It says itself that it is not ready: what becomes of its pods, it says, too."""
    node = w.node("n")
    w.pod("p", node)
    w.set_phase("p", "Running")
    w.post(node, Ready="False")
    tainted(w, node, *NOT_READY)


@story()
def pods_are_evicted(w):
    """At once, after a while, or never."""
    node = w.node("n")
    for name, tolerations in (("soon", tolerates(0)), ("later", tolerates(3600)), ("never", tolerates())):
        w.pod(name, node, tolerations=tolerations)
        w.set_phase(name, "Running")
    w.post(node, Ready="False")
    going(w, "soon")
    tainted(w, node, *NOT_READY)
    w.until("told", lambda: w.told("TaintManagerEviction"))


@story()
def pods_stay_when_the_node_is_well_in_time(w):
    node = w.node("n")
    w.pod("p", node, tolerations=tolerates(30))
    w.set_phase("p", "Running")
    w.post(node, Ready="False")
    tainted(w, node, *NOT_READY)
    w.post(node, Ready="True")
    tainted(w, node)
    w.until("told", lambda: w.told("TaintManagerEviction"))
    w.hidden.add("pods")  # whether its condition was written before the node was well


@story()
def own_taint_evicts(w):
    node = w.node("n")
    w.pod("goes", node)
    w.pod("stays", node, tolerations=[{"key": "example.com/mine", "operator": "Equal", "value": "x", "effect": "NoExecute"}])
    for name in ("goes", "stays"):
        w.set_phase(name, "Running")
    w.patch("nodes", node, {"spec": {"taints": [{"key": "example.com/mine", "value": "x", "effect": "NoExecute"}]}})
    going(w, "goes")
    w.until("told", lambda: w.told("TaintManagerEviction"))


@story()
def pod_on_a_tainted_node(w):
    """It is bound there although it does not tolerate that."""
    node = w.node("n", taints=[{"key": "example.com/mine", "value": "x", "effect": "NoExecute"}])
    w.pod("goes", node)
    going(w, "goes")
    w.until("told", lambda: w.told("TaintManagerEviction"))


@story(slow=True)
def node_is_silent(w):
    """Its Lease is not renewed any more."""
    node = w.node("n")
    w.pod("p", node, tolerations=tolerates(key="node.kubernetes.io/unreachable"))
    w.set_phase("p", "Running")
    w.heart.remove(node)
    for _ in range(2):
        try:
            tainted(w, node, ("unreachable", "NoExecute"), ("unreachable", "NoSchedule"))
            break
        except AssertionError:
            pass
    w.until("not ready", lambda: w.condition("pods", "p", "Ready", "False"))


@story(slow=True)
def node_speaks_again(w):
    node_is_silent(w)
    node = w.own("n")
    w.heart.add(node)
    w.post(node, Ready="True")
    tainted(w, node)


@story(slow=True)
def pods_without_their_node(w):
    node = w.node("n")
    w.pod("p", node)
    w.set_phase("p", "Running")
    w.heart.remove(node)
    w.delete("nodes", node)
    for _ in range(2):
        try:
            w.gone("pods", "p")
            return
        except AssertionError:
            pass
    w.gone("pods", "p")


@story(slow=True)
def pod_that_was_never_bound_goes(w):
    """It is being deleted, and nobody runs it who could end it."""
    w.make("pods", "p", {"containers": [{"name": "c", "image": "a"}]}, {"finalizers": ["example.com/held"]})
    w.delete("pods", "p")
    w.until("going", lambda: w.get("pods", "p")["metadata"].get("deletionTimestamp"))
    w.patch("pods", "p", {"metadata": {"finalizers": None}})
    w.gone("pods", "p")


@story(slow=True)
def pod_on_a_node_out_of_service(w):
    """Nobody will end it there: it is ended by force."""
    node = w.node("n")
    w.pod("p", node, tolerations=[{"operator": "Exists"}])
    w.set_phase("p", "Running")
    w.post(node, Ready="False")
    w.patch("nodes", node, {"spec": {"taints": [{"key": "node.kubernetes.io/out-of-service", "value": "x", "effect": "NoExecute"}]}})
    w.delete("pods", "p")
    w.gone("pods", "p")
