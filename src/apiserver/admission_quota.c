/* ResourceQuota: what is created or grows in a namespace is within its quotas, and is counted in their status by the
 * same commit that stores it. A quota is enforced once its status says what it limits, which a controller writes. */
#include "api/quota.h"
#include "apiserver/admission_priv.h"
#include "codec/json.h"

/* That one object changes. The rest of what is stored along with an object is for whoever allocates something for it. */
enum { QUOTAS_CHANGED_MAX = 24 };
_Static_assert((int)QUOTAS_CHANGED_MAX < (int)ADMISSION_ALSO_MAX, "there is room for others");

static const struct type *quota_type(void)
{
    return schema_type(STR("core/v1.ResourceQuota"));
}

static bool is_ignored(const struct admission_request *r)
{
    static const struct {
        const char *plural, *group;
    } rows[] = {
        { "bindings", "" },
        { "componentstatuses", "" },
        { "tokenreviews", "authentication.k8s.io" },
        { "selfsubjectreviews", "authentication.k8s.io" },
        { "subjectaccessreviews", "authorization.k8s.io" },
        { "selfsubjectaccessreviews", "authorization.k8s.io" },
        { "localsubjectaccessreviews", "authorization.k8s.io" },
        { "selfsubjectrulesreviews", "authorization.k8s.io" },
        { "events", "" },
        { "events", "events.k8s.io" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (req_is(r, rows[i].plural, rows[i].group))
            return true;
    return !r->namespace.n || req_is(r, "namespaces", "");
}

static bool ends(const struct value *deadline)
{
    return deadline->kind == VALUE_INT && deadline->i >= 0;
}

/* Whether such a request can change what is used. */
static bool concerns(const struct admission_request *r, enum quota_sort sort)
{
    bool creates = r->operation == ADMIT_CREATE, updates = r->operation == ADMIT_UPDATE;
    switch (sort) {
    case QUOTA_PODS:
        if (str_is(r->subresource, "resize"))
            return updates;
        return !r->subresource.n && (creates || (updates && ends(req_at(r, "spec.activeDeadlineSeconds")) !=
                                                               ends(req_old(r, "spec.activeDeadlineSeconds"))));
    case QUOTA_CLAIMS:
        return (!r->subresource.n && (creates || updates)) || (updates && str_is(r->subresource, "status"));
    case QUOTA_SERVICES:
    case QUOTA_DEVICE_CLAIMS:
        return !r->subresource.n && (creates || updates);
    case QUOTA_OBJECTS:
        break;
    }
    return !r->subresource.n && creates;
}

/* Resources of the map that such objects use, sorted as it is. */
static struct value counted(struct arena *a, const struct quota_object *o, const struct value *hard)
{
    uint32_t n = 0, n_hard = hard->kind == VALUE_MAP ? hard->n : 0;
    struct member *members = ARENA_NEW_N(a, struct member, n_hard);
    for (uint32_t i = 0; i < n_hard; i++)
        if (quota_counts(o, hard->members[i].key))
            members[n++] = hard->members[i];
    return value_map(members, n);
}

/* Somebody has to have counted what is there before more is let in. */
static enum err_code check_known(const struct admission_request *r, struct str quota, const struct value *hard,
                                 const struct value *used, struct err *e)
{
    struct text_list names = { r->arena };
    bool known = true;
    for (uint32_t i = 0; i < hard->n; i++) {
        known &= value_member(used, hard->members[i].key) != NULL;
        text_list_add(&names, hard->members[i].key);
    }
    if (known)
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "status unknown for quota: %.*s, resources: %s", STR_ARG(quota),
                   text_list_join(&names, "", ","));
}

/* What is to be stored of the key along with the object already, or NULL. */
static struct admission_also *find_also(struct admission_request *r, struct str key)
{
    for (uint32_t i = 0; i < r->n_also; i++)
        if (str_eq(r->also[i].key, key))
            return &r->also[i];
    return NULL;
}

/* The quota with what is used from now on, to be stored along with the object. */
static enum err_code store_used(struct admission_request *r, struct store_item *item, const struct value *quota,
                                struct value used, struct err *e)
{
    struct admission_also *also = find_also(r, store_item_key(item));
    if (!also && r->n_also >= QUOTAS_CHANGED_MAX)
        return err_set(e, ERR_FORBIDDEN, "more than %d quotas would change", QUOTAS_CHANGED_MAX);
    uint64_t version = store_next_revision(stored_store(r->objects)); /* of the commit that stores both */
    struct value changed = edit_set(r->arena, quota_type(), quota, "status.used", used);
    changed = edit_set(r->arena, quota_type(), &changed, "metadata.resourceVersion",
                       edit_text(arena_printf(r->arena, "%llu", (unsigned long long)version)));
    struct strbuf json;
    strbuf_init(&json, STORE_VALUE_BYTES_MAX);
    json_encode(&json, quota_type(), &changed);
    also = also ? also : &r->also[r->n_also++];
    *also = (struct admission_also){ .key = arena_str(r->arena, store_item_key(item)),
                                     .value = arena_str(r->arena, strbuf_str(&json)),
                                     .revision = item->mod_revision };
    strbuf_fini(&json);
    return ERR_OK;
}

/* As it is stored, or as the request is about to leave it. */
static const struct value *newest(struct admission_request *r, struct store_item *item)
{
    struct admission_also *also = find_also(r, store_item_key(item));
    struct value *changed = ARENA_NEW(r->arena, struct value);
    struct err ignored;
    err_init(&ignored, r->arena);
    if (also && json_decode(r->arena, WORK_OWN, quota_type(), also->value, NULL, changed, &ignored) == ERR_OK)
        return changed;
    return stored_value(r->objects, stored_resource("resourcequotas", ""), item);
}

/* One quota of the namespace against the object of the request. */
struct held {
    struct store_item *item;
    const struct value *quota, *used;
    struct value hard; /* what of it such objects use */
    struct str name;
};

/* False: the quota is not about the object. */
static bool hold(struct admission_request *r, struct store_item *item, const struct quota_object *o,
                 struct held *ret_held)
{
    const struct value *quota = newest(r, item);
    *ret_held = (struct held){
        .item = item, .quota = quota, .used = value_path(quota_type(), quota, "status.used"),
        .hard = counted(r->arena, o, value_path(quota_type(), quota, "status.hard")),
        .name = value_text(value_path(quota_type(), quota, "metadata.name")),
    };
    return ret_held->hard.n && quota_in_scopes(r->arena, quota, o);
}

static enum err_code charge(struct admission_request *r, const struct held *h, const struct quota_object *o,
                            const struct quota_object *old, struct err *e)
{
    bool was_in = old && quota_in_scopes(r->arena, h->quota, old);
    struct quota_change change = { h->name, &h->hard, h->used, o, was_in ? old : NULL,
                                   str_is(r->subresource, "status") };
    struct value now;
    if (quota_charge(r->arena, &change, &now, e))
        return e->code;
    return r->dry_run || value_equal(&now, h->used) ? ERR_OK : store_used(r, h->item, h->quota, now, e);
}

/* What is wrong with the object by itself is told before what is too much. */
static enum err_code charge_all(struct admission_request *r, const struct store_list *list,
                                const struct quota_object *o, const struct quota_object *old, struct err *e)
{
    struct held h;
    for (size_t i = 0; i < list->n; i++)
        if (hold(r, list->items[i], o, &h) && (quota_check_words(r->arena, h.name, &h.hard, o, e) ||
                                               check_known(r, h.name, &h.hard, h.used, e)))
            return e->code;
    for (size_t i = 0; i < list->n; i++)
        if (hold(r, list->items[i], o, &h) && charge(r, &h, o, old, e))
            return e->code;
    return ERR_OK;
}

enum err_code resource_quota(struct admission_request *r, struct err *e)
{
    struct str plural = r->resource->plural, group = r->resource->group;
    if (is_ignored(r) || !concerns(r, quota_sort_of(plural, group)))
        return ERR_OK;
    struct store_range range = { .prefix = stored_prefix(r->arena, stored_resource("resourcequotas", ""),
                                                         r->namespace) };
    struct store_list list;
    if (store_list(stored_store(r->objects), &range, r->arena, &list, e))
        return e->code;
    if (!list.n)
        return ERR_OK;
    int64_t now_s = r->now_ns / CLOCK_NS_PER_SECOND;
    struct quota_object o = quota_object(r->arena, plural, group, &r->object, now_s), old;
    if (!r->old)
        return charge_all(r, &list, &o, NULL, e);
    old = quota_object(r->arena, plural, group, r->old, now_s);
    return charge_all(r, &list, &o, &old, e);
}
