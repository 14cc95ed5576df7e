/* NodeLabel: nodes must, must not, should or should not have labels, whatever their values. Policy files ask for it with
 * the arguments labelsPresence and labelPreference. Upstream: plugins/nodelabel, v1.20. */
#include "plugins/legacy.h"

#define NOT_LABELLED "node(s) didn't have the requested labels"

struct keys {
    sym *at;
    uint32_t n;
};

struct data {
    struct keys present, absent, prefer_present, prefer_absent;
};

static struct keys keep(struct plugin_instance *p, const char *const *texts, uint32_t n)
{
    struct keys keys = { mem_zalloc(mem_product(n ? n : 1, sizeof(*keys.at))), n };
    for (uint32_t i = 0; i < n; i++)
        keys.at[i] = sym_intern_static(p->syms, str_of(texts[i]));
    return keys;
}

static const char *list_text(struct arena *a, const char *const *texts, uint32_t n)
{
    const char *list = "[";
    for (uint32_t i = 0; i < n; i++)
        list = arena_printf(a, "%s%s%s", list, i ? " " : "", texts[i]);
    return arena_printf(a, "%s]", list);
}

/* No label may be wanted and unwanted. */
static enum err_code check(const char *const *present, uint32_t n_present, const char *const *absent,
                           uint32_t n_absent, struct err *e)
{
    for (uint32_t i = 0; i < n_present; i++)
        for (uint32_t k = 0; k < n_absent; k++)
            if (strcmp(present[i], absent[k]) == 0)
                return err_set(e, ERR_INVALID,
                               "detecting at least one label (e.g., \"%s\") that exist in both the present(%s) and "
                               "absent(%s) label list",
                               present[i], list_text(e->arena, present, n_present),
                               list_text(e->arena, absent, n_absent));
    return ERR_OK;
}

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    static const struct node_label_args none;
    const struct node_label_args *a = args ? args : &none;
    if (check(a->present, a->n_present, a->absent, a->n_absent, e) ||
        check(a->prefer_present, a->n_prefer_present, a->prefer_absent, a->n_prefer_absent, e))
        return e->code;
    struct data *d = mem_alloc(sizeof(*d));
    d->present = keep(p, a->present, a->n_present);
    d->absent = keep(p, a->absent, a->n_absent);
    d->prefer_present = keep(p, a->prefer_present, a->n_prefer_present);
    d->prefer_absent = keep(p, a->prefer_absent, a->n_prefer_absent);
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    free(d->present.at);
    free(d->absent.at);
    free(d->prefer_present.at);
    free(d->prefer_absent.at);
    free(d);
}

static uint32_t count(struct keys keys, const struct node *node)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < keys.n; i++)
        n += label_set_get(node->meta.labels, keys.at[i]) != SYM_NONE;
    return n;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)c;
    const struct data *d = p->data;
    bool fits = count(d->present, n->node) == d->present.n && count(d->absent, n->node) == 0;
    return fits ? PASS : verdict_text(V_UNRESOLVABLE, NOT_LABELLED);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)c;
    const struct data *d = p->data;
    int64_t n_labels = (int64_t)d->prefer_present.n + d->prefer_absent.n;
    int64_t met = (int64_t)count(d->prefer_present, n->node) + d->prefer_absent.n - count(d->prefer_absent, n->node);
    return n_labels ? met * p->era->score_max / n_labels : 0;
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        struct node_view view = { .node = c->cache->rows.at[c->feasible[i]].node };
        scores[i] = score(p, c, &view);
    }
}

const struct plugin legacy_nodelabel_plugin = {
    .name = "NodeLabel",
    .init = init,
    .fini = fini,
    .filter = filter,
    .filter_key = class_key_nothing,
    .score = score,
    .score_block = score_block,
    .score_key = class_key_nothing,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL, NULL }, { 0 } },
};
