/* sched/objects.c - see objects.h. An object is in two lists, of its kind and of its kind and
 * namespace, and knows its place in both. */
#include "sched/objects.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* What all forms begin with. */
struct any_form {
    struct typed typed;
    struct typed_meta meta;
};

struct entry {
    uint32_t at_all, at_ns; /* places in the lists */
    size_t n_key;
    char key[]; /* the namespace's number, then the name */
};

struct list {
    VEC(const void *) forms;
    VEC(struct entry *) entries; /* of the same places */
};

struct store {
    struct map_str by_key; /* -> struct entry */
    struct list all;
    struct map_u64 by_ns; /* sym -> struct list */
    uint64_t version;
};

struct objects {
    struct sym_table *syms;
    struct store kinds[N_OBJECT_KINDS];
};

/* kind, name of its functions */
#define KINDS(X)                                                                           \
    X(OBJECT_NAMESPACE, namespace)                                                         \
    X(OBJECT_SERVICE, service)                                                             \
    X(OBJECT_REPLICATION_CONTROLLER, replication_controller)                               \
    X(OBJECT_REPLICA_SET, replica_set)                                                     \
    X(OBJECT_STATEFUL_SET, stateful_set)                                                   \
    X(OBJECT_PERSISTENT_VOLUME, pv)                                                        \
    X(OBJECT_PERSISTENT_VOLUME_CLAIM, pvc)                                                 \
    X(OBJECT_STORAGE_CLASS, storage_class)                                                 \
    X(OBJECT_CSI_NODE, csi_node)                                                           \
    X(OBJECT_CSI_DRIVER, csi_driver)                                                       \
    X(OBJECT_CSI_STORAGE_CAPACITY, csi_storage_capacity)                                   \
    X(OBJECT_VOLUME_ATTACHMENT, volume_attachment)                                         \
    X(OBJECT_BUDGET, pdb)                                                                  \
    X(OBJECT_PRIORITY_CLASS, priority_class)                                               \
    X(OBJECT_RESOURCE_CLAIM, resource_claim)                                               \
    X(OBJECT_RESOURCE_SLICE, resource_slice)                                               \
    X(OBJECT_DEVICE_CLASS, device_class)

/* One function a kind, because each has its own type of form. */
#define X(kind, name)                                                                      \
    static enum err_code decode_##name(struct sym_table *syms, enum typed_format format, struct str bytes, \
                                       const void **ret_form, struct err *e)               \
    {                                                                                      \
        const struct name *form;                                                           \
        enum err_code code = name##_decode(syms, format, bytes, &form, e);                 \
        if (!code)                                                                         \
            *ret_form = form;                                                              \
        return code;                                                                       \
    }
KINDS(X)
#undef X

enum err_code object_form_decode(enum object_kind kind, struct sym_table *syms, enum typed_format format,
                                 struct str bytes, const void **ret_form, struct err *e)
{
    switch (kind) {
#define X(kind, name)                                                                      \
    case kind:                                                                             \
        return decode_##name(syms, format, bytes, ret_form, e);
        KINDS(X)
#undef X
    case N_OBJECT_KINDS:
        break;
    }
    return err_set(e, ERR_INVALID, "unknown kind of object");
}

const void *object_ref(enum object_kind kind, const void *form)
{
    switch (kind) {
#define X(kind, name)                                                                      \
    case kind:                                                                             \
        return name##_ref(form);
        KINDS(X)
#undef X
    case N_OBJECT_KINDS:
        break;
    }
    return NULL;
}

void object_unref(struct sym_table *syms, enum object_kind kind, const void *form)
{
    switch (kind) {
#define X(kind, name)                                                                      \
    case kind:                                                                             \
        name##_unref(syms, form);                                                          \
        break;
        KINDS(X)
#undef X
    case N_OBJECT_KINDS:
        break;
    }
}

struct objects *objects_new(struct sym_table *syms)
{
    struct objects *o = mem_zalloc(sizeof(*o));
    o->syms = syms;
    for (int i = 0; i < N_OBJECT_KINDS; i++) {
        map_str_init(&o->kinds[i].by_key);
        map_u64_init(&o->kinds[i].by_ns);
    }
    return o;
}

static void fini_list(struct list *l)
{
    vec_fini(&l->forms);
    vec_fini(&l->entries);
}

void objects_free(struct objects *o)
{
    for (int i = 0; i < N_OBJECT_KINDS; i++) {
        struct store *s = &o->kinds[i];
        for (size_t k = 0; k < s->all.forms.n; k++) {
            object_unref(o->syms, (enum object_kind)i, s->all.forms.at[k]);
            free(s->all.entries.at[k]);
        }
        for (struct map_u64_slot *slot = map_u64_next(&s->by_ns, NULL); slot; slot = map_u64_next(&s->by_ns, slot)) {
            fini_list(slot->value.ptr);
            free(slot->value.ptr);
        }
        fini_list(&s->all);
        map_str_fini(&s->by_key);
        map_u64_fini(&s->by_ns);
    }
    free(o);
}

