/* tests/unit/sched_story.c - see sched_story.h. */
#include "tests/unit/sched_story.h"

#include <stdlib.h>

#include "sched/nominate.h"
#include "sched/queue.h"
#include "sched/sched_priv.h"
#include "tests/unit/metric_facts.h"

enum { WORDS_MAX = 16, REQUESTS_MAX = 64 };

/* A binding or an eviction that has gone out. */
struct request {
    io_ticket ticket;
    bool is_eviction;
    char pod[32];
};

struct story {
    const char *what, *command;
    struct sched_world w;
    struct strbuf said, evicted;
    struct request requests[REQUESTS_MAX];
    int n_requests;
    const char *last_message; /* of a failure */
    int version, n_noted; /* evictions that events told of */
    char *words[WORDS_MAX];
    int n_words;
};

#define STORY_FAIL(s, ...)                                                                 \
    do {                                                                                   \
        fprintf(stderr, "in \"%s\", at \"%s\":\n", (s)->what, (s)->command);               \
        FAIL(__VA_ARGS__);                                                                 \
    } while (0)

static struct story *story; /* one at a time: plugins have no way to it */

/* ---- What goes out ---- */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_printf(&story->said, "%s%s", story->said.n ? " / " : "", arena_vprintf(&story->w.arena, format, args));
    va_end(args);
}

static void note_request(io_ticket ticket, bool is_eviction, const char *pod)
{
    CHECK(story->n_requests < REQUESTS_MAX);
    struct request *r = &story->requests[story->n_requests++];
    *r = (struct request){ ticket, is_eviction, "" };
    snprintf(r->pod, sizeof(r->pod), "%s", pod);
}

static const char *node_text(sym node)
{
    return node == SYM_EMPTY ? "-" : sym_text(&story->w.syms, node).p;
}

static void bind(void *context, io_ticket ticket, const struct pod *pod, sym node)
{
    (void)context;
    note_request(ticket, false, pod->meta.name);
    say("bind %s %s", pod->meta.name, node_text(node));
}

static void evict(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor)
{
    (void)context;
    note_request(ticket, true, victim->meta.name);
    strbuf_printf(&story->evicted, " %s ", victim->meta.name);
    say("evict %s for %s", victim->meta.name, preemptor->meta.name);
}

static void patch_status(void *context, const struct status_change *change)
{
    (void)context;
    if (change->has_condition) {
        story->last_message = arena_cstr(&story->w.arena, str_of(change->message));
        say("%s %s", change->failure == FAILURE_UNSCHEDULABLE ? "refused" : "error", change->pod->meta.name);
    }
    bool is_news = change->nomination != SYM_EMPTY || !change->has_condition ||
                   change->pod->nominated_node != SYM_EMPTY;
    if (change->set_nomination && is_news)
        say("nominate %s %s", change->pod->meta.name, node_text(change->nomination));
}

/* Whether the eviction of a pod has been asked for in this story. */
static bool was_evicted(const char *pod)
{
    const char *line = arena_printf(&story->w.arena, " %s ", pod);
    return strstr(strbuf_cstr(&story->evicted), line) != NULL;
}

static void event(void *context, const struct event_note *note)
{
    (void)context;
    const char *name = note->regarding->meta.name;
    if (note->warning)
        story->last_message = arena_cstr(&story->w.arena, str_of(note->note));
    else if (strcmp(note->reason, "Scheduled") == 0)
        say("scheduled %s", name);
    else if (was_evicted(name))
        story->n_noted++;
    else
        say("%s: %s", name, note->note);
}

/* ---- Probe ---- */

static struct verdict probe_says[N_POINTS];
static int64_t probe_timeout_ms;
static int n_post_binds;

static struct verdict probe_reserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)c;
    (void)node;
    return probe_says[POINT_RESERVE];
}

static void probe_unreserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)node;
    say("unreserve %s", c->pod->meta.name);
}

static struct verdict probe_permit(const struct plugin_instance *p, struct cycle *c, node_id node,
                                   int64_t *ret_timeout_ms)
{
    (void)p;
    (void)c;
    (void)node;
    *ret_timeout_ms = probe_timeout_ms;
    return probe_says[POINT_PERMIT];
}

static struct verdict probe_pre_bind_pre_flight(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)c;
    (void)node;
    return probe_says[POINT_PRE_BIND].code == V_SUCCESS ? SKIP : PASS;
}

static struct verdict probe_pre_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)c;
    (void)node;
    return probe_says[POINT_PRE_BIND];
}

