/* controllers/volume_binder.c - claims find their volumes, and volumes go with their claims. Upstream:
 * controller/volume/persistentvolume. What is decided stands in volume_plan.c.
 *
 * Two sets are kept from the changes: volumes that nobody has yet, and claims that have none. A claim is looked at when it or
 * its volume changes; all claims that wait, when there is a volume more, or a class. */
#include <stdlib.h>

#include "base/map.h"
#include "controllers/controllers.h"
#include "controllers/event.h"
#include "controllers/read.h"
#include "controllers/turn.h"
#include "controllers/volume_plan.h"

#define CONTROLLER "persistent-volume-binder"
#define REPORTER "persistentvolume-controller"

enum { WORKERS = 8 };

struct volume_binder {
    struct cluster *cluster;
    struct events *events;
    struct work_queue *claims, *volumes;
    struct map_str free_volumes, waiting_claims; /* sets of texts, which are ours */
};

static const struct resource *claims(void)
{
    return stored_resource("persistentvolumeclaims", "");
}

static const struct resource *volumes(void)
{
    return stored_resource("persistentvolumes", "");
}

/* ---- Sets of texts ---- */

static void set_put(struct map_str *set, struct str text)
{
    bool is_new;
    if (map_str_find(set, text))
        return;
    char *copy = mem_alloc(text.n);
    memcpy(copy, text.p, text.n);
    map_str_put(set, (struct str){ copy, text.n }, &is_new)->ptr = copy;
}

static void set_take(struct map_str *set, struct str text)
{
    union map_value own_text;
    if (map_str_remove(set, text, &own_text))
        free(own_text.ptr);
}

static void set_fini(struct map_str *set)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(set, s));)
        free(s->value.ptr);
    map_str_fini(set);
}

/* ---- Steps ---- */

static void begin_step(struct volume_binder *b, struct turn *t, const struct resource *of, const struct value *about,
                       const struct volume_step *step)
{
    static const struct {
        enum cluster_verb verb;
        bool of_claim, status;
    } calls[] = {
        [VOLUME_UPDATE] = { CLUSTER_UPDATE, false, false }, [VOLUME_UPDATE_STATUS] = { CLUSTER_UPDATE, false, true },
        [VOLUME_CREATE] = { CLUSTER_CREATE, false, false }, [VOLUME_DELETE] = { CLUSTER_DELETE, false, false },
        [CLAIM_UPDATE] = { CLUSTER_UPDATE, true, false },   [CLAIM_UPDATE_STATUS] = { CLUSTER_UPDATE, true, true },
    };
    if (step->event_type) {
        struct object_reference reference = event_reference(of, about);
        events_record(b->events, REPORTER, &reference, step->event_type, step->reason, "%s", step->message);
    }
    if (step->verb == VOLUME_NOTHING)
        return;
    bool of_claim = calls[step->verb].of_claim;
    const struct type *type = of_claim ? claim_type() : volume_type();
    turn_begin(t, (struct cluster_call){ .verb = calls[step->verb].verb, .resource = of_claim ? claims() : volumes(),
                                         .subresource = calls[step->verb].status ? "status" : NULL,
                                         .namespace = of_claim ? text_at(type, &step->object, "metadata.namespace") : STR(""),
                                         .name = text_at(type, &step->object, "metadata.name"),
                                         .object = step->verb == VOLUME_DELETE ? NULL : &step->object });
}

static size_t candidates(struct volume_binder *b, struct arena *a, const struct value ***ret_volumes)
{
    const struct value **all = ARENA_NEW_N(a, const struct value *, b->free_volumes.n);
    size_t n = 0;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&b->free_volumes, s));) {
        const struct value *v = stored_get(cluster_objects(b->cluster), volumes(), STR(""), map_str_key(s));
        if (v)
            all[n++] = v;
    }
    *ret_volumes = all;
    return n;
}

static const struct value *class_of(struct volume_binder *b, const struct value *claim)
{
    const struct value *notes = value_path(claim_type(), claim, "metadata.annotations");
    struct str beta = member_text(notes, STR("volume.beta.kubernetes.io/storage-class"));
    struct str name = beta.n ? beta : text_at(claim_type(), claim, "spec.storageClassName");
    const struct resource *r = stored_resource("storageclasses", "storage.k8s.io");
    return name.n ? stored_get(cluster_objects(b->cluster), r, STR(""), name) : NULL;
}

static void sync_claim(struct volume_binder *b, struct turn *t, const struct value *claim, struct arena *a)
{
    const struct value **all;
    struct str chosen = text_at(claim_type(), claim, "spec.volumeName");
    struct claim_state s = { .claim = claim, .class = class_of(b, claim) };
    if (chosen.n) {
        s.volume = stored_get(cluster_objects(b->cluster), volumes(), STR(""), chosen);
    } else {
        s.n_candidates = candidates(b, a, &all);
        s.candidates = all;
    }
    struct volume_step step = claim_step(a, &s);
    begin_step(b, t, claims(), claim, &step);
}

