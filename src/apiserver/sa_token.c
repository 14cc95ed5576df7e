/* apiserver/sa_token.c - see sa_token.h. Upstream: pkg/serviceaccount/{jwt,claims,legacy,openidmetadata}.go. */
#include "apiserver/sa_token.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>

#include "api/schema_slots.h"
#include "apiserver/identity.h"
#include "apiserver/jwt.h"
#include "apiserver/rbac_rule.h"
#include "codec/json.h"

#define LEGACY_ISSUER "kubernetes/serviceaccount"
#define LEGACY_CLAIM "kubernetes.io/serviceaccount/"
#define INVALID_SINCE "kubernetes.io/legacy-token-invalid-since"
#define JWKS_PATH "/openid/v1/jwks"
#define INVALIDATED "service account token has been invalidated"

enum { LEEWAY_S = 60 }; /* clocks differ so much, and what is being deleted is still good so long */

struct sa_tokens {
    struct arena arena;
    struct str_list issuers, audiences;
    struct jwt_keys keys;
    struct jwt_key *signer; /* NULL: no tokens are made */
    int64_t max_expiration_s;
    struct str jwks_uri;
};

/* ---- Making ---- */

static void add_reference(struct strbuf *to, const char *name, struct str object, struct str uid)
{
    if (object.n == 0)
        return;
    strbuf_printf(to, ",\"%s\":{\"name\":", name);
    json_add_string(to, object);
    if (uid.n) {
        STRBUF_ADD_LIT(to, ",\"uid\":");
        json_add_string(to, uid);
    }
    strbuf_add_char(to, '}');
}

static void add_random_uuid(struct strbuf *to)
{
    uint8_t b[16];
    int done = RAND_bytes(b, sizeof(b));
    assert(done == 1);
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    for (size_t i = 0; i < sizeof(b); i++)
        strbuf_printf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

static void add_strings(struct strbuf *to, const struct str_list *l)
{
    strbuf_add_char(to, '[');
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        json_add_string(to, l->at[i]);
    }
    strbuf_add_char(to, ']');
}

/* Names in alphabetic order, as upstream's maps are written. */
static void add_claims(struct strbuf *to, const struct sa_tokens *t, const struct sa_claims *c, struct str subject)
{
    STRBUF_ADD_LIT(to, "{\"aud\":");
    add_strings(to, c->audiences.n ? &c->audiences : &t->audiences);
    strbuf_printf(to, ",\"exp\":%lld,\"iat\":%lld,\"iss\":", (long long)c->expires_s, (long long)c->now_s);
    json_add_string(to, t->issuers.at[0]);
    STRBUF_ADD_LIT(to, ",\"jti\":\"");
    add_random_uuid(to);
    STRBUF_ADD_LIT(to, "\",\"kubernetes.io\":{\"namespace\":");
    json_add_string(to, c->namespace);
    add_reference(to, "node", c->node_name, c->node_uid);
    add_reference(to, "pod", c->pod_name, c->pod_uid);
    add_reference(to, "secret", c->secret_name, c->secret_uid);
    add_reference(to, "serviceaccount", c->name, c->uid);
    if (c->warn_after_s)
        strbuf_printf(to, ",\"warnafter\":%lld", (long long)c->warn_after_s);
    strbuf_printf(to, "},\"nbf\":%lld,\"sub\":", (long long)c->now_s);
    json_add_string(to, subject);
    strbuf_add_char(to, '}');
}

enum err_code sa_token_make(struct sa_tokens *t, struct arena *a, const struct sa_claims *c, struct str *ret_token,
                            struct err *e)
{
    if (!t->signer)
        return err_set(e, ERR_UNAVAILABLE, "failed to generate token: there is no key to sign it with");
    struct strbuf claims;
    strbuf_init(&claims, STRBUF_NO_MAX);
    add_claims(&claims, t, c, identity_of_account(a, c->namespace, c->name, c->uid).name);
    *ret_token = jwt_sign(a, t->signer, strbuf_str(&claims));
    strbuf_fini(&claims);
    return ERR_OK;
}

