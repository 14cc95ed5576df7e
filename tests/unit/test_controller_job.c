/* tests/unit/test_controller_job.c - what the job controller does, from a Job and its pods, without any server. */
#include "codec/json.h"
#include "controllers/job_sync.h"
#include "tests/test.h"

enum { NOW_S = 1000 }; /* 1970-01-01T00:16:40Z */

static struct value decode(struct arena *a, const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s: %s", json, e.message);
    return v;
}

/* ---- Sets of indexes ---- */

TEST(indexes_read_and_write)
{
    static const struct {
        const char *what, *text;
        int completions;
        const char *want;
        int total;
    } rows[] = {
        { "nothing", "", 10, "", 0 },
        { "single ones", "0,2,4", 10, "0,2,4", 3 },
        { "two in a row stay two numbers", "1,2", 10, "1,2", 2 },
        { "three in a row become a range", "1,2,3", 10, "1-3", 3 },
        { "ranges that touch become one", "0-3,4-6", 10, "0-6", 7 },
        { "what is above the completions is left out", "1,3-7,9", 5, "1,3,4", 3 },
        { "what is no number is passed over", "1,x,3", 10, "1,3", 2 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct indexes x = indexes_parse(&a, str_of(rows[i].text), rows[i].completions);
        CHECK_TEXT(rows[i].what, indexes_format(&a, x), rows[i].want);
        CHECK_INT(rows[i].what, indexes_total(x), rows[i].total);
    }
    arena_fini(&a);
}

TEST(indexes_as_sets)
{
    static const struct {
        const char *what, *x, *y, *both;
        int common;
    } rows[] = {
        { "one is empty", "", "1-3", "1-3", 0 },
        { "they interleave", "0,4", "2,6", "0,2,4,6", 0 },
        { "they touch", "0-2", "3-5", "0-5", 0 },
        { "they overlap", "0-4", "3-8", "0-8", 2 },
        { "one is within the other", "0-9", "3,5", "0-9", 2 },
        { "they are equal", "1,3-5", "1,3-5", "1,3-5", 4 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct indexes x = indexes_parse(&a, str_of(rows[i].x), 100), y = indexes_parse(&a, str_of(rows[i].y), 100);
        CHECK_TEXT(rows[i].what, indexes_format(&a, indexes_union(&a, x, y)), rows[i].both);
        CHECK_INT(rows[i].what, indexes_common(x, y), rows[i].common);
        CHECK_INT(rows[i].what, indexes_common(y, x), rows[i].common);
        for (int k = 0; k < 12; k++)
            CHECK_INT(rows[i].what, indexes_has(indexes_union(&a, x, y), k), indexes_has(x, k) || indexes_has(y, k));
    }
    arena_fini(&a);
}

/* ---- Turns ---- */

#define DELETED ",\"deletionTimestamp\":\"1970-01-01T00:16:40Z\",\"deletionGracePeriodSeconds\":0"
#define TRACKED ",\"finalizers\":[\"batch.kubernetes.io/job-tracking\"]"
#define INDEX(i) ",\"annotations\":{\"batch.kubernetes.io/job-completion-index\":\"" #i "\"}"
#define INDEX_FAILED(i, n)                                                                                              \
    ",\"annotations\":{\"batch.kubernetes.io/job-completion-index\":\"" #i                                                 \
    "\",\"batch.kubernetes.io/job-index-failure-count\":\"" #n "\"}"
#define POD(name, meta, phase, status)                                                                                     \
    "{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name "\",\"uid\":\"u-" name                                           \
    "\",\"creationTimestamp\":\"1970-01-01T00:10:00Z\"" meta "},\"status\":{\"phase\":\"" phase "\"" status "}}"
#define READY ",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]"
/* Ended at second 995 or 500. */
#define ENDED(at, code)                                                                                                    \
    ",\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":" #code ",\"finishedAt\":\"" at "\"}}}]"
#define JUST_NOW "1970-01-01T00:16:35Z"
#define LONG_AGO "1970-01-01T00:08:20Z"
#define JOB(spec, status) "{\"spec\":{\"parallelism\":2,\"backoffLimit\":6" spec "},\"status\":{" status "}}"
#define STARTED "\"startTime\":\"1970-01-01T00:15:00Z\",\"ready\":0,\"terminating\":0"
#define AT "\"lastProbeTime\":\"1970-01-01T00:16:40Z\",\"lastTransitionTime\":\"1970-01-01T00:16:40Z\""
#define COND(type, reason, message)                                                                                        \
    "{\"type\":\"" type "\",\"status\":\"True\"," AT ",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define REACHED "CompletionsReached", "Reached expected number of succeeded pods"
#define INDEXED ",\"completions\":4,\"completionMode\":\"Indexed\""
#define ON_EXIT(action)                                                                                                    \
    ",\"podFailurePolicy\":{\"rules\":[{\"action\":\"" action                                                              \
    "\",\"onExitCodes\":{\"operator\":\"In\",\"values\":[42]}}]}"

struct turn_row {
    const char *what, *job, *pods; /* pods: items of a list */
    const char *plan;              /* what is made and deleted, and when it is looked at again */
    const char *account;           /* the first status, NULL: none is written */
    const char *releases;
    const char *settled; /* the second, NULL: none is written */
    const char *events;
};

static const struct turn_row turns[] = {
    { "a new job makes as many pods as may run at once", JOB(",\"completions\":3", ""), "", "make - -",
      "{\"startTime\":\"1970-01-01T00:16:40Z\",\"active\":2,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "not more than are still missing", JOB(",\"completions\":3", STARTED ",\"succeeded\":2"), "", "make -",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"succeeded\":2,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "a job that is suspended makes none", JOB(",\"completions\":3,\"suspend\":true", ""), "", "",
      "{\"conditions\":[" COND("Suspended", "JobSuspended", "Job suspended") "],\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL,
      "Suspended: Job suspended; " },
    { "suspension deletes what runs", JOB(",\"completions\":3,\"suspend\":true", STARTED ",\"active\":1"), POD("a", TRACKED, "Running", READY), "delete a",
      "{\"conditions\":[" COND("Suspended", "JobSuspended", "Job suspended") "],\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL,
      "Suspended: Job suspended; " },
    { "a resumed job starts its clock again",
      JOB(",\"completions\":1", STARTED ",\"conditions\":[" COND("Suspended", "JobSuspended", "Job suspended") "]"), "", "make -",
      "{\"conditions\":[{\"type\":\"Suspended\",\"status\":\"False\"," AT ",\"reason\":\"JobResumed\",\"message\":\"Job resumed\"}],"
      "\"startTime\":\"1970-01-01T00:16:40Z\",\"active\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL,
      "Resumed: Job resumed; " },
    { "nothing to do, nothing is written", JOB(",\"completions\":3", STARTED ",\"active\":2"), POD("a", TRACKED, "Running", "") "," POD("b", TRACKED, "Pending", ""),
      "", NULL, "", NULL, "" },
    { "too many: the one that is not ready goes", JOB(",\"completions\":1", STARTED ",\"active\":2"),
      POD("a", TRACKED, "Running", READY) "," POD("b", TRACKED, "Running", ""), "delete b",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":1}", "", NULL, "" },
    { "a pod that succeeded is written down before its finalizer goes, then counted", JOB(",\"completions\":3", STARTED ",\"active\":2"),
      POD("a", TRACKED, "Succeeded", "") "," POD("b", TRACKED, "Running", ""), "make -",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"terminating\":0,\"uncountedTerminatedPods\":{\"succeeded\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"succeeded\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "one that was written down before is not written twice", JOB(",\"completions\":3", STARTED ",\"active\":2,\"uncountedTerminatedPods\":{\"succeeded\":[\"u-a\"]}"),
      POD("a", TRACKED, "Succeeded", "") "," POD("b", TRACKED, "Running", "") "," POD("c", TRACKED, "Running", ""), "", NULL, "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"succeeded\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "one that is gone meanwhile is counted", JOB(",\"completions\":3", STARTED ",\"active\":2,\"uncountedTerminatedPods\":{\"failed\":[\"u-x\"]}"),
      POD("b", TRACKED, "Running", "") "," POD("c", TRACKED, "Running", ""), "",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"failed\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "the last pod completes the job", JOB(",\"completions\":1", STARTED ",\"active\":1"), POD("a", TRACKED, "Succeeded", ""), "",
      "{\"conditions\":[" COND("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"terminating\":0,\"uncountedTerminatedPods\":{\"succeeded\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"conditions\":[" COND("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods") ","
      COND("Complete", "CompletionsReached", "Reached expected number of succeeded pods") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"completionTime\":\"1970-01-01T00:16:40Z\",\"succeeded\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "Completed: Job completed; " },
    { "without completions one success is enough, but what runs may end", JOB("", STARTED ",\"active\":2"),
      POD("a", TRACKED, "Succeeded", "") "," POD("b", TRACKED, "Running", ""), "",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"terminating\":0,\"uncountedTerminatedPods\":{\"succeeded\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"succeeded\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "after a failure the next pod waits ten seconds", JOB(",\"completions\":1", STARTED ",\"active\":1"), POD("a", TRACKED, "Failed", ENDED(JUST_NOW, 1)), "again 5000",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"terminating\":0,\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"failed\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "but not when it was long ago", JOB(",\"completions\":1", STARTED ",\"active\":1"), POD("a", TRACKED, "Failed", ENDED(LONG_AGO, 1)), "make -",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"terminating\":0,\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"failed\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "too many failures end it; what runs is deleted and counts as failed", JOB(",\"completions\":9,\"backoffLimit\":0", STARTED ",\"active\":2"),
      POD("a", TRACKED, "Failed", ENDED(JUST_NOW, 1)) "," POD("b", TRACKED, "Running", ""), "delete b (kept)",
      "{\"conditions\":[" COND("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"terminating\":1,\"uncountedTerminatedPods\":{\"failed\":[\"u-a\",\"u-b\"]},\"ready\":0}", "a b",
      "{\"conditions\":[" COND("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"failed\":2,\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "the end comes when nothing terminates any more",
      JOB(",\"completions\":9,\"backoffLimit\":0", STARTED ",\"failed\":2,\"conditions\":[" COND("FailureTarget", "BackoffLimitExceeded", "m") "]"), "", "", NULL, "",
      "{\"conditions\":[" COND("FailureTarget", "BackoffLimitExceeded", "m") "," COND("Failed", "BackoffLimitExceeded", "m") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"failed\":2,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "BackoffLimitExceeded: m; " },
    { "containers that restart count, too", JOB(",\"completions\":1,\"backoffLimit\":3,\"template\":{\"spec\":{\"restartPolicy\":\"OnFailure\"}}", STARTED ",\"active\":1,\"conditions\":[]"),
      POD("a", TRACKED, "Running", ",\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":3}]"), "delete a (kept)",
      "{\"conditions\":[" COND("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"terminating\":1,\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"conditions\":[" COND("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"failed\":1,\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "a deadline that is still to come", JOB(",\"completions\":1,\"activeDeadlineSeconds\":101", STARTED ",\"active\":1"), POD("a", TRACKED, "Running", ""), "again 1000",
      NULL, "", NULL, "" },
    { "a deadline that has passed", JOB(",\"completions\":1,\"activeDeadlineSeconds\":100", STARTED ",\"active\":1"), "", "",
      "{\"conditions\":[" COND("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "",
      "{\"conditions\":[" COND("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline") ","
      COND("Failed", "DeadlineExceeded", "Job was active longer than specified deadline") "],\"startTime\":\"1970-01-01T00:15:00Z\","
      "\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "DeadlineExceeded: Job was active longer than specified deadline; " },
    { "a pod that is being deleted has failed", JOB(",\"completions\":1", STARTED ",\"active\":1"), POD("a", TRACKED DELETED, "Running", ""), "again 10000",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"terminating\":1,\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"failed\":1,\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "unless it is to be replaced only when it has", JOB(",\"completions\":1,\"podReplacementPolicy\":\"Failed\"", STARTED ",\"active\":1"),
      POD("a", TRACKED DELETED, "Running", ""), "", "{\"startTime\":\"1970-01-01T00:15:00Z\",\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "a job that is being deleted lets its pods go", "{\"metadata\":{\"deletionTimestamp\":\"1970-01-01T00:16:40Z\"},\"spec\":{\"parallelism\":2,\"completions\":2},\"status\":{" STARTED ",\"active\":1}}",
      POD("a", TRACKED, "Running", ""), "", NULL, "a", NULL, "" },
    { "a policy ends the job by an exit code", JOB(",\"completions\":2" ON_EXIT("FailJob"), STARTED ",\"active\":2"),
      POD("a", TRACKED, "Failed", ENDED(JUST_NOW, 42)) "," POD("b", TRACKED, "Succeeded", ""), "",
      "{\"conditions\":[" COND("FailureTarget", "PodFailurePolicy", "Container c for pod n/a failed with exit code 42 matching FailJob rule at index 0") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"terminating\":0,\"uncountedTerminatedPods\":{\"succeeded\":[\"u-b\"],\"failed\":[\"u-a\"]},\"ready\":0}", "a b",
      "{\"conditions\":[" COND("FailureTarget", "PodFailurePolicy", "Container c for pod n/a failed with exit code 42 matching FailJob rule at index 0") ","
      COND("Failed", "PodFailurePolicy", "Container c for pod n/a failed with exit code 42 matching FailJob rule at index 0") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"succeeded\":1,\"failed\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}",
      "PodFailurePolicy: Container c for pod n/a failed with exit code 42 matching FailJob rule at index 0; " },
    { "a policy ignores a failure", JOB(",\"completions\":1,\"backoffLimit\":0" ON_EXIT("Ignore"), STARTED ",\"active\":1"), POD("a", TRACKED, "Failed", ENDED(LONG_AGO, 42)),
      "make -", NULL, "a", NULL, "" },
    { "a policy looks at conditions", JOB(",\"completions\":1,\"podFailurePolicy\":{\"rules\":[{\"action\":\"FailJob\",\"onPodConditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}]}", STARTED ",\"active\":1"),
      POD("a", TRACKED, "Failed", ",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]"), "",
      "{\"conditions\":[" COND("FailureTarget", "PodFailurePolicy", "Pod n/a has condition DisruptionTarget matching FailJob rule at index 0") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"terminating\":0,\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"conditions\":[" COND("FailureTarget", "PodFailurePolicy", "Pod n/a has condition DisruptionTarget matching FailJob rule at index 0") ","
      COND("Failed", "PodFailurePolicy", "Pod n/a has condition DisruptionTarget matching FailJob rule at index 0") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"failed\":1,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}",
      "PodFailurePolicy: Pod n/a has condition DisruptionTarget matching FailJob rule at index 0; " },
    { "an indexed job begins with the first indexes", JOB(INDEXED, STARTED), "", "make 0 1",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"terminating\":0,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "it goes on with those that are missing", JOB(INDEXED, STARTED ",\"active\":2,\"succeeded\":1,\"completedIndexes\":\"1\""),
      POD("a", TRACKED INDEX(0), "Running", ""), "make 2",
      NULL, "", NULL, "" },
    { "an index that is done needs no list", JOB(INDEXED, STARTED ",\"active\":1"), POD("a", TRACKED INDEX(2), "Succeeded", ""), "make 0 1",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"succeeded\":1,\"terminating\":0,\"completedIndexes\":\"2\",\"uncountedTerminatedPods\":{},\"ready\":0}", "a", NULL, "" },
    { "two pods of one index: one goes", JOB(INDEXED, STARTED ",\"active\":2"),
      POD("a", TRACKED INDEX(0), "Running", "") "," POD("b", TRACKED INDEX(0), "Pending", ""), "delete b",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"terminating\":1,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "an index that does not exist goes", JOB(INDEXED, STARTED ",\"active\":2"),
      POD("a", TRACKED INDEX(7), "Running", "") "," POD("b", TRACKED INDEX(0), "Pending", "") "," POD("c", TRACKED, "Running", ""), "delete c a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"terminating\":2,\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "with a limit for each index a failed pod stays until it is replaced", JOB(INDEXED ",\"backoffLimitPerIndex\":1", STARTED ",\"active\":2"),
      POD("a", TRACKED INDEX_FAILED(0, 0), "Failed", ENDED(JUST_NOW, 1)) "," POD("b", TRACKED INDEX(1), "Running", ""), "again 5000",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":1,\"terminating\":0,\"failedIndexes\":\"\",\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "what replaces it knows of the failure", JOB(INDEXED ",\"backoffLimitPerIndex\":1", STARTED ",\"active\":1,\"failedIndexes\":\"\""),
      POD("a", TRACKED INDEX_FAILED(0, 0), "Failed", ENDED(LONG_AGO, 1)) "," POD("b", TRACKED INDEX(1), "Running", ""), "make 0(1)",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"terminating\":0,\"failedIndexes\":\"\",\"uncountedTerminatedPods\":{},\"ready\":0}", "", NULL, "" },
    { "an index that failed too often is left alone", JOB(INDEXED ",\"backoffLimitPerIndex\":1", STARTED ",\"active\":1,\"failedIndexes\":\"\""),
      POD("a", TRACKED INDEX_FAILED(0, 1), "Failed", ENDED(LONG_AGO, 1)), "make 1 2",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"terminating\":0,\"failedIndexes\":\"0\",\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"startTime\":\"1970-01-01T00:15:00Z\",\"active\":2,\"failed\":1,\"terminating\":0,\"failedIndexes\":\"0\",\"uncountedTerminatedPods\":{},\"ready\":0}", "" },
    { "too many failed indexes end it", JOB(INDEXED ",\"backoffLimitPerIndex\":0,\"maxFailedIndexes\":0", STARTED),
      POD("a", TRACKED INDEX_FAILED(0, 0), "Failed", ENDED(LONG_AGO, 1)), "",
      "{\"conditions\":[" COND("FailureTarget", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"terminating\":0,\"failedIndexes\":\"0\",\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"conditions\":[" COND("FailureTarget", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes") ","
      COND("Failed", "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"failed\":1,\"terminating\":0,\"failedIndexes\":\"0\",\"uncountedTerminatedPods\":{},\"ready\":0}",
      "MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes; " },
    { "a policy fails an index at once", JOB(INDEXED ",\"backoffLimitPerIndex\":5" ON_EXIT("FailIndex"), STARTED ",\"succeeded\":3,\"completedIndexes\":\"1-3\""),
      POD("a", TRACKED INDEX_FAILED(0, 0), "Failed", ENDED(LONG_AGO, 42)), "",
      "{\"conditions\":[" COND("FailureTarget", "FailedIndexes", "Job has failed indexes") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"succeeded\":3,\"terminating\":0,\"completedIndexes\":\"1-3\",\"failedIndexes\":\"0\",\"uncountedTerminatedPods\":{\"failed\":[\"u-a\"]},\"ready\":0}", "a",
      "{\"conditions\":[" COND("FailureTarget", "FailedIndexes", "Job has failed indexes") "," COND("Failed", "FailedIndexes", "Job has failed indexes") "],"
      "\"startTime\":\"1970-01-01T00:15:00Z\",\"succeeded\":3,\"failed\":1,\"terminating\":0,\"completedIndexes\":\"1-3\",\"failedIndexes\":\"0\",\"uncountedTerminatedPods\":{},\"ready\":0}",
      "FailedIndexes: Job has failed indexes; " },
    { "a success policy ends it before all are done; what runs does not count", JOB(INDEXED ",\"successPolicy\":{\"rules\":[{\"succeededIndexes\":\"0-2\",\"succeededCount\":1}]}", STARTED ",\"active\":2"),
      POD("a", TRACKED INDEX(1), "Succeeded", "") "," POD("b", TRACKED INDEX(0), "Running", ""), "delete b (kept)",
      "{\"conditions\":[" COND("SuccessCriteriaMet", "SuccessPolicy", "Matched rules at index 0") "],\"startTime\":\"1970-01-01T00:15:00Z\",\"succeeded\":1,\"terminating\":1,"
      "\"completedIndexes\":\"1\",\"uncountedTerminatedPods\":{},\"ready\":0}", "b a", NULL, "" },
};

static struct str status_of(struct arena *a, const struct value *job, const struct job_sync *s)
{
    const struct type *t = schema_type(STR("batch/v1.Job"));
    struct value v = job_status_write(a, job, &s->job.status);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    json_encode(&text, schema_type(STR("batch/v1.JobStatus")), value_path(t, &v, "status"));
    struct str copy = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static struct str plan_text(struct arena *a, const struct job_sync *s)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (size_t i = 0; i < s->n_creations; i++) {
        const struct job_creation *c = &s->creations[i];
        strbuf_add_text(&text, i ? "" : "make");
        if (c->index == JOB_NO_INDEX)
            strbuf_add_text(&text, " -");
        else
            strbuf_printf(&text, " %lld", (long long)c->index);
        if (c->n_failures)
            strbuf_printf(&text, "(%lld)", (long long)c->n_failures);
    }
    for (size_t i = 0; i < s->n_deletions; i++)
        strbuf_printf(&text, "%s %.*s", i ? "" : "delete", STR_ARG(s->deletions[i]->name));
    strbuf_add_text(&text, s->n_deletions && s->deletions_keep_finalizers ? " (kept)" : "");
    if (s->look_again_ms != JOB_NONE)
        strbuf_printf(&text, "again %lld", (long long)s->look_again_ms);
    struct str copy = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static struct str names_text(struct arena *a, const struct job_sync *s)
{
    const char *text = "";
    for (size_t i = 0; i < s->n_releases; i++)
        text = arena_printf(a, "%s%s%.*s", text, i ? " " : "", STR_ARG(s->releases[i]->name));
    return str_of(text);
}

static struct str events_text(struct arena *a, const struct job_sync *s)
{
    const char *text = "";
    for (size_t i = 0; i < s->n_events; i++)
        text = arena_printf(a, "%s%s: %s; ", text, s->events[i].reason, s->events[i].message);
    return str_of(text);
}

static struct job_sync state_of(struct arena *a, const struct value *job, const char *pods_json)
{
    struct job_sync s = { .arena = a, .job = job_facts_read(a, job), .now_ms = NOW_S * 1000 };
    struct value list = decode(a, "core/v1.PodList", arena_printf(a, "{\"items\":[%s]}", pods_json));
    const struct value *items = value_path(schema_type(STR("core/v1.PodList")), &list, "items");
    s.n_pods = items->kind == VALUE_LIST ? items->n : 0;
    s.pods = ARENA_NEW_N(a, struct job_pod, s.n_pods);
    for (size_t i = 0; i < s.n_pods; i++)
        s.pods[i] = job_pod_read(a, &items->items[i], &s.job.failure_policy);
    return s;
}

static void check_status(struct arena *a, const char *what, const struct value *job, const struct job_sync *s, const char *want)
{
    CHECK_STR(what, s->writes_status ? status_of(a, job, s) : STR("nothing"), str_of(want ? want : "nothing"));
}

static void check_turn(struct arena *a, const struct turn_row *r)
{
    struct value job = decode(a, "batch/v1.Job", r->job);
    struct job_sync s = state_of(a, &job, r->pods);
    job_sync_plan(&s);
    CHECK_STR(r->what, plan_text(a, &s), str_of(r->plan));
    job_sync_account(&s, &(struct job_outcome){ 0 });
    check_status(a, r->what, &job, &s, r->account);
    CHECK_STR(r->what, names_text(a, &s), str_of(r->releases));
    job_sync_settle(&s, NULL);
    check_status(a, r->what, &job, &s, r->settled);
    CHECK_STR(r->what, events_text(a, &s), str_of(r->events));
}

TEST(turns_of_jobs)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++, arena_reset(&a))
        check_turn(&a, &turns[i]);
    arena_fini(&a);
}

/* ---- When not all goes well ---- */

TEST(a_pod_that_was_not_made_does_not_count)
{
    struct arena a;
    arena_init(&a);
    struct value job = decode(&a, "batch/v1.Job", JOB(",\"completions\":3", STARTED));
    struct job_sync s = state_of(&a, &job, "");
    job_sync_plan(&s);
    job_sync_account(&s, &(struct job_outcome){ .n_not_created = 1 });
    CHECK_INT("active", s.job.status.active, 1);
    arena_fini(&a);
}

TEST(a_pod_that_was_not_deleted_keeps_the_job_from_its_end)
{
    struct arena a;
    arena_init(&a);
    struct value job = decode(&a, "batch/v1.Job", JOB(",\"completions\":9,\"backoffLimit\":0", STARTED ",\"failed\":1"));
    struct job_sync s = state_of(&a, &job, POD("a", TRACKED, "Running", READY));
    job_sync_plan(&s);
    job_sync_account(&s, &(struct job_outcome){ .n_not_deleted = 1, .n_ready_not_deleted = 1 });
    CHECK_INT("active", s.job.status.active, 1);
    CHECK_INT("ready", s.job.status.ready, 1);
    CHECK_INT("releases", s.n_releases, 0);
    job_sync_settle(&s, NULL);
    CHECK(!s.finished.type);
    arena_fini(&a);
}

TEST(a_finalizer_that_stays_keeps_its_pod_uncounted)
{
    struct arena a;
    arena_init(&a);
    struct value job = decode(&a, "batch/v1.Job", JOB(",\"completions\":2", STARTED));
    struct job_sync s = state_of(&a, &job, POD("a", TRACKED, "Succeeded", "") "," POD("b", TRACKED, "Succeeded", ""));
    job_sync_plan(&s);
    job_sync_account(&s, &(struct job_outcome){ 0 });
    job_sync_settle(&s, (bool[]){ true, false });
    CHECK_INT("counted", s.job.status.succeeded, 1);
    CHECK_INT("left", s.job.status.uncounted_succeeded.n, 1);
    CHECK_INT("events", s.n_events, 0);
    arena_fini(&a);
}

TEST(a_status_names_only_so_many_pods)
{
    enum { N = JOB_UNCOUNTED_PODS_MAX + 10 };
    struct arena a;
    arena_init(&a);
    struct value job = decode(&a, "batch/v1.Job", JOB(",\"completions\":1000", STARTED));
    struct job_sync s = { .arena = &a, .job = job_facts_read(&a, &job), .now_ms = NOW_S * 1000 };
    s.pods = ARENA_NEW_N(&a, struct job_pod, N);
    s.n_pods = N;
    for (size_t i = 0; i < N; i++)
        s.pods[i] = (struct job_pod){ .uid = str_of(arena_printf(&a, "%zu", i)), .phase = JOB_POD_SUCCEEDED, .tracked = true };
    job_sync_plan(&s);
    job_sync_account(&s, &(struct job_outcome){ 0 });
    CHECK_INT("on the list", s.job.status.uncounted_succeeded.n, JOB_UNCOUNTED_PODS_MAX);
    CHECK_INT("released", s.n_releases, JOB_UNCOUNTED_PODS_MAX);
    arena_fini(&a);
}

TEST(back_off_doubles_and_ends)
{
    static const struct {
        int n_failures;
        long long left_ms;
    } rows[] = { { 0, 0 }, { 1, 10000 }, { 2, 20000 }, { 3, 40000 }, { 6, 320000 }, { 7, 600000 }, { 1000000, 600000 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT("left", job_backoff_left_ms((struct job_backoff){ rows[i].n_failures, NOW_S }, NOW_S * 1000), rows[i].left_ms);
}

TEST(a_success_forgets_failures_before_it)
{
    struct job_pod early = { .finished_s = 10 }, success = { .finished_s = 20 }, late = { .finished_s = 30 };
    struct job_pod *failed[] = { &late, &early }, *succeeded[] = { &success };
    struct job_backoff b = job_backoff_after((struct job_backoff){ 5, 5 }, succeeded, 1, failed, 2);
    CHECK_INT("with a success", b.n_failures, 1);
    CHECK_INT("with a success", b.last_failure_s, 30);
    b = job_backoff_after((struct job_backoff){ 5, 5 }, succeeded, 0, failed, 2);
    CHECK_INT("without", b.n_failures, 7);
    CHECK_INT("without", b.last_failure_s, 30);
}
