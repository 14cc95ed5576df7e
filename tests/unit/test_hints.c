#include "sched/hints.h"

#include "sched/event_kind.h"
#include "tests/test.h"

TEST(an_event_is_covered_when_it_is_the_same_or_more_particular)
{
    static const struct {
        const char *what;
        uint32_t registered, action;
        bool covered;
    } rows[] = {
        { "the same action", ACT_ADD, ACT_ADD, true },
        { "one of several actions", ACT_ADD | ACT_UPDATE_NODE_LABEL, ACT_UPDATE_NODE_LABEL, true },
        { "another action", ACT_ADD, ACT_DELETE, false },
        { "another update", ACT_UPDATE_NODE_LABEL, ACT_UPDATE_NODE_TAINT, false },
        { "a particular update under all updates", ACT_UPDATE, ACT_UPDATE_POD_LABEL, true },
        { "a plain update under all updates", ACT_UPDATE, ACT_UPDATE, true },
        { "a plain update under one update", ACT_UPDATE_POD_LABEL, ACT_UPDATE, false },
        { "a plain update under one update and more", ACT_ADD | ACT_UPDATE_POD_GENERATED_CLAIM, ACT_UPDATE, false },
        { "a plain update under everything", ACT_ALL, ACT_UPDATE, true },
        { "added under everything", ACT_ALL, ACT_ADD, true },
        { "everything under all updates", ACT_UPDATE, ACT_ALL, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(rows[i].what, hint_covers(rows[i].registered, rows[i].action), rows[i].covered);
}

static struct verdict pass(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return PASS;
}

static struct verdict reserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)c;
    (void)node;
    return PASS;
}

static enum hint never(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    (void)event;
    return HINT_SKIP;
}

/* Whether an event interests a plugin with these registrations, and whether a hint is asked then. */
struct row {
    const char *what;
    struct plugin plugin;
    enum event_resource resource;
    uint32_t action;
    bool interested, hinted;
};

#define EVENTS(...) .events = (const struct plugin_event[]){ __VA_ARGS__, { 0 } }
#define FILTERS .filter = pass

static const struct row rows[] = {
    { "registered with a hint", { FILTERS, EVENTS({ RES_NODE, ACT_ADD, never }) }, RES_NODE, ACT_ADD, true, true },
    { "registered without", { FILTERS, EVENTS({ RES_NODE, ACT_ADD, NULL }) }, RES_NODE, ACT_ADD, true, false },
    { "another resource", { FILTERS, EVENTS({ RES_NODE, ACT_ADD, NULL }) }, RES_CSI_NODE, ACT_ADD, false, false },
    { "Pod covers assigned pods", { FILTERS, EVENTS({ RES_POD, ACT_ADD, NULL }) }, RES_ASSIGNED_POD, ACT_ADD, true,
      false },
    { "Pod covers pending pods", { FILTERS, EVENTS({ RES_POD, ACT_ADD, NULL }) }, RES_UNSCHEDULED_POD, ACT_ADD, true,
      false },
    { "any resource covers all", { FILTERS, EVENTS({ RES_ANY, ACT_ALL, NULL }) }, RES_POD_GROUP, ACT_ADD, true, false },
    { "Node/Add brings taint updates, without the hint", { FILTERS, EVENTS({ RES_NODE, ACT_ADD, never }) }, RES_NODE,
      ACT_UPDATE_NODE_TAINT, true, false },
    { "Node/Add among others brings taint updates",
      { FILTERS, EVENTS({ RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL, never }) }, RES_NODE, ACT_UPDATE_NODE_TAINT, true,
      false },
    { "who registered for taint updates keeps the hint",
      { FILTERS, EVENTS({ RES_NODE, ACT_ADD | ACT_UPDATE_NODE_TAINT, never }) }, RES_NODE, ACT_UPDATE_NODE_TAINT, true,
      true },
    { "taint updates in another row count too",
      { FILTERS, EVENTS({ RES_NODE, ACT_ADD, NULL }, { RES_NODE, ACT_UPDATE_NODE_TAINT, never }) }, RES_NODE,
      ACT_UPDATE_NODE_TAINT, true, true },
    { "without Node/Add no taint updates", { FILTERS, EVENTS({ RES_NODE, ACT_UPDATE_NODE_LABEL, NULL }) }, RES_NODE,
      ACT_UPDATE_NODE_TAINT, false, false },
    { "Add of another resource brings none", { FILTERS, EVENTS({ RES_CSI_NODE, ACT_ADD, NULL }) }, RES_NODE,
      ACT_UPDATE_NODE_TAINT, false, false },
    { "an empty list is deaf", { FILTERS, .events = (const struct plugin_event[]){ { 0 } } }, RES_NODE, ACT_ADD, false,
      false },
    { "without a list: everything", { FILTERS }, RES_STORAGE_CLASS, ACT_UPDATE, true, false },
    { "without a list: but no volume attachments", { FILTERS }, RES_VOLUME_ATTACHMENT, ACT_DELETE, false, false },
    { "without a list: but no resource slices", { FILTERS }, RES_RESOURCE_SLICE, ACT_ADD, false, false },
    { "without a list: but no pod groups while they are off", { FILTERS }, RES_POD_GROUP, ACT_ADD, false, false },
    { "a plugin at Reserve counts", { .reserve = reserve }, RES_NODE, ACT_ADD, true, false },
    { "a plugin that cannot reject does not", { EVENTS({ RES_NODE, ACT_ADD, NULL }) }, RES_NODE, ACT_ADD, false,
      false },
};

