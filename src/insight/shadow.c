/* insight/shadow.c - see shadow.h. */
#include "insight/shadow.h"

#include "api/time.h"
#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "insight/query.h"
#include "sched/decision.h"
#include "sched/trial.h"

static const char *const class_names[N_SHADOW_CLASSES] = { "same",    "equal",   "lower",    "refused",
                                                           "nowhere", "promised", "notCompared" };

/* Texts are in the record's own arena. */
struct disagreement {
    uint64_t sequence;
    int64_t wall_ns;
    enum shadow_class class;
    struct arena arena;
    const char *ns, *name, *uid, *theirs;
    const char *ours;   /* NULL: nowhere */
    const char *plugin; /* that makes the difference; NULL: no single one */
    const char *reason; /* of a refusal; NULL: the node was compared */
    int64_t their_total, our_total;
    const char **plugins; /* by position at POINT_SCORE */
    int64_t *differences; /* ours less theirs, weighted */
    uint32_t n_plugins;
};

struct shadow {
    struct sched *sched;
    struct sym_table *syms;
    const struct clock *clock;
    struct shadow_counts counts;
    struct disagreement kept[SHADOW_KEPT_MAX]; /* a ring by sequence */
    uint64_t n_disagreements;
    int64_t log_minute;
    uint32_t n_logs; /* in it */
};

struct shadow *shadow_new(struct sched *s, const struct clock *clock)
{
    struct shadow *h = mem_zalloc(sizeof(*h));
    h->sched = s;
    h->syms = sched_cache(s)->syms;
    h->clock = clock ? clock : &clock_real;
    for (size_t i = 0; i < SHADOW_KEPT_MAX; i++)
        arena_init(&h->kept[i].arena);
    return h;
}

void shadow_free(struct shadow *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < SHADOW_KEPT_MAX; i++)
        arena_fini(&h->kept[i].arena);
    free(h);
}

const struct shadow_counts *shadow_counts(const struct shadow *h)
{
    return &h->counts;
}

const char *shadow_class_name(enum shadow_class class)
{
    return class_names[class];
}

/* ---- One comparison ---- */

struct comparison {
    struct shadow *h;
    struct attempt *a;
    const struct pod *pod; /* as it was */
    node_id theirs;
    struct filter_status refusal; /* REFUSED, NOWHERE */
    struct decision_node ours_scored, theirs_scored; /* LOWER */
};

/* Why berth does not put the pod there; V_SUCCESS: it would. */
static struct filter_status status_of(struct comparison *c)
{
    struct attempt *a = c->a;
    if (a->pre_filter_message)
        return (struct filter_status){ a->pre_filter, a->pre_filter_plugin };
    bool outside = a->narrowed.given;
    for (uint32_t i = 0; i < a->narrowed.n; i++)
        outside &= a->narrowed.at[i] != a->cycle.cache->rows.at[c->theirs].name;
    uint64_t mask = a->narrowing_plugins;
    bool one = mask && !(mask & (mask - 1));
    if (outside)
        return (struct filter_status){ a->cycle.absent_status.verdict,
                                       one ? &a->cycle.profile->instances[__builtin_ctzll(mask)] : NULL };
    struct node_view view = node_view_of(a->cycle.cache, c->theirs);
    return framework_filter(&a->cycle, &view);
}

static enum shadow_class compare(struct comparison *c)
{
    struct attempt *a = c->a;
    if (a->outcome == ATTEMPT_ERROR)
        return SHADOW_NOT_COMPARED;
    if (a->outcome == ATTEMPT_FITS && a->node == c->theirs)
        return SHADOW_SAME;
    c->refusal = status_of(c);
    if (c->refusal.verdict.code == V_ERROR)
        return SHADOW_NOT_COMPARED;
    if (a->outcome == ATTEMPT_REJECTED)
        return SHADOW_NOWHERE;
    if (c->refusal.verdict.code != V_SUCCESS)
        return SHADOW_REFUSED;
    if (a->nominated_node_used)
        return SHADOW_PROMISED;
    if (!decision_score(a, a->node, &c->ours_scored) || !decision_score(a, c->theirs, &c->theirs_scored))
        return SHADOW_NOT_COMPARED;
    return c->ours_scored.total == c->theirs_scored.total ? SHADOW_EQUAL : SHADOW_LOWER;
}

/* ---- What is kept of it ---- */

static const struct plugin_instance *decisive_plugin(const struct comparison *c)
{
    const struct point_plugins *points = &c->a->cycle.profile->points[POINT_SCORE];
    const struct plugin_instance *most = NULL;
    int64_t largest = 0;
    for (uint8_t i = 0; i < points->n; i++) {
        int64_t difference = c->ours_scored.scores[i] - c->theirs_scored.scores[i];
        if (difference <= largest)
            continue;
        largest = difference;
        most = points->at[i];
    }
    return most;
}

