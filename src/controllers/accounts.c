/* controllers/accounts.c - see accounts.h. Upstream: controller-manager's clientbuilder. */
#include "controllers/accounts.h"

#include <assert.h>
#include <stdlib.h>

#include "api/value.h"
#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "http/headers.h"

#define NAMESPACE "kube-system"

enum {
    TOKEN_S = 3600,           /* asked for, as upstream */
    TOKEN_GOOD_PERCENT = 80,  /* of its time; then another one is asked for */
    TIMEOUT_MS = 30 * 1000,
};

struct account {
    struct accounts *all;
    char *controller;
    struct arena arena; /* of the configuration */
    struct client_config config;
    struct rest *rest; /* NULL: not made yet */
    struct list waiters;
    api_call call;     /* for a token, or to make the account */
    bool is_made;      /* we have tried to make the account for this token */
    int64_t renew_ms;  /* when its token is too old; 0: there is none */
};

struct accounts {
    struct accounts_options o;
    struct account *at[ACCOUNTS_MAX];
    size_t n;
    uint32_t n_running;
    void (*stopped)(void *context);
    void *context;
};

/* ---- Clients ---- */

static void wake_all(struct account *t, const char *error)
{
    struct list_node *n;
    while ((n = list_first(&t->waiters))) {
        struct account_waiter *w = LIST_ITEM(n, struct account_waiter, node);
        list_remove(n);
        w->ready(w, error ? NULL : rest_api(t->rest), error);
    }
}

static enum err_code make_rest(struct account *t, struct err *e)
{
    struct rest_options o = t->all->o.rest;
    const char *before = t->all->o.as_accounts ? "system:serviceaccount:" NAMESPACE ":" : "";
    o.user_agent = arena_printf(&t->arena, "%s/%s%s", o.user_agent, before, t->controller);
    return rest_new(&t->config, &o, &t->rest, e);
}

/* The server as in our own configuration, without anything that says who we are. */
static struct client_config of_account(const struct client_config *own, struct str token)
{
    return (struct client_config){ .server = own->server,
                                   .tls_server_name = own->tls_server_name,
                                   .insecure_skip_tls_verify = own->insecure_skip_tls_verify,
                                   .disable_compression = own->disable_compression,
                                   .ca_file = own->ca_file,
                                   .ca_data = own->ca_data,
                                   .proxy_url = own->proxy_url,
                                   .token = token,
                                   .ns = own->ns };
}

static void make_own(struct account *t)
{
    struct err e;
    err_init(&e, &t->arena);
    t->config = *t->all->o.config;
    enum err_code rc = make_rest(t, &e);
    wake_all(t, rc ? e.message : NULL);
}

/* ---- Tokens ---- */

static void ask_for_token(struct account *t);

static void failed(struct account *t, const char *why)
{
    LOG_ERROR(why, "No token for the service account", KS("account", t->controller));
    wake_all(t, why);
}

static int64_t now_ms(const struct account *t)
{
    return loop_now_ms(t->all->o.rest.loop);
}

static void use_token(struct account *t, struct str token, int64_t good_s)
{
    struct err e;
    err_init(&e, &t->arena);
    t->renew_ms = now_ms(t) + good_s * 1000 * TOKEN_GOOD_PERCENT / 100;
    if (t->rest) {
        rest_set_token(t->rest, token);
    } else {
        t->config = of_account(t->all->o.config, arena_str(&t->arena, token));
        if (make_rest(t, &e)) {
            failed(t, e.message);
            return;
        }
    }
    wake_all(t, NULL);
}

static const struct value *member(const struct value *map, const char *name)
{
    static const struct value none;
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(name)) : NULL;
    return v ? v : &none;
}

static void read_token(struct account *t, struct arena *a, struct str body)
{
    struct work work = work_init(REQUEST_BYTES_MAX);
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode_plain(a, &work, body, &v, &e)) {
        failed(t, e.message);
        return;
    }
    struct str token = value_text(member(member(&v, "status"), "token"));
    const struct value *good = member(member(&v, "spec"), "expirationSeconds");
    if (!token.n || !header_value_is_valid(token))
        failed(t, "the server sent none");
    else
        use_token(t, token, good->kind == VALUE_INT && good->i > 0 && good->i < INT32_MAX ? good->i : TOKEN_S);
}

