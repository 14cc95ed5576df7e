/* store/settle.c - see store.h: commits that are over become what can be read, and the log is kept within its bounds.
 *
 * 1. Commits become readable in order of revision, each as a whole.
 * 2. An entry's `newest` is always of a commit that cannot be read yet.
 * 3. An event leaves the log only when the engine has kept its state: what was before it is then deleted from disk; and
 *    when all watches for which the log is kept have seen it. */
#include <stdlib.h>

#include "store/store_priv.h"

enum { OLD_TOLD_MIN = 1024 }; /* fewer wait for the next tick */

/* ---- What can be read ---- */

static void set_expiry(struct store *s, struct index_entry *entry, int64_t deadline_ms)
{
    if (heap_has(&entry->expiry))
        heap_remove(&s->expiring, &entry->expiry);
    entry->deadline_ms = deadline_ms;
    if (deadline_ms)
        heap_push(&s->expiring, &entry->expiry);
}

void store_show(struct store *s, struct index_entry *entry, struct store_item *item, int64_t deadline_ms)
{
    if (!entry) /* only while loading */
        entry = index_add(&s->index, store_item_ref(item));
    struct store_item *prev = entry->item;
    history_push(&s->history, (struct history_event){ store_item_ref(item), prev ? store_item_ref(prev) : NULL });
    set_expiry(s, entry, deadline_ms);
    bool last = !entry->newest || entry->newest == item;
    if (item->deleted && last) {
        index_remove(&s->index, store_item_key(item));
        return;
    }
    entry->item = item->deleted ? NULL : store_item_ref(item);
    store_item_unref(prev);
    if (entry->newest == item) {
        store_item_unref(entry->newest);
        entry->newest = NULL;
    }
}

/* The engine has given the commit another revision. */
static void renumber(struct store_item *item, uint64_t revision)
{
    item->mod_revision = revision;
    if (item->version == 1)
        item->create_revision = revision;
}

static void show_commit(struct store *s, struct open_commit *o)
{
    int64_t now_ms = clock_mono_ms(s->o.clock);
    for (uint32_t i = 0; i < o->commit.n_items; i++) {
        struct store_item *item = o->items[i];
        struct index_entry *entry = index_find(&s->index, store_item_key(item));
        assert(entry);
        if (item->mod_revision != o->commit.revision)
            renumber(item, o->commit.revision);
        store_show(s, entry, item, item->ttl_ms ? now_ms + item->ttl_ms : 0);
    }
    s->revision = o->commit.revision;
    if (s->next_revision <= s->revision)
        s->next_revision = s->revision + 1;
    o->shown = true;
}

/* ---- Answers ---- */

static void answer(const struct store *s, struct open_commit *o, enum err_code code, const char *problem)
{
    struct store_answer a = {
        .code = code,
        .revision = s->revision,
        .n_writes = o->commit.n_items,
        .items = code ? NULL : o->items,
        .refused = o->refused,
        .problem = problem,
    };
    o->done(o->context, &a);
}

static const char *refusal_text(enum err_code code)
{
    return code == ERR_ALREADY_EXISTS ? "the key exists already"
           : code == ERR_NOT_FOUND    ? "there is no such key"
                                      : "the key has been changed";
}

static bool is_settled(const struct store *s, const struct open_commit *o)
{
    return o->refused_code || !s->engine || o->durable
           || (o->relaxed && !o->failed && o->commit.revision <= s->engine->ops->ceiling(s->engine));
}

static void settle(struct store *s, struct open_commit *o)
{
    list_remove(&o->line);
    if (o->refused_code) {
        answer(s, o, o->refused_code, refusal_text(o->refused_code));
    } else {
        show_commit(s, o);
        answer(s, o, ERR_OK, NULL);
    }
    if (!o->in_engine)
        store_open_free(s, o);
}

/* Not those that answers bring: they wait for the next poll. */
static void settle_all(struct store *s)
{
    struct list_node *n, *last = list_is_empty(&s->unanswered) ? NULL : s->unanswered.end.prev;
    bool more = last != NULL;
    while (more && (n = list_first(&s->unanswered)) && is_settled(s, LIST_ITEM(n, struct open_commit, line))) {
        more = n != last;
        settle(s, LIST_ITEM(n, struct open_commit, line));
    }
}

/* ---- Failures ---- */

static void forget_newest(struct store *s, const struct open_commit *o)
{
    for (uint32_t i = 0; i < o->commit.n_items; i++) {
        struct str key = store_item_key(o->items[i]);
        struct index_entry *entry = index_find(&s->index, key);
        if (!entry || !entry->newest)
            continue; /* by an earlier one of the same key */
        if (!entry->item) {
            index_remove(&s->index, key);
            continue;
        }
        store_item_unref(entry->newest);
        entry->newest = NULL;
    }
}

