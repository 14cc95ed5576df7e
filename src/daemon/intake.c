/* daemon/intake.c - see intake.h. */
#include "daemon/intake.h"

#include <stdlib.h>

#include "base/log.h"
#include "daemon/berth_metrics.h"
#include "daemon/raw_objects.h"
#include "insight/record_segments.h"
#include "insight/shadow.h"

/* A list under way. */
struct listing {
    bool on;
    bool again; /* something may be known that is not in it */
    bool whole; /* has been received at least once */
    bool unsure; /* an object of it could not be read, so that what is missing may be that one */
    struct arena arena;
    struct map_str keys; /* of its objects; only when again */
};

struct intake {
    struct intake_options o;
    struct listing listings[N_WATCHED];
    struct arena scratch;
    struct intake_counts counts;
    uint32_t n_whole;
};

/* ---- Batches: the loop's side ---- */

static void run_batch(struct engine_mail *own_mail, struct engine *e);

struct intake_batch *intake_batch_new(void (*done)(struct intake_batch *own_batch), void *context)
{
    struct intake_batch *b = mem_zalloc(sizeof(*b));
    b->mail.run = run_batch;
    arena_init(&b->arena);
    b->done = done;
    b->context = context;
    return b;
}

void intake_batch_add(struct intake_batch *b, enum reflected what, enum watched resource,
                      const struct watch_object *object)
{
    struct intake_item item = { .what = (uint8_t)what, .resource = (uint8_t)resource };
    if (object) {
        item.format = (uint8_t)object->format;
        item.bytes = arena_str(&b->arena, object->bytes);
        b->n_bytes += object->bytes.n;
    }
    b->n_bytes += sizeof(item);
    vec_push(&b->items, item);
}

void intake_batch_free(struct intake_batch *b)
{
    arena_fini(&b->arena);
    vec_fini(&b->items);
    free(b);
}

/* ---- Kinds: pods, nodes, everything else ---- */

/* All forms begin alike. */
struct any_form {
    struct typed typed;
    struct typed_meta meta;
};

static enum err_code decode(struct engine *e, const struct intake_item *item, const struct any_form **ret_form,
                            struct err *error)
{
    const void *form = NULL;
    enum err_code rc;
    if (item->resource == WATCHED_PODS)
        rc = pod_decode(engine_syms(e), item->format, item->bytes, (const struct pod **)&form, error);
    else if (item->resource == WATCHED_NODES)
        rc = node_decode(engine_syms(e), item->format, item->bytes, (const struct node **)&form, error);
    else
        rc = object_form_decode(watched_rows[item->resource].kind, engine_syms(e), item->format, item->bytes, &form,
                                error);
    *ret_form = form;
    return rc;
}

static void unref(struct engine *e, enum watched resource, const struct any_form *form)
{
    if (resource == WATCHED_PODS)
        pod_unref(engine_syms(e), (const struct pod *)form);
    else if (resource == WATCHED_NODES)
        node_unref(engine_syms(e), (const struct node *)form);
    else
        object_unref(engine_syms(e), watched_rows[resource].kind, form);
}

/* The form that the scheduler has of it; NULL: none. */
static const struct any_form *known(struct engine *e, enum watched resource, const struct any_form *form)
{
    struct sched *s = engine_sched(e);
    if (resource == WATCHED_PODS)
        return (const struct any_form *)sched_pod(s, form->meta.uid);
    if (resource == WATCHED_NODES)
        return (const struct any_form *)sched_node(s, ((const struct node *)form)->name);
    return objects_get(sched_objects(s), watched_rows[resource].kind, form->meta.ns, str_of(form->meta.name));
}

static bool is_unchanged(struct engine *e, enum watched resource, const struct any_form *form)
{
    const struct any_form *old = known(e, resource, form);
    return old && strcmp(old->meta.uid, form->meta.uid) == 0 && form->meta.resource_version[0] &&
           strcmp(old->meta.resource_version, form->meta.resource_version) == 0;
}

