"""Clusters for the browser tests, as objects of Kubernetes."""

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    "<!--<script>",
    "\"><img src=x onerror=window.hacked=3>",
    "'\"&amp;&lt;b&gt;`${1}\\u003c",
    "line\u2028separator\u2029and\nnewline\ttab",
    "]]>\\\"}]}</SCRIPT >",
    "a" * 300,
    "\u202egnp.\u0007bell\u001b[31m",
    "__proto__",
]


def a_list(items):
    return {"apiVersion": "v1", "kind": "List", "items": items}


def node(name, zone, cpu="8", memory="32Gi"):
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"capacity": {"cpu": cpu, "memory": memory, "pods": "110"}}}


def pod(name, cpu="100m", memory="64Mi", namespace="default", owner=None, **spec):
    metadata = {"name": name, "namespace": namespace}
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}]
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def hostile():
    """Every text that a page shows tries to be markup: names, zones, namespaces, owners, messages, warnings."""
    items = [{"apiVersion": "<b>example/v1", "kind": "<i>Widget", "metadata": {"name": "w"}}]
    for i, text in enumerate(HOSTILE):
        items.append(node(text, zone=text))
        items.append(pod(text, namespace=text, owner=text))
        items.append(pod(f"gated-{i}", schedulingGates=[{"name": text}]))
        items.append(pod(f"other-{i}", schedulerName=text))
    return a_list(items)


def eviction():
    """One pod must go for another."""
    return a_list([node("only", "z", cpu="2"), pod("low", cpu="2", nodeName="only"), pod("high", cpu="1500m", priority=10)])


def large(n_nodes=5000, n_pods=20000):
    """Nine of ten pods run already; of the rest some are too big and some want a label that no node has."""
    items = [node(f"node-{i:05d}", f"zone-{'abc'[i % 3]}", cpu="64" if i % 10 == 0 else "16", memory="128Gi") for i in range(n_nodes)]
    for i in range(n_pods):
        group = i // 40
        spec = {"nodeName": f"node-{(i * 7919) % n_nodes:05d}"} if i % 10 else {}
        if i % 200 == 0:
            spec["nodeSelector"] = {"gpu": "yes"}
        items.append(pod(f"app-{group:04d}-{i:06d}", cpu="900" if i % 410 == 0 else f"{100 + group % 9 * 250}m",
                         memory=f"{512 * (1 + group % 5)}Mi", namespace=f"team-{group % 37:02d}", owner=f"app-{group:04d}", **spec))
    return a_list(items)
