/* controllers/failure_backoff.c - see failure_backoff.h. */
#include "controllers/failure_backoff.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct entry {
    int64_t wait_ms, since_ms;
    size_t n_key;
    char key[];
};

struct failure_backoff {
    struct map_str entries;
    int64_t swept_ms;
};

static bool is_over(const struct entry *e, int64_t now_ms)
{
    return now_ms - e->since_ms > 2 * (int64_t)FAILURE_BACKOFF_MAX_MS;
}

/* A map must not change while it is walked. */
static void sweep(struct failure_backoff *b, int64_t now_ms)
{
    struct entry **gone = mem_alloc(b->entries.n * sizeof(*gone) + 1);
    size_t n = 0;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&b->entries, s));)
        if (is_over(s->value.ptr, now_ms))
            gone[n++] = s->value.ptr;
    for (size_t i = 0; i < n; i++) {
        map_str_remove(&b->entries, (struct str){ gone[i]->key, gone[i]->n_key }, NULL);
        free(gone[i]);
    }
    free(gone);
    b->swept_ms = now_ms;
}

static struct entry *add(struct failure_backoff *b, struct str key)
{
    struct entry *e = mem_zalloc(sizeof(*e) + key.n);
    memcpy(e->key, key.p, key.n);
    e->n_key = key.n;
    map_str_put(&b->entries, (struct str){ e->key, e->n_key }, NULL)->ptr = e;
    return e;
}

static int64_t longer(int64_t wait_ms)
{
    return 2 * wait_ms < FAILURE_BACKOFF_MAX_MS ? 2 * wait_ms : FAILURE_BACKOFF_MAX_MS;
}

int64_t failure_backoff_try(struct failure_backoff *b, struct str key, int64_t now_ms)
{
    if (now_ms - b->swept_ms >= FAILURE_BACKOFF_SWEEP_MS)
        sweep(b, now_ms);
    const union map_value *found = map_str_find(&b->entries, key);
    struct entry *e = found ? found->ptr : add(b, key);
    bool begins = !found || is_over(e, now_ms);
    if (!begins && now_ms - e->since_ms < e->wait_ms)
        return e->wait_ms;
    e->wait_ms = begins ? FAILURE_BACKOFF_MIN_MS : longer(e->wait_ms);
    e->since_ms = now_ms;
    return 0;
}

struct failure_backoff *failure_backoff_new(void)
{
    struct failure_backoff *b = mem_zalloc(sizeof(*b));
    map_str_init(&b->entries);
    return b;
}

void failure_backoff_free(struct failure_backoff *b)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&b->entries, s));)
        free(s->value.ptr);
    map_str_fini(&b->entries);
    free(b);
}
