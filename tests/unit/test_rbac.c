/* Who may what, as the real kube-apiserver v1.36.4 with --authorization-mode=Node,RBAC decided: apiserver/authz.c, rbac.c,
 * rbac_escalation.c, authz_node.c, impersonate.c and rbac_bootstrap.c against tests/golden/apiserver/rbac*.jsonl. */
#include "apiserver/authz.h"

#include <time.h>

#include "apiserver/impersonate.h"
#include "apiserver/rbac_escalation.h"
#include "apiserver/review_access.h"
#include "apiserver/route.h"
#include "tests/unit/auth_world.h"

#define RBAC "rbac.authorization.k8s.io"

static struct auth_world w;
static struct api_authz *authz;

static void begin(const char *const *modes)
{
    auth_world_init(&w);
    if (api_authz_new(&(struct api_authz_options){ w.objects, modes }, &authz, &w.e))
        FAIL("%s", w.e.message);
}

static void end(void)
{
    api_authz_free(authz);
    auth_world_fini(&w);
}

static const char *const node_and_rbac[] = { "Node", "RBAC", NULL };
static const char *const only_rbac[] = { "RBAC", NULL };

static bool in_list(const struct value *list, struct str text)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(value_text(&list->items[i]), text))
            return true;
    return false;
}

/* ---- The recording ---- */

static void check_sar(struct golden *g, const struct value *row, const struct value *sar)
{
    const struct type *t = schema_type(STR("authorization.k8s.io/v1.SubjectAccessReviewSpec"));
    const struct value *reasons = value_member(row, STR("reasons"));
    struct str json = plain_json(&g->arena, sar), reason;
    const char *what = arena_cstr(&g->arena, json);
    struct value spec;
    struct access_question q;
    CHECK(!json_decode(&g->arena, WORK_OWN, t, json, NULL, &spec, &w.e));
    struct user u = access_read_user(&g->arena, &spec);
    access_read(&g->arena, t, &spec, &u, &q);
    bool allowed = api_authz_decide(authz, &g->arena, &q.attributes, &reason) == AUTHZ_ALLOW;
    CHECK_INT(what, allowed, value_member(row, STR("allowed"))->b);
    /* With several reasons the recording may lack some. */
    if (!in_list(reasons, reason) && reasons->n == 1)
        CHECK_STR(what, reason, value_text(&reasons->items[0]));
}

static struct authz_attributes read_request(struct golden *g, const struct value *request, const struct user *u)
{
    struct target t;
    struct route r;
    CHECK(target_read(&g->arena, value_text(&request->items[1]), &t));
    CHECK(!route_read(&g->arena, value_text(&request->items[0]), &t, &r, &w.e));
    return (struct authz_attributes){ .user = u, .verb = r.verb, .is_resource = r.is_resource, .group = r.group,
                                      .version = r.version, .resource = r.resource, .subresource = r.subresource,
                                      .namespace = r.namespace, .name = r.name, .path = r.path };
}

static struct user *read_user(struct golden *g, const struct value *row)
{
    struct user *u = ARENA_NEW(&g->arena, struct user);
    u->name = golden_text(row, "user");
    u->groups = plain_list(&g->arena, value_member(row, STR("groups")));
    return u;
}

static void check_details(const char *what, const struct value *details, const struct err *e)
{
    struct str group = golden_text(details, "group");
    struct strbuf kind;
    strbuf_init(&kind, STRBUF_NO_MAX);
    strbuf_add_str(&kind, golden_text(details, "kind"));
    if (group.n)
        strbuf_printf(&kind, ".%.*s", STR_ARG(group));
    CHECK_STR(what, str_of(e->kind), strbuf_str(&kind));
    CHECK_STR(what, str_of(e->name), golden_text(details, "name"));
    strbuf_fini(&kind);
}