static struct verdict probe_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)c;
    (void)node;
    return probe_says[POINT_BIND].code == V_SUCCESS ? SKIP : probe_says[POINT_BIND];
}

static void probe_post_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    (void)c;
    (void)node;
    n_post_binds++;
}

static const struct plugin probe_plugin = {
    .name = "Probe",
    .reserve = probe_reserve,
    .unreserve = probe_unreserve,
    .permit = probe_permit,
    .pre_bind_pre_flight = probe_pre_bind_pre_flight,
    .pre_bind = probe_pre_bind,
    .bind = probe_bind,
    .post_bind = probe_post_bind,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD, NULL }, { 0 } },
};

static const struct plugin_instance *probe(struct story *s)
{
    for (uint8_t i = 0; i < s->w.profile.n_instances; i++)
        if (s->w.profile.instances[i].plugin == &probe_plugin)
            return &s->w.profile.instances[i];
    STORY_FAIL(s, "no Probe");
}

/* "probe permit waits", "probe permit waits MS" */
static void do_probe(struct story *s)
{
    probe_timeout_ms = s->n_words > 3 ? atoll(s->words[3]) : 5000;
    static const struct {
        const char *name;
        enum extension_point point;
    } points[] = { { "reserve", POINT_RESERVE }, { "permit", POINT_PERMIT }, { "prebind", POINT_PRE_BIND },
                   { "bind", POINT_BIND } };
    static const struct {
        const char *name;
        struct verdict verdict;
    } verdicts[] = { { "passes", { V_SUCCESS, 0, NULL } }, { "waits", { V_WAIT, 0, NULL } },
                     { "refuses", { V_UNSCHEDULABLE, 0, "not here" } }, { "errs", { V_ERROR, 0, "broken" } } };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        for (size_t k = 0; k < sizeof(verdicts) / sizeof(verdicts[0]); k++)
            if (strcmp(points[i].name, s->words[1]) == 0 && strcmp(verdicts[k].name, s->words[2]) == 0) {
                probe_says[points[i].point] = verdicts[k].verdict;
                return;
            }
    STORY_FAIL(s, "no such point or answer");
}

/* ---- Things that happen ---- */

static const char *option(const struct story *s, const char *key, const char *other)
{
    for (int i = 2; i < s->n_words; i++)
        if (strncmp(s->words[i], key, strlen(key)) == 0)
            return s->words[i] + strlen(key);
    return other;
}

static void do_at(struct story *s)
{
    s->w.now_ms = atoll(s->words[1]);
}

static void do_tick(struct story *s)
{
    sched_tick(s->w.sched);
}

