/* tests/unit/trace_world.h - a trace on a cluster of YAML, for tests. */
#pragma once

#include "plugins/plugins.h"
#include "sim/expand.h"
#include "sim/trace_report.h"
#include "tests/test.h"

#define TRACE_NODE(name, cpu, memory, pods)                                                \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {kubernetes.io/hostname: " name "}}\n"    \
    "status: {capacity: {cpu: '" cpu "', memory: " memory ", pods: '" pods "'}}\n"
#define TRACE_COLUMNS "arrival,duration,cpu,memory,priority,count\n"

struct trace_world {
    struct sim_input in;
    struct sym_table syms;
    struct setup setup;
    struct sim_world world;
    struct trace trace;
    struct trace_run run;
    struct err e;
    struct strbuf text; /* of a report */
};

/* Reads both; the trace has not been run. False: t->e says why. */
static inline bool trace_world_open(struct trace_world *t, const char *cluster, struct str csv)
{
    sym_init(&t->syms);
    sim_input_init(&t->in, &t->syms);
    err_init(&t->e, &t->in.arena);
    strbuf_init(&t->text, STRBUF_NO_MAX);
    trace_init(&t->trace, "trace.csv");
    t->world = (struct sim_world){ .syms = &t->syms };
    if (setup_from_text(&t->setup, &t->syms, (struct str){ NULL, 0 }, plugin_registry, &t->e) ||
        sim_input_text(&t->in, "file", str_of(cluster), &t->e) || sim_input_complete(&t->in, &t->e) ||
        sim_expand(&t->in, &t->e) ||
        sim_world_init(&t->world, &t->in, &t->syms, &t->setup, 1, &t->e))
        FAIL("%s", t->e.message);
    bool read = trace_read(&t->trace, csv, &t->e) == ERR_OK;
    trace_run_init(&t->run, &t->world, &t->trace);
    return read;
}

static inline bool trace_world_run(struct trace_world *t, const char *cluster, const char *csv)
{
    return trace_world_open(t, cluster, str_of(csv)) && trace_run(&t->run, &t->e) == ERR_OK;
}

static inline const char *trace_world_json(struct trace_world *t)
{
    strbuf_reset(&t->text);
    trace_report_json(&t->text, &t->run);
    return strbuf_cstr(&t->text);
}

static inline void trace_world_close(struct trace_world *t)
{
    trace_run_fini(&t->run);
    trace_fini(&t->trace);
    sim_world_fini(&t->world);
    setup_fini(&t->setup);
    sim_input_fini(&t->in);
    sym_fini(&t->syms);
    strbuf_fini(&t->text);
}