static void check_request(struct golden *g, const struct value *row)
{
    const char *what = arena_cstr(&g->arena, plain_json(&g->arena, row));
    struct authz_attributes q = read_request(g, value_member(row, STR("request")), read_user(g, row));
    struct str reason;
    struct err e;
    err_init(&e, &g->arena);
    bool forbidden = api_authz_decide(authz, &g->arena, &q, &reason) != AUTHZ_ALLOW;
    CHECK_INT(what, forbidden, value_member(row, STR("forbidden"))->b);
    if (!forbidden)
        return;
    CHECK_INT(what, api_authz_refuse(&q, reason, &e), ERR_FORBIDDEN);
    if (!str_is(q.user->name, "nora")) /* whose missing roles are named in any order */
        CHECK_STR(what, str_of(e.message), golden_text(row, "message"));
    check_details(what, value_member(row, STR("details")), &e);
}

static void check_write(struct golden *g, const struct value *row, const struct value *object)
{
    const char *what = arena_cstr(&g->arena, plain_json(&g->arena, row));
    const struct type *t = schema_object_type(golden_text(object, "apiVersion"), golden_text(object, "kind"));
    struct value v;
    struct err e;
    err_init(&e, &g->arena);
    CHECK(!json_decode(&g->arena, WORK_OWN, t, plain_json(&g->arena, object), NULL, &v, &w.e));
    struct rbac_write write = { .user = read_user(g, row), .resource = auth_world_resource(t), .object = &v,
                                .namespace = value_text(value_path(t, &v, "metadata.namespace")), .name = STR("") };
    enum err_code rc = api_authz_check_rbac_write(authz, &g->arena, &write, &e);
    int code = golden_int(row, "code");
    CHECK_INT(what, rc ? err_http_status(rc) : 201, code);
    if (!rc)
        return;
    CHECK_STR(what, str_of(e.message), golden_text(row, "message"));
    check_details(what, value_member(row, STR("details")), &e);
}

/* Lists in any order: each of ours is one of theirs, and there are as many. */
static void check_rule_list(struct golden *g, const char *what, const struct type *t, const struct value *want,
                            const struct value *got, uint32_t n)
{
    bool used[512] = { 0 };
    CHECK_INT(what, n, want ? want->n : 0);
    for (uint32_t i = 0; i < n; i++) {
        struct strbuf json;
        struct value plain;
        uint32_t k = 0;
        strbuf_init(&json, STRBUF_NO_MAX);
        json_encode(&json, t, &got[i]);
        CHECK(!json_decode_plain(&g->arena, WORK_OWN, arena_str(&g->arena, strbuf_str(&json)), &plain, &w.e));
        while (k < n && (used[k] || !value_equal(&want->items[k], &plain)))
            k++;
        if (k == n)
            FAIL("%s: %.*s is not there", what, STR_ARG(strbuf_str(&json)));
        used[k] = true;
        strbuf_fini(&json);
    }
}

static void check_rules(struct golden *g, const struct value *row, const struct value *rules)
{
    const char *what = arena_printf(&g->arena, "rules of %.*s in %.*s", STR_ARG(golden_text(row, "user")),
                                    STR_ARG(golden_text(row, "namespace")));
    struct authz_rules r;
    api_authz_rules(authz, &g->arena, read_user(g, row), golden_text(row, "namespace"), &r);
    CHECK_INT(what, r.incomplete, value_member(rules, STR("incomplete"))->b);
    if (!str_is(golden_text(row, "user"), "nora"))
        CHECK_STR(what, r.error, golden_text(rules, "evaluationError"));
    check_rule_list(g, what, schema_type(STR("authorization.k8s.io/v1.ResourceRule")),
                    value_member(rules, STR("resourceRules")), r.resource_rules, r.n_resource_rules);
    check_rule_list(g, what, schema_type(STR("authorization.k8s.io/v1.NonResourceRule")),
                    value_member(rules, STR("nonResourceRules")), r.non_resource_rules, r.n_non_resource_rules);
}

static void check_list(const char *what, const struct str_list *got, const struct value *want)
{
    CHECK_INT(what, got->n, want ? want->n : 0);
    for (size_t i = 0; i < got->n; i++)
        CHECK_STR(what, got->at[i], value_text(&want->items[i]));
}

