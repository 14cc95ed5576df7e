/* sim/report_json.c - see report.h: the reports for programs. docs/simulate.md describes the fields; they only ever grow. */
#include "api/json.h"
#include "sim/report.h"

static void add_text(struct strbuf *to, const char *key, const char *text)
{
    strbuf_printf(to, "\"%s\":", key);
    if (text)
        json_add_string(to, str_of(text));
    else
        STRBUF_ADD_LIT(to, "null");
}

static void add_amounts(struct strbuf *to, const char *key, const struct sim_amounts *a)
{
    strbuf_printf(to, ",\"%s\":{\"cpuMilli\":%lld,\"memoryBytes\":%lld,\"pods\":%lld}", key, (long long)a->milli_cpu,
                  (long long)a->memory, (long long)a->pods);
}

static void add_identity(struct strbuf *to, const struct sim_pod *p)
{
    add_text(to, "namespace", p->ns);
    strbuf_add_char(to, ',');
    add_text(to, "name", p->name);
}

static const char *node_name(const struct sim_world *w, const struct sim_pod *p)
{
    return p->node == SIM_NO_NODE ? NULL : w->nodes.at[p->node].form->meta.name;
}

static void add_pod(struct strbuf *to, const struct sim_world *w, const struct sim_pod *p)
{
    strbuf_add_char(to, '{');
    add_identity(to, p);
    strbuf_add_char(to, ',');
    add_text(to, "owner", p->owner);
    strbuf_add_char(to, ',');
    if (p->state == SIM_PENDING) {
        add_text(to, "message", p->message);
    } else {
        add_text(to, "node", node_name(w, p));
    }
    if (p->state == SIM_EVICTED && p->evicted_by >= 0) {
        STRBUF_ADD_LIT(to, ",\"by\":{");
        add_identity(to, &w->pods.at[p->evicted_by]);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, '}');
}

static void add_pods(struct strbuf *to, const struct sim_world *w, const char *key, enum sim_state state)
{
    strbuf_printf(to, ",\n\"%s\":[", key);
    const char *comma = "\n";
    for (size_t i = 0; i < w->pods.n; i++)
        if (w->pods.at[i].state == state) {
            strbuf_add_text(to, comma);
            add_pod(to, w, &w->pods.at[i]);
            comma = ",\n";
        }
    strbuf_add_char(to, ']');
}

static void add_nodes(struct strbuf *to, const struct sim_world *w)
{
    STRBUF_ADD_LIT(to, ",\n\"nodes\":[");
    for (size_t i = 0; i < w->nodes.n; i++) {
        const struct sim_node *n = &w->nodes.at[i];
        strbuf_add_text(to, i ? ",\n{" : "\n{");
        add_text(to, "name", n->form->meta.name);
        strbuf_add_char(to, ',');
        add_text(to, "zone", n->zone);
        add_amounts(to, "allocatable", &n->allocatable);
        add_amounts(to, "before", &n->before);
        add_amounts(to, "after", &n->after);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, ']');
}

static void add_zone(struct strbuf *to, const struct sim_zone *z)
{
    strbuf_add_char(to, '{');
    add_text(to, "name", z->name);
    strbuf_printf(to, ",\"nodes\":%u", z->n_nodes);
    add_amounts(to, "allocatable", &z->allocatable);
    add_amounts(to, "before", &z->before);
    add_amounts(to, "after", &z->after);
    strbuf_add_char(to, '}');
}

static void add_zones(struct strbuf *to, const struct sim_world *w)
{
    sim_zone_vec zones = { 0 };
    sim_zones(w, &zones);
    STRBUF_ADD_LIT(to, ",\n\"zones\":[");
    for (size_t i = 0; i < zones.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        add_zone(to, &zones.at[i]);
    }
    STRBUF_ADD_LIT(to, "],\n\"cluster\":");
    struct sim_zone total = sim_total(w);
    add_zone(to, &total);
    vec_fini(&zones);
}

static void add_warnings(struct strbuf *to, const struct sim_world *w)
{
    STRBUF_ADD_LIT(to, ",\n\"warnings\":[");
    for (size_t i = 0; i < w->in->warnings.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        json_add_string(to, str_of(w->in->warnings.at[i]));
    }
    strbuf_add_char(to, ']');
}

void sim_report_json_open(struct strbuf *to, const struct sim_world *w)
{
    const uint32_t *n = w->n_in_state;
    strbuf_printf(to, "{\"kind\":\"Simulation\",\"version\":1,\n\"summary\":{\"nodes\":%zu,\"running\":%u,\"placed\":%u,"
                      "\"pending\":%u,\"preempted\":%u,\"decisionHash\":\"%016llx\"}",
                  w->nodes.n, n[SIM_RUNNING], n[SIM_PLACED], n[SIM_PENDING], n[SIM_EVICTED],
                  (unsigned long long)sched_decision_hash(w->sched));
    add_pods(to, w, "placed", SIM_PLACED);
    add_pods(to, w, "pending", SIM_PENDING);
    add_pods(to, w, "preempted", SIM_EVICTED);
    add_nodes(to, w);
    add_zones(to, w);
    add_warnings(to, w);
}

void sim_report_json(struct strbuf *to, const struct sim_world *w)
{
    sim_report_json_open(to, w);
    STRBUF_ADD_LIT(to, "}\n");
}

void sim_report_names(struct strbuf *to, const struct sim_world *w)
{
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state == SIM_PLACED || p->state == SIM_PENDING)
            strbuf_printf(to, "%s/%s %s\n", p->ns, p->name, p->state == SIM_PLACED ? node_name(w, p) : "-");
    }
}
