"""Rows for volumes of pods, their mounts and devices; see rule_rows.py."""
from rule_rows import Rows
from rules_pods import POD

pods = Rows("v1", "pods", POD)
V = "spec.volumes"
M = "spec.containers.0.volumeMounts"
D = "spec.containers.0.volumeDevices"


def volume(what, source, name="v"):
    pods.create("%s: %s" % (what, str(source)[:70]), {V: [dict({"name": name}, **source)]})


for kind, sources in {
    "emptyDir": [{}, {"sizeLimit": "-1"}, {"sizeLimit": "1Gi", "medium": "Memory"}],
    "hostPath": [{}, {"path": ""}, {"path": "/a/../b"}, {"path": "a", "type": "Directory"}, {"path": "/a", "type": "x"}, {"path": "..a"}],
    "gitRepo": [{"repository": ""}, {"repository": "r", "directory": "/x"}, {"repository": "r", "directory": "a/../b"}],
    "gcePersistentDisk": [{"pdName": ""}, {"pdName": "a", "partition": 256}, {"pdName": "a", "partition": -1}],
    "awsElasticBlockStore": [{"volumeID": ""}, {"volumeID": "a", "partition": 300}],
    "secret": [{}, {"secretName": "s"}, {"secretName": "s", "defaultMode": 512}, {"secretName": "s", "items": [{"key": "", "path": ""}]},
               {"secretName": "s", "items": [{"key": "a", "path": "../x"}, {"key": "b", "path": "/x"}, {"key": "c", "path": "..x", "mode": -1}, {"key": "d", "path": "a/b"}]},
               {"secretName": "s", "items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x/y"}, {"key": "c", "path": "x/"}, {"key": "d", "path": "xy"}]}],
    "configMap": [{}, {"name": "c"}, {"name": "c", "defaultMode": -1, "items": [{"key": "a"}]}, {"name": "c", "items": [{"key": "a", "path": "p"}, {"key": "b", "path": "p"}]}],
    "nfs": [{"server": "", "path": ""}, {"server": "s", "path": "x"}, {"server": "s", "path": "/x"}],
    "iscsi": [{"targetPortal": "", "iqn": "", "lun": 0}, {"targetPortal": "t", "iqn": "x", "lun": 256}, {"targetPortal": "t", "iqn": "iqn.x", "lun": -1},
              {"targetPortal": "t", "iqn": "iqn.2001-04.com.example:storage", "lun": 0}, {"targetPortal": "t", "iqn": "eui.0123456789abcdef", "lun": 0},
              {"targetPortal": "t", "iqn": "naa.x", "lun": 0, "chapAuthSession": True}, {"targetPortal": "t", "iqn": "eui.x", "lun": 0, "initiatorName": "y"},
              {"targetPortal": "x" * 64, "iqn": "iqn.2001-04.com.example:a b", "lun": 0, "initiatorName": "iqn.2001-04.com.example:s"}],
    "glusterfs": [{"endpoints": "", "path": ""}, {"endpoints": "e", "path": "p"}],
    "flocker": [{}, {"datasetName": "a", "datasetUUID": "b"}, {"datasetName": "a/b"}, {"datasetUUID": "u"}],
    "persistentVolumeClaim": [{"claimName": ""}, {"claimName": "c", "readOnly": True}],
    "rbd": [{"monitors": [], "image": ""}, {"monitors": ["m"], "image": "i"}],
    "cinder": [{"volumeID": ""}, {"volumeID": "v", "secretRef": {"name": ""}}, {"volumeID": "v", "secretRef": {}}],
    "cephfs": [{"monitors": []}, {"monitors": ["m"]}],
    "quobyte": [{"registry": "", "volume": ""}, {"registry": "a:1,b", "volume": "v"}, {"registry": "a:1", "volume": "v", "tenant": "x" * 65}, {"registry": "a:1,[::1]:2", "volume": "v"}],
    "downwardAPI": [{}, {"defaultMode": 600}, {"items": [{"path": ""}]}, {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]},
                    {"items": [{"path": "..a", "fieldRef": {"fieldPath": "spec.nodeName"}}, {"path": "/a", "resourceFieldRef": {"resource": "limits.cpu"}}]},
                    {"items": [{"path": "a", "mode": 600, "fieldRef": {"fieldPath": "metadata.labels"}, "resourceFieldRef": {"resource": "x"}}]},
                    {"items": [{"path": "a", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "3"}}]},
                    {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}, {"path": "a/b", "fieldRef": {"fieldPath": "metadata.name"}}]}],
    "fc": [{}, {"targetWWNs": ["a"]}, {"targetWWNs": ["a"], "lun": 256}, {"wwids": ["a"]}, {"wwids": ["a"], "targetWWNs": ["b"], "lun": 1}],
    "flexVolume": [{"driver": ""}, {"driver": "d", "options": {"a": "b", "X.K8S.io/y": "z"}}],
    "azureFile": [{"secretName": "", "shareName": ""}, {"secretName": "s", "shareName": "t"}],
    "vsphereVolume": [{"volumePath": ""}, {"volumePath": "p"}],
    "photonPersistentDisk": [{"pdID": ""}, {"pdID": "p"}],
    "portworxVolume": [{"volumeID": ""}, {"volumeID": "p"}],
    "azureDisk": [{"diskName": "", "diskURI": ""}, {"diskName": "a", "diskURI": "b", "cachingMode": "x", "kind": "y"}, {"diskName": "a", "diskURI": "https://x", "kind": "Managed"},
                  {"diskName": "a", "diskURI": "https://x"}, {"diskName": "a", "diskURI": "/subscriptions/x", "kind": "Managed", "cachingMode": "None"}],
    "storageos": [{}, {"volumeName": "A", "volumeNamespace": "B", "secretRef": {}}, {"volumeName": "a"}],
    "scaleIO": [{"gateway": "", "system": "", "secretRef": {}}, {"gateway": "g", "system": "s", "secretRef": {"name": "x"}, "volumeName": "v"}],
    "csi": [{"driver": ""}, {"driver": "D.x"}, {"driver": "a b"}, {"driver": "x" * 64}, {"driver": "d", "nodePublishSecretRef": {}}, {"driver": "d", "nodePublishSecretRef": {"name": "A"}}],
    "image": [{}, {"reference": "i"}, {"reference": "i:1", "pullPolicy": "x"}, {"reference": "i:1"}],
}.items():
    for source in sources:
        volume(kind, {kind: source})