/* Whom the request was made as: what a SelfSubjectReview said. */
static void check_effective(struct golden *g, const char *what, const struct user *u, const struct value *want)
{
    const struct value *extra = value_member(want, STR("extra"));
    (void)g;
    CHECK_STR(what, u->name, golden_text(want, "username"));
    CHECK_STR(what, u->uid, golden_text(want, "uid"));
    check_list(what, &u->groups, value_member(want, STR("groups")));
    CHECK_INT(what, u->n_extra, extra ? extra->n : 0);
    for (size_t i = 0; i < u->n_extra; i++) {
        CHECK_STR(what, u->extra[i].key, extra->members[i].key);
        check_list(what, &u->extra[i].values, &extra->members[i].value);
    }
}

static void check_impersonation(struct golden *g, struct impersonation *i, const struct value *row,
                                const struct value *headers)
{
    static const struct str everyone = { GROUP_AUTHENTICATED, sizeof(GROUP_AUTHENTICATED) - 1 };
    const char *what = arena_cstr(&g->arena, plain_json(&g->arena, row));
    struct user asker = { .name = golden_text(row, "who"), .groups = { &everyone, 1 } };
    struct authz_attributes q = read_request(g, value_member(row, STR("request")), &asker);
    struct headers h = { 0 };
    const struct user *u = NULL;
    struct str reason, message = golden_text(row, "message");
    struct err e;
    err_init(&e, &g->arena);
    for (uint32_t k = 0; k < headers->n; k++)
        headers_add(&h, &g->arena, value_text(&headers->items[k].items[0]), value_text(&headers->items[k].items[1]));
    enum err_code rc = impersonation_find(i, &g->arena, &h, &q, &u, &e);
    if (!rc) {
        q.user = u;
        bool allowed = api_authz_decide(authz, &g->arena, &q, &reason) == AUTHZ_ALLOW;
        rc = allowed ? ERR_OK : api_authz_refuse(&q, reason, &e);
        if (value_member(row, STR("user")))
            check_effective(g, what, u, value_member(row, STR("user")));
    }
    int code = golden_int(row, "code");
    CHECK_INT(what, rc ? err_http_status(rc) : code == 404 ? 404 : code < 300 ? code : 200, code);
    if (rc && !str_is(asker.name, "nora"))
        CHECK_STR(what, str_of(e.message), message);
}

TEST(decisions_are_those_of_a_real_server)
{
    struct golden g;
    struct value row;
    size_t n_sar = 0, n_request = 0, n_write = 0, n_rules = 0, n_impersonate = 0;
    begin(node_and_rbac);
    auth_world_bootstrap(&w);
    struct impersonation *i = impersonation_new(authz);
    golden_open(&g, "apiserver/rbac.jsonl");
    while (golden_next(&g, &row)) {
        const struct value *v;
        if ((v = value_member(&row, STR("object")))) {
            auth_world_put(&w, plain_json(&g.arena, v));
        } else if ((v = value_member(&row, STR("sar")))) {
            check_sar(&g, &row, v);
            n_sar++;
        } else if ((v = value_member(&row, STR("write")))) {
            check_write(&g, &row, v);
            n_write++;
        } else if ((v = value_member(&row, STR("rules")))) {
            check_rules(&g, &row, v);
            n_rules++;
        } else if ((v = value_member(&row, STR("impersonate")))) {
            check_impersonation(&g, i, &row, v);
            n_impersonate++;
        } else {
            check_request(&g, &row);
            n_request++;
        }
    }
    CHECK(n_sar > 1000 && n_request > 100 && n_write > 50 && n_rules > 40 && n_impersonate > 400);
    golden_close(&g);
    impersonation_free(i);
    end();
}

/* ---- What every cluster begins with ---- */

