/* rules/meta.c - metadata of new and of changed objects; values as errors show them. */
#include <assert.h>

#include "api/object_meta.h"
#include "api/schema_slots.h"
#include "codec/json.h"
#include "rules/rules.h"

static struct str meta_text(const struct value *meta, unsigned slot)
{
    return value_text(value_slot(meta, slot));
}

static struct labels labels_of(struct arena *a, const struct value *map)
{
    if (map->kind != VALUE_MAP)
        return (struct labels){ NULL, 0 };
    struct label *at = ARENA_NEW_N(a, struct label, map->n);
    for (uint32_t i = 0; i < map->n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, map->n };
}

static enum tristate tristate_of(const struct value *v)
{
    if (v->kind != VALUE_BOOL)
        return TRI_ABSENT;
    return v->b ? TRI_TRUE : TRI_FALSE;
}

static void read_owners(struct arena *a, const struct value *list, struct object_meta *to)
{
    if (list->kind != VALUE_LIST)
        return;
    struct owner_reference *refs = ARENA_NEW_N(a, struct owner_reference, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *r = &list->items[i];
        refs[i] = (struct owner_reference){
            .api_version = meta_text(r, SLOT_meta_v1_OwnerReference_apiVersion),
            .kind = meta_text(r, SLOT_meta_v1_OwnerReference_kind),
            .name = meta_text(r, SLOT_meta_v1_OwnerReference_name),
            .uid = meta_text(r, SLOT_meta_v1_OwnerReference_uid),
            .controller = tristate_of(value_slot(r, SLOT_meta_v1_OwnerReference_controller)),
            .block_owner_deletion = tristate_of(value_slot(r, SLOT_meta_v1_OwnerReference_blockOwnerDeletion)),
        };
    }
    to->owner_references = refs;
    to->n_owner_references = list->n;
}

static void read_managed_fields(struct arena *a, const struct value *list, struct object_meta *to)
{
    if (list->kind != VALUE_LIST)
        return;
    struct managed_fields_entry *entries = ARENA_NEW_N(a, struct managed_fields_entry, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *m = &list->items[i];
        entries[i] = (struct managed_fields_entry){
            .manager = meta_text(m, SLOT_meta_v1_ManagedFieldsEntry_manager),
            .operation = meta_text(m, SLOT_meta_v1_ManagedFieldsEntry_operation),
            .fields_type = meta_text(m, SLOT_meta_v1_ManagedFieldsEntry_fieldsType),
            .subresource = meta_text(m, SLOT_meta_v1_ManagedFieldsEntry_subresource),
        };
    }
    to->managed_fields = entries;
    to->n_managed_fields = list->n;
}

static struct strs strs_of(struct arena *a, const struct value *list)
{
    if (list->kind != VALUE_LIST)
        return (struct strs){ NULL, 0 };
    struct str *at = ARENA_NEW_N(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        at[i] = value_text(&list->items[i]);
    return (struct strs){ at, list->n };
}

static const struct value *metadata(const struct type *t, const struct value *v)
{
    int slot = schema_slot(t, STR("metadata"));
    return value_slot(v, slot < 0 ? UINT32_MAX : (unsigned)slot);
}

static struct object_meta read_meta(struct arena *a, const struct value *m)
{
    struct object_meta meta = {
        .name = meta_text(m, SLOT_meta_v1_ObjectMeta_name),
        .generate_name = meta_text(m, SLOT_meta_v1_ObjectMeta_generateName),
        .namespace = meta_text(m, SLOT_meta_v1_ObjectMeta_namespace),
        .generation = value_slot(m, SLOT_meta_v1_ObjectMeta_generation)->kind == VALUE_INT
                          ? value_slot(m, SLOT_meta_v1_ObjectMeta_generation)->i
                          : 0,
        .labels = labels_of(a, value_slot(m, SLOT_meta_v1_ObjectMeta_labels)),
        .annotations = labels_of(a, value_slot(m, SLOT_meta_v1_ObjectMeta_annotations)),
        .finalizers = strs_of(a, value_slot(m, SLOT_meta_v1_ObjectMeta_finalizers)),
    };
    read_owners(a, value_slot(m, SLOT_meta_v1_ObjectMeta_ownerReferences), &meta);
    read_managed_fields(a, value_slot(m, SLOT_meta_v1_ObjectMeta_managedFields), &meta);
    return meta;
}

void rules_check_kube_finalizer(struct str name, const struct field_path *at, struct field_errors *errs)
{
    static const char *const known[] = { "kubernetes", "orphan", "foregroundDeletion" };
    if (str_index(name, '/') < name.n)
        return;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_is(name, known[i]))
            return;
    field_invalid(errs, at, field_str(name), STR("name is neither a standard finalizer name nor is it fully qualified"));
}

static void check_finalizers(struct strs names, const struct field_path *at, struct field_errors *errs)
{
    for (size_t i = 0; i < names.n; i++) {
        struct field_path item = field_index(at, i);
        rules_check_kube_finalizer(names.at[i], &item, errs);
    }
}

static struct object_meta check_object_meta(const struct rules_context *c, const struct value *new, name_rule *name,
                                            struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "metadata");
    struct object_meta meta = read_meta(c->arena, metadata(c->type, new));
    validate_object_meta(&meta, c->namespaced, name, &at, errs);
    return meta;
}

