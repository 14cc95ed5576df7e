/* Questions to a running scheduler: explanations and what-ifs say what is so, refuse what makes no sense, and change nothing. */
#include "codec/json_scan.h"
#include "insight/decisions.h"
#include "insight/insight.h"
#include "insight/query.h"
#include "sched/extender.h"
#include "tests/unit/asked_engine.h"
#include "tests/unit/insight_world.h"

enum { ANSWER_BYTES_MAX = 4 << 20 };

/* ---- Queries ---- */

TEST(queries_are_read_strictly)
{
    static const struct {
        const char *query, *a, *b, *error; /* "": given and empty; NULL: not given */
    } rows[] = {
        { "", NULL, NULL, NULL },
        { "a=1&b=2", "1", "2", NULL },
        { "a=x%2Fy+z&", "x/y z", NULL, NULL },
        { "a=", "", NULL, NULL },
        { "a", "", NULL, NULL },
        { "%61=%e2%82%ac", "\xe2\x82\xac", NULL, NULL },
        { "c=1", NULL, NULL, "the query has an unknown name: \"c\"" },
        { "a=1&a=2", NULL, NULL, "given twice in the query: \"a\"" },
        { "a=%4", NULL, NULL, "this part of the query does not decode: \"a=%4\"" },
        { "a=%zz", NULL, NULL, "this part of the query does not decode: \"a=%zz\"" },
        { "a=%00", NULL, NULL, "this part of the query does not decode: \"a=%00\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena arena;
        struct err e;
        arena_init(&arena);
        err_init(&e, &arena);
        struct str a = { NULL, 0 }, b = a;
        const struct query_field fields[] = { { "a", &a }, { "b", &b }, { NULL, NULL } };
        enum err_code code = query_parse(str_of(rows[i].query), fields, &e);
        CHECK_INT(rows[i].query, code, rows[i].error ? ERR_BAD_REQUEST : ERR_OK);
        if (rows[i].error) {
            CHECK_TEXT(rows[i].query, e.message, rows[i].error);
        } else {
            CHECK_INT(rows[i].query, a.p != NULL, rows[i].a != NULL);
            CHECK_INT(rows[i].query, b.p != NULL, rows[i].b != NULL);
            CHECK_STR(rows[i].query, a, str_of(rows[i].a ? rows[i].a : ""));
            CHECK_STR(rows[i].query, b, str_of(rows[i].b ? rows[i].b : ""));
        }
        arena_fini(&arena);
    }
}

TEST(long_queries_are_refused)
{
    struct arena arena;
    struct err e;
    static char text[QUERY_BYTES_MAX + 2];
    memset(text, '&', QUERY_BYTES_MAX + 1);
    arena_init(&arena);
    err_init(&e, &arena);
    const struct query_field none[] = { { NULL, NULL } };
    CHECK_INT("too long", query_parse((struct str){ text, QUERY_BYTES_MAX + 1 }, none, &e), ERR_BAD_REQUEST);
    CHECK_INT("just so", query_parse((struct str){ text, QUERY_BYTES_MAX }, none, &e), ERR_OK);
    arena_fini(&arena);
}

/* ---- A small shop ---- */

struct shop {
    struct insight_world w;
    struct decisions *decisions;
    struct clock_manual clock;
    struct insight in;
    struct strbuf answer;
};

/* Three nodes; "cart" runs on one, "big" fits nowhere, "held" has a gate. */
static void shop_open(struct shop *s)
{
    insight_world_init(&s->w, NULL, NULL);
    clock_manual_init(&s->clock, 0, 1800000000ll * CLOCK_NS_PER_SECOND);
    s->decisions = decisions_new(s->w.sched, &(struct decisions_options){ .clock = &s->clock.clock });
    s->in = (struct insight){ .sched = s->w.sched, .decisions = s->decisions };
    strbuf_init(&s->answer, ANSWER_BYTES_MAX);
    insight_node(&s->w, "n1", ",'disk':'ssd'", "", "4", "110");
    insight_node(&s->w, "n2", "", "", "4", "110");
    insight_node(&s->w, "n3", "", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]", "16", "110");
    insight_add_pod(&s->w, "cart", "1", ",'ownerReferences':[{'kind':'ReplicaSet','name':'cart-1','uid':'r','apiVersion':'apps/v1','controller':true}]",
                    ",'nodeSelector':{'disk':'ssd'}");
    insight_add_pod(&s->w, "big", "8", "", "");
    insight_add_pod(&s->w, "held", "1", "", ",'schedulingGates':[{'name':'g'}]");
    insight_run(&s->w);
}

static void shop_close(struct shop *s)
{
    strbuf_fini(&s->answer);
    decisions_free(s->decisions);
    insight_world_fini(&s->w);
}

static void check_json(struct shop *s)
{
    if (json_check(strbuf_str(&s->answer), &s->w.e))
        FAIL("%s: %s", s->w.e.message, strbuf_cstr(&s->answer));
}

static void explain(struct shop *s, const char *query)
{
    strbuf_reset(&s->answer);
    if (insight_explain(&s->in, str_of(query), &s->answer, &s->w.e))
        FAIL("%s: %s", query, s->w.e.message);
    check_json(s);
}

static void check_no_answer(struct shop *s, const char *query, enum err_code code, const char *message)
{
    strbuf_reset(&s->answer);
    CHECK_INT(query, insight_explain(&s->in, str_of(query), &s->answer, &s->w.e), code);
    CHECK_TEXT(query, s->w.e.message, message);
    CHECK_INT("nothing was said", s->answer.n, 0);
}

TEST(a_pod_is_explained_with_the_decision_that_placed_it)
{
    struct shop s;
    shop_open(&s);
    explain(&s, "pod=shop/cart");
    insight_check_has(&s.answer, "pod", "\"pod\":{\"namespace\":\"shop\",\"name\":\"cart\",\"owner\":\"ReplicaSet shop/cart-1\"");
    insight_check_has(&s.answer, "state", "\"state\":\"running\",\n\"node\":\"n1\",\n\"outcome\":\"fits\",\n\"chosen\":\"n1\"");
    insight_check_has(&s.answer, "decision", ",\n\"decision\":{\"sequence\":1,\"time\":\"2027-01-15T08:00:00.000000Z\"");
    insight_check_has(&s.answer, "its outcome", "\"attempt\":1,\"outcome\":\"placed\",\"node\":\"n1\",\"message\":null,\"nodes\":3,\"feasible\":1");
    CHECK(!insight_has(&s.answer, "\"remedies\""));
    shop_close(&s);
}

TEST(a_pending_pod_comes_with_remedies_unless_nobody_wants_them)
{
    struct shop s;
    shop_open(&s);
    explain(&s, "pod=shop/big");
    insight_check_has(&s.answer, "state", "\"state\":\"pending\"");
    insight_check_has(&s.answer, "remedies", "\"remedies\":[\n{\"kind\":\"tolerate\"");
    insight_check_has(&s.answer, "decision", "\"outcome\":\"unschedulable\",\"node\":null,\"message\":\"0/3 nodes are available:");
    explain(&s, "pod=shop/big&remedies=false");
    CHECK(!insight_has(&s.answer, "\"remedies\""));
    insight_check_has(&s.answer, "refused", "\"name\":\"n3\",\"plugin\":\"TaintToleration\"");
    explain(&s, "pod=shop%2Fbig&nodes=1&remedies=0");
    insight_check_has(&s.answer, "the first", "\"refused\":[\n{\"name\":\"n1\"");
    CHECK(!insight_has(&s.answer, "{\"name\":\"n2\""));
    insight_check_has(&s.answer, "all are counted", "\"refused\":3}");
    shop_close(&s);
}

/* Every reading is a second later. */
static int64_t hasty_ns(const struct clock *c)
{
    struct clock_manual *m = (struct clock_manual *)(uintptr_t)c;
    return atomic_fetch_add(&m->mono_ns, CLOCK_NS_PER_SECOND);
}

TEST(the_search_for_remedies_ends_in_time)
{
    struct shop s;
    shop_open(&s);
    struct clock_manual hasty;
    clock_manual_init(&hasty, 0, 0);
    hasty.clock.mono_ns = hasty_ns;
    s.in.clock = &hasty.clock;
    explain(&s, "pod=shop/big");
    insight_check_has(&s.answer, "none in time", "\"remedies\":[],\n\"remediesTried\":1,\"remediesCut\":true");
    shop_close(&s);
}

TEST(explanations_of_nothing_are_refused)
{
    struct shop s;
    shop_open(&s);
    check_no_answer(&s, "", ERR_BAD_REQUEST, "which pod? say pod=NAMESPACE/NAME");
    check_no_answer(&s, "pod=cart", ERR_BAD_REQUEST, "a pod is named NAMESPACE/NAME, not: \"cart\"");
    check_no_answer(&s, "pod=shop/", ERR_BAD_REQUEST, "a pod is named NAMESPACE/NAME, not: \"shop/\"");
    check_no_answer(&s, "pod=shop/cart&nodes=0", ERR_BAD_REQUEST, "nodes is a number from 1 to 5000");
    check_no_answer(&s, "pod=shop/cart&nodes=5001", ERR_BAD_REQUEST, "nodes is a number from 1 to 5000");
    check_no_answer(&s, "pod=shop/cart&nodes=99999999999", ERR_BAD_REQUEST, "nodes is a number from 1 to 5000");
    check_no_answer(&s, "pod=shop/cart&remedies=maybe", ERR_BAD_REQUEST, "remedies is true or false");
    check_no_answer(&s, "pod=other/cart", ERR_NOT_FOUND,
                  "pods \"cart\" not found in namespace other: the scheduler knows no unfinished pod of that name");
    sched_pod_removed(s.w.sched, "uid-cart");
    check_no_answer(&s, "pod=shop/cart", ERR_NOT_FOUND,
                  "pods \"cart\" not found in namespace shop; it was there: 1 of the last decisions are about it, see "
                  "/berth/v1/decisions");
    s.answer.max = 100;
    strbuf_reset(&s.answer);
    CHECK_INT("no room", insight_explain(&s.in, STR("pod=shop/big"), &s.answer, &s.w.e), ERR_TOO_LARGE);
    shop_close(&s);
}

/* ---- Decisions by query ---- */

static void ask_decisions(struct shop *s, const char *query, const char *want)
{
    strbuf_reset(&s->answer);
    if (insight_decisions(s->decisions, str_of(query), &s->answer, &s->w.e))
        FAIL("%s: %s", query, s->w.e.message);
    check_json(s);
    insight_check_has(&s->answer, query, want);
}

TEST(decisions_are_found_by_pod_node_time_and_outcome)
{
    struct shop s;
    shop_open(&s);
    clock_manual_advance(&s.clock, 60ll * CLOCK_NS_PER_SECOND);
    insight_add_pod(&s.w, "late", "1", "", "");
    insight_run(&s.w);
    ask_decisions(&s, "", "{\"kind\":\"Decisions\",\"version\":1,\"kept\":3,\"dropped\":0,\"decisions\":[\n{\"sequence\":3,\"time\":\"2027-01-15T08:01:00.000000Z\"");
    ask_decisions(&s, "limit=1", "\"more\":true}");
    CHECK(!insight_has(&s.answer, "\"sequence\":2"));
    ask_decisions(&s, "limit=3", "\"more\":false}");
    ask_decisions(&s, "pod=shop/cart", "\"decisions\":[\n{\"sequence\":1,");
    CHECK(!insight_has(&s.answer, "\"sequence\":3"));
    ask_decisions(&s, "outcome=unschedulable", "\"decisions\":[\n{\"sequence\":2,");
    ask_decisions(&s, "outcome=error", "\"decisions\":[],\"more\":false}");
    ask_decisions(&s, "node=n1&outcome=placed&pod=shop/cart", "\"decisions\":[\n{\"sequence\":1,");
    ask_decisions(&s, "node=n9", "\"decisions\":[],");
    ask_decisions(&s, "pod=nowhere/x", "\"decisions\":[],");
    ask_decisions(&s, "since=30s", "\"decisions\":[\n{\"sequence\":3,");
    CHECK(!insight_has(&s.answer, "\"sequence\":2"));
    ask_decisions(&s, "since=2027-01-15T08:00:30Z", "\"decisions\":[\n{\"sequence\":3,");
    CHECK(!insight_has(&s.answer, "\"sequence\":2"));
    ask_decisions(&s, "since=9999-01-15T08:00:30Z", "\"decisions\":[],");
    ask_decisions(&s, "outcome=placed&limit=1", "\"best\":[{\"name\":\"n2\",\"total\":");
    insight_check_has(&s.answer, "a refused node", "\"reasons\":[{\"plugin\":\"TaintToleration\",\"reason\":\"node(s) had untolerated taint(s)\",\"code\":\"UnschedulableAndUnresolvable\",\"count\":1}],\"notLookedAt\":0}");
    static const char *const bad[] = { "limit=0", "limit=1001", "outcome=good", "since=yesterday", "since=-5m", "x=1", "pod=a" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK_INT(bad[i], insight_decisions(s.decisions, str_of(bad[i]), &s.answer, &s.w.e), ERR_BAD_REQUEST);
    shop_close(&s);
}

TEST(decisions_end_at_their_number_and_at_their_bytes)
{
    struct insight_world w;
    insight_world_init(&w, NULL, NULL);
    insight_node(&w, "n1", "", "", "400", "1000");
    insight_node(&w, "n2", "", "", "400", "1000");
    struct decisions *d = decisions_new(w.sched, &(struct decisions_options){ .n_max = 10 });
    for (int i = 0; i < 25; i++)
        insight_add_pod(&w, arena_printf(&w.arena, "p%d", i), "10m", "", "");
    insight_run(&w);
    struct decisions_counts c = decisions_counts(d);
    CHECK_INT("kept", c.n, 10);
    CHECK_INT("dropped", c.n_dropped, 15);
    decisions_free(d);
    d = decisions_new(w.sched, &(struct decisions_options){ .bytes_max = 1 }); /* counts as DECISIONS_BYTES_MIN */
    for (int i = 0; i < 1500; i++)
        insight_add_pod(&w, arena_printf(&w.arena, "q%d", i), "10m", "", "");
    insight_run(&w);
    c = decisions_counts(d);
    CHECK(c.n > 100 && c.n < 1500 && c.n_bytes <= DECISIONS_BYTES_MIN);
    CHECK_INT("all in all", c.n + c.n_dropped, 1500);
    struct strbuf last;
    strbuf_init(&last, STRBUF_NO_MAX);
    CHECK(decisions_add_of_pod(d, "uid-q1499", true, &last));
    CHECK(!decisions_add_of_pod(d, "uid-q0", true, &last));
    strbuf_fini(&last);
    decisions_free(d);
    insight_world_fini(&w);
}

/* ---- What if ---- */

static void what_if(struct shop *s, const char *body, const char *const *wants)
{
    strbuf_reset(&s->answer);
    if (insight_what_if(&s->in, insight_json(&s->w, body), &s->answer, &s->w.e))
        FAIL("%s: %s", body, s->w.e.message);
    check_json(s);
    for (; *wants; wants++)
        insight_check_has(&s->answer, body, *wants);
}

TEST(what_ifs_are_answered)
{
    static const struct {
        const char *body;
        const char *wants[4];
    } rows[] = {
        { "{'pod':'shop/big'}",
          { "\"now\":{\"places\":false,\"node\":null,\"nodes\":3,\"feasible\":0,\"message\":\"0/3 nodes are available:",
            "\"difference\":{\"places\":\"same\",\"sameNode\":true,\"fits\":[],\"fitsCount\":0,\"fitsNoMore\":[],\"fitsNoMoreCount\":0}" } },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n3','removeTaints':[{'key':'k'}]}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n3\",\"nodes\":3,\"feasible\":1,\"message\":null",
            "\"difference\":{\"places\":\"gained\",\"sameNode\":false,\"fits\":[\"n3\"],\"fitsCount\":1" } },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n3','removeTaints':[{'key':'k','effect':'NoExecute'}]}}]}",
          { "\"then\":{\"places\":false" } },
        { "{'pod':'shop/big','changes':[{'pod':{'addTolerations':[{'key':'k','operator':'Equal','value':'v'}]}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n3\"" } },
        { "{'pod':'shop/big','changes':[{'pod':{'addTolerations':[{'key':'k','value':'w'}]}}]}", { "\"then\":{\"places\":false" } },
        { "{'pod':'shop/big','changes':[{'pod':{'addTolerations':[{'operator':'Exists'}]}}]}", { "\"then\":{\"places\":true" } },
        { "{'pod':'shop/big','changes':[{'pod':{'requests':{'cpu':'3500m'}}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n2\",\"nodes\":3,\"feasible\":1" } },
        { "{'pod':'shop/big','changes':[{'pod':{'requests':{'cpu':'3500m'}}},{'evict':['shop/cart']}]}",
          { "\"podsLifted\":1", "\"feasible\":2,\"message\":null" } },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n2','allocatable':{'cpu':'8'}}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n2\"" } },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n2','allocatable':{'cpu':'8'},'cordoned':true}}]}",
          { "\"then\":{\"places\":false", "node(s) were unschedulable" } },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n2','cordoned':true}},{'node':{'name':'n2','allocatable':{'cpu':'8'},'cordoned':false}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n2\"" } },
        { "{'pod':'shop/big','changes':[{'addNodes':{'like':'n3','count':2}}]}",
          { "\"newNodes\":[\"n3-new\",\"n3-new-2\"]", "\"then\":{\"places\":false,\"node\":null,\"nodes\":5" } },
        { "{'pod':'shop/big','changes':[{'addNodes':{'like':'n1','count':2,'allocatable':{'cpu':'9'}}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n1-new", "\"nodes\":5,\"feasible\":2" } },
        { "{'pod':'shop/cart','changes':[{'node':{'name':'n1','labels':{'disk':null}}}]}",
          { "\"pod\":{\"namespace\":\"shop\",\"name\":\"cart\",\"node\":\"n1\"}", "\"now\":{\"places\":true,\"node\":\"n1\"",
            "\"difference\":{\"places\":\"lost\",\"sameNode\":false,\"fits\":[],\"fitsCount\":0,\"fitsNoMore\":[\"n1\"]" } },
        { "{'pod':'shop/cart','changes':[{'node':{'name':'n1','labels':{'disk':null}}},{'node':{'name':'n2','labels':{'disk':'ssd'}}}]}",
          { "\"then\":{\"places\":true,\"node\":\"n2\"", "\"difference\":{\"places\":\"same\",\"sameNode\":false" } },
        { "{'pod':'shop/cart','changes':[{'pod':{'nodeSelector':{'disk':null}}}]}", { "\"feasible\":2,\"message\":null" } },
        { "{'pod':'shop/cart','changes':[{'pod':{'drop':['nodeSelector']}}]}", { "\"feasible\":2,\"message\":null" } },
        { "{'pod':'shop/cart','changes':[{'removeNode':'n1'}]}",
          { "\"podsLifted\":1", "\"then\":{\"places\":false,\"node\":null,\"nodes\":2,\"feasible\":0",
            "\"reason\":\"node(s) didn't match Pod's node affinity/selector\",\"code\":\"UnschedulableAndUnresolvable\",\"count\":1,\"nodes\":[\"n2\"]" } },
        { "{'pod':'shop/cart','changes':[{'drain':'n1'}]}", { "\"then\":{\"places\":false,\"node\":null,\"nodes\":3" } },
        { "{'pod':'shop/held'}", { "\"now\":{\"places\":false,\"node\":null", "\"notTried\":\"waiting for scheduling gates:" } },
        { "{'pod':'shop/held','changes':[{'pod':{'drop':['gates']}}]}", { "\"difference\":{\"places\":\"gained\"" } },
        { "{'manifest':{'metadata':{'name':'new'},'spec':{'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'2'}}}]}}}",
          { "\"pod\":{\"namespace\":\"default\",\"name\":\"new\",\"node\":null}", "\"now\":{\"places\":true,\"node\":\"n2\"" } },
        { "{'manifest':{'kind':'Pod','apiVersion':'v1','metadata':{},'spec':{'priority':5,'containers':[{'name':'c','image':'i','resources':"
          "{'requests':{'cpu':'3500m'}}}],'nodeSelector':{'disk':'ssd'}}}}",
          { "\"now\":{\"places\":false,\"node\":null", "\"wouldPreemptOn\":\"n1\",\"victims\":1" } },
        { "{'pod':'shop/big','changes':[{'pod':{'priority':-3}}],'nodes':1}", { "\"count\":2,\"nodes\":[\"n1\"]" } },
    };
    struct shop s;
    shop_open(&s);
    uint64_t hash = sched_decision_hash(s.w.sched);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        what_if(&s, rows[i].body, rows[i].wants);
    CHECK(sched_decision_hash(s.w.sched) == hash);
    shop_close(&s);
}

