/* The certificate of who was given none, files of authorities, profiles: daemon/self_signed.c, ca_file.c, profile.c. */
#include "daemon/self_signed.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/ca_file.h"
#include "daemon/profile.h"
#include "daemon/symbols.h"
#include "http/tls.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;
static char folder[64];

static void begin(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
    snprintf(folder, sizeof(folder), "/tmp/test_self_signed.XXXXXX");
    CHECK(mkdtemp(folder));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK(system(command) == 0);
    arena_fini(&arena);
}

/* NULL: a client that trusts the last certificate of the chain is satisfied with that name. Otherwise why not. */
static const char *why_not(struct str chain, struct str key, const char *host)
{
    static char why[256];
    struct tls_cert_source source = { .cert_pem = chain, .key_pem = key };
    const char *last = strstr(chain.p + 1, "-----BEGIN");
    struct tls_context *server, *client;
    struct strbuf to_server, to_client, plain;
    CHECK(!tls_context_new(&(struct tls_options){ .is_server = true, .certs = &source, .n_certs = 1 }, &server, &error));
    CHECK(!tls_context_new(&(struct tls_options){ .ca_pem = str_of(last) }, &client, &error));
    struct tls_session *s = tls_session_new(server, NULL), *c = tls_session_new(client, host);
    strbuf_init(&to_server, STRBUF_NO_MAX);
    strbuf_init(&to_client, STRBUF_NO_MAX);
    strbuf_init(&plain, STRBUF_NO_MAX);
    for (int i = 0; i < 4; i++) {
        tls_session_input(c, strbuf_str(&to_client), &plain, &to_server);
        strbuf_reset(&to_client);
        tls_session_input(s, strbuf_str(&to_server), &plain, &to_client);
        strbuf_reset(&to_server);
    }
    bool open = tls_session_state(c) == TLS_OPEN;
    snprintf(why, sizeof(why), "%s", tls_session_error(c));
    tls_session_free(s);
    tls_session_free(c);
    tls_context_unref(server);
    tls_context_unref(client);
    strbuf_fini(&to_server);
    strbuf_fini(&to_client);
    strbuf_fini(&plain);
    return open ? NULL : why;
}

TEST(it_is_good_for_the_address_and_localhost)
{
    begin();
    struct str cert, key;
    struct self_signed_options o = { .bind_address = "10.1.2.3", .name = "kube-scheduler", .clock = &clock_real, .key = TLS_NEW_KEY_RSA_2048 };
    CHECK(!self_signed_pair(&o, &arena, &cert, &key, &error));
    CHECK(!why_not(cert, key, "localhost"));
    CHECK(!why_not(cert, key, "127.0.0.1"));
    CHECK(!why_not(cert, key, "10.1.2.3"));
    CHECK(why_not(cert, key, "10.1.2.4"));
    o.bind_address = "0.0.0.0";
    CHECK(!self_signed_pair(&o, &arena, &cert, &key, &error));
    CHECK(!why_not(cert, key, "localhost"));
    CHECK(why_not(cert, key, "0.0.0.0"));
    end();
}

TEST(a_folder_keeps_it)
{
    begin();
    struct str cert, key, again, again_key;
    struct stat st;
    struct self_signed_options o = { .bind_address = "127.0.0.1", .name = "kube-scheduler", .clock = &clock_real, .key = TLS_NEW_KEY_RSA_2048,
                                     .cert_dir = arena_printf(&arena, "%s/a/b", folder) };
    CHECK(!self_signed_pair(&o, &arena, &cert, &key, &error));
    CHECK(!self_signed_pair(&o, &arena, &again, &again_key, &error));
    CHECK_STR("the same", again, cert);
    CHECK_STR("the same", again_key, key);
    const char *key_file = arena_printf(&arena, "%s/kube-scheduler.key", o.cert_dir);
    CHECK(stat(key_file, &st) == 0);
    CHECK_INT("nobody else reads it", st.st_mode & 0777, 0600);
    CHECK(unlink(key_file) == 0);
    CHECK(self_signed_pair(&o, &arena, &again, &again_key, &error));
    CHECK(strstr(error.message, "certificate and key must be supplied as a pair"));
    o.cert_dir = "/proc/nowhere";
    CHECK(self_signed_pair(&o, &arena, &again, &again_key, &error));
    CHECK(strstr(error.message, "/proc/nowhere"));
    end();
}

