/* store/read.c - see store.h: reads, lists and watches.
 *
 * A list at an older revision is the current one with the changes since then undone: of every key that changed, the
 * first event after the revision knows what was before. */
#include "base/map.h"
#include "base/sort.h"
#include "store/store_priv.h"

uint64_t store_revision(const struct store *s)
{
    return s->revision;
}

uint64_t store_compacted(const struct store *s)
{
    return s->compacted;
}

struct store_item *store_get(const struct store *s, struct str key)
{
    const struct index_entry *entry = index_find(&s->index, key);
    return entry ? entry->item : NULL;
}

int64_t store_expires_ms(const struct store *s, struct str key)
{
    const struct index_entry *entry = index_find(&s->index, key);
    return entry && heap_has(&entry->expiry) ? entry->deadline_ms : 0;
}

/* ---- Lists ---- */

/* A key as it was. */
struct was {
    struct str key;
    struct store_item *item; /* NULL: it did not exist */
};

struct lister {
    const struct store *s;
    const struct store_range *r;
    struct str from;
    VEC(struct was) was; /* in order of keys; those that changed since the revision */
    struct store_item **items;
    size_t n, cap, n_left;
    struct arena *arena;
};

static enum err_code check_revision(const struct store *s, uint64_t revision, const char *what, struct err *e)
{
    if (revision < s->compacted)
        return err_set(e, ERR_EXPIRED, "%s at revision %llu: changes up to %llu are no longer known", what,
                       (unsigned long long)revision, (unsigned long long)s->compacted);
    if (revision > s->unknown_from && revision <= s->unknown_to)
        return err_set(e, ERR_EXPIRED, "%s at revision %llu: what it was is not known since the store was not closed", what,
                       (unsigned long long)revision);
    return ERR_OK;
}

static int compare_was(const void *a, const void *b)
{
    return str_cmp(((const struct was *)a)->key, ((const struct was *)b)->key);
}

static void find_changed(struct lister *l)
{
    const struct history *h = &l->s->history;
    struct map_str seen;
    map_str_init(&seen);
    for (uint64_t seq = history_after(h, l->r->revision); seq < h->end; seq++) {
        const struct history_event *event = history_at(h, seq);
        struct str key = store_item_key(event->item);
        bool is_new;
        if (!str_starts(key, l->r->prefix) || str_cmp(key, l->from) < 0)
            continue;
        map_str_put(&seen, key, &is_new);
        if (is_new)
            vec_push(&l->was, (struct was){ key, event->prev });
    }
    map_str_fini(&seen);
    sort_stable(l->arena, l->was.at, l->was.n, sizeof(*l->was.at), compare_was);
}

static void list_item(struct lister *l, struct store_item *item)
{
    if (!item)
        return;
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct store_item **items = arena_alloc(l->arena, mem_product(cap, sizeof(*items)));
        if (l->n)
            memcpy(items, l->items, l->n * sizeof(*items));
        l->items = items;
        l->cap = cap;
    }
    l->items[l->n++] = item;
}

/* The first key behind all that begin with the prefix. */
static struct index_place end_of_prefix(const struct lister *l)
{
    const struct index *x = &l->s->index;
    size_t n = l->r->prefix.n;
    while (n && (uint8_t)l->r->prefix.p[n - 1] == UINT8_MAX)
        n--;
    if (n == 0)
        return (struct index_place){ x->blocks.n, 0 };
    char *end = arena_alloc(l->arena, n);
    memcpy(end, l->r->prefix.p, n);
    end[n - 1] = (char)(end[n - 1] + 1);
    return index_seek(x, (struct str){ end, n });
}

/* From a place in the index, and from the w-th of those that were. */
static size_t count_left(const struct lister *l, struct index_place p, size_t w)
{
    size_t n = index_distance(&l->s->index, p, end_of_prefix(l));
    for (; w < l->was.n; w++) {
        n += l->was.at[w].item != NULL;
        n -= index_find(&l->s->index, l->was.at[w].key) != NULL;
    }
    return n;
}

/* Both in order; what was goes before what is. Up to the limit. */
static void merge(struct lister *l)
{
    const struct index *x = &l->s->index;
    struct index_place p = index_seek(x, l->from);
    size_t w = 0;
    while (!l->r->limit || l->n < l->r->limit) {
        const struct index_entry *entry = index_at(x, p);
        bool has_now = entry && str_starts(index_key(entry), l->r->prefix);
        int order = w == l->was.n ? 1 : !has_now ? -1 : str_cmp(l->was.at[w].key, index_key(entry));
        if (order > 0 && !has_now)
            return;
        list_item(l, order > 0 ? entry->item : l->was.at[w].item);
        if (order >= 0)
            index_step(x, &p);
        if (order <= 0)
            w++;
    }
    l->n_left = count_left(l, p, w);
}

enum err_code store_list(const struct store *s, const struct store_range *r, struct arena *a, struct store_list *ret_list,
                         struct err *e)
{
    struct lister l = { .s = s, .r = r, .arena = a };
    l.from = str_cmp(r->from, r->prefix) > 0 ? r->from : r->prefix;
    if (r->revision > s->revision)
        return err_set(e, ERR_TIMEOUT, "Too large resource version: %llu, current: %llu", (unsigned long long)r->revision,
                       (unsigned long long)s->revision);
    if (r->revision && check_revision(s, r->revision, "a list", e))
        return e->code;
    if (r->revision && r->revision < s->revision)
        find_changed(&l);
    merge(&l);
    vec_fini(&l.was);
    *ret_list = (struct store_list){ l.items, l.n, l.n_left, r->revision ? r->revision : s->revision };
    return ERR_OK;
}

/* ---- Watches ---- */

enum err_code store_watch_init(const struct store *s, struct store_watch *w, struct str prefix, uint64_t after_revision,
                               struct err *e)
{
    if (check_revision(s, after_revision, "a watch", e))
        return e->code;
    *w = (struct store_watch){ prefix, history_after(&s->history, after_revision), after_revision };
    return ERR_OK;
}

enum err_code store_watch_next(const struct store *s, struct store_watch *w, struct store_event *ret_event)
{
    const struct history *h = &s->history;
    if (w->seq < h->first)
        return ERR_EXPIRED;
    while (w->seq < h->end) {
        const struct history_event *event = history_at(h, w->seq++);
        if (event->item->mod_revision <= w->after || !str_starts(store_item_key(event->item), w->prefix))
            continue;
        *ret_event = (struct store_event){
            .revision = event->item->mod_revision,
            .item = event->item->deleted ? NULL : event->item,
            .prev = event->prev,
        };
        return ERR_OK;
    }
    return ERR_NOT_FOUND;
}

void store_watch_keep(struct store *s, const struct store_watch *w)
{
    vec_push(&s->kept, w);
}

uint64_t store_watch_progress(const struct store *s, const struct store_watch *w)
{
    return w->seq == s->history.end && s->revision >= w->after ? s->revision : 0;
}
