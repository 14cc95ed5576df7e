"""Rows for Job and CronJob; see rule_rows.py."""
from rule_rows import DROP, Rows, changed

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": TEMPLATE}}
jobs = Rows("batch/v1", "jobs", JOB)

INDEXED = {"spec.completionMode": "Indexed", "spec.completions": 5}
jobs.create("as small as can be")
jobs.create("nothing in it", {"spec": {}})
jobs.create("labels of the template become its own", {"spec.template.metadata": {"labels": {"x": "y"}}})
jobs.create("a name that is no label", {"metadata.name": "a.b"})
jobs.create("a bad name", {"metadata.name": "J_"})
jobs.create("a long name", {"metadata.name": "j" * 70})
jobs.create("pods that never end", {"spec.template.spec.restartPolicy": "Always"})
jobs.create("pods without a policy", {"spec.template.spec.restartPolicy": DROP})
jobs.create("an unknown policy", {"spec.template.spec.restartPolicy": "Foo"})
jobs.create("pods that restart", {"spec.template.spec.restartPolicy": "OnFailure"})
for field in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"):
    jobs.create(field + " below zero", {"spec." + field: -1})
jobs.create("all numbers below zero", {"spec.parallelism": -1, "spec.completions": -1, "spec.backoffLimit": -1})
jobs.create("only parallelism", {"spec.parallelism": 3})
jobs.create("only completions", {"spec.completions": 3})
jobs.create("suspended", {"spec.suspend": True})
jobs.create("a selector of one's own", {"spec.selector": {"matchLabels": {"a": "b"}}, "spec.template.metadata": {"labels": {"a": "b"}}})
jobs.create("a manual selector", {"spec.manualSelector": True, "spec.selector": {"matchLabels": {"a": "b"}},
                                  "spec.template.metadata": {"labels": {"a": "b"}}})
jobs.create("a manual selector without any", {"spec.manualSelector": True})
jobs.create("a manual selector that does not match", {"spec.manualSelector": True, "spec.selector": {"matchLabels": {"a": "b"}}})
jobs.create("a manual selector that is none", {"spec.manualSelector": True, "spec.selector": {"matchLabels": {"a": "x y"}},
                                               "spec.template.metadata": {"labels": {"a": "b"}}})
jobs.create("another job's name in a label", {"spec.template.metadata": {"labels": {"job-name": "other"}}})
jobs.create("an unknown mode", {"spec.completionMode": "Foo"})
jobs.create("indexed", INDEXED)
jobs.create("indexed without completions", {"spec.completionMode": "Indexed", "spec.parallelism": 2})
jobs.create("indexed with a name that gets too long", {**INDEXED, "metadata.name": "j" * 62})
jobs.create("indexed with a name with dots", {**INDEXED, "metadata.name": "a.b"})
jobs.create("indexed, too many at once", {**INDEXED, "spec.parallelism": 100001})
jobs.create("limits per index", {**INDEXED, "spec.backoffLimitPerIndex": 2, "spec.maxFailedIndexes": 3})
jobs.create("limits per index below zero", {**INDEXED, "spec.backoffLimitPerIndex": -2, "spec.maxFailedIndexes": -3})
jobs.create("more failures than completions", {**INDEXED, "spec.backoffLimitPerIndex": 2, "spec.maxFailedIndexes": 6})
jobs.create("failures without a limit", {**INDEXED, "spec.maxFailedIndexes": 3})
jobs.create("limits per index without indexes", {"spec.backoffLimitPerIndex": 2, "spec.maxFailedIndexes": 3})
jobs.create("a large one", {**INDEXED, "spec.completions": 100001, "spec.parallelism": 10001})
jobs.create("a large one with limits", {**INDEXED, "spec.completions": 100001, "spec.parallelism": 10001, "spec.backoffLimitPerIndex": 1})
jobs.create("a large one with large limits", {**INDEXED, "spec.completions": 200001, "spec.backoffLimitPerIndex": 1, "spec.maxFailedIndexes": 100001})
jobs.create("managed by somebody", {"spec.managedBy": "example.com/x"})
jobs.create("managed by nobody", {"spec.managedBy": ""})
jobs.create("managed without a prefix", {"spec.managedBy": "x"})
jobs.create("managed by a long name", {"spec.managedBy": "example.com/" + "x" * 60})
jobs.create("replaced when failed", {"spec.podReplacementPolicy": "Failed"})
jobs.create("replaced otherwise", {"spec.podReplacementPolicy": "Foo"})


def failing(*rules, **more):
    return {"spec.podFailurePolicy": {"rules": list(rules)}, **more}


