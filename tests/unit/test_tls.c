/* TLS without sockets: who is trusted under which name, client certificates, server names, ALPN, files that change. */
#include "http/tls.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "http/digest.h"
#include "http/loop.h"
#include "http/tls_names.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;

struct pair {
    struct str cert, key;
};

static struct pair make(struct tls_new_cert c, const struct pair *issuer)
{
    struct pair p;
    if (!c.not_after_s) {
        c.not_before_s = time(NULL) - 3600;
        c.not_after_s = time(NULL) + 3600;
    }
    if (issuer) {
        c.issuer_cert_pem = issuer->cert;
        c.issuer_key_pem = issuer->key;
    }
    if (tls_make_cert(&c, &arena, &p.cert, &p.key, &error))
        FAIL("%s", error.message);
    return p;
}

static const char *const local_names[] = { "server.test", "*.wild.test" }, *const local_ips[] = { "127.0.0.1", "::1" };
static struct pair ca, other_ca, server_pair, old_pair, client_pair, stranger_pair;

static void prepare(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
    ca = make((struct tls_new_cert){ .common_name = "ca", .is_ca = true }, NULL);
    other_ca = make((struct tls_new_cert){ .common_name = "other", .is_ca = true }, NULL);
    struct tls_new_cert server = { .common_name = "not.a.name", .dns_names = local_names, .n_dns_names = 2,
                                   .addresses = local_ips, .n_addresses = 2 };
    server_pair = make(server, &ca);
    server.not_before_s = time(NULL) - 7200;
    server.not_after_s = time(NULL) - 3600;
    old_pair = make(server, &ca);
    const char *const groups[] = { "system:masters", "dev" };
    client_pair = make((struct tls_new_cert){ .common_name = "alice", .organizations = groups, .n_organizations = 2 },
                       &ca);
    stranger_pair = make((struct tls_new_cert){ .common_name = "mallory" }, &other_ca);
}

static struct tls_context *context(struct tls_options o, const struct pair *pair)
{
    struct tls_cert_source source = { 0 };
    struct tls_context *c;
    if (pair) {
        source.cert_pem = pair->cert;
        source.key_pem = pair->key;
        o.certs = &source;
        o.n_certs = 1;
    }
    if (tls_context_new(&o, &c, &error))
        FAIL("%s", error.message);
    return c;
}

/* A connection of two sessions; `ends` says how the client and the server see it. */
struct link {
    struct tls_session *client, *server;
    enum tls_state client_state, server_state;
    struct strbuf client_plain, server_plain;
};

static void link_run(struct link *l)
{
    struct strbuf to_server, to_client;
    strbuf_init(&to_server, STRBUF_NO_MAX);
    strbuf_init(&to_client, STRBUF_NO_MAX);
    l->client_state = tls_session_input(l->client, STR(""), &l->client_plain, &to_server);
    while (to_server.n || to_client.n) {
        struct strbuf in = to_server;
        strbuf_init(&to_server, STRBUF_NO_MAX);
        if (in.n)
            l->server_state = tls_session_input(l->server, strbuf_str(&in), &l->server_plain, &to_client);
        strbuf_fini(&in);
        in = to_client;
        strbuf_init(&to_client, STRBUF_NO_MAX);
        if (in.n)
            l->client_state = tls_session_input(l->client, strbuf_str(&in), &l->client_plain, &to_server);
        strbuf_fini(&in);
    }
}

static void link_open(struct link *l, struct tls_context *client, struct tls_context *server, const char *host)
{
    *l = (struct link){ .client = tls_session_new(client, host), .server = tls_session_new(server, NULL) };
    strbuf_init(&l->client_plain, STRBUF_NO_MAX);
    strbuf_init(&l->server_plain, STRBUF_NO_MAX);
    link_run(l);
}

