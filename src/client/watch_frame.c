/* client/watch_frame.c - see watch_frame.h. */
#include "client/watch_frame.h"

#include "api/schema_slots.h"
#include "base/arena_array.h"
#include "codec/json_scan.h"
#include "codec/proto.h"
#include "codec/proto_scan.h"

#define INITIAL_EVENTS_END "k8s.io/initial-events-end"

enum { /* numbers of protobuf fields */
    OBJECT_METADATA = 1,
    META_RESOURCE_VERSION = 6,
    META_ANNOTATIONS = 12,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    LIST_METADATA = 1,
    LIST_ITEMS = 2,
    LIST_META_RESOURCE_VERSION = 2,
    LIST_META_CONTINUE = 3,
};

/* ---- Frames ---- */

static size_t cut_line(struct str bytes, struct str *ret_frame)
{
    size_t n = str_index(bytes, '\n');
    if (n == bytes.n)
        return n > WATCH_FRAME_BYTES_MAX ? SIZE_MAX : 0;
    if (n > WATCH_FRAME_BYTES_MAX)
        return SIZE_MAX;
    struct str line = str_first(bytes, n);
    if (str_ends(line, STR("\r")))
        line.n--;
    *ret_frame = line;
    return n + 1;
}

static size_t cut_length(struct str bytes, struct str *ret_frame)
{
    if (bytes.n < 4)
        return 0;
    const unsigned char *p = (const unsigned char *)bytes.p;
    size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (n > WATCH_FRAME_BYTES_MAX)
        return SIZE_MAX;
    if (bytes.n - 4 < n)
        return 0;
    *ret_frame = (struct str){ bytes.p + 4, n };
    return n + 4;
}

size_t watch_frame_cut(enum media media, struct str bytes, struct str *ret_frame)
{
    return media == MEDIA_PROTOBUF ? cut_length(bytes, ret_frame) : cut_line(bytes, ret_frame);
}

/* ---- Metadata in protobuf ---- */

/* The bytes of the next field of that number; false at the end. Everything else is passed over; a fault ends it, too:
 * whoever decodes the object in full will find it. */
static bool next_bytes(struct proto_scan *s, int32_t number, struct str *ret_bytes)
{
    while (s->at < s->end && proto_scan_tag(s) && proto_tag_ok(s)) {
        if (s->number == number && s->wire_type == PROTO_BYTES)
            return proto_scan_bytes(s, ret_bytes);
        if (!proto_skip(s))
            return false;
    }
    return false;
}

static struct str last_bytes(struct str message, int32_t number)
{
    struct proto_scan s = proto_scan_init(message);
    struct str found = { 0 }, bytes;
    while (next_bytes(&s, number, &bytes))
        found = bytes;
    return found;
}

static bool proto_ends_list(struct str meta)
{
    struct proto_scan s = proto_scan_init(meta);
    struct str entry;
    while (next_bytes(&s, META_ANNOTATIONS, &entry))
        if (str_is(last_bytes(entry, ENTRY_KEY), INITIAL_EVENTS_END) && str_is(last_bytes(entry, ENTRY_VALUE), "true"))
            return true;
    return false;
}

static struct watch_object proto_object(struct str message)
{
    struct str meta = last_bytes(message, OBJECT_METADATA);
    return (struct watch_object){ TYPED_PROTOBUF, message, last_bytes(meta, META_RESOURCE_VERSION),
                                  proto_ends_list(meta) };
}

/* ---- Metadata in JSON ---- */

/* The text of the first member of that name; p is NULL when there is none. Servers write none twice, and metadata before
 * what is long. */
static struct str json_member(struct arena *a, struct str object, const char *name)
{
    struct json_scan s = json_scan_init(object);
    bool first = true, fault = false;
    if (!json_enter(&s, '{'))
        return (struct str){ 0 };
    while (json_next(&s, '}', &first, &fault)) {
        struct json_text key;
        struct str value;
        if (!json_scan_key(&s, &key) || !json_scan_value(&s, &value))
            break;
        if (str_is(json_unescape(a, key), name))
            return value;
    }
    return (struct str){ 0 };
}

/* Of a string; empty for anything else. */
static struct str json_string(struct arena *a, struct str raw)
{
    struct json_scan s = json_scan_init(raw);
    struct json_text text;
    if (raw.n == 0 || !json_scan_string(&s, &text))
        return (struct str){ 0 };
    return json_unescape(a, text);
}

static struct watch_object json_object(struct arena *a, struct str text)
{
    struct str meta = json_member(a, text, "metadata");
    struct str ends = json_string(a, json_member(a, json_member(a, meta, "annotations"), INITIAL_EVENTS_END));
    return (struct watch_object){ TYPED_JSON, text, json_string(a, json_member(a, meta, "resourceVersion")),
                                  str_is(ends, "true") };
}