static void add_legacy_claim(struct strbuf *to, const char *name, struct str value)
{
    strbuf_printf(to, ",\"" LEGACY_CLAIM "%s\":", name);
    json_add_string(to, value);
}

enum err_code sa_token_make_legacy(struct sa_tokens *t, struct arena *a, const struct sa_claims *c, struct str *ret_token,
                                   struct err *e)
{
    if (!t->signer)
        return err_set(e, ERR_UNAVAILABLE, "failed to generate token: there is no key to sign it with");
    struct strbuf claims;
    strbuf_init(&claims, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&claims, "{\"iss\":\"" LEGACY_ISSUER "\"");
    add_legacy_claim(&claims, "namespace", c->namespace);
    add_legacy_claim(&claims, "secret.name", c->secret_name);
    add_legacy_claim(&claims, "service-account.name", c->name);
    add_legacy_claim(&claims, "service-account.uid", c->uid);
    STRBUF_ADD_LIT(&claims, ",\"sub\":");
    json_add_string(&claims, identity_of_account(a, c->namespace, c->name, c->uid).name);
    strbuf_add_char(&claims, '}');
    *ret_token = jwt_sign(a, t->signer, strbuf_str(&claims));
    strbuf_fini(&claims);
    return ERR_OK;
}

/* ---- Claims of a token ---- */

static const struct value *member(const struct value *map, const char *key)
{
    static const struct value absent = { 0 };
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(key)) : NULL;
    return v ? v : &absent;
}

static struct str text(const struct value *map, const char *key)
{
    return value_text(member(map, key));
}

/* A list, or one alone. */
static struct str_list audiences_of(struct arena *a, const struct value *claims)
{
    const struct value *v = member(claims, "aud");
    if (v->kind != VALUE_STRING)
        return str_list_of_value(a, v);
    struct str *one = ARENA_NEW(a, struct str);
    *one = value_text(v);
    return (struct str_list){ one, 1 };
}

/* Those of `wanted` that the token has. */
static struct str_list intersection(struct arena *a, const struct str_list *token, const struct str_list *wanted)
{
    struct str *both = ARENA_NEW_N(a, struct str, wanted->n);
    size_t n = 0;
    for (size_t i = 0; i < wanted->n; i++)
        if (str_list_has(token, wanted->at[i]))
            both[n++] = wanted->at[i];
    return (struct str_list){ both, n };
}

static enum err_code check_audiences(const struct sa_tokens *t, struct arena *a, const struct value *claims,
                                     struct str_list wanted, struct str_list *ret_audiences, struct err *e)
{
    struct str_list of_token = audiences_of(a, claims);
    if (of_token.n == 0)
        of_token = t->audiences; /* as legacy tokens */
    if (wanted.n == 0)
        wanted = t->audiences;
    struct str_list both = intersection(a, &of_token, &wanted);
    if (both.n || t->audiences.n == 0) {
        *ret_audiences = both;
        return ERR_OK;
    }
    struct strbuf why;
    strbuf_init(&why, ERR_MESSAGE_BYTES_MAX);
    STRBUF_ADD_LIT(&why, "token audiences ");
    str_list_add_quoted(&why, &of_token);
    STRBUF_ADD_LIT(&why, " is invalid for the target audiences ");
    str_list_add_quoted(&why, &wanted);
    err_set(e, ERR_UNAUTHORIZED, "%.*s", STR_ARG(strbuf_str(&why)));
    strbuf_fini(&why);
    return e->code;
}

/* Absent: nothing is said. Fractions of a second are cut off. */
static bool read_time(const struct value *claims, const char *key, bool *ret_said, int64_t *ret_s)
{
    const struct value *v = member(claims, key);
    *ret_said = v->kind != VALUE_ABSENT && v->kind != VALUE_NULL;
    if (v->kind == VALUE_DOUBLE && v->d > -1e15 && v->d < 1e15)
        *ret_s = (int64_t)v->d;
    else if (v->kind == VALUE_INT)
        *ret_s = v->i;
    else
        return !*ret_said;
    return true;
}

