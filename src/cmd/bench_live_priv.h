/* cmd/bench_live_priv.h - what the parts of bench_live.h share. */
#pragma once

#include "base/vec.h"
#include "client/reflector.h"
#include "cmd/bench_live.h"

enum { LIVE_GROUPS_MAX = 8 };

/* Pods of one template. Each pod of a run has a number; "p-<number>" is its name. */
struct live_group {
    const char *template_name;
    const char *ns;        /* as the workload calls it; NULL: init-ns-0 and on, in turn */
    uint32_t first, n;     /* numbers */
    uint32_t n_bound;
    bool waits;            /* until they have nodes */
};

struct live {
    const struct bench_live_options *o;
    const struct workload *w;
    struct cluster cluster;
    struct err e;
    const char *id, *prefix; /* of names of namespaces and nodes */
    struct live_group groups[LIVE_GROUPS_MAX];
    uint32_t n_groups, n_pods;
    int64_t *created_ns, *bound_ns; /* by number; 0: not yet */
    struct reflector *watch;
    struct loop_timer tick;
    uv_signal_t signals[2];
    unsigned n_interrupts;
    const char *failure; /* NULL: none */
    int64_t shown_ns;    /* when progress was shown last */
    bool shown;

    VEC(const char *) namespaces; /* full names, made or about to be */
    uint32_t n_nodes_asked, n_pods_asked; /* that may exist: all below */
    bool has_class, has_service;
    uint32_t n_left; /* that could not be deleted */

    struct arena scratch; /* of one request */
    struct strbuf target, body;
    struct strbuf answer; /* of live_ask */
};

/* ---- bench_live.c ---- */

/* Requests of one kind, `in_flight` at once. */
struct batch {
    struct live *l;
    uint32_t first, n;
    /* Fills target and body of l, and what else the request is. */
    void (*make)(struct live *l, uint32_t i, struct api_request *r);
    void (*answered)(struct live *l, uint32_t i, const struct api_answer *a);
    bool cleans; /* goes on after failures and interrupts */
    uint32_t next, n_open;
};

/* Until all are answered. False: it was interrupted, or something failed. */
bool live_run_batch(struct live *l, struct batch *b);
/* One request, and its answer, whose texts last until the next one. media_type NULL: it has no body. */
struct api_answer live_ask(struct live *l, const char *method, const char *target, const char *media_type,
                           struct str body);
void live_turn(struct live *l);
bool live_is_over(const struct live *l);
void live_fail(struct live *l, const char *what, const struct api_answer *a);
void live_show(struct live *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- bench_live_objects.c: what is created ---- */

void live_plan(struct live *l);
const char *live_pod_path(struct live *l, uint32_t number);
void live_make_pod(struct live *l, uint32_t number, struct api_request *r);
void live_make_node(struct live *l, uint32_t i, struct api_request *r);
/* Namespaces, the service and the priority class. False: it failed. */
bool live_make_others(struct live *l);
bool live_make_group(struct live *l, struct live_group *g);
bool live_make_nodes(struct live *l);

/* ---- bench_live_clean.c ---- */

/* Deletes what was made. False: something is left, and was told. */
bool live_clean(struct live *l);

/* ---- bench_live_report.c ---- */

struct live_process {
    double cpu_seconds;
    long rss_bytes, rss_bytes_max;
    bool known;
};
struct live_process live_process_look(pid_t pid);
void live_figures(const struct live *l, const struct live_group *g, struct bench_live_result *ret);
int live_print(const struct live *l, const struct bench_live_result *r);