volume("no source", {})
volume("two sources", {"emptyDir": {}, "hostPath": {"path": "/x"}})
volume("many sources", {"hostPath": {"path": ""}, "cephfs": {"monitors": []}, "downwardAPI": {}, "csi": {"driver": ""}, "gcePersistentDisk": {"pdName": ""}})
for name in ["", "V", "x" * 64]:
    volume("a name", {"emptyDir": {}}, name)
pods.create("two volumes of a name", {V: [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]})
pods.create("two volumes of a name, the first one wrong", {V: [{"name": "v", "secret": {}}, {"name": "v", "emptyDir": {}}]})

for source in [
        {"secret": {"name": ""}}, {"secret": {"name": "s", "items": [{"key": "a", "path": "p"}]}}, {"configMap": {"items": [{"key": "", "path": ".."}]}}, {},
        {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}}, {"path": ""}]}}, {"serviceAccountToken": {"path": "t"}},
        {"serviceAccountToken": {"path": "", "expirationSeconds": 5}}, {"serviceAccountToken": {"path": "/t", "expirationSeconds": 1 << 33}},
        {"secret": {"name": "a"}, "configMap": {"name": "b"}}, {"clusterTrustBundle": {"path": "x", "name": "n"}}, {"podCertificate": {"keyType": "x", "signerName": "a/b"}}]:
    volume("projected", {"projected": {"sources": [source]}})
    pods.create("projected for an account: %s" % str(source)[:60], {"spec.serviceAccountName": "a", V: [{"name": "v", "projected": {"defaultMode": 9999, "sources": [
        {"secret": {"name": "x", "items": [{"key": "k", "path": "p"}]}}, source]}}]})
pods.create("tokens overlap", {"spec.serviceAccountName": "a", V: [{"name": "v", "projected": {"sources": [
    {"serviceAccountToken": {"path": "a/b"}}, {"configMap": {"name": "c", "items": [{"key": "k", "path": "a"}]}}, {"downwardAPI": {"items": [
        {"path": "a/b/c", "fieldRef": {"fieldPath": "metadata.name"}}]}}, {"secret": {"name": "s", "items": [{"key": "k", "path": "x/"}]}}]}}]})
