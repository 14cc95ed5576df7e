/* daemon/authn.c - see authn.h. Upstream: apiserver/pkg/authentication, authenticatorfactory and request. */
#include "daemon/authn.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "http/target.h"
#include "http/digest.h"

#define TOKEN_REVIEWS "/apis/authentication.k8s.io/v1/tokenreviews"
#define CREDENTIAL_ID "authentication.kubernetes.io/credential-id"

/* Authorities with what goes with them, all of one setting. */
struct trust {
    struct arena arena;
    struct tls_roots *roots; /* NULL: none */
    struct authn_proxy proxy;
};

struct authn {
    struct authn_options options;
    struct reviews *reviews; /* NULL without a client */
    struct trust clients, proxies;
};

/* What a TokenReview said. */
struct token_answer {
    bool authenticated;
    const char *error; /* NULL: none */
    struct user user;
};

/* ---- Answers of one way: the user, nothing to say, or wrong ---- */

/* Wrong: another way may still know the user. Refused: none may be asked. */
enum said { SAID_NOTHING, SAID_USER, SAID_WRONG, SAID_REFUSED };

static enum said wrong(struct authn_call *c, const char *why)
{
    if (!c->why)
        c->why = why;
    return SAID_WRONG;
}

/* Everyone who is known is also in a group for that. */
static void set_user(struct authn_call *c, const struct user *user)
{
    struct user *u = ARENA_NEW(c->arena, struct user);
    *u = *user;
    if (!str_list_has(&u->groups, STR(GROUP_AUTHENTICATED)) && !str_list_has(&u->groups, STR(GROUP_UNAUTHENTICATED)) &&
        !str_is(u->name, USER_ANONYMOUS)) {
        struct str *groups = ARENA_NEW_N(c->arena, struct str, u->groups.n + 1);
        if (u->groups.n)
            memcpy(groups, u->groups.at, u->groups.n * sizeof(groups[0]));
        groups[u->groups.n] = STR(GROUP_AUTHENTICATED);
        u->groups = (struct str_list){ groups, u->groups.n + 1 };
    }
    c->user = u;
}

static void set_anonymous(struct authn_call *c)
{
    static const struct str group = { GROUP_UNAUTHENTICATED, sizeof(GROUP_UNAUTHENTICATED) - 1 };
    struct user *u = ARENA_NEW(c->arena, struct user);
    *u = (struct user){ .name = STR(USER_ANONYMOUS), .groups = { &group, 1 } };
    c->user = u;
}

/* ---- Front proxy ---- */

static char lower_byte(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool same_name(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower_byte(a.p[i]) != lower_byte(b.p[i]))
            return false;
    return true;
}

/* The first value that is not empty of the first header that has one, in the order of the names. */
static struct str first_value(const struct headers *h, const struct str_list *names)
{
    for (size_t i = 0; i < names->n; i++)
        for (uint32_t k = 0; k < h->n; k++)
            if (same_name(h->at[k].name, names->at[i])) {
                if (h->at[k].value.n)
                    return h->at[k].value;
                break; /* as Go: only the first of a name is looked at */
            }
    return STR("");
}

static struct str_list all_values(struct arena *a, const struct headers *h, const struct str_list *names)
{
    VEC(struct str) found = { 0 };
    for (size_t i = 0; i < names->n; i++)
        for (uint32_t k = 0; k < h->n; k++)
            if (same_name(h->at[k].name, names->at[i]) && h->at[k].value.n)
                vec_push(&found, h->at[k].value);
    struct str_list list = str_list_copy(a, &(struct str_list){ found.at, found.n });
    vec_fini(&found);
    return list;
}

static struct str lower(struct arena *a, struct str s)
{
    char *to = arena_cstr(a, s);
    for (size_t i = 0; i < s.n; i++)
        to[i] = lower_byte(to[i]);
    return (struct str){ to, s.n };
}