TEST(what_ifs_that_make_no_sense_are_refused)
{
    static const struct {
        const char *body;
        enum err_code code;
        const char *message; /* begins with this */
    } rows[] = {
        { "", ERR_BAD_REQUEST, "unexpected end" },
        { "[]", ERR_BAD_REQUEST, "the question: an object is expected" },
        { "{}", ERR_BAD_REQUEST, "the question: about which pod? give pod or manifest" },
        { "{'pod':'shop/big','manifest':{}}", ERR_BAD_REQUEST, "the question: about which pod?" },
        { "{'pod':'shop/big','x':1}", ERR_BAD_REQUEST, "the question: unknown member \"x\"" },
        { "{'pod':7}", ERR_BAD_REQUEST, "pod: a string is expected" },
        { "{'pod':'big'}", ERR_BAD_REQUEST, "pod: a pod is named \"NAMESPACE/NAME\"" },
        { "{'pod':'shop/none'}", ERR_NOT_FOUND, "pod: pods \"none\" not found in namespace shop" },
        { "{'pod':'shop/big','nodes':0}", ERR_BAD_REQUEST, "nodes: a number" },
        { "{'pod':'shop/big','changes':{}}", ERR_BAD_REQUEST, "changes: a list" },
        { "{'pod':'shop/big','changes':[{}]}", ERR_BAD_REQUEST, "changes[0]: a change is an object with one member" },
        { "{'pod':'shop/big','changes':[{'drain':'n1','evict':[]}]}", ERR_BAD_REQUEST, "changes[0]: a change is an object" },
        { "{'pod':'shop/big','changes':[{'drain':'n1'},{'nope':1}]}", ERR_BAD_REQUEST, "changes[1]: a change is one of" },
        { "{'pod':'shop/big','changes':[{'drain':'n9'}]}", ERR_NOT_FOUND, "changes[0].drain: nodes \"n9\" not found" },
        { "{'pod':'shop/big','changes':[{'removeNode':'n1'},{'drain':'n1'}]}", ERR_NOT_FOUND, "changes[1].drain: nodes \"n1\"" },
        { "{'pod':'shop/big','changes':[{'node':{'labels':{}}}]}", ERR_BAD_REQUEST, "changes[0].node: which node?" },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','labels':{'a':1}}}]}", ERR_BAD_REQUEST, "changes[0].node: a string" },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','addTaints':[{'key':'a'}]}}]}", ERR_BAD_REQUEST,
          "changes[0].node: a taint has a key and an effect" },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','addTaints':[{'key':'a','effect':'Never'}]}}]}", ERR_BAD_REQUEST,
          "changes[0].node: an effect is" },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','allocatable':{'cpu':'many'}}}]}", ERR_BAD_REQUEST, "changes[0].node: " },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','allocatable':{'cpu':'-1'}}}]}", ERR_BAD_REQUEST,
          "changes[0].node: an amount is below 0" },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','allocatable':{'tea':'1'}}}]}", ERR_BAD_REQUEST,
          "changes[0].node: this is no name of a resource" },
        { "{'pod':'shop/big','changes':[{'node':{'name':'n1','cordoned':1}}]}", ERR_BAD_REQUEST, "changes[0].node: cordoned is" },
        { "{'pod':'shop/big','changes':[{'addNodes':{'count':1}}]}", ERR_BAD_REQUEST, "changes[0].addNodes: like which node?" },
        { "{'pod':'shop/big','changes':[{'addNodes':{'like':'n1','count':1001}}]}", ERR_BAD_REQUEST, "changes[0].addNodes: count is" },
        { "{'pod':'shop/big','changes':[{'addNodes':{'like':'n1','count':600}},{'addNodes':{'like':'n1','count':600}}]}", ERR_BAD_REQUEST,
          "changes[1].addNodes: at most 1000" },
        { "{'pod':'shop/big','changes':[{'evict':['shop/none']}]}", ERR_NOT_FOUND, "changes[0].evict: pods \"none\" not found" },
        { "{'pod':'shop/big','changes':[{'pod':{'requests':{'pods':'1'}}}]}", ERR_BAD_REQUEST, "changes[0].pod: of requests only" },
        { "{'pod':'shop/big','changes':[{'pod':{'drop':['all']}}]}", ERR_BAD_REQUEST, "changes[0].pod: drop is a list of" },
        { "{'pod':'shop/big','changes':[{'pod':{'priority':'high'}}]}", ERR_BAD_REQUEST, "changes[0].pod: priority is" },
        { "{'manifest':{'spec':{'containers':[{'name':'c','cpu':1}]}}}", ERR_BAD_REQUEST, "manifest: " },
        { "{'manifest':{'kind':'Node','apiVersion':'v1'}}", ERR_BAD_REQUEST, "manifest: " },
        { "{'manifest':[]}", ERR_BAD_REQUEST, "manifest: a Pod is expected" },
    };
    struct shop s;
    shop_open(&s);
    uint32_t n_live = sym_n_live(s.w.syms);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        strbuf_reset(&s.answer);
        enum err_code code = insight_what_if(&s.in, insight_json(&s.w, rows[i].body), &s.answer, &s.w.e);
        CHECK_INT(rows[i].body, code, rows[i].code);
        if (strncmp(s.w.e.message, rows[i].message, strlen(rows[i].message)) != 0)
            FAIL("%s: %s, want %s", rows[i].body, s.w.e.message, rows[i].message);
        CHECK_INT("nothing was said", s.answer.n, 0);
    }
    CHECK_INT("syms that nobody gave up", sym_n_live(s.w.syms), n_live);
    char *large = calloc(1, INSIGHT_BODY_BYTES_MAX + 1);
    CHECK_INT("large", insight_what_if(&s.in, (struct str){ large, INSIGHT_BODY_BYTES_MAX + 1 }, &s.answer, &s.w.e), ERR_TOO_LARGE);
    free(large);
    shop_close(&s);
}