static void link_close(struct link *l)
{
    tls_session_free(l->client);
    tls_session_free(l->server);
    strbuf_fini(&l->client_plain);
    strbuf_fini(&l->server_plain);
}

TEST(servers_are_trusted_by_chain_date_and_name)
{
    prepare();
    static const struct {
        const char *what, *host, *server_name;
        const struct pair *server, *ca;
        bool skip;
        const char *error; /* NULL = trusted */
    } rows[] = {
        { "by name", "server.test", NULL, &server_pair, &ca, false, NULL },
        { "by name, case aside", "SERVER.test", NULL, &server_pair, &ca, false, NULL },
        { "by wildcard", "a.wild.test", NULL, &server_pair, &ca, false, NULL },
        { "wildcards have one level", "a.b.wild.test", NULL, &server_pair, &ca, false, "hostname mismatch" },
        { "by address", "127.0.0.1", NULL, &server_pair, &ca, false, NULL },
        { "by IPv6 address", "::1", NULL, &server_pair, &ca, false, NULL },
        { "other address", "127.0.0.2", NULL, &server_pair, &ca, false, "IP address mismatch" },
        { "the common name is no name", "not.a.name", NULL, &server_pair, &ca, false, "hostname mismatch" },
        { "other name", "evil.test", NULL, &server_pair, &ca, false, "hostname mismatch" },
        { "tls-server-name", "10.0.0.1", "server.test", &server_pair, &ca, false, NULL },
        { "unknown authority", "server.test", NULL, &server_pair, &other_ca, false, "unable to get local issuer" },
        { "expired", "server.test", NULL, &old_pair, &ca, false, "expired" },
        { "the certificate itself is trusted", "server.test", NULL, &server_pair, &server_pair, false, NULL },
        { "anyone", "evil.test", NULL, &old_pair, &other_ca, true, NULL },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tls_context *server = context((struct tls_options){ .is_server = true }, rows[i].server);
        struct tls_context *client = context((struct tls_options){ .ca_pem = rows[i].ca->cert,
                                                                   .server_name = rows[i].server_name,
                                                                   .insecure_skip_verify = rows[i].skip }, NULL);
        struct link l;
        link_open(&l, client, server, rows[i].host);
        if (!rows[i].error && l.client_state != TLS_OPEN)
            FAIL("%s: %s", rows[i].what, tls_session_error(l.client));
        if (rows[i].error && (l.client_state != TLS_FAILED || !strstr(tls_session_error(l.client), rows[i].error)))
            FAIL("%s: %s", rows[i].what, tls_session_error(l.client));
        CHECK(!rows[i].error || l.server_state != TLS_OPEN || l.server_plain.n == 0);
        link_close(&l);
        tls_context_unref(client);
        tls_context_unref(server);
    }
}

TEST(bytes_pass_in_both_directions_and_good_byes_are_told)
{
    prepare();
    struct tls_context *server = context((struct tls_options){ .is_server = true }, &server_pair);
    struct tls_context *client = context((struct tls_options){ .ca_pem = ca.cert }, NULL);
    struct link l;
    struct strbuf cipher;
    static char much[200000];
    link_open(&l, client, server, "server.test");
    CHECK_STR("h2 first", tls_session_alpn(l.client), STR("h2"));
    CHECK_STR("h2 first", tls_session_alpn(l.server), STR("h2"));
    strbuf_init(&cipher, STRBUF_NO_MAX);
    tls_session_write(l.client, (struct str){ much, sizeof(much) }, &cipher);
    for (size_t at = 0; at < cipher.n; at += 777) {
        struct strbuf none;
        strbuf_init(&none, STRBUF_NO_MAX);
        CHECK(tls_session_input(l.server, str_first(str_from(strbuf_str(&cipher), at), 777), &l.server_plain,
                                &none) == TLS_OPEN);
        strbuf_fini(&none);
    }
    CHECK_INT("all arrived", l.server_plain.n, sizeof(much));
    strbuf_reset(&cipher);
    tls_session_close(l.client, &cipher);
    struct strbuf none;
    strbuf_init(&none, STRBUF_NO_MAX);
    CHECK(tls_session_input(l.server, strbuf_str(&cipher), &l.server_plain, &none) == TLS_CLOSED);
    CHECK(tls_session_input(l.client, STR("garbage that is no record"), &l.client_plain, &none) == TLS_FAILED);
    strbuf_fini(&none);
    strbuf_fini(&cipher);
    link_close(&l);
    tls_context_unref(client);
    tls_context_unref(server);
}

