/* Who asks, and whether they may: daemon/authn.c and authz.c, with an API server played by hand.
 *
 * Bodies of reviews are, byte for byte, those that kube-scheduler v1.36.4 sent to a recording server. */
#include "daemon/authn.h"

#include <time.h>

#include "base/base64.h"
#include "base/log.h"
#include "daemon/authz.h"
#include "tests/played_api.h"

static struct clock_manual clock_;
static struct loop *loop;
static struct authn *authn;
static struct authz *authz;
static struct arena arena;
static struct err error;

struct pair {
    struct str cert, key;
};

static struct pair client_ca, proxy_ca, other_ca;

static struct pair make(struct tls_new_cert c, const struct pair *issuer)
{
    struct pair p;
    c.not_before_s = time(NULL) - 3600;
    c.not_after_s = time(NULL) + 3600;
    if (issuer) {
        c.issuer_cert_pem = issuer->cert;
        c.issuer_key_pem = issuer->key;
    }
    if (tls_make_cert(&c, &arena, &p.cert, &p.key, &error))
        FAIL("%s", error.message);
    return p;
}

/* What a server sees of a client with such a certificate. */
static struct tls_peer *peer(const char *name, const struct pair *ca, const char *const *groups, size_t n_groups)
{
    struct pair p = make((struct tls_new_cert){ .common_name = name, .organizations = groups,
                                                .n_organizations = n_groups }, ca);
    struct tls_peer *t = ARENA_NEW(&arena, struct tls_peer);
    struct str *organizations = ARENA_NEW_N(&arena, struct str, n_groups);
    const char *begin = strstr(p.cert.p, "-----\n") + 6, *end = strstr(begin, "-----END");
    size_t bad_at;
    CHECK(base64_decode(&arena, str_range(begin, end), &t->der, &bad_at));
    for (size_t i = 0; i < n_groups; i++)
        organizations[i] = str_of(groups[i]);
    t->common_name = str_of(name);
    t->organizations = organizations;
    t->n_organizations = n_groups;
    return t;
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static struct str_list list_of(const char *a, const char *b)
{
    struct str *at = ARENA_NEW_N(&arena, struct str, 2);
    at[0] = str_of(a);
    at[1] = str_of(b);
    return (struct str_list){ at, b ? 2 : a ? 1 : 0 };
}

static void set_trust(bool clients, bool proxies)
{
    struct authn_proxy p = { .ca_pem = proxies ? proxy_ca.cert : STR(""), .allowed_names = list_of("front", "other"),
                             .user_headers = list_of("X-Remote-User", "X-Other-User"),
                             .uid_headers = list_of("X-Remote-Uid", NULL),
                             .group_headers = list_of("X-Remote-Group", NULL),
                             .extra_prefixes = list_of("X-Remote-Extra-", NULL) };
    CHECK(!authn_set_client_ca(authn, clients ? client_ca.cert : STR(""), &error));
    CHECK(!authn_set_proxy(authn, &p, &error));
}

static void begin_with(const struct api *api)
{
    static const struct str paths[] = { { "/healthz", 8 }, { "/open/*", 7 }, { "livez", 5 } };
    log_set_sink(quiet, NULL);
    arena_init(&arena);
    err_init(&error, &arena);
    clock_manual_init(&clock_, CLOCK_NS_PER_SECOND, 0);
    loop = loop_new(&clock_.clock);
    authn = authn_new(&(struct authn_options){ .loop = loop, .api = api, .token_ttl_ms = 10000 });
    CHECK(!authz_new(&(struct authz_options){ .loop = loop, .api = api, .allowed_ttl_ms = 10000, .denied_ttl_ms = 3000,
                                              .open_paths = { paths, 3 } }, &authz, &error));
    client_ca = make((struct tls_new_cert){ .common_name = "clients", .is_ca = true }, NULL);
    proxy_ca = make((struct tls_new_cert){ .common_name = "proxies", .is_ca = true }, NULL);
    other_ca = make((struct tls_new_cert){ .common_name = "others", .is_ca = true }, NULL);
}

static void begin(void)
{
    begin_with(&played_api);
    set_trust(true, true);
}

static void end(void)
{
    authn_free(authn);
    authz_free(authz);
    loop_free(loop);
    arena_fini(&arena);
    played_fini();
}

static int n_done;

static void authn_done(struct authn_call *c)
{
    (void)c;
    n_done++;
}

/* "name: value" lines */
static struct head *head_of(const char *lines)
{
    struct head *h = ARENA_NEW(&arena, struct head);
    for (struct str rest = str_of(lines); rest.n;) {
        struct str line = str_first(rest, str_index(rest, '\n'));
        size_t colon = str_index(line, ':');
        char *name = arena_cstr(&arena, str_first(line, colon));
        for (char *p = name; *p; p++)
            *p = (char)(*p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p);
        headers_add(&h->headers, &arena, str_of(name), str_from(line, colon + 2));
        rest = str_from(rest, line.n + 1);
    }
    return h;
}

static struct authn_call *ask(const char *lines, const struct tls_peer *p)
{
    struct authn_call *c = ARENA_NEW(&arena, struct authn_call);
    *c = (struct authn_call){ .arena = &arena, .head = head_of(lines), .peer = p, .done = authn_done };
    n_done = authn_ask(authn, c);
    return c;
}

/* "name|uid|group,group|key=value,value" */
static const char *shown(const struct user *u)
{
    struct strbuf b;
    if (!u)
        return "refused";
    strbuf_init(&b, 1 << 20);
    strbuf_printf(&b, "%.*s|%.*s|", STR_ARG(u->name), STR_ARG(u->uid));
    for (size_t i = 0; i < u->groups.n; i++)
        strbuf_printf(&b, "%s%.*s", i ? "," : "", STR_ARG(u->groups.at[i]));
    for (size_t i = 0; i < u->n_extra; i++) {
        strbuf_printf(&b, "|%.*s=", STR_ARG(u->extra[i].key));
        for (size_t k = 0; k < u->extra[i].values.n; k++)
            strbuf_printf(&b, "%s%.*s", k ? "," : "", STR_ARG(u->extra[i].values.at[k]));
    }
    const char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

#define ANONYMOUS "system:anonymous||system:unauthenticated"
#define AS_BOB "X-Remote-User: bob\nX-Remote-Group: system:masters\n"

TEST(without_certificate_and_token_everyone_is_anonymous)
{
    static const char *const rows[] = { "", AS_BOB, "Authorization: Basic x\n", "Authorization: Bearer\n",
                                        "Authorization: Bearer  x\n", "Authorization: \n", "Authorization: Bearerx y\n" };
    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_TEXT(rows[i], shown(ask(rows[i], NULL)->user), ANONYMOUS);
        CHECK_INT("at once", n_done, 1);
    }
    CHECK_INT("nobody was asked", played.n, 0);
    end();
}

TEST(without_a_client_tokens_are_not_looked_at)
{
    begin_with(NULL);
    CHECK_TEXT("a token", shown(ask("Authorization: Bearer x\n", NULL)->user), ANONYMOUS);
    end();
}

TEST(a_client_certificate_names_its_user)
{
    begin();
    const char *const groups[] = { "dev", "ops" };
    const char *text = shown(ask("", peer("alice", &client_ca, groups, 2))->user);
    const char *want = "alice||dev,ops,system:authenticated|authentication.kubernetes.io/credential-id=X509SHA256=";
    CHECK(strncmp(text, want, strlen(want)) == 0);
    CHECK_INT("a digest", strlen(text), strlen(want) + 64);
    text = shown(ask(AS_BOB, peer("alice", &client_ca, groups, 2))->user);
    CHECK(strncmp(text, "alice||", 7) == 0); /* headers of who is no proxy mean nothing */
    CHECK_TEXT("of another authority", shown(ask("", peer("root", &other_ca, NULL, 0))->user), "refused");
    CHECK_TEXT("without a name, while there are proxies", shown(ask("", peer("", &client_ca, groups, 1))->user), "refused");
    set_trust(true, false);
    CHECK_TEXT("without a name", shown(ask("", peer("", &client_ca, groups, 1))->user), ANONYMOUS);
    set_trust(false, false);
    CHECK_TEXT("nobody is trusted", shown(ask("", peer("alice", &client_ca, groups, 2))->user), ANONYMOUS);
    end();
}

TEST(a_front_proxy_speaks_for_others)
{
    begin();
    const struct tls_peer *front = peer("front", &proxy_ca, NULL, 0);
    CHECK_TEXT("all of it",
               shown(ask("X-Remote-User: bob\nX-Remote-Group: g1\nX-Remote-Group: \nX-Remote-Group: g2\n"
                         "X-Remote-Extra-Scopes: s1\nX-Remote-Extra-Acme.com%2fFoo: s2\nX-Remote-Extra-scopes: s3\n"
                         "X-Remote-Extra-%zz: s4\nX-Remote-Uid: 77\n", front)->user),
               "bob|77|g1,g2,system:authenticated|%zz=s4|acme.com/foo=s2|scopes=s1,s3");
    CHECK_TEXT("the second header's name", shown(ask("X-Remote-User: \nX-Other-User: eve\n", front)->user),
               "eve||system:authenticated");
    CHECK_TEXT("a proxy that names nobody is no client", shown(ask("", front)->user), "refused");
    CHECK_TEXT("a name that is not allowed", shown(ask(AS_BOB, peer("not", &proxy_ca, NULL, 0))->user), "refused");
    CHECK_TEXT("another authority", shown(ask(AS_BOB, peer("front", &other_ca, NULL, 0))->user), "refused");
    CHECK_TEXT("anonymous stays it", shown(ask("X-Remote-User: system:anonymous\n", front)->user), "system:anonymous||");
    CHECK(!authn_set_client_ca(authn, proxy_ca.cert, &error));
    CHECK_TEXT("a proxy that could be a client as well", shown(ask(AS_BOB, front)->user),
               "bob||system:masters,system:authenticated");
    CHECK(strncmp(shown(ask("", front)->user), "front||", 7) == 0);
    struct strbuf many;
    strbuf_init(&many, STRBUF_NO_MAX);
    strbuf_add_text(&many, "X-Remote-User: bob\n");
    for (int i = 0; i < 101; i++)
        strbuf_printf(&many, "X-Remote-Extra-%d: x\n", i);
    CHECK_TEXT("too many", shown(ask(strbuf_cstr(&many), front)->user), "refused");
    strbuf_fini(&many);
    struct authn_proxy any = { .ca_pem = proxy_ca.cert, .user_headers = list_of("x-remote-user", NULL) };
    CHECK(!authn_set_proxy(authn, &any, &error));
    CHECK_TEXT("without names any is allowed", shown(ask(AS_BOB, peer("not", &proxy_ca, NULL, 0))->user),
               "bob||system:authenticated");
    any.ca_pem = STR("no certificate");
    CHECK(authn_set_proxy(authn, &any, &error));
    CHECK(authn_set_client_ca(authn, STR("neither"), &error));
    CHECK_TEXT("what was known stays", shown(ask(AS_BOB, peer("not", &proxy_ca, NULL, 0))->user),
               "bob||system:authenticated");
    end();
}

#define REVIEW(status) "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"status\":" status "}"
#define GOOD                                                                                                           \
    REVIEW("{\"authenticated\":true,\"user\":{\"username\":\"tokuser\",\"uid\":\"u1\","                                  \
           "\"groups\":[\"g1\",\"system:authenticated\"],\"extra\":{\"b\":[\"2\",\"1\"],\"a\":[\"x\"]}}}")
#define TOKUSER "tokuser|u1|g1,system:authenticated|a=x|b=2,1"

TEST(a_token_is_reviewed)
{
    begin();
    struct authn_call *c = ask("Authorization: bearer tok more\n", NULL);
    CHECK_INT("it takes a while", n_done, 0);
    CHECK_TEXT("where", played.at[0].target, "/apis/authentication.k8s.io/v1/tokenreviews");
    CHECK_TEXT("what", played.at[0].body,
               "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"metadata\":{},"
               "\"spec\":{\"token\":\"tok\"},\"status\":{\"user\":{}}}\n");
    played_answer(0, 201, GOOD);
    CHECK_INT("told", n_done, 1);
    CHECK_TEXT("whose it is", shown(c->user), TOKUSER);
    CHECK_TEXT("known", shown(ask("Authorization: Bearer tok\n", NULL)->user), TOKUSER);
    CHECK_INT("not asked", played.n, 1);
    c = ask("Authorization: Bearer tok\n", peer("root", &other_ca, NULL, 0));
    CHECK_TEXT("a bad certificate does not matter then", shown(c->user), TOKUSER);
    const char *text = shown(ask("Authorization: Bearer wrong\n", peer("alice", &client_ca, NULL, 0))->user);
    CHECK(strncmp(text, "alice||", 7) == 0);
    CHECK_INT("a certificate is enough", played.n, 1);
    end();
}

TEST(tokens_that_are_not_good_are_refused)
{
    static const struct {
        const char *what;
        int status;
        const char *body;
        bool kept;
    } rows[] = {
        { "not authenticated", 201, REVIEW("{}"), true },
        { "no status", 201, "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\"}", true },
        { "an error", 201, REVIEW("{\"error\":\"bad token\"}"), false },
        { "refused", 403, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"no\"}", false },
        { "no JSON", 201, "<html>", false },
        { "another kind", 201, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", false },
        { "wrong types", 201, REVIEW("{\"authenticated\":\"true\"}"), false },
        { "no answer", 0, "connection refused", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct authn_call *c = ask("Authorization: Bearer tok\n", NULL);
        if (rows[i].status)
            played_answer(0, rows[i].status, rows[i].body);
        else
            played_answer_with(0, (struct api_answer){ .error = rows[i].body, .unsent = true });
        CHECK_INT(rows[i].what, n_done, 1);
        CHECK_TEXT(rows[i].what, shown(c->user), "refused");
        CHECK(c->why && c->why[0]);
        CHECK_INT(rows[i].what, authn_counts(authn).n_kept, rows[i].kept);
        end();
    }
}

TEST(whoever_leaves_is_not_told)
{
    begin();
    struct authn_call *c = ask("Authorization: Bearer tok\n", NULL);
    authn_leave(c);
    authn_leave(c);
    played_answer(0, 201, GOOD);
    CHECK_INT("told", n_done, 0);
    end();
}

TEST(odd_tokens_are_escaped)
{
    begin();
    struct strbuf large;
    strbuf_init(&large, STRBUF_NO_MAX);
    ask("Authorization: Bearer a\"b\\<&\n", NULL);
    CHECK(strstr(played.at[0].body, "\"token\":\"a\\\"b\\\\\\u003c\\u0026\"}"));
    strbuf_add_text(&large, "Authorization: Bearer ");
    for (int i = 0; i < 1 << 20; i++)
        strbuf_add_char(&large, 't');
    ask(strbuf_cstr(&large), NULL);
    CHECK_INT("whole", strlen(played.at[1].body), strlen(played.at[0].body) - strlen("a\\\"b\\\\\\u003c\\u0026") + (1 << 20));
    strbuf_fini(&large);
    end();
}

/* ---- Whether they may ---- */

static int n_authz_done;

static void authz_done(struct authz_call *c)
{
    (void)c;
    n_authz_done++;
}

static struct authz_call *may(const struct user *u, const char *verb, const char *path)
{
    struct authz_call *c = ARENA_NEW(&arena, struct authz_call);
    *c = (struct authz_call){ .arena = &arena, .user = u, .verb = str_of(verb), .path = str_of(path), .done = authz_done };
    n_authz_done = authz_ask(authz, c);
    return c;
}

static struct user named(const char *name, const char *group)
{
    struct str *g = ARENA_NEW(&arena, struct str);
    *g = str_of(group);
    return (struct user){ .name = str_of(name), .groups = { g, 1 } };
}

TEST(masters_and_open_paths_need_no_review)
{
    begin();
    struct user root = named("root", "system:masters"), eve = named("eve", "dev");
    static const struct {
        const char *path;
        bool open;
    } rows[] = { { "/healthz", true }, { "/livez", true }, { "/open/", true }, { "/open/a/b", true }, { "/open", false },
                 { "/healthz/ping", false }, { "/healthz/", false }, { "//healthz", false }, { "/Healthz", false },
                 { "/x/../healthz", false }, { "", false } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct authz_call *c = may(&eve, "get", rows[i].path);
        CHECK_INT(rows[i].path, n_authz_done, rows[i].open);
        if (rows[i].open)
            CHECK_INT(rows[i].path, c->answer, AUTHZ_ALLOWED);
        authz_leave(c);
        CHECK_INT("masters", may(&root, "delete", rows[i].path)->answer, AUTHZ_ALLOWED);
        CHECK_INT("at once", n_authz_done, 1);
    }
    struct authz *bad;
    CHECK(authz_new(&(struct authz_options){ .loop = loop, .open_paths = list_of("/a*b", NULL) }, &bad, &error));
    CHECK_TEXT("upstream's words", error.message, "only trailing * allowed in \"a*b\"");
    struct authz *all;
    CHECK(!authz_new(&(struct authz_options){ .loop = loop, .open_paths = list_of("*", "/") }, &all, &error));
    authz_free(all);
    end();
}

TEST(without_a_client_the_answer_is_no)
{
    begin_with(NULL);
    struct user eve = named("eve", "dev");
    CHECK_INT("no", may(&eve, "get", "/metrics")->answer, AUTHZ_DENIED);
    CHECK_INT("at once", n_authz_done, 1);
    CHECK_INT("open paths are open", may(&eve, "get", "/healthz")->answer, AUTHZ_ALLOWED);
    end();
}

#define ACCESS(status)                                                                                                 \
    "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"status\":" status "}"

TEST(others_are_reviewed)
{
    begin();
    const struct str groups[] = { { "g1", 2 }, { "system:authenticated", 20 } }, a[] = { { "x", 1 } },
                     b[] = { { "2", 1 }, { "1", 1 } };
    const struct user_extra extra[] = { { STR("a"), { a, 1 } }, { STR("b"), { b, 2 } } };
    struct user u = { STR("tokuser"), STR("u1"), { groups, 2 }, extra, 2 };
    struct authz_call *c = may(&u, "get", "/nothing");
    CHECK_TEXT("where", played.at[0].target, "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s");
    CHECK_TEXT("what", played.at[0].body,
               "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"metadata\":{},\"spec\":"
               "{\"nonResourceAttributes\":{\"path\":\"/nothing\",\"verb\":\"get\"},\"user\":\"tokuser\",\"groups\":[\"g1\","
               "\"system:authenticated\"],\"extra\":{\"a\":[\"x\"],\"b\":[\"2\",\"1\"]},\"uid\":\"u1\"},"
               "\"status\":{\"allowed\":false}}\n");
    played_answer(0, 201, ACCESS("{\"allowed\":true}"));
    CHECK_INT("told", n_authz_done, 1);
    CHECK_INT("yes", c->answer, AUTHZ_ALLOWED);
    CHECK_INT("known", may(&u, "get", "/nothing")->answer, AUTHZ_ALLOWED);
    CHECK_INT("known", n_authz_done, 1);
    may(&u, "post", "/nothing");
    CHECK_INT("another verb is another question", played.n, 2);
    struct user plain = { .name = STR("system:anonymous"), .groups = list_of("system:unauthenticated", NULL) };
    may(&plain, "foo", "/a b/");
    CHECK_TEXT("without uid and extra", played.at[2].body,
               "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"metadata\":{},\"spec\":"
               "{\"nonResourceAttributes\":{\"path\":\"/a b/\",\"verb\":\"foo\"},\"user\":\"system:anonymous\",\"groups\":["
               "\"system:unauthenticated\"]},\"status\":{\"allowed\":false}}\n");
    end();
}

TEST(answers_of_reviews_are_taken_as_upstream_takes_them)
{
    static const struct {
        const char *what;
        int status;
        const char *body;
        enum authz_answer answer;
        const char *reason;
        int64_t kept_ms;
    } rows[] = {
        { "allowed", 201, ACCESS("{\"allowed\":true}"), AUTHZ_ALLOWED, "", 10000 },
        { "not allowed", 201, ACCESS("{\"allowed\":false,\"reason\":\"because <x>\"}"), AUTHZ_DENIED, "because <x>", 3000 },
        { "denied", 201, ACCESS("{\"allowed\":false,\"denied\":true}"), AUTHZ_DENIED, "", 3000 },
        { "both", 201, ACCESS("{\"allowed\":true,\"denied\":true}"), AUTHZ_FAILED,
          "webhook subject access review returned both allow and deny response", 10000 },
        { "an error", 403, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\"}", AUTHZ_FAILED,
          "no", 0 },
        { "nonsense", 201, "[]", AUTHZ_FAILED, NULL, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct user eve = named("eve", "dev");
        struct authz_call *c = may(&eve, "get", "/metrics");
        played_answer(0, rows[i].status, rows[i].body);
        CHECK_INT(rows[i].what, c->answer, rows[i].answer);
        if (rows[i].reason)
            CHECK_STR(rows[i].what, c->reason, str_of(rows[i].reason));
        if (rows[i].kept_ms) {
            clock_manual_advance(&clock_, (rows[i].kept_ms - 1) * CLOCK_NS_PER_MS);
            CHECK_INT(rows[i].what, may(&eve, "get", "/metrics")->answer, rows[i].answer);
            clock_manual_advance(&clock_, CLOCK_NS_PER_MS);
        }
        may(&eve, "get", "/metrics");
        CHECK_INT(rows[i].what, played.n, 2);
        end();
    }
}
