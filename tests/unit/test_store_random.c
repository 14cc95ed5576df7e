/* tests/unit/test_store_random.c - a store beside a model that keeps everything for ever and looks at all of it.
 *
 * Random commits, some of several keys, with random preconditions, many under way at the same time; restarts,
 * compaction, lists at random revisions, and watches that are read at random moments and resumed. */
#include "base/rand.h"
#include "base/vec.h"
#include "tests/unit/store_world.h"

enum { N_KEYS = 40, N_WATCHES = 6, N_STEPS = 3000, WRITES_MAX = 4 };

struct change {
    uint64_t revision;
    int key;
    int value; /* -1: deleted */
};

struct pending {
    struct model *m;
    bool answered;
    enum err_code want;
    uint64_t revision; /* when it is done */
    struct change changes[WRITES_MAX];
    int n_changes;
};

struct model {
    struct world *w;
    struct rand rand;
    VEC(struct change) changes;        /* that can be read */
    VEC(struct pending *) pending;     /* oldest first */
    size_t n_answered;
    int newest[N_KEYS];                /* with all that is under way; -1: none */
    uint64_t newest_mod[N_KEYS];
    struct store_watch watches[N_WATCHES];
    size_t seen[N_WATCHES]; /* changes that the watch has had */
    char prefixes[N_WATCHES][8];
    int next_value;
};

static const char *key_text(int key, char to[16])
{
    snprintf(to, 16, "/%d/%02d", key % 3, key);
    return to;
}

static void on_answer(void *context, const struct store_answer *a)
{
    struct pending *p = context;
    CHECK(!p->answered);
    p->answered = true;
    CHECK(p->m->pending.at[p->m->n_answered++] == p); /* in order */
    CHECK_INT("code", a->code, p->want);
    if (a->code)
        return;
    CHECK_INT("revision", a->revision, p->revision);
    for (int i = 0; i < p->n_changes; i++)
        vec_push(&p->m->changes, p->changes[i]);
}

/* What a write is answered with. */
static enum err_code wanted(const struct model *m, int key, const struct store_write *write)
{
    if (m->newest[key] < 0)
        return write->deletes || write->must == STORE_AT_VERSION ? ERR_NOT_FOUND : ERR_OK;
    if (write->must == STORE_NOT_EXIST)
        return ERR_ALREADY_EXISTS;
    return write->must == STORE_AT_VERSION && write->revision != m->newest_mod[key] ? ERR_CONFLICT : ERR_OK;
}

static void commit(struct model *m)
{
    struct store_write writes[WRITES_MAX] = { 0 };
    char keys[WRITES_MAX][16], values[WRITES_MAX][16];
    struct pending *p = mem_zalloc(sizeof(*p));
    int n = rand_below(&m->rand, 4) ? 1 : 1 + (int)rand_below(&m->rand, WRITES_MAX);
    int first = (int)rand_below(&m->rand, N_KEYS);
    p->m = m;
    p->revision = store_next_revision(m->w->s);
    for (int i = 0; i < n; i++) {
        int key = (first + i * 7) % N_KEYS;
        struct store_write *write = &writes[i];
        write->key = str_of(key_text(key, keys[i]));
        write->deletes = rand_below(&m->rand, 4) == 0;
        write->must = (enum store_must)rand_below(&m->rand, 3);
        write->revision = rand_below(&m->rand, 8) ? m->newest_mod[key] : m->newest_mod[key] + 1;
        snprintf(values[i], sizeof(values[i]), "%d", ++m->next_value);
        write->value = str_of(values[i]);
        enum err_code want = wanted(m, key, write);
        if (!p->want)
            p->want = want;
        p->changes[p->n_changes++] = (struct change){ p->revision, key, write->deletes ? -1 : m->next_value };
    }
    vec_push(&m->pending, p);
    if (!p->want)
        for (int i = 0; i < n; i++) {
            m->newest[p->changes[i].key] = p->changes[i].value;
            m->newest_mod[p->changes[i].key] = p->revision;
        }
    struct store_commit c = { writes, (uint32_t)n, rand_below(&m->rand, 3) == 0 };
    CHECK_INT("commit", store_commit(m->w->s, &c, on_answer, p, &m->w->e), ERR_OK);
}

static void settle(struct model *m)
{
    store_poll(m->w->s);
    while (m->n_answered < m->pending.n) {
        CHECK(bell_wait(&m->w->bell, 50000));
        store_poll(m->w->s);
    }
}

/* What the model says of a key at a revision. */
static int value_at(const struct model *m, int key, uint64_t revision)
{
    int value = -1;
    for (size_t i = 0; i < m->changes.n && m->changes.at[i].revision <= revision; i++)
        if (m->changes.at[i].key == key)
            value = m->changes.at[i].value;
    return value;
}

