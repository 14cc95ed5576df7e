/* apiserver/registry.c - see operation.h: tries, commits, and what all verbs share. */
#include <assert.h>
#include <stdarg.h>

#include "api/defaults.h"
#include "api/edit.h"
#include "apiserver/registry_priv.h"
#include "codec/json.h"
#include "rules/convert.h"

enum { DELETION_BYTES_MAX = 1 << 10 }; /* that the mark of a deletion adds to an object */

void operation_init(struct operation *op, struct apiserver *s, struct arena *a)
{
    *op = (struct operation){ .server = s, .arena = a, .code = 200 };
    err_init(&op->err, a);
    field_errors_init(&op->errs, a);
    op->warnings.arena = a;
}

void operation_fini(struct operation *op)
{
    store_item_unref(op->item);
    op->item = NULL;
}

/* ---- What is there ---- */

const struct type *registry_type(const struct operation *op)
{
    return convert_stored_type(op->resource->type);
}

static struct store *store_of(const struct operation *op)
{
    return op->server->o.store;
}

const struct value *registry_current(struct operation *op)
{
    op->key = stored_key(op->arena, op->resource, op->namespace, op->name);
    op->current = store_get(store_of(op), op->key);
    if (!op->current)
        return NULL;
    struct value *v = ARENA_NEW(op->arena, struct value);
    struct err e;
    err_init(&e, op->arena);
    enum err_code rc = json_decode(op->arena, WORK_OWN, registry_type(op), store_item_value(op->current), NULL, v, &e);
    assert(rc == ERR_OK); /* we wrote it */
    return v;
}

int64_t registry_now_s(const struct operation *op)
{
    return clock_wall_ns(loop_clock(op->server->o.loop)) / 1000000000;
}

struct rules_context registry_rules(struct operation *op, const struct type *t)
{
    return (struct rules_context){ .arena = op->arena, .type = t, .served = op->resource->type, .namespaced = op->resource->namespaced,
                                   .now_s = registry_now_s(op), .user = op->user, .settings = &op->server->o.rules,
                                   .warnings = &op->warnings };
}

const struct kind_rules *registry_kind_rules(const struct operation *op)
{
    static const struct kind_rules none;
    const struct kind_rules *k = rules_of(registry_type(op));
    return k ? k : &none;
}

/* ---- metadata ---- */

const struct value *meta_get(const struct type *t, const struct value *v, const char *field)
{
    int slot = schema_slot(t, STR("metadata"));
    assert(slot >= 0);
    int inner = schema_slot(t->fields[slot].type, str_of(field));
    assert(inner >= 0);
    return value_slot(value_slot(v, (unsigned)slot), (unsigned)inner);
}

struct str meta_text(const struct type *t, const struct value *v, const char *field)
{
    return value_text(meta_get(t, v, field));
}

struct value meta_set(struct arena *a, const struct type *t, const struct value *v, const char *field, struct value to)
{
    const struct type *meta = t->fields[schema_slot(t, STR("metadata"))].type;
    struct value changed = edit_set(a, meta, value_path(t, v, "metadata"), field, to);
    return edit_set(a, t, v, "metadata", changed);
}

/* ---- Refusals ---- */

/* "pods", "deployments.apps" */
static const char *qualified_resource(struct operation *op)
{
    const struct resource *r = op->resource;
    return arena_printf(op->arena, "%.*s%s%.*s", STR_ARG(r->plural), r->group.n ? "." : "", STR_ARG(r->group));
}

enum err_code registry_not_found(struct operation *op)
{
    const char *what = qualified_resource(op), *name = arena_cstr(op->arena, op->name);
    op->err.kind = what;
    op->err.name = name;
    return err_set(&op->err, ERR_NOT_FOUND, "%s \"%s\" not found", what, name);
}

enum err_code registry_conflict(struct operation *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *why = arena_vprintf(op->arena, format, args);
    va_end(args);
    const char *what = qualified_resource(op), *name = arena_cstr(op->arena, op->name);
    op->err.kind = what;
    op->err.name = name;
    return err_set(&op->err, ERR_CONFLICT, "Operation cannot be fulfilled on %s \"%s\": %s", what, name, why);
}

