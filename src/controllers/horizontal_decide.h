/* controllers/horizontal_decide.h - what a HorizontalPodAutoscaler does about its target while nobody serves metrics:
 * its bounds are enforced, and the rest is told in conditions and Events.
 *
 * Upstream: controller/podautoscaler, reconcileAutoscaler.
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "api/value.h"

/* What is known of the target of an autoscaler. */
struct hpa_target {
    const char *error; /* why its scale cannot be read; NULL: it can */
    int64_t replicas;  /* that it wants */
    struct str selector;        /* of its pods, as a text */
    const char *selector_error; /* what is wrong with it; NULL: nothing */
    const char *ambiguous;      /* the autoscalers that control its pods, when there are several; NULL: this one alone */
};

struct hpa_event {
    const char *type, *reason, *message;
};

struct hpa_plan {
    struct value hpa; /* with its new status */
    bool rescales;    /* the target is to be written first, then hpa_rescaled says what becomes of the status */
    int64_t size;
    const char *why;
    struct hpa_event *events; /* in order */
    size_t n_events, cap;
};

/* `hpa` is of autoscaling/v2. */
struct hpa_plan hpa_decide(struct arena *a, const struct value *hpa, const struct hpa_target *target, int64_t now_s);
/* After the target was written; `error`: why it could not be, NULL: it could. Adds an Event. */
void hpa_rescaled(struct arena *a, struct hpa_plan *plan, const struct hpa_target *target, const char *error, int64_t now_s);
