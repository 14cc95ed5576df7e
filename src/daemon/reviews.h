/* daemon/reviews.h - questions to an API server whose answers are good for a while: TokenReviews, SubjectAccessReviews.
 *
 * A question is the body of a POST. Who asks while the same question is at the server waits for that one answer. What
 * is known stays for as long as its reader says, under a keyed digest of the question: tokens are not kept. A question
 * that fails for a reason that may pass is sent again after half a second, 1.5 times that, and so on, five times in
 * all, as upstream does.
 *
 * Bounds: REVIEWS_KEPT_MAX answers of REVIEWS_KEPT_BYTES_MAX in all, the one not asked for longest goes first; what
 * takes more than REVIEW_BYTES_MAX is not kept. REVIEWS_AT_ONCE_MAX different questions at the server; one more fails.
 *
 * Thread: the loop's.    Owns: what it keeps, and questions under way. */
#pragma once

#include "base/list.h"
#include "client/api.h"
#include "http/loop.h"

enum {
    REVIEWS_KEPT_MAX = 8192, /* as upstream's authorizer */
    REVIEWS_KEPT_BYTES_MAX = 64 << 20, /* a small answer takes 4 KiB */
    REVIEW_BYTES_MAX = 64 << 10,
    REVIEWS_AT_ONCE_MAX = 1000,
    REVIEW_TRIES_MAX = 5,
    REVIEW_BACKOFF_MS = 500,
    REVIEW_ANSWER_BYTES_MAX = 1 << 20, /* what an honest answer never reaches */
};

struct reviews;

struct reviews_options {
    struct loop *loop;
    const struct api *api;
    const char *target; /* of the POST */
    const char *name;   /* in logs: "authenticator" */
    int64_t try_ms;     /* for one try */
    int64_t total_ms;   /* for all of them; 0: no limit of its own */
    /* Makes of a good answer what is handed out, in the arena, and says for how long it may be kept; 0: not at all.
     * NULL: the answer is none, and ret_error says why. */
    const void *(*read)(void *context, struct arena *a, const struct api_answer *answer, int64_t *ret_keep_ms,
                        const char **ret_error);
    void *context;
    uint64_t seed;
};

/* Whoever waits. Zeroed in the beginning. */
struct review_waiter {
    struct list_node node; /* in no list while it does not wait */
    /* `answer` is NULL when there is an error. Both live during the call. May call everything here. */
    void (*done)(struct review_waiter *w, const void *answer, const char *error);
};

struct reviews *reviews_new(const struct reviews_options *o);
/* Those who wait are not told. */
void reviews_free(struct reviews *r);

/* What is known, valid until the next call; or NULL, and `done` is called once, never from within this call. */
const void *reviews_ask(struct reviews *r, struct str body, struct review_waiter *w);
/* May be called at any time. The question goes on for others, and for what is kept. */
void review_leave(struct review_waiter *w);

struct reviews_counts {
    uint64_t n_sent, n_kept_used; /* tries; questions that needed none */
    uint32_t n_kept, n_at_once;   /* now */
    size_t kept_bytes;
};
struct reviews_counts reviews_counts(const struct reviews *r);