/* ---- Events ---- */

static bool type_of(struct str text, enum watch_type *ret_type)
{
    static const char *const names[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR" };
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (str_is(text, names[i])) {
            *ret_type = (enum watch_type)i;
            return true;
        }
    return false;
}

static void read_error(struct arena *a, enum media media, struct str object, struct watch_event *event)
{
    struct object status;
    struct gvk seen, endpoint = { STR(""), STR("v1"), STR("Status") };
    struct err ignored;
    err_init(&ignored, a);
    struct work work = work_init(WATCH_FRAME_BYTES_MAX);
    event->code = 500;
    event->message = STR("the watch stream broke off with an error");
    if (object_read(a, &work, media, object, endpoint, NULL, &status, &seen, &ignored) ||
        status.type != &schema_types[T_meta_v1_Status])
        return;
    const struct value *code = value_slot(&status.value, SLOT_meta_v1_Status_code);
    event->code = code->kind == VALUE_INT && code->i > 0 && code->i < 1000 ? (int)code->i : 500;
    struct str message = value_text(value_slot(&status.value, SLOT_meta_v1_Status_message));
    if (message.n)
        event->message = message;
}

enum err_code watch_event_read(struct arena *a, enum media media, struct str frame, struct watch_event *ret_event,
                               struct err *e)
{
    struct str type = { 0 }, object = { 0 };
    if (media == MEDIA_PROTOBUF) {
        if (proto_open_watch_event(frame, &type, &object, e))
            return e->code;
    } else {
        type = json_string(a, json_member(a, frame, "type"));
        object = json_member(a, frame, "object");
    }
    struct watch_event event = { 0 };
    if (!type_of(type, &event.type))
        return err_set(e, ERR_BAD_REQUEST, "unable to decode an event from the watch stream: its type is \"%.*s\"",
                       STR_ARG(str_first(type, 64)));
    if (event.type == WATCH_ERROR) {
        read_error(a, media, object, &event);
    } else if (media == MEDIA_PROTOBUF) {
        struct proto_envelope envelope;
        if (proto_open(object, &envelope, e))
            return e->code;
        event.object = proto_object(envelope.raw);
    } else {
        event.object = json_object(a, object);
    }
    *ret_event = event;
    return ERR_OK;
}

/* ---- Lists ---- */

struct items {
    struct watch_object *at;
    size_t n, cap;
};

static void add_item(struct arena *a, struct items *items, struct watch_object item)
{
    items->at = arena_array_more(a, items->at, items->n, &items->cap, sizeof(item));
    items->at[items->n++] = item;
}

static enum err_code proto_list(struct arena *a, struct str body, struct items *items, struct list_page *page,
                                struct err *e)
{
    struct proto_envelope envelope;
    if (proto_open(body, &envelope, e))
        return e->code;
    struct str meta = last_bytes(envelope.raw, LIST_METADATA), item;
    page->version = last_bytes(meta, LIST_META_RESOURCE_VERSION);
    page->next = last_bytes(meta, LIST_META_CONTINUE);
    struct proto_scan s = proto_scan_init(envelope.raw);
    while (next_bytes(&s, LIST_ITEMS, &item))
        add_item(a, items, proto_object(item));
    return s.at == s.end ? ERR_OK : proto_scan_error(&s, e);
}

static enum err_code json_list(struct arena *a, struct str body, struct items *items, struct list_page *page,
                               struct err *e)
{
    if (json_check(body, e))
        return e->code;
    struct str meta = json_member(a, body, "metadata"), list = json_member(a, body, "items");
    page->version = json_string(a, json_member(a, meta, "resourceVersion"));
    page->next = json_string(a, json_member(a, meta, "continue"));
    struct json_scan s = json_scan_init(list);
    bool first = true, fault = false;
    if (list.n == 0 || !json_enter(&s, '['))
        return ERR_OK; /* null: there are none */
    struct str item;
    while (json_next(&s, ']', &first, &fault) && json_scan_value(&s, &item))
        add_item(a, items, json_object(a, item));
    return ERR_OK;
}

enum err_code list_page_read(struct arena *a, enum media media, struct str body, struct list_page *ret_page,
                             struct err *e)
{
    struct items items = { 0 };
    struct list_page page = { 0 };
    if (media == MEDIA_PROTOBUF ? proto_list(a, body, &items, &page, e) : json_list(a, body, &items, &page, e))
        return err_wrap(e, "unable to read a list");
    if (page.version.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "unable to read a list: it has no resourceVersion");
    page.items = items.at;
    page.n_items = items.n;
    *ret_page = page;
    return ERR_OK;
}
