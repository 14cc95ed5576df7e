/* tests/unit/queue_story.c - see queue_story.h. */
#include "tests/unit/queue_story.h"

#include <stdlib.h>

#include "tests/unit/queue_world.h"

enum { ACTORS_MAX = 8, WORDS_MAX = 12 };

/* A pod of the story: its newest version and, while it is popped, its record. */
struct actor {
    char name[32];
    const struct pod *pod;
    struct queued_pod *popped;
    int version;
};

struct story {
    const char *what, *text; /* for messages */
    const char *command;
    struct world w;
    struct actor actors[ACTORS_MAX];
    int n_actors;
    int64_t now_ms;
    const char *words[WORDS_MAX];
    int n_words;
};

#define STORY_FAIL(s, ...)                                                                 \
    do {                                                                                   \
        fprintf(stderr, "in \"%s\", at \"%s\":\n", (s)->what, (s)->command);               \
        FAIL(__VA_ARGS__);                                                                 \
    } while (0)

static struct actor *find_actor(struct story *s, const char *name)
{
    for (int i = 0; i < s->n_actors; i++)
        if (strcmp(s->actors[i].name, name) == 0)
            return &s->actors[i];
    return NULL;
}

static struct actor *actor(struct story *s, const char *name)
{
    struct actor *a = find_actor(s, name);
    if (!a) {
        CHECK(s->n_actors < ACTORS_MAX);
        a = &s->actors[s->n_actors++];
        snprintf(a->name, sizeof(a->name), "%s", name);
    }
    return a;
}

/* "key=" in the words of the command: what stands after it, or the other text. */
static const char *option(const struct story *s, const char *key, const char *other)
{
    for (int i = 2; i < s->n_words; i++)
        if (strncmp(s->words[i], key, strlen(key)) == 0)
            return s->words[i] + strlen(key);
    return other;
}

/* A new version of an actor's pod, as the rest of the command says. */
static const struct pod *make_pod(struct story *s, struct actor *a)
{
    bool gated = option(s, "gates", NULL), tolerant = option(s, "tolerates", NULL);
    const char *group = option(s, "group=", NULL), *uid = option(s, "uid=", a->name);
    int version = option(s, "unchanged", NULL) ? a->version : ++a->version;
    return world_pod(&s->w,
                     "{\"metadata\":{\"namespace\":\"d\",\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"},"
                     "\"spec\":{\"schedulerName\":\"%s\",\"priority\":%s,\"nodeName\":\"%s\"%s%s%s%s%s},"
                     "\"status\":{\"nominatedNodeName\":\"%s\"}}",
                     a->name, uid, version, option(s, "scheduler=", "s"), option(s, "priority=", "0"),
                     option(s, "node=", ""), gated ? ",\"schedulingGates\":[{\"name\":\"g\"}]" : "",
                     tolerant ? ",\"tolerations\":[{\"operator\":\"Exists\"}]" : "",
                     group ? ",\"schedulingGroup\":{\"podGroupName\":\"" : "", group ? group : "", group ? "\"}" : "",
                     option(s, "nominated=", ""));
}

static void set_pod(struct story *s, struct actor *a, const struct pod *pod)
{
    if (a->pod)
        pod_unref(&s->w.syms, a->pod);
    a->pod = pod;
}

static uint8_t plugin_index(struct story *s, const char *name)
{
    if (strcmp(name, "Extenders") == 0)
        return PLUGIN_EXTENDERS;
    for (uint8_t i = 0; i < N_WORLD_PLUGINS; i++)
        if (strcmp(world_plugin_names[i], name) == 0)
            return i;
    STORY_FAIL(s, "no plugin %s", name);
}

/* ---- Commands ---- */

static void do_at(struct story *s)
{
    s->now_ms = atoll(s->words[1]);
}

static void do_add(struct story *s)
{
    struct actor *a = actor(s, s->words[1]);
    set_pod(s, a, make_pod(s, a));
    queue_add(s->w.q, a->pod, s->now_ms);
}

