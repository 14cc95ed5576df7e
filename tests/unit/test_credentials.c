/* Who we say we are: fixed headers, and token files that change. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/credentials.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;
static struct clock_manual manual;
static struct loop *loop;
static struct credentials *credentials;
static char folder[] = "/tmp/berth_credentials_XXXXXX", path[100];
static int n_ready;
static char ready_error[1000];

static void begin(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
    clock_manual_init(&manual, 1000 * (int64_t)CLOCK_NS_PER_SECOND, 0);
    loop = loop_new(&manual.clock);
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/token", folder);
}

static void finish(void)
{
    credentials_free(credentials);
    loop_free(loop);
    unlink(path);
    rmdir(folder);
    arena_fini(&arena);
}

static void start(const struct client_config *config)
{
    begin();
    if (credentials_new(config, loop, NULL, NULL, &credentials, &error))
        FAIL("%s", error.message);
}

static void read_first(void)
{
    struct client_config config = { .token_file = str_of(path) };
    if (credentials_new(&config, loop, NULL, NULL, &credentials, &error))
        FAIL("%s", error.message);
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f);
    fputs(text, f);
    fclose(f);
}

static const char *headers_now(void)
{
    struct headers h = { 0 };
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    credentials_add(credentials, &h, &arena);
    for (uint32_t i = 0; i < h.n; i++)
        strbuf_printf(&b, "%.*s: %.*s\n", STR_ARG(h.at[i].name), STR_ARG(h.at[i].value));
    const char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static void on_ready(struct credentials_waiter *w, const char *e)
{
    (void)w;
    n_ready++;
    snprintf(ready_error, sizeof(ready_error), "%s", e ? e : "");
}

/* The headers of a request that is made now, after waiting if it must; whether it had to. */
static bool ask(const char **ret_headers)
{
    struct credentials_waiter w = { .ready = on_ready };
    int before = n_ready;
    bool waited = !credentials_ready(credentials, &w);
    CHECK_INT("never from within", n_ready, before);
    while (waited && n_ready == before)
        loop_run_once(loop, true);
    *ret_headers = headers_now();
    return waited;
}

static void advance(int64_t ms)
{
    clock_manual_advance(&manual, ms * CLOCK_NS_PER_MS);
    loop_run_once(loop, false);
}

TEST(nobody_needs_no_headers)
{
    const char *h;
    start(&(struct client_config){ 0 });
    CHECK(!ask(&h));
    CHECK_TEXT("none", h, "");
    finish();
}

TEST(fixed_headers)
{
    const struct {
        const char *what;
        struct client_config config;
        const char *headers;
    } rows[] = {
        { "token", { .token = STR("abc") }, "authorization: Bearer abc\n" },
        { "a token before basic", { .token = STR("abc"), .username = STR("u") }, "authorization: Bearer abc\n" },
        { "basic", { .username = STR("Aladdin"), .password = STR("open sesame") },
          "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n" },
        { "a token that would begin another header", { .token = STR("a\r\nx: y") }, "authorization: Bearer a  x: y\n" },
        { "impersonation",
          { .as_user = STR("jane"), .as_uid = STR("u-1"), .as_groups = (struct str[]){ STR("a"), STR("b") },
            .n_as_groups = 2,
            .as_extra = (struct client_extra[]){
                { STR("acme.com/100%"), (struct str[]){ STR("x"), STR("y") }, 2 },
                { STR("\xc3\xa4 b"), (struct str[]){ STR("z") }, 1 },
                { STR(""), (struct str[]){ STR("empty") }, 1 } },
            .n_as_extra = 3 },
          "impersonate-user: jane\nimpersonate-uid: u-1\nimpersonate-group: a\nimpersonate-group: b\n"
          "impersonate-extra-acme.com%2f100%25: x\nimpersonate-extra-acme.com%2f100%25: y\n"
          "impersonate-extra-%c3%a4%20b: z\nimpersonate-extra-: empty\n" },
    };
    begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(!credentials_new(&rows[i].config, loop, NULL, NULL, &credentials, &error));
        CHECK_TEXT(rows[i].what, headers_now(), rows[i].headers);
        credentials_free(credentials);
    }
    credentials = NULL;
    finish();
}

