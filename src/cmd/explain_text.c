/* cmd/explain_text.c - see explain.h: an explanation for people. A sentence that says it all, the
 * scores of the best nodes, the nodes that were refused by reason, and of a pod that stays what the
 * scheduler says, who might have to go, and what would place it. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "cmd/explain.h"
#include "sim/report.h"

enum {
    NEAR_POINTS = 10,  /* runners-up that lost by no more are counted */
    WORDS_MAX = 8,     /* of a plugin's name in a heading */
};

/* ---- The headline ---- */

static const struct explained_node *find_node(const struct explanation *x, const char *name)
{
    for (uint32_t i = 0; i < x->n_nodes; i++)
        if (strcmp(x->nodes[i].name, name) == 0)
            return &x->nodes[i];
    return NULL;
}

/* " (score 412), 2 runners-up within 10 points" */
static void add_score(struct strbuf *to, const struct explanation *x)
{
    if (x->nominated_used) {
        STRBUF_ADD_LIT(to, ", the node it was promised");
        return;
    }
    if (!x->scored) {
        strbuf_add_text(to, x->n_not_compared ? ", the first node found that fits" : ", the only node that fits");
        return;
    }
    int64_t best = x->nodes[0].total;
    uint32_t n_near = 0, n_equal = 0;
    for (uint32_t i = 1; i < x->n_compared && best - x->nodes[i].total <= NEAR_POINTS; i++) {
        n_near++;
        n_equal += x->nodes[i].total == best;
    }
    strbuf_printf(to, " (score %lld)", (long long)best);
    if (n_equal)
        strbuf_printf(to, ", the first of %u with the same score", n_equal + 1);
    else if (n_near)
        strbuf_printf(to, ", %u runner%s-up within %d points", n_near, n_near == 1 ? "" : "s", NEAR_POINTS);
    else
        strbuf_printf(to, ", %lld points ahead of the next", (long long)(best - x->nodes[1].total));
}

static void add_running(struct strbuf *to, const struct explanation *x)
{
    strbuf_printf(to, "is on %s", x->node);
    if (x->outcome == EXPLAINED_ERROR) {
        strbuf_printf(to, "; it cannot be scheduled again: %s", x->not_tried ? x->not_tried : x->message);
        return;
    }
    if (x->outcome == EXPLAINED_REJECTED) {
        STRBUF_ADD_LIT(to, "; if it were scheduled again now, no node would fit");
        return;
    }
    if (strcmp(x->chosen, x->node) == 0) {
        STRBUF_ADD_LIT(to, ", and would be put there again");
        add_score(to, x);
        return;
    }
    strbuf_printf(to, "; if it were scheduled again now, it would go to %s", x->chosen);
    add_score(to, x);
    const struct explained_node *here = find_node(x, x->node);
    if (here && here->scores)
        strbuf_printf(to, "; %s has %lld", x->node, (long long)here->total);
    else if (here && here->state == EXPLAINED_REFUSED)
        strbuf_printf(to, "; %s would be refused", x->node);
}

static void add_pending(struct strbuf *to, const struct explanation *x)
{
    if (x->not_tried) {
        strbuf_printf(to, "is pending: %s", x->not_tried);
        if (x->not_tried_plugin)
            strbuf_printf(to, " (%s)", x->not_tried_plugin);
    } else if (x->outcome == EXPLAINED_FITS) {
        strbuf_printf(to, "is pending, though %s would take it by now: nothing that happened since its last attempt "
                          "made the scheduler try again",
                      x->chosen);
    } else if (x->outcome == EXPLAINED_ERROR) {
        strbuf_printf(to, "is pending: %s", x->message);
    } else if (x->n_nodes == 1) {
        strbuf_printf(to, "is pending: the only node, %s, does not fit", x->nodes[0].name);
    } else {
        strbuf_printf(to, "is pending: none of %u nodes fits", x->n_nodes);
    }
}

static void add_headline(struct strbuf *to, const struct explain_report *r)
{
    const struct explanation *x = r->x;
    strbuf_printf(to, "%s/%s ", x->ns, x->name);
    if (x->node) {
        add_running(to, x);
    } else if (r->pod->state == SIM_PENDING) {
        add_pending(to, x);
    } else {
        strbuf_printf(to, "goes to %s", x->chosen);
        add_score(to, x);
    }
    strbuf_add_char(to, '\n');
    if (r->pod->state == SIM_EVICTED && r->pod->evicted_by >= 0) {
        const struct sim_pod *by = &r->world->pods.at[r->pod->evicted_by];
        strbuf_printf(to, "later it is evicted for %s/%s\n", by->ns, by->name);
    }
    if (r->pod->owner)
        strbuf_printf(to, "of %s; ", r->pod->owner);
    strbuf_printf(to, "profile %s, priority %d\n", x->scheduler_name, (int)x->priority);
    if (r->n_extenders)
        strbuf_printf(to, "%u %s not asked\n", r->n_extenders,
                      r->n_extenders == 1 ? "extender of the configuration was"
                                          : "extenders of the configuration were");
}

/* ---- Scores ---- */

