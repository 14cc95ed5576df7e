"""Stories of what stands around workloads: budgets, quotas, accounts, roles."""
from controller_story import story
from controllers_replicas import replica_set_of

# ---- Budgets ----


def budget(w, name="b", **spec):
    w.make("poddisruptionbudgets", name, dict({"selector": {"matchLabels": {"app": "web"}}}, **spec))


def counts(w, name="b", **want):
    w.until("%s" % want, lambda: all(w.status("poddisruptionbudgets", name).get(k) == v for k, v in want.items()))


def guarded(w, n, n_ready):
    replica_set_of(w, n)
    for pod in w.pods()[:n_ready]:
        w.set_phase(pod, "Running")
    w.until("ready", lambda: w.status("replicasets", "web").get("readyReplicas", 0) == n_ready)


@story()
def budget_at_least(w):
    guarded(w, 3, 3)
    budget(w, minAvailable=2)
    counts(w, currentHealthy=3, disruptionsAllowed=1)


@story()
def budget_at_most(w):
    guarded(w, 4, 3)
    budget(w, maxUnavailable="50%")
    counts(w, currentHealthy=3, disruptionsAllowed=1)


@story()
def budget_of_nothing(w):
    budget(w, minAvailable="50%")
    w.until("counted", lambda: w.status("poddisruptionbudgets", "b").get("conditions"))


@story()
def budget_without_controller(w):
    """Pods that nobody owns cannot be counted in percent."""
    for i in range(2):
        w.pod("p%d" % i)
        w.set_phase("p%d" % i, "Running")
    budget(w, maxUnavailable=1)
    w.until("told", lambda: w.told("CalculateExpectedPodCountFailed") or w.told("UnmanagedPods"))
    w.until("counted", lambda: w.status("poddisruptionbudgets", "b").get("conditions"))


@story()
def budget_of_bare_pods(w):
    for i in range(3):
        w.pod("p%d" % i)
        w.set_phase("p%d" % i, "Running")
    budget(w, minAvailable=1)
    counts(w, currentHealthy=3)


@story()
def budget_eviction(w):
    guarded(w, 3, 3)
    budget(w, maxUnavailable=1)
    counts(w, disruptionsAllowed=1)
    name = w.pods()[0]["metadata"]["name"]
    w.api.create(w.path("pods", name + "/eviction"), {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name},
                                                      "deleteOptions": {"gracePeriodSeconds": 0}})
    counts(w, currentHealthy=2, disruptionsAllowed=0)
    w.until("another", lambda: len(w.pods()) == 3)
    w.until("forgotten", lambda: not w.status("poddisruptionbudgets", "b").get("disruptedPods"))


@story()
def budget_changes(w):
    guarded(w, 4, 4)
    budget(w, minAvailable=4)
    counts(w, disruptionsAllowed=0)
    w.patch("poddisruptionbudgets", "b", {"spec": {"minAvailable": None, "maxUnavailable": 2}})
    counts(w, disruptionsAllowed=2)


@story()
def budget_of_a_deployment(w):
    from controllers_replicas import deployment_complete
    deployment_complete(w)
    budget(w, maxUnavailable="34%")
    counts(w, currentHealthy=3, expectedPods=3)
    w.patch("deployments", "web", {"spec": {"replicas": 6}})
    counts(w, expectedPods=6)


@story()
def budgets_that_overlap(w):
    guarded(w, 2, 1)
    budget(w, minAvailable=1)
    budget(w, "c", minAvailable=2)
    counts(w, currentHealthy=1)
    counts(w, "c", currentHealthy=1)


# ---- Quotas ----

def quota(w, name="q", **hard):
    w.make("resourcequotas", name, {"hard": hard})
    w.until("counted", lambda: w.status("resourcequotas", name).get("used") is not None)


def used(w, name="q", **want):
    w.until("%s" % want, lambda: all(w.status("resourcequotas", name)["used"].get(k) == v for k, v in want.items()))


def quota_pod(w, name, cpu="500m", memory="64Mi"):
    amounts = {"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": "2", "memory": "1Gi"}}
    w.pod(name, containers=[{"name": "c", "image": "a", "resources": amounts}])


@story()
def quota_counts_what_is_there(w):
    quota_pod(w, "p1")
    quota_pod(w, "p2", "1500m", "1Gi")
    w.make("configmaps", "before")
    quota(w, **{"pods": "5", "requests.cpu": "4", "requests.memory": "4Gi", "limits.cpu": "8", "limits.memory": "8Gi", "cpu": "9",
                "count/configmaps": "9", "count/pods": "7", "services": "5", "count/deployments.apps": "3", "secrets": "10"})
    used(w, pods="2")


@story()
def quota_counts_again(w):
    """What ends or goes is given back."""
    quota(w, **{"pods": "3", "requests.cpu": "2"})
    quota_pod(w, "p1")
    quota_pod(w, "p2")
    used(w, **{"pods": "2", "requests.cpu": "1"})
    w.set_phase("p1", "Succeeded")
    used(w, **{"pods": "1", "requests.cpu": "500m"})
    w.delete("pods", "p2", grace=0)
    used(w, **{"pods": "0", "requests.cpu": "0"})


