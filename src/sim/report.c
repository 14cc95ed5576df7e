/* sim/report.c - see report.h: sums, and texts that every report needs. */
#include "sim/report_priv.h"

/* ---- Sums ---- */

static void add_amounts(struct sim_amounts *to, struct sim_amounts a)
{
    to->milli_cpu = account(to->milli_cpu, a.milli_cpu, true);
    to->memory = account(to->memory, a.memory, true);
    to->pods = account(to->pods, a.pods, true);
}

static void add_node(struct sim_zone *z, const struct sim_node *n)
{
    z->n_nodes++;
    add_amounts(&z->allocatable, n->allocatable);
    add_amounts(&z->before, n->before);
    add_amounts(&z->after, n->after);
}

static int compare_zones(const void *a, const void *b)
{
    return strcmp(((const struct sim_zone *)a)->name, ((const struct sim_zone *)b)->name);
}

void sim_zones(const struct sim_world *w, sim_zone_vec *ret_zones)
{
    struct map_str by_name;
    map_str_init(&by_name);
    for (size_t i = 0; i < w->nodes.n; i++) {
        bool is_new;
        union map_value *v = map_str_put(&by_name, str_of(w->nodes.at[i].zone), &is_new);
        if (is_new) {
            v->num = ret_zones->n;
            vec_push(ret_zones, (struct sim_zone){ .name = w->nodes.at[i].zone });
        }
        add_node(&ret_zones->at[v->num], &w->nodes.at[i]);
    }
    map_str_fini(&by_name);
    if (ret_zones->n)
        qsort(ret_zones->at, ret_zones->n, sizeof(*ret_zones->at), compare_zones);
}

struct sim_zone sim_total(const struct sim_world *w)
{
    struct sim_zone total = { .name = "" };
    for (size_t i = 0; i < w->nodes.n; i++)
        add_node(&total, &w->nodes.at[i]);
    return total;
}

/* ---- Texts ---- */

const char *sim_pod_label(struct arena *a, const struct sim_pod *p)
{
    return p->made && p->owner ? p->owner : arena_printf(a, "%s/%s", p->ns, p->name);
}

const char *sim_zone_label(struct arena *a, const char *zone)
{
    return *zone ? arena_printf(a, "zone %s", zone) : "no zone";
}

const char *sim_pod_reason(struct arena *a, const struct sim_world *w, const struct sim_pod *p)
{
    if (p->state == SIM_PENDING)
        return p->message ? p->message : "not tried";
    if (p->state != SIM_EVICTED)
        return NULL;
    if (p->evicted_by < 0)
        return "preempted";
    const struct sim_pod *by = &w->pods.at[p->evicted_by];
    return arena_printf(a, "preempted by %s/%s", by->ns, by->name);
}

void sim_add_counts(struct strbuf *to, const struct sim_world *w)
{
    const uint32_t *n = w->n_in_state;
    strbuf_printf(to, "%zu node%s, %u pod%s on %s; %u placed, %u pending, %u preempted\n", w->nodes.n,
                  w->nodes.n == 1 ? "" : "s", n[SIM_RUNNING], n[SIM_RUNNING] == 1 ? "" : "s",
                  w->nodes.n == 1 ? "it" : "them", n[SIM_PLACED], n[SIM_PENDING], n[SIM_EVICTED]);
}