TEST(the_first_roles_and_bindings_are_those_of_a_real_server)
{
    struct golden g;
    struct value row;
    struct rbac_object *objects;
    auth_world_init(&w);
    size_t n = rbac_bootstrap(&w.arena, &objects), n_rows = 0;
    golden_open(&g, "apiserver/rbac_bootstrap.jsonl");
    while (golden_next(&g, &row)) {
        const struct type *t = schema_object_type(golden_text(&row, "apiVersion"), golden_text(&row, "kind"));
        const struct value *meta = value_member(&row, STR("metadata"));
        const char *what = arena_printf(&g.arena, "%.*s %.*s", STR_ARG(t->kind), STR_ARG(golden_text(meta, "name")));
        struct value want;
        struct strbuf got, wanted;
        size_t i = 0;
        CHECK(!json_decode(&g.arena, WORK_OWN, t, plain_json(&g.arena, &row), NULL, &want, &w.e));
        while (i < n && !(objects[i].resource->type == t && str_eq(objects[i].name, golden_text(meta, "name")) &&
                          str_eq(objects[i].namespace, golden_text(meta, "namespace"))))
            i++;
        if (i == n)
            FAIL("%s is missing", what);
        strbuf_init(&got, STRBUF_NO_MAX);
        strbuf_init(&wanted, STRBUF_NO_MAX);
        json_encode(&got, t, &objects[i].value);
        json_encode(&wanted, t, &want);
        CHECK_STR(what, strbuf_str(&got), strbuf_str(&wanted));
        strbuf_fini(&got);
        strbuf_fini(&wanted);
        n_rows++;
    }
    CHECK_INT("objects", n, n_rows);
    golden_close(&g);
    auth_world_fini(&w);
}

static struct value read_there(const struct rbac_object *o, const char *json)
{
    struct value v;
    if (json_decode(&w.arena, WORK_OWN, o->resource->type, str_of(json), NULL, &v, &w.e))
        FAIL("%s", w.e.message);
    return v;
}

TEST(what_a_first_role_lacks_is_added)
{
    static const struct {
        const char *what, *name, *there, *want; /* want NULL: it stays */
    } rows[] = {
        { "nothing is missing", "system:public-info-viewer",
          "{\"metadata\":{\"name\":\"x\",\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\",\"a\":\"b\"},"
          "\"annotations\":{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}},\"rules\":[{\"nonResourceURLs\":"
          "[\"/*\"],\"verbs\":[\"*\"]}]}", NULL },
        { "it is protected", "system:public-info-viewer",
          "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"rbac.authorization.kubernetes.io/autoupdate\":\"false\"}}}",
          NULL },
        { "rules are added part by part", "system:kube-aggregator",
          "{\"metadata\":{\"name\":\"x\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"endpoints\"],\"verbs\":"
          "[\"get\",\"list\",\"watch\"]},{\"apiGroups\":[\"\"],\"resources\":[\"services\"],\"verbs\":[\"get\",\"list\"]}]}",
          "{\"metadata\":{\"name\":\"x\",\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\"},\"annotations\":"
          "{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}},\"rules\":[{\"verbs\":[\"get\",\"list\",\"watch\"],"
          "\"apiGroups\":[\"\"],\"resources\":[\"endpoints\"]},{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],"
          "\"resources\":[\"services\"]},{\"verbs\":[\"watch\"],\"apiGroups\":[\"\"],\"resources\":[\"services\"]}]}" },
        { "a role that should not select others does not", "system:kube-aggregator",
          "{\"metadata\":{\"name\":\"x\",\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\"},\"annotations\":"
          "{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}},\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":"
          "[\"*\"],\"verbs\":[\"*\"]}],\"aggregationRule\":{\"clusterRoleSelectors\":[{}]}}",
          "{\"metadata\":{\"name\":\"x\",\"labels\":{\"kubernetes.io/bootstrapping\":\"rbac-defaults\"},\"annotations\":"
          "{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],"
          "\"resources\":[\"*\"]}]}" },
    };
    struct rbac_object *objects;
    auth_world_init(&w);
    size_t n = rbac_bootstrap(&w.arena, &objects);
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        size_t i = 0;
        bool replace;
        struct value got;
        while (i < n && !str_is(objects[i].name, rows[r].name))
            i++;
        struct value there = read_there(&objects[i], rows[r].there);
        bool changed = rbac_bootstrap_reconcile(&w.arena, &objects[i], &there, &got, &replace);
        CHECK_INT(rows[r].what, changed, rows[r].want != NULL);
        CHECK_INT(rows[r].what, replace, false);
        if (!changed)
            continue;
        struct strbuf json;
        strbuf_init(&json, STRBUF_NO_MAX);
        json_encode(&json, objects[i].resource->type, &got);
        CHECK_STR(rows[r].what, strbuf_str(&json), str_of(rows[r].want));
        strbuf_fini(&json);
    }
    auth_world_fini(&w);
}

