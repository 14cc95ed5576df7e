/* forms/workload.c - see workload.h. */
#include "forms/workload.h"

#include "api/schema_slots.h"
#include "forms/inputs.h"

/* ---- Kinds that select by a plain map ---- */

struct map_spec_in {
    fill_map selector;
};

struct map_owner_in {
    struct meta_in meta;
    struct map_spec_in spec;
};

#define MAP_OWNER_TYPE(name, kind)                                                                 \
    static const struct fill_row name##_spec_rows[] = {                                            \
        [SLOT_core_v1_##kind##Spec_selector] = FILL_MAP(struct map_spec_in, selector),             \
    };                                                                                             \
    static const struct fill_type name##_spec_type =                                               \
        FILL_TYPE(core_v1_##kind##Spec, struct map_spec_in, name##_spec_rows);                     \
    static const struct fill_row name##_rows[] = {                                                 \
        [SLOT_core_v1_##kind##_metadata] = FILL_STRUCT(struct map_owner_in, meta, &fill_meta),     \
        [SLOT_core_v1_##kind##_spec] = FILL_STRUCT(struct map_owner_in, spec, &name##_spec_type),  \
    };                                                                                             \
    static const struct fill_type fill_##name = FILL_TYPE(core_v1_##kind, struct map_owner_in, name##_rows)

MAP_OWNER_TYPE(service, Service);
MAP_OWNER_TYPE(controller, ReplicationController);

static enum err_code service_build(struct build *b, const void *input, void *form)
{
    const struct map_owner_in *in = input;
    struct service *s = form;
    s->selector = build_labels(b, &in->spec.selector);
    s->has_selector = in->spec.selector.given;
    return build_meta(b, &in->meta, &s->meta);
}

static void service_walk(struct walk *w, void *form)
{
    struct service *s = form;
    walk_meta(w, &s->meta);
    walk_labels(w, &s->selector);
}

static const struct form_type service_type = { &fill_service, sizeof(struct service), service_build,
                                                 service_walk };

FORM_FUNCTIONS(service, service_type)

static enum err_code controller_build(struct build *b, const void *input, void *form)
{
    const struct map_owner_in *in = input;
    struct replication_controller *c = form;
    c->selector = build_labels(b, &in->spec.selector);
    return build_meta(b, &in->meta, &c->meta);
}

static void controller_walk(struct walk *w, void *form)
{
    struct replication_controller *c = form;
    walk_meta(w, &c->meta);
    walk_labels(w, &c->selector);
}

static const struct form_type controller_type = { &fill_controller, sizeof(struct replication_controller),
                                                    controller_build, controller_walk };

FORM_FUNCTIONS(replication_controller, controller_type)

/* ---- Kinds that select by a LabelSelector ---- */

struct set_spec_in {
    struct selector_in *selector;
};

struct set_in {
    struct meta_in meta;
    struct set_spec_in spec;
};

#define SET_TYPE(name, kind)                                                                       \
    static const struct fill_row name##_spec_rows[] = {                                            \
        [SLOT_apps_v1_##kind##Spec_selector] = FILL_POINTER(struct set_spec_in, selector, &fill_selector), \
    };                                                                                             \
    static const struct fill_type name##_spec_type =                                               \
        FILL_TYPE(apps_v1_##kind##Spec, struct set_spec_in, name##_spec_rows);                     \
    static const struct fill_row name##_rows[] = {                                                 \
        [SLOT_apps_v1_##kind##_metadata] = FILL_STRUCT(struct set_in, meta, &fill_meta),           \
        [SLOT_apps_v1_##kind##_spec] = FILL_STRUCT(struct set_in, spec, &name##_spec_type),        \
    };                                                                                             \
    static const struct fill_type fill_##name = FILL_TYPE(apps_v1_##kind, struct set_in, name##_rows)

SET_TYPE(replica_set, ReplicaSet);
SET_TYPE(stateful_set, StatefulSet);

static enum err_code replica_set_build(struct build *b, const void *input, void *form)
{
    const struct set_in *in = input;
    struct replica_set *s = form;
    s->selector = build_matcher(b, in->spec.selector);
    return build_meta(b, &in->meta, &s->meta);
}

static void replica_set_walk(struct walk *w, void *form)
{
    struct replica_set *s = form;
    walk_meta(w, &s->meta);
    walk_matcher(w, &s->selector);
}

static const struct form_type replica_set_type = { &fill_replica_set, sizeof(struct replica_set),
                                                     replica_set_build, replica_set_walk };

FORM_FUNCTIONS(replica_set, replica_set_type)

static enum err_code stateful_set_build(struct build *b, const void *input, void *form)
{
    const struct set_in *in = input;
    struct stateful_set *s = form;
    s->selector = build_matcher(b, in->spec.selector);
    return build_meta(b, &in->meta, &s->meta);
}

static void stateful_set_walk(struct walk *w, void *form)
{
    struct stateful_set *s = form;
    walk_meta(w, &s->meta);
    walk_matcher(w, &s->selector);
}

static const struct form_type stateful_set_type = { &fill_stateful_set, sizeof(struct stateful_set),
                                                      stateful_set_build, stateful_set_walk };

FORM_FUNCTIONS(stateful_set, stateful_set_type)