TEST(a_token_file_is_read_again_when_it_is_old)
{
    const char *h;
    begin();
    write_file(" one\n");
    read_first();
    CHECK(!ask(&h));
    CHECK_TEXT("first", h, "authorization: Bearer one\n");
    write_file("two");
    advance(CREDENTIALS_FILE_MS - 1);
    CHECK(!ask(&h));
    CHECK_TEXT("still young", h, "authorization: Bearer one\n");
    advance(1);
    CHECK(ask(&h));
    CHECK_TEXT("old", h, "authorization: Bearer two\n");
    CHECK(!ask(&h));
    finish();
}

TEST(the_old_token_serves_while_the_file_cannot_be_read)
{
    static const char *const bad[] = { NULL, "", " \n", "a\nb" };
    const char *h;
    begin();
    write_file("one");
    read_first();
    advance(CREDENTIALS_FILE_MS);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        unlink(path);
        if (bad[i])
            write_file(bad[i]);
        CHECK(ask(&h));
        CHECK_TEXT("bad", ready_error, "");
        CHECK_TEXT("bad", h, "authorization: Bearer one\n");
        CHECK(!ask(&h)); /* not at every request */
        advance(CREDENTIALS_RETRY_MS);
    }
    write_file("three");
    CHECK(ask(&h));
    CHECK_TEXT("good again", h, "authorization: Bearer three\n");
    finish();
}

TEST(the_file_counts_before_the_token_which_serves_until_it_can_be_read)
{
    const char *h;
    begin();
    struct client_config config = { .token = STR("given"), .token_file = str_of(path) };
    CHECK(!credentials_new(&config, loop, NULL, NULL, &credentials, &error));
    CHECK_TEXT("no file", headers_now(), "authorization: Bearer given\n");
    write_file("filed");
    advance(CREDENTIALS_RETRY_MS);
    CHECK(ask(&h));
    CHECK_TEXT("file", h, "authorization: Bearer filed\n");
    finish();
}

TEST(without_any_token_it_is_an_error)
{
    begin();
    struct client_config config = { .token_file = str_of(path) };
    CHECK(credentials_new(&config, loop, NULL, NULL, &credentials, &error));
    const char *missing = "failed to read token file \"%s\": open %s: no such file or directory";
    CHECK_TEXT("missing", error.message, arena_printf(&arena, missing, path, path));
    write_file("\n");
    CHECK(credentials_new(&config, loop, NULL, NULL, &credentials, &error));
    CHECK_TEXT("empty", error.message, arena_printf(&arena, "read empty token from file \"%s\"", path));
    CHECK(!truncate(path, CREDENTIALS_FILE_BYTES_MAX + 1));
    CHECK(credentials_new(&config, loop, NULL, NULL, &credentials, &error));
    CHECK_TEXT("huge", error.message,
               arena_printf(&arena, "failed to read token file \"%s\": more than 1048576 bytes", path));
    unlink(path);
    CHECK(!mkfifo(path, 0600)); /* must not hang */
    CHECK(credentials_new(&config, loop, NULL, NULL, &credentials, &error));
    finish();
}

TEST(a_refused_token_is_read_again_once)
{
    const char *h;
    begin();
    write_file("one");
    read_first();
    uint64_t sent = credentials_version(credentials);
    write_file("two");
    credentials_refused(credentials, sent);
    CHECK(ask(&h));
    CHECK_TEXT("again", h, "authorization: Bearer two\n");
    credentials_refused(credentials, sent); /* another request, answered late */
    CHECK(!ask(&h));
    finish();
}

TEST(those_who_wait_are_served_by_one_read_and_may_leave)
{
    struct credentials_waiter w[3] = { { .ready = on_ready }, { .ready = on_ready }, { .ready = on_ready } };
    begin();
    write_file("one");
    read_first();
    uint64_t before = credentials_version(credentials);
    advance(CREDENTIALS_FILE_MS);
    for (int i = 0; i < 3; i++)
        CHECK(!credentials_ready(credentials, &w[i]));
    credentials_leave(&w[1]);
    credentials_leave(&w[1]);
    while (n_ready < 2)
        loop_run_once(loop, true);
    loop_run_once(loop, false);
    CHECK_INT("told", n_ready, 2);
    CHECK_INT("reads", credentials_version(credentials) - before, 1);
    finish();
}

TEST(they_may_be_freed_while_a_worker_reads)
{
    struct credentials_waiter w = { .ready = on_ready };
    begin();
    write_file("one");
    read_first();
    advance(CREDENTIALS_FILE_MS);
    CHECK(!credentials_ready(credentials, &w));
    credentials_leave(&w);
    finish();
    CHECK_INT("told", n_ready, 0);
}

