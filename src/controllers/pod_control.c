/* controllers/pod_control.c - see pod_control.h. */
#include "controllers/pod_control.h"

#include <stdlib.h>

#include "api/names.h"
#include "api/schema_slots.h"
#include "codec/json.h"

/* ---- Pods from templates ---- */

struct str pods_prefix(struct arena *a, struct str owner_name)
{
    /* With the dash it may be no beginning of a name any more. */
    struct str prefix = str_of(arena_printf(a, "%.*s-", STR_ARG(owner_name)));
    return name_is_dns_subdomain(prefix, true).n == 0 ? prefix : owner_name;
}

struct value controller_reference(struct arena *a, const struct object_reference *owner)
{
    struct value ref = value_struct(a, &schema_types[T_meta_v1_OwnerReference]);
    ref.slots[SLOT_meta_v1_OwnerReference_apiVersion] = value_string(owner->api_version);
    ref.slots[SLOT_meta_v1_OwnerReference_kind] = value_string(owner->kind);
    ref.slots[SLOT_meta_v1_OwnerReference_name] = value_string(owner->name);
    ref.slots[SLOT_meta_v1_OwnerReference_uid] = value_string(owner->uid);
    ref.slots[SLOT_meta_v1_OwnerReference_controller] = value_bool(true);
    ref.slots[SLOT_meta_v1_OwnerReference_blockOwnerDeletion] = value_bool(true);
    return ref;
}

struct value pod_from_template(struct arena *a, const struct value *template, const struct object_reference *owner)
{
    static const unsigned taken[] = { SLOT_meta_v1_ObjectMeta_labels, SLOT_meta_v1_ObjectMeta_annotations,
                                      SLOT_meta_v1_ObjectMeta_finalizers };
    const struct value *from = value_slot(template, SLOT_core_v1_PodTemplateSpec_metadata);
    struct value meta = value_struct(a, &schema_types[T_meta_v1_ObjectMeta]);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        meta.slots[taken[i]] = *value_slot(from, taken[i]);
    struct value *ref = ARENA_NEW(a, struct value);
    *ref = controller_reference(a, owner);
    meta.slots[SLOT_meta_v1_ObjectMeta_generateName] = value_string(pods_prefix(a, owner->name));
    meta.slots[SLOT_meta_v1_ObjectMeta_namespace] = value_string(owner->ns);
    meta.slots[SLOT_meta_v1_ObjectMeta_ownerReferences] = value_list(ref, 1);
    struct value pod = value_struct(a, &schema_types[T_core_v1_Pod]);
    pod.slots[SLOT_KIND] = value_string(STR("Pod"));
    pod.slots[SLOT_API_VERSION] = value_string(STR("v1"));
    pod.slots[SLOT_core_v1_Pod_metadata] = meta;
    pod.slots[SLOT_core_v1_Pod_spec] = *value_slot(template, SLOT_core_v1_PodTemplateSpec_spec);
    return pod;
}

/* ---- Calls ---- */

/* One call, with what its Events are about. */
struct step {
    struct pod_control control;
    pod_control_done *done;
    void *context;
    struct arena arena;
    struct object_reference owner;
    struct str pod_name;
};

static struct step *step_new(const struct pod_control *c, const struct object_reference *owner, pod_control_done *done,
                             void *context)
{
    struct step *s = mem_zalloc(sizeof(*s));
    s->control = *c;
    s->done = done;
    s->context = context;
    arena_init_small(&s->arena);
    s->owner = (struct object_reference){
        .kind = arena_str(&s->arena, owner->kind),
        .ns = arena_str(&s->arena, owner->ns),
        .name = arena_str(&s->arena, owner->name),
        .uid = arena_str(&s->arena, owner->uid),
        .api_version = arena_str(&s->arena, owner->api_version),
        .resource_version = arena_str(&s->arena, owner->resource_version),
    };
    return s;
}

static void step_end(struct step *s, const struct pod_outcome *o)
{
    s->done(s->context, o);
    arena_fini(&s->arena);
    free(s);
}

static void tell(struct step *s, const char *type, const char *reason, const char *what, struct str about)
{
    events_record(s->control.events, s->control.controller, &s->owner, type, reason, "%s: %.*s", what, STR_ARG(about));
}

static void begin(struct step *s, struct cluster_call call)
{
    call.controller = s->control.controller;
    call.context = s;
    call.namespace = s->owner.ns;
    cluster_begin(s->control.cluster, &call);
}

static void created(void *context, const struct cluster_outcome *o)
{
    struct step *s = context;
    struct pod_outcome outcome = { .code = o->code, .message = o->message, .namespace_ends = o->namespace_ends };
    struct str namespace;
    if (o->item)
        stored_read_key(stored_resource("pods", ""), store_item_key(o->item), &namespace, &outcome.name);
    if (!o->code)
        tell(s, "Normal", "SuccessfulCreate", "Created pod", outcome.name);
    else if (!o->namespace_ends)
        tell(s, "Warning", "FailedCreate", "Error creating", str_of(o->message));
    step_end(s, &outcome);
}

void pod_control_create(const struct pod_control *c, const struct object_reference *owner, const struct value *pod,
                        pod_control_done *done, void *context)
{
    begin(step_new(c, owner, done, context),
          (struct cluster_call){ .verb = CLUSTER_CREATE, .resource = stored_resource("pods", ""), .object = pod,
                                 .answered = created });
}