CODES = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2]}}
jobs.create("a failure policy", failing(CODES, {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}))
jobs.create("a failure policy without rules", failing())
jobs.create("a failure policy with pods that restart", failing(CODES, **{"spec.template.spec.restartPolicy": "OnFailure"}))
jobs.create("a failure policy with another replacement", failing(CODES, **{"spec.podReplacementPolicy": "TerminatingOrFailed"}))
jobs.create("too many rules", failing(*[CODES] * 21))
jobs.create("a rule without anything", failing({"action": ""}))
jobs.create("an unknown action", failing(changed(CODES, {"action": "Foo"})))
jobs.create("an index fails that is none", failing(changed(CODES, {"action": "FailIndex"})))
jobs.create("an index fails", failing(changed(CODES, {"action": "FailIndex"}), **INDEXED, **{"spec.backoffLimitPerIndex": 1}))
jobs.create("both in one rule", failing({**CODES, "onPodConditions": [{"type": "T", "status": "True"}]}))
jobs.create("an unknown operator", failing(changed(CODES, {"onExitCodes.operator": "Foo"})))
jobs.create("no operator", failing(changed(CODES, {"onExitCodes.operator": ""})))
jobs.create("no values", failing(changed(CODES, {"onExitCodes.values": []})))
jobs.create("values out of order", failing(changed(CODES, {"onExitCodes.values": [2, 1]})))
jobs.create("values twice", failing(changed(CODES, {"onExitCodes.values": [1, 1]})))
jobs.create("zero among the values", failing(changed(CODES, {"onExitCodes.values": [0, 1]})))
jobs.create("zero not among the values", failing(changed(CODES, {"onExitCodes": {"operator": "NotIn", "values": [0]}})))
jobs.create("too many values", failing(changed(CODES, {"onExitCodes.values": list(range(1, 258))})))
jobs.create("a container that is not there", failing(changed(CODES, {"onExitCodes.containerName": "x"})))
jobs.create("a container that is there", failing(changed(CODES, {"onExitCodes.containerName": "c"})))
jobs.create("a condition that is no name", failing({"action": "Ignore", "onPodConditions": [{"type": "a b", "status": "Foo"}]}))
jobs.create("a condition without anything", failing({"action": "Ignore", "onPodConditions": [{"type": "T", "status": ""}]}))
jobs.create("too many conditions", failing({"action": "Ignore", "onPodConditions": [{"type": "T", "status": "True"}] * 21}))


def succeeding(*rules, **more):
    return {**INDEXED, "spec.successPolicy": {"rules": list(rules)}, **more}


jobs.create("a success policy", succeeding({"succeededIndexes": "0,2-4", "succeededCount": 2}))
jobs.create("a success policy without indexes", {"spec.successPolicy": {"rules": [{"succeededCount": 1}]}})
jobs.create("a success policy without rules", succeeding())
jobs.create("a success rule without anything", succeeding({}))
jobs.create("too many success rules", succeeding(*[{"succeededCount": 1}] * 21))
jobs.create("more successes than completions", succeeding({"succeededCount": 6}))
jobs.create("more successes than indexes", succeeding({"succeededCount": 3, "succeededIndexes": "0,1"}))
jobs.create("successes below zero", succeeding({"succeededCount": -1}))
for text in ("", "5", "x", "1-", "-1", "1-2-3", "2-1", "1-1", "3,2", "1,1", "0-2,2", "1,", ",1", "1, 2", "+1", "99999999999999999999"):
    jobs.create("succeeded indexes '%s'" % text, succeeding({"succeededIndexes": text}))

jobs.update("the object as it was first")
jobs.edit("nothing changes")
jobs.edit("the uid in a label changes", {("spec", "template", "metadata", "labels", "controller-uid"): "x"})
jobs.edit("labels go", {"metadata.labels": DROP})
jobs.edit("labels change", {"metadata.labels": {"x": "y"}})
jobs.edit("parallelism changes", {"spec.parallelism": 5})
jobs.edit("completions change", {"spec.completions": 5})
jobs.edit("completions of an indexed one", {"spec.completions": 7}, was=INDEXED)
jobs.edit("completions in tandem", {"spec.completions": 7, "spec.parallelism": 7}, was=INDEXED)
jobs.edit("the limit changes", {"spec.backoffLimit": 9, "spec.activeDeadlineSeconds": 7, "spec.ttlSecondsAfterFinished": 1})
jobs.edit("the mode changes", {"spec.completionMode": "Indexed"})
jobs.edit("a failure policy comes", failing(CODES, **{"spec.podReplacementPolicy": "Failed"}))
jobs.edit("a success policy comes", {"spec.successPolicy": {"rules": [{"succeededCount": 1}]}}, was=INDEXED)
jobs.edit("limits per index change", {"spec.backoffLimitPerIndex": 3}, was={**INDEXED, "spec.backoffLimitPerIndex": 2})
jobs.edit("the manager changes", {"spec.managedBy": "example.com/y"}, was={"spec.managedBy": "example.com/x"})
jobs.edit("it is suspended", {"spec.suspend": True})
MANUAL = {"spec.manualSelector": True, "spec.selector": {"matchLabels": {"a": "b"}}, "spec.template.metadata": {"labels": {"a": "b"}}}
jobs.edit("a manual selector changes", {"spec.selector": {"matchLabels": {"c": "d"}}, "spec.template.metadata.labels": {"a": "b", "c": "d"}}, was=MANUAL)
jobs.edit("the image changes", {"spec.template.spec.containers.0.image": "j"}, was=MANUAL)
SLEEPING = {**MANUAL, "spec.suspend": True}
jobs.edit("where a sleeping one runs", {"spec.template.spec.nodeSelector": {"x": "y"}, "spec.template.metadata.annotations": {"p": "q"},
                                         "spec.template.spec.tolerations": [{"key": "k", "operator": "Exists"}],
                                         "spec.template.spec.schedulingGates": [{"name": "g"}]}, was=SLEEPING)
