/* sched/replay.h - runs a recording (record.h) again and compares what is decided.
 *
 *     replay_open(bytes, &replay, &e);
 *     options.io = replay_io(replay);        and the seed and the rest of replay_start(replay)
 *     sched = sched_new(&options);
 *     replay_run(replay, sched, &result);
 *
 * The decisions are equal when the hashes in the recording are those of the new scheduler, bit for bit.
 * A recording may come from anywhere: torn and damaged ones are replayed up to the last good frame and
 * then reported, and nothing in one is believed before it was checked.
 *
 * Thread: scheduling thread only. Memory: the bytes must live as long as the replay. */
#pragma once

#include "sched/record.h"

struct replay;

/* Checks the beginning. */
enum err_code replay_open(struct str bytes, struct replay **ret_replay, struct err *e) ERR_MUST_CHECK;
void replay_free(struct replay *r);

const struct record_start *replay_start(const struct replay *r);
/* Times and extenders' answers come from the recording; what goes out is dropped. */
struct sched_io replay_io(struct replay *r);

enum replay_end {
    REPLAY_COMPLETE, /* the last frame was reached */
    REPLAY_AT_LIMIT, /* the same, of a recording that had reached its maximum length */
    REPLAY_TORN,     /* the recording stops without a last frame, or in the middle of one */
    REPLAY_DAMAGED,  /* a frame does not pass its check, or makes no sense */
    REPLAY_DIVERGED, /* other decisions, or other questions to the outside, than in the recording */
};

struct replay_result {
    enum replay_end end;
    const char *message; /* what happened where, for people; lives as long as the replay */
    uint64_t n_frames, n_inputs; /* good ones */
    uint64_t n_hashes;           /* that were compared and found equal */
    uint64_t hash;               /* of the decisions of this run */
};

/* Calls `progress` now and then while it runs. */
void replay_watch(struct replay *r, void (*progress)(void *context, size_t n_done, size_t n_bytes), void *context);
/* Feeds `s`, which must be fresh, until the recording ends or the decisions differ. */
void replay_run(struct replay *r, struct sched *s, struct replay_result *ret_result);
