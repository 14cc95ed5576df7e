/* cmd/explain_remote.h - asking a running scheduler of berth why a pod is where it is.
 *
 * It is asked at the address that was given, or else where it is found: at the API server itself, which may be a berth up; or
 * in the pods of kube-system with the label component=kube-scheduler, through the API server's proxy. It answers GET /berth/v1/explain with the JSON of
 * docs/explain.md.
 *
 * Thread: main. */
#pragma once

#include "api/value.h"
#include "cmd/cluster.h"

enum {
    EXPLAIN_NOBODY = -1,         /* instead of an exit code: no scheduler answers */
    EXPLAIN_SCHEDULERS_MAX = 10, /* that are asked; with leader election there are a few */
};

struct explain_question {
    const struct command *c;
    const struct cluster_options *cluster;
    const struct cluster_peer *scheduler; /* NULL: it is looked for */
    const char *ns;  /* NULL: the context's */
    const char *pod;
    uint32_t n_top;  /* 0: not said; UINT32_MAX: all */
    bool json;
};

/* The exit code after printing the answer or an error; EXPLAIN_NOBODY only when it was looked for. */
int explain_ask(const struct explain_question *q);

/* The answer for people. `x` is the document, n_top as above. */
void explain_add_remote_text(struct strbuf *to, const struct value *x, uint32_t n_top, const char *from);
