/* Rules of services, networks, storage, access, devices, flow control and registration: what a recording of the real server
 * (test_rules_golden.c) cannot show. Kinds are as upstream's strategies say, objects that are empty, full or full of nonsense
 * are survived, and so are long ones. */
#include "api/defaults.h"
#include "api/edit.h"
#include "rules/rules.h"
#include "rules/service.h"
#include "tests/test.h"

/* ---- Kinds ---- */

#define NONE GENERATION_NEVER
#define SPEC GENERATION_SPEC
#define CREATES RULES_CREATE_ON_UPDATE
#define VERSION RULES_NEEDS_VERSION
#define RETURNS RULES_RETURNS_DELETED

static const struct {
    const char *type;
    unsigned flags;
    enum generation_rule generation;
    const char *sub; /* or NULL; certificate requests have one more */
} kinds[] = {
    { "core/v1.Service", CREATES | RETURNS, NONE, "status" },
    { "core/v1.Endpoints", CREATES, NONE, NULL },
    { "discovery.k8s.io/v1.EndpointSlice", 0, GENERATION_LABELS, NULL },
    { "networking.k8s.io/v1.Ingress", 0, SPEC, "status" },
    { "networking.k8s.io/v1.IngressClass", 0, SPEC, NULL },
    { "networking.k8s.io/v1.NetworkPolicy", 0, SPEC, NULL },
    { "networking.k8s.io/v1.IPAddress", 0, NONE, NULL },
    { "networking.k8s.io/v1.ServiceCIDR", 0, NONE, "status" },
    { "core/v1.PersistentVolume", RETURNS, NONE, "status" },
    { "core/v1.PersistentVolumeClaim", RETURNS, NONE, "status" },
    { "storage.k8s.io/v1.StorageClass", RETURNS, NONE, NULL },
    { "storage.k8s.io/v1.VolumeAttributesClass", RETURNS, NONE, NULL },
    { "storage.k8s.io/v1.CSIDriver", VERSION | RETURNS, GENERATION_CHANGES, NULL },
    { "storage.k8s.io/v1.CSINode", VERSION | RETURNS, NONE, NULL },
    { "storage.k8s.io/v1.CSIStorageCapacity", VERSION, NONE, NULL },
    { "storage.k8s.io/v1.VolumeAttachment", VERSION | RETURNS, NONE, "status" },
    { "rbac.authorization.k8s.io/v1.Role", CREATES, NONE, NULL },
    { "rbac.authorization.k8s.io/v1.ClusterRole", CREATES, NONE, NULL },
    { "rbac.authorization.k8s.io/v1.RoleBinding", CREATES, NONE, NULL },
    { "rbac.authorization.k8s.io/v1.ClusterRoleBinding", CREATES, NONE, NULL },
    { "scheduling.k8s.io/v1.PriorityClass", 0, GENERATION_FIRST, NULL },
    { "node.k8s.io/v1.RuntimeClass", CREATES | VERSION, NONE, NULL },
    { "certificates.k8s.io/v1.CertificateSigningRequest", 0, NONE, "approval" },
    { "resource.k8s.io/v1.ResourceClaim", RETURNS, NONE, "status" },
    { "resource.k8s.io/v1.ResourceClaimTemplate", RETURNS, NONE, NULL },
    { "resource.k8s.io/v1.ResourceSlice", RETURNS, SPEC, NULL },
    { "resource.k8s.io/v1.DeviceClass", RETURNS, SPEC, NULL },
    { "flowcontrol.apiserver.k8s.io/v1.FlowSchema", 0, SPEC, "status" },
    { "flowcontrol.apiserver.k8s.io/v1.PriorityLevelConfiguration", 0, SPEC, "status" },
    { "admissionregistration.k8s.io/v1.ValidatingWebhookConfiguration", VERSION, SPEC, NULL },
    { "admissionregistration.k8s.io/v1.MutatingWebhookConfiguration", VERSION, SPEC, NULL },
    { "admissionregistration.k8s.io/v1.ValidatingAdmissionPolicy", VERSION, SPEC, "status" },
    { "admissionregistration.k8s.io/v1.ValidatingAdmissionPolicyBinding", VERSION, SPEC, NULL },
    { "admissionregistration.k8s.io/v1.MutatingAdmissionPolicy", VERSION, SPEC, NULL },
    { "admissionregistration.k8s.io/v1.MutatingAdmissionPolicyBinding", VERSION, SPEC, NULL },
    { "apiextensions.k8s.io/v1.CustomResourceDefinition", VERSION, SPEC, "status" },
    { "apiregistration.k8s.io/v1.APIService", VERSION, NONE, "status" },
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

TEST(kinds_are_as_upstream_strategies_have_them)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const struct type *t = schema_type(str_of(kinds[i].type));
        const struct kind_rules *k = t ? rules_of(t) : NULL;
        if (!k)
            FAIL("no rules for %s", kinds[i].type);
        if (k->flags != kinds[i].flags || k->generation != kinds[i].generation)
            FAIL("%s: flags %u, generation %d", kinds[i].type, k->flags, (int)k->generation);
        if (kinds[i].sub ? !rules_sub(k, str_of(kinds[i].sub)) : k->subs != NULL)
            FAIL("%s: %s", kinds[i].type, kinds[i].sub ? kinds[i].sub : "has a subresource");
        CHECK(k->validate_create && k->validate_update);
        bool has_status = schema_slot(t, STR("status")) >= 0;
        CHECK(has_status == (k->reset_fields != NULL));
    }
}

