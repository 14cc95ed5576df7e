/* tests/unit/hint_table.h - tables of what wakes a pod that a plugin has refused.
 *
 * A row is a sentence, the pod that waits, and an object before and after (NULL: not there). What happened becomes
 * events exactly as in the scheduler: updates of pods and nodes are taken apart (derive.h), registrations are looked up
 * (hints.h), and the plugin's hint is asked. Texts are JSON with ' for ". Builds on cluster.h. */
#pragma once

#include "sched/derive.h"
#include "sched/hints.h"
#include "tests/unit/cluster.h"

struct hint_row {
    const char *what, *waiting;
    enum event_resource of; /* RES_POD: whichever of the two kinds of pods it is */
    const char *before, *after;
    const char *want;
};

/* What a row may want. */
#define QUEUE "queue"        /* the pod is worth another try */
#define SKIP_IT "skip"       /* the plugin is asked, and sees no reason for one */
#define DEAF "deaf"          /* the plugin has not registered for it */
#define NO_EVENT "no event"  /* the change is none of those that pods wait for */

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

static const enum object_kind hint_kinds[N_EVENT_RESOURCES] = {
    [RES_PERSISTENT_VOLUME] = OBJECT_PERSISTENT_VOLUME,
    [RES_PERSISTENT_VOLUME_CLAIM] = OBJECT_PERSISTENT_VOLUME_CLAIM,
    [RES_STORAGE_CLASS] = OBJECT_STORAGE_CLASS,
    [RES_CSI_NODE] = OBJECT_CSI_NODE,
    [RES_CSI_DRIVER] = OBJECT_CSI_DRIVER,
    [RES_CSI_STORAGE_CAPACITY] = OBJECT_CSI_STORAGE_CAPACITY,
    [RES_VOLUME_ATTACHMENT] = OBJECT_VOLUME_ATTACHMENT,
};

static inline const void *hint_decode(struct cluster *cl, enum event_resource of, const char *json)
{
    if (!json)
        return NULL;
    if (of == RES_POD)
        return cluster_decode_pod(cl, "%s", json);
    if (of == RES_NODE)
        return cluster_decode_node(cl, "%s", json);
    char *text = arena_cstr(&cl->texts, str_of(json));
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const void *form;
    if (object_form_decode(hint_kinds[of], &cl->syms, TYPED_JSON, str_of(text), &form, &cl->e))
        FAIL("%s: %s", json, cl->e.message);
    return form;
}

/* The events of a change, as the scheduler makes them. A pod counts as assigned when it goes, whatever it was: that
 * is how the end of a nomination is told, too. */
static inline void hint_events(enum event_resource of, const void *before, const void *after,
                               struct derived_events *ret_events)
{
    if (of == RES_NODE && before && after) {
        derive_node_events(before, after, true, ret_events);
        return;
    }
    if (of == RES_POD && before && after) {
        derive_pod_events(before, after, ret_events);
        return;
    }
    const struct pod *added = of == RES_POD ? after : NULL;
    bool is_pending = added && added->node_name == SYM_EMPTY;
    enum event_resource resource = of != RES_POD ? of : is_pending ? RES_UNSCHEDULED_POD : RES_ASSIGNED_POD;
    uint32_t action = !before ? ACT_ADD : !after ? ACT_DELETE : ACT_UPDATE;
    ret_events->at[0] = (struct cluster_event){ resource, action, before, after, NULL };
    ret_events->n = 1;
}

/* One event at the plugin's registrations. */
static inline const char *hint_answer(struct cluster *cl, const struct hint_map *map, const struct pod *waiting,
                                      const struct cluster_event *event)
{
    struct hint_context h = { cluster_plugin(cl), &cl->cache, cl->objects, &cl->syms, &cl->arena };
    const char *answer = DEAF;
    for (size_t i = 0; i < map->by_resource[event->resource].n; i++) {
        const struct hint_entry *entry = &map->by_resource[event->resource].at[i];
        if (!hint_covers(entry->actions, event->action))
            continue;
        if (!entry->hint || entry->hint(&h, waiting, event) == HINT_QUEUE)
            return QUEUE;
        answer = SKIP_IT;
    }
    return answer;
}

static inline void hint_unref(struct cluster *cl, enum event_resource of, const void *form)
{
    if (of == RES_POD || of == RES_NODE)
        cluster_unref(cl, of == RES_NODE, form);
    else if (form)
        object_unref(&cl->syms, hint_kinds[of], form);
}

static inline void hint_check_row(struct cluster *cl, const struct hint_map *map, const struct hint_row *row)
{
    const struct pod *waiting = cluster_decode_pod(cl, "%s", row->waiting);
    const void *before = hint_decode(cl, row->of, row->before), *after = hint_decode(cl, row->of, row->after);
    struct derived_events events;
    hint_events(row->of, before, after, &events);
    const char *got = events.n ? DEAF : NO_EVENT;
    for (uint8_t i = 0; i < events.n; i++) {
        const char *answer = hint_answer(cl, map, waiting, &events.at[i]);
        if (strcmp(got, QUEUE) != 0 && strcmp(answer, DEAF) != 0)
            got = answer;
    }
    CHECK_TEXT(row->what, got, row->want);
    hint_unref(cl, row->of, before);
    hint_unref(cl, row->of, after);
    pod_unref(&cl->syms, waiting);
    arena_reset(&cl->arena);
}

static inline void hint_check(const struct plugin *plugin, const void *args, const struct features *features,
                              const struct hint_row *rows, size_t n_rows)
{
    struct cluster cl;
    cluster_init(&cl, plugin, args);
    if (features)
        cl.features = *features;
    struct hint_map map;
    hint_map_init(&map, &cl.profile, false, false);
    for (size_t i = 0; i < n_rows; i++)
        hint_check_row(&cl, &map, &rows[i]);
    hint_map_fini(&map);
    cluster_fini(&cl);
}
