/* daemon/intake.h - objects from the API server into the scheduler.
 *
 * The loop copies what reflectors tell into batches (struct intake_batch), which are mail to the scheduling thread.
 * There the objects become typed forms and go into the scheduler. They are decoded there, not on the loop, because
 * the forms' names live in the sym table, which has one owner: 2 us a pod, and the loop is free to read on.
 *
 * When a list is received again (a watch could not go on), what is known and not in it is gone: it is removed at the
 * end of the list. An object whose version is known already is no change.
 *
 * An object that cannot be decoded is logged and counted, and what was known of it stays.
 *
 * Thread: scheduling thread, except batches, which are filled by the loop. */
#pragma once

#include "client/reflector.h"
#include "daemon/engine.h"
#include "daemon/watched.h"

struct intake_item {
    uint8_t what, resource, format; /* enum reflected, enum watched, enum typed_format */
    struct str bytes;               /* in the batch's arena */
};

struct intake_batch {
    struct engine_mail mail;
    struct arena arena;
    VEC(struct intake_item) items;
    size_t n_bytes;
    /* Called by the scheduling thread when it has been taken in; owns the batch then. */
    void (*done)(struct intake_batch *own_batch);
    void *context;
};

struct intake_batch *intake_batch_new(void (*done)(struct intake_batch *own_batch), void *context);
void intake_batch_add(struct intake_batch *b, enum reflected what, enum watched resource,
                      const struct watch_object *object);
void intake_batch_free(struct intake_batch *b);

struct intake_options {
    struct engine *engine;
    /* All resources have been listed: once. */
    void (*synced)(void *context);
    void *context;
};

struct intake *intake_new(const struct intake_options *o);
void intake_free(struct intake *i);

/* For tests: objects taken in; of them known already; not decoded; gone because a list lacks them. */
struct intake_counts {
    uint64_t n_objects, n_unchanged, n_failed, n_swept;
};
struct intake_counts intake_counts(const struct intake *i);