static void on_made(void *context, const struct api_answer *answer)
{
    struct account *t = context;
    struct arena a;
    t->call = 0;
    if (api_ok(answer) || answer->status == 409) {
        ask_for_token(t);
        return;
    }
    arena_init(&a);
    failed(t, api_problem(&a, answer));
    arena_fini(&a);
}

static void post(struct account *t, struct str target, struct str body, api_done done)
{
    const struct api *api = t->all->o.api;
    struct api_request request = { .lane = API_LANE_BIND, .method = "POST", .target = target, .media_type = "application/json",
                                   .accept = "application/json", .body = body, .timeout_ms = TIMEOUT_MS };
    t->call = api->send(api->context, &request, done, t);
}

static void make_account(struct account *t)
{
    struct arena a;
    arena_init_small(&a);
    t->is_made = true;
    const char *body = arena_printf(&a, "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\""
                                        NAMESPACE "\",\"name\":\"%s\"}}", t->controller);
    post(t, STR("/api/v1/namespaces/" NAMESPACE "/serviceaccounts"), str_of(body), on_made);
    arena_fini(&a);
}

static void on_token(void *context, const struct api_answer *answer)
{
    struct account *t = context;
    struct arena a;
    t->call = 0;
    arena_init(&a);
    if (api_ok(answer))
        read_token(t, &a, answer->body);
    else if (answer->status == 404 && !t->is_made)
        make_account(t);
    else
        failed(t, api_problem(&a, answer));
    arena_fini(&a);
}

static void ask_for_token(struct account *t)
{
    struct arena a;
    arena_init_small(&a);
    const char *target = arena_printf(&a, "/api/v1/namespaces/" NAMESPACE "/serviceaccounts/%s/token", t->controller);
    const char *body = arena_printf(&a, "{\"kind\":\"TokenRequest\",\"apiVersion\":\"authentication.k8s.io/v1\",\"spec\":{"
                                        "\"expirationSeconds\":%d}}", TOKEN_S);
    post(t, str_of(target), str_of(body), on_token);
    arena_fini(&a);
}

/* ---- Those who wait ---- */

void account_wait(struct account *t, struct account_waiter *w)
{
    bool by_token = t->all->o.as_accounts;
    if (t->rest && (!by_token || now_ms(t) < t->renew_ms)) {
        w->ready(w, rest_api(t->rest), NULL);
        return;
    }
    list_push(&t->waiters, &w->node);
    if (!by_token) {
        make_own(t);
    } else if (!t->call) {
        t->is_made = false;
        ask_for_token(t);
    }
}

void account_leave(struct account_waiter *w)
{
    if (list_has(&w->node))
        list_remove(&w->node);
}

void account_refused(struct account *t)
{
    t->renew_ms = 0;
}

struct account *accounts_find(struct accounts *s, const char *controller)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->at[i]->controller, controller) == 0)
            return s->at[i];
    if (s->n == ACCOUNTS_MAX)
        return NULL;
    struct account *t = s->at[s->n++] = mem_zalloc(sizeof(*t));
    t->all = s;
    arena_init(&t->arena);
    t->controller = arena_cstr(&t->arena, str_of(controller));
    list_init(&t->waiters);
    return t;
}

/* ---- Life ---- */

struct accounts *accounts_new(const struct accounts_options *o)
{
    struct accounts *s = mem_zalloc(sizeof(*s));
    s->o = *o;
    return s;
}

static void one_stopped(void *context)
{
    struct accounts *s = context;
    if (--s->n_running == 0)
        s->stopped(s->context);
}

void accounts_stop(struct accounts *s, void (*stopped)(void *context), void *context)
{
    s->stopped = stopped;
    s->context = context;
    s->n_running = 1;
    for (size_t i = 0; i < s->n; i++) {
        struct account *t = s->at[i];
        assert(list_is_empty(&t->waiters));
        if (t->call)
            s->o.api->cancel(s->o.api->context, t->call);
        t->call = 0;
        s->n_running += t->rest != NULL;
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i]->rest)
            rest_stop(s->at[i]->rest, one_stopped, s);
    one_stopped(s);
}

void accounts_free(struct accounts *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        if (s->at[i]->rest)
            rest_free(s->at[i]->rest);
        arena_fini(&s->at[i]->arena);
        free(s->at[i]);
    }
    free(s);
}
