/* controllers/daemonset_history.c - see daemonset_history.h. */
#include "controllers/daemonset_history.h"

#include "api/edit.h"
#include "base/sort.h"
#include "controllers/daemonset_pod.h"
#include "controllers/read.h"

static const struct type *revision_type(void)
{
    return schema_type(STR("apps/v1.ControllerRevision"));
}

/* ---- Reading and making ---- */

static struct labels labels_of_map(struct arena *a, const struct value *map)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct label *labels = ARENA_NEW_N(a, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        labels[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ labels, n };
}

static struct str controller_uid(const struct value *references)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    for (uint32_t i = 0; i < list_length(references); i++)
        if (true_at(t, &references->items[i], "controller"))
            return text_at(t, &references->items[i], "uid");
    return STR("");
}

struct daemon_revision daemon_revision_read(struct arena *a, const struct value *v, const struct selector *selector)
{
    const struct type *t = revision_type();
    struct labels labels = labels_of_map(a, value_path(t, v, "metadata.labels"));
    const struct str *hash = labels_find(labels, STR(DAEMON_HASH_LABEL));
    return (struct daemon_revision){
        .is = revision_read(a, v),
        .owner_uid = arena_str(a, controller_uid(value_path(t, v, "metadata.ownerReferences"))),
        .hash = hash ? arena_str(a, *hash) : STR(""),
        .has_hash = hash,
        .deleted = is_set_at(t, v, "metadata.deletionTimestamp"),
        .matches = selector_matches(selector, labels),
    };
}

struct value daemon_revision_make(struct arena *a, const struct value *set, const struct object_reference *owner, struct str hash,
                                  struct str data, int64_t number)
{
    const struct type *t = schema_type(STR("apps/v1.DaemonSet"));
    struct str name = str_of(arena_printf(a, "%.*s-%.*s", STR_ARG(owner->name), STR_ARG(hash)));
    const struct value *labels = value_path(t, set, "spec.template.metadata.labels");
    struct value v = revision_make(a, controller_reference(a, owner), owner->ns, name, hash, data, number, labels,
                                   value_path(t, set, "metadata.annotations"));
    /* Daemons have their hash in the label that their pods have it in, and in no other. */
    return edit_set(a, revision_type(), &v, "metadata.labels",
                    edit_member(a, labels, STR(DAEMON_HASH_LABEL), value_string(hash)));
}

/* ---- What is wrong ---- */

static bool is_ours(const struct daemon_history *h, const struct daemon_revision *r)
{
    return claim_decide(h->owner_uid, false, r->owner_uid, r->deleted, r->matches) == CLAIM_OWNED;
}

static bool is_current(const struct daemon_history *h, const struct daemon_revision *r)
{
    return str_eq(r->is.data, h->data);
}

/* Claims first, then labels. */
static bool find_flaw(const struct daemon_history *h, struct daemon_history_plan *ret)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct daemon_revision *r = &h->at[i];
        enum claim_decision d = claim_decide(h->owner_uid, false, r->owner_uid, r->deleted, r->matches);
        if (d == CLAIM_ADOPT || d == CLAIM_RELEASE) {
            *ret = (struct daemon_history_plan){ d == CLAIM_ADOPT ? DAEMON_HISTORY_ADOPT : DAEMON_HISTORY_RELEASE, .which = r };
            return true;
        }
    }
    for (size_t i = 0; i < h->n; i++)
        if (is_ours(h, &h->at[i]) && !h->at[i].has_hash) {
            *ret = (struct daemon_history_plan){ DAEMON_HISTORY_LABEL, .which = &h->at[i] };
            return true;
        }
    return false;
}

/* Of several with the same data the one with the largest number; of those the last. */
static const struct daemon_revision *find_current(const struct daemon_history *h, const struct daemon_revision **ret_duplicate)
{
    const struct daemon_revision *current = NULL;
    *ret_duplicate = NULL;
    for (size_t i = 0; i < h->n; i++) {
        const struct daemon_revision *r = &h->at[i];
        if (!is_ours(h, r) || !is_current(h, r))
            continue;
        bool better = !current || r->is.number >= current->is.number;
        *ret_duplicate = better ? current : r;
        current = better ? r : current;
    }
    return current;
}

static int64_t number_of_current(const struct daemon_history *h)
{
    int64_t largest = 0;
    for (size_t i = 0; i < h->n; i++)
        if (is_ours(h, &h->at[i]) && !is_current(h, &h->at[i]) && h->at[i].is.number > largest)
            largest = h->at[i].is.number;
    return largest + 1;
}

struct daemon_history_plan daemon_history_decide(const struct daemon_history *h)
{
    struct daemon_history_plan plan;
    const struct daemon_revision *duplicate;
    if (find_flaw(h, &plan))
        return plan;
    int64_t number = number_of_current(h);
    const struct daemon_revision *current = find_current(h, &duplicate);
    if (!current)
        return (struct daemon_history_plan){ DAEMON_HISTORY_CREATE, .number = number };
    if (duplicate)
        return (struct daemon_history_plan){ DAEMON_HISTORY_DUPLICATE, .which = duplicate, .current = current };
    if (current->is.number < number)
        return (struct daemon_history_plan){ DAEMON_HISTORY_RENUMBER, .which = current, .number = number };
    return (struct daemon_history_plan){ DAEMON_HISTORY_IS_RIGHT, .which = current, .current = current };
}

/* ---- Truncation ---- */

static int by_number(const void *x, const void *y)
{
    const struct daemon_revision *a = *(const struct daemon_revision *const *)x, *b = *(const struct daemon_revision *const *)y;
    return (a->is.number > b->is.number) - (a->is.number < b->is.number);
}

size_t daemon_history_truncate(struct arena *a, const struct daemon_history *h, int64_t limit, daemon_hash_is_live *is_live,
                               void *context, const struct daemon_revision *const **ret_revisions)
{
    const struct daemon_revision **old = ARENA_NEW_N(a, const struct daemon_revision *, h->n);
    size_t n_old = 0, n = 0;
    for (size_t i = 0; i < h->n; i++)
        if (is_ours(h, &h->at[i]) && !is_current(h, &h->at[i]))
            old[n_old++] = &h->at[i];
    sort_stable(a, old, n_old, sizeof(*old), by_number);
    int64_t too_many = (int64_t)n_old - limit;
    for (size_t i = 0; i < n_old && (int64_t)n < too_many; i++)
        if (!is_live(context, old[i]->hash))
            old[n++] = old[i];
    *ret_revisions = old;
    return n;
}
