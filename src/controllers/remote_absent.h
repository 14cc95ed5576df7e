/* controllers/remote_absent.h - whether an object that the copy of a far cluster lacks is gone, or just not seen yet.
 *
 * The API server is asked, once for each. An object that is there after all goes into the copy. That one of a uid is gone is
 * true for ever, and remembered.
 *
 * Bounds: ABSENT_KNOWN_MAX that are known to be gone, all forgotten when there are more; ABSENT_ASKED_MAX questions at once,
 * others are put when they are asked again.
 *
 * Thread: the loop's. */
#pragma once

#include "controllers/cluster.h"
#include "controllers/mirror.h"
#include "controllers/remote_requests.h"

enum { ABSENT_KNOWN_MAX = 8192, ABSENT_ASKED_MAX = 256 };

struct remote_absent;

struct remote_absent *remote_absent_new(struct mirror *m, struct remote_requests *requests);
/* No request is under way. */
void remote_absent_free(struct remote_absent *s);
/* As cluster_is_gone. */
bool remote_absent_is_gone(struct remote_absent *s, const struct cluster_object *o);
