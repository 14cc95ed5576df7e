#!/usr/bin/env python3
"""apiserver_cleanup.py BERTH - what goes with what: deletion of namespaces, owners and their dependents, finalizers; and that a server which
is killed in the middle of it goes on with it when it is back."""
import sys
import time

import api_world
from api_world import LIMIT, Client, Server, Watch, check, configmap, eventually

BERTH = sys.argv[1]
QUIET = 0.6  # seconds in which something that must stay would have gone


def maps(namespace="default"):
    return "/api/v1/namespaces/%s/configmaps" % namespace


def owned(name, owner, namespace="default", **more):
    thing = configmap(name, namespace)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    thing["metadata"]["ownerReferences"] = [dict(reference, **more)]
    return thing


def is_gone(client, path):
    return eventually(lambda: client.get(path)[0] == 404, 30)


def stays(client, path):
    time.sleep(QUIET)
    return client.get(path)[0] == 200


def make(client, thing, namespace="default"):
    code, answer = client.post(maps(namespace), thing)
    check(code == 201, "an object", answer)
    return answer


def fill_namespace(client, name, n):
    check(client.post("/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201, "a namespace")
    for i in range(n):
        make(client, configmap("c%d" % i, name), name)
    client.post("/api/v1/namespaces/%s/secrets" % name, {"metadata": {"name": "s"}})
    client.post("/apis/coordination.k8s.io/v1/namespaces/%s/leases" % name, {"metadata": {"name": "l"}})


def is_empty(client, name):
    return client.get("/api/v1/namespaces/" + name)[0] == 404 and not any(
        client.get(p % name)[1].get("items") for p in ("/api/v1/namespaces/%s/configmaps", "/api/v1/namespaces/%s/secrets",
                                                       "/apis/coordination.k8s.io/v1/namespaces/%s/leases"))


def namespaces(server):
    client = Client(server)
    fill_namespace(client, "goes", 20)
    fill_namespace(client, "stays", 3)
    held = configmap("held", "goes")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    make(client, held, "goes")
    watch = Watch(server, "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dgoes")
    code, answer = client.delete("/api/v1/namespaces/goes")
    check(code == 200 and answer["status"]["phase"] == "Terminating", "it is going", answer)
    code, answer = client.post(maps("goes"), configmap("late", "goes"))
    check(code == 403 and "being terminated" in answer["message"], "nothing new in it", answer)
    check(eventually(lambda: len(client.get(maps("goes"))[1]["items"]) == 1, 30), "all goes but what is held", client.get(maps("goes"))[1])
    check(eventually(lambda: any(c["type"] == "NamespaceFinalizersRemaining" and c["status"] == "True"
                                 for c in client.get("/api/v1/namespaces/goes")[1]["status"].get("conditions", ())), 30), "it says what holds it",
          client.get("/api/v1/namespaces/goes")[1])
    client.patch(maps("goes") + "/held", {"metadata": {"finalizers": None}})
    check(eventually(lambda: is_empty(client, "goes"), 30), "then all of it goes")
    check(watch.wait(lambda es: es and es[-1]["type"] == "DELETED"), "and is told")
    watch.close()
    check(len(client.get(maps("stays"))[1]["items"]) >= 3, "others stay")


def owners(server):
    client = Client(server)
    owner = make(client, configmap("owner"))
    chain = make(client, owned("child", owner))
    make(client, owned("grandchild", chain))
    other = make(client, configmap("other"))
    both = owned("both", owner)
    both["metadata"]["ownerReferences"] += owned("x", other)["metadata"]["ownerReferences"]
    make(client, both)
    check(client.delete(maps() + "/owner")[0] == 200, "a deletion")
    check(is_gone(client, maps() + "/child") and is_gone(client, maps() + "/grandchild"), "dependents go, and theirs")
    check(stays(client, maps() + "/both"), "what has another owner stays")
    references = client.get(maps() + "/both")[1]["metadata"]["ownerReferences"]
    check([r["name"] for r in references] == ["other"], "with that one alone", references)
    make(client, owned("stray", {"metadata": {"name": "never", "uid": "11111111-0000-0000-0000-000000000000"}}))
    check(is_gone(client, maps() + "/stray"), "whose owner never was goes as well")
    again = make(client, configmap("owner"))
    make(client, owned("of-the-old", dict(owner)))
    check(is_gone(client, maps() + "/of-the-old"), "a name alone makes no owner", again)


def policies(server):
    client = Client(server)
    owner = make(client, configmap("orphans"))
    make(client, owned("orphan", owner))
    check(client.delete(maps() + "/orphans", {"propagationPolicy": "Orphan"})[0] == 200, "a deletion that leaves orphans")
    check(is_gone(client, maps() + "/orphans") and stays(client, maps() + "/orphan"), "the dependent stays")
    check("ownerReferences" not in client.get(maps() + "/orphan")[1]["metadata"], "without its reference")
    owner = make(client, configmap("front"))
    dependent = owned("behind", owner, blockOwnerDeletion=True)
    dependent["metadata"]["finalizers"] = ["example.com/hold"]
    make(client, dependent)
    check(client.delete(maps() + "/front", {"propagationPolicy": "Foreground"})[0] == 200, "a deletion in the foreground")
    check(stays(client, maps() + "/front"), "the owner waits")
    check("deletionTimestamp" in client.get(maps() + "/front")[1]["metadata"], "and is going")
    check(eventually(lambda: "deletionTimestamp" in client.get(maps() + "/behind")[1]["metadata"], 30), "so is its dependent")
    client.patch(maps() + "/behind", {"metadata": {"finalizers": None}})
    check(is_gone(client, maps() + "/behind") and is_gone(client, maps() + "/front"), "both go in the end")


def others_namespaces(server):
    """An owner in another namespace is none, and nobody is deleted for it there."""
    client = Client(server)
    client.post("/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
    victim = make(client, configmap("victim", "elsewhere"), "elsewhere")
    make(client, owned("claims", victim))
    check(is_gone(client, maps() + "/claims") and stays(client, maps("elsewhere") + "/victim"), "only the one that claims goes")


def killed_meanwhile(server):
    client = Client(server)
    for k in range(6):
        name = "killed-%d" % k
        fill_namespace(client, name, 60)
        owner = make(client, configmap("owner-%d" % k))
        for i in range(30):
            make(client, owned("dependent-%d-%d" % (k, i), owner))
        client.delete("/api/v1/namespaces/" + name)
        client.delete(maps() + "/owner-%d" % k)
        time.sleep(0.004 * k)
        server.kill()
        server.start()
        check(eventually(lambda: is_empty(client, name), LIMIT), "a namespace goes after a kill")
        left = lambda: [o["metadata"]["name"] for o in client.get(maps())[1]["items"] if o["metadata"]["name"].startswith("dependent-%d-" % k)]
        check(eventually(lambda: not left(), LIMIT), "dependents go after a kill", left())


def main():
    with Server(BERTH) as server:
        check(eventually(lambda: Client(server).get("/api/v1/namespaces/default/serviceaccounts/default")[0] == 200), "the service account")
        for part in (namespaces, owners, policies, others_namespaces, killed_meanwhile):
            part(server)
    api_world.finish()


main()
