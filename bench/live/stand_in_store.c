/* bench/live/stand_in_store.c - objects and their changes; see stand_in.h. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/edit.h"
#include "bench/live/stand_in.h"
#include "codec/proto.h"
#include "codec/proto_scan.h"

/* Numbers of fields, as the schema has them. */
enum {
    OBJECT_METADATA = 1,
    META_RESOURCE_VERSION = 6,
    META_LABELS = 11,
    POD_SPEC = 2,
    SPEC_NODE_NAME = 10,
    POD_STATUS = 3,
    STATUS_CONDITIONS = 2,
};

int64_t now_ns(void)
{
    return clock_mono_ns(&clock_real);
}

/* ---- Protobuf by hand ---- */

static void add_varint(struct strbuf *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        strbuf_add_char(to, (char)(n | 0x80));
    strbuf_add_char(to, (char)n);
}

void add_field(struct strbuf *to, unsigned number, struct str bytes)
{
    add_varint(to, number << 3 | PROTO_BYTES);
    add_varint(to, bytes.n);
    strbuf_add_str(to, bytes);
}

void add_envelope(struct strbuf *to, struct str api_version, struct str kind, struct str raw)
{
    char meta[256];
    struct strbuf m = { .p = meta, .cap = sizeof(meta), .max = sizeof(meta) };
    add_field(&m, 1, api_version);
    add_field(&m, 2, kind);
    strbuf_add(to, "k8s", 4);
    add_field(to, 1, strbuf_str(&m));
    add_field(to, 2, raw);
    strbuf_add(to, "\x1a\0\"", 4); /* contentEncoding and contentType: empty */
}

struct str shelf_api_version(struct arena *a, const struct shelf *f)
{
    const struct resource *r = f->resource;
    return r->group.n ? str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(r->group), STR_ARG(r->version))) : r->version;
}

enum err_code store_value(struct arena *a, const struct shelf *f, const struct blob *raw, struct value *ret_value,
                          struct err *e)
{
    struct work work = work_init(64 << 20);
    if (proto_decode(a, &work, f->resource->type, blob_str(raw), ret_value, e))
        return e->code;
    ret_value->slots[SLOT_KIND] = value_string(f->resource->kind);
    ret_value->slots[SLOT_API_VERSION] = value_string(shelf_api_version(a, f));
    return ERR_OK;
}

void add_object(struct stand_in *x, struct strbuf *to, enum media m, const struct shelf *f, const struct blob *raw)
{
    struct arena *a = &x->scratch;
    if (m == MEDIA_PROTOBUF) {
        add_envelope(to, shelf_api_version(a, f), f->resource->kind, blob_str(raw));
        return;
    }
    struct value v;
    struct err e;
    err_init(&e, a);
    if (!store_value(a, f, raw, &v, &e))
        json_encode(to, f->resource->type, &v);
}

static bool next_field(struct proto_scan *s, int number, struct str *ret_bytes)
{
    while (s->at < s->end && proto_scan_tag(s)) {
        if (s->number == number && s->wire_type == PROTO_BYTES)
            return proto_scan_bytes(s, ret_bytes);
        if (!proto_skip(s))
            return false;
    }
    return false;
}

bool store_matches(struct arena *scratch, const struct selector *selector, const struct blob *raw)
{
    enum { LABELS_MAX = 64 };
    struct label at[LABELS_MAX];
    size_t n = 0;
    struct str meta, entry;
    if (selector_empty(selector))
        return true;
    for (struct proto_scan s = proto_scan_init(blob_str(raw)); next_field(&s, OBJECT_METADATA, &meta);)
        for (struct proto_scan m = proto_scan_init(meta); next_field(&m, META_LABELS, &entry) && n < LABELS_MAX;) {
            struct label l = { 0 };
            struct proto_scan e = proto_scan_init(entry);
            if (next_field(&e, 1, &l.key)) {
                e = proto_scan_init(entry);
                next_field(&e, 2, &l.value);
                at[n++] = l;
            }
        }
    n = labels_sort(scratch, at, n);
    return selector_matches(selector, (struct labels){ at, n });
}

