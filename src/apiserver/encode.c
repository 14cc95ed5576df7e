/* apiserver/encode.c - see encode.h. */
#include "apiserver/encode.h"

#include <assert.h>

#include "api/edit.h"
#include "apiserver/status_object.h"
#include "codec/json.h"
#include "codec/proto.h"
#include "codec/yaml.h"
#include "rules/convert.h"

#define METADATA_TYPE "meta/v1.PartialObjectMetadata"

static const char *const event_names[] = { "ADDED", "MODIFIED", "DELETED" };

static const struct type *stored_type(const struct encoder *e)
{
    return convert_stored_type(e->resource->type);
}

/* "v1", "apps/v1" */
static void add_api_version(struct strbuf *to, const struct resource *r)
{
    strbuf_add_str(to, r->group);
    if (r->group.n)
        strbuf_add_char(to, '/');
    strbuf_add_str(to, r->version);
}

static const char *meta_version(const struct encoder *e)
{
    return e->form.meta_v1beta1 ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
}

/* ---- One object ---- */

/* The type in which an object is shown: the served one, but tables of autoscalers are made of the stored form. */
static const struct type *shown_type(const struct encoder *e)
{
    bool stored = e->form.as == AS_TABLE && str_is(e->resource->group, "autoscaling");
    return stored ? stored_type(e) : e->resource->type;
}

/* The value of an item, of shown_type. */
static struct value shown_value(struct encoder *e, struct arena *a, struct store_item *item)
{
    const struct type *t = stored_type(e);
    struct err err;
    struct value v, shown;
    err_init(&err, a);
    enum err_code rc = json_decode(a, WORK_OWN, t, store_item_value(item), NULL, &v, &err);
    assert(rc == ERR_OK); /* we wrote it */
    rc = convert(a, t, shown_type(e), &v, &shown, &err);
    assert(rc == ERR_OK); /* what is stored can be shown in every version */
    return shown;
}

static struct value metadata_only(struct encoder *e, struct arena *a, const struct type *t, const struct value *v)
{
    const struct type *partial = schema_type(STR(METADATA_TYPE));
    struct value m = value_struct(a, partial);
    m.slots[SLOT_KIND] = value_string(STR("PartialObjectMetadata"));
    m.slots[SLOT_API_VERSION] = value_string(str_of(meta_version(e)));
    m.slots[schema_slot(partial, STR("metadata"))] = shown_metadata(a, t, v);
    return m;
}

/* Scales have columns of their own, whatever they are the scale of. */
static const struct resource *table_resource(const struct encoder *e, const struct type *t)
{
    static const struct resource scales = { .group = { "autoscaling", sizeof("autoscaling") - 1 }, .version = { "v1", sizeof("v1") - 1 },
                                            .plural = { "scales", sizeof("scales") - 1 }, .kind = { "Scale", sizeof("Scale") - 1 } };
    return str_is(t->name, "autoscaling/v1.Scale") ? &scales : e->resource;
}

static void add_table(struct encoder *e, const struct type *t, const struct value *v, struct strbuf *to)
{
    struct table_meta meta = { .resource_version = value_text(value_path(t, v, "metadata.resourceVersion")) };
    const struct resource *r = table_resource(e, t);
    e->table.any_row = false;
    table_begin(to, r, &e->table, &meta);
    table_add_row(to, r, &e->table, t, v);
    table_end(to, r, &e->table);
}

/* JSON without a newline, of whatever form was asked for. */
static void add_json(struct encoder *e, const struct type *t, const struct value *v, struct strbuf *to)
{
    struct arena a;
    switch (e->form.as) {
    case AS_TABLE:
        add_table(e, t, v, to);
        return;
    case AS_METADATA:
    case AS_METADATA_LIST:
        arena_init(&a);
        struct value m = metadata_only(e, &a, t, v);
        json_encode(to, schema_type(STR(METADATA_TYPE)), &m);
        arena_fini(&a);
        return;
    case AS_OBJECT:
        json_encode(to, t, v);
    }
}

static void add_proto(struct encoder *e, const struct type *t, const struct value *v, struct strbuf *to)
{
    if (e->form.as == AS_OBJECT) {
        proto_encode_object(to, t, v);
        return;
    }
    struct arena a;
    arena_init(&a);
    struct value m = metadata_only(e, &a, t, v);
    proto_encode_object(to, schema_type(STR(METADATA_TYPE)), &m);
    arena_fini(&a);
}

/* JSON that we made, as it goes out. */
static void add_shown(struct encoder *e, struct str json, struct strbuf *to)
{
    if (e->form.media == MEDIA_YAML)
        yaml_from_json(to, json);
    else
        json_add_shown(to, json, e->pretty);
    if (e->form.as == AS_TABLE && e->form.media == MEDIA_JSON && e->pretty && to->n && to->p[to->n - 1] == '\n')
        to->n--; /* upstream writes these in another way */
}

