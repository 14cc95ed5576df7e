/* controllers/read.h - short words for reading objects: what stands at a path, which entry of a list has a name.
 *
 * Thread: any. */
#pragma once

#include "api/value.h"

static inline struct str text_at(const struct type *t, const struct value *v, const char *path)
{
    return value_text(value_path(t, v, path));
}

static inline bool says_at(const struct type *t, const struct value *v, const char *path, const char *text)
{
    return str_is(text_at(t, v, path), text);
}

static inline int64_t int_at(const struct type *t, const struct value *v, const char *path, int64_t otherwise)
{
    const struct value *n = value_path(t, v, path);
    return n->kind == VALUE_INT ? n->i : otherwise;
}

static inline bool true_at(const struct type *t, const struct value *v, const char *path)
{
    const struct value *b = value_path(t, v, path);
    return b->kind == VALUE_BOOL && b->b;
}

static inline bool is_set_at(const struct type *t, const struct value *v, const char *path)
{
    return value_path(t, v, path)->kind != VALUE_ABSENT;
}

/* 0 for what is no list. */
static inline uint32_t list_length(const struct value *list)
{
    return list->kind == VALUE_LIST ? list->n : 0;
}

/* The text of a member of a map of texts; empty when it is not there. */
static inline struct str member_text(const struct value *map, struct str key)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, key) : NULL;
    return v ? value_text(v) : (struct str){ NULL, 0 };
}

/* The first entry of a list of structs whose field `name` says `text`; NULL: none. */
static inline const struct value *entry_with(const struct type *entry, const struct value *list, const char *name,
                                             struct str text)
{
    for (uint32_t i = 0; i < list_length(list); i++)
        if (str_eq(text_at(entry, &list->items[i], name), text))
            return &list->items[i];
    return NULL;
}

/* Whether all labels of a plain selector are there. */
static inline bool labels_cover(const struct value *selector, const struct value *labels)
{
    for (uint32_t i = 0; selector->kind == VALUE_MAP && i < selector->n; i++) {
        const struct value *v = labels->kind == VALUE_MAP ? value_member(labels, selector->members[i].key) : NULL;
        if (!v || !value_equal(v, &selector->members[i].value))
            return false;
    }
    return true;
}

/* The map without a member. */
static inline struct value map_without(struct arena *a, const struct value *map, struct str key)
{
    if (map->kind != VALUE_MAP || !value_member(map, key))
        return *map;
    struct value copy = value_map(ARENA_NEW_N(a, struct member, map->n), 0);
    for (uint32_t i = 0; i < map->n; i++)
        if (!str_eq(map->members[i].key, key))
            copy.members[copy.n++] = map->members[i];
    return copy.n ? copy : (struct value){ .kind = VALUE_ABSENT };
}

/* The list of texts without one. */
static inline struct value list_without(struct arena *a, const struct value *list, struct str text)
{
    struct value copy = value_list(ARENA_NEW_N(a, struct value, list_length(list)), 0);
    for (uint32_t i = 0; i < list_length(list); i++)
        if (!str_eq(value_text(&list->items[i]), text))
            copy.items[copy.n++] = list->items[i];
    return copy.n ? copy : (struct value){ .kind = VALUE_ABSENT };
}

static inline bool list_has_text(const struct value *list, struct str text)
{
    for (uint32_t i = 0; i < list_length(list); i++)
        if (str_eq(value_text(&list->items[i]), text))
            return true;
    return false;
}
