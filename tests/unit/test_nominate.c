/* Pods that have been promised a node. */
#include "sched/nominate.h"

#include "tests/unit/cluster.h"

struct setup {
    struct cluster cl;
    struct nominator *n;
    sym n1, n2, n3;
};

static void setup_init(struct setup *s)
{
    cluster_init(&s->cl, &nodename_plugin, NULL);
    s->n = &s->cl.sched.nominator;
    s->n1 = sym_intern_static(&s->cl.syms, STR("n1"));
    s->n2 = sym_intern_static(&s->cl.syms, STR("n2"));
    s->n3 = sym_intern_static(&s->cl.syms, STR("n3"));
}

static const struct pod *pod_of(struct setup *s, const char *name, const char *nominated)
{
    return cluster_decode_pod(&s->cl, "{'metadata':{'name':'%s','namespace':'ns','uid':'uid-%s'},"
                              "'status':{'nominatedNodeName':'%s'}}", name, name, nominated);
}

static void add(struct setup *s, const char *name, const char *nominated, sym decided)
{
    const struct pod *pod = pod_of(s, name, nominated);
    nominator_add(s->n, pod, decided);
    pod_unref(&s->cl.syms, pod);
}

static void update(struct setup *s, const char *old_nominated, const char *nominated)
{
    const struct pod *old = pod_of(s, "p", old_nominated), *pod = pod_of(s, "p", nominated);
    nominator_update(s->n, old, pod);
    pod_unref(&s->cl.syms, old);
    pod_unref(&s->cl.syms, pod);
}

static const char *node_of(struct setup *s, const char *uid)
{
    return sym_text(&s->cl.syms, nominator_node_of(s->n, uid)).p;
}

/* "a b": who is nominated there. */
static const char *pods_on(struct setup *s, sym node)
{
    const struct nominated_list *list = nominator_on(s->n, node);
    const char *text = "";
    for (size_t i = 0; list && i < list->pods.n; i++)
        text = arena_printf(&s->cl.texts, "%s%s%s", text, i ? " " : "", list->pods.at[i]->pod->meta.name);
    return text;
}

TEST(what_a_cycle_decided_counts_before_what_the_pod_says)
{
    struct setup s;
    setup_init(&s);
    add(&s, "none", "", SYM_NONE);
    CHECK_TEXT("neither", node_of(&s, "uid-none"), "");
    add(&s, "own", "n1", SYM_NONE);
    CHECK_TEXT("its own", node_of(&s, "uid-own"), "n1");
    add(&s, "both", "n1", s.n2);
    CHECK_TEXT("both", node_of(&s, "uid-both"), "n2");
    add(&s, "both", "n1", SYM_EMPTY);
    CHECK_TEXT("an empty decision ends it", node_of(&s, "uid-both"), "");
    CHECK_TEXT("an unknown pod", node_of(&s, "uid-unknown"), "");
    cluster_fini(&s.cl);
}

TEST(a_pod_is_nominated_once)
{
    struct setup s;
    setup_init(&s);
    add(&s, "a", "n1", SYM_NONE);
    add(&s, "b", "n1", SYM_NONE);
    add(&s, "c", "n1", SYM_NONE);
    CHECK_TEXT("in the order of arrival", pods_on(&s, s.n1), "a b c");
    add(&s, "a", "n2", SYM_NONE);
    CHECK_TEXT("moved away", pods_on(&s, s.n1), "b c");
    CHECK_TEXT("to another node", pods_on(&s, s.n2), "a");
    nominator_remove(s.n, "uid-a");
    nominator_remove(s.n, "uid-a");
    CHECK("nobody is left" && !nominator_on(s.n, s.n2));
    nominator_remove(s.n, "uid-b");
    CHECK_TEXT("the other stays", pods_on(&s, s.n1), "c");
    cluster_fini(&s.cl);
}

TEST(an_update_keeps_what_only_the_scheduler_knows)
{
    static const struct {
        const char *what, *decided, *old, *now, *want;
    } table[] = {
        { "nothing anywhere", "", "", "", "" },
        { "neither version knows of the decision", "n3", "", "", "n3" },
        { "the new version names a node", "n3", "", "n1", "n1" },
        { "another component changes it", "n3", "n1", "n2", "n2" },
        { "another component ends it", "n3", "n1", "", "" },
        { "the version that comes is the first one to name it", "", "", "n1", "n1" },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct setup s;
        setup_init(&s);
        if (table[i].decided[0])
            add(&s, "p", table[i].old, sym_find(&s.cl.syms, str_of(table[i].decided)));
        update(&s, table[i].old, table[i].now);
        CHECK_TEXT(table[i].what, node_of(&s, "uid-p"), table[i].want);
        cluster_fini(&s.cl);
    }
}

/* Whoever keeps something computed with a list knows by its version whether it is the same. */
TEST(a_list_never_has_a_version_twice)
{
    struct setup s;
    setup_init(&s);
    add(&s, "a", "n1", SYM_NONE);
    uint64_t first = nominator_on(s.n, s.n1)->version;
    nominator_remove(s.n, "uid-a");
    add(&s, "a", "n1", SYM_NONE);
    uint64_t second = nominator_on(s.n, s.n1)->version;
    CHECK(second > first);
    add(&s, "b", "n2", SYM_NONE);
    CHECK_INT("another node", nominator_on(s.n, s.n1)->version, second);
    add(&s, "c", "n1", SYM_NONE);
    uint64_t third = nominator_on(s.n, s.n1)->version;
    CHECK(third > second);
    CHECK_INT("the newest", s.n->last_version, third);
    CHECK_INT("its node", s.n->changes[third % NOMINATOR_LOG_MAX], s.n1);
    cluster_fini(&s.cl);
}
