/* hollow/kubelet_events.c - see kubelet_events.h. Upstream: kubelet's kuberuntime_container.go and image_manager.go. */
#include "hollow/kubelet_events.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/mem.h"
#include "controllers/event.h"
#include "controllers/read.h"

#define KUBELET "kubelet"

struct kubelet_events {
    struct events *events;
};

struct kubelet_events *kubelet_events_new(struct cluster *c)
{
    struct kubelet_events *k = mem_zalloc(sizeof(*k));
    k->events = events_new(c);
    return k;
}

void kubelet_events_free(struct kubelet_events *k)
{
    if (!k)
        return;
    events_free(k->events);
    free(k);
}

/* ---- Differences ---- */

static const struct value *part(const struct value *status, const char *path)
{
    return value_path(schema_type(STR("core/v1.ContainerStatus")), status, path);
}

static bool runs(const struct value *status)
{
    return part(status, "state.running")->kind == VALUE_STRUCT;
}

static bool backs_off(const struct value *status)
{
    return str_is(value_text(part(status, "state.waiting.reason")), "CrashLoopBackOff");
}

static void tell_start(struct events *e, const struct object_reference *about, const struct value *is)
{
    struct str image = value_text(part(is, "image"));
    events_record(e, KUBELET, about, "Normal", "Pulled",
                  "Container image \"%.*s\" already present on machine and can be accessed by the pod", STR_ARG(image));
    events_record(e, KUBELET, about, "Normal", "Created", "Container created");
    events_record(e, KUBELET, about, "Normal", "Started", "Container started");
}

static void tell_container(struct events *e, const struct object_reference *about, const struct value *was, const struct value *is,
                           bool is_deleted)
{
    bool restarted = part(was, "restartCount")->i != part(is, "restartCount")->i;
    if (runs(is) && (!runs(was) || restarted))
        tell_start(e, about, is);
    if (is_deleted && runs(was) && !runs(is))
        events_record(e, KUBELET, about, "Normal", "Killing", "Stopping container %.*s", STR_ARG(value_text(part(is, "name"))));
    if (backs_off(is) && !backs_off(was))
        events_record(e, KUBELET, about, "Warning", "BackOff", "%.*s", STR_ARG(value_text(part(is, "state.waiting.message"))));
}

static void tell_list(struct events *e, const struct object_reference *about, const struct value *was, const struct value *is,
                      bool is_deleted)
{
    static const struct value none = { .kind = VALUE_ABSENT };
    const struct type *t = schema_type(STR("core/v1.ContainerStatus"));
    for (uint32_t i = 0; i < list_length(is); i++) {
        const struct value *old = entry_with(t, was, "name", text_at(t, &is->items[i], "name"));
        tell_container(e, about, old ? old : &none, &is->items[i], is_deleted);
    }
}

void kubelet_events_record(struct kubelet_events *k, const struct value *was, const struct value *is)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct object_reference about = event_reference(stored_resource("pods", ""), is);
    bool is_deleted = is_set_at(t, is, "metadata.deletionTimestamp");
    tell_list(k->events, &about, value_path(t, was, "status.initContainerStatuses"), value_path(t, is, "status.initContainerStatuses"),
              is_deleted);
    tell_list(k->events, &about, value_path(t, was, "status.containerStatuses"), value_path(t, is, "status.containerStatuses"),
              is_deleted);
}