static void check_list(struct model *m)
{
    struct store *s = m->w->s;
    struct arena_mark mark = arena_save(&m->w->arena);
    uint64_t low = store_compacted(s) ? store_compacted(s) : 1;
    uint64_t revision = low + rand_below(&m->rand, store_revision(s) - low + 1);
    uint32_t limit = (uint32_t)rand_below(&m->rand, 6);
    int topic = (int)rand_below(&m->rand, 3), key = topic;
    char prefix[8], from[24] = "", text[16];
    struct store_list list;
    size_t n_left;
    snprintf(prefix, sizeof(prefix), "/%d/", topic);
    do {
        struct store_range r = { str_of(prefix), str_of(from), revision, limit };
        CHECK_INT("list", store_list(s, &r, &m->w->arena, &list, &m->w->e), ERR_OK);
        for (size_t i = 0; i < list.n; i++, key += 3) {
            while (key < N_KEYS && value_at(m, key, revision) < 0)
                key += 3;
            CHECK_STR("key", store_item_key(list.items[i]), str_of(key_text(key, text)));
            CHECK_INT("value", atoi(arena_printf(&m->w->arena, "%.*s", STR_ARG(store_item_value(list.items[i])))),
                      value_at(m, key, revision));
            snprintf(from, sizeof(from), "%s ", text);
        }
        n_left = 0;
        for (int k = key; k < N_KEYS; k += 3)
            n_left += value_at(m, k, revision) >= 0;
        CHECK((list.n_left != 0) >= (n_left != 0)); /* one that is just being created may be counted */
        CHECK(list.n_left >= n_left);
    } while (list.n && limit && list.n_left);
    CHECK_INT("all", n_left, 0);
    arena_rewind(&m->w->arena, mark);
}

static void begin_watch(struct model *m, int i, uint64_t after)
{
    CHECK_INT("watch", store_watch_init(m->w->s, &m->watches[i], str_of(m->prefixes[i]), after, &m->w->e), ERR_OK);
    for (m->seen[i] = 0; m->seen[i] < m->changes.n && m->changes.at[m->seen[i]].revision <= after;)
        m->seen[i]++;
}

static bool wants(const struct model *m, int i, const struct change *c)
{
    char text[16];
    return str_starts(str_of(key_text(c->key, text)), str_of(m->prefixes[i]));
}

static void read_watch(struct model *m, int i)
{
    struct store_event event;
    char text[16];
    int n = (int)rand_below(&m->rand, 30);
    enum err_code code = ERR_OK;
    while (n-- > 0 && (code = store_watch_next(m->w->s, &m->watches[i], &event)) == ERR_OK) {
        while (m->seen[i] < m->changes.n && !wants(m, i, &m->changes.at[m->seen[i]]))
            m->seen[i]++;
        CHECK(m->seen[i] < m->changes.n);
        const struct change *c = &m->changes.at[m->seen[i]++];
        CHECK_INT("revision", event.revision, c->revision);
        CHECK_INT("deleted", event.item == NULL, c->value < 0);
        int before = value_at(m, c->key, c->revision - 1);
        CHECK_INT("before", event.prev != NULL, before >= 0);
        CHECK_STR("key", store_item_key(event.item ? event.item : event.prev), str_of(key_text(c->key, text)));
    }
    uint64_t progress = store_watch_progress(m->w->s, &m->watches[i]);
    for (size_t k = m->seen[i]; progress && k < m->changes.n; k++)
        CHECK(!wants(m, i, &m->changes.at[k]) || m->changes.at[k].revision > progress);
    if (code == ERR_EXPIRED)
        begin_watch(m, i, store_compacted(m->w->s)); /* as a client would after a list */
}

/* After all is settled: the same process again, and watches resume where they were. */
static void restart(struct model *m)
{
    settle(m);
    uint64_t revision = store_revision(m->w->s), compacted = store_compacted(m->w->s);
    world_reopen(m->w);
    CHECK_INT("revision", store_revision(m->w->s), revision);
    CHECK(store_compacted(m->w->s) <= compacted);
    for (int i = 0; i < N_WATCHES; i++) {
        size_t seen = m->seen[i];
        uint64_t after = seen ? m->changes.at[seen - 1].revision : 1;
        /* commits of several keys: a client resumes behind whole ones */
        while (seen && seen < m->changes.n && m->changes.at[seen].revision == after)
            seen++;
        begin_watch(m, i, after < store_compacted(m->w->s) ? store_compacted(m->w->s) : after);
    }
}

static void step(struct model *m)
{
    unsigned what = (unsigned)rand_below(&m->rand, 1000);
    if (what < 600) {
        commit(m);
    } else if (what < 750) {
        store_poll(m->w->s);
    } else if (what < 850) {
        settle(m);
        check_list(m);
    } else if (what < 990) {
        read_watch(m, (int)rand_below(&m->rand, N_WATCHES));
    } else if (what < 995) {
        uint64_t low = store_compacted(m->w->s);
        store_compact(m->w->s, low + rand_below(&m->rand, store_revision(m->w->s) - low + 1));
    } else if (m->w->kind != WORLD_MEMORY) {
        restart(m);
    }
}

static void run(struct world *w, uint64_t seed)
{
    struct model *m = mem_zalloc(sizeof(*m));
    m->w = w;
    rand_init(&m->rand, seed);
    for (int i = 0; i < N_KEYS; i++)
        m->newest[i] = -1;
    for (int i = 0; i < N_WATCHES; i++) {
        snprintf(m->prefixes[i], sizeof(m->prefixes[i]), i < 3 ? "/%d/" : "/", i);
        begin_watch(m, i, 1);
    }
    for (int i = 0; i < N_STEPS; i++)
        step(m);
    settle(m);
    for (int i = 0; i < 20; i++)
        check_list(m);
    for (size_t i = 0; i < m->pending.n; i++)
        free(m->pending.at[i]);
    vec_fini(&m->pending);
    vec_fini(&m->changes);
    free(m);
}

CONTRACT(as_the_model_says)
{
    run(w, 1 + (uint64_t)w->kind);
}

CONTRACT(as_the_model_says_with_a_short_log)
{
    w->log_events_max = 50;
    store_free(w->s);
    w->s = NULL;
    world_open(w);
    run(w, 11 + (uint64_t)w->kind);
}
