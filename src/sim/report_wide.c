/* sim/report_wide.c - see report.h: a row a pod, for people and for awk.
 *
 * Every cell but the last is one word: spaces in it become "?", nothing at all becomes <none>. */
#include "sim/report_priv.h"

#include <stdio.h>

enum { GAP = 3 };

enum column { NAMESPACE, NAME, OWNER, STATE, NODE, ZONE, CPU, MEMORY, REASON, N_COLUMNS };

static const char *const headings[N_COLUMNS] = { "NAMESPACE", "NAME", "OWNER",  "STATE", "NODE",
                                                 "ZONE",      "CPU",  "MEMORY", "REASON" };
static const char *const states[N_SIM_STATES] = { "Running", "Placed", "Pending", "Preempted" };

static const char *word(struct arena *a, const char *text)
{
    if (!text || !*text)
        return "<none>";
    text = sim_plain(a, text);
    if (!strchr(text, ' '))
        return text;
    char *copy = arena_cstr(a, str_of(text));
    for (char *c = copy; (c = strchr(c, ' '));)
        *c = '?';
    return copy;
}

/* "Deployment shop/cart" as "Deployment/cart": it is in its pod's namespace. */
static const char *owner_word(struct arena *a, const char *owner)
{
    const char *space = owner ? strchr(owner, ' ') : NULL;
    const char *slash = space ? strchr(space, '/') : NULL;
    if (!slash)
        return word(a, owner);
    return word(a, arena_printf(a, "%.*s/%s", (int)(space - owner), owner, slash + 1));
}

static const char *cpu_word(struct arena *a, int64_t milli)
{
    return milli % 1000 ? arena_printf(a, "%lldm", (long long)milli) : arena_printf(a, "%lld", (long long)milli / 1000);
}

static const char *memory_word(struct arena *a, int64_t bytes)
{
    static const char *const units[] = { "", "Ki", "Mi", "Gi" };
    int unit = 0;
    while (unit < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return arena_printf(a, "%lld%s", (long long)bytes, units[unit]);
}

static void fill_row(struct arena *a, const struct sim_world *w, const struct sim_pod *p, const char *row[N_COLUMNS])
{
    const char *reason = sim_pod_reason(a, w, p);
    row[NAMESPACE] = word(a, p->ns);
    row[NAME] = word(a, p->name);
    row[OWNER] = owner_word(a, p->owner);
    row[STATE] = states[p->state];
    row[NODE] = word(a, report_node_name(w, p));
    row[ZONE] = word(a, p->node == SIM_NO_NODE ? NULL : w->nodes.at[p->node].zone);
    row[CPU] = cpu_word(a, p->form->requested->milli_cpu);
    row[MEMORY] = memory_word(a, p->form->requested->memory);
    row[REASON] = reason ? sim_plain(a, reason) : "<none>";
}

static void add_row(struct strbuf *to, const char *const row[N_COLUMNS], const size_t widths[N_COLUMNS])
{
    for (int i = 0; i < REASON; i++)
        strbuf_printf(to, "%-*s", (int)widths[i] + GAP, row[i]);
    strbuf_printf(to, "%s\n", row[REASON]);
}

static void widen(size_t widths[N_COLUMNS], const char *const row[N_COLUMNS])
{
    for (int i = 0; i < REASON; i++) {
        size_t n = strlen(row[i]);
        widths[i] = n > widths[i] ? n : widths[i];
    }
}

void sim_report_wide(struct strbuf *to, const struct sim_world *w)
{
    struct arena a;
    arena_init(&a);
    size_t widths[N_COLUMNS] = { 0 };
    const char *row[N_COLUMNS];
    widen(widths, headings);
    for (size_t i = 0; i < w->pods.n; i++) {
        fill_row(&a, w, &w->pods.at[i], row);
        widen(widths, row);
        arena_reset(&a);
    }
    add_row(to, headings, widths);
    for (size_t i = 0; i < w->pods.n; i++) {
        fill_row(&a, w, &w->pods.at[i], row);
        add_row(to, row, widths);
        arena_reset(&a);
    }
    arena_fini(&a);
}

void sim_report_names(struct strbuf *to, const struct sim_world *w)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state != SIM_PLACED && p->state != SIM_PENDING)
            continue;
        strbuf_printf(to, "%s/%s %s\n", word(&a, p->ns), word(&a, p->name),
                      p->state == SIM_PLACED ? word(&a, report_node_name(w, p)) : "-");
        arena_reset(&a);
    }
    arena_fini(&a);
}