static struct str extra_key(struct arena *a, struct str escaped)
{
    struct str low = lower(a, escaped), key = target_unescape(a, low, false);
    return key.p ? key : low; /* as upstream: also what is not escaped well */
}

struct extra_value {
    struct str key, value;
};

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct user_extra *)a)->key, ((const struct user_extra *)b)->key);
}

/* Values of one key stand together, keys in their order. */
static void group_extra(struct arena *a, const struct extra_value *at, size_t n, struct user *u)
{
    struct user_extra *extra = ARENA_NEW_N(a, struct user_extra, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < u->n_extra && !str_eq(extra[k].key, at[i].key))
            k++;
        if (k < u->n_extra)
            continue;
        struct str *values = ARENA_NEW_N(a, struct str, n);
        for (size_t j = i; j < n; j++)
            if (str_eq(at[j].key, at[i].key))
                values[extra[k].values.n++] = arena_str(a, at[j].value);
        extra[k].key = at[i].key;
        extra[k].values.at = values;
        u->n_extra++;
    }
    qsort(extra, u->n_extra, sizeof(extra[0]), by_key);
    u->extra = extra;
}

enum { EXTRA_MAX = 100 }; /* headers of a request that are read as extra; honest proxies send a few */

static bool read_extra(struct authn_call *c, const struct str_list *prefixes, struct user *u)
{
    const struct headers *h = &c->head->headers;
    struct extra_value found[EXTRA_MAX];
    size_t n = 0;
    for (size_t i = 0; i < prefixes->n; i++)
        for (uint32_t k = 0; k < h->n; k++) {
            struct str name = h->at[k].name, prefix = prefixes->at[i];
            if (name.n < prefix.n || !same_name(str_first(name, prefix.n), prefix))
                continue;
            if (n == EXTRA_MAX)
                return false;
            found[n++] = (struct extra_value){ extra_key(c->arena, str_from(name, prefix.n)), h->at[k].value };
        }
    group_extra(c->arena, found, n, u);
    return true;
}

static enum said ask_proxy(const struct authn *a, struct authn_call *c)
{
    const struct trust *t = &a->proxies;
    if (!c->peer || !t->roots)
        return SAID_NOTHING;
    const char *why = tls_roots_check_client(t->roots, c->peer);
    if (why)
        return wrong(c, why);
    if (t->proxy.allowed_names.n && !str_list_has(&t->proxy.allowed_names, c->peer->common_name))
        return wrong(c, arena_printf(c->arena, "x509: subject with cn=%.*s is not in the allowed list",
                                     STR_ARG(c->peer->common_name)));
    const struct headers *h = &c->head->headers;
    struct user u = { .name = first_value(h, &t->proxy.user_headers) };
    if (u.name.n == 0)
        return SAID_NOTHING;
    u.uid = first_value(h, &t->proxy.uid_headers);
    u.groups = all_values(c->arena, h, &t->proxy.group_headers);
    if (!read_extra(c, &t->proxy.extra_prefixes, &u)) {
        /* It speaks for somebody: what it says must not end in a request of its own. */
        c->why = "the front proxy sends too many extra headers";
        return SAID_REFUSED;
    }
    set_user(c, &u);
    return SAID_USER;
}

/* ---- Client certificate ---- */