static const char *check_times(const struct value *claims, int64_t now_s)
{
    bool has_start, has_end, has_issue;
    int64_t start_s = 0, end_s = 0, issue_s = 0;
    if (!read_time(claims, "nbf", &has_start, &start_s) || !read_time(claims, "exp", &has_end, &end_s) ||
        !read_time(claims, "iat", &has_issue, &issue_s))
        return "service account token claims could not be validated due to unexpected validation error";
    if (has_start && now_s + LEEWAY_S < start_s)
        return "service account token is not valid yet";
    if (has_end && now_s - LEEWAY_S > end_s)
        return "service account token has expired";
    if (has_issue && now_s + LEEWAY_S < issue_s)
        return "service account token is issued in the future";
    return NULL;
}

/* ---- What a token is bound to ---- */

struct checking {
    struct arena *arena;
    struct stored *objects;
    const struct value *claims;
    struct str token;
    int64_t now_s;
};

static const struct value *meta_of(const struct resource *r, const struct value *object)
{
    return value_slot(object, (unsigned)schema_slot(r->type, STR("metadata")));
}

static struct str uid_of(const struct value *meta)
{
    return value_text(value_slot(meta, SLOT_meta_v1_ObjectMeta_uid));
}

/* Whether it was deleted longer ago than the leeway. */
static bool is_deleted(const struct value *meta, int64_t now_s)
{
    const struct value *at = value_slot(meta, SLOT_meta_v1_ObjectMeta_deletionTimestamp);
    return at->kind == VALUE_TIME && at->i < now_s - LEEWAY_S;
}

static enum err_code check_bound(const struct checking *k, const char *kind, const char *plural, struct str namespace,
                                 const struct value *ref, struct err *e)
{
    const struct resource *r = stored_resource(plural, "");
    const struct value *object = stored_get(k->objects, r, namespace, text(ref, "name"));
    if (!object)
        return err_set(e, ERR_UNAUTHORIZED, INVALIDATED);
    const struct value *meta = meta_of(r, object);
    struct str uid = uid_of(meta), claimed = text(ref, "uid");
    if (!str_eq(uid, claimed))
        return err_set(e, ERR_UNAUTHORIZED, "%s UID (%.*s) does not match service account %s ref claim (%.*s)", kind,
                       STR_ARG(uid), kind, STR_ARG(claimed));
    return is_deleted(meta, k->now_s) ? err_set(e, ERR_UNAUTHORIZED, INVALIDATED) : ERR_OK;
}

static enum err_code check_account(const struct checking *k, struct str namespace, const struct value *ref, struct err *e)
{
    const struct resource *r = stored_resource("serviceaccounts", "");
    struct str name = text(ref, "name"), claimed = text(ref, "uid");
    const struct value *account = stored_get(k->objects, r, namespace, name);
    if (!account)
        return err_set(e, ERR_UNAUTHORIZED, "serviceaccounts \"%.*s\" not found", STR_ARG(name));
    const struct value *meta = meta_of(r, account);
    struct str uid = uid_of(meta);
    if (!str_eq(uid, claimed))
        return err_set(e, ERR_UNAUTHORIZED, "service account UID (%.*s) does not match claim (%.*s)", STR_ARG(uid),
                       STR_ARG(claimed));
    if (is_deleted(meta, k->now_s))
        return err_set(e, ERR_UNAUTHORIZED, "service account %.*s/%.*s has been deleted", STR_ARG(namespace),
                       STR_ARG(name));
    return ERR_OK;
}

static void add_extra(struct arena *a, struct user *u, const char *key, struct str value)
{
    if (value.n)
        user_add_extra(a, u, key, value);
}