/* ---- Objects ---- */

struct world {
    struct arena arena;
    struct warnings warnings;
    struct rules_context context;
};

static const struct user somebody = { .name = { "u", 1 } };
static const struct rules_settings settings = { .allow_privileged = true };

static void world_init(struct world *w, const char *type)
{
    arena_init(&w->arena);
    w->warnings = (struct warnings){ .arena = &w->arena };
    w->context = (struct rules_context){ .arena = &w->arena, .type = schema_type(str_of(type)), .now_s = 1800000000,
                                         .user = &somebody, .settings = &settings, .warnings = &w->warnings };
    CHECK(w->context.type != NULL);
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == w->context.type)
            w->context.namespaced = schema_resources[i].namespaced;
}

/* How the slots of an object are filled. */
struct filling {
    const char *text;
    int64_t number;
    bool yes;
    int depth_max;
};

static struct value filled_struct(struct arena *a, const struct type *t, const struct filling *f, int depth);

static struct value filled_one(struct arena *a, const struct field *field, const struct filling *f, int depth)
{
    switch ((enum field_kind)field->kind) {
    case KIND_BOOL:
        return value_bool(f->yes);
    case KIND_INT32:
    case KIND_INT64:
    case KIND_UINT32:
    case KIND_DURATION:
        return value_int(f->number);
    case KIND_INT_OR_STRING:
        return f->yes ? value_int(f->number) : edit_text(f->text);
    case KIND_DOUBLE:
    case KIND_FLOAT:
        return value_double(0.5);
    case KIND_QUANTITY:
        return edit_text(f->number < 0 ? "-1" : "1");
    case KIND_BYTES:
        return value_bytes(str_of(f->text));
    case KIND_TIME:
    case KIND_MICRO_TIME:
        return value_time(1700000000, 0);
    case KIND_RAW:
    case KIND_JSON:
    case KIND_FIELDS_V1:
        return value_raw(STR("{}"));
    case KIND_STRUCT:
        return filled_struct(a, field->type, f, depth + 1);
    case KIND_STRING:
        break;
    }
    return edit_text(f->text);
}

static struct value filled_field(struct arena *a, const struct field *field, const struct filling *f, int depth)
{
    const struct value none = { .kind = VALUE_ABSENT };
    if (field->kind == KIND_STRUCT && (depth >= f->depth_max || field->type->flags & (TYPE_WRAPPER | TYPE_BY_SHAPE)))
        return none;
    struct value one = filled_one(a, field, f, depth);
    if (field->shape == SHAPE_ONE)
        return one;
    if (field->shape == SHAPE_MAP)
        return edit_member(a, &none, str_of(f->text), one);
    struct value list = edit_append(a, &none, one);
    return edit_append(a, &list, one);
}

