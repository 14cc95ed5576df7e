/* insight/refusals.c - see refusals.h. */
#include "insight/refusals.h"

#include "base/mem.h"
#include "sched/pod_class.h"

#define BESIDE_NOMINATED "no room beside pods that are nominated there"

struct kind {
    struct filter_status status;
    uint32_t n_nodes;
};

/* What is known of the nodes that a class does not fit on. */
struct class_refusals {
    uint64_t id;          /* of the class */
    uint64_t generation;  /* of the cache, up to which this is right */
    uint64_t order_epoch;
    uint64_t last_used;
    node_id n_rows;
    uint64_t *refused, *unknown; /* bitsets by row; unknown: refused, and nobody has looked why */
    uint8_t *kind_of;            /* by row: 1 + index in kinds; 0: not known */
    struct kind kinds[REFUSAL_KINDS_MAX];
    uint32_t n_kinds, n_refused;
    bool changed;                /* since `last` was made */
    struct refusal_block *last, *last_failure; /* references, or NULL */
    uint32_t n_general;          /* what it counted besides */
    struct general_refusal general[PLUGINS_MAX + 1];
};

struct refusals {
    struct map_u64 classes;    /* id -> struct class_refusals */
    struct map_str by_message; /* lists of blocks of failures; the key is in the first */
    uint64_t now;
    size_t n_bytes;
};

struct refusals *refusals_new(void)
{
    struct refusals *r = mem_zalloc(sizeof(*r));
    map_u64_init(&r->classes);
    map_str_init(&r->by_message);
    return r;
}

static void free_class(struct refusals *r, struct class_refusals *k)
{
    if (k->last)
        refusals_give_back(r, k->last);
    if (k->last_failure)
        refusals_give_back(r, k->last_failure);
    free(k->refused);
    free(k->unknown);
    free(k->kind_of);
    free(k);
}

void refusals_free(struct refusals *r)
{
    for (struct map_u64_slot *slot = NULL; (slot = map_u64_next(&r->classes, slot));)
        free_class(r, slot->value.ptr);
    assert(r->n_bytes == 0);
    map_u64_fini(&r->classes);
    map_str_fini(&r->by_message);
    free(r);
}

size_t refusals_bytes(const struct refusals *r)
{
    return r->n_bytes;
}

/* ---- Blocks ---- */

/* Groups on their way into a block. */
struct gathered {
    struct cycle *c;
    struct refusal_group at[REFUSAL_GROUPS_MAX];
    uint32_t n, n_not_looked_at;
};

static void gather(struct gathered *g, const char *plugin, enum verdict_code code, const char *reason, uint32_t n_nodes)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct refusal_group *there = &g->at[i];
        if (there->plugin == plugin && there->code == code && strcmp(there->reason, reason) == 0) {
            there->n_nodes += n_nodes;
            return;
        }
    }
    if (g->n == REFUSAL_GROUPS_MAX)
        g->n_not_looked_at += n_nodes;
    else
        g->at[g->n++] = (struct refusal_group){ plugin, reason, n_nodes, code };
}

static void gather_status(struct gathered *g, const struct filter_status *status, uint32_t n_nodes)
{
    struct reasons reasons = { .arena = g->c->arena };
    const char *plugin = status->plugin ? status->plugin->plugin->name : NULL;
    framework_reasons(g->c, status, &reasons);
    for (size_t i = 0; i < reasons.texts.n; i++)
        gather(g, plugin, status->verdict.code, reasons.texts.at[i], n_nodes);
    if (!reasons.texts.n)
        gather(g, plugin, status->verdict.code, "no reason given", n_nodes);
    vec_fini(&reasons.texts);
}

static struct str cut(const char *text, size_t max)
{
    return (struct str){ text, strnlen(text, max) };
}

static const char *put_text(char **at, struct str text)
{
    char *start = *at;
    memcpy(start, text.p, text.n);
    start[text.n] = '\0';
    *at += text.n + 1;
    return start;
}

/* In the order of groups: most nodes first. */
static void order_groups(struct gathered *g)
{
    for (uint32_t i = 1; i < g->n; i++) {
        struct refusal_group moved = g->at[i];
        uint32_t at = i;
        for (; at > 0 && g->at[at - 1].n_nodes < moved.n_nodes; at--)
            g->at[at] = g->at[at - 1];
        g->at[at] = moved;
    }
}

