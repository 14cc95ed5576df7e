/* Pods of one class get the same answers (sched/class_key.h): of random pods that differ in one thing, those about which
 * any local rule says different things on any node must have different keys. And the search is good enough: it finds
 * a pair whenever any one thing is left out of the key, wherever a plugin appends it. The program is linked so
 * that what appends to keys goes through here. */
#include "sched/pod_class.h"
#include "sched/attempt.h"
#include "sched/class_key.h"
#include "tests/unit/random_world.h"

enum { BASES = 250, SITES_MAX = 64, N_NODES = 24 };

/* ---- Pods: one choice for each thing that a pod says ---- */

#define CHOICES_MAX 6

struct thing {
    const char *before, *choices[CHOICES_MAX], *after; /* texts of JSON, with ' for " */
};

/* In the order of the text. */
static const struct thing things[] = {
    { "'schedulerName':'", { "default-scheduler", "packer", "heavy", "careless" }, "'" },
    { ",'priority':", { "0", "10" }, "" },
    { "", { "", "", "", ",'nodeName':'node-1'", ",'nodeName':'node-2'" }, "" },
    { "", { "", "", ",'hostNetwork':true,'hostUsers':false" }, "" },
    { "", { "", "", ",'overhead':{'cpu':'1'}" }, "" },
    { "", { "", ",'resources':{'requests':{'cpu':'5'}}", ",'resources':{'requests':{'memory':'6Gi'}}" }, "" },
    { "", { "", "", ",'nodeSelector':{'disk':'ssd'}", ",'nodeSelector':{'disk':'hdd'}", ",'nodeSelector':{'rack':'hdd'}" }, "" },
    { ",'tolerations':[{'key':'", { "t1", "t2", "node.kubernetes.io/unschedulable" }, "'" },
    { ",'value':'", { "v", "5", "7" }, "'" },
    { ",'operator':'", { "Equal", "Gt", "Lt" }, "'" },
    { ",'effect':'", { "", "NoSchedule", "NoExecute" }, "'}" },
    { "", { "", ",{'key':'t1','operator':'Exists'}", ",{'operator':'Exists'}" }, "]" },
    { ",'affinity':{'nodeAffinity':{", { "", "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[]}" }, "}}" },
    { ",'containers':[{'name':'c','image':'", { "a:1", "b:1" }, "'" },
    { ",'resources':{'requests':{'cpu':'", { "0", "1", "3" }, "'" },
    { ",'memory':'", { "0", "1Gi", "3Gi" }, "'" },
    { "", { "", "", ",'ephemeral-storage':'3Gi'", ",'ephemeral-storage':'30Gi'" }, "" },
    { "", { "", "", ",'example.com/gpu':'1'", ",'example.com/gpu':'3'", ",'example.com/fpga':'1'" }, "" },
    { "", { "", "", ",'hugepages-2Mi':'2Mi'", ",'hugepages-2Mi':'16Mi'" }, "}}" },
    { "", { "", "", ",'restartPolicyRules':[{'action':'RestartAllContainers'}]" }, "" },
    { ",'ports':[{'containerPort':1,'hostPort':", { "80", "81", "82" }, "" },
    { "", { "", "", ",'hostIP':'10.0.0.1'", ",'hostIP':'10.0.0.2'" }, "" },
    { "", { "", "", ",'protocol':'UDP'" }, "}]}" },
    { "", { "", "", ",{'name':'bare','image':'a:1'}" }, "]" },
};

