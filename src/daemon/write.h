/* daemon/write.h - what the scheduling thread wants the loop to do at the API server, as plain bytes.
 *
 * Made by outbox.h on the scheduling thread, carried out by writer.h on the loop's. A write holds texts only: neither
 * syms nor forms, which belong to the scheduling thread.
 *
 * Memory: one block of its own arena, freed by whoever is the last to have it. */
#pragma once

#include "base/arena.h"
#include "base/list.h"
#include "client/api.h"
#include "client/event_recorder.h"
#include "sched/io.h"

enum write_kind {
    WRITE_BIND,
    WRITE_STATUS,
    WRITE_EVICT,   /* the status of a victim, then its deletion */
    WRITE_VOLUMES, /* what a binding waits for */
    WRITE_EVENT,
};

enum { WRITE_REQUESTS_MAX = 2 };

struct volume_job;

struct write {
    struct list_node node;
    struct arena arena;
    enum write_kind kind;
    io_ticket ticket; /* of the answer; 0: none is wanted */
    struct str uid;   /* of the pod: writes about one pod go out one after the other */
    struct str ns, name, target; /* of the pod; the node of a binding; for logs */
    struct api_request requests[WRITE_REQUESTS_MAX]; /* the next one goes out when the one before it worked */
    uint8_t n_requests, at, n_tries;
    struct event_to_record event; /* WRITE_EVENT */
    struct volume_job *job;       /* WRITE_VOLUMES: its own; NULL when it has gone on */
};

struct write *write_new(enum write_kind kind);
void write_free(struct write *w);
