/* daemon/authn.c - see authn.h. Upstream: apiserver/pkg/authentication, authenticatorfactory and request. */
#include "daemon/authn.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "apiserver/identity.h"
#include "base/log.h"
#include "base/mem.h"

#define TOKEN_REVIEWS "/apis/authentication.k8s.io/v1/tokenreviews"

struct authn {
    struct authn_options options;
    struct reviews *reviews; /* NULL without a client */
    struct tls_roots *clients; /* NULL: certificates are nobody's */
    struct identity_proxy proxy;
};

/* What a TokenReview said. */
struct token_answer {
    bool authenticated;
    const char *error; /* NULL: none */
    struct user user;
};

/* ---- Answers of one way: the user, nothing to say, or wrong ---- */

static enum identity_said wrong(struct authn_call *c, const char *why)
{
    if (!c->why)
        c->why = why;
    return IDENTITY_WRONG;
}

static enum identity_said take_user(struct authn_call *c, enum identity_said said, const struct user *u, const char *why)
{
    if (said == IDENTITY_USER)
        c->user = identity_known(c->arena, u);
    else if (said == IDENTITY_REFUSED)
        c->why = why;
    else if (said == IDENTITY_WRONG)
        return wrong(c, why);
    return said;
}

static enum identity_said ask_proxy(const struct authn *a, struct authn_call *c)
{
    struct user u;
    const char *why = NULL;
    enum identity_said said = identity_by_proxy(c->arena, &a->proxy, &c->head->headers, c->peer, &u, &why);
    return take_user(c, said, &u, why);
}

static enum identity_said ask_certificate(const struct authn *a, struct authn_call *c)
{
    struct user u;
    const char *why = NULL;
    enum identity_said said = identity_by_certificate(c->arena, a->clients, c->peer, &u, &why);
    return take_user(c, said, &u, why);
}

/* ---- Bearer token ---- */

static void add_token_review(struct strbuf *to, struct str token)
{
    STRBUF_ADD_LIT(to, "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"metadata\":{},"
                       "\"spec\":{\"token\":");
    json_add_string(to, token);
    STRBUF_ADD_LIT(to, "},\"status\":{\"user\":{}}}\n");
}