static void do_update(struct story *s)
{
    struct actor *a = actor(s, s->words[1]);
    const struct pod *old = pod_ref(a->pod);
    set_pod(s, a, make_pod(s, a));
    queue_update(s->w.q, old, a->pod, s->now_ms);
    pod_unref(&s->w.syms, old);
}

static void do_delete(struct story *s)
{
    queue_delete(s->w.q, actor(s, s->words[1])->pod);
}

/* "pop a": the next pod is a; "pop -": there is none. */
static void do_pop(struct story *s)
{
    struct queued_pod *qp = queue_pop(s->w.q, s->now_ms);
    const char *got = qp ? qp->pod->meta.name : "-";
    if (strcmp(got, s->words[1]) != 0)
        STORY_FAIL(s, "popped %s", got);
    if (qp)
        actor(s, got)->popped = qp;
}

static void do_take(struct story *s)
{
    struct actor *a = actor(s, s->words[1]);
    a->popped = queue_pop_pod(s->w.q, a->pod, s->now_ms);
}

static void do_done(struct story *s)
{
    queue_done(s->w.q, actor(s, s->words[1])->popped);
}

static void do_release(struct story *s)
{
    struct actor *a = actor(s, s->words[1]);
    queue_release(s->w.q, a->popped);
    a->popped = NULL;
}

/* "fail a Fit Taints pending=Claims": rejected by these; "fail a": by an error. */
static struct rejectors rejectors_of(struct story *s)
{
    struct rejectors r = { 0 };
    for (int i = 2; i < s->n_words; i++) {
        bool pending = strncmp(s->words[i], "pending=", 8) == 0;
        uint64_t bit = 1ull << plugin_index(s, s->words[i] + (pending ? 8 : 0));
        r.unschedulable |= bit;
        r.pending |= pending ? bit : 0;
    }
    return r;
}

static void do_fail(struct story *s)
{
    struct actor *a = actor(s, s->words[1]);
    enum err_code rc = queue_add_unschedulable(s->w.q, a->popped, a->pod, rejectors_of(s), s->now_ms, &s->w.e);
    a->popped = NULL;
    if (rc)
        STORY_FAIL(s, "%s", s->w.e.message);
}

/* The rest of the command, after "refused a ", is the message. */
static void do_refused(struct story *s)
{
    struct actor *a = actor(s, s->words[1]);
    enum err_code rc =
        queue_add_unschedulable(s->w.q, a->popped, NULL, (struct rejectors){ 1 << FIT, 0 }, s->now_ms, &s->w.e);
    a->popped = NULL;
    const char *want = strstr(s->command, "Pod ");
    if (rc != ERR_ALREADY_EXISTS || strcmp(s->w.e.message, want) != 0)
        STORY_FAIL(s, "%d %s", (int)rc, rc ? s->w.e.message : "");
}

static bool find_event(const char *label, struct cluster_event *ret_event)
{
    for (int r = 0; r < N_EVENT_RESOURCES; r++)
        for (int bit = 0; bit < N_EVENT_ACTIONS; bit++) {
            uint32_t action = bit < 13 ? 1u << bit : bit == 13 ? ACT_UPDATE : ACT_ALL;
            *ret_event = (struct cluster_event){ .resource = (enum event_resource)r, .action = action };
            if (strcmp(event_kind_label(event_kind(ret_event)), label) == 0)
                return true;
        }
    return false;
}

static struct move_check check_of(const struct story *s)
{
    const char *priority = option(s, "up-to=", NULL), *uid = option(s, "but=", NULL);
    return priority ? move_up_to_priority(atoi(priority)) : uid ? move_all_but(uid) : MOVE_ALL;
}