pods.create("paths conflict", {V: [{"name": "v", "projected": {"sources": [
    {"configMap": {"name": "c", "items": [{"key": "k", "path": "a"}]}}, {"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}},
    {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}}]})

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
for template in [
        None, {}, {"spec": CLAIM}, {"spec": dict(CLAIM, accessModes=[])}, {"spec": dict(CLAIM, accessModes=["x", "ReadWriteOncePod", "ReadWriteMany"])},
        {"spec": dict(CLAIM, resources={})}, {"spec": dict(CLAIM, resources={"requests": {"storage": "0"}})}, {"spec": dict(CLAIM, resources={"requests": {"storage": "1.5"}, "limits": {"storage": "1500m"}})},
        {"spec": dict(CLAIM, storageClassName="A", volumeMode="x", volumeAttributesClassName="B")}, {"spec": dict(CLAIM, storageClassName="", selector={"matchLabels": {"a b": "c d"}})},
        {"metadata": {"labels": {"a b": "c"}, "annotations": {"a b": "c"}, "name": "n", "namespace": "x", "finalizers": ["x/y"]}, "spec": CLAIM},
        {"spec": dict(CLAIM, dataSource={"kind": "", "name": ""})}, {"spec": dict(CLAIM, dataSource={"kind": "PersistentVolumeClaim", "name": "a"})},
        {"spec": dict(CLAIM, dataSource={"kind": "K", "name": "a", "apiGroup": "G x"}, dataSourceRef={"kind": "K", "name": "b", "apiGroup": "g"})},
        {"spec": dict(CLAIM, dataSourceRef={"kind": "K", "name": "b", "apiGroup": "g"})}]:
    volume("ephemeral", {"ephemeral": {} if template is None else {"volumeClaimTemplate": template}})
pods.create("a claim that will be made", {"spec.volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}, {"name": "w", "persistentVolumeClaim": {"claimName": "p-v"}}]})
pods.create("a claim with too long a name", {"metadata.name": "a" * 250, "spec.volumes": [{"name": "volume", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}]})

VOLUMES = [{"name": "v", "emptyDir": {}}, {"name": "c", "persistentVolumeClaim": {"claimName": "x"}}, {"name": "w", "emptyDir": {}}]
for mounts in [
        [{"name": "v", "mountPath": "/a"}], [{"name": "", "mountPath": ""}], [{"name": "x", "mountPath": "/a"}], [{"name": "v", "mountPath": "/a"}, {"name": "w", "mountPath": "/a"}],
        [{"name": "v", "mountPath": "/a", "subPath": "/x"}], [{"name": "v", "mountPath": "/a", "subPath": "a/../b", "subPathExpr": "../$(A)"}], [{"name": "v", "mountPath": "/a", "subPathExpr": "$(A)"}],
        [{"name": "v", "mountPath": "/a", "mountPropagation": "x"}], [{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}],
        [{"name": "v", "mountPath": "/a", "recursiveReadOnly": "Enabled"}], [{"name": "v", "mountPath": "/a", "recursiveReadOnly": "x"}], [{"name": "v", "mountPath": "a:b"}],
        [{"name": "v", "mountPath": "/a", "recursiveReadOnly": "IfPossible", "readOnly": True, "mountPropagation": "HostToContainer"}],
        [{"name": "v", "mountPath": "/a", "recursiveReadOnly": "IfPossible", "readOnly": True}]]:
    pods.create("mounts: %s" % str(mounts)[:90], {V: VOLUMES, M: mounts})
pods.create("a privileged mount", {V: VOLUMES, M: [{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}], "spec.containers.0.securityContext.privileged": True})
pods.create("a mount of a wrong volume", {V: [{"name": "v", "secret": {}}], M: [{"name": "v", "mountPath": "/a"}]})
for devices in [
        [{"name": "c", "devicePath": "/d"}], [{"name": "", "devicePath": ""}], [{"name": "v", "devicePath": "/d"}], [{"name": "x", "devicePath": "/d"}],
        [{"name": "c", "devicePath": "/d"}, {"name": "c", "devicePath": "/d"}], [{"name": "c", "devicePath": "/d/../e"}, {"name": "c", "devicePath": "/d/../e"}]]:
    pods.create("devices: %s" % str(devices)[:90], {V: VOLUMES, D: devices})
pods.create("mounts and devices in the same place", {V: VOLUMES, M: [{"name": "v", "mountPath": "/d"}, {"name": "c", "mountPath": "/e"}], D: [{"name": "c", "devicePath": "/d"}]})

ROWS = pods.rows