/* Pods with rules for nodes, which the list above has no room for: the same again without other things. */
static const struct thing rules[] = {
    { "'schedulerName':'", { "default-scheduler", "packer" }, "','containers':[]" },
    { ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{", { "" }, "" },
    { "'matchExpressions':[{'key':'", { "disk", "cores", "rack" }, "'" },
    { ",'operator':'", { "In", "NotIn" }, "'" },
    { ",'values':['", { "ssd", "hdd", "8", "r1" }, "'" },
    { "", { "", ",'r2'", ",'2'" }, "]}" },
    { "", { "", "", ",{'key':'cores','operator':'Gt','values':['4']}", ",{'key':'cores','operator':'Lt','values':['4']}",
            ",{'key':'cores','operator':'Gt','values':['9']}", ",{'key':'cores','operator':'Exists'}" }, "]" },
    { "", { "", "", ",'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['node-1']}]",
            ",'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['node-2']}]" }, "}" },
    { "", { "", "", ",{'matchExpressions':[{'key':'rack','operator':'Exists'}]}", ",{}",
            ",{'matchExpressions':[{'key':'rack','operator':'In','values':['#']}]}",
            ",{'matchExpressions':[{'key':'rack','operator':'DoesNotExist'}]}" }, "]}}}" },
    { "", { "", "", ",'nodeSelector':{'disk':'ssd'}", ",'nodeSelector':{'zone':'a'}" }, "" },
};

enum { CHOSEN_MAX = 32 };
_Static_assert(sizeof(things) / sizeof(things[0]) <= CHOSEN_MAX, "choices of one pod");

struct kind_of_pod {
    const struct thing *things;
    unsigned n;
};
static const struct kind_of_pod kinds[] = {
    { things, sizeof(things) / sizeof(things[0]) },
    { rules, sizeof(rules) / sizeof(rules[0]) },
};

static unsigned n_choices(const struct thing *t)
{
    unsigned n = 0;
    while (n < CHOICES_MAX && t->choices[n])
        n++;
    return n;
}

static const struct pod *make_pod(struct random_world *w, const struct kind_of_pod *k, const uint8_t *chosen, bool resized)
{
    struct strbuf *b = &w->text;
    strbuf_reset(b);
    strbuf_add_text(b, "{'metadata':{'name':'p','uid':'p','namespace':'one'},'spec':{");
    for (unsigned i = 0; i < k->n; i++)
        strbuf_printf(b, "%s%s%s", k->things[i].before, k->things[i].choices[chosen[i]], k->things[i].after);
    strbuf_printf(b, "}%s}", resized ? ",'status':{'containerStatuses':[{'name':'c','resources':{'requests':{'cpu':'6'}},"
                                       "'allocatedResources':{'cpu':'7'}}]}" : "");
    const struct pod *pod;
    if (pod_decode(w->syms, TYPED_JSON, world_text(w), &pod, &w->e))
        FAIL("pod: %s\n%s", w->e.message, strbuf_cstr(b));
    return pod;
}

/* ---- Leaving things out of keys ---- */

struct site {
    const void *caller;
    const struct plugin *plugin;
};

static struct site sites[SITES_MAX];
static unsigned n_sites;
static const struct site *silent; /* appends nothing; NULL: all do */
static const struct plugin *asked; /* whose key is being made */

static bool is_silent(const void *caller)
{
    struct site here = { caller, asked };
    if (!asked)
        return false;
    for (unsigned i = 0; i < n_sites; i++)
        if (sites[i].caller == here.caller && sites[i].plugin == here.plugin)
            return silent == &sites[i];
    CHECK(n_sites < SITES_MAX);
    sites[n_sites++] = here;
    return false;
}

void __real_class_key_num(struct strbuf *key, int64_t n);
void __wrap_class_key_num(struct strbuf *key, int64_t n);
void __wrap_class_key_num(struct strbuf *key, int64_t n)
{
    if (!is_silent(__builtin_return_address(0)))
        __real_class_key_num(key, n);
}

void __real_class_key_sym(struct strbuf *key, const struct cycle *c, sym s);
void __wrap_class_key_sym(struct strbuf *key, const struct cycle *c, sym s);
void __wrap_class_key_sym(struct strbuf *key, const struct cycle *c, sym s)
{
    if (!is_silent(__builtin_return_address(0)))
        __real_class_key_sym(key, c, s);
}

/* Plugins that tell who is asked, in place of the profile's own. */
struct traced {
    struct plugin plugin; /* first: instances point to it */
    const struct plugin *own;
};

static const struct plugin *own_of(const struct plugin_instance *p)
{
    return ((const struct traced *)(const void *)p->plugin)->own;
}

static void trace_filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    asked = own_of(p);
    asked->filter_key(p, c, key);
    asked = NULL;
}

static void trace_score_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    asked = own_of(p);
    asked->score_key(p, c, key);
    asked = NULL;
}

