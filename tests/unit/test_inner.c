/* Requests from within the process (apiserver/inner.h): the same route, rights, checks and answers as over HTTP. */
#include "apiserver/inner.h"

#include "codec/json.h"
#include "tests/api_world.h"
#include "tests/test.h"

#define NAMESPACES "/api/v1/namespaces"
#define MAPS "/api/v1/namespaces/shop/configmaps"
#define PODS "/api/v1/namespaces/shop/pods"
#define MAP "{\"metadata\":{\"name\":\"one\"},\"data\":{\"a\":\"b\"}}"
#define POD "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"web\"}]}}"
#define BINDING "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}"
#define JSON "application/json"

static const char *const by_rbac[] = { "RBAC", NULL };

static struct {
    int n_answers, code;
    struct strbuf body;
} last;

static void answered(void *context, const struct inner_answer *a)
{
    (void)context;
    last.n_answers++;
    last.code = a->code;
    strbuf_reset(&last.body);
    strbuf_add_str(&last.body, a->body);
}

static struct inner *client_of(struct api_world *w, const char *name)
{
    struct str groups[] = { STR(GROUP_AUTHENTICATED), STR(GROUP_MASTERS) };
    bool is_master = strcmp(name, "master") == 0;
    struct user u = { .name = str_of(name), .groups = { groups, is_master ? 2 : 1 } };
    strbuf_init(&last.body, STRBUF_NO_MAX);
    return inner_new(w->server, &u, STR("tester/v1"));
}

static struct inner_call *send_to(struct inner *i, const char *method, const char *target, const char *type, const char *body)
{
    struct inner_request r = { str_of(method), str_of(target), str_of(type), str_of(body) };
    last.n_answers = 0;
    return inner_send(i, &r, answered, NULL);
}

static void ask(struct api_world *w, struct inner *i, const char *method, const char *target, const char *type, const char *body)
{
    send_to(i, method, target, type, body);
    for (int n = 0; n < 10 && !last.n_answers; n++) {
        loop_run_once(w->loop, false);
        api_world_poll(w);
    }
    CHECK_INT(target, last.n_answers, 1);
}

TEST(requests_from_within_are_answered_as_over_http)
{
    static const struct {
        const char *what, *method, *target, *type, *body;
        int code;
        const char *has; /* in the answer */
    } rows[] = {
        { "a namespace is made", "POST", NAMESPACES, JSON, "{\"metadata\":{\"name\":\"shop\"}}", 201, "\"name\":\"shop\"" },
        { "an object is made", "POST", MAPS, JSON, MAP, 201, "\"resourceVersion\":" },
        { "and not twice", "POST", MAPS, JSON, MAP, 409, "\"reason\":\"AlreadyExists\"" },
        { "it is read", "GET", MAPS "/one", "", "", 200, "\"a\":\"b\"" },
        { "what is not there", "GET", MAPS "/two", "", "", 404, "configmaps \\\"two\\\" not found" },
        { "a merge patch", "PATCH", MAPS "/one", "application/merge-patch+json", "{\"data\":{\"a\":\"c\"}}", 200, "\"a\":\"c\"" },
        { "a patch of no kind", "PATCH", MAPS "/one", "text/plain", "{}", 415, "UnsupportedMediaType" },
        { "an update of an old version", "PUT", MAPS "/one", JSON,
          "{\"metadata\":{\"name\":\"one\",\"resourceVersion\":\"1\"}}", 409, "Operation cannot be fulfilled" },
        { "the field manager is who asks", "GET", MAPS "/one", "", "", 200, "\"manager\":\"tester\"" },
        { "what does not validate", "POST", MAPS, JSON, "{\"metadata\":{\"name\":\"No\"}}", 422, "\"reason\":\"Invalid\"" },
        { "no JSON", "POST", MAPS, JSON, "{", 400, "\"kind\":\"Status\"" },
        { "an option that is none", "POST", MAPS "?dryRun=Some", JSON, MAP, 422, "dryRun" },
        { "a pod", "POST", PODS, JSON, POD, 201, "\"phase\":\"Pending\"" },
        { "is bound", "POST", PODS "/p/binding", JSON, BINDING, 201, "\"status\":\"Success\"" },
        { "and has its node", "GET", PODS "/p", "", "", 200, "\"nodeName\":\"n1\"" },
        { "and is not bound again", "POST", PODS "/p/binding", JSON, BINDING, 409, "already assigned to node" },
        { "a deletion with a wrong precondition", "DELETE", MAPS "/one", JSON, "{\"preconditions\":{\"uid\":\"x\"}}", 409, "the UID in the precondition" },
        { "a deletion", "DELETE", MAPS "/one", JSON, "{}", 200, "\"status\":\"Success\"" },
        { "lists are for those outside", "GET", MAPS, "", "", 405, "does not allow this method" },
        { "and so are watches", "GET", MAPS "?watch=1", "", "", 405, "does not allow this method" },
        { "a resource that is none", "GET", "/api/v1/namespaces/shop/pots/p", "", "", 404, "could not find" },
        { "no resource", "GET", "/healthz", "", "", 404, "could not find" },
        { "no path", "GET", "x", "", "", 400, "cannot be read" },
        { "what is asked and not stored", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", JSON, "{\"spec\":{}}", 405, "" },
    };
    struct api_world w;
    api_world_init(&w, &(struct api_world_options){ 0 });
    struct inner *i = client_of(&w, "somebody");
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        ask(&w, i, rows[k].method, rows[k].target, rows[k].type, rows[k].body);
        CHECK_INT(rows[k].what, last.code, rows[k].code);
        if (!memmem(last.body.p, last.body.n, rows[k].has, strlen(rows[k].has)))
            FAIL("%s: no %s in %s", rows[k].what, rows[k].has, strbuf_cstr(&last.body));
    }
    CHECK_INT("all are over", inner_n_open(i), 0);
    inner_free(i);
    strbuf_fini(&last.body);
    api_world_fini(&w);
}