static struct value filled_struct(struct arena *a, const struct type *t, const struct filling *f, int depth)
{
    struct value v = value_struct(a, t);
    for (unsigned i = 0; i < t->n_fields; i++)
        v.slots[i] = filled_field(a, &t->fields[i], f, depth);
    return v;
}

/* All that a server could ask the rules about the two objects. */
static void ask_everything(struct world *w, const struct value *new, const struct value *old)
{
    const struct rules_context *c = &w->context;
    const struct kind_rules *k = rules_of(c->type);
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct value prepared = k->prepare_create ? k->prepare_create(c, new) : *new;
    k->validate_create(c, &prepared, &errs);
    prepared = k->prepare_update ? k->prepare_update(c, new, old) : *new;
    k->validate_update(c, &prepared, old, &errs);
    if (k->warn) {
        k->warn(c, new, NULL);
        k->warn(c, new, old);
    }
    for (const struct sub_rules *s = k->subs; s && s->name; s++) {
        prepared = s->prepare_update(c, new, old);
        s->validate_update(c, &prepared, old, &errs);
        if (s->warn)
            s->warn(c, &prepared, old);
    }
    CHECK(errs.n > 0); /* nothing of this is an object that one could want */
}

TEST(empty_and_full_objects_are_survived)
{
    static const struct filling fillings[] = {
        { "x", 1, true, 8 }, { "", 0, false, 8 }, { "A_ \n\xff*/", -1, false, 8 }, { "*", INT32_MAX, true, 3 },
        { "None", 80, true, 8 }, { "10.0.0.1", 1, true, 8 }, { "fd00::1/64", 1, false, 5 },
    };
    for (size_t i = 0; i < N_KINDS; i++)
        for (size_t n = 0; n < sizeof(fillings) / sizeof(fillings[0]); n++) {
            struct world w;
            world_init(&w, kinds[i].type);
            struct value empty = value_struct(&w.arena, w.context.type);
            struct value full = filled_struct(&w.arena, w.context.type, &fillings[n], 0);
            struct value defaulted = defaults_apply(&w.arena, w.context.type, &full);
            ask_everything(&w, &full, &empty);
            ask_everything(&w, &empty, &full);
            ask_everything(&w, &defaulted, &full);
            arena_fini(&w.arena);
        }
}

/* ---- Long objects ---- */

enum { LONG = 20000 };

/* A list of the field, as long as a request can make it. */
static struct value with_long_list(struct world *w, const struct value *v, const char *path, struct value item)
{
    struct value *items = ARENA_NEW_N(&w->arena, struct value, LONG);
    for (uint32_t i = 0; i < LONG; i++)
        items[i] = item;
    return edit_set(&w->arena, w->context.type, v, path, value_list(items, LONG));
}

