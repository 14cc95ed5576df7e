/* tests/unit/test_controller_tokens.c - Secrets that hold tokens of service accounts. */
#include "controllers/token_secret.h"
#include "tests/unit/controller_world.h"

#define SECRET(type, notes, data)                                                                                               \
    "{\"metadata\":{\"name\":\"s\",\"namespace\":\"d\",\"annotations\":{" notes "}},\"type\":\"" type "\",\"data\":{" data "}}"
#define TYPE "kubernetes.io/service-account-token"
#define NAME "\"kubernetes.io/service-account.name\":\"a\""
#define UID(uid) ",\"kubernetes.io/service-account.uid\":\"" uid "\""
#define FULL "\"ca.crt\":\"Y2E=\",\"namespace\":\"ZA==\",\"token\":\"dA==\""

static struct str make_token(void *context, struct arena *a)
{
    (void)context;
    (void)a;
    return STR("new");
}

static const struct {
    const char *what, *secret;
    bool has_account;
    enum token_secret_verdict verdict;
    const char *data;
} rows[] = {
    { "of another type", SECRET("Opaque", NAME, ""), true, TOKEN_SECRET_STAYS, NULL },
    { "empty", SECRET(TYPE, NAME, ""), true, TOKEN_SECRET_WRITE, "\"ca.crt\":\"Y2E=\",\"namespace\":\"ZA==\",\"token\":\"bmV3\"" },
    { "a token stays", SECRET(TYPE, NAME, "\"token\":\"dA==\""), true, TOKEN_SECRET_WRITE, FULL },
    { "another authority", SECRET(TYPE, NAME UID("u"), "\"ca.crt\":\"b2xk\",\"namespace\":\"ZA==\",\"token\":\"dA==\""), true, TOKEN_SECRET_WRITE, FULL },
    { "complete", SECRET(TYPE, NAME UID("u"), FULL), true, TOKEN_SECRET_STAYS, NULL },
    { "without its account", SECRET(TYPE, NAME, ""), false, TOKEN_SECRET_DELETE, NULL },
    { "of one that was made again", SECRET(TYPE, NAME UID("old"), FULL), true, TOKEN_SECRET_DELETE, NULL },
};

TEST(secrets_with_tokens)
{
    struct arena a;
    arena_init(&a);
    struct value account = world_decode(&a, "core/v1.ServiceAccount", STR("{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct value next, secret = world_decode(&a, "core/v1.Secret", str_of(rows[i].secret));
        struct token_secret_state s = { &secret, rows[i].has_account ? &account : NULL, STR("ca"), make_token, NULL };
        CHECK_INT(rows[i].what, token_secret_plan(&a, &s, &next), rows[i].verdict);
        if (rows[i].data && !strstr(world_json(&a, "core/v1.Secret", &next), rows[i].data))
            FAIL("%s: %s", rows[i].what, world_json(&a, "core/v1.Secret", &next));
    }
    arena_fini(&a);
}
