/* OpenAPI documents describe what the real kube-apiserver v1.36.4 describes: apiserver/openapi.c against
 * tests/golden/apiserver. Descriptions and empty defaults are not compared. */
#include "apiserver/openapi.h"
#include "tests/unit/golden_lines.h"

static bool says_nothing(struct str key, const struct value *v)
{
    if (str_is(key, "description"))
        return v->kind == VALUE_STRING;
    if (!str_is(key, "default"))
        return false;
    return (v->kind == VALUE_MAP && v->n == 0) || (v->kind == VALUE_STRING && v->n == 0) ||
           (v->kind == VALUE_INT && v->i == 0) || (v->kind == VALUE_BOOL && !v->b);
}

/* As the recorder does it. */
static struct value normal(struct arena *a, const struct value *v)
{
    if (v->kind == VALUE_LIST) {
        struct value *items = ARENA_NEW_N(a, struct value, v->n);
        for (uint32_t i = 0; i < v->n; i++)
            items[i] = normal(a, &v->items[i]);
        return value_list(items, v->n);
    }
    if (v->kind != VALUE_MAP)
        return *v;
    struct member *members = ARENA_NEW_N(a, struct member, v->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        struct member m = v->members[i];
        if (says_nothing(m.key, &m.value))
            continue;
        m.value = normal(a, &m.value);
        if (str_is(m.key, "allOf") && m.value.n == 1)
            m = m.value.items[0].members[0];
        members[n++] = m;
    }
    return value_map(members, value_sort_members(members, n));
}

/* Kinds of the meta group are said to be of every group there; here of one. */
static struct value without_kinds(struct arena *a, const struct value *v)
{
    struct member *members = ARENA_NEW_N(a, struct member, v->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (!str_is(v->members[i].key, "x-kubernetes-group-version-kind"))
            members[n++] = v->members[i];
    return value_map(members, n);
}

static struct str text_of(struct arena *a, const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    json_encode_plain(&text, v);
    struct str kept = arena_str(a, strbuf_str(&text));
    strbuf_fini(&text);
    return kept;
}

static struct value document(struct arena *a, struct str path)
{
    struct strbuf text;
    struct value v;
    struct err e;
    err_init(&e, a);
    strbuf_init(&text, STRBUF_NO_MAX);
    if (!openapi_add_document(&text, path))
        FAIL("no %.*s", STR_ARG(path));
    struct str kept = arena_str(a, strbuf_str(&text));
    if (json_decode_plain(a, WORK_OWN, kept, &v, &e))
        FAIL("%.*s: %s", STR_ARG(path), e.message);
    strbuf_fini(&text);
    return v;
}

/* Every operation of the real server is there, for the same kind. */
static size_t check_paths(struct arena *a, const struct value *doc, const struct value *want)
{
    const struct value *paths = value_member(doc, STR("paths"));
    size_t n = 0;
    for (uint32_t i = 0; i < want->n; i++) {
        const char *path = arena_cstr(a, want->members[i].key);
        const struct value *item = value_member(paths, want->members[i].key), *methods = &want->members[i].value;
        for (uint32_t k = 0; k < methods->n; k++) {
            struct str method = methods->members[k].key;
            bool proxied = str_is(method, "head") || str_is(method, "options") || strstr(path, "/proxy");
            if (proxied)
                continue;
            const struct value *operation = item ? value_member(item, method) : NULL;
            if (!operation)
                FAIL("%s has no %.*s", path, STR_ARG(method));
            const struct value *kind = value_member(operation, STR("x-kubernetes-group-version-kind"));
            CHECK_STR(path, text_of(a, kind), text_of(a, &methods->members[k].value));
            n++;
        }
    }
    return n;
}

/* The schemas of all documents, by name. */
static void gather(struct arena *a, const struct value *doc, struct member *all, uint32_t *n)
{
    const struct value *schemas = value_member(value_member(doc, STR("components")), STR("schemas"));
    for (uint32_t i = 0; i < schemas->n; i++)
        all[(*n)++] = (struct member){ schemas->members[i].key, normal(a, &schemas->members[i].value) };
}

TEST(documents_describe_what_the_real_server_describes)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/openapi.jsonl.gz");
    struct member *all = ARENA_NEW_N(&g.arena, struct member, 20000);
    uint32_t n = 0;
    size_t n_operations = 0, n_schemas = 0, n_known = 0, n_bad = 0;
    while (golden_next(&g, &row)) {
        struct str name = golden_text(&row, "document");
        if (name.n) {
            struct value doc = document(&g.arena, name);
            n_operations += check_paths(&g.arena, &doc, value_member(&row, STR("paths")));
            gather(&g.arena, &doc, all, &n);
            continue;
        }
        if (n_schemas++ == 0)
            n = value_sort_members(all, n);
        struct value have = value_map(all, n);
        name = golden_text(&row, "schema");
        const struct value *got = value_member(&have, name);
        if (!got)
            continue;
        n_known++;
        struct value want = normal(&g.arena, value_member(&row, STR("is")));
        const char *what = arena_cstr(&g.arena, name);
        struct value have_one = *got;
        if (str_starts(name, STR("io.k8s.apimachinery.pkg.apis.meta")) && want.kind == VALUE_MAP) {
            have_one = without_kinds(&g.arena, got);
            want = without_kinds(&g.arena, &want);
        }
        if (value_equal(&have_one, &want))
            continue;
        struct str is = text_of(&g.arena, &have_one), should = text_of(&g.arena, &want);
        printf("%s is\n  %.*s\nwant\n  %.*s\n", what, STR_ARG(is), STR_ARG(should));
        n_bad++;
    }
    CHECK_INT("schemas that differ", n_bad, 0);
    CHECK(n_operations > 300);
    if (n_known < 500 || n_schemas > n_known + 40)
        FAIL("%zu of %zu schemas", n_known, n_schemas);
    golden_close(&g);
}