/* The zone of a node that is removed is not there either: it asks for no pod of its own. */
TEST(the_domain_of_a_removed_node_goes_with_it)
{
    struct shop s;
    shop_open(&s);
    insight_node(&s.w, "a", ",'zone':'a'", "", "40", "110");
    insight_node(&s.w, "b", ",'zone':'b'", "", "1", "110");
    static const char spread[] = ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule',"
                                 "'labelSelector':{'matchLabels':{'app':'s'}}}]";
    insight_add_pod(&s.w, "s1", "2", ",'labels':{'app':'s'}", spread);
    insight_add_pod(&s.w, "s2", "2", ",'labels':{'app':'s'}", spread); /* b is too small, and a would have one more */
    insight_run(&s.w);
    what_if(&s, "{'pod':'shop/s2','changes':[{'removeNode':'b'}]}",
            (const char *const[]){ "\"now\":{\"places\":false", "\"then\":{\"places\":true,\"node\":\"a\",\"nodes\":4,", NULL });
    shop_close(&s);
}

TEST(many_pods_may_be_named)
{
    struct shop s;
    shop_open(&s);
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&body, "{'pod':'shop/big','changes':[{'evict':[");
    for (int i = 0; i < 200; i++) {
        insight_add_pod(&s.w, arena_printf(&s.w.arena, "p%d", i), "1m", "", "");
        strbuf_printf(&body, "'shop/p%d',", i);
    }
    insight_run(&s.w);
    STRBUF_ADD_LIT(&body, "'shop/p7','shop/held']}]}"); /* twice, and one that is nowhere */
    what_if(&s, strbuf_cstr(&body), (const char *const[]){ "\"podsLifted\":200,", NULL });
    strbuf_reset(&body);
    STRBUF_ADD_LIT(&body, "{'pod':'shop/big','changes':[{'evict':['shop/p0','shop/p1','shop/p2','shop/p3','shop/p4','shop/nobody']}]}");
    CHECK_INT("nobody", insight_what_if(&s.in, insight_json(&s.w, strbuf_cstr(&body)), &s.answer, &s.w.e), ERR_NOT_FOUND);
    strbuf_fini(&body);
    shop_close(&s);
}