static struct refusal_block *new_block(struct refusals *r, struct gathered *g, struct str message)
{
    size_t n_bytes = sizeof(struct refusal_block) + g->n * sizeof(*g->at) + (message.p ? message.n + 1 : 0);
    for (uint32_t i = 0; i < g->n; i++)
        n_bytes += cut(g->at[i].reason, REFUSAL_REASON_BYTES_MAX).n + 1;
    struct refusal_block *b = mem_alloc(n_bytes);
    *b = (struct refusal_block){ .n_refs = 1, .n_groups = g->n, .n_not_looked_at = g->n_not_looked_at,
                                 .n_bytes = n_bytes };
    char *texts = (char *)&b->groups[g->n];
    for (uint32_t i = 0; i < g->n; i++) {
        b->groups[i] = g->at[i];
        b->groups[i].reason = put_text(&texts, cut(g->at[i].reason, REFUSAL_REASON_BYTES_MAX));
    }
    if (message.p)
        b->message = put_text(&texts, message);
    r->n_bytes += n_bytes;
    return b;
}

/* Out of the list of its message, whose key is the text of the first. */
static void unlist(struct refusals *r, struct refusal_block *b)
{
    struct refusal_block *first = map_str_find(&r->by_message, str_of(b->message))->ptr;
    if (first != b) {
        while (first->next != b)
            first = first->next;
        first->next = b->next;
        return;
    }
    map_str_remove(&r->by_message, str_of(b->message), NULL);
    if (b->next)
        map_str_put(&r->by_message, str_of(b->next->message), NULL)->ptr = b->next;
}

void refusals_give_back(struct refusals *r, struct refusal_block *own_block)
{
    if (--own_block->n_refs)
        return;
    if (own_block->message)
        unlist(r, own_block);
    r->n_bytes -= own_block->n_bytes;
    free(own_block);
}

/* ---- Failures ---- */

static bool same_status(const struct filter_status *a, const struct filter_status *b)
{
    return a->plugin == b->plugin && a->verdict.code == b->verdict.code && a->verdict.detail == b->verdict.detail &&
           a->verdict.text == b->verdict.text;
}

/* UINT32_MAX: there are too many. `guess` is looked at first. */
static uint32_t find_kind(struct kind *kinds, uint32_t *n_kinds, const struct filter_status *status, uint32_t guess)
{
    if (guess < *n_kinds && same_status(&kinds[guess].status, status))
        return guess;
    for (uint32_t i = 0; i < *n_kinds; i++)
        if (same_status(&kinds[i].status, status))
            return i;
    uint32_t free_one = 0;
    while (free_one < *n_kinds && kinds[free_one].n_nodes)
        free_one++;
    if (free_one == REFUSAL_KINDS_MAX)
        return UINT32_MAX;
    kinds[free_one] = (struct kind){ .status = *status };
    *n_kinds += free_one == *n_kinds;
    return free_one;
}

static void gather_statuses(struct gathered *g, const struct attempt *a)
{
    const struct cache *cache = a->cycle.cache;
    struct kind kinds[REFUSAL_KINDS_MAX];
    uint32_t n_kinds = 0, last = 0;
    for (size_t i = 0; i < cache->order.n; i++) {
        const struct filter_status *status = &a->statuses[cache->order.at[i]];
        if (status->verdict.code == V_SUCCESS)
            status = &a->cycle.absent_status;
        uint32_t k = find_kind(kinds, &n_kinds, status, last);
        if (k == UINT32_MAX) {
            g->n_not_looked_at++;
            continue;
        }
        kinds[k].n_nodes++;
        last = k;
    }
    for (uint32_t i = 0; i < n_kinds; i++)
        gather_status(g, &kinds[i].status, kinds[i].n_nodes);
}

/* ---- Choices ---- */

static void forget_row(struct class_refusals *k, node_id row)
{
    if (k->kind_of[row])
        k->kinds[k->kind_of[row] - 1].n_nodes--;
    k->kind_of[row] = 0;
    k->changed = true;
}

struct repair {
    struct class_refusals *k;
    const struct attempt *a;
};

/* The row has changed: what was known of it is void. */
static void repair_row(void *context, node_id row)
{
    struct repair *w = context;
    struct class_refusals *k = w->k;
    const struct attempt *a = w->a;
    bool before = bitset_test(k->refused, row);
    bool now = bitset_test(a->cycle.cache->col.listed, row) && !bitset_test(a->quick.class->alive, row);
    if (!before && !now)
        return;
    forget_row(k, row);
    k->n_refused = k->n_refused - before + now;
    bitset_put(k->refused, row, now);
    bitset_put(k->unknown, row, now);
}

