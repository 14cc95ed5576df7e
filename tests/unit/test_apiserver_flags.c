/* The API server's command line: config/apiserver_flags.c, config/apiserver_check.c, config/flag_map.c; beside what
 * kube-apiserver v1.36.4 says, recorded in tests/golden/apiserver. */
#include "config/apiserver_check.h"
#include "config/scheduler_options.h"
#include "tests/unit/golden_lines.h"

enum { WORDS_MAX = 8 };

struct line {
    struct arena arena;
    struct err e;
    struct apiserver_flags flags;
    struct gates gates;
};

static enum err_code check(struct line *l)
{
    struct flag_strings warnings = { 0 };
    struct scheduler_flags shared;
    apiserver_flags_shared(&l->flags, &l->arena, &shared);
    if (scheduler_options_gates(&shared, &l->gates, &l->e))
        return l->e.code;
    return apiserver_check_flags(&l->flags, &l->gates, &warnings, &l->e);
}

static enum err_code parse(struct line *l, int argc, char **argv)
{
    arena_init(&l->arena);
    err_init(&l->e, &l->arena);
    if (apiserver_flags_parse(&l->flags, &l->arena, argc, argv, &l->e))
        return l->e.code;
    return check(l);
}

/* Words parted by blanks. */
static enum err_code parse_text(struct line *l, const char *text)
{
    static char words[256];
    char *argv[WORDS_MAX] = { NULL };
    int argc = 1;
    snprintf(words, sizeof(words), "%s", text);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return parse(l, argc, argv);
}

static struct str text_of(struct line *l, struct str flag)
{
    size_t n;
    struct flag_text *texts = flag_set_texts(&apiserver_flag_set, &l->flags, &l->arena, &n);
    for (size_t i = 0; i < n; i++)
        if (str_is(flag, texts[i].name))
            return texts[i].value;
    FAIL("no flag %.*s", STR_ARG(flag));
}

static const struct flag *find(struct str name, const char **ret_group)
{
    for (size_t i = 0; i < apiserver_flag_set.n_groups; i++)
        for (size_t k = 0; k < apiserver_flag_set.groups[i].n_flags; k++)
            if (str_is(name, apiserver_flag_set.groups[i].flags[k].name)) {
                *ret_group = apiserver_flag_set.groups[i].title;
                return &apiserver_flag_set.groups[i].flags[k];
            }
    FAIL("no flag %.*s", STR_ARG(name));
}

TEST(every_flag_of_upstream)
{
    struct golden g;
    struct value row;
    struct line l;
    CHECK(!parse_text(&l, ""));
    golden_open(&g, "apiserver/flags.jsonl");
    while (golden_next(&g, &row)) {
        struct str name = golden_text(&row, "name"), type = golden_text(&row, "type");
        const char *what = arena_cstr(&g.arena, name), *group;
        const struct flag *f = find(name, &group);
        CHECK_STR(what, text_of(&l, name), golden_text(&row, "value"));
        if (golden_text(&row, "group").n == 0) {
            CHECK(f->deprecated && f->idle);
            continue;
        }
        CHECK_STR(what, str_of(group), golden_text(&row, "group"));
        const char *shown = f->type == FLAG_VERSION ? "version[=true]" : flag_type_name(f->type);
        CHECK_STR(what, str_of(shown), type);
        CHECK(f->help[0] && !f->deprecated);
    }
    CHECK_INT("flags", g.n, 177);
    CHECK_INT("with berth's own", flag_set_count(&apiserver_flag_set), 188);
    golden_close(&g);
    arena_fini(&l.arena);
}

TEST(what_upstream_refuses)
{
    struct golden g;
    struct value row;
    golden_open(&g, "apiserver/flag_refusals.jsonl");
    while (golden_next(&g, &row)) {
        struct line l;
        const struct value *words = value_member(&row, STR("line"));
        char *argv[WORDS_MAX] = { NULL };
        for (uint32_t i = 0; i < words->n; i++)
            argv[1 + i] = arena_cstr(&g.arena, value_text(&words->items[i]));
        enum err_code rc = parse(&l, 1 + (int)words->n, argv);
        CHECK_STR(argv[1], rc ? str_of(l.e.message) : STR("taken"), golden_text(&row, "message"));
        arena_fini(&l.arena);
    }
    CHECK_INT("lines", g.n, 39);
    golden_close(&g);
}

