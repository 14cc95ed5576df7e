/* sim/report_difference.c - two runs compared, for people; see report_what_if.h. */
#include "base/table.h"
#include "sim/amount_text.h"
#include "sim/report_priv.h"
#include "sim/report_what_if.h"

enum {
    SINGLE_PODS_MAX = 12, /* with more of a sort, they are told by owner */
    LINES_MAX = 40, /* of one sort; programs get all */
};

/* ---- Pods ---- */

/* Lines that are the same but for their number are told once. */
struct lines {
    struct arena arena;
    VEC(const char *) texts, messages; /* a message "": none */
    VEC(const char *) owners;
    VEC(uint32_t) counts;
    struct map_str by_key;
};

static void lines_init(struct lines *l)
{
    *l = (struct lines){ .texts = { 0 } };
    arena_init(&l->arena);
    map_str_init(&l->by_key);
}

static void lines_fini(struct lines *l)
{
    vec_fini(&l->texts);
    vec_fini(&l->messages);
    vec_fini(&l->owners);
    vec_fini(&l->counts);
    map_str_fini(&l->by_key);
    arena_fini(&l->arena);
}

static void lines_add(struct lines *l, const char *owner, const char *text, const char *message)
{
    const char *key = arena_printf(&l->arena, "%s\n%s\n%s", owner, text, message);
    bool is_new;
    union map_value *v = map_str_put(&l->by_key, str_of(key), &is_new);
    if (is_new) {
        v->num = l->texts.n;
        vec_push(&l->owners, owner);
        vec_push(&l->texts, text);
        vec_push(&l->messages, message);
        vec_push(&l->counts, 0);
    }
    l->counts.at[v->num]++;
}

static const char *place(const struct sim_world *w, const struct sim_pod *p)
{
    return p->state == SIM_PENDING ? "pending" : p->state == SIM_EVICTED ? "preempted" : sim_node_name(w, p);
}

/* What is told of a pod behind its name. */
static const char *story(struct arena *a, const struct sim_difference *d, const struct sim_shifted *s)
{
    switch (s->shift) {
    case SIM_MOVED:
    case SIM_NOT_PREEMPTED:
    case SIM_NOW_PENDING:
        return arena_printf(a, "%s -> %s", place(d->before, s->before), place(d->after, s->after));
    case SIM_NEW:
    case SIM_NOW_PLACED:
        return place(d->after, s->after);
    case SIM_GONE:
        return arena_printf(a, "was %s%s", s->before->node == SIM_NO_NODE ? "" : "on ", place(d->before, s->before));
    case SIM_NOW_PREEMPTED: {
        int64_t by = s->after->evicted_by;
        return by < 0 ? ""
                      : arena_printf(a, "on %s, for %s", sim_node_name(d->after, s->after),
                                     sim_pod_label(a, &d->after->pods.at[by]));
    }
    case N_SIM_SHIFTS:
        break;
    }
    return "";
}

static void add_rest(struct table *t, size_t n, const char *what)
{
    if (n > LINES_MAX)
        table_line(t, "... and %zu more %s (-o json has them)", n - LINES_MAX, what);
}

static void collect(struct lines *l, const struct sim_difference *d, enum sim_shift shift)
{
    bool by_owner = d->n[shift] > SINGLE_PODS_MAX;
    for (size_t i = 0; i < d->pods.n; i++) {
        const struct sim_shifted *s = &d->pods.at[i];
        if (s->shift != shift)
            continue;
        const struct sim_pod *p = s->after ? s->after : s->before;
        const char *name = by_owner && p->owner ? p->owner : sim_pod_label(&l->arena, p);
        bool waits = s->after && s->after->state == SIM_PENDING && s->after->message;
        lines_add(l, name, story(&l->arena, d, s), waits ? s->after->message : "");
    }
}

static void add_shifts(struct strbuf *to, const struct sim_difference *d, enum sim_shift shift, const char *title,
                       unsigned width)
{
    static const struct table_column columns[] = { { .heading = NULL }, { .right = true }, { .wraps = true } };
    if (!d->n[shift])
        return;
    struct lines l;
    struct table t;
    lines_init(&l);
    table_init(&t, columns, 3);
    collect(&l, d, shift);
    for (size_t i = 0; i < l.texts.n && i < LINES_MAX; i++) {
        table_row(&t);
        table_cell(&t, "%s", l.owners.at[i]);
        table_cell(&t, "%u", l.counts.at[i]);
        table_cell(&t, "%s", l.texts.at[i]);
        if (*l.messages.at[i])
            table_note(&t, l.messages.at[i]);
    }
    add_rest(&t, l.texts.n, "lines");
    strbuf_printf(to, "\n%s\n", title);
    table_write(&t, to, width);
    table_fini(&t);
    lines_fini(&l);
}