static void set(struct engine *e, const struct intake_item *item, const struct any_form *form)
{
    struct sched *s = engine_sched(e);
    struct record_segments *r = engine_recording(e);
    if (item->resource == WATCHED_PODS) {
        const struct pod *pod = (const struct pod *)form;
        if (engine_shadow(e) && pod->node_name != SYM_EMPTY)
            shadow_pod_bound(engine_shadow(e), sched_pod(s, pod->meta.uid), pod);
        raw_objects_set_pod(engine_raw_objects(e), pod, item->format, item->bytes);
        record_segments_pod(r, pod, item->format, item->bytes);
        sched_pod_set(s, pod);
    } else if (item->resource == WATCHED_NODES) {
        raw_objects_set_node(engine_raw_objects(e), (const struct node *)form, item->format, item->bytes);
        record_segments_node(r, (const struct node *)form, item->format, item->bytes);
        sched_node_set(s, (const struct node *)form);
    } else {
        enum object_kind kind = watched_rows[item->resource].kind;
        record_segments_object(r, kind, sym_text(engine_syms(e), form->meta.ns), str_of(form->meta.name), item->format,
                               item->bytes);
        sched_object_set(s, kind, form);
    }
}

/* `form` may be the scheduler's own, which is gone afterwards. */
static void remove_form(struct engine *e, enum watched resource, const struct any_form *form)
{
    struct sched *s = engine_sched(e);
    struct record_segments *r = engine_recording(e);
    if (resource == WATCHED_PODS) {
        raw_objects_remove_pod(engine_raw_objects(e), form->meta.uid);
        record_segments_pod_removed(r, form->meta.uid);
        sched_pod_removed(s, form->meta.uid);
    } else if (resource == WATCHED_NODES) {
        raw_objects_remove_node(engine_raw_objects(e), str_of(form->meta.name));
        record_segments_node_removed(r, str_of(form->meta.name));
        sched_node_removed(s, ((const struct node *)form)->name);
    } else {
        enum object_kind kind = watched_rows[resource].kind;
        record_segments_object_removed(r, kind, sym_text(engine_syms(e), form->meta.ns), str_of(form->meta.name));
        sched_object_removed(s, kind, form->meta.ns, str_of(form->meta.name));
    }
}

/* ---- Lists ---- */

/* What tells one object of a resource from another: uid of a pod, namespace and name of others. */
static struct str key_of(struct engine *e, enum watched resource, const struct any_form *form, struct arena *a)
{
    if (resource == WATCHED_PODS)
        return str_of(form->meta.uid);
    return str_of(arena_printf(a, "%s/%s", sym_text(engine_syms(e), form->meta.ns).p, form->meta.name));
}

static void begin_list(struct intake *i, enum watched resource)
{
    struct listing *l = &i->listings[resource];
    if (l->on && l->again) {
        map_str_fini(&l->keys);
        arena_reset(&l->arena);
    }
    /* A list that broke off has left objects, too. */
    l->again = l->whole || l->on;
    l->on = true;
    l->unsure = false;
    if (l->again)
        map_str_init(&l->keys);
}

static void note_listed(struct intake *i, enum watched resource, const struct any_form *form)
{
    struct listing *l = &i->listings[resource];
    if (!l->on || !l->again)
        return;
    struct str key = arena_str(&l->arena, key_of(i->o.engine, resource, form, &l->arena));
    map_str_put(&l->keys, key, NULL);
}

/* Everything that is known and was not listed. */
struct sweep {
    struct intake *intake;
    enum watched resource;
    VEC(const struct any_form *) gone;
};

static void look_at(void *context, const void *form)
{
    struct sweep *w = context;
    struct intake *i = w->intake;
    if (!map_str_find(&i->listings[w->resource].keys, key_of(i->o.engine, w->resource, form, &i->scratch)))
        vec_push(&w->gone, form);
}

static void look_at_pod(void *context, const struct pod *pod)
{
    look_at(context, pod);
}

static void look_at_node(void *context, const struct node *node)
{
    look_at(context, node);
}

