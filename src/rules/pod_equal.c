/* rules/pod_equal.c - see pod.h: equality of objects as upstream means it. */
#include "rules/pod_priv.h"

static bool equal_fields(const struct type *t, const struct value *a, const struct value *b);

/* A value that Go has without anybody having given it. */
static bool is_zero(const struct field *f, const struct value *v)
{
    switch ((enum value_kind)v->kind) {
    case VALUE_ABSENT:
        return true;
    case VALUE_LIST:
    case VALUE_MAP:
        return v->n == 0;
    case VALUE_BOOL:
        return !(f->flags & FIELD_PTR) && !v->b;
    case VALUE_INT:
        return !(f->flags & FIELD_PTR) && v->i == 0;
    case VALUE_STRING:
        return !(f->flags & FIELD_PTR) && v->n == 0;
    case VALUE_STRUCT:
        return !(f->flags & FIELD_PTR) && equal_fields(f->type, v, &(struct value){ .kind = VALUE_ABSENT });
    default:
        return false;
    }
}

static bool equal_amounts(const struct value *a, const struct value *b)
{
    struct arena scratch;
    arena_init_small(&scratch);
    struct quantity x = pod_amount(&scratch, value_text(a)), y = pod_amount(&scratch, value_text(b));
    bool equal = quantity_cmp(&x, &y) == 0;
    arena_fini(&scratch);
    return equal;
}

static bool equal_one(const struct field *f, const struct value *a, const struct value *b)
{
    if (f->kind == KIND_STRUCT)
        return equal_fields(f->type, a, b);
    return value_equal(a, b) || (f->kind == KIND_QUANTITY && equal_amounts(a, b));
}

static bool equal_values(const struct field *f, const struct value *a, const struct value *b)
{
    bool a_zero = is_zero(f, a), b_zero = is_zero(f, b);
    if (a_zero || b_zero)
        return a_zero && b_zero;
    if (a->kind != b->kind || (f->shape != SHAPE_ONE && a->n != b->n))
        return false;
    if (f->shape == SHAPE_ONE)
        return equal_one(f, a, b);
    for (uint32_t i = 0; i < a->n; i++) {
        bool list = f->shape == SHAPE_LIST;
        if (!list && !str_eq(a->members[i].key, b->members[i].key))
            return false;
        if (!equal_one(f, list ? &a->items[i] : &a->members[i].value, list ? &b->items[i] : &b->members[i].value))
            return false;
    }
    return true;
}

static bool equal_fields(const struct type *t, const struct value *a, const struct value *b)
{
    for (unsigned i = 0; i < t->n_fields; i++)
        if (!equal_values(&t->fields[i], value_slot(a, i), value_slot(b, i)))
            return false;
    return true;
}

bool rules_semantic_equal(const struct type *t, const struct value *a, const struct value *b)
{
    return equal_fields(t, a, b);
}
