/* apiserver/stored.c - see stored.h. */
#include "apiserver/stored.h"

#include <assert.h>
#include <stdlib.h>

#include "base/list.h"
#include "codec/json.h"
#include "codec/proto.h"
#include "rules/convert.h"

enum { VALUE_TIMES = 4 }; /* what a decoded object takes of memory, compared with its JSON */

/* What was made of an item's value so far. */
struct forms {
    struct store_attached attached;
    struct stored *objects;    /* of a value in its list; NULL: it is in none */
    struct list_node node;
    size_t n_value_bytes;      /* about; the same */
    struct arena *arena; /* of the value; NULL: not decoded yet */
    struct value value;
    struct selectable *selectable[2]; /* under the stored row, under another one */
    char *proto;
    size_t n_proto;
    struct str message; /* inside of it, without the envelope */
};

struct stored {
    struct store *store;
    struct store_watch *watches; /* one a resource, made when its generation is first asked for */
    char **prefixes; /* of those watches */
    uint64_t *generations;
    struct list passing; /* values that may go when the store is polled, oldest first */
    size_t n_passing_bytes;
};

struct stored *stored_new(struct store *s)
{
    struct stored *o = mem_zalloc(sizeof(*o));
    o->store = s;
    o->watches = mem_zalloc(schema_n_resources * sizeof(*o->watches));
    o->prefixes = mem_zalloc(schema_n_resources * sizeof(*o->prefixes));
    o->generations = mem_zalloc(schema_n_resources * sizeof(*o->generations));
    list_init(&o->passing);
    return o;
}

struct store *stored_store(const struct stored *o)
{
    return o->store;
}

const struct resource *stored_resource(const char *plural, const char *group)
{
    struct str wanted = str_of(plural), wanted_group = str_of(group);
    for (size_t i = 0; i < schema_n_resources; i++) {
        const struct resource *r = &schema_resources[i];
        if (r->served && str_eq(r->plural, wanted) && str_eq(r->group, wanted_group))
            return r;
    }
    assert(!"a resource of the schema");
    return NULL;
}

/* ---- Keys, as upstream has them in etcd ---- */

