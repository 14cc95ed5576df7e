/* daemon/volume_writes.c - see volume_writes.h. Upstream: plugins/volumebinding/binder.go bindAPIUpdate, v1.36. */
#include "daemon/volume_writes.h"

#include <assert.h>
#include <stdlib.h>

#include "api/edit.h"
#include "api/schema_slots.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"
#define SELECTED_NODE "volume.kubernetes.io/selected-node"

struct volume_writes {
    const struct api *api;
    struct volume_job *job;
    uint32_t at; /* index of the write: bindings, then provisions */
    api_call call;
    volume_writes_done done;
    void *context;
};

/* ---- Which object ---- */

static const struct job_binding *binding_at(const struct volume_writes *w)
{
    return w->at < w->job->n_bindings ? &w->job->bindings[w->at] : NULL;
}

static struct job_provision *provision_at(const struct volume_writes *w)
{
    assert(w->at >= w->job->n_bindings);
    return &w->job->provisions[w->at - w->job->n_bindings];
}

static const struct type *type_at(const struct volume_writes *w)
{
    return &schema_types[binding_at(w) ? T_core_v1_PersistentVolume : T_core_v1_PersistentVolumeClaim];
}

static const char *version_at(const struct volume_writes *w)
{
    return binding_at(w) ? binding_at(w)->version : provision_at(w)->version;
}

static void send(struct volume_writes *w, const char *method, struct str body, api_done answered)
{
    struct arena a;
    arena_init(&a);
    const struct job_binding *b = binding_at(w);
    const char *target = b ? arena_printf(&a, "/api/v1/persistentvolumes/%s", b->volume)
                           : arena_printf(&a, "/api/v1/namespaces/%s/persistentvolumeclaims/%s", w->job->ns,
                                          provision_at(w)->claim);
    struct api_request r = { API_LANE_BIND, method, str_of(target), body.n ? media_content_type(w->api->media) : NULL,
                             body, 0 };
    w->call = w->api->send(w->api->context, &r, answered, w);
    arena_fini(&a);
}

/* ---- The object as it should be ---- */

static const struct value *meta_at(const struct type *t, const struct value *object, const char *name, struct arena *a)
{
    return value_path(t, object, arena_printf(a, "metadata.%s", name));
}

static bool names_claim(const struct value *ref, const struct volume_job *j, const struct job_binding *b)
{
    return str_is(value_text(value_slot(ref, SLOT_core_v1_ObjectReference_name)), b->claim) &&
           str_is(value_text(value_slot(ref, SLOT_core_v1_ObjectReference_namespace)), j->ns) &&
           str_is(value_text(value_slot(ref, SLOT_core_v1_ObjectReference_uid)), b->claim_uid);
}

static struct value with_annotation(struct arena *a, const struct type *t, const struct value *object,
                                    const char *name, const char *text)
{
    struct value annotations = edit_member(a, meta_at(t, object, "annotations", a), str_of(name), edit_text(text));
    return edit_set(a, t, object, "metadata.annotations", annotations);
}

static struct value bound_volume(struct arena *a, const struct value *volume, const struct volume_job *j,
                                 const struct job_binding *b)
{
    const struct type *t = &schema_types[T_core_v1_PersistentVolume];
    struct value v = *volume;
    if (!names_claim(value_path(t, &v, "spec.claimRef"), j, b)) {
        struct value ref = value_struct(a, &schema_types[T_core_v1_ObjectReference]);
        ref.slots[SLOT_core_v1_ObjectReference_kind] = edit_text("PersistentVolumeClaim");
        ref.slots[SLOT_core_v1_ObjectReference_namespace] = edit_text(j->ns);
        ref.slots[SLOT_core_v1_ObjectReference_name] = edit_text(b->claim);
        ref.slots[SLOT_core_v1_ObjectReference_uid] = edit_text(b->claim_uid);
        ref.slots[SLOT_core_v1_ObjectReference_apiVersion] = edit_text("v1");
        ref.slots[SLOT_core_v1_ObjectReference_resourceVersion] = edit_text(b->claim_version);
        v = edit_set(a, t, &v, "spec.claimRef", ref);
    }
    const struct value *annotations = meta_at(t, &v, "annotations", a);
    bool is_there = annotations->kind == VALUE_MAP && value_member(annotations, STR(BOUND_BY_CONTROLLER));
    return b->by_controller && !is_there ? with_annotation(a, t, &v, BOUND_BY_CONTROLLER, "yes") : v;
}