/* "event NodeAdd": with objects that nobody else holds. */
static void do_event(struct story *s)
{
    struct cluster_event event;
    if (!find_event(s->words[1], &event))
        STORY_FAIL(s, "no such event");
    const struct pod *pod = world_pod(&s->w, "{\"metadata\":{\"uid\":\"someone\",\"name\":\"someone\"}}");
    const struct node *node = world_node(&s->w, "{\"metadata\":{\"name\":\"node-of-event\"}}");
    bool of_pod = event.resource == RES_ASSIGNED_POD || event.resource == RES_UNSCHEDULED_POD;
    const void *object = of_pod ? (const void *)pod : event.resource == RES_NODE ? (const void *)node : NULL;
    event.old_object = event.action == ACT_ADD ? NULL : object;
    event.new_object = event.action == ACT_DELETE ? NULL : object;
    queue_move_all(s->w.q, &event, check_of(s), s->now_ms);
    pod_unref(&s->w.syms, pod);
    node_unref(&s->w.syms, node);
}

/* "activate a"; "activate a flying": the one in flight, whose successor of the same name may be queued already. */
static void do_activate(struct story *s)
{
    const struct actor *a = actor(s, s->words[1]);
    queue_activate(s->w.q, option(s, "flying", NULL) ? a->popped->pod : a->pod, s->now_ms);
}

static void do_flush(struct story *s)
{
    queue_flush_backoff(s->w.q, s->now_ms);
}

static void do_timeout(struct story *s)
{
    queue_flush_unschedulable(s->w.q, s->now_ms);
}

static void do_barrier(struct story *s)
{
    world_barrier = strcmp(s->words[1], "closed") == 0;
}

static void do_hint(struct story *s)
{
    world_hint_skips = strcmp(s->words[1], "skips") == 0;
}

/* ---- Expectations ---- */

static const char *state_of(struct story *s, const struct actor *a)
{
    static const char *const names[N_PLACES] = { "nowhere", "active", "backoff", "error", "waiting", "flying", "done" };
    const struct queued_pod *qp = queue_find(s->w.q, a->pod->meta.ns, a->name);
    if (!qp)
        qp = a->popped;
    if (!qp)
        return "gone";
    return queued_pod_is_gated(qp) ? "gated" : names[qp->place];
}

static void do_is(struct story *s)
{
    const char *got = state_of(s, actor(s, s->words[1]));
    if (strcmp(got, s->words[2]) != 0)
        STORY_FAIL(s, "it is %s", got);
}

static void expect(struct story *s, int64_t got)
{
    if (got != atoll(s->words[s->n_words - 1]))
        STORY_FAIL(s, "it is %lld", (long long)got);
}

static const struct queued_pod *record(struct story *s, const char *name)
{
    const struct actor *a = actor(s, name);
    const struct queued_pod *qp = a->popped ? a->popped : queue_find(s->w.q, a->pod->meta.ns, name);
    if (!qp)
        STORY_FAIL(s, "it has no record");
    return qp;
}

static void do_attempts(struct story *s)
{
    expect(s, record(s, s->words[1])->attempts);
}

static void do_stamp(struct story *s)
{
    expect(s, record(s, s->words[1])->timestamp_ms);
}

static void do_first(struct story *s)
{
    expect(s, record(s, s->words[1])->initial_attempt_ms);
}

static void do_expiry(struct story *s)
{
    expect(s, record(s, s->words[1])->backoff_expiry_ms);
}

static void do_rejected(struct story *s)
{
    expect(s, queue_rejected(s->w.q, 0, plugin_index(s, s->words[1])));
}

static void do_events(struct story *s)
{
    expect(s, queue_counts(s->w.q).events);
}

static void do_kept(struct story *s)
{
    uint32_t n = 0;
    for (uint16_t kind = 0; kind < N_EVENT_KINDS; kind++)
        if (strcmp(event_kind_label(kind), s->words[1]) == 0)
            n += queue_kept_events(s->w.q, kind);
    expect(s, n);
}

/* "came active NodeAdd 1" */
static void do_came(struct story *s)
{
    enum queue_place place = strcmp(s->words[1], "active") == 0    ? PLACE_ACTIVE
                             : strcmp(s->words[1], "backoff") == 0 ? PLACE_BACKOFF
                                                                   : PLACE_UNSCHEDULABLE;
    uint64_t n = 0;
    for (uint16_t kind = 0; kind < N_EVENT_KINDS; kind++)
        if (strcmp(event_kind_label(kind), s->words[2]) == 0)
            n += queue_incoming(s->w.q, place, kind);
    expect(s, (int64_t)n);
}

