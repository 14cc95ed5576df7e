/* cmd/explain_text.c - see explain.h: an explanation for people. A sentence that says it all, the
 * scores of the best nodes, the nodes that were refused by reason, and of a pod that stays what the
 * scheduler says, who might have to go, and what would place it. */
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/table.h"
#include "cmd/explain.h"

enum {
    NEAR_POINTS = 10,  /* runners-up that lost by no more are counted */
    WORDS_MAX = 8,     /* of a plugin's name in a heading */
    REFUSED_ROOM = 56, /* for what stands beside a reason for refusals */
    MESSAGE_INDENT = 6,
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
    printable_printf(to, " (score %lld)", (long long)best);
    if (n_equal)
        printable_printf(to, ", the first of %u with the same score", n_equal + 1);
    else if (n_near)
        printable_printf(to, ", %u runner%s-up within %d points", n_near, n_near == 1 ? "" : "s", NEAR_POINTS);
    else
        printable_printf(to, ", %lld points ahead of the next", (long long)(best - x->nodes[1].total));
}

static void add_running(struct strbuf *to, const struct explanation *x)
{
    printable_printf(to, "is on %s", x->node);
    if (x->outcome == EXPLAINED_ERROR) {
        printable_printf(to, "; it cannot be scheduled again: %s", x->not_tried ? x->not_tried : x->message);
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
    printable_printf(to, "; if it were scheduled again now, it would go to %s", x->chosen);
    add_score(to, x);
    const struct explained_node *here = find_node(x, x->node);
    if (here && here->scores)
        printable_printf(to, "; %s has %lld", x->node, (long long)here->total);
    else if (here && here->state == EXPLAINED_REFUSED)
        printable_printf(to, "; %s would be refused", x->node);
}

static void add_pending(struct strbuf *to, const struct explanation *x)
{
    if (x->not_tried) {
        printable_printf(to, "is pending: %s", x->not_tried);
        if (x->not_tried_plugin)
            printable_printf(to, " (%s)", x->not_tried_plugin);
    } else if (x->outcome == EXPLAINED_FITS) {
        printable_printf(to, "is pending, though %s would take it by now: nothing that happened since its last attempt "
                          "made the scheduler try again",
                         x->chosen);
    } else if (x->outcome == EXPLAINED_ERROR) {
        printable_printf(to, "is pending: %s", x->message);
    } else if (x->n_nodes == 1) {
        printable_printf(to, "is pending: the only node, %s, does not fit", x->nodes[0].name);
    } else {
        printable_printf(to, "is pending: none of %u nodes fits", x->n_nodes);
    }
}

static void add_headline(struct strbuf *to, const struct explain_report *r)
{
    const struct explanation *x = r->x;
    printable_printf(to, "%s/%s ", x->ns, x->name);
    if (x->node) {
        add_running(to, x);
    } else if (r->pod->state == SIM_PENDING) {
        add_pending(to, x);
    } else {
        printable_printf(to, "goes to %s", x->chosen);
        add_score(to, x);
    }
    strbuf_add_char(to, '\n');
    if (r->pod->state == SIM_EVICTED && r->pod->evicted_by >= 0) {
        const struct sim_pod *by = &r->world->pods.at[r->pod->evicted_by];
        printable_printf(to, "later it is evicted for %s/%s\n", by->ns, by->name);
    }
    if (r->pod->owner)
        printable_printf(to, "of %s; ", r->pod->owner);
    printable_printf(to, "profile %s, priority %d\n", x->scheduler_name, (int)x->priority);
    if (r->n_extenders)
        printable_printf(to, "%u %s not asked\n", r->n_extenders,
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

/* The scores of some plugins: those that fit beside each other. */
struct scores {
    const struct explanation *x;
    const struct column *columns;
    uint32_t n_columns, n_rows;
    int name_width, total_width;
};

static void add_padded(struct strbuf *to, const char *text, int width)
{
    size_t before = to->n;
    printable_add(to, str_of(text));
    int n = (int)printable_width((struct str){ to->p + before, to->n - before });
    strbuf_printf(to, "%*s", n < width ? width - n : 0, "");
}

static int width_of_name(const char *name)
{
    struct arena a;
    arena_init(&a);
    int width = (int)printable_width(str_of(printable_text(&a, name)));
    arena_fini(&a);
    return width;
}

static void measure(struct scores *s)
{
    s->name_width = strlen("NODE");
    s->total_width = strlen("TOTAL");
    for (uint32_t i = 0; i < s->n_rows; i++) {
        int name = width_of_name(s->x->nodes[i].name), total = width_of_number(s->x->nodes[i].total);
        s->name_width = name > s->name_width ? name : s->name_width;
        s->total_width = total > s->total_width ? total : s->total_width;
    }
}

static void end_line(struct strbuf *to)
{
    while (to->n && to->p[to->n - 1] == ' ')
        to->n--;
    strbuf_add_char(to, '\n');
}

static void add_heading(struct strbuf *to, const struct scores *s)
{
    unsigned height = 0;
    for (uint32_t i = 0; i < s->n_columns; i++)
        height = s->columns[i].n_words > height ? s->columns[i].n_words : height;
    for (unsigned line = 0; line < height; line++) {
        strbuf_printf(to, "  %*s", s->name_width + 2 + s->total_width, "");
        for (uint32_t i = 0; i < s->n_columns; i++) {
            const struct column *c = &s->columns[i];
            unsigned skip = height - c->n_words;
            struct str word = line >= skip ? c->words[line - skip] : (struct str){ NULL, 0 };
            strbuf_printf(to, "  %*.*s", c->width, STR_ARG(word));
        }
        end_line(to);
    }
    strbuf_printf(to, "  %-*s  %*s", s->name_width, "NODE", s->total_width, "TOTAL");
    for (uint32_t i = 0; i < s->n_columns; i++)
        strbuf_printf(to, "  %*s", s->columns[i].width, s->columns[i].weight);
    strbuf_add_char(to, '\n');
}

static void add_score_rows(struct strbuf *to, const struct scores *s)
{
    add_heading(to, s);
    for (uint32_t i = 0; i < s->n_rows; i++) {
        const struct explained_node *n = &s->x->nodes[i];
        STRBUF_ADD_LIT(to, "  ");
        add_padded(to, n->name, s->name_width);
        strbuf_printf(to, "  %*lld", s->total_width, (long long)n->total);
        for (uint32_t k = 0; k < s->n_columns; k++)
            strbuf_printf(to, "  %*lld", s->columns[k].width, (long long)n->scores[s->columns[k].plugin]);
        strbuf_add_char(to, '\n');
    }
}

/* How many of the columns stand in `width`; at least one. */
static uint32_t columns_that_fit(const struct scores *s, uint32_t n, unsigned width)
{
    size_t used = (size_t)(2 + s->name_width + 2 + s->total_width);
    uint32_t n_fit = 0;
    while (n_fit < n && (!width || used + 2 + (size_t)s->columns[n_fit].width <= width))
        used += 2 + (size_t)s->columns[n_fit++].width;
    return n_fit ? n_fit : n ? 1 : 0;
}

static void add_not_scored(struct strbuf *to, const struct explanation *x)
{
    bool any = false;
    for (uint32_t i = 0; i < x->n_plugins; i++)
        if (!has_a_say(x, i)) {
            strbuf_add_text(to, any ? ", " : "\n  0 for every node: ");
            printable_add(to, str_of(x->plugins[i].name));
            any = true;
        }
    if (any)
        strbuf_add_char(to, '\n');
}

static void add_scores(struct strbuf *to, const struct explain_report *r)
{
    const struct explanation *x = r->x;
    if (!x->scored)
        return;
    struct column columns[PLUGINS_MAX];
    uint32_t n = 0;
    struct scores s = { .x = x, .columns = columns, .n_rows = x->n_compared < r->n_top ? x->n_compared : r->n_top };
    for (uint32_t i = 0; i < x->n_plugins && i < PLUGINS_MAX; i++)
        if (has_a_say(x, i))
            columns[n++] = make_column(x, i, s.n_rows);
    measure(&s);
    printable_printf(to, "\nScores of the %u nodes that were compared (0 to %lld, times the plugin's weight)\n",
                     x->n_compared, (long long)x->score_max);
    do {
        s.n_columns = columns_that_fit(&s, n, r->width);
        add_score_rows(to, &s);
        s.columns += s.n_columns;
        n -= s.n_columns;
        strbuf_add_text(to, n ? "\n" : "");
    } while (n);
    if (s.n_rows < x->n_compared)
        strbuf_printf(to, "  and %u more: --all or --top N shows them\n", x->n_compared - s.n_rows);
    add_not_scored(to, x);
}

/* ---- Nodes that were not compared ---- */

static const char *names_of(struct arena *a, const char *const *names, uint32_t n, uint32_t n_max)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    uint32_t n_shown = n > n_max ? n_max : n;
    for (uint32_t i = 0; i < n_shown; i++)
        strbuf_printf(&text, "%s%s", i ? ", " : "", names[i]);
    if (n_shown < n)
        strbuf_printf(&text, "%s%u more", n_shown ? " and " : "", n - n_shown);
    const char *copy = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static void add_not_compared(struct strbuf *to, const struct explanation *x)
{
    if (!x->n_not_compared)
        return;
    printable_printf(to, "\n%u more node%s: ", x->n_not_compared, x->n_not_compared == 1 ? " fits" : "s fit");
    strbuf_add_text(to, x->nominated_used ? "not compared, since the pod was promised one\n"
                                          : "not compared, since enough had been found (percentageOfNodesToScore)\n");
}

/* Reasons are sentences: they and the nodes stand below the numbers where they would not fit beside them. */
static void add_groups(struct strbuf *to, const struct explain_report *r)
{
    static const struct table_column columns[] = { { .heading = "COUNT", .right = true }, { .heading = "PLUGIN" },
                                                   { .heading = "REASON" }, { .heading = "NODES", .wraps = true } };
    static const struct table_column narrow[] = { { .heading = "COUNT", .right = true }, { .heading = "PLUGIN" },
                                                  { .heading = "REASON AND NODES", .wraps = true } };
    const struct explanation *x = r->x;
    if (!x->n_groups)
        return;
    size_t reason = 0;
    for (uint32_t i = 0; i < x->n_groups; i++)
        reason = strlen(x->groups[i].reason) > reason ? strlen(x->groups[i].reason) : reason;
    bool is_narrow = r->width && reason + REFUSED_ROOM > r->width;
    struct table t;
    table_init(&t, is_narrow ? narrow : columns, is_narrow ? 3 : 4);
    for (uint32_t i = 0; i < x->n_groups; i++) {
        const struct explained_group *g = &x->groups[i];
        const char *names = names_of(&t.arena, g->nodes, g->n_nodes, r->n_top);
        table_row(&t);
        table_cell(&t, "%u", g->n_nodes);
        table_cell(&t, "%s", g->plugin ? g->plugin : "-");
        if (is_narrow) {
            table_cell(&t, "%s: %s", g->reason, names);
        } else {
            table_cell(&t, "%s", g->reason);
            table_cell(&t, "%s", names);
        }
    }
    strbuf_printf(to, "\nRefused: %u of %u node%s\n", x->n_refused, x->n_nodes, x->n_nodes == 1 ? "" : "s");
    table_write(&t, to, r->width);
    table_fini(&t);
}

/* ---- What the scheduler says and does ---- */

static void add_message(struct strbuf *to, const struct explanation *x, unsigned width)
{
    if (x->outcome != EXPLAINED_REJECTED || x->not_tried)
        return;
    if (x->pre_filter)
        printable_printf(to, "\nNo node was looked at: %s%srefused the pod as a whole\n", x->pre_filter,
                         *x->pre_filter ? " " : "several plugins together ");
    STRBUF_ADD_LIT(to, "\nThe scheduler's message\n");
    table_paragraph(to, x->message, MESSAGE_INDENT, width);
}

static void add_preemption(struct strbuf *to, const struct explanation *x)
{
    const struct explained_preemption *p = x->preemption;
    if (!p || x->not_tried)
        return;
    printable_printf(to, "\nIt would make room on %s by evicting %u pod%s", p->node, p->n_victims,
                     p->n_victims == 1 ? "" : "s");
    if (p->n_violations)
        printable_printf(to, ", %lld of them against a disruption budget", (long long)p->n_violations);
    strbuf_add_char(to, '\n');
    for (uint32_t i = 0; i < p->n_victims; i++)
        printable_printf(to, "  %s/%s (priority %d)\n", p->victims[i].ns, p->victims[i].name,
                         (int)p->victims[i].priority);
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
        printable_printf(to, "  %s/%s (priority %d) from %s\n", p->ns, p->name, (int)p->form->priority,
                         p->node == SIM_NO_NODE ? "-" : w->nodes.at[p->node].form->meta.name);
    }
}

void explain_add_text(struct strbuf *to, const struct explain_report *r)
{
    add_headline(to, r);
    add_evicted(to, r);
    if (r->x->not_tried && r->x->outcome == EXPLAINED_FITS)
        printable_printf(to, "\nIf it were tried now, it would go to %s\n", r->x->chosen);
    add_scores(to, r);
    add_not_compared(to, r->x);
    add_groups(to, r);
    add_message(to, r->x, r->width);
    add_preemption(to, r->x);
    if (r->remedies)
        explain_add_remedies_text(to, r->remedies);
}