TEST(long_lists_take_no_long_time)
{
    static const struct {
        const char *what, *type, *path, *item; /* item: the type of a struct, or NULL for a text */
    } rows[] = {
        { "ports of a service", "core/v1.Service", "spec.ports", "core/v1.ServicePort" },
        { "addresses of a service", "core/v1.Service", "spec.externalIPs", NULL },
        { "families", "core/v1.Service", "spec.ipFamilies", NULL },
        { "ranges of a load balancer", "core/v1.Service", "spec.loadBalancerSourceRanges", NULL },
        { "ports of a slice", "discovery.k8s.io/v1.EndpointSlice", "ports", "discovery.k8s.io/v1.EndpointPort" },
        { "drivers of a node", "storage.k8s.io/v1.CSINode", "spec.drivers", "storage.k8s.io/v1.CSINodeDriver" },
        { "topologies", "storage.k8s.io/v1.StorageClass", "allowedTopologies", "core/v1.TopologySelectorTerm" },
        { "conditions", "certificates.k8s.io/v1.CertificateSigningRequest", "status.conditions",
          "certificates.k8s.io/v1.CertificateSigningRequestCondition" },
        { "usages", "certificates.k8s.io/v1.CertificateSigningRequest", "spec.usages", NULL },
        { "versions", "apiextensions.k8s.io/v1.CustomResourceDefinition", "spec.versions",
          "apiextensions.k8s.io/v1.CustomResourceDefinitionVersion" },
        { "webhooks", "admissionregistration.k8s.io/v1.MutatingWebhookConfiguration", "webhooks",
          "admissionregistration.k8s.io/v1.MutatingWebhook" },
        { "devices", "resource.k8s.io/v1.ResourceSlice", "spec.devices", "resource.k8s.io/v1.Device" },
        { "requests", "resource.k8s.io/v1.ResourceClaim", "spec.devices.requests", "resource.k8s.io/v1.DeviceRequest" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        world_init(&w, rows[i].type);
        struct value empty = value_struct(&w.arena, w.context.type), item = edit_text("01.2.3.4");
        if (rows[i].item)
            item = value_struct(&w.arena, schema_type(str_of(rows[i].item)));
        struct value full = with_long_list(&w, &empty, rows[i].path, item);
        double begin_s = test_cpu_seconds();
        ask_everything(&w, &full, &full);
        double taken_s = test_cpu_seconds() - begin_s;
        if (taken_s > 5)
            FAIL("%s: %.1f CPU s", rows[i].what, taken_s);
        arena_fini(&w.arena);
    }
}

/* ---- Services before their rules ---- */

static struct str families_of(struct world *w, const struct value *service)
{
    const struct value *list = value_path(w->context.type, service, "spec.ipFamilies");
    struct str policy = value_text(value_path(w->context.type, service, "spec.ipFamilyPolicy"));
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_str(&text, policy);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        strbuf_printf(&text, " %.*s", STR_ARG(value_text(&list->items[i])));
    return field_take_text(&w->arena, &text);
}

TEST(services_get_families_once)
{
    static const struct {
        const char *what, *address, *selector, *policy, *want;
    } rows[] = {
        { "a plain one", NULL, "a", NULL, "SingleStack IPv4" },
        { "headless with a selector", "None", "a", NULL, "SingleStack IPv4" },
        { "headless without a selector", "None", NULL, NULL, "RequireDualStack IPv4 IPv6" },
        { "headless without a selector, of one family", "None", NULL, "SingleStack", "SingleStack IPv4" },
        { "two families would be nice", NULL, "a", "PreferDualStack", "PreferDualStack IPv4" },
        { "an address", "10.0.0.7", "a", NULL, "SingleStack IPv4" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        world_init(&w, "core/v1.Service");
        const struct type *t = w.context.type;
        struct value s = value_struct(&w.arena, t), none = { .kind = VALUE_ABSENT };
        struct field_errors errs;
        field_errors_init(&errs, &w.arena);
        s = edit_set(&w.arena, t, &s, "spec.type", edit_text("ClusterIP"));
        if (rows[i].address)
            s = edit_set(&w.arena, t, &s, "spec.clusterIP", edit_text(rows[i].address));
        if (rows[i].selector)
            s = edit_set(&w.arena, t, &s, "spec.selector",
                         edit_member(&w.arena, &none, str_of(rows[i].selector), edit_text("b")));
        if (rows[i].policy)
            s = edit_set(&w.arena, t, &s, "spec.ipFamilyPolicy", edit_text(rows[i].policy));
        struct value begun = service_begin(&w.context, &s, NULL, &errs);
        struct value again = service_begin(&w.context, &begun, NULL, &errs);
        CHECK(errs.n == 0);
        struct str got = families_of(&w, &begun);
        if (!str_is(got, rows[i].want) || !value_equal(&begun, &again))
            FAIL("%s: %.*s", rows[i].what, STR_ARG(got));
        arena_fini(&w.arena);
    }
}
