/* The kinds of storage.k8s.io, budgets, classes of priority, workloads, namespaces and leases. */
#include "forms/storage.h"

#include "forms/lease.h"
#include "forms/namespace.h"
#include "forms/policy.h"
#include "forms/workload.h"
#include "tests/test.h"
#include "tests/unit/typed_world.h"

#define DECODE(w, kind, json, form)                                                        \
    do {                                                                                   \
        if (kind##_decode(&(w)->syms, TYPED_JSON, str_of(json), (form), &(w)->e))          \
            FAIL("%s: %s", (json), (w)->e.message);                                        \
    } while (0)

TEST(classes_know_their_mode_and_topologies)
{
    static const struct {
        const char *name, *json;
        enum binding_mode mode;
    } rows[] = {
        { "not given", "{}", BINDING_NOT_GIVEN },
        { "immediate", "{\"volumeBindingMode\":\"Immediate\"}", BINDING_IMMEDIATE },
        { "waiting", "{\"volumeBindingMode\":\"WaitForFirstConsumer\"}", BINDING_WAIT_FOR_FIRST_CONSUMER },
        { "other", "{\"volumeBindingMode\":\"\"}", BINDING_OTHER },
    };
    struct world w;
    world_init(&w);
    const struct storage_class *c;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        DECODE(&w, storage_class, rows[i].json, &c);
        CHECK_INT(rows[i].name, c->binding_mode, rows[i].mode);
        CHECK(!c->allowed_topologies.given);
        storage_class_unref(&w.syms, c);
    }
    DECODE(&w, storage_class,
           "{\"provisioner\":\"p\",\"allowedTopologies\":[{},{\"matchLabelExpressions\":[{\"key\":\"zone\",\"values\":[\"a\"]}]},"
           "{\"matchLabelExpressions\":[{\"key\":\"zone\"}]}]}", &c);
    struct label_pair pair = { sym_find(&w.syms, STR("zone")), sym_find(&w.syms, STR("a")) };
    CHECK(c->allowed_topologies.given);
    CHECK(c->allowed_topologies.at[0].empty && c->allowed_topologies.at[2].broken);
    CHECK(node_rules_match(&c->allowed_topologies, (struct label_set){ &pair, 1 }, SYM_EMPTY, &w.syms));
    CHECK(!node_rules_match(&c->allowed_topologies, (struct label_set){ 0 }, SYM_EMPTY, &w.syms));
    storage_class_unref(&w.syms, c);
    world_fini(&w);
}

TEST(csi_nodes_limit_and_migrate)
{
    struct world w;
    world_init(&w);
    const struct csi_node *n;
    DECODE(&w, csi_node,
           "{\"metadata\":{\"annotations\":{\"storage.alpha.kubernetes.io/migrated-plugins\":\"b,a,b\"}},\"spec\":{\"drivers\":["
           "{\"name\":\"x\",\"allocatable\":{\"count\":0}},{\"name\":\"y\"},{\"name\":\"z\",\"allocatable\":{\"count\":-1}}]}}", &n);
    CHECK_INT("drivers", n->n_drivers, 3);
    CHECK_INT("none may be attached", n->drivers[0].count, 0);
    CHECK_INT("no limit", n->drivers[1].count, -1);
    CHECK_INT("below 0 is 0", n->drivers[2].count, 0);
    CHECK_INT("plugins", n->n_migrated_plugins, 2);
    CHECK(n->migrated_plugins[0] < n->migrated_plugins[1]);
    csi_node_unref(&w.syms, n);
    DECODE(&w, csi_node, "{\"metadata\":{\"annotations\":{\"storage.alpha.kubernetes.io/migrated-plugins\":\"\"}}}", &n);
    CHECK_INT("plugins", n->n_migrated_plugins, 0);
    csi_node_unref(&w.syms, n);
    world_fini(&w);
}

