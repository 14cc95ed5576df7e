/* apiserver/write.c - new and changed objects: from a body to what is stored. Upstream: endpoints/handlers/{create,update}.go,
 * registry/rest/{create,update,meta}.go, registry/generic/registry/store.go. */
#include <assert.h>

#include "api/defaults.h"
#include "api/edit.h"
#include "api/generate_name.h"
#include "apiserver/rbac_escalation.h"
#include "apiserver/registry_priv.h"
#include "http/digest.h"

#define BE_DELETED "object is being deleted: "
enum {
    MADE_NAMES_MAX = 8, /* as upstream */
    UID_BYTES = 16,
    UID_TEXT_BYTES = 2 * UID_BYTES + 4,
};

#define MODIFIED "the object has been modified; please apply your changes to the latest version and try again"

static const struct value absent;

/* ---- Bodies ---- */

/* "apps/v1.Deployment" in its parts. */
static struct gvk gvk_of(const struct type *t)
{
    size_t slash = str_index(t->name, '/');
    struct str group = str_first(t->name, slash), version = str_from(t->name, slash + 1);
    version = str_first(version, str_index(version, '.'));
    return (struct gvk){ str_is(group, "core") ? STR("") : group, version, t->kind };
}

enum err_code registry_decode(struct operation *op, const struct type *t, struct value *ret_value)
{
    if (op->object) {
        *ret_value = *op->object;
        return ERR_OK;
    }
    struct gvk endpoint = gvk_of(t);
    struct work work = work_init(REQUEST_BYTES_MAX);
    struct findings findings = { 0 };
    struct object o;
    if (object_decode(op->arena, &work, op->media, op->body, endpoint, op->write.field_validation, &findings, &o,
                      &op->err))
        return op->err.code;
    if (op->write.field_validation == VALIDATION_WARN)
        for (unsigned i = 0; i < findings.n; i++)
            warnings_add(&op->warnings, "%s", findings.texts[i]);
    *ret_value = o.value;
    return ERR_OK;
}

/* The manager is who is named, or what the User-Agent begins with. */
struct apply_manager registry_manager(struct operation *op)
{
    struct str name = op->write.field_manager;
    if (name.n == 0) {
        name = str_first(op->user_agent, str_index(op->user_agent, '/'));
        name = str_first(name, FIELD_MANAGER_BYTES_MAX);
    }
    if (name.n == 0)
        name = STR("unknown");
    const struct resource *r = op->resource;
    const struct kind_rules *k = registry_kind_rules(op);
    const struct sub_rules *sub = op->subresource ? rules_sub(k, str_of(op->subresource->name)) : NULL;
    const char *version = arena_printf(op->arena, "%.*s%s%.*s", STR_ARG(r->group), r->group.n ? "/" : "",
                                       STR_ARG(r->version));
    return (struct apply_manager){ .name = name, .api_version = str_of(version),
                                   .subresource = op->subresource ? str_of(op->subresource->name) : STR(""),
                                   .now_s = registry_now_s(op),
                                   .reset_fields = sub ? sub->reset_fields : k->reset_fields };
}

enum err_code registry_note(struct operation *op, const struct value *live, const struct value *new,
                            const struct apply_manager *m, struct value *ret_value)
{
    const struct type *served = op->resource->type;
    const struct kind_rules *k = registry_kind_rules(op);
    struct value v = *new;
    if (served != registry_type(op)) {
        struct value stored;
        if (registry_to_stored(op, &v, &stored))
            return op->err.code;
        v = registry_from_stored(op, &stored);
    }
    struct rules_context c = registry_rules(op, served);
    if (k->converted)
        v = k->converted(&c, &v);
    struct value noted = apply_note_update(op->arena, served, live, &v, m);
    *ret_value = meta_set(op->arena, served, new, "managedFields", *meta_get(served, &noted, "managedFields"));
    return ERR_OK;
}

/* The namespace of the object is that of the request. */
enum err_code registry_settle_namespace(struct operation *op, struct value *v)
{
    const struct type *t = op->resource->type;
    struct str given = meta_text(t, v, "namespace"), asked = op->resource->namespaced ? op->namespace : STR("");
    if (str_eq(given, asked))
        return ERR_OK;
    if (given.n && asked.n)
        return err_set(&op->err, ERR_BAD_REQUEST,
                       "the namespace of the provided object does not match the namespace sent on the request");
    *v = meta_set(op->arena, t, v, "namespace", asked.n ? value_string(asked) : absent);
    return ERR_OK;
}