static void trace(struct profile *profile, struct arena *arena)
{
    for (uint8_t i = 0; i < profile->n_instances; i++) {
        struct plugin_instance *p = &profile->instances[i];
        struct traced *t = ARENA_NEW(arena, struct traced);
        *t = (struct traced){ *p->plugin, p->plugin };
        if (t->plugin.filter_key)
            t->plugin.filter_key = trace_filter_key;
        if (t->plugin.score_key)
            t->plugin.score_key = trace_score_key;
        p->plugin = &t->plugin;
    }
}

/* ---- What is known of a pod ---- */

struct known {
    const struct pod *pod;
    bool counts; /* PreFilter lets it through: its class matters */
    struct str filters, scores; /* what local rules say of all nodes */
    struct str filter_key, key; /* as memos and as classes have them */
};

struct fixture {
    struct random_world w;
    struct sym_table syms;
    struct setup setup;
    struct sched *sched;
    struct arena arena;
    VEC(struct known) all; /* pairs: the base at an even place, what differs from it in one thing after it */
};

static int64_t no_time(void *context)
{
    (void)context;
    return 1000;
}

static void say_filters(struct attempt *a, node_id row, struct strbuf *to)
{
    struct cycle *c = &a->cycle;
    const struct point_plugins *filters = &c->profile->plan.local_filters;
    struct node_view view = node_view_of(c->cache, row);
    for (uint8_t i = 0; i < filters->n; i++) {
        const struct plugin_instance *p = filters->at[i];
        if (c->skip_filter >> p->index & 1)
            continue; /* passes */
        struct filter_status status = { p->plugin->filter(p, c, &view), p };
        if (status.verdict.code == V_SUCCESS)
            continue;
        struct reasons reasons = { .arena = c->arena };
        framework_reasons(c, &status, &reasons);
        strbuf_printf(to, "%u %s %d %llx", row, p->plugin->name, status.verdict.code, (unsigned long long)status.verdict.detail);
        for (size_t k = 0; k < reasons.texts.n; k++)
            strbuf_printf(to, " %s", reasons.texts.at[k]);
        strbuf_add_char(to, '\n');
        vec_fini(&reasons.texts);
    }
}

static uint64_t prepare_scores(struct attempt *a)
{
    uint64_t active = 0;
    for (uint64_t left = a->cycle.profile->plan.local_scores; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct plugin_instance *p = a->cycle.profile->points[POINT_SCORE].at[i];
        if (p->plugin->pre_score(p, &a->cycle).code != V_SKIP)
            active |= 1ull << i;
    }
    return active;
}

static void say_scores(struct attempt *a, uint64_t active, node_id row, struct strbuf *to)
{
    struct node_view view = node_view_of(a->cycle.cache, row);
    for (uint64_t left = active; left; left &= left - 1) {
        const struct plugin_instance *p = a->cycle.profile->points[POINT_SCORE].at[__builtin_ctzll(left)];
        strbuf_printf(to, "%u %s %lld\n", row, p->plugin->name, (long long)p->plugin->score(p, &a->cycle, &view));
    }
}

static struct str keep(struct fixture *f, struct strbuf *b)
{
    struct str kept = arena_str(&f->arena, strbuf_str(b));
    strbuf_reset(b);
    return kept;
}

/* Answers, if they are not known, and keys. */
static void ask(struct fixture *f, struct known *k, bool answers)
{
    struct attempt a;
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    k->counts = attempt_begin(f->sched, &a, k->pod, (struct attempt_wants){ 0 }) && attempt_pre_filter(&a);
    const struct cache *cache = sched_cache(f->sched);
    if (k->counts) {
        uint64_t active = prepare_scores(&a);
        for (size_t i = 0; answers && i < cache->order.n; i++)
            say_filters(&a, cache->order.at[i], &b);
        k->filters = answers ? keep(f, &b) : k->filters;
        for (size_t i = 0; answers && i < cache->order.n; i++)
            say_scores(&a, active, cache->order.at[i], &b);
        k->scores = answers ? keep(f, &b) : k->scores;
        pod_class_key(&b, &a.cycle, 0);
        k->filter_key = keep(f, &b);
        pod_class_key(&b, &a.cycle, active);
        k->key = keep(f, &b);
    }
    strbuf_fini(&b);
}