TEST(a_first_binding_that_leads_elsewhere_is_made_again)
{
    struct rbac_object *objects;
    struct value got;
    bool replace;
    size_t i = 0;
    auth_world_init(&w);
    size_t n = rbac_bootstrap(&w.arena, &objects);
    while (i < n && !(str_is(objects[i].name, "system:kube-dns") && str_is(objects[i].resource->kind, "ClusterRoleBinding")))
        i++;
    struct value there = read_there(&objects[i], "{\"metadata\":{\"name\":\"system:kube-dns\"},\"roleRef\":{\"apiGroup\":\"" RBAC
                                           "\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"}}");
    CHECK(!rbac_bootstrap_reconcile(&w.arena, &objects[i], &there, &got, &replace) && replace);
    there = read_there(&objects[i], "{\"metadata\":{\"name\":\"system:kube-dns\"},\"roleRef\":{\"apiGroup\":\"" RBAC
                              "\",\"kind\":\"ClusterRole\",\"name\":\"system:kube-dns\"}}");
    CHECK(rbac_bootstrap_reconcile(&w.arena, &objects[i], &there, &got, &replace) && !replace);
    CHECK_INT("subjects", value_path(objects[i].resource->type, &got, "subjects")->n, 1);
    auth_world_fini(&w);
}

/* ---- Changes ---- */

static bool may(const char *user, const char *verb, const char *resource, const char *namespace)
{
    struct user u = { .name = str_of(user) };
    struct authz_attributes q = { .user = &u, .verb = str_of(verb), .is_resource = true, .resource = str_of(resource),
                                  .namespace = str_of(namespace) };
    struct str reason;
    return api_authz_decide(authz, &w.arena, &q, &reason) == AUTHZ_ALLOW;
}

static void put_role(const char *name, const char *more)
{
    const char *json = arena_printf(&w.arena, "{\"apiVersion\":\"" RBAC "/v1\",\"kind\":\"ClusterRole\",\"metadata\":"
                                              "{\"name\":\"%s\"%s}", name, more);
    auth_world_put(&w, str_of(json));
}

static void put_binding(const char *name, const char *role, const char *user)
{
    const char *json = arena_printf(&w.arena, "{\"apiVersion\":\"" RBAC "/v1\",\"kind\":\"ClusterRoleBinding\",\"metadata\":"
                                              "{\"name\":\"%s\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"%s\"},{\"kind\":"
                                              "\"User\",\"name\":\"%s\"}],\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":"
                                              "\"%s\"}}", name, user, user, role);
    auth_world_put(&w, str_of(json));
}

#define GET_PODS "},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]}]"