static void start_anew(struct class_refusals *k, const struct attempt *a)
{
    const struct cache *cache = a->cycle.cache;
    size_t n_words = bitset_words(cache->col.n_rows);
    k->n_rows = cache->col.n_rows;
    k->refused = mem_realloc(k->refused, n_words * sizeof(*k->refused));
    k->unknown = mem_realloc(k->unknown, n_words * sizeof(*k->unknown));
    k->kind_of = mem_realloc(k->kind_of, k->n_rows);
    memset(k->kind_of, 0, k->n_rows);
    bitset_copy(k->refused, cache->col.listed, n_words);
    bitset_andnot(k->refused, a->quick.class->alive, n_words);
    bitset_copy(k->unknown, k->refused, n_words);
    k->n_refused = (uint32_t)bitset_count(k->refused, n_words);
    k->n_kinds = 0;
    k->changed = true;
}

static void bring_up_to_date(struct class_refusals *k, const struct attempt *a)
{
    const struct cache *cache = a->cycle.cache;
    struct repair w = { k, a };
    bool same_nodes = k->refused && k->order_epoch == cache->order_epoch && k->n_rows == cache->col.n_rows;
    if (!same_nodes || !cache_changes(cache, k->generation, repair_row, &w))
        start_anew(k, a);
    k->generation = cache->generation;
    k->order_epoch = cache->order_epoch;
}

/* The first local filter that does not pass. */
static struct filter_status local_status(struct cycle *c, node_id row)
{
    const struct point_plugins *filters = &c->profile->plan.local_filters;
    struct node_view view = node_view_of(c->cache, row);
    for (uint8_t i = 0; i < filters->n; i++) {
        const struct plugin_instance *p = filters->at[i];
        struct verdict v = c->skip_filter >> p->index & 1 ? PASS : p->plugin->filter(p, c, &view);
        if (v.code != V_SUCCESS)
            return (struct filter_status){ v, p };
    }
    return (struct filter_status){ PASS, NULL };
}

/* A few of the nodes that nobody has looked at. */
static void look_at_some(struct class_refusals *k, struct cycle *c)
{
    size_t n_words = bitset_words(k->n_rows), row = 0;
    for (uint32_t n = 0; n < REFUSALS_PER_DECISION; n++) {
        row = bitset_next(k->unknown, n_words, row);
        if (row >= BITSET_END)
            return;
        bitset_clear(k->unknown, row);
        struct filter_status status = local_status(c, (node_id)row);
        uint32_t kind = find_kind(k->kinds, &k->n_kinds, &status, 0);
        k->changed = true;
        if (kind == UINT32_MAX)
            continue;
        k->kinds[kind].n_nodes++;
        k->kind_of[row] = (uint8_t)(kind + 1);
    }
}

static bool same_general(const struct class_refusals *k, const struct quick_choice *q)
{
    bool same = k->n_general == q->n_refusals;
    for (uint32_t i = 0; same && i < k->n_general; i++)
        same = k->general[i].plugin == q->refusals[i].plugin && k->general[i].n_nodes == q->refusals[i].n_nodes;
    return same;
}

static void gather_general(struct gathered *g, const struct general_refusal *general)
{
    if (!general->plugin) {
        gather(g, NULL, V_UNSCHEDULABLE, BESIDE_NOMINATED, general->n_nodes);
        return;
    }
    struct node_view view = node_view_of(g->c->cache, general->example);
    struct filter_status status = { framework_filter_with(general->plugin, g->c, &view), general->plugin };
    gather_status(g, &status, general->n_nodes);
}

static struct refusal_block *block_of(struct refusals *r, const struct class_refusals *k, struct attempt *a)
{
    struct gathered g = { .c = &a->cycle, .n_not_looked_at = k->n_refused };
    for (uint32_t i = 0; i < k->n_kinds; i++)
        if (k->kinds[i].n_nodes) {
            g.n_not_looked_at -= k->kinds[i].n_nodes;
            gather_status(&g, &k->kinds[i].status, k->kinds[i].n_nodes);
        }
    for (uint32_t i = 0; i < a->quick.n_refusals; i++)
        gather_general(&g, &a->quick.refusals[i]);
    order_groups(&g);
    return new_block(r, &g, (struct str){ NULL, 0 });
}

static void drop_oldest(struct refusals *r)
{
    struct class_refusals *oldest = NULL;
    for (struct map_u64_slot *slot = NULL; (slot = map_u64_next(&r->classes, slot));) {
        struct class_refusals *k = slot->value.ptr;
        if (!oldest || k->last_used < oldest->last_used)
            oldest = k;
    }
    map_u64_remove(&r->classes, oldest->id, NULL);
    free_class(r, oldest);
}