static void count_plugin(struct shadow *h, const struct plugin_instance *p, bool lower)
{
    struct shadow_counts *c = &h->counts;
    uint32_t i = 0;
    while (p && i < c->n_plugins && c->plugins[i].name != p->plugin->name)
        i++;
    if (!p || i == SHADOW_PLUGINS_MAX)
        return;
    c->n_plugins += i == c->n_plugins;
    c->plugins[i].name = p->plugin->name;
    *(lower ? &c->plugins[i].n_lower : &c->plugins[i].n_refused) += 1;
}

static const char *reason_of(struct comparison *c, struct arena *to)
{
    struct reasons reasons = { .arena = c->a->cycle.arena };
    framework_reasons(&c->a->cycle, &c->refusal, &reasons);
    const char *text = reasons.texts.n ? reasons.texts.at[0] : "no reason given";
    const char *copy = arena_cstr(to, (struct str){ text, strnlen(text, SHADOW_REASON_BYTES_MAX) });
    vec_fini(&reasons.texts);
    return copy;
}

static void keep_scores(const struct comparison *c, struct disagreement *d)
{
    const struct point_plugins *points = &c->a->cycle.profile->points[POINT_SCORE];
    d->our_total = c->ours_scored.total;
    d->their_total = c->theirs_scored.total;
    d->n_plugins = points->n;
    d->plugins = ARENA_NEW_N(&d->arena, const char *, points->n);
    d->differences = ARENA_NEW_N(&d->arena, int64_t, points->n);
    for (uint8_t i = 0; i < points->n; i++) {
        d->plugins[i] = points->at[i]->plugin->name;
        d->differences[i] = c->ours_scored.scores[i] - c->theirs_scored.scores[i];
    }
}

static const char *copy_sym(const struct shadow *h, struct arena *a, sym id)
{
    return arena_cstr(a, sym_text(h->syms, id));
}

static void log_line(struct shadow *h, const struct disagreement *d)
{
    int64_t minute = clock_mono_ns(h->clock) / (60ll * CLOCK_NS_PER_SECOND);
    if (minute != h->log_minute) {
        h->log_minute = minute;
        h->n_logs = 0;
    }
    if (h->n_logs++ >= SHADOW_LOGS_MAX) {
        h->counts.n_logs_left_out++;
        return;
    }
    LOG(0, "Another scheduler chose otherwise", KO("pod", d->ns, d->name), KS("class", class_names[d->class]),
        KS("node", d->theirs), KS("berthNode", d->ours), KS("plugin", d->plugin), KS("reason", d->reason),
        KI("scoreDifference", d->our_total - d->their_total));
}

static void keep(struct comparison *c, enum shadow_class class)
{
    struct shadow *h = c->h;
    const struct cache *cache = c->a->cycle.cache;
    struct disagreement *d = &h->kept[h->n_disagreements % SHADOW_KEPT_MAX];
    struct arena arena = d->arena;
    bool lower = class == SHADOW_LOWER, refused = class == SHADOW_REFUSED || class == SHADOW_NOWHERE;
    const struct plugin_instance *plugin = lower ? decisive_plugin(c) : refused ? c->refusal.plugin : NULL;
    arena_reset(&arena);
    *d = (struct disagreement){ .sequence = ++h->n_disagreements, .wall_ns = clock_wall_ns(h->clock), .class = class,
                                .arena = arena };
    d->ns = copy_sym(h, &d->arena, c->pod->meta.ns);
    d->name = arena_cstr(&d->arena, str_of(c->pod->meta.name));
    d->uid = arena_cstr(&d->arena, str_of(c->pod->meta.uid));
    d->theirs = copy_sym(h, &d->arena, cache->rows.at[c->theirs].name);
    d->ours = class == SHADOW_NOWHERE ? NULL : copy_sym(h, &d->arena, cache->rows.at[c->a->node].name);
    d->plugin = plugin ? plugin->plugin->name : NULL;
    d->reason = refused ? reason_of(c, &d->arena) : NULL;
    if (lower)
        keep_scores(c, d);
    count_plugin(h, plugin, lower);
    log_line(h, d);
}

/* ---- A pod ---- */

static bool can_be_compared(const struct shadow *h, const struct pod *before, const struct pod *after)
{
    return before && sched_profile(h->sched, before->scheduler_name) &&
           cache_listed_node(sched_cache(h->sched), after->node_name) != NODE_NONE;
}

enum shadow_class shadow_pod_bound(struct shadow *h, const struct pod *before, const struct pod *after)
{
    enum shadow_class class = SHADOW_NOT_COMPARED;
    if (before && before->node_name != SYM_EMPTY)
        return class;
    cache_update_order(sched_cache(h->sched)); /* as the next attempt would: a node may have come since the last */
    if (can_be_compared(h, before, after)) {
        struct trial t;
        bool promised = before->nominated_node != SYM_EMPTY;
        trial_begin(&t, h->sched, before, (struct attempt_wants){ .scores = true, .all_nodes = !promised });
        trial_run(&t);
        struct comparison c = { .h = h, .a = &t.attempt, .pod = before,
                                .theirs = cache_listed_node(sched_cache(h->sched), after->node_name) };
        class = compare(&c);
        if (class != SHADOW_SAME && class != SHADOW_EQUAL && class != SHADOW_NOT_COMPARED)
            keep(&c, class);
        trial_end(&t);
    }
    h->counts.n[class]++;
    return class;
}

