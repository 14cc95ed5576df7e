/* daemon/health.h - /healthz, /livez, /readyz: lists of checks and what is answered about them.
 *
 * The texts are upstream's. Why a check fails is told to nobody who may only ask for the list; it goes to the log.
 *
 * Thread: the one that asks; checks are functions that look at something and never wait.
 * Owns: nothing. */
#pragma once

#include "base/strbuf.h"
#include "http/target.h"

struct health_check {
    const char *name;
    /* NULL: all is well. Otherwise what is not, valid until the next check. May be NULL itself: always well. */
    const char *(*problem)(void *context);
    void *context;
};

struct health {
    const char *name; /* "readyz" */
    const struct health_check *checks;
    size_t n_checks;
    /* Told the outcome of each check that a list was asked for; may be NULL. For kubernetes_healthcheck{name,type}. */
    void (*observe)(void *context, const char *check, const char *type, bool good);
    void *context;
};

/* What every list has that has no other check. */
extern const struct health_check health_ping;

/* The list, with the queries `verbose` and `exclude`; appends the body and returns the status, 200 or 500. */
int health_answer(const struct health *h, const struct target *t, struct strbuf *to);
/* One check by its name: 200 or 500; 404 when there is none, and nothing is appended. */
int health_answer_one(const struct health *h, struct str check, struct strbuf *to);