static struct class_refusals *class_of(struct refusals *r, uint64_t id)
{
    union map_value *found = map_u64_find(&r->classes, id);
    if (found)
        return found->ptr;
    if (r->classes.n == REFUSAL_CLASSES_MAX)
        drop_oldest(r);
    struct class_refusals *k = mem_zalloc(sizeof(*k));
    k->id = id;
    map_u64_put(&r->classes, id, NULL)->ptr = k;
    return k;
}

static bool same_groups(const struct refusal_block *b, struct gathered *g)
{
    bool same = b->n_groups == g->n && b->n_not_looked_at == g->n_not_looked_at;
    for (uint32_t i = 0; same && i < g->n; i++) {
        const struct refusal_group *x = &b->groups[i], *y = &g->at[i];
        same = x->plugin == y->plugin && x->code == y->code && x->n_nodes == y->n_nodes &&
               str_is(cut(y->reason, REFUSAL_REASON_BYTES_MAX), x->reason);
    }
    return same;
}

/* The block of that message with these groups; NULL: there is none. */
static struct refusal_block *find_failure(struct refusals *r, struct str message, struct gathered *g)
{
    union map_value *found = map_str_find(&r->by_message, message);
    struct refusal_block *b = found ? found->ptr : NULL;
    order_groups(g);
    while (b && !same_groups(b, g))
        b = b->next;
    return b;
}

static struct refusal_block *new_failure(struct refusals *r, struct str message, struct gathered *g)
{
    struct refusal_block *b = new_block(r, g, message);
    bool is_new;
    union map_value *first = map_str_put(&r->by_message, str_of(b->message), &is_new);
    if (!is_new) { /* behind the first, whose text is the key */
        struct refusal_block *there = first->ptr;
        b->next = there->next;
        there->next = b;
    } else {
        first->ptr = b;
    }
    return b;
}

/* Pods of a class that fail again while nothing has changed are not looked at again. */
static struct refusal_block *known_failure(const struct class_refusals *k, const struct attempt *a, struct str message)
{
    bool known = k && a->outcome == ATTEMPT_REJECTED && !a->statuses && !a->pre_filter_message && k->last_failure;
    return known && str_is(message, k->last_failure->message) ? k->last_failure : NULL;
}

struct refusal_block *refusals_of_failure(struct refusals *r, struct attempt *a, const char *text)
{
    struct str message = cut(text, REFUSAL_MESSAGE_BYTES_MAX);
    struct class_refusals *k = a && a->quick.class ? class_of(r, a->quick.class->id) : NULL;
    struct refusal_block *b = known_failure(k, a, message);
    if (b) {
        b->n_refs++;
        return b;
    }
    struct gathered g = { .c = a ? &a->cycle : NULL };
    if (a && a->outcome == ATTEMPT_REJECTED && a->pre_filter_message)
        gather(&g, a->pre_filter_plugin ? a->pre_filter_plugin->plugin->name : NULL, a->pre_filter.code,
               a->pre_filter_message, (uint32_t)a->cycle.cache->order.n);
    else if (a && a->outcome == ATTEMPT_REJECTED && a->statuses)
        gather_statuses(&g, a);
    else if (a && a->outcome == ATTEMPT_REJECTED)
        g.n_not_looked_at = (uint32_t)a->cycle.cache->order.n;
    b = find_failure(r, message, &g);
    if (b)
        b->n_refs++;
    else
        b = new_failure(r, message, &g);
    if (k) {
        b->n_refs++;
        if (k->last_failure)
            refusals_give_back(r, k->last_failure);
        k->last_failure = b;
        k->last_used = ++r->now;
    }
    return b;
}

struct refusal_block *refusals_of_choice(struct refusals *r, struct attempt *a)
{
    const struct quick_choice *q = &a->quick;
    struct gathered none = { .n_not_looked_at = (uint32_t)a->cycle.cache->order.n - a->n_feasible };
    if (!q->class)
        return new_block(r, &none, (struct str){ NULL, 0 });
    struct class_refusals *k = class_of(r, q->class->id);
    k->last_used = ++r->now;
    bring_up_to_date(k, a);
    look_at_some(k, &a->cycle);
    if (!k->last || k->changed || !same_general(k, q)) {
        struct refusal_block *b = block_of(r, k, a);
        if (k->last)
            refusals_give_back(r, k->last);
        k->last = b;
        k->changed = false;
        k->n_general = q->n_refusals;
        if (k->n_general)
            memcpy(k->general, q->refusals, k->n_general * sizeof(*k->general));
    }
    k->last->n_refs++;
    return k->last;
}