/* ---- Programs ---- */

static struct client_exec program = { .api_version = { "client.authentication.k8s.io/v1", 31 },
                                      .interactive_mode = { "Never", 5 } };
static int n_certs;
static char last_cert[100];

static enum err_code use_cert(void *context, struct str cert, struct str key, struct err *e)
{
    (void)context;
    (void)key;
    n_certs++;
    snprintf(last_cert, sizeof(last_cert), "%.*s", STR_ARG(cert));
    return str_is(cert, "bad") ? err_set(e, ERR_INVALID, "no PEM") : ERR_OK;
}

/* The program is a shell script. */
static void start_with(const char *script, struct client_config config)
{
    begin();
    write_file(arena_printf(&arena, "#!/bin/sh\n%s\n", script));
    CHECK(!chmod(path, 0700));
    program.command = str_of(path);
    config.exec = &program;
    if (credentials_new(&config, loop, use_cert, NULL, &credentials, &error))
        FAIL("%s", error.message);
}

#define PRINT(status) \
    "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"" status "}'"

TEST(a_program_prints_a_token_once)
{
    const char *h;
    start_with("echo x >> $0.runs\n" PRINT(",\"status\":{\"token\":\"printed\"}"), (struct client_config){ 0 });
    CHECK(ask(&h));
    CHECK_TEXT("error", ready_error, "");
    CHECK_TEXT("headers", h, "authorization: Bearer printed\n");
    CHECK(!ask(&h));
    const char *runs = arena_printf(&arena, "%s.runs", path);
    struct stat s;
    CHECK(!stat(runs, &s));
    CHECK_INT("runs", s.st_size, 2);
    uint64_t sent = credentials_version(credentials);
    credentials_refused(credentials, sent);
    credentials_refused(credentials, sent);
    CHECK(ask(&h)); /* waits for the run that has begun */
    credentials_refused(credentials, sent);
    CHECK(!ask(&h));
    CHECK(!stat(runs, &s));
    CHECK_INT("one more run", s.st_size, 4);
    unlink(runs);
    finish();
}

TEST(a_program_runs_again_when_its_token_has_expired)
{
    const char *h;
    start_with(PRINT(",\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"1970-01-01T00:10:00Z\"}"),
               (struct client_config){ 0 });
    CHECK(ask(&h));
    CHECK(!ask(&h));
    advance(600 * 1000);
    CHECK(!ask(&h));
    advance(1);
    CHECK(ask(&h)); /* and it prints the same again */
    CHECK(ask(&h));
    finish();
}

TEST(what_a_program_is_told)
{
    const char *h;
    setenv("KUBERNETES_EXEC_INFO", "old", 1);
    program.args = (struct str[]){ STR("a b"), STR("c") };
    program.n_args = 2;
    program.env = (struct client_exec_env[]){ { STR("MORE"), STR("1") }, { STR("MORE"), STR("2") } };
    program.n_env = 2;
    program.provide_cluster_info = true;
    program.cluster_extension = STR("{\"x\":1}");
    char ca[100];
    snprintf(ca, sizeof(ca), "/tmp/berth_credentials_ca.%d", (int)getpid());
    FILE *f = fopen(ca, "w");
    CHECK(f && fputs("ca", f) >= 0 && !fclose(f));
    start_with("printf '%s|%s|%s|%s|' \"$1\" \"$2\" $MORE \"$KUBERNETES_EXEC_INFO\" > $0.told; cat >> $0.told\n"
               PRINT(",\"status\":{\"token\":\"t\"}"),
               (struct client_config){ .server = STR("https://s:1"), .ca_file = str_of(ca),
                                       .tls_server_name = STR("n"), .proxy_url = STR("http://p") });
    CHECK(ask(&h));
    char told[1000] = { 0 };
    const char *file = arena_printf(&arena, "%s.told", path);
    f = fopen(file, "r");
    CHECK(f && fread(told, 1, sizeof(told) - 1, f) > 0);
    fclose(f);
    unlink(file);
    unlink(ca);
    CHECK_TEXT("told", told,
               "a b|c|2|{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"spec\":{"
               "\"cluster\":{\"server\":\"https://s:1\",\"tls-server-name\":\"n\","
               "\"certificate-authority-data\":\"Y2E=\",\"proxy-url\":\"http://p\",\"config\":{\"x\":1}},"
               "\"interactive\":false}}\n|");
    finish();
}