/* ---- Files of authorities ---- */

static int n_used;
static char used[64];

static enum err_code use(void *context, struct str pem, struct err *e)
{
    (void)context;
    if (str_starts(pem, STR("bad")))
        return err_set(e, ERR_INVALID, "it is bad");
    n_used++;
    snprintf(used, sizeof(used), "%.*s", STR_ARG(pem));
    return ERR_OK;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static struct strbuf logged;

static void keep_log(void *context, struct str record)
{
    (void)context;
    strbuf_add_str(&logged, record);
}

static void turn_until(struct loop *l, const int *n, int want)
{
    while (*n < want)
        loop_run_once(l, true);
}

TEST(a_file_of_authorities_is_read_again)
{
    begin();
    struct loop *l = loop_new(NULL);
    struct ca_file *f;
    char path[96];
    strbuf_init(&logged, STRBUF_NO_MAX);
    log_set_sink(keep_log, NULL);
    snprintf(path, sizeof(path), "%s/ca", folder);
    CHECK(ca_file_new(l, path, 10, use, NULL, &f, &error));
    CHECK(strstr(error.message, "No such file"));
    write_file(path, "");
    CHECK(ca_file_new(l, path, 10, use, NULL, &f, &error));
    CHECK(strstr(error.message, "has no PEM-encoded certificate"));
    write_file(path, "bad");
    CHECK(ca_file_new(l, path, 10, use, NULL, &f, &error));
    CHECK_TEXT("the user's words", error.message, "it is bad");
    write_file(path, "one");
    CHECK(!ca_file_new(l, path, 10, use, NULL, &f, &error));
    CHECK_TEXT("at once", used, "one");
    write_file(path, "two");
    turn_until(l, &n_used, 2);
    CHECK_TEXT("then", used, "two");
    write_file(path, "bad");
    while (!strstr(strbuf_cstr(&logged), "it is bad"))
        loop_run_once(l, true);
    unlink(path);
    while (!strstr(strbuf_cstr(&logged), "No such file"))
        loop_run_once(l, true);
    CHECK_INT("what was known stays", n_used, 2);
    write_file(path, "three");
    turn_until(l, &n_used, 3);
    ca_file_free(f);
    loop_free(l);
    strbuf_fini(&logged);
    end();
}

/* ---- Profiles ---- */

__attribute__((noinline)) static uint64_t busy_loop_of_the_test(uint64_t n)
{
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += i * i;
    return sum;
}

#ifndef __SANITIZE_THREAD__ /* it holds signals back, and so the samples */
TEST(a_profile_has_the_function_that_was_busy)
{
    begin();
    struct profile *p = profile_start();
    struct strbuf text;
    CHECK(p);
    CHECK(!profile_start()); /* one at a time */
    while (profile_n_samples(p) < 10)
        busy_loop_of_the_test(1000000);
    profile_stop(p);
    uint32_t n = profile_n_samples(p);
    busy_loop_of_the_test(100000000);
    CHECK_INT("it is over", profile_n_samples(p), n);
    CHECK_INT("none is lost", profile_n_lost(p), 0);
    strbuf_init(&text, STRBUF_NO_MAX);
    profile_write(p, &text);
    strbuf_add_char(&text, '\0');
    bool found = false;
    for (size_t i = 0; i + 21 < text.n; i++)
        found |= memcmp(text.p + i, "busy_loop_of_the_test", 21) == 0;
    CHECK(found);
    profile_free(p);
    p = profile_start();
    CHECK(p);
    profile_free(p); /* without a stop */
    strbuf_fini(&text);
    end();
}
#endif

TEST(addresses_have_names)
{
    struct symbols *s = symbols_new();
    CHECK_STR("a static function", symbols_find(s, (uintptr_t)busy_loop_of_the_test), STR("busy_loop_of_the_test"));
    CHECK_STR("within it", symbols_find(s, (uintptr_t)busy_loop_of_the_test + 1), STR("busy_loop_of_the_test"));
    CHECK_INT("nobody's", symbols_find(s, 1).n, 0);
    CHECK_INT("nobody's", symbols_find(s, UINTPTR_MAX).n, 0);
    symbols_free(s);
}
