/* api/toleration.c - see toleration.h. */
#include "api/toleration.h"

#include "api/labels.h"
#include "api/names.h"

/* Stricter than what Gt and Lt take in selectors: no plus sign, no leading zeros. */
static bool parse_number(struct str text, int64_t *ret_number)
{
    return name_decimal_integer(text).n == 0 && labels_parse_int(text, ret_number);
}

static bool compare(const struct toleration *t, const struct taint *taint, bool less)
{
    int64_t limit, number;
    if (!parse_number(t->value, &limit) || !parse_number(taint->value, &number))
        return false;
    return less ? number < limit : number > limit;
}

bool toleration_tolerates(const struct toleration *t, const struct taint *taint, bool comparing)
{
    if (t->effect.n > 0 && !str_eq(t->effect, taint->effect))
        return false;
    if (t->key.n > 0 && !str_eq(t->key, taint->key))
        return false;
    if (t->op.n == 0 || str_is(t->op, "Equal"))
        return str_eq(t->value, taint->value);
    if (str_is(t->op, "Exists"))
        return true;
    bool less = str_is(t->op, "Lt");
    return comparing && (less || str_is(t->op, "Gt")) && compare(t, taint, less);
}

bool tolerations_tolerate(struct tolerations tolerations, const struct taint *taint, bool comparing)
{
    for (size_t i = 0; i < tolerations.n; i++)
        if (toleration_tolerates(&tolerations.at[i], taint, comparing))
            return true;
    return false;
}

const struct taint *taints_first_untolerated(struct taints taints, struct tolerations tolerations,
                                             taint_filter *filter, bool comparing)
{
    for (size_t i = 0; i < taints.n; i++) {
        const struct taint *taint = &taints.at[i];
        if ((!filter || filter(taint)) && !tolerations_tolerate(tolerations, taint, comparing))
            return taint;
    }
    return NULL;
}

bool taint_is_hard(const struct taint *taint)
{
    return str_is(taint->effect, "NoSchedule") || str_is(taint->effect, "NoExecute");
}

bool taint_is_prefer(const struct taint *taint)
{
    return str_is(taint->effect, "PreferNoSchedule");
}

bool toleration_same(const struct toleration *a, const struct toleration *b)
{
    return str_eq(a->key, b->key) && str_eq(a->effect, b->effect) && str_eq(a->op, b->op) &&
           str_eq(a->value, b->value);
}
