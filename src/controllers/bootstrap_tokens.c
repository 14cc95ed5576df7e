/* controllers/bootstrap_tokens.c - see bootstrap_tokens.h; and the two controllers about them, which are off unless they
 * are asked for. */
#include "controllers/bootstrap_tokens.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

#include "api/edit.h"
#include "api/time.h"
#include "base/base64.h"
#include "base/strbuf.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define TOKEN_TYPE "bootstrap.kubernetes.io/token"
#define TOKEN_PREFIX "bootstrap-token-"
#define SIGNATURE_PREFIX "jws-kubeconfig-"
#define TOKENS_NAMESPACE STR("kube-system")
#define INFO_NAMESPACE STR("kube-public")
#define INFO_NAME STR("cluster-info")

enum { ID_BYTES = 6 };

static const struct type *secrets(void)
{
    return schema_type(STR("core/v1.Secret"));
}

static const struct type *maps(void)
{
    return schema_type(STR("core/v1.ConfigMap"));
}

/* ---- Tokens ---- */

static struct str datum(const struct value *secret, const char *key)
{
    return member_text(value_path(secrets(), secret, "data"), str_of(key));
}

static bool is_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!((id.p[i] >= 'a' && id.p[i] <= 'z') || (id.p[i] >= '0' && id.p[i] <= '9')))
            return false;
    return id.n == ID_BYTES;
}

bool bootstrap_is_token(const struct value *secret)
{
    return says_at(secrets(), secret, "type", TOKEN_TYPE);
}

int64_t bootstrap_token_left_ms(const struct value *secret, int64_t now_ms)
{
    struct str text = datum(secret, "expiration");
    struct timestamp until;
    struct arena a;
    struct err e;
    if (!text.n)
        return -1;
    arena_init_small(&a);
    err_init(&e, &a);
    bool good = !timestamp_parse(text, &until, &e);
    arena_fini(&a);
    int64_t left_ms = good ? until.seconds * 1000 + until.nanos / 1000000 - now_ms : 0; /* what cannot be read is over */
    return left_ms > 0 ? left_ms : 0;
}

bool bootstrap_token_read(const struct value *secret, int64_t now_s, struct bootstrap_token *ret)
{
    struct str name = text_at(secrets(), secret, "metadata.name"), id = datum(secret, "token-id");
    *ret = (struct bootstrap_token){ id, datum(secret, "token-secret") };
    return bootstrap_is_token(secret) && str_starts(name, STR(TOKEN_PREFIX)) && is_id(id) &&
           str_eq(str_from(name, sizeof(TOKEN_PREFIX) - 1), id) && ret->secret.n &&
           bootstrap_token_left_ms(secret, now_s * 1000) != 0 && str_is(datum(secret, "usage-bootstrap-signing"), "true");
}

/* ---- Signatures ---- */

/* base64url without padding. */
static struct str encoded(struct arena *a, struct str bytes)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    base64_add(&text, bytes);
    struct str padded = strbuf_str(&text);
    char *url = arena_cstr(a, padded);
    strbuf_fini(&text);
    for (char *c = url; *c; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c;
    return str_of(url);
}

struct str bootstrap_sign(struct arena *a, struct str content, const struct bootstrap_token *t)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    const char *header_json = arena_printf(a, "{\"alg\":\"HS256\",\"kid\":\"%.*s\"}", STR_ARG(t->id));
    struct str header = encoded(a, str_of(header_json)), payload = encoded(a, content);
    struct str text = str_of(arena_printf(a, "%.*s.%.*s", STR_ARG(header), STR_ARG(payload)));
    HMAC(EVP_sha256(), t->secret.p, (int)t->secret.n, (const unsigned char *)text.p, text.n, digest, &n);
    struct str signature = encoded(a, (struct str){ (const char *)digest, n });
    return str_of(arena_printf(a, "%.*s..%.*s", STR_ARG(header), STR_ARG(signature)));
}

static bool is_signature(struct str key)
{
    return str_starts(key, STR(SIGNATURE_PREFIX));
}

/* In the order of their ids, of which each counts once. */
static struct value with_signatures(struct arena *a, const struct value *data, const struct bootstrap_token *tokens, size_t n)
{
    const struct value *content = value_member(data, STR("kubeconfig"));
    struct value signed_data = value_map(ARENA_NEW_N(a, struct member, data->n), 0);
    for (uint32_t i = 0; i < data->n; i++)
        if (!is_signature(data->members[i].key))
            signed_data.members[signed_data.n++] = data->members[i];
    for (size_t i = 0; i < n; i++) {
        struct str key = str_of(arena_printf(a, SIGNATURE_PREFIX "%.*s", STR_ARG(tokens[i].id)));
        if (!value_member(&signed_data, key))
            signed_data = edit_member(a, &signed_data, key, value_string(bootstrap_sign(a, value_text(content), &tokens[i])));
    }
    return signed_data;
}

