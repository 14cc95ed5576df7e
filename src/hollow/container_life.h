/* hollow/container_life.h - the containers of a pod on a hollow node: where each of them stands, and its next move.
 *
 * All is read from the pod's own status, to the second: whoever looks at a pod anew goes on where the last one stopped.
 * Nothing runs. A container starts when it may, is started and ready when its probes would first have succeeded, and ends when
 * its time is up, with the exit code that it was given.
 *
 * Thread: any. Memory: the arena; results refer to the pod. */
#pragma once

#include "api/value.h"

enum container_phase { CONTAINER_WAITS, CONTAINER_RUNS, CONTAINER_ENDED };

struct container_life {
    const struct value *spec, *old; /* `old`: its status; absent: it has none */
    bool is_init, is_sidecar;       /* a sidecar is both */
    enum container_phase phase;
    const char *reason, *message; /* of waiting, or of the end */
    int64_t started_s, finished_s;
    int64_t exit_code;
    int64_t n_restarts;
    const struct value *last; /* its end before this life, a value of ContainerState; absent: none */
    bool started, ready;
};

/* How the containers of a pod live, from its annotations and its owner. */
struct container_plan {
    int64_t run_s;     /* -1: for ever */
    int64_t stop_s;    /* from the signal to the end */
    int64_t exit_code;
    bool restarts, restarts_after_success; /* what has ended */
};

enum {
    CONTAINER_BACKOFF_S = 10,
    CONTAINER_BACKOFF_S_MAX = 300,
    CONTAINER_KILLED = 137, /* its exit code when somebody lost patience */
};

/* What was never started waits for `reason`. */
void container_life_read(struct container_life *c, const struct value *spec, const struct value *statuses, const char *reason);
/* Its status as it is written. */
struct value container_life_status(struct arena *a, const struct container_life *c, const struct value *pod);

/* It may run: one move at most. The next one is due at *ret_due_s; INT64_MAX: never by itself. */
void container_life_advance(struct container_life *c, struct arena *a, const struct container_plan *plan, const struct value *pod,
                            int64_t now_s, int64_t *ret_due_s);
void container_life_start(struct container_life *c, int64_t now_s);
void container_life_end(struct container_life *c, int64_t exit_code, int64_t now_s);
/* Nobody knows what became of it. */
void container_life_lose(struct container_life *c);
/* Ended, and stays so. */
bool container_life_is_over(const struct container_life *c, const struct container_plan *plan);
