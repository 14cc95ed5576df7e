"""Stories of garbage collection and of namespaces that go."""
from controller_story import story


def owner_of(o, kind="ConfigMap", **more):
    return dict({"apiVersion": "v1", "kind": kind, "name": o["metadata"]["name"], "uid": o["metadata"]["uid"]}, **more)


def config(w, name, *owners, **meta):
    return w.make("configmaps", name, None, dict({"ownerReferences": list(owners)}, **meta)) or w.get("configmaps", name)


@story()
def garbage_in_the_background(w):
    """Children, and theirs."""
    top = config(w, "top")
    child = config(w, "child", owner_of(top))
    config(w, "grandchild", owner_of(child))
    w.delete("configmaps", "top")
    w.gone("configmaps", "grandchild")


@story()
def garbage_in_the_foreground(w):
    """The owner goes last; what does not block it does not hold it."""
    top = config(w, "top")
    config(w, "blocks", owner_of(top, blockOwnerDeletion=True), finalizers=["example.com/held"])
    config(w, "does-not", owner_of(top), finalizers=["example.com/held"])
    w.delete("configmaps", "top", "Foreground")
    w.until("going", lambda: w.get("configmaps", "blocks")["metadata"].get("deletionTimestamp"))
    w.stays("held", lambda: w.find("configmaps", "top"))


@story()
def garbage_in_the_foreground_ends(w):
    garbage_in_the_foreground(w)
    w.patch("configmaps", "blocks", {"metadata": {"finalizers": None}})
    w.gone("configmaps", "top")
    w.until("going, too", lambda: w.get("configmaps", "does-not")["metadata"].get("deletionTimestamp"))


@story()
def garbage_orphaned(w):
    top = config(w, "top")
    config(w, "child", owner_of(top, controller=True))
    w.delete("configmaps", "top", "Orphan")
    w.gone("configmaps", "top")
    w.until("alone", lambda: not w.get("configmaps", "child")["metadata"].get("ownerReferences"))


@story()
def garbage_with_two_owners(w):
    """One that is left keeps it; the other is forgotten."""
    first, second = config(w, "first"), config(w, "second")
    config(w, "child", owner_of(first), owner_of(second))
    w.delete("configmaps", "first")
    w.until("forgotten", lambda: len(w.get("configmaps", "child")["metadata"]["ownerReferences"]) == 1)


@story()
def garbage_with_no_owner_left(w):
    garbage_with_two_owners(w)
    w.delete("configmaps", "second")
    w.gone("configmaps", "child")


@story()
def garbage_of_a_wrong_uid(w):
    """An owner of that name is there, and is not the one that was meant."""
    top = config(w, "top")
    config(w, "child", dict(owner_of(top), uid="00000000-1111-2222-3333-444444444444"))
    w.gone("configmaps", "child")


@story()
def garbage_of_an_owner_that_never_was(w):
    config(w, "child", {"apiVersion": "v1", "kind": "Secret", "name": "never", "uid": "00000000-1111-2222-3333-444444444445"})
    w.gone("configmaps", "child")


@story()
def garbage_of_a_kind_that_is_not(w):
    """Nobody knows whether that owner is there: it is kept."""
    config(w, "child", {"apiVersion": "example.com/v1", "kind": "Nothing", "name": "n", "uid": "00000000-1111-2222-3333-444444444446"})
    w.stays("there", lambda: w.find("configmaps", "child"))


@story()
def garbage_owned_across_kinds(w):
    node = w.node("n")
    owned = {"apiVersion": "v1", "kind": "Node", "name": node, "uid": w.get("nodes", node)["metadata"]["uid"]}
    config(w, "child", owned)
    w.pod("p")
    config(w, "of-the-pod", owner_of(w.get("pods", "p"), "Pod"))
    w.delete("pods", "p", grace=0)
    w.gone("configmaps", "of-the-pod")
    w.heart.remove(node)
    w.delete("nodes", node)
    w.gone("configmaps", "child")


@story()
def garbage_that_is_held(w):
    top = config(w, "top")
    config(w, "child", owner_of(top), finalizers=["example.com/held"])
    w.delete("configmaps", "top")
    w.until("going", lambda: w.get("configmaps", "child")["metadata"].get("deletionTimestamp"))


