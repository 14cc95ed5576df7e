/* tests/api_world.h - an API server on a store in memory, with a clock that stands still and no socket, for tests and fuzz
 * targets.
 *
 * Commits are under way until api_world_poll: until then other requests may overtake them. */
#pragma once

#include <stdlib.h>

#include "apiserver/registry_priv.h"
#include "base/mem.h"

enum { API_WORLD_NOW_S = 1700000000, API_WORLD_PLUGINS_MAX = 64, API_WORLD_POLLS_MAX = 1000 };

struct api_world {
    struct arena arena;
    struct err e;
    struct clock_manual clock;
    struct loop *loop;
    struct store *store;
    struct stored *objects;
    struct api_authn *authn;
    struct api_authz *authz;
    struct admission *admission;
    struct apiserver *server;
};

struct api_world_options {
    const char *const *modes; /* of authorization; NULL: everything is allowed */
    const char *token_file;   /* NULL: everyone is anonymous */
    bool admission;           /* all plugins that there are; else none */
    uint32_t log_events_max;  /* of the store */
    struct str service_cidr;  /* empty: the server's own default */
};

static inline enum authz_verdict api_world_may(void *context, struct arena *a, const struct authz_attributes *q,
                                               struct str *ret_reason)
{
    const struct api_world *w = context;
    return w->authz ? api_authz_decide(w->authz, a, q, ret_reason) : AUTHZ_ALLOW;
}

/* Also those that are off by default, but for the one that refuses everything. */
static inline bool api_world_has_plugin(const struct admission_plugin *p)
{
    return p->standing != PLUGIN_MISSING && strcmp(p->name, "AlwaysDeny") != 0;
}

static inline void api_world_must(struct api_world *w, enum err_code rc)
{
    if (!rc)
        return;
    fprintf(stderr, "%s\n", w->e.message);
    abort();
}

static inline void api_world_make_admission(struct api_world *w)
{
    const char *names[API_WORLD_PLUGINS_MAX + 1] = { 0 };
    size_t n = 0;
    for (const struct admission_plugin *p = admission_plugins; p->name && n < API_WORLD_PLUGINS_MAX; p++)
        if (api_world_has_plugin(p))
            names[n++] = p->name;
    struct admission_options o = { .enable = names, .authorize = api_world_may, .authorize_context = w };
    api_world_must(w, admission_new(&o, &w->admission, &w->e));
}

static inline void api_world_init(struct api_world *w, const struct api_world_options *o)
{
    *w = (struct api_world){ 0 };
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    clock_manual_init(&w->clock, 1000 * (int64_t)CLOCK_NS_PER_SECOND, API_WORLD_NOW_S * (int64_t)CLOCK_NS_PER_SECOND);
    w->loop = loop_new(&w->clock.clock);
    struct store_options so = { .clock = &w->clock.clock, .log_events_max = o->log_events_max };
    api_world_must(w, store_new(&so, &w->store, &w->e));
    w->objects = stored_new(w->store);
    if (o->token_file) {
        struct api_authn_options n = { .objects = w->objects, .token_file = str_of(o->token_file), .anonymous = true };
        api_world_must(w, api_authn_new(&n, &w->authn, &w->e));
    }
    if (o->modes) {
        struct api_authz_options z = { .objects = w->objects, .modes = o->modes };
        api_world_must(w, api_authz_new(&z, &w->authz, &w->e));
    }
    if (o->admission)
        api_world_make_admission(w);
    struct apiserver_options s = { .loop = w->loop, .store = w->store, .objects = w->objects, .authn = w->authn,
                                   .authz = w->authz, .admission = w->admission, .address = "192.0.2.1:6443",
                                   .default_accounts = true, .service_cidr = o->service_cidr, .seed = 1 };
    w->server = apiserver_new(&s);
}

static inline void api_world_fini(struct api_world *w)
{
    apiserver_free(w->server);
    admission_free(w->admission);
    api_authz_free(w->authz);
    api_authn_free(w->authn);
    stored_free(w->objects);
    store_free(w->store);
    loop_free(w->loop);
    arena_fini(&w->arena);
}

/* Until nothing is under way any more. */
static inline void api_world_poll(struct api_world *w)
{
    for (int i = 0; i < API_WORLD_POLLS_MAX; i++) {
        apiserver_poll(w->server);
        loop_run_once(w->loop, false);
        if (store_facts(w->store).n_open == 0)
            return;
    }
    fprintf(stderr, "commits never end\n");
    abort();
}

static inline void api_world_advance(struct api_world *w, int64_t ms)
{
    clock_manual_advance(&w->clock, ms * CLOCK_NS_PER_MS);
    store_tick(w->store);
    loop_run_once(w->loop, false);
    api_world_poll(w);
}