static struct value changed(struct arena *a, const struct volume_writes *w, const struct value *object)
{
    const struct job_binding *b = binding_at(w);
    return b ? bound_volume(a, object, w->job, b)
             : with_annotation(a, type_at(w), object, SELECTED_NODE, w->job->node);
}

/* ---- Answers ---- */

static void finish(struct volume_writes *w, const char *error)
{
    volume_writes_done done = w->done;
    void *context = w->context;
    struct volume_job *job = w->job;
    free(w);
    done(context, job, error);
}

/* The object in an answer; its texts are in the answer and in the arena. */
static enum err_code read_object(struct arena *a, const struct volume_writes *w, const struct api_answer *answer,
                                 struct value *ret_object, struct err *e)
{
    const struct type *t = type_at(w);
    struct gvk seen, endpoint = { STR(""), STR("v1"), t->kind };
    struct object object;
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    if (object_read(a, &work, answer->media, answer->body, endpoint, NULL, &object, &seen, e))
        return e->code;
    if (object.type != t)
        return err_set(e, ERR_INVALID, "the server answered with another kind than %.*s", STR_ARG(t->kind));
    *ret_object = object.value;
    return ERR_OK;
}

static const char *conflict(struct arena *a, const struct volume_writes *w)
{
    const struct job_binding *b = binding_at(w);
    return arena_printf(a, "Operation cannot be fulfilled on %s \"%s\": the object has been modified; please apply "
                           "your changes to the latest version and try again",
                        b ? "persistentvolumes" : "persistentvolumeclaims", b ? b->volume : provision_at(w)->claim);
}

static void after_read(void *context, const struct api_answer *answer);

static void next(struct volume_writes *w)
{
    if (w->at < w->job->n_bindings + w->job->n_provisions)
        send(w, "GET", (struct str){ 0 }, after_read);
    else
        finish(w, NULL);
}

static void after_write(void *context, const struct api_answer *answer)
{
    struct volume_writes *w = context;
    struct arena a;
    struct err e;
    struct value object;
    arena_init(&a);
    err_init(&e, &a);
    w->call = 0;
    if (!api_ok(answer)) {
        finish(w, api_problem(&a, answer));
    } else if (read_object(&a, w, answer, &object, &e)) {
        finish(w, e.message);
    } else {
        struct str version = value_text(meta_at(type_at(w), &object, "resourceVersion", &a));
        const char *kept = arena_cstr(&w->job->arena, version);
        if (binding_at(w))
            w->job->bindings[w->at].written = kept;
        else
            provision_at(w)->written = kept;
        w->at++;
        next(w);
    }
    arena_fini(&a);
}

static void write_object(struct volume_writes *w, struct arena *a, const struct value *object)
{
    struct value v = changed(a, w, object);
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    object_encode(&body, w->api->media, type_at(w), &v);
    send(w, "PUT", strbuf_str(&body), after_write);
    strbuf_fini(&body);
}

static void after_read(void *context, const struct api_answer *answer)
{
    struct volume_writes *w = context;
    struct arena a;
    struct err e;
    struct value object;
    arena_init(&a);
    err_init(&e, &a);
    w->call = 0;
    if (!api_ok(answer))
        finish(w, api_problem(&a, answer));
    else if (read_object(&a, w, answer, &object, &e))
        finish(w, e.message);
    else if (!str_is(value_text(meta_at(type_at(w), &object, "resourceVersion", &a)), version_at(w)))
        finish(w, conflict(&a, w));
    else
        write_object(w, &a, &object);
    arena_fini(&a);
}

/* ---- Life ---- */

struct volume_writes *volume_writes_start(const struct api *api, struct volume_job *own_job, volume_writes_done done,
                                          void *context)
{
    assert(own_job->n_bindings + own_job->n_provisions);
    struct volume_writes *w = mem_zalloc(sizeof(*w));
    *w = (struct volume_writes){ .api = api, .job = own_job, .done = done, .context = context };
    next(w);
    return w;
}

void volume_writes_cancel(struct volume_writes *w)
{
    if (w->call)
        w->api->cancel(w->api->context, w->call);
    volume_job_free(w->job);
    free(w);
}
