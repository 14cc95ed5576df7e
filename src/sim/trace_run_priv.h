/* sim/trace_run_priv.h - what the parts of trace_run.c share: the records of pods, and the lines in which equal ones
 * wait.
 *
 * Pods from equal lines of a trace have equal chances: when one fits nowhere, none does. So of those that fit nowhere
 * only the first is left to the scheduler, and the others wait behind it outside, however many there are. When it gets
 * its node, the next one takes its place at once. New pods are tried in the order of their arrival as long as no equal
 * one stands in a line. Pods that had others preempted for them never go into a line. */
#pragma once

#include "base/list.h"
#include "sim/trace_run.h"

struct trace_line;

/* A pod that is there: waiting, or on a node. */
struct trace_pod {
    const struct pod *form; /* as it was made; of a pod of the input as it was given */
    const struct trace_row *row; /* NULL: of the input */
    struct heap_node finish; /* in no heap while it waits, or runs for ever */
    int64_t since_ms;        /* waiting or running */
    int64_t finish_ms;
    uint64_t binding;        /* its number: whoever was bound first finishes first */
    uint64_t number;         /* among the pods of the trace, or of the world */
    uint32_t n_restarts;
    int32_t node;            /* SIM_NO_NODE: none, or the world keeps its accounts */
    bool waiting;
    bool of_world;           /* in world->pods, which keeps the accounts of its node */
    bool comes_back;         /* when preempted */
    char *message;           /* why it waits; NULL: not tried, or not now */
    struct trace_line *line; /* that it is the head of, or waits in; NULL: none */
    struct list_node behind; /* the head; in no list: known to the scheduler */
};

/* Goes to the scheduler, or to the end of its line. */
void trace_line_enter(struct trace_run *r, struct trace_pod *p);
/* It failed without making room: the head of a line from now on, or to be taken out of the scheduler's queue soon. */
void trace_line_failed(struct trace_run *r, struct trace_pod *p);
/* Takes out those. Outside an attempt. */
void trace_line_settle(struct trace_run *r);
/* It has a node. */
void trace_line_bound(struct trace_run *r, struct trace_pod *p);
void trace_lines_free(struct trace_run *r);

/* Fills r->reasons from those who wait. */
void trace_find_reasons(struct trace_run *r);