jobs.edit("where one runs that does not sleep", {"spec.template.spec.nodeSelector": {"x": "y"}}, was=MANUAL)
jobs.edit("what a sleeping one gets", {"spec.template.spec.containers.0.resources": {"requests": {"cpu": "2"}}}, was=SLEEPING)
jobs.edit("what a sleeping one runs", {"spec.template.spec.containers.0.image": "j"}, was=SLEEPING)
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}}
jobs.edit("the affinity of a sleeping one", {"spec.template.spec.affinity": AFFINITY}, was=SLEEPING)
jobs.edit("the affinity of a sleeping one goes", {"spec.template.spec.affinity": DROP}, was={**SLEEPING, "spec.template.spec.affinity": AFFINITY})

T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"


def ended(*types, **more):
    return {"startTime": T1, "conditions": [{"type": t, "status": "True"} for t in types], **more}


def status(name, new, old=None, was=None):
    jobs.status(name, {"status": new}, was={**(was or {}), **({"status": old} if old is not None else {})})


status("numbers", {"active": 2, "ready": 1, "succeeded": 3, "failed": 4, "terminating": 1, "startTime": T1})
status("numbers below zero", {"active": -1, "ready": -2, "succeeded": -3, "failed": -4, "terminating": -5})
status("more ready than active", {"active": 1, "ready": 2})
status("uncounted pods", {"uncountedTerminatedPods": {"succeeded": ["a", "b"], "failed": ["c"]}})
status("uncounted pods twice", {"uncountedTerminatedPods": {"succeeded": ["a", ""], "failed": ["a"]}})
status("complete", ended("SuccessCriteriaMet", "Complete", completionTime=T2))
status("complete without success", ended("Complete", completionTime=T2))
status("complete without a time", ended("SuccessCriteriaMet", "Complete"))
status("complete before it began", ended("SuccessCriteriaMet", "Complete", startTime=T2, completionTime=T1))
status("complete with active pods", ended("SuccessCriteriaMet", "Complete", completionTime=T2, active=1, terminating=2))
status("complete and never started", {"completionTime": T2, "conditions": ended("SuccessCriteriaMet", "Complete")["conditions"]})
status("complete with uncounted pods", ended("SuccessCriteriaMet", "Complete", completionTime=T2, uncountedTerminatedPods={"failed": ["x"]}))
status("complete and failed", ended("SuccessCriteriaMet", "Complete", "FailureTarget", "Failed", completionTime=T2))
status("a time without completion", {"startTime": T1, "completionTime": T2})
status("failed", ended("FailureTarget", "Failed"))
status("failed without a target", ended("Failed"))
status("success and a failure", ended("SuccessCriteriaMet", "FailureTarget"))
status("failure is taken back", ended("FailureTarget"), old=ended("FailureTarget", "Failed"))
status("all is taken back", {"startTime": T1}, old=ended("SuccessCriteriaMet", "Complete", completionTime=T2))
status("success is taken back", {"startTime": T1}, old=ended("SuccessCriteriaMet"))
status("counters sink", {"succeeded": 1, "failed": 1}, old={"succeeded": 2, "failed": 2})
status("counters of an elastic one sink", {"succeeded": 1}, old={"succeeded": 2}, was={**INDEXED, "spec.parallelism": 5})
status("the end moves", ended("SuccessCriteriaMet", "Complete", completionTime="2026-01-01T02:00:00Z"),
       old=ended("SuccessCriteriaMet", "Complete", completionTime=T2))