static struct user user_of_claims(struct arena *a, const struct value *claims)
{
    const struct value *ours = member(claims, "kubernetes.io"), *account = member(ours, "serviceaccount");
    const struct value *pod = member(ours, "pod"), *node = member(ours, "node");
    struct str id = text(claims, "jti");
    struct user u = identity_of_account(a, text(ours, "namespace"), text(account, "name"), text(account, "uid"));
    if (text(pod, "name").n && text(pod, "uid").n) {
        add_extra(a, &u, "authentication.kubernetes.io/pod-name", text(pod, "name"));
        add_extra(a, &u, "authentication.kubernetes.io/pod-uid", text(pod, "uid"));
    }
    if (id.n)
        add_extra(a, &u, CREDENTIAL_ID, str_of(arena_printf(a, "JTI=%.*s", STR_ARG(id))));
    if (text(node, "name").n) {
        add_extra(a, &u, "authentication.kubernetes.io/node-name", text(node, "name"));
        add_extra(a, &u, "authentication.kubernetes.io/node-uid", text(node, "uid"));
    }
    return u;
}

static enum err_code check_claims(const struct checking *k, struct user *ret_user, struct err *e)
{
    const struct value *ours = member(k->claims, "kubernetes.io");
    const struct value *pod = member(ours, "pod"), *secret = member(ours, "secret"), *node = member(ours, "node");
    struct str namespace = text(ours, "namespace");
    const char *why = check_times(k->claims, k->now_s);
    if (why)
        return err_set(e, ERR_UNAUTHORIZED, "%s", why);
    if (check_account(k, namespace, member(ours, "serviceaccount"), e))
        return e->code;
    if (secret->kind == VALUE_MAP && check_bound(k, "secret", "secrets", namespace, secret, e))
        return e->code;
    if (pod->kind == VALUE_MAP && check_bound(k, "pod", "pods", namespace, pod, e))
        return e->code;
    /* The node of a pod is only told, it may be gone. */
    if (node->kind == VALUE_MAP && pod->kind != VALUE_MAP && check_bound(k, "node", "nodes", STR(""), node, e))
        return e->code;
    *ret_user = user_of_claims(k->arena, k->claims);
    return ERR_OK;
}

/* ---- Legacy tokens ---- */

static bool same_bytes(struct str a, struct str b)
{
    return a.n == b.n && a.n && CRYPTO_memcmp(a.p, b.p, a.n) == 0;
}

static enum err_code check_legacy_secret(const struct checking *k, struct str namespace, struct str name, struct err *e)
{
    const struct resource *r = stored_resource("secrets", "");
    const struct value *secret = stored_get(k->objects, r, namespace, name);
    const struct value *meta = secret ? meta_of(r, secret) : NULL;
    if (!secret || value_slot(meta, SLOT_meta_v1_ObjectMeta_deletionTimestamp)->kind == VALUE_TIME)
        return err_set(e, ERR_UNAUTHORIZED, "Token has been invalidated");
    const struct value *held = value_member(value_slot(secret, SLOT_core_v1_Secret_data), STR("token"));
    if (!held || !same_bytes(value_text(held), k->token))
        return err_set(e, ERR_UNAUTHORIZED, "Token does not match server's copy");
    return ERR_OK;
}

static enum err_code check_legacy_account(const struct checking *k, struct str namespace, struct str name,
                                          struct str claimed, struct err *e)
{
    const struct resource *r = stored_resource("serviceaccounts", "");
    const struct value *account = stored_get(k->objects, r, namespace, name);
    if (!account)
        return err_set(e, ERR_UNAUTHORIZED, "serviceaccounts \"%.*s\" not found", STR_ARG(name));
    const struct value *meta = meta_of(r, account);
    if (value_slot(meta, SLOT_meta_v1_ObjectMeta_deletionTimestamp)->kind == VALUE_TIME)
        return err_set(e, ERR_UNAUTHORIZED, "ServiceAccount %.*s/%.*s has been deleted", STR_ARG(namespace),
                       STR_ARG(name));
    if (!str_eq(uid_of(meta), claimed))
        return err_set(e, ERR_UNAUTHORIZED, "ServiceAccount UID (%.*s) does not match claim (%.*s)",
                       STR_ARG(uid_of(meta)), STR_ARG(claimed));
    return ERR_OK;
}

