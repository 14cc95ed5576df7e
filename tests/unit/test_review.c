/* Reviews as the real kube-apiserver v1.36.4 answers them: apiserver/review.c and review_access.c against
 * tests/golden/apiserver/reviews.jsonl, with the objects of rbac.jsonl. */
#include "apiserver/review.h"

#include "apiserver/identity.h"
#include "apiserver/status_object.h"
#include "tests/unit/auth_world.h"

#define TOKENS "iris-token,iris,11\n"
#define ISSUER "https://kubernetes.default.svc"

static struct auth_world w;
static struct api_authz *authz;
static struct api_authn *authn;
static struct sa_tokens *tokens;

static void put_objects(void)
{
    struct golden g;
    struct value row;
    const struct value *v;
    golden_open(&g, "apiserver/rbac.jsonl");
    while (golden_next(&g, &row) && (v = value_member(&row, STR("object"))))
        auth_world_put(&w, plain_json(&g.arena, v));
    golden_close(&g);
}

static void begin(void)
{
    static const char *const modes[] = { "Node", "RBAC", NULL }, *const issuers[] = { ISSUER, NULL };
    auth_world_init(&w);
    CHECK(!api_authz_new(&(struct api_authz_options){ w.objects, modes }, &authz, &w.e));
    CHECK(!sa_tokens_new(&(struct sa_tokens_options){ .issuers = issuers }, &tokens, &w.e));
    struct api_authn_options o = { .objects = w.objects, .tokens = tokens, .token_file = STR(TOKENS) };
    CHECK(!api_authn_new(&o, &authn, &w.e));
}

static void end(void)
{
    api_authn_free(authn);
    api_authz_free(authz);
    sa_tokens_free(tokens);
    auth_world_fini(&w);
}

static const struct type *type_of(struct str kind)
{
    const struct type *t = schema_object_type(STR("authorization.k8s.io/v1"), kind);
    return t ? t : schema_object_type(STR("authentication.k8s.io/v1"), kind);
}

static const struct user *asker(struct golden *g, struct str name)
{
    struct str namespace, account;
    struct user u = { .name = name };
    if (identity_split_account(name, &namespace, &account))
        u = identity_of_account(&g->arena, namespace, account, STR(""));
    return identity_known(&g->arena, &u);
}

/* Upstream shows managedFields, too, which the server has filled in by then. */
static struct str without_managed(struct golden *g, struct str message)
{
    const char *from = memmem(message.p, message.n, ",\"managedFields\":", 17);
    const char *to = from ? memmem(from, (size_t)(message.p + message.n - from), "]}: must be empty", 17) : NULL;
    if (!to)
        return message;
    return str_of(arena_printf(&g->arena, "%.*s%.*s", (int)(from - message.p), message.p,
                               (int)(message.p + message.n - to - 1), to + 1));
}

static void check_part(struct golden *g, const char *what, const struct type *t, const struct value *out, const char *part,
                       const struct value *want)
{
    int slot = schema_slot(t, str_of(part));
    struct strbuf json;
    struct value plain;
    if (slot < 0)
        return;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_field(&json, &t->fields[slot], value_slot(out, (unsigned)slot));
    CHECK(!json_decode_plain(&g->arena, WORK_OWN, arena_str(&g->arena, strbuf_str(&json)), &plain, &w.e));
    CHECK_STR(what, plain_json(&g->arena, &plain), plain_json(&g->arena, want));
    strbuf_fini(&json);
}

static void check_row(struct golden *g, const struct value *row)
{
    const struct type *t = type_of(golden_text(row, "kind"));
    const char *what = arena_cstr(&g->arena, plain_json(&g->arena, row));
    struct str name = golden_text(row, "user");
    struct review_context c = { &g->arena, authn, authz, asker(g, name.n ? name : STR("admin")), WORLD_NOW_S };
    struct str namespace = str_is(t->kind, "LocalSubjectAccessReview") ? STR("a") : STR("");
    struct field_errors errs;
    struct value in, out;
    struct err e;
    err_init(&e, &g->arena);
    field_errors_init(&errs, &g->arena);
    CHECK(review_is(t));
    CHECK(!json_decode(&g->arena, WORK_OWN, t, plain_json(&g->arena, value_member(row, STR("body"))), NULL, &in, &e));
    enum err_code rc = review_answer(&c, t, namespace, &in, &out, &errs, &e);
    CHECK_INT(what, rc ? err_http_status(rc) : 201, golden_int(row, "code"));
    if (rc) {
        struct status s = status_of_err(&g->arena, &e, &errs);
        const struct value *details = value_member(row, STR("details"));
        CHECK_STR(what, str_of(e.message), without_managed(g, golden_text(row, "message")));
        CHECK_STR(what, s.group, golden_text(details, "group"));
        CHECK_STR(what, s.kind, golden_text(details, "kind"));
        return;
    }
    check_part(g, what, t, &out, "status", value_member(row, STR("status")));
    if (!str_is(t->kind, "SelfSubjectRulesReview"))
        check_part(g, what, t, &out, "spec", value_member(row, STR("spec")));
}

TEST(reviews_are_answered_as_by_a_real_server)
{
    struct golden g;
    struct value row;
    begin();
    auth_world_bootstrap(&w);
    put_objects();
    golden_open(&g, "apiserver/reviews.jsonl");
    while (golden_next(&g, &row))
        if (golden_int(&row, "code") != 403) /* refused before anybody looked at it */
            check_row(&g, &row);
    CHECK(g.n > 250);
    golden_close(&g);
    end();
}

TEST(other_kinds_are_no_reviews)
{
    begin();
    CHECK(!review_is(schema_type(STR("core/v1.Pod"))));
    CHECK(!review_is(schema_type(STR("authentication.k8s.io/v1.TokenRequest"))));
    end();
}

TEST(without_authorization_everything_is_allowed)
{
    const struct type *t = type_of(STR("SelfSubjectAccessReview"));
    struct field_errors errs;
    struct value in, out;
    begin();
    field_errors_init(&errs, &w.arena);
    struct review_context c = { &w.arena, NULL, NULL, identity_anonymous(), WORLD_NOW_S };
    CHECK(!json_decode(&w.arena, WORK_OWN, t, STR("{\"spec\":{\"nonResourceAttributes\":{\"path\":\"/\",\"verb\":\"get\"}}}"), NULL,
                       &in, &w.e));
    CHECK(!review_answer(&c, t, STR(""), &in, &out, &errs, &w.e));
    CHECK(value_path(t, &out, "status.allowed")->b);
    end();
}