static void work_claim(void *context, struct str key)
{
    struct volume_binder *b = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(b->cluster, b->claims, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *claim = stored_get(cluster_objects(b->cluster), claims(), namespace, name);
    if (claim)
        sync_claim(b, t, claim, &a);
    turn_end(t);
    arena_fini(&a);
}

static void work_volume(void *context, struct str key)
{
    struct volume_binder *b = context;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(b->cluster, b->volumes, CONTROLLER, key);
    const struct value *volume = stored_get(cluster_objects(b->cluster), volumes(), STR(""), key);
    if (volume) {
        struct str namespace = text_at(volume_type(), volume, "spec.claimRef.namespace");
        struct str name = text_at(volume_type(), volume, "spec.claimRef.name");
        const struct value *claim = name.n ? stored_get(cluster_objects(b->cluster), claims(), namespace, name) : NULL;
        struct volume_step step = volume_step(&a, volume, claim);
        begin_step(b, t, volumes(), volume, &step);
    }
    turn_end(t);
    arena_fini(&a);
}

/* ---- Changes ---- */

static void look_at_waiting(struct volume_binder *b)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&b->waiting_claims, s));)
        work_queue_add(b->claims, map_str_key(s));
}

/* Free is also what has a claim that does not know of it yet. */
static bool is_free(struct volume_binder *b, const struct value *volume)
{
    const struct type *t = volume_type();
    struct str phase = text_at(t, volume, "status.phase");
    if (!text_at(t, volume, "spec.claimRef.uid").n)
        return true;
    const struct value *claim = stored_get(cluster_objects(b->cluster), claims(), text_at(t, volume, "spec.claimRef.namespace"),
                                           text_at(t, volume, "spec.claimRef.name"));
    bool is_known = claim && text_at(claim_type(), claim, "spec.volumeName").n;
    return !is_known && !str_is(phase, "Released") && !str_is(phase, "Failed");
}

static void note_volume(struct volume_binder *b, struct str name)
{
    const struct value *volume = stored_get(cluster_objects(b->cluster), volumes(), STR(""), name);
    if (volume && is_free(b, volume))
        set_put(&b->free_volumes, name);
    else
        set_take(&b->free_volumes, name);
}

static void claim_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct volume_binder *b = context;
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    struct str key = turn_key_of(&a, namespace, name);
    const struct value *v = stored_value(cluster_objects(b->cluster), r, item ? item : prev);
    struct str volume = text_at(claim_type(), v, "spec.volumeName");
    bool is_bound = volume.n && member_text(value_path(claim_type(), v, "metadata.annotations"), STR("pv.kubernetes.io/bind-completed")).n;
    if (item && !is_bound)
        set_put(&b->waiting_claims, key);
    else
        set_take(&b->waiting_claims, key);
    if (volume.n) {
        note_volume(b, volume);
        work_queue_add(b->volumes, volume);
    }
    if (item)
        work_queue_add(b->claims, key);
    arena_fini(&a);
}

static void volume_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct volume_binder *b = context;
    struct str namespace, name;
    struct arena a;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item ? item : prev), &namespace, &name);
    const struct value *v = stored_value(cluster_objects(b->cluster), r, item ? item : prev);
    struct str claim = text_at(volume_type(), v, "spec.claimRef.name");
    note_volume(b, name);
    if (item && !claim.n && says_at(volume_type(), v, "status.phase", "Available"))
        look_at_waiting(b);
    if (claim.n)
        work_queue_add(b->claims, turn_key_of(&a, text_at(volume_type(), v, "spec.claimRef.namespace"), claim));
    if (item)
        work_queue_add(b->volumes, name);
    arena_fini(&a);
}

static void class_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    (void)r;
    (void)prev;
    if (item)
        look_at_waiting(context);
}

void *volume_binder_start(const struct controller_context *context)
{
    struct volume_binder *b = mem_zalloc(sizeof(*b));
    b->cluster = context->cluster;
    b->events = context->events;
    b->claims = work_queue_new(cluster_loop(b->cluster), WORKERS, work_claim, b);
    work_queue_show(b->claims, context->queues, "claims");
    b->volumes = work_queue_new(cluster_loop(b->cluster), WORKERS, work_volume, b);
    work_queue_show(b->volumes, context->queues, "volumes");
    map_str_init(&b->free_volumes);
    map_str_init(&b->waiting_claims);
    cluster_watch(b->cluster, volumes(), volume_changed, b);
    cluster_watch(b->cluster, claims(), claim_changed, b);
    cluster_watch(b->cluster, stored_resource("storageclasses", "storage.k8s.io"), class_changed, b);
    return b;
}

void volume_binder_stop(void *own_controller)
{
    struct volume_binder *b = own_controller;
    work_queue_free(b->claims);
    work_queue_free(b->volumes);
    set_fini(&b->free_volumes);
    set_fini(&b->waiting_claims);
    free(b);
}
