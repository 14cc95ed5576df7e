"""Stories of volumes and claims. There is no provisioner: volumes are there, or are waited for."""
from controller_story import story


def volume(w, name, size="5Gi", wait=True, **spec):
    w.make("persistentvolumes", w.own(name), dict({"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
                                                   "storageClassName": w.own("manual")}, **spec))
    if wait:
        is_(w, name, "Available")


def claim(w, name, size="2Gi", **spec):
    w.make("persistentvolumeclaims", name, dict({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
                                                 "storageClassName": w.own("manual")}, **spec))


def is_(w, name, phase):
    w.until(phase, lambda: w.status("persistentvolumes", w.own(name)).get("phase") == phase)


def bound(w, name, to=None):
    w.until("bound", lambda: w.status("persistentvolumeclaims", name).get("phase") == "Bound")
    if to:
        got = w.get("persistentvolumeclaims", name)["spec"]["volumeName"]
        assert got == w.own(to), "%s is bound to %s" % (name, got)


@story()
def volume_is_free(w):
    volume(w, "v")


@story()
def claim_takes_the_smallest(w):
    for name, size in (("large", "10Gi"), ("right", "5Gi"), ("small", "1Gi")):
        volume(w, name, size)
    claim(w, "c")
    bound(w, "c", "right")


@story()
def claim_waits_for_a_volume(w):
    claim(w, "c")
    w.until("pending", lambda: w.status("persistentvolumeclaims", "c").get("phase") == "Pending")
    volume(w, "v", wait=False)
    bound(w, "c", "v")
    w.hidden.add("events")  # how often it was looked for


@story()
def claim_without_a_class(w):
    w.make("persistentvolumeclaims", "c", {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}},
                                           "selector": {"matchLabels": {"of": w.ns}}})
    w.until("told", lambda: w.told("FailedBinding"))


@story()
def claim_of_an_unknown_class(w):
    claim(w, "c")
    w.until("told", lambda: w.told("ProvisioningFailed"))


@story()
def claim_by_labels(w):
    volume(w, "v1")
    w.make("persistentvolumes", w.own("v2"), {"capacity": {"storage": "50Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
                                              "storageClassName": w.own("manual")}, {"labels": {"kind": "fast"}})
    is_(w, "v2", "Available")
    claim(w, "c", selector={"matchLabels": {"kind": "fast"}})
    bound(w, "c", "v2")


@story()
def claim_by_access_mode(w):
    volume(w, "v1")
    volume(w, "v2", "20Gi", accessModes=["ReadWriteMany", "ReadOnlyMany"])
    claim(w, "c", accessModes=["ReadWriteMany"])
    bound(w, "c", "v2")


@story()
def claim_by_volume_mode(w):
    volume(w, "v1")
    volume(w, "v2", "20Gi", volumeMode="Block")
    claim(w, "c", volumeMode="Block")
    bound(w, "c", "v2")


@story()
def claim_names_its_volume(w):
    volume(w, "v1")
    volume(w, "v2", "20Gi")
    claim(w, "c", volumeName=w.own("v2"))
    bound(w, "c", "v2")


@story()
def claim_names_a_taken_volume(w):
    volume(w, "v")
    claim(w, "first")
    bound(w, "first", "v")
    claim(w, "second", volumeName=w.own("v"))
    w.until("told", lambda: w.told("FailedBinding"))


@story()
def claim_names_a_volume_that_is_not(w):
    claim(w, "c", volumeName=w.own("later"))
    w.until("pending", lambda: w.status("persistentvolumeclaims", "c").get("phase") == "Pending")
    volume(w, "later", wait=False)
    bound(w, "c", "later")


@story()
def volume_names_its_claim(w):
    volume(w, "v", claimRef={"namespace": w.ns, "name": "c"})
    claim(w, "c", "1Gi")
    bound(w, "c", "v")


@story()
def volume_is_released(w):
    volume(w, "v")
    claim(w, "c")
    bound(w, "c", "v")
    w.delete("persistentvolumeclaims", "c")
    is_(w, "v", "Released")


@story()
def volume_released_is_not_taken(w):
    """A claim of the same name is another one."""
    volume_is_released(w)
    claim(w, "c")
    w.until("told", lambda: w.told("ProvisioningFailed"))


@story()
def volume_released_is_freed(w):
    volume_is_released(w)
    w.patch("persistentvolumes", w.own("v"), {"spec": {"claimRef": None}})
    is_(w, "v", "Available")


@story()
def volume_cannot_be_deleted(w):
    """There is nobody who could: the plugin of such volumes is not there."""
    volume(w, "v", persistentVolumeReclaimPolicy="Delete", hostPath=None, nfs={"server": "x", "path": "/y"})
    claim(w, "c")
    bound(w, "c", "v")
    w.delete("persistentvolumeclaims", "c")
    is_(w, "v", "Failed")
    w.until("told", lambda: [e for e in w.api.items("/api/v1/events") if e["reason"] == "VolumeFailedDelete" and
                             e["involvedObject"]["name"] == w.own("v")])


@story()
def volume_of_a_host_cannot_be_deleted(w):
    volume(w, "v", persistentVolumeReclaimPolicy="Delete")
    claim(w, "c")
    bound(w, "c", "v")
    w.delete("persistentvolumeclaims", "c")
    is_(w, "v", "Failed")


@story()
def volume_is_deleted_by_others(w):
    volume(w, "v", persistentVolumeReclaimPolicy="Delete", hostPath=None, csi={"driver": "example.com", "volumeHandle": "h"})
    claim(w, "c")
    bound(w, "c", "v")
    w.delete("persistentvolumeclaims", "c")
    is_(w, "v", "Released")


@story()
def claim_names_a_volume_that_does_not_fit(w):
    volume(w, "v", accessModes=["ReadOnlyMany"])
    claim(w, "c", volumeName=w.own("v"))
    w.until("told", lambda: w.told("VolumeMismatch"))


@story()
def claim_of_a_class_without_provisioner(w):
    w.create("storageclasses", {"metadata": {"name": w.own("manual")}, "provisioner": "kubernetes.io/no-provisioner"})
    claim(w, "c")
    w.until("told", lambda: w.items("events"))


@story()
def volume_is_gone(w):
    """The claim has lost it."""
    volume(w, "v")
    claim(w, "c")
    bound(w, "c", "v")
    w.patch("persistentvolumes", w.own("v"), {"metadata": {"finalizers": None}})
    w.delete("persistentvolumes", w.own("v"))
    w.patch("persistentvolumes", w.own("v"), {"metadata": {"finalizers": None}}) if w.find("persistentvolumes", w.own("v")) else None
    w.until("lost", lambda: w.status("persistentvolumeclaims", "c").get("phase") == "Lost")


@story()
def volume_in_use_stays(w):
    volume(w, "v")
    claim(w, "c")
    bound(w, "c", "v")
    w.delete("persistentvolumes", w.own("v"))
    w.stays("there", lambda: w.find("persistentvolumes", w.own("v")))


@story()
def volume_in_use_goes_later(w):
    volume_in_use_stays(w)
    w.delete("persistentvolumeclaims", "c")
    w.gone("persistentvolumes", w.own("v"))


def user(w, claim_name):
    node = w.node("n")
    w.pod("user", node, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}])
    w.set_phase("user", "Running")


