/* daemon/authz.c - see authz.h. Upstream: apiserver/pkg/authorization, plugin/pkg/authorizer/webhook. */
#include "daemon/authz.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/mem.h"

#define ACCESS_REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s"

struct authz {
    struct authz_options options;
    struct arena arena;
    struct reviews *reviews; /* NULL without a client */
};

/* What a SubjectAccessReview said. */
struct access_answer {
    bool allowed, denied;
    struct str reason;
};

/* ---- Open paths ---- */

/* A leading "/" does not matter, as upstream. */
static struct str without_slash(struct str path)
{
    return path.n && path.p[0] == '/' ? str_from(path, 1) : path;
}

static bool is_open(const struct str_list *paths, struct str path)
{
    path = without_slash(path);
    for (size_t i = 0; i < paths->n; i++) {
        struct str open = paths->at[i];
        bool prefix = open.n && open.p[open.n - 1] == '*';
        if (prefix ? str_starts(path, str_first(open, open.n - 1)) : str_eq(path, open))
            return true;
    }
    return false;
}

static enum err_code take_paths(struct authz *a, struct err *e)
{
    const struct str_list given = a->options.open_paths;
    struct str *paths = ARENA_NEW_N(&a->arena, struct str, given.n);
    for (size_t i = 0; i < given.n; i++) {
        paths[i] = arena_str(&a->arena, without_slash(given.at[i]));
        if (paths[i].n && str_index(paths[i], '*') < paths[i].n - 1)
            return err_set(e, ERR_INVALID, "only trailing * allowed in \"%.*s\"", STR_ARG(paths[i]));
    }
    a->options.open_paths = (struct str_list){ paths, given.n };
    return ERR_OK;
}

/* ---- Reviews ---- */

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

static void add_user(struct strbuf *to, const struct user *u)
{
    if (u->name.n) {
        STRBUF_ADD_LIT(to, ",\"user\":");
        json_add_string(to, u->name);
    }
    if (u->groups.n) {
        STRBUF_ADD_LIT(to, ",\"groups\":");
        add_strings(to, &u->groups);
    }
    for (size_t i = 0; i < u->n_extra; i++) {
        strbuf_add_text(to, i ? "," : ",\"extra\":{");
        json_add_string(to, u->extra[i].key);
        strbuf_add_char(to, ':');
        add_strings(to, &u->extra[i].values);
    }
    if (u->n_extra)
        strbuf_add_char(to, '}');
    if (u->uid.n) {
        STRBUF_ADD_LIT(to, ",\"uid\":");
        json_add_string(to, u->uid);
    }
}

static void add_access_review(struct strbuf *to, const struct authz_call *c)
{
    STRBUF_ADD_LIT(to, "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"metadata\":{},"
                       "\"spec\":{\"nonResourceAttributes\":{\"path\":");
    json_add_string(to, c->path);
    STRBUF_ADD_LIT(to, ",\"verb\":");
    json_add_string(to, c->verb);
    strbuf_add_char(to, '}');
    add_user(to, c->user);
    STRBUF_ADD_LIT(to, "},\"status\":{\"allowed\":false}}\n");
}

static bool is_true(const struct value *v)
{
    return v->kind == VALUE_BOOL && v->b;
}

static const void *read_access_answer(void *context, struct arena *a, const struct api_answer *answer,
                                      int64_t *ret_keep_ms, const char **ret_error)
{
    const struct authz *authz = context;
    struct arena scratch;
    struct err e;
    struct object object;
    struct gvk seen, endpoint = { STR("authorization.k8s.io"), STR("v1"), STR("SubjectAccessReview") };
    struct work work = work_init(REVIEW_ANSWER_BYTES_MAX);
    struct access_answer *t = ARENA_NEW(a, struct access_answer);
    arena_init(&scratch);
    err_init(&e, &scratch);
    bool good = !object_read(&scratch, &work, answer->media, answer->body, endpoint, NULL, &object, &seen, &e) &&
                str_is(object.type->kind, "SubjectAccessReview");
    if (good) {
        const struct value *status = value_slot(&object.value, SLOT_authorization_v1_SubjectAccessReview_status);
        t->allowed = is_true(value_slot(status, SLOT_authorization_v1_SubjectAccessReviewStatus_allowed));
        t->denied = is_true(value_slot(status, SLOT_authorization_v1_SubjectAccessReviewStatus_denied));
        t->reason = arena_str(a, value_text(value_slot(status, SLOT_authorization_v1_SubjectAccessReviewStatus_reason)));
        *ret_keep_ms = t->allowed ? authz->options.allowed_ttl_ms : authz->options.denied_ttl_ms;
    } else {
        *ret_error = arena_printf(a, "the answer is no SubjectAccessReview: %s", e.message ? e.message : "another kind");
    }
    arena_fini(&scratch);
    return good ? t : NULL;
}

static void use_access_answer(struct authz_call *c, const struct access_answer *t)
{
    c->answer = t->allowed ? AUTHZ_ALLOWED : AUTHZ_DENIED;
    c->reason = arena_str(c->arena, t->reason);
    if (t->allowed && t->denied) {
        c->answer = AUTHZ_FAILED;
        c->reason = STR("webhook subject access review returned both allow and deny response");
    }
}

static void review_done(struct review_waiter *w, const void *answer, const char *error)
{
    struct authz_call *c = LIST_ITEM(w, struct authz_call, waiter);
    if (answer) {
        use_access_answer(c, answer);
    } else {
        c->answer = AUTHZ_FAILED;
        c->reason = arena_str(c->arena, str_of(error));
    }
    c->done(c);
}

bool authz_ask(struct authz *a, struct authz_call *c)
{
    c->reason = STR("");
    c->answer = AUTHZ_ALLOWED;
    if (str_list_has(&c->user->groups, STR(GROUP_MASTERS)) || is_open(&a->options.open_paths, c->path))
        return true;
    c->answer = AUTHZ_DENIED;
    if (!a->reviews)
        return true;
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX); /* bounded by the head of the request and the size of a TokenReview */
    add_access_review(&body, c);
    c->waiter.done = review_done;
    const struct access_answer *known = reviews_ask(a->reviews, strbuf_str(&body), &c->waiter);
    strbuf_fini(&body);
    if (known)
        use_access_answer(c, known);
    return known != NULL;
}

void authz_leave(struct authz_call *c)
{
    review_leave(&c->waiter);
}

/* ---- Life ---- */

enum err_code authz_new(const struct authz_options *o, struct authz **ret_authz, struct err *e)
{
    struct authz *a = mem_zalloc(sizeof(*a));
    a->options = *o;
    arena_init(&a->arena);
    if (take_paths(a, e)) {
        authz_free(a);
        return e->code;
    }
    if (o->api)
        a->reviews = reviews_new(&(struct reviews_options){
            .loop = o->loop, .api = o->api, .target = ACCESS_REVIEWS, .name = "authorizer", .try_ms = AUTHZ_TRY_MS,
            .read = read_access_answer, .context = a, .seed = o->seed });
    *ret_authz = a;
    return ERR_OK;
}

void authz_free(struct authz *a)
{
    if (!a)
        return;
    reviews_free(a->reviews);
    arena_fini(&a->arena);
    free(a);
}

struct reviews_counts authz_counts(const struct authz *a)
{
    return a->reviews ? reviews_counts(a->reviews) : (struct reviews_counts){ 0 };
}