void rules_check_generic_meta(const struct rules_context *c, const struct value *new, name_rule *name,
                              struct field_errors *errs)
{
    check_object_meta(c, new, name, errs);
}

void rules_check_meta(const struct rules_context *c, const struct value *new, name_rule *name, struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "metadata"), finalizers = field_child(&at, "finalizers");
    struct object_meta meta = check_object_meta(c, new, name ? name : name_is_dns_subdomain, errs);
    check_finalizers(meta.finalizers, &finalizers, errs);
}

static struct name_errors path_segment(struct str name, bool prefix)
{
    return prefix ? name_path_segment_prefix(name) : name_path_segment(name);
}

void rules_check_common_meta(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_object_meta(c, new, path_segment, errs);
}

static bool has_text(struct strs list, struct str text)
{
    for (size_t i = 0; i < list.n; i++)
        if (str_eq(list.at[i], text))
            return true;
    return false;
}

/* While an object is being deleted, nobody may begin to hold it. */
static void check_no_new_finalizers(struct arena *a, struct strs new, struct strs old, const struct field_path *at,
                                    struct field_errors *errs)
{
    struct strbuf list;
    strbuf_init(&list, STRBUF_NO_MAX);
    uint32_t n = 0;
    for (size_t i = 0; i < new.n; i++)
        if (!has_text(old, new.at[i])) {
            strbuf_add_text(&list, n++ ? ", " : "");
            strbuf_add_quoted(&list, new.at[i]);
        }
    if (n) {
        const char *detail = arena_printf(a, "no new finalizers can be added if the object is being deleted, found new "
                                          "finalizers []string{%.*s}", STR_ARG(strbuf_str(&list)));
        field_forbidden(errs, at, str_of(detail));
    }
    strbuf_fini(&list);
}

struct field_value rules_shown(struct arena *a, const struct field *f, const struct value *v)
{
    if (v->kind == VALUE_STRING && f->kind == KIND_STRING)
        return f->go_type ? field_enum(value_text(v)) : field_str(value_text(v));
    if (v->kind == VALUE_INT && f->kind != KIND_DURATION)
        return field_int(v->i);
    if (v->kind == VALUE_BOOL)
        return field_bool(v->b);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (v->kind == VALUE_ABSENT)
        STRBUF_ADD_LIT(&json, "null");
    else
        json_encode_field(&json, f, v);
    return field_json(field_take_text(a, &json));
}

void rules_check_immutable(const struct type *t, const struct value *new, const struct value *old,
                           const struct field_path *at, struct field_errors *errs)
{
    int slot = schema_slot(t, at->text);
    assert(slot >= 0);
    const struct value *is = value_slot(new, (unsigned)slot), *was = value_slot(old, (unsigned)slot);
    if (!value_equal(is, was))
        field_invalid(errs, at, rules_shown(errs->arena, &t->fields[slot], is), STR("field is immutable"));
}

static struct object_meta check_changed_meta(const struct rules_context *c, const struct value *new, const struct value *old,
                                             struct field_errors *errs)
{
    static const char *const fixed[] = { "name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                                         "deletionGracePeriodSeconds" };
    int slot = schema_slot(c->type, STR("metadata"));
    if (slot < 0)
        return (struct object_meta){ 0 };
    const struct type *meta_type = c->type->fields[slot].type;
    const struct value *is = metadata(c->type, new), *was = metadata(c->type, old);
    struct object_meta meta = read_meta(c->arena, is), before = read_meta(c->arena, was);
    struct field_path at = field_child(NULL, "metadata"), finalizers = field_child(&at, "finalizers");
    struct field_path version = field_child(&at, "resourceVersion"), generation = field_child(&at, "generation");
    struct field_path labels = field_child(&at, "labels"), annotations = field_child(&at, "annotations");
    struct field_path owners = field_child(&at, "ownerReferences"), managed = field_child(&at, "managedFields");
    if (value_slot(was, SLOT_meta_v1_ObjectMeta_deletionTimestamp)->kind == VALUE_TIME)
        check_no_new_finalizers(c->arena, meta.finalizers, before.finalizers, &finalizers, errs);
    if (meta_text(is, SLOT_meta_v1_ObjectMeta_resourceVersion).n == 0)
        field_invalid(errs, &version, field_str(STR("")), STR("must be specified for an update"));
    if (meta.generation < before.generation)
        field_invalid(errs, &generation, field_int(meta.generation), STR("must not be decremented"));
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        struct field_path path = field_child(&at, fixed[i]);
        rules_check_immutable(meta_type, is, was, &path, errs);
    }
    validate_labels(meta.labels, &labels, errs);
    validate_annotations(meta.annotations, &annotations, errs);
    validate_owner_references(meta.owner_references, meta.n_owner_references, &owners, errs);
    validate_managed_fields(meta.managed_fields, meta.n_managed_fields, &managed, errs);
    return meta;
}

void rules_check_generic_meta_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    check_changed_meta(c, new, old, errs);
}

void rules_check_meta_update(const struct rules_context *c, const struct value *new, const struct value *old,
                             struct field_errors *errs)
{
    struct field_path at = field_child(NULL, "metadata"), finalizers = field_child(&at, "finalizers");
    struct object_meta meta = check_changed_meta(c, new, old, errs);
    check_finalizers(meta.finalizers, &finalizers, errs);
}