TEST(changes_count_at_once)
{
    begin(only_rbac);
    CHECK(!may("u", "get", "pods", "n"));
    put_binding("b", "r", "u");
    CHECK(!may("u", "get", "pods", "n"));
    put_role("r", GET_PODS);
    CHECK(may("u", "get", "pods", "n") && !may("v", "get", "pods", "n"));
    put_binding("b", "r", "v");
    CHECK(!may("u", "get", "pods", "n") && may("v", "get", "pods", "n"));
    put_binding("c", "r", "u");
    put_role("r", "},\"rules\":[]");
    CHECK(!may("u", "get", "pods", "n"));
    put_role("r", GET_PODS);
    CHECK(may("u", "get", "pods", "n"));
    auth_world_delete(&w, "clusterrolebindings", RBAC, "", "c");
    CHECK(!may("u", "get", "pods", "n") && may("v", "get", "pods", "n"));
    auth_world_delete(&w, "clusterroles", RBAC, "", "r");
    CHECK(!may("v", "get", "pods", "n"));
    end();
}

#define SELECTS(label) "},\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{\"" label "\":\"y\"}}]}"
#define LABELLED(label) ",\"labels\":{\"" label "\":\"y\"}"

TEST(roles_that_select_each_other_have_the_same_rules)
{
    begin(only_rbac);
    put_role("a", LABELLED("of-b") SELECTS("of-a"));
    put_role("b", LABELLED("of-a") SELECTS("of-b"));
    put_role("c", LABELLED("of-a") GET_PODS);
    put_role("d", LABELLED("of-b") "},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"nodes\"],\"verbs\":[\"list\"]}]");
    put_binding("a", "a", "anna");
    put_binding("b", "b", "bob");
    for (int i = 0; i < 2; i++) {
        CHECK(may("anna", "get", "pods", "") && may("anna", "list", "nodes", ""));
        CHECK(may("bob", "get", "pods", "") && may("bob", "list", "nodes", ""));
    }
    end();
}

/* A role that selects others has their rules only: what it says itself is the controller's to overwrite. */
TEST(own_rules_of_a_role_that_selects_do_not_count)
{
    begin(only_rbac);
    put_role("a", SELECTS("x") ",\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]}]");
    put_binding("a", "a", "anna");
    CHECK(!may("anna", "get", "pods", ""));
    end();
}

TEST(names_cannot_be_mistaken_for_others)
{
    begin(only_rbac);
    put_role("r", GET_PODS);
    auth_world_put(&w, STR("{\"apiVersion\":\"" RBAC "/v1\",\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"b\",\"namespace\":"
                           "\"n\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"u\"}],\"roleRef\":{\"kind\":\"ClusterRole\","
                           "\"name\":\"r\"}}"));
    CHECK(may("u", "get", "pods", "n"));
    CHECK(!may("u", "get", "pods", "") && !may("u", "get", "pods", "m") && !may("nUu", "get", "pods", ""));
    CHECK(!may("Uu", "get", "pods", "n") && !may("", "get", "pods", "nUu") && !may("u", "get", "pods", "1:nU"));
    end();
}

