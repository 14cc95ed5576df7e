/* daemon/raw_objects.c - see raw_objects.h. */
#include "daemon/raw_objects.h"

#include <stdlib.h>

#include "api/edit.h"
#include "api/schema_slots.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/json.h"
#include "codec/object.h"
#include "codec/proto.h"
#include "sched/extender.h"

enum { RAW_READY = TYPED_PROTOBUF + 1 }; /* a format: JSON as it is sent */

struct raw {
    char *key, *bytes;
    size_t n_bytes;
    uint8_t format; /* enum typed_format or RAW_READY */
};

struct raw_map {
    struct map_str map; /* by uid of pods, name of nodes */
    const struct type *type;
    bool drops_managed_fields;
    size_t n_bytes;
};

struct raw_objects {
    const struct sym_table *syms;
    struct raw_map pods, nodes;
    bool keeps_pods, keeps_placed, keeps_nodes;
};

/* ---- What is kept ---- */

static void note_wants(struct raw_objects *r, const struct extender *x)
{
    bool sees_nodes = extender_has(x, EXTENDER_FILTER) || extender_has(x, EXTENDER_PRIORITIZE);
    bool sees_victims = extender_has(x, EXTENDER_PREEMPT);
    r->keeps_pods |= sees_nodes || sees_victims;
    r->keeps_nodes |= sees_nodes && !x->node_cache_capable;
    r->keeps_placed |= sees_victims && !x->node_cache_capable;
}

static void raw_map_init(struct raw_map *m, const struct type *type, bool drops_managed_fields)
{
    *m = (struct raw_map){ .type = type, .drops_managed_fields = drops_managed_fields };
    map_str_init(&m->map);
}

struct raw_objects *raw_objects_new(const struct sym_table *syms, struct extender *const *extenders,
                                    uint32_t n_extenders)
{
    struct raw_objects *r = mem_zalloc(sizeof(*r));
    r->syms = syms;
    raw_map_init(&r->pods, &schema_types[T_core_v1_Pod], true);
    raw_map_init(&r->nodes, &schema_types[T_core_v1_Node], false);
    for (uint32_t i = 0; i < n_extenders; i++)
        note_wants(r, extenders[i]);
    return r;
}

static void raw_free(struct raw *raw)
{
    free(raw->key);
    free(raw->bytes);
    free(raw);
}

static void raw_map_fini(struct raw_map *m)
{
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&m->map, slot));)
        raw_free(slot->value.ptr);
    map_str_fini(&m->map);
}

void raw_objects_free(struct raw_objects *r)
{
    if (!r)
        return;
    raw_map_fini(&r->pods);
    raw_map_fini(&r->nodes);
    free(r);
}

/* ---- Coming and going ---- */

