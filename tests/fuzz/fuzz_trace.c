/* tests/fuzz/fuzz_trace.c - any bytes as a trace.
 *
 * What is read keeps its limits and is in order; a short one is run on a small cluster, and afterwards every pod must
 * be somewhere, and what is told of it sound (output_check.h). */
#include <stdlib.h>

#include "plugins/plugins.h"
#include "sim/expand.h"
#include "sim/report.h"
#include "sim/trace_report.h"
#include "tests/fuzz/output_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { RUN_PODS_MAX = 200, RUN_ROWS_MAX = 50, TELL_EVERY = 8 /* the page takes longer than most runs */ };
#define RUN_MS_MAX (48ll * 3600 * 1000)

static const char cluster[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2, labels: {a: b}}\nstatus: {capacity: {cpu: '2', memory: 4Gi, pods: '4'}}\n"
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 0, selector: {matchLabels: {app: web}}, template: "
    "{metadata: {labels: {app: web}}, spec: {nodeSelector: {a: b}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n";

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* Whether it is worth running here: bounded in pods and in time. */
static bool check_rows(const struct trace *t)
{
    uint64_t n_pods = 0;
    bool soon = true;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct trace_row *r = &t->rows.at[i];
        must(r->arrival_ms >= 0 && r->arrival_ms <= TRACE_MS_MAX);
        must(r->duration_ms == TRACE_FOREVER || (r->duration_ms >= 0 && r->duration_ms <= TRACE_MS_MAX));
        must(i == 0 || r->arrival_ms >= t->rows.at[i - 1].arrival_ms);
        must(r->milli_cpu >= TRACE_NOT_GIVEN && r->memory >= TRACE_NOT_GIVEN);
        must(r->name < t->texts.n && r->ns < t->texts.n && r->template < t->texts.n);
        n_pods += r->count;
        soon &= r->arrival_ms <= RUN_MS_MAX && (r->duration_ms == TRACE_FOREVER || r->duration_ms <= RUN_MS_MAX);
    }
    must(n_pods == t->n_pods);
    return soon && t->n_pods <= RUN_PODS_MAX && t->rows.n <= RUN_ROWS_MAX;
}

static void tell_people(const struct trace_run *r)
{
    struct strbuf text, shown;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_init(&shown, STRBUF_NO_MAX);
    trace_report_text(&text, r, true, 0);
    trace_report_text(&text, r, false, 60);
    printable_add_lines(&shown, strbuf_str(&text));
    check_printable("text", &shown);
    strbuf_fini(&shown);
    strbuf_fini(&text);
}

static void tell_programs(const struct sim_world *w, const struct trace_run *r)
{
    struct strbuf trace, json, yaml, page;
    strbuf_init(&trace, STRBUF_NO_MAX);
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_init(&yaml, STRBUF_NO_MAX);
    strbuf_init(&page, STRBUF_NO_MAX);
    trace_report_json(&trace, r);
    struct sim_section section = { "trace", strbuf_str(&trace) };
    struct sim_sections more = { &section, 1 };
    sim_report_json(&json, w, &more);
    check_json(strbuf_str(&json));
    sim_report_yaml(&yaml, w, &more);
    check_yaml(&yaml, &json);
    sim_report_page(&page, w, &more);
    check_page(&page);
    strbuf_fini(&page);
    strbuf_fini(&yaml);
    strbuf_fini(&json);
    strbuf_fini(&trace);
}

static void run_in(struct sim_world *w, const struct trace *t, struct err *e)
{
    struct trace_run *r = mem_alloc(sizeof(*r));
    trace_run_init(r, w, t);
    if (!trace_run(r, e)) {
        must(r->counts.given + r->counts.arrived ==
             r->counts.finished + r->counts.lost + (uint64_t)r->level.running + (uint64_t)r->level.waiting);
        tell_people(r);
        if ((t->n_pods + t->rows.n) % TELL_EVERY == 0)
            tell_programs(w, r);
    }
    trace_run_fini(r);
    free(r);
}

static void run(const struct trace *t)
{
    struct sim_input in;
    struct sym_table syms;
    struct setup setup;
    struct sim_world w;
    struct err e;
    sym_init(&syms);
    sim_input_init(&in, &syms);
    err_init(&e, &in.arena);
    must(!setup_from_text(&setup, &syms, (struct str){ NULL, 0 }, plugin_registry, &e));
    must(!sim_input_text(&in, "cluster", str_of(cluster), &e));
    must(!sim_input_complete(&in, &e) && !sim_expand(&in, &e));
    must(!sim_world_init(&w, &in, &syms, &setup, 1, &e));
    run_in(&w, t, &e);
    sim_world_fini(&w);
    setup_fini(&setup);
    sim_input_fini(&in);
    sym_fini(&syms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct err e;
    struct trace t;
    arena_init(&a);
    err_init(&e, &a);
    trace_init(&t, "trace");
    if (!trace_read(&t, (struct str){ (const char *)data, n }, &e) && check_rows(&t))
        run(&t);
    trace_fini(&t);
    arena_fini(&a);
    return 0;
}