/* All that cannot be read yet was decided on what the failed commit would have left. */
static void fail_all(struct store *s, const struct open_commit *failed)
{
    char problem[sizeof(failed->commit.problem)];
    enum err_code code = failed->commit.code;
    memcpy(problem, failed->commit.problem, sizeof(problem));
    s->epoch++;
    for (struct list_node *n = list_first(&s->unanswered); n; n = list_next(&s->unanswered, n))
        forget_newest(s, LIST_ITEM(n, struct open_commit, line));
    struct list_node *n, *last = list_is_empty(&s->unanswered) ? NULL : s->unanswered.end.prev;
    for (bool more = last != NULL; more && (n = list_first(&s->unanswered));) {
        struct open_commit *o = LIST_ITEM(n, struct open_commit, line);
        more = n != last;
        list_remove(n);
        answer(s, o, code, problem);
        if (!o->in_engine && o != failed)
            store_open_free(s, o);
    }
}

/* Deletions tell nothing about room for others. */
static void learn_of_room(struct store *s, const struct open_commit *o)
{
    if (!o->commit.code && !o->commit.frees)
        s->full = s->refuses = false;
    else if (o->commit.code && o->commit.no_space && !o->asks_for_room)
        s->full = s->refuses = true;
}

static void take_one(struct store *s, struct open_commit *o)
{
    o->in_engine = false;
    bool is_news = !o->commit.code || o->commit.epoch == s->epoch || o->commit.epoch == ENGINE_ALONE;
    if (is_news)
        learn_of_room(s, o);
    if (o->asks_for_room) {
        s->asks_for_room = false;
        store_open_free(s, o);
        return;
    }
    if (!o->commit.code) {
        o->durable = true;
        if (o->shown)
            store_open_free(s, o);
        return;
    }
    o->failed = true;
    if (o->commit.epoch == s->epoch) {
        settle_all(s); /* those before it */
        fail_all(s, o);
    }
    if (o->shown)
        list_push(&s->lost, &o->line);
    else
        store_open_free(s, o);
}

bool store_poll(struct store *s)
{
    uint64_t before = s->revision;
    struct mail *mail = s->engine ? s->engine->ops->take(s->engine) : NULL;
    while (mail) {
        struct open_commit *o = LIST_ITEM(MAIL_ITEM(mail, struct engine_commit, mail), struct open_commit, commit);
        mail = mail->next;
        take_one(s, o);
    }
    settle_all(s);
    store_trim(s);
    if (s->o.wake && !list_is_empty(&s->unanswered)
        && is_settled(s, LIST_ITEM(list_first(&s->unanswered), struct open_commit, line)))
        s->o.wake(s->o.context);
    return s->revision != before;
}

/* ---- The log's bounds ---- */

static void add_old(struct store *s, const struct store_item *item)
{
    if (s->engine)
        vec_push(&s->old, (struct engine_old){ item->mod_revision, item->part });
}

void store_drop_oldest(struct store *s)
{
    struct history_event event = history_pop(&s->history);
    if (event.item->mod_revision > s->compacted)
        s->compacted = event.item->mod_revision;
    if (event.prev)
        add_old(s, event.prev);
    if (event.item->deleted)
        add_old(s, event.item);
    store_item_unref(event.item);
    store_item_unref(event.prev);
}

/* Changes from this revision on must stay: the engine has not kept them, or a watch has to see them. */
static uint64_t needed_from(const struct store *s)
{
    uint64_t from = UINT64_MAX;
    for (size_t i = 0; i < s->kept.n; i++) {
        uint64_t seq = s->kept.at[i]->seq;
        if (seq < s->history.end && history_at(&s->history, seq)->item->mod_revision < from)
            from = history_at(&s->history, seq)->item->mod_revision;
    }
    for (struct list_node *n = list_first(&s->all); n; n = list_next(&s->all, n)) {
        const struct open_commit *o = LIST_ITEM(n, struct open_commit, all);
        if (s->engine && o->shown && !o->durable)
            return o->commit.revision < from ? o->commit.revision : from;
    }
    return from;
}

static uint64_t oldest_revision(const struct store *s)
{
    const struct history *h = &s->history;
    return h->first < h->end ? history_at(h, h->first)->item->mod_revision : UINT64_MAX;
}

static bool is_too_large(const struct store *s)
{
    return s->history.end - s->history.first > s->o.log_events_max || s->history.n_bytes > s->o.log_bytes_max;
}

/* A commit leaves as a whole. */
static void drop_revision(struct store *s)
{
    for (uint64_t revision = oldest_revision(s); oldest_revision(s) == revision;)
        store_drop_oldest(s);
}

void store_trim(struct store *s)
{
    if (!is_too_large(s))
        return;
    uint64_t needed = needed_from(s);
    while (is_too_large(s) && oldest_revision(s) < needed)
        drop_revision(s);
    if (s->old.n >= OLD_TOLD_MIN)
        store_tell_old(s);
}

void store_tell_old(struct store *s)
{
    if (!s->old.n)
        return;
    s->engine->ops->compact(s->engine, s->old.at, s->old.n, s->compacted);
    vec_reset(&s->old);
}

void store_compact(struct store *s, uint64_t revision)
{
    uint64_t needed = needed_from(s);
    while (oldest_revision(s) <= revision && oldest_revision(s) < needed)
        drop_revision(s);
    uint64_t reached = revision < s->revision ? revision : s->revision;
    if (reached >= needed)
        reached = needed - 1;
    if (reached > s->compacted)
        s->compacted = reached;
    store_tell_old(s);
}