TEST(drivers_capacities_and_attachments)
{
    struct world w;
    world_init(&w);
    const struct csi_driver *d;
    DECODE(&w, csi_driver, "{\"spec\":{\"storageCapacity\":false}}", &d);
    CHECK(!d->storage_capacity && !d->prevent_pod_scheduling_if_missing);
    csi_driver_unref(&w.syms, d);
    const struct csi_storage_capacity *c;
    DECODE(&w, csi_storage_capacity, "{\"storageClassName\":\"c\",\"maximumVolumeSize\":\"1Gi\"}", &c);
    CHECK(!c->capacity.given && c->maximum_volume_size.given);
    CHECK_INT("bytes", c->maximum_volume_size.bytes, 1 << 30);
    CHECK_INT("topology", c->node_topology.mode, MATCHER_NOTHING);
    csi_storage_capacity_unref(&w.syms, c);
    const struct volume_attachment *a;
    DECODE(&w, volume_attachment, "{\"spec\":{\"source\":{\"inlineVolumeSpec\":{}}}}", &a);
    CHECK(!a->volume_name);
    volume_attachment_unref(&w.syms, a);
    world_fini(&w);
}

TEST(budgets_know_who_is_leaving)
{
    struct world w;
    world_init(&w);
    const struct pdb *p;
    DECODE(&w, pdb, "{\"status\":{\"disruptionsAllowed\":1,\"disruptedPods\":{\"b\":null,\"a\":null,\"c\":null,\"a\":null}}}", &p);
    CHECK_INT("number", p->n_disrupted, 3);
    CHECK(pdb_has_disrupted(p, "a") && pdb_has_disrupted(p, "b") && pdb_has_disrupted(p, "c"));
    CHECK(!pdb_has_disrupted(p, "") && !pdb_has_disrupted(p, "bb") && !pdb_has_disrupted(p, "d"));
    CHECK_INT("selector", p->selector.mode, MATCHER_NOTHING);
    CHECK_INT("allowed", p->disruptions_allowed, 1);
    pdb_unref(&w.syms, p);
    const struct priority_class *c;
    DECODE(&w, priority_class, "{\"value\":2147483647,\"preemptionPolicy\":\"PreemptLowerPriority\"}", &c);
    CHECK_INT("value", c->value, INT32_MAX);
    CHECK_INT("policy", c->preemption_policy, PREEMPT_LOWER_PRIORITY);
    CHECK(!c->global_default);
    priority_class_unref(&w.syms, c);
    world_fini(&w);
}

TEST(services_may_have_no_selector)
{
    struct world w;
    world_init(&w);
    const struct service *s;
    DECODE(&w, service, "{\"spec\":{}}", &s);
    CHECK(!s->has_selector);
    service_unref(&w.syms, s);
    DECODE(&w, service, "{\"spec\":{\"selector\":{}}}", &s);
    CHECK(s->has_selector && s->selector.n == 0);
    service_unref(&w.syms, s);
    const struct namespace *n;
    DECODE(&w, namespace, "{\"metadata\":{\"name\":\"ns\",\"labels\":{\"a\":\"b\"}}}", &n);
    CHECK_STR("name", sym_text(&w.syms, n->name), STR("ns"));
    CHECK_INT("labels", n->meta.labels.n, 1);
    namespace_unref(&w.syms, n);
    world_fini(&w);
}

TEST(leases_count_in_microseconds)
{
    struct world w;
    world_init(&w);
    const struct lease *l;
    DECODE(&w, lease, "{\"spec\":{\"renewTime\":\"1970-01-01T00:00:01.000002Z\",\"leaseDurationSeconds\":15}}", &l);
    CHECK_TEXT("nobody", l->holder, "");
    CHECK_INT("renew", l->renew_us, 1000002);
    CHECK(l->acquire_us == TYPED_TIME_NONE && !l->preferred_holder && !l->strategy);
    CHECK_INT("duration", l->duration_s, 15);
    lease_unref(&w.syms, l);
    world_fini(&w);
}
