/* sim/report_page.c - see report.h: the page, which is fixed but for its data.
 *
 * The data is the document of report_json.c in a form for large clusters: nodes and pods are columns
 * instead of objects, and what repeats (namespaces, owners, messages, zones) is an index into a list of
 * texts. web/report/model.js reads it. Pods stand in the order of their states' interest: pending,
 * preempted, placed, running; at most SIM_PAGE_PODS_MAX.
 *
 * It stands in a script element, so no "<" may be in it: that is what an end tag and a comment begin
 * with. In JSON it can only be part of a string, where it has an escape. */
#include "sim/report_page.h"

#include "codec/json.h"
#include "sim/report_priv.h"

/* ---- Texts that repeat ---- */

enum { NO_TEXT = -1 };

struct dictionary {
    struct map_str index;
    VEC(const char *) texts;
};

static int64_t dictionary_put(struct dictionary *d, const char *text)
{
    if (!text)
        return NO_TEXT;
    bool is_new;
    union map_value *v = map_str_put(&d->index, str_of(text), &is_new);
    if (is_new) {
        v->num = d->texts.n;
        vec_push(&d->texts, text);
    }
    return (int64_t)v->num;
}

/* ---- Columns ---- */

struct page {
    const struct sim_world *w;
    struct strbuf *to;
    struct arena arena;
    VEC(const struct sim_pod *) pods;
    struct dictionary namespaces, owners, messages, zones;
};

static void add_texts(struct page *p, const char *key, const char *const *texts, size_t n)
{
    strbuf_printf(p->to, ",\n\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(p->to, ',');
        json_add_string(p->to, str_of(texts[i]));
    }
    strbuf_add_char(p->to, ']');
}

static int64_t pod_namespace(struct page *p, const struct sim_pod *pod)
{
    return dictionary_put(&p->namespaces, pod->ns);
}

static int64_t pod_owner(struct page *p, const struct sim_pod *pod)
{
    return dictionary_put(&p->owners, pod->owner);
}

static int64_t pod_message(struct page *p, const struct sim_pod *pod)
{
    return dictionary_put(&p->messages, sim_pod_reason(&p->arena, p->w, pod));
}

static int64_t pod_node(struct page *p, const struct sim_pod *pod)
{
    (void)p;
    return pod->node;
}

static int64_t pod_cpu(struct page *p, const struct sim_pod *pod)
{
    (void)p;
    return pod->form->requested->milli_cpu;
}

static int64_t pod_memory(struct page *p, const struct sim_pod *pod)
{
    (void)p;
    return pod->form->requested->memory;
}

static const struct {
    const char *key;
    int64_t (*value)(struct page *p, const struct sim_pod *pod);
} pod_columns[] = {
    { "namespace", pod_namespace }, { "owner", pod_owner }, { "node", pod_node },
    { "message", pod_message },     { "cpuMilli", pod_cpu }, { "memoryBytes", pod_memory },
};

static void add_pod_column(struct page *p, size_t column)
{
    strbuf_printf(p->to, ",\n\"%s\":[", pod_columns[column].key);
    for (size_t i = 0; i < p->pods.n; i++) {
        if (i)
            strbuf_add_char(p->to, ',');
        strbuf_add_int(p->to, pod_columns[column].value(p, p->pods.at[i]));
    }
    strbuf_add_char(p->to, ']');
}

/* Fills p->pods; "counts" says how many of them are in which state. */
static void choose_pods(struct page *p)
{
    static const enum sim_state order[] = { SIM_PENDING, SIM_EVICTED, SIM_PLACED, SIM_RUNNING };
    static const char *const names[] = { "pending", "preempted", "placed", "running" };
    size_t left_out = 0;
    STRBUF_ADD_LIT(p->to, ",\n\"pods\":{\"counts\":{");
    for (int s = 0; s < N_SIM_STATES; s++) {
        size_t before = p->pods.n;
        for (size_t i = 0; i < p->w->pods.n; i++) {
            if (p->w->pods.at[i].state != order[s])
                continue;
            if (p->pods.n < SIM_PAGE_PODS_MAX)
                vec_push(&p->pods, &p->w->pods.at[i]);
            else
                left_out++;
        }
        strbuf_printf(p->to, "%s\"%s\":%zu", s ? "," : "", names[s], p->pods.n - before);
    }
    strbuf_printf(p->to, "},\"leftOut\":%zu", left_out);
}

