/* Volumes and claims as they are written, with answers given by hand. The bodies in tests/golden/volumes were recorded from
 * kube-scheduler v1.36.4. */
#include "daemon/volume_writes.h"

#include <stdlib.h>

#include "api/edit.h"
#include "api/schema_slots.h"
#include "codec/proto.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;

/* ---- A server that does as it is told ---- */

static struct api api;
static api_done waiting;
static void *waiting_context;
static char method[10], target[200], media_type[100];
static enum api_lane lane;
static struct strbuf body;
static int n_cancelled;

static api_call take_request(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    CHECK(!waiting);
    waiting = done;
    waiting_context = done_context;
    lane = r->lane;
    snprintf(method, sizeof(method), "%s", r->method);
    snprintf(target, sizeof(target), "%.*s", STR_ARG(r->target));
    snprintf(media_type, sizeof(media_type), "%s", r->media_type ? r->media_type : "");
    strbuf_reset(&body);
    strbuf_add_str(&body, r->body);
    return 7;
}

static void take_cancel(void *context, api_call call)
{
    (void)context;
    CHECK_INT("call", call, 7);
    n_cancelled++;
    waiting = NULL;
}

static void answer(const struct api_answer *a)
{
    api_done done = waiting;
    CHECK(done);
    waiting = NULL;
    done(waiting_context, a);
}

static void answer_json(int status, const char *text)
{
    answer(&(struct api_answer){ .status = status, .media = MEDIA_JSON, .body = str_of(text) });
}

static void check_request(const char *want_method, const char *want_target)
{
    CHECK(waiting);
    CHECK_TEXT("method", method, want_method);
    CHECK_TEXT("target", target, want_target);
    CHECK_INT("lane", lane, API_LANE_BIND);
}

/* ---- Jobs ---- */

static struct volume_job *finished;
static char finish_error[500];
static int n_finished;

static void done(void *context, struct volume_job *own_job, const char *why)
{
    CHECK(context == &api);
    finished = own_job;
    n_finished++;
    snprintf(finish_error, sizeof(finish_error), "%s", why ? why : "");
}

static const struct volume_binding bind_pv1 = { "pv1", "425", "stat", "8bc0f3e2-ed6f-48bb-9a5a-ca18911cec9c", "414", true };
static const struct volume_provision provide_dyn = { "dyn", "415" };

static struct volume_writes *start(const struct volume_binding *bindings, uint32_t n_bindings,
                                   const struct volume_provision *provisions, uint32_t n_provisions)
{
    struct sym_table syms;
    arena_init(&arena);
    err_init(&error, &arena);
    strbuf_init(&body, STRBUF_NO_MAX);
    sym_init(&syms);
    api = (struct api){ .media = MEDIA_JSON, .send = take_request, .cancel = take_cancel };
    const struct pod *pod;
    CHECK(!pod_decode(&syms, TYPED_JSON, STR("{\"metadata\":{\"name\":\"vol\",\"namespace\":\"default\",\"uid\":\"u\"}}"),
                      &pod, &error));
    sym node = sym_intern(&syms, STR("n1"));
    struct volume_decisions d = { pod->meta.ns, node, bindings, provisions, n_bindings, n_provisions, 600000 };
    struct volume_job *job = volume_job_new(&syms, pod, node, &d);
    sym_unref(&syms, node);
    pod_unref(&syms, pod);
    sym_fini(&syms); /* the job does without */
    CHECK_TEXT("pod", job->pod, "vol");
    CHECK_TEXT("uid", job->pod_uid, "u");
    CHECK_INT("timeout", job->timeout_ms, 600000);
    n_finished = 0;
    struct volume_writes *w = volume_writes_start(&api, job, done, &api);
    CHECK_INT("not before it has returned", n_finished, 0);
    return w;
}

static void end(struct volume_job *own_job)
{
    volume_job_free(own_job);
    strbuf_fini(&body);
    arena_fini(&arena);
}