static struct str storage_prefix(const struct resource *r)
{
    static const struct {
        const char *plural, *prefix;
    } others[] = {
        { "replicationcontrollers", "controllers" }, { "nodes", "minions" },   { "services", "services/specs" },
        { "endpoints", "services/endpoints" },       { "ingresses", "ingress" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (str_eq(r->plural, str_of(others[i].plural)))
            return str_of(others[i].prefix);
    return r->plural;
}

/* Groups whose keys name them: those that are no part of the first release's scheme. */
static bool key_has_group(const struct resource *r)
{
    return str_eq(r->group, STR("apiregistration.k8s.io")) || str_eq(r->group, STR("apiextensions.k8s.io"));
}

static char *put_text(char *to, struct str text)
{
    if (text.n)
        memcpy(to, text.p, text.n);
    return to + text.n;
}

/* A part of a key and its slash; nothing for an empty one. */
static char *put_part(char *to, struct str part)
{
    to = put_text(to, part);
    return part.n ? put_text(to, STR("/")) : to;
}

/* /registry/[GROUP/]RESOURCE/[NAMESPACE/][NAME]: every request makes some. */
static struct str join_key(struct arena *a, const struct resource *r, struct str namespace, struct str name)
{
    struct str group = key_has_group(r) ? r->group : STR(""), kind = storage_prefix(r);
    char *key = arena_alloc(a, sizeof("/registry////") + group.n + kind.n + namespace.n + name.n);
    char *end = put_part(key, STR("/registry"));
    end = put_part(end, group);
    end = put_part(end, kind);
    end = put_part(end, namespace);
    end = put_text(end, name);
    return (struct str){ key, (size_t)(end - key) };
}

struct str stored_prefix(struct arena *a, const struct resource *r, struct str namespace)
{
    return join_key(a, r, namespace, STR(""));
}

struct str stored_key(struct arena *a, const struct resource *r, struct str namespace, struct str name)
{
    return join_key(a, r, r->namespaced ? namespace : STR(""), name);
}

void stored_read_key(const struct resource *r, struct str key, struct str *ret_namespace, struct str *ret_name)
{
    size_t n = sizeof("/registry/") - 1 + storage_prefix(r).n + 1 + (key_has_group(r) ? r->group.n + 1 : 0);
    assert(key.n >= n);
    struct str rest = str_from(key, n);
    *ret_namespace = STR("");
    if (r->namespaced) {
        size_t slash = str_index(rest, '/');
        *ret_namespace = str_first(rest, slash);
        rest = str_from(rest, slash + 1);
    }
    *ret_name = rest;
}

/* ---- Values ---- */

static void drop_value(struct forms *f)
{
    if (!f->arena)
        return;
    if (f->objects) {
        list_remove(&f->node);
        f->objects->n_passing_bytes -= f->n_value_bytes;
        f->objects = NULL;
    }
    arena_fini(f->arena);
    free(f->arena);
    f->arena = NULL;
}

static void free_forms(struct store_attached *own_attached)
{
    struct forms *f = (struct forms *)own_attached;
    drop_value(f);
    free(f->selectable[0]);
    free(f->selectable[1]);
    free(f->proto);
    free(f);
}

static struct forms *forms_of(struct store_item *item)
{
    if (!item->attached) {
        struct forms *f = mem_zalloc(sizeof(*f));
        f->attached.free = free_forms;
        item->attached = &f->attached;
    }
    return (struct forms *)item->attached;
}

const struct resource *stored_row(const struct resource *r)
{
    const struct type *t = convert_stored_type(r->type);
    if (t == r->type)
        return r;
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == t && str_eq(schema_resources[i].plural, r->plural))
            return &schema_resources[i];
    assert(!"the stored type has a row");
    return r;
}

static struct value decode(struct arena *a, const struct resource *r, const struct store_item *item)
{
    struct err e;
    struct value v;
    err_init(&e, a);
    enum err_code rc = json_decode(a, WORK_OWN, convert_stored_type(r->type), store_item_value(item), NULL, &v, &e);
    assert(rc == ERR_OK); /* we wrote it */
    return v;
}

/* Of which there may be so many that their values do not stay. */
static bool is_numerous(const struct resource *r)
{
    static const char *const plurals[] = { "pods", "events", "leases" };
    for (size_t i = 0; i < sizeof(plurals) / sizeof(plurals[0]); i++)
        if (str_is(r->plural, plurals[i]))
            return true;
    return false;
}

const struct value *stored_value(struct stored *o, const struct resource *r, struct store_item *item)
{
    struct forms *f = forms_of(item);
    if (f->arena)
        return &f->value;
    f->arena = mem_alloc(sizeof(*f->arena));
    arena_init_small(f->arena);
    f->value = decode(f->arena, r, item);
    if (is_numerous(r)) {
        f->objects = o;
        list_push(&o->passing, &f->node);
        f->n_value_bytes = VALUE_TIMES * item->n_value;
        o->n_passing_bytes += f->n_value_bytes;
    }
    return &f->value;
}

void stored_drop_value(struct store_item *item)
{
    if (item->attached)
        drop_value((struct forms *)item->attached);
}

void stored_trim(struct stored *o)
{
    for (struct list_node *n; o->n_passing_bytes > STORED_VALUES_BYTES_MAX && (n = list_first(&o->passing));)
        drop_value(LIST_ITEM(n, struct forms, node));
}

void stored_free(struct stored *o)
{
    if (!o)
        return;
    for (struct list_node *n; (n = list_first(&o->passing));) /* the items live on */
        drop_value(LIST_ITEM(n, struct forms, node));
    for (size_t i = 0; i < schema_n_resources; i++)
        free(o->prefixes[i]);
    free(o->prefixes);
    free(o->watches);
    free(o->generations);
    free(o);
}

/* ---- What selectors see, in one block ---- */

static size_t labels_bytes(struct labels l)
{
    size_t n = l.n * sizeof(*l.at);
    for (size_t i = 0; i < l.n; i++)
        n += l.at[i].key.n + l.at[i].value.n;
    return n;
}

static struct str pack_text(char **at, struct str text)
{
    if (text.n)
        memcpy(*at, text.p, text.n);
    struct str packed = { *at, text.n };
    *at += text.n;
    return packed;
}

static struct labels pack_labels(struct label **to, char **at, struct labels l)
{
    struct label *first = *to;
    for (size_t i = 0; i < l.n; i++)
        *(*to)++ = (struct label){ pack_text(at, l.at[i].key), pack_text(at, l.at[i].value) };
    return (struct labels){ first, l.n };
}

static struct selectable *pack_selectable(const struct selectable *s)
{
    char *block = mem_alloc(sizeof(*s) + labels_bytes(s->labels) + labels_bytes(s->fields));
    struct selectable *packed = (struct selectable *)block;
    struct label *to = (struct label *)(block + sizeof(*s));
    char *at = (char *)(to + s->labels.n + s->fields.n);
    packed->labels = pack_labels(&to, &at, s->labels);
    packed->fields = pack_labels(&to, &at, s->fields);
    return packed;
}

const struct selectable *stored_selectable(struct stored *o, const struct resource *r, struct store_item *item)
{
    (void)o;
    struct forms *f = forms_of(item);
    const struct type *t = convert_stored_type(r->type);
    struct selectable **at = &f->selectable[t != r->type];
    if (!*at) {
        struct arena scratch;
        arena_init(&scratch);
        struct value v = f->arena ? f->value : decode(&scratch, r, item);
        struct selectable s = selectable_of(&scratch, r, t, &v);
        *at = pack_selectable(&s);
        arena_fini(&scratch);
    }
    return *at;
}

static void make_proto(struct forms *f, const struct resource *r, const struct store_item *item)
{
    struct arena scratch;
    struct err e;
    struct proto_envelope envelope;
    struct strbuf bytes;
    arena_init(&scratch);
    err_init(&e, &scratch);
    strbuf_init(&bytes, STRBUF_NO_MAX);
    struct value v = f->arena ? f->value : decode(&scratch, r, item);
    proto_encode_object(&bytes, convert_stored_type(r->type), &v);
    f->proto = mem_alloc(bytes.n);
    f->n_proto = bytes.n;
    memcpy(f->proto, bytes.p, bytes.n);
    enum err_code rc = proto_open((struct str){ f->proto, f->n_proto }, &envelope, &e);
    assert(rc == ERR_OK); /* we made it */
    f->message = envelope.raw;
    strbuf_fini(&bytes);
    arena_fini(&scratch);
}

static const struct forms *forms_with_proto(const struct resource *r, struct store_item *item)
{
    struct forms *f = forms_of(item);
    if (!f->proto)
        make_proto(f, r, item);
    return f;
}

struct str stored_proto(struct stored *o, const struct resource *r, struct store_item *item)
{
    (void)o;
    const struct forms *f = forms_with_proto(r, item);
    return (struct str){ f->proto, f->n_proto };
}

struct str stored_message(struct stored *o, const struct resource *r, struct store_item *item)
{
    (void)o;
    return forms_with_proto(r, item)->message;
}

const struct value *stored_get(struct stored *o, const struct resource *r, struct str namespace, struct str name)
{
    struct arena scratch;
    arena_init_small(&scratch);
    struct store_item *item = store_get(o->store, stored_key(&scratch, r, namespace, name));
    arena_fini(&scratch);
    return item ? stored_value(o, r, item) : NULL;
}

size_t stored_list(struct stored *o, const struct resource *r, struct str namespace, struct arena *a,
                    const struct value ***ret_values)
{
    struct store_range range = { .prefix = stored_prefix(a, r, namespace) };
    struct store_list list;
    struct err e;
    err_init(&e, a);
    enum err_code rc = store_list(o->store, &range, a, &list, &e);
    assert(rc == ERR_OK); /* the newest state is always there */
    const struct value **values = ARENA_NEW_N(a, const struct value *, list.n);
    for (size_t i = 0; i < list.n; i++)
        values[i] = stored_value(o, r, list.items[i]);
    *ret_values = values;
    return list.n;
}

/* A watch that is overtaken begins again: something has changed for sure. */
uint64_t stored_generation(struct stored *o, const struct resource *r)
{
    size_t i = (size_t)(r - schema_resources);
    struct store_watch *w = &o->watches[i];
    struct arena scratch;
    arena_init_small(&scratch);
    struct err e;
    err_init(&e, &scratch);
    enum err_code rc = ERR_EXPIRED;
    if (w->prefix.p) {
        struct store_event event;
        while (!(rc = store_watch_next(o->store, w, &event)))
            o->generations[i]++;
    }
    if (rc == ERR_EXPIRED) {
        if (!w->prefix.p) {
            struct str prefix = stored_prefix(&scratch, r, STR(""));
            o->prefixes[i] = mem_alloc(prefix.n);
            memcpy(o->prefixes[i], prefix.p, prefix.n);
            w->prefix = (struct str){ o->prefixes[i], prefix.n };
        }
        rc = store_watch_init(o->store, w, w->prefix, store_revision(o->store), &e);
        assert(rc == ERR_OK);
        o->generations[i]++;
    }
    arena_fini(&scratch);
    return o->generations[i];
}