enum err_code registry_invalid(struct operation *op, struct str name)
{
    const struct resource *r = stored_row(op->resource);
    const char *kind = arena_printf(op->arena, "%.*s%s%.*s", STR_ARG(r->kind), r->group.n ? "." : "",
                                    STR_ARG(r->group));
    return status_invalid(kind, arena_cstr(op->arena, name), &op->errs, &op->err);
}

struct status operation_status(struct operation *op)
{
    struct status s = status_of_err(op->arena, &op->err, op->err.code == ERR_INVALID ? &op->errs : NULL);
    if (op->n_causes) {
        s.causes = op->causes;
        s.n_causes = op->n_causes;
        s.details = true;
    }
    s.retry_after_seconds = op->retry_after_s;
    return s;
}

/* ---- Tries ---- */

void registry_settle(struct operation *op, enum err_code rc)
{
    assert(rc == op->err.code);
    service_write_settle(op);
    if (!rc && op->show)
        op->show(op);
    op->done(op);
}

/* Everything that an earlier try made is gone. */
static void run(struct operation *op)
{
    service_write_settle(op);
    arena_rewind(op->arena, op->mark);
    op->resource = op->asked_resource;
    op->name = op->asked_name;
    field_errors_init(&op->errs, op->arena);
    op->warnings.n = op->warnings.n_kept;
    op->warnings.n_bytes = 0;
    op->n_also = 0;
    op->creates = op->removes = op->goes_on = op->frees = false;
    op->show = NULL;
    op->answers_status = op->answers_201 = false;
    err_init(&op->err, op->arena);
    enum err_code rc = op->attempt(op);
    if (rc)
        registry_settle(op, rc);
}

void registry_try(struct operation *op, enum err_code (*attempt)(struct operation *op))
{
    op->attempt = attempt;
    op->n_tries = 1;
    op->asked_resource = op->resource;
    op->asked_name = op->name;
    op->mark = arena_save(op->arena);
    run(op);
}

/* ---- Commits ---- */

static void run(struct operation *op);

static void take_outcome(struct operation *op, const struct store_answer *answer)
{
    if (op->goes_on) {
        op->phase++;
        op->step_revision = answer->revision;
        run(op);
        return;
    }
    op->code = op->creates || op->answers_201 ? 201 : 200;
    if (!op->removes)
        op->item = store_item_ref(answer->items[0]);
    registry_settle(op, ERR_OK);
}

static bool lost_a_race(enum err_code code)
{
    return code == ERR_CONFLICT || code == ERR_NOT_FOUND || code == ERR_ALREADY_EXISTS;
}

/* Something else found no room, and took the commits with it that went to the disk together. */
static bool fell_with_others(const struct operation *op, enum err_code code)
{
    return code == ERR_UNAVAILABLE && op->frees && store_facts(store_of(op)).full;
}

static void committed(void *context, const struct store_answer *answer)
{
    struct operation *op = context;
    bool again = lost_a_race(answer->code) || fell_with_others(op, answer->code);
    if (!answer->code) {
        take_outcome(op, answer);
    } else if (again && op->n_tries < OPERATION_TRIES_MAX) {
        op->n_tries++;
        run(op);
    } else if (lost_a_race(answer->code)) {
        registry_settle(op, registry_conflict(op, "the object has been modified; please apply your changes to the "
                                              "latest version and try again"));
    } else if (answer->code == ERR_UNAVAILABLE) {
        registry_settle(op, err_set(&op->err, ERR_UNAVAILABLE, "%s", answer->problem));
    } else {
        registry_settle(op, err_set(&op->err, ERR_INTERNAL, "Internal error occurred: %s",
                                    answer->problem ? answer->problem : "the store failed"));
    }
}

static bool is_one_of_group(const struct resource *r, const char *group, const char *plural)
{
    return str_is(r->plural, plural) && str_is(r->group, group);
}

static bool is_event(const struct resource *r)
{
    return str_is(r->plural, "events");
}