TEST(the_index_names_every_document)
{
    struct arena a;
    struct strbuf index, again;
    struct value v;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    strbuf_init(&index, STRBUF_NO_MAX);
    strbuf_init(&again, STRBUF_NO_MAX);
    openapi_add_index(&index);
    openapi_add_index(&again);
    CHECK_STR("the same every time", strbuf_str(&index), strbuf_str(&again));
    CHECK(!json_decode_plain(&a, WORK_OWN, strbuf_str(&index), &v, &e));
    const struct value *paths = value_member(&v, STR("paths"));
    CHECK_INT("versions", paths->n, 22);
    for (uint32_t i = 0; i < paths->n; i++) {
        struct str url = golden_text(&paths->members[i].value, "serverRelativeURL");
        char *want = arena_printf(&a, "/openapi/v3/%.*s?hash=", STR_ARG(paths->members[i].key));
        CHECK(str_starts(url, str_of(want)) && url.n == strlen(want) + 64);
        document(&a, paths->members[i].key);
    }
    static const char *const nowhere[] = { "", "api", "api/", "api/v2", "apis", "apis/", "apis/apps", "apis/apps/",
                                           "apis/apps/v9",
                                           "apis//v1", "apis/nope/v1", "version", "apis/apps/v1/deployments" };
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
        strbuf_reset(&again);
        CHECK_INT(nowhere[i], openapi_add_document(&again, str_of(nowhere[i])), false);
        CHECK_INT(nowhere[i], again.n, 0);
    }
    strbuf_fini(&index);
    strbuf_fini(&again);
    arena_fini(&a);
}

TEST(version_2_is_there_and_empty)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    CHECK_TEXT("JSON", openapi_add_v2(&body, STR("application/json")), "application/json");
    CHECK(str_starts(strbuf_str(&body), STR("{\"swagger\":\"2.0\",")));
    strbuf_reset(&body);
    CHECK_TEXT("protobuf", openapi_add_v2(&body, STR("application/com.github.proto-openapi.spec.v2@v1.0+protobuf")),
               "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    static const char want[] = "\n\x03" "2.0" "\x12\x12\n\n" "Kubernetes" "\x12\x04" "1.36" "B\0J\0";
    CHECK_STR("protobuf", strbuf_str(&body), ((struct str){ want, sizeof(want) - 1 }));
    strbuf_fini(&body);
}
