/* What viewers of a running scheduler are told: everything once, then what has changed, and nothing twice. */
#include "insight/decisions.h"
#include "insight/live.h"
#include "tests/unit/insight_world.h"

struct live_world {
    struct insight_world w;
    struct insight in;
    struct live *live;
    struct decisions *decisions;
    struct live_cursor cursor;
    struct strbuf line;
};

static void live_world_init(struct live_world *l)
{
    *l = (struct live_world){ .live = live_new() };
    insight_world_init(&l->w, NULL, NULL);
    l->decisions = decisions_new(l->w.sched, &(struct decisions_options){ 0 });
    l->in = (struct insight){ l->w.sched, l->decisions, NULL };
    strbuf_init(&l->line, 16 << 20);
}

static void live_world_fini(struct live_world *l)
{
    strbuf_fini(&l->line);
    decisions_free(l->decisions);
    live_free(l->live);
    insight_world_fini(&l->w);
}

/* The next line: JSON, and with every one of the texts (in single quotes). */
static void check_line(struct live_world *l, const char *what, const char *const *texts)
{
    strbuf_reset(&l->line);
    live_tick(l->live, &l->in);
    live_add_changes(l->live, &l->in, &l->cursor, l->w.now_ms, &l->line);
    for (; *texts; texts++)
        insight_check_has(&l->line, what, insight_json(&l->w, *texts).p);
}

#define CHECK_LINE(l, what, ...) check_line((l), (what), (const char *const[]){ __VA_ARGS__, NULL })

TEST(nodes_are_told_when_they_change)
{
    struct live_world l;
    live_world_init(&l);
    insight_node(&l.w, "n0", ",'topology.kubernetes.io/zone':'z'", "", "4", "10");
    insight_node(&l.w, "n1", "", "'unschedulable':true,'taints':[{'key':'k','effect':'NoExecute'}]", "8", "20");
    CHECK_LINE(&l, "all at first", "'full':true", "'n0','z',4000,0,", "'n1','',8000,0,", ",20,0,true,['k:NoExecute']]", "'gone':[]");
    CHECK_LINE(&l, "nothing happened", "'full':false,'nodes':[],'gone':[]");
    insight_add_pod(&l.w, "p", "1500m", "", "");
    insight_run(&l.w);
    CHECK_LINE(&l, "one has a pod", "'full':false,'nodes':[[0,'n0','z',4000,1500,", ",10,1,false,[]]],'gone':[]");
    sched_node_removed(l.w.sched, sym_find(l.w.syms, STR("n1")));
    CHECK_LINE(&l, "one is gone", "'full':false,'nodes':[],'gone':[1]");
    for (int i = 0; i < CACHE_LOG_MAX + 1; i++)
        insight_node(&l.w, "n0", i % 2 ? "" : ",'a':'b'", "", "4", "10");
    CHECK_LINE(&l, "too much to tell one by one", "'full':true,'nodes':[[0,'n0'");
    l.cursor.generation += 1000;
    CHECK_LINE(&l, "another scheduler took its place", "'full':true");
    live_world_fini(&l);
}

TEST(who_waits_longest_is_told)
{
    struct live_world l;
    live_world_init(&l);
    insight_node(&l.w, "n0", "", "", "1", "10");
    insight_add_pod(&l.w, "gated", "1", "", ",'schedulingGates':[{'name':'g'}]");
    for (int i = 0; i < LIVE_WAITING_MAX + 5; i++) {
        l.w.now_ms++;
        insight_add_pod(&l.w, arena_printf(&l.w.arena, "p%d", i), "100", "", "");
    }
    insight_run(&l.w);
    l.w.now_ms += 5000;
    CHECK_LINE(&l, "counts", "'unschedulable':305,'gated':1,", "['shop','gated','gated',", "['shop','p0','unschedulable',", ",100000,1073741824]");
    const char *queue = strstr(strbuf_cstr(&l.line), "\"longest\"");
    size_t n = 0;
    for (const char *at = queue; (at = strstr(at, "[\"shop\",")) && at < strstr(queue, "\"decisions\""); at++)
        n++;
    CHECK_INT("not more than", n, LIVE_WAITING_MAX);
    live_world_fini(&l);
}

TEST(decisions_are_told_once)
{
    struct live_world l;
    live_world_init(&l);
    insight_node(&l.w, "n0", "", "", "4", "10");
    insight_node(&l.w, "n1", "", "", "4", "10");
    insight_add_pod(&l.w, "a", "1", "", "");
    insight_add_pod(&l.w, "big", "100", "", "");
    insight_run(&l.w);
    CHECK_LINE(&l, "both", "'shop','a',0,'n", "'shop','big',1,null,null,0,1,'0/2 nodes are available: 2 Insufficient cpu.", "'placed':1");
    CHECK_LINE(&l, "nothing new", "'decisions':[],");
    insight_add_pod(&l.w, "b", "1", "", "");
    insight_run(&l.w);
    CHECK_LINE(&l, "the new one", "'decisions':[[");
    CHECK(!strstr(strbuf_cstr(&l.line), "\"big\",1,null"));
    live_world_fini(&l);
}

TEST(a_node_is_told_with_its_pods)
{
    struct live_world l;
    live_world_init(&l);
    insight_node(&l.w, "n0", ",'a':'b'", "", "4", "10");
    insight_add_pod(&l.w, "p", "1", "", "");
    insight_run(&l.w);
    CHECK_INT("known", insight_node_view(&l.in, STR("name=n0"), &l.line, &l.w.e), ERR_OK);
    insight_check_has(&l.line, "pods", "\"pods\":[[\"shop\",\"p\",1000,1073741824,0,null]]");
    insight_check_has(&l.line, "labels", "\"a\":\"b\"");
    CHECK_INT("unknown", insight_node_view(&l.in, STR("name=n9"), &l.line, &l.w.e), ERR_NOT_FOUND);
    CHECK_TEXT("its words", l.w.e.message, "nodes \"n9\" not found");
    CHECK_INT("no name", insight_node_view(&l.in, STR(""), &l.line, &l.w.e), ERR_BAD_REQUEST);
    live_world_fini(&l);
}