/* ' stands for ", so that the texts stay readable. */
__attribute__((format(printf, 2, 3))) static const char *json(struct story *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(&s->w.arena, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return text;
}

/* "node n CPU", "node n CPU cordoned zone=a" */
static void do_node(struct story *s)
{
    const char *text = json(s,
                            "{'metadata':{'name':'%s','labels':{'zone':'%s'}},'spec':{'unschedulable':%s},"
                            "'status':{'allocatable':{'cpu':'%s','memory':'9Gi','pods':'110'}}}",
                            s->words[1], option(s, "zone=", "none"), option(s, "cordoned", NULL) ? "true" : "false",
                            s->words[2]);
    const struct node *node;
    struct err e;
    err_init(&e, &s->w.arena);
    if (node_decode(&s->w.syms, TYPED_JSON, str_of(text), &node, &e))
        FAIL("%s", e.message);
    sched_node_set(s->w.sched, node);
    node_unref(&s->w.syms, node);
}

static void do_unnode(struct story *s)
{
    sched_node_removed(s->w.sched, world_sym(&s->w, arena_cstr(&s->w.arena, str_of(s->words[1]))));
}

static const char *when(struct story *s, const char *word, const char *members)
{
    return option(s, word, NULL) ? members : "";
}

/* What the words say of a pod's spec, but for its containers. */
static const char *spec_of(struct story *s)
{
    const char *node = option(s, "node=", NULL), *claim = option(s, "claim=", NULL);
    return json(s, "'schedulerName':'%s','priority':%s%s%s%s%s%s", option(s, "scheduler=", "default-scheduler"),
                option(s, "priority=", "0"), node ? json(s, ",'nodeName':'%s'", node) : "",
                when(s, "gates", ",'schedulingGates':[{'name':'g'}]"), when(s, "never", ",'preemptionPolicy':'Never'"),
                when(s, "spread", ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':"
                                  "'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}}]"),
                claim ? json(s, ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]", claim) : "");
}

/* "pod a cpu=1 priority=5 node=n nominated=n uid=b port=80 claim=c web spread gates never terminating disrupted
 * finished": new, or a new version; "unchanged": a version that is known. Spreading counts pods that are "web". */
static void do_pod(struct story *s)
{
    const char *port = option(s, "port=", NULL);
    int version = option(s, "unchanged", NULL) ? s->version : ++s->version;
    const char *text = json(
        s,
        "{'metadata':{'name':'%s','namespace':'d','uid':'%s','resourceVersion':'%d'%s%s},'spec':{%s,"
        "'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'%s'}}%s}]},"
        "'status':{'nominatedNodeName':'%s'%s%s}}",
        s->words[1], option(s, "uid=", s->words[1]), version,
        when(s, "terminating", ",'deletionTimestamp':'2026-01-01T00:00:00Z'"),
        when(s, "web", ",'labels':{'app':'web'}"), spec_of(s), option(s, "cpu=", "1"),
        port ? json(s, ",'ports':[{'containerPort':1,'hostPort':%s}]", port) : "",
        option(s, "nominated=", ""), when(s, "finished", ",'phase':'Succeeded'"),
        when(s, "disrupted", ",'conditions':[{'type':'DisruptionTarget','status':'True',"
                             "'reason':'PreemptionByScheduler'}]"));
    sched_pod_set(s->w.sched, world_pod_of(&s->w, text));
}

static void set_object(struct story *s, enum object_kind kind, const char *text)
{
    const void *form;
    struct err e;
    err_init(&e, &s->w.arena);
    if (object_form_decode(kind, &s->w.syms, TYPED_JSON, str_of(text), &form, &e))
        FAIL("%s", e.message);
    sched_object_set(s->w.sched, kind, form);
    object_unref(&s->w.syms, kind, form);
}

static void do_claim(struct story *s)
{
    set_object(s, OBJECT_PERSISTENT_VOLUME_CLAIM, json(s, "{'metadata':{'name':'%s','namespace':'d'}}", s->words[1]));
}

static void do_unclaim(struct story *s)
{
    sched_object_removed(s->w.sched, OBJECT_PERSISTENT_VOLUME_CLAIM, world_sym(&s->w, "d"), str_of(s->words[1]));
}

static void do_attach(struct story *s)
{
    set_object(s, OBJECT_VOLUME_ATTACHMENT,
               json(s, "{'metadata':{'name':'%s'},'spec':{'attacher':'d','nodeName':'n','source':{}}}", s->words[1]));
}

/* "devices x": a claim in d, a slice and a class, all of that name. */
static void do_devices(struct story *s)
{
    set_object(s, OBJECT_RESOURCE_CLAIM, json(s, "{'metadata':{'name':'%s','namespace':'d'}}", s->words[1]));
    set_object(s, OBJECT_RESOURCE_SLICE, json(s, "{'metadata':{'name':'%s'}}", s->words[1]));
    set_object(s, OBJECT_DEVICE_CLASS, json(s, "{'metadata':{'name':'%s'}}", s->words[1]));
}

/* "budget b 1": so many pods that are "web" may be evicted; "budget b 1 but=v": v counts as evicted already. */
static void do_budget(struct story *s)
{
    const char *but = option(s, "but=", NULL);
    set_object(s, OBJECT_BUDGET,
               json(s,
                    "{'metadata':{'name':'%s','namespace':'d'},'spec':{'selector':{'matchLabels':{'app':'web'}}},"
                    "'status':{'disruptionsAllowed':%s%s}}",
                    s->words[1], s->words[2],
                    but ? json(s, ",'disruptedPods':{'%s':'2026-01-01T00:00:00Z'}", but) : ""));
}

static void do_detach(struct story *s)
{
    sched_object_removed(s->w.sched, OBJECT_VOLUME_ATTACHMENT, SYM_EMPTY, str_of(s->words[1]));
}

static void do_delete(struct story *s)
{
    sched_pod_removed(s->w.sched, s->words[1]);
}

static void do_run(struct story *s)
{
    if (!sched_run_once(s->w.sched))
        STORY_FAIL(s, "nothing to do");
}

static void do_idle(struct story *s)
{
    if (sched_run_once(s->w.sched))
        STORY_FAIL(s, "a pod was tried: %s", strbuf_cstr(&s->said));
}

/* ---- Answers ---- */

static io_ticket ticket_of(struct story *s, bool is_eviction)
{
    for (int i = 0; i < s->n_requests; i++)
        if (s->requests[i].is_eviction == is_eviction && strcmp(s->requests[i].pod, s->words[1]) == 0) {
            io_ticket ticket = s->requests[i].ticket;
            s->requests[i] = s->requests[--s->n_requests];
            return ticket;
        }
    if (strcmp(s->words[1], "nobody") == 0)
        return 1000000;
    STORY_FAIL(s, "nobody asked for that");
}

static void do_bound(struct story *s)
{
    sched_bound(s->w.sched, ticket_of(s, false), s->n_words > 2 ? s->words[2] : NULL);
}

static void do_evicted(struct story *s)
{
    sched_victim_done(s->w.sched, ticket_of(s, true), s->n_words > 2 ? s->words[2] : NULL);
}

static void do_allow(struct story *s)
{
    sched_permit(s->w.sched, s->words[1], probe(s), true, NULL);
}

static void do_deny(struct story *s)
{
    sched_permit(s->w.sched, s->words[1], probe(s), false, "not now");
}

/* ---- Expectations ---- */

/* "says bind a n / scheduled a", "says" alone: nothing */
static void do_says(struct story *s)
{
    const char *want = s->n_words > 1 ? strstr(s->command, "says ") + 5 : "";
    if (!str_is(strbuf_str(&s->said), want))
        STORY_FAIL(s, "it says %s", s->said.n ? strbuf_cstr(&s->said) : "nothing");
    strbuf_reset(&s->said);
}

/* The last failure's message, as a whole. */
static void do_why(struct story *s)
{
    const char *want = strstr(s->command, "why ") + 4;
    if (!s->last_message || strcmp(s->last_message, want) != 0)
        STORY_FAIL(s, "because %s", s->last_message ? s->last_message : "of nothing");
}

static const char *state_of(struct story *s, const char *name)
{
    static const char *const places[N_PLACES] = { "nowhere", "active", "backoff", "error",
                                                  "waiting", "flying", "done" };
    const struct queued_pod *qp = queue_find(sched_queue(s->w.sched), world_sym(&s->w, "d"), name);
    if (qp)
        return qp->gating_plugin != PLUGIN_NONE ? "gated" : places[qp->place];
    const struct placed *p = cache_find_pod(sched_cache(s->w.sched), name);
    return !p ? "gone" : p->assumed ? "assumed" : "placed";
}

static void do_is(struct story *s)
{
    const char *got = state_of(s, s->words[1]);
    if (strcmp(got, s->words[2]) != 0)
        STORY_FAIL(s, "it is %s", got);
}

static void do_nominated(struct story *s)
{
    sym node = nominator_node_of(sched_nominator(s->w.sched), s->words[1]);
    if (strcmp(node_text(node), s->words[2]) != 0)
        STORY_FAIL(s, "it is %s", node_text(node));
}

static void expect(struct story *s, uint64_t got)
{
    if (got != strtoull(s->words[s->n_words - 1], NULL, 10))
        STORY_FAIL(s, "it is %llu", (unsigned long long)got);
}

static void do_bindings(struct story *s)
{
    expect(s, sched_counts(s->w.sched).binding);
}

static void do_noted(struct story *s)
{
    expect(s, (uint64_t)s->n_noted);
}

static void do_postbinds(struct story *s)
{
    expect(s, (uint64_t)n_post_binds);
}

/* Failures that were known from before. */
static void do_repeated(struct story *s)
{
    expect(s, s->w.sched->n_repeated);
}

static void do_due(struct story *s)
{
    expect(s, (uint64_t)sched_due_ms(s->w.sched));
}

/* "decided d/a=n, d/b=no nodes": all decisions so far, in order. */
static void do_decided(struct story *s)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (const char *c = strstr(s->command, "decided ") + 8; *c; c++)
        if (strncmp(c, ", d/", 4) == 0)
            c++;
        else
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3ull;
    if (hash != sched_decision_hash(s->w.sched))
        STORY_FAIL(s, "other decisions were taken");
}

static void do_counts(struct story *s)
{
    struct sched_counts c = sched_counts(s->w.sched);
    const char *what = s->words[1];
    expect(s, strcmp(what, "attempts") == 0  ? c.attempts
              : strcmp(what, "placed") == 0  ? c.placed
              : strcmp(what, "refused") == 0 ? c.unschedulable
                                             : c.errors);
}

/* "shows schedule_attempts_total{...} 1": that line is on the page of metrics, after "scheduler_"; "shows none X": no line
 * begins so. */
static void do_shows(struct story *s)
{
    bool none = strcmp(s->words[1], "none") == 0;
    const char *page = world_metrics(&s->w);
    const char *line = arena_printf(&s->w.arena, "\nscheduler_%s%s%s%s", s->words[none ? 2 : 1], none ? "" : " ",
                                    none ? "" : s->words[2], none ? "" : "\n");
    if (!strstr(page, line) != none)
        STORY_FAIL(s, "%s", page);
}

/* "facts 25": the page declares that many metrics as the real one does. */
static void do_facts(struct story *s)
{
    uint32_t n = metric_facts_check(world_metrics(&s->w), "scheduler_");
    if (n != (uint32_t)atoi(s->words[1]))
        STORY_FAIL(s, "the table has %u", n);
}

/* ---- The story ---- */

static const struct {
    const char *name;
    void (*run)(struct story *s);
} commands[] = {
    { "at", do_at },       { "tick", do_tick },     { "node", do_node },         { "unnode", do_unnode },
    { "pod", do_pod },     { "delete", do_delete }, { "run", do_run },           { "idle", do_idle },
    { "bound", do_bound }, { "evicted", do_evicted }, { "allow", do_allow },     { "deny", do_deny },
    { "probe", do_probe }, { "says", do_says },     { "why", do_why },           { "is", do_is },
    { "due", do_due },     { "counts", do_counts }, { "nominated", do_nominated }, { "bindings", do_bindings },
    { "repeated", do_repeated }, { "claim", do_claim }, { "attach", do_attach },   { "detach", do_detach }, { "devices", do_devices },
    { "budget", do_budget }, { "unclaim", do_unclaim }, { "postbinds", do_postbinds }, { "noted", do_noted },
    { "decided", do_decided },   { "shows", do_shows },     { "facts", do_facts },
};

/* Every popped pod is being bound: an attempt leaves nothing else behind. */
static void check_records(struct story *s)
{
    struct queue_counts c = queue_counts(sched_queue(s->w.sched));
    if (c.in_flight + c.done != sched_counts(s->w.sched).binding)
        STORY_FAIL(s, "%u in flight, %u done", c.in_flight, c.done);
}

static void run_command(struct story *s, char *text)
{
    while (*text == ' ')
        text++;
    s->command = arena_cstr(&s->w.arena, str_of(text));
    s->n_words = 0;
    for (char *word = strtok(text, " "); word && s->n_words < WORDS_MAX; word = strtok(NULL, " "))
        s->words[s->n_words++] = word;
    for (size_t i = 0; s->n_words && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, s->words[0]) == 0) {
            commands[i].run(s);
            check_records(s);
            return;
        }
    STORY_FAIL(s, "no such command");
}

