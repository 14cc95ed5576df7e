/* daemon/health.c - see health.h. Upstream: apiserver/pkg/server/healthz. */
#include "daemon/health.h"

#include <stdlib.h>

#include "base/log.h"

const struct health_check health_ping = { .name = "ping" };

static const char *problem_of(const struct health_check *c)
{
    return c->problem ? c->problem(c->context) : NULL;
}

static bool is_excluded(const struct target *t, const char *check)
{
    for (size_t i = 0; i < t->n_query; i++)
        if (str_is(t->query[i].name, "exclude") && str_is(t->query[i].value, check))
            return true;
    return false;
}

static bool is_check(const struct health *h, struct str name)
{
    for (size_t i = 0; i < h->n_checks; i++)
        if (str_is(name, h->checks[i].name))
            return true;
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Names that were to be excluded and are none, each once, in order. */
static void warn_of_unknown(const struct health *h, const struct target *t, struct strbuf *to)
{
    struct str unknown[TARGET_PAIRS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < t->n_query; i++)
        if (str_is(t->query[i].name, "exclude") && !is_check(h, t->query[i].value))
            unknown[n++] = t->query[i].value;
    if (n == 0)
        return;
    qsort(unknown, n, sizeof(unknown[0]), by_bytes);
    STRBUF_ADD_LIT(to, "warn: some health checks cannot be excluded: no matches for ");
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(unknown[i], unknown[i - 1]))
            continue;
        if (i)
            strbuf_add_char(to, ',');
        strbuf_add_quoted_shown(to, unknown[i]);
    }
    strbuf_add_char(to, '\n');
}

/* As upstream, which has no pairs here. */
static void log_problem(const struct health *h, const struct health_check *c, const char *problem)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "%s check failed: %s\n[-]%s failed: %s", c->name, h->name, c->name, problem);
    LOG_PLAIN(2, strbuf_cstr(&text));
    strbuf_fini(&text);
}

static bool run(const struct health *h, const struct health_check *c, struct strbuf *to)
{
    const char *problem = problem_of(c);
    if (h->observe)
        h->observe(h->context, c->name, h->name, !problem);
    if (problem) {
        if (LOG_ON(2))
            log_problem(h, c, problem);
        strbuf_printf(to, "[-]%s failed: reason withheld\n", c->name);
    } else {
        strbuf_printf(to, "[+]%s ok\n", c->name);
    }
    return !problem;
}

int health_answer(const struct health *h, const struct target *t, struct strbuf *to)
{
    size_t begin = to->n;
    bool good = true;
    for (size_t i = 0; i < h->n_checks; i++) {
        if (is_excluded(t, h->checks[i].name))
            strbuf_printf(to, "[+]%s excluded: ok\n", h->checks[i].name);
        else
            good &= run(h, &h->checks[i], to);
    }
    warn_of_unknown(h, t, to);
    strbuf_printf(to, "%s check %s\n", h->name, good ? "passed" : "failed");
    if (good && !target_has(t, "verbose")) {
        to->n = begin;
        STRBUF_ADD_LIT(to, "ok");
    }
    return good ? 200 : 500;
}

int health_answer_one(const struct health *h, struct str check, struct strbuf *to)
{
    for (size_t i = 0; i < h->n_checks; i++) {
        if (!str_is(check, h->checks[i].name))
            continue;
        const char *problem = problem_of(&h->checks[i]);
        if (problem)
            strbuf_printf(to, "internal server error: %s\n", problem);
        else
            STRBUF_ADD_LIT(to, "ok");
        return problem ? 500 : 200;
    }
    return 404;
}
