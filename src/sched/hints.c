/* sched/hints.c - see hints.h. */
#include "sched/hints.h"

/* What a plugin without a list gets, and extenders; RES_POD_GROUP is there only while pod groups are. */
static const enum event_resource all_resources[] = {
    RES_POD, RES_NODE, RES_PERSISTENT_VOLUME, RES_PERSISTENT_VOLUME_CLAIM, RES_CSI_NODE, RES_CSI_DRIVER,
    RES_CSI_STORAGE_CAPACITY, RES_STORAGE_CLASS, RES_RESOURCE_CLAIM, RES_DEVICE_CLASS, RES_POD_GROUP,
};

static bool covers_resource(enum event_resource registered, enum event_resource of_event)
{
    return registered == RES_ANY || registered == of_event ||
           (registered == RES_POD && (of_event == RES_ASSIGNED_POD || of_event == RES_UNSCHEDULED_POD));
}

static void add(struct hint_map *m, enum event_resource resource, struct hint_entry entry)
{
    for (int r = 0; r < N_EVENT_RESOURCES; r++)
        if (covers_resource(resource, (enum event_resource)r))
            vec_push(&m->by_resource[r], entry);
}

static void add_everything(struct hint_map *m, const struct plugin_instance *plugin, uint8_t index,
                           bool pod_groups)
{
    for (size_t i = 0; i < sizeof(all_resources) / sizeof(all_resources[0]); i++)
        if (all_resources[i] != RES_POD_GROUP || pod_groups)
            add(m, all_resources[i], (struct hint_entry){ plugin, NULL, ACT_ALL, index });
}

static void add_listed(struct hint_map *m, const struct plugin_instance *plugin)
{
    bool node_added = false, taint_updated = false;
    for (const struct plugin_event *e = plugin->plugin->events; e->actions; e++) {
        add(m, e->resource, (struct hint_entry){ plugin, e->hint, e->actions, plugin->index });
        node_added |= e->resource == RES_NODE && e->actions & ACT_ADD;
        taint_updated |= e->resource == RES_NODE && e->actions & ACT_UPDATE_NODE_TAINT;
    }
    if (node_added && !taint_updated)
        add(m, RES_NODE, (struct hint_entry){ plugin, NULL, ACT_UPDATE_NODE_TAINT, plugin->index });
}

static bool can_reject(const struct plugin *p)
{
    return p->pre_enqueue || p->pre_filter || p->filter || p->reserve || p->permit;
}

void hint_map_init(struct hint_map *m, const struct profile *profile, bool extenders, bool pod_groups)
{
    *m = (struct hint_map){ 0 };
    if (extenders)
        add_everything(m, NULL, PLUGIN_EXTENDERS, pod_groups);
    for (uint8_t i = 0; i < profile->n_instances; i++) {
        const struct plugin_instance *plugin = &profile->instances[i];
        if (!can_reject(plugin->plugin))
            continue;
        if (plugin->plugin->events)
            add_listed(m, plugin);
        else
            add_everything(m, plugin, plugin->index, pod_groups);
    }
}

void hint_map_fini(struct hint_map *m)
{
    for (int r = 0; r < N_EVENT_RESOURCES; r++)
        vec_fini(&m->by_resource[r]);
}

uint64_t hint_map_interest(const struct hint_map *m, enum event_resource resource, uint32_t action)
{
    assert(resource < N_EVENT_RESOURCES);
    uint64_t interest = 0;
    for (size_t i = 0; i < m->by_resource[resource].n; i++) {
        const struct hint_entry *entry = &m->by_resource[resource].at[i];
        if (hint_covers(entry->actions, action))
            interest |= 1ull << entry->index;
    }
    return interest;
}
