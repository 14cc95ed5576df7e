/* client/event_body.c - see event_body.h. */
#include "client/event_body.h"

#include "api/names.h"
#include "api/schema_slots.h"
#include "api/time.h"
#include "codec/json.h"

static void add_random_name(struct strbuf *to, struct rand *rand)
{
    uint64_t high = rand_u64(rand), low = rand_u64(rand);
    strbuf_printf(to, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
                  (unsigned)(high & 0xfff), (unsigned)(0x8000 | (low >> 48 & 0x3fff)),
                  (unsigned long long)(low & 0xffffffffffff));
}

void event_body_add_name(struct strbuf *to, struct rand *rand, struct str object, int64_t wall_ns)
{
    size_t before = to->n;
    strbuf_add_str(to, object);
    strbuf_printf(to, ".%llx", (unsigned long long)wall_ns);
    if (name_is_dns_subdomain((struct str){ to->p + before, to->n - before }, false).n == 0)
        return;
    to->n = before;
    add_random_name(to, rand);
}

void event_body_add_target(struct strbuf *to, enum event_api api, struct str ns)
{
    const char *root = api == EVENT_API_CORE ? "/api/v1" : "/apis/events.k8s.io/v1";
    strbuf_printf(to, "%s/namespaces/%.*s/events", root, STR_ARG(ns));
}

static struct value micro_time(int64_t wall_ns)
{
    int64_t seconds = wall_ns / CLOCK_NS_PER_SECOND;
    return value_time(seconds, (uint32_t)(wall_ns % CLOCK_NS_PER_SECOND / 1000 * 1000));
}

static struct value whole_time(int64_t wall_ns)
{
    return value_time(wall_ns / CLOCK_NS_PER_SECOND, 0);
}

static struct value reference_value(struct arena *a, const struct object_reference *o)
{
    struct value v = value_struct(a, &schema_types[T_core_v1_ObjectReference]);
    const struct { unsigned slot; struct str text; } rows[] = {
        { SLOT_core_v1_ObjectReference_kind, o->kind },
        { SLOT_core_v1_ObjectReference_namespace, o->ns },
        { SLOT_core_v1_ObjectReference_name, o->name },
        { SLOT_core_v1_ObjectReference_uid, o->uid },
        { SLOT_core_v1_ObjectReference_apiVersion, o->api_version },
        { SLOT_core_v1_ObjectReference_resourceVersion, o->resource_version },
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].text.n)
            v.slots[rows[i].slot] = value_string(rows[i].text);
    return v;
}

static struct value series_value(struct arena *a, const struct event_body *b)
{
    struct value v = value_struct(a, &schema_types[T_events_v1_EventSeries]);
    v.slots[SLOT_events_v1_EventSeries_count] = value_int(b->count);
    v.slots[SLOT_events_v1_EventSeries_lastObservedTime] = micro_time(b->last_wall_ns);
    return v;
}

static struct value meta_value(struct arena *a, const struct event_body *b)
{
    struct value meta = value_struct(a, &schema_types[T_meta_v1_ObjectMeta]);
    meta.slots[SLOT_meta_v1_ObjectMeta_name] = value_string(b->name);
    meta.slots[SLOT_meta_v1_ObjectMeta_namespace] = value_string(b->ns);
    return meta;
}

static struct value events_value(struct arena *a, const struct event_body *b)
{
    const struct event_to_record *e = b->event;
    struct value v = value_struct(a, &schema_types[T_events_v1_Event]);
    v.slots[SLOT_KIND] = value_string(STR("Event"));
    v.slots[SLOT_API_VERSION] = value_string(STR("events.k8s.io/v1"));
    v.slots[SLOT_events_v1_Event_metadata] = meta_value(a, b);
    v.slots[SLOT_events_v1_Event_eventTime] = micro_time(b->first_wall_ns);
    if (b->count)
        v.slots[SLOT_events_v1_Event_series] = series_value(a, b);
    v.slots[SLOT_events_v1_Event_reportingController] = value_string(e->controller);
    v.slots[SLOT_events_v1_Event_reportingInstance] = value_string(e->instance);
    v.slots[SLOT_events_v1_Event_action] = value_string(e->action);
    v.slots[SLOT_events_v1_Event_reason] = value_string(e->reason);
    v.slots[SLOT_events_v1_Event_regarding] = reference_value(a, &e->regarding);
    v.slots[SLOT_events_v1_Event_note] = value_string(b->note);
    v.slots[SLOT_events_v1_Event_type] = value_string(e->type);
    return v;
}

/* Neither action nor instance: who writes to core/v1 has no place for them. */
static struct value core_value(struct arena *a, const struct event_body *b)
{
    const struct event_to_record *e = b->event;
    struct value source = value_struct(a, &schema_types[T_core_v1_EventSource]);
    source.slots[SLOT_core_v1_EventSource_component] = value_string(e->controller);
    struct value v = value_struct(a, &schema_types[T_core_v1_Event]);
    v.slots[SLOT_KIND] = value_string(STR("Event"));
    v.slots[SLOT_API_VERSION] = value_string(STR("v1"));
    v.slots[SLOT_core_v1_Event_metadata] = meta_value(a, b);
    v.slots[SLOT_core_v1_Event_involvedObject] = reference_value(a, &e->regarding);
    v.slots[SLOT_core_v1_Event_reason] = value_string(e->reason);
    v.slots[SLOT_core_v1_Event_message] = value_string(b->note);
    v.slots[SLOT_core_v1_Event_source] = source;
    v.slots[SLOT_core_v1_Event_firstTimestamp] = whole_time(b->first_wall_ns);
    v.slots[SLOT_core_v1_Event_lastTimestamp] = whole_time(b->last_wall_ns);
    v.slots[SLOT_core_v1_Event_count] = value_int(b->count);
    v.slots[SLOT_core_v1_Event_type] = value_string(e->type);
    if (!b->combined)
        v.slots[SLOT_core_v1_Event_reportingComponent] = value_string(e->controller);
    return v;
}

void event_body_add_object(struct strbuf *to, enum event_api api, enum media media, const struct event_body *b)
{
    struct arena a;
    arena_init(&a);
    struct value v = api == EVENT_API_CORE ? core_value(&a, b) : events_value(&a, b);
    object_encode(to, media, &schema_types[api == EVENT_API_CORE ? T_core_v1_Event : T_events_v1_Event], &v);
    arena_fini(&a);
}

static void add_core_patch(struct strbuf *to, const struct event_body *b)
{
    strbuf_printf(to, "{\"count\":%d,\"lastTimestamp\":\"", (int)b->count);
    timestamp_add(to, (struct timestamp){ .seconds = b->last_wall_ns / CLOCK_NS_PER_SECOND });
    STRBUF_ADD_LIT(to, "\",\"message\":");
    json_add_string(to, b->note);
    STRBUF_ADD_LIT(to, "}");
}

void event_body_add_patch(struct strbuf *to, enum event_api api, const struct event_body *b)
{
    struct arena a;
    arena_init(&a);
    if (api == EVENT_API_CORE) {
        add_core_patch(to, b);
    } else {
        struct value series = series_value(&a, b);
        STRBUF_ADD_LIT(to, "{\"series\":");
        json_encode(to, &schema_types[T_events_v1_EventSeries], &series);
        STRBUF_ADD_LIT(to, "}");
    }
    arena_fini(&a);
}
