/* store/store.c - see store.h: making a store from what an engine has kept, taking in writes, and what time brings. */
#include "store/store.h"

#include <stdlib.h>

#include "store/store_priv.h"

enum { EXPIRE_AGAIN_MS = 1000 }; /* when a deletion of an expired key did not work */

/* ---- Making and freeing ---- */

static bool expires_before(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    const struct index_entry *x = HEAP_ITEM(a, struct index_entry, expiry), *y = HEAP_ITEM(b, struct index_entry, expiry);
    return x->deadline_ms < y->deadline_ms;
}

/* By the monotonic clock. A wall clock that was set back does not keep a key longer than it was to live. */
static int64_t deadline_of_loaded(const struct store *s, const struct store_item *item)
{
    int64_t left_ms = item->expires_wall_ms - clock_wall_ns(s->o.clock) / CLOCK_NS_PER_MS;
    if (left_ms < 0)
        left_ms = 0;
    return clock_mono_ms(s->o.clock) + (left_ms < item->ttl_ms ? left_ms : item->ttl_ms);
}

/* What is older than the log is shown as well, and forgotten at once: so what nobody needs is found again. */
static void load_item(void *context, const struct engine_state *state, struct store_item *own_item)
{
    struct store *s = context;
    struct index_entry *entry = index_find(&s->index, store_item_key(own_item));
    store_show(s, entry, own_item, own_item->ttl_ms ? deadline_of_loaded(s, own_item) : 0);
    if (own_item->mod_revision <= state->compacted)
        store_drop_oldest(s);
    store_item_unref(own_item);
}

static enum err_code load(struct store *s, struct err *e)
{
    struct engine_state state;
    const struct engine_ops *ops = s->engine->ops;
    if (ops->load(s->engine, load_item, s, &state, e))
        return e->code;
    if (state.revision > s->revision)
        s->revision = state.revision;
    if (state.compacted > s->compacted)
        s->compacted = state.compacted;
    if (state.ceiling > s->revision) {
        s->unknown_from = s->revision;
        s->unknown_to = state.ceiling;
        s->revision = state.ceiling + 1;
    }
    s->next_revision = s->revision + 1;
    if (ops->start(s->engine, s->o.wake, s->o.context, s->revision, e))
        return e->code;
    store_trim(s);
    store_tell_old(s);
    return ERR_OK;
}

enum err_code store_new(const struct store_options *o, struct store **ret_store, struct err *e)
{
    struct store *s = mem_zalloc(sizeof(*s));
    s->o = *o;
    s->engine = o->own_engine;
    if (!s->o.clock)
        s->o.clock = &clock_real;
    if (!s->o.log_events_max)
        s->o.log_events_max = STORE_LOG_EVENTS_MAX;
    if (!s->o.log_bytes_max)
        s->o.log_bytes_max = STORE_LOG_BYTES_MAX;
    index_init(&s->index);
    history_init(&s->history);
    heap_init(&s->expiring, expires_before, NULL);
    list_init(&s->all);
    list_init(&s->unanswered);
    list_init(&s->lost);
    s->revision = 1;
    s->next_revision = 2;
    s->epoch = ENGINE_ALONE + 1;
    if (s->engine && load(s, e)) {
        store_free(s);
        return e->code;
    }
    *ret_store = s;
    return ERR_OK;
}

void store_open_free(struct store *s, struct open_commit *own_commit)
{
    s->n_open--;
    s->open_bytes -= own_commit->n_bytes;
    list_remove(&own_commit->all);
    if (list_has(&own_commit->line))
        list_remove(&own_commit->line);
    for (uint32_t i = 0; i < own_commit->commit.n_items; i++)
        store_item_unref(own_commit->items[i]);
    free(own_commit);
}

void store_free(struct store *s)
{
    if (s->engine) {
        store_tell_old(s);
        s->engine->ops->close(s->engine, s->revision);
    }
    for (struct list_node *n; (n = list_first(&s->all));)
        store_open_free(s, LIST_ITEM(n, struct open_commit, all));
    heap_fini(&s->expiring);
    history_fini(&s->history);
    index_fini(&s->index);
    vec_fini(&s->old);
    vec_fini(&s->kept);
    free(s);
}

/* ---- Writes ---- */