static void sweep(struct intake *i, enum watched resource)
{
    struct sweep w = { .intake = i, .resource = resource };
    struct sched *s = engine_sched(i->o.engine);
    if (resource == WATCHED_PODS) {
        sched_each_pod(s, look_at_pod, &w);
    } else if (resource == WATCHED_NODES) {
        sched_each_node(s, look_at_node, &w);
    } else {
        struct object_list all = objects_all(sched_objects(s), watched_rows[resource].kind);
        for (uint32_t k = 0; k < all.n; k++)
            look_at(&w, all.at[k]);
    }
    for (size_t k = 0; k < w.gone.n; k++)
        remove_form(i->o.engine, resource, w.gone.at[k]);
    i->counts.n_swept += w.gone.n;
    vec_fini(&w.gone);
}

static void end_list(struct intake *i, enum watched resource)
{
    struct listing *l = &i->listings[resource];
    if (l->on && l->again) {
        if (!l->unsure)
            sweep(i, resource);
        map_str_fini(&l->keys);
        arena_reset(&l->arena);
    }
    l->on = l->again = false;
    if (l->whole)
        return;
    l->whole = true;
    LOG(2, "Caches populated", KS("path", watched_rows[resource].path));
    if (++i->n_whole < N_WATCHED)
        return;
    LOG(3, "Handlers synced");
    if (i->o.synced)
        i->o.synced(i->o.context);
}

/* ---- Items ---- */

static enum err_code timed_decode(struct engine *e, const struct intake_item *item, const struct any_form **ret_form,
                                  struct err *error)
{
    const struct berth_metrics *m = engine_own_metrics(e);
    int64_t begun_ns = m ? clock_mono_ns(&clock_real) : 0;
    enum err_code rc = decode(e, item, ret_form, error);
    if (m)
        series_observe(m->decode_seconds, (double)(clock_mono_ns(&clock_real) - begun_ns) / 1e9);
    return rc;
}

static void take_object(struct intake *i, const struct intake_item *item)
{
    struct engine *e = i->o.engine;
    const struct any_form *form;
    struct err error;
    err_init(&error, &i->scratch);
    i->counts.n_objects++;
    if (timed_decode(e, item, &form, &error)) {
        i->counts.n_failed++;
        i->listings[item->resource].unsure = true;
        LOG_ERROR(error.message, "Unable to decode an object", KS("path", watched_rows[item->resource].path));
        return;
    }
    if (item->what == REFLECTED_LISTED)
        note_listed(i, item->resource, form);
    if (item->what == REFLECTED_REMOVED)
        remove_form(e, item->resource, form);
    else if (is_unchanged(e, item->resource, form))
        i->counts.n_unchanged++;
    else
        set(e, item, form);
    unref(e, item->resource, form);
}

static void take_item(struct intake *i, const struct intake_item *item)
{
    arena_reset(&i->scratch);
    switch ((enum reflected)item->what) {
    case REFLECTED_LIST:
        begin_list(i, item->resource);
        return;
    case REFLECTED_SYNCED:
        end_list(i, item->resource);
        return;
    case REFLECTED_LISTED:
    case REFLECTED_SET:
    case REFLECTED_REMOVED:
        take_object(i, item);
        return;
    }
}

static void run_batch(struct engine_mail *own_mail, struct engine *e)
{
    struct intake_batch *b = MAIL_ITEM(own_mail, struct intake_batch, mail);
    for (size_t k = 0; k < b->items.n; k++)
        take_item(engine_intake(e), &b->items.at[k]);
    b->done(b);
}

/* ---- The whole ---- */

struct intake *intake_new(const struct intake_options *o)
{
    struct intake *i = mem_zalloc(sizeof(*i));
    i->o = *o;
    arena_init(&i->scratch);
    for (int r = 0; r < N_WATCHED; r++)
        arena_init(&i->listings[r].arena);
    return i;
}

void intake_free(struct intake *i)
{
    if (!i)
        return;
    for (int r = 0; r < N_WATCHED; r++) {
        if (i->listings[r].on && i->listings[r].again)
            map_str_fini(&i->listings[r].keys);
        arena_fini(&i->listings[r].arena);
    }
    arena_fini(&i->scratch);
    free(i);
}

struct intake_counts intake_counts(const struct intake *i)
{
    return i->counts;
}