static void add_pair(struct fixture *f, const struct kind_of_pod *kind)
{
    struct random_world *w = &f->w;
    uint8_t chosen[CHOSEN_MAX];
    bool resized = chance(w, 10);
    for (unsigned i = 0; i < kind->n; i++)
        chosen[i] = (uint8_t)below(w, n_choices(&kind->things[i]));
    for (unsigned i = 0; i <= kind->n; i++) {
        struct known base = { .pod = make_pod(w, kind, chosen, resized) }, other = { 0 };
        uint8_t before = chosen[i % kind->n];
        if (i < kind->n)
            chosen[i] = (uint8_t)below(w, n_choices(&kind->things[i]));
        other.pod = make_pod(w, kind, chosen, resized ^ (i == kind->n));
        chosen[i % kind->n] = before;
        vec_push(&f->all, base);
        vec_push(&f->all, other);
    }
}

static void add_cluster(struct fixture *f)
{
    struct random_world *w = &f->w;
    for (unsigned i = 0; i < N_NODES; i++) {
        const struct node *node = random_node(w, i);
        sched_node_set(f->sched, node);
        node_unref(&f->syms, node);
    }
    static const char *const nodes[] = {
        "'labels':{'disk':'hdd','cores':'5'}},'spec':{'taints':[{'key':'t1','value':'6','effect':'NoSchedule'}]}",
        "'labels':{'rack':'hdd','zone':'a'}},'spec':{'taints':[{'key':'t2','value':'v','effect':'NoExecute'}]}",
        "'labels':{'rack':'r2','cores':'8'}},'spec':{'unschedulable':true}",
        "'labels':{'cores':'ssd'}},'status':{'declaredFeatures':['RestartAllContainersOnContainerExits'],'allocatable':"
        "{'cpu':'8','memory':'8Gi','pods':'9','ephemeral-storage':'9Gi','example.com/gpu':'2','hugepages-2Mi':'8Mi'}}",
        "'labels':{'disk':'r1'}},'status':{'declaredFeatures':['UserNamespacesHostNetworkSupport'],'allocatable':"
        "{'cpu':'9','memory':'7Gi','pods':'9','example.com/fpga':'2'}}",
    };
    for (unsigned i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        const struct node *node;
        strbuf_reset(&w->text);
        strbuf_printf(&w->text, "{'metadata':{'name':'more-%u',%s%s}", i, nodes[i],
                      strstr(nodes[i], "status") ? "" : ",'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':'9'}}");
        if (node_decode(w->syms, TYPED_JSON, world_text(w), &node, &w->e))
            FAIL("node: %s", w->e.message);
        sched_node_set(f->sched, node);
        node_unref(&f->syms, node);
    }
    for (unsigned i = 0; i < 2 * N_NODES; i++) {
        const char *name = arena_printf(&w->texts, "placed-%u", i);
        struct pod_text text = { .name = name, .uid = name, .version = 1, .node = node_name_of(w, below(w, N_NODES)) };
        const struct pod *pod = pod_of_shape(w, &w->shapes[below(w, N_SHAPES)], &text);
        sched_pod_set(f->sched, pod);
        pod_unref(&f->syms, pod);
    }
}

static void begin(struct fixture *f, uint64_t seed)
{
    *f = (struct fixture){ 0 };
    sym_init(&f->syms);
    arena_init(&f->arena);
    random_world_init(&f->w, &f->syms, seed, N_NODES);
    /* Without TaintToleration, whose key has all tolerations, those who read one of them must say so themselves. */
    const char *config = arena_printf(&f->arena, "%.*s- schedulerName: careless\n"
                                      "  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}\n",
                                      STR_ARG(world_config()));
    if (setup_from_text(&f->setup, &f->syms, str_of(config), world_registry(), &f->w.e))
        FAIL("%s", f->w.e.message);
    f->setup.features.taint_toleration_comparison_operators = true;
    for (uint32_t i = 0; i < f->setup.n_profiles; i++)
        trace(f->setup.profiles[i], &f->arena);
    f->sched = sched_new(&(struct sched_options){ .syms = &f->syms,
                                                  .profiles = f->setup.profiles,
                                                  .n_profiles = f->setup.n_profiles,
                                                  .features = f->setup.features,
                                                  .io = { .now_ms = no_time, .wall_s = no_time },
                                                  .seed = seed });
    add_cluster(f);
    for (unsigned i = 0; i < BASES; i++)
        add_pair(f, &kinds[i % 2]);
    for (size_t i = 0; i < f->all.n; i++)
        ask(f, &f->all.at[i], true);
}

