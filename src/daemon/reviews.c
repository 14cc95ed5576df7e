/* daemon/reviews.c - see reviews.h. Upstream: apiserver/pkg/util/webhook, the caches of token and authorizer. */
#include "daemon/reviews.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rand.h"
#include "http/digest.h"

/* A question under way, or its answer that is kept. */
struct review {
    struct reviews *owner;
    uint8_t key[DIGEST_BYTES];
    bool named;                /* in by_key, by that key */
    struct arena arena;        /* of the answer */
    struct list_node node;     /* of kept, least recently used first; or of asked */
    struct list waiters;
    struct loop_timer timer;   /* before the next try, and for those who learn at once that there is no room */
    struct strbuf body;        /* gone when it is answered: it may hold a token */
    api_call call;
    int64_t begun_ms, try_begun_ms, good_until_ms;
    int n_tries;
    double backoff_ms;
    const void *answer;        /* NULL while it is under way */
    const char *error;
};

struct reviews {
    struct reviews_options options;
    struct map_str by_key;
    struct list kept, asked;
    struct rand rand;
    struct reviews_counts counts;
    uint8_t secret[DIGEST_BYTES];
};

static struct str key_of(const struct review *v)
{
    return (struct str){ (const char *)v->key, sizeof(v->key) };
}

static void name_it(struct review *v)
{
    map_str_put(&v->owner->by_key, key_of(v), NULL)->ptr = v;
    v->named = true;
}

static void unname(struct review *v)
{
    if (v->named)
        map_str_remove(&v->owner->by_key, key_of(v), NULL);
    v->named = false;
}

static void forget_body(struct review *v)
{
    if (v->body.p)
        explicit_bzero(v->body.p, v->body.cap);
    strbuf_fini(&v->body);
}

static void review_free(struct review *v)
{
    struct reviews *r = v->owner;
    if (v->answer) {
        r->counts.n_kept--;
        r->counts.kept_bytes -= v->arena.n_bytes;
    } else {
        r->counts.n_at_once--;
    }
    if (v->call)
        r->options.api->cancel(r->options.api->context, v->call);
    loop_timer_stop(r->options.loop, &v->timer);
    unname(v);
    forget_body(v);
    list_remove(&v->node);
    assert(list_is_empty(&v->waiters));
    arena_fini(&v->arena);
    free(v);
}

/* ---- What is kept ---- */

static void make_room(struct reviews *r)
{
    while (r->counts.n_kept > REVIEWS_KEPT_MAX || r->counts.kept_bytes > REVIEWS_KEPT_BYTES_MAX)
        review_free(LIST_ITEM(list_first(&r->kept), struct review, node));
}

static void keep(struct review *v, const void *answer, int64_t keep_ms)
{
    struct reviews *r = v->owner;
    v->answer = answer;
    v->good_until_ms = loop_now_ms(r->options.loop) + keep_ms;
    r->counts.n_at_once--;
    r->counts.n_kept++;
    r->counts.kept_bytes += v->arena.n_bytes;
    list_remove(&v->node);
    list_push(&r->kept, &v->node);
    make_room(r);
}

/* ---- Under way ---- */

/* Waiters may leave, or ask again, from within; so each is taken off before it is told. */
static void tell(struct list *waiters, const void *answer, const char *error)
{
    for (struct list_node *n; (n = list_first(waiters));) {
        struct review_waiter *w = LIST_ITEM(n, struct review_waiter, node);
        list_remove(n);
        w->done(w, answer, error);
    }
}

/* Those who wait, moved away from a review that may go while they are told. */
static void move_waiters(struct list *to, struct list *from)
{
    list_init(to);
    for (struct list_node *n; (n = list_first(from));) {
        list_remove(n);
        list_push(to, n);
    }
}

static void fail(struct review *v, const char *error)
{
    struct list waiters;
    char text[1024]; /* the error may live in the review */
    snprintf(text, sizeof(text), "%s", error);
    LOG_ERROR(text, "Failed to make webhook request", KS("for", v->owner->options.name));
    move_waiters(&waiters, &v->waiters);
    review_free(v);
    tell(&waiters, NULL, text);
}

/* What may pass, and is worth another try: the server is busy or broken, or the connection was cut under the question.
 * A server that did not answer in time, or is not there, is not asked again. */
static bool may_pass(const struct review *v, const struct api_answer *a)
{
    const struct reviews_options *o = &v->owner->options;
    int64_t now_ms = loop_now_ms(o->loop);
    if (v->n_tries >= REVIEW_TRIES_MAX || (o->total_ms && now_ms - v->begun_ms >= o->total_ms))
        return false;
    if (a->status)
        return a->status == 429 || a->status == 500 || a->status == 504;
    return !a->unsent && now_ms - v->try_begun_ms < o->try_ms;
}

static void try_again_later(struct review *v)
{
    struct reviews *r = v->owner;
    double jitter = 1 + 0.2 * rand_double(&r->rand);
    loop_timer_set(r->options.loop, &v->timer, loop_now_ms(r->options.loop) + (int64_t)(v->backoff_ms * jitter));
    v->backoff_ms *= 1.5;
}

