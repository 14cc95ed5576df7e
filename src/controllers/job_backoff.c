/* controllers/job_backoff.c - how long a Job waits before it replaces pods that failed. Upstream: controller/job/
 * backoff_utils.go. */
#include "controllers/job_sync.h"

static int64_t latest_s(struct job_pod *const *pods, size_t n)
{
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < n; i++)
        latest = pods[i]->finished_s > latest ? pods[i]->finished_s : latest;
    return latest;
}

/* A success forgets the failures up to it. */
struct job_backoff job_backoff_after(struct job_backoff old, struct job_pod *const *succeeded, size_t n_succeeded,
                                     struct job_pod *const *failed, size_t n_failed)
{
    int64_t since_s = latest_s(succeeded, n_succeeded);
    struct job_backoff b = n_succeeded ? (struct job_backoff){ 0 } : old;
    if (n_failed && !n_succeeded)
        b.last_failure_s = latest_s(failed, n_failed);
    for (size_t i = 0; i < n_failed; i++) {
        if (n_succeeded && failed[i]->finished_s <= since_s)
            continue;
        b.n_failures++;
        if (n_succeeded && failed[i]->finished_s > b.last_failure_s)
            b.last_failure_s = failed[i]->finished_s;
    }
    return b;
}

int64_t job_backoff_left_ms(struct job_backoff b, int64_t now_ms)
{
    if (b.n_failures == 0)
        return 0;
    int64_t wait_ms = JOB_POD_BACKOFF_MS;
    for (int64_t i = 1; i < b.n_failures && wait_ms < JOB_POD_BACKOFF_MAX_MS; i++)
        wait_ms *= 2;
    wait_ms = wait_ms < JOB_POD_BACKOFF_MAX_MS ? wait_ms : JOB_POD_BACKOFF_MAX_MS;
    int64_t elapsed_ms = now_ms - b.last_failure_s * 1000;
    return wait_ms < elapsed_ms ? 0 : wait_ms - elapsed_ms;
}
