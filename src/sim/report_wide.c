/* sim/report_wide.c - see report.h: a row a pod, for people and for awk.
 *
 * Every cell but the last is one word: a space in it is \x20, nothing at all is <none>. */
#include "base/printable.h"
#include "sim/amount_text.h"
#include "sim/report_priv.h"

enum { GAP = 3 };

enum column { NAMESPACE, NAME, OWNER, STATE, NODE, ZONE, CPU, MEMORY, REASON, N_COLUMNS };

static const char *const headings[N_COLUMNS] = { "NAMESPACE", "NAME", "OWNER",  "STATE", "NODE",
                                                 "ZONE",      "CPU",  "MEMORY", "REASON" };
static const char *const states[N_SIM_STATES] = { "Running", "Placed", "Pending", "Preempted" };

static const char *word(struct arena *a, const char *text)
{
    if (!text || !*text)
        return "<none>";
    text = printable_text(a, text);
    if (!strchr(text, ' '))
        return text;
    struct strbuf one;
    strbuf_init(&one, STRBUF_NO_MAX);
    for (; *text; text++)
        if (*text == ' ')
            STRBUF_ADD_LIT(&one, "\\x20");
        else
            strbuf_add_char(&one, *text);
    text = arena_cstr(a, strbuf_str(&one));
    strbuf_fini(&one);
    return text;
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

static void fill_row(struct arena *a, const struct sim_world *w, const struct sim_pod *p, const char *row[N_COLUMNS])
{
    const char *reason = sim_pod_reason(a, w, p);
    row[NAMESPACE] = word(a, p->ns);
    row[NAME] = word(a, p->name);
    row[OWNER] = owner_word(a, p->owner);
    row[STATE] = states[p->state];
    row[NODE] = word(a, report_node_name(w, p));
    row[ZONE] = word(a, p->node == SIM_NO_NODE ? NULL : w->nodes.at[p->node].zone);
    row[CPU] = cpu_text(a, p->form->requested->milli_cpu);
    row[MEMORY] = memory_text(a, p->form->requested->memory);
    row[REASON] = reason ? printable_text(a, reason) : "<none>";
}

static void add_row(struct strbuf *to, const char *const row[N_COLUMNS], const size_t widths[N_COLUMNS])
{
    for (int i = 0; i < REASON; i++) {
        strbuf_add_text(to, row[i]);
        strbuf_printf(to, "%*s", (int)(widths[i] + GAP - printable_width(str_of(row[i]))), "");
    }
    strbuf_printf(to, "%s\n", row[REASON]);
}

static void widen(size_t widths[N_COLUMNS], const char *const row[N_COLUMNS])
{
    for (int i = 0; i < REASON; i++) {
        size_t n = printable_width(str_of(row[i]));
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