/* kube-controller-manager marks tokens that nobody used for long. */
static enum err_code check_legacy_mark(const struct checking *k, struct str namespace, struct str secret,
                                       struct str account, struct err *e)
{
    const struct resource *r = stored_resource("secrets", "");
    const struct value *object = stored_get(k->objects, r, namespace, secret);
    const struct value *labels = value_slot(meta_of(r, object), SLOT_meta_v1_ObjectMeta_labels);
    const struct value *since = value_member(labels, STR(INVALID_SINCE));
    if (!since || value_text(since).n == 0)
        return ERR_OK;
    return err_set(e, ERR_UNAUTHORIZED,
                   "the token in secret %.*s/%.*s for service account %.*s/%.*s has been marked invalid. Use tokens from "
                   "the TokenRequest API or manually created secret-based tokens, or remove the '" INVALID_SINCE
                   "' label from the secret to temporarily allow use of this token",
                   STR_ARG(namespace), STR_ARG(secret), STR_ARG(namespace), STR_ARG(account));
}

static enum err_code check_legacy(const struct checking *k, struct user *ret_user, struct err *e)
{
    struct str subject = text(k->claims, "sub"), sub_namespace, sub_name;
    struct str namespace = text(k->claims, LEGACY_CLAIM "namespace");
    struct str secret = text(k->claims, LEGACY_CLAIM "secret.name");
    struct str name = text(k->claims, LEGACY_CLAIM "service-account.name");
    struct str uid = text(k->claims, LEGACY_CLAIM "service-account.uid");
    const struct {
        struct str value;
        const char *name;
    } needed[] = { { subject, "sub" }, { namespace, "namespace" }, { secret, "secretName" },
                   { name, "serviceAccountName" }, { uid, "serviceAccountUID" } };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (needed[i].value.n == 0)
            return err_set(e, ERR_UNAUTHORIZED, "%s claim is missing", needed[i].name);
    if (!identity_split_account(subject, &sub_namespace, &sub_name) || !str_eq(sub_namespace, namespace) ||
        !str_eq(sub_name, name))
        return err_set(e, ERR_UNAUTHORIZED, "sub claim is invalid");
    if (check_legacy_secret(k, namespace, secret, e) || check_legacy_account(k, namespace, name, uid, e) ||
        check_legacy_mark(k, namespace, secret, name, e))
        return e->code;
    *ret_user = identity_of_account(k->arena, namespace, name, uid);
    return ERR_OK;
}

/* ---- Checking ---- */

static bool is_legacy(const struct value *claims)
{
    return str_is(text(claims, "iss"), LEGACY_ISSUER);
}

static bool has_issuer(const struct sa_tokens *t, const struct value *claims)
{
    return is_legacy(claims) || str_list_has(&t->issuers, text(claims, "iss"));
}

bool sa_token_is_ours(const struct sa_tokens *t, struct str token)
{
    struct arena scratch;
    struct jwt jwt;
    arena_init_small(&scratch);
    bool ours = jwt_read(&scratch, token, &jwt) && has_issuer(t, &jwt.claims);
    arena_fini(&scratch);
    return ours;
}

enum err_code sa_token_check(struct sa_tokens *t, struct arena *a, struct stored *o, struct str token,
                             struct str_list audiences, int64_t now_s, const struct user **ret_user,
                             struct str_list *ret_audiences, struct err *e)
{
    struct jwt jwt;
    struct user u = { 0 };
    struct str_list fitting = { 0 };
    if (!jwt_read(a, token, &jwt) || !has_issuer(t, &jwt.claims))
        return err_set(e, ERR_UNAUTHORIZED, "invalid bearer token");
    const char *why = jwt_verify(&jwt, &t->keys);
    if (why)
        return err_set(e, ERR_UNAUTHORIZED, "%s", why);
    if (check_audiences(t, a, &jwt.claims, audiences, &fitting, e))
        return e->code;
    struct checking k = { a, o, &jwt.claims, token, now_s };
    if (is_legacy(&jwt.claims) ? check_legacy(&k, &u, e) : check_claims(&k, &u, e))
        return e->code;
    struct user *copy = ARENA_NEW(a, struct user);
    *copy = user_copy(a, &u);
    *ret_user = copy;
    *ret_audiences = str_list_copy(a, &fitting);
    return ERR_OK;
}

