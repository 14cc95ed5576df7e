/* A cluster read once: client/cluster_read.c, with a server played by hand. */
#include "client/cluster_read.h"

#include <stdlib.h>

#include "base/vec.h"
#include "codec/proto.h"
#include "tests/test.h"

struct request {
    char *target;
    bool cancelled, answered;
    api_done done;
    void *context;
};

static VEC(struct request) requests;
static struct api api;
static struct cluster_read *reading;
static struct strbuf seen; /* what came, by first letters of the resources: "p:a p:b n:c p:again done " */
static const char *refuse; /* version of an object that the receiver does not take */

static api_call play_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    CHECK_TEXT("method", r->method, "GET");
    vec_push(&requests, (struct request){ .target = strndup(r->target.p, r->target.n), .done = done,
                                          .context = done_context });
    return requests.n;
}

static void play_cancel(void *context, api_call call)
{
    (void)context;
    requests.at[call - 1].cancelled = true;
}

static struct cluster_wanted wanted[3];

static char letter(size_t index)
{
    return wanted[index].resource->plural.p[0];
}

static enum err_code take(void *context, size_t index, const struct watch_object *object, struct err *e)
{
    (void)context;
    if (refuse && str_is(object->version, refuse))
        return err_set(e, ERR_INVALID, "object %s is odd", refuse);
    strbuf_printf(&seen, "%c:%.*s ", letter(index), STR_ARG(object->version));
    return ERR_OK;
}

static void again(void *context, size_t index)
{
    (void)context;
    strbuf_printf(&seen, "%c:again ", letter(index));
}

static void warn(void *context, const char *text)
{
    (void)context;
    strbuf_printf(&seen, "[%s] ", text);
}

static size_t n_told;

static void progress(void *context, size_t n_objects)
{
    (void)context;
    n_told = n_objects;
}

static void done(void *context, const char *error)
{
    (void)context;
    strbuf_printf(&seen, "%s%s", error ? "failed: " : "done", error ? error : "");
}

static void begin(const char *ns)
{
    wanted[0] = (struct cluster_wanted){ schema_resource(STR(""), STR("v1"), STR("pods")), true };
    wanted[1] = (struct cluster_wanted){ schema_resource(STR(""), STR("v1"), STR("nodes")), true };
    wanted[2] = (struct cluster_wanted){ schema_resource(STR("apps"), STR("v1"), STR("deployments")), false };
    strbuf_init(&seen, 1 << 20);
    api = (struct api){ NULL, MEDIA_JSON, play_send, NULL, NULL, play_cancel };
    reading = cluster_read_start(&(struct cluster_read_options){
        .api = &api, .wanted = wanted, .n_wanted = 3, .ns = ns, .sink = { NULL, take, again, warn, progress, done } });
    CHECK_INT("all at once", requests.n, 3);
}

static void end(void)
{
    cluster_read_free(reading);
    for (size_t i = 0; i < requests.n; i++)
        free(requests.at[i].target);
    vec_fini(&requests);
    strbuf_fini(&seen);
}

static void answer_with(size_t i, struct api_answer a)
{
    CHECK(i < requests.n);
    CHECK(!requests.at[i].cancelled);
    CHECK(!requests.at[i].answered);
    requests.at[i].answered = true;
    requests.at[i].done(requests.at[i].context, &a);
}

static void answer(size_t i, int status, const char *body)
{
    answer_with(i, (struct api_answer){ .status = status, .body = str_of(body) });
}

static void check(const char *what, const char *want)
{
    CHECK_STR(what, strbuf_str(&seen), str_of(want));
    strbuf_reset(&seen);
}

#define ITEM(version) "{\"metadata\":{\"resourceVersion\":\"" version "\"}}"
#define PAGE(next, items) "{\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"" next "\"},\"items\":[" items "]}"
#define STATUS(message) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" message "\"}"