void encode_value(struct encoder *e, const struct type *t, const struct value *v, struct strbuf *to)
{
    if (e->form.media == MEDIA_PROTOBUF) {
        add_proto(e, t, v, to);
        return;
    }
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    add_json(e, t, v, &json);
    add_shown(e, strbuf_str(&json), to);
    strbuf_fini(&json);
}

static bool is_as_stored(const struct encoder *e)
{
    return e->form.as == AS_OBJECT && e->resource->type == stored_type(e);
}

static void add_decoded(struct encoder *e, struct store_item *item, struct strbuf *to, bool whole)
{
    struct arena a;
    arena_init(&a);
    struct value v = shown_value(e, &a, item);
    const struct type *t = shown_type(e);
    if (whole)
        encode_value(e, t, &v, to);
    else if (e->form.media == MEDIA_PROTOBUF)
        add_proto(e, t, &v, to);
    else
        add_json(e, t, &v, to);
    arena_fini(&a);
}

void encode_item(struct encoder *e, struct store_item *item, struct strbuf *to)
{
    if (!is_as_stored(e))
        add_decoded(e, item, to, true);
    else if (e->form.media == MEDIA_PROTOBUF)
        strbuf_add_str(to, stored_proto(e->objects, e->resource, item));
    else
        add_shown(e, store_item_value(item), to);
}

/* ---- Lists ---- */

/* How much of an item's JSON is its kind and version, which items of lists do not have: `"kind":"Pod","apiVersion":"v1",` */
static size_t type_meta_bytes(const struct encoder *e)
{
    const struct resource *r = e->resource;
    size_t n_version = r->group.n + (r->group.n ? 1 : 0) + r->version.n;
    return sizeof("\"kind\":\"\",\"apiVersion\":\"\",") - 1 + r->kind.n + n_version;
}

static void add_list_head(struct list_encoder *l, struct strbuf *to)
{
    STRBUF_ADD_LIT(to, "{\"kind\":\"");
    if (l->encoder.form.as == AS_OBJECT) {
        strbuf_add_str(to, l->encoder.resource->kind);
        STRBUF_ADD_LIT(to, "List\",\"apiVersion\":\"");
        add_api_version(to, l->encoder.resource);
    } else {
        STRBUF_ADD_LIT(to, "PartialObjectMetadataList\",\"apiVersion\":\"");
        strbuf_add_text(to, meta_version(&l->encoder));
    }
    STRBUF_ADD_LIT(to, "\",\"metadata\":{\"resourceVersion\":");
    json_add_string(to, l->meta.resource_version);
    if (l->meta.continue_token.n) {
        STRBUF_ADD_LIT(to, ",\"continue\":");
        json_add_string(to, l->meta.continue_token);
    }
    if (l->meta.remaining)
        strbuf_printf(to, ",\"remainingItemCount\":%lld", (long long)l->meta.remaining);
    STRBUF_ADD_LIT(to, "},\"items\":[");
}

/* An item without its kind and version; of metadata lists with them, as upstream. */
static void add_list_item(struct list_encoder *l, struct store_item *item, struct strbuf *to)
{
    struct encoder *e = &l->encoder;
    if (is_as_stored(e)) {
        strbuf_add_char(to, '{');
        strbuf_add_str(to, str_from(store_item_value(item), 1 + type_meta_bytes(e)));
        return;
    }
    size_t start = to->n;
    add_decoded(e, item, to, false);
    if (e->form.as == AS_OBJECT) {
        size_t n = type_meta_bytes(e);
        memmove(to->p + start + 1, to->p + start + 1 + n, to->n - start - 1 - n);
        to->n -= n;
    }
}

static bool json_list_part(struct list_encoder *l, size_t room, struct strbuf *to)
{
    size_t start = to->n;
    if (!l->begun)
        add_list_head(l, to);
    l->begun = true;
    while (l->at < l->n && to->n - start < room) {
        if (l->at)
            strbuf_add_char(to, ',');
        add_list_item(l, l->items[l->at++], to);
    }
    if (l->at < l->n)
        return true;
    STRBUF_ADD_LIT(to, "]}");
    return false;
}

/* ---- Lists in protobuf ---- */

static void add_varint(struct strbuf *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_add_char(to, (char)(value | 0x80));
    strbuf_add_char(to, (char)value);
}

static size_t varint_bytes(uint64_t value)
{
    return (64 - (size_t)__builtin_clzll(value | 1) + 6) / 7;
}