/* Those that a crash may lose, when the server is told so. */
static bool is_relaxed(const struct operation *op)
{
    return op->server->o.relaxed_leases && (is_event(op->resource) ||
                                            is_one_of_group(op->resource, "coordination.k8s.io", "leases"));
}

static enum err_code commit(struct operation *op, struct store_write first)
{
    struct store_write writes[1 + ADMISSION_ALSO_MAX] = { first };
    for (uint32_t i = 0; i < op->n_also; i++) {
        const struct admission_also *a = &op->also[i];
        writes[1 + i] = (struct store_write){ .key = a->key, .value = a->value, .deletes = a->deletes,
                                              .must = a->revision ? STORE_AT_VERSION : STORE_NOT_EXIST,
                                              .revision = a->revision };
    }
    struct store_commit c = { .writes = writes, .n_writes = 1 + op->n_also, .relaxed = is_relaxed(op), .frees = op->frees };
    return store_commit(store_of(op), &c, committed, op, &op->err);
}

struct value registry_from_stored(struct operation *op, const struct value *stored)
{
    struct value served;
    struct err e;
    err_init(&e, op->arena);
    enum err_code rc = convert(op->arena, registry_type(op), op->resource->type, stored, &served, &e);
    assert(rc == ERR_OK); /* what is stored can be shown in every version */
    return served;
}

enum err_code registry_to_stored(struct operation *op, const struct value *served, struct value *ret_value)
{
    const struct type *from = op->resource->type, *to = registry_type(op);
    if (convert(op->arena, from, to, served, ret_value, &op->err))
        return op->err.code;
    if (from != to)
        *ret_value = defaults_apply(op->arena, to, ret_value);
    return ERR_OK;
}

static struct value at_revision(struct operation *op, const struct value *v, uint64_t revision)
{
    struct value text = edit_text(arena_printf(op->arena, "%llu", (unsigned long long)revision));
    return meta_set(op->arena, registry_type(op), v, "resourceVersion", text);
}

/* Upstream keeps these as they are written; all others lose what is empty. */
static bool is_stored_as_json(const struct resource *r)
{
    return str_is(r->group, "apiextensions.k8s.io") || str_is(r->group, "apiregistration.k8s.io");
}

/* As it would come back from the store. */
static struct value as_stored(struct operation *op, const struct value *v)
{
    return is_stored_as_json(op->resource) ? *v : edit_without_empties(op->arena, registry_type(op), v);
}

static struct str encoded(struct operation *op, const struct value *v)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    struct value kept = as_stored(op, v);
    json_encode(&json, registry_type(op), &kept);
    struct str copy = arena_str(op->arena, strbuf_str(&json));
    strbuf_fini(&json);
    return copy;
}

static enum err_code settle_dry_run(struct operation *op, const struct value *v)
{
    struct value kept = as_stored(op, v);
    op->type = op->resource->type;
    op->value = registry_from_stored(op, &kept);
    op->code = op->creates || op->answers_201 ? 201 : 200;
    registry_settle(op, ERR_OK);
    return ERR_OK;
}

static struct str skip_digits(struct str text)
{
    while (text.n && text.p[0] >= '0' && text.p[0] <= '9')
        text = str_from(text, 1);
    return text;
}

/* Nothing is written when nothing changes; what depends on the write is not either. The two states of an object always have
 * different resourceVersions: are they the same up to there, and behind it? In front of it stand only names. */
static bool is_unchanged(const struct operation *op, struct str next)
{
    if (!op->current)
        return false;
    const struct str version = STR("\"resourceVersion\":\""), is = store_item_value(op->current);
    size_t n_min = next.n < is.n ? next.n : is.n, at = 0;
    while (at < n_min && next.p[at] == is.p[at])
        at++;
    while (at && next.p[at - 1] >= '0' && next.p[at - 1] <= '9')
        at--;
    if (at < version.n || memcmp(next.p + at - version.n, version.p, version.n) != 0)
        return false;
    return str_eq(skip_digits(str_from(next, at)), skip_digits(str_from(is, at)));
}