enum err_code registry_check_named(struct operation *op, struct str name)
{
    if (name.n == 0)
        return err_set(&op->err, ERR_BAD_REQUEST,
                       "the name of the object (%.*s based on URL) was undeterminable: name must be provided",
                       STR_ARG(op->name));
    if (!str_eq(name, op->name))
        return err_set(&op->err, ERR_BAD_REQUEST,
                       "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                       STR_ARG(err_shown(&op->err, name)), STR_ARG(op->name));
    return ERR_OK;
}

enum err_code registry_check_name(struct operation *op, const struct value *v)
{
    return registry_check_named(op, meta_text(op->resource->type, v, "name"));
}

/* ---- New objects ---- */

const char *registry_new_uid(struct operation *op)
{
    uint8_t b[DIGEST_BYTES];
    digest_new_key(b);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(op->arena, UID_TEXT_BYTES + 1), *to = text;
    for (int i = 0; i < UID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[b[i] >> 4];
        *to++ = digits[b[i] & 0xf];
    }
    *to = 0;
    return text;
}

/* Kinds that do not count leave what the client says. */
static bool counts_from_one(const struct kind_rules *k)
{
    return k->generation != GENERATION_NEVER && k->generation != GENERATION_CHANGES;
}

static void wipe_system_fields(struct operation *op, const struct type *t, struct value *v)
{
    static const char *const fields[] = { "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                                          "selfLink" };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (meta_get(t, v, fields[i])->kind != VALUE_ABSENT)
            *v = meta_set(op->arena, t, v, fields[i], absent);
}

/* One that nobody has, if some tries find it. */
static const char *make_name(struct operation *op, struct str base)
{
    const char *name = NULL;
    for (int i = 0; i < MADE_NAMES_MAX; i++) {
        name = name_generate(op->arena, base, (uint32_t)rand_below(&op->server->rand, NAME_SUFFIXES));
        struct str key = stored_key(op->arena, op->resource, op->namespace, str_of(name));
        if (!store_get(op->server->o.store, key))
            break;
    }
    return name;
}

static void set_system_fields(struct operation *op, const struct kind_rules *k, struct value *v)
{
    const struct type *t = registry_type(op);
    struct arena *a = op->arena;
    *v = meta_set(a, t, v, "uid", edit_text(registry_new_uid(op)));
    *v = meta_set(a, t, v, "creationTimestamp", value_time(registry_now_s(op), 0));
    if (counts_from_one(k))
        *v = meta_set(a, t, v, "generation", value_int(1));
    struct str base = meta_text(t, v, "generateName");
    if (base.n && meta_text(t, v, "name").n == 0)
        *v = meta_set(a, t, v, "name", edit_text(make_name(op, base)));
}

static enum err_code check_new(struct operation *op, const struct kind_rules *k, const struct rules_context *c,
                               const struct value *v)
{
    struct str name = meta_text(c->type, v, "name");
    if (k->validate_create)
        k->validate_create(c, v, &op->errs);
    else
        rules_check_meta(c, v, k->name, &op->errs);
    if (op->errs.n == 0)
        rules_check_common_meta(c, v, &op->errs);
    if (op->errs.n)
        return registry_invalid(op, name);
    if (k->warn)
        k->warn(c, v, NULL);
    return ERR_OK;
}

static enum err_code refuse_existing(struct operation *op, const struct type *t, const struct value *there, bool made_name)
{
    registry_not_found(op); /* names the resource */
    bool going = there && meta_get(t, there, "deletionTimestamp")->kind == VALUE_TIME;
    op->retry_after_s = made_name ? 1 : 0;
    return err_set(&op->err, ERR_ALREADY_EXISTS, "%s%s \"%.*s\" already exists%s", going ? BE_DELETED : "", op->err.kind,
                   STR_ARG(op->name),
                   made_name ? ", the server was not able to generate a unique name for the object" : "");
}

/* Nobody grants what they do not hold. */
static enum err_code check_grants(struct operation *op, const struct value *v, const struct value *old)
{
    if (!op->server->o.authz)
        return ERR_OK;
    struct rbac_write w = { .user = op->user, .resource = op->resource, .namespace = op->namespace,
                            .name = old ? op->name : STR(""), .object = v, .old = old };
    return api_authz_check_rbac_write(op->server->o.authz, op->arena, &w, &op->err);
}

enum err_code registry_store_new(struct operation *op, struct value v)
{
    const struct type *t = registry_type(op);
    const struct kind_rules *k = registry_kind_rules(op);
    struct rules_context c = registry_rules(op, t);
    uint64_t version;
    if (registry_admit(op, ADMIT_CREATE, t, &v, NULL, false) || check_grants(op, &v, NULL))
        return op->err.code;
    if (meta_get(t, &v, "selfLink")->kind != VALUE_ABSENT)
        v = meta_set(op->arena, t, &v, "selfLink", absent);
    bool makes_name = meta_text(t, &v, "generateName").n > 0; /* upstream says so of a name that was given, too */
    set_system_fields(op, k, &v);
    if (is_service(op) && service_write_new(op, &v))
        return op->err.code;
    if (k->prepare_create)
        v = k->prepare_create(&c, &v);
    if (check_new(op, k, &c, &v))
        return op->err.code;
    op->name = meta_text(t, &v, "name");
    if (registry_admit(op, ADMIT_CREATE, t, &v, NULL, true))
        return op->err.code;
    if (!op->write.dry_run && parse_length(meta_text(t, &v, "resourceVersion"), &version) && version)
        return err_set(&op->err, ERR_UNKNOWN, "resourceVersion should not be set on objects to be created");
    const struct value *there = registry_current(op);
    if (op->server->o.default_accounts && str_is(op->resource->plural, "namespaces"))
        new_namespace_add(op);
    return there ? refuse_existing(op, t, there, makes_name) : registry_commit(op, &v);
}

/* As the client's own version of the kind: what it wrote belongs to it. */
static enum err_code begin_new(struct operation *op, struct value v)
{
    const struct type *served = op->resource->type;
    struct value stored;
    v = defaults_apply(op->arena, served, &v);
    struct apply_manager m = registry_manager(op);
    if (registry_note(op, NULL, &v, &m, &v) || registry_to_stored(op, &v, &stored))
        return op->err.code;
    return registry_store_new(op, stored);
}

static enum err_code attempt_create(struct operation *op)
{
    struct value v;
    if (registry_decode(op, op->resource->type, &v))
        return op->err.code;
    wipe_system_fields(op, op->resource->type, &v);
    op->name = meta_text(op->resource->type, &v, "name");
    if (registry_settle_namespace(op, &v))
        return op->err.code;
    return begin_new(op, v);
}

void registry_create(struct operation *op)
{
    if (!op->subresource || !subresource_create(op))
        registry_try(op, attempt_create);
}

/* ---- Changed objects ---- */

/* What an update cannot change, whatever the client sends. */
static struct value keep_system_fields(struct operation *op, const struct type *t, struct value v,
                                       const struct value *old)
{
    struct arena *a = op->arena;
    const struct value *created = meta_get(t, old, "creationTimestamp"), *deleted = meta_get(t, old, "deletionTimestamp");
    const struct value *grace = meta_get(t, old, "deletionGracePeriodSeconds");
    if (meta_get(t, &v, "selfLink")->kind != VALUE_ABSENT)
        v = meta_set(a, t, &v, "selfLink", absent);
    if (meta_text(t, &v, "uid").n == 0)
        v = meta_set(a, t, &v, "uid", *meta_get(t, old, "uid"));
    if (created->kind == VALUE_TIME)
        v = meta_set(a, t, &v, "creationTimestamp", *created);
    if (deleted->kind == VALUE_TIME)
        v = meta_set(a, t, &v, "deletionTimestamp", *deleted);
    if (grace->kind == VALUE_INT && meta_get(t, &v, "deletionGracePeriodSeconds")->kind == VALUE_ABSENT)
        v = meta_set(a, t, &v, "deletionGracePeriodSeconds", *grace);
    return v;
}

static bool is_status(const struct operation *op)
{
    return op->subresource && strcmp(op->subresource->name, "status") == 0;
}

static enum err_code check_version(struct operation *op, const struct kind_rules *k, const struct type *t,
                                   const struct value *v)
{
    struct str given = meta_text(t, v, "resourceVersion");
    uint64_t number = 0;
    if (given.n && !str_is(given, "0") && !parse_length(given, &number))
        return err_set(&op->err, ERR_UNKNOWN, "strconv.ParseUint: parsing \"%.*s\": invalid syntax",
                       STR_ARG(err_shown(&op->err, given)));
    if (number == 0 && !(k->flags & RULES_NEEDS_VERSION))
        return ERR_OK;
    if (number == 0) {
        struct field_path meta = field_child(NULL, "metadata"), at = field_child(&meta, "resourceVersion");
        field_invalid(&op->errs, &at, field_int(0), STR("must be specified for an update"));
        registry_not_found(op); /* here the kind is the resource */
        return status_invalid(op->err.kind, op->err.name, &op->errs, &op->err);
    }
    return number == op->current->mod_revision ? ERR_OK : registry_conflict(op, "%s", MODIFIED);
}

static enum err_code check_changed(struct operation *op, const struct kind_rules *k, const struct sub_rules *sub,
                                   const struct rules_context *c, const struct value *v, const struct value *old)
{
    rules_check_common_meta(c, v, &op->errs);
    rules_check_generic_meta_update(c, v, old, &op->errs);
    rules_validate_update *validate = sub ? sub->validate_update : k->validate_update;
    if (validate)
        validate(c, v, old, &op->errs);
    if (op->errs.n)
        return registry_invalid(op, meta_text(c->type, v, "name"));
    rules_warn *warn = sub ? sub->warn : k->warn;
    if (warn)
        warn(c, v, old);
    return ERR_OK;
}

/* Without finalizers an object that is being deleted goes, as soon as nobody needs more time. */
static bool goes_with_update(const struct operation *op, const struct type *t, const struct value *v,
                             const struct value *old)
{
    const struct value *grace = meta_get(t, old, "deletionGracePeriodSeconds");
    if (meta_get(t, v, "finalizers")->n || meta_get(t, old, "deletionTimestamp")->kind != VALUE_TIME)
        return false;
    if (str_is(op->resource->plural, "namespaces") && value_path(t, v, "spec.finalizers")->n)
        return false;
    return grace->kind != VALUE_INT || grace->i == 0;
}

enum err_code registry_store_changed(struct operation *op, const struct value *old, struct value v)
{
    const struct type *t = registry_type(op);
    const struct kind_rules *k = registry_kind_rules(op);
    const struct sub_rules *sub = op->subresource ? rules_sub(k, str_of(op->subresource->name)) : NULL;
    struct rules_context c = registry_rules(op, t);
    if (check_version(op, k, t, &v) || check_grants(op, &v, old))
        return op->err.code;
    v = meta_set(op->arena, t, &v, "resourceVersion", *meta_get(t, old, "resourceVersion"));
    v = meta_set(op->arena, t, &v, "generation", *meta_get(t, old, "generation"));
    if (is_service(op) && !op->subresource && service_write_changed(op, old, &v))
        return op->err.code;
    rules_prepare_update *prepare = sub ? sub->prepare_update : k->prepare_update;
    if (prepare)
        v = prepare(&c, &v, old);
    if (!is_status(op) && rules_raises_generation(&c, k->generation, &v, old)) {
        const struct value *was = meta_get(t, old, "generation");
        v = meta_set(op->arena, t, &v, "generation", value_int((was->kind == VALUE_INT ? was->i : 0) + 1));
    }
    v = keep_system_fields(op, t, v, old);
    if (check_changed(op, k, sub, &c, &v, old))
        return op->err.code;
    v = apply_keep_times(op->arena, t, old, &v);
    if (registry_admit(op, ADMIT_UPDATE, t, &v, old, true))
        return op->err.code;
    return goes_with_update(op, t, &v, old) ? registry_commit_removal(op, &v) : registry_commit(op, &v);
}

struct str registry_shown_key(const struct operation *op)
{
    static const char root[] = "/registry";
    return op->write.dry_run ? str_from(op->key, sizeof(root) - 1) : op->key;
}

static enum err_code check_uid(struct operation *op, const struct value *v, const struct value *old)
{
    struct str given = meta_text(op->resource->type, v, "uid");
    struct str is = old ? meta_text(registry_type(op), old, "uid") : STR("");
    if (given.n == 0 || str_eq(given, is))
        return ERR_OK;
    return registry_conflict(op, "StorageError: invalid object, Code: 4, Key: %.*s, ResourceVersion: 0, "
                             "AdditionalErrorMsg: Precondition failed: UID in precondition: %.*s, UID in object meta: %.*s",
                             STR_ARG(registry_shown_key(op)), STR_ARG(err_shown(&op->err, given)), STR_ARG(is));
}

bool registry_makes_absent(const struct operation *op)
{
    if (!op->subresource)
        return true;
    /* alone of all statuses that of these policies takes what is applied to nothing; a PUT is refused for want of the flag */
    bool makes = str_is(op->resource->plural, "validatingadmissionpolicies");
    return is_status(op) && (makes || (registry_kind_rules(op)->flags & RULES_CREATE_ON_UPDATE));
}

static enum err_code attempt_update(struct operation *op)
{
    const struct type *served = op->resource->type;
    const struct kind_rules *k = registry_kind_rules(op);
    struct value v, stored;
    if (registry_decode(op, served, &v) || registry_settle_namespace(op, &v) || registry_check_name(op, &v))
        return op->err.code;
    v = defaults_apply(op->arena, served, &v);
    const struct value *old = registry_current(op);
    if (!old && (!registry_makes_absent(op) || !(k->flags & RULES_CREATE_ON_UPDATE)))
        return registry_not_found(op);
    if (check_uid(op, &v, old))
        return op->err.code;
    if (!old)
        return begin_new(op, meta_set(op->arena, served, &v, "resourceVersion", absent));
    struct value live = registry_from_stored(op, old);
    struct apply_manager m = registry_manager(op);
    if (registry_note(op, &live, &v, &m, &v) || registry_to_stored(op, &v, &stored))
        return op->err.code;
    if (registry_admit(op, ADMIT_UPDATE, registry_type(op), &stored, old, false))
        return op->err.code;
    return registry_store_changed(op, old, stored);
}

void registry_update(struct operation *op)
{
    if (!op->subresource || !subresource_update(op))
        registry_try(op, attempt_update);
}