static void add_pods(struct page *p)
{
    choose_pods(p);
    STRBUF_ADD_LIT(p->to, ",\n\"name\":[");
    for (size_t i = 0; i < p->pods.n; i++) {
        if (i)
            strbuf_add_char(p->to, ',');
        json_add_string(p->to, str_of(p->pods.at[i]->name));
    }
    strbuf_add_char(p->to, ']');
    for (size_t i = 0; i < sizeof(pod_columns) / sizeof(pod_columns[0]); i++)
        add_pod_column(p, i);
    add_texts(p, "namespaces", p->namespaces.texts.at, p->namespaces.texts.n);
    add_texts(p, "owners", p->owners.texts.at, p->owners.texts.n);
    add_texts(p, "messages", p->messages.texts.at, p->messages.texts.n);
    strbuf_add_char(p->to, '}');
}

/* Columns of one of a node's three amounts, which stands `offset` bytes into it. */
static void add_node_amounts(struct page *p, const char *key, size_t offset)
{
    static const struct {
        const char *name;
        size_t offset;
    } amounts[] = {
        { "cpuMilli", offsetof(struct sim_amounts, milli_cpu) },
        { "memoryBytes", offsetof(struct sim_amounts, memory) },
        { "pods", offsetof(struct sim_amounts, pods) },
    };
    strbuf_printf(p->to, ",\n\"%s\":{", key);
    for (int k = 0; k < 3; k++) {
        strbuf_printf(p->to, "%s\"%s\":[", k ? "," : "", amounts[k].name);
        for (size_t i = 0; i < p->w->nodes.n; i++) {
            const char *node = (const char *)&p->w->nodes.at[i];
            if (i)
                strbuf_add_char(p->to, ',');
            strbuf_add_int(p->to, *(const int64_t *)(const void *)(node + offset + amounts[k].offset));
        }
        strbuf_add_char(p->to, ']');
    }
    strbuf_add_char(p->to, '}');
}

static void add_nodes(struct page *p)
{
    STRBUF_ADD_LIT(p->to, ",\n\"nodes\":{\"zone\":[");
    VEC(const char *) names = { 0 };
    for (size_t i = 0; i < p->w->nodes.n; i++) {
        if (i)
            strbuf_add_char(p->to, ',');
        strbuf_add_int(p->to, dictionary_put(&p->zones, p->w->nodes.at[i].zone));
        vec_push(&names, p->w->nodes.at[i].form->meta.name);
    }
    strbuf_add_char(p->to, ']');
    add_texts(p, "name", names.at, names.n);
    vec_fini(&names);
    add_texts(p, "zones", p->zones.texts.at, p->zones.texts.n);
    add_node_amounts(p, "allocatable", offsetof(struct sim_node, allocatable));
    add_node_amounts(p, "before", offsetof(struct sim_node, before));
    add_node_amounts(p, "after", offsetof(struct sim_node, after));
    strbuf_add_char(p->to, '}');
}

/* ---- The page ---- */

static void page_init(struct page *p, const struct sim_world *w, struct strbuf *to)
{
    *p = (struct page){ .w = w, .to = to };
    arena_init(&p->arena);
    struct dictionary *all[] = { &p->namespaces, &p->owners, &p->messages, &p->zones };
    for (int i = 0; i < 4; i++)
        map_str_init(&all[i]->index);
}

static void page_fini(struct page *p)
{
    struct dictionary *all[] = { &p->namespaces, &p->owners, &p->messages, &p->zones };
    for (int i = 0; i < 4; i++) {
        map_str_fini(&all[i]->index);
        vec_fini(&all[i]->texts);
    }
    vec_fini(&p->pods);
    arena_fini(&p->arena);
}

static void add_for_script(struct strbuf *to, struct str json)
{
    while (json.n) {
        const char *hit = memchr(json.p, '<', json.n);
        size_t n = hit ? (size_t)(hit - json.p) : json.n;
        strbuf_add(to, json.p, n);
        if (hit)
            STRBUF_ADD_LIT(to, "\\u003c");
        json = str_from(json, hit ? n + 1 : n);
    }
}

void sim_report_page(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more)
{
    struct strbuf data;
    struct page p;
    strbuf_init(&data, STRBUF_NO_MAX);
    page_init(&p, w, &data);
    STRBUF_ADD_LIT(&data, "{\"kind\":\"SimulationPage\",\"version\":1");
    sim_json_summary(&data, w, more);
    add_nodes(&p);
    sim_json_zones(&data, w);
    add_pods(&p);
    sim_json_rest(&data, w, more);
    strbuf_add_char(&data, '}');
    page_fini(&p);

    strbuf_add_str(to, report_page_head);
    add_for_script(to, strbuf_str(&data));
    strbuf_add_str(to, report_page_tail);
    strbuf_fini(&data);
}
