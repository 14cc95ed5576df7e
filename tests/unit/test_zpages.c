/* /flagz and /statusz, Status objects: daemon/zpages.c, status.c. Answers are those of kube-scheduler v1.36.4. */
#include "daemon/zpages.h"

#include "apiserver/status_object.h"
#include "tests/test.h"

static const struct flagz_pair flags[] = { { "bind-address", "127.0.0.1" }, { "config", "sched.yaml" }, { "v", "4" } };
static const char *const paths[] = { "/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz" };
static const struct zpages pages = { .component = "kube-scheduler", .flags = flags, .n_flags = 3, .start_s = 1794965158,
                                     .go_version = "go1.26.8", .binary_version = "1.36.4", .emulation_version = "1.36",
                                     .paths = paths, .n_paths = 6 };
#define NOW_S (1794965158 + 3 * 3600 + 2 * 60 + 55)
#define WARNING                                                                                                        \
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "   \
    "for debugging purposes only.\n"

static struct arena arena;
static struct strbuf text;

static struct zpage_answer answer(enum zpage page, const char *accept, uint64_t lot, bool pretty)
{
    strbuf_reset(&text);
    return zpage_answer(&pages, &(struct zpage_request){ page, str_of(accept), NOW_S, lot, pretty }, &arena, &text);
}

static void begin(void)
{
    arena_init(&arena);
    strbuf_init(&text, STRBUF_NO_MAX);
}

static void end(void)
{
    arena_fini(&arena);
    strbuf_fini(&text);
}

TEST(texts_are_parted_in_ways_drawn_by_lot)
{
    begin();
    struct zpage_answer a = answer(ZPAGE_FLAGZ, NULL, 3, false);
    CHECK_INT("status", a.status, 200);
    CHECK_TEXT("type", a.content_type, "text/plain; charset=utf-8");
    CHECK_STR("flags", strbuf_str(&text),
              STR("\nkube-scheduler flagz\n" WARNING "bind-address 127.0.0.1\nconfig sched.yaml\nv 4\n"));
    answer(ZPAGE_FLAGZ, "", 1, false);
    CHECK(strstr(strbuf_cstr(&text), "\nv: 4\n"));
    answer(ZPAGE_STATUSZ, "*/*", 6, false);
    CHECK_STR("status", strbuf_str(&text),
              STR("\nkube-scheduler statusz\n" WARNING "\nStarted= Wed Nov 18 01:25:58 UTC 2026\nUp= 3 hr 02 min 55 sec\n"
                  "Go version= go1.26.8\nBinary version= 1.36.4\nEmulation version= 1.36\n"
                  "Paths= /configz /flagz /healthz /livez /metrics /readyz\n"));
    end();
}