static bool is_hinted(const struct hint_map *m, const struct row *row)
{
    for (size_t i = 0; i < m->by_resource[row->resource].n; i++) {
        const struct hint_entry *entry = &m->by_resource[row->resource].at[i];
        if (hint_covers(entry->actions, row->action))
            return entry->hint != NULL;
    }
    return false;
}

TEST(registrations_tell_which_events_interest_a_plugin)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static struct profile profile;
        struct hint_map m;
        profile = (struct profile){ .n_instances = 1 };
        profile.instances[0] = (struct plugin_instance){ .plugin = &rows[i].plugin };
        hint_map_init(&m, &profile, false, false);
        uint64_t interest = hint_map_interest(&m, rows[i].resource, rows[i].action);
        CHECK_INT(rows[i].what, interest, rows[i].interested);
        CHECK_INT(rows[i].what, is_hinted(&m, &rows[i]), rows[i].hinted);
        hint_map_fini(&m);
    }
}

TEST(extenders_wait_for_everything)
{
    static struct profile profile;
    struct hint_map m;
    hint_map_init(&m, &profile, true, true);
    uint64_t extenders = 1ull << PLUGIN_EXTENDERS;
    CHECK(hint_map_interest(&m, RES_NODE, ACT_UPDATE_NODE_CONDITION) == extenders);
    CHECK(hint_map_interest(&m, RES_ASSIGNED_POD, ACT_DELETE) == extenders);
    CHECK(hint_map_interest(&m, RES_POD_GROUP, ACT_ADD) == extenders);
    CHECK(hint_map_interest(&m, RES_RESOURCE_SLICE, ACT_ADD) == 0);
    hint_map_fini(&m);
}

TEST(kinds_have_the_labels_of_upstream)
{
    static const struct {
        struct cluster_event event;
        const char *label;
    } labels[] = {
        { { RES_NODE, ACT_ADD }, "NodeAdd" },
        { { RES_ASSIGNED_POD, ACT_DELETE }, "AssignedPodDelete" },
        { { RES_UNSCHEDULED_POD, ACT_UPDATE }, "UnschedulablePodUpdate" },
        { { RES_UNSCHEDULED_POD, ACT_UPDATE_POD_GATES_ELIMINATED },
          "UnschedulablePodUpdatePodSchedulingGatesEliminated" },
        { { RES_NODE, ACT_UPDATE_NODE_TAINT }, "NodeUpdateNodeTaint" },
        { { RES_CSI_NODE, ACT_ADD }, "storage.k8s.io/CSINodeAdd" },
        { { RES_RESOURCE_CLAIM, ACT_UPDATE }, "resource.k8s.io/ResourceClaimUpdate" },
        { { RES_ANY, ACT_ALL }, "*All" },
        { { RES_ANY, ACT_ALL, .label = "ForceActivate" }, "ForceActivate" },
        { { RES_ANY, ACT_ALL, .label = "UnschedulableTimeout" }, "UnschedulableTimeout" },
        { { RES_NODE, ACT_ADD | ACT_DELETE }, "" },
        { { RES_NODE, 0 }, "" },
    };
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        CHECK_TEXT(labels[i].label, event_kind_label(event_kind(&labels[i].event)), labels[i].label);
    CHECK_TEXT("failure", event_kind_label(KIND_SCHEDULE_ATTEMPT_FAILURE), "ScheduleAttemptFailure");
    CHECK_TEXT("backoff", event_kind_label(KIND_BACKOFF_COMPLETE), "BackoffComplete");
    CHECK_TEXT("early", event_kind_label(KIND_POP_FROM_BACKOFF), "PopFromBackoffQ");
    CHECK_TEXT("added", event_kind_label(KIND_UNSCHEDULED_POD_ADD), "UnschedulablePodAdd");
    CHECK_TEXT("updated", event_kind_label(KIND_UNSCHEDULED_POD_UPDATE), "UnschedulablePodUpdate");
}

TEST(every_resource_has_its_name)
{
    for (int r = 0; r < N_EVENT_RESOURCES; r++) {
        struct cluster_event added = { .resource = (enum event_resource)r, .action = ACT_ADD };
        const char *name = event_resource_name((enum event_resource)r);
        struct str label = str_of(event_kind_label(event_kind(&added)));
        CHECK_STR(name, str_first(label, label.n - 3), str_of(name));
    }
}
