/* insight/record_segments.h - the recording of a scheduler that runs for long, in files of which the newest are kept.
 *
 * A replay needs the state at its beginning, and a scheduler has more of that than objects: who waits for how long, what was
 * promised, where the next search begins, random numbers. None of it is in a recording. So a later segment can
 * only be replayed if the scheduler itself begins anew with it, from the objects alone, as it does when it becomes the
 * leader. That is what rotating means here:
 *
 *   1  A segment is FILE.1, FILE.2, ... Each is a whole recording (record.h): it begins with all objects that are known, then
 *      come the events. Each can be replayed alone, and has a hash of its own.
 *   2  When the segment is nearly full (record_segments_due) whoever runs the scheduler makes no more attempts until nothing
 *      is on its way (record_segments_can_rotate): no binding, no victim. That takes as long as the API server's answers.
 *   3  record_segments_rotate ends the segment and begins the next one; a new scheduler is made on its recorder; and
 *      record_segments_feed gives it every object, in the order in which they came. The old scheduler is freed.
 *
 *     if (record_segments_due(r) && record_segments_can_rotate(sched) && !record_segments_rotate(r, &e)) {
 *         sched_free(sched);
 *         options.io = recorder_io(record_segments_recorder(r), &io);
 *         sched = sched_new(&options);
 *         recorder_attach(record_segments_recorder(r), sched);
 *         record_segments_feed(r, sched, &e);
 *     }
 *
 * For pods this is like a change of leaders: those that waited for their back-off or for an event are tried again. What it
 * costs is the reading and decoding of all objects; measured in docs/operations.
 *
 * Objects are fed by the functions below, which record, and remember where in the file the newest bytes of every object
 * are: memory holds an entry for each (about 100 bytes), not the bytes. A segment that gets full before it could be
 * rotated ends at its limit; since what comes after it is in no file, there is no next segment then until the next start.
 *
 * Disk: all segments together, those of earlier runs too, are at most bytes_max; the oldest are removed.
 *
 * Thread: scheduling thread only; files are written and read by it.    Owns: the files, the recorder. */
#pragma once

#include "base/err.h"
#include "sched/record.h"

enum {
    RECORD_SEGMENTS = 4,          /* a segment has at most this part of bytes_max */
    RECORD_SEGMENTS_FILES_MAX = 1000,
};
#define RECORD_SEGMENTS_BYTES_MIN (16ull << 10)

struct record_segments_options {
    const char *path; /* FILE */
    uint64_t bytes_max; /* of all; less than RECORD_SEGMENTS_BYTES_MIN counts as that */
    struct record_start start; /* texts live as long */
    struct sym_table *syms;
};

struct record_segments;

/* Begins the first segment. Numbers go on after those of files that are there. */
enum err_code record_segments_open(const struct record_segments_options *options, struct record_segments **ret,
                                   struct err *e) ERR_MUST_CHECK;
/* Ends the recording. */
enum err_code record_segments_close(struct record_segments *r, struct err *e) ERR_MUST_CHECK;

/* Of the segment under way: for recorder_io, recorder_attach and the functions of record.h that are not about objects. */
struct recorder *record_segments_recorder(const struct record_segments *r);
/* NULL while it records; else why it does no longer. */
const char *record_segments_stopped(const struct record_segments *r);
/* The file under way. */
const char *record_segments_path(const struct record_segments *r);
/* Of all files now. */
uint64_t record_segments_bytes(const struct record_segments *r);

/* ---- Objects: beside sched_node_set and so on, and called first. A NULL recording records nothing. ---- */

void record_segments_node(struct record_segments *r, const struct node *node, enum typed_format format, struct str bytes);
void record_segments_node_removed(struct record_segments *r, struct str name);
void record_segments_pod(struct record_segments *r, const struct pod *pod, enum typed_format format, struct str bytes);
void record_segments_pod_removed(struct record_segments *r, const char *uid);
void record_segments_object(struct record_segments *r, enum object_kind kind, struct str ns, struct str name,
                            enum typed_format format, struct str bytes);
void record_segments_object_removed(struct record_segments *r, enum object_kind kind, struct str ns, struct str name);

/* ---- Rotating ---- */

bool record_segments_due(const struct record_segments *r);
bool record_segments_can_rotate(const struct sched *s);
enum err_code record_segments_rotate(struct record_segments *r, struct err *e) ERR_MUST_CHECK;
enum err_code record_segments_feed(struct record_segments *r, struct sched *s, struct err *e) ERR_MUST_CHECK;
