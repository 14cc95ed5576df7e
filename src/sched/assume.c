/* sched/assume.c - see assume.h. */
#include "sched/assume.h"

#include "base/vec.h"

enum { SWEEP_MIN = 64 };

/* What all forms begin with. */
struct any_form {
    struct typed typed;
    struct typed_meta meta;
};

static const struct typed_meta *meta_of(const void *form)
{
    return &((const struct any_form *)form)->meta;
}

static uint64_t key_of(sym ns, sym name)
{
    return (uint64_t)ns << 32 | name;
}

void assumed_init(struct assumed *a, enum object_kind kind, struct sym_table *syms)
{
    *a = (struct assumed){ .kind = kind, .syms = syms, .sweep_at = SWEEP_MIN };
    map_u64_init(&a->by_name);
}

static void give_up(struct assumed *a, sym name, const void *form)
{
    object_unref(a->syms, a->kind, form);
    sym_unref(a->syms, name);
}

void assumed_fini(struct assumed *a)
{
    for (struct map_u64_slot *s = map_u64_next(&a->by_name, NULL); s; s = map_u64_next(&a->by_name, s))
        give_up(a, (sym)s->key, s->value.const_ptr);
    map_u64_fini(&a->by_name);
}

/* NULL when nothing is assumed of an object of that name. */
static const void *find(const struct assumed *a, sym ns, struct str name)
{
    if (a->by_name.n == 0)
        return NULL;
    sym id = sym_find(a->syms, name);
    union map_value *found = id == SYM_NONE ? NULL : map_u64_find(&a->by_name, key_of(ns, id));
    return found ? found->const_ptr : NULL;
}

static bool same_version(const void *form, const char *version)
{
    return strcmp(meta_of(form)->resource_version, version) == 0;
}

const void *assumed_over(const struct assumed *a, const void *stored)
{
    const struct typed_meta *meta = meta_of(stored);
    const void *form = find(a, meta->ns, str_of(meta->name));
    return form && same_version(form, meta->resource_version) ? form : stored;
}

const void *assumed_get(const struct assumed *a, const struct objects *o, sym ns, struct str name)
{
    const void *stored = objects_get(o, a->kind, ns, name);
    return stored ? assumed_over(a, stored) : NULL;
}

static void remove_key(struct assumed *a, uint64_t key)
{
    union map_value form;
    if (map_u64_remove(&a->by_name, key, &form))
        give_up(a, (sym)key, form.const_ptr);
}

static bool holds(const struct assumed *a, const struct objects *o, const void *form)
{
    const struct typed_meta *meta = meta_of(form);
    const void *stored = objects_get(o, a->kind, meta->ns, str_of(meta->name));
    return stored && same_version(stored, meta->resource_version);
}

static void sweep(struct assumed *a, const struct objects *o)
{
    VEC(uint64_t) ended = { 0 };
    for (struct map_u64_slot *s = map_u64_next(&a->by_name, NULL); s; s = map_u64_next(&a->by_name, s))
        if (!holds(a, o, s->value.const_ptr))
            vec_push(&ended, s->key);
    for (size_t i = 0; i < ended.n; i++)
        remove_key(a, ended.at[i]);
    vec_fini(&ended);
    a->sweep_at = a->by_name.n < SWEEP_MIN / 2 ? SWEEP_MIN : a->by_name.n * 2;
}

/* As the cache upstream names objects: with the namespace when there is one. */
static const char *full_name(const struct assumed *a, struct arena *arena, const struct typed_meta *meta)
{
    if (meta->ns == SYM_EMPTY)
        return meta->name;
    return arena_printf(arena, "%s/%s", sym_text(a->syms, meta->ns).p, meta->name);
}

static enum err_code check(const struct assumed *a, const struct objects *o, const struct typed_meta *meta,
                           struct err *e)
{
    const void *stored = objects_get(o, a->kind, meta->ns, str_of(meta->name));
    if (!stored)
        return err_set(e, ERR_NOT_FOUND, "%s \"%s\" not found",
                       a->kind == OBJECT_PERSISTENT_VOLUME ? "persistentvolumes" : "persistentvolumeclaims",
                       full_name(a, e->arena, meta));
    if (!same_version(stored, meta->resource_version))
        return err_set(e, ERR_CONFLICT, "\"%s\" is out of sync (stored: %s, assume: %s)",
                       full_name(a, e->arena, meta), meta_of(stored)->resource_version, meta->resource_version);
    return ERR_OK;
}

enum err_code assumed_set(struct assumed *a, const struct objects *o, const void *own_form, struct err *e)
{
    const struct typed_meta *meta = meta_of(own_form);
    if (check(a, o, meta, e)) {
        object_unref(a->syms, a->kind, own_form);
        return e->code;
    }
    if (a->by_name.n >= a->sweep_at)
        sweep(a, o);
    sym name = sym_intern(a->syms, str_of(meta->name));
    uint64_t key = key_of(meta->ns, name);
    remove_key(a, key);
    map_u64_put(&a->by_name, key, NULL)->const_ptr = own_form;
    return ERR_OK;
}

void assumed_drop(struct assumed *a, sym ns, struct str name, const char *version)
{
    const void *form = find(a, ns, name);
    if (form && same_version(form, version))
        remove_key(a, key_of(ns, sym_find(a->syms, name)));
}