static void untrace(struct profile *profile)
{
    for (uint8_t i = 0; i < profile->n_instances; i++)
        profile->instances[i].plugin = own_of(&profile->instances[i]);
}

static void end(struct fixture *f)
{
    for (size_t i = 0; i < f->all.n; i++)
        pod_unref(&f->syms, f->all.at[i].pod);
    vec_fini(&f->all);
    sched_free(f->sched);
    for (uint32_t i = 0; i < f->setup.n_profiles; i++)
        untrace(f->setup.profiles[i]);
    random_world_fini(&f->w);
    setup_fini(&f->setup);
    arena_fini(&f->arena);
    sym_fini(&f->syms);
}

/* ---- The property ---- */

/* Two pods of one key that get different answers. */
static bool is_wrong(const struct known *a, const struct known *b)
{
    if (!a->counts || !b->counts)
        return false;
    bool filters_differ = !str_eq(a->filters, b->filters), scores_differ = !str_eq(a->scores, b->scores);
    return (filters_differ && str_eq(a->filter_key, b->filter_key)) ||
           ((filters_differ || scores_differ) && str_eq(a->key, b->key));
}

static unsigned count_wrong(const struct fixture *f, const struct known **ret_first)
{
    unsigned n = 0;
    for (size_t i = 0; i + 1 < f->all.n; i += 2)
        if (is_wrong(&f->all.at[i], &f->all.at[i + 1]) && n++ == 0)
            *ret_first = &f->all.at[i];
    return n;
}

TEST(pods_with_different_answers_have_different_keys)
{
    struct fixture f;
    begin(&f, seed_of_test(11));
    const struct known *first = NULL;
    unsigned n = count_wrong(&f, &first), n_different = 0, n_alike = 0;
    if (n)
        FAIL("%u pairs; of the first, one key for\n%.*s%.*sand\n%.*s%.*s", n, STR_ARG(first[0].filters),
             STR_ARG(first[0].scores), STR_ARG(first[1].filters), STR_ARG(first[1].scores));
    for (size_t i = 0; i < f.all.n; i += 2) {
        bool count = f.all.at[i].counts && f.all.at[i + 1].counts;
        bool same = str_eq(f.all.at[i].key, f.all.at[i + 1].key);
        n_different += count && !same;
        n_alike += count && same;
    }
    printf("%u pairs of different classes, %u of one\n", n_different, n_alike);
    CHECK(n_different > BASES);
    CHECK(n_alike > BASES); /* what no local rule reads makes no class of its own */
    end(&f);
}

TEST(whatever_a_key_forgets_is_found)
{
    struct fixture f;
    begin(&f, 12);
    unsigned n = n_sites, n_survived = 0;
    for (unsigned s = 0; s < n; s++) {
        const struct known *first = NULL;
        silent = &sites[s];
        for (size_t i = 0; i < f.all.n; i++)
            ask(&f, &f.all.at[i], false);
        unsigned n_wrong = count_wrong(&f, &first);
        printf("%s, place %u: %u wrong\n", sites[s].plugin->name, s, n_wrong);
        n_survived += n_wrong == 0;
    }
    silent = NULL;
    CHECK(n >= 15); /* there is something in the keys at all */
    CHECK_INT("forgotten and not found", n_survived, 0);
    end(&f);
}

/* Every rule with a key is asked for it, so that the test above covers all plugins. */
TEST(all_local_plugins_are_covered)
{
    struct fixture f;
    begin(&f, 12);
    for (const struct plugin *const *p = plugin_registry; *p; p++) {
        bool has_key = ((*p)->filter_key && (*p)->filter_key != class_key_nothing) || (*p)->score_key, covered = false;
        for (unsigned s = 0; s < n_sites; s++)
            covered |= sites[s].plugin == *p;
        CHECK_INT((*p)->name, covered, has_key);
    }
    end(&f);
}