TEST(rules_match)
{
    static const struct {
        const char *what, *rule, *verb, *path; /* a path, or "group resource subresource name" with "-" for none */
        bool allowed;
    } rows[] = {
        { "a path", "\"nonResourceURLs\":[\"/a\"],\"verbs\":[\"get\"]", "get", "/a", true },
        { "a longer path", "\"nonResourceURLs\":[\"/a\"],\"verbs\":[\"get\"]", "get", "/ab", false },
        { "below a path", "\"nonResourceURLs\":[\"/a/*\"],\"verbs\":[\"get\"]", "get", "/a/b/c", true },
        { "the path itself", "\"nonResourceURLs\":[\"/a/*\"],\"verbs\":[\"get\"]", "get", "/a", false },
        { "any path", "\"nonResourceURLs\":[\"*\"],\"verbs\":[\"*\"]", "post", "/", true },
        { "paths are no resources", "\"nonResourceURLs\":[\"*\"],\"verbs\":[\"*\"]", "get", "- pods - -", false },
        { "resources are no paths", "\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]", "get", "/", false },
        { "a subresource", "\"apiGroups\":[\"\"],\"resources\":[\"pods/log\"],\"verbs\":[\"get\"]", "get", "- pods log x", true },
        { "not the resource", "\"apiGroups\":[\"\"],\"resources\":[\"pods/log\"],\"verbs\":[\"get\"]", "get", "- pods - x", false },
        { "not every subresource", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]", "get", "- pods log x", false },
        { "of any resource", "\"apiGroups\":[\"\"],\"resources\":[\"*/log\"],\"verbs\":[\"get\"]", "get", "- jobs log x", true },
        { "another of any resource", "\"apiGroups\":[\"\"],\"resources\":[\"*/log\"],\"verbs\":[\"get\"]", "get", "- jobs blog x", false },
        { "a name", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"],\"resourceNames\":[\"x\"]", "get", "- pods - x", true },
        { "another name", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"],\"resourceNames\":[\"x\"]", "get", "- pods - y", false },
        { "no name", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"list\"],\"resourceNames\":[\"x\"]", "list", "- pods - -", false },
        { "another group", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]", "get", "apps pods - x", false },
        { "an odd verb", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"fly\"]", "fly", "- pods - x", true },
        { "another odd verb", "\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"fly\"]", "swim", "- pods - x", false },
    };
    begin(only_rbac);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct user u = { .name = STR("u") };
        struct authz_attributes q = { .user = &u, .verb = str_of(rows[i].verb) };
        char words[4][16] = { "" };
        struct str reason;
        if (rows[i].path[0] == '/') {
            q.path = str_of(rows[i].path);
        } else {
            CHECK_INT(rows[i].what, sscanf(rows[i].path, "%15s %15s %15s %15s", words[0], words[1], words[2], words[3]), 4);
            for (size_t k = 0; k < 4; k++)
                words[k][0] = words[k][0] == '-' ? 0 : words[k][0];
            q.is_resource = true;
            q.group = str_of(words[0]);
            q.resource = str_of(words[1]);
            q.subresource = str_of(words[2]);
            q.name = str_of(words[3]);
        }
        put_role("r", arena_printf(&w.arena, "},\"rules\":[{%s}]", rows[i].rule));
        put_binding("b", "r", "u");
        CHECK_INT(rows[i].what, api_authz_decide(authz, &w.arena, &q, &reason) == AUTHZ_ALLOW, rows[i].allowed);
    }
    end();
}

/* Of several subjects of a binding that somebody is, the first one is told. */
TEST(the_first_subject_is_told)
{
    static const struct str groups[] = { { "g", 1 }, { "h", 1 } };
    struct user u = { .name = STR("u"), .groups = { groups, 2 } };
    struct authz_attributes q = { .user = &u, .verb = STR("get"), .is_resource = true, .resource = STR("pods") };
    struct str reason;
    begin(only_rbac);
    put_role("r", GET_PODS);
    auth_world_put(&w, STR("{\"apiVersion\":\"" RBAC "/v1\",\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"b\"},"
                           "\"subjects\":[{\"kind\":\"Group\",\"name\":\"h\"},{\"kind\":\"Group\",\"name\":\"g\"},"
                           "{\"kind\":\"User\",\"name\":\"u\"}],\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"}}"));
    CHECK(api_authz_decide(authz, &w.arena, &q, &reason) == AUTHZ_ALLOW);
    CHECK_STR("reason", reason, STR("RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"r\" to Group \"h\""));
    end();
}

