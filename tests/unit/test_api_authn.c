/* Who asks an API server: apiserver/authn.c, identity.c and token_file.c. */
#include "apiserver/authn.h"

#include <time.h>

#include "apiserver/token_file.h"
#include "base/base64.h"
#include "tests/unit/auth_world.h"

static struct auth_world w;
static struct sa_tokens *tokens;
static struct api_authn *authn;

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
    if (tls_make_cert(&c, &w.arena, &p.cert, &p.key, &w.e))
        FAIL("%s", w.e.message);
    return p;
}

/* What a server sees of a client with such a certificate; "" for none. */
static struct tls_peer *peer(const char *name, const struct pair *ca)
{
    static const char *const groups[] = { "one", "two" };
    if (!*name)
        return NULL;
    struct pair p = make((struct tls_new_cert){ .common_name = name, .organizations = groups, .n_organizations = 2 }, ca);
    struct tls_peer *t = ARENA_NEW(&w.arena, struct tls_peer);
    struct str *organizations = ARENA_NEW_N(&w.arena, struct str, 2);
    const char *start = strstr(p.cert.p, "-----\n") + 6, *stop = strstr(start, "-----END");
    size_t bad_at;
    CHECK(base64_decode(&w.arena, str_range(start, stop), &t->der, &bad_at));
    organizations[0] = str_of(groups[0]);
    organizations[1] = str_of(groups[1]);
    *t = (struct tls_peer){ .common_name = str_of(name), .organizations = organizations, .n_organizations = 2, .der = t->der };
    return t;
}

static struct str_list list(const char *word)
{
    struct str *at = ARENA_NEW(&w.arena, struct str);
    *at = str_of(word);
    return (struct str_list){ at, 1 };
}

static void begin(bool anonymous)
{
    static const char *const issuers[] = { "https://issuer", NULL };
    auth_world_init(&w);
    client_ca = make((struct tls_new_cert){ .common_name = "clients", .is_ca = true }, NULL);
    proxy_ca = make((struct tls_new_cert){ .common_name = "proxies", .is_ca = true }, NULL);
    other_ca = make((struct tls_new_cert){ .common_name = "others", .is_ca = true }, NULL);
    struct pair key = make((struct tls_new_cert){ .common_name = "tokens" }, NULL);
    struct sa_tokens_options so = { .issuers = issuers, .key_pems = &key.cert, .n_key_pems = 1, .signing_key_pem = key.key };
    CHECK(!sa_tokens_new(&so, &tokens, &w.e));
    struct api_authn_options o = {
        .objects = w.objects, .tokens = tokens, .client_ca_pem = client_ca.cert, .proxy_ca_pem = proxy_ca.cert,
        .token_file = STR("good,ann,7,\"a,b\"\nplain,bob,8\n"), .proxy_names = list("front"),
        .proxy_user_headers = list("X-Remote-User"), .proxy_uid_headers = list("X-Remote-Uid"),
        .proxy_group_headers = list("X-Remote-Group"), .proxy_extra_prefixes = list("X-Remote-Extra-"),
        .anonymous = anonymous, .anonymous_health = true,
    };
    CHECK(!api_authn_new(&o, &authn, &w.e));
    auth_world_put(&w, STR("{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"namespace\":\"a\",\"name\":\"robot\","
                           "\"uid\":\"u1\"}}"));
}

static void end(void)
{
    api_authn_free(authn);
    sa_tokens_free(tokens);
    auth_world_fini(&w);
}