static void start(struct story *s, void (*configure)(struct sched_world *w))
{
    n_post_binds = 0;
    for (int i = 0; i < N_POINTS; i++)
        probe_says[i] = (struct verdict){ V_SUCCESS, 0, NULL };
    strbuf_init(&s->said, STRBUF_NO_MAX);
    strbuf_init(&s->evicted, STRBUF_NO_MAX);
    sched_world_init(&s->w);
    struct point_plugins *binders = &s->w.profile.points[POINT_BIND];
    sched_world_add_plugin(&s->w, &schedulinggates_plugin, NULL, 0);
    sched_world_add_plugin(&s->w, &nodeports_plugin, NULL, 0);
    sched_world_add_plugin(&s->w, &nodevolumelimits_plugin, NULL, 0);
    static const struct pod_topology_spread_args no_defaults;
    sched_world_add_plugin(&s->w, &podtopologyspread_plugin, &no_defaults, 1);
    sched_world_add_plugin(&s->w, &probe_plugin, NULL, 0);
    const struct plugin_instance *last = binders->at[binders->n - 1]; /* Probe is asked before DefaultBinder */
    binders->at[binders->n - 1] = binders->at[0];
    binders->at[0] = last;
    s->w.io.bind = bind;
    s->w.io.evict = evict;
    s->w.io.patch_status = patch_status;
    s->w.io.event = event;
    if (configure)
        configure(&s->w);
    sched_world_open(&s->w);
}

void sched_tell(const char *what, const char *text, void (*configure)(struct sched_world *w))
{
    static struct story s;
    s = (struct story){ .what = what };
    story = &s;
    start(&s, configure);
    char *copy = strdup(text), *at = copy;
    for (char *command; (command = strsep(&at, ";"));)
        run_command(&s, command);
    free(copy);
    sched_world_close(&s.w);
    strbuf_fini(&s.said);
    strbuf_fini(&s.evicted);
}
