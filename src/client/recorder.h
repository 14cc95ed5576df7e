/* client/recorder.h - Events about objects, written so that many equal ones cost little.
 *
 * The first Event of a kind is created; the second turns it into a series; further ones are only counted, and every half
 * hour, and when none has come for six minutes, the count is written. "Of a kind" is: same type, action, reason, reporter and
 * object, the object's version included; not the note. All as client-go's tools/events.
 *
 * A request whose server cannot be reached is tried again every ten seconds, twelve times in all; what a server refuses
 * is given up. Bounds: RECORDER_WAITING_MAX Events not written yet; more are dropped and counted. RECORDER_KINDS_MAX
 * kinds remembered; the oldest is forgotten for a new one, and its count with it.
 *
 * Thread: the loop's.    Owns: copies of all texts. */
#pragma once

#include "base/clock.h"
#include "client/api.h"

enum { RECORDER_WAITING_MAX = 20000, RECORDER_KINDS_MAX = 50000 };

struct recorder;

struct object_reference {
    struct str kind, ns, name, uid, api_version, resource_version;
};

struct recorder_event {
    struct str controller, instance; /* who reports */
    struct str type;                 /* "Normal" or "Warning" */
    struct str reason, action, note;
    struct object_reference regarding;
};

struct recorder *recorder_new(const struct api *api, const struct clock *clock, uint64_t seed);
/* Cancels what is under way. */
void recorder_free(struct recorder *r);

void recorder_add(struct recorder *r, const struct recorder_event *e);
/* Does what time brings. */
void recorder_tick(struct recorder *r);
/* Monotonic; INT64_MAX: nothing. */
int64_t recorder_due_ms(const struct recorder *r);

struct recorder_counts {
    uint64_t written, dropped, refused, given_up; /* requests that worked; Events for which there was no room; ... */
    uint32_t waiting, kinds;
};
struct recorder_counts recorder_counts(const struct recorder *r);
