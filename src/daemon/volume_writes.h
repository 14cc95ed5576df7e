/* daemon/volume_writes.h - writes the decisions about a pod's volumes: first all bindings, then all provisions.
 *
 * A binding puts the claim into the volume's claimRef; a provision names the node in an annotation of the claim, for
 * whoever makes the volume. Each is an update of the version that was decided on. The scheduler does not have the whole
 * object, so it is read first: when it has another version by then, that is the conflict which upstream's update, made
 * from its own copy, gets from the server. Fields that berth does not know are lost, as upstream loses those that it
 * does not know.
 *
 * The first failure ends the job; what was written until then stays, as upstream leaves it.
 *
 * Thread: the loop's. */
#pragma once

#include "client/api.h"
#include "daemon/volume_job.h"

struct volume_writes;

/* `error` NULL: all is written, and the job has the new versions. The text lives during the call. */
typedef void (*volume_writes_done)(void *context, struct volume_job *own_job, const char *error);

/* `done` is called once, never before this has returned. A job has something to write. */
struct volume_writes *volume_writes_start(const struct api *api, struct volume_job *own_job, volume_writes_done done,
                                          void *context);
/* `done` is not called; the job is gone. Not from within `done`. */
void volume_writes_cancel(struct volume_writes *w);
