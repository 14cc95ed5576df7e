/* controllers/owner_index.c - see owner_index.h. */
#include "controllers/owner_index.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct place {
    struct list owners;
    size_t n_key;
    char key[]; /* namespace, and label and value; with a NUL behind each */
};

struct owner {
    struct list_node node;
    struct place *place;
    size_t n_key;
    char key[];
};

struct owner_index {
    struct map_str owners; /* key -> struct owner */
    struct map_str places;
};

/* With an empty label: those who demand none. No label has an empty key. */
static void add_place_key(struct strbuf *to, struct str namespace, struct str label, struct str value)
{
    const struct str parts[] = { namespace, label, value };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        strbuf_add_str(to, parts[i]);
        strbuf_add_char(to, 0);
    }
}

static struct place *place_of(struct owner_index *x, struct str key)
{
    union map_value *found = map_str_find(&x->places, key);
    if (found)
        return found->ptr;
    struct place *p = mem_zalloc(sizeof(*p) + key.n);
    memcpy(p->key, key.p, key.n);
    p->n_key = key.n;
    list_init(&p->owners);
    map_str_put(&x->places, (struct str){ p->key, p->n_key }, NULL)->ptr = p;
    return p;
}

void owner_index_remove(struct owner_index *x, struct str key)
{
    union map_value own;
    if (!map_str_remove(&x->owners, key, &own))
        return;
    struct owner *o = own.ptr;
    list_remove(&o->node);
    if (list_is_empty(&o->place->owners)) {
        map_str_remove(&x->places, (struct str){ o->place->key, o->place->n_key }, NULL);
        free(o->place);
    }
    free(o);
}

void owner_index_put(struct owner_index *x, struct str key, struct str namespace, const struct value *match_labels)
{
    owner_index_remove(x, key);
    bool demands = match_labels->kind == VALUE_MAP && match_labels->n;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (demands)
        add_place_key(&b, namespace, match_labels->members[0].key, value_text(&match_labels->members[0].value));
    else
        add_place_key(&b, namespace, STR(""), STR(""));
    struct owner *o = mem_zalloc(sizeof(*o) + key.n);
    memcpy(o->key, key.p, key.n);
    o->n_key = key.n;
    o->place = place_of(x, strbuf_str(&b));
    list_push(&o->place->owners, &o->node);
    map_str_put(&x->owners, (struct str){ o->key, o->n_key }, NULL)->ptr = o;
    strbuf_fini(&b);
}

static void tell_place(const struct owner_index *x, struct str place, owner_index_found *found, void *context)
{
    const union map_value *at = map_str_find(&x->places, place);
    const struct place *p = at ? at->ptr : NULL;
    for (struct list_node *n = p ? list_first(&p->owners) : NULL; n; n = list_next(&p->owners, n)) {
        const struct owner *o = LIST_ITEM(n, struct owner, node);
        found(context, (struct str){ o->key, o->n_key });
    }
}

void owner_index_find(const struct owner_index *x, struct str namespace, struct labels labels,
                         owner_index_found *found, void *context)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    add_place_key(&b, namespace, STR(""), STR(""));
    tell_place(x, strbuf_str(&b), found, context);
    for (size_t i = 0; i < labels.n; i++) {
        strbuf_reset(&b);
        add_place_key(&b, namespace, labels.at[i].key, labels.at[i].value);
        tell_place(x, strbuf_str(&b), found, context);
    }
    strbuf_fini(&b);
}

struct owner_index *owner_index_new(void)
{
    struct owner_index *x = mem_zalloc(sizeof(*x));
    map_str_init(&x->owners);
    map_str_init(&x->places);
    return x;
}

void owner_index_free(struct owner_index *x)
{
    if (!x)
        return;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&x->owners, s));)
        free(s->value.ptr);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&x->places, s));)
        free(s->value.ptr);
    map_str_fini(&x->owners);
    map_str_fini(&x->places);
    free(x);
}