TEST(paths_of_resources)
{
    struct arena a;
    arena_init(&a);
    const struct resource *d = schema_resource(STR("apps"), STR("v1"), STR("deployments"));
    const struct resource *n = schema_resource(STR(""), STR("v1"), STR("nodes"));
    CHECK_TEXT("all", cluster_path(&a, d, NULL), "/apis/apps/v1/deployments");
    CHECK_TEXT("of one namespace", cluster_path(&a, d, "shop"), "/apis/apps/v1/namespaces/shop/deployments");
    CHECK_TEXT("without a group", cluster_path(&a, n, NULL), "/api/v1/nodes");
    CHECK_TEXT("without namespaces", cluster_path(&a, n, "shop"), "/api/v1/nodes");
    arena_fini(&a);
}

TEST(objects_come_in_the_order_in_which_they_were_asked_for)
{
    begin(NULL);
    CHECK_TEXT("first page", requests.at[0].target, "/api/v1/pods?limit=500");
    answer(2, 200, PAGE("", ITEM("7")));
    answer(1, 200, PAGE("t/2", ITEM("1")));
    check("not their turn", "");
    CHECK_TEXT("reads ahead", requests.at[3].target, "/api/v1/nodes?limit=500&continue=t%2F2");
    answer(3, 200, PAGE("", ITEM("2")));
    answer(0, 200, PAGE("", ITEM("3") "," ITEM("4")));
    check("all of them", "p:3 p:4 n:1 n:2 d:7 done");
    CHECK_INT("told", n_told, 5);
    end();
}

TEST(pages_follow_each_other)
{
    begin(NULL);
    answer(0, 200, PAGE("a", ITEM("1")));
    check("at once", "p:1 ");
    answer(3, 200, PAGE("b", ITEM("2")));
    answer(4, 200, PAGE("", ""));
    check("and on", "p:2 ");
    answer(1, 200, PAGE("", ITEM("3")));
    answer(2, 200, PAGE("", ""));
    check("the end", "n:3 done");
    end();
}

TEST(what_is_forbidden_and_not_needed_is_left_out)
{
    begin(NULL);
    answer(2, 403, STATUS("no way"));
    check("a warning with the right", "[deployments are left out: the right is missing: list on resource \"deployments\" in API "
                                      "group \"apps\" in all namespaces (no way)] ");
    answer(0, 200, PAGE("", ""));
    answer(1, 200, PAGE("", ""));
    check("the rest is read", "done");
    end();
}

TEST(what_is_not_served_and_not_needed_is_left_out)
{
    begin(NULL);
    answer(2, 404, STATUS("not found"));
    check("a warning", "[deployments are left out: the server does not serve them in version v1 (not found)] ");
    end();
}

TEST(what_is_forbidden_and_needed_ends_it)
{
    begin("shop");
    answer(1, 403, STATUS("no way"));
    check("the right", "failed: cannot read nodes: the right is missing: list on resource \"nodes\" in API group \"\" at the "
                       "cluster scope (no way)");
    CHECK(requests.at[0].cancelled);
    CHECK(requests.at[2].cancelled);
    end();
}

TEST(one_namespace_is_read_where_all_are_forbidden)
{
    begin("shop");
    answer(0, 403, STATUS("no way"));
    CHECK_TEXT("asked again", requests.at[3].target, "/api/v1/namespaces/shop/pods?limit=500");
    answer(3, 200, PAGE("x", ITEM("1")));
    check("a warning", "p:1 [only the pods of namespace shop are read: the right is missing: list on resource \"pods\" in API "
                       "group \"\" in all namespaces] ");
    CHECK_TEXT("and on", requests.at[4].target, "/api/v1/namespaces/shop/pods?limit=500&continue=x");
    answer(4, 200, PAGE("", ITEM("2")));
    check("one warning", "p:2 ");
    end();
}

TEST(nothing_is_read_where_one_namespace_is_forbidden_too)
{
    begin("shop");
    answer(0, 403, STATUS("no way"));
    answer(3, 403, STATUS("nor there"));
    check("not there either", "failed: cannot read pods: the right is missing: list on resource \"pods\" in API group \"\" in "
                              "namespace shop (nor there)");
    end();
}