/* "name=uid[groups]{extra keys}", or the code's text. */
static const char *ask(const char *headers, const struct tls_peer *p, const char *path)
{
    struct head head = { .method = STR("GET") };
    const struct user *u;
    struct strbuf text;
    for (struct str left = str_of(headers); left.n;) {
        size_t stop = str_index(left, '\n');
        struct str line = str_first(left, stop);
        size_t colon = str_index(line, ':');
        headers_add(&head.headers, &w.arena, str_first(line, colon), str_from(line, colon + 1));
        left = str_from(left, stop + 1);
    }
    err_init(&w.e, &w.arena);
    if (api_authn_find(authn, &w.arena, &head, str_of(path), p, WORLD_NOW_S, &u, &w.e))
        return w.e.message;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "%.*s=%.*s[", STR_ARG(u->name), STR_ARG(u->uid));
    for (size_t i = 0; i < u->groups.n; i++)
        strbuf_printf(&text, "%s%.*s", i ? "," : "", STR_ARG(u->groups.at[i]));
    strbuf_add_char(&text, ']');
    for (size_t i = 0; i < u->n_extra; i++)
        strbuf_printf(&text, "{%.*s}", STR_ARG(u->extra[i].key));
    const char *copy = arena_cstr(&w.arena, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

#define ANONYMOUS "system:anonymous=[system:unauthenticated]"
#define ID "{authentication.kubernetes.io/credential-id}"

TEST(who_asks)
{
    static const struct {
        const char *what, *headers, *name;
        struct pair *ca;
        const char *want;
    } rows[] = {
        { "nobody", "", "", NULL, ANONYMOUS },
        { "a certificate", "", "carl", &client_ca, "carl=[one,two,system:authenticated]" ID },
        { "a certificate of others", "", "carl", &other_ca,
          "unable to get local issuer certificate" },
        { "a certificate of others, and a good token", "authorization:Bearer good", "carl", &other_ca,
          "ann=7[a,b,system:authenticated]" },
        { "a certificate of others, and a bad token", "authorization:Bearer bad", "carl", &other_ca,
          "[unable to get local issuer certificate, invalid bearer token]" },
        { "a token of the file", "authorization:Bearer good", "", NULL, "ann=7[a,b,system:authenticated]" },
        { "a token without groups", "authorization:bearer plain", "", NULL, "bob=8[system:authenticated]" },
        { "a bad token is refused, although nobody has to show one", "authorization:Bearer bad", "", NULL,
          "invalid bearer token" },
        { "no bearer", "authorization:Basic Z29vZA==", "", NULL, ANONYMOUS },
        { "an empty token", "authorization:Bearer ", "", NULL, ANONYMOUS },
        { "a certificate before a token", "authorization:Bearer good", "carl", &client_ca,
          "carl=[one,two,system:authenticated]" ID },
        { "headers of nobody", "x-remote-user:root", "", NULL, ANONYMOUS },
        { "headers of a client", "x-remote-user:root", "carl", &client_ca, "carl=[one,two,system:authenticated]" ID },
        { "headers of the proxy", "x-remote-user:eve\nx-remote-uid:9\nx-remote-group:g\nx-remote-group:h\nx-remote-extra-a%2fb:c",
          "front", &proxy_ca, "eve=9[g,h,system:authenticated]{a/b}" },
        { "another name of the proxy's authority", "x-remote-user:eve", "back", &proxy_ca,
          "x509: subject with cn=back is not in the allowed list" },
    };
    begin(true);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *got = ask(rows[i].headers, peer(rows[i].name, rows[i].ca), "/api");
        CHECK_STR(rows[i].what, str_first(str_of(got), strlen(rows[i].want)), str_of(rows[i].want));
    }
    end();
}

TEST(who_is_not_known_is_refused_unless_it_is_about_health)
{
    begin(false);
    CHECK_TEXT("api", ask("", NULL, "/api"), "nothing says who asks");
    CHECK_TEXT("below", ask("", NULL, "/healthz/etcd"), "nothing says who asks");
    static const char *const open[] = { "/healthz", "/livez", "/readyz" };
    for (size_t i = 0; i < 3; i++) {
        CHECK_TEXT(open[i], ask("", NULL, open[i]), ANONYMOUS);
        CHECK_TEXT(open[i], ask("authorization:Bearer bad", NULL, open[i]), "invalid bearer token");
    }
    end();
}