@story()
def garbage_in_a_circle(w):
    """Two that block each other, deleted in the foreground, do not wait for ever."""
    first = config(w, "first")
    second = config(w, "second", owner_of(first, blockOwnerDeletion=True))
    w.patch("configmaps", "first", {"metadata": {"ownerReferences": [owner_of(second, blockOwnerDeletion=True)]}})
    w.delete("configmaps", "first", "Foreground")
    w.gone("configmaps", "first")
    w.gone("configmaps", "second")


# ---- Namespaces ----

def space(w, name):
    whole = w.own(name)
    w.make("namespaces", whole)
    w.until("an account", lambda: w.api.get("/api/v1/namespaces/%s/serviceaccounts/default" % whole, also=(404,)))
    return whole


@story()
def namespace_goes(w):
    whole = space(w, "inner")
    for name in ("a", "b"):
        w.api.create("/api/v1/namespaces/%s/configmaps" % whole, {"metadata": {"name": name}})
    w.api.create("/api/v1/namespaces/%s/services" % whole, {"metadata": {"name": "s"}, "spec": {"selector": {"x": "y"}, "ports": [{"port": 80}]}})
    w.api.create("/apis/apps/v1/namespaces/%s/deployments" % whole, {"metadata": {"name": "d"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "c", "image": "i"}]}}}})
    w.delete("namespaces", whole)
    w.gone("namespaces", whole)
    left = [o for kind in ("pods", "configmaps", "services") for o in w.api.items("/api/v1/" + kind) if o["metadata"]["namespace"] == whole]
    assert not left, left


@story()
def namespace_is_held(w):
    """Something in it has a finalizer: conditions say what."""
    whole = space(w, "inner")
    w.api.create("/api/v1/namespaces/%s/configmaps" % whole, {"metadata": {"name": "a", "finalizers": ["example.com/held"]}})
    w.delete("namespaces", whole)
    w.until("told", lambda: w.condition("namespaces", whole, "NamespaceFinalizersRemaining"))
    w.until("content", lambda: w.condition("namespaces", whole, "NamespaceContentRemaining"))


@story()
def namespace_is_let_go(w):
    namespace_is_held(w)
    whole = w.own("inner")
    w.api.call("PATCH", "/api/v1/namespaces/%s/configmaps/a" % whole, {"metadata": {"finalizers": None}}, kind="application/merge-patch+json")
    w.gone("namespaces", whole)


@story()
def namespace_waits_for_pods(w):
    """Pods on nodes end at their own pace."""
    whole = space(w, "inner")
    node = w.node("n")
    w.api.create("/api/v1/namespaces/%s/pods" % whole, {"metadata": {"name": "p"}, "spec": {
        "nodeName": node, "containers": [{"name": "c", "image": "i"}]}})
    w.delete("namespaces", whole)
    w.until("told", lambda: w.condition("namespaces", whole, "NamespaceContentRemaining", "False"))


@story()
def namespace_deletes_pods_first(w):
    """What else is in it stays until they are gone."""
    whole = space(w, "inner")
    node = w.node("n")
    w.extra = (whole,)
    for name in ("secrets", "configmaps"):
        w.api.create("/api/v1/namespaces/%s/%s" % (whole, name), {"metadata": {"name": "kept"}})
    w.api.create("/api/v1/namespaces/%s/pods" % whole, {"metadata": {"name": "p"}, "spec": {
        "nodeName": node, "terminationGracePeriodSeconds": 3600, "containers": [{"name": "c", "image": "i"}]}})
    w.delete("namespaces", whole)
    w.until("going", lambda: w.api.get("/api/v1/namespaces/%s/pods/p" % whole)["metadata"].get("deletionTimestamp"))
    w.until("told", lambda: w.status("namespaces", whole).get("conditions"))


@story()
def namespace_whose_pods_are_late(w):
    """They have had their time."""
    whole = space(w, "inner")
    node = w.node("n")
    w.api.create("/api/v1/namespaces/%s/pods" % whole, {"metadata": {"name": "p"}, "spec": {
        "nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "i"}]}})
    w.delete("namespaces", whole)
    w.until("told", lambda: w.condition("namespaces", whole, "NamespaceDeletionContentFailure"))


@story()
def namespace_goes_after_its_pods(w):
    namespace_whose_pods_are_late(w)
    whole = w.own("inner")
    w.api.call("DELETE", "/api/v1/namespaces/%s/pods/p" % whole, {"gracePeriodSeconds": 0})
    w.gone("namespaces", whole)