/* The words of a plugin's name, one above the other: "NodeResourcesFit" is Node, Resources, Fit. */
struct column {
    struct str words[WORDS_MAX];
    unsigned n_words;
    int width;
    uint32_t plugin;
    char weight[24];
};

static bool starts_word(const char *name, size_t i)
{
    bool upper = name[i] >= 'A' && name[i] <= 'Z', after_upper = i && name[i - 1] >= 'A' && name[i - 1] <= 'Z';
    return i && upper && !after_upper;
}

static void split(const char *name, struct column *c)
{
    size_t start = 0;
    for (size_t i = 1; *name && c->n_words < WORDS_MAX; i++) {
        bool last_word = c->n_words == WORDS_MAX - 1;
        if (name[i] && (last_word || !starts_word(name, i)))
            continue;
        c->words[c->n_words++] = (struct str){ name + start, i - start };
        start = i;
        if (!name[i])
            break;
    }
}

static int width_of_number(int64_t n)
{
    char text[24];
    return snprintf(text, sizeof(text), "%lld", (long long)n);
}

static bool has_a_say(const struct explanation *x, uint32_t plugin)
{
    for (uint32_t i = 0; i < x->n_compared; i++)
        if (x->nodes[i].scores[plugin])
            return true;
    return false;
}

static struct column make_column(const struct explanation *x, uint32_t plugin, uint32_t n_rows)
{
    struct column c = { .plugin = plugin };
    split(x->plugins[plugin].name, &c);
    c.width = snprintf(c.weight, sizeof(c.weight), "x%lld", (long long)x->plugins[plugin].weight);
    for (unsigned i = 0; i < c.n_words; i++)
        c.width = (int)c.words[i].n > c.width ? (int)c.words[i].n : c.width;
    for (uint32_t i = 0; i < n_rows; i++) {
        int width = width_of_number(x->nodes[i].scores[plugin]);
        c.width = width > c.width ? width : c.width;
    }
    return c;
}

struct table {
    struct column columns[PLUGINS_MAX];
    uint32_t n_columns, n_rows;
    int name_width, total_width;
};

static void make_table(const struct explain_report *r, struct table *t)
{
    const struct explanation *x = r->x;
    *t = (struct table){ .name_width = strlen("NODE"), .total_width = strlen("TOTAL") };
    t->n_rows = x->n_compared < r->n_top ? x->n_compared : r->n_top;
    for (uint32_t i = 0; i < x->n_plugins && i < PLUGINS_MAX; i++)
        if (has_a_say(x, i))
            t->columns[t->n_columns++] = make_column(x, i, t->n_rows);
    for (uint32_t i = 0; i < t->n_rows; i++) {
        int name = (int)strlen(x->nodes[i].name), total = width_of_number(x->nodes[i].total);
        t->name_width = name > t->name_width ? name : t->name_width;
        t->total_width = total > t->total_width ? total : t->total_width;
    }
}

static void add_heading(struct strbuf *to, const struct table *t)
{
    unsigned height = 0;
    for (uint32_t i = 0; i < t->n_columns; i++)
        height = t->columns[i].n_words > height ? t->columns[i].n_words : height;
    for (unsigned line = 0; line < height; line++) {
        strbuf_printf(to, "  %*s", t->name_width + 2 + t->total_width, "");
        for (uint32_t i = 0; i < t->n_columns; i++) {
            const struct column *c = &t->columns[i];
            unsigned skip = height - c->n_words;
            struct str word = line >= skip ? c->words[line - skip] : (struct str){ NULL, 0 };
            strbuf_printf(to, "  %*.*s", c->width, STR_ARG(word));
        }
        while (to->n && to->p[to->n - 1] == ' ')
            to->n--;
        strbuf_add_char(to, '\n');
    }
    strbuf_printf(to, "  %-*s  %*s", t->name_width, "NODE", t->total_width, "TOTAL");
    for (uint32_t i = 0; i < t->n_columns; i++)
        strbuf_printf(to, "  %*s", t->columns[i].width, t->columns[i].weight);
    strbuf_add_char(to, '\n');
}

static void add_not_scored(struct strbuf *to, const struct explanation *x)
{
    const char *gap = "\n  0 for every node: ";
    for (uint32_t i = 0; i < x->n_plugins; i++)
        if (!has_a_say(x, i)) {
            strbuf_printf(to, "%s%s", gap, x->plugins[i].name);
            gap = ", ";
        }
    if (*gap == ',')
        strbuf_add_char(to, '\n');
}

static void add_scores(struct strbuf *to, const struct explain_report *r)
{
    const struct explanation *x = r->x;
    if (!x->scored)
        return;
    struct table t;
    make_table(r, &t);
    strbuf_printf(to, "\nScores of the %u nodes that were compared (0 to 100, times the plugin's weight)\n",
                  x->n_compared);
    add_heading(to, &t);
    for (uint32_t i = 0; i < t.n_rows; i++) {
        strbuf_printf(to, "  %-*s  %*lld", t.name_width, x->nodes[i].name, t.total_width, (long long)x->nodes[i].total);
        for (uint32_t k = 0; k < t.n_columns; k++)
            strbuf_printf(to, "  %*lld", t.columns[k].width, (long long)x->nodes[i].scores[t.columns[k].plugin]);
        strbuf_add_char(to, '\n');
    }
    if (t.n_rows < x->n_compared)
        strbuf_printf(to, "  and %u more: --all or --top N shows them\n", x->n_compared - t.n_rows);
    add_not_scored(to, x);
}

