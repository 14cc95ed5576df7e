/* controllers/token_secret.c - see token_secret.h. */
#include "controllers/token_secret.h"

#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/sa_token.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "tokens-controller"
#define ACCOUNT_NAME STR("kubernetes.io/service-account.name")
#define ACCOUNT_UID STR("kubernetes.io/service-account.uid")

enum { WORKERS = 5 };

/* ---- The decision ---- */

const struct type *secret_type(void)
{
    return schema_type(STR("core/v1.Secret"));
}

static const struct type *account_type(void)
{
    return schema_type(STR("core/v1.ServiceAccount"));
}

bool token_secret_is_one(const struct value *secret)
{
    return says_at(secret_type(), secret, "type", "kubernetes.io/service-account-token");
}

struct str token_secret_account(const struct value *secret)
{
    return member_text(value_path(secret_type(), secret, "metadata.annotations"), ACCOUNT_NAME);
}

/* One that is called the same but was made later is another account. */
static bool is_of_account(const struct token_secret_state *s)
{
    struct str uid = member_text(value_path(secret_type(), s->secret, "metadata.annotations"), ACCOUNT_UID);
    return s->account && (uid.n == 0 || str_eq(uid, text_at(account_type(), s->account, "metadata.uid")));
}

static struct value filled(struct arena *a, const struct token_secret_state *s)
{
    struct str namespace = text_at(secret_type(), s->secret, "metadata.namespace");
    struct value data = *value_path(secret_type(), s->secret, "data");
    if (s->root_ca_pem.n)
        data = edit_member(a, &data, STR("ca.crt"), value_bytes(s->root_ca_pem));
    data = edit_member(a, &data, STR("namespace"), value_bytes(namespace));
    if (!member_text(&data, STR("token")).n) {
        struct str token = s->make_token(s->context, a);
        if (token.n)
            data = edit_member(a, &data, STR("token"), value_bytes(token));
    }
    struct value notes = edit_member(a, value_path(secret_type(), s->secret, "metadata.annotations"), ACCOUNT_NAME,
                                     *value_path(account_type(), s->account, "metadata.name"));
    notes = edit_member(a, &notes, ACCOUNT_UID, *value_path(account_type(), s->account, "metadata.uid"));
    struct value v = edit_set(a, secret_type(), s->secret, "data", data);
    return edit_set(a, secret_type(), &v, "metadata.annotations", notes);
}

enum token_secret_verdict token_secret_plan(struct arena *a, const struct token_secret_state *s, struct value *ret_secret)
{
    if (!token_secret_is_one(s->secret) || is_set_at(secret_type(), s->secret, "metadata.deletionTimestamp"))
        return TOKEN_SECRET_STAYS;
    if (!is_of_account(s))
        return TOKEN_SECRET_DELETE;
    *ret_secret = filled(a, s);
    return value_equal(ret_secret, s->secret) ? TOKEN_SECRET_STAYS : TOKEN_SECRET_WRITE;
}

/* ---- The controller ---- */

struct token_secrets {
    struct cluster *cluster;
    struct work_queue *queue;
    struct sa_tokens *tokens;
    char *root_ca_pem;
};

static const struct resource *secrets(void)
{
    return stored_resource("secrets", "");
}

static struct str make_token(void *context, struct arena *a)
{
    void *const *both = context;
    const struct token_secrets *c = both[0];
    struct err e;
    struct str token;
    err_init(&e, a);
    return c->tokens && !sa_token_make_legacy(c->tokens, a, both[1], &token, &e) ? token : (struct str){ NULL, 0 };
}

static void sync_secret(struct token_secrets *c, struct turn *t, const struct value *secret, struct arena *a)
{
    struct str key = { t->key, t->n_key }, namespace, name, account = token_secret_account(secret);
    turn_read_key(key, &namespace, &name);
    struct sa_claims claims = { .namespace = namespace, .name = account, .secret_name = name };
    void *context[] = { c, &claims };
    struct token_secret_state s = { .secret = secret, .root_ca_pem = str_of(c->root_ca_pem), .make_token = make_token,
                                    .context = context };
    struct value next;
    if (account.n)
        s.account = stored_get(cluster_objects(c->cluster), stored_resource("serviceaccounts", ""), namespace, account);
    if (s.account)
        claims.uid = text_at(account_type(), s.account, "metadata.uid");
    enum token_secret_verdict verdict = token_secret_plan(a, &s, &next);
    struct cluster_object named = { stored_resource("serviceaccounts", ""), namespace, account, STR("") };
    if (verdict == TOKEN_SECRET_DELETE && !s.account && !cluster_is_gone(c->cluster, &named)) {
        turn_fail(t); /* it comes again */
        return;
    }
    if (verdict == TOKEN_SECRET_WRITE)
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = secrets(), .namespace = namespace, .name = name,
                                             .object = &next });
    if (verdict == TOKEN_SECRET_DELETE)
        turn_begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = secrets(), .namespace = namespace, .name = name,
                                             .uid = text_at(secret_type(), secret, "metadata.uid") });
}

static void work(void *context, struct str key)
{
    struct token_secrets *c = context;
    struct str namespace, name;
    struct arena a;
    arena_init(&a);
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    turn_read_key(key, &namespace, &name);
    const struct value *secret = stored_get(cluster_objects(c->cluster), secrets(), namespace, name);
    if (secret)
        sync_secret(c, t, secret, &a);
    turn_end(t);
    arena_fini(&a);
}

static void secret_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct token_secrets *c = context;
    struct str namespace, name;
    struct arena a;
    (void)prev;
    if (!item || !token_secret_is_one(stored_value(cluster_objects(c->cluster), r, item)))
        return;
    arena_init_small(&a);
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(c->queue, turn_key_of(&a, namespace, name));
    arena_fini(&a);
}

/* Its Secrets go with it. */
static void account_gone(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct token_secrets *c = context;
    const struct value **all;
    struct str namespace, name;
    struct arena a;
    if (item)
        return;
    arena_init(&a);
    stored_read_key(r, store_item_key(prev), &namespace, &name);
    size_t n = stored_list(cluster_objects(c->cluster), secrets(), namespace, &a, &all);
    for (size_t i = 0; i < n; i++)
        if (token_secret_is_one(all[i]) && str_eq(token_secret_account(all[i]), name))
            work_queue_add(c->queue, turn_key_of(&a, namespace, text_at(secret_type(), all[i], "metadata.name")));
    arena_fini(&a);
}

void *token_secrets_start(const struct controller_context *context)
{
    struct token_secrets *c = mem_zalloc(sizeof(*c));
    c->cluster = context->cluster;
    c->tokens = context->tokens;
    c->root_ca_pem = mem_zalloc(context->root_ca_pem.n + 1);
    if (context->root_ca_pem.n)
        memcpy(c->root_ca_pem, context->root_ca_pem.p, context->root_ca_pem.n);
    c->queue = work_queue_new(cluster_loop(c->cluster), WORKERS, work, c);
    work_queue_show(c->queue, context->queues, "serviceaccount_tokens_secret");
    cluster_watch(c->cluster, secrets(), secret_changed, c);
    cluster_watch(c->cluster, stored_resource("serviceaccounts", ""), account_gone, c);
    return c;
}

void token_secrets_stop(void *own_controller)
{
    struct token_secrets *c = own_controller;
    work_queue_free(c->queue);
    free(c->root_ca_pem);
    free(c);
}