TEST(programs_that_fail)
{
    static const struct {
        const char *script, *error; /* %s: the program */
    } rows[] = {
        { "exit 7", "exec: executable %s failed with exit code 7" },
        { "kill -9 $$", "exec: executable %s failed with exit code -1" },
        { "echo garbage", "decoding stdout: " },
        { "true", "decoding stdout: " },
        { "echo '[]'", "decoding stdout: " },
        { "echo '{\"kind\":\"Pod\"}'", "decoding stdout: " },
        { "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}'",
          "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin returned version "
          "client.authentication.k8s.io/v1beta1" },
        { PRINT(""), "exec plugin didn't return a status field" },
        { PRINT(",\"status\":{}"), "exec plugin didn't return a token or cert/key pair" },
        { PRINT(",\"status\":{\"token\":7}"), "exec plugin didn't return a token or cert/key pair" },
        { PRINT(",\"status\":{\"clientKeyData\":\"k\"}"), "exec plugin returned only certificate or key, not both" },
        { PRINT(",\"status\":{\"token\":\"a\\\\nb\"}"), "exec plugin returned a token that cannot stand in a header" },
        { PRINT(",\"status\":{\"token\":\"a\",\"expirationTimestamp\":\"soon\"}"), "decoding stdout: parsing time" },
        { PRINT(",\"status\":{\"clientCertificateData\":\"bad\",\"clientKeyData\":\"k\"}"),
          "failed parsing client key/certificate: no PEM" },
        { "exec yes", "exec: executable %s printed more than 1048576 bytes" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *h;
        snprintf(folder, sizeof(folder), "/tmp/berth_credentials_XXXXXX");
        start_with(rows[i].script, (struct client_config){ 0 });
        CHECK(ask(&h));
        const char *want = arena_printf(&arena, rows[i].error, path);
        if (!str_starts(str_of(ready_error), str_of(want)))
            FAIL("%s: %s", rows[i].script, ready_error);
        CHECK_TEXT("no headers", h, "");
        CHECK(ask(&h)); /* tried again */
        finish();
    }
}

TEST(a_program_that_is_not_there_or_wants_to_talk)
{
    const char *h;
    start_with("true", (struct client_config){ 0 });
    unlink(path);
    program.install_hint = STR("take it from the shelf");
    CHECK(ask(&h));
    const char *missing = arena_printf(&arena, "exec: executable %s not found\n\nIt looks", path);
    CHECK(str_starts(str_of(ready_error), str_of(missing)));
    CHECK(str_ends(str_of(ready_error), STR("\n\ntake it from the shelf")));
    program.interactive_mode = STR("Always");
    CHECK(ask(&h));
    CHECK_TEXT("talks", ready_error, "exec plugin cannot support interactive mode: standard input is not a terminal");
    program.api_version = STR("v7");
    struct credentials *other;
    CHECK(credentials_new(&(struct client_config){ .exec = &program }, loop, use_cert, NULL, &other, &error));
    CHECK_TEXT("version", error.message, "exec plugin: invalid apiVersion \"v7\"");
    finish();
}

TEST(a_program_that_hangs_is_killed)
{
    struct credentials_waiter w = { .ready = on_ready };
    start_with("exec sleep 1000", (struct client_config){ 0 });
    CHECK(!credentials_ready(credentials, &w));
    advance(60000);
    CHECK_INT("told", n_ready, 1);
    CHECK(strstr(ready_error, "did not end in time"));
    CHECK(!credentials_ready(credentials, &w));
    credentials_leave(&w);
    finish(); /* kills the second one */
}

TEST(a_program_is_not_asked_when_there_is_a_token)
{
    const char *h;
    start_with("exit 1", (struct client_config){ .token = STR("given") });
    CHECK(!ask(&h));
    CHECK_TEXT("headers", h, "authorization: Bearer given\n");
    finish();
}

TEST(a_program_prints_a_certificate)
{
    const char *h;
    start_with(PRINT(",\"status\":{\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}"),
               (struct client_config){ 0 });
    CHECK(ask(&h));
    CHECK_TEXT("no token", h, "");
    CHECK_TEXT("cert", last_cert, "c");
    credentials_refused(credentials, credentials_version(credentials));
    CHECK(ask(&h));
    CHECK_INT("the same one is not used anew", n_certs, 1);
    finish();
}