TEST(objects_are_for_those_who_name_them)
{
    begin();
    struct zpage_answer a = answer(ZPAGE_FLAGZ, "application/json;v=v1beta1;g=config.k8s.io;as=Flagz", 0, true);
    CHECK_TEXT("type", a.content_type, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz");
    CHECK(!a.warning);
    CHECK_STR("for people", strbuf_str(&text),
              STR("{\n  \"kind\": \"Flagz\",\n  \"apiVersion\": \"config.k8s.io/v1beta1\",\n  \"metadata\": {\n"
                  "    \"name\": \"kube-scheduler\"\n  },\n  \"flags\": {\n    \"bind-address\": \"127.0.0.1\",\n"
                  "    \"config\": \"sched.yaml\",\n    \"v\": \"4\"\n  }\n}"));
    answer(ZPAGE_FLAGZ, "application/json;v=v1beta1;g=config.k8s.io;as=Flagz", 0, false);
    CHECK_STR("for programs", strbuf_str(&text),
              STR("{\"kind\":\"Flagz\",\"apiVersion\":\"config.k8s.io/v1beta1\",\"metadata\":{\"name\":\"kube-scheduler\"},"
                  "\"flags\":{\"bind-address\":\"127.0.0.1\",\"config\":\"sched.yaml\",\"v\":\"4\"}}\n"));
    a = answer(ZPAGE_STATUSZ, "application/json;v=v1alpha1;g=config.k8s.io;as=Statusz", 0, true);
    CHECK_TEXT("deprecated", a.warning,
               "299 - \"This version of the statusz endpoint is deprecated. Please use a newer version.\"");
    CHECK_STR("status", strbuf_str(&text),
              STR("{\n  \"kind\": \"Statusz\",\n  \"apiVersion\": \"config.k8s.io/v1alpha1\",\n  \"metadata\": {\n"
                  "    \"name\": \"kube-scheduler\"\n  },\n  \"startTime\": \"2026-11-18T01:25:58Z\",\n"
                  "  \"uptimeSeconds\": 10975,\n  \"goVersion\": \"go1.26.8\",\n  \"binaryVersion\": \"1.36.4\",\n"
                  "  \"emulationVersion\": \"1.36\",\n  \"paths\": [\n    \"/configz\",\n    \"/flagz\",\n    \"/healthz\",\n"
                  "    \"/livez\",\n    \"/metrics\",\n    \"/readyz\"\n  ]\n}"));
    a = answer(ZPAGE_STATUSZ, "application/yaml;v=v1beta1;g=config.k8s.io;as=Statusz", 0, true);
    CHECK_TEXT("type", a.content_type, "application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz");
    CHECK_STR("as YAML", strbuf_str(&text),
              STR("apiVersion: config.k8s.io/v1beta1\nbinaryVersion: 1.36.4\nemulationVersion: \"1.36\"\n"
                  "goVersion: go1.26.8\nkind: Statusz\nmetadata:\n  name: kube-scheduler\npaths:\n- /configz\n- /flagz\n"
                  "- /healthz\n- /livez\n- /metrics\n- /readyz\nstartTime: \"2026-11-18T01:25:58Z\"\n"
                  "uptimeSeconds: 10975\n"));
    end();
}

TEST(what_is_accepted)
{
    static const struct {
        const char *accept;
        int status;
        const char *type; /* its beginning */
    } rows[] = {
        { "text/plain", 200, "text/plain" }, { "text/*", 200, "text/plain" }, { "*/*", 200, "text/plain" },
        { "application/json, text/plain", 200, "text/plain" }, { "application/json", 406, "application/json" },
        { "text/html", 406, "application/json" }, { "application/json;v=v1;g=config.k8s.io;as=Flagz", 406, "" },
        { "application/json;v=v1beta1;g=config.k8s.io;as=Other", 406, "" },
        { "application/json;v=v1beta1;g=other;as=Flagz", 406, "" },
        { "application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz", 406, "" },
        { "text/plain;v=v1beta1;g=config.k8s.io;as=Flagz", 406, "" },
        { "text/plain;q=0.1, application/json;v=v1beta1;g=config.k8s.io;as=Flagz;q=0.9", 200, "application/json;g" },
        { "text/plain;q=0", 406, "" }, { ";;;,,,===", 406, "" }, { ",", 406, "" },
    };
    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct zpage_answer a = answer(ZPAGE_FLAGZ, rows[i].accept, 0, false);
        CHECK_INT(rows[i].accept, a.status, rows[i].status);
        CHECK(str_starts(str_of(a.content_type), str_of(rows[i].type)));
        if (a.status == 406)
            CHECK_STR(rows[i].accept, strbuf_str(&text),
                      STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
                          "\"only the following media types are accepted: application/json, application/yaml, "
                          "text/plain\",\"reason\":\"NotAcceptable\",\"code\":406}\n"));
    }
    end();
}

TEST(json_is_indented_for_people)
{
    begin();
    static const struct {
        const char *json, *pretty;
    } rows[] = {
        { "{}", "{}" }, { "[]", "[]" }, { "{\"a\":[]}", "{\n  \"a\": []\n}" }, { "[{}]", "[\n  {}\n]" },
        { "{\"a\":\"{[,:\\\"}\"}", "{\n  \"a\": \"{[,:\\\"}\"\n}" },
        { "{\"a\":1,\"b\":[1,2]}", "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}" },
        { "{\"a\":\"\\\\\"}", "{\n  \"a\": \"\\\\\"\n}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        strbuf_reset(&text);
        json_add_shown(&text, str_of(rows[i].json), true);
        CHECK_STR(rows[i].json, strbuf_str(&text), str_of(rows[i].pretty));
    }
    static const struct {
        const char *agent, *target;
        bool pretty;
    } askers[] = {
        { "curl/7.88.1", "/", true }, { "Wget/1.21", "/", true }, { "Mozilla/5.0 (X11)", "/", true },
        { "Go-http-client/2.0", "/", false }, { "", "/", false }, { "", "/?pretty=true", true },
        { "curl/8", "/?pretty=false", false }, { "curl/8", "/?pretty=x", false }, { "curl/8", "/?pretty", true },
        { "", "/?pretty=1", true },
    };
    for (size_t i = 0; i < sizeof(askers) / sizeof(askers[0]); i++) {
        struct head head = { 0 };
        struct target t;
        headers_add(&head.headers, &arena, STR("user-agent"), str_of(askers[i].agent));
        CHECK(target_read(&arena, str_of(askers[i].target), &t));
        CHECK_INT(askers[i].target, wants_pretty(&head, &t), askers[i].pretty);
    }
    end();
}
