"""Rows for the resource group; see rule_rows.py."""
from rule_rows import DROP, Rows

GROUP = "resource.k8s.io/v1"
EXACTLY = {"deviceClassName": "c"}
REQUEST = {"name": "r", "exactly": EXACTLY}
OPAQUE = {"opaque": {"driver": "d", "parameters": {"a": 1}}}
SPEC = {"devices": {"requests": [REQUEST]}}


def claim_rows(rows, at):
    rows.create("a plain one")
    rows.create("no requests", {at + "devices": {}})
    rows.create("nothing in a request", {at + "devices.requests": [{"name": ""}]})
    rows.create("too much in a request", {at + "devices.requests": [{"name": "r", "exactly": EXACTLY, "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}]})
    rows.create("a request twice", {at + "devices.requests": [REQUEST, REQUEST]})
    rows.create("too many requests", {at + "devices.requests": [{"name": "r%d" % i, "exactly": EXACTLY} for i in range(33)]})
    rows.create("first available", {at + "devices.requests": [{"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c"}, {"name": "a", "deviceClassName": ""}, {"name": "B_", "deviceClassName": "C_"}]}]})
    rows.create("bad exactly", {at + "devices.requests.0.exactly": {"deviceClassName": "", "allocationMode": "X", "selectors": [{}], "tolerations": [
        {"key": "a b", "operator": "X", "effect": "Y"}, {"operator": "Exists", "value": "v"}, {"operator": "Equal", "value": "v w"}]}})
    rows.create("all", {at + "devices.requests.0.exactly": {"deviceClassName": "c", "allocationMode": "All", "count": 3}})
    rows.create("less than one", {at + "devices.requests.0.exactly": {"deviceClassName": "c", "count": -3}})
    rows.create("constraints", {at + "devices.constraints": [{"requests": ["r", "x", "r", "a/b/c", "R_"], "matchAttribute": "a.b/c"}, {"matchAttribute": "c"}, {"distinctAttribute": "/"}, {}]})
    rows.create("config", {at + "devices.config": [{"requests": ["r"], **OPAQUE}, {}, {"opaque": {"driver": "D_", "parameters": None}}, {"opaque": {"driver": "d", "parameters": [1]}}]})
    rows.create("a reference to a subrequest", {at + "devices.requests": [{"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}], at + "devices.config": [{"requests": ["r/a", "r/b"], **OPAQUE}]})


claims = Rows(GROUP, "resourceclaims", {"apiVersion": GROUP, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": SPEC})
claim_rows(claims, "spec.")
RESULT = {"request": "r", "driver": "d", "pool": "p", "device": "x"}
ALLOCATED = {"allocation": {"devices": {"results": [RESULT]}}}
CONSUMER = {"resource": "pods", "name": "p", "uid": "u"}
claims.create("status is dropped", {"status": {"reservedFor": [CONSUMER]}})
claims.update("nothing", {})
claims.update("another class", {"spec.devices.requests.0.exactly.deviceClassName": "d"})
claims.status("allocated", {"status": {**ALLOCATED, "reservedFor": [CONSUMER]}, "metadata.labels": {"a": "b"}})
claims.status("reserved and not allocated", {"status": {"reservedFor": [CONSUMER]}})
claims.status("bad consumers", {"status": {**ALLOCATED, "reservedFor": [CONSUMER, CONSUMER, {}]}})
claims.status("bad results", {"status": {"allocation": {"devices": {"results": [{"request": "x", "driver": "", "pool": "", "device": "D_", "shareID": "y"},
                                                                           dict(RESULT, pool="A_/b", bindingConditions=["a"], shareID="AAAAAAAA-2222-3333-4444-555555555555")],
                                                            "config": [{"source": "X", "requests": ["r"]}, {"source": "FromClass", **OPAQUE}]},
                                                "nodeSelector": {"nodeSelectorTerms": []}}}})
claims.status("the allocation changes", {"status.allocation.devices.results.0.device": "y"}, was={"status": ALLOCATED})
claims.status("deallocated", {"status": {}}, was={"status": ALLOCATED})
DELETED = {"metadata.finalizers": ["a.b/c"], "metadata.deletionTimestamp": "2026-01-01T00:00:00Z"}
claims.status("a new consumer of a claim that goes", {"status": {**ALLOCATED, "reservedFor": [CONSUMER]}}, was={"status": ALLOCATED, **DELETED})
claims.status("an old consumer of a claim that goes", {"status": {**ALLOCATED, "reservedFor": [CONSUMER]}}, was={"status": {**ALLOCATED, "reservedFor": [CONSUMER]}, **DELETED})
DEVICE = {"driver": "d", "pool": "p", "device": "x"}
claims.status("devices", {"status": {**ALLOCATED, "devices": [dict(DEVICE, networkData={"ips": ["10.0.0.1/24"]}, data={"a": 1})]}})
claims.status("bad networks", {"status": {**ALLOCATED, "devices": [dict(DEVICE, networkData={"ips": ["10.0.0.1", "10.0.0.1/024", "10.0.0.1/24", "10.0.0.1/24"], "interfaceName": "x" * 300, "hardwareAddress": "y" * 200},
                                                                        data=[1], conditions=[{"type": "a b", "status": "X", "reason": "", "message": "", "lastTransitionTime": None}])]}})

templates = Rows(GROUP, "resourceclaimtemplates", {"apiVersion": GROUP, "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}, "spec": {"spec": SPEC}})
claim_rows(templates, "spec.spec.")
templates.create("bad metadata", {"spec.metadata": {"labels": {"a b": "c"}, "annotations": {"d e": "f"}}})
templates.update("another class", {"spec.spec.devices.requests.0.exactly.deviceClassName": "d"})

classes = Rows(GROUP, "deviceclasses", {"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}})
classes.create("a class")
classes.create("a bad name", {"metadata.name": "C_"})
classes.create("parts", {"spec": {"selectors": [{}], "config": [{}, OPAQUE], "extendedResourceName": "cpu"}})
classes.create("a resource", {"spec.extendedResourceName": "example.com/gpu"})
classes.update("another resource", {"spec.extendedResourceName": "example.com/gpu"})
classes.update("nothing", {})

slices = Rows(GROUP, "resourceslices", {"apiVersion": GROUP, "kind": "ResourceSlice", "metadata": {"name": "s"},
                                        "spec": {"driver": "d", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1, "generation": 1}, "devices": [{"name": "x"}]}})
slices.create("a slice")
slices.create("a driver in capitals", {"spec.driver": "D.x"})
slices.create("nothing in it", {"spec": {"driver": "", "pool": {"name": "", "resourceSliceCount": 0, "generation": -1}}})
slices.create("no node", {"spec.nodeName": ""})
slices.create("a bad node", {"spec.nodeName": "N_"})
slices.create("nodes in several ways", {"spec.allNodes": True, "spec.nodeSelector": {"nodeSelectorTerms": []}})
slices.create("not true", {"spec.allNodes": False, "spec.perDeviceNodeSelection": False})
slices.create("nodes by device", {"spec.nodeName": DROP, "spec.perDeviceNodeSelection": True, "spec.devices": [{"name": "x", "nodeName": "n"}, {"name": "y"}, {"name": "z", "nodeName": "", "allNodes": False}, {"name": "w", "nodeName": "n", "allNodes": True}]})
slices.create("nodes of a device", {"spec.devices": [{"name": "x", "nodeName": "n"}]})
slices.create("counters and devices", {"spec.sharedCounters": [{"name": "c", "counters": {"a": {"value": "1"}}}]})
slices.create("counters", {"spec.devices": DROP, "spec.sharedCounters": [{"name": "c", "counters": {"a": {"value": "1"}}}, {"name": "c", "counters": {"A_": {"value": "1"}}}, {"name": "", "counters": {}}]})
slices.create("devices", {"spec.devices": [{"name": "X_"}, {"name": "x"}, {"name": "x"}]})
slices.create("too many devices", {"spec.devices": [{"name": "x%d" % i} for i in range(129)]})
TAINTED = {"taints": [{"key": "a", "effect": "None", "timeAdded": "2026-01-01T00:00:00Z"}]}
slices.create("as many devices with taints as may be", {"spec.devices": [{"name": "x%d" % i, **TAINTED} for i in range(64)]})
slices.create("too many devices with taints", {"spec.devices": [{"name": "x%d" % i, **TAINTED} for i in range(65)]})
slices.create("as many devices as may be", {"spec.devices": [{"name": "x%d" % i} for i in range(128)]})
slices.create("too many taints", {"spec.devices": [{"name": "x", "taints": TAINTED["taints"] * 17}]})
slices.create("long names", {"spec.devices": [{"name": "x", "attributes": {"a" * 64 + ".b/" + "c" * 33: {"int": 1}}}]})
slices.create("too many counters", {"spec.devices": DROP, "spec.sharedCounters": [{"name": "c", "counters": {"a%d" % i: {"value": "1"} for i in range(33)}}]})
slices.create("too many sets", {"spec.devices": DROP, "spec.sharedCounters": [{"name": "c%d" % i, "counters": {"a": {"value": "1"}}} for i in range(9)]})
slices.create("attributes", {"spec.devices": [{"name": "x", "attributes": {"a.b/c": {"string": "v"}}}, {"name": "y", "attributes": {"d": {"version": "1.2.3-rc.1+b"}}}, {"name": "z", "attributes": {"d": {"version": "01.2"}}},
                                              {"name": "v", "attributes": {"d": {}}}, {"name": "u", "attributes": {"d e": {"int": 1}}}, {"name": "t", "attributes": {"d": {"string": "x" * 65}}}]})
slices.create("two values", {"spec.devices": [{"name": "x", "attributes": {"a": {"string": "v", "int": 1}}}]})
slices.create("a list is dropped", {"spec.devices": [{"name": "x", "attributes": {"a": {"string": "v", "strings": ["w"]}}}]})
slices.create("many attributes", {"spec.devices": [{"name": "x", "attributes": {"a%d" % i: {"int": 1} for i in range(33)}}]})
slices.create("taints", {"spec.devices": [{"name": "x", "taints": [{"key": "a b", "value": "c d", "effect": "X", "timeAdded": "2026-01-01T00:00:00Z"}, {"key": "", "timeAdded": "2026-01-01T00:00:00Z"}]}]})
slices.create("consumed counters", {"spec.devices": [{"name": "x", "consumesCounters": [{"counterSet": "c", "counters": {"a": {"value": "1"}}}, {"counterSet": "c", "counters": {}}]}]})
slices.create("conditions", {"spec.devices": [{"name": "x", "bindingConditions": ["a", "a", "b c"], "bindingFailureConditions": ["a"]}, {"name": "y", "bindingConditions": ["a"]}, {"name": "z", "bindingFailureConditions": ["a"]}]})


def capacity(policy, shared=True):
    return {"spec.devices": [{"name": "x", "allowMultipleAllocations": shared, "capacity": {"m": {"value": "10", "requestPolicy": policy}}}]}


slices.create("a policy without sharing", capacity({"default": "1", "validValues": ["1"]}, False))
slices.create("values", capacity({"default": "1", "validValues": ["1", "2"]}))
slices.create("bad values", capacity({"default": "3", "validValues": ["2", "1", "20", "2"]}))
slices.create("no default", capacity({"validValues": ["1"]}))
slices.create("a range", capacity({"default": "2", "validRange": {"min": "1", "max": "9", "step": "1"}}))
slices.create("a bad range", capacity({"default": "0", "validRange": {"min": "20", "max": "11", "step": "3"}}))
slices.create("a range without a minimum", capacity({"default": "2", "validRange": {"max": "9"}}))
slices.create("both", capacity({"default": "2", "validValues": ["2"], "validRange": {"min": "1"}}))
slices.update("nothing", {})
slices.update("another device", {"spec.devices": [{"name": "y"}]})
slices.update("what must stay", {"spec.driver": "e", "spec.pool.name": "q", "spec.nodeName": "m"})

ROWS = claims.rows + templates.rows + classes.rows + slices.rows
