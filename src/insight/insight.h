/* insight/insight.h - questions to a running scheduler, answered as JSON.
 *
 * Whoever serves requests hands their queries and bodies to the scheduling thread and gets bytes or an error back; the
 * error's code has a status for HTTP (err.h). What comes in is checked here: it may be anything.
 *
 * No question changes what the scheduler decides: see trial.h and what_if.h. A test holds that.
 *
 * Thread: scheduling thread only, between attempts. Memory: answers go to `to`, whose maximum bounds them; the rest lives in
 * the arena of the error and is the caller's to reset. */
#pragma once

#include "base/clock.h"
#include "base/strbuf.h"
#include "sched/sched.h"

struct decisions;

enum {
    INSIGHT_NODES_MAX = 5000,     /* that an answer lists of each kind; INSIGHT_NODES when nothing is said in a what-if */
    INSIGHT_NODES = 10,
    INSIGHT_REMEDIES_MS = 250,    /* that looking for remedies may take */
    INSIGHT_BODY_BYTES_MAX = 1 << 20,
    INSIGHT_CHANGES_MAX = 256,    /* of one what-if */
    INSIGHT_NEW_NODES_MAX = 1000, /* the same */
    INSIGHT_EVICTED_MAX = 10000,  /* pods that are lifted off their nodes */
    INSIGHT_NAME_BYTES_MAX = 512, /* of any name, key or value in a question */
};

struct insight {
    struct sched *sched;
    const struct decisions *decisions; /* NULL: none are kept */
    const struct clock *clock;         /* NULL: the machine's; for time bounds only */
};

/* GET /berth/v1/explain. `query`: pod=NAMESPACE/NAME; nodes=N, how many to list of each kind (INSIGHT_NODES_MAX); remedies=false
 * leaves out what would place a pending pod. The answer is that of `berth explain -o json`; `decision` is in it when
 * one about the pod is kept. NOT_FOUND: no such pod. */
enum err_code insight_explain(const struct insight *in, struct str query, struct strbuf *to, struct err *e) ERR_MUST_CHECK;

/* POST /berth/v1/what-if: docs/what-if-api.md. INVALID: the question cannot be answered, for example because extenders are
 * configured; NOT_FOUND: it is about something that is not there. */
enum err_code insight_what_if(const struct insight *in, struct str body, struct strbuf *to, struct err *e) ERR_MUST_CHECK;
