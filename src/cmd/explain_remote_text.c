/* cmd/explain_remote_text.c - the answer of a running scheduler for people, from its JSON; see explain_remote.h. The
 * document comes from outside: what is not there, or is of another kind, is left out. */
#include "cmd/explain_remote.h"

enum { TOP_NODES = 10, NAMES_MAX = 5 };

static const struct value *at(const struct value *x, const char *name)
{
    static const struct value absent;
    const struct value *v = x->kind == VALUE_MAP ? value_member(x, str_of(name)) : NULL;
    return v ? v : &absent;
}

static struct str text(const struct value *x, const char *name)
{
    return value_text(at(x, name));
}

static int64_t number(const struct value *x, const char *name)
{
    const struct value *v = at(x, name);
    return v->kind == VALUE_INT ? v->i : v->kind == VALUE_DOUBLE ? (int64_t)v->d : 0;
}

/* An item of a list, or an absent value. */
static const struct value *item(const struct value *list, uint32_t i)
{
    static const struct value absent;
    return list->kind == VALUE_LIST && i < list->n ? &list->items[i] : &absent;
}

static uint32_t n_items(const struct value *list)
{
    return list->kind == VALUE_LIST ? list->n : 0;
}

static void add_headline(struct strbuf *to, const struct value *x)
{
    const struct value *pod = at(x, "pod");
    struct str state = text(x, "state"), node = text(x, "node"), chosen = text(x, "chosen");
    strbuf_printf(to, "%.*s/%.*s ", STR_ARG(text(pod, "namespace")), STR_ARG(text(pod, "name")));
    if (str_is(state, "running"))
        strbuf_printf(to, "is on %.*s", STR_ARG(node));
    else
        strbuf_printf(to, "is %.*s", STR_ARG(state));
    if (chosen.n)
        strbuf_printf(to, "; now it would go to %.*s", STR_ARG(chosen));
    else
        strbuf_printf(to, "; now none of %lld nodes fits", (long long)number(at(x, "summary"), "nodes"));
    STRBUF_ADD_LIT(to, "\n");
    struct str owner = text(pod, "owner");
    strbuf_printf(to, "%s%.*s%sprofile %.*s, priority %lld\n", owner.n ? "of " : "", STR_ARG(owner),
                  owner.n ? "; " : "", STR_ARG(text(pod, "schedulerName")), (long long)number(pod, "priority"));
}

static void add_compared(struct strbuf *to, const struct value *x, uint32_t n_top)
{
    const struct value *compared = at(x, "compared");
    uint32_t n = n_items(compared);
    if (!n)
        return;
    strbuf_printf(to, "\nNodes that were compared: %lld\n", (long long)number(at(x, "summary"), "compared"));
    for (uint32_t i = 0; i < n && i < n_top; i++) {
        const struct value *node = item(compared, i), *scores = at(node, "scores");
        strbuf_printf(to, "  %.*s", STR_ARG(text(node, "name")));
        if (at(node, "total")->kind == VALUE_INT)
            strbuf_printf(to, "  %lld", (long long)number(node, "total"));
        bool first = true;
        for (uint32_t k = 0; scores->kind == VALUE_MAP && k < scores->n; k++) {
            const struct member *m = &scores->members[k];
            if (m->value.kind != VALUE_INT || m->value.i == 0)
                continue;
            strbuf_printf(to, "%s%.*s %lld", first ? "  = " : " + ", STR_ARG(m->key), (long long)m->value.i);
            first = false;
        }
        STRBUF_ADD_LIT(to, "\n");
    }
    if (n > n_top)
        strbuf_printf(to, "  and %u more; --all lists them\n", n - n_top);
}

static void add_names(struct strbuf *to, const struct value *names)
{
    uint32_t n = n_items(names);
    for (uint32_t i = 0; i < n && i < NAMES_MAX; i++)
        strbuf_printf(to, "%s%.*s", i ? ", " : "", STR_ARG(value_text(item(names, i))));
    if (n > NAMES_MAX)
        STRBUF_ADD_LIT(to, ", ...");
}

static void add_refused(struct strbuf *to, const struct value *x)
{
    const struct value *reasons = at(x, "reasons"), *summary = at(x, "summary");
    if (!n_items(reasons))
        return;
    strbuf_printf(to, "\nRefused: %lld of %lld nodes\n", (long long)number(summary, "refused"),
                  (long long)number(summary, "nodes"));
    for (uint32_t i = 0; i < n_items(reasons); i++) {
        const struct value *r = item(reasons, i);
        strbuf_printf(to, "  %lld  %.*s  %.*s: ", (long long)number(r, "count"), STR_ARG(text(r, "plugin")),
                      STR_ARG(text(r, "reason")));
        add_names(to, at(r, "nodes"));
        STRBUF_ADD_LIT(to, "\n");
    }
}

static void add_message(struct strbuf *to, const struct value *x)
{
    const struct value *preemption = at(x, "preemption"), *victims = at(preemption, "victims");
    struct str message = text(x, "message");
    if (message.n)
        strbuf_printf(to, "\nThe scheduler's message\n      %.*s\n", STR_ARG(message));
    if (preemption->kind != VALUE_MAP)
        return;
    strbuf_printf(to, "\nIt would evict on %.*s\n", STR_ARG(text(preemption, "node")));
    for (uint32_t i = 0; i < n_items(victims); i++)
        strbuf_printf(to, "  %.*s/%.*s\n", STR_ARG(text(item(victims, i), "namespace")),
                      STR_ARG(text(item(victims, i), "name")));
}

static void add_remedies(struct strbuf *to, const struct value *x)
{
    const struct value *remedies = at(x, "remedies");
    if (n_items(remedies))
        STRBUF_ADD_LIT(to, "\nWhat would place it (any one of these, smallest first; each was tried)\n");
    for (uint32_t i = 0; i < n_items(remedies); i++)
        strbuf_printf(to, "  %u. %.*s\n", i + 1, STR_ARG(text(item(remedies, i), "text")));
}

void explain_add_remote_text(struct strbuf *to, const struct value *x, uint32_t n_top, const char *from)
{
    add_headline(to, x);
    add_compared(to, x, n_top ? n_top : TOP_NODES);
    add_refused(to, x);
    add_message(to, x);
    add_remedies(to, x);
    strbuf_printf(to, "\nAnswered by the scheduler at %s\n", from);
}
