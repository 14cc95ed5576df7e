/* client/event_correlate.c - see event_correlate.h. Upstream: client-go tools/record/events_cache.go, v0.36. */
#include "client/event_correlate.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"

enum {
    ALIKE_MAX = 10, /* with which combining begins */
    ALIKE_MS = 600 * 1000,
    BURST = 25,
    REFILL_MS = 300 * 1000,
};

/* Of either rule. */
struct known {
    struct list_node by_use;
    int64_t last_ms;
    double left;                      /* of the burst */
    uint64_t messages[ALIKE_MAX - 1]; /* hashes of different ones */
    uint32_t n_messages;
    struct str key; /* behind it */
};

struct memory {
    struct map_str by_key;
    struct list by_use;
    uint32_t n;
};

struct event_correlator {
    struct memory alike, sources;
    struct hash_seed seed;
};

static void add_part(struct strbuf *to, struct str part)
{
    strbuf_add_str(to, part);
    strbuf_add_char(to, 0);
}

void event_correlate_add_source(struct strbuf *to, const struct event_to_record *e)
{
    const struct object_reference *o = &e->regarding;
    const struct str parts[] = { e->controller, o->kind, o->ns, o->name, o->uid, o->api_version, e->type };
    for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        add_part(to, parts[i]);
}

static void forget(struct memory *m, struct known *k)
{
    map_str_remove(&m->by_key, k->key, NULL);
    list_remove(&k->by_use);
    m->n--;
    free(k);
}

/* The one with that key, made if it is not there, and now the one used last. */
static struct known *find(struct memory *m, struct str key, int64_t now_ms)
{
    union map_value *found = map_str_find(&m->by_key, key);
    struct known *k = found ? found->ptr : NULL;
    if (k) {
        list_remove(&k->by_use);
    } else {
        if (m->n == EVENT_CORRELATE_MAX)
            forget(m, LIST_ITEM(list_first(&m->by_use), struct known, by_use));
        k = mem_zalloc(sizeof(*k) + key.n);
        k->key = (struct str){ memcpy((char *)(k + 1), key.p, key.n), key.n };
        k->last_ms = now_ms;
        k->left = BURST;
        map_str_put(&m->by_key, k->key, NULL)->ptr = k;
        m->n++;
    }
    list_push(&m->by_use, &k->by_use);
    return k;
}

bool event_correlate_combines(struct event_correlator *c, const struct event_to_record *e, int64_t now_ms)
{
    struct strbuf key;
    strbuf_init(&key, STRBUF_NO_MAX);
    event_correlate_add_source(&key, e);
    add_part(&key, e->reason);
    struct known *k = find(&c->alike, strbuf_str(&key), now_ms);
    strbuf_fini(&key);
    if (now_ms - k->last_ms > ALIKE_MS)
        k->n_messages = 0;
    k->last_ms = now_ms;
    uint64_t message = hash_str(&c->seed, e->note);
    for (uint32_t i = 0; i < k->n_messages; i++)
        if (k->messages[i] == message)
            return false;
    if (k->n_messages == ALIKE_MAX - 1)
        return true;
    k->messages[k->n_messages++] = message;
    return false;
}

bool event_correlate_permits(struct event_correlator *c, const struct event_to_record *e, int64_t now_ms)
{
    struct strbuf key;
    strbuf_init(&key, STRBUF_NO_MAX);
    event_correlate_add_source(&key, e);
    struct known *k = find(&c->sources, strbuf_str(&key), now_ms);
    strbuf_fini(&key);
    double left = k->left + (double)(now_ms - k->last_ms) / REFILL_MS;
    k->left = left > BURST ? BURST : left;
    k->last_ms = now_ms;
    bool enough = k->left >= 1;
    k->left -= enough;
    return enough;
}

struct event_correlator *event_correlator_new(void)
{
    struct event_correlator *c = mem_zalloc(sizeof(*c));
    struct memory *both[] = { &c->alike, &c->sources };
    for (unsigned i = 0; i < 2; i++) {
        map_str_init(&both[i]->by_key);
        list_init(&both[i]->by_use);
    }
    c->seed = hash_seed();
    return c;
}

void event_correlator_free(struct event_correlator *c)
{
    if (!c)
        return;
    struct memory *both[] = { &c->alike, &c->sources };
    for (unsigned i = 0; i < 2; i++) {
        for (struct list_node *n; (n = list_first(&both[i]->by_use));)
            forget(both[i], LIST_ITEM(n, struct known, by_use));
        map_str_fini(&both[i]->by_key);
    }
    free(c);
}