enum { NAME_BYTES_MAX = 1024 };

/* The key into `buffer`; an empty one when the name is longer than any name can be. */
static struct str make_key(char buffer[sizeof(sym) + NAME_BYTES_MAX], sym ns, struct str name)
{
    if (name.n > NAME_BYTES_MAX)
        return (struct str){ buffer, 0 };
    memcpy(buffer, &ns, sizeof(ns));
    if (name.n)
        memcpy(buffer + sizeof(ns), name.p, name.n);
    return (struct str){ buffer, sizeof(ns) + name.n };
}

static struct entry *find(const struct store *s, sym ns, struct str name)
{
    char buffer[sizeof(sym) + NAME_BYTES_MAX];
    union map_value *found = map_str_find(&s->by_key, make_key(buffer, ns, name));
    return found ? found->ptr : NULL;
}

static struct list *list_of_ns(struct objects *o, struct store *s, sym ns)
{
    bool is_new;
    union map_value *slot = map_u64_put(&s->by_ns, ns, &is_new);
    if (is_new) {
        slot->ptr = mem_zalloc(sizeof(struct list));
        sym_ref(o->syms, ns);
    }
    return slot->ptr;
}

static uint32_t append(struct list *l, const void *form, struct entry *e)
{
    vec_push(&l->forms, form);
    vec_push(&l->entries, e);
    return (uint32_t)l->forms.n - 1;
}

void objects_set(struct objects *o, enum object_kind kind, const void *form)
{
    assert(kind < N_OBJECT_KINDS);
    assert(form);
    struct store *s = &o->kinds[kind];
    const struct any_form *any = form;
    struct str name = str_of(any->meta.name);
    struct entry *e = find(s, any->meta.ns, name);
    object_ref(kind, form);
    s->version++;
    struct list *in_ns = list_of_ns(o, s, any->meta.ns);
    if (e) {
        object_unref(o->syms, kind, s->all.forms.at[e->at_all]);
        s->all.forms.at[e->at_all] = form;
        in_ns->forms.at[e->at_ns] = form;
        return;
    }
    char buffer[sizeof(sym) + NAME_BYTES_MAX];
    struct str key = make_key(buffer, any->meta.ns, name);
    e = mem_alloc(sizeof(*e) + key.n);
    memcpy(e->key, key.p, key.n);
    e->n_key = key.n;
    e->at_all = append(&s->all, form, e);
    e->at_ns = append(in_ns, form, e);
    map_str_put(&s->by_key, (struct str){ e->key, e->n_key }, NULL)->ptr = e;
}

/* The last one takes the free place; `place` is where an entry keeps its place in this list. */
static void take_out(struct list *l, uint32_t at, size_t place)
{
    vec_remove_swap(&l->forms, at);
    vec_remove_swap(&l->entries, at);
    if (at < l->entries.n)
        memcpy((char *)l->entries.at[at] + place, &at, sizeof(at));
}

bool objects_remove(struct objects *o, enum object_kind kind, sym ns, struct str name)
{
    assert(kind < N_OBJECT_KINDS);
    struct store *s = &o->kinds[kind];
    struct entry *e = find(s, ns, name);
    if (!e)
        return false;
    const void *form = s->all.forms.at[e->at_all];
    struct list *in_ns = list_of_ns(o, s, ns);
    map_str_remove(&s->by_key, (struct str){ e->key, e->n_key }, NULL);
    take_out(&s->all, e->at_all, offsetof(struct entry, at_all));
    take_out(in_ns, e->at_ns, offsetof(struct entry, at_ns));
    if (in_ns->forms.n == 0) {
        map_u64_remove(&s->by_ns, ns, NULL);
        fini_list(in_ns);
        free(in_ns);
        sym_unref(o->syms, ns);
    }
    free(e);
    object_unref(o->syms, kind, form);
    s->version++;
    return true;
}

const void *objects_get(const struct objects *o, enum object_kind kind, sym ns, struct str name)
{
    assert(kind < N_OBJECT_KINDS);
    const struct entry *e = find(&o->kinds[kind], ns, name);
    return e ? o->kinds[kind].all.forms.at[e->at_all] : NULL;
}

struct object_list objects_all(const struct objects *o, enum object_kind kind)
{
    assert(kind < N_OBJECT_KINDS);
    const struct list *l = &o->kinds[kind].all;
    return (struct object_list){ l->forms.at, (uint32_t)l->forms.n };
}

struct object_list objects_in(const struct objects *o, enum object_kind kind, sym ns)
{
    assert(kind < N_OBJECT_KINDS);
    union map_value *slot = map_u64_find(&o->kinds[kind].by_ns, ns);
    const struct list *l = slot ? slot->const_ptr : NULL;
    return l ? (struct object_list){ l->forms.at, (uint32_t)l->forms.n } : (struct object_list){ NULL, 0 };
}

uint64_t objects_version(const struct objects *o, enum object_kind kind)
{
    return o->kinds[kind].version;
}
