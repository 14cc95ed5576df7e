/* controllers/quota_status.c - see quota_status.h. */
#include "controllers/quota_status.h"

#include "api/edit.h"
#include "apiserver/stored.h"
#include "controllers/read.h"

const struct type *resource_quota_type(void)
{
    return schema_type(STR("core/v1.ResourceQuota"));
}

/* One row of spec.hard. */
struct row {
    struct str resource;
    struct quantity used;
    bool counted; /* there are objects that use it */
};

static bool has_quota(const struct resource *r)
{
    return r->served && r->type && r->namespaced && r->verbs & VERB_LIST && r->verbs & VERB_CREATE && stored_row(r) == r;
}

static struct quota_object kind_of(const struct resource *r)
{
    return (struct quota_object){ .sort = quota_sort_of(r->plural, r->group), .plural = r->plural, .group = r->group };
}

static bool counts_any(const struct quota_object *kind, const struct row *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (quota_counts(kind, rows[i].resource))
            return true;
    return false;
}

static void add(struct arena *a, struct quantity *sum, struct quantity more)
{
    struct err e;
    err_init(&e, a);
    if (quantity_add(a, sum, &more, &e))
        return; /* more digits than a quantity may have: no sum of amounts that were admitted gets there */
}

static void count_objects(struct arena *a, const struct quota_state *s, const struct resource *r, struct row *rows, uint32_t n)
{
    const struct quota_object kind = kind_of(r);
    const struct value **objects;
    size_t n_objects = s->list(s->context, r, &objects);
    for (uint32_t i = 0; i < n; i++)
        rows[i].counted |= quota_counts(&kind, rows[i].resource);
    for (size_t k = 0; k < n_objects; k++) {
        struct quota_object o = quota_object(a, r->plural, r->group, objects[k], s->now_s);
        if (!quota_in_scopes(a, s->quota, &o))
            continue;
        for (uint32_t i = 0; i < n; i++)
            if (quota_counts(&o, rows[i].resource))
                add(a, &rows[i].used, quota_amount(a, &o, rows[i].resource));
    }
}

static struct row *rows_of(struct arena *a, const struct value *hard)
{
    struct row *rows = ARENA_NEW_N(a, struct row, hard->kind == VALUE_MAP ? hard->n : 0);
    for (uint32_t i = 0; hard->kind == VALUE_MAP && i < hard->n; i++)
        rows[i] = (struct row){ .resource = hard->members[i].key, .used = quantity_make(0, 0, QUANTITY_DECIMAL_SI) };
    return rows;
}

/* What nobody counts keeps what somebody else said of it. */
static struct value used_of(struct arena *a, const struct value *old, const struct row *rows, uint32_t n)
{
    struct value used = value_map(ARENA_NEW_N(a, struct member, n), 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct value *before = old->kind == VALUE_MAP ? value_member(old, rows[i].resource) : NULL;
        if (rows[i].counted)
            used.members[used.n++] = (struct member){ rows[i].resource, value_string(quantity_text(a, &rows[i].used)) };
        else if (before)
            used.members[used.n++] = (struct member){ rows[i].resource, *before };
    }
    return used.n ? used : (struct value){ .kind = VALUE_ABSENT };
}

bool quota_status_plan(struct arena *a, const struct quota_state *s, struct value *ret_quota)
{
    const struct type *t = resource_quota_type();
    const struct value *hard = value_path(t, s->quota, "spec.hard"), *old = value_path(t, s->quota, "status.used");
    uint32_t n = hard->kind == VALUE_MAP ? hard->n : 0;
    struct row *rows = rows_of(a, hard);
    for (size_t i = 0; i < schema_n_resources; i++) {
        struct quota_object kind = kind_of(&schema_resources[i]);
        if (has_quota(&schema_resources[i]) && counts_any(&kind, rows, n))
            count_objects(a, s, &schema_resources[i], rows, n);
    }
    struct value v = edit_set(a, t, s->quota, "status.hard", *hard);
    v = edit_set(a, t, &v, "status.used", used_of(a, old, rows, n));
    *ret_quota = v;
    return !value_equal(s->quota, &v);
}

/* ---- Changes ---- */

static struct quantity amount_within(struct arena *a, const struct value *quota, const struct quota_object *o,
                                     struct str resource)
{
    return o->value && quota_in_scopes(a, quota, o) ? quota_amount(a, o, resource) : quantity_make(0, 0, QUANTITY_DECIMAL_SI);
}

bool quota_status_changes(struct arena *a, const struct value *quota, const struct resource *r, const struct value *is,
                          const struct value *was, int64_t now_s)
{
    const struct value *hard = value_path(resource_quota_type(), quota, "spec.hard");
    struct quota_object o = kind_of(r), old = quota_object(a, r->plural, r->group, was, 0);
    if (is)
        o = quota_object(a, r->plural, r->group, is, now_s);
    for (uint32_t i = 0; hard->kind == VALUE_MAP && i < hard->n; i++) {
        if (!quota_counts(&o, hard->members[i].key))
            continue;
        struct quantity now = amount_within(a, quota, &o, hard->members[i].key);
        struct quantity before = amount_within(a, quota, &old, hard->members[i].key);
        if (!is || quantity_cmp(&now, &before) != 0)
            return true;
    }
    return false;
}
