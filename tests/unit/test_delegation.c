/* What an API server publishes about whom it trusts: daemon/delegation.c, with that server played by hand. */
#include "daemon/delegation.h"

#include <time.h>

#include "base/log.h"
#include "codec/proto.h"
#include "tests/played_api.h"

static struct clock_manual clock_;
static struct loop *loop;
static struct authn *authn;
static struct delegation *delegation;
static struct arena arena;
static struct err error;
static struct strbuf logged;
static struct str ca_pem;
static char read_error[300];
static int n_read;

static void was_read(void *context, const char *problem)
{
    (void)context;
    n_read++;
    snprintf(read_error, sizeof(read_error), "%s", problem ? problem : "");
}

static void keep_log(void *context, struct str record)
{
    (void)context;
    strbuf_add_str(&logged, record);
}

static void begin_with(bool client_ca, bool proxy)
{
    struct str key;
    arena_init(&arena);
    err_init(&error, &arena);
    strbuf_init(&logged, STRBUF_NO_MAX);
    log_set_sink(keep_log, NULL);
    clock_manual_init(&clock_, CLOCK_NS_PER_SECOND, 0);
    loop = loop_new(&clock_.clock);
    CHECK(!tls_make_cert(&(struct tls_new_cert){ .common_name = "ca", .is_ca = true, .not_before_s = time(NULL) - 60,
                                                 .not_after_s = time(NULL) + 60 }, &arena, &ca_pem, &key, &error));
    authn = authn_new(&(struct authn_options){ .loop = loop });
    delegation = delegation_new(&(struct delegation_options){ .loop = loop, .api = &played_api, .authn = authn,
                                                              .client_ca = client_ca, .proxy = proxy,
                                                              .read = was_read });
}

static void begin(void)
{
    begin_with(true, true);
}

static void end(void)
{
    delegation_free(delegation);
    authn_free(authn);
    loop_free(loop);
    strbuf_fini(&logged);
    arena_fini(&arena);
    played_fini();
}

/* As JSON; ca is the PEM text of both authorities. */
static const char *config_map(struct str ca, const char *names)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\","
                        "\"resourceVersion\":\"7\"},\"data\":{\"client-ca-file\":");
    json_add_string(&b, ca);
    strbuf_add_text(&b, ",\"requestheader-client-ca-file\":");
    json_add_string(&b, ca);
    strbuf_add_text(&b, ",\"requestheader-username-headers\":\"[\\\"X-Remote-User\\\"]\",\"requestheader-allowed-names\":");
    json_add_string(&b, str_of(names));
    strbuf_add_text(&b, "}}");
    const char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* Whether a certificate that no authority signed is refused: then authorities are known. */
static bool trusts_somebody(void)
{
    struct tls_peer stranger = { .common_name = STR("x"), .der = STR("no certificate") };
    struct head head = { 0 };
    struct authn_call c = { .arena = &arena, .head = &head, .peer = &stranger };
    CHECK(authn_ask(authn, &c));
    return c.user == NULL;
}

static void event(const char *type, const char *object)
{
    struct played_request *r = &played.at[played.n - 1];
    char *text = arena_printf(&arena, "{\"type\":\"%s\",\"object\":%s}\n", type, object);
    CHECK(r->is_stream);
    r->stream.data(r->stream.context, str_of(text));
}