static void deleted(void *context, const struct cluster_outcome *o)
{
    struct step *s = context;
    if (!o->code)
        tell(s, "Normal", "SuccessfulDelete", "Deleted pod", s->pod_name);
    else if (o->code != ERR_NOT_FOUND)
        tell(s, "Warning", "FailedDelete", "Error deleting", str_of(o->message));
    step_end(s, &(struct pod_outcome){ .code = o->code, .message = o->message });
}

void pod_control_delete(const struct pod_control *c, const struct object_reference *owner, struct str pod_name, struct str uid,
                        pod_control_done *done, void *context)
{
    struct step *s = step_new(c, owner, done, context);
    s->pod_name = arena_str(&s->arena, pod_name);
    begin(s, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = stored_resource("pods", ""), .name = s->pod_name,
                                    .uid = uid, .answered = deleted });
}

/* ---- Claims ---- */

enum claim_decision claim_decide(struct str owner_uid, bool owner_is_deleted, struct str its_owner_uid, bool its_deleted,
                                 bool matches)
{
    if (its_owner_uid.n) {
        if (!str_eq(its_owner_uid, owner_uid))
            return CLAIM_IGNORE;
        if (matches)
            return CLAIM_OWNED;
        return owner_is_deleted ? CLAIM_IGNORE : CLAIM_RELEASE;
    }
    return owner_is_deleted || !matches || its_deleted ? CLAIM_IGNORE : CLAIM_ADOPT;
}

static void add_finalizers(struct strbuf *json, const struct strs *finalizers, const char *field)
{
    if (!finalizers || !finalizers->n)
        return;
    strbuf_printf(json, ",\"%s\":[", field);
    for (size_t i = 0; i < finalizers->n; i++) {
        strbuf_add_text(json, i ? "," : "");
        json_add_string(json, finalizers->at[i]);
    }
    strbuf_add_char(json, ']');
}

static void patched(void *context, const struct cluster_outcome *o)
{
    step_end(context, &(struct pod_outcome){ .code = o->code, .message = o->message });
}

/* 404: it is gone. 422: another one has its name, or it has no owner: in either case it is not ours any more. */
static void released(void *context, const struct cluster_outcome *o)
{
    bool fine = o->code == ERR_NOT_FOUND || o->code == ERR_INVALID;
    step_end(context, &(struct pod_outcome){ .code = fine ? ERR_OK : o->code, .message = o->message });
}

static void begin_patch(struct step *s, const struct claim *claim, struct strbuf *json,
                        void (*answered)(void *context, const struct cluster_outcome *o))
{
    begin(s, (struct cluster_call){ .verb = CLUSTER_PATCH_STRATEGIC, .resource = claim->resource, .name = claim->name,
                                    .patch = strbuf_str(json), .answered = answered });
    strbuf_fini(json);
}

/* The uid in the patch lets it fail on another object of that name. */
static void begin_json(struct strbuf *json, const struct claim *claim)
{
    strbuf_init(json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(json, "{\"metadata\":{\"uid\":");
    json_add_string(json, claim->uid);
    STRBUF_ADD_LIT(json, ",\"ownerReferences\":[");
}

void pod_control_adopt(const struct pod_control *c, const struct object_reference *owner, const struct claim *claim,
                       pod_control_done *done, void *context)
{
    struct step *s = step_new(c, owner, done, context);
    struct value ref = controller_reference(&s->arena, owner);
    struct strbuf json;
    begin_json(&json, claim);
    json_encode(&json, &schema_types[T_meta_v1_OwnerReference], &ref);
    STRBUF_ADD_LIT(&json, "]");
    add_finalizers(&json, claim->finalizers, "finalizers");
    STRBUF_ADD_LIT(&json, "}}");
    begin_patch(s, claim, &json, patched);
}

void pod_control_release(const struct pod_control *c, const struct object_reference *owner, const struct claim *claim,
                         pod_control_done *done, void *context)
{
    struct step *s = step_new(c, owner, done, context);
    struct strbuf json;
    begin_json(&json, claim);
    STRBUF_ADD_LIT(&json, "{\"$patch\":\"delete\",\"uid\":");
    json_add_string(&json, owner->uid);
    STRBUF_ADD_LIT(&json, "}]");
    add_finalizers(&json, claim->finalizers, "$deleteFromPrimitiveList/finalizers");
    STRBUF_ADD_LIT(&json, "}}");
    begin_patch(s, claim, &json, released);
}

/* ---- Slow start ---- */

/* Calls may end from within `begin` only later, but then the batch is complete. */
static void begin_batch(struct slow_start *s)
{
    uint32_t left = s->n - s->n_begun, wanted = s->n_batch ? 2 * s->n_batch : 1;
    s->n_batch = s->n_out = left < wanted ? left : wanted;
    for (uint32_t i = 0, n = s->n_batch; i < n; i++)
        s->begin(s, s->n_begun++);
}

void slow_start_run(struct slow_start *s)
{
    if (s->n)
        begin_batch(s);
    else
        s->done(s);
}

void slow_start_ended(struct slow_start *s, bool fine)
{
    s->n_fine += fine;
    s->failed |= !fine;
    if (--s->n_out)
        return;
    if (s->failed || s->n_begun == s->n)
        s->done(s);
    else
        begin_batch(s);
}
