/* sim/report_json.c - see report.h: the reports for programs. docs/simulate.md describes the fields;
 * they only ever grow. */
#include "codec/json.h"
#include "codec/yaml.h"
#include "sim/other_resources.h"
#include "sim/report_priv.h"

static void add_text_member(struct strbuf *to, const char *key, const char *text)
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
    add_text_member(to, "namespace", p->ns);
    strbuf_add_char(to, ',');
    add_text_member(to, "name", p->name);
}

static void add_pod(struct strbuf *to, const struct sim_world *w, const struct sim_pod *p)
{
    strbuf_add_char(to, '{');
    add_identity(to, p);
    strbuf_add_char(to, ',');
    add_text_member(to, "owner", p->owner);
    strbuf_add_char(to, ',');
    if (p->state == SIM_PENDING) {
        add_text_member(to, "message", p->message);
    } else {
        add_text_member(to, "node", report_node_name(w, p));
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
        add_text_member(to, "name", n->form->meta.name);
        strbuf_add_char(to, ',');
        add_text_member(to, "zone", n->zone);
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
    add_text_member(to, "name", z->name);
    strbuf_printf(to, ",\"nodes\":%u", z->n_nodes);
    add_amounts(to, "allocatable", &z->allocatable);
    add_amounts(to, "before", &z->before);
    add_amounts(to, "after", &z->after);
    strbuf_add_char(to, '}');
}

void sim_json_zones(struct strbuf *to, const struct sim_world *w)
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

static void add_use(struct strbuf *to, const struct sim_resource_use *u)
{
    strbuf_printf(to, ",\"allocatable\":%lld,\"before\":%lld,\"after\":%lld", (long long)u->allocatable,
                  (long long)u->before, (long long)u->after);
}

static void add_resource(struct strbuf *to, const struct sim_world *w, const struct sim_resource *r)
{
    strbuf_add_char(to, '{');
    add_text_member(to, "name", r->name);
    add_use(to, &r->total);
    STRBUF_ADD_LIT(to, ",\"nodes\":[");
    const char *comma = "";
    for (size_t i = 0; i < w->nodes.n; i++) {
        if (r->nodes[i].allocatable <= 0)
            continue;
        strbuf_printf(to, "%s{", comma);
        add_text_member(to, "name", w->nodes.at[i].form->meta.name);
        add_use(to, &r->nodes[i]);
        strbuf_add_char(to, '}');
        comma = ",";
    }
    STRBUF_ADD_LIT(to, "]}");
}

static void add_other_resources(struct strbuf *to, const struct sim_world *w)
{
    struct sim_other_resources o;
    sim_other_resources_init(&o, w);
    STRBUF_ADD_LIT(to, ",\n\"otherResources\":[");
    for (size_t i = 0; i < o.all.n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        add_resource(to, w, &o.all.at[i]);
    }
    strbuf_add_char(to, ']');
    sim_other_resources_fini(&o);
}

void sim_json_rest(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more)
{
    add_other_resources(to, w);
    add_warnings(to, w);
    for (size_t i = 0; more && i < more->n; i++) {
        strbuf_printf(to, ",\n\"%s\":", more->at[i].key);
        strbuf_add_str(to, more->at[i].json);
    }
}

void sim_json_refused(struct strbuf *to, const struct sim_world *w)
{
    STRBUF_ADD_LIT(to, ",\n\"refused\":[");
    for (size_t i = 0; i < w->in->refused.n; i++) {
        const struct sim_refused *r = &w->in->refused.at[i];
        strbuf_add_text(to, i ? ",\n{" : "\n{");
        add_text_member(to, "owner", r->what);
        strbuf_printf(to, ",\"pods\":%u,", r->n);
        add_text_member(to, "message", r->reason);
        strbuf_add_char(to, '}');
    }
    strbuf_add_char(to, ']');
}

void sim_json_summary(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more)
{
    const uint32_t *n = w->n_in_state;
    strbuf_printf(to, ",\n\"summary\":{\"nodes\":%zu,\"running\":%u,\"placed\":%u,\"pending\":%u,\"preempted\":%u,"
                      "\"decisionHash\":\"%016llx\"",
                  w->nodes.n, n[SIM_RUNNING], n[SIM_PLACED], n[SIM_PENDING], n[SIM_EVICTED],
                  (unsigned long long)w->decision_hash);
    if (more)
        strbuf_printf(to, ",\"exitCode\":%d", more->exit_code);
    strbuf_add_char(to, '}');
}

void sim_report_json(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more)
{
    STRBUF_ADD_LIT(to, "{\"kind\":\"Simulation\",\"version\":1");
    sim_json_summary(to, w, more);
    add_pods(to, w, "placed", SIM_PLACED);
    add_pods(to, w, "pending", SIM_PENDING);
    add_pods(to, w, "preempted", SIM_EVICTED);
    sim_json_refused(to, w);
    add_nodes(to, w);
    sim_json_zones(to, w);
    sim_json_rest(to, w, more);
    STRBUF_ADD_LIT(to, "}\n");
}

void sim_report_yaml(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    sim_report_json(&json, w, more);
    yaml_from_json_visible(to, strbuf_str(&json));
    strbuf_fini(&json);
}