static void add_summary(struct strbuf *to, const struct sim_difference *d)
{
    static const struct {
        enum sim_shift shift;
        const char *words;
    } parts[] = {
        { SIM_MOVED, "elsewhere" },
        { SIM_NOW_PENDING, "newly pending" },
        { SIM_NOW_PLACED, "no longer pending" },
        { SIM_GONE, "gone" },
        { SIM_NEW, "new" },
        { SIM_NOW_PREEMPTED, "newly preempted" },
        { SIM_NOT_PREEMPTED, "no longer preempted" },
    };
    const char *comma = "";
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!d->n[parts[i].shift])
            continue;
        strbuf_printf(to, "%s%u %s%s", comma, d->n[parts[i].shift],
                      *comma                      ? ""
                      : d->n[parts[i].shift] == 1 ? "pod "
                                                  : "pods ",
                      parts[i].words);
        comma = ", ";
    }
    strbuf_add_text(to, *comma ? "\n" : "no pod is elsewhere\n");
}

/* ---- Nodes, zones, cluster ---- */

static const char *share(struct arena *a, bool there, int64_t part, int64_t whole)
{
    return there ? arena_printf(a, "%lld%%", (long long)percent_of(part, whole)) : "-";
}

static void add_use(struct table *t, const char *name, const char *zone, const struct sim_use *u)
{
    struct arena *a = &t->arena;
    table_row(t);
    table_cell(t, "%s", name);
    table_cell(t, "%s", zone);
    table_cell(t, "%s -> %s", share(a, u->was_there, u->before.milli_cpu, u->allocatable_before.milli_cpu),
               share(a, u->is_there, u->after.milli_cpu, u->allocatable_after.milli_cpu));
    table_cell(t, "%s -> %s", share(a, u->was_there, u->before.memory, u->allocatable_before.memory),
               share(a, u->is_there, u->after.memory, u->allocatable_after.memory));
    table_cell(t, "%lld -> %lld%s", (long long)u->before.pods, (long long)u->after.pods,
               !u->was_there ? "  (new)" : !u->is_there ? "  (gone)" : "");
}

static void add_uses(struct strbuf *to, const struct sim_difference *d, unsigned width)
{
    static const struct table_column columns[] = {
        { .heading = "NODE" }, { .heading = "ZONE", .leave_out = 1 }, { .heading = "CPU" }, { .heading = "MEMORY" },
        { .heading = "PODS" },
    };
    struct table t;
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    size_t n = 0;
    for (size_t i = 0; i < d->nodes.n; i++)
        if (sim_use_differs(&d->nodes.at[i]) && n++ < LINES_MAX)
            add_use(&t, d->nodes.at[i].name, d->nodes.at[i].zone, &d->nodes.at[i]);
    add_rest(&t, n, "nodes");
    bool has_zones = d->zones.n > 1 || (d->zones.n == 1 && *d->zones.at[0].name);
    for (size_t i = 0; has_zones && i < d->zones.n; i++)
        add_use(&t, sim_zone_label(&t.arena, d->zones.at[i].name), "", &d->zones.at[i]);
    add_use(&t, "cluster", "", &d->cluster);
    strbuf_add_char(to, '\n');
    table_write(&t, to, width);
    table_fini(&t);
}

void sim_report_difference(struct strbuf *to, const struct sim_difference *d, unsigned width)
{
    add_summary(to, d);
    add_shifts(to, d, SIM_MOVED, "Elsewhere", width);
    add_shifts(to, d, SIM_NOW_PENDING, "Newly pending", width);
    add_shifts(to, d, SIM_NOW_PLACED, "No longer pending", width);
    add_shifts(to, d, SIM_GONE, "Gone", width);
    add_shifts(to, d, SIM_NEW, "New", width);
    add_shifts(to, d, SIM_NOW_PREEMPTED, "Newly preempted", width);
    add_shifts(to, d, SIM_NOT_PREEMPTED, "No longer preempted", width);
    add_uses(to, d, width);
}
