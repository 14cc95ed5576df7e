/* tests/fuzz/fuzz_explain.c - questions to a scheduler amid events that bytes choose.
 *
 * As fuzz_engine.c; after every event a pod is explained, and now and then it is asked what would place a pod, or
 * what would be if a node looked different, were new, or a pod were not there. No question changes the scheduler:
 * what decides is the same before and after, and all decisions are those of a run in which nobody asks. Each
 * explanation is sound, and what it says of an attempt is what the attempt, which takes the quick way, then does
 * (asked_engine.h). */
#include "sched/remedy.h"
#include "sched/what_if.h"
#include "tests/unit/asked_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum {
    BYTES_MAX = 400,
    REMEDIES_MAX = 3, /* of an input: each makes hundreds of attempts */
    WHAT_IFS_MAX = 12,
    CHANGES_MAX = 5, /* of one what-if */
};

struct questions {
    struct asked a; /* first: the scheduler's context */
    unsigned n_remedies, n_what_ifs;
};

static unsigned dice(struct questions *q, unsigned n)
{
    return (unsigned)rand_below(&q->a.rand, n);
}

/* Without images, as what_if.h asks of new ones. */
static const struct node *new_node(struct questions *q)
{
    struct random_world *w = &q->a.g.w;
    const struct node *node;
    strbuf_reset(&w->text);
    strbuf_printf(&w->text,
                  "{'metadata':{'name':'new','labels':{'kubernetes.io/hostname':'%s','zone':'%s'}},"
                  "'spec':{'taints':[%s]},'status':{'allocatable':{'cpu':'%u','memory':'8Gi','pods':'%u'}}}",
                  dice(q, 2) ? "new" : "h1", dice(q, 2) ? "a" : "d",
                  dice(q, 3) ? "" : "{'key':'t1','effect':'NoSchedule'}", dice(q, 9), dice(q, 4));
    CHECK(!node_decode(w->syms, TYPED_JSON, world_text(w), &node, &w->e));
    return node;
}

/* Random, and not from the choices, which are for the events. */
static const struct node *some_node(struct questions *q, unsigned number)
{
    struct random_world *w = &q->a.g.w;
    struct str choices = w->choices;
    struct rand before = w->rand;
    w->choices = (struct str){ NULL, 0 };
    rand_init(&w->rand, dice(q, 1 << 20));
    const struct node *node = random_node(w, number);
    w->rand = before;
    w->choices = choices;
    return node;
}

static void check_remedies(struct questions *q, const struct remedies *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        CHECK(r->at[i].goes_to && r->at[i].n_feasible > 0);
        CHECK(i == 0 || r->at[i - 1].size <= r->at[i].size);
        CHECK(*remedy_text(&r->at[i], &q->a.arena));
    }
    CHECK(!r->fits || r->n == 0);
}

static void ask_for_remedies(struct questions *q, const struct pod *pod)
{
    struct remedies found;
    if (q->n_remedies++ >= REMEDIES_MAX)
        return;
    remedies_find(q->a.g.sched, pod, &q->a.arena, &found);
    check_remedies(q, &found);
}

static void change_something(struct questions *q, struct what_if *w, bool *has_new)
{
    const struct cache *c = sched_cache(q->a.g.sched);
    unsigned number = dice(q, q->a.g.w.n_nodes);
    node_id row = cache_listed_node(c, node_sym(&q->a.g.w, number));
    unsigned kind = dice(q, 3);
    if (kind == 0 && !*has_new) {
        const struct node *node = new_node(q);
        what_if_new_node(w, node);
        node_unref(q->a.g.w.syms, node);
        *has_new = true;
    } else if (kind == 1 && row != NODE_NONE) {
        const struct node *node = some_node(q, number);
        what_if_node(w, row, node);
        node_unref(q->a.g.w.syms, node);
    } else if (row != NODE_NONE && c->rows.at[row].pods.n) {
        what_if_without(w, c->rows.at[row].pods.at[dice(q, (unsigned)c->rows.at[row].pods.n)]);
    }
}

static void ask_what_if(struct questions *q, const struct pod *pod)
{
    struct what_if w;
    if (q->n_what_ifs++ >= WHAT_IFS_MAX)
        return;
    what_if_begin(&w, q->a.g.sched);
    bool has_new = false;
    for (unsigned i = 1 + dice(q, CHANGES_MAX); i > 0; i--)
        change_something(q, &w, &has_new);
    struct what_if_answer answer = what_if_ask(&w, pod);
    CHECK(!answer.places || (answer.n_feasible > 0 && answer.node != SYM_NONE));
    if (dice(q, 2))
        what_if_undo(&w);
    what_if_end(&w);
}

/* About a pod without a node. */
static void ask_more(struct questions *q)
{
    struct asked *a = &q->a;
    if (!a->g.pods.n)
        return;
    const struct pod *pod = sched_pod(a->g.sched, a->g.pods.at[dice(q, (unsigned)a->g.pods.n)].uid);
    if (cache_find_pod(sched_cache(a->g.sched), pod->meta.uid))
        return;
    dump(a, &a->before);
    if (dice(q, 4) == 0)
        ask_for_remedies(q, pod);
    else
        ask_what_if(q, pod);
    dump(a, &a->after);
    CHECK_STR("after a question", strbuf_str(&a->after), strbuf_str(&a->before));
}

static uint64_t play_asked(struct sym_table *syms, uint8_t world, struct str choices)
{
    static struct questions q;
    q = (struct questions){ 0 };
    engine_init(&q.a.g, syms, world);
    asked_init(&q.a, world);
    q.a.g.w.choices = choices;
    for (; q.a.g.w.choices.n; q.a.g.step++) {
        one_step(&q.a);
        ask_more(&q);
    }
    uint64_t hash = sched_decision_hash(q.a.g.sched);
    engine_fini(&q.a.g);
    asked_fini(&q.a);
    return hash;
}

static uint64_t play_unasked(struct sym_table *syms, uint8_t world, struct str choices)
{
    struct engine g;
    engine_init(&g, syms, world);
    g.w.choices = choices;
    while (g.w.choices.n)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched);
    engine_fini(&g);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2 || n > BYTES_MAX)
        return 0;
    struct sym_table syms;
    struct str choices = { (const char *)data + 1, n - 1 };
    sym_init(&syms);
    uint64_t unasked = play_unasked(&syms, data[0], choices);
    uint32_t n_live = sym_n_live(&syms);
    CHECK(play_asked(&syms, data[0], choices) == unasked);
    CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
    sym_fini(&syms);
    return 0;
}