static void do_count(struct story *s)
{
    struct queue_counts c = queue_counts(s->w.q);
    const char *what = s->words[1];
    expect(s, strcmp(what, "active") == 0    ? c.active
              : strcmp(what, "backoff") == 0 ? c.backoff
              : strcmp(what, "waiting") == 0 ? c.unschedulable
              : strcmp(what, "gated") == 0   ? c.gated
              : strcmp(what, "flying") == 0  ? c.in_flight
                                             : c.done);
}

static void do_asked(struct story *s)
{
    const char *what = s->words[1];
    expect(s, strcmp(what, "hint") == 0 ? world_n_hints : strcmp(what, "gates") == 0 ? world_n_gates_calls
                                                                                     : world_n_barrier_calls);
}

static void do_due(struct story *s)
{
    expect(s, strcmp(s->words[1], "backoff") == 0 ? queue_backoff_due_ms(s->w.q) : queue_unschedulable_due_ms(s->w.q));
}

/* "nominated a n1", "nominated a -" */
static void do_nominated(struct story *s)
{
    sym node = nominator_node_of(&s->w.nominator, actor(s, s->words[1])->pod->meta.uid);
    const char *got = node == SYM_EMPTY ? "-" : sym_text(&s->w.syms, node).p;
    if (strcmp(got, s->words[2]) != 0)
        STORY_FAIL(s, "it is %s", got);
}

static void do_nominees(struct story *s)
{
    sym node = sym_intern(&s->w.syms, str_of(s->words[1]));
    const struct nominated_list *list = nominator_on(&s->w.nominator, node);
    sym_unref(&s->w.syms, node);
    expect(s, list ? (int64_t)list->pods.n : 0);
}

/* What a cycle does after preemption. */
static void do_nominate(struct story *s)
{
    sym node = sym_intern(&s->w.syms, str_of(s->words[2]));
    nominator_add(&s->w.nominator, actor(s, s->words[1])->pod, node);
    sym_unref(&s->w.syms, node);
}

static const struct {
    const char *name;
    void (*run)(struct story *s);
} commands[] = {
    { "at", do_at },             { "add", do_add },           { "update", do_update },   { "delete", do_delete },
    { "pop", do_pop },           { "take", do_take },         { "done", do_done },       { "release", do_release },
    { "fail", do_fail },         { "refused", do_refused },   { "event", do_event },     { "activate", do_activate },
    { "flush", do_flush },       { "timeout", do_timeout },   { "barrier", do_barrier }, { "hint", do_hint },
    { "is", do_is },             { "attempts", do_attempts }, { "stamp", do_stamp },     { "first", do_first },
    { "expiry", do_expiry },     { "rejected", do_rejected }, { "events", do_events },   { "came", do_came },
    { "count", do_count },       { "asked", do_asked },       { "due", do_due },         { "nominated", do_nominated },
    { "nominate", do_nominate }, { "kept", do_kept },         { "nominees", do_nominees },
};

static void run_command(struct story *s, char *text)
{
    char copy[256];
    while (*text == ' ')
        text++;
    snprintf(copy, sizeof(copy), "%s", text);
    s->command = copy;
    s->n_words = 0;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        CHECK(s->n_words < WORDS_MAX);
        s->words[s->n_words++] = word;
    }
    for (size_t i = 0; s->n_words && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, s->words[0]) == 0) {
            commands[i].run(s);
            return;
        }
    STORY_FAIL(s, "no such command");
}

void tell(const char *what, const char *text, void (*configure)(struct queue_options *o))
{
    static struct story s;
    s = (struct story){ .what = what, .text = text };
    world_init(&s.w);
    if (configure)
        configure(&s.w.options);
    world_start(&s.w);
    char *copy = strdup(text), *at = copy;
    for (char *command; (command = strsep(&at, ";"));)
        run_command(&s, command);
    free(copy);
    for (int i = 0; i < s.n_actors; i++)
        if (s.actors[i].pod)
            pod_unref(&s.w.syms, s.actors[i].pod);
    world_fini(&s.w);
}