TEST(tokens_of_accounts)
{
    struct sa_claims claims = { .namespace = STR("a"), .name = STR("robot"), .uid = STR("u1"), .now_s = WORLD_NOW_S,
                                .expires_s = WORLD_NOW_S + 600 };
    struct str token;
    begin(true);
    CHECK(!sa_token_make(tokens, &w.arena, &claims, &token, &w.e));
    const char *header = arena_printf(&w.arena, "authorization:Bearer %.*s", STR_ARG(token));
    CHECK_TEXT("good", ask(header, NULL, "/api"),
               "system:serviceaccount:a:robot=u1[system:serviceaccounts,system:serviceaccounts:a,system:authenticated]" ID);
    auth_world_delete(&w, "serviceaccounts", "", "a", "robot");
    CHECK_TEXT("gone", ask(header, NULL, "/api"), "[invalid bearer token, serviceaccounts \"robot\" not found]");
    end();
}

TEST(authorities_can_change)
{
    begin(true);
    struct tls_peer *p = peer("carl", &other_ca);
    CHECK(!api_authn_set_client_ca(authn, other_ca.cert, &w.e));
    CHECK_TEXT("others", ask("", p, "/api"), "carl=[one,two,system:authenticated]" ID);
    CHECK(api_authn_set_client_ca(authn, STR("nothing"), &w.e));
    CHECK_TEXT("as before", ask("", p, "/api"), "carl=[one,two,system:authenticated]" ID);
    CHECK(!api_authn_set_client_ca(authn, STR(""), &w.e));
    CHECK_TEXT("none: it is no proxy's either", ask("", p, "/api"), "unable to get local issuer certificate");
    end();
}

TEST(token_files)
{
    static const struct {
        const char *what, *text, *token, *want; /* "user=uid:groups"; NULL: nobody, or an error */
        const char *error;
    } rows[] = {
        { "a line", "t,u,1\n", "t", "u=1", NULL },
        { "no line end", "t,u,1", "t", "u=1", NULL },
        { "other line ends", "\r\nt,u,1\r\ns,v,2\r\n", "t", "u=1", NULL },
        { "a group", "t,u,1,g", "t", "u=1:g", NULL },
        { "groups", "t,u,1,\"g,h\",more", "t", "u=1:g:h", NULL },
        { "an empty group, as upstream", "t,u,1,", "t", "u=1:", NULL },
        { "quotes in quotes", "\"t\"\"t\",\"u,v\",1", "t\"t", "u,v=1", NULL },
        { "lines in quotes", "t,\"u\nv\",1", "t", "u\nv=1", NULL },
        { "no token", ",u,1", "", NULL, NULL },
        { "the last of two", "t,u,1\nt,v,2", "t", "v=2", NULL },
        { "another's", "t,u,1", "u", NULL, NULL },
        { "two columns", "t,u", "t", NULL,
          "token file must have at least 3 columns (token, user name, user uid), found 2" },
        { "an open quote", "t,\"u,1\n", "t", NULL, "parse error on line 2: extraneous or missing \" in quoted-field" },
        { "something behind a quote", "t,\"u\"x,1\n", "t", NULL, "parse error on line 1: extraneous or missing \" in quoted-field" },
        { "a quote inside", "t,u\"v,1\n", "t", NULL, "parse error on line 1: bare \" in non-quoted field" },
    };
    auth_world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct token_file f;
        enum err_code rc = token_file_read(str_of(rows[i].text), &f, &w.e);
        CHECK_TEXT(rows[i].what, rc ? w.e.message : "", rows[i].error ? rows[i].error : "");
        if (rc)
            continue;
        const struct user *u = token_file_find(&f, str_of(rows[i].token));
        CHECK_INT(rows[i].what, u != NULL, rows[i].want != NULL);
        struct strbuf got;
        strbuf_init(&got, STRBUF_NO_MAX);
        if (u)
            strbuf_printf(&got, "%.*s=%.*s", STR_ARG(u->name), STR_ARG(u->uid));
        for (size_t k = 0; u && k < u->groups.n; k++)
            strbuf_printf(&got, ":%.*s", STR_ARG(u->groups.at[k]));
        CHECK_STR(rows[i].what, strbuf_str(&got), str_of(rows[i].want));
        strbuf_fini(&got);
        token_file_fini(&f);
    }
    auth_world_fini(&w);
}