TEST(with_extenders_there_is_no_answer)
{
    struct shop s;
    shop_open(&s);
    s.w.sched->n_extenders = 1;
    CHECK_INT("extenders", insight_what_if(&s.in, insight_json(&s.w, "{'pod':'shop/big'}"), &s.answer, &s.w.e), ERR_INVALID);
    CHECK(strstr(s.w.e.message, "extenders are configured"));
    s.w.sched->n_extenders = 0;
    shop_close(&s);
}

/* ---- Amid random events ---- */

enum { RUNS = 16, RUNS_IN_SOAK = 150, STEPS = 900 };

struct asking {
    struct asked a; /* first: the scheduler's context */
    struct strbuf body, answer;
    unsigned n_answers, n_refused, n_gained, n_lost;
};

static const char *some_node_name(struct asking *x)
{
    return node_name_of(&x->a.g.w, (unsigned)rand_below(&x->a.rand, x->a.g.w.n_nodes));
}

static void add_pod_name(struct asking *x)
{
    const struct engine *g = &x->a.g;
    const struct truth *t = &g->pods.at[rand_below(&x->a.rand, g->pods.n)];
    const struct pod *pod = sched_pod(g->sched, t->uid);
    strbuf_printf(&x->body, "\"%s/%s\"", sym_text(g->w.syms, pod->meta.ns).p, pod->meta.name);
}