static char *copied(struct str s)
{
    char *copy = mem_alloc(s.n + 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    return copy;
}

static void raw_fill(struct raw_map *m, struct raw *raw, uint8_t format, struct str bytes)
{
    m->n_bytes = m->n_bytes - raw->n_bytes + bytes.n;
    free(raw->bytes);
    raw->bytes = copied(bytes);
    raw->n_bytes = bytes.n;
    raw->format = format;
}

static void raw_set(struct raw_map *m, struct str key, enum typed_format format, struct str bytes)
{
    union map_value *found = map_str_find(&m->map, key);
    struct raw *raw = found ? found->ptr : mem_zalloc(sizeof(*raw));
    if (!found) {
        raw->key = copied(key);
        map_str_put(&m->map, (struct str){ raw->key, key.n }, NULL)->ptr = raw;
    }
    raw_fill(m, raw, (uint8_t)format, bytes);
}

static void raw_remove(struct raw_map *m, struct str key)
{
    union map_value value;
    if (!map_str_remove(&m->map, key, &value))
        return;
    struct raw *raw = value.ptr;
    m->n_bytes -= raw->n_bytes;
    raw_free(raw);
}

void raw_objects_set_pod(struct raw_objects *r, const struct pod *pod, enum typed_format format, struct str bytes)
{
    bool is_wanted = r->keeps_placed || (r->keeps_pods && pod->node_name == SYM_EMPTY);
    if (is_wanted && !(pod->flags & POD_FINISHED)) /* to the scheduler a finished one is gone */
        raw_set(&r->pods, str_of(pod->meta.uid), format, bytes);
    else
        raw_remove(&r->pods, str_of(pod->meta.uid));
}

void raw_objects_set_node(struct raw_objects *r, const struct node *node, enum typed_format format, struct str bytes)
{
    if (r->keeps_nodes)
        raw_set(&r->nodes, str_of(node->meta.name), format, bytes);
}

void raw_objects_remove_pod(struct raw_objects *r, const char *uid)
{
    raw_remove(&r->pods, str_of(uid));
}

void raw_objects_remove_node(struct raw_objects *r, struct str name)
{
    raw_remove(&r->nodes, name);
}

/* ---- As JSON ---- */

static enum err_code decode(struct arena *a, const struct raw_map *m, const struct raw *raw, struct value *ret_value,
                            struct err *e)
{
    struct str bytes = { raw->bytes, raw->n_bytes };
    struct work work = work_init(SIZE_MAX); /* a form was made of these bytes already */
    if (raw->format == TYPED_PROTOBUF)
        return proto_decode(a, &work, m->type, bytes, ret_value, e);
    return json_decode(a, &work, m->type, bytes, NULL, ret_value, e);
}

/* From now on its bytes are what is sent. */
static enum err_code make_ready(struct raw_map *m, struct raw *raw, struct err *e)
{
    struct arena a;
    struct value v;
    if (raw->format == RAW_READY)
        return ERR_OK;
    arena_init(&a);
    if (decode(&a, m, raw, &v, e)) {
        arena_fini(&a);
        return e->code;
    }
    v.slots[SLOT_KIND] = v.slots[SLOT_API_VERSION] = (struct value){ 0 };
    if (m->drops_managed_fields)
        v = edit_set(&a, m->type, &v, "metadata.managedFields", (struct value){ 0 });
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, m->type, &v);
    raw_fill(m, raw, RAW_READY, strbuf_str(&json));
    strbuf_fini(&json);
    arena_fini(&a);
    return ERR_OK;
}

static enum err_code find(struct raw_map *m, struct str key, const char *what, struct raw **ret_raw, struct err *e)
{
    union map_value *found = map_str_find(&m->map, key);
    if (!found)
        return err_set(e, ERR_NOT_FOUND, "%s \"%.*s\" is not known as a whole", what, STR_ARG(key));
    *ret_raw = found->ptr;
    return make_ready(m, *ret_raw, e);
}

/* A pod on a node, which the API server may not say yet: then the scheduler has only decided it. */
static enum err_code add_placed(struct raw_objects *r, const struct raw *raw, sym node, struct strbuf *to,
                                struct err *e)
{
    struct arena a;
    struct value v;
    struct str name = sym_text(r->syms, node);
    arena_init(&a);
    enum err_code code = decode(&a, &r->pods, raw, &v, e);
    if (!code && !str_eq(value_text(value_path(r->pods.type, &v, "spec.nodeName")), name))
        v = edit_set(&a, r->pods.type, &v, "spec.nodeName", value_string(name));
    if (!code)
        json_encode(to, r->pods.type, &v);
    arena_fini(&a);
    return code;
}

enum err_code raw_objects_add_pod(struct raw_objects *r, const struct pod *pod, struct strbuf *to, struct err *e)
{
    struct raw *raw = NULL;
    if (find(&r->pods, str_of(pod->meta.uid), "pod", &raw, e))
        return e->code;
    if (pod->node_name != SYM_EMPTY)
        return add_placed(r, raw, pod->node_name, to, e);
    strbuf_add(to, raw->bytes, raw->n_bytes);
    return ERR_OK;
}

enum err_code raw_objects_add_node(struct raw_objects *r, struct str name, struct strbuf *to, struct err *e)
{
    struct raw *raw = NULL;
    if (find(&r->nodes, name, "node", &raw, e))
        return e->code;
    strbuf_add(to, raw->bytes, raw->n_bytes);
    return ERR_OK;
}

struct raw_objects_counts raw_objects_counts(const struct raw_objects *r)
{
    return (struct raw_objects_counts){ r->pods.map.n, r->nodes.map.n, r->pods.n_bytes + r->nodes.n_bytes };
}
