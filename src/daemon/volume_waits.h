/* daemon/volume_waits.h - pods whose volumes are written and must become bound before the pods can be.
 *
 * As upstream's PreBind: looked at every second, the first time a second after the last write, until all claims are
 * bound, something is wrong, or the time is over. What is looked at is the cluster as the scheduler knows it, objects as the
 * API server has them.
 *
 * One difference: a pod that was deleted and made again under its name is another pod here.
 *
 * Thread: scheduling thread only.    Owns: the jobs. */
#pragma once

#include "daemon/volume_job.h"
#include "sched/sched.h"

#define VOLUME_WAIT_MS 1000 /* between two looks */

struct volume_waits;

/* `done` tells how a wait ended (`error` NULL: all is bound), from within volume_waits_check; the text lives during the
 * call. It may add and remove waits. */
typedef void (*volume_waits_done)(void *context, io_ticket ticket, const char *error);

struct volume_waits *volume_waits_new(struct sched *s, struct sym_table *syms, volume_waits_done done, void *context);
void volume_waits_free(struct volume_waits *w);

/* A job whose writes have worked. A decision without anything to write waits for nothing, but a second as upstream. */
void volume_waits_add(struct volume_waits *w, io_ticket ticket, struct volume_job *own_job, int64_t now_ms);
/* Nobody wants to know any more; whether it was there. */
bool volume_waits_remove(struct volume_waits *w, io_ticket ticket);
/* Looks at what is due. */
void volume_waits_check(struct volume_waits *w, int64_t now_ms);
/* When the next look is due; INT64_MAX: never. */
int64_t volume_waits_due_ms(const struct volume_waits *w);
uint32_t volume_waits_n(const struct volume_waits *w);
