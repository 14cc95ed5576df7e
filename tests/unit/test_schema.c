/* The generated tables: lookups by name, hashes without collisions, and rules that the codecs rely on. */
#include "api/schema.h"
#include "api/schema_slots.h"
#include "tests/test.h"

TEST(every_field_is_found_by_its_name_and_no_other)
{
    for (size_t i = 0; i < schema_n_types; i++) {
        const struct type *t = &schema_types[i];
        CHECK(schema_type(t->name) == t);
        for (int slot = 0; slot < t->n_fields; slot++) {
            struct str name = t->fields[slot].name;
            char changed[256];
            CHECK(name.n > 0 && name.n < sizeof(changed));
            CHECK_INT(name.p, schema_slot(t, name), slot);
            for (size_t k = 0; k < name.n; k++) {
                memcpy(changed, name.p, name.n);
                changed[k] = '\x01';
                CHECK_INT(name.p, schema_slot(t, (struct str){ changed, name.n }), -1);
            }
            memcpy(changed, name.p, name.n);
            changed[name.n] = 'x';
            CHECK(schema_slot(t, (struct str){ changed, name.n + 1 }) != slot);
        }
        CHECK_INT(t->name.p, schema_slot(t, STR("")), -1);
    }
}

TEST(types_follow_the_rules_of_the_codecs)
{
    for (size_t i = 0; i < schema_n_types; i++) {
        const struct type *t = &schema_types[i];
        if (t->flags & TYPE_OBJECT) {
            CHECK_STR("slot 0", t->fields[SLOT_KIND].name, STR("kind"));
            CHECK_STR("slot 1", t->fields[SLOT_API_VERSION].name, STR("apiVersion"));
        }
        if (t->flags & TYPE_WRAPPER)
            CHECK(t->n_fields == 1 && t->fields[0].shape == SHAPE_LIST);
        if (t->flags & TYPE_BY_SHAPE)
            CHECK_INT(t->name.p, t->n_fields, 2);
        for (int w = 1; w < t->n_wires; w++)
            CHECK(t->wires[w - 1].number < t->wires[w].number);
        for (int slot = 0; slot < t->n_fields; slot++) {
            const struct field *f = &t->fields[slot];
            CHECK_INT(f->name.p, f->kind == KIND_STRUCT, f->type != NULL);
            CHECK(f->go_type && f->go_elem && f->go_path);
        }
    }
}

TEST(which_fields_json_has_in_any_case)
{
    static const struct {
        const char *type;
        int slot;
        bool written;
    } rows[] = {
        { "core/v1.Pod", SLOT_core_v1_Pod_kind, false },
        { "core/v1.Pod", SLOT_core_v1_Pod_spec, true },
        { "core/v1.PodSpec", SLOT_core_v1_PodSpec_containers, true },
        { "core/v1.PodSpec", SLOT_core_v1_PodSpec_nodeName, false },
        { "core/v1.PodSpec", SLOT_core_v1_PodSpec_volumes, false },
        { "core/v1.PodSpec", SLOT_core_v1_PodSpec_affinity, false },
        { "core/v1.ServicePort", SLOT_core_v1_ServicePort_targetPort, true },
        { "core/v1.ResourceFieldSelector", SLOT_core_v1_ResourceFieldSelector_divisor, true },
        { "meta/v1.ObjectMeta", SLOT_meta_v1_ObjectMeta_creationTimestamp, false },
        { "meta/v1.ObjectMeta", SLOT_meta_v1_ObjectMeta_deletionTimestamp, false },
        { "meta/v1.APIResource", SLOT_meta_v1_APIResource_verbs, true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct type *t = schema_type(str_of(rows[i].type));
        CHECK(t);
        bool written = t->written_when_absent[rows[i].slot / 64] >> (rows[i].slot % 64) & 1;
        CHECK_INT(t->fields[rows[i].slot].name.p, written, rows[i].written);
    }
}

TEST(objects_are_found_by_version_and_kind)
{
    static const struct {
        const char *api_version, *kind, *type; /* NULL: none */
    } rows[] = {
        { "v1", "Pod", "core/v1.Pod" },
        { "apps/v1", "Deployment", "apps/v1.Deployment" },
        { "v1", "Deployment", NULL },
        { "apps/v1", "Pod", NULL },
        { "v2", "Pod", NULL },
        { "v1", "PodSpec", NULL }, /* a type, but no object */
        { "v1", "", NULL },
        { "", "Pod", NULL },
        { "v1", "Status", "meta/v1.Status" },
        { "apps/v1", "DeleteOptions", "meta/v1.DeleteOptions" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct type *t = schema_object_type(str_of(rows[i].api_version), str_of(rows[i].kind));
        CHECK_INT(rows[i].kind, t != NULL, rows[i].type != NULL);
        if (t)
            CHECK_STR(rows[i].kind, t->name, str_of(rows[i].type));
    }
    char name[600];
    memset(name, 'x', sizeof(name));
    CHECK(!schema_object_type((struct str){ name, sizeof(name) }, STR("Pod")));
    CHECK(!schema_object_type(STR("v1"), (struct str){ name, sizeof(name) }));
}

TEST(resources_are_found_by_their_plural)
{
    const struct resource *pods = schema_resource(STR(""), STR("v1"), STR("pods"));
    CHECK(pods && pods->namespaced && pods->served);
    CHECK_STR("kind", pods->kind, STR("Pod"));
    CHECK(pods->type == schema_type(STR("core/v1.Pod")));
    CHECK(pods->verbs & VERB_WATCH);
    CHECK(!schema_resource(STR("apps"), STR("v1"), STR("pods")));
    CHECK(!schema_resource(STR(""), STR("v1"), STR("pod")));
}