@story()
def quota_changes(w):
    quota(w, **{"pods": "3"})
    w.patch("resourcequotas", "q", {"spec": {"hard": {"pods": None, "configmaps": "4"}}})
    w.until("counted", lambda: "configmaps" in w.status("resourcequotas", "q").get("used", {}) and
            "pods" not in w.status("resourcequotas", "q")["used"])


@story()
def quota_scopes(w):
    w.make("resourcequotas", "best", {"hard": {"pods": "5"}, "scopes": ["BestEffort"]})
    w.make("resourcequotas", "rest", {"hard": {"pods": "5"}, "scopes": ["NotBestEffort"]})
    w.make("resourcequotas", "ending", {"hard": {"pods": "5"}, "scopeSelector": {"matchExpressions": [
        {"scopeName": "Terminating", "operator": "Exists"}]}})
    for name in ("best", "rest", "ending"):
        w.until("counted", lambda: w.status("resourcequotas", name).get("used") is not None)
    quota_pod(w, "p1")
    w.pod("p2")
    w.pod("p3", activeDeadlineSeconds=1000)
    for name, n in (("best", "2"), ("rest", "1"), ("ending", "1")):
        used(w, name, pods=n)


@story()
def quota_of_claims(w):
    quota(w, **{"persistentvolumeclaims": "5", "requests.storage": "50Gi", "nobody.storageclass.storage.k8s.io/requests.storage": "10Gi",
                "nobody.storageclass.storage.k8s.io/persistentvolumeclaims": "3"})
    for name, size in (("one", "1Gi"), ("two", "3Gi")):
        w.make("persistentvolumeclaims", name, {"accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
                                                "resources": {"requests": {"storage": size}}})
    used(w, persistentvolumeclaims="2")
    w.delete("persistentvolumeclaims", "one")
    used(w, **{"persistentvolumeclaims": "1", "requests.storage": "3Gi"})


@story()
def quota_of_services(w):
    quota(w, **{"services": "5", "services.nodeports": "3", "services.loadbalancers": "1"})
    w.make("services", "plain", {"ports": [{"port": 80}]})
    w.make("services", "large", {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{"port": 80}]})
    used(w, **{"services": "2", "services.loadbalancers": "1"})
    w.delete("services", "large")
    used(w, **{"services": "1", "services.loadbalancers": "0"})


# ---- Accounts, tokens, roles ----

def token_secret(w, name, account):
    w.create("secrets", {"metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": account}},
                         "type": "kubernetes.io/service-account-token"})


@story()
def account_is_made_again(w):
    old = w.until("made", lambda: w.find("serviceaccounts", "default"))["metadata"]["uid"]
    w.delete("serviceaccounts", "default")
    w.until("again", lambda: (w.find("serviceaccounts", "default") or {}).get("metadata", {}).get("uid", old) != old)


@story()
def authority_is_set_right(w):
    """The config map of the authority cannot be changed, nor deleted."""
    name = "kube-root-ca.crt"
    w.until("made", lambda: w.find("configmaps", name))
    w.patch("configmaps", name, {"data": {"ca.crt": "wrong", "more": "x"}})
    w.until("right", lambda: w.get("configmaps", name)["data"].get("ca.crt") != "wrong")
    w.delete("configmaps", name)
    w.until("again", lambda: w.find("configmaps", name))


@story()
def token_is_filled_in(w):
    w.make("serviceaccounts", "robot")
    token_secret(w, "robot-token", "robot")
    w.until("filled", lambda: (w.get("secrets", "robot-token").get("data") or {}).get("token"))


@story()
def token_goes_with_its_account(w):
    token_is_filled_in(w)
    w.delete("serviceaccounts", "robot")
    w.gone("secrets", "robot-token")


@story()
def token_without_account(w):
    token_secret(w, "lost", "nobody")
    w.gone("secrets", "lost")


@story()
def token_is_filled_in_again(w):
    token_is_filled_in(w)
    w.patch("secrets", "robot-token", {"data": {"token": None, "namespace": None}})
    w.until("filled", lambda: (w.get("secrets", "robot-token").get("data") or {}).get("token"))


def role(w, name, labels, verb):
    w.create("clusterroles", {"metadata": {"name": w.own(name), "labels": labels},
                              "rules": [{"verbs": [verb], "apiGroups": ["a.b"], "resources": ["things"]}]})


@story()
def role_is_the_sum(w):
    mark = {"part-of": w.ns}
    w.create("clusterroles", {"metadata": {"name": w.own("whole")}, "rules": [],
                              "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": mark}]}})
    for name, verb in (("p-b", "get"), ("p-a", "list"), ("p-c", "watch")):
        role(w, name, mark, verb)
    w.until("the sum", lambda: len(w.get("clusterroles", w.own("whole")).get("rules") or []) == 3)
    w.delete("clusterroles", w.own("p-c"))
    w.until("less", lambda: len(w.get("clusterroles", w.own("whole")).get("rules") or []) == 2)
    w.patch("clusterroles", w.own("p-a"), {"metadata": {"labels": {"part-of": None}}})
    w.until("less", lambda: len(w.get("clusterroles", w.own("whole")).get("rules") or []) == 1)