/* ERR_OK: the write may be done. */
static enum err_code check_write(const struct store_write *w, const struct store_item *now)
{
    if (!now && (w->deletes || w->must == STORE_AT_VERSION))
        return ERR_NOT_FOUND;
    if (w->must == STORE_NOT_EXIST)
        return now ? ERR_ALREADY_EXISTS : ERR_OK;
    return w->must == STORE_AT_VERSION && now->mod_revision != w->revision ? ERR_CONFLICT : ERR_OK;
}

static bool is_key_twice(const struct store_commit *c)
{
    for (uint32_t i = 1; i < c->n_writes; i++)
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(c->writes[i].key, c->writes[j].key))
                return true;
    return false;
}

static bool only_deletes(const struct store_commit *c)
{
    for (uint32_t i = 0; i < c->n_writes; i++)
        if (!c->writes[i].deletes)
            return false;
    return true;
}

static enum err_code check_sizes(const struct store_commit *c, size_t *ret_bytes, struct err *e)
{
    size_t n_bytes = sizeof(struct open_commit);
    if (c->n_writes == 0 || c->n_writes > STORE_COMMIT_WRITES_MAX)
        return err_set(e, ERR_INVALID, "a commit of %u keys, 1 to %d are possible", c->n_writes, STORE_COMMIT_WRITES_MAX);
    for (uint32_t i = 0; i < c->n_writes; i++) {
        const struct store_write *w = &c->writes[i];
        if (w->key.n == 0 || w->key.n > STORE_KEY_BYTES_MAX)
            return err_set(e, ERR_INVALID, "a key of %zu bytes, 1 to %d are possible", w->key.n, STORE_KEY_BYTES_MAX);
        if (w->value.n > STORE_VALUE_BYTES_MAX)
            return err_set(e, ERR_TOO_LARGE, "a value of %zu bytes, at most %d are possible", w->value.n,
                           STORE_VALUE_BYTES_MAX);
        n_bytes += sizeof(struct store_item) + w->key.n + w->value.n;
    }
    if (is_key_twice(c))
        return err_set(e, ERR_INVALID, "a commit has a key twice");
    *ret_bytes = n_bytes;
    return ERR_OK;
}

static enum err_code check_commit(const struct store *s, const struct store_commit *c, size_t *ret_bytes, struct err *e)
{
    if (check_sizes(c, ret_bytes, e))
        return e->code;
    if (s->refuses && !c->frees && !only_deletes(c))
        return err_set(e, ERR_UNAVAILABLE, "the disk of the store is full: nothing can be written, only deleted");
    if (s->n_open == STORE_OPEN_COMMITS_MAX || s->open_bytes + *ret_bytes > STORE_OPEN_BYTES_MAX)
        return err_set(e, ERR_TOO_MANY_REQUESTS, "too many writes are waiting for the disk");
    return ERR_OK;
}

/* Index of the first write whose precondition does not hold, or n_writes. */
static uint32_t find_refused(const struct store *s, const struct store_commit *c, enum err_code *ret_code)
{
    for (uint32_t i = 0; i < c->n_writes; i++) {
        const struct index_entry *entry = index_find(&s->index, c->writes[i].key);
        *ret_code = check_write(&c->writes[i], entry ? store_newest(entry) : NULL);
        if (*ret_code)
            return i;
    }
    return c->n_writes;
}

static struct store_item *make_item(const struct store *s, const struct store_write *w, const struct store_item *before,
                                    uint64_t revision, uint32_t part)
{
    struct store_item *item = store_item_new(w->key, w->deletes ? STR("") : w->value, w->deletes);
    item->mod_revision = revision;
    item->create_revision = before ? before->create_revision : revision;
    item->version = before ? before->version + 1 : 1;
    item->part = part;
    if (w->ttl_ms > 0 && !w->deletes) {
        item->ttl_ms = w->ttl_ms;
        item->expires_wall_ms = clock_wall_ns(s->o.clock) / CLOCK_NS_PER_MS + w->ttl_ms;
    }
    return item;
}

/* The key's newest state, for the commits that come. */
static void set_newest(struct store *s, const struct store_write *w, struct open_commit *o, uint32_t part)
{
    struct index_entry *entry = index_find(&s->index, w->key);
    struct store_item *item = make_item(s, w, entry ? store_newest(entry) : NULL, o->commit.revision, part);
    o->items[part] = item;
    store_item_ref(item);
    if (!entry) {
        index_add(&s->index, item);
        return;
    }
    store_item_unref(entry->newest);
    entry->newest = item;
}

