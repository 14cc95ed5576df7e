/* tests/fuzz/fuzz_token.c - bearer tokens and token files: nothing in them is fatal, and no text that nobody signed is
 * believed.
 *
 * The input is a token up to the first line end; the rest is once a token file and once the claims of a token that is signed. */
#include <stdlib.h>

#include "apiserver/jwt.h"
#include "apiserver/sa_token.h"
#include "apiserver/token_file.h"
#include "http/tls.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct {
    struct arena arena;
    struct store *store;
    struct stored *objects;
    struct sa_tokens *tokens;
    struct jwt_key *signer;
} world;

static void check(bool condition)
{
    if (!condition)
        abort();
}

static void begin(void)
{
    static const char *const issuers[] = { "https://kubernetes.default.svc", NULL };
    struct tls_new_cert c = { .common_name = "t", .key = TLS_NEW_KEY_P256, .not_before_s = 1, .not_after_s = 2 };
    struct str cert, key;
    struct err e;
    if (world.tokens)
        return;
    arena_init(&world.arena);
    err_init(&e, &world.arena);
    check(!store_new(&(struct store_options){ 0 }, &world.store, &e));
    world.objects = stored_new(world.store);
    check(!tls_make_cert(&c, &world.arena, &cert, &key, &e));
    struct sa_tokens_options o = { .issuers = issuers, .key_pems = &cert, .n_key_pems = 1, .signing_key_pem = key };
    check(!sa_tokens_new(&o, &world.tokens, &e));
    check(!jwt_signer_new(key, &world.signer, &e));
}

/* There is no account: nobody is let in, and each time there is a reason. */
static void refuse(struct arena *a, struct str token)
{
    const struct user *u;
    struct str_list audiences;
    struct err e;
    err_init(&e, a);
    check(sa_token_check(world.tokens, a, world.objects, token, (struct str_list){ 0 }, 1700000000, &u, &audiences, &e) ==
          ERR_UNAUTHORIZED);
    check(e.message && *e.message);
}

static void read_file(struct arena *a, struct str text)
{
    struct token_file f;
    struct err e;
    err_init(&e, a);
    if (token_file_read(text, &f, &e)) {
        check(e.message && *e.message);
        return;
    }
    check(!token_file_find(&f, STR("")));
    token_file_fini(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str all = { (const char *)data, n };
    size_t line = str_index(all, '\n');
    struct str token = str_first(all, line), rest = str_from(all, line + 1);
    struct arena a;
    begin();
    arena_init(&a);
    refuse(&a, token);
    effort_begin(n);
    read_file(&a, rest);
    effort_end(&a, n);
    struct str signed_token = jwt_sign(&a, world.signer, rest);
    struct jwt jwt;
    if (jwt_read(&a, signed_token, &jwt))
        check(jwt.claims.kind == VALUE_MAP);
    refuse(&a, signed_token);
    arena_fini(&a);
    return 0;
}