TEST(it_is_read_first_and_watched_then)
{
    begin();
    CHECK_TEXT("read", played.at[0].target,
               "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
    CHECK(!trusts_somebody());
    played_answer(0, 200, config_map(ca_pem, "[\"front\"]"));
    CHECK_INT("told", n_read, 1);
    CHECK_TEXT("well", read_error, "");
    CHECK(trusts_somebody());
    CHECK_INT("watched", played.n, 2);
    CHECK(strstr(played.at[1].target, "/api/v1/namespaces/kube-system/configmaps?"));
    CHECK(strstr(played.at[1].target, "fieldSelector=metadata.name%3Dextension-apiserver-authentication"));
    CHECK(strstr(played.at[1].target, "watch=true"));
    end();
}

TEST(what_changes_is_taken_and_what_is_no_good_is_not)
{
    begin();
    played_answer(0, 404, "");
    CHECK_TEXT("none is fine", read_error, "");
    CHECK(!trusts_somebody());
    played.at[1].stream.head(played.at[1].stream.context, 200, MEDIA_JSON);
    event("ADDED", config_map(STR("nonsense"), "[]"));
    CHECK(strstr(strbuf_cstr(&logged), "Unable to use configmap"));
    CHECK(!trusts_somebody());
    event("MODIFIED", config_map(ca_pem, "[]"));
    CHECK(trusts_somebody());
    event("MODIFIED", config_map(STR("nonsense"), "[]"));
    CHECK(trusts_somebody());
    event("MODIFIED", config_map(STR(""), "[]"));
    CHECK(trusts_somebody());
    strbuf_reset(&logged);
    event("MODIFIED", config_map(ca_pem, "{\"a\":1}"));
    CHECK(strstr(strbuf_cstr(&logged), "requestheader-allowed-names is no list"));
    strbuf_reset(&logged);
    event("MODIFIED", config_map(ca_pem, "[1]"));
    CHECK(strstr(strbuf_cstr(&logged), "requestheader-allowed-names is no list of strings"));
    event("DELETED", config_map(ca_pem, "[]"));
    CHECK(trusts_somebody());
    end();
}

TEST(protobuf_is_read_too)
{
    begin();
    struct object object;
    struct gvk seen, endpoint = { STR(""), STR("v1"), STR("ConfigMap") };
    struct strbuf bytes;
    const char *json = config_map(ca_pem, "[]");
    strbuf_init(&bytes, STRBUF_NO_MAX);
    CHECK(!object_read(&arena, WORK_OWN, MEDIA_JSON, str_of(json), endpoint, NULL, &object, &seen, &error));
    proto_encode_object(&bytes, object.type, &object.value);
    played_answer_with(0, (struct api_answer){ .status = 200, .media = MEDIA_PROTOBUF, .body = strbuf_str(&bytes) });
    CHECK_TEXT("well", read_error, "");
    CHECK(trusts_somebody());
    strbuf_reset(&bytes);
    struct strbuf frame;
    strbuf_init(&frame, STRBUF_NO_MAX);
    proto_encode_object(&bytes, object.type, &object.value);
    proto_encode_watch_event(&frame, STR("MODIFIED"), strbuf_str(&bytes));
    CHECK(!authn_set_client_ca(authn, STR(""), &error));
    CHECK(!authn_set_proxy(authn, &(struct authn_proxy){ 0 }, &error));
    played.at[1].stream.head(played.at[1].stream.context, 200, MEDIA_PROTOBUF);
    played.at[1].stream.data(played.at[1].stream.context, strbuf_str(&frame));
    CHECK(trusts_somebody());
    strbuf_fini(&bytes);
    strbuf_fini(&frame);
    end();
}

TEST(failures_are_told_and_the_watch_goes_on)
{
    begin();
    played_answer(0, 403, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"configmaps is forbidden\"}");
    CHECK_TEXT("told", read_error, "configmaps is forbidden");
    CHECK(strstr(strbuf_cstr(&logged), "kubectl create rolebinding"));
    CHECK_INT("watched", played.n, 2);
    played.at[1].stream.end(played.at[1].stream.context, "cut");
    for (int i = 0; i < 10 && played.n == 2; i++) {
        clock_manual_advance(&clock_, CLOCK_NS_PER_SECOND);
        loop_run_once(loop, false);
        loop_run_once(loop, false);
    }
    CHECK_INT("again", played.n, 3);
    end();
}

TEST(only_what_is_wanted_is_taken)
{
    begin_with(false, false);
    played_answer(0, 200, config_map(ca_pem, "[]"));
    CHECK(!trusts_somebody());
    end();
    begin_with(false, true);
    played_answer(0, 200, config_map(ca_pem, "[]"));
    CHECK(trusts_somebody());
    end();
}

TEST(it_may_end_at_any_time)
{
    begin();
    delegation_free(delegation);
    CHECK(played.at[0].cancelled);
    delegation = NULL;
    end();
}