static void add_field(struct strbuf *to, unsigned number, struct str bytes)
{
    add_varint(to, number << 3 | 2);
    add_varint(to, bytes.n);
    strbuf_add_str(to, bytes);
}

static size_t field_bytes(size_t n)
{
    return 1 + varint_bytes(n) + n;
}

/* The message inside of the item's envelope. */
static struct str item_message(struct list_encoder *l, struct store_item *item, struct strbuf *scratch)
{
    struct encoder *e = &l->encoder;
    if (is_as_stored(e))
        return stored_message(e->objects, e->resource, item);
    strbuf_reset(scratch);
    add_decoded(e, item, scratch, false);
    struct arena a;
    struct err err;
    struct proto_envelope envelope;
    arena_init_small(&a);
    err_init(&err, &a);
    enum err_code rc = proto_open(strbuf_str(scratch), &envelope, &err);
    assert(rc == ERR_OK);
    arena_fini(&a);
    return envelope.raw;
}

static void add_list_meta(struct list_encoder *l, struct strbuf *to)
{
    const struct type *t = schema_type(STR("meta/v1.ListMeta"));
    struct arena a;
    arena_init_small(&a);
    struct value m = value_struct(&a, t);
    m.slots[schema_slot(t, STR("resourceVersion"))] = value_string(l->meta.resource_version);
    if (l->meta.continue_token.n)
        m.slots[schema_slot(t, STR("continue"))] = value_string(l->meta.continue_token);
    if (l->meta.remaining)
        m.slots[schema_slot(t, STR("remainingItemCount"))] = value_int(l->meta.remaining);
    proto_encode(to, t, &m);
    arena_fini(&a);
}

/* Everything in front of the first item: lengths are of the whole, so all items are looked at. */
static void begin_proto_list(struct list_encoder *l, struct strbuf *scratch, struct strbuf *to)
{
    struct strbuf meta, names;
    strbuf_init(&meta, STRBUF_NO_MAX);
    strbuf_init(&names, STRBUF_NO_MAX);
    add_list_meta(l, &meta);
    size_t n = field_bytes(meta.n);
    for (size_t i = 0; i < l->n; i++)
        n += field_bytes(item_message(l, l->items[i], scratch).n);
    bool plain = l->encoder.form.as == AS_OBJECT;
    struct strbuf version, kind;
    strbuf_init(&version, STRBUF_NO_MAX);
    strbuf_init(&kind, STRBUF_NO_MAX);
    if (plain)
        add_api_version(&version, l->encoder.resource);
    else
        strbuf_add_text(&version, meta_version(&l->encoder));
    strbuf_add_str(&kind, plain ? l->encoder.resource->kind : STR("PartialObjectMetadata"));
    STRBUF_ADD_LIT(&kind, "List");
    add_field(&names, 1, strbuf_str(&version));
    add_field(&names, 2, strbuf_str(&kind));
    strbuf_add(to, "k8s\0", 4);
    add_field(to, 1, strbuf_str(&names));
    add_varint(to, 2 << 3 | 2);
    add_varint(to, n);
    add_field(to, 1, strbuf_str(&meta));
    strbuf_fini(&meta);
    strbuf_fini(&names);
    strbuf_fini(&version);
    strbuf_fini(&kind);
}

static bool proto_list_part(struct list_encoder *l, size_t room, struct strbuf *to)
{
    struct strbuf scratch;
    strbuf_init(&scratch, STRBUF_NO_MAX);
    size_t start = to->n;
    if (!l->begun)
        begin_proto_list(l, &scratch, to);
    l->begun = true;
    while (l->at < l->n && to->n - start < room)
        add_field(to, 2, item_message(l, l->items[l->at++], &scratch));
    strbuf_fini(&scratch);
    if (l->at < l->n)
        return true;
    strbuf_add(to, "\x1a\0\x22\0", 4); /* no encoding, no content type */
    return false;
}

/* ---- Lists as tables ---- */

static void add_table_list(struct list_encoder *l, struct strbuf *to)
{
    struct encoder *e = &l->encoder;
    struct arena a;
    arena_init(&a);
    e->table.any_row = false;
    table_begin(to, e->resource, &e->table, &l->meta);
    for (; l->at < l->n; l->at++) {
        struct value v = shown_value(e, &a, l->items[l->at]);
        table_add_row(to, e->resource, &e->table, shown_type(e), &v);
        arena_reset(&a);
    }
    table_end(to, e->resource, &e->table);
    arena_fini(&a);
}

static void add_whole_list(struct list_encoder *l, struct strbuf *to)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (l->encoder.form.as == AS_TABLE)
        add_table_list(l, &json);
    else
        json_list_part(l, SIZE_MAX, &json);
    add_shown(&l->encoder, strbuf_str(&json), to);
    strbuf_fini(&json);
}

