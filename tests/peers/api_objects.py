"""Objects whose tables tests/peers/record_api.py records: (path of the collection, object, status or None).

What decides about a cell is there in each of its cases."""

TEMPLATE = {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c1", "image": "i1"}, {"name": "c2", "image": "i2:v2"}]}}
ONE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SELECTOR = {"matchLabels": {"a": "b"}}
WIDE_SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [
    {"key": "e", "operator": "In", "values": ["y", "x"]}, {"key": "f", "operator": "Exists"},
    {"key": "g", "operator": "NotIn", "values": ["z"]}, {"key": "h", "operator": "DoesNotExist"}]}
WIDE = {"metadata": {"labels": {"a": "b", "e": "x", "f": ""}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
LONG_AGO, SOME_TIME_AGO = "2020-02-03T04:05:06Z", "2026-01-02T03:04:05Z"
NS = "/api/v1/namespaces/tables"


def named(name, **rest):
    meta = {"name": name, **rest.pop("meta", {})}
    return {"metadata": meta, **rest}


def container(name, state=None, ready=False, restarts=0, last=None, **rest):
    return {"name": name, "image": "i", "imageID": "", "ready": ready, "restartCount": restarts,
            "state": state or {}, "lastState": last or {}, **rest}


RUNNING = {"running": {"startedAt": LONG_AGO}}


def done(code=0, **rest):
    return {"terminated": {"exitCode": code, "startedAt": LONG_AGO, "finishedAt": LONG_AGO, **rest}}


def waiting(reason=""):
    return {"waiting": {"reason": reason} if reason else {}}


def pods():
    def pod(name, status=None, inits=0, sidecar=False, n=1, **spec):
        spec["containers"] = [{"name": f"c{i}", "image": "i"} for i in range(n)]
        if inits:
            spec["initContainers"] = [{"name": f"i{i}", "image": "i"} for i in range(inits)]
            if sidecar:
                spec["initContainers"][0]["restartPolicy"] = "Always"
        return NS + "/pods", named(name, spec=spec), status
    ready = [{"type": "Ready", "status": "True"}]
    initialized = [{"type": "Initialized", "status": "True"}]
    c = container
    rows = [
        pod("pending"), pod("gated", schedulingGates=[{"name": "a/b"}]),
        pod("running", {"phase": "Running", "podIPs": [{"ip": "10.1.2.3"}], "podIP": "10.1.2.3", "conditions": ready,
                        "containerStatuses": [c("c0", RUNNING, True)]}, nodeName="n1"),
        pod("succeeded", {"phase": "Succeeded", "containerStatuses": [c("c0", done(reason="Completed"))]},
            nodeName="n1"),
        pod("failed", {"phase": "Failed", "reason": "Evicted"}, nodeName="n1"),
        pod("exit", {"phase": "Failed", "containerStatuses": [c("c0", done(3))]}, nodeName="n1"),
        pod("signal", {"phase": "Failed", "containerStatuses": [c("c0", done(137, signal=9))]}, nodeName="n1"),
        pod("crash", {"phase": "Running", "containerStatuses": [c("c0", waiting("CrashLoopBackOff"), False, 7,
                                                                  done(1))]}, nodeName="n1"),
        pod("restarts", {"phase": "Running", "containerStatuses": [c("c0", RUNNING, True, 2), c("c1", RUNNING, False, 1,
                                                                                                done(1))]},
            n=2, nodeName="n1"),
        pod("half", {"phase": "Running", "conditions": ready, "containerStatuses": [
            c("c0", done(reason="Completed")), c("c1", RUNNING, True)]}, n=2, nodeName="n1"),
        pod("half-not-ready", {"phase": "Running", "containerStatuses": [
            c("c0", done(reason="Completed")), c("c1", RUNNING, True)]}, n=2, nodeName="n1"),
        pod("half-error", {"phase": "Running", "containerStatuses": [
            c("c0", done(reason="Completed")), c("c1", done(2, reason="Error"))]}, n=2, nodeName="n1"),
        pod("init-first", {"phase": "Pending", "initContainerStatuses": [c("i0", RUNNING), c("i1", waiting())]},
            inits=2, nodeName="n1"),
        pod("init-second", {"phase": "Pending", "initContainerStatuses": [
            c("i0", done(reason="Completed"), restarts=1, last=done(1)), c("i1", waiting("PodInitializing"))]}, inits=2,
                nodeName="n1"),
        pod("init-error", {"phase": "Pending", "initContainerStatuses": [c("i0", done(1, reason="Error"))]}, inits=1,
            nodeName="n1"),
        pod("init-exit", {"phase": "Pending", "initContainerStatuses": [c("i0", done(5))]}, inits=1, nodeName="n1"),
        pod("init-signal", {"phase": "Pending", "initContainerStatuses": [c("i0", done(5, signal=11))]}, inits=1,
            nodeName="n1"),
        pod("init-pull", {"phase": "Pending", "initContainerStatuses": [c("i0", waiting("ErrImagePull"))]}, inits=1,
            nodeName="n1"),
        pod("sidecar", {"phase": "Running", "conditions": initialized, "initContainerStatuses": [
            c("i0", RUNNING, True, 3, done(1), started=True), c("i1", done(), restarts=4)],
            "containerStatuses": [c("c0", RUNNING, True, 1)]}, inits=2, sidecar=True, nodeName="n1"),
        pod("sidecar-waits", {"phase": "Pending", "initContainerStatuses": [c("i0", RUNNING, started=False)]}, inits=1,
            sidecar=True),
        pod("initialized", {"phase": "Running", "conditions": initialized, "initContainerStatuses": [c("i0", RUNNING)],
                            "containerStatuses": [c("c0", RUNNING, True)]}, inits=1, nodeName="n1"),
        pod("gates", {"phase": "Running", "nominatedNodeName": "n9", "conditions": [
            {"type": "x/one", "status": "True"}, {"type": "x/two", "status": "False"}]},
            readinessGates=[{"conditionType": "x/one"}, {"conditionType": "x/two"}, {"conditionType": "x/three"}]),
        pod("unreachable", {"phase": "Running", "reason": "NodeLost"}, nodeName="n1"),
        pod("leaving", {"phase": "Running", "containerStatuses": [c("c0", RUNNING, True)]}, nodeName="n1"),
    ]
    for _, obj, _ in rows[-2:]:
        obj["metadata"]["finalizers"] = ["a/b"]
    return rows


def workloads():
    apps, batch = "/apis/apps/v1/namespaces/tables/", "/apis/batch/v1/namespaces/tables/"
    job = {"template": {"spec": {**ONE["spec"], "restartPolicy": "Never"}}}
    def conditions(*kinds, status="True"):
        return [{"type": k, "status": status} for k in kinds]
    return [
        (apps + "deployments", named("d1", spec={"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}),
         {"replicas": 3, "updatedReplicas": 2, "readyReplicas": 1, "availableReplicas": 1, "unavailableReplicas": 2}),
        (apps + "deployments", named("d2", spec={"selector": WIDE_SELECTOR, "template": WIDE}), None),
        (apps + "replicasets", named("r1", spec={"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}),
         {"replicas": 2, "readyReplicas": 1}),
        (apps + "replicasets", named("r2", spec={"selector": WIDE_SELECTOR, "template": WIDE}), None),
        (apps + "statefulsets", named("s1", spec={"replicas": 2, "serviceName": "x", "selector": SELECTOR,
                                                  "template": TEMPLATE}),
         {"replicas": 2, "readyReplicas": 1}),
        (apps + "daemonsets", named("ds1", spec={"selector": SELECTOR, "template": TEMPLATE}),
         {"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3, "updatedNumberScheduled": 2,
          "numberAvailable": 1, "numberMisscheduled": 0}),
        (apps + "daemonsets", named("ds2", spec={"selector": SELECTOR, "template": {
            "metadata": ONE["metadata"], "spec": {**ONE["spec"], "nodeSelector": {"b": "2", "a": "1"}}}}), None),
        (apps + "controllerrevisions", named("cr1", revision=7, data={"a": 1}, meta={"ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s1", "uid": "u", "controller": True}]}), None),
        (apps + "controllerrevisions", named("cr2", revision=1, data={"a": 1}), None),
        (NS + "/replicationcontrollers", named("rc1", spec={"replicas": 2, "selector": {"a": "b"},
                                                            "template": TEMPLATE}),
         {"replicas": 1, "readyReplicas": 1}),
        (NS + "/podtemplates", named("pt1", template=TEMPLATE), None),
        (NS + "/podtemplates", named("pt2", template={"spec": ONE["spec"]}), None),
        (batch + "jobs", named("j-running", spec=job), {"startTime": LONG_AGO, "active": 1}),
        (batch + "jobs", named("j-done", spec={**job, "completions": 3, "parallelism": 2}), {
            "startTime": LONG_AGO, "completionTime": "2020-02-03T05:00:00Z", "succeeded": 3,
            "conditions": conditions("SuccessCriteriaMet", "Complete")}),
        (batch + "jobs", named("j-failed", spec=job), {"startTime": LONG_AGO, "failed": 1,
                                                       "conditions": conditions("FailureTarget", "Failed")}),
        (batch + "jobs", named("j-target", spec=job), {"startTime": LONG_AGO,
                                                       "conditions": conditions("FailureTarget")}),
        (batch + "jobs", named("j-success", spec=job), {"startTime": LONG_AGO,
                                                        "conditions": conditions("SuccessCriteriaMet")}),
        (batch + "jobs", named("j-suspended", spec={**job, "suspend": True}), {"conditions": conditions("Suspended")}),
        (batch + "jobs", named("j-parallel", spec={**job, "parallelism": 4}), None),
        (batch + "jobs", named("j-leaving", spec=job, meta={"finalizers": ["a/b"]}), None),
        (batch + "cronjobs", named("cj1", spec={"schedule": "*/5 * * * *", "jobTemplate": {"spec": job}}), None),
        (batch + "cronjobs", named("cj2", spec={"schedule": "@daily", "timeZone": "Etc/UTC", "suspend": True,
                                                "jobTemplate": {"spec": job}}),
         {"lastScheduleTime": SOME_TIME_AGO, "active": [{"kind": "Job", "name": "x"}]}),
        ("/apis/policy/v1/namespaces/tables/poddisruptionbudgets", named("pdb1", spec={"minAvailable": "50%",
                                                                                       "selector": SELECTOR}),
         {"disruptionsAllowed": 2, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}),
        ("/apis/policy/v1/namespaces/tables/poddisruptionbudgets", named("pdb2", spec={"maxUnavailable": 1,
                                                                                       "selector": SELECTOR}), None),
    ]


def hpas():
    path, ref = "/apis/autoscaling/v2/namespaces/tables/horizontalpodautoscalers", {"kind": "Deployment", "name": "d1",
                                                                                    "apiVersion": "apps/v1"}
    def of(kind, target, **rest):
        field = kind[0].lower() + kind[1:]
        return {"type": kind, field: {"target": target, **rest}}
    util, value, average = ({"type": "Utilization", "averageUtilization": 80}, {"type": "Value", "value": "10"},
                            {"type": "AverageValue", "averageValue": "500m"})
    obj = {"metric": {"name": "m"}, "describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"}}
    cpu, metric = {"name": "cpu"}, {"metric": {"name": "m"}}
    def current(kind, now, **rest):
        field = kind[0].lower() + kind[1:]
        return {"type": kind, field: {"current": now, **rest}}
    status = {"currentReplicas": 2, "desiredReplicas": 3}
    return [
        (path, named("h1", spec={"scaleTargetRef": ref, "maxReplicas": 5, "metrics": [of("Resource", util, **cpu)]}),
         None),
        (path, named("h2", spec={"scaleTargetRef": ref, "minReplicas": 2, "maxReplicas": 5, "metrics": [
            of("Resource", util, **cpu), of("Resource", average, name="memory"), of("Pods", average, **metric)]}),
         {**status, "currentMetrics": [current("Resource", {"averageUtilization": 12, "averageValue": "3"}, **cpu),
                                       current("Resource", {"averageValue": "1Gi"}, name="memory")]}),
        (path, named("h3", spec={"scaleTargetRef": ref, "maxReplicas": 5, "metrics": [of("External", value, **metric),
                                                                                      of("External", average,
                                                                                         **metric)]}),
         {**status, "currentMetrics": [current("External", {"value": "3"}, **metric), current("External",
                                                                                              {"averageValue": "4"},
                                                                                                  **metric)]}),
        (path, named("h4", spec={"scaleTargetRef": ref, "maxReplicas": 5, "metrics": [of("Object", value, **obj),
                                                                                      of("Object", average, **obj)]}),
         {**status, "currentMetrics": [current("Object", {"value": "3"}, **obj), current("Object", {"averageValue": "4",
                                                                                                    "value": "0"},
                                                                                                        **obj)]}),
        (path, named("h5", spec={"scaleTargetRef": ref, "maxReplicas": 5, "metrics": [
            of("ContainerResource", util, container="c", **cpu), of("ContainerResource", average, container="c",
                                                                    name="memory")]}), None),
        (path, named("h6", spec={"scaleTargetRef": ref, "maxReplicas": 5, "metrics": [of("Pods", average, **metric),
                                                                                      of("External", average,
                                                                                         **metric)]}),
         {**status, "currentMetrics": [current("Pods", {"averageValue": "7"}, **metric)]}),
    ]


def network():
    net, p = "/apis/networking.k8s.io/v1/", {"port": 80}
    def rules(*hosts):
        return [{"host": h} if h else {} for h in hosts]
    backend = {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    slices = "/apis/discovery.k8s.io/v1/namespaces/tables/endpointslices"
    return [
        (NS + "/services", named("plain", spec={"ports": [p], "selector": {"b": "2", "a": "1"},
                                                "clusterIP": "10.0.0.21"}), None),
        (NS + "/services", named("headless", spec={"clusterIP": "None"}), None),
        (NS + "/services", named("node", spec={"type": "NodePort", "clusterIP": "10.0.0.22", "externalIPs": ["1.2.3.4",
                                                                                                             "1.2.3.5"],
                                               "ports": [{"name": "a", "port": 80, "nodePort": 30021}, {"name": "b",
                                                                                                        "port": 53,
                                                                                                            "protocol": "UDP", "nodePort": 30022}]}), None),
        (NS + "/services", named("lb-waits", spec={"type": "LoadBalancer", "clusterIP": "10.0.0.23",
                                                   "ports": [{"port": 1, "nodePort": 30023}]}), None),
        (NS + "/services", named("lb", spec={"type": "LoadBalancer", "clusterIP": "10.0.0.24", "ports": [{"port": 1,
                                                                                                          "nodePort": 30024}]}),
         {"loadBalancer": {"ingress": [{"ip": "9.9.9.9"}, {"hostname": "a-very-long-hostname.example.com"},
                                       {"ip": "1.1.1.1"}, {"ip": "9.9.9.9"}]}}),
        (NS + "/services", named("lb-external", spec={"type": "LoadBalancer", "clusterIP": "10.0.0.25",
                                                      "externalIPs": ["5.6.7.8"], "ports": [{"port": 1,
                                                                                             "nodePort": 30025}]}),
         {"loadBalancer": {"ingress": [{"ip": "9.9.9.9"}]}}),
        (NS + "/services", named("name", spec={"type": "ExternalName", "externalName": "x.example.com"}), None),
        (NS + "/endpoints", named("e0"), None),
        (NS + "/endpoints", named("e1", subsets=[{"addresses": [{"ip": "10.9.0.1"}, {"ip": "10.9.0.2"}],
                                                  "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}]),
                                                      None),
        (NS + "/endpoints", named("e2", subsets=[{"addresses": [{"ip": "10.9.0.1"}, {"ip": "fd00::1"}]}]), None),
        (NS + "/endpoints", named("e3", subsets=[{"addresses": [{"ip": "fd00::2"}], "ports": [{"port": 1}]}]), None),
        (slices, named("s0", addressType="IPv4", endpoints=[], ports=[]), None),
        (slices, named("s1", addressType="IPv4", endpoints=[{"addresses": ["10.9.0.1"]}, {"addresses": ["10.9.0.2"]},
                                                            {"addresses": ["10.9.0.3"]}, {"addresses": ["10.9.0.4"]}],
                       ports=[{"name": "", "port": 80}, {"name": "b", "port": 81}, {"name": "c", "port": 82},
                              {"name": "d", "port": 83}, {"name": "e", "port": 84}]), None),
        (slices, named("s2", addressType="FQDN", endpoints=[{"addresses": ["a.example.com"]}],
                       ports=[{"name": "named"}]), None),
        (net + "namespaces/tables/ingresses", named("i1", spec=backend), None),
        (net + "namespaces/tables/ingresses", named("i2", spec={**backend, "ingressClassName": "nope",
                                                                "rules": rules("a.x", None, "b.x", "c.x", "d.x", "e.x"),
                                                                    "tls": [{"hosts": ["a.x"]}]}),
         {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "b-long-hostname.example.com"}]}}),
        (net + "ingressclasses", named("ic1", spec={"controller": "x.y/z"}), None),
        (net + "ingressclasses", named("ic2", spec={"controller": "x.y/z", "parameters": {"apiGroup": "g.x",
                                                                                          "kind": "K", "name": "n",
                                                                                              "scope": "Cluster"}},
                                       meta={"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}),
                                           None),
        (net + "namespaces/tables/networkpolicies", named("np1", spec={"podSelector": SELECTOR}), None),
        (net + "namespaces/tables/networkpolicies", named("np2", spec={"podSelector": {}}), None),
        (net + "namespaces/tables/networkpolicies", named("np3", spec={"podSelector": WIDE_SELECTOR}), None),
    ]


def storage():
    st = "/apis/storage.k8s.io/v1/"
    def pv(name, **spec):
        return "/api/v1/persistentvolumes", named(name, spec={"capacity": {"storage": "5Gi"},
                                                              "accessModes": ["ReadWriteOnce"],
                                                                  "hostPath": {"path": "/x"}, **spec})
    def pvc(name, **spec):
        return NS + "/persistentvolumeclaims", named(name, spec={"accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                                                                 "resources": {"requests": {"storage": "1Gi"}}, **spec})
    old = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}
    rows = [
        (*pv("pv1"), {"phase": "Available"}),
        (*pv("pv2", accessModes=["ReadWriteMany", "ReadOnlyMany", "ReadWriteMany"], storageClassName="fast",
             volumeMode="Block", persistentVolumeReclaimPolicy="Delete",
             claimRef={"namespace": "tables", "name": "c2", "uid": "u"}), {"phase": "Failed", "reason": "Because"}),
        (*pv("pv3", accessModes=["ReadWriteOncePod"]), None),
        (*pvc("c1"), None),
        (*pvc("c2", volumeName="pv2", storageClassName="fast"), {"phase": "Bound", "capacity": {"storage": "5Gi"},
                                                                 "accessModes": ["ReadWriteOnce", "ReadWriteMany"]}),
        (*pvc("c3", volumeAttributesClassName="gold", storageClassName=""), None),
        (st + "storageclasses", named("fast", provisioner="p.x/y"), None),
        (st + "storageclasses", named("slow", provisioner="p.x/y", reclaimPolicy="Retain",
                                      volumeBindingMode="WaitForFirstConsumer", allowVolumeExpansion=True,
                                      meta={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}),
                                          None),
        (st + "csidrivers", named("d1.x", spec={}), None),
        (st + "csidrivers", named("d2.x", spec={"attachRequired": False, "podInfoOnMount": True,
                                                "storageCapacity": True, "requiresRepublish": True,
                                                "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
                                                    "volumeLifecycleModes": ["Persistent", "Ephemeral"]}), None),
        (st + "csinodes", named("n1", spec={"drivers": [{"name": "d1.x", "nodeID": "i"}, {"name": "d2.x",
                                                                                          "nodeID": "i"}]}), None),
        (st + "namespaces/tables/csistoragecapacities", named("cap1", storageClassName="fast", capacity="7Gi"), None),
        (st + "namespaces/tables/csistoragecapacities", named("cap2", storageClassName="slow"), None),
        (st + "volumeattachments", named("va1", spec={"attacher": "d1.x", "nodeName": "n1",
                                                      "source": {"persistentVolumeName": "pv1"}}), {"attached": True}),
        (st + "volumeattributesclasses", named("gold", driverName="d1.x", parameters={"a": "b"}), None),
    ]
    rows[0][1]["metadata"].update(old)
    rows[3][1]["metadata"].update(old)
    rows.append((*pv("pv-leaving"), None))
    return rows


def others():
    rbac, adm = "/apis/rbac.authorization.k8s.io/v1/", "/apis/admissionregistration.k8s.io/v1/"
    subjects = [{"kind": "User", "name": "u1", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "User", "name": "u2",
                                                                                          "apiGroup": "rbac.authorization.k8s.io"},
                {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount",
                                                                                          "name": "s",
                                                                                              "namespace": "n"}]
    def ref(kind):
        return {"kind": kind, "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
    event = {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "tables", "fieldPath": "spec.x"},
             "reason": "R", "type": "Normal"}
    node = "/api/v1/nodes"
    policy = {"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"],
                                                      "operations": ["CREATE"], "resources": ["deployments"]}]}}
    hook = {"name": "a.b.c", "clientConfig": {"url": "https://x.example.com"}, "admissionReviewVersions": ["v1"],
            "sideEffects": "None"}
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/x'}]"}}
    csr = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
    return [
        (node, named("n-plain"), None),
        (node, named("n-ready", spec={"unschedulable": True}, meta={"labels": {"node-role.kubernetes.io/worker": "",
                                                                               "node-role.kubernetes.io/control-plane": "x", "kubernetes.io/role": "old"}}),
         {"conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "ExternalIP",
                                                                              "address": "1.1.1.1"},
                                                                                  {"type": "InternalIP",
                                                                                   "address": "2.2.2.2"},
                                                                                       {"type": "InternalIP",
                                                                                        "address": "3.3.3.3"}],
          "nodeInfo": {"kubeletVersion": "v1.36.4", "osImage": "Os", "kernelVersion": "6.1",
                       "containerRuntimeVersion": "c://1", "architecture": "amd64", "machineID": "", "systemUUID": "",
                           "bootID": "", "kubeProxyVersion": "", "operatingSystem": ""}}),
        (node, named("n-not"), {"conditions": [{"type": "Ready", "status": "Unknown"}]}),
        (NS + "/configmaps", named("cm", data={"a": "b"}, binaryData={"c": "AA=="}), None),
        (NS + "/secrets", named("sec", data={"a": "AA=="}, type="x/y"), None),
        (NS + "/serviceaccounts", named("sa"), None),
        (NS + "/limitranges", named("lr", spec={"limits": []}), None),
        (NS + "/resourcequotas", named("rq", spec={"hard": {"pods": "1000"}}), {"hard": {"pods": "1000",
                                                                                         "limits.cpu": "2",
                                                                                             "limits.memory": "1Gi",
                                                                                                 "cpu": "1"},
                                                                                                     "used": {"pods": "1", "limits.cpu": "500m"}}),
        (NS + "/resourcequotas", named("rq0", spec={"hard": {"services": "1000"}}), None),
        (NS + "/events", named("ev1", **event, count=3, message="  hi \n", source={"component": "c", "host": "h"},
                               firstTimestamp=LONG_AGO, lastTimestamp=SOME_TIME_AGO), None),
        (NS + "/events", named("ev2", **{**event, "involvedObject": {"kind": "Node", "namespace": "tables"}},
                               message="m", reportingComponent="rc", reportingInstance="ri",
                                   eventTime="2020-02-03T04:05:06.000001Z",
                               action="a", series={"count": 9, "lastObservedTime": "2026-01-02T03:04:05.000000Z"}),
                                   None),
        (NS + "/events", named("ev3", **event, message="", reportingComponent="rc", reportingInstance="ri",
                               eventTime="2020-02-03T04:05:06.000001Z", action="a"), None),
        (NS + "/events", named("ev4", **event, message="x"), None),
        (rbac + "clusterroles", named("tables-r", rules=[]), None), (rbac + "namespaces/tables/roles", named("r",
                                                                                                             rules=[]),
                                                                                                                 None),
        (rbac + "clusterrolebindings", named("tables-b", roleRef=ref("ClusterRole"), subjects=subjects), None),
        (rbac + "namespaces/tables/rolebindings", named("b", roleRef=ref("Role"), subjects=subjects), None),
        (rbac + "namespaces/tables/rolebindings", named("b0", roleRef=ref("ClusterRole")), None),
        ("/apis/coordination.k8s.io/v1/namespaces/tables/leases", named("l1", spec={"holderIdentity": "me"}), None),
        ("/apis/coordination.k8s.io/v1/namespaces/tables/leases", named("l2", spec={}), None),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", named("pc1", value=7), None),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", named("pc2", value=-8, preemptionPolicy="Never"), None),
        ("/apis/node.k8s.io/v1/runtimeclasses", named("rc", handler="h"), None),
        ("/apis/certificates.k8s.io/v1/certificatesigningrequests", named("csr1", spec={"request": CSR,
                                                                                        "signerName": "a.b/c",
                                                                                            "usages": ["client auth"],
                                                                                                "expirationSeconds": 3600}), None),
        ("/apis/certificates.k8s.io/v1/certificatesigningrequests", named("csr2", spec={"request": CSR,
                                                                                        "signerName": "a.b/c",
                                                                                            "usages": ["client auth"]}),
         {"conditions": [{"type": "Failed", "status": "True", "reason": "r", "message": "m"}]}),
        ("/apis/resource.k8s.io/v1/deviceclasses", named("dc", spec={}), None),
        ("/apis/resource.k8s.io/v1/namespaces/tables/resourceclaims", named("cl1", spec={}), None),
        ("/apis/resource.k8s.io/v1/namespaces/tables/resourceclaims", named("cl2", spec={}), {"allocation": {},
                                                                                              "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}),
        ("/apis/resource.k8s.io/v1/namespaces/tables/resourceclaimtemplates", named("t", spec={"spec": {}}), None),
        ("/apis/resource.k8s.io/v1/resourceslices", named("rs", spec={"driver": "d.x", "pool": {"name": "p",
                                                                                                "generation": 1,
                                                                                                    "resourceSliceCount": 1}, "nodeName": "n1"}), None),
        (adm + "validatingwebhookconfigurations", named("vw", webhooks=[hook]), None),
            (adm + "mutatingwebhookconfigurations", named("mw"), None),
        (adm + "validatingadmissionpolicies", named("vp", spec={**policy, "validations": [{"expression": "true"},
                                                                                          {"expression": "true"}]}),
                                                                                              None),
        (adm + "validatingadmissionpolicies", named("vp2", spec={**policy, "paramKind": {"apiVersion": "v1",
                                                                                         "kind": "ConfigMap"},
                                                                                             "validations": [{"expression": "true"}]}), None),
        (adm + "validatingadmissionpolicybindings", named("vb1", spec={"policyName": "vp",
                                                                       "validationActions": ["Deny"]}), None),
        (adm + "validatingadmissionpolicybindings", named("vb2", spec={"policyName": "vp2",
                                                                       "validationActions": ["Deny"],
                                                                           "paramRef": {"name": "x",
                                                                                        "parameterNotFoundAction": "Deny"}}), None),
        (adm + "validatingadmissionpolicybindings", named("vb3", spec={"policyName": "vp2",
                                                                       "validationActions": ["Deny"],
                                                                           "paramRef": {"name": "x", "namespace": "n",
                                                                                        "parameterNotFoundAction": "Deny"}}), None),
        (adm + "mutatingadmissionpolicies", named("mp", spec={**policy, "reinvocationPolicy": "Never",
                                                              "failurePolicy": "Ignore", "mutations": [mutation]}),
                                                                  None),
        (adm + "mutatingadmissionpolicybindings", named("mb", spec={"policyName": "mp", "paramRef": {"name": "x",
                                                                                                     "namespace": "n",
                                                                                                         "parameterNotFoundAction": "Deny"}}), None),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {"metadata": {"name": "things.t.x"},
                                                                     "spec": {"group": "t.x", "scope": "Cluster",
                                                                              "names": {"plural": "things",
                                                                                        "kind": "Thing"},
            "versions": [{"name": "v1", "served": False, "storage": True,
                          "schema": {"openAPIV3Schema": {"type": "object"}}}]}}, None),
        ("/apis/apiregistration.k8s.io/v1/apiservices", named("v1.t2.x", spec={"group": "t2.x", "version": "v1",
                                                                               "groupPriorityMinimum": 1,
                                                                                   "versionPriority": 1,
                                                                                       "service": {"name": "s",
                                                                                                   "namespace": "tables"}, "insecureSkipTLSVerify": True}), None),
    ]


CSR = ""
LEAVING = [NS + "/pods/unreachable", NS + "/pods/leaving", "/apis/batch/v1/namespaces/tables/jobs/j-leaving",
           "/api/v1/persistentvolumes/pv-leaving"]


def all_objects(csr):
    """`csr`: a PEM certificate request, in base64."""
    global CSR
    CSR = csr
    return pods() + workloads() + hpas() + network() + storage() + others()