/* ---- Nodes that were not compared ---- */

static void add_names(struct strbuf *to, const char *const *names, uint32_t n, uint32_t n_max)
{
    uint32_t n_shown = n > n_max ? n_max : n;
    for (uint32_t i = 0; i < n_shown; i++)
        strbuf_printf(to, "%s%s", i ? ", " : "", names[i]);
    if (n_shown < n)
        strbuf_printf(to, "%s%u more", n_shown ? " and " : "", n - n_shown);
}

static void add_not_compared(struct strbuf *to, const struct explanation *x)
{
    if (!x->n_not_compared)
        return;
    strbuf_printf(to, "\n%u more node%s: ", x->n_not_compared, x->n_not_compared == 1 ? " fits" : "s fit");
    strbuf_add_text(to, x->nominated_used ? "not compared, since the pod was promised one\n"
                                          : "not compared, since enough had been found (percentageOfNodesToScore)\n");
}

static void add_groups(struct strbuf *to, const struct explain_report *r)
{
    const struct explanation *x = r->x;
    if (!x->n_groups)
        return;
    int plugin = 6, reason = 6;
    for (uint32_t i = 0; i < x->n_groups; i++) {
        int p = x->groups[i].plugin ? (int)strlen(x->groups[i].plugin) : 1, n = (int)strlen(x->groups[i].reason);
        plugin = p > plugin ? p : plugin;
        reason = n > reason && n <= 80 ? n : reason;
    }
    strbuf_printf(to, "\nRefused: %u of %u node%s\n", x->n_refused, x->n_nodes, x->n_nodes == 1 ? "" : "s");
    strbuf_printf(to, "  %5s  %-*s  %-*s  %s\n", "COUNT", plugin, "PLUGIN", reason, "REASON", "NODES");
    for (uint32_t i = 0; i < x->n_groups; i++) {
        const struct explained_group *g = &x->groups[i];
        strbuf_printf(to, "  %5u  %-*s  %-*s  ", g->n_nodes, plugin, g->plugin ? g->plugin : "-", reason, g->reason);
        add_names(to, g->nodes, g->n_nodes, r->n_top);
        strbuf_add_char(to, '\n');
    }
}

/* ---- What the scheduler says and does ---- */

static void add_message(struct strbuf *to, const struct explanation *x)
{
    if (x->outcome != EXPLAINED_REJECTED || x->not_tried)
        return;
    if (x->pre_filter)
        strbuf_printf(to, "\nNo node was looked at: %s%srefused the pod as a whole\n", x->pre_filter,
                      *x->pre_filter ? " " : "several plugins together ");
    STRBUF_ADD_LIT(to, "\nThe scheduler's message\n");
    sim_add_wrapped(to, x->message);
}

static void add_preemption(struct strbuf *to, const struct explanation *x)
{
    const struct explained_preemption *p = x->preemption;
    if (!p || x->not_tried)
        return;
    strbuf_printf(to, "\nIt would make room on %s by evicting %u pod%s", p->node, p->n_victims,
                  p->n_victims == 1 ? "" : "s");
    if (p->n_violations)
        strbuf_printf(to, ", %lld of them against a disruption budget", (long long)p->n_violations);
    strbuf_add_char(to, '\n');
    for (uint32_t i = 0; i < p->n_victims; i++)
        strbuf_printf(to, "  %s/%s (priority %d)\n", p->victims[i].ns, p->victims[i].name, (int)p->victims[i].priority);
}

/* Pods that had to go for this one in the run. */
static void add_evicted(struct strbuf *to, const struct explain_report *r)
{
    bool any = false;
    const struct sim_world *w = r->world;
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state != SIM_EVICTED || p->evicted_by != r->pod - w->pods.at)
            continue;
        if (!any)
            STRBUF_ADD_LIT(to, "\nEvicted to make room for it\n");
        any = true;
        strbuf_printf(to, "  %s/%s (priority %d) from %s\n", p->ns, p->name, (int)p->form->priority,
                      p->node == SIM_NO_NODE ? "-" : w->nodes.at[p->node].form->meta.name);
    }
}

void explain_add_text(struct strbuf *to, const struct explain_report *r)
{
    add_headline(to, r);
    add_evicted(to, r);
    if (r->x->not_tried && r->x->outcome == EXPLAINED_FITS)
        strbuf_printf(to, "\nIf it were tried now, it would go to %s\n", r->x->chosen);
    add_scores(to, r);
    add_not_compared(to, r->x);
    add_groups(to, r);
    add_message(to, r->x);
    add_preemption(to, r->x);
    if (r->remedies)
        explain_add_remedies_text(to, r->remedies);
}
