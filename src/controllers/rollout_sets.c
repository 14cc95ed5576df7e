/* controllers/rollout_sets.c - what is read from ReplicaSets and their templates. */
#include "api/edit.h"
#include "api/labels.h"
#include "controllers/rollout_priv.h"

const struct type *replica_set_type(void)
{
    return schema_type(STR("apps/v1.ReplicaSet"));
}

/* ---- Reading ---- */

struct str map_text(const struct value *map, const char *key)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return v ? value_text(v) : STR("");
}

const struct value *annotations_of(const struct type *t, const struct value *v)
{
    return value_path(t, v, "metadata.annotations");
}

/* -1: none, or none that counts. */
static int32_t annotated_number(const struct value *annotations, const char *key)
{
    int64_t n;
    struct str text = map_text(annotations, key);
    bool digits = text.n && text.p[0] >= '0' && text.p[0] <= '9';
    return digits && labels_parse_int(text, &n) && n <= INT32_MAX ? (int32_t)n : -1;
}

int64_t revision_of(const struct value *annotations)
{
    int64_t n;
    if (annotations->kind != VALUE_MAP || !value_member(annotations, STR(REVISION)))
        return 0;
    return labels_parse_int(map_text(annotations, REVISION), &n) ? n : -1;
}

struct rollout_set rollout_set_of(const struct value *object)
{
    const struct type *t = replica_set_type();
    const struct value *annotations = annotations_of(t, object), *created = value_path(t, object, "metadata.creationTimestamp");
    return (struct rollout_set){
        .object = *object,
        .name = value_text(value_path(t, object, "metadata.name")),
        .created_s = created->kind == VALUE_TIME ? created->i : 0,
        .deleted = value_path(t, object, "metadata.deletionTimestamp")->kind == VALUE_TIME,
        .wanted = (int32_t)number_in(t, object, "spec.replicas", 0),
        .replicas = (int32_t)number_in(t, object, "status.replicas", 0),
        .ready = (int32_t)number_in(t, object, "status.readyReplicas", 0),
        .available = (int32_t)number_in(t, object, "status.availableReplicas", 0),
        .terminating = (int32_t)number_in(t, object, "status.terminatingReplicas", -1),
        .revision = revision_of(annotations),
        .desired_before = annotated_number(annotations, DESIRED_REPLICAS),
        .max_before = annotated_number(annotations, MAX_REPLICAS),
        .observed = number_in(t, object, "metadata.generation", 0) <= number_in(t, object, "status.observedGeneration", 0),
    };
}

/* ---- Templates ---- */

struct value map_without(struct arena *a, const struct value *map, const char *key)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0, n_left = 0;
    struct member *left = ARENA_NEW_N(a, struct member, n);
    for (uint32_t i = 0; i < n; i++)
        if (!str_is(map->members[i].key, key))
            left[n_left++] = map->members[i];
    return n_left ? value_map(left, n_left) : (struct value){ .kind = VALUE_ABSENT };
}

struct value rollout_plain_template(struct arena *a, const struct type *t, const struct value *object)
{
    const struct type *tt = schema_type(STR("core/v1.PodTemplateSpec"));
    const struct value *template = value_path(t, object, "spec.template");
    return edit_set(a, tt, template, "metadata.labels",
                    map_without(a, value_path(tt, template, "metadata.labels"), HASH_LABEL));
}

bool rollout_same_template(const struct value *deployment, const struct value *set)
{
    struct arena a;
    arena_init(&a);
    struct value one = rollout_plain_template(&a, deployment_type(), deployment);
    struct value other = rollout_plain_template(&a, replica_set_type(), set);
    bool same = value_equal(&one, &other);
    arena_fini(&a);
    return same;
}

bool rollout_is_same_set(const struct value *deployment, const struct value *set)
{
    const struct type *ot = schema_type(STR("meta/v1.OwnerReference"));
    const struct value *list = value_path(replica_set_type(), set, "metadata.ownerReferences");
    struct str uid = value_text(value_path(deployment_type(), deployment, "metadata.uid"));
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_eq(value_text(value_path(ot, &list->items[i], "uid")), uid))
            return rollout_same_template(deployment, set);
    return false;
}
