/* tests/unit/volume_world.h - storage objects and verdicts as texts, for tests of the plugins for volumes. Builds on
 * cluster.h. */
#pragma once

#include "tests/unit/cluster.h"

/* kind, name of its functions */
#define PV(cl, json) CLUSTER_OBJECT(cl, pv, OBJECT_PERSISTENT_VOLUME, json)
#define PVC(cl, json) CLUSTER_OBJECT(cl, pvc, OBJECT_PERSISTENT_VOLUME_CLAIM, json)
#define CLASS(cl, json) CLUSTER_OBJECT(cl, storage_class, OBJECT_STORAGE_CLASS, json)
#define CSI_NODE(cl, json) CLUSTER_OBJECT(cl, csi_node, OBJECT_CSI_NODE, json)
#define CSI_DRIVER(cl, json) CLUSTER_OBJECT(cl, csi_driver, OBJECT_CSI_DRIVER, json)
#define CAPACITY(cl, json) CLUSTER_OBJECT(cl, csi_storage_capacity, OBJECT_CSI_STORAGE_CAPACITY, json)
#define ATTACHMENT(cl, json) CLUSTER_OBJECT(cl, volume_attachment, OBJECT_VOLUME_ATTACHMENT, json)

/* "U reason, reason": the code's short name and the reasons; "" when it passes, "skip" when it skips. */
static inline const char *verdict_says(struct cluster *cl, struct verdict v)
{
    static const char *const codes[] = { "", "ERR ", "U ", "UU ", "wait", "skip", "pending" };
    struct filter_status status = { v, cluster_plugin(cl) };
    struct reasons reasons = { .arena = &cl->texts };
    framework_reasons(&cl->cycle, &status, &reasons);
    const char *text = codes[v.code];
    for (size_t i = 0; i < reasons.texts.n; i++)
        text = arena_printf(&cl->texts, "%s%s%s", text, i ? ", " : "", reasons.texts.at[i]);
    vec_fini(&reasons.texts);
    return text;
}

/* Tries a pod with the given volumes, a JSON list with ' for ": what PreFilter says. */
static inline const char *try_pod(struct cluster *cl, const char *volumes)
{
    cluster_begin(cl, cluster_decode_pod(cl, "{'metadata':{'name':'new','namespace':'ns','uid':'new-uid'},"
                                             "'spec':{'volumes':%s}}", volumes));
    cl->cycle.binding_arena = &cl->texts;
    return verdict_says(cl, cluster_pre_filter(cl));
}

static inline const char *filter_says(struct cluster *cl, const char *node)
{
    return verdict_says(cl, cluster_filter(cl, node));
}

static inline const struct plugin_event *event_of(struct cluster *cl, enum event_resource resource, uint32_t action)
{
    const struct plugin_event *e = cluster_plugin(cl)->plugin->events;
    while (e->actions && !(e->resource == resource && e->actions & action))
        e++;
    if (!e->actions)
        FAIL("no such event");
    return e;
}

/* What the hint for an object says; `name` are its functions. old_json may be NULL, new_json NULL when deleted. */
#define OBJECT_HINT(cl, name, resource, waiting, old_json, new_json, ret_hint)                                 \
    do {                                                                                                       \
        const struct name *forms_[2] = { NULL, NULL };                                                         \
        const char *json_[2] = { (old_json), (new_json) };                                                     \
        for (int i_ = 0; i_ < 2; i_++) {                                                                       \
            char *text_ = json_[i_] ? arena_cstr(&(cl)->texts, str_of(json_[i_])) : NULL;                      \
            for (char *c_ = text_; c_ && *c_; c_++)                                                            \
                *c_ = *c_ == '\'' ? '"' : *c_;                                                                 \
            if (text_ && name##_decode(&(cl)->syms, TYPED_JSON, str_of(text_), &forms_[i_], &(cl)->e))         \
                FAIL(#name ": %s", (cl)->e.message);                                                           \
        }                                                                                                      \
        uint32_t action_ = !forms_[0] ? ACT_ADD : !forms_[1] ? ACT_DELETE : ACT_UPDATE;                        \
        struct hint_context h_ = { cluster_plugin(cl), &(cl)->cache, (cl)->objects, &(cl)->syms, &(cl)->arena }; \
        struct cluster_event event_ = { .old_object = forms_[0], .new_object = forms_[1] };                    \
        *(ret_hint) = event_of((cl), (resource), action_)->hint(&h_, (waiting), &event_);                      \
        for (int i_ = 0; i_ < 2; i_++)                                                                         \
            if (forms_[i_])                                                                                    \
                name##_unref(&(cl)->syms, forms_[i_]);                                                         \
    } while (0)
