/* controllers/failure_backoff.h - how long to wait before what failed under a key is tried again: a second, then twice
 * as long each time, up to 15 minutes. What has not failed for twice the longest wait begins again.
 *
 * Upstream: client-go's flowcontrol.Backoff, as the daemonset controller uses it.
 *
 * Thread: one at a time. Time: never reads the clock.    Owns: copies of keys. */
#pragma once

#include "base/str.h"

enum { FAILURE_BACKOFF_MIN_MS = 1000, FAILURE_BACKOFF_MAX_MS = 15 * 60 * 1000, FAILURE_BACKOFF_SWEEP_MS = 60 * 1000 };

struct failure_backoff;

struct failure_backoff *failure_backoff_new(void);
void failure_backoff_free(struct failure_backoff *b);

/* 0: it may be tried now, and the next time has to wait longer; else how long the wait is. */
int64_t failure_backoff_try(struct failure_backoff *b, struct str key, int64_t now_ms);
