/* controllers/event.c - see event.h. The recorder speaks to an API server by paths and bodies; here is one that hands those to
 * the handlers of this process. */
#include "controllers/event.h"

#include <assert.h>
#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/json.h"

#define TARGET "/api/v1/namespaces/"

/* One for each controller: its account writes its Events. */
struct reporter {
    struct events *events;
    struct api api;
    struct event_recorder *recorder;
    char *controller;
};

struct events {
    struct cluster *cluster;
    struct map_str reporters; /* controller -> struct reporter */
    struct list sent;
};

/* A request of the recorder that is under way. */
struct sent {
    struct list_node node;
    api_done done; /* NULL: nobody wants the answer any more */
    void *context;
};

/* ---- Requests ---- */

static void add_status(struct strbuf *to, const struct cluster_outcome *o)
{
    STRBUF_ADD_LIT(to, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":");
    json_add_string(to, str_of(o->message));
    STRBUF_ADD_LIT(to, ",\"reason\":");
    json_add_string(to, str_of(err_reason(o->code)));
    strbuf_printf(to, ",\"code\":%d}", err_http_status(o->code));
}

static void answered(void *context, const struct cluster_outcome *o)
{
    struct sent *s = context;
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    if (o->code)
        add_status(&body, o);
    struct api_answer answer = { .status = o->code ? err_http_status(o->code) : 200, .media = MEDIA_JSON,
                                 .body = strbuf_str(&body) };
    list_remove(&s->node);
    if (s->done)
        s->done(s->context, &answer);
    strbuf_fini(&body);
    free(s);
}

/* /api/v1/namespaces/NAMESPACE/events, and a name behind it for a patch. */
static api_call send_request(void *context, const struct api_request *request, api_done done, void *done_context)
{
    struct reporter *r = context;
    struct sent *s = mem_zalloc(sizeof(*s));
    s->done = done;
    s->context = done_context;
    list_push(&r->events->sent, &s->node);
    assert(str_starts(request->target, STR(TARGET)));
    struct str rest = str_from(request->target, sizeof(TARGET) - 1);
    size_t slash = str_index(rest, '/');
    bool patches = strcmp(request->method, "PATCH") == 0;
    struct cluster_call call = {
        .verb = patches ? CLUSTER_PATCH_STRATEGIC : CLUSTER_CREATE,
        .controller = r->controller,
        .resource = stored_resource("events", ""),
        .namespace = str_first(rest, slash),
        .name = patches ? str_from(rest, slash + sizeof("/events/") - 1) : STR(""),
        .patch = request->body,
        .answered = answered,
        .context = s,
    };
    cluster_begin(r->events->cluster, &call);
    return (uintptr_t)s;
}

static void cancel(void *context, api_call call)
{
    (void)context;
    ((struct sent *)(uintptr_t)call)->done = NULL;
}

/* ---- Reporters ---- */

static struct reporter *reporter_of(struct events *e, const char *controller)
{
    union map_value *found = map_str_find(&e->reporters, str_of(controller));
    if (found)
        return found->ptr;
    struct reporter *r = mem_zalloc(sizeof(*r));
    const struct clock *clock = loop_clock(cluster_loop(e->cluster));
    r->events = e;
    r->controller = mem_alloc(strlen(controller) + 1);
    strcpy(r->controller, controller);
    r->api = (struct api){ .context = r, .media = MEDIA_JSON, .send = send_request, .cancel = cancel };
    r->recorder = event_recorder_new(&r->api, clock, (uint64_t)clock_wall_ns(clock));
    event_recorder_use_core(r->recorder);
    map_str_put(&e->reporters, str_of(r->controller), NULL)->ptr = r;
    return r;
}

struct object_reference event_reference(const struct resource *r, const struct value *object)
{
    const struct value *m = value_path(r->type, object, "metadata");
    return (struct object_reference){
        .kind = r->kind,
        .api_version = value_text(value_slot(object, SLOT_API_VERSION)),
        .ns = value_text(value_slot(m, SLOT_meta_v1_ObjectMeta_namespace)),
        .name = value_text(value_slot(m, SLOT_meta_v1_ObjectMeta_name)),
        .uid = value_text(value_slot(m, SLOT_meta_v1_ObjectMeta_uid)),
        .resource_version = value_text(value_slot(m, SLOT_meta_v1_ObjectMeta_resourceVersion)),
    };
}

void events_record(struct events *e, const char *controller, const struct object_reference *about, const char *type,
                   const char *reason, const char *format, ...)
{
    struct arena a;
    va_list args;
    arena_init_small(&a);
    va_start(args, format);
    const char *note = arena_vprintf(&a, format, args);
    va_end(args);
    struct event_to_record event = { .controller = str_of(controller), .type = str_of(type), .reason = str_of(reason),
                                     .note = str_of(note), .regarding = *about };
    event_recorder_add(reporter_of(e, controller)->recorder, &event);
    arena_fini(&a);
}

/* ---- Life ---- */

struct events *events_new(struct cluster *c)
{
    struct events *e = mem_zalloc(sizeof(*e));
    e->cluster = c;
    map_str_init(&e->reporters);
    list_init(&e->sent);
    return e;
}

void events_free(struct events *e)
{
    if (!e)
        return;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&e->reporters, s));) {
        struct reporter *r = s->value.ptr;
        event_recorder_free(r->recorder);
        free(r->controller);
        free(r);
    }
    map_str_fini(&e->reporters);
    for (struct list_node *n; (n = list_first(&e->sent));) {
        list_remove(n);
        free(LIST_ITEM(n, struct sent, node));
    }
    free(e);
}
