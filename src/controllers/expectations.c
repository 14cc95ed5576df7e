/* controllers/expectations.c - see expectations.h. Upstream: controller/controller_utils.go. */
#include "controllers/expectations.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

struct expected {
    uint32_t n_creations;
    struct map_str deletions; /* a set of names, which are ours */
    int64_t since_ms;
    size_t n_key;
    char key[];
};

struct expectations {
    struct map_str by_key; /* -> struct expected */
};

static struct expected *find(const struct expectations *x, struct str key)
{
    const union map_value *found = map_str_find(&x->by_key, key);
    return found ? found->ptr : NULL;
}

static void expected_free(struct expected *e)
{
    for (struct map_str_slot *s = NULL; (s = map_str_next(&e->deletions, s));)
        free(s->value.ptr);
    map_str_fini(&e->deletions);
    free(e);
}

void expectations_forget(struct expectations *x, struct str key)
{
    union map_value own;
    if (map_str_remove(&x->by_key, key, &own))
        expected_free(own.ptr);
}

/* What is fulfilled is as good as never expected. */
static void settle(struct expectations *x, struct expected *e)
{
    if (e->n_creations == 0 && e->deletions.n == 0)
        expectations_forget(x, (struct str){ e->key, e->n_key });
}

static struct expected *begin(struct expectations *x, struct str key, int64_t now_ms)
{
    expectations_forget(x, key);
    struct expected *e = mem_zalloc(sizeof(*e) + key.n);
    memcpy(e->key, key.p, key.n);
    e->n_key = key.n;
    e->since_ms = now_ms;
    map_str_init(&e->deletions);
    map_str_put(&x->by_key, (struct str){ e->key, e->n_key }, NULL)->ptr = e;
    return e;
}

void expectations_expect_creations(struct expectations *x, struct str key, uint32_t n, int64_t now_ms)
{
    if (n)
        begin(x, key, now_ms)->n_creations = n;
}

void expectations_expect_deletions(struct expectations *x, struct str key, int64_t now_ms)
{
    begin(x, key, now_ms);
}

void expectations_add_deletion(struct expectations *x, struct str key, struct str name)
{
    struct expected *e = find(x, key);
    if (!e || map_str_find(&e->deletions, name))
        return;
    char *copy = mem_alloc(name.n + 1);
    memcpy(copy, name.p, name.n);
    map_str_put(&e->deletions, (struct str){ copy, name.n }, NULL)->ptr = copy;
}

void expectations_creation_observed(struct expectations *x, struct str key)
{
    struct expected *e = find(x, key);
    if (!e || e->n_creations == 0)
        return;
    e->n_creations--;
    settle(x, e);
}

void expectations_deletion_observed(struct expectations *x, struct str key, struct str name)
{
    struct expected *e = find(x, key);
    union map_value own;
    if (!e || !map_str_remove(&e->deletions, name, &own))
        return;
    free(own.ptr);
    settle(x, e);
}

bool expectations_satisfied(const struct expectations *x, struct str key, int64_t now_ms)
{
    const struct expected *e = find(x, key);
    return !e || (e->n_creations == 0 && e->deletions.n == 0) || now_ms - e->since_ms > EXPECTATIONS_TIMEOUT_MS;
}

struct expectations *expectations_new(void)
{
    struct expectations *x = mem_zalloc(sizeof(*x));
    map_str_init(&x->by_key);
    return x;
}

void expectations_free(struct expectations *x)
{
    if (!x)
        return;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&x->by_key, s));)
        expected_free(s->value.ptr);
    map_str_fini(&x->by_key);
    free(x);
}