bool encodes_in_parts(const struct encoder *e)
{
    return e->form.media == MEDIA_PROTOBUF || (e->form.as != AS_TABLE && !e->pretty && e->form.media != MEDIA_YAML);
}

bool encode_list_part(struct list_encoder *l, size_t room, struct strbuf *to)
{
    const struct encoder *e = &l->encoder;
    if (e->form.media == MEDIA_PROTOBUF)
        return proto_list_part(l, room, to);
    if (!encodes_in_parts(e)) {
        add_whole_list(l, to);
        return false;
    }
    bool more = json_list_part(l, room, to);
    if (!more)
        strbuf_add_char(to, '\n');
    return more;
}

/* ---- Watches ---- */

static void begin_json_event(struct strbuf *to, const char *type)
{
    strbuf_printf(to, "{\"type\":\"%s\",\"object\":", type);
}

static void end_json_event(struct strbuf *to)
{
    STRBUF_ADD_LIT(to, "}\n");
}

/* An event about a value that is not an item's as it is. */
static void add_event_of_value(struct encoder *e, const char *name, const struct type *t, const struct value *v,
                               struct strbuf *to)
{
    if (e->form.media != MEDIA_PROTOBUF) {
        begin_json_event(to, name);
        add_json(e, t, v, to);
        end_json_event(to);
        return;
    }
    struct strbuf object;
    strbuf_init(&object, STRBUF_NO_MAX);
    add_proto(e, t, v, &object);
    proto_encode_watch_event(to, str_of(name), strbuf_str(&object));
    strbuf_fini(&object);
}

static void add_event_at(struct encoder *e, const char *name, struct store_item *item, uint64_t revision,
                         struct strbuf *to)
{
    struct arena a;
    arena_init(&a);
    const struct type *t = shown_type(e);
    struct value v = shown_value(e, &a, item);
    if (revision) {
        struct value text = edit_text(arena_printf(&a, "%llu", (unsigned long long)revision));
        v = edit_set(&a, t, &v, "metadata.resourceVersion", text);
    }
    add_event_of_value(e, name, t, &v, to);
    arena_fini(&a);
}

void encode_event(struct encoder *e, enum event_type type, struct store_item *item, uint64_t revision,
                  struct strbuf *to)
{
    const char *name = event_names[type];
    if (revision || !is_as_stored(e)) {
        add_event_at(e, name, item, revision, to);
    } else if (e->form.media == MEDIA_PROTOBUF) {
        proto_encode_watch_event(to, str_of(name), stored_proto(e->objects, e->resource, item));
    } else {
        begin_json_event(to, name);
        strbuf_add_str(to, store_item_value(item));
        end_json_event(to);
    }
}

void encode_bookmark(struct encoder *e, uint64_t revision, bool initial_events_end, struct strbuf *to)
{
    const struct type *t = e->resource->type;
    struct arena a;
    struct strbuf version;
    arena_init_small(&a);
    strbuf_init(&version, STRBUF_NO_MAX);
    add_api_version(&version, e->resource);
    struct value v = value_struct(&a, t);
    v.slots[SLOT_KIND] = value_string(e->resource->kind);
    v.slots[SLOT_API_VERSION] = value_string(strbuf_str(&version));
    struct value text = edit_text(arena_printf(&a, "%llu", (unsigned long long)revision));
    v = edit_set(&a, t, &v, "metadata.resourceVersion", text);
    if (initial_events_end) {
        struct value none = { .kind = VALUE_ABSENT };
        v = edit_set(&a, t, &v, "metadata.annotations",
                     edit_member(&a, &none, STR("k8s.io/initial-events-end"), edit_text("true")));
    }
    add_event_of_value(e, "BOOKMARK", t, &v, to);
    strbuf_fini(&version);
    arena_fini(&a);
}

void encode_error_event(struct encoder *e, const struct status *s, struct strbuf *to)
{
    const struct type *t = schema_type(STR("meta/v1.Status"));
    struct arena a;
    arena_init(&a);
    struct value v = status_value(&a, s);
    struct encoder plain = *e;
    plain.form.as = AS_OBJECT;
    add_event_of_value(&plain, "ERROR", t, &v, to);
    arena_fini(&a);
}

bool encoders_agree(const struct encoder *a, const struct encoder *b)
{
    return a->resource == b->resource && a->form.media == b->form.media && a->form.as == b->form.as &&
           a->form.meta_v1beta1 == b->form.meta_v1beta1 && a->table.include == b->table.include &&
           a->table.no_columns == b->table.no_columns;
}