bool bootstrap_sign_map(struct arena *a, const struct value *map, const struct bootstrap_token *tokens, size_t n,
                        struct value *ret_map)
{
    const struct value *data = value_path(maps(), map, "data");
    if (data->kind != VALUE_MAP || !value_member(data, STR("kubeconfig")))
        return false;
    struct value signed_data = with_signatures(a, data, tokens, n);
    if (value_equal(&signed_data, data))
        return false;
    *ret_map = edit_set(a, maps(), map, "data", signed_data);
    return true;
}

/* ---- Controllers ---- */

struct bootstrap_controller {
    struct cluster *cluster;
    struct work_queue *queue;
};

static const struct resource *secret_resource(void)
{
    return stored_resource("secrets", "");
}

static const struct resource *map_resource(void)
{
    return stored_resource("configmaps", "");
}

static struct bootstrap_controller *controller_new(const struct controller_context *x, work_queue_work *work)
{
    struct bootstrap_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->queue = work_queue_new(cluster_loop(x->cluster), 1, work, c);
    return c;
}

static void controller_free(struct bootstrap_controller *c)
{
    work_queue_free(c->queue);
    free(c);
}

static bool is_in(const struct resource *r, struct store_item *item, struct str namespace, struct str *ret_name)
{
    struct str of;
    stored_read_key(r, store_item_key(item), &of, ret_name);
    return str_eq(of, namespace);
}

/* ---- The signer ---- */

static void sign_info(struct bootstrap_controller *c, struct turn *t, const struct value *map)
{
    const struct value **all;
    struct value v;
    struct arena a;
    arena_init(&a);
    size_t n = stored_list(cluster_objects(c->cluster), secret_resource(), TOKENS_NAMESPACE, &a, &all), n_tokens = 0;
    struct bootstrap_token *tokens = ARENA_NEW_N(&a, struct bootstrap_token, n);
    for (size_t i = 0; i < n; i++)
        n_tokens += bootstrap_token_read(all[i], cluster_now_s(c->cluster), &tokens[n_tokens]);
    if (bootstrap_sign_map(&a, map, tokens, n_tokens, &v))
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = map_resource(), .namespace = INFO_NAMESPACE,
                                             .name = INFO_NAME, .object = &v });
    arena_fini(&a);
}

static void signing_work(void *context, struct str key)
{
    struct bootstrap_controller *c = context;
    struct turn *t = turn_new(c->cluster, c->queue, "bootstrap-signer", key);
    const struct value *map = stored_get(cluster_objects(c->cluster), map_resource(), INFO_NAMESPACE, INFO_NAME);
    if (map)
        sign_info(c, t, map);
    turn_end(t);
}

static void map_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct bootstrap_controller *c = context;
    struct str name;
    (void)prev;
    if (item && is_in(r, item, INFO_NAMESPACE, &name) && str_eq(name, INFO_NAME))
        work_queue_add(c->queue, INFO_NAME);
}

static void token_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct bootstrap_controller *c = context;
    struct str name;
    if (is_in(r, item ? item : prev, TOKENS_NAMESPACE, &name) && str_starts(name, STR(TOKEN_PREFIX)))
        work_queue_add(c->queue, INFO_NAME);
}

void *bootstrap_signer_start(const struct controller_context *x)
{
    struct bootstrap_controller *c = controller_new(x, signing_work);
    cluster_watch(x->cluster, map_resource(), map_has_changed, c);
    cluster_watch(x->cluster, secret_resource(), token_has_changed, c);
    return c;
}

void bootstrap_signer_stop(void *own_controller)
{
    controller_free(own_controller);
}

/* ---- The cleaner ---- */

static void cleaning_work(void *context, struct str key)
{
    struct bootstrap_controller *c = context;
    struct turn *t = turn_new(c->cluster, c->queue, "token-cleaner", key);
    const struct value *secret = stored_get(cluster_objects(c->cluster), secret_resource(), TOKENS_NAMESPACE, key);
    if (secret && bootstrap_is_token(secret)) {
        int64_t now_ms = clock_wall_ns(loop_clock(cluster_loop(c->cluster))) / CLOCK_NS_PER_MS;
        int64_t left_ms = bootstrap_token_left_ms(secret, now_ms);
        if (left_ms > 0)
            work_queue_add_after(c->queue, key, left_ms);
        else if (left_ms == 0)
            turn_begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = secret_resource(),
                                                 .namespace = TOKENS_NAMESPACE,
                                                 .name = key, .uid = text_at(secrets(), secret, "metadata.uid") });
    }
    turn_end(t);
}

static void secret_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct bootstrap_controller *c = context;
    struct str name;
    (void)prev;
    if (item && is_in(r, item, TOKENS_NAMESPACE, &name))
        work_queue_add(c->queue, name);
}

void *token_cleaner_start(const struct controller_context *x)
{
    struct bootstrap_controller *c = controller_new(x, cleaning_work);
    cluster_watch(x->cluster, secret_resource(), secret_has_changed, c);
    return c;
}

void token_cleaner_stop(void *own_controller)
{
    controller_free(own_controller);
}