static void add_change(struct asking *x)
{
    struct strbuf *b = &x->body;
    switch (rand_below(&x->a.rand, 9)) {
    case 0:
        strbuf_printf(b, "{\"node\":{\"name\":\"%s\",\"labels\":{\"zone\":\"%s\",\"extra\":\"1\"}}}", some_node_name(x),
                      rand_below(&x->a.rand, 2) ? "a" : "q");
        break;
    case 1:
        strbuf_printf(b, "{\"node\":{\"name\":\"%s\",\"addTaints\":[{\"key\":\"t9\",\"effect\":\"NoSchedule\"}]}}", some_node_name(x));
        break;
    case 2:
        strbuf_printf(b, "{\"node\":{\"name\":\"%s\",\"removeTaints\":[{\"key\":\"t1\"}],\"cordoned\":false,\"allocatable\":"
                      "{\"cpu\":\"64\",\"example.com/gpu\":\"9\"}}}", some_node_name(x));
        break;
    case 3:
        strbuf_printf(b, "{\"addNodes\":{\"like\":\"%s\",\"count\":%u}}", some_node_name(x), 1 + (unsigned)rand_below(&x->a.rand, 70));
        break;
    case 4:
        strbuf_printf(b, "{\"removeNode\":\"%s\"}", some_node_name(x));
        break;
    case 5:
        strbuf_printf(b, "{\"drain\":\"%s\"}", some_node_name(x));
        break;
    case 6:
        STRBUF_ADD_LIT(b, "{\"evict\":[");
        add_pod_name(x);
        STRBUF_ADD_LIT(b, ",");
        add_pod_name(x);
        STRBUF_ADD_LIT(b, "]}");
        break;
    case 7:
        STRBUF_ADD_LIT(b, "{\"pod\":{\"drop\":[\"gates\",\"nodeSelector\",\"nodeAffinity\",\"podAffinity\",\"podAntiAffinity\","
                       "\"topologySpreadConstraints\",\"hostPorts\"]}}");
        break;
    default:
        STRBUF_ADD_LIT(b, "{\"pod\":{\"requests\":{\"cpu\":\"1m\",\"memory\":\"1\"},\"addTolerations\":[{\"operator\":\"Exists\"}],"
                       "\"nodeSelector\":{\"new\":\"label\"},\"priority\":9}}");
    }
}

