/* daemon/questions.h - what people ask a live scheduler over HTTP: /berth/v1/explain, what-if, decisions, shadow, and
 * /metrics/resources.
 *
 * The scheduling thread answers between two attempts (insight/), so that nobody waits for an answer but who asked. At
 * most QUESTIONS_MAX are with it at a time; one more is told to come again (429). An answer has at most
 * QUESTIONS_ANSWER_BYTES_MAX.
 *
 * Thread: the loop's.    Owns: questions under way. */
#pragma once

#include "apiserver/server.h"
#include "daemon/engine.h"
#include "daemon/ops.h"

enum { QUESTIONS_MAX = 64, QUESTIONS_ANSWER_BYTES_MAX = 64 << 20 };

struct questions;

struct questions_options {
    struct engine *engine;
    struct loop *loop;
    const struct clock *clock;
    bool (*leads)(void *context); /* whether this process schedules, for /metrics/resources */
    void *context;
};

struct questions *questions_new(const struct questions_options *o);
/* The engine has ended; answers that are still in the loop's mail find nobody. */
void questions_free(struct questions *q);

/* For ops.h; live as long as this. */
const struct ops_route *questions_routes(const struct questions *q, size_t *ret_n);
/* The same for an API server in this process. */
const struct apiserver_page *questions_pages(const struct questions *q, size_t *ret_n);