@story()
def claim_in_use_stays(w):
    volume(w, "v")
    claim(w, "c")
    bound(w, "c", "v")
    user(w, "c")
    w.delete("persistentvolumeclaims", "c")
    w.stays("there", lambda: w.find("persistentvolumeclaims", "c"))


@story()
def claim_in_use_goes_later(w):
    claim_in_use_stays(w)
    w.delete("pods", "user", grace=0)
    w.gone("persistentvolumeclaims", "c")
    is_(w, "v", "Released")


@story()
def claim_whose_user_has_ended(w):
    """It is its user's as long as that is there."""
    claim_in_use_stays(w)
    w.set_phase("user", "Succeeded")
    w.stays("there", lambda: w.find("persistentvolumeclaims", "c"))


def late_class(w, provisioner="kubernetes.io/no-provisioner"):
    w.create("storageclasses", {"metadata": {"name": w.own("manual")}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})


@story()
def claim_waits_for_its_pod(w):
    late_class(w)
    volume(w, "v")
    claim(w, "c")
    w.until("told", lambda: w.told("WaitForFirstConsumer"))
    w.stays("pending", lambda: w.status("persistentvolumeclaims", "c").get("phase") == "Pending")


@story()
def claim_is_bound_by_the_scheduler(w):
    """It writes the claim into the volume; the controller does the rest."""
    claim_waits_for_its_pod(w)
    uid = w.get("persistentvolumeclaims", "c")["metadata"]["uid"]
    w.patch("persistentvolumes", w.own("v"), {"metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}, "spec": {
        "claimRef": {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": w.ns, "name": "c", "uid": uid}}})
    bound(w, "c", "v")


@story()
def claim_waits_for_a_provisioner(w):
    """Somebody outside makes the volume."""
    w.create("storageclasses", {"metadata": {"name": w.own("manual")}, "provisioner": "example.com/outside"})
    claim(w, "c")
    w.until("told", lambda: w.told("ExternalProvisioning"))


@story()
def claim_waits_for_a_provisioner_on_a_node(w):
    late_class(w, "example.com/outside")
    node = w.node("n")
    claim(w, "c")
    w.until("told", lambda: w.told("WaitForFirstConsumer"))
    w.patch("persistentvolumeclaims", "c", {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": node}}})
    w.until("told", lambda: w.told("ExternalProvisioning"))


@story()
def claim_is_provisioned_outside(w):
    claim_waits_for_a_provisioner(w)
    c = w.get("persistentvolumeclaims", "c")
    volume(w, "made", "2Gi", wait=False, persistentVolumeReclaimPolicy="Retain", claimRef={
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": w.ns, "name": "c", "uid": c["metadata"]["uid"]})
    bound(w, "c", "made")


@story()
def two_claims_and_one_volume(w):
    volume(w, "v")
    claim(w, "c1")
    bound(w, "c1", "v")
    claim(w, "c2")
    w.until("told", lambda: w.told("ProvisioningFailed"))


@story()
def volume_too_small_for_its_claim(w):
    """It names the claim, and has not enough."""
    volume(w, "v", "1Gi", wait=False, claimRef={"namespace": w.ns, "name": "c"})
    claim(w, "c", "2Gi")
    w.until("told", lambda: w.told("ProvisioningFailed"))