static void add_question(struct asking *x)
{
    strbuf_reset(&x->body);
    if (rand_below(&x->a.rand, 4)) {
        STRBUF_ADD_LIT(&x->body, "{\"pod\":");
        add_pod_name(x);
    } else {
        STRBUF_ADD_LIT(&x->body, "{\"manifest\":{\"metadata\":{\"name\":\"asked\",\"labels\":{\"app\":\"a\"}},\"spec\":{\"containers\":[{"
                       "\"name\":\"c\",\"image\":\"i\"}]}}");
    }
    STRBUF_ADD_LIT(&x->body, ",\"changes\":[");
    for (uint64_t i = 0, n = rand_below(&x->a.rand, 5); i < n; i++) {
        strbuf_add_text(&x->body, i ? "," : "");
        add_change(x);
    }
    STRBUF_ADD_LIT(&x->body, "]}");
}

static void ask_once(struct asking *x)
{
    struct asked *a = &x->a;
    struct insight in = { .sched = a->g.sched };
    struct err e;
    bool compares = rand_below(&a->rand, DUMP_EVERY) == 0;
    if (!a->g.pods.n)
        return;
    arena_reset(&a->arena);
    err_init(&e, &a->arena);
    add_question(x);
    if (compares)
        dump(a, &a->before);
    strbuf_reset(&x->answer);
    enum err_code code = insight_what_if(&in, strbuf_str(&x->body), &x->answer, &e);
    if (code && code != ERR_NOT_FOUND) /* a node may not be there */
        FAIL("%s: %s", strbuf_cstr(&x->body), e.message);
    if (!code && json_check(strbuf_str(&x->answer), &e))
        FAIL("%s", e.message);
    x->n_answers += !code;
    x->n_refused += code != ERR_OK;
    x->n_gained += !code && insight_has(&x->answer, "\"places\":\"gained\"");
    x->n_lost += !code && insight_has(&x->answer, "\"places\":\"lost\"");
    if (!compares)
        return;
    dump(a, &a->after);
    if (!str_eq(strbuf_str(&a->after), strbuf_str(&a->before)))
        FAIL("seed %llu, step %u: %s changed the scheduler", (unsigned long long)a->g.seed, a->g.step, strbuf_cstr(&x->body));
}

