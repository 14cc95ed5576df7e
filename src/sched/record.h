/* sched/record.h - writes down everything that enters a scheduler, so that its run can be repeated
 * (replay.h).
 *
 * Recording begins before the scheduler is made:
 *
 *     recorder = recorder_new(&(struct recorder_options){ write, file, bytes_max, ... });
 *     options.io = recorder_io(recorder, &io);           times and extenders' answers are written down on the way in
 *     sched = sched_new(&options);
 *     recorder_attach(recorder, sched);
 *     ...
 *     record_pod(recorder, TYPED_JSON, bytes);           then, right after, what it says:
 *     sched_pod_set(sched, pod);
 *
 * Every function record_x stands beside sched_x and is called first. Objects are given as the bytes
 * that they were decoded from: typed forms do not keep them.
 *
 * The recording has a maximum length. What does not fit ends it: a last frame says so, and everything
 * after is ignored. The same goes for a write that fails. recorder_stopped tells.
 *
 * Thread: scheduling thread only.    Owns: a buffer for one frame. Files are the caller's business: see
 * `write`. */
#pragma once

#include "sched/objects.h"
#include "sched/sched.h"

struct recorder;

/* What a replay needs to make the same scheduler. */
struct record_start {
    uint64_t seed;
    struct str build;  /* of berth, for people */
    struct str config; /* whatever makes the same profiles: the text of a configuration */
    int32_t percentage_of_nodes_to_score;
    int64_t initial_backoff_ms, max_backoff_ms, unschedulable_ms_max;
    struct str feature_gates; /* as --feature-gates says them: "Name=true,Other=false" */
};

struct recorder_options {
    /* Appends to the recording; false: it could not. */
    bool (*write)(void *context, struct str bytes);
    void *context;
    uint64_t bytes_max;
    struct record_start start;
};

enum { RECORDER_BYTES_MIN = 4096 }; /* smaller maxima count as this */

struct recorder *recorder_new(const struct recorder_options *options);
/* The last frame, with the hash of all decisions, if there is a scheduler. */
void recorder_end(struct recorder *r);
void recorder_free(struct recorder *r);

/* `io` with eyes: pass this one to the scheduler. */
struct sched_io recorder_io(struct recorder *r, const struct sched_io *io);
/* From here on the recording holds the hash of the scheduler's decisions now and then. */
void recorder_attach(struct recorder *r, const struct sched *s);
/* NULL while it records; else why it does no longer. */
const char *recorder_stopped(const struct recorder *r);
uint64_t recorder_bytes(const struct recorder *r);

/* ---- Beside the functions of sched.h. A NULL recorder records nothing. ---- */

void record_node(struct recorder *r, enum typed_format format, struct str bytes);
void record_node_removed(struct recorder *r, struct str name);
void record_pod(struct recorder *r, enum typed_format format, struct str bytes);
void record_pod_removed(struct recorder *r, const char *uid);
void record_object(struct recorder *r, enum object_kind kind, enum typed_format format, struct str bytes);
void record_object_removed(struct recorder *r, enum object_kind kind, struct str ns, struct str name);
void record_run_once(struct recorder *r);
void record_tick(struct recorder *r);
void record_bound(struct recorder *r, io_ticket ticket, const char *error);
void record_volumes_bound(struct recorder *r, io_ticket ticket, const char *error);
void record_victim_done(struct recorder *r, io_ticket ticket, const char *error);
void record_permit(struct recorder *r, const char *uid, const char *scheduler_name, const char *plugin, bool allow,
                   const char *reason);
