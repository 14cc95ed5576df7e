/* daemon/delegation.c - see delegation.h. Upstream: apiserver/pkg/server/options/authentication.go,
 * dynamiccertificates/configmap_cafile_content.go, headerrequest/requestheader_controller.go. */
#include "daemon/delegation.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/reflector.h"
#include "codec/proto.h"

#define CONFIG_MAPS "/api/v1/namespaces/kube-system/configmaps"
#define CONFIG_MAP "extension-apiserver-authentication"

enum {
    READ_MS = 10000, /* for the first read, as upstream's client */
    LOOK_MS = 1000,
};

struct delegation {
    struct delegation_options options;
    api_call call;
    struct reflector *reflector;
    struct loop_timer timer;
};

/* ---- What it says ---- */

static struct str datum(const struct value *map, const char *key)
{
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return v ? value_text(v) : STR("");
}

/* A JSON list of texts; nothing at all is an empty one. */
static enum err_code read_strings(struct arena *a, const struct value *data, const char *key, struct str_list *ret_list,
                                  struct err *e)
{
    struct str text = datum(data, key);
    struct value list;
    struct work work = work_init(DELEGATION_BYTES_MAX);
    *ret_list = (struct str_list){ 0 };
    if (text.n == 0)
        return ERR_OK;
    if (json_decode_plain(a, &work, text, &list, e))
        return err_wrap(e, "%s", key);
    if (list.kind == VALUE_NULL)
        return ERR_OK;
    if (list.kind != VALUE_LIST)
        return err_set(e, ERR_INVALID, "%s is no list", key);
    struct str *at = ARENA_NEW_N(a, struct str, list.n);
    for (uint32_t i = 0; i < list.n; i++) {
        if (list.items[i].kind != VALUE_STRING)
            return err_set(e, ERR_INVALID, "%s is no list of strings", key);
        at[i] = value_text(&list.items[i]);
    }
    *ret_list = (struct str_list){ at, list.n };
    return ERR_OK;
}

static enum err_code use_proxy(struct delegation *d, struct arena *a, const struct value *data, struct err *e)
{
    struct authn_proxy p = { .ca_pem = datum(data, "requestheader-client-ca-file") };
    if (read_strings(a, data, "requestheader-username-headers", &p.user_headers, e) ||
        read_strings(a, data, "requestheader-uid-headers", &p.uid_headers, e) ||
        read_strings(a, data, "requestheader-group-headers", &p.group_headers, e) ||
        read_strings(a, data, "requestheader-extra-headers-prefix", &p.extra_prefixes, e) ||
        read_strings(a, data, "requestheader-allowed-names", &p.allowed_names, e))
        return e->code;
    return authn_set_proxy(d->options.authn, &p, e);
}

static enum err_code use_map(struct delegation *d, struct arena *a, const struct value *object, struct err *e)
{
    const struct value *data = value_slot(object, SLOT_core_v1_ConfigMap_data);
    struct str client_ca = datum(data, "client-ca-file");
    if (d->options.client_ca && client_ca.n && authn_set_client_ca(d->options.authn, client_ca, e))
        return err_wrap(e, "client-ca-file");
    /* As upstream: an authority that is gone from the text is believed until another one stands there. */
    if (d->options.proxy && datum(data, "requestheader-client-ca-file").n)
        return use_proxy(d, a, data, e);
    return ERR_OK;
}

static enum err_code use_json_or_proto(struct delegation *d, struct arena *a, enum media media, struct str body,
                                       struct err *e)
{
    struct object object;
    struct gvk seen, endpoint = { STR(""), STR("v1"), STR("ConfigMap") };
    struct work work = work_init(DELEGATION_BYTES_MAX);
    if (object_read(a, &work, media, body, endpoint, NULL, &object, &seen, e))
        return e->code;
    if (!str_is(object.type->kind, "ConfigMap"))
        return err_set(e, ERR_INVALID, "it is no ConfigMap");
    return use_map(d, a, &object.value, e);
}

/* ---- The first read ---- */

static void begin_watch(struct delegation *d);

static void first_read(void *context, const struct api_answer *answer)
{
    struct delegation *d = context;
    struct arena arena;
    struct err e;
    d->call = 0;
    arena_init(&arena);
    err_init(&e, &arena);
    const char *error = NULL;
    if (api_ok(answer)) {
        if (use_json_or_proto(d, &arena, answer->media, answer->body, &e))
            error = e.message;
    } else if (answer->status != 404) {
        error = api_problem(&arena, answer);
    }
    if (answer->status == 403)
        LOG(0, "Unable to get configmap/" CONFIG_MAP " in kube-system.  Usually fixed by 'kubectl create rolebinding -n "
               "kube-system ROLEBINDING_NAME --role=extension-apiserver-authentication-reader "
               "--serviceaccount=YOUR_NS:YOUR_SA'");
    begin_watch(d);
    d->options.read(d->options.context, error); /* last: it may free this */
    arena_fini(&arena);
}

/* ---- The watch ---- */

static bool take(void *context, enum reflected what, const struct watch_object *object)
{
    struct delegation *d = context;
    if (what != REFLECTED_LISTED && what != REFLECTED_SET)
        return true;
    struct arena arena;
    struct err e;
    arena_init(&arena);
    err_init(&e, &arena);
    struct value value;
    struct work work = work_init(DELEGATION_BYTES_MAX);
    const struct type *type = schema_object_type(STR("v1"), STR("ConfigMap"));
    enum err_code rc = object->format == TYPED_JSON
        ? json_decode(&arena, &work, type, object->bytes, NULL, &value, &e)
        : proto_decode(&arena, &work, type, object->bytes, &value, &e);
    if (rc || use_map(d, &arena, &value, &e))
        LOG_ERROR(e.message, "Unable to use configmap/" CONFIG_MAP "; what was known stays");
    arena_fini(&arena);
    return true;
}

/* A reflector does not say when it begins to wait, so it is looked at now and then. */
static void plan(struct delegation *d)
{
    int64_t look_ms = loop_now_ms(d->options.loop) + LOOK_MS, due_ms = reflector_due_ms(d->reflector);
    loop_timer_set(d->options.loop, &d->timer, due_ms < look_ms ? due_ms : look_ms);
}

static void tick(struct loop_timer *t)
{
    struct delegation *d = HEAP_ITEM(&t->node, struct delegation, timer.node);
    reflector_tick(d->reflector);
    plan(d);
}

static void begin_watch(struct delegation *d)
{
    d->reflector = reflector_new(&(struct reflector_options){
        .api = d->options.api, .clock = loop_clock(d->options.loop), .path = CONFIG_MAPS,
        .selector = "fieldSelector=metadata.name%3D" CONFIG_MAP, .sink = { d, take }, .seed = d->options.seed });
    reflector_start(d->reflector);
    plan(d);
}

struct delegation *delegation_new(const struct delegation_options *o)
{
    struct delegation *d = mem_zalloc(sizeof(*d));
    d->options = *o;
    d->timer.fire = tick;
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = STR(CONFIG_MAPS "/" CONFIG_MAP),
                                   .timeout_ms = READ_MS };
    d->call = o->api->send(o->api->context, &request, first_read, d);
    return d;
}

void delegation_free(struct delegation *d)
{
    if (!d)
        return;
    if (d->call)
        d->options.api->cancel(d->options.api->context, d->call);
    loop_timer_stop(d->options.loop, &d->timer);
    if (d->reflector)
        reflector_free(d->reflector);
    free(d);
}