/* ---- Documents for others who want to check tokens ---- */

void sa_tokens_add_jwks(const struct sa_tokens *t, struct strbuf *to)
{
    STRBUF_ADD_LIT(to, "{\"keys\":[");
    for (size_t i = 0; i < t->keys.n; i++) {
        if (i)
            strbuf_add_char(to, ',');
        jwt_key_add_json(t->keys.at[i], to);
    }
    STRBUF_ADD_LIT(to, "]}");
}

/* Algorithms of all keys, each once, in alphabetic order. */
static void add_algorithms(const struct sa_tokens *t, struct strbuf *to)
{
    static const char *const names[] = { "ES256", "ES384", "ES512", "RS256" };
    bool first = true;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        bool used = false;
        for (size_t i = 0; i < t->keys.n; i++)
            used |= strcmp(jwt_key_algorithm(t->keys.at[i]), names[n]) == 0;
        if (!used)
            continue;
        strbuf_printf(to, "%s\"%s\"", first ? "" : ",", names[n]);
        first = false;
    }
}

void sa_tokens_add_configuration(const struct sa_tokens *t, struct strbuf *to)
{
    STRBUF_ADD_LIT(to, "{\"issuer\":");
    json_add_string(to, t->issuers.at[0]);
    STRBUF_ADD_LIT(to, ",\"jwks_uri\":");
    json_add_string(to, t->jwks_uri);
    STRBUF_ADD_LIT(to, ",\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":[\"public\"],"
                       "\"id_token_signing_alg_values_supported\":[");
    add_algorithms(t, to);
    STRBUF_ADD_LIT(to, "]}");
}

struct str_list sa_tokens_audiences(const struct sa_tokens *t)
{
    return t->audiences;
}

int64_t sa_tokens_max_expiration_s(const struct sa_tokens *t)
{
    return t->max_expiration_s;
}

/* ---- Beginning and end ---- */

static struct str_list copy_texts(struct arena *a, const char *const *texts)
{
    size_t n = 0;
    while (texts && texts[n])
        n++;
    struct str *at = ARENA_NEW_N(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        at[i] = arena_str(a, str_of(texts[i]));
    return (struct str_list){ at, n };
}

static enum err_code read_keys(struct sa_tokens *t, const struct sa_tokens_options *o, struct err *e)
{
    for (size_t i = 0; i < o->n_key_pems; i++)
        if (jwt_keys_add(&t->keys, o->key_pems[i], e))
            return err_wrap(e, "service account key file");
    if (o->signing_key_pem.n && jwt_signer_new(o->signing_key_pem, &t->signer, e))
        return err_wrap(e, "service account signing key file");
    return ERR_OK;
}

enum err_code sa_tokens_new(const struct sa_tokens_options *o, struct sa_tokens **ret_tokens, struct err *e)
{
    struct sa_tokens *t = mem_zalloc(sizeof(*t));
    arena_init_small(&t->arena);
    t->issuers = copy_texts(&t->arena, o->issuers);
    t->audiences = o->audiences && o->audiences[0] ? copy_texts(&t->arena, o->audiences) : t->issuers;
    t->max_expiration_s = o->max_expiration_s;
    const char *uri = o->jwks_uri ? o->jwks_uri
                                  : arena_printf(&t->arena, "https://%s" JWKS_PATH,
                                                 o->external_address ? o->external_address : "");
    t->jwks_uri = arena_str(&t->arena, str_of(uri));
    if (t->issuers.n == 0)
        err_set(e, ERR_INVALID, "service-account-issuer is a required flag");
    if (t->issuers.n == 0 || read_keys(t, o, e)) {
        sa_tokens_free(t);
        return e->code;
    }
    *ret_tokens = t;
    return ERR_OK;
}

void sa_tokens_free(struct sa_tokens *t)
{
    if (!t)
        return;
    jwt_keys_fini(&t->keys);
    jwt_key_free(t->signer);
    arena_fini(&t->arena);
    free(t);
}