static struct str_list read_list(struct arena *a, const struct value *v)
{
    if (v->kind != VALUE_LIST)
        return (struct str_list){ 0 };
    struct str *at = ARENA_NEW_N(a, struct str, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        at[i] = arena_str(a, value_text(&v->items[i]));
    return (struct str_list){ at, v->n };
}

static void read_user(struct arena *a, const struct value *info, struct user *u)
{
    const struct value *extra = value_slot(info, SLOT_authentication_v1_UserInfo_extra);
    u->name = arena_str(a, value_text(value_slot(info, SLOT_authentication_v1_UserInfo_username)));
    u->uid = arena_str(a, value_text(value_slot(info, SLOT_authentication_v1_UserInfo_uid)));
    u->groups = read_list(a, value_slot(info, SLOT_authentication_v1_UserInfo_groups));
    if (extra->kind != VALUE_MAP)
        return;
    struct user_extra *at = ARENA_NEW_N(a, struct user_extra, extra->n);
    for (uint32_t i = 0; i < extra->n; i++)
        at[i] = (struct user_extra){ arena_str(a, extra->members[i].key), read_list(a, &extra->members[i].value) };
    u->extra = at;
    u->n_extra = extra->n;
    user_sort_extra(at, u->n_extra);
}

static const void *read_token_answer(void *context, struct arena *a, const struct api_answer *answer,
                                     int64_t *ret_keep_ms, const char **ret_error)
{
    const struct authn *authn = context;
    struct arena scratch;
    struct err e;
    struct object object;
    struct gvk seen, endpoint = { STR("authentication.k8s.io"), STR("v1"), STR("TokenReview") };
    struct work work = work_init(REVIEW_ANSWER_BYTES_MAX);
    struct token_answer *t = ARENA_NEW(a, struct token_answer);
    arena_init(&scratch);
    err_init(&e, &scratch);
    bool good = !object_read(&scratch, &work, answer->media, answer->body, endpoint, NULL, &object, &seen, &e) &&
                str_is(object.type->kind, "TokenReview");
    if (good) {
        const struct value *status = value_slot(&object.value, SLOT_authentication_v1_TokenReview_status);
        const struct value *yes = value_slot(status, SLOT_authentication_v1_TokenReviewStatus_authenticated);
        struct str error = value_text(value_slot(status, SLOT_authentication_v1_TokenReviewStatus_error));
        t->authenticated = yes->kind == VALUE_BOOL && yes->b;
        t->error = error.n ? arena_cstr(a, error) : NULL;
        read_user(a, value_slot(status, SLOT_authentication_v1_TokenReviewStatus_user), &t->user);
        /* As upstream: an answer with an error is asked for again. */
        *ret_keep_ms = t->authenticated || !t->error ? authn->options.token_ttl_ms : 0;
    } else {
        *ret_error = arena_printf(a, "the answer is no TokenReview: %s", e.message ? e.message : "another kind");
    }
    arena_fini(&scratch);
    return good ? t : NULL;
}

static enum identity_said use_token_answer(struct authn_call *c, const struct token_answer *t)
{
    if (!t->authenticated)
        return wrong(c, t->error ? arena_cstr(c->arena, str_of(t->error)) : "invalid bearer token");
    struct user u = user_copy(c->arena, &t->user);
    c->user = identity_known(c->arena, &u);
    return IDENTITY_USER;
}

/* ---- All of it ---- */

/* What was wrong with one way does not matter when a later one knows the user; otherwise it does. */
static void finish(struct authn_call *c, enum identity_said last)
{
    if (last == IDENTITY_USER)
        c->why = NULL;
    else if (!c->why)
        c->user = identity_anonymous();
}

static void token_done(struct review_waiter *w, const void *answer, const char *error)
{
    struct authn_call *c = LIST_ITEM(w, struct authn_call, waiter);
    finish(c, answer ? use_token_answer(c, answer) : wrong(c, arena_cstr(c->arena, str_of(error))));
    c->done(c);
}

bool authn_ask(struct authn *a, struct authn_call *c)
{
    c->user = NULL;
    c->why = NULL;
    enum identity_said said = ask_proxy(a, c);
    if (said == IDENTITY_REFUSED)
        return true;
    if (said != IDENTITY_USER)
        said = ask_certificate(a, c);
    struct str token = said != IDENTITY_USER && a->reviews ? identity_bearer_token(&c->head->headers) : STR("");
    if (token.n) {
        struct strbuf body;
        strbuf_init(&body, STRBUF_NO_MAX); /* bounded by the head of the request */
        add_token_review(&body, token);
        c->waiter.done = token_done;
        const struct token_answer *known = reviews_ask(a->reviews, strbuf_str(&body), &c->waiter);
        explicit_bzero(body.p, body.n);
        strbuf_fini(&body);
        if (!known)
            return false;
        said = use_token_answer(c, known);
    }
    finish(c, said);
    return true;
}

void authn_leave(struct authn_call *c)
{
    review_leave(&c->waiter);
}

/* ---- What is believed ---- */

enum err_code authn_set_client_ca(struct authn *a, struct str pem, struct err *e)
{
    struct tls_roots *roots = NULL;
    if (pem.n && tls_roots_new(pem, &roots, e))
        return e->code;
    tls_roots_free(a->clients);
    a->clients = roots;
    return ERR_OK;
}

enum err_code authn_set_proxy(struct authn *a, const struct authn_proxy *p, struct err *e)
{
    struct identity_proxy proxy = { .allowed_names = p->allowed_names, .user_headers = p->user_headers,
                                    .uid_headers = p->uid_headers, .group_headers = p->group_headers,
                                    .extra_prefixes = p->extra_prefixes };
    return identity_proxy_set(&a->proxy, p->ca_pem, &proxy, e);
}

struct authn *authn_new(const struct authn_options *o)
{
    struct authn *a = mem_zalloc(sizeof(*a));
    a->options = *o;
    arena_init_small(&a->proxy.arena);
    if (o->api)
        a->reviews = reviews_new(&(struct reviews_options){
            .loop = o->loop, .api = o->api, .target = TOKEN_REVIEWS, .name = "authenticator", .try_ms = AUTHN_TRY_MS,
            .total_ms = AUTHN_TRY_MS, .read = read_token_answer, .context = a, .seed = o->seed });
    return a;
}

void authn_free(struct authn *a)
{
    if (!a)
        return;
    reviews_free(a->reviews);
    tls_roots_free(a->clients);
    identity_proxy_fini(&a->proxy);
    free(a);
}

struct reviews_counts authn_counts(const struct authn *a)
{
    return a->reviews ? reviews_counts(a->reviews) : (struct reviews_counts){ 0 };
}