TEST(a_list_that_expires_begins_anew)
{
    begin(NULL);
    answer(1, 200, PAGE("n", ITEM("1")));
    answer(3, 410, STATUS("too old"));
    CHECK_TEXT("from the start", requests.at[4].target, "/api/v1/nodes?limit=500");
    check("nobody had seen it", "");
    answer(4, 200, PAGE("", ITEM("2")));
    answer(0, 200, PAGE("p", ITEM("3")));
    answer(5, 410, STATUS("too old"));
    check("what was taken is void", "p:3 p:again ");
    answer(6, 200, PAGE("", ITEM("4")));
    answer(2, 200, PAGE("", ""));
    check("new ones only", "p:4 n:2 done");
    end();
}

TEST(a_list_that_always_expires_is_given_up)
{
    begin(NULL);
    size_t at = 0;
    for (int i = 0; i <= CLUSTER_READ_AGAIN_MAX; i++) {
        answer(at, 200, PAGE("p", ""));
        answer(requests.n - 1, 410, STATUS("too old"));
        at = requests.n - 1;
    }
    check("the end", "p:again p:again p:again failed: cannot read pods: the list expired before its end, 4 times");
    end();
}

TEST(other_refusals_end_it)
{
    static const struct {
        const char *name;
        struct api_answer answer;
        const char *want;
    } rows[] = {
        { "no connection", { .error = "Get \"x\": refused" }, "failed: cannot read deployments: Get \"x\": refused" },
        { "a server's fault", { .status = 500, .body = { STATUS("oops"), sizeof(STATUS("oops")) - 1 } },
          "failed: cannot read deployments: oops" },
        { "who are you", { .status = 401 }, "failed: cannot read deployments: the server answered with status 401" },
        { "gone without a token", { .status = 410 }, "failed: cannot read deployments: the server answered with status 410" },
        { "no list", { .status = 200, .body = { "{}", 2 } },
          "failed: deployments: unable to read a list: it has no resourceVersion" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(NULL);
        answer_with(2, rows[i].answer);
        check(rows[i].name, rows[i].want);
        end();
    }
}

TEST(a_receiver_may_end_it)
{
    refuse = "2";
    begin(NULL);
    answer(1, 200, PAGE("", ITEM("2")));
    check("not looked at yet", "");
    answer(0, 200, PAGE("", ITEM("1")));
    check("its words", "p:1 failed: object 2 is odd");
    CHECK(requests.at[2].cancelled);
    end();
}

TEST(a_token_has_a_bound)
{
    begin(NULL);
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&body, "{\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"");
    for (int i = 0; i < 70000; i++)
        strbuf_add_char(&body, 'x');
    STRBUF_ADD_LIT(&body, "\"}}");
    answer(0, 200, strbuf_cstr(&body));
    check("refused", "failed: pods: the token of the next page is too long");
    strbuf_fini(&body);
    end();
}

/* Only its size counts. */
TEST(reading_ahead_has_a_bound)
{
    begin(NULL);
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&body, PAGE("next", ITEM("1")));
    char *room = strbuf_reserve(&body, CLUSTER_READ_AHEAD_BYTES_MAX);
    memset(room, ' ', CLUSTER_READ_AHEAD_BYTES_MAX);
    strbuf_commit(&body, CLUSTER_READ_AHEAD_BYTES_MAX);
    answer_with(1, (struct api_answer){ .status = 200, .body = strbuf_str(&body) });
    strbuf_fini(&body);
    CHECK_INT("no more is asked for", requests.n, 3);
    answer(0, 200, PAGE("", ""));
    check("its turn", "n:1 ");
    CHECK_TEXT("now it is", requests.at[3].target, "/api/v1/nodes?limit=500&continue=next");
    answer(3, 200, PAGE("", ITEM("2")));
    answer(2, 200, PAGE("", ""));
    check("the end", "n:2 done");
    end();
}
