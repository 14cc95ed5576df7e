/* sched/pod_resources.c - see pod_resources.h. */
#include "sched/pod_resources.h"

#include <stdlib.h>

#include "base/float.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/vec.h"
#include "sched/sched_priv.h"

enum family { LIMITS, REQUESTS, N_FAMILIES };

static const struct {
    const char *name, *help;
} families[N_FAMILIES] = {
    { "kube_pod_resource_limit",
      "Resources limit for workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and "
      "kubelet expect per pod for resources along with the unit for the resource if any." },
    { "kube_pod_resource_request",
      "Resources requested by workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and "
      "kubelet expect per pod for resources along with the unit for the resource if any." },
};

struct pod_resources {
    struct sym_table *syms;
    VEC(const struct pod *) pods;
    size_t next;      /* index of the next pod */
    enum family family;
    bool has_heading; /* of that family */
};

/* ---- The pods ---- */

static int compare_syms(const struct sym_table *syms, sym a, sym b)
{
    return a == b ? 0 : str_cmp(sym_text(syms, a), sym_text(syms, b));
}

static int compare_pods(const void *a, const void *b, void *syms)
{
    const struct pod *x = *(const struct pod *const *)a, *y = *(const struct pod *const *)b;
    int order = compare_syms(syms, x->meta.ns, y->meta.ns);
    order = order ? order : compare_syms(syms, x->node_name, y->node_name);
    return order ? order : strcmp(x->meta.name, y->meta.name);
}

struct pod_resources *pod_resources_begin(struct sched *s)
{
    struct pod_resources *r = mem_zalloc(sizeof(*r));
    r->syms = s->syms;
    vec_reserve(&r->pods, s->pods.n);
    for (struct map_str_slot *slot = map_str_next(&s->pods, NULL); slot; slot = map_str_next(&s->pods, slot)) {
        const struct pod *pod = slot->value.const_ptr;
        vec_push(&r->pods, pod_ref(pod));
    }
    if (r->pods.n && r->pods.n <= POD_RESOURCES_SORTED_MAX)
        qsort_r(r->pods.at, r->pods.n, sizeof(*r->pods.at), compare_pods, s->syms);
    return r;
}

void pod_resources_end(struct pod_resources *r)
{
    for (size_t i = 0; i < r->pods.n; i++)
        pod_unref(r->syms, r->pods.at[i]);
    vec_fini(&r->pods);
    free(r);
}

/* ---- Lines ---- */

struct line {
    struct str resource;
    double value;
};

static const char *unit_of(struct str resource)
{
    if (str_is(resource, "cpu"))
        return "cores";
    if (str_is(resource, "memory") || str_is(resource, "storage") || str_is(resource, "ephemeral-storage") ||
        resource_is_huge_pages(resource))
        return "bytes";
    return str_starts(resource, STR("attachable-volumes-")) ? "integer" : "";
}

static void add_heading(struct pod_resources *r, struct strbuf *out)
{
    if (!r->has_heading)
        strbuf_printf(out, "# HELP %s [STABLE] %s\n# TYPE %s gauge\n", families[r->family].name, families[r->family].help,
                      families[r->family].name);
    r->has_heading = true;
}

static void add_label(struct strbuf *out, const char *before, struct str value)
{
    strbuf_add_text(out, before);
    metrics_add_label_value(out, value);
}

static void add_line(struct pod_resources *r, const struct pod *pod, const struct line *line, struct strbuf *out)
{
    add_heading(r, out);
    strbuf_add_text(out, families[r->family].name);
    add_label(out, "{namespace=\"", sym_text(r->syms, pod->meta.ns));
    add_label(out, "\",node=\"", sym_text(r->syms, pod->node_name));
    add_label(out, "\",pod=\"", str_of(pod->meta.name));
    STRBUF_ADD_LIT(out, "\",priority=\"");
    if (pod->flags & POD_HAS_PRIORITY)
        strbuf_add_int(out, pod->priority);
    add_label(out, "\",resource=\"", line->resource);
    add_label(out, "\",scheduler=\"", sym_text(r->syms, pod->scheduler_name));
    strbuf_printf(out, "\",unit=\"%s\"} ", unit_of(line->resource));
    float_add_g(out, line->value);
    strbuf_add_char(out, '\n');
}

/* Keeps the lines sorted by resource; there are few. */
static void insert(struct line *lines, size_t *n, struct str resource, double value)
{
    if (value == 0)
        return;
    size_t at = (*n)++;
    for (; at > 0 && str_cmp(lines[at - 1].resource, resource) > 0; at--)
        lines[at] = lines[at - 1];
    lines[at] = (struct line){ resource, value };
}

static void add_pod(struct pod_resources *r, const struct pod *pod, const struct amounts *a, struct strbuf *out)
{
    struct line lines[N_FIXED_AXES + RESOURCE_SCALARS_MAX];
    size_t n = 0;
    insert(lines, &n, STR("cpu"), (double)a->milli_cpu / 1000);
    insert(lines, &n, STR("memory"), (double)a->memory);
    insert(lines, &n, STR("ephemeral-storage"), (double)a->ephemeral_storage);
    for (uint32_t i = 0; i < a->n_scalars; i++)
        insert(lines, &n, sym_text(r->syms, a->scalars[i].name), (double)a->scalars[i].amount);
    for (size_t i = 0; i < n; i++)
        add_line(r, pod, &lines[i], out);
}

bool pod_resources_write(struct pod_resources *r, uint32_t n, struct strbuf *out)
{
    for (; n && r->family < N_FAMILIES; n--) {
        if (r->next == r->pods.n) {
            r->family++;
            r->next = 0;
            r->has_heading = false;
            continue;
        }
        const struct pod *pod = r->pods.at[r->next++];
        const struct amounts *amounts = r->family == LIMITS ? pod->limits : pod->fit;
        if (amounts)
            add_pod(r, pod, amounts, out);
    }
    return r->family < N_FAMILIES;
}