static void answered(void *context, const struct api_answer *answer)
{
    struct review *v = context;
    struct reviews *r = v->owner;
    v->call = 0;
    if (!api_ok(answer)) {
        if (may_pass(v, answer))
            try_again_later(v);
        else
            fail(v, api_problem(&v->arena, answer));
        return;
    }
    int64_t keep_ms = 0;
    const char *error = NULL;
    const void *good = answer->body.n > REVIEW_ANSWER_BYTES_MAX
        ? NULL : r->options.read(r->options.context, &v->arena, answer, &keep_ms, &error);
    if (!good) {
        fail(v, error ? error : "the answer is too large");
        return;
    }
    struct list waiters;
    move_waiters(&waiters, &v->waiters);
    forget_body(v);
    unname(v); /* while they are told, it is nobody's: they may ask the same again */
    tell(&waiters, good, NULL);
    if (keep_ms > 0 && v->arena.n_bytes <= REVIEW_BYTES_MAX && !map_str_find(&r->by_key, key_of(v))) {
        name_it(v);
        keep(v, good, keep_ms);
    } else {
        review_free(v);
    }
}

static void send_try(struct review *v)
{
    const struct reviews_options *o = &v->owner->options;
    int64_t now_ms = loop_now_ms(o->loop), timeout_ms = o->try_ms, left_ms = v->begun_ms + o->total_ms - now_ms;
    if (o->total_ms && left_ms < timeout_ms)
        timeout_ms = left_ms > 0 ? left_ms : 1;
    v->try_begun_ms = now_ms;
    v->n_tries++;
    v->owner->counts.n_sent++;
    struct api_request request = { .lane = API_LANE_READ, .method = "POST", .target = str_of(o->target),
                                   .media_type = "application/json", .body = strbuf_str(&v->body),
                                   .timeout_ms = timeout_ms };
    v->call = o->api->send(o->api->context, &request, answered, v);
}

static void on_timer(struct loop_timer *t)
{
    struct review *v = HEAP_ITEM(&t->node, struct review, timer.node);
    if (v->error)
        fail(v, v->error);
    else
        send_try(v);
}

static struct review *review_new(struct reviews *r, const uint8_t key[DIGEST_BYTES], struct str body)
{
    struct review *v = mem_zalloc(sizeof(*v));
    v->owner = r;
    memcpy(v->key, key, sizeof(v->key));
    arena_init(&v->arena);
    list_init(&v->waiters);
    v->timer.fire = on_timer;
    v->begun_ms = loop_now_ms(r->options.loop);
    v->backoff_ms = REVIEW_BACKOFF_MS;
    list_push(&r->asked, &v->node);
    name_it(v);
    strbuf_init(&v->body, STRBUF_NO_MAX);
    if (r->counts.n_at_once++ >= REVIEWS_AT_ONCE_MAX) {
        v->error = "too many questions are at the API server already";
        loop_timer_set(r->options.loop, &v->timer, v->begun_ms);
        return v;
    }
    strbuf_add_str(&v->body, body);
    send_try(v);
    return v;
}

const void *reviews_ask(struct reviews *r, struct str body, struct review_waiter *w)
{
    uint8_t key[DIGEST_BYTES];
    digest_hmac_sha256(r->secret, body, key);
    union map_value *found = map_str_find(&r->by_key, (struct str){ (const char *)key, sizeof(key) });
    struct review *v = found ? found->ptr : NULL;
    if (v && v->answer && v->good_until_ms <= loop_now_ms(r->options.loop)) {
        review_free(v);
        v = NULL;
    }
    if (v && v->answer) {
        r->counts.n_kept_used++;
        list_remove(&v->node);
        list_push(&r->kept, &v->node);
        return v->answer;
    }
    if (!v)
        v = review_new(r, key, body);
    list_push(&v->waiters, &w->node);
    return NULL;
}

void review_leave(struct review_waiter *w)
{
    if (list_has(&w->node))
        list_remove(&w->node);
}

struct reviews *reviews_new(const struct reviews_options *o)
{
    struct reviews *r = mem_zalloc(sizeof(*r));
    r->options = *o;
    map_str_init(&r->by_key);
    list_init(&r->kept);
    list_init(&r->asked);
    rand_init(&r->rand, o->seed);
    digest_new_key(r->secret);
    return r;
}

static void free_all(struct list *reviews)
{
    for (struct list_node *n; (n = list_first(reviews));) {
        struct review *v = LIST_ITEM(n, struct review, node);
        for (struct list_node *w; (w = list_first(&v->waiters));)
            list_remove(w);
        review_free(v);
    }
}

void reviews_free(struct reviews *r)
{
    if (!r)
        return;
    free_all(&r->asked);
    free_all(&r->kept);
    map_str_fini(&r->by_key);
    free(r);
}

struct reviews_counts reviews_counts(const struct reviews *r)
{
    return r->counts;
}
