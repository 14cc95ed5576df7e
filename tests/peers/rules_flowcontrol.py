"""Rows for FlowSchema and PriorityLevelConfiguration; see rule_rows.py."""
from rule_rows import DROP, Rows

GROUP = "flowcontrol.apiserver.k8s.io/v1"
RESOURCES = {"verbs": ["get"], "apiGroups": ["*"], "resources": ["pods"], "namespaces": ["*"]}
URLS = {"verbs": ["get"], "nonResourceURLs": ["/healthz"]}
USER = {"kind": "User", "user": {"name": "u"}}

schemas = Rows(GROUP, "flowschemas", {"apiVersion": GROUP, "kind": "FlowSchema", "metadata": {"name": "s"},
                                      "spec": {"priorityLevelConfiguration": {"name": "p"}, "rules": [{"subjects": [USER], "resourceRules": [RESOURCES], "nonResourceRules": [URLS]}]}})
schemas.create("a schema")
schemas.create("nothing in it", {"spec": {}})
schemas.create("negative", {"spec.matchingPrecedence": -1})
schemas.create("too high", {"spec.matchingPrecedence": 10001})
schemas.create("the first", {"spec.matchingPrecedence": 1})
schemas.create("unknown method", {"spec.distinguisherMethod": {"type": "X"}})
schemas.create("a bad level", {"spec.priorityLevelConfiguration.name": "P_"})
schemas.create("an empty rule", {"spec.rules": [{}]})
schemas.create("subjects", {"spec.rules.0.subjects": [{"kind": "X"}, {"kind": "User"}, {"kind": "Group", "group": {"name": ""}, "user": {"name": "u"}}, {"kind": "ServiceAccount", "serviceAccount": {"name": "S_", "namespace": ""}},
                                                      {"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "N_"}, "group": {"name": "g"}}]})
schemas.create("resources", {"spec.rules.0.resourceRules": [{}, {"verbs": ["x"], "apiGroups": ["*", "a"], "resources": ["*", "b"], "namespaces": ["*", "c"]}, {"verbs": ["*", "get"], "apiGroups": [""], "resources": ["b"], "namespaces": ["N_"]},
                                                            {"verbs": ["get"], "apiGroups": [""], "resources": ["b"], "clusterScope": True}]})
schemas.create("urls", {"spec.rules.0.nonResourceRules": [{}, {"verbs": ["get"], "nonResourceURLs": ["", "a", "/a b", "/a//b", "/a*", "/*/b", "/a/*", "/"]}, {"verbs": ["get"], "nonResourceURLs": ["*", "/a"]}]})
schemas.update("nothing", {})
schemas.update("another precedence", {"spec.matchingPrecedence": 7})
schemas.status("a condition", {"status.conditions": [{"type": "Dangling", "status": "True"}], "metadata.labels": {"a": "b"}, "spec.matchingPrecedence": 7})
schemas.status("bad conditions", {"status.conditions": [{"status": "True"}, {"type": "a"}, {"type": "a"}]})

levels = Rows(GROUP, "prioritylevelconfigurations", {"apiVersion": GROUP, "kind": "PriorityLevelConfiguration", "metadata": {"name": "l"},
                                                     "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}})
QUEUE = {"type": "Queue", "queuing": {}}
levels.create("a level")
levels.create("no type", {"spec.type": ""})
levels.create("unknown type", {"spec.type": "X"})
levels.create("exempt", {"spec.type": "Exempt"})
levels.create("limited without limits", {"spec.limited": DROP})
levels.create("limited and exempt", {"spec.exempt": {}})
levels.create("queues", {"spec.limited.limitResponse": QUEUE})
levels.create("no queues", {"spec.limited.limitResponse": {"type": "Queue"}})
levels.create("queues for nothing", {"spec.limited.limitResponse": {"type": "Reject", "queuing": {}}})
levels.create("unknown response", {"spec.limited.limitResponse": {"type": "X"}})
levels.create("no response", {"spec.limited": {}})
levels.create("bad numbers", {"spec.limited": {"nominalConcurrencyShares": -1, "lendablePercent": 101, "borrowingLimitPercent": -1, "limitResponse": {"type": "Queue", "queuing": {"queues": -1, "handSize": -1, "queueLengthLimit": -1}}}})
levels.create("a large hand", {"spec.limited.limitResponse": {"type": "Queue", "queuing": {"queues": 4, "handSize": 8}}})
levels.create("too much entropy", {"spec.limited.limitResponse": {"type": "Queue", "queuing": {"queues": 1000, "handSize": 8}}})
levels.create("too many queues", {"spec.limited.limitResponse": {"type": "Queue", "queuing": {"queues": 10000001, "handSize": 1}}})
levels.create("an annotation", {("metadata", "annotations", "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"): ""})
levels.update("nothing", {})
levels.update("more shares", {"spec.limited.nominalConcurrencyShares": 31})
levels.status("a condition", {"status.conditions": [{"type": "a", "status": "True"}]})

ROWS = schemas.rows + levels.rows