TEST(client_certificates_are_ignored_asked_for_or_required)
{
    prepare();
    static const struct {
        const char *what;
        enum tls_client_certs mode;
        const struct pair *client;
        bool open, shown, verified;
    } rows[] = {
        { "ignored", TLS_CLIENT_CERTS_IGNORED, &client_pair, true, false, false },
        { "asked for, none", TLS_CLIENT_CERTS_REQUESTED, NULL, true, false, false },
        { "asked for, good", TLS_CLIENT_CERTS_REQUESTED, &client_pair, true, true, true },
        { "asked for, of a stranger", TLS_CLIENT_CERTS_REQUESTED, &stranger_pair, true, true, false },
        { "required, none", TLS_CLIENT_CERTS_REQUIRED, NULL, false, false, false },
        { "required, good", TLS_CLIENT_CERTS_REQUIRED, &client_pair, true, true, true },
        { "required, of a stranger", TLS_CLIENT_CERTS_REQUIRED, &stranger_pair, false, false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tls_context *server = context((struct tls_options){ .is_server = true, .ca_pem = ca.cert,
                                                                   .client_certs = rows[i].mode }, &server_pair);
        struct tls_context *client = context((struct tls_options){ .ca_pem = ca.cert }, rows[i].client);
        struct link l;
        link_open(&l, client, server, "server.test");
        CHECK_INT(rows[i].what, l.server_state == TLS_OPEN, rows[i].open);
        const struct tls_peer *peer = rows[i].open ? tls_session_peer(l.server, &arena) : NULL;
        CHECK_INT(rows[i].what, peer != NULL, rows[i].shown);
        if (peer)
            CHECK_INT(rows[i].what, peer->verified, rows[i].verified);
        if (peer && peer->verified) {
            CHECK_STR("who", peer->common_name, STR("alice"));
            CHECK_INT("groups", peer->n_organizations, 2);
            CHECK_STR("group", peer->organizations[0], STR("system:masters"));
        }
        if (peer && !peer->verified)
            CHECK(strstr(peer->verify_error, "issuer"));
        link_close(&l);
        tls_context_unref(client);
        tls_context_unref(server);
    }
}

TEST(the_server_name_chooses_the_certificate)
{
    prepare();
    struct pair second = make((struct tls_new_cert){ .common_name = "second",
                                                     .dns_names = (const char *const[]){ "two.test" },
                                                     .n_dns_names = 1 }, &ca);
    struct tls_cert_source sources[] = {
        { .cert_pem = server_pair.cert, .key_pem = server_pair.key },
        { .cert_pem = second.cert, .key_pem = second.key },
        { .cert_pem = client_pair.cert, .key_pem = client_pair.key, .names = (const char *const[]){ "*.given.test" },
          .n_names = 1 },
    };
    static const struct {
        const char *host, *common_name;
    } rows[] = { { "two.test", "second" }, { "server.test", "not.a.name" }, { "x.given.test", "alice" },
                 { "nobody.test", "not.a.name" }, { "10.0.0.1", "not.a.name" } };
    struct tls_context *server;
    CHECK(!tls_context_new(&(struct tls_options){ .is_server = true, .certs = sources, .n_certs = 3 }, &server,
                           &error));
    struct tls_context *client = context((struct tls_options){ .insecure_skip_verify = true }, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct link l;
        link_open(&l, client, server, rows[i].host);
        CHECK_STR(rows[i].host, tls_session_peer(l.client, &arena)->common_name, str_of(rows[i].common_name));
        CHECK_STR(rows[i].host, tls_session_alpn(l.client), STR("h2"));
        link_close(&l);
    }
    tls_context_unref(client);
    tls_context_unref(server);
}

TEST(protocols_are_agreed_on_or_refused)
{
    prepare();
    struct tls_context *h1 = context((struct tls_options){ .is_server = true, .no_http2 = true }, &server_pair);
    struct tls_context *new_only = context((struct tls_options){ .is_server = true, .min_version = 13 }, &server_pair);
    struct tls_context *client = context((struct tls_options){ .ca_pem = ca.cert }, NULL);
    struct link l;
    link_open(&l, client, h1, "server.test");
    CHECK_STR("http/1.1", tls_session_alpn(l.client), STR("http/1.1"));
    link_close(&l);
    link_open(&l, client, new_only, "server.test");
    CHECK(l.client_state == TLS_OPEN);
    link_close(&l);
    tls_context_unref(h1);
    tls_context_unref(new_only);
    tls_context_unref(client);
}

TEST(certificates_of_clients_are_checked_apart_from_the_connection)
{
    prepare();
    struct pair middle = make((struct tls_new_cert){ .common_name = "middle", .is_ca = true }, &ca);
    struct pair leaf = make((struct tls_new_cert){ .common_name = "leaf" }, &middle);
    struct pair only_server = make((struct tls_new_cert){ .common_name = "s", .only_server = true }, &ca);
    struct pair rsa = make((struct tls_new_cert){ .common_name = "r", .key = TLS_NEW_KEY_RSA_2048 }, &ca);
    struct pair old = make((struct tls_new_cert){ .common_name = "old", .not_before_s = 1000,
                                                  .not_after_s = 2000 }, &ca);
    struct pair chain = { str_of(arena_printf(&arena, "%.*s%.*s", STR_ARG(leaf.cert), STR_ARG(middle.cert))),
                          leaf.key };
    const struct {
        const char *what;
        const struct pair *client, *roots;
        const char *why; /* NULL = good */
    } rows[] = {
        { "of the authority", &client_pair, &ca, NULL },
        { "of another one", &client_pair, &other_ca, "unable to get local issuer" },
        { "a stranger", &stranger_pair, &ca, "unable to get local issuer" },
        { "with the one between", &chain, &ca, NULL },
        { "without the one between", &leaf, &ca, "unable to get local issuer" },
        { "the one between is trusted", &leaf, &middle, NULL },
        { "not for clients", &only_server, &ca, "purpose" },
        { "expired", &old, &ca, "expired" },
        { "with an RSA key", &rsa, &ca, NULL },
    };
    struct tls_context *server = context((struct tls_options){ .is_server = true,
                                                               .client_certs = TLS_CLIENT_CERTS_REQUESTED },
                                         &server_pair);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tls_context *client = context((struct tls_options){ .insecure_skip_verify = true }, rows[i].client);
        struct tls_roots *roots;
        struct link l;
        CHECK(!tls_roots_new(rows[i].roots->cert, &roots, &error));
        link_open(&l, client, server, "server.test");
        const char *why = tls_roots_check_client(roots, tls_session_peer(l.server, &arena));
        if (!rows[i].why != !why || (why && !strstr(why, rows[i].why)))
            FAIL("%s: %s", rows[i].what, why ? why : "good");
        link_close(&l);
        tls_roots_free(roots);
        tls_context_unref(client);
    }
    tls_context_unref(server);
    struct tls_roots *none;
    CHECK(tls_roots_new(STR(""), &none, &error));
    CHECK(tls_roots_new(STR("no certificate"), &none, &error));
    tls_roots_free(NULL);
}

