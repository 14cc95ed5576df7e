/* controllers/event.h - Events that controllers write about objects: core/v1, as client-go's tools/record writes them.
 *
 * Equal ones are counted on one object, many alike are combined, and about one object there are only so many
 * (client/event_recorder.h, client/event_correlate.h); here they reach the API server of this process.
 *
 * Thread: the store's.    Owns: copies of all texts. */
#pragma once

#include "client/event_recorder.h"
#include "controllers/cluster.h"

struct events;

struct events *events_new(struct cluster *c);
void events_free(struct events *e);

/* The reference to an object: kind, names, uid and versions out of its value, whose type is of the resource. */
struct object_reference event_reference(const struct resource *r, const struct value *object);

/* `controller` names the reporter and the service account ("replicaset-controller"); `type` is "Normal" or "Warning". */
void events_record(struct events *e, const char *controller, const struct object_reference *about, const char *type,
                   const char *reason, const char *format, ...) __attribute__((format(printf, 6, 7)));