/* What has its end before it may be written on a full disk, too, unless that makes it much larger. */
static bool is_step_of_deletion(const struct operation *op, const struct value *v, size_t n_bytes)
{
    return op->current && meta_get(registry_type(op), v, "deletionTimestamp")->kind == VALUE_TIME &&
           n_bytes <= store_item_value(op->current).n + DELETION_BYTES_MAX;
}

enum err_code registry_commit(struct operation *op, const struct value *v)
{
    op->creates = !op->current;
    if (op->write.dry_run || op->delete.dry_run)
        return settle_dry_run(op, v);
    struct value next = at_revision(op, v, store_next_revision(store_of(op)));
    struct str bytes = encoded(op, &next);
    if (!op->n_also && is_unchanged(op, bytes)) {
        if (op->goes_on) {
            op->phase++;
            run(op);
            return ERR_OK;
        }
        op->code = op->answers_201 ? 201 : 200;
        op->item = store_item_ref(op->current);
        registry_settle(op, ERR_OK);
        return ERR_OK;
    }
    struct store_write w = {
        .key = op->key, .value = bytes, .must = op->current ? STORE_AT_VERSION : STORE_NOT_EXIST,
        .revision = op->current ? op->current->mod_revision : 0,
        .ttl_ms = is_event(op->resource) ? op->server->o.event_ttl_ms : 0,
    };
    op->frees = is_step_of_deletion(op, v, w.value.n);
    return commit(op, w);
}

enum err_code registry_commit_removal(struct operation *op, const struct value *last)
{
    op->type = op->resource->type;
    op->value = registry_from_stored(op, last);
    op->removes = op->frees = true;
    if (op->write.dry_run || op->delete.dry_run) {
        registry_settle(op, ERR_OK);
        return ERR_OK;
    }
    if (is_service(op))
        service_write_removed(op, last);
    struct store_write w = { .key = op->key, .deletes = true, .must = STORE_AT_VERSION,
                             .revision = op->current->mod_revision };
    return commit(op, w);
}

/* ---- Admission ---- */

enum err_code registry_admit(struct operation *op, enum admission_operation what, const struct type *t,
                             struct value *object, const struct value *old, bool validate)
{
    if (!op->server->o.admission)
        return ERR_OK;
    struct admission_request *r = ARENA_NEW(op->arena, struct admission_request);
    *r = (struct admission_request){
        .arena = op->arena, .objects = op->server->o.objects, .user = op->user, .operation = what,
        .resource = op->resource, .subresource = op->subresource ? str_of(op->subresource->name) : STR(""), .type = t,
        .namespace = op->namespace, .name = op->name, .old = old, .dry_run = op->write.dry_run || op->delete.dry_run,
        .now_ns = clock_wall_ns(loop_clock(op->server->o.loop)), .warnings = &op->warnings,
    };
    if (object)
        r->object = *object;
    memcpy(r->also, op->also, op->n_also * sizeof(*r->also));
    r->n_also = op->n_also;
    enum err_code rc = validate ? admission_validate(op->server->o.admission, r, &op->err)
                                : admission_mutate(op->server->o.admission, r, &op->err);
    if (rc && r->errors)
        op->errs = *r->errors;
    if (rc && r->cause_reason) {
        op->causes = ARENA_NEW(op->arena, struct status_cause);
        *op->causes = (struct status_cause){ str_of(r->cause_reason), str_of(r->cause_message), str_of(r->cause_field) };
        op->n_causes = 1;
    }
    if (rc)
        return rc;
    if (object)
        *object = r->object;
    memcpy(op->also, r->also, r->n_also * sizeof(*r->also));
    op->n_also = r->n_also;
    return ERR_OK;
}

/* ---- Get ---- */

static enum err_code attempt_get(struct operation *op)
{
    op->key = stored_key(op->arena, op->resource, op->namespace, op->name);
    struct store_item *item = store_get(store_of(op), op->key);
    if (!item)
        return registry_not_found(op);
    op->item = store_item_ref(item);
    registry_settle(op, ERR_OK);
    return ERR_OK;
}

void registry_get(struct operation *op)
{
    if (!op->subresource || !subresource_get(op))
        registry_try(op, attempt_get);
}