static uint64_t run_unasked(struct sym_table *syms, uint64_t seed)
{
    struct engine g;
    engine_init(&g, syms, seed);
    for (g.step = 0; g.step < STEPS; g.step++)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched);
    engine_fini(&g);
    return hash;
}

static uint64_t run_asking(struct sym_table *syms, uint64_t seed, struct asking *x)
{
    engine_init(&x->a.g, syms, seed);
    asked_init(&x->a, seed);
    for (x->a.g.step = 0; x->a.g.step < STEPS; x->a.g.step++) {
        step_explained(&x->a);
        ask_once(x);
    }
    uint64_t hash = sched_decision_hash(x->a.g.sched);
    engine_fini(&x->a.g);
    asked_fini(&x->a);
    return hash;
}

TEST(what_ifs_change_nothing)
{
    uint64_t seed = seed_of_test(1);
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? RUNS_IN_SOAK : RUNS;
    struct asking *x = calloc(1, sizeof(*x));
    strbuf_init(&x->body, STRBUF_NO_MAX);
    strbuf_init(&x->answer, STRBUF_NO_MAX);
    for (unsigned i = 0; i < n; i++) {
        struct sym_table syms;
        sym_init(&syms);
        uint64_t unasked = run_unasked(&syms, seed + i);
        uint32_t n_live = sym_n_live(&syms);
        if (run_asking(&syms, seed + i, x) != unasked)
            FAIL("seed %llu: being asked led to other decisions", (unsigned long long)(seed + i));
        CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
        sym_fini(&syms);
    }
    printf("%u answers (%u gained a place, %u lost it), %u refused\n", x->n_answers, x->n_gained, x->n_lost, x->n_refused);
    CHECK(x->n_answers > 0 && x->n_gained > 0 && x->n_lost > 0 && x->n_refused > 0);
    strbuf_fini(&x->body);
    strbuf_fini(&x->answer);
    free(x);
}