TEST(ciphers_and_groups_go_by_the_names_of_go)
{
    prepare();
    struct tls_chosen_ciphers c;
    const char *groups;
    const char *const two[] = { "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305" };
    CHECK(!tls_choose_ciphers(two, 3, &arena, &c, &error));
    CHECK_TEXT("in their order", c.list, "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305");
    CHECK(!c.only_tls13);
    CHECK(!tls_choose_ciphers(two + 1, 1, &arena, &c, &error));
    CHECK(!c.list && c.only_tls13);
    CHECK(!tls_choose_ciphers(NULL, 0, &arena, &c, &error));
    CHECK(!c.list && !c.only_tls13);
    CHECK(tls_choose_ciphers((const char *const[]){ "TLS_RSA_WITH_RC4_128_SHA" }, 1, &arena, &c, &error));
    CHECK(tls_choose_ciphers((const char *const[]){ "TLS_NO" }, 1, &arena, &c, &error));
    CHECK_TEXT("upstream's words", error.message, "Cipher suite TLS_NO not supported or doesn't exist");
    CHECK(!tls_choose_groups((const int32_t[]){ 29, 23, 4588 }, 3, &arena, &groups, &error));
    CHECK(strncmp(groups, "X25519:P-256", 12) == 0);
    CHECK(tls_choose_groups((const int32_t[]){ 7 }, 1, &arena, &groups, &error));
    CHECK(!tls_choose_groups(NULL, 0, &arena, &groups, &error));
    CHECK(!groups);

    const struct {
        const char *what;
        struct tls_options server, client;
        bool open;
    } rows[] = {
        { "one group", { .groups = "P-384" }, { .groups = "P-384:X25519" }, true },
        { "no group in common", { .groups = "P-384" }, { .groups = "X25519" }, false },
        { "ciphers do not matter to 1.3", { .ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256" },
          { .ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384" }, true },
        { "old versions may be allowed", { .min_version = 10 }, { 0 }, true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tls_options so = rows[i].server, co = rows[i].client;
        so.is_server = true;
        co.ca_pem = ca.cert;
        struct tls_context *server = context(so, &server_pair), *client = context(co, NULL);
        struct link l;
        link_open(&l, client, server, "server.test");
        CHECK_INT(rows[i].what, l.client_state == TLS_OPEN && l.server_state == TLS_OPEN, rows[i].open);
        link_close(&l);
        tls_context_unref(server);
        tls_context_unref(client);
    }
}

TEST(digests_are_those_of_the_standards)
{
    uint8_t got[DIGEST_BYTES], other[DIGEST_BYTES];
    static const uint8_t abc[] = { 0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea };
    static const uint8_t hi_there[] = { 0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53 }; /* RFC 4231, case 1 */
    uint8_t key[DIGEST_BYTES] = { 0 };
    digest_sha256(STR("abc"), got);
    CHECK(memcmp(got, abc, sizeof(abc)) == 0);
    memset(key, 0x0b, 20); /* what is shorter than a block is filled with zeros */
    digest_hmac_sha256(key, STR("Hi There"), got);
    CHECK(memcmp(got, hi_there, sizeof(hi_there)) == 0);
    digest_new_key(got);
    digest_new_key(other);
    CHECK(memcmp(got, other, sizeof(got)) != 0);
}

TEST(bad_files_give_errors_that_name_them)
{
    prepare();
    struct tls_context *c;
    struct tls_cert_source source = { .cert_file = "/nowhere/cert", .key_file = "/nowhere/key" };
    struct tls_options o = { .is_server = true, .certs = &source, .n_certs = 1 };
    CHECK(tls_context_new(&o, &c, &error));
    CHECK(strstr(error.message, "/nowhere/cert: No such file"));
    source = (struct tls_cert_source){ .cert_pem = server_pair.cert, .key_pem = client_pair.key };
    CHECK(tls_context_new(&o, &c, &error));
    CHECK(strstr(error.message, "does not go with"));
    source = (struct tls_cert_source){ .cert_pem = STR("no pem"), .key_pem = client_pair.key };
    CHECK(tls_context_new(&o, &c, &error));
    CHECK(strstr(error.message, "no PEM-encoded certificate"));
    source = (struct tls_cert_source){ .cert_pem = STR("-----BEGIN CERTIFICATE-----\nAAAA\n"
                                                       "-----END CERTIFICATE-----\n"),
                                       .key_pem = client_pair.key };
    CHECK(tls_context_new(&o, &c, &error));
    CHECK(tls_context_new(&(struct tls_options){ .ca_pem = STR("nothing") }, &c, &error));
    CHECK(tls_context_new(&(struct tls_options){ .is_server = true }, &c, &error));
}

/* ---- Files that change ---- */

static char folder[] = "/tmp/test_tls.XXXXXX";
static int n_told;
static char told_error[256];

static void write_file(const char *name, struct str text)
{
    char path[128], temporary[160];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    FILE *f = fopen(temporary, "w");
    fwrite(text.p, 1, text.n, f);
    fclose(f);
    rename(temporary, path);
}

static void told(void *context, const char *why)
{
    (void)context;
    n_told++;
    snprintf(told_error, sizeof(told_error), "%s", why ? why : "");
}

static void wait_told(struct loop *l, struct tls_watch *w)
{
    int before = n_told;
    tls_watch_poke(w);
    while (n_told == before)
        loop_run_once(l, true);
}

TEST(files_are_taken_anew_when_they_change_and_only_when_they_are_good)
{
    prepare();
    char cert_path[64], key_path[64];
    CHECK(mkdtemp(folder));
    snprintf(cert_path, sizeof(cert_path), "%s/cert", folder);
    snprintf(key_path, sizeof(key_path), "%s/key", folder);
    write_file("cert", server_pair.cert);
    write_file("key", server_pair.key);
    struct tls_cert_source source = { .cert_file = cert_path, .key_file = key_path };
    struct tls_context *server, *client = context((struct tls_options){ .insecure_skip_verify = true }, NULL);
    CHECK(!tls_context_new(&(struct tls_options){ .is_server = true, .certs = &source, .n_certs = 1 }, &server,
                           &error));
    struct loop *l = loop_new(NULL);
    struct tls_watch *w = tls_watch_new(l, server, 20, told, NULL);
    struct link old, fresh;
    link_open(&old, client, server, "x");

    write_file("cert", client_pair.cert); /* the key does not go with it yet */
    wait_told(l, w);
    CHECK(strstr(told_error, "does not go with"));
    CHECK_INT("the old one stays", tls_context_n_reloads(server), 0);
    write_file("key", client_pair.key);
    while (tls_context_n_reloads(server) == 0) /* without a poke: by its period */
        loop_run_once(l, true);
    CHECK_TEXT("good", told_error, "");
    link_open(&fresh, client, server, "x");
    CHECK_STR("the new one", tls_session_peer(fresh.client, &arena)->common_name, STR("alice"));
    struct strbuf cipher;
    strbuf_init(&cipher, STRBUF_NO_MAX);
    tls_session_write(old.client, STR("still open"), &cipher);
    CHECK(tls_session_input(old.server, strbuf_str(&cipher), &old.server_plain, &cipher) == TLS_OPEN);
    CHECK_STR("sessions go on", strbuf_str(&old.server_plain), STR("still open"));

    tls_watch_poke(w);
    tls_watch_free(w); /* while a worker looks */
    loop_free(l);
    CHECK_INT("unchanged files are not read", tls_context_n_reloads(server), 1);
    strbuf_fini(&cipher);
    link_close(&old);
    link_close(&fresh);
    tls_context_unref(client);
    tls_context_unref(server);
    unlink(cert_path);
    unlink(key_path);
    rmdir(folder);
}
