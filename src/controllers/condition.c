/* controllers/condition.c - see condition.h. Upstream: apimachinery's api/meta/conditions.go. */
#include "controllers/condition.h"

#include "api/edit.h"
#include "controllers/read.h"

static struct value text_or_absent(const char *text)
{
    return text ? edit_text(text) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value make(struct arena *a, const struct type *ct, const struct value *old, const struct condition *c,
                         int64_t now_s)
{
    bool same = old && says_at(ct, old, "status", c->status);
    struct value v = old ? *old : value_struct(a, ct);
    v = edit_set(a, ct, &v, "type", edit_text(c->type));
    v = edit_set(a, ct, &v, "status", edit_text(c->status));
    v = edit_set(a, ct, &v, "reason", text_or_absent(c->reason));
    v = edit_set(a, ct, &v, "message", text_or_absent(c->message));
    if (c->observed_generation)
        v = edit_set(a, ct, &v, "observedGeneration", value_int(c->observed_generation));
    return same ? v : edit_set(a, ct, &v, "lastTransitionTime", value_time(now_s, 0));
}

struct value condition_set(struct arena *a, const struct type *ct, const struct value *list, const struct condition *c,
                           int64_t now_s)
{
    const struct value *old = entry_with(ct, list, "type", str_of(c->type));
    struct value v = make(a, ct, old, c, now_s);
    if (!old)
        return edit_append(a, list, v);
    struct value copy = value_list(ARENA_NEW_N(a, struct value, list->n), list->n);
    memcpy(copy.items, list->items, list->n * sizeof(*copy.items));
    copy.items[old - list->items] = v;
    return copy;
}
