/* tests/fuzz/fuzz_insight.c - any bytes as questions to a running scheduler: the first byte says whether the rest is the body of a
 * what-if, or the query of an explanation, of decisions, or of a shadow.
 *
 * Answers are JSON and bounded, refusals have a message, and no question leaves a trace: the scheduler is the same afterwards, and
 * so is the number of syms. */
#include "codec/json_scan.h"
#include "insight/decisions.h"
#include "insight/insight.h"
#include "insight/shadow.h"
#include "sched/dump.h"
#include "tests/unit/insight_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { ANSWER_BYTES_MAX = 1 << 20, BYTES_MAX = 16 << 10 };

struct cluster {
    struct insight_world w;
    struct decisions *decisions;
    struct shadow *shadow;
    struct strbuf before, after, answer;
};

static struct cluster *open_cluster(void)
{
    struct cluster *c = calloc(1, sizeof(*c));
    insight_world_init(&c->w, NULL, NULL);
    c->decisions = decisions_new(c->w.sched, &(struct decisions_options){ 0 });
    c->shadow = shadow_new(c->w.sched, NULL);
    strbuf_init(&c->before, STRBUF_NO_MAX);
    strbuf_init(&c->after, STRBUF_NO_MAX);
    strbuf_init(&c->answer, ANSWER_BYTES_MAX);
    insight_node(&c->w, "n1", ",'disk':'ssd','zone':'a'", "", "4", "110");
    insight_node(&c->w, "n2", ",'zone':'b'", "'unschedulable':true", "4", "110");
    insight_node(&c->w, "n3", ",'zone':'b'", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]", "16", "3");
    insight_add_pod(&c->w, "cart", "1", ",'labels':{'app':'a'}", ",'nodeSelector':{'disk':'ssd'}");
    insight_add_pod(&c->w, "big", "8", "", "");
    insight_add_pod(&c->w, "held", "1", "", ",'schedulingGates':[{'name':'g'}]");
    insight_run(&c->w);
    return c;
}

static void dump(struct cluster *c, struct strbuf *to)
{
    strbuf_reset(to);
    strbuf_printf(to, "%llu\n", (unsigned long long)sched_decision_hash(c->w.sched));
    dump_nodes(sched_cache(c->w.sched), sched_nominator(c->w.sched), to);
    dump_queue_summary(sched_queue(c->w.sched), to);
    dump_queue_pods(sched_queue(c->w.sched), c->w.syms, to);
}

static enum err_code ask(struct cluster *c, uint8_t kind, struct str text, struct err *e)
{
    struct insight in = { .sched = c->w.sched, .decisions = c->decisions };
    switch (kind % 4) {
    case 0:
        return insight_what_if(&in, text, &c->answer, e);
    case 1:
        return insight_explain(&in, text, &c->answer, e);
    case 2:
        return insight_decisions(c->decisions, text, &c->answer, e);
    default:
        return insight_shadow(c->shadow, text, &c->answer, e);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct cluster *c;
    struct arena arena;
    struct err e;
    if (n < 1 || n > BYTES_MAX)
        return 0;
    if (!c)
        c = open_cluster();
    arena_init(&arena);
    err_init(&e, &arena);
    uint32_t n_live = sym_n_live(c->w.syms);
    dump(c, &c->before);
    strbuf_reset(&c->answer);
    enum err_code code = ask(c, data[0], (struct str){ (const char *)data + 1, n - 1 }, &e);
    if (code)
        CHECK(e.message && *e.message && (code == ERR_TOO_LARGE || c->answer.n == 0));
    else
        CHECK(!json_check(strbuf_str(&c->answer), &e));
    dump(c, &c->after);
    CHECK_STR("after a question", strbuf_str(&c->after), strbuf_str(&c->before));
    CHECK_INT("syms that nobody gave up", sym_n_live(c->w.syms), n_live);
    arena_fini(&arena);
    return 0;
}