TEST(modes_decide_in_their_order)
{
    static const struct {
        const char *what, *modes[3], *error;
        bool allowed;
        const char *reason;
    } rows[] = {
        { "everything", { "AlwaysAllow" }, NULL, true, "" },
        { "nothing", { "AlwaysDeny" }, NULL, false, "Everything is forbidden." },
        { "nobody denies for good", { "AlwaysDeny", "AlwaysAllow" }, NULL, true, "" },
        { "reasons of all", { "AlwaysDeny", "RBAC" }, NULL, false, "Everything is forbidden." },
        { "an unknown one", { "Nope" }, "authorization-mode \"Nope\" is not a valid mode", false, "" },
        { "one twice", { "RBAC", "RBAC" }, "authorization-mode \"RBAC\" has mode specified more than once", false, "" },
        { "none", { NULL }, "at least one authorization-mode must be passed", false, "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct user u = { .name = STR("u") };
        struct authz_attributes q = { .user = &u, .verb = STR("get"), .path = STR("/x") };
        struct str reason;
        auth_world_init(&w);
        bool failed = api_authz_new(&(struct api_authz_options){ w.objects, rows[i].modes }, &authz, &w.e) != ERR_OK;
        CHECK_INT(rows[i].what, failed, rows[i].error != NULL);
        if (failed) {
            CHECK_TEXT(rows[i].what, w.e.message, rows[i].error);
            auth_world_fini(&w);
            continue;
        }
        CHECK_INT(rows[i].what, api_authz_decide(authz, &w.arena, &q, &reason) == AUTHZ_ALLOW, rows[i].allowed);
        CHECK_STR(rows[i].what, reason, str_of(rows[i].reason));
        end();
    }
}

/* ---- Cost ---- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* With thousands of bindings a decision, and taking over one that changes, stay as cheap as with few. */
TEST(many_bindings_cost_nothing)
{
    enum { N_BINDINGS = 4000, N_ASKED = 2000 };
    begin(only_rbac);
    auth_world_bootstrap(&w);
    put_role("r", GET_PODS);
    for (int i = 0; i < N_BINDINGS; i++)
        put_binding(arena_printf(&w.arena, "b%d", i), "r", arena_printf(&w.arena, "user-%d", i));
    CHECK(may("user-7", "get", "pods", "n"));
    int64_t start = now_ns();
    for (int i = 0; i < N_ASKED; i++) {
        struct arena_mark mark = arena_save(&w.arena);
        CHECK(may("user-7", "get", "pods", "n") && !may("user-7", "list", "pods", "n"));
        arena_rewind(&w.arena, mark);
    }
    int64_t each = (now_ns() - start) / (2 * N_ASKED);
    printf("a decision takes %lld ns\n", (long long)each);
    CHECK(each < 200000); /* sanitizers and busy machines */
    start = now_ns();
    for (int i = 0; i < 200; i++) {
        put_binding("b7", "r", i % 2 ? "x" : "y");
        CHECK_INT("after a change", may("x", "get", "pods", "n"), i % 2);
    }
    CHECK((now_ns() - start) / 200 < 5000000);
    end();
}

/* Rules that multiply out to more than anybody can look at are refused, soon. */
TEST(rules_without_end_are_refused)
{
    struct strbuf json;
    struct value v;
    struct err e;
    struct user u = { .name = STR("u") };
    begin(only_rbac);
    put_role("r", GET_PODS);
    put_binding("b", "r", "u");
    strbuf_init(&json, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&json, "{\"rules\":[{");
    const char *const lists[] = { "apiGroups", "resources", "verbs", "resourceNames" };
    for (size_t k = 0; k < 4; k++) {
        strbuf_printf(&json, "%s\"%s\":[", k ? "," : "", lists[k]);
        for (int i = 0; i < 1000; i++)
            strbuf_printf(&json, "%s\"%d\"", i ? "," : "", i);
        strbuf_add_char(&json, ']');
    }
    STRBUF_ADD_LIT(&json, "}]}");
    err_init(&e, &w.arena);
    const struct type *t = schema_type(STR(RBAC "/v1.ClusterRole"));
    CHECK(!json_decode(&w.arena, WORK_OWN, t, strbuf_str(&json), NULL, &v, &w.e));
    int64_t start = now_ns();
    CHECK_INT("rules", api_authz_check_escalation(authz, &w.arena, &u, STR(""), value_path(t, &v, "rules"), &e),
              ERR_FORBIDDEN);
    CHECK(now_ns() - start < 10000000000ll); /* some tens of milliseconds; sanitizers and busy machines */
    CHECK_TEXT("rules", e.message, "the rules are too many to be compared with those that the user holds");
    strbuf_fini(&json);
    end();
}
