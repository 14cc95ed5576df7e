/* controllers/taints.c - see taints.h. */
#include "controllers/taints.h"

#include "controllers/read.h"

static const struct type *taint_type(void)
{
    return schema_type(STR("core/v1.Taint"));
}

static const struct type *toleration_type(void)
{
    return schema_type(STR("core/v1.Toleration"));
}

static bool tolerates(const struct value *toleration, const struct value *taint)
{
    const struct type *t = toleration_type();
    struct str effect = text_at(t, toleration, "effect"), key = text_at(t, toleration, "key");
    struct str op = text_at(t, toleration, "operator");
    if (effect.n && !str_eq(effect, text_at(taint_type(), taint, "effect")))
        return false;
    if (key.n && !str_eq(key, text_at(taint_type(), taint, "key")))
        return false;
    if (op.n == 0 || str_is(op, "Equal"))
        return str_eq(text_at(t, toleration, "value"), text_at(taint_type(), taint, "value"));
    return str_is(op, "Exists");
}

static bool is_no_execute(const struct value *taint)
{
    return says_at(taint_type(), taint, "effect", "NoExecute");
}

bool taints_have_no_execute(const struct value *taints)
{
    for (uint32_t i = 0; i < list_length(taints); i++)
        if (is_no_execute(&taints->items[i]))
            return true;
    return false;
}

bool taints_all_tolerated(const struct value *taints, const struct value *tolerations, bool also_no_schedule)
{
    for (uint32_t i = 0; i < list_length(taints); i++) {
        const struct value *taint = &taints->items[i];
        bool matters = is_no_execute(taint) || (also_no_schedule && says_at(taint_type(), taint, "effect", "NoSchedule"));
        bool tolerated = !matters;
        for (uint32_t k = 0; !tolerated && k < list_length(tolerations); k++)
            tolerated = tolerates(&tolerations->items[k], taint);
        if (!tolerated)
            return false;
    }
    return true;
}

/* The first toleration that covers a taint counts for it; of those that count, the shortest. */
int64_t taints_tolerated_s(const struct value *taints, const struct value *tolerations)
{
    int64_t shortest_s = TAINT_STAYS;
    for (uint32_t i = 0; i < list_length(taints); i++) {
        const struct value *used = NULL;
        if (!is_no_execute(&taints->items[i]))
            continue;
        for (uint32_t k = 0; !used && k < list_length(tolerations); k++)
            if (tolerates(&tolerations->items[k], &taints->items[i]))
                used = &tolerations->items[k];
        if (!used)
            return 0;
        const struct value *limit = value_path(toleration_type(), used, "tolerationSeconds");
        if (limit->kind != VALUE_INT)
            continue;
        if (limit->i <= 0)
            return 0;
        if (shortest_s == TAINT_STAYS || limit->i < shortest_s)
            shortest_s = limit->i;
    }
    return shortest_s;
}
