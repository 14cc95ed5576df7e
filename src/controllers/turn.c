/* controllers/turn.c - see turn.h. */
#include "controllers/turn.h"

#include <stdlib.h>

#include "base/log.h"

struct str turn_key_of(struct arena *a, struct str namespace, struct str name)
{
    return str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name)));
}

void turn_read_key(struct str key, struct str *ret_namespace, struct str *ret_name)
{
    size_t slash = str_index(key, '/');
    *ret_namespace = slash < key.n ? str_first(key, slash) : (struct str){ NULL, 0 };
    *ret_name = slash < key.n ? str_from(key, slash + 1) : key;
}

struct turn *turn_new(struct cluster *c, struct work_queue *q, const char *controller, struct str key)
{
    struct turn *t = mem_zalloc(sizeof(*t) + key.n);
    t->cluster = c;
    t->queue = q;
    t->controller = controller;
    t->n_out = 1; /* until turn_end */
    t->n_key = key.n;
    memcpy(t->key, key.p, key.n);
    return t;
}

static struct str key_of(const struct turn *t)
{
    return (struct str){ t->key, t->n_key };
}

static void drop(struct turn *t)
{
    if (--t->n_out)
        return;
    work_queue_done(t->queue, key_of(t), t->failed ? WORK_RETRY : WORK_FORGET);
    free(t);
}

/* A namespace that ends takes nothing new, and says so as forbidden. */
static bool is_failure(enum err_code code, const char *message)
{
    if (!code || code == ERR_NOT_FOUND)
        return false;
    return code != ERR_FORBIDDEN || !message || !strstr(message, "because it is being terminated");
}

static void call_done(void *context, enum err_code code, const char *message)
{
    struct turn *t = context;
    if (is_failure(code, message)) {
        t->failed = true;
        LOG(4, "A controller's write is tried again", KS("controller", t->controller), KS("key", key_of(t)),
            KS("err", message));
    }
    drop(t);
}

void turn_begin(struct turn *t, struct cluster_call call)
{
    call.controller = t->controller;
    call.done = call_done;
    call.context = t;
    t->n_out++;
    cluster_begin(t->cluster, &call);
}

void turn_fail(struct turn *t)
{
    t->failed = true;
}

void turn_end(struct turn *t)
{
    drop(t);
}