static struct str recorded(const char *name)
{
    static char bytes[4096];
    FILE *f = fopen(arena_printf(&arena, "%s/volumes/%s.pb", GOLDEN_DIR, name), "r");
    CHECK(f);
    size_t n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    return arena_str(&arena, (struct str){ bytes, n });
}

/* What was written, as it was before. */
static struct str before(struct str put, const char *path, struct value annotations)
{
    const struct type *t;
    struct value v;
    struct strbuf b;
    CHECK(!proto_decode_object(&arena, WORK_OWN, put, STR(""), STR(""), &t, &v, &error));
    v = edit_set(&arena, t, &v, "metadata.annotations", annotations);
    if (path)
        v = edit_set(&arena, t, &v, path, (struct value){ 0 });
    strbuf_init(&b, STRBUF_NO_MAX);
    object_encode(&b, MEDIA_PROTOBUF, t, &v);
    struct str bytes = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return bytes;
}

static void answer_proto(struct str bytes)
{
    answer(&(struct api_answer){ .status = 200, .media = MEDIA_PROTOBUF, .body = bytes });
}

TEST(bindings_then_provisions_as_recorded)
{
    start(&bind_pv1, 1, &provide_dyn, 1);
    api.media = MEDIA_PROTOBUF;
    struct str volume = recorded("volume_put"), claim = recorded("claim_put");
    check_request("GET", "/api/v1/persistentvolumes/pv1");
    CHECK_TEXT("no body", media_type, "");
    answer_proto(before(volume, "spec.claimRef", edit_member(&arena, &(struct value){ 0 }, STR("x"), edit_text("y"))));
    check_request("PUT", "/api/v1/persistentvolumes/pv1");
    CHECK_TEXT("media", media_type, "application/vnd.kubernetes.protobuf");
    CHECK_STR("recorded", strbuf_str(&body), volume);
    answer_json(200, "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pv1\",\"resourceVersion\":"
                     "\"430\"}}");
    check_request("GET", "/api/v1/namespaces/default/persistentvolumeclaims/dyn");
    answer_proto(before(claim, NULL, (struct value){ 0 }));
    check_request("PUT", "/api/v1/namespaces/default/persistentvolumeclaims/dyn");
    CHECK_STR("recorded", strbuf_str(&body), claim);
    CHECK_INT("not yet", n_finished, 0);
    answer_json(200, "{\"metadata\":{\"resourceVersion\":\"431\"}}");
    CHECK_INT("done", n_finished, 1);
    CHECK_TEXT("error", finish_error, "");
    CHECK_TEXT("version", finished->bindings[0].written, "430");
    CHECK_TEXT("version", finished->provisions[0].written, "431");
    CHECK_TEXT("node", finished->node, "n1");
    end(finished);
}

#define CHANGED "the object has been modified; please apply your changes to the latest version and try again"

