/* controllers/remote_absent.c - see remote_absent.h. Upstream: absentOwnerCache and the live reads of garbagecollector. */
#include "controllers/remote_absent.h"

#include <stdlib.h>

#include "base/map.h"
#include "codec/json.h"

#define CONTROLLER "generic-garbage-collector"
#define ACCEPT "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

enum { TIMEOUT_MS = 30 * 1000 };

struct question {
    struct remote_absent *all;
    const struct resource *resource;
    size_t n_uid, n_key;
    char text[]; /* the key, which ends with the uid */
};

struct remote_absent {
    struct mirror *mirror;
    struct remote_requests *requests;
    struct map_str asked; /* key -> struct question */
    struct map_str gone;  /* key -> the same, owned */
};

static struct str key_of(const struct question *q)
{
    return (struct str){ q->text, q->n_key };
}

static struct str uid_of(const struct question *q)
{
    return str_from(key_of(q), q->n_key - q->n_uid);
}

static void forget_all(struct remote_absent *s)
{
    for (struct map_str_slot *at = NULL; (at = map_str_next(&s->gone, at));)
        free(at->value.ptr);
    map_str_fini(&s->gone);
    map_str_init(&s->gone);
}

static void remember(struct remote_absent *s, struct question *own_question)
{
    if (s->gone.n >= ABSENT_KNOWN_MAX)
        forget_all(s);
    map_str_put(&s->gone, key_of(own_question), NULL)->ptr = own_question;
}

static bool has_uid(struct str json, struct str uid)
{
    const struct type *t = schema_type(STR("meta/v1.PartialObjectMetadata"));
    struct work work = work_init(WATCH_FRAME_BYTES_MAX);
    struct arena a;
    struct value v;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    /* What makes no sense counts as there: nothing may be deleted for it. */
    bool same = json_decode(&a, &work, t, json, NULL, &v, &e) || uid.n == 0 ||
                str_eq(value_text(value_path(t, &v, "metadata.uid")), uid);
    arena_fini(&a);
    return same;
}

static void on_answer(void *context, const struct api_answer *answer)
{
    struct question *q = context;
    struct remote_absent *s = q->all;
    map_str_remove(&s->asked, key_of(q), NULL);
    bool is_gone = answer->status == 404 || (api_ok(answer) && !has_uid(answer->body, uid_of(q)));
    if (is_gone) {
        remember(s, q);
        return;
    }
    if (api_ok(answer))
        mirror_put(s->mirror, q->resource, answer->body);
    free(q);
}

static void ask(struct remote_absent *s, struct arena *a, const struct cluster_object *o, struct str key)
{
    struct question *q = mem_zalloc(sizeof(*q) + key.n);
    q->all = s;
    q->resource = o->resource;
    q->n_uid = o->uid.n;
    q->n_key = key.n;
    memcpy(q->text, key.p, key.n);
    map_str_put(&s->asked, key_of(q), NULL)->ptr = q;
    bool whole = mirror_keeps_whole(s->mirror, o->resource);
    struct remote_request r = {
        .controller = CONTROLLER,
        .request = { .lane = API_LANE_READ, .method = "GET",
                     .target = str_of(mirror_path(a, o->resource, o->namespace, o->name)),
                     .accept = whole ? "application/json" : ACCEPT, .timeout_ms = TIMEOUT_MS },
        .done = on_answer,
        .context = q,
    };
    remote_requests_send(s->requests, &r);
}

/* Without a uid it may come back: that it is gone is told once. */
static bool take_answer(struct remote_absent *s, const struct cluster_object *o, struct str key)
{
    union map_value known;
    if (o->uid.n || !map_str_find(&s->gone, key))
        return map_str_find(&s->gone, key);
    map_str_remove(&s->gone, key, &known);
    free(known.ptr);
    return true;
}

bool remote_absent_is_gone(struct remote_absent *s, const struct cluster_object *o)
{
    struct arena a;
    if (!mirror_watches(s->mirror, o->resource))
        return false; /* who knows */
    arena_init_small(&a);
    struct str key = str_of(arena_printf(&a, "%.*s\n%.*s", STR_ARG(stored_key(&a, o->resource, o->namespace, o->name)),
                                         STR_ARG(o->uid)));
    bool is_gone = take_answer(s, o, key);
    if (!is_gone && !map_str_find(&s->asked, key) && s->asked.n < ABSENT_ASKED_MAX)
        ask(s, &a, o, key);
    arena_fini(&a);
    return is_gone;
}

struct remote_absent *remote_absent_new(struct mirror *m, struct remote_requests *requests)
{
    struct remote_absent *s = mem_zalloc(sizeof(*s));
    s->mirror = m;
    s->requests = requests;
    map_str_init(&s->asked);
    map_str_init(&s->gone);
    return s;
}

void remote_absent_free(struct remote_absent *s)
{
    if (!s)
        return;
    forget_all(s);
    map_str_fini(&s->gone);
    map_str_fini(&s->asked);
    free(s);
}
