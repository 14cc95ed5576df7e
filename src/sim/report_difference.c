/* sim/report_difference.c - two runs compared, for people; see report_what_if.h. */
#include <stdio.h>

#include "sim/report_priv.h"
#include "sim/report_what_if.h"

enum {
    SINGLE_PODS_MAX = 12, /* with more of a sort, they are told by owner */
    NAME_COLUMN = 34,
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
                      : arena_printf(a, "on %s, for %s/%s", sim_node_name(d->after, s->after), d->after->pods.at[by].ns,
                                     d->after->pods.at[by].name);
    }
    case N_SIM_SHIFTS:
        break;
    }
    return "";
}

static void add_rest(struct strbuf *to, size_t n, const char *what)
{
    if (n > LINES_MAX)
        strbuf_printf(to, "  ... and %zu more %s (-o json has them)\n", n - LINES_MAX, what);
}

static void add_shifts(struct strbuf *to, const struct sim_difference *d, enum sim_shift shift, const char *title)
{
    if (!d->n[shift])
        return;
    struct lines l;
    lines_init(&l);
    bool by_owner = d->n[shift] > SINGLE_PODS_MAX;
    for (size_t i = 0; i < d->pods.n; i++) {
        const struct sim_shifted *s = &d->pods.at[i];
        if (s->shift != shift)
            continue;
        const struct sim_pod *p = s->after ? s->after : s->before;
        const char *name = by_owner && p->owner ? p->owner : arena_printf(&l.arena, "%s/%s", p->ns, p->name);
        bool waits = s->after && s->after->state == SIM_PENDING && s->after->message;
        lines_add(&l, sim_plain(&l.arena, name), sim_plain(&l.arena, story(&l.arena, d, s)),
                  waits ? sim_plain(&l.arena, s->after->message) : "");
    }
    strbuf_printf(to, "\n%s\n", title);
    for (size_t i = 0; i < l.texts.n && i < LINES_MAX; i++) {
        strbuf_printf(to, "  %-*s %5u  %s\n", NAME_COLUMN, l.owners.at[i], l.counts.at[i], l.texts.at[i]);
        sim_add_wrapped(to, l.messages.at[i]);
    }
    add_rest(to, l.texts.n, "lines");
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

static int percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (int)((double)part * 100 / (double)whole + 0.5) : 0;
}

static void add_share(struct strbuf *to, const struct sim_use *u, int64_t before, int64_t whole_before, int64_t after,
                      int64_t whole_after)
{
    char was[16] = "-", is[16] = "-", text[40];
    if (u->was_there)
        snprintf(was, sizeof(was), "%d%%", percent(before, whole_before));
    if (u->is_there)
        snprintf(is, sizeof(is), "%d%%", percent(after, whole_after));
    snprintf(text, sizeof(text), "%s -> %s", was, is);
    strbuf_printf(to, "  %-14s", text);
}

static void add_use(struct strbuf *to, const char *name, const char *zone, const struct sim_use *u)
{
    strbuf_printf(to, "  %-20s %-14s", name, zone);
    add_share(to, u, u->before.milli_cpu, u->allocatable_before.milli_cpu, u->after.milli_cpu,
              u->allocatable_after.milli_cpu);
    add_share(to, u, u->before.memory, u->allocatable_before.memory, u->after.memory, u->allocatable_after.memory);
    strbuf_printf(to, "  %lld -> %lld%s\n", (long long)u->before.pods, (long long)u->after.pods,
                  !u->was_there ? "  (new)" : !u->is_there ? "  (gone)" : "");
}

static void add_uses(struct strbuf *to, const struct sim_difference *d)
{
    strbuf_printf(to, "\n  %-20s %-14s  %-14s  %-14s  %s\n", "NODE", "ZONE", "CPU", "MEMORY", "PODS");
    size_t n = 0;
    for (size_t i = 0; i < d->nodes.n; i++)
        if (sim_use_differs(&d->nodes.at[i]) && n++ < LINES_MAX)
            add_use(to, d->nodes.at[i].name, d->nodes.at[i].zone, &d->nodes.at[i]);
    add_rest(to, n, "nodes");
    bool has_zones = d->zones.n > 1 || (d->zones.n == 1 && *d->zones.at[0].name);
    for (size_t i = 0; has_zones && i < d->zones.n; i++)
        add_use(to, "zone", *d->zones.at[i].name ? d->zones.at[i].name : "-", &d->zones.at[i]);
    add_use(to, "cluster", "", &d->cluster);
}

void sim_report_difference(struct strbuf *to, const struct sim_difference *d)
{
    add_summary(to, d);
    add_shifts(to, d, SIM_MOVED, "Elsewhere");
    add_shifts(to, d, SIM_NOW_PENDING, "Newly pending");
    add_shifts(to, d, SIM_NOW_PLACED, "No longer pending");
    add_shifts(to, d, SIM_GONE, "Gone");
    add_shifts(to, d, SIM_NEW, "New");
    add_shifts(to, d, SIM_NOW_PREEMPTED, "Newly preempted");
    add_shifts(to, d, SIM_NOT_PREEMPTED, "No longer preempted");
    add_uses(to, d);
}
