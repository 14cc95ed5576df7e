/* config/slots.h - reading the decoded configuration: typed slots with a value for what is absent.
 *
 * Shared inside config/ only. */
#pragma once

#include "api/schema_slots.h"
#include "api/value.h"

/* SLOT(Extender, weight): where a struct of that type keeps the field. */
#define SLOT(type, field) SLOT_kubescheduler_config_v1_##type##_##field
#define COMPONENT_SLOT(type, field) SLOT_component_v1alpha1_##type##_##field
#define CORE_SLOT(type, field) SLOT_core_v1_##type##_##field

static inline bool slot_given(const struct value *v, unsigned slot)
{
    return value_slot(v, slot)->kind != VALUE_ABSENT;
}
static inline int64_t slot_int(const struct value *v, unsigned slot, int64_t absent)
{
    const struct value *s = value_slot(v, slot);
    return s->kind == VALUE_INT ? s->i : absent;
}
static inline bool slot_bool(const struct value *v, unsigned slot, bool absent)
{
    const struct value *s = value_slot(v, slot);
    return s->kind == VALUE_BOOL ? s->b : absent;
}
/* Empty when absent. */
static inline struct str slot_text(const struct value *v, unsigned slot)
{
    struct str text = value_text(value_slot(v, slot));
    return text.p ? text : STR("");
}
/* Items of a list, *ret_n of them; NULL when it was not given. */
static inline struct value *slot_items(const struct value *v, unsigned slot, size_t *ret_n)
{
    const struct value *s = value_slot(v, slot);
    *ret_n = s->kind == VALUE_LIST ? s->n : 0;
    return s->kind == VALUE_LIST ? s->items : NULL;
}