TEST(what_goes_wrong)
{
    static const struct {
        const char *name;
        int read_status, write_status; /* 0: no such request */
        const char *read, *written, *want;
    } cases[] = {
        { "another version", 200, 0, "{\"metadata\":{\"name\":\"pv1\",\"resourceVersion\":\"426\"}}", NULL,
          "Operation cannot be fulfilled on persistentvolumes \"pv1\": " CHANGED },
        { "it is gone", 404, 0,
          "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"persistentvolumes \\\"pv1\\\" not found\",\"code\":404}",
          NULL, "persistentvolumes \"pv1\" not found" },
        { "not an object", 200, 0, "<html>", NULL,
          "couldn't get version/kind; json parse error: invalid character '<' looking for beginning of value" },
        { "another kind", 200, 0, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", NULL,
          "the server answered with another kind than PersistentVolume" },
        { "it has changed in between", 200, 409, "{\"metadata\":{\"resourceVersion\":\"425\"}}",
          "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"Operation cannot be fulfilled on persistentvolumes "
          "\\\"pv1\\\": " CHANGED "\",\"reason\":\"Conflict\",\"code\":409}",
          "Operation cannot be fulfilled on persistentvolumes \"pv1\": " CHANGED },
        { "forbidden", 200, 403, "{\"metadata\":{\"resourceVersion\":\"425\"}}",
          "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"no\",\"code\":403}", "no" },
        { "an answer that is none", 200, 200, "{\"metadata\":{\"resourceVersion\":\"425\"}}", "",
          "couldn't get version/kind; json parse error: unexpected end of JSON input" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start(&bind_pv1, 1, &provide_dyn, 1);
        answer_json(cases[i].read_status, cases[i].read);
        if (cases[i].write_status) {
            check_request("PUT", "/api/v1/persistentvolumes/pv1");
            answer_json(cases[i].write_status, cases[i].written);
        }
        CHECK_INT(cases[i].name, n_finished, 1);
        CHECK(!waiting);
        CHECK_TEXT(cases[i].name, finish_error, cases[i].want);
        end(finished);
    }
    start(NULL, 0, &provide_dyn, 1);
    answer_json(200, "{\"metadata\":{\"resourceVersion\":\"4150\"}}");
    CHECK_TEXT("a claim of another version", finish_error,
               "Operation cannot be fulfilled on persistentvolumeclaims \"dyn\": " CHANGED);
    end(finished);
    start(NULL, 0, &provide_dyn, 1);
    answer(&(struct api_answer){ .error = "dial tcp 127.0.0.1:1: connection refused" });
    CHECK_TEXT("no answer", finish_error, "dial tcp 127.0.0.1:1: connection refused");
    end(finished);
}

TEST(what_is_there_stays)
{
    static const struct {
        const char *name, *read;
        bool by_controller;
        const char *want;
    } cases[] = {
        { "a reference that is right is not touched",
          "{\"metadata\":{\"resourceVersion\":\"425\"},\"spec\":{\"claimRef\":{\"namespace\":\"default\",\"name\":\"stat\",\"uid\":"
          "\"8bc0f3e2-ed6f-48bb-9a5a-ca18911cec9c\",\"resourceVersion\":\"1\"}}}", false,
          "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"425\"},\"spec\":{\"claimRef\":"
          "{\"namespace\":\"default\",\"name\":\"stat\",\"uid\":\"8bc0f3e2-ed6f-48bb-9a5a-ca18911cec9c\",\"resourceVersion\":"
          "\"1\"}},\"status\":{}}\n" },
        { "one without uid is made whole",
          "{\"metadata\":{\"resourceVersion\":\"425\"},\"spec\":{\"claimRef\":{\"namespace\":\"default\",\"name\":\"stat\"}}}",
          false,
          "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"425\"},\"spec\":{\"claimRef\":"
          "{\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"default\",\"name\":\"stat\",\"uid\":"
          "\"8bc0f3e2-ed6f-48bb-9a5a-ca18911cec9c\",\"apiVersion\":\"v1\",\"resourceVersion\":\"414\"}},\"status\":{}}\n" },
        { "an annotation that is there",
          "{\"metadata\":{\"resourceVersion\":\"425\",\"annotations\":{\"pv.kubernetes.io/bound-by-controller\":\"no\"}},"
          "\"spec\":{\"claimRef\":{\"namespace\":\"default\",\"name\":\"stat\",\"uid\":"
          "\"8bc0f3e2-ed6f-48bb-9a5a-ca18911cec9c\"}}}", true,
          "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"425\",\"annotations\":"
          "{\"pv.kubernetes.io/bound-by-controller\":\"no\"}},\"spec\":{\"claimRef\":{\"namespace\":\"default\",\"name\":\"stat\","
          "\"uid\":\"8bc0f3e2-ed6f-48bb-9a5a-ca18911cec9c\"}},\"status\":{}}\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct volume_binding b = bind_pv1;
        b.by_controller = cases[i].by_controller;
        struct volume_writes *w = start(&b, 1, NULL, 0);
        answer_json(200, cases[i].read);
        CHECK_STR(cases[i].name, strbuf_str(&body), str_of(cases[i].want));
        CHECK_TEXT(cases[i].name, media_type, "application/json");
        volume_writes_cancel(w);
        end(NULL);
    }
    CHECK_INT("cancelled", n_cancelled, 3);
    CHECK_INT("finished", n_finished, 0);
}
