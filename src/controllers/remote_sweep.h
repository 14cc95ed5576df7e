/* controllers/remote_sweep.h - what is left in a namespace of a far cluster that is being deleted: found and deleted, as upstream
 * does, by asking for every resource that the server serves. So kinds that nobody watches (Events, custom resources) go as well,
 * and what watches have not shown yet.
 *
 * Bounds: SWEEPS_MAX namespaces at once, SWEEP_REQUESTS_MAX requests of each; others are begun when they are asked for again.
 *
 * Thread: the loop's. */
#pragma once

#include "controllers/remote_requests.h"

enum { SWEEPS_MAX = 16, SWEEP_REQUESTS_MAX = 8 };

struct remote_sweep;

struct remote_sweep *remote_sweep_new(const struct api *api, struct remote_requests *requests);
/* No request is under way. */
void remote_sweep_free(struct remote_sweep *s);
/* As cluster_is_swept: true is told once after every sweep that found nothing. */
bool remote_sweep_is_clean(struct remote_sweep *s, struct str namespace);