void store_hand_over(struct store *s, struct open_commit *o, uint32_t epoch)
{
    o->commit.epoch = epoch;
    o->commit.code = ERR_OK;
    o->in_engine = true;
    o->failed = false;
    s->engine->ops->commit(s->engine, &o->commit);
}

static void begin_commit(struct store *s, const struct store_commit *c, struct open_commit *o)
{
    o->commit.revision = s->next_revision++;
    o->commit.n_items = c->n_writes;
    o->commit.items = o->items;
    o->commit.frees = c->frees || only_deletes(c);
    for (uint32_t i = 0; i < c->n_writes; i++)
        set_newest(s, &c->writes[i], o, i);
    if (s->engine)
        store_hand_over(s, o, s->epoch);
}

enum err_code store_commit(struct store *s, const struct store_commit *c, store_done done, void *context, struct err *e)
{
    size_t n_bytes = 0;
    if (check_commit(s, c, &n_bytes, e))
        return e->code;
    struct open_commit *o = mem_zalloc(sizeof(*o) + c->n_writes * sizeof(o->items[0]));
    o->done = done;
    o->context = context;
    o->n_bytes = n_bytes;
    o->relaxed = c->relaxed;
    s->n_open++;
    s->open_bytes += n_bytes;
    list_push(&s->all, &o->all);
    list_push(&s->unanswered, &o->line);
    o->refused = find_refused(s, c, &o->refused_code);
    if (o->refused == c->n_writes)
        begin_commit(s, c, o);
    if (s->o.wake && (!s->engine || o->refused_code || o->relaxed))
        s->o.wake(s->o.context);
    return ERR_OK;
}

uint64_t store_next_revision(const struct store *s)
{
    return s->next_revision;
}

/* ---- Time ---- */

static void on_expired(void *context, const struct store_answer *answer)
{
    (void)context;
    (void)answer; /* what is still there is tried again */
}

static void expire(struct store *s, struct index_entry *entry, struct arena *a)
{
    struct err e;
    struct store_write write = {
        .key = index_key(entry),
        .deletes = true,
        .must = STORE_AT_VERSION,
        .revision = entry->item->mod_revision,
    };
    struct store_commit c = { .writes = &write, .n_writes = 1, .relaxed = true };
    err_init(&e, a);
    if (!entry->newest && store_commit(s, &c, on_expired, NULL, &e))
        return; /* too many writes wait: again later */
}

/* Nobody may want to write as long as a server is not ready: the end of it must be seen without. */
static void ask_for_room(struct store *s)
{
    if (s->asks_for_room)
        return;
    struct open_commit *o = mem_zalloc(sizeof(*o));
    o->asks_for_room = s->asks_for_room = true;
    s->n_open++;
    list_push(&s->all, &o->all);
    store_hand_over(s, o, ENGINE_ALONE);
}

void store_tick(struct store *s)
{
    struct arena a;
    struct heap_node *top;
    int64_t now_ms = clock_mono_ms(s->o.clock);
    if (s->full) {
        store_compact(s, s->revision);
        ask_for_room(s);
    }
    s->refuses = false;
    for (struct list_node *n; (n = list_first(&s->lost));) {
        struct open_commit *o = LIST_ITEM(n, struct open_commit, line);
        list_remove(n);
        store_hand_over(s, o, ENGINE_ALONE);
    }
    arena_init(&a);
    for (int i = 0; i < STORE_EXPIRE_MAX && (top = heap_top(&s->expiring)); i++) {
        struct index_entry *entry = HEAP_ITEM(top, struct index_entry, expiry);
        if (entry->deadline_ms > now_ms)
            break;
        entry->deadline_ms = now_ms + EXPIRE_AGAIN_MS;
        heap_update(&s->expiring, top);
        expire(s, entry, &a);
    }
    arena_fini(&a);
    store_trim(s);
    store_tell_old(s);
}

struct store_facts store_facts(const struct store *s)
{
    return (struct store_facts){
        .n_keys = s->index.n,
        .n_events = s->history.end - s->history.first,
        .log_bytes = s->history.n_bytes,
        .n_open = s->n_open,
        .open_bytes = s->open_bytes,
        .n_expiring = s->expiring.n,
        .full = s->full,
    };
}