/* ---- JSON ---- */

static void add_text(struct strbuf *to, const char *key, const char *text)
{
    strbuf_printf(to, ",\"%s\":", key);
    if (text)
        json_add_string(to, str_of(text));
    else
        STRBUF_ADD_LIT(to, "null");
}

static void add_differences(struct strbuf *to, const struct disagreement *d)
{
    strbuf_printf(to, ",\"total\":%lld,\"berthTotal\":%lld,\"differences\":{", (long long)d->their_total,
                  (long long)d->our_total);
    for (uint32_t i = 0; i < d->n_plugins; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, str_of(d->plugins[i]));
        strbuf_printf(to, ":%lld", (long long)d->differences[i]);
    }
    strbuf_add_char(to, '}');
}

static void add_disagreement(struct strbuf *to, const struct disagreement *d)
{
    strbuf_printf(to, "{\"sequence\":%llu,\"time\":\"", (unsigned long long)d->sequence);
    timestamp_add_micro(to, timestamp_unix(0, d->wall_ns));
    STRBUF_ADD_LIT(to, "\",\"pod\":{\"namespace\":");
    json_add_string(to, str_of(d->ns));
    add_text(to, "name", d->name);
    add_text(to, "uid", d->uid);
    strbuf_printf(to, "},\"class\":\"%s\"", class_names[d->class]);
    add_text(to, "node", d->theirs);
    add_text(to, "berthNode", d->ours);
    add_text(to, "plugin", d->plugin);
    add_text(to, "reason", d->reason);
    if (d->class == SHADOW_LOWER)
        add_differences(to, d);
    strbuf_add_char(to, '}');
}

static void add_counts(struct strbuf *to, const struct shadow *h)
{
    const struct shadow_counts *c = &h->counts;
    uint64_t n_compared = 0;
    for (int i = 0; i < SHADOW_NOT_COMPARED; i++)
        n_compared += c->n[i];
    strbuf_printf(to, "{\"kind\":\"Shadow\",\"version\":1,\"compared\":%llu,\"agreed\":%llu,\"classes\":{",
                  (unsigned long long)n_compared, (unsigned long long)(c->n[SHADOW_SAME] + c->n[SHADOW_EQUAL]));
    for (int i = 0; i < N_SHADOW_CLASSES; i++)
        strbuf_printf(to, "%s\"%s\":%llu", i ? "," : "", class_names[i], (unsigned long long)c->n[i]);
    STRBUF_ADD_LIT(to, "},\"plugins\":[");
    for (uint32_t i = 0; i < c->n_plugins; i++) {
        strbuf_add_text(to, i ? ",{\"name\":" : "{\"name\":");
        json_add_string(to, str_of(c->plugins[i].name));
        strbuf_printf(to, ",\"lower\":%llu,\"refused\":%llu}", (unsigned long long)c->plugins[i].n_lower,
                      (unsigned long long)c->plugins[i].n_refused);
    }
    strbuf_printf(to, "],\"logLinesLeftOut\":%llu", (unsigned long long)c->n_logs_left_out);
}

static bool is_wanted(const struct disagreement *d, struct str class, struct str plugin)
{
    return (!class.p || str_is(class, class_names[d->class])) && (!plugin.p || (d->plugin && str_is(plugin, d->plugin)));
}

static enum err_code check_class(struct str class, struct err *e)
{
    for (int i = SHADOW_LOWER; i < SHADOW_NOT_COMPARED; i++)
        if (!class.p || str_is(class, class_names[i]))
            return ERR_OK;
    return err_set(e, ERR_BAD_REQUEST, "class is lower, refused, nowhere or promised");
}

enum err_code insight_shadow(const struct shadow *h, struct str query, struct strbuf *to, struct err *e)
{
    struct str limit = { NULL, 0 }, class = limit, plugin = limit;
    const struct query_field fields[] = { { "limit", &limit }, { "class", &class }, { "plugin", &plugin }, { NULL, NULL } };
    uint32_t n_max = SHADOW_LIMIT, n = 0;
    if (query_parse(query, fields, e) || query_number(limit, "limit", SHADOW_KEPT_MAX, &n_max, e) || check_class(class, e))
        return e->code;
    uint64_t n_kept = h->n_disagreements < SHADOW_KEPT_MAX ? h->n_disagreements : SHADOW_KEPT_MAX;
    add_counts(to, h);
    strbuf_printf(to, ",\"disagreementsKept\":%llu,\n\"disagreements\":[", (unsigned long long)n_kept);
    for (uint64_t i = 0; i < n_kept && n < n_max; i++) {
        const struct disagreement *d = &h->kept[(h->n_disagreements - 1 - i) % SHADOW_KEPT_MAX];
        if (!is_wanted(d, class, plugin))
            continue;
        strbuf_add_text(to, n++ ? ",\n" : "\n");
        add_disagreement(to, d);
    }
    STRBUF_ADD_LIT(to, "]}\n");
    return to->overflow ? err_set(e, ERR_TOO_LARGE, "the answer is too large: ask for fewer with limit") : ERR_OK;
}