static const struct {
    const char *name, *line, *flag, *want;
} taken[] = {
    { "a range by its ends", "--service-node-port-range=100-200", "service-node-port-range", "100-200" },
    { "a range by its length", "--service-node-port-range=100+5", "service-node-port-range", "100-105" },
    { "a range of one", "--service-node-port-range=100", "service-node-port-range", "100-100" },
    { "no range", "--service-node-port-range=", "service-node-port-range", "" },
    { "an array keeps its commas", "--service-account-issuer=a,b --service-account-issuer=c", "service-account-issuer",
      "[\"a,b\",c]" },
    { "claims one by one", "--oidc-required-claim=b=c,d --oidc-required-claim=a=x=y", "oidc-required-claim", "a=x=y,b=c,d" },
    { "switches", "--runtime-config=api/all=true,apps/v1 --runtime-config=v1=false", "runtime-config",
      "api/all=true,apps/v1=,v1=false" },
    { "a float", "--goaway-chance=0.001", "goaway-chance", "0.001" },
    { "no controllers", "--controllers=", "controllers", "[]" },
    { "all controllers but one", "--controllers=*,-namespace", "controllers", "[*,-namespace]" },
    { "in memory", "--memory", "memory", "true" },
    { "etcd is passed over", "--etcd-servers=http://127.0.0.1:2379", "etcd-servers", "[http://127.0.0.1:2379]" },
};

TEST(values)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        struct line l;
        CHECK_TEXT(taken[i].name, parse_text(&l, taken[i].line) ? l.e.message : NULL, NULL);
        CHECK_STR(taken[i].name, text_of(&l, str_of(taken[i].flag)), str_of(taken[i].want));
        arena_fini(&l.arena);
    }
}

TEST(a_test_suite_that_starts_a_control_plane)
{
    struct line l;
    CHECK(!parse_text(&l, "--allow-privileged=true --authorization-mode=RBAC --etcd-servers=http://127.0.0.1:1 "
                          "--storage-media-type=application/json --apiserver-count=2"));
    CHECK_STR("idle", flag_set_idle(&apiserver_flag_set, &l.flags.given, &l.arena),
              STR("--etcd-servers, --storage-media-type, --apiserver-count"));
    CHECK(!apiserver_takes_anonymous(&l.flags) && APISERVER_FLAG_GIVEN(&l.flags, allow_privileged));
    arena_fini(&l.arena);
}

static const struct {
    const char *line;
    bool anonymous;
} anonymous[] = {
    { "", false }, /* everything is allowed: then nobody may be unknown */
    { "--authorization-mode=RBAC", false }, /* only who is asked to takes strangers */
    { "--authorization-mode=RBAC --anonymous-auth", true },
    { "--anonymous-auth=true", false },
    { "--authorization-mode=RBAC --anonymous-auth=false", false },
    { "--authorization-mode=Node,AlwaysAllow", false },
};

TEST(who_may_be_unknown)
{
    for (size_t i = 0; i < sizeof(anonymous) / sizeof(anonymous[0]); i++) {
        struct line l;
        CHECK(!parse_text(&l, anonymous[i].line));
        CHECK_INT(anonymous[i].line, apiserver_takes_anonymous(&l.flags), anonymous[i].anonymous);
        arena_fini(&l.arena);
    }
}

TEST(help)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    apiserver_flags_add_usage(&b, 0);
    CHECK(strstr(strbuf_cstr(&b), "\nEtcd flags:\n\n") && strstr(strbuf_cstr(&b), "\n      --secure-port int "));
    CHECK(!strstr(strbuf_cstr(&b), "--insecure-port") && !strstr(strbuf_cstr(&b), "--apiserver-count"));
    CHECK(strstr(strbuf_cstr(&b), "(default 30000-32767)"));
    strbuf_fini(&b);
}