status("the start moves", {"startTime": T2}, old={"startTime": T1})
status("the start of a sleeping one goes", {}, old={"startTime": T1}, was={"spec.suspend": True})
status("completed indexes", {"completedIndexes": "0,2-4"}, was=INDEXED)
status("completed indexes that are none", {"completedIndexes": "7"}, was=INDEXED)
status("completed indexes without indexes", {"completedIndexes": "0"})
status("failed indexes", {"failedIndexes": "1"}, was={**INDEXED, "spec.backoffLimitPerIndex": 1})
status("failed indexes that are none", {"failedIndexes": "x"}, was={**INDEXED, "spec.backoffLimitPerIndex": 1})
status("failed indexes without a limit", {"failedIndexes": "1"}, was=INDEXED)
status("indexes failed and completed", {"failedIndexes": "1,3", "completedIndexes": "0,2-4"}, was={**INDEXED, "spec.backoffLimitPerIndex": 1})
status("one index failed and completed", {"failedIndexes": "2", "completedIndexes": "0,2"}, was={**INDEXED, "spec.backoffLimitPerIndex": 1})
status("complete with a policy that is not met", ended("Complete", completionTime=T2),
       was={**INDEXED, "spec.successPolicy": {"rules": [{"succeededCount": 1}]}})
jobs.status("the spec is left alone", {"spec.parallelism": 9, "metadata.labels": {"x": "y"}})

# ---- CronJob ----

CRON = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}}
crons = Rows("batch/v1", "cronjobs", CRON)
crons.create("as small as can be")
crons.create("nothing in it", {"spec": {}})
crons.create("a name that is too long", {"metadata.name": "c" * 53})
crons.create("a name as long as can be", {"metadata.name": "c" * 52})
crons.create("a name that is no label", {"metadata.name": "a.b"})
for text in ("", "bad", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 7", "x * * * *",
             "1-2-3 * * * *", "5-2 * * * *", "*/0 * * * *", "1/2/3 * * * *", "-1 * * * *", "1,2,3 * * * *", ", * * * *", "1,,2 * * * *",
             "* * * jan-dec sun-sat", "* * * JAN MON", "* * * foo *", "? ? ? ? ?", "5/10 * * * *", "70/5 * * * *", "*/100 * * * *", "99999999999999999999 * * * *",
             "@daily", "@foo", "@every 1h", "@every x", "@every 1h30", "@Daily", " @daily", "*/5\t* *  * *", "TZ=UTC * * * * *", "TZ=Foo * * * * *",
             "CRON_TZ=Europe/Berlin 0 0 * * *", "TZ=UTC", "+5 * * * *", "1- * * * *", "* * * * mon#2", "é * * * *", "0 0 31 2 *", "1-60 * * * *"):
    crons.create("the schedule '%s'" % text, {"spec.schedule": text})
for text in ("Europe/Berlin", "UTC", "Local", "local", "", "Foo", "../x", "Europe/..", "a b", "-x", "/x", "America/Argentina/Buenos_Aires",
             "Etc/GMT+5", "europe/berlin", "a..b", "Averylongnameforazone"):
    crons.create("the time zone '%s'" % text, {"spec.timeZone": text})
crons.create("a deadline below zero", {"spec.startingDeadlineSeconds": -1})
crons.create("an unknown policy", {"spec.concurrencyPolicy": "Foo"})
crons.create("another policy", {"spec.concurrencyPolicy": "Forbid"})
crons.create("history below zero", {"spec.successfulJobsHistoryLimit": -1, "spec.failedJobsHistoryLimit": -1})
crons.create("pods that never end", {"spec.jobTemplate.spec.template.spec.restartPolicy": "Always"})
crons.create("a selector", {"spec.jobTemplate.spec.selector": {"matchLabels": {"a": "b"}}})
crons.create("a manual selector", {"spec.jobTemplate.spec.manualSelector": True})
crons.create("jobs below zero", {"spec.jobTemplate.spec.parallelism": -1, "spec.jobTemplate.spec.backoffLimit": -1})
crons.create("jobs with labels", {"spec.jobTemplate.metadata": {"labels": {"x": "y"}}})
crons.create("a status that is dropped", {"status": {"lastScheduleTime": T1}})
crons.update("the schedule changes", {"spec.schedule": "@daily"})
crons.update("the schedule is wrong", {"spec.schedule": "x"})
crons.update("the schedule gets a zone", {"spec.schedule": "TZ=UTC * * * * *"})
crons.update("the zone changes", {"spec.timeZone": "Foo"}, was={"spec.timeZone": "UTC"})
crons.update("the image changes", {"spec.jobTemplate.spec.template.spec.containers.0.image": "j"})
crons.update("it is suspended", {"spec.suspend": True})
crons.status("it ran", {"status": {"lastScheduleTime": T1, "lastSuccessfulTime": T2, "active": [{"kind": "Job", "name": "x"}]}, "spec.suspend": True})

ROWS = jobs.rows + crons.rows
