/* daemon/local_feed.c - see local_feed.h. */
#include "daemon/local_feed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/inflow.h"

#define REGISTRY "/registry/"

/* One resource, and what is still to be told of its list. */
struct row {
    const struct resource *resource;
    struct str prefix; /* of its keys */
    struct store_item **items;
    size_t n, at;
    bool begun;
};

struct local_feed {
    struct local_feed_options o;
    struct arena arena;
    struct row rows[N_WATCHED];
    struct inflow *inflow;
    struct store_watch place;
    int listing; /* the row whose list is being told; N_WATCHED: none */
    bool started, stopped, waits;
    uint64_t n_lists;
};

/* ---- Rows ---- */

/* "/apis/apps/v1/replicasets": group and plural. */
static const struct resource *resource_of(struct arena *a, const char *path)
{
    struct str p = str_of(path), group = STR("");
    if (str_starts(p, STR("/apis/"))) {
        group = str_from(p, 6);
        group = str_first(group, str_index(group, '/'));
    }
    const struct resource *r = stored_resource(strrchr(path, '/') + 1, arena_cstr(a, group));
    assert(stored_row(r) == r); /* what is stored is what typed forms are made of */
    return r;
}

static int row_of_key(const struct local_feed *f, struct str key)
{
    for (int r = 0; r < N_WATCHED; r++)
        if (str_starts(key, f->rows[r].prefix))
            return r;
    return N_WATCHED;
}

/* ---- What of it is wanted ---- */

/* A text with quotes around it cannot stand within another in JSON: where neither is found, the pod is not over. Where one is,
 * it may be a label, so the pod is looked at. */
static bool may_be_over(struct str json)
{
    static const char succeeded[] = "\"phase\":\"Succeeded\"", failed[] = "\"phase\":\"Failed\"";
    return memmem(json.p, json.n, succeeded, sizeof(succeeded) - 1) || memmem(json.p, json.n, failed, sizeof(failed) - 1);
}

static bool is_wanted(const struct local_feed *f, int row, struct store_item *item)
{
    if (row != WATCHED_PODS || !may_be_over(store_item_value(item)))
        return true;
    const struct selectable *s = stored_selectable(f->o.objects, f->rows[row].resource, item);
    const struct str *phase = labels_find(s->fields, STR("status.phase"));
    return !phase || (!str_is(*phase, "Succeeded") && !str_is(*phase, "Failed"));
}

static void add(struct local_feed *f, enum reflected what, int row, const struct store_item *item)
{
    struct watch_object object = { .format = TYPED_JSON };
    if (item)
        object.bytes = store_item_value(item);
    f->waits = !inflow_add(f->inflow, what, (enum watched)row, item ? &object : NULL);
}

/* ---- Lists ---- */

static void drop_list(struct row *r)
{
    for (; r->at < r->n; r->at++)
        store_item_unref(r->items[r->at]);
    free(r->items);
    r->items = NULL;
    r->n = r->at = 0;
    r->begun = false;
}

static void take_list(struct local_feed *f, struct row *r, struct arena *a, struct err *e)
{
    struct store_list list;
    enum err_code rc = store_list(stored_store(f->o.objects), &(struct store_range){ .prefix = r->prefix }, a, &list, e);
    assert(rc == ERR_OK); /* the newest state is always there */
    r->items = mem_alloc(mem_product(list.n ? list.n : 1, sizeof(*r->items)));
    r->n = list.n;
    r->at = 0;
    for (size_t i = 0; i < list.n; i++)
        r->items[i] = store_item_ref(list.items[i]);
}

/* All lists at the same revision, and the place behind it. */
static void list_all(struct local_feed *f)
{
    struct store *s = stored_store(f->o.objects);
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    for (int r = 0; r < N_WATCHED; r++) {
        drop_list(&f->rows[r]);
        take_list(f, &f->rows[r], &a, &e);
        arena_reset(&a);
    }
    enum err_code rc = store_watch_init(s, &f->place, STR(REGISTRY), store_revision(s), &e);
    assert(rc == ERR_OK); /* what is still to come is always known */
    arena_fini(&a);
    f->listing = 0;
    f->n_lists++;
}

/* Tells one row; false: there is no room for all of it. */
static bool tell_list(struct local_feed *f, int row)
{
    struct row *r = &f->rows[row];
    if (!r->begun)
        add(f, REFLECTED_LIST, row, NULL);
    r->begun = true;
    while (r->at < r->n && !f->waits) {
        struct store_item *item = r->items[r->at++];
        if (is_wanted(f, row, item))
            add(f, REFLECTED_LISTED, row, item);
        store_item_unref(item);
    }
    if (r->at < r->n)
        return false;
    drop_list(r);
    add(f, REFLECTED_SYNCED, row, NULL);
    return true;
}

/* ---- Changes ---- */

static void tell_change(struct local_feed *f, const struct store_event *ev)
{
    int row = row_of_key(f, store_item_key(ev->item ? ev->item : ev->prev));
    if (row == N_WATCHED)
        return;
    bool is = ev->item && is_wanted(f, row, ev->item), was = ev->prev && is_wanted(f, row, ev->prev);
    if (is)
        add(f, REFLECTED_SET, row, ev->item);
    else if (was)
        add(f, REFLECTED_REMOVED, row, ev->prev);
}

/* True: the log no longer has what comes next, so that all is listed again. */
static bool tell_changes(struct local_feed *f)
{
    struct store_event ev;
    enum err_code rc = ERR_OK;
    while (!f->waits && !(rc = store_watch_next(stored_store(f->o.objects), &f->place, &ev)))
        tell_change(f, &ev);
    if (rc != ERR_EXPIRED)
        return false;
    LOG(2, "The scheduler was overtaken by the store, and lists everything again");
    list_all(f);
    return true;
}

void local_feed_poll(struct local_feed *f)
{
    if (!f->started || f->stopped)
        return;
    while (!f->waits) {
        if (f->listing < N_WATCHED)
            f->listing += tell_list(f, f->listing);
        else if (!tell_changes(f))
            return;
    }
}

static void there_is_room(void *context)
{
    struct local_feed *f = context;
    f->waits = false;
    local_feed_poll(f);
}

/* ---- The whole ---- */

struct local_feed *local_feed_new(const struct local_feed_options *o)
{
    struct local_feed *f = mem_zalloc(sizeof(*f));
    f->o = *o;
    arena_init(&f->arena);
    f->inflow = inflow_new(
        &(struct inflow_options){ .loop = o->loop, .engine = o->engine, .room = there_is_room, .context = f });
    for (int r = 0; r < N_WATCHED; r++) {
        f->rows[r].resource = resource_of(&f->arena, watched_rows[r].path);
        f->rows[r].prefix = stored_prefix(&f->arena, f->rows[r].resource, STR(""));
    }
    f->listing = N_WATCHED;
    return f;
}

void local_feed_start(struct local_feed *f)
{
    f->started = true;
    list_all(f);
    local_feed_poll(f);
}

void local_feed_stop(struct local_feed *f)
{
    f->stopped = true;
    inflow_stop(f->inflow);
    for (int r = 0; r < N_WATCHED; r++)
        drop_list(&f->rows[r]);
}

void local_feed_free(struct local_feed *f)
{
    if (!f)
        return;
    local_feed_stop(f);
    inflow_free(f->inflow);
    arena_fini(&f->arena);
    free(f);
}

uint64_t local_feed_n_lists(const struct local_feed *f)
{
    return f->n_lists;
}
