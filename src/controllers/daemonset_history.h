/* controllers/daemonset_history.h - the revisions of a DaemonSet: which one its pods are made by, and what is wrong
 * with the others.
 *
 * Upstream: controller/daemon, constructHistory and cleanupHistory.
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "api/selector.h"
#include "controllers/pod_control.h"
#include "controllers/revisions.h"

struct daemon_revision {
    struct revision is;
    struct str owner_uid; /* of its controller; empty: it has none */
    struct str hash;      /* of its label */
    bool has_hash, deleted, matches; /* matches: the selector */
};

struct daemon_history {
    struct str owner_uid;
    struct str data; /* what the current one has to have */
    const struct daemon_revision *at; /* all of the namespace */
    size_t n;
};

/* One thing at a time: after it was written, the history is looked at again. */
enum daemon_history_need {
    DAEMON_HISTORY_IS_RIGHT,
    DAEMON_HISTORY_CREATE,
    DAEMON_HISTORY_ADOPT,
    DAEMON_HISTORY_RELEASE,
    DAEMON_HISTORY_LABEL,     /* it lacks its hash: its name is taken for it */
    DAEMON_HISTORY_RENUMBER,  /* it is the current one, and has to have the largest number */
    DAEMON_HISTORY_DUPLICATE, /* pods are to be labelled as those of the current one, then it goes */
};

struct daemon_history_plan {
    enum daemon_history_need need;
    const struct daemon_revision *which;   /* NULL: to be created */
    const struct daemon_revision *current; /* with IS_RIGHT and DUPLICATE */
    int64_t number;                        /* of the current one, with CREATE and RENUMBER */
};
struct daemon_history_plan daemon_history_decide(const struct daemon_history *h);

struct daemon_revision daemon_revision_read(struct arena *a, const struct value *v, const struct selector *selector);
/* A new one of a set of apps/v1.DaemonSet. */
struct value daemon_revision_make(struct arena *a, const struct value *set, const struct object_reference *owner, struct str hash,
                                  struct str data, int64_t number);

/* Which old ones go, oldest first, so that `limit` are left: none whose hash a pod still has. */
typedef bool daemon_hash_is_live(void *context, struct str hash);
size_t daemon_history_truncate(struct arena *a, const struct daemon_history *h, int64_t limit, daemon_hash_is_live *is_live,
                               void *context, const struct daemon_revision *const **ret_revisions);