/* ---- Shelves ---- */

void store_init(struct stand_in *x)
{
    x->shelves = mem_zalloc(mem_product(schema_n_resources, sizeof(*x->shelves)));
    for (size_t i = 0; i < schema_n_resources; i++) {
        x->shelves[i].resource = &schema_resources[i];
        x->shelves[i].log_from = 1;
        map_str_init(&x->shelves[i].by_key);
        list_init(&x->shelves[i].watches);
    }
    x->version = 1;
}

void store_fini(struct stand_in *x)
{
    for (size_t i = 0; i < schema_n_resources; i++) {
        struct shelf *f = &x->shelves[i];
        for (size_t k = 0; k < f->n_log; k++)
            blob_unref(f->log[k].raw);
        for (size_t k = 0; k < f->objects.n; k++) {
            blob_unref(f->objects.at[k]->raw);
            free(f->objects.at[k]);
        }
        free(f->log);
        vec_fini(&f->objects);
        map_str_fini(&f->by_key);
    }
    free(x->shelves);
}

struct shelf *store_shelf(struct stand_in *x, struct str group, struct str version, struct str plural)
{
    const struct resource *r = schema_resource(group, version, plural);
    return r && r->type ? &x->shelves[r - schema_resources] : NULL;
}

struct kept *store_find(struct shelf *f, struct str ns, struct str name)
{
    char key[1024];
    int n = snprintf(key, sizeof(key), "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
    union map_value *v = n < (int)sizeof(key) ? map_str_find(&f->by_key, (struct str){ key, (size_t)n }) : NULL;
    return v ? v->ptr : NULL;
}

/* ---- Changes ---- */

static void forget_half(struct shelf *f)
{
    size_t n = f->n_log / 2;
    for (size_t i = 0; i < n; i++)
        blob_unref(f->log[i].raw);
    f->log_from = f->log[n - 1].version;
    f->log_first += n;
    f->n_log -= n;
    memmove(f->log, f->log + n, f->n_log * sizeof(*f->log));
}

static void note(struct stand_in *x, struct shelf *f, struct kept *o, enum change_type type, struct blob *raw)
{
    if (f->n_log == STAND_IN_LOG_MAX)
        forget_half(f);
    if (f->n_log == f->log_cap)
        f->log = vec_grown(f->log, &f->log_cap, f->n_log + 1, sizeof(*f->log));
    f->log[f->n_log++] = (struct change){ o->version, o, blob_ref(raw), type };
    watches_wake(x);
}

const struct change *store_change(const struct shelf *f, uint64_t number)
{
    uint64_t at = number - f->log_first;
    return number >= f->log_first && at < f->n_log ? &f->log[at] : NULL;
}

static void put_raw(struct stand_in *x, struct shelf *f, struct kept *o, enum change_type type, struct str raw)
{
    blob_unref(o->raw);
    o->raw = blob_new(raw);
    note(x, f, o, type, o->raw);
}

static void put_value(struct stand_in *x, struct shelf *f, struct kept *o, enum change_type type, struct value *v)
{
    struct arena *a = &x->scratch;
    const struct type *t = f->resource->type;
    o->version = ++x->version;
    *v = edit_set(a, t, v, "metadata.resourceVersion", value_string(number_text(a, o->version)));
    strbuf_reset(&x->out);
    proto_encode(&x->out, t, v);
    put_raw(x, f, o, type, strbuf_str(&x->out));
}

static struct kept *kept_new(struct str ns, struct str name)
{
    size_t n = ns.n + name.n + 2;
    struct kept *o = mem_zalloc(sizeof(*o) + n + ns.n + 1);
    char *key = (char *)(o + 1), *ns_copy = key + n;
    snprintf(key, n, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
    memcpy(ns_copy, ns.p ? ns.p : "", ns.n);
    o->key = key;
    o->ns = ns_copy;
    o->name = key + ns.n + 1;
    return o;
}

static void set_text(struct arena *a, const struct type *t, struct value *v, const char *path, struct str text)
{
    *v = edit_set(a, t, v, path, value_string(text));
}

struct kept *store_create(struct stand_in *x, struct shelf *f, struct str ns, struct value *v)
{
    struct arena *a = &x->scratch;
    const struct type *t = f->resource->type;
    struct str name = value_text(value_path(t, v, "metadata.name"));
    struct str prefix = value_text(value_path(t, v, "metadata.generateName"));
    if (!name.n)
        name = str_of(arena_printf(a, "%.*s%llu", STR_ARG(prefix), (unsigned long long)x->version));
    if (store_find(f, ns, name))
        return NULL;
    struct kept *o = kept_new(ns, name);
    set_text(a, t, v, "metadata.name", name);
    if (ns.n)
        set_text(a, t, v, "metadata.namespace", ns);
    if (!value_text(value_path(t, v, "metadata.uid")).n)
        set_text(a, t, v, "metadata.uid", str_of(arena_printf(a, "uid-%llu", (unsigned long long)x->version + 1)));
    if (value_path(t, v, "metadata.creationTimestamp")->kind == VALUE_ABSENT)
        *v = edit_set(a, t, v, "metadata.creationTimestamp",
                      value_time(clock_wall_ns(&clock_real) / CLOCK_NS_PER_SECOND, 0));
    map_str_put(&f->by_key, str_of(o->key), NULL)->ptr = o;
    vec_push(&f->objects, o);
    f->n_here++;
    put_value(x, f, o, CHANGE_ADDED, v);
    return o;
}

void store_replace(struct stand_in *x, struct shelf *f, struct kept *o, struct value *v)
{
    put_value(x, f, o, CHANGE_MODIFIED, v);
}

void store_delete(struct stand_in *x, struct shelf *f, struct kept *o)
{
    o->version = ++x->version;
    note(x, f, o, CHANGE_DELETED, o->raw);
    map_str_remove(&f->by_key, str_of(o->key), NULL);
    blob_unref(o->raw);
    o->raw = NULL;
    f->n_here--;
    x->counts.n_deleted++;
}

/* ---- Bindings ---- */

static bool has_node(const struct blob *raw)
{
    struct str spec, node;
    bool found = false;
    for (struct proto_scan s = proto_scan_init(blob_str(raw)); next_field(&s, POD_SPEC, &spec);)
        for (struct proto_scan n = proto_scan_init(spec); next_field(&n, SPEC_NODE_NAME, &node);)
            found = node.n > 0;
    return found;
}

bool store_bind(struct stand_in *x, struct shelf *f, struct kept *pod, struct str node)
{
    static const char scheduled[] = "\x0a\x0cPodScheduled\x12\x04True"; /* a condition: type and status */
    char version[24], part[512];
    if (has_node(pod->raw))
        return false;
    pod->version = ++x->version;
    int n = snprintf(version, sizeof(version), "%llu", (unsigned long long)pod->version);
    strbuf_reset(&x->out);
    strbuf_add_str(&x->out, blob_str(pod->raw));
    struct strbuf m = { .p = part, .cap = sizeof(part), .max = sizeof(part) };
    add_field(&m, META_RESOURCE_VERSION, (struct str){ version, (size_t)n });
    add_field(&x->out, OBJECT_METADATA, strbuf_str(&m));
    strbuf_reset(&m);
    add_field(&m, SPEC_NODE_NAME, node);
    add_field(&x->out, POD_SPEC, strbuf_str(&m));
    strbuf_reset(&m);
    add_field(&m, STATUS_CONDITIONS, (struct str){ scheduled, sizeof(scheduled) - 1 });
    add_field(&x->out, POD_STATUS, strbuf_str(&m));
    put_raw(x, f, pod, CHANGE_MODIFIED, strbuf_str(&x->out));
    return true;
}
