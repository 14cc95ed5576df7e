/* client/event_recorder.h - Events about objects, written so that many equal ones cost little.
 *
 * The first Event of a kind is created; the second turns it into a series; further ones are only counted, and every half
 * hour, and when none has come for six minutes, the count is written. "Of a kind" is: same type, action, reason, reporter and
 * object, the object's version included; not the note. All as client-go's tools/events.
 *
 * A server may lack events.k8s.io: then they go to core/v1, as client-go's tools/record writes them. Every Event after the
 * first adds to its count, by a patch; those alike but for the note are others, and are combined when there are many;
 * about one object only so many are written (event_correlate.h). One request about an Event is under way at a time.
 *
 * A request whose server cannot be reached is tried again every ten seconds, twelve times in all; what a server refuses
 * is given up. Bounds: EVENT_RECORDER_WAITING_MAX Events not written yet; more are dropped and counted. EVENT_RECORDER_KINDS_MAX
 * kinds remembered; the oldest is forgotten for a new one, and its count with it.
 *
 * Thread: the loop's.    Owns: copies of all texts. */
#pragma once

#include "base/clock.h"
#include "client/api.h"

enum {
    EVENT_RECORDER_WAITING_MAX = 20000,
    EVENT_RECORDER_SENDING_MAX = 1000, /* at the server at once; the others wait here, and not in the client's lane */
    EVENT_RECORDER_KINDS_MAX = 50000,
};

struct event_recorder;

struct object_reference {
    struct str kind, ns, name, uid, api_version, resource_version;
};

struct event_to_record {
    struct str controller, instance; /* who reports */
    struct str type;                 /* "Normal" or "Warning" */
    struct str reason, action, note;
    struct object_reference regarding;
};

enum event_api { EVENT_API_EVENTS, EVENT_API_CORE };

/* Writes to events.k8s.io/v1. */
struct event_recorder *event_recorder_new(const struct api *api, const struct clock *clock, uint64_t seed);
/* Writes to core/v1 instead: for a server where GET /apis/events.k8s.io/v1 finds nothing, and for what election.h has to
 * say. Before the first Event. */
void event_recorder_use_core(struct event_recorder *r);
/* Cancels what is under way. */
void event_recorder_free(struct event_recorder *r);

void event_recorder_add(struct event_recorder *r, const struct event_to_record *e);
/* Does what time brings. */
void event_recorder_tick(struct event_recorder *r);
/* Monotonic; INT64_MAX: nothing. */
int64_t event_recorder_due_ms(const struct event_recorder *r);

struct event_recorder_counts {
    uint64_t written, dropped, refused, given_up; /* requests that worked; Events for which there was no room; ... */
    uint64_t left_out; /* core/v1: too many about one object */
    uint32_t waiting, kinds;
};
struct event_recorder_counts event_recorder_counts(const struct event_recorder *r);