TEST(whoever_asks_needs_the_right_to)
{
    struct api_world w;
    api_world_init(&w, &(struct api_world_options){ .modes = by_rbac });
    struct inner *nobody = client_of(&w, "nobody");
    ask(&w, nobody, "POST", NAMESPACES, JSON, "{\"metadata\":{\"name\":\"shop\"}}");
    CHECK_INT("without a role", last.code, 403);
    CHECK(memmem(last.body.p, last.body.n, "User \\\"nobody\\\" cannot create", 29) != NULL);
    strbuf_fini(&last.body);
    struct inner *master = client_of(&w, "master");
    ask(&w, master, "POST", NAMESPACES, JSON, "{\"metadata\":{\"name\":\"shop\"}}");
    CHECK_INT("a master", last.code, 201);
    inner_free(nobody);
    inner_free(master);
    strbuf_fini(&last.body);
    api_world_fini(&w);
}

TEST(nothing_is_done_before_the_loop_runs_nor_after_a_cancellation)
{
    struct api_world w;
    api_world_init(&w, &(struct api_world_options){ 0 });
    struct inner *i = client_of(&w, "somebody");
    struct inner_call *c = send_to(i, "POST", NAMESPACES, JSON, "{\"metadata\":{\"name\":\"shop\"}}");
    apiserver_poll(w.server);
    CHECK_INT("begun and answered from the loop", last.n_answers, 0);
    loop_run_once(w.loop, false);
    api_world_poll(&w);
    CHECK_INT("answered", last.n_answers, 1);
    c = send_to(i, "POST", NAMESPACES, JSON, "{\"metadata\":{\"name\":\"other\"}}");
    inner_cancel(c);
    loop_run_once(w.loop, false);
    api_world_poll(&w);
    CHECK_INT("not answered", last.n_answers, 0);
    CHECK(!store_get(w.store, STR("/registry/namespaces/other")));
    send_to(i, "POST", NAMESPACES, JSON, "{\"metadata\":{\"name\":\"late\"}}");
    inner_free(i); /* the server ends before it begins */
    loop_run_once(w.loop, false);
    CHECK_INT("not answered either", last.n_answers, 0);
    strbuf_fini(&last.body);
    api_world_fini(&w);
}