static enum said ask_certificate(const struct authn *a, struct authn_call *c)
{
    if (!c->peer || !a->clients.roots)
        return SAID_NOTHING;
    const char *why = tls_roots_check_client(a->clients.roots, c->peer);
    if (why)
        return wrong(c, arena_printf(c->arena, "verifying certificate of %.*s failed: %s",
                                     STR_ARG(c->peer->common_name), why));
    if (c->peer->common_name.n == 0)
        return SAID_NOTHING;
    uint8_t digest[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    digest_sha256(c->peer->der, digest);
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    struct str *id = ARENA_NEW(c->arena, struct str);
    *id = str_of(arena_printf(c->arena, "X509SHA256=%s", hex));
    struct user_extra *extra = ARENA_NEW(c->arena, struct user_extra);
    *extra = (struct user_extra){ STR(CREDENTIAL_ID), { id, 1 } };
    set_user(c, &(struct user){ .name = c->peer->common_name,
                                .groups = { c->peer->organizations, c->peer->n_organizations },
                                .extra = extra, .n_extra = 1 });
    return SAID_USER;
}

/* ---- Bearer token ---- */

static struct str trimmed(struct str s)
{
    while (s.n && strchr(" \t\r\n", s.p[0]))
        s = str_from(s, 1);
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
        s.n--;
    return s;
}

/* "Bearer TOKEN", the word in any case; what follows the token is not looked at. Empty: there is none. */
static struct str bearer_token(const struct headers *h)
{
    struct str field = trimmed(headers_get(h, "authorization"));
    size_t space = str_index(field, ' ');
    if (!str_is_nocase(str_first(field, space), "bearer"))
        return STR("");
    struct str rest = str_from(field, space + 1);
    return str_first(rest, str_index(rest, ' '));
}

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
    qsort(at, u->n_extra, sizeof(at[0]), by_key);
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

static enum said use_token_answer(struct authn_call *c, const struct token_answer *t)
{
    if (!t->authenticated)
        return wrong(c, t->error ? arena_cstr(c->arena, str_of(t->error)) : "invalid bearer token");
    struct user u = user_copy(c->arena, &t->user);
    set_user(c, &u);
    return SAID_USER;
}

/* ---- All of it ---- */

/* What was wrong with one way does not matter when a later one knows the user; otherwise it does. */
static void finish(struct authn_call *c, enum said last)
{
    if (last == SAID_USER)
        c->why = NULL;
    else if (!c->why)
        set_anonymous(c);
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
    enum said said = ask_proxy(a, c);
    if (said == SAID_REFUSED)
        return true;
    if (said != SAID_USER)
        said = ask_certificate(a, c);
    struct str token = said != SAID_USER && a->reviews ? bearer_token(&c->head->headers) : STR("");
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

static void trust_fini(struct trust *t)
{
    tls_roots_free(t->roots);
    arena_fini(&t->arena);
    *t = (struct trust){ 0 };
}

static enum err_code read_roots(struct str pem, struct tls_roots **ret_roots, struct err *e)
{
    *ret_roots = NULL;
    return pem.n ? tls_roots_new(pem, ret_roots, e) : ERR_OK;
}

enum err_code authn_set_client_ca(struct authn *a, struct str pem, struct err *e)
{
    struct tls_roots *roots;
    if (read_roots(pem, &roots, e))
        return e->code;
    trust_fini(&a->clients);
    arena_init(&a->clients.arena);
    a->clients.roots = roots;
    return ERR_OK;
}

enum err_code authn_set_proxy(struct authn *a, const struct authn_proxy *p, struct err *e)
{
    struct tls_roots *roots;
    if (read_roots(p->ca_pem, &roots, e))
        return e->code;
    struct trust *t = &a->proxies;
    trust_fini(t);
    arena_init(&t->arena);
    t->roots = roots;
    t->proxy = (struct authn_proxy){
        .allowed_names = str_list_copy(&t->arena, &p->allowed_names),
        .user_headers = str_list_copy(&t->arena, &p->user_headers),
        .uid_headers = str_list_copy(&t->arena, &p->uid_headers),
        .group_headers = str_list_copy(&t->arena, &p->group_headers),
        .extra_prefixes = str_list_copy(&t->arena, &p->extra_prefixes),
    };
    return ERR_OK;
}

struct authn *authn_new(const struct authn_options *o)
{
    struct authn *a = mem_zalloc(sizeof(*a));
    a->options = *o;
    arena_init(&a->clients.arena);
    arena_init(&a->proxies.arena);
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
    trust_fini(&a->clients);
    trust_fini(&a->proxies);
    free(a);
}

struct reviews_counts authn_counts(const struct authn *a)
{
    return a->reviews ? reviews_counts(a->reviews) : (struct reviews_counts){ 0 };
}
